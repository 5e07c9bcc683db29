// SPDX-License-Identifier: GPL-2.0
/*
 * crowd [-P] [-p POLICY] [-n THREADS] [-l LIMIT] [-e other|saakm] [-k KIND] COMMAND
 *
 * Runs a shell command among busy threads of a policy (or fair ones). All of
 * them must get on before and after it; -e: which class they must then be in;
 * -P: processes.
 */
#include "crowd.h"

struct options {
	const char *policy;
	unsigned int nr, limit;
	int kind, expect;
	bool processes;
};

static struct options parse(int argc, char **argv)
{
	struct options o = { .nr = 24, .limit = 60, .kind = -1, .expect = -1 };
	int c;

	while ((c = getopt(argc, argv, "+Pp:n:l:e:k:")) != -1) {
		switch (c) {
		case 'P':
			o.processes = true;
			break;
		case 'p':
			o.policy = optarg;
			break;
		case 'n':
			o.nr = atoi(optarg);
			break;
		case 'l':
			o.limit = atoi(optarg);
			break;
		case 'e':
			o.expect = strcmp(optarg, "saakm") ? SCHED_OTHER : SCHED_SAAKM;
			break;
		case 'k':
			o.kind = atoi(optarg);
			break;
		default:
			exit(2);
		}
	}
	if (optind != argc - 1)
		fail("crowd: one command is needed");
	return o;
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	int status;

	limit_seconds(o.limit);
	crowd_new(o.nr, o.policy ? policy_id(o.policy) : 0, o.processes);
	/* A large crowd is there to be many, not to keep the machine busy. */
	for (unsigned int i = 0; i < o.nr; i++) {
		if (o.kind >= 0)
			crowd->members[i].kind = o.kind;
		else if (i >= 64)
			crowd->members[i].kind = NAP;
	}
	crowd_start();
	crowd_moves(o.limit / 2, "before the command");

	crowd_doing = argv[optind];
	status = system(argv[optind]);
	if (status)
		fail("the command ended with wait status %#x", status);

	if (o.expect >= 0)
		crowd_is(o.expect, "after the command");
	crowd_moves(o.limit / 2, "after the command");
	crowd_end();
	return 0;
}
