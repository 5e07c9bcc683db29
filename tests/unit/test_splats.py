# SPDX-License-Identifier: GPL-2.0
import pytest

from saakm.vm.splats import find_splats, last_words

# As 6.12 prints them.
COMPLAINTS = [
    "WARNING: CPU: 2 PID: 0 at kernel/sched/core.c:350 foo+0x68/0x70",
    "WARNING: possible circular locking dependency detected",
    "WARNING: possible recursive locking detected",
    "WARNING: possible irq lock inversion dependency detected",
    "WARNING: inconsistent lock state",
    "WARNING: suspicious RCU usage",
    "BUG: KASAN: slab-use-after-free in foo+0x1/0x2",
    "BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "BUG: scheduling while atomic: bash/123/0x00000002",
    "BUG: sleeping function called from invalid context at kernel/locking/mutex.c:585",
    "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [hackbench:99]",
    "kernel BUG at kernel/sched/saakm/state.c:12!",
    "Oops: Oops: 0000 [#1] PREEMPT SMP NOPTI",
    "Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1]",
    "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "INFO: task kworker/0:1:9 blocked for more than 60 seconds.",
    "UBSAN: array-index-out-of-bounds in kernel/foo.c:1:2",
    "ODEBUG: free active (active state 0) object: 0000 object type: timer_list",
    "list_add corruption. next->prev should be prev (1), but was 2. (next=3).",
    "Kernel panic - not syncing: Fatal exception",
    "BUG: KCSAN: data-race in __saakm_sample / saakm_pick_task",
    "BUG: KCSAN: data-race in rr_pull [rr] / rr_pull [rr]",
]
# Ordinary messages with alarming words.
HARMLESS = [
    "Warning: unable to open an initial console.",
    'Unknown kernel command line parameters "saakm_mode=agent", will be passed to user space.',
    "rcu: Preemptible hierarchical RCU implementation.",
    "rcu: \tRCU debug extended QS entry/exit.",
    "Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar",
    "debug: unmapping init [mem 0x1000-0x2000]",
    "BUG: KCSAN: data-race in tick_nohz_stop_tick / tick_sched_timer",
    "acpi_mcfg: pci=nocrs; if necessary, report a bug",
]


@pytest.mark.parametrize("line", COMPLAINTS)
@pytest.mark.parametrize("stamp", ["", "[    3.922125] ", "[    3.922125][  T123] "])
def test_each_complaint_is_found(line, stamp):
    found = find_splats(f"[    1.0] booting\n{stamp}{line}\n{stamp}Call Trace:\n")
    assert found == [f"{line}\nCall Trace:"]


@pytest.mark.parametrize("line", HARMLESS)
def test_ordinary_messages_are_not(line):
    assert find_splats(f"[    3.922125] {line}\n") == []


def test_a_report_ends_where_the_kernel_says_so():
    console = (
        "[ 1.0] WARNING: CPU: 0 PID: 1 at a.c:1 f+0x0/0x1\n[ 1.0]  f+0x0/0x1\n"
        "[ 1.0] ---[ end trace 0000000000000000 ]---\n[ 1.1] unrelated\n"
        "[ 2.0] BUG: KASAN: wild-memory-access in g\n[ 2.0] more\n"
    )
    assert find_splats(console) == [
        "WARNING: CPU: 0 PID: 1 at a.c:1 f+0x0/0x1\n f+0x0/0x1",
        "BUG: KASAN: wild-memory-access in g\nmore",
    ]


def test_last_words_tell_the_cause_and_leave_out_idle_cpus():
    idle = "NMI backtrace for cpu 1\n default_idle+0xd/0x20\n"
    busy = "NMI backtrace for cpu 2\n saakm_pick+0x1/0x2\n"
    console = (
        "old news\n" * 50 + "BUG: kernel NULL pointer dereference, address: 08\nRAX: 0000\n"
        " saakm_enqueue+0x1/0x2\nKernel panic - not syncing: Fatal exception\n" + idle + busy
    )
    said = last_words(console)
    assert said.startswith("BUG: kernel NULL")
    assert "saakm_enqueue" in said and "saakm_pick" in said
    assert "default_idle" not in said and "RAX" not in said and "old news" not in said


def test_without_a_panic_the_last_words_are_the_last_lines():
    assert last_words("\n".join(map(str, range(100))), 2) == "98\n99"
