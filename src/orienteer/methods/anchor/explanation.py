"""Why a hit is one, and what could not be done, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from orienteer.agents.hits import source_of
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.methods.anchor.finding import Finding, phrase_of
from orienteer.methods.anchor.reach import Reached, Way
from orienteer.methods.anchor.vocabulary import Vocabulary, best_alike
from orienteer.records import Ranked
from orienteer.text import english
from orienteer.text.snippet import snippet

_WORDS_SHOWN = 6
_LOOKED_THROUGH = 2_000  # characters of a text, for the best part to show
_WORDS_SOUGHT = 8  # the rarest; a snippet shows no more


def hits(finding: Finding, graph: Graph, vocabulary: Vocabulary) -> tuple[Ranked, ...]:
    """Return the ranking, with what carries each hit."""
    rows = finding.scores.rows
    words = _matching(finding, graph, vocabulary, rows)
    joined = [_connections(finding, graph, at, rows) for at in range(len(finding.anchors))]
    terms = [term for word in finding.reading.words if not word.is_stop for term in graph.tokenizer.expand(word.text)]
    rarest = sorted(graph.text_index.postings(terms), key=lambda one: -one.idf)[:_WORDS_SOUGHT]
    weights = {one.term: one.idf for one in rarest}
    return tuple(
        Ranked(
            id=graph.ids[row],
            type=graph.type_at(row),
            name=graph.names[row],
            score=score,
            why=_why(finding, row, joined, words[row]),
            text=snippet(graph.texts[row][:_LOOKED_THROUGH], weights, graph.tokenizer.terms_of),
            source=source_of(graph, row),
        )
        for row, score in zip(rows.tolist(), finding.scores.scores.tolist(), strict=True)
    )


def _matching(finding: Finding, graph: Graph, vocabulary: Vocabulary, rows: Rows) -> dict[int, list[str]]:
    """Return by row the question's words that it has, in their order."""
    ascending = np.sort(rows)
    found: dict[int, list[str]] = {int(row): [] for row in rows}
    for word in dict.fromkeys(word.text for word in finding.reading.words if not word.is_stop):
        posting = vocabulary.posting(word)
        if posting is not None:
            for row in graph.text_index.having(posting, ascending).tolist():
                found[row].append(word)
    return found


def _why(finding: Finding, row: int, joined: Sequence[Mapping[int, str]], words: list[str]) -> str:
    parts = []
    for anchor, connections in zip(finding.anchors, joined, strict=True):
        if any(candidate.row == row for candidate in anchor.candidates):
            parts.append(f"named in the question: {anchor.phrase!r}")
        elif row in connections:
            parts.append(connections[row])
    if words:
        more = f" and {len(words) - _WORDS_SHOWN} more" if len(words) > _WORDS_SHOWN else ""
        parts.append(f"has {', '.join(words[:_WORDS_SHOWN])}{more}")
    return "; ".join(parts)


def _connections(finding: Finding, graph: Graph, at: int, rows: NDArray[np.int32]) -> dict[int, str]:
    """Return by row, in words, how an anchor leads to a node; without those that it does not lead to."""
    found: dict[int, str] = {}
    joined: dict[bytes, list[str]] = {}  # by the nodes that a way starts from
    for place, (row, reason) in enumerate(zip(rows.tolist(), finding.reasons(at, rows), strict=True)):
        if reason is None:
            continue
        if reason.way is not None and len(reason.way.kinds) > 1:
            found[row] = _walked(graph, reason, reason.way, row)
            continue
        start = reason.start.tobytes()
        if start not in joined:
            joined[start] = _joined(graph, reason.start, rows)
        found[row] = joined[start][place]
    return found


def _joined(graph: Graph, start: Rows, rows: NDArray[np.int32]) -> list[str]:
    """Return in words, for each of some rows, by which edges it is joined to the nodes that a way starts from."""
    entries = graph.adjacency.entries(start)
    neighbor, kind = entries.neighbor, entries.kind
    if len(start) > 1:  # the edges of a single node are sorted by their other ends
        order = np.argsort(neighbor, kind="stable")
        neighbor, kind = neighbor[order], kind[order]
    lows, highs = neighbor.searchsorted(rows).tolist(), neighbor.searchsorted(rows, side="right").tolist()
    names = _names(graph, start)
    return [
        f"joined to {names} by {phrase_of(sorted(set(kind[low:high].tolist())), graph)}"
        for low, high in zip(lows, highs, strict=True)
    ]


def _walked(graph: Graph, reason: Reached, way: Way, row: int) -> str:
    edges = ", ".join(phrase_of(kinds, graph) for kinds in way.kinds)
    between = ", ".join(str(graph.types.nodes[one]) for one in way.types[:-1])
    members = int(reason.members[np.flatnonzero(reason.rows == row)[0]])
    return (
        f"reached from {_names(graph, reason.start)} over {between} by {edges} ({members} of the last step lead here)"
    )


def _names(graph: Graph, start: Rows) -> str:
    return " or ".join(dict.fromkeys(graph.names[one] for one in start[:2].tolist()))


def notes(finding: Finding, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return what was read otherwise than it is written, and what is named but not there."""
    read_as = [f"read {one.phrase!r} as {one.read_as!r}" for one in finding.anchors if one.read_as is not None]
    return (*read_as, *(f"not in this graph: {name!r}" for name in absent(finding, vocabulary)))


def absent(finding: Finding, vocabulary: Vocabulary) -> list[str]:
    """Return the names in the question that no node has: quoted, capitalised, or words that the graph lacks."""
    reading = finding.reading
    free = {place for place in range(len(reading.words))} - set(finding.wanted.kinds_at)
    free -= {place for anchor in finding.anchors for place in anchor.words}
    named = [place in free and _is_name(finding, vocabulary, place) for place in range(len(reading.words))]
    return list(dict.fromkeys(reading.surface(first, last) for first, last in _runs(named, finding)))


def _is_name(finding: Finding, vocabulary: Vocabulary, place: int) -> bool:
    reading = finding.reading
    word = reading.words[place]
    if word.is_quoted:
        return True
    if word.text in english.NO_NAMES or (word.is_stop and len(word.text) == 1):
        return False
    if reading.is_written_as_name(place):
        return True
    is_unknown = vocabulary.posting(word.text) is None
    if word.is_stop or not is_unknown or best_alike(word.stem, vocabulary.edge_words):
        return False
    is_symbol = not word.text.isalpha() and not word.text.isdigit()
    follows_kind = place - 1 in finding.wanted.kinds_at
    return is_symbol or follows_kind or not finding.anchors


def _runs(marks: list[bool], finding: Finding) -> Iterator[tuple[int, int]]:
    """Return where marked words stand together, commas apart."""
    first: int | None = None
    for place, mark in enumerate([*marks, False]):
        breaks = not mark or (first is not None and finding.reading.words[place].after_comma)
        if first is not None and breaks:
            yield first, place
            first = None
        if mark and first is None:
            first = place
