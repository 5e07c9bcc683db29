# SPDX-License-Identifier: GPL-2.0
"""What threads of a workload do to each other and to the machine, as the simulator runs it."""

import json
import subprocess

import pytest

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe

MS = 1_000_000
START = 100 * MS


@pytest.fixture(scope="module")
def simulator():
    """vtime is `main`."""
    policies = [read_module(paths.POLICIES / name) for name in ("vtime", "rr")]
    return build(policies, Recipe(Kind.SANITIZE))


@pytest.fixture
def simulate(simulator, tmp_path):
    def simulate(text, *options, status=0):
        file = tmp_path / "program"
        file.write_text(text)
        command = [simulator, "for=1000000000", "check=1", *options, file]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert done.returncode == status, done.stderr
        if status:
            return done.stderr.removeprefix(f"{tmp_path}/")
        result = json.loads(done.stdout)
        return {one["name"]: one for one in result["groups"]} | {"all": result}

    return simulate


def program(groups, *declared):
    """`groups`: (POLICY, INSTANCES, NICE, CPUS, operations) by name. They begin at START, when all is quiet."""
    lines = ["saakm-program 1", *declared, "mark m"]
    lines += [f"group {n} {g[1]} {START} {g[0]} {g[2]} {g[3]} none" for n, g in groups.items()]
    for name, group in groups.items():
        lines += [f"program {name}", *group[4].split(", "), "end"]
    return "\n".join([*lines, ""])


def one(operations, *declared, policy="main"):
    return program({"g": (policy, 1, 0, "all", operations)}, *declared)


# --- priority inheritance ---


def inversion(kind):
    return program(
        {
            "low": ("main", 1, 0, 0, "lock l, run 10000000, unlock l"),
            "medium": ("rt:10", 1, 0, 0, "sleep 2000000, run 50000000"),
            "high": ("rt:50", 1, 0, 0, "sleep 1000000, mark_begin m now, lock l, mark_end m, unlock l"),
        },
        f"{kind} l 1",
    )  # fmt: skip


def test_who_holds_a_pimutex_runs_with_the_priority_of_who_waits(simulate):
    waited = {}
    for kind in ("mutex", "pimutex"):
        done = simulate(inversion(kind), "cpus=1")
        waited[kind] = done["high"]["marks"]["m"]["max_ns"]
    # What is left of the 10 ms when it comes after 1; and those of the medium one.
    assert 8.9 * MS < waited["pimutex"] < 9.1 * MS
    assert waited["mutex"] > 50 * MS


def test_through_a_chain_of_mutexes(simulate):
    chain = {
        "first": ("main", 1, 0, 0, "lock l[0], run 10000000, unlock l[0]"),
        "second": ("fair", 1, 0, 1, "lock l[1], sleep 100000, lock l[0], unlock l[0], unlock l[1]"),
        "medium": ("rt:10", 1, 0, 0, "sleep 2000000, run 50000000"),
        "high": ("rt:50", 1, 0, 1, "sleep 1000000, mark_begin m now, lock l[1], mark_end m, unlock l[1]"),
    }  # fmt: skip
    done = simulate(program(chain, "pimutex l 2"), "cpus=2")
    assert 8.9 * MS < done["high"]["marks"]["m"]["max_ns"] < 9.2 * MS


def test_the_most_urgent_one_has_it_next(simulate):
    wait = "sleep {}, mark_begin m now, lock l, mark_end m, run 1000000, unlock l"
    done = simulate(
        program(
            {
                "holder": ("main", 1, 0, 0, "lock l, run 10000000, unlock l"),
                "fair": ("fair", 1, 0, 1, wait.format(1_000_000)),
                "less": ("rt:10", 1, 0, 2, wait.format(2_000_000)),
                "more": ("rt:50", 1, 0, 3, wait.format(3_000_000)),
            },
            "pimutex l 1",
        ),
        "cpus=4",
    )
    ends = {
        name: at + done[name]["marks"]["m"]["max_ns"] // MS
        for name, at in (("fair", 1), ("less", 2), ("more", 3))
    }
    assert ends["more"] < ends["less"] < ends["fair"]


def test_a_circle_is_refused_where_a_wait_takes_its_mutex_again(simulate):
    """Else whoever locks one of them later follows the circle for ever, and the class is blamed."""
    circle = {
        "a": ("main", 1, 0, 0, "lock l[0], lock l[1], wait c l[0]"),
        "b": ("main", 1, 0, 1, "sleep 1000000, lock l[0], signal c, lock l[1]"),
        "c": ("main", 1, 0, 2, "sleep 10000000, lock l[0]"),
    }
    said = simulate(program(circle, "pimutex l 2", "cond c 1"), "cpus=4", status=2)
    assert "holder waits for what this thread holds" in said


def test_who_waits_for_another_priority_is_another_one(simulate):
    """The real-time thread waits as a fair one, and becomes urgent while it waits."""
    done = simulate(
        program(
            {
                "low": ("main", 1, 0, 0, "lock l, run 10000000, unlock l"),
                "medium": ("rt:10", 1, 0, 0, "sleep 2000000, run 50000000"),
                "late": ("fair", 1, 0, 1, "sleep 1000000, mark_begin m now, lock l, mark_end m, unlock l"),
                "helper": ("fair", 1, 0, 1, "sleep 3000000, set_policy_of late rt:50"),
            },
            "pimutex l 1",
        ),
        "cpus=2",
    )  # fmt: skip
    # The 10 ms, and 1 ms in which the medium one ran.
    assert 9.5 * MS < done["late"]["marks"]["m"]["max_ns"] < 10.5 * MS


def test_a_pimutex_of_who_ends_is_free(simulate):
    groups = {
        "holder": ("main", 1, 0, 0, "lock l, loop forever, run 1000000, end"),
        "killer": ("fair", 1, 0, 1, "sleep 5000000, kill holder"),
        "next": ("main", 1, 0, 2, "sleep 1000000, mark_begin m now, lock l, mark_end m, iteration"),
    }
    done = simulate(program(groups, "pimutex l 1"), "cpus=3")
    assert done["next"]["iterations"] == 1
    assert 3.9 * MS < done["next"]["marks"]["m"]["max_ns"] < 4.2 * MS


def test_a_condition_with_a_pimutex(simulate):
    groups = {
        "waiter": ("main", 3, 0, "all", "lock l, wait c l, run 1000000, unlock l, iteration"),
        "bell": ("rt:5", 1, 0, "all", "sleep 5000000, lock l, broadcast c, unlock l"),
    }
    done = simulate(program(groups, "pimutex l 1", "cond c 1"), "cpus=2")
    assert done["waiter"]["iterations"] == 3 and done["all"]["warnings"] == []


# --- cgroups ---


def test_a_cgroups_policy_takes_its_threads(simulate):
    # A slice of rr's is far shorter than one of fair's: who shares a CPU with another is preempted more often.
    groups = {
        "thread": ("fair", 2, 0, 0, "set_cgroup low, sleep 2000000, run 50000000"),
        "boss": ("fair", 1, 0, 1, "sleep 1000000, cgroup_policy top saakm:rr, sleep 20000000, getattr_of thread"),
    }  # fmt: skip
    declared = ("cgroup top 1 100 root", "cgroup low 1 100 top")
    moved = simulate(program(groups, *declared), "cpus=2", "rr.slice_us=100")
    groups["boss"] = ("fair", 1, 0, 1, "sleep 1000000, cgroup_policy top none")
    stays = simulate(program(groups, *declared), "cpus=2", "rr.slice_us=100")
    assert moved["thread"]["preemptions"] > 5 * max(1, stays["thread"]["preemptions"])


def test_vtime_goes_by_the_weights_of_cgroups(simulate):
    spin = "set_cgroup {}, loop forever, run 1000000, end"
    groups = {
        "light": ("main", 1, 0, 0, spin.format("light")),
        "heavy": ("main", 1, 0, 0, spin.format("heavy[1]")),
        "boss": ("fair", 1, 0, 1, "cgroup_policy light main, cgroup_policy heavy[1] main"),
    }
    declared = ("cgroup light 1 100 root", "cgroup heavy 2 300 root")
    done = simulate(program(groups, *declared), "cpus=2")
    assert 2.8 < done["heavy"]["run_ns"] / done["light"]["run_ns"] < 3.2
    groups["boss"] = (*groups["boss"][:4], groups["boss"][4] + ", cgroup_weight heavy[1] 100")
    done = simulate(program(groups, *declared), "cpus=2")
    assert 0.9 < done["heavy"]["run_ns"] / done["light"]["run_ns"] < 1.1


# --- CPUs, modules, others ---


def test_a_cpu_goes_and_comes(simulate):
    groups = {
        "thread": ("saakm:rr", 2, 0, "all", "run 100000000"),
        "boss": ("fair", 1, 0, 0, "sleep 10000000, cpu_offline 1, sleep 50000000, cpu_online 1"),
    }
    without = simulate(program(groups | {"boss": ("fair", 1, 0, 0, "run 1")}), "cpus=2")
    done = simulate(program(groups), "cpus=2")
    assert done["all"]["end_ns"] > without["all"]["end_ns"] + 20 * MS


def test_stolen_time_is_nobodys(simulate):
    groups = {
        "thread": ("main", 1, 0, 1, "mark_begin m now, run 10000000, mark_end m"),
        "boss": ("fair", 1, 0, 0, "sleep 2000000, steal 1 5000000"),
    }
    done = simulate(program(groups), "cpus=2")["thread"]
    assert 14.9 * MS < done["marks"]["m"]["max_ns"] < 15.2 * MS
    # A slice is 20 ms of a thread's own time: each ends in its first one, whatever is stolen.
    groups["thread"] = ("saakm:rr", 2, 0, 1, "run 20000000")
    for stolen in (0, 12):
        groups["boss"] = ("fair", 1, 0, 0, f"sleep 5000000, steal 1 {stolen * MS}")
        done = simulate(program(groups), "cpus=2", "rr.slice_us=20000")["thread"]
        assert (done["switches"], done["waits"]["max_ns"]) == (4, (20 + stolen) * MS)


def test_modules_go_and_come(simulate):
    boss = "sleep 5000000, {}, sleep 5000000, set_policy_of thread main, sleep 5000000"
    thread = ("main", 2, 0, "all", "run 30000000")
    groups = {"thread": thread, "boss": ("fair", 1, 0, "all", boss.format("reload main"))}
    done = simulate(program(groups))["all"]
    vtimes = [one for one in done["policies"] if one["name"] == "vtime"]
    assert [one["threads"] for one in vtimes] == [0, 2] or len(vtimes) == 2
    assert done["warnings"] == []
    groups["boss"] = ("fair", 1, 0, "all", boss.format("eject main"))
    done = simulate(program(groups))["all"]
    assert [one["ejected"]["kind"] for one in done["policies"] if one["ejected"]] == ["user"]
    assert any("sched_setattr was refused" in warning for warning in done["warnings"])


def test_any_is_each_policy_that_is_loaded(simulate):
    done = simulate(one("loop 20, set_policy any, run 1000, end, reload any, reload any"))
    assert done["all"]["warnings"] == [] and done["g"]["run_ns"] < 10 * MS
    assert len(done["all"]["policies"]) == 4


def test_others_are_changed_and_killed(simulate):
    groups = {
        "a": ("main", 2, 0, "all", "loop forever, run 1000000, end"),
        "b": ("main", 1, 0, 0, "loop forever, run 1000000, end"),
        "boss": ("fair", 1, 0, 1, "sleep 1000000, set_cpus_of a 0, set_nice_of a 19, set_cgroup_of a root,"
                 " sleep 500000000, kill a[1], kill a[7], sleep 1000000, kill a, kill b"),
    }  # fmt: skip
    done = simulate(
        program({n: (*g[:4], g[4].replace(",  ", ", ")) for n, g in groups.items()}), "cpus=2"
    )
    # nice 19 is 15 of 1024
    assert done["b"]["run_ns"] > 20 * done["a"]["run_ns"] > 0
    assert START + 500 * MS < done["all"]["end_ns"] < START + 510 * MS


def test_with_migration_disabled_a_thread_stays_where_it_is(simulate):
    pinned = "run 1000, migrate_disable, {} migrate_enable, iteration"
    groups = {
        "thread": ("main", 1, 0, "0-1", pinned.format("run 10000000,")),
        "boss": (
            "fair",
            1,
            0,
            2,
            "sleep 1000000, mark_begin m now, set_cpus_of thread 2, mark_end m",
        ),
    }
    done = simulate(program(groups), "cpus=3")
    assert 8.5 * MS < done["boss"]["marks"]["m"]["max_ns"] < 9.5 * MS
    assert done["thread"]["iterations"] == 1


def test_a_chance_is_taken_so_often(simulate):
    never, always = "chance 0, iteration, end", "chance 1000000, iteration, end"
    assert simulate(one(f"loop 100, {never}, end"))["g"]["iterations"] == 0
    assert simulate(one(f"loop 100, {always}, end"))["g"]["iterations"] == 100
    often = "loop 1000, chance 300000, pick 5, chance 500000, iteration, end, end, end"
    assert 100 < simulate(one(often))["g"]["iterations"] < 200


FAULTS = {
    "the last CPU": ("run 1, cpu_offline 1, cpu_offline 0", 9, "takes CPU 0 offline, which is the last"),
    "a CPU too far": ("run 1, cpu_online 2", 8, "names CPU 2: the machine has 2, from 0 on"),
    "a drawn one": ("pick 5, steal pick+2 1", 8, "the machine has 2, from 0 on"),
    "the root's weight": ("run 1, cgroup_weight root 5", 8, "changes the root cgroup"),
    "the root's policy": ("run 1, cgroup_policy root main", 8, "changes the root cgroup"),
    "a lock twice": ("lock l, lock l", 8, "locks a mutex that it holds"),
    "a lock of nobody": ("run 1, unlock l", 8, "unlocks a mutex that it does not hold"),
    "a wait without": ("run 1, wait c l", 8, "waits with a mutex that it does not hold"),
    "migration twice": ("migrate_disable, migrate_disable", 8, "disables migration, which it has"),
    "migration before": ("run 1, migrate_enable", 8, "enables migration, which it has not disabled"),
    "pinned": ("migrate_disable, cpu_offline 1", 8, "has migration disabled: a CPU that goes offline"),
}  # fmt: skip


@pytest.mark.parametrize("operations, line, said", FAULTS.values(), ids=FAULTS)
def test_what_only_the_run_can_see_is_a_fault_of_the_file(simulate, operations, line, said):
    text = one(operations, "pimutex l 1", "cond c 1")
    log = simulate(text, "cpus=2", status=2)
    assert log.startswith(f"program:{line}: thread 0 of group 'g' ") and said in log


def test_a_circle_of_pimutexes(simulate):
    take = "lock l[self], sleep 1000000, lock l[self+1]"
    log = simulate(program({"g": ("main", 2, 0, "all", take)}, "pimutex l 2"), "cpus=2", status=2)
    assert log.startswith("program:8: ") and "whose holder waits for what this thread holds" in log


def test_what_is_not_loaded_is_a_fault_of_the_file(simulate):
    for operation in ("eject saakm:x", "reload saakm:x", "cgroup_policy c saakm:x"):
        log = simulate(one(f"run 1, {operation}", "cgroup c 1 100 root"), status=2)
        assert log == "program:7: no policy is loaded that is called 'x'\n"
