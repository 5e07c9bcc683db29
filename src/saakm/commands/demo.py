# SPDX-License-Identifier: GPL-2.0
"""saakm demo: from nothing to a benchmark that runs under a policy, with proof."""

import json
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.errors import SaakmError
from ..builder.policies import module_name
from ..model.fair_class import FAIR
from ..view.terminal import figure, label, table
from ..vm.guest import Guest
from ..vm.options import OUR_KERNEL, VmOptions, with_vm_options
from .run import boot, report_ejections, report_splats
from .under import check_policy, under_policy

WORKLOAD = ["hackbench", "-g", "4", "-l", "200"]
_NEXT = """\
What to try next:
  look around:                                       saakm shell {policy}
  your own program, on two sockets:                  saakm run {policy} --topology 2s4c2t -- COMMAND
  change it, every save is built and takes over:     saakm dev {policy}
  what holds it together:                            saakm test"""


def _tasks(output: str) -> int:
    match = re.search(r"== (\d+) tasks", output)
    assert match, f"hackbench does not say its tasks: {output}"
    return int(match[1])


@dataclass(frozen=True)
class Measured:
    """One run of the workload. For fair the kernel is the only witness."""

    policy: str
    seconds: float
    tasks: int  # as hackbench says, and its parent
    forks: int  # in the whole system, kernel workers included
    kernel_switches: int
    threads: int | None = None
    switches: int | None = None

    @property
    def doubts(self) -> list[str]:
        """What speaks against all threads having been this policy's, from first to last."""
        if self.threads is None or self.switches is None:
            return []
        found = []
        if not self.tasks == self.threads <= self.forks:
            found.append(
                f"hackbench had {self.tasks} threads, the kernel forked {self.forks}, "
                f"the policy saw {self.threads}"
            )
        # A thread's last switch may come after its accounts are closed, its first before it joins.
        if abs(self.switches - self.kernel_switches) > self.threads:
            found.append(
                f"the kernel counted {self.kernel_switches} switches, the policy {self.switches}"
            )
        return found


@with_vm_options(*OUR_KERNEL)
def demo(
    vm: VmOptions,
    policy: Annotated[str, typer.Argument(help="A policy's name or directory.")] = "fifo",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Build, boot, run hackbench under a policy, count what it scheduled, and compare with fair."""
    source = check_policy(policy)
    started = time.monotonic()
    with boot(vm, source) as guest:
        # Fair first: a scheduler that was loaded earlier changes later figures.
        runs = [measure(guest, None, vm.timeout)]
        if source:
            guest.load(source)
            runs.append(measure(guest, source, vm.timeout))
        report_splats(guest)
        ejected = report_ejections(guest)
        boot_seconds = guest.boot_seconds
    if as_json:
        print(json.dumps([{**asdict(run), "doubts": run.doubts} for run in runs], indent=2))
    else:
        _report(runs, boot_seconds, time.monotonic() - started)
    if ejected or any(run.doubts for run in runs):
        raise typer.Exit(1)


def measure(guest: Guest, source: Path | None, timeout: float) -> Measured:
    policy, command = module_name(source) if source else FAIR, under_policy(source, WORKLOAD)
    data = json.loads(guest.run_helper("counters", f"{policy} {command}", timeout).check().stdout)
    if data["status"]:
        raise SaakmError(
            f"{WORKLOAD[0]} failed under {policy}",
            data["output"].strip(),
            f"try it by hand: saakm run {policy} -- {' '.join(WORKLOAD)}",
        )
    row = data["policy"]
    return Measured(
        policy=policy,
        seconds=data["seconds"],
        tasks=1 + _tasks(data["output"]),
        forks=data["forks"],
        kernel_switches=data["switches"],
        threads=row.get("new"),
        switches=row.get("switches"),
    )


def _report(runs: list[Measured], boot_seconds: float, total: float) -> None:
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"{' '.join(WORKLOAD)}, in one boot; of the times only the ratio means something")
    figures = map(figure, ("threads", "switches", "seconds", "to fair"))
    shown = table("", label("policy"), *figures)
    for run in runs:
        threads = run.tasks if run.threads is None else run.threads
        switches = run.kernel_switches if run.switches is None else run.switches
        ratio = f"{run.seconds / runs[0].seconds:.2f}"
        shown.add_row(run.policy, f"{threads:,}", f"{switches:,}", f"{run.seconds:.2f}", ratio)
    console.print(shown)
    for run in runs[1:]:
        _prove(console, run)
        console.print(_NEXT.format(policy=run.policy), markup=False)
    console.print(f"Booted in {boot_seconds:.1f} s, {total:.0f} s in all.")


def _prove(console: Console, run: Measured) -> None:
    if run.doubts:
        console.print(f"NOT all threads were scheduled by {run.policy}: {'; '.join(run.doubts)}.")
        return
    console.print(
        f"All of it was scheduled by SaaKM: {run.policy} saw {run.threads:,} new threads, hackbench had "
        f"{run.tasks:,} (the kernel forked {run.forks:,}, its own workers included); {run.policy} "
        f"gave a CPU {run.switches:,} times, the kernel counted {run.kernel_switches:,} switches."
    )
