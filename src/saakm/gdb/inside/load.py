# SPDX-License-Identifier: GPL-2.0
"""What gdb runs when it has met the guest: the kernel's helpers, then ours."""

import os
import sys

import gdb

sys.path[:0] = [os.environ["SAAKM_GDB_SCRIPTS"], os.path.dirname(os.path.abspath(__file__))]

import linux.config  # noqa: E402
import linux.cpus  # noqa: E402
import linux.dmesg  # noqa: E402
import linux.interrupts  # noqa: E402
import linux.lists  # noqa: E402
import linux.modules  # noqa: E402
import linux.proc  # noqa: E402
import linux.rbtree  # noqa: E402
import linux.tasks  # noqa: E402
import linux.timerlist  # noqa: E402, F401
import saakm_failures  # noqa: E402, F401
import saakm_policies  # noqa: E402, F401
import saakm_rqs  # noqa: E402, F401
import saakm_symbols  # noqa: E402
import saakm_task  # noqa: E402, F401

gdb.execute("set breakpoint pending on")
gdb.execute("set print pretty on")
saakm_symbols.follow_modules()
