// SPDX-License-Identifier: GPL-2.0
/* vsscanf() as the kernel has it: integers, words, characters and sets of them; %n. */
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

struct spec {
	_Bool		skip;
	int		width;		/* INT_MAX: none */
	char		length;		/* 'H': hh, 'h', 'l', 'L': ll, 0 */
};

static const char *parse(const char *fmt, struct spec *spec)
{
	*spec = (struct spec){ .width = INT_MAX };
	if (*fmt == '*') {
		spec->skip = 1;
		fmt++;
	}
	if (isdigit((unsigned char)*fmt))
		spec->width = strtol(fmt, (char **)&fmt, 10);
	for (;; fmt++) {
		if (*fmt == 'h')
			spec->length = spec->length == 'h' ? 'H' : 'h';
		else if (*fmt == 'l')
			spec->length = spec->length == 'l' ? 'L' : 'l';
		else if (*fmt == 'z')
			spec->length = 'l';
		else
			return fmt;
	}
}

static void store(const struct spec *spec, sim_u64 value, va_list *args)
{
	if (spec->skip)
		return;
	switch (spec->length) {
	case 'H':
		*va_arg(*args, unsigned char *) = value;
		break;
	case 'h':
		*va_arg(*args, unsigned short *) = value;
		break;
	case 'l':
		*va_arg(*args, unsigned long *) = value;
		break;
	case 'L':
		*va_arg(*args, unsigned long long *) = value;
		break;
	default:
		*va_arg(*args, unsigned int *) = value;
		break;
	}
}

/* Returns where it ends, or NULL: there is no number. */
static const char *scan_number(const char *text, char letter, struct spec *spec, va_list *args)
{
	int base = letter == 'i' ? 0 : letter == 'o' ? 8 : letter == 'x' || letter == 'X' ? 16 : 10;
	char word[72], *end;
	sim_u64 value;
	size_t n;

	n = strcspn(text, " \t\n\r\v\f");
	if (n > (size_t)spec->width)
		n = spec->width;
	if (n >= sizeof(word))
		n = sizeof(word) - 1;
	memcpy(word, text, n);
	word[n] = 0;
	if ((letter == 'u' || base == 8 || base == 16) && *word == '-')
		return NULL;
	value = *word == '-' ? (sim_u64)strtoll(word, &end, base) : strtoull(word, &end, base);
	if (end == word)
		return NULL;
	store(spec, value, args);
	return text + (end - word);
}

static const char *copy(const char *text, size_t n, _Bool terminate, const struct spec *spec,
			va_list *args)
{
	if (!spec->skip) {
		char *to = va_arg(*args, char *);

		memcpy(to, text, n);
		if (terminate)
			to[n] = 0;
	}
	return text + n;
}

static size_t least(size_t n, const struct spec *spec)
{
	return n < (size_t)spec->width ? n : (size_t)spec->width;
}

/* %[abc], %[^abc]. *@fmt: behind the [, and then at the ]. */
static const char *scan_set(const char *text, const char **fmt, const struct spec *spec,
			    va_list *args)
{
	_Bool except = **fmt == '^';
	const char *begin = *fmt + except, *end = strchr(begin, ']');
	char set[256];
	size_t n;

	if (!end || (size_t)(end - begin) >= sizeof(set))
		return NULL;
	memcpy(set, begin, end - begin);
	set[end - begin] = 0;
	*fmt = end;
	n = least(except ? strcspn(text, set) : strspn(text, set), spec);
	return n ? copy(text, n, 1, spec, args) : NULL;
}

/* One conversion, whose letter is at *@fmt. Returns where to go on in the text, or NULL. */
static const char *convert(const char *text, const char **fmt, struct spec *spec, va_list *args)
{
	size_t n;

	switch (**fmt) {
	case 'c':
		n = spec->width == INT_MAX ? 1 : spec->width;
		return strnlen(text, n) == n ? copy(text, n, 0, spec, args) : NULL;
	case '[':
		++*fmt;
		return scan_set(text, fmt, spec, args);
	}
	text += strspn(text, " \t\n\r\v\f");
	if (**fmt == '%')
		return *text == '%' ? text + 1 : NULL;
	if (!*text)
		return NULL;
	if (**fmt == 's') {
		n = least(strcspn(text, " \t\n\r\v\f"), spec);
		return copy(text, n, 1, spec, args);
	}
	return strchr("diuxXo", **fmt) ? scan_number(text, **fmt, spec, args) : NULL;
}

int sim_kernel_vsscanf(const char *text, const char *fmt, va_list args)
{
	const char *begin = text;
	struct spec spec;
	int found = 0;
	va_list copy;

	va_copy(copy, args);
	for (; *fmt; fmt++) {
		if (isspace((unsigned char)*fmt)) {
			text += strspn(text, " \t\n\r\v\f");
			continue;
		}
		if (*fmt != '%') {
			if (*text++ != *fmt)
				break;
			continue;
		}
		fmt = parse(fmt + 1, &spec);
		if (*fmt == 'n') {
			store(&spec, text - begin, &copy);
			continue;
		}
		found += !spec.skip && *fmt && *fmt != '%';
		text = *fmt ? convert(text, &fmt, &spec, &copy) : NULL;
		if (!text) {
			found -= !spec.skip && *fmt && *fmt != '%';
			break;
		}
	}
	va_end(copy);
	return found;
}
