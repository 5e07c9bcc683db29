# SPDX-License-Identifier: GPL-2.0
"""Live replacement: threads go from one version to the next without passing through fair."""

import pytest

from saakm.base.errors import SaakmError
from saakm.builder.modules import build_modules, module_file
from saakm.builder.parameters import split
from saakm.dev.scaffold import policy_files, shipped

from .support import (
    CENTRAL,
    PARTS,
    SYSFS,
    ejected,
    insmod,
    last_error,
    load_in_mode,
    load_policy,
    policies,
    run_ok,
    until,
)

# Many threads: the debug kernel is too slow for them under emulation.
pytestmark = pytest.mark.kernel("base")

PARAMETERS = "/sys/module/heir2/parameters"


def _heir2(guest) -> str:
    return str(module_file(guest.kernel, "heir").with_name("heir2.ko"))


def _last(guest) -> dict[str, str]:
    text = run_ok(guest, f"cat {SYSFS}/last_replacement")
    return dict(line.split(maxsplit=1) for line in text.splitlines())


def _crowd(
    guest, program, policy: str, command: str, threads: int = 100, expected: str = "saakm"
) -> None:
    crowd = f"{program('crowd')} -p {policy} -n {threads} -l 100 -e {expected}"
    run_ok(guest, f"{crowd} '{command}'", timeout=250)


def test_threads_and_their_data_go_over(guest, program):
    """Nobody is lost (crowd), nobody is fair afterwards (-e saakm), the data came along."""
    load_policy(guest, "heir")
    _crowd(guest, program, "heir", f"insmod {_heir2(guest)} replaces=heir name=heir2")
    found = policies(guest)
    assert (found["heir"].state, found["heir2"].state) == ("ejected", "active")
    assert found["heir"].threads == 0 and ejected(guest)["heir"].kind == "replaced"
    inherited = int(run_ok(guest, f"cat {PARAMETERS}/inherited"))
    assert inherited == int(_last(guest)["threads"]) >= 100
    assert int(run_ok(guest, f"cat {PARAMETERS}/elections")) > inherited
    run_ok(guest, "rmmod heir")
    assert list(policies(guest)) == ["heir2"]


def test_same_name_and_by_saakmctl(guest, program):
    load_policy(guest, "heir")
    _crowd(guest, program, "heir", f"saakmctl replace heir {_heir2(guest)}", threads=30)
    assert policies(guest)["heir"].module == "heir2"


def test_pause_of_a_thousand_threads(guest, program):
    """While it is moved a thread cannot run: the limit is generous, the figure is for the note."""
    load_policy(guest, "heir")
    insert = f"insmod {_heir2(guest)} replaces=heir name=heir2"
    run_ok(
        guest,
        f"""
        saakmctl exec heir -- sh -c 'for i in $(seq 1000); do sleep infinity & done; sleep infinity' &
        until [ $(awk '$2 == "heir" {{ print $6 }}' /proc/saakm/policies) -ge 1000 ]; do sleep 0.2; done
        {insert}
        """,
        timeout=150,
    )
    last = _last(guest)
    print(
        f"{last['threads']} threads, longest pause {int(last['longest_pause_ns']) / 1e6:.3f} ms, "
        f"{int(last['total_ns']) / 1e6:.3f} ms in all"
    )
    assert int(last["threads"]) >= 1000
    assert int(last["longest_pause_ns"]) < 20_000_000
    run_ok(guest, "pkill sleep; true")


def test_refusal_changes_nothing_fails(guest, program):
    load_policy(guest, "heir")
    with pytest.raises(SaakmError):
        guest.load("fifo", "replaces=nobody")
    assert last_error(guest) == "load fifo: no policy is called nobody, to be replaced"
    refused = f"! insmod {_heir2(guest)} replaces=heir name=heir2 refuse=16 2>/dev/null"
    _crowd(guest, program, "heir", refused, threads=20)
    assert last_error(guest) == "load heir2: it refused to replace heir (-16)"
    assert {name: p.state for name, p in policies(guest).items()} == {"heir": "active"}


def test_who_asks_for_the_old_one_gets_the_new_one(guest, program):
    """By id: a script may have remembered it."""
    old = load_policy(guest, "heir")
    run_ok(guest, f"insmod {_heir2(guest)} replaces=heir name=heir2")
    run_ok(guest, f"saakmctl exec {old} -- sleep infinity & echo $! >/tmp/pid")
    until(
        lambda: "name heir2" in run_ok(guest, "cat /proc/$(cat /tmp/pid)/saakm"),
        10,
        "heir2's sleep",
    )
    run_ok(guest, "rmmod heir2")
    assert "policy 0" in run_ok(guest, "cat /proc/$(cat /tmp/pid)/saakm")
    assert guest.run(f"saakmctl exec {old} -- true").status
    run_ok(guest, "kill $(cat /tmp/pid)")


@pytest.mark.threads
def test_back_and_forth_under_load(guest, program):
    """Each replaces the other, again and again, while threads fork, sleep and die."""
    load_policy(guest, "heir")
    first = module_file(guest.kernel, "heir")
    there = f"insmod {_heir2(guest)} replaces=heir name=heir2 && rmmod heir"
    back = f"insmod {first} replaces=heir2 name=heir && rmmod heir2"
    rounds = f"for i in 1 2 3 4 5 6; do {there} && {back} || exit 1; done"
    _crowd(guest, program, "heir", rounds, threads=60)
    assert list(policies(guest)) == ["heir"]


@pytest.mark.parametrize(
    "old, new",
    [
        ("fifo", "rr"),
        ("vtime", "prio"),
        ("rr", "eevdf"),
        ("eevdf", "vtime"),
        ("shinjuku", "fifo"),
        ("fifo", "shinjuku"),
        (CENTRAL, "fifo"),
        ("fifo", CENTRAL),
        ("lavd", "eevdf"),
        ("vtime", PARTS),
    ],
)
def test_any_policy_replaces_any(guest, program, old, new):
    name = load_in_mode(guest, old)
    there = insmod(guest, new, f"replaces={name}")
    _crowd(guest, program, name, f"{there} && rmmod {name}", threads=40)
    assert list(policies(guest)) == [split(new)[0]]


def test_an_author_names_whom_it_replaces(guest, tmp_path):
    """In the policy itself; whoever loads it says nothing of it."""
    source = tmp_path / "after"
    source.mkdir()
    for name, text in policy_files("after", "fifo", shipped("fifo")).items():
        changed = text.replace("SAAKM_POLICY(after,", 'SAAKM_POLICY(after, .replaces = "fifo",')
        (source / name).write_text(changed)
        assert (changed != text) == (name == "after.c")
    build_modules(guest.kernel, sources=[source])
    load_policy(guest, "fifo")
    guest.load(source)
    assert ejected(guest)["fifo"].kind == "replaced"
    assert policies(guest)["after"].state == "active"
    guest.unload("after")
    guest.unload("fifo")
