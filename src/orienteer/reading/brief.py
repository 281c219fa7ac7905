"""What a model is told before it reads a question: the part of the schema that is near it, and the nodes it names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from orienteer.elements import Triple
from orienteer.graph.store import Graph
from orienteer.reading.lexicon import Lexicon
from orienteer.reading.units import LIGHT_FIT, PropertyFacts, Units
from orienteer.retrieval.graph_text import counts_line, triple_line, triples_by_size, types_by_size
from orienteer.text.sentences import CHARACTERS_A_TOKEN, one_line

_TOKENS = 560
"""Of the schema: with the prompt's fixed part of some 600 and the names, a graph of thirty kinds stays below 1,300."""
_SURE = 0.1  # cost of words that are surely a kind's
_MOST_VALUES = 12  # values of a field that are listed
_LONGEST_VALUE = 30  # characters
_MOST_LISTED = 60
"""Values that a field may have of which a line may name one that the question writes otherwise."""
_LONGEST_LINE, _LONGEST_NODE = 700, 200  # characters: names, ids and labels are data, of any length
_MOST_NAMED = 12  # nodes whose edges are counted
_MOST_BEARERS = 4  # nodes of one name that are shown
_Item = TypeVar("_Item")


class Shown(NamedTuple):
    """The part of a schema that a brief shows."""

    text: str
    types: tuple[str, ...]
    triples: tuple[Triple, ...]


def schema_of(lexicon: Lexicon, units: Units, rows: Iterable[int]) -> Shown:
    """Return the kinds and edges of a graph, those nearest to what a question names first, as far as they fit.

    Near is what it names, then what an edge joins to that, then what two edges join. What is left out is counted.
    """
    graph, near = lexicon.graph, _near(lexicon, units, rows)
    # of a value that a field says already, the kind and its edge say nothing more
    values = {facts.name for facts in lexicon.properties.values() if facts.kind == "text"}
    types = [name for name in types_by_size(graph) if name not in values]
    triples = [one for one in triples_by_size(graph) if one.type not in values or one.target != one.type]
    types.sort(key=lambda name: near.get(name, 3))
    triples.sort(key=lambda triple: _distance(lexicon, units, near, triple))
    left, lines = _TOKENS * CHARACTERS_A_TOKEN, dict[str, None]()
    kinds = ((name, _kind_line(lexicon, name)) for name in types)
    edges = ((one, _edge_line(lexicon, one)) for one in triples)
    # two thirds of the room are for kinds, the rest for edges
    own_types, own_triples = _fitting(kinds, left * 2 // 3, lines), _fitting(edges, left // 3, lines)
    dropped = {"kinds": len(types) - len(own_types), "edges": len(triples) - len(own_triples)}
    more = [f"{count} more {what}" for what, count in dropped.items() if count]
    text = "\n".join([*lines, *([f"({', '.join(more)} that are far from the question)"] if more else [])])
    return Shown(text, own_types, own_triples)


def _fitting(written: Iterable[tuple[_Item, str]], room: int, lines: dict[str, None]) -> tuple[_Item, ...]:
    """Return what has room for its line, which may be cut at its colon, and add the lines."""
    kept: list[_Item] = []
    for item, line in written:
        line = line if len(line) <= room else line.partition(":")[0]
        if len(line) <= room:
            room -= len(line) + 1
            lines[line] = None
            kept.append(item)
    return tuple(kept)


def _near(lexicon: Lexicon, units: Units, rows: Iterable[int]) -> dict[str, int]:
    """Return the node types within two edges of what a question names, with how many edges that are."""
    arrays, hops = lexicon.graph.arrays, lexicon.vocabulary.hops
    named = {int(arrays.node_types[row]) for row in rows}
    named.update(kind for own in units.types.values() for unit in own if unit.cost < _SURE for kind in unit.types)
    fields = (lexicon.properties[unit.property] for own in units.properties.values() for unit in own)
    valued = (lexicon.properties[unit.property] for own in units.values.values() for unit in own)
    named.update(kind for facts in (*fields, *valued) for kind in facts.types)
    distance = dict.fromkeys(named, 0)
    for steps in (1, 2):
        around = {hop.target for kind in distance for hop in hops[kind]}
        distance.update({kind: steps for kind in around if kind not in distance})
    return {arrays.types.nodes[kind]: steps for kind, steps in distance.items()}


def _distance(lexicon: Lexicon, units: Units, near: dict[str, int], triple: Triple) -> int:
    """Return how far an edge is from a question: an edge that it names is nearest."""
    edges = lexicon.graph.arrays.types.edges
    said = {edges[edge] for own in units.edges.values() for unit in own if unit.fit > LIGHT_FIT for edge in unit.edges}
    return near.get(triple.source, 3) + near.get(triple.target, 3) - 3 * (triple.type in said)


def _kind_line(lexicon: Lexicon, name: str) -> str:
    """Return a kind with its number of nodes and its fields: `pub 12: rent (number); town (Holmby, Tarrow)`."""
    graph = lexicon.graph
    number = graph.arrays.types.nodes.index(name)
    fields = [_field(lexicon, facts) for facts in lexicon.properties.values() if number in facts.types]
    fields += ["text (prose)"] * (number in lexicon.with_texts and "text" not in lexicon.properties)
    told = f": {'; '.join(fields)}" if fields else ""
    return one_line(f"{graph.schema.label(name)} {graph.schema.node_types[name]:,}{told}", _LONGEST_LINE)


def _edge_line(lexicon: Lexicon, triple: Triple) -> str:
    """Return an edge with the kinds that it joins and the fields of its own."""
    graph = lexicon.graph
    number = graph.arrays.types.edges.index(triple.type)
    own = [f"{facts.name} ({facts.kind})" for facts in lexicon.edge_properties.values() if number in facts.edges]
    told = f": {'; '.join(own)}" if own else ""
    return one_line(f"{triple_line(graph, triple, graph.schema.label(triple.type))}{told}", _LONGEST_LINE)


def _field(lexicon: Lexicon, facts: PropertyFacts) -> str:
    values = listed_values(lexicon.graph, facts)
    shown = ", ".join(one_line(value, _LONGEST_VALUE) for value in values[:_MOST_VALUES])
    told = f"{shown}, ..." if len(values) > _MOST_VALUES else shown
    return f"{facts.name} ({told or facts.kind})"


def listed_values(graph: Graph, facts: PropertyFacts) -> list[str]:
    """Return the values of a field that says one of a few things; empty for any other."""
    if facts.kind == "boolean":
        return [facts.true, "no" if facts.true == "yes" else "false"]
    if facts.kind != "text":
        return []
    rows = graph.arrays.properties.rows(facts.name)
    values: dict[str, None] = {}
    sample = graph.arrays.properties.values(facts.name, rows[:: max(1, len(rows) // 2_000)])
    items = (item for value in sample for item in (value if isinstance(value, list) else [value]))
    for value in (item for item in items if isinstance(item, str)):
        values[value] = None
        if len(values) > _MOST_LISTED or len(value) > _LONGEST_VALUE:
            return []
    return list(values) if len(values) * 2 <= len(rows) else []


def names_of(lexicon: Lexicon, units: Units) -> str:
    """Return the nodes that a question names, each with its edges by kind, which tell namesakes apart."""
    arrays, lines, left = lexicon.graph.arrays, dict[str, None](), dict[int, None]()
    for unit in sorted((one for own in units.names.values() for one in own), key=lambda one: one.cost):
        for row in unit.rows[:_MOST_BEARERS]:
            if len(lines) >= _MOST_NAMED:
                left[row] = None
                continue
            edges = counts_line(lexicon.graph, arrays.counts(arrays.adjacency.entries(np.array([row], np.int32))))
            name = one_line(arrays.names[row])
            told = f'"{name}" ({arrays.type_at(row)}, id {arrays.ids[row]}): {edges or "no edges"}'
            lines[one_line(told, _LONGEST_NODE)] = None
        if len(unit.rows) > _MOST_BEARERS and len(lines) < _MOST_NAMED:
            lines[f'"{one_line(arrays.names[unit.rows[0]])}": {len(unit.rows)} nodes'] = None
    more = [f"({len(left)} more nodes are named, less surely)"] if left else []
    return "\n".join([*lines, *more]) or "(nothing)"
