"""The records of an extractor: entities by name and type, statements by the names of their members.

A record belongs to the chunk that comes with it (`Merger.add`). Names, types and predicates keep their spelling.
Unusable records are counted by reason, with examples (`Rejects`).
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.display import counted
from orienteer.graph.reserved import RELATED_TO, RESERVED, RESERVED_EDGES
from orienteer.records import Record

UNTYPED = "name"
"""The type of an entity without a known type."""
_UNKNOWN = frozenset({"", "unknown", "none", "null", "other", "entity"})
LONGEST_TYPE = 60
"""Characters of a type; anything longer is a sentence."""
LONGEST_NAME = 300
"""Characters of a name; anything longer is a text."""
# Variants of quotes and dashes.
_SAME = str.maketrans("‘’‛ʼ“”‟‐‑‒–", "''''\"\"\"----")

SUBJECT, OBJECT = "subject", "object"


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """Something that a chunk names."""

    name: str
    type: str = ""
    """Empty if unknown."""
    description: str = ""
    aliases: tuple[str, ...] = ()
    is_title: bool = False
    """It is the title of the chunk."""


class Member(NamedTuple):
    """An entity that a statement is about."""

    name: str
    """It means the entity with this name in the same chunk, if there is one; else one without a known type."""
    role: str = ""
    weight: float = 1.0
    """The importance of this entity in the statement."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a chunk about at least two entities. `triple`, `relation` and `fact` make them."""

    text: str
    """The statement as a sentence."""
    members: tuple[Member, ...]
    edge: str | None = None
    """The type of the edge from the first member to the second; None for no edge, empty if the type has no word."""
    edge_text: str = ""
    """The predicate as written, or a description."""
    keywords: tuple[str, ...] = ()
    score: float | None = None
    """The extractor's confidence, or the importance of the statement."""
    weight: float = 1.0
    """The weight of the edge for each chunk."""
    name: str = ""
    """A short form; if empty, the names of the members."""


def triple(subject: str, predicate: str, target: str) -> Statement:
    """Return subject, predicate and object as a statement, whose edge has the predicate as its type."""
    parts = [" ".join(part.split()) for part in (subject, predicate, target)]
    return Statement(
        text=" ".join([*subject.split(), parts[1], *target.split()]),
        members=(Member(subject, SUBJECT), Member(target, OBJECT)),
        edge=edge_type(parts[1]),
        edge_text=parts[1],
        name=" – ".join(parts),
    )


def relation(
    source: str, target: str, description: str, *, keywords: tuple[str, ...] = (), strength: float = 1.0
) -> Statement:
    """Return a relation with a description instead of a predicate as a statement; its edge is `related_to`."""
    return Statement(
        text=description or f"{source} – {target}",
        members=(Member(source, SUBJECT), Member(target, OBJECT)),
        edge=RELATED_TO,
        edge_text=description,
        keywords=keywords,
        weight=strength,
    )


def folded(name: str) -> str:
    """Return a name for comparison: case folded, spaces collapsed; digits, symbols and all scripts stay."""
    return " ".join(unicodedata.normalize("NFC", name).translate(_SAME).casefold().split())


def entity_type(text: str) -> str:
    """Return a type in lower snake case: `Research Paper` is research_paper, an unknown one `name`."""
    kind = _snake(text)
    if kind in _UNKNOWN or len(kind) > LONGEST_TYPE:
        return UNTYPED
    return f"{kind}_entity" if kind in RESERVED else kind


def edge_type(predicate: str) -> str:
    """Return a predicate in lower snake case, `related_to` if it is too long, empty if it has no word.

    A predicate with the name of our own edge type, such as mentions, is `mentions_relation`.
    """
    kind = _snake(predicate)
    if len(kind) > LONGEST_TYPE:
        return RELATED_TO
    return f"{kind}_relation" if kind in RESERVED_EDGES else kind


def _snake(text: str) -> str:
    characters: list[str] = []
    for character in unicodedata.normalize("NFC", text).casefold():
        # Vowel signs and accents belong to their letter; in many scripts they distinguish words.
        is_mark = unicodedata.category(character).startswith("M") and characters[-1:] not in ([], [" "])
        characters.append(character if character.isalnum() or is_mark else " ")
    return "_".join("".join(characters).split())


SHOWN = 3
"""Examples of each reason."""
_LONGEST = 120


class Reject(Record):
    """Records that were left out for one reason."""

    reason: str
    count: int
    examples: tuple[str, ...]
    """Chunk and record of each."""

    def render(self) -> str:
        """Return it as a line for people."""
        return f"{counted(self.count, 'record')} left out: {self.reason} (such as {'; '.join(self.examples)})"


class ExtractionSummary(Record):
    """The result of a build's extraction."""

    form: str
    """triples, entities or hyper."""
    model: str | None
    """None for statistics of the corpus."""
    entities: int
    facts: int
    failed: tuple[str, ...] = ()
    """Chunks whose reply was not an object even after the repair."""
    rejected: tuple[Reject, ...] = ()

    def render(self) -> str:
        """Return it as a line for people."""
        by = self.model or "statistics of the corpus"
        return f"{self.form} by {by}: {self.entities:,} entities, {counted(self.facts, 'fact')}"


class Rejects:
    """Counts of unusable records by reason."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: defaultdict[str, list[str]] = defaultdict(list)

    def add(self, reason: str, record: object, chunk: str) -> None:
        """Count a record of a chunk."""
        self._counts[reason] += 1
        if self._counts[reason] <= SHOWN:
            text = str(record)
            self._examples[reason].append(f"{chunk}: {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}")

    def by_reason(self) -> tuple[Reject, ...]:
        """Return the counts, the most frequent reason first."""
        return tuple(
            Reject(reason=reason, count=count, examples=tuple(self._examples[reason]))
            for reason, count in sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0]))
        )
