"""The directory: what may be replaced, what is refused, what is found broken, and that nothing is left behind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orienteer.errors import BadInput, DuplicateNode, Error, GraphBusy, NotAGraph, UsageError
from orienteer.graph import (
    GRAPH_FORMAT,
    Graph,
    GraphBuilder,
    damaged_files,
    no_link,
    piece_folder,
    publish_piece,
    read_manifest,
    read_pointer,
)
from orienteer.records import Edge, Node

pytestmark = pytest.mark.slow

A, B = [Node("a", text="old words")], [Node("b", text="new words")]


def make(path, nodes=A, *, force=False):
    return Graph.from_records(nodes, [], path=path, force=force)


def generation(path):
    """Return the folder of the current generation."""
    return path / "generations" / read_pointer(path).generation


def tree(path):
    """Return all files below a folder and what they hold."""
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}


# --------------------------------------------------------------------------------------------- what may be written over


def test_a_graph_is_replaced_only_with_force(scratch):
    path = scratch()
    make(path)
    before = tree(path)
    with pytest.raises(BadInput, match="--force"):
        make(path, B)
    assert tree(path) == before
    make(path, B, force=True)
    assert list(Graph.open(path).arrays.ids) == ["b"]


def test_the_old_generation_is_removed(scratch):
    path = scratch()
    make(path)
    old = generation(path)
    make(path, B, force=True)
    assert not old.exists()
    assert list((path / "generations").iterdir()) == [generation(path)]
    assert {one.name for one in path.iterdir()} == {"orienteer.json", "generations", ".lock"}


@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize(
    "name", ["thesis.txt", ".hidden", "generations.txt", "pieces/chess.txt", "generations/x/me.txt"]
)
def test_any_other_folder_is_refused_and_left_alone(scratch, name, force):
    path = scratch()
    (path / name).parent.mkdir(parents=True)
    (path / name).write_text("mine")
    with pytest.raises(BadInput, match="not empty"):
        make(path, force=force)
    assert tree(path) == {(path / name).relative_to(path): b"mine"}


def test_files_beside_a_graph_outlive_its_replacement(scratch):
    path = scratch()
    make(path)
    (path / "notes.txt").write_text("mine")
    make(path, B, force=True)
    assert (path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("force", [True, False])
def test_a_file_is_refused(scratch, force):
    path = scratch()
    path.write_text("mine")
    with pytest.raises(BadInput, match="is a file"):
        make(path, force=force)
    assert path.read_text() == "mine"


def test_a_path_below_a_file_is_refused(scratch):
    path = scratch()
    path.write_text("mine")
    with pytest.raises(BadInput):
        make(path / "graph")


def test_an_empty_folder_and_missing_parents_will_do(scratch):
    empty = scratch()
    empty.mkdir()
    assert len(make(empty)) == 1
    assert len(make(scratch() / "deep" / "er")) == 1


def test_what_a_killed_process_left_is_removed(scratch):
    path = scratch()
    (path / ".new-0dead_00" / "spool").mkdir(parents=True)
    (path / ".new-0dead_00" / "id.utf8").write_text("half")
    (path / ".new-01234567").write_text("half")
    (path / ".lock").touch()
    make(path)
    assert {one.name for one in path.iterdir()} == {"orienteer.json", "generations", ".lock"}


# -------------------------------------------------------------------------------------------------- nothing left behind


BROKEN = {
    "no nodes": ([], [], BadInput),
    "two nodes of one id": ([Node("a"), Node("a", text="other")], [], DuplicateNode),
    "a dangling edge": (A, [Edge("a", "x", "missing")], UsageError),
    "an empty id": ([Node("")], [], BadInput),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_failed_build_leaves_nothing(scratch, case):
    nodes, edges, error = BROKEN[case]
    path = scratch()
    with pytest.raises(error):
        Graph.from_records(nodes, edges, path=path)
    assert not path.exists()


@pytest.mark.parametrize("case", BROKEN)
def test_a_failed_build_leaves_the_old_graph(scratch, case):
    nodes, edges, error = BROKEN[case]
    path = scratch()
    make(path)
    before = tree(path)
    with pytest.raises(error):
        Graph.from_records(nodes, edges, path=path, force=True)
    assert tree(path) == before


def test_an_interrupted_build_leaves_nothing(scratch):
    def nodes():
        yield Node("a")
        raise KeyboardInterrupt

    path = scratch()
    with pytest.raises(KeyboardInterrupt):
        make(path, nodes())
    assert not path.exists()


def test_a_builder_that_never_publishes_leaves_nothing(scratch):
    path = scratch()
    with GraphBuilder(path) as builder:
        builder.add_node(Node("a"))
    assert not path.exists()


# ------------------------------------------------------------------------------------------------------------- the lock


HOLD = """
import sys
from pathlib import Path
from orienteer.graph import GraphBuilder
with GraphBuilder(Path(sys.argv[1]), force=True):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def held(scratch):
    """Give a graph that another process is writing to."""
    path = scratch()
    make(path)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "held\n"
    yield path
    other.communicate("\n", timeout=30)


@pytest.mark.process
def test_two_processes_do_not_write_at_once(held):
    with pytest.raises(GraphBusy, match="another process"):
        make(held, B, force=True)
    assert [hit.id for hit in Graph.open(held).search("old", 5)] == ["a"]


def test_two_builders_of_one_process_do_not_write_at_once(scratch):
    path = scratch()
    with GraphBuilder(path) as first:
        first.add_node(Node("a"))
        with pytest.raises(GraphBusy):
            make(path, B)
        first.publish()
    assert list(Graph.open(path).arrays.ids) == ["a"]


class Early(type(Path())):
    """A path that was looked at before another process made the folder."""

    def exists(self, **_):
        return False


def test_whoever_comes_too_late_takes_nothing_away(scratch):
    path = scratch()
    with GraphBuilder(path) as first:
        first.add_node(Node("a"))
        with pytest.raises(GraphBusy), GraphBuilder(Early(path)):
            pass
        first.publish()
    assert list(Graph.open(path).arrays.ids) == ["a"]


def test_the_lock_ends_with_the_writer(scratch):
    path = scratch()
    with pytest.raises(DuplicateNode):
        make(path, [Node("a"), Node("a", text="other")])
    make(path)
    make(path, B, force=True)


# ------------------------------------------------------------------------------------------------------- broken folders


def test_opening_what_is_no_graph_says_so(scratch):
    missing, empty, file = scratch(), scratch(), scratch()
    empty.mkdir()
    file.write_text("text")
    with pytest.raises(NotAGraph, match="does not exist.*orienteer import"):
        Graph.open(missing)
    with pytest.raises(NotAGraph, match="not a graph directory"):
        Graph.open(empty)
    with pytest.raises(NotAGraph, match="not a graph directory"):
        Graph.open(str(file))
    assert not missing.exists()


def test_a_newer_format_is_named_and_not_touched(scratch):
    path = scratch()
    make(path)
    pointer = path / "orienteer.json"
    pointer.write_text(json.dumps({"format": GRAPH_FORMAT + 1, "generation": {"anything": "else"}}))
    with pytest.raises(NotAGraph, match=f"format {GRAPH_FORMAT + 1}.*upgrade"):
        Graph.open(path)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"7", b"{}", b"\xff\xfe", b'{"format": 1}', b'{"format": "x", "generation": "y"}',
        b'{"format": null, "generation": "y"}', b'{"format": 1, "generation": 5}',
        b'{"format": 1e999, "generation": "y"}',
        b'{"format": 1, "generation": "gone"}',
    ],
)  # fmt: skip
def test_a_damaged_pointer_is_told(scratch, content):
    path = scratch()
    make(path)
    (path / "orienteer.json").write_bytes(content)
    with pytest.raises(NotAGraph, match="--force"):
        Graph.open(path)
    make(path, B, force=True)
    assert list(Graph.open(path).arrays.ids) == ["b"]


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"format": 1}'])
def test_a_damaged_manifest_is_told(scratch, content):
    path = scratch()
    make(path)
    (generation(path) / "manifest.json").write_bytes(content)
    with pytest.raises(NotAGraph, match="--force"):
        Graph.open(path)


def test_any_missing_or_cut_file_is_found_when_opening(scratch):
    path = scratch()
    graph = Graph.from_records([Node("a", text="x y", properties={"p": 1})], [Edge("a", "t", "a", "z")], path=path)
    assert len(graph.arrays.manifest.files) > 20
    for name, record in graph.arrays.manifest.files.items():
        file = generation(path) / name
        whole = file.read_bytes()
        assert len(whole) == record.bytes
        file.unlink()
        with pytest.raises(NotAGraph, match="lacks.*--force"):
            Graph.open(path)
        for wrong in (whole[:-1], whole + b"\0") if whole else (b"\0",):
            file.write_bytes(wrong)
            with pytest.raises(NotAGraph, match="bytes, but"):
                Graph.open(path)
        file.write_bytes(whole)
    assert len(Graph.open(path)) == 1


def test_every_flipped_byte_is_found_by_the_hashes(scratch):
    path = scratch()
    graph = Graph.from_records(
        [Node("a", text="x y", aliases=("z",), properties={"p": 1}), Node("b")], [Edge("a", "t", "b", "w")], path=path
    )
    folder = generation(path)
    assert damaged_files(path) == []
    assert {file.name for file in folder.iterdir()} == {*graph.arrays.manifest.files, "manifest.json"}
    for name in (*graph.arrays.manifest.files, "manifest.json"):
        file = folder / name
        whole = file.read_bytes()
        if whole:
            at = len(whole) // 2
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert name in damaged_files(path)
        file.unlink()
        assert damaged_files(path) == [name]
        file.write_bytes(whole)


def test_a_manifest_records_how_the_graph_was_made(scratch):
    path = scratch()
    with GraphBuilder(path, provenance={"sources": ["a.csv"]}) as builder:
        builder.add_node(Node("a", "t"))
        manifest = builder.publish(labels={"t": "thing"}, also_called={"t": ["object"]})
    opened = Graph.open(path)
    assert opened.arrays.manifest == read_manifest(path, read_pointer(path))
    assert opened.arrays.manifest.files == manifest.files
    assert (opened.arrays.manifest.format, opened.arrays.manifest.nodes, opened.arrays.manifest.edges) == (
        GRAPH_FORMAT,
        1,
        0,
    )
    assert opened.arrays.manifest.provenance == {"sources": ["a.csv"]}
    assert opened.schema.labels == {"t": "thing"}
    assert opened.schema.also_called == {"t": ("object",)}
    assert opened.arrays.manifest.generation == generation(path).name


def test_every_error_here_is_of_the_tree():
    assert all(issubclass(one, Error) for one in (BadInput, GraphBusy, NotAGraph))
    assert not issubclass(GraphBusy, UsageError)


def test_a_piece_is_published_beside_its_generation_and_ends_with_it(scratch):
    path = scratch()
    Graph.from_records([Node("a")], [], path=path)
    assert piece_folder(path, "vectors") is None
    first = publish_piece(path, "vectors", lambda folder: (folder / "x").write_bytes(b"1") and None)
    assert (first / "x").read_bytes() == b"1"
    assert piece_folder(path, "vectors") == first
    second = publish_piece(path, "vectors", lambda folder: (folder / "x").write_bytes(b"2") and None)
    assert piece_folder(path, "vectors") == second
    assert not first.exists()
    other = publish_piece(path, "cypher", lambda folder: None)
    assert piece_folder(path, "vectors") == second
    assert piece_folder(path, "cypher") == other
    assert Graph.open(path).arrays.ids[0] == "a"
    Graph.from_records([Node("b")], [], path=path, force=True)
    assert piece_folder(path, "vectors") is None
    assert not second.exists()


def test_a_piece_that_fails_leaves_nothing_behind(scratch):
    path = scratch()
    Graph.from_records([Node("a")], [], path=path)

    def fail(folder):
        (folder / "x").write_bytes(b"1")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        publish_piece(path, "vectors", fail)
    assert piece_folder(path, "vectors") is None
    assert {entry.name for entry in path.iterdir()} == {".lock", "generations", "orienteer.json"}


def test_a_folder_that_goes_while_it_is_looked_at_is_missing_and_not_damaged(tmp_path):
    class Going(type(tmp_path)):
        """A folder that another process removes as soon as it was seen to be there."""

        def stat(self, **options):
            status = super().stat(**options)
            if options.get("follow_symlinks", True):
                Path(self).rmdir()
            return status

    folder = Going(tmp_path / "20261123T092847-07113b04")
    Path(folder).mkdir()
    assert no_link(folder) == folder
    assert not Path(folder).exists(), "it was never looked at"
    assert no_link(folder) == folder
