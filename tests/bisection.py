# SPDX-License-Identifier: GPL-2.0
"""What tests/series does: commits of the series, and builds of each."""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from saakm.base import cache, paths
from saakm.base.errors import SaakmError
from saakm.base.files import hash_files, read_json, write_text
from saakm.base.locks import locked
from saakm.base.process import run_logged
from saakm.base.progress import meter
from saakm.builder import kconfig
from saakm.builder.kernel import environment, make_command
from saakm.builder.source import default_tree
from saakm.builder.sync import copy_pristine, owned_files, patches_in_order, touched
from saakm.package.series import write_series

HOME = paths.CACHE / "series"
TREE, REPOSITORY, KNOWN = HOME / "linux", HOME / "repository", HOME / "known.json"
CONFIGS = Path(__file__).parent / "series-configs"
KCONFIG = Path("kernel/Kconfig.preempt")


@dataclass(frozen=True)
class Variant:
    """What is built of a step. `extra` arguments of make, `goal` its last."""

    name: str
    configs: tuple[str, ...]
    goal: str = "vmlinux"
    extra: tuple[str, ...] = ()

    @property
    def build(self) -> Path:
        return HOME / f"build-{self.name}"

    @property
    def files(self) -> list[Path]:
        return [CONFIGS / f"{name}.config" for name in self.configs]


@dataclass(frozen=True)
class Step:
    number: int
    commit: str
    tree: str  # git's digest of all files that the series edits or adds
    subject: str
    has_option: bool

    @property
    def variants(self) -> list[Variant]:
        option = ("saakm",) if self.has_option else ()
        on = [Variant("on", ("base", "saakm"))] if self.has_option else []
        ext = ("base", *option, "ext")
        return [
            Variant("off", ("base",)),
            *on,
            Variant("ext", ext, "kernel/sched/", ("KCFLAGS=-g0",)),
        ]


def main(description: str | None) -> int:
    """What tests/series does."""
    options = parse_options(description)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for role in ("AUTHOR", "COMMITTER"):  # nobody gets these mails
        os.environ[f"GIT_{role}_NAME"] = "SaaKM"
        os.environ[f"GIT_{role}_EMAIL"] = "saakm@localhost"
    try:
        return run(options)
    except SaakmError as error:
        sys.exit(f"series: {error}")
    except KeyboardInterrupt:
        sys.exit("series: interrupted")


def run(options: argparse.Namespace) -> int:
    cache.refuse_unusable()
    cache.make(HOME)
    with locked(HOME / "lock"):
        key = prepare_tree()
        steps, began = make_commits(), time.monotonic()
        failed, built, skipped = build_all(steps, key, options)
    print(f"series: {built} builds in {(time.monotonic() - began) / 60:.0f} min", end="")
    print(f", and {skipped} that were known" if skipped else "")
    return verdict(steps, failed)


def parse_options(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--again", action="store_true", help="build what is known to build, too")
    parser.add_argument("--jobs", type=count, help="of make; default: CPUs")
    return parser.parse_args()


def count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1")
    return int(text)


def prepare_tree() -> str:
    """Linux's source to build in: links to the cache's, but for what a sync has changed there."""
    key, source = default_tree()
    mark = HOME / "source"
    if mark.exists() and mark.read_text() == key:
        return key
    for old in (TREE, HOME / "index", *HOME.glob("build-*")):
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
    mark.unlink(missing_ok=True)
    with locked(source.parent / "lock"), meter("copying Linux's source"):
        subprocess.run(["cp", "-al", str(source), str(TREE)], check=True)
        for name in owned_files(source):
            (TREE / name).unlink(missing_ok=True)
            if (source.parent / "pristine" / name).exists():
                copy_pristine(name, source, TREE / name)
    write_text(mark, key)
    return key


def make_commits() -> list[Step]:
    """The series, applied by git am to the files that it edits; nothing else of Linux is in git."""
    _, source = default_tree()
    shutil.rmtree(REPOSITORY, ignore_errors=True)
    REPOSITORY.mkdir()
    for name in {n for patch in patches_in_order(paths.LINUX) for n in touched(patch)}:
        copy_pristine(name, source, REPOSITORY / name)
    git("init", "-q")
    git("add", "--all", "--force")
    git("commit", "-q", "-m", "Linux")
    with tempfile.TemporaryDirectory(prefix="saakm-mails-") as scratch:
        mails = write_series(paths.LINUX, source, Path(scratch))
        git("am", "-q", "--empty=drop", *map(str, mails))
    listed = git("log", "--reverse", "--format=%H %T %s").splitlines()[1:]
    steps = []
    for number, line in enumerate(listed, 1):
        commit, tree, subject = line.split(" ", 2)
        has_option = "config SCHED_CLASS_SAAKM\n" in git("show", f"{commit}:{KCONFIG}")
        steps.append(Step(number, commit, tree, subject, has_option))
    return steps


def git(*arguments: str, **variables: str) -> str:
    command = ["git", "-C", str(REPOSITORY), "-c", "core.hooksPath=/dev/null", *arguments]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, **variables},
    )
    if done.returncode:
        raise SaakmError(
            f"git {arguments[0]} failed in {REPOSITORY}",
            done.stderr.strip(),
            "tests/unit/test_series.py may say more",
        )
    return done.stdout


def build_all(
    steps: list[Step], key: str, options: argparse.Namespace
) -> tuple[list[str], int, int]:
    """What does not build, how many builds there were, and how many were known."""
    failed, built, skipped = [], 0, 0
    for step in steps:
        placed = False
        for variant in step.variants:
            name = digest(key, step, variant)
            if name in read_json(KNOWN) and not options.again:
                skipped += 1
                continue
            if not placed:
                place(step)
                placed = True
            built += 1
            label = f"{step.number:2}/{len(steps)} {variant.name:3}"
            began = time.monotonic()
            try:
                build(variant, options.jobs)
            except SaakmError as error:
                failed.append(f"{label.strip()} {step.subject}")
                print(f"{label}        FAILS  {step.subject}\n{error}", flush=True)
                continue
            seconds = round(time.monotonic() - began)
            print(f"{label} {seconds:5} s  builds  {step.subject}", flush=True)
            write_text(KNOWN, json.dumps({**read_json(KNOWN), name: seconds}))
    return failed, built, skipped


def digest(key: str, step: Step, variant: Variant) -> str:
    parts = [key, step.tree, variant.goal, *variant.extra, hash_files(variant.files, CONFIGS)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def place(step: Step) -> None:
    """Writes only what differs from the step before; make compiles no more than that."""
    where = {"GIT_WORK_TREE": str(TREE), "GIT_INDEX_FILE": str(HOME / "index")}
    where["GIT_DIR"] = str(REPOSITORY / ".git")
    git("read-tree", "--reset", "-u", step.commit, **where)


def build(variant: Variant, jobs: int | None) -> None:
    make = ["nice", *make_command(cache.make(variant.build), TREE, jobs), *variant.extra]
    stamp = variant.build / "saakm-config.stamp"
    now = hash_files([*variant.files, TREE / KCONFIG], Path("/"))
    if not stamp.exists() or stamp.read_text() != now:
        stamp.unlink(missing_ok=True)
        with meter(f"configuring {variant.name}", kconfig.STEPS) as progress:
            kconfig.configure(TREE, variant.build, variant.files, make, progress.advance)
        write_text(stamp, now)
    log = HOME / f"{variant.name}.log"
    run_logged([*make, variant.goal], log, f"building {variant.name}", env=environment())


def verdict(steps: list[Step], failed: list[str]) -> int:
    if failed:
        print(f"series: of {len(steps)} steps, these do not build:")
        print("\n".join(f"  {one}" for one in failed))
        return 1
    print(f"series: all {len(steps)} steps build")
    return 0
