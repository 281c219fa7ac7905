"""The command that serves graphs to other people's agents: mcp."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from orienteer.errors import MissingExtra
from orienteer.serve.cli.arguments import BudgetFlags, ModelFlags, graph_of
from orienteer.serve.cli.output import Output


def mcp(
    out: Output,
    directories: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR...", help="Graphs, or their sources: folders of documents or tables, or tables."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME=DIR", help="Serve DIR by this name, not its folder's. Repeatable."),
    ] = None,
    *,
    model: ModelFlags,
    cypher: Annotated[bool, typer.Option("--cypher", help="Offer read-only Cypher, too.")] = False,
    budget: BudgetFlags,
) -> None:
    """Serve graphs as tools for other agents (MCP), over standard input and output."""
    if find_spec("mcp") is None:
        raise MissingExtra("orienteer mcp", "mcp")
    if cypher and find_spec("ladybug") is None:
        raise MissingExtra("Cypher", "cypher")
    from orienteer.graph.format import read_pointer
    from orienteer.serve.door import served_budget
    from orienteer.serve.served import ServedGraphs, by_name

    configured = model.settings()
    limits = served_budget(
        configured,
        calls=budget.budget_calls,
        tokens=budget.budget_tokens,
        seconds=budget.budget_seconds,
        usd=budget.budget_usd,
    )
    asked = None if configured.model is None else configured.open_model()
    if asked is not None:
        limits.require_price(asked.name, asked.price)
    paths = {graph: graph_of(path, out) for graph, path in by_name(directories or (), name or ()).items()}
    for path in paths.values():
        read_pointer(path)  # what is no graph is told now, not by the first call
    graphs = ServedGraphs(paths, model=asked, budget=limits, settings=configured)
    if sys.stdin.isatty():
        out.note(f"serving {', '.join(paths)} (MCP): a host of agents starts this and talks to it here; Ctrl-C ends it")
    out.done()

    from orienteer.serve.mcp.server import server  # which takes half a second to load: what is wrong is told before
    from orienteer.serve.mcp.stdio import serve

    serve(server(graphs, offers_cypher=cypher))


COMMANDS = {
    "mcp": (mcp, "mcp beers"),
}
