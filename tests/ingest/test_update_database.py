"""`import --update` of a database leaves the graph that an import of today's database would give."""

import random
from collections import Counter

import pytest

from arcade import Arcade, require_arcade
from fakes.databases import FakeServer, Store
from orienteer.bolt.address import Address, Login
from orienteer.errors import BadInput, BadOption
from orienteer.graph.format import read_pointer
from orienteer.graph.store import Graph
from orienteer.ingest.database import import_database
from orienteer.ingest.importer import ImportOptions
from orienteer.ingest.update.from_database import update_database

LABELS = [("Person",), ("Person", "Actor"), ("Film",), ("Place",)]
TYPES = ["PLAYS", "KNOWS", "SEEN_IN"]
WORDS = ["ferry", "Ada", "straße", "東京", "night", "the", "p53"]
OPTIONS = ImportOptions(changed_by="changed")


class World(random.Random):
    """A database that is written by the rules: whatever is new or changed has a later `changed`."""

    def __init__(self, seed, *, tells_edges=True, has_ids=True):
        super().__init__(seed)
        self.store, self.now, self.made = Store(), 0, 0
        self.tells_edges, self.has_ids = tells_edges, has_ids
        for _ in range(30):
            self.add_node()
        for _ in range(80):
            self.add_edge()

    def stamped(self, properties, *, is_edge=False):
        self.now += 1
        return properties | ({"changed": self.now} if self.tells_edges or not is_edge else {})

    def properties(self):
        said = {"name": " ".join(self.choices(WORDS, k=2)), "description": " ".join(self.choices(WORDS, k=4))}
        said |= {"year": self.randrange(1990, 2020)} if self.random() < 0.5 else {}
        return said | ({"tags": self.choices(WORDS, k=2)} if self.random() < 0.3 else {})

    def add_node(self):
        self.made += 1
        own_id = {"id": f"n{self.made}"} if self.has_ids else {}
        self.store.nodes[f"4:{self.made}"] = (self.choice(LABELS), self.stamped(own_id | self.properties()))

    def add_edge(self):
        self.made += 1
        ends = self.choices(list(self.store.nodes), k=2)
        if self.store.edges and self.random() < 0.2:  # one more between the same nodes
            ends = [self.choice(list(self.store.edges.values()))[at] for at in (0, 2)]
        said = {"role": self.choice(WORDS)} if self.random() < 0.5 else {}
        self.store.edges[f"5:{self.made}"] = (ends[0], self.choice(TYPES), ends[1], self.stamped(said, is_edge=True))

    def change_node(self):
        own_id = self.choice(list(self.store.nodes))
        labels, before = self.store.nodes[own_id]
        kept = {"id": before["id"]} if self.has_ids else {}
        labels = self.choice(LABELS) if self.random() < 0.3 else labels
        self.store.nodes[own_id] = (labels, self.stamped(kept | self.properties()))

    def touch_node(self):
        own_id = self.choice(list(self.store.nodes))
        labels, before = self.store.nodes[own_id]
        self.store.nodes[own_id] = (labels, self.stamped(before))

    def rename_node(self):
        if self.has_ids:
            own_id = self.choice(list(self.store.nodes))
            labels, before = self.store.nodes[own_id]
            self.made += 1
            self.store.nodes[own_id] = (labels, self.stamped(before | {"id": f"n{self.made}"}))

    def change_edge(self):
        own_id = self.choice(list(self.store.edges))
        source, kind, target, _ = self.store.edges[own_id]
        said = {"role": self.choice(WORDS), "weight": self.random()}
        self.store.edges[own_id] = (source, kind, target, self.stamped(said, is_edge=True))

    def drop_node(self):
        own_id = self.choice(list(self.store.nodes))
        del self.store.nodes[own_id]
        self.store.edges = {at: edge for at, edge in self.store.edges.items() if own_id not in (edge[0], edge[2])}

    def drop_edge(self):
        del self.store.edges[self.choice(list(self.store.edges))]

    def edit(self):
        edits = [self.add_node, self.add_edge, self.change_node, self.touch_node, self.rename_node]
        self.choice([*edits, self.change_edge, self.drop_node, self.drop_edge, lambda: None])()


def facts(path):
    """Return what a graph holds, whatever the order of its types and properties."""
    graph = Graph.open(path)
    manifest = graph.arrays.manifest
    about = manifest.model_dump(include={"nodes", "edges", "symmetric", "partial", "labels", "text", "node_types"})
    about["edge_types"] = {name: count for name, count in manifest.edge_types.items() if count}
    about["properties"], about["triples"] = sorted(manifest.properties), sorted(map(repr, manifest.triples))
    about["node_types"] = {name: count for name, count in manifest.node_types.items() if count}
    return {
        **about,
        "rows": [graph.arrays.node_at(row) for row in range(len(graph))],
        "joined": Counter(map(repr, graph.iter_edges())),
        "provenance": {name: said for name, said in manifest.provenance["database"].items() if name != "changed_by"},
    }


def check(server, updated, fresh):
    """Update one graph and import another; they hold the same."""
    report = update_database(server, updated, options=OPTIONS)
    expected = import_database(server, fresh, options=ImportOptions(force=True))
    assert facts(updated) == facts(fresh)
    for name in ("nodes", "edges", "node_types", "edge_types", "symmetric", "merged"):
        counts = [getattr(one, name) for one in (report, expected)]
        if name == "merged":
            counts = [{cut.reason: cut.count for cut in cuts} for cuts in counts]
        if name in ("node_types", "edge_types"):
            counts = [{kind: count for kind, count in of.items() if count} for of in counts]
        assert counts[0] == counts[1], name
    return report


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("tells_edges", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_it_holds_what_an_import_gives(seed, tells_edges, has_ids, tmp_path):
    world = World(seed, tells_edges=tells_edges, has_ids=has_ids)
    server = FakeServer(world.store)
    assert check(server, tmp_path / "updated", tmp_path / "fresh").whole == f"{tmp_path / 'updated'} was no graph"
    followed = 0
    for _ in range(8):
        for _ in range(world.choice([0, 1, 1, 3, 8])):
            world.edit()
        followed += check(server, tmp_path / "updated", tmp_path / "fresh").whole is None
    assert followed >= 6
