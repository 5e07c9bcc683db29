// SPDX-License-Identifier: GPL-2.0
/* What should not be loaded, and what is loaded but should not have been. */
#include "wrong.h"

/* Memory that will be something else soon. */
static int stack_policy(void)
{
	struct saakm_policy policy = wrong_policy;

	return saakm_add_policy(&policy);
}

/* Of no module, which then goes away without it. */
static int no_owner(void)
{
	if (wrong_at_once())
		wrong_policy.owner = NULL;
	return saakm_add_policy(&wrong_policy);
}

/* Names. One that is taken is given back, so that all are tried. */

static const char * const bad_names[] = {
	"13", "none", "fair", "two words", "a\033[2Jb", "a\rb", "a\nb", "a\x7f", "a\"b", "a/b",
};

/* How many of one are accepted. */
static int add_and_remove(struct saakm_policy *policy, unsigned int edition)
{
	if (saakm_add_policy_of(policy, edition))
		return 0;
	pr_err("wrong: a policy may be loaded as '%*pE'\n",
	       (int)strnlen(policy->name, SAAKM_NAME_LEN), policy->name);
	saakm_remove_policy(policy);
	return 1;
}

/* To stay, if one was accepted: a refusal of all is a refusal of this module. */
static int add_if(int accepted)
{
	return accepted ? saakm_add_policy(&wrong_policy) : -EINVAL;
}

/* 31 characters at the most, with an end. */
static int add_called(const char *name)
{
	static struct saakm_policy policy;

	policy = wrong_policy;
	if (name)
		strscpy(policy.name, name);
	else
		memset(policy.name, 'x', sizeof(policy.name));
	return add_and_remove(&policy, SAAKM_EDITION);
}

static int names(void)
{
	int accepted = add_called(NULL);

	for (int i = 0; i < ARRAY_SIZE(bad_names); i++)
		accepted += add_called(bad_names[i]);
	return add_if(accepted);
}

/* Attributes and handlers that contradict each other: the name says what is tried. */

static u64 no_key(const struct task_struct *task)
{
	return 0;
}

/* An init each: what may not be shared. If it may, the policy is accepted. */

static int share_nothing(struct saakm_policy *policy)
{
	return saakm_share_queue(policy, cpu_none_mask);
}

static int share_null(struct saakm_policy *policy)
{
	return saakm_share_queue(policy, NULL);
}

static int share_twice(struct saakm_policy *policy)
{
	return share_all(policy) ? 0 : saakm_share_queue(policy, cpumask_of(0));
}

static int share_for_another(struct saakm_policy *policy)
{
	return foreign_policy() ? share_all(foreign_policy()) : -ENOENT;
}

#define CONTRADICTION(_name, ...) { .name = _name, .owner = THIS_MODULE, ##__VA_ARGS__ }

static struct saakm_policy contradictions[] = {
	CONTRADICTION("fifo-with-key", .key = no_key),
	CONTRADICTION("fifo-with-bound", .bound = no_key),
	CONTRADICTION("none-with-key", .queue = SAAKM_RQ_NONE, .key = no_key,
		      .place = good_place, .schedule = good_schedule),
	CONTRADICTION("list-without-key", .queue = SAAKM_RQ_LIST),
	CONTRADICTION("list-with-bound", .queue = SAAKM_RQ_LIST, .key = no_key, .bound = no_key),
	CONTRADICTION("tree-without-key", .queue = SAAKM_RQ_RBTREE),
	CONTRADICTION("none-that-shares", .queue = SAAKM_RQ_NONE, .place = good_place,
		      .schedule = good_schedule, .init = share_all),
	CONTRADICTION("nothing-that-is-shared", .init = share_nothing),
	CONTRADICTION("null-that-is-shared", .init = share_null),
	CONTRADICTION("core-that-shares-twice", .init = share_twice),
	CONTRADICTION("core-of-another", .init = share_for_another),
	CONTRADICTION("none-without-place", .queue = SAAKM_RQ_NONE, .schedule = good_schedule),
	CONTRADICTION("none-with-new_place-alone", .queue = SAAKM_RQ_NONE,
		      .new_place = good_place, .schedule = good_schedule),
	CONTRADICTION("none-with-unblock_place-alone", .queue = SAAKM_RQ_NONE,
		      .unblock_place = good_place, .schedule = good_schedule),
	CONTRADICTION("none-without-schedule", .queue = SAAKM_RQ_NONE, .place = good_place),
	CONTRADICTION("place-for-nothing", .place = good_place, .new_place = good_place,
		      .unblock_place = good_place),
	CONTRADICTION("prepare-for-nothing", .prepare = saakm_prev_cpu,
		      .new_prepare = saakm_prev_cpu, .unblock_prepare = saakm_prev_cpu),
	CONTRADICTION("balance-without-interval", .balancing_select = saakm_pull_busier),
	CONTRADICTION("interval-without-balance", .balance_interval_ms = 10),
	CONTRADICTION("huge-core_size", .core_size = 1 << 20),
	CONTRADICTION("huge-process_size", .process_size = 1 << 20),
	CONTRADICTION("queue-77", .queue = 77),
};

static struct saakm_policy first_edition = CONTRADICTION("first-edition");

static int load_contradictions(void)
{
	int accepted = add_and_remove(&first_edition, 1);

	for (int i = 0; i < ARRAY_SIZE(contradictions); i++)
		accepted += add_and_remove(&contradictions[i], SAAKM_EDITION);
	return add_if(accepted);
}

/* init */

static int init_ejects(struct saakm_policy *policy)
{
	saakm_eject(policy, SAAKM_EXIT_POLICY_ERROR, NULL, "gives up in init");
	return good_init(policy);
}

static int init_positive(struct saakm_policy *policy)
{
	good_init(policy);
	return 1;
}

/* init_leaves: its module goes away with an error, when threads have joined already. */
static int init_leaves(void)
{
	int ret = saakm_add_policy(&wrong_policy);

	if (!ret)
		msleep(300);
	return -EIO;
}

const struct wrong_fault loading_faults[] = {
	{ "stack_policy", {}, .load = stack_policy },
	{ "no_owner", {}, .load = no_owner, .stays = true },
	{ "names", {}, .load = names },
	{ "contradictions", {}, .load = load_contradictions },
	{ "init_ejects", { .init = init_ejects } },
	{ "init_positive", { .init = init_positive } },
	{ "init_leaves", {}, .load = init_leaves },
	{}
};
