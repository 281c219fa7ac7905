"""The command that asks in Cypher."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orienteer.cypher.ladybug.database import is_copy_new
from orienteer.cypher.session import Cypher
from orienteer.display import counted
from orienteer.errors import BadOption
from orienteer.serve.cli.arguments import Directory, open_graph
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.records import JsonValue

GROUPS: Mapping[str, str] = {}


def cypher(
    out: Output,
    directory: Directory,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One read-only statement.")],
    parameters: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="NAME=VALUE", help="A value for $NAME: JSON, else a text. Repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="Rows at the most.")] = 100,
    label: Annotated[
        str | None,
        typer.Option("--view", metavar="LABEL", help="Name ids and types as GraphScout's graphs do, with this label."),
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", metavar="S", help="Stop the query after this long.")] = 10.0,
) -> None:
    """Ask a graph in Cypher, read-only. Needs the extra `cypher`."""
    graph = open_graph(directory, out)
    given = dict(map(_parameter, parameters or ()))
    if is_copy_new(graph.path):
        out.note("making the copy that Cypher reads; this happens once for a graph")
    from orienteer.cypher.view import View  # who asks nothing need not load it

    view = None if label is None else View(label=label)
    table = Cypher(graph).query(query, given, limit=limit, seconds=seconds, view=view)
    for note in table.notes:
        out.note(f"note: {note}")
    if out.as_json:
        out.json(table.model_dump(mode="json"))
        return
    out.table([[_cell(one) for one in row] for row in table.rows], header=table.columns)
    if table.truncated:
        out.note(f"{len(table.rows):,} of {counted(table.total, 'row')}: raise --limit, or use SKIP and LIMIT")


def _parameter(text: str) -> tuple[str, JsonValue]:
    name, equals, value = text.partition("=")
    if not equals or not name.removeprefix("$"):
        raise BadOption(f"--param {text!r} has no value: write --param NAME=VALUE")
    try:
        found: Any = json.loads(value)
    except ValueError:
        found = value
    return name.removeprefix("$"), found


def _cell(value: JsonValue) -> str:
    if isinstance(value, dict) and {"id", "type", "name"} <= set(value):
        return f"{value['name']} ({value['id']})"
    if isinstance(value, dict) and {"source", "type", "target"} <= set(value):
        return f"{value['source']} -{value['type']}-> {value['target']}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


COMMANDS = {
    "cypher": (
        cypher,
        "cypher hetionet 'MATCH (g:Gene {name: $name})-[r]-(d:Disease) RETURN type(r), d.name' --param name=TP53",
    )
}
