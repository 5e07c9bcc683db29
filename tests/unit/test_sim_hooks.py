# SPDX-License-Identifier: GPL-2.0
"""The model of Linux's core calls the class where the patches make the kernel call it."""

import re
from collections.abc import Iterator
from pathlib import Path

from saakm.base import paths

CORE = paths.REPO / "sim" / "core"

# Hooks, and the kernel's functions that have them, which the model has not, and why.
NOT_MODELLED = {
    ("task_on_saakm", "__task_prio"): "core scheduling",
    ("saakm_prio_less", "prio_less"): "core scheduling",
    ("saakm_note_forced_idle", "pick_next_task"): "core scheduling",
    ("task_on_saakm", "ttwu_queue_cond"): "the wake list",
    ("task_on_saakm", "put_prev_task_scx"): "sched_ext",
    ("saakm_note_preemption", "preempt_schedule_notrace"): "tracers that are preempted",
    ("saakm_can_stop_tick", "sched_can_stop_tick"): "nohz_full CPUs, the only ones that ask",
    ("saakm_rq_activate", "sched_cpu_deactivate"): "a CPU that fails to go offline",
    ("saakm_in_use", "rwsem_optimistic_spin"): "kernel/locking/: who spins for what",
    ("saakm_got_lock", "futex_lock_pi"): "locks with priority inheritance",
    ("saakm_released_lock", "futex_unlock_pi"): "locks with priority inheritance",
    ("saakm_got_lock", "futex_wait_requeue_pi"): "locks with priority inheritance",
    ("saakm_released_lock", "futex_wake_op"): "FUTEX_WAKE_OP",
    ("saakm_cgroup_weight", "cpu_idle_write_s64"): "cpu.idle",
    ("saakm_cgroup_weight", "cpu_weight_nice_write_s64"): "cpu.weight.nice",
}

# A test that nothing has changed since the hook, or a name that is not called at its place.
NO_HOOKS = {"saakm_enabled", "saakm_sched_class", "saakm_setsched_done"}
# By files and by oopses: sim/core/files.c, messages.c.
ELSEWHERE = {"proc_pid_saakm", "print_saakm_info"}

_HOOK = re.compile(r"\b(saakm_\w+|task_on_saakm|print_saakm_info|proc_pid_saakm)\b(?=\(|[,;)])")
# A definition at the beginning of a line: the name in front of the first parenthesis, or of a table.
_PLACE = re.compile(
    r"^(?:SYSCALL_DEFINE\d\((\w+)|(?!#)(?:[A-Za-z_][^(=\[]*?)??\b(\w+)(?:\(|\[\]|\s*=\s*\{))"
)
_HUNK = re.compile(r"^@@ .*? @@ ?(.*)")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def hooks_of(patch: Path) -> Iterator[tuple[str, str]]:
    """(hook, function of the kernel) of each added line of C code; headers declare only."""
    file = function = ""
    for line in patch.read_text().splitlines():
        if line.startswith("+++ "):
            file, function = line.removeprefix("+++ b/"), ""
        elif hunk := _HUNK.match(line):
            # A label stands there if it is nearer: the function is that of the hunk before.
            if found := _PLACE.match(hunk[1]):
                function = found[1] or found[2]
        elif file.endswith(".c") and line[:1] in (" ", "+"):
            if found := _PLACE.match(line[1:]):
                function = found[1] or found[2]
            if line[0] == "+":
                code = _COMMENT.sub("", line[1:])
                yield from ((hook, function) for hook in _HOOK.findall(code))


def hook_sites() -> set[tuple[str, str]]:
    found = {site for patch in sorted(paths.PATCHES.glob("*.patch")) for site in hooks_of(patch)}
    return {(hook, function) for hook, function in found if hook not in NO_HOOKS | ELSEWHERE}


# A function of the model, with the comment in front of it: that or its name says what it stands for.
_MODEL = re.compile(
    r"((?:/\*(?:(?!\*/).)*\*/\n)?)^([A-Za-z_][^;{}]*\)\n)(\{.*?^\})", re.DOTALL | re.M
)


def functions() -> list[tuple[str, str]]:
    """(what it stands for, its code) of each function of the model."""
    files = sorted(CORE.glob("*.c"))
    found = [match for file in files for match in _MODEL.finditer(file.read_text())]
    return [(match[1] + match[2], _COMMENT.sub("", match[3])) for match in found]


def modelled(hook: str, place: str) -> bool:
    return any(
        re.search(rf"\b{place}\b", stands_for) and re.search(rf"\b{hook}\(", code)
        for stands_for, code in functions()
    )


def test_the_patches_have_hooks():
    sites = hook_sites()
    assert ("saakm_pick_alone", "__pick_next_task") in sites
    assert ("saakm_fork", "sched_fork") in sites
    assert len(sites) > 40


def test_each_hook_is_called_from_what_stands_for_its_place():
    missing = {site for site in hook_sites() if not modelled(*site)} - set(NOT_MODELLED)
    assert not missing, "neither in sim/core/ nor in NOT_MODELLED: " + ", ".join(
        f"{hook}() of {function}()" for hook, function in sorted(missing)
    )


def test_what_is_said_not_to_be_modelled_is_a_hook():
    assert set(NOT_MODELLED) <= hook_sites()


def test_what_is_said_not_to_be_modelled_is_not():
    assert not [site for site in NOT_MODELLED if modelled(*site)]


def test_functions_are_found():
    found = {name for stands_for, _ in functions() for name in re.findall(r"(\w+)\(", stands_for)}
    assert {"__schedule", "sched_fork", "bprm_execve", "nohz_csd_func"} <= found
