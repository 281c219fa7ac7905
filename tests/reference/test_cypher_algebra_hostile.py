"""Hostile statements against the algebra: each ends within its time and memory, and nothing changes."""

import contextlib
import json
import resource
import sys
import time
from pathlib import Path

import pytest

from orienteer.cypher import ArraysEngine, Cypher
from orienteer.errors import Error
from orienteer.graph import Graph
from orienteer.ingest import demo_records

CORPUS = Path(__file__).parents[1] / "cypher"
SECONDS = 1.0
LATE = 1.0
"""Seconds beyond its time that a statement may take."""
MOST_MEMORY = 1_500 << 20
"""Bytes that the process may have at its largest."""
STATEMENTS = [
    json.loads(line)
    for name in ("hostile.jsonl", "hostile_algebra.jsonl")
    for line in (CORPUS / name).read_text().splitlines()
]


@pytest.fixture(scope="module")
def demo(scratch):
    nodes, edges = demo_records()
    return Graph.from_records(nodes, edges, path=scratch())


def given(value):
    """Return a parameter that the corpus writes in short."""
    if isinstance(value, dict) and "$repeat" in value:
        part, count = value["$repeat"]
        return part * count
    return list(range(value["$range"])) if isinstance(value, dict) and "$range" in value else value


def files(graph):
    return {file: file.stat().st_mtime_ns for file in Path(graph.path).rglob("*") if file.is_file()}


@pytest.mark.parametrize("line", STATEMENTS, ids=lambda line: line["id"])
def test_every_hostile_statement_ends_in_time(demo, line, tmp_path):
    before = files(demo)
    parameters = {name: given(value) for name, value in line.get("parameters", {}).items()}
    started = time.process_time()
    with contextlib.suppress(Error):
        found = Cypher(demo, ArraysEngine).query(
            line["query"].replace("{folder}", str(tmp_path)), parameters, limit=None, seconds=SECONDS
        )
        assert len(json.dumps(found.rows, ensure_ascii=False)) < 600_000
    assert time.process_time() - started < SECONDS + LATE
    assert files(demo) == before
    assert not list(tmp_path.iterdir())
    if sys.platform == "linux":
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 < MOST_MEMORY
