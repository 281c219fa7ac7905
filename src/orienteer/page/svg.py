"""Plots as inline SVG, in the page's colours for light and dark, with a name next to every mark; pages by templates."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from orienteer.display import clean, counted, cut

if TYPE_CHECKING:
    from jinja2 import Environment


LETTER, _LINE = 6.6, 14.0  # pixels of a letter and of a line of labels
_LONGEST = 34  # characters of a label
_NEAR = 9.0  # pixels from a mark to its label
# Pixels for a cost of 0, which a logarithmic axis lacks.
_ZERO = 46
_DECADES = 3  # up to this many, a logarithmic axis has ticks at 1, 2 and 5


class Frame(NamedTuple):
    """The size of a plot, and the pixels of its axes at each side."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    @property
    def end(self) -> int:
        """Return the pixel of the horizontal axis's end."""
        return self.width - self.right

    @property
    def floor(self) -> int:
        """Return the pixel of the horizontal axis, from the top."""
        return self.height - self.bottom


PLOT = Frame(520, 340, left=44, right=16, top=34, bottom=46)


class LinearAxis(NamedTuple):
    """A linear axis: values from `low` to `high` are at the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    step: float
    """The distance between two ticks, which are its multiples."""

    @classmethod
    def between(cls, low: float, high: float, start: float, end: float) -> LinearAxis:
        """Return an axis that ends exactly at these values."""
        return cls(low, high, start, end, _round_step(((high - low) or 1.0) / 7))

    @classmethod
    def with_room(cls, values: Iterable[float], frame: Frame) -> LinearAxis:
        """Return a vertical axis with round numbers at its ends, and room beyond the values; no share is above 1."""
        values = tuple(values)
        low, high = min(values), max(values)
        spread = max(high - low, 0.05 * max(abs(high), 0.2))
        step = _round_step(spread / 6)
        top = math.ceil((high + 0.1 * spread) / step) * step
        bottom = max(0.0, math.floor((low - 0.1 * spread) / step) * step)
        return cls(bottom, 1.0 if high <= 1 < top else top, frame.floor, frame.top, step)

    def place(self, value: float) -> float:
        """Return the pixel of a value."""
        return self.start + (value - self.low) / ((self.high - self.low) or 1.0) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return round values within the axis."""
        first, last = math.ceil(self.low / self.step - 1e-6), math.floor(self.high / self.step + 1e-6)
        return [first * self.step + number * self.step for number in range(last - first + 1)]


class LogAxis:
    """A logarithmic axis with a separate place for 0 at the left."""

    def __init__(self, values: Sequence[float], frame: Frame) -> None:
        above = [value for value in values if value > 0]
        self.has_zero = len(above) < len(values)
        self._frame = frame
        self._left, self._right = frame.left + (_ZERO if self.has_zero else 0) + 14, frame.end - 14
        self.low, self.high = (min(above) / 1.5, max(above) * 1.5) if above else (1 / 1.5, 1.5)

    def place(self, value: float) -> float:
        """Return the pixel of a quantity."""
        if value <= 0:
            return self._frame.left + _ZERO / 2
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self._left + part * (self._right - self._left)

    def ticks(self) -> list[float]:
        """Return round quantities within the axis."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        steps = (1, 2, 5) if last - first <= _DECADES else (1,)
        ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        return [tick for tick in ticks if self.low <= tick <= self.high]


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

    svg: Markup
    unnamed: int
    """The number of marks without room for a name."""


class _Label(NamedTuple):
    """The point and the anchor of a label's text."""

    x: float
    y: float
    anchor: str


def scatter(points: Sequence[Point], x_name: str, y_name: str) -> Scatter:
    """Plot quality against a cost on a logarithmic axis; a line joins the points that nothing cheaper beats."""
    across = LogAxis([point.x for point in points], PLOT)
    up = LinearAxis.with_room(
        (end for point in points for end in (point.y, point.low, point.high) if end is not None), PLOT
    )
    places = {point.name: (across.place(point.x), up.place(point.y)) for point in points}
    labels = _labels(places)
    marks = [_axes(PLOT, up, x_name, y_name)]
    for tick in across.ticks():
        x = across.place(tick)
        marks.append(_line(x, PLOT.floor, x, PLOT.floor + 4, "grid"))
        marks.append(_text(x, PLOT.floor + 17, f"{tick:,.10g}", "middle", "tick"))
    # A logarithmic axis lacks 0: a line separates it.
    if across.has_zero:
        marks.append(_text(across.place(0), PLOT.floor + 17, "none", "middle", "tick"))
        marks.append(_line(PLOT.left + _ZERO, PLOT.top, PLOT.left + _ZERO, PLOT.floor, "break"))
    # The frontier: the points for which no cheaper point is as good.
    best, corners = -math.inf, []
    for point in sorted(points, key=lambda point: (point.x, -point.y)):
        if point.y > best:
            best = point.y
            corners.append(places[point.name])
    marks.append(_polyline(corners, "frontier"))
    for point in sorted(points, key=lambda point: point.y):
        x, y = places[point.name]
        whisker = Markup()
        if point.low is not None and point.high is not None:
            whisker = _line(x, up.place(point.low), x, up.place(point.high), "whisker", stroke=point.colour)
        title = f"{point.name}: {y_name} {share(point.y)}, {figure(point.x)} {x_name}"
        marks.append(Markup("<g><title>{}</title>{}{}</g>").format(title, whisker, _dot(x, y, "5", point.colour)))
        if label := labels.get(point.name):
            marks.append(_text(label.x, label.y, cut(point.name, _LONGEST), label.anchor, "label"))
    return Scatter(_picture(PLOT, marks, f"{y_name} against {x_name}"), len(places) - len(labels))


def curves(lines: Mapping[str, Sequence[float]], colours: Mapping[str, str], x_name: str, y_name: str) -> Markup:
    """Plot shares over steps, with each line's name at its end."""
    longest = max(map(len, lines.values()))
    up = LinearAxis.with_room([0.0, *(value for line in lines.values() for value in line)], PLOT)
    right = PLOT.end - min(200, LETTER * max(min(len(name), _LONGEST) for name in lines) + 12)
    left = PLOT.left + 14
    steps = [left + step / max(1, longest - 1) * (right - left) for step in range(longest)]
    marks = [_axes(PLOT, up, x_name, y_name)]
    for step in range(0, longest, math.ceil(longest / 12)):
        marks.append(_text(steps[step], PLOT.floor + 16, str(step + 1), "middle", "tick"))
    # The names are moved apart, downwards as far as needed, then all up if they would leave the plot.
    ends: dict[str, float] = {}
    last = -math.inf
    for name, line in sorted(lines.items(), key=lambda item: up.place(item[1][-1])):
        ends[name] = last = max(up.place(line[-1]), last + _LINE)
    excess = max(0.0, last - PLOT.floor)
    ends = {name: y - excess for name, y in ends.items()}
    for name, line in lines.items():
        places = list(zip(steps, map(up.place, line), strict=False))
        marks.append(_polyline(places, "curve", stroke=colours[name]))
        marks += [_dot(x, y, "2.5", colours[name]) for x, y in places]
        marks.append(_line(*places[-1], right + 6, ends[name], "leader", stroke=colours[name]))
        marks.append(_text(right + 9, ends[name] + 4, cut(name, _LONGEST), "start", "label"))
    return _picture(PLOT, marks, f"{y_name} by {x_name}")


def bar(mean: float, low: float | None, high: float | None, *, colour: str, lowest: float, highest: float) -> Markup:
    """Draw a value with its interval on a short scale, with a line at 0 if the scale goes below it."""
    across = LinearAxis.between(lowest, highest, 3, 93).place
    marks = [_line(across(lowest), 6, across(highest), 6, "scale")]
    if lowest < 0 < highest:
        marks.append(_line(across(0), 0, across(0), 12, "zero"))
    if low is not None and high is not None:
        marks.append(_line(across(low), 6, across(high), 6, "whisker", stroke=colour))
    marks.append(_dot(across(mean), 6, "3.5", colour))
    return Markup(
        '<svg class="bar" viewBox="0 0 96 12" width="96" height="12" role="img" aria-label="{:.3g}">{}</svg>'
    ).format(mean, Markup().join(marks))


def _axes(frame: Frame, up: LinearAxis, x_name: str, y_name: str) -> Markup:
    """Return grid lines at the ticks of the vertical axis, with its labels, and the names of both axes."""
    marks = []
    for tick in up.ticks():
        y = up.place(tick)
        marks.append(_line(frame.left, y, frame.end, y, "grid"))
        marks.append(_text(frame.left - 7, y + 4, share(tick, 2), "end", "tick"))
    marks.append(_text(2, 14, y_name, "start", "axis"))
    marks.append(_text(frame.end, frame.height - 8, x_name, "end", "axis"))
    return Markup().join(marks)


def _labels(places: Mapping[str, tuple[float, float]]) -> dict[str, _Label]:
    """Return each label's position, clear of marks and other labels; a label without room is dropped."""
    # Down and across from the mark, the best first: right and left of it, then above and below.
    around = [(down, side) for down in (0.0, -12.0, 12.0) for side in ("start", "end")]
    around += [(-15.0, "middle"), (15.0, "middle")]
    boxes = [(x - 6, y - 6, x + 6, y + 6) for x, y in places.values()]
    labels: dict[str, _Label] = {}
    for name, (x, y) in sorted(places.items(), key=lambda item: item[1][1]):
        width = LETTER * len(cut(name, _LONGEST))
        for down, side in around:
            begin = {"start": x + _NEAR, "end": x - _NEAR - width, "middle": x - width / 2}[side]
            end, top, bottom = begin + width, y + down - _LINE / 2, y + down + _LINE / 2
            inside = PLOT.left < begin and end < PLOT.width and PLOT.top - 8 < top and bottom < PLOT.floor + 6
            if inside and not any(
                begin < box[2] and box[0] < end and top < box[3] and box[1] < bottom for box in boxes
            ):
                boxes.append((begin, top, end, bottom))
                at = {"start": begin, "end": x - _NEAR, "middle": x}[side]
                labels[name] = _Label(at, y + down + 4, side)
                break
    return labels


def _picture(frame: Frame, marks: Iterable[Markup], label: str) -> Markup:
    kind = Markup('class="plot" ') if frame is PLOT else ""
    return Markup('<svg {}viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        kind, frame.width, frame.height, label, Markup().join(marks)
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str, *, stroke: str = "") -> Markup:
    colour = Markup(' stroke="{}"').format(stroke) if stroke else ""
    return Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"{}/>').format(
        x1, y1, x2, y2, kind, colour
    )


def _polyline(places: Iterable[tuple[float, float]], kind: str, *, stroke: str = "") -> Markup:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    colour = Markup(' stroke="{}"').format(stroke) if stroke else ""
    return Markup('<polyline points="{}" class="{}"{}/>').format(points, kind, colour)


def _dot(x: float, y: float, radius: str, colour: str) -> Markup:
    return Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"/>').format(x, y, radius, colour)


def _text(x: float, y: float, text: str, anchor: str, kind: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}</text>').format(x, y, anchor, kind, text)


def _round_step(rough: float) -> float:
    """Return the least number of the form 1, 2 or 5 times a power of ten that is not smaller."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough * (1 - 1e-9))


NOTHING = "–"
_ENOUGH = 100  # from here on, figures have no decimals


def share(value: float, digits: int = 3) -> str:
    """Write a share of 1 without its leading zero, `.482`, and a larger number with as many digits, `1.25`."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else f"{value:.{digits - 1}f}"


def figure(value: float) -> str:
    """Write a quantity with about three figures."""
    return f"{value:,.0f}" if value >= _ENOUGH else f"{value:.3g}"


def percent(part: float, whole: float) -> str:
    """Write a part of a whole in per cent; a dash if the whole is 0."""
    return f"{100 * part / whole:.0f} %" if whole else NOTHING


_TOGETHER = 200  # parts of a template that are written together


def pieces(
    package: str, template: str, *, style: str, script: str | None = None, **values: Any
) -> Iterator[str]:  # Any: the template's values
    """Yield the pieces of a page in order, each made at need.

    Templates, style and script are files of the package. Every value is escaped as text, unless it is our markup.
    Characters that steer a terminal or the direction of text are then removed from every piece, wherever they came
    from. The page loads nothing and runs no script but this one.
    """
    values["style"] = Markup(_read(package, style))
    values["script"] = None if script is None else Markup(_read(package, script))
    digest = hashlib.sha256((values["script"] or "").encode()).digest()
    values["script_sha256"] = "" if script is None else base64.b64encode(digest).decode()
    stream = _environment(package).get_template(template).stream(values)
    stream.enable_buffering(_TOGETHER)
    return map(clean, stream)


@cache
def _environment(package: str) -> Environment:
    """Return the jinja environment of a package's templates, which may extend those of `orienteer.page`."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # here: most commands make no page

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__ or "orienteer.page")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "counted": counted,
        "cut": cut,
        "figure": figure,
        "percent": percent,
        "share": share,
        "thousands": "{:,}".format,
    }
    return environment


def _read(package: str, name: str) -> str:
    return clean(files(package).joinpath(name).read_text(encoding="utf-8"))
