/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Plays a loadfile of dbench 4 (the format of its client.txt) with a process for each client, again
 * and again, and says how long a pass took: Debian's dbench has rates only. Written anew.
 */
#ifndef LOADFILE_H
#define LOADFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind {
	CLOSE, DELTREE, FIND, FLUSH, LOCK, MKDIR, OPEN, READ, RENAME, SET_FILE, STAT_FILE, STAT_FS,
	STAT_PATH, UNLINK, UNLOCK, WRITE
};

struct operation {
	enum kind kind;
	bool fails;		/* the server had refused it, as it is to be refused again */
	unsigned int line;
	const char *name;	/* as the loadfile has it */
	char *path, *to;	/* below the directory; `to` of RENAME */
	long handle;
	long offset, size;	/* of READ, WRITE, LOCK, UNLOCK */
	long options, disposition;	/* of OPEN */
};

struct load {
	const char *file;
	struct operation *operations;
	size_t count;
	long most;		/* bytes that one READ or WRITE moves */
};

#define MOST_HANDLES	65536
#define MOST_BYTES	(16l << 20)

/* Does not return if the file has what cannot be played: it says in which line. */
void load_parse(struct load *load, const char *file);

/* In the process of a client, whose directory is called after it. */
void play_prepare(struct load *load, unsigned int client);

/* One pass; false if the time was up before its end, which *@over says, written by another process. */
bool play_pass(const struct load *load, const bool *over);

/* Removes what the client has left. */
void play_clean(const struct load *load);

uint64_t now_ns(void);

/* --- times.c: what the clients have noted --- */

#define MOST_PASSES	(1 << 20)

struct client {
	uint64_t began;			/* its first pass */
	uint64_t passes;
	uint64_t ends[MOST_PASSES];	/* each pass begins when the last one ends */
};

/*
 * Would there be something to report? While clients run, too: they write `passes` with release
 * semantics after the pass's end.
 */
bool times_enough(const struct client *clients, unsigned int count, uint64_t from_ns);

/* Prints both figures, of what began at `from_ns` or later. */
void times_report(const struct client *clients, unsigned int count, uint64_t from_ns);

#define BAD_INPUT	2

_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
