// SPDX-License-Identifier: GPL-2.0
/*
 * Per-CPU variables and other memory. Without arguments: what is allowed. With one: a mistake of
 * that kind, which AddressSanitizer has to find.
 */
#include "check.h"

#define PER_CPU	__attribute__((section("sim_percpu")))

PER_CPU int first = 11;
PER_CPU char text[13] = "twelve chars";
PER_CPU long last[3] = { 1, 2, 3 };
PER_CPU char line[64] __attribute__((aligned(64)));

#define CPUS	3

/* Compilers must not think that it is the variable itself. */
static void *of(const void *variable, int cpu)
{
	asm("" : "+r"(variable));
	return (char *)variable + sim_percpu_offset[cpu];
}

static void test_static(void)
{
	int cpu, found;

	for (cpu = 0; cpu < CPUS; cpu++) {
		CHECK_NUMBER(*(int *)of(&first, cpu), 11);
		CHECK_TEXT((char *)of(text, cpu), "twelve chars");
		CHECK_NUMBER(((long *)of(last, cpu))[2], 3);
		CHECK_NUMBER((unsigned long)of(line, cpu) % 64, 0);
		*(int *)of(&first, cpu) = cpu;
		memset(of(line, cpu), cpu, 64);
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		CHECK_NUMBER(*(int *)of(&first, cpu), cpu);
		CHECK(sim_percpu_template(of(&first, cpu), &found) == &first && found == cpu);
	}
	CHECK(!sim_percpu_template(&cpu, &found));
}

static void test_dynamic(void)
{
	void *all[200];
	unsigned int i, j;
	int cpu;

	for (i = 0; i < 200; i++) {
		unsigned long size = i % 20 ? 1 + i * 3 : 30000;

		all[i] = sim_percpu_alloc(size, 1 << i % 7);
		CHECK(all[i]);
		for (cpu = 0; cpu < CPUS; cpu++) {
			char *copy = of(all[i], cpu);

			CHECK_NUMBER((unsigned long)copy % (1 << i % 7), 0);
			for (j = 0; j < size; j++)
				CHECK(!copy[j]);
			memset(copy, i + cpu, size);
		}
	}
	for (i = 0; i < 200; i++)
		for (cpu = 0; cpu < CPUS; cpu++)
			CHECK(*(char *)of(all[i], cpu) == (char)(i + cpu));
	for (i = 0; i < 200; i++)
		CHECK(sim_percpu_free(all[i]));
	CHECK(!sim_percpu_free(all[0]));
	CHECK(!sim_percpu_alloc(1 << 20, 8));
}

static void test_heap(void)
{
	unsigned int i, failed = 0;
	char *memory = sim_kmalloc(100, 0);

	CHECK(memory[0] == 0x5a && memory[99] == 0x5a);
	CHECK_NUMBER((unsigned long)memory % 64, 0);
	sim_free(memory);
	memory = sim_kmalloc(10, 1);
	CHECK(!memory[0] && !memory[9]);
	sim_free(memory);
	sim_options.fail = 4;
	sim_failing(1);
	for (i = 0; i < 1000; i++) {
		memory = sim_kmalloc(1, 0);
		failed += !memory;
		sim_free(memory);
	}
	CHECK(failed > 190 && failed < 310, "%u", failed);
	sim_failing(0);
	for (i = 0; i < 100; i++) {
		memory = sim_kmalloc(1, 0);
		CHECK(memory);
		sim_free(memory);
	}
}

static volatile char nowhere;

static void mistake(const char *kind)
{
	char *memory = sim_percpu_alloc(10, 1), *heap = sim_kmalloc(10, 1);

	if (!strcmp(kind, "behind"))
		nowhere = ((char *)of(text, 1))[13];
	else if (!strcmp(kind, "before"))
		nowhere = ((char *)of(text, 2))[-1];
	else if (!strcmp(kind, "template"))
		nowhere = *((char *)of(&first, 0) - sim_percpu_offset[0]);
	else if (!strcmp(kind, "dynamic"))
		nowhere = ((char *)of(memory, 0))[10];
	else if (!strcmp(kind, "freed"))
		nowhere = (sim_percpu_free(memory), *(char *)of(memory, 1));
	else if (!strcmp(kind, "heap"))
		nowhere = heap[10];
	else if (!strcmp(kind, "heap-freed"))
		nowhere = (sim_free(heap), *heap);
}

int main(int argc, char **argv)
{
	sim_memory_init();
	sim_percpu_init(CPUS);
	if (argc > 1) {
		mistake(argv[1]);
		return 0;
	}
	test_static();
	test_dynamic();
	test_heap();
	return 0;
}
