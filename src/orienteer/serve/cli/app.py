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
    build,
    cache,
    chat,
    doctor,
    evaluation,
    graph,
    graph_files,
    install,
    listing,
    mcp,
    push,
    quiz,
    serve,
    trace,
    train,
)
from orienteer.serve.cli.arguments import with_output
from orienteer.serve.cli.output import DISK_ERRORS, drop_output

INTERRUPTED = 130
MODULES = (
    ask,
    chat,
    evaluation,
    quiz,
    train,
    graph_files,
    push,
    build,
    graph,
    listing,
    mcp,
    serve,
    trace,
    install,
    doctor,
    cache,
)
"""The modules of the commands, in the order of the help."""
GROUPS = {
    "eval": "Compare methods on questions whose answers are known.",
    "train": "Collect trajectories, and train small models on them.",
    "trace": "Read, replay and compare what agents did.",
    "cache": "Show or clear the cached graphs, vectors and replies of models.",
}


def application(first: str | None = None) -> typer.Typer:
    """Return the application with all its commands, or only with those whose first word is `first`, if there are any.

    Typer takes longer to lay out every command than most commands take to run.
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
    is_known = any(name.split()[0] == first for module in MODULES for name in module.COMMANDS)
    for module in MODULES:
        for name, (function, example) in module.COMMANDS.items():
            if is_known and name.split()[0] != first:
                continue
            group, _, name = name.rpartition(" ")
            if group and group not in groups:
                groups[group] = typer.Typer(help=GROUPS[group], short_help=GROUPS[group], rich_markup_mode=None)
                groups[group].callback(invoke_without_command=True)(_help)
                app.add_typer(groups[group], name=group)
            target = groups[group] if group else app
            short = (function.__doc__ or "").partition("\n")[0]
            epilog = f"\b\nExample:\n  orienteer {example}"
            target.command(name, cls=_Command, short_help=short, epilog=epilog)(with_output(function))
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 done, 1 not finished, 2 wrong request, 130 interrupted."""
    if arguments is not None:
        return _exit_code(arguments)
    _prepare_process()
    code = 0
    try:
        code = _exit_code(None)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        drop_output()
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        drop_output()
        return code or _fail(f"standard output: {error.strerror}; make room, or write elsewhere", 1)
    return code


def _exit_code(arguments: Sequence[str] | None) -> int:
    """Run a command line, that of the process where none is given, and return its exit code."""
    try:
        first = next(iter(sys.argv[1:] if arguments is None else arguments), None)
        code = application(first)(args=arguments, prog_name="orienteer", standalone_mode=False)
    except Error as error:
        if logging.getLogger("orienteer").isEnabledFor(logging.DEBUG):
            sys.stderr.write(clean("".join(traceback.format_exception(error))))
        return _fail(str(error), 2 if isinstance(error, UsageError) else 1)
    except TyperException as error:
        context = getattr(error, "ctx", None)  # only some of typer's errors know which command was being called
        command = context.command_path if context is not None else "orienteer"
        message = error.format_message().replace("Value error, ", "")
        end = "" if message.endswith((".", "?")) else "."
        return _fail(f"{message}{end} See: {command} --help", 2)
    if code == INTERRUPTED and arguments is None:
        # The process is ours. Threads that wait for a model would keep it alive until the model answers.
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    return code if isinstance(code, int) else 0


class _Command(TyperCommand):
    """A command whose usage has no braces: `DIR QUESTION`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # Any: typer does not export the type of its contexts
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]


def _prepare_process() -> None:
    """Log to standard error, and write UTF-8 whatever the locale: JSON is UTF-8, and names come in every script."""
    # numpy would start threads for linear algebra, which is hardly used here: an eighth of a command's start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is loaded stays loaded: searching it for garbage several times takes a tenth of a start.
    gc.set_threshold(10_000)
    # pydantic would search all installed packages for plugins; a command needs none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"error: {' '.join(clean(message).split())}\n")
    return code


def _help(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def _version(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if version:
        from orienteer.version import __version__

        typer.echo(__version__)
    elif ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
