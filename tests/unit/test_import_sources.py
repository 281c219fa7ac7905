"""A folder of tables as a graph in the cache: made once, made again when it has changed, by any number of processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fakes.embedder import WordEmbedder
from orienteer.errors import BadInput, NotAGraph
from orienteer.graph import Graph, embed_graph, publishing
from orienteer.ingest import (
    Selection,
    cached_graphs,
    cached_path,
    graph_at,
    graph_directory,
    import_graph,
    is_stale,
    skipped_groups,
    stamps_of,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "my graph"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,name\na,A\nb,B\n")
    (folder / "edges.csv").write_text("source,type,target\na,r,b\n")
    return folder


class Told(list[str]):
    def __call__(self, stage: str, count: int) -> None:
        if not count:
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
        "nodes.csv and edges.csv: 1 type of things (2 nodes), 1 type of links (r)",
    ]
    generation = Graph.open(target).arrays.manifest.generation
    assert graph_directory(source / ".." / source.name, cache=cache, progress=told) == target
    assert Graph.open(target).arrays.manifest.generation == generation
    assert len(told) == 2
    assert sorted(path.name for path in source.iterdir()) == ["edges.csv", "nodes.csv"]


def test_types_are_told_in_words(tmp_path: Path) -> None:
    told = Told()
    folder = tmp_path / "shop"
    folder.mkdir()
    for name in ("products", "products copy"):
        (folder / f"{name}.csv").write_text("product_id,name\n1,Lamp of " + name + "\n2,Desk of " + name + "\n")
    graph_directory(folder, cache=tmp_path / "cache", progress=told)
    assert told[-1].endswith("2 types of things (2 products and 2 product copies), no links")


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
    assert f"1 type of things ({after.nodes} node" in told[-1]


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
    assert told[-1].endswith(f"1 type of links (r); dropped 2 dangling (orienteer info {source})")


def test_a_failure_says_that_nothing_was_made_and_leaves_nothing(source: Path, tmp_path: Path) -> None:
    (source / "edges.csv").write_text("source,type,target\na,r,b,c\n")
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


def test_a_file_that_belongs_to_the_tables_makes_nothing_stale(source: Path, tmp_path: Path) -> None:
    target = graph_directory(source, cache=tmp_path / "cache")
    import_graph([source], tmp_path / "graph")
    for name in ("README.md", "fetch.py", "logo.png"):
        (source / name).write_text("words")
    assert not is_stale(Graph.open(target).arrays.manifest)
    (source / "notes.md").write_text("words")
    assert is_stale(Graph.open(target).arrays.manifest)
    assert not is_stale(Graph.open(tmp_path / "graph").arrays.manifest)


def test_documents_beside_a_graph_in_tables_are_kept_with_it(source: Path, tmp_path: Path) -> None:
    cache, told = tmp_path / "cache", Told()
    (source / "docs").mkdir()
    (source / "docs" / "plan.md").write_text("# Plan\n\nAda Holm sails.\n")
    (source / "docs" / "more.md").write_text("# More\n\nSee [it](plan.md), says Ada Holm.\n")
    (source / "notes.txt").write_text("The ferry of Ada Holm leaves, at nine.\n")
    for name in ("README.md", "fetch.py", "logo.png", "empty.html"):
        (source / name).write_text("words" if name != "empty.html" else "")
    graph = Graph.open(graph_directory(source, cache=cache, progress=told))
    manifest = graph.arrays.manifest
    assert told[-1].endswith(
        "nodes.csv and edges.csv: 3 types of things (3 chunks, 3 documents and 2 nodes), "
        "5 types of links (r, part_of, links_to, mentions and 1 more), 3 documents beside the tables"
    )
    assert manifest.node_types == {"node": 2, "document": 3, "chunk": 3}
    assert manifest.edge_types == {"r": 1, "part_of": 3, "links_to": 1, "mentions": 2, "shares_names": 3}
    assert manifest.symmetric == ("shares_names",)
    assert [(group.reason, group.files) for group in skipped_groups(manifest)] == [
        ("empty", ["empty.html"]),
        ("pictures", ["logo.png"]),
        ("beside a graph in tables: orienteer build reads them", ["fetch.py"]),
    ]
    assert not is_stale(manifest)
    (source / "docs" / "plan.md").write_text("# Plan\n\nNo more.\n")
    assert is_stale(manifest)
    graph_directory(source, cache=cache, progress=told)
    (source / "empty.html").write_text("<p>Filled")
    assert is_stale(Graph.open(cached_path(source, cache=cache)).arrays.manifest)


def test_what_was_cleaned_of_tables_stays_so_when_documents_come(source: Path, tmp_path: Path) -> None:
    (source / "edges.csv").write_text("source,type,target\na,r,b\nb,r,a\na,r,b\na,r,none\na,s,b\n")
    (source / "notes.md").write_text("# Plan\n\nWords.\n")
    manifest = Graph.open(graph_directory(source, cache=tmp_path / "cache")).arrays.manifest
    assert manifest.edge_types == {"r": 1, "s": 1, "part_of": 1}
    assert manifest.symmetric == ("r",)


@pytest.mark.server
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such files there")
@pytest.mark.parametrize("beside", [None, "nodes.csv"])
def test_what_cannot_be_read_costs_a_line_each_and_nothing_else(
    beside: str | None, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = source if beside else tmp_path / "docs"
    folder.mkdir(exist_ok=True)
    (folder / "plan.md").write_text("# Plan\n\nWords.\n")
    for name in ("secret.md", "secret", "secret.txt", "secret.csv"):
        (folder / name).write_text("a,b\n1,2\n")
    (folder / "locked").mkdir()
    (folder / "locked" / "inside.md").write_text("words")
    (folder / "listed").mkdir()
    (folder / "listed" / "inside.md").write_text("words")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "gone.md").symlink_to(folder / "nothing")
    (folder / "up").symlink_to(folder.parent)
    os.mkfifo(folder / "pipe.md")
    os.mkfifo(folder / ".gitignore")
    with socket.socket(socket.AF_UNIX) as door:
        monkeypatch.chdir(folder)
        door.bind("door.md")
    Path(os.fsdecode(b"bad\xff.md")).write_text("words")
    Path(os.fsdecode(b"worse\xff")).mkdir()
    opened, scandir, stat = Path.open, os.scandir, Path.stat

    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    def guarded_open(self: Path, *args, **options):
        return refuse(self) if self.stem == "secret" else opened(self, *args, **options)

    def guarded_scandir(path):
        return refuse(path) if str(path).endswith("locked") else scandir(path)

    def guarded_stat(self: Path, **options):
        return refuse(self) if self.parent.name == "listed" else stat(self, **options)

    monkeypatch.setattr(Path, "open", guarded_open)
    monkeypatch.setattr(os, "scandir", guarded_scandir)
    monkeypatch.setattr(Path, "stat", guarded_stat)
    manifest = Graph.open(graph_directory(folder, cache=tmp_path / "cache")).arrays.manifest
    names = {name for stamp in manifest.provenance["sources"] for name in [Path(stamp["path"]).name]}
    names |= {Path(stamp["path"]).name for stamp in manifest.provenance.get("beside", ())}
    assert names == {"plan.md", *(("nodes.csv", "edges.csv") if beside else ())}
    told = {name: group.reason for group in skipped_groups(manifest) for name in group.files}
    rights = "cannot be read: Permission denied"
    assert {name: reason for name, reason in told.items() if name not in ("secret", "secret.csv")} == {
        **dict.fromkeys(["secret.md", "secret.txt", "locked", "listed/inside.md"], rights),
        **dict.fromkeys(["loop", "gone.md"], "a link to nothing"),
        **dict.fromkeys(["pipe.md", "door.md"], "no regular file"),
        **dict.fromkeys(["bad?.md", "worse?"], "its name is no UTF-8: rename it"),
        "up": "a link to a folder",
    }
    assert "secret" in told
    assert rights in told["secret.csv"]
    assert not is_stale(manifest)


def test_each_selection_of_files_has_a_graph_of_its_own(tmp_path: Path) -> None:
    folder, cache = tmp_path / "docs", tmp_path / "cache"
    folder.mkdir()
    for name in ("a.md", "b.txt", "c.py", "rows.csv"):
        (folder / name).write_text("one,two\n1,2\n")

    def files(**chosen) -> set[str]:
        found = graph_at(folder, cache=cache, selection=Selection(**chosen))
        manifest = Graph.open(found.path).arrays.manifest
        assert not is_stale(manifest)
        assert not graph_at(folder, cache=cache, selection=Selection(**chosen)).is_new
        return set(stamps_of(manifest))

    assert files() == {"a.md", "b.txt", "c.py", "rows.csv"}
    assert files(include=("*.md",)) == {"a.md"}
    assert files(exclude=("*.md", "*.csv")) == {"b.txt", "c.py"}
    (folder / "d.txt").write_text("new")
    assert files(include=("*.md",)) == {"a.md"}
    assert files(exclude=("*.md", "*.csv")) == {"b.txt", "c.py", "d.txt"}
    assert len(cached_graphs(folder, list((cache / "graphs").iterdir()))) == 3
    with pytest.raises(BadInput, match="no document in .* is left by --include and --exclude"):
        files(include=("*.rst",))
    made = graph_directory(folder, cache=cache)
    with pytest.raises(BadInput, match="is a graph already: --include and --exclude choose"):
        graph_at(made, cache=cache, selection=Selection(include=("*",)))


def test_a_part_of_a_graph_in_tables_is_not_taken_for_the_graph(source: Path, tmp_path: Path) -> None:
    (source / "notes.md").write_text("# Plan\n\nWords.\n")

    def types(**chosen) -> set[str]:
        found = graph_at(source, cache=tmp_path / "cache", selection=Selection(**chosen))
        return set(Graph.open(found.path).arrays.manifest.node_types)

    with pytest.raises(BadInput, match=r"is a graph in tables, and --include and --exclude leave out edges\.csv"):
        types(exclude=("edges.csv",))
    assert types(include=("*.md",)) == {"document", "chunk"}
    assert types(exclude=("*.md",)) == {"node"}


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
    (source / "nodes.csv").write_text("id,name\na,b,c\n")
    with pytest.raises(BadInput, match="line 2"):
        graph_directory(source, cache=tmp_path / "cache")


@pytest.mark.process
def test_processes_that_start_at_once_share_one_whole_graph(source: Path, tmp_path: Path) -> None:
    (source / "nodes.csv").write_text("id,name\n" + "".join(f"{n},name {n}\n" for n in range(3000)))
    (source / "edges.csv").write_text("source,type,target\n" + "".join(f"{n},r,{n // 2}\n" for n in range(3000)))
    program = (
        "import sys; from pathlib import Path\n"
        "from orienteer.ingest import graph_directory\n"
        "from orienteer.graph import Graph\n"
        "graph = Graph.open(graph_directory(Path(sys.argv[1]), cache=Path(sys.argv[2])))\n"
        "sys.stdout.write(f'{graph.arrays.manifest.generation} {len(list(graph.iter_edges()))}')"
    )
    command = [sys.executable, "-c", program, str(source), str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate(timeout=60)[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(said) == 1
    assert said.pop().endswith(" 3000")
