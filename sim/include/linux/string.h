/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory and text. Stands for linux/string.h, string_helpers.h and ctype.h. What libc has, and with
 * the same meaning, is libc's, so that a sanitizer sees wrong ranges.
 */
#ifndef _LINUX_STRING_H
#define _LINUX_STRING_H

#include <linux/types.h>

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *memory, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *memory, int byte, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *part);
char *strpbrk(const char *s, const char *set);
char *strsep(char **s, const char *set);
size_t strspn(const char *s, const char *set);
size_t strcspn(const char *s, const char *set);

/* The kernel's own */
void *memchr_inv(const void *memory, int byte, size_t n);
char *strim(char *s);
char *skip_spaces(const char *s);
char *strchrnul(const char *s, int c);
char *kstrdup(const char *s, gfp_t gfp);
char *kstrndup(const char *s, size_t n, gfp_t gfp);
void *kmemdup(const void *memory, size_t n, gfp_t gfp);
bool sysfs_streq(const char *a, const char *b);
int match_string(const char * const *array, size_t n, const char *string);
int __sysfs_match_string(const char * const *array, size_t n, const char *string);
#define sysfs_match_string(array, s) __sysfs_match_string(array, ARRAY_SIZE(array), s)
#define strstrip(s)		strim(s)

ssize_t sized_strscpy(char *to, const char *from, size_t n);
#define __strscpy_2(to, from)		sized_strscpy(to, from, sizeof(to))
#define __strscpy_3(to, from, n)	sized_strscpy(to, from, n)
#define strscpy(to, ...) \
	CONCATENATE(__strscpy_, COUNT_ARGS(to, ##__VA_ARGS__))(to, ##__VA_ARGS__)

static inline bool str_has_prefix(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* ASCII only; the kernel's tables know Latin-1 letters as well. */
#define __SIM_CTYPE(_name, _is)		static inline int _name(int c) { return _is; }
__SIM_CTYPE(isascii, !(c & ~0x7f))
__SIM_CTYPE(iscntrl, (c & 0xff) < ' ' || (c & 0xff) == 0x7f)
__SIM_CTYPE(isprint, (c & 0xff) >= ' ' && (c & 0xff) < 0x7f)
__SIM_CTYPE(isgraph, (c & 0xff) > ' ' && (c & 0xff) < 0x7f)
__SIM_CTYPE(isspace, c == ' ' || (c >= '\t' && c <= '\r'))
__SIM_CTYPE(isdigit, c >= '0' && c <= '9')
__SIM_CTYPE(isupper, c >= 'A' && c <= 'Z')
__SIM_CTYPE(islower, c >= 'a' && c <= 'z')
__SIM_CTYPE(isalpha, isupper(c) || islower(c))
__SIM_CTYPE(isalnum, isalpha(c) || isdigit(c))
__SIM_CTYPE(isxdigit, isdigit(c) || ((c | ' ') >= 'a' && (c | ' ') <= 'f'))
__SIM_CTYPE(tolower, isupper(c) ? c | ' ' : c)
__SIM_CTYPE(toupper, islower(c) ? c & ~' ' : c)

#endif /* _LINUX_STRING_H */
