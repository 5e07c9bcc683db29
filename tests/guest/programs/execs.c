// SPDX-License-Identifier: GPL-2.0
/*
 * execs POLICY_ID TIMES thread|process: begins itself anew so often, in the policy, from a
 * second thread or from its only one. Before each time it tries files that cannot be run.
 */
#include "subject.h"

static char **arguments;

static void try_in_vain(void)
{
	static const char * const files[] = { "/nowhere", "/", "/proc/self/maps" };
	char *nothing[] = { NULL };

	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!execve(files[i], arguments, nothing))
			die("%s is a program", files[i]);
}

static void begin_anew(struct subject *self)
{
	(void)self;
	saakm_join(policy_id);
	try_in_vain();
	execv("/proc/self/exe", arguments);
	die("execv");
}

int main(int argc, char **argv)
{
	static struct subject second;
	int left;

	if (argc != 4)
		die("usage: %s POLICY_ID TIMES thread|process", argv[0]);
	policy_id = atoi(argv[1]);
	left = atoi(argv[2]);
	if (!left)
		return 0;
	sprintf(argv[2], "%d", left - 1);
	arguments = argv;
	saakm_join(policy_id);
	if (!strcmp(argv[3], "process"))
		begin_anew(NULL);
	subject_start(&second, begin_anew, -1);
	for (;;)
		sleep_ms(1);
}
