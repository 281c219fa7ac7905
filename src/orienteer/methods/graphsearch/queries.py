"""Sub-queries, in words and in triples, and the lean form's plan of them: what each waits for, checked before it runs.

`Where was #2 born?` takes the answer of sub-query 2; `(?x, wrote, Entity#2)` has two unknowns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any, Literal, NamedTuple, Self, TypeAlias, get_args

from pydantic import Field, field_validator, model_validator

from orienteer.agents.answer import NOT_THERE, spoken
from orienteer.errors import BadOption, BudgetExhausted
from orienteer.index.searchers import Mode
from orienteer.llm.schema import object_of
from orienteer.options import Options
from orienteer.records import JsonValue
from orienteer.retrieval.evidence import Evidence
from orienteer.retrieval.matching.bindings import TriplePattern
from orienteer.retrieval.query import AUTO, Part, Query, checked_mode_or_auto
from orienteer.text.sentences import tokens
from orienteer.tools.texts import LARGEST_K

# Latin letters alone can go on a name: other scripts put no blank between a reference and the word that follows it.
_REFERENCE = re.compile(r"(?:(?<![A-Za-z0-9_])[Ee]ntity\s?)?[#＃](\d+(?![\dA-Za-z_])|[A-Za-z_][A-Za-z0-9_]*)")
_ENTITY = re.compile(r"(?<![A-Za-z0-9_])[Ee]ntity\s?[#＃](\d+)")
_UNKNOWN = re.compile(r"\?\w+|(?:[Ee]ntity\s?)?[#＃]\d+")
_NAME = re.compile(r"\d+|[A-Za-z_][A-Za-z0-9_]*")
_DIGITS = 9  # of a number that may be a name: what a model writes may have thousands


class SubQuery(NamedTuple):
    """One step of a question: `#2` in it is the answer of the sub-query of that name, `Entity#2` and `?x` unknowns."""

    name: str
    """A number, from 1, that no other sub-query of its channel has."""
    text: str = ""
    triples: tuple[TriplePattern, ...] = ()
    needs: tuple[str, ...] = ()
    """Names of the sub-queries that it waits for."""
    unsaid: tuple[str, ...] = ()
    """Those of them to which it refers nowhere: the plan alone says that it takes their answers."""

    @property
    def line(self) -> str:
        """The sub-query on one line, as models read it."""
        triples = "; ".join(f"({', '.join(triple)})" for triple in self.triples)
        return one_line(f"{self.text} {triples}")

    @property
    def unknowns(self) -> frozenset[str]:
        """What its triples leave open: `?x`, and `#2` for `Entity#2` and `#2` alike."""
        unknowns: set[str] = set()
        for part in self._parts():
            numbered = _REFERENCE if _UNKNOWN.fullmatch(part) else _ENTITY
            unknowns |= {part} if part.startswith("?") else {f"#{name_of(name)}" for name in numbered.findall(part)}
        return frozenset(unknowns)

    @property
    def query(self) -> Query:
        """What a retriever is asked: the words of the text, else those of the triples without the unknowns."""
        ends = [_known_words(part) for triple in self.triples for part in (triple.subject, triple.object)]
        names = tuple(dict.fromkeys(filter(None, ends)))
        themes = tuple(dict.fromkeys(filter(None, (_known_words(triple.predicate) for triple in self.triples))))
        text = self.text or " ".join(filter(None, map(_known_words, self._parts())))
        return Query(text or self.line, low=names, high=themes)

    def references(self) -> frozenset[str]:
        """Return the names after a `#` in it."""
        return frozenset(name_of(name) for part in (self.text, *self._parts()) for name in _REFERENCE.findall(part))

    def filled(self, answers: Mapping[str, str], variables: Mapping[str, str] | None = None) -> SubQuery:
        """Return the sub-query with an answer in place of each `#2`, and a name in place of each `?x` of its triples.

        What neither mapping knows stays as it is.
        """
        names = variables or {}

        def put(text: str) -> str:
            return _REFERENCE.sub(lambda reference: answers.get(name_of(reference[1]), reference[0]), text)

        triples = (TriplePattern(*(names.get(part, put(part)) for part in triple)) for triple in self.triples)
        return self._replace(text=put(self.text), triples=tuple(triples))

    def _parts(self) -> Iterator[str]:
        return (part for triple in self.triples for part in triple)


def name_of(written: str | int) -> str:
    """Return a sub-query's name as it was written: a number in any script's digits is that number."""
    name = str(written).strip().lstrip("#＃")
    return str(int(name)) if name.isdecimal() and len(name) <= _DIGITS else name


def one_line(text: str) -> str:
    """Return a text without breaks and runs of blanks; no other character of it is touched."""
    return " ".join(text.split())


def triples_of(reply: list[dict[str, str]]) -> tuple[TriplePattern, ...]:
    """Return the triples of a reply, each part on one line; empty ones are left out."""
    triples = (TriplePattern(*(one_line(triple[part]) for part in "spo")) for triple in reply)
    return tuple(triple for triple in triples if any(triple))


def _known_words(part: str) -> str:
    """Return the words of a part of a triple, without unknowns."""
    return "" if _UNKNOWN.fullmatch(part) else one_line(_ENTITY.sub(" ", part))


# --------------------------------------------------------------------------------------------------------- the plan


class SubQueryPlan(NamedTuple):
    """Sub-queries, each after those that it waits for."""

    queries: tuple[SubQuery, ...]
    faults: tuple[str, ...] = ()
    """What is wrong with the model's plan. Then each waits for all before it, in the order in which they stand."""


class _Entry(NamedTuple):
    """A sub-query as the model's plan has it."""

    id: str
    query: SubQuery
    needs: tuple[str, ...]

    def refers_to(self, earlier: _Entry) -> bool:
        """Return whether the text, or the triples if there is no text, refer to an earlier answer."""
        if self.query.text:
            return earlier.id in self.query._replace(triples=()).references()
        return earlier.id in self.query.references() or bool(self.query.unknowns & earlier.query.unknowns)


def plan_faults(reply: JsonValue) -> Sequence[str]:
    """Return the faults of a plan that fits its schema, a sentence each."""
    assert isinstance(reply, dict)  # the schema was checked before
    return _faults(_entries(reply))


def further_plan_faults(reply: JsonValue) -> Sequence[str]:
    """Return the faults of an expansion, which may be empty."""
    assert isinstance(reply, dict)  # the schema was checked before
    return plan_faults(reply) if reply["sub_queries"] else ()


def read_plan(reply: Mapping[str, Any], first: int = 1) -> SubQueryPlan:  # Any: a reply that fits its schema
    """Return the plan, its sub-queries named by numbers from `first` on; those without words are left out."""
    entries = _entries(reply)
    faults = _faults(entries)
    ordered = entries if faults else _in_order(entries)
    names = {entry.id: str(first + place) for place, entry in enumerate(ordered)}
    by_id = {entry.id: entry for entry in ordered}
    queries: list[SubQuery] = []
    for place, entry in enumerate(ordered):
        numbers = {name: f"#{names[name]}" for name in (names if faults else entry.needs)}
        needs, unsaid = tuple(str(first + earlier) for earlier in range(place)), tuple[str, ...]()
        if not faults:
            needs = tuple(names[name] for name in entry.needs)
            unsaid = tuple(names[name] for name in entry.needs if not entry.refers_to(by_id[name]))
        queries.append(entry.query.filled(numbers)._replace(name=str(first + place), needs=needs, unsaid=unsaid))
    return SubQueryPlan(tuple(queries), tuple(faults))


def _entries(reply: Mapping[str, Any]) -> list[_Entry]:
    entries = []
    for item in reply["sub_queries"]:
        query = SubQuery("", one_line(item["text"]), triples_of(item["triples"]))
        needs = tuple(dict.fromkeys(name_of(name) for name in item["deps"]))
        if query.line:
            entries.append(_Entry(name_of(item["id"]), query, needs))
    return entries


def _faults(entries: Sequence[_Entry]) -> list[str]:
    if not entries:
        return ["no sub-query has words"]
    count = Counter(entry.id for entry in entries)
    faults = [f"{times} sub-queries have the id {name}" for name, times in count.items() if times > 1]
    faults += [f"the id {name!r} must be a number" for name in count if not _NAME.fullmatch(name)]
    for entry in entries:
        missing = [name for name in entry.needs if name not in count]
        faults += [f"sub-query {entry.id} depends on {name}, which there is not" for name in missing]
        loose = sorted(entry.query.references() & count.keys() - {entry.id, *entry.needs})
        faults += [f"sub-query {entry.id} takes the answer #{name} and does not list {name} in deps" for name in loose]
    return faults or ([] if _in_order(entries) else ["sub-queries wait for one another in a circle"])


def _in_order(entries: Sequence[_Entry]) -> list[_Entry]:
    """Return the entries in an order that respects their needs, or nothing if they form a circle."""
    waiting, done = list(entries), list[_Entry]()
    while waiting:
        names = {entry.id for entry in done}
        ready = next((entry for entry in waiting if names.issuperset(entry.needs)), None)
        if ready is None:
            return []
        waiting.remove(ready)
        done.append(ready)
    return done


# The options of GraphSearch: which form, which channels over which sources, which modules, and how much of each.


Channel: TypeAlias = Literal["semantic", "relational"]
Channels: TypeAlias = Literal["both", "semantic", "relational"]
CHANNELS: tuple[Channel, ...] = get_args(Channel)
_SOURCES: tuple[Part, ...] = ("text", "graph")
_PAPER_TOP_K = 30  # GraphSearch, section 4.1
# A strong model that read 30 used no passage beyond the tenth but for 1 of 47. Of the gold passages of MuSiQue's
# steps 10 hold 95.7 %, 30 hold 98.8 %; any stop where scores drop loses more (`benchmarks/graphsearch.py`).
_LEAN_TOP_K = 10


class GraphSearchConfig(Options):
    """GraphSearch's settings, with the paper's values if it gives them."""

    deviations = (
        "Figures 10 and 11 show five headings of each template and no words. Ours have no headings and no worked "
        "example but a short one of a decomposition, say what is data, and ask for labels of evidence, such as "
        "`[S1.C2]`.",
        "Objects are JSON under a schema, sent back once if they cannot be read; then a verdict is Reject.",
        'Sub-answers and the answer have a template each, which the paper does not count. Both may be null, "not in '
        'the evidence". The answer is a short one, an explanation and labels, and is to doubt a rejected draft. Over '
        "no evidence no call is made.",
        "Later modules read the refined context: the equations write C, section 3.1.1 says what refinement is for. "
        "Drafting, verification and expansion read the question too. The answer reads all contexts, sub-answers, "
        "drafts and verdicts; the paper does not say.",
        "A draft and a verdict in each channel; the paper does not say. New sub-queries are in words in either "
        "channel, and their contexts are refined; one that repeats an earlier one is left out.",
        "At most 8 sub-queries of a decomposition and 4 of an expansion, which is told so (`sub_queries`, "
        "`new_queries`); contexts have a limit of tokens (`evidence_tokens`, `history_tokens`).",
        "The words of triples go to the retriever, without their unknowns.",
        "Without decomposition there is no sub-answer: with all modules off there is one retrieval and one answer.",
        "The paper gives no temperature and no seed; here it is 0, and seeds are recorded. Without a retriever's name "
        "it is `hippo` over passages, else `light`.",
    )

    faithful: bool = False
    """The paper's modules, templates and order, without what makes the lean form cheaper; GraphSearch, section 3."""
    channels: Channels = "both"
    """Both channels, or one alone: semantic (sub-queries in words) or relational (triples); figure 5."""
    semantic_source: Part = _SOURCES[0]
    """What semantic sub-queries read of the evidence: text (passages), graph (all else), or all; figure 7."""
    relational_source: Part = _SOURCES[1]
    """What relational sub-queries read of the evidence: text, graph, or all; figure 7."""
    decomposition: bool = True
    """Query decomposition; without it the question is the only sub-query, and no sub-answer is asked for; table 3."""
    refinement: bool = True
    """Context refinement; without it the evidence is used as it was gathered; table 3."""
    grounding: bool = True
    """Query grounding; without it sub-queries are asked for without placeholders and run at once; table 3."""
    drafting: bool = True
    """Logic drafting; table 3."""
    verification: bool = True
    """Evidence verification; without it nothing is rejected; table 3."""
    expansion: bool = True
    """Query expansion on Reject; without it the verdict is recorded and nothing comes of it; table 3."""
    rounds: int = Field(default=2, ge=1, le=LARGEST_K)
    """Rounds of expansion of the lean form at the most, each verified again; the paper has one, and verifies once."""
    sub_queries: int = Field(default=8, ge=1, le=LARGEST_K)
    """Sub-queries of a decomposition at the most; the number is ours."""
    new_queries: int = Field(default=4, ge=1, le=LARGEST_K)
    """Sub-queries of one expansion at the most; the number is ours."""
    passages: int | None = Field(default=None, ge=1)
    """Passages that each sub-query reads, Top-K: 30 in the paper's form (section 4.1; 10 to 50 in figure 6a), 10 in the
    lean one, where it is not set."""
    evidence_tokens: int = Field(default=12_000, ge=1)
    """Size of the evidence that one sub-query reads of a channel: 30 passages of 400 tokens."""
    history_tokens: int = Field(default=24_000, ge=1)
    """Size of all sub-queries' contexts in one prompt; beyond it each is cut to its share."""
    temperature: float = 0.0
    """Temperature of every call; 0, so that runs repeat as far as the model lets them."""
    mode: Mode = AUTO
    """How texts are ranked: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors. A
    retriever that is named, as in `graphsearch:light`, keeps its own."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)

    @model_validator(mode="after")
    def _check_channels(self) -> Self:
        for channel, own in zip(CHANNELS, _SOURCES, strict=True):
            if channel not in self.searched and (source := self.source(channel)) != own:
                raise BadOption(
                    f"{channel}_source is {source!r} and channels is {self.channels!r}: nothing reads that source; "
                    "leave one of the two out"
                )
        return self

    @property
    def searched(self) -> tuple[Channel, ...]:
        """Return the channels that are searched."""
        return tuple(channel for channel in CHANNELS if self.channels in (channel, "both"))

    @property
    def top_k(self) -> int:
        """Return the number of passages that each sub-query reads."""
        return self.passages or (_PAPER_TOP_K if self.faithful else _LEAN_TOP_K)

    def source(self, channel: Channel) -> Part:
        """Return the part of the evidence that a channel reads."""
        return self.semantic_source if channel == "semantic" else self.relational_source


# What came of each sub-query, how the modules after it read that, and the forms of the model's replies.
#
# Equations 2 to 5 of GraphSearch (002).


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
    """Node ids of variables, best first; empty unless triples were executed and edges fit them."""

    @staticmethod
    def together(parts: Sequence[Findings]) -> Findings:
        """Return the findings of several channels as one, each with its own labels."""
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
    """Labels of the evidence that contains it."""
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
    """The refined evidence; the evidence itself if it is not refined."""
    answer: str | None = None
    """None if the evidence does not hold it, or if no answer was asked for."""
    used: tuple[str, ...] = ()
    """Labels of what the context and the answer rest on."""
    confidence: float | None = None
    """How well the evidence bears the answer out, 0 to 1; None if the reader was not asked for it."""
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
        return self.confidence is not None and self.answer is None and not self.summary

    @property
    def summary(self) -> str:
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
    whole = sum(tokens(answer.summary) for answer in answers)
    share = room // len(answers) if whole > room else whole
    return "\n\n".join(_entry(answer, share) for answer in answers) or "(no sub-query was answered)"


def _entry(answer: SubAnswer, room: int) -> str:
    lines = [f"Sub-query {answer.label}: {answer.query.line}"]
    if answer.is_empty:
        return "\n".join([*lines, "  Nothing was found."])
    lines += ["  Context:", quoted(_cut(answer.summary, room) or "(no evidence)", 4)]
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
# Models often write a number as a number.
_ANSWER = {"type": ["string", "number", "null"]}
# What models write in place of null. "None" and "no" are answers to some questions.
_NO_ANSWERS = frozenset(
    {"null", "unknown", "n/a", "not known", "not found", "not given", "not stated", "not mentioned", "not specified"}
)


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return object_of(properties)


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
VERDICT = _object(verdict={"enum": ["Accept", "Reject"]})
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
    """Return the faults of a reading that fits its schema: an answer without a summary."""
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
    """Return an answer on one line, or None if it is only labels, or says that there is no answer."""
    words = spoken(one_line("" if reply is None else str(reply)))
    bare = without_labels(words or "").casefold().strip(" .\"'*`")
    return None if words == NOT_THERE or not bare or bare in _NO_ANSWERS else words


def sub_answer_of(reply: str | float | None) -> str | None:
    """Return a sub-answer, which other sub-queries may take up: `words_of` without labels."""
    words = words_of(reply)
    return None if words is None else without_labels(words)
