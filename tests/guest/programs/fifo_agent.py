#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The smallest agent: first come, first served, on any CPU. policies/user/protocol.h says how.

--take-over: from the agent that decides now; --die AFTER: end after so many decisions; --stay-away: never attach.
"""

import argparse
import ctypes
import errno
import fcntl
import mmap
import os
import struct
import sys
import time
from pathlib import Path

SCHED_SETATTR, SCHED_SAAKM = 314, 8
PARK, STALE = ord("S") << 8 | 2, errno.ESTALE
ATTACH = struct.Struct("=IIQII32s128s")
ATTACH_NUMBER = 3 << 30 | ATTACH.size << 16 | ord("S") << 8 | 1
TAKE_OVER, READY, ANY, RECORDS = 1, 1, 0xFFFFFFFF, 4096
EVENTS_READ, DECISIONS_WRITTEN, RETIRE = 128, 132, 72
EVENTS_WRITTEN = 64


def lock_memory():
    """Who would schedule the thread that brings a page?"""
    now_and_later = 1 | 2  # MCL_CURRENT, MCL_FUTURE
    if ctypes.CDLL(None, use_errno=True).mlockall(now_and_later):
        why = os.strerror(ctypes.get_errno())
        print(f"memory is not locked, so threads may wait for its disk: {why}", file=sys.stderr)


def join():
    """This thread decides for threads of its own policy."""
    rows = [line.split() for line in Path("/proc/saakm/policies").read_text().splitlines()]
    number = next(int(row[0]) for row in rows if row[1] == "user")
    # struct saakm_attr of src/saakm/guest/include
    attr = struct.pack("=IIQiIQQQIIII", 64, SCHED_SAAKM, 0, 0, 0, 0, 0, 0, 0, 0, number, 0)
    if ctypes.CDLL(None, use_errno=True).syscall(SCHED_SETATTR, 0, attr, 0):
        sys.exit(f"cannot join: {os.strerror(ctypes.get_errno())}")


def attach(device, flags):
    cpus = (ctypes.c_uint64 * 16)()
    for cpu in range(os.cpu_count()):
        cpus[cpu // 64] |= 1 << cpu % 64
    size = (os.cpu_count() + 63) // 64 * 8
    attach = bytearray(
        ATTACH.pack(1, flags, ctypes.addressof(cpus), size, 0, b"fifo_agent.py", b"")
    )
    try:
        fcntl.ioctl(device, ATTACH_NUMBER, attach)
    except OSError as error:
        why = ATTACH.unpack(attach)[6].rstrip(b"\0").decode()
        sys.exit(f"cannot attach: {error}: {why}")


def decide(device, page, most, forget):
    at = {name: struct.unpack_from("=I", page, 4 * n)[0] for n, name in
          enumerate(("protocol", "cpus", "bytes", "events", "decisions"))}  # fmt: skip
    read = written = waits = 0
    counts = memoryview(page).cast("I")
    while not counts[RETIRE // 4]:
        while read != counts[EVENTS_WRITTEN // 4]:
            event = at["events"] + read % RECORDS * at["bytes"]
            pid, _, generation = struct.unpack_from("=III", page, event + 40)
            [kind] = struct.unpack_from("=H", page, event + 68)
            read = (read + 1) & 0xFFFFFFFF
            waits += kind == READY
            if kind == READY and (not forget or waits % forget):
                place = at["decisions"] + written % RECORDS * 32
                struct.pack_into("=QQIIII", page, place, written, 0, pid, generation, ANY, 0)
                written = (written + 1) & 0xFFFFFFFF
            counts[EVENTS_READ // 4], counts[DECISIONS_WRITTEN // 4] = read, written
        if most and written >= most:
            sys.exit(f"ends after {written} decisions, as it was told")
        try:
            fcntl.ioctl(device, PARK)
        except OSError as error:
            if error.errno == STALE:
                break
            if error.errno != errno.EINTR:
                raise


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--take-over", action="store_true")
    parser.add_argument("--die", type=int, default=0)
    parser.add_argument("--forget", type=int, default=0, metavar="N", help="each Nth thread")
    parser.add_argument("--stay-away", action="store_true")
    args = parser.parse_args()
    if args.stay_away:
        time.sleep(1000)
    lock_memory()
    join()
    device = os.open("/dev/saakm_user", os.O_RDWR)
    attach(device, TAKE_OVER if args.take_over else 0)
    with mmap.mmap(device, mmap.PAGESIZE) as page:
        [size] = struct.unpack_from("=I", page, 24)
    decide(device, mmap.mmap(device, size), args.die, args.forget)


main()
