"""The pieces that a report page is put together from, and how it writes figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orienteer.evaluation.scores.table import Estimate
from orienteer.page.markup import Html as Html
from orienteer.page.markup import html as html
from orienteer.page.markup import tag as tag
from orienteer.page.numerals import share


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


def interval(found: Estimate) -> str:
    """Write the ends of an interval; nothing where none is known."""
    return "" if found.low is None or found.high is None else f"{share(found.low, 2)} to {share(found.high, 2)}"
