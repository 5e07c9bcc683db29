// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a guest in which a wrong policy is loaded beside a good one
 * and threads of the fair class. Says what became of it, a JSON object a line, and
 * powers off.
 *
 * Arguments, from the kernel command line: fault=NAME (of wrong.ko), and with=A,B:
 * what else there is (crowd, hog, reader, exec, replaces, nice, affinity).
 */
#include "attacks.h"

#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>

#define TIMEOUT_MS 1000		/* of the wrong policy */
#define GRACE_MS 1000		/* until its threads run, after that */
#define CONTROL_MS 600
#define SETTLE_MS 100
#define AFTER_MS 300
#define CHANGE_MS 10
#define LIMIT_S 60
#define UNTIL_FREED_MS 6000	/* kfree_rcu() takes its time; it costs none while nobody runs */
#define LIMIT_CROWD_MS 3000
#define PARAMETERS "/sys/module/" WRONG "/parameters/"

static bool given(const char *word)
{
	return word_given("with", word);
}

static void __attribute__((format(printf, 1, 2))) tell(const char *fmt, ...)
{
	va_list args;

	begin_to_speak();
	va_start(args, fmt);
	printf("{");
	vprintf(fmt, args);
	printf("}\n");
	va_end(args);
	end_speaking();
}

static uint64_t now_ms(void)
{
	return now_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}

/* No side wants more of the machine than it can have beside the others. */
static void start_all(void)
{
	int last = nr_cpus() - 1;
	bool hog = given("hog");

	for (int cpu = 0; cpu <= last; cpu++) {
		actors_start(&(struct actor){ RR, .cpu = hog ? 0 : cpu, .work_us = 300,
					      .sleep_us = 4700 }, 1);
		actors_start(&(struct actor){ FAIR, .cpu = cpu, .work_us = 200, .sleep_us = 4800 }, 1);
	}
	/* A hog that is ejected is fair's, and goes before them on its CPU: its right. */
	actors_start(&(struct actor){ RR, .cpu = hog ? 0 : -1, .work_us = 800, .sleep_us = 6700 }, 2);
	actors_start(&(struct actor){ OWN, .cpu = -1, .work_us = 200, .sleep_us = 3800 }, 2);
	actors_start(&(struct actor){ OWN, .cpu = -1, .prey = true, .work_us = 200,
				      .sleep_us = 3800 }, 2);
	actors_start(&(struct actor){ OWN, RESTLESS, .cpu = -1, .work_us = 100, .sleep_us = 5000 }, 1);
	if (given("reader"))
		actors_start(&(struct actor){ OWN, READS, .prey = true, .nice = hog ? 19 : 0,
					      .cpu = hog ? last : -1, .work_us = 10, .sleep_us = 500 }, 1);
	if (given("exec"))
		actors_start(&(struct actor){ OWN, EXECS, .cpu = -1, .work_us = 10,
					      .sleep_us = 20000 }, 1);
	if (hog)
		actors_start(&(struct actor){ OWN, HOGS, .cpu = last, .sleep_us = 5000 }, 1);
	if (given("crowd"))
		actors_start(&(struct actor){ OWN, .cpu = last, .work_us = 50, .sleep_us = 400000,
					      .together = true }, 1000);
}

static void start_others(void)
{
	if (insert("rr", "", NULL))
		fail("rr cannot be loaded: %s", last_error());
	actors_join(RR, policy_id("rr"));
	if (given("replaces")) {
		if (insert("fifo", "", NULL))
			fail("fifo cannot be loaded: %s", last_error());
		actors_join(OWN, policy_id("fifo"));
	}
}

static void control(void)
{
	crowd_doing = "the control";
	sleep_ms(SETTLE_MS);
	actors_phase(CONTROL);
	sleep_ms(CONTROL_MS);
	tell("\"control\": {\"own_us\": %lu, \"rr_us\": %lu, \"fair_us\": %lu}", longest_us(OWN, CONTROL),
	     longest_us(RR, CONTROL), longest_us(FAIR, CONTROL));
	actors_phase(ATTACK);
}

/* --- the attack --- */

static int nr_joined;

/* Its threads join as soon as it can be seen. */
static void join_wrong(void)
{
	static uint32_t joined;
	uint32_t id = find_policy(WRONG);

	if (!id || id == joined || given("replaces"))
		return;
	joined = id;
	/* In the midst of its section: afterwards it may never get there. */
	for (int i = 0; given("reader") && !read_number(PARAMETERS "reading") && i < 100; i++)
		sleep_ms(1);
	actors_join(OWN, id);
	nr_joined = actors_in(OWN, SCHED_SAAKM);
}

static bool load_wrong(void)
{
	char parameters[256], why[512];
	int ret;

	crowd_doing = "loading it";
	snprintf(parameters, sizeof(parameters), "fault=%s timeout_ms=%d%s", getenv("fault") ?: "none",
		 TIMEOUT_MS, given("replaces") ? " replaces=fifo" : "");
	ret = insert(WRONG, parameters, join_wrong);
	if (ret == -ETIMEDOUT) {
		try_write(PARAMETERS "released", "1");
		ret = insert_at_last(join_wrong);
	}
	snprintf(why, sizeof(why), "%s", ret ? last_error() : "");
	if (!ret)
		join_wrong();
	tell("\"load\": {\"error\": %d, \"sentence\": \"%s\", \"joined\": %d}", -ret, why, nr_joined);
	return !ret;
}

static bool is_ejected(char *json, size_t size)
{
	static uint64_t begin;

	if (!begin)
		begin = now_ms();
	if (!find_ejected(WRONG, json, size))
		return false;
	tell("\"ejected\": {%s, \"after_ms\": %lu}", json, now_ms() - begin);
	return true;
}

/* Until it is ejected, or should have been. */
static void watch(void)
{
	uint64_t end = now_ms() + TIMEOUT_MS + GRACE_MS;
	unsigned int round = 0;
	char json[1024];

	crowd_doing = "waiting for its ejection";
	while (!is_ejected(json, sizeof(json)) && now_ms() < end) {
		if (given("nice"))
			change_nice(round);
		if (given("affinity"))
			change_affinity(round);
		round++;
		sleep_ms(CHANGE_MS);
	}
}

/* All of a side, from here on. */
static int stuck_for(enum side side, unsigned int ms)
{
	uint64_t end = now_ms() + ms;

	actors_mark(side);
	while (actors_stuck(side) && now_ms() < end)
		sleep_ms(2);
	return actors_stuck(side);
}

static void attack(void)
{
	unsigned int patience = TIMEOUT_MS + GRACE_MS + (given("crowd") ? LIMIT_CROWD_MS : 0);
	int stuck;

	if (load_wrong()) {
		try_write(PARAMETERS "armed", "1");
		watch();
	}
	crowd_doing = "waiting for its threads to run";
	stuck = stuck_for(OWN, patience);
	sleep_ms(AFTER_MS);
	tell("\"own\": {\"longest_us\": %lu, \"stuck\": %d, \"tried\": %ld}", longest_us(OWN, ATTACK), stuck,
	     read_number(PARAMETERS "tried"));
}

/* --- and afterwards --- */

static int try_next(const char *when)
{
	int ret, stuck = -1;

	crowd_doing = when;
	ret = insert("vtime", "", NULL);
	if (ret == -EEXIST)	/* it had to wait so long that it was given up */
		ret = 0;
	if (!ret) {
		actors_start(&(struct actor){ NEXT, .cpu = -1, .work_us = 200, .sleep_us = 1000 }, 2);
		actors_join(NEXT, policy_id("vtime"));
		stuck = stuck_for(NEXT, GRACE_MS) + 2 - actors_in(NEXT, SCHED_SAAKM);
		actors_end(NEXT);
		ret = remove_module("vtime");
	}
	tell("\"%s\": {\"error\": %d, \"stuck\": %d}", when, -ret, stuck);
	return ret;
}

static void unload(void)
{
	int ret;

	crowd_doing = "unloading it";
	try_write(PARAMETERS "released", "1");
	sleep_ms(50);
	ret = remove_module(WRONG);
	if (ret != -ENOENT)
		tell("\"unload\": {\"error\": %d}", -ret);
	sleep_ms(AFTER_MS);
	tell("\"members\": {\"rr\": %d, \"rr_at_work\": %s, \"fifo_at_work\": %s, \"own_fair\": %d}",
	     actors_in(RR, SCHED_SAAKM), is_at_work("rr") ? "true" : "false",
	     is_at_work("fifo") ? "true" : "false", actors_in(OWN, SCHED_OTHER));
}

static void finish(void)
{
	int stuck;

	crowd_doing = "the end";
	stuck = stuck_for(RR, GRACE_MS) + stuck_for(FAIR, GRACE_MS);
	stuck += stuck_for(OWN, GRACE_MS + (given("crowd") ? LIMIT_CROWD_MS : 0));
	for (enum phase phase = ATTACK; phase <= AFTER; phase++)
		tell("\"%s\": {\"rr_us\": %lu, \"fair_us\": %lu}", phase == ATTACK ? "during" : "after",
		     longest_us(RR, phase), longest_us(FAIR, phase));
	for (enum side side = OWN; side <= FAIR; side++)
		actors_end(side);
	sleep_ms(UNTIL_FREED_MS);
	tell("\"end\": {\"stuck\": %d, \"rr\": %d, \"fifo\": %d}", stuck, -remove_module("rr"),
	     given("replaces") ? -remove_module("fifo") : 0);
}

static void run(void)
{
	struct sched_param above = { .sched_priority = 50 };

	actors_new();
	limit_seconds(LIMIT_S);
	if (sched_setscheduler(0, SCHED_FIFO, &above))
		die("sched_setscheduler");
	start_all();
	start_others();
	control();
	attack();
	actors_phase(AFTER);
	/*
	 * Under fair, too, a hog leaves a reader of nice 19 a sixtieth of its CPU, and whoever
	 * loads a module waits for RCU. That is not what is asked here.
	 */
	actors_calm();
	try_next("meanwhile");
	unload();
	try_next("afterwards");
	finish();
	exit(0);
}

int main(void)
{
	int status;
	pid_t pid;

	if (getpid() != 1)	/* an actor's child */
		return 0;
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	klogctl(8, NULL, 7);
	pid = fork();
	if (!pid) {
		dup2(STDOUT_FILENO, STDERR_FILENO);
		run();
	}
	while (waitpid(pid, &status, 0) != pid)
		;
	tell("\"status\": %d", status);
	reboot(RB_POWER_OFF);
	return 0;
}
