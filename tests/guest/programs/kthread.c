// SPDX-License-Identifier: GPL-2.0
/*
 * kthread POLICY NAME COMMAND
 *
 * Puts the kernel thread NAME into the policy, runs a command, and expects it
 * there still; then takes it back.
 */
#include "crowd.h"
#include <dirent.h>

static pid_t find_kthread(const char *name)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char path[300], comm[32];
	pid_t found = 0;
	FILE *file;

	while (!found && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = atoi(entry->d_name) ? fopen(path, "r") : NULL;
		if (!file)
			continue;
		if (fscanf(file, "%31s", comm) == 1 && !strcmp(comm, name))
			found = atoi(entry->d_name);
		fclose(file);
	}
	closedir(proc);
	if (!found)
		fail("there is no thread %s", name);
	return found;
}

int main(int argc, char **argv)
{
	struct saakm_attr old = {};
	char state[32];
	pid_t tid;
	int ret;

	if (argc != 4)
		fail("kthread POLICY NAME COMMAND");
	limit_seconds(60);
	tid = find_kthread(argv[2]);
	if (syscall(SYS_sched_getattr, tid, &old, sizeof(old), 0))
		die("sched_getattr");
	ret = saakm_setattr(tid, SCHED_SAAKM, policy_id(argv[1]), 0, 0);
	if (ret)
		fail("%s cannot join: %s", argv[2], strerror(-ret));
	crowd_doing = argv[3];
	if (system(argv[3]))
		fail("the command failed");
	if (sched_getscheduler(tid) != SCHED_SAAKM || !*saakm_state(tid, state))
		fail("%s is in the policy no more", argv[2]);
	old.size = sizeof(old);
	if (syscall(SYS_sched_setattr, tid, &old, 0))
		die("taking %s back", argv[2]);
	return 0;
}
