// SPDX-License-Identifier: GPL-2.0
/* Is there memory at an address? Asked of the system, without touching it. */
#define _GNU_SOURCE
#include <sys/uio.h>
#include <unistd.h>

#include "engine.h"

#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>

static bool is_nobodys(const void *address, unsigned long size)
{
	return __asan_region_is_poisoned((void *)address, size) != NULL;
}
#else
static bool is_nobodys(const void *address, unsigned long size)
{
	(void)address, (void)size;
	return false;
}
#endif

_Bool sim_readable(const void *address, unsigned long size)
{
	char buf[4096];

	while (size) {
		unsigned long n = size < sizeof(buf) ? size : sizeof(buf);
		struct iovec to = { buf, n }, from = { (void *)address, n };

		if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)n)
			return 0;
		if (is_nobodys(address, n))
			return 0;
		address = (const char *)address + n;
		size -= n;
	}
	return 1;
}
