/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For programs that test the simulator's engine: tests/unit/test_sim_engine.py builds and runs
 * them.
 */
#ifndef _TESTS_SIM_CHECK_H
#define _TESTS_SIM_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define CHECK(condition, ...) do {						\
	if (!(condition)) {							\
		fprintf(stderr, "%s:%d: %s:", __FILE__, __LINE__, #condition);	\
		fprintf(stderr, " " __VA_ARGS__);				\
		fputc('\n', stderr);						\
		exit(1);							\
	}									\
} while (0)

#define CHECK_TEXT(is, expected) \
	CHECK(!strcmp(is, expected), "\"%s\", not \"%s\"", is, expected)

#define CHECK_NUMBER(is, expected) do {						\
	sim_u64 __is = (is), __expected = (expected);				\
	CHECK(__is == __expected, "%llu, not %llu", __is, __expected);		\
} while (0)

#endif
