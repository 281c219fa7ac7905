# ruff: noqa: E501  (a line of the page is a paragraph)
"""Write docs/reproduce.md from the rows that `orienteer reproduce` makes: `python benchmarks/reproduce_page.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orienteer.lab.evaluation import published_tables
from orienteer.lab.reproduce import reproductions

PAGE = Path(__file__).parents[1] / "docs" / "reproduce.md"
PAPERS = {
    "ark": "ARK (papers 000 and 001)",
    "graphsearch": "GraphSearch (paper 002)",
    "graphscout": "GraphScout (paper 003)",
    "sage": "SAGE with SPARK (paper 004)",
}
READ = {
    "S": "in the source",
    "A": "in the abstract",
    "E": "in an excerpt of a page or thread",
    "V": "from a vendor",
}
OPENING = """# Reproducing the papers

Every table and figure with results of the five papers, and the command that makes it.

```text
$ orienteer reproduce --list
$ orienteer reproduce ark:table1 STARK --model MODEL -o ark
```

The command imports or builds the graphs, asks every method the questions, and prints the table in the paper's layout, with the published figures in brackets. `--limit N` asks a random sample of N questions of each set, which shows what the whole would take. No model was available to us: apart from the last column, nothing here has been run on the published data.

- The folder of `-o` has `graphs/` and `runs/`. Rows that ask the same methods the same questions share their runs, so give several rows one folder. An interrupted command continues; no reply of a model is paid for twice. Each run is one of [eval run](evaluation.md#runs): `eval show`, `eval report` and `eval judge` read it.
- Methods run in the paper's form, `faithful=true`, if they have one.
- `DATA` is a folder as it was published; name several if a row needs several. Nothing is downloaded: an error says which files are expected and where they come from.
- `--judge` names the model that judges answers, by default `--model`. It judges every answer of a run once, those of other rows too. `--embedder` embeds the graphs of methods that need vectors, by default `minilm`.
- `--student` names a trained model as `--model` names one. Without it, the lines of students have only the published figures. What trains one stands above its paper's table; that needs the extra `train`.
- Published figures come from other releases of the data, other models and other software. `published.toml` has all of them, with the source of each and how it was read.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([OPENING, *_data(), *(line for paper in PAPERS for line in _paper(paper)), *_newer()]) + "\n"


def _data() -> Iterator[str]:
    yield from ("## Data", "| `DATA` | what it is | where it comes from | licence | what stands in for it |")
    yield "|---|---|---|---|---|"
    for name, one in reproductions().data.items():
        yield f"| `{name.upper()}` | {one.name} | {one.source} | {one.licence} | {one.instead} |"
    yield ""


def _paper(paper: str) -> Iterator[str]:
    rows = [row for row in reproductions().row if row.id.startswith(f"{paper}:")]
    yield f"## {PAPERS[paper]}"
    if training := list(dict.fromkeys(row.before for row in rows if row.before)):
        yield "A student, for the graphs that the rows have made:\n"
        yield from ("```text", *(f"$ {step}" for steps in training for step in steps.split("; ")), "```\n")
    yield "| id | shows | command | what differs | our figure |"
    yield "|---|---|---|---|---|"
    for row in rows:
        command = f"`{row.command}`" if row.command else f"none: {row.reason}"
        yield f"| `{row.id}` | {row.shows} | {command} | {row.differs} | {row.ours} |"
    yield ""


def _newer() -> Iterator[str]:
    yield "## Newer figures"
    yield "Of other work, shown by `orienteer eval show RUN --published`.\n"
    yield "| method | figures | source | read |"
    yield "|---|---|---|---|"
    for table in published_tables():
        for label, figures in table.figures.items() if ":" not in table.id else ():
            told = ", ".join(f"{column} {value:.4g}" for column, value in figures.items())
            yield f"| {label} | {told} | {table.source} | {READ[table.read]} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
