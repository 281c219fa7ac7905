"""A database that speaks Bolt becomes a graph: ArcadeDB, as a real server. Neo4j itself is not tried here."""

import json
import os
import subprocess
import sys

import pytest

from arcade import Arcade, require_arcade
from orienteer.addresses import Address, Login, is_address
from orienteer.connect import database_login, import_database
from orienteer.errors import BadInput, BadOption, DatabaseAway, DatabaseRefused, MissingExtra, QueryStopped
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions
from orienteer.records import Edge, Node

FILMS = """
CREATE (m:Entity:Film {id: 'f1', title: 'Night Ferry', year: 1998, description: 'A captain finds a stranger aboard.',
    released: date('1998-04-30'), stars: [1, 2], vector: $vector})
CREATE (a:Entity:Person:Actor {id: 'p1', name: 'Noor Vik', aliases: ['N. Vik']})
CREATE (b:Entity:Person {id: 'p2', name: 'Ada Holm'})
CREATE (c:Entity {id: 7})
CREATE (a)-[:PLAYS {role: 'captain', weight: 0.5}]->(m)
CREATE (b)-[:DIRECTED]->(m), (b)-[:KNOWS]->(a), (c)-[:KNOWS]->(c)
"""
NODES = [
    Node("7", "Entity", "7"),
    Node(
        "f1",
        "Film",
        "Night Ferry",
        "A captain finds a stranger aboard.",
        (),
        {"year": 1998, "released": "1998-04-30", "stars": [1, 2]},
    ),
    Node("p1", "Actor", "Noor Vik", "", ("N. Vik",), {"labels": ["Person"]}),
    Node("p2", "Person", "Ada Holm"),
]
EDGES = {
    ("p1", "PLAYS", "f1"),
    ("p2", "DIRECTED", "f1"),
    ("p2", "KNOWS", "p1"),
    ("7", "KNOWS", "7"),
}


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("bolt://localhost/films", "bolt://localhost:7687"),
        ("neo4j+s://db.example.org:7000/films", "neo4j+s://db.example.org:7000"),
        ("bolt+ssc://[::1]/films", "bolt+ssc://[::1]:7687"),
    ],
)
def test_an_address_is_read(text, server):
    address = Address.parse(text)
    assert is_address(text)
    assert (address.server, address.database) == (server, "films")
    assert str(address) == f"{server}/films"


@pytest.mark.parametrize(
    "text",
    [
        "bolt://ada:s3cret@localhost/films",
        "bolt://ada@localhost/films",
        "bolt://localhost/films?password=s3cret",
        "bolt://localhost:s3cret/films",
        "bolt://localhost",
        "bolt:///films",
        "bolt://localhost/a/b",
    ],
)
def test_an_address_with_a_password_or_without_a_database_is_refused_and_not_repeated(text):
    with pytest.raises(BadOption, match="DATABASE") as refusal:
        Address.parse(text)
    assert "s3cret" not in str(refusal.value) or ":s3cret/" in text
    assert "ada" not in str(refusal.value).replace("database", "")


def test_a_folder_is_no_address():
    assert not is_address("bolt/folder")
    assert not is_address("https://example.org/bolt")


def test_who_asks_is_told_by_the_environment_and_never_shown():
    login = database_login(environment={"NEO4J_PASSWORD": "s3cret"})
    assert login == Login("neo4j", "s3cret")
    assert "s3cret" not in repr(login)
    assert database_login(environment={}) is None
    with pytest.raises(BadOption, match="NEO4J_PASSWORD"):
        database_login(environment={"NEO4J_USERNAME": "ada"})


def test_without_the_driver_the_extra_is_named(monkeypatch):
    from orienteer.connect import Server

    monkeypatch.setitem(sys.modules, "neo4j", None)
    with pytest.raises(MissingExtra, match=r"orienteer\[neo4j\]"):
        Server(Address.parse("bolt://localhost/films"), None)


@pytest.fixture(scope="module")
def arcade(tmp_path_factory):
    require_arcade()
    server = Arcade(tmp_path_factory.mktemp("arcade"))
    server.cypher(FILMS, vector=[0.5] * 384)
    yield server
    server.kill()


@pytest.fixture
def opened(arcade):
    from orienteer.connect import Server

    server = Server(Address.parse(arcade.address), Login("root", arcade.password))
    yield server
    server.close()


def _command(*arguments, environment):
    names = ("PATH", "PYTHONPATH", "HOME")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "orienteer", *map(str, arguments)],
        env={**kept, **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.arcadedb
def test_nodes_and_edges_come_as_tables_would_have_them(opened, tmp_path):
    told = []
    report = import_database(opened, tmp_path / "graph", progress=lambda stage, count: told.append((stage, count)))
    graph = Graph.open(tmp_path / "graph")
    assert [graph.node(node_id) for node_id in graph.node_ids()] == NODES
    edges = list(graph.iter_edges())
    assert {(edge.source, edge.type, edge.target) for edge in edges} == EDGES
    assert Edge("p1", "PLAYS", "f1", "", 0.5, {"role": "captain"}) in edges
    assert report.nodes == 4
    assert "ids of nodes: the property 'id'" in report.notes
    assert any("1 vectors of the property 'vector'" in note for note in report.notes)
    assert {stage for stage, _ in told} >= {"counting", "reading edges"}


@pytest.mark.arcadedb
def test_columns_are_named_by_the_options_that_tables_have(opened, tmp_path):
    options = ImportOptions(columns={"name": "year", "text": "title"}, private=("aliases",))
    import_database(opened, tmp_path / "graph", options=options)
    film = Graph.open(tmp_path / "graph").node("f1")
    assert (film.name, film.text) == ("1998", "Night Ferry")
    with pytest.raises(BadInput, match=r"of 4 nodes .* 2 have it, with 2 values"):
        import_database(opened, tmp_path / "other", options=ImportOptions(columns={"id": "name"}))
    with pytest.raises(BadOption, match="--nodes is about tables"):
        import_database(opened, tmp_path / "other", options=ImportOptions(nodes=(tmp_path / "n.csv",)))
    assert not (tmp_path / "other").exists()


@pytest.mark.arcadedb
def test_the_command_leaves_no_password_anywhere(arcade, tmp_path):
    run = _command("import", arcade.address, "-o", tmp_path / "graph", "--json", environment=arcade.environment())
    assert (run.returncode, json.loads(run.stdout)["nodes"]) == (0, 4)
    wrong = arcade.environment() | {"NEO4J_PASSWORD": "s3cret-and-wrong"}
    refused = _command("import", arcade.address, "-o", tmp_path / "other", environment=wrong)
    assert refused.returncode == 2
    assert "check NEO4J_USERNAME and NEO4J_PASSWORD" in refused.stderr
    unnamed = _command("import", arcade.address, "-o", tmp_path / "other", environment={})
    assert "set NEO4J_USERNAME and NEO4J_PASSWORD" in unnamed.stderr
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    everything = written + "".join((run.stdout, run.stderr, refused.stderr, unnamed.stderr)).encode()
    assert arcade.password.encode() not in everything
    assert b"s3cret" not in everything
    assert not (tmp_path / "other").exists()


@pytest.mark.arcadedb
def test_a_database_that_is_not_there_is_told_with_those_that_are(arcade):
    from orienteer.connect import Server

    address = Address.parse(arcade.address.replace("/films", "/cinemas"))
    with pytest.raises(DatabaseRefused, match="has no database 'cinemas': it has films"):
        Server(address, Login("root", arcade.password))


@pytest.mark.arcadedb
def test_a_server_that_is_away_is_told_in_one_sentence(tmp_path):
    require_arcade()
    run = _command("import", "bolt://127.0.0.1:1/films", "-o", tmp_path / "graph", environment={})
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("error: no database server answers at bolt://127.0.0.1:1 (")
    assert not (tmp_path / "graph").exists()


@pytest.fixture
def large(tmp_path):
    """A server of its own, with more nodes than the driver fetches at once."""
    require_arcade()
    (tmp_path / "server").mkdir()
    server = Arcade(tmp_path / "server")
    statement = "UNWIND range(1, 60000) AS i CREATE (:Film {id: i, title: 'a film of many', text: $text})"
    server.cypher(statement, text="t" * 400)
    yield server
    server.kill()


def _published(path):
    return (path / "orienteer.json").exists()


@pytest.mark.arcadedb
def test_a_server_that_dies_leaves_nothing_half_written(large, tmp_path):
    from orienteer.connect import Server

    server = Server(Address.parse(large.address), Login("root", large.password))

    def kill_in_the_middle(stage, count):
        if stage == "reading nodes" and count == 4000:
            large.kill()

    with pytest.raises(DatabaseAway, match="no database server answers at"):
        import_database(server, tmp_path / "graph", progress=kill_in_the_middle)
    server.close()
    assert not _published(tmp_path / "graph")
    assert not list(tmp_path.glob("graph/*/*"))


@pytest.mark.arcadedb
def test_a_limit_of_the_server_is_told_with_its_name(large, tmp_path):
    from orienteer.connect import Server

    large.kill()
    large.start(seconds=0.1)
    server = Server(Address.parse(large.address), Login("root", large.password))
    with pytest.raises(QueryStopped, match=r"arcadedb\.command\.timeout, in Neo4j"):
        import_database(server, tmp_path / "graph")
    server.close()
    assert not _published(tmp_path / "graph")
