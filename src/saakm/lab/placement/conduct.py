# SPDX-License-Identifier: GPL-2.0
"""Does what an experiment about placement says."""

import random
import re
from pathlib import Path

from ...base.progress import meter
from ...builder import kconfig
from ...model import experiment
from ...model.workload import Variant, Workload, load_all
from ...trace.cut import Cut, cut
from ...vm.options import VmOptions
from ...vm.topology import parse_topology
from ..bench import environment, packages, schedulers, store
from ..bench.columns import refuse_mixture
from ..bench.conduct import refuse_kernel
from ..bench.rounds import Run
from ..bench.runner import do_all
from ..bench.schedulers import Named, Scheduler
from ..bench.workloads import choose
from .machine import Machine
from .runner import Placed


def check(spec: experiment.Placement) -> None:
    """Says what is wrong with it, and builds nothing."""
    _choose(spec)
    _cut(spec)
    kconfig.fragments(spec.config)
    refuse_kernel(_machine(spec), schedulers.chosen(spec.schedulers), on_host=False)


def conduct(spec: experiment.Placement, out: Path) -> Placed:
    """Leaves a line a run in `out`, and goes on with what is there."""
    vm = _machine(spec)
    vm.check()  # what is refused leaves no directory
    workloads, variants = _choose(spec)
    chosen = schedulers.chosen(spec.schedulers)
    kept = store.Store(out)
    kept.begin(resume=True)
    wanted = [package for workload in workloads.values() for package in workload.packages]
    packages.ensure([*wanted, "trace-cmd"])
    policies = {named.name: named.directory for named in chosen if named.is_policy}
    place = Machine(vm, policies, _patches_code(chosen), _cut(spec), workloads.values())
    found = [schedulers.find(named, place.saakmctl) for named in chosen]
    bench = Placed(place, workloads, spec)
    planned = plan(spec, variants, found)
    refuse_mixture([*kept.runs(), *bench.frames(planned)])
    runs = bench.todo(planned, kept.done())
    try:
        if runs:
            place.check_settings(found)
            names = [named.label for named in chosen]
            kept.append(
                environment.describe(
                    place.kernel, place.machine, names, spec.seed, spec.config, place.linux
                )
            )
            with meter("running", len(runs)) as progress:
                do_all(bench, runs, kept.append, progress)
    finally:
        place.close()
    return bench


def plan(spec: experiment.Placement, variants: list[Variant], found: list[Scheduler]) -> list[Run]:
    """Seed by seed a guest; in it each scheduler once, in an order of its own, with all workloads."""
    runs = []
    for seed in spec.all_seeds:
        order = list(found)
        random.Random(str(seed)).shuffle(order)
        runs += [Run(variant, scheduler, seed) for scheduler in order for variant in variants]
    return runs


def _choose(spec: experiment.Placement) -> tuple[dict[str, Workload], list[Variant]]:
    """The number at the end of a variant's name may be another than the file's."""
    workloads: dict[str, Workload] = {}
    variants: list[Variant] = []
    for word in spec.workloads:
        known = load_all(points=re.findall(r"-(\d+)$", word))
        variants += [one for one in choose([word], known) if one not in variants]
        workloads |= {
            one.workload: known[one.workload] for one in variants if one.workload in known
        }
    return workloads, variants


def _cut(spec: experiment.Placement) -> Cut:
    return cut(parse_topology(spec.topology), spec.vllc)


def _machine(spec: experiment.Placement) -> VmOptions:
    return VmOptions(
        topology=spec.topology,
        memory=spec.memory,
        deterministic=True,
        seed=spec.seed,
        config=spec.config,
        kernel=spec.kernel,
    )


def _patches_code(chosen: list[Named]) -> bool:
    return any(named.name in schedulers.EXT for named in chosen)
