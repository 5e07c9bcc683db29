# SPDX-License-Identifier: GPL-2.0
"""Agents of the policy user come, take over and are killed, while threads message each other."""

import pytest

from .support import load_policy, policies, run_ok

AGENTS = "/sys/module/user/parameters/agents"


def storm(program, id_: int, rounds: int, modes: str) -> str:
    """For a shell in the guest: so many agents, one after the other; each second one takes over."""
    agent = program("agent")
    return f"""
        hackbench -g 1 -l 20 -p >/dev/null & fair=$!
        while :; do saakmctl exec user -- hackbench -g 1 -l 20 -p >/dev/null || exit 1; done & load=$!
        i=0
        while [ $((i += 1)) -le {rounds} ]; do
            for mode in {modes}; do
                {agent} $mode {id_} 0xffffffffffffffff $((i % 2)) >/tmp/agent & last=$!
                tries=0
                until grep -q . /tmp/agent; do
                    [ $((tries += 1)) -lt 500 ] || exit 2
                    busybox usleep 10000
                done
                busybox usleep 30000
                [ $((i % 2)) = 0 ] || kill -KILL $last
            done
        done
        kill -0 $load || exit 3
        kill $load; wait $fair; pkill -KILL agent; pkill hackbench
        until [ $(cat {AGENTS}) = 0 ]; do busybox usleep 10000; done"""


def test_agents_come_and_go(guest, program):
    id_ = load_policy(guest, "user")
    run_ok(guest, storm(program, id_, 2, "fifo noise"), timeout=280)
    assert policies(guest)["user"].state == "active"


@pytest.mark.threads  # counted, a thousand would take an hour
@pytest.mark.long
@pytest.mark.limit(7200)
def test_a_thousand_agents(guest, program):
    id_ = load_policy(guest, "user")
    modes = "fifo twice unread noise guesses forgets elsewhere fills stale slow"
    run_ok(guest, storm(program, id_, 100, modes), timeout=7000)
    assert policies(guest)["user"].state == "active"
