// SPDX-License-Identifier: GPL-2.0
/*
 * SIGINT ends the run after the event that runs. An event that computes for seconds of the host's
 * time never ends: a policy has a loop without end in a handler, which would be a soft lockup in a
 * kernel.
 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "engine.h"

/* Of CPU time. To boot 4,096 CPUs, as long as an event gets, takes .4 with sanitizers. */
#define HANG_SECONDS	4

static volatile sim_u64 events_before = ~0ULL;
static volatile sim_u64 now_before;

static void interrupted(int signal)
{
	(void)signal;
	sim_interrupted = 1;
	sim_stop();
}

static void looked_at(int signal)
{
	(void)signal;
	if (sim_events == events_before && sim_now == now_before) {
		sim_core_hangs();
		sim_die();
	}
	events_before = sim_events;
	now_before = sim_now;
}

void sim_signals_init(void)
{
	struct sigaction action = { .sa_handler = interrupted };
	struct itimerval every = { { HANG_SECONDS, 0 }, { HANG_SECONDS, 0 } };

	sigemptyset(&action.sa_mask);
	action.sa_flags = SA_RESTART | SA_RESETHAND;
	sigaction(SIGINT, &action, NULL);
	action.sa_handler = looked_at;
	action.sa_flags = SA_RESTART;
	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
}
