// SPDX-License-Identifier: GPL-2.0
/*
 * An agent of the policy `user`, whose file is its standard input, that decides FIFO; and, by its
 * first argument, does not as it should.
 *	agent MODE POLICY_ID [CPUS [FLAGS]]	CPUS: a bitmap; default: all. FLAGS: of USER_ATTACH
 *
 * It prints the kernel's sentence once it has its CPUs, in the mode "news" the pid of each thread
 * that is said to be new, and in the end how many threads it has
 * decided about, if it ends by itself: "retired", after another one has taken over.
 */
#include "subject.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include "../../../policies/user/protocol.h"

static struct user_page *page, layout;	/* what it said at first */
static struct user_decision *decisions;
static unsigned long nr_decided, nr_calls;
static int file;

static const char *mode;

static int is_mode(const char *name)
{
	return !strcmp(mode, name);
}

static const struct user_event *event_at(uint32_t count)
{
	return (void *)page + layout.events_at + count % USER_RECORDS * layout.event_bytes;
}

static void decide(const struct user_event *event, int cpu, uint32_t generation)
{
	uint32_t at = page->decisions_written;

	decisions[at % USER_RECORDS] = (struct user_decision) {
		.key = nr_decided, .slice_ns = is_mode("urgent") ? 10000000000 : 3000000,
		.pid = event->pid, .generation = generation, .cpu = cpu,
		.flags = is_mode("urgent") ? USER_PREEMPT : is_mode("flags") ? ~USER_PREEMPT : 0,
	};
	__atomic_store_n(&page->decisions_written, at + 1, __ATOMIC_RELEASE);
	nr_decided++;
}

/* What the modes do with an event. */
static void answer(const struct user_event *event)
{
	if (event->kind != USER_READY || is_mode("forgets"))
		return;
	if (is_mode("news") && event->flags & USER_NEW) {
		printf("new %u\n", event->pid);
		fflush(stdout);
	}
	if (is_mode("twice"))
		decide(event, USER_ANY, event->generation);
	decide(event, is_mode("elsewhere") ? 1 << 20 : USER_ANY,
	       event->generation - is_mode("stale"));
}

static void answer_all(void)
{
	uint32_t written = __atomic_load_n(&page->events_written, __ATOMIC_ACQUIRE);

	while (page->events_read != written) {
		answer(event_at(page->events_read));
		__atomic_store_n(&page->events_read, page->events_read + 1, __ATOMIC_RELEASE);
	}
}

/* All that the agent may write is noise. */
static void make_noise(void)
{
	uint32_t *words = (void *)page;

	for (uint32_t at = 0; at < layout.bytes / 4; at += 1 + random() % 64)
		words[at] = random();
	page->events_read = random();
	page->decisions_written = random();
	page->held = random();
}

/* Decisions of the right form, with wrong values */
static void guess(void)
{
	for (int i = 0; i < 100; i++) {
		struct user_event event = { .pid = random() % 1000 };

		decide(&event, random() % 8 - 2, random() % 16);
	}
}

static void serve(void)
{
	nr_calls++;
	if (is_mode("unread"))
		return;
	if (is_mode("noise")) {
		make_noise();
		return;
	}
	if (is_mode("guesses"))
		guess();
	if (is_mode("loops") && nr_calls > 100)
		for (;;)
			;
	if (is_mode("defects") && nr_calls > 5) {
		saakm_join(atoi(getenv("OTHER")));
		for (;;)
			;
	}
	if (is_mode("slow"))
		for (volatile long i = 0; i < 30000000; i++)
			;
	answer_all();
}

static void nothing(int number)
{
	(void)number;
}

static void attach(const char *cpus, const char *flags)
{
	uint64_t bits[16] = { strtoull(cpus, NULL, 0) };
	struct user_attach attach = {
		.protocol = is_mode("old") ? USER_PROTOCOL + 1 : USER_PROTOCOL,
		.flags = strtoul(flags, NULL, 0), .cpus = (uintptr_t)bits,
		.cpus_bytes = sizeof(bits), .name = "agent.c",
	};

	for (int i = 1; bits[0] == ~0ULL && i < 16; i++)
		bits[i] = ~0ULL;
	if (is_mode("readonly")) {
		struct user_attach *where = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (where == MAP_FAILED)
			die("mmap: %m");
		*where = attach;
		mprotect(where, 4096, PROT_READ);
		if (ioctl(file, USER_ATTACH, where))
			printf("%s\n", strerror(errno));
		fflush(stdout);
		signal(SIGUSR1, nothing);
		pause();
	}
	if (ioctl(file, USER_ATTACH, &attach)) {
		printf("%s: %s\n", strerror(errno), attach.sentence);
		exit(1);
	}
	printf("attached: %s\n", attach.sentence);
	fflush(stdout);
}

static void map(void)
{
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		die("mmap: %m");
	layout = *page;
	page = mmap(NULL, layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		die("mmap: %m");
	decisions = (void *)page + layout.decisions_at;
}

static void bind_to(const char *cpus)
{
	uint64_t bits = strtoull(cpus, NULL, 0);

	if (bits != ~0ULL && syscall(SYS_sched_setaffinity, 0, sizeof(bits), &bits))
		die("sched_setaffinity: %m");
}

int main(int argc, char **argv)
{
	const char *cpus = argc > 3 ? argv[3] : "0xffffffffffffffff";

	if (argc < 3)
		die("agent MODE POLICY_ID [CPUS [FLAGS]]");
	mode = argv[1];
	mlockall(MCL_CURRENT | MCL_FUTURE);
	file = open("/dev/saakm_user", O_RDWR);
	if (file < 0)
		die("/dev/saakm_user: %m");
	bind_to(cpus);
	if (!is_mode("stranger"))
		saakm_join(atoi(argv[2]));
	attach(cpus, argc > 4 ? argv[4] : "0");
	map();
	do {
		serve();
		if (page->retire && is_mode("fifo")) {
			printf("retired\n");
			return 0;
		}
	} while (!ioctl(file, USER_PARK) || errno == EINTR);
	printf("%s after %lu decisions\n", strerror(errno), nr_decided);
	return 1;
}
