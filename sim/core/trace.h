/* SPDX-License-Identifier: GPL-2.0 */
/* The trace of a run, and its hash of transitions: trace.c. */
#ifndef _SIM_CORE_TRACE_H
#define _SIM_CORE_TRACE_H

/* As the options say. Bad input if the file cannot be written. */
void trace_begin(void);
/* The file is whole; nothing more is written. */
void trace_end(void);

#endif /* _SIM_CORE_TRACE_H */
