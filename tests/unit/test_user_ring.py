# SPDX-License-Identifier: GPL-2.0
"""The rings between the policy `user` and its agent: bridge.c against crates/saakm-user, in two threads.

tests/sim/user_ring/ has the program. It consists of the files that a kernel and an agent have, the
first compiled as the simulator does, and all of it with ThreadSanitizer. Then it is built with
mistakes, each of which must be found.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from saakm.base import paths
from saakm.sim.build import policy_units
from saakm.sim.compile import run_tool
from saakm.sim.kbuild import Module
from saakm.sim.kinds import Recipe

BRIDGE = "policies/user/bridge.c"
RING = "crates/saakm-user/src/ring.rs"
KERNEL = "tests/sim/user_ring/kernel.c"
AGENT = "tests/sim/user_ring/agent.rs"
RUST = [RING, *(f"crates/saakm-user/src/{name}.rs" for name in ("area", "protocol", "sync"))]
SOURCES = [BRIDGE, KERNEL, AGENT, *RUST, *(f"policies/user/{n}.h" for n in ("user", "protocol"))]
PERIOD = 40_000  # as in kernel.c: in each of them both rings are full once, and empty


@dataclass(frozen=True)
class Mistake:
    name: str
    file: str
    right: str
    wrong: str

    def __str__(self) -> str:
        return self.name


def weaker(name: str, file: str, right: str) -> Mistake:
    """The same access, which orders nothing."""
    wrong = right.replace("Ordering::Acquire", "Ordering::Relaxed")
    wrong = wrong.replace("Ordering::Release", "Ordering::Relaxed")
    wrong = wrong.replace("smp_load_acquire(&", "READ_ONCE(")
    wrong = wrong.replace("smp_store_release(&", "WRITE_ONCE(")
    return Mistake(name, file, right, wrong)


RACES = [
    weaker("event-written", BRIDGE, "smp_store_release(&agent->page->events_written,"),
    weaker("event-room", BRIDGE, "smp_load_acquire(&agent->page->events_read)"),
    weaker("decision-seen", BRIDGE, "smp_load_acquire(&agent->page->decisions_written)"),
    weaker("decision-read", BRIDGE, "smp_store_release(&agent->page->decisions_read,"),
    weaker("event-seen", RING, "self.ring.written.load(Ordering::Acquire)"),
    weaker("event-read", RING, "self.ring.read.store(self.next, Ordering::Release)"),
    weaker("decision-room", RING, "self.ring.read.load(Ordering::Acquire)"),
    weaker("decision-written", RING, "self.ring.written.store(self.next, Ordering::Release)"),
]
SLIPS = [
    Mistake("event-place", BRIDGE, "agent->written % USER", "(agent->written + 1) % USER"),
    Mistake("event-one-too-many", BRIDGE, ">= USER_RECORDS) {", "> USER_RECORDS) {"),
    Mistake("event-field", BRIDGE, "e->tgid = task->tgid;", "e->tgid = task->pid;"),
    Mistake("decision-place", BRIDGE, "ring[agent->done %", "ring[(agent->done + 1) %"),
    Mistake("decision-twice", BRIDGE, "\t\tagent->done++;", "\t\tagent->done += agent->decided % 7 > 0;"),
    Mistake("event-skipped", RING, "self.seen = written;", "self.seen = written; self.next += 1;"),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def runtime() -> None:
    """Debian's compiler comes without it."""
    if not shutil.which("rustc"):
        pytest.skip("there is no rustc")
    root = Path(run_tool(["rustc", "--print", "sysroot"]).stdout.strip())
    if not list(root.glob("lib/rustlib/*/lib/librustc*_rt.tsan.a")):
        pytest.skip("this rustc has no ThreadSanitizer: rustup's has")


def build(place: Path, mistake: Mistake | None = None) -> Path:
    for name in SOURCES:
        text = (paths.REPO / name).read_text()
        if mistake and name == mistake.file:
            assert mistake.right in text, f"{name} has changed: {mistake}"
            text = text.replace(mistake.right, mistake.wrong)
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    module = Module("user", place / "policies/user", (place / BRIDGE, place / KERNEL))
    objects = []
    for unit in policy_units(module, Recipe(nr_cpus=128)):
        objects.append(place / f"{unit.source.stem}.o")
        # ThreadSanitizer knows of no fences, which the rings do not need, and sees what memcpy()
        # does if that is called. Rust's programs lie anywhere.
        sanitize = ["-fsanitize=thread", "-Wno-tsan", "-fno-builtin-memcpy"]
        flags = [*unit.flags, *sanitize, "-fPIE"]
        compiled(unit.compiler, *flags, "-c", str(unit.source), "-o", str(objects[-1]))
    program = place / "ring"
    # Of what the standard library does in a thread of ours, nothing is to be observed.
    sanitize = ["-Zsanitizer=thread", "-Cunsafe-allow-abi-mismatch=sanitizer"]
    links = [f"-Clink-arg={file}" for file in objects]
    options = ["--edition", "2021", "-O", "-g"]
    compiled("rustc", *options, *sanitize, *links, str(place / AGENT), "-o", str(program))
    return program


def compiled(*command: str) -> None:
    # A stable compiler has sanitizers, too, but not for everybody.
    environment = {**os.environ, "LC_ALL": "C", "RUSTC_BOOTSTRAP": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def run(program: Path, records: int) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1 exitcode=66"}
    command = [program, str(records)]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment)


def test_both_ends_agree(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Each record arrives once, in order, as it was, and no access races with another."""
    records = 10_000_000 if request.config.getoption("--long") else 5 * PERIOD
    done = run(build(tmp_path), records)
    assert (done.returncode, done.stderr) == (0, "")
    seen = [int(word) for word in done.stdout.split()]
    # Events and decisions: no room, and none there.
    assert len(seen) == 4
    assert min(seen) >= records // PERIOD, done.stdout


@pytest.mark.rotates("race")
@pytest.mark.parametrize("race", RACES, ids=str)
def test_races_are_found(race: Mistake, tmp_path: Path) -> None:
    done = run(build(tmp_path, race), 5 * PERIOD)
    assert done.returncode == 66, done.stdout
    assert "ThreadSanitizer: data race" in done.stderr


@pytest.mark.rotates("slip")
@pytest.mark.parametrize("slip", SLIPS, ids=str)
def test_slips_are_found(slip: Mistake, tmp_path: Path) -> None:
    done = run(build(tmp_path, slip), 5 * PERIOD)
    assert done.returncode, done.stdout
    assert "record " in done.stderr or "ThreadSanitizer: data race" in done.stderr
