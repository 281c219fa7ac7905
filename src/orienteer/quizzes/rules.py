"""What an item must keep to, whoever wrote it: the rules of appendix B.3.3 and of section 3.3.4 (GraphScout, 003).

`faults` checks one item, its gold query run again among the rest; `Kept` remembers those that were kept, for what only
shows beside others: repeats, and booleans that lean to one side.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from orienteer.evaluation.grid import Cell, is_legal
from orienteer.evaluation.quiz_item import QuizItem
from orienteer.graph.store import Graph
from orienteer.index.names import NameKind
from orienteer.quizzes.proof import MOST_IN_SET, Fault, Proof, prove
from orienteer.quizzes.questions.rejection import is_leaking

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "no way": "no walk of the shape goes out from the seed",
        "empty": "no node answers",
        "not unique": "several nodes answer, and one was asked for",
        "oversized": f"more than {MOST_IN_SET} nodes are a set, or more than can be counted by hand",
        "two readings": "a node that comes twice on the way, or a named one that answers too, would change the answer",
        "easy": "the answer is the same without a part of the question",
        "hub": "a named node has so many edges that everything is near it",
        "unwritable": "a name is no name that a person would write",
        "ambiguous": "a name is also that of another node of its type, or of several nodes",
        "illegal": "the appendix forbids the place in the grid, or the query's shape belongs to another",
        "unproved": "the gold query fails, takes too long, or ends in another form than its answer type asks for",
        "mismatch": "the gold query, run again, has another answer",
        "no witness": "it is true, and no node is named that shows it",
        "unnamed": "the question does not name a node that it starts from",
        "internal id": "the question holds an id of the graph",
        "leaking": "the question holds the name or an alias of an answer",
        "unknown clue": "a clue, an anchor or an answer is no node of the graph, or an anchor or an answer is no clue",
        "avoided": "a clue is named or answers in the questions that are to be avoided",
        "unbalanced": "it is true where false ones were wanting, or the other way round",
        "repeated": "the same was asked before",
    }
)
"""Why an item is not kept. What a model explores may have further reasons of its own."""
MOST_AHEAD = 2
"""By how many the booleans of one value may be ahead of the others."""
_TOKEN = re.compile(r"[^\s,;?!()\[\]{}<>\"'“”‘’`]+")
_SPACES = re.compile(r"\s+")


def faults(graph: Graph, item: QuizItem, *, avoid: Collection[str] = frozenset()) -> tuple[Fault, ...]:
    """Return all that is wrong with an item; its gold query is run again. Raises `MissingExtra` without Cypher."""
    proof = prove(graph, item.answer_type, item.gold_query, item.gold_parameters)
    if isinstance(proof, Fault):
        return (proof, *_of_text(graph, item), *_of_clues(graph, item, avoid))
    return (*_of_proof(graph, item, proof), *_of_text(graph, item), *_of_clues(graph, item, avoid))


def _of_proof(graph: Graph, item: QuizItem, proof: Proof) -> Iterable[Fault]:
    if not is_legal(item.cell):
        yield Fault("illegal", "nothing hybrid is simple")
    answers = proof.answers(graph, item.answer_type)
    if proof.nodes != item.nodes or (set(answers) != set(item.answers) if proof.nodes else answers != item.answers):
        yield Fault("mismatch", f"the gold query gives {', '.join(answers)}; the item says {', '.join(item.answers)}")
    if item.answer_type == "set" and len(answers) < len(proof.nodes):
        yield Fault("ambiguous", "two nodes of the set have one name")
    if item.answer_type != "boolean" or proof.number <= 0:
        return
    if proof.witness is not None and proof.witness not in item.clue_nodes:
        yield Fault("no witness", f"the query's witness {proof.witness} is no clue")
    elif len(item.clue_nodes) < 2:
        yield Fault("no witness", "a statement that is true has a clue beside the node that it starts from")


def _of_text(graph: Graph, item: QuizItem) -> Iterable[Fault]:
    text = item.question
    if not text.strip() or text != _SPACES.sub(" ", text).strip():
        yield Fault("unwritable", "the question is one line of words")
    own = [row for node in (*item.anchors, *item.nodes, *item.clue_nodes) if (row := graph.ids.find(node)) is not None]
    names = {name for row in own for name in (graph.names[row], *graph.aliases_at(row))}
    if (node := _internal(graph, text, names, {graph.ids[row] for row in own})) is not None:
        yield Fault("internal id", f"{node} is an id: write the name")
    for node in item.anchors:
        if (row := graph.ids.find(node)) is not None and not _is_named(graph, text, row):
            yield Fault("unnamed", f"the question does not hold {graph.names[row]!r}, the name of {node}")
    rows = [row for node in item.nodes if (row := graph.ids.find(node)) is not None]
    if is_leaking(graph, text, rows):
        yield Fault("leaking", "the question holds the name or an alias of what answers it")


def _is_named(graph: Graph, text: str, row: int) -> bool:
    return is_leaking(graph, text, (row,)) or any(name in text for name in (graph.names[row], *graph.aliases_at(row)))


def _internal(graph: Graph, text: str, names: Collection[str], own: Collection[str]) -> str | None:
    """Return an id that a question holds as a word of it and not as, or in, a name; None where there is none."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ") if name else text
    for token in _TOKEN.findall(text):
        word = str(token).rstrip(".:")
        # Short numbers are words of a question, also where they happen to be the id of some node.
        if word in own or (not word.isdigit() and graph.ids.find(word) is not None and not _is_name(graph, word)):
            return word
    return None


def _is_name(graph: Graph, word: str) -> bool:
    """Tell whether a word is also a name: ids are found by name too, as identifiers."""
    return any(link.kind is not NameKind.IDENTIFIER for link in graph.name_index.called(word))


def _of_clues(graph: Graph, item: QuizItem, avoid: Collection[str]) -> Iterable[Fault]:
    clues = set(item.clue_nodes)
    for node in (*item.clue_nodes, *item.anchors, *item.nodes):
        if graph.ids.find(node) is None:
            yield Fault("unknown clue", f"{node} is no node of this graph")
            return
    if lacking := [node for node in (*item.anchors, *item.nodes) if node not in clues]:
        yield Fault("unknown clue", f"{', '.join(lacking)}: named or answering, and no clue")
    if met := sorted(clues & set(avoid)):
        yield Fault("avoided", f"{', '.join(met[:5])}: of the questions that are to be avoided")


@dataclass(slots=True)
class Kept:
    """What was kept so far: no question twice, and as many true ones as false ones."""

    _questions: set[str] = field(default_factory=set)
    _identities: set[str] = field(default_factory=set)
    _booleans: Counter[tuple[Cell | None, str]] = field(default_factory=Counter)

    def fault(self, item: QuizItem) -> Fault | None:
        """Return why an item cannot stand beside those that were kept; None where it can."""
        if _folded(item.question) in self._questions or _identity(item) in self._identities:
            return Fault("repeated", "the same was asked before")
        if item.answer_type == "boolean" and self._lead(None, item.answers[0] == "True") >= MOST_AHEAD:
            return Fault("unbalanced", f"{MOST_AHEAD} more are {item.answers[0]} than are not")
        return None

    def keep(self, item: QuizItem) -> None:
        """Remember an item."""
        self._questions.add(_folded(item.question))
        self._identities.add(_identity(item))
        if item.answer_type == "boolean":
            self._booleans.update([(None, item.answers[0]), (item.cell, item.answers[0])])

    def wanted(self, cell: Cell) -> bool:
        """Return what the next boolean of a cell should be: what fewer of the cell are, else what fewer of all are."""
        return (self._lead(cell, True) or self._lead(None, True)) <= 0

    def _lead(self, cell: Cell | None, is_true: bool) -> int:
        """Return by how many the booleans of a value are ahead, in a cell or in all."""
        return self._booleans[cell, str(is_true)] - self._booleans[cell, str(not is_true)]


def _folded(question: str) -> str:
    return _SPACES.sub(" ", question.casefold()).strip()


def _identity(item: QuizItem) -> str:
    query = _SPACES.sub(" ", item.gold_query).strip()
    return json.dumps([item.answer_type, query, item.gold_parameters], sort_keys=True)
