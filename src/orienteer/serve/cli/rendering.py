"""Results as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.options import Option
    from orienteer.records import Edge, Node, Ranked, Result, Schema

_LONG = 100  # characters of a snippet in a table


def hits(out: Output, found: Iterable[Ranked]) -> None:
    """Print a ranking: a place, the node, why it is there."""
    rows = [[str(place), hit.name, hit.type, hit.id, _reason(hit)] for place, hit in enumerate(found, 1)]
    if rows:
        out.table(rows, header=("rank", "name", "type", "id", "why"))
    else:
        out.print("no hits")


def result(out: Output, found: Result) -> None:
    """Print what came of a question: the ranking, then the answer."""
    hits(out, found.hits)
    if found.answer is not None:
        out.print()
        out.print(found.answer)
    if found.long_answer is not None:
        out.print()
        out.print(found.long_answer)


def edge_lines(graph: Graph, edges: Iterable[Edge]) -> list[str]:
    """Return edges as `name -type-> name`, by the names of their ends."""
    lines = []
    for edge in edges:
        names = [graph.names[graph.row(end)] for end in (edge.source, edge.target)]
        point = "-" if edge.type in graph.schema.symmetric else "->"
        lines.append(f"{names[0]} -{graph.schema.label(edge.type)}{point} {names[1]}")
    return lines


def node(out: Output, found: Node, *, degree: int) -> None:
    """Print a node in full."""
    out.print(f"{found.name} ({found.type})")
    fields: list[tuple[str, str]] = [("id", found.id)]
    fields += [("aliases", "; ".join(found.aliases))] if found.aliases else []
    fields += [("edges", str(degree))]
    fields += [(name, _value(value)) for name, value in found.properties.items()]
    out.table(fields)
    if found.text:
        out.print()
        out.print(found.text)


def schema(out: Output, found: Schema) -> None:
    """Print the types of a graph, most frequent first."""
    counts = sorted(found.node_types.items(), key=lambda item: -item[1])
    out.table([[name, *_called(found, name), f"{count:,}"] for name, count in counts], header=_SCHEMA_HEADER)
    out.print()
    edges = sorted(found.edges.items(), key=lambda item: -item[1])
    out.table(
        [
            [
                f"{triple.source} -{triple.type}{'-' if triple.type in found.symmetric else '->'} {triple.target}",
                *_called(found, triple.type),
                f"{count:,}",
            ]
            for triple, count in edges
        ],
        header=("edges", *_SCHEMA_HEADER[1:]),
    )


_SCHEMA_HEADER = ("node type", "label", "also called", "count")


def info(out: Output, facts: Mapping[str, Any]) -> None:
    """Print what a graph is."""
    rows = [[name, f"{facts[name]:,}"] for name in ("nodes", "edges", "bytes")]
    rows += [["format", str(facts["format"])], ["indexes", ", ".join(facts["indexes"])]]
    rows += [["made by", str(facts["provenance"].get("made_by", "unknown"))]]
    if made := facts["extraction"]:
        rows += [["extracted", f"{made['form']}, by {made['model'] or 'statistics'}"]]
    rows += [["source", str(one)] for one in facts["provenance"].get("given", ())]
    rows += [["stale", "yes: a source has changed or is gone"]] if facts["stale"] else []
    out.table(rows)
    for title in ("node_types", "edge_types"):
        out.print()
        out.print(title.replace("_", " "))
        counts = sorted(facts[title].items(), key=lambda item: -item[1])
        out.table([[f"  {name}", f"{count:,}"] for name, count in counts])


def options(out: Output, found: Iterable[Option]) -> None:
    """Print the options of a method, each with its default and its meaning."""
    for one in found:
        out.print(f"    {one.name} = {_value(one.default)}  ({one.type})")
        for line in one.doc.splitlines():
            out.print(f"        {line}")


def option_table(out: Output, schema: Mapping[str, Any]) -> None:
    """Print the options of a JSON schema, a row each."""
    from orienteer.options import in_words

    rows = [
        [name, in_words(option), _value(option.get("default")), option.get("description", "")]
        for name, option in schema["properties"].items()
    ]
    out.table(rows, header=("option", "value", "default", "meaning")) if rows else out.print("It has no options.")


def _called(found: Schema, name: str) -> list[str]:
    label = found.label(name)
    return [label if label != name else "", ", ".join(found.also_called.get(name, ()))]


def _reason(hit: Ranked) -> str:
    text = " ".join(hit.text.split())
    text = text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
    votes = f"{hit.votes} vote{'s' if hit.votes != 1 else ''}" if hit.votes is not None else ""
    return " | ".join(filter(None, (votes, hit.why, text)))


def _value(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
