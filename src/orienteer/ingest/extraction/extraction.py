"""Extraction in a build: by a model or by statistics of the corpus, merged, and added to the graph of chunks."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from orienteer.display import counted
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.graph.format import Manifest
from orienteer.graph.names import CorpusNames, parts_of
from orienteer.graph.reserved import CO_OCCURS, DOCUMENT, READ, SYNONYM
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.intake import Shelf
from orienteer.ingest.documents.join.weaver import Weaver, batches
from orienteer.ingest.extraction.by_model import Form, ModelExtractor
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
    folded,
)
from orienteer.records import Edge, Node
from orienteer.text.proper_names import key_of, most_chunks, without_bracket

if TYPE_CHECKING:
    from orienteer.protocols import Embedder


SYMMETRIC = frozenset({CO_OCCURS, SYNONYM})


class Extractor:
    """Extracts from the chunks of a shelf."""

    def __init__(self, form: Form, config: BuildConfig, by_model: ModelExtractor | None, progress: Progress) -> None:
        """Without `by_model`, extract by statistics of the corpus."""
        self.by_model = by_model
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
        for node in self._merger.nodes(weaver.builder.has):
            weaver.builder.add_node(node)

    def add_edges(self, weaver: Weaver, embedder: Embedder | None) -> None:
        """Add the edges of the entities and facts; call it after all nodes are added."""
        edges = self._merger.edges(self._chunks)
        if self._statistics is not None:
            edges = chain(edges, self._statistics.edges(self._merger))
        if self._config.synonyms and embedder is not None:
            edges = chain(edges, synonym_edges(self._merger.named(), embedder, self._progress))
        weaver.add_extracted_edges(batches(edges), symmetric=SYMMETRIC)

    def publish(self, builder: GraphBuilder) -> Manifest:
        """Publish the graph. Labels of edge types are their first spellings; word statistics count texts alone."""
        return builder.publish(labels=self._merger.labels(), text_types=READ)

    @property
    def report(self) -> ExtractionSummary:
        """Return the counts of the extraction."""
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
        """Return the notes for a person."""
        report = self.report
        notes = [reject.render() for reject in report.rejected]
        if report.failed:
            notes.append(
                f"nothing extracted from {counted(len(report.failed), 'chunk')}: the model's reply was not an object "
                f"(first: {report.failed[0]})"
            )
        return notes


# Extraction without a model, by statistics of the corpus: names, phrases, definitions, co-occurrence.
#
# 1. Entities are names (`graph.names.mentions`), and phrases (`collocations`), which have their own type.
# 2. The description of a name is the sentence that defines it (X is a ...), or the first of the passage that it titles.
# 3. Statements by form: `hyper`, each sentence with at least two names; `entities`, each sentence for two names in a
#    row; `triples`, two names in a row with the words between them, if these are few. The title of a passage is the
#    topic of its sentences without it.
# 4. `co_occurs` joins names of a sentence and, weaker, of a chunk; each keeps its strongest (`entities`, `triples`).


PHRASE = "phrase"
"""The type of an entity in lower case."""
MOST_BETWEEN = 10
"""Words between two names that state their relation; longer texts are mostly about something else."""
LONGEST_SENTENCE = 1000
"""Characters of a sentence that is a fact; anything longer is a list."""
TOPIC = "topic"
"""The role of a passage's title in a sentence without it."""
MOST_MEMBERS = 20
"""Names of a sentence that is a fact; one with more is a list."""
_EVERY = 2_000
# Characters before a name that is defined: The, A.
_OPENING = 4
_DEFINES = re.compile(r"[^.;:!?]{0,80}?\b(?:is|was|are|were)\s+(?:an?|the|one)\b")
_WORD = re.compile(r"\w+")


class StatisticalExtractor:
    """Reads chunks, given the names of the corpus."""

    def __init__(self, nodes: Iterable[Node], names: CorpusNames, form: Form, config: BuildConfig) -> None:
        """`nodes` are those of `names`, and are iterated several times."""
        self._nodes, self._names, self._form = nodes, names, form
        numbers = {key: number for number, key in enumerate(names.keys)}
        self._written = list(names.names)
        # A title with and without its bracket is one entity if no other title shares the latter.
        self._same = list(range(len(names.names)))
        self._aliases: dict[int, tuple[str, ...]] = {}
        for number, (key, written) in enumerate(zip(names.keys, names.names, strict=True)):
            short = without_bracket(written)
            # The name is a title, noted without its bracket.
            if key_of(written) != key:
                self._written[number] = short if key_of(short) == key else key
                continue
            other = numbers.get(key_of(short), number)
            if other != number and number in names.titled and names.titled[number] == names.titled.get(other):
                self._same[other] = number
                self._aliases[number] = (short,)
        texts = (node.text for _, node in parts_of(nodes))
        phrases = sorted(collocations(texts, share=config.name_share)) if config.phrases else []
        count = len(names.names)
        keys = {key: self._same[number] for number, key in enumerate(names.keys)}
        own = {phrase: count + place for place, phrase in enumerate(phrases) if phrase not in keys}
        self._written += phrases
        self._places = NamePlaces({**keys, **own}, lower=frozenset(own.values()))
        self.co_occurrences = CoOccurrences(most=config.co_occurring)

    def into(self, merger: Merger, progress: Progress) -> None:
        """Merge the records of each chunk, in order."""
        titles: dict[int, set[int]] = {}
        for name, titled in self._names.titled.items():
            for number in titled:
                titles.setdefault(number, set()).add(self._same[name])
        for number, (_, node) in enumerate(parts_of(self._nodes)):
            numbers = {self._same[name] for name in self._names.of(number).tolist()}
            own = titles.get(number, set())
            among = frozenset(numbers)
            sentences = [self._places.within(sentence, among) for sentence in sentences_of(node)]
            descriptions = dict.fromkeys(sorted(numbers), "")
            descriptions.update(dict.fromkeys(distinct(span for sentence in sentences for span in sentence.spans), ""))
            for text, spans in sentences:
                if spans and spans[0].begin <= _OPENING and _DEFINES.match(text, spans[0].end):
                    descriptions[spans[0].number] = descriptions[spans[0].number] or text
            if sentences:
                descriptions.update({title: descriptions[title] or sentences[0].text for title in own})
            entities = [
                ExtractedEntity(self._written[name], self._kind(name), text, self._aliases.get(name, ()), name in own)
                for name, text in descriptions.items()
            ]
            statements = [statement for sentence in sentences for statement in self._statements(sentence, own)]
            merger.add(node.id, entities, statements)
            if self._form != "hyper":
                self.co_occurrences.add(number, list(descriptions), sentences)
            if number % _EVERY == 0:
                progress("finding what stands together", number)

    def edges(self, merger: Merger) -> Iterator[Edge]:
        """Return the edges of names that occur together; call it after the nodes are made."""

        @cache
        def id_of(number: int) -> str:
            return merger.id_of(Key(self._kind(number), folded(self._written[number])))

        return self.co_occurrences.edges(id_of, [part.id for part in self._names.parts])

    def _statements(self, sentence: SentenceNames, titles: set[int]) -> Iterator[Statement]:
        """Yield the statements of a sentence, by the form."""
        text, spans = sentence
        names = distinct(spans)
        if not 1 <= len(names) <= MOST_MEMBERS or len(text) > LONGEST_SENTENCE:
            return
        # A sentence without a title of its passage is taken to be about the first title, which is put before it.
        about = min(titles) if titles and titles.isdisjoint(names) else None
        start = "" if about is None else f"{self._written[about]}: "
        if self._form == "hyper":
            topic = () if about is None else (Member(self._written[about], role=TOPIC),)
            members = (*topic, *map(self._member, names))
            if len(members) > 1:
                yield Statement(start + text, members)
            return
        if about is not None:
            first = spans[0]
            yield from self._pair((about, first.number), start, text[: first.end], text[: first.begin], text)
        for span, other in pairwise(spans):
            if span.number != other.number:
                passage, between = text[span.begin : other.end], text[span.end : other.begin]
                yield from self._pair((span.number, other.number), "", passage, between, text)

    def _pair(self, ends: tuple[int, int], start: str, passage: str, between: str, whole: str) -> Iterator[Statement]:
        """Yield the statement of two names in a row."""
        members = tuple(map(self._member, ends))
        if self._form == "entities":
            yield Statement(start + whole, members)
        elif 0 < len(_WORD.findall(between)) <= MOST_BETWEEN:
            yield Statement(start + passage, members)

    def _member(self, number: int) -> Member:
        return Member(self._written[number])

    def _kind(self, number: int) -> str:
        return PHRASE if number >= len(self._names.names) else UNTYPED


# Noun phrases by statistics of a corpus: words in lower case that occur together far more often than by chance.
#
# Pairs of such words, then pairs of pairs that overlap, so that `heart valve replacement` is one phrase. Measured by
# normalised pointwise mutual information (Bouma 2009).


LEAST_CHUNKS = 3
"""Chunks with a phrase at least."""
COMMON = 0.1
"""A word in more than this share of the texts is not part of a phrase, as in `text.phrases`."""
# Texts in which a word may always occur.
LEAST_COMMON = 5
LEAST_LETTERS = 3
TOGETHER = 0.5
"""Least normalised pointwise mutual information of a phrase; 1 if neither word occurs alone."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_GAP = -1


def collocations(texts: Iterable[str], *, share: float) -> frozenset[str]:
    """Return the phrases of a corpus, two or three folded words. None is in more than this share of the texts."""
    known: dict[str, int] = {}
    # Words by number, and how many each text has.
    found, lengths = array("q"), array("q")
    for text in texts:
        words = _TOKEN.findall(text)
        found.extend(known.setdefault(word, len(known)) if word[0].islower() else _GAP for word in words)
        lengths.append(len(words))
    if not known:
        return frozenset()
    written, numbers, count = list(known), np.array(found, np.int64), len(lengths)
    owner = np.repeat(np.arange(count), np.array(lengths, np.int64))
    apart = 1 + len(written)
    # Texts of each word.
    spread = np.bincount(np.unique(owner * apart + numbers + 1) % apart, minlength=apart)[1:]
    is_word = np.array([len(word) >= LEAST_LETTERS and word.isalpha() for word in written], np.bool_)
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
    pairs = [f"{written[code // len(spread)]} {written[code % len(spread)]}" for code in unique[is_phrase].tolist()]
    # Phrases of three words are two phrases that overlap often enough.
    begin = at[is_phrase[inverse]]
    both = begin[np.isin(begin + 1, begin)]
    counts = Counter(zip(*(numbers[both + place].tolist() for place in range(3)), strict=True))
    threes = [" ".join(written[word] for word in three) for three, count in counts.items() if count >= LEAST_CHUNKS]
    return frozenset([*pairs, *threes])
