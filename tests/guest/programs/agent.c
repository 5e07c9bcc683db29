// SPDX-License-Identifier: GPL-2.0
/*
 * An agent of the policy `user`, whose file is its standard input, that decides FIFO; and, by its
 * first argument, does not as it should.
 *	agent MODE POLICY_ID [CPUS [FLAGS]]	CPUS: a bitmap; default: all. FLAGS: of USER_ATTACH
 *
 * It prints the kernel's sentence once it has its CPUs, in the mode "news" the pid of each thread
 * that is said to be new, and in the end how many threads it has
 * decided about, if it ends by itself: "retired", after another one has taken over.
 *
 * In the mode "scribbles" another thread of it writes into the mapping at random, by $SEED.
 */
#include "subject.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include "../../../policies/user/protocol.h"

static struct user_page *page, layout;	/* what it said at first */
static struct user_decision *decisions;
static unsigned long nr_decided, nr_calls;
static int file;

static const char *mode, *cpus, *flags;

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

/* A CPU that there is not, that is none, or one that the thread must not use, if there is one. */
static int lie(const struct user_event *event)
{
	static unsigned int nr;

	for (unsigned int cpu = 0; nr % 2 && cpu < layout.nr_cpus; cpu++) {
		if (!(event->allowed[cpu / 64] >> cpu % 64 & 1)) {
			nr++;
			return cpu;
		}
	}
	return (int []) { -2, INT_MIN, INT_MAX, layout.nr_cpus }[nr++ / 2 % 4];
}

static struct user_event kept;

/* Who is kept for 300 ms while others get the CPU again and again */
static void decide_later(void)
{
	if (kept.pid && now_ns(CLOCK_MONOTONIC) > kept.at_ns + 300000000) {
		decide(&kept, USER_ANY, kept.generation);
		kept.pid = 0;
	}
	page->held = kept.pid != 0;
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
	if (is_mode("neglects") && !strcmp(event->comm, "naps"))
		return;
	if (is_mode("later") && !kept.pid && !strcmp(event->comm, "naps")) {
		kept = *event;
		kept.at_ns = now_ns(CLOCK_MONOTONIC);
		return;
	}
	if (is_mode("twice"))
		decide(event, USER_ANY, event->generation);
	decide(event, is_mode("elsewhere") ? 1 << 20 : is_mode("lies") ? lie(event) : USER_ANY,
	       event->generation - is_mode("stale"));
}

/* As answer_all(), whatever the page says of what has been read. */
static void answer_scribbled(void)
{
	static uint32_t read;
	uint32_t written = __atomic_load_n(&page->events_written, __ATOMIC_ACQUIRE);

	if (written - read > USER_RECORDS)
		read = written - USER_RECORDS;
	while (read != written)
		answer(event_at(read++));
	__atomic_store_n(&page->events_read, read, __ATOMIC_RELEASE);
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

/* A ring of decisions about a thread that waits, perhaps, but not for these. */
static void fill(void)
{
	struct user_event event = *event_at(page->events_written - 1);

	for (int i = 0; i < USER_RECORDS; i++)
		decide(&event, USER_ANY, random());
}

static void flip(void *at, unsigned int bytes)
{
	((uint8_t *)at)[random() % bytes] ^= 1 << random() % 8;
}

/* Bytes anywhere; or, of what the kernel reads, a bit, or a count that is not far off. */
static void scribble(void)
{
	uint32_t last = page->decisions_written - 1 - random() % 16, offset;
	uint32_t *counts[] = { &page->events_read, &page->decisions_written, &page->held };

	switch (random() % 5) {
	case 0:
		offset = random() % (layout.bytes - 64);
		for (int i = random() % 64; i >= 0; i--)
			((uint8_t *)page)[offset + i] = random();
		break;
	case 1:
		flip(&decisions[last % USER_RECORDS], sizeof(*decisions));
		break;
	case 2:
		*counts[random() % 3] += random() % 9 - 4;
		break;
	case 3:
		*counts[random() % 3] = random() << random() % 32;
		break;
	case 4:
		flip((void *)page + layout.idle_at, (layout.nr_cpus + 63) / 64 * 8);
		flip(page, sizeof(*page));
		break;
	}
}

static void *scribbler(void *unused)
{
	saakm_join(policy_id);
	for (;;) {
		for (int i = random() % 32; i >= 0; i--)
			scribble();
		usleep(random() % 1000);
	}
	return unused;
}

static void start_scribbler(void)
{
	pthread_t thread;

	srandom(atoi(getenv("SEED")));
	if (pthread_create(&thread, NULL, scribbler, NULL))
		die("pthread_create");
}

static volatile sig_atomic_t told;	/* by SIGUSR1: it is time to panic, or to loop */

static void on_signal(int signal)
{
	told = signal == SIGUSR1;
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
	if (is_mode("fills"))
		fill();
	if (is_mode("panics") && told)
		abort();
	if (is_mode("scribbles")) {
		answer_scribbled();
		return;
	}
	if (is_mode("loops") && (told || nr_calls > 100))
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
	if (is_mode("later"))
		decide_later();
}

static void nothing(int number)
{
	(void)number;
}

static void attach(void)
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
		signal(SIGUSR1, nothing);
		if (ioctl(file, USER_ATTACH, where))
			printf("%s\n", strerror(errno));
		fflush(stdout);
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

static void bind_to_domain(void)
{
	uint64_t bits = strtoull(cpus, NULL, 0);

	if (bits != ~0ULL && syscall(SYS_sched_setaffinity, 0, sizeof(bits), &bits))
		die("sched_setaffinity: %m");
}

/* What becomes of a process that has its CPUs. */
static void meet_fate(void)
{
	const struct itimerval often = { { 0, 500 }, { 0, 500 } };

	if (is_mode("forks") && !fork()) {
		ioctl(file, USER_PARK);
		printf("child: %s\n", strerror(errno));
		fflush(stdout);
		for (;;)
			pause();
	}
	signal(SIGUSR1, on_signal);
	if (is_mode("execs")) {
		execlp("sleep", "sleep", "1000", NULL);
		die("sleep: %m");
	}
	if (is_mode("signals")) {
		signal(SIGALRM, on_signal);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	if (is_mode("scribbles"))
		start_scribbler();
}

/* Until another one takes over, or in some modes */
static void go_round(void)
{
	do {
		serve();
		if (page->retire && is_mode("fifo")) {
			printf("retired\n");
			exit(0);
		}
		if (is_mode("keeps") && nr_calls > 100)
			return;
	} while (!ioctl(file, USER_PARK) || errno == EINTR);
	printf("%s after %lu decisions\n", strerror(errno), nr_decided);
	exit(1);
}

static void *be_agent(void *unused)
{
	bind_to_domain();
	if (!is_mode("stranger"))
		saakm_join(policy_id);
	attach();
	map();
	meet_fate();
	go_round();
	return unused;
}

/* The agent is a thread that ends; its process keeps file and mapping, and writes on. */
static void keep(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, be_agent, NULL) || pthread_join(thread, NULL))
		die("pthread");
	printf("keeps\n");
	fflush(stdout);
	for (;;) {
		scribble();
		usleep(100);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		die("agent MODE POLICY_ID [CPUS [FLAGS]]");
	mode = argv[1];
	if (is_mode("neglects"))
		sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = nothing }, NULL);
	policy_id = atoi(argv[2]);
	cpus = argc > 3 ? argv[3] : "0xffffffffffffffff";
	flags = argc > 4 ? argv[4] : "0";
	mlockall(MCL_CURRENT | MCL_FUTURE);
	file = open("/dev/saakm_user", O_RDWR);
	if (file < 0)
		die("/dev/saakm_user: %m");
	if (is_mode("keeps"))
		keep();
	be_agent(NULL);
	return 0;
}
