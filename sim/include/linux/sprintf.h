/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formatted text, with the kernel's %pV, %*pbl and so on. Stands for linux/sprintf.h. What libc has
 * under the same name is renamed: both are in one program.
 */
#ifndef _LINUX_SPRINTF_H
#define _LINUX_SPRINTF_H

#include <linux/types.h>
#include <linux/stdarg.h>

#define vsnprintf	sim_kernel_vsnprintf
#define snprintf	sim_kernel_snprintf
#define sprintf		sim_kernel_sprintf
#define sscanf		sim_kernel_sscanf
#define vsscanf		sim_kernel_vsscanf

__printf(3, 0) int vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
__printf(3, 0) int vscnprintf(char *buf, size_t size, const char *fmt, va_list args);
__printf(3, 4) int snprintf(char *buf, size_t size, const char *fmt, ...);
__printf(3, 4) int scnprintf(char *buf, size_t size, const char *fmt, ...);
__printf(2, 3) int sprintf(char *buf, const char *fmt, ...);
__scanf(2, 3) int sscanf(const char *text, const char *fmt, ...);
__printf(2, 3) char *kasprintf(gfp_t gfp, const char *fmt, ...);

#endif /* _LINUX_SPRINTF_H */
