// SPDX-License-Identifier: GPL-2.0
/* Of the parts of the simulator that replays, of the class's calls and of fair's, do not have. */
#include "model.h"

/* Who dies says nothing: conduct.c does. */
void sim_core_finish(void)
{
}

void run_threads_ended(void);
void run_threads_ended(void)
{
}

void sim_core_check(void)
{
}

unsigned int sim_core_max_cpus(void)
{
	return NR_CPUS;
}
