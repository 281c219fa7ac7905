"""Published figures, of published.toml: `eval show` and `reproduce` put them beside ours."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from orienteer.lab.evaluation.running.runs import RunManifest
from orienteer.lab.evaluation.scores.judge import CRITERIA
from orienteer.lab.evaluation.scores.table import Estimate
from orienteer.records import Record

STARK = ("amazon", "mag", "prime")
# All nodes of PRIME may answer.
_BY_CANDIDATES: Mapping[tuple[str, ...], str] = {("product",): "amazon", ("paper",): "mag"}
# The benchmark of a data set's name, and a part's name in our tables.
_BENCHMARKS = {
    **dict.fromkeys(("hotpotqa", "musique", "2wikimultihopqa", "hypergraphrag"), "graphsearch"),
    **{name: name for name in ("stark", "grbench", "ottqa", "cypherbench")},
}
_CALLED = {"primekg": "prime", "hypertension": "medicine", "healthcare": "biomedical", "literature": "goodreads"}
_ACADEMIC = {"dblp", "biology", "chemistry", "materials", "medicine", "physics"}


class PublishedTable(Record):
    """A table with the rows and columns of its paper. published.toml says what the fields mean."""

    id: str
    source: str
    read: str = "S"
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    is_percent: bool = False
    benchmark: str = ""
    split: str = ""
    note: str = ""

    @property
    def figures(self) -> dict[str, dict[str, float]]:
        """The figures by label and column: shares of 1, counts, and marks out of ten."""
        scales = [100 if self.is_percent and not CRITERIA.get(name.split()[-1]) else 1 for name in self.columns]
        return {
            str(label): {
                name: round(float(value) / scale, 12)
                for name, scale, value in zip(self.columns, scales, values, strict=True)
                if value != "-"
            }
            for label, *values in self.rows
        }

    def parts_of(self, column: str) -> tuple[str, str, str]:
        """Return the part, the split and the measure of a column."""
        part, *split, measure = column.split()
        return part, split[0] if split else self.split, measure


class Published(Record):
    """A row from a paper, or from several tables of it."""

    method: str
    published: str
    """The source of the figures."""
    read: str
    """How they were read: S in the source, A in the abstract, E in an excerpt."""
    dataset: str
    split: str
    measures: dict[str, Estimate] = {}
    """Without intervals or n: none were printed. A figure that was not printed is left out."""
    note: str = ""


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """Return every table of published figures."""
    text = files("orienteer.lab.evaluation.scores").joinpath("published.toml").read_text(encoding="utf-8")
    tables = dict[str, PublishedTable]()
    for table in tomllib.loads(text)["table"]:
        if of := tables.get(table.pop("like", "")):
            at = [0, *(of.columns.index(name) + 1 for name in table["columns"])]
            table |= {"rows": [[row[place] for place in at] for row in of.rows], "is_percent": of.is_percent}
        tables[table["id"]] = PublishedTable.model_validate(table)
    return tuple(tables.values())


def published_rows(*manifests: RunManifest) -> tuple[Published, ...]:
    """Return the published rows for the questions of a run, or of several runs that are taken as one.

    The part of a benchmark is known by the names of the data set and of the graph's folder: `stark-prime`; a domain of
    GRBench by the run's conditions too, and STaRK's bases by the node types that may answer. A run on several parts has
    none, unless they are GRBench's six academic graphs.
    """
    words = {_CALLED.get(word, word) for manifest in manifests for word in _words(manifest)}
    words |= {"academic"} if words >= _ACADEMIC else set()
    benchmarks = {_BENCHMARKS[word] for word in words & _BENCHMARKS.keys()}
    tables = [table for table in published_tables() if {table.benchmark} == benchmarks]
    columns = {(table.id, column): table.parts_of(column) for table in tables for column in table.columns}
    parts, splits = words & {part for part, _, _ in columns.values()}, {split for _, split, _ in columns.values()}
    split = next((name for name in (manifests[0].split, "test", "all") if name in splits), "")
    found: dict[tuple[str, str], dict[str, Any]] = {}  # Any: the fields of a row
    for table, (label, figures) in ((one, line) for one in tables for line in one.figures.items()):
        paper, _, place = table.source.partition(", ")
        own = dict[str, Estimate]()
        for column, figure in figures.items():
            part, of_split, measure = columns[table.id, column]
            if {part} == parts and of_split == split:
                own[measure] = Estimate(mean=figure, low=None, high=None, n=None)
        if own and (old := found.get((label, paper))):
            notes = "; ".join(filter(None, (old["note"], table.note)))
            old |= {"published": f"{old['published']} and {place}", "note": notes, "measures": old["measures"] | own}
        elif own:
            about = {"method": label, "published": table.source, "read": table.read, "split": split, "note": table.note}
            found[label, paper] = {**about, "dataset": f"{table.benchmark} {' '.join(parts)}", "measures": own}
    return tuple(map(Published.model_validate, found.values()))


def _words(manifest: RunManifest) -> list[str]:
    """Return the words that name the data of a run."""
    pairs = (condition.partition("=") for condition in manifest.where)
    domains = [value for name, _, value in pairs if name.strip() in ("domain", "area")]
    text = " ".join([manifest.dataset, *(domains or [manifest.graph])])
    return [*re.findall("[a-z0-9]+", text.casefold()), _BY_CANDIDATES.get(manifest.candidates or (), "")]
