"""The words of a language: as the index has them, by what they are to the grammar, and as numbers, dates and units."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.bm25 import Posting
from orienteer.reading.query import Comparison
from orienteer.remembered import cached_method
from orienteer.retrieval.mentions import SHARED, Phrase, is_akin, type_words
from orienteer.text import english
from orienteer.text.tokenizer import Tokenizer, singulars

# ================================================================================================================ words
# The words of a question as the index has them, and the words that a graph's schema is made of.

_QUESTIONS = 64  # whose words are remembered, for threads that ask at the same time
LONGEST = 300  # words that are read of a question; what comes after is no question any more
_LONGEST_NAME = 200  # characters of a run without spaces in which a capital is looked for
_WRITTEN = re.compile(r"\S+")
_RUN = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|«([^«»]+)»|(?<!\w)'([^']+)'(?!\w)|`([^`]+)`")
ALIKE, AKIN = 0.7, 0.6
"""How alike two words are where one stem begins the other, and where they share most of their beginning."""
_LONG_ENOUGH, _NEAR = 5, 0.8  # letters, and share of them, that make a mistyped word of the schema
_LONG_WORD = 8  # letters; of shorter words many are a letter away from another
_SHORT = 3  # letters of a type that may be an abbreviation
_LEARNED_TEXTS = 10  # a word in fewer texts teaches nothing
_LEARNED_SHARE = 0.75  # a wrongly learned type is worse than none
_SAMPLE = 200  # texts that are looked at, to tell a word of texts from a word of names


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question."""

    text: str
    stem: str
    start: int
    end: int
    """Where it stands in the question; the whole run of characters where words part otherwise than runs do."""
    is_quoted: bool
    after_comma: bool
    """Punctuation that parts clauses stands before it."""
    stands_alone: bool
    """It begins a run of characters without spaces."""
    in_code: bool
    """It stands in a run of characters without spaces that holds digits, as identifiers do."""

    @property
    def is_stop(self) -> bool:
        """Return whether it names nothing by itself."""
        return self.text in english.STOP


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """A question and its words."""

    text: str
    words: tuple[Word, ...] = field(hash=False)  # the text tells them

    def surface(self, first: int, last: int) -> str:
        """Return the characters of the words from `first` up to, not including, `last`."""
        return self.text[self.words[first].start : self.words[last - 1].end]

    def folded(self, first: int, last: int) -> list[str]:
        """Return the folded words from `first` up to, not including, `last`."""
        return [word.text for word in self.words[first:last]]

    def respelled(self, place: int, other: str, stem: str) -> QuestionWords:
        """Return the question with another word at a place, with a capital or in capitals as the one that was there."""
        word = self.words[place]
        old = self.text[word.start : word.end]
        new = other.upper() if old.isupper() else other.capitalize() if old[:1].isupper() else other
        shift = len(new) - len(old)
        words = [
            token if at < place else replace(token, start=token.start + shift * (at > place), end=token.end + shift)
            for at, token in enumerate(self.words)
        ]
        words[place] = replace(words[place], text=other, stem=stem)
        return QuestionWords(self.text[: word.start] + new + self.text[word.end :], tuple(words))

    @property
    def is_cut(self) -> bool:
        """Return whether words of the question were not read."""
        return len(self.words) >= LONGEST and _RUN.search(self.text, self.words[-1].end) is not None

    def is_quoted(self, first: int, last: int) -> bool:
        """Return whether all these words stand in quotation marks."""
        return all(word.is_quoted for word in self.words[first:last])

    def is_written_as_name(self, index: int) -> bool:
        """Return whether a word has a capital letter that no beginning of a sentence explains."""
        word = self.words[index]
        surface = self.text[word.start : min(word.end, word.start + _LONGEST_NAME)]
        if any(letter.isupper() for letter in surface[1:]):
            return True
        before = self.text[: word.start].rstrip()
        return surface[:1].isupper() and bool(before) and before[-1] not in ".?!:"


def read(text: str, tokenizer: Tokenizer) -> QuestionWords:
    """Return the words of a question, the first of them where it is overlong."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    words: list[Word] = []
    after_comma = False
    for chunk in _WRITTEN.finditer(text):
        if len(words) >= LONGEST:
            break
        folded = tokenizer.words(chunk[0])
        in_code = any(letter.isdigit() for letter in chunk[0])
        places = [(chunk.start() + run.start(), chunk.start() + run.end()) for run in _RUN.finditer(chunk[0])]
        if len(places) != len(folded):  # words part otherwise than runs do
            places = [chunk.span()] * len(folded)
        # of one run without spaces there may be thousands
        for word, (start, end) in list(zip(folded, places, strict=True))[: LONGEST - len(words)]:
            after_comma |= bool(words) and any(mark in text[words[-1].end : start] for mark in ",;:()")
            is_quoted = any(low < start and end < high for low, high in quoted)
            words.append(
                Word(word, tokenizer.stem(word), start, end, is_quoted, after_comma, start == chunk.start(), in_code)
            )
            after_comma = False
    return QuestionWords(text, tuple(words))


class Label(NamedTuple):
    """One way to say a type."""

    words: Phrase
    """All its words, folded."""
    stems: Phrase
    """Stems of those that name something; of all where none does."""


class SchemaHop(NamedTuple):
    """One way from nodes of a type to nodes of a type."""

    kind: int
    """Edge type * 2, + 1 where the edge is walked against its direction."""
    target: int


class SchemaWords:
    """The words of one graph's types. Made once a graph, in milliseconds; what texts teach is learned when asked."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._tokenizer = graph, graph.arrays.tokenizer
        types, schema = graph.arrays.types, graph.schema
        self.node_labels = [self._labels(name) for name in types.nodes]
        """By node type, the ways in which it is said."""
        called: dict[str, set[str]] = {name: set() for name in types.edges}
        for triple in schema.edges:
            for end in (triple.source, triple.target):
                called[triple.type].update(word for label in self._labels(end) for word in label.words)
        joined = {name: set(map(self.stem, words)) for name, words in called.items()}
        self.edge_labels = [self._labels(name, but=joined[name]) for name in types.edges]
        """By edge type, the ways in which it is said; the types that it joins are no part of them."""
        self.node_counts = np.array([schema.node_types[name] for name in types.nodes], np.int64)
        self.edge_words = frozenset(stem for labels in self.edge_labels for label in labels for stem in label.stems)
        """Stems of all the words of edge types that name something."""
        self.edge_words -= frozenset(self.stem(word) for word in english.STOP)
        self.edge_literals = frozenset(
            word
            for name, labels in zip(types.edges, self.edge_labels, strict=True)
            for label in labels
            for word in label.words
            if word in called[name] or singulars(word).isdisjoint(called[name])
        )
        """The words of edge types as they are written, but for those that an edge is called by as what it leads to."""
        self.hops: list[list[SchemaHop]] = [[] for _ in types.nodes]
        """By node type, the ways that lead away from it."""
        numbers = {name: number for number, name in enumerate(types.nodes)}
        edges = {name: number for number, name in enumerate(types.edges)}
        for triple in schema.edges:
            source, edge, target = numbers[triple.source], edges[triple.type], numbers[triple.target]
            self._add_hop(source, SchemaHop(edge * 2, target))
            self._add_hop(target, SchemaHop(edge * 2 + 1, source))
            if triple.type in schema.symmetric:
                self._add_hop(source, SchemaHop(edge * 2 + 1, target))
                self._add_hop(target, SchemaHop(edge * 2, source))
        self.hops_to = [{hop.target: [h for h in hops if h.target == hop.target] for hop in hops} for hops in self.hops]
        """The same by the node type that they lead to."""
        kinds = [label.stems for labels in self.node_labels for label in labels]
        self._kinds = frozenset(kinds)
        self._short_kinds = [stems[0] for stems in kinds if len(stems) == 1 and len(stems[0]) <= SHARED]
        self.stems = frozenset(
            stem for labels in (*self.node_labels, *self.edge_labels) for label in labels for stem in label.stems
        )
        """Stems of the words of all types."""
        self._stems = sorted(self.stems)

    def _add_hop(self, source: int, hop: SchemaHop) -> None:
        if hop not in self.hops[source]:
            self.hops[source].append(hop)

    def _labels(self, type_name: str, *, but: Collection[str] = ()) -> list[Label]:
        schema = self._graph.schema
        names = [schema.label(type_name), *schema.also_called.get(type_name, ())]
        parts = [part for name in names for part in self.split(name)]
        return list(dict.fromkeys(self._label(part, but) for part in parts if part))

    def _label(self, words: Phrase, but: Collection[str]) -> Label:
        content = [word for word in words if word not in english.STOP]
        own = [word for word in content if self.stem(word) not in but] or content or list(words)
        left_out = set(content) - set(own)
        return Label(tuple(word for word in words if word not in left_out), tuple(map(self.stem, own)))

    def kinds_called(self, is_so: Callable[[Label], object]) -> frozenset[int]:
        """Return the node types of which some label is so."""
        return frozenset(kind for kind, labels in enumerate(self.node_labels) if any(map(is_so, labels)))

    def split(self, label: str) -> list[Phrase]:
        """Return the words of each way to say a type or a property of this name."""
        return split_label(label, self._tokenizer)

    def stem(self, word: str) -> str:
        """Return the stem of a word."""
        return self._tokenizer.stem(word)

    def respelled(self, word: str) -> str | None:
        """Return the schema's word that a word may be meant for which no node has; None where none is near."""
        stem = self.stem(word)
        if len(stem) < _LONG_ENOUGH or not word.isalpha():
            return None
        if self.posting(word) is not None or best_alike(stem, self._stems):
            return None
        return next(iter(get_close_matches(stem, self._stems, n=1, cutoff=_NEAR)), None)

    @cached_method(_QUESTIONS)
    def read(self, text: str) -> QuestionWords:
        """Return the words of a question as they are written."""
        return read(text, self._tokenizer)

    def corrected(self, reading: QuestionWords, *, right: Collection[str] = ()) -> QuestionWords:
        """Return a question with mistyped words of the schema put right.

        For an exact reading some words are `right`: they are left, and of the others only sure slips are put right.
        """
        for place, word in enumerate(reading.words):
            is_right = reading.is_written_as_name(place) or word.text in right
            other = None if is_right else self.respelled(word.text)
            if other is not None and (not right or is_slip(word.text, word.stem, other)):
                reading = reading.respelled(place, other, other)
        return reading

    @cached_method(65_536)
    def posting(self, word: str) -> Posting | None:
        """Return the postings of a word; None where no node has it."""
        return self._graph.arrays.text_index.posting(self._tokenizer.expand(word)[0])

    def is_kind(self, stems: Phrase) -> bool:
        """Return whether words are just a way to say a node type."""
        is_short = len(stems) == 1 and any(abbreviates(kind, stems[0]) for kind in self._short_kinds)
        return is_short or stems in self._kinds

    def is_symmetric(self, kind: int) -> bool:
        """Return whether the edges of a kind have no direction."""
        return self._graph.arrays.types.edges[kind >> 1] in self._graph.schema.symmetric

    @cached_method(4_096)
    def learned(self, stem: str) -> tuple[int, float] | None:
        """Return the node type whose texts alone use a word, with its share of such use; None where there is none."""
        posting = self._graph.arrays.text_index.posting(stem)
        if posting is None or posting.nodes < _LEARNED_TEXTS:
            return None
        rows = self._graph.arrays.text_index.rows_of(posting)
        shares = np.bincount(self._graph.arrays.node_types[rows], minlength=len(self.node_counts)) / self.node_counts
        best = int(shares.argmax())
        share = float(shares[best] / shares.sum())
        if share < _LEARNED_SHARE:
            return None
        # A word of names says what things are called, not what they are.
        sample = rows[:: max(1, len(rows) // _SAMPLE)]
        named = sum(stem in self._tokenizer.terms(self._graph.arrays.names[row]) for row in sample.tolist())
        if posting.nodes * (1 - named / len(sample)) < _LEARNED_TEXTS:
            return None
        return best, share


def is_slip(word: str, stem: str, other: str) -> bool:
    """Return whether a stem is surely another one mistyped, and no other word: "patents" are no patients.

    Letters changed places, or stand twice; only long words may be wrong in another way, and none that goes on where
    the other ends: "unpaid" is no "paid", and a "coauthor" is no "author".
    """
    once = (re.sub(r"(.)\1", r"\1", text) for text in (stem, other))
    is_long = len(word) >= _LONG_WORD and stem not in other and other not in stem
    return is_long or sorted(stem) == sorted(other) or len(set(once)) == 1


def split_label(label: str, tokenizer: Tokenizer) -> list[Phrase]:
    """Return the words of a type's name: cut at case, `_` and `-`; `/` and `|` part two ways to say it."""
    return [type_words(part, tokenizer) for part in re.split(r"[/|]", label)]


def alike(stem: str, other: str) -> float:
    """Return how alike two stems are: 1 for the same, less for a long shared beginning, else 0."""
    if stem == other:
        return 1.0
    if not is_akin(stem, other):
        return 0.0
    return ALIKE if stem.startswith(other) or other.startswith(stem) else AKIN


def abbreviates(label: str, stem: str) -> bool:
    """Return whether a type's whole name is the beginning of a word: `adj`, `org`."""
    return _SHORT <= len(label) <= SHARED and stem.startswith(label)


def best_alike(stem: str, others: Iterable[str]) -> float:
    """Return how alike a stem is to the likest of several."""
    return max((alike(stem, other) for other in others), default=0.0)


# =========================================================================================================== vocabulary
# The words of a language, by what they are to the grammar: `vocabulary.toml`, which a translator can read.

_OPENING = ("polite", "listing", "counting")
_BEFORE_AMOUNTS: tuple[Comparison, ...] = (">=", "<=", ">", "<", "=")


class Adjective(NamedTuple):
    """What an adjective compares: words of properties, and whether more of them is more of it."""

    words: frozenset[str]
    ascending: bool = True
    is_age: bool = False
    """It compares when things began; `ascending` means later."""


class Kin(NamedTuple):
    """How those whom a noun means are reached: up to parents, down to children, over what they share or any edge."""

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
        steps = tuple(word for word in words if word in ("up", "down", "link"))
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
        self.verb_forms: dict[str, list[str]] = {
            group.split()[0]: group.split()[1:] for group in known["verbs"]["forms"].split(",")
        }
        """By verb its past, and its participle where that is another, if no ending tells them."""
        self.verb_of = {form: verb for verb, forms in self.verb_forms.items() for form in forms}
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
        forms = self.verb_forms.get(verb)
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
    stem = f"{word[:-1]}i" if word.endswith("y") else word.removesuffix("e")
    return f"{stem}er", f"{stem}est"


@cache
def english_words() -> Language:
    """Return the words of English."""
    return Language(Path(__file__).parent / "vocabulary.toml")


ENGLISH = english_words()
WORDS = ENGLISH.words
"""The words that the grammar is written in."""
