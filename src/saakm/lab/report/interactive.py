# SPDX-License-Identifier: GPL-2.0
"""Interactive plots. The page's script gives them its colours, for light and for dark."""

import json
from collections.abc import Sequence
from typing import Any

from ...model.cost_rows import Row
from ...view.plot import color
from ..bench.figures import Figure, Tally, schedulers
from ..bench.stats import LOST, WON
from ..cost import curves as cost_curves
from ..cost.axes import AXES, axis_of
from ..cost.printed import by_operation
from .tables import cost_names

_LINE = 22  # pixels a row
_WON, _LOST, _NOISE = "#009E73", "#D55E00", "#999999"


def gains(result: Tally) -> str:
    """A point a workload, with its interval; the further right, the better."""
    names, found = list(result.differences), list(result.differences.values())
    colors = [_WON if d.verdict == WON else _LOST if d.verdict == LOST else _NOISE for d in found]
    known = [(d.low, d.high) if d.low == d.low else (d.percent, d.percent) for d in found]
    trace = {
        "type": "scatter",
        "mode": "markers",
        "orientation": "h",
        "x": [round(d.percent, 3) for d in found],
        "y": names,
        "text": [d.verdict for d in found],
        "hovertemplate": "%{y}<br>%{x:+.2f} %, %{text}<extra></extra>",
        "marker": {"color": colors, "size": 9},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "thickness": 1.4,
            "width": 3,
            "color": _NOISE,
            "array": [round(high - d.percent, 3) for d, (_, high) in zip(found, known)],
            "arrayminus": [round(d.percent - low, 3) for d, (low, _) in zip(found, known)],
        },
    }
    layout = {
        "xaxis": {
            "title": {
                "text": f"{result.scheduler} against {result.base}: gain in %, more is better"
            },
            "zeroline": True,
            "ticksuffix": " %",
        },
        "yaxis": {"autorange": "reversed", "automargin": True, "dtick": 1},
        "height": 100 + _LINE * len(names),
        "showlegend": False,
        "margin": {"t": 10, "b": 60},
    }
    return _json([trace], layout)


def boxes(group: Sequence[Figure], base: str) -> str:
    """Each run, relative to the baseline's mean: figures of any unit beside each other."""
    names = schedulers(group, base)
    traces = []
    for name in names:
        x, y = [], []
        for figure in group:
            if name in figure.values and names[0] in figure.values:
                zero = figure.summary(names[0]).mean
                x += [round(value / zero, 5) if zero else 0 for value in figure.values[name]]
                y += [figure.label or figure.title] * len(figure.values[name])
        traces.append(
            {
                "type": "box",
                "orientation": "h",
                "name": name,
                "x": x,
                "y": y,
                "boxpoints": "all",
                "jitter": 0.4,
                "pointpos": 0,
                "line": {"width": 1.5},
                "marker": {"size": 4, "color": color(name, names)},
            }
        )
    figure = group[0]
    direction = "less" if figure.better == "lower" else "more"
    layout = {
        "boxmode": "group",
        "height": 130 + _LINE * len(group) * max(2, len(names)),
        "xaxis": {
            "title": {
                "text": f"{figure.unit}, as a part of {names[0]}'s mean; {direction} is better"
            }
        },
        "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
        "margin": {"t": 40, "b": 60},
    }
    return _json(traces, layout)


def costs(rows: Sequence[Row]) -> str:
    groups, names = by_operation(list(rows)), cost_names(rows)
    traces = []
    for name in names:
        values = {row.operation: row.instructions for row in rows if row.scheduler == name}
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": list(groups),
                "x": [values.get(operation) for operation in groups],
                "marker": {"color": color(name, names)},
                "hovertemplate": "%{y} " + name + ": %{x:,.0f}<extra></extra>",
            }
        )
    layout = {
        "barmode": "group",
        "height": 130 + 14 * len(groups) * len(names),
        "xaxis": {"title": {"text": "instructions an operation; less is better"}, "type": "log"},
        "yaxis": {"autorange": "reversed", "automargin": True},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
        "margin": {"t": 40, "b": 60},
    }
    return _json(traces, layout)


def curves(rows: list[Row]) -> str:
    """Draws one operation along an axis, on a logarithmic scale; the cost starts at zero."""
    values, figures = cost_curves.table_of(rows)
    names = list(figures)
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": cost_curves.described(name),
            "x": list(points),
            "y": list(points.values()),
            "line": {"color": color(name, names)},
        }
        for name, points in figures.items()
    ]
    layout = {
        "height": 380,
        "margin": {"t": 30, "b": 60},
        "xaxis": {
            "type": "log",
            "title": {"text": AXES[axis_of(rows)].what},
            "tickvals": values,
            "ticktext": [f"{value:,}" for value in values],
        },
        "yaxis": {"rangemode": "tozero", "title": {"text": "instructions"}, "automargin": True},
    }
    return _json(traces, layout)


def _json(traces: list[dict[str, Any]], layout: dict[str, Any]) -> str:
    # Within a script element: what would end it must not be in it.
    return json.dumps({"data": traces, "layout": layout}).replace("</", "<\\/")
