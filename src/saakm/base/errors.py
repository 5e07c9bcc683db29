# SPDX-License-Identifier: GPL-2.0
"""Errors that tell a person what happened, why, and what to do next."""

EXIT_HUNG = 124  # as timeout(1) reports it
EXIT_DIED = 125


class SaakmError(Exception):
    """What happened, why, and what to do next; `status` is the exit status."""

    status = 1

    def __init__(self, what: str, why: str, next_step: str):
        super().__init__(what)
        self.what, self.why, self.next_step = what, why, next_step

    def __str__(self) -> str:
        return f"{self.what}\n  why:  {self.why}\n  next: {self.next_step}"


class BadInput(SaakmError):
    """What the user asks for cannot be had: an option, a parameter, a file."""

    status = 2


class GuestError(SaakmError):
    """The guest is gone. `tail` holds the console's last words."""

    def __init__(self, what: str, why: str, next_step: str, tail: str):
        super().__init__(what, why, next_step)
        self.tail = tail

    def __str__(self) -> str:
        words = "\n".join("  | " + line for line in self.tail.splitlines())
        return f"{super().__str__()}\n  the console's last words:\n{words or '  | (none)'}"


class GuestHung(GuestError):
    status = EXIT_HUNG


class GuestDied(GuestError):
    status = EXIT_DIED


class QemuFault(GuestDied):
    """QEMU ended itself: not the guest's doing."""
