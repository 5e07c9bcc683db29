# SPDX-License-Identifier: GPL-2.0
"""What the core calls in a class, and what the class makes it do: the functions that are recorded."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """`arguments`: r for a runqueue, t for a thread, a for a struct sched_attr, i for others.

    c and e are fair's part of a runqueue and of a thread; recorded is what they are a part of.

    `returns`: t for a thread, b for a boolean, i for a number, - for nothing.
    """

    name: str
    arguments: str
    returns: str = "-"


CALLS = (
    # struct sched_class
    Function("enqueue_task_saakm", "rti"),
    Function("dequeue_task_saakm", "rti", "b"),
    Function("yield_task_saakm", "r"),
    Function("wakeup_preempt_saakm", "rti"),
    Function("balance_saakm", "rti", "i"),
    Function("saakm_pick_task", "r", "t"),
    Function("put_prev_task_saakm", "rtt"),
    Function("set_next_task_saakm", "rtb"),
    Function("select_task_rq_saakm", "tii", "i"),
    Function("task_tick_saakm", "rti"),
    Function("task_fork_saakm", "t"),
    Function("switched_from_saakm", "rt"),
    Function("switched_to_saakm", "rt"),
    Function("prio_changed_saakm", "rti"),
    Function("saakm_update_curr", "r"),
    # hooks.h
    Function("__saakm_newly_idle", "ri", "b"),
    Function("__saakm_refill", "ri"),
    Function("saakm_pick_shared", "r", "t"),
    Function("__saakm_goes_on", "rt"),
    Function("saakm_prio_less", "tt", "b"),
    Function("saakm_can_stop_tick", "r", "b"),
    Function("saakm_trigger_balance", "r"),
    Function("saakm_nohz_kick", "r"),
    Function("saakm_count_kicks_anew", "r"),
    Function("__saakm_enter_idle", "r"),
    Function("saakm_exit_idle", "rt"),
    Function("__saakm_note_forced_idle", "rb"),
    # changes of policy, lives of threads
    Function("__saakm_setsched_prepare", "itaii", "i"),
    Function("__saakm_setsched_check", "it", "i"),
    Function("__saakm_setsched_apply", "irta"),
    Function("__saakm_setsched_done", "i"),
    Function("saakm_getattr", "ti"),
    Function("saakm_fork", "t", "i"),
    Function("saakm_cancel_fork", "t"),
    Function("saakm_post_fork", "t"),
    Function("saakm_execve", "-"),
    Function("saakm_task_dead", "t"),
    # softirq, interrupts, timers, work
    Function("saakm_balance_softirq", "-"),
    Function("saakm_kick_work", "i"),
    Function("saakm_slice_kick", "i"),
    Function("saakm_slice_timer", "i", "i"),
    Function("saakm_probe", "i"),
    Function("saakm_patrol", "i"),
    Function("saakm_server_pick", "i", "t"),
)

# What the class makes the core do, of which there may be more within: the class is called again.
EFFECTS = (
    Function("activate_task", "rti"),
    Function("deactivate_task", "rti"),
    Function("wakeup_preempt", "rti"),
    Function("sched_deq_and_put_task", "ti"),
    Function("sched_enq_and_set_task", "i"),
    Function("raw_spin_rq_unlock", "r"),
)

# The core's own business, of which the outcome counts; or what the class asks it.
OPAQUE = (
    Function("resched_curr", "r"),
    Function("set_task_cpu", "ti"),
    Function("update_rq_clock", "r"),
    Function("irq_work_queue", "i", "b"),
    Function("irq_work_queue_on", "ii", "b"),
    Function("raise_softirq", "i"),
    Function("__raise_softirq_irqoff", "i"),
    Function("dl_server_start", "i"),
    Function("dl_server_stop", "i"),
    Function("dl_server_update", "ii"),
    Function("hrtimer_start_range_ns", "iiii"),
    Function("hrtimer_try_to_cancel", "i", "i"),
    Function("raw_spin_rq_lock_nested", "ri"),
    Function("raw_spin_rq_trylock", "r", "b"),
    Function("idle_cpu", "i", "i"),
    Function("available_idle_cpu", "i", "i"),
    Function("tick_nohz_tick_stopped_cpu", "i", "b"),
    Function("sched_clock_cpu", "i", "i"),
    Function("local_clock", "-", "i"),
    Function("wake_up_process", "t"),
    Function("kvfree_call_rcu", "ii"),
)

# A call that sleeps: what is called below is none of its business.
BOUNDARIES = (Function("__schedule", "i"),)

# Variables of the class; static keys begin with their count.
GLOBALS = (
    "__saakm_enabled",
    "saakm_charging",
    "saakm_refilling",
    "saakm_observed",
    "saakm_next_sample",
    "saakm_keeping_masks",
    "saakm_pulling",
    "saakm_refillers",
    "saakm_watching_idle",
    "saakm_idle_cpus",
)

# The same of fair. It calls the last two itself, with and without put_prev_task_fair() and
# set_next_task_fair() around them. What it calls within another one of these is its own business.
FAIR_CALLS = (
    Function("enqueue_task_fair", "rti"),
    Function("dequeue_task_fair", "rti", "b"),
    Function("yield_task_fair", "r"),
    Function("yield_to_task_fair", "rt", "b"),
    Function("check_preempt_wakeup_fair", "rti"),
    Function("pick_task_fair", "r", "t"),
    Function("task_tick_fair", "rti"),
    Function("task_fork_fair", "t"),
    Function("task_dead_fair", "t"),
    Function("reweight_task_fair", "rti"),
    Function("switched_from_fair", "rt"),
    Function("switched_to_fair", "rt"),
    Function("prio_changed_fair", "rti"),
    Function("update_curr_fair", "r"),
    Function("get_rr_interval_fair", "rt", "i"),
    Function("put_prev_entity", "ce"),
    Function("set_next_entity", "ce"),
)
FAIR_MARK = "get_rr_interval_fair"
FAIR_COUNTED = "pick_task_fair"
# The second one is there in kernels with CONFIG_SCHED_DEBUG; in others it never changes.
FAIR_GLOBALS = ("sysctl_sched_base_slice", "sysctl_sched_features")
