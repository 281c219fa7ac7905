"""The rules for questions, whoever wrote them: a draft that breaks one is dropped and counted under one reason.

Names and plans are checked before there are words. `faults` checks a whole item, and runs its gold query again, by the
rules of appendix B.3.3 and of section 3.3.4 (GraphScout, 003). A `Ledger` remembers the items so far, for faults that
show only beside others.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.names import NameKind
from orienteer.lab.evaluation.quiz_item import Cell, QuizItem, is_legal
from orienteer.lab.quizzes.gold import MOST_ANSWERS, MOST_IN_SET, holding, is_other, of_type, solve
from orienteer.lab.quizzes.plan import QuestionPlan
from orienteer.lab.quizzes.proof import Fault, Proof, prove

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "no anchors": "no nodes fit the pattern along the edge types whose turn it was",
        "no way": "no walk of the shape goes out from the seed",
        "empty": "no node answers",
        "not unique": "several nodes answer, and one was asked for",
        "oversized": f"more nodes answer than {MOST_ANSWERS}, or {MOST_IN_SET} of a set, or than could be gone through",
        "two readings": "a node that comes twice on the way, or a named one that answers too, would change the answer",
        "trivial": "every node of the asked type answers",
        "redundant": "a condition leaves nothing out: the others alone have the same answers",
        "easy": "the answer is the same without a part of the question",
        "no text": "no words and no property tell some of the candidates from the others",
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
        "unknown clue": "a clue, an anchor or an answer is not in the graph, or an anchor or an answer is not a clue",
        "avoided": "a clue is named or answers in the questions that are to be avoided",
        "unbalanced": "it is true where false ones were wanting, or the other way round",
        "repeated": "the same was asked before",
        "untouched clue": "a clue is a node that never came up while exploring",
        "known": "a model without the graph gives the right answer",
        "no report": "what was handed in is no report, not even when asked again",
        "refused": "the server refused a request of this exploration, for its length perhaps",
        "no seed": "no node was found to begin from",
    }
)
"""Why there is no question: for drafts of all kinds, and for items that a model wrote."""
MOST_EDGES = 1_000
"""A node with more is a hub: no question of the grid names it, nor goes on from it."""
MOST_SHARING = 3
"""Nodes of other types that may share an anchor's name: the question then says the type before the name."""
MOST_AHEAD = 2
"""By how many the booleans of one value may be ahead of the others."""
_SHORT = 3  # letters of a name that is compared as it is written: as a word, `IN` is in every question
_LENGTHS = range(2, 81)  # characters of a name
_WORD = re.compile(r"[^\W_]+")
_CODE = re.compile(r"[A-Za-z_]{1,12}[:_]?\d{4,}|[0-9a-fA-F-]{12,}|[\d\W_]+|\S+://\S+|\S{41,}")
_TOKEN = re.compile(r"[^\s,;?!()\[\]{}<>\"'“”‘’`]+")

# ------------------------------------------------------------------------------------------------- names and plans


def anchor_fault(graph: Graph, row: int) -> str | None:
    """Return why a node's name cannot stand in a question; None where it can."""
    name = graph.arrays.names[row]
    if len(name) not in _LENGTHS or name != " ".join(name.split()) or _CODE.fullmatch(name):
        return "unwritable"
    others = {link.row for link in graph.arrays.name_index.called(name)} - {row}
    if len(others) > MOST_SHARING or any(
        graph.arrays.node_types[other] == graph.arrays.node_types[row] for other in others
    ):
        return "ambiguous"
    return None


def node_fault(graph: Graph, row: int, avoid: Collection[int] = ()) -> str | None:
    """Return why no question of the grid can name a node; None where one can. `avoid` are rows."""
    if row in avoid:
        return "avoided"
    return "hub" if is_hub(graph, row) else anchor_fault(graph, row)


def is_hub(graph: Graph, row: int) -> bool:
    """Tell whether a node has so many edges that everything is near it."""
    return int(graph.arrays.adjacency.degree(np.array([row]))[0]) > MOST_EDGES


def is_trivial(graph: Graph, plan: QuestionPlan, rows: Rows) -> bool:
    """Tell whether all nodes of the asked type answer, apart from given nodes."""
    excluded = sum(graph.arrays.type_at(row) == plan.answer_type for row in plan.fixed)
    return len(rows) >= graph.schema.node_types[plan.answer_type] - excluded


def is_redundant(graph: Graph, plan: QuestionPlan, rows: Rows) -> bool:
    """Tell whether as many nodes answer without one of the conditions, or without the constraint."""
    conditions = plan.conditions
    for left_out in range(len(conditions)) if len(conditions) > 1 else ():
        others = conditions[:left_out] + conditions[left_out + 1 :]
        rest = solve(graph, replace(plan, conditions=others, first=None))
        if rest is not None and np.count_nonzero(is_other(rest.rows, plan.fixed)) <= len(rows):
            return True
    if plan.constraint is None:
        return False
    alone = holding(graph, plan.constraint, of_type(graph, plan.answer_type))
    candidates = solve(graph, replace(plan, constraint=None))
    return len(alone) <= len(rows) or (candidates is not None and len(candidates.rows) <= len(rows))


def is_leaking(graph: Graph, question: str, gold: Iterable[int]) -> bool:
    """Tell whether a question holds the name or an alias of a node that answers it, as whole words."""
    folded = f" {' '.join(graph.arrays.tokenizer.words(question))} "
    written = f" {' '.join(_WORD.findall(question))} "
    for row in gold:
        for name in (graph.arrays.names[row], *graph.arrays.aliases_at(row)):
            if len(name) <= _SHORT:
                is_held = f" {name} " in written
            else:
                words = " ".join(graph.arrays.tokenizer.words(name))
                is_held = f" {words} " in folded if words else name in question
            if is_held:
                return True
    return False


# ----------------------------------------------------------------------------------------------------------- items


def faults(graph: Graph, item: QuizItem, *, avoid: Collection[str] = frozenset()) -> tuple[Fault, ...]:
    """Return all faults of an item; its gold query is run again. Raises `MissingExtra` without Cypher."""
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
    if not text.strip() or text != " ".join(text.split()):
        yield Fault("unwritable", "the question is one line of words")
    own = [
        row
        for node in (*item.anchors, *item.nodes, *item.clue_nodes)
        if (row := graph.arrays.ids.find(node)) is not None
    ]
    names = {name for row in own for name in (graph.arrays.names[row], *graph.arrays.aliases_at(row))}
    if (node := _internal(graph, text, names, {graph.arrays.ids[row] for row in own})) is not None:
        yield Fault("internal id", f"{node} is an id: write the name")
    for node in item.anchors:
        if (row := graph.arrays.ids.find(node)) is None or is_leaking(graph, text, (row,)):
            continue
        if not any(name in text for name in (graph.arrays.names[row], *graph.arrays.aliases_at(row))):
            yield Fault("unnamed", f"the question does not hold {graph.arrays.names[row]!r}, the name of {node}")
    rows = [row for node in item.nodes if (row := graph.arrays.ids.find(node)) is not None]
    if is_leaking(graph, text, rows):
        yield Fault("leaking", "the question holds the name or an alias of what answers it")


def _internal(graph: Graph, text: str, names: Collection[str], own: Collection[str]) -> str | None:
    """Return an id that stands in a question as a word of its own, outside of names; None where there is none."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ") if name else text
    for token in _TOKEN.findall(text):
        word = str(token).rstrip(".:")
        # Short numbers are words of a question, also where they happen to be the id of some node.
        if word in own or (
            not word.isdigit() and graph.arrays.ids.find(word) is not None and not _is_name(graph, word)
        ):
            return word
    return None


def _is_name(graph: Graph, word: str) -> bool:
    """Tell whether a word is also a name: ids are found by name too, as identifiers."""
    return any(link.kind is not NameKind.IDENTIFIER for link in graph.arrays.name_index.called(word))


def _of_clues(graph: Graph, item: QuizItem, avoid: Collection[str]) -> Iterable[Fault]:
    clues = set(item.clue_nodes)
    for node in (*item.clue_nodes, *item.anchors, *item.nodes):
        if graph.arrays.ids.find(node) is None:
            yield Fault("unknown clue", f"{node} is no node of this graph")
            return
    if lacking := [node for node in (*item.anchors, *item.nodes) if node not in clues]:
        yield Fault("unknown clue", f"{', '.join(lacking)}: named or answering, and no clue")
    if avoided := sorted(clues & set(avoid)):
        yield Fault("avoided", f"{', '.join(avoided[:5])}: of the questions that are to be avoided")


@dataclass(slots=True)
class Ledger:
    """Remembers the questions so far: none comes twice, and true booleans balance false ones."""

    _texts: set[str] = field(default_factory=set)
    _identities: set[Hashable] = field(default_factory=set)
    _booleans: Counter[tuple[Cell | None, str]] = field(default_factory=Counter)

    def has(self, text: str, identity: Hashable) -> bool:
        """Tell whether a question in these words, or of this meaning, was added."""
        return _folded(text) in self._texts or identity in self._identities

    def add(self, text: str, identity: Hashable) -> None:
        """Remember a question by its words and by what it asks."""
        self._texts.add(_folded(text))
        self._identities.add(identity)

    def fault(self, item: QuizItem) -> Fault | None:
        """Return why an item cannot stand beside the earlier ones; None where it can."""
        if self.has(item.question, _identity(item)):
            return Fault("repeated", "the same was asked before")
        if item.answer_type == "boolean" and self._lead(None, item.answers[0] == "True") >= MOST_AHEAD:
            return Fault("unbalanced", f"{MOST_AHEAD} more are {item.answers[0]} than are not")
        return None

    def keep(self, item: QuizItem) -> None:
        """Remember an item."""
        self.add(item.question, _identity(item))
        if item.answer_type == "boolean":
            self._booleans.update([(None, item.answers[0]), (item.cell, item.answers[0])])

    def wanted(self, cell: Cell) -> bool:
        """Return the value that the next boolean of a cell should have: the rarer one in the cell, else in all."""
        return (self._lead(cell, True) or self._lead(None, True)) <= 0

    def _lead(self, cell: Cell | None, is_true: bool) -> int:
        """Return by how many the booleans of a value are ahead, in a cell or in all."""
        return self._booleans[cell, str(is_true)] - self._booleans[cell, str(not is_true)]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _identity(item: QuizItem) -> Hashable:
    parameters = json.dumps(item.gold_parameters, sort_keys=True)
    return item.answer_type, " ".join(item.gold_query.split()), parameters
