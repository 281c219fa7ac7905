"""Numbers of texts, in digits and spelled out."""

import pytest

from orienteer.text import numbers_in, spelled_numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("12,400 and 1,234,567.8", {"12400", "1234567.8"}),
        ("4,5 is 4.5", {"4.5"}),
        ("2021-05-03, 09:30", {"2021", "5", "3", "9:30"}),
        ("3.40.1", {"3.40.1"}),
        ("M1, S22, x_7", set()),
        ("10ms", {"10"}),
        ("１２", {"12"}),
        ("", set()),
    ],
)
def test_numbers_have_one_form(text, numbers):
    assert numbers_in(text) == numbers


def test_a_space_may_part_thousands():
    assert numbers_in("12 400 crowns") == {"12", "400"}
    assert numbers_in("12 400 crowns", spaced=True) == {"12400"}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It has the twelve of them", "12"),
        ("Es sind zwölf in der Halle", "12"),
        ("Il y a douze bornes dans le port", "12"),
        ("Hay doce barcos en el puerto", "12"),
        ("Ci sono dodici barche nel porto di sera", "12"),
        ("São doze os barcos que estão no porto", "12"),
        ("Er zijn twaalf boten in de haven", "12"),
        ("Det är tolv båtar som är i hamnen", "12"),
        ("W porcie jest dwanaście łodzi i nie ma ich", "12"),
        ("It has a hundred and five of them", "5"),
        ("It takes the twenty-five of them", "twenty five"),
    ],
)
def test_words_of_nine_languages_are_numbers(text, number):
    assert number in spelled_numbers(text)


def test_one_is_a_word_and_no_number():
    assert spelled_numbers("It is the one that has a roof") == set()


def test_a_short_text_is_read_in_the_language_of_another():
    assert spelled_numbers("dix bornes") == set()
    assert spelled_numbers("dix bornes", "Combien de bornes y a-t-il dans le port ?") == {"10"}


def test_a_minus_sign_is_part_of_a_number_and_not_that_of_a_date_or_a_range() -> None:
    assert numbers_in("-5 or \u22127 degrees") == {"-5", "-7"}
    assert numbers_in("2021-05-03, 3-4 boats, M-1") == {"2021", "5", "3", "4", "1"}
