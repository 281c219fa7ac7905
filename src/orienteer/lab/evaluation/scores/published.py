"""Published figures: tables of papers and of newer work, which `eval show` and `reproduce` put beside ours.

They are in published.toml, each table with its source and with how it was read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from orienteer.lab.evaluation.running.runs import RunManifest
from orienteer.lab.evaluation.scores.judge import CRITERIA
from orienteer.lab.evaluation.scores.table import Estimate
from orienteer.records import Record

STARK = ("amazon", "mag", "prime")
# The benchmark of a data set's name, and a part's name in our tables.
_BENCHMARKS = {
    **dict.fromkeys(("hotpotqa", "musique", "2wikimultihopqa", "hypergraphrag"), "graphsearch"),
    **{name: name for name in ("stark", "grbench", "ottqa", "cypherbench")},
}
_CALLED = {"primekg": "prime", "hypertension": "medicine", "healthcare": "biomedical", "literature": "goodreads"}
_ACADEMIC = {"dblp", "biology", "chemistry", "materials", "medicine", "physics"}
_BY_CANDIDATES: Mapping[tuple[str, ...], str] = {
    ("product",): "amazon",
    ("paper",): "mag",
}  # all nodes of PRIME may answer


class PublishedTable(Record):
    """A table with the rows and columns of its paper."""

    id: str
    """As in `reproduce`: `ark:table1`."""
    source: str
    """Where its figures can be looked up."""
    read: str
    """How they were read: S in the source, A in the abstract, E in an excerpt, V from a vendor."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    """A label, and a figure for each column; `-` if none was printed."""
    is_percent: bool = False
    benchmark: str = ""
    """The benchmark that its columns are of: then a column is `PART [SPLIT] MEASURE`."""
    split: str = ""
    note: str = ""

    @property
    def figures(self) -> dict[str, dict[str, float]]:
        """The figures by label and column: shares of 1, counts, and marks out of ten."""
        scales = {name: 100 if self.is_percent and not CRITERIA.get(name.split()[-1]) else 1 for name in self.columns}
        return {
            str(label): {
                name: round(float(value) / scale, 12)
                for (name, scale), value in zip(scales.items(), values, strict=True)
                if value != "-"
            }
            for label, *values in self.rows
        }


class Published(Record):
    """A row from a paper."""

    method: str
    published: str
    """The source of the figures."""
    read: str
    """How they were read."""
    dataset: str
    split: str
    measures: dict[str, Estimate]
    """Without intervals or n: none were printed. A figure that was not printed is left out."""
    note: str = ""


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """Return every table of published figures."""
    text = files("orienteer.lab.evaluation.scores").joinpath("published.toml").read_text(encoding="utf-8")
    return tuple(map(PublishedTable.model_validate, tomllib.loads(text)["table"]))


def published_rows(*manifests: RunManifest) -> tuple[Published, ...]:
    """Return the published rows for the questions of a run, or of several runs that are taken as one.

    The part of a benchmark is known by the names of the data set and of the graph's folder: `stark-prime`. A domain of
    GRBench is known by the run's conditions too, and STaRK's bases by the node types that may answer. A run on several
    parts has none, unless they are GRBench's six academic graphs.
    """
    benchmark, part = _place(manifests)
    if not part:
        return ()
    tables = [table for table in published_tables() if table.benchmark == benchmark]
    splits = {_parts_of(column, table)[1] for table in tables for column in table.columns}
    asked = manifests[0].split
    split = asked if asked in splits else "test" if "test" in splits else "all"
    found: dict[tuple[str, str], Published] = {}
    for table in tables:
        paper, _, place = table.source.partition(", ")
        for label, figures in table.figures.items():
            columns = {_parts_of(column, table): value for column, value in figures.items()}
            own = {
                measure: Estimate(mean=value, low=None, high=None, n=None)
                for (of, of_split, measure), value in columns.items()
                if (of, of_split) == (part, split)
            }
            known = found.get((label, paper))
            if known is None and own:
                found[label, paper] = Published(
                    method=label,
                    published=table.source,
                    read=table.read,
                    dataset=f"{benchmark} {part}",
                    split=split,
                    measures=own,
                    note=table.note,
                )
            elif known is not None and own:
                update = {"measures": {**own, **known.measures}, "published": f"{known.published} and {place}"}
                found[label, paper] = known.model_copy(
                    update={**update, "note": "; ".join(dict.fromkeys(filter(None, (known.note, table.note))))}
                )
    return tuple(found.values())


def _parts_of(column: str, table: PublishedTable) -> tuple[str, str, str]:
    """Return the part, the split and the measure of a column."""
    part, *split, measure = column.split()
    return part, split[0] if split else table.split, measure


def _place(manifests: tuple[RunManifest, ...]) -> tuple[str, str]:
    """Return the benchmark and the part that runs are on; empty texts for any other data."""
    named, conditions = set[str](), set[str]()
    for manifest in manifests:
        named.update(re.findall("[a-z0-9]+", f"{manifest.dataset} {manifest.graph}".casefold()))
        pairs = (condition.partition("=") for condition in manifest.where)
        values = [value for name, _, value in pairs if name.strip() in ("domain", "area")]
        conditions.update(re.findall("[a-z0-9]+", " ".join(values).casefold()))
    benchmarks = {_BENCHMARKS[name] for name in named & _BENCHMARKS.keys()}
    if len(benchmarks) != 1:
        return "", ""
    [benchmark] = benchmarks
    words = {_CALLED.get(word, word) for word in conditions or named}
    tables = [table for table in published_tables() if table.benchmark == benchmark]
    parts = words & {column.split()[0] for table in tables for column in table.columns}
    if benchmark == "grbench" and words >= _ACADEMIC:
        parts = {"academic"}
    if benchmark == "stark" and not parts:
        parts = {_BY_CANDIDATES.get(manifests[0].candidates or (), "")}
    return (benchmark, parts.pop()) if len(parts) == 1 else ("", "")
