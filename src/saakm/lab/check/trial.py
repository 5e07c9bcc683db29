# SPDX-License-Identifier: GPL-2.0
"""Boots a guest for a trial. The same trial of the same policy is the same to the instruction."""

import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...base import paths
from ...base.errors import GuestDied, GuestHung
from ...builder.ctl import build_saakmctl
from ...builder.kconfig import CHECKED
from ...builder.kernel import Kernel, build_kernel
from ...builder.modules import build_modules
from ...builder.parameters import check_form, check_names, check_values
from ...builder.policies import module_name
from ...builder.programs import compile_static
from ...vm import appliance, qmp
from ...vm.appliance import Appliance, counted_machine
from ...vm.exchange import drop_exchange, new_exchange
from ...vm.running import announce, hold
from .checks import CHECKS, parse_promises
from .evaluate import Finding, evaluate
from .plan import Trial


@dataclass(frozen=True)
class Subject:
    """A policy to be checked, with its module for each kernel."""

    name: str
    parameters: tuple[str, ...]
    kernels: dict[str, Kernel]
    saakmctl: Path
    files: Path  # copies: whoever edits the policy meanwhile edits it for the next time

    def module(self, config: str) -> Path:
        return self.files / config / f"{self.name}.ko"


def prepare(source: Path, parameters: list[str], configs: set[str], files: Path) -> Subject:
    """Builds what is needed: kernels, the module, the programs. Modules are copied to `files`."""
    check_form(parameters)
    check_names(parameters, source)
    kernels = {config: build_kernel(config) for config in sorted(configs)}
    for config, kernel in kernels.items():
        (files / config).mkdir()
        for module in build_modules(kernel, sources=[source, paths.ORACLE]):
            shutil.copy(module, files / config)
    subject = Subject(module_name(source), tuple(parameters), kernels, build_saakmctl(), files)
    check_values(parameters, subject.module(min(configs)))
    return subject


def promises(module: Path) -> list[str]:
    """What the policy's MODULE_INFO(saakm_promises, ...) says."""
    done = subprocess.run(
        ["modinfo", "-F", "saakm_promises", str(module)], capture_output=True, text=True, check=True
    )
    return parse_promises(done.stdout.replace("\n", ","), module.stem)


def guest_of(subject: Subject, trial: Trial) -> Appliance:
    module = subject.module(trial.config)
    files = {module.name: module, "oracle.ko": module.with_name("oracle.ko")}
    files |= appliance.with_libraries(subject.saakmctl)
    words = ["norandmaps", "oops=panic", f"policy={subject.name}", f"check={trial.check}"]
    words += [f"seed={trial.seed}", f"scale={trial.scale}", *CHECKS[trial.check].append.split()]
    if subject.parameters:
        words.append(f"parameters={','.join(subject.parameters)}")
    vmlinux, program = (
        subject.kernels[trial.config].vmlinux,
        compile_static(paths.GUEST_FILES / "check"),
    )
    megabytes = 1536 if trial.config in CHECKED else 512
    machine = counted_machine(trial.topology, megabytes, seed=trial.seed)
    return Appliance(vmlinux, program, files, tuple(words), machine)


def run(subject: Subject, trial: Trial) -> Finding:
    return _find(subject, trial)


def debug(subject: Subject, trial: Trial) -> Finding:
    """The same once more; it stands still until gdb has come, whose stops may shift it a little."""
    kernel, exchange = subject.kernels[trial.config], new_exchange()
    try:
        announce(exchange, kernel.config, kernel.build)
        hold(exchange)
        return _find(subject, trial, options=[*qmp.options(exchange), "-S"], directory=exchange)
    finally:
        drop_exchange(exchange)


def _find(subject: Subject, trial: Trial, **how: Any) -> Finding:
    # Of the host's; one thread emulates all CPUs, perhaps beside other guests.
    seconds = 1800 if trial.config in CHECKED else 600
    try:
        console = appliance.run(guest_of(subject, trial), timeout=seconds, **how)
    except GuestDied as error:
        return Finding("failed", failures=["the kernel died"], kernel=error.tail)
    except GuestHung as error:
        words = f"the guest hangs: no end within {seconds} s of the host's"
        return Finding("failed", failures=[words], kernel=error.tail)
    return evaluate(trial.check, console)


def run_all(
    subject: Subject, trials: list[Trial], jobs: int, on_end: Callable[[Trial, Finding], None]
) -> None:
    """`on_end` hears of each as it ends. Guests that are alike take one CPU of the host's each."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(run, subject, trial): trial for trial in trials}
        try:
            for future in as_completed(futures):
                on_end(futures[future], future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            appliance.end_all()
            raise
