"""The pieces that a report page is put together from, and how it writes figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orienteer.evaluation.scores.table import Estimate
from orienteer.markup import Html as Html
from orienteer.markup import html as html
from orienteer.markup import tag as tag

NOTHING = "–"
_ENOUGH = 100  # from here on, a figure without decimals says enough


def section(anchor: str, title: str, *parts: str) -> Html:
    """Return a part of the page under a heading."""
    return tag("section", tag("h2", title), *parts, id=anchor)


def note(*parts: str) -> Html:
    """Return a paragraph in small print: what a figure is of, and what it is not."""
    return tag("p", *parts, class_="note")


def bullets(texts: Iterable[str]) -> Html:
    """Return a list in small print."""
    return tag("ul", *(tag("li", text) for text in texts), class_="note")


def panels(by_measure: Mapping[str, Html]) -> Html:
    """Return one panel for each measure; the page's switch shows one at a time, the first until it is touched."""
    first = next(iter(by_measure), None)
    return html(
        *(
            tag("div", panel, data_measure=name, class_="panel" if name == first else "panel off")
            for name, panel in by_measure.items()
        )
    )


def scrolled(table: Html) -> Html:
    """Return a table that may be wider than the page."""
    return tag("div", table, class_="scrolled", tabindex="0", role="region", aria_label="table")


def cell(*parts: str, value: float | None = None, class_: str | None = None) -> Html:
    """Return a cell of a table; `value` is what it is sorted by."""
    return tag("td", *parts, data_value=None if value is None else f"{value:.9g}", class_=class_)


def share(value: float, digits: int = 3) -> str:
    """Write a share of 1 without its leading zero, and what is larger with as many figures."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else f"{value:.{digits - 1}f}"


def interval(found: Estimate) -> str:
    """Write the ends of an interval; nothing where none is known."""
    return "" if found.low is None or found.high is None else f"{share(found.low, 2)} to {share(found.high, 2)}"


def figure(value: float) -> str:
    """Write a quantity with about three figures."""
    return f"{value:,.0f}" if value >= _ENOUGH else f"{value:.3g}"


def percent(part: float, whole: float) -> str:
    """Write a part of a whole in per cent; a dash where there is no whole."""
    return f"{100 * part / whole:.0f} %" if whole else NOTHING


def cut(text: str, length: int) -> str:
    """Return a text of at most that many characters, and how many more there were."""
    return text if len(text) <= length else f"{text[:length]} … ({len(text) - length:,} more characters)"
