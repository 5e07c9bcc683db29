# SPDX-License-Identifier: GPL-2.0
"""Does what an experiment with applications says."""

from pathlib import Path

from ...base.progress import meter
from ...builder import kconfig, peers
from ...model import experiment
from ...model.results import RunRecord
from ...model.workload import Variant, Workload, load_all
from ...vm.options import VmOptions
from ...vm.topology import parse_topology
from . import environment, packages, schedulers, store
from .in_guest import InGuest
from .on_host import OnHost
from .rounds import plan
from .runner import Bench, do_all
from .workloads import choose


def check(spec: experiment.Bench) -> None:
    """Says what is wrong with it, and builds nothing."""
    choose(spec.workloads, load_all())
    schedulers.chosen(spec.schedulers)
    kconfig.fragments(spec.config)
    if spec.topology:
        parse_topology(spec.topology)


def conduct(
    spec: experiment.Bench, vm: VmOptions, out: Path, resume: bool, on_host: bool = False
) -> Bench:
    """Leaves a line a run in `out`. Of `vm` counts what `spec` does not say."""
    known = load_all()
    variants = choose(spec.workloads, known)
    chosen = schedulers.chosen(spec.schedulers)
    names = list(chosen)
    kept = store.Store(out)
    kept.begin(resume)
    packages.ensure(_packages(variants, known, spec.latency))
    policies = {
        name: directory
        for name, directory in chosen.items()
        if name != schedulers.EEVDF and name not in peers.OURS
    }
    ext = any(name in peers.OURS for name in names)
    place = OnHost(policies) if on_host else InGuest(vm, policies, ext)
    found = [schedulers.find(name, path, place.saakmctl) for name, path in chosen.items()]
    bench = Bench(place, known, spec.latency, spec.boot_each)
    planned = plan(variants, found, spec.rounds, spec.warm_up, spec.seed)
    runs = bench.todo(planned, kept.done())
    try:
        if runs:
            kept.append(
                environment.describe(place.kernel, place.machine, names, spec.seed, spec.config)
            )
            with meter("running", len(runs)) as progress:
                do_all(bench, runs, kept.append, progress)
    finally:
        place.close()
    return bench


def found_in(out: Path, latency: bool) -> list[RunRecord]:
    records = store.read(store.Store(out).path)
    return [record for record in store.runs(records) if record.traced == latency]


def _packages(variants: list[Variant], known: dict[str, Workload], latency: bool) -> list[str]:
    names = dict.fromkeys(variant.workload for variant in variants)
    wanted = [package for name in names for package in known[name].packages]
    return wanted + (["trace-cmd"] if latency else [])
