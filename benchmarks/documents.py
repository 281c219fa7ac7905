"""Builds of chunk graphs: chunks a second with and without a model, what one changed file costs, and what a kill does.

    python benchmarks/documents.py [--chunks N] [--embedded N] [--data FOLDER] [--json FILE]
    python benchmarks/documents.py --beside FOLDER ... [--growing] [--json FILE]

Without a folder of data the documents are made up: files of Markdown whose sections mention one another's titles and
share rare names. With it, musique's passages and OTT-QA's tables and passages are built too. The model is scripted and
answers at once, so that its rows show what the build itself costs. Few chunks are embedded, by minilm on one core: what
that costs grows with the number of texts alone, and `benchmarks/vectors.py --embed` says how much.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from orienteer.graph.store import Graph
from orienteer.index.embedders import MINILM, open_embedder
from orienteer.ingest.documents.build_report import BuildReport
from orienteer.ingest.documents.config import Chunking
from orienteer.ingest.documents.cut.replies import CONCURRENCY
from orienteer.ingest.documents.run import BuildOptions, build_graph
from orienteer.llm import ScriptedModel
from orienteer.protocols import LanguageModel
from orienteer.records import Edge, Message, Node, Usage
from report import Report, Target, command_line, run

CHUNKS = 5_000
EMBEDDED = 100
SECTIONS = 10
SENTENCES = 12
WORDS = 4_000
WEIGHTS = [1 / (rank + 10) for rank in range(WORDS)]
WITNESS = "quetzalcoatlus"
"""A word that stands in one file alone, which is deleted."""
ANSWERED = 100
"""Chunks that the model has described when the build is killed."""
FILES = 20_000
"""Small files of which one is changed."""
SMALL_SENTENCES = 10
TARGETS = {
    "of many files, one line changed, of CPU": Target(3),
    "of many files, one added, of CPU": Target(3),
    "of many files, one deleted, of CPU": Target(3),
    "of many files, one renamed, of CPU": Target(3),
    "update, one file added": Target(60),
    "update, one file changed": Target(60),
    "update, one file deleted": Target(60),
    "untouched nodes that differ": Target(0),
    "calls paid for what did not change": Target(0),
    "hits of what was deleted": Target(0),
    "after kill -9: calls paid twice": Target(0),
    "after kill -9: nodes and edges that differ": Target(0),
}
METADATA = {
    "title": "A title",
    "topic": "What it is about.",
    "entities": [{"name": "Ada Holm", "details": "A person."}],
    "events": [],
}


def vocabulary(chance: random.Random) -> list[str]:
    """Return words of three to nine letters; those that come first are to be drawn more often."""
    return ["".join(chance.choices("aeioubcdfglmnprstv", k=chance.randint(3, 9))) for _ in range(WORDS)]


def write_folder(folder: Path, chunks: int) -> None:
    """Write Markdown files of ten sections each, about a chunk a section."""
    chance = random.Random(7)
    words = vocabulary(chance)
    names = [f"{a.title()} {b.title()}" for a, b in zip(words[: WORDS // 2], words[WORDS // 2 :], strict=True)]
    folder.mkdir()
    files = chunks // SECTIONS
    for number in range(files):
        parts = [f"# {names[number % len(names)]} {number}\n"]
        for section in range(SECTIONS):
            parts.append(f"\n## {chance.choice(words)} {section}\n")
            for _ in range(SENTENCES):
                picked = chance.choices(words, WEIGHTS, k=14)
                picked[chance.randrange(14)] = chance.choice(names)
                parts.append(" ".join(picked).capitalize() + ".")
            parts.append(f"See [this](f{chance.randrange(files):05}.md).\n")
        (folder / f"f{number:05}.md").write_text("\n".join(parts), encoding="utf-8")
    with (folder / "f00002.md").open("a", encoding="utf-8") as file:
        file.write(f"\nHere alone stands {WITNESS}.\n")


def nodes_of(path: Path) -> dict[Any, Node]:  # Any: its keys stand beside those of edges
    graph = Graph.open(path)
    return {graph.arrays.ids[row]: graph.arrays.node_at(row) for row in range(len(graph))}


def edges_of(path: Path) -> dict[Any, Edge]:  # Any: its keys stand beside those of nodes
    return {(edge.source, edge.type, edge.target): edge for edge in Graph.open(path).iter_edges()}


def scripted() -> ScriptedModel:
    return ScriptedModel(
        lambda messages, tools, sampling: json.dumps(METADATA),
        usage=Usage(calls=1, prompt_tokens=1, completion_tokens=1),
    )


def measure_build(report: Report, name: str, work: Callable[[], BuildReport]) -> None:
    """Build, and add what it took: by the clock, and by the time of processors, which other programs do not stretch."""
    started = time.process_time()
    built = work()
    busy = time.process_time() - started
    report.add(f"{name}, chunks a second", round(built.pace, 1), "/s")
    report.add(f"{name}, chunks a second of CPU", round((built.chunks + built.tables) / busy, 1), "/s")
    report.add(f"{name}, whole", round(built.seconds, 2), "s")
    for stage, seconds in built.stages.items():
        report.add(f"{name}, {stage}", seconds, "s")
    if built.peak_bytes is not None:
        report.add(f"{name}, memory so far", round(built.peak_bytes / 2**20), "MB")
    embedded = f", {built.embedded:,} texts embedded" if built.embedded is not None else ""
    print(f"    {built.chunks:,} chunks, {built.tables:,} segments, edges {dict(built.edge_types)}{embedded}")


def measure_embedded(report: Report, work: Path, chunks: int) -> None:
    """Build with an embedder, cutting by tokens and by meaning: the second embeds every sentence too."""
    folder = work / "embedded-docs"
    write_folder(folder, chunks)
    ways: tuple[Chunking, ...] = ("tokens", "semantic")
    for chunking in ways:
        build = partial(
            build_graph,
            [folder],
            work / f"embedded-{chunking}",
            options=BuildOptions(chunks=chunking),
            embedder=open_embedder(MINILM),
            cache=work / f"cache-{chunking}",
        )
        measure_build(report, f"made-up files with minilm, {chunking}", build)


# ---------------------------------------------------------------------------------------------------- one file changed


def measure_updates(report: Report, folder: Path, target: Path, cache: Path) -> None:
    """Add, change and delete one file each, and compare all other nodes."""
    first = nodes_of(target)

    def add() -> None:
        text = (folder / "f00000.md").read_text(encoding="utf-8")
        (folder / "new.md").write_text(text.replace("See", "Look at"), encoding="utf-8")

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
    assert hits(target) == 1
    for name, (act, file) in changes.items():
        act()
        busy = time.process_time()
        built = build_graph([folder], target, options=BuildOptions(update=True), model=scripted(), cache=cache)
        report.add(f"update, one file {name}", round(built.seconds, 2), "s")
        report.add(f"update, one file {name}, of CPU", round(time.process_time() - busy, 2), "s")
        after = nodes_of(target)
        differing += sum(after.get(node_id) != node for node_id, node in first.items() if not node_id.startswith(file))
        own = sum(node.type == "chunk" for node_id, node in after.items() if node_id.startswith(file))
        paid = built.usage.calls if built.usage else 0
        calls += max(0, paid - own)
        first = after
        print(f"    {paid} calls for {own} new chunks; {built.unchanged:,} files taken over")
    report.add("untouched nodes that differ", differing, "")
    report.add("calls paid for what did not change", calls, "")
    report.add("hits of what was deleted", hits(target), "")


def hits(target: Path) -> int:
    return len(Graph.open(target).search(WITNESS, 10))


def write_small_files(folder: Path, files: int) -> None:
    """Write short Markdown files in folders of a hundred, each with a title and ten sentences that name things."""
    chance = random.Random(11)
    words = vocabulary(chance)
    for number in range(files):
        lines = [f"# {chance.choice(words).title()} {chance.choice(words).title()} {number}", ""]
        for _ in range(SMALL_SENTENCES):
            name = f"{chance.choice(words).title()} {chance.choice(words).title()}"
            lines.append(f"{' '.join(chance.choices(words, WEIGHTS, k=12)).capitalize()} with {name}.")
        path = folder / f"d{number // 100:03}" / f"f{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*lines, f"See [this](f{chance.randrange(files):05}.md).", ""]), encoding="utf-8")


def measure_small_updates(report: Report, work: Path, files: int) -> None:
    """Change, add, delete and rename one of many files, each by a process of its own that also asks a question."""
    folder, cache = work / "many", work / "many-cache"
    write_small_files(folder, files)
    paths = sorted(folder.rglob("*.md"))

    def change() -> None:
        paths[0].write_text(f"{paths[0].read_text(encoding='utf-8')}One more line.\n", encoding="utf-8")

    acts: Mapping[str, Callable[[], object]] = {
        "first asked": lambda: None,
        "asked again": lambda: None,
        "one line changed": change,
        "one added": lambda: (folder / "new.md").write_text("# New\n\nSomething new.\n", encoding="utf-8"),
        "one deleted": paths[1].unlink,
        "one renamed": lambda: paths[2].rename(paths[2].with_name("renamed.md")),
    }
    for name, act in acts.items():
        act()
        environment = {"ORIENTEER_CACHE": str(cache), "ORIENTEER_VECTORS": "off"}
        command = (sys.executable, "-m", "orienteer", "ask", folder, "Who is new?", "--yes", "--quiet")
        done = run(*command, env=environment)
        report.add(f"of many files, {name}, of CPU", round(done.processor, 2), "s")
        report.add(f"of many files, {name}", round(done.seconds, 2), "s")


# -------------------------------------------------------------------------------------------------------------- peers

PEERS = ("orienteer", "fts5", "bm25s", "tantivy")


def build_with(peer: str, source: Path, passages: Path, target: Path) -> None:
    """Build one index. The peers get the passages of our graph, a JSON text a line, and read no files."""
    if peer == "orienteer":
        build_graph([source], target)
        return
    texts = [json.loads(line) for line in passages.read_text(encoding="utf-8").splitlines()]
    target.mkdir()
    if peer == "fts5":
        database = sqlite3.connect(target / "fts5.db")
        database.execute("CREATE VIRTUAL TABLE passages USING fts5(text, tokenize='porter unicode61')")
        database.executemany("INSERT INTO passages VALUES (?)", ((text,) for text in texts))
        database.commit()
    elif peer == "bm25s":
        import bm25s

        index = bm25s.BM25()
        index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
        index.save(target, corpus=texts, show_progress=False)
    else:
        import tantivy

        schema = tantivy.SchemaBuilder().add_text_field("text", stored=True, tokenizer_name="en_stem").build()
        writer = tantivy.Index(schema, path=str(target)).writer(num_threads=1)
        for text in texts:
            writer.add_document(tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()


def eighths(folder: Path, work: Path) -> Iterator[Path]:
    """Yield folders with every eighth, fourth and second file of a folder, and with all."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    for share in (8, 4, 2, 1):
        target = work / f"{folder.name}, {8 // share} of 8"
        for path in paths[::share]:
            (copy := target / path.relative_to(folder)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        yield target


def measure_peers(report: Report, work: Path, folder: Path) -> None:
    """Index a folder by words alone, each engine in a process of its own; add its processor time, memory and disk."""
    work.mkdir(parents=True)
    passages = work / "passages.jsonl"
    passages.touch()
    read = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    report.add(f"{folder.name}, text", round(read / 1e6, 2), "MB")
    for peer in PEERS:
        done = run(sys.executable, __file__, "--as", peer, folder, passages, work / peer)
        size = sum(path.stat().st_size for path in (work / peer).rglob("*") if path.is_file())
        report.add(f"{folder.name}, {peer}, of CPU", round(float(done.output.split()[-1]), 2), "s")
        report.add(f"{folder.name}, {peer}, memory", round(done.peak / 2**20), "MB")
        report.add(f"{folder.name}, {peer}, disk", round(size / 1e6, 2), "MB")
        if peer == "orienteer":
            arrays = Graph.open(work / peer).arrays
            is_passage = [arrays.types.nodes[kind] != "document" for kind in arrays.node_types.tolist()]
            texts = (f"{name}\n{text}" for name, text in zip(arrays.names, arrays.texts, strict=True))
            lines = [json.dumps(text) for text, own in zip(texts, is_passage, strict=True) if own]
            passages.write_text("\n".join(lines), encoding="utf-8")


# --------------------------------------------------------------------------------------------------------------- kill


def witnessed(log: Path, *, most: int | None = None) -> LanguageModel:
    """Return a model that notes each request before and after it; beyond `most` requests it never answers."""

    begun = log.with_suffix(".begun")
    lock = threading.Lock()

    def say(messages: Sequence[Message], tools: Any, sampling: Any) -> str:  # Any: not looked at
        question = (messages[1].content or "").replace("\n", " ")
        with lock:
            note(begun, question)
            is_late = most is not None and count(begun) > most
        if is_late:
            time.sleep(3_600)
        with lock:
            note(log, question)
        return json.dumps(METADATA)

    return ScriptedModel(say, usage=Usage(calls=1, prompt_tokens=1, completion_tokens=1))


def note(log: Path, line: str) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def count(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def build_until(folder: Path, target: Path, cache: Path, log: Path) -> None:
    build_graph([folder], target, model=witnessed(log, most=ANSWERED), cache=cache)


def measure_kill(report: Report, work: Path, folder: Path, unbroken: Path) -> None:
    """Kill a build when so many chunks are described and all threads wait for more, go on, and compare."""
    target, cache, log = work / "killed", work / "killed-cache", work / "asked"
    arguments = (folder, target, cache, log)
    child = multiprocessing.get_context("spawn").Process(target=build_until, args=arguments)
    child.start()
    while count(log.with_suffix(".begun")) < ANSWERED + CONCURRENCY:  # then every reply before these is on disk
        time.sleep(0.05)
    child.kill()
    child.join()
    paid = count(log)
    started = time.perf_counter()
    build_report = build_graph([folder], target, model=witnessed(log), cache=cache)
    requests = log.read_text(encoding="utf-8").splitlines()
    again = build_report.usage.calls if build_report.usage else 0
    print(f"    killed after {paid} calls; {again:,} more in {time.perf_counter() - started:.1f} s")
    report.add("after kill -9: calls paid twice", len(requests) - len(set(requests)), "")
    ours, theirs = ({**nodes_of(path), **edges_of(path)} for path in (target, unbroken))
    differing = sum(ours.get(key) != theirs.get(key) for key in {*ours, *theirs})
    report.add("after kill -9: nodes and edges that differ", differing, "")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--chunks", type=int, default=CHUNKS, metavar="N", help="chunks of the made-up documents")
    parser.add_argument("--embedded", type=int, default=EMBEDDED, metavar="N", help="of those that are embedded")
    parser.add_argument("--files", type=int, default=FILES, metavar="N", help="small files, of which one is changed")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the folder of real data")
    parser.add_argument("--beside", type=Path, nargs="*", metavar="FOLDER", help="index these alone, beside peers")
    parser.add_argument("--growing", action="store_true", help="an eighth, a quarter and a half of each of these too")
    parser.add_argument(
        "--as", dest="peer", nargs=4, metavar=("PEER", "SOURCE", "PASSAGES", "TARGET"), help="one build"
    )
    options = parser.parse_args()
    if options.peer:
        busy = time.process_time()
        build_with(options.peer[0], *map(Path, options.peer[1:]))
        print(time.process_time() - busy)
        return
    report = Report(TARGETS)
    if options.beside:
        with tempfile.TemporaryDirectory() as temporary:
            for number, folder in enumerate(options.beside):
                work = Path(temporary) / str(number)
                for part in eighths(folder, work) if options.growing else (folder,):
                    measure_peers(report, work / f"graphs of {part.name}", part)
        report.write(options.json)
        return
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        folder, target, cache = work / "docs", work / "graph", work / "cache"
        write_folder(folder, options.chunks)
        measure_build(report, "made-up files", partial(build_graph, [folder], work / "plain"))
        build = partial(build_graph, [folder], target, model=scripted(), cache=cache)
        measure_build(report, "made-up files with a scripted model", build)
        measure_kill(report, work, folder, target)
        measure_updates(report, folder, target, cache)
        if options.files:
            measure_small_updates(report, work, options.files)
        for name in ("musique", "ottqa") if options.data else ():
            if (options.data / name).is_dir():
                measure_build(report, name, partial(build_graph, [options.data / name], work / name))
        if options.embedded:
            measure_embedded(report, work, options.embedded)
    report.write(options.json)


if __name__ == "__main__":
    main()
