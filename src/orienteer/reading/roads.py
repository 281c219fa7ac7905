"""Questions that ask for no ranking: what a graph is about, how two nodes differ, a statement in Cypher."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from orienteer.display import counted, value_cell
from orienteer.elements import JsonValue, Kind
from orienteer.errors import BadQuery, QueryStopped
from orienteer.graph.search import shared_name
from orienteer.graph.store import Graph
from orienteer.reading.overview import Overview
from orienteer.records import Question, Ranked, Refusal, Result, ResultTable, WalkedEdge
from orienteer.retrieval.graph_text import bare_hit, edge_lines, ends_of
from orienteer.text.sentences import one_line

_GRAPH = (
    r"(?:(?P<this>this|diese[rsmn]?) |(?:the|de[rm]|das) )?"
    r"(?P<noun>graph|data|database|dataset|collection|daten|graphen)"
)
_OVERVIEW = re.compile(
    r"(?:what(?:'s| is| does)? |was (?:ist|steht) |worum geht es |tell me about |describe |show me )?(?:in |about )?"
    rf"{_GRAPH}(?: about| contain| hold)?\W*|what(?:'s| is) in here\W*|overview\W*|überblick\W*",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"(?:please )?(?:compare|vergleiche) (?P<both>.+)"
    r"|(?:what (?:is|are) the )?(?:differences?|similarities) between (?P<between>.+)"
    r"|how (?:do|does) (?P<differ>.+) differ\W*",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"(?:,? and|,? with|,? to|,? und|,? mit|,? from| vs\.?| versus) ", re.IGNORECASE)
_CYPHER = re.compile(
    r"(?:(?:optional\s+)?match\s*(?:\w+\s*=\s*)?(?:\w+\s*)?\(|(?:create|merge)\s*\(|(?:unwind|with)\s.+\sas\s.+\breturn\b)",
    re.IGNORECASE | re.DOTALL,
)
_SURE = re.compile(r"(?:OPTIONAL\s+)?MATCH|CREATE|MERGE")  # what fails to parse is an error; elsewhere it is English
_CYPHER_IS_OFF = "this is Cypher, which is off here: start the server with --cypher"
_NOT_NARROWED = "types and conditions narrow the hits only: the table and the answer are of the whole graph"
_PROVED = 10  # rows of a statement
_LEAST = 0.05  # seconds of a statement
_LISTED = 5  # names in a cell
_MOST_MARKS = 20  # words that may stand between two names
_LINES = 20  # of a table in words
_LONGEST_VALUE = 80  # characters


def road_of(
    graph: Graph, question: Question, overview: Callable[[], Overview], *, runs_cypher: bool, seconds: float | None
) -> Result | None:
    """Return what a question gives that asks for no ranking; None for all others. Raises the errors of `Cypher`.

    A statement in Cypher has at most these `seconds`.
    """
    text = question.text.strip()
    found: dict[str, Any]  # Any: the fields of a result
    if _is_cypher(text):
        off = Refusal(kind="unsupported", text=_CYPHER_IS_OFF)
        found = {"method": "cypher", **(_statement(graph, text, seconds) if runs_cypher else {"refusal": off})}
    elif _asks_overview(graph, text):
        about = overview()
        rows = tuple((example.kind, example.question) for example in about.examples)
        table = ResultTable(kind="overview", columns=("kind", "question"), rows=rows)
        asks = "\n".join(ask for _, ask in rows) or None
        found = {"method": "overview", "table": table, "answer": about.text, "long_answer": asks, "notes": about.notes}
    elif (compared := _compared_rows(graph, text)) is not None:
        found = {"method": "compare", **_comparison(graph, compared, question.k)}
    else:
        return None
    if "table" in found and (question.node_types or question.where):
        found["notes"] = (*found["notes"], _NOT_NARROWED)
    return Result(question=question.text, **found)


def _is_cypher(text: str) -> bool:
    """Return whether a text is a statement: by its shape, and in small letters if it parses."""
    from orienteer.cypher.parser import parse  # here: few questions are statements

    if _CYPHER.match(text) is None:
        return False
    try:
        return _SURE.match(text) is not None or bool(parse(text))
    except BadQuery:
        return False


def _asks_overview(graph: Graph, text: str) -> bool:
    """Return whether a text asks what a graph is about, and names no node and no type by the same words."""
    asked = _OVERVIEW.fullmatch(text)
    if asked is None or asked["this"]:
        return asked is not None
    names = {text.rstrip("?.! "), asked["noun"] or ""} - {""}
    types = {name.casefold() for one in graph.schema.node_types for name in (one, graph.schema.label(one))}
    return not any(name.casefold() in types or len(graph.arrays.candidates(name)) for name in names)


def _compared_rows(graph: Graph, text: str) -> tuple[int, int] | None:
    """Return the two nodes that a text compares, of one type if their names allow it; None if it compares none."""
    asked = _COMPARE.fullmatch(text)
    if asked is None or graph.arrays.is_made_of_documents:
        return None
    names = next(filter(None, asked.groups())).rstrip("?.! ").removeprefix("between ")
    for mark in islice(_BETWEEN.finditer(names), _MOST_MARKS):
        called = [graph.arrays.candidates(name.strip(" \"'")) for name in (names[: mark.start()], names[mark.end() :])]
        pairs = [(one, other) for one in called[0] for other in called[1] if one != other]
        types = graph.arrays.node_types
        if pairs:
            return min(pairs, key=lambda pair: types[pair[0]] != types[pair[1]])
    return None


def _comparison(graph: Graph, rows: tuple[int, int], most: int) -> dict[str, Any]:  # Any: the fields of a result
    """Return what two nodes have in common, and what each has of its own."""
    arrays = graph.arrays
    ids, names = [arrays.ids[row] for row in rows], [arrays.names[row] for row in rows]
    own = [{"type": graph.schema.label(arrays.type_at(row)), **arrays.properties.of(row)} for row in rows]
    same, different, table = list[str](), list[str](), list[tuple[str, ...]]()
    for name in dict.fromkeys((*own[0], *own[1])):
        one, other = (_value(values.get(name)) for values in own)
        (same if one == other else different).append(name)
        table.append((name, one, "", "") if one == other else (name, "", one, other))
    around = [_neighbours(graph, row) for row in rows]
    for kind in dict.fromkeys((*around[0], *around[1])):
        left, right = (groups.get(kind, frozenset()) for groups in around)
        parts = (left & right, left - right, right - left)
        table.append((_kind(graph, kind), *(_names(graph, part) for part in parts)))
    sets = [frozenset().union(*groups.values()) for groups in around]
    shared = len(sets[0] & sets[1])
    called = names if names[0] != names[1] else ids
    rest = [f"{name} has {len(own) - shared:,} of its own" for name, own in zip(called, sets, strict=True)]
    told = [f"{' and '.join(called)} have {counted(shared, 'neighbour')} in common; {' and '.join(rest)}"]
    told += [f"The same: {', '.join(same)}"] * bool(same) + [f"Different: {', '.join(different)}"] * bool(different)
    heads = ("", "both", *called)
    lines = [
        "; ".join(f"{head} {cell}".strip() for head, cell in zip(heads, row, strict=True) if cell) for row in table
    ]
    common = graph.intersect(ids, k=min(shared, most))
    hits = tuple(_hit(graph, one.id, [(edge.source, edge.type, edge.target) for edge in one.edges]) for one in common)
    notes = tuple(note for name in dict.fromkeys(names) if (note := shared_name(arrays, name)) is not None)
    made = ResultTable(kind="compare", columns=heads, rows=tuple(table))
    return {"table": made, "answer": ". ".join(told), "long_answer": "\n".join(lines), "hits": hits, "notes": notes}


def _neighbours(graph: Graph, row: int) -> dict[Kind, frozenset[int]]:
    """Return the neighbours of a node by kind, the most frequent kind first."""
    arrays, groups = graph.arrays, dict[Kind, set[int]]()
    entries = arrays.adjacency.entries(np.array([row], np.int32))
    for other, code in zip(entries.neighbor.tolist(), entries.kind.tolist(), strict=True):
        name = arrays.types.edges[code >> 1]
        is_in = code & 1 and name not in graph.schema.symmetric
        kind = Kind(name, "in" if is_in else "out", arrays.type_at(other))
        groups.setdefault(kind, set()).add(other)
    return {kind: frozenset(groups[kind]) for kind in sorted(groups, key=lambda kind: -len(groups[kind]))}


def _kind(graph: Graph, kind: Kind) -> str:
    """Return a kind of neighbours in words: `influenced by → language`, `language influenced by → it`."""
    edge, node = (graph.schema.label(name).replace("_", " ") for name in (kind.edge_type, kind.node_type))
    return f"{edge} → {node}" if kind.direction == "out" else f"{node} {edge} → it"


def _names(graph: Graph, rows: frozenset[int]) -> str:
    """Return names of nodes, those with the most edges first, and how many more there are."""
    some = np.array(sorted(rows), np.int32)
    best = some[np.argsort(-graph.arrays.adjacency.degree(some), kind="stable")][:_LISTED].tolist()
    more = [f"{len(rows) - _LISTED:,} more"] if len(rows) > _LISTED else []
    return ", ".join([*(graph.arrays.names[row] for row in best), *more])


def _value(value: JsonValue) -> str:
    """Return a value of a table in a line."""
    return "" if value is None else one_line(value_cell(value, has_id=False), _LONGEST_VALUE)


def _hit(graph: Graph, node: str, edges: Iterable[tuple[str, str, str]]) -> Ranked:
    """Return a node that answers, with the edges that prove it."""
    walked = tuple(WalkedEdge(source=one, type=name, target=other) for one, name, other in dict.fromkeys(edges))
    hit = bare_hit(graph, graph.arrays.row(node), score=float(len(walked)), why="; ".join(edge_lines(graph, walked)))
    return hit.model_copy(update={"edges": walked, "ends": ends_of(graph, node, walked), "complete": True})


def _statement(graph: Graph, text: str, seconds: float | None) -> dict[str, Any]:  # Any: the fields of a result
    """Return the table of a statement in Cypher, and the nodes of its rows with the edges that prove them."""
    from orienteer.cypher.session import SECONDS, Cypher  # here: few questions are statements

    left = SECONDS if seconds is None else min(SECONDS, max(seconds, _LEAST))
    end = time.monotonic() + left
    try:
        table = Cypher(graph).query(text, seconds=left, proofs=_PROVED)
    except QueryStopped as stopped:
        if left == SECONDS or time.monotonic() < end:  # its own bound, or memory
            raise
        return {"stopped_by": "seconds", "notes": (stopped.public,)}
    edges = dict[str, list[tuple[str, str, str]]]()
    for row, proof in zip_longest(table.rows, table.proofs):
        laid = [value for one in (proof.laid[:1] if proof else ()) for value in one.values() if isinstance(value, dict)]
        proved = [(str(e["source"]), str(e["type"]), str(e["target"])) for e in laid if "source" in e]
        for node in (value["id"] for value in row if isinstance(value, dict) and "name" in value):
            edges.setdefault(str(node), []).extend(proved)
    is_value = table.total == 1 and len(table.columns) == 1
    lines = [" | ".join(map(_value, row)) for row in (table.columns, *table.rows[:_LINES])]
    listed = "" if len(table.rows) == table.total else f", the first {len(table.rows):,} are listed"
    return {
        "table": ResultTable(kind="cypher", columns=table.columns, rows=table.rows),
        "answer": _value(table.rows[0][0]) if is_value else counted(table.total, "row") + listed,
        "long_answer": None if is_value else "\n".join(lines),
        "hits": tuple(_hit(graph, node, proof) for node, proof in edges.items()),
        "notes": table.notes,
    }
