"""The command chat."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from orienteer.display import counted
from orienteer.errors import Error, UsageError
from orienteer.serve.cli.arguments import Directory, ModelFlags, open_graph
from orienteer.serve.cli.output import Output

_HISTORY = Path("chat") / "history"  # in the cache
# The code of an interrupted command: threads that wait for a model end with the process.
_WAITING = 130


def chat(
    out: Output,
    directory: Directory,
    *,
    model: ModelFlags,
    no_history: Annotated[bool, typer.Option("--no-history", help="Do not save the input history.")] = False,
) -> int:
    """Talk with a graph: questions, follow-ups and a look at hits. Without a terminal, a line is a question."""
    from orienteer.serve.chat.conversation import Chat, Screen

    if out.as_json:
        raise UsageError("a chat has no JSON: orienteer ask DIR QUESTION --json, or /save FILE in the chat")
    configured = model.settings()
    has_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    read = _lines
    graph = open_graph(directory, out)
    screen, out.is_shared = Screen(out, has_terminal=has_terminal), True
    talk = Chat(screen, graph, configured)
    if has_terminal:
        from orienteer.serve.chat.terminal import reader

        read = reader(talk, None if no_history else configured.cache / _HISTORY)
        manifest = graph.arrays.manifest
        sizes = f"{counted(manifest.nodes, 'node')}, {counted(manifest.edges, 'edge')}"
        screen.note(f"{graph.path.name}: {sizes}. Ask, or /help.")
    # At a terminal Ctrl-C stops the question, or drops the line; elsewhere it ends the command.
    failures = 0
    while not talk.is_over:
        try:
            line = read()
        except EOFError:
            break
        except KeyboardInterrupt:
            continue
        try:
            talk.say(line)
            talk.screen.print()
        except Error as error:
            failures += 1
            talk.screen.error(str(error))
        except KeyboardInterrupt:
            if not has_terminal:
                raise
            talk.screen.note("stopped")
    out.done()
    if talk.is_waiting:
        return _WAITING
    return 0 if has_terminal or not failures else 1


def _lines() -> str:
    """Return the next line of standard input. Raises `EOFError`."""
    if not (line := sys.stdin.readline()):
        raise EOFError
    return line


COMMANDS = {"chat": (chat, "chat FOLDER")}
