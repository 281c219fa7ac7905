"""Words and terms of texts in any script."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings, strategies as st

from fakes.inside import inside
from orienteer.graph import Graph, GraphBuilder
from orienteer.records import Node
from orienteer.text import Tokenizer, telling_words

TOKENIZER = Tokenizer()
ANY_TEXT = st.text(st.characters(codec=None), max_size=30)  # lone surrogates and unassigned characters too


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []), ("  \t\n", []), ("?!-_()", []), ("\U0001f9ec\U0001f600", []), ("\0", []),
        ("Night-Ferry: the_film (1998)", ["night", "ferry", "the", "film", "1998"]),
        ("Straße STRASSE ẞ", ["strasse", "strasse", "ss"]),
        ("ﬁlm ﬂow ﬃ", ["film", "flow", "ffi"]),
        ("Ⅻ ² ½ ℌ ①", ["xii", "2", "1", "2", "h", "1"]),
        ("ＡＢＣ１２３", ["abc123"]),
        ("cafe\u0301 CAFÉ café", ["café", "café", "café"]),
        ("ΣΊΣΥΦΟΣ Σίσυφος", ["σίσυφοσ", "σίσυφοσ"]),
        ("İstanbul", ["i̇stanbul"]), ("ISTANBUL istanbul", ["istanbul", "istanbul"]), ("ıI", ["ıi"]),
        ("हिन्दी में किताब", ["हिन्दी", "में", "किताब"]),
        ("தமிழ் മലയാളം ภาษาไทย", ["தமிழ்", "മലയാളം", "ภาษาไทย"]),
        ("שָׁלוֹם العَرَبِيَّة", ["שָׁלוֹם", "العَرَبِيَّة"]),
        ("東京都", ["東京", "京都"]), ("東", ["東"]), ("東京", ["東京"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]), ("ｶﾅ", ["カナ"]), ("か\u3099", ["が"]),
        ("한국어", ["한국", "국어"]), ("\u1112\u1161\u11ab", ["한"]),
        ("東京tower2号", ["東京", "tower2", "号"]), ("「東京」、大阪", ["東京", "大阪"]),
        ("𠀀𠀁𠀂", ["𠀀𠀁", "𠀁𠀂"]),
        ("x\U0001f9ecy", ["x", "y"]), ("don't", ["don", "t"]), ("naïve", ["naïve"]),
        ("a\u00a0b\u3000c\u2028d", ["a", "b", "c", "d"]), ("\ud800a\udfffb", ["a", "b"]),
    ],
)  # fmt: skip
def test_words(text, words):
    # Expected words may be written decomposed here; what a text gives is composed.
    assert TOKENIZER.words(text) == [unicodedata.normalize("NFKC", word) for word in words]


@pytest.mark.parametrize("text", ["Crohn\u00b4s disease", "l\u00b4amour", "\u00b4quoted\u00b4", "\u00a8x", "a\u02d9b"])
def test_a_spacing_accent_parts_words_and_clings_to_none(text):
    """NFKC makes a space and a combining mark of it, and the mark must not become the next word's first letter."""
    plain = "".join(char if char.isascii() else " " for char in text)
    assert TOKENIZER.words(text) == TOKENIZER.words(plain)


@pytest.mark.parametrize("text", ["co\u00adoperate", "\ufeffcooperate", "co\u2060operate"])
def test_characters_that_nobody_sees_do_not_part_a_word(text):
    assert TOKENIZER.words(text) == ["cooperate"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("10ms", ["10ms", "10", "ms"]), ("p53", ["p53", "p", "53"]), ("covid19", ["covid19", "covid", "19"]),
        ("COVID-19", ["covid", "19"]),
        ("running runner cities", ["run", "runner", "citi"]), ("10runs", ["10runs", "10", "run"]),
        ("h2o", ["h2o"]), ("1a2b", ["1a2b"]), ("2024", ["2024"]), ("１０ｍｓ", ["10ms", "10", "ms"]),
        ("naïve", ["naïve"]), ("bücher", ["bücher"]),
    ],
)  # fmt: skip
def test_terms(text, terms):
    assert TOKENIZER.terms(text) == terms


def test_without_stemming_words_are_their_own_terms_and_mixed_ones_are_still_split():
    plain = Tokenizer(stem=False)
    assert plain.terms("Running cities 10runs") == ["running", "cities", "10runs", "10", "runs"]
    assert plain.id != TOKENIZER.id
    assert not plain.stems


def test_a_query_holds_each_term_once_in_order():
    assert TOKENIZER.query("b a runs b run 10ms 10") == ["b", "a", "run", "10ms", "10", "ms"]


@settings(max_examples=100)
@given(ANY_TEXT)
def test_words_of_words_are_the_same(text):
    words = TOKENIZER.words(text)
    assert TOKENIZER.words(" ".join(words)) == words


@settings(max_examples=100)
@given(ANY_TEXT)
def test_case_and_normal_form_make_no_difference(text):
    words = TOKENIZER.words(text)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert TOKENIZER.words(unicodedata.normalize(form, text)) == words
    assert TOKENIZER.words(text.casefold()) == words


@settings(max_examples=100)
@given(ANY_TEXT)
def test_no_word_is_empty_or_holds_anything_but_letters_marks_and_digits(text):
    for word in TOKENIZER.words(text):
        assert word
        assert {unicodedata.category(char)[0] for char in word} <= {"L", "M", "N"}
        word.encode()


@settings(max_examples=100)
@given(st.lists(st.text(max_size=12), max_size=5))
def test_ascii_and_unicode_follow_one_rule(texts):
    """A text keeps its words whatever stands beside it: the quick way and the long way agree."""
    for text in texts:
        assert TOKENIZER.words(f"{text} é") == [*TOKENIZER.words(text), "é"]


@pytest.mark.slow
def test_every_letter_is_found_and_no_symbol_is():
    for code in range(0x20, 0x12000):
        char = chr(code)
        folded = unicodedata.normalize("NFKC", char)
        kinds = {unicodedata.category(one)[0] for one in folded}
        if kinds <= {"L"}:
            assert TOKENIZER.words(char), hex(code)
        elif kinds <= {"S", "P", "Z", "C"}:
            assert not TOKENIZER.words(char), hex(code)


@pytest.mark.parametrize("stem", [True, False])
def test_the_manifest_records_the_rules_and_a_query_follows_them(scratch, stem):
    path = scratch()
    with GraphBuilder(path, stem=stem) as builder:
        builder.add_node(Node("a", text="running"))
        assert builder.publish().tokenizer == Tokenizer(stem=stem).id
    graph = Graph.open(path)
    assert graph.arrays.tokenizer.stems == stem
    assert bool(graph.search("runs", 5)) == stem
    assert graph.search("running", 5)


def test_threads_may_share_a_tokenizer():
    words = [f"{stem}{ending}" for stem in ("walk", "talk", "jump", "index") for ending in ("s", "ed", "ing")] * 500
    expected = [Tokenizer().stem(word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: [TOKENIZER.stem(word) for word in words], range(8)))
    assert all(result == expected for result in results)


def test_function_words_are_folded_as_texts_are():
    for words in inside(telling_words).LANGUAGES.values():
        assert {part for word in words for part in Tokenizer.words(word)} == words
