// SPDX-License-Identifier: GPL-2.0
/*
 * A thread of a policy that goes first has CPU 1, while one of modules/sharer waits that may
 * use it, and could run nowhere else. Somebody wakes on CPU 1 again and again.
 *	refill_behind FIRST_ID SHARER_ID
 * Says how often sharer was asked to refill CPU 1 at the beginning, at the end, and after the
 * first policy's thread had ended.
 */
#include "gates.h"

#define CPU	1
#define ELECTIONS	50

static uint32_t first_id;

static void keeps_the_cpu(struct subject *self)
{
	saakm_join(first_id);
	while (!self->stop)
		self->progress++;
}

static int refills(void)
{
	FILE *file = fopen("/sys/module/sharer/parameters/refills", "r");
	int count;

	if (!file || fscanf(file, "%*d,%d", &count) != 1)
		die("refills");
	fclose(file);
	return count;
}

static void naps(struct subject *self)
{
	for (int i = 0; i < ELECTIONS; i++)
		sleep_ms(1);
	self->progress = 1;
	while (!self->stop)
		sleep_ms(1);
}

int main(int argc, char **argv)
{
	struct subject first, second, napper;
	int before, after;

	if (argc != 3)
		die("usage: %s FIRST_ID SHARER_ID", argv[0]);
	first_id = atoi(argv[1]);
	policy_id = atoi(argv[2]);
	pin(0, 0);
	/* It runs at first, and is queued behind the gate of its CPU then. */
	subject_start(&second, hog, 2);
	AWAIT(second.progress);
	subject_start(&first, keeps_the_cpu, CPU);
	AWAIT(first.progress && in_state(first.tid, "RUNNING"));
	close_gate(2);
	allow(second.tid, 1ul << CPU | 1ul << 2);
	AWAIT(in_state(second.tid, "READY"));
	before = refills();
	subject_start(&napper, naps, CPU);
	AWAIT(napper.progress);
	after = refills();
	subject_stop(&first);
	AWAIT(in_state(second.tid, "RUNNING"));
	printf("%d %d %d\n", before, after, refills());
	subject_stop(&second);
	subject_stop(&napper);
	open_gate(2);
	return 0;
}
