"""The lean form's plan: sub-queries and what each waits for, checked before anything is gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orienteer.methods.graphsearch.queries import SubQuery, is_name, name_of, one_line
from orienteer.methods.graphsearch.replies import triples_of
from orienteer.records import JsonValue


class Plan(NamedTuple):
    """Sub-queries, each after those that it waits for."""

    queries: tuple[SubQuery, ...]
    faults: tuple[str, ...] = ()
    """What is wrong with what the model wrote; then they wait for one another, in the order in which they stand."""


class _Written(NamedTuple):
    """A sub-query as the model wrote it."""

    id: str
    query: SubQuery
    deps: tuple[str, ...]


def faults(said: JsonValue) -> Sequence[str]:
    """Say what is wrong with a plan that fits its schema, a sentence for each fault."""
    assert isinstance(said, dict)  # the schema was checked before
    return _faults(_written(said))


def read(said: Mapping[str, Any], first: int = 1) -> Plan:  # Any: a reply that fits its schema
    """Return the plan, its sub-queries named by numbers from `first` on; those without words are left out."""
    written = _written(said)
    found = _faults(written)
    ordered = written if found else _ordered(written)
    names = {one.id: str(first + place) for place, one in enumerate(ordered)}
    written_by = {one.id: one for one in ordered}
    queries: list[SubQuery] = []
    for place, one in enumerate(ordered):
        needs = tuple(str(first + at) for at in range(place)) if found else tuple(names[name] for name in one.deps)
        renamed = one.query.filled({name: f"#{names[name]}" for name in (names if found else one.deps)})
        unsaid = () if found else tuple(names[name] for name in one.deps if not _refers(one, written_by[name]))
        queries.append(renamed._replace(name=str(first + place), needs=needs, unsaid=unsaid))
    return Plan(tuple(queries), tuple(found))


def _written(said: Mapping[str, Any]) -> list[_Written]:
    written = []
    for one in said["sub_queries"]:
        query = SubQuery("", one_line(one["text"]), triples_of(one["triples"]))
        deps = tuple(dict.fromkeys(name_of(name) for name in one["deps"]))
        if query.shown:
            written.append(_Written(name_of(one["id"]), query, deps))
    return written


def _refers(one: _Written, earlier: _Written) -> bool:
    """Return whether the answer of an earlier sub-query has its place in the words of one, or in triples alone."""
    if one.query.text:
        return earlier.id in one.query._replace(triples=()).references()
    return earlier.id in one.query.references() or bool(one.query.unknowns & earlier.query.unknowns)


def _faults(written: Sequence[_Written]) -> list[str]:
    if not written:
        return ["no sub-query has words"]
    count = Counter(one.id for one in written)
    found = [f"{times} sub-queries have the id {name}" for name, times in count.items() if times > 1]
    found += [f"the id {name!r} must be a number" for name in count if not is_name(name)]
    for one in written:
        found += [f"sub-query {one.id} depends on {name}, which there is not" for name in one.deps if name not in count]
        loose = sorted(one.query.references() & count.keys() - {one.id, *one.deps})
        found += [f"sub-query {one.id} takes the answer #{name} and does not list {name} in deps" for name in loose]
    return found or ([] if _ordered(written) else ["sub-queries wait for one another in a circle"])


def _ordered(written: Sequence[_Written]) -> list[_Written]:
    """Return them with each after its dependencies, else as they stand; nothing where they wait in a circle."""
    left, done = list(written), list[_Written]()
    while left:
        known = {one.id for one in done}
        ready = next((one for one in left if known.issuperset(one.deps)), None)
        if ready is None:
            return []
        left.remove(ready)
        done.append(ready)
    return done
