"""Every method that needs no model on GRBench's biomedical questions, by template, as docs/reference/results.md has it.

    python benchmarks/templates.py GRAPH --data FOLDER [--work FOLDER] [--measure NAME]

GRAPH is Hetionet as `orienteer import` made it; where it has vectors, `dense`, `hybrid` and `text-rag` run too,
and `sage` starts from `hybrid`. A run that is there goes on where it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from orienteer.graph.store import Graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.examples import Example
from orienteer.lab.evaluation.running.runner import RunConfig, evaluate
from orienteer.lab.evaluation.running.runs import StoredRun, read_run
from orienteer.lab.evaluation.scores.table import Row, score_runs
from orienteer.methods.table import METHODS
from orienteer.settings import Settings
from report import markdown, page_options, write_page

WHERE = ("domain=biomedical", "edges_complete=true")
QUESTIONS = "grbench/grbench.jsonl.gz"
OVER_VECTORS = ("dense", "hybrid", "text-rag")
WAYS = "metaedges"


def run_of(graph: Graph, data: Path, work: Path, chosen: Sequence[str]) -> StoredRun:
    """Ask all questions under all methods."""
    path = work / ("with-vectors" if graph.arrays.searcher.has_vectors else "without-vectors")
    questions = read_questions(data / QUESTIONS, graph=graph)
    evaluate(graph, questions, chosen, path, config=RunConfig(where=WHERE), settings=Settings())
    return read_run(path)


def kind_of(example: Example) -> str:
    """Say what is asked for."""
    return example.gold.answer_type or ("set" if len(example.gold.nodes) > 1 else "entity")


def by_template(run: StoredRun, measure: str) -> list[str]:
    """Return a Markdown table: a row a template, a column a method; a dash where nothing can be ranked."""
    rows_by_template: dict[str, dict[str, Row]] = {}
    for row in score_runs([run], measures=[measure], by=["template"]):
        rows_by_template.setdefault(row.by["template"], {})[row.method] = row
    methods = list(run.manifest.methods)
    rows: list[list[str]] = []
    for template, rows_by_method in rows_by_template.items():
        own = [example for example in run.examples if str(example.fields["template"]) == template]
        kinds = ", ".join(sorted({kind_of(example) for example in own}))
        way = f"`{own[0].fields[WAYS]}`"
        rows.append([template, way, kinds, str(len(own)), *figures(rows_by_method, methods, measure)])
    whole = {row.method: row for row in score_runs([run], measures=[measure])}
    ranked = sum(bool(example.gold.nodes) for example in run.examples)
    rows.append(["all", "", "", str(ranked), *figures(whole, methods, measure)])
    rows.append(["ms p50", "", "", "", *(f"{whole[method].milliseconds['p50']:.0f}" for method in methods)])
    return markdown(["template", "way", "answers", "n", *(f"`{method}`" for method in methods)], rows)


def figures(rows_by_method: Mapping[str, Row], methods: Sequence[str], measure: str) -> list[str]:
    """Return the mean of each method, the best marked."""
    means = [rows_by_method[method].measures.get(measure) for method in methods]
    best = max((mean.mean for mean in means if mean is not None), default=0.0)
    texts = ("–" if mean is None else f"{mean.mean:.2f}" for mean in means)
    marks = ("**" if mean is not None and mean.mean == best > 0 else "" for mean in means)
    return [f"{mark}{text}{mark}" for text, mark in zip(texts, marks, strict=True)]


def main() -> None:
    parser = page_options(__doc__)
    parser.add_argument("graph", type=Path, metavar="GRAPH")
    parser.add_argument("--measure", default="MRR", metavar="NAME")
    options = parser.parse_args()
    graph = Graph.open(options.graph)
    free = [name for name, method in METHODS.items() if not method.needs_model]
    chosen = [name for name in free if graph.arrays.searcher.has_vectors or name not in OVER_VECTORS]
    write_page(options, lambda work: by_template(run_of(graph, options.data, work, chosen), options.measure))


if __name__ == "__main__":
    main()
