# SPDX-License-Identifier: GPL-2.0
"""What scx_lavd says of its threads is what policies/lavd/formulas.h makes of the same inputs.

tests/lavd-samples has recorded them. A sample has a thread's criticality and slice, and most of
what they are computed from, but not in which circumstances it was queued, nor what it inherited: so
the formulas are asked for all that there can be of a thread of its kind, and one must be the
sample's.

How strong is that? Of the values from 1 to 5,000 a sample allows 5 or 6 without inheritance
(0.11 %), and 14 % with, for from its own to 5/4 of it each is possible. But 98.8 % of the samples
have one that is possible without, and the test wants 98 %.
"""

import lzma
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path

import pytest
from lavd_rules import MS
from test_lavd_formulas import HEADER, QUICK, Asked, ask, compiled

DATA = Path(__file__).parent / "data" / "lavd-samples.txt.xz"
# enum lavd_circumstance
WOKEN, SYNC, BY_IRQ, BY_SOFTIRQ, BY_RT, KTHREAD, KSOFTIRQD, KWORKER, AFFINE, PINNED, LOCKED = (
    1 << bit for bit in range(11)
)
LASTING = {"user": 0, "kthread": KTHREAD, "kworker": KTHREAD | KWORKER,
           "ksoftirqd": KTHREAD | KSOFTIRQD}  # fmt: skip
PLACES = {"all": 0, "some": AFFINE, "one": AFFINE | PINNED}
# sched_prio_to_weight, of nice -20 to 19.
LINUX_WEIGHTS = (
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
)  # fmt: skip
LEAST, MOST = MS // 2, 5 * MS
VALUES = 5000
CPUS = 4


@dataclass(frozen=True)
class Sample:
    kind: str
    place: str
    comm: str
    status: str
    slice: int
    criticality: int
    average: int
    priority: int
    runtime: int
    waits: int
    wakes: int

    @property
    def weight(self) -> int:
        """sched_ext's: 100 of Linux's 1024, rounded."""
        return max((LINUX_WEIGHTS[self.priority] * 100 + 512) // 1024, 1)

    def circumstances(self) -> Iterator[int]:
        """All in which it can have been queued. Who wakes a user's thread is none of RT's here."""
        by_whom = (0, BY_IRQ, BY_SOFTIRQ)
        by_rt, locked = ((0, 0), (0, LOCKED)) if self.kind == "user" else ((0, BY_RT), (0, 0))
        always = LASTING[self.kind] | PLACES[self.place]
        for parts in product((0, WOKEN), (0, SYNC), by_whom, set(by_rt), set(locked)):
            yield always | sum(parts)


def read() -> tuple[list[Sample], list[tuple[int, ...]]]:
    """The samples; of each second how many waited, and sums of turns and of preemptions."""
    lines = [line.split() for line in lzma.decompress(DATA.read_bytes()).decode().splitlines()]
    seconds = [tuple(map(int, line[1:])) for line in lines if line[0] == "sys"]
    found = []
    for line in lines[len(seconds) :]:
        kind, place, _, comm, status, _, _, *numbers = line
        slice_ns, critical, average, priority, _, runtime, waits, wakes = map(int, numbers[:8])
        found.append(Sample(kind, place, comm, status, slice_ns, critical, average, priority,
                            runtime, waits, wakes))  # fmt: skip
    return found, seconds


SAMPLES, SECONDS = read()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(QUICK, HEADER, tmp_path_factory.mktemp("formulas"))


def own(program: Path) -> list[set[int]]:
    """Of each sample: what its criticality can be if it inherits nothing."""
    ways = [(sample, how) for sample in SAMPLES for how in sample.circumstances()]
    factors = ask(program, "weight_factor", ((sample.weight, how) for sample, how in ways))[0]
    asked = dict.fromkeys(
        (sample.waits, sample.wakes, sample.runtime, factor)
        for (sample, _), factor in zip(ways, factors)
    )
    answers = dict(zip(asked, ask(program, "own_criticality", asked)[0]))
    found: dict[int, set[int]] = {id(sample): set() for sample in SAMPLES}
    for (sample, _), factor in zip(ways, factors):
        key = (sample.waits, sample.wakes, sample.runtime, factor)
        found[id(sample)].add(answers[key])
    return [found[id(sample)] for sample in SAMPLES]


def most_inherited(program: Path, values: set[int]) -> dict[int, int]:
    ordered = sorted(values)
    return dict(
        zip(ordered, ask(program, "criticality", ((n, VALUES, VALUES) for n in ordered))[0])
    )


def test_there_are_samples_of_all_kinds():
    assert len(SAMPLES) >= 1000
    assert {sample.kind for sample in SAMPLES} == LASTING.keys()
    assert {0, 19, -10} <= {sample.priority - 20 for sample in SAMPLES}
    assert any(sample.place == "one" and sample.kind == "user" for sample in SAMPLES)
    assert len({sample.criticality for sample in SAMPLES}) >= 40


def test_each_criticality_is_one_that_the_formulas_allow(program):
    sets = own(program)
    most = most_inherited(program, set().union(*sets))
    exact, inherited, others = 0, 0, []
    for sample, allowed in zip(SAMPLES, sets):
        if sample.criticality in allowed:
            exact += 1
        elif any(one < sample.criticality <= most[one] for one in allowed):
            inherited += 1
        else:
            others.append((sample, sorted(allowed)))
    assert others == []
    assert exact > 0.98 * len(SAMPLES), (exact, inherited)
    assert inherited >= 20


def test_how_much_that_says(program):
    """Of all values, how many would pass?"""
    sets = own(program)
    most = most_inherited(program, set().union(*sets))
    alone = sum(map(len, sets)) / len(sets) / VALUES
    passing = (
        len(set().union(*(range(one, most[one] + 1) for one in allowed))) for allowed in sets
    )
    assert alone < 0.0015
    assert sum(passing) / len(sets) / VALUES < 0.15


def systems_of(group: list[Sample]) -> list[int]:
    """What the system's slice can be where threads have these: theirs, or half of a boosted one."""
    slices = {sample.slice for sample in group}
    both = {one for slice_ns in slices for one in (slice_ns, slice_ns // 2)}
    return sorted({one for one in both if LEAST <= one <= MOST} | {MOST})


def explained(program: Path, groups: list[list[Sample]]) -> list[list[list[bool]]]:
    """By group, and by each slice that the system's can be: can each sample have its own?"""
    ways = list(product((0, 1), (0, 1)))  # pinned threads wait; few enough wait
    asked: list[Asked] = [
        (system, LEAST, MOST, sample.runtime, sample.criticality, sample.average, *way, 1)
        for group in groups
        for system in systems_of(group)
        for sample in group
        for way in ways
    ]
    answers = iter(ask(program, "slice", asked)[0])
    return [
        [
            [sample.slice in {next(answers) for _ in ways} for sample in group]
            for _ in systems_of(group)
        ]
        for group in groups
    ]


def changes(systems: list[list[bool]]) -> int:
    """How often the system's slice has changed within a group; 2 if once does not explain it."""
    if any(map(all, systems)):
        return 0
    before = max(([*fits, False].index(False) for fits in systems), default=0)
    return 1 if any(all(fits[before:]) for fits in systems) else 2


def test_each_slice_is_one_that_the_formulas_allow(program):
    """The system's slice and the average criticality are found together, each 10 ms.

    So one slice must explain all samples in a row that have the same average, or two if an average
    was the same again. That of who is alone in a row is explained by itself if it is within the
    limits: it says little, and few are.
    """
    groups = [list(group) for _, group in groupby(SAMPLES, lambda sample: sample.average)]
    counts = Counter(map(changes, explained(program, groups)))
    assert counts.keys() <= {0, 1} and counts[1] <= 0.01 * len(groups), counts
    assert sum(len(group) == 1 for group in groups) < 0.05 * len(SAMPLES)
    assert sum(sample.slice > MOST for sample in SAMPLES) >= 100


CRITICALITIES = test_each_criticality_is_one_that_the_formulas_allow
SLICES = test_each_slice_is_one_that_the_formulas_allow
# A line of each formula that decides what was seen: of inheritance its limit, and not what a hard
# interrupt adds, for a soft one and a wakeup that is synchronous give the same number of bits.
MUTANTS = [
    ("lavd_bits(wait * wake) +", "lavd_bits(wait + wake) +", CRITICALITIES),
    ("(u32)LAVD_RUNTIME_UNIT_NS", "(u32)LAVD_SLICE_BOOST_MAX_NS", CRITICALITIES),
    ("return bits * bits", "return bits * bits + bits", CRITICALITIES),
    ("LAVD_BOOST_REGULAR\t128", "LAVD_BOOST_REGULAR\t32", CRITICALITIES),
    ("LAVD_BOOST_MEDIUM\t256", "LAVD_BOOST_MEDIUM\t2560", CRITICALITIES),
    ("LAVD_BOOST_HIGH\t\t512", "LAVD_BOOST_HIGH\t\t8192", CRITICALITIES),
    ("return weight * boost + 1", "return boost + 1", CRITICALITIES),
    ("own >> 2", "own >> 5", CRITICALITIES),
    ("in->criticality <= in->average", "in->criticality > in->average", SLICES),
    ("in->average + 1", "2 * in->average", SLICES),
    ("in->runtime_ns < in->system_ns", "in->runtime_ns > in->system_ns", SLICES),
    ("min3(more, in->runtime_ns, ", "min3(more, more, ", SLICES),
    ("2 * in->system_ns", "3 * in->system_ns", SLICES),
    ("in->runtime_ns + LAVD_SLICE_BONUS_NS", "in->runtime_ns", SLICES),
]


@pytest.mark.parametrize(("right", "wrong", "test"), MUTANTS)
def test_mutant_is_noticed(tmp_path, right, wrong, test):
    text = HEADER.read_text()
    assert text.count(right) == 1, f"{HEADER.name} has changed: give this another mutant"
    (tmp_path / HEADER.name).write_text(text.replace(right, wrong))
    with pytest.raises(AssertionError, match="assert"):
        test(compiled(QUICK, tmp_path / HEADER.name, tmp_path))


def test_most_have_had_more_than_the_average():
    """What it has served is a sum, and the average is of turns: so nearly nobody may preempt."""
    greedy = sum(sample.status[3] == "G" for sample in SAMPLES)
    users = [sample for sample in SAMPLES if sample.kind == "user"]
    assert greedy > 0.98 * len(SAMPLES)
    assert sum(sample.status[3] == "E" for sample in users) <= 0.001 * len(users)


def test_none_is_preempted():
    """Its count has 1 for each look at a CPU, each 10 ms, under high load: that is all of it."""
    before, after = SECONDS[:-1], SECONDS[1:]
    assert len(after) >= 4
    assert all(now[2] - then[2] <= CPUS * 100 * 1.1 for then, now in zip(before, after))
