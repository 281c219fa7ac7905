"""What came of each sub-query, how the modules after it read that, and the forms of the model's replies.

Equations 2 to 5 of GraphSearch (002).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any, NamedTuple

from orienteer.agents.answer import NOT_THERE, spoken
from orienteer.errors import BudgetExhausted
from orienteer.methods.graphsearch.queries import SubQuery, one_line
from orienteer.records import JsonValue
from orienteer.retrieval.evidence import Evidence
from orienteer.text.sentences import tokens

_LABEL = re.compile(r"[SRQ]\d*\.[CNEP]\d+")
SURE = 0.8
"""Confidence of an answer that needs no second look: what the evidence states outright; ours."""
_CITATION = re.compile(rf"(?:(?<!\s)\s+)?\[\s*{_LABEL.pattern}(?:\s*[,;]\s*{_LABEL.pattern})*\s*\]")


@dataclass(frozen=True, slots=True)
class Findings:
    """What a retriever gave for a sub-query."""

    read: Evidence = field(default_factory=Evidence)
    """The part that the sub-query's channel reads."""
    whole: Evidence = field(default_factory=Evidence)
    text: str = ""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids of nodes, by the labels that stand for them in the text."""
    bindings: tuple[Mapping[str, str], ...] = ()
    """Node ids of variables, best first, where triples were executed and edges fit them."""

    @staticmethod
    def together(parts: Sequence[Findings]) -> Findings:
        """Return what was found in several channels as one, each with its own labels."""
        return Findings(
            Evidence.joined((part.read for part in parts), in_order=True),
            Evidence.joined((part.whole for part in parts), in_order=True),
            "\n".join(part.text for part in parts if part.text),
            {label: ids for part in parts for label, ids in part.labels.items()},
            tuple(binding for part in parts for binding in part.bindings),
        )


class EarlyAnswer(NamedTuple):
    """What the evidence for one sub-query says of a later one."""

    name: str
    """Of the later sub-query."""
    answer: str
    context: str
    used: tuple[str, ...]
    """Labels of the evidence in which it stands."""
    confidence: float

    @property
    def is_sure(self) -> bool:
        """Whether the later sub-query needs no reading of its own."""
        return self.confidence >= SURE and bool(self.used)


@dataclass(frozen=True, slots=True)
class SubAnswer:
    """A grounded sub-query, its context and its answer."""

    label: str
    """S2 is the second sub-query of the semantic channel, R2 that of the relational one, 2 that of both."""
    query: SubQuery
    findings: Findings = field(default_factory=Findings)
    context: str = ""
    """The refined evidence; the evidence itself where it is not refined."""
    answer: str | None = None
    """None where the evidence does not hold it, and where no answer was asked for."""
    used: tuple[str, ...] = ()
    """Labels of what the context and the answer rest on."""
    confidence: float | None = None
    """How well the evidence bears the answer out, 0 to 1; None where the reader was not asked for it."""
    early: tuple[EarlyAnswer, ...] = ()
    """What its evidence says of later sub-queries."""
    is_asked: bool = True
    """Whether an answer was asked for."""
    spent: BudgetExhausted | None = None
    """The budget that cut it short."""

    @property
    def is_sure(self) -> bool:
        """Whether there is an answer that the evidence bears out."""
        return self.answer is not None and self.confidence is not None and self.confidence >= SURE

    @property
    def is_empty(self) -> bool:
        """Whether a reader found neither an answer nor anything that bears on the sub-query."""
        return self.confidence is not None and self.answer is None and not self.told

    @property
    def told(self) -> str:
        """The context, and what the evidence says of later sub-queries that are read for all the same."""
        hints = [
            f"For {found.name}: {found.answer} (confidence {found.confidence:.2g}): {found.context}"
            for found in self.early
            if not (found.is_sure and self.is_sure)
        ]
        return "\n".join(filter(None, [self.context, *hints]))


def labels_in(text: str, labels: Iterable[str]) -> tuple[str, ...]:
    """Return the labels that a text cites, in their own order."""
    cited = set(_LABEL.findall(text))
    return tuple(label for label in labels if label in cited)


def without_labels(text: str) -> str:
    """Return a text without the labels that it cites in brackets."""
    return _CITATION.sub("", text).strip()


def known_labels(written: Iterable[str], labels: Mapping[str, object]) -> tuple[str, ...]:
    """Return the labels of a model's list that exist, each once, in the list's order."""
    return tuple(dict.fromkeys(label for name in written if (label := name.strip(" []").upper()) in labels))


def quoted(text: str, width: int = 2) -> str:
    """Return a model's text indented, so that no line of it can pass for a heading or a label."""
    return indent(text.strip(), " " * width, lambda line: True)


def history(answers: Sequence[SubAnswer], room: int) -> str:
    """Return sub-queries, contexts and answers for a prompt.

    Contexts that need more than `room` tokens together are each cut to an equal share.
    """
    whole = sum(tokens(answer.told) for answer in answers)
    share = room // len(answers) if whole > room else whole
    return "\n\n".join(_entry(answer, share) for answer in answers) or "(no sub-query was answered)"


def _entry(answer: SubAnswer, room: int) -> str:
    lines = [f"Sub-query {answer.label}: {answer.query.shown}"]
    if answer.is_empty:
        return "\n".join([*lines, "  Nothing was found."])
    lines += ["  Context:", quoted(_cut(answer.told, room) or "(no evidence)", 4)]
    if answer.is_asked:
        sure = "" if answer.answer is None or answer.confidence is None else f" (confidence {answer.confidence:.2g})"
        lines.append(f"  Answer: {NOT_THERE if answer.answer is None else answer.answer}{sure}")
    return "\n".join(lines)


def _cut(text: str, room: int) -> str:
    """Return the first lines of a text that fit, and the part of the next that fits."""
    lines: list[str] = []
    for line in text.splitlines():
        cost = tokens(line)
        if cost > room:
            return "\n".join([*lines, line[: len(line) * room // cost], "(the rest is left out for want of room)"])
        room -= cost
        lines.append(line)
    return "\n".join(lines)


# -------------------------------------------------------------------------------------------------- forms of replies

_TEXT: Mapping[str, Any] = {"type": "string"}  # Any: a JSON schema
_TEXTS = {"type": "array", "items": _TEXT}
_ID = {"type": ["string", "integer"]}
_ANSWER = {"type": ["string", "number", "null"]}
"""Models often write a number as a number."""
_NO_ANSWERS = frozenset(
    {"null", "unknown", "n/a", "not known", "not found", "not given", "not stated", "not mentioned", "not specified"}
)
"""What models write in place of null. "None" and "no" are answers to some questions."""


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

_PLANNED = {
    "type": "array",
    "items": _object(id=_ID, text=_TEXT, triples=_TRIPLES, deps={"type": "array", "items": _ID}),
}
PLAN = _object(sub_queries={**_PLANNED, "minItems": 1})
"""Decomposition of the lean form."""
FURTHER_PLAN = _object(sub_queries=_PLANNED)
"""Its expansion: an empty list says that the corpus does not hold what is missing."""
_CONFIDENCE = {"type": "number", "minimum": 0, "maximum": 1}
_READ = {"summary": _TEXT, "used": _TEXTS, "answer": _ANSWER, "confidence": _CONFIDENCE}
STUDY = _object(**_READ, also={"type": "array", "items": _object(id=_ID, **_READ)})
"""Refinement and answer in one, and what the evidence says of later sub-queries."""
LEAN_GROUNDED = _object(text=_TEXT, triples=_TRIPLES)
_ACCEPT = {"type": "boolean"}
LEAN_VERDICT = _object(accept=_ACCEPT, missing=_TEXTS, contradictions=_TEXTS)


def study_faults(reply: JsonValue) -> Sequence[str]:
    """Return what is wrong with a reading that fits its schema: an answer of which nothing is told."""
    assert isinstance(reply, dict)  # the schema was checked before
    is_told = bool(str(reply["summary"]).strip()) or reply["answer"] is None
    return () if is_told else ("the summary is empty: say what bears the answer out, with its label",)


ANSWER = _object(answer=_ANSWER, explanation=_TEXT, cited=_TEXTS)
"""The answer to the question."""
CONCLUSION = _object(
    explanation=_TEXT, accept=_ACCEPT, missing=_TEXTS, contradictions=_TEXTS, answer=_ANSWER, cited=_TEXTS
)
"""Draft, verdict and answer in one."""


def words_of(reply: str | float | None) -> str | None:
    """Return an answer on one line; None where it consists of labels alone, or says that there is no answer."""
    words = spoken(one_line("" if reply is None else str(reply)))
    bare = without_labels(words or "").casefold().strip(" .\"'*`")
    return None if words == NOT_THERE or not bare or bare in _NO_ANSWERS else words


def sub_answer_of(reply: str | float | None) -> str | None:
    """Return a sub-answer, which other sub-queries may take up: `words_of` without labels."""
    words = words_of(reply)
    return None if words is None else without_labels(words)
