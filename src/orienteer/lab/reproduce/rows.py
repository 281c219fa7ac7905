"""The papers' tables and figures with results, as rows.toml has them, which says what the fields mean."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from orienteer.errors import BadOption, nearest
from orienteer.lab.evaluation.scores.published import PublishedTable, published_tables
from orienteer.methods.table import method_of
from orienteer.records import Record

STUDENT = "student"  # the form of a method that is asked of --student, over the graph as it is


class DataSet(Record):
    """A data set that rows need."""

    name: str
    source: str
    licence: str
    instead: str
    parts: dict[str, tuple[dict[str, str], ...]]
    made: tuple[str, ...]
    joined: dict[str, tuple[str, ...]] = {}
    split: str | None = None


class Row(Record):
    """A table or a figure."""

    id: str
    shows: str
    kind: str = "runs"
    data: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    split: str | None = None
    forms: dict[str, str] = {}
    methods: dict[str, str] = {}
    measures: tuple[str, ...] = ()
    by: str = ""
    by_part: bool = False
    averaged: bool = False
    answers: bool = False
    k: int = 20
    embedded: bool = False
    steps: tuple[str, ...] = ()
    figure: str = ""
    before: str = ""
    differs: str = ""
    ours: str = ""
    reason: str | None = None

    @property
    def takes(self) -> tuple[str, ...]:
        """Which of `model`, `judge`, `student` and `embedder` it needs, in a step, for a graph or to ask."""
        texts = self.methods.values() if self.kind == "runs" else ()
        used = {*self.forms.values(), *(text.partition("@")[2] for text in texts)}
        steps = " ".join([*self.steps, *(step for form in used for step in content().form.get(form, ()))])
        is_taken = {
            "model": self.answers or "{model}" in steps or any(method_of(text.split()[0]).asks_model for text in texts),
            "judge": "{judge}" in steps or not {"QwenScore", "A-Score"}.isdisjoint(self.measures),
            STUDENT: STUDENT in used,
            "embedder": self.embedded or "{embedder}" in steps,
        }
        return tuple(filter(is_taken.get, is_taken))

    @property
    def command(self) -> str | None:
        """The command that makes it; None if none does, for the `reason`."""
        named = (f"--{name} {name.upper()}" for name in self.takes if name != "embedder")
        words = ["orienteer reproduce", self.id, *map(str.upper, self.data), *named, "-o FOLDER"]
        return " ".join(words) if self.reason is None else None

    @property
    def published(self) -> PublishedTable | None:
        """The paper's table, if it prints figures."""
        return next((table for table in published_tables() if table.id == self.id), None)


class Content(Record):
    """Everything in rows.toml."""

    row: tuple[Row, ...]
    data: dict[str, DataSet]
    form: dict[str, tuple[str, ...]]
    """The commands that make a graph in each form."""


@cache
def content() -> Content:
    """Return every row, paper by paper, the data sets that they need, and the forms of graphs."""
    text = files("orienteer.lab.reproduce").joinpath("rows.toml").read_text(encoding="utf-8")
    read, rows = tomllib.loads(text), dict[str, dict[str, object]]()
    for row in read["row"]:
        rows[row["id"]] = {**rows.get(row.pop("like", ""), {}), **row}
    return Content.model_validate({**read, "row": list(rows.values())})


def row_of(row_id: str) -> Row:
    """Return a row by its id. Raises `BadOption` with the nearest ids."""
    found = {row.id: row for row in content().row}
    if row_id not in found:
        near = ", ".join(nearest(row_id, found, most=3) or found)
        raise BadOption(f"no table or figure {row_id!r}. Near: {near}. orienteer reproduce --list prints all of them")
    return found[row_id]
