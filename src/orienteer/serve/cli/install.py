"""Commands on the files of agents: install registers a graph's MCP server, uninstall removes it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.errors import BadInput, BadOption, Error, UsageError, install_command
from orienteer.serve.cli.arguments import file_trouble
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.serve.install.agents import Places
    from orienteer.serve.install.plan import Change

Project = Annotated[bool, typer.Option("--project", help="The files of the project in this folder, not your own.")]
Write = Annotated[bool, typer.Option("--write", help="Write the files; without it the changes are only shown.")]


def install(
    out: Output,
    graph: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A graph, or a folder or table to build one from; by default this folder."),
    ] = Path(),
    *,
    agent: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An agent, all, or those detected (the default). Repeatable."),
    ] = None,
    project: Project = False,
    write: Write = False,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Also tell agents, in words, when to use the graph and when not.")
    ] = False,
) -> int:
    """Register a graph's MCP server with coding agents.

    Without --write nothing is touched, and each file's difference is shown.
    """
    from orienteer.graph.format import is_graph
    from orienteer.serve.install.agents import AGENTS, DETECTED, chosen_agents, launcher
    from orienteer.serve.install.plan import plan_install

    places = _here()
    directory = _directory(graph, places)
    agents = chosen_agents(agent or [DETECTED], places)
    if project:
        # Whoever names an agent hears why it is left out; detected ones are left out silently.
        for chosen in agents:
            if chosen.name in (agent or ()) and not chosen.project_files:
                having = ", ".join(other.name for other in AGENTS if other.project_files)
                raise BadOption(f"{chosen.title} reads no file of a project: leave out --project. These do: {having}")
        agents = tuple(chosen for chosen in agents if chosen.project_files)
    if not agents:
        known = ", ".join(other.name for other in AGENTS)
        raise UsageError(f"no agent was detected here: name one with --agent, or all of them with --agent all: {known}")
    changes = plan_install(agents, directory, places, project=project, instructions=instructions)
    # An agent's file may be right and the agent without an answer all the same: these notes say why.
    if not is_graph(directory):
        out.note(
            f"note: {directory} is not a graph: the server makes one of it when it first needs it, and agents wait for "
            f"seconds only. Ask it something before: orienteer ask {shlex.quote(str(directory))} QUESTION"
        )
    is_fetched = launcher(whole_path=False)[0] == "uvx"
    if not is_fetched and find_spec("mcp") is None and any(change.is_due for change in changes):
        out.note(f"note: this installation cannot serve agents yet: {install_command('mcp')}")
    return _carry_out(out, changes, graph=str(directory), write=write)


def uninstall(
    out: Output,
    graph: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Take out this graph alone; it may be gone.")
    ] = None,
    *,
    agent: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An agent, those detected, or all (the default). Repeatable."),
    ] = None,
    project: Project = False,
    write: Write = False,
) -> int:
    """Remove a graph's MCP server from the configuration of coding agents.

    Without --write nothing is touched, and each file's difference is shown. Where nothing else has changed since, a
    file holds the same bytes as before.
    """
    from orienteer.serve.install.agents import ALL, absolute, chosen_agents
    from orienteer.serve.install.plan import plan_uninstall

    places = _here()
    agents = chosen_agents(agent or [ALL], places)
    directory = None if graph is None else absolute(graph)
    changes = plan_uninstall(agents, directory, places, project=project)
    return _carry_out(out, changes, graph=None if directory is None else str(directory), write=write)


def _here() -> Places:
    """Return the places of agents' files on this machine. Raises `Error` without a home or a working directory."""
    from orienteer.serve.install.agents import Places

    try:
        home = Path.home()
    except RuntimeError as error:
        raise Error(f"no home folder: {error}; set HOME") from error
    with file_trouble("work in a folder that is there"):
        return Places(home=home, project=Path.cwd(), platform=sys.platform, environment=os.environ)


def _directory(graph: Path, places: Places) -> Path:
    """Return the absolute path of a graph or its sources. Raises `BadInput` for `/` and the home folder."""
    from orienteer.graph.format import is_graph
    from orienteer.serve.install.agents import absolute

    with file_trouble("check the path and its permissions"):
        if not graph.exists():
            raise BadInput(f"{graph} does not exist: name a graph, or a folder or table to build one from")
    directory = absolute(graph)
    if directory.resolve() in {places.home.resolve(), Path(directory.anchor)} and not is_graph(directory):
        raise BadInput(f"{directory} is not a graph, and too much to make one from: name a folder in it")
    return directory


def _carry_out(out: Output, changes: Sequence[Change], *, graph: str | None, write: bool) -> int:
    """Show the changes, write them with `write`, and return the exit code."""
    from orienteer.serve.install.files import CannotEdit

    outcomes: list[tuple[Change, Path | None]] = []
    for change in changes:
        copy = None
        if write:
            try:
                copy = change.write()
            except CannotEdit as error:
                change = replace(change, state="left alone", reason=str(error))
        outcomes.append((change, copy))
    if out.as_json:
        listed = [_record(change, copy) for change, copy in outcomes]
        out.json({"graph": graph, "written": write, "changes": listed})
    else:
        for change, copy in outcomes:
            _print_change(out, change, copy, written=write)
        if not changes:
            out.print("there is nothing of orienteer in agents' files")
        elif not write and any(change.is_due for change in changes):
            out.note("nothing was written: add --write to do it")
    return 1 if any(change.state == "left alone" for change, _ in outcomes) else 0


_VERBS = {
    "add": ("adds", "added", "to"),
    "update": ("updates", "updated", "in"),
    "remove": ("removes", "removed", "from"),
}


def _print_change(out: Output, change: Change, copy: Path | None, *, written: bool) -> None:
    file = f"{change.file}" if change.file == change.real_file else f"{change.file} (really {change.real_file})"
    what = " ".join(change.names) or "the instructions"
    if change.state == "by hand":
        out.print(f"{change.agent}: put in by hand, in {change.where}:")
    elif change.state == "same":
        out.print(f"{change.agent}: {file} has {what} already")
    elif change.is_due:
        does, did, joint = _VERBS[change.state]
        joint = joint if change.after is not None else "with"
        line = f"{change.agent}: {did if written else does} {what} {joint} {file}"
        if written:
            line += f"; as it first was: {copy}" if copy is not None else ""
            line += f"; {change.then}" if change.then else ""
        out.print(line)
        for line in () if written else change.difference():
            out.print(line.rstrip("\r").replace("\t", "    "))
    else:
        by_hand = "; put in by hand:" if change.paste else ""
        out.print(f"{change.agent}: {file} is left alone: {change.reason}{by_hand}")
    if change.paste:
        out.print(change.paste)


def _record(change: Change, copy: Path | None) -> dict[str, object]:
    """Return a change as JSON, with null for missing values."""
    facts = {name: getattr(change, name) for name in ("agent", "what", "state", "names")}
    facts |= {name: getattr(change, name) or None for name in ("reason", "paste", "then")}
    facts |= {name: None if path is None else str(path) for name, path in (("file", change.file), ("copy", copy))}
    return {**facts, "difference": "".join(f"{line}\n" for line in change.difference()) or None}


COMMANDS = {"install": (install, "install GRAPH --write"), "uninstall": (uninstall, "uninstall --write")}
