// SPDX-License-Identifier: GPL-2.0
/* Handlers that sleep, or do not return; the last two end any machine. */
#include "wrong.h"

static void sleep_terminate(struct process_event *event, struct core_event *core)
{
	while (!wrong_released() && wrong_now())
		synchronize_rcu();
}

static struct task_struct *sleep_schedule(struct core_event *core)
{
	if (wrong_now())
		msleep(5);
	return good_schedule(core);
}

static void sleep_tick(struct process_event *event, struct core_event *core)
{
	for (int i = 0; i < 100 && wrong_now(); i++) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
	good_tick(event, core);
}

static void sleep_once(void)
{
	if (!wrong_now())
		return;
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
}

static void used_sleeps(struct process_event *event, struct core_event *core, u64 used_ns)
{
	sleep_once();
}

static void exec_sleeps(struct process_event *event, struct core_event *core)
{
	sleep_once();
}

/* Its own report about an ejection. */

static void give_up(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		saakm_eject(&wrong_policy, SAAKM_EXIT_POLICY_ERROR, NULL, "gives up in tick");
	good_tick(event, core);
}

static void dump_endless(struct saakm_policy *policy, struct seq_buf *text)
{
	while (!wrong_released()) {
		seq_buf_puts(text, "and so on\n");
		cpu_relax();
	}
}

static void dump_sleeps(struct saakm_policy *policy, struct seq_buf *text)
{
	while (!wrong_released())
		msleep(10);
}

static void dump_hostile(struct saakm_policy *policy, struct seq_buf *text)
{
	for (int i = 0; i < 100000; i++)
		seq_buf_puts(text, "\"},{\\u0000\x01\xff\n");
}

/* Until it has come, nobody has changed: it may take as long as it likes. */
static int migrate_from_hangs(struct saakm_policy *policy, struct saakm_policy *old)
{
	wrong_at_once();
	while (!wrong_released())
		msleep(10);
	return -EBUSY;
}

/* Fatal. */

static struct task_struct *null_schedule(struct core_event *core)
{
	struct task_struct *volatile nobody = NULL;

	return wrong_now() ? nobody->parent : good_schedule(core);
}

static void endless_tick(struct process_event *event, struct core_event *core)
{
	while (wrong_now())
		cpu_relax();
}

const struct wrong_fault wait_faults[] = {
	{ "sleep_terminate", { .terminate = sleep_terminate } },
	{ "sleep_schedule", { .schedule = sleep_schedule } },
	{ "sleep_tick", { .tick = sleep_tick } },
	{ "used_sleeps", { .used = used_sleeps } },
	{ "exec_sleeps", { .exec = exec_sleeps } },
	{ "dump_endless", { .tick = give_up, .dump = dump_endless } },
	{ "dump_sleeps", { .tick = give_up, .dump = dump_sleeps } },
	{ "dump_hostile", { .tick = give_up, .dump = dump_hostile } },
	{ "migrate_from_hangs", { .migrate_from = migrate_from_hangs } },
	{ "null_schedule", { .schedule = null_schedule } },
	{ "endless_tick", { .tick = endless_tick } },
	{}
};
