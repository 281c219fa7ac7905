"""Commands that make quizzes: quiz."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orienteer.cypher.session import Cypher
from orienteer.display import counted, escape_json
from orienteer.errors import BadInput, UsageError
from orienteer.serve.cli.arguments import Directory, TotalBudgetFlags, file_trouble, open_graph, settings
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.llm import Budget
    from orienteer.protocols import LanguageModel
    from orienteer.quizzes.explore.exploration import ExploreConfig
    from orienteer.quizzes.generator import Quiz

GROUPS: Mapping[str, str] = {}
BESIDE = ".episodes"
"""What the folder of a model's episodes is called after the quiz's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizFlags:
    """The flags that say how many questions, and of what."""

    count: Annotated[int, typer.Option("--number", "-n", metavar="N", min=1, help="Questions at the most.")] = 100
    random_seed: Annotated[int, typer.Option(metavar="K", min=0, help="The same seed gives the same file.")] = 0
    avoid: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Questions whose nodes no question here may be made of.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerFlags:
    """The flags that name a model, and say how it goes about it."""

    model: Annotated[str | None, typer.Option(metavar="NAME", help="A model that explores and writes them.")] = None
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="The server's address, ending in /v1.")] = None
    quizzer: Annotated[
        Literal["model", "random-walk"], typer.Option(help="How the model goes about it: with tools, or from a walk.")
    ] = "model"
    tier: Annotated[Literal["auto", "monty", "cpython"], typer.Option(help="The sandbox of the model's code.")] = "auto"
    workers: Annotated[int, typer.Option("--workers", "-w", metavar="W", min=1, help="Explorations at once.")] = 8

    def open(self, budget: Budget) -> LanguageModel | None:
        """Return the model, None where none is named; what is wrong with it is told before the work begins."""
        if self.model is None:
            return None
        configured = settings().with_flags(base_url=self.base_url)
        places = {"concurrency": self.workers, **configured.server}
        opened = configured.with_flags(server=places).open_model(self.model)
        budget.require_price(opened.name, getattr(opened, "price", None))
        return opened

    def config(self) -> ExploreConfig:
        """Return how the model writes a quiz."""
        from orienteer.quizzes.explore.exploration import ExploreConfig

        return ExploreConfig(quizzer=self.quizzer, tier=self.tier, workers=self.workers)


def quiz(
    out: Output,
    directory: Directory,
    target: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file of questions.")],
    *,
    flags: QuizFlags,
    explorer: ExplorerFlags,
    budget: TotalBudgetFlags,
) -> None:
    """Make questions balanced by answer type, pattern and difficulty, each proved by a query that was run again."""
    from orienteer.quizzes.file import nodes_of
    from orienteer.quizzes.quiz import generate_quiz

    _check_target(target)
    if explorer.model is None and (explorer, budget) != (ExplorerFlags(), TotalBudgetFlags()):
        raise UsageError(
            "--base-url, --quizzer, --tier, --workers and --budget-... say how a model is used: name one with --model"
        )
    limits = budget.limits()
    model = explorer.open(limits)
    graph = open_graph(directory, out)
    _ = Cypher(graph)  # and so is an extra that is missing
    avoid = frozenset[str]() if flags.avoid is None else nodes_of(graph, flags.avoid)
    if model is None:
        made = generate_quiz(graph, flags.count, random_seed=flags.random_seed, avoid=avoid, progress=out.progress)
    else:
        made = _explored(out, graph, target, flags, avoid, model, limits, explorer.config())
    if made.stopped is not None and not made.items:
        raise made.stopped  # a quiz that is there already is more than none
    _write(target, made)
    _tell(out, target, made, "the graph gives" if model is None else "the model handed in")
    if made.stopped is not None:
        raise made.stopped


def _check_target(target: Path) -> None:
    if str(target) == "-":
        raise UsageError("a quiz is a file, for more is written beside it: name one with -o")
    if target.is_dir() or not target.absolute().parent.is_dir():
        what = "is a folder" if target.is_dir() else "lies in a folder that does not exist"
        raise BadInput(f"{target} {what}: name a file that can be written with -o")


def _explored(
    out: Output,
    graph: Graph,
    target: Path,
    flags: QuizFlags,
    avoid: frozenset[str],
    model: LanguageModel,
    budget: Budget,
    config: ExploreConfig,
) -> Quiz:
    from orienteer.llm import Allowance
    from orienteer.quizzes.explore.exploration import explore

    with file_trouble("what was done is written beside the quiz: name another file with -o"):
        return explore(
            graph,
            flags.count,
            model=model,
            run=Allowance(budget, random_seed=flags.random_seed, reserve=0),
            random_seed=flags.random_seed,
            avoid=avoid,
            progress=out.progress,
            config=config,
            folder=target.with_name(target.name + BESIDE),
        )


def _write(target: Path, made: Quiz) -> None:
    from orienteer.files import write_whole
    from orienteer.quizzes.file import as_lines

    with file_trouble("name a file that can be written with -o"):
        write_whole(target, escape_json(as_lines(made.items)))


def _tell(out: Output, target: Path, made: Quiz, giver: str) -> None:
    """Say how many there are of what, and why there are no more: that is all that was given."""
    from orienteer.quizzes.checks import REASONS

    cells = len({item.cell for item in made.items})
    out.note(f"{counted(len(made.items), 'question')} in {target}; {counted(made.rejected.total(), 'draft')} rejected")
    if made.items:
        out.note(f"{counted(cells, 'place')} of the grid; {', '.join(_shares(made))}")
    for reason, number in sorted(made.rejected.items(), key=lambda item: (-item[1], item[0])):
        out.note(f"  {number:,} {reason}: {REASONS.get(reason, 'no item')}")
    if made.exhausted:
        out.note(f"no more questions were found of {', '.join(map(' '.join, made.exhausted))}")
    if len(made.items) < made.asked and made.stopped is None:
        out.note(f"{made.asked} were asked for: {giver} no more that can be kept")
    if out.as_json:
        out.json(_summary(target, made))


def _shares(made: Quiz) -> list[str]:
    """Return how many questions there are of each answer type, and how many booleans are true."""
    true = sum(item.answers == ("True",) for item in made.items if item.answer_type == "boolean")
    plurals = {"boolean": "booleans", "entity": "entities", "number": "numbers", "set": "sets"}
    told = {
        name: f"{number} {plurals[name] if number != 1 else name}" for name, number in _by(made, "answer_type").items()
    }
    return [f"{text} ({true} true)" if name == "boolean" else text for name, text in told.items()]


def _summary(target: Path, made: Quiz) -> dict[str, Any]:  # Any: JSON
    from orienteer.quizzes.quiz import balance

    return {
        "questions": len(made.items),
        "asked": made.asked,
        "path": str(target),
        "answer_types": _by(made, "answer_type"),
        "patterns": _by(made, "pattern"),
        "difficulty": _by(made, "difficulty"),
        "cells": {" ".join(cell): number for cell, number in balance(made.items).items()},
        "rejected": dict(sorted(made.rejected.items())),
        "exhausted": [" ".join(cell) for cell in made.exhausted],
    }


def _by(made: Quiz, field: str) -> dict[str, int]:
    return dict(sorted(Counter(getattr(one, field) for one in made.items).items()))


COMMANDS = {"quiz": (quiz, "quiz DIR -n 100 -o quiz.jsonl")}
