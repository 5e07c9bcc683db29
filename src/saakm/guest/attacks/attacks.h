/* SPDX-License-Identifier: GPL-2.0 */
/* The guest that is attacked: see main.c. */
#ifndef ATTACKS_H
#define ATTACKS_H

#include "crowd.h"

#define WRONG "wrong"
#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull

/* actors.c: the threads that run, and how long each has had to wait. */

enum phase { BEFORE, CONTROL, ATTACK, AFTER, NR_PHASES };
enum side { OWN, RR, FAIR, NEXT, NR_SIDES };	/* the wrong policy's threads, and three others' */
enum does { WORKS, RESTLESS, READS, EXECS, HOGS };

struct actor {
	enum side side;
	enum does does;
	bool prey;			/* the policy treats it worse than the others */
	int nice, cpu;			/* -1: any */
	unsigned int work_us, sleep_us;
	bool together;			/* all wake at the same time */
	pid_t pid;
	volatile uint64_t due_ns;	/* since when it could have run */
	volatile uint64_t longest_ns[NR_PHASES];
	volatile uint64_t rounds;
	uint64_t seen_rounds;
};

void actors_new(void);
void actors_start(const struct actor *like, unsigned int nr);
void actors_phase(enum phase phase);
void actors_calm(void);
/* All of a side join the policy with this id, as far as it lets them. */
void actors_join(enum side side, uint32_t id);
/* How many of a side have this scheduling policy. */
int actors_in(enum side side, int policy);
/* Since when, or who has not since then, made a round. */
void actors_mark(enum side side);
int actors_stuck(enum side side);
uint64_t longest_us(enum side side, enum phase phase);
/* What users do to threads that wait. */
void change_nice(unsigned int round);
void change_affinity(unsigned int round);
void actors_end(enum side side);

/* policies.c: modules, and what the kernel says about policies. */

bool word_given(const char *list, const char *word);	/* list: a comma list of the kernel's arguments */
void begin_to_speak(void);
void end_speaking(void);
void write_file(const char *path, const char *text);
bool try_write(const char *path, const char *text);
long read_number(const char *path);
/* 0 or -errno; -ETIMEDOUT if it has not come back, which it may never. */
int insert(const char *module, const char *parameters, void (*meanwhile)(void));
/* For the one that has not come back: once more. */
int insert_at_last(void (*meanwhile)(void));
int remove_module(const char *module);
const char *last_error(void);
/* Prints kind, handler and reason, as JSON. */
bool find_ejected(const char *policy, char *json, size_t size);
/* In /proc/saakm/policies, and not ejected. */
bool is_at_work(const char *policy);

#endif /* ATTACKS_H */
