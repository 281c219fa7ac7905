"""Passages of questions over several of them, by every retriever that needs no model, beside the best flat list.

    python benchmarks/passages.py DATA[=GRAPH]... [--method NAME]... [--part NAME]... [--cache DIR] [--graphs DIR]

DATA is a folder with a corpus and questions about it, such as musique. Its chunk graph is built and embedded in a
temporary folder, or taken from `DATA=GRAPH`. Figures are Recall@k of gold passages in points, with 95 % intervals; the
best flat list is the best one for each k of BM25, vectors, hybrids of .3 to .6 and reciprocal places, each with and
without a bonus of .2 for titles that stand in the question. Gains are paired. Parts:

    main       every method that is named, or all
    walk       what each part of the walk of `hippo` carries, open words left out
    open       what open words add to it: by meaning and words, by words, without vectors
    steps      the same on MuSiQue's sub-questions, each with one gold passage and earlier answers put in
    titles     titles withheld from names and edges, and first names of the texts taken for titles
    together   all corpora in one, each one's questions asked of it; further corpora of `--beside DATA`
    quotations of the questions of one step, how many `documents` quotes a sentence for, and one with the answer; and
               how many it refuses, as they are and with their gold passage withheld

`--graphs` keeps what `titles` and `together` build. No model is called.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.graph import pieces
from orienteer.graph.embedding import embed_graph
from orienteer.graph.names import find_names
from orienteer.graph.pieces.incidence import PIECE, lists_of, write_names
from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.index.embedders import open_embedder
from orienteer.index.searchers import vote
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.run import BuildOptions, build_graph
from orienteer.lab.evaluation.examples import Example, Gold
from orienteer.lab.evaluation.scores.measures import contains
from orienteer.llm.budget import Allowance
from orienteer.methods.documents.documents import Documents
from orienteer.protocols import Run
from orienteer.records import Node, Question, Result
from orienteer.retrieval.bases.hippo import Hippo, HippoConfig
from orienteer.retrieval.bases.table import BASES
from orienteer.retrieval.expansion.incidence import Incidence, open_incidence
from orienteer.retrieval.query import Query, Spaces
from orienteer.retriever import Retriever
from rankings import (
    FORMS,
    KS,
    OPEN,
    WALK_ALONE,
    Asked,
    Ranker,
    base,
    first_named,
    in_order,
    measured,
    opened,
    remembering,
    sage,
    silent,
    untitled,
    weave,
)
from report import command_line, write_json

OWN = ("sage", "ark")
"""Methods that are no retrievers of knowledge bases."""


def ark(graph: Graph, k: int, mode: str) -> Ranker:
    """Return what ARK's two tools give without its model: a search, and one around each hit, fused by ARK's votes.

    Sizes are the paper's (001, section 3.1 and A.2): 5 of the whole graph, 20 of a neighbourhood; the question is the
    query of each.
    """
    graph = Graph.open(graph.path)  # the one given remembers searches of the whole alone
    is_answer = Spaces(graph).passages

    def rank(question: str) -> list[int]:
        hits = [graph.arrays.ids[row] for row in graph.arrays.searcher(mode).search(question, 5).rows]
        around = [[one.id for one in graph.neighbors(hit, question, k=20, mode=mode).hits] for hit in hits]
        rows = [graph.arrays.row(one.id) for one in vote([hits, *around])]
        return [row for row in rows if is_answer[row]][:k]

    return Ranker(f"ark's tools, {mode}", rank)


def methods(graph: Graph, names: Iterable[str]) -> list[Ranker]:
    """Return methods by name: retrievers of knowledge bases, `sage`, and ARK's tools without its model."""
    own: Mapping[str, Callable[[], list[Ranker]]] = {
        "sage": lambda: [sage("sage", graph, max(KS))],
        "ark": lambda: [ark(graph, max(KS), mode) for mode in ("lexical", "hybrid")],
    }
    return [one for name in names for one in (own[name]() if name in own else [base(name, graph, max(KS))])]


def main_part(bench: Bench) -> dict[str, Any]:
    """Every method."""
    return {one.name: measured(one, methods(one.graph, bench.methods)) for one in bench.asked}


def walk_part(bench: Bench) -> dict[str, Any]:
    """The walk, one choice after the other undone."""
    return {one.name: measured(one, _walks(one.graph)) for one in bench.asked}


def _walks(graph: Graph) -> list[Ranker]:
    kinds = (("only titles as names", True), ("only names that are no titles", False))
    return [
        *(
            base("hippo", graph, max(KS), label, open_words="off", **options)
            for label, options in FORMS["hippo, the walk"].items()
        ),
        *(_partial_walk(f"hippo, {label}", graph, titles) for label, titles in kinds),
    ]


def _partial_walk(label: str, graph: Graph, is_title: bool) -> Ranker:
    """Return the walk over those names alone that are titles, or that are none."""
    walking = Hippo(graph, HippoConfig(open_words="off"))
    incidence = walking._incidence
    assert incidence is not None
    walking._incidence = _among(incidence, (incidence.titled.counts() > 0) == is_title)

    def rank(question: str) -> list[int]:
        return [graph.arrays.row(one.item.id) for one in walking.gather(Query(question), Allowance()).nodes]

    return Ranker(label, rank)


def _among(incidence: Incidence, keep: NDArray[np.bool_]) -> Incidence:
    """Return the same passages with the marked names alone; the others stay as numbers that stand nowhere."""
    owners = np.repeat(np.arange(len(incidence.passages), dtype=np.int32), incidence.held.counts())
    kept = keep[incidence.held.members]
    held = lists_of(owners[kept], incidence.held.members[kept], len(incidence.passages))
    titles = np.repeat(keep, incidence.titled.counts())
    named = np.repeat(np.arange(len(keep), dtype=np.int32), incidence.titled.counts())
    return replace(
        incidence,
        held=held,
        holders=held.inverted(len(keep)),
        titled=lists_of(named[titles], incidence.titled.members[titles], len(keep)),
        find=lambda text: (found := incidence.find(text))[keep[found]],
    )


def open_part(bench: Bench) -> dict[str, Any]:
    """Open words, beside the walk alone."""
    return {one.name: measured(one, _open_forms(one.graph), over=[WALK_ALONE]) for one in bench.asked}


def _open_forms(graph: Graph) -> list[Ranker]:
    return [base("hippo", graph, max(KS), label, **options) for label, options in OPEN.items()]


def steps_part(bench: Bench) -> dict[str, Any]:
    """The same on questions of one step."""
    return {
        one.name: measured(replace(one, examples=steps), _open_forms(one.graph), over=[WALK_ALONE], ks=(1, *KS))
        for one in bench.asked
        if (steps := _steps(one.examples))
    }


def _steps(examples: Iterable[Example]) -> list[Example]:
    """Return the sub-questions that questions were made of, each once, with the answers of earlier ones put in."""
    steps: dict[tuple[str, str], Example] = {}
    for example in examples:
        answers: list[str] = []
        made_of: Any = example.fields.get("decomposition", [])  # Any: JSON
        for step in made_of:
            text, gold = str(step["question"]), str(step["pid"])
            for number, answer in enumerate(answers, 1):
                text = text.replace(f"#{number}", answer)
            answers.append(str(step["answer"]))
            right = Gold(nodes={gold: 1.0}, answers=(answers[-1],))
            steps.setdefault((text, gold), Example(question=Question(text=text), gold=right))
    return list(steps.values())


def titles_part(bench: Bench) -> dict[str, Any]:
    """The same where no passage has a title that names and edges could be made of; the flat scores keep them."""
    written: dict[str, Any] = {}
    for label, seen in (("first names for titles", first_named), ("titles withheld", untitled)):
        for one in bench.asked:
            graph = bench.woven(f"{one.name}-{label.replace(' ', '-')}", list(in_order(one.graph)), seen)
            rankers = [
                base("hippo", graph, max(KS), WALK_ALONE, open_words="off"),
                base("hippo", graph, max(KS)),
                base("hippo", graph, max(KS), "hippo, no bonus for titles", titles=0.0),
                sage("sage", graph, max(KS)),
                sage("sage, no bonus for titles", graph, max(KS), titles=0.0),
            ]
            shown = replace(one, name=f"{one.name}, {label}", graph=graph)
            written[shown.name] = measured(shown, rankers, over=[WALK_ALONE])
    return written


def together_part(bench: Bench) -> dict[str, Any]:
    """All corpora in one, each passage once, and the questions of each."""
    ids: dict[tuple[str, str], str] = {}
    nodes: list[Node] = []
    kept: dict[str, str] = {}
    for name, graph in [*((one.name, one.graph) for one in bench.asked), *bench.beside()]:
        for node in in_order(graph):
            if node.type == "chunk" and "document" not in node.properties:
                fresh = replace(node, id=f"{name}:{node.id}", properties={})
                if (node.name, node.text) not in ids:
                    nodes.append(fresh)
                kept[fresh.id] = ids.setdefault((node.name, node.text), fresh.id)
    graph = bench.woven("together", nodes, lambda node: node)
    written = {}
    for one in bench.asked:
        golds = [dict.fromkeys((kept[f"{one.name}:{node}"] for node in each.gold.nodes), 1.0) for each in one.examples]
        examples = [
            each.model_copy(update={"gold": each.gold.model_copy(update={"nodes": gold})})
            for each, gold in zip(one.examples, golds, strict=True)
        ]
        whole = Asked(f"{one.name} in one corpus", graph, examples)
        walk = base("hippo", graph, max(KS), WALK_ALONE, open_words="off")
        written[one.name] = measured(whole, [walk, *methods(graph, bench.methods)], over=[WALK_ALONE])
    return written


def quotations_part(bench: Bench) -> dict[str, Any]:
    """Print how many sentences that are quoted have the answer, and how many questions are refused."""
    return {one.name: _quotations(one.name, one.graph, steps) for one in bench.asked if (steps := _steps(one.examples))}


def _quotations(name: str, graph: Graph, steps: Iterable[Example]) -> dict[str, float]:
    passages = Retriever(graph, method="hippo")
    marks: dict[str, list[float]] = {}
    for step in steps:
        if ">>" in step.question.text:  # a relation of Wikidata, not a question
            continue
        for label, withheld in (("", frozenset[str]()), (", gold withheld", frozenset(step.gold.nodes))):
            result = _Quoting(graph, _Withholding(passages, withheld)).retrieve(step.question, Allowance())
            is_refused = result.refusal is not None and result.refusal.kind == "not_here"
            marks.setdefault(f"refused{label}", []).append(is_refused)
            marks.setdefault(f"quoted{label}", []).append(result.answer is not None)
            marks.setdefault(f"quoted with the answer{label}", []).append(contains(result.answer or "", step.gold))
    shares = {label: float(np.mean(some)) for label, some in marks.items()}
    print(f"\n{name}, {len(marks['refused'])} questions of one step")
    for label, share in shares.items():
        print(f"  {100 * share:5.1f} {label}")
    return shares


class _Withholding:
    """A method that returns all passages that another one finds but some."""

    name = "withholding"

    def __init__(self, passages: Retriever, withheld: frozenset[str]) -> None:
        self._passages, self.withheld = passages, withheld

    def retrieve(self, question: Question, run: Run) -> Result:
        result = self._passages.ask(question.text, k=question.k + len(self.withheld))
        hits = tuple(hit for hit in result.hits if hit.id not in self.withheld)
        return result.model_copy(update={"hits": hits[: question.k]})


class _Quoting(Documents):
    """`documents` over the passages that are not withheld."""

    def __init__(self, graph: Graph, base: _Withholding) -> None:
        super().__init__(graph, base)
        self._left_out = [graph.arrays.row(one) for one in base.withheld]

    def allowed(self, question: Question) -> Mask:
        mask = super().allowed(question).copy()
        mask[self._left_out] = False
        return mask


class Bench:
    """The graphs, their questions, and where further graphs are kept."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.cache = options.cache or folder / "cache"
        self.graphs = options.graphs or folder / "graphs"
        self._beside: list[Path] = options.beside
        self.methods: list[str] = options.method or [*BASES, *OWN]
        self.asked = [self._asked(one) for one in options.data]

    def _asked(self, one: str) -> Asked:
        asked = opened(one, self.graphs, self.cache)
        open_incidence(asked.graph, Spaces(asked.graph))
        return replace(asked, graph=remembering(asked.graph))

    def beside(self) -> Iterator[tuple[str, Graph]]:
        """Return the chunks of further corpora, without edges of names or vectors."""
        for data in self._beside:
            path = self.graphs / f"{data.name}-chunks"
            if not path.exists():
                config = BuildConfig(names=False, similar=False)
                build_graph([data], path, options=BuildOptions(chunks="tokens", config=config))
            yield data.name, Graph.open(path)

    def woven(self, name: str, nodes: Sequence[Node], seen: Callable[[Node], Node]) -> Graph:
        """Return a graph of these nodes whose names and edges of names were found in them as `seen` shows them."""
        path = self.graphs / name
        if not path.exists():
            print(f"\n{name}: {weave(nodes, path, seen)}")
            graph = Graph.open(path)
            names = find_names([seen(node) for node in nodes], progress=silent)
            write = partial(write_names, graph, names)
            pieces.publish_piece(path, PIECE, write)
            embed_graph(graph, open_embedder("minilm"), cache=self.cache)
        return remembering(Graph.open(path))


PARTS: Mapping[str, Callable[[Bench], dict[str, Any]]] = {
    "main": main_part,
    "walk": walk_part,
    "open": open_part,
    "steps": steps_part,
    "titles": titles_part,
    "together": together_part,
    "quotations": quotations_part,
}


def main() -> None:
    """Measure the parts that are named; `main` where none is."""
    parser = command_line(__doc__, ("--cache", "--graphs", "--json"))
    parser.add_argument("data", nargs="+", metavar="DATA[=GRAPH]")
    parser.add_argument("--method", action="append", choices=[*BASES, *OWN])
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--beside", action="append", type=Path, default=[], metavar="DATA")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orienteer-") as folder:
        bench = Bench(options, Path(folder))
        written = {name: PARTS[name](bench) for name in options.part or ["main"]}
    write_json(options.json, written)


if __name__ == "__main__":
    main()
