"""Blocks of prose -> chunks: by tokens, or where the text turns to something else (SAGE, section 2.1.A).

Deviations from the paper, each with its reason:
1. A heading begins a new chunk, for what it says of the text below it is kept with the chunk.
2. A chunk has a most of tokens, for an embedder reads no further; one that is longer is cut where it coheres least.
3. Chunks of fewer than three sentences join the neighbour that they are more like, as the paper's code has it.
`faithful` has none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.cut.sentences import Sentence, sentences
from orienteer.ingest.documents.read.blocks import Prose, Span

if TYPE_CHECKING:
    from orienteer.protocols import Embedder

WINDOW = 1
"""Sentences on either side of one that its window holds. SAGE, section 2.1.A: windows of three."""
SMALL = 0.25
"""Sections of fewer tokens than this share of a chunk share one, as far as they fit into it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk of prose before it is a node."""

    text: str
    headings: tuple[str, ...]
    tokens: int
    page: int | None
    span: Span | None
    links: tuple[str, ...]
    anchors: tuple[str, ...]


def pieces(blocks: Iterable[Prose], config: BuildConfig, embedder: Embedder | None = None) -> Iterator[Piece]:
    """Cut prose into chunks, in order: semantically where there is an embedder, else by tokens."""
    overlap = config.overlap if embedder is None else 0
    found = [sentence for block in blocks for sentence in sentences(block, most=config.tokens - overlap)]
    if embedder is None:
        parts = _by_tokens(_sections(found, config.tokens), config.tokens, overlap)
    else:
        parts = _by_meaning(found, config, embedder)
    for part in parts:
        yield _piece(part)


def _sections(found: Sequence[Sentence], most: int) -> Iterator[list[Sentence]]:
    """Part sentences by their headings; short sections stay together."""
    waiting: list[Sentence] = []
    held = 0
    for _, group in groupby(found, key=lambda one: one.place.headings):
        section = list(group)
        size = sum(one.tokens for one in section)
        if waiting and (max(held, size) >= most * SMALL or held + size > most):
            yield waiting
            waiting, held = [], 0
        waiting += section
        held += size
    if waiting:
        yield waiting


def _by_tokens(sections: Iterable[Sequence[Sentence]], most: int, overlap: int) -> Iterator[list[Sentence]]:
    """Fill chunks with sentences; a section's chunks are about equally long, so that none is a mere rest.

    Each but the first of a section begins with the last sentences of the one before, as many as the overlap holds.
    """
    for section in sections:
        before: Sequence[Sentence] = ()
        is_one = sum(one.tokens for one in section) <= most
        for chunk in _filled(section, most if is_one else most - overlap):
            yield [*_repeated(before, overlap), *chunk]
            before = chunk


def _repeated(chunk: Sequence[Sentence], most: int) -> list[Sentence]:
    """Return the last sentences of a chunk. Where they lead, and what leads to them, stays with that chunk."""
    size, start = 0, len(chunk)
    while start and size + chunk[start - 1].tokens <= most:
        start -= 1
        size += chunk[start].tokens
    return [replace(one, links=(), place=replace(one.place, anchors=())) for one in chunk[start:]]


def _filled(section: Sequence[Sentence], most: int) -> Iterator[list[Sentence]]:
    total = sum(one.tokens for one in section)
    count = -(-total // most) or 1
    wanted = total / count
    chunk: list[Sentence] = []
    size = 0
    for sentence in section:
        if chunk and (size + sentence.tokens > most or size + sentence.tokens / 2 > wanted):
            yield chunk
            chunk, size = [], 0
        chunk.append(sentence)
        size += sentence.tokens
    if chunk:
        yield chunk


def _by_meaning(found: Sequence[Sentence], config: BuildConfig, embedder: Embedder) -> Iterator[list[Sentence]]:
    if not found:
        return
    alike = adjacent(windows([one.text for one in found]), embedder)
    cuts = boundaries(alike, config.percentile)
    if config.faithful:
        yield from (list(found[start:end]) for start, end in zip([0, *cuts], [*cuts, len(found)], strict=True))
        return
    # A heading cuts, whatever stands on either side.
    fixed = [at for at in range(1, len(found)) if found[at].place.headings != found[at - 1].place.headings]
    cuts = merged(cuts, alike, len(found), least=config.least_sentences, fixed=fixed)
    for start, end in zip([0, *cuts], [*cuts, len(found)], strict=True):
        yield from _fitting(found[start:end], alike[start : end - 1], config.tokens)


def windows(texts: Sequence[str]) -> list[str]:
    """Return each sentence with its neighbours, fewer at the ends."""
    return [" ".join(texts[max(0, at - WINDOW) : at + WINDOW + 1]) for at in range(len(texts))]


def adjacent(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float64]:
    """Return the cosine of each text and the one after it."""
    if len(texts) < 2:
        return np.zeros(0)
    vectors = np.asarray(embedder.embed(texts, kind="document"), np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.where(lengths > 0, lengths, 1.0)
    return np.asarray((vectors[:-1] * vectors[1:]).sum(axis=1))


def boundaries(alike: NDArray[np.float64], percentile: float) -> list[int]:
    """Return where new chunks begin: after every sentence no more like the next than this percentile of all."""
    if not len(alike):
        return []
    threshold = np.percentile(alike, percentile)
    return [int(at) + 1 for at in np.flatnonzero(alike <= threshold)]


def merged(
    cuts: Iterable[int], alike: NDArray[np.float64], count: int, *, least: int, fixed: Iterable[int] = ()
) -> list[int]:
    """Leave out cuts until every chunk has `least` sentences, the one between the more alike first.

    Cuts that are `fixed` stay, so that a section shorter than that remains a chunk of its own.
    """
    stays = set(fixed)
    kept = sorted({*cuts, *stays})
    at = 0
    while at <= len(kept):
        start, end = kept[at - 1] if at else 0, kept[at] if at < len(kept) else count
        sides = [side for side in (at - 1, at) if 0 <= side < len(kept) and kept[side] not in stays]
        if end - start >= least or not sides:
            at += 1
            continue
        del kept[max(sides, key=lambda side: (alike[kept[side] - 1], -side))]
        at = max(0, at - 1)
    return kept


def _fitting(chunk: Sequence[Sentence], alike: NDArray[Any], most: int) -> Iterator[list[Sentence]]:
    """Cut a chunk of too many tokens where it coheres least, and again what is still too long."""
    waiting = [(0, len(chunk))]
    while waiting:
        start, end = waiting.pop()
        if end - start == 1 or sum(one.tokens for one in chunk[start:end]) <= most:
            yield list(chunk[start:end])
            continue
        inner = alike[start : end - 1]
        cut = start + 1 + int(np.argmin(inner))
        waiting += [(cut, end), (start, cut)]


def _piece(part: Sequence[Sentence]) -> Piece:
    first = part[0].place
    spans = [one.place.span for one in part if one.place.span is not None]
    headings = _common([one.place.headings for one in part])
    return Piece(
        text=_text(part, headings),
        headings=headings,
        tokens=sum(one.tokens for one in part),
        page=first.page,
        span=Span(min(one.start for one in spans), max(one.end for one in spans)) if spans else None,
        links=tuple(dict.fromkeys(link for one in part for link in one.links)),
        anchors=tuple(dict.fromkeys(anchor for one in part for anchor in one.place.anchors)),
    )


def _text(part: Sequence[Sentence], headings: tuple[str, ...]) -> str:
    """Return the words of a chunk, with the headings in it that not all of it stands beneath."""
    words: list[str] = []
    above = headings
    for one in part:
        path = one.place.headings
        if path != above:
            inner = path[len(_common([path, above])) :]
            words += [f"\n{heading}" for heading in inner]
            above = path
        words.append(one.joint + one.text)
    return "".join(words).strip("\n ")


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that all of some paths begin with."""
    shortest = min(paths, key=len)
    for depth, heading in enumerate(shortest):
        if any(path[depth] != heading for path in paths):
            return shortest[:depth]
    return shortest
