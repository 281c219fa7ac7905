"""Blocks of prose -> chunks: by tokens, or where the text turns to something else (SAGE, section 2.1.A).

Deviations from the paper, each with its reason:
1. A heading begins a new chunk, for what it says of the text below it is kept with the chunk; so does a page.
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
from orienteer.ingest.documents.read.blocks import Place, Prose, Span
from orienteer.text.sentences import pieces, split, tokens

if TYPE_CHECKING:
    from orienteer.protocols import Embedder

WINDOW = 1
"""Sentences on either side of one that its window holds. SAGE, section 2.1.A: windows of three."""
SMALL = 0.25
"""Sections of fewer tokens than this share of a chunk share one, as far as they fit into it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or a line of code."""

    text: str
    place: Place
    tokens: int
    joint: str
    """What stands between it and the sentence before it: a space, or the end of a line."""
    links: tuple[str, ...] = ()
    """Of its paragraph; on the first sentence alone."""


def sentences(block: Prose, *, most: int) -> Iterator[Sentence]:
    """Return the sentences of a block; one of more than `most` tokens comes in pieces."""
    parts = block.text.split("\n") if block.is_code else list(split(block.text))
    is_first, last, end, lines = True, 0, 0, 0
    for part in parts:
        for piece in pieces(part, most):
            text = piece if block.is_code else piece.strip()
            if not text.strip():
                continue
            begin = block.text.find(text, end)
            lines += block.text.count("\n", last, begin)
            joint = "\n" if is_first or block.is_code or "\n" in block.text[end:begin] else " "
            last, end = begin, begin + len(text)
            links = block.links if is_first else ()
            yield Sentence(text, _further(block.place, lines), tokens(piece), joint, links)
            is_first = False
    if is_first and block.links:
        yield Sentence("", block.place, 0, "\n", block.links)


def _further(place: Place, lines: int) -> Place:
    """Return a place so many lines further down."""
    return replace(place, line=place.line + lines) if lines and place.line is not None else place


@dataclass(frozen=True, slots=True)
class ProseChunk:
    """A chunk of prose before it is a node."""

    text: str
    headings: tuple[str, ...]
    tokens: int
    page: int | None
    span: Span | None
    links: tuple[str, ...]
    anchors: tuple[str, ...]
    lines: tuple[int, ...] = ()
    """For each line of its text the line of the file that it begins on; empty where the file has no lines."""
    is_navigation: bool = False


def prose_chunks(
    blocks: Iterable[Prose], config: BuildConfig, embedder: Embedder | None = None
) -> Iterator[ProseChunk]:
    """Cut prose into chunks, in order: semantically where there is an embedder, else by tokens."""
    overlap = config.overlap if embedder is None else 0
    all_sentences = [sentence for block in blocks for sentence in sentences(block, most=config.tokens - overlap)]
    if embedder is None:
        parts = _by_tokens(split_sections(all_sentences, config.tokens), config.tokens, overlap)
    else:
        parts = _by_meaning(all_sentences, config, embedder)
    for part in parts:
        yield _prose_chunk(part)


def split_sections(all_sentences: Sequence[Sentence], most: int) -> Iterator[list[Sentence]]:
    """Part sentences by their pages and headings; short sections of a page stay together."""
    waiting: list[Sentence] = []
    waiting_tokens = 0
    for (page, _, is_navigation), group in groupby(all_sentences, key=_side):
        section = list(group)
        size = sum(sentence.tokens for sentence in section)
        is_apart = bool(waiting) and (page, is_navigation) != (waiting[-1].place.page, waiting[-1].place.is_navigation)
        if is_apart or (waiting and (max(waiting_tokens, size) >= most * SMALL or waiting_tokens + size > most)):
            yield waiting
            waiting, waiting_tokens = [], 0
        waiting += section
        waiting_tokens += size
    if waiting:
        yield waiting


def _side(sentence: Sentence) -> tuple[int | None, tuple[str, ...], bool]:
    """Return what all sentences of a section have in common."""
    return sentence.place.page, sentence.place.headings, sentence.place.is_navigation


def _by_tokens(sections: Iterable[Sequence[Sentence]], most: int, overlap: int) -> Iterator[list[Sentence]]:
    """Fill chunks with sentences; a section's chunks are about equally long, so that none is a mere rest.

    Each but the first of a section begins with the last sentences of the one before, as many as the overlap holds.
    """
    for section in sections:
        before: Sequence[Sentence] = ()
        is_one = sum(sentence.tokens for sentence in section) <= most
        for chunk in _filled(section, most if is_one else most - overlap):
            yield [*_repeated(before, overlap), *chunk]
            before = chunk


def _repeated(chunk: Sequence[Sentence], most: int) -> list[Sentence]:
    """Return the last sentences of a chunk. Where they lead, and what leads to them, stays with that chunk."""
    size, start = 0, len(chunk)
    while start and size + chunk[start - 1].tokens <= most:
        start -= 1
        size += chunk[start].tokens
    return [replace(sentence, links=(), place=replace(sentence.place, anchors=())) for sentence in chunk[start:]]


def _filled(section: Sequence[Sentence], most: int) -> Iterator[list[Sentence]]:
    total = sum(sentence.tokens for sentence in section)
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


def _by_meaning(all_sentences: Sequence[Sentence], config: BuildConfig, embedder: Embedder) -> Iterator[list[Sentence]]:
    if not all_sentences:
        return
    alike = adjacent(windows([sentence.text for sentence in all_sentences]), embedder)
    cuts = boundaries(alike, config.percentile)
    if config.faithful:
        yield from (
            list(all_sentences[start:end]) for start, end in zip([0, *cuts], [*cuts, len(all_sentences)], strict=True)
        )
        return
    # A heading or a page cuts, whatever stands on either side.
    sides = list(map(_side, all_sentences))
    fixed = [at for at in range(1, len(sides)) if sides[at] != sides[at - 1]]
    cuts = merged(cuts, alike, len(all_sentences), least=config.least_sentences, fixed=fixed)
    for start, end in zip([0, *cuts], [*cuts, len(all_sentences)], strict=True):
        yield from _fitting(all_sentences[start:end], alike[start : end - 1], config.tokens)


def windows(texts: Sequence[str]) -> list[str]:
    """Return each sentence with its neighbours, fewer at the ends."""
    return [" ".join(texts[max(0, at - WINDOW) : at + WINDOW + 1]) for at in range(len(texts))]


def adjacent(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float64]:
    """Return the cosine of each text and the next: (texts - 1,)."""
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
    bounds = sorted({*cuts, *stays})
    at = 0
    while at <= len(bounds):
        start, end = bounds[at - 1] if at else 0, bounds[at] if at < len(bounds) else count
        sides = [side for side in (at - 1, at) if 0 <= side < len(bounds) and bounds[side] not in stays]
        if end - start >= least or not sides:
            at += 1
            continue
        del bounds[max(sides, key=lambda side: (alike[bounds[side] - 1], -side))]
        at = max(0, at - 1)
    return bounds


def _fitting(chunk: Sequence[Sentence], alike: NDArray[Any], most: int) -> Iterator[list[Sentence]]:
    """Cut a chunk of too many tokens where it coheres least, and again what is still too long."""
    waiting = [(0, len(chunk))]
    while waiting:
        start, end = waiting.pop()
        if end - start == 1 or sum(sentence.tokens for sentence in chunk[start:end]) <= most:
            yield list(chunk[start:end])
            continue
        inner = alike[start : end - 1]
        cut = start + 1 + int(np.argmin(inner))
        waiting += [(cut, end), (start, cut)]


def _prose_chunk(part: Sequence[Sentence]) -> ProseChunk:
    first = part[0].place
    spans = [sentence.place.span for sentence in part if sentence.place.span is not None]
    headings = _common([sentence.place.headings for sentence in part])
    text, lines = _text(part, headings)
    return ProseChunk(
        text=text,
        headings=headings,
        tokens=sum(sentence.tokens for sentence in part),
        page=first.page,
        span=Span(min(span.start for span in spans), max(span.end for span in spans)) if spans else None,
        links=tuple(dict.fromkeys(link for sentence in part for link in sentence.links)),
        anchors=tuple(dict.fromkeys(anchor for sentence in part for anchor in sentence.place.anchors)),
        lines=lines,
        is_navigation=first.is_navigation,
    )


def _text(part: Sequence[Sentence], headings: tuple[str, ...]) -> tuple[str, tuple[int, ...]]:
    """Return the words of a chunk, with the headings in it that not all of it stands beneath; and its lines' lines."""
    words: list[str] = []
    lines: list[int] = []
    above = headings
    for sentence in part:
        path, line = sentence.place.headings, sentence.place.line or 0
        if path != above:
            inner = path[len(_common([path, above])) :]
            words += [f"\n{heading}" for heading in inner]
            lines += [line] * len(inner)
            above = path
        begins = 0 if sentence.joint == "\n" or not lines else 1  # its first line goes on where one has begun
        words.append(sentence.joint + sentence.text)
        lines += range(line + begins, line + sentence.text.count("\n") + 1)
    text = "".join(words)
    blank = len(text) - len(text.lstrip("\n "))
    first = text.count("\n", 0, blank) - text.startswith("\n")
    text = text.strip("\n ")
    is_lined = all(sentence.place.line for sentence in part)
    return text, tuple(lines[first : first + text.count("\n") + 1]) if is_lined else ()


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that all of some paths begin with."""
    shortest = min(paths, key=len)
    for depth, heading in enumerate(shortest):
        if any(path[depth] != heading for path in paths):
            return shortest[:depth]
    return shortest
