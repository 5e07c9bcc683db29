// SPDX-License-Identifier: GPL-2.0
/*
 * A run from its boot to its results.
 *
 * It ends when its time is over, or all threads of the workload have ended. What has been counted
 * at that instant is its result. Then everything is taken down as on a real machine: the threads
 * that are left end as if killed, and a thread of the kernel unloads the modules. So the end of
 * each thread and policy belongs to every run, and what goes wrong there is seen.
 */
#include <linux/saakm.h>
#include "saakm/internal.h"
#include "load.h"
#include "actor.h"
#include "agents.h"
#include "machine.h"
#include "model.h"
#include "policies.h"
#include "trace.h"

/* How long threads and modules have to go. A policy that keeps a thread is ejected sooner. */
#define LEAVE_NS	(100 * NSEC_PER_SEC)
/* So long the undertaker may wait for a CPU, until it gets one by whatever means. */
#define PATIENCE_NS	NSEC_PER_MSEC

static struct sim_event time_is_over;
static struct task_struct *undertaker;
static bool ending, all_gone, taken_down;

/* On some CPU, in an interrupt or as the thread that has ended last. */
static void end_run(void)
{
	if (ending)
		return;
	ending = true;
	account_close();
	trace_end();
	sim_options.end_ns = sim_now + LEAVE_NS;
	wake_up_process(undertaker);
}

static void end_at_time(struct sim_event *event)
{
	if (all_gone || load_killing)
		return;
	model_irq_enter();
	if (ending)
		load_kill_all();
	end_run();
	sim_event_set(event, sim_now + PATIENCE_NS);
	model_irq_exit();
}

void run_threads_ended(void)
{
	all_gone = true;
	end_run();
	wake_up_process(undertaker);
}

/* ---- what is taken down ---- */

static void wait_for(const bool *done)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (READ_ONCE(*done))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

static void unload_all(void)
{
	const struct saakm_policy *policy, *last;	/* loaded last, unloaded first */
	char name[MODULE_NAME_LEN];
	int error;

	for (;;) {
		last = NULL;
		scoped_guard(rcu) {
			for_each_saakm_policy(policy) {
				if (policy->own->owner &&
				    (!last || policy->own->id > last->own->id))
					last = policy;
			}
			if (last)
				strscpy(name, module_name(last->own->owner));
		}
		if (!last)
			return;
		error = machine_unload(name);
		if (WARN(error, "module %s cannot be unloaded: %pe\n", name, ERR_PTR(error)))
			return;
	}
}

static int take_down(void *unused)
{
	wait_for(&ending);
	machine_files_print();
	if (!all_gone && !load_killing)
		load_kill_all();
	wait_for(&all_gone);
	agents_end();
	policies_check();
	unload_all();
	machine_unload_rest();
	taken_down = true;
	sim_stop();
	return 0;
}

/* It is to have a CPU whatever the workload does. */
static void make_undertaker(void)
{
	struct sched_param param = { .sched_priority = MAX_RT_PRIO - 1 };

	undertaker = model_kthread_new(take_down, NULL, "undertaker");
	sched_setscheduler_nocheck(undertaker, SCHED_FIFO, &param);
	wake_up_process(undertaker);
}

/* On unless the options say otherwise, in one way or the other. */
static void check_transitions(void)
{
	unsigned int i;

	for (i = 0; i < sim_options.nr_sets; i++)
		if (!strcmp(sim_options.sets[i].name, "check_transitions"))
			return;
	if (sim_options.transitions)
		machine_file_write("check_transitions", "1", 1);
}

/* ---- engine/host.h ---- */

unsigned int sim_core_max_cpus(void)
{
	return NR_CPUS;
}

void sim_core_check(void)
{
	model_check();
}

void sim_core_boot(void)
{
	load_program = program_read(sim_options.program_name, sim_options.program_text,
				    sim_options.program_size);
	account_read_costs();
	model_boot();
	machine_load();
	check_transitions();
	machine_files_set();
	trace_begin();
	load_policies_init();
	make_undertaker();
	agents_begin();
	load_begin();
	actor_begin();
	sim_options.end_ns += load_begin_ns;
	sim_event_init(&time_is_over, end_at_time, 0);
	sim_event_set(&time_is_over, sim_options.end_ns);
	model_boot_done();
}

/* The engine's loop has come to its end: by itself, interrupted, or because it cannot go on. */
void sim_core_finish(void)
{
	char handlers[512];

	if (!taken_down && !sim_interrupted && !sim_misbehaves)
		machine_warn("the run cannot be taken down: %u threads are left%s", load_alive,
			     machine_describe_handlers(handlers, sizeof(handlers)));
	trace_end();
	account_print();
}
