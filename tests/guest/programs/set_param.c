// SPDX-License-Identifier: GPL-2.0
/* set_param TID POLICY_ID PARAM: for a thread that is in the policy, or joins it by that. */
#include "subject.h"

int main(int argc, char **argv)
{
	int ret;

	if (argc != 4)
		die("usage: %s TID POLICY_ID PARAM", argv[0]);
	ret = saakm_setattr(atoi(argv[1]), SCHED_SAAKM, atoi(argv[2]), 0, atoi(argv[3]));
	if (ret)
		die("sched_setattr: %d", ret);
	return 0;
}
