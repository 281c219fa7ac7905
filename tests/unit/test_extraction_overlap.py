"""Chunks that repeat the end of the one before: every sentence is there, they fit, and they say where they stand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from orienteer.ingest import BlockPlace, BuildConfig, Prose, prose_chunks, read_plain
from orienteer.text import count_tokens

PARAGRAPHS = [f"Ferry {at} sails at dawn. It meets boat {at}." for at in range(20)]
SENTENCES = [f"{sentence}." for one in PARAGRAPHS for sentence in one[:-1].split(". ")]


@pytest.mark.parametrize("overlap", [0, 12, 30])
def test_spans_hold_what_a_chunk_repeats(overlap):
    text = "\n\n".join(PARAGRAPHS)
    found = list(prose_chunks(read_plain(text), BuildConfig(tokens=60, overlap=overlap)))
    assert len(found) > 3
    held = [[one for one in SENTENCES if one in piece.text] for piece in found]
    for piece, here in zip(found, held, strict=True):
        assert piece.tokens <= 60
        assert all(one in text[piece.span.start : piece.span.end] for one in here)
    for (one, before), (other, after) in pairwise(zip(found, held, strict=True)):
        shared = [sentence for sentence in before if sentence in after]
        assert bool(shared) == bool(overlap)
        assert shared == after[: len(shared)] == before[len(before) - len(shared) :]
        assert sum(map(count_tokens, shared)) <= overlap
        assert (other.span.start < one.span.end) == bool(shared)
    assert sorted({one for here in held for one in here}) == sorted(SENTENCES)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=30), st.integers(16, 60), st.data())
def test_without_what_is_repeated_the_words_are_those_of_the_text(lengths, most, data):
    overlap = data.draw(st.integers(0, most // 2))
    words = [[f"w{place}x{at}" for at in range(length)] for place, length in enumerate(lengths)]
    blocks = [Prose(" ".join(["A", *one]) + ".") for one in words]
    found = list(prose_chunks(blocks, BuildConfig(tokens=most, overlap=overlap)))
    assert all(piece.tokens <= most for piece in found)
    seen: dict[str, None] = {}
    for piece in found:
        seen.update(dict.fromkeys(word.strip(".") for word in piece.text.split() if word.strip(".") not in ("A", "")))
    assert list(seen) == [word for one in words for word in one]


def test_a_text_that_fits_is_one_chunk():
    (piece,) = prose_chunks([Prose("One two three. " * 15)], BuildConfig(tokens=60, overlap=30))
    assert piece.tokens == 60


def test_what_is_repeated_is_linked_from_and_to_where_it_stands_first():
    blocks = [
        Prose("One two three four five.", BlockPlace(anchors=("here",)), ("there.md",)),
        Prose("Six seven eight nine ten and eleven twelve. Thirteen fourteen."),
    ]
    first, second, *_ = prose_chunks(blocks, BuildConfig(tokens=16, overlap=8))
    assert second.text.startswith("One two")
    assert (first.links, first.anchors, second.links, second.anchors) == (("there.md",), ("here",), (), ())
