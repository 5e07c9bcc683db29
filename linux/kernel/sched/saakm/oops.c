// SPDX-License-Identifier: GPL-2.0
/*
 * For dump_stack() and oopses, as sched_ext's: which policies are loaded, and
 * which handler of whose this CPU is in. Anything may be broken by now.
 */
void print_saakm_info(const char *log_lvl)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);
	const struct saakm_policy *policy, *calling = saakm_calling();
	char name[SAAKM_NAME_LEN], text[256];
	struct saakm_own *own;
	struct seq_buf s;

	if (list_empty(&saakm_policies))
		return;
	seq_buf_init(&s, text, sizeof(text));
	if (calling && !get_kernel_nofault(own, &calling->own) &&
	    !copy_from_kernel_nofault(name, own->name, sizeof(name)))
		seq_buf_printf(&s, " %.31s (%s);", name, saakm_handler_names[handler]);
	seq_buf_puts(&s, " loaded:");
	guard(rcu)();
	list_for_each_entry_rcu(policy, &saakm_policies, node) {
		if (get_kernel_nofault(own, &policy->own) ||
		    copy_from_kernel_nofault(name, own->name, sizeof(name)))
			break;
		seq_buf_printf(&s, " %.31s", name);
	}
	printk("%sSaaKM:%s\n", log_lvl, seq_buf_str(&s));
}
