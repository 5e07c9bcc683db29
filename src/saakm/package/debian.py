# SPDX-License-Identifier: GPL-2.0
"""Builds one Debian package by debhelper, from files and the templates of its debian/."""

import os
import shutil
import tempfile
import tomllib
from pathlib import Path

import jinja2

from ..base import paths
from ..base.process import run_logged
from ..base.progress import meter
from ..lab.bench.packages import ensure

TOOLS = ("debhelper", "dh-dkms", "dpkg-dev")
_TEMPLATES = Path(__file__).parent / "templates"
# Programs of debhelper for one package: 19 for a policy, 24 for saakmctl.
_STEPS = 24
# Fixed: the same input makes the same package.
_DATE = "Mon, 01 Jan 2024 00:00:00 +0000"


def version() -> str:
    """All packages have this version."""
    project = tomllib.loads((paths.REPO / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def maintainer() -> tuple[str, str]:
    """Returns what Debian's own tools would take."""
    return os.environ.get("DEBFULLNAME", "SaaKM"), os.environ.get("DEBEMAIL", "saakm@localhost")


def build_package(
    name: str, kind: str, files: dict[str, Path | str], out: Path, **values: object
) -> Path:
    """The package `name`; `files` by their place in its source, `kind` is a folder of templates."""
    ensure(TOOLS)
    with tempfile.TemporaryDirectory(prefix="saakm-package-") as scratch:
        source = Path(scratch) / "source"
        _fill(source, {**files, **_render(name, kind, values)})
        with meter(f"packaging {name}", _STEPS) as progress:

            def step(line: str) -> None:
                if line.lstrip().startswith("dh_"):
                    progress.advance()

            run_logged(
                ["dpkg-buildpackage", "-b", "-uc", "-us"],
                paths.LOGS / f"{name}.log",
                f"building the package {name}",
                env={"DEB_BUILD_OPTIONS": "noautodbgsym nocheck", "LC_ALL": "C"},
                cwd=source,
                on_line=step,
            )
        return move(next(Path(scratch).glob("*.deb")), out)


def move(package: Path, out: Path) -> Path:
    """Moves it to where the user wants it; one of the same version is replaced."""
    out.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(package, (out / package.name).resolve()))


def _render(name: str, kind: str, values: dict[str, object]) -> dict[str, str]:
    """The files of debian/; the package's name stands for NAME in theirs."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    full_name, email = maintainer()
    known = {"name": name, "version": version(), "maintainer": f"{full_name} <{email}>"}
    templates = [*(_TEMPLATES / "common").iterdir(), *(_TEMPLATES / kind).iterdir()]
    return {
        f"debian/{template.name.replace('NAME', name)}": environment.from_string(
            template.read_text()
        ).render(**known, date=_DATE, **values)
        for template in templates
    }


def _fill(source: Path, files: dict[str, Path | str]) -> None:
    for place, content in files.items():
        path = source / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copy(content, path)
        else:
            path.write_text(content)
    (source / "debian/rules").chmod(0o755)
