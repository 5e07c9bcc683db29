// SPDX-License-Identifier: GPL-2.0
/* The same under another module name: two at once, and one that replaces the other. */
#include "sharer.c"
