# SPDX-License-Identifier: GPL-2.0
"""How far apt-get is: it says so itself, to the descriptor that APT::Status-Fd names."""

import re
from collections.abc import Callable

from .progress import Meter

# Among its output: kind:what:percent:description.
OPTION = "-oAPT::Status-Fd=1"
STATUS = re.compile(r"^(dl|pm)status:.*?:(\d+(?:\.\d+)?):")
_PER_CENT = 100


def follow(progress: Meter, installs: bool) -> Callable[[str], None]:
    """Takes the lines of an apt-get install with OPTION. First it fetches, and then it installs, or not."""
    phases = ("dl", "pm") if installs else ("dl",)

    def step(line: str) -> None:
        match = STATUS.match(line)
        if match and match[1] in phases:
            done = phases.index(match[1]) * _PER_CENT + float(match[2])
            progress.reach(done / len(phases), _PER_CENT)

    return step
