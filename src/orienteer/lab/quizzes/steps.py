"""The steps that a graph allows, and the nodes from which each can be taken. Plans are drawn evenly over steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.reserved import NEXT, PART_OF, SHARES_NAMES, SIMILAR
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.lab.quizzes.gold import MOST_ANSWERS, first_of_runs, holding, kinds
from orienteer.lab.quizzes.plan import Constraint, EdgeStep
from orienteer.reading.phrasing import MUTUAL, word_set, words_of
from orienteer.records import JsonValue
from orienteer.remembered import cached_method

UNASKED = frozenset({NEXT, PART_OF, SHARES_NAMES, SIMILAR})
"""Edge types of a graph of documents that no question asks for: a program made them, nobody stated them."""
_REMEMBERED = 256  # steps whose table is kept


class StepTable(NamedTuple):
    """The rows from which a step can be taken, ascending, and the number of nodes that it leads to from each."""

    rows: Rows
    counts: NDArray[np.int64]

    def count(self, row: int) -> int:
        """Return the number of nodes that the step leads to from a row."""
        at = int(self.rows.searchsorted(row))
        return int(self.counts[at]) if at < len(self.rows) and self.rows[at] == row else 0


class Steps:
    """The steps of one graph: each triple of types both ways, once where its edges have no direction."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def named(self) -> tuple[EdgeStep, ...]:
        """Return the steps along edges of one type, sorted by their names."""
        steps = set[EdgeStep]()
        silent = UNASKED if self._graph.arrays.is_made_of_documents else ()
        schema = self._graph.schema
        for triple in schema.edges:
            if triple.type in silent:
                continue
            is_mutual = triple.type in schema.symmetric
            if triple.source == triple.target and not MUTUAL.isdisjoint(words_of(schema.label(triple.type))):
                is_mutual = True  # a table may list each pair once
            is_forward = None if is_mutual else True
            step = EdgeStep(triple.source, triple.type, is_forward, triple.target)
            steps |= {step, step.turned}
        return tuple(sorted(steps, key=_key))

    @cached_property
    def unnamed(self) -> tuple[EdgeStep, ...]:
        """Return the steps along any edge, sorted by the node types they join."""
        pairs = {(triple.source, triple.target) for triple in self._graph.schema.edges}
        both = {EdgeStep(start, None, None, end) for pair in pairs for start, end in (pair, pair[::-1])}
        return tuple(sorted(both, key=_key))

    @cached_method(_REMEMBERED)
    def table(self, step: EdgeStep) -> StepTable:
        """Return the nodes that a step leads away from, each with the number of those that it leads to."""
        graph, adjacency = self._graph, self._graph.arrays.adjacency
        mask = kinds(graph, step)
        at = np.arange(len(adjacency.kind)) if mask is None else np.flatnonzero(mask[adjacency.kind])
        neighbor = adjacency.neighbor[at]
        is_right = graph.arrays.node_types[neighbor] == graph.arrays.types.nodes.index(step.end)
        at, neighbor = at[is_right], neighbor[is_right]
        owner = (np.searchsorted(adjacency.indptr, at, side="right") - 1).astype(np.int32)
        keep = (graph.arrays.node_types[owner] == graph.arrays.types.nodes.index(step.start)) & (owner != neighbor)
        owner, neighbor = owner[keep], neighbor[keep]
        rows, counts = np.unique(owner[first_of_runs(owner, neighbor)], return_counts=True)
        return StepTable(rows, counts)


def _key(step: EdgeStep) -> tuple[str, str, int, str]:
    return step.start, step.edge_type or "", -1 if step.is_forward is None else int(step.is_forward), step.end


# Constraints on the answers' own text: a phrase or a property value that some candidates share, but not all.
#
# STaRK joins a textual requirement, drawn from the text of a node that answers, to a relational one; its authors have a
# model write it. Here it is a run of the text's own words that separates the answers from the other candidates.

MOST_CANDIDATES = 500
"""Most nodes among which a constraint decides: more are a catalogue, not a context."""
_LONGEST = 3  # words of a phrase
_TRIES = 12  # phrases of one text that are tried
_SEEDS = 4  # candidates whose text is read
_SHARE = 0.05  # of all nodes: a word that more of them hold distinguishes nothing
_SHARE_ALONE = 0.01  # the same of a word that is a phrase by itself
_SHARE_OF_TYPE = 0.25  # of the nodes of its type: what more of them hold is how their texts are written
_FEWEST = 20  # nodes that may hold a word however few there are in all
_TEXT = 4_000  # characters of a text that are read
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\S")
_INNER = word_set("and by for from in of on or the to with")
"""Words inside a phrase, never at its ends."""
_STOP = _INNER | word_set(
    """a about after all also an any are as at be been before being both but can characterized could does during each
    either has have her his however if including into is it its may more most no not only other over own same she
    should so some such than that their them then there these they this those through under up use used uses using
    very was were what when where which while who whose will within without would you your"""
)
_UNFINISHED = ("ly", "ed")
"""Ends of words that wait for another: a phrase does not end in one."""
_PROPERTY_CHANCE = 0.3  # of drawing a property's value where there are both
_LONGEST_VALUE = 40  # characters
_FEWEST_WITH_VALUE = 5  # nodes: a value that fewer have is a name or a number


def fitting(
    graph: Graph, candidates: Rows, chance: np.random.Generator, *, anchors: Sequence[int] = ()
) -> Iterator[Constraint]:
    """Yield constraints that some candidates satisfy, at most 20 and not all of them, in chance order."""
    # The question has the words of anchors' names and of the answer's type already: no phrase repeats them.
    used = {term for anchor in anchors for term in graph.arrays.tokenizer.terms(graph.arrays.names[anchor])}
    prefers_property, properties = chance.random() < _PROPERTY_CHANCE, graph.arrays.properties
    for row in chance.permutation(candidates)[:_SEEDS].tolist():
        ways = [_properties(graph, row, chance), _phrases(graph, row, used, chance)]
        for constraint in chain.from_iterable(ways if prefers_property else ways[::-1]):
            rows, name = holding(graph, constraint, candidates), constraint.property
            if not 1 <= len(rows) <= min(MOST_ANSWERS, len(candidates) - 1):
                continue
            # A constraint compares single values: in a mixed column some nodes may have a list.
            if name is None or not any(isinstance(properties.of(at)[name], list) for at in rows.tolist()):
                yield constraint


def _phrases(graph: Graph, row: int, used: set[str], chance: np.random.Generator) -> Iterator[Constraint]:
    """Yield phrases of a node's text without words of its name, in chance order, phrases of several words first."""
    label = graph.schema.label(graph.arrays.type_at(row))
    names = (label, graph.arrays.names[row], *graph.arrays.aliases_at(row))
    own = used.union(*map(graph.arrays.tokenizer.terms, names))
    runs = list(dict.fromkeys(_runs(graph.arrays.texts[row][:_TEXT])))
    order = chance.permutation(len(runs)).tolist()

    def terms_of(run: tuple[str, ...]) -> Iterator[str]:
        return (term for word in run if word not in _INNER for term in graph.arrays.tokenizer.terms(word))

    phrases = (
        Constraint(" ".join(run), terms)
        for run in sorted((runs[at] for at in order), key=lambda run: len(run) == 1)
        if own.isdisjoint(terms := tuple(dict.fromkeys(terms_of(run))))
        and _is_rare(graph, run, terms, int(graph.arrays.node_types[row]))
    )
    yield from islice(phrases, _TRIES)


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the runs of one to three words of a text that begin and end with a word of meaning."""
    words = _WORD.findall(text)
    for at, word in enumerate(words):
        if not _has_meaning(word):
            continue
        for length in range(1, _LONGEST + 1):
            run = tuple(words[at : at + length])
            is_whole = all(_has_meaning(word) or word in _INNER for word in run)
            if len(run) == length and is_whole and _has_meaning(run[-1]) and not run[-1].endswith(_UNFINISHED):
                yield run


def _has_meaning(word: str) -> bool:
    return len(word) >= 4 and word.lower() not in _STOP


def _is_rare(graph: Graph, run: tuple[str, ...], terms: tuple[str, ...], node_type: int) -> bool:
    """Return whether each term is in several nodes, but in few of all nodes and few of the type."""
    arrays = graph.arrays
    most = max(_FEWEST, int((_SHARE if len(run) > 1 else _SHARE_ALONE) * len(graph)))
    most_of_type = _SHARE_OF_TYPE * graph.schema.node_types[arrays.types.nodes[node_type]]
    for term in terms:
        posting = arrays.text_index.posting(term)
        if posting is None or not 2 <= posting.nodes <= most:
            return False
        if np.count_nonzero(arrays.node_types[arrays.text_index.rows_of(posting)] == node_type) > most_of_type:
            return False
    return True


def _properties(graph: Graph, row: int, chance: np.random.Generator) -> Iterator[Constraint]:
    """Yield the values of a node's properties that a person would ask for, in chance order."""
    values = sorted(graph.arrays.properties.of(row).items())
    everyone = np.arange(len(graph), dtype=np.int32)
    for at in chance.permutation(len(values)).tolist():
        name, value = values[at]
        constraint = Constraint(str(value), property=name)
        if _is_plain(name, value) and len(holding(graph, constraint, everyone)) >= min(_FEWEST_WITH_VALUE, len(graph)):
            yield constraint


def _is_plain(name: str, value: JsonValue) -> bool:
    """Return whether a value is a word or two, or a year."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "year" in name.lower() and 1000 <= value <= 2999
    if not isinstance(value, str) or not 2 <= len(value) <= _LONGEST_VALUE:
        return False
    letters = sum(letter.isalpha() for letter in value)
    return "://" not in value and letters * 2 > len(value) and value.lower() == value.casefold()
