"""Extraction by a model: one call for each chunk, optionally a second one for omissions; replies are cached."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from orienteer.errors import ModelRefused
from orienteer.executors import Executor, Job, Place, Threads, Worker
from orienteer.graph.reserved import DOCUMENT
from orienteer.ingest.documents.cut.metadata import BATCH, SHORTEST, CostEstimate
from orienteer.ingest.documents.cut.replies import FILE, ReplyCache
from orienteer.ingest.extraction.merger import Merger
from orienteer.ingest.extraction.records import (
    ExtractedEntity,
    Member,
    Rejects,
    Statement,
    entity_type,
    fact,
    folded,
    relation,
    triple,
)
from orienteer.llm.budget import Allowance
from orienteer.llm.conversation import Prompt, begin, first_request, prompt_of
from orienteer.llm.schema import faults, json_object
from orienteer.protocols import LanguageModel
from orienteer.records import JsonValue, Message, Node, Price, Question, Sampling, Trajectory, Usage
from orienteer.text.sentences import CHARACTERS_A_TOKEN, tokens

# The three forms of extraction by a model: prompt, JSON schema, and the statements of its records.


PACKAGE = "orienteer.ingest.extraction"
"""The package with the prompts."""
Form = Literal["triples", "entities", "hyper"]
FORMS: tuple[Form, ...] = ("triples", "entities", "hyper")
ANY_TYPE = "one word or two for what kind of thing it is, such as person, organization, place, work, event"
MOST_SCORE = 10.0
"""Of a fact, and of the strength of a relation."""
MOST_IMPORTANCE = 100.0
_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}
_Record = Mapping[str, Any]  # Any: JSON that fits the schema of its record


def _object(**fields: Any) -> dict[str, Any]:  # Any: a JSON schema
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _list(item: Mapping[str, Any]) -> dict[str, Any]:  # Any: a JSON schema
    return {"type": "array", "items": item}


_ENTITY = _object(name=_TEXT, type=_TEXT, description=_TEXT)
_TRIPLE = _object(subject=_TEXT, predicate=_TEXT, object=_TEXT)
_RELATION = _object(source=_TEXT, target=_TEXT, description=_TEXT, keywords=_list(_TEXT), strength=_NUMBER)
_FACT = _object(statement=_TEXT, score=_NUMBER, members=_list(_object(name=_TEXT, role=_TEXT, importance=_NUMBER)))
# The list of a form's statements, and the schema of one.
_STATEMENTS = {"triples": ("triples", _TRIPLE), "entities": ("relations", _RELATION), "hyper": ("facts", _FACT)}


class ReplyContent(NamedTuple):
    """The records of a reply."""

    entities: tuple[ExtractedEntity, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """A form with the types that entities may have; without types, any."""

    form: Form
    types: tuple[str, ...] = ()

    @property
    def prompt(self) -> Prompt:
        """Return the prompt for the model."""
        wanted = f"one of {', '.join(self.types)}; leave out what is none of these" if self.types else ANY_TYPE
        prompt = prompt_of(self.form, PACKAGE)
        return prompt._replace(system=prompt.system.replace("{types}", wanted))

    @property
    def schema(self) -> dict[str, Any]:  # Any: a JSON schema
        """Return the JSON schema of a reply."""
        name, item = _STATEMENTS[self.form]
        kind: dict[str, Any] = {**_TEXT, "enum": list(self.types)} if self.types else _TEXT
        entity = _object(name=_TEXT, type=kind, description=_TEXT)
        return _object(entities=_list(entity), **{name: _list(item)})

    def read(
        self, content: str, chunk: str, rejects: Rejects, *, before: Sequence[ExtractedEntity] = ()
    ) -> ReplyContent | None:
        """Return the valid records of a reply; invalid ones are counted. None if the reply is not an object.

        `before` are the entities of earlier replies on the chunk.
        """
        value = json_object(content)
        if value is None:
            return None
        name, item = _STATEMENTS[self.form]
        entities: list[ExtractedEntity] = []
        for record in _sound(value.get("entities"), _ENTITY, "no sound record of entities", chunk, rejects):
            if self.types and entity_type(record["type"]) not in self.types:
                rejects.add("an entity of none of the types asked for", f"{record['name']} ({record['type']})", chunk)
            else:
                entities.append(ExtractedEntity(record["name"], record["type"], record["description"]))
        listed = {folded(entity.name) for entity in (*before, *entities)}
        statements = []
        for record in _sound(value.get(name), item, f"no sound record of {name}", chunk, rejects):
            statement = _MAKERS[self.form](record)
            unlisted = [member.name for member in statement.members if folded(member.name) not in listed]
            if unlisted and self.types:
                rejects.add("a member that is no listed entity of the types asked for", unlisted[0], chunk)
            else:
                statements.append(statement)
        return ReplyContent(tuple(entities), tuple(statements))


def is_object(content: str) -> bool:
    """Return whether a reply is a JSON object of any content."""
    return json_object(content) is not None


def _sound(
    records: JsonValue,
    schema: Mapping[str, Any],
    reason: str,
    chunk: str,
    rejects: Rejects,  # Any: a JSON schema
) -> Iterator[_Record]:
    """Yield the records of a list that fit their schema."""
    if not isinstance(records, list):
        rejects.add(f"{reason}: not a list", records, chunk)
        return
    for record in records:
        reasons = faults(record, schema)
        if reasons or not isinstance(record, dict):
            rejects.add(reason, f"{record} ({reasons[0]})" if reasons else record, chunk)
        else:
            yield record


def _relation(record: _Record) -> Statement:
    keywords = tuple(dict.fromkeys(filter(None, (" ".join(keyword.split()) for keyword in record["keywords"]))))
    strength = _within(record["strength"], MOST_SCORE)
    return relation(
        record["source"], record["target"], record["description"], keywords=keywords, strength=strength or 1.0
    )


def _fact(record: _Record) -> Statement:
    members = tuple(
        Member(
            member["name"], "", " ".join(member["role"].split()), _within(member["importance"], MOST_IMPORTANCE) or 1.0
        )
        for member in record["members"]
    )
    return fact(record["statement"], members, score=_within(record["score"], MOST_SCORE))


_MAKERS: Mapping[str, Callable[[_Record], Statement]] = {
    "triples": lambda record: triple(record["subject"], record["predicate"], record["object"]),
    "entities": _relation,
    "hyper": _fact,
}


def _within(number: float, most: float) -> float:
    """Clamp a number between 0 and `most`."""
    return float(min(max(number, 0.0), most))


def types_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return types as a person lists them, in lower snake case, each once."""
    return tuple(dict.fromkeys(entity_type(name) for name in names if name.strip()))


Progress = Callable[[str, int], None]
# Factor for the parts of a request besides its words, such as role marks and schemas.
_OVERHEAD = 1.1
# Tokens of a reply for each token of the chunk, for estimates: names come twice, and JSON has its syntax.
_REPLY = {"triples": 1.5, "entities": 1.6, "hyper": 1.8}
# Size of the second reply relative to the first, for estimates.
_AGAIN = 0.3
# Status codes for a text that is too long for the server, or unreadable.
_OF_CHUNK = frozenset({400, 413, 422})


class ReadChunk(NamedTuple):
    """A model's replies about a chunk, and their cost."""

    id: str
    replies: tuple[str, ...]
    usage: Usage
    refused: ModelRefused | None = None
    """The reason why there is no further reply."""


@dataclass(frozen=True, slots=True)
class ChunkReader:
    """Lets a model read a chunk. Each reply is stored as it comes. Safe among threads."""

    reply_form: ReplyForm
    model: LanguageModel
    replies: ReplyCache
    gleanings: int

    def read(self, node: Node) -> ReadChunk:
        """Return the model's replies, cached or new. Raises `ModelError`."""
        run, begun, replies = Allowance(), self.begun(node), list[str]()
        try:
            replies.append(self._reply(run, begun))
            for _ in range(self.gleanings if is_object(replies[0]) else 0):
                begun = _second_opening(begun, replies[-1])
                replies.append(self._reply(run, begun))
        except ModelRefused as error:
            if error.status not in _OF_CHUNK:
                raise
            return ReadChunk(node.id, tuple(replies), run.usage(), error)
        return ReadChunk(node.id, tuple(replies), run.usage())

    def begun(self, node: Node) -> Trajectory:
        """Return the opening of the question about a chunk."""
        content = f"Title: {node.name}\n\n{node.text}" if node.name else node.text
        question = Question(id=node.id, text=node.name)
        return begin(
            self.model,
            self.reply_form.prompt,
            {"content": content},
            question=question,
            method="extraction",
            sampling=Sampling(),
        )

    def stored(self, begun: Trajectory) -> str | None:
        """Return the cached reply, or None."""
        return self.replies.get(first_request(begun, self.reply_form.schema))

    def _reply(self, run: Allowance, begun: Trajectory) -> str:
        return self.replies.ask(self.model, run, begun, self.reply_form.schema, is_sound=is_object)


@dataclass(frozen=True, slots=True)
class ReadingRecipe:
    """How another process reads chunks."""

    reply_form: ReplyForm
    model: str
    replies: Path
    """The folder of replies, on the machine that builds."""
    gleanings: int

    def open(self, place: Place) -> Worker[Node, ReadChunk]:
        """Open the model by its name. Raises as its opener does."""
        replies = ReplyCache(self.replies, store=place.open_replies(self.replies / FILE))
        return Worker(ChunkReader(self.reply_form, place.opener.open_model(self.model), replies, self.gleanings).read)


@dataclass(slots=True)
class ModelExtractor:
    """Lets a model read chunks. Each reply is stored at once: a build that was killed goes on from there.

    The next build asks again about chunks with unusable replies.
    """

    reader: ChunkReader
    concurrency: int
    progress: Progress
    executor: Executor = field(default_factory=Threads)
    run: Allowance = field(default_factory=Allowance)
    failed: list[str] = field(default_factory=list)
    """Chunks whose reply was no object even after the repair; nothing is extracted from them."""

    @property
    def model(self) -> LanguageModel:
        """Return the model."""
        return self.reader.model

    @property
    def usage(self) -> Usage:
        """Return the cost."""
        return self.run.usage()

    def into(self, merger: Merger, nodes: Iterable[Node]) -> None:
        """Let the model read every chunk and table, and merge its replies in order. Raises `ModelError`.

        If the model fails for good, calls under way are finished and kept. A chunk that its server refuses is left
        out, unless all of the first ones are refused.
        """
        reader, done, has_reply = self.reader, 0, False
        job = Job(
            name="extraction",
            here=Worker(reader.read),
            recipe=ReadingRecipe(
                reader.reply_form, reader.model.name, reader.replies.folder.absolute(), reader.gleanings
            ),
            threads=self.concurrency,
            limit=self.concurrency,
        )
        with closing(self.executor.results(job, filter(is_read, nodes), in_order=True)) as results:
            while chunks := list(islice(results, BATCH)):
                refused = next((chunk.refused for chunk in chunks if chunk.refused), None)
                has_reply |= any(chunk.replies for chunk in chunks)
                if refused is not None and not has_reply:
                    raise refused
                for chunk in chunks:
                    self.run.charge(chunk.usage)
                    entities: list[ExtractedEntity] = []
                    statements: list[Statement] = []
                    for place, reply in enumerate(chunk.replies):
                        content = self.reader.reply_form.read(reply, chunk.id, merger.rejects, before=entities)
                        if content is not None:
                            entities += content.entities
                            statements += content.statements
                        elif place:
                            merger.rejects.add("a second reply that is no object", reply, chunk.id)
                        else:
                            self.failed.append(chunk.id)
                    if chunk.refused is not None:
                        what = "second call" if chunk.replies else "chunk"
                        merger.rejects.add(f"a {what} that the model's server refused", chunk.refused, chunk.id)
                    merger.add(chunk.id, entities, statements)
                done += len(chunks)
                self.progress("asking the model what chunks say", done)

    def estimate(self, nodes: Iterable[Node], price: Price | None) -> CostEstimate:
        """Estimate the cost of `into`, without a call."""
        calls = cached = prompted = completed = 0
        reply_form = self.reader.reply_form
        form = len(json.dumps(reply_form.schema)) / CHARACTERS_A_TOKEN
        for node in nodes:
            if not is_read(node):
                continue
            begun = self.reader.begun(node)
            size = sum(tokens(message.content or "") for message in begun.opening) + form
            tokens_of_reply = _REPLY[reply_form.form] * tokens(node.text)
            reply = self.reader.stored(begun)
            for time in range(1 + self.reader.gleanings):
                if time:
                    size += tokens_of_reply + tokens(prompt_of("again", PACKAGE).system)
                    tokens_of_reply *= _AGAIN
                    reply = None if reply is None else self.reader.stored(_second_opening(begun, reply))
                cached += reply is not None
                calls += reply is None
                prompted += int(size * _OVERHEAD) * (reply is None)
                completed += int(tokens_of_reply) * (reply is None)
        usd = None
        if price is not None:
            usd = round(price.usd(prompt_tokens=prompted, cached_tokens=0, completion_tokens=completed), 4)
        return CostEstimate(calls=calls, cached=cached, prompt_tokens=prompted, completion_tokens=completed, usd=usd)


def is_read(node: Node) -> bool:
    """Return whether a model reads a node: a chunk or a table with more than a few words."""
    return node.type != DOCUMENT and tokens(node.text) >= SHORTEST


def _second_opening(begun: Trajectory, reply: str) -> Trajectory:
    """Return the opening of a second question, for the parts that the first reply lacks."""
    again = Message(role="user", content=prompt_of("again", PACKAGE).system)
    return begun.model_copy(update={"opening": (*begun.opening, Message(role="assistant", content=reply), again)})
