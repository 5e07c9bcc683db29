# SPDX-License-Identifier: GPL-2.0
"""Does what an experiment on costs says."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...base.progress import meter
from ...builder.policies import by_name
from ...model.cost import Row
from ...model.experiment import Cost
from . import axes
from .measure import Conditions, measure
from .operations import chosen_operations, chosen_schedulers, refuse_runnable
from .target import Target, find_target
from .where import Profile, profile

_CROWDED = ("yield", "crowd")  # what --runnable is for


@dataclass(frozen=True)
class Boot:
    """One scheduler, and what is measured under it."""

    scheduler: str
    operations: list[str]
    conditions: Conditions


@dataclass(frozen=True)
class Course:
    target: Target
    boots: list[Boot]
    seeds: list[int]

    @property
    def schedulers(self) -> list[str]:
        return list(dict.fromkeys(boot.scheduler for boot in self.boots))

    def beginning_with(self, scheduler: str) -> "Course":
        """The same, with this one first, which may not be among them yet."""
        first = replace(self.boots[0], scheduler=scheduler)
        others = [boot for boot in self.boots if boot.scheduler != scheduler]
        return replace(self, boots=[first, *others])


def prepare(spec: Cost, vmlinux: Path | None = None) -> Course:
    """Says what is wrong, and only then builds a kernel."""
    besides = by_name(spec.load)
    conditions = Conditions(spec.cpus, spec.runnable, spec.switches, tuple(besides), spec.scale)
    if spec.axis:
        return _along_axis(spec, conditions, besides, vmlinux)
    wanted = spec.op or (_CROWDED if spec.runnable else ())
    operations = chosen_operations(wanted, spec.cpus)
    target, schedulers = _target(spec.schedulers, besides, vmlinux)
    if spec.runnable:
        refuse_runnable(operations, schedulers)
    return Course(
        target, [Boot(name, operations, conditions) for name in schedulers], spec.all_seeds
    )


def _along_axis(
    spec: Cost, conditions: Conditions, besides: dict[str, Path | None], vmlinux: Path | None
) -> Course:
    axis = axes.chosen_axis(spec.axis)
    values = axes.chosen_values(axis, spec.values)
    most = axis.conditions(conditions, values[-1]).cpus
    operations = chosen_operations(spec.op or axis.operations, most)
    target, schedulers = _target(spec.schedulers or axis.schedulers, besides, vmlinux)
    points = axes.points(axis, values, schedulers, operations, conditions)
    return Course(target, [Boot(*point) for point in points], spec.all_seeds)


def _target(
    words: Sequence[str], besides: dict[str, Path | None], vmlinux: Path | None
) -> tuple[Target, list[str]]:
    named = by_name(words)
    directories = {name: path for name, path in (besides | named).items() if path}
    if named:
        chosen_schedulers([*named], patched=True, more=directories)
    target = find_target(vmlinux)
    more = directories if target.patched else ()
    return replace(target, directories=directories), chosen_schedulers(
        [*named], target.patched, more
    )


def rows(course: Course) -> list[Row]:
    found = []
    total = sum(len(boot.operations) for boot in course.boots) * len(course.seeds)
    with meter("measuring", total) as progress:
        for boot in course.boots:
            progress.describe(boot.scheduler)
            found += measure(
                course.target,
                boot.scheduler,
                boot.operations,
                boot.conditions,
                course.seeds,
                progress.advance,
            )
    return found


def profiles(course: Course) -> list[Profile]:
    """Returns the costs by function, of the first seed."""
    found = []
    pairs = [(operation, boot) for boot in course.boots for operation in boot.operations]
    pairs.sort(key=lambda pair: course.boots[0].operations.index(pair[0]))  # stable
    with meter("counting", len(pairs)) as progress:
        for operation, boot in pairs:
            progress.describe(f"{operation} {boot.scheduler}")
            found.append(
                profile(course.target, boot.scheduler, operation, boot.conditions, course.seeds[0])
            )
            progress.advance()
    return found
