# SPDX-License-Identifier: GPL-2.0
"""What a policy may be called: the one rule for `saakm new` and for what a Kbuild names."""

import re

LONGEST = 31  # SAAKM_NAME_LEN without its end; of modules' names the kernel takes 55
NO_POLICY = ("none", "eevdf")
# What commands understand as a class of the kernel's, or as all policies.
_CLASSES = (*NO_POLICY, "fair", "other", "all", "sched_fifo")
_PEERS = "scx_"


def fault_in_form(name: str) -> str | None:
    """Why no policy at all can be called `name`."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        return (
            "a name is a C identifier of lower case letters, digits and _, and starts with a letter"
        )
    if len(name) > LONGEST:
        return f"it has {len(name)} characters; the kernel takes {LONGEST} (SAAKM_NAME_LEN)"
    if name in _CLASSES:
        return "it means the kernel's own scheduler, or all policies"
    if name.startswith(_PEERS):
        return f"{_PEERS}* are schedulers of sched_ext"
    return None
