# SPDX-License-Identifier: GPL-2.0
"""The rules of scx_lavd 1.1.4 in exact integers, as a second opinion on policies/lavd/formulas.h.

Written from what that scheduler does, not from the header: who changes one of them shall not find
the same slip in both. Numbers here have no width, so what overflows in C differs.
"""

from collections.abc import Callable

MS = 1_000_000
SECOND = 1000 * MS
WHOLE = 1024
BONUS = MS // 2
LONGEST_BOOSTED = 500 * MS
LATENCY = 10 * MS
WINDOW = 300 * MS // 2**16
FREQUENT = 100_000
# By the bit's number, in the order of enum lavd_circumstance. An interrupt counts once: as a hard
# one if it was both.
WOKEN_BY_IRQ, WOKEN_BY_SOFTIRQ = 2, 3
BOOSTS = (128, 128, 1024, 512, 512, 256, 512, 128, 128, 256, 128)
CIRCUMSTANCES = len(BOOSTS)


def bits(value: int) -> int:
    return max(value.bit_length(), 1)


def _average(kept: int, added: int, one_in: int) -> int:
    """All but one part of `kept`, rounded up, and one part of `added`, rounded down."""
    if min(kept, added) < one_in:
        # Parts of numbers so small would be nothing, and 1 would stay for ever.
        if (kept, added) == (1, 0):
            return 0
        one_in = 2
    return -(kept * (one_in - 1) // -one_in) + added // one_in


def mean(old: int, new: int) -> int:
    return _average(old, new, 8)


def rising_mean(old: int, new: int) -> int:
    return _average(new, old, 4) if new > old else mean(old, new)


def frequency(old: int, interval: int) -> int:
    """Two events at the same time say nothing of how often they come."""
    return mean(old, SECOND // interval) if interval else old


def weight_factor(weight: int, how: int) -> int:
    bit_set = {bit for bit in range(CIRCUMSTANCES) if how >> bit & 1}
    if WOKEN_BY_IRQ in bit_set:
        bit_set.discard(WOKEN_BY_SOFTIRQ)
    return weight * (1 + sum(BOOSTS[bit] for bit in bit_set)) + 1


def own_criticality(waits: int, wakes: int, runtime: int, weight: int) -> int:
    frequent = (min(waits, FREQUENT) + 1) * (min(wakes, FREQUENT) + 1)
    short = max(SECOND - runtime, 0) // (MS // 2) + 1
    return (bits(frequent) + bits(short * weight)) ** 2


def criticality(own: int, from_waker: int, from_wakees: int) -> int:
    """An eighth of what the givers have above twice one's own, at most a quarter of one's own."""
    above = max(from_waker + from_wakees - 2 * own, 0)
    return own + min(above // 8, own // 4)


def lag_max(weight: int) -> int:
    return 500 * MS * 100 // weight


def penalty(lag: int, most: int) -> int:
    """1 for who is behind by the most allowed, 2 for who is ahead by it."""
    lag = max(-most, min(lag, most))
    return WHOLE + (most - lag) * WHOLE // most // 2


def deadline_delta(ran: int, factor: int, critical: int) -> int:
    return (5 * MS + min(ran, 5 * MS)) * factor // critical // WHOLE


def window(queued: int, cpus: int) -> int:
    return WINDOW * cpus // max(queued, cpus)


def clock_step(clock: int, deadline: int, queued: int) -> int:
    return max(deadline - clock, 0) // max(queued, 1)


def system_slice(active: int, queued: int, least: int, most: int) -> int:
    """All who wait run once within the latency, each on one of the active CPUs."""
    if not queued:
        return most
    return max(least, min(LATENCY * active // queued, most))


def slice_of(
    system: int,
    least: int,
    pinned: int,
    runtime: int,
    critical: int,
    average: int,
    pinned_wait: int,
    light: int,
    boosts: int,
) -> tuple[int, bool]:
    """How long, and whether it is boosted."""
    if pinned_wait and pinned:
        return min(pinned, system), False
    if not boosts or pinned_wait or runtime < system:
        return system, False
    if light:
        return max(least, min(runtime + BONUS, LONGEST_BOOSTED)), True
    if critical <= average:
        return system, False
    longer = system + system * critical // (average + 1)
    return min(max(longer, least), min(runtime, 2 * system)), True


def threshold(most: int, average: int, shift: int) -> int:
    return most - ((most - average) >> shift)


def normalized(critical: int, most: int) -> int:
    return min(critical, most) * WHOLE // most if most else 0


def vulnerability(of_whole: int, utilisation: int) -> int:
    return of_whole // 64 * 16 + utilisation // 64


def split(cores: int, least: int, most: int) -> int:
    """The first size that leaves no core over, or else the first that leaves fewest."""
    if cores <= least:
        return cores
    return min(range(least, most + 1), key=lambda size: cores % size)


def parts(cores: int, size: int) -> list[int]:
    """Of each core, in order of their numbers: whole groups, then what is left over."""
    whole = [group for group in range(cores // size) for _ in range(size)]
    return whole + [whole[-1]] * (cores - len(whole))


RULES: dict[str, Callable[..., int]] = {
    "bits": bits,
    "mean": mean,
    "rising_mean": rising_mean,
    "frequency": frequency,
    "weight_factor": weight_factor,
    "own_criticality": own_criticality,
    "criticality": criticality,
    "lag_max": lag_max,
    "penalty": penalty,
    "deadline_delta": deadline_delta,
    "window": window,
    "clock_step": clock_step,
    "system_slice": system_slice,
    "slice": lambda *given: slice_of(*given)[0],
    "boosted": lambda *given: slice_of(*given)[1],
    "threshold": threshold,
    "normalized": normalized,
    "vulnerability": vulnerability,
    "split": split,
    "part": lambda nth, cores, size: parts(cores, size)[nth],
}
