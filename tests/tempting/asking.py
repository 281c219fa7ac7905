"""All questions asked of the product."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from orienteer import Result, Retriever
from tempting import mixtures, phrases, things  # noqa: F401 (their templates)
from tempting.judge import Verdict, judged
from tempting.pairs import Pair, pairs
from tempting.worlds import WORLDS

SEEDS = 3
FILLS = 3
ALL = 10_000  # hits that are asked for: all that there are


class Answered(NamedTuple):
    """A question with its answer, and whether that is right."""

    pair: Pair
    result: Result
    verdict: Verdict

    def told(self) -> str:
        """Return question, reading, answer and truth."""
        asked, result = self.pair.asked, self.result
        read = result.reading.text if result.reading is not None else None
        return (
            f"{self.verdict:8}{self.pair.kind:26}{self.pair.world:9}{asked.question}\n"
            f"        {read or '; '.join(result.notes)}  -> {(result.answer or '')[:80]}"
            f"   TRUTH {asked.truth_kind} {str(asked.truth)[:90]}"
        )


def ask_all(seeds: Iterable[int], *, kind: str | None = None, fills: int = FILLS) -> Iterator[Answered]:
    """Yield the questions of all worlds with their answers, of one kind or of all."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            for name in WORLDS:
                for world, asked in pairs(name, seed, fills):
                    chosen = [pair for pair in asked if kind in (None, pair.kind)]
                    if not chosen:
                        continue
                    retriever = Retriever(world.graph(Path(folder) / str(seed)), "anchor")
                    for pair in chosen:
                        result = retriever.ask(pair.asked.question, k=ALL)
                        yield Answered(pair, result, judged(result, pair.asked))
