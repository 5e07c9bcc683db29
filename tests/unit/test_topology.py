# SPDX-License-Identifier: GPL-2.0
import re

import pytest
import typer

from saakm.base.errors import SaakmError
from saakm.base.sizes import megabytes
from saakm.cli import app
from saakm.vm.topology import Topology, parse_topology


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("1s4c", Topology(sockets=1, llcs=1, cores=4, threads=1, nodes=1)),
        ("2s4c2t", Topology(sockets=2, llcs=1, cores=4, threads=2, nodes=2)),
        ("1s2l4c", Topology(sockets=1, llcs=2, cores=4, threads=1, nodes=1)),
        ("2s2l2c2t-4n", Topology(sockets=2, llcs=2, cores=2, threads=2, nodes=4)),
        ("1s1c", Topology(sockets=1, llcs=1, cores=1, threads=1, nodes=1)),
    ],
)
def test_names(name, expected):
    assert parse_topology(name) == expected


def test_the_help_counts_rightly():
    (option,) = (
        p for p in typer.main.get_command(app).commands["run"].params if p.name == "topology"
    )
    counted = re.findall(r"(\w+) \([^)]* = (\d+) CPUs\)", option.help)
    assert ("1s2l4c", "8") in counted
    for name, cpus in counted:
        assert parse_topology(name).cpus == int(cpus)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "SOCKETSs"),
        ("4c", "SOCKETSs"),
        ("1s4c2", "SOCKETSs"),
        ("1s0c", "at least 1"),
        ("0s4c", "at least 1"),
        ("1s4c3t", "1 or 2 threads"),
        ("4s32c", "128 CPUs"),
        ("2s4c-3n", "3 NUMA nodes"),
        ("1s4c-2n", "part of a cache"),
        ("2s4c-1n", "1 NUMA nodes"),
    ],
)
def test_nonsense_is_refused_with_the_reason(name, reason):
    with pytest.raises(SaakmError, match=reason) as error:
        parse_topology(name)
        pytest.fail(f"{name} was taken")
    assert reason in str(error.value)


def test_one_socket_needs_no_numa_options():
    assert parse_topology("1s2l4c").qemu_args("1G") == [
        "-smp",
        "8,sockets=1,dies=2,cores=4,threads=1",
    ]


def test_each_socket_is_a_node_and_memory_adds_up():
    args = parse_topology("2s2c2t").qemu_args("1025M")
    assert args[:2] == ["-smp", "8,sockets=2,dies=1,cores=2,threads=2"]
    assert "memory-backend-ram,id=m0,size=513M" in args
    assert "memory-backend-ram,id=m1,size=512M" in args
    assert "node,nodeid=0,memdev=m0,cpus=0-3" in args
    assert "node,nodeid=1,memdev=m1,cpus=4-7" in args
    assert "dist,src=0,dst=1,val=21" in args and "dist,src=1,dst=0,val=21" in args


@pytest.mark.parametrize(
    ("text", "expected"), [("1G", 1024), ("512M", 512), ("512", 512), ("2g", 2048)]
)
def test_memory_sizes(text, expected):
    assert megabytes(text) == expected


@pytest.mark.parametrize("text", ["", "0", "G", "1T", "-1G", "1.5G"])
def test_memory_nonsense(text):
    with pytest.raises(SaakmError, match="is not a memory size"):
        megabytes(text)
