# SPDX-License-Identifier: GPL-2.0
"""The documentation: it builds, leads nowhere wrong, and says what the code says."""

import os
import re
import subprocess
from urllib.parse import unquote

import pytest
import typer
from call import saakm
from documents import Block, all_blocks, blocks, names, pages, runners_of, table
from documents import words as parsed
from header import HEADER, INCLUDE, handlers
from markdown_it import MarkdownIt
from test_report import browse

from saakm.base import paths
from saakm.builder import source
from saakm.builder.ctl import build_saakmctl
from saakm.cli import app

DOCS = paths.REPO / "docs"
CLASS = paths.LINUX / "kernel/sched/saakm"
PAGES = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(paths.REPO)))
OUR_COMMANDS = [
    pytest.param(block, command, id=f"{block.where} {command[:40]}")
    for block in all_blocks()
    for command in block.commands
]


def saakm_docs(*words, **environment):
    done = saakm("docs", *words, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Warnings are errors. What the desktop was told to show: by a program in its opener's place."""
    where = tmp_path_factory.mktemp("site")
    opener = where / "bin/xdg-open"
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\necho "$@" >{where}/opened\n')
    opener.chmod(0o755)
    said = saakm_docs(
        "--out", where / "site", "--open", PATH=f"{opener.parent}:{os.environ['PATH']}"
    )
    assert said.strip() == str(where / "site/index.html")
    return where / "opened"


@pytest.fixture(scope="module")
def site(opened):
    return opened.parent / "site"


def test_the_desktop_shows_it(site, opened):
    assert opened.read_text().strip() in ((site / "index.html").as_uri(), str(site / "index.html"))


# --- the site ---


def test_every_page_is_there_and_has_its_place(site):
    index = (site / "index.html").read_text()
    for page in DOCS.rglob("*.md"):
        if DOCS / "examples" in page.parents:
            continue  # beside the code, as each policy has one
        target = page.relative_to(DOCS).with_suffix(".html")
        assert (site / target).exists()
        if page.parent != DOCS:
            assert f'href="{target}"' in index, f"{target} is in no table of contents"


def test_the_readme_is_a_page_of_it(site):
    heading = "What it is not for"
    assert f"## {heading}\n" in (paths.REPO / "README.md").read_text()
    assert f">{heading}<" in (site / "readme.html").read_text()
    for page in ("index.html", "explanation/comparison.html"):
        text = (site / page).read_text()
        assert 'readme.html">README' in text and "README.md" not in text


def test_what_its_pages_link_to_is_in_it(site):
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text()):
            if not re.match(r"https?:|mailto:", target):
                assert (page.parent / unquote(target)).exists(), f"{page}: {target}"


def test_api_and_commands_are_in_it(site):
    api = (site / "reference/api.html").read_text()
    for name in ("saakm_steal", "saakm_for_each_task", "SAAKM_NO_TIMEOUT"):  # all: test_api.py
        assert f'id="c.{name}"' in api, name
    for handler in handlers():
        # In the table, and where it is described.
        assert api.count(f">{handler.name}<") > 1, handler.name
    cli = (site / "reference/cli.html").read_text()
    for name in typer.main.get_command(app).commands:
        assert f'id="saakm-{name}"' in cli, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it(site, scheme, tmp_path):
    picture = tmp_path / "page.png"
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    browse(site / "explanation/thread.html", *dark, f"--screenshot={picture}")
    from matplotlib import image

    brightness = image.imread(picture)[..., :3].mean(axis=2)
    paper = brightness[5, 600]
    assert paper > 0.95 if scheme == "light" else paper < 0.15
    # The diagram is there, and has the paper of its surroundings.
    drawing = brightness[200:600, 420:1130]
    assert 0.005 < (abs(drawing - paper) > 0.3).mean() < 0.2
    assert "Life of a thread" in browse(site / "explanation/thread.html", "--dump-dom")


def test_it_needs_no_network(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(https?:[^"]*)"',
            page.read_text(),
        )
        assert not loaded, page


# --- links ---


def anchors(page):
    """As GitHub and MyST make them of headings."""
    tokens = MarkdownIt().enable("table").parse(page.read_text())
    titles = [
        tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"
    ]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@PAGES
def test_links_lead_somewhere(page):
    for token in MarkdownIt().enable("table").parse(page.read_text()):
        for child in token.children or []:
            target = child.attrs.get("href", "") if child.type == "link_open" else ""
            if not target or re.match(r"https?:", target):
                continue
            file, _, anchor = target.partition("#")
            there = (page.parent / file).resolve() if file else page
            assert there.exists(), target
            assert not anchor or anchor in anchors(there), target


# --- commands and code ---


@PAGES
def test_somebody_is_named_who_runs_the_commands(page):
    """Whether he does is seen at the end of a run of all tests: tests/options.py."""
    for block in blocks(page):
        if not block.commands or re.match(r"not run: \w|run in a guest$", block.mark):
            continue
        who = block.exact + block.smaller
        assert who, f"{block.where}: who runs these? See tests/documents.py"
        for test in who:
            assert test.exists(), f"{block.where}: there is no {test}"
        # What runs on another machine is not noted here.
        texts = "".join(test.read_text() for test in who)
        for command in block.commands:
            if command.startswith("saakmctl "):
                assert command in texts, f"{block.where}: {command}"


@pytest.mark.parametrize("block, command", OUR_COMMANDS)
def test_the_program_understands(block: Block, command):
    program, args = command.split()[0], parsed(command)
    if program == "./saakm":
        group = typer.main.get_command(app)
        assert args[0] in group.commands, f"{block.where}: there is no 'saakm {args[0]}'"
        # Fails as the program would, before it does anything.
        group.commands[args[0]].make_context(args[0], args[1:])
    elif program == "saakmctl":
        usage = subprocess.run(
            [build_saakmctl(), args[0], "--help"], capture_output=True, text=True
        )
        assert usage.returncode == 0, usage.stderr
        ours = args[1 : args.index("--")] if "--" in args else args[1:]
        for option in ours:
            assert not option.startswith("--") or option in usage.stdout, option


def words(text):
    return " ".join(text.split())


def test_c_is_from_compiled_files():
    quoted = [block for block in all_blocks() if block.info.split()[:1] == ["c"]]
    assert len(quoted) > 9
    for block in quoted:
        file, _, place = block.info.removeprefix("c").strip().partition(":")
        if place:
            assert runners_of(block.page), f"{block.where}: who writes this into {file}?"
            continue
        assert file, f"{block.where}: of which file?"
        source = words((paths.REPO / file).read_text())
        for part in block.text.split("\n\n"):
            assert words(part) in source, f"{block.where}: {file} has no\n{part}"


def test_lines_are_what_is_counted():
    assert saakm_docs("--lines").strip() in (DOCS / "explanation/lines.md").read_text()


def test_lines_of_the_class_are_what_is_counted():
    assert saakm_docs("--class-lines").strip() in (DOCS / "explanation/lines.md").read_text()


# --- what pages say of the code ---


def bits(table_name):
    """{index: {bits}} of a table in state.c."""
    text = CLASS.joinpath("state.c").read_text()
    body = text[text.index(f" {table_name}[") :].partition("{")[2].partition("};")[0]
    return {
        key: set(re.findall(r"BIT\(SAAKM_(\w+)\)", value))
        for key, value in re.findall(r"\[SAAKM_(\w+)\]\s*=\s*([^,]*),", body)
    }


def test_diagram_is_the_table_of_the_kernel():
    dot = (DOCS / "explanation/states.dot").read_text()
    arrows = re.findall(r'^\t(\w+) -> (\w+) \[(style = dashed, )?label = "([^"]+)"\];', dot, re.M)
    assert len(arrows) == dot.count("->")
    kernel = {
        (source, to) for source, targets in bits("saakm_transitions").items() for to in targets
    }
    assert len(kernel) == 21
    assert {(source, to) for source, to, *_ in arrows} == kernel
    allowed = bits("saakm_handler_states")
    for _, to, dashed, label in arrows:
        assert dashed or to in allowed[f"H_{label}"], label


def test_contexts_are_those_of_the_header():
    header = {handler.name: handler.letter for handler in handlers()}
    page = {
        name: row[0].strip("[]")
        for row in table(DOCS / "explanation/locking.md", "# Which lock")
        for name in names(row[2])
    }
    assert page == header


def members(struct):
    """Those that its comment describes."""
    declared = "".join(header.read_text() for header in INCLUDE.glob("saakm*.h"))
    (comment,) = re.findall(rf"/\*\*\n \* struct {struct} - (.*?)\*/", declared, re.S)
    return re.findall(r"^ \* @(\w+): ", comment, re.M)


def test_the_second_edition_has_what_the_first_is_ported_to():
    page = DOCS / "how-to/port-to-second-edition.md"
    declared = "".join(header.read_text() for header in INCLUDE.glob("saakm*.h"))
    there = {handler.name for handler in handlers()} | {
        f".{name}" for name in members("saakm_policy")
    }
    there |= {f"core->{name}" for name in members("core_event")}
    there |= set(re.findall(r"^ \* (\w+)\(\) - ", declared, re.M))
    rows = table(page, "## What has become of what")
    assert len(rows) > 15
    for row in rows:
        assert set(names(row[1])) <= there, row
    defaults = table(page, "## Defaults that have changed")
    assert {name for row in defaults for name in names(row[0])} <= there
    keeps = re.search(r"have the argument `policy` still: (.*?)\. ", page.read_text(), re.S)[1]
    assert names(keeps) == [
        one.name for one in handlers() if one.arguments.startswith("struct saakm_policy")
    ]


def test_the_refusal_of_an_old_module_is_quoted():
    quoted = (
        "the module was built for edition 1 of the API, this kernel has edition 2: build it again"
    )
    assert quoted in (DOCS / "how-to/port-to-second-edition.md").read_text()
    assert "#define SAAKM_EDITION\t2\n" in HEADER.with_name("saakm_load.h").read_text()
    said = CLASS.joinpath("policy.c").read_text()
    assert re.sub(r"(edition) \d", r"\1 %u", quoted) in said


# What the first edition had. Of it speaks one page.
FIRST_EDITION = (
    r"saakm_module_routines|\.routines\b|policy->routines",
    r"\(struct saakm_policy \*policy, struct (?:process|core)_event",
    r"\broutines?\b",
)


@pytest.mark.parametrize(
    "page",
    [
        *pages(),
        paths.REPO / "CONTRIBUTING.md",
        paths.LINUX / "Documentation/scheduler/saakm.rst",
        *sorted(paths.POLICIES.glob("*/*.c")),
        *sorted(paths.POLICIES.glob("*/*.md")),
        *sorted((DOCS / "examples").glob("*/*.c")),
    ],
    ids=lambda page: str(page.relative_to(paths.REPO)),
)
def test_the_first_edition_is_gone(page):
    if page.name == "port-to-second-edition.md":
        return
    for pattern in FIRST_EDITION:
        assert not re.search(pattern, page.read_text()), pattern


def test_ported_callbacks_exist():
    ours = {handler.name for handler in handlers()} | {
        f".{name}" for name in members("saakm_policy")
    }
    _, tree = source.default_tree()
    text = (tree / "kernel/sched/ext.c").read_text()
    ext = text[text.index("struct sched_ext_ops {") :]
    theirs = set(re.findall(r"\(\*(\w+)\)\(", ext[: ext.index("\n};")]))
    rows = table(DOCS / "how-to/port-from-sched-ext.md", "## Callback by callback")
    ported = {name for row in rows for name in names(row[0])}
    assert len(rows) > 15 and ported <= theirs, ported - theirs
    rows += table(DOCS / "how-to/port-from-enoki.md", "## Method by method")
    for row in rows:
        assert set(names(row[1])) <= ours, row


def test_pictures_have_numbers_and_no_formulas():
    """Each text of an SVG is a comment there as well."""
    pictures = list((paths.REPO / "docs").rglob("*.svg"))
    assert pictures and not [one.name for one in pictures if "mathdefault" in one.read_text()]
