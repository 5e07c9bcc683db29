// SPDX-License-Identifier: GPL-2.0
/* No wakeup is lost: rings of threads that pass a token, and crowds that wake all at once. */
#include "check.h"

#define MOST 64
#define HOP_MS 1000
#define CROWD 16

static struct {
	volatile uint32_t word[MOST];
	volatile uint32_t hops, wanted, generation, awake;
} *ring;

struct member_of_ring {
	int nr, index, from, to;	/* pipes, or -1: futexes */
};

static void wait_for_word(volatile uint32_t *word)
{
	while (!*word)
		futex(word, FUTEX_WAIT, 0, NULL);
	*word = 0;
}

static void pass(const struct member_of_ring *m)
{
	volatile uint32_t *next = &ring->word[(m->index + 1) % m->nr];
	char token;

	while (ring->hops < ring->wanted) {
		if (m->from < 0)
			wait_for_word(&ring->word[m->index]);
		else if (read(m->from, &token, 1) != 1)
			break;
		ring->hops++;
		if (m->from < 0) {
			*next = 1;
			futex(next, FUTEX_WAKE, 1, NULL);
		} else if (write(m->to, &token, 1) != 1) {
			break;
		}
	}
}

static void lost(const pid_t *pids, int nr, const char *what)
{
	char state[32];

	refuse_ejected();
	for (int i = 0; i < nr; i++)
		if (!strcmp(saakm_state(pids[i], state), "READY"))
			fail("%s: for %d ms nothing happens; thread %d was woken, is READY on CPU %d "
			     "and does not run", what, HOP_MS, pids[i], saakm_cpu(pids[i]));
	fail("%s: for %d ms nothing happens, and no thread is READY: a wakeup was lost", what, HOP_MS);
}

/* As long as hops are made, it may take its time. */
static void follow(const pid_t *pids, int nr, const char *what)
{
	uint32_t seen = 0;
	uint64_t since = now_ns(CLOCK_MONOTONIC);

	while (ring->hops < ring->wanted) {
		if (ring->hops != seen) {
			seen = ring->hops;
			since = now_ns(CLOCK_MONOTONIC);
		} else if (now_ns(CLOCK_MONOTONIC) - since > HOP_MS * NS_PER_MS) {
			lost(pids, nr, what);
		}
		sleep_ms(1);
	}
}

static void make_pipes(int pipes[MOST][2], int nr)
{
	for (int i = 0; i < nr; i++)
		if (pipe(pipes[i]))
			die("pipe");
}

static void turn(const char *what, int pinned, int by_futex, uint32_t hops)
{
	uint32_t policy = policy_id(policy_name());
	int nr = 2 * nr_cpus() < MOST ? 2 * nr_cpus() : MOST;
	int pipes[MOST][2];
	pid_t pids[MOST];

	make_pipes(pipes, nr);
	memset(ring, 0, sizeof(*ring));
	ring->wanted = hops;
	for (int i = 0; i < nr; i++) {
		struct member_of_ring m = { nr, i, by_futex ? -1 : pipes[i][0], pipes[(i + 1) % nr][1] };

		pids[i] = fork();
		if (pids[i])
			continue;
		if (pinned)
			pin(0, i % nr_cpus());
		saakm_join(policy);
		pass(&m);
		_exit(0);
	}
	sleep_ms(5);
	ring->word[0] = by_futex;
	futex(&ring->word[0], FUTEX_WAKE, 1, NULL);
	if (!by_futex && write(pipes[0][1], "t", 1) != 1)
		die("write");
	follow(pids, nr, what);
	for (int i = 0; i < nr; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	tried("%s of %d threads: %u wakeups", what, nr, hops);
}

static void sleep_in_crowd(uint32_t policy)
{
	saakm_join(policy);
	while (1) {
		uint32_t generation = ring->generation;

		__atomic_add_fetch(&ring->awake, 1, __ATOMIC_SEQ_CST);
		while (ring->generation == generation)
			futex(&ring->generation, FUTEX_WAIT, generation, NULL);
	}
}

static void all_awake(const pid_t *pids)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + HOP_MS * NS_PER_MS;

	while (ring->awake < CROWD) {
		if (now_ns(CLOCK_MONOTONIC) > end)
			lost(pids, CROWD, "a crowd that wakes all at once");
		sleep_ms(1);
	}
}

static void crowds(uint32_t rounds)
{
	uint32_t policy = policy_id(policy_name());
	pid_t pids[CROWD];

	memset(ring, 0, sizeof(*ring));
	for (int i = 0; i < CROWD; i++) {
		pids[i] = fork();
		if (!pids[i])
			sleep_in_crowd(policy);
	}
	for (uint32_t i = 0; i < rounds; i++) {
		all_awake(pids);
		ring->awake = 0;
		ring->generation++;
		futex(&ring->generation, FUTEX_WAKE, CROWD, NULL);
	}
	all_awake(pids);
	for (int i = 0; i < CROWD; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	tried("a crowd of %d, woken all at once: %u times", CROWD, rounds);
}

void check_wakeups(void)
{
	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ring == MAP_FAILED)
		die("mmap");
	turn("a ring of pipes", 0, 0, scaled(600));
	turn("a ring of pipes, pinned round all CPUs", 1, 0, scaled(600));
	turn("a ring of futexes", 0, 1, scaled(600));
	turn("a ring of futexes, pinned round all CPUs", 1, 1, scaled(600));
	crowds(scaled(25));
}
