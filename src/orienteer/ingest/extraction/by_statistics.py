"""Extraction without a model, by the statistics of the corpus: names, phrases, definitions, what stands together.

1. Entities are names (`graph.names.mentions`), and phrases (`collocations`), which have a type of their own.
2. The description of a name: the sentence that defines it (X is a ...), or the first of the passage that it titles.
3. Statements by form: `hyper`, each sentence with two names or more; `entities`, each sentence by the names that follow
   one another in it; `triples`, those two with the words between them, where these are few. What a passage is titled
   is the topic of its sentences that do not name it.
4. `co_occurs` joins names of a sentence and, less, of a chunk; each has its strongest (`entities` and `triples`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from orienteer.graph.builder import Progress
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.names.chunk_titles import parts_of
from orienteer.graph.names.mentions import CorpusNames
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.extraction.collocations import collocations
from orienteer.ingest.extraction.forms import Form
from orienteer.ingest.extraction.merger import Key, Merger
from orienteer.ingest.extraction.records import UNTYPED, ExtractedEntity, Member, Statement, fact, folded
from orienteer.ingest.extraction.ties import CoOccurrences, NamePlaces, SentenceNames, distinct, sentences_of
from orienteer.records import Node
from orienteer.text.proper_names import key_of, without_bracket

PHRASE = "phrase"
"""The type of an entity that is written in lower case."""
MOST_BETWEEN = 10
"""Words between two names that say how they are connected; of more, most are about something else."""
LONGEST_SENTENCE = 1000
"""Characters of a sentence that is a fact; anything longer is a list."""
TOPIC = "topic"
"""The role of what a sentence is about that does not name it."""
MOST_MEMBERS = 20
"""Names of a sentence that is a fact, for the same reason."""
_EVERY = 2_000
_OPENING = 4  # characters before a name that is defined: The, A
_DEFINES = re.compile(r"[^.;:!?]{0,80}?\b(?:is|was|are|were)\s+(?:an?|the|one)\b")
_WORD = re.compile(r"\w+")


class StatisticalExtractor:
    """Reads chunks, given the names of the corpus."""

    def __init__(self, nodes: Iterable[Node], names: CorpusNames, form: Form, config: BuildConfig) -> None:
        """The nodes can be iterated again; they are those that the names were found in."""
        self._nodes, self._names, self._form = nodes, names, form
        self._written, self._same, self._aliases = _writings(names)
        texts = (node.text for _, node in parts_of(nodes))
        phrases = sorted(collocations(texts, share=config.name_share)) if config.phrases else []
        count = len(names.names)
        keys = {key: self._same[number] for number, key in enumerate(names.keys)}
        own = {phrase: count + place for place, phrase in enumerate(phrases) if phrase not in keys}
        self._written += phrases
        self._places = NamePlaces({**keys, **own}, lower=frozenset(own.values()))
        self.co_occurrences = CoOccurrences(most=config.co_occurring)

    def into(self, merger: Merger, progress: Progress) -> None:
        """Merge what each chunk says, in their order."""
        titles: dict[int, set[int]] = {}
        for name, titled in self._names.titled.items():
            for number in titled:
                titles.setdefault(number, set()).add(self._same[name])
        for number, (_, node) in enumerate(parts_of(self._nodes)):
            numbers = {self._same[name] for name in self._names.of(number).tolist()}
            self._read(merger, number, node, numbers, titles.get(number, set()))
            if number % _EVERY == 0:
                progress("finding what stands together", number)

    def edges(self, merger: Merger) -> Iterator[EdgeBatch]:
        """Return the edges of names that stand together. Call it after the nodes."""
        chunks = [part.id for part in self._names.parts]

        def id_of(number: int) -> str:
            return merger.id_of(Key(self._kind(number), folded(self._written[number])))

        return self.co_occurrences.edges(cache(id_of), chunks)

    def _read(self, merger: Merger, part: int, node: Node, numbers: set[int], titles: set[int]) -> None:
        among = frozenset(numbers)
        sentences = [self._places.within(sentence, among) for sentence in sentences_of(node)]
        descriptions = {number: "" for number in sorted(numbers)}
        descriptions.update(dict.fromkeys(distinct(spot for sentence in sentences for spot in sentence.spots), ""))
        for number, sentence in self._defined(sentences):
            descriptions[number] = descriptions.get(number) or sentence
        if sentences:
            descriptions.update({number: descriptions[number] or sentences[0].text for number in titles})
        entities = [self._entity(number, text, is_title=number in titles) for number, text in descriptions.items()]
        merger.add(
            node.id, entities, [statement for sentence in sentences for statement in self._statements(sentence, titles)]
        )
        if self._form != "hyper":
            self.co_occurrences.add(part, list(descriptions), sentences)

    def _statements(self, sentence: SentenceNames, titles: set[int]) -> Iterator[Statement]:
        """Return what a sentence states, by the form that is asked for.

        One that names none of the titles of its passage is taken to be about the first of them, put before it.
        """
        text, spots = sentence
        names = distinct(spots)
        if not 1 <= len(names) <= MOST_MEMBERS or len(text) > LONGEST_SENTENCE:
            return
        about = min(titles) if titles and titles.isdisjoint(names) else None
        start = "" if about is None else f"{self._written[about]}: "
        if self._form == "hyper":
            topic = () if about is None else (Member(self._written[about], role=TOPIC),)
            members = (*topic, *map(self._member, names))
            if len(members) > 1:
                yield fact(start + text, members)
            return
        if about is not None:
            first = spots[0]
            yield from self._pair((about, first.number), start, text[: first.end], text[: first.begin], text)
        for spot, other in pairwise(spots):
            if spot.number != other.number:
                passage, between = text[spot.begin : other.end], text[spot.end : other.begin]
                yield from self._pair((spot.number, other.number), "", passage, between, text)

    def _pair(self, ends: tuple[int, int], start: str, passage: str, between: str, whole: str) -> Iterator[Statement]:
        """Return what two names that follow one another state."""
        members = tuple(map(self._member, ends))
        if self._form == "entities":
            yield fact(start + whole, members)
        elif 0 < len(_WORD.findall(between)) <= MOST_BETWEEN:
            yield fact(start + passage, members)

    def _defined(self, sentences: Sequence[SentenceNames]) -> Iterator[tuple[int, str]]:
        """Return the names that sentences define, with those sentences."""
        for text, spots in sentences:
            if spots and spots[0].begin <= _OPENING and _DEFINES.match(text, spots[0].end):
                yield spots[0].number, text

    def _entity(self, number: int, description: str, *, is_title: bool) -> ExtractedEntity:
        kind, aliases = self._kind(number), self._aliases.get(number, ())
        return ExtractedEntity(self._written[number], kind, description, aliases, is_title)

    def _member(self, number: int) -> Member:
        return Member(self._written[number])

    def _kind(self, number: int) -> str:
        return PHRASE if number >= len(self._names.names) else UNTYPED


class _Writings(NamedTuple):
    """What the names of a corpus are called, by number."""

    written: list[str]
    same: list[int]
    """The number that stands for each: a title with and without its bracket is one where no other shares the latter."""
    aliases: dict[int, tuple[str, ...]]


def _writings(names: CorpusNames) -> _Writings:
    numbers = {key: number for number, key in enumerate(names.keys)}
    called = _Writings(list(names.names), list(range(len(names.names))), {})
    for number, (key, written) in enumerate(zip(names.keys, names.names, strict=True)):
        short = without_bracket(written)
        if key_of(written) != key:  # a title, noted without its bracket
            called.written[number] = short if key_of(short) == key else key
            continue
        other = numbers.get(key_of(short), number)
        if other != number and number in names.titled and names.titled[number] == names.titled.get(other):
            called.same[other] = number
            called.aliases[number] = (short,)
    return called
