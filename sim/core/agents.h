/* SPDX-License-Identifier: GPL-2.0 */
/* Threads of a program that decides about others: agents.c. Of a simulator without one: nothing. */
#ifndef _SIM_CORE_AGENTS_H
#define _SIM_CORE_AGENTS_H

struct sim_result;

/* They begin; returns when each has gone round once. Process context, sleeps. */
void agents_begin(void);

/* Has them end, and waits for that. Likewise. */
void agents_end(void);

/* What they have done until now is the result. */
void agents_close(struct sim_result *result);

#endif /* _SIM_CORE_AGENTS_H */
