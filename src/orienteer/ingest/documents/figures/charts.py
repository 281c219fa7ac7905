"""Histograms and clouds of pairs as inline SVG, in colours that the page sets for light and dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orienteer.markup import Html, html, tag

WIDTH, HEIGHT = 420, 270
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 30, 44
SHOWN = (95, 99, 80, 90)
"""Percentiles that are marked above a histogram, those first that are named first where there is little room."""
_LEVELS = 8  # shades of a cloud
_TICKS = 7
_NEAR = 30.0  # pixels between the middles of two labels


class _Scale(NamedTuple):
    """Places the values of an axis."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return round values within the axis."""
        step = _round_step(((self.high - self.low) or 1.0) / _TICKS)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def distribution(found: Mapping[str, Any], name: str, *, threshold: float | None) -> Html:  # Any: JSON
    """Draw how often a similarity takes each value; what exceeds the threshold, and so makes an edge, stands out."""
    edges, counts = found["edges"], found["counts"]
    across = _Scale(edges[0], edges[-1], LEFT, WIDTH - RIGHT)
    up = _Scale(0, max(counts), HEIGHT - BOTTOM, TOP)
    bars = [
        _bar(across(low), across(high), up(count), up(0), f"{low:.2f} to {high:.2f}: {count:,} pairs",
             kept=threshold is not None and (low + high) / 2 > threshold)
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
        if count
    ]  # fmt: skip
    parts = [*_frame(across, up, name, "pairs"), *bars, *_percentiles(found["percentiles"], across)]
    if threshold is not None and edges[0] <= threshold <= edges[-1]:
        parts.append(_line(across(threshold), TOP, across(threshold), HEIGHT - BOTTOM, "threshold"))
    return _svg(parts, f"pairs by {name}")


def tally(counts: Sequence[int], name: str, *, kind: str, most: int) -> Html:
    """Draw how many things hold none, one, two ... of something; the bar at `most` has all above it."""
    across = _Scale(-0.5, len(counts) - 0.5, LEFT, WIDTH - RIGHT)
    up = _Scale(0, max(counts), HEIGHT - BOTTOM, TOP)
    bars = [
        _bar(
            across(at - 0.5), across(at + 0.5), up(count), up(0),
            f"{at}{' or more' if at == most else ''} {name}: {count:,} {kind}", kept=False,
        )
        for at, count in enumerate(counts)
        if count
    ]  # fmt: skip
    said = f"{name} in one, {most} or more at the end" if len(counts) > most else f"{name} in one"
    return _svg([*_frame(across, up, said, kind), *bars], f"{kind} by number of {name}")


def cloud(found: Mapping[str, Any], x_name: str, y_name: str) -> Html:  # Any: JSON
    """Draw how often two similarities come together: the darker a place, the more pairs, by the logarithm."""
    x, y, cells = found["x"], found["y"], found["cells"]
    across = _Scale(x[0], x[-1], LEFT, WIDTH - RIGHT)
    up = _Scale(y[0], y[-1], HEIGHT - BOTTOM, TOP)
    most = math.log1p(max(count for _, _, count in cells))
    shades: dict[int, list[str]] = {}
    for column, row, count in cells:
        level = min(_LEVELS, 1 + int(_LEVELS * math.log1p(count) / most))
        left, right, low, high = across(x[column]), across(x[column + 1]), up(y[row]), up(y[row + 1])
        shades.setdefault(level, []).append(f"M{left:.1f} {high:.1f}H{right:.1f}V{low:.1f}H{left:.1f}z")
    drawn = [
        tag("path", d="".join(shapes), class_="cell", fill_opacity=round(level / _LEVELS, 3))
        for level, shapes in sorted(shades.items())
    ]
    return _svg([*_frame(across, up, x_name, y_name, are_counts=False), *drawn], f"{y_name} against {x_name}")


def _bar(left: float, right: float, top: float, floor: float, said: str, *, kept: bool) -> Html:
    return tag(
        "rect", tag("title", said), x=_n(left + 0.5), y=_n(top), width=_n(max(right - left - 1, 0.5)),
        height=_n(floor - top), class_="bar kept" if kept else "bar",
    )  # fmt: skip


def _frame(across: _Scale, up: _Scale, x_name: str, y_name: str, *, are_counts: bool = True) -> list[Html]:
    """Return axes: lines across at round values, labels below and at the left."""
    parts = []
    for tick in up.ticks():
        parts.append(_line(LEFT, up(tick), WIDTH - RIGHT, up(tick), "grid"))
        label = f"{tick:,.0f}" if are_counts else _decimal(tick)
        parts.append(_text(LEFT - 6, up(tick) + 4, label, anchor="end", class_="tick"))
    for tick in across.ticks():
        label = f"{tick:.0f}" if float(tick).is_integer() and across.high > 1.5 else _decimal(tick)
        parts.append(_text(across(tick), HEIGHT - BOTTOM + 16, label, anchor="middle", class_="tick"))
    parts.append(_text(2, 13, y_name, anchor="start", class_="axis"))
    parts.append(_text(WIDTH - RIGHT, HEIGHT - 8, x_name, anchor="end", class_="axis"))
    return parts


def _percentiles(values: Mapping[str, float], across: _Scale) -> list[Html]:
    """Mark what lies at some percentiles; a label that would stand on another is left out."""
    parts = []
    taken: list[float] = []
    for percentile in SHOWN:
        x = across(values[str(percentile)])
        parts.append(_line(x, TOP - 6, x, TOP, "mark"))
        if all(abs(x - other) >= _NEAR for other in taken):
            parts.append(_text(x, TOP - 9, f"{percentile} %", anchor="middle", class_="tick"))
            taken.append(x)
    return parts


def _svg(parts: Sequence[Html], said: str) -> Html:
    return tag("svg", html(*parts), viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=said)


def _line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    return tag("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), class_=class_)


def _text(x: float, y: float, said: str, *, anchor: str, class_: str) -> Html:
    return tag("text", said, x=_n(x), y=_n(y), text_anchor=anchor, class_=class_)


def _decimal(value: float) -> str:
    return without_zero(f"{value:.2f}".rstrip("0").rstrip("."))


def without_zero(text: str) -> str:
    """Return a number without the zero before its point, as `.35`."""
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _n(value: float) -> str:
    return f"{value:.1f}"


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough * (1 - 1e-9))
