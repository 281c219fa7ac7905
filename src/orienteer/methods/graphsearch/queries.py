"""Sub-queries: in words, in triples, and with what they wait for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from orienteer.retrieval.matching.matcher import TriplePattern
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
    """A number, from 1, unlike that of any other in its channel."""
    text: str = ""
    triples: tuple[TriplePattern, ...] = ()
    needs: tuple[str, ...] = ()
    """Names of those that it waits for."""
    unsaid: tuple[str, ...] = ()
    """Names of those whose answers it takes by the plan, and refers to nowhere."""

    @property
    def shown(self) -> str:
        """Return it on one line, as models read it."""
        triples = "; ".join(f"({', '.join(triple)})" for triple in self.triples)
        return " ".join(f"{self.text} {triples}".split())

    @property
    def unknowns(self) -> frozenset[str]:
        """Return what its triples leave open: `?x`, and `#2` for `Entity#2` and `#2` alike."""
        found: set[str] = set()
        for part in self._parts():
            numbered = _REFERENCE if _UNKNOWN.fullmatch(part) else _ENTITY
            found |= {part} if part.startswith("?") else {f"#{name_of(one)}" for one in numbered.findall(part)}
        return frozenset(found)

    @property
    def query(self) -> Query:
        """Return what a retriever is asked: what is unknown is left out of the words of triples, and nothing else."""
        ends = [_known(part) for triple in self.triples for part in (triple.subject, triple.object)]
        names = tuple(dict.fromkeys(filter(None, ends)))
        themes = tuple(dict.fromkeys(filter(None, (_known(triple.predicate) for triple in self.triples))))
        text = self.text or " ".join(filter(None, map(_known, self._parts())))
        return Query(text or self.shown, low=names, high=themes)

    def references(self) -> frozenset[str]:
        """Return what `#` stands before in it."""
        return frozenset(name_of(name) for part in (self.text, *self._parts()) for name in _REFERENCE.findall(part))

    def filled(self, answers: Mapping[str, str], variables: Mapping[str, str] | None = None) -> SubQuery:
        """Return it with what is known put in: an answer for each `#2`, a name for each `?x` of its triples."""
        known = variables or {}

        def put(text: str) -> str:
            return _REFERENCE.sub(lambda found: answers.get(name_of(found[1]), found[0]), text)

        triples = (TriplePattern(*(known.get(part, put(part)) for part in triple)) for triple in self.triples)
        return self._replace(text=put(self.text), triples=tuple(triples))

    def _parts(self) -> Iterator[str]:
        return (part for triple in self.triples for part in triple)


def name_of(said: str | int) -> str:
    """Return a sub-query's name as it was written: a number in any script's digits is that number."""
    name = str(said).strip().lstrip("#＃")
    return str(int(name)) if name.isdecimal() and len(name) <= _DIGITS else name


def is_name(name: str) -> bool:
    """Return whether a reference to this name can be told from what follows it."""
    return _NAME.fullmatch(name) is not None


def one_line(text: str) -> str:
    """Return a text without breaks and runs of blanks; no other character of it is touched."""
    return " ".join(text.split())


def _known(part: str) -> str:
    """Return what a part of a triple says besides unknowns."""
    return "" if _UNKNOWN.fullmatch(part) else one_line(_ENTITY.sub(" ", part))
