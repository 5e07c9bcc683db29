# SPDX-License-Identifier: GPL-2.0
"""saakm replay --of fair: what a kernel asked of fair is asked of a policy, and decisions are compared."""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base.errors import BadInput, SaakmError
from ..base.files import make_output
from ..base.progress import meter
from ..builder.parameters import check_form, check_names
from ..lab.replay.fair_conduct import FairAgreement, compare_with_fair
from ..lab.replay.fair_record import FairRecorded
from ..lab.replay.record import refuse_old_qemu
from ..lab.replay.scenarios import SCENARIOS, Scenario
from ..view.terminal import figure, label, table, widened
from ..vm import features
from .comma_lists import words

# A recording of them has some 6 GB, and takes nearly the two hours that a guest is given.
_MOST_PICKS = 10_000_000
_COLUMNS = ("CPUs", "picks", "of several", "preempts?", "sleeps late", "states")


# Options of one kind of recording, which the other would not heed.
_OF_FAIR = ("scenario", "picks", "features", "param", "states")
_OF_SAAKM = ("calls", "workload", "kinds")


class Asked(StrEnum):
    SAAKM = "saakm"
    FAIR = "fair"


Of = Annotated[Asked, typer.Option("--of", help="Whose calls are recorded.")]
ScenarioOption = Annotated[
    str, typer.Option("--scenario", help="Of fair: what threads do, e.g. slices,fork.")
]
Picks = Annotated[
    int,
    typer.Option(
        "--picks", min=1, max=_MOST_PICKS, help="Of fair: picks to record, after the boot."
    ),
]
Features = Annotated[
    str,
    typer.Option(
        "--features",
        help="Of fair: of sched/features, besides a scenario's, e.g. NEXT_BUDDY,NO_RUN_TO_PARITY.",
    ),
]
Param = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        help="Of fair: a parameter of the policy's module, besides features, as run_to_parity=0; may be repeated.",
    ),
]

States = Annotated[
    bool,
    typer.Option(
        "--states", help="Of fair: compare each vruntime and deadline, not only decisions."
    ),
]


@dataclass(frozen=True)
class Options:
    """As they are given."""

    scenario: str
    picks: int
    features: tuple[str, ...]
    params: tuple[str, ...]
    seed: int
    states: bool

    def recorded(self, cpus: list[int]) -> list[FairRecorded]:
        """Refuses features that no kernel has, or that are set twice, before one is booted."""
        for scenario in _scenarios(self.scenario):
            features.checked((*scenario.features, *self.features))
        return [
            FairRecorded(scenario, count, self.picks, self.features, self.seed, self.states)
            for scenario in _scenarios(self.scenario)
            for count in cpus
        ]


def run(policy: Path, cpus: list[int], options: Options, keep: Path | None, as_json: bool) -> None:
    """Status 1 if anything differs."""
    wanted = options.recorded(cpus)
    check_form(list(options.params))
    check_names(list(options.params), policy)
    refuse_old_qemu()
    if keep:
        make_output(keep)
    found: list[FairAgreement] = []
    try:
        _compare(policy, wanted, options.params, keep, found)
    except (KeyboardInterrupt, SaakmError):
        # Of all scenarios, which take an hour: what has been compared is compared.
        if found and not as_json:
            _show(found)
        raise
    if as_json:
        print(json.dumps([one.as_json() for one in found], indent=2))
    else:
        _show(found)
    raise typer.Exit(any(not one.holds for one in found))


def _compare(
    policy: Path,
    wanted: list[FairRecorded],
    params: tuple[str, ...],
    keep: Path | None,
    found: list[FairAgreement],
) -> None:
    """Adds each to `found` as soon as it is known."""
    with meter("comparing with fair", len(wanted)) as progress:
        begun: list[FairRecorded] = []

        def on_begin(one: FairRecorded) -> None:
            if begun:
                progress.advance()
            begun.append(one)
            progress.describe(f"{one.scenario.name} on {_cpus(one.cpus)}")

        found.extend(compare_with_fair(policy, wanted, params, keep, on_begin))


def refuse_unheeded(context: typer.Context, of: Asked) -> None:
    """Options that are of the other kind of recording."""
    for name in _OF_SAAKM if of is Asked.FAIR else _OF_FAIR:
        source = context.get_parameter_source(name)
        if source and source.name == "COMMANDLINE":
            other = Asked.SAAKM if of is Asked.FAIR else Asked.FAIR
            raise BadInput(
                f"--{name} has no effect on what is asked of {of}",
                f"it is an option of recordings with --of {other}",
                f"leave it out, or say --of {other}",
            )


def _scenarios(text: str) -> list[Scenario]:
    if text == "all":
        return list(SCENARIOS.values())
    names = words(text)
    for name in names or ("",):
        if name not in SCENARIOS:
            raise BadInput(
                f"there is no scenario '{name}'",
                "\n".join(
                    ["there are", *(f"{one.name}: {one.about}" for one in SCENARIOS.values())]
                ),
                "name some of these, or all",
            )
    return [SCENARIOS[name] for name in names]


def _show(found: list[FairAgreement]) -> None:
    columns = [figure(word) for word in _COLUMNS]
    shown = table("", label("scenario"), label("features"), *columns, label("equal"))
    for one in found:
        counts = (one.cpus, one.picks, one.choices, one.preemptions, one.delays, one.states)
        cells = [f"{count:,}" for count in counts]
        equal = "yes" if one.holds else f"until call {one.calls:,}"
        shown.add_row(one.scenario, " ".join(one.features), *cells, equal)
    widened(Console()).print(shown)
    for one in found:
        if one.difference:
            print(f"{one.scenario} on {_cpus(one.cpus)}:\n{one.difference}")
            print("What the kernel asked after that was of another schedule: it is not replayed.")


def _cpus(count: int) -> str:
    return f"{count} CPU{'s' * (count > 1)}"
