// SPDX-License-Identifier: GPL-2.0
/* The policy that is checked: loaded, unloaded, counted. */
#include "check.h"

#include <dirent.h>
#include <fcntl.h>

#define STALL "timeout_ms=3000"	/* sooner than the usual 30 s */

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("'%s' to %s", text, path);
	close(fd);
}

static void read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

void insert(const char *file, const char *parameters)
{
	char path[256], why[512];
	int fd;

	snprintf(path, sizeof(path), "/%s.ko", file);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		die("%s", path);
	if (syscall(SYS_finit_module, fd, parameters, 0)) {
		int error = errno;

		read_file("/sys/kernel/saakm/last_error", why, sizeof(why));
		why[strcspn(why, "\n")] = 0;
		fail("it cannot be loaded: %s: %s", strerror(error), why);
	}
	close(fd);
}

void insert_policy(void)
{
	char parameters[512];

	snprintf(parameters, sizeof(parameters), STALL " %s", getenv("parameters") ?: "");
	for (char *c = parameters; *c; c++)
		if (*c == ',')
			*c = ' ';
	insert(policy_name(), parameters);
	policy_id(policy_name());
}

void remove_module(const char *name)
{
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		die("%s cannot be unloaded", name);
}

struct counts read_counts(void)
{
	FILE *file = fopen("/proc/saakm/policies", "r");
	struct counts c = {};
	char line[256], name[64];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%u %63s %*s %*s %31s %ld %ld %ld", &c.id, name, c.state,
			   &c.threads, &c.new, &c.terminated) == 6 &&
		    !strcmp(name, policy_name()))
			break;
	if (!file || strcmp(name, policy_name()))
		fail("the kernel does not know the policy %s any more", policy_name());
	fclose(file);
	return c;
}

static int names_policy(const char *pid, const char *tid, uint32_t id)
{
	char path[600], text[256];
	uint32_t its;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/saakm", pid, tid);
	read_file(path, text, sizeof(text));
	return sscanf(text, "policy %u", &its) == 1 && its == id;
}

long named_threads(void)
{
	uint32_t id = policy_id(policy_name());
	DIR *proc = opendir("/proc"), *tasks;
	struct dirent *p, *t;
	char path[300];
	long n = 0;

	while (proc && (p = readdir(proc))) {
		if (p->d_name[0] < '0' || p->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task", p->d_name);
		tasks = opendir(path);
		while (tasks && (t = readdir(tasks)))
			if (t->d_name[0] != '.')
				n += names_policy(p->d_name, t->d_name, id);
		if (tasks)
			closedir(tasks);
	}
	if (proc)
		closedir(proc);
	return n;
}

static int agree(const struct counts *c, long named, long expected)
{
	return c->threads == expected && named == expected && c->new - c->terminated == expected;
}

/* Whoever was killed takes his time. */
void expect_threads(long expected, const char *when)
{
	struct counts c;
	long named;

	for (int tries = 0; tries < PATIENCE_MS / 10; tries++) {
		c = read_counts();
		named = named_threads();
		if (agree(&c, named, expected))
			return;
		sleep_ms(10);
	}
	refuse_ejected();
	fail("%s: %ld threads are alive, but the policy counts %ld; %ld came and %ld went; "
	     "%ld name it in /proc", when, expected, c.threads, c.new, c.terminated, named);
}

/* Whether it was, and why, as a sentence. */
bool find_ejection(char *sentence, size_t size)
{
	char text[1024], *line, *end, name[64], kind[32], handler[64];
	int at = 0;

	read_file("/proc/saakm/ejected", text, sizeof(text));
	for (line = strchr(text, '\n'); line && *++line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end = 0;
		if (sscanf(line, "%*s %63s %*s %31s %*s %63s %*s %*s %n", name, kind, handler, &at) == 3 &&
		    !strcmp(name, policy_name())) {
			snprintf(sentence, size, "ejected (%s) in %s: %s", kind, handler, line + at);
			return true;
		}
	}
	return false;
}

void refuse_ejected(void)
{
	char sentence[1024];

	if (find_ejection(sentence, sizeof(sentence)))
		fail("%s", sentence);
}

void after_all(void)
{
	expect_threads(0, "at the end");
	remove_module(policy_name());
}
