"""The demo graph: true facts about programming languages, written by this project and shipped with it.

>>> nodes, edges = demo_records()
>>> [node.name for node in nodes if node.id == "language:csharp"]
['C#']
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, NamedTuple

from orienteer.records import Edge, Node


class DemoQuestion(NamedTuple):
    """A question about the demo graph and the ids of all nodes that answer it."""

    question: str
    nodes: tuple[str, ...]


def demo_records() -> tuple[list[Node], list[Edge]]:
    """Return the nodes, sorted by id, and the edges, sorted by source, type and target."""
    nodes = [
        Node(row["id"], row["type"], row["name"], row["text"], tuple(row["aliases"]), row["properties"])
        for row in _rows("nodes.jsonl")
    ]
    edges = [Edge(row["source"], row["type"], row["target"]) for row in _rows("edges.jsonl")]
    return nodes, edges


def demo_questions() -> tuple[DemoQuestion, ...]:
    """Return three questions of growing depth: one relation, two things that meet, two relations in a row."""
    return tuple(DemoQuestion(row["question"], tuple(row["nodes"])) for row in _rows("questions.jsonl"))


def _rows(name: str) -> Iterator[dict[str, Any]]:  # Any: JSON values
    text = files(__name__).joinpath(name).read_text(encoding="utf-8")
    return (json.loads(line) for line in text.split("\n") if line)
