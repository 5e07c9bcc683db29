/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of commands. Stands for linux/ioctl.h; the simulator has no files to give them to. */
#ifndef _LINUX_IOCTL_H
#define _LINUX_IOCTL_H

#define _SIM_IOC(dir, type, nr, size)	((dir) << 30 | (size) << 16 | (type) << 8 | (nr))
#define _IO(type, nr)			_SIM_IOC(0U, type, nr, 0)
#define _IOW(type, nr, arg)		_SIM_IOC(1U, type, nr, sizeof(arg))
#define _IOR(type, nr, arg)		_SIM_IOC(2U, type, nr, sizeof(arg))
#define _IOWR(type, nr, arg)		_SIM_IOC(3U, type, nr, sizeof(arg))

#endif
