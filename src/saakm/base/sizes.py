# SPDX-License-Identifier: GPL-2.0
"""Sizes of memory, as 512M or 1G."""

import re

from .errors import SaakmError

_UNITS = {"": 1, "M": 1, "G": 1024}
_LEAST_MB = 64  # a kernel does not start in less


def megabytes(size: str) -> int:
    match = re.fullmatch(r"([0-9]{1,9})([MG]?)", size.upper())
    if not match or int(match[1]) == 0:
        raise SaakmError(
            f"'{size}' is not a memory size",
            "a size is a number of megabytes, or ends in M or G",
            "for example --memory 1G",
        )
    found = int(match[1]) * _UNITS[match[2]]
    if found < _LEAST_MB:
        raise SaakmError(
            f"{size} is too little memory",
            f"no kernel starts in less than {_LEAST_MB} megabytes",
            "for example --memory 1G",
        )
    return found
