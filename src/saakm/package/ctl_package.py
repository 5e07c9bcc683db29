# SPDX-License-Identifier: GPL-2.0
"""saakmctl with manual pages, completions, a unit that applies /etc/saakm.toml at boot, and agents."""

import tempfile
from pathlib import Path

from ..base import paths
from ..base.locks import locked
from ..builder import agents
from ..builder.cargo import forget_other_checkouts, run_cargo
from ..builder.ctl import build_saakmctl
from .debian import build_package

NAME = "saakmctl"
_SHARE = "root/usr/share"
_COMPLETIONS = {
    "saakmctl.bash": f"{_SHARE}/bash-completion/completions/saakmctl",
    "_saakmctl": f"{_SHARE}/zsh/vendor-completions/_saakmctl",
    "saakmctl.fish": f"{_SHARE}/fish/vendor_completions.d/saakmctl.fish",
}
_SERVICE = "saakm-user@.service"
_FILES = Path(__file__).parent / "files"


def package_ctl(out: Path) -> Path:
    program = build_saakmctl()
    with tempfile.TemporaryDirectory(prefix="saakm-docs-") as scratch:
        docs = Path(scratch)
        _write_docs(docs)
        files: dict[str, Path | str] = {place: docs / file for file, place in _COMPLETIONS.items()}
        files |= {f"man/{page.name}": page for page in docs.glob("*.1")}
        files["root/usr/bin/saakmctl"] = program
        files["root/usr/lib/systemd/system-generators/saakm-generator"] = _FILES / "saakm-generator"
        files |= {f"root/usr/bin/saakm-{name}": agents.build_ours(name) for name in agents.OURS}
        files[f"root/usr/lib/systemd/system/{_SERVICE}"] = _FILES / _SERVICE
        files["saakm.toml"] = _FILES / "saakm.toml"
        return build_package(NAME, "ctl", files, out)


def _write_docs(directory: Path) -> None:
    """Makes them from the description of the command line that the program has."""
    command = ["run", "--locked", "--example", "docs", "--", str(directory)]
    log, what = paths.LOGS / "saakmctl-docs.log", "writing manual pages and completions"
    with locked(paths.CARGO / "lock"):
        forget_other_checkouts(paths.CARGO / "debug", paths.REPO)
        run_cargo(command, log, what, paths.CARGO, paths.CRATES)
