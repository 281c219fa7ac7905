"""A graph is stale once a source has changed; as long as no folder has, none is listed again."""

import os
import sys
import time

import pytest

from orienteer.graph import Graph
from orienteer.ingest import build_graph, import_graph, is_stale

HOUR = 3_600

pytestmark = pytest.mark.slow  # of each test the folder must be older than the grain of the clock of files


def later(path, seconds=HOUR):
    os.utime(path, (path.stat().st_mtime + seconds,) * 2)


def settle():
    """Wait as long as the times of a file system are in doubt."""
    time.sleep(0.06)


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    (folder / "deep" / "drafts").mkdir(parents=True)
    (folder / "a.md").write_text("# A\n\nWords of a.\n", encoding="utf-8")
    (folder / "deep" / "b.md").write_text("# B\n\nWords of b.\n", encoding="utf-8")
    (folder / "deep" / "drafts" / "c.md").write_text("# C\n\nA draft.\n", encoding="utf-8")
    (folder / ".gitignore").write_text("drafts\n", encoding="utf-8")
    (folder / ".git").mkdir()
    settle()
    build_graph([folder], tmp_path / "graph")
    return folder


@pytest.fixture
def tables(tmp_path):
    folder = tmp_path / "tables"
    (folder / "more").mkdir(parents=True)
    (folder / "nodes.csv").write_text("id,name\n1,Ann\n2,Bob\n", encoding="utf-8")
    (folder / "edges.csv").write_text("source,target\n1,2\n", encoding="utf-8")
    settle()
    import_graph([folder], tmp_path / "graph")
    return folder


def stale(folder):
    return is_stale(Graph.open(folder.parent / "graph").arrays.manifest)


@pytest.mark.parametrize("made", ["docs", "tables"])
def test_of_an_untouched_folder_nothing_is_listed(made, request, monkeypatch):
    folder = request.getfixturevalue(made)
    manifest = Graph.open(folder.parent / "graph").arrays.manifest
    assert "places" in manifest.provenance
    for name in ("listdir", "scandir"):
        monkeypatch.setattr(os, name, None)
    for name in ("documents.read.files", "formats", "tables"):
        monkeypatch.setitem(sys.modules, f"orienteer.ingest.{name}", None)
    assert not is_stale(manifest)


def test_a_folder_that_changes_while_it_is_read_is_listed_again(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("Words.", encoding="utf-8")
    later(folder)
    build_graph([folder], tmp_path / "graph")
    assert "places" not in Graph.open(tmp_path / "graph").arrays.manifest.provenance
    assert not stale(folder)
    (folder / "b.md").write_text("Words.", encoding="utf-8")
    assert stale(folder)


@pytest.mark.parametrize("change", ["new", "deep", "edited", "gone", "renamed", "heeded again"])
def test_a_changed_document_is_noticed(docs, change):
    match change:
        case "new":
            (docs / "new.md").write_text("New.", encoding="utf-8")
        case "deep":
            (docs / "deep" / "new.md").write_text("New.", encoding="utf-8")
        case "edited":
            later(docs / "deep" / "b.md")
        case "gone":
            (docs / "deep" / "b.md").unlink()
        case "renamed":
            (docs / "a.md").rename(docs / "z.md")
        case "heeded again":
            with (docs / ".gitignore").open("r+", encoding="utf-8") as rules:
                rules.write("#other/\n")
    assert stale(docs)


@pytest.mark.parametrize("change", ["ignored", "hidden", "no document", "in what is ignored"])
def test_what_is_no_source_makes_nothing_stale(docs, change):
    names = {
        "ignored": "drafts",
        "hidden": ".new.md",
        "no document": "new.png",
        "in what is ignored": "deep/drafts/d.md",
    }
    (docs / names[change]).write_bytes(b"\x89PNG\r\n\x1a\n\0" if change == "no document" else b"words")
    assert not stale(docs)


@pytest.mark.parametrize("change", ["new", "edited", "gone"])
def test_a_changed_table_is_noticed(tables, change):
    match change:
        case "new":
            (tables / "pets.csv").write_text("id,name\n7,Rex\n", encoding="utf-8")
        case "edited":
            later(tables / "nodes.csv")
        case "gone":
            (tables / "edges.csv").unlink()
    assert stale(tables)


def test_what_comes_beneath_tables_makes_nothing_stale(tables):
    (tables / "more" / "pets.csv").write_text("id,name\n7,Rex\n", encoding="utf-8")
    (tables / ".hidden.csv").write_text("id,name\n7,Rex\n", encoding="utf-8")
    assert not stale(tables)
