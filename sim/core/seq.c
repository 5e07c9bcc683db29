// SPDX-License-Identifier: GPL-2.0
/* Text for files: fs/seq_file.c, lib/seq_buf.c, fs/libfs.c, sysfs_emit(). */
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "machine.h"

/* ---- seq_file: count == size says that there was not enough room ---- */

void seq_vprintf(struct seq_file *m, const char *fmt, va_list args)
{
	size_t n;

	if (m->count == m->size)
		return;
	n = vsnprintf(m->buf + m->count, m->size - m->count, fmt, args);
	m->count = min(m->count + n, m->size);
}

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	seq_vprintf(m, fmt, args);
	va_end(args);
}

int seq_write(struct seq_file *m, const void *data, size_t size)
{
	if (size > m->size - m->count) {
		m->count = m->size;
		return -1;
	}
	memcpy(m->buf + m->count, data, size);
	m->count += size;
	return 0;
}

void seq_puts(struct seq_file *m, const char *s)
{
	seq_write(m, s, strlen(s));
}

void seq_putc(struct seq_file *m, char c)
{
	seq_write(m, &c, 1);
}

int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data)
{
	struct seq_file *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	m->show = show;
	m->private = data;
	m->file = file;
	file->private_data = m;
	return 0;
}

int single_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	kvfree(m->buf);
	kfree(m);
	return 0;
}

/* All of the text, in a buffer as large as it takes. */
static int make_text(struct seq_file *m)
{
	size_t size = PAGE_SIZE;
	int error;

	for (;; size *= 2) {
		m->buf = kvmalloc(size, GFP_KERNEL);
		if (!m->buf)
			return -ENOMEM;
		m->size = size;
		m->count = 0;
		error = m->show(m, (void *)1);
		if (error < 0 || !seq_has_overflowed(m))
			return error;
		kvfree(m->buf);
		m->buf = NULL;
	}
}

ssize_t seq_read(struct file *file, char __user *buf, size_t size, loff_t *pos)
{
	struct seq_file *m = file->private_data;
	int error;

	if (!m->buf) {
		error = make_text(m);
		if (error)
			return error;
	}
	return simple_read_from_buffer(buf, size, pos, m->buf, m->count);
}

loff_t seq_lseek(struct file *file, loff_t offset, int whence)
{
	return -ESPIPE;
}

/* ---- libfs ---- */

int simple_open(struct inode *inode, struct file *file)
{
	if (inode->i_private)
		file->private_data = inode->i_private;
	return 0;
}

loff_t noop_llseek(struct file *file, loff_t offset, int whence)
{
	return file->f_pos;
}

loff_t default_llseek(struct file *file, loff_t offset, int whence)
{
	return -ESPIPE;
}

ssize_t simple_read_from_buffer(void __user *to, size_t size, loff_t *pos, const void *from,
				size_t available)
{
	if (*pos < 0)
		return -EINVAL;
	if (*pos >= available)
		return 0;
	size = min(size, available - (size_t)*pos);
	memcpy(to, from + *pos, size);
	*pos += size;
	return size;
}

ssize_t simple_write_to_buffer(void *to, size_t available, loff_t *pos, const void __user *from,
			       size_t size)
{
	if (*pos < 0)
		return -EINVAL;
	if (*pos >= available || !size)
		return 0;
	size = min(size, available - (size_t)*pos);
	memcpy(to + *pos, from, size);
	*pos += size;
	return size;
}

int sysfs_emit(char *buf, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vscnprintf(buf, PAGE_SIZE, fmt, args);
	va_end(args);
	return n;
}

int sysfs_emit_at(char *buf, int at, const char *fmt, ...)
{
	va_list args;
	int n;

	if (WARN(at < 0 || at >= PAGE_SIZE, "sysfs_emit_at() at %d", at))
		return 0;
	va_start(args, fmt);
	n = vscnprintf(buf + at, PAGE_SIZE - at, fmt, args);
	va_end(args);
	return n;
}

/* ---- seq_buf ---- */

int seq_buf_vprintf(struct seq_buf *s, const char *fmt, va_list args)
{
	size_t n;

	if (s->len < s->size) {
		n = vsnprintf(s->buffer + s->len, s->size - s->len, fmt, args);
		if (s->len + n < s->size) {
			s->len += n;
			return 0;
		}
	}
	seq_buf_set_overflow(s);
	return -1;
}

int seq_buf_printf(struct seq_buf *s, const char *fmt, ...)
{
	va_list args;
	int error;

	va_start(args, fmt);
	error = seq_buf_vprintf(s, fmt, args);
	va_end(args);
	return error;
}

int seq_buf_putmem(struct seq_buf *s, const void *memory, unsigned int size)
{
	if (s->len + size > s->size) {
		seq_buf_set_overflow(s);
		return -1;
	}
	memcpy(s->buffer + s->len, memory, size);
	s->len += size;
	return 0;
}

/* With room for an end */
int seq_buf_puts(struct seq_buf *s, const char *text)
{
	size_t n = strlen(text);

	if (s->len + n + 1 > s->size) {
		seq_buf_set_overflow(s);
		return -1;
	}
	memcpy(s->buffer + s->len, text, n + 1);
	s->len += n;
	return 0;
}

int seq_buf_putc(struct seq_buf *s, char c)
{
	return seq_buf_putmem(s, &c, 1);
}
