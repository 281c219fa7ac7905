"""Commands that measure: eval run, sweep, fuse, show, compare, report, judge."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from orienteer.display import counted
from orienteer.errors import BadInput, BadOption, UsageError
from orienteer.lab.cli.quiz import QuestionFlags, SelectionFlags
from orienteer.page.svg import figure, share
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
    from orienteer.lab.evaluation.running.runner import Progress, RunConfig
    from orienteer.lab.evaluation.running.runs import StoredRun
    from orienteer.lab.evaluation.scores.published import Published
    from orienteer.lab.evaluation.scores.table import Estimate, Row
    from orienteer.records import Usage


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
class RunFlags(QuestionFlags):
    """The flags that choose the questions, and how they are asked."""

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
    each: Annotated[
        str | None,
        typer.Option("--each", metavar="FIELD", help="DIR holds a graph for each value of this field: a run of each."),
    ] = None

    def config(self) -> RunConfig:
        """Return the configuration of a run."""
        from orienteer.lab.evaluation.running.runner import RunConfig

        values = {name: getattr(self, name) for name in RunConfig.model_fields}
        return RunConfig(**{**values, "where": tuple(self.where or ())})


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


def fuse(
    out: Output,
    path: RunFolder,
    target: Target,
    fusion: Annotated[
        str, typer.Option("--fusion", metavar="F1,F2", help="How lists become one: vote, order, random.")
    ] = "vote,order,random",
    agents: Annotated[
        str | None, typer.Option("--agents", metavar="N1,N2", help="Only the first N agents. Default: all.")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option("--graph", metavar="DIR", help="The graph, if it is not here or next to the run.")
    ] = None,
) -> None:
    """Fuse what the agents of a run selected in other ways, as a run of its own; no model is called."""
    from orienteer.lab.evaluation.running.fusing import fuse
    from orienteer.lab.evaluation.running.runs import graph_nearby
    from orienteer.lab.evaluation.running.sweep import axes

    [run] = _read(path)
    opened = open_graph(graph, out) if graph is not None else graph_nearby([run])
    if opened is None:
        raise UsageError(f"the graph {run.manifest.graph} of this run is not here: name it with --graph")
    values = axes([f"fusion={fusion}", *([f"agents={agents}"] if agents is not None else [])])
    numbers = count(1)
    with resumable(out, target), file_trouble("check the path, its permissions and the space left"):
        left_out = fuse(run, opened, target, values, lambda _: out.progress("results", next(numbers)))
    if left_out:
        out.note(f"left out: {', '.join(left_out)}")
    _show(out, _read(target))


def score(
    out: Output,
    questions: Questions,
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="Lines {id, answer}, or nodes, or hits, of each.")],
    target: Target,
    *,
    flags: QuestionFlags,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What the system is called in tables.")] = "given",
) -> None:
    """Store the answers of another system as a run, to be shown and compared like any other; no graph is needed."""
    from orienteer.lab.evaluation.running.given import store_answers
    from orienteer.lab.evaluation.running.runner import RunConfig

    found, examples = flags.read(questions, None)
    config = RunConfig(
        split=flags.split,
        where=tuple(flags.where or ()),
        limit=flags.limit,
        random_seed=flags.random_seed,
        answers=True,
    )
    with file_trouble("check the path, its permissions and the space left"):
        store_answers(answers, name, found, examples, target, config)
    _show(out, _read(target))


def show(
    out: Output,
    runs: Runs,
    by: Fields = None,
    measure: Measures = None,
    by_measure: Leading = None,
    published: Annotated[
        bool, typer.Option("--published", help="Add the published figures for these questions.")
    ] = False,
    is_together: Annotated[
        bool, typer.Option("--together", help="Take the runs as one: a row for each method over the questions of all.")
    ] = False,
) -> None:
    """Print a row for each method: every measure with its interval, n, milliseconds, work done, failed tool calls."""
    stored = _read(*runs)
    _show(
        out,
        stored,
        by=by or (),
        measures=measure or (),
        by_measure=by_measure,
        published=published,
        is_together=is_together,
    )


def compare(
    out: Output,
    runs: Runs,
    by_measure: ByMeasure = None,
    by: By = None,
    *,
    asked: SelectionFlags,
) -> None:
    """Say whether the graph helped on these questions and by how much, then show the evidence."""
    from orienteer.lab.evaluation.scores.comparison import compare

    some = [asked.of(run) for run in _read(*runs)]
    comparison = compare(some, measure=by_measure, by=by, random_seed=asked.random_seed)
    for note in comparison.notes:
        out.note(f"note: {note}")
    if out.as_json:
        out.json(comparison)
    else:
        out.print(comparison.verdict)
        out.print(comparison.why)
        out.print()
        beside = _keys(standing.beside for standing in comparison.standings)
        out.table(
            [
                [
                    standing.method,
                    standing.kind,
                    f"{share(standing.mean)} [{share(standing.low, 2)}, {share(standing.high, 2)}]",
                    *(_interval(standing.beside.get(name)) for name in beside),
                    _figure(standing.cost.milliseconds),
                    f"{standing.cost.calls:.3g}",
                    _usd(standing.cost.usd),
                ]
                for standing in comparison.standings
            ],
            header=("method", "kind", comparison.measure, *beside, "ms", "calls", "USD"),
        )
        for differences in filter(None, (comparison.pairs, comparison.groups)):
            out.print()
            fields = _keys(difference.by for difference in differences)
            lines = [
                [
                    *(difference.by.get(name, "-") for name in fields),
                    difference.ours,
                    difference.theirs,
                    f"{difference.n:,}",
                    f"{difference.points:+.1f} [{difference.low:+.1f}, {difference.high:+.1f}]",
                    f"{difference.p:.3f}" if difference.p >= 0.001 else "<.001",
                    f"{difference.better:,}",
                    f"{difference.worse:,}",
                ]
                for difference in differences
            ]
            out.table(lines, header=(*fields, "ours", "theirs", "n", "points", "p", "better", "worse"))


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
    stored = _read(*runs)
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
    from orienteer.records import Usage

    [run] = _read(path)
    has_evidence = graph is not None or carries_evidence(run)
    scores = score or [name for name in SCORES if name != "E-Score" or has_evidence]
    if "E-Score" in scores and not has_evidence:
        raise UsageError("the E-Score reads the gold nodes: name the graph with --graph, or leave the E-Score out")
    configured = model.settings()
    if configured.model is None:
        raise BadOption("no judge is named: add --model NAME, or set ORIENTEER_MODEL")
    opened = configured.with_flags(server={"concurrency": workers, **configured.server}).open_model()
    evidence = gold_evidence(open_graph(graph, out)) if graph is not None else None
    numbers = count(1)
    with resumable(out, path), file_trouble("check the path and its permissions"):
        verdicts = judge_run(
            run,
            opened,
            scores=scores,
            evidence=evidence,
            workers=workers,
            listener=lambda verdict: out.progress("verdicts", next(numbers)),
        )
    unread = sum(verdict.error is not None for verdict in verdicts)
    notes = [f"{unread:,} of them unreadable"] if unread else []
    usage = sum((verdict.usage for verdict in verdicts), Usage())
    out.note(", ".join([counted(len(verdicts), "new verdict"), *notes, *_costs(usage)]))
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
    """Run, on each graph, show the table, and return 1 if every question failed."""
    from orienteer.lab.evaluation.running.runner import evaluate
    from orienteer.lab.evaluation.running.sweep import notes_on

    configured = model.settings()
    limits = budget.limits(configured)
    parts = [(directory, flags, target)] if flags.each is None else list(_parts(directory, questions, target, flags))
    shown, answered = list[str](), 0
    # All graphs before the first is asked.
    for graph, asked, run in [(open_graph(place, out), asked, run) for place, asked, run in parts]:
        question_set, examples = asked.read(questions, graph)
        notes = notes_on(question_set, examples, graph)  # before anything is paid
        for note in notes:
            out.note(f"note: {note}")
        with (
            resumable(out, run),
            file_trouble("check the path, its permissions and the space left"),
            executor_at(flags.ray, configured) as executor,
        ):
            progress = evaluate(
                graph,
                question_set,
                methods,
                run,
                config=asked.config(),
                options=options,
                budget=limits,
                settings=configured,
                progress=Ticker(out),
                executor=executor,
            )
        out.note(f"{progress.done:,} of {progress.total:,} results in {run}: {progress_line(progress)}")
        shown, answered = [*shown, *notes], answered + progress.total - progress.failed
    _show(out, _read(*(run for _, _, run in parts)), shown=shown, is_together=flags.each is not None)
    return int(not answered)


def _parts(directory: Path, questions: Path, target: Path, flags: RunFlags) -> Iterator[tuple[Path, RunFlags, Path]]:
    """Yield the graph of each value of a field, with the flags for the questions about it, and their run."""
    field = flags.each or ""
    _, examples = replace(flags, limit=None).read(questions, None)  # which is of each graph
    if without := [one.question.id for one in examples if not isinstance(one.fields.get(field), str)]:
        raise BadOption(
            f"{field!r} is no text that names a graph in {counted(len(without), 'question')}, first in {without[0]!r}"
        )
    values = sorted({str(one.fields[field]) for one in examples})
    outside = {"", ".", ".."}  # an absolute path begins with an empty part
    if lost := [name for name in values if outside.intersection(name.split("/")) or not (directory / name).exists()]:
        raise BadInput(
            f"{directory} holds no graph {lost[0]!r}: add it, or leave it out with --where {field}!={lost[0]}"
        )
    for value in values:
        where = [*(flags.where or ()), f"{field}={value}"]
        yield directory / value, replace(flags, where=where), target / value.replace("/", "-")


def _show(
    out: Output,
    runs: Sequence[StoredRun],
    *,
    by: Sequence[str] = (),
    measures: Sequence[str] = (),
    by_measure: str | None = None,
    published: bool = False,
    is_together: bool = False,
    shown: Sequence[str] = (),
) -> None:
    """Print the table, and all notes on it that were not shown before."""
    from orienteer.lab.evaluation.scores.comparison import repeated, unlike
    from orienteer.lab.evaluation.scores.published import published_rows
    from orienteer.lab.evaluation.scores.scorer import cut_short
    from orienteer.lab.evaluation.scores.table import names_of, score_runs

    table = score_runs(runs, measures=measures, by_measure=by_measure, by=by, is_together=is_together)
    papers = [paper for run in runs for paper in published_rows(run.manifest)] if published else []
    papers = papers or list(published_rows(*(run.manifest for run in runs)) if published else ())
    papers = list({paper.model_dump_json(): paper for paper in papers}.values())
    if published and not papers:
        out.note("note: no published figures are known for these questions")
    for name, run in zip(names_of(runs), runs, strict=True):
        shown_measures = [measure for row in table if is_together or row.run == name for measure in row.measures]
        for note in [*run.manifest.notes, *cut_short(run, shown_measures)]:
            if note not in shown:
                out.note(f"note: {name}: {note}")
    of_all = [*unlike(runs), *repeated(runs)] if is_together else []
    for failure in [*(f"note: {note}" for note in of_all), *_failures(runs)]:
        out.note(failure)
    if not measures:
        # Which measure leads and why; run by run if the runs differ in that.
        whys = {row.run: row.why for row in table}
        same = len(set(whys.values())) == 1
        for why in [next(iter(whys.values()))] if same else [f"{run}: {why}" for run, why in whys.items()]:
            out.note(why)
    if out.as_json:
        out.json([*table, *papers])
    else:
        print_table(out, table, papers)


def _read(*paths: Path) -> list[StoredRun]:
    """Read runs; one that is named twice counts once."""
    from orienteer.lab.evaluation.running.runs import read_run

    with file_trouble("check the path and its permissions"):
        return [read_run(path) for path in {path.resolve(): path for path in paths}.values()]


@contextmanager
def resumable(out: Output, path: Path) -> Iterator[None]:
    """If this is interrupted, print that nothing is lost and how to continue."""
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
    "eval fuse": (fuse, "eval fuse RUN --fusion order,random -o FUSED"),
    "eval score": (score, "eval score exact answers.jsonl --split test -o theirs"),
    "eval show": (show, "eval show RUN --by level"),
    "eval compare": (compare, "eval compare RUN --by-measure Hit@1"),
    "eval report": (report, "eval report RUN -o report.html"),
    "eval judge": (judge, "eval judge RUN --model NAME"),
}


# Evaluations for people: tables of figures, and the progress of a run.


_ALWAYS = ("n", "failed", "unranked")
_WHERE_ANY = ("missing", "outside", "unjudged")
_MOST_FAILURES = 5  # failed questions of a method that are named
_TICK = 0.1  # seconds between two updates of a line that moves
_LINE = 30.0  # seconds between two lines where none moves
# A heading, and a cell for each row.
Column: TypeAlias = tuple[str, list[str]]


class Ticker:
    """Shows the progress of a run: a moving line on a terminal, elsewhere a line now and then."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._moves = sys.stderr.isatty()
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        """Show the progress, unless something was shown just now."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (_TICK if self._moves else _LINE)
        if not progress.asked:
            if progress.done:
                self._out.note(f"continuing: {progress.done:,} of {progress.total:,} results exist already")
            return
        line = f"{progress.done:,} of {progress.total:,}: {progress_line(progress)}"
        if self._moves:
            self._out.progress(line[: shutil.get_terminal_size().columns - 12], progress.done)
        else:
            self._out.note(line)


def progress_line(progress: Progress) -> str:
    """Return a line on the progress of a run and its cost so far."""
    parts = [f"{progress.failed:,} failed", *_costs(progress.usage)]
    if progress.asked and progress.seconds:
        parts.append(f"{progress.asked / progress.seconds:.3g} questions/s")
    return ", ".join(parts)


def _costs(usage: Usage) -> list[str]:
    """Return the calls, tokens and dollars; [] without calls."""
    if not usage.calls:
        return []
    usd = [f"{usage.usd:.4f} USD"] if usage.usd is not None else []
    return [f"{usage.calls:,} calls", f"{usage.tokens:,} tokens", *usd]


def _failures(runs: Iterable[StoredRun]) -> Iterator[str]:
    """Name the questions that failed, by run and method: the first ones, with the reason of the first."""
    from orienteer.lab.evaluation.scores.scorer import latest

    for run in runs:
        for method, lines in latest(run.lines).items():
            if failed := [line for line in lines if line.error is not None]:
                ids = ", ".join(repr(line.id) for line in failed[:_MOST_FAILURES])
                rest = len(failed) - _MOST_FAILURES
                more = f" and {rest:,} more (results.jsonl has all)" if rest > 0 else ""
                yield f"{run.path.name}: failed under {method}: {ids}{more}; the first with: {failed[0].error}"


def print_table(out: Output, rows: Sequence[Row], published: Sequence[Published] = ()) -> None:
    """Print a row for each method: its measures with their intervals, its times, the work it did."""

    # A narrow terminal has no room for times and work: they become a second table.
    blank = ["-"] * len(published)
    labels: list[Column] = [
        ("method", [*(row.method for row in rows), *(f"{one.method} (published, {_paper(one)})" for one in published)])
    ]
    if len({row.run for row in rows}) > 1:
        labels.insert(0, ("run", [*(row.run for row in rows), *blank]))
    labels += [(name, [*(row.by.get(name, "-") for row in rows), *blank]) for name in _keys(row.by for row in rows)]
    shown = [*_ALWAYS, *(name for name in _WHERE_ANY if any(getattr(row, name) for row in rows))]
    quality = [(name, [*(f"{getattr(row, name):,}" for row in rows), *blank]) for name in shown]
    estimates = [*(row.measures for row in rows), *(paper.measures for paper in published)]
    quality += [(name, [_interval(own.get(name)) for own in estimates]) for name in _keys(estimates)]
    work = [(f"ms {name}", [_figure(row.milliseconds.get(name)) for row in rows]) for name in ("p50", "p95")]
    for name in _keys(row.work for row in rows):
        if any(row.work.get(name) for row in rows):
            work.append((name.replace("_", " "), [_figure(row.work.get(name, 0)) for row in rows]))
    if any(row.tool_failures for row in rows):
        failed = [row.tool_failures for row in rows]
        work.append(("tool failures", ["-" if one is None else share(one) for one in failed]))
    if any(row.usage.usd for row in rows):
        work.append(("USD", [_usd(row.usage.usd) for row in rows]))  # of all questions together
    work = [(name, [*cells, *blank]) for name, cells in work]

    whole = [*labels, *quality, *work]
    width = sum(max(map(len, [name, *cells])) + 2 for name, cells in whole)
    is_fitting = not sys.stdout.isatty() or width <= shutil.get_terminal_size().columns
    for part in [whole] if is_fitting else [[*labels, *quality], [*labels, *work]]:
        out.table(list(zip(*(cells for _, cells in part), strict=True)), header=[name for name, _ in part])
        if not is_fitting:
            out.print()


def _paper(row: Published) -> str:
    return row.published.partition(",")[0].partition(" (")[0]


def _keys(mappings: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the keys of all mappings, each once, in order of appearance."""
    return list(dict.fromkeys(key for mapping in mappings for key in mapping))


def _interval(estimate: Estimate | None) -> str:
    """Write a mean and its interval: `.482 [.44, .52]`."""
    if estimate is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return share(estimate.mean)
    return f"{share(estimate.mean)} [{share(estimate.low, 2)}, {share(estimate.high, 2)}]"


def _figure(value: float | None) -> str:
    return "-" if value is None else figure(value)


def _usd(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
