"""Why a hit is one, and what could not be done, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.snippet import snippet
from orienteer.records import Ranked
from orienteer.strategies.anchor import english
from orienteer.strategies.anchor.finding import Finding, phrase_of
from orienteer.strategies.anchor.reach import Reached
from orienteer.strategies.anchor.vocabulary import Vocabulary, best_alike

_WORDS_SHOWN = 6
_LOOKED_THROUGH = 2_000  # characters of a text, for the best part to show
_WORDS_SOUGHT = 8  # the rarest; a snippet shows no more


def hits(finding: Finding, graph: Graph, vocabulary: Vocabulary) -> tuple[Ranked, ...]:
    """Return the ranking, with what carries each hit."""
    rows = finding.scores.rows
    words = _matching(finding, graph, vocabulary, rows)
    terms = [term for word in finding.reading.words if not word.is_stop for term in graph.tokenizer.expand(word.text)]
    rarest = sorted(graph.text_index.postings(terms), key=lambda one: -one.idf)[:_WORDS_SOUGHT]
    weights = {one.term: one.idf for one in rarest}
    return tuple(
        Ranked(
            id=graph.ids[row],
            type=graph.type_at(row),
            name=graph.names[row],
            score=score,
            why=_why(finding, graph, row, words[row]),
            text=snippet(graph.texts[row][:_LOOKED_THROUGH], weights, graph.tokenizer.terms_of),
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


def _why(finding: Finding, graph: Graph, row: int, words: list[str]) -> str:
    parts = []
    for at, anchor in enumerate(finding.anchors):
        if any(candidate.row == row for candidate in anchor.candidates):
            parts.append(f"named in the question: {anchor.phrase!r}")
        elif reason := finding.reason(at, row):
            parts.append(_connection(graph, reason, row))
    if words:
        more = f" and {len(words) - _WORDS_SHOWN} more" if len(words) > _WORDS_SHOWN else ""
        parts.append(f"has {', '.join(words[:_WORDS_SHOWN])}{more}")
    return "; ".join(parts)


def _connection(graph: Graph, reason: Reached, row: int) -> str:
    """Return in words how an anchor leads to a node."""
    way, names = reason.way, " or ".join(dict.fromkeys(graph.names[one] for one in reason.start[:2].tolist()))
    if way is None or len(way.kinds) == 1:
        kinds = {int(kind) for one in reason.start.tolist() for kind in graph.adjacency.between(row, one).kind}
        return f"joined to {names} by {phrase_of(sorted(kinds), graph)}"
    edges = ", ".join(phrase_of(kinds, graph) for kinds in way.kinds)
    between = ", ".join(str(graph.types.nodes[one]) for one in way.types[:-1])
    members = int(reason.members[reason.rows.searchsorted(row)])
    return f"reached from {names} over {between} by {edges} ({members} of the last step lead here)"


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
