// SPDX-License-Identifier: GPL-2.0
/*
 * For rt-app in a guest of counted time (LD_PRELOAD). Its `run` and `runtime` call ldexp() again and
 * again. In counted time all CPUs share one clock and run by turns, each until it pauses: a loop of N
 * instructions takes N ns on a machine with one busy CPU, and k N ns with k. So ldexp() takes
 * STEP_NS of that clock here, however many CPUs are busy, and pauses often.
 *
 * Threads of the real-time classes have no timer slack, others wake up to 50 us late: ours shall not.
 */
#include <stdint.h>
#include <sys/prctl.h>
#include <x86intrin.h>

#define STEP_NS		2000	/* four calls are one of rt-app's loops: "calibration": 8000 */
#define LATE_NS		2500	/* what a call may have been late; else the thread did not run */
#define TURN		50	/* rounds of an empty loop: two instructions each */

static __thread uint64_t due;

static void turn(void)
{
	unsigned int n = TURN;

	while (n--)
		__asm__ volatile("");
	_mm_pause();
}

__attribute__((visibility("default"))) double ldexp(double x, int exponent)
{
	uint64_t now = __rdtsc();

	(void)exponent;
	if (now - due > LATE_NS)
		due = now;
	due += STEP_NS;
	while (__rdtsc() < due)
		turn();
	return x;
}

__attribute__((constructor)) static void begin(void)
{
	prctl(PR_SET_TIMERSLACK, 1);
}
