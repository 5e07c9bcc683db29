// SPDX-License-Identifier: GPL-2.0
/* run_in POLICY COMMAND ARG...: runs a program in a policy. */
#include "crowd.h"

int main(int argc, char **argv)
{
	if (argc < 3)
		fail("run_in POLICY COMMAND ARG...");
	saakm_join(policy_id(argv[1]));
	execvp(argv[2], argv + 2);
	die("%s", argv[2]);
}
