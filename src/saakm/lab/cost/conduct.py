# SPDX-License-Identifier: GPL-2.0
"""Does what an experiment on costs says."""

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ...base.progress import meter
from ...builder import given
from ...builder.parameters import check_names, split
from ...builder.policies import by_name, find_policy, refuse_namesakes
from ...model.cost_rows import Row
from ...model.experiment import Cost
from ...vm import features
from . import axes
from .measure import Conditions, check_parameters, measure
from .operations import (
    apart,
    chosen_operations,
    chosen_schedulers,
    is_policy,
    measurable_operations,
    refuse_runnable,
)
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


@dataclass(frozen=True)
class _Wanted:
    """What an experiment names, before there is a kernel."""

    conditions: Conditions
    operations: list[str]
    schedulers: list[str]  # empty: all that the kernel can have
    directories: dict[str, Path]


def check(spec: Cost) -> None:
    """Says what is wrong with it, and builds nothing."""
    _wanted(spec)


def prepare(spec: Cost, kernel: str = "") -> Course:
    """Says what is wrong, and only then builds a kernel. `kernel`: what --kernel says."""
    if kernel:
        given.check(kernel)
    has_class = not kernel or given.has_class(kernel)
    wanted = _wanted(spec if has_class else _without_policies(spec))
    if kernel:
        _refuse_without_class(wanted, kernel)
    elif spec.features:
        features.refuse_without_ours("base")
    conditions = wanted.conditions
    target, schedulers = _target(wanted, kernel)
    for name in schedulers:
        check_parameters(target, name)
    operations = measurable_operations(wanted.operations, target.about, bool(spec.op))
    if spec.axis:
        axis = axes.chosen_axis(spec.axis)
        values = axes.chosen_values(axis, spec.values)
        points = axes.points(axis, values, schedulers, operations, conditions)
        return Course(target, [Boot(*point) for point in points], spec.all_seeds)
    if spec.runnable:
        refuse_runnable(operations, schedulers)
    return Course(
        target, [Boot(name, operations, conditions) for name in schedulers], spec.all_seeds
    )


def _wanted(spec: Cost) -> _Wanted:
    besides = by_name(spec.load)
    conditions = Conditions(
        spec.cpus,
        spec.runnable,
        spec.switches,
        tuple(besides),
        spec.scale,
        features=features.checked(spec.features),
    )
    usual: tuple[str, ...] = _CROWDED if spec.runnable else ()
    schedulers, most = spec.schedulers, spec.cpus
    if spec.axis:
        axis = axes.chosen_axis(spec.axis)
        largest = axes.chosen_values(axis, spec.values)[-1]
        usual, most = axis.operations, axis.conditions(conditions, largest).cpus
        schedulers = spec.schedulers or axis.schedulers
    operations = chosen_operations(spec.op or usual, most)
    named = [_named(word) for word in schedulers]
    directories = {apart(name)[0]: path for name, path in named if path}
    directories |= {name: path for name, path in besides.items() if path}
    names = list(dict.fromkeys(name for name, _ in named))
    if names:
        chosen_schedulers(names, patched=True, more=directories)
    ours = [(apart(name)[0], directory) for name, directory in named if is_policy(name)]
    refuse_namesakes([*besides.items(), *ours])
    for policy, parameters in map(apart, names):
        if parameters and (sources := directories.get(policy) or find_policy(policy)):
            check_names(parameters, sources)
    return _Wanted(conditions, operations, names, directories)


def _named(word: str) -> tuple[str, Path | None]:
    """What a scheduler is called, with its parameters, and the directory that it was named by."""
    plain, settings = split(word)
    [(name, directory)] = by_name([plain]).items()
    return ":".join([name, *settings]), directory


def _without_policies(spec: Cost) -> Cost:
    """What is measured along an axis where nobody names schedulers."""
    if not spec.axis or spec.schedulers:
        return spec
    axis = axes.chosen_axis(spec.axis)
    left = tuple(name for name in axis.schedulers if not is_policy(name))
    return msgspec.structs.replace(spec, schedulers=left or axis.schedulers)


def _refuse_without_class(wanted: _Wanted, kernel: str) -> None:
    conditions = wanted.conditions
    needed = [
        *(f"the policy '{name}'" for name in wanted.schedulers if is_policy(name)),
        *(f"the policy '{name}'" for name in conditions.besides),
        *(["--switches"] if conditions.switches else []),
    ]
    if needed:
        given.refuse_without_class(kernel, needed[0])


def _target(wanted: _Wanted, kernel: str) -> tuple[Target, list[str]]:
    target = find_target(kernel)
    more = wanted.directories if target.patched else ()
    chosen = chosen_schedulers(wanted.schedulers, target.patched, more, target.about.has_sched_ext)
    return replace(target, directories=wanted.directories), chosen


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
