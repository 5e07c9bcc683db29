// SPDX-License-Identifier: GPL-2.0
/*
 * switching [-s] [-d] [-n SWITCHES] CLASS...
 *
 * Switches busy threads between scheduling classes ("other", "batch", "idle", "ext",
 * "fifo:rt", "rr:rt", "deadline", or the name of a SaaKM policy) from two other
 * threads; -s: the threads also switch themselves. -d: on a CPU with fair hogs,
 * where threads that sleep stay enqueued for a while (delayed dequeue). In the
 * end all must get on in each class.
 */
#include "crowd.h"

#define MEMBERS 16
#define HOGS 3
#define LIMIT 100
#define MS 1000000ull

static struct class {
	const char *name;
	struct saakm_attr attr;
} classes[16];
static unsigned int nr_classes;
static unsigned int switches = 2000;
static bool self_switch, delayed;
static volatile bool hogs_stop;

static struct class parse_class(const char *name)
{
	struct class c = { .name = name, .attr.size = sizeof(c.attr) };
	struct saakm_attr *attr = &c.attr;

	if (!strcmp(name, "other")) {
		attr->sched_policy = SCHED_OTHER;
	} else if (!strcmp(name, "batch")) {
		attr->sched_policy = SCHED_BATCH;
	} else if (!strcmp(name, "idle")) {
		attr->sched_policy = SCHED_IDLE;
	} else if (!strcmp(name, "ext")) {
		attr->sched_policy = 7;
	} else if (!strcmp(name, "fifo:rt") || !strcmp(name, "rr:rt")) {
		attr->sched_policy = *name == 'f' ? SCHED_FIFO : SCHED_RR;
		attr->sched_priority = 1;
	} else if (!strcmp(name, "deadline")) {
		attr->sched_policy = 6;
		attr->sched_runtime = 2 * MS;
		attr->sched_deadline = attr->sched_period = 100 * MS;
	} else {
		attr->sched_policy = SCHED_SAAKM;
		attr->sched_saakm_policy = policy_id(name);
	}
	return c;
}

/* Deadline threads take bandwidth, which may be used up. */
static bool change(pid_t tid, const struct class *c)
{
	struct saakm_attr attr = c->attr;

	if (!syscall(SYS_sched_setattr, tid, &attr, 0))
		return true;
	if (c->attr.sched_policy == 6 && errno == EBUSY)
		return false;
	die("thread %d to %s", tid, c->name);
}

/* Real-time threads must let others run: nobody only yields. */
static void switching_round(struct member *m)
{
	usual_round(m);
	if (m->progress % 8 == 0)
		sleep_us(100);
	if (self_switch && m->progress % 4 == 0)
		change(0, &classes[rnd(nr_classes)]);
}

static void *switcher(void *unused)
{
	for (unsigned int i = 0; i < switches / 2; i++)
		change(crowd->members[rnd(crowd->nr)].tid, &classes[rnd(nr_classes)]);
	return unused;
}

static void *hog(void *unused)
{
	pin(0, 1);
	while (!hogs_stop)
		spin(10000);
	return unused;
}

/* Short sleepers, whose turn is never quite up when they sleep, on the CPU of the hogs. */
static void delay_members(pthread_t *hogs)
{
	cpu_set_t most;

	for (int i = 0; i < HOGS; i++)
		pthread_create(&hogs[i], NULL, hog, NULL);
	for (unsigned int i = 0; i < crowd->nr; i++) {
		crowd->members[i].kind = i % 4 ? SLEEP : WAKE;
		pin(crowd->members[i].tid, 1);
	}
	CPU_ZERO(&most);
	for (int cpu = 0; cpu < nr_cpus(); cpu++)
		if (cpu != 1)
			CPU_SET(cpu, &most);
	sched_setaffinity(0, sizeof(most), &most);
}

static bool has_ext(void)
{
	for (unsigned int i = 0; i < nr_classes; i++)
		if (classes[i].attr.sched_policy == 7)
			return true;
	return false;
}

/*
 * All go on in one class: beside fair threads that hardly sleep those of sched_ext
 * may starve.
 */
static void settle(void)
{
	const struct class *c = classes;

	while (c->attr.sched_policy == 6)
		c++;
	crowd_doing = "settling";
	for (unsigned int i = 0; i < crowd->nr; i++)
		change(crowd->members[i].tid, c);
	for (unsigned int i = 0; i < crowd->nr; i++) {
		struct member *m = &crowd->members[i];
		uint64_t seen = m->progress;

		while (m->progress - seen < 2) {
			change(m->tid, c);
			sleep_ms(1);
		}
	}
}

/* Everybody in one class, then in the next. Deadline threads cannot be so many. */
static void verify(void)
{
	for (unsigned int k = 0; k < nr_classes; k++) {
		const struct class *c = &classes[k];

		if (c->attr.sched_policy == 6)
			continue;
		for (unsigned int i = 0; i < crowd->nr; i++)
			change(crowd->members[i].tid, c);
		crowd_is(c->attr.sched_policy, c->name);
		crowd_moves(LIMIT / 4, c->name);
	}
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "sdn:")) != -1) {
		if (c == 's')
			self_switch = true;
		else if (c == 'd')
			delayed = true;
		else if (c == 'n')
			switches = atoi(optarg);
		else
			exit(2);
	}
	while (optind < argc && nr_classes < 16)
		classes[nr_classes++] = parse_class(argv[optind++]);
	if (!nr_classes)
		fail("switching: no classes");
}

int main(int argc, char **argv)
{
	pthread_t switchers[2], hogs[HOGS];

	limit_seconds(LIMIT);
	parse(argc, argv);
	crowd_new(MEMBERS, 0, false);
	crowd->round = switching_round;
	crowd_start();
	crowd_moves(LIMIT / 4, "before");
	if (delayed)
		delay_members(hogs);

	crowd_doing = "switching";
	for (int i = 0; i < 2; i++)
		pthread_create(&switchers[i], NULL, switcher, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(switchers[i], NULL);

	hogs_stop = true;
	for (int i = 0; delayed && i < HOGS; i++)
		pthread_join(hogs[i], NULL);
	self_switch = false;
	/* Each finishes its last switch of itself. */
	if (has_ext())
		settle();
	else
		crowd_moves(LIMIT / 4, "after the switches");
	verify();
	crowd_end();
	return 0;
}
