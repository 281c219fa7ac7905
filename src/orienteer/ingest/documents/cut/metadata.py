"""What a model writes about chunks and tables: topic, title, entities, events, what columns hold (SAGE, appendix G).

One call a chunk or table segment, against a JSON schema, with one repair. Deviations from the paper: lists of objects
in place of objects under free keys, for a schema can then hold a model to them; a date's precision is its own; no
timeline, which repeats the events; our own words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.display import counted
from orienteer.executors import Executor, Job, Place, Threads, Worker
from orienteer.graph.reserved import DOCUMENT, TABLE
from orienteer.ingest.documents.cut.replies import FILE, ReplyCache
from orienteer.llm.budget import Allowance
from orienteer.llm.conversation import begin, first_request, object_of, prompt_of
from orienteer.protocols import LanguageModel
from orienteer.records import JsonValue, Node, Price, Question, Record, Sampling, Trajectory, Usage
from orienteer.text.sentences import CHARACTERS_A_TOKEN, tokens

Progress = Callable[[str, int], None]
SHORTEST = 8
"""Tokens of a chunk below which there is nothing to write about."""
CONCURRENCY = 8
"""Calls under way at one time, of a model that does not say."""
DESCRIBED_BY = "described_by"
"""The property that names the model which wrote a node's metadata."""
_TEXT = {"type": "string"}
BATCH = 256
"""Nodes between two reports of how far it is."""
_OVERHEAD = 1.1
"""What a request takes beside its words: marks of roles, the forms that servers write schemas in."""
_REPLY = {False: (120, 0.8), True: (200, 1.0)}
"""Tokens of a reply as a constant and a share of the text, by whether it is of a table: for estimates alone."""


def _objects(**fields: Any) -> dict[str, Any]:  # Any: a JSON schema
    return {"type": "array", "items": _object(**fields)}


def _object(**fields: Any) -> dict[str, Any]:  # Any: a JSON schema
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


CHUNK_SCHEMA = _object(
    title=_TEXT,
    topic=_TEXT,
    entities=_objects(name=_TEXT, details=_TEXT),
    events=_objects(name=_TEXT, date={"type": ["string", "null"]}, details=_TEXT),
)
TABLE_SCHEMA = _object(
    title=_TEXT,
    description=_TEXT,
    columns=_objects(name=_TEXT, description=_TEXT, format=_TEXT),
    entities=_objects(name=_TEXT, details=_TEXT),
)


class CostEstimate(Record):
    """What asking a model would take. Tokens are counted by words, so they are off by some tenths; so is the price."""

    calls: int
    cached: int
    """Nodes whose reply is there already."""
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """None where the model's price is not known."""

    def render(self, model: str) -> str:
        """Return the estimate as a line for people."""
        usd = "its price is not known ([price] of the settings)"
        if self.usd is not None:
            usd = f"about {self.usd:,.{2 if self.usd >= 1 else 4}f} USD"
        return (
            f"{model}: {counted(self.calls, 'call')} ({self.cached:,} replies are there already), about "
            f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens, {usd}"
        )


@dataclass(slots=True)
class Annotator:
    """Writes metadata into nodes. Each reply is kept as it comes: a build that was killed goes on where it was."""

    model: LanguageModel
    replies: ReplyCache
    progress: Progress
    concurrency: int
    executor: Executor = field(default_factory=Threads)
    run: Allowance = field(default_factory=Allowance)
    failed: list[str] = field(default_factory=list)
    """Nodes whose reply was no sound object even after the repair; they stay without metadata."""

    @property
    def usage(self) -> Usage:
        """What was paid."""
        return self.run.usage()

    @property
    def notes(self) -> list[str]:
        """Return what should be said of metadata that the model failed to write."""
        told = f"{counted(len(self.failed), 'chunk')} without metadata: the model's reply was not a valid object"
        return [f"{told} (first: {self.failed[0]})"] if self.failed else []

    def annotated(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Return the nodes with what the model says of them. Raises `ModelError` where it failed for good.

        What is under way when it fails is finished and kept.
        """
        job = Job(
            name="metadata",
            here=Worker(_describing(self.model, self.replies)),
            recipe=DescribingRecipe(self.model.name, self.replies.folder.absolute()),
            threads=self.concurrency,
            limit=self.concurrency,
        )
        done = 0
        with closing(self.executor.results(job, nodes, in_order=True)) as results:
            for node, usage, is_sound in results:
                self.run.charge(usage)
                if not is_sound:
                    self.failed.append(node.id)
                yield node
                done += 1
                if not done % BATCH:
                    self.progress("asking the model about chunks", done)
        if done % BATCH:
            self.progress("asking the model about chunks", done)

    def estimate(self, nodes: Iterable[Node], price: Price | None) -> CostEstimate:
        """Return what `annotated` would take, without a call."""
        calls = cached = prompt = completion = 0
        for node in nodes:
            schema = schema_of(node)
            if schema is None:
                continue
            request = first_request(begun_of(node, self.model), schema)
            if self.replies.get(request) is not None:
                cached += 1
                continue
            calls += 1
            words = sum(tokens(message.content or "") for message in request.messages)
            prompt += int((words + len(json.dumps(schema)) / CHARACTERS_A_TOKEN) * _OVERHEAD)
            base, share = _REPLY[node.type == TABLE]
            completion += base + int(share * tokens(node.text))
        usd = None
        if price is not None:
            usd = round(price.usd(prompt_tokens=prompt, cached_tokens=0, completion_tokens=completion), 4)
        return CostEstimate(calls=calls, cached=cached, prompt_tokens=prompt, completion_tokens=completion, usd=usd)


class DescribedNode(NamedTuple):
    """A node with what the model says of it, and what asking cost."""

    node: Node
    usage: Usage = Usage()
    is_sound: bool = True
    """Whether the model's reply, if it was asked, is of use."""


@dataclass(frozen=True, slots=True)
class DescribingRecipe:
    """What describes nodes in another process."""

    model: str
    replies: Path
    """The folder of replies, on the machine that builds."""

    def open(self, place: Place) -> Worker[Node, DescribedNode]:
        """Open the model by its name. Raises as its opener does."""
        replies = ReplyCache(self.replies, store=place.open_replies(self.replies / FILE))
        return Worker(_describing(place.opener.open_model(self.model), replies))


def _describing(model: LanguageModel, replies: ReplyCache) -> Callable[[Node], DescribedNode]:
    """Return what has a model describe a node, which keeps its reply."""

    def describe(node: Node) -> DescribedNode:
        schema = schema_of(node)
        if schema is None:
            return DescribedNode(node)
        run = Allowance()
        content = replies.ask(model, run, begun_of(node, model), schema)
        reply = object_of(content, schema)
        if reply is None:
            return DescribedNode(node, run.usage(), is_sound=False)
        return DescribedNode(described(node, reply, model=model.name), run.usage())

    return describe


def schema_of(node: Node) -> dict[str, Any] | None:  # Any: a JSON schema
    """Return the schema of what a model is to write about a node.

    None for a document, a text that is too short, and a node that was taken over with what was written about it before.
    """
    if node.type == DOCUMENT or DESCRIBED_BY in node.properties or tokens(node.text) < SHORTEST:
        return None
    return TABLE_SCHEMA if node.type == TABLE else CHUNK_SCHEMA


def begun_of(node: Node, model: LanguageModel) -> Trajectory:
    """Return what a question about a node begins with."""
    prompt = prompt_of("table" if node.type == TABLE else "chunk", "orienteer.ingest.documents.cut")
    content = f"Title: {node.name}\n\n{node.text}"
    question = Question(id=node.id, text=node.name)
    return begin(model, prompt, {"content": content}, question=question, method="metadata", sampling=Sampling())


def described(node: Node, reply: dict[str, Any], *, model: str) -> Node:  # Any: JSON
    """Return a node with what a model said of it among its properties; empty answers add nothing."""
    topic = reply.get("topic") or reply.get("description")
    description: dict[str, JsonValue] = {
        DESCRIBED_BY: model,
        "title": _line(reply["title"]),
        "topic": _line(topic or ""),
        "entities": list(dict.fromkeys(filter(None, (_line(entity["name"]) for entity in reply["entities"])))),
        "details": {
            _line(entity["name"]): _line(entity["details"]) for entity in reply["entities"] if entity["details"].strip()
        },
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
