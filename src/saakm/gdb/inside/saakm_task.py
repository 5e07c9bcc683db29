# SPDX-License-Identifier: GPL-2.0
"""saakm-task."""

import gdb
from saakm_values import (
    cpu_list,
    duration,
    is_shared,
    now_ns,
    policy_name,
    queue_name,
    runqueue,
    state,
    symbol,
    thread,
    value,
)

from linux import cpus, tasks

_FLAGS = ("choice", "sync", "exec", "ousted", "yield", "tick", "fork", "forced")
_FRAMES = 16


class Task(gdb.Command):
    """What the class knows of a thread, and where it stands: saakm-task PID"""

    def __init__(self) -> None:
        super().__init__("saakm-task", gdb.COMMAND_DATA)

    def invoke(self, argument: str, from_tty: bool) -> None:
        if not argument.isdigit():
            raise gdb.GdbError("saakm-task takes the PID of a thread")
        task = tasks.get_task_by_pid(int(argument))
        if not task:
            raise gdb.GdbError(f"There is no thread {argument}; lx-ps lists them")
        for name, text in _facts(task).items():
            gdb.write(f"{name:<9} {text}\n")
        _show_history(int(task["pid"]))
        _show_stack(task)


def _facts(task: gdb.Value) -> dict[str, str]:
    ours = task["saakm"]
    cpu = int(task["thread_info"]["cpu"])
    running = int(runqueue(cpu)["curr"]) == int(task)
    facts = {"thread": thread(task), "cpu": f"{cpu}, {'on it' if running else 'not on it'}"}
    facts["allowed"] = f"CPUs {cpu_list(task['cpus_ptr'])}"
    facts["class"] = symbol(int(task["sched_class"])).removesuffix("_sched_class")
    if not ours["policy"]:
        return facts
    facts["policy"] = f"{policy_name(ours['policy'])} (id {int(ours['policy']['own']['id'])})"
    facts["state"] = f"{state(task)} for {duration(now_ns() - int(ours['since_ns']))}"
    facts["queue"] = _queue(ours["rq"].dereference()) if ours["rq"] else "none"
    event = ours["event"]
    flags = [name for bit, name in enumerate(_FLAGS) if int(event["flags"]) >> bit & 1]
    facts["event"] = (
        f"flags {', '.join(flags) or 'none'}; from CPU {int(event['prev_cpu'])}, "
        f"woken on CPU {int(event['waker_cpu'])}"
    )
    facts["param"] = str(int(ours["param"]))
    if event["data"]:
        facts["data"] = f"{int(event['data']):#x}, {int(ours['policy']['own']['task_size'])} bytes"
    return facts


def _queue(queue: gdb.Value) -> str:
    name = queue_name(queue)
    return name if is_shared(queue) else f"{name}, CPU {int(queue['cpu'])}"


def _show_history(pid: int) -> None:
    """Shows that of all CPUs, latest first: there is some if it is on, or the watchdog suspects a stall."""
    records: list[gdb.Value] = []
    for cpu in cpus.each_possible_cpu():
        history = cpus.per_cpu(value("&saakm_history"), cpu)
        if history:
            head, size = int(history["head"]), history["records"].type.range()[1] + 1
            found = (history["records"][n % size] for n in range(max(0, head - size), head))
            records += [record for record in found if int(record["pid"]) == pid]
    records.sort(key=lambda record: -int(record["ns"]))
    for record in records[:_FRAMES]:
        states = [
            value(f"saakm_state_names[{int(record[end])}]").string() for end in ("from", "to")
        ]
        handler = value(f"saakm_handler_names[{int(record['handler'])}]").string()
        gdb.write(
            f"history   {int(record['ns']) / 1e9:.6f} {' -> '.join(states)} "
            f"on CPU {int(record['cpu'])} in {handler}\n"
        )


def _show_stack(task: gdb.Value) -> None:
    """Shows that of a thread that is switched out, by its frame pointers. For another, use bt."""
    if task["on_cpu"]:
        gdb.write(f"stack     thread {int(task['thread_info']['cpu']) + 1}; bt\n")
        return
    frame = task["thread"]["sp"].cast(gdb.lookup_type("struct inactive_task_frame").pointer())
    pointer, address = int(frame["bp"]), int(frame["ret_addr"])
    bottom = int(task["stack"])
    word = gdb.lookup_type("unsigned long").pointer()
    for _ in range(_FRAMES):
        if not symbol(address):
            return
        place = gdb.find_pc_line(address - 1)
        where = f"{place.symtab.filename}:{place.line}" if place.symtab else "?"
        gdb.write(f"stack     {symbol(address):<32} {where}\n")
        if not bottom < pointer < bottom + (1 << 16):
            return
        next_one = gdb.Value(pointer).cast(word)
        pointer, address = int(next_one[0]), int(next_one[1])


Task()
