// SPDX-License-Identifier: GPL-2.0
/* narrow POLICY_ID: a thread that may use CPUs 0 and 1 only wakes again and again. */
#include "saakm_user.h"

int main(int argc, char **argv)
{
	cpu_set_t set;

	if (argc != 2)
		die("usage: %s POLICY_ID", argv[0]);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	CPU_SET(1, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	saakm_join(atoi(argv[1]));
	for (int i = 0; i < 50; i++)
		sleep_ms(2);
	return 0;
}
