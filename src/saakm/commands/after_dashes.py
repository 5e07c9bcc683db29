# SPDX-License-Identifier: GPL-2.0
"""Commands that take another command with options of its own."""

from typing import Any

import typer

from .recorded import Command


class TakesCommand(Command):
    """Says where the options belong that it does not know."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        has_dashes = "--" in args
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if hasattr(error, "option_name") and not has_dashes:
                error.message += (
                    ". If it is the command's own, put -- before the command: "
                    f"saakm {ctx.info_name} POLICY -- COMMAND"
                )
            raise
