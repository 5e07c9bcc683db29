# SPDX-License-Identifier: GPL-2.0
"""Tests that share a fixture or a guest run in one process, beside others."""

import re
import subprocess
import sys

from saakm.base import paths

FILES = [
    "tests/unit/test_cost_axes.py",
    "tests/unit/test_bench_stats.py",
    "tests/unit/test_lock.py",
]


def test_a_file_has_one_worker_and_its_tests_keep_their_names():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "-n2",
         "--dist", "loadgroup", *FILES],
        cwd=paths.REPO, capture_output=True, text=True,
    )  # fmt: skip
    found = re.findall(r"^\[(gw\d)\].* (tests/\S+?)::(.*\S)", done.stdout, re.M)
    assert {file for _, file, _ in found} == set(FILES), done.stdout
    assert len({(worker, file) for worker, file, _ in found}) == len(FILES)
    assert len({worker for worker, _, _ in found}) == 2
    assert not any("@" in test for _, _, test in found)
