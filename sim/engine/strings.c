// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel has for strings and libc has not, declared in <linux/string.h>,
 * <linux/kernel.h>.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "engine.h"

void *memchr_inv(const void *memory, int byte, size_t n);
char *strim(char *s);
char *skip_spaces(const char *s);
char *kstrdup(const char *s, unsigned int gfp);
char *kstrndup(const char *s, size_t n, unsigned int gfp);
void *kmemdup(const void *memory, size_t n, unsigned int gfp);
_Bool sysfs_streq(const char *a, const char *b);
int match_string(const char * const *array, size_t n, const char *string);
int __sysfs_match_string(const char * const *array, size_t n, const char *string);
ssize_t sized_strscpy(char *to, const char *from, size_t n);
int kstrtoull(const char *text, unsigned int base, unsigned long long *result);
int kstrtoll(const char *text, unsigned int base, long long *result);
int kstrtoul(const char *text, unsigned int base, unsigned long *result);
int kstrtol(const char *text, unsigned int base, long *result);
int kstrtouint(const char *text, unsigned int base, unsigned int *result);
int kstrtoint(const char *text, unsigned int base, int *result);
int kstrtobool(const char *text, _Bool *result);

void *memchr_inv(const void *memory, int byte, size_t n)
{
	const unsigned char *c = memory;

	for (; n; n--, c++)
		if (*c != (unsigned char)byte)
			return (void *)c;
	return NULL;
}

char *skip_spaces(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return (char *)s;
}

char *strim(char *s)
{
	size_t n = strlen(s);

	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = 0;
	return skip_spaces(s);
}

void *kmemdup(const void *memory, size_t n, unsigned int gfp)
{
	void *copy = sim_kmalloc(n, 0);

	(void)gfp;
	return copy ? memcpy(copy, memory, n) : NULL;
}

char *kstrndup(const char *s, size_t n, unsigned int gfp)
{
	char *copy;

	if (!s)
		return NULL;
	n = strnlen(s, n);
	copy = sim_kmalloc(n + 1, 0);
	(void)gfp;
	if (!copy)
		return NULL;
	memcpy(copy, s, n);
	copy[n] = 0;
	return copy;
}

char *kstrdup(const char *s, unsigned int gfp)
{
	return kstrndup(s, SIZE_MAX >> 1, gfp);
}

/* A line break at the end of either does not count. */
_Bool sysfs_streq(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	if (!strcmp(a, "\n"))
		a++;
	if (!strcmp(b, "\n"))
		b++;
	return !*a && !*b;
}

/* A NULL ends the array as well. */
int match_string(const char * const *array, size_t n, const char *string)
{
	size_t i;

	for (i = 0; i < n && array[i]; i++)
		if (!strcmp(array[i], string))
			return i;
	return -EINVAL;
}

int __sysfs_match_string(const char * const *array, size_t n, const char *string)
{
	size_t i;

	for (i = 0; i < n && array[i]; i++)
		if (sysfs_streq(array[i], string))
			return i;
	return -EINVAL;
}

ssize_t sized_strscpy(char *to, const char *from, size_t n)
{
	size_t length;

	if (!n || n > INT_MAX)
		return -E2BIG;
	length = strnlen(from, n);
	if (length == n) {
		memcpy(to, from, n - 1);
		to[n - 1] = 0;
		return -E2BIG;
	}
	memcpy(to, from, length + 1);
	return length;
}

/* All of @text but a line break at its end must be the number: -EINVAL, -ERANGE. */
int kstrtoull(const char *text, unsigned int base, unsigned long long *result)
{
	unsigned long long value;
	char *end;

	if (*text == '+')
		text++;
	if (!isalnum((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, base);
	if (end == text || strcmp(end, *end == '\n' ? "\n" : ""))
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*result = value;
	return 0;
}

int kstrtoll(const char *text, unsigned int base, long long *result)
{
	unsigned long long value;
	_Bool negative = *text == '-';
	int error;

	if (negative && !isalnum((unsigned char)text[1]))
		return -EINVAL;
	error = kstrtoull(text + negative, base, &value);
	if (error)
		return error;
	if (value > (unsigned long long)LLONG_MAX + negative)
		return -ERANGE;
	*result = negative ? -value : value;
	return 0;
}

int kstrtoul(const char *text, unsigned int base, unsigned long *result)
{
	unsigned long long value;
	int error = kstrtoull(text, base, &value);

	if (!error)
		*result = value;
	return error;
}

int kstrtol(const char *text, unsigned int base, long *result)
{
	long long value;
	int error = kstrtoll(text, base, &value);

	if (!error)
		*result = value;
	return error;
}

int kstrtouint(const char *text, unsigned int base, unsigned int *result)
{
	unsigned long long value;
	int error = kstrtoull(text, base, &value);

	if (error)
		return error;
	if (value > UINT_MAX)
		return -ERANGE;
	*result = value;
	return 0;
}

int kstrtoint(const char *text, unsigned int base, int *result)
{
	long long value;
	int error = kstrtoll(text, base, &value);

	if (error)
		return error;
	if (value < INT_MIN || value > INT_MAX)
		return -ERANGE;
	*result = value;
	return 0;
}

/* Yes, no, on, off, true, false: what they begin with tells. */
int kstrtobool(const char *text, _Bool *result)
{
	if (!text)
		return -EINVAL;
	if (strchr("yYtT1", *text) && *text)
		*result = 1;
	else if (strchr("nNfF0", *text) && *text)
		*result = 0;
	else if ((text[0] | ' ') == 'o' && (text[1] | ' ') == 'n')
		*result = 1;
	else if ((text[0] | ' ') == 'o' && (text[1] | ' ') == 'f')
		*result = 0;
	else
		return -EINVAL;
	return 0;
}
