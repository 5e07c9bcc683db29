/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server of short requests and a few long ones, and a client that does not wait for answers: the
 * load of Shinjuku (NSDI 2019, section 5) and ghOSt (SOSP 2021, section 4.2). The server is our own,
 * with which the client shares memory and a semaphore, or a memcached.
 */
#ifndef BIMODAL_H
#define BIMODAL_H

#include <stdbool.h>
#include <stdint.h>

struct settings {
	long workers;
	long requests;		/* that are measured */
	long warmup;		/* before them, which are not */
	long short_us, long_us;	/* what a request takes that nobody is in the way of */
	long long_ppm;		/* long requests in 1,000,000 */
	long rate;		/* requests per second; 0: all are there at once */
	long seed;
	const char *socket;	/* of a memcached; NULL: our own server */
	long long_keys;		/* that a long request gets of it */
};

extern struct settings settings;

struct request {
	uint64_t due_ns;	/* when it arrives, whether or not the client is late */
	uint64_t done_ns;
	bool is_long;
};

uint64_t now_ns(void);
_Noreturn void die(const char *what);
void be_first(void);	/* for the client: nobody whose requests are served may delay the next ones */

/* --- work.c: computes for so long, however often it is interrupted --- */

void work_calibrate(void);
void work_do(long us);

/* --- server.c, memcached.c: have them all served --- */

void own_serve(struct request *requests, long count);
void memcached_prepare(void);
void memcached_serve(struct request *requests, long count);

#endif
