# SPDX-License-Identifier: GPL-2.0
"""A run that repeats to the bit, debugger or not: what it takes to see a rare failure twice.

Reading the host's files takes a time that differs from run to run. Here all that
the command needs is packed into the guest's memory beforehand.
"""

import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..base.errors import GuestDied, SaakmError
from ..base.procfs import parse_ejected, tell_end, went_to_fair
from ..base.progress import meter
from ..builder import agents
from ..builder.ready import Ready
from . import appliance, features, qmp
from .appliance import Appliance
from .command import COUNTED_CLOCK
from .exchange import drop_exchange, new_exchange
from .machine import Machine
from .options import VmOptions
from .running import announce, hold
from .symbolize import symbolize

HOW_TO_ATTACH = (
    "saakm: the guest stands still; in another window:\n"
    "         saakm gdb -ex 'break FUNCTION' -ex continue"
)
# The console carries the command's output as well: these words are for us.
_BEGINS = "saakm: the command begins"
_ENDED = "saakm: the command ended with status "
_EJECTED = "saakm: ejected: "
_FEATURES = "saakm: features: "
_INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir /tmp; mount -t tmpfs tmpfs /tmp
{load}echo "{begins}"
{command}
echo "{ended}$?"
[ ! -e /proc/saakm/ejected ] || sed 's/^/{ejected}/' /proc/saakm/ejected
poweroff -f
"""


def exactly(vm: VmOptions, command: list[str]) -> VmOptions:
    """The options of a machine whose runs repeat; refuses those that such a machine decides."""
    _program(command[0])  # refuses one that cannot be packed
    given = [f"--accel {vm.accel}"] if vm.accel != "auto" else []
    given += ["--deterministic"] if vm.deterministic else []
    if given:
        raise SaakmError(
            f"--exact and {' and '.join(given)} exclude each other",
            "an exact run is always emulated, and its time is always counted in instructions",
            f"leave out {' and '.join(given)}, or --exact",
        )
    return replace(vm, deterministic=True)


def run_exactly(
    ready: Ready,
    machine: Machine,
    command: list[str],
    vm: VmOptions,
    gdb: bool,
    prefix: Sequence[str] = (),
    parameters: Sequence[str] = (),
    agent: Sequence[str] = (),
) -> int:
    """The command's exit status, or 1 if its policy was ejected. The machine is exactly()'s.

    `prefix`: what runs the command under something else than a policy; `parameters`: of its module;
    `agent`: that decides for it.
    """
    files = {"bin/busybox": Path("/bin/busybox"), **_program(command[0])}
    words, load = _packed(command), _features(vm.set_features)
    if prefix:
        files |= _program(prefix[0])
        words = [*_packed(prefix), *words]
    if ready.module:
        files |= {"policy.ko": ready.module, **_at("bin/saakmctl", ready.saakmctl)}
        load += f"{shlex.join(['insmod', '/policy.ko', *parameters])}\n"
        words = ["saakmctl", "exec", ready.module.stem, "--", *words]
    if agent:
        files |= _program(agent[0])
        words = [*agents.prefix(_packed(agent)), *words]
    kernel, exchange = ready.kernel, new_exchange()
    try:
        announce(exchange, kernel.config, kernel.build)
        with tempfile.NamedTemporaryFile("w", prefix="saakm-init-") as init:
            script = {"begins": _BEGINS, "ended": _ENDED, "ejected": _EJECTED, "load": load}
            init.write(_INIT.format(command=shlex.join(words), **script))
            init.flush()
            Path(init.name).chmod(0o755)
            arguments = (*COUNTED_CLOCK, "oops=panic")
            guest = Appliance(kernel.vmlinux, Path(init.name), files, arguments, machine)
            return _run(guest, exchange, vm, gdb)
    except GuestDied as error:
        error.tail = symbolize(
            error.tail, kernel, {file.stem: file for file in [ready.module] if file}
        )
        raise
    finally:
        drop_exchange(exchange)


def _packed(command: Sequence[str]) -> list[str]:
    """As it is called where _program() puts it."""
    return ["/bin/" + Path(command[0]).name, *command[1:]]


def _features(names: Sequence[str]) -> str:
    """Lines of the init's, that set these, or say which there are and end it."""
    if not names:
        return ""
    there = f"$(tr '\\n' ' ' <{features.FILE} 2>/dev/null)"
    otherwise = f'{{ echo "{_FEATURES}{there}"; poweroff -f; }}'
    return (
        f"mount -t debugfs debugfs /sys/kernel/debug\n{features.commands(names)} || {otherwise}\n"
    )


def _run(guest: Appliance, exchange: Path, vm: VmOptions, gdb: bool) -> int:
    options = qmp.options(exchange)
    if gdb:
        options.append("-S")
        hold(exchange)
        print(HOW_TO_ATTACH, file=sys.stderr)
    with meter("running"):
        text = appliance.run(guest, _Output(), vm.timeout, options, exchange).replace("\r", "")
    if there := re.search(rf"^{_FEATURES}(.*)$", text, re.M):
        features.refuse_unknown(vm.set_features, there[1].split())
    status = re.search(rf"^{_ENDED}(\d+)$", text, re.M)
    if not status:
        raise SaakmError(
            "the command has not ended", "the guest powered off before", "run it without --exact"
        )
    ejected = parse_ejected("\n".join(re.findall(rf"^{_EJECTED}(.*)$", text, re.M)))
    for end in ejected:
        print(f"saakm: {tell_end(end)}", file=sys.stderr)
    return int(status[1]) or int(any(map(went_to_fair, ejected)))


class _Output:
    """Shows what comes between the command's begin and end."""

    def __init__(self) -> None:
        self._on = False

    def __call__(self, line: str) -> None:
        if line.startswith(_ENDED):
            self._on = False
        elif self._on:
            print(line.rstrip("\r"), flush=True)
        elif line.startswith(_BEGINS):
            self._on = True


def _program(name: str) -> dict[str, Path]:
    """It and its libraries, by their place in the guest. Busybox has the common small ones."""
    found = shutil.which(name)
    if not found:
        raise SaakmError(f"there is no program '{name}'", "it is not in $PATH", "check its name")
    path = Path(found).resolve()
    if path.read_bytes()[:4] != b"\x7fELF":
        raise SaakmError(
            f"'{name}' cannot run with --exact",
            "it is a script, and would need files of the host",
            "name the program that it runs, or: sh -c '...' with busybox's programs",
        )
    return {} if path.name == "busybox" else _at(f"bin/{Path(name).name}", path)


def _at(place: str, program: Path) -> dict[str, Path]:
    return {place: program, **appliance.libraries(program)}
