"""The command line. One table of commands; each loads what it needs when it runs."""

from __future__ import annotations

import gc
import io
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.exceptions import TyperException

from orienteer.display import clean
from orienteer.errors import Error, UsageError
from orienteer.serve.cli import (
    ask,
    cypher,
    documents,
    embed,
    evaluation,
    graph,
    graph_files,
    quiz,
    quiz_figures,
    trace,
    upkeep,
)
from orienteer.serve.cli.output import with_output

INTERRUPTED = 130


def application(first: str | None = None) -> typer.Typer:
    """Return the application with all its commands; only those that begin with this word, where there are any.

    To lay out every command takes typer longer than most commands take.
    """
    app = typer.Typer(
        help="Find evidence in a knowledge graph.",
        epilog="\b\nBegin with:\n  orienteer demo\n  orienteer ask FOLDER 'your question'",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True)(_version)
    groups: dict[str, typer.Typer] = {}
    modules = (
        ask,
        evaluation,
        quiz_figures,
        quiz,
        graph_files,
        documents,
        embed,
        graph,
        cypher,
        trace,
        upkeep,
    )
    is_known = any(name.split()[0] == first for module in modules for name in module.COMMANDS)
    for module in modules:
        for name, (function, example) in module.COMMANDS.items():
            if is_known and name.split()[0] != first:
                continue
            group, _, name = name.rpartition(" ")
            if group and group not in groups:
                about = module.GROUPS[group]
                groups[group] = typer.Typer(help=about, short_help=about, rich_markup_mode=None)
                app.add_typer(groups[group], name=group)
            target = groups[group] if group else app
            short = (function.__doc__ or "").partition("\n")[0]
            epilog = f"\b\nExample:\n  orienteer {example}"
            target.command(name, cls=_Command, short_help=short, epilog=epilog)(with_output(function))
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 done, 1 not finished, 2 wrong request, 130 interrupted."""
    if arguments is None:
        _prepare_process()
    try:
        first = next(iter(sys.argv[1:] if arguments is None else arguments), None)
        code = application(first)(args=arguments, prog_name="orienteer", standalone_mode=False)
    except Error as error:
        if logging.getLogger("orienteer").isEnabledFor(logging.DEBUG):
            sys.stderr.write(clean("".join(traceback.format_exception(error))))
        return _fail(str(error), 2 if isinstance(error, UsageError) else 1)
    except TyperException as error:
        said = error.format_message().replace("Value error, ", "")
        end = "" if said.endswith((".", "?")) else "."
        return _fail(f"{said}{end} See: {_command_of(error)} --help", 2)
    if code == INTERRUPTED and arguments is None:
        # The process is ours. Threads that wait for a model would keep it for as long as that takes.
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    return code if isinstance(code, int) else 0


class _Command(TyperCommand):
    """A command whose usage is written as people write it: `DIR QUESTION`, without braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # Any: typer keeps the type of its contexts to itself
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


def _command_of(error: TyperException) -> str:
    """Return the command that was being called, as far as it was understood."""
    context = getattr(error, "ctx", None)  # only some of typer's errors know it
    return context.command_path if context is not None else "orienteer"


def _prepare_process() -> None:
    """Log to standard error, and write UTF-8 whatever the locale says: JSON has one encoding, names every script."""
    # numpy starts threads for linear algebra, of which there is next to none here: an eighth of a command's start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is loaded stays: to look through all of it for garbage, several times over, takes a tenth of a start.
    gc.set_threshold(10_000)
    # pydantic looks through all that is installed for plugins, of which a command needs none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"error: {' '.join(clean(message).split())}\n")
    return code


def _version(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if version:
        from orienteer.version import __version__

        typer.echo(__version__)
    elif ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
