"""The store on synthetic graphs, beside other engines in the same run: building, opening, searching, walking.

    python benchmarks/store.py [--size XS|S|L] [--json FILE] [--work FOLDER] [--queries N] [--no-build]
    python benchmarks/store.py --import [--size XS|S|L] [--format csv|tsv|parquet|jsonl] [--json FILE] [--work FOLDER]

One thread throughout. Every set of queries runs once to warm up, then three times, engines taking turns; a query's
time is the least of the three, for what else the machine does only ever adds; p50 and p95 are over queries. The graph
is built without stemming, so that all engines index the same words.

With `--import` the graph is written as tables instead, and these are imported by the command line, beside DuckDB,
ladybug and ArcadeDB, each in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import imports
import peers
from orienteer.graph.adjacency import distinct
from orienteer.graph.store import Graph
from peers import Best, K, Postings, agreement, best
from report import Report, Target, Timing, command_line, run, run_script, timed
from synthetic import SIZES, Asked, Synthetic, load

Engines: TypeAlias = dict[str, tuple[Callable[[Any], Any], Sequence[Any]]]
"""Functions and their cases. Any: whatever a case is; rows, where rankings are compared."""
NEIGHBORHOODS = ("around degree 10", "around degree 1,000", "around hub")
INDEX_FILES = {
    "term", "posting", "best", "row", "frequency", "large_at", "large", "block", "block_best", "length",
    "indptr", "neighbor", "kind", "extra_number",
}  # fmt: skip
MEGABYTE = 1_000_000
TARGETS = {
    "build": Target(60),
    "build, peak memory": Target(3_500),
    "import, csv": Target(180),
    "import, csv, peak memory": Target(3_500),
    "import, parquet": Target(150),
    "import, parquet, peak memory": Target(3_500),
    "disk, index and adjacency": Target(1_200),
    "open, fresh process": Target(20),
    "open, again": Target(20),
    "resident after open": Target(60),
    "open and search, fresh process, processor time": Target(1.6, "import numpy"),
    "global, p50": Target(1, "tantivy"),
    "global, by names and words, p50": Target(2, "tantivy"),
    "global + common words, by names and words, p50": Target(2, "tantivy"),
    "global + common words, p50": Target(15),
    "around degree 10, p50": Target(0.1),
    "around degree 1,000, p50": Target(0.2),
    "around hub, p50": Target(2),
    "intersect three hubs, p50": Target(5),
    "path of up to 4 edges, p50": Target(5),
}
"""For L; on the other sizes only those that compare with a peer count."""


class Setting(NamedTuple):
    """All that the measurements share."""

    data: Synthetic
    graph: Graph
    right: Mapping[str, Sequence[Best]]
    report: Report
    queries: int

    def asked(self, name: str) -> list[Asked]:
        """Return the queries of a set."""
        return self.data.queries[name][: self.queries]

    def words(self, asked: Asked) -> list[str]:
        """Return the words of a query."""
        return [self.data.words[word] for word in asked.words]


def main() -> None:
    """Run all measurements of one size."""
    parser = command_line(__doc__, ("--json", "--work"))
    parser.add_argument("--size", choices=SIZES, default="S")
    parser.add_argument("--queries", type=int, default=300, metavar="N", help="at most this many of each set")
    parser.add_argument("--no-build", action="store_true", help="take the graph and the indexes of the run before")
    parser.add_argument("--import", action="store_true", dest="imports", help="measure the import of tables instead")
    parser.add_argument("--format", choices=imports.FORMATS, help="import tables of this format alone")
    options = parser.parse_args()
    work: Path = options.work
    data = load(options.size, work)
    report = Report(_targets(options.size))
    if options.imports:
        imports.measure(report, data, options.size, work, [options.format] if options.format else imports.FORMATS)
    else:
        _measure_store(report, options, data, work)
    report.write(options.json)


def _measure_store(report: Report, options: argparse.Namespace, data: Synthetic, work: Path) -> None:
    path = work / f"graph-{options.size}"
    if not options.no_build:
        _measure_build(report, options.size, work, path)
    _measure_disk(report, path)
    postings = Postings(data)
    setting = Setting(data, Graph.open(path), best(data, postings), report, options.queries)
    _measure_open(setting, path)
    others = _peers(options.size, setting, work, postings, is_built=options.no_build)
    _measure_global(setting, others)
    if options.size != "L":  # its index with the texts takes minutes and gigabytes
        _measure_names(setting, work / f"tantivy-{options.size}-hits")
    _measure_neighborhoods(setting, others)
    _measure_walks(setting)


def _targets(size: str) -> dict[str, Target]:
    return {name: target for name, target in TARGETS.items() if size == "L" or target.times}


def _peers(
    size: str, setting: Setting, work: Path, postings: Postings, *, is_built: bool
) -> dict[str, peers.Peer | None]:
    """Return the peers by name; None for one that is not installed."""
    folder, data = work / f"tantivy-{size}", setting.data
    if not is_built:
        shutil.rmtree(folder, ignore_errors=True)
    tantivy = peers.Tantivy(data, folder) if find_spec("tantivy") else None
    others: dict[str, peers.Peer | None] = {"numpy": peers.PlainNumpy(postings), "tantivy": tantivy}
    built = {"tantivy": tantivy.build_seconds if tantivy else None}
    if size != "L":  # its Python tokenizer takes minutes and many gigabytes there
        bm25s = peers.Bm25s(data) if find_spec("bm25s") else None
        others["bm25s"], built["bm25s"] = bm25s, bm25s.build_seconds if bm25s else None
    for name, seconds in built.items():
        setting.report.add("build, the texts alone", None, "s", peer=_named(name, others[name]), peer_value=seconds)
    return others


def _named(name: str, found: object) -> str:
    return name if found is not None else f"{name}: not installed"


# ------------------------------------------------------------------------------------------------ building, opening


def _measure_build(report: Report, size: str, work: Path, path: Path) -> None:
    built = run_script("probe.py", "build", size, work, path)
    report.add("build", built["seconds"], "s")
    report.add("build, of this making the input in Python", built["input"], "s")
    report.add("build, peak memory", built["peak"] / MEGABYTE, "MB")


def _measure_disk(report: Report, path: Path) -> None:
    sizes = {"index and adjacency": 0, "texts": 0, "names, ids, properties": 0}
    for name, file in Graph.open(path).arrays.manifest.files.items():
        stem = name.split(".")[0]
        part = "index and adjacency" if stem in INDEX_FILES else "texts" if stem == "text" else "names, ids, properties"
        sizes[part] += file.bytes
    for part, size in sizes.items():
        report.add(f"disk, {part}", size / MEGABYTE, "MB")


def _measure_open(setting: Setting, path: Path) -> None:
    query = " ".join(setting.words(setting.asked("global")[0]))
    run_script("probe.py", "open", path, query)  # bytecode, and the files into the page cache
    fresh = [run_script("probe.py", "open", path, query) for _ in range(5)]
    typical = {name: float(np.median([one[name] for one in fresh])) for name in fresh[0]}
    add = setting.report.add
    add("open, fresh process", typical["open"] * 1e3, "ms")
    add("open, again", timed({"ours": (Graph.open, [path] * 20)})["ours"].p50, "ms")
    add("import of the package", typical["import"] * 1e3, "ms")
    whole = f"from orienteer import Graph; Graph.open({str(path)!r}).search({query!r}, {K})"
    ours, numpy = (min(run(sys.executable, "-c", code).processor for _ in range(9)) for code in (whole, "import numpy"))
    name = "open and search, fresh process, processor time"
    add(name, ours * 1e3, "ms", peer="import numpy", peer_value=numpy * 1e3)
    if "resident" in typical:
        add("resident after open", typical["resident"] / MEGABYTE, "MB")
        add("anonymous after open", typical["anonymous"] / MEGABYTE, "MB")
    add("first query, fresh process", typical["first"] * 1e3, "ms")
    if _forget(path):
        add(
            "first query, fresh process, files not in memory",
            run_script("probe.py", "open", path, query)["first"] * 1e3,
            "ms",
        )


def _forget(path: Path) -> bool:
    """Ask the system to drop a graph's files from its page cache; False where it cannot be asked."""
    if not hasattr(os, "posix_fadvise"):
        return False
    for file in path.rglob("*"):
        if file.is_file():
            with file.open("rb") as stream:
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return True


# ---------------------------------------------------------------------------------------------- searching and walking


def _measure_global(setting: Setting, others: Mapping[str, peers.Peer | None]) -> None:
    graph, report = setting.graph, setting.report
    for name in ("global", "global + common words"):
        asked = setting.asked(name)
        words = [setting.words(one) for one in asked]
        whole = [" ".join(one) for one in words]
        engines: Engines = {
            "ours": (lambda terms: graph.arrays.text_index.search(terms, K).rows.tolist(), words),
            "whole": (lambda query: graph.arrays.searcher().search(query, K).rows.tolist(), whole),
        }
        for peer_name, peer in others.items():
            if peer is not None:
                engines[peer_name] = (partial(peer.search, k=K), [one.words for one in asked])
        timings = timed(engines)
        for peer_name in others:
            timing = timings.get(peer_name)
            _compare(report, name, timings["ours"], _named(peer_name, timing), timing)
        report.add(f"{name}, whole call, p50", timings["whole"].p50, "ms")
        _agree(setting, name, timings)


def _measure_names(setting: Setting, folder: Path) -> None:
    """Compare the search that puts names first with a line to tantivy, both from a text to ids."""
    tantivy = peers.TantivyOfHits(setting.data, folder) if find_spec("tantivy") else None
    for name in ("global", "global + common words"):
        lines = [" ".join(setting.words(one)) for one in setting.asked(name)]
        engines: Engines = {"ours": (lambda line: setting.graph.search(line, K), lines)}
        if tantivy is not None:
            engines["tantivy"] = (partial(tantivy.hits, k=K), lines)
        timings = timed(engines, rounds=9)
        peer = _named("tantivy", tantivy)
        _compare(setting.report, f"{name}, by names and words", timings["ours"], peer, timings.get("tantivy"))


def _measure_neighborhoods(setting: Setting, others: Mapping[str, peers.Peer | None]) -> None:
    graph, ids, report = setting.graph, setting.data.ids, setting.report
    for name in NEIGHBORHOODS:
        asked = setting.asked(name)
        rows = {
            node: distinct(graph.arrays.adjacency.entries(np.array([node], np.int32)).neighbor)
            for node in {_node(one) for one in asked}
        }
        cases = [(setting.words(one), rows[_node(one)]) for one in asked]
        engines: Engines = {
            "ours": (lambda case: graph.arrays.text_index.search(case[0], K, among=case[1]).rows.tolist(), cases)
        }
        if isinstance(numpy := others["numpy"], peers.PlainNumpy):
            engines["numpy"] = (numpy.among, [(one.words, rows[_node(one)]) for one in asked])
        timings = timed(engines)
        _compare(report, name, timings["ours"], "numpy", timings["numpy"])
        calls = [(ids[_node(one)], " ".join(setting.words(one))) for one in asked]
        whole = timed({"ours": (lambda call: graph.neighbors(*call, k=K).hits, calls)})["ours"]
        report.add(f"{name}, whole call, p50", whole.p50, "ms")
        report.add(f"{name}, whole call, p95", whole.p95, "ms")
        _agree(setting, name, timings)


def _measure_walks(setting: Setting) -> None:
    graph, ids, report = setting.graph, setting.data.ids, setting.report
    hubs = [ids[node] for node in setting.data.hubs]
    pairs = [(ids[_node(one)], ids[one.words[0]]) for one in setting.asked("path")]
    engines: Engines = {
        "intersect three hubs": (graph.intersect, [hubs] * 20),
        "path of up to 4 edges": (lambda pair: graph.paths(pair[0], pair[1], max_length=4), pairs),
    }
    for name, timing in timed(engines).items():
        report.add(f"{name}, p50", timing.p50, "ms")
        report.add(f"{name}, p95", timing.p95, "ms")


def _node(asked: Asked) -> int:
    assert asked.node is not None
    return asked.node


def _compare(report: Report, name: str, ours: Timing, peer: str, theirs: Timing | None) -> None:
    report.add(f"{name}, p50", ours.p50, "ms", peer=peer, peer_value=theirs.p50 if theirs else None)
    report.add(f"{name}, p95", ours.p95, "ms", peer=peer, peer_value=theirs.p95 if theirs else None)


def _agree(setting: Setting, name: str, timings: Mapping[str, Timing]) -> None:
    """Report how much of each ranking is right by exact BM25."""
    right = setting.right[name]
    ours, *others = [
        (engine, agreement(timing.answers, right[: len(timing.answers)]))
        for engine, timing in timings.items()
        if engine != "whole"
    ]
    setting.report.add(f"{name}, right of the first {K}", ours[1], "")
    for engine, share in others:
        setting.report.add(f"{name}, right of the first {K}", ours[1], "", peer=engine, peer_value=share)


if __name__ == "__main__":
    main()
