"""The command line. One table of commands; each loads what it needs when it runs."""

from __future__ import annotations

import io
import logging
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from orienteer.display import clean
from orienteer.errors import Error, UsageError
from orienteer.plugins import load, refused, registered
from orienteer.serve.cli.output import DISK_ERRORS, drop_output

INTERRUPTED = 130
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "orienteer.serve.cli.ask": {
        "demo": (
            "Answer three questions over a small graph about programming languages: how each was "
            "read, and its evidence."
        ),
        "ask": "Answer a question, with the path or quotation that proves it.",
        "methods": ("List the methods; for one of them, also its options with defaults and values."),
    },
    "orienteer.serve.cli.chat": {
        "chat": (
            "Talk with a graph: questions, follow-ups and a look at hits. Without a terminal, a line is a question."
        )
    },
    "orienteer.serve.cli.graph_files": {
        "import": (
            "Make a graph from tables of nodes and edges, or from a database, and report dropped rows with the reasons."
        ),
        "validate": "Print the report of an import without writing a graph.",
        "export": "Write a graph as files for other programs.",
    },
    "orienteer.serve.cli.build": {
        "build": "Make a graph from documents and tables: chunks, joined by order, links, titles, names and meaning.",
        "link": "Add a rebuildable layer of edges between similar texts.",
        "embed": "Embed every node, so that search, tools and methods can compare meanings.",
    },
    "orienteer.serve.cli.graph": {
        "info": "Describe a graph: its nodes and edges by type, its size, its sources.",
        "schema": "List the node types and edge types, which types each edge joins, and their labels.",
        "search": "Rank the nodes that best match some words.",
        "neighbors": "List the neighbours of a node with the edges that lead to them, counted by kind.",
        "intersect": "List the nodes connected to all of several nodes, or to most of them, with the edges.",
        "paths": "List the shortest paths between two nodes, whatever the direction of the edges.",
        "show": "Print one node in full.",
        "cypher": "Query a graph in Cypher, read-only.",
        "list": "List, count, sort and group nodes by type and property. Those without a value come last.",
    },
    "orienteer.serve.cli.serve": {
        "mcp": "Serve graphs as tools for other agents (MCP), over standard input and output.",
        "serve": "Serve graphs over HTTP: /api for programs, /v1 for chat clients, /mcp for agents, a page at /.",
        "open": "Serve a graph or a folder on this machine, and open the browser.",
    },
    "orienteer.serve.cli.install": {
        "install": "Register a graph's MCP server with coding agents.",
        "uninstall": "Remove a graph's MCP server from the configuration of coding agents.",
    },
    "orienteer.serve.cli.doctor": {
        "doctor": (
            "Report the installation, the settings, the abilities of a model's server, and the state of a graph."
        )
    },
    "orienteer.serve.cli.cache": {
        "cache": "Show or clear the cached graphs, vectors and replies of models.",
        "cache info": (
            "Show the folder of the cache and its content: graphs of sources, vectors of texts, replies of models."
        ),
        "cache clear": (
            "Remove the cached graphs, or one; they are rebuilt when needed. Vectors and replies stay unless named."
        ),
        "cache stop": (
            "End the process that makes vectors in the background. It does not start again until the folder changes."
        ),
    },
}
"""The line that the help has for each command and group, by the module that holds it, in the order of the help."""
_OF_MODULES = ("callback", "params", "help", "epilog")  # attributes of a command for which its module is loaded


def application() -> TyperGroup:
    """Return the command line. What a command takes and does is loaded at the first look at it."""
    root = _group(
        _root,
        cls=_Root,
        help="Find evidence in a knowledge graph.",
        epilog="\b\nBegin with:\n  orienteer demo\n  orienteer ask FOLDER 'your question'",
        context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
    )
    _add(root, COMMANDS)
    return root


def registered_tables() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the tables of commands that packages register, by the name of the entry point. Raises `BadOption`."""
    return {name: load("commands", name) for name in registered("commands")}


def _add(root: TyperGroup, table: Mapping[str, Mapping[str, str]]) -> None:
    """Add the commands of a table: help lines of commands and groups, by the module whose `COMMANDS` has the rest."""
    names = {name for commands in table.values() for name in commands}
    for module, commands in table.items():
        for name, text in commands.items():
            first, _, last = name.rpartition(" ")
            parent = root.commands[first] if first else root
            assert isinstance(parent, TyperGroup)
            if any(other.startswith(f"{name} ") for other in names):
                parent.add_command(_group(_help, name=name, help=text, short_help=text, add_completion=False))
            else:
                parent.add_command(_Command(last, module, name, text))


class _Root(TyperGroup):
    """The commands of the core. Those that packages register are added when the help or an unknown name needs them."""

    _is_complete = False

    def list_commands(self, ctx: Any) -> list[str]:  # Any: typer does not export the type of its contexts
        """Return the names of all commands."""
        self._complete()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # Any: as above
        """Return a command by its name, or None."""
        if cmd_name not in self.commands:
            self._complete()
        return super().get_command(ctx, cmd_name)

    def _complete(self) -> None:
        """Add the registered commands. Raises `BadOption` for a package that is broken or takes a name of the core."""
        if not self._is_complete:
            self._is_complete = True
            for package, table in registered_tables().items():
                taken = self.commands.keys() & {name for commands in table.values() for name in commands}
                if taken:
                    raise refused("commands", package, f"{min(taken)!r} is a command of Orienteer's own")
                _add(self, table)


def _group(callback: Callable[..., None], **about: Any) -> TyperGroup:  # Any: what typer takes
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, **about)
    app.callback(invoke_without_command=True)(callback)
    return cast(TyperGroup, typer.main.get_command(app))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 done, 1 not finished, 2 wrong request, 130 interrupted."""
    if arguments is not None:
        return _exit_code(arguments)
    # numpy would start threads for linear algebra, which is hardly used here: an eighth of a command's start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # pydantic would search all installed packages for plugins; a command needs none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
    # JSON is UTF-8, and names come in every script, whatever the locale.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    code = 0
    try:
        code = _exit_code(None)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough.
        drop_output()
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        drop_output()
        return code or _fail(f"standard output: {error.strerror}; make room, or write elsewhere", 1)
    return code


def _exit_code(arguments: Sequence[str] | None) -> int:
    """Run a command line, by default that of the process, and return its exit code."""
    try:
        code = application()(args=arguments, prog_name="orienteer", standalone_mode=False)
    except Error as error:
        if logging.getLogger("orienteer").isEnabledFor(logging.DEBUG):
            sys.stderr.write(clean("".join(traceback.format_exception(error))))
        return _fail(str(error), 2 if isinstance(error, UsageError) else 1)
    except TyperException as error:
        # Only some of typer's errors know their command.
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "orienteer"
        message = error.format_message().replace("Value error, ", "")
        message = _with_value(message, error.__cause__)
        if message.startswith("Got unexpected extra argument") and command.endswith((" ask", " search")):
            message = f"Put all words in quotes: {command} DIR 'your words'"
        end = "" if message.endswith((".", "?")) else "."
        return _fail(f"{message}{end} See: {command} --help", 2)
    if code == INTERRUPTED and arguments is None:
        # The process is ours. Threads that wait for a model would keep it alive until the model answers.
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    return code if isinstance(code, int) else 0


def _with_value(message: str, cause: BaseException | None) -> str:
    """Return typer's message on a value that pydantic refuses, with the value in place of `Input`."""
    from pydantic import ValidationError

    if not isinstance(cause, ValidationError):
        return message
    return message.replace(": Input ", f": {clean(repr(cause.errors()[0]['input']))} ", 1)


class _Command(TyperCommand):
    """A command with a name and a line of help. Its module is loaded when anything else is needed."""

    def __init__(self, name: str, module: str, path: str, line: str) -> None:
        super().__init__(name, short_help=line, rich_markup_mode=None)
        self._module, self._path = module, path
        for later in _OF_MODULES:
            delattr(self, later)

    def __getattr__(self, name: str) -> Any:  # Any: an attribute of typer's commands
        if name not in _OF_MODULES:
            raise AttributeError(name)
        from orienteer.serve.cli.arguments import with_output

        function, example = import_module(self._module).COMMANDS[self._path]
        app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        app.command(epilog=f"\b\nExample:\n  orienteer {example}")(with_output(function))
        loaded = typer.main.get_command(app)
        for later in _OF_MODULES:
            setattr(self, later, getattr(loaded, later))
        return vars(self)[name]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # Any: typer does not export the type of its contexts
        """Return the usage without braces: `DIR QUESTION`."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"error: {' '.join(clean(message).split())}\n")
    return code


def _help(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from orienteer.version import __version__

        typer.echo(__version__)
        raise typer.Exit


def _root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    _help(ctx)
