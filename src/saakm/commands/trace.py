# SPDX-License-Identifier: GPL-2.0
"""saakm trace: what a command's threads did under a policy, to look at."""

import json
import re
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from msgspec import structs
from rich.console import Console

from ..base.errors import BadInput, SaakmError
from ..base.files import make_output
from ..builder import given
from ..builder.about import about
from ..lab.bench import alone
from ..model.schema import plain, read_json
from ..model.trace_metadata import Recorded, Summary
from ..trace.events import SAAKM_EVENTS, SCHED_EVENTS, enabled_at_boot
from ..trace.recording import draw_pictures, summarise, write_trace
from ..trace.timeline import Timeline
from ..view.text import counted
from ..vm.guest import Guest
from ..vm.options import VmOptions, with_vm_options
from . import under
from .comma_lists import words
from .run import boot, report_ejections, report_splats, report_unanswered

_MEMORY = "2G"  # the buffers, and what a base guest has otherwise


@with_vm_options()
def trace(
    vm: VmOptions,
    policy: Annotated[str, typer.Argument(help=f"Comma list. {under.HELP}")],
    command: Annotated[
        list[str] | None, typer.Argument(help="The command, after --.", show_default=False)
    ] = None,
    workload: Annotated[
        str,
        typer.Option(
            "--workload",
            help="Of workloads/, instead of a command: NAME:VARIANT; build:jobs-8 is build's command "
            "jobs with 8.",
            show_default=False,
        ),
    ] = "",
    param: under.Params = None,
    agent: under.AgentOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Directory; default: trace-POLICY here.")
    ] = None,
    buffer: Annotated[
        int,
        typer.Option("--buffer", help="Megabytes of the guest's for events, all CPUs together."),
    ] = 600,
    image: Annotated[str, typer.Option("--image", help="Pictures as png or svg.")] = "png",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Record a command under a policy, or several in one guest: Perfetto traces, and pictures."""
    if image not in ("png", "svg"):
        raise SaakmError(
            f"no picture can be made as '{image}'", "there are png and svg", "--image png"
        )
    wanted = [
        under.chosen(word, vm.kernel, param or [], under.one_agent(agent))
        for word in words(policy) or [policy]
    ]
    setup, ours = _what(workload, command)
    said = workload or shlex.join(ours)
    jobs = [_job(one, output, len(wanted) > 1, ours) for one in wanted]
    status, vain, kept = 0, 0, []
    with boot(_with_events(vm), wanted[0].policy, wanted[0].parameters) as guest:
        for one in {one.policy: one for one in wanted if one.policy}.values():
            guest.load(one.policy or "", *one.parameters)
        guest.run(setup, vm.timeout).check()
        if workload:
            # Programs and their files come from the host, which is no work of a scheduler's.
            guest.run(shlex.join(ours), vm.timeout).check()
        kernel = about(guest.kernel.vmlinux)
        for job in jobs:
            recorded = _record(guest, job, buffer, vm.timeout, not as_json)
            report_splats(guest)
            vain = report_unanswered(guest, job.chosen.agent, vain)
            timeline = _write_trace(guest.exchange / "trace.dat", recorded, job.trace)
            machine = vm.topology or f"{recorded.cpus} CPUs"
            title = f"{job.chosen.title} on {machine}, {kernel}: {said[:80]}"
            draw_pictures(timeline, guest.machine.topology, job.directory, image, title)
            summary = structs.replace(
                summarise(job.chosen.name, timeline, recorded, job.directory, kernel.preemption),
                scheduler=job.chosen.title,
                topology=vm.shape,
                command=said,
                is_counted=vm.deterministic,
            )
            kept.append({"directory": str(job.directory), **plain(summary)})
            (job.directory / "summary.json").write_text(json.dumps(plain(summary), indent=2) + "\n")
            if not as_json:
                _tell(summary, job.directory, buffer)
            status = status or recorded.status
        failed = report_ejections(guest)
    if as_json:
        print(json.dumps(kept if len(kept) > 1 else kept[0], indent=2))
    raise typer.Exit(status or int(failed))


@dataclass(frozen=True)
class _Job:
    chosen: under.Under
    directory: Path
    line: str  # for a shell

    @property
    def trace(self) -> Path:
        return self.directory / "trace.perfetto-trace"


def _job(chosen: under.Under, output: Path | None, are_several: bool, command: list[str]) -> _Job:
    """Builds an agent, before a guest waits for it."""
    own = re.sub(r"[^\w.-]+", "-", chosen.title)
    directory = output or Path(f"trace-{chosen.name}")
    directory = (output or Path()) / f"trace-{own}" if are_several else directory
    make_output(directory)
    return _Job(chosen, directory, chosen.shell(_told(command) if chosen.has_starter else command))


def _what(workload: str, command: list[str] | None) -> tuple[str, list[str]]:
    """What is to be done before, and the command."""
    if bool(workload) == bool(command):
        raise BadInput(
            "there is one thing to record, a command or a workload",
            f"there are --workload {workload} and a command" if workload else "neither is named",
            "saakm trace POLICY -- COMMAND, or saakm trace POLICY --workload NAME:VARIANT",
        )
    if command:
        return "true", command
    return alone.prepare(workload)


def _told(command: list[str]) -> list[str]:
    """The same, but it says which process it is, once it is the command itself."""
    return ["sh", "-c", 'echo $$ >/run/saakm/root; exec "$@"', "sh", *command]


def _with_events(vm: VmOptions) -> VmOptions:
    ours = not vm.kernel or given.has_class(vm.kernel)
    names = SCHED_EVENTS + (SAAKM_EVENTS if ours else ())
    append = [*(vm.append or []), enabled_at_boot(names)]
    return replace(vm, memory=vm.memory or _MEMORY, append=append)


def _record(guest: Guest, job: _Job, megabytes: int, timeout: float, stream: bool) -> Recorded:
    arguments = f"{job.chosen.name} {megabytes} {shlex.quote(str(Path.cwd()))} {job.line}"
    guest.run_helper("record", arguments, timeout, stream).check()
    file = guest.exchange / "recorded.json"
    return read_json(file, Recorded, "a recording", "run the command once more")


def _write_trace(data: Path, recorded: Recorded, target: Path) -> Timeline:
    # -l: with the context of each event, which says who woke whom. Behind that is no blank if the
    # time has twelve digits, as after 100 s: it begins with the recording.
    report = ["trace-cmd", "report", "-R", "-t", "-l", "--align-ts", "-i", str(data)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(report, stdout=subprocess.PIPE, stderr=errors, text=True,
                         errors="replace") as child,
    ):  # fmt: skip
        assert child.stdout
        timeline = write_trace(child.stdout, recorded, target)
        if child.wait():
            errors.seek(0)
            raise SaakmError(
                "the recording cannot be read", errors.read()[-500:], "run the command once more"
            )
    if recorded.entries and not timeline.counts:
        raise SaakmError(
            "the recording cannot be read",
            f"trace-cmd prints none of its {recorded.entries:,} events",
            "look whether there is room in /tmp, and run the command once more",
        )
    return timeline


def _tell(summary: Summary, directory: Path, buffer: int) -> None:
    console = Console(highlight=False, soft_wrap=True)
    own = f" (the policy counted {summary.kernel_switches:,})" if summary.kernel_switches else ""
    console.print(f"{summary.policy} on Linux {summary.kernel}, {summary.preemption}:")
    console.print(
        f"{counted(summary.threads, 'thread')}, {counted(summary.switches, 'switch')}{own}, "
        f"{counted(summary.migrations, 'migration')}, {counted(summary.wakeups, 'wakeup')}: p50 {summary.wakeup_us_p50:,.0f} us, "
        f"p99 {summary.wakeup_us_p99:,.0f} us; {summary.events:,} events in {summary.seconds:.1f} s"
    )
    if summary.lost:
        console.print(
            f"NOT all of it: {summary.lost:,} events found no room; what is there is the beginning. "
            f"Give it more: --buffer {buffer * 2} --memory 4G"
        )
    for line in [*_gaps(summary), *_decisions(summary)]:
        console.print(line)
    for name, size in summary.bytes.items():
        console.print(f"  {size / 1e6:8.2f} MB  {directory / name}", markup=False)
    console.print(
        "Open the .perfetto-trace in https://ui.perfetto.dev: drag and drop, nothing is sent."
    )


def _gaps(summary: Summary) -> list[str]:
    if not (gaps := summary.gaps):
        return []
    spread = (
        f": p50 {gaps.us_p50:,.1f} us, p90 {gaps.us_p90:,.1f} us, p99 {gaps.us_p99:,.1f} us, "
        f"at most {gaps.us_max:,.1f} us"
        if gaps.gaps
        else ""
    )
    return [
        f"{counted(gaps.gaps, 'gap')} before {counted(gaps.starts, 'turn')} of the command's threads{spread}",
        f"of the CPU time that these had, and lost so, CPUs idled {gaps.idle_percent:.2f} %, and had "
        f"whoever decides for {gaps.agent_percent:.2f} %",
    ]


def _decisions(summary: Summary) -> list[str]:
    if not (found := summary.decisions):
        return []
    return [
        f"{counted(found.decisions, 'decision')}, {found.per_second:,.0f} a second, and "
        f"{counted(found.undecided, 'turn')} without one; from event to decision: "
        f"p50 {found.us_p50:,.1f} us, p99 {found.us_p99:,.1f} us, at most {found.us_max:,.1f} us; "
        f"from there to the CPU: p50 {found.run_us_p50:,.1f} us, p99 {found.run_us_p99:,.1f} us"
    ]
