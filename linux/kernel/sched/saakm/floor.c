// SPDX-License-Identifier: GPL-2.0
/*
 * Between policies: one that has runnable threads on a CPU, but has not had it
 * for floor_period_us, is owed floor_runtime_us there. Meanwhile it is asked
 * before all others. So the policies at the end of the list get some 5 % of
 * what SaaKM gets, whatever those in front of them do.
 *
 * Found out at the tick, and only where threads of several policies wait.
 */

static unsigned int saakm_floor_runtime_us = 50 * USEC_PER_MSEC;
static unsigned int saakm_floor_period_us = 1000 * USEC_PER_MSEC;

static struct saakm_policy *saakm_starving(struct rq *rq, const struct saakm_policy *running)
{
	u64 period_ns = (u64)READ_ONCE(saakm_floor_period_us) * NSEC_PER_USEC;
	struct saakm_policy *policy;

	for_each_saakm_policy(policy) {
		if (policy != running && rq->saakm.active & policy->mask &&
		    rq->clock - saakm_core(policy, cpu_of(rq))->idle_since_ns >= period_ns)
			return policy;
	}
	return NULL;
}

void __saakm_floor_tick(struct rq *rq, const struct saakm_policy *running)
{
	struct saakm_policy *policy;

	if (rq->saakm.owed) {
		if (rq->clock < rq->saakm.owed_until_ns)
			return;
		rq->saakm.owed = 0;
		resched_curr(rq);
	}
	if (!READ_ONCE(saakm_floor_runtime_us))
		return;
	policy = saakm_starving(rq, running);
	if (!policy)
		return;
	rq->saakm.owed = policy->mask;
	rq->saakm.owed_until_ns = rq->clock + (u64)saakm_floor_runtime_us * NSEC_PER_USEC;
	resched_curr(rq);
}

/* The policy that is owed the CPU may have no thread here any more. */
struct task_struct *saakm_floor_elect(struct rq *rq, struct task_struct *curr)
{
	struct saakm_policy *policy;

	if (rq->saakm.owed & rq->saakm.active) {
		for_each_saakm_policy(policy) {
			if (policy->mask == rq->saakm.owed)
				return saakm_ask(rq, policy, curr);
		}
	}
	rq->saakm.owed = 0;
	return NULL;
}
