# SPDX-License-Identifier: GPL-2.0
"""Configures a build from tinyconfig plus fragments, and checks that they took effect."""

import re
from collections.abc import Callable
from pathlib import Path

from ..base import paths
from ..base.errors import SaakmError
from ..base.process import run_logged

CONFIGS = {
    "base": ["base.config"],
    "features": ["base.config", "features.config"],
    "debug": ["base.config", "debug.config"],
    "kcsan": ["base.config", "kcsan.config"],
}
# With the kernel's own checks: slower, and larger.
CHECKED = ("debug", "kcsan")
STEPS = 3  # of configure()
_SET = re.compile(r"^(CONFIG_\w+)=(.*)$")
_UNSET = re.compile(r"^# (CONFIG_\w+) is not set$")


def fragments(config: str, directory: Path = paths.CONFIGS) -> list[Path]:
    if config not in CONFIGS:
        raise SaakmError(
            f"there is no kernel configuration '{config}'",
            f"SaaKM has: {', '.join(CONFIGS)}",
            "use --config base to measure, features to set the fair class's or to measure on XFS, "
            "debug to test, kcsan to find data races",
        )
    return [directory / name for name in CONFIGS[config]]


def parse_config(text: str) -> dict[str, str]:
    """Options and values; an option that is off has the value 'n'."""
    options = {}
    for line in text.splitlines():
        if match := _SET.match(line):
            options[match[1]] = match[2]
        elif match := _UNSET.match(line):
            options[match[1]] = "n"
    return options


def wanted(files: list[Path]) -> dict[str, tuple[str, str]]:
    """Each option's value and the fragment that has the last word on it."""
    return {
        option: (value, file.name)
        for file in files
        for option, value in parse_config(file.read_text()).items()
    }


def verify(files: list[Path], dotconfig: Path) -> None:
    """Kconfig drops what it cannot have without a word: say it."""
    actual = parse_config(dotconfig.read_text())
    lost = [
        f"{option}={value} of {file} became {actual.get(option, 'n')}"
        for option, (value, file) in wanted(files).items()
        if actual.get(option, "n") != value
    ]
    if lost:
        raise SaakmError(
            "the kernel configuration is not what was asked for",
            "; ".join(lost),
            "a dependency is missing or the option has another name in this kernel: "
            f"look it up in make menuconfig and mend linux/configs ({dotconfig} is the result)",
        )


def configure(
    tree: Path, build: Path, files: list[Path], make: list[str], on_step: Callable[[], None]
) -> None:
    """In so many steps."""
    log = build / "saakm-config.log"
    run_logged([*make, "tinyconfig"], log, "make tinyconfig")
    on_step()
    merge = [str(tree / "scripts/kconfig/merge_config.sh"), "-m", "-O", str(build)]
    run_logged(
        [*merge, str(build / ".config"), *map(str, files)],
        log,
        "merging the configuration fragments",
        cwd=tree,
        append=True,
    )
    on_step()
    run_logged([*make, "olddefconfig"], log, "make olddefconfig", append=True)
    on_step()
    verify(files, build / ".config")
