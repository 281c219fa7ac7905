"""Replies of models on disk, by the whole request: what was paid for once is not paid for again, even after a kill."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from orienteer.errors import BadOption
from orienteer.records import JsonValue, Message

FILE = "replies.sqlite"
_WAIT_SECONDS = 30.0  # for another process that writes


def key_of(model: str, messages: Sequence[Message], schema: Mapping[str, JsonValue]) -> str:
    """Return the hash of a request: of everything that is sent."""
    said = [message.model_dump(mode="json", exclude_defaults=True) for message in messages]
    whole = json.dumps({"model": model, "messages": said, "schema": schema}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()


def is_replies(folder: Path) -> bool:
    """Tell whether a folder holds replies and nothing else."""
    return (folder / FILE).is_file() and all(file.name.startswith(FILE) for file in folder.iterdir())


class Replies:
    """Replies by request. Safe among threads and processes; a reply that was kept outlives the process that kept it.

    Raises `BadOption` where the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        with self._trouble():
            folder.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(folder / FILE, timeout=_WAIT_SECONDS, check_same_thread=False)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, content TEXT) WITHOUT ROWID")

    def __enter__(self) -> Replies:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def get(self, key: str) -> str | None:
        """Return the stored reply to a request, or None."""
        with self._lock, self._trouble():
            row = self._file.execute("SELECT content FROM reply WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, content: str) -> None:
        """Keep a reply."""
        with self._lock, self._trouble(), self._file:
            self._file.execute("INSERT OR REPLACE INTO reply VALUES (?, ?)", (key, content))

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise BadOption(
                f"the cache of replies {self._folder} cannot be read and written ({error}): set ORIENTEER_CACHE to a "
                "folder that can"
            ) from error
