"""Cypher in confined workers: the same answers and errors, walls, turns, and an end for what has none."""

import json
import sys
import threading
import time
from hashlib import sha256
from pathlib import Path

import pytest

from orienteer.cypher import ArraysEngine, ConfinedEngine, Cypher
from orienteer.errors import BadQuery, Error, QueryStopped, UnknownType
from orienteer.graph import Graph
from orienteer.ingest import demo_records

CORPUS = Path(__file__).parents[1] / "cypher"
HOSTILE = [
    json.loads(line)
    for name in ("hostile.jsonl", "hostile_algebra.jsonl")
    for line in (CORPUS / name).read_text(encoding="utf-8").splitlines()
]
ENDLESS = "RETURN reduce(s = '', x IN range(1, 60) | s + 'a') =~ '(a*)*b'"


@pytest.fixture
def cypher(tmp_path):
    graph = Graph.from_records(*demo_records(), path=tmp_path / "graph")
    cypher = Cypher(graph, ConfinedEngine)
    yield cypher
    cypher.close()


@pytest.mark.process
def test_a_worker_answers_as_the_engine_in_this_process_does(cypher, tmp_path):
    here = Cypher(Graph.open(tmp_path / "graph"), ArraysEngine)
    for text, parameters in (
        ("MATCH (l:language)-[:designed_by]->(p) RETURN l, p.name ORDER BY l.name LIMIT 5", {}),
        ("MATCH (l:language) WHERE l.name IN $names RETURN l.name, l.year", {"names": ["C", "Go"]}),
        ("MATCH p = shortestPath((a {name: 'C'})-[*..4]-(b {name: 'Go'})) RETURN length(p)", {}),
    ):
        assert cypher.query(text, parameters) == here.query(text, parameters)


@pytest.mark.process
@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("MATCH (l:langage) RETURN l", UnknownType, "Near: language"),
        ("RETURN 1 / 0", BadQuery, "divided by zero"),
        ("CREATE (n) RETURN n", BadQuery, "only be read"),
    ],
)
def test_errors_of_a_worker_are_ours(cypher, text, error, message):
    with pytest.raises(error, match=message):
        cypher.query(text)


@pytest.mark.process
def test_near_names_come_with_the_error_of_a_worker(cypher):
    with pytest.raises(UnknownType) as caught:
        cypher.query("MATCH (l:langage) RETURN l")
    assert "language" in caught.value.near


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have fewer walls")
def test_a_statement_without_end_is_stopped_and_the_next_one_answered(cypher):
    began = time.monotonic()
    with pytest.raises(QueryStopped):
        cypher.query(ENDLESS, seconds=1)
    assert time.monotonic() - began < 10
    assert cypher.query("RETURN 1 AS one").rows == ((1,),)


@pytest.mark.process
def test_beside_a_statement_without_end_all_others_get_their_turn(cypher):
    cypher.query("RETURN 1")
    answered = []

    def endless():
        with pytest.raises(QueryStopped):
            cypher.query(ENDLESS, seconds=3)

    def ask():
        for _ in range(5):
            answered.append(cypher.query("MATCH (l:language) RETURN count(l)", seconds=20).rows)

    threads = [threading.Thread(target=endless), *(threading.Thread(target=ask) for _ in range(7))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answered) == 35
    assert len(set(answered)) == 1


@pytest.mark.process
def test_a_graph_that_was_published_again_is_answered_as_it_was_opened(cypher, tmp_path):
    nodes, edges = demo_records()
    before = cypher.query("MATCH (n) RETURN count(n)").rows
    Graph.from_records([*nodes, {"id": "new", "name": "New"}], edges, path=tmp_path / "graph", force=True)
    cypher.close()
    assert cypher.query("MATCH (n) RETURN count(n)").rows == before
    with pytest.raises(QueryStopped, match="open the graph again"):
        cypher.query("MATCH (n) WHERE n.name =~ 'C.*' RETURN n")


@pytest.mark.thorough
@pytest.mark.process
@pytest.mark.timeout(600)
def test_hostile_statements_end_in_time_and_write_nothing(cypher, tmp_path):
    def files():
        found = (file for file in tmp_path.rglob("*") if file.is_file())
        return {file: sha256(file.read_bytes()).hexdigest() for file in found}

    assert len(HOSTILE) > 200
    before, late, broken = files(), [], []
    for line in HOSTILE:
        began = time.monotonic()
        try:
            cypher.query(line["query"].replace("{folder}", str(tmp_path)), line.get("parameters"), seconds=0.5)
        except Error as error:
            broken += [line["id"]] if "broke the Cypher worker" in str(error) else []
        if time.monotonic() - began > 2:
            late.append(line["id"])
    assert (late, broken) == ([], [])
    assert files() == before


DESIGNED = "MATCH (l:language)-[d:designed_by]->(p:person) "
PROVED = (
    DESIGNED + "WHERE NOT EXISTS { (p)-[:designed_by]->(:language) } RETURN p.name, l.year",
    DESIGNED + "WHERE EXISTS { (l)--(other) } RETURN l",
    DESIGNED + "WITH l, count(p) AS people RETURN l.name AS name, people",
    "MATCH (l:language) RETURN count(*) AS n UNION MATCH (p:person) RETURN count(*) AS n",
)


@pytest.mark.process
@pytest.mark.parametrize("text", PROVED)
def test_a_worker_proves_rows_as_the_engine_in_this_process_does(cypher, tmp_path, text):
    here = Cypher(Graph.open(tmp_path / "graph"), ArraysEngine)
    table = cypher.query(text, proofs=2)
    assert len(table.proofs) == min(2, len(table.rows)) > 0
    assert table == here.query(text, proofs=2)
    assert cypher.query(text).proofs == ()


@pytest.mark.process
def test_a_proof_says_what_is_not_there_and_the_row_of_the_with_before(cypher):
    [proof, *_] = cypher.query(PROVED[0], proofs=1).proofs
    assert proof.absent == ("(p)-[:designed_by]->(:language)",)
    [laid] = proof.laid
    assert laid.keys() == {"p", "d", "l"}
    assert (laid["d"]["source"], laid["d"]["target"]) == (laid["l"]["id"], laid["p"]["id"])
    table = cypher.query(PROVED[2], proofs=1)
    [grouped] = table.proofs
    assert grouped.values == dict(zip(table.columns, table.rows[0], strict=True))
    assert len(grouped.before.laid) == min(table.rows[0][1], 3)
    assert {laid["l"]["name"] for laid in grouped.before.laid} == {table.rows[0][0]}


def test_an_answer_stays_where_its_proofs_are_stopped(tmp_path):
    class Slow(ArraysEngine):
        asked = 0

        def answer(self, statement, parameters, bounds):
            self.asked += 1
            if self.asked == 3:
                raise QueryStopped("it takes too long")
            return super().answer(statement, parameters, bounds)

    graph = Graph.from_records(*demo_records())
    text = "MATCH (l:language) RETURN l.name ORDER BY l.name"
    table, whole = Cypher(graph, Slow).query(text, proofs=3), Cypher(graph, ArraysEngine).query(text, proofs=3)
    assert table.rows == whole.rows
    assert table.proofs == whole.proofs[:1]
    assert table.notes == ("only 1 of 3 rows are proved: it takes too long",)
    assert len(whole.proofs) == 3
    assert whole.notes == ()


@pytest.mark.process
@pytest.mark.parametrize("text", ["RETURN 1 AS one", "MATCH (l:language) WHERE l.year > 9999 RETURN count(l) AS n"])
def test_a_row_without_a_pattern_to_lay_has_an_empty_proof(cypher, text):
    [proof] = cypher.query(text, proofs=1).proofs
    assert proof.laid == ()
