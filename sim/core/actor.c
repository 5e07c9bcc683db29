// SPDX-License-Identifier: GPL-2.0
/*
 * What somebody at a shell does to the machine while a workload runs: options at=NS:offline:CPU,
 * online:CPU and eject:POLICY, in order of time. A thread of the fair class does it, as a shell
 * would.
 */
#include <linux/err.h>
#include <linux/string.h>

#include "machine.h"
#include "model.h"
#include "actor.h"
#include "load.h"

static struct sim_event alarm;
static struct task_struct *actor;
static bool rings;

static void ring(struct sim_event *event)
{
	model_irq_enter();
	rings = true;
	wake_up_process(actor);
	model_irq_exit();
}

static void sleep_until(u64 at)
{
	rings = false;
	sim_event_init(&alarm, ring, raw_smp_processor_id());
	sim_event_set(&alarm, at);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (READ_ONCE(rings))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

static void __noreturn refuse(const struct sim_setting *action, const char *why)
{
	sim_bad_input(NULL, 0, "option at=%s:%s: %s", action->name, action->value, why);
}

static u64 number(const struct sim_setting *action, const char *text)
{
	u64 result;

	if (kstrtoull(text, 10, &result))
		refuse(action, "a whole number is expected");
	return result;
}

static long carry_out(const struct sim_setting *action)
{
	const char *whom = strchr(action->value, ':');
	size_t length;

	if (!whom)
		refuse(action, "NS:offline:CPU, NS:online:CPU or NS:eject:POLICY is expected");
	length = whom++ - action->value;
	if (length == 5 && !strncmp(action->value, "eject", length)) {
		ssize_t n = machine_file_write("eject", whom, strlen(whom));

		return n < 0 ? n : 0;
	}
	if (length == 7 && !strncmp(action->value, "offline", length))
		return model_cpu_down(number(action, whom));
	if (length == 6 && !strncmp(action->value, "online", length))
		return model_cpu_up(number(action, whom));
	refuse(action, "there are offline, online and eject");
}

static int act(void *unused)
{
	const struct sim_setting *action;
	char why[40];
	long error;

	for (action = sim_options.ats; action < sim_options.ats + sim_options.nr_ats; action++) {
		sleep_until(load_begin_ns + number(action, action->name));
		error = carry_out(action);
		if (!error)
			continue;
		snprintf(why, sizeof(why), "%pe", ERR_PTR(error));
		refuse(action, why);
	}
	return 0;
}

void actor_begin(void)
{
	if (!sim_options.nr_ats)
		return;
	actor = model_kthread_new(act, NULL, "actor");
	wake_up_process(actor);
}
