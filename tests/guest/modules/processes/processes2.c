// SPDX-License-Identifier: GPL-2.0
/* The same under another module name: one replaces the other. */
#include "processes.c"
