// SPDX-License-Identifier: GPL-2.0
/*
 * misdelayer: threads that sleep stay queued, in a policy with a fault. `how`: "forge", its
 * handlers overwrite the flags of their events; "nobody", it elects a thread that is none as soon
 * as one stays, and is ejected, after which its keys must not be asked for.
 */
#include <linux/saakm.h>

static char *how = "forge";
module_param(how, charp, 0444);

static bool elected_nobody;

static void misdelayer_forge(struct process_event *event, struct core_event *core)
{
	if (!strcmp(how, "forge"))
		event->flags = 0;
}

static bool misdelayer_block_delay(struct process_event *event, struct core_event *core)
{
	return true;
}

static u64 misdelayer_key(const struct task_struct *task)
{
	WARN_ONCE(READ_ONCE(elected_nobody), "misdelayer: a key is asked for after its ejection");
	return 0;
}

/* Who is awake goes before who sleeps. */
static struct task_struct *misdelayer_schedule(struct core_event *core)
{
	bool sleeps = core->curr && saakm_task_delayed(core->curr);
	struct task_struct *task;

	if (sleeps && !strcmp(how, "nobody")) {
		WRITE_ONCE(elected_nobody, true);
		return ERR_PTR(-EINVAL);
	}
	if (core->curr && !sleeps)
		return core->curr;
	saakm_for_each_task(task, &core->rq)
		if (!saakm_task_delayed(task))
			return task;
	return saakm_rq_first(&core->rq) ?: core->curr;
}

SAAKM_POLICY(misdelayer, .queue = SAAKM_RQ_LIST, .key = misdelayer_key,
	     .prepare = saakm_prev_cpu, .place = misdelayer_forge, .block = misdelayer_forge,
	     .block_delay = misdelayer_block_delay, .schedule = misdelayer_schedule);
