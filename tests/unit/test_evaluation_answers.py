"""EM, F1, SubEM and SetF1: normalisation, kinds of answers, and how lists are read."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from orienteer.errors import BadOption
from orienteer.lab.evaluation import Gold, answer_measure, items_in_answer, normalise_answer, short_answer


def score(name, answer, *golds, kind=None, others=()):
    return answer_measure(name)(answer, Gold(answers=golds, answer_type=kind), others=others)


@pytest.mark.parametrize(
    ("text", "strict", "lenient"),
    [
        ("The  Beatles!", "beatles", "beatles"),
        ("a State-of-the-Art idea", "stateoftheart idea", "state of art idea"),
        ("Łódź", "łódź", "łodz"),
        ("1,234,567", "1234567", "1234567"),
        ("3.5 or 35", "3.5 or 35", "3.5 or 35"),
        ("-5 and x-5", "-5 and x5", "-5 and x 5"),
        ("\u22125", "-5", "-5"),
        ("C++, C# and C.", "c++ c# and c", "c++ c# and c"),
        ("Straße", "strasse", "strasse"),
        ("ＡＢＣ", "ａｂｃ", "abc"),
        ("नमस्ते", "नमस्ते", None),
        ("The A", "the a", "the a"),
        ("?!", "?!", "?!"),
        ("", "", ""),
    ],
)
def test_normalise(text, strict, lenient):
    assert normalise_answer(text) == strict
    if lenient is not None:
        assert normalise_answer(text, lenient=True) == lenient


@given(st.text(max_size=40), st.booleans())
def test_normalising_any_text_is_safe_and_single_spaced(text, lenient):
    normalised = normalise_answer(text, lenient=lenient)
    assert normalised == " ".join(normalised.split())
    assert normalise_answer(text.strip() + "  ", lenient=lenient) == normalised


@pytest.mark.slow
@given(st.text(alphabet=st.characters(categories=["L", "N"]), min_size=1, max_size=30))
def test_an_answer_equal_to_gold_scores_full_marks_whatever_the_script(text):
    composed = unicodedata.normalize("NFC", text)
    for name in ("EM", "F1", "SubEM", "EM (lenient)", "F1 (lenient)", "SubEM (lenient)"):
        assert score(name, unicodedata.normalize("NFD", text), composed, kind="entity") == 1.0, name


@pytest.mark.parametrize(
    ("name", "answer", "value"),
    [
        ("EM", "the Night Ferry.", 1.0),
        ("EM", "It is Night Ferry", 0.0),
        ("EM", "Ferry Night", 0.0),
        ("F1", "It is Night Ferry", 2 * 2 / (4 + 2)),
        ("F1", "Night", 2 * 1 / (1 + 2)),
        ("F1", "ferry ferry ferry", 2 * 1 / (3 + 2)),  # a word said thrice is found once
        ("F1", "", 0.0),
        ("SubEM", "It is Night Ferry, of course", 1.0),
        ("SubEM", "It is Night of the Ferry", 0.0),
        ("SubEM", "The Night Ferryman", 0.0),
        ("SubEM (lenient)", "The Night Ferryman", 1.0),
        ("SubEM", "night-ferry", 0.0),
        ("SubEM (lenient)", "night-ferry", 1.0),
    ],
)
def test_of_words(name, answer, value):
    assert score(name, answer, "Night Ferry", "MV Nightingale") == pytest.approx(value)


def test_the_best_of_the_ways_to_write_the_answer_counts():
    assert score("EM", "Bombay", "Mumbai", "Bombay") == 1.0
    assert score("F1", "Greater Bombay", "Mumbai", "Bombay") == pytest.approx(2 / 3)


def test_scripts_without_spaces_are_read_character_by_character():
    assert score("SubEM", "作曲家は林檎です。", "林檎") == 1.0
    assert score("F1", "林檎", "林檎酒") == pytest.approx(2 * 2 / 5)


@pytest.mark.parametrize("kind", [None, "boolean"])
@pytest.mark.parametrize(
    ("answer", "gold", "exact", "within"),
    [
        ("Yes", "True", 1.0, 1.0),
        ("yes.", "true", 1.0, 1.0),
        ("Yes, both are films.", "True", 0.0, 1.0),
        ("No, the answer is not yes.", "False", 0.0, 1.0),
        ("No", "True", 0.0, 0.0),
        ("It is unknown.", "no", 0.0, 0.0),
    ],
)
def test_booleans(kind, answer, gold, exact, within):
    assert score("EM", answer, gold, kind=kind) == score("F1", answer, gold, kind=kind) == exact
    assert score("SubEM", answer, gold, kind=kind) == score("SubEM (lenient)", answer, gold, kind=kind) == within


@pytest.mark.parametrize("kind", [None, "number"])
@pytest.mark.parametrize(
    ("answer", "gold", "exact", "within"),
    [
        ("1,234", "1234", 1.0, 1.0),
        ("1234.0", "1,234", 1.0, 1.0),
        ("35", "3.5", 0.0, 0.0),
        ("-5", "5", 0.0, 0.0),
        ("There are 12 (twelve).", "12", 0.0, 1.0),
        ("There are 123.", "12", 0.0, 0.0),
        ("12%", "12", 1.0, 1.0),
        ("none", "12", 0.0, 0.0),
    ],
)
def test_numbers(kind, answer, gold, exact, within):
    assert score("EM", answer, gold, kind=kind) == exact
    assert score("SubEM", answer, gold, kind=kind) == score("SubEM (lenient)", answer, gold, kind=kind) == within


def test_a_name_that_is_a_number_is_a_name_where_gold_says_so():
    assert score("F1", "the film 1984", "1984", kind="entity") == pytest.approx(2 / 3)
    assert score("EM", "two", "about two", kind="number") == 0.0  # gold is no number: compared as words
    assert score("EM", "about two", "about two", kind="number") == 1.0


NAMES = ("Pascal", "Crime and Punishment", "Acme, Inc.", "C++")


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [
        ("Pascal, Acme, Inc., and C++", {"Pascal", "Acme, Inc.", "C++"}, set()),
        ("Crime and Punishment; Pascal", {"Crime and Punishment", "Pascal"}, set()),
        ("Pascal and Crime and Punishment", {"Crime and Punishment", "Pascal"}, set()),
        ("- Pascal\n- Ada\n2. C++", {"Pascal", "C++"}, {"ada"}),
        ("* C++\n* C++", {"C++"}, set()),
        ('["Acme, Inc.", "Ada, Countess"]', {"Acme, Inc."}, {"ada countess"}),
        ("[not json, Pascal", {"Pascal"}, {"not json"}),
        ("Acme, Pascal", {"Pascal"}, {"acme"}),
        ("The languages are Pascal, C++", {"C++"}, {"languages are pascal"}),
        ("C", set(), {"c"}),
        (" , ;\n", set(), set()),
        ("", set(), set()),
    ],
)
def test_items_of_a_list(answer, right, wrong):
    items = items_in_answer(answer, NAMES)
    assert (set(items.right), set(items.wrong)) == (right, wrong)


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [
        ("The languages are Pascal, C++", {"Pascal", "C++"}, set()),
        ("Object Pascal it is", set(), {"object pascal"}),
        ("Object Pascal, and plain Pascal", {"Pascal"}, {"object pascal"}),
        ("Perhaps Ada or Pascal", {"Pascal"}, {"ada"}),
        ("Perhaps Fortran", set(), set()),
    ],
)
def test_items_in_prose(answer, right, wrong):
    items = items_in_answer(answer, NAMES, lenient=True, others=("Ada", "Object Pascal", "Pascal"))
    assert (set(items.right), set(items.wrong)) == (right, wrong)


@pytest.mark.parametrize(
    ("name", "answer", "value"),
    [
        ("SetF1", "Pascal, Ada", 2 * 1 / (2 + 4)),
        ("SetF1", "; ".join(NAMES), 1.0),
        ("SetF1", "", 0.0),
        ("EM", "; ".join(NAMES), 1.0),
        ("EM", "; ".join(NAMES) + "; Ada", 0.0),
        ("EM", "; ".join(NAMES[1:]), 0.0),
        ("SubEM", "They are Pascal, C++, Acme Inc and Crime and Punishment!", 1.0),
        ("SubEM", "Pascal", 0.0),
        ("F1", "Pascal", 2 * 1 / (1 + 7)),
    ],
)
def test_of_sets(name, answer, value):
    assert score(name, answer, *NAMES, kind="set") == pytest.approx(value)


def test_set_f1_applies_to_sets_alone():
    assert score("SetF1", "Pascal", "Pascal") is None


def test_names_of_hits_count_against_a_set_in_prose():
    assert score("SetF1 (lenient)", "Ada or Pascal", "Pascal", kind="set", others=("Ada",)) == pytest.approx(2 / 3)


def test_without_gold_answers_there_is_no_value():
    for name in ("EM", "F1", "SubEM"):
        with pytest.raises(ValueError, match="gold answers"):
            score(name, "x")


@pytest.mark.parametrize("name", ["EM", "F1", "SubEM", "SubEM (lenient)"])
@pytest.mark.parametrize("nothing", ["", " ", "\u0301"])
def test_a_gold_answer_of_nothing_stands_in_no_answer(name, nothing):
    assert answer_measure(name)("Ann Holm", Gold(answers=(nothing,))) == 0


def test_an_unknown_name_is_an_error():
    with pytest.raises(BadOption, match="Near: SubEM"):
        answer_measure("sub-EM")


def test_citations_and_what_stands_before_the_answer_are_no_part_of_it():
    assert short_answer("Night Ferry [film:1] [x]", ["film:1"]) == "Night Ferry  [x]"
    assert short_answer("Thinking: the answer: maybe Salt.\nAnswer: Night Ferry") == "Night Ferry"
    assert short_answer("Night Ferry") == "Night Ferry"
