// SPDX-License-Identifier: GPL-2.0
/* Lists of CPUs as text: "0-3,8", and "0-31:2/4" for the first 2 of each 4. */
#include <linux/cpumask.h>
#include <linux/string.h>

static bool take_number(const char **text, unsigned int *number)
{
	u64 n = 0;

	if (!isdigit(**text))
		return false;
	for (; isdigit(**text) && n <= U32_MAX; (*text)++)
		n = n * 10 + **text - '0';
	*number = n;
	return n <= U32_MAX;
}

static bool take(const char **text, char c)
{
	if (**text != c)
		return false;
	(*text)++;
	return true;
}

/* One of those between the commas. */
static int take_range(const char **text, struct cpumask *mask)
{
	unsigned int first, last, used = 1, group = 1;

	if (!take_number(text, &first))
		return -EINVAL;
	last = first;
	if (take(text, '-')) {
		if (!take_number(text, &last))
			return -EINVAL;
		if (take(text, ':') && !(take_number(text, &used) && take(text, '/') &&
					 take_number(text, &group)))
			return -EINVAL;
	}
	if (first > last || !used || used > group)
		return -EINVAL;
	if (last >= nr_cpu_ids)
		return -ERANGE;
	for (unsigned int cpu = first; cpu <= last; cpu++) {
		if ((cpu - first) % group < used)
			cpumask_set_cpu(cpu, mask);
	}
	return 0;
}

/* lib/bitmap-str.c, bitmap_parselist(), but for its words "all" and "N" */
int cpulist_parse(const char *text, struct cpumask *mask)
{
	int ret;

	cpumask_clear(mask);
	while (*text) {
		if (*text == ',' || isspace(*text)) {
			text++;
			continue;
		}
		ret = take_range(&text, mask);
		if (!ret && *text && *text != ',' && !isspace(*text))
			ret = -EINVAL;
		if (ret)
			return ret;
	}
	return 0;
}
