"""The nodes of a build, on disk, so that they can be read several times and memory holds none of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from orienteer.index.arrays import Folder, Strings, StringWriter, encode
from orienteer.records import Node

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_BATCH = 4096


class Shelf:
    """Stores nodes and returns them in order, any number of times."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer = StringWriter(folder, "node")
        self._read: Strings | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, nodes: Iterable[Node]) -> None:
        """Take nodes in."""
        for node in nodes:
            self._writer.add(encode(packed(node)))
            self._count += 1

    def __iter__(self) -> Iterator[Node]:
        if self._read is None:
            self._writer.close()
            self._read = Folder(self._folder).strings("node")
        for low in range(0, len(self._read), _BATCH):
            rows = np.arange(low, min(low + _BATCH, len(self._read)))
            for packed in self._read.take(rows):
                yield unpacked(packed.decode(errors="surrogatepass"))


def packed(node: Node) -> str:
    """Return a node as one line of JSON."""
    return _encode([node.id, node.type, node.name, node.text, node.aliases, dict(node.properties)])


def unpacked(line: str) -> Node:
    """Return the node of such a line."""
    node_id, kind, name, text, aliases, properties = json.loads(line)
    return Node(node_id, kind, name, text, tuple(aliases), properties)
