# SPDX-License-Identifier: GPL-2.0
"""saakm dev on a terminal: one screen, filled line by line, whatever its size.

What matters most comes first: how the policy stands, then what the compiler says, then the CPUs,
curves of the last minutes where there is room for them, and what happened.
"""

import time
from collections import deque
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ..builder.policies import module_name
from ..view.chart import bar, curve
from .complaints import fitted
from .loop import Update
from .sample import Cpu, Snapshot
from .sentences import as_figure, figures, tell
from .story import Story

_NEWS = 50  # kept; as many are shown as fit
_FEWEST_CPUS = 4  # that stay beside complaints
_HEADER = f"{'CPU':>3}  {'runs':<22} {'switches/s':>10} {'arrivals/s':>10} {'READY':>5}  "
_HIGHEST = 6  # lines of a curve
_LABEL = 26  # columns before a curve
_MIN_CURVE = 20


class Screen:
    def __init__(self, source: Path, console: Console | None = None, name: str = ""):
        self._source, self._name = source, name or module_name(source)
        self._console = console or Console()
        self._story = Story()
        self._news: deque[Text] = deque(maxlen=_NEWS)
        self._complaints: list[str] = []
        self._status, self._workload = Text("starting ...", style="yellow"), ""
        self._live = Live(self.render(), console=self._console, screen=True, auto_refresh=False)

    def __enter__(self) -> "Screen":
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        for line in self._story.summary():
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    # --- what happens ---

    def started(self, workload: str) -> None:
        self._workload = workload
        self._set_status("version 1 schedules", "green")

    def building(self) -> None:
        self._set_status("building ...", "yellow")

    def updated(self, update: Update) -> None:
        well = update.outcome in ("replaced", "reloaded")
        self._story.add_update(update)
        self._complaints = update.complaints
        self._add_news(tell(update, self._name), "green" if well else "red")
        self._set_status(f"version {update.version} schedules", "green" if well else "red")

    def sampled(self, now: Snapshot) -> None:
        for end in self._story.add_sample(now):
            self._add_news(f"ejected: {end['kind']} in {end['handler']}: {end['reason']}", "red")
        self._refresh()

    # --- what is seen ---

    def render(self) -> Group:
        width, height = self._console.size
        lines = [*self._head(width)]
        last = Text(f"Edit {self._source} and save it; Ctrl-C ends.", style="dim")
        room = height - len(lines) - 1
        blocks = [self._complaint_lines(width, room), self._cpu_lines(width, room)]
        if self._complaints:
            few = min(len(blocks[1]), _FEWEST_CPUS + 1)
            blocks[0] = blocks[0][: max(room - few, 0)]
            blocks[1] = blocks[1][: room - len(blocks[0])]
        lines += [line for block in blocks for line in block]
        room = height - len(lines) - 1
        news = [line for one in self._news for line in one.wrap(self._console, width)]
        lines += self._curve_lines(width, room - min(len(news), max(room // 3, 2)))
        left = max(height - len(lines) - 1, 0)
        lines += news[-left:] if left else []
        lines = lines[: height - 1] + [last]
        for line in lines:
            line.truncate(width)
        return Group(*lines)

    def _head(self, width: int) -> list[Text]:
        lines = [Text.assemble(("saakm dev ", "bold"), f"{self._name}: ", self._status)]
        now = self._now
        if not now:
            return [*lines, Text(self._workload)]
        done = f"round {len(now.rounds) + 1}"
        if now.rounds:
            status, seconds = now.rounds[-1]
            failed = f" and FAILED ({status})" if status else ""
            done += f", the last took {seconds:.2f} s{failed}"
        state = f"; the policy is {now.state.upper()}" if now.state != "active" else ""
        faults = f", {now.violations} violations" if now.violations else ""
        text = f"{now.threads} threads, {figures(now)}{faults}{state}"
        return [*lines, Text(f"{self._workload}: {done}"), *Text(text).wrap(self._console, width)]

    def _complaint_lines(self, width: int, room: int) -> list[Text]:
        lines = fitted(self._complaints, width)
        most = max(room - _FEWEST_CPUS - 1, 1)
        if len(lines) > most:
            lines = [*lines[: most - 1], f"... and {len(lines) - most + 1} lines more"]
        return [Text(line, style="red") for line in lines]

    def _cpu_lines(self, width: int, room: int) -> list[Text]:
        """The busiest, if there are more than fit."""
        if not self._now:
            return []
        numbered = list(enumerate(self._now.cpus))
        most = max(room - len(self._complaints) - 1, _FEWEST_CPUS)
        # Curves and news want their part of a screen that could be filled with CPUs.
        most = min(most, max(room // 2, _FEWEST_CPUS))
        if len(numbered) > most:
            busiest = sorted(numbered, key=lambda pair: -pair[1].switches_rate)[: most - 1]
            left = len(numbered) - len(busiest)
            numbered = sorted(busiest, key=lambda pair: pair[0])
        else:
            left = 0
        longest = max((cpu.ready for _, cpu in numbered), default=0)
        lines = [Text(_HEADER.rstrip(), style="bold")]
        lines += [_cpu_line(number, cpu, longest, width) for number, cpu in numbered]
        if left:
            lines.append(Text(f"... and {left} CPUs that switch less", style="dim"))
        return lines

    def _curve_lines(self, width: int, room: int) -> list[Text]:
        """How figures went, a second a column."""
        samples = self._story.samples
        series: dict[str, list[float | None]] = {
            "switches/s": [now.switches_rate for now in samples],
            "READY threads": [float(sum(cpu.ready for cpu in now.cpus)) for now in samples],
            "wakeup p50 us": [now.wakeup_us.get(50) for now in samples],
            "wakeup p99 us": [now.wakeup_us.get(99) for now in samples],
        }
        height = min(room // len(series), _HIGHEST)
        columns = width - _LABEL
        if height < 1 or columns < _MIN_CURVE or len(samples) < 2:
            return []
        # A line between two curves that are higher than one.
        height -= height > 2
        lines: list[Text] = []
        for name, values in series.items():
            # A column without a figure stays empty.
            shown = [value or 0.0 for value in values[-columns:]]
            labels = [
                f"{name:<13} {as_figure(values[-1]):>10}",
                f"{'most':<13} {max(shown):>10,.0f}",
            ]
            for row, cells in enumerate(curve(shown, columns, height)):
                label = labels[row] if row < len(labels) else ""
                lines.append(Text.assemble((f"{label:<{_LABEL}}", "dim"), (cells, "cyan")))
            if height > 1:
                lines.append(Text(""))
        return lines

    @property
    def _now(self) -> Snapshot | None:
        return self._story.samples[-1] if self._story.samples else None

    def _set_status(self, text: str, style: str) -> None:
        self._status = Text(text, style=style)
        self._refresh()

    def _add_news(self, text: str, style: str) -> None:
        self._news.append(Text(f"{time.strftime('%H:%M:%S')} {text}", style=style))

    def _refresh(self) -> None:
        self._live.update(self.render(), refresh=True)


def _cpu_line(number: int, cpu: Cpu, longest: int, width: int) -> Text:
    figures = f"{cpu.switches_rate:>10,.0f} {cpu.migrations_rate:>10,.0f} {cpu.ready:>5}  "
    room = max(width - len(_HEADER), 0)
    # One thread is one column as long as there is room for all.
    scale = max(longest, room)
    return Text.assemble(
        f"{number:>3}  ",
        (f"{cpu.running[:22]:<22} ", "dim" if cpu.running == "idle" else ""),
        figures,
        (bar(cpu.ready / scale, room) if scale else "", "green"),
    )
