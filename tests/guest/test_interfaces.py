# SPDX-License-Identifier: GPL-2.0
"""docs/reference/interfaces.md says what the running kernel has: all of it, and no more."""

import pytest
from documents import names, table

from saakm.base import paths

from .support import SYSFS, load_policy, run_ok

# As booted: the guests that tests share have other settings.
pytestmark = pytest.mark.kernel("base")
PAGE = paths.REPO / "docs/reference/interfaces.md"
MODES = {"r": {"400", "444"}, "w": {"200"}, "rw": {"644"}}


def documented(heading):
    """{name: the other cells}"""
    return {names(row[0])[0]: row[1:] for row in table(PAGE, heading)}


def first_words(text):
    return [line.split()[0] for line in text.splitlines()]


def test_the_page(boot):
    guest = boot()
    check_sysfs(guest)
    check_proc(guest)
    check_debugfs(guest)
    check_cgroup(guest)
    check_events(guest)
    check_parameters(guest)


def modes(guest, directory):
    """{file: mode}"""
    lines = run_ok(guest, f"cd {directory} && stat -c '%n %a' *").splitlines()
    return dict(line.split() for line in lines)


def check_sysfs(guest):
    page, kernel = documented("## /sys/kernel/saakm"), modes(guest, SYSFS)
    assert set(page) == set(kernel)
    for file, (mode, default, _) in page.items():
        assert kernel[file] in MODES[mode], file
        if default:
            assert run_ok(guest, f"cat {SYSFS}/{file}").strip() == default, file
    lines = run_ok(guest, f"cat {SYSFS}/last_replacement")
    assert names(page["last_replacement"][2])[:5] == first_words(lines)


def check_proc(guest):
    page = documented("## /proc")
    kernel = modes(guest, "/proc/saakm")
    assert {file for file in page if "PID" not in file} == {
        f"/proc/saakm/{file}" for file in kernel
    }
    assert all(mode in MODES["r"] for mode in kernel.values())
    for file in ("policies", "ejected"):
        columns = run_ok(guest, f"cat /proc/saakm/{file}").splitlines()[0].split()
        assert list(documented(f"Columns of `/proc/saakm/{file}`")) == columns
    policy = load_policy(guest, "fifo")
    one = run_ok(guest, "saakmctl exec fifo -- cat /proc/self/saakm")
    assert list(documented("Lines of `/proc/PID/saakm`")) == first_words(one)
    assert f"policy {policy}\n" in one
    assert run_ok(guest, "cat /proc/self/saakm") == "policy 0\n"
    assert run_ok(guest, "cat /proc/1/task/1/saakm") == "policy 0\n"


def check_debugfs(guest):
    page, kernel = documented("## debugfs"), modes(guest, "/sys/kernel/debug/saakm")
    assert set(page) == set(kernel)
    assert all(kernel[file] in MODES[cells[0]] for file, cells in page.items())


def check_cgroup(guest):
    page = documented("## cgroup v2")
    root = run_ok(
        guest,
        "findmnt -no TARGET -t cgroup2 || { mount -t cgroup2 none /sys/fs/cgroup && echo /sys/fs/cgroup; }",
    ).split()[0]
    run_ok(guest, f"echo +cpu >{root}/cgroup.subtree_control; mkdir -p {root}/documented")
    files = run_ok(guest, f"cd {root}/documented && ls -d *saakm*").split()
    assert list(page) == files
    for file, (_, default, _) in page.items():
        assert run_ok(guest, f"cat {root}/documented/{file}").strip() == default
    assert guest.run(f"ls {root}/*saakm*").status


def check_events(guest):
    page = documented("## Trace events")
    where = "/sys/kernel/tracing/events/saakm"
    run_ok(guest, "[ -e /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing")
    assert list(page) == sorted(run_ok(guest, f"cd {where} && ls -d */").replace("/", "").split())
    for event, (cells,) in page.items():
        text = run_ok(guest, f"cat {where}/{event}/format")
        fields = [
            line.split(";")[0].split()[-1].partition("[")[0]
            for line in text.splitlines()
            if line.startswith("\tfield:")
        ]
        assert names(cells) == [field for field in fields if not field.startswith("common_")], event
    text = run_ok(guest, f"cat {where}/saakm_transition/format")
    for state, (number, _) in documented("## States").items():
        assert f'{{ {number}, "{state}" }}' in text, state
    # Not one more: each stands twice, for prev and next.
    assert text.count('" }') == 2 * len(documented("## States"))


def check_parameters(guest):
    page = documented("## Parameters of every policy")
    kernel = modes(guest, "/sys/module/fifo/parameters")
    assert set(page) == set(kernel)
    assert all(kernel[name] in MODES[cells[0]] for name, cells in page.items())
