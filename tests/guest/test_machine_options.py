# SPDX-License-Identifier: GPL-2.0
"""What the options of the machine make of it, in each command that boots one.

The command line of its QEMU says it all, so most of these end before a guest has booted.
"""

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from saakm.base import paths
from saakm.base.errors import EXIT_DIED, EXIT_HUNG
from saakm.vm.qemu import qemu_program

from .support import PATIENCE

pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(300)]

COMMANDS = {
    "run": ["none"],
    "demo": ["none"],
    "dev": ["fifo"],
    "trace": ["none"],
    "shell": [],
    "bench": ["--workloads", "hackbench:process-pipes-1", "--schedulers", "fair"],
}
LAST = {"run": ["--", "true"], "trace": ["--", "true"]}


def environment() -> dict[str, str]:
    """Of the test that runs now: it is noted who ran what."""
    return {**os.environ, "PYTHONPATH": str(paths.REPO / "src"), "TERM": "xterm"}


@contextlib.contextmanager
def on_a_terminal(
    words: list[str], place: Path, program: tuple[str, str] = ("-m", "saakm")
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A running command, and our end of its terminal."""
    ours, its = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, *program, *words],
        cwd=place, env=environment(), stdin=its, stdout=its, stderr=its,
        start_new_session=True,
    )  # fmt: skip
    os.close(its)
    os.set_blocking(ours, False)
    try:
        yield child, ours
    finally:
        child.terminate()
        os.close(ours)  # what still writes to it shall not wait for a reader
        child.wait()


# Seconds of an idle host, as those of a test's limit. By then a boot that hangs has been given up,
# and the next one is done.
HANGS = 130


def read_until(terminal: int, pattern: str, seconds: float = HANGS) -> str:
    """What came on a terminal up to there; or to its end, which must be there then."""
    text, deadline = "", time.monotonic() + seconds * PATIENCE
    while not re.search(pattern, text):
        assert time.monotonic() < deadline, f"'{pattern}' never came:\n{text}"
        try:
            text += os.read(terminal, 65536).decode(errors="replace")
        except BlockingIOError:
            time.sleep(0.1)
        except OSError:  # the other end is closed
            pytest.fail(f"it ended without '{pattern}':\n{text}", pytrace=False)
    return text


def status_of(child: subprocess.Popen[Any], terminal: int) -> int:
    """As wait(), but somebody reads: who cannot say his last words would wait, too."""
    while child.poll() is None:
        with contextlib.suppress(OSError):
            os.read(terminal, 65536)
        time.sleep(0.1)
    return child.returncode


def said_by(file: Path) -> str:
    """Nothing of a thread or process that has ended meanwhile: the others count all the same."""
    try:
        return file.read_text()
    except OSError:
        return ""


def qemus_of(child: subprocess.Popen[Any]) -> dict[int, list[str]]:
    """The command lines of the guests that a command runs now, by process."""
    found = {}
    for thread in Path(f"/proc/{child.pid}/task").iterdir():
        for pid in said_by(thread / "children").split():
            words = said_by(Path(f"/proc/{pid}/cmdline")).split("\0")
            # Not to ask its version, nor to try whether KVM boots a kernel: that shares no files.
            if "/qemu-system-" in f"/{words[0]}" and "-fsdev" in words:
                found[int(pid)] = words
    return found


def started(command: str, options: list[str], place: Path) -> str:
    words = [command, *COMMANDS[command], *options, *LAST.get(command, [])]
    with on_a_terminal(words, place) as (child, terminal):
        deadline = time.monotonic() + HANGS * PATIENCE
        while not (found := qemus_of(child)):
            assert child.poll() is None and time.monotonic() < deadline, "no guest has come"
            # Progress is shown there: somebody must read it, or the command stops.
            with contextlib.suppress(BlockingIOError):
                os.read(terminal, 65536)
            time.sleep(0.05)
    (line,) = found.values()
    return " ".join(line)


@pytest.mark.parametrize("command", COMMANDS)
def test_machine_is_as_asked(command: str, tmp_path: Path) -> None:
    words = started(
        command,
        ["--cpus", "3", "--memory", "700M", "--deterministic", "--seed", "5", "--accel", "tcg",
         "--append", "first=1", "--append", "second=2"],
        tmp_path,
    )  # fmt: skip
    assert "sockets=1" in words and "cores=3" in words and "700M" in words
    assert "-icount shift=0" in words and "-seed 5 " in words and "kvm" not in words
    assert " first=1 second=2" in words and "-base/" in words


@pytest.mark.long
@pytest.mark.kernel("debug")
@pytest.mark.parametrize("command", COMMANDS)
def test_kernel_and_topology_are_as_asked(command: str, tmp_path: Path) -> None:
    words = started(command, ["--config", "debug", "--topology", "2s1c2t"], tmp_path)
    assert "sockets=2" in words and "cores=1" in words and "threads=2" in words
    assert "-debug/" in words and "-icount" not in words


def test_shell(tmp_path: Path) -> None:
    """As README has it: sixteen CPUs, and the policy is there."""
    with on_a_terminal(["shell", "vtime", "--topology", "2s4c2t"], tmp_path) as (child, terminal):
        read_until(terminal, r"\d+ +vtime +vtime +0 +active[^$]*@guest:")
        os.write(terminal, b"echo $(nproc) CPUs are here\n")
        read_until(terminal, r"\b16 CPUs are here")
        os.write(terminal, b"exit\n")
        assert status_of(child, terminal) == 0


def test_shell_whose_guest_is_killed(tmp_path: Path) -> None:
    """As by the kernel, when memory runs out: no end like another."""
    with on_a_terminal(["shell"], tmp_path) as (child, terminal):
        settings = termios.tcgetattr(terminal)
        # Of what is typed before, the boot drops some.
        read_until(terminal, r"@guest:")
        os.write(terminal, b"echo $(nproc) CPUs are here\n")
        read_until(terminal, r"\b4 CPUs are here")
        (qemu,) = qemus_of(child)
        os.kill(qemu, signal.SIGKILL)
        text = read_until(terminal, r"next: [^\n]*\n")
        assert status_of(child, terminal) == EXIT_DIED, text
        assert termios.tcgetattr(terminal) == settings
    assert "the guest died" in text and "SIGKILL" in text


def impatient(still: float, *boots: float) -> tuple[str, str]:
    """Runs saakm with other limits: of a QEMU that stands still, and of each boot."""
    return "-c", (
        f"from saakm.vm import guest; guest._STILL_SECONDS = {still}; limits = iter({boots}); "
        "guest.Guest._boot_deadline = lambda self: next(limits); "
        "from saakm.cli import main; main()"
    )


@pytest.mark.parametrize(
    ("fault", "program", "said"),
    [
        ("exec sleep infinity", impatient(6, 300, 300), "QEMU stands still"),
        ("while :; do :; done", impatient(60, 3, 300), "the guest hangs: booting did not end"),
    ],
    ids=["still", "busy"],
)
def test_shell_whose_guest_never_boots(
    fault: str, program: tuple[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, before its guest says a word. Nor is it tried first whether KVM boots one."""
    wrapper, count = tmp_path / "qemu", tmp_path / "boots"
    wrapper.write_text(
        '#!/bin/sh\ncase "$*" in *-kernel*) ;; *) exec ' + f'{qemu_program()} "$@" ;; esac\n'
        f"echo >>{count}\n[ $(wc -l <{count}) -gt 1 ] || {{ {fault}; }}\n"
        f'exec {qemu_program()} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("SAAKM_QEMU", str(wrapper))
    words = ["shell", "--cpus", "2", "--accel", "tcg"]
    with on_a_terminal(words, tmp_path, program) as (child, terminal):
        text = read_until(terminal, r"@guest:")
        os.write(terminal, b"exit\n")
        assert status_of(child, terminal) == 0
    assert said in text and text.count("booting once more") == 1


def test_shell_whose_guest_hangs_at_each_boot(tmp_path: Path) -> None:
    """Its kernel waits before it looks for the root's files, and takes CPU time meanwhile."""
    words = ["shell", "--cpus", "2", "--accel", "tcg"]
    words += ["--append", "idle=poll", "--append", "rootdelay=100000"]
    with on_a_terminal(words, tmp_path, impatient(60, 5, 5)) as (child, terminal):
        settings = termios.tcgetattr(terminal)
        text = read_until(terminal, r"next: [^\n]*\n[^\0]*swapper/0")
        assert status_of(child, terminal) == EXIT_HUNG, text
        assert termios.tcgetattr(terminal) == settings
    assert text.count("the guest hangs: booting did not end") == 2, text
    assert text.count("booting once more") == 1 and "--timeout" not in text


def test_command_that_hangs(tmp_path: Path) -> None:
    """What it said until then is there."""
    done = subprocess.run(
        [sys.executable, "-m", "saakm", "run", "fifo", "--timeout", "40", "--cpus", "2", "--",
         "sh", "-c", "nproc; sleep 1000"],
        capture_output=True, text=True, env=environment(), cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (EXIT_HUNG, "2\n"), done.stderr
    assert "40 s" in done.stderr and "next: " in done.stderr


@pytest.mark.long
@pytest.mark.parametrize("command", ["demo", "trace"])
def test_measured_command_that_hangs(command: str, tmp_path: Path) -> None:
    last = ["--", "sleep", "1000"] if command == "trace" else []
    words = [command, *COMMANDS[command], "--timeout", "0.5", *last]
    done = subprocess.run(
        [sys.executable, "-m", "saakm", *words], capture_output=True, text=True, cwd=tmp_path,
        env=environment(),
    )  # fmt: skip
    assert done.returncode == EXIT_HUNG, done.stdout + done.stderr


@pytest.mark.long
def test_plain_lines_on_a_terminal(tmp_path: Path) -> None:
    """Where there would be a live view."""
    words = ["dev", "fifo", "--plain", "--for", "3", "--cpus", "2", "--workload", "true"]
    with on_a_terminal(words, tmp_path) as (child, terminal):
        text = read_until(terminal, r"version 1 schedules[^\n]*\n")
        assert status_of(child, terminal) == 0
    assert "\x1b[?25l" not in text[text.index("version 1") :]
