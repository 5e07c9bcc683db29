// SPDX-License-Identifier: GPL-2.0
/* The kernel's functions around its vsnprintf() and vsscanf(), declared in <linux/sprintf.h>. */
#include <limits.h>
#include <stdarg.h>

#include "engine.h"

int vscnprintf(char *buf, size_t size, const char *fmt, va_list args);
int scnprintf(char *buf, size_t size, const char *fmt, ...);
int sim_kernel_sprintf(char *buf, const char *fmt, ...);
int sim_kernel_sscanf(const char *text, const char *fmt, ...);
char *kvasprintf(unsigned int gfp, const char *fmt, va_list args);
char *kasprintf(unsigned int gfp, const char *fmt, ...);

int sim_kernel_snprintf(char *buf, unsigned long size, const char *fmt, ...)
{
	va_list args;
	int length;

	va_start(args, fmt);
	length = sim_kernel_vsnprintf(buf, size, fmt, args);
	va_end(args);
	return length;
}

/* These return what has been written, not what there would be. */
int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	int length = sim_kernel_vsnprintf(buf, size, fmt, args);

	if (!size)
		return 0;
	return (size_t)length < size ? length : (int)size - 1;
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int length;

	va_start(args, fmt);
	length = vscnprintf(buf, size, fmt, args);
	va_end(args);
	return length;
}

int sim_kernel_sprintf(char *buf, const char *fmt, ...)
{
	va_list args;
	int length;

	va_start(args, fmt);
	length = sim_kernel_vsnprintf(buf, INT_MAX, fmt, args);
	va_end(args);
	return length;
}

int sim_kernel_sscanf(const char *text, const char *fmt, ...)
{
	va_list args;
	int found;

	va_start(args, fmt);
	found = sim_kernel_vsscanf(text, fmt, args);
	va_end(args);
	return found;
}

char *kvasprintf(unsigned int gfp, const char *fmt, va_list args)
{
	va_list copy;
	char *text;
	int length;

	(void)gfp;
	va_copy(copy, args);
	length = sim_kernel_vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	text = sim_kmalloc(length + 1, 0);
	if (text)
		sim_kernel_vsnprintf(text, length + 1, fmt, args);
	return text;
}

char *kasprintf(unsigned int gfp, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = kvasprintf(gfp, fmt, args);
	va_end(args);
	return text;
}
