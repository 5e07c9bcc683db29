# SPDX-License-Identifier: GPL-2.0
"""What the project promises of its kernel code: small, and documented."""

import re

from saakm.base import paths
from saakm.lab.lines_of_code import lines_of_code

CLASS = paths.LINUX / "kernel" / "sched" / "saakm"


SAFETY = [
    "safety.h",
    "context.h",
    "misuse.c",
    "violation.c",
    "eject.c",
    "watchdog.c",
    "server.c",
    "floor.c",
    "history.c",
    "dump.c",
]
BESIDE = [
    "policy.c",
    "replace.c",
    "cgroup.c",
    "names.c",
    "error.c",
    "observe.c",
    "procfs.c",
    "sysfs.c",
    "debugfs.c",
    "oops.c",
]


def test_what_schedules_is_under_1800_lines():
    files = [f for f in CLASS.glob("*.[ch]") if f.name not in SAFETY + BESIDE]
    assert sum(map(lines_of_code, files)) < 1800


def test_safety_is_under_1500_lines():
    assert sum(lines_of_code(CLASS / name) for name in SAFETY) < 1500


def test_every_end_of_a_policy_is_documented():
    """Its name and number, as the kernel has them."""
    header = (paths.LINUX / "include/uapi/linux/saakm.h").read_text()
    names = (CLASS / "names.c").read_text()
    page = (paths.REPO / "docs/reference/safety.md").read_text()
    ends = re.findall(r"(SAAKM_EXIT_\w+)\s*= (\d+)", header)
    assert len(ends) == 17
    for constant, number in ends:
        name = re.search(rf'\[{constant}\]\s*= "([\w-]+)"', names)[1]
        assert f"| `{name}` | {number} |" in page or f"`{name}` ({number}" in page, constant


def test_smallest_policy_fits_one_screen():
    assert lines_of_code(paths.POLICIES / "fifo" / "fifo.c") <= 40
