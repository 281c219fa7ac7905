"""The command that lists nodes by type and property, without words: list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.display import counted
from orienteer.serve.cli import answering
from orienteer.serve.cli.arguments import Directory, K, Types, Where, open_graph
from orienteer.serve.cli.output import Output
from orienteer.text.sentences import value_text

if TYPE_CHECKING:
    from orienteer.serve.views.records import Listing


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
    from orienteer.serve.views.records import Grouping

    page = pages.list_nodes(
        open_graph(directory, out),
        node_types=types,
        where=where,
        sort=sort,
        descending=descending,
        group_by=group_by,
        k=0 if count and group_by is None else k,
        offset=offset,
    )
    if out.as_json:
        out.json(page.printed())
    elif isinstance(page, Grouping):
        out.print(f"{counted(page.total, 'node')}, {counted(page.distinct, 'group')}")
        rows = [["(none)" if each.value is None else value_text(each.value), f"{each.count:,}"] for each in page.groups]
        out.table(rows, header=(str(group_by), "count")) if rows else None
    elif count:
        out.print(str(page.total))
    else:
        out.print(counted(page.total, "node"))
        _print_nodes(out, page, sort)
    listed = page.groups if isinstance(page, Grouping) else page.hits
    is_missing_listed = isinstance(page, Grouping) and any(group.value is None for group in page.groups)
    if page.missing and not is_missing_listed:
        out.note(f"{page.missing:,} of them have no {group_by or sort}: they come last")
    if listed and page.more:
        out.note(f"{page.more:,} more: --offset {page.offset + len(listed)}")


def _print_nodes(out: Output, page: Listing, sort: str | None) -> None:
    """Print a row for each node with its properties, first the one of the order."""
    rows = []
    for node in page.hits:
        names = sorted(node.properties, key=lambda name: name.casefold() != (sort or "").casefold())
        properties = "; ".join(f"{name}={value_text(node.properties[name])}" for name in names)
        rows.append([node.name, node.type, node.id, answering.shortened(properties)])
    if rows:
        out.table(rows, header=("name", "type", "id", "properties"))


COMMANDS = {
    "list": (list_nodes, "list beers --type beer --where 'abv >= 8' --sort abv --descending -k 5"),
}
