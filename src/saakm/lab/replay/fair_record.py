# SPDX-License-Identifier: GPL-2.0
"""Records in a guest what the core asks of fair, from the boot on: a run that repeats to the bit."""

import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ...base import paths
from ...base.errors import SaakmError
from ...builder.kernel import Kernel, build_kernel
from ...builder.programs import compile_plugin, compile_static
from ...vm import appliance
from ...vm.appliance import Appliance, counted_machine
from ...vm.command import COUNTED_CLOCK
from .plan import RECORDER, make_fair_plan
from .scenarios import Scenario

_REFUSED = "saakm: refused: "
# Autogroup would put sessions into groups; of cgroups there is but the root.
_INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t debugfs debug /sys/kernel/debug
for feature in {features}; do
    echo $feature >/sys/kernel/debug/sched/features && continue
    echo "{refused}$feature"; poweroff -f
done
exec /bin/mixture {groups}
"""
_SECONDS = 7200


@dataclass(frozen=True)
class FairRecorded:
    """What is to be recorded: all that decides it, beside the kernel."""

    scenario: Scenario
    cpus: int
    picks: int  # the machine is switched off after so many, not counting the boot's
    features: tuple[str, ...] = ()  # besides the scenario's
    seed: int = 1
    states: bool = False  # virtual times are compared as well

    @property
    def all_features(self) -> tuple[str, ...]:
        return (*self.scenario.features, *self.features)

    @property
    def config(self) -> str:
        """Features are there to be set only with CONFIG_SCHED_DEBUG."""
        return "debug" if self.all_features else "base"


def record_fair(wanted: FairRecorded, out: Path) -> Kernel:
    """Writes the recording to `out`; the kernel that it is of."""
    kernel = build_kernel(wanted.config)
    files = {
        "bin/busybox": Path("/bin/busybox"),
        "bin/mixture": compile_static(paths.GUEST_FILES / "mixture"),
    }
    with tempfile.TemporaryDirectory(prefix="saakm-replay-") as name:
        init, plan = Path(name) / "init", Path(name) / "plan"
        init.write_text(_script(wanted))
        init.chmod(0o755)
        plan.write_text(make_fair_plan(kernel, wanted.cpus))
        plugin = f"{compile_plugin(RECORDER)},plan={plan},out={out},calls={wanted.picks}"
        machine = counted_machine(wanted.cpus, 1024, seed=wanted.seed, plugin=plugin)
        arguments = (*COUNTED_CLOCK, "oops=panic", "norandmaps", "noautogroup")
        guest = Appliance(kernel.vmlinux, init, files, arguments, machine)
        text = appliance.run(guest, timeout=_SECONDS).replace("\r", "")
    _judge(text)
    return kernel


def _script(wanted: FairRecorded) -> str:
    return _INIT.format(
        features=shlex.join(wanted.all_features),
        refused=_REFUSED,
        groups=shlex.join(wanted.scenario.groups),
    )


def _judge(text: str) -> None:
    refused = re.findall(rf"^{_REFUSED}(.*)$", text, re.M)
    if refused:
        raise SaakmError(
            f"the kernel has no feature {' '.join(refused)}",
            "/sys/kernel/debug/sched/features did not take it",
            "names are those of kernel/sched/features.h, as NEXT_BUDDY or NO_NEXT_BUDDY",
        )
