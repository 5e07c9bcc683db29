// SPDX-License-Identifier: GPL-2.0
/* charger: calls saakm_charge_now() where, or for whom, it must not; or, `where` empty, as it should. */
#include <linux/saakm.h>

static char *where = "";
module_param(where, charp, 0444);

static struct saakm_policy charger;

static void charge_in(const char *handler)
{
	if (!strcmp(where, handler))
		saakm_charge_now(current);
}

static int charger_prepare(struct process_event *event)
{
	charge_in("prepare");
	return saakm_prev_cpu(event);
}

static void charger_place(struct process_event *event, struct core_event *core)
{
	charge_in("place");
}

static void charger_tick(struct process_event *event, struct core_event *core)
{
	charge_in("tick");
	change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static void charger_newly_idle(struct core_event *core)
{
	charge_in("newly_idle");
}

static bool charger_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	saakm_charge_now(!strcmp(where, "nobody") ? NULL : !strcmp(where, "woken") ? woken : running);
	return true;
}

static void charger_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	charge_in("used");
}

SAAKM_POLICY(charger,
	     .charge_late = true, .prepare = charger_prepare, .place = charger_place,
	     .tick = charger_tick, .newly_idle = charger_newly_idle, .used = charger_used,
	     .wakeup_preempt = charger_wakeup_preempt);
