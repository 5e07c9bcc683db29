# SPDX-License-Identifier: GPL-2.0
"""A scheduler with settings, as it is written: fair:NEXT_BUDDY, eevdf:next_buddy=new, or several after each other.

Those of fair are the kernel's scheduler features, which debugfs has; those of a policy are parameters
that it is loaded with. The whole word is the scheduler's name, in tables and in files.
"""

from collections.abc import Sequence

from ...base.errors import BadInput
from ...builder import parameters, peers
from ...builder.names import REALTIME
from ...model.fair_class import FAIR
from ...vm import features


def check(name: str, settings: Sequence[str]) -> None:
    """What can be said before anything is built or booted."""
    if not settings:
        return
    if name in (REALTIME, *peers.OURS, *peers.PARTIAL):
        raise BadInput(
            f"{name} has no settings",
            f"'{':'.join([name, *settings])}' names some, and only fair and policies take them",
            f"leave them out: {name}",
        )
    if name == FAIR:
        features.checked(settings)
        return
    parameters.check_word(name, settings)
