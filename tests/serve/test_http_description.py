"""What `/openapi.json` says: a generator of clients gets names, examples, a server, and every status."""

import keyword
import re

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from fakes.http_site import serving

STATUSES = {"400", "403", "404", "413", "422", "503"}


@pytest.fixture(scope="module")
def described(client):
    return client.get("/openapi.json").json


@pytest.fixture(scope="module")
def operations(described):
    """Give each operation by its name, with its method and path."""
    return {
        operation["operationId"]: (method, path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }


def test_operations_have_names_that_generated_clients_can_live_with(operations):
    assert sorted(operations) == [
        *("answers", "ask", "create_chat_completion", "cypher", "facets", "feedback", "get_file", "get_graphs"),
        *("get_health", "get_info", "get_metrics", "get_model", "get_models", "get_node", "get_overview", "get_page"),
        *("get_ready", "get_rows", "get_schema", "intersect", "list_nodes", "neighbors", "paths", "search", "subgraph"),
    ]
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in operations)


def test_each_operation_has_a_title_of_its_own(operations):
    titles = [operation["summary"] for _, _, operation in operations.values()]
    assert len(set(titles)) == len(titles)
    assert {"Search", "List nodes", "Ask", "Get node"} <= set(titles)


def test_there_is_a_server_and_every_reference_leads_somewhere(described):
    assert described["servers"][0]["url"] == "/"
    references = set(re.findall(r"'\$ref': '([^']*)'", str(described)))
    assert "#/components/schemas/Problem" in references
    for reference in references:
        place = described
        for name in reference.removeprefix("#/").split("/"):
            place = place[name]
    assert not {"HTTPValidationError", "ValidationError"} & set(described["components"]["schemas"])


def test_every_operation_tells_its_errors_in_one_form(operations):
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    for _, _, operation in operations.values():
        assert set(operation["responses"]) >= {"200", "default", *STATUSES}
        for status in ("default", *STATUSES):
            assert operation["responses"][status]["content"] == {"application/json": problem}


def test_content_types_are_those_of_the_replies(operations, client):
    for name, (method, path, operation) in operations.items():
        if method == "get" and "{" not in path and name not in ("get_node", "get_file", "get_page"):
            query = "" if path in ("/health", "/ready", "/metrics") else "?graph=languages"
            sent = client.get(path + query).headers["content-type"].partition(";")[0]
            assert list(operation["responses"]["200"]["content"]) == [sent]
    assert list(operations["get_page"][2]["responses"]["200"]["content"]) == ["image/png"]
    for name in ("ask", "create_chat_completion"):
        assert set(operations[name][2]["responses"]["200"]["content"]) == {"application/json", "text/event-stream"}


def test_every_body_has_an_example_that_is_answered(operations, languages, tmp_path):
    bodies = {
        path: operation["requestBody"]["content"]["application/json"]["schema"]["examples"]
        for _, path, operation in operations.values()
        if "requestBody" in operation
    }
    assert len(bodies) == 12
    with serving({"languages": languages}) as client:
        for path, examples in bodies.items():
            reply = client.post(path, examples[0])
            assert reply.status == 200 or (reply.status == 403 and path in ("/api/cypher", "/api/feedback"))


def test_what_is_known_is_an_enumeration(operations):
    for name in ("search", "neighbors"):
        schema = operations[name][2]["requestBody"]["content"]["application/json"]["schema"]
        assert schema["properties"]["mode"]["anyOf"][0]["enum"] == ["lexical", "dense", "hybrid", "rrf"]


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [
        *(("/api/search", "k", value) for value in (False, True, "2", 2.5, None, [], -1, 201)),
        *(("/api/search", "mode", value) for value in ("lexica", "", "hybrid:", "hybrid:2", "hybrid:.655", "DENSE", 1)),
        *(("/api/list", "offset", value) for value in (False, "0")),
        *(("/api/list", "descending", value) for value in (0, "no", None)),
        ("/api/subgraph", "around", True),
        ("/api/paths", "max_length", True),
        ("/api/ask", "no_answer", 1),
    ],
)
def test_a_value_of_another_kind_is_refused_by_name(client, path, field, value):
    needed = {"/api/search": {"query": "x"}, "/api/subgraph": {"nodes": ["x"]}, "/api/ask": {"question": "x"}}
    needed |= {"/api/paths": {"a": "x", "b": "y"}}
    reply = client.post(path, {"graph": "languages", **needed.get(path, {}), field: value})
    assert reply.status == 422
    assert reply.error["message"].startswith(f"{field} is ")


def test_a_whole_number_may_be_written_with_a_point(client):
    assert len(client.post("/api/search", {"graph": "languages", "query": "language", "k": 2.0}).json["hits"]) == 2


def test_a_fault_of_the_whole_body_is_told_as_a_sentence(client):
    reply = client.post("/api/search", {"graph": "languages", "query": "x", "k": 1, "top_k": 2})
    assert reply.status == 422
    assert reply.error["message"].startswith("k is 1 and top_k 2")
