"""The command that makes the papers' tables and figures again: reproduce."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from orienteer.errors import UsageError
from orienteer.lab.cli.evaluation import Seed, resumable
from orienteer.page.svg import share
from orienteer.serve.cli.arguments import BudgetFlags, ModelFlags, file_trouble
from orienteer.serve.cli.output import Output


def reproduce(
    out: Output,
    row: Annotated[str | None, typer.Argument(metavar="ID", help="A table or a figure: ark:table1.")] = None,
    data: Annotated[list[Path] | None, typer.Argument(metavar="DATA", help="The data sets, as published.")] = None,
    target: Annotated[Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Graphs and runs.")] = None,
    is_listed: Annotated[
        bool, typer.Option("--list", help="Print all tables and figures with their commands.")
    ] = False,
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Ask N random questions of each set.")] = None,
    random_seed: Seed = 0,
    judge: Annotated[str | None, typer.Option(metavar="NAME", help="A judge at --base-url. Default: --model.")] = None,
    student: Annotated[str | None, typer.Option(metavar="NAME", help="A trained model at --base-url.")] = None,
    embedder: Annotated[str, typer.Option(metavar="NAME", help="minilm, openai:NAME, or an ONNX model.")] = "minilm",
    *,
    model: ModelFlags,
    budget: BudgetFlags,
) -> int:
    """Make a table or a figure of the papers again: data, methods, measures, the published figures beside ours."""
    from orienteer.lab.reproduce.figures import Reproduction
    from orienteer.lab.reproduce.rows import content, row_of
    from orienteer.llm.openai import OpenAIModel

    if is_listed:
        parts = {"id", "shows", "reason"}
        listed = [one.model_dump(include=parts) | {"command": one.command} for one in content().row]
        cells = [(one.id, one.command or f"none: {one.reason}") for one in content().row]
        out.show(listed, lambda: out.table(cells, header=("id", "command")))
        return 0
    if row is None or target is None:
        raise UsageError("name a table or figure, its data and -o: orienteer reproduce ark:table1 STARK -o FOLDER")
    asked, settings = row_of(row), model.settings()
    names = {"model": settings.model, "judge": judge or settings.model, "student": student}
    flags = {name: _flags(model=value, base_url=value and model.base_url) for name, value in names.items()}
    flags |= {"asked": _flags(limit=limit, random_seed=random_seed, **asdict(budget))}
    flags |= {"embedder": _flags(embedder=embedder), "quiz": f"{limit or 2000} {_flags(random_seed=random_seed)}"}
    makers = {name: value for name, value in {**names, "embedder": embedder}.items() if value and name in asked.takes}
    for name, value in makers.items():  # what cannot be opened is told before a graph is made
        opened = settings.open_embedder(value) if name == "embedder" else settings.open_model(value)
        if isinstance(opened, OpenAIModel) and not (target / "graphs").exists():
            opened.server.get(f"{opened.base_url.rstrip('/')}/models")  # any reply will do
    reproduction = Reproduction(asked, data or [], target, flags)
    with resumable(out, target), file_trouble("check the path, its permissions and the space left"):
        figures = reproduction.figures()
    ours: dict[str, dict[str, float]] = {}
    for (label, column), figure in figures.items():
        ours.setdefault(label, {})[column] = figure
    table = asked.published
    printed = table.figures if table else {}
    columns = list(dict.fromkeys([*(table.columns if table else ()), *(column for _, column in figures)]))
    facts = {"source": table.source if table else None, "columns": columns, "ours": ours, "published": printed}
    lines = [
        [label, *(_cell(ours.get(label, {}).get(name), printed.get(label, {}).get(name)) for name in columns)]
        for label in dict.fromkeys([*printed, *ours])
    ]
    failed = [one for one in reproduction.asked if one["failed"]]
    code = int(any(one["failed"] == one["n"] for one in failed))
    if out.as_json:
        of_ours = {"made_by": makers, "asked": reproduction.asked}
        out.json({**asked.model_dump(include={"id", "shows", "differs"}), **facts, **of_ours})
        return code
    out.print(f"{row}: {asked.shows}")
    out.table(lines, header=("", *columns))
    out.print(f"in brackets: {table.source}" if table else "the paper prints no figures")
    numbers = {f"n {one['part']}": f"{one['n']:,}" for one in reproduction.asked}
    if makers or numbers:
        out.print(f"ours: {', '.join(f'{name} {value}' for name, value in {**makers, **numbers}.items())}")
    for one in failed:
        out.print(f"failed: {one['line']}, {one['part']}: {one['failed']:,} of {one['n']:,}")
    if asked.differs:
        out.print(f"what differs: {asked.differs}")
    return code


def _flags(**values: object) -> str:
    """Write flags for a command line; those without a value are left out."""
    given = [(name.replace("_", "-"), str(value)) for name, value in values.items() if value is not None]
    return " ".join(f"--{name} {shlex.quote(value)}" for name, value in given)


def _cell(value: float | None, published: float | None = None) -> str:
    """Write a count in full, a share or a mark with three digits, a small setting as it is; `-` for none."""
    if published is not None:
        return f"{_cell(value)} ({_cell(published)})"
    if value is None:
        return "-"
    if isinstance(value, int) or (value == int(value) and abs(value) > 1):
        return f"{int(value):,}"
    return share(value) if abs(value) >= 0.001 or not value else f"{value:g}"


COMMANDS = {"reproduce": (reproduce, "reproduce ark:table1 STARK --model NAME -o FOLDER")}
