"""Agents' tools over a database that stays where it is: ArcadeDB, as a real server, beside an import of the same."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from arcade import Arcade, require_arcade
from fakes.openai_server import Answer, FakeServer
from orienteer.addresses import Address, Login
from orienteer.connect import import_database
from orienteer.errors import BadInput, BadOption, DatabaseAway, DatabaseRefused, Error
from orienteer.graph import Graph
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from orienteer.tools import Toolbox

pytestmark = pytest.mark.arcadedb
WORDS = ("harbour", "winter", "captain", "letter", "sister", "island", "engine", "lantern", "orchard", "quarry")
HOSTILE = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cypher" / "hostile.jsonl").read_text(encoding="utf-8").splitlines()
]
INDEX = "CREATE INDEX IF NOT EXISTS ON Entity (name, title, description) FULL_TEXT"


def _fill(arcade):
    """Make 60 films and 40 people, joined at random."""
    chance = random.Random(7)
    films = [
        {
            "id": f"f{number}",
            "title": f"{chance.choice(WORDS)} {number}".capitalize(),
            "description": " ".join(chance.choices(WORDS, k=8)),
            "year": 1950 + number,
        }
        for number in range(60)
    ]
    people = [{"id": f"p{number}", "name": f"Person {number} {chance.choice(WORDS)}"} for number in range(40)]
    edges = sorted({(f"p{chance.randrange(40)}", f"f{chance.randrange(60)}") for _ in range(200)})
    arcade.sql("CREATE VERTEX TYPE Entity IF NOT EXISTS")
    for name in ("id", "name", "title", "description"):
        arcade.sql(f"CREATE PROPERTY Entity.{name} IF NOT EXISTS STRING")
    arcade.cypher("UNWIND $rows AS row CREATE (n:Entity:Film) SET n += row", rows=films)
    arcade.cypher("UNWIND $rows AS row CREATE (n:Entity:Person) SET n += row", rows=people)
    statement = "UNWIND $rows AS row MATCH (a:Entity {id: row[0]}), (b:Entity {id: row[1]}) CREATE (a)-[:%s]->(b)"
    arcade.cypher(statement % "PLAYS", rows=[list(edge) for edge in edges[::2]])
    arcade.cypher(statement % "DIRECTED", rows=[list(edge) for edge in edges[1::2]])
    arcade.sql(INDEX)


@pytest.fixture(scope="module")
def arcade(tmp_path_factory):
    require_arcade()
    server = Arcade(tmp_path_factory.mktemp("arcade"))
    server.add_reader()
    _fill(server)
    yield server
    server.kill()


def _opened(arcade, user="reader"):
    from orienteer.connect import Server

    return Server(Address.parse(arcade.address), Login(user, arcade.reader if user == "reader" else arcade.password))


@pytest.fixture(scope="module")
def in_place(arcade):
    from orienteer.connect import GraphInPlace

    graph = GraphInPlace.of(_opened(arcade))
    yield graph
    graph.close()


@pytest.fixture(scope="module")
def imported(arcade, tmp_path_factory):
    server = _opened(arcade)
    path = tmp_path_factory.mktemp("imported") / "graph"
    import_database(server, path)
    server.close()
    return Graph.open(path)


def test_types_and_counts_are_those_of_the_import(in_place, imported):
    assert in_place.schema.node_types == imported.schema.node_types
    assert in_place.schema.edges == imported.schema.edges
    assert len(in_place) == len(imported)


def test_neighbours_intersections_and_paths_are_those_of_the_import(in_place, imported):
    chance = random.Random(3)
    ids = list(imported.node_ids())
    for _ in range(25):
        a, b = chance.sample(ids, 2)
        filters = {"edge_types": chance.choice([None, ["PLAYS"]]), "direction": chance.choice([None, "in", "out"])}
        here, there = in_place.neighbors(a, k=100, **filters), imported.neighbors(a, k=100, **filters)
        assert (here.total, here.counts) == (there.total, there.counts)
        assert {hit.id: hit.edges for hit in here.hits} == {hit.id: hit.edges for hit in there.hits}
        common = [{(one.id, one.members) for one in graph.intersect([a, b], k=100)} for graph in (in_place, imported)]
        assert common[0] == common[1]
        assert in_place.paths(a, b, k=1000) == imported.paths(a, b, k=1000)
        assert in_place.node(a) == imported.node(a)


def test_a_search_finds_the_nodes_that_have_the_words(in_place, imported):
    for query in ("harbour winter", "lantern", "captain orchard quarry"):
        call = {"query": query, "k": 20}
        here = Toolbox.full(in_place, names_first=False).call("search_in_graph", call)
        words = set(query.split())
        for node_id in here.nodes:
            node = imported.node(node_id)
            assert words & {*node.name.lower().split(), *node.text.split()}
        there = Toolbox.full(imported, names_first=False).call("search_in_graph", call)
        assert len(here.nodes) == len(there.nodes)


def test_a_user_who_could_write_is_refused_and_nothing_is_written(arcade):
    from orienteer.connect import GraphInPlace

    before = arcade.cypher("MATCH (n) RETURN count(n)")
    server = _opened(arcade, "root")
    with pytest.raises(DatabaseRefused, match="would let this user write"):
        GraphInPlace.of(server)
    server.close()
    assert arcade.cypher("MATCH (n) RETURN count(n)") == before


def test_hostile_statements_as_words_names_and_types_change_nothing(arcade, in_place):
    contents = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN n.id, labels(n), properties(n), count(r) ORDER BY n.id"
    before, labels = arcade.cypher(contents), arcade.cypher("CALL db.labels()")
    assert len(HOSTILE) >= 60
    for case in HOSTILE:
        text = case["query"] if isinstance(case, dict) else str(case)
        tools = Toolbox.full(in_place, names_first=False)
        for name, arguments in (
            ("search_in_graph", {"query": text}),
            ("search_in_neighborhood", {"node": text, "query": text}),
            ("search_in_neighborhood", {"node": "f1", "edge_types": [text]}),
            ("follow", {"start": text, "steps": [{"edge": text}]}),
            ("paths", {"a": text, "b": "f1"}),
            ("read_node", {"node": text}),
        ):
            try:
                tools.call(name, arguments)
            except DatabaseAway:
                raise
            except Error:
                pass
    assert arcade.cypher(contents) == before
    assert arcade.cypher("CALL db.labels()") == labels


def test_what_needs_the_arrays_says_so_and_names_the_import(in_place):
    with pytest.raises(BadOption, match=r"'anchor' needs a graph of one's own: orienteer import bolt://"):
        Retriever(in_place, "anchor", settings=Settings())
    for ask in (
        lambda: list(in_place.node_ids()),
        lambda: list(in_place.iter_edges()),
        lambda: in_place.search("harbour"),
        lambda: in_place.list(),
    ):
        with pytest.raises(BadOption, match="orienteer import bolt://"):
            ask()


def test_a_database_without_an_index_is_told_what_to_make(arcade, tmp_path):
    from orienteer.connect import full_text_index

    server = _opened(arcade, "root")
    arcade.sql("DROP INDEX `Entity[name,title,description]`")
    try:
        with pytest.raises(BadInput, match="has no full-text index of nodes"):
            full_text_index(server)
    finally:
        arcade.sql(INDEX)
        server.close()


def _course(body, before):
    """Search, look around the first hit, intersect, answer, end: by the number of turns so far."""
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    calls = [
        ("search_in_graph", {"query": "lantern"}),
        ("search_in_neighborhood", {"node": "f7"}),
        ("follow", {"start": "f7", "steps": [{"edge": "PLAYS", "type": "Person"}]}),
        ("intersect", {"nodes": ["f1", "f2"]}),
        ("paths", {"a": "f1", "b": "f2", "max_length": 4}),
        ("add_to_answer", {"nodes": ["f7"], "reasoning": "it was found"}),
        ("finish", {}),
    ]
    return Answer(calls=[calls[turn]]) if turn < len(calls) else Answer(content="f7")


def _command(*arguments, environment):
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "orienteer", *map(str, arguments)],
        env={**kept, **environment},
        capture_output=True,
        text=True,
    )


def test_ark_takes_the_same_steps_in_place_and_over_an_import(arcade, imported):
    with FakeServer(_course) as model:
        flags = ("Which film has a lantern?", "--method", "ark", "--agents", "2", "--model", "fake", "--json")
        flags = (*flags, "--base-url", model.url, "--no-answer", "--trajectories")
        environment = arcade.environment(user="reader") | {"OPENAI_API_KEY": "none"}
        runs = [_command("ask", place, *flags, environment=environment) for place in (arcade.address, imported.path)]
    assert [run.returncode for run in runs] == [0, 0], [run.stderr for run in runs]
    here, there = (json.loads(run.stdout) for run in runs)
    assert [hit["id"] for hit in here["hits"]] == [hit["id"] for hit in there["hits"]] == ["f7"]
    for own, other in zip(here["trajectories"], there["trajectories"], strict=True):
        seen = [
            [_told(observed) for step in course["steps"] for observed in step["observations"]]
            for course in (own, other)
        ]
        assert seen[0][1:] == seen[1][1:]
    assert arcade.reader not in runs[0].stdout + runs[0].stderr


def _told(observation):
    """Return what an observation says, whatever the order of what is tied."""
    return sorted(observation["nodes"]), observation["text"].splitlines()[0]


def test_a_server_that_dies_in_mid_question_is_told_in_one_sentence_and_the_trace_kept(tmp_path):
    require_arcade()
    (tmp_path / "server").mkdir()
    arcade = Arcade(tmp_path / "server")
    try:
        arcade.add_reader()
        _fill(arcade)

        def course(body, before):
            turn = sum(message["role"] == "assistant" for message in body["messages"])
            if turn == 2:
                arcade.kill()
            return _course(body, before)

        trace = tmp_path / "trace.jsonl"
        with FakeServer(course) as model:
            flags = ("Which film has a lantern?", "--method", "ark", "--agents", "1", "--model", "fake")
            environment = arcade.environment(user="reader") | {"OPENAI_API_KEY": "none"}
            run = _command(
                "ask", arcade.address, *flags, "--base-url", model.url, "--trace", trace, environment=environment
            )
    finally:
        arcade.kill()
    assert run.returncode == 1, run.stderr
    assert run.stderr.splitlines()[-1].startswith("error: no database server answers at bolt://127.0.0.1:")
    assert "Traceback" not in run.stderr
    (trajectory,) = map(json.loads, trace.read_text(encoding="utf-8").splitlines())
    assert len(trajectory["steps"]) >= 2
    assert trajectory["stopped_by"] == "error"


def test_other_commands_refuse_an_address_and_repeat_no_password():
    for command in (("info",), ("search",), ("neighbors",), ("show",)):
        run = _command(*command, "bolt://localhost/films", *["x"] * (command[0] != "info"), environment={})
        assert run.returncode == 2
        assert "orienteer import bolt://localhost:7687/films -o DIR" in run.stderr
    run = _command("ask", "bolt://ada:s3cret@localhost/films", "who?", environment={})
    assert run.returncode == 2
    assert "s3cret" not in run.stderr
    assert "NEO4J_PASSWORD" in run.stderr
