// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/saakm: switches, numbers, and what happened last. */
#include <linux/kobject.h>
#include <linux/sysfs.h>

static ssize_t saakm_show_switch(bool *on, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(*on));
}

static ssize_t saakm_store_switch(bool *on, const char *buf, size_t count)
{
	bool value;

	if (kstrtobool(buf, &value))
		return -EINVAL;
	guard(mutex)(&saakm_mutex);
	if (value == *on)
		return count;
	WRITE_ONCE(*on, value);
	if (value)
		static_branch_inc(&saakm_observed);
	else
		static_branch_dec(&saakm_observed);
	return count;
}

#define SAAKM_SWITCH(_name)						\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	return saakm_show_switch(&saakm_##_name, buf);			\
}									\
static ssize_t _name##_store(struct kobject *kobj,			\
			     struct kobj_attribute *attr,		\
			     const char *buf, size_t count)		\
{									\
	return saakm_store_switch(&saakm_##_name, buf, count);		\
}									\
static struct kobj_attribute _name##_attr = __ATTR_RW(_name)

SAAKM_SWITCH(check_transitions);
SAAKM_SWITCH(log_violations);
SAAKM_SWITCH(log_transitions);
SAAKM_SWITCH(log_calls);

static ssize_t on_violation_show(struct kobject *kobj,
				 struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", saakm_reaction_names[READ_ONCE(saakm_on_violation)]);
}

static ssize_t on_violation_store(struct kobject *kobj,
				  struct kobj_attribute *attr,
				  const char *buf, size_t count)
{
	int i = sysfs_match_string(saakm_reaction_names, buf);

	if (i <= SAAKM_REACT_DEFAULT)
		return -EINVAL;
	WRITE_ONCE(saakm_on_violation, i);
	return count;
}

static struct kobj_attribute on_violation_attr = __ATTR_RW(on_violation);

static ssize_t violations_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&saakm_violations));
}

static struct kobj_attribute violations_attr = __ATTR_RO(violations);

static ssize_t last_error_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	guard(raw_spinlock_irqsave)(&saakm_error_lock);
	return sysfs_emit(buf, "%s\n", saakm_last_error);
}

static struct kobj_attribute last_error_attr = __ATTR_RO(last_error);

static ssize_t eject_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	char name[SAAKM_NAME_LEN + 1];
	int ret;

	strscpy(name, buf, sizeof(name));
	ret = saakm_eject_by_name(strim(name));
	return ret ?: count;
}

static struct kobj_attribute eject_attr = __ATTR_WO(eject);

static ssize_t last_replacement_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct saakm_replacement *last = &saakm_last_replacement;

	guard(mutex)(&saakm_mutex);
	return sysfs_emit(buf, "from %s\nto %s\nthreads %u\nlongest_pause_ns %llu\ntotal_ns %llu\n",
			  last->from[0] ? last->from : "-", last->to[0] ? last->to : "-",
			  last->nr_threads, last->longest_pause_ns, last->total_ns);
}

static struct kobj_attribute last_replacement_attr = __ATTR_RO(last_replacement);

static ssize_t history_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(saakm_history_wanted));
}

static ssize_t history_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	bool value;
	int ret = kstrtobool(buf, &value);

	return ret ?: saakm_history_set(&saakm_history_wanted, value) ?: count;
}

static struct kobj_attribute history_attr = __ATTR_RW(history);

static int saakm_apply_server(void)
{
	/* As for the fair server in debugfs: period from 100 us to 4 s. */
	if (saakm_server_runtime_us > saakm_server_period_us ||
	    saakm_server_period_us < 100 || saakm_server_period_us > 4194304)
		return -EINVAL;
	guard(cpus_read_lock)();
	return list_empty(&saakm_policies) ? 0 :
		saakm_server_apply_all(saakm_server_runtime_us, saakm_server_period_us);
}

static int saakm_apply_floor(void)
{
	return saakm_floor_runtime_us <= saakm_floor_period_us ? 0 : -EINVAL;
}

/* Once the watchdog has what is due next. */
static int saakm_apply_limit(void)
{
	return 0;
}

static ssize_t saakm_store_number(unsigned int *param, int (*apply)(void),
				  const char *buf, size_t count)
{
	unsigned int old = *param, value;
	int ret;

	ret = kstrtouint(buf, 0, &value);
	if (ret)
		return ret;
	guard(mutex)(&saakm_mutex);
	WRITE_ONCE(*param, value);
	ret = apply();
	if (!ret)
		return count;
	WRITE_ONCE(*param, old);
	apply();
	return ret;
}

#define SAAKM_NUMBER(_name, _apply)					\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	return sysfs_emit(buf, "%u\n", saakm_##_name);			\
}									\
static ssize_t _name##_store(struct kobject *kobj,			\
			     struct kobj_attribute *attr,		\
			     const char *buf, size_t count)		\
{									\
	return saakm_store_number(&saakm_##_name, _apply, buf, count);	\
}									\
static struct kobj_attribute _name##_attr = __ATTR_RW(_name)

SAAKM_NUMBER(server_runtime_us, saakm_apply_server);
SAAKM_NUMBER(server_period_us, saakm_apply_server);
SAAKM_NUMBER(floor_runtime_us, saakm_apply_floor);
SAAKM_NUMBER(floor_period_us, saakm_apply_floor);
SAAKM_NUMBER(handler_limit_ms, saakm_apply_limit);

static struct attribute *saakm_attrs[] = {
	&check_transitions_attr.attr,
	&log_violations_attr.attr,
	&log_transitions_attr.attr,
	&log_calls_attr.attr,
	&on_violation_attr.attr,
	&violations_attr.attr,
	&last_error_attr.attr,
	&server_runtime_us_attr.attr,
	&server_period_us_attr.attr,
	&floor_runtime_us_attr.attr,
	&floor_period_us_attr.attr,
	&handler_limit_ms_attr.attr,
	&eject_attr.attr,
	&history_attr.attr,
	&last_replacement_attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(saakm);

static int __init saakm_sysfs_init(void)
{
	struct kobject *kobj = kobject_create_and_add("saakm", kernel_kobj);

	return kobj ? sysfs_create_groups(kobj, saakm_groups) : -ENOMEM;
}
device_initcall(saakm_sysfs_init);
