# SPDX-License-Identifier: GPL-2.0
"""saakm-rqs."""

import gdb
from saakm_values import (
    address_of,
    duration,
    now_ns,
    policy_name,
    policy_names,
    queue_kind,
    queue_name,
    queued,
    runnable,
    runqueue,
    state,
    symbol,
    thread,
    value,
)

from linux import cpus

_SHOWN = 8  # threads of a queue


class Runqueues(gdb.Command):
    """What each CPU runs, and which threads wait in which queue of which policy.

    saakm-rqs [-a] [CPU]...: -a shows all threads of long queues."""

    def __init__(self) -> None:
        super().__init__("saakm-rqs", gdb.COMMAND_DATA)

    def invoke(self, argument: str, from_tty: bool) -> None:
        words = gdb.string_to_argv(argument)
        shown = None if "-a" in words else _SHOWN
        chosen = [int(word) for word in words if word != "-a"]
        now = now_ns()
        for cpu in chosen or cpus.each_online_cpu():
            _show_cpu(cpu, runqueue(cpu), now, shown)


def _show_cpu(cpu: int, rq: gdb.Value, now: int, shown: int | None) -> None:
    ours, threads = rq["saakm"], list(runnable(rq))
    gdb.write(f"CPU {cpu}  {_current(rq['curr'].dereference(), now)}\n")
    _line(
        f"{int(rq['nr_running'])} runnable, {int(ours['nr_running'])} of policies: "
        f"{policy_names(int(ours['active']))}{_extras(rq, now)}"
    )
    if len(threads) != int(ours["nr_running"]):
        _line(f"WRONG: the list of runnable threads has {len(threads)}")
    _show_handler(cpu)
    queues = {
        int(task["saakm"]["rq"]): task["saakm"]["rq"].dereference()
        for task in threads
        if task["saakm"]["rq"]
    }
    for address, queue in queues.items():
        name = "orphans" if address == address_of(ours["orphans"]) else queue_name(queue)
        _show_queue(name, queue, now, shown)
    placed = [task for task in threads if not task["saakm"]["rq"] and int(task) != int(rq["curr"])]
    if placed:
        _line("in no queue: " + ", ".join(f"{thread(t)} {state(t)}" for t in placed[:shown]))


def _current(task: gdb.Value, now: int) -> str:
    kind = symbol(int(task["sched_class"])).removesuffix("_sched_class")
    if not task["saakm"]["policy"] or kind != "saakm":
        return f"{thread(task)} ({kind})"
    since = duration(now - int(task["saakm"]["since_ns"]))
    return f"{thread(task)} {state(task)} under {policy_name(task['saakm']['policy'])} for {since}"


def _extras(rq: gdb.Value, now: int) -> str:
    words = ""
    if int(rq["saakm"]["owed"]) and int(rq["saakm"]["owed_until_ns"]) > now:
        left = duration(int(rq["saakm"]["owed_until_ns"]) - now)
        words += f"; owed to {policy_names(int(rq['saakm']['owed']))} for {left}"
    if int(rq["__lock"]["raw_lock"]["val"]["counter"]):
        words += "; its lock is held"
    return words


def _show_handler(cpu: int) -> None:
    context = cpus.per_cpu(value("&saakm_context"), cpu)
    handler = int(context["handler"])
    if handler:
        name = value(f"saakm_handler_names[{handler}]").string()
        _line(f"in the handler {name}" + (", balancing" if context["balancing"] else ""))


def _show_queue(name: str, queue: gdb.Value, now: int, shown: int | None) -> None:
    kind = queue_kind(queue)
    try:
        tasks = list(queued(queue))
    except gdb.error as error:
        _line(f"{name}, {kind}: WRONG, it cannot be followed: {error}")
        return
    found = [f"{thread(task)} ({duration(now - int(task['saakm']['since_ns']))})" for task in tasks]
    more = f", {len(found) - shown} more" if shown and len(found) > shown else ""
    _line(f"{name}, {kind}, {len(found)}: {', '.join(found[:shown])}{more}")
    if len(found) != int(queue["nr_tasks"]):
        _line(f"WRONG: its nr_tasks is {int(queue['nr_tasks'])}")


def _line(text: str) -> None:
    gdb.write(f"       {text}\n")


Runqueues()
