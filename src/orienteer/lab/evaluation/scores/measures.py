"""Measures of a ranking, by rank alone: scores of hits are never read, so no evaluator's rule for scores applies.

A ranking is node ids, best first; gold is node ids with their relevance, relevant above 0. An id that is repeated in a
ranking counts at its first place only, and takes no second one. With R the number of relevant nodes:

Hit@k        1 if one of the first k is relevant, else 0. TREC's Success@k.
Recall@k     relevant among the first k / R, never / min(k, R): with R above k it cannot reach 1.
AllGold@k    1 if the first k have all relevant nodes, else 0; 0 with R above k. HippoRAG's all-recall, AR@k.
Precision@k  relevant among the first k / k, even if the ranking is shorter.
MRR          1 / place of the first relevant node in the whole ranking, 0 without one.
MAP          precision at the place of each relevant node of the ranking, added up, / R. TREC's AP.
nDCG@k       sum of relevance / log2(place + 1) over the first k, / the same sum of the best possible ranking.
Evidence@n   of no ranking: relevant nodes seen up to step n of the trajectories / R (GraphSearch, figure 6b).

`k` is a whole number from 1 up, or `all` for the whole ranking (`Precision@all` is over its length). STaRK's official
figures drop hits whose node type cannot answer before they rank; where a data set has such a rule (`candidates`), the
plain name is the official measure and the name with ` (raw)` behind it is of the ranking as the method gave it. These
equal trec_eval, and STaRK's evaluator wherever it is fed scores above 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TypeAlias

from orienteer.errors import BadOption, nearest
from orienteer.plugins import load, refused, registered
from orienteer.records import Ranked, Trajectory

RANKING = ("Hit@1", "Hit@5", "Recall@20", "MRR")
"""What a table shows of rankings unless other measures are named: those that the papers print."""
RAW = " (raw)"
EVIDENCE = "Evidence"
_EXAMPLES = ("Hit@1", "Hit@5", "Recall@20", "Recall@all", "AllGold@5", "Precision@5", "nDCG@10", "MRR", "MAP")
_NAME = re.compile(r"(?P<kind>[A-Za-z]+)(?:@(?P<k>[1-9][0-9]*|all))?")


Formula: TypeAlias = Callable[[Sequence[str], Mapping[str, float], int | None], float]
"""A ranking, gold and k to a value; the head of this module says how."""


def _average_precision(ranking: Sequence[str], gold: Mapping[str, float], _k: int | None) -> float:
    places = [place for place, node in enumerate(ranking, 1) if gold.get(node, 0) > 0]
    return math.fsum(count / place for count, place in enumerate(places, 1)) / _relevant(gold)


def _ndcg(ranking: Sequence[str], gold: Mapping[str, float], k: int | None) -> float:
    def gain(relevances: Iterable[float]) -> float:
        return math.fsum(relevance / math.log2(place + 1) for place, relevance in enumerate(islice(relevances, k), 1))

    best = sorted((relevance for relevance in gold.values() if relevance > 0), reverse=True)
    return gain(max(0.0, gold.get(node, 0.0)) for node in ranking) / gain(best)


def _found(ranking: Sequence[str], gold: Mapping[str, float], k: int | None) -> int:
    """Return the number of relevant nodes among the first k."""
    return sum(gold.get(node, 0) > 0 for node in ranking[:k])


_CUT: Mapping[str, Formula] = {
    "Hit": lambda ranking, gold, k: float(_found(ranking, gold, k) > 0),
    "Recall": lambda ranking, gold, k: _found(ranking, gold, k) / _relevant(gold),
    "AllGold": lambda ranking, gold, k: float(_found(ranking, gold, k) == _relevant(gold)),
    # Places without a hit count as not relevant.
    "Precision": lambda ranking, gold, k: _found(ranking, gold, k) / max(1, len(ranking) if k is None else k),
    "nDCG": _ndcg,
}
_WHOLE: Mapping[str, Formula] = {
    "MRR": lambda ranking, gold, k: next(
        (1 / place for place, node in enumerate(ranking, 1) if gold.get(node, 0) > 0), 0.0
    ),
    "MAP": _average_precision,
}


@dataclass(frozen=True, slots=True)
class RankMeasure:
    """A measure of rankings, by its name."""

    name: str
    is_raw: bool
    """Whether it measures the whole ranking, hits that may not answer by the benchmark's rule included."""
    k: int | None
    """The number of places that count. None: all."""
    formula: Formula

    def __call__(self, ranking: Sequence[str], gold: Mapping[str, float]) -> float:
        """Return the value, from 0 to 1. Raises `ValueError` if no gold node is relevant."""
        _relevant(gold)
        return self.formula(tuple(dict.fromkeys(ranking)), gold, self.k)


def rank_measure(name: str) -> RankMeasure:
    """Return a measure by its name, such as `Hit@1`, `Recall@20`, `Recall@all`, `MRR`, `nDCG@10` or `Hit@1 (raw)`.

    Raises `BadOption` for an unknown name, with the nearest ones.
    """
    plain = name.removesuffix(RAW)
    parts = _NAME.fullmatch(plain)
    kind, k = (parts["kind"], parts["k"]) if parts else ("", None)
    if kind in _WHOLE and k is None:
        return RankMeasure(name, plain != name, None, _WHOLE[kind])
    if kind in _CUT and k is not None:
        return RankMeasure(name, plain != name, None if k == "all" else int(k), _CUT[kind])
    if parts and (formula := load("measures", kind, {*_WHOLE, *_CUT, EVIDENCE})) is not None:
        if not callable(formula):
            raise refused("measures", kind, f"{formula!r} is not a function of a ranking, gold and k")
        return RankMeasure(name, plain != name, int(k) if k not in (None, "all") else None, formula)
    raise BadOption(unknown_measure(name, (*_EXAMPLES, *registered("measures"))))


def evidence_step(name: str) -> int | None:
    """Return the step of a measure `Evidence@n`, 0 for `Evidence@all`; None for any other measure."""
    parts = _NAME.fullmatch(name)
    if parts is None or parts["kind"] != EVIDENCE or parts["k"] is None:
        return None
    return 0 if parts["k"] == "all" else int(parts["k"])


def unknown_measure(name: str, names: Sequence[str]) -> str:
    """Return the message for an unknown measure, with the nearest names at its k, and all names."""
    _, at, k = name.partition("@")
    has_k = at and _NAME.fullmatch(f"Hit@{k}")
    near = nearest(name, [f"{one.partition('@')[0]}@{k}" if has_k and "@" in one else one for one in names], most=2)
    hint = f"Near: {', '.join(near)}. " if near else ""
    return f"There is no measure {name!r}. {hint}There are: {', '.join(names)}; any k may stand after @."


def ranking_of(hits: Iterable[Ranked], candidates: Iterable[str] | None) -> tuple[str, ...]:
    """Return the ids of hits, best first, without those whose node type is no candidate. None lets all pass."""
    allowed = None if candidates is None else frozenset(candidates)
    return tuple(hit.id for hit in hits if allowed is None or hit.type in allowed)


def evidence_recall(trajectories: Iterable[Trajectory], gold: Mapping[str, float]) -> list[float]:
    """Return the share of the relevant nodes that were seen in observations up to each step (GraphSearch, figure 6b).

    A method that only retrieves records a step for each round, with the ids of the round in its observations. Agents
    that work side by side take their steps together: step n is the n-th of each. The list is as long as the longest
    trajectory; in a mean over questions, a list that has ended keeps its last value. Raises `ValueError` without a
    relevant gold node.
    """
    relevant = {node for node, relevance in gold.items() if relevance > 0}
    total = _relevant(gold)
    observed: set[str] = set()
    shares: list[float] = []
    for steps in zip_longest(*(trajectory.steps for trajectory in trajectories)):
        for step in filter(None, steps):
            observed.update(node for observation in step.observations for node in observation.nodes)
        shares.append(len(observed & relevant) / total)
    return shares


def relevant_count(gold: Mapping[str, float]) -> int:
    """Return the number of relevant nodes."""
    return sum(relevance > 0 for relevance in gold.values())


def _relevant(gold: Mapping[str, float]) -> int:
    count = relevant_count(gold)
    if not count:
        raise ValueError("a ranking is measured against relevant nodes, and gold holds none")
    return count
