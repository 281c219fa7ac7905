"""Golden questions: what `orienteer questions` and `orienteer quiz` write without a model, and what they count.

A file is a graph and a command: the lines that it writes, and last the summary that `--json` prints.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import clinic
import towns
from golden.commands import printed
from golden.worlds import demo
from orienteer import Graph

FOLDER = Path(__file__).parent / "questions"
QUESTIONS = 60
QUIZ_ITEMS: Mapping[str, int] = {"demo": 56, "clinic": 32, "towns": 44}
"""How many questions of the quiz a graph is asked for: about as many as it gives before most draws fail."""
GRAPHS: Mapping[str, Callable[[Path], object]] = {
    "demo": partial(demo, data=None),
    "clinic": lambda folder: Graph.from_records(clinic.NODES, clinic.EDGES, path=folder / "graph"),
    "towns": lambda folder: Graph.from_records(*TOWNS, path=folder / "graph"),
}
TOWNS = towns.records(1, ["town", "person", "club"], ["located in", "member of", "knows"])


def made(name: str, folder: Path) -> dict[str, str]:
    """Return what each command makes of a graph, which is made in this empty folder, by the name of its file."""
    graph = GRAPHS[name](folder)
    texts = {}
    for command, count in {"questions": QUESTIONS, "quiz": QUIZ_ITEMS[name]}.items():
        target = folder / f"{command}.jsonl"
        shown = printed(
            command, graph.path, "-n", count, "--random-seed", 7, "-o", target, "--json", cache=folder / "cache"
        )
        summary = {field: value for field, value in json.loads(shown).items() if field != "path"}
        texts[f"{name}-{command}.jsonl"] = target.read_text("utf-8") + json.dumps(summary, ensure_ascii=False) + "\n"
    return texts


def write(folder: Path) -> None:
    """Write the files of all graphs anew."""
    FOLDER.mkdir(exist_ok=True)
    for name in GRAPHS:
        (folder / name).mkdir()
        for file, text in made(name, folder / name).items():
            (FOLDER / file).write_text(text, encoding="utf-8")
