# SPDX-License-Identifier: GPL-2.0
"""What saakm attacks lists, how it judges, and what it writes."""

import json
import re

import pytest
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.cli import app
from saakm.lab.attacks import overview
from saakm.lab.attacks.catalogue import ATTACKS, chosen_attacks, fault_of
from saakm.lab.attacks.outcome import BYSTANDERS_MS, LIMIT_MS, judge

CODE = "\n".join(file.read_text() for file in (paths.ATTACKS / "wrong").glob("*.c"))

GOOD = [
    {"control": {"own_us": 300, "rr_us": 1000, "fair_us": 300}},
    {"load": {"error": 0, "sentence": ""}},
    {"ejected": {"kind": "stall", "handler": "none", "reason": "x has waited", "after_ms": 1100}},
    {"own": {"longest_us": 1_100_000, "stuck": 0, "tried": 7}},
    {"meanwhile": {"error": 0, "stuck": 0}},
    {"unload": {"error": 0}},
    {"members": {"rr": 4, "rr_at_work": True, "fifo_at_work": False, "own_fair": 5}},
    {"afterwards": {"error": 0, "stuck": 0}},
    {"during": {"rr_us": 9000, "fair_us": 200}},
    {"after": {"rr_us": 500, "fair_us": 1300}},
    {"end": {"stuck": 0, "rr": 0, "fifo": 0}},
    {"status": 0},
]


def judged(attack="starve", machine="", said=(), **changes):
    told = {}
    for line in GOOD:
        told |= line
    for key, change in changes.items():
        told[key] = {**told[key], **change} if isinstance(change, dict) else change
    return judge(
        attack, [*map(json.dumps, ({key: value} for key, value in told.items())), *said], machine
    )


def test_each_attack_has_a_fault_and_each_fault_an_attack():
    coded = re.findall(r'^\t\{ "(\w+)",', CODE, re.M)
    assert sorted(coded) == sorted({fault_of(name) for name in ATTACKS})


def test_fatal_ones_run_on_request_only():
    assert "null-schedule" not in chosen_attacks([], fatal=False)
    assert "null-schedule" in chosen_attacks([], fatal=True)
    assert chosen_attacks(["null-schedule"], fatal=False) == ["null-schedule"]
    with pytest.raises(SaakmError, match="there is no attack 'nosuch'"):
        chosen_attacks(["nosuch"], fatal=False)


def test_what_holds():
    outcome = judged()
    assert outcome.held and outcome.happened == "ejected (stall) in none: x has waited"
    assert (outcome.own_ms, outcome.policy_ms, outcome.fair_ms) == (1100, 8, 1)


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("one of its threads did not run", {"own": {"longest_us": 1000 * LIMIT_MS + 1}}),
        ("of its threads do not run any more", {"own": {"stuck": 1}}),
        ("never came to make its mistake", {"own": {"tried": 0}}),
        ("a thread of the second policy waited", {"during": {"rr_us": 1000 * BYSTANDERS_MS + 1001}}),
        ("a thread of fair waited", {"after": {"fair_us": 1000 * BYSTANDERS_MS + 301}}),
        ("has lost its threads", {"members": {"rr": 3}}),
        ("has lost its threads", {"members": {"rr_at_work": False}}),
        ("cannot be unloaded: EAGAIN", {"unload": {"error": 11}}),
        ("meanwhile a good policy cannot", {"meanwhile": {"error": 110}}),
        ("afterwards a good policy cannot", {"afterwards": {"stuck": 1}}),
        ("at the end threads stand still", {"end": {"stuck": 1}}),
        ("at the end threads stand still", {"status": 256}),
        ("the kernel complained: WARNING: CPU: 0", {"said": ["WARNING: CPU: 0 at x"]}),
        ("it was loaded", {"attack": "stack-policy"}),
        ("the machine panics", {"machine": "the machine panics"}),
    ],
)  # fmt: skip
def test_what_does_not_hold(words, changes):
    outcome = judged(**changes)
    assert any(words in failure for failure in outcome.failures), outcome.failures


def test_refusal_is_an_outcome():
    outcome = judged("stack-policy", load={"error": 22, "sentence": "load wrong: no"}, ejected=None)
    assert outcome.held and outcome.happened == "refused: load wrong: no"


def test_fatal_ones_are_to_be_fatal():
    assert judged("null-schedule", machine="the machine panics").held
    assert not judged("null-schedule").held


def test_table_goes_between_the_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- attacks: begin -->\nold\n<!-- attacks: end -->\nafter\n")
    overview.write(page, [judged()])
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert "./saakm attacks starve --markdown" in text
    assert (
        f"| {ATTACKS['starve'].what} | ejected (stall) in none: x has waited | 1100 ms | 8.0 ms |"
        in text
    )


def test_page_without_a_place_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("no markers\n")
    with pytest.raises(SaakmError, match="has no place for the table"):
        overview.write(tmp_path / "page.md", [judged()])


def test_list_says_what_each_does():
    done = CliRunner().invoke(app, ["attacks", "--list"], env={"COLUMNS": "300"})
    assert done.exit_code == 0
    for name, attack in ATTACKS.items():
        assert re.search(rf" {name} .*{re.escape(attack.what.split()[0])}", done.output), name
