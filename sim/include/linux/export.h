/* SPDX-License-Identifier: GPL-2.0 */
/* Symbols for modules: all are visible, but each has to exist. Stands for linux/export.h. */
#ifndef _LINUX_EXPORT_H
#define _LINUX_EXPORT_H

#define EXPORT_SYMBOL(symbol)			extern __typeof__(symbol) symbol
#define EXPORT_SYMBOL_GPL(symbol)		EXPORT_SYMBOL(symbol)
#define EXPORT_SYMBOL_NS(symbol, ns)		EXPORT_SYMBOL(symbol)
#define EXPORT_SYMBOL_NS_GPL(symbol, ns)	EXPORT_SYMBOL(symbol)
#define EXPORT_PER_CPU_SYMBOL(symbol)		EXPORT_SYMBOL(symbol)
#define EXPORT_PER_CPU_SYMBOL_GPL(symbol)	EXPORT_SYMBOL(symbol)

#endif /* _LINUX_EXPORT_H */
