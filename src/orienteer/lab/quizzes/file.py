"""Files of questions: their lines, the items read from them, and the nodes that other questions should avoid."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from orienteer.errors import BadInput
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.quiz_item import QuizItem
from orienteer.records import Record
from orienteer.retrieval.mentions import longest_names

_FIELDS = ("anchors", "clue_nodes")
"""Fields of a question that hold the ids of the nodes it was made of."""
_LONGEST = 12  # words of a name
_SHORT = 3  # letters of a word in small letters that is a word, and no name


def as_lines(items: Iterable[Record]) -> str:
    """Return questions as JSON lines, without fields that do not apply."""
    records = (item.model_dump(mode="json", exclude_none=True) for item in items)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_quiz(path: Path) -> tuple[QuizItem, ...]:
    """Return the items of a file, in order. Raises `BadInput` with the line that is none, or where two have one id."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as a quiz ({error}): name what orienteer quiz -o wrote") from error
    items: dict[str, QuizItem] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            item = QuizItem.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise BadInput(f"{path}, line {number}, is no item of a quiz: {place} {first['msg']}") from error
        if item.id in items:
            raise BadInput(f"{path}, line {number}: a second item has the id {item.id!r}")
        items[item.id] = item
    return tuple(items.values())


def nodes_of(graph: Graph, path: Path) -> frozenset[str]:
    """Return the ids of nodes that questions of a file name, or that answer them. Raises `BadInput`, `BadOption`.

    Gold nodes and fields of ids are taken as they are; names in the answers' and the questions' texts are looked up,
    the longest first, and every node of a name counts.
    """
    examples = read_questions(path, graph=graph).examples
    return frozenset(node for example in examples for node in nodes_in(graph, example))


def nodes_in(graph: Graph, example: Example) -> set[str]:
    """Return the ids of nodes that a question names, or that answer it, as `nodes_of` does."""
    nodes = set[str]()
    lists: list[Iterable[object]] = [example.gold.nodes]
    lists += [value for name in _FIELDS if isinstance(value := example.fields.get(name), list)]
    for ids in lists:
        nodes.update(node for node in ids if isinstance(node, str) and graph.arrays.ids.find(node) is not None)
    for text in (example.question.text, *example.gold.answers):
        nodes.update(graph.arrays.ids[row] for row in _named_in(graph, text))
    return nodes


def _named_in(graph: Graph, text: str) -> set[int]:
    """Return the rows of all nodes whose names or aliases a text holds, no word in two names."""
    words = graph.arrays.tokenizer.words(text)
    written = set(text.replace(",", " ").replace("?", " ").split())

    def named(begin: int, end: int) -> set[int]:
        name = words[begin:end]
        if len(name) == 1 and len(name[0]) <= _SHORT and name[0] in written:
            return set()
        return {link.row for link in graph.arrays.name_index.called(" ".join(name))}

    return {row for span in longest_names(len(words), _LONGEST, named) for row in span.rows}
