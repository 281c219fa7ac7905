"""Commands that measure: eval run, sweep, show, compare, report, judge."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.errors import BadOption, UsageError
from orienteer.lab.cli import figures
from orienteer.serve.cli.arguments import (
    STANDARD,
    BudgetFlags,
    Directory,
    K,
    MethodOptions,
    ModelFlags,
    RayAddress,
    check_writable,
    executor_at,
    file_trouble,
    open_graph,
)
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.lab.evaluation.running.runner import RunConfig
    from orienteer.lab.evaluation.running.runs import StoredRun


Questions = Annotated[Path, typer.Argument(metavar="QUESTIONS", help="A file of questions, or a data set's folder.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A folder that eval run -o wrote.")]
Runs = Annotated[list[Path], typer.Argument(metavar="RUN", help="A folder that eval run -o wrote.")]
Target = Annotated[
    Path, typer.Option("--output", "-o", metavar="RUN", help="The run's folder; an unfinished run there is continued.")
]
Methods = Annotated[
    list[str],
    typer.Option("--method", "-m", metavar="M", help="A method, optionally with options: 'ark agents=1'. Repeatable."),
]
Seed = Annotated[int, typer.Option("--random-seed", metavar="K", help="The seed of all random choices.")]
By = Annotated[str | None, typer.Option("--by", metavar="FIELD", help="Split by a field of the questions.")]
Fields = Annotated[
    list[str] | None, typer.Option("--by", metavar="FIELD", help="Split by a field of the questions. Repeatable.")
]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", metavar="NAME", help="Show this one, such as Recall@20 or nDCG@10. Repeatable."),
]
_BY_MEASURE = "The leading measure, such as Hit@1 or AllGold@5. Default: what the questions' gold calls for."
Leading = Annotated[str | None, typer.Option("--by-measure", metavar="NAME", help=_BY_MEASURE)]
ByMeasure = Annotated[str | None, typer.Option("--by-measure", "--measure", metavar="NAME", help=_BY_MEASURE)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFlags:
    """The flags that say which questions are asked, and how."""

    dataset: Annotated[
        str | None,
        typer.Option("--dataset", metavar="NAME", help="The data set of the questions, if it is not recognised."),
    ] = None
    split: Annotated[str | None, typer.Option("--split", metavar="S", help="The split of the data set.")] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="FIELD=VALUE", help="Ask questions whose field fits: = != < <= > >=. Repeatable."
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", metavar="N", help="Ask a random sample of N questions; a larger N includes the smaller sample."
        ),
    ] = None
    random_seed: Seed = 0
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-w", metavar="W", help="Questions at once. Default: 8 with a model, 1 without."),
    ] = None
    k: K = 20
    answers: Annotated[bool, typer.Option("--answers", help="Ask for answers, not only for rankings.")] = False
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask the questions again that failed in an earlier attempt.")
    ] = False
    ray: RayAddress = None

    def config(self) -> RunConfig:
        """Return the configuration of a run."""
        from orienteer.lab.evaluation.running.runner import RunConfig

        return RunConfig(
            k=self.k,
            random_seed=self.random_seed,
            split=self.split,
            where=tuple(self.where or ()),
            limit=self.limit,
            answers=self.answers,
            workers=self.workers,
            retry_failed=self.retry_failed,
        )


def run(
    out: Output,
    directory: Directory,
    questions: Questions,
    method: Methods,
    target: Target,
    *,
    model: ModelFlags,
    flags: RunFlags,
    set_options: MethodOptions = None,
    budget: BudgetFlags,
) -> int:
    """Ask every method every question and store the results; an interrupted run is continued."""
    from orienteer.options import pairs_of

    options = pairs_of(set_options or ())
    return _evaluate(out, directory, questions, method, target, options, model=model, flags=flags, budget=budget)


def sweep(
    out: Output,
    directory: Directory,
    questions: Questions,
    method: Methods,
    target: Target,
    set_options: Annotated[
        list[str], typer.Option("--set", metavar="NAME=V1,V2", help="An option and its values. Repeatable.")
    ],
    *,
    model: ModelFlags,
    flags: RunFlags,
    budget: BudgetFlags,
) -> int:
    """Ask a method every question with each combination of option values, as one run."""
    from orienteer.lab.evaluation.running.sweep import axes, grid

    methods = grid(method, axes(set_options))
    return _evaluate(out, directory, questions, methods, target, {}, model=model, flags=flags, budget=budget)


def show(
    out: Output,
    runs: Runs,
    by: Fields = None,
    measure: Measures = None,
    by_measure: Leading = None,
    published: Annotated[
        bool, typer.Option("--published", help="Add published figures of methods that need training.")
    ] = False,
) -> None:
    """Print a row for each method: every measure with its interval, n, milliseconds, work done, failed tool calls."""
    stored = _read_all(runs)
    _show(out, stored, by=by or (), measures=measure or (), by_measure=by_measure, published=published)


def compare(
    out: Output,
    runs: Runs,
    by_measure: ByMeasure = None,
    by: By = None,
    random_seed: Seed = 0,
) -> None:
    """Say whether the graph helped on these questions and by how much, then show the evidence."""
    from orienteer.lab.evaluation.scores.comparison import compare

    comparison = compare(_read_all(runs), measure=by_measure, by=by, random_seed=random_seed)
    for note in comparison.notes:
        out.note(f"note: {note}")
    if out.as_json:
        out.json(comparison)
    else:
        figures.print_comparison(out, comparison)


def report(
    out: Output,
    runs: Runs,
    target: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The page, such as report.html, or - for standard output."),
    ],
    by_measure: ByMeasure = None,
    graph: Annotated[
        Path | None,
        typer.Option("--graph", metavar="DIR", help="The graph, which tells the types and texts of gold nodes."),
    ] = None,
    random_seed: Seed = 0,
) -> None:
    """Write a report on runs as one HTML page: figures, plots, every question with its trajectory."""
    from orienteer.lab.evaluation.report.page import write_report

    check_writable(target)
    opened = open_graph(graph, out) if graph is not None else None
    stored = _read_all(runs)
    with tempfile.TemporaryDirectory() as folder, file_trouble("name a file that can be written with -o"):
        page = Path(folder) / "report.html" if target == STANDARD else target
        write_report(stored, page, graph=opened, measure=by_measure, random_seed=random_seed)
        if target == STANDARD:
            out.print(page.read_text(encoding="utf-8"))
            return
    if out.as_json:
        out.json({"page": str(target), "bytes": target.stat().st_size})
    else:
        out.note(f"{target}, {target.stat().st_size / 1e6:.1f} MB: open it in a browser")


def judge(
    out: Output,
    path: RunFolder,
    *,
    model: ModelFlags,
    score: Annotated[
        list[str] | None, typer.Option("--score", metavar="NAME", help="A-Score, E-Score, QwenScore. Repeatable.")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option("--graph", metavar="DIR", help="The graph, whose gold nodes the E-Score reads.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", "-w", metavar="W", min=1, help="Answers at once.")] = 8,
) -> None:
    """Let a model judge the answers of a run; no answer is judged twice."""
    from orienteer.lab.evaluation.scores.judge import SCORES, carries_evidence, gold_evidence, judge_run

    run = _read(path)
    has_evidence = graph is not None or carries_evidence(run)
    scores = score or [name for name in SCORES if name != "E-Score" or has_evidence]
    if "E-Score" in scores and not has_evidence:
        raise UsageError("the E-Score reads the gold nodes: name the graph with --graph, or leave the E-Score out")
    configured = model.settings()
    if configured.model is None:
        raise BadOption("no judge is named: add --model NAME, or set ORIENTEER_MODEL")
    opened = configured.with_flags(server={"concurrency": workers, **configured.server}).open_model()
    evidence = gold_evidence(open_graph(graph, out)) if graph is not None else None
    counter = figures.JudgementCounter(out)
    with _resumption_told(out, path), file_trouble("check the path and its permissions"):
        judge_run(run, opened, scores=scores, evidence=evidence, workers=workers, listener=counter)
    counter.end()
    _show(out, [run])


def _evaluate(
    out: Output,
    directory: Path,
    questions: Path,
    methods: Sequence[str],
    target: Path,
    options: Mapping[str, str],
    *,
    model: ModelFlags,
    flags: RunFlags,
    budget: BudgetFlags,
) -> int:
    """Run, show the table, and return 1 where every question failed."""
    from orienteer.lab.evaluation.datasets import read_questions
    from orienteer.lab.evaluation.running.runner import evaluate
    from orienteer.lab.evaluation.running.selection import notes_on, select

    configured, config = model.settings(), flags.config()
    limits = budget.limits(configured)
    graph = open_graph(directory, out)
    with file_trouble("check the path and its permissions"):
        question_set = read_questions(questions, dataset=flags.dataset, split=config.split, graph=graph)
    examples = select(question_set.examples, where=config.where, limit=config.limit, random_seed=config.random_seed)
    notes = notes_on(question_set, examples, graph)  # before anything is paid
    for note in notes:
        out.note(f"note: {note}")
    with (
        _resumption_told(out, target),
        file_trouble("check the path, its permissions and the space left"),
        executor_at(flags.ray, configured) as executor,
    ):
        progress = evaluate(
            graph,
            question_set,
            methods,
            target,
            config=config,
            options=options,
            budget=limits,
            settings=configured,
            progress=figures.Ticker(out),
            executor=executor,
        )
    out.note(f"{progress.done:,} of {progress.total:,} results in {target}: {figures.progress_line(progress)}")
    _show(out, [_read(target)], shown=notes)
    return int(progress.failed == progress.total)


def _show(
    out: Output,
    runs: Sequence[StoredRun],
    *,
    by: Sequence[str] = (),
    measures: Sequence[str] = (),
    by_measure: str | None = None,
    published: bool = False,
    shown: Sequence[str] = (),
) -> None:
    """Print the table, and all notes on it that were not shown before."""
    from orienteer.lab.evaluation.scores.published import published_rows
    from orienteer.lab.evaluation.scores.scorer import cut_short
    from orienteer.lab.evaluation.scores.table import names_of, score_runs

    table = score_runs(runs, measures=measures, by_measure=by_measure, by=by)
    papers = [paper for run in runs for paper in published_rows(run.manifest)] if published else []
    papers = list({paper.model_dump_json(): paper for paper in papers}.values())
    if published and not papers:
        out.note("note: no published figures are known for these questions")
    for name, run in zip(names_of(runs), runs, strict=True):
        shown_measures = [measure for row in table if row.run == name for measure in row.measures]
        for note in [*run.manifest.notes, *cut_short(run, shown_measures)]:
            if note not in shown:
                out.note(f"note: {name}: {note}")
    for failure in figures.failures(runs):
        out.note(failure)
    for why in () if measures else figures.reasons(table):
        out.note(why)
    if out.as_json:
        out.json([*table, *papers])
    else:
        figures.print_table(out, table, papers)


def _read_all(paths: Sequence[Path]) -> list[StoredRun]:
    """Read runs; one that is named twice counts once."""
    return [_read(path) for path in {path.resolve(): path for path in paths}.values()]


def _read(path: Path) -> StoredRun:
    from orienteer.lab.evaluation.running.runs import read_run

    with file_trouble("check the path and its permissions"):
        return read_run(path)


@contextmanager
def _resumption_told(out: Output, path: Path) -> Iterator[None]:
    """If this is interrupted, say that nothing is lost and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        out.note(f"finished results stay in {path}: run the same command again to continue")
        raise


COMMANDS = {
    "eval run": (run, "eval run FOLDER questions.jsonl --method bm25 --method anchor -o RUN"),
    "eval sweep": (
        sweep,
        "eval sweep FOLDER questions.jsonl --method ark --set agents=1,3 --set max_steps=5,20 -o RUN",
    ),
    "eval show": (show, "eval show RUN --by level"),
    "eval compare": (compare, "eval compare RUN --by-measure Hit@1"),
    "eval report": (report, "eval report RUN -o report.html"),
    "eval judge": (judge, "eval judge RUN --model NAME"),
}
