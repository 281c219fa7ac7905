"""What a hostile graph, document or model can do on the page: nothing."""

import json
import re
from pathlib import Path

import pytest

from browsing import PAGE
from orienteer.ingest import Graph

SOURCES = Path(__file__).parents[2] / "page" / "src"
AXE = SOURCES.parent / "node_modules" / "axe-core" / "axe.min.js"
MARKUP = '<img src=x onerror="window.pwned=1">'
FORBIDDEN = re.compile(
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|setHTMLUnsafe|DOMParser|srcdoc)\b"
    r"|document\.write|\beval\(|new Function\(|\.setAttribute\(\s*[\"']on"
)


def test_no_text_can_become_markup():
    """The sources put texts into the page as texts alone, and make no code of them."""
    files = [path for path in SOURCES.rglob("*") if path.suffix in (".ts", ".html")]
    assert len(files) > 10
    found = [
        f"{path.name}: {line}" for path in files for line in path.read_text().splitlines() if FORBIDDEN.search(line)
    ]
    assert not found


def test_the_page_loads_nothing_from_elsewhere():
    for file in PAGE.rglob("*"):
        if file.suffix in (".html", ".css"):
            assert not re.search(r"(?:https?:)?//(?!www\.w3\.org)\w", file.read_text()), file
        if file.suffix == ".html":
            assert not re.search(r"<script(?![^>]*src=)|<style|style=|\son\w+=", file.read_text())


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A graph whose every text wants to be code."""
    nodes = [
        {"id": "a/b?c#d&e=%f", "type": MARKUP, "name": MARKUP, "text": "<script>window.pwned=2</script> salt"},
        {
            "id": "'\"><svg onload=window.pwned=3>",
            "type": "T",
            "name": "plain \u202eevil\u202c salt\u0000\u009b",
            "text": "",
        },
        {
            "id": "javascript:window.pwned=4",
            "type": "T",
            "name": "]]>--><b>salt</b>",
            "text": "salt " * 50,
            "p": MARKUP,
        },
    ]
    edges = [
        {"source": nodes[0]["id"], "type": '"><svg onload=window.pwned=5>', "target": nodes[1]["id"]},
        {"source": nodes[2]["id"], "type": "x" * 300, "target": nodes[0]["id"]},
    ]
    return Graph.from_records(nodes, edges, path=tmp_path_factory.mktemp("hostile") / "graph")


@pytest.mark.browser
def test_a_hostile_graph_does_nothing(open_page, hostile, picture, served):
    with served({MARKUP: hostile, "b": hostile}) as server:
        page, seen = open_page(server.address)
        page.wait_for_selector(".about")
        page.fill("#question", "salt")
        page.keyboard.press("Enter")
        page.wait_for_selector("#acts:not([hidden])")
        page.click("#hits summary")  # two names have the word, so what is nearest is under a fold
        for place in range(page.locator("#hits .name").count()):
            page.click(f"#hits .name >> nth={place}")
            page.wait_for_selector("#panel h3")
            page.click("#panel .kinds button >> nth=0")
        page.wait_for_selector(".free[data-settled] canvas", state="attached")
        picture(page, "hostile")
        assert page.evaluate("window.pwned") is None
        assert not page.locator("#hits img, #panel img, #panel svg, #hits script, #legend img").count()
        assert MARKUP in page.inner_text("#hits")
        names = page.inner_text("#hits") + page.inner_text("#panel")
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u0000\u0080-\u009f]", names)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert not seen.troubles
        assert not seen.elsewhere


@pytest.mark.browser
def test_a_hostile_model_does_nothing(open_page, server):
    """What a model and its tools write comes to the page as texts, whatever their shape."""
    call = {"id": "1", "name": MARKUP, "arguments": "{not json"}
    message = {"content": MARKUP, "tool_calls": [call]}
    result = {"question": "q", "method": MARKUP, "answer": MARKUP, "long_answer": MARKUP, "answer_kind": "text"}
    result |= {"citations": [{"begin": 0, "end": 4, "ids": [MARKUP], "source": None, "text": "answer"}]}
    result |= {
        "citations": [*result["citations"], {"begin": 900, "end": 2, "ids": [], "source": None, "text": "answer"}]
    }
    result |= {"reading": {"text": MARKUP, "cypher": None, "not_understood": [], "complete": True, "total": 3}}
    result |= {"refusal": {"kind": "x", "words": [MARKUP], "near": [MARKUP], "text": MARKUP}, "notes": [MARKUP]}
    result |= {"usage": {"calls": 1, "prompt_tokens": 1, "completion_tokens": 1, "seconds": 0, "usd": None}}
    result |= {"stopped_by": "finish"}
    events = (
        ("begin", {}),
        ("step", {"agent": 0, "step": {"reply": {"message": message}, "error": MARKUP}}),
        ("observation", {"agent": 0, "call": call, "observation": {"text": MARKUP, "nodes": []}}),
        ("note", {"text": MARKUP}),
        ("an event of tomorrow", {}),
        ("answer_part", {"text": MARKUP}),
        ("done", {"result": result}),
    )
    body = ": a comment\r\n\r\n" + "".join(
        f"event: {kind}\r\ndata: {json.dumps(values)}\r\n\r\n" for kind, values in events
    )
    page, seen = open_page(server.address)
    page.route("**/api/ask", lambda route: route.fulfill(body=body, content_type="text/event-stream"))
    page.fill("#question", "q")
    page.keyboard.press("Enter")
    page.wait_for_selector("#acts:not([hidden])")
    page.click("#steps summary")
    page.click("#reading .link")
    assert page.input_value(".edit textarea") == MARKUP
    assert page.evaluate("window.pwned") is None
    assert not page.locator("#asking img").count()
    assert page.inner_text("#answer").startswith("↗ src=x")  # the cited place became a button, the rest stayed as it is
    assert not seen.troubles


@pytest.mark.browser
def test_a_link_is_only_a_question(open_page, server):
    page, seen = open_page(f"{server.address}/#graph=languages&q={MARKUP}&where=%3Cb%3E%3D1&type=%00&method=os:system")
    page.wait_for_selector("#error:not([hidden])")
    assert page.evaluate("window.pwned") is None
    assert server.asked[0]["method"] == "auto"  # not what the link says, for it is not served
    assert [trouble for trouble in seen.troubles if "400" not in trouble] == []


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_nothing(open_page, server, scheme, width):
    if not AXE.is_file():
        pytest.skip("axe-core is not there: run npm ci in page/")
    page, _ = open_page(server.address, color_scheme=scheme, width=width)
    page.wait_for_selector(".tries")

    def violations():
        page.evaluate(AXE.read_text())
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found]

    assert violations() == []
    page.fill("#question", "Which languages support functional programming?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#facets:not([hidden])")
    page.click("#facets summary")
    page.click("#steps summary")
    assert violations() == []
    page.click("#reading .link")
    page.click("#hits .name >> nth=0")
    page.wait_for_selector("#panel h3")
    assert violations() == []
    page.click("#nodes summary")
    page.click("#replay-start")
    page.wait_for_selector("#replay p:not(:empty)")
    assert violations() == []
    page.route("**/api/ask", lambda route: route.fulfill(status=503, body='{"error": {"message": "Busy."}}'))
    if width == 400:
        page.click("#tab-asking")
    page.fill("#question", "zebra")
    page.click("#ask")
    page.wait_for_selector("#error:not([hidden])")
    assert violations() == []
