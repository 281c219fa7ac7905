"""The files of the page, and what the server says of itself."""

import gzip
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from fakes.http_site import serving
from orienteer.records import Node


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text("<!doctype html><title>Orienteer</title>")
    (folder / "assets" / "app-1a2b3c.js").write_text("export {}")
    (folder / "assets" / "app-1a2b3c.css").write_text("body {}")
    (folder / "secret.txt").write_text("secret")
    (folder / "assets" / "link.js").symlink_to(folder / "secret.txt")
    return folder


def test_the_page_is_never_kept_and_its_assets_for_ever(small, page):
    with serving({"small": small}, page=page) as client:
        index = client.get("/")
        assert (index.status, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert index.headers["cache-control"] == "no-store"
        script = client.get("/assets/app-1a2b3c.js")
        assert script.body == b"export {}"
        assert script.headers["content-type"] == "text/javascript; charset=utf-8"
        assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert script.headers["content-security-policy"] == index.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    ["/secret.txt", "/assets/link.js", "/assets/", "/assets", "/index.html", "/assets/..%2fsecret.txt", "//secret.txt"],
)
def test_nothing_but_the_pages_own_files_is_served(small, page, path):
    with serving({"small": small}, page=page) as client:
        refused = client.get(path)
        assert refused.status == 404
        assert b"secret" not in refused.body.replace(path.encode(), b"").replace(b"secret.txt", b"")


ACCEPTED = ["gzip", "br, gzip", "gzip;q=0.5, *", "deflate, gzip ; q=1.0"]
REFUSED = ["", "br", "identity", "gzip;q=0", "gzip; q=0.000, br", "x-gzip-more"]


@pytest.mark.parametrize("accepted", [*ACCEPTED, *REFUSED])
def test_replies_are_compressed_for_who_reads_that(languages, page, accepted):
    is_zipped = accepted in ACCEPTED
    with serving({"languages": languages}, page=page) as client:
        plain = client.post("/api/search", {"query": "garbage collection"})
        packed = client.post("/api/search", {"query": "garbage collection"}, **{"accept-encoding": accepted})
        assert packed.headers.get("content-encoding") == ("gzip" if is_zipped else None)
        assert "accept-encoding" in packed.headers["vary"].lower()
        body = gzip.decompress(packed.body) if is_zipped else packed.body
        assert json.loads(body)["hits"] == plain.json["hits"]
        assert len(packed.body) < len(plain.body) / 2 or not is_zipped
        script = client.send("GET", "/assets/app-1a2b3c.js", None, {"accept-encoding": accepted})
        assert script.headers.get("content-encoding") == ("gzip" if is_zipped else None)
        assert (gzip.decompress(script.body) if is_zipped else script.body) == b"export {}"
        assert "accept-encoding" in script.headers["vary"].lower()


def test_small_replies_and_streams_are_sent_as_they_are(languages):
    with serving({"languages": languages}) as client:
        small = client.send("GET", "/health", None, {"accept-encoding": "gzip"})
        assert small.json == {"status": "ok"}
        asked = {"question": "Who designed Rust?"}
        with client.stream("/api/ask", asked, **{"accept-encoding": "gzip"}) as lines:
            assert next(lines).startswith(b"id: 0")


def test_the_page_takes_at_most_90_kilobytes_over_the_wire(small):
    """Its script and its style are compressed: 90 kB of everything that the start loads."""
    with serving({"small": small}) as client:
        packed = {"accept-encoding": "gzip"}
        start = client.send("GET", "/", None, packed)
        html = gzip.decompress(start.body).decode() if "content-encoding" in start.headers else start.body.decode()
        assets = re.findall(r'(?:src|href)="(/?assets/[^"]+)"', html)
        assert {Path(asset).suffix for asset in assets} >= {".js", ".css"}
        replies = [client.send("GET", f"/{asset.removeprefix('/')}", None, packed) for asset in assets]
        assert all(reply.headers["content-encoding"] == "gzip" for reply in replies)
        api = [client.send("GET", path, None, packed) for path in ("/api/graphs", "/api/schema", "/api/info")]
        assert sum(len(reply.body) for reply in (start, *replies, *api)) < 90_000


def test_models_are_told_what_is_served_and_how_to_ask(small, languages):
    with serving({"small": small, "languages": languages}) as client:
        told = client.get("/llms.txt")
        assert told.headers["content-type"].startswith("text/plain")
        text = told.body.decode()
        assert text.startswith("# Orienteer\n\n> ")
        assert f"- [languages](/api/schema?graph=languages): {len(languages)} nodes" in text
        for link in re.findall(r"\]\((/[^)]*)\)", text):
            assert client.get(link).status == 200


def test_a_name_of_a_type_makes_no_line_for_models(build):
    graph = build([Node("n1", "note\n## Obey", "A")], [])
    with serving({"notes": graph}) as client:
        assert "\n## Obey" not in client.get("/llms.txt").body.decode()


def test_where_no_page_is_built_the_rest_is_served(small, tmp_path):
    with serving({"small": small}, page=tmp_path) as client:
        assert client.get("/").status == 404
        assert client.get("/api/graphs").status == 200


def test_the_description_names_every_route_and_what_it_takes(client):
    told = client.get("/openapi.json").json
    assert sorted(told["paths"]) == [
        "/api/answers",
        "/api/ask",
        "/api/cypher",
        "/api/facets",
        "/api/feedback",
        "/api/file",
        "/api/graphs",
        "/api/info",
        "/api/intersect",
        "/api/list",
        "/api/neighbors",
        "/api/node",
        "/api/overview",
        "/api/page",
        "/api/paths",
        "/api/rows",
        "/api/schema",
        "/api/search",
        "/api/subgraph",
        "/health",
        "/metrics",
        "/ready",
        "/v1/chat/completions",
        "/v1/models",
        "/v1/models/{model}",
    ]
    search = told["paths"]["/api/search"]["post"]
    assert search["description"] == "Rank the nodes that best match some words."
    fields = search["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert list(fields) == ["graph", "k", "top_k", "query", "node_types", "where", "mode"]
    assert [parameter["name"] for parameter in told["paths"]["/api/node"]["get"]["parameters"]] == ["id", "graph"]


def test_the_page_of_the_description_runs_and_loads_nothing(client):
    page = client.get("/docs")
    text = page.body.decode()
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "<script" not in text
    assert not re.search(r"(src|href)=", text)
    assert "<code>POST /api/search</code>" in text
    assert "a list of 0 to 50, each text of 1 to 1,000 characters" in text


def test_counters_name_routes_and_never_what_was_asked(client):
    client.get("/api/node?id=Rust&graph=languages")
    client.get("/secret-path")
    client.post("/api/search", {"graph": "languages", "query": "Ada"})
    text = client.get("/metrics").body.decode()
    assert 'orienteer_requests_total{route="/api/node",status="200"}' in text
    assert 'orienteer_requests_total{route="/api/search",status="200"}' in text
    assert 'orienteer_requests_total{route="other",status="404"}' in text
    assert "orienteer_questions_running 0.0" in text
    assert "Rust" not in text
    assert "secret" not in text
