"""`orienteer doctor ADDRESS`: what it finds about ArcadeDB, a real server, and what it says to do."""

import json

import pytest

from arcade import Arcade, require_arcade
from ingest.test_in_place import _command
from orienteer.ingest import demo_records

pytestmark = pytest.mark.arcadedb
INDEX = "`Entity[name,text]`"


@pytest.fixture(scope="module")
def arcade(tmp_path_factory):
    require_arcade()
    server = Arcade(tmp_path_factory.mktemp("arcade"))
    server.add_reader()
    server.load(*demo_records())
    yield server
    server.kill()


def examined(arcade, user="reader"):
    """Return the exit code, and what was found by what it is about."""
    run = _command("doctor", arcade.address, "--json", environment=arcade.environment(user=user))
    assert arcade.reader not in run.stdout + run.stderr
    assert arcade.password not in run.stdout + run.stderr
    findings = json.loads(run.stdout)["database"]["findings"]
    return run.returncode, {finding["about"]: finding for finding in findings}


def test_a_server_that_reads_alone_and_has_its_indexes_is_well_but_for_its_time(arcade):
    code, found = examined(arcade)
    assert code == 0
    assert {about for about, finding in found.items() if finding["state"] != "well"} == {"time"}
    assert "arcadedb.command.timeout" in found["time"]["remedy"]
    assert "ArcadeDB" in found["server"]["told"]
    assert found["database"]["told"] == "169 nodes, 8 labels, 504 edges"
    run = _command("doctor", arcade.address, environment=arcade.environment(user="reader"))
    assert "search: the full-text index Entity[name,text] over name, text of Entity" in run.stdout
    assert "    warning: set a limit of the server's own" in run.stdout


def test_a_user_who_may_write_is_a_problem(arcade):
    contents = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN n.id, labels(n), properties(n), count(r) ORDER BY n.id"
    before = arcade.cypher(contents)
    code, found = examined(arcade, "root")
    assert code == 1
    assert found["writing"]["state"] == "problem"
    assert arcade.cypher(contents) == before


def test_missing_indexes_are_told(arcade):
    arcade.sql(f"DROP INDEX {INDEX}")
    arcade.sql("DROP INDEX `Entity[id]`")
    try:
        code, found = examined(arcade)
    finally:
        arcade.sql("CREATE INDEX ON Entity (name, text) FULL_TEXT")
        arcade.sql("CREATE INDEX ON Entity (id) UNIQUE")
    assert code == 1
    assert (found["search"]["state"], found["ids"]["state"]) == ("problem", "warning")
    assert found["ids"]["remedy"] == "make an index of id by the label Entity, which all nodes bear"


def test_a_servers_own_limit_of_time_is_found(arcade):
    arcade.kill()
    arcade.start(seconds=2.5)
    try:
        _, found = examined(arcade)
    finally:
        arcade.kill()
        arcade.start()
    assert found["time"]["state"] == "well"
    assert "by a limit of its own" in found["time"]["told"]


def test_a_server_that_is_away_is_told_in_one_sentence():
    require_arcade()
    run = _command("doctor", "bolt://127.0.0.1:1/films", environment={})
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1].startswith("error: no database server answers at bolt://127.0.0.1:1 (")
