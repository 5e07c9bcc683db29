# SPDX-License-Identifier: GPL-2.0
"""What saakm dev shows: a live view on a terminal, a line a thing elsewhere, JSON for scripts."""

import json
import time
from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ..builder.policies import module_name
from .loop import Update
from .sample import Snapshot

_PLAIN_SECONDS = 5.0  # between two lines of figures
_NEWS = 6  # kept on the screen
_LONGEST_BAR = 24


def tell(update: Update, name: str) -> str:
    """One line on what became of a save."""
    if update.outcome == "compile-error":
        return f"{name} does not compile; version {update.version} goes on"
    if update.outcome == "refused":
        return f"the new {name} was refused; version {update.version} is the last that ran"
    pause = ""
    if update.replacement.get("threads"):
        ms = update.replacement["longest_pause_ns"] / 1e6
        pause = f", {update.replacement['threads']} threads taken over, longest pause {ms:.2f} ms"
    return (
        f"version {update.version} schedules {update.seconds:.2f} s after the save "
        f"(build {update.build_seconds:.2f} s{pause}){' after an ejection' * (update.outcome == 'reloaded')}"
    )


def _figures(now: Snapshot) -> str:
    wakeups = ", ".join(f"p{p} {us:,.0f} us" for p, us in now.wakeup_us.items()) or "none"
    return (
        f"{now.switches_rate:,.0f} switches/s, {now.migrations_rate:,.0f} migrations/s, "
        f"wakeup to CPU {wakeups}"
    )


class Plain:
    """Lines, on stdout; as JSON objects with `as_json`."""

    def __init__(self, source: Path, as_json: bool):
        self._name, self._json = module_name(source), as_json
        self._start, self._said = time.monotonic(), 0.0
        self._ends = 0

    def __enter__(self) -> "Plain":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def started(self, workload: str) -> None:
        self._say({"event": "started", "workload": workload}, f"version 1 schedules: {workload}")

    def building(self) -> None:
        pass

    def updated(self, update: Update) -> None:
        lines = [tell(update, self._name), *(f"    {line}" for line in update.complaints)]
        self._say({"event": update.outcome, **asdict(update)}, "\n".join(lines))

    def sampled(self, now: Snapshot) -> None:
        for end in now.ejected[self._ends :]:
            text = f"EJECTED: {end['kind']} in {end['handler']}: {end['reason']}"
            self._say({"event": "ejected", **end}, text)
        self._ends = len(now.ejected)
        if time.monotonic() - self._said < _PLAIN_SECONDS:
            return
        self._said = time.monotonic()
        queues = " ".join(str(cpu.ready) for cpu in now.cpus)
        text = f"{_figures(now)}; READY by CPU: {queues}"
        self._say({"event": "sample", **asdict(now)}, text)

    def _say(self, document: dict[str, Any], text: str) -> None:
        seconds = time.monotonic() - self._start
        line = json.dumps({"seconds": round(seconds, 3), **document}) if self._json else text
        print(line if self._json else f"[{seconds:6.1f}] {line}", flush=True)


class Screen:
    """The same on a terminal, in place."""

    def __init__(self, source: Path, console: Console | None = None):
        self._source = source
        self._news: deque[Text] = deque(maxlen=_NEWS)
        self._complaints: list[str] = []
        self._status, self._workload = Text(""), ""
        self._now: Snapshot | None = None
        self._ends = 0
        self._live = Live(self.render(), console=console, screen=True, auto_refresh=False)

    def __enter__(self) -> "Screen":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def started(self, workload: str) -> None:
        self._workload = workload
        self._set_status("version 1 schedules", "green")

    def building(self) -> None:
        self._set_status("building ...", "yellow")

    def updated(self, update: Update) -> None:
        well = update.outcome in ("replaced", "reloaded")
        self._complaints = update.complaints
        self._add_news(tell(update, module_name(self._source)), "green" if well else "red")
        self._set_status(f"version {update.version} schedules", "green" if well else "red")

    def sampled(self, now: Snapshot) -> None:
        for end in now.ejected[self._ends :]:
            self._add_news(f"ejected: {end['kind']} in {end['handler']}: {end['reason']}", "red")
        self._ends, self._now = len(now.ejected), now
        self._refresh()

    def render(self) -> Group:
        parts: list[RenderableType] = [
            Panel(Group(self._status, self._totals()), title=f"saakm dev {self._source}")
        ]
        if self._now:
            parts.append(_table(self._now))
        if self._complaints:
            parts.append(Panel(Text("\n".join(self._complaints)), title="complaints", style="red"))
        parts += self._news
        parts.append(
            Text(f"Edit {module_name(self._source)}.c and save it; Ctrl-C ends.", style="dim")
        )
        return Group(*parts)

    def _totals(self) -> Text:
        if not self._now:
            return Text(self._workload)
        now = self._now
        done = f"round {len(now.rounds) + 1}"
        if now.rounds:
            status, seconds = now.rounds[-1]
            done += f", the last took {seconds:.2f} s" + (
                f" and FAILED ({status})" if status else ""
            )
        faults = f", {now.violations} violations" if now.violations else ""
        return Text(
            f"{self._workload}: {done}\n{now.threads} threads, {_figures(now)}{faults}"
            + (f"; the policy is {now.state.upper()}" if now.state != "active" else "")
        )

    def _set_status(self, text: str, style: str) -> None:
        self._status = Text(text, style=style)
        self._refresh()

    def _add_news(self, text: str, style: str) -> None:
        self._news.append(Text(f"{time.strftime('%H:%M:%S')} {text}", style=style))

    def _refresh(self) -> None:
        self._live.update(self.render(), refresh=True)


def _table(now: Snapshot) -> Table:
    table = Table(expand=True, box=box.SIMPLE)
    table.add_column("CPU", justify="right", width=4)
    table.add_column("runs", width=24, no_wrap=True)
    table.add_column("switches/s", justify="right", width=10)
    table.add_column("come/s", justify="right", width=7)
    table.add_column("READY", justify="right", width=6)
    table.add_column("", ratio=1)
    longest = max((cpu.ready for cpu in now.cpus), default=0)
    scale = min(1.0, _LONGEST_BAR / longest) if longest else 1.0
    for number, cpu in enumerate(now.cpus):
        runs = Text(cpu.running, style="dim" if cpu.running == "idle" else "")
        rates = f"{cpu.switches_rate:,.0f}", f"{cpu.migrations_rate:,.0f}"
        bar = "█" * round(cpu.ready * scale)
        table.add_row(str(number), runs, *rates, str(cpu.ready), bar)
    return table
