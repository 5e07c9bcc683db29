# SPDX-License-Identifier: GPL-2.0
"""HTML in one file that needs nothing else, not even a network."""

from pathlib import Path
from typing import Any


def page(template: Path, **content: Any) -> str:
    """Fills a template of jinja2's; `plotly` in it is the script of the interactive plots."""
    # Slow to import, and not needed by other commands.
    import jinja2
    from plotly.offline import get_plotlyjs

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(template.read_text()).render(plotly=get_plotlyjs(), **content)
