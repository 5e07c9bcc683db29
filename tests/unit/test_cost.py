# SPDX-License-Identifier: GPL-2.0
"""saakm cost without a guest: choices, the guest's words, baselines, pictures."""

import io
import json
import shutil
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder.about import About
from saakm.builder.kernel import Kernel
from saakm.builder.programs import compile_static
from saakm.cli import app
from saakm.lab.cost import bars, baseline, decisions, printed
from saakm.lab.cost.conduct import check
from saakm.lab.cost.measure import Conditions, loaded_policies, results
from saakm.lab.cost.operations import OPERATIONS, apart, chosen_operations, chosen_schedulers
from saakm.lab.cost.target import Target, find_target
from saakm.model.cost_rows import Row
from saakm.model.experiment import Cost
from saakm.model.schema import plain
from saakm.vm.appliance import counted_machine
from saakm.vm.command import bare_command
from saakm.vm.qemu import needed_qemu

IDENTITY = {"kernel": "6.12.117", "compiler": "gcc 12"}
OURS = About("6.12.117", "gcc 12", "PREEMPT", True, {})
TARGET = Target(Kernel("base", Path("/build"), ""), OURS, "10.0")


def row(scheduler="fifo", operation="pipe", instructions=8000.0, **more):
    values = {"spread": 0.0, "cpus": 2, "seeds": [1], "values": [instructions], **more}
    return Row(scheduler, operation, instructions, **values)


# --- what is measured ---


def test_operations_are_taken_in_the_order_in_which_they_run():
    assert chosen_operations(["yield", "pipe", "yield"], 1) == ["pipe", "yield"]


def test_one_cpu_is_measured_without_the_operations_that_need_two():
    assert set(chosen_operations([], 2)) - set(chosen_operations([], 1)) == {"pipe2", "migration"}
    with pytest.raises(SaakmError, match="cannot be measured on 1 CPU"):
        chosen_operations(["pipe2"], 1)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(SaakmError) as error:
        chosen_operations(["pipe", "nosuch"], 2)
    assert "'nosuch'" in str(error.value) and "futex" in error.value.why
    with pytest.raises(SaakmError, match="no scheduler 'nosuch'"):
        chosen_schedulers(["nosuch"], patched=True)


def test_an_unpatched_kernel_has_only_the_classes():
    assert chosen_schedulers([], patched=False) == ["fair", "sched_fifo", "scx_fifo"]
    assert chosen_schedulers([], patched=False, has_ext=False) == ["fair", "sched_fifo"]
    assert {"fair", "scx_fifo", "fifo", "vtime"} <= set(chosen_schedulers([], patched=True))
    with pytest.raises(SaakmError, match="no scheduler 'fifo'"):
        chosen_schedulers(["fifo"], patched=False)


def test_the_guest_knows_every_operation():
    code = (paths.GUEST_FILES / "cost" / "main.c").read_text()
    assert [
        line.split('"')[1] for line in code.splitlines() if "run_" in line and '{ "' in line
    ] == [*OPERATIONS]


def test_a_policy_is_loaded_once():
    assert loaded_policies("fifo", Conditions(besides=("rr",))) == ["rr", "fifo"]
    assert loaded_policies("fifo", Conditions(besides=("fifo",))) == ["fifo"]
    assert loaded_policies("scx_fifo", Conditions()) == []


@pytest.mark.parametrize(
    ("word", "policy", "parameters"),
    [
        ("lavd:virt_llc=1-1:original=1", "lavd", ["virt_llc=1-1", "original=1"]),
        ("user:rustland", "user", []),
        ("user:rustland:events_mb=2", "user", ["events_mb=2"]),
        ("fair", "fair", []),
        ("scx_lavd-1.1.4 --x=a:b", "scx_lavd-1.1.4", []),
    ],
)
def test_a_policy_may_have_parameters(word, policy, parameters):
    assert apart(word) == (policy, parameters)


def test_what_is_loaded_besides_is_not_what_is_measured():
    row = Row("lavd:virt_llc=1-1", "pipe", 1.0, 0.0, 2, [1], [1.0], ["rr", "lavd"])
    assert row.besides == ["rr"] and loaded_policies(row.scheduler, Conditions()) == ["lavd"]


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("fair:NEXT_BUDDY", "fair has no settings here"),
        ("sched_fifo:a=1", "sched_fifo has no settings here"),
        ("scx_fifo:a=1", "scx_fifo has no settings here"),
        ("scx_lavd-1.1.4:a=1", "scx_lavd-1.1.4 has no settings here"),
        ("lavdd:a=1", "no scheduler 'lavdd'"),
        ("lavd:a", "'a' is no parameter"),
        ("lavd:original=1:original=0", "two settings of original"),
        ("lavd:virt_lc=1-1", "no parameter 'virt_lc'.*virt_llc"),
        ("lavd:", "'' is no parameter"),
    ],
)
def test_settings_that_cannot_be_are_refused(word, why):
    """Before anything is built."""
    with pytest.raises(SaakmError, match=f"(?s){why}") as error:
        check(Cost(op=("pipe",), schedulers=("sched_fifo", word)))
    assert error.value.next_step


def test_a_policy_elsewhere_has_parameters_too(tmp_path):
    directory = shutil.copytree(paths.POLICIES / "lavd", tmp_path / "lavd")
    check(Cost(op=("pipe",), schedulers=(f"{directory}:virt_llc=1-1",)))
    with pytest.raises(SaakmError, match="no parameter 'x'"):
        check(Cost(op=("pipe",), schedulers=(f"{directory}:x=1",)))


def test_two_policies_of_one_name_are_refused(tmp_path):
    """A kernel has one module of a name: both rows would be of one of them."""
    directory = shutil.copytree(paths.POLICIES / "rr", tmp_path / "rr")
    for more in (
        {"schedulers": ("rr", str(directory))},
        {"schedulers": ("rr",), "load": (str(directory),)},
    ):
        with pytest.raises(SaakmError, match="two policies are called 'rr'"):
            check(Cost(op=("pipe",), **more))
    check(Cost(op=("pipe",), schedulers=("rr", f"{paths.POLICIES / 'rr'}:slice_us=1000")))


def test_no_command_line_is_cut(tmp_path):
    machine = counted_machine(1)
    assert bare_command(machine, tmp_path, "none", ["x" * 1900])
    with pytest.raises(SaakmError, match="command line would be too long"):
        bare_command(machine, tmp_path, "none", ["x" * 2048])


def test_a_kernel_is_known_by_its_banner(tmp_path):
    vmlinux = tmp_path / "vmlinux"
    vmlinux.write_bytes(
        b"\0Linux version 6.12.9 (me@here) (gcc (Debian) 12, GNU ld 2) #3 SMP today\n\0"
    )
    target = find_target(str(vmlinux))
    series = ".".join(map(str, needed_qemu().number))
    assert target.identity == {
        "kernel": "6.12.9",
        "compiler": "gcc (Debian) 12, GNU ld 2",
        "qemu": series,
    }
    assert not target.patched
    vmlinux.write_bytes(b"MZ")
    with pytest.raises(SaakmError, match="is not a kernel"):
        find_target(str(vmlinux))


# --- what the guest says ---


def test_results_are_found_among_the_kernels_words():
    text = "booting\nRESULT pipe 8000.25 20000\r\n[1.0] noise\nRESULT yield 1500.00 40\n"
    assert results("fifo", ["pipe", "yield"], text) == {"pipe": 8000.25, "yield": 1500.0}


def test_a_missing_result_says_which_and_why():
    with pytest.raises(SaakmError) as error:
        results("fifo", ["pipe", "yield"], "RESULT pipe 8000.25 9\nERROR fork: Out of memory\n")
    assert "yield" in error.value.what and error.value.why.startswith("fork: Out of memory")
    with pytest.raises(SaakmError):
        results("fifo", ["pipe"], "")


def test_the_measuring_program_compiles_without_a_warning():
    assert compile_static(paths.GUEST_FILES / "cost").exists()


# --- baselines ---


def test_a_baseline_comes_back_as_it_was_written(tmp_path):
    file = tmp_path / "new" / "base.json"
    rows = [row(loaded=["rr", "fifo"]), row("rr", loaded=["rr"])]
    baseline.write(file, TARGET, rows)
    back = baseline.read(file)
    assert (back.identity, back.rows) == ({**IDENTITY, "qemu": "10.0"}, rows)
    assert back.conditions.besides == ("rr",) and back.schedulers == ["fifo", "rr"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"rows": []}', '{"rows": [{"no": 1}]}'])
def test_what_is_no_baseline_is_refused(tmp_path, text):
    file = tmp_path / "base.json"
    file.write_text(text)
    with pytest.raises(SaakmError, match="is not a baseline"):
        baseline.read(file)


def test_a_baseline_that_is_not_there_says_how_to_write_it(tmp_path):
    with pytest.raises(SaakmError) as error:
        baseline.read(tmp_path / "base.json")
    assert "--write-baseline" in error.value.next_step


def test_one_per_cent_is_allowed_and_more_is_not(tmp_path):
    before = baseline.Baseline(IDENTITY, [row(), row(operation="yield", instructions=1000.0)])
    allowed = baseline.changes(before, [row(instructions=8080.0)])
    baseline.refuse_regressions(tmp_path, allowed)
    worse = baseline.changes(before, [row(instructions=8081.0)])
    with pytest.raises(SaakmError) as error:
        baseline.refuse_regressions(tmp_path, worse)
    assert "fifo pipe: 8,000, now 8,081 (+1.01%, allowed 1%)" in error.value.why
    assert "--write-baseline" in error.value.next_step


def test_only_like_is_compared_with_like():
    before = baseline.Baseline(IDENTITY, [row(cpus=1)])
    found = baseline.changes(before, [row(cpus=2), row(cpus=1, switches=True), row("rr", cpus=1)])
    assert found == []
    with pytest.raises(SaakmError, match="nothing can be compared"):
        baseline.refuse_incomparable(found)


@pytest.mark.parametrize("name", ["kernel", "compiler", "qemu"])
def test_counts_of_another_kernel_compiler_or_emulator_are_not_compared(name):
    identity = {**IDENTITY, "qemu": "10.0"}
    before = baseline.Baseline(identity, [row()])
    assert baseline.difference(before, identity) == ""
    said = baseline.difference(before, {**identity, name: "another"})
    assert identity[name] in said and "another" in said
    unknown = baseline.Baseline({k: v for k, v in identity.items() if k != name}, [row()])
    assert f"its {name} was not noted" in baseline.difference(unknown, identity)


REBUILT = {**IDENTITY, "compiler": "gcc 13"}


def test_ratios_to_sched_fifo_hold_where_all_counts_differ(tmp_path):
    before = baseline.Baseline(IDENTITY, [row("sched_fifo"), row(instructions=7600.0)])
    # A compiler that needs a fifth more for everything.
    now = [row("sched_fifo", instructions=9600.0), row(instructions=9120.0)]
    alike = baseline.ratio_changes(before, now, REBUILT)
    assert [(c.scheduler, c.before, c.now, c.part) for c in alike] == [("fifo", 0.95, 0.95, 0)]
    baseline.refuse_regressions(tmp_path, alike)
    # Cheaper than before in counts, and a regression beside SCHED_FIFO.
    more = 1.001 + baseline.REBUILT_TOLERANCE
    now = [row("sched_fifo", instructions=6000.0), row(instructions=5700.0 * more)]
    with pytest.raises(SaakmError) as error:
        baseline.refuse_regressions(tmp_path, baseline.ratio_changes(before, now, REBUILT))
    assert f"fifo pipe: 0.950 of sched_fifo's, now {0.95 * more:.3f}" in error.value.why


@pytest.mark.parametrize(
    ("identity", "operation", "part", "worse"),
    [
        ({"qemu": "10.0"}, "pipe", 1.009, False),
        ({"qemu": "10.0"}, "pipe", 1.011, True),
        ({"qemu": "10.0"}, "migration", 1.099, False),
        ({"kernel": "6.12.118"}, "pipe", 1.049, False),
        ({"kernel": "6.12.118"}, "pipe", 1.051, True),
        ({"kernel": "6.12.118"}, "migration", 1.101, True),
    ],
)
def test_ratios_move_less_with_the_emulator_than_with_the_build(identity, operation, part, worse):
    figures = [("sched_fifo", 1.0), ("fifo", part)]
    before = baseline.Baseline(IDENTITY, [row(name, operation) for name, _ in figures])
    now = [row(name, operation, 8000.0 * more) for name, more in figures]
    (change,) = baseline.ratio_changes(before, now, {**IDENTITY, **identity})
    assert change.is_regression is worse


def test_without_sched_fifo_there_are_no_ratios(tmp_path):
    before = baseline.Baseline(
        IDENTITY, [row("sched_fifo"), row(), row(operation="yield", instructions=1500.0)]
    )
    baseline.refuse_without_floor(tmp_path, before, ["pipe"], "another compiler")
    with pytest.raises(SaakmError, match="cannot be compared") as error:
        baseline.refuse_without_floor(tmp_path, before, ["pipe", "yield"], "another compiler")
    assert "none of yield" in error.value.why
    assert "--schedulers sched_fifo,fifo" in error.value.next_step


def test_the_committed_baseline_is_one():
    committed = baseline.read(paths.REPO / "benchmarks" / "cost-base.json")
    assert set(committed.schedulers) >= {"fair", "sched_fifo", "fifo", "rr", "prio", "vtime"}
    assert set(committed.operations) <= set(OPERATIONS)
    assert set(committed.floor) == set(committed.operations)


# --- what a person sees ---


ROWS = [row("fair", instructions=9000.0), row("sched_fifo"), row("fifo", instructions=7600.0)]


def shown(rows, width=120):
    console = Console(width=width, record=True, file=io.StringIO())
    printed.show(rows, console)
    return console.export_text()


def test_the_table_has_figures_differences_and_bars():
    text = shown(ROWS)
    assert "9,000" in text and "+12.5%" in text and "-5.0%" in text and "█" in text
    assert "spread" not in text and OPERATIONS["pipe"].what[:20] in text


def test_long_names_leave_room_for_figures():
    agents = [f"user:/home/somebody/schedulers/of/mine/{n}/target/release/mine" for n in (1, 2)]
    text = shown([row(agents[0]), row(agents[1], instructions=9000.0)], width=80)
    assert "8,000" in text and "9,000" in text and "+12.5%" in text


def test_replicates_have_a_spread():
    rows = [msgspec.structs.replace(r, seeds=[1, 2], spread=0.0031) for r in ROWS]
    assert "0.31%" in shown(rows)


def test_pictures_are_drawn_and_repeat_to_the_byte(tmp_path):
    files = [tmp_path / name for name in ("a.svg", "b.svg", "a.png")]
    bars.draw([*ROWS, row(operation="yield", instructions=1.0)], files[:1] + files[2:])
    bars.draw([*ROWS, row(operation="yield", instructions=1.0)], files[1:2])
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"<svg" in files[0].read_bytes() and files[2].read_bytes().startswith(b"\x89PNG")


def test_a_regression_is_shown_as_count_or_as_ratio():
    before = baseline.Baseline(IDENTITY, [row("sched_fifo"), row(instructions=7600.0)])
    now = [row("sched_fifo"), row(instructions=8360.0)]
    for found, texts in (
        (baseline.changes(before, now), ("7,600", "8,360", "+10.00%")),
        (
            baseline.ratio_changes(before, now, IDENTITY),
            ("0.950", "1.045", "ratios to sched_fifo's"),
        ),
    ):
        console = Console(width=120, record=True, file=io.StringIO())
        printed.show_changes(found, console)
        shown_text = console.export_text()
        assert all(text in shown_text for text in texts)


def test_rows_are_plain_json():
    (back,) = json.loads(json.dumps(plain([row()])))
    assert {"scheduler", "operation", "instructions", "spread", "cpus", "seeds", "loaded"} <= set(
        back
    )


@pytest.mark.parametrize(
    "wrong",
    [
        ["--axis", "nosuch"],
        ["--axis", "runnable", "--values", "x"],
        ["--axis", "runnable", "--op", "nosuch"],
        ["--axis", "runnable", "--schedulers", "nosuch"],
        ["--op", "nosuch"],
        ["--schedulers", "nosuch"],
    ],
)
def test_wrong_words_are_refused_before_a_kernel_is_built(monkeypatch, tmp_path, wrong):
    """Here there is none, which would be said next."""
    monkeypatch.setenv("SAAKM_TEST_KERNEL", str(tmp_path))
    done = CliRunner().invoke(app, ["cost", *wrong])
    assert isinstance(done.exception, SaakmError) and wrong[-1] in str(done.exception)
    right = CliRunner().invoke(app, ["cost", "--axis", "cpus"])
    assert "there is no kernel" in str(right.exception)


def test_every_load_option_counts(monkeypatch):
    seen = []

    def conditions(cpus, runnable, switches, besides, scale, features):
        seen.append(besides)
        raise SaakmError("enough", "seen", "nothing")

    monkeypatch.setattr("saakm.lab.cost.conduct.Conditions", conditions)
    CliRunner().invoke(app, ["cost", "--load", "fifo,rr", "--load", "vtime", "--load", "rr"])
    CliRunner().invoke(app, ["cost"])
    assert seen == [("fifo", "rr", "vtime"), ()]


def test_a_decision_is_what_an_agent_adds_for_each_thread_that_asks():
    rows = [
        row(instructions=8000.0),
        row("user:rustland", instructions=19000.0),  # two decisions a round trip
        row("user:rustland", "crowd", 9000.0),  # fifo's is not there
        row("user:fifo", instructions=16000.0, cpus=8),  # nor on as many CPUs
        row("rr", instructions=8100.0),
        row("fifo", "pipe2", 9000.0),
        row("user:fifo", "pipe2", 9500.0),  # placed by the kernel
    ]
    found = decisions.decisions(rows)
    assert [(one.scheduler, one.operation, one.instructions) for one in found] == [
        ("user:rustland", "pipe", 5500)
    ]
    console = Console(file=io.StringIO(), width=100)
    decisions.show(found, console)
    assert "5,500" in console.file.getvalue()
