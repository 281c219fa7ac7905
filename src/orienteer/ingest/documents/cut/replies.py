"""Replies of models in the cache: what a build has paid for is not paid for again, even after a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orienteer.errors import BadOption
from orienteer.files import make_cache_folder
from orienteer.llm.conversation import ask, first_request
from orienteer.llm.replies import ChatRequest, ReplyFile, ReplyStore
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Message, Reply, Trajectory

FILE = "replies.jsonl"


def is_replies(folder: Path) -> bool:
    """Return whether a folder holds replies and nothing else; those of earlier versions, in other files, count too."""
    names = [file.name for file in folder.iterdir()]
    return bool(names) and all(name.startswith("replies.") for name in names)


class ReplyCache:
    """Replies by request, in a folder. Safe among threads and processes.

    Raises `BadOption` where the folder cannot be written.
    """

    def __init__(self, folder: Path, *, store: ReplyStore | None = None) -> None:
        """`store` has the replies of the folder's file where that lies on another machine."""
        self.folder = folder
        self._file: ReplyStore = ReplyFile(folder / FILE) if store is None else store
        if store is not None:
            return
        with self._trouble():
            make_cache_folder(folder.parent, folder.name)
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

    def ask(
        self,
        model: LanguageModel,
        run: Run,
        begun: Trajectory,
        schema: Mapping[str, Any],  # Any: a JSON schema
        *,
        is_sound: Callable[[str], bool] = lambda content: True,
    ) -> str:
        """Return what a model once replied to the opening of a trajectory, else what it replies now.

        A new reply is kept where it is sound. Raises as `exchange.ask` does.
        """
        request = first_request(begun, schema)
        content = self.get(request)
        if content is None:
            content = ask(model, run, begun, schema=schema).reply.message.content or ""
            if is_sound(content):
                self.put(request, content)
        return content

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BadOption(
                f"the cache of replies {self.folder} cannot be read and written ({error}): set ORIENTEER_CACHE to a "
                "folder that can"
            ) from error
