"""What a model writes about chunks and tables: topic, title, entities, events, what columns hold (SAGE, appendix G).

One call a chunk or table segment, against a JSON schema, with one repair. Deviations from the paper: lists of objects
instead of objects with free keys, because a schema can then check them; a date's precision is its own; no timeline,
which repeats the events; our own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from orienteer.display import counted
from orienteer.graph.reserved import DOCUMENT, TABLE
from orienteer.ingest.documents.cut.replies import SHORTEST, Asker
from orienteer.llm.conversation import begin, object_of as object_in, prompt_of
from orienteer.llm.schema import object_of
from orienteer.protocols import LanguageModel
from orienteer.records import JsonValue, Node, Question, Sampling, Trajectory
from orienteer.text.sentences import tokens

DESCRIBED_BY = "described_by"
"""The property that names the model which wrote a node's metadata."""
_TEXT = {"type": "string"}


_ENTITIES = {"type": "array", "items": object_of({"name": _TEXT, "details": _TEXT})}
_CATEGORY = {"type": "string", "enum": ["named", "non-named"]}
_CELLS = object_of({"name": _TEXT, "type": _TEXT, "category": _CATEGORY, "details": _TEXT})
_EVENT = object_of({"name": _TEXT, "date": {"type": ["string", "null"]}, "details": _TEXT})
_COLUMN = object_of({"name": _TEXT, "description": _TEXT, "format": _TEXT})
CHUNK_SCHEMA = object_of(
    {"title": _TEXT, "topic": _TEXT, "entities": _ENTITIES, "events": {"type": "array", "items": _EVENT}}
)
TABLE_SCHEMA = object_of(
    {
        "title": _TEXT,
        "description": _TEXT,
        "summary": _TEXT,
        "columns": {"type": "array", "items": _COLUMN},
        "entities": {"type": "array", "items": _CELLS},
    }
)


@dataclass(frozen=True, slots=True)
class MetadataForm:
    """Asks for metadata. Every reply is kept."""

    def schema_of(self, node: Node) -> dict[str, Any] | None:  # Any: a JSON schema
        """Return the schema of the metadata of a node.

        None for a document, a short text, and a node that an update took over with the metadata that it had.
        """
        if node.type == DOCUMENT or DESCRIBED_BY in node.properties or tokens(node.text) < SHORTEST:
            return None
        return TABLE_SCHEMA if node.type == TABLE else CHUNK_SCHEMA

    def begun(self, node: Node, model: LanguageModel) -> Trajectory:
        """Return the opening of the question about a node."""
        prompt = prompt_of("table" if node.type == TABLE else "chunk", "orienteer.ingest.documents.cut")
        content = f"Title: {node.name}\n\n{node.text}"
        question = Question(id=node.id, text=node.name)
        return begin(model, prompt, {"content": content}, question=question, method="metadata", sampling=Sampling())

    def is_kept(self, content: str) -> bool:
        """Return True."""
        return True

    def reply_tokens(self, node: Node) -> float:
        """Estimate the tokens of a reply: a constant and a share of the text."""
        return 240 + 1.2 * tokens(node.text) if node.type == TABLE else 120 + 0.8 * tokens(node.text)


class Annotator(Asker):
    """Writes metadata into nodes. A node whose reply does not fit the schema even after the repair gets none."""

    @property
    def notes(self) -> list[str]:
        """Return the notes on metadata that the model failed to write."""
        told = f"{counted(len(self.failed), 'chunk')} without metadata: the model's reply was not a valid object"
        return [f"{told} (first: {self.failed[0]})"] if self.failed else []

    def annotated(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yield the nodes, with the model's metadata. Raises `ModelError`; calls under way are then kept."""
        with closing(self.asked("metadata", "asking the model about chunks", nodes, skips=False)) as batches:
            for read in (read for some in batches for read in some):
                schema = self.reader.form.schema_of(read.node)
                metadata = None if schema is None else object_in(read.replies[0], schema)
                if metadata is not None:
                    yield _described(read.node, metadata, model=self.model.name)
                else:
                    self.failed += [read.node.id] if read.replies else []
                    yield read.node


def _described(node: Node, reply: dict[str, Any], *, model: str) -> Node:  # Any: JSON
    """Return a node with a model's metadata among its properties; empty answers add nothing."""
    topic = reply.get("topic") or reply.get("description")

    def of_entities(field: str) -> dict[str, JsonValue]:
        said = ((_line(entity["name"]), _line(entity.get(field, ""))) for entity in reply["entities"])
        return {name: value for name, value in said if name and value}

    description: dict[str, JsonValue] = {
        DESCRIBED_BY: model,
        "title": _line(reply["title"]),
        "topic": _line(topic or ""),
        "summary": _line(reply.get("summary", "")),
        "entities": list(of_entities("name")),
        "details": of_entities("details"),
        "entity_types": of_entities("type"),
        "entity_categories": of_entities("category"),
        "events": reply.get("events", []),
        "column_descriptions": [
            f"{_line(column['name'])}: {_line(column['description'])} ({_line(column['format'])})"
            for column in reply.get("columns", ())
        ],
    }
    return replace(
        node, properties={**node.properties, **{name: value for name, value in description.items() if value}}
    )


def _line(text: str) -> str:
    return " ".join(text.split())
