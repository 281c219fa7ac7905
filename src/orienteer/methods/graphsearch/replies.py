"""The forms of the model's replies, and what is read of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orienteer.agents.answer import NOT_THERE, spoken
from orienteer.methods.graphsearch.queries import one_line
from orienteer.methods.graphsearch.turns import without_labels
from orienteer.retrieval.matching.matcher import TriplePattern

_TEXT: Mapping[str, Any] = {"type": "string"}  # Any: a JSON schema
_TEXTS = {"type": "array", "items": _TEXT}
_ID = {"type": ["string", "integer"]}
_ANSWER = {"type": ["string", "number", "null"]}
"""A number is often written as one."""
_NO_ANSWERS = frozenset(
    {"null", "unknown", "n/a", "not known", "not found", "not given", "not stated", "not mentioned", "not specified"}
)
"""What models write in null's place. "None" and "no" are answers to some questions."""


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_TRIPLES = {"type": "array", "items": _object(s=_TEXT, p=_TEXT, o=_TEXT)}
QUERIES = _object(sub_queries={**_TEXTS, "minItems": 1})
"""Decomposition of the semantic channel."""
RELATIONAL_QUERIES = _object(
    sub_queries={"type": "array", "minItems": 1, "items": _object(triples={**_TRIPLES, "minItems": 1})}
)
"""Decomposition of the relational channel."""
GROUNDED = _object(query=_TEXT)
RELATIONAL_GROUNDED = _object(triples={**_TRIPLES, "minItems": 1})
SUB_ANSWER = _object(answer=_ANSWER, used=_TEXTS)
VERDICT = _object(verdict={"enum": ["Accept", "Reject"]}, reason=_TEXT)
EXPANSION = _object(queries=_TEXTS)

PLAN = _object(
    sub_queries={
        "type": "array",
        "minItems": 1,
        "items": _object(id=_ID, text=_TEXT, triples=_TRIPLES, deps={"type": "array", "items": _ID}),
    }
)
"""Decomposition and expansion of the lean form."""
STUDY = _object(
    summary=_TEXT,
    used=_TEXTS,
    answer=_ANSWER,
    confidence={"type": "number", "minimum": 0, "maximum": 1},
)
"""Refinement and answer in one."""
LEAN_GROUNDED = _object(text=_TEXT, triples=_TRIPLES)
LEAN_VERDICT = _object(accept={"type": "boolean"}, missing=_TEXTS, contradictions=_TEXTS)

ANSWER = _object(answer=_ANSWER, explanation=_TEXT, cited=_TEXTS)
"""The answer to the question."""


def triples_of(said: list[dict[str, str]]) -> tuple[TriplePattern, ...]:
    """Return triples as they were written, but for breaks of lines; those that say nothing are left out."""
    found = (TriplePattern(*(one_line(one[part]) for part in "spo")) for one in said)
    return tuple(one for one in found if any(one))


def words_of(said: str | float | None) -> str | None:
    """Return an answer on one line; None where it says nothing but labels, or that there is none."""
    found = spoken(one_line("" if said is None else str(said)))
    bare = without_labels(found or "").casefold().strip(" .\"'*`")
    return None if found == NOT_THERE or not bare or bare in _NO_ANSWERS else found


def sub_answer_of(said: str | float | None) -> str | None:
    """Return a sub-answer, which other sub-queries may take up: `words_of` without labels."""
    found = words_of(said)
    return None if found is None else without_labels(found)
