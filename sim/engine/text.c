// SPDX-License-Identifier: GPL-2.0
/*
 * Formatted text as the kernel has it: no floating point, and %p followed by letters. Addresses
 * are not printed, by which two runs would differ.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <string.h>

#include "engine.h"

struct buffer {
	char		*text;
	unsigned long	size, length;	/* length: that it would have */
};

struct spec {
	_Bool		left, plus, space, alternate, zero;
	int		width, precision;	/* precision -1: none */
	char		length;			/* 'H': hh, 'h', 'l', 'L': ll, 'z', 0 */
};

/* As in <linux/printk.h>; the kernel's side knows the type, we its layout. */
struct va_format {
	const char	*fmt;
	va_list		*va;
};

static void format(struct buffer *to, const char *fmt, va_list args);

static void put(struct buffer *to, char c)
{
	if (to->length + 1 < to->size)
		to->text[to->length] = c;
	to->length++;
}

static void fill(struct buffer *to, char c, long n)
{
	for (; n > 0; n--)
		put(to, c);
}

static void put_text(struct buffer *to, const struct spec *spec, const char *text)
{
	long n, i;

	if (!text)
		text = "(null)";
	n = spec->precision >= 0 ? (long)strnlen(text, spec->precision) : (long)strlen(text);
	if (!spec->left)
		fill(to, ' ', spec->width - n);
	for (i = 0; i < n; i++)
		put(to, text[i]);
	if (spec->left)
		fill(to, ' ', spec->width - n);
}

static void put_char(struct buffer *to, const struct spec *spec, char c)
{
	if (!spec->left)
		fill(to, ' ', spec->width - 1);
	put(to, c);
	if (spec->left)
		fill(to, ' ', spec->width - 1);
}

static void put_number(struct buffer *to, const struct spec *spec, sim_u64 value, _Bool negative,
		       unsigned int base, _Bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char reversed[24], prefix[3] = "";
	int n = 0, zeros, rest;

	if (negative || spec->plus || spec->space)
		prefix[0] = negative ? '-' : spec->plus ? '+' : ' ';
	else if (spec->alternate && base == 16 && value)
		memcpy(prefix, upper ? "0X" : "0x", 3);
	for (; value; value /= base)
		reversed[n++] = digits[value % base];
	if (!n && spec->precision)
		reversed[n++] = '0';
	if (spec->alternate && base == 8 && (!n || reversed[n - 1] != '0'))
		reversed[n++] = '0';
	zeros = spec->precision - n;
	if (spec->precision < 0 && spec->zero && !spec->left)
		zeros = spec->width - (int)strlen(prefix) - n;
	zeros = zeros > 0 ? zeros : 0;
	rest = spec->width - (int)strlen(prefix) - zeros - n;
	if (!spec->left)
		fill(to, ' ', rest);
	for (const char *c = prefix; *c; c++)
		put(to, *c);
	fill(to, '0', zeros);
	while (n)
		put(to, reversed[--n]);
	if (spec->left)
		fill(to, ' ', rest);
}

static sim_u64 unsigned_argument(const struct spec *spec, va_list *args)
{
	switch (spec->length) {
	case 'H':
		return (unsigned char)va_arg(*args, unsigned int);
	case 'h':
		return (unsigned short)va_arg(*args, unsigned int);
	case 'l':
		return va_arg(*args, unsigned long);
	case 'L':
		return va_arg(*args, unsigned long long);
	case 'z':
		return va_arg(*args, size_t);
	default:
		return va_arg(*args, unsigned int);
	}
}

static long long signed_argument(const struct spec *spec, va_list *args)
{
	switch (spec->length) {
	case 'H':
		return (signed char)va_arg(*args, int);
	case 'h':
		return (short)va_arg(*args, int);
	case 'l':
		return va_arg(*args, long);
	case 'L':
		return va_arg(*args, long long);
	case 'z':
		return va_arg(*args, long);
	default:
		return va_arg(*args, int);
	}
}

/* ---- %p and its letters ---- */

static _Bool bit(const unsigned long *bits, unsigned int i)
{
	return bits[i / (8 * sizeof(long))] >> i % (8 * sizeof(long)) & 1;
}

static void put_decimal(struct buffer *to, sim_u64 value)
{
	static const struct spec plain = { .precision = -1 };

	put_number(to, &plain, value, 0, 10, 0);
}

/* %*pbl: 0-3,5 */
static void put_bit_list(struct buffer *to, const unsigned long *bits, unsigned int n)
{
	unsigned int i, last;
	_Bool first = 1;

	for (i = 0; i < n; i = last + 1) {
		last = i;
		if (!bit(bits, i))
			continue;
		while (last + 1 < n && bit(bits, last + 1))
			last++;
		if (!first)
			put(to, ',');
		first = 0;
		put_decimal(to, i);
		if (last > i) {
			put(to, '-');
			put_decimal(to, last);
		}
	}
}

/* %*pb: words of 32 bits in hex, highest first */
static void put_bit_mask(struct buffer *to, const unsigned long *bits, unsigned int n)
{
	struct spec spec = { .precision = -1, .zero = 1 };
	unsigned int word, i, value;

	for (word = (n + 31) / 32; word--; ) {
		unsigned int end = n - word * 32 < 32 ? n - word * 32 : 32;

		for (value = i = 0; i < end; i++)
			value |= (unsigned int)bit(bits, word * 32 + i) << i;
		spec.width = (end + 3) / 4;
		put_number(to, &spec, value, 0, 16, 0);
		if (word)
			put(to, ',');
	}
}

/* %ps: name; %pS, %pB: name+0x10 */
static void put_symbol(struct buffer *to, const struct spec *spec, const void *address,
		       _Bool offset)
{
	static const struct spec hex = { .precision = -1, .alternate = 1 };
	unsigned long behind;
	const char *name = sim_symbol(address, &behind);

	put_text(to, spec, name ? name : "(unknown)");
	if (name && offset && behind) {
		put(to, '+');
		put_number(to, &hex, behind, 0, 16, 0);
	}
}

/* %pe: an error by its name */
static void put_error(struct buffer *to, const struct spec *spec, const void *pointer)
{
	const char *name = strerrorname_np(-(long)pointer);

	if (name) {
		put(to, '-');
		put_text(to, spec, name);
	} else {
		put_number(to, spec, -(long)pointer, 1, 10, 0);
	}
}

static const char *put_pointer(struct buffer *to, struct spec *spec, const char *letters,
			       const void *pointer)
{
	const struct va_format *inner = pointer;
	int bits = spec->width;
	va_list copy;

	switch (*letters) {
	case 'V':
		va_copy(copy, *inner->va);
		format(to, inner->fmt, copy);
		va_end(copy);
		return letters + 1;
	case 'b':
		spec->width = 0;
		if (letters[1] == 'l')
			put_bit_list(to, pointer, bits < 0 ? 0 : bits);
		else
			put_bit_mask(to, pointer, bits < 0 ? 0 : bits);
		return letters + (letters[1] == 'l' ? 2 : 1);
	case 's':
	case 'S':
	case 'B':
		put_symbol(to, spec, pointer, *letters != 's');
		return letters + 1;
	case 'e':
		put_error(to, spec, pointer);
		return letters + 1;
	case 'K':
	case 'x':
		letters++;
		break;
	}
	put_text(to, spec, pointer ? "(pointer)" : "(null)");
	return letters;
}

/* ---- the rest ---- */

static const char *parse_number(const char *fmt, int *value, va_list *args)
{
	if (*fmt == '*') {
		*value = va_arg(*args, int);
		return fmt + 1;
	}
	for (*value = 0; *fmt >= '0' && *fmt <= '9'; fmt++)
		*value = *value * 10 + (*fmt - '0');
	return fmt;
}

static const char *parse_flags(const char *fmt, struct spec *spec)
{
	for (;; fmt++) {
		switch (*fmt) {
		case '-':
			spec->left = 1;
			break;
		case '+':
			spec->plus = 1;
			break;
		case ' ':
			spec->space = 1;
			break;
		case '#':
			spec->alternate = 1;
			break;
		case '0':
			spec->zero = 1;
			break;
		default:
			return fmt;
		}
	}
}

/* @fmt: behind the %. Returns where the letter of the conversion is. */
static const char *parse(const char *fmt, struct spec *spec, va_list *args)
{
	*spec = (struct spec){ .precision = -1 };
	fmt = parse_flags(fmt, spec);
	fmt = parse_number(fmt, &spec->width, args);
	if (spec->width < 0 && fmt[0] != 'p') {
		spec->left = 1;
		spec->width = -spec->width;
	}
	if (*fmt == '.') {
		fmt = parse_number(fmt + 1, &spec->precision, args);
		if (spec->precision < 0)
			spec->precision = -1;
	}
	for (;; fmt++) {
		if (*fmt == 'h')
			spec->length = spec->length == 'h' ? 'H' : 'h';
		else if (*fmt == 'l')
			spec->length = spec->length == 'l' ? 'L' : 'l';
		else if (*fmt == 'z' || *fmt == 't' || *fmt == 'j' || *fmt == 'q')
			spec->length = *fmt == 'z' ? 'z' : 'L';
		else
			return fmt;
	}
}

/* Returns where to go on. */
static const char *convert(struct buffer *to, const char *fmt, va_list *args)
{
	struct spec spec;
	long long number;

	fmt = parse(fmt, &spec, args);
	switch (*fmt) {
	case 'd':
	case 'i':
		number = signed_argument(&spec, args);
		put_number(to, &spec, number < 0 ? -(sim_u64)number : (sim_u64)number, number < 0,
			   10, 0);
		break;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		spec.plus = spec.space = 0;
		put_number(to, &spec, unsigned_argument(&spec, args), 0,
			   *fmt == 'u' ? 10 : *fmt == 'o' ? 8 : 16, *fmt == 'X');
		break;
	case 'c':
		put_char(to, &spec, va_arg(*args, int));
		break;
	case 's':
		put_text(to, &spec, va_arg(*args, const char *));
		break;
	case 'p':
		return put_pointer(to, &spec, fmt + 1, va_arg(*args, void *));
	case '%':
		put(to, '%');
		break;
	case 0:
		return fmt;
	default:
		put(to, '%');
		put(to, *fmt);
		break;
	}
	return fmt + 1;
}

static void format(struct buffer *to, const char *fmt, va_list args)
{
	va_list copy;

	/* A va_list may be an array: then &args is not what it seems. */
	va_copy(copy, args);
	while (*fmt) {
		if (*fmt == '%')
			fmt = convert(to, fmt + 1, &copy);
		else
			put(to, *fmt++);
	}
	va_end(copy);
}

int sim_kernel_vsnprintf(char *buf, unsigned long size, const char *fmt, va_list args)
{
	struct buffer to = { buf, size, 0 };

	format(&to, fmt, args);
	if (size)
		buf[to.length < size ? to.length : size - 1] = 0;
	return to.length;
}
