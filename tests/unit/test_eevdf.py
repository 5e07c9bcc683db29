# SPDX-License-Identifier: GPL-2.0
"""The policy eevdf keeps its invariants, and a version of it with a fault does not."""

import json
import shutil
import subprocess

import pytest

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe
from saakm.workload import registry
from saakm.workload.program_text import to_text

CHECKED = paths.REPO / "tests/unit/modules/lags"
WORKLOADS = ("", "hackbench", "churn", "lockheavy", "schbench", "forkjoin")
SETTINGS = (
    (),
    ("next_buddy=old",),
    ("next_buddy=new",),
    ("next_buddy=new", "force_preempt=1"),
    ("run_to_parity=0",),
    ("preempt_short=0", "delay_zero=0"),
    ("delay_dequeue=0",),
    ("place_lag=0", "place_rel_deadline=0", "place_deadline_initial=0"),
    ("base_slice_ns=100000",),
)


def build_one(source):
    return build([read_module(source)], Recipe(Kind.SANITIZE))


@pytest.fixture(scope="module")
def checked():
    return build_one(CHECKED)


@pytest.fixture(scope="module")
def plain():
    return build_one(paths.POLICIES / "eevdf")


def run(simulator, file, *settings, cpus=4, for_ns=200_000_000, seed=1, interleave=5):
    command = [
        simulator,
        f"cpus={cpus}",
        f"seed={seed}",
        f"for={for_ns}",
        f"interleave={interleave}",
        "check=1",
    ]
    done = subprocess.run([*command, *settings, file], capture_output=True, text=True, timeout=300)
    return done, json.loads(done.stdout) if done.stdout else {}


def program(tmp_path, text):
    file = tmp_path / "program"
    file.write_text(text)
    return file


@pytest.mark.parametrize("settings", SETTINGS, ids=" ".join)
def test_lag_is_kept_and_who_is_picked_is_eligible(checked, tmp_path, settings):
    given = [f"lags.{one}" for one in settings]
    for workload in WORKLOADS:
        for cpus in (1, 4):
            text = to_text(registry.load(workload, cpus)) if workload else UNLIKE
            file = program(tmp_path, text)
            done, result = run(checked, file, *given, cpus=cpus)
            assert (done.returncode, result.get("warnings")) == (0, []), (
                f"{workload} on {cpus} CPUs: {done.stderr}"
            )


@pytest.mark.parametrize("seed", [1, 2])
def test_parameters_change_at_any_time(checked, tmp_path, seed):
    """While a thread is between two CPUs, too."""
    file = program(tmp_path, to_text(registry.load("torture:modules=0", 4)))
    done, _ = run(checked, file, "lags.flips=1", "interleave=3", f"seed={seed}")
    assert done.returncode == 0, done.stderr


UNLIKE = """\
saakm-program 1
group heavy 6 0 main -20 all none
group light 3 0 main 19 all none
program heavy
loop forever
run exponential:900000
sleep exponential:900000
end
end
program light
loop forever
run exponential:20000000
sleep exponential:100000
end
end
"""


FAULTS = {
    "a thread that leaves still weighs": (
        "	eevdf_remove(c, t);\n}\n\nstatic void eevdf_forget_buddy",
        "}\n\nstatic void eevdf_forget_buddy",
    ),
    "time that is used does not count": ("	c->sum_vt += used_vt * t->weight;\n", ""),
    "the average is not rounded down": (
        "		sum_vt -= c->load - 1;\n",
        "		sum_vt += c->load;\n",
    ),
    "lag has no limit": (
        "	return clamp(lag_vt, -limit_vt, limit_vt);",
        "	return lag_vt + 0 * limit_vt;",
    ),
    "who is not eligible is picked": (
        "first_within(&core->rq, eevdf_average(c))",
        "first(&core->rq)",
    ),
    "who is ahead may sleep": (
        "	return delay_dequeue && !eevdf_eligible(core->data, event->data);",
        "	return false;",
    ),
    "who stayed gains": ("		t->lag_vt = min(t->lag_vt, 0);", "		;"),
    "a buddy may sleep": (
        "	eevdf_forget_buddy(core->data, event->task);\n	return delay_dequeue",
        "	return delay_dequeue",
    ),
    "a move forgets where it comes from": (
        "	eevdf_part(from->data, event->data, false);\n",
        "	eevdf_part(core->data, event->data, false);\n",
    ),
    "sums do not follow the new zero": (
        "	c->sum_vt -= (s64)(average_vt - c->zero_vt) * c->load;\n",
        "",
    ),
}


def build_broken(tmp_path, right, wrong):
    shutil.copytree(paths.POLICIES / "eevdf", tmp_path / "policies/eevdf")
    broken = shutil.copytree(CHECKED, tmp_path / "tests/unit/modules/lags")
    source = tmp_path / "policies/eevdf/eevdf.c"
    text = source.read_text()
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong))
    return build_one(broken)


@pytest.mark.parametrize(("right", "wrong"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found(tmp_path, right, wrong):
    """So what is checked above can fail."""
    simulator = build_broken(tmp_path, right, wrong)
    for text in (to_text(registry.load("hackbench", 4)), UNLIKE):
        file = program(tmp_path, text)
        for buddy in ("0", "old"):
            done, result = run(simulator, file, f"lags.next_buddy={buddy}")
            if done.returncode:
                assert "lags:" in done.stderr or "interval" in done.stderr or "UBSan" in done.stderr
                return
    pytest.fail("nothing was noticed")


# lags gives a thread of this name a slice of 0.1 ms.
SHORT = """\
saakm-program 1
timer alarm 1
mark woken
group hog 3 0 main 0 all none
group short 1 0 main 0 all none
program hog
loop forever
run 100000000
end
end
program short
loop {wakeups}
timer alarm {at} relative
mark_begin woken due
run 20000
mark_end woken
end
end
"""
# The hogs take turns of a tick, of 4 ms; in each third one, from 16 ms on, the one that runs is
# eligible for 2 ms, and its turn protected, while a request of 0.1 ms would end before it.
IN_A_TURN_NS = range(16_500_000, 18_000_001, 250_000)
BUDDIES = ("0", "old", "new")


def woken_ns(simulator, tmp_path, *settings, at, wakeups=1, for_ns=100_000_000):
    """ns from the moment that the short one is due until it has run, and what was complained of."""
    file = program(tmp_path, SHORT.format(at=at, wakeups=wakeups))
    given = [f"lags.{one}" for one in ("base_slice_ns=3000000", *settings)]
    done, result = run(simulator, file, *given, cpus=1, for_ns=for_ns, interleave=0)
    (short,) = (group for group in result["groups"] if group["name"] == "short")
    assert short["marks"]["woken"]["count"] == wakeups
    return short["marks"]["woken"]["max_ns"], done.stderr


@pytest.mark.parametrize("buddy", BUDDIES)
def test_a_slice_of_100_us_runs_at_once_among_hogs(checked, tmp_path, buddy):
    for at in IN_A_TURN_NS:
        assert woken_ns(checked, tmp_path, f"next_buddy={buddy}", at=at) == (20_000, ""), at


def test_the_commit_makes_it_run_at_once_whenever_it_wakes(checked, tmp_path):
    """It is the buddy, though another may have an earlier deadline, who went first until then."""
    moments_ns = range(8_000_000, 32_000_000, 500_000)
    new, old = (
        [woken_ns(checked, tmp_path, f"next_buddy={buddy}", at=at) for at in moments_ns]
        for buddy in ("new", "old")
    )
    assert set(new) == {(20_000, "")}
    assert {complaint for _, complaint in old} == {""} and max(old)[0] > 1_000_000


@pytest.mark.parametrize(
    "settings",
    [one for one in SETTINGS if not {"preempt_short=0", "base_slice_ns=100000"} & set(one)],
    ids=" ".join,
)
def test_a_short_slice_that_goes_first_never_waits(checked, tmp_path, settings):
    """At hundreds of moments, with its lag and others' requests as they come: by lags."""
    _, complaint = woken_ns(
        checked,
        tmp_path,
        *settings,
        at="uniform:5000000:50000000",
        wakeups=200,
        for_ns=20_000_000_000,
    )
    assert not complaint


def test_without_preempt_short_it_waits(checked, tmp_path):
    for at in IN_A_TURN_NS:
        waited_ns, complaint = woken_ns(checked, tmp_path, "preempt_short=0", at=at)
        assert waited_ns > 10_000_000 and "its slice is shorter" in complaint, at


# What lets it go first, and when that is missed.
WAITS = {
    "0": (
        "	if (eevdf_goes_before_long(core->data, eevdf_task(woken), r))\n"
        "		r->protected = false;\n",
        "",
        17_000_000,
    ),
    "new": (
        "			eevdf_set_buddy(c, woken);\n		return true;",
        "			;\n		return true;",
        9_000_000,
    ),
}


@pytest.mark.parametrize("buddy", WAITS)
def test_a_policy_that_makes_it_wait_is_found(tmp_path, buddy):
    right, wrong, at = WAITS[buddy]
    waited_ns, _ = woken_ns(
        build_broken(tmp_path, right, wrong), tmp_path, f"next_buddy={buddy}", at=at
    )
    assert waited_ns > 1_000_000


HOGS = """\
saakm-program 1
group heavy 1 0 main -5 all none
group light 1 0 main 5 all none
program heavy
loop forever
run 100000000
end
end
program light
loop forever
run 100000000
end
end
"""


def test_nice_values_share_as_in_the_kernel(plain, tmp_path):
    """Nice -5 to nice 5 is as 3121 to 335."""
    done, result = run(plain, program(tmp_path, HOGS), cpus=1, for_ns=20_000_000_000)
    assert not done.returncode, done.stderr
    used = {group["name"]: group["run_ns"] for group in result["groups"]}
    assert used["heavy"] / used["light"] == pytest.approx(3121 / 335, rel=0.01)


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("next_buddy=3", "next_buddy=3: it is 0, old (Linux 6.12) or new (6.19)"),
        ("base_slice_ns=99999", "base_slice_ns=99999: it is 100000 to 100000000"),
        ("base_slice_ns=x", "base_slice_ns=x: it is 100000 to 100000000"),
        ("run_to_parity=maybe", "run_to_parity=maybe"),
    ],
)
def test_a_bad_parameter_refuses_the_load_with_a_sentence(plain, tmp_path, setting, why):
    done, _ = run(plain, program(tmp_path, HOGS), f"eevdf.{setting}")
    assert done.returncode == 2 and why in done.stderr
