// SPDX-License-Identifier: GPL-2.0
/* Cgroups of the cpu controller: threaded ones, as a thread alone is moved and not its process. */
#include "player.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT	"/sys/fs/cgroup"

enum file { THREADS, WEIGHT, POLICY, NR_FILES };

static const char * const names[NR_FILES] = { "cgroup.threads", "cpu.weight", "cpu.saakm.policy" };

static struct cgroup {
	char	*path;
	int	files[NR_FILES];	/* opened before the workload begins */
} *cgroups;

static int put(int file, const char *text)
{
	return pwrite(file, text, strlen(text), 0) < 0 ? -1 : 0;
}

static void write_once(const char *path, const char *name, const char *text)
{
	char file[PATH_MAX];
	int fd;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || put(fd, text))
		sim_bad_input(file, 0, "'%s' cannot be written: %s", text, strerror(errno));
	close(fd);
}

static void open_files(struct cgroup *cgroup, int first)
{
	char file[PATH_MAX];
	int i;

	for (i = first; i < NR_FILES; i++) {
		snprintf(file, sizeof(file), "%s/%s", cgroup->path, names[i]);
		cgroup->files[i] = open(file, O_WRONLY | O_CLOEXEC);
		if (cgroup->files[i] < 0)
			sim_bad_input(file, 0, "it cannot be written: %s", strerror(errno));
	}
}

/* What an earlier scenario has left is empty by now. */
static void remove_old(u32 count)
{
	u32 i;

	/* Those below are behind those above. */
	for (i = count; i-- > 1;)
		rmdir(cgroups[i].path);
}

static void for_each(void (*fn)(const struct program_array *array, u32 i))
{
	u32 a, i;

	for (a = 0; a < program->nr_arrays; a++)
		for (i = 0; program->arrays[a].kind == PROGRAM_CGROUP &&
		     i < program->arrays[a].count; i++)
			fn(&program->arrays[a], i);
}

static void name(const struct program_array *array, u32 i)
{
	struct cgroup *cgroup = &cgroups[array->first + i];
	const struct cgroup *parent = &cgroups[array->parent + i % array->parents];

	size_t size = strlen(parent->path) + sizeof(array->name) + 12;

	cgroup->path = sim_alloc(size);
	snprintf(cgroup->path, size, "%s/%s.%u", parent->path, array->name, i);
}

static void make(const struct program_array *array, u32 i)
{
	struct cgroup *cgroup = &cgroups[array->first + i];
	char weight[20];

	write_once(cgroups[array->parent + i % array->parents].path, "cgroup.subtree_control",
		   "+cpu");
	if (mkdir(cgroup->path, 0755))
		sim_bad_input(cgroup->path, 0, "it cannot be made: %s", strerror(errno));
	write_once(cgroup->path, "cgroup.type", "threaded");
	open_files(cgroup, THREADS);
	snprintf(weight, sizeof(weight), "%u", array->size);
	put(cgroup->files[WEIGHT], weight);
}

void cgroups_init(void)
{
	u32 count = program->nr_objects[PROGRAM_CGROUP];

	cgroups = sim_alloc(count * sizeof(*cgroups));
	if (count == 1)
		return;
	cgroups[0].path = ROOT;
	write_once(ROOT, "cgroup.procs", "0");
	for_each(name);
	remove_old(count);
	for_each(make);
	cgroups[0].files[THREADS] = open(ROOT "/cgroup.threads", O_WRONLY | O_CLOEXEC);
}

static struct cgroup *this_cgroup(const struct thread *t)
{
	return &cgroups[resolve(t, t->op->ref, t->op->indexed & PROGRAM_REF_INDEXED)];
}

void set_cgroup(struct thread *t)
{
	note(t, put(this_cgroup(t)->files[THREADS], "0"));
}

void cgroup_weight(struct thread *t)
{
	char text[20];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)t->op->a);
	note(t, put(this_cgroup(t)->files[WEIGHT], text));
}

void cgroup_policy(struct thread *t)
{
	const struct program_op *op = t->op;
	const char *policy = op->b == PROGRAM_NONE ? "none" :
			     op->b == PROGRAM_MAIN ? main_policy : program->policies[op->a];

	note(t, put(this_cgroup(t)->files[POLICY], policy));
}
