# SPDX-License-Identifier: GPL-2.0
"""saakm run without a guest: what it says of a policy that did not keep its threads."""

import pytest

from saakm.commands.run import report_ejections
from saakm.vm import appliance, exact
from saakm.vm.guest import Result
from saakm.vm.options import VmOptions

HEADER = (
    "id  name             number kind              seconds      handler          cpu thread"
    "           reason\n"
)
REPLACED = "1   fifo 2 replaced 5.000000 none 0 - by rr (id 2), which took over 3 threads\n"
EJECTED = "2   rr 17 stall 6.000000 tick 0 - sleep/70 waited\n"


class FakeGuest:
    def __init__(self, rows):
        self._rows = rows

    def run(self, command):
        return Result(0, HEADER + self._rows, "", 0.0)


def test_threads_of_a_policy_that_was_replaced_have_not_gone_to_fair(capsys):
    assert not report_ejections(FakeGuest(REPLACED))
    said = capsys.readouterr().err
    assert "policy 'fifo' was replaced by rr (id 2), which took over 3 threads\n" in said
    assert "went on under the other policy" in said
    assert "fair" not in said and "ejected" not in said


def test_threads_of_a_policy_that_was_ejected_have_gone_to_fair(capsys):
    assert report_ejections(FakeGuest(REPLACED + EJECTED))
    said = capsys.readouterr().err
    assert "was replaced by rr" in said
    assert "policy 'rr' was ejected (stall) in tick: sleep/70 waited\n" in said
    assert said.count("under the fair class") == 1
    assert not report_ejections(FakeGuest(""))


@pytest.mark.parametrize(("rows", "status"), [("", 0), (REPLACED, 0), (REPLACED + EJECTED, 1)])
def test_an_exact_run_makes_the_same_difference(rows, status, tmp_path, monkeypatch, capsys):
    table = "".join(f"saakm: ejected: {line}\n" for line in (HEADER + rows).splitlines())
    text = f"saakm: the command begins\nsaakm: the command ended with status 0\n{table}"
    monkeypatch.setattr(appliance, "run", lambda *args: text)
    assert exact._run(None, tmp_path, VmOptions(), gdb=False) == status
    said = capsys.readouterr().err
    assert ("policy 'fifo' was replaced by rr" in said) == bool(rows)
    assert "fifo' was ejected" not in said
