// SPDX-License-Identifier: GPL-2.0
/* Does what a loadfile says. What does not end as it did on the server ends the run: it would be less work. */
#define _GNU_SOURCE
#include "loadfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define IS_DIRECTORY	0x1	/* of NTCreateX's options */
#define FIRST_CLIENT	"client1"	/* whose name the loadfile has */

static int files[MOST_HANDLES];
static char *bytes;

/* The name of this client for that of the first. */
static char *renamed(const char *path, unsigned int client)
{
	const char *at = path ? strstr(path, FIRST_CLIENT) : NULL;
	char *name;

	/* "client1", not "client12" */
	if (!at || (at[strlen(FIRST_CLIENT)] && at[strlen(FIRST_CLIENT)] != '/'))
		return (char *)path;
	if (asprintf(&name, "%.*sclient%u%s", (int)(at - path), path, client,
		     at + strlen(FIRST_CLIENT)) < 0)
		die("no memory for the paths");
	return name;
}

void play_prepare(struct load *load, unsigned int client)
{
	memset(files, -1, sizeof(files));
	bytes = calloc(1, load->most + 1);
	if (!bytes)
		die("no memory for what is written");
	for (size_t i = 0; i < load->count; i++) {
		struct operation *operation = &load->operations[i];

		operation->path = renamed(operation->path, client);
		operation->to = renamed(operation->to, client);
	}
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *where)
{
	(void)stat, (void)type, (void)where;
	return remove(path);
}

static int remove_tree(const char *path)
{
	if (!nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) || errno == ENOENT)
		return 0;
	return -1;
}

static int make_directory(const char *path)
{
	return mkdir(path, 0777) && errno != EEXIST ? -1 : 0;
}

static int open_flags(long disposition)
{
	static const int flags[] = {
		O_CREAT | O_TRUNC, 0, O_CREAT | O_EXCL, O_CREAT, O_TRUNC, O_CREAT | O_TRUNC
	};

	return flags[disposition];
}

static int open_file(const struct operation *operation)
{
	int flags = open_flags(operation->disposition), file;

	if (operation->options & IS_DIRECTORY) {
		if (flags & O_CREAT && make_directory(operation->path))
			return -1;
		file = open(operation->path, O_RDONLY | O_DIRECTORY);
	} else {
		file = open(operation->path, O_RDWR | flags, 0666);
		if (file < 0 && errno == EISDIR)
			file = open(operation->path, O_RDONLY | O_DIRECTORY);
	}
	if (file < 0)
		return -1;
	if (operation->fails)
		return close(file);
	if (files[operation->handle] >= 0)
		close(files[operation->handle]);
	files[operation->handle] = file;
	return 0;
}

static int close_file(long handle)
{
	int file = files[handle];

	files[handle] = -1;
	return close(file);
}

/* All names in the directory: which of them it wanted is not the file system's business. */
static int find(char *pattern)
{
	char *slash = strrchr(pattern, '/');
	DIR *directory;

	if (slash)
		*slash = 0;
	directory = opendir(slash ? pattern : ".");
	if (slash)
		*slash = '/';
	if (!directory)
		return -1;
	while (readdir(directory))
		;
	return closedir(directory);
}

static int lock(const struct operation *operation, short type)
{
	struct flock range = {
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = operation->offset,
		.l_len = operation->size,
	};

	return fcntl(files[operation->handle], F_SETLK, &range);
}

static int write_all(const struct operation *operation)
{
	ssize_t done = pwrite(files[operation->handle], bytes, operation->size, operation->offset);

	if (done >= 0 && done < operation->size)
		errno = ENOSPC;
	return done == operation->size ? 0 : -1;
}

static int stat_fs(void)
{
	struct statvfs about;

	return statvfs(".", &about);
}

/* Returns -1 with errno, if it failed. */
static int play(const struct operation *operation)
{
	int file = files[operation->handle];
	struct stat about;

	switch (operation->kind) {
	case CLOSE:
		return close_file(operation->handle);
	case DELTREE:
		return remove_tree(operation->path);
	case FIND:
		return find(operation->path);
	case FLUSH:
		return fsync(file);
	case LOCK:
		return lock(operation, F_WRLCK);
	case MKDIR:
		return make_directory(operation->path);
	case OPEN:
		return open_file(operation);
	case READ:
		return pread(file, bytes, operation->size, operation->offset) < 0 ? -1 : 0;
	case RENAME:
		return rename(operation->path, operation->to);
	case SET_FILE:
		return futimens(file, NULL);
	case STAT_FILE:
		return fstat(file, &about);
	case STAT_FS:
		return stat_fs();
	case STAT_PATH:
		return stat(operation->path, &about);
	case UNLINK:
		return unlink(operation->path);
	case UNLOCK:
		return lock(operation, F_UNLCK);
	case WRITE:
		return write_all(operation);
	}
	return 0;
}

static void play_checked(const struct load *load, const struct operation *operation)
{
	bool failed = play(operation);

	/* What a search finds depends on names, which we do not compare. */
	if (failed == operation->fails || operation->kind == FIND)
		return;
	die("%s, line %u: %s %s: %s", load->file, operation->line, operation->name,
	    operation->path ?: "", failed ? strerror(errno) : "it should have failed, and did not");
}

bool play_pass(const struct load *load, const bool *over)
{
	for (size_t i = 0; i < load->count; i++) {
		if (__atomic_load_n(over, __ATOMIC_RELAXED))
			return false;
		play_checked(load, &load->operations[i]);
	}
	/* A loadfile may be the beginning of a longer one. */
	for (long handle = 0; handle < MOST_HANDLES; handle++)
		if (files[handle] >= 0)
			close_file(handle);
	return true;
}

void play_clean(const struct load *load)
{
	for (size_t i = 0; i < load->count; i++)
		if (load->operations[i].kind == DELTREE)
			remove_tree(load->operations[i].path);
}
