// SPDX-License-Identifier: GPL-2.0
/* Options, a process for each client, and what they have noted at the end. */
#define _GNU_SOURCE
#include "loadfile.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND	1000000000ull
#define MOST_CLIENTS	10000
#define MOST_RUNTIMES	20

static const char *file, *directory = ".";
static long nr_clients = 1, runtime = 10, warmup;

static void complain(const char *format, va_list arguments)
{
	fputs("loadfile: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
	exit(1);
}

void refuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain(format, arguments);
	va_end(arguments);
	exit(BAD_INPUT);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static void usage(FILE *out)
{
	fputs("usage: loadfile [OPTION]... FILE, as dbench's client.txt\n"
	      "  -D, --directory DIR  where the clients have their files (.)\n"
	      "  -c, --clients N      processes that play the file (1)\n"
	      "  -t, --runtime S      seconds, those of the warm-up among them (10); longer, if every\n"
	      "                       client has not ended two passes by then, 20 times that at most\n"
	      "  -w, --warmup S       seconds at the begin; what begins in them does not count (0)\n",
	      out);
}

static long number(const char *name, const char *text, long least, long most)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most)
		refuse("--%s %s: it takes a whole number from %ld to %ld", name, text, least, most);
	return value;
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "clients", 1, NULL, 'c' }, { "directory", 1, NULL, 'D' },
		{ "runtime", 1, NULL, 't' }, { "warmup", 1, NULL, 'w' },
		{ "help", 0, NULL, 'h' },    { },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "c:D:t:w:h", options, NULL)) >= 0) {
		if (letter == 'c')
			nr_clients = number("clients", optarg, 1, MOST_CLIENTS);
		else if (letter == 'D')
			directory = optarg;
		else if (letter == 't')
			runtime = number("runtime", optarg, 1, 1000000);
		else if (letter == 'w')
			warmup = number("warmup", optarg, 0, 1000000);
		else {
			usage(letter == 'h' ? stdout : stderr);
			exit(letter == 'h' ? 0 : BAD_INPUT);
		}
	}
	if (warmup >= runtime)
		refuse("--warmup %ld leaves nothing of --runtime %ld", warmup, runtime);
	if (optind + 1 != argc) {
		usage(stderr);
		refuse("one loadfile is needed");
	}
	file = argv[optind];
}

static void play_until(const struct load *load, struct client *client, const bool *over)
{
	client->began = now_ns();
	while (client->passes < MOST_PASSES && play_pass(load, over)) {
		client->ends[client->passes] = now_ns();
		__atomic_store_n(&client->passes, client->passes + 1, __ATOMIC_RELEASE);
	}
	play_clean(load);
}

/* `gate`: a pipe that the parent closes when all are there. */
static pid_t start_client(struct load *load, struct client *client, unsigned int number,
			  const int *gate, const bool *over)
{
	pid_t parent = getpid(), child = fork();
	char nothing;

	if (child < 0)
		die("client %u cannot be started: %s", number, strerror(errno));
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Killed before that: nobody would ever say that it is over. */
	if (getppid() != parent)
		exit(1);
	close(gate[1]);
	play_prepare(load, number);
	if (read(gate[0], &nothing, 1) != 0)
		die("client %u was not told to begin", number);
	play_until(load, client, over);
	exit(0);
}

static bool one_has_ended(void)
{
	siginfo_t about = { };

	return waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) || about.si_pid;
}

/* True if a client has ended. Those that are stopped and go on send the same signal. */
static bool wait_until(uint64_t ns)
{
	sigset_t ended;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	while (!one_has_ended()) {
		uint64_t now = now_ns(), left = ns > now ? ns - now : 0;
		struct timespec time = { left / NS_PER_SECOND, left % NS_PER_SECOND };

		if (!left)
			return false;
		sigtimedwait(&ended, NULL, &time);
	}
	return true;
}

/*
 * The runtime, and longer if that is not enough to say anything: on a busy machine a pass may
 * take seconds. None ends before it was told to, but with an error or with all passes.
 */
static void wait_for_enough(const struct client *clients, uint64_t start, uint64_t from)
{
	uint64_t until = start + runtime * NS_PER_SECOND, most = start + MOST_RUNTIMES * (until - start);

	while (!wait_until(until)) {
		if (until >= most || times_enough(clients, nr_clients, from))
			return;
		until = now_ns() + NS_PER_SECOND / 10;
	}
}

/* One that fails ends them all. */
static void await(pid_t *children)
{
	int status, failed = 0;

	for (long left = nr_clients; left; left--) {
		pid_t ended = wait(&status);

		for (long i = 0; i < nr_clients; i++)
			if (children[i] == ended)
				children[i] = 0;
		if (!status || failed)
			continue;
		failed = 1;
		/* One that has ended by itself has said why. */
		if (WIFSIGNALED(status))
			fprintf(stderr, "loadfile: a client was killed by signal %d (%s)\n",
				WTERMSIG(status), strsignal(WTERMSIG(status)));
		/* SIGTERM would wait until one that is stopped goes on. */
		for (long i = 0; i < nr_clients; i++)
			if (children[i])
				kill(children[i], SIGKILL);
	}
	if (failed)
		exit(1);
}

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		die("no memory that the clients share: %s", strerror(errno));
	return memory;
}

/* So that wait_until() sees it. A client that is stopped has not ended. */
static void hold_back_ends(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };
	sigset_t ended;

	sigaction(SIGCHLD, &usual, NULL);
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
}

int main(int argc, char **argv)
{
	struct load load = { };
	struct client *clients;
	uint64_t start, from;
	pid_t *children;
	int gate[2];
	bool *over;

	parse(argc, argv);
	load_parse(&load, file);
	if (chdir(directory))
		refuse("--directory %s: %s", directory, strerror(errno));
	clients = shared(nr_clients * sizeof(*clients));
	over = shared(sizeof(*over));
	children = calloc(nr_clients, sizeof(*children));
	if (!children || pipe(gate))
		die("the clients cannot be started: %s", strerror(errno));
	hold_back_ends();
	for (long i = 0; i < nr_clients; i++)
		children[i] = start_client(&load, &clients[i], i + 1, gate, over);
	start = now_ns();
	from = warmup ? start + warmup * NS_PER_SECOND : 0;
	close(gate[1]);
	wait_for_enough(clients, start, from);
	__atomic_store_n(over, true, __ATOMIC_RELAXED);
	await(children);
	times_report(clients, nr_clients, from);
	return 0;
}
