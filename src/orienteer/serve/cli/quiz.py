"""Commands that make questions: questions, quiz."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from orienteer.cypher.session import Cypher
from orienteer.display import counted, escape_json
from orienteer.errors import BadInput, UsageError
from orienteer.serve.cli.arguments import Directory, TotalBudgetFlags, Types, file_trouble, open_graph, settings
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.llm import Budget
    from orienteer.protocols import LanguageModel
    from orienteer.quizzes.explore.exploration import ExploreConfig
    from orienteer.quizzes.generator import Generated, Quiz
    from orienteer.quizzes.paraphrase import Paraphrased
    from orienteer.quizzes.questions import GeneratedQuestion

    Questions: TypeAlias = Generated[str, GeneratedQuestion]

GROUPS: Mapping[str, str] = {}
STANDARD = Path("-")
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
        budget.require_price(opened.name, opened.price)
        return opened

    def config(self) -> ExploreConfig:
        """Return how the model writes a quiz."""
        from orienteer.quizzes.explore.exploration import ExploreConfig

        return ExploreConfig(quizzer=self.quizzer, tier=self.tier, workers=self.workers)


def questions(
    out: Output,
    directory: Directory,
    target: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The question file, or -.")],
    count: Annotated[int, typer.Option("--number", "-n", metavar="N", min=1, help="Questions at the most.")] = 200,
    random_seed: Annotated[int, typer.Option(metavar="K", min=0, help="The same seed gives the same file.")] = 0,
    patterns: Annotated[
        list[str] | None, typer.Option("--pattern", metavar="P", help="Questions of this pattern. Repeatable.")
    ] = None,
    types: Types = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="A model that puts them in other words.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="The server's address, ending in /v1.")] = None,
    budget_calls: Annotated[int | None, typer.Option(metavar="N", help="Model calls in all, at the most.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(metavar="N", help="Tokens in all, at the most.")] = None,
    budget_seconds: Annotated[float | None, typer.Option(metavar="S", help="Seconds in all, at the most.")] = None,
    budget_usd: Annotated[float | None, typer.Option(metavar="X", help="US dollars in all, at the most.")] = None,
) -> None:
    """Make questions with complete gold answers from a graph, without labels; a model only where one is named here."""
    from orienteer.llm import Allowance, Budget
    from orienteer.quizzes.paraphrase import paraphrase
    from orienteer.quizzes.questions import generate_questions

    if target != STANDARD:
        _check_target(target)
    elif out.as_json:
        raise UsageError("the questions and the JSON cannot both be standard output: name a file with -o")
    budget = Budget(calls=budget_calls, tokens=budget_tokens, seconds=budget_seconds, usd=budget_usd)
    configured = settings().with_flags(base_url=base_url)
    talker = None if model is None else configured.open_model(model)
    if talker is not None:  # what is wrong with a model is told before the work begins
        budget.require_price(talker.name, talker.price)
    graph = open_graph(directory, out)
    drawn = generate_questions(
        graph,
        count,
        random_seed=random_seed,
        patterns=patterns or (),
        answer_types=types or (),
        progress=out.progress,
    )
    paraphrased = None
    if talker is not None:
        run = Allowance(budget, random_seed=random_seed, reserve=0)
        paraphrased = paraphrase(graph, drawn.items, model=talker, run=run, progress=out.progress)
        drawn = replace(drawn, items=paraphrased.questions)
    _write(out, target, drawn)
    _tell_questions(out, target, drawn, paraphrased)
    if paraphrased is not None and paraphrased.stopped is not None:
        raise paraphrased.stopped


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

    if target == STANDARD:
        raise UsageError("a quiz is a file, for more is written beside it: name one with -o")
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
        generated = generate_quiz(graph, flags.count, random_seed=flags.random_seed, avoid=avoid, progress=out.progress)
    else:
        generated = _explored(out, graph, target, flags, avoid, model, limits, explorer.config())
    if generated.stopped is not None and not generated.items:
        raise generated.stopped  # a quiz that is there already is more than none
    _write(out, target, generated)
    _tell_quiz(out, target, generated, "the graph gives" if model is None else "the model handed in")
    if generated.stopped is not None:
        raise generated.stopped


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


def _check_target(target: Path) -> None:
    if target.is_dir() or not target.absolute().parent.is_dir():
        what = "is a folder" if target.is_dir() else "lies in a folder that does not exist"
        raise BadInput(f"{target} {what}: name a file that can be written with -o")


def _write(out: Output, target: Path, generated: Quiz | Questions) -> None:
    from orienteer.files import write_whole
    from orienteer.quizzes.file import as_lines

    # The same bytes in a file and on a terminal, which they must not steer.
    lines = escape_json(as_lines(generated.items))
    if target == STANDARD:
        for line in lines.splitlines():
            out.print(line)
        return
    with file_trouble("name a file that can be written with -o"):
        write_whole(target, lines)


def _tell_questions(out: Output, target: Path, generated: Questions, paraphrased: Paraphrased | None) -> None:
    """Say how many there are, and why there are no more."""
    _tell_numbers(out, target, generated)
    names = ", ".join(generated.exhausted)
    if len(generated.items) < generated.asked:
        out.note(f"{generated.asked} were asked for: the graph gives no more questions of {names}")
    elif generated.exhausted:
        out.note(f"no more questions were found of {names}")
    kept_plain = dict(sorted(paraphrased.kept_plain.items())) if paraphrased is not None else {}
    for reason, number in kept_plain.items():
        out.note(f"{counted(number, 'question')} not paraphrased: {reason}")
    if out.as_json:
        out.json(
            {
                **_summary(target, generated, patterns="pattern", difficulty="difficulty", node_types="node_type"),
                "rejected": dict(sorted(generated.rejected.items())),
                "exhausted": list(generated.exhausted),
                "paraphrased": sum(question.plain is not None for question in generated.items),
                "kept_plain": kept_plain,
            }
        )


def _tell_quiz(out: Output, target: Path, generated: Quiz, giver: str) -> None:
    """Say how many there are of what, and why there are no more: that is all that was given."""
    from orienteer.quizzes.quiz import balance

    cells = len({item.cell for item in generated.items})
    _tell_numbers(out, target, generated, f"{counted(cells, 'place')} of the grid; {', '.join(_shares(generated))}")
    exhausted = [" ".join(cell) for cell in generated.exhausted]
    if exhausted:
        out.note(f"no more questions were found of {', '.join(exhausted)}")
    if len(generated.items) < generated.asked and generated.stopped is None:
        out.note(f"{generated.asked} were asked for: {giver} no more that can be kept")
    if out.as_json:
        out.json(
            {
                **_summary(target, generated, answer_types="answer_type", patterns="pattern", difficulty="difficulty"),
                "cells": {" ".join(cell): number for cell, number in balance(generated.items).items()},
                "rejected": dict(sorted(generated.rejected.items())),
                "exhausted": exhausted,
            }
        )


def _tell_numbers(out: Output, target: Path, generated: Quiz | Questions, shares: str = "") -> None:
    """Say how many there are, what they are made of, and why drafts were rejected."""
    from orienteer.quizzes.checks import REASONS

    where = "" if target == STANDARD else f" in {target}"
    out.note(
        f"{counted(len(generated.items), 'question')}{where}; {counted(generated.rejected.total(), 'draft')} rejected"
    )
    if generated.items and shares:
        out.note(shares)
    for reason, number in sorted(generated.rejected.items(), key=lambda item: (-item[1], item[0])):
        out.note(f"  {number:,} {reason}: {REASONS.get(reason, 'no item')}")


def _shares(generated: Quiz) -> list[str]:
    """Return how many questions there are of each answer type, and how many booleans are true."""
    true = sum(item.answers == ("True",) for item in generated.items if item.answer_type == "boolean")
    plurals = {"boolean": "booleans", "entity": "entities", "number": "numbers", "set": "sets"}
    numbers = _by(generated.items, "answer_type")
    texts = {name: f"{number} {plurals[name] if number != 1 else name}" for name, number in numbers.items()}
    return [f"{text} ({true} true)" if name == "boolean" else text for name, text in texts.items()]


def _summary(target: Path, generated: Quiz | Questions, **fields: str) -> dict[str, Any]:  # Any: JSON
    """Return what the JSON of both commands begins with, the questions counted by some fields."""
    counts = {name: _by(generated.items, field) for name, field in fields.items()}
    return {"questions": len(generated.items), "asked": generated.asked, "path": str(target), **counts}


def _by(items: Sequence[object], field: str) -> dict[str, int]:
    return dict(sorted(Counter(getattr(item, field) for item in items).items()))


COMMANDS = {
    "questions": (questions, "questions DIR -n 200 --random-seed 7 -o questions.jsonl"),
    "quiz": (quiz, "quiz DIR -n 100 -o quiz.jsonl"),
}
