// SPDX-License-Identifier: GPL-2.0
/* vsnprintf() and vsscanf() against libc's where they mean the same, and the kernel's %p. */
#include <limits.h>
#include <stdarg.h>

#include "check.h"

struct va_format {
	const char	*fmt;
	va_list		*va;
};

static struct sim_random random_numbers;
int a_variable[4];

static sim_u64 below(sim_u64 n)
{
	return sim_random_below(&random_numbers, n);
}

static void same(const char *fmt, ...)
{
	char is[300], expected[300];
	unsigned long size = below(4) ? sizeof(is) : below(20);
	int length, expected_length;
	va_list args, again;

	memset(is, '#', sizeof(is));
	memset(expected, '#', sizeof(expected));
	va_start(args, fmt);
	va_copy(again, args);
	length = sim_kernel_vsnprintf(is, size, fmt, args);
	expected_length = vsnprintf(expected, size, fmt, again);
	va_end(args);
	va_end(again);
	CHECK(length == expected_length && !memcmp(is, expected, sizeof(is)),
	      "format \"%s\", size %lu: \"%s\" (%d), not \"%s\" (%d)", fmt, size,
	      size ? is : "", length, size ? expected : "", expected_length);
}

/* Numbers of any size, small ones and limits as often as others. */
static sim_u64 some_number(void)
{
	static const sim_u64 limits[] = { 0, 1, 9, 10, INT_MAX, UINT_MAX, LLONG_MAX, ULLONG_MAX,
					  (sim_u64)INT_MIN, (sim_u64)LLONG_MIN, 255, 128 };
	sim_u64 x = sim_random_next(&random_numbers);

	return x % 3 == 0 ? limits[below(12)] : x >> below(64);
}

static void test_numbers(void)
{
	static const char * const lengths[] = { "", "hh", "h", "l", "ll", "z" };
	char fmt[64];
	int i, n;

	for (i = 0; i < 100000; i++) {
		char letter = "dduuxXoi"[below(8)];
		unsigned int length = below(6);

		n = 0;
		fmt[n++] = '%';
		if (!below(4))
			fmt[n++] = '-';
		if (!below(4))
			fmt[n++] = '0';
		/* These have no meaning with the others, of which compilers warn. */
		if (strchr("di", letter) && !below(3))
			fmt[n++] = "+ "[below(2)];
		if (strchr("xXo", letter) && !below(3))
			fmt[n++] = '#';
		if (!below(2))
			n += sprintf(fmt + n, "%d", (int)below(25));
		if (!below(3))
			n += sprintf(fmt + n, ".%d", (int)below(25));
		n += sprintf(fmt + n, "%s%c", lengths[length], letter);
		if (length < 3)
			same(fmt, (int)some_number());
		else
			same(fmt, some_number());
	}
}

static void test_text(void)
{
	same("plain");
	same("");
	same("100%%");
	same("%s", "text");
	same("[%10s|%-10s|%.2s|%10.3s|%-10.3s|]", "text", "text", "text", "text", "text");
	same("[%*s|%-*s|%.*s|%*d]", 8, "ab", 8, "cd", 1, "ef", -6, 12);
	same("[%c%c|%5c|%-5c]", 'a', 'b', 'c', 'd');
	same("%s %d %s %lu", "a", -3, "b", 4UL);
	same("%hhd %hhu %hd", 300, 300, 70000);
}

static void is(const char *expected, const char *fmt, ...)
{
	char text[300];
	va_list args;
	int length;

	va_start(args, fmt);
	length = sim_kernel_vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	CHECK_TEXT(text, expected);
	CHECK_NUMBER(length, strlen(expected));
}

static void inner(const char *expected, const char *fmt, ...)
{
	struct va_format format = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	format.va = &args;
	is(expected, "<%pV|%pV> %d", &format, &format, 7);
	va_end(args);
}

static void test_pointers(void)
{
	unsigned long none[2] = { 0 }, bits[3] = { 0x2f, 0, 0x8000000000000001 };

	is("0-3,5,128,191", "%*pbl", 192, bits);
	is("0-3,5", "%*pbl", 128, bits);
	is("0-2", "%*pbl", 3, bits);
	is("[]", "[%*pbl]", 128, none);
	is("[0000002f]", "[%*pb]", 32, bits);
	is("f", "%*pb", 4, bits);
	is("80000000,00000001,00000000,00000000,00000000,0000002f", "%*pb", 192, bits);
	inner("<3 of x|3 of x> 7", "%d of %s", 3, "x");
	is("a_variable", "%ps", &a_variable);
	is("a_variable+0x8", "%pS", &a_variable[2]);
	is("     a_variable", "%15ps", &a_variable);
	is("(unknown)", "%ps", (void *)16);
	is("-ENOMEM -EINVAL", "%pe %pe", (void *)-12L, (void *)-22L);
	/* Addresses are no part of what a run says. */
	is("(pointer) (null) (pointer)", "%p %p %px", &a_variable, NULL, &a_variable);
}

static void test_scan(void)
{
	int a = -1, b = -1, n = -1;
	unsigned long c = 0;
	char word[20] = "", two[3] = "";

#define SCAN(...) scan(__VA_ARGS__)
	extern int scan(const char *text, const char *fmt, ...);

	CHECK_NUMBER(SCAN("12 -7", "%d %d", &a, &b), 2);
	CHECK(a == 12 && b == -7, "%d %d", a, b);
	CHECK_NUMBER(SCAN(" 0x1f,abc def", "%i,%s%n", &a, word, &n), 2);
	CHECK(a == 31 && n == 9, "%d %d", a, n);
	CHECK_TEXT(word, "abc");
	CHECK_NUMBER(SCAN("ff 17", "%lx %*d", &c), 1);
	CHECK_NUMBER(c, 255);
	CHECK_NUMBER(SCAN("123456", "%2d%3d", &a, &b), 2);
	CHECK(a == 12 && b == 345, "%d %d", a, b);
	CHECK_NUMBER(SCAN("x", "%d", &a), 0);
	CHECK_NUMBER(SCAN("", "%d", &a), 0);
	CHECK_NUMBER(SCAN("5 x", "%d %d", &a, &b), 1);
	CHECK_NUMBER(SCAN("key=val;", "%[a-z]=%19[^;];", word, word), 0);
	CHECK_NUMBER(SCAN("key=val;", "%19[yke]=%2c", word, two), 2);
	CHECK_TEXT(word, "key");
	CHECK_TEXT(two, "va");
}

int scan(const char *text, const char *fmt, ...)
{
	va_list args;
	int found;

	va_start(args, fmt);
	found = sim_kernel_vsscanf(text, fmt, args);
	va_end(args);
	return found;
}

int main(void)
{
	sim_random_init(&random_numbers, "test of texts", 0);
	test_numbers();
	test_text();
	test_pointers();
	test_scan();
	return 0;
}
