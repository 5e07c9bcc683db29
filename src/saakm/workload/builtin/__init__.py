# SPDX-License-Identifier: GPL-2.0
"""Workloads that need no file, each scaled to the number of CPUs."""

from .bimodal import BIMODAL
from .churn import CHURN
from .forkjoin import FORKJOIN
from .hackbench import HACKBENCH
from .herd import HERD
from .kernelbuild import KERNELBUILD
from .lockheavy import LOCKHEAVY
from .schbench import SCHBENCH
from .torture import TORTURE

ALL = {
    one.name: one
    for one in (
        BIMODAL,
        CHURN,
        FORKJOIN,
        HACKBENCH,
        HERD,
        KERNELBUILD,
        LOCKHEAVY,
        SCHBENCH,
        TORTURE,
    )  # fmt: skip
}
