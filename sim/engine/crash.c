// SPDX-License-Identifier: GPL-2.0
/*
 * A crash says who it was before it ends the program: which handler of which policy, which thread,
 * and when. It comes as a signal, or as an error that a sanitizer has found.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"

/* sim/core/messages.c */
char *machine_describe(char *buf, unsigned long size);

static void describe(const char *what)
{
	static volatile sig_atomic_t describing;
	char who[256];

	/* The description itself may crash: memory is what the policy has made of it. */
	if (describing)
		return;
	describing = 1;
	sim_misbehaved();		/* where a debugger may stop, whatever it is */
	fprintf(stderr, "[%5llu.%06llu] crash: %s [%s]\n", sim_now / 1000000000,
		sim_now / 1000 % 1000000, what, machine_describe(who, sizeof(who)));
	fflush(stderr);
}

#ifdef HAVE_ASAN
void __asan_on_error(void);
void __asan_on_error(void)
{
	describe("AddressSanitizer has found an error");
}

/* Of UndefinedBehaviorSanitizer. */
void __ubsan_on_report(void);
void __ubsan_on_report(void)
{
	describe("undefined behaviour");
}

/* AddressSanitizer sees to the others. */
static const int signals[] = { SIGABRT };

static void set_stack(void)
{
}
#else
static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* A stack that is full may be what has crashed. */
static void set_stack(void)
{
	static char stack[1 << 16];
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&own, NULL);
}
#endif

static void crashed(int signal, siginfo_t *info, void *context)
{
	sim_struck_by(context);
	if (signal == SIGSEGV && sim_below_stack(info->si_addr))
		describe("the stack is full: a recursion without end, or a large variable");
	else
		describe(strsignal(signal));
	/*
	 * The instruction comes again, and now ends the program, as it would have done; abort()
	 * raises its signal again.
	 */
}

__attribute__((constructor))
static void init(void)
{
	struct sigaction action = { .sa_sigaction = crashed,
		.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_SIGINFO };
	unsigned int i;

	set_stack();
	sigemptyset(&action.sa_mask);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}
