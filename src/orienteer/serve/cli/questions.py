"""Commands that make questions: questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orienteer.display import counted, escape_json
from orienteer.errors import BadInput, UsageError
from orienteer.serve.cli.arguments import Directory, Types, file_trouble, open_graph, settings
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.llm import Allowance
    from orienteer.protocols import LanguageModel
    from orienteer.quizzes.generator import Generated
    from orienteer.quizzes.paraphrase import Paraphrased
    from orienteer.quizzes.questions import GeneratedQuestion

GROUPS: Mapping[str, str] = {}
STANDARD = Path("-")


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
    from orienteer.quizzes.file import as_lines
    from orienteer.quizzes.questions import generate_questions

    _check_target(out, target)
    budget = Budget(calls=budget_calls, tokens=budget_tokens, seconds=budget_seconds, usd=budget_usd)
    configured = settings().with_flags(base_url=base_url)
    talker = (
        None if model is None else configured.open_model(model)
    )  # what is wrong with a model is told before the work begins
    if talker is not None:
        budget.require_price(talker.name, getattr(talker, "price", None))
    graph = open_graph(directory, out)
    found = generate_questions(
        graph,
        count,
        random_seed=random_seed,
        patterns=patterns or (),
        answer_types=types or (),
        progress=out.progress,
    )
    made, said = found.items, None
    if talker is not None:
        said = _paraphrased(out, graph, made, talker, Allowance(budget, random_seed=random_seed, reserve=0))
        made = said.questions
    _write(out, target, as_lines(made))
    _tell(out, target, found, made, said)
    if said is not None and said.stopped is not None:
        raise said.stopped


def _check_target(out: Output, target: Path) -> None:
    if target == STANDARD:
        if out.as_json:
            raise UsageError("the questions and the JSON cannot both be standard output: name a file with -o")
        return
    if target.is_dir() or not target.absolute().parent.is_dir():
        what = "is a folder" if target.is_dir() else "lies in a folder that does not exist"
        raise BadInput(f"{target} {what}: name a file that can be written with -o")


def _paraphrased(
    out: Output, graph: Graph, made: Sequence[GeneratedQuestion], model: LanguageModel, run: Allowance
) -> Paraphrased:
    from orienteer.quizzes.paraphrase import paraphrase

    return paraphrase(graph, made, model=model, run=run, progress=out.progress)


def _write(out: Output, target: Path, lines: str) -> None:
    from orienteer.files import write_whole

    lines = escape_json(lines)  # the same bytes in a file and on a terminal, which they must not steer
    if target == STANDARD:
        for line in lines.splitlines():
            out.print(line)
        return
    with file_trouble("name a file that can be written with -o"):
        write_whole(target, lines)


def _tell(
    out: Output,
    target: Path,
    found: Generated[str, GeneratedQuestion],
    made: Sequence[GeneratedQuestion],
    said: Paraphrased | None,
) -> None:
    """Say how many there are, and why there are no more."""
    from orienteer.quizzes.checks import REASONS

    where = "" if target == STANDARD else f" in {target}"
    out.note(f"{counted(len(made), 'question')}{where}; {counted(found.rejected.total(), 'draft')} rejected")
    for reason, number in sorted(found.rejected.items(), key=lambda item: (-item[1], item[0])):
        out.note(f"  {number:,} {reason}: {REASONS[reason]}")
    if len(made) < found.asked:
        out.note(f"{found.asked} were asked for: the graph gives no more questions of {', '.join(found.exhausted)}")
    elif found.exhausted:
        out.note(f"no more questions were found of {', '.join(found.exhausted)}")
    for reason, number in sorted(said.kept_plain.items()) if said is not None else ():
        out.note(f"{counted(number, 'question')} not paraphrased: {reason}")
    if out.as_json:
        out.json(_summary(target, found, made, said))


def _summary(
    target: Path, found: Generated[str, GeneratedQuestion], made: Sequence[GeneratedQuestion], said: Paraphrased | None
) -> dict[str, Any]:  # Any: JSON
    def by(field: str) -> dict[str, int]:
        return dict(sorted(Counter(getattr(one, field) for one in made).items()))

    return {
        "questions": len(made),
        "asked": found.asked,
        "path": str(target),
        "patterns": by("pattern"),
        "difficulty": by("difficulty"),
        "node_types": by("node_type"),
        "rejected": dict(sorted(found.rejected.items())),
        "exhausted": list(found.exhausted),
        "paraphrased": sum(one.plain is not None for one in made),
        "kept_plain": dict(sorted(said.kept_plain.items())) if said is not None else {},
    }


COMMANDS = {"questions": (questions, "questions DIR -n 200 --random-seed 7 -o questions.jsonl")}
