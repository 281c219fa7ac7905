"""What came of each sub-query, and how the modules after it read that: equations 2 to 5 of GraphSearch (002)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent

from orienteer.agents.answer import NOT_THERE
from orienteer.errors import BudgetExhausted
from orienteer.methods.graphsearch.queries import SubQuery
from orienteer.retrieval.evidence import Evidence
from orienteer.text.sentences import tokens

_LABEL = re.compile(r"[SRQ]\d*\.[CNEP]\d+")
_CITATION = re.compile(rf"\s*\[\s*{_LABEL.pattern}(?:\s*[,;]\s*{_LABEL.pattern})*\s*\]")


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a retriever gave for a sub-query."""

    kept: Evidence = field(default_factory=Evidence)
    """What its channel reads of it."""
    whole: Evidence = field(default_factory=Evidence)
    text: str = ""
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The ids of nodes that each label in the text stands for."""
    bindings: tuple[Mapping[str, str], ...] = ()
    """Node ids of variables, best first, where triples were executed and edges fit them."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A grounded sub-query, its context and its answer."""

    label: str
    """S2 is the second sub-query of the semantic channel, R2 that of the relational one."""
    query: SubQuery
    gathered: Gathered = field(default_factory=Gathered)
    context: str = ""
    """The refined evidence; the evidence itself where it is not refined."""
    answer: str | None = None
    """None where the evidence does not hold it, and where none was asked for."""
    used: tuple[str, ...] = ()
    """Labels of what the context and the answer rest on."""
    confidence: float = 0.0
    is_asked: bool = True
    """Whether a sub-answer was asked for."""
    spent: BudgetExhausted | None = None
    """What cut it short."""


def labels_in(text: str, labels: Iterable[str]) -> tuple[str, ...]:
    """Return those labels that a text cites."""
    said = set(_LABEL.findall(text))
    return tuple(label for label in labels if label in said)


def without_labels(text: str) -> str:
    """Return a text without the labels that it cites in brackets."""
    return _CITATION.sub("", text).strip()


def known_labels(said: Iterable[str], labels: Mapping[str, object]) -> tuple[str, ...]:
    """Return those labels of a model's list that there are, each once."""
    return tuple(dict.fromkeys(one for name in said if (one := name.strip(" []").upper()) in labels))


def quoted(text: str, width: int = 2) -> str:
    """Return a text that a model has made set in, so that no line of it can pass for a heading or a label."""
    return indent(text.strip(), " " * width, lambda line: True)


def written(turns: Sequence[Turn], room: int) -> str:
    """Return sub-queries, contexts and answers for a prompt; contexts that need more than `room` are cut to a share."""
    whole = sum(tokens(turn.context) for turn in turns)
    share = room // len(turns) if whole > room else whole
    return "\n\n".join(_written(turn, share) for turn in turns) or "(no sub-query was answered)"


def _written(turn: Turn, room: int) -> str:
    lines = [f"Sub-query {turn.label}: {turn.query.shown}", "  Context:"]
    lines.append(quoted(_cut(turn.context, room) or "(no evidence)", 4))
    if turn.is_asked:
        lines.append(f"  Answer: {NOT_THERE if turn.answer is None else turn.answer}")
    return "\n".join(lines)


def _cut(text: str, room: int) -> str:
    """Return the first lines of a text that fit, and what fits of the next."""
    kept: list[str] = []
    for line in text.splitlines():
        cost = tokens(line)
        if cost > room:
            return "\n".join([*kept, line[: len(line) * room // cost], "(the rest is left out for want of room)"])
        room -= cost
        kept.append(line)
    return "\n".join(kept)
