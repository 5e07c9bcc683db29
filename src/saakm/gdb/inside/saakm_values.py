# SPDX-License-Identifier: GPL-2.0
"""What our commands read from the kernel's memory."""

from collections.abc import Iterator

import gdb

from linux import cpus, lists, rbtree, utils

_task = utils.CachedType("struct task_struct")
_policy = utils.CachedType("struct saakm_policy")
_core = utils.CachedType("struct saakm_core")
_kind = utils.CachedType("enum saakm_rq_type")
_SHARED = 4  # SAAKM_RQ_SHARED, a macro: debug information has none
# A list that was overwritten may never end.
MOST = 100_000


def value(expression: str) -> gdb.Value:
    return gdb.parse_and_eval(expression)


def runqueue(cpu: int) -> gdb.Value:
    found: gdb.Value = cpus.per_cpu(value("&runqueues"), cpu)
    return found


def policies() -> list[gdb.Value]:
    return list(
        lists.list_for_each_entry(value("saakm_policies"), _policy.get_type().pointer(), "node")
    )


def policy_names(mask: int) -> str:
    """Names the policies of a mask as in rq->saakm.active."""
    return ", ".join(policy_name(p) for p in policies() if int(p["own"]["mask"]) & mask) or "none"


def policy_name(policy: gdb.Value) -> str:
    """Takes it from the class's own copy: a policy can write to the other one."""
    return policy["own"]["name"].string()


def core(policy: gdb.Value, cpu: int) -> gdb.Value:
    """What the class has of a CPU for a policy; the struct core_event is its member `event`."""
    found: gdb.Value = cpus.per_cpu(policy["cores"].cast(_core.get_type().pointer()), cpu)
    return found


def switches(policy: gdb.Value) -> int:
    """Counts those to its threads, on all CPUs."""
    return sum(int(core(policy, cpu)["switches"]) for cpu in cpus.each_possible_cpu())


def enum_name(constant: gdb.Value, prefix: str) -> str:
    return str(constant).removeprefix(prefix)


def state(task: gdb.Value) -> str:
    return enum_name(task["saakm"]["state"].cast(gdb.lookup_type("enum saakm_state")), "SAAKM_")


def thread(task: gdb.Value) -> str:
    return f"{task['comm'].string()}/{int(task['pid'])}"


def now_ns() -> int:
    """The clock of an idle CPU stands still: the latest of all."""
    return max(int(runqueue(cpu)["clock"]) for cpu in cpus.each_online_cpu())


def duration(ns: int) -> str:
    """Returns it as 3.1 ms."""
    for unit, size in (("s", 1e9), ("ms", 1e6)):
        if ns >= size:
            return f"{ns / size:.1f} {unit}"
    return f"{max(ns, 0) / 1e3:.1f} us"


def cpu_list(mask: gdb.Value) -> str:
    """A struct cpumask as 0-3,6."""
    word = mask["bits"][0].type.sizeof * 8
    words = mask["bits"].type.range()[1] + 1
    bits = [n for n in range(words * word) if int(mask["bits"][n // word]) >> n % word & 1]
    ranges: list[list[int]] = []
    for n in bits:
        if ranges and ranges[-1][1] == n - 1:
            ranges[-1][1] = n
        else:
            ranges.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def symbol(address: int) -> str:
    """The name at an address, as my_rq or core + 8; empty if there is none."""
    text = gdb.execute(f"info symbol {address:#x}", to_string=True)
    return "" if text.startswith("No symbol") else text.partition(" in section")[0].strip()


def address_of(struct: gdb.Value) -> int:
    assert struct.address is not None, "it is in the kernel's memory"
    return int(struct.address)


def is_shared(queue: gdb.Value) -> bool:
    """Is it one that cores share? Then it has no CPU."""
    return bool(int(queue["type"]) & _SHARED)


def queue_kind(queue: gdb.Value) -> str:
    """FIFO, LIST or RBTREE."""
    kind = gdb.Value(int(queue["type"]) & ~_SHARED).cast(_kind.get_type())
    return enum_name(kind, "SAAKM_RQ_")


def queue_name(queue: gdb.Value) -> str:
    """A per-CPU variable has its name at the same distance from each CPU's area."""
    if is_shared(queue):
        return f"core->shared of {policy_name(queue['owner'])}"
    address, cpu = address_of(queue), int(queue["cpu"])
    for policy in policies():
        if address == address_of(core(policy, cpu)["event"]["rq"]):
            return f"core->rq of {policy_name(policy)}"
    offset = int(value(f"__per_cpu_offset[{cpu}]"))
    return symbol(address - offset & (1 << 64) - 1) or symbol(address) or f"{address:#x}"


def _container(node: gdb.Value, member: str) -> gdb.Value:
    offset = int(value(f"(unsigned long)&((struct task_struct *)0)->saakm.{member}"))
    return gdb.Value(int(node) - offset).cast(_task.get_type().pointer())


def runnable(rq: gdb.Value) -> Iterator[gdb.Value]:
    """The threads of policies on this CPU, in order of arrival."""
    for n, node in enumerate(lists.list_for_each(rq["saakm"]["threads"])):
        if n == MOST:
            return
        yield _container(node, "rq_node")


def queued(queue: gdb.Value) -> Iterator[gdb.Value]:
    """The threads of a struct saakm_rq, in its order."""
    if queue_kind(queue) == "RBTREE":
        nodes, member = rbtree.rb_inorder_for_each(queue["root"]["rb_root"]), "node.rb"
    else:
        nodes, member = lists.list_for_each(queue["head"]), "node.list"
    for n, node in enumerate(nodes):
        if n == MOST:
            return
        yield _container(node, member)
