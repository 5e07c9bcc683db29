// SPDX-License-Identifier: GPL-2.0
/* moments CPU SLEEP_MS BUSY_MS TIMES: a thread that sleeps and is busy by turns. */
#include "saakm_user.h"

int main(int argc, char **argv)
{
	if (argc != 5)
		die("moments CPU SLEEP_MS BUSY_MS TIMES");
	pin(0, atoi(argv[1]));
	for (int left = atoi(argv[4]); left; left--) {
		uint64_t end_ns;

		sleep_ms(atoi(argv[2]));
		end_ns = now_ns(CLOCK_MONOTONIC) + atoi(argv[3]) * 1000000ull;
		while (now_ns(CLOCK_MONOTONIC) < end_ns)
			;
	}
	return 0;
}
