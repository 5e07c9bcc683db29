// SPDX-License-Identifier: GPL-2.0
/*
 * leaves_held POLICY_ID OTHER_ID
 *
 * A policy elects nobody, so that its thread waits on CPU 1, which idles. Another CPU gives
 * the thread to the other policy. Says how many ms pass until it runs.
 *
 * Who runs goes on until somebody preempts him: we do, since a thread of the kernel may come
 * late. One who was preempted in the kernel, on his way into the policy, gets a turn from the class.
 */
#include "subject.h"

#define LONG_MS	100	/* nothing else happens on CPU 1 */

int main(int argc, char **argv)
{
	struct subject held;
	uint64_t seen, begin_ns;

	if (argc != 3)
		die("usage: %s POLICY_ID OTHER_ID", argv[0]);
	policy_id = atoi(argv[1]);
	pin(0, 0);
	subject_start(&held, hog, 1);
	AWAIT(held.progress);
	do {
		pin(0, 1);
		pin(0, 0);
		sleep_ms(LONG_MS);
	} while (!in_state(held.tid, "READY"));
	seen = held.progress;
	begin_ns = now_ns(CLOCK_MONOTONIC);
	if (saakm_setattr(held.tid, SCHED_SAAKM, atoi(argv[2]), 0, 0))
		die("sched_setattr");
	AWAIT(held.progress != seen);
	printf("%lu\n", (now_ns(CLOCK_MONOTONIC) - begin_ns) / 1000000);
	subject_stop(&held);
	return 0;
}
