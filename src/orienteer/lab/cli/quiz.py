"""Commands on questions made from a graph: questions, quiz, eval quiz."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from orienteer.display import counted, escape_json
from orienteer.errors import UsageError
from orienteer.serve.cli.arguments import (
    STANDARD,
    BaseUrl,
    Directory,
    Split,
    TotalBudgetFlags,
    Types,
    check_writable,
    file_trouble,
    open_graph,
    open_priced_model,
)
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.lab.evaluation.examples import Example, QuestionSet
    from orienteer.lab.evaluation.running.runs import StoredRun
    from orienteer.lab.quizzes.explore.exploration import ExploreConfig
    from orienteer.lab.quizzes.generator import Generated, Quiz
    from orienteer.lab.quizzes.kinds import QuizStatistics
    from orienteer.lab.quizzes.paraphrase import Paraphrased
    from orienteer.lab.quizzes.questions import GeneratedQuestion

    Questions: TypeAlias = Generated[str, GeneratedQuestion]

# The suffix of the folder with a model's episodes, after the name of the quiz.
EPISODES = ".episodes"
# The suffix of the file with a judge's verdicts, after the name of the quiz.
JUDGED = ".judged.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionFlags:
    """The flags that choose some of the questions that are there."""

    split: Split = None
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="FIELD=VALUE", help="Questions whose field fits: = != < <= > >=. Repeatable."),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", help="A random sample of N; a larger N includes the smaller sample."),
    ] = None
    random_seed: Annotated[
        int, typer.Option("--random-seed", metavar="K", min=0, help="The seed of all random choices.")
    ] = 0

    def of(self, run: StoredRun) -> StoredRun:
        """Return a run with only the chosen questions."""
        from orienteer.lab.evaluation.running.sweep import select

        is_part = self.split not in (None, run.manifest.split)  # what was asked of one split need not say so
        where = [*(self.where or ()), *([f"split={self.split}"] if is_part else [])]
        examples = select(run.examples, where=where, limit=self.limit, random_seed=self.random_seed)
        ids = {example.question.id for example in examples}
        return replace(run, examples=examples, lines=tuple(line for line in run.lines if line.id in ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFlags(SelectionFlags):
    """The flags that choose questions of a file or a data set."""

    dataset: Annotated[
        str | None,
        typer.Option("--dataset", metavar="NAME", help="The data set of the questions, if it is not recognised."),
    ] = None

    def read(self, path: Path, graph: Graph | None) -> tuple[QuestionSet, tuple[Example, ...]]:
        """Return the questions at a path, and those of them that are chosen."""
        from orienteer.lab.evaluation.datasets import read_questions
        from orienteer.lab.evaluation.running.sweep import select

        with file_trouble("check the path and its permissions"):
            found = read_questions(path, dataset=self.dataset, split=self.split, graph=graph)
        where = self.where or ()
        return found, select(found.examples, where=where, limit=self.limit, random_seed=self.random_seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizFlags:
    """The flags for the number of questions, and for their nodes."""

    count: Annotated[int, typer.Option("--number", "-n", metavar="N", min=1, help="Maximum number of questions.")] = 100
    avoid: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Use no nodes of these questions, such as a data set's --split.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerFlags:
    """The flags of a model that writes a quiz."""

    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="A model that explores the graph and writes the questions.")
    ] = None
    base_url: BaseUrl = None
    quizzer: Annotated[
        Literal["model", "random-walk"], typer.Option(help="How the model works: with tools, or from a random walk.")
    ] = "model"
    tier: Annotated[Literal["auto", "monty", "cpython"], typer.Option(help="The sandbox of the model's code.")] = "auto"
    workers: Annotated[int, typer.Option("--workers", "-w", metavar="W", min=1, help="Explorations at once.")] = 8

    def config(self) -> ExploreConfig:
        """Return the configuration of the exploration."""
        from orienteer.lab.quizzes.explore.exploration import ExploreConfig

        return ExploreConfig(quizzer=self.quizzer, tier=self.tier, workers=self.workers)


def questions(
    out: Output,
    directory: Directory,
    target: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The file of questions, or - for standard output.")
    ],
    count: Annotated[
        int, typer.Option("--number", "-n", metavar="N", min=1, help="Maximum number of questions.")
    ] = 200,
    random_seed: Annotated[int, typer.Option(metavar="K", min=0, help="The same seed gives the same file.")] = 0,
    patterns: Annotated[
        list[str] | None,
        typer.Option("--pattern", metavar="P", help="Only make questions of this pattern. Repeatable."),
    ] = None,
    types: Types = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="A model that rephrases the questions.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="The server's address, ending in /v1.")] = None,
    *,
    budget: TotalBudgetFlags,
) -> None:
    """Generate questions with complete gold answers from a graph; no model is used unless named here."""
    from orienteer.lab.quizzes.paraphrase import paraphrase
    from orienteer.lab.quizzes.questions import generate_questions
    from orienteer.llm import Allowance

    if target != STANDARD:
        check_writable(target)
    elif out.as_json:
        raise UsageError("the questions and the JSON cannot both be standard output: name a file with -o")
    limits = budget.limits()
    # An error in the model is reported before the work begins.
    opened = None if model is None else open_priced_model(model, base_url, None, limits)
    graph = open_graph(directory, out)
    generated = generate_questions(
        graph,
        count,
        random_seed=random_seed,
        patterns=patterns or (),
        answer_types=types or (),
        progress=out.progress,
    )
    paraphrased = None
    if opened is not None:
        run = Allowance(limits, random_seed=random_seed, reserve=0)
        paraphrased = paraphrase(graph, generated.items, model=opened, run=run, progress=out.progress)
        generated = replace(generated, items=paraphrased.questions)
    _write(out, target, generated)
    _report_questions(out, target, generated, paraphrased)
    if paraphrased is not None and paraphrased.stopped is not None:
        raise paraphrased.stopped


def quiz(
    out: Output,
    directory: Directory,
    target: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file of questions.")],
    *,
    flags: QuizFlags,
    avoided: QuestionFlags,
    explorer: ExplorerFlags,
    budget: TotalBudgetFlags,
) -> None:
    """Generate questions balanced by answer type, pattern and difficulty, each proved by a query."""
    from orienteer.cypher.session import Cypher
    from orienteer.lab.quizzes.quiz import generate_quiz, nodes_of

    if target == STANDARD:
        raise UsageError(
            "a quiz cannot go to standard output, since more files are written next to it: name a file with -o"
        )
    check_writable(target)
    if explorer.model is None and (explorer, budget) != (ExplorerFlags(), TotalBudgetFlags()):
        raise UsageError(
            "--base-url, --quizzer, --tier, --workers and --budget-... need a model: name one with --model"
        )
    if flags.avoid is None and avoided != QuestionFlags(random_seed=avoided.random_seed):
        raise UsageError("--dataset, --split, --where and --limit are of questions to avoid: name these with --avoid")
    limits = budget.limits()
    # An error in the model, or a missing extra, is reported before the work begins.
    model = None
    if explorer.model is not None:
        model = open_priced_model(explorer.model, explorer.base_url, explorer.workers, limits)
    graph = open_graph(directory, out)
    _ = Cypher(graph)
    avoid = frozenset[str]() if flags.avoid is None else nodes_of(graph, avoided.read(flags.avoid, graph)[1])
    seed = avoided.random_seed
    if model is None:
        generated = generate_quiz(graph, flags.count, random_seed=seed, avoid=avoid, progress=out.progress)
    else:
        from orienteer.lab.quizzes.explore.exploration import explore
        from orienteer.llm import Allowance

        with file_trouble("what was done is written next to the quiz: name another file with -o"):
            generated = explore(
                graph,
                flags.count,
                model=model,
                run=Allowance(limits, random_seed=seed, reserve=0),
                random_seed=seed,
                avoid=avoid,
                progress=out.progress,
                config=explorer.config(),
                folder=target.with_name(target.name + EPISODES),
            )
    if generated.stopped is not None and not generated.items:
        raise generated.stopped  # and leave a quiz that is there already
    _write(out, target, generated)
    _report_quiz(out, target, generated, "the graph gives" if model is None else "the model handed in")
    if generated.stopped is not None:
        raise generated.stopped


def _write(out: Output, target: Path, generated: Quiz | Questions) -> None:
    from orienteer.files import write_whole
    from orienteer.lab.quizzes.quiz import as_lines

    # The same bytes go to a file and to a terminal, which they must not steer.
    lines = escape_json(as_lines(generated.items))
    if target == STANDARD:
        for line in lines.splitlines():
            out.print(line)
        return
    with file_trouble("name a file that can be written with -o"):
        write_whole(target, lines)


def _report_questions(out: Output, target: Path, generated: Questions, paraphrased: Paraphrased | None) -> None:
    """Print the number of questions, and why there are no more."""
    _report_counts(out, target, generated)
    names = ", ".join(generated.exhausted)
    if len(generated.items) < generated.asked:
        out.note(f"{generated.asked} were asked for: the graph gives no more questions of {names}")
    elif generated.exhausted:
        out.note(f"no more questions were found of {names}")
    kept_plain = dict(sorted(paraphrased.kept_plain.items())) if paraphrased is not None else {}
    for reason, number in kept_plain.items():
        out.note(f"{counted(number, 'question')} not paraphrased: {reason}")
    more = {
        "rejected": dict(sorted(generated.rejected.items())),
        "exhausted": list(generated.exhausted),
        "paraphrased": sum(question.plain is not None for question in generated.items),
        "kept_plain": kept_plain,
    }
    fields = {"patterns": "pattern", "difficulty": "difficulty", "node_types": "node_type"}
    _report_json(out, target, generated, fields, more)


def _report_quiz(out: Output, target: Path, generated: Quiz, giver: str) -> None:
    """Print the numbers of questions, and why there are no more; `giver` is the source that gave no more."""
    from orienteer.lab.quizzes.quiz import balance

    # Of each answer type, and of booleans how many are true.
    plurals = {"boolean": "booleans", "entity": "entities", "number": "numbers", "set": "sets"}
    shares = []
    for name, number in _count_by(generated.items, "answer_type").items():
        true = sum(item.answers == ("True",) for item in generated.items if item.answer_type == name)
        shares.append(
            f"{number} {name if number == 1 else plurals[name]}{f' ({true} true)' if name == 'boolean' else ''}"
        )
    cells = len({item.cell for item in generated.items})
    _report_counts(out, target, generated, f"{counted(cells, 'place')} of the grid; {', '.join(shares)}")
    exhausted = [" ".join(cell) for cell in generated.exhausted]
    if exhausted:
        out.note(f"no more questions were found of {', '.join(exhausted)}")
    if len(generated.items) < generated.asked and generated.stopped is None:
        out.note(f"{generated.asked} were asked for: {giver} no more that can be kept")
    cell_counts = {" ".join(cell): number for cell, number in balance(generated.items).items()}
    fields = {"answer_types": "answer_type", "patterns": "pattern", "difficulty": "difficulty"}
    rejected = dict(sorted(generated.rejected.items()))
    _report_json(out, target, generated, fields, {"cells": cell_counts, "rejected": rejected, "exhausted": exhausted})


def _report_counts(out: Output, target: Path, generated: Quiz | Questions, shares: str = "") -> None:
    """Print the number of questions, their kinds, and why drafts were rejected."""
    from orienteer.lab.quizzes.proof import REASONS

    place = "" if target == STANDARD else f" in {target}"
    rejected = counted(generated.rejected.total(), "draft")
    out.note(f"{counted(len(generated.items), 'question')}{place}; {rejected} rejected")
    if generated.items and shares:
        out.note(shares)
    for reason, number in sorted(generated.rejected.items(), key=lambda item: (-item[1], item[0])):
        out.note(f"  {number:,} {reason}: {REASONS.get(reason, 'no item')}")


def _report_json(
    out: Output, target: Path, generated: Quiz | Questions, fields: dict[str, str], more: dict[str, Any]
) -> None:  # Any: JSON
    """With --json, print the facts of both commands, the questions by these fields, and the facts of one."""
    if out.as_json:
        counts = {name: _count_by(generated.items, field) for name, field in fields.items()}
        facts = {"questions": len(generated.items), "asked": generated.asked, "path": str(target)}
        out.json({**facts, **counts, **more})


def _count_by(items: Sequence[object], field: str) -> dict[str, int]:
    return dict(sorted(Counter(getattr(item, field) for item in items).items()))


def show_quiz(
    out: Output,
    path: Annotated[Path, typer.Argument(metavar="QUIZ", help="A file that quiz -o wrote.")],
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="A model that judges the kind of each question.")
    ] = None,
    base_url: BaseUrl = None,
    workers: Annotated[int, typer.Option("--workers", "-w", metavar="W", min=1, help="Questions at once.")] = 8,
    *,
    budget: TotalBudgetFlags,
) -> None:
    """Describe a quiz: the kinds of its questions, as assigned or as judged by a model; lengths; clues."""
    from orienteer.lab.quizzes.kinds import sort_questions, statistics_of
    from orienteer.lab.quizzes.quiz import read_quiz
    from orienteer.llm import Allowance

    items = read_quiz(path)
    if model is None:
        _print_statistics(out, statistics_of(items))
        return
    limits = budget.limits()
    judge = open_priced_model(model, base_url, workers, limits)
    with file_trouble("check the path and its permissions"):
        sorting = sort_questions(
            items,
            judge,
            Allowance(limits, reserve=0),
            file=path.with_name(path.name + JUDGED),
            workers=workers,
            progress=out.progress,
        )
    _print_statistics(out, statistics_of(items, sorting.verdicts))
    if sorting.unread:
        out.note(f"{counted(sorting.unread, 'question')} left out: the judge's replies on them could not be read")
    if sorting.stopped is not None:
        raise sorting.stopped


def _print_statistics(out: Output, statistics: QuizStatistics) -> None:
    if out.as_json:
        out.json(statistics)
        return
    by = (
        f"judged by {statistics.judge}: {statistics.judged} of {statistics.items}"
        if statistics.judged
        else "as assigned"
    )
    out.print(f"{counted(statistics.items, 'question')}, kinds {by}")
    for name, axis in statistics.axes.items():
        out.print()
        heading = name.replace("_", " ")
        if axis.judged is None:
            out.table([(kind, _percent(share)) for kind, share in axis.assigned.items()], header=(heading, "assigned"))
            continue
        rows = [(kind, _percent(share), _percent(axis.judged[kind])) for kind, share in axis.assigned.items()]
        out.table(rows, header=(heading, "assigned", "judged"))
        kappa = "not defined" if axis.kappa is None else f"{axis.kappa:.2f}"
        out.print(f"agreement {_percent(axis.agreement or 0.0)}, Cohen's kappa {kappa}")
    out.print()
    spreads = {"question tokens": statistics.question_tokens, "clue nodes": statistics.clue_nodes}
    header = ("", "least", "quarter", "median", "three quarters", "most", "mean")
    lines = []
    for name, spread in spreads.items():
        if spread is not None:
            middle = (f"{value:g}" for value in (spread.quarter, spread.median, spread.three_quarters))
            lines.append((name, str(spread.least), *middle, str(spread.most), f"{spread.mean:.1f}"))
    out.table(lines, header=header)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


COMMANDS = {
    "questions": (questions, "questions DIR -n 200 --random-seed 7 -o questions.jsonl"),
    "quiz": (quiz, "quiz DIR -n 100 -o quiz.jsonl"),
    "eval quiz": (show_quiz, "eval quiz quiz.jsonl --model NAME"),
}
