"""A revised graph has the files that a build of the same nodes and edges writes, byte for byte."""

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest

from lanes import seeds
from orienteer.errors import BadInput, DuplicateNode
from orienteer.graph import (
    MANIFEST,
    EdgeBatch,
    Graph,
    GraphBuilder,
    GraphRevision,
    PropertyWriter,
    generation_of,
    publishing,
    read_pointer,
    revise_graph,
)
from orienteer.records import Edge, Node

pytestmark = pytest.mark.slow

WORDS = [
    "ferry",
    "Ada",
    "Holm",
    "straße",
    "東京",
    "p53",
    "10ms",
    "night",
    "Night",
    "sails",
    "the",
    "of",
    "e\u0301te",
    "x",
]
VALUES = [
    7,
    -2.5,
    True,
    None,
    "2001-12-31",
    "Ä long text",
    ["a", 3, None],
    {"deep": [1]},
    "y" * 300,
    10**30,
    [],
    "1999",
]


def batch(edges):
    return EdgeBatch(
        [edge.source for edge in edges],
        [edge.type for edge in edges],
        [edge.target for edge in edges],
        [edge.extras for edge in edges],
    )


def build(path, nodes, edges, like=None, symmetric=()):
    """Build a graph, with the types and the properties in the order of another's."""
    with GraphBuilder(path, force=True, provenance={"made_by": "test"}) as builder:
        if like is not None:
            manifest = like.arrays.manifest
            builder._node_types.update({name: number for number, name in enumerate(manifest.node_types)})
            builder._edges.types.update({name: number for number, name in enumerate(manifest.edge_types)})
            for number, name in enumerate(manifest.properties):
                builder._properties[name] = PropertyWriter(builder.spool / f"p{number}")
        for node in nodes:
            builder.add_node(node)
        builder.add_edges(batch(edges))
        builder.edges.symmetric.update(symmetric)
        builder.publish()
    return Graph.open(path)


def revised(graph, revision, **options):
    with publishing(graph.path) as work:
        revise_graph(graph, revision, work, provenance={"made_by": "test"}, **options)
    return Graph.open(graph.path)


def files(graph):
    folder = generation_of(graph.path, read_pointer(graph.path))
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != MANIFEST}


def facts(graph):
    manifest = dataclasses.asdict(dataclasses.replace(graph.arrays.manifest, generation="", created=""))
    return {**manifest, "order": [list(manifest[name]) for name in ("node_types", "edge_types", "files")]}


def check(first, other):
    """Compare the files and the facts of two graphs."""
    ours, theirs = files(first), files(other)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert facts(first) == facts(other)


class Chance(random.Random):
    def node(self, node_id, types):
        texts = [" ".join(self.choices(WORDS, k=self.choice([0, 3, 12]))) for _ in range(2)]
        properties = {f"p{n}": self.choice(VALUES) for n in range(4) if self.random() < 0.3}
        if self.random() < 0.2:
            properties["identifier"] = self.choice(["code ferryman", ["both", "names"], 4, []])
        many = " often" * self.choice([0, 0, 0, 254, 255, 700])
        return Node(
            node_id,
            self.choice(types),
            self.choice([texts[0], "", "Holm, Ada"]),
            texts[1] + many,
            tuple(self.choices(WORDS, k=self.choice([0, 0, 2]))),
            properties,
        )

    def edges(self, ids, count, types):
        return [
            Edge(
                self.choice(ids),
                self.choice(types),
                self.choice(ids),
                self.choice(["", "", "said"]),
                self.choice([1.0, 1.0, 0.25, 3]),
                self.choice([{}, {}, {"rows": [1, 2]}, {"names": ["Ada"]}]),
            )
            for _ in range(count if ids else 0)
        ]


@pytest.mark.parametrize("seed", seeds(24, usual=8))
def test_it_is_what_a_build_writes(seed, tmp_path):
    chance = Chance(seed)
    size = chance.choice([1, 5, 40, 300])
    ids = [f"{chance.choice('aäz東')}{number}" for number in range(size)]
    nodes = {node_id: chance.node(node_id, ["t0", "t1", "t2"]) for node_id in ids}
    edges = chance.edges(ids, chance.choice([0, size, 4 * size]), ["e0", "e1", "e2"])
    graph = build(tmp_path / "graph", nodes.values(), edges, symmetric=["e0"])
    for _ in range(3):
        share = chance.choice([0.0, 0.1, 0.5, 0.95, 1.0])
        gone = {node_id for node_id in nodes if chance.random() < share}
        names = [f"{chance.choice('aäz東')}{number}" for number in range(size, size + chance.choice([0, 1, 7]))]
        names += [node_id for node_id in gone if chance.random() < 0.5]
        if len(gone) == len(nodes) and not names:
            names = ["z1"]
        chance.shuffle(names)
        new = {node_id: chance.node(node_id, ["t1", "t3"]) for node_id in dict.fromkeys(names)}
        new = {node_id: node for node_id, node in new.items() if node_id not in nodes or node_id in gone}
        stay = {node_id: node for node_id, node in nodes.items() if node_id not in gone}
        kept = [edge for edge in edges if edge.source in stay and edge.target in stay]
        lost = {(edge.source, edge.type, edge.target) for edge in kept if chance.random() < 0.1}
        kept = [edge for edge in kept if (edge.source, edge.type, edge.target) not in lost]
        coming = chance.edges([*stay, *new], chance.choice([0, 3, size]), ["e1", "e4"])
        row = graph.arrays.row
        revision = GraphRevision(
            gone=np.array(sorted(map(row, gone)), np.int32),
            nodes=list(new.values()),
            edges=[batch(coming[:2]), batch(coming[2:])],
            lost=[(row(source), kind, row(target)) for source, kind, target in lost],
            symmetric=frozenset(["e4"]),
        )
        before = graph
        graph = revised(graph, revision)
        nodes, edges = {**stay, **dict(sorted(new.items()))}, [*kept, *coming]
        other = build(
            tmp_path / "other", nodes.values(), edges, like=trimmed(before, stay, nodes, kept), symmetric=["e0", "e4"]
        )
        kinds = {edge.type for edge in edges}
        other.arrays.manifest = dataclasses.replace(
            other.arrays.manifest, symmetric=tuple(sorted({"e0", "e4"} & kinds))
        )
        check(graph, other)


def trimmed(graph, stay, nodes, edges):
    """Return a stand-in for the graph with the types and properties that are still there, in its order."""
    manifest = graph.arrays.manifest
    node_types, edge_types = {node.type for node in stay.values()}, {edge.type for edge in edges}
    names = {name for node in nodes.values() for name in node.properties}
    kept = dataclasses.replace(
        manifest,
        node_types={name: count for name, count in manifest.node_types.items() if name in node_types},
        edge_types={name: count for name, count in manifest.edge_types.items() if name in edge_types},
        properties=tuple(name for name in manifest.properties if name in names),
    )
    return dataclasses.make_dataclass("Like", ["arrays"])(dataclasses.make_dataclass("Arrays", ["manifest"])(kept))


def test_nothing_of_what_goes_is_left(tmp_path):
    nodes = [
        Node("a", "t", "Ada"),
        Node("b", "t", "Quetzalcoatlus flies", "A secretword.", ("Hushed",), {"p": "whisper"}),
    ]
    graph = build(tmp_path / "graph", nodes, [Edge("a", "e", "b", "murmured")])
    after = revised(graph, GraphRevision(gone=np.array([1], np.int32)))
    held = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()).lower()
    for word in (b"quetzalcoatlus", b"secretword", b"hushed", b"whisper", b"murmured"):
        assert word not in held
    assert (list(after.node_ids()), after.search("secretword", 5)) == (["a"], ())
    assert len(list((tmp_path / "graph" / "generations").iterdir())) == 1


def test_what_cannot_be_is_refused_and_the_graph_stays(tmp_path):
    graph = build(tmp_path / "graph", [Node("a", "t"), Node("b", "t")], [])
    before = files(graph)
    everything = np.array([0, 1], np.int32)
    for revision, error in (
        (GraphRevision(gone=everything), BadInput),
        (GraphRevision(nodes=[Node("a", "t", "other")]), DuplicateNode),
        (GraphRevision(nodes=[Node("c", "t"), Node("c", "t", "x")]), DuplicateNode),
        (GraphRevision(nodes=[Node("", "t")]), BadInput),
        (GraphRevision(gone=everything[1:], edges=[batch([Edge("a", "e", "b")])]), BadInput),
        (GraphRevision(edges=[batch([Edge("a", "e", "nobody")])]), BadInput),
    ):
        with pytest.raises(error):
            revised(graph, revision)
    assert files(Graph.open(tmp_path / "graph")) == before
    assert sorted(entry.name for entry in Path(tmp_path / "graph").iterdir()) == [
        ".lock",
        "generations",
        "orienteer.json",
    ]


def test_pieces_come_with_the_generation_and_go_with_it(tmp_path):
    graph = build(tmp_path / "graph", [Node("a", "t"), Node("c", "t")], [])

    def write(folder, generation, layout):
        (folder / "rows.txt").write_text(f"{generation} {layout.old.tolist()} {layout.new.tolist()}")

    after = revised(graph, GraphRevision(nodes=[Node("b", "t")]), pieces={"names": write})
    pointer = read_pointer(after.path)
    [file] = (after.path / "pieces" / after.generation).rglob("*.txt")
    assert file.read_text() == f"{after.generation} [0, 2] [1]"
    assert pointer.pieces["names"].folder == file.parent.name
    revised(after, GraphRevision(gone=np.array([0], np.int32)))
    assert not (after.path / "pieces").exists()
