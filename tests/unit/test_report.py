# SPDX-License-Identifier: GPL-2.0
"""The report as its reader meets it: in a real browser, without a network, and on paper."""

import json
import random
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from call import saakm
from msgspec.structs import replace
from typer.testing import CliRunner

from saakm.base import paths
from saakm.base.errors import SaakmError
from saakm.cli import app
from saakm.commands import bench
from saakm.commands.report import report
from saakm.lab.bench import store
from saakm.lab.cost import bars, baseline, conduct, curves
from saakm.lab.report import inputs
from saakm.model.schema import plain
from saakm.view import plot

COSTS = paths.REPO / "benchmarks" / "cost-base.json"
BROWSER = "chromium-headless-shell"
MACHINE = {
    "on": "guest",
    "cpus": 4,
    "accel": "tcg",
    "topology": "1s4c",
    "memory": "1G",
    "deterministic": False,
    "append": [],
}
ENVIRONMENT = {
    "kind": "environment",
    "when": "2026-11-22T05:00:00",
    "command": "saakm bench --rounds 4",
    "kernel": "abc123",
    "config": "base",
    "commit": "0123abcd",
    "machine": MACHINE,
    "schedulers": ["fair", "scx_fifo", "fifo"],
    "seed": 1,
    "qemu": "7.2",
    "host": {"kernel": "6.1", "cpus": 2, "cpu": "A </script> CPU", "load": 1.0},
}
LATENCY = {
    "wakeup_us": {"n": 9, "p50": 3.0, "p90": 5.0, "p99": 8.0, "p99.9": 9.0, "max": 9.5},
    "queue_us": {"n": 0},
    "from_s": 0,
    "complete": True,
}


def record(scheduler, value, **more):
    usual = {
        "kind": "run",
        "workload": "hackbench",
        "variant": "pipes-1",
        "family": "pipes",
        "point": "1",
        "definition": "d",
        "scheduler": scheduler,
        "build": "",
        "round": 1,
        "traced": False,
        "kernel": "abc123",
        "machine": MACHINE,
        "unit": "s",
        "better": "lower",
        "meaning": "time",
        "value": value,
        "error": None,
        "splats": [],
        "switches": 10 if scheduler == "fair" else 12,
    }
    return usual | more


def records():
    chance = random.Random(1)
    lines = [ENVIRONMENT]
    for scheduler, factor in {"fair": 1.0, "scx_fifo": 1.001, "fifo": 0.8}.items():
        for number in range(1, 5):
            value = factor * chance.gauss(1, 0.01)
            lines.append(record(scheduler, value, round=number))
            lines.append(
                record(
                    scheduler,
                    1000 / value,
                    round=number,
                    workload="nginx",
                    variant="wrk",
                    family="wrk",
                    point="",
                    unit="requests/s",
                    better="higher",
                )
            )
            lines.append(record(scheduler, value, round=number, traced=True, latency=LATENCY))
    lines.append(record("fifo", None, workload="dbench", error="did not end within 9 s: it hangs"))
    return lines


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    where = tmp_path_factory.mktemp("results")
    text = "".join(json.dumps(line) + "\n" for line in records())
    (where / store.FILE).write_text(text)
    return where


@pytest.fixture(scope="module")
def costs(tmp_path_factory):
    """As saakm cost --json prints it."""
    file = tmp_path_factory.mktemp("costs") / "cost.json"
    rows = baseline.read(COSTS).rows
    file.write_text(json.dumps(plain(rows)))
    return file


@pytest.fixture(scope="module")
def more_costs(tmp_path_factory):
    """Along an axis, and by function."""
    where = tmp_path_factory.mktemp("more")
    rows = [
        row
        for row in baseline.read(COSTS).rows
        if (row.scheduler, row.operation) == ("fifo", "yield")
    ]
    rows = [replace(rows[0], runnable=runnable) for runnable in (0, 98)]
    (where / "growth.json").write_text(json.dumps(plain(rows)))
    profile = [
        {
            "scheduler": "fifo",
            "operation": "pipe",
            "function": "__schedule",
            "instructions": 412.0,
            "with_callees": 900.0,
        }
    ]
    (where / "functions.json").write_text(json.dumps(profile))
    return [where / "growth.json", where / "functions.json"]


def saakm_report(here, *words):
    done = saakm("report", *words, cwd=here)
    assert done.returncode == 0, done.stderr
    return here / done.stdout.strip()


@pytest.fixture(scope="module")
def page(directory, costs, more_costs, tmp_path_factory):
    here = tmp_path_factory.mktemp("page")
    return saakm_report(
        here, directory, costs, *more_costs, "--out", "sub/report.html", "--title", "A title"
    )


def test_two_directories_as_the_pages_have_it(directory, tmp_path):
    """Of saakm bench and of saakm bench --latency."""
    for name, traced in (("results", False), ("waits", True)):
        (tmp_path / name).mkdir()
        lines = [line for line in records() if line.get("traced", traced) == traced]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / name / store.FILE).write_text(text)
    text = saakm_report(tmp_path, "results", "waits", "--out", "report.html").read_text()
    assert "fifo against fair" in text and "Wakeup-99.9th" in text


def browse(page, *options):
    # As in packages.txt, so that it is there in CI; a checkout alone may lack it.
    if not shutil.which(BROWSER):
        pytest.skip(f"there is no {BROWSER}: apt-get install {BROWSER}")
    # Nothing must be fetched: every name leads nowhere.
    usual = [
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        "--virtual-time-budget=5000",
        "--window-size=1200,2400",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--enable-logging=stderr",
    ]
    done = subprocess.run(
        [BROWSER, *usual, *options, page.as_uri()], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert "Uncaught" not in done.stderr, done.stderr
    return done.stdout


def test_a_browser_draws_every_plot(page):
    text = browse(page, "--dump-dom")
    plots = text.count('class="plot js-plotly-plot')
    drawn = re.search(r'data-drawn="(\d+)"', text)
    # Two comparisons, two workloads, latencies, the cost, a curve. A plot is made of up to three layers.
    assert plots == 7 and int(drawn[1]) >= plots
    for words in (
        "A title",
        "fifo against fair",
        "hackbench-pipes",
        "Wakeup-99.9th",
        "within noise",
        "did not end within 9 s",
        "saakm bench --rounds 4",
        "A &lt;/script&gt; CPU",
    ):
        assert words in text, words
    for row in baseline.read(COSTS).rows:
        assert f">{row.instructions:,.0f}" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_in_light_and_dark(page, scheme, tmp_path):
    """Whether the page and its plots' text are what the scheme asks for, by what is in the picture."""
    picture = tmp_path / "page.png"
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    browse(page, *dark, f"--screenshot={picture}")
    from matplotlib import image

    brightness = image.imread(picture)[..., :3].mean(axis=2)
    assert brightness.shape == (2400, 1200)
    paper = brightness[0, 0]
    assert paper > 0.95 if scheme == "light" else paper < 0.15
    # Ink stands out from the paper, and there is some of it.
    assert 0.01 < (abs(brightness - paper) > 0.5).mean() < 0.5


def test_on_paper(page, tmp_path):
    browse(page, f"--print-to-pdf={tmp_path / 'page.pdf'}")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_nothing_is_fetched(page):
    text = page.read_text()
    own = text.replace(text[text.index("<script>") : text.index("</script>")], "")
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", own)
    assert own.count("<script>") == 1 and "@import" not in own


def test_markdown_has_the_tables_and_the_commands(directory, costs, more_costs, tmp_path):
    (tmp_path / "notes.md").write_text("Mind the noise.\n")
    page = saakm_report(
        tmp_path, directory, costs, *more_costs, "--markdown", "page.md", "--base", "scx_fifo",
        "--title", "Title", "--notes", "notes.md",
    )  # fmt: skip
    text = page.read_text()
    assert text.startswith("# Title\n\nMind the noise.\n") and "| `__schedule` | 412.0 |" in text
    for image in ("page-cost.svg", "page-growth.svg"):
        assert f"({image})" in text and (tmp_path / image).exists()
    assert "## fifo against scx_fifo" in text and "| **won** |" in text
    assert "| operation | fair | sched_fifo |" in text
    assert "saakm bench --rounds 4" in text and "dbench pipes-1 under fifo: did not end" in text
    assert "Amean  1" in text and "Hmean  wrk" in text


def printed(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


def test_tables_of_a_commit_message(directory):
    done = printed(directory, "--tables", "scx_fifo,fifo")
    assert done.exit_code == 0, done.output
    first, second = done.stdout.split("\n\n")[:2]
    title, head, mean, stddev = first.splitlines()
    assert title == "hackbench-pipes (s, time)" and head.split() == ["scx_fifo", "fifo"]
    assert mean.startswith("Amean  1 ") and "(  0.00%)" in mean and "*" in mean
    assert stddev.startswith("Stddev 1 ")
    # What comes first is compared with, here and in the other order.
    assert second.startswith("nginx (requests/s, time)") and "Hmean  wrk" in second
    gain = float(re.search(r"\*\s*([\d.]+)%\*", mean)[1])
    other = printed(directory, "--tables", "fifo,scx_fifo").stdout
    loss = float(re.search(r"Amean  1 .*\*\s*(-[\d.]+)%\*", other)[1])
    assert gain == pytest.approx(100 * (1 - 1 / (1 - loss / 100)), abs=0.02)


@pytest.mark.parametrize(
    ("name", "results", "commands", "tables"),
    [
        ("next-buddy", "next-buddy", 3, 20),
        ("short-requests", "shinjuku", 1, 6),
        ("user-space-applications", "user-space", 1, 11),
    ],
)
def test_tables_of_a_page_are_what_is_printed(monkeypatch, name, results, commands, tables):
    monkeypatch.chdir(paths.REPO)
    page = Path(f"docs/explanation/{name}.md").read_text()
    found = re.findall(r"--tables (?:\"([^\"`]+)\"|([^\s`)]+))", page)
    columns = dict.fromkeys(quoted or plain for quoted, plain in found)
    assert len(columns) == commands
    said = [printed(f"benchmarks/results/{results}", "--tables", c).stdout for c in columns]
    there = [set(table.splitlines()) for text in said for table in text.split("\n\n")]
    shown = [
        set(table.splitlines())
        for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL)
        for table in block.split("\n\n")
    ]
    assert len(shown) >= tables
    assert [table for table in shown if not any(table <= one for one in there)] == []


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--tables", "fair,cfs"), "no run was under 'cfs'"),
        (("--tables", ""), "--tables names no column"),
        (("--tables", " ,"), "' ,' names nothing"),
        (("--tables", "fair", "--base", "fifo"), "--tables makes no report"),
        (("--tables", "fair", "--markdown", "x.md"), "--tables makes no report"),
    ],
)
def test_tables_that_cannot_be_are_refused(directory, options, why):
    with pytest.raises(SaakmError, match=why) as error:
        CliRunner().invoke(app, ["report", str(directory), *options], catch_exceptions=False)
    assert error.value.status == 2


def test_there_are_no_tables_of_costs(costs):
    with pytest.raises(SaakmError, match="there is nothing to print tables of"):
        CliRunner().invoke(app, ["report", str(costs), "--tables", "fair"], catch_exceptions=False)


def test_results_that_do_not_belong_together_are_refused(directory, tmp_path):
    other = [line | {"kernel": "other"} for line in records()]
    (tmp_path / store.FILE).write_text("".join(json.dumps(line) + "\n" for line in other))
    with pytest.raises(SaakmError, match="do not belong together"):
        inputs.read([directory, tmp_path])


def test_other_files_are_refused(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    for path in (tmp_path / "x.json", tmp_path / "none.json", tmp_path):
        with pytest.raises(SaakmError, match="has no results"):
            inputs.read([path])


@pytest.mark.parametrize("page", ["README.md", "docs/explanation/short-requests.md"])
def test_a_page_s_picture_is_what_its_command_draws(tmp_path, page):
    command = re.search(r"saakm report [^`]* --picture [^`]*", (paths.REPO / page).read_text())
    source, _, ops, _, there = shlex.split(command[0])[2:]
    drawn = saakm_report(tmp_path, paths.REPO / source, "--op", ops, "--picture", "new/drawn.svg")
    assert drawn.read_text() == (paths.REPO / there).read_text()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--op", "pipe"], "--op goes with --picture"),
        (["--picture", "x.svg", "--op", "pipe,swim"], "no cost of 'swim'"),
        (["--picture", "x.svg", "--base", "fifo"], "--picture makes no report"),
        (["--picture", "x.doc"], "x.doc"),
        (["--picture", "/tmp.svg/.."], "names no kind of picture"),
        (["--picture", "/proc/x/y.svg"], "cannot write into /proc/x"),
        (["--picture", "/proc/y.svg"], "cannot write /proc/y.svg"),
        (["--picture", ""], "for instance picture.svg"),
        (["--picture", "x.svg", "--out", "x.html"], "--out is of the HTML page"),
        (["--markdown", "x.md", "--out", "x.html"], "--out is of the HTML page"),
        (["--tables", "fifo", "--out", "x.html"], "--out is of the HTML page"),
        (["--out", "."], "it is a directory"),
        (["--out", "/proc/x/y.html"], "cannot write into /proc/x"),
        (["--markdown", "."], "it is a directory"),
        (["--markdown", "x.md", "--notes", "nosuch.md"], "cannot read the notes nosuch.md"),
        (["--markdown", "x.md", "--notes", "."], "cannot read the notes ."),
    ],
)
def test_outputs_that_cannot_be_are_refused(costs, tmp_path, options, why):
    done = saakm("report", costs, *options, cwd=tmp_path)
    assert done.returncode in (1, 2) and why in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not list(tmp_path.iterdir())


def test_runs_at_several_points_are_drawn_as_curves(tmp_path):
    source = paths.REPO / "benchmarks" / "results" / "next-buddy"
    # As each of its curves is named in the legend, each panel by its row.
    row = "schbench-default wakeup latency Wakeup-99th"
    text = saakm_report(tmp_path, source, "--op", row, "--picture", "x.svg").read_text()
    named = re.findall("<!-- (.*?) -->", text)
    assert row in named and named.count("eevdf") == 1 and {"1", "2", "4"} <= set(named)


def test_a_row_that_is_not_there_is_refused(tmp_path):
    source = paths.REPO / "benchmarks" / "results" / "next-buddy"
    with pytest.raises(SaakmError, match="no row 'swim'") as error:
        report([source], picture=tmp_path / "x.svg", op="swim")
    assert "hackbench-process-pipes" in error.value.why


def test_of_costs_and_runs_a_picture_shows_what_is_named(tmp_path):
    sources = [paths.REPO / "benchmarks" / "results" / "next-buddy", COSTS]
    for op, there in (("hackbench-process-pipes", "eevdf:next_buddy=old"), ("pipe", "sched_fifo")):
        text = saakm_report(tmp_path, *sources, "--op", op, "--picture", "x.svg").read_text()
        assert there in re.findall("<!-- (.*?) -->", text)
    with pytest.raises(SaakmError, match="do not go into one picture"):
        report(sources, picture=tmp_path / "y.svg")
    with pytest.raises(SaakmError, match="no cost of 'hackbench-process-pipes'"):
        report(sources, picture=tmp_path / "y.svg", op="pipe,hackbench-process-pipes")
    assert not (tmp_path / "y.svg").exists()


@pytest.mark.parametrize("name", ["cpus.json", "where.json"])
def test_a_picture_of_no_costs_is_refused(tmp_path, name):
    with pytest.raises(SaakmError, match="no costs to draw as bars"):
        report([paths.REPO / "benchmarks" / "results" / name], picture=tmp_path / "x.svg")


def test_a_dollar_in_a_name_is_one(tmp_path):
    """And not the begin of a formula."""
    rows = [replace(row, scheduler="a$\\b$") for row in baseline.read(COSTS).rows[:1]]
    bars.draw(rows, [tmp_path / "bars.svg"])
    curves.draw([replace(rows[0], cpus=cpus) for cpus in (1, 2)], [tmp_path / "curves.svg"])


def test_a_picture_is_no_directory(tmp_path):
    (tmp_path / "x.svg").mkdir()
    with pytest.raises(SaakmError, match="cannot write .*x.svg") as error:
        plot.prepare([tmp_path / "x.svg"])
    assert error.value.why == "it is a directory"


@pytest.mark.parametrize("option", ["--svg", "--png", "--csv"])
def test_bench_looks_at_its_outputs_first(tmp_path, monkeypatch, option):
    monkeypatch.setattr(bench, "conduct", lambda *_, **__: pytest.fail("it began"))
    there = tmp_path / f"x.{option[2:]}"
    there.mkdir()
    done = CliRunner().invoke(app, ["bench", option, str(there)])
    assert isinstance(done.exception, SaakmError) and str(there) in done.exception.what


@pytest.mark.parametrize("option", ["--svg", "--flame", "--markdown", "--write-baseline"])
def test_cost_looks_at_its_outputs_first(tmp_path, monkeypatch, option):
    monkeypatch.setattr(conduct, "prepare", lambda *_: pytest.fail("it began"))
    there = tmp_path / "x.svg"
    there.mkdir()
    done = CliRunner().invoke(app, ["cost", option, str(there)])
    assert isinstance(done.exception, SaakmError) and str(there) in done.exception.what


def test_a_page_shows_an_operation_of_a_later_version(tmp_path):
    rows = [replace(row, operation="swim") for row in baseline.read(COSTS).rows[:2]]
    (tmp_path / "c.json").write_text(json.dumps(plain(rows)))
    report([tmp_path / "c.json"], out=tmp_path / "x.html")
    assert "this version does not know it" in (tmp_path / "x.html").read_text()
