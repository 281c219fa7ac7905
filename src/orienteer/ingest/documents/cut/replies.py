"""Replies of models in the cache: what a build has paid for is not paid for again, even after a kill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orienteer.errors import BadOption
from orienteer.llm.replies import ChatRequest, ReplyFile
from orienteer.records import Message, Reply

FILE = "replies.jsonl"


def is_replies(folder: Path) -> bool:
    """Tell whether a folder holds replies and nothing else; those of earlier versions, in other files, count too."""
    names = [file.name for file in folder.iterdir()]
    return bool(names) and all(name.startswith("replies.") for name in names)


class ReplyCache:
    """Replies by request, in a folder. Safe among threads and processes.

    Raises `BadOption` where the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, ReplyFile(folder / FILE)
        with self._trouble():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / FILE).touch()

    def get(self, request: ChatRequest) -> str | None:
        """Return what a model once replied to a request, or None."""
        with self._trouble():
            reply = self._file.get(request.key)
        return None if reply is None else reply.message.content

    def put(self, request: ChatRequest, content: str) -> None:
        """Keep a reply."""
        with self._trouble():
            self._file.add(request.key, Reply(message=Message(role="assistant", content=content)))

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BadOption(
                f"the cache of replies {self._folder} cannot be read and written ({error}): set ORIENTEER_CACHE to a "
                "folder that can"
            ) from error
