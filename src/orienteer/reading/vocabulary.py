"""The words of a language, by what they are to the grammar: `vocabulary.toml`, which a translator can read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.reading.query import Comparison

_OPENING = ("polite", "listing", "counting")
_BEFORE_AMOUNTS: tuple[Comparison, ...] = (">=", "<=", ">", "<", "=")


class Adjective(NamedTuple):
    """What an adjective compares: words of properties, and whether more of them is more of it."""

    words: frozenset[str]
    ascending: bool = True
    is_age: bool = False
    """It compares when things began; `ascending` means later."""


class Kin(NamedTuple):
    """How those whom a noun means are reached: up to parents and down to children, or over what they share."""

    steps: tuple[str, ...]
    sex: str
    shared: frozenset[str]
    """Words for the kinds of things that they share."""

    @staticmethod
    def of(how: str) -> Kin:
        """Return what `up down male`, `share team club` say."""
        words = how.split()
        if words[0] == "share":
            return Kin(("up", "down"), "", frozenset(words[1:]))
        steps = tuple(word for word in words if word in ("up", "down"))
        return Kin(steps, "".join(words[len(steps) :]), frozenset())


class Language:
    """The words of one language."""

    def __init__(self, file: Path) -> None:
        """Read a file of words. A key that a rule asks for and the file lacks is an error of the program."""
        known = tomllib.loads(file.read_text(encoding="utf-8"))
        self.words = {key: frozenset(text.split()) for key, text in known["words"].items()}
        """Sets of single words."""
        self.phrases = {key: tuple(phrases_of(text)) for key, text in known["phrases"].items()}
        """Phrases of several words, the longer before its beginning."""
        self.by_first: dict[str, dict[str, list[list[str]]]] = {}
        """The words of each key's phrases, by the first of them."""
        for key, phrases in self.phrases.items():
            first = self.by_first[key] = {}
            for words in map(str.split, phrases):
                first.setdefault(words[0], []).append(words)
        self.opening = {word for key in _OPENING for phrase in self.phrases[key] for word in phrase.split()}
        """Words that begin questions, none of which is mistyped."""
        self.endings = [tuple(phrase.split()) for phrase in self.phrases["endings"]]
        """The words of phrases that may end a question and say nothing."""
        self.signs: dict[str, list[tuple[Comparison, str]]] = {}
        """What is said before an amount, by its first word: `over`, `at least`."""
        for comparison in _BEFORE_AMOUNTS:
            for phrase in self.phrases[comparison]:
                self.signs.setdefault(phrase.split()[0], []).append((comparison, phrase))
        self._tell_synonyms(known)
        self._tell_adjectives(known["adjectives"])
        groups = (group for groups in self.groups.values() for group in groups)
        self.vocabulary = frozenset().union(*self.words.values(), *groups)
        """All words that stand for things in any graph."""
        self._tell_numbers(known["numbers"])
        self.kin = {word: Kin.of(how) for how, words in known.get("kin", {}).items() for word in words.split()}
        """Nouns for those who are some steps away."""

    def _tell_synonyms(self, known: Mapping[str, Any]) -> None:
        self.groups = {
            key: tuple(frozenset(group.split()) for group in text.split(",")) for key, text in known["groups"].items()
        }
        """Words that may stand for one another: `relations`, `deeds`, `types` and `properties`."""
        self.converses = [(_words(pair["one"]), _words(pair["other"])) for pair in known["converses"]]
        """Words that say the same of a relation from its two ends: who teaches others is whom they study under."""
        self.hints = _sets(known["hints"])
        """What a preposition alone may say, as beginnings of words of edge types."""
        self.stating = _sets(known["stating"])
        """Verbs that state a property, with words of such properties."""
        forms = (group.split() for group in known["verbs"]["forms"].split(","))
        self.verb_of = {form: verb for verb, *forms in forms for form in forms}
        """By form that no ending tells, the verb that it is of."""

    def _tell_adjectives(self, known: Mapping[str, Mapping[str, str]]) -> None:
        ages, more, less = known["ages"], _sets(known["more"]), _sets(known["less"])
        old = Adjective(self.words["ages"], ascending=False, is_age=True)
        self.adjectives = {word: Adjective(words) for word, words in more.items()}
        """What adjectives compare, by the bare form of each."""
        self.adjectives |= {word: Adjective(words, ascending=False) for word, words in less.items()}
        self.adjectives |= dict.fromkeys(ages["old"].split(), old)
        self.adjectives |= dict.fromkeys(ages["new"].split(), old._replace(ascending=True))
        told = {word: (grades.split()[0], grades.split()[1]) for word, grades in known["grades"].items()}
        self.grades = grades = {word: told.get(word) or _grades(word) for word in self.adjectives}
        """The comparative and the superlative of each."""
        self.comparatives = {grades[word][0]: adjective for word, adjective in self.adjectives.items()}
        self.superlatives = {grades[word][1]: adjective for word, adjective in self.adjectives.items()}
        self.comparatives[ages["older"]] = self.superlatives[ages["oldest"]] = old
        self.more = self._directions("more", "less")
        """Comparatives of any number, with whether they ask for more of it."""
        self.most = self._directions("most", "least")
        """Superlatives of any number, with whether they ask for more of it."""

    def _directions(self, up: str, down: str) -> dict[str, bool]:
        return dict.fromkeys(self.words[up], True) | dict.fromkeys(self.words[down], False)

    def forms_of(self, verb: str) -> tuple[str, str]:
        """Return the past and the participle of a verb, with the words behind it: `belonged to`, `were born`."""
        verb, space, rest = verb.partition(" ")
        if verb == "be":
            return f"were {rest}", rest
        forms = [form for form, of in self.verb_of.items() if of == verb]
        regular = f"{verb}d" if verb.endswith("e") else f"{verb[:-1]}ied" if verb.endswith("dy") else f"{verb}ed"
        past, participle = (forms[0], forms[-1]) if forms else (regular, regular)
        return past + space + rest, participle + space + rest

    def _tell_numbers(self, known: Mapping[str, Any]) -> None:
        self.numerals: dict[str, int] = _counted(known["counted"].split(), 0) | known["numerals"]
        self.ordinals = _counted(known["ordinals"].split(), 1)
        decades = enumerate(known["decades"].split(), 2)
        self.decades = {word: 1900.0 + 10 * number for number, word in decades}
        """The first year of each, in the twentieth century."""
        self.scales: dict[str, float] = known["scales"]
        """Words that multiply the number before them."""
        self.factors: dict[str, float] = known["factors"]
        """Words for how many times as much."""
        self.times: dict[str, float] = known["times"]
        """The same before `as many`."""
        self.months = {
            name: month for month, names in enumerate(known["months"].split(","), 1) for name in names.split()
        }
        self.squares: dict[str, str] = known["squares"]
        """Units of area behind `square`."""


def phrases_of(text: str) -> Iterator[str]:
    """Yield the phrases that commas part."""
    return (" ".join(phrase.split()) for phrase in text.split(","))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _sets(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {key: _words(text) for key, text in table.items()}


def _counted(words: Iterable[str], first: int) -> dict[str, int]:
    return {word: number for number, word in enumerate(words, first)}


def _grades(word: str) -> tuple[str, str]:
    """Return the comparative and the superlative: `taller` and `tallest`, `larger`, `busier`."""
    if word.endswith("e"):
        stem = word[:-1]
    elif word.endswith("y"):
        stem = f"{word[:-1]}i"
    else:
        stem = word
    return f"{stem}er", f"{stem}est"


@cache
def english_words() -> Language:
    """Return the words of English."""
    return Language(Path(__file__).parent / "vocabulary.toml")


ENGLISH = english_words()
WORDS = ENGLISH.words
"""The words that the grammar is written in."""
