"""Values by the types that a file declares: those of GraphML, GEXF, and Neo4j's own tables."""

from __future__ import annotations

from collections.abc import Sequence

from orienteer.display import counted
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.values import numeric
from orienteer.records import JsonValue

NUMBERS = frozenset(
    {"int", "integer", "long", "short", "byte", "float", "double", "decimal", "biginteger", "bigdecimal"}
)
BOOLEANS = frozenset({"boolean", "bool"})
"""What GraphML, GEXF and Neo4j call the types that JSON has; everything else stays text."""
TRUTH = {"true": True, "1": True, "false": False, "0": False}


class TypedValues:
    """Reads values by their declared types. What does not fit its type stays text, and is counted."""

    def __init__(self) -> None:
        self._misfits = 0
        self._first = ""

    def value(self, text: str, kind: str, *, name: str, line: int) -> JsonValue:
        """Return the value that the text spells, the text itself where it spells none of that type."""
        if kind in NUMBERS:
            value = numeric(text)
        elif kind in BOOLEANS:
            value = TRUTH.get(text.strip().casefold())
        else:
            return text
        if value is None and text.strip():
            self._first = self._first or f"line {line}, {name}: {text[:60]!r} is no {kind}"
            self._misfits += 1
            return text
        return value

    def values(self, texts: Sequence[str], kind: str, *, name: str, lines: Sequence[int]) -> Sequence[JsonValue]:
        """Return the values of a column."""
        if kind not in NUMBERS and kind not in BOOLEANS:
            return texts
        return [self.value(text, kind, name=name, line=line) for text, line in zip(texts, lines, strict=True)]

    def tell(self, tally: Tally, file: object) -> None:
        """Note how many values did not fit."""
        if self._misfits:
            left = counted(self._misfits, "value")
            tally.notes.append(f"{file}: left {left} as text, not of the type declared (first: {self._first})")
