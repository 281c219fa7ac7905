"""Builds of chunk graphs: chunks a second with and without a model, and what one changed file costs.

    python benchmarks/documents.py [--chunks N] [--data FOLDER] [--json FILE]

Without a folder of data the documents are made up: files of Markdown whose sections mention one another's titles and
share rare names. With it, musique's passages and OTT-QA's tables and passages are built too. No embedder anywhere:
that costs what `benchmarks/vectors.py --embed` says, for every text once. The model is scripted and answers at once, so
that its rows show what the build itself costs.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from orienteer.build.documents.report import BuildReport
from orienteer.build.documents.run import BuildOptions, build_graph
from orienteer.graph.store import Graph
from orienteer.llm import ScriptedModel
from orienteer.records import Node, Usage
from report import Report, Target

CHUNKS = 5_000
SECTIONS = 10
SENTENCES = 12
WORDS = 4_000
TARGETS = {
    "update, one file added": Target(60),
    "update, one file changed": Target(60),
    "update, one file deleted": Target(60),
    "untouched chunks that differ": Target(0),
    "calls paid for what did not change": Target(0),
}
METADATA = {
    "title": "A title",
    "topic": "What it is about.",
    "entities": [{"name": "Ada Holm", "details": "A person."}],
    "events": [],
}


def write_folder(folder: Path, chunks: int) -> None:
    """Write Markdown files of ten sections each, about a chunk a section."""
    chance = random.Random(7)
    words = ["".join(chance.choices("aeioubcdfglmnprstv", k=chance.randint(3, 9))) for _ in range(WORDS)]
    weights = [1 / (rank + 10) for rank in range(WORDS)]
    names = [f"{a.title()} {b.title()}" for a, b in zip(words[: WORDS // 2], words[WORDS // 2 :], strict=True)]
    folder.mkdir()
    files = chunks // SECTIONS
    for number in range(files):
        parts = [f"# {names[number % len(names)]} {number}\n"]
        for section in range(SECTIONS):
            parts.append(f"\n## {chance.choice(words)} {section}\n")
            for _ in range(SENTENCES):
                said = chance.choices(words, weights, k=14)
                said[chance.randrange(14)] = chance.choice(names)
                parts.append(" ".join(said).capitalize() + ".")
            parts.append(f"See [this](f{chance.randrange(files):05}.md).\n")
        (folder / f"f{number:05}.md").write_text("\n".join(parts), encoding="utf-8")


def nodes_of(path: Path) -> dict[str, Node]:
    graph = Graph.open(path)
    return {graph.ids[row]: graph.node_at(row) for row in range(len(graph))}


def timed(work: Callable[[], BuildReport]) -> tuple[float, BuildReport]:
    started = time.perf_counter()
    report = work()
    return time.perf_counter() - started, report


def scripted() -> ScriptedModel:
    return ScriptedModel(
        lambda messages, tools, sampling: json.dumps(METADATA),
        usage=Usage(calls=1, prompt_tokens=1, completion_tokens=1),
    )


def measure_build(report: Report, name: str, built: BuildReport) -> None:
    report.add(f"{name}, chunks a second", round(built.pace, 1), "/s")
    report.add(f"{name}, whole", round(built.seconds, 2), "s")
    for stage, seconds in built.stages.items():
        report.add(f"{name}, {stage}", seconds, "s")
    if built.peak_bytes is not None:
        report.add(f"{name}, memory so far", round(built.peak_bytes / 2**20), "MB")
    print(f"    {built.chunks:,} chunks, {built.tables:,} segments, edges {dict(built.edge_types)}")


def measure_updates(report: Report, folder: Path, target: Path, cache: Path) -> None:
    """Add, change and delete one file each, and compare all other chunks."""
    model = scripted()
    first = nodes_of(target)

    def add() -> None:
        shutil.copy(folder / "f00000.md", folder / "new.md")

    def change() -> None:
        path = folder / "f00001.md"
        path.write_text(path.read_text(encoding="utf-8").replace("See", "Look at", 1), encoding="utf-8")

    def delete() -> None:
        (folder / "f00002.md").unlink()

    changes: Mapping[str, tuple[Callable[[], None], str]] = {
        "added": (add, "new.md"),
        "changed": (change, "f00001.md"),
        "deleted": (delete, "f00002.md"),
    }
    differing = calls = 0
    for name, (act, file) in changes.items():
        act()
        seconds, built = timed(
            lambda: build_graph([folder], target, options=BuildOptions(update=True), model=model, cache=cache)
        )
        report.add(f"update, one file {name}", round(seconds, 2), "s")
        after = nodes_of(target)
        differing += sum(after.get(node_id) != node for node_id, node in first.items() if not node_id.startswith(file))
        own = sum(node.type == "chunk" for node_id, node in after.items() if node_id.startswith(file))
        calls += max(0, (built.usage.calls if built.usage else 0) - own)
        first = after
        print(f"    {built.usage.calls if built.usage else 0} calls for {own} new chunks")
    report.add("untouched chunks that differ", differing, "")
    report.add("calls paid for what did not change", calls, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=CHUNKS, metavar="N", help="chunks of the made-up documents")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the folder of real data")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    report = Report(TARGETS)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        folder, target, cache = work / "docs", work / "graph", work / "cache"
        write_folder(folder, options.chunks)
        measure_build(report, "made-up files", build_graph([folder], work / "plain"))
        made = build_graph([folder], target, model=scripted(), cache=cache)
        measure_build(report, "made-up files with a scripted model", made)
        measure_updates(report, folder, target, cache)
        for name in ("musique", "ottqa") if options.data else ():
            if (options.data / name).is_dir():
                measure_build(report, name, build_graph([options.data / name], work / name))
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
