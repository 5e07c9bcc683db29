# SPDX-License-Identifier: GPL-2.0
"""What rt-app's keys say about how a thread is scheduled: policy, priority, saakm, cpus."""

from dataclasses import dataclass

from . import words
from .errors import quoted, refusal
from .located import Member
from .program import CpuList, Policy
from .rtapp_keys import Fields, integer, string, wrong_type

_RT_PRIORITY = 10  # rt-app's default
_POLICIES = {
    "SCHED_OTHER": Policy("main"),
    "SCHED_IDLE": Policy("idle"),
    "SCHED_FIFO": Policy("rt", priority=_RT_PRIORITY),
    "SCHED_RR": Policy("rr", priority=_RT_PRIORITY),
}
_PLAIN = {"main": Policy("main"), "fair": Policy("fair")}


@dataclass(frozen=True)
class Attributes:
    policy: Policy
    nice: int = 0

    @property
    def real_time(self) -> bool:
        return self.policy.kind in ("rt", "rr")


def policy_named(member: Member) -> Policy:
    found = _POLICIES.get(string(member))
    if found is None:
        next_step = f'use one of {", ".join(_POLICIES)}, or "saakm": "NAME"'
        what = f"the policy {quoted(string(member))}"
        raise refusal(member.node.place, what, "it is not simulated", next_step)
    return found


def default_attributes(default_policy: Member | None) -> Attributes:
    return Attributes(policy_named(default_policy) if default_policy else Policy("main"))


def attributes_of(fields: Fields, before: Attributes) -> Attributes | None:
    """What a task or phase sets; None: nothing."""
    policy, saakm, priority = fields.get("policy"), fields.get("saakm"), fields.get("priority")
    if saakm:
        if policy and string(policy) != "SCHED_OTHER":
            why = "a thread has one policy"
            raise fields.refuse(saakm.place, "'saakm' and 'policy'", why, "leave out one")
        return Attributes(_of_saakm(saakm), integer(priority, -20, 19) if priority else 0)
    if policy:
        before = Attributes(policy_named(policy))
    elif not priority:
        return None
    if not priority:
        return before
    if before.real_time:
        return Attributes(Policy(before.policy.kind, priority=integer(priority, 1, 99)))
    if before.policy.kind == "idle":
        why = "it means nothing with SCHED_IDLE"
        raise fields.refuse(priority.place, "'priority'", why, "leave it out")
    return Attributes(before.policy, integer(priority, -20, 19))


def _of_saakm(member: Member) -> Policy:
    name = string(member)
    if name in _PLAIN:
        return _PLAIN[name]
    try:
        return Policy("saakm", name=words.name(name))
    except ValueError as error:
        next_step = "name a policy of SaaKM, or fair, or main for the one that the run is for"
        raise refusal(
            member.node.place, f"'saakm' {quoted(name)}", str(error), next_step
        ) from error


def cpu_list(member: Member, cpus: int) -> CpuList:
    """Of CPUs that a machine of `cpus` has."""
    if member.node.kind != "a list":
        raise wrong_type(member, "a list of CPUs")
    each = [Member(member.key, node, member.place) for node in member.node.nodes]
    found = {integer(one, 0, cpus - 1) for one in each}
    if not found:
        raise refusal(member.place, "'cpus'", "a thread needs a CPU", "name one, or leave it out")
    ranges: list[tuple[int, int]] = []
    for cpu in sorted(found):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1] = (ranges[-1][0], cpu)
        else:
            ranges.append((cpu, cpu))
    return CpuList(tuple(ranges))
