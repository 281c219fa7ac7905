"""The figures of a graph's similarities as one HTML page: tables 3, 5, 17 to 19 and figures 5 to 13 of SAGE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from orienteer.files import write_whole
from orienteer.ingest.documents.figures.statistics import MOST_COUNTED
from orienteer.page.markup import Html, html, tag
from orienteer.page.numerals import without_zero
from orienteer.page.svg import cloud, distribution, tally

Figures: TypeAlias = Mapping[str, Any]  # Any: JSON; what `statistics` returns


class Wanted(NamedTuple):
    """A figure of the paper: its number, what it draws of which pair of kinds."""

    number: int
    what: str
    """A similarity, two of them with a comma between, or what is counted of chunks or tables."""
    said: str


class Part(NamedTuple):
    """A part of the page: a pair of kinds, with its table of correlations."""

    pair: str
    title: str
    table: int
    figures: tuple[Wanted, ...]


PARTS = (
    Part("table-table", "Tables and tables", 17, (
        Wanted(5, "column", "Likeness of columns"),
        Wanted(5, "entities per table", "Names in a table segment"),
        Wanted(6, "description", "Likeness of descriptions"),
        Wanted(6, "title", "Likeness of titles"),
        Wanted(7, "title, column", "Columns and titles"),
        Wanted(7, "column, description", "Columns and descriptions"),
        Wanted(7, "title, description", "Titles and descriptions"),
    )),
    Part("chunk-chunk", "Chunks and chunks", 18, (
        Wanted(8, "entities per chunk", "Names in a chunk"),
        Wanted(8, "events per chunk", "Events in a chunk"),
        Wanted(9, "topic", "Likeness of topics"),
        Wanted(9, "content", "Likeness of contents"),
        Wanted(10, "topic, content", "Contents and topics"),
    )),
    Part("table-chunk", "Tables and chunks", 19, (
        Wanted(11, "title", "Likeness of topics and titles"),
        Wanted(11, "summary", "Likeness of topics and descriptions"),
        Wanted(12, "column", "Likeness of contents and columns"),
        Wanted(12, "entities per table", "Names in a table segment"),
        Wanted(13, "title, summary", "Topics with titles and with descriptions"),
        Wanted(13, "column, summary", "Columns, and topics with descriptions"),
        Wanted(13, "title, column", "Columns, and topics with titles"),
    )),
)  # fmt: skip


def write_plots(figures: Figures, path: Path, *, title: str) -> None:
    """Write the page, there whole or not at all; it loads nothing and needs no network."""
    write_whole(path, page_of(figures, title=title))


def page_of(figures: Figures, *, title: str) -> Html:
    """Return the page. The figures have to be those of measured pairs."""
    nodes, candidates = figures["nodes"], figures["candidates"]
    pairs = ", ".join(f"{count:,} {name.replace('-', ' and ')}" for name, count in candidates.items() if count)
    said = (
        f"{nodes['chunk']:,} chunks and {nodes['table']:,} table segments. Everything here is of the candidate pairs "
        f"({pairs or 'none'}), over which the percentiles are taken. Names are counted as they join: those that "
        "stand in two chunks or title one, and in few enough."
    )
    body = tag(
        "main",
        tag("p", "SAGE, tables 3, 5, 17 to 19 and figures 5 to 13", class_="kicker"),
        tag("h1", f"Similarities of {title}"),
        tag("p", said),
        tag("div", _edges(figures), _means(figures), class_="tables"),
        *(_part(figures, part) for part in PARTS),
    )
    style = files(__package__ or __name__).joinpath("plots.css").read_text(encoding="utf-8")
    return Html(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{tag('title', f'Similarities of {title}')}\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _part(figures: Figures, part: Part) -> Html:
    if not figures["candidates"][part.pair]:
        return tag("section", tag("h2", part.title), tag("p", "There are no such pairs.", class_="note"))
    drawn = list(_drawn(figures, part))
    lacking = "" if len(drawn) == len(part.figures) else "No events: they take a model's metadata."
    return tag(
        "section",
        tag("h2", part.title),
        tag("div", *drawn, class_="figures"),
        tag("p", lacking, class_="note") if lacking else html(),
        _correlations(figures["correlations"][part.pair], part.table),
    )


def _drawn(figures: Figures, part: Part) -> Iterator[Html]:
    """Return the figures of a pair of kinds; those of what nobody wrote are left out."""
    for one in part.figures:
        counted, per, kind = one.what.partition(" per ")
        first, both, second = one.what.partition(", ")
        if per:
            counts = figures["counts"].get(counted, {}).get(kind)
            noun = "names" if counted == "entities" else counted
            picture = tally(counts, noun, kind=f"{kind}s", most=MOST_COUNTED) if counts else None
        elif both:
            picture = cloud(figures["joint"][part.pair][one.what], first, second)
        else:
            threshold = figures["thresholds"][part.pair].get(one.what)
            picture = distribution(figures["histograms"][part.pair][one.what], one.what, threshold=threshold)
        if picture is not None:
            yield tag("figure", picture, tag("figcaption", f"{one.said} ", tag("small", f"figure {one.number}")))


def _edges(figures: Figures) -> Html:
    rows = [
        (
            f"{row['percentile']} {row['logic'].upper()}", f"{row['edges']:,}", f"{row['share']:.1%}",
            f"{row['mean_degree']:.1f}", f"{row['density']:.4f}",
        )
        for row in figures["percentiles"]
    ]  # fmt: skip
    return _table("Edges by percentile and logic", 5, ("", "edges", "of candidates", "mean degree", "density"), rows)


def _means(figures: Figures) -> Html:
    means: Mapping[str, Mapping[str, float]] = {
        pair: values for pair, values in figures["means"].items() if figures["candidates"][pair]
    }
    names = dict.fromkeys(name for values in means.values() for name in values)
    rows = [(name, *(_share(values.get(name)) for values in means.values())) for name in names]
    return _table("Mean similarity by pair", 3, ("", *means), rows)


def _correlations(found: Mapping[str, Mapping[str, float]], number: int) -> Html:
    rows = [(name, *(_share(value) for value in values.values())) for name, values in found.items()]
    return _table("Correlations", number, ("", *found), rows)


def _table(title: str, number: int, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    head = tag("tr", *(tag("th", name, scope="col") for name in header))
    body = (tag("tr", tag("th", first, scope="row"), *(tag("td", cell) for cell in rest)) for first, *rest in rows)
    caption = tag("caption", f"{title} ", tag("small", f"table {number}"))
    return tag("div", tag("table", caption, tag("thead", head), tag("tbody", *body)), class_="scrolled")


def _share(value: float | None) -> str:
    return "" if value is None else without_zero(f"{value:.3f}")
