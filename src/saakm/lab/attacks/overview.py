# SPDX-License-Identifier: GPL-2.0
"""The outcomes as a table: for a terminal, and for docs/reference/safety.md."""

from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ...base.errors import SaakmError
from ...view import markdown
from ...view.terminal import figure, label, table
from .catalogue import ATTACKS
from .outcome import BYSTANDERS_MS, LIMIT_MS, TIMEOUT_MS, Outcome

_BEGIN = "<!-- attacks: begin -->"
_END = "<!-- attacks: end -->"
_HEADER = ("attack", "what happened", "its threads ran again after", "others waited longer by")


def show_list(console: Console) -> None:
    shown = table("attacks on the class", label("attack"), "the policy")
    for name, attack in ATTACKS.items():
        shown.add_row(name, attack.what + (" (with --include-fatal)" if attack.fatal else ""))
    console.print(shown)


def show(outcomes: list[Outcome], console: Console) -> None:
    columns = map(figure, ("its threads", "2nd policy", "fair"))
    title = f"a wrong policy with timeout_ms={TIMEOUT_MS}"
    shown = table(title, label("attack"), "what happened", *columns)
    for outcome in outcomes:
        style = "" if outcome.held else "[bold red]"
        shown.add_row(
            style + outcome.attack,
            escape(outcome.happened),
            _ms(outcome.own_ms),
            _more(outcome.policy_ms),
            _more(outcome.fair_ms),
        )
    console.print(shown)
    for outcome in outcomes:
        for failure in outcome.failures:
            console.print(
                f"[bold red]{outcome.attack}[/]: {escape(failure)}", highlight=False, soft_wrap=True
            )
    failed = sum(not outcome.held for outcome in outcomes)
    style = "bold red" if failed else "bold green"
    console.print(f"\n[{style}]{len(outcomes) - failed} held, {failed} did not[/]", highlight=False)


def page_with_place(path: Path) -> str:
    """The page, which has the two markers; a new one, if there is none."""
    if not path.parent.is_dir():
        raise SaakmError(
            f"cannot write {path}", f"there is no directory {path.parent}", "give another page"
        )
    page = path.read_text() if path.exists() else f"{_BEGIN}\n{_END}\n"
    if page.count(_BEGIN) != 1 or page.count(_END) != 1 or page.index(_BEGIN) > page.index(_END):
        raise SaakmError(
            f"{path} has no place for the table",
            "it needs two lines around it, each once",
            f"add to it: {_BEGIN} and, below that, {_END}",
        )
    return page


def write(path: Path, outcomes: list[Outcome]) -> None:
    """Between the two markers of the page, which must be there."""
    before, rest = page_with_place(path).split(_BEGIN)
    after = rest.split(_END)[1]
    path.write_text(f"{before}{_BEGIN}\n{in_words(outcomes)}\n{_END}{after}")


def in_words(outcomes: list[Outcome]) -> str:
    names = [outcome.attack for outcome in outcomes]
    fatal = [name for name in names if ATTACKS[name].fatal]
    usual = [name for name, attack in ATTACKS.items() if fatal or not attack.fatal]
    words = [
        "./saakm attacks",
        *(names if names != usual else ["--include-fatal"] if fatal else []),
    ]
    said = (
        f"Each is loaded beside threads of a second policy (rr) and of fair, on 2 CPUs, with "
        f"`timeout_ms={TIMEOUT_MS}`, in counted time: the figures are the same on any host with the "
        f"same build of the kernel, but for a rare run on a busy host, by 3 ms then. Its own threads have to run again within {LIMIT_MS} ms, and "
        f"nobody else may wait {BYSTANDERS_MS} ms longer than in the same run before it was loaded."
    )
    # The mark is for tests/documents.py.
    return f"\n<!-- run smaller by: tests/guest/test_attacks.py -->\n\n    {' '.join(words)} --markdown docs/reference/safety.md\n\n{said}\n\n{markdown.table(_HEADER, list(map(_row, outcomes)))}\n"


def _row(outcome: Outcome) -> tuple[str, ...]:
    extra = [ms for ms in (outcome.policy_ms, outcome.fair_ms) if ms is not None]
    happened = _cell(outcome.happened)
    if ATTACKS[outcome.attack].exempt:
        happened += _cell(f" (an exception: {ATTACKS[outcome.attack].exempt})")
    if not outcome.held:
        happened += " **" + _cell("; ".join(outcome.failures)) + "**"
    return (
        _cell(ATTACKS[outcome.attack].what),
        happened,
        _ms(outcome.own_ms),
        _ms(max(extra)) if extra else "",
    )


def _cell(text: str) -> str:
    return text.replace("<", "&lt;")


def _ms(ms: float | None) -> str:
    return "" if ms is None else f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms"


def _more(ms: float | None) -> str:
    return "" if ms is None else f"+{_ms(ms)}"
