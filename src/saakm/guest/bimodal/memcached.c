// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to a memcached, which listens on a Unix socket: a short one gets a key, a long one many.
 * Each connection has one request at a time; what arrives while all have one waits here.
 */
#define _GNU_SOURCE
#include "bimodal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define VALUE_BYTES	10
#define KEY_BYTES	8
#define TRIES		25

static const char end_of_answer[] = "END\r\n";

#define END_BYTES	(sizeof(end_of_answer) - 1)

struct connection {
	int fd;
	struct request *request;	/* that it waits for; NULL: none */
	char tail[END_BYTES];		/* the last bytes that came */
};

static struct connection *connections;
static struct connection **idle_ones;
static long nr_idle;
static char *short_line, *long_line;
static int poller;

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		die("the path of the socket is too long");
	strcpy(address.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("no memcached listens on that socket");
	return fd;
}

static void send_all(int fd, const char *text)
{
	size_t length = strlen(text);

	while (length) {
		ssize_t sent = write(fd, text, length);

		if (sent <= 0)
			die("memcached has closed a connection");
		text += sent;
		length -= sent;
	}
}

/* True once the whole answer has come. */
static bool receive(struct connection *c)
{
	static char buffer[1 << 16];
	ssize_t got = read(c->fd, buffer, sizeof(buffer));

	if (got <= 0)
		die("memcached has closed a connection");
	if ((size_t)got >= END_BYTES) {
		memcpy(c->tail, buffer + got - END_BYTES, END_BYTES);
	} else {
		memmove(c->tail, c->tail + got, END_BYTES - got);
		memcpy(c->tail + END_BYTES - got, buffer, got);
	}
	return !memcmp(c->tail, end_of_answer, END_BYTES);
}

static char *line_of(long keys)
{
	char *line = malloc(8 + keys * KEY_BYTES), *at = line;

	if (!line)
		die("no memory for a request");
	at += sprintf(at, "get");
	for (long i = 0; i < keys; i++)
		at += sprintf(at, " k%05ld", i);
	strcpy(at, "\r\n");
	return line;
}

static void store(int fd, long keys)
{
	char line[VALUE_BYTES + 64], stored[8];

	for (long i = 0; i < keys; i++) {
		sprintf(line, "set k%05ld 0 0 %d\r\n%0*d\r\n", i, VALUE_BYTES, VALUE_BYTES, 0);
		send_all(fd, line);
		if (read(fd, stored, sizeof(stored)) != sizeof(stored) || memcmp(stored, "STORED", 6))
			die("memcached did not store a value");
	}
}

/* What a request takes that nobody is in the way of, the shortest of some. */
static uint64_t own_time_ns(struct connection *c, const char *line)
{
	uint64_t least_ns = ~0ull;

	for (int i = 0; i < TRIES; i++) {
		uint64_t began_ns = now_ns(), took_ns;

		send_all(c->fd, line);
		while (!receive(c))
			;
		took_ns = now_ns() - began_ns;
		if (took_ns < least_ns)
			least_ns = took_ns;
	}
	return least_ns;
}

void memcached_prepare(void)
{
	connections = calloc(settings.workers, sizeof(*connections));
	idle_ones = calloc(settings.workers, sizeof(*idle_ones));
	poller = epoll_create1(0);
	if (!connections || !idle_ones || poller < 0)
		die("no memory for the connections");
	for (long i = 0; i < settings.workers; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = &connections[i] };

		connections[i].fd = connect_to(settings.socket);
		idle_ones[nr_idle++] = &connections[i];
		if (epoll_ctl(poller, EPOLL_CTL_ADD, connections[i].fd, &event))
			die("epoll_ctl");
	}
	store(connections[0].fd, settings.long_keys);
	short_line = line_of(1);
	long_line = line_of(settings.long_keys);
	/* Which depends on the scheduler: the divisor of slowdowns is what --short and --long say. */
	printf("Alone: %.1f and %.1f us\n", own_time_ns(&connections[0], short_line) / 1e3,
	       own_time_ns(&connections[0], long_line) / 1e3);
}

static void answer_comes(struct connection *c)
{
	if (!receive(c))
		return;
	if (!c->request)
		die("memcached has answered a request that it did not get");
	c->request->done_ns = now_ns();
	c->request = NULL;
	idle_ones[nr_idle++] = c;
}

static void wait_until(uint64_t ns)
{
	struct epoll_event events[64];
	uint64_t now = now_ns();
	uint64_t left = ns > now ? ns - now : 0;
	struct timespec timeout = { .tv_sec = left / 1000000000, .tv_nsec = left % 1000000000 };
	int n = epoll_pwait2(poller, events, 64, &timeout, NULL);

	for (int i = 0; i < n; i++)
		answer_comes(events[i].data.ptr);
}

void memcached_serve(struct request *requests, long count)
{
	uint64_t begin_ns;
	long sent = 0;

	be_first();
	begin_ns = now_ns() + 1000000;
	for (long i = 0; i < count; i++)
		requests[i].due_ns += begin_ns;
	while (sent < count || nr_idle < settings.workers) {
		if (sent < count && nr_idle && now_ns() >= requests[sent].due_ns) {
			struct connection *c = idle_ones[--nr_idle];

			c->request = &requests[sent++];
			send_all(c->fd, c->request->is_long ? long_line : short_line);
			continue;
		}
		wait_until(sent < count && nr_idle ? requests[sent].due_ns : now_ns() + 1000000000);
	}
}
