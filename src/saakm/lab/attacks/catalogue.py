# SPDX-License-Identifier: GPL-2.0
"""The attacks. What each does is coded in guest/attacks/wrong, by the name of its fault."""

from dataclasses import dataclass

from ...base.errors import SaakmError


@dataclass(frozen=True)
class Attack:
    """`fault`: if it is not the name of the attack. `beside`: what else the guest has, see its main.c."""

    what: str
    fault: str = ""
    beside: str = ""  # comma list
    refused: bool = False  # must not be loaded
    fatal: bool = False  # nothing can hold it
    exempt: str = ""  # why others may wait for longer


# In the order of the table.
ATTACKS = {
    # Other policies' threads and queues
    "kidnap": Attack("moves other policies' waiting threads into its own queue, one by one"),
    "rob": Attack("steals other policies' whole queues, which it finds through a waiting thread"),
    "intrude": Attack("places its own threads in another policy's queue"),
    "pull-foreign": Attack("steals from core->rq of another policy, which saakm_core_of() finds"),
    "push-foreign": Attack("steals its own threads into core->rq of another policy"),
    "pull-for-another": Attack("calls saakm_pull_idle() about another policy's core"),
    "switch-foreign": Attack("calls saakm_switch_queue() about another policy's waiting thread"),
    "switch-to-foreign": Attack("switches its own threads to core->rq of another policy"),
    "slice-foreign": Attack("gives another policy's threads slices of 1 ns"),
    "elect-foreign": Attack("elects another policy's thread"),
    "elect-error": Attack("returns an error pointer from schedule"),
    "eject-another": Attack("ejects another policy, in its name"),
    "remove-another": Attack("removes another policy when it is loaded"),
    # Threads that do not run
    "starve": Attack("never elects some of its threads"),
    "starve-nice": Attack("the same, while users change those threads' nice values",
                          fault="starve", beside="nice"),
    "starve-ousted": Attack("the same, while users send those threads from CPU to CPU",
                            fault="starve", beside="affinity"),
    "starve-reader": Attack("the same, one of them being in an RCU read section",
                            fault="starve", beside="reader"),
    "elect-nobody": Attack("elects nobody while threads wait"),
    "queue-none-no-change": Attack("has queues of its own, and does not place its threads"),
    "queue-none-core-rq": Attack("has queues of its own, and places its threads in core->rq"),
    "swap": Attack("steals threads that it never elects from one CPU to the other, for ever"),
    "swap-reader": Attack("the same, one of them being in an RCU read section",
                          fault="swap", beside="reader"),
    "strict-reader": Attack("is strict: a hog of nice 0 keeps a thread of nice 19 out, which is in "
                            "an RCU read section", fault="strict", beside="hog,reader"),
    # What is handed out to be read
    "count-zero": Attack("writes 0 to core->nr_runnable"),
    "count-huge": Attack("writes 2 billion to core->nr_runnable"),
    "core-id": Attack("writes another CPU's number to core->id"),
    "core-data": Attack("sets core->policy and core->data to another policy's, and pulls threads"),
    "core-rq-reset": Attack("overwrites core->rq with zeroes while threads are in it"),
    "core-rq-count": Attack("writes 2 billion to core->rq.nr_tasks, of a tree"),
    "policy-id": Attack("writes another policy's id to its own"),
    "policy-priority": Attack("changes its priority while it is loaded"),
    "policy-task-size": Attack("changes its task_size to 1 MiB while it is loaded"),
    "policy-routines": Attack("sets its handlers to NULL while it is loaded"),
    "policy-queue": Attack("changes its queue and key, of a tree, while it is loaded"),
    "policy-threads": Attack("writes 0 to policy->nr_threads, which is private"),
    "bogus-data": Attack("sets event->data to memory of its own, with a task_size of 0"),
    "bogus-data-8": Attack("the same, with a task_size of 8", fault="bogus_data_8"),
    "forged-cpu": Attack("sets event->prev_cpu to -1 and chooses CPU 9999"),
    "forged-task": Attack("sets event->task to another policy's thread and gives up"),
    # Handlers that sleep
    "sleep-schedule": Attack("sleeps in schedule, each time for 5 ms"),
    "sleep-tick": Attack("calls schedule() 100 times in each tick"),
    "used-sleeps": Attack("sleeps in used, whenever CPU time is charged"),
    "exec-sleeps": Attack("sleeps in exec", beside="exec"),
    "sleep-moved": Attack("sleeps when a thread is moved, while the CPU's last thread blocks"),
    "dump-endless": Attack("is ejected, and its dump writes without end",
                           exempt="its dump runs in a worker, which is fair, on one CPU: there the "
                           "deadline server's share is left to threads of SaaKM"),
    "dump-sleeps": Attack("is ejected, and its dump sleeps for ever"),
    "dump-hostile": Attack("is ejected, and its dump writes 100,000 lines of quotes and control characters"),
    # Loading and replacing
    "stack-policy": Attack("registers a struct saakm_policy that is on the stack", refused=True),
    "no-owner": Attack("says that it is of no module, and is not removed when its module goes"),
    "names": Attack("calls itself 13, none, fair, or something with blanks, escapes or no end",
                    refused=True),
    "contradictions": Attack("has attributes and handlers that contradict each other, in "
                             "22 ways, or is of another edition", refused=True),
    "init-positive": Attack("returns 1 from init", refused=True),
    "init-leaves": Attack("fails to load 300 ms after it has registered, with threads in it",
                          refused=True),
    "init-ejects": Attack("ejects itself in init, and was to replace a good policy",
                          beside="replaces", refused=True),
    "migrate-from-hangs": Attack("was to replace a good policy, and thinks about it for seconds",
                                 beside="replaces", refused=True),
    "take-over-ejects": Attack("gives up in the midst of taking a good policy's threads over",
                               beside="replaces"),
    "take-over-places": Attack("places the threads that it takes over in take_over",
                               beside="replaces"),
    "remove-itself": Attack("calls saakm_remove_policy() about itself in tick"),
    "remove-in-init": Attack("calls saakm_remove_policy() about itself in init"),
    "add-in-init": Attack("registers a second policy in init"),
    "add-in-balance": Attack("registers a second policy in balancing_select"),
    "add-twice": Attack("registers the same struct saakm_policy twice, by two names"),
    # Calls at the wrong time, or of no use
    "used-moves": Attack("calls change_state() in used"),
    "switch-running": Attack("calls saakm_switch_queue() about the running thread"),
    "null-thread": Attack("switches, puts to the head, gives a slice to, and places NULL, as an "
                          "empty queue's first is"),
    "to-head-sorted": Attack("calls saakm_to_head() about a thread in a tree"),
    "to-head-running": Attack("calls saakm_to_head() about the running thread"),
    "to-head-foreign": Attack("calls saakm_to_head() about another policy's waiting thread"),
    "switch-cpu": Attack("switches waiting threads to another CPU's queue"),
    "pull-under-lock": Attack("calls saakm_pull_idle() in tick"),
    "pull-none": Attack("calls saakm_pull_idle() and saakm_pull_busier(), and has queues of its own"),
    # Queues that cores share
    "take-in-schedule": Attack("calls saakm_take() in schedule"),
    "take-in-newly-idle": Attack("calls saakm_take() in newly_idle"),
    "take-wrongly": Attack("calls saakm_take() about another policy's queue, shared or not, about "
                           "NULL, a queue of one core, and for another core"),
    "take-nothing": Attack("shares a queue, and its refill takes no thread from it"),
    "steal-shared": Attack("calls saakm_steal() from and to a shared queue"),
    "place-unshared": Attack("places threads in a queue that other cores share"),
    "switch-unshared": Attack("switches threads to a queue that other cores share"),
    "share-late": Attack("calls saakm_share_queue() in tick"),
    "forget-shared": Attack("writes NULL to core->shared"),
    # Too much, and queues that change
    "kick-storm": Attack("asks for an election on all CPUs in every handler"),
    "preempt-storm": Attack("asks for an election whenever one of its threads gets the CPU"),
    "steal-all": Attack("steals without limit, at every tick, from a queue with 1,000 threads "
                        "that are bound to their CPU", beside="crowd"),
    "slice-storm": Attack("gives all of its threads slices of 0.4 ms, again and again, on one CPU",
                          beside="hog"),
    "slice-endless": Attack("gives a thread a new slice whenever it has used some of it",
                            beside="hog"),
    "reset-queue": Attack("initialises a queue again with threads in it"),
    "retype-queue": Attack("makes a tree of a list with threads in it"),
    "queue-cpu": Attack("writes another CPU's number to a queue with threads in it"),
    "random-key": Attack("sorts a queue by random numbers"),
    "random-bound": Attack("sorts core->rq by random numbers, and asks for the first within others"),
    "key-changes": Attack("sorts core->rq by what it changes while threads are in it"),
    "key-meddles": Attack("switches and moves threads, and gives up, in its key function"),
    "key-changes-state": Attack("calls change_state() in its key function"),
    "key-kicks": Attack("asks for an election on all CPUs in its key function"),
    # Nothing can hold these
    "sleep-terminate": Attack("calls synchronize_rcu() in terminate", fatal=True),
    "null-schedule": Attack("reads through a NULL pointer in schedule", fatal=True),
    "endless-tick": Attack("does not return from tick", fatal=True),
    "core-rq-type": Attack("writes to core->rq, a FIFO with threads in it, that it is a tree",
                           fatal=True),
}  # fmt: skip


def chosen_attacks(names: list[str], fatal: bool) -> list[str]:
    """Returns those that are named; else all, the fatal ones only on request."""
    for name in names:
        if name not in ATTACKS:
            raise SaakmError(
                f"there is no attack '{name}'",
                f"there are {', '.join(ATTACKS)}",
                "saakm attacks --list says what each does",
            )
    return [
        name
        for name, attack in ATTACKS.items()
        if (name in names if names else fatal or not attack.fatal)
    ]


def fault_of(name: str) -> str:
    return ATTACKS[name].fault or name.replace("-", "_")
