/* SPDX-License-Identifier: GPL-2.0 */
/* Text in a buffer. Stands for linux/seq_buf.h. */
#ifndef _LINUX_SEQ_BUF_H
#define _LINUX_SEQ_BUF_H

#include <linux/bug.h>
#include <linux/string.h>
#include <linux/sprintf.h>

struct seq_buf {
	char	*buffer;
	size_t	size;
	size_t	len;		/* more than size: it did not fit */
};

#define DECLARE_SEQ_BUF(_name, _size)					\
	struct seq_buf _name = {					\
		.buffer = (char[_size]){ }, .size = _size,		\
	}

static inline void seq_buf_clear(struct seq_buf *s)
{
	s->len = 0;
	if (s->size)
		s->buffer[0] = '\0';
}

static inline void seq_buf_init(struct seq_buf *s, char *buffer, unsigned int size)
{
	s->buffer = buffer;
	s->size = size;
	seq_buf_clear(s);
}

static inline bool seq_buf_has_overflowed(struct seq_buf *s)
{
	return s->len > s->size;
}

static inline void seq_buf_set_overflow(struct seq_buf *s)
{
	s->len = s->size + 1;
}

static inline unsigned int seq_buf_buffer_left(struct seq_buf *s)
{
	return seq_buf_has_overflowed(s) ? 0 : s->size - s->len;
}

static inline unsigned int seq_buf_used(struct seq_buf *s)
{
	return min(s->len, s->size);
}

/* With an end, at the cost of the last character if need be. */
static inline const char *seq_buf_str(struct seq_buf *s)
{
	if (WARN_ON(!s->size))
		return "";
	s->buffer[min(s->len, s->size - 1)] = '\0';
	return s->buffer;
}

__printf(2, 3) int seq_buf_printf(struct seq_buf *s, const char *fmt, ...);
__printf(2, 0) int seq_buf_vprintf(struct seq_buf *s, const char *fmt, va_list args);
int seq_buf_puts(struct seq_buf *s, const char *text);
int seq_buf_putc(struct seq_buf *s, char c);
int seq_buf_putmem(struct seq_buf *s, const void *memory, unsigned int size);

#endif /* _LINUX_SEQ_BUF_H */
