#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A scheduler in Python: first come, first served. Run it as root: fifo.py [CPU...]

It speaks the protocol of policies/user/protocol.h, and shows that any language may. Its heap may
fault, and its garbage be collected, while threads wait; a scheduler in earnest is in Rust.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import signal
import struct
import sys

READY, ANY, RECORDS, SLICE_NS = 1, -1, 4096, 5_000_000
ATTACH, PARK = 0xC0B85301, 0x5302
SCHED_SAAKM, SYS_SCHED_SETATTR = 8, {"x86_64": 314, "aarch64": 274}[os.uname().machine]
EVENT = struct.Struct("<5Q4IiII2H16s")  # struct user_event, without the bitmap at its end
DECISION = struct.Struct("<2Q2IiI")
EVENTS_WRITTEN, RETIRE, EVENTS_READ, DECISIONS_WRITTEN = 64, 72, 128, 132


def join_policy(name: str) -> None:
    """The calling thread becomes one of the policy's."""
    with open("/proc/saakm/policies", encoding="utf-8") as table:
        rows = [line.split() for line in table]
    policy = next((int(row[0]) for row in rows if row[1] == name), None)
    if policy is None:
        sys.exit(f"policy '{name}' is not loaded")
    attr = struct.pack("<IIQiIQQQIIII", 64, SCHED_SAAKM, 0, 0, 0, 0, 0, 0, 0, 0, policy, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mlockall(3)  # if it may
    if libc.syscall(SYS_SCHED_SETATTR, 0, attr, 0):
        sys.exit(f"cannot join policy '{name}': {os.strerror(ctypes.get_errno())}")


def attach(cpus: set[int]) -> tuple[int, mmap.mmap]:
    """Become the agent of these CPUs, and map what is shared with the kernel."""
    device = os.open("/dev/saakm_user", os.O_RDWR)
    words = max(cpus) // 64 + 1
    bitmap = ctypes.create_string_buffer(sum(1 << c for c in cpus).to_bytes(8 * words, "little"))
    head = struct.pack("<IIQII32s", 1, 0, ctypes.addressof(bitmap), 8 * words, 0, b"fifo.py")
    argument = bytearray(head + bytes(128))
    try:
        fcntl.ioctl(device, ATTACH, argument)
    except OSError as error:
        sys.exit(argument[56:].split(b"\0")[0].decode() or str(error))
    with mmap.mmap(device, 4096) as page:
        (length,) = struct.unpack_from("<I", page, 24)
    return device, mmap.mmap(device, length)


def schedule(device: int, area: mmap.mmap) -> None:
    """Go round: all events, their decisions, park."""
    event_bytes, events_at, decisions_at = struct.unpack_from("<3I", area, 8)
    # One access each, of four bytes: half a count would be a wrong one.
    count = {at: ctypes.c_uint32.from_buffer(area, at) for at in (64, 72, 128, 132)}
    read, written = count[EVENTS_READ].value, count[DECISIONS_WRITTEN].value
    while not count[RETIRE].value:
        while read != count[EVENTS_WRITTEN].value:
            event = EVENT.unpack_from(area, events_at + read % RECORDS * event_bytes)
            read = (read + 1) & 0xFFFFFFFF
            pid, generation, kind = event[5], event[7], event[12]
            if kind == READY:
                at = decisions_at + written % RECORDS * DECISION.size
                DECISION.pack_into(area, at, 0, SLICE_NS, pid, generation, ANY, 0)
                written = (written + 1) & 0xFFFFFFFF
        count[EVENTS_READ].value, count[DECISIONS_WRITTEN].value = read, written
        try:
            fcntl.ioctl(device, PARK)
        except OSError as error:
            if error.errno != errno.EINTR:
                sys.exit(f"the kernel goes on without it: {error}")


def main() -> None:
    """Until Ctrl-C, or another agent takes over."""
    cpus = {int(cpu) for cpu in sys.argv[1:]} or os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    join_policy("user")
    schedule(*attach(cpus))


if __name__ == "__main__":
    main()
