# SPDX-License-Identifier: GPL-2.0
"""saakm-policies."""

import gdb
from saakm_values import core, enum_name, policies, policy_name, switches

_ROW = "{:<3} {:<16} {:<16} {:>8} {:<7} {:>7} {:>10} {:>10} {:>10}\n"


class Policies(gdb.Command):
    """The loaded policies, as /proc/saakm/policies has them, and why one was ejected."""

    def __init__(self) -> None:
        super().__init__("saakm-policies", gdb.COMMAND_DATA)

    def invoke(self, argument: str, from_tty: bool) -> None:
        gdb.write(
            _ROW.format(
                "id",
                "name",
                "module",
                "priority",
                "state",
                "threads",
                "new",
                "terminated",
                "switches",
            )
        )
        for policy in policies():
            gdb.write(_ROW.format(*_row(policy)))
            end = policy["exit"]
            if int(end["kind"]):
                kind = enum_name(end["kind"], "SAAKM_EXIT_").lower().replace("_", "-")
                gdb.write(f"    ejected ({kind}): {end['reason'].string()}\n")


def _row(policy: gdb.Value) -> list[int | str]:
    state = "ejected" if int(policy["exit"]["kind"]) else "dying" if policy["dying"] else "active"
    own = policy["own"]
    module = own["owner"]["name"].string() if own["owner"] else "-"
    counts = [int(policy[name]) for name in ("nr_threads", "nr_new", "nr_terminated")]
    return [
        int(own["id"]),
        policy_name(policy),
        module,
        int(own["priority"]),
        state,
        *counts,
        switches(policy),
    ]


class Core(gdb.Function):
    """What a policy sees of a CPU, core->rq and core->data among it: $saakm_core("NAME", CPU)"""

    def __init__(self) -> None:
        super().__init__("saakm_core")

    def invoke(self, *args: gdb.Value) -> gdb.Value:
        name, cpu = args
        for policy in policies():
            if policy_name(policy) == name.string():
                return core(policy, int(cpu))["event"]
        raise gdb.GdbError(f"There is no policy {name.string()}; saakm-policies lists them")


Policies()
Core()
