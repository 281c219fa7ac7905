"""The command that serves graphs to other people's agents: mcp."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from orienteer.errors import MissingExtra
from orienteer.serve.cli.arguments import BudgetFlags, ModelFlags
from orienteer.serve.cli.output import Output
from orienteer.serve.cli.serve import Graphs, Names, answering_of, take_up


def mcp(
    out: Output,
    directories: Graphs = None,
    name: Names = None,
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
    from orienteer.serve.graphs import ServedGraph, ServedGraphs, named_folders

    answering = answering_of(model.settings(), budget)
    graphs, begins = ServedGraphs(), []
    for graph_name, folder in named_folders(directories or (), name or ()).items():
        served = ServedGraph(graph_name, answering)
        begins.append(take_up(served, folder, out, is_lazy=True))  # what is no graph is told now, not by the first call
        graphs.add(served)
    if sys.stdin.isatty():
        names = ", ".join(graphs.names)
        out.note(f"serving {names} (MCP): a host of agents starts this and talks to it here; Ctrl-C ends it")
    out.done()

    from orienteer.serve.mcp.server import (
        serve,
        server,  # which takes half a second to load: what is wrong is told before
    )

    for begin in begins:  # not before: reading would make that half second three
        begin()
    serve(server(graphs, offers_cypher=cypher))


COMMANDS = {
    "mcp": (mcp, "mcp beers"),
}
