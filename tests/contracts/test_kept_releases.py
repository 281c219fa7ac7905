"""Graphs that each release wrote still open, answer, and follow their sources: `tests/kept/VERSION.zip`.

Of a new release add what it writes, by the commands in its `COMMANDS.txt`; those of earlier ones are never replaced.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

import orienteer
from orienteer import Graph, Retriever
from orienteer.errors import NotAGraph
from orienteer.graph import GRAPH_FORMAT, MANIFEST, find_damage, generation_of, read_pointer
from orienteer.ingest import BuildOptions, ImportOptions, build_graph, import_graph, update_graph
from same_graphs import facts

KEPT = Path(__file__).parents[1] / "kept"
RELEASES = sorted(KEPT.glob("*.zip"))
THERE = "/srv/kept"
"""The folder in which every release's graphs were made."""
GRAPHS = ("documents-graph", "knowledge-base", "tables-graph", "updated-graph")

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.stem)]


@pytest.fixture
def kept(release, tmp_path) -> Path:
    """Return a folder with what a release wrote, as if it had been made there: the recorded paths are its own."""
    folder = tmp_path / "kept"
    with zipfile.ZipFile(release) as archive:
        archive.extractall(folder)
    for graph in GRAPHS:
        pointer = folder / graph / "orienteer.json"
        said = json.loads(pointer.read_bytes())
        manifest = generation_of(folder / graph, read_pointer(folder / graph)) / MANIFEST
        said["manifest"] = moved(manifest, folder, dates=True)["sha256"]
        for piece in (said["pieces"] or {}).values():
            for name in [name for name in piece["files"] if name == "ledger.json"]:
                [file] = (folder / graph / "pieces").glob(f"*/{piece['folder']}/{name}")
                piece["files"][name] = moved(file, folder, dates=True)
        pointer.write_text(json.dumps(said), encoding="utf-8")
    return folder


def moved(file: Path, folder: Path, *, dates: bool) -> dict[str, object]:
    """Write the paths of `folder` into a file, and give the sources the dates in it; return its size and hash."""
    content = json.loads(file.read_text(encoding="utf-8").replace(THERE, str(folder)))
    tables = content.get("tables") or content.get("provenance", {}).get("sources", ())
    for source in tables:
        if dates and "modified" in source and (path := Path(source["path"])).is_file():
            os.utime(path, ns=(source["modified"], source["modified"]))
    file.write_text(json.dumps(content), encoding="utf-8")
    return {"bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def answer(graph: Path, question: str, method: str = "auto") -> str | None:
    result = Retriever(Graph.open(graph), method).ask(question)
    return result.answer or (result.hits[0].text if result.hits else None)


def test_each_opens_and_is_whole(release, tmp_path):
    with zipfile.ZipFile(release) as archive:
        archive.extractall(tmp_path)
    for name in GRAPHS:
        graph = Graph.open(tmp_path / name)
        assert graph.arrays.manifest.made_by == release.stem
        assert len(graph) > 4
        assert find_damage(tmp_path / name, read_pointer(tmp_path / name).generation) is None


def test_each_answers(kept):
    assert answer(kept / "tables-graph", "Who directed Rope?") == "Ada Holm"
    assert answer(kept / "updated-graph", "Who directed Rope?") == "Bo Lind"
    assert answer(kept / "updated-graph", "How many films did Bo Lind direct?") == "2"
    assert "Eiffel" in answer(kept / "documents-graph", "Who built the lighthouse of Runoe?")
    assert "12.50" in answer(kept / "documents-graph", "What is the price of a ticket?")
    assert "Ada Holm directed Salt" in answer(kept / "knowledge-base", "Who directed Salt?", "hippo")


@pytest.mark.parametrize("name", ["tables-graph", "updated-graph"])
def test_each_graph_of_tables_follows_them(release, kept, name):
    after = kept / "updated-tables"
    for file in after.glob("*.csv"):
        shutil.copy(file, kept / "tables")
    edges = kept / "tables" / "edges.csv"
    edges.write_text(edges.read_text(encoding="utf-8") + "ada,directed,fern\n", encoding="utf-8")
    report = update_graph([kept / "tables"], kept / name, options=ImportOptions())
    if release.stem == orienteer.__version__ and name == "updated-graph":
        assert report.whole is None, "its rows were noted: only what changed is read"
    import_graph([kept / "tables"], kept / "fresh")
    assert facts(Graph.open(kept / name)) == facts(Graph.open(kept / "fresh"))
    assert answer(kept / name, "Who directed Fern?") == "Ada Holm"


@pytest.mark.parametrize(("name", "extract"), [("documents-graph", None), ("knowledge-base", "triples")])
def test_each_graph_of_documents_follows_them(kept, name, extract):
    text = "# Fern\n\nFern was directed by Ada Holm in 2013.\n"
    (kept / "documents" / "fern.md").write_text(text, encoding="utf-8")
    options = BuildOptions(update=True, extract=extract)
    build_graph([kept / "documents"], kept / name, options=options)
    build_graph([kept / "documents"], kept / "fresh", options=BuildOptions(extract=extract))
    updated, fresh = Graph.open(kept / name), Graph.open(kept / "fresh")
    assert sorted(updated.node_ids()) == sorted(fresh.node_ids())
    assert sum(1 for _ in updated.iter_edges()) == sum(1 for _ in fresh.iter_edges())
    assert "Ada Holm" in answer(kept / name, "Who directed Fern?", "hippo")


def test_a_later_format_is_refused_in_one_sentence(release, tmp_path):
    with zipfile.ZipFile(release) as archive:
        archive.extractall(tmp_path)
    for name in GRAPHS:
        pointer = tmp_path / name / "orienteer.json"
        said = json.loads(pointer.read_bytes())
        pointer.write_text(json.dumps({**said, "format": GRAPH_FORMAT + 1}), encoding="utf-8")
        with pytest.raises(NotAGraph) as refused:
            Graph.open(tmp_path / name)
        sentence = rf"{tmp_path / name} has format {GRAPH_FORMAT + 1}, this version reads up to {GRAPH_FORMAT}"
        assert str(refused.value) == f"{sentence}: upgrade orienteer"


def test_there_is_one_of_this_release(release):
    """A version without a suffix is a release, and its graphs are kept."""
    if orienteer.__version__.count(".") == 2:
        assert orienteer.__version__ in {path.stem for path in RELEASES}
