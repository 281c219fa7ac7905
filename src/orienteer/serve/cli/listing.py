"""The command that lists nodes by type and property, without words: list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.display import counted
from orienteer.serve.cli.arguments import Directory, K, Types, Where, open_graph
from orienteer.serve.cli.output import Output
from orienteer.text.lines import value_text

if TYPE_CHECKING:
    from orienteer.graph.listing import NodeListing

_LONG = 100  # characters of a node's properties in a table


def list_nodes(
    out: Output,
    directory: Directory,
    types: Types = None,
    where: Where = None,
    sort: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Order by a property, or by name, id, type or degree (number of edges)."),
    ] = None,
    descending: Annotated[bool, typer.Option("--descending", help="From the largest value on.")] = False,
    group_by: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Count the nodes by the value of a field, most first.")
    ] = None,
    count: Annotated[bool, typer.Option("--count", help="Print how many there are, and list none.")] = False,
    k: K = 20,
    offset: Annotated[int, typer.Option(metavar="N", min=0, help="Number of nodes or groups to skip.")] = 0,
) -> None:
    """List, count, sort and group nodes by type and property. Those without a value come last."""
    graph = open_graph(directory, out)
    page = graph.list(
        node_types=types,
        where=where or (),
        sort=sort,
        descending=descending,
        group_by=group_by,
        k=0 if count and group_by is None else k,
        offset=offset,
    )
    if out.as_json:
        out.json(_facts(page, is_grouped=group_by is not None))
    elif group_by is not None:
        rows = [
            ["(none)" if group.value is None else value_text(group.value), f"{group.count:,}"] for group in page.groups
        ]
        out.print(f"{counted(page.total, 'node')}, {counted(page.distinct, 'group')}")
        out.table(rows, header=(group_by, "count")) if rows else None
    elif count:
        out.print(str(page.total))
    else:
        out.print(counted(page.total, "node"))
        _print_nodes(out, page, sort)
    _tell_rest(out, page, sort=sort, group_by=group_by, is_count=count)


def _facts(page: NodeListing, *, is_grouped: bool) -> dict[str, object]:
    if is_grouped:
        groups = [{"value": group.value, "count": group.count} for group in page.groups]
        return {"total": page.total, "groups": groups}
    hits = [{"id": node.id, "type": node.type, "name": node.name, "properties": node.properties} for node in page.hits]
    return {"total": page.total, "offset": page.offset, "hits": hits}


def _print_nodes(out: Output, page: NodeListing, sort: str | None) -> None:
    """Print a row for each node, with its properties, that which they are sorted by first."""
    rows = []
    for node in page.hits:
        names = sorted(node.properties, key=lambda name: name.casefold() != (sort or "").casefold())
        properties = "; ".join(f"{name}={value_text(node.properties[name])}" for name in names)
        short = properties if len(properties) <= _LONG else f"{properties[: _LONG - 1]}…"
        rows.append([node.name, node.type, node.id, short])
    if rows:
        out.table(rows, header=("name", "type", "id", "properties"))


def _tell_rest(out: Output, page: NodeListing, *, sort: str | None, group_by: str | None, is_count: bool) -> None:
    """Say how many have no value to be sorted by, and what the page leaves out."""
    if page.missing and all(group.value is not None for group in page.groups):
        out.note(f"{page.missing:,} of them have no {group_by or sort}: they come last")
    shown, whole = (len(page.groups), page.distinct) if group_by is not None else (len(page.hits), page.total)
    if shown and whole > page.offset + shown and not (is_count and group_by is None):
        out.note(f"{whole - page.offset - shown:,} more: --offset {page.offset + shown}")


COMMANDS = {
    "list": (list_nodes, "list beers --type beer --where 'abv >= 8' --sort abv --descending -k 5"),
}
