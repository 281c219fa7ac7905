"""Who answers a draft: all nodes, read off the adjacency arrays; and the Cypher that proves it.

A node answers where it is of the asked type, every condition leads to it, and the constraint holds of it. Along the
way of a condition no node comes twice, and no anchor answers its own question. Parallel edges count once, loops never.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orienteer.graph.adjacency import KindMask
from orienteer.graph.properties import Condition as PropertyCondition
from orienteer.graph.store import Graph, distinct
from orienteer.index.arrays import Rows
from orienteer.quizzes.questions.draft import Condition, Constraint, Draft, Step
from orienteer.records import Direction


def answers(graph: Graph, draft: Draft) -> Rows:
    """Return the rows of all nodes that answer a draft, ascending."""
    found = structural(graph, draft.conditions)
    return found if draft.constraint is None else holding(graph, draft.constraint, found)


def structural(graph: Graph, conditions: Sequence[Condition]) -> Rows:
    """Return the rows that meet every condition, ascending, the anchors left out."""
    first, *others = (reached(graph, condition) for condition in conditions)
    for other in others:
        first = np.intersect1d(first, other, assume_unique=True)
    anchors = [condition.anchor for condition in conditions]
    return first[~np.isin(first, anchors)]


def reached(graph: Graph, condition: Condition) -> Rows:
    """Return the rows to which a condition leads, its anchor left out, ascending."""
    assert len(condition.steps) <= 2, "a third step could come back to the first one's nodes"
    rows = np.array([condition.anchor], np.int32)
    for step in condition.steps:
        rows = take(graph, rows, step)
        rows = rows[rows != condition.anchor]
    return rows


def take(graph: Graph, rows: Rows, step: Step) -> Rows:
    """Return the rows that a step leads to from some rows, ascending, loops left out."""
    entries = graph.adjacency.entries(rows, kinds(graph, step))
    is_right = graph.node_types[entries.neighbor] == graph.types.nodes.index(step.end)
    return distinct(np.asarray(entries.neighbor[is_right]))


def holding(graph: Graph, constraint: Constraint, rows: Rows) -> Rows:
    """Return those of some ascending rows of which a constraint holds.

    Of terms: each stands in what the index holds of the node, its name, aliases and text. Of a property: its value,
    or one of its values, is the constraint's, case aside.
    """
    if constraint.property is not None:
        condition = PropertyCondition(constraint.property, "=", constraint.phrase)
        return rows[graph.properties.mask((condition,))[rows]]
    for term in constraint.terms:
        posting = graph.text_index.posting(term)
        rows = graph.text_index.having(posting, rows) if posting is not None else rows[:0]
    return rows


def kinds(graph: Graph, step: Step) -> KindMask | None:
    """Mark the kinds of edge that a step may take; None where it may take any."""
    direction: Direction | None = None if step.is_forward is None else "out" if step.is_forward else "in"
    return graph.kind_mask(None if step.edge_type is None else [step.edge_type], direction)


def of_type(graph: Graph, node_type: str) -> Rows:
    """Return the rows of a node type, ascending."""
    return np.flatnonzero(graph.node_types == graph.types.nodes.index(node_type)).astype(np.int32)


# ------------------------------------------------------------------------------------------------------------- proof


def gold_query(graph: Graph, draft: Draft) -> str:
    """Return Cypher that gives back the ids of the answers.

    Node types are labels and edge types are relationship types, as they are spelled in the graph; ids are literals. A
    constraint on a property is a part of the query. One on words is not, for a query engine has no terms: then the
    query gives the nodes among which the line's `constraint` decides.
    """
    paths, apart = [], []
    for number, condition in enumerate(draft.conditions, 1):
        nodes = [f"a{number}", *(f"m{number}_{hop}" for hop in range(1, len(condition.steps))), "x"]
        anchor = f"{{id: {_text(graph.ids[condition.anchor])}}}"
        path = f"({nodes[0]}:{escaped(condition.steps[0].start)} {anchor})"
        for step, node in zip(condition.steps, nodes[1:], strict=True):
            path += f"{arrow(step)}({node}:{escaped(step.end)})"
        paths.append(path)
        apart += [f"{one}.id <> {other}.id" for at, one in enumerate(nodes) for other in nodes[at + 1 :]]
    if draft.constraint is not None and draft.constraint.property is not None:
        apart.append(_holds(draft.constraint.property, draft.constraint.phrase))
    # One MATCH each: within one, an edge would not be walked twice.
    matches = " ".join(f"MATCH {path}" for path in paths)
    return f"{matches} WHERE {' AND '.join(apart)} RETURN DISTINCT x.id"


def arrow(step: Step) -> str:
    """Return a step as an edge of a pattern."""
    edge = f"[:{escaped(step.edge_type)}]" if step.edge_type is not None else ""
    if step.edge_type is None or step.is_forward is None:
        return f"-{edge}-"
    return f"-{edge}->" if step.is_forward else f"<-{edge}-"


def _holds(name: str, value: str) -> str:
    return f"toLower(toString(x.{escaped(name)})) = {_text(value.lower())}"


def escaped(name: str) -> str:
    """Return the name of a type or a property as Cypher takes any."""
    return "`" + name.replace("`", "``") + "`"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
