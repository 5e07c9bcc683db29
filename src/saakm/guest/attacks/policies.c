// SPDX-License-Identifier: GPL-2.0
/* Modules, and what the kernel says about policies. */
#include "attacks.h"

#include <fcntl.h>
#include <sys/klog.h>
#include <termios.h>

#define PATIENCE_MS 2500
#define STEP_MS 2
#define SHOW_WARNINGS 7
#define SHOW_EMERGENCIES 1
#define SET_CONSOLE_LEVEL 8

bool word_given(const char *list, const char *word)
{
	const char *at = getenv(list) ?: "";
	size_t length = strlen(word);

	for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, word, length) && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* The kernel's messages come over the same line, and would stand in the midst of ours. */
void begin_to_speak(void)
{
	klogctl(SET_CONSOLE_LEVEL, NULL, SHOW_EMERGENCIES);
}

void end_speaking(void)
{
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	klogctl(SET_CONSOLE_LEVEL, NULL, SHOW_WARNINGS);
}

bool try_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return done;
}

void write_file(const char *path, const char *text)
{
	if (!try_write(path, text))
		die("'%s' to %s", text, path);
}

static char *read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

long read_number(const char *path)
{
	char text[64];

	return atol(read_text(path, text, sizeof(text)));
}

static int load(const char *module, const char *parameters)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/%s.ko", module);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		die("%s", path);
	return syscall(SYS_finit_module, fd, parameters, 0) ? errno : 0;
}

/* A process may hang in the kernel for ever: then it is left there. */
static int wait_for(pid_t pid, unsigned int ms, void (*meanwhile)(void))
{
	int status;

	for (unsigned int waited = 0; waited < ms; waited += STEP_MS) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
		if (meanwhile)
			meanwhile();
		sleep_ms(STEP_MS);
	}
	return -ETIMEDOUT;
}

/* As an ordinary process: one of SCHED_FIFO that spins on a mutex would keep others out itself. */
static pid_t start(void)
{
	pid_t pid = fork();

	if (!pid)
		saakm_setattr(0, SCHED_OTHER, 0, 0, 0);
	return pid;
}

static pid_t inserter;

int insert(const char *module, const char *parameters, void (*meanwhile)(void))
{
	inserter = start();
	if (!inserter)
		_exit(load(module, parameters));
	return wait_for(inserter, PATIENCE_MS, meanwhile);
}

int insert_at_last(void (*meanwhile)(void))
{
	return wait_for(inserter, PATIENCE_MS, meanwhile);
}

int remove_module(const char *module)
{
	pid_t pid = start();

	if (!pid)
		_exit(syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0);
	return wait_for(pid, PATIENCE_MS, NULL);
}

/* Fit to stand in JSON. */
static void tidy(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			*text = *text == '\n' && !text[1] ? 0 : '\'';
}

const char *last_error(void)
{
	static char text[512];

	tidy(read_text("/sys/kernel/saakm/last_error", text, sizeof(text)));
	return text;
}

bool find_ejected(const char *policy, char *json, size_t size)
{
	char text[4096], *line, *end, name[64], kind[32], handler[64];
	int at = 0;

	read_text("/proc/saakm/ejected", text, sizeof(text));
	for (line = strchr(text, '\n'); line && *++line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end = 0;
		if (sscanf(line, "%*s %63s %*s %31s %*s %63s %*s %*s %n", name, kind, handler, &at) != 3 ||
		    strcmp(name, policy))
			continue;
		tidy(line + at);
		snprintf(json, size, "\"kind\": \"%s\", \"handler\": \"%s\", \"reason\": \"%s\"",
			 kind, handler, line + at);
		return true;
	}
	return false;
}

bool is_at_work(const char *policy)
{
	char json[1024];

	return find_policy(policy) && !find_ejected(policy, json, sizeof(json));
}
