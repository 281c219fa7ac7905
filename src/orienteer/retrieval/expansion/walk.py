"""Random walks with restart: over passages and their names, and over any graph in both directions of edges.

Each is the vector that stays as it is under `x = (1 - d) r + d P'x`: r is where the walk begins anew, d how often it
goes on instead. What stands at a node without edges is lost to the walk, which leaves all others in the same
proportions. Personalised PageRank: Page, Brin, Motwani and Winograd 1999, section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.pieces.incidence import Lists, Numbers
from orienteer.graph.store import Graph
from orienteer.graph.titles import TitleFinder
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.index.searchers import KeyedCache, ranking_of
from orienteer.llm.conversation import ask_for, prompt_of
from orienteer.llm.schema import object_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Trajectory
from orienteer.retrieval.expansion.incidence import Incidence
from orienteer.retrieval.query import Spaces

Floats = NDArray[np.float32]
# Members of the longest list that is added column by column. Of up to so many, `reduceat` adds all but the first in
# order, and then the first; of more it adds in another order.
_COLUMNS = 8


class WalkShares(NamedTuple):
    """How often a walk over passages and names is where, and what each name hands on."""

    passages: Floats
    names: Floats
    by_mention: Floats
    """What a name hands to each passage with it that fits perfectly."""
    by_title: Floats
    """What it hands to each passage that it titles, besides."""


class NameWalk:
    """A walk from passages to their names, by the weight of each, and from names to passages.

    A name that titles passages leads to them with `tau`, and else to those that hold it; any other name leads to its
    holders alone. Among passages it chooses by how well each fits the question. Safe to share among threads.
    """

    def __init__(self, incidence: Incidence, *, tau: float, damping: float, rounds: int) -> None:
        self._damping, self._rounds = np.float32(damping), rounds
        self._weights = incidence.weights()
        self._over_holders, self._over_titled = ListSums(incidence.holders), ListSums(incidence.titled)
        self._over_held = ListSums(incidence.held)
        self._over_titles = ListSums(incidence.titled.inverted(len(incidence.passages)))
        self._said = _inverse(self._over_held(self._weights))  # (passages,): 1 / what the names of each say together
        self._to_titled = np.where(incidence.titled.counts() > 0, tau, 0).astype(np.float32)  # (names,)

    def __call__(self, passages: Floats, names: Floats, fit: Floats) -> WalkShares:
        """Return the distribution of a walk that restarts at these shares of passages and names.

        `fit` is how well each passage fits the question, above 0.
        """
        damping = self._damping
        start_passages, start_names = (1 - damping) * passages, (1 - damping) * names
        to_holders = (1 - self._to_titled) * _inverse(self._over_holders(fit))
        to_titled = self._to_titled * _inverse(self._over_titled(fit))
        at_passages, at_names = start_passages, start_names
        # One kind of node after the other: each round carries as far as two that move both at once.
        for _ in range(self._rounds):
            at_names = start_names + damping * self._weights * self._over_holders(at_passages * self._said)
            handed = self._over_held(at_names * to_holders) + self._over_titles(at_names * to_titled)
            at_passages = start_passages + damping * fit * handed
        return WalkShares(at_passages, at_names, at_names * to_holders, at_names * to_titled)


def carriers(incidence: Incidence, walked: WalkShares, passage: int, most: int) -> Numbers:
    """Return the names that led a walk to a passage, those first that led there most."""
    names = incidence.held.of(passage)
    is_title = [passage in incidence.titled.of(name) for name in names.tolist()]
    carried = walked.by_mention[names] + np.where(is_title, walked.by_title[names], 0)
    order = np.lexsort((names, -carried))[:most]
    return names[order[carried[order] > 0]]


class GraphWalk:
    """A walk over an undirected graph by the weights of its edges, parallel ones added up. Safe among threads."""

    def __init__(self, lists: Lists, weights: Floats) -> None:
        """Take the neighbours of each node, and the weight of each entry of these lists, 0 or more."""
        self._lists, self._weights, self._over = lists, weights, ListSums(lists, weights)
        ones = np.ones(len(lists.begins) - 1, np.float32)
        self._strength = _inverse(self._over(ones))  # (nodes,): 1 / what the edges of each weigh together

    def __call__(self, restart: Floats, *, damping: float, rounds: int) -> Floats:
        """Return the distribution of a walk that restarts at these shares of the nodes."""
        at = start = (1 - np.float32(damping)) * restart
        for _ in range(rounds):
            at = start + np.float32(damping) * self._over(at * self._strength)
        return at

    def carriers(self, at: Floats, node: int, most: int) -> Numbers:
        """Return the neighbours that led a walk to a node, those first that led there most."""
        here = slice(int(self._lists.begins[node]), int(self._lists.begins[node + 1]))
        near, place = np.unique(self._lists.members[here], return_inverse=True)
        handed = np.bincount(place, self._weights[here], minlength=len(near)) * at[near] * self._strength[near]
        order = np.lexsort((near, -handed))[:most]
        return near[order[handed[order] > 0]]


class ListSums:
    """Sums the values of each of several lists, each value times a weight if there are weights.

    The things are put in order by the length of their lists, the longest first. So the first members of all short lists
    are a column, the second ones a shorter one, and columns are added whole: that takes a third of the time of
    `np.add.reduceat`, which adds up the long lists. A sum is to the last bit the one that `reduceat` gives: where two
    passages nearly tie, it is the last bits that rank them.
    """

    def __init__(self, lists: Lists, weights: Floats | None = None) -> None:
        """`weights`: one for each entry of the lists."""
        order = np.argsort(-lists.counts(), kind="stable")
        begins, counts = lists.begins[:-1][order], lists.counts()[order]
        columns = [*range(1, _COLUMNS), 0]  # the order in which `reduceat` adds
        self._ends = [int(np.count_nonzero(counts > column)) for column in columns]
        long = counts[counts > _COLUMNS]  # (long lists,)
        self._begins = np.cumsum(long) - long
        self._long_entries = int(long.sum())
        of_long = np.repeat(begins[: len(long)] - self._begins, long) + np.arange(self._long_entries)
        of_short = (begins[len(long) : end] + column for column, end in zip(columns, self._ends, strict=True))
        entries = np.concatenate([of_long, *of_short])
        self._members = lists.members[entries].astype(np.intp)
        self._weights = None if weights is None else weights[entries]
        self._places = np.argsort(order)  # (things,): where each stands by length

    def __call__(self, values: Floats) -> Floats:
        """Return the sum of each list, shape (things,), of the values of its members."""
        # With `clip` numpy skips the check of bounds: all members are in range.
        taken = values.take(self._members, mode="clip")
        if self._weights is not None:
            taken *= self._weights
        total = np.zeros(len(self._places), np.float32)
        short, begin = len(self._begins), self._long_entries
        if short:  # `reduceat` takes no empty list
            np.add.reduceat(taken[:begin], self._begins, dtype=np.float32, out=total[:short])
        for end in self._ends:
            column = taken[begin : begin + end - short]
            total[short:end] += column
            begin += len(column)
        return total.take(self._places, mode="clip")


def _inverse(values: NDArray[Any]) -> Floats:  # Any: numbers of any kind
    """Return 1 / value, and 0 for 0."""
    inverse: Floats = np.divide(1, values, out=np.zeros(len(values), np.float32), where=values > 0)
    return inverse


# Where retrievers start in a graph: what a query names, what is near it, and what the facts that fit it are about.
#
# The last is HippoRAG 2 as it retrieves: five facts by nearness, a model's choice among them, five phrases.


LEAST_COSINE = 0.2
"""Nearness below which a node does not count as found. LightRAG's cosine_better_than_threshold."""
SEEDS = 40
"""Entities, and relations, that a search gives. LightRAG's top_k."""
MEMBER = "member"
"""The edge type from a fact to an entity that it is about."""
NONE = ScoredRows(np.zeros(0, np.int32), np.zeros(0, np.float64))


class Seeds:
    """Finds nodes for names and for texts. Safe to share among threads."""

    def __init__(self, graph: Graph, spaces: Spaces) -> None:
        self._spaces = spaces
        self._titles = TitleFinder(graph.arrays, lower=True)
        lexical = ranking_of(spaces.mode).kind == "lexical"
        self._dense = None if lexical else graph.arrays.searcher("dense")
        self._top = KeyedCache[str, float]()

    def search(self, text: str, k: int, mask: Mask) -> ScoredRows:
        """Return the `k` best of the marked rows for a text, the best 1, less those that are not near it at all."""
        hits = self._spaces.search(text, k, mask)
        if not len(hits.rows):
            return hits
        rows, scores = hits
        if self._dense is not None:
            order = np.argsort(rows)
            cosines = np.empty(len(rows))
            cosines[order] = self._dense.scores(text, rows[order])
            near = (cosines >= LEAST_COSINE) | (cosines <= -1)  # what has no vector was found by its words
            rows, scores = rows[near], scores[near]
        return ScoredRows(rows, _scaled(scores, float(hits.scores[0])))

    def named(self, words: Sequence[str], mask: Mask) -> Rows:
        """Return the marked rows that are named so, sorted."""
        named = [rows[mask[rows]] for rows in map(self._titles, words)]
        return np.unique(np.concatenate([np.zeros(0, np.int32), *named]))

    def find(self, words: Sequence[str], text: str, k: int, mask: Mask) -> ScoredRows:
        """Return the nodes for the names in a query, 1 for each that is named so, before others that are like them.

        Of several that are named so, those that fit the whole text come first. Without names, or if none leads
        anywhere, the text is searched for.
        """
        named = self.named(words, mask)
        order = np.lexsort((named, -self.fits(text)(named))) if len(named) else np.zeros(0, np.int64)
        named = named[order][:k]
        others = self.search(", ".join(words), k, mask) if words else NONE
        if not len(named) and not len(others.rows):
            others = self.search(text, k, mask)
        new = ~np.isin(others.rows, named)
        rows = np.concatenate([named, others.rows[new]])[:k]
        scores = np.concatenate([np.ones(len(named)), others.scores[new]])[:k]
        return ScoredRows(rows.astype(np.int32), scores)

    def fits(self, text: str) -> Callable[[Rows], NDArray[np.float64]]:
        """Return a function for the fit of sorted rows to a text: 0 to 1, the best of the whole graph being 1."""
        top = self._top(text, self._best_score)
        return lambda rows: _scaled(self._spaces.scores(text, rows), top)

    def _best_score(self, text: str) -> float:
        best = self._spaces.searcher.search(text, 1).scores
        return float(best[0]) if len(best) else 0.0


def _scaled(scores: NDArray[np.float64], top: float) -> NDArray[np.float64]:
    return (scores / top).clip(0.0, 1.0) if top > 0 else np.zeros(len(scores))


class FactSeeds(NamedTuple):
    """Facts that fit a question, best first, and entities with how much of a walk begins there."""

    facts: Rows
    scores: NDArray[np.float64]
    """Of each fact, the best one's 1."""
    entities: Rows
    weights: NDArray[np.float64]
    trajectories: tuple[Trajectory, ...] = ()
    """What a model was asked to choose among them."""


class Facts:
    """Finds the facts that fit a question. Safe to share among threads."""

    def __init__(self, spaces: Spaces, incidence: Incidence, *, k: int, phrases: int, model: LanguageModel | None):
        self._spaces, self._k, self._phrases, self._model = spaces, k, phrases, model
        assert incidence.rows is not None  # names are entities if facts have members
        self._passages = dict(zip(incidence.rows.tolist(), incidence.holders.counts().tolist(), strict=True))

    def __call__(self, question: str, run: Run) -> FactSeeds:
        """Return the facts that fit, or those that the model keeps. Raises `BudgetExhausted`, `ModelError`."""
        hits = self._spaces.search(question, self._k, self._spaces.facts)
        rows, scores = hits.rows[hits.scores > 0], hits.scores[hits.scores > 0]
        scores = scores / scores[0] if len(scores) else scores
        if self._model is None or not len(rows):
            return self._weighed(rows, scores)
        arrays = self._spaces.graph.arrays
        texts = (arrays.texts[row] or arrays.names[row] for row in rows.tolist())
        facts = "\n".join(f"{number}. {' '.join(text.split())}" for number, text in enumerate(texts, 1))
        prompt = prompt_of("hippo-facts", "orienteer.retrieval")
        number = {"type": "integer", "minimum": 1, "maximum": len(rows)}
        schema = object_of({"kept": {"type": "array", "items": number}})
        exchange = ask_for(self._model, run, prompt, schema, question=question, facts=facts)
        # A reply that does not fit the schema keeps all facts.
        if exchange.value is not None:
            places = sorted({number - 1 for number in exchange.value["kept"]})
            rows, scores = rows[places], scores[places]
        return self._weighed(rows, scores)._replace(trajectories=(exchange.trajectory,))

    def _weighed(self, facts: Rows, scores: NDArray[np.float64]) -> FactSeeds:
        """Return the heaviest entities of these facts: the mean score of its facts / the passages with it."""
        graph = self._spaces.graph
        shares: dict[int, list[float]] = {}
        for fact, score in zip(facts.tolist(), scores.tolist(), strict=True):
            members = graph.arrays.adjacency.entries(
                np.array([fact], np.int32), graph.arrays.kind_mask([MEMBER], None)
            ).neighbor
            for entity in np.unique(members[self._spaces.entities[members]]).tolist():
                shares.setdefault(entity, []).append(score / max(1, self._passages[entity]))
        weights = {entity: sum(some) / len(some) for entity, some in shares.items()}
        best = sorted(weights, key=lambda entity: (-weights[entity], entity))[: self._phrases]
        return FactSeeds(facts, scores, np.array(best, np.int32), np.array([weights[entity] for entity in best]))


# Why a row was found: the one or two best things that spoke for it, by name.


MOST = 2
"""Things that a reason names."""
# Characters of a name that a reason shows.
_LENGTH = 60


def name_of(graph: Graph, row: int) -> str:
    """Return a node's name for a reason: in one line, cut if it is long; its id if it has none."""
    name = " ".join(graph.arrays.names[row].split()) or graph.arrays.ids[row]
    return name if len(name) <= _LENGTH else f"{name[: _LENGTH - 1]}…"


def fact_of(graph: Graph, row: int) -> str:
    """Return a fact's short form in quotes: it is made of names and commas itself."""
    return f'"{name_of(graph, row)}"'


def leaves_open(words: Iterable[str], name: str) -> str:
    """Return the reason that a passage has words of the question that another one lacks."""
    return f"says {', '.join(words)}, which {name} leaves open"


def because(said: str, names: Iterable[str], otherwise: str) -> str:
    """Return a reason with the first names, each once, or another reason if there are none."""
    first = list(dict.fromkeys(names))[:MOST]
    return f"{said} {', '.join(first)}" if first else otherwise
