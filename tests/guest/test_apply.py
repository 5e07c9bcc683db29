# SPDX-License-Identifier: GPL-2.0
"""saakmctl apply, assign and status on the kernel; with systemd: test_debian.py."""

import json
from dataclasses import replace

import pytest

from saakm.builder.modules import module_file

from .support import policies, remove_cgroup, run_ok

pytestmark = pytest.mark.kernel("base")

CGROUP = "saakm-apply"
MOUNT = "/sys/fs/cgroup"


@pytest.fixture
def apply(guest):
    """Applies a file of this text; /CGROUP is made by whoever names it."""

    def apply(text, options=""):
        run_ok(guest, f"cat >/tmp/saakm.toml <<'END'\n{text}\nEND")
        return guest.run(f"saakmctl apply {options} /tmp/saakm.toml")

    yield apply
    if guest.alive:
        guest.run(remove_cgroup(f"{MOUNT}/{CGROUP}"))


def policy(guest, name, parameters=""):
    return (
        f'[[policy]]\nname = "{name}"\nfile = "{module_file(guest.kernel, name)}"\n{parameters}\n'
    )


def assign(policy, inner):
    return f'[[assign]]\ncgroup = "/{CGROUP}/{inner}"\npolicy = "{policy}"\n'


def status(guest):
    answer = json.loads(run_ok(guest, "saakmctl status --json"))
    return {row["cgroup"]: (row["policy"], row["threads"]) for row in answer["assignments"]}


def test_policies_are_loaded_and_cgroups_assigned(guest, program, apply):
    text = (
        policy(guest, "rr", "params = { slice_us = 7000 }")
        + assign("rr", "a")
        + assign("none", "b")
    )
    assert "good" in apply(text, "--check").check().stdout
    assert policies(guest) == {}
    apply(text).check()
    assert run_ok(guest, "cat /sys/module/rr/parameters/slice_us").strip() == "7000"
    run_ok(guest, f"sleep infinity & echo $! >{MOUNT}/{CGROUP}/a/cgroup.procs")
    assert status(guest) == {f"{CGROUP}/a": ("rr", 1)}
    before = policies(guest)["rr"]
    apply(text).check()
    # While it starts, it switches.
    assert replace(policies(guest)["rr"], switches=0) == replace(before, switches=0)
    run_ok(guest, f"saakmctl assign rr /{CGROUP}/b; saakmctl assign none {MOUNT}/{CGROUP}/a")
    assert status(guest) == {f"{CGROUP}/b": ("rr", 0)}


def test_what_the_kernel_refuses_undoes_all(guest, apply):
    apply(policy(guest, "fifo") + assign("fifo", "a")).check()
    # Nothing is wrong with this one until its init function runs.
    refused = apply(
        policy(guest, "fifo")
        + policy(guest, "rr")
        + assign("rr", "a")
        + policy(guest, "badload", 'params = { fault = "init" }')
        + assign("rr", "b")
    )
    assert refused.status == 1 and "line 13: cannot load" in refused.stderr
    assert list(policies(guest)) == ["fifo"]
    assert status(guest) == {f"{CGROUP}/a": ("fifo", 0)}


def test_a_mistake_names_its_line_and_changes_nothing(guest, apply):
    wrong = [
        (assign("rr", "a") + "nice = 5\n", "line 8: unknown field `nice`"),
        (assign("fifo", "a"), "line 7: no [[policy]] is called 'fifo'"),
        ("params = { slice = 1 }\n", "line 2: policy 'rr' has no parameter 'slice'"),
        ('[[assign]]\nunit = "x.service"\npolicy = "rr"\n', "line 6: x.service belongs to systemd"),
        ('[[policy]]\nname = "nobody"\n', "line 6: cannot find policy 'nobody'"),
        ("[[assign]\n", "line 5: "),
        ('[[policy]]\nname = "13"\n', "line 6: no policy can be called '13': that would be an id"),
        (
            '[[policy]]\nname = "a\\u001b[2J"\n',
            r"line 6: no policy can be called 'a\x1b[2J': a name is",
        ),
        ('[[policy]]\nname = "a"\nfile = "a.ko"\n', "line 7: the file 'a.ko' is no absolute path"),
    ]
    for more, why in wrong:
        refused = apply(policy(guest, "rr") + more)
        assert (refused.status, why in refused.stderr) == (1, True), refused.stderr
    assert policies(guest) == {} and status(guest) == {}
