# SPDX-License-Identifier: GPL-2.0
"""The scheduler compiles in other configurations than ours, without a warning, and costs nothing."""

import json
import shutil
import statistics
import subprocess
from pathlib import Path

import pytest
from call import saakm

from saakm.base import paths
from saakm.builder import source
from saakm.builder.kernel import environment, make_command
from saakm.builder.sync import owned_files, sync

from .support import find_kernel
from .test_cost import saakm_cost

pytestmark = pytest.mark.kernel("base")


@pytest.fixture(scope="module")
def build():
    """A build directory of its own, for all of these: the tools in it are compiled once."""
    return _build("configs", source.default_tree()[1])


def _build(name, tree):
    kernel = find_kernel("base")
    directory = paths.BUILD / name
    directory.mkdir(parents=True, exist_ok=True)
    return Build(tree, directory, (kernel.build / ".config").read_text())


class Build:
    def __init__(self, tree, directory, config):
        self._tree, self._directory, self._config = tree, directory, config

    @property
    def vmlinux(self):
        return self._directory / "vmlinux"

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
@pytest.mark.rotates("option")
@pytest.mark.parametrize("option", ["SCHED_CLASS_SAAKM", "CGROUPS", "SCHED_CORE"])
def test_the_scheduler_compiles_without(build, option):
    # SCHED_AUTOGROUP would select CGROUPS.
    # An object that a warning was about is there the next time: it must not be.
    config = build.configure("-d", option, "-d", "SCHED_AUTOGROUP", "-e", "WERROR")
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


@pytest.fixture(scope="module")
def unpatched():
    """A tree of Linux as it came, which shares its files with ours."""
    tree = source.default_tree()[1]
    copy = paths.TREES / "unpatched" / "linux"
    nothing = copy.parent / "nothing"
    shutil.rmtree(copy.parent, ignore_errors=True)
    nothing.mkdir(parents=True)
    for name in ("linux", "pristine", "manifest.json"):
        subprocess.run(["cp", "-al", tree.parent / name, copy.parent], check=True)
    for name in owned_files(copy):
        (copy / name).unlink()  # and not ours with it
    sync(nothing, copy)
    core = "kernel/sched/core.c"
    assert "saakm" not in (copy / core).read_text() and "saakm" in (tree / core).read_text()
    return copy


@pytest.mark.long
@pytest.mark.limit(7200)
def test_another_tree_is_copied_and_patched_there(unpatched):
    done = saakm("build", "kernel", "--kernel-source", unpatched)
    assert done.returncode == 0, done.stderr
    vmlinux = Path(done.stdout.split()[1])
    try:
        assert b"saakm_add_policy" in vmlinux.read_bytes()
        assert "saakm" not in (unpatched / "kernel/sched/core.c").read_text()
    finally:
        shutil.rmtree(vmlinux.parent)


@pytest.mark.long
@pytest.mark.limit(7200)
def test_without_the_class_nothing_costs_more_than_in_linux(unpatched):
    costs = []
    for build in (_build("unpatched", unpatched), _build("without", source.default_tree()[1])):
        config = build.configure("-d", "SCHED_CLASS_SAAKM")
        assert "CONFIG_SCHED_CLASS_SAAKM=y" not in config
        build.make("vmlinux")
        done = saakm_cost("--kernel", str(build.vmlinux), "--schedulers", "fair,sched_fifo",
                          "--seeds", "5", "--json")  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        costs.append({(row["scheduler"], row["operation"]): statistics.median(row["values"])
                      for row in json.loads(done.stdout)})  # fmt: skip
    linux, without = costs
    print("\n".join(f"{key}: {linux[key]:,.1f}, {without[key]:,.1f}" for key in linux))
    # Boots of one kernel differ by half a per cent in what lives long, and by more in whom a
    # crowd of fair threads wakes: any difference in timing changes that.
    noise = {"fork": 0.006, "exec": 0.006, "migration": 0.006, "crowd": 0.03}
    for key, cost in linux.items():
        assert without[key] == pytest.approx(cost, rel=noise.get(key[1], 0.001)), key
