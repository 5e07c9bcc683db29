# SPDX-License-Identifier: GPL-2.0
"""The packages, installed in a clean Debian with systemd as PID 1.

What docs/how-to/install.md and choose-per-cgroup.md say.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import call
import pytest

from saakm.builder.kernel import build_kernel
from saakm.lab.bench.packages import ensure

from .debian import Debian

pytestmark = [pytest.mark.kernel("base"), pytest.mark.long, pytest.mark.limit(3600)]
# There is no mail to this project.
_NOT_MEANT = "bogus-mail-host,bogus-mail-host-in-debian-changelog"

TOML = """\
[[policy]]
name = "rr"
params = { slice_us = 3000 }
[[assign]]
unit = "nginx.service"
policy = "rr"
[[assign]]
unit = "background.slice"
policy = "rr"
[[assign]]
user = "alice"
policy = "rr"
"""
WORKER = """\
[Service]
CPUWeight=300
ExecStart=/bin/sleep infinity
[Install]
WantedBy=multi-user.target
"""
# A line KEY VALUE for each thing that is asserted.
LOOK = r"""
policy_of() { sed -n 's/^name //p' $1; }
main_pid() { systemctl show --property MainPID --value nginx; }
echo "release $(uname -r)"
echo "pid1 $(cat /proc/1/comm) $(policy_of /proc/1/saakm)"
echo "unit $(systemctl is-active saakm nginx | xargs)"
echo "worker $(policy_of /proc/$(main_pid)/saakm)"
echo "weight $(cat /sys/fs/cgroup/system.slice/nginx.service/cpu.weight)"
echo "slice_us $(cat /sys/module/rr/parameters/slice_us)"
echo "slice $(systemd-run --quiet --wait --pipe --slice=background.slice sed -n 's/^name //p' /proc/self/saakm)"
echo "alice $(su --login alice --command "sed -n 's/^name //p' /proc/self/saakm")"
systemctl restart nginx
echo "restarted $(policy_of /proc/$(main_pid)/saakm)"
saakmctl status | sed 's/^/status /'
saakmctl assign none nginx.service
echo "none $(policy_of /proc/$(main_pid)/saakm)"
saakmctl assign rr nginx.service
echo "assigned $(policy_of /proc/$(main_pid)/saakm)"
saakmctl exec rr -- sleep 1 && saakmctl status | sed 's/^/later /'
saakmctl apply --check | sed 's/^/check /'
saakmctl apply >/dev/null; echo "apply $?"
printf '[[assign]]\ncgroup = "/x"\npolcy = "rr"\n' >>/etc/saakm.toml
systemctl reload saakm 2>/dev/null; echo "bad $?"
echo "why $(journalctl --boot --unit saakm --output cat | grep 'line 1')"
echo "after $(policy_of /proc/$(main_pid)/saakm) $(systemctl --failed --plain --no-legend | wc -l)"
"""


def saakm(here, *words):
    done = call.saakm(*words, cwd=here)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """By the commands of the page, where the user has a policy of his own."""
    here = tmp_path_factory.mktemp("packages")
    saakm(here, "new", "mine", "--dir", str(here))
    kernel = build_kernel("base")
    before = kernel.vmlinux.stat().st_mtime_ns
    made = [here / name for name in re.findall(r"^package +(.*)$", saakm(here, "package"), re.M)]
    assert kernel.vmlinux.stat().st_mtime_ns == before, "packaging has linked the kernel again"
    assert set(made) == set((here / "packages").iterdir())
    (mine,) = (path for path in made if "policy-mine" in path.name)
    first = mine.read_bytes()
    saakm(here, "package", "policy", "./mine")
    assert mine.read_bytes() == first
    # Each policy is built at its installation: one will do.
    return [path for path in made if "-policy-" not in path.name or "-policy-rr" in path.name]


def test_the_kernel_alone(packages, tmp_path):
    words = ("package", "kernel", "--jobs", "1", "--json", "--out", str(tmp_path))
    names = {Path(file).name for file in json.loads(saakm(tmp_path, *words))}
    assert names == {path.name for path in packages if path.name.startswith("linux-")}


def test_lintian_has_no_complaint(packages):
    """The kernel's own packages are made by the kernel's own script."""
    ensure(["lintian"])
    ours = [path for path in packages if path.name.startswith("saakm")]
    done = subprocess.run(
        [
            "lintian",
            "--allow-root",
            "--fail-on",
            "error,warning",
            "--suppress-tags",
            _NOT_MEANT,
            *ours,
        ],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="installing a system needs root")
def test_a_service_runs_under_its_policy_after_a_reboot(packages, tmp_path):
    machine = Debian(tmp_path)
    machine.write("etc/systemd/system/nginx.service", WORKER)
    for package in packages:
        (machine.root / "root" / package.name).write_bytes(package.read_bytes())
    machine.in_chroot("useradd --create-home alice; systemctl enable nginx; dpkg -i /root/*.deb")
    machine.write("etc/saakm.toml", TOML)

    said = machine.boot(LOOK)
    print(said)
    seen = dict(re.findall(r"^(\w+) (.*)$", said, re.M))
    assert f"linux-image-{seen['release']}" in packages[0].name
    assert seen["pid1"].strip() == "systemd"
    assert seen["unit"] == "active active"
    assert (seen["worker"], seen["restarted"]) == ("rr", "rr")
    assert (seen["slice"], seen["alice"]) == ("rr", "rr")
    assert (seen["slice_us"], seen["weight"]) == ("3000", "300")
    assert re.search(r"^status /system.slice/nginx.service +rr +1$", said, re.M)
    assert seen["assigned"] == "rr" and "rr" not in seen["none"].split()
    assert "good; policies: 1, assignments: 3" in said and seen["apply"] == "0"
    # A mistake is told by its line, and leaves everything as it was.
    assert seen["bad"] == "1" and "line 15: unknown field `polcy`" in seen["why"]
    assert seen["after"] == "rr 0"

    # The rest without it: the same service is an ordinary one on the next boot.
    machine.write("etc/saakm.toml", TOML.replace("nginx", "other"))
    said = machine.boot(
        "systemctl is-active nginx; cat /proc/$(systemctl show -P MainPID nginx)/saakm;"
        "saakmctl unload rr >/dev/null && saakmctl load rr >/dev/null && echo loaded"
    )
    assert said.split() == ["active", "policy", "0", "loaded"]
