"""Damage and hostile files: whatever byte of a graph is wrong, that is told, or the answer is what it was."""

import gc
import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from damages import KINDS, damaged
from fakes.embedder import WordEmbedder, embedded
from fakes.inside import inside
from orienteer.errors import BadInput, Error, NotAGraph, Unknown
from orienteer.graph import (
    IMPORT_AGAIN,
    Graph,
    GraphBuilder,
    damage_message,
    damaged_files,
    damaged_pieces,
    find_damage,
    is_piece_damaged,
    piece_folder,
    piece_or_made,
    publish_piece,
    read_about_vectors,
    read_pointer,
)
from orienteer.ingest import LinkConfig, is_stale, link_graph
from orienteer.lab.bases import open_communities
from orienteer.records import Edge, Node
from orienteer.retriever import Retriever

pytestmark = pytest.mark.slow


def open_files():
    numbers = Path("/proc/self/fd")
    return len(list(numbers.iterdir())) if numbers.is_dir() else 0


@pytest.fixture(scope="module")
def open_before():
    return open_files()  # graphs of other tests, which live as long as the session


@pytest.fixture(autouse=True)
def few_files(open_before):
    """Close what failed tries left open: each keeps some forty files until the collector comes by, which is late."""
    yield
    if open_files() > open_before + 500:
        gc.collect()


TIMES = 1  # damages of each kind a file


@pytest.fixture(scope="module")
def records(small_records):
    many = [
        Node(f"n{at:03}", "ship", f"Ship {at} of the Line", f"salt {'sail ' * (at * 9)}and ferry {at % 7}", ("Łódka",))
        for at in range(60)
    ]
    edges = [Edge(f"n{at:03}", "follows", f"n{(at * 7 + 1) % 60:03}", weight=at / 3) for at in range(60)]
    return [*small_records.nodes, *many], [*small_records.edges, *edges, Edge("n001", "carries", "f2", "in a crate")]


@pytest.fixture(scope="module")
def whole(build, records):
    """Give the folder of a graph in which every file holds something."""
    graph = build(*records)
    assert not [name for name, one in graph.arrays.manifest.files.items() if not one.bytes]
    return graph.path


@pytest.fixture
def copy(whole, tmp_path):
    """Give a copy of its own of the folder."""
    return shutil.copytree(whole, tmp_path / "graph")


READINGS = {
    "search": lambda graph: [graph.search(words, 5) for words in ("salt ferry", "sail", "captain", "林檎", "line")],
    "typed": lambda graph: graph.search("salt", 50, node_types=["film", "ship"], where=["year>1990"]),
    "where": lambda graph: [graph.search("salt", where=[one]) for one in ("year!=1998", "awards=x", "born>1970-01-01")],
    "node": lambda graph: [graph.node(name) for name in ("Night Ferry", "Lodz", "n007", "Ship 9 of the Line", "p1")],
    "near": lambda graph: [graph.arrays.near_names(name) for name in ("Nigth Fery", "Shipp", "Sall")],
    "neighbors": lambda graph: [graph.neighbors(name, "ferry") for name in ("p1", "n001", "f2", "c1")],
    "several": lambda graph: graph.neighbors(["p1", "n001", "f2"], edge_types=["wrote", "follows"], k=50),
    "intersect": lambda graph: graph.intersect(["f1", "f2"]),
    "paths": lambda graph: [graph.paths("p3", "c1"), graph.paths("n000", "n001", 8)],
    "edges": lambda graph: list(graph.iter_edges()),
    "ids": lambda graph: list(graph.node_ids()),
    "anchor": lambda graph: Retriever(graph, "anchor").search("which films did Ada Holm direct?", 5).hits,
    "sage": lambda graph: Retriever(graph, "sage").search("ships that follow a ferry", 5).hits,
}


def read(path):
    """Return what every reading gives, or the error of ours that it ends in; any other error is raised."""
    found = {}
    for name, reading in READINGS.items():
        try:
            found[name] = reading(Graph.open(path))
        except Error as error:
            found[name] = error
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_any_damage_is_told_or_changes_an_answer_and_nothing_else(copy, kind, record_property):
    number = KINDS.index(kind)
    random = np.random.default_rng(number)
    right = read(copy)
    assert not [one for one in right.values() if isinstance(one, Error)]
    (generation,) = (copy / "generations").iterdir()
    held = told = changed = 0
    for file in sorted(generation.iterdir())[number % 2 :: 2]:  # each file meets half of the kinds
        content = file.read_bytes()
        for _ in range(TIMES):
            other = damaged(content, kind, random)
            if other == content:
                continue
            file.write_bytes(other)
            assert file.name in damaged_files(copy)
            found = read(copy)
            assert found.keys() == right.keys()
            for name, one in found.items():
                if isinstance(one, Error):
                    # An id that is another now is a name that the graph does not hold.
                    assert isinstance(one, Unknown) or (isinstance(one, NotAGraph) and IMPORT_AGAIN in str(one)), name
                told += isinstance(one, NotAGraph)
                changed += not isinstance(one, NotAGraph) and one != right[name]
            held += 1
        file.write_bytes(content)
    assert held > 15
    assert told > 5
    readings = held * len(right)
    assert changed < readings / 5
    record_property("corpus", f"damage: {kind}: of {readings} readings {told} told, {changed} changed")


@pytest.mark.parametrize("is_inside", [True, False])
def test_a_failure_is_looked_into_once_for_each_graph(copy, whole, is_inside):
    generation = Graph.open(copy).arrays.manifest.generation

    @damage_message(copy, generation)
    def fail():
        try:
            with damage_message(copy if is_inside else whole, generation):
                raise ZeroDivisionError
        finally:  # who looked into it once more would find this
            (copy / "generations" / generation / "text.utf8").write_bytes(b"other")

    with pytest.raises(ZeroDivisionError if is_inside else NotAGraph) as caught:
        fail()
    if not is_inside:
        assert "text.utf8 is damaged" in str(caught.value)


# ------------------------------------------------------------------------------------------------- names and links


OUTSIDE = ("{victim}", "../../../victim", "../..", "..", ".", "", "../../generations", "a/b", "C:x", "nul\0", "\n", "é")


def tree(path):
    """Return all files below a folder, links as what they lead to."""
    files = [one for one in path.rglob("*") if one.is_symlink() or one.is_file()]
    return {str(one): str(one.readlink()) if one.is_symlink() else one.read_bytes() for one in files}


@pytest.fixture
def victim(tmp_path):
    """Give a folder of a person's own, beside the graph."""
    (tmp_path / "victim" / "precious").mkdir(parents=True)
    (tmp_path / "victim" / "precious" / "thesis.txt").write_text("mine")
    return tmp_path / "victim"


def replace(graph, **changes):
    """Change the pointer as its sender likes."""
    pointer = json.loads((graph / "orienteer.json").read_text())
    (graph / "orienteer.json").write_text(json.dumps({**pointer, **changes}))


def publish_anything(graph):
    """Do what makes pieces and what replaces the graph; what of it is refused is refused."""
    for name in ("vectors", "cypher", "names"):
        try:
            publish_piece(graph, name, lambda work: (work / "new").write_text("new") and None)
        except Error:
            continue
    try:
        Graph.from_records([Node("b")], [], path=graph, force=True)
    except NotAGraph:
        return


HOSTILE = {
    "a generation": lambda name: {"generation": name},
    "a folder": lambda name: {"pieces": {"vectors": name}},
    "a folder with hashes": lambda name: {"pieces": {"vectors": {"folder": name, "files": {}}}},
    "a piece": lambda name: {"pieces": {name: "vectors-01234567"}},
    "another's folder": lambda name: {"pieces": {"cypher": "vectors-01234567"}},
    "a file": lambda name: {"pieces": {"vectors": {"folder": "vectors-01234567", "files": {name: FILE}}}},
    "a newline": lambda name: {"pieces": {"vectors": "vectors-01234567\n"}},
}
FILE = {"bytes": 4, "sha256": "0" * 64}


@pytest.mark.parametrize("where", HOSTILE)
def test_a_name_that_is_none_of_ours_is_refused_and_nothing_outside_is_touched(copy, victim, where, record_property):
    for name in OUTSIDE:
        replace(copy, **HOSTILE[where](name.format(victim=victim)))
        before = tree(victim)
        with pytest.raises(NotAGraph, match=r"damaged.*--force"):
            Graph.open(copy)
        for reading in (damaged_files, damaged_pieces, read_about_vectors):
            with pytest.raises(NotAGraph):
                reading(copy)
        publish_anything(copy)
        assert tree(victim) == before
        assert list(Graph.open(copy).arrays.ids) == ["b"]  # an import with --force mends all of it
        record_property("corpus", "hostile names")


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_manifest_names_files_of_its_own_folder(copy, victim, name):
    (generation,) = (copy / "generations").iterdir()
    manifest = json.loads((generation / "manifest.json").read_text())
    content = json.dumps({**manifest, "files": {name.format(victim=victim): FILE}}).encode()
    (generation / "manifest.json").write_bytes(content)
    replace(copy, manifest=hashlib.sha256(content).hexdigest())
    with pytest.raises(NotAGraph, match=r"manifest\.json is damaged"):
        Graph.open(copy)
    assert damaged_files(copy) == ["manifest.json"]


@pytest.mark.parametrize("name", ["indptr.i8", "neighbor.i4"])
def test_files_that_do_not_fit_one_another_are_told_though_their_hashes_fit(copy, name):
    (generation,) = (copy / "generations").iterdir()
    content = (generation / name).read_bytes()[:-1]
    (generation / name).write_bytes(content)
    manifest = json.loads((generation / "manifest.json").read_text())
    manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    written = json.dumps(manifest).encode()
    (generation / "manifest.json").write_bytes(written)
    replace(copy, manifest=hashlib.sha256(written).hexdigest())
    with pytest.raises(NotAGraph, match="is damaged"):
        Graph.open(copy)


def test_a_manifest_of_another_generation_is_none(copy):
    (generation,) = (copy / "generations").iterdir()
    other = generation.with_name("20200101T000000-01234567")
    generation.rename(other)
    replace(copy, generation=other.name)
    with pytest.raises(NotAGraph, match=generation.name):
        Graph.open(copy)


@pytest.mark.parametrize("linked", ["generations", "pieces", "generations/ID", "pieces/ID", "pieces/ID/NAME"])
def test_a_linked_folder_is_refused_and_nothing_is_removed_through_it(copy, victim, linked):
    made = publish_piece(copy, "vectors", lambda work: (work / "new").write_text("new") and None)
    place = copy / linked.replace("ID", made.parent.name).replace("NAME", made.name)
    inside = victim / place.name
    place.rename(inside)
    place.symlink_to(inside, target_is_directory=True)
    before = tree(victim)
    with pytest.raises(NotAGraph, match="is a link"):
        Graph.open(copy) if linked.startswith("generations") else piece_folder(copy, "vectors")
    publish_anything(copy)
    assert tree(victim) == before


@pytest.mark.parametrize("name", ["generations", "generations/ID", "pieces", "pieces/ID", "pieces/ID/NAME"])
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_a_folder_that_is_none_is_told(copy, name, kind):
    made = publish_piece(copy, "vectors", lambda work: (work / "new").write_text("new") and None)
    place = copy / name.replace("ID", made.parent.name).replace("NAME", made.name)
    shutil.rmtree(place)
    place.write_text("mine") if kind == "file" else os.mkfifo(place)
    with pytest.raises(
        NotAGraph, match=f"{place.name} is damaged .it is not a folder.: (remove it|run orienteer embed)"
    ):
        Graph.open(copy) if name.startswith("generations") else piece_folder(copy, "vectors")
    publish_anything(copy)  # no error but ours
    if place.name == made.name:
        return
    place.unlink(missing_ok=True)
    publish_anything(copy)
    assert list(Graph.open(copy).arrays.ids) == ["b"]


def test_a_linked_pointer_is_refused(copy, tmp_path):
    file = copy / "orienteer.json"
    file.rename(tmp_path / "private")
    file.symlink_to(tmp_path / "private")
    with pytest.raises(NotAGraph, match=r"orienteer\.json is not an ordinary file"):
        Graph.open(copy)
    before = (tmp_path / "private").read_text()
    publish_anything(copy)
    assert list(Graph.open(copy).arrays.ids) == ["b"]
    assert not file.is_symlink()
    assert (tmp_path / "private").read_text() == before


@pytest.mark.parametrize("name", ["generations/thesis", "pieces/thesis", ".new-thesis", "generations/20200101", "mine"])
def test_what_is_not_ours_outlives_every_change(copy, victim, name):
    publish_piece(copy, "vectors", lambda work: (work / "new").write_text("new") and None)
    shutil.copytree(victim, copy / name)
    publish_anything(copy)
    assert list(Graph.open(copy).arrays.ids) == ["b"]
    assert (copy / name / "precious" / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "name", [".new-01234567", "generations/20200101T000000-01234567", "pieces/ID/vectors-00000000"]
)
@pytest.mark.parametrize("target", ["victim", "victim/precious/thesis.txt", "nowhere"])
def test_of_a_link_under_a_name_of_ours_the_link_alone_goes(copy, victim, tmp_path, name, target):
    made = publish_piece(copy, "vectors", lambda work: (work / "new").write_text("new") and None)
    place = copy / name.replace("ID", made.parent.name)
    place.symlink_to(tmp_path / target)
    before = tree(victim)
    publish_anything(copy)
    assert tree(victim) == before
    assert list(Graph.open(copy).arrays.ids) == ["b"]
    assert not place.is_symlink()


def test_nothing_is_made_through_a_linked_lock(copy, tmp_path):
    (copy / ".lock").unlink()
    (copy / ".lock").symlink_to(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="is a link"):
        publish(copy)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["manifest.json", "text.utf8", "indptr.i8"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_nothing_is_read_through_what_is_no_ordinary_file(copy, tmp_path, name, kind):
    (generation,) = (copy / "generations").iterdir()
    file = generation / name
    file.rename(tmp_path / "private")
    if kind == "link":
        file.symlink_to(tmp_path / "private")
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.mkdir()
    with pytest.raises(NotAGraph, match=f"{name} is not an ordinary file"):
        Graph.open(copy)
    assert damaged_files(copy) == [name]


def test_a_graph_may_be_reached_through_a_link(copy, tmp_path):
    (tmp_path / "there").symlink_to(copy, target_is_directory=True)
    assert len(Graph.open(tmp_path / "there")) == len(Graph.open(copy))
    publish_anything(tmp_path / "there")
    assert list(Graph.open(copy).arrays.ids) == ["b"]


def test_a_folder_that_is_given_up_keeps_what_others_have_put_there(tmp_path):
    with GraphBuilder(tmp_path / "new") as builder:
        builder.add_node(Node("a"))
        (tmp_path / "new" / "thesis.txt").write_text("mine")
    assert {one.name for one in (tmp_path / "new").iterdir()} == {"thesis.txt"}


# ---------------------------------------------------------------------------------------------------------- pieces


def publish(graph, name="vectors", size=1 << 17):
    return publish_piece(graph, name, lambda work: (work / "new").write_bytes(bytes(size)) and None)


@pytest.mark.parametrize("size", [4, 1 << 17])
def test_the_hash_of_every_file_of_a_piece_is_kept(copy, size):
    folder = publish(copy, size=size)
    assert damaged_pieces(copy) == {folder: []}
    file = folder / "new"
    for at in (0, size // 2, size - 1):
        file.write_bytes(bytes(at) + b"\1" + bytes(size - at - 1))
        assert damaged_pieces(copy) == {folder: ["new"]}
        assert is_piece_damaged(copy, folder)
        if size == 4:  # what is small is told when it is opened
            with pytest.raises(NotAGraph, match=f"orienteer embed {copy}"):
                piece_folder(copy, "vectors")
    for wrong in (b"", bytes(size + 1)):
        file.write_bytes(wrong)
        with pytest.raises(NotAGraph, match=f"{len(wrong)} bytes, but {size}"):
            piece_folder(copy, "vectors")
    file.unlink()
    with pytest.raises(NotAGraph, match="is gone"):
        piece_folder(copy, "vectors")
    assert publish(copy).is_dir()
    assert not folder.exists()


def test_a_piece_of_before_hashes_were_kept_is_opened_and_not_checked(copy):
    folder = publish(copy)
    replace(copy, pieces={"vectors": folder.name})
    assert piece_folder(copy, "vectors") == folder
    assert damaged_pieces(copy) == {folder: None}
    other = publish(copy, "cypher")
    assert damaged_pieces(copy) == {folder: None, other: []}


def test_orphans_of_a_killed_process_go_with_the_next_piece_of_their_name(copy):
    folder = publish(copy)
    names = {"vectors-01234567", "cypher-01234567", "vectors-x", "vectorsx-01234567"}
    for name in names:
        (folder.parent / name).mkdir()
    new = publish(copy)
    assert {one.name for one in folder.parent.iterdir()} == names - {"vectors-01234567"} | {new.name}


def test_a_free_piece_is_made_anew_once_and_then_its_damage_is_told(copy):
    made = []

    def write(work):
        made.append(work)
        (work / "new").write_text("new")

    def read(folder):
        if (folder / "new").read_text() != "right":
            raise NotAGraph("damaged")
        return folder

    generation = read_pointer(copy).generation
    with pytest.raises(NotAGraph, match="damaged"):
        piece_or_made(copy, generation, "names", read=read, write=write, patience=1)
    assert len(made) == 1


def test_a_free_piece_that_is_gone_is_no_damage(copy):
    shutil.rmtree(publish(copy, "names"))
    assert damaged_pieces(copy) == {}
    folder = publish(copy, "vectors")
    shutil.rmtree(folder)
    assert damaged_pieces(copy) == {folder: ["new"]}


def test_a_failure_of_ours_stays_what_it_is(copy):
    graph = Graph.open(copy)
    with pytest.raises(TypeError):
        graph.search("salt", k="5")
    file = next((copy / "generations").glob("*/text.utf8"))
    file.write_bytes(bytes(file.stat().st_size))
    with pytest.raises(NotAGraph, match=r"text\.utf8 is damaged"):
        graph.search("salt", k="5")
    Graph.from_records([Node("b")], [], path=copy, force=True)
    with pytest.raises(TypeError):  # what is there now is not what was read
        graph.search("salt", k="5")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Give a graph of passages with every piece that Python makes: vectors, similarity edges, names, communities."""
    texts = [
        f"Night Ferry {at % 9} met Ada Holm of Port {at % 5}, and Salt Coast {at % 4} was sold." for at in range(40)
    ]
    nodes = [Node(f"c{at:02}", "chunk", "", text * 3) for at, text in enumerate(texts)]
    edges = [Edge(f"c{at:02}", "next", f"c{at + 1:02}") for at in range(39)]
    path = tmp_path_factory.mktemp("library") / "graph"
    graph = embedded(Graph.from_records(nodes, edges, path=path), path.parent / "cache", is_parts=True)
    link_graph(graph, LinkConfig(near=4, percentile=50))
    for reading in PIECE_READINGS.values():
        reading(graph)
    assert read_pointer(path).pieces.keys() == {"vectors", "similar", "names", "communities"}
    return path


def communities_of(graph):
    return open_communities(graph, np.ones(len(graph), np.bool_)).tolist()


PIECE_READINGS = {
    "dense": lambda graph: graph.search("ferry to the port", 5, mode="dense"),
    "hybrid": lambda graph: graph.neighbors(["c01", "c07"], "Ada", mode="hybrid"),
    "sage": lambda graph: Retriever(graph, "sage", similar=True).search("Ada Holm", 5).hits,
    "names": lambda graph: Retriever(graph, "hippo").search("Where did Night Ferry 3 meet Ada Holm?", 5).hits,
    "communities": communities_of,
}


def told(path, reading):
    """Return the error that a reading ends in, nothing where it has an answer."""
    try:
        reading(Graph.open(path, embedder=lambda _: WordEmbedder()))
    except NotAGraph as error:
        return str(error)
    return ""


@pytest.mark.parametrize("is_hashed", [True, False])
def test_any_damage_of_a_piece_is_told_or_mended(library, tmp_path, monkeypatch, is_hashed, record_property):
    if not is_hashed:  # when it is opened, as large files are not
        monkeypatch.setattr(inside(publish_piece), "_SMALL", -1)
    random = np.random.default_rng(int(is_hashed))
    path = tmp_path / "graph"
    held = 0
    for number, file in enumerate(sorted(one.relative_to(library) for one in (library / "pieces").rglob("*.*"))):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(library, path)
        content = (path / file).read_bytes()
        if (other := damaged(content, KINDS[number % len(KINDS)], random)) == content:
            continue
        (path / file).write_bytes(other)
        assert damaged_pieces(path)[path / file.parent] == [file.name]
        found = list(filter(None, (told(path, reading) for reading in PIECE_READINGS.values())))
        assert all(str(file.parent) in one and ("orienteer " in one or "remove the folder" in one) for one in found)
        assert not is_hashed or found or not damaged_pieces(path).get(path / file.parent)  # made anew
        held += 1
    assert held > 15
    record_property("corpus", f"damage of pieces, {is_hashed=}")


# --------------------------------------------------------------------------------------- malice under right hashes


def rehash(graph):
    """Write the hashes of what is there: whoever makes a graph makes its hashes too."""
    pointer = json.loads((graph / "orienteer.json").read_text())
    folder = graph / "generations" / pointer["generation"]
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"] = {name: record_of(folder / name) for name in manifest["files"]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    pieces_of = pointer["pieces"].values()
    for one in pieces_of:
        folder_of = graph / "pieces" / pointer["generation"] / one["folder"]
        about = folder_of / f"{one['folder'].rpartition('-')[0]}.json"
        said = json.loads(about.read_text())
        if "files" in said:
            said["files"] = {name: (folder_of / name).stat().st_size for name in said["files"]}
            about.write_text(json.dumps(said))
        one["files"] = {name: record_of(folder_of / name) for name in one["files"]}
    replace(graph, manifest=record_of(folder / "manifest.json")["sha256"], pieces=pointer["pieces"])


def record_of(file):
    return {"bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def hostile(file):
    """Return contents that no import writes, by the kind of a file."""
    content = file.read_bytes()
    yield b""
    yield content[: len(content) // 16 * 8]
    yield bytes(len(content))
    yield b"\xff" * len(content)
    if file.suffix == ".utf8":
        yield (b"null" * len(content))[: len(content)]
        yield (b"[" * len(content))[: len(content)]
        return
    values = np.frombuffer(content, f"<{file.suffix[1:]}").copy()
    if not len(values):
        return
    yield values[::-1].tobytes()
    yield np.random.default_rng(len(values)).permutation(values).tobytes()
    for value in (len(values) * 1000, -1, np.iinfo(values.dtype).max if values.dtype.kind in "iu" else np.inf):
        changed = values.copy()
        changed[len(values) // 2] = np.array(value).astype(values.dtype)
        yield changed.tobytes()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers that are none are counted with
def test_what_cannot_be_under_right_hashes_is_told_and_nothing_else_is_raised(copy, record_property):
    (generation,) = (copy / "generations").iterdir()
    told = held = 0
    for number, file in enumerate(sorted(one for one in generation.iterdir() if one.name != "manifest.json")):
        content = file.read_bytes()
        for other in list(hostile(file))[number % 3 :: 3]:
            if other == content:
                continue
            file.write_bytes(other)
            rehash(copy)
            assert damaged_files(copy) == []
            found = read(copy)
            told += sum(isinstance(one, NotAGraph) and "damaged" in str(one) for one in found.values())
            held += 1
        file.write_bytes(content)
        gc.collect()  # errors keep what raised them, with all files that it has mapped
    assert held > 80
    assert told > 300
    record_property("corpus", "malice under right hashes")


def alternating(graph, name, entries):
    """Let every second part of a file hold all of its entries, and those between end before they begin."""
    (generation,) = (graph / "generations").iterdir()
    file = generation / name
    count = file.stat().st_size // 8
    offsets = np.zeros(count, np.int64)
    offsets[1::2] = entries
    offsets[-1] = entries
    file.write_bytes(offsets.tobytes())
    rehash(graph)


@pytest.mark.parametrize(
    ("name", "reading"),
    [
        ("text.at.i8", lambda graph: list(graph.arrays.texts)),
        ("aliases.at.i8", lambda graph: [graph.arrays.aliases_at(row) for row in range(len(graph))]),
        ("indptr.i8", lambda graph: list(graph.iter_edges())),
        ("indptr.i8", lambda graph: [graph.arrays.adjacency.neighbors(row) for row in range(len(graph))]),
        ("indptr.i8", lambda graph: graph.arrays.adjacency.entries(np.arange(0, len(graph), 2, dtype=np.int32))),
        ("property_at.i8", lambda graph: [graph.arrays.properties.of(row) for row in range(len(graph))]),
    ],
)
def test_nothing_is_read_twice_of_parts_that_overlap(copy, name, reading):
    (generation,) = (copy / "generations").iterdir()
    whole = {"text": "text.utf8", "aliases": "aliases.utf8", "indptr": "kind.u1", "property_at": "property_row.i4"}
    file = generation / whole[name.partition(".")[0]]
    alternating(copy, name, file.stat().st_size // int(file.suffix[2:] if file.suffix != ".utf8" else 1))
    with pytest.raises((IndexError, ValueError, NotAGraph)):
        reading(Graph.open(copy))
    assert find_damage(copy, read_pointer(copy).generation) is not None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_cannot_be_in_a_piece_under_right_hashes_is_told(library, tmp_path, record_property):
    path, held = tmp_path / "graph", 0
    files = sorted(file.relative_to(library) for file in (library / "pieces").rglob("*.*") if file.suffix != ".json")
    for number, file in enumerate(files):
        for other in list(hostile(library / file))[number % 3 :: 3]:
            if other == (library / file).read_bytes():
                continue
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(library, path)
            (path / file).write_bytes(other)
            rehash(path)
            for reading in PIECE_READINGS.values():
                told(path, reading)
            held += 1
    assert held > 20
    record_property("corpus", "malice in pieces")


# ------------------------------------------------------------------------------------------------------ provenance


PROVENANCES = [
    {"sources": 5}, {"sources": [5]}, {"sources": [{}]}, {"sources": [{"path": 5}]}, {"sources": [{"path": "\0"}]},
    {"sources": [{"path": "x", "bytes": "y", "modified": 1}]}, {"given": 5}, {"given": [5]}, {"given": ["\0"]},
    {"options": 5}, {"text_types": 5}, {"text_types": [5]}, {"greatest_weights": [5]}, {"left_out": 5},
]  # fmt: skip


@pytest.mark.parametrize("made_by", ["import", "build"])
@pytest.mark.parametrize("said", PROVENANCES, ids=str)
def test_what_a_graph_says_of_its_making_is_checked(copy, said, made_by):
    (generation,) = (copy / "generations").iterdir()
    manifest = json.loads((generation / "manifest.json").read_text())
    content = json.dumps({**manifest, "provenance": {"made_by": made_by, **said}}).encode()
    (generation / "manifest.json").write_bytes(content)
    replace(copy, manifest=hashlib.sha256(content).hexdigest())
    try:
        assert is_stale(Graph.open(copy).arrays.manifest) in (True, False)
    except NotAGraph as error:
        told = str(error)
        assert told.startswith(str(copy)) or "sources" in str(said)
        assert "--force" in told
