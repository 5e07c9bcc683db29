# SPDX-License-Identifier: GPL-2.0
"""Brings linux/ into a kernel tree, touching only what changed.

A file whose content is right keeps its time stamp, so that make compiles only
what changed. Patches are applied to pristine copies in a scratch directory:
the tree sees the result of all of them, or nothing.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ..base.errors import SaakmError
from ..base.files import read_json, replacing, write_text

NOT_SYNCED = {"patches", "configs"}
_FILE_HEADER = re.compile(r"^--- (?:a/)?(\S+).*\n\+\+\+ (?:b/)?(\S+)", re.M)


@dataclass
class Manifest:
    """What an earlier sync put into the tree."""

    added: set[str] = field(default_factory=set)
    patched: set[str] = field(default_factory=set)

    @classmethod
    def load(cls, path: Path) -> "Manifest":
        data = read_json(path)
        return cls(set(data.get("added", ())), set(data.get("patched", ())))

    def save(self, path: Path) -> None:
        write_text(path, json.dumps({"added": sorted(self.added), "patched": sorted(self.patched)}))


def sync(linux: Path, tree: Path, upstream: Path | None = None) -> None:
    """Make `tree` pristine plus `linux`. `upstream`: where pristine files are, if not here.

    Its own notes (manifest, pristine copies) lie beside the tree, not in it.
    """
    notes, pristine = tree.parent / "manifest.json", tree.parent / "pristine"
    before = Manifest.load(notes)
    patches = patches_in_order(linux)
    now = Manifest(added_files(linux), {f for p in patches for f in touched(p)})

    _refuse_overwriting(now, before, tree)
    _keep_pristine(now.patched | before.patched, tree, pristine, upstream)
    with tempfile.TemporaryDirectory(prefix="saakm-patch-") as scratch:
        _apply(patches, now.patched, pristine, Path(scratch))
        # Both, in case we die half way: the next sync then cleans up.
        Manifest(now.added | before.added, now.patched | before.patched).save(notes)
        for name in now.patched:
            _write_if_changed(Path(scratch) / name, tree / name)
    for name in before.patched - now.patched:
        _write_if_changed(pristine / name, tree / name)
    for name in before.added - now.added:
        (tree / name).unlink(missing_ok=True)
    for name in now.added:
        _write_if_changed(linux / name, tree / name)
    now.save(notes)


def notes_are_damaged(tree: Path) -> bool:
    """Whether there are notes that cannot be read: the tree has to be made again."""
    notes = tree.parent / "manifest.json"
    return notes.exists() and set(read_json(notes)) != {"added", "patched"}


def forget(tree: Path) -> None:
    """What is noted beside a tree that is made again."""
    shutil.rmtree(tree.parent / "pristine", ignore_errors=True)
    (tree.parent / "manifest.json").unlink(missing_ok=True)


def owned_files(tree: Path) -> set[str]:
    """What a refresh of the tree from upstream must leave alone."""
    manifest = Manifest.load(tree.parent / "manifest.json")
    return manifest.added | manifest.patched


def copy_pristine(name: str, tree: Path, target: Path) -> None:
    """Linux's own file, of a tree that may be patched, or be patched just now."""
    if not (tree / name).exists():
        raise _lacks(tree, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(tree / name, target)
    # In this order: a sync keeps a copy before it patches the tree.
    kept = tree.parent / "pristine" / name
    if kept.exists():
        shutil.copy(kept, target)


def patches_in_order(linux: Path) -> list[Path]:
    return sorted((linux / "patches").glob("*.patch"))


def added_files(linux: Path) -> set[str]:
    names = (path.relative_to(linux) for path in linux.rglob("*") if path.is_file())
    return {str(name) for name in names if name.parts[0] not in NOT_SYNCED}


def touched(patch: Path) -> list[str]:
    names = _FILE_HEADER.findall(patch.read_text())
    if not names or any(old != new for old, new in names):
        raise SaakmError(
            f"{patch.name} cannot be used",
            "it changes no file, or adds, removes or renames one (or is no -p1 patch)",
            "put new files below linux/ at their own path; patches only edit files that Linux has",
        )
    return [new for _, new in names]


def _refuse_overwriting(now: Manifest, before: Manifest, tree: Path) -> None:
    for name in sorted(now.added - before.added):
        if (tree / name).exists():
            raise SaakmError(
                f"linux/{name} would replace a file of Linux",
                "this kernel tree has a file of that name",
                "edit it by a patch in linux/patches, or choose another name",
            )


def _keep_pristine(names: set[str], tree: Path, pristine: Path, upstream: Path | None) -> None:
    origin = upstream or tree
    for name in sorted(names):
        # Once patched, the tree's own file is not pristine any more; upstream's always is.
        if (pristine / name).exists() and not upstream:
            continue
        if not (origin / name).exists():
            raise _lacks(origin, name)
        (pristine / name).parent.mkdir(parents=True, exist_ok=True)
        with replacing(pristine / name) as scratch:
            shutil.copy2(origin / name, scratch)


def _lacks(tree: Path, name: str) -> SaakmError:
    return SaakmError(
        f"a patch edits {name}",
        f"{tree} has no such file",
        "check the path in linux/patches, or whether this 6.12.y still has the file",
    )


def _apply(patches: list[Path], names: set[str], pristine: Path, scratch: Path) -> None:
    for name in names:
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(pristine / name, scratch / name)
    for patch in patches:
        command = ["patch", "-p1", "--forward", "--no-backup-if-mismatch", "--reject-file=-"]
        done = subprocess.run(
            [*command, "-i", str(patch.resolve())],
            cwd=scratch,
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C"},
        )
        if done.returncode:
            raise _misfit(patch, done.stdout + done.stderr)


def _misfit(patch: Path, output: str) -> SaakmError:
    """Names the file and the hunks from what patch(1) says."""
    file, failed = "?", []
    for line in output.splitlines():
        if match := re.match(r"(?:checking|patching) file '?(.*?)'?(?: using.*)?$", line):
            file = match[1]
        elif match := re.match(r"Hunk #(\d+) (FAILED|ignored) at (\d+)", line):
            failed.append(f"{file}: hunk {match[1]} at line {match[3]}")
        elif "previously applied" in line or "malformed" in line:
            failed.append(f"{file}: {line}")
    return SaakmError(
        f"{patch.name} does not fit this kernel",
        "; ".join(failed) or output.strip(),
        f"adapt linux/patches/{patch.name} to the file; the kernel tree is unchanged",
    )


def _write_if_changed(source: Path, target: Path) -> None:
    if target.exists() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    # A new time stamp on purpose: make must see the change.
    shutil.copyfile(source, target)
    shutil.copymode(source, target)
