# SPDX-License-Identifier: GPL-2.0
"""Counts saves, also those that come while a build keeps saakm dev busy."""

import threading
from collections.abc import Callable

_POLL_SECONDS = 0.05


class Saves:
    """`digest` says what the files hold; nothing while an editor is just replacing one."""

    def __init__(self, digest: Callable[[], str], poll: float = _POLL_SECONDS):
        self._digest, self._poll = digest, poll
        self._seen, self._count = digest(), 0
        self._fault: Exception | None = None
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def take(self) -> int:
        """How many there were since it was asked last."""
        with self._lock:
            if self._fault:
                raise self._fault
            count, self._count = self._count, 0
        return count

    def waiting(self) -> bool:
        """Whether there is one that take() would count."""
        return self._count > 0

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._poll):
            try:
                now = self._digest()
            except Exception as fault:  # the user is to read it, and threads have no one to tell
                with self._lock:
                    self._fault = fault
                return
            if now not in ("", self._seen):
                with self._lock:
                    self._seen = now
                    self._count += 1
