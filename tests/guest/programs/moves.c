// SPDX-License-Identifier: GPL-2.0
/* moves ID_1 ID_2 COUNT: a thread goes to and fro between two policies, then leaves. */
#include "saakm_user.h"

int main(int argc, char **argv)
{
	if (argc != 4)
		die("usage: %s ID_1 ID_2 COUNT", argv[0]);
	for (int i = 0; i < atoi(argv[3]); i++) {
		saakm_join(atoi(argv[1]));
		burn_ns(1000000);
		saakm_join(atoi(argv[2]));
		sleep_ms(1);
	}
	saakm_leave();
	return 0;
}
