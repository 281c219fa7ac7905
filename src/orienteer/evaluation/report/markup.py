"""HTML that is safe by construction: whatever is not markup of ours is escaped where it meets markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from orienteer.display import clean
from orienteer.evaluation.table import Estimate

NOTHING = "–"
_ENOUGH = 100  # from here on, a figure without decimals says enough


class Html(str):
    """Markup. Any other text is other people's: `html` and `tag` escape it."""

    __slots__ = ()


def html(*parts: str) -> Html:
    """Join markup and texts; texts are escaped, and lose what would steer a reader's terminal or direction."""
    return Html("".join(part if isinstance(part, Html) else escape(clean(part)) for part in parts))


def tag(name: str, *parts: str, **attributes: str | float | None) -> Html:
    """Return an element around markup and texts.

    `class_` is written as class, `data_x` as data-x; an attribute that is None is left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>{html(*parts)}</{name}>")


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
