// SPDX-License-Identifier: GPL-2.0
/*
 * pressure MEGABYTES	writes to each page of so much memory, round after round, until it is killed.
 *			Of more than there is, others lose theirs to it: what is not locked.
 */
#include "saakm_user.h"

#define PAGE	4096ul

int main(int argc, char **argv)
{
	unsigned long bytes = argc == 2 ? strtoul(argv[1], NULL, 0) << 20 : 0;
	volatile char *at;

	if (!bytes)
		die("pressure MEGABYTES");
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		die("mmap");
	for (;;) {
		for (unsigned long page = 0; page < bytes / PAGE; page++)
			at[page * PAGE]++;
	}
}
