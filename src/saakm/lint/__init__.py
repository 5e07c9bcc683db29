# SPDX-License-Identifier: GPL-2.0
"""What can be said of the sources without running a kernel: `saakm lint`, and first in `saakm test`."""

from .checker import Failure, Outcome
from .every import NAMES, check_kernel, check_sources, run_checkers

__all__ = ["NAMES", "Failure", "Outcome", "check_kernel", "check_sources", "run_checkers"]
