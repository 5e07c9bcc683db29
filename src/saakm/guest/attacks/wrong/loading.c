// SPDX-License-Identifier: GPL-2.0
/* What should not be loaded, and what is loaded but should not have been. */
#include "wrong.h"

#include <linux/slab.h>

/* Memory that will be something else soon. */

static int stack_policy(void)
{
	struct saakm_policy policy = wrong_policy;

	return saakm_add_policy(&policy);
}

static int stack_routines(void)
{
	struct saakm_module_routines routines = wrong_routines;

	wrong_policy.routines = &routines;
	return saakm_add_policy(&wrong_policy);
}

static int freed_routines(void)
{
	struct saakm_module_routines *routines = kmemdup(&wrong_routines, sizeof(wrong_routines),
							 GFP_KERNEL);
	int ret;

	if (!routines)
		return -ENOMEM;
	wrong_policy.routines = routines;
	ret = saakm_add_policy(&wrong_policy);
	wrong_at_once();
	memset(routines, 0x6b, sizeof(*routines));
	kfree(routines);
	return ret;
}

/* Of no module, which then goes away without it. */
static int no_owner(void)
{
	if (wrong_at_once())
		wrong_policy.owner = NULL;
	return saakm_add_policy(&wrong_policy);
}

/* Names. One that is taken is given back, so that all are tried. */

static const char * const bad_names[] = {
	"13", "none", "fair", "two words", "a\033[2Jb", "a\rb", "a\nb", "a\x7f", "a\"b", "a/b",
};

/* 31 characters at the most, with an end. */
static int add_called(const char *name)
{
	static struct saakm_policy policy;
	int ret;

	policy = wrong_policy;
	if (name)
		strscpy(policy.name, name);
	else
		memset(policy.name, 'x', sizeof(policy.name));
	ret = saakm_add_policy(&policy);
	if (ret)
		return 0;
	pr_err("wrong: a policy may be called '%*pE'\n", (int)strnlen(policy.name, SAAKM_NAME_LEN), policy.name);
	saakm_remove_policy(&policy);
	return 1;
}

static int names(void)
{
	int accepted = add_called(NULL);

	for (int i = 0; i < ARRAY_SIZE(bad_names); i++)
		accepted += add_called(bad_names[i]);
	/* To stay, if one may be called so: a refusal of all is a refusal of this module. */
	return accepted ? saakm_add_policy(&wrong_policy) : -EINVAL;
}

/* init */

static int init_ejects(struct saakm_policy *policy)
{
	saakm_eject(policy, SAAKM_EXIT_POLICY_ERROR, NULL, "gives up in init");
	return good_init(policy);
}

static int init_positive(struct saakm_policy *policy)
{
	good_init(policy);
	return 1;
}

/* init_leaves: its module goes away with an error, when threads have joined already. */
static int init_leaves(void)
{
	int ret = saakm_add_policy(&wrong_policy);

	if (!ret)
		msleep(300);
	return -EIO;
}

const struct wrong_fault loading_faults[] = {
	{ "stack_policy", {}, .load = stack_policy },
	{ "stack_routines", {}, .load = stack_routines },
	{ "freed_routines", {}, .load = freed_routines },
	{ "no_owner", {}, .load = no_owner, .stays = true },
	{ "names", {}, .load = names },
	{ "init_ejects", { .init = init_ejects } },
	{ "init_positive", { .init = init_positive } },
	{ "init_leaves", {}, .load = init_leaves },
	{}
};
