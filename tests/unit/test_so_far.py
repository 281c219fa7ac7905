"""Graphs of what a build has read so far: what they hold, when they are made, and that the whole is none the other."""

import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from fakes.inside import inside
from orienteer.display import Count
from orienteer.graph import POINTER, Graph
from orienteer.ingest import BuildConfig, BuildOptions, NodeSpool, PartialBuilder, build_graph, cached_path, graph_at
from orienteer.records import Node
from orienteer.retriever import Retriever

pytestmark = pytest.mark.slow


class Clock:
    """A clock that a test sets; each part takes so many seconds."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def eager(monkeypatch):
    """Have a part made after each file."""
    monkeypatch.setattr(inside(PartialBuilder), "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(inside(PartialBuilder), "LEAST_GROWTH", 1.0)
    monkeypatch.setattr(inside(PartialBuilder), "MOST_SHARE", 1e9)
    monkeypatch.setattr(inside(PartialBuilder), "MOST_SHARE_AT_THE_END", 1e9)


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for place, name in enumerate(("ada", "noor", "runa")):
        text = f"{name.title()} Holm sails the Night Ferry.\n\n## More\n\nSee [Noor](noor.md): {place}.\n"
        (folder / f"{name}.md").write_text(f"# About {name}\n\n{text}")
    return folder


def contents(path: Path) -> dict[str, bytes]:
    """Return the files of a graph beneath its folder, with what tells one build from another left out."""
    told = {}
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.name not in (POINTER, "manifest.json", "names.json", ".lock"):
            told[file.name] = file.read_bytes()
    return told


def test_each_part_is_what_was_read_until_then(eager, notes, tmp_path):
    heard = []

    def hear(interim):
        graph = Graph.open(interim.path)
        files = {graph.node(hit.id).properties["file"] for hit in graph.search("Night Ferry", 20)}
        heard.append((interim.files, interim.of, files, graph.schema.edge_types))

    build_graph([notes], tmp_path / "graph", hear=hear)
    assert [each[:2] for each in heard] == [(1, 3), (2, 3), (3, 3)]
    assert [each[2] for each in heard] == [{"ada.md"}, {"ada.md", "noor.md"}, {"ada.md", "noor.md", "runa.md"}]
    assert [each[3].get("links_to", 0) for each in heard] == [0, 2, 3]  # once their end is there
    assert all("shares_names" not in each[3] for each in heard)


def test_the_whole_is_the_same_byte_by_byte(eager, notes, tmp_path):
    heard = []
    build_graph([notes], tmp_path / "alone")
    build_graph([notes], tmp_path / "watched", hear=heard.append)
    assert len(heard) == 3
    alone, watched = contents(tmp_path / "alone"), contents(tmp_path / "watched")
    assert len(alone) > 20
    assert alone == watched
    manifests = [Graph.open(tmp_path / name).arrays.manifest for name in ("alone", "watched")]
    first, second = map(asdict, manifests)
    for each in (first, second):  # only folders some time old have a stamp
        del each["generation"], each["created"]
        each["provenance"].pop("places", None)
    assert first == second


def test_nothing_of_the_parts_stays(eager, notes, tmp_path):
    heard = []
    build_graph([notes], tmp_path / "graph", hear=heard.append)
    assert {entry.name for entry in (tmp_path / "graph").iterdir()} == {POINTER, "generations", "pieces", ".lock"}
    assert not any(interim.path.exists() for interim in heard)


def test_an_open_part_answers_after_its_files_are_gone(eager, notes, tmp_path):
    opened = []
    build_graph([notes], tmp_path / "graph", hear=lambda interim: opened.append(Graph.open(interim.path)))
    assert not opened[0].path.exists()
    for method in ("documents:bm25", "documents", "hippo"):
        assert Retriever(opened[0], method).ask("Night Ferry").hits


def test_a_folder_that_is_read_within_seconds_has_no_parts(notes, tmp_path):
    heard = []
    build_graph([notes], tmp_path / "graph", hear=heard.append)
    assert heard == []


def test_a_listener_that_fails_does_not_stop_the_build(eager, notes, tmp_path):
    def hear(interim):
        raise OSError("no room")

    build_graph([notes], tmp_path / "graph", hear=hear)
    assert len(Graph.open(tmp_path / "graph")) == 6


def test_an_update_has_no_parts(eager, notes, tmp_path):
    build_graph([notes], tmp_path / "graph")
    (notes / "more.md").write_text("# More\n\nMore.")
    heard = []
    build_graph([notes], tmp_path / "graph", options=BuildOptions(update=True), hear=heard.append)
    assert heard == []


def simulated(tmp_path, *, files, read_seconds, part_seconds, nodes_a_file=10):
    """Return when parts of which size were made, by a clock that reading and parts move on, and both times in all."""
    clock, made, part_time = Clock(), [], 0.0
    (tmp_path / "shelf").mkdir()
    shelf = NodeSpool(tmp_path / "shelf")

    def hear(interim):
        nonlocal part_time
        took = part_seconds * len(shelf)
        clock.now += took
        part_time += took
        made.append((interim.files, clock.now))

    watch = PartialBuilder(tmp_path / "parts", [tmp_path], BuildConfig(), {}, hear, clock=clock)
    (tmp_path / "parts").mkdir()
    for count in range(1, files + 1):
        clock.now += read_seconds
        shelf.add(Node(f"{count}#{number}", "chunk", "n", "text") for number in range(nodes_a_file))
        watch(shelf, Count(count, of=files))
    return made, files * read_seconds, part_time


def test_parts_of_text_take_a_quarter_of_reading_and_joining(tmp_path, monkeypatch):
    # In the proportions that were measured, with a tenth of the nodes: reading 3, a part 1, joining 6.
    monkeypatch.setattr(inside(PartialBuilder), "SECONDS_A_NODE", 1e-3)
    made, reading, parts = simulated(tmp_path, files=300, read_seconds=0.3, part_seconds=1e-3, nodes_a_file=100)
    assert made[0][1] < 10
    assert made[-1][0] == 300
    assert parts <= 0.25 * (reading + 300 * 100 * 6e-3)


def test_parts_of_slow_files_grow_by_half(tmp_path):
    made, reading, parts = simulated(tmp_path, files=200, read_seconds=2.0, part_seconds=1e-4)
    assert made[0][1] < 10
    assert all(2 * later >= 3 * sooner for (sooner, _), (later, _) in zip(made, made[1:-1], strict=False))
    assert parts < 0.01 * reading


def test_before_changed_sources_are_read_again_the_graph_before_is_heard_of(notes, tmp_path):
    cache, heard = tmp_path / "cache", []
    graph_at(notes, cache=cache, hear=heard.append)
    assert heard == []
    (notes / "ada.md").write_text("# About Ada\n\nAda Holm stays ashore.")
    graph_at(notes, cache=cache, hear=heard.append)
    assert [(interim.path, interim.files) for interim in heard] == [(cached_path(notes, cache=cache), None)]


KILLED = """
import os, signal, sys
from pathlib import Path
from orienteer.ingest import PartialBuilder, graph_at
so_far = sys.modules[PartialBuilder.__module__]
so_far.FIRST_SECONDS, so_far.LEAST_GROWTH = 0.0, 1.0
so_far.MOST_SHARE = so_far.MOST_SHARE_AT_THE_END = 1e9
def hear(interim):
    if interim.files == 2:
        os.kill(os.getpid(), signal.SIGKILL)
graph_at(Path(sys.argv[1]), cache=Path(sys.argv[2]), hear=hear)
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_a_process_that_is_killed_in_reading_leaves_nothing_half_written(notes, tmp_path):
    cache = tmp_path / "cache"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", KILLED, str(notes), str(cache)]
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    target = cached_path(notes, cache=cache)
    assert not (target / POINTER).exists()
    assert any(target.glob(".new-*"))
    assert graph_at(notes, cache=cache).path == target  # the next one removes what it left
    assert {entry.name for entry in target.iterdir()} == {POINTER, "generations", "pieces", ".lock"}
    build_graph([notes], tmp_path / "alone")
    assert contents(target) == contents(tmp_path / "alone")
