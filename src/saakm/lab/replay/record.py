# SPDX-License-Identifier: GPL-2.0
"""Records in a guest what the core asks of the class: a run that repeats to the bit."""

import re
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import SaakmError
from ...base.procfs import parse_ejected, tell_end
from ...builder.ctl import build_saakmctl
from ...builder.kernel import Kernel
from ...builder.modules import build_modules
from ...builder.programs import compile_plugin
from ...vm import appliance
from ...vm.appliance import Appliance, counted_machine
from ...vm.command import COUNTED_CLOCK
from ...vm.qemu import needed_qemu
from .plan import RECORDER, make_plan

_ENDED = "saakm: the command ended with status "
_EJECTED = "saakm: ejected: "
_INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir /tmp; mount -t tmpfs tmpfs /tmp
{load}
{commands}
wait
echo "{ended}0"
sed 's/^/{ejected}/' /proc/saakm/ejected
poweroff -f
"""
_SECONDS = 3600
_LEAST_QEMU = (10, 0)
# As long as anybody records: the one forks, wakes and blocks; in the other, parameters change besides.
_HACKBENCH = "hackbench -p -g 4 -f 10 -l 10000000"
_CHANGES = """
hackbench -p -g 2 -f 5 -l 10000000 & hackbench -g 2 -f 3 -l 10000000 &
while :; do
    for task in $(pidof hackbench); do
        renice -n $((RANDOM % 20)) -p $task; taskset -p $((RANDOM % 3 + 1)) $task
        [ $((RANDOM % 4)) != 0 ] || chrt -o -p 0 $task; sleep 0.00$((RANDOM % 9))
        taskset -p ffff $task
    done
done >/dev/null 2>&1
"""
WORKLOADS = {"hackbench": ("sh", "-c", _HACKBENCH), "changes": ("sh", "-c", _CHANGES)}
_PROGRAMS = ("hackbench", "chrt")


@dataclass(frozen=True)
class Recorded:
    """What is to be recorded: all that decides it, beside the kernel."""

    policies: tuple[Path, ...]  # directories; each gets a share of the threads
    cpus: int
    seed: int = 1
    calls: int = 0  # the machine is switched off after so many; 0: at the end of the workload
    command: tuple[str, ...] = WORKLOADS["hackbench"]


def refuse_old_qemu() -> None:
    """Plugins read registers and memory since version 4 of their interface."""
    qemu = needed_qemu()
    if qemu.number < _LEAST_QEMU:
        raise SaakmError(
            "calls of the class cannot be recorded",
            f"{qemu.program} is version {qemu.version}, and plugins read memory since "
            f"{_LEAST_QEMU[0]}.{_LEAST_QEMU[1]}",
            "install a newer QEMU, and name it: SAAKM_QEMU=PATH saakm replay",
        )


def record(kernel: Kernel, wanted: Recorded, out: Path) -> None:
    """Writes the recording to `out`."""
    modules = build_modules(kernel, sources=wanted.policies)
    ctl = build_saakmctl()
    files = {"bin/busybox": Path("/bin/busybox"), **_program("saakmctl", ctl)}
    files |= {f"{module.name}": module for module in modules}
    for program in _PROGRAMS:
        files |= _program(program, _found(program))
    with tempfile.TemporaryDirectory(prefix="saakm-replay-") as name:
        init, plan = Path(name) / "init", Path(name) / "plan"
        init.write_text(_script(modules, wanted.command))
        init.chmod(0o755)
        plan.write_text(make_plan(kernel, wanted.cpus))
        plugin = f"{compile_plugin(RECORDER)},plan={plan},out={out}"
        plugin += f",calls={wanted.calls}" if wanted.calls else ""
        machine = counted_machine(wanted.cpus, 1024, seed=wanted.seed, plugin=plugin)
        guest = Appliance(
            kernel.vmlinux, init, files, (*COUNTED_CLOCK, "oops=panic", "norandmaps"), machine
        )
        text = appliance.run(guest, timeout=_SECONDS).replace("\r", "")
    _judge(text, wanted.calls > 0)


def _script(modules: Sequence[Path], command: Sequence[str]) -> str:
    words = shlex.join(command)
    load = "\n".join(f"insmod /{module.name}" for module in modules)
    commands = "\n".join(f"saakmctl exec {module.stem} -- {words} &" for module in modules)
    return _INIT.format(load=load, commands=commands, ended=_ENDED, ejected=_EJECTED)


def _judge(text: str, is_cut: bool) -> None:
    if not is_cut and not re.search(rf"^{_ENDED}0$", text, re.M):
        raise SaakmError(
            "the workload has not ended", text[-1000:], "try it by hand: saakm run --exact"
        )
    ejected = parse_ejected("\n".join(re.findall(rf"^{_EJECTED}(.*)$", text, re.M)))
    if ejected:
        raise SaakmError(
            "a policy was ejected while it was recorded",
            "\n".join(map(tell_end, ejected)),
            "saakm check",
        )


def _found(name: str) -> Path:
    path = shutil.which(name)
    if not path:
        raise SaakmError(
            f"there is no program '{name}'", "it is not in $PATH", "apt-get install rt-tests"
        )
    return Path(path)


def _program(name: str, program: Path) -> dict[str, Path]:
    return {f"bin/{name}": program, **appliance.libraries(program)}
