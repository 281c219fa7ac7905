"""Every method that needs no model on GRBench's biomedical questions, by template, as docs/results.md has it.

    python benchmarks/templates.py GRAPH --data FOLDER [--work FOLDER] [--measure NAME]

GRAPH is Hetionet as `orienteer import` made it; where it has vectors, `dense`, `hybrid` and `text-rag` run too,
and `sage` starts from `hybrid`. A run that is there goes on where it was.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from orienteer.evaluation.datasets import load
from orienteer.evaluation.examples import Example
from orienteer.evaluation.running.runner import RunConfig, evaluate
from orienteer.evaluation.running.runs import StoredRun, read_run
from orienteer.evaluation.scores.table import Row, rows
from orienteer.graph.store import Graph
from orienteer.methods.table import METHODS
from orienteer.settings import Settings

WHERE = ("domain=biomedical", "edges_complete=true")
QUESTIONS = "grbench/grbench.jsonl.gz"
OVER_VECTORS = ("dense", "hybrid", "text-rag")
WAYS = "metaedges"


def run_of(graph: Graph, data: Path, work: Path, chosen: Sequence[str]) -> StoredRun:
    """Ask all questions under all methods."""
    path = work / ("with-vectors" if graph.searcher.has_vectors else "without-vectors")
    questions = load(data / QUESTIONS, graph=graph)
    evaluate(graph, questions, chosen, path, config=RunConfig(where=WHERE), settings=Settings())
    return read_run(path)


def kind_of(example: Example) -> str:
    """Say what is asked for."""
    return example.gold.answer_type or ("set" if len(example.gold.nodes) > 1 else "entity")


def by_template(run: StoredRun, measure: str) -> list[str]:
    """Return a Markdown table: a row a template, a column a method; a dash where nothing can be ranked."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows([run], measures=[measure], by=["template"]):
        found.setdefault(row.by["template"], {})[row.method] = row
    methods = list(run.manifest.methods)
    lines = ["| template | way | answers | n | " + " | ".join(f"`{one}`" for one in methods) + " |"]
    lines.append("|--:|---|---|--:|" + "--:|" * len(methods))
    for template, those in found.items():
        own = [one for one in run.examples if str(one.fields["template"]) == template]
        kinds = ", ".join(sorted({kind_of(one) for one in own}))
        cells = [template, f"`{own[0].fields[WAYS]}`", kinds, str(len(own)), *figures(those, methods, measure)]
        lines.append("| " + " | ".join(cells) + " |")
    whole = {row.method: row for row in rows([run], measures=[measure])}
    ranked = sum(bool(one.gold.nodes) for one in run.examples)
    lines.append(f"| all | | | {ranked} | " + " | ".join(figures(whole, methods, measure)) + " |")
    times = (f"{whole[one].milliseconds['p50']:.0f}" for one in methods)
    return [*lines, "| ms p50 | | | | " + " | ".join(times) + " |"]


def figures(those: Mapping[str, Row], methods: Sequence[str], measure: str) -> list[str]:
    """Return the mean of each method, the best marked."""
    means = [those[one].measures.get(measure) for one in methods]
    best = max((one.mean for one in means if one is not None), default=0.0)
    texts = ("–" if one is None else f"{one.mean:.2f}" for one in means)
    marks = ("**" if one is not None and one.mean == best > 0 else "" for one in means)
    return [f"{mark}{text}{mark}" for text, mark in zip(texts, marks, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path, metavar="GRAPH")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the folder of graphs and questions")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keeps the run; temporary by default")
    parser.add_argument("--measure", default="MRR", metavar="NAME")
    options = parser.parse_args()
    graph = Graph.open(options.graph)
    free = [name for name, method in METHODS.items() if not method.needs_model]
    chosen = [name for name in free if graph.searcher.has_vectors or name not in OVER_VECTORS]
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        run = run_of(graph, options.data, work, chosen)
        print("\n".join(by_template(run, options.measure)))


if __name__ == "__main__":
    main()
