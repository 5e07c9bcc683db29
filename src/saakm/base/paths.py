# SPDX-License-Identifier: GPL-2.0
"""Where things are: the checkout, which is only read, and the cache, where builds live."""

import hashlib
import os
import pwd
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
LINUX = REPO / "linux"
PATCHES = LINUX / "patches"
CONFIGS = LINUX / "configs"
POLICIES = REPO / "policies"
GUEST_MODULES = REPO / "tests" / "guest" / "modules"
CRATES = REPO / "crates"

PACKAGE = REPO / "src" / "saakm"
PACKAGES = PACKAGE / "packages.txt"
GUEST_FILES = PACKAGE / "guest"
INCLUDE = GUEST_FILES / "include"
BYSTANDERS = GUEST_FILES / "bystanders"
ORACLE = GUEST_FILES / "oracle"
ATTACKS = GUEST_FILES / "attacks"


def checkout_key(checkout: Path | None = None) -> str:
    """Tells a checkout, by default this one, from others that use the same cache."""
    return hashlib.sha256(str(checkout or REPO).encode()).hexdigest()[:12]


def _cache() -> Path:
    """./saakm has the same rule and hands its answer down. Empty is as good as unset."""
    if given := os.environ.get("SAAKM_CACHE"):
        return Path(given)
    home = os.environ.get("HOME")
    if not home:
        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = ""  # relative then, which cache.refuse_unusable() refuses
    return Path(home, ".cache", "saakm")


CACHE = _cache()
TREES = CACHE / "trees"
BUILD = CACHE / "build"
CARGO = CACHE / "cargo"
CCACHE = CACHE / "ccache"
LOGS = CACHE / "logs"
GUESTS = CACHE / "guests"
