# SPDX-License-Identifier: GPL-2.0
"""The command line: one module a command in saakm.commands."""

import contextlib
import sys

import typer

from .base import cache
from .base.ending import Interrupted, end_by_interrupt, exit_on_signals
from .base.errors import SaakmError
from .commands import (
    agree,
    attacks,
    bench,
    build,
    check,
    clean,
    cost,
    demo,
    dev,
    docs,
    doctor,
    gdb,
    lab,
    lint,
    new,
    package,
    recorded,
    replay,
    report,
    run,
    shell,
    sim,
    test,
    timing,
    trace,
)
from .commands.after_dashes import TakesCommand

app = typer.Typer(
    name="saakm",
    cls=recorded.Group,
    help="Schedulers as Kernel Modules: build, boot, run and test CPU schedulers for Linux 6.12.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# The order of the help: the main job first.
app.command(cls=recorded.Command)(demo.demo)
app.command(cls=recorded.Command)(new.new)
app.command(cls=TakesCommand)(run.run)
app.command(cls=recorded.Command)(dev.dev)
app.command(cls=TakesCommand)(trace.trace)
app.command(cls=recorded.Command)(sim.sim)
app.command(cls=recorded.Command)(check.check)
app.command(cls=recorded.Command)(attacks.attacks)
app.command(cls=recorded.Command)(shell.shell)
app.command(cls=recorded.Command)(gdb.gdb)
app.command(cls=recorded.Command)(build.build)
app.command(cls=recorded.Command)(lint.lint)
app.command(cls=recorded.Command, context_settings=test.CONTEXT)(test.test)
app.command(cls=recorded.Command)(cost.cost)
app.command(cls=recorded.Command)(bench.bench)
app.command(cls=recorded.Command)(lab.lab)
app.command(cls=recorded.Command)(replay.replay)
app.command(cls=recorded.Command)(agree.agree)
app.command(cls=recorded.Command)(timing.timing)
app.command(cls=recorded.Command)(report.report)
app.command(cls=recorded.Command)(docs.docs)
app.command(cls=recorded.Command)(package.package)
app.command(cls=recorded.Command)(doctor.doctor)
app.command(cls=recorded.Command)(clean.clean)


def main() -> None:
    exit_on_signals()
    try:
        cache.refuse_unusable()
        try:
            app(prog_name="saakm")
        finally:
            if sys.stdout:
                sys.stdout.flush()
    except SaakmError as error:
        _fail(error)
    except OSError as error:
        refusal = cache.explain(error)
        if not refusal:
            raise
        _fail(refusal)
    except (KeyboardInterrupt, Interrupted):
        end_by_interrupt()


def _fail(error: SaakmError) -> None:
    # A full disk may refuse these as well, and the sentence must still come.
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    print(f"saakm: {error}", file=sys.stderr)
    sys.exit(error.status)
