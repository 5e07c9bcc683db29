// SPDX-License-Identifier: GPL-2.0
/*
 * SIGINT ends the run after the event that runs. An event that computes for seconds of the host's
 * time never ends: a policy has a loop without end in a handler, which would be a soft lockup in a
 * kernel.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include "engine.h"

/*
 * An event that is still the same at so many looks does not end. There is one in a second of CPU
 * time; to boot 4,096 CPUs takes .4 with sanitizers on a fast machine, everything else less.
 */
#define MAX_SAME_BOOTING	4
#define MAX_SAME		1

/* Of real time, for code that waits outside of the simulation: agents alone can do that. */
#define LOOK_REAL_S		5
#define MAX_SAME_REAL		4

struct sim_struck sim_struck;

static volatile sim_u64 events_before = ~0ULL;
static volatile sim_u64 now_before;
static volatile unsigned int same, same_real;

static void interrupted(int signal)
{
	(void)signal;
	sim_interrupted = 1;
	sim_stop();
}

void sim_struck_by(const void *context)
{
#ifdef __x86_64__
	const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;

	sim_struck.at = (const void *)registers[REG_RIP];
	sim_struck.frame = (const void *)registers[REG_RBP];
#else
	(void)context;
#endif
}

static void looked_at(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	if (sim_events != events_before || sim_now != now_before)
		same = 0;
	else if (++same >= (sim_booted ? MAX_SAME : MAX_SAME_BOOTING)) {
		sim_struck_by(context);
		sim_core_hangs();
		sim_die();
	}
	events_before = sim_events;
	now_before = sim_now;
}

static void looked_at_really(int signal, siginfo_t *info, void *context)
{
	static sim_u64 events, now = ~0ULL;

	(void)signal, (void)info;
	if (sim_events != events || sim_now != now)
		same_real = 0;
	else if (++same_real >= (sim_booted ? MAX_SAME_REAL : 3 * MAX_SAME_REAL)) {
		sim_struck_by(context);
		sim_core_waits();
		sim_die();
	}
	events = sim_events;
	now = sim_now;
}

static void look_really(struct sigaction *action)
{
	struct itimerval every = { { LOOK_REAL_S, 0 }, { LOOK_REAL_S, 0 } };

	action->sa_sigaction = looked_at_really;
	sigaction(SIGALRM, action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

void sim_signals_init(void)
{
	struct sigaction action = { .sa_handler = interrupted };
	struct itimerval every = { { 1, 0 }, { 1, 0 } };

	sigemptyset(&action.sa_mask);
	action.sa_flags = SA_RESTART | SA_RESETHAND;
	sigaction(SIGINT, &action, NULL);
	action.sa_sigaction = looked_at;
	action.sa_flags = SA_RESTART | SA_SIGINFO;
	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &every, NULL);
	if (sim_agents)
		look_really(&action);
}
