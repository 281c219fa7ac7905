"""Rankings of methods over the same passages, and what one gains over another: for sage, passages and ottqa."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.builder import GraphBuilder
from orienteer.graph.embedding import embed_graph
from orienteer.graph.searchers import Searchers
from orienteer.graph.store import Graph
from orienteer.graph.titles import TitleFinder
from orienteer.index.bm25 import Mask
from orienteer.index.embedders import open_embedder
from orienteer.index.searchers import Fusion, HybridSearcher, KeyedCache, Searcher, TitleBonus, ranking_of
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.intake import Shelf
from orienteer.ingest.documents.join.weaver import Weaver
from orienteer.ingest.documents.run import build_graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.scores.measures import rank_measure
from orienteer.lab.evaluation.scores.statistics import differences, mean_interval
from orienteer.llm.budget import Allowance
from orienteer.methods.sage.hop import Expander, SageConfig
from orienteer.records import Node, Question
from orienteer.retrieval.bases.table import open_base
from orienteer.retrieval.query import Query, Spaces
from orienteer.retriever import Retriever
from orienteer.settings import Settings

TITLES = 0.2
"""The bonus of the flat lists that have one."""
KS = (2, 5, 10, 20)
GAINS = (5, 20)
FORMS: Mapping[str, Mapping[str, dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "data" / "forms.json").read_text(encoding="utf-8")
)
"""Options by the name of a form: of SAGE and of `hippo`, one choice after the other undone."""
OPEN = FORMS["hippo, open words"]
WALK_ALONE = "the walk alone"
WEIGHTS = (0.3, 0.4, 0.5, 0.6)
"""BM25's share in the flat hybrids."""
_WORD = re.compile(r"\w+")
Table = NDArray[np.float64]
"""(questions, ks), in points."""


class Ranker(NamedTuple):
    """A way to rank rows for a question."""

    name: str
    rank: Callable[[str], Sequence[int]]


class Ranked(NamedTuple):
    """What a ranker gave: rows for each question, and the median of its milliseconds."""

    name: str
    rows: list[list[int]]
    milliseconds: float


class Remembering:
    """Gives a graph's searchers, whose lists by words and by vectors are made once for all that ask the same.

    For figures of quality alone: what a list takes is then no time of its own.
    """

    def __init__(self, searchers: Searchers) -> None:
        self._searchers = searchers
        self.has_vectors, self.vectors = searchers.has_vectors, searchers.vectors
        self._words = [_Remembered(searchers("lexical", telling=telling)) for telling in (False, True)]
        self._dense = _Remembered(searchers("dense"))

    def __call__(
        self,
        mode: str = "lexical",
        *,
        weight: float | None = None,
        fusion: Fusion | None = None,
        telling: bool = False,
    ) -> Any:
        wanted, words = ranking_of(mode), self._words[telling]
        if wanted.kind != "hybrid":
            return words if wanted.kind == "lexical" else self._dense
        share = wanted.weight if weight is None else weight
        twins: tuple[Any, Any] = words, self._dense  # Any: they do what searchers do
        return HybridSearcher(*twins, weight=share, fusion=fusion or wanted.fusion)


class _Remembered:
    """A searcher that keeps what it gave for the last few questions."""

    def __init__(self, searcher: Any) -> None:  # Any: of words or of vectors
        self._searcher = searcher
        self._given: dict[str, dict[Any, Any]] = {}

    def __getattr__(self, name: str) -> Any:  # Any: what the searcher has
        return getattr(self._searcher, name)

    def search(self, query: str, k: int, *, among: Any = None, mask: Any = None) -> Any:
        if among is not None:  # few rows of a neighbourhood: quick, and never asked for again
            return self._searcher.search(query, k, among=among, mask=mask)
        key = (k, None if mask is None else mask.tobytes())
        return self._kept(query, key, lambda: self._searcher.search(query, k, mask=mask))

    def scores(self, query: str, rows: NDArray[np.int32]) -> Any:
        return self._kept(query, rows.tobytes(), lambda: self._searcher.scores(query, rows))

    def _kept(self, query: str, key: object, make: Callable[[], Any]) -> Any:
        if query not in self._given:
            self._given = {query: {}}
        if key not in self._given[query]:
            self._given[query][key] = make()
        return self._given[query][key]


def remembering(graph: Graph) -> Graph:
    """Have a graph's searchers remember their lists."""
    graph.arrays.searcher = Remembering(graph.arrays.searcher)  # type: ignore[assignment]  # a twin, as far as it is asked
    return graph


def flats(graph: Graph, k: int, *, is_titled: bool = False) -> list[Ranker]:
    """Return the flat lists: BM25, vectors, hybrids of each weight, reciprocal places.

    Where documents are nodes too, lists are of chunks and tables alone.
    """
    searchers: dict[str, Searcher] = {
        "bm25": graph.arrays.searcher("lexical"),
        "dense": graph.arrays.searcher("dense"),
        **{f"hybrid {weight:.1f}": graph.arrays.searcher("hybrid", weight=weight) for weight in WEIGHTS},
        "rrf": graph.arrays.searcher("hybrid", fusion="rrf"),
    }
    if is_titled:
        titles = TitleFinder(graph.arrays)
        named = KeyedCache(titles)
        searchers = {f"{name} + titles": TitleBonus(one, named, TITLES) for name, one in searchers.items()}
    types = graph.arrays.types.nodes
    mask = graph.arrays.mask([one for one in ("chunk", "table") if one in types]) if len(types) > 1 else None
    return [_flat(name, searcher, k, mask) for name, searcher in searchers.items()]


def _flat(name: str, searcher: Searcher, k: int, mask: Mask | None) -> Ranker:
    return Ranker(name, lambda question: searcher.search(question, k, mask=mask).rows.tolist())


def sage(name: str, graph: Graph, k: int, **options: Any) -> Ranker:  # Any: what SageConfig takes
    """Return SAGE with some options: the ranking that the method gives, without its presentation."""
    expander = Expander(graph, SageConfig(**options).settled())
    return Ranker(name, lambda question: expander.of(Question(text=question, k=k)).ranking())


def paper(name: str, graph: Graph, k: int, **options: Any) -> Ranker:  # Any: the same
    """Return the paper's recipe with each beginning of the list a union of that size, as its figure 4 counts."""
    own = [one for one in graph.arrays.types.edges if one not in ("mentions", "shares_names", "similar")]
    recipe = {"weight": 0.6, "pruning": "hybrid", "titles": 0.0, "edge_types": (*own, "similar"), **options}
    return sage(name, graph, k, **recipe)


def ask(examples: Sequence[Example], rankers: Sequence[Ranker]) -> list[Ranked]:
    """Ask every ranker every question, question by question, so that what they share is made once."""
    rows: list[list[list[int]]] = [[] for _ in rankers]
    seconds: list[list[float]] = [[] for _ in rankers]
    told = time.monotonic()
    for number, example in enumerate(examples):
        for ranker, found, spent in zip(rankers, rows, seconds, strict=True):
            started = time.perf_counter()
            found.append([int(row) for row in ranker.rank(example.question.text)])
            spent.append(time.perf_counter() - started)
        if time.monotonic() - told > 30:
            told = time.monotonic()
            sys.stderr.write(f"{number + 1} of {len(examples)} questions\n")
    medians = [1000 * float(np.median(spent)) for spent in seconds]
    return [Ranked(one.name, found, spent) for one, found, spent in zip(rankers, rows, medians, strict=True)]


def recalls(graph: Graph, examples: Sequence[Example], ranked: Ranked, ks: Sequence[int]) -> Table:
    """Return Recall at each k of each question."""
    rows = []
    for example, found in zip(examples, ranked.rows, strict=True):
        ids = [graph.arrays.ids[row] for row in found]
        rows.append([rank_measure(f"Recall@{k}")(ids, example.gold.nodes) for k in ks])
    return 100 * np.array(rows)


def both_kinds(graph: Graph, examples: Sequence[Example], ranked: Ranked, ks: Sequence[int]) -> Table:
    """Return, at each k, whether a gold passage and a gold segment were found, of questions that have both."""
    rows = []
    for example, found in zip(examples, ranked.rows, strict=True):
        gold = {graph.arrays.row(node) for node in example.gold.nodes}
        if len({graph.arrays.type_at(row) for row in gold}) < 2:
            continue
        kinds = [graph.arrays.type_at(row) if row in gold else "" for row in found]
        rows.append([float("table" in kinds[:k] and "chunk" in kinds[:k]) for k in ks])
    return 100 * np.array(rows)


def answered(graph: Graph, examples: Sequence[Example], ranked: Ranked, ks: Sequence[int]) -> Table:
    """Return, at each k, whether the answer stands in what was returned: its words in a row, whatever their case."""
    rows = []
    known: dict[int, str] = {}
    for example, found in zip(examples, ranked.rows, strict=True):
        wanted = [f" {_words(answer)} " for answer in example.gold.answers if _words(answer)]
        place = len(found)
        for at, row in enumerate(found):
            if row not in known:
                known[row] = f" {_words(f'{graph.arrays.names[row]} {graph.arrays.texts[row]}')} "
            if any(one in known[row] for one in wanted):
                place = at
                break
        rows.append([float(place < min(k, len(found))) for k in ks])
    return 100 * np.array(rows)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def best_of(tables: Mapping[str, Table]) -> tuple[Table, list[str]]:
    """Return the best list for each k on its own, and the names of those that it is made of."""
    width = next(iter(tables.values())).shape[1]
    names = [max(tables, key=lambda name: float(tables[name][:, at].mean())) for at in range(width)]
    return np.stack([tables[name][:, at] for at, name in enumerate(names)], axis=1), names


def summary(table: Table, ks: Sequence[int], against: Mapping[str, Table]) -> dict[str, Any]:  # Any: JSON
    """Return the mean at each k with its 95 % interval, and the paired gain over others."""
    found: dict[str, Any] = {}
    for at, k in enumerate(ks):
        mean = mean_interval(list(table[:, at]))
        gains = {
            name: mean_interval(differences(list(table[:, at]), list(other[:, at]))) for name, other in against.items()
        }
        found[f"@{k}"] = {"mean": list(mean), **{f"over {name}": list(gain) for name, gain in gains.items()}}
    return found


def show(summaries: Mapping[str, Mapping[str, Any]], *, gains: Sequence[str] = (), ks: Sequence[int] = ()) -> None:
    """Print a line for each: means with their intervals, or the gains over one other at some ks."""
    for name, one in summaries.items():
        columns = [f"@{k}" for k in ks] if ks else list(one)
        if gains:
            said = [f"{kind} {at} {_gain(one[at][f'over {kind}'])}" for kind in gains for at in columns]
        else:
            means = {at: one[at]["mean"] for at in columns}
            said = [f"{at} {mean:5.1f} [{low:.1f}, {high:.1f}]" for at, (mean, low, high) in means.items()]
        print(f"{name:44} " + "  ".join(said), flush=True)


def _gain(one: Sequence[float]) -> str:
    return f"{one[0]:+5.1f} [{one[1]:+.1f}, {one[2]:+.1f}]"


# ------------------------------------------------------------------------------------------------- whole sets


def base(name: str, graph: Graph, k: int, label: str = "", **options: Any) -> Ranker:  # Any: what its config takes
    """Return a retriever of a knowledge base, seen as the passages of its evidence."""
    opened = open_base(name, graph, options)
    is_answer = Spaces(graph).passages

    def rank(question: str) -> list[int]:
        found = opened.gather(Query(question, k=k), Allowance()).nodes
        rows = [
            graph.arrays.row(one.item.id) for one in found if one.item.id in graph
        ]  # communities may be none of its nodes
        return [row for row in rows if is_answer[row]][:k]

    return Ranker(label or name, rank)


@dataclass(frozen=True)
class Asked:
    """A chunk graph and the questions that are asked of it."""

    name: str
    graph: Graph
    examples: Sequence[Example]


def opened(data: str, graphs: Path, cache: Path) -> Asked:
    """Open the graph of `DATA[=GRAPH]`, or build and embed one of its chunks, and read its questions."""
    folder, _, given = data.partition("=")
    source, started = Path(folder), time.perf_counter()
    path = Path(given) if given else graphs / source.name
    if not path.exists():
        embedder = open_embedder("minilm")
        report = build_graph([source], path, embedder=embedder, cache=cache)
        print(f"built {report.nodes:,} nodes, {report.edges:,} edges: {dict(report.edge_types)}")
        embed_graph(Graph.open(path), embedder, cache=cache)
    graph = Graph.open(path)
    questions = read_questions(source, graph=graph)
    print(f"{questions.name}: opened in {time.perf_counter() - started:.1f} s")
    return Asked(questions.name, graph, [each for each in questions.examples if each.gold.nodes])


class Found(NamedTuple):
    """What every list gave for the questions, by name, and which of them are flat, with and without titles."""

    plain: list[str]
    titled: list[str]
    ranked: dict[str, Ranked]


def ask_all(asked: Asked, rankers: Sequence[Ranker], k: int) -> Found:
    """Ask the flat lists and some rankers."""
    plain, titled = (flats(asked.graph, k, is_titled=is_titled) for is_titled in (False, True))
    ranked = {one.name: one for one in ask(asked.examples, [*plain, *titled, *rankers])}
    return Found([one.name for one in plain], [one.name for one in titled], ranked)


def measured(
    asked: Asked,
    rankers: Sequence[Ranker],
    *,
    over: Sequence[str] = (),
    ks: Sequence[int] = KS,
    gains: Sequence[int] = GAINS,
    found: Found | None = None,
) -> dict[str, Any]:
    """Print and return Recall at each k of flat lists and of some rankers.

    Gains are over the best flat list for each k, over the best without a bonus for titles, and over those named `over`.
    """
    plain, titled, ranked = found or ask_all(asked, rankers, max(ks))
    tables = {name: recalls(asked.graph, asked.examples, one, ks) for name, one in ranked.items()}
    embedder = asked.graph.arrays.searcher.vectors.about.embedder
    print(f"\n{asked.name}: {len(asked.examples)} questions, {len(asked.graph):,} nodes, {embedder}")
    against = {}
    for label, some in (("best flat", [*plain, *titled]), ("best without titles", plain)):
        against[label], names = best_of({name: tables[name] for name in some})
        print(f"{label} for each k: {', '.join(names)}")
    against |= {name: tables[name] for name in over}
    rows = {"best flat": summary(against["best flat"], ks, {})}
    rows |= {name: summary(table, ks, against) for name, table in tables.items()}
    show(rows)
    for kind in against:
        show({one.name: rows[one.name] for one in rankers if one.name != kind}, gains=(kind,), ks=gains)
    print("milliseconds a question, lists remembered: ", end="")
    print(", ".join(f"{name} {one.milliseconds:.1f}" for name, one in ranked.items()))
    return rows


def times(graph: Graph, examples: Sequence[Example], k: int) -> dict[str, float]:
    """Print and return what a question takes: the ranking alone, and as a person asks it, hits and trail and all."""
    found = ask(examples[:100], [*flats(graph, k), sage("sage", graph, k), paper("the paper's recipe", graph, k)])
    for name in ("hybrid", "sage"):
        whole = partial(_hits, Retriever(graph, name, settings=Settings()), k)
        found += ask(examples[:100], [Ranker(f"{name}, with its hits", whole)])
    taken = {one.name: round(one.milliseconds, 1) for one in found}
    print(f"milliseconds, k = {k}: {taken}")
    return taken


def _hits(retriever: Retriever, k: int, text: str) -> list[int]:
    return [retriever.graph.arrays.row(hit.id) for hit in retriever.search(text, k).hits]


# ------------------------------------------------------------ graphs whose names were found in other texts


def in_order(graph: Graph) -> Iterator[Node]:
    """Return all nodes of a chunk graph, a document before its parts and those in their order."""
    every = [graph.arrays.node_at(row) for row in range(len(graph))]
    places = {node.id: (str(node.properties.get("document") or node.id), _order(node)) for node in every}
    yield from sorted(every, key=lambda node: places[node.id])


def weave(nodes: Iterable[Node], path: Path, seen: Callable[[Node], Node] = lambda node: node) -> dict[str, int]:
    """Publish nodes with edges of names alone, found in the nodes as `seen` shows them; return the edges by type.

    The nodes can be iterated again.
    """
    with tempfile.TemporaryDirectory() as real, tempfile.TemporaryDirectory() as shown:
        shelves = Shelf(Path(real)), Shelf(Path(shown))
        shelves[0].add(nodes)
        shelves[1].add(map(seen, nodes))
        with GraphBuilder(path) as builder:
            Weaver(builder, shelves[0], BuildConfig(), progress=silent).add_nodes()
            weaver = Weaver(builder, shelves[1], BuildConfig(), progress=silent)
            weaver.add_edges(None)
            builder.describe({"made_by": "build", "greatest_weights": weaver.greatest})
            builder.publish()
    return weaver.counts


def untitled(node: Node) -> Node:
    """Show a node without a title: a mark that is no word stands for it."""
    properties = {name: value for name, value in node.properties.items() if name != "heading"}
    return replace(node, name="-", properties=properties)


def first_named(node: Node) -> Node:
    """Show a passage without a title, so that its first name is taken for one; a table has none."""
    is_passage = node.type == "chunk" and "document" not in node.properties
    return replace(node, name=node.id) if is_passage else untitled(node)


def silent(stage: str, count: int) -> None:
    """Take no notice of progress."""


def _order(node: Node) -> int:
    order = node.properties.get("order")
    return order if isinstance(order, int) and node.type != "document" else -1
