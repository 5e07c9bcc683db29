# SPDX-License-Identifier: GPL-2.0
"""saakm-policies."""

import gdb
from linux import cpus
from saakm_values import enum_name, policies

_ROW = "{:<3} {:<16} {:<16} {:>8} {:<7} {:>7} {:>10} {:>10} {:>10}\n"


class Policies(gdb.Command):
    """The loaded policies, as /proc/saakm/policies has them, and why one was ejected."""

    def __init__(self):
        super().__init__("saakm-policies", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        gdb.write(_ROW.format("id", "name", "module", "priority", "state", "threads", "new",
                              "terminated", "switches"))
        for policy in policies():
            gdb.write(_ROW.format(*_row(policy)))
            end = policy["exit"]
            if int(end["kind"]):
                kind = enum_name(end["kind"], "SAAKM_EXIT_").lower().replace("_", "-")
                gdb.write(f"    ejected ({kind}): {end['reason'].string()}\n")


def _row(policy):
    switches = sum(int(cpus.per_cpu(policy["cores"], cpu)["switches"]) for cpu in cpus.each_possible_cpu())
    state = "ejected" if int(policy["exit"]["kind"]) else "dying" if policy["dying"] else "active"
    module = policy["owner"]["name"].string() if policy["owner"] else "-"
    counts = [int(policy[name]) for name in ("nr_threads", "nr_new", "nr_terminated")]
    return [int(policy["id"]), policy["name"].string(), module, int(policy["priority"]), state,
            *counts, switches]


Policies()
