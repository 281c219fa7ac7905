"""The command that makes the papers' tables and figures again: reproduce."""

from __future__ import annotations

import shlex
import time
from dataclasses import fields
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
    data: Annotated[
        list[Path] | None, typer.Argument(metavar="DATA", help="The folders of the data sets, as they are published.")
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="For graphs and runs; unfinished ones are continued."),
    ] = None,
    is_listed: Annotated[
        bool, typer.Option("--list", help="Print all tables and figures with their commands.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", help="Ask a random sample of N questions of each set.")
    ] = None,
    random_seed: Seed = 0,
    judge: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model that judges answers. Default: --model.")
    ] = None,
    student: Annotated[str | None, typer.Option(metavar="NAME", help="A trained model, named as --model is.")] = None,
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="What embeds the graphs: minilm, openai:NAME, or an ONNX model.")
    ] = None,
    *,
    model: ModelFlags,
    budget: BudgetFlags,
) -> None:
    """Make a table or a figure of the papers again: data, methods, measures, the published figures beside ours."""
    from orienteer.lab.reproduce.figures import Reproduction
    from orienteer.lab.reproduce.rows import row_of, rows

    if is_listed:
        listed = [one.model_dump(include={"id", "shows", "reason"}) | {"command": one.command} for one in rows()]
        cells = [(one.id, one.command or f"none: {one.reason}") for one in rows()]
        out.show(listed, lambda: out.table(cells, header=("id", "command")))
        return
    if row is None or target is None:
        raise UsageError(
            "name a table or figure, its data and a folder: orienteer reproduce ark:table1 STARK -o FOLDER"
        )
    configured, started = model.settings(), time.monotonic()
    seed = {"random_seed": random_seed or None}
    asked: dict[str, object] = {"limit": limit, **seed}
    asked |= {one.name.replace("_", "-"): getattr(budget, one.name) for one in fields(budget)}
    names = {"model": configured.model, "judge": judge or configured.model, "student": student}
    flags = {name: _flags(model=value, base_url=model.base_url) for name, value in names.items() if value}
    flags |= {
        "asked": _flags(**asked),
        "embedder": _flags(embedder=embedder),
        "quiz": str(limit or 2000),
        "seed": _flags(**seed),
    }
    made = Reproduction(row_of(row), data or [], target, flags)
    with resumable(out, target), file_trouble("check the path, its permissions and the space left"):
        figures = made.figures()
    ours: dict[str, dict[str, float]] = {}
    for (label, column), value in figures.items():
        ours.setdefault(label, {})[column] = value
    table = made.row.published
    printed = {} if table is None else table.figures
    columns = list(dict.fromkeys([*(table.columns if table else ()), *(column for _, column in figures)]))
    source = table.source if table else None
    facts: dict[str, object] = {
        "id": row,
        "shows": made.row.shows,
        "columns": columns,
        "ours": ours,
        "published": printed,
    }
    facts |= {"source": source, "differs": made.row.differs, "calls": sum(made.calls)}

    def show() -> None:
        out.print(f"{row}: {made.row.shows}")
        lines = dict.fromkeys([*printed, *ours])
        cells = [
            [line, *(_cell(ours.get(line, {}).get(at), printed.get(line, {}).get(at)) for at in columns)]
            for line in lines
        ]
        out.table(cells, header=("", *columns))
        out.print(f"in brackets: {source}" if source else "the paper prints no figures")
        out.print(f"what differs: {made.row.differs or 'nothing that we know of'}")
        out.note(f"{time.monotonic() - started:,.1f} s; {sum(made.calls):,.0f} calls of the model by these runs in all")

    out.show(facts, show)


def _flags(**values: object) -> str:
    """Write flags for a command line; those without a value are left out."""
    given = {name.replace("_", "-"): value for name, value in values.items() if value is not None}
    return " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in given.items())


def _cell(ours: float | None, published: float | None) -> str:
    return " ".join(
        ["-" if ours is None else _figure(ours), *([] if published is None else [f"({_figure(published)})"])]
    )


def _figure(value: float) -> str:
    """Write a count in full, a share or a mark with three digits, a small setting as it is."""
    if value == int(value) and abs(value) > 1:
        return f"{int(value):,}"
    return share(value) if abs(value) >= 0.001 or not value else f"{value:g}"


COMMANDS = {"reproduce": (reproduce, "reproduce ark:table1 STARK --model NAME -o FOLDER")}
