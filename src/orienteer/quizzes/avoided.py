"""The nodes of questions that a quiz must keep away from, so that what is trained on it has met none of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from orienteer.evaluation.datasets import load
from orienteer.evaluation.examples import Example
from orienteer.graph.store import Graph

_FIELDS = ("anchors", "clue_nodes")
"""Fields of a question in which ids of nodes stand that it was made of."""
_LONGEST = 12  # words of a name
_SHORT = 3  # letters of a word in small letters that is a word, and no name


def nodes_of(graph: Graph, path: Path) -> frozenset[str]:
    """Return the ids of nodes that questions of a file name, or that answer them. Raises `BadInput`, `BadOption`.

    Gold nodes and fields of ids are taken as they are; names in the answers' and the questions' texts are looked up,
    the longest first, and every node of a name counts.
    """
    found = set[str]()
    for example in load(path, graph=graph).examples:
        found.update(_ids(graph, example))
        for text in (example.question.text, *example.gold.answers):
            found.update(graph.ids[row] for row in named_in(graph, text))
    return frozenset(found)


def _ids(graph: Graph, example: Example) -> Iterator[str]:
    held: list[Iterable[object]] = [example.gold.nodes]
    held += [value for name in _FIELDS if isinstance(value := example.fields.get(name), list)]
    for ids in held:
        yield from (node for node in ids if isinstance(node, str) and graph.ids.find(node) is not None)


def named_in(graph: Graph, text: str) -> set[int]:
    """Return the rows of all nodes whose names or aliases a text holds, no word in two names."""
    words = graph.tokenizer.words(text)
    written = set(text.replace(",", " ").replace("?", " ").split())
    found, at = set[int](), 0
    while at < len(words):
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            name = words[at : at + length]
            if length == 1 and len(name[0]) <= _SHORT and name[0] in written:
                continue
            if rows := {link.row for link in graph.name_index.called(" ".join(name))}:
                found |= rows
                at += length - 1
                break
        at += 1
    return found
