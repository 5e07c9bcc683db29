# SPDX-License-Identifier: GPL-2.0
"""saakm package: what is in the packages, and that the same input makes the same package."""

import gzip
import io
import json
import os
import re
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest
from call import saakm

from saakm.base import paths
from saakm.package.debian import version


def package(*args, status=0):
    done = saakm("package", *args)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def fields(deb):
    lines = subprocess.run(
        ["dpkg-deb", "-f", deb], capture_output=True, text=True, check=True
    ).stdout
    return dict(line.split(": ", 1) for line in lines.splitlines() if not line.startswith(" "))


def contents(deb):
    """Its files' bytes by their place."""
    data = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", deb], capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = [member for member in tar if member.isfile()]
        return {member.name[1:]: tar.extractfile(member).read() for member in members}


@pytest.fixture(scope="module")
def ctl(tmp_path_factory):
    """saakmctl's package, unpacked, and its files."""
    out = tmp_path_factory.mktemp("ctl")
    (deb,) = json.loads(package("ctl", "--json", "--out", str(out)))
    subprocess.run(["dpkg-deb", "-x", deb, out / "root"], check=True)
    return fields(deb), contents(deb), out / "root"


def test_there_is_one_version():
    cargo = tomllib.loads((paths.CRATES / "Cargo.toml").read_text())
    assert cargo["workspace"]["package"]["version"] == version()


def test_policies_are_dkms_sources(tmp_path):
    own = tmp_path / "my_own"
    own.mkdir()
    (own / "my_own.c").write_text((paths.POLICIES / "fifo/fifo.c").read_text())
    (own / "Kbuild").write_text("obj-m := my_own.o\n")
    rr, mine = json.loads(
        package("policy", "rr", str(own), "--json", "--out", str(tmp_path / "out"))
    )
    assert fields(rr)["Package"] == "saakm-policy-rr"
    assert fields(rr)["Version"] == version()
    assert "dkms" in fields(rr)["Depends"]
    assert re.fullmatch(r"scheduling policy rr: \w.*\w", fields(rr)["Description"])
    files = contents(rr)
    source = f"/usr/src/saakm-policy-rr-{version()}"
    for name in ("rr.c", "Kbuild"):
        assert files[f"{source}/{name}"] == (paths.POLICIES / "rr" / name).read_bytes()
    conf = files[f"{source}/dkms.conf"].decode()
    assert f'PACKAGE_VERSION="{version()}"' in conf and 'BUILT_MODULE_NAME[0]="rr"' in conf
    assert b"GPL-2" in files["/usr/share/doc/saakm-policy-rr/copyright"]
    # Debian's names have no underscores, modules do.
    assert fields(mine)["Package"] == "saakm-policy-my-own"
    conf = contents(mine)[f"/usr/src/saakm-policy-my-own-{version()}/dkms.conf"].decode()
    assert 'BUILT_MODULE_NAME[0]="my_own"' in conf
    (again,) = json.loads(package("policy", "rr", "--json", "--out", str(tmp_path / "again")))
    assert Path(again).read_bytes() == Path(rr).read_bytes()


def test_saakmctl_comes_with_what_a_system_expects(ctl):
    about, files, root = ctl
    assert about["Version"] == version() and "libc6" in about["Depends"]
    assert (
        "ExecStart=/usr/bin/saakmctl apply" in files["/lib/systemd/system/saakm.service"].decode()
    )
    generator = root / "usr/lib/systemd/system-generators/saakm-generator"
    assert os.access(generator, os.X_OK)
    commands = subprocess.run(
        [root / "usr/bin/saakmctl", "--help"], capture_output=True, text=True
    ).stdout
    for command in ("load", "apply", "status", "assign"):
        page = gzip.decompress(files[f"/usr/share/man/man1/saakmctl-{command}.1.gz"]).decode()
        assert f"saakmctl\\-{command}" in page or f"saakmctl {command}" in page
        assert f"  {command} " in commands
    assert "generate" not in commands


def test_bash_completes_commands_and_options(ctl):
    _, _, root = ctl
    script = root / "usr/share/bash-completion/completions/saakmctl"

    def completed(*words):
        line = (
            f"source {script}; COMP_WORDS=(saakmctl {' '.join(words)}); COMP_CWORD={len(words)}; "
        )
        line += f'_saakmctl saakmctl "{words[-1]}" saakmctl; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert completed("ap") == ["apply"]
    assert "--check" in completed("apply", "--")


@pytest.fixture
def check(ctl, tmp_path):
    """saakmctl apply --check, for a machine that has the user alice."""
    _, _, root = ctl
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text("alice:x:1000:1000::/home/alice:/bin/sh\n")

    def check(text):
        file = tmp_path / "saakm.toml"
        file.write_text(text)
        return subprocess.run(
            [root / "usr/bin/saakmctl", "apply", "--check", file],
            capture_output=True,
            text=True,
            env={**os.environ, "SAAKM_ROOT": str(tmp_path)},
        )

    return check


def test_what_we_show_is_a_good_file(ctl, check):
    example = (ctl[2] / "usr/share/doc/saakmctl/examples/saakm.toml").read_text()
    page = (paths.REPO / "docs/how-to/choose-per-cgroup.md").read_text()
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", page, re.M | re.S)
    for text, assigns in ((example, 1), (shown, 3)):
        done = check(text)
        assert f"good; policies: 1, assignments: {assigns}" in done.stdout, done.stderr
    assert "line 7: " in check(example.replace("slice_us", "[slice_us")).stderr
    assert "no user 'bob'" in check(shown.replace("alice", "bob")).stderr


def test_saakmctl_is_the_name_of_its_package_too(ctl, tmp_path):
    (deb,) = json.loads(package("saakmctl", "--json", "--out", str(tmp_path)))
    assert Path(deb).read_bytes() == (ctl[2].parent / Path(deb).name).read_bytes()


def test_refusals_say_what_to_do(tmp_path):
    for name in ("ctl", "saakmctl"):
        assert "saakm package policy rr" in package(name, "rr", status=1)
    assert "no policy" in package("policy", "none", "--out", str(tmp_path), status=1)
    assert "saakm new nobody" in package("policy", "nobody", status=1)
