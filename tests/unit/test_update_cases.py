"""`import --update`: what it refuses, what it imports whole and says so, what lies beside the graph, and a kill."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.graph import Graph, damaged_files, give_vectors, read_about_vectors, read_pointer
from orienteer.index import Strings
from orienteer.ingest import Batch, ImportOptions, import_graph, is_stale, row_hashes, update_graph
from orienteer.records import Node

pytestmark = pytest.mark.slow

NODES = "id,name,type,text\na,Ada,person,wrote notes\nb,Bob,person,builds\nc,Cat,animal,sleeps\n"
EDGES = "source,relation,target\na,knows,b\nb,keeps,c\na,keeps,c\n"


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "nodes.csv").write_text(NODES)
    (folder / "edges.csv").write_text(EDGES)
    return folder


@pytest.fixture
def graph(source, tmp_path):
    update(source, tmp_path / "graph")
    return tmp_path / "graph"


def update(source, target, **options):
    return update_graph([source], target, options=ImportOptions(**options))


def edited(path, *pairs):
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


# ------------------------------------------------------------------------------------------------------- what is told


def test_the_first_time_everything_is_imported(source, tmp_path):
    report = update(source, tmp_path / "graph")
    assert report.whole == f"{tmp_path / 'graph'} was no graph"
    assert report.render().startswith("imported everything: ")


def test_without_a_change_nothing_is_written(source, graph):
    generation = read_pointer(graph).generation
    report = update(source, graph)
    assert (report.whole, report.files.unchanged, report.nodes, report.edges) == (None, 2, 3, 3)
    assert read_pointer(graph).generation == generation


def test_what_came_and_went_is_told(source, graph):
    edited(source / "nodes.csv", ("Cat", "Tom"), ("b,Bob,person,builds\n", "d,Dan,person,reads\ne,Eve,person,\n"))
    edited(source / "edges.csv", ("a,keeps,c", "d,keeps,c\ne,knows,a"))
    report = update(source, graph)
    assert report.whole is None
    assert [len(names) for names in (report.files.changed, report.files.new, report.files.gone)] == [2, 0, 0]
    assert report.nodes_changed.model_dump() == {"came": 2, "changed": 1, "went": 1}
    told = {name: (change.came, change.went) for name, change in report.edges_changed.items()}
    assert told == {"knows": (1, 1), "keeps": (1, 2)}
    assert {cut.reason: cut.count for cut in report.dropped} == {"dangling": 2}
    assert "nodes: 2 came, 1 changed, 1 went" in report.render()


def test_an_edge_that_led_nowhere_is_there_when_its_node_comes(source, graph):
    edited(source / "edges.csv", ("a,knows,b", "a,knows,z"))
    assert update(source, graph).edge_types == {"keeps": 2}
    edited(source / "nodes.csv", ("c,Cat", "z,Zoe,person,\nc,Cat"))
    report = update(source, graph)
    assert (report.whole, report.edge_types, report.files.unchanged) == (None, {"knows": 1, "keeps": 2}, 1)


def test_of_a_file_that_was_only_touched_the_time_is_noted(source, graph):
    os.utime(source / "edges.csv", ns=(5, 5))
    assert is_stale(Graph.open(graph).arrays.manifest)
    report = update(source, graph)
    assert (report.whole, report.files.unchanged, report.edges_changed) == (None, 2, {})
    assert not is_stale(Graph.open(graph).arrays.manifest)
    assert damaged_files(graph) == []


def test_sources_may_be_named_in_another_way(source, graph, monkeypatch):
    monkeypatch.chdir(source.parent)
    edited(source / "edges.csv", ("a,knows,b", "a,knows,c"))
    report = update(Path(source.name), graph)
    assert (report.whole, report.files.unchanged, [mapping.file for mapping in report.mapping]) == (
        None,
        1,
        ["tables/nodes.csv", "tables/edges.csv"],
    )


# ----------------------------------------------------------------------------------------------------- imported whole


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("nodes.csv", NODES.replace("text", "definition"), "is read in another way"),
        ("nodes.csv", NODES + "a,Ada,person,wrote more\n", None),
        ("nodes.csv", NODES + "d,D,person,x\nd,D,person,y\n", None),
        ("labels.csv", "code,label\nknows,is a friend of\nkeeps,owns\n", ""),
    ],
)
def test_what_rows_do_not_tell(source, graph, name, text, why, tmp_path):
    (source / name).write_text(text)
    if why is None:
        with pytest.raises(BadInput, match="Two different nodes have the id"):
            update(source, graph)
        return
    report = update(source, graph)
    assert why in (report.whole or "")
    import_graph([source], tmp_path / "fresh")
    ours, theirs = (Graph.open(path).arrays.manifest for path in (graph, tmp_path / "fresh"))
    for manifest in (ours, theirs):
        manifest.provenance.pop("places", None)  # only folders some time old have a stamp
    assert ours == replace(theirs, generation=ours.generation, created=ours.created)


def test_a_file_that_cannot_be_read_is_left_out(source, graph):
    (source / "more_edges.csv").write_text("source,relation,target\na,knows,c\n")
    assert update(source, graph).whole is None
    (source / "more_edges.csv").write_text('source,relation,target\na,knows,"c\n')
    report = update(source, graph)
    assert "more_edges.csv" in report.whole
    assert (report.unreadable[0].file, report.edges) == (str(source / "more_edges.csv"), 3)
    again = update(source, graph)
    assert (again.whole, again.unreadable) == (None, report.unreadable)


def test_tables_that_their_values_tell_are_imported_whole(tmp_path):
    folder, graph = tmp_path / "shop", tmp_path / "graph"
    folder.mkdir()
    (folder / "customers.csv").write_text("customer_id,name\n1,Ada\n2,Bob\n")
    (folder / "orders.csv").write_text("order_id,customer_id,note\n7,1,quick\n8,2,slow\n")
    update(folder, graph)
    assert update(folder, graph).whole is None
    os.utime(folder / "orders.csv", ns=(5, 5))
    assert update(folder, graph).whole is None
    assert not is_stale(Graph.open(graph).arrays.manifest)
    edited(folder / "orders.csv", ("quick", "late"))
    assert "customer_id leads to rows of other tables" in update(folder, graph).whole


def test_a_database_that_comes_beside_tables_is_read(tmp_path):
    folder, graph = tmp_path / "shop", tmp_path / "graph"
    folder.mkdir()
    (folder / "customers.csv").write_text("customer_id,name\n1,Ada\n2,Bob\n")
    assert update(folder, graph).nodes == 2
    with closing(sqlite3.connect(folder / "more.db")) as database:
        database.executescript(
            "CREATE TABLE shops (id INTEGER PRIMARY KEY, name); INSERT INTO shops VALUES (7, 'Fish')"
        )
    assert is_stale(Graph.open(graph).arrays.manifest)
    assert update(folder, graph).node_types == {"customer": 2, "shop": 1}
    assert not is_stale(Graph.open(graph).arrays.manifest)


def test_a_graph_that_was_imported_without_it_is_imported_once_more(source, tmp_path):
    import_graph([source], tmp_path / "graph")
    assert update(source, tmp_path / "graph").whole is None
    edited(source / "edges.csv", ("knows", "meets"))
    assert "nothing was noted of its rows" in update(source, tmp_path / "graph").whole
    edited(source / "edges.csv", ("meets", "knows"))
    assert update(source, tmp_path / "graph").whole is None


def test_another_version_imports_everything(source, graph, monkeypatch):
    monkeypatch.setattr(inside(update_graph), "__version__", "99.0")
    assert "version" in update(source, graph).whole


def test_a_damaged_ledger_costs_an_import(source, graph):
    edited(source / "edges.csv", ("knows", "meets"))
    next(graph.glob("pieces/*/ledger-*/1_source.i4")).write_bytes(b"none")
    assert "nothing was noted" in update(source, graph).whole


# ----------------------------------------------------------------------------------------------------------- refusals


def test_other_sources_are_refused(source, graph, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "nodes.csv").write_text(NODES)
    with pytest.raises(BadInput, match=r"was made of .*tables: --force imports it whole"):
        update(other, graph)
    assert "was made of" in update(other, graph, force=True).whole


def test_other_options_are_refused(source, graph):
    with pytest.raises(BadInput, match="was made with other options: private was None"):
        update(source, graph, private=("text",))


def test_a_graph_of_records_is_refused(source, tmp_path):
    Graph.from_records([Node("a", "person", "Ada")], [], path=tmp_path / "g")
    with pytest.raises(BadInput, match="was made of no files"):
        update(source, tmp_path / "g")


# ------------------------------------------------------------------------------------------------- beside, and by force


def test_vectors_of_texts_that_stay_go_on(source, graph):
    give_vectors(Graph.open(graph), ["a", "b", "c"], np.eye(3), embedder=None)
    edited(source / "nodes.csv", ("builds", "paints"))
    report = update(source, graph)
    about = read_about_vectors(graph)
    assert (about.nodes, about.lacking) == (2, 1)
    assert any("without a vector" in note for note in report.notes)


def test_private_cells_are_in_no_report(source, tmp_path):
    update(source, tmp_path / "graph", private=("text",))
    edited(source / "nodes.csv", ("b,Bob,person,builds", "b,Bob,person,builds\n,Secret,person,hidden"))
    report = update(source, tmp_path / "graph", private=("text",))
    assert report.whole is None
    assert report.dropped[0].reason == "empty id"
    assert "Secret" not in report.render()


KILLED = """
import os, signal, sys
from pathlib import Path
from orienteer.ingest import ImportOptions, update_graph
step = int(sys.argv[3])
real, calls = os.fsync, []
def sync(handle):
    calls.append(handle)
    if len(calls) == step:
        os.kill(os.getpid(), signal.SIGKILL)
    real(handle)
os.fsync = sync
update_graph([Path(sys.argv[1])], Path(sys.argv[2]), options=ImportOptions())
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("step", [1, 20, 40, 50, 55, 60])
def test_killed_on_the_way_the_old_graph_or_the_new_one_stands(source, graph, step):
    edited(source / "nodes.csv", ("Cat", "Tom"))
    before = read_pointer(graph).generation
    done = subprocess.run([sys.executable, "-c", KILLED, str(source), str(graph), str(step)], check=False)
    assert done.returncode in (0, -signal.SIGKILL)
    name = "Tom" if read_pointer(graph).generation != before else "Cat"
    assert Graph.open(graph).node("c").name == name
    assert damaged_files(graph) == []
    update(source, graph)
    assert Graph.open(graph).node("c").name == "Tom"


# -------------------------------------------------------------------------------------------------------- the hashes


def test_rows_have_one_hash_whoever_reads_them():
    plain = Batch({"a": ("x", "", "ß"), "b": ("1", "2", "3")}, [2, 3, 4])
    bytes_ = Batch({"b": Strings.of(["1", "2", "3"]), "a": Strings.of(["x", "", "ß"])}, [2, 3, 4])
    assert row_hashes(plain).tolist() == row_hashes(bytes_).tolist()


def test_rows_that_say_different_things_have_different_hashes():
    cells = [1, 1.0, True, "1", None, "", "None", [1], ["1"], {"a": 1}, {"a": "1"}, "a", b"a"]
    hashes = row_hashes(Batch({"x": cells}, range(len(cells)))).tolist()
    assert len(set(hashes)) == len(cells)
    swapped = [row_hashes(Batch({"x": [one], "y": [other]}, [1]))[0] for one, other in (("a", "b"), ("b", "a"))]
    assert swapped[0] != swapped[1]
