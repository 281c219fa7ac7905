"""Which files run: a question runs nothing of an import, and an import of plain tables nothing of the annexes."""

import sys
import threading
import time
from pathlib import Path

import pytest

import orienteer
from orienteer import Graph, Retriever
from orienteer.ingest import import_graph
from orienteer.methods import METHODS

PACKAGE = Path(orienteer.__file__).parent
ANNEXES = ("lab/", "connect/")


def files_run(work):
    """Return the files of the package in which a function runs while some work is done, relative to the package."""
    files = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_flags & 2:  # 2: a function, no class body
            files.add(code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    inside = (Path(file) for file in files)
    return {file.relative_to(PACKAGE).as_posix() for file in inside if file.is_relative_to(PACKAGE)}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    (folder / "nodes.csv").write_text("id,name,type\n1,Ann,person\n2,Swift,ship\n3,Bob,person\n", encoding="utf-8")
    (folder / "edges.csv").write_text("source,target,type\n1,2,sails\n3,2,built\n", encoding="utf-8")
    time.sleep(0.06)  # a change within the grain of the file system's clock would not be seen
    return folder


@pytest.fixture(scope="module")
def imported(tables, tmp_path_factory):
    path = tmp_path_factory.mktemp("imported") / "graph"
    import_graph([tables], path)
    return path


@pytest.mark.parametrize(
    "name", [name for name, card in METHODS.items() if not (card.needs_model or card.needs_vectors)]
)
def test_a_question_over_tables_that_have_not_changed_runs_nothing_of_an_import(imported, name):
    graph = Graph.open(imported)
    graph.arrays.manifest.provenance["places"]  # they were settled when the graph was made
    files = files_run(lambda: Retriever(graph, name).ask("Who sails the Swift?"))
    assert "retriever.py" in files
    assert not [file for file in files if file.startswith("ingest/")]


def test_an_import_of_plain_tables_tries_no_format_of_an_annex(tables, tmp_path):
    files = files_run(lambda: import_graph([tables], tmp_path / "graph"))
    assert "ingest/importer.py" in files
    assert not [file for file in files if file.startswith(ANNEXES)]
