"""The words of one question with what they may be, as the rules of the grammar look at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from orienteer.reading.lexicon import Lexicon, Units
from orienteer.reading.query import ExactQuery, NodeSet
from orienteer.reading.vocabulary import ENGLISH, WORDS, Language, english_words
from orienteer.reading.words import QuestionWords

if TYPE_CHECKING:
    from orienteer.reading.relations import SchemaRelations

Value = TypeVar("Value")
_MOST = 6  # parses with one end that are followed
_STEPS = 20_000  # rules that are tried for one question: a bound on its time


class Parse(NamedTuple, Generic[Value]):
    """A phrase that was read: where it ends, what it means, and how far-fetched that is."""

    last: int
    value: Value
    cost: float


@dataclass(slots=True)
class Context:
    """One question, and the rules that call one another."""

    reading: QuestionWords
    units: Units
    lexicon: Lexicon
    language: Language = field(default_factory=english_words)
    words: list[str] = field(default_factory=list)
    relations: SchemaRelations = field(init=False)
    nodes: Callable[[int], list[Parse[NodeSet]]] = field(init=False)
    """The rule of noun phrases; clauses hold noun phrases and these hold clauses."""
    described: Callable[[Parse[NodeSet]], list[Parse[NodeSet]]] = field(init=False)
    """The rule of all that is said of a set behind its noun."""
    modifiers: Callable[[int, NodeSet], list[Parse[NodeSet]]] = field(init=False)
    """The rule of one thing that is said of a set."""
    queries: Callable[[int], Iterator[Parse[ExactQuery]]] = field(init=False)
    """The rule of whole questions, which may stand behind a sentence or a phrase."""
    known: dict[tuple[object, ...], list[Parse[Any]]] = field(default_factory=dict)
    """What was read once, by its rule and place."""
    fired: list[tuple[str, object]] = field(default_factory=list)
    """Examples of the rules that read something, each with its meaning; those of the final query's parts say why."""
    is_too_deep: bool = False
    """A noun phrase had more noun phrases within it than are read."""
    referents: list[NodeSet] = field(default_factory=list)
    """What an earlier sentence of the question spoke of: pronouns stand for it."""
    antecedent: NodeSet | None = None
    """The named nodes that were spoken of last within the question: `it`, `them` and `there` stand for them."""
    bare_dates: dict[object, int] = field(default_factory=dict)
    """The conditions that were read of a date alone, with its place: `before 1980`, where nothing else says of what."""
    complaints: dict[str, int] = field(default_factory=dict)
    """Why something could not be read, with the place in the question where that was."""
    depth: int = 0
    """How many noun phrases the one that is read stands in, itself included."""
    steps: int = 0
    reached: int = 0
    """Up to which word the question was understood, where it was not to its end."""

    def __post_init__(self) -> None:
        self.words = [word.text for word in self.reading.words]

    def forget_rules(self) -> None:
        """Let the rules go, which refer to this: only the garbage collector would free what goes round in a circle."""
        del self.nodes, self.described, self.modifiers, self.queries

    def once(self, key: tuple[object, ...], read: Callable[[], list[Parse[Value]]]) -> list[Parse[Value]]:
        """Return what a rule reads at a place, read the first time it is asked for."""
        if key not in self.known:
            self.known[key] = read()
        return self.known[key]

    @property
    def end(self) -> int:
        """Return the number of words."""
        return len(self.words)

    def at(self, place: int) -> str:
        """Return the word of a place; empty behind the last."""
        return self.words[place] if 0 <= place < len(self.words) else ""

    def starts(self, place: int, *phrases: str) -> int | None:
        """Return where the first of these phrases ends that begins here; None where none does."""
        return next(self.ends(place, phrases), None)

    def ends(self, place: int, phrases: tuple[str, ...]) -> Iterator[int]:
        """Yield where each of these phrases ends that begins here, in their order."""
        for words in _by_first_word(phrases).get(self.at(place), ()):
            if self.words[place : place + len(words)] == words:
                yield place + len(words)

    def ends_of(self, place: int, key: str) -> Iterator[int]:
        """Yield where each phrase of the language's key ends that begins here, in their order."""
        for words in self.language.by_first[key].get(self.at(place), ()):
            if self.words[place : place + len(words)] == words:
                yield place + len(words)

    def end_of(self, place: int, key: str) -> int | None:
        """Return where the first phrase of a key ends that begins here; None where none does."""
        return next(self.ends_of(place, key), None)

    def skip(self, place: int, words: Iterable[str] = WORDS["determiners"]) -> int:
        """Return the first place from here on that is none of these words."""
        while place < len(self.words) and self.words[place] in words:
            place += 1
        return place

    def skips(self, place: int, words: Iterable[str] = WORDS["determiners"]) -> range:
        """Return the places that may follow: with none of these words left out, up to all of them."""
        return range(place, self.skip(place, words) + 1)

    def is_over(self, place: int) -> bool:
        """Return whether nothing that says anything follows."""
        rest = tuple(self.words[place:])
        if any(unit.cost == 0 for at in range(place, self.end) for unit in self.units.properties.get(at, ())):
            return False  # "listed" says something where a property is called so
        return _is_empty(rest) or (rest[0] in WORDS["here first"] and WORDS["here"].issuperset(rest))

    def complain(self, place: int, why: str) -> None:
        """Note why a phrase could not be read."""
        self.complaints[why] = max(place, self.complaints.get(why, 0))

    def is_exhausted(self) -> bool:
        """Count a rule; tell whether too many were tried."""
        self.steps += 1
        return self.steps > _STEPS

    def possessive(self, place: int) -> int | None:
        """Return where a possessive ending ends that follows the word before this place; None where there is none."""
        if not 0 < place <= len(self.words):
            return None
        before = self.reading.words[place - 1]
        if self.reading.text[before.end : before.end + 1] not in ("'", "’"):
            return None
        if self.at(place) == "s":
            return place + 1
        return place if before.text.endswith("s") else None


@lru_cache(maxsize=1024)  # the lists of phrases that rules look for are a few hundred
def _by_first_word(phrases: tuple[str, ...]) -> dict[str, list[list[str]]]:
    """Return the words of phrases by the first of them, in their order."""
    by_first: dict[str, list[list[str]]] = {}
    for words in map(str.split, phrases):
        if words:
            by_first.setdefault(words[0], []).append(words)
    return by_first


@lru_cache(maxsize=1024)
def _is_empty(words: tuple[str, ...]) -> bool:
    """Return whether words say nothing: `please`, or `in total, please`."""
    if len(words) > 1 and words[-1] == "first" and (words[-2] in ENGLISH.superlatives or words[-2] in ENGLISH.most):
        return _is_empty(words[:-2])  # "the 5 fastest ships, fastest first"
    return WORDS["empty"].issuperset(words) or any(_is_empty(before) for before in _before_endings(words))


def _before_endings(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield what stands before each of the empty endings that words have."""
    if words[-1] in WORDS["empty"]:
        yield words[:-1]
    for ending in ENGLISH.endings:
        if words[-len(ending) :] == ending:
            yield words[: -len(ending)]


def best(parses: Iterable[Parse[Value]]) -> list[Parse[Value]]:
    """Return the likeliest parses, each meaning once, likeliest first."""
    likeliest: dict[tuple[int, Value], Parse[Value]] = {}
    for parse in parses:
        key = (parse.last, parse.value)
        if key not in likeliest or parse.cost < likeliest[key].cost:
            likeliest[key] = parse
    by_end: dict[int, int] = {}
    ordered = []
    for parse in sorted(likeliest.values(), key=lambda parse: parse.cost):
        by_end[parse.last] = by_end.get(parse.last, 0) + 1
        if by_end[parse.last] <= _MOST:
            ordered.append(parse)
    return ordered
