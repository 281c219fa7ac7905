"""What `import --update` costs by how much has changed, beside an import of everything in the same run.

    python benchmarks/update.py tables-S-csv WORK [--shares 0 1row 0.0001 0.001 0.01 0.1 0.5] [--check] [--json FILE]

The folder has the tables that `store.py --import` writes, nodes.csv and edges.csv. Rows are drawn at random: an edge
gets another target, a node another word in its text and another year. Each update starts from the same graph; seconds
and processor time are those of the whole command. `--check` compares the files of each graph with those that an import
of the same tables writes.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from report import Cost, command_line, run, write_json

Edit = Callable[[random.Random, list[bytes]], None]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("tables", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--shares", nargs="+", default=["0", "1row", "0.0001", "0.001", "0.01", "0.1", "0.5"])
    parser.add_argument("--files", nargs="+", default=["edges", "nodes"], choices=["edges", "nodes"])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    bench = Bench(arguments.tables, arguments.work)
    rows = bench.imports()
    for share in arguments.shares:
        for file in arguments.files if share != "0" else ["none"]:
            rows.append(bench.update(file, share, is_checked=arguments.check))
    write_json(arguments.json, rows)


class Bench:
    """Runs commands over a copy of some tables."""

    def __init__(self, tables: Path, work: Path) -> None:
        self._tables, self._work = tables, work
        self._source, self._graph, self._base = work / "tables", work / "graph", work / "base"
        shutil.rmtree(work, ignore_errors=True)
        self._source.mkdir(parents=True)
        self._rows = {name: _count(tables / f"{name}.csv") for name in ("nodes", "edges")}

    def imports(self) -> list[dict[str, Any]]:
        """Import everything, without and with what an update needs, and keep the graph to start from."""
        self._restore()
        plain = _run("import", self._source, "-o", self._work / "plain")
        noting = _run("import", self._source, "-o", self._base, "--update")
        shutil.rmtree(self._work / "plain")
        return [_told("import of everything", plain), _told("first import --update", noting)]

    def update(self, file: str, share: str, *, is_checked: bool) -> dict[str, Any]:
        """Change a share of the rows of a file, and bring the graph up to date."""
        self._restore()
        shutil.rmtree(self._graph, ignore_errors=True)
        shutil.copytree(self._base, self._graph, copy_function=os.link)
        changed = 0
        if file != "none":
            changed = 1 if share == "1row" else round(float(share) * self._rows[file])
            _edit(self._tables / f"{file}.csv", self._source / f"{file}.csv", changed, EDITS[file])
        cost = _run("import", self._source, "-o", self._graph, "--update")
        name = f"{changed:,} of {self._rows[file]:,} {file}" if changed else "nothing changed"
        if is_checked and changed:
            _run("import", self._source, "-o", self._work / "fresh", "--force")
            differing = _differing(self._graph, self._work / "fresh")
            assert not differing, differing
            name += ", checked"
        return _told(name, cost)

    def _restore(self) -> None:
        for name in ("nodes.csv", "edges.csv"):
            if not (self._source / name).exists() or not _is_same(self._tables / name, self._source / name):
                shutil.copy2(self._tables / name, self._source / name)


def _is_same(one: Path, other: Path) -> bool:
    before, now = one.stat(), other.stat()
    return (before.st_size, before.st_mtime_ns) == (now.st_size, now.st_mtime_ns)


def _count(table: Path) -> int:
    with table.open("rb") as file:
        return sum(1 for _ in file) - 1


def _edit(old: Path, new: Path, count: int, edit: Edit) -> None:
    """Write a table with some rows changed."""
    chance = random.Random(5)
    chosen = set(chance.sample(range(1, _count(old) + 1), count))
    with old.open("rb") as read, new.open("wb") as written:
        for number, line in enumerate(read):
            if number in chosen:
                cells = line.rstrip(b"\n").split(b",")
                edit(chance, cells)
                line = b",".join(cells) + b"\n"
            written.write(line)


def _edit_edge(chance: random.Random, cells: list[bytes]) -> None:
    cells[2] = b"n%0*d" % (len(cells[2]) - 1, chance.randrange(1000))


def _edit_node(chance: random.Random, cells: list[bytes]) -> None:
    cells[3] += b" ponas%d" % chance.randrange(100)
    cells[4] = b"%d" % chance.randrange(1900, 2000)


EDITS: dict[str, Edit] = {"edges": _edit_edge, "nodes": _edit_node}


def _run(*command: object) -> Cost:
    """Run a command of Orienteer."""
    return run(sys.executable, "-m", "orienteer", *command, "--json", "--quiet")


def _told(name: str, cost: Cost) -> dict[str, Any]:
    """Print a figure, and return it."""
    report = json.loads(cost.output)
    peak, whole = report["peak_bytes"], report.get("whole")
    told = f", everything imported: {whole}" if whole else ""
    spent = f"{cost.seconds:6.1f} s {cost.processor:6.1f} s of processor time {(peak or 0) / 1e6:6.0f} MB"
    print(f"{name:40} {spent}{told}", flush=True)
    return {"name": name, "seconds": cost.seconds, "processor": cost.processor, "peak_bytes": peak, "whole": whole}


def _differing(one: Path, other: Path) -> list[str]:
    """Return the files of two graphs that differ."""
    digests: Sequence[dict[str, str]] = [
        {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest()
            for file in graph.glob("generations/*/*")
            if file.name != "manifest.json"
        }
        for graph in (one, other)
    ]
    return sorted(name for name in {*digests[0], *digests[1]} if digests[0].get(name) != digests[1].get(name))


if __name__ == "__main__":
    main()
