"""The command that says what a quiz is made of: eval quiz."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orienteer.display import counted
from orienteer.serve.cli.arguments import TotalBudgetFlags, file_trouble, settings
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.evaluation.quiz_item import QuizItem
    from orienteer.llm.budget import Budget
    from orienteer.quizzes.kinds import Axis, Distribution, QuizStatistics, Sorting

GROUPS: Mapping[str, str] = {}
JUDGED = ".judged.jsonl"
"""What the name of a quiz is followed by in that of its judge's verdicts."""


def quiz(
    out: Output,
    path: Annotated[Path, typer.Argument(metavar="QUIZ", help="What quiz -o wrote.")],
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="A model that judges of what kind each question is.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="The server's address, ending in /v1.")] = None,
    workers: Annotated[int, typer.Option("--workers", "-w", metavar="W", min=1, help="Questions at once.")] = 8,
    *,
    budget: TotalBudgetFlags,
) -> None:
    """Say what a quiz is made of: kinds, as assigned or as a model judges by the question alone; lengths; clues."""
    from orienteer.quizzes.file import read_quiz
    from orienteer.quizzes.kinds import statistics_of

    items = read_quiz(path)
    sorting = None if model is None else _judged(out, items, path, model, base_url, workers, budget.limits())
    _show(out, statistics_of(items, sorting.verdicts if sorting is not None else ()))
    if sorting is not None and sorting.unread:
        out.note(f"{counted(sorting.unread, 'question')} left out: what the judge said of them is no verdict")
    if sorting is not None and sorting.stopped is not None:
        raise sorting.stopped


def _judged(
    out: Output,
    items: Sequence[QuizItem],
    path: Path,
    model: str,
    base_url: str | None,
    workers: int,
    budget: Budget,
) -> Sorting:
    from orienteer.llm import Allowance
    from orienteer.quizzes.kinds import sort_questions

    configured = settings().with_flags(base_url=base_url)
    places = {"concurrency": workers, **configured.server}
    judge = configured.with_flags(server=places).open_model(model)
    budget.require_price(judge.name, judge.price)
    with file_trouble("check the path and its permissions"):
        return sort_questions(
            items,
            judge,
            Allowance(budget, reserve=0),
            file=path.with_name(path.name + JUDGED),
            workers=workers,
            progress=out.progress,
        )


def _show(out: Output, figures: QuizStatistics) -> None:
    if out.as_json:
        out.json(figures)
        return
    by = f"judged by {figures.judge}: {figures.judged} of {figures.items}" if figures.judged else "as assigned"
    out.print(f"{counted(figures.items, 'question')}, kinds {by}")
    for name, axis in figures.axes.items():
        out.print()
        _show_axis(out, name.replace("_", " "), axis)
    out.print()
    spread = {"question tokens": figures.question_tokens, "clue nodes": figures.clue_nodes}
    header = ("", "least", "quarter", "median", "three quarters", "most", "mean")
    out.table([(name, *_spread(counts)) for name, counts in spread.items() if counts is not None], header=header)


def _show_axis(out: Output, name: str, axis: Axis) -> None:
    if axis.judged is None:
        out.table([(kind, _percent(share)) for kind, share in axis.assigned.items()], header=(name, "assigned"))
        return
    rows = [(kind, _percent(share), _percent(axis.judged[kind])) for kind, share in axis.assigned.items()]
    out.table(rows, header=(name, "assigned", "judged"))
    kappa = "not defined" if axis.kappa is None else f"{axis.kappa:.2f}"
    out.print(f"agreement {_percent(axis.agreement or 0.0)}, Cohen's kappa {kappa}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _spread(counts: Distribution) -> tuple[str, ...]:
    middle = (f"{value:g}" for value in (counts.quarter, counts.median, counts.three_quarters))
    return (str(counts.least), *middle, str(counts.most), f"{counts.mean:.1f}")


COMMANDS = {"eval quiz": (quiz, "eval quiz quiz.jsonl --model NAME")}
