"""A folder of tables as a graph in the cache: made once, made again when it has changed, by any number of processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fakes.embedder import WordEmbedder
from orienteer.errors import BadInput, NotAGraph
from orienteer.graph.embedding import embed_graph
from orienteer.graph.publication import publishing
from orienteer.graph.store import Graph
from orienteer.ingest.importer import import_graph
from orienteer.ingest.provenance import is_stale
from orienteer.ingest.sources import cached_path, graph_directory


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "my graph"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,name\na,A\nb,B\n")
    (folder / "edges.csv").write_text("source,type,target\na,r,b\n")
    return folder


class Told(list[str]):
    def __call__(self, stage: str, count: int) -> None:
        if "cache" in stage:
            self.append(stage)


def test_a_graph_directory_is_itself(source: Path, tmp_path: Path) -> None:
    import_graph([source], tmp_path / "graph")
    assert graph_directory(tmp_path / "graph", cache=tmp_path / "cache") == tmp_path / "graph"
    assert not (tmp_path / "cache").exists()


def test_tables_are_imported_once_and_it_is_said(source: Path, tmp_path: Path) -> None:
    told = Told()
    cache = tmp_path / "cache"
    target = graph_directory(source, cache=cache, progress=told)
    assert target == cached_path(source, cache=cache)
    assert told == [
        f"making a graph of {source} in the cache",
        f"made in the cache at {target}: 2 nodes, 1 edge",
    ]
    generation = Graph.open(target).arrays.manifest.generation
    assert graph_directory(source / ".." / source.name, cache=cache, progress=told) == target
    assert Graph.open(target).arrays.manifest.generation == generation
    assert len(told) == 2
    assert sorted(path.name for path in source.iterdir()) == ["edges.csv", "nodes.csv"]


def test_one_file_is_a_source_too(tmp_path: Path) -> None:
    (tmp_path / "kg.tsv").write_text("a\tr\tb\n")
    target = graph_directory(tmp_path / "kg.tsv", cache=tmp_path / "cache")
    assert Graph.open(target).arrays.manifest.nodes == 2


def _grow(folder: Path) -> None:
    (folder / "nodes.csv").write_text("id,name\na,A\nb,B\nc,C\n")


def _rewrite(folder: Path) -> None:
    (folder / "nodes.csv").write_text("id,name\na,X\nb,Y\n")
    os.utime(folder / "nodes.csv", ns=(1, 1))


def _add(folder: Path) -> None:
    (folder / "more_nodes.csv").write_text("id,name\nd,D\n")


def _remove(folder: Path) -> None:
    (folder / "edges.csv").unlink()


@pytest.mark.parametrize("change", [_grow, _rewrite, _add, _remove])
def test_changed_sources_are_imported_again(change, source: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    target = graph_directory(source, cache=cache)
    before = Graph.open(target).arrays.manifest
    assert not is_stale(before)
    change(source)
    assert is_stale(before)
    told = Told()
    assert graph_directory(source, cache=cache, progress=told) == target
    after = Graph.open(target).arrays.manifest
    assert after.generation != before.generation
    assert not is_stale(after)
    assert told[0] == f"the sources have changed: making a graph of {source} in the cache"
    assert told[1].startswith(f"made in the cache at {target}: {after.nodes} nodes, ")


def test_documents_that_change_take_their_vectors_with_them_and_that_is_told(tmp_path: Path) -> None:
    folder, cache = tmp_path / "notes", tmp_path / "cache"
    folder.mkdir()
    (folder / "one.txt").write_text("Ada Holm sails the Night Ferry.")
    target = graph_directory(folder, cache=cache)
    embed_graph(Graph.open(target), WordEmbedder(), cache=cache)
    (folder / "two.txt").write_text("Noor Vik sails the Low Tide.")
    told = Told()
    graph_directory(folder, cache=cache, progress=told)
    assert told[1].endswith("orienteer embed makes them again, unchanged texts from the cache")


def test_rows_that_were_dropped_are_told(source: Path, tmp_path: Path) -> None:
    (source / "edges.csv").write_text("source,type,target\na,r,b\na,r,nobody\na,r,none\n")
    told = Told()
    graph_directory(source, cache=tmp_path / "cache", progress=told)
    assert told[-1].endswith(f"2 nodes, 1 edge; dropped 2 dangling: see orienteer validate {source}")


def test_a_failure_says_that_nothing_was_made_and_leaves_nothing(source: Path, tmp_path: Path) -> None:
    (source / "edges.csv").write_text("source,type,target\na,r\n")
    told = Told()
    with pytest.raises(BadInput, match="line 2"):
        graph_directory(source, cache=tmp_path / "cache", progress=told)
    assert told == [f"making a graph of {source} in the cache"]
    assert list((tmp_path / "cache" / "graphs").iterdir()) == []


def test_whoever_waits_for_another_process_says_so_once(source: Path, tmp_path: Path) -> None:
    cache, told = tmp_path / "cache", list[str]()
    target = cached_path(source, cache=cache)
    with publishing(target):
        waiter = threading.Thread(
            target=graph_directory,
            args=(source,),
            kwargs={"cache": cache, "progress": lambda stage, _: told.append(stage)},
        )
        waiter.start()
        waiter.join(0.3)
        assert told == [f"making a graph of {source} in the cache", "waiting for another process that makes it"]
    waiter.join(10)
    assert told.count("waiting for another process that makes it") == 1
    assert Graph.open(target).arrays.manifest.nodes == 2


def test_a_file_that_is_no_table_makes_nothing_stale(source: Path, tmp_path: Path) -> None:
    target = graph_directory(source, cache=tmp_path / "cache")
    (source / "notes.md").write_text("words")
    assert not is_stale(Graph.open(target).arrays.manifest)


def test_a_graph_without_sources_is_never_stale(tmp_path: Path) -> None:
    graph = Graph.from_records([{"id": "a"}], [], path=tmp_path / "graph")
    assert not is_stale(graph.arrays.manifest)


def test_a_damaged_cache_is_made_again(source: Path, tmp_path: Path) -> None:
    target = graph_directory(source, cache=tmp_path / "cache")
    manifest = Graph.open(target).arrays.manifest
    (target / "generations" / manifest.generation / "manifest.json").write_text("{")
    assert Graph.open(graph_directory(source, cache=tmp_path / "cache")).arrays.manifest.nodes == 2


def test_what_is_no_graph_is_said(source: Path, tmp_path: Path) -> None:
    with pytest.raises(NotAGraph, match="does not exist"):
        graph_directory(tmp_path / "nothing", cache=tmp_path / "cache")
    (source / "nodes.csv").write_text("id,name\na\n")
    with pytest.raises(BadInput, match="line 2"):
        graph_directory(source, cache=tmp_path / "cache")


def test_processes_that_start_at_once_share_one_whole_graph(source: Path, tmp_path: Path) -> None:
    (source / "nodes.csv").write_text("id,name\n" + "".join(f"{n},name {n}\n" for n in range(3000)))
    (source / "edges.csv").write_text("source,type,target\n" + "".join(f"{n},r,{n // 2}\n" for n in range(3000)))
    program = (
        "import sys; from pathlib import Path\n"
        "from orienteer.ingest.sources import graph_directory\n"
        "from orienteer.graph.store import Graph\n"
        "graph = Graph.open(graph_directory(Path(sys.argv[1]), cache=Path(sys.argv[2])))\n"
        "sys.stdout.write(f'{graph.arrays.manifest.generation} {len(list(graph.iter_edges()))}')"
    )
    command = [sys.executable, "-c", program, str(source), str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate(timeout=60)[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(said) == 1
    assert said.pop().endswith(" 3000")
