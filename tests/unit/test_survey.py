# SPDX-License-Identifier: GPL-2.0
"""What saakm test finds out before it builds for minutes."""

import os
import subprocess
import sys

import pytest

from saakm.base import paths

# In a process of its own: pytest within pytest shares what it has imported.
_ASKS = """
import sys
from pathlib import Path
from saakm.testing.survey import survey
found = survey(["-p", "no:cacheprovider", sys.argv[1]], Path(sys.argv[1]))
print(found.interrupted, found.status, found.tests)
"""


@pytest.mark.parametrize(
    "text, told",
    [
        ("def test_it(): pass", "False 0 1"),
        ("raise KeyboardInterrupt", "True 2 0"),
        ("def broken(:", "False 2 0"),
    ],
)
def test_why_it_stopped(text, told, tmp_path):
    file = tmp_path / "test_it.py"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", _ASKS, file],
        capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(paths.REPO / "src")},
    )  # fmt: skip
    assert done.stdout.strip() == told, done.stderr
