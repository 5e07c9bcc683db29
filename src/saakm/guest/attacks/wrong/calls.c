// SPDX-License-Identifier: GPL-2.0
/* Calls to the class about another policy, about itself, or in the wrong place. */
#include "wrong.h"

static struct saakm_policy second_policy = { .name = "second", .owner = THIS_MODULE };

static void remove_second(void)
{
	saakm_remove_policy(&second_policy);
}

static void eject_another(struct process_event *event, struct core_event *core)
{
	struct saakm_policy *other = foreign_policy();

	if (other && wrong_now())
		saakm_eject(other, SAAKM_EXIT_STALL, NULL, "says another one");
	good_tick(event, core);
}

/* At load: the threads of others are there already. */
static int remove_another(void)
{
	struct saakm_policy *other = foreign_policy();

	if (other && wrong_at_once())
		saakm_remove_policy(other);
	return saakm_add_policy(&wrong_policy);
}

static void remove_itself(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		saakm_remove_policy(&wrong_policy);
	good_tick(event, core);
}

static int remove_in_init(struct saakm_policy *policy)
{
	if (wrong_at_once())
		saakm_remove_policy(policy);
	return good_init(policy);
}

static int add_in_init(struct saakm_policy *policy)
{
	int ret = wrong_at_once() ? saakm_add_policy(&second_policy) : 0;

	return ret ?: good_init(policy);
}

static void add_in_balance(struct core_event *core)
{
	if (!second_policy.id && wrong_now())
		saakm_add_policy(&second_policy);
}

/* Twice the same, by another name, with threads in it; see wrong_module_exit(). */
static int add_twice(void)
{
	int ret = saakm_add_policy(&wrong_policy);

	if (ret || !wrong_at_once())
		return ret;
	strscpy(wrong_policy.name, "wrong_twice");
	ret = saakm_add_policy(&wrong_policy);
	pr_err("wrong: added for the second time: %d\n", ret);
	strscpy(wrong_policy.name, "wrong");
	return 0;
}

/* While it takes threads over. */
static void take_over_ejects(struct process_event *event, const void *old_data)
{
	static int nr;

	if (++nr == 2 && wrong_at_once())
		saakm_eject(&wrong_policy, SAAKM_EXIT_POLICY_ERROR, event->task, "cannot take it");
}

static void take_over_places(struct process_event *event, const void *old_data)
{
	if (wrong_at_once())
		change_state(event->task, SAAKM_READY, task_cpu(event->task),
			     wrong_rq(task_cpu(event->task)));
}

/* used_moves: while CPU time is charged, which may be in the midst of any other event. */
static void used_moves(struct process_event *event, struct core_event *core, u64 used_ns)
{
	if (wrong_now())
		change_state(event->task, SAAKM_READY, core->id, wrong_rq(core->id));
}

/* slice_foreign: so that another policy's threads get next to nothing. */
static void slice_foreign(struct process_event *event, struct core_event *core)
{
	struct task_struct *other;

	scoped_guard(rcu)
		other = foreign_waiting(-1);
	if (other && wrong_now())
		saakm_set_slice(other, 1);
	good_tick(event, core);
}

const struct wrong_fault call_faults[] = {
	{ "eject_another", { .tick = eject_another } },
	{ "remove_another", {}, .load = remove_another },
	{ "remove_itself", { .tick = remove_itself } },
	{ "remove_in_init", { .init = remove_in_init } },
	{ "add_in_init", { .init = add_in_init }, .unload = remove_second },
	{ "add_in_balance", { .balancing_select = add_in_balance }, .unload = remove_second },
	{ "add_twice", {}, .load = add_twice },
	{ "take_over_ejects", { .take_over = take_over_ejects } },
	{ "take_over_places", { .take_over = take_over_places } },
	{ "used_moves", { .used = used_moves } },
	{ "slice_foreign", { .tick = slice_foreign } },
	{}
};
