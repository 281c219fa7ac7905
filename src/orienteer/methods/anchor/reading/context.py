"""The words of one question with what they may be, as the rules of the grammar look at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from orienteer.methods.anchor.reading.lexicon import Lexicon, Units
from orienteer.methods.anchor.reading.query import Nodes
from orienteer.methods.anchor.words import QuestionWords

Value = TypeVar("Value")
_MOST = 12  # parses of one phrase that are followed
_STEPS = 20_000  # rules that are tried for one question: a bound on its time
DETERMINERS = frozenset(
    [
        "a",
        "an",
        "the",
        "any",
        "some",
        "all",
        "every",
        "each",
        "those",
        "these",
        "its",
        "their",
        "his",
        "her",
        "our",
        "your",
        "my",
        "of",
        "different",
        "distinct",
        "various",
        "known",
        "individual",
        "existing",
        "whole",
        "such",
        "other",
        "particular",
        "respective",
        "entire",
        "full",
        "specific",
        "there",
    ]
)
EMPTY = frozenset(
    [
        "please",
        "also",
        "actually",
        "there",
        "overall",
        "altogether",
        "together",
        "total",
        "here",
        "exactly",
        "exist",
        "exists",
        "existing",
        "available",
        "recorded",
        "listed",
        "you",
        "think",
        "know",
        "ever",
        "themselves",
        "itself",
        "respectively",
        "entirely",
        "the",
        "whole",
        "i",
        "ve",
        "got",
        "in",
        "have",
        "altogether",
    ]
)
"""Words that may end a question and say nothing."""
_ENDINGS = tuple(
    tuple(ending.split())
    for ending in (
        "in the graph", "in this graph", "in the data", "in the dataset", "in the database", "in this database",
        "in this dataset", "in this data", "in total", "at all", "are there", "is there", "there are", "do we have",
        "in all", "do you have", "do you know", "on record", "in the whole graph", "of them", "all together", "are known",
        "can you tell me", "do you know of", "are recorded", "are listed", "are they", "is it", "did it", "in here", "as well",
        "that we have", "that there are", "that exist", "we have", "in the collection", "in the catalogue", "in question",
        "are in the graph", "does the graph have", "does the graph hold", "does the graph contain", "have we got",
        "or both", "or either", "or any of them", "for me", "or both of them", "of any kind", "of them all", "of all of them", "of all",
        "be", "were there", "was there", "each", "too", "either", "are", "is", "was", "were", "do",
    )
)  # fmt: skip


_HERE_FIRST = frozenset(
    [
        "that",
        "which",
        "who",
        "are",
        "is",
        "there",
        "here",
        "in",
        "listed",
        "recorded",
        "known",
        "available",
        "present",
        "included",
    ]
)
_HERE = _HERE_FIRST | frozenset(
    [
        "this",
        "the",
        "graph",
        "data",
        "dataset",
        "database",
        "total",
        "all",
        "altogether",
        "exist",
        "exists",
        "we",
        "have",
        "you",
        "do",
        "does",
        "hold",
        "at",
        "on",
        "record",
        "us",
        "been",
        "has",
    ]
)
"""Words for being in the graph: `that are listed here`."""


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
    words: list[str] = field(default_factory=list)
    nodes: Callable[[int], list[Parse[Nodes]]] = field(init=False)
    """The rule of noun phrases; clauses hold noun phrases and these hold clauses."""
    referents: list[Nodes] = field(default_factory=list)
    """What an earlier sentence of the question spoke of: pronouns stand for it."""
    complaints: dict[str, int] = field(default_factory=dict)
    """Why something could not be read, with the place in the question where that was."""
    steps: int = 0
    reached: int = 0
    """Up to which word the question was understood, where it was not to its end."""

    def __post_init__(self) -> None:
        self.words = [word.text for word in self.reading.words]

    @property
    def end(self) -> int:
        """Return the number of words."""
        return len(self.words)

    def at(self, place: int) -> str:
        """Return the word of a place; empty behind the last."""
        return self.words[place] if 0 <= place < len(self.words) else ""

    def starts(self, place: int, *phrases: str) -> int | None:
        """Return where the first of these phrases ends that begins here; None where none does."""
        first = self.at(place)
        for phrase in phrases:
            if first and phrase.startswith(first):  # so it is with few of the many that are tried
                parts = phrase.split()
                if self.words[place : place + len(parts)] == parts:
                    return place + len(parts)
        return None

    def skip(self, place: int, words: Iterable[str] = DETERMINERS) -> int:
        """Return the first place from here on that is none of these words."""
        while place < len(self.words) and self.words[place] in words:
            place += 1
        return place

    def skips(self, place: int, words: Iterable[str] = DETERMINERS) -> range:
        """Return the places that may follow: with none of these words left out, up to all of them."""
        return range(place, self.skip(place, words) + 1)

    def is_over(self, place: int) -> bool:
        """Tell whether nothing that says anything follows."""
        rest = tuple(self.words[place:])
        if not rest or all(word in EMPTY for word in rest):
            return True
        if rest[0] in _HERE_FIRST and all(word in _HERE for word in rest):
            return True
        return any(rest[-len(ending) :] == ending and self._is_empty(rest[: -len(ending)]) for ending in _ENDINGS)

    def _is_empty(self, rest: tuple[str, ...]) -> bool:
        return all(word in EMPTY for word in rest) or any(
            rest[-len(ending) :] == ending and all(word in EMPTY for word in rest[: -len(ending)])
            for ending in _ENDINGS
        )

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
        text = self.reading.text
        if self.at(place) == "s" and text[before.end : before.end + 1] in ("'", "’"):
            return place + 1
        if before.text.endswith("s") and text[before.end : before.end + 1] in ("'", "’"):
            return place
        return None


def best(parses: Iterable[Parse[Value]]) -> list[Parse[Value]]:
    """Return the likeliest parses, each meaning once, likeliest first."""
    kept: dict[tuple[int, Value], Parse[Value]] = {}
    for parse in parses:
        key = (parse.last, parse.value)
        if key not in kept or parse.cost < kept[key].cost:
            kept[key] = parse
    by_end: dict[int, int] = {}
    ordered = []
    for parse in sorted(kept.values(), key=lambda parse: parse.cost):
        by_end[parse.last] = by_end.get(parse.last, 0) + 1
        if by_end[parse.last] <= _MOST // 2:
            ordered.append(parse)
    return ordered
