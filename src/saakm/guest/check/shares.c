// SPDX-License-Identifier: GPL-2.0
/* What threads get of one CPU that they all want: something, the same, or by nice value. */
#include "check.h"

#define MOST 10
#define STARVED_MS 500
#define UNFAIR_PERCENT 30
#define WEIGHT_PERCENT 15

struct wanter {
	int nice;
	unsigned int nap_us;		/* after each burst; 0: it never sleeps */
	unsigned int burst;		/* turns of an empty loop, some 2 ns each */
	pid_t pid;
	volatile uint64_t used_ns, seen_ns, gap_ns;
	uint64_t before_ns;
};

static struct {
	volatile int go;
	struct wanter wanters[MOST];
} *shared;

static void want(struct wanter *w, uint32_t policy)
{
	uint64_t now;

	pin(0, scratch_cpu());
	if (setpriority(PRIO_PROCESS, 0, w->nice))
		die("setpriority");
	if (saakm_setattr(0, SCHED_SAAKM, policy, w->nice, 0))
		die("joining with nice %d", w->nice);
	while (!shared->go)
		sleep_us(500);
	while (1) {
		spin(w->burst ?: 5000);
		now = now_ns(CLOCK_MONOTONIC);
		if (now - w->seen_ns > w->gap_ns)
			w->gap_ns = now - w->seen_ns;
		w->seen_ns = now;
		w->used_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
		if (w->nap_us)
			sleep_us(w->nap_us);
	}
}

static void start(const struct wanter *wanters, int nr)
{
	uint32_t policy = policy_id(policy_name());

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	pin(0, 0);
	for (int i = 0; i < nr; i++) {
		struct wanter *w = &shared->wanters[i];
		pid_t pid;

		*w = wanters[i];
		pid = fork();
		if (!pid)
			want(w, policy);
		w->pid = pid;
	}
	sleep_ms(20);
	for (int i = 0; i < nr; i++)
		shared->wanters[i].seen_ns = now_ns(CLOCK_MONOTONIC);
	shared->go = 1;
}

static void end(int nr)
{
	for (int i = 0; i < nr; i++) {
		kill(shared->wanters[i].pid, SIGKILL);
		waitpid(shared->wanters[i].pid, NULL, 0);
	}
	refuse_ejected();
}

/* CPU time of each, in us. */
static void measure(const struct wanter *wanters, int nr, long ms, long used_us[MOST])
{
	start(wanters, nr);
	sleep_ms(30);
	for (int i = 0; i < nr; i++)
		shared->wanters[i].before_ns = shared->wanters[i].used_ns;
	sleep_ms(ms);
	for (int i = 0; i < nr; i++)
		used_us[i] = (shared->wanters[i].used_ns - shared->wanters[i].before_ns) / 1000;
	end(nr);
}

void check_fairness(void)
{
	static const struct wanter three[3];
	long ms = scaled(600), us[MOST], most = 0, least = 1l << 40;

	measure(three, 3, ms, us);
	for (int i = 0; i < 3; i++) {
		most = us[i] > most ? us[i] : most;
		least = us[i] < least ? us[i] : least;
	}
	tried("3 threads of nice 0 want CPU %d for %ld ms and get %.0f, %.0f and %.0f ms",
	      scratch_cpu(), ms, us[0] / 1e3, us[1] / 1e3, us[2] / 1e3);
	if (most * 100 > least * (100 + UNFAIR_PERCENT))
		fail("of %ld ms on one CPU 3 equal threads got %.1f, %.1f and %.1f ms; "
		     "more than %d %% between them is not fair",
		     ms, us[0] / 1e3, us[1] / 1e3, us[2] / 1e3, UNFAIR_PERCENT);
}

void check_weights(void)
{
	/* sched_prio_to_weight[] of the kernel */
	static const double weights[] = { 3121, 1024, 335 };
	static const struct wanter three[3] = { { .nice = -5 }, { .nice = 0 }, { .nice = 5 } };
	long ms = scaled(1500), us[MOST];

	measure(three, 3, ms, us);
	tried("threads of nice -5, 0 and 5 want CPU %d for %ld ms and get %.0f, %.0f and %.0f ms",
	      scratch_cpu(), ms, us[0] / 1e3, us[1] / 1e3, us[2] / 1e3);
	for (int i = 0; i < 3; i++) {
		double total = us[0] + us[1] + us[2];
		double got = us[i] / total, due = weights[i] / (weights[0] + weights[1] + weights[2]);

		if (got < due * (100 - WEIGHT_PERCENT) / 100 || got > due * (100 + WEIGHT_PERCENT) / 100)
			fail("nice %d got %.1f %% of what threads of nice -5, 0 and 5 had; "
			     "by weight it is due %.1f %%", three[i].nice, 100 * got, 100 * due);
	}
}

static uint64_t longest_wait_ms(const struct wanter *w)
{
	uint64_t waits = now_ns(CLOCK_MONOTONIC) - w->seen_ns;

	return (waits > w->gap_ns ? waits : w->gap_ns) / NS_PER_MS;
}

static void refuse_starved(const struct wanter *wanters, int nr, const char *load)
{
	uint64_t longest_ms = 0;

	start(wanters, nr);
	sleep_ms(scaled(700));
	for (int i = 0; i < nr; i++) {
		struct wanter *w = &shared->wanters[i];
		uint64_t ms = longest_wait_ms(w);

		longest_ms = ms > longest_ms ? ms : longest_ms;
		if (ms > STARVED_MS)
			fail("thread %d (nice %d), which %s, did not run for %llu ms; on CPU %d were %s",
			     w->pid, w->nice, w->nap_us ? "sleeps now and then" : "never sleeps",
			     (unsigned long long)ms, scratch_cpu(), load);
	}
	end(nr);
	tried("on one CPU %s: the longest wait was %llu ms", load, (unsigned long long)longest_ms);
}

#define NAPS { .nap_us = 4000 }
/* Each wants half of the CPU and more, so that one is always READY. */
#define SHORT { .burst = 100000, .nap_us = 150 }

void check_starvation(void)
{
	static const struct wanter hogs[] = {
		{}, {}, {}, {}, {}, { .nice = 10 }, NAPS, NAPS,
	};
	static const struct wanter bursts[] = {
		{}, {}, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT,
	};

	refuse_starved(hogs, 8, "6 threads that never sleep, one of them of nice 10, and 2 that nap");
	refuse_starved(bursts, 8, "2 threads that never sleep, and 6 that fill it with short bursts");
}
