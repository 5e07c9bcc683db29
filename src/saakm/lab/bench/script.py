# SPDX-License-Identifier: GPL-2.0
"""The shell scripts that a workload's machine runs: setup, and one run."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...model.workload import Variant
from ...vm.command import DISK_SERIAL

WORK = "/tmp/saakm-bench"
TRACE = "trace.dat"
CGROUP = Path("/sys/fs/cgroup/saakm-bench")
_KILL_SECONDS = 5
# sched_waking is when the waker asks, sched_wakeup when the thread is in a queue.
EVENTS = ("sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_switch", "sched_process_fork")
_KIB_PER_CPU = 4096

BEGIN = f"""\
export CPUS=$(nproc) WORK={WORK} LC_ALL=C.UTF-8
mkdir -p $WORK && cd $WORK || exit 1
"""
# Servers that outlive their script would disturb the next run.
_END = f"""\
echo 1 >{CGROUP}/cgroup.kill
for i in 1 2 3 4 5 6 7 8 9 10; do
	grep -q '^populated 0' {CGROUP}/cgroup.events && break
	sleep 0.2
done
exit $status
"""


_OTHERS = "--config features and --kernel 7.3 have it"
# Which disk it is, its serial number says: on no other one may a file system be made.
_DISK = """\
grep -qw {kind} /proc/filesystems || {{
	echo "this kernel cannot mount {kind}: it is built without CONFIG_{config}_FS=y; {others}" >&2
	exit 1
}}
disk=$(grep -lx {serial} /sys/block/*/serial 2>/dev/null) || {{
	echo "this kernel does not see the guest's disk: it is built without CONFIG_VIRTIO_BLK=y; {others}" >&2
	exit 1
}}
disk=${{disk%/serial}}
mkfs.{kind} -q -f "/dev/${{disk##*/}}" && mkdir -p disk && mount -t {kind} "/dev/${{disk##*/}}" disk || exit 1
"""


def _disk(kind: str) -> str:
    return _DISK.format(kind=kind, config=kind.upper(), serial=DISK_SERIAL, others=_OTHERS)


def setup(variant: Variant, programs: Mapping[str, Path]) -> str:
    """What comes once a boot. `programs`: of ours, where they are; empty if there is nothing to do."""
    lines = [f"ln -sfn {shlex.quote(str(file))} {name}" for name, file in programs.items()]
    if variant.filesystem:
        lines.append(_disk(variant.filesystem))
    lines += [variant.setup] if variant.setup else []
    return BEGIN + "\n".join(lines) + "\n" if lines else ""


def one_run(
    command: str, prefix: Sequence[str], timeout: float, python_path: str, trace: str = ""
) -> str:
    """`trace`: the file to leave what the scheduler did in; empty to trace nothing.

    timeout(1) stays outside of the scheduler: it must get a CPU when nobody else does.
    """
    timed = [*prefix, "/usr/bin/python3", "-m", "saakm.guest.timed", f"{WORK}/command.sh"]
    limit = ["timeout", "-k", str(_KILL_SECONDS), f"{timeout:g}"]
    start, stop = recording(trace, EVENTS, _KIB_PER_CPU) if trace else ("", "")
    return (
        BEGIN
        + f"printf '%s\\n' {shlex.quote(command)} >command.sh\n"
        + f"mkdir -p {CGROUP}\n{start}"
        + f"(echo 0 >{CGROUP}/cgroup.procs; export PYTHONPATH={shlex.quote(python_path)}\n"
        + f"exec {shlex.join(limit + timed)})\nstatus=$?\n{stop}{_END}"
    )


def recording(file: str, events: Sequence[str], kib_per_cpu: int) -> tuple[str, str]:
    """What comes before a run, and after it. A buffer that is full keeps its end."""
    options = " ".join(f"-e sched:{name}" for name in events)
    # Into memory, and to a file afterwards: recording must not be a load of its own.
    start = f"trace-cmd start -b {kib_per_cpu} -C mono {options} >&2 || exit 1\n"
    stop = (
        f"trace-cmd stop >&2\ntrace-cmd extract -o {shlex.quote(file)} >&2\ntrace-cmd reset >&2\n"
    )
    return start, stop
