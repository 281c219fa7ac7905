"""Numbers in texts: as digits, and spelled out in the languages whose stop words are known."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files
from itertools import groupby

from orienteer.text.english import LANGUAGES, language_words
from orienteer.text.tokenizer import Tokenizer

_VALUES = (*range(21), *range(30, 100, 10), 100, 1000)
_DIGITS = re.compile(r"(?:(?<![^\s(\[\"'])[-−])?(?<!\w)\d+(?:[.,:'’]\d+)*")
_SPACED = re.compile(r"(?<!\w)\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)")  # 12 400
_THOUSANDS = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")


def numbers_in(text: str, *, spaced: bool = False) -> set[str]:
    """Return the numbers that a text has in digits, each in one form: without thousands' marks and leading zeros.

    >>> sorted(numbers_in("12,400 crowns on 2021-05-03 at 09:30, M1 and version 3.40.1"))
    ['12400', '2021', '3', '3.40.1', '5', '9:30']

    With `spaced` a space may part the thousands.
    """
    text = unicodedata.normalize("NFKC", _SPACED.sub(lambda run: "".join(run[0].split()), text) if spaced else text)
    plain = (_THOUSANDS.sub("", match[0]).replace(",", ".").replace("−", "-") for match in _DIGITS.finditer(text))
    return {re.sub(r"^(-?)0+(?=\d)", r"\1", number) for number in plain}


def spelled_numbers(text: str, *others: str) -> set[str]:
    """Return the numbers from 2 that a text spells out, in its language or those of other texts.

    A word is given in digits, several in a row as they are written.

    >>> sorted(spelled_numbers("It takes two hours and twenty-five minutes"))
    ['2', 'twenty five']
    >>> spelled_numbers("Les dix bornes du quai")
    {'10'}
    """
    words, found = Tokenizer.words(text), set[str]()
    for functions in {language_words(Tokenizer.words(part)) for part in (text, *others)}:
        language = next((name for name, own in LANGUAGES.items() if own is functions), "en")
        values = _values(language)
        for is_number, run in groupby(words, values.__contains__):
            if is_number:
                number = list(run)
                found.add(str(values[number[0]]) if len(number) == 1 else " ".join(number))
    return found - {"0", "1"}


@cache
def _values(language: str) -> dict[str, int]:
    words = tomllib.loads(files("orienteer.text").joinpath("numbers.toml").read_text("utf-8"))[language]
    forms = zip(words.split(), _VALUES, strict=True)
    return {form: value for own, value in forms for form in own.split("/") if "-" not in form}  # dix-sept is two
