"""Blocks of prose -> chunks: by tokens, or where the text turns to something else (SAGE, section 2.1.A).

Deviations from the paper, each with its reason:
1. A heading begins a new chunk, for what it says of the text below it is kept with the chunk; so does a page.
2. A chunk has a most of tokens, for an embedder reads no further; one that is longer is cut where it coheres least.
3. Chunks of fewer than three sentences join the neighbour that they are more like, as the paper's code has it. The text
   does not say so, its count does: of 17,841 passages of OTT-QA it has 21,912 chunks, where the percentile alone makes
   some 42,300, and this some 24,300.
`faithful` has the third alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.read.blocks import Place, Prose, Span
from orienteer.text.sentences import pieces, split, tokens
from orienteer.text.token_arrays import token_starts

if TYPE_CHECKING:
    from orienteer.protocols import Embedder

WINDOW = 1
"""Sentences on either side of one that its window holds. SAGE, section 2.1.A: windows of three."""
_COUNTED = 1 << 20  # characters whose tokens are counted at once
SMALL = 0.25
"""Sections of fewer tokens than this share of a chunk share one, as far as they fit into it."""


class Sentence(NamedTuple):
    """A sentence, a line of code, or a paragraph that is cut into these where it has to be."""

    text: str
    place: Place
    tokens: int
    joint: str
    """What stands between it and the sentence before it: a space, or the end of a line."""
    links: tuple[str, ...] = ()
    """Of its paragraph; on the first sentence alone."""
    line: int | None = None
    """The line of its file that it begins on."""
    starts: NDArray[np.bool_] | None = None
    """Of a paragraph: the characters that begin a token, (characters,)."""
    is_code: bool = False


def paragraphs(blocks: Iterable[Prose]) -> Iterator[Sentence]:
    """Return a block as a sentence that may be cut. What has no words comes for its links alone."""
    stream = iter(blocks)
    waiting, size = list[Prose](), 0
    for block in stream:
        waiting.append(block)
        size += len(block.text)
        if size > _COUNTED:
            yield from _counted(waiting)
            waiting, size = [], 0
    yield from _counted(waiting)


def _counted(blocks: Sequence[Prose]) -> Iterator[Sentence]:
    starts = token_starts("\n".join(block.text for block in blocks))
    end = -1
    for block in blocks:
        begin, end = end + 1, end + 1 + len(block.text)
        text = block.text.strip("\n")
        if text and not text.isspace():
            before = block.text.find(text)
            line = block.place.line and block.place.line + before
            own = starts[begin + before : begin + before + len(text)]
            count = int(np.count_nonzero(own))
            yield Sentence(text, block.place, count, "\n", block.links, line, own, block.is_code)
        elif block.links:
            yield Sentence("", block.place, 0, "\n", block.links, block.place.line)


def sentences(block: Prose, *, most: int) -> Iterator[Sentence]:
    """Return the sentences of a block; one of more than `most` tokens comes in pieces."""
    for paragraph in paragraphs([block]):
        yield from _cut(paragraph, most)


def _cut(paragraph: Sentence, most: int) -> Iterator[Sentence]:
    """Return the sentences of a paragraph, each of at most `most` tokens."""
    whole, starts = paragraph.text, paragraph.starts
    if starts is None:
        yield paragraph
        return
    links, last, end, line = paragraph.links, 0, 0, paragraph.line
    for part in whole.split("\n") if paragraph.is_code else split(whole):
        begin = whole.find(part, end)
        count = int(np.count_nonzero(starts[begin : begin + len(part)]))
        for piece in (part,) if count <= most else pieces(part, most):
            text = piece if paragraph.is_code else piece.strip()
            if not text.strip():
                continue
            if count > most:
                begin = whole.find(text, end)
            line = line and line + whole.count("\n", last, begin)
            joint = "\n" if not end or paragraph.is_code or "\n" in whole[end:begin] else " "
            last, end = begin, begin + len(text)
            yield Sentence(text, paragraph.place, count if count <= most else tokens(piece), joint, links, line)
            links = ()


class ProseChunk(NamedTuple):
    """A chunk of prose before it is a node."""

    text: str
    headings: tuple[str, ...]
    tokens: int
    page: int | None
    span: Span | None
    links: tuple[str, ...]
    anchors: tuple[str, ...]
    lines: str = ""
    """For each line of its text the line of the file that it begins on, as `3-5,9`; empty where the file has none."""
    is_navigation: bool = False
    inner: tuple[tuple[int, int], ...] = ()
    """The lines of its text that are headings, from 0, each with its depth below `headings`, from 1."""


def prose_chunks(
    blocks: Iterable[Prose], config: BuildConfig, embedder: Embedder | None = None
) -> Iterator[ProseChunk]:
    """Cut prose into chunks, in order: by meaning with an embedder, else by tokens."""
    whole = list(paragraphs(blocks))
    if embedder is None:
        parts = _by_tokens(split_sections(whole, config.tokens), config.tokens, config.overlap)
    else:
        cut = [sentence for paragraph in whole for sentence in _cut(paragraph, config.tokens)]
        parts = _by_meaning(cut, config, embedder)
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
        if sum(sentence.tokens for sentence in section) <= most:
            yield list(section)
            continue
        before: Sequence[Sentence] = ()
        for chunk in _filled(section, most - overlap):
            yield [*_repeated(before, overlap), *chunk]
            before = [sentence for paragraph in chunk for sentence in _cut(paragraph, most)] if overlap else ()


def _repeated(chunk: Sequence[Sentence], most: int) -> list[Sentence]:
    """Return the last sentences of a chunk. Where they lead, and what leads to them, stays with that chunk."""
    size, start = 0, len(chunk)
    while start and size + chunk[start - 1].tokens <= most:
        start -= 1
        size += chunk[start].tokens
    return [sentence._replace(links=(), place=replace(sentence.place, anchors=())) for sentence in chunk[start:]]


def _filled(section: Sequence[Sentence], most: int) -> Iterator[list[Sentence]]:
    """Part the sentences of a section; a paragraph is cut into them only where a chunk may end in it."""
    total = sum(sentence.tokens for sentence in section)
    count = -(-total // most) or 1
    wanted = total / count
    chunk: list[Sentence] = []
    size = 0
    for paragraph in section:
        is_whole = size + paragraph.tokens <= wanted
        for sentence in (paragraph,) if is_whole else _cut(paragraph, most):
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
    # A heading or a page cuts, whatever stands on either side.
    sides = list(map(_side, all_sentences))
    fixed = [at for at in range(1, len(sides)) if sides[at] != sides[at - 1] and not config.faithful]
    cuts = merged(cuts, alike, len(all_sentences), least=config.least_sentences, fixed=fixed)
    for start, end in zip([0, *cuts], [*cuts, len(all_sentences)], strict=True):
        chunk = all_sentences[start:end]
        yield from [list(chunk)] if config.faithful else _fitting(chunk, alike[start : end - 1], config.tokens)


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
    text, lines, inner = _text(part, headings)
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
        inner=inner,
    )


class _Text(NamedTuple):
    text: str
    lines: str
    inner: tuple[tuple[int, int], ...]


def _text(part: Sequence[Sentence], headings: tuple[str, ...]) -> _Text:
    """Return the words of a chunk with the headings in it that not all of it stands beneath, and `ProseChunk`'s
    `lines` and `inner`."""
    words: list[str] = []
    inner: list[tuple[int, int]] = []
    lines: list[int] = []
    above = headings
    for sentence in part:
        path, line = sentence.place.headings, sentence.line or 0
        if path is not above and path != above:
            shared = len(_common([path, above]))
            new = path[shared:]
            inner += ((len(lines) + at, shared + at + 1 - len(headings)) for at in range(len(new)))
            words += [f"\n{heading}" for heading in new]
            lines += [line] * len(new)
            above = path
        begins = 0 if sentence.joint == "\n" or not lines else 1  # its first line goes on where one has begun
        words.append(sentence.joint + sentence.text)
        lines += range(line + begins, line + sentence.text.count("\n") + 1)
    text = "".join(words)
    blank = len(text) - len(text.lstrip("\n "))
    first = text.count("\n", 0, blank) - text.startswith("\n")
    text = text.strip("\n ")
    is_lined = all(sentence.line for sentence in part)
    ranges = _ranges(lines[first : first + text.count("\n") + 1]) if is_lined else ""
    return _Text(text, ranges, tuple((at - first, depth) for at, depth in inner))


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as ranges: `3-5,9`."""
    starts = [at for at, number in enumerate(numbers) if not at or number != numbers[at - 1] + 1]
    ranges = ((numbers[start], numbers[end - 1]) for start, end in pairwise([*starts, len(numbers)]))
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that all of some paths begin with."""
    shortest = min(paths, key=len)
    if all(path is shortest for path in paths):
        return shortest
    for depth, heading in enumerate(shortest):
        if any(path[depth] != heading for path in paths):
            return shortest[:depth]
    return shortest
