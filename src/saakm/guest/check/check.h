/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the checks share. Each runs in a process of its own under SCHED_FIFO, so that
 * no policy can keep it from looking; one that does not hold calls fail() or die().
 */
#ifndef CHECK_H
#define CHECK_H

#include "crowd.h"

#define NS_PER_MS 1000000ull
/* For a thread that must get on, while nothing forbids it. */
#define PATIENCE_MS 4000

/* arguments.c */
const char *argument(const char *name, const char *otherwise);
uint32_t seed(void);
long scaled(long usual);	/* as many as were asked for, at least 1 */
const char *policy_name(void);
int scratch_cpu(void);		/* to be crowded; ours is CPU 0, if there are more */

/* main.c */
void begin_to_speak(void);
void end_speaking(void);
void tried(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* policy.c */
struct counts {
	uint32_t id;
	char state[32];
	long threads, new, terminated;
};

void insert(const char *file, const char *parameters);
void insert_policy(void);
void remove_module(const char *name);
struct counts read_counts(void);
long named_threads(void);	/* those that name the policy in /proc */
void expect_threads(long expected, const char *when);
void after_all(void);		/* nobody is left, and it can be unloaded */
bool find_ejection(char *sentence, size_t size);
void refuse_ejected(void);
void write_file(const char *path, const char *text);

/* trace.c */
void trace_start(const char *events);
void trace_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void trace_stop(void);		/* prints all of it */

/* affinity.c */
unsigned long all_cpus(void);
void set_mask(pid_t tid, unsigned long mask);

/* The checks */
void check_lifecycle(void);
void check_leaks(void);
void check_order(void);
void check_wakeups(void);
void check_affinity(void);
void check_conservation(void);
void check_starvation(void);
void check_fairness(void);
void check_weights(void);
void check_storm(void);
void check_reload(void);
void check_hotplug(void);

#endif
