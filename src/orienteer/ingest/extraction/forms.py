"""The three forms of extraction by a model: prompt, JSON schema, and the statements that its records become."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

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
from orienteer.llm.prompts import Prompt, prompt_of
from orienteer.llm.schema import decode, faults
from orienteer.records import JsonValue

PACKAGE = "orienteer.ingest.extraction"
"""Where the prompts lie."""
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
_STATEMENTS = {"triples": ("triples", _TRIPLE), "entities": ("relations", _RELATION), "hyper": ("facts", _FACT)}
"""The list of a form's statements, and the schema of one."""


class ReplyContent(NamedTuple):
    """What a reply says."""

    entities: tuple[ExtractedEntity, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """A form with the types that entities may have; without types they may have any."""

    form: Form
    types: tuple[str, ...] = ()

    @property
    def prompt(self) -> Prompt:
        """What the model is told."""
        wanted = f"one of {', '.join(self.types)}; leave out what is none of these" if self.types else ANY_TYPE
        prompt = prompt_of(self.form, PACKAGE)
        return prompt._replace(system=prompt.system.replace("{types}", wanted))

    @property
    def schema(self) -> dict[str, Any]:  # Any: a JSON schema
        """What a reply has to be."""
        name, item = _STATEMENTS[self.form]
        kind: dict[str, Any] = {**_TEXT, "enum": list(self.types)} if self.types else _TEXT
        entity = _object(name=_TEXT, type=kind, description=_TEXT)
        return _object(entities=_list(entity), **{name: _list(item)})

    def _entities(self, records: JsonValue, chunk: str, rejects: Rejects) -> Iterator[ExtractedEntity]:
        for record in _sound(records, _ENTITY, "no sound record of entities", chunk, rejects):
            if self.types and entity_type(record["type"]) not in self.types:
                rejects.add("an entity of none of the types asked for", f"{record['name']} ({record['type']})", chunk)
            else:
                yield ExtractedEntity(record["name"], record["type"], record["description"])

    def read(
        self, content: str, chunk: str, rejects: Rejects, *, before: Sequence[ExtractedEntity] = ()
    ) -> ReplyContent | None:
        """Return what a reply says, record by record: a broken one is counted, and the others stay.

        None if the reply is no object at all. `before` are the entities of earlier replies on the chunk.
        """
        value = _object_in(content)
        if value is None:
            return None
        name, item = _STATEMENTS[self.form]
        entities = tuple(self._entities(value.get("entities"), chunk, rejects))
        listed = {folded(entity.name) for entity in (*before, *entities)}
        statements = []
        for record in _sound(value.get(name), item, f"no sound record of {name}", chunk, rejects):
            statement = _MAKERS[self.form](record)
            unlisted = [member.name for member in statement.members if folded(member.name) not in listed]
            if unlisted and self.types:
                rejects.add("a member that is no listed entity of the types asked for", unlisted[0], chunk)
            else:
                statements.append(statement)
        return ReplyContent(entities, tuple(statements))


def is_object(content: str) -> bool:
    """Say whether a reply is a JSON object of any content."""
    return _object_in(content) is not None


def _object_in(content: str) -> dict[str, Any] | None:  # Any: JSON
    try:
        value = decode(content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _sound(
    records: JsonValue,
    schema: Mapping[str, Any],
    reason: str,
    chunk: str,
    rejects: Rejects,  # Any: a JSON schema
) -> Iterator[_Record]:
    """Return the records of a list that fit their schema."""
    if not isinstance(records, list):
        rejects.add(f"{reason}: not a list", records, chunk)
        return
    for record in records:
        reasons = faults(record, schema)
        if reasons or not isinstance(record, dict):
            rejects.add(reason, f"{record} ({reasons[0]})" if reasons else record, chunk)
        else:
            yield record


def _triple(record: _Record) -> Statement:
    return triple(record["subject"], record["predicate"], record["object"])


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


_MAKERS: Mapping[str, Callable[[_Record], Statement]] = {"triples": _triple, "entities": _relation, "hyper": _fact}


def _within(number: float, most: float) -> float:
    """Return a number no smaller than 0 and no greater than the most."""
    return float(min(max(number, 0.0), most))


def types_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return types as a person lists them, in lower snake case, each once."""
    return tuple(dict.fromkeys(entity_type(name) for name in names if name.strip()))
