"""The input line at a terminal: edited, completed, and saved in a history that only the person can read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from orienteer.display import clean, counted
from orienteer.errors import MissingExtra
from orienteer.files import make_cache_folder
from orienteer.serve.chat.conversation import COMMANDS, Chat
from orienteer.serve.cli.arguments import file_trouble

try:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.output.color_depth import ColorDepth
except ModuleNotFoundError as error:
    raise MissingExtra("a chat at a terminal", "chat") from error

_OWN = 0o600


def reader(chat: Chat, history: Path | None) -> Callable[[], str]:
    """Return what reads the next line, kept in the file `history`. It raises `KeyboardInterrupt`, `EOFError`."""
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def break_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory() if history is None else _history_in(history),
        completer=_Words(chat),
        # A menu over each word of a question would be in the way.
        complete_while_typing=False,
        key_bindings=keys,
        enable_history_search=True,
        bottom_toolbar=lambda: _status(chat),
        color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
    )
    return lambda: session.prompt("> ")


def _history_in(file: Path) -> History:
    """Return the history in a file that only its owner can read. Raises `BadInput` if it cannot be made."""
    with file_trouble("chat with --no-history"):
        make_cache_folder(file.parents[1], file.parent.name)
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWN))
        # An older file may have another mode.
        file.chmod(_OWN)
    return FileHistory(os.fspath(file))


def _status(chat: Chat) -> str:
    kept = f"   types: {', '.join(chat.node_types)}" if chat.node_types else ""
    nodes = counted(chat.graph.arrays.manifest.nodes, "node")
    return clean(f" {chat.graph.path.name}: {nodes}   {chat.method}{kept}   /help   Ctrl-C stops   Ctrl-D leaves ")


class _Words(Completer):
    """Completes commands, types and methods; names of nodes would cost a search for every key."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield the completions of a line."""
        text = document.text_before_cursor
        if not text.startswith("/"):
            return
        name, has_more, rest = text.partition(" ")
        if not has_more:
            for command, what in COMMANDS.items():
                if command.startswith(name):
                    yield Completion(command, -len(name), display_meta=what.about)
            return
        word = rest.rsplit(" ", 1)[-1]
        for choice in self._choices(name):
            if choice.casefold().startswith(word.casefold()):
                yield Completion(json.dumps(choice) if " " in choice else choice, -len(word), display=clean(choice))

    def _choices(self, command: str) -> Iterable[str]:
        from orienteer.methods.table import AUTO, METHODS

        if command == "/type":
            return self._chat.graph.schema.node_types
        return (AUTO, *METHODS) if command == "/method" else ()
