# SPDX-License-Identifier: GPL-2.0
"""Which run comes when: every round runs each scheduler once, in an order of its own.

What drifts meanwhile (the host's other work, caches, temperature) then drifts
for all of them alike.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ...model.workload import Variant
from .schedulers import Scheduler

WARM_UP = 0  # the number of the round that does not count


@dataclass(frozen=True)
class Run:
    variant: Variant
    scheduler: Scheduler
    round: int

    @property
    def counts(self) -> bool:
        return self.round != WARM_UP


def plan(
    variants: Sequence[Variant],
    schedulers: Sequence[Scheduler],
    rounds: int,
    warm_up: bool,
    seed: int,
) -> list[Run]:
    """Workload by workload: each gets a guest of its own."""
    runs = []
    for variant in variants:
        # Not one generator for all: a chosen workload has the same order alone and among others.
        shuffle = random.Random(f"{seed} {variant.workload} {variant.name}").shuffle
        for number in range(0 if warm_up else 1, rounds + 1):
            order = list(schedulers)
            shuffle(order)
            runs += [Run(variant, scheduler, number) for scheduler in order]
    return runs
