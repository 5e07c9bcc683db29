// SPDX-License-Identifier: GPL-2.0
/* Joins a policy with parameters, changes them, and says what came back. */
#include "saakm_user.h"

static void set(const char *what, uint32_t id, uint32_t param)
{
	printf("%s %u: %d\n", what, param, saakm_setattr(0, SCHED_SAAKM, id, 0, param));
}

static void get(void)
{
	struct saakm_attr attr = {};

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0))
		die("sched_getattr");
	printf("get: policy %u param %u runtime %llu\n", attr.sched_saakm_policy,
	       attr.sched_saakm_param, (unsigned long long)attr.sched_runtime);
}

int main(int argc, char **argv)
{
	uint32_t id = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 2 && setuid(65534))
		die("setuid");
	set("join", id, 12);
	if (argc > 2)
		return 0;
	get();
	set("join", id, 13);
	get();
	set("change", id, 14);
	get();
	return 0;
}
