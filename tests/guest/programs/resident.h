/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included in front of every program here. Its pages are the host's files: a page that is
 * read in the middle of a measurement takes as long as the host is busy.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

static void __attribute__((constructor)) be_resident(void)
{
	mlockall(MCL_CURRENT);
}
