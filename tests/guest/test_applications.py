# SPDX-License-Identifier: GPL-2.0
"""Real programs under each policy: they end, with transition checks on and no false alarm."""

import pytest

from .support import POLICIES, load_in_mode, policies, run_ok

HACKBENCH = {
    "processes-sockets": "",
    "processes-pipes": "-p",
    "threads-sockets": "-T",
    "threads-pipes": "-T -p",
}
# Those whose threads wait for each other by sleeping; a policy without slices runs a spinner for ever.
SHORT = ["futex", "fork", "pthread", "sem", "mutex", "nanosleep"]
LONG = SHORT + [
    "affinity",
    "clone",
    "exec",
    "hrtimers",
    "kill",
    "mq",
    "msg",
    "nice",
    "poll",
    "resched",
    "schedpolicy",
    "session",
    "sleep",
    "switch",
    "tee",
    "vforkmany",
    "wait",
    "yield",
    "zombie",
]
# Eight files, some with real work for the compiler.
MAKE = """
rm -rf /tmp/make && mkdir /tmp/make && cd /tmp/make || exit 1
for i in 1 2 3 4 5 6 7 8; do
	echo "int f$i(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * $i; return s; }" >f$i.c
done
{
	for i in 1 2 3 4 5 6 7 8; do echo "int f$i(int);"; done
	echo "int main(void) { return f1(1) + f2(1) + f3(2) + f4(2) + f5(1) + f6(1) + f7(1) + f8(1) != 7; }"
} >main.c
echo 'prog: main.o f1.o f2.o f3.o f4.o f5.o f6.o f7.o f8.o; $(CC) -o $@ $^' >Makefile
"""


def _run_in(guest, program, policy: str, command: str, timeout: float) -> None:
    name = load_in_mode(guest, policy)
    run_ok(guest, f"{program('run_in')} {name} {command}", timeout=timeout)
    assert policies(guest)[name].new > 1


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("mode", ["processes-sockets", "threads-pipes"])
def test_hackbench(guest, program, policy, mode):
    _run_in(guest, program, policy, f"hackbench -g 1 -l 10 {HACKBENCH[mode]}", 100)


@pytest.mark.long
@pytest.mark.limit(700)
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("mode", HACKBENCH)
def test_hackbench_long(guest, program, policy, mode):
    _run_in(guest, program, policy, f"hackbench -g 4 -l 100 {HACKBENCH[mode]}", 680)


def _stress_ng(guest, program, policy: str, stressors: list[str]) -> None:
    name = load_in_mode(guest, policy)
    for stressor in stressors:
        run_ok(
            guest,
            f"cd /tmp && {program('run_in')} {name} stress-ng --{stressor} 2 -t 1 --oomable --temp-path /tmp",
            timeout=100,
        )


@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_stress_ng(guest, program, policy):
    _stress_ng(guest, program, policy, SHORT[:3])


@pytest.mark.long
@pytest.mark.limit(1800)
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_stress_ng_long(guest, program, policy):
    _stress_ng(guest, program, policy, LONG)


def _make(guest, program, policy: str, targets: str) -> None:
    run_ok(guest, MAKE)
    _run_in(guest, program, policy, f"make -C /tmp/make -j4 {targets}", 110)


@pytest.mark.kernel("base")
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_make(guest, program, policy):
    _make(guest, program, policy, "f1.o f2.o")


@pytest.mark.long
@pytest.mark.limit(600)
@pytest.mark.rotates("policy")
@pytest.mark.parametrize("policy", POLICIES)
def test_make_long(guest, program, policy):
    _make(guest, program, policy, "prog")
    run_ok(guest, "/tmp/make/prog")
