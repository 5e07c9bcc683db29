# SPDX-License-Identifier: GPL-2.0
"""What the guest tests share: C programs, guests that are reused, and their health."""

import hashlib
import os
import shlex
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from saakm.base import cache, paths
from saakm.base.errors import GuestError
from saakm.base.files import replacing
from saakm.builder.ctl import build_saakmctl
from saakm.builder.kernel import Kernel, build_kernel
from saakm.builder.modules import build_modules, module_file
from saakm.builder.parameters import split
from saakm.vm.accel import choose_accel
from saakm.vm.guest import Guest
from saakm.vm.machine import TCG, Machine, default_memory
from saakm.vm.patience import BUSY
from saakm.vm.topology import parse_topology

PROGRAMS = Path(__file__).parent / "programs"
BUILT = paths.CACHE / "tests"
CFLAGS = ["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-static", "-pthread", f"-I{paths.INCLUDE}",
          "-include", f"{PROGRAMS}/resident.h"]  # fmt: skip
SYSFS = "/sys/kernel/saakm"
OWN = tuple(directory.name for directory in paths.POLICIES.iterdir())
# In each of their modes; see load_in_mode().
CENTRAL = "shinjuku:mode=central"
# In virtual caches of two cores, each with a queue of its own.
PARTS = "lavd:virt_llc=2-2:per_cpu_queues=1"
POLICIES = ["fifo", "rr", "prio", "vtime", "eevdf", "shinjuku", CENTRAL, "lavd", PARTS]
CONSOLE_LINES = 60
# For pytest.mark.append: a guest of its own. 6.12.117, unpatched too, loses the bandwidth
# of threads that leave SCHED_DEADLINE; then no CPU goes offline any more.
LOSES_BANDWIDTH = "guest=loses-bandwidth"

# --- programs ---


def build_program(name: str) -> str:
    """Compiles programs/NAME.c, once for each content; the guest sees the host's files."""
    source = PROGRAMS / f"{name}.c"
    digest = hashlib.sha256(" ".join(CFLAGS).encode())
    for file in [source, *sorted(PROGRAMS.glob("*.h")), *sorted(paths.INCLUDE.glob("*.h"))]:
        digest.update(file.read_bytes())
    built = BUILT / digest.hexdigest()[:16] / name
    if not built.exists():
        cache.make(built.parent)
        with replacing(built) as scratch:
            subprocess.run(["gcc", *CFLAGS, "-o", str(scratch), str(source)], check=True)
    return str(built)


# --- guests ---

# An instruction takes 8 ns, with the debug kernel's checks 2: ticks leave the programs most of them.
_SHIFT = {"base": 3, "debug": 1, "kcsan": 1}
# Limits are there to end what hangs, not to measure: see saakm.vm.patience.
PATIENCE = BUSY
# Why tests that compare two runs to the bit are marked `parallel`: once in eight runs of all, an
# attack took 0.1 ms longer.
TURNS = "on a busy host QEMU may give several CPUs other turns, which nobody has explained yet"
_POLL = 0.02


@dataclass(frozen=True)
class Shape:
    """What distinguishes one guest from another."""

    config: str
    topology: str
    append: tuple[str, ...] = ()
    threads: bool = False
    fast: bool = False  # an instruction takes 1 ns, as in saakm cost


def find_kernel(config: str) -> Kernel:
    """The kernel under test, with its modules and saakmctl. SAAKM_TEST_KERNEL names a build directory to take instead."""
    given = os.environ.get("SAAKM_TEST_KERNEL")
    if given:
        vmlinux = Path(given) / "vmlinux"
        kernel = Kernel(config, Path(given), str(vmlinux.stat().st_mtime_ns))
    else:
        kernel = build_kernel(config)
    build_modules(kernel)
    build_saakmctl()
    return kernel


class Pool:
    """Keeps one guest, for as long as tests want its shape: memory is short, and so are CPUs."""

    def __init__(self) -> None:
        self._shape: Shape | None = None
        self._guest: Guest | None = None
        self._kernels: dict[str, Kernel] = {}
        self.violations = 0
        self.boots = 0
        self.boot_seconds = 0.0

    def boot(self, shape: Shape) -> Guest:
        """A guest that the caller ends."""
        if shape.config not in self._kernels:
            self._kernels[shape.config] = find_kernel(shape.config)
        begin = time.monotonic()
        # SAAKM_TEST_APPEND: what tests/mutate asks of the kernel it built, for every guest.
        more = os.environ.get("SAAKM_TEST_APPEND", "").split()
        kernel = self._kernels[shape.config]
        machine = Machine(
            topology=parse_topology(shape.topology),
            memory=default_memory(shape.config),
            accel=choose_accel("auto", kernel.vmlinux) if shape.threads else TCG,
            deterministic=not shape.threads,
            shift=0 if shape.threads or shape.fast else _SHIFT[shape.config],
            # Without it, a host that is busy at the wrong moment makes the kernel give up at boot.
            append=("no_timer_check", *shape.append, *more),
        )
        guest = Guest(kernel, machine, PATIENCE).start()
        self.boots += 1
        self.boot_seconds += time.monotonic() - begin
        return guest

    def get(self, shape: Shape) -> Guest:
        if self._guest and (shape != self._shape or not self._guest.alive):
            self.drop()
        if not self._guest:
            self._guest, self._shape = self.boot(shape), shape
            self.violations = tidy(self._guest)
        return self._guest

    def drop(self) -> None:
        if self._guest:
            self._guest.close()
        self._guest = None


# threads is what it says: the threads that name the policy, and those that came and did not go.
_COUNTS_ARE_TRUE = r"""{ cat /proc/saakm/policies; cat /proc/[0-9]*/task/[0-9]*/saakm 2>/dev/null; } | awk '
	$1 == "policy" { found[$2]++ }
	NF == 9 && $1 + 0 { listed[$1] = $6; left[$1] = $7 - $8 }
	END { for (id in listed) if (listed[id] != found[id] || listed[id] != left[id]) exit 1 }'"""

# Leaves the guest as after its boot, and says how many violations it has seen.
_TIDY = f"""
pkill -KILL -f {shlex.quote(str(BUILT))}
pkill -KILL -f '^sh -c while'
echo warn >{SYSFS}/on_violation
for switch in log_violations log_transitions log_calls history; do echo 0 >{SYSFS}/$switch; done
# A test that fails may not get as far as to put them back.
for knob in server_period=1000000 server_runtime=50000 floor_period=1000000 floor_runtime=50000; do
	file={SYSFS}/${{knob%=*}}_us; read -r value <$file
	[ $value = ${{knob#*=}} ] || echo ${{knob#*=}} >$file
done
# A host that is busy elsewhere makes a guest's CPU stand still at any place.
echo 10000 >{SYSFS}/handler_limit_ms
for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
	[ ! -e $cpu ] || [ "$(cat $cpu)" = 1 ] || echo 1 >$cpu
done
[ $(wc -l </proc/saakm/policies) = 1 ] || {{
	tries=0
	until {_COUNTS_ARE_TRUE}; do
		# Who was killed takes his time.
		[ $((tries += 1)) -lt 20 ] || {{ echo "the counts of /proc/saakm/policies are wrong" >&2; exit 1; }}
		busybox usleep 100000
	done
}}
# Not from the file as it shrinks: its lines would be skipped.
for module in $(cut -d" " -f1 /proc/modules); do rmmod $module || bad=1; done
echo 1 >{SYSFS}/check_transitions
# Else the sentence of one test is taken for the same one of the next.
echo tidy >{SYSFS}/eject 2>/dev/null
cat {SYSFS}/violations
exit $bad
"""


def tidy(guest: Guest) -> int:
    done = guest.run(_TIDY)
    if done.status:
        pytest.fail(
            f"the guest cannot be tidied up: {done.stderr}\n{last_lines(guest)}", pytrace=False
        )
    return int(done.stdout.split()[-1])


class Watch:
    """Whether the kernel complained while a test ran."""

    def __init__(self, guest: Guest, pool: Pool):
        self.guest, self._pool = guest, pool
        self.since = len(guest.console())
        self.guest_is_lost = False
        self._least, self._most = 0, 0

    def expect_violations(self, least: int = 1, most: int = 1 << 31) -> None:
        """This test provokes wrong moves: that many must be counted."""
        self._least, self._most = least, most

    def check(self) -> None:
        """Leaves the guest tidy; fails if the kernel complained, until now or of that."""
        self._fail_on_splats()
        before, now = self._pool.violations, tidy(self.guest)
        self._pool.violations = now
        self._fail_on_splats()
        if not self._least <= now - before <= self._most:
            said = [line for line in self.guest.console()[self.since :].splitlines()
                    if "saakm: policy " in line]  # fmt: skip
            pytest.fail(
                "\n".join([f"{now - before} violations instead of {self._least}", *said[:10]]),
                pytrace=False,
            )

    def recover(self) -> None:
        """After a failure: keeps the guest only if it is as good as new."""
        if self.guest.alive and not self.guest_is_lost and not self.guest.splats(self.since):
            try:
                self._pool.violations = tidy(self.guest)
                return
            except (GuestError, pytest.fail.Exception):
                pass
        self._pool.drop()

    def _fail_on_splats(self) -> None:
        complaints = self.guest.splats(self.since)
        if complaints:
            pytest.fail("the kernel complained:\n" + "\n\n".join(complaints), pytrace=False)


def last_lines(guest: Guest, since: int = 0) -> str:
    return "\n".join(guest.console()[since:].splitlines()[-CONSOLE_LINES:])


# --- what tests ask a guest ---


@dataclass(frozen=True)
class Policy:
    """A row of /proc/saakm/policies."""

    id: int
    name: str
    module: str
    priority: int
    state: str
    threads: int
    new: int
    terminated: int
    switches: int


def policies(guest: Guest) -> dict[str, Policy]:
    """In order of election."""
    rows = guest.run("cat /proc/saakm/policies").check().stdout.splitlines()[1:]
    found = {}
    for row in rows:
        i, name, module, priority, state, *counts = row.split()
        found[name] = Policy(int(i), name, module, int(priority), state, *map(int, counts))
    return found


@dataclass(frozen=True)
class Exit:
    """A row of /proc/saakm/ejected."""

    id: int
    number: int
    kind: str
    seconds: float
    handler: str
    cpu: int
    thread: str
    reason: str


def ejected(guest: Guest) -> dict[str, Exit]:
    rows = guest.run("cat /proc/saakm/ejected").check().stdout.splitlines()[1:]
    found = {}
    for row in rows:
        i, name, number, kind, seconds, handler, cpu, thread, reason = row.split(maxsplit=8)
        found[name] = Exit(
            int(i), int(number), kind, float(seconds), handler, int(cpu), thread, reason
        )
    return found


def load_policy(guest: Guest, name: str, *parameters: str) -> int:
    """The id of the policy that was loaded."""
    # In a storm the guest's time is the host's: on a busy one threads may wait for more than 30 s.
    storm = [] if guest.machine.deterministic or name not in OWN else ["timeout_ms=0"]
    guest.load(name, *storm, *parameters)
    return policies(guest)[name].id


def load_in_mode(guest: Guest, word: str, *parameters: str) -> str:
    """Loads a policy that is written as for saakm bench, NAME or NAME:KEY=VALUE; the name."""
    name, settings = split(word)
    load_policy(guest, name, *settings, *parameters)
    return name


def insmod(guest: Guest, word: str, *parameters: str) -> str:
    """For a shell in the guest: loads a policy that is written as for load_in_mode()."""
    name, settings = split(word)
    return " ".join(["insmod", str(module_file(guest.kernel, name)), *settings, *parameters])


def joined(policy: str, count: int, pause: str = ":") -> str:
    """For a shell in the guest: waits until the policy has that many threads.

    A sleep would not do. While a program waits for its file the guest has nothing to run, and
    its time leaps to the end of the sleep. The shell does it alone: another program may wait for
    what a thread holds that its policy starves. With a `pause` it leaves its CPU to others.
    """
    row = f'[ "$name $threads" = "{policy} {count}" ] && break'
    rows = f"while read -r _ name _ _ _ threads _; do {row}; done </proc/saakm/policies"
    return f"until {rows}; do {pause}; done"


def sleeps(cpu: int) -> str:
    """For a shell in the guest: $sleeper is a fair thread that sleeps on the CPU until it gets a signal.

    One that joins asleep, and is woken, waits for its policy alone. One that joins by itself may be preempted in the
    kernel as it joins; then the class gives it a turn, whatever its policy does. So may one on its way to sleep,
    which has the state of those that do: see is_asleep() of programs/subject.h.
    """
    state = '"$(cut -d" " -f2-3 /proc/$sleeper/stat)"'
    return f"""taskset -c {cpu} sleep 10000 & sleeper=$!
        until [ {state} = "(sleep) S" ] && [ "$(cat /proc/$sleeper/syscall)" != running ]
        do busybox usleep 10000; done"""


def is_ready(pid: str) -> str:
    """As joined(): until a thread is READY. Fails once it has ended, as where it stalled before somebody looked."""
    line = '[ "$key $value" = "state READY" ] && break'
    lines = f"while read -r key value; do {line}; done </proc/{pid}/saakm"
    return f"until {lines}; do [ -e /proc/{pid} ] || exit 1; done"


def spins(count: int = 1) -> str:
    """As joined(): until so many run `sh -c 'while :; do :; done'`. From then on no time leaps."""
    return f'until [ "$(pgrep -fc "^sh -c while")" = {count} ]; do busybox usleep 10000; done'


def remove_cgroup(path: str) -> str:
    """As joined(): kills what runs in a cgroup and below, and removes them once that has ended."""
    return f"""
        [ ! -d {path} ] || echo 1 >{path}/cgroup.kill
        find {path} -depth -type d | while read -r cgroup; do
            until rmdir "$cgroup"; do busybox usleep 10000; done
        done"""


def last_error(guest: Guest) -> str:
    return guest.run(f"cat {SYSFS}/last_error").check().stdout.strip()


def violations(guest: Guest) -> int:
    return int(guest.run(f"cat {SYSFS}/violations").check().stdout)


def until(condition: Callable[[], object], seconds: float, what: str | Callable[[], str]) -> object:
    """The first true value of `condition`, which is asked until `seconds` of an idle host have passed."""
    deadline = time.monotonic() + seconds * PATIENCE
    while not (value := condition()):
        if time.monotonic() > deadline:
            awaited = what if isinstance(what, str) else what()
            pytest.fail(f"not within {seconds:.0f} s: {awaited}", pytrace=False)
        time.sleep(_POLL)
    return value


def emptied(guest: Guest, name: str) -> Policy:
    """A policy, once the last thread has left: the dead do so after those who wait for them go on."""
    until(lambda: policies(guest)[name].threads == 0, 20, f"{name} without threads")
    return policies(guest)[name]


def run_ok(guest: Guest, command: str, timeout: float = 120.0) -> str:
    """Runs a command that must succeed; its output."""
    done = guest.run(command, timeout=timeout)
    if done.status:
        pytest.fail(
            f"{command}\nended with status {done.status} after {done.seconds:.1f} s of the guest's\n"
            f"--- stdout\n{done.stdout}--- stderr\n{done.stderr}",
            pytrace=False,
        )
    return done.stdout


def expect_order(guest: Guest, command: str, expected: list[int], tries: int = 4) -> None:
    """The threads of programs/queue_order.c run in this order.

    The guest's own threads may take the CPU from one between its election and its
    saying so, which puts it behind the others: not four times in a row.
    """
    seen = []
    while len(seen) < tries:
        seen.append(list(map(int, run_ok(guest, command).split())))
        if seen[-1] == expected:
            return
    pytest.fail(f"threads ran in the orders {seen} instead of {expected}", pytrace=False)
