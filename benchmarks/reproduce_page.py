# ruff: noqa: E501  (a line of the page is a paragraph)
"""Write docs/reference/reproduce.md from the rows that `orienteer reproduce` makes: `python benchmarks/reproduce_page.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from orienteer.lab.evaluation import published_tables
from orienteer.lab.reproduce import reproductions

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "reproduce.md"
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
}
MADE_BY = {
    "ark": "GPT-4.1, at a temperature of .7 as the teacher; text-embedding-3-large in table 4; no judge",
    "graphsearch": "Qwen2.5-32B-Instruct (7B in table 2), jina-embeddings-v3, the judge Qwen-Plus",
    "graphscout": "the models that the lines name, students of Qwen3-4B-Instruct-2507 and Qwen3-8B, DeepSeek-Chat for the quiz, text-embedding-v4, the judge Qwen-Max",
    "sage": "GPT-4o-mini-2024-07-18, all-MiniLM-L6-v2, no judge",
}
"""The model, the embedder and the judge of each paper."""
OPENING = """# Reproducing the papers

Every table and figure with results of the five papers, and the command that makes it.

```text
$ orienteer reproduce --list
$ orienteer reproduce ark:table1 STARK --model MODEL -o ark
```

The command imports or builds the graphs, asks every method the questions, and prints the table in the paper's layout, with the published figures in brackets. `--limit N` asks a random sample of N questions of each set, which shows what the whole would take. No model was available to us: apart from the last column, nothing here has been run on the published data.

- The folder of `-o` has `graphs/` and `runs/`. Rows that ask the same methods the same questions share their runs, so give several rows one folder. An interrupted command continues; no reply of a model is paid for twice. Each run is one of [eval run](../guides/evaluation.md#runs): `eval show`, `eval report` and `eval judge` read it.
- Methods run in the paper's form, `faithful=true`, if they have one.
- `DATA` is a folder as it was published; name several if a row needs several. `GRAPHSEARCH` may be two folders, HippoRAG's and HyperGraphRAG's. Nothing is downloaded: an error says which files are expected and where they come from.
- `--judge` names the model that judges answers, by default `--model`. It judges every answer of a run once, those of other rows too. `--base-url` is the server of `--model`, `--judge` and `--student` alike. `--embedder` embeds the graphs of methods that need vectors, by default `minilm`; a folder of `-o` keeps the one that it began with.
- Below a table stands what made our figures: the model, the student, the judge, the embedder, and how many questions of each part. Lines with failed questions are named, and the command asks those again when it is repeated; the exit code is 1 where every question of a line failed in a part.
- `--student` names a trained model as `--model` names one. Without it, the lines of students have only the published figures. It is one model for all graphs of a row: where each graph has a student of its own, read its column alone. What trains one stands above its paper's table; that needs the extra `train`.
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
    yield f"The paper has {MADE_BY[paper]}.\n"
    if training := list(dict.fromkeys(row.before for row in rows if row.before)):
        yield "A student, for each GRAPH that the rows have made; repeat it for each graph:\n"
        yield from ("```text", *(f"$ {step}" for steps in training for step in steps.split("; ")), "```\n")
    yield "| id | shows | command | what differs | our figure |"
    yield "|---|---|---|---|---|"
    for row in rows:
        command = f"`{row.command}`" if row.command else f"none: {row.reason}"
        note = f"published: {row.published.note}" if row.published and row.published.note else ""
        differs = "; ".join(filter(None, (row.differs, note)))
        yield f"| `{row.id}` | {row.shows} | {command} | {differs} | {row.ours} |"
    yield ""


def _newer() -> Iterator[str]:
    yield "## Newer figures"
    yield "Of other work, shown by `orienteer eval show RUN --published`.\n"
    yield "| method | figures | note | source | read |"
    yield "|---|---|---|---|---|"
    for table in published_tables():
        for label, figures in table.figures.items() if ":" not in table.id else ():
            told = ", ".join(f"{column} {value:.4g}" for column, value in figures.items())
            yield f"| {label} | {told} | {table.note} | {table.source} | {READ[table.read]} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
