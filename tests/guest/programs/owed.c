// SPDX-License-Identifier: GPL-2.0
/*
 * A hog of the first policy keeps those of the second one waiting on CPU 1, until that one is
 * owed the CPU.
 *	owed alone FIRST_ID SECOND_ID
 * While the second one has the CPU, the first leaves. A thread with a lower priority comes that
 * was preempted in the kernel: says how many ms of 2500 the second policy's two threads have then.
 *	owed disturbed FIRST_ID SECOND_ID
 * The affinity of the first one's hog changes again and again. Says how many thousandths of the
 * CPU each has.
 */
#include "gates.h"
#include <sys/random.h>

#define CPU		1
#define ELSEWHERE	2
#define WEAK_NICE	10
#define AFTER_MS	2500
#define CHANGE_MS	3
#define CHANGES		2000

static uint32_t first_id, second_id;
static struct subject first, second;

static void keeps_the_cpu(struct subject *self)
{
	saakm_join(self == &first ? first_id : second_id);
	while (!self->stop)
		self->progress++;
}

/* Hardly ever in user mode. */
static void is_in_the_kernel(struct subject *self)
{
	static char bytes[1 << 20];
	int ret = saakm_setattr(0, SCHED_SAAKM, second_id, WEAK_NICE, 0);

	if (ret)
		die("sched_setattr: %d", ret);
	self->progress = 1;
	while (!self->stop)
		if (getrandom(bytes, sizeof(bytes), 0) < 0)
			die("getrandom");
}

static uint64_t used_ns(const struct subject *subject)
{
	clockid_t clock;

	if (pthread_getcpuclockid(subject->thread, &clock))
		die("clock of a thread");
	return now_ns(clock);
}

static void alone(void)
{
	uint64_t second_ns, weak_ns;
	struct subject weak;

	AWAIT(second.progress);
	allow(first.tid, 1ul << ELSEWHERE);
	subject_stop(&first);
	subject_start(&weak, is_in_the_kernel, ELSEWHERE);
	AWAIT(weak.progress);
	/* Who takes it there preempts it. */
	allow(weak.tid, 1ul << CPU);
	second_ns = used_ns(&second);
	weak_ns = used_ns(&weak);
	sleep_ms(AFTER_MS);
	printf("%llu ", (unsigned long long)(used_ns(&second) - second_ns) / 1000000);
	printf("%llu\n", (unsigned long long)(used_ns(&weak) - weak_ns) / 1000000);
	subject_stop(&second);
	subject_stop(&weak);
}

static void disturbed(void)
{
	uint64_t begin_ns, first_ns, second_ns, passed_ns;

	AWAIT(second.progress);
	begin_ns = now_ns(CLOCK_MONOTONIC);
	first_ns = used_ns(&first);
	second_ns = used_ns(&second);
	for (int i = 0; i < CHANGES; i++) {
		/* It may stay where it is. */
		allow(first.tid, 1ul << CPU | (i % 2 ? 0 : 1ul << ELSEWHERE));
		sleep_ms(CHANGE_MS);
	}
	first_ns = used_ns(&first) - first_ns;
	second_ns = used_ns(&second) - second_ns;
	passed_ns = now_ns(CLOCK_MONOTONIC) - begin_ns;
	printf("%llu %llu\n", (unsigned long long)(first_ns * 1000 / passed_ns),
	       (unsigned long long)(second_ns * 1000 / passed_ns));
	subject_stop(&first);
	subject_stop(&second);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		die("usage: %s alone|disturbed FIRST_ID SECOND_ID", argv[0]);
	first_id = atoi(argv[2]);
	second_id = atoi(argv[3]);
	pin(0, 0);
	subject_start(&first, keeps_the_cpu, CPU);
	AWAIT(first.progress && in_state(first.tid, "RUNNING"));
	subject_start(&second, keeps_the_cpu, CPU);
	if (strcmp(argv[1], "alone"))
		disturbed();
	else
		alone();
	return 0;
}
