"""The figures of a graph's similarities as one HTML page: tables 3, 5, 17 to 19 and figures 5 to 13 of SAGE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from markupsafe import Markup

from orienteer.files import replacing
from orienteer.ingest.documents.join.statistics import MOST_COUNTED
from orienteer.page.svg import cloud, distribution, pieces, tally, without_zero

Figures: TypeAlias = Mapping[str, Any]  # Any: JSON; what `statistics` returns


class PaperFigure(NamedTuple):
    """A figure of the paper: its number, and which quantity it draws."""

    number: int
    quantity: str
    """A similarity, two of them with a comma between, or what is counted of chunks or tables."""
    caption: str


class PairPart(NamedTuple):
    """A part of the page: a pair of kinds, with its table of correlations."""

    pair: str
    title: str
    table: int
    figures: tuple[PaperFigure, ...]


class FigureTable(NamedTuple):
    """A table of the paper; the first cell of each row is its name."""

    number: int
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


class PairFigures(NamedTuple):
    """What a part of the page shows; nothing but its title where there are no pairs."""

    title: str
    pictures: Sequence[tuple[PaperFigure, Markup]] = ()
    lacks_events: bool = False
    correlations: FigureTable | None = None


PARTS = (
    PairPart("table-table", "Tables and tables", 17, (
        PaperFigure(5, "column", "Likeness of columns"),
        PaperFigure(5, "entities per table", "Names in a table segment"),
        PaperFigure(6, "description", "Likeness of descriptions"),
        PaperFigure(6, "title", "Likeness of titles"),
        PaperFigure(7, "title, column", "Columns and titles"),
        PaperFigure(7, "column, description", "Columns and descriptions"),
        PaperFigure(7, "title, description", "Titles and descriptions"),
    )),
    PairPart("chunk-chunk", "Chunks and chunks", 18, (
        PaperFigure(8, "entities per chunk", "Names in a chunk"),
        PaperFigure(8, "events per chunk", "Events in a chunk"),
        PaperFigure(9, "topic", "Likeness of topics"),
        PaperFigure(9, "content", "Likeness of contents"),
        PaperFigure(10, "topic, content", "Contents and topics"),
    )),
    PairPart("table-chunk", "Tables and chunks", 19, (
        PaperFigure(11, "title", "Likeness of topics and titles"),
        PaperFigure(11, "summary", "Likeness of topics and descriptions"),
        PaperFigure(12, "column", "Likeness of contents and columns"),
        PaperFigure(12, "entities per table", "Names in a table segment"),
        PaperFigure(13, "title, summary", "Topics with titles and with descriptions"),
        PaperFigure(13, "column, summary", "Columns, and topics with descriptions"),
        PaperFigure(13, "title, column", "Columns, and topics with titles"),
    )),
)  # fmt: skip


def write_plots(figures: Figures, path: Path, *, title: str) -> None:
    """Write the page, there whole or not at all; it loads nothing and needs no network."""
    with replacing(path) as page:
        page.writelines(page_of(figures, title=title))


def page_of(figures: Figures, *, title: str) -> Iterator[str]:
    """Return the page, piece by piece. The figures have to be those of measured pairs."""
    counts = {name.replace("-", " and "): count for name, count in figures["candidates"].items() if count}
    return pieces(
        __package__ or __name__,
        "plots.html",
        style="plots.css",
        title=f"Similarities of {title}",
        nodes=figures["nodes"],
        candidates=", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none",
        tables=(_edges(figures), _means(figures)),
        parts=[_part(figures, part) for part in PARTS],
    )


def _part(figures: Figures, part: PairPart) -> PairFigures:
    if not figures["candidates"][part.pair]:
        return PairFigures(part.title)
    drawn = ((figure, _picture(figures, part.pair, figure.quantity)) for figure in part.figures)
    pictures = [(figure, picture) for figure, picture in drawn if picture is not None]
    values = figures["correlations"][part.pair]
    rows = [(name, *map(_share, by_name.values())) for name, by_name in values.items()]
    correlations = FigureTable(part.table, "Correlations", ("", *values), rows)
    return PairFigures(part.title, pictures, len(pictures) < len(part.figures), correlations)


def _picture(figures: Figures, pair: str, quantity: str) -> Markup | None:
    """Draw a quantity of a pair of kinds; None if no model wrote the events that it counts."""
    what, is_count, kind = quantity.partition(" per ")
    first, both, second = quantity.partition(", ")
    if is_count:
        counts = figures["counts"].get(what, {}).get(kind)
        noun = "names" if what == "entities" else what
        return tally(counts, noun, kind=f"{kind}s", most=MOST_COUNTED) if counts else None
    if both:
        return cloud(figures["joint"][pair][quantity], first, second)
    threshold = figures["thresholds"][pair].get(quantity)
    return distribution(figures["histograms"][pair][quantity], quantity, threshold=threshold)


def _edges(figures: Figures) -> FigureTable:
    rows = [
        (
            f"{row['percentile']} {row['logic'].upper()}", f"{row['edges']:,}", f"{row['share']:.1%}",
            f"{row['mean_degree']:.1f}", f"{row['density']:.4f}",
        )
        for row in figures["percentiles"]
    ]  # fmt: skip
    header = ("", "edges", "of candidates", "mean degree", "density")
    return FigureTable(5, "Edges by percentile and logic", header, rows)


def _means(figures: Figures) -> FigureTable:
    means: Mapping[str, Mapping[str, float]] = {
        pair: values for pair, values in figures["means"].items() if figures["candidates"][pair]
    }
    names = dict.fromkeys(name for values in means.values() for name in values)
    rows = [(name, *(_share(values.get(name)) for values in means.values())) for name in names]
    return FigureTable(3, "Mean similarity by pair", ("", *means), rows)


def _share(value: float | None) -> str:
    return "" if value is None else without_zero(f"{value:.3f}")
