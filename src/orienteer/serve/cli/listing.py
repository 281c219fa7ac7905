"""The command that lists nodes by type and property, without words: list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.display import counted
from orienteer.serve.cli.arguments import Directory, K, Types, Where, open_graph
from orienteer.serve.cli.output import Output
from orienteer.text.sentences import value_text

if TYPE_CHECKING:
    from orienteer.serve.views.records import Grouping, Listing

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
    from orienteer.serve.views import pages

    graph = open_graph(directory, out)
    if group_by is not None:
        groups = pages.list_groups(
            graph,
            group_by,
            node_types=types or (),
            where=where or (),
            sort=sort,
            descending=descending,
            k=k,
            offset=offset,
        )
        _tell_groups(out, groups, group_by)
        return
    page = pages.list_nodes(
        graph,
        node_types=types or (),
        where=where or (),
        sort=sort,
        descending=descending,
        k=0 if count else k,
        offset=offset,
    )
    if out.as_json:
        out.json(page.printed())
    elif count:
        out.print(str(page.total))
    else:
        out.print(counted(page.total, "node"))
        _print_nodes(out, page, sort)
    if page.missing:
        out.note(f"{page.missing:,} of them have no {sort}: they come last")
    if page.hits and page.more:
        out.note(f"{page.more:,} more: --offset {page.offset + len(page.hits)}")


def _tell_groups(out: Output, page: Grouping, group_by: str) -> None:
    """Print groups, and say what the page leaves out."""
    if out.as_json:
        out.json(page.printed())
    else:
        rows = [
            ["(none)" if group.value is None else value_text(group.value), f"{group.count:,}"] for group in page.groups
        ]
        out.print(f"{counted(page.total, 'node')}, {counted(page.distinct, 'group')}")
        out.table(rows, header=(group_by, "count")) if rows else None
    if page.missing and all(group.value is not None for group in page.groups):
        out.note(f"{page.missing:,} of them have no {group_by}: they come last")
    if page.groups and page.more:
        out.note(f"{page.more:,} more: --offset {page.offset + len(page.groups)}")


def _print_nodes(out: Output, page: Listing, sort: str | None) -> None:
    """Print a row for each node, with its properties, that which they are sorted by first."""
    rows = []
    for node in page.hits:
        names = sorted(node.properties, key=lambda name: name.casefold() != (sort or "").casefold())
        properties = "; ".join(f"{name}={value_text(node.properties[name])}" for name in names)
        short = properties if len(properties) <= _LONG else f"{properties[: _LONG - 1]}…"
        rows.append([node.name, node.type, node.id, short])
    if rows:
        out.table(rows, header=("name", "type", "id", "properties"))


COMMANDS = {
    "list": (list_nodes, "list beers --type beer --where 'abv >= 8' --sort abv --descending -k 5"),
}
