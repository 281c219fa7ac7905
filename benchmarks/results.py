"""Run every method that needs no model on every development set, and print docs/reference/results.md's tables.

    python benchmarks/results.py --data FOLDER [--work FOLDER] [--markdown FILE]

Each table stands under the commands that made it, with the hashes of its graph and its questions. Sets whose data is
absent are left out, said so. Graphs are made in the cache; runs that are there go on where they were.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orienteer.lab.evaluation.running.runs import read_run
from orienteer.lab.evaluation.scores.table import Row, score_runs
from report import markdown, orienteer, page_options, write_page

METHODS = ("bm25", "anchor")
RANKING = ("Hit@1", "Hit@5", "Recall@20", "MRR")
OF_PASSAGES = (*METHODS, "hippo", "documents")
PASSAGES = ("Recall@5", "AllGold@5", "Recall@2", "Recall@10", "Recall@20")


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table: a graph, its questions, and how they are split."""

    name: str
    graph: str
    questions: str = ""
    """In the data folder; empty for questions that are generated from the graph."""
    where: tuple[str, ...] = ()
    measures: tuple[str, ...] = RANKING
    by: str | None = None
    methods: tuple[str, ...] = METHODS


EXPERIMENTS = (
    Experiment(
        "GRBench, biomedical, over Hetionet",
        "hetionet",
        "grbench/grbench.jsonl.gz",
        where=("domain=biomedical", "edges_complete=true"),
        by="level",
    ),
    Experiment(
        "STaRK's questions whose answers lie in a part of PrimeKG", "primekg_ibd", "primekg_ibd/stark_questions.parquet"
    ),
    *(
        Experiment(f"Generated questions over {name}", name, by="pattern")
        for name in ("debian_bookworm", "hetionet", "go_genes", "wordnet30")
    ),
    *(
        Experiment(f"Passages of {name}", name, name, measures=PASSAGES, by=by, methods=OF_PASSAGES)
        for name, by in (("hotpotqa", "type"), ("2wikimultihopqa", "type"), ("musique", "hops"))
    ),
    Experiment("Passages and table segments of ottqa", "ottqa", "ottqa", measures=PASSAGES, methods=OF_PASSAGES),
)


def table(found: Sequence[Row], measures: Sequence[str], *, by: str | None) -> list[str]:
    """Return rows as a Markdown table."""
    names = [*([by] if by else []), "method", "n", *measures, *([] if by else ["ms p50 / p95"])]
    rows = []
    for row in found:
        means = [row.measures.get(name) for name in measures]
        cells = [f"{mean.mean:.3f} [{mean.low:.2f}, {mean.high:.2f}]" if mean else "-" for mean in means]
        times = [] if by else [f"{row.milliseconds['p50']:.1f} / {row.milliseconds['p95']:.1f}"]
        rows.append([*([row.by.get(by, "-")] if by else []), row.method, row.n, *cells, *times])
    return markdown(names, rows)


def section(one: Experiment, data: Path, work: Path) -> list[str]:
    """Run one experiment and return its part of the page."""
    graph, name = data / one.graph, one.name.lower().replace(" ", "-").replace(",", "").replace("'", "")
    shown = []
    if one.questions:
        questions = data / one.questions
    else:
        questions = work / f"{one.graph}-questions.jsonl"
        if not questions.exists():
            orienteer("questions", graph, "-n", 200, "--random-seed", 7, "-o", questions, "--quiet")
        shown.append(f"orienteer questions {one.graph} -n 200 --random-seed 7 -o {questions.name}")
    run = work / name
    flags = [part for method in one.methods for part in ("--method", method)]
    flags += [part for condition in one.where for part in ("--where", condition)]
    orienteer("eval", "run", graph, questions, *flags, "-o", run, "--quiet")
    asked = one.questions or questions.name
    shown.append(f"orienteer eval run {one.graph} {asked} {shlex.join(flags)} -o RUN")
    stored = read_run(run)
    manifest = stored.manifest
    verdict = orienteer("eval", "compare", run, "--quiet")
    lines = [f"## {one.name}", "```text", *(f"$ {line}" for line in shown), "```"]
    lines += [
        f"{manifest.nodes:,} nodes, {manifest.edges:,} edges; graph `{manifest.graph_sha256[:12]}`, "
        f"questions `{manifest.questions_sha256[:12]}`.",
        "",
        *table(score_runs([stored], measures=one.measures), one.measures, by=None),
        "",
        " ".join(verdict.splitlines()[:2]),
    ]
    if one.by:
        lines += ["", *table(score_runs([stored], measures=one.measures, by=[one.by]), one.measures, by=one.by)]
    return [*lines, ""]


def main() -> None:
    options = page_options(__doc__).parse_args()

    def parts(work: Path) -> Iterator[str]:
        for one in EXPERIMENTS:
            if (options.data / one.graph).exists() and (options.data / one.questions).exists():
                yield from section(one, options.data, work)
            else:
                print(f"{one.name}: left out, no data", file=sys.stderr)

    write_page(options, parts)


if __name__ == "__main__":
    main()
