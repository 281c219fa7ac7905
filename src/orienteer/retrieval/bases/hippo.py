"""`hippo`: passages by a random walk that begins at the words, meaning and names of the question.

Three graphs, three walks:

    facts      HippoRAG 2: facts near the question, a model's choice among them (`filter`), the entities they are about;
               personalised PageRank over entities and passages, whichever way edges point
    passages   no facts: a walk over passages and the names that stand in them, its restart sharp
               (docs/reference/results.md says what each part of it carries)
    any other  a graph that a person brings: personalised PageRank over all its nodes, with the same restart

After a walk over passages and names, what the first passages leave open of the question is asked of those that their
names lead to (`orienteer.retrieval.expansion.incidence`).

No step calls a model unless `filter` is set. Deviations from HippoRAG 2 and its code:
1. A walk begins from the `depth` best passages, not from all: the rest rank the same, and cost less.
2. A passage restarts by its score over the best one's, a fact by its score over the best fact's. The code stretches the
   facts at hand to 0 and 1, and stops with an error if the worst of them is kept.
3. Facts that statistics made are left alone (`facts`). Without facts the restart is the passages' score to the power
   `sharpness`, and the names of the question: with the first power the walk drowns in the corpus.
4. Parallel edges add up; in the code a synonym overwrites what stood there.
5. A passage and an entity are joined by 1 for each edge, one more if its title names it; the code has no titles.
6. Facts are ranked as everything else is, by words and meaning if the graph has vectors; the code by vectors alone.
7. A reply of the model that cannot be read leaves the facts as they were; the code then takes none, and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from orienteer.errors import BadOption, BudgetExhausted
from orienteer.graph.pieces.incidence import Numbers, lists_of
from orienteer.graph.titles import TitleFinder
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import Searcher, TitleBonus, ranking_of
from orienteer.protocols import Run
from orienteer.retrieval.bases.gatherer import Gatherer
from orienteer.retrieval.evidence import Evidence
from orienteer.retrieval.expansion.incidence import Incidence, OpenWordMatches, OpenWords, Pool, open_incidence
from orienteer.retrieval.expansion.walk import (
    MEMBER,
    Facts,
    FactSeeds,
    Floats,
    GraphWalk,
    NameWalk,
    WalkShares,
    carriers,
    leaves_open,
    name_of,
)
from orienteer.retrieval.query import GatherConfig, Query, Spaces

# What a passage that no search finds fits, beside the best: names lead to it all the same.
_LEAST_FIT = 0.1
# Names that a reason tells.
_CARRIERS = 3
# Passages whose edges among one another are evidence if there are no entities.
_BETWEEN = 20
# Edges in the evidence.
_EDGES = 30
# Passages that open words put in order if few are wanted: first ones of the walk, and of the search by itself.
_WALKED, _FLAT = 60, 20
_UNPAID = "the budget has no call left for the meaning of open words: they are compared by words"


class HippoConfig(GatherConfig):
    """Where walks begin, how far they go, and what they begin from. Constants were chosen on MuSiQue and 2Wiki."""

    titles: float = Field(default=0.2, ge=0, le=1)
    """Bonus of a passage whose title stands in the question, as a share of the best score. SAGE's, as `sage` has it."""
    depth: int = Field(default=200, ge=1)
    """Passages that a walk begins from. HippoRAG 2 begins from all; 200 rank the same."""
    sharpness: float = Field(default=16.0, ge=0, le=64)
    """Power of a passage's score in the restart. 8 to 32 differ by a point or two; at 1 the walk drowns."""
    names: float = Field(default=0.5, ge=0, le=1)
    """Share of the restart that the names of the question have, where one of them is an entity or titles a passage."""
    others: float = Field(default=0.15, ge=0, le=1)
    """The same where none does: what merely stands in passages says less of them."""
    tau: float = Field(default=0.7, ge=0, le=1)
    """Share of a name's steps that lead to the passages that it titles; the rest leads to those that hold it."""
    fit: float = Field(default=2.0, ge=0, le=64)
    """Power of a passage's score in how often a name leads to it; 0 for all alike."""
    damping: float = Field(default=0.65, ge=0, lt=1)
    """How often the walk over names goes on instead of beginning anew."""
    rounds: int = Field(default=4, ge=1)
    """Rounds of the walk over names, from passages to names and back. 12 rank the same but for a few passages."""
    telling: bool = True
    """Search by the words of a question that tell what it is about; those that carry it do not count."""
    open_words: Literal["embedded", "words", "off"] = "embedded"
    """Put the passages of that walk in order by what the first ones leave open of the question: by words and, where the
    search goes by vectors, by meaning, which embeds up to five short texts; by words alone; or not at all."""
    facts: Literal["auto", "always", "never"] = "auto"
    """Begin from facts where the graph has any, else walk over passages and names; auto where somebody stated them, for
    those of statistics cost ten points of MuSiQue's first five."""
    fact_k: int = Field(default=5, ge=1)
    """Facts that a question begins from. HippoRAG 2's `linking_top_k`."""
    phrases: int = Field(default=5, ge=1)
    """Entities of those facts that a walk begins from. HippoRAG 2's code."""
    filter: bool = False
    """Have a model choose among the facts: one call a question."""
    passage_weight: float = Field(default=0.05, ge=0, le=1)
    """What a passage's score counts beside a fact's in the restart. HippoRAG 2's `passage_node_weight`."""
    graph_damping: float = Field(default=0.5, ge=0, lt=1)
    """How often a walk over a graph's edges goes on. HippoRAG 2's `damping`."""
    graph_rounds: int = Field(default=10, ge=1)
    """Rounds of it; less than a thousandth of all is still on its way after them."""
    entities: int = Field(default=10, ge=1)
    """Entities in the evidence, those that the walk is at most often."""


class _Starts(NamedTuple):
    """The nodes that a walk begins from."""

    rows: Rows
    """By words and meaning, best first."""
    scores: NDArray[np.float64]
    """Of each, the best one's 1."""
    best: float
    """The best one's score as it was."""


class _Reached(NamedTuple):
    """How often a walk is where, and what it began from."""

    at: Floats
    """By row."""
    walked: WalkShares | None = None
    """The same by names and passages if it went over names."""
    facts: FactSeeds | None = None
    reason: str = ""


class _Ranked(NamedTuple):
    """Answers, best first."""

    rows: Rows
    scores: NDArray[Any]  # Any: numbers of any kind
    allowed: Mask
    """(nodes,): what may be one."""
    said: Mapping[int, OpenWordMatches] = {}
    """By row, open words that an answer says."""
    reason: str = ""


class Hippo(Gatherer[HippoConfig]):
    """Passages by a random walk. Safe to share among threads. Raises `BadOption`, `NotAGraph`, `GraphBusy`."""

    name, config_class = "hippo", HippoConfig

    def _open_spaces(self) -> Spaces:
        return Spaces(self.graph, self.config.mode, telling=self.config.telling)

    def _prepare(self) -> None:
        config, spaces = self.config, self.spaces
        if config.filter and self._model is None:
            raise BadOption("filter=true has a model choose among facts, and no model is given: name one (--model)")
        self._titles = TitleFinder(self.graph.arrays)
        self._incidence = incidence = open_incidence(self.graph, spaces)
        bonus = config.titles if incidence is not None else 0.0
        self._searcher: Searcher = TitleBonus(spaces.searcher, self._titles, bonus) if bonus else spaces.searcher
        self._facts: Facts | None = None
        is_extracted = incidence is not None and incidence.rows is not None and MEMBER in self.graph.arrays.types.edges
        # Whether a model or the maker of an imported graph stated its facts, not statistics.
        options = self.graph.arrays.manifest.provenance.get("options", {})
        are_stated = "extract" not in options or "extracting_model" in options
        begins = config.facts == "always" or (config.facts == "auto" and are_stated)
        if incidence is not None and is_extracted and begins and spaces.facts.any():
            chooser = self._model if config.filter else None
            self._facts = Facts(spaces, incidence, k=config.fact_k, phrases=config.phrases, model=chooser)

    def _embedded(self, query: Query) -> Iterable[str]:
        return (query.text,)

    def _search(self, query: Query, run: Run) -> Evidence:
        """Return the passages that the walk is at most often, the entities, the edges among them, and the facts."""
        hits = self._searcher.search(query.text, self.config.depth, mask=self.spaces.passages)
        rows, scores = hits.rows[hits.scores > 0], hits.scores[hits.scores > 0]
        best = float(scores[0]) if len(scores) else 1.0
        starts = _Starts(rows, scores / best, best)
        # The names in the question: numbers of names, or rows in a graph without passages.
        find = self._incidence.find if self._incidence is not None else self._titles
        named = np.unique(np.concatenate([find(text) for text in (query.text, *query.low)])).astype(np.int32)
        if not len(rows) and not len(named):
            return Evidence(reason="no node shares a word with the query, and none that it names is in the graph")
        if self._facts is not None:
            reached = self._over_facts(self._facts(query.text, run), starts)
        elif self._incidence is not None:
            reached = self._over_names(self._incidence, starts, named)
        else:
            # Without passages the walk is over the graph itself, whose names are nodes: rare ones have few edges.
            share, own = self._shares(named)
            restart = np.zeros(len(self.graph), np.float32)
            restart[starts.rows] = share * _in_all(starts.scores**self.config.sharpness)
            degree = self.graph.arrays.adjacency.degree(named)
            restart[named] += own * _in_all(np.log1p(len(self.graph) / (1 + degree)))
            reached = _Reached(self._walk(restart))
        return self._evidence(query, starts, named, reached, run)

    # ------------------------------------------------------------------------------------------------- where it begins

    def _shares(self, named: Numbers) -> tuple[float, float]:
        """Return the shares of a restart that what is found has, and what the question names."""
        incidence, own = self._incidence, self.config.names
        if incidence is not None and incidence.rows is None and not self._is_title[named].any():
            own = self.config.others
        own = own if len(named) else 0.0
        return 1 - own, own

    # ------------------------------------------------------------------------------------------------------ the walks

    def _over_names(self, incidence: Incidence, starts: _Starts, named: Numbers) -> _Reached:
        share, own = self._shares(named)
        places = incidence.places(starts.rows)
        passages = np.zeros(len(incidence.passages), np.float32)
        passages[places] = share * _in_all(starts.scores**self.config.sharpness)
        names = np.zeros(len(incidence.holders.begins) - 1, np.float32)
        names[named] = own * _in_all(self._weights[named])
        # If fewer are found than the walk begins from, the others share no word with the question at all.
        least = max(_LEAST_FIT, float(starts.scores[-1]) if len(places) == self.config.depth else 0.0)
        fit = np.full(len(passages), least, np.float32)
        fit[places] = starts.scores.clip(min=least)
        walked = self._name_walk(passages, names, fit**self.config.fit)
        at = np.zeros(len(self.graph), np.float32)
        at[incidence.passages] = walked.passages
        if incidence.rows is not None:
            at[incidence.rows] = walked.names
        return _Reached(at, walked)

    def _over_facts(self, seeds: FactSeeds, starts: _Starts) -> _Reached:
        restart = np.zeros(len(self.graph), np.float32)
        restart[starts.rows] = self.config.passage_weight * starts.scores
        if not len(seeds.entities):
            return _Reached(restart, facts=seeds, reason="no fact fits the query: passages are ranked by themselves")
        restart[seeds.entities] = seeds.weights
        return _Reached(self._walk(_in_all(restart)), facts=seeds)

    def _walk(self, restart: Floats) -> Floats:
        return self._graph_walk(restart, damping=self.config.graph_damping, rounds=self.config.graph_rounds)

    @cached_property
    def _is_title(self) -> NDArray[np.bool_]:
        assert self._incidence is not None
        return self._incidence.titled.counts() > 0

    @cached_property
    def _weights(self) -> Floats:
        assert self._incidence is not None
        return self._incidence.weights()

    @cached_property
    def _name_walk(self) -> NameWalk:
        config = self.config
        assert self._incidence is not None
        return NameWalk(self._incidence, tau=config.tau, damping=config.damping, rounds=config.rounds)

    @cached_property
    def _graph_walk(self) -> GraphWalk:
        """The walk over all edges; in a knowledge base over those among entities, and from passages to entities."""
        graph, spaces = self.graph, self.spaces
        entries = graph.arrays.adjacency.entries(np.arange(len(graph), dtype=np.int32))
        has_own = np.ones(len(entries.at), np.bool_)
        if spaces.has_passages:
            owner, neighbor = spaces.entities[entries.owner], spaces.entities[entries.neighbor]
            joins = (owner & spaces.passages[entries.neighbor]) | (neighbor & spaces.passages[entries.owner])
            entries, has_own = entries.where(joins | (owner & neighbor)), ~joins[joins | (owner & neighbor)]
        weights = np.ones(len(entries.at), np.float32)
        # Reading a weight is dear: those of a million edges take seconds.
        weights[has_own] = graph.arrays.weights(entries.at[has_own]).clip(min=0)
        return GraphWalk(lists_of(entries.owner, entries.neighbor, len(graph)), weights)

    # ----------------------------------------------------------------------------------------------------- open words

    def _ranked(self, query: Query, starts: _Starts, named: Numbers, reached: _Reached, run: Run) -> _Ranked:
        """Return the answers, best first: by the walk, and after a walk over names, by the words that first ones
        lack."""
        allowed = self.spaces.answers(query.node_types, query.where)
        are_passages = not (allowed & ~self.spaces.passages).any()
        if reached.walked is None or self.config.open_words == "off" or not are_passages or query.k < 1:
            rows = _best(reached.at, allowed, query.k)
            return _Ranked(rows, reached.at[rows], allowed)
        seeds = self._pool(query, starts, reached.at, self.spaces.passages)
        pool = seeds if allowed is self.spaces.passages else self._pool(query, starts, reached.at, allowed)
        note = ""

        def near(texts: Sequence[str]) -> NDArray[np.float64]:
            return self.spaces.nearness(run, texts, pool.rows)

        ordered = partial(self._open_words, query.text, pool, seeds.seeds(), query.k, named=named)
        is_embedded = self.config.open_words == "embedded" and ranking_of(self.spaces.mode).kind != "lexical"
        try:
            order = ordered(near=near if is_embedded else None)
        except BudgetExhausted:
            order, note = ordered(near=None), _UNPAID
        return _Ranked(order.rows, order.scores, allowed, order.said, note)

    def _pool(self, query: Query, starts: _Starts, at: Floats, mask: Mask) -> Pool:
        """Return the marked passages where a walk is most often, and those that fit best by themselves."""
        flat = starts.rows[mask[starts.rows] & (at[starts.rows] > 0)][: max(_FLAT, query.k // 2)]
        rows = np.union1d(_best(at, mask, max(_WALKED, 3 * query.k // 2)), flat).astype(np.int32)
        most = at[self.spaces.passages].max(initial=0.0)
        fits = self._searcher.scores(query.text, rows) / starts.best
        return Pool(rows, at[rows].astype(np.float64) / (most or 1.0), fits.clip(min=0))

    @cached_property
    def _open_words(self) -> OpenWords:
        assert self._incidence is not None
        return OpenWords(self.spaces, self._incidence)

    # ------------------------------------------------------------------------------------------------------- evidence

    def _evidence(self, query: Query, starts: _Starts, named: Numbers, reached: _Reached, run: Run) -> Evidence:
        spaces = self.spaces
        ranked = self._ranked(query, starts, named, reached, run)
        answers = ranked.rows
        entities = _best(reached.at, spaces.entities & ~ranked.allowed, self.config.entities)
        fits = dict(zip(starts.rows.tolist(), starts.scores.tolist(), strict=True))
        joined, strength = answers[:_BETWEEN], ranked.scores[:_BETWEEN]
        if len(entities):
            joined, strength = entities, reached.at[entities]
        nodes = [
            *(
                spaces.node(row, score, self._why(row, fits.get(row), ranked, reached))
                for row, score in zip(answers.tolist(), ranked.scores.tolist(), strict=True)
            ),
            *(spaces.node(row, reached.at[row], self._led(row, reached)) for row in entities.tolist()),
        ]
        if reached.facts is not None:
            facts = zip(reached.facts.facts.tolist(), reached.facts.scores.tolist(), strict=True)
            nodes += [spaces.node(row, score, "fits the query") for row, score in facts if row not in answers]
        notes = [self._incidence.note if self._incidence is not None else "", reached.reason, ranked.reason]
        if not nodes:
            notes.append("the walk comes to nothing that may be an answer")
        return Evidence(
            nodes=tuple(sorted(nodes, key=lambda one: -one.score)),
            edges=spaces.joining(joined, strength, _EDGES),
            reason="; ".join(filter(None, notes)),
            trajectories=reached.facts.trajectories if reached.facts is not None else (),
        )

    @cached_property
    def _compared(self) -> str:
        """What a search compares."""
        return {"lexical": "words", "dense": "meaning"}.get(ranking_of(self.spaces.mode).kind, "words and meaning")

    def _why(self, row: int, score: float | None, ranked: _Ranked, reached: _Reached) -> str:
        """Return the reason for a node: its own fit, the open words that it has, and its neighbours in the walk."""
        fits = "fits best" if score == 1 else f"fits {score or 0:.0%} as well"
        own = f"{fits} by {self._compared}" if score is not None else ""
        said = ranked.said.get(row)
        open_words = leaves_open(said.words, name_of(self.graph, said.seed)) if said is not None else ""
        return "; ".join(filter(None, (own, open_words, self._led(row, reached))))

    def _led(self, row: int, reached: _Reached) -> str:
        """Return the names or nodes that led the walk to a node."""
        incidence = self._incidence
        if reached.reason:
            return ""
        if incidence is None or reached.walked is None:
            names = [
                self.graph.arrays.names[node] for node in self._graph_walk.carriers(reached.at, row, _CARRIERS).tolist()
            ]
        elif not self.spaces.passages[row]:
            return ""
        else:
            place = int(incidence.places(np.array([row], np.int32))[0])
            names = [
                incidence.written(carrier) for carrier in carriers(incidence, reached.walked, place, _CARRIERS).tolist()
            ]
        return (
            f"joined by {', '.join(dict.fromkeys(names))}" if names else ""
        )  # a title's two spellings are written alike


def _best(at: Floats, mask: Mask, k: int) -> Rows:
    """Return the marked rows that a walk visits most often, best first; ties are broken by row."""
    rows = np.flatnonzero(mask & (at > 0)).astype(np.int32)
    if len(rows) > k:
        rows = rows[at[rows] >= np.partition(at[rows], -k)[-k]]
    return rows[np.lexsort((rows, -at[rows]))][:k]


def _in_all(values: NDArray[Any]) -> Floats:  # Any: numbers of any kind
    """Return values as shares of their sum."""
    total = float(values.sum())
    return (values / total if total else values).astype(np.float32)
