"""A folder that a model reads, asked over HTTP and by agents: the quotation comes with its place."""

import json
import re

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from fakes import Answer, FakeServer
from fakes.http_site import serving
from orienteer.graph import Graph
from orienteer.ingest import BuildOptions, build_graph
from orienteer.llm import OpenAIConfig, OpenAIModel

QUESTION = "Who repaired the crane?"
SAID = "The crane was repaired by Tarn Brothers for 12,400 crowns."


@pytest.fixture(scope="module")
def harbour(tmp_path_factory):
    """Give the graph of a folder of two files."""
    folder = tmp_path_factory.mktemp("harbour")
    (folder / "texts").mkdir()
    (folder / "texts" / "may.txt").write_text(f"The board met in May.\n\n{SAID}\n")
    (folder / "texts" / "ferry.md").write_text("# Ferries\n\nThe Night Ferry sails at 22:40.\n")
    build_graph([folder / "texts"], folder / "harbour", options=BuildOptions())
    return Graph.open(folder / "harbour")


@pytest.fixture(scope="module")
def client(harbour):
    """Give a client of a server whose model cites the sentence on the crane, whatever it is asked."""

    def policy(body, before):
        number = re.search(r"\[(\d+\.\d+)\] The crane was", body["messages"][1]["content"])
        reply = {"sentences": [number[1]] if number else [], "answer": "Tarn Brothers", "lacks": "", "search": []}
        return Answer(content=json.dumps(reply))

    with FakeServer(policy) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, api_key="none", retries=0))
        with serving({"harbour": harbour}, model=model) as client:
            yield client


def test_a_question_over_http_has_the_quotation_and_its_place(client):
    body = json.dumps({"question": QUESTION, "method": "documents"}).encode()
    result = client.send("POST", "/api/ask", body, {"content-type": "application/json"}).json
    assert (result["answer"], result["answer_kind"], result["refusal"]) == ("Tarn Brothers", "text", None)
    (citation,) = result["citations"]
    assert citation["quote"] == SAID
    assert (citation["source"]["file"], citation["source"]["line"]) == ("may.txt", 3)
    assert result["hits"][0]["id"] == citation["ids"][0]


def test_a_chat_client_is_told_the_quotation(client):
    body = {"model": "orienteer/harbour:documents", "messages": [{"role": "user", "content": QUESTION}]}
    reply = client.send("POST", "/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    text = reply.json["choices"][0]["message"]["content"]
    assert text.startswith(f"Tarn Brothers\n\n“{SAID}” (may.txt:3)")


def test_an_agent_is_told_the_quotation(harbour):
    from orienteer.records import Citation, Result, Source
    from orienteer.serve import reply_of_result

    cited = Citation(begin=0, end=13, ids=("may.txt#0",), source=Source(file="may.txt", line=3), quote=SAID)
    result = Result(
        question=QUESTION, method="documents", answer="Tarn Brothers", answer_kind="text", citations=(cited,)
    )
    told = reply_of_result(result, harbour, 5).text
    assert told.startswith(f"answer: Tarn Brothers\n  rests on “{SAID}” (may.txt:3)")
