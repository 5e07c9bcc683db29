/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is done when a variable goes out of scope: guard(), scoped_guard(), __free(). Stands for
 * linux/cleanup.h of 6.12. An expression for a lock uses _T, a pointer to the guard.
 */
#ifndef _LINUX_CLEANUP_H
#define _LINUX_CLEANUP_H

#include <linux/compiler.h>
#include <linux/stddef.h>

#define DEFINE_FREE(_name, _type, _free)					\
static inline void __free_##_name(void *__place)				\
{										\
	_type _T = *(_type *)__place;						\
										\
	_free;									\
}
#define __free(_name)		__cleanup(__free_##_name)
#define no_free_ptr(p)		({ __auto_type __taken = (p); (p) = NULL; __taken; })
#define return_ptr(p)		return no_free_ptr(p)

#define DEFINE_CLASS(_name, _type, _exit, _init, _init_args...)			\
typedef _type class_##_name##_t;						\
static inline void class_##_name##_destructor(class_##_name##_t *__place)	\
{										\
	_type _T = *__place;							\
										\
	_exit;									\
}										\
static inline class_##_name##_t class_##_name##_constructor(_init_args)		\
{										\
	return _init;								\
}
#define CLASS(_name, _var)							\
	class_##_name##_t _var __cleanup(class_##_name##_destructor) =		\
		class_##_name##_constructor

#define DEFINE_GUARD(_name, _type, _lock, _unlock)				\
	DEFINE_CLASS(_name, _type, if (_T) { _unlock; }, ({ _lock; _T; }), _type _T)

#define __DEFINE_LOCK_CLASS(_name, _type, _unlock, _members...)			\
typedef struct {								\
	_type	*lock;								\
	_members;								\
} class_##_name##_t;								\
static inline void class_##_name##_destructor(class_##_name##_t *_T)		\
{										\
	if (_T->lock) {								\
		_unlock;							\
	}									\
}
#define DEFINE_LOCK_GUARD_1(_name, _type, _lock, _unlock, _members...)		\
__DEFINE_LOCK_CLASS(_name, _type, _unlock, _members)				\
static inline class_##_name##_t class_##_name##_constructor(_type *lock)	\
{										\
	class_##_name##_t _t = { .lock = lock }, *_T __maybe_unused = &_t;	\
										\
	_lock;									\
	return _t;								\
}
#define DEFINE_LOCK_GUARD_0(_name, _lock, _unlock, _members...)			\
__DEFINE_LOCK_CLASS(_name, void, _unlock, _members)				\
static inline class_##_name##_t class_##_name##_constructor(void)		\
{										\
	class_##_name##_t _t = { .lock = (void *)1 }, *_T __maybe_unused = &_t;	\
										\
	_lock;									\
	return _t;								\
}

#define guard(_name)		CLASS(_name, __UNIQUE_ID(guard))
#define scoped_guard(_name, _args...)						\
	for (CLASS(_name, __scope)(_args), *__done = NULL; !__done; __done = (void *)1)

#endif /* _LINUX_CLEANUP_H */
