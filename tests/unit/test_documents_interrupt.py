"""A build that somebody interrupts keeps what it read: the next one goes on from there, and makes the same graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.inside import inside
from orienteer.display import Count, seconds_left
from orienteer.errors import BadInput
from orienteer.graph import Graph, is_graph
from orienteer.ingest import BuildOptions, DocumentReader, build_graph, graph_at, is_stale

pytestmark = pytest.mark.slow

FILES = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for at in range(FILES):
        text = f"# About {at}\n\nAda Holm sails boat {at}. See [the next](n{at + 1:02}.md).\n\n## Fees\n\nNone.\n"
        (root / f"n{at:02}.md").write_text(text)
    return root


class Interrupts:
    """Progress that is interrupted as soon as it is told of something for the nth time."""

    def __init__(self, stage: str, times: int) -> None:
        self.stage, self.times, self.told = stage, times, []

    def __call__(self, stage: str, count: int) -> None:
        self.told.append(stage)
        if stage.startswith(self.stage):
            self.times -= 1
            if self.times == 0:
                raise KeyboardInterrupt


def contents(path: Path):
    graph = Graph.open(path)
    edges = {(edge.source, edge.type, edge.target): edge for edge in graph.iter_edges()}
    return {node_id: graph.node(node_id) for node_id in graph.node_ids()}, edges


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The names of the files that are read."""
    names: list[str] = []
    plainly = DocumentReader.documents

    def documents(self, file):
        names.append(file.name)
        return plainly(self, file)

    monkeypatch.setattr(DocumentReader, "documents", documents)
    return names


def interrupted_once(monkeypatch, owner, name):
    """Have a method raise `KeyboardInterrupt` when it is called for the first time."""
    plainly, times = getattr(owner, name), iter([KeyboardInterrupt()])

    def method(*arguments, **options):
        for error in times:
            raise error
        return plainly(*arguments, **options)

    monkeypatch.setattr(owner, name, method)


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        *((times, times) for times in (1, 2, 5, 11, 12)),
        ("documents", 0),
        *((name, FILES) for name in ("refuse", "add_nodes", "add_edges", "publish")),
    ],
)
def test_what_was_read_is_used_again(folder, tmp_path, reads, monkeypatch, place, kept):
    told = Interrupts("reading documents", place if isinstance(place, int) else -1)
    run = inside(build_graph)
    owners = [
        owner for owner in (DocumentReader, run.Intake, run.Weaver, run.GraphBuilder) if str(place) in vars(owner)
    ]
    for owner in owners[:1]:
        interrupted_once(monkeypatch, owner, place)
    with pytest.raises(KeyboardInterrupt):
        build_graph([folder], tmp_path / "graph", progress=told)
    if kept:
        assert told.told[-1] == f"kept: {kept} of 12 files; the next build of the same sources goes on from there"
        graph = Graph.open(tmp_path / "graph")
        assert f"{kept} of 12 files" in graph.arrays.manifest.provenance["notes"][0]
        assert len({graph.node(node).properties["file"] for node in graph.node_ids()}) == kept
        assert is_stale(graph.arrays.manifest)
        with pytest.raises(BadInput, match="holds a graph already"):
            build_graph([folder / "n00.md"], tmp_path / "graph")
    else:
        assert not is_graph(tmp_path / "graph")
    reads.clear()
    report = build_graph([folder], tmp_path / "graph")
    assert len(reads) == FILES - kept
    assert report.documents == FILES
    build_graph([folder], tmp_path / "unbroken")
    assert contents(tmp_path / "graph") == contents(tmp_path / "unbroken")
    assert "interrupted" not in Graph.open(tmp_path / "graph").arrays.manifest.provenance


def test_it_goes_on_from_where_it_was_interrupted_again_and_again(folder, tmp_path, reads):
    for _ in range(4):
        with pytest.raises(KeyboardInterrupt):
            graph_at(folder, cache=tmp_path / "cache", progress=Interrupts("reading documents", len(reads) + 2))
    assert len(reads) == 8
    graph_at(folder, cache=tmp_path / "cache")
    assert len(reads) == len(set(reads)) == FILES


def test_a_graph_that_is_whole_stays_as_it_was(folder, tmp_path):
    build_graph([folder], tmp_path / "graph")
    before = contents(tmp_path / "graph")
    (folder / "n00.md").write_text("# New\n\nOther words.")
    for options in (BuildOptions(force=True), BuildOptions(update=True)):
        with pytest.raises(KeyboardInterrupt):
            build_graph([folder], tmp_path / "graph", options=options, progress=Interrupts("reading documents", 3))
        assert contents(tmp_path / "graph") == before


def test_progress_is_by_bytes(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.log").write_text("2026-03-01 10:00:00 words of a log that is long\n" * 80_000)
    (tmp_path / "docs" / "b.txt").write_text("Short.")
    told: list[tuple[str, int]] = []
    build_graph([tmp_path / "docs"], tmp_path / "graph", progress=lambda stage, count: told.append((stage, count)))
    reading = [(stage, count) for stage, count in told if stage.startswith("reading documents")]
    assert [stage for stage, _ in reading] == [
        *(f"reading documents, {done} of 3.8 MB" for done in ("1.0", "2.0", "3.0")),
        *["reading documents, 3.8 of 3.8 MB"] * 2,
    ]
    counts = [count for _, count in reading]
    assert all(isinstance(count, Count) and count.of == 2 for count in counts)
    assert seconds_left(counts[0], 30.0) == pytest.approx(30.0 * 2.84, rel=0.1)
