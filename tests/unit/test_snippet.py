"""The window of a text that shows best why it matched."""

import pytest
from hypothesis import given, settings, strategies as st

from orienteer.text import Tokenizer, snippet

TERMS = Tokenizer().terms_of
FILLER = "the quick brown fox jumps over it " * 20


def test_a_short_text_comes_whole_on_one_line():
    assert snippet("One line,\n\ttwo   words.", {"word": 1.0}, TERMS) == "One line, two words."
    assert snippet("", {"word": 1.0}, TERMS) == ""


def test_without_a_match_it_is_the_beginning():
    text = snippet(FILLER, {"absent": 1.0}, TERMS, width=100)
    assert FILLER.startswith(text.removesuffix("…"))
    assert text.endswith("…")
    assert 50 < len(text) <= 100


def test_the_rarest_words_decide():
    text = f"{FILLER} common common common {FILLER} rare thing {FILLER} common"
    found = snippet(text, {"common": 1.0, "rare": 5.0}, TERMS, width=120)
    assert "rare thing" in found
    assert found.startswith("…")
    assert found.endswith("…")


def test_distinct_words_count_once():
    text = f"{'spam ' * 20}{FILLER} spam with eggs {FILLER}"
    assert "spam with eggs" in snippet(text, {"spam": 1.0, "egg": 0.5}, TERMS, width=120)


def test_words_match_by_their_terms():
    assert "10ms" in snippet(f"{FILLER} takes 10ms here {FILLER}", {"ms": 1.0}, TERMS, width=100)
    assert "RUNNING" in snippet(f"{FILLER} RUNNING {FILLER}", {"run": 1.0}, TERMS, width=100)


@pytest.mark.parametrize("at", [0, 1, 7, 300, 599, 600])
def test_the_match_is_shown_wherever_it_stands(at):
    words = ["filler"] * 600
    words.insert(at, "needle")
    assert "needle" in snippet(" ".join(words), {"needl": 1.0}, TERMS, width=100)


def test_a_very_long_text_is_cut_too():
    lines = "line\n" * 20_000
    found = snippet(f"{lines} needle {lines}", {"needl": 1.0}, TERMS)
    assert "needle" in found
    assert len(found) <= 300
    assert "\n" not in found


WORDS = st.one_of(st.sampled_from(("needle", "pin", "hay")), st.text(max_size=20))


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(WORDS, max_size=120).map(" ".join), st.integers(60, 300))
def test_any_text_gives_a_piece_of_it_that_holds_a_match(text, width):
    weights = {"needl": 2.0, "pin": 1.0}
    found = snippet(text, weights, TERMS, width=width)
    plain = " ".join(text.split())
    assert len(found) <= width
    assert found.removeprefix("…").removesuffix("…") in plain or found in plain
    if any(TERMS(word) == [term] for word in plain.split() for term in weights):
        assert weights.keys() & set(TERMS(found))
