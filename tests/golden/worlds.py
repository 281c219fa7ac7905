"""The worlds whose rankings are golden: each a graph, questions about it, and the ways in which they are asked."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import clinic
import coast
import films
from fakes.embedder import WordEmbedder
from golden.commands import printed
from hetionet import hetionet
from orienteer import Edge, Graph, Node
from orienteer.graph import embed_graph
from orienteer.ingest import BuildOptions, build_graph
from orienteer.methods import METHODS

HERE = Path(__file__).parent
K = 10
FREE = tuple(name for name, method in METHODS.items() if not method.needs_model)
"""The methods that run without a model."""
COMBINED = ("sage:anchor", "sage:bm25", "sage:dense", "sage:hybrid", "sage:light", "sage:naive")
WORDS = ("anchor", "auto", "bm25", "graph-rag", "hippo", "hyper", "light", "mini", "msgraph-local", "naive", "path")
"""The methods that also run on a graph without vectors."""
FAILING = ("dense", "hybrid", "sage", "text-rag")
"""The methods that say on such a graph what they lack, or go without it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One way to ask: a method, and what it is told beside the question."""

    method: str
    k: int = K
    node_types: tuple[str, ...] = ()
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        k = (f"k={self.k}",) if self.k != K else ()
        return " ".join((self.method, *k, *(f"type={kind}" for kind in self.node_types), *self.where))


@dataclass(frozen=True, slots=True)
class World:
    """A graph, the questions that it is asked, and how."""

    make: Callable[[Path, Path | None], Graph]
    """Takes an empty folder and, where the world is made of real data, the folder of that."""
    questions: Callable[[Path | None], Iterable[str]]
    """Takes the folder of real data. What is written of a question is its number alone."""
    cases: tuple[Case, ...]
    is_data: bool = False


def cases(*methods: str, **told) -> tuple[Case, ...]:
    return tuple(Case(method, **told) for method in methods)


# ------------------------------------------------------------------------------------------------------------- graphs


class Embedder(WordEmbedder):
    """The embedder of the tests, which makes the direction of a word once."""

    _direction = lru_cache(maxsize=None)(WordEmbedder._direction)  # it lives as long as the tests


EMBEDDER = Embedder()


def with_vectors(graph: Graph, folder: Path) -> Graph:
    embed_graph(graph, EMBEDDER, cache=folder / "cache")
    return opened(graph.path)


def opened(path: Path) -> Graph:
    return Graph.open(path, embedder=lambda name: {"words": EMBEDDER}[name])


def records(nodes: Iterable[Node], edges: Iterable[Edge], *, has_vectors: bool):
    """Return what makes a graph of records."""

    def make(folder: Path, data: Path | None) -> Graph:
        graph = Graph.from_records(nodes, edges, path=folder / "graph")
        return with_vectors(graph, folder) if has_vectors else graph

    return make


def demo(folder: Path, data: Path | None) -> Graph:
    """Return the graph that `orienteer demo` makes in the cache."""
    printed("demo", cache=folder / "demo")
    (graph,) = (path for path in (folder / "demo" / "graphs").iterdir() if path.is_dir())
    return Graph.open(graph)


def demo_with_vectors(folder: Path, data: Path | None) -> Graph:
    return with_vectors(demo(folder, data), folder)


def rivers() -> tuple[list[Node], list[Edge]]:
    """Return two rivers, two towns, and thirty more that nothing but a number tells apart."""
    nodes = [
        Node("a", "Town", "Basel", "a town on the river Rhine", properties={"year": 1501}),
        Node("b", "Town", "Bern", "a town in a bend of the river Aare", properties={"year": 1353}),
        Node("c", "River", "Rhine", "a long river"),
        Node("d", "River", "Aare", "a river that joins another"),
    ]
    edges = [Edge("c", "crosses", "a"), Edge("d", "crosses", "b"), Edge("d", "joins", "c")]
    for at in range(30):
        nodes.append(Node(f"t{at:02}", "Town", f"Townlet {at}", "a small town", properties={"year": 1800 + at}))
        edges.append(Edge("c", "crosses", f"t{at:02}"))
    return nodes, edges


def documents(source: Callable[[Path, Path | None], Path], **options):
    """Return what builds a chunk graph of a folder of documents, with vectors unless `has_vectors=False`."""
    has_vectors = options.pop("has_vectors", True)

    def make(folder: Path, data: Path | None) -> Graph:
        embedder = EMBEDDER if has_vectors else None
        target = folder / "graph"
        build_graph(
            [source(folder, data)], target, options=BuildOptions(**options), embedder=embedder, cache=folder / "cache"
        )
        return with_vectors(Graph.open(target), folder) if has_vectors else Graph.open(target)

    return make


def harbour(folder: Path, data: Path | None) -> Path:
    return HERE / "documents"


def passages(name: str, most: int):
    """Return what writes the first passages of a published set as a folder to build."""

    def source(folder: Path, data: Path | None) -> Path:
        import pyarrow.parquet as parquet

        rows = parquet.read_table(data / name / "corpus.parquet").slice(0, most)
        target = folder / name
        target.mkdir()
        parquet.write_table(rows, target / "corpus.parquet")
        return target

    return source


def primekg(folder: Path, data: Path | None) -> Graph:
    printed("import", data / "primekg_ibd", "-o", folder / "graph", cache=folder / "imported")
    return with_vectors(Graph.open(folder / "graph"), folder)


METAEDGES = ("CpD", "CrC", "CtD", "DlA", "DpS", "DrD", "PCiC")


def biomedical(folder: Path, data: Path | None) -> Graph:
    graph = hetionet(data, folder / "hetionet", METAEDGES)
    return with_vectors(graph, folder)


# ---------------------------------------------------------------------------------------------------------- questions


def texts(*questions: str):
    return lambda data: questions


def demo_questions(data: Path | None) -> Iterator[str]:
    """Yield the questions of `orienteer demo`, and those of the tests about the same graph."""
    yield "Which languages did Niklaus Wirth design?"
    yield "Who worked at both Bell Labs and Google?"
    yield "Which implementations are written in the language that Bjarne Stroustrup designed?"
    for line in (HERE.parent / "toy" / "questions.jsonl").read_text("utf-8").splitlines()[:3]:
        yield json.loads(line)["question"]


def column(file: str, name: str, most: int = 10):
    """Return what reads the first questions of a table."""

    def read(data: Path | None) -> list[str]:
        import pyarrow.parquet as parquet

        return parquet.read_table(data / file, columns=[name]).slice(0, most)[name].to_pylist()

    return read


def grbench(data: Path | None) -> list[str]:
    """Return eight questions that this part of Hetionet can answer, over as many edge types as there are."""
    with gzip.open(data / "grbench" / "grbench.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for line in lines if (row := json.loads(line))["domain"] == "biomedical"]
    able = [row for row in rows if row["metaedges"] and set(row["metaedges"].split(",")) <= set(METAEDGES)]
    by_kind: dict[str, list[str]] = {}
    for row in able:
        by_kind.setdefault(row["metaedges"], []).append(row["question"])
    most = max(map(len, by_kind.values()))
    return [group[at] for at in range(most) for group in by_kind.values() if at < len(group)][:8]


COAST = (
    coast.QUESTION,
    "Who designed the lighthouse on Gull Island?",
    "灯塔",
)
FILMS = (
    films.HARD["question"],
    films.NUMBER["question"],
    "director of Salt Road",
    "zebra",
)
CLINIC = ("Which compounds treat headache?", "What does the p53 protein do in jaundice?", "fever", "?")
RIVERS = ("Which rivers cross Basel?", "a long river", "a small town", 'Rhein? \u0300 \U0001f30a (Town) [c] / \\ ~ "')
HARBOUR = (
    "Who built the lighthouse of the town where Ada Holm was born?",
    "How high is Mill Light?",
    "Which ferry did Noor Vik sail to Gull Island?",
    "What happened in the winter of 1912?",
    "salt works",
)

# ------------------------------------------------------------------------------------------------------------- worlds

FULL = cases(*FREE, *COMBINED, "auto")
BARE = cases(*WORDS, *FAILING)
SINGLE = cases(*FREE)


def small(nodes: Iterable[Node], edges: Iterable[Edge], *questions: str, prefix: str, more: tuple[Case, ...] = ()):
    """Return a world of records twice, with vectors and without, by name."""
    nodes, edges = tuple(nodes), tuple(edges)
    return {
        f"{prefix}-words": World(records(nodes, edges, has_vectors=False), texts(*questions), (*BARE, *more)),
        prefix: World(records(nodes, edges, has_vectors=True), texts(*questions), (*SINGLE, *more)),
    }


FILTERED = (
    *cases(*FREE, node_types=("person",)),
    *cases("anchor", "bm25", "hybrid", "sage", "naive", node_types=("language",), where=("year >= 1990",)),
    *cases(*FREE, k=3),
)
COAST_NODES, COAST_EDGES = (*coast.PASSAGES, *coast.OTHERS), (coast.BORN, *coast.MENTIONS)

WORLDS: Mapping[str, World] = {
    "demo-words": World(demo, lambda data: list(demo_questions(data))[:4], BARE),
    "demo": World(demo_with_vectors, demo_questions, FULL),
    "demo-filtered": World(demo_with_vectors, lambda data: list(demo_questions(data))[1:4], FILTERED),
    **small(films.NODES, films.EDGES, *FILMS, prefix="films", more=cases("anchor", "bm25", k=30)),
    **small(clinic.NODES, clinic.EDGES, *CLINIC, prefix="clinic"),
    **small(COAST_NODES, COAST_EDGES, *COAST, prefix="coast"),
    **small(*rivers(), *RIVERS, prefix="rivers", more=cases("anchor", "bm25", where=("year < 1805",))),
    "documents-words": World(documents(harbour, has_vectors=False), texts(*HARBOUR), BARE),
    "documents": World(documents(harbour), texts(*HARBOUR), FULL),
    "documents-triples": World(documents(harbour, extract="triples"), texts(*HARBOUR), SINGLE),
    "documents-hyper": World(documents(harbour, extract="hyper"), texts(*HARBOUR), SINGLE),
    "primekg": World(primekg, column("primekg_ibd/stark_questions.parquet", "query"), SINGLE, is_data=True),
    "hetionet": World(biomedical, grbench, SINGLE, is_data=True),
    "musique": World(
        documents(passages("musique", 1500), extract="triples"),
        column("musique/questions.parquet", "question"),
        SINGLE,
        is_data=True,
    ),
    "hotpotqa": World(
        documents(passages("hotpotqa", 1500)), column("hotpotqa/questions.parquet", "question"), SINGLE, is_data=True
    ),
}
