# SPDX-License-Identifier: GPL-2.0
"""The scheduler compiles in other configurations than ours, without a warning."""

import subprocess

import pytest

from saakm import paths, source
from saakm.kernel import environment, make_command

from .support import find_kernel

pytestmark = pytest.mark.kernel("base")


@pytest.fixture(scope="module")
def build():
    """A build directory of its own, for all of these: the tools in it are compiled once."""
    kernel = find_kernel("base")
    directory = paths.BUILD / "configs"
    directory.mkdir(parents=True, exist_ok=True)
    _, tree = source.default_tree()
    return Build(tree, directory, (kernel.build / ".config").read_text())


class Build:
    def __init__(self, tree, directory, config):
        self._tree, self._directory, self._config = tree, directory, config

    def configure(self, *changes: str) -> str:
        """The configuration that Kconfig makes of ours with these changes."""
        file = self._directory / ".config"
        file.write_text(self._config)
        subprocess.run([self._tree / "scripts/config", "--file", file, *changes], check=True)
        self.make("olddefconfig")
        return file.read_text()

    def make(self, *targets: str) -> str:
        done = subprocess.run(
            [*make_command(self._directory, self._tree), "-s", *targets],
            env={**subprocess.os.environ, **environment()},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr


@pytest.mark.limit(1500)
@pytest.mark.parametrize("option", ["SCHED_CLASS_SAAKM", "CGROUPS", "SCHED_CORE"])
def test_the_scheduler_compiles_without(build, option):
    # SCHED_AUTOGROUP would select CGROUPS.
    config = build.configure("-d", option, "-d", "SCHED_AUTOGROUP")
    assert f"CONFIG_{option}=y" not in config
    assert ("CONFIG_SCHED_CLASS_SAAKM=y" in config) == (option != "SCHED_CLASS_SAAKM")
    warnings = build.make("kernel/sched/")
    assert "saakm" not in warnings and "warning" not in warnings, warnings


@pytest.mark.limit(600)
def test_preempt_rt_and_saakm_exclude_each_other(build):
    """Softirqs are preemptible there: a balancing handler could lose its CPU."""
    config = build.configure("-e", "EXPERT", "-e", "PREEMPT_RT")
    assert "CONFIG_PREEMPT_RT=y" in config
    assert "CONFIG_SCHED_CLASS_SAAKM=y" not in config
