# SPDX-License-Identifier: GPL-2.0
"""saakm attacks: wrong policies harm nobody but themselves, and not even their threads for long.

For each attack the rule is: no thread of the second policy or of fair waits 100 ms longer than in
the same run before, the wrong policy's own run again within its limit and a second, its module can
be unloaded, another good policy can be loaded, and the kernel has nothing to complain of.
"""

import json
import re
import shutil

import pytest
from call import saakm

from saakm.base import paths
from saakm.lab.attacks.catalogue import ATTACKS

# In counted time: each has a boot of its own, which takes some six seconds of a CPU's.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(900)]

# One or more for each thing that the class does about them; the others are variations.
USUAL = [
    "kidnap",
    "rob",
    "intrude",
    "eject-another",
    "starve-nice",
    "starve-ousted",
    "swap-reader",
    "strict-reader",
    "count-zero",
    "policy-id",
    "bogus-data-8",
    "forged-cpu",
    "sleep-schedule",
    "sleep-moved",
    "dump-sleeps",
    "stack-policy",
    "no-owner",
    "names",
    "init-ejects",
    "remove-itself",
    "add-in-init",
    "kick-storm",
    "steal-all",
    "reset-queue",
    "pull-foreign",
    "switch-foreign",
    "slice-foreign",
    "core-data",
    "core-rq-count",
    "core-rq-reset",
    "used-sleeps",
    "used-moves",
    "pull-under-lock",
    "contradictions",
    "queue-none-no-change",
    "slice-storm",
    "slice-endless",
    "null-thread",
    "elect-error",
    "take-in-schedule",
    "take-wrongly",
    "take-nothing",
    "place-unshared",
    "steal-shared",
    "to-head-sorted",
    "random-bound",
    "key-meddles",
    "exec-sleeps",
]
FATAL = [name for name, attack in ATTACKS.items() if attack.fatal]


def saakm_attacks(*args):
    """What it says of each attack."""
    done = saakm("attacks", *args, "--json")
    assert done.returncode in (0, 1) and done.stdout, done.stderr
    found = {row["attack"]: row for row in json.loads(done.stdout)}
    assert done.returncode == any(not row["held"] for row in found.values())
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A copy of the one that the table is written into."""
    page = tmp_path_factory.mktemp("page") / "safety.md"
    shutil.copy(paths.REPO / "docs/reference/safety.md", page)
    return page


@pytest.fixture(scope="module")
def outcomes(request, page):
    """At once, for guests take a CPU each: of all with --long, else of a third, which the seed chooses."""
    if request.config.getoption("--long"):
        names, which = set(ATTACKS), ["--include-fatal"]
    else:
        names = {"starve-nice", *USUAL[request.config.getoption("--seed") % 3 :: 3]}
        which = sorted(names)
    found = saakm_attacks(*which, "--markdown", str(page))
    assert set(found) == names
    return found


def assert_held(outcome):
    assert outcome["held"], "\n".join(
        [outcome["happened"], *outcome["failures"], *outcome["kernel"]]
    )


def test_attacks_harm_nobody(outcomes):
    for name, outcome in outcomes.items():
        if name not in FATAL:
            assert_held(outcome)


@pytest.mark.long
@pytest.mark.parametrize("name", FATAL)
def test_what_nothing_can_hold(outcomes, name):
    """The page says so; if it does not end the machine any more, the page is to be mended."""
    assert_held(outcomes[name])


def _course(outcome):
    """All but measured times."""
    told = {name: value for name, value in outcome.items() if not name.endswith("_ms")}
    return {**told, "happened": re.sub(r"\d+", "N", told["happened"]), "tried": told["tried"] > 0}


def test_same_attack_same_course(outcomes):
    """Its times, too, but for a rare run on a busy host: see saakm.lab.attacks.run."""
    again = saakm_attacks("starve-nice", "--jobs", "1")["starve-nice"]
    assert _course(again) == _course(outcomes["starve-nice"])


def test_the_page_has_the_table(outcomes, page):
    text = page.read_text()
    table = text[text.index("<!-- attacks: begin -->") : text.index("<!-- attacks: end -->")]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(rows) == len(outcomes)
