// SPDX-License-Identifier: GPL-2.0
/* Strings as in <linux/string.h> and <linux/kernel.h>. */
#include <errno.h>
#include <limits.h>
#include <sys/types.h>

#include "check.h"

char *strim(char *s);
_Bool sysfs_streq(const char *a, const char *b);
int match_string(const char * const *array, size_t n, const char *string);
int __sysfs_match_string(const char * const *array, size_t n, const char *string);
ssize_t sized_strscpy(char *to, const char *from, size_t n);
void *memchr_inv(const void *memory, int byte, size_t n);
int kstrtoull(const char *text, unsigned int base, unsigned long long *result);
int kstrtouint(const char *text, unsigned int base, unsigned int *result);
int kstrtoint(const char *text, unsigned int base, int *result);
int kstrtoll(const char *text, unsigned int base, long long *result);
int kstrtobool(const char *text, _Bool *result);
int scnprintf(char *buf, size_t size, const char *fmt, ...);
char *kasprintf(unsigned int gfp, const char *fmt, ...);

static void test_numbers(void)
{
	unsigned long long large;
	long long negative;
	unsigned int number;
	int integer;
	_Bool yes;

	CHECK_NUMBER(kstrtouint("42\n", 0, &number), 0);
	CHECK_NUMBER(number, 42);
	CHECK_NUMBER(kstrtouint("0x10", 0, &number), 0);
	CHECK_NUMBER(number, 16);
	CHECK_NUMBER(kstrtouint("+7", 10, &number), 0);
	CHECK_NUMBER(-kstrtouint("", 0, &number), EINVAL);
	CHECK_NUMBER(-kstrtouint("\n", 0, &number), EINVAL);
	CHECK_NUMBER(-kstrtouint("4 2", 0, &number), EINVAL);
	CHECK_NUMBER(-kstrtouint(" 4", 0, &number), EINVAL);
	CHECK_NUMBER(-kstrtouint("-4", 0, &number), EINVAL);
	CHECK_NUMBER(-kstrtouint("4\n\n", 0, &number), EINVAL);
	CHECK_NUMBER(-kstrtouint("4294967296", 0, &number), ERANGE);
	CHECK_NUMBER(kstrtoint("-2147483648", 0, &integer), 0);
	CHECK(integer == INT_MIN);
	CHECK_NUMBER(-kstrtoint("-2147483649", 0, &integer), ERANGE);
	CHECK_NUMBER(kstrtoull("18446744073709551615", 0, &large), 0);
	CHECK_NUMBER(-kstrtoull("18446744073709551616", 0, &large), ERANGE);
	CHECK_NUMBER(kstrtoll("-9223372036854775808", 0, &negative), 0);
	CHECK(negative == LLONG_MIN);
	CHECK_NUMBER(-kstrtoll("9223372036854775808", 0, &negative), ERANGE);
	CHECK(!kstrtobool("on\n", &yes) && yes);
	CHECK(!kstrtobool("Off", &yes) && !yes);
	CHECK(!kstrtobool("1", &yes) && yes);
	CHECK_NUMBER(-kstrtobool("", &yes), EINVAL);
	CHECK_NUMBER(-kstrtobool("maybe", &yes), EINVAL);
}

static void test_strings(void)
{
	static const char * const words[] = { "warn", "eject", NULL, "never" };
	char text[] = "  a b \t\n", small[4];
	char *made;

	CHECK_TEXT(strim(text), "a b");
	CHECK(sysfs_streq("eject\n", "eject") && sysfs_streq("a", "a\n") && sysfs_streq("", "\n"));
	CHECK(!sysfs_streq("eject", "ejec") && !sysfs_streq("a\n\n", "a"));
	CHECK_NUMBER(match_string(words, 4, "eject"), 1);
	CHECK_NUMBER(-match_string(words, 4, "eject\n"), EINVAL);
	CHECK_NUMBER(__sysfs_match_string(words, 4, "eject\n"), 1);
	CHECK_NUMBER(-__sysfs_match_string(words, 4, "never"), EINVAL);
	CHECK_NUMBER(sized_strscpy(small, "abc", sizeof(small)), 3);
	CHECK_NUMBER(-sized_strscpy(small, "abcd", sizeof(small)), E2BIG);
	CHECK_TEXT(small, "abc");
	CHECK(!memchr_inv("aaaa", 'a', 4) && !strcmp(memchr_inv("aaba", 'a', 4), "ba"));
	CHECK_NUMBER(scnprintf(small, sizeof(small), "%d", 12345), 3);
	CHECK_NUMBER(scnprintf(small, 0, "%d", 12345), 0);
	made = kasprintf(0, "%s-%d", "x", 5);
	CHECK_TEXT(made, "x-5");
	sim_free(made);
}

int main(void)
{
	test_numbers();
	test_strings();
	return 0;
}
