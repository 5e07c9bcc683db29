// SPDX-License-Identifier: GPL-2.0
/*
 * reload CYCLES MODULE[:PARAMETER]...
 *
 * Loads and unloads policies, each in a thread of its own, while a crowd of
 * processes joins whatever is loaded, forks, and changes each other's class.
 * MODULE: path of a .ko file named after its policy.
 */
#include "crowd.h"
#include <fcntl.h>

#define MEMBERS 12
#define MAX_MODULES 8

static struct module {
	pthread_t thread;
	char name[64];
	const char *parameters;
	int fd;
} modules[MAX_MODULES];
static int cycles, nr_modules;

/* Joins a policy that may be gone by now. */
static void try_to_join(pid_t tid, const char *name)
{
	uint32_t id = find_policy(name);
	int ret = saakm_setattr(tid, rnd(4) ? SCHED_SAAKM : SCHED_OTHER, id,
				(int)rnd(5), 0);

	if (ret && ret != -ESRCH) {
		errno = -ret;
		die("%d to join %s", tid, name);
	}
}

static void round_reload(struct member *m)
{
	pid_t pid;

	usual_round(m);
	switch (rnd(8)) {
	case 0:
		pid = fork();
		if (!pid) {
			usual_round(m);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("fork");
		break;
	case 1:
		try_to_join(0, modules[rnd(nr_modules)].name);
		break;
	case 2:
		try_to_join(crowd->members[rnd(crowd->nr)].tid,
			    modules[rnd(nr_modules)].name);
	}
}

/* Some threads join at once, so that unloading has somebody to move. */
static void *reloader(void *arg)
{
	struct module *module = arg;

	for (int i = 0; i < cycles; i++) {
		if (syscall(SYS_finit_module, module->fd, module->parameters, 0))
			die("loading %s", module->name);
		for (unsigned int k = 0; k < 4; k++)
			try_to_join(crowd->members[rnd(crowd->nr)].tid, module->name);
		sleep_us(rnd(20000));
		if (syscall(SYS_delete_module, module->name, O_NONBLOCK))
			die("unloading %s", module->name);
	}
	return NULL;
}

static void open_module(struct module *module, char *path)
{
	char *parameters = strchrnul(path, ':');
	const char *name;

	module->parameters = *parameters ? parameters + 1 : "";
	*parameters = 0;
	name = strrchr(path, '/');
	snprintf(module->name, sizeof(module->name), "%s", name ? name + 1 : path);
	*strchrnul(module->name, '.') = 0;
	module->fd = open(path, O_RDONLY);
	if (module->fd < 0)
		die("%s", path);
}

int main(int argc, char **argv)
{
	if (argc < 3 || argc - 2 > MAX_MODULES)
		fail("reload CYCLES MODULE[:PARAMETER]...");
	limit_seconds(170);
	cycles = atoi(argv[1]);
	nr_modules = argc - 2;
	for (int i = 0; i < nr_modules; i++)
		open_module(&modules[i], argv[2 + i]);

	crowd_new(MEMBERS, 0, true);
	crowd->round = round_reload;
	crowd_start();
	crowd_moves(30, "before");
	crowd_doing = "loading and unloading";
	for (int i = 0; i < nr_modules; i++)
		pthread_create(&modules[i].thread, NULL, reloader, &modules[i]);
	for (int i = 0; i < nr_modules; i++)
		pthread_join(modules[i].thread, NULL);
	crowd_is(SCHED_OTHER, "without policies");
	crowd_moves(30, "after");
	crowd_end();
	return 0;
}
