// SPDX-License-Identifier: GPL-2.0
/*
 * Asks policies/lavd/formulas.h what test_lavd_formulas.py wants to know: of each line of stdin,
 * which is a function's name and its arguments, it prints the result. Kernel side as a whole, so
 * that the header meets the types and macros that it will be compiled with.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "formulas.h"

#define MOST_ARGUMENTS	9

int printf(const char *fmt, ...);
int scanf(const char *fmt, ...);

static u64 slice(const u64 *a, bool *boosted)
{
	struct lavd_slice_input in = {
		.system_ns = a[0], .min_ns = a[1], .pinned_ns = a[2], .runtime_ns = a[3],
		.criticality = a[4], .average = a[5], .pinned_wait = a[6], .light = a[7],
		.boosts = a[8],
	};

	return lavd_slice(&in, boosted);
}

static u64 ask_slice(const u64 *a)
{
	bool boosted;

	return slice(a, &boosted);
}

static u64 ask_boosted(const u64 *a)
{
	bool boosted;

	slice(a, &boosted);
	return boosted;
}

#define ASK(function, ...) \
	static u64 ask_##function(const u64 *a) { return lavd_##function(__VA_ARGS__); }

ASK(bits, a[0])
ASK(mean, a[0], a[1])
ASK(rising_mean, a[0], a[1])
ASK(frequency, a[0], a[1])
ASK(weight_factor, a[0], a[1])
ASK(own_criticality, a[0], a[1], a[2], a[3])
ASK(criticality, a[0], a[1], a[2])
ASK(lag_max, a[0])
ASK(penalty, (s64)a[0], (s64)a[1])
ASK(deadline_delta, a[0], a[1], a[2])
ASK(window, a[0], a[1])
ASK(clock_step, a[0], a[1], a[2])
ASK(system_slice, a[0], a[1], a[2], a[3])
ASK(threshold, a[0], a[1], a[2])
ASK(normalized, a[0], a[1])
ASK(vulnerability, a[0], a[1])
ASK(split, a[0], a[1], a[2])
ASK(part, a[0], a[1], a[2])

#define ANSWER(function, arguments)	{ #function, arguments, ask_##function }

static const struct {
	const char	*name;
	int		arguments;
	u64		(*answer)(const u64 *a);
} functions[] = {
	ANSWER(bits, 1), ANSWER(mean, 2), ANSWER(rising_mean, 2), ANSWER(frequency, 2),
	ANSWER(weight_factor, 2), ANSWER(own_criticality, 4), ANSWER(criticality, 3),
	ANSWER(lag_max, 1), ANSWER(penalty, 2), ANSWER(deadline_delta, 3), ANSWER(window, 2),
	ANSWER(clock_step, 3), ANSWER(system_slice, 4), ANSWER(slice, 9), ANSWER(boosted, 9),
	ANSWER(threshold, 3), ANSWER(normalized, 2), ANSWER(vulnerability, 2), ANSWER(split, 3),
	ANSWER(part, 3),
};

static bool answer(const char *name)
{
	u64 a[MOST_ARGUMENTS];

	for (unsigned int i = 0; i < ARRAY_SIZE(functions); i++) {
		if (strcmp(name, functions[i].name))
			continue;
		for (int n = 0; n < functions[i].arguments; n++) {
			if (scanf("%llu", &a[n]) != 1)
				return false;
		}
		printf("%llu\n", functions[i].answer(a));
		return true;
	}
	return false;
}

int main(void)
{
	char name[32];

	while (scanf("%31s", name) == 1) {
		if (!answer(name))
			return 1;
	}
	return 0;
}
