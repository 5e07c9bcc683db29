# SPDX-License-Identifier: GPL-2.0
"""What is checked. The code of each check is in guest/check."""

from dataclasses import dataclass

from ...base.errors import SaakmError


@dataclass(frozen=True)
class Check:
    what: str
    promise: bool = False  # a policy is held to it only if it says so
    cpus: int = 1  # at least
    rough: bool = False  # also on the kernel that checks itself, where time means nothing
    quick: bool = True
    append: str = ""  # kernel arguments


# In the order of the report.
CHECKS = {
    "lifecycle": Check(
        "threads are forked, exec, are killed, come and go: who came is who went "
        "and who is there, and none is lost",
        rough=True,
    ),
    "order": Check("each thread's events and states come in an order that saakm.rst allows"),
    "wakeups": Check("no wakeup is lost in rings of pipes and futexes, and in crowds", rough=True),
    "affinity": Check(
        "threads run where sched_setaffinity() lets them, also while it changes", rough=True
    ),
    "storm": Check(
        "affinities, nice values, stops, kills, forks, changes of class, as the seed "
        "has it; all threads go on",
        rough=True,
    ),
    "work-conservation": Check(
        "no CPU idles beside a thread that waits and may run there, but for two ticks (8 ms) "
        "and twice the policy's balance_interval_ms",
        promise=True,
        cpus=2,
    ),
    "no-starvation": Check(
        "who wants a CPU has it within half a second, whoever else wants it", promise=True
    ),
    "fairness": Check("equal threads get equal parts of a CPU, within 30 %", promise=True),
    "weights": Check("nice values decide the parts, as under fair, within 15 %", promise=True),
    "reload": Check(
        "the policy is unloaded under its threads, which go on, and loaded again",
        rough=True,
        quick=False,
    ),
    "hotplug": Check("CPUs go and come back under load", cpus=2, rough=True, quick=False),
    # Else all objects of the pages that CPUs have at hand count as in use: 512 of 8 bytes each.
    "leaks": Check(
        "threads that have ended leave no memory of kmalloc() behind",
        quick=False,
        append="slab_debug=F,kmalloc-*",
    ),
}
PROMISES = [name for name, check in CHECKS.items() if check.promise]


def chosen_checks(text: str) -> list[str]:
    """Returns the checks of a comma list; all when it is empty."""
    names = _words(text)
    for name in names:
        if name not in CHECKS:
            raise SaakmError(
                f"there is no check '{name}'",
                f"there are {', '.join(CHECKS)}",
                "saakm check --list says what each does",
            )
    return [name for name in CHECKS if name in names or not names]


def parse_promises(text: str, who: str) -> list[str]:
    """Returns the promises that a policy, or a user, names."""
    names = _words(text)
    for name in names:
        if name not in PROMISES:
            raise SaakmError(
                f"{who} promises '{name}', which means nothing",
                f"a policy can promise: {', '.join(PROMISES)}",
                'mend it, as in MODULE_INFO(saakm_promises, "no-starvation, fairness")',
            )
    return [name for name in PROMISES if name in names]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
