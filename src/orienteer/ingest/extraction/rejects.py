"""What an extractor said and nothing was made of: counted by reason, with the first of each."""

from __future__ import annotations

from orienteer.display import counted
from orienteer.records import Record

SHOWN = 3
"""Examples that are kept of each reason."""
_LONGEST = 120


class Reject(Record):
    """Records left out for one reason."""

    reason: str
    count: int
    examples: tuple[str, ...]
    """Chunk and record of the first."""

    def render(self) -> str:
        """Return it as a line for people."""
        return f"{counted(self.count, 'record')} left out: {self.reason} (such as {'; '.join(self.examples)})"


class ExtractionSummary(Record):
    """What a build extracted from its chunks."""

    form: str
    """triples, entities or hyper."""
    model: str | None
    """What read them; None for the statistics of the corpus."""
    entities: int
    facts: int
    failed: tuple[str, ...] = ()
    """Chunks whose reply was no object even after the repair."""
    rejected: tuple[Reject, ...] = ()

    def render(self) -> str:
        """Return it as a line for people."""
        by = self.model or "statistics of the corpus"
        return f"{self.form} by {by}: {self.entities:,} entities, {counted(self.facts, 'fact')}"


class Rejects:
    """Counts records by the reason for which they are left out."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, list[str]] = {}

    def add(self, reason: str, record: object, chunk: str) -> None:
        """Leave a record of a chunk out."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        examples = self._examples.setdefault(reason, [])
        if len(examples) < SHOWN:
            text = str(record)
            examples.append(f"{chunk}: {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}")

    def __len__(self) -> int:
        return sum(self._counts.values())

    def by_reason(self) -> tuple[Reject, ...]:
        """Return what was left out, the most frequent reason first."""
        order = sorted(self._counts, key=lambda reason: (-self._counts[reason], reason))
        return tuple(
            Reject(reason=reason, count=self._counts[reason], examples=tuple(self._examples[reason]))
            for reason in order
        )
