// SPDX-License-Identifier: GPL-2.0
/*
 * Random numbers: prints some, which are the same for ever, and looks at how they are distributed.
 */
#include "check.h"

#define DRAWS	400000

static void print_some(sim_u64 seed, const char *name, sim_u64 index)
{
	struct sim_random random;
	int i;

	sim_options.seed = seed;
	sim_random_init(&random, name, index);
	printf("%llu %s %llu:", seed, name, index);
	for (i = 0; i < 3; i++)
		printf(" %016llx", sim_random_next(&random));
	printf(" %llu\n", sim_random_below(&random, 1000));
}

/* Each of 10 as often as the others, to within 5 of its standard deviations. */
static void test_uniform(struct sim_random *random)
{
	unsigned int counts[10] = { 0 }, i;

	for (i = 0; i < DRAWS; i++)
		counts[sim_random_below(random, 10)]++;
	for (i = 0; i < 10; i++)
		CHECK(counts[i] > 40000 - 950 && counts[i] < 40000 + 950, "%u", counts[i]);
	for (i = 0; i < 1000; i++)
		CHECK_NUMBER(sim_random_below(random, 1), 0);
}

/* Of the state 1, 2, 3, 4, as its authors' program yields them. */
static void test_known(void)
{
	struct sim_random random = { { 1, 2, 3, 4 } };

	CHECK_NUMBER(sim_random_next(&random), 11520);
	CHECK_NUMBER(sim_random_next(&random), 0);
	CHECK_NUMBER(sim_random_next(&random), 1509978240);
	CHECK_NUMBER(sim_random_next(&random), 1215971899390074240);
}

int main(void)
{
	struct sim_random random;

	test_known();
	print_some(1, "interleave", 0);
	print_some(1, "interleave", 1);
	print_some(2, "interleave", 0);
	print_some(1, "fail", 0);
	print_some(0, "", 0);
	sim_random_init(&random, "test", 0);
	test_uniform(&random);
	return 0;
}
