"""spark and sage:spark through the command line, their model on loopback: one call, its repair, the fallback, marks."""

import json

import pytest

from fakes import Answer, FakeServer

CHOIR = [{"op": "match", "start": "Choir", "edge_types": ["member of"], "node_types": ["person"], "into": "found"}]
CHESS = [{"op": "lexical_search", "query": "plays chess", "node_types": ["person"], "k": 5, "into": "found"}]
FAULTY = [{**CHOIR[0], "edge_types": ["sings in"]}]
NOTHING = [{"op": "filter", "of": "person", "property": "born", "comparison": ">", "value": 3000, "into": "found"}]
QUESTIONS = {
    "Who is in the Choir?": (CHOIR, ["ann", "dan"]),
    "Who plays chess?": (CHESS, ["ann", "bob"]),
    "Who sings in the Choir?": (FAULTY, ["ann", "dan"]),
    "Who plays, born after 3000?": (NOTHING, ["ann"]),
}
METHODS = ("spark", "sage:spark policy=+edge", "sage:spark policy=-edge")


def policy(body, before):
    """Write the plan of the question; sent back, the one for the choir."""
    if any(message["role"] == "assistant" for message in body["messages"]):
        return Answer(content=json.dumps({"steps": CHOIR, "answer": "found"}))
    question = body["messages"][1]["content"].rpartition("Question: ")[2]
    return Answer(content=json.dumps({"steps": QUESTIONS[question][0], "answer": "found"}))


@pytest.fixture
def run(clubs, home, cli):
    """Run all methods over all questions; give the results, the trajectories, and what the server was asked."""
    file = home / "questions.jsonl"
    rows = [{"id": text, "question": text, "nodes": nodes} for text, (_, nodes) in QUESTIONS.items()]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    method_flags = [part for method in METHODS for part in ("--method", method)]
    with FakeServer(policy) as server:
        flags = ("--model", "fake", "--base-url", server.url, "-k", "4", "-o", "run")
        ran = cli("eval", "run", clubs, file, *method_flags, *flags, "-q", "--json")
        bodies = server.bodies
    assert ran.code == 0, ran.err
    lines = (home / "run" / "results.jsonl").read_text().splitlines()
    results = {(line["method"], line["id"]): line for line in map(json.loads, lines)}
    trails = (home / "run" / "trajectories.jsonl").read_text().splitlines()
    return ran.json, results, [json.loads(line) for line in trails], bodies


def expands(trails, method, text):
    """Tell whether the neighbours of the seeds were looked at, in the trajectory of the method itself."""
    [own, *_] = next(line["trajectories"] for line in trails if (line["method"], line["id"]) == (method, text))
    calls = [call["name"] for step in own["steps"] for call in step["reply"]["message"]["tool_calls"]]
    return "search_in_neighborhood" in calls


def test_spark_and_its_expansion_end_to_end(run):
    rows, results, trails, bodies = run
    assert {row["method"] for row in rows} == set(METHODS)
    assert not any(row["failed"] for row in rows)

    faulty = "Who sings in the Choir?"
    calls = {key: line["usage"]["calls"] for key, line in results.items()}
    assert calls == {(method, text): 2 if text == faulty else 1 for method in METHODS for text in QUESTIONS}
    assert len(bodies) == sum(calls.values())

    ids = {key: [hit["id"] for hit in line["hits"]] for key, line in results.items()}
    choir, chess = "Who is in the Choir?", "Who plays chess?"
    assert set(ids["spark", choir][:2]) == set(ids["spark", faulty][:2]) == {"ann", "dan"}
    for text in QUESTIONS:
        is_walked = text in (choir, faulty)  # its plan has named an edge
        assert ids["sage:spark policy=-edge", text] == ids["spark", text] or not is_walked
        assert expands(trails, "sage:spark policy=-edge", text) != is_walked
        assert expands(trails, "sage:spark policy=+edge", text)

    marks = {}
    for line in trails:
        marks_seen = {mark for trajectory in line["trajectories"] for mark in trajectory["marks"]}
        assert marks.setdefault(line["id"], marks_seen) == marks_seen  # whichever way the plan was asked for
    assert marks == {
        choir: {"edges"},
        chess: set(),
        faulty: {"edges"},
        "Who plays, born after 3000?": {"constraint", "fallback"},
    }
