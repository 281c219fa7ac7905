"""Who is let in, and what a wrong request gets: one clear status and sentence, no path of the machine, no end."""

import asyncio
import json
import logging
import math
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

pytest.importorskip("fastapi", reason="needs the extra serve")

from fakes.http_site import serving, until
from fakes.inside import inside
from orienteer.errors import BadOption, UsageError
from orienteer.serve import MOST_OF_AN_ADDRESS, UPKEEP, AskBody, Guard, Metrics, Problem, guard_rules, neighbors_page

JSON = {"content-type": "application/json"}
KEY = "a-key-with-ümlauts-1234"


def deep(levels):
    return b'{"query": ' + b"[" * levels + b"]" * levels + b"}"


LONG = "x" * 5_000
PAST = {"question": "Who designed Go?", "answer": "Rob Pike"}
BAD = {
    # what is no request of ours
    "no such path": ("GET", "/api/nothing", None, {}, 404, "nothing is at '/api/nothing': /docs lists what is"),
    "no such page": ("GET", "/assets/../../graphs.py", None, {}, 404, "nothing is at"),
    "encoded dots": ("GET", "/assets/%2e%2e/%2e%2e/app.py", None, {}, 404, "nothing is at"),
    "wrong method": ("GET", "/api/search", None, {}, 405, "/api/search does not take GET"),
    "delete": ("DELETE", "/api/graphs", None, {}, 405, "/api/graphs does not take DELETE"),
    # who asks
    "another host": ("GET", "/api/graphs", None, {"host": "evil.example"}, 421, "this server is not 'evil.example'"),
    "host with a port": ("GET", "/api/graphs", None, {"host": "evil.example:80"}, 421, "--allow-host"),
    "no host": ("GET", "/api/graphs", None, {"host": ""}, 421, "this server is not ''"),
    "another origin": ("GET", "/api/graphs", None, {"origin": "https://evil.example"}, 403, "--allow-origin"),
    "origin null": ("POST", "/api/search", b"{}", {"origin": "null", **JSON}, 403, "pages of other sites"),
    "preflight": ("OPTIONS", "/api/search", None, {"origin": "https://evil.example"}, 403, "pages of other sites"),
    # what a body is
    "a form": ("POST", "/api/search", b"query=x", {"content-type": "text/plain"}, 422, "the body must be JSON"),
    "no content type": ("POST", "/api/search", b'{"query": "x"}', {}, 422, "send content-type: application/json"),
    "too large": ("POST", "/api/search", b" " * 300_000, JSON, 413, "the body is larger than 256 kB"),
    "no JSON": ("POST", "/api/search", b"{", JSON, 400, "the body is not JSON"),
    "empty": ("POST", "/api/search", b"", JSON, 400, "the body is not JSON"),
    "not UTF-8": ("POST", "/api/search", b'{"query": "\xff"}', JSON, 400, "the body is not JSON"),
    "half a surrogate": ("POST", "/api/search", rb'{"query": "\ud800"}', JSON, 400, "the body is not JSON"),
    "NaN": ("POST", "/api/search", b'{"query": NaN}', JSON, 400, "the body is not JSON"),
    "deep": ("POST", "/api/search", deep(100_000), JSON, 400, "the body is not JSON"),
    "a list": ("POST", "/api/search", b"[]", JSON, 422, "the body must be a JSON object"),
    "null": ("POST", "/api/search", b"null", JSON, 422, "the body must be a JSON object"),
    # its fields
    "no field": ("POST", "/api/search", {"qery": "x"}, JSON, 422, "There is no option 'qery'. Near: query."),
    "missing": ("POST", "/api/search", {}, JSON, 422, "query is missing: it must be text of 1 to 4,000 characters"),
    "empty query": ("POST", "/api/search", {"query": ""}, JSON, 422, "query is '': it must be text of 1 to 4,000"),
    "a number": ("POST", "/api/search", {"query": 7}, JSON, 422, "query is 7: it must be text"),
    "long query": ("POST", "/api/search", {"query": LONG}, JSON, 422, "(5,002 characters): it must be text of 1 to"),
    "large k": (
        "POST",
        "/api/search",
        {"query": "x", "k": 201},
        JSON,
        422,
        "k is 201: it must be a whole number, 0 to",
    ),
    "negative k": ("POST", "/api/search", {"query": "x", "k": -1}, JSON, 422, "k is -1"),
    "huge k": ("POST", "/api/search", {"query": "x", "k": 10**30}, JSON, 422, "k is 1000000000000"),
    "text for a list": ("POST", "/api/search", {"query": "x", "node_types": "film"}, JSON, 422, "it must be a list"),
    "many types": ("POST", "/api/search", {"query": "x", "node_types": ["t"] * 51}, JSON, 422, "a list of 0 to 50"),
    "many nodes": ("POST", "/api/subgraph", {"nodes": ["n"] * 2_001}, JSON, 422, "a list of 1 to 2,000"),
    "no nodes": ("POST", "/api/intersect", {"nodes": []}, JSON, 422, "a list of 1 to 50"),
    "long way": ("POST", "/api/paths", {"a": "p1", "b": "f1", "max_length": 9}, JSON, 422, "1 to 8"),
    "no direction": ("POST", "/api/neighbors", {"node": "p1", "direction": "up"}, JSON, 422, "one of out, in"),
    "a model": ("POST", "/api/ask", {"question": "x", "model": "gpt"}, JSON, 422, "There is no option 'model'"),
    "a base url": ("POST", "/api/ask", {"question": "x", "base_url": "http://e"}, JSON, 422, "no option 'base_url'"),
    "an option": ("POST", "/api/ask", {"question": "x", "set": {"agents": 99}}, JSON, 422, "There is no option 'set'"),
    "no calls": ("POST", "/api/ask", {"question": "x", "budget": {"calls": 0}}, JSON, 422, "calls is 0"),
    "a budget of text": ("POST", "/api/ask", {"question": "x", "budget": "all"}, JSON, 422, "must be a table"),
    "no id": ("GET", "/api/node", None, {}, 422, "id is missing"),
    "long id": ("GET", f"/api/node?id={LONG}", None, {}, 422, "id cannot be used"),
    "two ks": ("POST", "/api/search", {"query": "x", "k": 3, "top_k": 4}, JSON, 422, "k is 3 and top_k 4"),
    "two ks of a question": ("POST", "/api/ask", {"question": "x", "k": 3, "top_k": 4}, JSON, 422, "k is 3 and top_k"),
    "large top_k": ("POST", "/api/search", {"query": "x", "top_k": 201}, JSON, 422, "top_k is 201: it must be"),
    "long history": ("POST", "/api/ask", {"question": "x", "history": [PAST] * 21}, JSON, 422, "a list of 0 to 20"),
    "a long past answer": (
        "POST",
        "/api/ask",
        {"question": "x", "history": [{**PAST, "answer": "a" * 8_001}]},
        JSON,
        422,
        "(8,003 characters): it must be text of",
    ),
    "a past question of none": ("POST", "/api/ask", {"question": "x", "history": [{}]}, JSON, 422, "question is"),
    "a role": ("POST", "/api/ask", {"question": "x", "history": [{**PAST, "role": "system"}]}, JSON, 422, "'role'"),
    # what they name
    "no graph": ("POST", "/api/search", {"query": "x", "graph": "nope"}, JSON, 404, "no graph 'nope' is served here"),
    "a path": ("POST", "/api/search", {"query": "x", "graph": "../../etc"}, JSON, 404, "no graph '../../etc'"),
    "a path to get": ("GET", "/api/info?graph=/etc/passwd", None, {}, 404, "no graph '/etc/passwd'"),
    "no node": ("GET", "/api/node?id=Ada%20Hom", None, {}, 404, "No node 'Ada Hom'. Near: Ada Holm"),
    "several nodes": ("GET", "/api/node?id=Salt", None, {}, 400, "'Salt' names 2 nodes"),
    "no type": ("POST", "/api/search", {"query": "x", "node_types": ["flm"]}, JSON, 400, "Near: film"),
    "no property": ("POST", "/api/search", {"query": "x", "where": ["yer > 1"]}, JSON, 400, "Near: year"),
    "no condition": ("POST", "/api/search", {"query": "x", "where": ["year"]}, JSON, 400, "year"),
    "no mode": ("POST", "/api/search", {"query": "x", "mode": "magic"}, JSON, 422, "one of lexical,"),
    "a fine weight": (
        "POST",
        "/api/search",
        {"query": "x", "mode": "hybrid:0.12345"},
        JSON,
        422,
        "such as hybrid:0.65",
    ),
    "no vectors": ("POST", "/api/search", {"query": "x", "mode": "dense"}, JSON, 400, "has no vectors"),
    "blank question": ("POST", "/api/ask", {"question": " \n"}, JSON, 400, "the question is empty"),
    "no method": ("POST", "/api/ask", {"question": "x", "method": "nope"}, JSON, 400, "'nope' is not served here"),
    "code": ("POST", "/api/ask", {"question": "x", "method": "this:Zen"}, JSON, 400, "'this:Zen' is not served here"),
    "a sandbox": ("POST", "/api/ask", {"question": "x", "method": "graphscout"}, JSON, 400, "is not served here"),
    "needs a model": ("POST", "/api/ask", {"question": "x", "method": "ark"}, JSON, 400, "model"),
    "no cypher": ("POST", "/api/cypher", {"query": "MATCH (n) RETURN n"}, JSON, 403, "start the server with --cypher"),
    "no feedback": ("POST", "/api/feedback", {}, JSON, 403, "start the server with --feedback FILE"),
    "no messages": ("POST", "/v1/chat/completions", {"model": "orienteer/small"}, JSON, 422, "messages is missing"),
    "no such model": (
        "POST",
        "/v1/chat/completions",
        {"model": "gpt-4", "messages": [{"role": "user", "content": "x"}]},
        JSON,
        404,
        "model 'gpt-4' is not served here: GET /v1/models lists those that are",
    ),
    "nothing said": (
        "POST",
        "/v1/chat/completions",
        {"model": "orienteer/small", "messages": [{"role": "system", "content": "x"}]},
        JSON,
        422,
        "messages hold no question",
    ),
}


@pytest.fixture(scope="module")
def lone(small):
    """Give a client of a server with one graph."""
    with serving({"small": small}) as client:
        yield client


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_gets_one_status_and_one_sentence(lone, small, name):
    method, path, body, headers, status, sentence = BAD[name]
    sys.modules.pop("this", None)
    content = json.dumps(body).encode() if isinstance(body, dict) else body
    reply = lone.send(method, path, content, headers)
    assert reply.status == status, reply.body
    error = reply.error
    assert sentence in error["message"]
    assert "\n" not in error["message"]
    assert len(reply.body) < 3_000
    assert str(small.path.parent) not in reply.body.decode()
    assert "this" not in sys.modules
    assert lone.get("/health").status == 200


def test_there_are_forty_bad_requests_at_the_least():
    assert len(BAD) >= 40


def test_where_there_are_several_graphs_a_request_names_one(client):
    assert client.post("/api/search", {"query": "x"}).error["message"] == (
        "graph is missing: this server has languages, small"
    )


def test_every_reply_has_the_headers_that_browsers_keep_to(lone):
    for reply in (lone.get("/health"), lone.get("/nope"), lone.get("/api/graphs", host="evil")):
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["cross-origin-opener-policy"] == "same-origin"
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert reply.headers["cache-control"] == "no-store"
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "server" not in reply.headers
        assert len(reply.headers["x-request-id"]) == 12
        assert "access-control-allow-origin" not in reply.headers


def test_our_own_page_and_chosen_sites_may_ask(small):
    with serving({"small": small}, origins=("https://friend.example",), hosts=("box.local",)) as client:
        assert client.get("/api/graphs", origin=client.url).status == 200
        friend = client.get("/api/graphs", origin="https://friend.example")
        assert friend.headers["access-control-allow-origin"] == "https://friend.example"
        asked = client.send("OPTIONS", "/api/search", headers={"origin": "https://friend.example"})
        assert (asked.status, asked.headers["access-control-allow-methods"]) == (204, "GET, POST, DELETE")
        assert client.get("/api/graphs", origin="https://friend.example.evil.com").status == 403
        assert client.get("/api/graphs", host="BOX.local:80").status == 200
        assert client.get("/api/graphs", host="[::1]:80").status == 200


def test_with_keys_every_path_but_the_page_and_its_health_needs_one(small, tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>")
    (tmp_path / "assets" / "app-1a2b.js").write_text("1")
    with serving({"small": small}, keys=("another-key-of-length", KEY), page=tmp_path) as client:
        for path in ("/", "/assets/app-1a2b.js", "/health", "/ready"):
            assert client.get(path).status == 200
        paths = ["/api/graphs", "/metrics", "/docs", "/openapi.json", "/v1/models", "/mcp", "/nope", "/assets/no.js"]
        for path in paths:
            refused = client.get(path)
            assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert refused.error["message"] == "a key is needed: send authorization: Bearer KEY"
            for wrong in ("", "Bearer", "Bearer x", f"Basic {'k' * 20}", f"Bearer {KEY[:-1]}", "Bearer ünïcode"):
                assert client.get(path, authorization=wrong.encode().decode("latin-1")).status == 401
        sent = KEY.encode().decode("latin-1")  # headers are bytes; the client writes Latin-1
        assert client.get("/api/graphs", authorization=f"Bearer {sent}").status == 200
        assert client.get("/api/graphs", **{"x-api-key": sent}).status == 200
        assert KEY not in client.get("/openapi.json", authorization=f"bearer {sent}").body.decode()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::", "example.org"])
def test_any_host_but_this_machine_needs_a_key(host):
    chosen = {"allowed_hosts": (), "origins": (), "open_paths": ()}
    with pytest.raises(UsageError, match="opens the server to others: set ORIENTEER_SERVE_KEYS"):
        guard_rules(host, keys=(), **chosen)
    assert guard_rules(host, keys=["k" * 16], **chosen).keys == ("k" * 16,)
    with pytest.raises(BadOption, match="has 15 characters: it must have 16") as refused:
        guard_rules("127.0.0.1", keys=["secret-secret-s"], **chosen)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("origin", ["*", "https://*", "friend.example", "https://a/b", "null", "ftp://a"])
def test_an_origin_is_that_of_one_site(origin):
    with pytest.raises(BadOption, match="is not a valid origin"):
        guard_rules("127.0.0.1", keys=(), allowed_hosts=(), origins=[origin], open_paths=())


@pytest.mark.parametrize("host", ["", "*", "https://a", "a/b", "friend.example:8443", "[::1]:80", "*.example.org"])
def test_a_host_that_no_request_could_name_is_refused(host):
    with pytest.raises(BadOption, match="is not a valid host: write its name alone"):
        guard_rules("127.0.0.1", keys=(), allowed_hosts=["friend.example", host], origins=(), open_paths=())


def test_too_many_at_once_are_refused_in_the_same_shape_and_the_server_is_seen_to_live(small, monkeypatch):
    monkeypatch.setattr(inside(guard_rules), "MOST_AT_ONCE", 0)
    with serving({"small": small}) as client:
        refused = client.get("/api/graphs")
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert refused.error["message"].endswith("come again in a second")
        assert [client.get(path).status for path in UPKEEP] == [200, 200]


def test_one_address_does_not_hold_every_place():
    held, replies = asyncio.Event(), []

    async def slow(scope, receive, send):
        await held.wait()

    async def ask(guarded, address, path="/api/graphs"):
        async def send(message):
            replies.append((address, message.get("status", message["type"])))

        scope = {"type": "http", "method": "GET", "path": path, "scheme": "http", "client": (address, 1)}
        await guarded({**scope, "headers": [(b"host", b"localhost")]}, None, send)

    async def run():
        let_in = guard_rules("127.0.0.1", keys=(), allowed_hosts=(), origins=(), open_paths=())
        guarded = Guard(slow, let_in, Metrics())
        of_one = [asyncio.create_task(ask(guarded, "10.0.0.1")) for _ in range(MOST_OF_AN_ADDRESS)]
        await asyncio.sleep(0)
        assert replies == []  # so many are let in
        await ask(guarded, "10.0.0.1")
        assert replies[0] == ("10.0.0.1", 503)
        others = [
            asyncio.create_task(ask(guarded, "10.0.0.2")),
            asyncio.create_task(ask(guarded, "10.0.0.1", "/health")),
        ]
        await asyncio.sleep(0)
        assert len(replies) == 2  # the status and the body of the one that was refused
        held.set()
        await asyncio.gather(*of_one, *others)
        again = [asyncio.create_task(ask(guarded, "10.0.0.1")) for _ in range(MOST_OF_AN_ADDRESS)]
        await asyncio.gather(*again)  # places are free again
        assert len(replies) == 2

    asyncio.run(run())


OWN = ("127.0.0.1", "localhost", "[::1]", "box.local")
AFTER = (
    ".evil.com",
    "evil",
    "/evil",
    "@evil.com",
    "?",
    "#",
    ":80/evil",
    ":80:80",
    ":x",
    ":-1",
    ":+1",
    ":123456",
    ", evil",
    " evil",
    "\tevil",
    "]",
    ":80.evil.com",
    ":٣",
    "%00",
    "\\evil",
    ".",
    "..",
)
BEFORE = ("evil.com:", "evil.com@", "evil.", "/", "[", "http://", "x,", "evil.com#")


@pytest.mark.parametrize("own", OWN)
def test_a_host_is_a_name_and_perhaps_a_port_and_nothing_else(small, own):
    with serving({"small": small}, hosts=("BOX.local",)) as client:
        for good in (own, own.upper(), f"{own}:80", f"{own}:", f"{own}:65535"):
            assert client.get("/api/graphs", host=good).status == 200, good
        for bad in (*(own + after for after in AFTER), *(before + own for before in BEFORE)):
            reply = client.send("GET", "/api/graphs", headers={"host": bad.encode().decode("latin-1")})
            assert reply.status in (400, 421), bad


@pytest.mark.parametrize(
    ("origin", "proxied", "status"),
    [
        ("http://{host}", None, 200),
        ("HTTP://{host}", None, 200),
        ("https://{host}", None, 403),
        ("ftp://{host}", None, 403),
        ("file://{host}", None, 403),
        ("chrome-extension://{host}", None, 403),
        ("{host}", None, 403),
        ("//{host}", None, 403),
        ("x//{host}", None, 403),
        ("http://{host}/", None, 403),
        ("https://{host}", "https", 200),
        ("https://{host}", "https, http", 200),
        ("http://{host}", "https", 403),
        ("http://evil.example", "https", 403),
        ("javascript://{host}", "javascript", 403),
        ("://{host}", "", 403),
    ],
)
def test_an_origin_is_the_servers_own_by_scheme_host_and_port(lone, origin, proxied, status):
    host = f"127.0.0.1:{lone.port}"
    sent = {} if proxied is None else {"x-forwarded-proto": proxied}
    assert lone.get("/api/graphs", origin=origin.format(host=host), **sent).status == status


LARGE_NUMBERS = ("1e400", "-1e400", "1e999999999", "9" * 400, "-" + "9" * 400, "9" * 400 + ".5", "9" * 10_000)
PLACES = ("{}", "[{}]", '{{"a": {}}}', '[[{{"a": [1, {}]}}]]')
ROUTES = (
    *(f"/api/{look_up}" for look_up in ("search", "neighbors", "intersect", "paths", "list", "subgraph", "facets")),
    "/api/ask",
    "/v1/chat/completions",
)


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("number", LARGE_NUMBERS, ids=lambda number: number[:12])
def test_a_number_that_no_double_holds_is_no_json_wherever_it_stands(lone, path, number):
    for field in ("k", "offset", "query", "nodes", "budget", "temperature", "anything"):
        for place in PLACES:
            body = f'{{"{field}": {place.format(number)}}}'
            reply = lone.send("POST", path, body.encode(), JSON)
            assert reply.status == 400, (body[:60], reply.body)
            assert reply.error["message"].startswith("the body is not JSON")


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 10**400, [math.nan], {"a": [1, {"b": math.inf}]}])
def test_a_reply_about_a_value_that_json_cannot_say_leaves_it_out(value):
    assert json.loads(Problem(400, "it is wrong", value).response().body)["error"]["value"] is None


def test_a_line_of_the_log_has_neither_query_nor_body(lone, caplog):
    def lines():
        return [record.getMessage() for record in caplog.records if record.name.endswith("guard")]

    with caplog.at_level(logging.INFO, logger="orienteer.serve"):
        lone.get("/api/node?id=secret-node")
        lone.post("/api/search", {"query": "secret words"})
        lone.post("/api/ask", {"question": "secret question"})
        lone.get("/secret%0Apath?token=hidden")
        until(lambda: len(lines()) == 4)  # a line is written once its reply is sent
    assert [line.split()[:3] for line in lines()] == [
        ["GET", "/api/node", "404"],
        ["POST", "/api/search", "200"],
        ["POST", "/api/ask", "200"],
        ["GET", "/secret", "path"],
    ]
    assert not any(word in caplog.text for word in ("secret-node", "secret words", "secret question", "hidden"))


def test_what_is_no_http_leaves_the_server_standing(lone):
    for content in (
        b"\x16\x03\x01\x02\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", lone.port), timeout=5) as connection:
            connection.sendall(content)
            connection.recv(1_000)
    assert lone.get("/health").status == 200


def test_a_body_that_lies_about_its_length_is_cut_off(lone):
    head = b"POST /api/search HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", lone.port), timeout=10) as connection:
        connection.sendall(head + b"transfer-encoding: chunked\r\n\r\n")
        try:
            for _ in range(10):
                connection.sendall(b"10000\r\n" + b" " * 65_536 + b"\r\n")
        except OSError:
            pass  # it was cut off before the end
        assert b"413" in connection.recv(100)
    assert lone.get("/health").status == 200


def test_a_body_that_does_not_come_is_waited_for_no_longer(lone, monkeypatch):
    monkeypatch.setattr(inside(AskBody), "BODY_SECONDS", 0.1)
    head = (
        b"POST /api/search HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"
    )
    with socket.create_connection(("127.0.0.1", lone.port), timeout=10) as connection:
        connection.sendall(head)
        assert b" 408 " in connection.recv(100)
    assert lone.get("/health").status == 200


def test_a_bug_is_told_by_the_id_of_its_request_alone(small, caplog, monkeypatch):
    def fail(graph, node):
        raise RuntimeError(f"secret of {node}")

    monkeypatch.setattr(inside(neighbors_page), "node", fail)
    with serving({"small": small}) as client:
        reply = client.get("/api/node?id=p1")
        assert reply.status == 500
        request = reply.headers["x-request-id"]
        assert reply.error["message"] == (
            f"the server failed, which is its own fault: its log has it as request {request}"
        )
        assert any(request in record.getMessage() for record in caplog.records)


words = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["", "..", "/", "~", "/etc/passwd", "Salt", "p1", "film", "dense", "hybrid:9", "year >= x", "@1"]),
    st.integers(),
    st.none(),
    st.lists(st.text(max_size=5), max_size=3),
)
FIELDS = ["graph", "query", "node", "nodes", "a", "b", "k", "node_types", "where", "mode", "sort", "group_by", "offset"]
FIELDS += ["question", "method", "reading", "edge_types", "around", "max_length", "budget"]
PATHS = ["search", "neighbors", "intersect", "paths", "list", "subgraph", "facets", "ask", "cypher", "feedback"]


@given(path=st.sampled_from(PATHS), body=st.dictionaries(st.sampled_from(FIELDS), words, max_size=6))
def test_no_reply_to_anything_names_a_path_of_this_machine(lone, small, path, body):
    reply = lone.post(f"/api/{path}", body)
    assert reply.status in (200, 400, 403, 404, 422), (path, body, reply.body)
    text = reply.body.decode()
    for place in (small.path, small.path.parent, Path.cwd(), Path.home(), Path(sys.prefix)):
        assert str(place) not in text or str(place) == "/"
    if reply.status != 200:
        assert reply.error["message"]
