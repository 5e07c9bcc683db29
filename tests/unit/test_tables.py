# SPDX-License-Identifier: GPL-2.0
import pytest

from saakm.base.procfs import parse_ejected, parse_table


def test_rows_are_named_by_the_header():
    text = (
        "id name module priority state threads new terminated switches\n"
        "1  fifo fifo   10       active 3       161 158        27260\n"
    )
    (row,) = parse_table(text)
    assert row["id"] == 1 and row["name"] == "fifo" and row["state"] == "active"
    assert row["switches"] == 27260


def test_columns_added_later_come_through():
    assert parse_table("cpu level new\n0 1 x\n") == [{"cpu": 0, "level": 1, "new": "x"}]


def test_cpu_lists_stay_text():
    assert parse_table("cpu level kind span\n0 0 smt 0-1\n")[0]["span"] == "0-1"


def test_empty_tables():
    assert parse_table("") == [] and parse_table("id name\n") == []


def test_a_row_that_does_not_fit_is_an_error():
    with pytest.raises(ValueError, match="does not fit"):
        parse_table("id name\n1 fifo extra\n")


def test_ejected_ends_with_a_sentence():
    text = (
        "id  name number kind seconds handler cpu thread reason\n"
        "3   bad  17     stall 12.345678 none 1 hackbench/412 it has been READY for 30012 ms\n"
    )
    (row,) = parse_ejected(text)
    assert row["name"] == "bad" and row["reason"] == "it has been READY for 30012 ms"
    assert parse_ejected("") == [] == parse_ejected(text.splitlines()[0])
