"""Many texts at once give the words, hashes and numbers that one text at a time gives."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from orienteer.index import WordNumbers, phrase_hash, split_words, word_hash
from orienteer.text import Tokenizer

pytestmark = pytest.mark.slow

TOKENIZER = Tokenizer()
ANY_TEXT = st.text(st.characters(codec=None), max_size=40)
TEXTS = st.lists(st.one_of(ANY_TEXT, st.text("aB1 -é東", max_size=60)), max_size=6)
HASHES = st.lists(st.integers(1, 2**64 - 1), max_size=200)


def split(texts):
    """Return the words of each text as the batch finds them."""
    found = split_words(texts, TOKENIZER)
    assert len(found.firsts) == len(texts) + 1
    every = found.at(np.arange(len(found.starts)))
    return [every[begin:end] for begin, end in zip(found.firsts[:-1], found.firsts[1:], strict=True)]


@settings(max_examples=100)
@given(TEXTS)
def test_a_batch_has_the_words_of_each_text(texts):
    assert split(texts) == [TOKENIZER.words(text) for text in texts]


@settings(max_examples=100)
@given(TEXTS)
def test_a_batch_has_the_hashes_of_each_word_and_phrase(texts):
    found = split_words(texts, TOKENIZER)
    each = [[word_hash(word.encode()) for word in TOKENIZER.words(text)] for text in texts]
    assert found.hashes.tolist() == [value for hashes in each for value in hashes]
    assert found.phrases.tolist() == [phrase_hash(hashes) for hashes in each]
    assert found.texts.tolist() == [at for at, hashes in enumerate(each) for _ in hashes]


def test_words_of_every_length_hash_alike_in_a_batch_and_alone():
    texts = ["x" * length for length in range(1, 70)] + ["é" * length for length in range(1, 40)] + ["y" * 100_000]
    found = split_words([" ".join(texts)], TOKENIZER)
    assert found.hashes.tolist() == [word_hash(text.encode()) for text in texts]
    assert len(set(found.hashes.tolist())) == len(texts)


def test_hashes_are_the_same_in_every_process():
    """They lie in files: were one of these to change, graphs on disk would silently find nothing."""
    assert {word: word_hash(word.encode()) for word in ("a", "graph", "straße", "orienteering")} == STORED
    assert phrase_hash([1, 2, 3]) == STORED_PHRASE


STORED = {
    "a": 17950818911238061606,
    "graph": 8368172433101040040,
    "straße": 12963945257403129719,
    "orienteering": 17299069019850865679,
}
STORED_PHRASE = 9710600203154438174


def test_hashes_of_many_words_do_not_collide():
    many = {word_hash(f"{letter}{number}".encode()) for letter in "abcdefgh" for number in range(20_000)}
    assert len(many) == 160_000
    assert 0 not in many


def test_the_order_of_a_phrase_matters():
    a, b = word_hash(b"a"), word_hash(b"b")
    assert len({phrase_hash(one) for one in ([a], [b], [a, b], [b, a], [a, a], [a, a, b], [])}) == 7


@settings(max_examples=100)
@given(st.lists(HASHES, max_size=4))
def test_a_vocabulary_numbers_words_in_order_of_coming(batches):
    vocabulary, known = WordNumbers(), {}
    for batch in batches:
        numbers, new = vocabulary.number(np.array(batch, np.uint64))
        before = len(known)
        assert [batch[at] for at in new] == sorted(set(batch) - known.keys())  # new words of a batch come by hash
        known.update((batch[at], before + place) for place, at in enumerate(new.tolist()))
        assert numbers.tolist() == [known[one] for one in batch]
        assert all(one not in batch[:at] for at, one in zip(new.tolist(), [batch[at] for at in new], strict=True))
        assert len(vocabulary) == len(known)


def test_a_vocabulary_grows_and_keeps_its_numbers():
    random = np.random.default_rng(7)
    vocabulary, known = WordNumbers(), {}
    low_bits = random.integers(0, 50, 60_000, np.uint64)  # slots collide on purpose
    many = np.concatenate([random.integers(1, 2**63, 150_000, np.uint64), low_bits << np.uint64(40) | np.uint64(1)])
    for batch in np.array_split(random.permutation(many), 5):
        numbers, new = vocabulary.number(batch)
        before = len(known)
        known.update((int(batch[at]), before + place) for place, at in enumerate(new.tolist()))
        assert numbers.tolist() == [known[one] for one in batch.tolist()]
    assert len(vocabulary) == len(known) == len(set(many.tolist()))
    numbers, new = vocabulary.number(many)
    assert not len(new)
    assert numbers.tolist() == [known[one] for one in many.tolist()]


@pytest.mark.parametrize("others", [0, 100])
def test_words_of_any_length_have_the_hash_of_their_bytes(others):
    texts = [*("ab" * length for length in (1, 4, 5, 300, 70_000)), *(f"w{number}" for number in range(others))]
    found = split_words([" ".join(texts), *texts], Tokenizer())
    assert found.hashes.tolist() == [word_hash(text.encode()) for text in [*texts, *texts]]
