# SPDX-License-Identifier: GPL-2.0
"""What the recorder has to know of a kernel: addresses of functions, and where fields are."""

import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ...base import paths
from ...base.errors import SaakmError
from ...base.process import run_logged
from ...builder.kernel import Kernel, environment, make_command
from .calls import (
    BOUNDARIES,
    CALLS,
    EFFECTS,
    FAIR_CALLS,
    FAIR_COUNTED,
    FAIR_GLOBALS,
    FAIR_MARK,
    GLOBALS,
    OPAQUE,
    Function,
)

RECORDER = paths.GUEST_FILES / "replay"
FIELDS = paths.REPO / "sim" / "replay" / "fields.h"
_SYMBOLS = ("__per_cpu_offset", "runqueues", "pcpu_hot", "jiffies", "__irq_regs")
_CLASSES = ("stop", "dl", "rt", "fair", "ext", "saakm", "idle")
_FIELD = struct.Struct("8s32sIIII")
_POINTED_TO = 256
_KINDS = ("given", "own", "both")


def make_plan(kernel: Kernel, cpus: int) -> str:
    """The lines that guest/replay/plan.c reads, and the replayer."""
    addresses = _addresses(kernel.vmlinux)
    kinds = {"call": CALLS, "effect": EFFECTS, "opaque": OPAQUE, "boundary": BOUNDARIES}
    lines = [*_machine(addresses, cpus), "first __saakm_setsched_prepare"]
    for word, functions in kinds.items():
        lines += [_line(word, function, addresses) for function in functions]
    lines += _globals(addresses, GLOBALS)
    return "\n".join([*lines, *_fields(kernel, "offsets"), ""])


def make_fair_plan(kernel: Kernel, cpus: int) -> str:
    """The same for what fair is asked: from the boot on, so that all threads are known from their birth."""
    addresses = _addresses(kernel.vmlinux)
    lines = [*_machine(addresses, cpus), f"stack {_stack_bits(kernel)}"]
    lines += [_line("call", function, addresses) for function in FAIR_CALLS]
    lines += [f"mark {FAIR_MARK}", f"counted {FAIR_COUNTED}"]
    lines += _globals(addresses, [name for name in FAIR_GLOBALS if name in addresses])
    return "\n".join([*lines, *_fields(kernel, "fair"), ""])


def _machine(addresses: dict[str, str], cpus: int) -> list[str]:
    lines = [f"cpus {cpus}"]
    lines += [f"symbol {name} {_address(addresses, name)}" for name in _SYMBOLS]
    return lines + [
        f"class {name} {addresses.get(f'{name}_sched_class', '0')}" for name in _CLASSES
    ]


def _globals(addresses: dict[str, str], names: Iterable[str]) -> list[str]:
    """As if they were members of one structure that begins at 0."""
    return [f"field global {name} own {int(_address(addresses, name), 16)} 8" for name in names]


def _stack_bits(kernel: Kernel) -> int:
    """Of THREAD_SIZE and IRQ_STACK_SIZE, which are larger where KASAN is."""
    return 15 if "\nCONFIG_KASAN=y" in (kernel.build / ".config").read_text() else 14


def _line(word: str, function: Function, addresses: dict[str, str]) -> str:
    address = addresses.get(function.name, "0")
    return f"{word} {function.name} {address} {function.arguments} {function.returns}"


def _addresses(vmlinux: Path) -> dict[str, str]:
    listed = subprocess.run(["nm", str(vmlinux)], capture_output=True, text=True, check=True)
    found = re.findall(r"^([0-9a-f]+) \w (\S+)$", listed.stdout, re.M)
    return {name: address for address, name in found}


def _address(addresses: dict[str, str], name: str) -> str:
    if name not in addresses:
        raise SaakmError(
            "calls of the class cannot be recorded",
            f"the kernel has no symbol {name}",
            "saakm build builds one that has",
        )
    return addresses[name]


def _fields(kernel: Kernel, name_of_object: str) -> list[str]:
    """Out of an object that is compiled as a part of the kernel."""
    with tempfile.TemporaryDirectory(prefix="saakm-") as name:
        place = Path(name)
        for file in [*(RECORDER / "kernel").iterdir(), FIELDS]:
            shutil.copy(file, place)
        run_logged(
            [*make_command(kernel.build), f"M={place}", f"{name_of_object}.o"],
            paths.LOGS / "replay-offsets.log",
            "looking up the kernel's structures",
            env=environment(),
        )
        out = place / "fields"
        command = ["objcopy", "-O", "binary", "--only-section=.replay"]
        subprocess.run([*command, str(place / f"{name_of_object}.o"), str(out)], check=True)
        return [_field(*entry) for entry in _FIELD.iter_unpack(out.read_bytes())]


def _field(object_: bytes, name: bytes, kind: int, offset: int, size: int, _: int) -> str:
    # A mask counts by its first word, and so does what is pointed to.
    words = [text.rstrip(b"\0").decode() for text in (object_, name)]
    return f"field {' '.join(words)} {_KINDS[kind]} {offset} {size if size == _POINTED_TO else min(size, 8)}"
