"""All answers over HTTP: pages of a question, the table, its files, and what they are counted by."""

import csv
import io

import pytest

from fakes.http_site import serving
from orienteer.ingest import demo_records
from orienteer.records import Node

RUST = 'language that <-influenced_by- "Rust"'
INFLUENCES = {
    edge.target for edge in demo_records()[1] if (edge.source, edge.type) == ("language:rust", "influenced_by")
}
YEARS = {node.id: node.properties.get("year") for node in demo_records()[0]}


def _rows(reply):
    assert reply.status == 200
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    assert reply.body.startswith("\ufeff".encode())
    return list(csv.DictReader(io.StringIO(reply.body.decode("utf-8-sig"))))


def test_a_question_is_answered_page_by_page(client):
    body = {"graph": "languages", "question": "Which languages influenced Rust?", "k": 3}
    pages = [client.post("/api/ask", {**body, "offset": offset}).json for offset in (0, 3, 6)]
    ids = [hit["id"] for page in pages for hit in page["hits"] if hit["complete"]]
    assert (len(ids), set(ids)) == (8, INFLUENCES)
    assert [(page["offset"], page["total"]) for page in pages] == [(0, 8), (3, 8), (6, 8)]
    assert client.post("/api/ask", {**body, "offset": -1}).status == 422


@pytest.mark.parametrize("words", [{"reading": RUST}, {"question": "Which languages influenced Rust?"}])
def test_a_page_of_the_table_is_sorted_over_all(client, words):
    body = {"graph": "languages", **words, "sort": "year", "columns": ["name", "year", "developed_at"]}
    page = client.post("/api/answers", {**body, "descending": True, "offset": 1, "k": 2}).json
    years = sorted((YEARS[node] for node in INFLUENCES), reverse=True)
    assert [column["kind"] for column in page["columns"]] == ["own", "property", "edge"]
    assert [row[1] for row in page["rows"]] == years[1:3]
    assert (page["total"], page["offset"], page["reading"]) == (8, 1, RUST)
    assert [YEARS[node] for node in page["ids"]] == years[1:3]
    developers = [row[2] for row in client.post("/api/answers", body).json["rows"]]
    assert {"id": "organization:mozilla", "name": "Mozilla"} not in developers
    assert {"id": "organization:bell-labs", "name": "Bell Labs"} in developers


def test_all_of_it_is_a_file(client):
    body = {"graph": "languages", "reading": RUST, "k": 2}
    rows = _rows(client.post("/api/answers", {**body, "format": "csv"}))
    assert {row["id"] for row in rows} == INFLUENCES
    assert rows == _rows(client.post("/api/answers", body, accept="text/csv"))
    reply = client.post("/api/answers", {**body, "format": "json"})
    assert 'filename="answers.json"' in reply.headers["content-disposition"]
    assert {row["id"]: row["year"] for row in reply.json} == {node: YEARS[node] for node in INFLUENCES}


def test_properties_that_are_not_counted_are_told(build):
    graph = build([Node("n1", "note", "A", properties={f"p{n}": n for n in range(50)})], [])
    with serving({"notes": graph}) as client:
        found = client.post("/api/facets", {"graph": "notes", "reading": "note"}).json
    assert (len(found["properties"]), found["notes"]) == (40, ["10 more properties are not counted"])


def test_hits_that_are_no_whole_answer_are_a_table_by_their_ids(client):
    body = {"graph": "small", "nodes": ["p1", "f2", "f1", "f2"], "format": "csv"}
    assert [row["id"] for row in _rows(client.post("/api/answers", body))] == ["p1", "f2", "f1"]


def test_what_is_counted_is_all_that_meets(client):
    told = client.post("/api/facets", {"graph": "languages", "reading": RUST}).json
    assert (told["total"], told["types"]) == (8, [{"value": "language", "count": 8}])
    [year] = [facet for facet in told["properties"] if facet["name"] == "year"]
    assert (year["kind"], year["count"], year["distinct"], sum(one["count"] for one in year["bins"])) == (
        "number",
        8,
        8,
        8,
    )
    [developed] = told["edges"]
    line = developed["groups"][0]["reading"]
    assert line == f'{RUST} and -developed_at-> "{developed["groups"][0]["value"]}"'
    assert client.post("/api/facets", {"graph": "languages", "reading": line}).json["total"] == 1
    narrowed = client.post("/api/facets", {"graph": "languages", "reading": RUST, "where": ["year < 1990"]}).json
    assert narrowed["total"] == sum(YEARS[node] < 1990 for node in INFLUENCES)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"question": "Which quibbles were frobnicated?"}, "no exact answer"),
        ({"reading": "language that"}, "reading"),
        ({"reading": RUST, "sort": "yaer"}, "Near: year"),
        ({"reading": RUST, "columns": ["yaer"], "format": "csv"}, "Near: year"),
        ({"nodes": ["nobody"]}, "nobody"),
        ({}, "question"),
    ],
)
def test_what_cannot_be_listed_is_refused(client, body, told):
    reply = client.post("/api/answers", {"graph": "languages", **body})
    assert 400 <= reply.status < 500
    assert told in reply.error["message"]
