# SPDX-License-Identifier: GPL-2.0
"""saakm attacks: wrong policies harm nobody but themselves, and not even their threads for long.

For each attack the rule is: no thread of the second policy or of fair waits 100 ms longer than in
the same run before, the wrong policy's own run again within its limit and a second, its module can
be unloaded, another good policy can be loaded, and the kernel has nothing to complain of.
"""

import os

import pytest

from saakm.attacks import run as runs
from saakm.attacks.catalogue import ATTACKS
from saakm.attacks.report import markdown
from saakm.cost.target import find_target

# In counted time: each has a boot of its own, which takes some six seconds of a CPU's.
pytestmark = [pytest.mark.kernel("base"), pytest.mark.limit(900)]

ALL = [name for name, attack in ATTACKS.items() if not attack.fatal]
# One or more for each thing that the class does about them; the others are variations.
USUAL = [
    "kidnap",
    "rob",
    "intrude",
    "eject-another",
    "starve-nice",
    "starve-ousted",
    "elect-nobody",
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
]
OTHERS = [name for name in ALL if name not in USUAL]
FATAL = [name for name, attack in ATTACKS.items() if attack.fatal]


@pytest.fixture(scope="module")
def scene():
    return runs.prepare(find_target().built)


@pytest.fixture(scope="module")
def outcomes(scene):
    """Of the usual ones: at once, for guests take a CPU each."""
    found = runs.run_all(scene, USUAL, jobs=len(os.sched_getaffinity(0)))
    print(markdown(found))
    return {outcome.attack: outcome for outcome in found}


@pytest.mark.parametrize("name", USUAL)
def test_attack_harms_nobody(outcomes, name):
    outcome = outcomes[name]
    assert outcome.held, "\n".join([outcome.happened, *outcome.failures, *outcome.kernel])


@pytest.mark.long
@pytest.mark.parametrize("name", OTHERS)
def test_variation_harms_nobody(scene, name):
    outcome = runs.run(scene, name)
    assert outcome.held, "\n".join([outcome.happened, *outcome.failures, *outcome.kernel])


@pytest.mark.long
@pytest.mark.parametrize("name", FATAL)
def test_what_nothing_can_hold(scene, name):
    """The page says so; if it does not end the machine any more, the page is to be mended."""
    outcome = runs.run(scene, name)
    assert outcome.held, outcome.happened


def test_same_attack_same_course(scene, outcomes):
    """To the microsecond."""
    assert runs.run(scene, "starve-nice") == outcomes["starve-nice"]
