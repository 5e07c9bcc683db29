// SPDX-License-Identifier: GPL-2.0
/* All that may happen to a thread, in an order that the seed decides; and to its policy and its CPU. */
#include "check.h"

#define MEMBERS 12

/* All of it fits on one CPU: strict priorities may be unfair, and still nobody starves. */
static void gentle_round(struct member *m)
{
	switch (m->kind) {
	case YIELD:
		for (int i = 0; i < 3; i++) {
			spin(2000);
			sched_yield();
		}
		break;
	case SLEEP:
		spin(5000 + rnd(50000));
		break;
	case WAKE:
		round_wake(m);
		break;
	default:
		spin(rnd(400000));
	}
	sleep_us(4000 + rnd(8000));
}

static void change_affinity(struct member *m)
{
	set_mask(m->tid, 1 + rnd(all_cpus()));
}

static void change_nice(struct member *m)
{
	setpriority(PRIO_PROCESS, m->tid, (int)rnd(40) - 20);
}

static void stop_or_go_on(struct member *m)
{
	kill(m->tid, rnd(2) ? SIGSTOP : SIGCONT);
}

static void be_killed(struct member *m)
{
	if (kill(m->tid, SIGKILL) || waitpid(m->tid, NULL, 0) != m->tid)
		die("SIGKILL to %d", m->tid);
	start_member(m);
}

static void change_class(struct member *m)
{
	if (rnd(2))
		saakm_setattr(m->tid, SCHED_OTHER, 0, 0, 0);
	else
		saakm_setattr(m->tid, SCHED_SAAKM, crowd->policy, 0, rnd(3));
}

static void have_a_child(struct member *m)
{
	pid_t pid = fork();
	int status;

	(void)m;
	if (!pid) {
		saakm_join(crowd->policy);
		if (rnd(2))
			execl("/proc/self/exe", "init", "again", NULL);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		fail("a child that joined the policy ended with status %#x", status);
}

static const struct {
	const char *name;
	void (*happen)(struct member *m);
} events[] = {
	{ "affinities", change_affinity }, { "nice values", change_nice },
	{ "stops", stop_or_go_on }, { "kills", be_killed },
	{ "changes of class", change_class }, { "forks and execs", have_a_child },
};
#define NR_EVENTS (sizeof(events) / sizeof(*events))

static void start_crowd(void)
{
	crowd_new(MEMBERS, policy_id(policy_name()), true);
	crowd->round = gentle_round;
	crowd_start();
	crowd_moves(PATIENCE_MS / 1000, "before the storm");
}

static void calm(void)
{
	for (unsigned int i = 0; i < crowd->nr; i++) {
		struct member *m = &crowd->members[i];

		kill(m->tid, SIGCONT);
		set_mask(m->tid, all_cpus());
		if (saakm_setattr(m->tid, SCHED_SAAKM, crowd->policy, 0, 0))
			die("%d cannot come back into the policy", m->tid);
	}
	refuse_ejected();
	crowd_moves(PATIENCE_MS / 1000, "after the storm");
	refuse_ejected();
	crowd_is(SCHED_SAAKM, "after the storm");
}

void check_storm(void)
{
	long counts[NR_EVENTS] = {};

	start_crowd();
	crowd_doing = "the storm";
	for (long i = 0; i < scaled(300); i++) {
		unsigned int event = rnd(NR_EVENTS);

		events[event].happen(&crowd->members[rnd(crowd->nr)]);
		counts[event]++;
		sleep_us(200 + rnd(1000));
	}
	calm();
	crowd_end();
	for (unsigned int i = 0; i < NR_EVENTS; i++)
		tried("%ld %s", counts[i], events[i].name);
}

void check_reload(void)
{
	long cycles = scaled(5);

	for (long i = 0; i < cycles; i++) {
		start_crowd();
		refuse_ejected();
		remove_module(policy_name());
		crowd_moves(PATIENCE_MS / 1000, "when their policy was unloaded");
		crowd_is(SCHED_OTHER, "when their policy was unloaded");
		crowd_end();
		insert_policy();
	}
	tried("%ld loads and unloads under %d threads, which went on", cycles, MEMBERS);
}

static void set_online(int cpu, const char *online)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	write_file(path, online);
}

void check_hotplug(void)
{
	long times = scaled(12);
	int cpus = nr_cpus();

	start_crowd();
	for (long i = 0; i < times; i++) {
		int cpu = 1 + rnd(cpus - 1), other = 1 + rnd(cpus - 1);

		set_online(cpu, "0");
		sleep_ms(1 + rnd(5));
		if (other != cpu) {
			set_online(other, "0");
			sleep_ms(1 + rnd(5));
			set_online(other, "1");
		}
		set_online(cpu, "1");
		sleep_ms(1 + rnd(5));
	}
	calm();
	crowd_end();
	tried("%ld times one or two of %d CPUs went and came back under %d threads", times, cpus,
	      MEMBERS);
}
