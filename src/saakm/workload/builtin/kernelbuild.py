# SPDX-License-Identifier: GPL-2.0
"""make forks compiler drivers, which fork compilers and assemblers."""

from collections.abc import Mapping

from ..builder import Builder, ThreadBuilder, exponential, uniform
from ..program import Program
from .options import Builtin, count, span


def _make(values: Mapping[str, int], cpus: int) -> Program:
    compile_ns = values["compile"]
    build = Builder()
    build.mark("file")
    with build.group("make") as make:
        at_once = min(values["files"], values["jobs"])
        with make.loop(at_once):
            _start(make, values)
        if values["files"] > at_once:
            with make.loop(values["files"] - at_once):
                make.join(1)
                _start(make, values)
        make.join_all()
        make.fork("ld")
        make.join_all()
    with build.group("gcc", 0, inherit=True) as gcc:
        gcc.mark_begin("file")
        gcc.exec()
        gcc.run(1_000_000)
        for step in ("cc1", "as"):
            gcc.fork(step)
            gcc.join_all()
        gcc.mark_end("file")
        gcc.iteration()
    with build.group("cc1", 0, inherit=True) as cc1:
        cc1.exec()
        cc1.sleep(uniform(0, values["read"] * 2))
        # The least that a compiler takes, and a long tail.
        cc1.run(compile_ns // 4)
        cc1.run(exponential(compile_ns - compile_ns // 4))
        cc1.iteration()
    with build.group("as", 0, inherit=True) as assembler:
        assembler.exec()
        assembler.run(exponential(compile_ns // 20))
    with build.group("ld", 0, inherit=True) as linker:
        linker.exec()
        linker.run(compile_ns)
    return build.program("kernelbuild")


def _start(make: ThreadBuilder, values: Mapping[str, int]) -> None:
    make.run(values["make"])
    make.fork("gcc")
    make.iteration()


KERNELBUILD = Builtin(
    "kernelbuild",
    "make -jN: a tree of short-lived processes",
    "The processes of `make` and gcc: make forks a driver for each file, `jobs` at a time, the driver "
    "forks cc1 and as, one after the other. All times are assumptions, after the long tail that logs of "
    "builds show: a quarter of `compile` for any file and an exponential rest, 5 % of it for as.",
    (
        count("files", "files", lambda cpus: 20 * cpus, 10**6),
        count("jobs", "drivers at a time", lambda cpus: cpus, 10**6),
        span("compile", "mean CPU time of a compiler", 100_000_000, 20),
        span("make", "CPU time of make for each file", 200_000),
        span("read", "mean time for which a compiler waits for its file", 500_000),
    ),
    _make,
)
