# SPDX-License-Identifier: GPL-2.0
"""The rules of the policy shinjuku, to the microsecond, in a machine without costs; and a version with a fault."""

import json
import subprocess

import pytest
from call import saakm

from saakm.base import paths
from saakm.sim.build import build
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Kind, Recipe
from saakm.workload import registry
from saakm.workload.program_text import to_text

SHINJUKU = paths.POLICIES / "shinjuku"
CENTRAL = ("shinjuku.mode=central",)


def build_one(source):
    return build([read_module(source)], Recipe(Kind.SANITIZE))


@pytest.fixture(scope="module")
def shinjuku():
    return build_one(SHINJUKU)


def run(simulator, directory, text, *settings, cpus=4, ns=2_000_000):
    """A machine of one cache, whose costs are nil; the groups by name."""
    file = directory / "program"
    file.write_text(text)
    machine = [f"cpus={cpus}", f"llc={cpus}", f"node={cpus}", "smt=1", "check=1", "costs=free"]
    command = [simulator, *machine, f"for={ns}", *settings, file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["warnings"] == []
    return {group["name"]: group for group in result["groups"]}


HOGS = """\
saakm-program 1
group hog 2 0 main 0 all none
program hog
loop forever
run 1000000
end
end
"""


def test_two_hogs_alternate_every_10_us(shinjuku, tmp_path):
    slices = 10_000
    hog = run(shinjuku, tmp_path, HOGS, "shinjuku.slice_us=10", cpus=1, ns=slices * 10_000)["hog"]
    assert hog["preemptions"] == slices
    assert hog["waits"]["max_ns"] == 10_000


# CPU 3 is held for 1 ms, which is less than from one balancing to the next. Then it takes whoever
# is first in the longest queue, that of CPU 1.
QUEUES = """\
saakm-program 1
group holds 1 0 main 0 3 none
group other 1 0 main 0 0 none
group two 2 100000 main 0 2 none
group three 3 100000 main 0 1 none
program holds
run 1000000
end
program other
loop forever
run 1000000
end
end
program two
set_cpus 2-3
loop forever
run 1000000
end
end
program three
set_cpus 1,3
loop forever
run 1000000
end
end
"""


def test_a_cpu_that_runs_dry_takes_from_the_longest_queue(shinjuku, tmp_path):
    groups = run(shinjuku, tmp_path, QUEUES)
    assert groups["three"]["run_ns"] > 2_800_000 > 2_000_000 > groups["two"]["run_ns"]


def waits_of_short_ones(simulator, tmp_path, *settings):
    """Half of what the machine can serve; us."""
    text = to_text(registry.load("bimodal:load=50", 4))
    groups = run(simulator, tmp_path, text, *settings, ns=200_000_000)
    return groups["short"]["marks"]["short"]["p99_ns"] / 1000


def test_short_requests_do_not_wait_for_long_ones(shinjuku, tmp_path):
    """Three of four CPUs are left with a dispatcher: it takes shorter slices to be better all the same."""
    fifo = waits_of_short_ones(build_one(paths.POLICIES / "fifo"), tmp_path)
    assert waits_of_short_ones(shinjuku, tmp_path) < fifo / 4
    assert waits_of_short_ones(shinjuku, tmp_path, "shinjuku.slice_us=5", *CENTRAL) < fifo / 1.2


def test_the_page_s_command_prints_what_the_page_names():
    done = saakm(
        "sim", "shinjuku", "--workload", "bimodal:load=50", "--rate", "3000", "--for", "20ms",
        "--param", "mode=central", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    marks = {g["name"]: g["marks"].get(g["name"]) for g in json.loads(done.stdout)["groups"]}
    assert 5000 < marks["short"]["p50_ns"] <= marks["short"]["p99_ns"] <= marks["short"]["p999_ns"]
    assert marks["long"]["p50_ns"] > 500_000


# --- nobody starves ---

# Two wake each other, and neither ever runs for a slice.
PAIR = """\
saakm-program 1
pipe there 1 1
pipe back 1 1
group hog 1 0 main 0 0 none
group ping 1 0 main 0 0 none
group pong 1 0 main 0 0 none
program hog
loop forever
run 1000000
end
end
program ping
loop forever
send there 1 now
run 5000
receive back 1
end
end
program pong
loop forever
receive there 1
run 5000
send back 1 now
end
end
"""


def test_those_who_wake_leave_the_others_a_slice_now_and_then(shinjuku, tmp_path):
    """At the least one of 30 us in 10 ms."""
    groups = run(shinjuku, tmp_path, PAIR, cpus=1, ns=1_000_000_000)
    assert groups["hog"]["run_ns"] > 99 * 30_000
    assert groups["hog"]["waits"]["max_ns"] < 11_000_000


def taken(policy: str, cpus, mine: str) -> str:
    """Hogs of another class, one on each of these CPUs, and two of this policy."""
    hogs = [f"h{cpu}" for cpu in cpus]
    groups = "".join(f"group h{cpu} 1 0 {policy} 0 {cpu} none\n" for cpu in cpus)
    programs = "".join(
        f"program {name}\nloop forever\n{{}}run 1000000\nend\nend\n" for name in hogs
    )
    return (
        f"saakm-program 1\ngroup mine 2 0 main 0 all none\n{groups}{programs.format(*[''] * len(hogs))}"
        f"program mine\nset_cpus {mine}\nloop forever\nrun 100000\nsleep 1000000\nend\nend\n"
    )


@pytest.mark.parametrize("policy", ["fair", "rt:10"])
@pytest.mark.parametrize("cpus, mine", [((0, 1, 2), "0-3"), ((2,), "2-3")])
def test_the_dispatcher_makes_way_where_it_has_no_cpu_to_give(
    shinjuku, tmp_path, policy, cpus, mine
):
    """Its own is left to them for every other slice."""
    text = taken(policy, cpus, mine)
    groups = run(shinjuku, tmp_path, text, *CENTRAL, ns=210_000_000)
    assert groups["mine"]["run_ns"] > 10_000_000, groups["mine"]


# From the very beginning, so that the dispatcher cannot get to its own CPU.
TAKEN_HOME = """\
saakm-program 1
group hog 1 0 rt:99 0 3 none
group mine 2 0 main 0 all none
program hog
loop forever
run 1000000
end
end
program mine
loop forever
run 1000000
end
end
"""


def test_the_dispatcher_does_not_wait_for_its_cpu(shinjuku, tmp_path):
    groups = run(shinjuku, tmp_path, TAKEN_HOME, *CENTRAL, ns=100_000_000)
    assert groups["mine"]["run_ns"] > 190_000_000


# CPU 2 is held, and so is who may run nowhere else, the first of all for ever.
BOUND = """\
saakm-program 1
group holds 1 0 rt:10 0 2 none
group bound 1 0 main 0 2 none
group hog 3 0 main 0 0 none
group sleeper 1 0 main 0 0 none
program holds
loop forever
run 1000000
end
end
program bound
loop forever
run 1000000
end
end
program hog
set_cpus 0-3
loop forever
run 1000000
end
end
program sleeper
set_cpus 0-3
loop forever
run 10000
sleep 1000000
end
end
"""


def test_who_cannot_be_served_does_not_keep_those_who_wake_from_a_cpu(shinjuku, tmp_path):
    """They wait with the dispatcher, where the hogs' queues come before, and go before hogs."""
    groups = run(shinjuku, tmp_path, BOUND, *CENTRAL, ns=20_000_000)
    assert groups["bound"]["run_ns"] < 10_000
    assert groups["sleeper"]["run_ns"] > 15 * 10_000, groups["sleeper"]


# --- memory ---

# Each time they wake, three CPUs idle; and now the one is first, now the other.
SLEEPERS = """\
saakm-program 1
group a 1 0 main 0 all none
group b 1 0 main 0 all none
program a
loop forever
run 100000
sleep 1000000
end
end
program b
loop forever
run 100000
sleep 700000
end
end
"""


def test_the_dispatcher_gives_a_thread_the_cpu_where_it_ran_last(shinjuku, tmp_path):
    """A millisecond it would cost to run elsewhere, in a machine in which nothing else costs anything."""
    costs = tmp_path / "costs"
    costs.write_text("migration_llc 1000000\n")
    groups = run(shinjuku, tmp_path, SLEEPERS, *CENTRAL, f"costs={costs}", ns=100_000_000)
    # The first time they run where they did not begin.
    assert 8_000_000 < groups["a"]["run_ns"] <= 91 * 100_000 + 1_000_000
    assert 11_000_000 < groups["b"]["run_ns"] <= 125 * 100_000 + 1_000_000
