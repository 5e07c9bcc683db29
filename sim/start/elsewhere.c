// SPDX-License-Identifier: GPL-2.0
/*
 * The simulator with agents in another process: that of a test, which has started it, and has a thread
 * and a socket for each (crates/saakm-user/src/simulate). What an agent asks for comes as a message, its
 * memory is shared. Of the two only one runs at a time, so that nothing depends on who is faster.
 *
 * The first word of the command line is agents=FD,FD...: the sockets, by the numbers of the agents.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine.h"

enum call_kind {
	SETTLE,			/* text: a bitmap of CPUs */
	JOIN,			/* text: the policy */
	OPEN,			/* text: the device */
	IOCTL,			/* a: command; text: its argument, of b bytes, and what that refers to */
	MAP,			/* the result is a file descriptor of this process */
	CLOSE,
	EXISTS,			/* a: a pid */
	/* Without an answer: */
	NUDGE,			/* a: a thread */
	COMPUTES,		/* a: events, b: decisions, so many in all */
	ENDED,
};

/* As in crates/saakm-user/src/simulate/link.rs. */
struct call {
	sim_u64	kind, a, b;
	sim_u64	pointer_at;	/* where in the argument is the address of what follows it; -1: nowhere */
	sim_u64	bytes;		/* of text, which follows */
};

struct answer {
	sim_u64	result;		/* as of a system call; the first one of all is the thread's id */
	sim_u64	over;		/* the run is: end */
	sim_u64	bytes;		/* of the text that came, as it is now */
};

static int *sockets;
static unsigned int nr_sockets;

_Noreturn static void gone(void)
{
	sim_bad_input(NULL, 0, "the agent's process has gone");
}

static void get(int fd, void *to, size_t bytes)
{
	while (bytes) {
		ssize_t n = read(fd, to, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			gone();
		to = (char *)to + n;
		bytes -= (size_t)n;
	}
}

static void put(int fd, const void *from, size_t bytes)
{
	while (bytes) {
		ssize_t n = send(fd, from, bytes, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			gone();
		from = (const char *)from + n;
		bytes -= (size_t)n;
	}
}

static void answer(int fd, long result, bool over, const char *text, sim_u64 bytes)
{
	struct answer answer = { .result = (sim_u64)result, .over = over, .bytes = bytes };

	put(fd, &answer, sizeof(answer));
	put(fd, text, bytes);
}

static long control(const struct call *call, char *text)
{
	char *argument = call->bytes ? text : NULL;

	if (call->pointer_at != ~0ULL) {
		char *what = text + call->b;

		memcpy(argument + call->pointer_at, &what, sizeof(what));
	}
	return sim_agent_ioctl((unsigned int)call->a, argument);
}

static long carry_out(const struct call *call, char *text)
{
	switch (call->kind) {
	case SETTLE:
		return sim_agent_settle((const unsigned long *)text, call->bytes);
	case JOIN:
		return sim_agent_join(text);
	case OPEN:
		return sim_agent_open(text);
	case IOCTL:
		return control(call, text);
	case MAP:
		return sim_shared_fd(sim_agent_map());
	case CLOSE:
		sim_agent_close();
		return 0;
	case EXISTS:
		return sim_agent_exists((unsigned int)call->a);
	}
	gone();			/* it speaks another language */
}

static void be_agent(unsigned int domain)
{
	int fd = sockets[domain];
	struct call call;
	bool over = false;

	answer(fd, sim_agent_tid(), false, NULL, 0);
	for (;;) {
		char *text = NULL;
		long result;

		get(fd, &call, sizeof(call));
		if (call.kind == ENDED)
			return;
		if (call.kind == COMPUTES) {
			over |= sim_agent_computes(call.a, call.b);
			continue;
		}
		if (call.kind == NUDGE) {
			sim_agent_nudge((int)call.a);
			continue;
		}
		text = calloc(1, call.bytes + 1);
		if (!text)
			sim_out_of_memory();
		get(fd, text, call.bytes);
		/* Whoever is told that all is over must not sleep before. */
		result = over && call.kind == IOCTL ? -EINTR : carry_out(&call, text);
		answer(fd, result, over, text, call.bytes);
		free(text);
	}
}

static unsigned int domains(void)
{
	return nr_sockets;
}

static void read_sockets(const char *list)
{
	char *end;

	for (; *list; list = *end == ',' ? end + 1 : end) {
		sockets = realloc(sockets, (nr_sockets + 1) * sizeof(*sockets));
		if (!sockets)
			sim_out_of_memory();
		sockets[nr_sockets++] = (int)strtoul(list, &end, 10);
		if (end == list || (*end && *end != ','))
			sim_bad_input(NULL, 0, "option agents=%s: numbers of sockets are expected", list);
	}
}

int main(int argc, char **argv)
{
	static const struct sim_agents elsewhere = { .domains = domains, .main = be_agent };

	if (argc < 2 || strncmp(argv[1], "agents=", 7))
		sim_bad_input(NULL, 0, "the first word is not agents=: this simulator is for the tests of "
			      "agents (crates/saakm-user)");
	read_sockets(argv[1] + 7);
	argv[1] = argv[0];
	sim_agents_elsewhere = true;
	sim_agents = &elsewhere;
	return sim_main(argc - 1, argv + 1);
}
