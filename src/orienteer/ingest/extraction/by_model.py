"""Extraction by a model: one call for each chunk, optionally a second one for omissions; replies are cached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from orienteer.graph.reserved import DOCUMENT
from orienteer.ingest.documents.cut.replies import SHORTEST, Asker
from orienteer.ingest.extraction.merger import Merger
from orienteer.ingest.extraction.records import (
    ExtractedEntity,
    Member,
    Rejects,
    Statement,
    entity_type,
    folded,
    relation,
    triple,
)
from orienteer.llm.conversation import begin, prompt_of
from orienteer.llm.schema import faults, json_object, object_of
from orienteer.protocols import LanguageModel
from orienteer.records import JsonValue, Node, Question, Sampling, Trajectory
from orienteer.text.sentences import tokens

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


def _list(item: Mapping[str, Any]) -> dict[str, Any]:  # Any: a JSON schema
    return {"type": "array", "items": item}


_ENTITY = object_of({"name": _TEXT, "type": _TEXT, "description": _TEXT})
_TRIPLE = object_of({"subject": _TEXT, "predicate": _TEXT, "object": _TEXT})
_RELATION = object_of(
    {"source": _TEXT, "target": _TEXT, "description": _TEXT, "keywords": _list(_TEXT), "strength": _NUMBER}
)
_MEMBER = object_of({"name": _TEXT, "role": _TEXT, "importance": _NUMBER})
_FACT = object_of({"statement": _TEXT, "score": _NUMBER, "members": _list(_MEMBER)})
# The list of a form's statements, and the schema of one.
_STATEMENTS = {"triples": ("triples", _TRIPLE), "entities": ("relations", _RELATION), "hyper": ("facts", _FACT)}
# Tokens of a reply for each token of the chunk, for estimates: names come twice, and JSON has its syntax.
_REPLY = {"triples": 1.5, "entities": 1.6, "hyper": 1.8}


class ReplyContent(NamedTuple):
    """The records of a reply."""

    entities: tuple[ExtractedEntity, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """A form with the types that entities may have; without types, any. Replies that are no object are not kept."""

    form: Form
    types: tuple[str, ...] = ()

    def begun(self, node: Node, model: LanguageModel) -> Trajectory:
        """Return the opening of the question about a chunk."""
        wanted = f"one of {', '.join(self.types)}; leave out what is none of these" if self.types else ANY_TYPE
        prompt = prompt_of(self.form, PACKAGE)
        prompt = prompt._replace(system=prompt.system.replace("{types}", wanted))
        content = f"Title: {node.name}\n\n{node.text}" if node.name else node.text
        question = Question(id=node.id, text=node.name)
        return begin(model, prompt, {"content": content}, question=question, method="extraction", sampling=Sampling())

    def is_kept(self, content: str) -> bool:
        """Return whether a reply is a JSON object of any content."""
        return json_object(content) is not None

    def reply_tokens(self, node: Node) -> float:
        """Estimate the tokens of a reply."""
        return _REPLY[self.form] * tokens(node.text)

    def schema_of(self, node: Node) -> dict[str, Any] | None:  # Any: a JSON schema
        """Return the JSON schema of a reply; None for a document and for a text of a few words."""
        if node.type == DOCUMENT or tokens(node.text) < SHORTEST:
            return None
        name, item = _STATEMENTS[self.form]
        kind: dict[str, Any] = {**_TEXT, "enum": list(self.types)} if self.types else _TEXT
        entity = object_of({"name": _TEXT, "type": kind, "description": _TEXT})
        return object_of({"entities": _list(entity), name: _list(item)})

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
        Member(member["name"], " ".join(member["role"].split()), _within(member["importance"], MOST_IMPORTANCE) or 1.0)
        for member in record["members"]
    )
    return Statement(record["statement"], members, score=_within(record["score"], MOST_SCORE))


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


class ModelExtractor(Asker):
    """Extracts by a model. A chunk whose reply is no object even after the repair has no records."""

    def into(self, merger: Merger, nodes: Iterable[Node]) -> None:
        """Merge what the model says of every chunk and table, in order. Raises `ModelError`; replies so far are kept.

        A chunk that the model's server refuses is left out, unless all of the first ones are refused.
        """
        form = self.reader.form
        assert isinstance(form, ReplyForm)
        read_nodes = (node for node in nodes if form.schema_of(node) is not None)
        stage = "asking the model what chunks say"
        with closing(self.asked("extraction", stage, read_nodes, skips=True)) as batches:
            for read in (read for some in batches for read in some):
                chunk, entities, statements = read.node.id, list[ExtractedEntity](), list[Statement]()
                for place, reply in enumerate(read.replies):
                    content = form.read(reply, chunk, merger.rejects, before=entities)
                    if content is not None:
                        entities += content.entities
                        statements += content.statements
                    elif place:
                        merger.rejects.add("a second reply that is no object", reply, chunk)
                    else:
                        self.failed.append(chunk)
                if read.refused is not None:
                    what = "second call" if read.replies else "chunk"
                    merger.rejects.add(f"a {what} that the model's server refused", read.refused, chunk)
                merger.add(chunk, entities, statements)
