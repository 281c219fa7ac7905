"""Prose to sentences to chunks: every word is kept, chunks fit, and meaning cuts where the definition says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from orienteer.errors import BadOption
from orienteer.ingest import (
    BlockPlace,
    BuildConfig,
    Prose,
    TextSpan,
    block_sentences,
    chunk_boundaries,
    merged_cuts,
    prose_chunks,
    sentence_windows,
)
from orienteer.records import Usage
from orienteer.text import count_tokens, split_sentences, token_starts


@given(st.text(st.sampled_from("abcdefghiABÄé²12345٣_ .,-\n\t日本かハ\u0301"), max_size=60) | st.text(max_size=20))
@example("internationalisation__123456789 日本、e\u0301")
def test_tokens_begin_where_they_are_counted(text):
    assert token_starts(text).sum() == count_tokens(text)


class Axes:
    """Embeds a text as how often it has each of a few words: what is alike is known by hand."""

    name = fingerprint = "axes"
    usage = Usage()
    concurrency = 1

    def __init__(self, *words):
        self.words = words
        self.seen = []

    def embed(self, texts, *, kind):
        self.seen += texts
        counts = np.array([[text.split().count(word) for word in self.words] for text in texts], np.float32)
        return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)

    def parts(self, text):
        return (text,)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Who met J. R. R. Tolkien. He left.", ["Dr. Who met J. R. R. Tolkien.", "He left."]),
        ("It costs 3.5 p. c. of that, e.g. much. Yes.", ["It costs 3.5 p. c. of that, e.g. much.", "Yes."]),
        ('He said "no." Then he "went." Off.', ['He said "no."', 'Then he "went."', "Off."]),
        ("これは文です。次の文です。", ["これは文です。", "次の文です。"]),
        ("Wait... what? ok", ["Wait... what? ok"]),
        ("", []),
    ],
)
def test_sentences(text, parts):
    assert list(split_sentences(text)) == parts


@given(st.text(alphabet="aB. !?\n", max_size=200))
def test_no_word_is_lost_between_sentences(text):
    assert " ".join(split_sentences(text)).split() == text.split()


@pytest.mark.parametrize(
    ("text", "count"), [("one two", 2), ("incomprehensible", 2), ("a, b.", 4), ("12345", 2), ("東京都", 3), ("", 0)]
)
def test_tokens(text, count):
    assert count_tokens(text) == count


def test_a_sentence_of_too_many_tokens_comes_in_pieces_between_words():
    words = [f"word{number}" for number in range(100)]
    found = list(block_sentences(Prose(" ".join(words)), most=20))
    assert all(one.tokens <= 20 for one in found)
    assert " ".join(one.text for one in found).split() == words


def test_a_word_without_end_is_cut_too():
    found = list(block_sentences(Prose("x" * 5_000), most=64))
    assert "".join(one.text for one in found) == "x" * 5_000
    assert all(one.tokens <= 64 for one in found)


PARAGRAPHS = st.lists(
    st.tuples(st.sampled_from(["", "A", "B"]), st.lists(st.sampled_from(["ox", "cow.", "Pig", "hen!"]), min_size=1)),
    min_size=1,
    max_size=12,
)


@given(PARAGRAPHS, st.integers(16, 40))
def test_chunks_by_tokens_keep_every_word_and_fit(paragraphs, most):
    blocks = [
        Prose(" ".join(words), BlockPlace((heading,) if heading else (), span=TextSpan(at * 10, at * 10 + 9)))
        for at, (heading, words) in enumerate(paragraphs)
    ]
    found = list(prose_chunks(blocks, BuildConfig(tokens=most)))
    kept = [word for chunk in found for word in chunk.text.split() if word not in "AB"]
    assert kept == [word for _, words in paragraphs for word in words]
    assert all(chunk.tokens <= most for chunk in found)
    assert found[0].span.start == 0
    assert found[-1].span.end == blocks[-1].place.span.end


@pytest.mark.parametrize("blank", [" ", "\t", "\n"])
def test_a_long_line_is_cut_between_its_cells(blank):
    cells = [f"{number:08}" for number in range(100)]
    chunks = prose_chunks([Prose(blank.join(cells))], BuildConfig(tokens=17))
    assert [word for chunk in chunks for word in chunk.text.split()] == cells


def test_a_long_section_is_cut_evenly_and_a_new_one_begins_a_chunk():
    long = Prose(" ".join(["Nine words make up this one very plain sentence."] * 30), BlockPlace(("Long",)))
    short = Prose("Other words entirely. " * 20, BlockPlace(("Short",)))
    found = list(prose_chunks([long, short], BuildConfig(tokens=100)))
    sizes = [chunk.tokens for chunk in found if chunk.headings == ("Long",)]
    assert len(sizes) == 3
    assert max(sizes) - min(sizes) <= 10
    assert found[3].headings == ("Short",)


def test_small_sections_share_a_chunk_and_keep_their_headings_in_it():
    blocks = [Prose(f"Text {name}.", BlockPlace(("Top", name))) for name in "abc"]
    (chunk,) = prose_chunks(blocks, BuildConfig())
    assert chunk.headings == ("Top",)
    assert chunk.text == "a\nText a.\nb\nText b.\nc\nText c."


def test_windows_are_of_three_sentences_fewer_at_the_ends():
    assert sentence_windows(["a", "b", "c", "d"]) == ["a b", "a b c", "b c d", "c d"]


def test_a_boundary_stands_wherever_likeness_is_no_higher_than_the_percentile():
    alike = np.array([0.9, 0.1, 0.8, 0.7, 0.2, 0.6])
    assert chunk_boundaries(alike, 20) == [2, 5]  # the 20th percentile of these six is 0.2
    assert chunk_boundaries(np.zeros(0), 20) == []


def test_chunks_of_too_few_sentences_join_the_neighbour_that_they_are_more_like():
    alike = np.array([0.9, 0.1, 0.3, 0.9, 0.9])
    assert merged_cuts([2, 3], alike, 6, least=3) == [
        3
    ]  # sentence 2 is less like 1 than like 3, but two is too few as well
    assert merged_cuts([2, 3], alike, 6, least=1) == [2, 3]
    assert merged_cuts([1, 2, 3, 4, 5], alike, 6, least=2, fixed=[3]) == [3]


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.integers(1, 5), st.sets(st.integers(1, 20), max_size=20))
def test_joining_leaves_no_small_chunk_unless_it_is_alone_or_fixed(alike, least, cuts):
    count = len(alike) + 1
    cuts = {cut for cut in cuts if cut < count}
    kept = merged_cuts(cuts, np.array(alike), count, least=least)
    assert set(kept) <= cuts
    sizes = np.diff([0, *kept, count])
    assert len(sizes) == 1 or (sizes >= least).all()


def test_meaning_cuts_where_the_topic_changes():
    text = "cat cat. Cat cat cat. cat Cat. cat now. dog dog. Dog dog dog. dog Dog. dog now."
    text = text.replace("cat ", "Cat cat ").replace("dog ", "Dog dog ")
    (first, second) = prose_chunks([Prose(text)], BuildConfig(), Axes("cat", "dog", "Cat", "Dog"))
    assert "dog" not in first.text.casefold()
    assert "cat" not in second.text.casefold()


def test_a_chunk_of_meaning_that_is_too_long_is_cut_where_it_coheres_least():
    text = " ".join(["Alpha alpha alpha alpha."] * 6 + ["Beta beta beta beta."] * 6)
    found = list(
        prose_chunks([Prose(text)], BuildConfig(tokens=32, percentile=1), Axes("alpha", "beta", "Alpha", "Beta"))
    )
    assert all(chunk.tokens <= 32 for chunk in found)
    assert not any("alpha" in chunk.text and "beta" in chunk.text for chunk in found)
    assert " ".join(chunk.text for chunk in found) == text


@pytest.mark.parametrize("options", [{"tokens": 3}, {"percentile": 0.0}, {"name_share": 0.0}, {"segment_rows": 0}])
def test_options_that_cannot_be_are_refused(options):
    with pytest.raises(BadOption):
        BuildConfig(**options)


def test_faithful_cuts_where_the_percentile_says_and_nowhere_else():
    said = ["ox ox.", "ox.", "cow.", "cow cow.", "pig.", "ox."]
    blocks = [Prose(text, BlockPlace(("A" if at < 3 else "B",))) for at, text in enumerate(said)]
    embedder = Axes("ox", "ox.", "cow", "cow.", "pig.")
    found = list(prose_chunks(blocks, BuildConfig(faithful=True, tokens=16, least_sentences=1), embedder))
    around = sentence_windows(said)
    vectors = embedder.embed(around, kind="document")
    alike = [float(a @ b) for a, b in zip(vectors, vectors[1:], strict=False)]
    cuts = [at + 1 for at, one in enumerate(alike) if one <= np.percentile(alike, 20)]
    sizes = np.diff([0, *cuts, len(said)]).tolist()
    assert [sum(word in {"ox", "ox.", "cow", "cow.", "pig."} for word in one.text.split()) for one in found] == [
        sum(len(text.split()) for text in said[start : start + size])
        for start, size in zip(np.cumsum([0, *sizes[:-1]]).tolist(), sizes, strict=True)
    ]


def test_faithful_leaves_no_chunk_under_three_sentences_and_knows_no_headings_or_lengths():
    said = ["ox ox.", "ox ox.", "ox.", "cow.", "cow cow.", "cow cow.", "cow.", "pig."]
    blocks = [Prose(text, BlockPlace((f"Part {at}",))) for at, text in enumerate(said)]
    found = list(prose_chunks(blocks, BuildConfig(faithful=True, tokens=16), Axes("ox", "ox.", "cow", "cow.", "pig.")))
    # The percentile cuts between ox and cow, and before the pig, which alone is too little for a chunk.
    assert [sum("ox" in word or "cow" in word or "pig" in word for word in one.text.split()) for one in found] == [5, 7]


@pytest.mark.parametrize("embedder", [None, Axes("Slide", "says")])
def test_no_chunk_goes_over_pages(embedder) -> None:
    blocks = [Prose(f"Slide {number} says a little.", BlockPlace(("Deck",), page=number)) for number in range(1, 6)]
    chunks = list(prose_chunks(blocks, BuildConfig(), embedder))
    assert [chunk.page for chunk in chunks] == [1, 2, 3, 4, 5]
