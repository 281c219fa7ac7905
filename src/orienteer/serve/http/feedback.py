"""What people say of answers, kept as questions for `orienteer eval`: a line each."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from orienteer.errors import Refused

MOST_BYTES = 64_000_000
"""Of the file: a stranger with a key cannot fill the disk."""


class FeedbackFile:
    """A file of questions that grows by a line for each thumb. Safe to share among threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.Lock()

    def add(self, graph: str, question: str, nodes: Sequence[str], *, is_good: bool) -> None:
        """Append a question: with its gold where the hits were good, else with the hits that were not.

        Raises `Refused` where the file is full.
        """
        gold, rejected = (nodes, ()) if is_good else ((), nodes)
        row = {"question": question, "nodes": list(gold), "graph": graph, "is_good": is_good}
        line = json.dumps({**row, **({"rejected": list(rejected)} if rejected else {})}, ensure_ascii=False)
        with self._writing:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                if os.fstat(descriptor).st_size > MOST_BYTES:
                    raise Refused(503, "the file of feedback is full", headers={"retry-after": "3600"})
                os.write(descriptor, f"{line}\n".encode())
            finally:
                os.close(descriptor)
