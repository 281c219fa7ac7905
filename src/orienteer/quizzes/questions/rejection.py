"""Why a draft makes no question. Every draft that is dropped is dropped for one of these reasons, and counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.quizzes.questions.draft import MOST_ANSWERS, Draft
from orienteer.quizzes.questions.gold import holding, of_type, structural

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "no node answers",
        "oversized": f"more than {MOST_ANSWERS} nodes answer, or too many for a constraint to choose from",
        "trivial": "every node of the asked type answers",
        "redundant": "a condition leaves nothing out: the others alone have the same answers",
        "unwritable": "an anchor's name is no name that a person would write",
        "ambiguous": "an anchor's name is also that of another node of its type, or of several nodes",
        "leaking": "the question holds the name or an alias of an answer",
        "no text": "no words and no property tell some of the candidates from the others",
        "no anchors": "no nodes fit the pattern along the edge types whose turn it was",
        "repeated": "the same was asked before",
    }
)
MOST_SHARING = 3
"""Nodes of other types that may have an anchor's name too: the question then says the type before the name."""
_SHORT = 3  # letters of a name that is compared as it is written: as a word, `IN` is in every question
_LENGTHS = range(2, 81)  # characters of a name
_WORD = re.compile(r"[^\W_]+")
_CODE = re.compile(r"[A-Za-z_]{1,12}[:_]?\d{4,}|[0-9a-fA-F-]{12,}|[\d\W_]+|\S+://\S+|\S{41,}")


def anchor_fault(graph: Graph, row: int) -> str | None:
    """Return why a node's name cannot stand in a question; None where it can."""
    name = graph.names[row]
    if len(name) not in _LENGTHS or name != " ".join(name.split()) or _CODE.fullmatch(name):
        return "unwritable"
    others = {link.row for link in graph.name_index.called(name)} - {row}
    if len(others) > MOST_SHARING or any(graph.node_types[one] == graph.node_types[row] for one in others):
        return "ambiguous"
    return None


def size_fault(graph: Graph, draft: Draft, gold: Rows) -> str | None:
    """Return why a gold set is none to ask for; None where it is one."""
    if not len(gold):
        return "empty"
    if len(gold) > MOST_ANSWERS:
        return "oversized"
    others = sum(graph.type_at(row) != draft.answer_type for row in draft.anchors)
    population = graph.schema.node_types[draft.answer_type] - len(draft.anchors) + others
    return "trivial" if len(gold) >= population else None


def is_redundant(graph: Graph, draft: Draft, gold: Rows) -> bool:
    """Tell whether the question has the same answers without one of its conditions, or without its constraint."""
    conditions = draft.conditions
    for left_out in range(len(conditions)) if len(conditions) > 1 else ():
        others = conditions[:left_out] + conditions[left_out + 1 :]
        rest = structural(graph, others)
        rest = rest[rest != conditions[left_out].anchor]
        if draft.constraint is not None:
            rest = holding(graph, draft.constraint, rest)
        if len(rest) <= len(gold):
            return True
    if draft.constraint is None:
        return False
    alone = holding(graph, draft.constraint, of_type(graph, draft.answer_type))
    return len(alone) <= len(gold) or len(structural(graph, conditions)) <= len(gold)


def is_leaking(graph: Graph, question: str, gold: Iterable[int]) -> bool:
    """Tell whether a question holds the name or an alias of a node that answers it, as whole words."""
    folded = f" {' '.join(graph.tokenizer.words(question))} "
    written = f" {' '.join(_WORD.findall(question))} "
    for row in gold:
        for name in (graph.names[row], *graph.aliases_at(row)):
            if len(name) <= _SHORT:
                is_held = f" {name} " in written
            else:
                words = " ".join(graph.tokenizer.words(name))
                is_held = f" {words} " in folded if words else name in question
            if is_held:
                return True
    return False
