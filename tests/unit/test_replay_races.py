# SPDX-License-Identifier: GPL-2.0
"""A call that has read one thing before others came, and the next one after them, is replayed."""

import errno
import time

import pytest
from recording import CPUS, Recording

from saakm.base.errors import SaakmError
from saakm.lab.replay.build import build
from saakm.lab.replay.conduct import replay
from saakm.sim.kbuild import read_module
from saakm.sim.kinds import Recipe

# If a CPU balances just then, who looks for work kicks CPU 1, and who joins is refused. If a key is
# set, CPU 1 is kicked as well.
POLICY = """
#include <linux/jump_label.h>
#include <linux/saakm.h>

extern struct static_key_false saakm_charging;
static int rounds;

static void count_rounds(struct core_event *core)
{
	WRITE_ONCE(rounds, rounds + 1);
}

static bool others_come(void)
{
	int before = READ_ONCE(rounds);

	return READ_ONCE(rounds) != before;
}

static void look(struct core_event *core)
{
	if (others_come() || static_branch_unlikely(&saakm_charging))
		saakm_kick(1);
}

static int check(struct saakm_policy *policy, const struct sched_attr *attr)
{
	return others_come() ? -EBUSY : 0;
}

SAAKM_POLICY(looks,
	.newly_idle		= look,
	.checkparam_attr	= check,
	.balancing_select	= count_rounds,
	.balance_interval_ms	= 1);
"""


def module_of(policy, tmp_path):
    place = tmp_path / "looks"
    place.mkdir()
    (place / "Kbuild").write_text("obj-m := looks.o\n")
    (place / "looks.c").write_text(policy)
    return read_module(place)


@pytest.fixture
def module(tmp_path):
    return module_of(POLICY, tmp_path)


def agreement(module, tmp_path, made):
    made.write(tmp_path / "recording")
    program = build([module], Recipe())
    return replay(program, tmp_path / "recording", ("looks",), CPUS, time.monotonic())


def kicks(*, balances):
    """CPU 0 looks for work and kicks CPU 1, which balances before that, in its midst, or not."""
    made = Recording()
    made.joins(0, 0)
    made.ends(0, 0)
    if balances == "before":
        made.balances(1, 1)
    made.looks_for_work(2, 0)
    made.unlocks(2, 0)
    if balances == "meanwhile":
        made.balances(1, 1)
    made.kicks(2, 1)
    made.locks(2, 0)
    made.ends(2, 0)
    return made


def test_others_come_between_two_reads(module, tmp_path):
    found = agreement(module, tmp_path, kicks(balances="meanwhile"))
    assert found.holds, found.difference
    assert (found.calls, found.equal, found.raced) == (3, 2, 1)


def test_others_come_between_the_last_reads(module, tmp_path):
    made = Recording()
    made.joins(0, 0)
    made.ends(0, 0)
    made.joins(2, 0)
    made.balances(1, 1)
    made.ends(2, 0, returned=-errno.EBUSY)
    found = agreement(module, tmp_path, made)
    assert found.holds, found.difference
    assert (found.calls, found.equal, found.raced) == (3, 2, 1)


@pytest.mark.parametrize("balances", ["before", "never"])
def test_where_nobody_came_between_the_difference_remains(module, tmp_path, balances):
    found = agreement(module, tmp_path, kicks(balances=balances))
    assert "the kernel's called irq_work_queue_on" in found.difference
    assert not found.raced


def patches(*, key):
    """While CPU 1 sleeps in a policy's call and the key is this, CPU 0 looks for work and kicks."""
    made = Recording()
    made.joins(0, 0)
    made.ends(0, 0)
    made.joins(1, 1)
    made.key_is(key)
    for call in (2, 3):
        made.looks_for_work(call, 0)
        made.unlocks(call, 0)
        made.kicks(call, 1)
        made.locks(call, 0)
        made.ends(call, 0)
    made.key_is(1)
    made.ends(1, 1)
    made.balances(4, 1)
    return made


def test_code_that_is_being_patched_is_patched_from_some_call_on(module, tmp_path):
    found = agreement(module, tmp_path, patches(key=-1))
    assert found.holds, found.difference
    # Once it is, it is so for the next one as well.
    assert (found.calls, found.equal, found.raced) == (5, 4, 1)


def test_code_that_nobody_patches_remains_as_it_is(module, tmp_path):
    found = agreement(module, tmp_path, patches(key=0))
    assert "the kernel's called irq_work_queue_on" in found.difference


def test_a_call_that_never_ends_is_told(tmp_path):
    policy = POLICY.replace("saakm_kick(1);", "for (;;)\n\t\t\tREAD_ONCE(rounds);")
    assert policy != POLICY
    with pytest.raises(SaakmError) as error:
        agreement(module_of(policy, tmp_path), tmp_path, patches(key=1))
    assert "an event that does not end" in error.value.why
