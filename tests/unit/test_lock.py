# SPDX-License-Identifier: GPL-2.0
"""The Python packages: what requirements.lock pins is what is asked for, and what is installed."""

import hashlib
import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from importlib.metadata import distribution, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from saakm.base import paths

LOCK = paths.REPO / "requirements.lock"
_ENTRY = re.compile(r"^([\w.-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$", re.M)


def locked() -> dict[str, str]:
    """The version of each package."""
    return {name: version for name, version, _ in _ENTRY.findall(LOCK.read_text())}


def asked_for() -> list[str]:
    project = tomllib.loads((paths.REPO / "pyproject.toml").read_text())["project"]
    return list(project["dependencies"])


def unmet(texts: list[str]) -> list[str]:
    """Those that the lock has not, or in another version."""
    pinned = locked()
    wanted = [Requirement(text) for text in texts]
    here = [one for one in wanted if not one.marker or one.marker.evaluate({"extra": ""})]
    return [
        str(one)
        for one in here
        if not (found := pinned.get(canonicalize_name(one.name)))
        or not one.specifier.contains(found, prereleases=True)
    ]


def test_every_line_has_a_version_and_hashes():
    lines = [line for line in LOCK.read_text().splitlines() if not line.lstrip().startswith("#")]
    named = [line for line in lines if not line.startswith("    --hash=")]
    entries = _ENTRY.findall(LOCK.read_text())
    assert len(named) == len(entries) and all(hashes for _, _, hashes in entries)


def test_it_has_what_pyproject_asks_for():
    assert asked_for() and unmet(asked_for()) == []
    assert unmet(["nosuch", "rich>=99", "rich>=13"]) == ["nosuch", "rich>=99"]


def test_it_has_what_its_packages_ask_for():
    """pip is told not to look (--no-deps): what is missing here is missing in the environment."""
    asked = {name: distribution(name).requires or [] for name in locked()}
    assert {name: unmet(texts) for name, texts in asked.items() if unmet(texts)} == {}


def test_this_environment_is_the_locked_one():
    assert {name: version(name) for name in locked()} == locked()


# --- the front door installs it ---


def wheel(directory: Path) -> str:
    """A package of one file; its hash."""
    info = "tiny-1.0.dist-info"
    file = directory / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        archive.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(file.read_bytes()).hexdigest()


def checkout(directory: Path, lock: str) -> Path:
    """A project that needs no Debian package and prints where its Python is."""
    package = directory / "src" / "saakm"
    package.mkdir(parents=True)
    shutil.copy(paths.REPO / "saakm", directory)
    shutil.copy(paths.REPO / "src/saakm/CACHEDIR.TAG", package)
    (package / "packages.txt").touch()
    (package / "__main__.py").write_text("import sys, tiny\nprint(sys.prefix)\n")
    (directory / "requirements.lock").write_text(lock)
    return directory


def run(directory: Path, wheels: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {"SAAKM_CACHE": str(cache), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    return subprocess.run(
        [directory / "saakm"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], **environment},
    )


def test_only_what_has_the_hash_is_installed(tmp_path):
    good = wheel(tmp_path)
    honest = checkout(tmp_path / "a", f"tiny==1.0 --hash=sha256:{good}\n")
    done = run(honest, tmp_path, tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    (environment,) = (tmp_path / "cache").glob("venv-????????????")
    assert done.stdout.strip() == str(environment)
    # Another lock, another environment.
    forged = checkout(tmp_path / "b", f"tiny==1.0 --hash=sha256:{good[::-1]}\n")
    done = run(forged, tmp_path, tmp_path / "cache")
    assert done.returncode == 1 and "DO NOT MATCH THE HASHES" in done.stderr
    assert (
        "requirements.lock" in done.stderr and len(list((tmp_path / "cache").glob("*.lock"))) == 2
    )
