# SPDX-License-Identifier: GPL-2.0
"""Boots a guest for each attack. The same attack takes the same course, to the instruction.

But for a rare run on a busy host, whose times then differ by some 0.1 to 3 ms: one of eight whole
runs of the tests, none of 27 repetitions beside hogs. Why is not known; these guests have two CPUs.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from ...base import paths
from ...base.errors import GuestDied, GuestHung
from ...builder import modules
from ...builder.kernel import Kernel
from ...builder.programs import compile_static
from ...vm import appliance
from ...vm.appliance import Appliance, counted_machine
from ...vm.command import COUNTED_CLOCK
from .catalogue import ATTACKS, fault_of
from .outcome import Outcome, judge

TOPOLOGY = "1s2c"
MEMORY = 512
SHIFT = 1  # of time most passes in waiting, and is the cheaper the fewer instructions it has
OTHERS = ("rr", "fifo", "vtime")  # beside it, before it, after it
_SECONDS = 150  # of the host's; it takes ten
_ARGUMENTS = ("norandmaps", *COUNTED_CLOCK, "oops=panic")


@dataclass(frozen=True)
class Scene:
    """What all attacks have in common."""

    kernel: Kernel
    program: Path
    modules: dict[str, Path]


def prepare(kernel: Kernel) -> Scene:
    sources = [paths.ATTACKS / "wrong", *(paths.POLICIES / name for name in OTHERS)]
    built = modules.build_modules(kernel, sources=sources)
    return Scene(kernel, compile_static(paths.ATTACKS), {file.name: file for file in built})


def guest_of(scene: Scene, name: str) -> Appliance:
    words = [*_ARGUMENTS, f"fault={fault_of(name)}"]
    if ATTACKS[name].beside:
        words.append(f"with={ATTACKS[name].beside}")
    machine = counted_machine(TOPOLOGY, MEMORY, shift=SHIFT)
    return Appliance(scene.kernel.vmlinux, scene.program, scene.modules, tuple(words), machine)


def run(scene: Scene, name: str) -> Outcome:
    lines: list[str] = []
    try:
        appliance.run(guest_of(scene, name), lines.append, timeout=_SECONDS)
    except GuestDied:
        return judge(name, lines, "the machine panics")
    except GuestHung:
        return judge(name, lines, "the machine hangs")
    return judge(name, lines)


def run_all(
    scene: Scene,
    names: list[str],
    jobs: int,
    on_end: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """`on_end` hears of each as it ends. Guests take a CPU of the host's each."""
    outcomes: dict[str, Outcome] = {}
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run, scene, name) for name in names]
        try:
            for future in as_completed(futures):
                outcome = future.result()
                outcomes[outcome.attack] = outcome
                on_end(outcome)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            appliance.end_all()
            raise
    return [outcomes[name] for name in names]
