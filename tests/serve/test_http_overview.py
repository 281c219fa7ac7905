"""What a graph is about, and the roads of the one box, over HTTP."""

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from fakes.http_site import serving


def test_an_overview_has_examples_unless_they_are_not_wanted(client):
    quick = client.get("/api/overview?graph=languages&examples=false").json
    whole = client.get("/api/overview?graph=languages").json
    assert whole["text"] == quick["text"]
    assert quick["examples"] == []
    assert len(whole["examples"]) == 7
    assert len(whole["asks"]) == len(client.get("/api/schema?graph=languages").json["edges"])


def test_a_comparison_is_a_table(client):
    reply = client.post("/api/ask", {"graph": "languages", "question": "compare Rust and Go"}).json
    assert reply["table"]["kind"] == "compare"
    assert reply["table"]["columns"] == ["", "both", "Rust", "Go"]


def test_a_statement_is_run_only_where_cypher_is_on(client, languages):
    asked = {"graph": "languages", "question": "MATCH (l:language) RETURN count(l)"}
    refused = client.post("/api/ask", asked).json
    assert refused["answer"] is None
    assert "start the server with --cypher" in refused["refusal"]["text"]
    with serving({"languages": languages}, has_cypher=True) as open_one:
        reply = open_one.post("/api/ask", asked).json
        assert reply["answer"] == "45"
        table = open_one.post("/api/cypher", {"graph": "languages", "query": asked["question"]}).json
        assert (reply["table"]["columns"], reply["table"]["rows"]) == (table["columns"], table["rows"])


@pytest.mark.parametrize(
    ("line", "value", "near"),
    [
        ('language that -influenced_by-> "Erlng"', "Erlng", "Erlang"),
        ("langage", "langage", "language"),
        ('language that -influencd_by-> "Erlang"', "influencd_by", "influenced_by"),
    ],
)
def test_a_wrong_line_says_the_word_and_names_near_it(client, line, value, near):
    reply = client.post("/api/ask", {"graph": "languages", "question": "x", "reading": line, "method": "anchor"})
    assert reply.status in (400, 404)
    assert reply.json["error"]["value"] == value
    assert near in reply.json["error"]["near"]
