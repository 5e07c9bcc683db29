// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads take turns on CPU 1, which their policy does not place: the class does, before all
 * others. Meanwhile a thread of modules/sharer waits that may use this CPU, but can run nowhere.
 *	behind_orphans UNPLACED_ID SHARER_ID
 * Says the CPU that it was on before and behind them, and the one it is on once they have ended.
 */
#include "gates.h"

#define CPU		1
#define CLOSED		2
#define BEHIND_MS	300

static uint32_t unplaced_id;

static void is_not_placed(struct subject *self)
{
	saakm_join(unplaced_id);
	while (!self->stop)
		self->progress++;
}

int main(int argc, char **argv)
{
	struct subject unplaced[2], waiter;
	uint64_t seen[2];
	int before, behind;

	if (argc != 3)
		die("usage: %s UNPLACED_ID SHARER_ID", argv[0]);
	unplaced_id = atoi(argv[1]);
	policy_id = atoi(argv[2]);
	pin(0, 0);
	subject_start(&waiter, hog, CLOSED);
	AWAIT(waiter.progress);
	for (int i = 0; i < 2; i++)
		subject_start(&unplaced[i], is_not_placed, CPU);
	AWAIT(unplaced[0].progress && unplaced[1].progress);
	close_gate(CLOSED);
	AWAIT(in_state(waiter.tid, "READY"));
	before = saakm_cpu(waiter.tid);
	allow(waiter.tid, 1ul << CPU | 1ul << CLOSED);
	for (int i = 0; i < 2; i++)
		seen[i] = unplaced[i].progress;
	sleep_ms(BEHIND_MS);
	behind = saakm_cpu(waiter.tid);
	if (unplaced[0].progress == seen[0] || unplaced[1].progress == seen[1])
		die("they take no turns");
	for (int i = 0; i < 2; i++)
		subject_stop(&unplaced[i]);
	AWAIT(in_state(waiter.tid, "RUNNING"));
	printf("%d %d %d\n", before, behind, saakm_cpu(waiter.tid));
	/* Once it opens, the waiter might move there. */
	subject_stop(&waiter);
	open_gate(CLOSED);
	return 0;
}
