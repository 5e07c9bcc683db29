# SPDX-License-Identifier: GPL-2.0
"""What a policy may be called: by `saakm new`, and in a Kbuild, which is allowed a little more."""

import re

from ..model.fair_class import FAIR

LONGEST = 31  # SAAKM_NAME_LEN without its end; of modules' names the kernel takes 55
NO_POLICY = ("none", FAIR)
# The kernel's real-time class, and how a command gets there: the lowest priority.
REALTIME = "sched_fifo"
CHRT = ("chrt", "-f", "1")
# What commands understand as a class of the kernel's, or as all policies.
_CLASSES = (*NO_POLICY, "other", "all", REALTIME)
_PEERS = "scx_"


def fault_in_form(name: str) -> str | None:
    """Why no new policy at all can be called `name`."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        return (
            "a name is a C identifier of lower case letters, digits and _, and starts with a letter"
        )
    return fault_in_module(name)


def fault_in_module(name: str) -> str | None:
    """Why the module of no policy can have this name, which becomes part of paths."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]*", name):
        return "a module's name has letters, digits, _ and - only"
    if len(name) > LONGEST:
        return f"it has {len(name)} characters; the kernel takes {LONGEST} (SAAKM_NAME_LEN)"
    if name in _CLASSES:
        return "it means the kernel's own scheduler, or all policies"
    if name.startswith(_PEERS):
        return f"{_PEERS}* are schedulers of sched_ext"
    return None
