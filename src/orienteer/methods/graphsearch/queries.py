"""Sub-queries, in words and in triples, and the lean form's plan of them: what each waits for, checked before it runs.

`Where was #2 born?` takes the answer of sub-query 2; `(?x, wrote, Entity#2)` has two unknowns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from orienteer.records import JsonValue
from orienteer.retrieval.matching.bindings import TriplePattern
from orienteer.retrieval.query import Query

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
    def shown(self) -> str:
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
        return Query(text or self.shown, low=names, high=themes)

    def references(self) -> frozenset[str]:
        """Return the names that stand behind a `#` in it."""
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
    """Return what a part of a triple says besides unknowns."""
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
        """Tell whether an earlier answer has its place in the text, or in the triples where there is no text."""
        if self.query.text:
            return earlier.id in self.query._replace(triples=()).references()
        return earlier.id in self.query.references() or bool(self.query.unknowns & earlier.query.unknowns)


def plan_faults(reply: JsonValue) -> Sequence[str]:
    """Return what is wrong with a plan that fits its schema, a sentence for each fault."""
    assert isinstance(reply, dict)  # the schema was checked before
    return _faults(_entries(reply))


def further_plan_faults(reply: JsonValue) -> Sequence[str]:
    """Return the same of an expansion, which may be empty."""
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
        if query.shown:
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
    """Return the entries with each after those that it waits for; nothing where they wait in a circle."""
    waiting, done = list(entries), list[_Entry]()
    while waiting:
        names = {entry.id for entry in done}
        ready = next((entry for entry in waiting if names.issuperset(entry.needs)), None)
        if ready is None:
            return []
        waiting.remove(ready)
        done.append(ready)
    return done
