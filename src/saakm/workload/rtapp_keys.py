# SPDX-License-Identifier: GPL-2.0
"""The keys of rt-app's grammar, and typed access to those of an object."""

import re
from collections.abc import Collection

from .errors import BadWorkload, Place, quoted, refusal
from .located import Member, Node

# rt-app takes any key that begins with one of these, and the first that fits. Here a number or
# a word after _ or - may follow, so that a mistyped key is not taken for an event.
_EVENTS = (
    *("lock", "unlock", "wait", "signal", "broad", "sync", "sleep", "runtime", "run", "timer"),
    *("suspend", "resume", "mem", "iorun", "yield", "barrier", "fork"),
)
_EVENT = re.compile(rf"({'|'.join(_EVENTS)})([0-9]+|[_-].*)?")
# What says where log files go and what is in them: the simulator has its own.
LOGGING = {
    "logdir": (str,),
    "log_basename": (str,),
    "log_size": (str, int),
    "ftrace": (bool, str),
    "gnuplot": (bool,),
    "lock_pages": (bool,),
    "io_device": (str,),
    "mem_buffer_size": (int,),
    "cumulative_slack": (bool,),
    "frag": (int,),
    "calibration": (str, int),
}
_OLD = ("it is of an older grammar of rt-app", "see rt-app's doc/tutorial.txt")
_DEADLINE = ("SCHED_DEADLINE is not simulated", "leave it out, or use SCHED_FIFO")
# What rt-app knows and we do not: why, and what to use instead.
REFUSED = {
    "mem": ("memory is not simulated", "use `run` with the time that it takes"),
    "iorun": ("devices are not simulated", "use `run` and `sleep` with the times that it takes"),
    "nodes_membind": ("memory is not simulated", "use `cpus` for where threads may run"),
    "numa_membind": ("memory is not simulated", "use `cpus` for where threads may run"),
    "taskgroup": ("cgroups are not part of a workload's file", "leave it out"),
    "util_min": ("the clamps of utilization are not simulated", "leave it out"),
    "util_max": ("the clamps of utilization are not simulated", "leave it out"),
    "dl-runtime": _DEADLINE,
    "dl-period": _DEADLINE,
    "dl-deadline": _DEADLINE,
    "die_on_dmiss": _DEADLINE,
    "exec": _OLD,
    "lock_order": _OLD,
    "target": _OLD,
}
_GRAMMAR = "rt-app's doc/tutorial.txt and src/saakm/workload/rtapp.py say which keys there are"
_MAX_INT = 2**31 - 1  # rt-app keeps numbers in an int


def event_of(key: str) -> str | None:
    """The event's name, without what makes the key unlike others."""
    match = _EVENT.fullmatch(key)
    return match[1] if match else None


def wrong_type(member: Member, wanted: str) -> BadWorkload:
    what = f"{quoted(member.key)} is {member.node.kind}"
    return refusal(member.node.place, what, f"it must be {wanted}", _GRAMMAR)


def integer(member: Member, low: int, high: int = _MAX_INT) -> int:
    value = member.node.value
    if member.node.kind != "a whole number" or not isinstance(value, int):
        raise wrong_type(member, "a whole number")
    if not low <= value <= high:
        what = f"{quoted(member.key)} is {value}"
        raise refusal(member.node.place, what, f"it must be from {low:,} to {high:,}", _GRAMMAR)
    return value


def string(member: Member) -> str:
    if not isinstance(member.node.value, str):
        raise wrong_type(member, "a string")
    return member.node.value


def members_of(node: Node, what: str) -> tuple[Member, ...]:
    if node.kind != "an object":
        raise refusal(node.place, f"{what} is {node.kind}", "it must be an object", _GRAMMAR)
    return node.members


class Fields:
    """An object's members but its events: each key once, and only those that are `allowed`."""

    def __init__(self, node: Node, what: str, allowed: Collection[str], events: bool = False):
        self.place, self.what = node.place, what
        self.events: list[Member] = []
        self._found: dict[str, Member] = {}
        for member in members_of(node, what):
            event = event_of(member.key) if events else None
            key = f"the key {quoted(member.key)}"
            if member.key in self._found:
                raise self.refuse(member.place, key, "it is there twice")
            if member.key in allowed:
                self._found[member.key] = member
            elif (name := event or member.key) in REFUSED:
                raise self.refuse(member.place, key, *REFUSED[name])
            elif event:
                self.events.append(member)
            else:
                raise self._unknown(member, events)

    def refuse(self, place: Place, what: str, why: str, next_step: str = _GRAMMAR) -> BadWorkload:
        return refusal(place, f"{what} in {self.what}", why, next_step)

    def _unknown(self, member: Member, events: bool) -> BadWorkload:
        begins = next((one for one in _EVENTS if events and member.key.startswith(one)), "")
        why = "it is not known here"
        if begins:
            why = f"rt-app would take it for '{begins}'; here a number follows, as in {begins}1"
        return self.refuse(member.place, f"the key {quoted(member.key)}", why)

    def get(self, key: str) -> Member | None:
        return self._found.get(key)

    def integer(self, key: str, default: int, low: int, high: int = _MAX_INT) -> int:
        return integer(self._found[key], low, high) if key in self._found else default

    def string(self, key: str, default: str | None = None) -> str:
        if key in self._found:
            return string(self._found[key])
        if default is None:
            raise self.refuse(self.place, f"no {quoted(key)}", "it must say that")
        return default
