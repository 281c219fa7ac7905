"""Nodes as columns: most tables hold nothing that needs a look at each of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orienteer.records import JsonValue


@dataclass(frozen=True, slots=True)
class NodeBatch:
    """Nodes as columns of one length. Of a property None stands for none."""

    ids: Sequence[str]
    types: Sequence[str]
    names: Sequence[str]
    """None of them empty."""
    texts: Sequence[str]
    properties: Mapping[str, Sequence[JsonValue]] = field(default_factory=dict)
    aliases: Sequence[tuple[str, ...]] | None = None
    """None if no node has any."""

    def __len__(self) -> int:
        return len(self.ids)
