"""`import --update` of a database leaves the graph that an import of today's database would give."""

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest

from arcade import Arcade, require_arcade
from fakes.databases import FakeServer, Store
from fakes.inside import inside
from lanes import seeds
from orienteer.addresses import Address, Login
from orienteer.connect import import_database, update_database
from orienteer.errors import BadInput, BadOption, DatabaseAway, Error
from orienteer.graph import Graph, read_pointer
from orienteer.ingest import ImportOptions

LABELS = [("Person",), ("Person", "Actor"), ("Film",), ("Place",)]
TYPES = ["PLAYS", "KNOWS", "SEEN_IN", "NEAR"]
WORDS = ["ferry", "Ada", "straße", "東京", "night", "the", "p53"]
OPTIONS = ImportOptions(changed_by="changed")


class World(random.Random):
    """A database that is written by the rules: whatever is new or changed has a later `changed`."""

    def __init__(self, seed, *, tells_edges=True, has_ids=True, types=TYPES):
        super().__init__(seed)
        self.store, self.now, self.made = Store(), 0, 0
        self.tells_edges, self.has_ids, self.types = tells_edges, has_ids, types
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
        said = {"role": self.choice(WORDS), "weight": self.random()} if self.random() < 0.5 else {}
        kind = self.choice(self.types)
        self.store.edges[f"5:{self.made}"] = (ends[0], kind, ends[1], self.stamped(said, is_edge=True))
        if kind == "NEAR":  # it lists both directions, as many relations do
            said = said if self.random() < 0.5 else {"role": self.choice(WORDS)}
            self.store.edges[f"6:{self.made}"] = (ends[1], kind, ends[0], self.stamped(said, is_edge=True))

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

    def swap_ids(self):
        if self.has_ids:
            first, second = self.sample(list(self.store.nodes), 2)
            (labels, one), (others, other) = self.store.nodes[first], self.store.nodes[second]
            self.store.nodes[first] = (labels, self.stamped(one | {"id": other["id"]}))
            self.store.nodes[second] = (others, self.stamped(other | {"id": one["id"]}))

    def reuse(self):
        """Have a new node take the database's own id of one that goes, as databases do."""
        own_id = self.choice(list(self.store.nodes))
        self.drop_node(own_id)
        self.made += 1
        said = {"id": f"n{self.made}"} if self.has_ids else {}
        self.store.nodes[own_id] = (self.choice(LABELS), self.stamped(said | self.properties()))

    def change_edge(self):
        own_id = self.choice(list(self.store.edges))
        source, kind, target, _ = self.store.edges[own_id]
        said = {"role": self.choice(WORDS), "weight": self.random()}
        self.store.edges[own_id] = (source, kind, target, self.stamped(said, is_edge=True))

    def drop_node(self, own_id=None):
        own_id = own_id or self.choice(list(self.store.nodes))
        del self.store.nodes[own_id]
        self.store.edges = {at: edge for at, edge in self.store.edges.items() if own_id not in (edge[0], edge[2])}

    def drop_edge(self):
        del self.store.edges[self.choice(list(self.store.edges))]

    def edit(self):
        edits = [self.add_node, self.add_edge, self.change_node, self.touch_node, self.rename_node]
        edits += [self.change_edge, self.drop_node, self.drop_edge, self.swap_ids, self.reuse]
        self.choice(edits)()


def facts(path):
    """Return what a graph holds, whatever the order of its types and properties."""
    graph = Graph.open(path)
    manifest = graph.arrays.manifest
    about = {name: getattr(manifest, name) for name in ("nodes", "edges", "symmetric", "partial", "labels", "text")}
    about["edge_types"] = {name: count for name, count in manifest.edge_types.items() if count}
    about["properties"], about["triples"] = sorted(manifest.properties), sorted(map(repr, manifest.triples))
    about["node_types"] = {name: count for name, count in manifest.node_types.items() if count}
    return {
        **about,
        "rows": [repr(_sorted(graph.arrays.node_at(row))) for row in range(len(graph))],
        "joined": Counter(map(repr, graph.iter_edges())),
        "provenance": {name: said for name, said in manifest.provenance["database"].items() if name != "changed_by"},
    }


def _sorted(node):
    return replace(node, properties=dict(sorted(node.properties.items())))


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
@pytest.mark.parametrize("seed", seeds(6, usual=2))
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


class RestlessServer(FakeServer):
    """A server whose database is edited between the statements of a reader, while it is restless."""

    def __init__(self, world):
        super().__init__(world.store)
        self.world, self.is_restless = world, False

    def stream(self, statement, **values):
        self._edit()
        yield from list(super().stream(statement, **values))
        self._edit()

    def _edit(self):
        if self.is_restless and self.world.random() < 0.5:
            self.world.edit()


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("seed", seeds(8, usual=2))
def test_after_a_database_that_was_edited_while_it_was_read_the_next_update_is_right(seed, has_ids, tmp_path):
    world = World(seed, has_ids=has_ids)
    server = RestlessServer(world)
    update_database(server, tmp_path / "updated", options=OPTIONS)
    for _ in range(3):
        server.is_restless = True
        with suppress(Error):  # a reader may find two nodes of one id, as an import may
            update_database(server, tmp_path / "updated", options=OPTIONS)
        server.is_restless = False
        check(server, tmp_path / "updated", tmp_path / "fresh")


@pytest.fixture
def world():
    return World(1, types=TYPES[:3])


@pytest.fixture
def server(world):
    return FakeServer(world.store)


@pytest.fixture
def updated(server, tmp_path):
    """Give a graph of the world that can be updated."""
    update_database(server, tmp_path / "updated", options=OPTIONS)
    return tmp_path / "updated"


def id_of(world, own_id):
    return world.store.nodes[own_id][1]["id"]


def test_only_what_changed_is_read(world, server, updated, tmp_path):
    world.add_node()
    world.change_edge()
    server.asked.clear()
    report = check(server, updated, tmp_path / "fresh")
    assert report.whole is None
    assert report.database.nodes <= 2  # what bears the highest mark is read again
    assert report.database.edges < 10
    assert report.database.whole_types == ()
    assert report.nodes_changed.came == 1
    assert "read from bolt://localhost:7687/films: " in report.render()


def test_a_deleted_edge_has_its_type_read(world, server, updated, tmp_path):
    world.drop_edge()
    report = check(server, updated, tmp_path / "fresh")
    assert report.whole is None
    assert len(report.database.whole_types) == 1
    assert report.database.edges < 80
    assert sum(change.went for change in report.edges_changed.values()) == 1


def test_a_deleted_node_takes_its_edges_along_and_no_edge_is_read(world, server, updated, tmp_path):
    world.drop_node()
    report = check(server, updated, tmp_path / "fresh")
    assert (report.whole, report.nodes_changed.went) == (None, 1)
    assert report.database.whole_types == ()


def test_types_of_edges_that_cannot_tell_are_read_as_a_whole(tmp_path):
    world = World(2, tells_edges=False)
    server = FakeServer(world.store)
    update_database(server, tmp_path / "updated", options=OPTIONS)
    world.add_edge()
    report = check(server, tmp_path / "updated", tmp_path / "fresh")
    assert report.whole is None
    assert set(report.database.whole_types) == set(TYPES)


def test_the_property_is_remembered_and_a_graph_without_one_says_what_is_missing(world, server, updated, tmp_path):
    world.change_node()
    report = update_database(server, updated, options=ImportOptions())
    assert (report.whole, report.nodes_changed.changed) == (None, 1)
    import_database(server, tmp_path / "plain")
    with pytest.raises(BadOption, match=r"needs --changed-by PROPERTY"):
        update_database(server, tmp_path / "plain", options=ImportOptions())
    noted = update_database(server, tmp_path / "plain", options=OPTIONS)
    assert noted.whole.startswith("nothing was noted of its edges yet")
    assert update_database(server, tmp_path / "plain", options=OPTIONS).whole is None


def test_a_property_that_no_node_has_changes_nothing(server, updated):
    generation = read_pointer(updated).generation
    with pytest.raises(BadOption, match="--changed-by updated: no node in bolt://localhost:7687/films has"):
        update_database(server, updated, options=ImportOptions(changed_by="updated"))
    assert read_pointer(updated).generation == generation


def test_values_of_another_kind_are_read_every_time(world, server, updated, tmp_path):
    own_id, (labels, properties) = next(iter(world.store.nodes.items()))
    world.store.nodes[own_id] = (labels, properties | {"changed": "yesterday"})
    check(server, updated, tmp_path / "fresh")
    world.store.nodes[own_id] = (labels, properties | {"changed": "yesterday", "name": "another"})
    assert check(server, updated, tmp_path / "fresh").nodes_changed.changed == 1


def test_what_does_not_say_that_it_changed_is_found_by_counts_and_all_is_imported(world, server, updated, tmp_path):
    world.store.nodes["4:999"] = (("Film",), {"id": "old", "changed": 0})
    report = check(server, updated, tmp_path / "fresh")
    assert report.whole == "the node 'old' is new, and its 'changed' does not say so"
    own_id = next(own_id for own_id, (labels, _) in world.store.nodes.items() if labels == ("Place",))
    world.store.nodes[own_id] = (("Film",), world.store.nodes[own_id][1])
    assert "nodes are of the type 'Film', and by 'changed'" in check(server, updated, tmp_path / "fresh").whole
    edge = next(iter(world.store.edges.values()))
    world.store.edges["5:999"] = (*edge[:3], {"changed": 0})
    assert edge[1] in check(server, updated, tmp_path / "fresh").database.whole_types


def test_labels_that_say_the_most_may_change_for_nodes_that_did_not(world, server, updated, tmp_path):
    for own_id, (labels, properties) in list(world.store.nodes.items()):
        if labels == ("Person",):
            world.store.nodes[own_id] = (("Actor",), world.stamped(properties))
    report = check(server, updated, tmp_path / "fresh")
    assert report.whole == "nodes were read as Actor, Person, and are Person, Actor now"


def test_an_id_that_changed_keeps_its_edges_though_as_many_went(world, server, updated, tmp_path):
    source, kind, _, _ = next(iter(world.store.edges.values()))
    labels, properties = world.store.nodes[source]
    world.store.nodes[source] = (labels, world.stamped(properties | {"id": "renamed"}))
    for own_id in [at for at, edge in world.store.edges.items() if edge[1] == kind and source not in edge[::2]][:3]:
        del world.store.edges[own_id]
    report = check(server, updated, tmp_path / "fresh")
    assert report.whole is None
    assert Graph.open(updated).node("renamed")


def test_an_update_of_nothing_turns_no_relation_that_lists_both_directions(tmp_path):
    store = Store()
    store.nodes = {f"4:{n}": (("Film", "Person")[n % 2 :][:1], {"id": f"n{n}", "changed": n}) for n in range(8)}
    ends = [(f"4:{n}", f"4:{(n + 1) % 8}") for n in range(8)]
    pairs = [pair for a, b in ends for pair in ((a, b), (b, a))]
    store.edges = {f"5:{n}": (a, "NEAR", b, {"changed": 99 - n}) for n, (a, b) in enumerate(pairs)}
    server = FakeServer(store)
    check(server, tmp_path / "updated", tmp_path / "fresh")
    assert check(server, tmp_path / "updated", tmp_path / "fresh").edges_changed == {}
    store.edges["5:3"] = (*store.edges["5:3"][:3], {"changed": 100, "role": "new"})
    assert check(server, tmp_path / "updated", tmp_path / "fresh").database.whole_types == ("NEAR",)


def test_a_value_of_another_type_is_another_value(world, server, updated, tmp_path):
    own_id, (labels, properties) = next(iter(world.store.nodes.items()))
    for value in (1, True, 1.0, [1], [True]):
        world.store.nodes[own_id] = (labels, world.stamped(properties | {"year": value}))
        assert check(server, updated, tmp_path / "fresh").whole is None


def test_customs_of_tables_are_mere_properties_of_edges(world, server, updated, tmp_path):
    own_ids = list(world.store.edges)[:3]
    for own_id, said in zip(
        own_ids, ({"display_relation": "knows"}, {"source_name": "a"}, {"target_name": "b"}), strict=True
    ):
        world.store.edges[own_id] = (*world.store.edges[own_id][:3], world.stamped(said, is_edge=True))
        check(server, updated, tmp_path / "fresh")
    found = {name for edge in Graph.open(updated).iter_edges() for name in edge.properties}
    assert found >= {"display_relation", "source_name", "target_name"}


def test_what_lost_its_id_while_it_was_read_is_dropped_and_told(world, server, tmp_path, monkeypatch):
    answers = server.stream
    last = list(world.store.nodes)[-1]

    def restless(statement, **values):
        if "elementId(n) AS id, labels(n)" in statement:
            del world.store.nodes[last][1]["id"]
        return answers(statement, **values)

    monkeypatch.setattr(server, "stream", restless)
    report = import_database(server, tmp_path / "graph")
    assert "empty id" in {cut.reason for cut in report.dropped}
    assert report.nodes == len(world.store.nodes) - 1


def test_another_version_remembers_the_property(world, server, updated, monkeypatch):
    from orienteer.connect import update_database
    from orienteer.ingest import read_ledger

    for module in (inside(update_database), inside(read_ledger)):
        monkeypatch.setattr(module, "__version__", "99.0")
    report = update_database(server, updated, options=ImportOptions())
    assert report.whole.endswith("made the graph, and this is 99.0")


@pytest.mark.parametrize("value", [float("inf"), float("nan"), True, [1]])
def test_values_without_an_order_are_refused(value, world, server, tmp_path):
    for _, properties in world.store.nodes.values():
        properties["odd"] = value
    with pytest.raises(BadOption, match="--changed-by odd: bolt://localhost:7687/films has the value"):
        update_database(server, tmp_path / "graph", options=ImportOptions(changed_by="odd"))


def test_a_database_that_was_emptied_is_told(world, server, updated):
    world.store.nodes.clear()
    world.store.edges.clear()
    with pytest.raises(BadInput, match="films holds no node: check the name"):
        update_database(server, updated, options=OPTIONS)


def test_nodes_that_say_the_same_are_one(world, server, tmp_path):
    for _, properties in world.store.nodes.values():
        properties["id"] = int(properties["id"][1:])
    labels, properties = next(iter(world.store.nodes.values()))
    world.store.nodes["4:999"] = (labels, properties | {"id": str(properties["id"])})
    check(server, tmp_path / "updated", tmp_path / "fresh")
    world.change_edge()
    assert "nodes are of the type" in check(server, tmp_path / "updated", tmp_path / "fresh").whole


def test_a_second_weight_of_edges_is_imported(world, server, updated, tmp_path):
    own_id, edge = next(iter(world.store.edges.items()))
    world.store.edges[own_id] = (*edge[:3], world.stamped({"description": "at night"}, is_edge=True))
    assert check(server, updated, tmp_path / "fresh").whole is None
    world.store.edges[own_id] = (*edge[:3], world.stamped({"Weight": 2.0}, is_edge=True))
    report = check(server, updated, tmp_path / "fresh")
    assert report.whole == "edges have a weight by 'Weight' now, besides 'weight'"


def test_ids_that_were_swapped_take_their_edges_along(world, server, updated, tmp_path):
    world.swap_ids()
    report = check(server, updated, tmp_path / "fresh")
    assert report.whole is None
    assert report.database.whole_types


def test_nodes_that_come_while_others_go_have_no_type_read(world, server, updated, tmp_path):
    world.drop_node()
    world.add_node()
    assert check(server, updated, tmp_path / "fresh").database.whole_types == ()


def test_edges_of_a_type_that_is_new_and_does_not_say_so_are_found(world, server, updated, tmp_path):
    source, _, target, properties = next(iter(world.store.edges.values()))
    world.store.edges["5:999"] = (source, "HIDES", target, properties | {"changed": 0})
    assert check(server, updated, tmp_path / "fresh").database.whole_types == ("HIDES",)


def test_ids_that_another_property_tells_are_imported(world, server, updated, tmp_path):
    own_ids = iter(world.store.nodes)
    first, second = next(own_ids), next(own_ids)
    labels, properties = world.store.nodes[second]
    world.store.nodes[second] = (labels, world.stamped(properties | {"id": id_of(world, first)}))
    report = check(server, updated, tmp_path / "fresh")
    assert report.whole == "the ids of nodes came from 'id', and come from the database now"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"name": "description"}}, "made with other options: columns was"),
        ({"private": ("year",)}, "made with other options: private was"),
    ],
)
def test_other_options_are_refused_without_force(options, message, server, updated):
    with pytest.raises(BadInput, match=message):
        update_database(server, updated, options=ImportOptions(changed_by="changed", **options))
    forced = update_database(server, updated, options=ImportOptions(changed_by="changed", force=True, **options))
    assert message in forced.whole


def test_a_graph_of_files_or_of_another_database_is_refused(server, updated, small):
    with pytest.raises(BadInput, match="was made of files, and not of bolt://localhost:7687/films"):
        update_database(server, small.path, options=OPTIONS)
    server.address = Address.parse("bolt://localhost/cinemas")
    with pytest.raises(BadInput, match="was made of bolt://localhost:7687/films"):
        update_database(server, updated, options=OPTIONS)


def test_a_server_that_goes_away_changes_nothing(world, server, updated, monkeypatch):
    generation, before = read_pointer(updated).generation, sorted(path.name for path in updated.iterdir())
    world.drop_edge()
    answers = server.stream

    def dies(statement, **values):
        if "[r:`" in statement:
            raise DatabaseAway("no database server answers")
        return answers(statement, **values)

    monkeypatch.setattr(server, "stream", dies)
    with pytest.raises(DatabaseAway):
        update_database(server, updated, options=OPTIONS)
    assert read_pointer(updated).generation == generation
    assert sorted(path.name for path in updated.iterdir()) == before


def test_what_changes_while_it_is_read_is_read_the_next_time(world, server, updated, tmp_path, monkeypatch):
    answers = server.stream
    world.change_node()

    def restless(statement, **values):
        yield from answers(statement, **values)
        world.add_node()
        world.add_edge()

    monkeypatch.setattr(server, "stream", restless)
    assert update_database(server, updated, options=OPTIONS).whole is None
    monkeypatch.undo()
    assert check(server, updated, tmp_path / "fresh").whole is None


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"explode": {"tags": "TAGGED"}}, "--explode makes nodes"),
        ({"columns": {"edge_type": "role"}}, "the types of edges come from a property"),
    ],
)
def test_what_cannot_be_followed_is_imported_and_told(options, why, world, server, tmp_path):
    options = ImportOptions(changed_by="changed", **options)
    update_database(server, tmp_path / "graph", options=options)
    world.change_node()
    assert why in update_database(server, tmp_path / "graph", options=options).whole


def test_strict_refuses_what_an_import_would_merge(server, world, tmp_path):
    options = ImportOptions(changed_by="changed", strict=True)
    update_database(server, tmp_path / "graph", options=options)
    own_id, edge = next(iter(world.store.edges.items()))
    world.store.edges["5:999"] = world.store.edges[own_id] = (*edge[:3], world.stamped(edge[3], is_edge=True))
    with pytest.raises(BadInput, match="--strict: 1 duplicate"):
        update_database(server, tmp_path / "graph", options=options)


def test_private_properties_stay_out(world, server, tmp_path):
    options = ImportOptions(changed_by="changed", private=("year", "role"))
    update_database(server, tmp_path / "graph", options=options)
    world.change_node()
    world.change_edge()
    assert update_database(server, tmp_path / "graph", options=options).whole is None
    graph = Graph.open(tmp_path / "graph")
    assert "year" not in graph.arrays.manifest.properties
    assert not any("role" in edge.properties for edge in graph.iter_edges())


# ------------------------------------------------------------------------------------------------------------ ArcadeDB


class ServedWorld:
    """A world on a real server, whose `changed` is a number, a text or a time."""

    def __init__(self, world, arcade, kind):
        self.world, self.arcade, self.kind = world, arcade, kind
        self.nodes, self.edges = {}, {}

    def write(self):
        """Have the server hold what the world holds."""
        nodes, edges, cypher = self.world.store.nodes, self.world.store.edges, self.arcade.cypher
        for own_id in self.edges.keys() - edges.keys():
            cypher("MATCH ()-[r {key: $key}]->() DELETE r", key=own_id)
        for own_id in self.nodes.keys() - nodes.keys():
            cypher("MATCH (n {key: $key}) DETACH DELETE n", key=own_id)
        for own_id, (labels, properties) in nodes.items():
            if self.nodes.get(own_id) != (labels, properties):
                match = "MATCH (n {key: $key})" if own_id in self.nodes else f"CREATE (n:{':'.join(labels)})"
                self._set(f"{match} SET n = $said", "n", own_id, properties)
        for own_id, (source, kind, target, properties) in edges.items():
            if self.edges.get(own_id) != (source, kind, target, properties):
                match = (
                    "MATCH ()-[r {key: $key}]->()"
                    if own_id in self.edges
                    else f"MATCH (a {{key: '{source}'}}), (b {{key: '{target}'}}) CREATE (a)-[r:{kind}]->(b)"
                )
                self._set(f"{match} SET r = $said", "r", own_id, properties)
        self.nodes, self.edges = dict(nodes), dict(edges)

    def _set(self, statement, what, own_id, properties):
        said = {name: value for name, value in properties.items() if name != "changed"} | {"key": own_id}
        changed = {"number": "$at", "text": "$iso", "datetime": "datetime($iso)"}[self.kind]
        at = properties["changed"]
        iso = f"2026-01-01T{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.{at % 7}Z"
        self.arcade.cypher(f"{statement}, {what}.changed = {changed}", key=own_id, said=said, at=at, iso=iso)


@pytest.fixture
def arcade(tmp_path):
    require_arcade()
    server = Arcade(tmp_path)
    yield server
    server.kill()


@pytest.mark.arcadedb
@pytest.mark.parametrize("kind", ["number", "text", "datetime"])
def test_a_real_server_gives_the_same(kind, arcade, tmp_path, monkeypatch):
    from orienteer.connect import Server

    world = World(len(kind))
    labels = [("Person",), ("Film",), ("Place",)]  # of this server's nodes labels stay as they are
    monkeypatch.setattr(world, "change_node", world.touch_node)
    for own_id, (_, properties) in world.store.nodes.items():
        world.store.nodes[own_id] = (world.choice(labels), properties)
    served = ServedWorld(world, arcade, kind)
    served.write()
    server = Server(Address.parse(arcade.address), Login("root", arcade.password))
    try:
        check(server, tmp_path / "updated", tmp_path / "fresh")
        for edits in (0, 1, 1, 4, 8, 8):
            for _ in range(edits):
                world.edit()
            served.write()
            report = check(server, tmp_path / "updated", tmp_path / "fresh")
            assert report.whole is None
    finally:
        server.close()
