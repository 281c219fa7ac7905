"""Run every method that needs no model on every development set, and print docs/results.md's tables.

    python benchmarks/results.py --data FOLDER [--work FOLDER] [--markdown FILE]

Each table stands under the commands that made it, with the hashes of its graph and its questions. Sets whose data is
absent are left out, said so. Graphs are made in the cache; runs that are there go on where they were.
"""

from __future__ import annotations

import io
import shlex
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from orienteer.evaluation.running.runs import read_run
from orienteer.evaluation.scores.table import Row, score_runs
from orienteer.serve.cli.app import main as orienteer
from report import command_line

METHODS = ("bm25", "anchor")
RANKING = ("Hit@1", "Hit@5", "Recall@20", "MRR")
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
    flags: tuple[str, ...] = field(default=())


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
        Experiment(f"Passages of {name}", name, name, measures=PASSAGES, by=by)
        for name, by in (("hotpotqa", "type"), ("2wikimultihopqa", "type"), ("musique", "hops"))
    ),
    Experiment("Passages and table segments of ottqa", "ottqa", "ottqa", measures=PASSAGES),
)


def command(*arguments: str) -> str:
    """Run a command of the product; return it as a person would type it."""
    code = orienteer(list(arguments))
    if code:
        sys.exit(f"orienteer {shlex.join(arguments)} ended with {code}")
    return f"orienteer {shlex.join(arguments)}"


def table(found: Sequence[Row], measures: Sequence[str], *, by: str | None) -> list[str]:
    """Return rows as a Markdown table."""
    names = [*([by] if by else []), "method", "n", *measures, *([] if by else ["ms p50 / p95"])]
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    for row in found:
        cells = [str(row.by.get(by, "-"))] if by else []
        cells += [row.method, str(row.n)]
        for name in measures:
            one = row.measures.get(name)
            cells.append(f"{one.mean:.3f} [{one.low:.2f}, {one.high:.2f}]" if one else "-")
        if not by:
            cells.append(f"{row.milliseconds['p50']:.1f} / {row.milliseconds['p95']:.1f}")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def section(one: Experiment, data: Path, work: Path) -> list[str]:
    """Run one experiment and return its part of the page."""
    graph, name = data / one.graph, one.name.lower().replace(" ", "-").replace(",", "").replace("'", "")
    shown = []
    if one.questions:
        questions = data / one.questions
    else:
        questions = work / f"{one.graph}-questions.jsonl"
        if not questions.exists():
            command("questions", str(graph), "-n", "200", "--random-seed", "7", "-o", str(questions), "--quiet")
        shown.append(f"orienteer questions {one.graph} -n 200 --random-seed 7 -o {questions.name}")
    run = work / name
    flags = [part for method in METHODS for part in ("--method", method)]
    flags += [part for condition in one.where for part in ("--where", condition)]
    command("eval", "run", str(graph), str(questions), *flags, *one.flags, "-o", str(run), "--quiet")
    asked = one.questions or questions.name
    shown.append(f"orienteer eval run {one.graph} {asked} {shlex.join([*flags, *one.flags])} -o RUN")
    stored = read_run(run)
    manifest = stored.manifest
    verdict = io.StringIO()
    with redirect_stdout(verdict):
        command("eval", "compare", str(run), "--quiet")
    lines = [f"## {one.name}", "```text", *(f"$ {line}" for line in shown), "```"]
    lines += [
        f"{manifest.nodes:,} nodes, {manifest.edges:,} edges; graph `{manifest.graph_sha256[:12]}`, "
        f"questions `{manifest.questions_sha256[:12]}`.",
        "",
        *table(score_runs([stored], measures=one.measures), one.measures, by=None),
        "",
        " ".join(verdict.getvalue().splitlines()[:2]),
    ]
    if one.by:
        lines += ["", *table(score_runs([stored], measures=one.measures, by=[one.by]), one.measures, by=one.by)]
    return [*lines, ""]


def main() -> None:
    parser = command_line(__doc__, ("--data",))
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keeps questions and runs; temporary by default")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        lines: list[str] = []
        for one in EXPERIMENTS:
            if not (options.data / one.graph).exists() or not (options.data / one.questions).exists():
                print(f"{one.name}: left out, no data", file=sys.stderr)
                continue
            part = section(one, options.data, work)
            print("\n".join(part), flush=True)
            lines += part
    if options.markdown:
        options.markdown.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
