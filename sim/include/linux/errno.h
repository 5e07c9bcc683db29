/* SPDX-License-Identifier: GPL-2.0 */
/* Error numbers, as on x86-64. Stands for linux/errno.h and uapi/asm-generic/errno*.h. */
#ifndef _LINUX_ERRNO_H
#define _LINUX_ERRNO_H

#define EPERM		1
#define ENOENT		2
#define ESRCH		3
#define EINTR		4
#define EIO		5
#define ENXIO		6
#define E2BIG		7
#define EBADF		9
#define ECHILD		10
#define EAGAIN		11
#define ENOMEM		12
#define EACCES		13
#define EFAULT		14
#define EBUSY		16
#define EEXIST		17
#define EXDEV		18
#define ENODEV		19
#define ENOTDIR		20
#define EISDIR		21
#define EINVAL		22
#define ENOTTY		25
#define EFBIG		27
#define ENOSPC		28
#define ESPIPE		29
#define EROFS		30
#define EPIPE		32
#define EDOM		33
#define ERANGE		34
#define EDEADLK		35
#define ENAMETOOLONG	36
#define ENOSYS		38
#define ENOTEMPTY	39
#define ENOMSG		42
#define EBADE		52
#define ENODATA		61
#define ETIME		62
#define EADV		68
#define EPROTO		71
#define EBADMSG		74
#define EOVERFLOW	75
#define EOPNOTSUPP	95
#define ETIMEDOUT	110
#define EALREADY	114
#define EINPROGRESS	115
#define ESTALE		116
#define EUCLEAN		117
#define EMEDIUMTYPE	124
#define ECANCELED	125
#define EOWNERDEAD	130
#define EWOULDBLOCK	EAGAIN

/* Not for users */
#define ERESTARTSYS	512
#define ENOTSUPP	524

#endif /* _LINUX_ERRNO_H */
