# SPDX-License-Identifier: GPL-2.0
"""Scaling axes, goals, flame graphs and Markdown of saakm cost, without a guest."""

import io
import subprocess
from collections import Counter

import pytest
from rich.console import Console

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder import crates, peers
from saakm.builder.about import About
from saakm.builder.programs import compile_plugin
from saakm.lab.cost import curves, flame, goals, sections, symbols, where
from saakm.lab.cost.axes import AXES, axis_of, chosen_axis, chosen_values, points
from saakm.lab.cost.measure import Conditions, guest_of
from saakm.lab.cost.operations import chosen_schedulers, refuse_runnable
from saakm.lab.cost.symbols import Code, Symbols
from saakm.lab.cost.target import find_target
from saakm.lab.cost.where import Profile, by_stack
from saakm.model.cost_rows import Row


def row(scheduler="fifo", operation="yield", instructions=1500.0, **more):
    values = {"spread": 0.0, "cpus": 1, "seeds": [1], "values": [instructions], **more}
    return Row(scheduler, operation, instructions, **values)


def by_runnable(scheduler, figures, operation="yield"):
    return [row(scheduler, operation, float(v), runnable=n - 2) for n, v in figures.items()]


# --- axes ---


def test_an_unknown_axis_is_refused_with_the_known_ones():
    with pytest.raises(SaakmError) as error:
        chosen_axis("nosuch")
    assert "runnable" in error.value.why


def test_values_are_sorted_and_within_the_axis():
    assert chosen_values(AXES["cpus"], [4, 2, 2]) == [2, 4]
    assert chosen_values(AXES["runnable"], [])[-1] == 10000
    for wrong in ([65], [0]):
        with pytest.raises(SaakmError):
            chosen_values(AXES["cpus"], wrong)


def test_only_what_says_something_is_measured_along_an_axis():
    boots = list(
        points(AXES["runnable"], [2, 100], ["fifo", "prio"], ["pipe", "yield"], Conditions())
    )
    assert [(name, ops, c.runnable) for name, ops, c in boots] == [
        ("fifo", ["pipe", "yield"], 0),
        ("prio", ["pipe", "yield"], 0),
        ("fifo", ["yield"], 98),
        ("prio", ["pipe", "yield"], 98),
    ]
    boots = list(points(AXES["cpus"], [1, 2], ["fifo"], ["pipe", "pipe2"], Conditions()))
    assert [ops for _, ops, _ in boots] == [["pipe"], ["pipe", "pipe2"]]


def test_rows_know_along_which_axis_they_were_measured():
    assert axis_of(by_runnable("fifo", {2: 1, 100: 1})) == "runnable"
    assert axis_of([row(), row(bystanders=7)]) == "policies"
    assert axis_of([row(), row(cpus=8)]) == "cpus"
    assert axis_of([row(), row("rr")]) == ""


def test_more_runnable_threads_are_refused_where_their_work_would_be_counted():
    refuse_runnable(["yield", "crowd"], ["fifo"])
    refuse_runnable(["pipe"], ["prio", "sched_fifo"])
    for operation, scheduler in (("pipe", "fifo"), ("fork", "prio")):
        with pytest.raises(SaakmError, match=f"says nothing about {operation}"):
            refuse_runnable([operation], [scheduler])


# --- goals ---


def judged(rows):
    return {v.goal: v for v in goals.verdicts(rows)}


def test_a_queue_that_does_not_care_for_its_length_reaches_the_goal():
    (good,) = judged(by_runnable("fifo", {2: 1500, 10000: 1501})).values()
    (bad,) = judged(by_runnable("fifo", {2: 1500, 10000: 1700})).values()
    assert good.reached and not bad.reached and "10,000 threads" in good.goal


def test_a_tree_is_logarithmic_and_a_list_is_not():
    (tree,) = judged(by_runnable("vtime", {2: 1700, 32: 1780, 1024: 1880})).values()
    (line,) = judged(by_runnable("vtime", {2: 1700, 32: 1760, 1024: 4000})).values()
    assert tree.reached and "+20.0 each doubling" in tree.measured and not line.reached


def test_policies_are_counted_by_pick():
    rows = [
        row(operation="pipe", instructions=8000.0),
        row(operation="pipe", instructions=8070.0, bystanders=7),
    ]
    (verdict,) = judged(rows).values()
    assert verdict.measured == "5.0" and verdict.reached


def test_goals_beside_the_peers():
    rows = [row(operation="pipe", instructions=7600.0), row("sched_fifo", "pipe", 8000.0)]
    (verdict,) = judged(rows).values()
    assert verdict.measured == "0.950" and not verdict.reached


@pytest.mark.parametrize(("ours", "measured"), [(1600.0, "0.300"), (2100.0, "0.550")])
def test_goal_of_a_program_that_decides(ours, measured):
    peers = [row("sched_fifo", "futex", 1000.0), row("scx_rustland", "futex", 3000.0)]
    assert not judged(peers)
    (verdict,) = judged([*peers, row("user:rustland", "futex", ours)]).values()
    assert verdict.measured == measured and verdict.reached == (ours < 2000)


def test_goal_of_a_shared_queue():
    """Of what sched_ext's adds to the 6,813 instructions outside of any class."""
    for ours, measured, reached in ((7813.0, "0.500", True), (7913.0, "0.550", False)):
        rows = [row("global", "pipe", ours), row("scx_global", "pipe", 8813.0)]
        (verdict,) = judged(rows).values()
        assert (verdict.measured, verdict.reached) == (measured, reached)


# --- tables, curves, Markdown ---

ALONG = [
    *by_runnable("fifo", {2: 1500, 100: 1500, 10000: 1501}),
    *by_runnable("prio", {2: 8000, 100: 12000, 10000: 400000}, "pipe"),
]


def test_a_table_has_a_column_a_value():
    console = Console(width=120, record=True, file=io.StringIO())
    curves.show(ALONG, console)
    text = console.export_text()
    assert "10,000" in text and "fifo (FIFO)" in text and "400,000" in text


def test_curves_repeat_to_the_byte(tmp_path):
    files = [tmp_path / name for name in ("a.svg", "b.svg")]
    for file in files:
        curves.draw(ALONG, [file])
    assert files[0].read_bytes() == files[1].read_bytes()


def test_markdown(tmp_path):
    for rows, kind, line in (
        (
            [row("sched_fifo"), row(instructions=1600.0)],
            "operations",
            "| yield | 1,500 | 1,600 (+6.7%) |",
        ),
        (ALONG, "runnable", "| fifo (FIFO) | 1,500 | 1,500 | 1,501 |"),
    ):
        sections.write(tmp_path / "page.md", rows)
        text = (tmp_path / "page.md").read_text()
        assert line in text and f"(page-{kind}.svg)" in text
        assert (tmp_path / f"page-{kind}.svg").exists()


def test_markdown_has_the_command_of_its_figures():
    assert sections.command(ALONG) == (
        "saakm cost --axis runnable --values 2,100,10000 --op yield,pipe --schedulers fifo,prio --cpus 1 --json"
    )


# --- by function ---


def test_the_plugin_compiles_without_a_warning():
    assert compile_plugin(paths.GUEST_FILES / "where").exists()


def test_calls_are_named_and_counted_together():
    functions = [Code(0xF100, 0xF200, "inner"), Code(0xF000, 0xF100, "outer")]
    known = Symbols(functions, [Code(0x1000, 0x2000, "it (user space)")])
    lines = ["1ffe 5", "2000 4", "f004;f104 2", "f008;f110 3", "f000 1"]
    assert by_stack(lines, known) == Counter(
        {
            ("it (user space)",): 5,
            ("(no symbol)",): 4,
            ("outer", "inner"): 5,
            ("outer",): 1,
        }
    )


def test_each_program_has_its_functions_where_it_lies():
    """A library that is loaded where it is not linked to, one that nobody has, and the measured."""
    plugin = compile_plugin(paths.GUEST_FILES / "where")
    told = subprocess.run(["nm", str(plugin)], capture_output=True, text=True).stdout
    at = {
        line.split()[-1]: int(line.split()[0], 16) for line in told.splitlines() if line[0] != " "
    }
    segments = subprocess.run(
        ["readelf", "-lW", str(plugin)], capture_output=True, text=True
    ).stdout
    code = next(line.split() for line in segments.splitlines() if " R E " in line)
    offset, address = int(code[1], 16), int(code[2], 16)
    base = 0x7F0000000000
    start, size = base + address, int(code[4], 16) | 0xFFF
    text = (
        f"MAPPING {start:x}-{start + size:x} r-xp {offset:08x} 00:02 7     /lib/where\n"
        "MAPPING 401000-402000 r-xp 00001000 00:02 8     /other\n"
        "MAPPING 20001000-20002000 r-xp 00001000 00:02 9     /init\n"
        "MAPPING ffffffffff600000-ffffffffff601000 r-xp 00000000 00:00 0     [vsyscall]\n"
        "SYMBOL ffffffffc0000000 t bpf_prog_0123456789abcdef_elect\t[bpf]\n"
        "SYMBOL ffffffffc0001000 t user_pick\t[user]\n"
    )
    known = symbols.of_guest(plugin, {"lib/where": plugin}, text)
    names = {
        base + at["print_calls"] + 1: ("print_calls [where, user space]", "where (user space)"),
        start + size - 1: ("where (user space)", "where (user space)"),
        0x401000: ("other (user space)", "other (user space)"),
        0x20001000: ("(user space)", "measured program (user space)"),
        0xFFFFFFFFC0000001: ("elect [bpf]", "BPF programs"),
        0xFFFFFFFFC0001001: ("user_pick [user]", "module user"),
        at["print_calls"]: ("print_calls", "kernel"),  # of the file that stands for the kernel
    }
    for place, (name, part) in names.items():
        assert known.name(place) == name
        assert symbols.part_of(name) == part


def test_names_are_as_short_as_they_can_be():
    node = "a::NodeRef<alloc::btree::node::marker::Mut,K,V,alloc::btree::node::marker::Leaf>"
    method = "<saakm_schedulers::rustland::Rustland as saakm_user::scheduler::Scheduler>::pick"
    for name, expected in {
        "clock_gettime@@GLIBC_2.17": "clock_gettime",
        "rustland::main::h0123456789abcdef": "rustland::main",
        f"a::Handle<{node},alloc::btree::node::marker::Edge>::insert": "a::Handle<..>::insert",
        f"a::remove::<impl b::Handle<{node},alloc::btree::KV>>::it": "a::remove::<impl b::Handle<..>>::it",
        method: method,
        "<std::sys::pal::unix::time::Timespec>::now": "<std::sys::pal::unix::time::Timespec>::now",
        "Channel<T>::start_recv": "Channel<T>::start_recv",
    }.items():
        assert symbols.short(name) == expected


def test_a_profile_knows_what_functions_cost_with_their_callees():
    profile = Profile("fifo", "pipe", {("a", "b"): 10.0, ("a",): 1.0, ("b", "a", "b"): 4.0})
    assert profile.functions == {"b": 14.0, "a": 1.0} and profile.instructions == 15.0
    assert profile.with_callees == {"a": 15.0, "b": 14.0}


def test_profiles_come_back_from_json():
    stacks = {("main", "a"): 10.0, ("b",): 4.0}
    profiles = [Profile("fifo", "pipe", stacks), Profile("rr", "pipe", {("b",): 3.0})]
    again = where.from_rows(where.as_rows(profiles, About("6.12.9", "gcc", "PREEMPT", True, {})))
    assert [(p.scheduler, p.functions) for p in again] == [
        (p.scheduler, p.functions) for p in profiles
    ]
    assert where.table(again, 1) == [
        ["a", "10.0", ""],
        ["(1 others)", "4.0", "3.0"],
        ["all", "14.0", "3.0"],
    ]


def test_a_flame_graph_keeps_several_schedulers_apart():
    one = Profile("fifo", "pipe", {("a", "b"): 10.25})
    assert flame.folded([one]) == ["a;b 1025"]
    other = Profile("rr", "pipe", {("a",): 1.0, ("c",): 0.001})
    assert flame.folded([one, other]) == ["fifo;a;b 1025", "rr;a 100"]


# --- schedulers from crates.io ---


def test_real_schedulers_are_measured_only_by_name():
    assert not set(peers.CRATES) & set(chosen_schedulers([], patched=True))
    assert chosen_schedulers(["scx_lavd"], patched=True) == ["scx_lavd"]


def test_a_kernel_without_the_names_of_its_variables_is_refused(tmp_path):
    vmlinux = tmp_path / "vmlinux"
    vmlinux.write_bytes(b"Linux version 6.12.9 (me@here) (gcc 12) #3 SMP today\n\0")
    (tmp_path / ".config").write_text("CONFIG_KALLSYMS=y\n")
    with pytest.raises(SaakmError, match="scx_bpfland cannot be loaded") as error:
        guest_of(find_target(str(vmlinux)), "scx_bpfland", ["pipe"], Conditions())
    assert "CONFIG_KALLSYMS_ALL" in error.value.next_step


def test_a_crate_says_which_packages_it_wants(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    with pytest.raises(SaakmError) as error:
        crates.build(crates.Crate("nosuch", "1.0", packages=("no-such-package",)))
    assert "apt-get install no-such-package" in error.value.next_step


def test_a_crate_that_is_there_is_not_built_again(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    program = tmp_path / "peers" / "nosuch-1.0" / "bin" / "tool"
    program.parent.mkdir(parents=True)
    program.touch()
    assert crates.build(crates.Crate("nosuch", "1.0", "tool")) == program
