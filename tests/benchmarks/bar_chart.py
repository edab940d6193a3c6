"""A chart of horizontal bars as SVG, for light and dark pages; no library is needed for that little."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, VALUES, ROW, BAR = 800, 95, 27, 17
TOP, BOTTOM = 62, 58
LETTER = 8.0
"""About the width of a letter; fonts differ."""

STYLE = """
svg { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
.page { fill: #ffffff; stroke: #d0d7de; } .title { font-size: 15px; font-weight: 600; }
text { fill: #1f2328; } .faint { fill: #59636e; font-size: 12px; } .grid { stroke: #d8dee4; }
.ours { fill: #0969da; } .other { fill: #8c959f; } .bare { fill: #bf8700; }
.goal { stroke: #cf222e; stroke-width: 2.5; } .strong { font-weight: 600; }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117; stroke: #3d444d; } text { fill: #f0f6fc; } .faint { fill: #9198a1; } .grid { stroke: #30363d; }
.ours { fill: #4493f8; } .other { fill: #767e88; } .bare { fill: #d29922; } .goal { stroke: #f85149; } }
"""
KINDS = ("ours", "other", "bare")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One line of the chart.

    :param kind: one of :data:`KINDS`, which is its colour.
    :param goal: where a mark stands in this line.
    """

    label: str
    value: float
    shown: str
    kind: str
    goal: float | None = None


def bar_chart(title: str, told: str, bars: Sequence[Bar], legend: Sequence[tuple[str, str]]) -> str:
    """The text of an SVG file.

    :param told: the line below the title: what the bars measure.
    :param legend: kind (or ``goal``) and what it means.
    """
    height = TOP + ROW * len(bars) + BOTTOM
    left = 30 + LETTER * max(len(bar.label) for bar in bars)
    highest = max(max(bar.value, bar.goal or 0) for bar in bars)
    step = _step(highest)
    room = WIDTH - left - VALUES
    scale = room / highest
    bottom = TOP + ROW * len(bars)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}"><style>{STYLE}</style>',
        f'<rect class="page" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
        f'<text class="title" x="16" y="25">{escape(title)}</text>',
        f'<text class="faint" x="16" y="44">{escape(told)}</text>',
    ]
    for number in range(math.floor(highest / step) + 1):
        x = left + number * step * scale
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{bottom}"/>')
        parts.append(
            f'<text class="faint" x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{number * step:,g}</text>'
        )
    for number, bar in enumerate(bars):
        parts += _line(bar, left, TOP + ROW * number, scale)
    parts += _legend(legend, height - 17)
    return "\n".join([*parts, "</svg>\n"])


def _line(bar: Bar, left: float, y: float, scale: float) -> list[str]:
    middle, end = y + BAR / 2 + 4.5, left + bar.value * scale
    goal = None if bar.goal is None else left + bar.goal * scale
    is_near = goal is not None and end - 3 <= goal < end + LETTER * (len(bar.shown) + 2)
    beyond = goal if goal is not None and is_near else end
    strong = ' class="strong"' if bar.kind == "ours" else ""
    parts = [
        f'<text{strong} x="{left - 10:.1f}" y="{middle:.1f}" text-anchor="end">{escape(bar.label)}</text>',
        f'<rect class="{bar.kind}" x="{left:.1f}" y="{y:.1f}" width="{max(end - left, 1):.1f}" height="{BAR}" rx="2"/>',
        f'<text{strong} x="{beyond + 7:.1f}" y="{middle:.1f}">{escape(bar.shown)}</text>',
    ]
    if goal is not None:
        parts.append(f'<line class="goal" x1="{goal:.1f}" x2="{goal:.1f}" y1="{y - 3:.1f}" y2="{y + BAR + 3:.1f}"/>')
    return parts


def _legend(legend: Sequence[tuple[str, str]], y: float) -> list[str]:
    parts, x = [], 16.0
    for kind, meaning in legend:
        if kind == "goal":
            parts.append(f'<line class="goal" x1="{x + 6}" x2="{x + 6}" y1="{y - 11}" y2="{y + 3}"/>')
        else:
            parts.append(f'<rect class="{kind}" x="{x}" y="{y - 10}" width="12" height="12" rx="2"/>')
        parts.append(f'<text class="faint" x="{x + 18}" y="{y}">{escape(meaning)}</text>')
        x += 40 + 6.7 * len(meaning)
    return parts


def _step(highest: float) -> float:
    """Between four and ten lines, at round numbers."""
    power = 10.0 ** math.floor(math.log10(highest / 4))
    return next(factor * power for factor in (5, 2, 1) if highest / (factor * power) >= 4)
