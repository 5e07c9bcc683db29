// SPDX-License-Identifier: GPL-2.0
/*
 * For rt-app in a guest of counted time (LD_PRELOAD). Its `run` and `runtime` call ldexp() again and
 * again. In counted time all CPUs share one clock and run by turns, each until it pauses: a loop of N
 * instructions takes N ns on a machine with one busy CPU, and k N ns with k. So ldexp() takes
 * STEP_NS of that clock here, however many CPUs are busy, and pauses often.
 *
 * What comes between while the thread keeps the CPU (ticks, other interrupts, what rt-app does from
 * one step to the next) is part of its steps, and makes no run longer. What passes while it has not
 * the CPU is not: by rseq(2) it knows that it had to leave it.
 *
 * Threads of the real-time classes have no timer slack, others wake up to 50 us late: ours shall not.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <x86intrin.h>

#define STEP_NS		2000	/* four calls are one of rt-app's loops: "calibration": 8000 */
#define TURN		50	/* rounds of an empty loop: two instructions each */

/* A critical section of no instruction, which the kernel forgets when the thread leaves the CPU. */
static const uint32_t abort_address[] = { RSEQ_SIG, 0 };
static const struct rseq_cs nowhere = { .abort_ip = (uintptr_t)&abort_address[1] };

static __thread uint64_t due, seen;

/* Has the thread left the CPU since it asked last? */
static bool left_cpu(void)
{
	volatile struct rseq *mine = (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	if (mine->rseq_cs)
		return false;
	mine->rseq_cs = (uintptr_t)&nowhere;
	return true;
}

/* Time without the CPU moves what is due. */
static uint64_t now(void)
{
	uint64_t before = seen;

	seen = __rdtsc();
	if (left_cpu()) {
		seen = __rdtsc();
		due += seen - before;
	}
	return seen;
}

static void turn(void)
{
	unsigned int n = TURN;

	while (n--)
		__asm__ volatile("");
	_mm_pause();
}

__attribute__((visibility("default"))) double ldexp(double x, int exponent)
{
	(void)exponent;
	due += STEP_NS;
	while (now() < due)
		turn();
	return x;
}

__attribute__((constructor)) static void begin(void)
{
	prctl(PR_SET_TIMERSLACK, 1);
}
