"""Literals of RDF -> JSON values, and the choice among languages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from orienteer.display import counted
from orienteer.ingest.formats.elements import TRUTH
from orienteer.ingest.formats.rdf.vocabulary import XSD
from orienteer.ingest.tables.values import numeric, plain
from orienteer.records import JsonValue

_WHOLE_NAMES = (
    *("integer", "int", "long", "short", "byte", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"),
    *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger", "gYear"),
)
WHOLE = frozenset(XSD + name for name in _WHOLE_NAMES)
BROKEN = frozenset(XSD + name for name in ("decimal", "double", "float"))
DATED = frozenset(XSD + name for name in ("date", "gYearMonth"))
BOOLEAN = f"{XSD}boolean"
STRING = f"{XSD}string"
_ZONE = re.compile(r"(?<=\d)(?:Z|[+-]\d\d:\d\d)$")


class Literal(NamedTuple):
    """One literal: its predicate's number, its text, and `@en`, or the IRI of its datatype."""

    predicate: int
    text: str
    kind: str

    @property
    def is_text(self) -> bool:
        """Return whether it is words, not a number or a date or a thing of a private datatype."""
        return self.kind[:1] == "@" or self.kind == STRING

    @property
    def language(self) -> str:
        """Return its language, empty if it has none."""
        return self.kind[1:] if self.kind[:1] == "@" else ""

    @property
    def value(self) -> JsonValue:
        """Return the JSON value; a literal that does not fit its datatype stays text, an empty text is None."""
        text, kind = self.text, self.kind
        if kind in WHOLE:
            whole_number = numeric(text)
            return whole_number if isinstance(whole_number, int) else text
        if kind in BROKEN:
            try:
                return plain(float(text)) if "_" not in text else text
            except ValueError:
                return text
        if kind == BOOLEAN:
            return TRUTH.get(text.strip(), text)
        if kind in DATED:
            return _ZONE.sub("", text)  # a day is compared as a day
        return text or None


class Languages:
    """Chooses among values in several languages, and counts what it leaves out."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted.casefold()
        self._regional = self.wanted + "-"
        self._left: Counter[str] = Counter()

    def choose(self, values: Sequence[Literal]) -> Sequence[Literal]:
        """Choose among several values: those in the wanted language, then those without a language.

        Where there are neither, those in the language that comes first.
        """
        if len(values) < 2 or not any(literal.kind[:1] == "@" for literal in values):
            return values
        own = [literal for literal in values if literal.language.casefold() == self.wanted]
        own += [literal for literal in values if literal.language.casefold().startswith(self._regional)]
        untold = [literal for literal in values if literal.kind[:1] != "@"]
        chosen = own + untold or [literal for literal in values if literal.language == values[0].language]
        if len(chosen) < len(values):
            among = set(map(id, chosen))
            self._left.update(literal.language for literal in values if id(literal) not in among)
        return chosen

    def note(self) -> list[str]:
        """Return a line about the values that were left out, if any."""
        if not self._left:
            return []
        some = ", ".join(f"{name} {count:,}" for name, count in self._left.most_common(5))
        more = f" and {len(self._left) - 5} others" if len(self._left) > 5 else ""
        left = counted(sum(self._left.values()), "value")
        return [f"left out {left} in other languages than {self.wanted!r} ({some}{more}): --language picks another"]
