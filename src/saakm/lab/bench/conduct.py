# SPDX-License-Identifier: GPL-2.0
"""Does what an experiment with applications says."""

from pathlib import Path

from ...base.errors import BadInput, SaakmError
from ...base.progress import meter
from ...builder import given, kconfig
from ...model import experiment
from ...model.fair_class import FAIR
from ...model.results import RunRecord
from ...model.workload import Variant, Workload, load_all
from ...vm import features
from ...vm.options import VmOptions
from ...vm.topology import parse_topology
from . import environment, packages, schedulers, store
from .columns import refuse_mixture
from .in_guest import InGuest
from .on_host import OnHost
from .rounds import plan
from .runner import Bench, do_all
from .schedulers import Named
from .workloads import choose


def check(spec: experiment.Bench) -> None:
    """Says what is wrong with it, and builds nothing."""
    _choose(spec, load_all(points=spec.points))
    schedulers.chosen(spec.schedulers)
    kconfig.fragments(spec.config)
    if spec.topology:
        parse_topology(spec.topology)


def _choose(spec: experiment.Bench, known: dict[str, Workload]) -> list[Variant]:
    variants = choose(spec.workloads, known)
    if spec.points and (without := [variant for variant in variants if not variant.point]):
        raise SaakmError(
            f"{without[0].workload} {without[0].name} has no points",
            f"its command is the same for whatever is named: {', '.join(spec.points)}",
            "name workloads that have points, or leave out --points; saakm bench --list",
        )
    return variants


def conduct(
    spec: experiment.Bench, vm: VmOptions, out: Path, resume: bool, on_host: bool = False
) -> Bench:
    """Leaves a line a run in `out`. Of `vm` counts what `spec` does not say."""
    known = load_all(points=spec.points)
    variants = _choose(spec, known)
    chosen = schedulers.chosen(spec.schedulers)
    refuse_kernel(vm, chosen, on_host)
    if not on_host:
        vm.check()  # what is refused leaves no directory
    names = [named.label for named in chosen]
    kept = store.Store(out)
    kept.begin(resume)
    packages.ensure(_packages(variants, known, spec.latency))
    policies = {named.name: named.directory for named in chosen if named.is_policy}
    ext = any(named.name in schedulers.EXT for named in chosen)
    place = OnHost(policies) if on_host else InGuest(vm, policies, ext)
    found = [schedulers.find(named, place.saakmctl) for named in chosen]
    bench = Bench(place, known, spec.latency, spec.boot_each)
    planned = plan(variants, found, spec.rounds, spec.warm_up, spec.seed)
    refuse_mixture([*kept.runs(), *bench.frames(planned)])
    runs = bench.todo(planned, kept.done())
    try:
        if runs:
            place.check_settings(found)
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


def refuse_kernel(vm: VmOptions, chosen: list[Named], on_host: bool) -> None:
    """Before anything is installed, built or booted."""
    options = [f"--kernel {vm.kernel}"] if vm.kernel else []
    options += [f"--features {vm.features}"] if vm.features else []
    if on_host and options:
        raise BadInput(
            f"{options[0]} has no effect with --on host",
            "this machine runs the kernel that it has booted",
            f"leave out {options[0]}, or --on host",
        )
    if vm.kernel:
        given.check(vm.kernel)
        for named in chosen:
            if named.is_policy:
                given.refuse_without_class(vm.kernel, f"the policy '{named.name}'")
    elif not on_host and any(named.name == FAIR and named.settings for named in chosen):
        features.refuse_without_ours(vm.config)


def found_in(out: Path, latency: bool) -> list[RunRecord]:
    records = store.read(store.Store(out).path)
    return [record for record in store.runs(records) if record.traced == latency]


def _packages(variants: list[Variant], known: dict[str, Workload], latency: bool) -> list[str]:
    names = dict.fromkeys(variant.workload for variant in variants)
    wanted = [package for name in names for package in known[name].packages]
    return wanted + (["trace-cmd"] if latency else [])
