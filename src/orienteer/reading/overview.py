"""A graph at first sight: a sentence made from its schema, and questions that are proved to have an answer.

A question is written twice: in English, and as a line of the algebra. It is shown if asking the English gives an
answer, read as that very line.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import Literal, TypeAlias

import numpy as np

from orienteer.elements import Triple
from orienteer.graph.reserved import CHUNK, DOCUMENT, SEPARATOR, TABLE
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.reading import phrasing
from orienteer.reading.foreign import foreign_languages
from orienteer.reading.line import parse
from orienteer.reading.phrasing import is_plural, plural, words_of
from orienteer.reading.wording import QueryWording
from orienteer.records import Record, Result
from orienteer.text.english import STOP
from orienteer.text.sentences import single_spaced

Kind: TypeAlias = Literal["hop", "both", "count", "most", "not", "per", "path", "quotation", "mention"]
Ask: TypeAlias = Callable[[str], Result]
_SECONDS = 4.0  # for the questions of a graph; those that are proved by then are shown
_KINDS: tuple[Kind, ...] = ("hop", "both", "count", "most", "not", "per", "path")
_OF_AN_EDGE = 2  # questions of a kind about the same edges
_TRIES = 4  # questions of a kind that are asked for one with an answer
_MOST_ROWS = 5_000  # nodes of a type that are looked at
_LOOKED = 12  # of these the best joined, and of those with few edges
_FEW = 12  # answers of a question that lists them
_MOST_GROUPS = 500
_LONGEST_NAME = 40  # characters
_NAMED, _SAID = 4, 3  # types that the sentence names, edges that it says
_QUOTED = 3  # questions over documents
_OF_DOCUMENTS = {DOCUMENT: "file", CHUNK: "passage", TABLE: "table"}
_ROMANCE = frozenset(("de", "del", "des", "di", "du", "la", "le", "el"))


class Example(Record):
    """A question with a proved answer."""

    kind: Kind
    question: str


class Overview(Record):
    """What a graph is about."""

    text: str
    examples: tuple[Example, ...] = ()
    """Questions that are proved to have an answer, each of another kind."""
    nouns: dict[str, str] = {}
    """What the nodes of each type are called."""
    asks: tuple[str, ...] = ()
    """A question about each of the schema's edges, in the schema's order; read without its line if no other edge joins
    the two types."""
    notes: tuple[str, ...] = ()


def overview_of(graph: Graph, ask: Ask | None) -> Overview:
    """Return what a graph is about. `ask` answers a question without a model; None for no examples."""
    words = _SchemaInWords(graph)
    made = () if ask is None else _of_documents(graph, ask) if words.is_of_documents else _proved(graph, words, ask)
    return Overview(
        text=words.sentence(),
        examples=tuple(made),
        nouns={name: words.nouns(name) for name in words.types},
        asks=tuple(map(words.asked, graph.schema.edges)),
    )


class _SchemaInWords:
    """The types of a graph as a person calls them."""

    def __init__(self, graph: Graph) -> None:
        self.schema, self.is_of_documents = graph.schema, graph.arrays.is_made_of_documents
        self.types = sorted(self.schema.node_types, key=lambda name: (name != DOCUMENT, -self.schema.node_types[name]))
        self.triples = sorted(self.schema.edges, key=lambda triple: -self.schema.edges[triple])
        labels = map(self.schema.label, (*self.types, *self.schema.edge_types))
        said = [word.casefold() for label in labels for word in words_of(label)]
        is_other = any(language.is_told(said) for language in foreign_languages())
        self.is_english = not is_other and _ROMANCE.isdisjoint(said)
        """Whether its words may stand in English sentences."""

    def noun(self, name: str) -> str:
        """Return what one node of a type is called."""
        own = _OF_DOCUMENTS.get(name) if self.is_of_documents else None
        words = own or " ".join(words_of(self.schema.label(name))) or name
        return words[:-1] if self.is_english and is_plural(words) else words

    def nouns(self, name: str, count: int = 2) -> str:
        """Return what so many nodes of a type are called."""
        return plural(self.noun(name)) if count != 1 and self.is_english else self.noun(name)

    def phrases(self, triple: Triple) -> tuple[str, str]:
        """Return what sources do to a target, `{}`, and the relative of targets; empty if not surely English."""
        is_mutual, label = triple.type in self.schema.symmetric, self.schema.label(triple.type)
        phrases = phrasing.relation(label, self.noun(triple.source), self.noun(triple.target), is_mutual=is_mutual)
        predicate = phrases.of_sources.predicate or ""
        be = re.fullmatch(r"are (?:\w+ )*?(\w+) (?!of )\w+ \{\}", predicate)
        is_sure = be is None or phrasing.is_participle(be[1]) or be[1] in (*phrasing.RELATED, "in", "the")
        is_noun = STOP.isdisjoint(words_of(self.schema.label(triple.target))) and "” link" not in predicate
        return (predicate, phrases.of_targets.relative or "") if self.is_english and is_sure and is_noun else ("", "")

    def sentence(self) -> str:
        """Return what the graph is about."""
        counts = self.schema.node_types
        named = [f"{counts[name]:,} {self.nouns(name, counts[name])}" for name in self.types[:_NAMED]]
        if (more := len(self.types) - _NAMED) > 0:
            named.append(f"{more} more {'type' if more == 1 else 'types'}")
        listed = " and ".join(filter(None, (", ".join(named[:-1]), *named[-1:])))
        facts, told = list[str](), set[str]()
        for triple in self.triples:  # each tells of a type that none before it tells of
            if len(facts) < _SAID and not told.issuperset(triple[::2]) and (fact := self._fact(triple)):
                facts.append(fact)
                told.update(triple[::2])
        about = f"; {', '.join(facts)}" if facts else ""
        return listed if self.is_of_documents else f"{sum(counts.values()):,} nodes: {listed}{about}"

    def _fact(self, triple: Triple) -> str:
        """Return that there are such edges, if it can be said: `languages are influenced by languages`."""
        (predicate, _), sources = self.phrases(triple), self.nouns(triple.source)
        if predicate.startswith("have "):  # `tracks have genres`
            owned = " ".join(words_of(self.schema.label(triple.type))).removeprefix("has ")
            return f"{sources} have {owned if is_plural(owned) else plural(owned)}"
        return predicate and f"{sources} {predicate.format(self.nouns(triple.target))}"

    def asked(self, triple: Triple) -> str:
        """Return the question of how many sources each target has."""
        sources, target, (predicate, _) = self.nouns(triple.source), self.noun(triple.target), self.phrases(triple)
        ends = {triple.source, triple.target}
        if self.is_english and [{one.source, one.target} for one in self.triples].count(ends) == 1 < len(ends):
            return f"How many {sources} per {target}?"  # the reader takes the only edge between the two
        if not predicate or predicate.endswith(f"the {target} {{}}"):
            return f"{sources} per {target}"
        return f"How many {sources} {predicate.format(f'each {target}')}?"


def _proved(graph: Graph, words: _SchemaInWords, ask: Ask) -> Iterator[Example]:
    """Yield one question of each kind, until the time is over; kinds begin with different edges."""
    wording, all_edges = QueryWording(graph), [_Edges(graph, words, triple) for triple in words.triples]
    named = sorted((edges for edges in all_edges if edges.names), key=lambda edges: not edges.are_words)
    edges, end = [one for one in named if one.predicate], math.inf  # what the first one loads is not of the time
    best = list({one.triple.target: one.names[0] for one in reversed(named) if one.are_words}.values())
    paths = [
        (f"How are {one} and {other} connected?", f'path from "{one}" to "{other}"') for one, other in pairwise(best)
    ]
    for number, kind in enumerate(_KINDS):
        at = number % max(len(edges), 1)
        made = (pair for one in (*edges[at:], *edges[:at]) for pair in islice(one.made(kind), _OF_AN_EDGE))
        for question, line in islice(paths if kind == "path" else made, _TRIES):
            if time.monotonic() > end:
                return
            result, end = ask(question), min(end, time.monotonic() + _SECONDS)
            is_read = result.reading is not None and result.reading.text == wording.line(parse(line, graph))
            if is_read and (result.answer or result.total):
                yield Example(kind=kind, question=question)
                break


class _Edges:
    """The edges of a type between two node types, with questions about them."""

    def __init__(self, graph: Graph, words: _SchemaInWords, triple: Triple) -> None:
        self.triple, self._arrays = triple, graph.arrays
        self._source, self._target = words.noun(triple.source), words.noun(triple.target)
        self._sources, self._targets = words.nouns(triple.source), words.nouns(triple.target)
        self.predicate, self._relative = words.phrases(triple)
        self._from, label, self._to = map(words.schema.label, (triple.source, triple.type, triple.target))
        ends = ("<-", "->") if triple.type in words.schema.symmetric else ("-", "->")
        self._arrow, self._back = f"{ends[0]}{label}{ends[1]}", f"<-{label}-"

    @cached_property
    def _ends(self) -> tuple[Rows, Rows]:
        """The targets and the sources of edges, aligned: (n,) each; of a large type those of the first nodes."""
        arrays, number = self._arrays, self._arrays.types.nodes.index(self.triple.target)
        rows = np.flatnonzero(arrays.node_types == number)[:_MOST_ROWS].astype(np.int32)
        entries = arrays.entries(rows, [self.triple.source], [self.triple.type])
        is_in = entries.kind & 1 == 1 if self.triple.source == self.triple.target else entries.kind >= 0
        return entries.owner[is_in], entries.neighbor[is_in]

    @cached_property
    def names(self) -> list[str]:
        """The targets that can be named, those with the most sources first."""
        rows, counts = np.unique(self._ends[0], return_counts=True)
        best = np.lexsort((rows, -counts))
        few = rows[best[counts[best] <= _FEW]]
        looked = dict.fromkeys([*rows[best][:_LOOKED].tolist(), *few[:_LOOKED].tolist()])
        return [name for row in looked if self._is_telling(name := self._arrays.names[row])]

    def _is_telling(self, name: str) -> bool:
        """Return whether a name is of one node, and reads well in a sentence."""
        is_plain = 1 < len(name) <= _LONGEST_NAME and name == single_spaced(name) and not set('"?;|') & set(name)
        return is_plain and any(map(str.isalpha, name)) and len(self._arrays.candidates(name)) == 1

    @property
    def are_words(self) -> bool:
        """Whether most names of targets are words, and no codes."""
        return sum(any(map(str.islower, name)) for name in self.names) * 2 > len(self.names)

    def _of(self, name: str) -> Rows:
        """Return the sources of a target, ascending."""
        return np.unique(self._ends[1][self._ends[0] == self._arrays.candidates(name)[0]])

    def _is_many(self, end: int) -> bool:
        """Return whether some of the targets (0) or the sources (1) have several edges."""
        return len(np.unique(self._ends[end])) < len(self._ends[end])

    def made(self, kind: Kind) -> Iterator[tuple[str, str]]:
        """Yield questions of a kind in English, the best first, each with the line that it means."""
        if kind in ("most", "per"):
            yield from self._over_all(kind)
        names = [name for name in self.names if kind == "count" or 1 < len(self._of(name)) <= _FEW]
        for name in names if kind in ("hop", "count") else ():
            which, form = ("How many", "count ") if kind == "count" else ("Which", "")
            line = f'{form}{self._from} that {self._arrow} "{name}"'
            yield f"{which} {self._sources} {self.predicate.format(name)}?", line
        preposition = self.predicate.removesuffix(" {}").rpartition(" ")[2]
        but = f"but not {preposition}" if preposition in phrasing.PREPOSITIONS else "but not"
        for one, other in self._pairs(names) if kind in ("both", "not") else ():
            line = f'{self._from} that {self._arrow} "{one}" and {"not " * (kind == "not")}{self._arrow} "{other}"'
            said = self.predicate.format(f"both {one} and {other}" if kind == "both" else one)
            yield f"Which {self._sources} {said}{f' {but} {other}' * (kind == 'not')}?", line

    def _pairs(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield two nodes that have sources in common."""
        targets, sources = self._ends
        for name in names[:_TRIES]:
            others, counts = np.unique(targets[np.isin(sources, self._of(name))], return_counts=True)
            for row in others[np.lexsort((others, -counts))][:_TRIES].tolist():
                if (other := self._arrays.names[row]) != name and self._is_telling(other):
                    yield name, other

    def _over_all(self, kind: Kind) -> Iterator[tuple[str, str]]:
        """Yield questions for what has the most edges, one way and the other, or for how many each has."""
        is_between = self._source != self._target and self._is_many(0)
        if kind == "per" and is_between and len(np.unique(self._ends[0])) <= _MOST_GROUPS:
            line = f"count {self._from} per {self._arrow} {self._to}"
            yield f"How many {self._sources} per {self._target}?", line
        if kind == "most" and self._relative and not self.predicate.startswith("have ") and self._is_many(1):
            line = f"most by number of {self._arrow} {self._to} of {self._from}"
            yield f"Which {self._relative.format(self._source)} the most {self._targets}?", line
        if kind == "most" and self.predicate == f"have the {self._target} {{}}" and is_between:
            line = f"most by number of {self._back} {self._from} of {self._to}"
            yield f"Which {self._target} has the most {self._sources}?", line


def _of_documents(graph: Graph, ask: Ask) -> Iterator[Example]:
    """Yield questions that headings ask, if what is quoted is below them, and one for what mentions a heading."""
    arrays, end, questions = graph.arrays, time.monotonic() + _SECONDS, dict[str, int]()
    rows = [row for row in range(min(len(arrays.names), _MOST_ROWS)) if arrays.type_at(row) == CHUNK]
    # Of short sections in one passage the headings are lines of its text.
    texts = [(row, (arrays.names[row].split(SEPARATOR)[-1], *arrays.texts[row].split("\n"))) for row in rows]
    headings = [(row, line) for row, lines in texts for line in lines if line[-1:].isalnum() or line[-1:] == "?"]
    for row, heading in headings:
        if (question := _question_of(heading, arrays.texts[row])) is not None:
            questions.setdefault(question, row)
    left = _QUOTED
    for question, row in questions.items():
        if not left or time.monotonic() > end:
            break
        result = ask(question)
        quoted = {node for citation in result.citations for node in citation.ids}
        if result.answer_kind == "quotation" and result.refusal is None and arrays.ids[row] in quoted:
            left -= 1
            yield Example(kind="quotation", question=question)
    named = [name for _, name in headings if re.fullmatch(r"[A-Z][a-z]+( [a-z]{3,}){1,2}", name)]
    for name in list(dict.fromkeys(named))[:_TRIES]:
        result = ask(question := f"Which documents mention {name[0].lower()}{name[1:]}?")
        if result.answer_kind == "set" and 0 < (result.answer or "").count(", ") < _FEW:
            yield Example(kind="mention", question=question)
            return


def _question_of(heading: str, text: str) -> str | None:
    """Return the question that a heading is, or that a sentence which explains its words answers; None if neither."""
    if re.fullmatch(r"(?i)(who|what|when|where|which|why|how|can|do|does|is|are)\b.{6,80}\?", heading):
        return heading
    if steps := re.fullmatch(r"(?i)how to (.{4,60})", heading):
        return f"How do I {steps[1]}?"
    named = heading.removeprefix("The ")
    is_said = f"{named} is " in text or f"{named} are " in text
    if not is_said or not 4 < len(heading) <= _LONGEST_NAME:
        return None
    defined = re.search(rf"(?:^|[.!]\s|\n)((?:the )?{re.escape(named)}) (is|are) (?:an?|the)\b", text, re.IGNORECASE)
    return None if defined is None else f"What {defined[2]} {re.sub('^The', 'the', defined[1])}?"
