# SPDX-License-Identifier: GPL-2.0
"""The kernel part as a series of mails, for git am and git send-email.

git itself makes them, in a scratch repository that holds only the files of Linux which the
patches edit: each of linux/patches becomes a commit, and the new files go with the class.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from ..base import git, paths
from ..base.errors import SaakmError
from ..base.files import make_output
from ..builder.source import check_series
from ..builder.sync import added_files, copy_pristine, patches_in_order, touched

COVER = paths.PACKAGE / "package" / "files" / "series-cover.txt"
# The patch that the new files belong to: the class is what they are.
_CLASS = re.compile(r"\d+-class\.patch")
_IDENT = re.compile(r"(.+) <([^\s<>@]+@[^\s<>@]+)> \d+ [+-]\d+\n")


def prepare(out: Path) -> None:
    """Refuses what write_series() would, before Linux is unpacked for it."""
    _sender()
    make_output(out)


def write_series(linux: Path, tree: Path, out: Path, cover: Path = COVER) -> list[Path]:
    """The mails in order, the cover letter first. `tree`: the kernel they are for."""
    version, patches = check_series(tree), patches_in_order(linux)
    _refuse_without_class(patches)
    sender = _sender()
    make_output(out)
    with tempfile.TemporaryDirectory(prefix="saakm-series-") as scratch:
        repository = _Repository(Path(scratch), sender, _date(linux))
        edited = sorted({name for patch in patches for name in touched(patch)})
        for name in edited:
            copy_pristine(name, tree, repository.files / name)
        repository.commit(f"Linux {version}")
        for patch in patches:
            new = added_files(linux) if _CLASS.fullmatch(patch.name) else set()
            _commit_patch(repository, patch, {name: linux / name for name in new})
        text = f"{cover.read_text().strip()}\n\n{_sums(repository, version, edited)}"
        mails = repository.mails(text, edited)
        _refuse_strangers(out, set(mails))
        return [_write(out / name, mail) for name, mail in mails.items()]


class _Repository:
    """A scratch repository that knows nothing of the caller's settings."""

    def __init__(self, home: Path, sender: tuple[str, str], date: str):
        self.files, self._home = home / "linux", home
        self.files.mkdir()
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C",
        }
        for role in ("AUTHOR", "COMMITTER"):
            values = zip(("NAME", "EMAIL", "DATE"), (*sender, date))
            self._environment |= {f"GIT_{role}_{key}": value for key, value in values}
        self.git("init", "-q", "-b", "series")

    @property
    def base(self) -> str:
        return self.git("rev-list", "--max-parents=0", "HEAD").strip()

    def git(self, *arguments: str, said: str = "") -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.files,
            env=self._environment,
            input=said,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SaakmError(
                f"git {arguments[0]} failed in the scratch repository of the series",
                done.stderr.strip() or f"it ended with status {done.returncode}",
                "mend linux/patches; saakm doctor says whether git is there",
            )
        return done.stdout

    def commit(self, message: str) -> None:
        self.git("add", "--all", "--force")
        self.git("commit", "-q", "-F", "-", said=message)

    def mails(self, cover: str, first: list[str]) -> dict[str, bytes]:
        """By file name. `first`: the files that diffstats begin with."""
        order, made = self._home / "order", self._home / "mails"
        order.write_text("".join(f"{name}\n" for name in first))
        self.git("config", "branch.series.description", cover)
        form = ["--numbered", "--zero-commit", "--no-signature", f"-O{order}", f"-o{made}"]
        letter = ["--cover-letter", "--cover-from-description=subject"]
        self.git("format-patch", "-q", *form, *letter, f"{self.base}..series")
        return {mail.name: mail.read_bytes() for mail in sorted(made.iterdir())}


def _commit_patch(repository: _Repository, patch: Path, new: dict[str, Path]) -> None:
    message, _, diff = patch.read_text().partition("\n---\n")
    try:
        repository.git("apply", "--whitespace=nowarn", "-", said=diff)
    except SaakmError as error:
        raise SaakmError(
            f"{patch.name} does not fit this kernel", error.why, "adapt it: git allows no fuzz"
        ) from error
    for name, file in new.items():
        place = repository.files / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.read_bytes())
        place.chmod(file.stat().st_mode)
    repository.commit(message)


def _sums(repository: _Repository, version: str, edited: list[str]) -> str:
    """What reviewers ask first: how much of Linux's own files is touched."""
    compare = ["diff", "--shortstat", repository.base, "HEAD", "--"]
    others = [".", *(f":(exclude){name}" for name in edited)]
    return (
        f"The series is for Linux {version}. In files that it has:\n"
        f"{repository.git(*compare, *edited)}"
        f"New files, which come last in the list below:\n{repository.git(*compare, *others)}"
    )


def _sender() -> tuple[str, str]:
    """Whom git takes for the author; never a name that it makes up of the machine's."""
    ask = ("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
    # Of a checkout that is somebody else's git says nothing: then outside of it.
    match = _IDENT.fullmatch(git.say(*ask) or git.say("-C", "/", *ask))
    if not match:
        raise SaakmError(
            "the mails would have no sender",
            "git does not know your name and an address NAME@HOST, and git am refuses mails without From:",
            "git config --global user.name NAME; git config --global user.email ADDRESS",
        )
    return match[1], match[2]


def _date(linux: Path) -> str:
    """Of the last commit, or of the newest file where git does not tell: mails repeat."""
    if said := git.say("log", "-1", "--format=%aI", "--", "linux").strip():
        return said
    newest = max(file.stat().st_mtime for file in linux.rglob("*") if file.is_file())
    return f"@{newest:.0f} +0000"


def _refuse_without_class(patches: list[Path]) -> None:
    if sum(bool(_CLASS.fullmatch(patch.name)) for patch in patches) != 1:
        raise SaakmError(
            "nobody knows which patch the new files belong to",
            "it is the one that is called NNNN-class.patch, and there is not exactly one",
            "give the patch that adds the class this name",
        )


def _refuse_strangers(out: Path, names: set[str]) -> None:
    """git am would take them for a part of the series."""
    if others := sorted(file.name for file in out.glob("*.patch") if file.name not in names):
        raise SaakmError(
            f"{out} has other patches, {others[0]} for one",
            "a series shall be alone in its directory",
            "give an empty directory, or remove them",
        )


def _write(path: Path, mail: bytes) -> Path:
    try:
        path.write_bytes(mail)
    except OSError as error:
        raise SaakmError(f"cannot write {path}", str(error), "give another directory") from error
    return path.resolve()
