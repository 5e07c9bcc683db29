# SPDX-License-Identifier: GPL-2.0
"""Where a policy that gives up is asked for a key once more, as docs/reference/safety.md says."""

import re

from simulated import simulated

from saakm.base import paths

HANDLERS = ("place", "requeue", "block", "attr_changed", "used", "moved")


def test_a_key_is_asked_for_once_more_where_the_page_says(tmp_path):
    page = (paths.REPO / "docs/reference/safety.md").read_text()
    sentence = re.search(r"who calls `saakm_eject\(\)` in ([^.]*?) is\s+asked for the key", page)
    assert sentence
    named = set(re.findall(r"`(\w+)`", sentence[1]))
    run = simulated("quitter", "hackbench", cpus=4, for_ns=100_000_000, directory=tmp_path)
    asked = {}
    for handler in HANDLERS:
        done = run(f"where={handler}")
        said = done.stdout + done.stderr
        assert "policy quitter ejected (policy-error)" in said, handler
        asked[handler] = said.count("quitter: the key of")
    assert asked == {handler: int(handler in named) for handler in HANDLERS}
