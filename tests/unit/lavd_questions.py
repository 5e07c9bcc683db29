# SPDX-License-Identifier: GPL-2.0
"""What test_lavd_formulas.py asks of the formulas: all around each limit, and what chance brings.

Only what can occur: a weight is 1 to 10000, an average is no more than the greatest, and a thread
is at least as critical as the least of them. Where any value can, the largest of its type is there.
"""

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

from lavd_rules import CIRCUMSTANCES, MS, SECOND, lag_max, own_criticality, weight_factor

Asked = tuple[int, ...]

HOUR = 3600 * SECOND
YEARS = 2**60
U64_MAX = 2**64 - 1
WEIGHTS = (1, 2, 3, 15, 36, 99, 100, 101, 335, 1000, 1024, 4096, 8866, 9999, 10000)
ALL = (1 << CIRCUMSTANCES) - 1
# With the most that is inherited.
_CRITICAL = own_criticality(U64_MAX, U64_MAX, 0, weight_factor(10000, ALL))
MOST_CRITICAL = _CRITICAL + _CRITICAL // 4
CRITICALITIES = (9, 10, 361, 1000, _CRITICAL, MOST_CRITICAL - 1, MOST_CRITICAL)
RANGES = ((2, 8), (4, 4), (8, 8), (3, 5), (1, 1), (1, 8), (2, 2), (5, 7), (6, 16), (16, 32))
TOPOLOGIES = [(cores, *sizes) for cores in range(1, 65) for sizes in RANGES]
ON_OFF = (0, 1)


def around(*values: int) -> list[int]:
    return sorted({value + by for value in values for by in (-1, 0, 1) if value + by >= 0})


def _inherited() -> Iterator[Asked]:
    """Where inheriting begins, where it is an eighth, and where it is as much as is allowed."""
    for own in CRITICALITIES[:-2]:
        for above in around(0, 8, own // 8 * 8, own // 4 * 8, own // 4 * 8 + 8):
            giver = min(2 * own + above, 2 * MOST_CRITICAL)
            yield from ((own, giver // 2, giver - giver // 2), (own, giver, 0), (own, 0, giver))
        yield from ((own, 0, 0), (own, 0, own), (own, MOST_CRITICAL, MOST_CRITICAL))
        yield own, 2 * own - 1, 0


def _late_or_early() -> Iterator[Asked]:
    for most in map(lag_max, WEIGHTS):
        near = around(0, 1000, most // 2, most, most * 1023 // 1024, 2 * most, HOUR)
        yield from ((sign * lag, most) for lag in near for sign in (-1, 1))


def _waiting() -> Iterator[Asked]:
    for cpus in (1, 2, 3, 8, 64, 4096):
        for queued in around(0, cpus, 2 * cpus, 4577 * cpus, 1_000_000):
            yield queued, cpus


def _due() -> Iterator[Asked]:
    for clock in (0, 4577, HOUR, YEARS):
        for ahead in around(0, 2, 10 * MS, 10 * HOUR):
            yield from ((clock, clock + ahead, queued) for queued in (0, 1, 2, 3, 1000, 2**32))
        yield clock, clock // 2, 1


def _shared() -> Iterator[Asked]:
    """How many wait so that the slice is at, below or above the least and the most."""
    for least, most in ((MS // 2, 5 * MS), (1, 1), (5 * MS, 5 * MS), (100_000, 20 * MS)):
        for active in (1, 2, 8, 4096):
            limits = (10 * MS * active // most, 10 * MS * active // least)
            for queued in around(0, *limits):
                yield active, queued, least, most
        yield 0, 1, least, most


def _slices() -> Iterator[Asked]:
    for system in (MS // 2, MS // 2 + 1, MS, 5 * MS):
        runtimes = around(0, system, 2 * system, 500 * MS - MS // 2, 500 * MS) + [HOUR]
        compared = ((0, 0), (9, 10), (361, 361), (362, 361), (MOST_CRITICAL, 9), (1000, 100))
        for pinned, flags in product((0, 1, system, 5 * MS), product(ON_OFF, ON_OFF, ON_OFF)):
            for runtime, criticalities in product(runtimes, compared):
                yield (system, MS // 2, pinned, runtime, *criticalities, *flags)


def _thresholds() -> Iterator[Asked]:
    for most in (0, 1, 63, 64, 65, *CRITICALITIES):
        for average in sorted({0, most // 2, max(most - 64, 0), max(most - 1, 0), most}):
            yield from ((most, average, shift) for shift in (0, 1, 6, 12, 13, 31))


def _own() -> Iterator[Asked]:
    factors = [weight_factor(weight, how) for weight in (1, 100, 10000) for how in (0, 1, ALL)]
    frequencies = (0, 1, 1000, 99_999, 100_000, 100_001, SECOND, U64_MAX)
    runtimes = [*around(0, MS // 2, SECOND - MS // 2, SECOND), HOUR, U64_MAX]
    return product(frequencies, frequencies, runtimes, factors)


_SMALL = (*range(10), 63, 64, 65, 1000, SECOND, HOUR, 2**63, U64_MAX - 1, U64_MAX)
_STEPS = around(0, 64, 128, 512, 960, 1024)[:-1]
EDGES: dict[str, Callable[[], Iterator[Asked]]] = {
    "bits": lambda: ((n,) for n in around(*(2**k for k in range(64))) + [U64_MAX]),
    "mean": lambda: product(_SMALL, _SMALL),
    "rising_mean": lambda: product(_SMALL, _SMALL),
    "frequency": lambda: product(
        (0, 1, 7, 8, 9, 100_000, SECOND),
        [*around(0, 2, 8, 1000, MS, SECOND // 9, SECOND // 8, SECOND // 7, SECOND), HOUR, U64_MAX],
    ),
    "weight_factor": lambda: product(WEIGHTS, range(ALL + 1)),
    "own_criticality": _own,
    "criticality": _inherited,
    "lag_max": lambda: ((weight,) for weight in range(1, 10_001)),
    "penalty": _late_or_early,
    "deadline_delta": lambda: product(
        [*around(0, 5 * MS), HOUR, U64_MAX], (1024, 1025, 1536, 2047, 2048), CRITICALITIES
    ),
    "window": _waiting,
    "clock_step": _due,
    "system_slice": _shared,
    "slice": _slices,
    "boosted": _slices,
    "threshold": _thresholds,
    "normalized": lambda: (
        (n, most) for most in (0, 1, 2, *CRITICALITIES) for n in around(0, most // 2, most)
    ),
    "vulnerability": lambda: product(_STEPS, _STEPS),
    "split": lambda: iter(TOPOLOGIES),
    "part": lambda: (
        (nth, cores, size)
        for cores in range(1, 65)
        for size in range(1, cores + 1)
        for nth in range(cores)
    ),
}


def _up_to(random: Random, most: int) -> int:
    """Small ones as often as large ones."""
    return min(random.getrandbits(random.randint(0, most.bit_length())), most)


def _draw_slice(random: Random) -> Asked:
    least = 1 + _up_to(random, 5 * MS)
    system = least + _up_to(random, 20 * MS)
    runtime = random.choice((_up_to(random, HOUR), system + _up_to(random, 3 * system)))
    critical, average = (_up_to(random, MOST_CRITICAL) for _ in range(2))
    flags = (random.choice(ON_OFF) for _ in range(3))
    return (system, least, _up_to(random, 10 * MS), runtime, critical, average, *flags)


def _draw_penalty(random: Random) -> Asked:
    most = lag_max(random.randint(1, 10_000))
    return random.choice((-1, 1)) * _up_to(random, random.choice((most, 4 * HOUR))), most


def _draw_system_slice(random: Random) -> Asked:
    least = 1 + _up_to(random, 5 * MS)
    return _up_to(random, 4096), _up_to(random, 2**20), least, least + _up_to(random, 20 * MS)


def _draw_clock_step(random: Random) -> Asked:
    clock = _up_to(random, YEARS)
    return clock, max(clock + random.choice((-1, 1)) * _up_to(random, HOUR), 0), _up_to(random, 999)


def _draw_threshold(random: Random) -> Asked:
    most = _up_to(random, MOST_CRITICAL)
    return most, random.randint(0, most), random.randint(0, 31)


def _draw_split(random: Random) -> Asked:
    least = random.randint(1, 16)
    return random.randint(1, 512), least, least + random.randint(0, 64)


def _draw_part(random: Random) -> Asked:
    cores = random.randint(1, 512)
    return random.randrange(cores), cores, random.randint(1, cores)


def _draw_each(*most: int) -> Callable[[Random], Asked]:
    return lambda random: tuple(_up_to(random, each) for each in most)


def _not_below(least: int, at: int, draw: Callable[[Random], Asked]) -> Callable[[Random], Asked]:
    def drawn(random: Random) -> Asked:
        return tuple(max(n, least) if i == at else n for i, n in enumerate(draw(random)))

    return drawn


DRAWS: dict[str, Callable[[Random], Asked]] = {
    "bits": _draw_each(U64_MAX),
    "mean": _draw_each(U64_MAX, U64_MAX),
    "rising_mean": _draw_each(U64_MAX, U64_MAX),
    "frequency": _draw_each(SECOND, HOUR),
    "weight_factor": _not_below(1, 0, _draw_each(10_000, ALL)),
    "own_criticality": _draw_each(SECOND, SECOND, 2 * SECOND, weight_factor(10_000, ALL)),
    "criticality": _not_below(9, 0, _draw_each(_CRITICAL, MOST_CRITICAL, MOST_CRITICAL)),
    "lag_max": _not_below(1, 0, _draw_each(10_000)),
    "penalty": _draw_penalty,
    "deadline_delta": lambda random: (
        _up_to(random, 10 * MS),
        random.randint(1024, 2048),
        9 + _up_to(random, MOST_CRITICAL - 9),
    ),
    "window": _not_below(1, 1, _draw_each(2**32 - 1, 4096)),
    "clock_step": _draw_clock_step,
    "system_slice": _draw_system_slice,
    "slice": _draw_slice,
    "boosted": _draw_slice,
    "threshold": _draw_threshold,
    "normalized": _draw_each(MOST_CRITICAL, MOST_CRITICAL),
    "vulnerability": _draw_each(1024, 1024),
    "split": _draw_split,
    "part": _draw_part,
}


def drawn(function: str, how_many: int) -> list[Asked]:
    random = Random(function)
    return [DRAWS[function](random) for _ in range(how_many)]
