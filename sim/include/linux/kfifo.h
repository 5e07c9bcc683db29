/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings of one reader and one writer, with a size that is a power of two. Stands for linux/kfifo.h.
 */
#ifndef _LINUX_KFIFO_H
#define _LINUX_KFIFO_H

#include <linux/bitops.h>

#define STRUCT_KFIFO(type, size)						\
	struct {								\
		unsigned int in, out;		/* counted, not wrapped */	\
		type data[(size) >= 2 && !((size) & ((size) - 1)) ? (int)(size) : -1]; \
	}
#define DECLARE_KFIFO(fifo, type, size)	STRUCT_KFIFO(type, size) fifo
#define DEFINE_KFIFO(fifo, type, size)	DECLARE_KFIFO(fifo, type, size) = { }
#define INIT_KFIFO(fifo)		kfifo_reset(&(fifo))

#define kfifo_size(fifo)	((unsigned int)ARRAY_SIZE((fifo)->data))
#define kfifo_len(fifo)		(READ_ONCE((fifo)->in) - READ_ONCE((fifo)->out))
#define kfifo_avail(fifo)	(kfifo_size(fifo) - kfifo_len(fifo))
#define kfifo_is_empty(fifo)	(kfifo_len(fifo) == 0)
#define kfifo_is_full(fifo)	(kfifo_len(fifo) == kfifo_size(fifo))
#define kfifo_reset(fifo)	((void)((fifo)->in = (fifo)->out = 0))
#define __sim_kfifo_at(fifo, n)	((fifo)->data[(n) & (kfifo_size(fifo) - 1)])

/* 1: done; 0: it is full, or empty */
#define kfifo_put(fifo, value) ({						\
	__auto_type __fifo = (fifo);						\
	bool __room = !kfifo_is_full(__fifo);					\
	if (__room) {								\
		__sim_kfifo_at(__fifo, __fifo->in) = (value);			\
		WRITE_ONCE(__fifo->in, __fifo->in + 1);				\
	}									\
	(int)__room;								\
})
#define kfifo_peek(fifo, to) ({							\
	__auto_type __fifo = (fifo);						\
	bool __any = !kfifo_is_empty(__fifo);					\
	if (__any)								\
		*(to) = __sim_kfifo_at(__fifo, __fifo->out);			\
	(int)__any;								\
})
#define kfifo_get(fifo, to) ({							\
	__auto_type __ring = (fifo);						\
	int __got = kfifo_peek(__ring, to);					\
	if (__got)								\
		WRITE_ONCE(__ring->out, __ring->out + 1);			\
	__got;									\
})

#endif /* _LINUX_KFIFO_H */
