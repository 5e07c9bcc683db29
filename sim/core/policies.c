// SPDX-License-Identifier: GPL-2.0
/* What the class knows of its policies, for programs and results. */
#include <linux/saakm.h>
#include "saakm/internal.h"
#include "saakm/safety.h"
#include "policies.h"
#include "model.h"
#include "load.h"

static struct sim_result_policy *seen;
static unsigned int nr_seen, room;

static const struct saakm_policy *first_loaded(void)
{
	const struct saakm_policy *policy, *first = NULL;

	for_each_saakm_policy(policy) {
		if (!first || policy->own->id < first->own->id)
			first = policy;
	}
	return first;
}

u32 policies_id(const char *name)
{
	const struct saakm_policy *policy;

	guard(rcu)();
	policy = name ? saakm_policy_called(name) : first_loaded();
	return policy ? policy->own->id : 0;
}

static struct sim_result_policy *find(u32 id)
{
	unsigned int i;

	for (i = 0; i < nr_seen; i++)
		if (seen[i].id == id)
			return &seen[i];
	return NULL;
}

static struct sim_result_policy *add(u32 id)
{
	struct sim_result_policy *bigger;

	if (nr_seen == room) {
		room = room ? 2 * room : 16;
		bigger = sim_alloc(room * sizeof(*bigger));
		if (nr_seen)
			memcpy(bigger, seen, nr_seen * sizeof(*bigger));
		sim_free(seen);
		seen = bigger;
	}
	seen[nr_seen].id = id;
	return &seen[nr_seen++];
}

static char *copy(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(sim_alloc(size), text, size);
}

/* What is there is noted when it may be the last time that it can be seen. */
static void note(const struct saakm_policy *policy, bool threads)
{
	struct sim_result_policy *to = find(policy->own->id) ?: add(policy->own->id);
	enum saakm_exit_kind kind = saakm_exit_kind(policy);

	if (!to->name)
		to->name = copy(policy->own->name);
	if (threads)
		to->threads = policy->nr_threads;
	if (kind == SAAKM_EXIT_NONE || to->ejected)
		return;
	to->ejected = saakm_exit_names[kind];
	to->reason = copy(policy->exit.reason);
	to->at_ns = policy->exit.time_ns - load_begin_ns;
	if (kind >= SAAKM_EXIT_POLICY_ERROR)
		sim_misbehaved();
}

const char *policies_name(u32 id)
{
	const struct sim_result_policy *policy = id ? find(id) : NULL;

	return policy && policy->name ? policy->name : "none";
}

u32 policies_count(void)
{
	const struct saakm_policy *policy;
	u32 count = 0;

	guard(rcu)();
	for_each_saakm_policy(policy)
		count++;
	return count;
}

u32 policies_nth(u32 n)
{
	const struct saakm_policy *policy;

	guard(rcu)();
	for_each_saakm_policy(policy) {
		if (!n--)
			return policy->own->id;
	}
	return 0;
}

bool policies_module(u32 id, char *name, size_t size)
{
	const struct saakm_policy *policy;

	guard(rcu)();
	for_each_saakm_policy(policy) {
		if (policy->own->id != id || !policy->own->owner)
			continue;
		strscpy(name, module_name(policy->own->owner), size);
		return true;
	}
	return false;
}

void policies_check(void)
{
	const struct saakm_policy *policy;

	guard(rcu)();
	for_each_saakm_policy(policy)
		note(policy, false);
}

void policies_close(void)
{
	const struct saakm_policy *policy;

	guard(rcu)();
	for_each_saakm_policy(policy)
		note(policy, true);
}

/* In the order in which they were loaded; they were found in that of election. */
static void sort(void)
{
	unsigned int i, j;

	for (i = 1; i < nr_seen; i++)
		for (j = i; j && seen[j - 1].id > seen[j].id; j--)
			swap(seen[j - 1], seen[j]);
}

void policies_result(struct sim_result *result)
{
	sort();
	result->policies = seen;
	result->nr_policies = nr_seen;
}
