"""SAGE on OTT-QA's development questions, no model anywhere: flat lists, the paper's recipe, ours, and what carries it.

    python benchmarks/ottqa.py DATA [--cache DIR] [--graphs DIR] [--part NAME]... [--json FILE] [--limit N]

DATA is a folder with the tables, the passages and the questions. Gold of a question are its gold passages and the
segments that hold its gold rows; the given links between tables and passages build nothing. Parts:

    main         Recall, both kinds of gold, the answer's string, for every list; gains over .6/.4 and the best flat
    overlap      how much of what expansion brings the flat list holds already
    times        milliseconds a question
    edges        what each kind of edge carries
    options      what each option of ours carries
    percentiles  the paper's table 5 and the gain at 20 of each of its graphs; edges of similarity as a layer
    titles       titles withheld from the graph, and first names of the texts taken for titles
    open         `hippo` beside `sage`: its walk alone, and with open words

Each part builds the graphs that it needs in `--graphs`, or takes them from there. Figures are points; intervals are
95 %, paired. A list at k is the union of that size: 2 = 1 + 1, 5 = 2 + 3, then halves.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.graph.embedding import embed_graph
from orienteer.graph.names import CorpusNames, find_names
from orienteer.graph.pieces.similar import LayerAbout, SimilarPairs, publish_layer
from orienteer.graph.store import Graph
from orienteer.index.embedders import open_embedder
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.embedder import CachedEmbedder
from orienteer.ingest.documents.intake import Shelf
from orienteer.ingest.documents.join.similar_chunks import KindPair, PartNames, compare, compared
from orienteer.ingest.documents.run import build_graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.examples import Example
from orienteer.records import Node
from rankings import (
    FORMS,
    OPEN,
    WALK_ALONE,
    Asked,
    answered,
    ask,
    ask_all,
    base,
    both_kinds,
    first_named,
    flats,
    in_order,
    measured,
    paper,
    recalls,
    remembering,
    sage,
    show,
    silent,
    summary,
    times,
    untitled,
    weave,
)
from report import command_line, write_json

KS = (2, 5, 10, 20, 50, 100)
ANSWER_KS = (2, 5, 10, 50)
GAINS = (20, 100)
EXTENDED = "hybrid 0.6"
"""The paper's Extended Baseline."""


class Bench:
    """The data, its graphs and its questions."""

    def __init__(self, folder: Path, graphs: Path, cache: Path, limit: int | None) -> None:
        self.data, self.graphs, self.cache = folder, graphs, cache
        self.embedder = open_embedder("minilm")
        self.graph = self._built()
        examples = [example for example in read_questions(folder, graph=self.graph).examples if example.gold.nodes]
        self.examples: list[Example] = examples[:limit]
        print(f"{len(self.examples)} questions, {len(self.graph):,} nodes, {self.graph.arrays.manifest.edges:,} edges")

    def _built(self) -> Graph:
        """Return the graph as `build` makes it, with edges of names and of similarity."""
        path = self.graphs / "ottqa"
        if not path.exists():
            report = build_graph([self.data], path, embedder=self.embedder, cache=self.cache)
            stages = ", ".join(f"{name} {seconds:.0f}" for name, seconds in report.stages.items())
            print(f"built in {report.seconds:.0f} s ({stages}), {report.embedded:,} texts embedded in it, ", end="")
            print(f"at most {(report.peak_bytes or 0) / 1e9:.2f} GB: {dict(report.edge_types)}")
            assert report.similarity is not None
            for row in report.similarity["percentiles"]:
                print(f"table 5: {row}")
        return self.embedded(path)

    def embedded(self, path: Path) -> Graph:
        """Return a graph with its vectors; those of texts that are known are in the cache."""
        graph = Graph.open(path)
        if not graph.arrays.searcher.has_vectors:
            vectors = embed_graph(graph, self.embedder, cache=self.cache)
            print(f"{path.name}: {vectors.embedded:,} vectors made, {vectors.cached:,} from the cache")
        return remembering(Graph.open(path))

    def woven(self, name: str, seen: Callable[[Node], Node]) -> Graph:
        """Return the same nodes with edges of names alone, found in the nodes as `seen` shows them."""
        path = self.graphs / name
        if not path.exists():
            print(f"{name}: {weave(list(in_order(self.graph)), path, seen)}")
        return self.embedded(path)

    def seen_in(self, graph: Graph) -> Asked:
        """Return the questions, to be asked of a graph."""
        return Asked("ottqa", graph, self.examples)


def main_part(bench: Bench) -> dict[str, Any]:
    """Every list, by each measure."""
    graph, k = bench.graph, max(KS)
    ours = [
        paper("the paper's recipe", graph, k),
        sage("sage", graph, k),
        sage("sage, .6 BM25", graph, k, weight=0.6),
        sage("sage, no bonus for titles", graph, k, titles=0.0),
        sage("sage, .6 BM25, no bonus for titles", graph, k, weight=0.6, titles=0.0),
    ]
    asked = bench.seen_in(graph)
    found = ask_all(asked, ours, k)
    written = {"rows": measured(asked, ours, over=[EXTENDED], ks=KS, gains=GAINS, found=found)}
    both = {name: both_kinds(graph, bench.examples, ranking, KS) for name, ranking in found.ranked.items()}
    print(f"\na gold segment and a gold passage, {len(both[EXTENDED])} questions that have both")
    written["both"] = {name: summary(table, KS, {}) for name, table in both.items()}
    show(written["both"])
    answers = {name: answered(graph, bench.examples, ranking, ANSWER_KS) for name, ranking in found.ranked.items()}
    print("\nthe answer's string")
    written["answers"] = {name: summary(table, ANSWER_KS, {}) for name, table in answers.items()}
    show(written["answers"])
    return written


def overlap_part(bench: Bench) -> dict[str, Any]:
    """How much of a union at 20 the flat list of the same weight holds already: in its first 20, in its first 100."""
    graph = bench.graph
    flat = {ranker.name: ranker for ranker in flats(graph, 100)}
    written = {}
    for union, name in (
        (paper("the paper's recipe", graph, 20), "hybrid 0.6"),
        (sage("sage", graph, 20), "hybrid 0.4"),
    ):
        ours, theirs = ask(bench.examples, [union, flat[name]])
        shares = [
            [len(set(row) & set(other[:k])) / len(row) for k in (20, 100)]
            for row, other in zip(ours.rows, theirs.rows, strict=True)
        ]
        written[union.name] = means = (100 * np.mean(shares, axis=0)).round(1).tolist()
        print(f"of the 20 of {union.name}, {means[0]} % are in the first 20 of {name}, {means[1]} % in its first 100")
    return written


def times_part(bench: Bench) -> dict[str, Any]:
    """What a question takes, nothing remembered."""
    graph = Graph.open(bench.graph.path)  # one that remembers nothing
    return {f"k = {k}": times(graph, bench.examples, k) for k in (20, max(KS))}


def edges_part(bench: Bench) -> dict[str, Any]:
    """What each kind of edge carries: alone, and all others without it."""
    graph = bench.graph
    edge_types = tuple(graph.arrays.types.edges)
    kinds: dict[str, dict[str, Any]] = {"all": {}}
    for name in ("mentions", "shares_names", "similar"):
        kinds[f"{name} alone"] = {"edge_types": (name,), "similar": 1.0}
        kinds[f"{name} alone, pruned by H"] = {"edge_types": (name,), "pruning": "hybrid"}
        kinds[f"all but {name}"] = {"edge_types": tuple(edge_type for edge_type in edge_types if edge_type != name)}
    kinds["similar as much as names"] = {"similar": 1.0}
    return _variants(bench, graph, kinds)


def options_part(bench: Bench) -> dict[str, Any]:
    """What each option carries, at the weight of the default."""
    return _variants(bench, bench.graph, FORMS["sage over tables"])


def _variants(bench: Bench, graph: Graph, several: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Measure forms of SAGE beside the flat lists."""
    rankers = [sage(name, graph, max(KS), **options) for name, options in several.items()]
    return measured(bench.seen_in(graph), rankers, over=[EXTENDED], ks=KS, gains=GAINS)


def open_part(bench: Bench) -> dict[str, Any]:
    """`hippo`, with and without open words."""
    forms = [base("hippo", bench.graph, max(KS), label, **options) for label, options in OPEN.items()]
    rankers = [*forms, sage("sage", bench.graph, max(KS))]
    return measured(bench.seen_in(bench.graph), rankers, over=[WALK_ALONE, "sage"], ks=KS, gains=GAINS)


def titles_part(bench: Bench) -> dict[str, Any]:
    """The same where no passage has a title that edges could be made of; the flat scores keep them."""
    written = {}
    for name, seen in (("first names for titles", first_named), ("titles withheld", untitled)):
        print(f"\n{name}")
        graph = bench.woven(name.replace(" ", "-"), seen)
        written[name] = _variants(bench, graph, {"sage, no bonus for titles": {"titles": 0.0}, "sage": {}})
    return written


def percentiles_part(bench: Bench) -> dict[str, Any]:
    """The paper's table 5: what each percentile and logic keeps of one set of candidates, and what it gains at 20."""
    started = time.perf_counter()
    graph = bench.woven("names-alone", lambda node: node)
    several, names, entities = _candidates(bench)
    pairs = sum(len(pair.pool.pairs) for pair in several)
    print(f"{pairs:,} candidates in {time.perf_counter() - started:.0f} s")
    flat = [ranker for ranker in flats(graph, 20) if ranker.name == "hybrid 0.6"]
    base = recalls(graph, bench.examples, ask(bench.examples, flat)[0], (20,))
    rows: dict[str, Any] = {}
    for logic in ("or", "and"):
        for percentile in (80, 90, 95, 99):
            joined = _joined(graph, several, names, entities, percentile, logic)
            _publish(graph, joined, pairs)
            fresh = remembering(Graph.open(graph.path))
            nodes = len(names.parts)
            figures = {"edges": len(joined.first), "mean_degree": 2 * len(joined.first) / nodes}
            figures["share"] = len(joined.first) / pairs
            rankers = [
                paper("pruned by H", fresh, 20),
                paper("weighed", fresh, 20, pruning="weighed", similar=1.0),
                sage("with names, weighed", fresh, 20, weight=0.6, titles=0.0),
            ]
            tables = {
                ranking.name: recalls(fresh, bench.examples, ranking, (20,)) for ranking in ask(bench.examples, rankers)
            }
            gains = {name: summary(table, (20,), {"hybrid 0.6": base})["@20"] for name, table in tables.items()}
            rows[f"P{percentile} {logic}"] = {**figures, **gains}
            listed = "; ".join(f"{name} {gain['over hybrid 0.6'][0]:+.1f}" for name, gain in gains.items())
            print(f"P{percentile} {logic}: {figures['edges']:,} edges, degree {figures['mean_degree']:.1f}, ", end="")
            print(f"{100 * figures['share']:.1f} % of the candidates: gain at 20 {listed}", flush=True)
    return rows


def _candidates(bench: Bench) -> tuple[list[KindPair], CorpusNames, PartNames]:
    """Return the candidate pairs with every similarity of each, made once; the names; the entities of each part."""
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        shelf.add(in_order(bench.graph))
        names = find_names(shelf, progress=silent)
        embedder = CachedEmbedder(bench.embedder, bench.cache, progress=silent)
        parts = compared(shelf, names)
        return compare(parts, names, embedder, BuildConfig()), names, parts.entities


def _joined(
    graph: Graph,
    several: Sequence[KindPair],
    names: CorpusNames,
    entities: PartNames,
    percentile: float,
    logic: Any,  # Any: "or" or "and"
) -> SimilarPairs:
    """Return the pairs that a percentile keeps, weighed as `build` does: the highest cosine that counts."""
    rows = np.array([graph.arrays.row(part.id) for part in names.parts], np.int32)
    columns: list[tuple[Any, Any, Any]] = []
    for alike in several:
        pool = alike.pool
        thresholds = pool.thresholds(percentile)
        at = np.flatnonzero(pool.kept(thresholds, logic=logic))
        first, second = pool.pairs.first[at], pool.pairs.second[at]
        values = {name: signal[at] for name, signal in pool.signals.items() if name != "entities"}
        cosines = [np.where(signal > thresholds[name], signal, -1) for name, signal in values.items()]
        sizes = entities.lists.counts()
        share = pool.signals["entities"][at] / np.maximum(1, np.minimum(sizes[first], sizes[second]))
        highest = np.max(cosines, axis=0)
        columns.append((rows[first], rows[second], np.where(highest > -1, highest, share)))
    return SimilarPairs(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def _publish(graph: Graph, joined: SimilarPairs, pairs: int) -> None:
    about = LayerAbout(
        generation=graph.arrays.manifest.generation,
        embedder="minilm",
        nodes=len(graph),
        candidates=pairs,
        threshold=0.0,
        edges=len(joined.first),
        mean_degree=2 * len(joined.first) / len(graph),
        density=len(joined.first) / pairs,
    )
    publish_layer(graph, about, joined)


PARTS: Mapping[str, Callable[[Bench], dict[str, Any]]] = {
    "main": main_part,
    "overlap": overlap_part,
    "times": times_part,
    "edges": edges_part,
    "options": options_part,
    "percentiles": percentiles_part,
    "titles": titles_part,
    "open": open_part,
}


def main() -> None:
    """Measure the parts that are named, or all."""
    parser = command_line(__doc__, ("--cache", "--graphs", "--json"))
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--limit", type=int, default=None, help="ask only the first so many questions")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orienteer-") as folder:
        graphs, cache = options.graphs or Path(folder) / "graphs", options.cache or Path(folder) / "cache"
        bench = Bench(options.data, graphs, cache, options.limit)
        written = {name: PARTS[name](bench) for name in options.part or PARTS}
    write_json(options.json, written)


if __name__ == "__main__":
    main()
