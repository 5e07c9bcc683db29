# SPDX-License-Identifier: GPL-2.0
"""The tables that a kernel developer expects, to the column."""

import csv
import io

import pytest
from rich.console import Console

from saakm.lab.bench import boxes, comparison, export
from saakm.lab.bench.figures import Figure
from saakm.lab.bench.kernel_table import number, per_cent, plain, table

NAMES = ["fair", "fifo"]


@pytest.fixture
def pipes():
    return [
        Figure(
            "hackbench",
            "hackbench-pipes",
            "1",
            "s",
            "lower",
            "time",
            values={"fair": [0.26, 0.27, 0.265, 0.265], "fifo": [0.21, 0.22, 0.215, 0.215]},
            switches={"fair": [90, 110, 100, 100], "fifo": [120, 130, 125, 125]},
        ),
        Figure(
            "hackbench",
            "hackbench-pipes",
            "12",
            "s",
            "lower",
            "time",
            values={"fair": [1.1, 1.2, 1.15, 1.15], "fifo": [1.1, 1.21, 1.14, 1.15]},
            switches={"fair": [0] * 4, "fifo": [0] * 4},
        ),
    ]


def test_rows_and_columns(pipes):
    lines = table("hackbench-pipes", pipes, NAMES).splitlines()
    assert lines[0] == "hackbench-pipes (s, time)"
    assert lines[1].split() == NAMES
    assert [line.split()[:2] for line in lines[2:]] == [
        [what, point] for what in ("Amean", "CI95", "Stddev") for point in ("1", "12")
    ]
    # One column under the other.
    assert len({line.rstrip()[-1] in ")*" and len(line) for line in lines[2:4]}) == 1


def test_stars_say_more_than_noise(pipes):
    lines = table("hackbench-pipes", pipes, NAMES).splitlines()
    assert "0.26500 (  0.00%)" in lines[2] and "0.21500 * 18.87%*" in lines[2]
    assert "*" not in lines[3]


def test_a_rate_is_a_hmean():
    figure = Figure(
        "d",
        "dbench",
        "1",
        "MB/s",
        "higher",
        "time",
        values={"fair": [1268.8, 1270], "fifo": [1269.7, 1271]},
    )
    assert table("dbench", [figure], NAMES).splitlines()[2].startswith("Hmean  1 ")


def test_a_deviation_within_the_runs_stands_for_that_between_them(pipes):
    pipes[0].within = {"fair": [3.0, 4.0, 3.0, 4.0], "fifo": [1.0, 1.0, 1.0, 1.0]}
    row = table("hackbench-pipes", pipes[:1], NAMES).splitlines()[-1]
    assert row.split() == ["Stddev", "1", "3.53553", "(", "0.00%)", "1.00000", "(", "71.72%)"]


def test_a_log_cuts_no_row_off(pipes):
    """Though nobody has said how wide it is."""
    out = Console(file=io.StringIO(), width=40)
    comparison.show(pipes, "fair", out)
    assert "within noise (p = " in out.file.getvalue()


def test_a_scheduler_without_runs_has_a_dash(pipes):
    del pipes[1].values["fifo"]
    lines = plain(pipes, NAMES).splitlines()
    assert lines[3].endswith(" -")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.2657, "0.26570"),
        (12.4977, "12.498"),
        (10769.72, "10769.72"),
        (8392488.3, "8392488"),
        (0, "0.00"),
        (float("nan"), "-"),
        (float("inf"), "inf"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


def test_deviations_have_the_digits_of_their_mean():
    assert number(0.011, 12.4977) == "0.011"
    assert per_cent(float("nan")) == " (      -)"


def test_the_terminal_says_the_rule_and_what_time_means(pipes):
    out = Console(file=io.StringIO(), width=160)
    comparison.show(pipes, "fair", out)
    text = out.file.getvalue()
    for words in ("fifo against fair", "Welch", "only the ratio", "1 won", "1 within noise"):
        assert words in text
    assert "+25%" in text  # more context switches


def test_json_has_null_for_what_is_not_known(pipes):
    pipes[0].values["fifo"] = [0.2]
    rows = export.rows(pipes, "fair")
    assert [row["scheduler"] for row in rows] == NAMES * 2
    assert rows[1]["stddev"] is None and rows[1]["gain_verdict"] == "too few runs"
    assert rows[3]["gain_verdict"] == "within noise"


def test_csv_has_a_row_a_run(pipes, tmp_path):
    export.write_csv(pipes, tmp_path / "all.csv")
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert len(rows) == 16 and rows[0]["figure"] == "hackbench-pipes 1" and rows[0]["run"] == "1"


def test_box_plots_are_drawn(pipes, tmp_path):
    files = [tmp_path / "boxes.svg", tmp_path / "boxes.png"]
    boxes.draw(pipes, NAMES, files)
    assert "<svg" in files[0].read_text()
    assert files[1].read_bytes().startswith(b"\x89PNG")
