# SPDX-License-Identifier: GPL-2.0
"""Fetches packages of other suites from the machine's own Debian mirror.

The machine's apt is only asked where its mirror is and what is installed: lists, sources
and archives are our own. apt checks Debian's signature as always.
"""

import os
import platform
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import apt
from .errors import SaakmError
from .process import run_logged


class NotFetched(Exception):
    """Why not, in words."""


_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Source:
    uri: str
    suites: tuple[str, ...]


class OwnApt:
    """In a directory of its own, with such sources; what it says goes to a log."""

    def __init__(self, directory: Path, sources: list[Source], log: Path):
        self.archives = directory / "cache/archives"
        self._directory, self._log, self._updating = directory, log, ""
        for name in ("lists/partial", "cache/archives/partial", "sources"):
            (directory / name).mkdir(parents=True)
        (directory / "sources" / "debian.sources").write_text(
            "\n".join(
                f"Types: deb\nURIs: {source.uri}\nSuites: {' '.join(source.suites)}\n"
                f"Components: main\nSigned-By: {_KEYRING}\n"
                for source in sources
            )
        )

    def update(self) -> None:
        """A mirror may lack a suite, or not answer: whether that matters, the next command finds out."""
        _, self._updating = self._run_logged([*self._command("apt-get"), "update"])

    def versions(self, package: str) -> list[str]:
        """Those that the suites have, the newest first."""
        listed = run([*self._command("apt-cache"), "madison", package])
        return [line.split("|")[1].strip() for line in listed.splitlines() if "|" in line]

    def download(
        self, words: list[str], on_line: Callable[[str], None], directory: Path | None = None
    ) -> None:
        """`words` begin with apt-get's command."""
        command = [*self._command("apt-get"), apt.OPTION, *words]
        done, complaint = self._run_logged(command, on_line, directory)
        if not done:
            raise NotFetched(f"apt-get: {self._updating or complaint or 'it failed'}")

    def _command(self, program: str) -> list[str]:
        at = self._directory
        settings = {
            "Dir::Etc::SourceList": "/dev/null",
            "Dir::Etc::SourceParts": f"{at}/sources",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::State::Lists": f"{at}/lists",
            "Dir::Cache": f"{at}/cache",
            "Acquire::Languages": "none",
            "Acquire::Retries": "1",
            "Acquire::http::Timeout": "20",
            "APT::Sandbox::User": "root",  # another user could not write here
            "Debug::NoLocking": "true",  # nothing of the machine's is written
        }
        return [program, "-q", *(f"-o{name}={value}" for name, value in settings.items())]

    def _run_logged(
        self,
        command: list[str],
        on_line: Callable[[str], None] = lambda line: None,
        directory: Path | None = None,
    ) -> tuple[bool, str]:
        """Whether it succeeded, and its first complaint: warnings are no failures."""
        said: list[str] = []

        def listen(line: str) -> None:
            said.append(line)
            on_line(line)

        try:
            run_logged(
                command, self._log, "apt-get", _environment(), directory, listen, True, apt.STATUS
            )
        except SaakmError:
            return False, _complaint("".join(said))
        return True, _complaint("".join(said))


def codename(what: str) -> str:
    """The machine's release of Debian. `what`: what is wanted of it."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    if release.get("ID") != "debian" or not release.get("VERSION_CODENAME"):
        raise NotFetched(f"this is not Debian, which has {what}")
    return release["VERSION_CODENAME"]


def mirror(codename: str) -> list[tuple[str, str]]:
    """Where the machine's apt gets this release from, and which suites of it."""
    listed = run(["apt-get", "-oDebug::NoLocking=true", "--print-uris", "update"])
    suites = re.findall(
        rf"^'(\S+)/dists/({codename}(?:-updates|-security)?)/InRelease'", listed, re.M
    )
    found = list(dict.fromkeys(suites))
    if not found:
        raise NotFetched(f"this machine's apt has no source of {codename}")
    if not _KEYRING.exists():
        raise NotFetched(f"{_KEYRING} is missing (package debian-archive-keyring)")
    return found


def run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=_environment())
    except FileNotFoundError as error:
        raise NotFetched(f"there is no program {command[0]}") from error
    if done.returncode:
        raise NotFetched(f"{command[0]}: {_complaint(done.stderr) or 'it failed'}")
    return done.stdout


def _complaint(text: str) -> str:
    found = [line for line in text.splitlines() if line.startswith(("E: ", "W: ", "Err:"))]
    return found[0] if found else ""


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
