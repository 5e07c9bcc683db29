// SPDX-License-Identifier: GPL-2.0
/* with_cookie COMMAND...: becomes the command, with a core scheduling cookie of its own. */
#include "saakm_user.h"
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		die("with_cookie COMMAND...");
	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, 0, 0))
		die("PR_SCHED_CORE_CREATE");
	execvp(argv[1], argv + 1);
	die("%s", argv[1]);
}
