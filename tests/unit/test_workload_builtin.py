# SPDX-License-Identifier: GPL-2.0
"""The built-in workloads, their options, and what they do on a machine with CPUs enough."""

import ideal_machine
import pytest

from saakm.workload import program_text, registry
from saakm.workload.builtin import ALL
from saakm.workload.errors import BadWorkload

MS = 1_000_000


def run(written: str, cpus: int = 4, until_ns: int = 1_000 * MS) -> ideal_machine.Result:
    return ideal_machine.run(registry.load(written, cpus), until_ns)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("cpus", [1, 4, 1024, 4096])
def test_each_fits_each_machine(name, cpus):
    program = registry.load(name, cpus)
    assert program_text.parse_text(program_text.to_text(program), "FILE") == program


@pytest.mark.parametrize("name", ALL)
def test_each_says_what_it_is(name):
    one = ALL[name]
    assert one.name == name and one.what and one.source.endswith(".")
    assert one.options and all(option.what for option in one.options)
    assert one in registry.listing()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("end", ["low", "high"])
def test_each_option_works_to_its_limits(name, end):
    """Or is refused, where all together are too many."""
    for option in ALL[name].options:
        value = option.shown(getattr(option, end))
        try:
            program = registry.load(f"{name}:{option.name}={value}", 4)
        except BadWorkload as error:
            assert end == "high" and "there may be" in error.why
            continue
        assert program.threads


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"torture"}))  # which no ideal machine knows
def test_more_cpus_are_more_to_do(name):
    def work(cpus: int) -> int:
        return sum(run(name, cpus, 50 * MS).run_ns.values())

    assert work(16) > 1.9 * work(4)


def test_hackbench():
    result = run("hackbench:groups=2,fds=3,loops=5,cost=1us")
    assert result.iterations == {"senders": 2 * 3 * 5, "receivers": 2 * 3}
    assert len(result.marks["receivers", "delivery"]) == 2 * 3 * 3 * 5
    assert result.run_ns == {"senders": 90_000, "receivers": 90_000}
    # Senders write 15 messages one after the other; a receiver's last comes at the end.
    assert not result.asleep and 16_000 <= result.end_ns <= 18_000


def test_schbench():
    result = run("schbench:messengers=2,workers=3,think=2ms,sleep=3ms,rounds=4")
    assert result.iterations == {"messengers": 8, "workers": 24}
    # Each round is a sleep and a thought.
    assert result.end_ns == 4 * 5 * MS and not result.asleep
    assert set(result.marks["workers", "wakeup"]) == {0}


@pytest.mark.parametrize("load", [10, 70])
def test_bimodal(load):
    result = run(f"bimodal:load={load}", cpus=20, until_ns=200 * MS)
    done, capacity = sum(result.run_ns.values()), 20 * 200 * MS
    assert 0.95 < done / (capacity * load / 100) < 1.05
    long = result.iterations["long"] / (result.iterations["long"] + result.iterations["short"])
    assert 0.004 < long < 0.006
    # Whoever comes is served at once if there are threads enough.
    assert set(result.marks["short", "short"]) == {5_000}
    assert set(result.marks["long", "long"]) == {500_000}


def test_bimodal_of_one_kind():
    assert set(run("bimodal:long_ppm=0", until_ns=MS).threads) == {"short_clients", "short"}
    assert set(run("bimodal:long_ppm=1000000", until_ns=MS).threads) == {"long_clients", "long"}


def test_forkjoin():
    result = run("forkjoin:threads=5,work=1ms,imbalance=0,serial=50us,rounds=10")
    assert result.end_ns == 10 * 1_050_000
    assert result.iterations == {"master": 10, "members": 40}
    uneven = run("forkjoin:threads=5,work=1ms,imbalance=50,serial=0ns,rounds=10")
    assert 10 * MS < uneven.end_ns < 15 * MS
    assert run("forkjoin:threads=1,imbalance=0,rounds=1").end_ns == 1_050_000


@pytest.mark.parametrize("files, jobs", [(1, 1), (5, 5), (5, 9), (12, 5)])
def test_kernelbuild(files, jobs):
    result = run(f"kernelbuild:files={files},jobs={jobs},compile=4ms", until_ns=10_000 * MS)
    assert result.threads == {"make": 1, "gcc": files, "cc1": files, "as": files, "ld": 1}
    assert result.ended == result.threads and not result.asleep
    assert result.iterations["make"] == files
    assert len(result.marks["gcc", "file"]) == files


def test_kernelbuild_keeps_to_its_jobs():
    one = run("kernelbuild:files=20,jobs=1,compile=4ms", until_ns=10_000 * MS)
    everything = sum(one.run_ns.values())
    assert everything <= one.end_ns < everything + 20 * MS  # and waits for files
    assert (
        run("kernelbuild:files=20,jobs=20,compile=4ms", until_ns=10_000 * MS).end_ns
        < one.end_ns / 2
    )


def test_lockheavy():
    result = run("lockheavy:threads=8,locks=1,inside=10us,outside=1us,rounds=50")
    assert result.iterations == {"threads": 400} and not result.asleep
    # The lock is what all wait for.
    assert 400 * 10_000 <= result.end_ns < 400 * 10_000 + 100_000
    alone = run("lockheavy:threads=8,locks=1000,inside=10us,outside=1us,rounds=50")
    assert alone.end_ns < result.end_ns / 4


def test_herd():
    result = run("herd:threads=10,period=1ms,inside=1us,work=10us,rounds=5")
    assert result.iterations == {"waker": 5, "herd": 50}
    assert result.end_ns == 5 * MS + 10 * 1_000 + 10_000
    assert result.asleep == ["herd"] * 10


@pytest.mark.parametrize(
    "written, what",
    [
        ("hackbench:group=1", "no such option"),
        ("hackbench:", None),
        ("hackbench:groups", "a whole number"),
        ("hackbench:groups=", "a whole number"),
        ("hackbench:groups=0", "from 1 to"),
        ("hackbench:groups=-1", "a whole number"),
        ("hackbench:groups=1.5", "a whole number"),
        ("hackbench:groups=1000000000", "from 1 to"),
        ("hackbench:groups=1000000000000000000000", "a whole number"),
        ("hackbench:groups=1us", "a whole number"),
        ("hackbench:groups=1,groups=2", "there twice"),
        ("hackbench:groups=1,,loops=1", "no such option"),
        ("hackbench:cost=5", "a number and ns"),
        ("hackbench:cost=0", None),
        ("hackbench:cost=5h", "a number and ns"),
        ("hackbench:cost=101s", "from 0ns to 100s"),
        ("hackbench:groups=1024,fds=100", "16,000,000"),
        ("hackbanch", "neither a file nor built in"),
        ("", "neither a file nor built in"),
        ("no/such.json", "No such file"),
        ("/", "it is a directory"),
    ],
)
def test_what_is_written_wrong_is_refused(written, what):
    if what is None:
        assert registry.load(written, 4).threads
        return
    with pytest.raises(BadWorkload) as caught:
        registry.load(written, 4)
    assert what in f"{caught.value.what} {caught.value.why}"
    assert caught.value.status == 2 and caught.value.next_step


def test_a_mistyped_name_is_told_the_right_one():
    with pytest.raises(BadWorkload) as caught:
        registry.load("hackbanch", 4)
    assert caught.value.next_step == "did you mean hackbench?"


def test_files_are_found_by_their_ending(tmp_path):
    text = tmp_path / "hackbench"
    text.write_text(program_text.to_text(registry.load("herd", 4)))
    assert registry.load(str(text), 4) == registry.load("herd", 4)
    json = tmp_path / "some.json"
    json.write_text('{"tasks": {"t": {"run": 5}}}')
    assert registry.load(str(json), 4).groups[0].name == "t"
