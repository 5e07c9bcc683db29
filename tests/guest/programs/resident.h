/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included in front of every program here. Its pages, and the file that it prints to, are
 * the host's: what is read, or asked of the file, in the middle of a measurement takes as
 * long as the host is busy.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

static void __attribute__((constructor)) be_resident(void)
{
	static char printed[BUFSIZ];

	mlockall(MCL_CURRENT);
	/* Of a buffer of its own, printf() would ask the file how large it should be. */
	setvbuf(stdout, printed, _IOFBF, sizeof(printed));
}
