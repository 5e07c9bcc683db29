# SPDX-License-Identifier: GPL-2.0
"""What the project promises of its kernel code: small, and in the kernel's style."""

import re
import subprocess

import pytest

from saakm import paths, source
from saakm.lines import lines_of_code

CLASS = paths.LINUX / "kernel" / "sched" / "saakm"
HEADERS = [
    *paths.LINUX.glob("include/linux/saakm*.h"),
    paths.LINUX / "include/uapi/linux/saakm.h",
]
# Iterators and module_*() macros evaluate their arguments twice all over the kernel.
IGNORED = "MACRO_ARG_REUSE"
IGNORED += ",EXPORT_SYMBOL"  # of a per-CPU variable, in a namespace: checkpatch knows no such macro
IGNORED += ",PRINTK_WITHOUT_KERN_LEVEL"  # the level is an argument in oopses, as everywhere


SAFETY = [
    "safety.h",
    "context.h",
    "misuse.c",
    "eject.c",
    "watchdog.c",
    "server.c",
    "floor.c",
    "history.c",
]
BESIDE = ["policy.c", "replace.c", "cgroup.c", "debug.c"]


def test_what_schedules_is_under_1800_lines():
    files = [f for f in CLASS.glob("*.[ch]") if f.name not in SAFETY + BESIDE]
    assert sum(map(lines_of_code, files)) < 1800


def test_safety_is_under_1500_lines():
    assert sum(lines_of_code(CLASS / name) for name in SAFETY) < 1500


def test_every_end_of_a_policy_is_documented():
    """Its name and number, as the kernel has them."""
    header = (paths.LINUX / "include/uapi/linux/saakm.h").read_text()
    names = (CLASS / "eject.c").read_text()
    page = (paths.REPO / "docs/reference/safety.md").read_text()
    ends = re.findall(r"(SAAKM_EXIT_\w+)\s*= (\d+)", header)
    assert len(ends) == 17
    for constant, number in ends:
        name = re.search(rf'\[{constant}\]\s*= "([\w-]+)"', names)[1]
        assert f"| `{name}` | {number} |" in page or f"`{name}` ({number}" in page, constant


def test_smallest_policy_fits_one_screen():
    assert lines_of_code(paths.POLICIES / "fifo" / "fifo.c") <= 40


@pytest.mark.parametrize(
    "path",
    [
        *CLASS.glob("*.[ch]"),
        *HEADERS,
        *paths.POLICIES.glob("*/*.c"),
        *paths.REPO.glob("docs/examples/*/*.c"),
    ],
    ids=lambda path: path.name,
)
def test_checkpatch_has_nothing_to_say(path):
    _, tree = source.default_tree()
    command = ["perl", str(tree / "scripts/checkpatch.pl"), "--no-tree", "--strict", "--terse"]
    result = subprocess.run(
        [*command, "--ignore", IGNORED, "-f", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
