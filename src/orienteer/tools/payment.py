"""How searches of an agent's tools are paid for, where a server makes the vectors of their queries."""

from __future__ import annotations

from collections.abc import Sequence

from orienteer.errors import BudgetExhausted
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.protocols import Run
from orienteer.records import Usage
from orienteer.retrieval.evidence import UNPAID


class Payment:
    """What searches cost one agent, and those that could not be paid for. Not safe to share among threads."""

    run: Run | None = None
    """The run that pays where a server embeds queries; None where nobody counts."""
    spent: Usage = Usage()
    """What embedding queries has cost."""
    goes_by_words: bool = False
    """Whether a replayed search ranks by words, because the recorded one did."""
    unpaid: int = 0
    """Searches that ranked by words because the budget had no call left to embed their query."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def payable(self, mode: Mode, query: str, notes: list[str], *, passages: Sequence[str] = ()) -> Mode:
        """Return how a search can rank: in this mode, its vector made and paid for; else by words, with a note."""
        if mode == "lexical" or not query.strip() or self._paid(query, passages):
            return mode
        self.unpaid += 1
        notes.append(UNPAID)
        return "lexical"

    def _paid(self, query: str, passages: Sequence[str]) -> bool:
        if self.run is None:
            return not self.goes_by_words
        try:
            self.spent += self._graph.arrays.searcher.vectors.pay(self.run, query, passages)
        except BudgetExhausted:
            return False
        return True

    def unpaid_notes(self) -> list[str]:
        """Say in a note how many searches went by words because the budget could not pay for their vectors."""
        number = self.unpaid
        what = f"{number} search{'es' * (number != 1)} went by words"
        return [f"{what}: the budget had no call left to embed what was searched for"] if number else []
