// SPDX-License-Identifier: GPL-2.0
/* where POLICY_ID COUNT: on which CPU does a thread wake? Says thread id and CPU. */
#include "subject.h"

static volatile int woke_on;

static void wakes(struct subject *self)
{
	(void)self;
	saakm_join(policy_id);
	sleep_ms(10);
	woke_on = sched_getcpu();
}

int main(int argc, char **argv)
{
	struct subject s;

	if (argc != 3)
		die("usage: %s POLICY_ID COUNT", argv[0]);
	policy_id = atoi(argv[1]);
	for (int i = 0; i < atoi(argv[2]); i++) {
		subject_start(&s, wakes, -1);
		subject_stop(&s);
		printf("%d %d\n", s.tid, woke_on);
	}
	return 0;
}
