"""A graph as text: nodes, edges and the schema in the forms that models and people read.

[gene:tp53] TP53 (Gene)            a node: its id, its name, its type
-treats-> Disease                  a kind of edge, seen from the node that it leaves
<-treats-                          an edge, seen from the node that it reaches
Compound -treats-> Disease 30      an edge type between two node types, with how many there are
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from orienteer.graph.reserved import CONTENTS
from orienteer.graph.store import Graph
from orienteer.records import Direction, Edge, EdgeEnd, JsonValue, Kind, Question, Ranked, Source, Triple, WalkedEdge
from orienteer.text.english import FORMS, telling_words
from orienteer.text.sentences import one_line, single_spaced, snippet, split, value_text

MOST_TYPES = 60
"""Node types that a schema lists."""
MOST_TRIPLES = 200
"""Ways in which an edge type joins two node types that a schema lists: a prompt has to end."""
PARTIAL = (
    "(partial): this graph holds only some of these: a count over them is too low, and nothing found proves nothing"
)
"""What a schema says of such types, once."""
_MOST_PROPERTIES = 40
_MOST_VALUES = 5  # of a node without a text
_MOST_NAMED = 30  # node types in one line
_MOST_ARROWS = 3  # edges that lead to a node in one line


def title(graph: Graph, row: int) -> str:
    """Return a node as every reply shows it: `[id] name (Type)`, an id that is the name only once."""
    node_id, name = graph.arrays.ids[row], one_line(graph.arrays.names[row])
    return (
        f"[{node_id}] {name} ({graph.arrays.type_at(row)})"
        if name != node_id
        else f"[{node_id}] ({graph.arrays.type_at(row)})"
    )


def hit_title(hit: Ranked) -> str:
    """Return a hit as a prompt shows it: `[id] name (Type)`."""
    return f"[{hit.id}] {one_line(hit.name)} ({hit.type})"


def arrow(label: str, direction: Direction | None) -> str:
    """Return an edge as an arrow: `-treats->`, from its other end `<-treats-`, without a direction `-resembles-`."""
    return f"{'<' * (direction == 'in')}-{label}-{'>' * (direction == 'out')}"


def kind_line(graph: Graph, kind: Kind) -> str:
    """Return a kind of edge: `-treats-> Disease`, `<-treats- Compound`, `-resembles- Disease`."""
    direction = None if kind.edge_type in graph.schema.symmetric else kind.direction
    return f"{arrow(graph.schema.label(kind.edge_type), direction)} {kind.node_type}"


def partly(graph: Graph, type_name: str) -> str:
    """Return the suffix of a type's count: ` (partial)` if the graph has only some of it, else nothing.

    PARTIAL says what it means.
    """
    return " (partial)" if type_name in graph.schema.partial else ""


def counts_line(graph: Graph, counts: Mapping[Kind, int], *, most: int = 12) -> str:
    """Return counts by kind of edge, most first."""
    parts = [
        f"{kind_line(graph, kind)} {count}{partly(graph, kind.edge_type)}"
        for kind, count in list(counts.items())[:most]
    ]
    rest = len(counts) - most
    return "; ".join(parts) + (f"; {rest} more kind{'s' * (rest != 1)}" if rest > 0 else "")


def edge_note(graph: Graph, edges: Iterable[Edge], node_id: str) -> str:
    """Return the edges that lead to a node, as seen from their other end."""
    schema = graph.schema
    arrows = dict.fromkeys(
        arrow(
            schema.label(edge.type),
            None if edge.type in schema.symmetric else "out" if edge.target == node_id else "in",
        )
        for edge in edges
    )
    shown = " ".join(list(arrows)[:_MOST_ARROWS])
    return f"{shown} +{len(arrows) - _MOST_ARROWS}" if len(arrows) > _MOST_ARROWS else shown


def edge_lines(graph: Graph, edges: Iterable[Edge | WalkedEdge]) -> list[str]:
    """Return edges as `name -type-> name`, by the names of their ends."""
    schema, lines = graph.schema, []
    for edge in edges:
        source, target = (graph.arrays.names[graph.arrays.row(end)] for end in (edge.source, edge.target))
        lines.append(f"{source} {arrow(schema.label(edge.type), _pointing(graph, edge.type))} {target}")
    return lines


def ends_of(
    graph: Graph, node: str, edges: Iterable[Edge | WalkedEdge], parts: Mapping[str, tuple[str, float]] | None = None
) -> tuple[EdgeEnd, ...]:
    """Return the nodes that edges of a node join, each once, without the node itself; `parts` are roles and layers."""
    parts = parts or {}
    arrays = graph.arrays
    ends = []
    for end in dict.fromkeys(end for edge in edges for end in (edge.source, edge.target) if end != node):
        row, (role, layer) = arrays.row(end), parts.get(end, ("", 0.0))
        ends.append(EdgeEnd(id=end, type=arrays.type_at(row), name=arrays.names[row], role=role, layer=layer))
    return tuple(ends)


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text, single-spaced, without blank ones."""
    return [single_spaced(line) for line in text.splitlines() if line.strip()]


def indented(text: str) -> list[str]:
    """Return the lines of a text, indented, so that none looks like a line of ours."""
    return [f"  {line}" for line in plain_lines(text)]


def types_by_size(graph: Graph) -> list[str]:
    """Return the node types, those with most nodes first."""
    counts = graph.schema.node_types
    return sorted(counts, key=lambda name: (-counts[name], name))


def triples_by_size(graph: Graph) -> list[Triple]:
    """Return the triples of two node types and an edge type, those with most edges first."""
    counts = graph.schema.edges
    return sorted(counts, key=lambda triple: (-counts[triple], triple))


def triple_line(graph: Graph, triple: Triple, label: str) -> str:
    """Return an edge type between two node types: `Compound -treats-> Disease`."""
    return f"{triple.source} {arrow(label, _pointing(graph, triple.type))} {triple.target}"


def _pointing(graph: Graph, edge_type: str) -> Direction | None:
    """Return the direction of an edge, seen from its source."""
    return None if edge_type in graph.schema.symmetric else "out"


def type_names(graph: Graph) -> str:
    """Return the labels of the node types in one line, those with most nodes first."""
    names = types_by_size(graph)
    return ", ".join(map(graph.schema.label, names[:_MOST_NAMED])) + (", ..." if len(names) > _MOST_NAMED else "")


def schema_lines(graph: Graph) -> list[str]:
    """Return the schema as a prompt shows it: node types, then each edge type with its ends, most first."""
    schema, types, triples = graph.schema, types_by_size(graph), triples_by_size(graph)
    more = f"; {len(types) - MOST_TYPES} more" if len(types) > MOST_TYPES else ""
    counts = (f"{name} {schema.node_types[name]}{partly(graph, name)}" for name in types[:MOST_TYPES])
    lines = [f"node types: {'; '.join(counts)}{more}"]
    for triple in triples[:MOST_TRIPLES]:
        label = schema.label(triple.type)
        code = f" [{triple.type}]" if label != triple.type else ""
        count = f"{schema.edges[triple]}{partly(graph, triple.type)}"
        lines.append(f"{triple_line(graph, triple, label)}{code} {count}")
    if len(triples) > MOST_TRIPLES:
        lines.append(f"{len(triples) - MOST_TRIPLES} rarer ones")
    if schema.partial:
        lines.append(PARTIAL)
    if graph.arrays.manifest.properties:
        lines.append("properties: " + ", ".join(graph.arrays.manifest.properties[:_MOST_PROPERTIES]))
    return lines


def present(graph: Graph, row: int, *, score: float, query: str, votes: int | None = None, why: str = "") -> Ranked:
    """Return a hit with the part of its text that shows best why it fits a query. For several: `Presentation`."""
    return Presentation(graph, query)(row, score=score, votes=votes, why=why)


def bare_hit(graph: Graph, row: int, *, score: float, why: str = "", **shown: Any) -> Ranked:  # Any: fields of a hit
    """Return a node as a hit, without a text unless `shown` has it."""
    arrays = graph.arrays
    return Ranked(id=arrays.ids[row], type=arrays.type_at(row), name=arrays.names[row], score=score, why=why, **shown)


def values_of(graph: Graph, rows: Sequence[int]) -> list[str]:
    """Return the first values of each node on one line: a row of a table that has no text is known by them."""
    told: list[list[str]] = [[] for _ in rows]
    for name in graph.arrays.properties.names if rows else ():
        values = graph.arrays.properties.values(name, np.array(rows, np.int32))
        for own, value in zip(told, values, strict=True):
            if value is not None and len(own) < _MOST_VALUES:
                members = value if isinstance(value, list) else [value]
                own.append(f"{name}: {', '.join(map(value_text, members))}")
    return list(map("; ".join, told))


class Presentation:
    """Shows nodes as hits of one query. Passages share most of their words: each is looked up once for all hits."""

    def __init__(self, graph: Graph, query: str) -> None:
        self._graph, self._query = graph, query

    def __call__(self, row: int, *, score: float, votes: int | None = None, why: str = "") -> Ranked:
        """Return a node as a hit with the part of its text that shows best why it fits the query.

        For a passage that is its best sentences or rows, with their place in its file.
        """
        arrays = self._graph.arrays
        text = arrays.texts[row]
        part: dict[str, Any]  # Any: fields of a hit
        if arrays.is_made_of_documents:
            properties = arrays.properties.of(row)
            header = header_lines(properties, text)
            best = excerpt(text, self._terms, header=header)
            line = text.count("\n", 0, best.best)
            source = _source(properties, line=line, row=line - header if header else None)
            part = {"text": best.text, "span": best.span, "marks": best.marks, "source": source}
        else:
            part = {"text": snippet(text or values_of(self._graph, [row])[0], self._weights, arrays.tokenizer.terms_of)}
        return bare_hit(self._graph, row, score=score, why=why, votes=votes, **part)

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The idf of each term of the query."""
        index, terms = self._graph.arrays.text_index, self._graph.arrays.tokenizer.query(self._query)
        return {term: posting.idf for term in terms if (posting := index.posting(term))}

    @cached_property
    def _terms(self) -> SnippetTerms:
        return snippet_terms(self._graph, telling_words(self._query))


def header_lines(properties: Mapping[str, JsonValue], text: str) -> int:
    """Return the number of lines above the rows of a passage's table, caption and header; 0 for prose."""
    rows = properties.get("rows") if "first_row" in properties else 0
    return max(0, text.count("\n") + 1 - rows) if isinstance(rows, int) and rows else 0


def place_in(graph: Graph, row: int, begin: int) -> Source:
    """Return the place in its file of a sentence or row that begins at this character of a passage."""
    properties, text = graph.arrays.properties.of(row), graph.arrays.texts[row]
    header, line = header_lines(properties, text), text.count("\n", 0, begin)
    return _source(properties, line=line, row=line - header if header else None)


def snippet_terms(
    graph: Graph, words: Sequence[str], spellings: Mapping[str, Sequence[str]] | None = None
) -> SnippetTerms:
    """Return the terms of a query's telling words with their idf: an excerpt is chosen and marked by them.

    The forms of a word count as the word, and so do its other `spellings`.
    """
    index, tokenizer, known = graph.arrays.text_index, graph.arrays.tokenizer, graph.arrays.word_forms
    weights: dict[str, float] = {}
    forms: dict[str, str] = {}  # by another form of a word, the term that stands for all of them
    for word in dict.fromkeys(words):
        others = [*FORMS.get(word, ()), *known.inflected(word), *(spellings or {}).get(word, ())]
        others = [form for form in others if form != word]
        postings = [index.posting(term) for term in tokenizer.expand(word)]
        own = [posting for posting in postings if posting]
        if others and (forms_there := own or [*filter(None, map(index.posting, map(tokenizer.stem, others)))]):
            term = tokenizer.stem(word)
            weights[term] = min(posting.idf for posting in forms_there)
            forms |= dict.fromkeys(others, term)
        else:
            weights |= {posting.term: posting.idf for posting in postings if posting}

    def terms_of(word: str) -> Set[str]:
        terms = tokenizer.terms_of(word)
        return terms | {forms[word.casefold()]} if word.casefold() in forms else terms

    return SnippetTerms(weights, terms_of, frozenset(form[0] for form in (*weights, *forms)))


def present_all(graph: Graph, question: Question, reasons: Mapping[int, str]) -> tuple[Ranked, ...]:
    """Return the first `k` of these rows that pass the question's filters as hits, each with its reason."""
    mask = graph.arrays.mask(question.node_types or None, question.where)
    rows = [row for row in reasons if mask is None or mask[row]][: question.k]
    hit_of = Presentation(graph, question.text)
    return tuple(hit_of(row, score=len(rows) - place, why=reasons[row]) for place, row in enumerate(rows))


def source_of(graph: Graph, row: int) -> Source | None:
    """Return the place of a chunk, a table or a document in its file, or None in a graph of another kind."""
    if not graph.arrays.is_made_of_documents:
        return None
    return _source(graph.arrays.properties.of(row))


def _source(properties: Mapping[str, JsonValue], *, line: int = 0, row: int | None = None) -> Source:
    """Return the place of a passage in its file; of a line of its text, and of a row of a table, counted from 0."""
    file, page, heading = properties.get("file"), properties.get("page"), properties.get("heading")
    lines, first_line = properties.get("lines"), properties.get("line")
    for numbers in lines.split(",") if isinstance(lines, str) else ():
        low, _, high = numbers.partition("-")
        if low.isdecimal() and 0 <= line <= int(high or low) - int(low):
            first_line = int(low) + line
        line -= int(high or low) - int(low) + 1
    first, count = properties.get("first_row", properties.get("row")), properties.get("rows", 1)
    is_markdown = isinstance(file, str) and file.casefold().endswith((".md", ".markdown", ".mdx", ".mkd"))
    if row is not None and isinstance(first_line, int) and isinstance(first, int) and is_markdown:
        first_line += first + row + 1  # a row a line, under the header and the line of dashes
    rows = None
    if isinstance(first, int) and isinstance(count, int) and count:
        rows = str(first) if count == 1 else f"{first}-{first + count - 1}"
        rows = str(first + row) if row is not None and 0 <= row < count else rows
    return Source(
        file=file if isinstance(file, str) else None,
        line=first_line if isinstance(first_line, int) else None,
        page=page if isinstance(page, int) else None,
        heading=heading if isinstance(heading, str) else None,
        rows=rows,
    )


# What a person is shown of a passage: the part that fits a question best, whole sentences or rows of it.
#
# A text that is short enough is shown whole. Of a longer one it is the run of neighbouring sentences, or of rows
# beneath their header, in which the rarest words of the question stand.


LONGEST = 800
"""Characters of an excerpt. A paragraph has some 600."""
_WORD = re.compile(r"[^\W_]+")
# Characters of a line from which on it may have been wrapped, with at least five words.
_WRAPPED = 40


class PassageExcerpt(NamedTuple):
    """A part of a text."""

    text: str
    span: tuple[int, int]
    """The characters of the whole text that it was taken from, the end left out; the header of a table not counted."""
    marks: tuple[tuple[int, int], ...]
    """Where words of the question stand in it: characters of the excerpt."""
    best: int
    """Where its best sentence or row begins in the whole text."""


class TextPiece(NamedTuple):
    """A sentence, or a row of a table, by its characters in the whole text."""

    begin: int
    end: int
    terms: frozenset[str]
    """The terms of the question that stand in it."""


@dataclass(frozen=True, slots=True)
class SnippetTerms:
    """The terms of a question and how to find them. For one question: it remembers the words of texts."""

    weights: Mapping[str, float]
    """By term: its idf."""
    terms: Callable[[str], Set[str]]
    """The terms of a word."""
    letters: frozenset[str] = frozenset()
    """What a word begins with that has a term, unless it has digits; empty for anything."""
    _known: dict[str, Set[str]] = field(default_factory=dict)

    def spans(self, text: str) -> list[tuple[int, int, Set[str]]]:
        """Return the begin and end of each word of the question in a text, with its terms."""
        known, places = self._known, []
        for word in _WORD.finditer(text):
            terms = known.get(word[0])
            if terms is None:
                terms = self._terms_of(word[0])
            if terms:
                places.append((word.start(), word.end(), terms))
        return places

    def terms_in(self, text: str) -> frozenset[str]:
        """Return the terms of the question in a text."""
        known, standing = self._known, set[str]()
        for word in _WORD.findall(text):  # without places that takes half the time of `found`
            terms = known.get(word)
            if terms is None:
                terms = self._terms_of(word)
            if terms:
                standing |= terms
        return frozenset(standing)

    def _terms_of(self, word: str) -> Set[str]:
        """Return the terms of the question that a word has, and remember them."""
        # A stem begins as its word does, and most words begin with no letter of the question: they need no stemming.
        is_other = self.letters and word.isascii() and word.isalpha() and word[0].lower() not in self.letters
        terms = self._known[word] = frozenset() if is_other else self.weights.keys() & self.terms(word)
        return terms

    def terms_of(self, word: str) -> Set[str]:
        """Return the terms of the question that a word has."""
        terms = self._known.get(word)
        return self._terms_of(word) if terms is None else terms

    def weight(self, terms: Set[str]) -> float:
        """Return the weight of some terms together."""
        return sum(self.weights[term] for term in sorted(terms))


def excerpt(text: str, shown: SnippetTerms, *, header: int = 0) -> PassageExcerpt:
    """Return the part of a text that fits a question best, at most `LONGEST` characters and an ellipsis at each end.

    The first `header` lines are those of a table, and stand above what is shown of it, as far as `LONGEST` goes.
    """
    lines = text.split("\n", header)
    above = "\n".join(lines[:header]) + "\n" if header and len(lines) > header else ""
    pieces = pieces_of(text, shown, begin=len(above))
    if not pieces:
        return PassageExcerpt(text[:LONGEST], (0, min(len(text), LONGEST)), (), 0)
    best = max(pieces, key=lambda piece: shown.weight(piece.terms))
    begin, end = (len(above), len(text)) if len(text) - len(above) <= LONGEST else window(pieces, best, shown, LONGEST)
    begin, end = centred(text, (begin, end), shown, LONGEST)
    cut = f"{'…' if begin > len(above) else ''}{text[begin:end].strip()}{'…' if end < len(text.rstrip()) else ''}"
    text_shown = f"{above[:LONGEST]}{cut}"
    marks = tuple((start, stop) for start, stop, _ in shown.spans(text_shown))
    return PassageExcerpt(text_shown, (begin, end), marks, best.begin)


def centred(text: str, span: tuple[int, int], shown: SnippetTerms, longest: int) -> tuple[int, int]:
    """Return a span, or of one that is too long the part around the rarest word of the question, cut at spaces."""
    begin, end = span
    if end - begin <= longest:
        return span
    places = [(-shown.weight(terms), start) for start, _, terms in shown.spans(text[begin:end])]
    first = max(begin, begin + min(places, default=(0.0, 0))[1] - longest // 3)
    first = min(first, end - longest)
    if first > begin and (space := text.find(" ", first, first + longest // 4)) >= 0:
        first = space + 1
    last = min(end, first + longest)
    if last < end and (space := text.rfind(" ", first + longest // 2, last)) >= 0:
        last = space
    return first, last


def pieces_of(text: str, shown: SnippetTerms, *, begin: int = 0) -> list[TextPiece]:
    """Return the sentences of a text, from a place in it on. A line ends one, unless it was only wrapped there."""
    pieces = []
    at = begin
    for paragraph in _paragraphs(text[begin:]):
        for sentence in split(paragraph):
            at = text.index(sentence, at)
            pieces.append(TextPiece(at, at + len(sentence), shown.terms_in(sentence)))
            at += len(sentence)
    return pieces


def _paragraphs(text: str) -> Iterator[str]:
    """Return the lines of a text, those in one that were only wrapped: a line of prose that goes on in lower case."""
    paragraph: list[str] = []
    for line in text.split("\n"):
        if paragraph:
            # Only prose is wrapped: a long line, mostly of words, without an end of a sentence, then a small letter.
            last = paragraph[-1].rstrip()
            words = last.split()
            is_prose = len(words) >= 5 and sum(word.strip(",'\"()-").isalpha() for word in words) >= 0.7 * len(words)
            goes_on = is_prose and len(last.lstrip()) >= _WRAPPED and last[-1] not in ".!?:;|"
            if not (goes_on and line.lstrip()[:1].islower()):
                yield "\n".join(paragraph)
                paragraph = []
        paragraph.append(line)
    yield "\n".join(paragraph)


def window(pieces: Sequence[TextPiece], best: TextPiece, shown: SnippetTerms, longest: int) -> tuple[int, int]:
    """Return the run of pieces around the best one that has most of the question's terms, and room."""
    at = pieces.index(best)
    low = high = at
    has = set(best.terms)
    while True:
        sides = []
        for side in (low - 1, high + 1):
            if 0 <= side < len(pieces):
                begin, end = pieces[min(low, side)].begin, pieces[max(high, side)].end
                if end - begin <= longest:
                    sides.append((shown.weight(pieces[side].terms - has), side > high, side))
        if not sides:
            return pieces[low].begin, pieces[high].end
        side = max(sides)[2]  # among equals what comes after: it is read on
        has |= pieces[side].terms
        low, high = min(low, side), max(high, side)


# Puts passages behind that lead to others or repeat one before them: contents pages, and what is nearly the same.


SHINGLE = 4
"""Words in a row that two passages are compared by. Broder 1997, On the resemblance and containment of documents."""
ALIKE = 0.8
"""Share of its shingles that passages before it have, from which on a passage is told beneath one of them."""


_DIGIT = re.compile(r"\d")
# Numbers, denials, and names: words with a capital within a sentence.
_TELLING = re.compile(r"\w*\d\w*|\b(?:[Nn]ot|[Nn]o|[Nn]ever|[Nn]icht|[Kk]ein\w*)\b|(?<=[\w,;] )[A-ZÀ-ÖØ-Þ]\w+")


class Folded(NamedTuple):
    """Passages for a person to read, in order, and those folded under each."""

    rows: list[int]
    alike: dict[int, list[int]]
    """By row: the rows that say nearly the same, in order; rows without any are left out."""


def folded(graph: Graph, rows: Sequence[int], words_of: Callable[[int], Sequence[str]]) -> Folded:
    """Return rows without those that nearly repeat what is before them, contents pages last.

    A passage with a number, a name or a denial of its own is no repetition: a draft and what came of it may differ in
    that alone. `words_of` returns the words of a row's text.
    """
    flags = graph.arrays.properties.every(CONTENTS, np.array(rows, np.int32))
    is_contents = dict(zip(rows, map(bool, flags), strict=True))
    first: dict[tuple[str, ...], int] = {}  # the row that said it
    alike: dict[int, list[int]] = {}
    kept: list[int] = []
    for row in sorted(rows, key=lambda row: is_contents[row]):
        own = shingles(words_of(row))
        new = own.difference(first)
        if len(new) <= (1 - ALIKE) * len(own):
            shares = Counter(first[run] for run in own - new)
            said = set(chain.from_iterable(map(words_of, shares)))
            own_words = {word for run in new for word in run if word not in said or _DIGIT.search(word)}
            if own_words.isdisjoint(map(str.casefold, _TELLING.findall(graph.arrays.texts[row]))):
                alike.setdefault(max(shares, key=shares.__getitem__), []).append(row)
                continue
        kept.append(row)
        first.update(dict.fromkeys(new, row))
    return Folded(kept, alike)


def shingles(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """Return the runs of `SHINGLE` words; fewer words are one run."""
    if len(words) < SHINGLE:
        return frozenset([tuple(words)])
    return frozenset(zip(*(words[at:] for at in range(SHINGLE)), strict=False))
