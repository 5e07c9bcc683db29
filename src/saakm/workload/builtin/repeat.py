# SPDX-License-Identifier: GPL-2.0
"""A loop of which an option says how often, or for ever."""

from contextlib import AbstractContextManager

from ..builder import ThreadBuilder


def repeat(thread: ThreadBuilder, rounds: int) -> AbstractContextManager[None]:
    return thread.loop(rounds) if rounds else thread.forever()
