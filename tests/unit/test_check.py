# SPDX-License-Identifier: GPL-2.0
"""saakm check without a guest: what runs where, and how a recorded guest is judged."""

import io
import json
import re
import subprocess
from pathlib import Path

import pytest
from call import saakm
from rich.console import Console

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.builder.parameters import check_form, check_values, fault_in
from saakm.lab.check import trial, verdicts
from saakm.lab.check.checks import CHECKS, PROMISES, chosen_checks, parse_promises
from saakm.lab.check.evaluate import Finding, evaluate
from saakm.lab.check.plan import USUAL, Level, Trial, plan

# Consoles of guests that checked rr, shortened by a smaller scale.
DATA = Path(__file__).parent / "data"
ORDER = (DATA / "check-order.txt").read_text()
AFFINITY = (DATA / "check-affinity.txt").read_text()


def one(pattern, text):
    """The first match, which must be there."""
    match = re.search(pattern, text, re.M)
    assert match, pattern
    return match


# --- what runs ---


def test_every_check_has_its_code():
    code = (paths.GUEST_FILES / "check" / "main.c").read_text()
    assert re.findall(r'^\t{ "([\w-]+)",', code, re.M) == [
        "lifecycle", "order", "wakeups", "affinity", "work-conservation", "no-starvation",
        "fairness", "weights", "storm", "reload", "hotplug", "leaks",
    ]  # fmt: skip
    assert set(re.findall(r'^\t{ "([\w-]+)",', code, re.M)) == set(CHECKS)


def test_levels_grow():
    levels = [plan(level, list(CHECKS), 7) for level in Level]
    assert all(set(a) < set(b) for a, b in zip(levels, levels[1:]))
    assert all(len(set(trials)) == len(trials) for trials in levels)
    assert {trial.config for trial in levels[0]} == {"base"}
    assert all(trial.seed == 7 for trial in levels[1])


def test_one_cpu_is_not_asked_for_what_needs_two():
    full = plan(Level.full, list(CHECKS), 1)
    assert "1s1c" in {trial.topology for trial in full}
    assert not [t for t in full if t.topology == "1s1c" and CHECKS[t.check].cpus > 1]


def test_a_trial_says_how_to_repeat_it():
    trial = Trial("storm", "debug", "2s2c2t", 9)
    assert trial.command("./my pol", ["--param", "slice_us=2"]) == (
        "saakm check './my pol' --only storm --config debug --topology 2s2c2t --seed 9 "
        "--param slice_us=2"
    )
    assert Trial("storm").command("rr", []) == "saakm check rr --only storm --seed 1"


def test_unknown_names_are_refused_with_the_known_ones():
    assert chosen_checks("storm, order") == ["order", "storm"]
    assert chosen_checks("") == list(CHECKS)
    with pytest.raises(SaakmError) as error:
        chosen_checks("strom")
    assert "lifecycle" in error.value.why
    with pytest.raises(SaakmError) as error:
        parse_promises("fairness, speed", "mine")
    assert "mine promises 'speed'" in error.value.what and "weights" in error.value.why


@pytest.mark.parametrize(
    ("name", "promised"),
    [
        ("fifo", []),
        ("prio", []),
        ("rr", ["work-conservation", "no-starvation", "fairness"]),
        ("vtime", ["no-starvation", "fairness", "weights"]),
    ],
)
def test_shipped_policies_promise_what_their_readme_says(name, promised):
    code = (paths.POLICIES / name / f"{name}.c").read_text()
    said = re.search(r'^MODULE_INFO\(saakm_promises, "(.*)"\);', code, re.M)
    assert parse_promises(said[1] if said else "", name) == promised
    line = one(r"^\*\*Promises:\*\* (.*?);", (paths.POLICIES / name / "README.md").read_text())[1]
    assert [p for p in PROMISES if p.replace("no-", "no ").replace("-", " ") in line] == promised


TYPES = {
    "slice_us": "uint",
    "timeout_ms": "int",
    "delays": "bool",
    "on_violation": "charp",
    "set_by_code": "",
}


@pytest.mark.parametrize(
    ("parameter", "why"),
    [
        ("slice_us=-1", "slice_us is a whole number from 0 to 4294967295"),
        ("slice_us=-0", "from 0 to 4294967295"),
        ("slice-us=-1", "from 0 to 4294967295"),
        ("slice_us=4294967296", "from 0 to 4294967295"),
        ("slice_us=0x100000000", "from 0 to 4294967295"),
        ("slice_us=4ms", "from 0 to 4294967295"),
        ("slice_us=", "from 0 to 4294967295"),
        ("slice_us=09", "from 0 to 4294967295"),
        ("delays=2", "delays is 0 or 1"),
        ("delays=", "delays is 0 or 1"),
        ("delays=old", "delays is 0 or 1"),
        ("timeout_ms=-2147483649", "from -2147483648 to 2147483647"),
        ("replaces=fifo", "the policy is loaded alone"),
        (
            "slice=4000",
            "it has no parameter 'slice', but: delays, on_violation, set_by_code, slice_us",
        ),
    ],
)
def test_a_parameter_that_the_kernel_would_not_take_is_refused(parameter, why):
    assert why in fault_in(parameter, TYPES)


@pytest.mark.parametrize(
    "parameter",
    ["slice_us=0", "slice_us=4294967295", "slice_us=+7", "slice_us=0xFFFFFFFF", "slice_us=017",
     "slice-us=4000", "timeout_ms=-1", "on_violation=warn", "set_by_code=-1",
     "delays=0", "delays=Y", "delays=off"],
)  # fmt: skip
def test_other_parameters_are_left_to_the_kernel(parameter):
    assert fault_in(parameter, TYPES) is None


@pytest.fixture
def module(tmp_path):
    """It has a parameter of each kind: one by module_param_cb() has no type."""
    code = tmp_path / "mine.c"
    code.write_text(
        'static const char type[] __attribute__((section(".modinfo"), used)) = '
        '"parmtype=slice_us:uint";\n'
        'static const char __param_str_asked[] __attribute__((used)) = "asked";\n'
    )
    file = tmp_path / "mine.ko"
    subprocess.run(["gcc", "-c", code, "-o", file], check=True)
    return file


def test_a_module_says_which_parameters_it_has(tmp_path, module):
    check_values(["slice_us=1", "asked=-1"], module)
    check_values([], tmp_path / "nothing")
    with pytest.raises(SaakmError, match="mine cannot be loaded with slice_us=-1") as error:
        check_values(["slice_us=1", "slice_us=-1"], module)
    assert "from 0 to 4294967295" in error.value.why
    reactions = {"on_violation": "charp"}
    assert not fault_in("on_violation=warn", reactions)
    assert "eject or panic" in str(fault_in("on_violation=pray", reactions))
    for wrong in ("slice_us", "=3", "a=b c"):
        with pytest.raises(SaakmError, match="is no parameter"):
            check_form([wrong])


def test_parameters_are_refused_before_a_guest_boots(tmp_path, module, monkeypatch):
    monkeypatch.setattr(trial, "build_kernel", lambda config: None)
    monkeypatch.setattr(trial, "build_modules", lambda kernel, sources: [module])
    monkeypatch.setattr(trial, "build_saakmctl", lambda: tmp_path / "saakmctl")
    (tmp_path / "Kbuild").write_text("obj-m := mine.o\n")

    def prepare(parameter):
        files = tmp_path / parameter
        files.mkdir()
        return trial.prepare(tmp_path, [parameter], {"base", "debug"}, files)

    assert prepare("slice_us=1").parameters == ("slice_us=1",)
    for wrong in ("slice_us=-1", "slice_us=4294967296", "slice=1"):
        with pytest.raises(SaakmError, match="cannot be loaded with"):
            prepare(wrong)


# --- how a guest is judged ---


def test_a_guest_that_did_well_is_believed():
    found = evaluate("order", ORDER)
    assert found.verdict == "held", found.failures
    events, threads = map(int, re.findall(r"\d+", found.tried[-1]))
    assert threads >= 14 and events > 10 * threads
    found = evaluate("affinity", AFFINITY)
    assert found.verdict == "held", found.failures
    runs, changes = map(int, re.findall(r"\d+", found.tried[-1]))
    assert runs > 20 and changes >= 12 + 8


def test_a_thread_on_a_forbidden_cpu_fails():
    """The mask of a thread that runs afterwards is taken away."""
    pid, mask = one(r"tracing_mark_write: may (\d+) (0x\w+)", AFFINITY).groups()
    forbidden = AFFINITY.replace(f"may {pid} {mask}", f"may {pid} 0x0")
    found = evaluate("affinity", forbidden)
    assert found.verdict == "failed"
    assert all(
        re.match(rf"thread {pid} was given CPU \d at [\d.]+; it may use", line)
        for line in found.failures
        if "more" not in line
    )


def test_a_thread_that_never_ends_fails():
    line, pid = one(r"^.* pid=(\d+) .* next=TERMINATED .*\n", ORDER).group(0, 1)
    found = evaluate("order", ORDER.replace(line, ""))
    assert found.verdict == "failed"
    assert any(text.startswith(f"thread {pid}: ") for text in found.failures), found.failures


def test_an_event_in_a_wrong_state_fails():
    """A thread's first new_place comes as an unblock_place."""
    begin = one(r"handler=new_place pid=(\d+)", ORDER)
    wrong = ORDER.replace(begin[0], f"handler=unblock_place pid={begin[1]}", 1)
    found = evaluate("order", wrong)
    assert (
        f"thread {begin[1]}: unblock_place was called while it was NOT_QUEUED" in found.failures[0]
    )


def test_a_thread_may_move_within_its_core():
    """As by saakm_steal() from one queue of a core to another: no CPU takes it from another."""
    call, ready = one(r"^(.*handler=new_place pid=.*\n)(.*next=READY.*\n)", ORDER).groups()
    moved = ORDER.replace(ready, ready + call.replace("new_place", "moved"), 1)
    assert evaluate("order", moved).verdict == "held"


def test_a_trace_without_the_threads_proves_nothing():
    for name, text in (("order", ORDER), ("affinity", AFFINITY)):
        empty = re.sub(
            r"^BEGIN trace\n(.*\n)*?END trace", "BEGIN trace\nEND trace", text, flags=re.M
        )
        assert evaluate(name, empty).verdict == "failed"


def test_complaints_of_the_kernel_fail():
    splat = "[    1.234567] BUG: KASAN: slab-use-after-free in mine_new_place+0x12/0x30 [mine]\n"
    found = evaluate("wakeups", f"TRIED a ring\n{splat}VERDICT held\n")
    assert found.verdict == "failed" and "mine_new_place" in found.failures[0]
    assert "slab-use-after-free" in found.kernel


def test_a_guest_without_a_verdict_fails():
    found = evaluate("wakeups", "TRIED a ring\n[    1.2] saakm: hello\n")
    assert found.failures == ["the guest ended without a verdict"]
    assert found.kernel == "[    1.2] saakm: hello"


def test_what_the_guest_said_comes_through():
    text = ("FAILED ejected (stall) in none: x\nFAILED ejected (stall) in none: x\nFAILED more\n"
            "BEGIN dump\nmine (id 1)\nEND dump\nVERDICT failed\n")  # fmt: skip
    found = evaluate("lifecycle", text.replace("\n", "\r\n"))
    assert found.failures == ["ejected (stall) in none: x", "more"]
    assert found.dump == "mine (id 1)"


# --- what the user reads ---


def shown(rows):
    text = io.StringIO()
    verdicts.show("mine", 3, rows, Console(file=text, width=120))
    return text.getvalue()


def test_report_in_words():
    bad = Finding("failed", ["a ring"], ["a [wakeup] was lost"], "the dump", "the kernel")
    rows = [
        verdicts.row(Trial("storm", seed=3), Finding("held", ["300 kills"]), "mine", []),
        verdicts.row(Trial("wakeups", seed=3), bad, "mine", []),
        *verdicts.skipped(["weights", "storm"], ["fairness"]),
    ]
    text = shown(verdicts.in_order(rows))
    assert text.index("wakeups") < text.index("storm")
    assert "a [wakeup] was lost" in text and "the dump" in text and "| the kernel" in text
    assert "again:            saakm check mine --only wakeups --seed 3" in text
    assert "mine: 1 held, 1 did not; 1 are not promised" in text
    assert json.dumps([row.as_json() for row in rows])


REFUSED = "it cannot be loaded: Invalid argument: load mine: it wants two CPUs"


def rows_of(*failures, topology="1s1c"):
    """The one that is meant, and another machine's."""
    bad = Finding("failed", failures=list(failures))
    return [
        verdicts.row(Trial("storm"), Finding("held", ["300 kills"]), "mine", []),
        verdicts.row(Trial("storm", topology=topology), bad, "mine", []),
    ]


def test_a_policy_may_refuse_a_machine():
    rows = verdicts.excuse(rows_of(REFUSED))
    assert rows[1].finding.verdict == "skipped"
    text = shown([*rows, *verdicts.skipped(["weights"], [])])
    assert "refuses this machine: it wants two CPUs" in " ".join(text.split())
    assert "1 held, 0 did not; 1 are not promised; 1 on machines that it refuses" in text


@pytest.mark.parametrize(
    "rows",
    [
        rows_of(REFUSED, "a wakeup was lost"),
        rows_of("it cannot be loaded: Cannot allocate memory: load mine: no memory"),
        rows_of(REFUSED)[1:],
        rows_of("it cannot be loaded: Invalid argument: load mine: its init returned -22"),
        rows_of(REFUSED, topology=USUAL),
    ],
    ids=["and-worse", "no-memory", "every-machine", "no-reason", "only-now-and-then"],
)
def test_nothing_else_is_excused(rows):
    assert verdicts.excuse(rows)[-1].finding.verdict == "failed"


def test_list_and_refusals():
    def saakm_check(*args):
        return saakm("check", *args)

    listed = saakm_check("--list")
    assert listed.returncode == 0 and all(name in listed.stdout for name in CHECKS)
    for args, why in (
        ([], "no policy is named"), (["none"], "'none' cannot be checked"),
        (["rr", "--only", "strom"], "there is no check 'strom'"),
        (["rr", "--quick", "--full"], "exclude each other"),
        (["rr", "--topology", "1s1c"], "need --only"),
        (["rr", "--only", "hotplug", "--topology", "1s1c"], "cannot be checked on 1s1c"),
        (["rr", "--param", "slice"], "'slice' is no parameter"),
        (["rr", "--param", "sliec_us=1"], "its sources do not have that word"),
    ):  # fmt: skip
        done = saakm_check(*args)
        assert done.returncode == (2 if "--param" in args else 1), done.stderr
        assert why in done.stderr and "next: " in done.stderr, done.stderr
