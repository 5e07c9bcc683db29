# SPDX-License-Identifier: GPL-2.0
"""docs/examples: events answers all that the header has, in the contexts that the header names."""

import re

import pytest

from saakm.base import paths
from saakm.builder.policies import is_policy
from saakm.lab.lines_of_code import lines_of_code

WHERE = paths.REPO / "docs/examples"
EXAMPLES = sorted(path.parent for path in WHERE.glob("*/Kbuild"))
SKELETONS = sorted(path.parent for path in WHERE.glob("skeletons/*/Kbuild"))
EVENTS = (paths.REPO / "docs/examples/events/events.c").read_text()
HEADER = (paths.LINUX / "include/linux/saakm.h").read_text()
HANDLERS = re.findall(r"\(\*(\w+)\)\(", HEADER[HEADER.index("struct_group_tagged(") :])
# They stand for others: each of these is answered for itself.
FOR_BOTH = {"prepare", "place"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_each_is_a_policy_and_says_what_it_is(example):
    assert is_policy(example)
    assert (example / "README.md").read_text().startswith(f"# {example.name}\n")


@pytest.mark.parametrize("skeleton", SKELETONS, ids=lambda path: path.name)
def test_each_skeleton_is_a_policy_and_is_in_the_table(skeleton):
    assert is_policy(skeleton)
    name = skeleton.name
    assert f"\n| [{name}]({name}/{name}.c)" in (WHERE / "skeletons/README.md").read_text()


@pytest.mark.parametrize("skeleton", SKELETONS, ids=lambda path: path.name)
def test_each_skeleton_is_short(skeleton):
    assert 30 <= lines_of_code(skeleton / f"{skeleton.name}.c") <= 80


def test_events_answers_each():
    given = re.findall(r"^\t +\.(\w+)\t+= events_(\w+)", EVENTS, re.M)
    assert all(member == function for member, function in given)
    assert len(HANDLERS) > 30
    assert {member for member, _ in given} == set(HANDLERS) - FOR_BOTH


@pytest.mark.parametrize("handler", sorted(set(HANDLERS) - FOR_BOTH))
def test_events_says_in_which_context(handler):
    (comment,) = re.findall(
        rf"/\*((?:(?!\*/).)*?)\*/\nstatic [^\n]*\bevents_{handler}\(", EVENTS, re.S
    )
    described = rf"/\*\*\s+(?:\* )?@{handler}: (?:(?!\*/).)*?\[([PRBS])\]"
    (context,) = re.findall(described, HEADER, re.S)
    assert comment.strip("\n *\t").startswith(f"[{context}] ")
