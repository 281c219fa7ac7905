"""Small pictures as inline SVG, in colours that the page sets for light and dark; every mark is named in place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.evaluation.report.markup import Html, cut, figure, html, share, tag

WIDTH, HEIGHT = 520, 340
LEFT, RIGHT, TOP, BOTTOM = 44, 16, 34, 46
_ZERO = 46  # pixels for what costs nothing, which has no place on a logarithm's axis
_LETTER, _LINE = 6.6, 14.0  # pixels of a letter and of a line of labels
_LONGEST = 34  # characters of a label
_NEAR = 9.0  # pixels from a mark to its label
_DECADES = 3  # up to as many, an axis has ticks at 1, 2 and 5


@dataclass(frozen=True, slots=True)
class Point:
    """A method in a plot."""

    name: str
    colour: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    """Ends of the interval of y."""


class Scatter(NamedTuple):
    """A plot of points."""

    svg: Html
    unnamed: int
    """Marks that there is no room to name."""


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


class _Label(NamedTuple):
    x: float
    y: float
    anchor: str
    box: _Box


class _LogAxis:
    """Places quantities by their logarithm; nought has a place of its own at the left."""

    def __init__(self, values: Sequence[float]) -> None:
        above = [value for value in values if value > 0]
        self.has_zero = len(above) < len(values)
        self._left = LEFT + (_ZERO if self.has_zero else 0) + 14
        self._right = WIDTH - RIGHT - 14
        low, high = (min(above), max(above)) if above else (1.0, 1.0)
        self.low, self.high = low / 1.5, high * 1.5

    def place(self, value: float) -> float:
        """Return the pixel of a quantity."""
        if value <= 0:
            return LEFT + _ZERO / 2
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self._left + part * (self._right - self._left)

    def ticks(self) -> list[float]:
        """Return round quantities within the axis."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        steps = (1, 2, 5) if last - first <= _DECADES else (1,)
        every = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        return [one for one in every if self.low <= one <= self.high]


class _Axis:
    """Places values from the bottom up, with round numbers at the ends."""

    def __init__(self, values: Iterable[float]) -> None:
        values = tuple(values)
        low, high = min(values), max(values)
        spread = max(high - low, 0.05 * max(abs(high), 0.2))
        self._step = _round_step(spread / 6)
        self.low = max(0.0, math.floor((low - 0.1 * spread) / self._step) * self._step)
        self.high = math.ceil((high + 0.1 * spread) / self._step) * self._step
        if high <= 1 < self.high:  # no share is above 1
            self.high = 1.0

    def place(self, value: float) -> float:
        """Return the pixel of a value."""
        return HEIGHT - BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - BOTTOM - TOP)

    def ticks(self) -> list[float]:
        """Return round values within the axis."""
        return [self.low + number * self._step for number in range(int((self.high - self.low) / self._step + 1e-6) + 1)]


def scatter(points: Sequence[Point], x_name: str, y_name: str) -> Scatter:
    """Plot quality against a cost on a logarithm's axis; a line joins what nothing cheaper beats."""
    across = _LogAxis([one.x for one in points])
    up = _Axis(end for one in points for end in (one.y, one.low, one.high) if end is not None)
    places = {one.name: (across.place(one.x), up.place(one.y)) for one in points}
    labels = _labels(places)
    parts = [_frame(up, x_name, y_name, height=HEIGHT), *_log_ticks(across), _frontier(points, places)]
    for one in sorted(points, key=lambda point: point.y):
        x, y = places[one.name]
        said = html(f"{one.name}: {y_name} {share(one.y)}, {figure(one.x)} {x_name}")
        whisker = html()
        if one.low is not None and one.high is not None:
            whisker = _line(x, up.place(one.low), x, up.place(one.high), "whisker", stroke=one.colour)
        parts.append(tag("g", tag("title", said), whisker, tag("circle", cx=_n(x), cy=_n(y), r=5, fill=one.colour)))
        if label := labels.get(one.name):
            parts.append(_text(label.x, label.y, cut(one.name, _LONGEST), anchor=label.anchor, class_="label"))
    return Scatter(_svg(parts, f"{y_name} against {x_name}"), len(places) - len(labels))


def curves(lines: Mapping[str, Sequence[float]], colours: Mapping[str, str], x_name: str, y_name: str) -> Html:
    """Plot shares over steps, each line named at its end."""
    longest = max(map(len, lines.values()))
    up = _Axis([0.0, *(value for line in lines.values() for value in line)])
    right = WIDTH - RIGHT - min(200, _LETTER * max(min(len(name), _LONGEST) for name in lines) + 12)

    def across(step: int) -> float:
        return LEFT + 14 + (step - 1) / max(1, longest - 1) * (right - LEFT - 14)

    every = math.ceil(longest / 12)
    parts = [_frame(up, x_name, y_name, height=HEIGHT)]
    for step in range(1, longest + 1, every):
        parts.append(_text(across(step), HEIGHT - BOTTOM + 16, str(step), anchor="middle", class_="tick"))
    ends = _spread({name: up.place(line[-1]) for name, line in lines.items()})
    for name, line in lines.items():
        at = " ".join(f"{_n(across(step))},{_n(up.place(value))}" for step, value in enumerate(line, 1))
        dots = (
            tag("circle", cx=_n(across(step)), cy=_n(up.place(value)), r=2.5, fill=colours[name])
            for step, value in enumerate(line, 1)
        )
        parts.append(tag("polyline", points=at, class_="curve", stroke=colours[name]))
        parts += dots
        parts.append(
            _line(across(len(line)), up.place(line[-1]), right + 6, ends[name], "leader", stroke=colours[name])
        )
        parts.append(_text(right + 9, ends[name] + 4, cut(name, _LONGEST), anchor="start", class_="label"))
    return _svg(parts, f"{y_name} by {x_name}")


def bar(mean: float, low: float | None, high: float | None, *, colour: str, lowest: float, highest: float) -> Html:
    """Draw a value with its interval on a short scale, with a line at nought where the scale goes below it."""
    width, height = 96, 12

    def across(value: float) -> float:
        return 3 + (value - lowest) / ((highest - lowest) or 1) * (width - 6)

    zero = across(0.0) if lowest < 0 < highest else None
    parts = [_line(across(lowest), 6, across(highest), 6, "scale")]
    if zero is not None:
        parts.append(_line(zero, 0, zero, height, "zero"))
    if low is not None and high is not None:
        parts.append(_line(across(low), 6, across(high), 6, "whisker", stroke=colour))
    parts.append(tag("circle", cx=_n(across(mean)), cy=6, r=3.5, fill=colour))
    return tag("svg", *parts, class_="bar", viewBox=f"0 0 {width} {height}", width=width, height=height, role="img",
               aria_label=f"{mean:.3g}")  # fmt: skip


def stacked(parts: Mapping[str, float], classes: Sequence[str]) -> Html:
    """Draw shares of a whole as one bar; the parts are told in its title."""
    whole = sum(parts.values())
    said = ", ".join(f"{name} {value:,.0f}" for name, value in parts.items())
    pieces = (
        tag("i", class_=name, style=f"width:{100 * value / whole:.2f}%")
        for name, value in zip(classes, parts.values(), strict=True)
        if value
    )
    return tag("span", *pieces, class_="stacked", title=said)


def _svg(parts: Iterable[Html], said: str) -> Html:
    return tag("svg", *parts, class_="plot", viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=said)


def _frame(up: _Axis, x_name: str, y_name: str, *, height: float) -> Html:
    parts = []
    for tick in up.ticks():
        y = up.place(tick)
        parts.append(_line(LEFT, y, WIDTH - RIGHT, y, "grid"))
        parts.append(_text(LEFT - 7, y + 4, share(tick, 2), anchor="end", class_="tick"))
    parts.append(_text(2, 14, y_name, anchor="start", class_="axis"))
    parts.append(_text(WIDTH - RIGHT, height - 8, x_name, anchor="end", class_="axis"))
    return html(*parts)


def _log_ticks(across: _LogAxis) -> list[Html]:
    parts = []
    floor = HEIGHT - BOTTOM
    for tick in across.ticks():
        x = across.place(tick)
        parts += [_line(x, floor, x, floor + 4, "grid")]
        parts += [_text(x, floor + 17, f"{tick:,.10g}", anchor="middle", class_="tick")]
    if across.has_zero:
        parts.append(_text(across.place(0), floor + 17, "none", anchor="middle", class_="tick"))
        parts.append(_line(LEFT + _ZERO, TOP, LEFT + _ZERO, floor, "break"))
    return parts


def _frontier(points: Sequence[Point], places: Mapping[str, tuple[float, float]]) -> Html:
    """Return a line through the points than which no cheaper one is as good."""
    best = -math.inf
    kept = []
    for one in sorted(points, key=lambda point: (point.x, -point.y)):
        if one.y > best:
            best = one.y
            kept.append(places[one.name])
    return tag("polyline", points=" ".join(f"{_n(x)},{_n(y)}" for x, y in kept), class_="frontier")


def _labels(places: Mapping[str, tuple[float, float]]) -> dict[str, _Label]:
    """Return where each label stands, clear of marks and of one another; one that has no room is left out."""
    marks = [_Box(x - 6, y - 6, x + 6, y + 6) for x, y in places.values()]
    taken: list[_Box] = []
    found: dict[str, _Label] = {}
    for name, (x, y) in sorted(places.items(), key=lambda item: item[1][1]):
        width = _LETTER * len(cut(name, _LONGEST))
        for label in _ways(x, y, width):
            inside = label.box.left > LEFT and label.box.right < WIDTH and label.box.top > TOP - 8
            inside = inside and label.box.bottom < HEIGHT - BOTTOM + 6
            if inside and not any(label.box.meets(other) for other in (*marks, *taken)):
                taken.append(label.box)
                found[name] = label
                break
    return found


def _ways(x: float, y: float, width: float) -> list[_Label]:
    """Return the places for a label around its mark, the best first."""
    found = []
    for down in (0.0, -12.0, 12.0):
        middle = y + down
        top, bottom = middle - _LINE / 2, middle + _LINE / 2
        found.append(_Label(x + _NEAR, middle + 4, "start", _Box(x + _NEAR, top, x + _NEAR + width, bottom)))
        found.append(_Label(x - _NEAR, middle + 4, "end", _Box(x - _NEAR - width, top, x - _NEAR, bottom)))
    for down in (-15.0, 15.0):
        middle = y + down
        box = _Box(x - width / 2, middle - _LINE / 2, x + width / 2, middle + _LINE / 2)
        found.append(_Label(x, middle + 4, "middle", box))
    return found


def _spread(places: Mapping[str, float]) -> dict[str, float]:
    """Move labels in one column apart, downwards, as far as they need; then back up where they would leave the plot."""
    found: dict[str, float] = {}
    last = -math.inf
    for name, y in sorted(places.items(), key=lambda item: item[1]):
        last = max(y, last + _LINE)
        found[name] = last
    excess = max(0.0, last - (HEIGHT - BOTTOM))
    return {name: y - excess for name, y in found.items()}


def _line(x1: float, y1: float, x2: float, y2: float, class_: str, *, stroke: str | None = None) -> Html:
    return tag("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), class_=class_, stroke=stroke)


def _text(x: float, y: float, said: str, *, anchor: str, class_: str) -> Html:
    return tag("text", said, x=_n(x), y=_n(y), text_anchor=anchor, class_=class_)


def _n(value: float) -> str:
    return f"{value:.1f}"


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough * (1 - 1e-9))
