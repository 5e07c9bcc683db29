/* SPDX-License-Identifier: GPL-2.0 */
/* The second pass over a file of events, which linux/tracepoint.h does not need. */
