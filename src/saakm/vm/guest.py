# SPDX-License-Identifier: GPL-2.0
"""A guest: the kernel that we built, booted on the host's own files.

    with Guest(kernel, Machine(parse_topology("2s2c2t"))) as guest:
        result = guest.run("cat /proc/saakm/policies")

The host writes a command to a file in a directory shared with the guest and
its number to the guest's serial line; output comes back as files. See
guest/agent for the other end.
"""

import atexit
import contextlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TextIO

from ..base import cache, paths
from ..base.errors import GuestDied, GuestHung, QemuFault, SaakmError
from ..base.process import tail
from ..builder.ctl import saakmctl_file
from ..builder.kconfig import CHECKED
from ..builder.kernel import Kernel
from ..builder.modules import module_file
from .command import host_command, package_in_guest
from .exchange import drop_exchange, new_exchange
from .machine import KVM, TCG, Machine
from .patience import Patience
from .qmp import tell
from .running import announce, hold, is_held
from .splats import find_splats, last_words
from .symbolize import symbolize

DEFAULT_TIMEOUT = 60.0
# How much slower kernels with checks are than the base kernel under plain TCG, generously: for deadlines.
_SLOWER = 4
_NMI_SECONDS = 5.0
# QEMU 10 in threads: now and then its iotlb_to_section() fails while the guest sets up its devices.
# And in counted time it stood still on a busy host, twice in some thousand boots.
_BOOTS = 3
_STILL_SECONDS = 60.0
_BOOTING = "booting"
_POLL = 0.05


@contextlib.contextmanager
def _as_it_was(terminal: TextIO) -> Iterator[None]:
    """A QEMU that is killed leaves it without echo and line ends."""
    settings = termios.tcgetattr(terminal)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, settings)


@dataclass(frozen=True)
class Result:
    """What a command in the guest left. `seconds` is guest time, to 10 ms."""

    status: int
    stdout: str
    stderr: str
    seconds: float

    def check(self) -> Self:
        if self.status:
            raise SaakmError(
                f"a command in the guest ended with status {self.status}",
                (self.stderr or self.stdout).strip() or "it said nothing",
                "run it by hand: saakm shell",
            )
        return self


class Guest:
    """One boot. Use it in a `with` statement: the guest ends with the block."""

    def __init__(self, kernel: Kernel, machine: Machine, patience: float = 1.0):
        """`patience`: of timeouts of commands; a boot's is BUSY."""
        self.kernel, self.machine = kernel, machine
        self._saakmctl = saakmctl_file()
        self.boot_seconds = 0.0
        self._patience = patience
        self._qemu: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._count = 0
        self._done: dict[int, tuple[int, float]] = {}
        self._gone: SaakmError | None = None
        self._modules: dict[str, Path] = {}  # by name, as they were loaded

    def __enter__(self) -> Self:
        return self if self._qemu else self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Self:
        """Boot, until the guest takes commands. Anew, where that may help: see _boots_again()."""
        for left in reversed(range(_BOOTS)):
            self._prepare()
            try:
                self._boot("agent", subprocess.PIPE)
                self._wait(self._is_up, self._boot_deadline(), _BOOTING, [])
                self._clock = Patience(self._started_qemu.pid, self._patience)
                break
            except (QemuFault, GuestHung) as fault:
                self.close()
                if not self._boots_again(fault, left):
                    raise
            except BaseException:
                self.close()
                raise
        return self

    def _boots_again(self, fault: QemuFault | GuestHung, left: int) -> bool:
        """Whether another boot may go better, which it says: QEMU was stopped by a fault of its own.

        Or, once, an emulated guest hangs: on a busy host one boot of some thousand never got a
        CPU's timer. Hardly anything of ours runs yet.
        """
        hung = isinstance(fault, GuestHung)
        if not left or hung and (left < _BOOTS - 1 or self.machine.accel != TCG):
            return False
        print(f"saakm: {fault.what}: {fault.why}; booting once more", file=sys.stderr)
        self._gone, self._buffer = None, b""
        return True

    def _is_up(self) -> bool:
        if self.boot_seconds > 0:
            return True
        self._look_whether_it_boots()
        return False

    def _look_whether_it_boots(self) -> None:
        if is_held(self.exchange) or self._clock.idle() < _STILL_SECONDS:
            return
        raise QemuFault(
            "QEMU stands still",
            f"it has used no CPU time for {_STILL_SECONDS:g} s, though its guest has just begun to boot",
            "if this happens again: doctor says which QEMU this is; another: SAAKM_QEMU=PATH",
            self._with_lines(last_words(self.console())),
        )

    def interact(self, command: str) -> None:
        """Boot, run `command`, then a shell on our terminal until the user leaves it.

        Boot anew, where that may help: see _boots_again().
        """
        for left in reversed(range(_BOOTS)):
            self._prepare()
            try:
                (self.exchange / "start.sh").write_text(command + "\n")
                with _as_it_was(sys.stdin):
                    self._boot("shell", None)
                    status = self._end_of_shell()
                if status or "Kernel panic" in self.console():
                    raise self._died()
                return
            except (QemuFault, GuestHung) as fault:
                if not self._boots_again(fault, left):
                    raise
            finally:
                self.close()

    def _end_of_shell(self) -> int:
        """QEMU's status. Whoever is at the prompt may take his time."""
        limit = deadline = self._boot_deadline()
        while not (self.exchange / "prompt").exists():
            if is_held(self.exchange):
                deadline = self.spent() + limit
            elif self.spent() > deadline:
                raise self._hung(_BOOTING, limit)
            try:
                return self._started_qemu.wait(1)
            except subprocess.TimeoutExpired:
                self._look_whether_it_boots()
        return self._started_qemu.wait()

    def _prepare(self) -> None:
        self.exchange = new_exchange()
        atexit.register(self.close)

    # --- what tests use ---

    def run(self, command: str, timeout: float = DEFAULT_TIMEOUT, stream: bool = False) -> Result:
        """Run a shell command to its end. `stream`: also copy its output to ours as it comes.

        A command that outlasts `timeout` means that the guest hangs: it is
        ended, with GuestHung. To bound a command only, use timeout(1) in it.
        """
        self._raise_if_gone()
        self._count += 1
        n = self._count
        (self.exchange / f"{n}.sh").write_text(command + "\n")
        outputs = [self.exchange / f"{n}.{kind}" for kind in ("out", "err")]
        ours = (sys.stdout, sys.stderr) if stream else ()
        copiers = [_Copier(path, stream) for path, stream in zip(outputs, ours)]
        self._send(f"run {n}\n")
        self._wait(lambda: n in self._done, timeout, f"'{_short(command)}'", copiers)
        status, seconds = self._done.pop(n)
        stdout, stderr = (path.read_text(errors="replace") for path in outputs)
        return Result(status, stdout, stderr, seconds)

    def run_helper(self, name: str, arguments: str, timeout: float, stream: bool = False) -> Result:
        """Run saakm.guest.<name> with the guest's own Python; `arguments` are for the shell."""
        python = f"PYTHONPATH={package_in_guest(self.exchange).parent} /usr/bin/python3"
        return self.run(f"{python} -m saakm.guest.{name} {arguments}", timeout, stream)

    def console(self) -> str:
        """Everything the kernel printed so far."""
        path = self.exchange / "console"
        return path.read_text(errors="replace").replace("\r", "") if path.exists() else ""

    def splats(self, since: int = 0) -> list[str]:
        """The kernel's complaints in console()[since:]."""
        return [self._with_lines(splat) for splat in find_splats(self.console()[since:])]

    def _with_lines(self, complaint: str) -> str:
        return symbolize(complaint, self.kernel, self._modules)

    def load(self, module: str | Path, *parameters: str) -> None:
        """insmod a module of the checkout by name, any policy by its directory, or a built file."""
        if isinstance(module, Path) and module.suffix == ".ko":
            file = module
        else:
            file = module_file(self.kernel, module)
        self._modules[file.stem] = file
        done = self.run(shlex.join(["insmod", str(file), *parameters]))
        if done.status:
            reason = self.run("cat /sys/kernel/saakm/last_error 2>/dev/null").stdout.strip()
            raise SaakmError(
                f"the guest cannot load '{module}'",
                " - ".join(filter(None, [done.stderr.strip(), reason])),
                "mend what it names: the policy, or its parameters (--param NAME=VALUE)"
                if reason
                else "read the kernel's messages: " + " / ".join(self.console().splitlines()[-3:]),
            )

    def unload(self, name: str) -> None:
        done = self.run(f"rmmod {shlex.quote(name)}")
        if done.status:
            raise SaakmError(
                f"the guest cannot unload '{name}'",
                done.stderr.strip(),
                "look whether it is loaded: lsmod in saakm shell",
            )

    def wait_for_debugger(self) -> None:
        """Stands still from here on, until gdb lets it go on. Meanwhile no time is up."""
        hold(self.exchange)
        tell(self.exchange, "stop")

    @property
    def instructions(self) -> int:
        """How many a deterministic guest has executed, on all CPUs. Its clock also leaps while all idle."""
        return int(tell(self.exchange, "query-replay")["icount"])

    def spent(self) -> float:
        """Seconds since the boot, which timeouts count: see Patience."""
        return self._clock.spent()

    @property
    def alive(self) -> bool:
        return self._qemu is not None and self._qemu.poll() is None

    # --- life and death ---

    def _boot(self, mode: str, pipe: int | None) -> None:
        """Start QEMU; its serial line is a pipe, or our terminal."""
        size = shutil.get_terminal_size()
        environment = {"path": str(self._saakmctl.parent)}
        environment |= {"rows": str(size.lines), "cols": str(size.columns)}
        command = host_command(self.machine, self.kernel.vmlinux, self.exchange, mode, environment)
        announce(self.exchange, self.kernel.config, self.kernel.build)
        self._started = time.monotonic()
        with (self.exchange / "qemu.log").open("w") as errors:
            # Its own session, so that Ctrl-C reaches us and not QEMU; a shell needs the terminal.
            self._qemu = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=errors, start_new_session=pipe is not None
            )
        self._clock = Patience(self._qemu.pid)

    @property
    def usual_boot_seconds(self) -> float:
        """On a machine with nothing else to do: 4 emulated CPUs take 4 s, and 64 some 190 s."""
        if self.machine.accel == KVM:
            return 2.0
        return (3 + self.machine.topology.cpus**2 / 22) * self._slower

    @property
    def _slower(self) -> float:
        """What is not ours has no checks that we know of."""
        return _SLOWER if self.kernel.config in CHECKED else 1

    def _boot_deadline(self) -> float:
        seconds = 60 + self.machine.topology.cpus**2 / 10
        return seconds * self._slower * (4 if self.machine.deterministic else 1)

    def close(self) -> None:
        """End the guest now. What it wrote to its console is kept only if it died."""
        atexit.unregister(self.close)
        if self._qemu:
            self._qemu.kill()
            self._qemu.wait()
            for pipe in filter(None, (self._qemu.stdin, self._qemu.stdout)):
                pipe.close()
        drop_exchange(self.exchange)

    def _raise_if_gone(self) -> None:
        if self._gone:
            raise self._gone

    def _died(self) -> GuestDied:
        kept = self._keep_console()
        words = tail(self.exchange / "qemu.log", 5).strip()
        # It asserts what it believes of itself: no guest may break that.
        died = QemuFault if ": Assertion `" in words else GuestDied
        return died(
            f"the guest died after {time.monotonic() - self._started:.0f} s",
            words or self._how_it_ended(),
            f"read its whole console: {kept}",
            self._with_lines(last_words(self.console())),
        )

    def _how_it_ended(self) -> str:
        """Its end of the serial line closes a moment before it is gone."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._started_qemu.wait(_POLL * 20)
        status = self._started_qemu.poll() or 0
        if status >= 0:
            return "its kernel panicked or powered off"
        name = signal.Signals(-status).name
        why = ": for want of memory? dmesg says so" if name == "SIGKILL" else ""
        return f"QEMU was ended by {name}{why}"

    def _hung(self, doing: str, seconds: float) -> GuestHung:
        self._make_it_speak()
        kept = self._keep_console()
        why = "a thread was never scheduled again, or the command just takes longer"
        more_time = "give it more time: --timeout; "
        if doing == _BOOTING:  # for which no option gives more
            why, more_time = "it waits for something that never comes, or just takes longer", ""
        return GuestHung(
            f"the guest hangs: {doing} did not end within {seconds:.0f} s",
            why,
            f"read its whole console: {kept}; {more_time}or look at it while it hangs: saakm gdb",
            self._with_lines(last_words(self.console())),
        )

    def _make_it_speak(self) -> None:
        """An NMI makes a hung kernel panic with the stacks of all CPUs."""
        try:
            tell(self.exchange, "inject-nmi")
            self._started_qemu.wait(_NMI_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            pass  # then what it said before has to do
        self._started_qemu.kill()
        self._started_qemu.wait()

    def _keep_console(self) -> Path:
        kept = cache.make(paths.LOGS) / time.strftime(f"console-%Y%m%d-%H%M%S-{os.getpid()}.log")
        kept.write_text(self.console())
        return kept

    # --- the serial line ---

    @property
    def _started_qemu(self) -> subprocess.Popen[bytes]:
        assert self._qemu, "start() comes first"
        return self._qemu

    def _send(self, line: str) -> None:
        pipe = self._started_qemu.stdin
        assert pipe
        try:
            pipe.write(line.encode())
            pipe.flush()
        except BrokenPipeError:
            pass  # _wait finds out, and says how it died

    def _wait(
        self,
        finished: Callable[[], bool],
        timeout: float,
        doing: str,
        copiers: list["_Copier"],
    ) -> None:
        deadline = self.spent() + timeout
        while True:
            if is_held(self.exchange):
                deadline = self.spent() + timeout
            ended = not self._read_line()
            for copier in copiers:
                copier.copy()
            if finished():
                return
            if ended:
                self._gone = self._died()
            elif self.spent() > deadline:
                self._gone = self._hung(doing, timeout)
            self._raise_if_gone()

    def _read_line(self) -> bool:
        """Handle what the agent says; False when the line is closed."""
        pipe = self._started_qemu.stdout
        assert pipe
        if not select.select([pipe], [], [], _POLL)[0]:
            return True
        data = os.read(pipe.fileno(), 4096)
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._handle(line.decode(errors="replace").split())
        return bool(data)

    def _handle(self, words: list[str]) -> None:
        match words:
            case ["ready", _]:
                self.boot_seconds = time.monotonic() - self._started
            case ["done", n, status, begin, end]:
                self._done[int(n)] = int(status), float(end) - float(begin)


class _Copier:
    """Copies what is new in a growing file to a stream."""

    def __init__(self, path: Path, stream: TextIO):
        self._path, self._stream, self._at = path, stream, 0

    def copy(self) -> None:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        self._at += len(new)
        self._stream.buffer.write(new)
        self._stream.flush()


def _short(command: str) -> str:
    """Its last line, which in a script is what counts."""
    line = command.strip().splitlines()[-1]
    return line if len(line) <= 60 else line[:57] + "..."
