// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel says of the CPU time of threads that sleep for good, and what
 * modules/accounts was told of it.
 *	accounts POLICY_ID
 * A line for each: ns in all, ns that it came with, ns that the policy was told, ns that
 * it knows to have used since.
 */
#include "subject.h"

static int gate[2];
static const uint64_t burnt_ns = 20000000;

static void works(struct subject *self)
{
	char byte;

	saakm_join(policy_id);
	for (int i = 0; i < 5; i++) {
		burn_ns(burnt_ns / 5);
		sched_yield();
		sleep_ms(1);
	}
	self->progress = 1;
	if (read(gate[0], &byte, 1) != 1)
		die("read");
}

static uint64_t runtime_ns(pid_t tid)
{
	unsigned long long ns;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &ns) != 1)
		die("%s", path);
	fclose(file);
	return ns;
}

/* False if it ran meanwhile: for a page of its program, say. */
static bool says(pid_t tid)
{
	struct saakm_attr attr = {};
	uint64_t ns = runtime_ns(tid);

	if (syscall(SYS_sched_getattr, tid, &attr, sizeof(attr), 0))
		die("sched_getattr");
	if (!in_state(tid, "BLOCKED") || runtime_ns(tid) != ns)
		return false;
	printf("%llu %llu %llu %llu\n", (unsigned long long)ns,
	       (unsigned long long)attr.sched_deadline, (unsigned long long)attr.sched_runtime,
	       (unsigned long long)burnt_ns);
	return true;
}

int main(int argc, char **argv)
{
	/* Some have to share a CPU; the last may choose. */
	static const int cpus[] = { 1, 1, 1, 2, 2, -1 };
	enum { N = sizeof(cpus) / sizeof(*cpus) };
	static struct subject subjects[N];

	if (argc != 2 || pipe(gate))
		die("usage: %s POLICY_ID", argv[0]);
	policy_id = atoi(argv[1]);
	for (int i = 0; i < N; i++)
		subject_start(&subjects[i], works, cpus[i]);
	for (int i = 0; i < N; i++)
		AWAIT(subjects[i].progress && in_state(subjects[i].tid, "BLOCKED") &&
		      says(subjects[i].tid));
	for (int i = 0; i < N; i++)
		if (write(gate[1], "", 1) != 1)
			die("write");
	for (int i = 0; i < N; i++)
		subject_stop(&subjects[i]);
	return 0;
}
