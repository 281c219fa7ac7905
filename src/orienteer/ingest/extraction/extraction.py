"""Extraction in a build: by a model or by statistics, merged, and added to the graph beside the chunks."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.display import counted
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.format import Manifest
from orienteer.graph.names import CorpusNames, parts_of
from orienteer.graph.reserved import CO_OCCURS, DOCUMENT, READ, SYNONYM
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.intake import Shelf
from orienteer.ingest.documents.join.weaver import Weaver, batches
from orienteer.ingest.extraction.by_model import Form, ModelExtractor
from orienteer.ingest.extraction.gold import GoldTriples
from orienteer.ingest.extraction.merger import (
    CoOccurrences,
    Key,
    Merger,
    NamePlaces,
    SentenceNames,
    distinct,
    sentences_of,
    synonym_edges,
)
from orienteer.ingest.extraction.records import (
    UNTYPED,
    ExtractedEntity,
    ExtractionSummary,
    Member,
    Statement,
    fact,
    folded,
)
from orienteer.records import Node
from orienteer.text.proper_names import key_of, most_chunks, without_bracket

if TYPE_CHECKING:
    from orienteer.protocols import Embedder


SYMMETRIC = frozenset({CO_OCCURS, SYNONYM})


class Extractor:
    """Extracts from the chunks of a shelf."""

    def __init__(
        self,
        form: Form,
        config: BuildConfig,
        by_model: ModelExtractor | None,
        progress: Progress,
        gold: GoldTriples | None = None,
    ) -> None:
        """Without `by_model`, statistics of the corpus take its place."""
        self.gold, self.by_model = gold, by_model
        self._form, self._config, self._progress = form, config, progress
        self._merger = Merger()
        self._statistics: StatisticalExtractor | None = None
        self._chunks = 0

    def add_nodes(self, weaver: Weaver, shelf: Shelf) -> None:
        """Read the chunks and add entities and facts. Raises `ModelError`."""
        self._chunks = sum(node.type != DOCUMENT for node in shelf)
        if self.by_model is not None:
            self.by_model.into(self._merger, shelf)
        else:
            self._statistics = StatisticalExtractor(shelf, weaver.names, self._form, self._config)
            self._statistics.into(self._merger, self._progress)
        if self.gold is not None:
            self.gold.into(self._merger)
        weaver.add_extracted_nodes(self._merger.nodes)

    def add_edges(self, weaver: Weaver, embedder: Embedder | None) -> None:
        """Add the edges of the entities and facts; call it when all nodes are there."""
        edges: Iterator[EdgeBatch] = batches(self._merger.edges(self._chunks))
        if self._statistics is not None:
            edges = chain(edges, self._statistics.edges(self._merger))
        if self._config.synonyms and embedder is not None:
            edges = chain(edges, synonym_edges(self._merger.named(), embedder, self._progress))
        weaver.add_extracted_edges(edges, symmetric=SYMMETRIC)

    def publish(self, builder: GraphBuilder) -> Manifest:
        """Publish the graph. Edge types are labelled as first written; word statistics count the texts alone."""
        return builder.publish(labels=self._merger.labels(), text_types=READ)

    @property
    def report(self) -> ExtractionSummary:
        """What was extracted."""
        by_model = self.by_model
        return ExtractionSummary(
            form=self._form,
            model=None if by_model is None else by_model.model.name,
            entities=self._merger.entities,
            facts=self._merger.facts,
            failed=() if by_model is None else tuple(by_model.failed),
            rejected=self._merger.rejects.by_reason(),
        )

    @property
    def notes(self) -> list[str]:
        """What a person should know of it."""
        report = self.report
        notes = [reject.render() for reject in report.rejected]
        notes += [] if self.gold is None else [self.gold.note]
        if report.failed:
            notes.append(
                f"nothing extracted from {counted(len(report.failed), 'chunk')}: the model's reply was not an object "
                f"(first: {report.failed[0]})"
            )
        return notes


# Extraction without a model, by the statistics of the corpus: names, phrases, definitions, what stands together.
#
# 1. Entities are names (`graph.names.mentions`), and phrases (`collocations`), which have a type of their own.
# 2. The description of a name: the sentence that defines it (X is a ...), or the first of the passage that it titles.
# 3. Statements by form: `hyper`, each sentence with two names or more; `entities`, each sentence by the names that
# follow
#    one another in it; `triples`, those two with the words between them, where these are few. What a passage is titled
#    is the topic of its sentences that do not name it.
# 4. `co_occurs` joins names of a sentence and, less, of a chunk; each has its strongest (`entities` and `triples`).


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


# Noun phrases by the statistics of a corpus: words in lower case that stand together far more often than by chance.
#
# Pairs of such words, then pairs of pairs that overlap, so that `heart valve replacement` is one phrase. Measured by
# normalised pointwise mutual information (Bouma 2009).


LEAST_CHUNKS = 3
"""Chunks that a phrase stands in."""
COMMON = 0.1
"""A word in more than this share of the texts is no part of a phrase, as in `text.phrases`."""
LEAST_COMMON = 5  # texts in which a word may stand however few there are
LEAST_LETTERS = 3
TOGETHER = 0.5
"""Normalised pointwise mutual information of two words from which on they are a phrase; 1 where neither goes alone."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_GAP = -1


def collocations(texts: Iterable[str], *, share: float) -> frozenset[str]:
    """Return the phrases of a corpus: two words or three, folded. None stands in more than this share of the texts."""
    words, begins, count = _numbered(texts)
    if not words.written:
        return frozenset()
    numbers = np.array(words.codes, np.int64)
    owner = np.repeat(np.arange(count), np.diff(begins))
    apart = 1 + len(words.written)
    spread = np.bincount(np.unique(owner * apart + numbers + 1) % apart, minlength=apart)[1:]  # texts of each word
    is_word = np.array([len(word) >= LEAST_LETTERS and word.isalpha() for word in words.written], np.bool_)
    is_part = (spread <= max(LEAST_COMMON, COMMON * count)) & is_word
    numbers = np.where((numbers >= 0) & is_part[numbers], numbers, _GAP)
    first, second = numbers[:-1], numbers[1:]
    at = np.flatnonzero((first >= 0) & (second >= 0) & (owner[:-1] == owner[1:]))
    codes = first[at] * len(spread) + second[at]
    unique, inverse = np.unique(codes, return_inverse=True)
    together = np.bincount(np.unique(inverse * count + owner[at]) // count, minlength=len(unique))
    chance = spread[unique // len(spread)] * spread[unique % len(spread)] / count**2
    rate = together / count
    mutual = np.log(rate / chance) / -np.log(np.minimum(rate, 1 - 1e-9))
    is_phrase = (together >= LEAST_CHUNKS) & (together <= most_chunks(count, share)) & (mutual >= TOGETHER)
    pairs = {
        (words.written[int(code) // len(spread)], words.written[int(code) % len(spread)]) for code in unique[is_phrase]
    }
    marked = at[is_phrase[inverse]]  # where a phrase of two begins
    threes = _threes(numbers, marked, words.written)
    return frozenset([" ".join(pair) for pair in pairs] + threes)


def _threes(numbers: NDArray[np.int64], marked: NDArray[np.int64], written: list[str]) -> list[str]:
    """Return the phrases of three words: two phrases that share their middle, often enough."""
    both = marked[np.isin(marked + 1, marked)]
    counts = Counter(zip(*(numbers[both + place].tolist() for place in range(3)), strict=True))
    return [" ".join(written[word] for word in three) for three, count in counts.items() if count >= LEAST_CHUNKS]


class _Numbers:
    """Words by number, as they come."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.codes = array("q")
        self._numbers: dict[str, int] = {}

    def add(self, word: str) -> None:
        if not word[0].islower():
            self.codes.append(_GAP)
            return
        number = self._numbers.setdefault(word, len(self._numbers))
        if number == len(self.written):
            self.written.append(word)
        self.codes.append(number)


def _numbered(texts: Iterable[str]) -> tuple[_Numbers, NDArray[np.int64], int]:
    words, begins = _Numbers(), array("q", [0])
    for text in texts:
        for word in _TOKEN.findall(text):
            words.add(word)
        begins.append(len(words.codes))
    return words, np.array(begins, np.int64), len(begins) - 1
