"""The states of the page, by what they show: each in both themes and as wide as a phone."""

import json

import pytest

from browsing import NO_WEBGL, QUESTION, QUIET

pytestmark = pytest.mark.browser

LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"width": 400, "height": 800, "color_scheme": "light"},
}


@pytest.fixture(params=LOOKS)
def look(request):
    return request.param


@pytest.fixture
def opened(open_page, look):
    """Return a function that opens an address in this look."""
    return lambda address, **options: open_page(address, **{**LOOKS[look], **options})


def asked(page, question=QUESTION):
    page.fill("#question", question)
    page.keyboard.press("Enter")


def settled(page, look="light"):
    """Wait until the picture has come to rest."""
    if look == "phone":
        page.click("#tab-seeing")
    page.wait_for_selector("#canvas[data-settled]", state="attached")
    page.wait_for_timeout(300)
    if look == "phone":
        page.click("#tab-asking")


def fits(page):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


def streamed(*events):
    """Return a reply of `/api/ask` with these events."""
    blocks = (f"event: {kind}\ndata: {json.dumps({'kind': kind, **values})}\n\n" for kind, values in events)
    return {"status": 200, "content_type": "text/event-stream", "body": "".join(blocks)}


def test_empty(opened, server, picture, look):
    page, seen = opened(server.address)
    page.wait_for_selector(".tries button >> nth=2")
    holds = page.inner_text(".holds")
    assert "60 person" in holds
    assert "and 3 more types" in holds
    assert page.inner_text("#name") == "languages"
    assert page.is_hidden("#hits li")
    picture(page, f"1-empty-{look}")
    fits(page)
    assert not seen.troubles
    assert not seen.elsewhere


def test_made_questions_are_understood(open_page, server):
    page, _ = open_page(server.address)
    page.wait_for_selector(".tries button >> nth=2")
    for place in range(3):
        page.goto(server.address)
        page.click(f".tries button >> nth={place}")
        page.wait_for_selector("#reading code")


def test_loading_and_streaming(opened, languages, scripted, picture, look, served):
    with served({"languages": languages}, model=scripted(0.4)) as server:
        page, seen = opened(server.address)
        page.wait_for_selector(".tries")
        page.select_option("#method", "ark")
        asked(page, "Which languages did Niklaus Wirth design?")
        page.wait_for_selector(".skeleton >> nth=2")
        assert page.inner_text("#ask") == "Stop"
        picture(page, f"2-loading-{look}")
        page.wait_for_selector("#steps li >> nth=1")
        assert "search_in_graph" in page.inner_text("#steps")
        picture(page, f"3-streaming-{look}")
        page.wait_for_selector("#acts:not([hidden])")
        assert page.inner_text("#ask") == "Ask"
        assert page.get_attribute("#steps", "open") is None
        assert "Niklaus Wirth designed Pascal" in page.inner_text("#answer")
        page.click("#answer .cite")  # the citation leads to its card
        assert page.evaluate("document.activeElement.textContent") == "Pascal"
        assert "calls" in page.inner_text("#spent")
        settled(page, look)
        picture(page, f"3b-model-answered-{look}")
        fits(page)
        assert not seen.troubles


def test_answered(opened, server, picture, look):
    page, seen = opened(server.address)
    asked(page)
    page.wait_for_selector("#facets:not([hidden])")
    settled(page, look)
    assert page.inner_text("#answer .said") == "Dennis Ritchie, John McCarthy"
    assert page.inner_text("#reading code").startswith('person that -received-> "Turing Award"')
    cards = page.locator("#hits > li")
    assert "Dennis Ritchie" in cards.nth(0).inner_text()
    assert "John McCarthy" in cards.nth(1).inner_text()
    assert "Nearby" in cards.nth(2).inner_text()  # the line between what meets all of it and what meets some
    assert "designed by" in cards.nth(0).locator(".path").inner_text()
    assert "no model is configured" in page.inner_text("#spent")
    picture(page, f"4-answered-{look}")
    if look == "phone":
        page.click("#tab-seeing")
    assert page.inner_text("#drawn") == "6 nodes, 6 edges"  # the two answers and the ways that lead to them
    picture(page, f"4b-picture-{look}")
    fits(page)
    assert not seen.troubles
    assert not seen.elsewhere


def test_nothing_found(opened, server, picture, look):
    page, seen = opened(server.address)
    asked(page, "zebra unicorn")
    page.wait_for_selector("#nothing:not([hidden])")
    assert page.inner_text("#nothing") == "Nothing was found. Try other words, or another type."
    assert "not understood: 'zebra', 'unicorn'" in page.inner_text("#reading")
    picture(page, f"5-nothing-{look}")
    assert not seen.troubles


def test_near_names_are_offered(open_page, server):
    refusal = {"kind": "unknown_name", "words": ["Erlng"], "near": ["Erlang"], "text": "'Erlng' is not in this graph"}
    result = {
        **{"question": "", "method": "anchor", "answer": None, "long_answer": None, "answer_kind": None, "notes": []},
        **{"citations": [], "reading": None, "refusal": refusal, "stopped_by": "finish"},
        "usage": {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "seconds": 0.01, "usd": 0},
    }
    page, _ = open_page(server.address)
    page.route("**/api/ask", lambda route: route.fulfill(**streamed(("done", {"result": result}))))
    asked(page, "What did Erlng influence?")
    page.wait_for_selector(".near button")
    page.unroute("**/api/ask")
    page.click(".near button")
    page.wait_for_selector("#hits .card")
    assert page.input_value("#question") == "What did Erlang influence?"


def test_stopped(opened, languages, scripted, picture, look, served):
    with served({"languages": languages}, model=scripted(0.5)) as server:
        page, seen = opened(server.address)
        page.wait_for_selector(".tries")
        page.select_option("#method", "ark")
        asked(page)
        page.wait_for_selector("#steps li")
        page.click("#ask")
        page.wait_for_selector("#ask:not(.stop)")
        assert page.inner_text("#spent") == "Stopped."
        assert page.is_visible("#steps li")
        assert page.is_hidden("#error")
        assert server.left.wait(10)  # the server has heard it
        picture(page, f"6-stopped-{look}")
        assert not seen.troubles


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (503, {"retry-after": "4"}, "4 questions run and 8 wait. Try again in 4 s."),
        (400, {}, "4 questions run and 8 wait."),
    ],
)
def test_error(opened, server, picture, look, status, headers, told):
    page, _ = opened(server.address)
    body = json.dumps({"error": {"message": "4 questions run and 8 wait.", "status": status, "value": None}})
    page.route("**/api/ask", lambda route: route.fulfill(status=status, headers=headers, body=body))
    asked(page)
    page.wait_for_selector("#error:not([hidden])")
    assert page.get_attribute("#error", "role") == "alert"
    assert page.inner_text("#error") == told
    assert page.input_value("#question") == QUESTION
    assert not page.locator(".skeleton").count()
    picture(page, f"7-error-{status}-{look}")


def test_the_server_is_gone(open_page, server):
    page, _ = open_page(server.address)
    page.route("**/api/ask", lambda route: route.abort())
    asked(page)
    page.wait_for_selector("#error:not([hidden])")
    assert page.inner_text("#error") == "The server cannot be reached. Is it still running?"


def test_a_stream_that_breaks_off_keeps_what_came(open_page, server):
    page, _ = open_page(server.address)
    parts = [("answer_part", {"text": "Guido "}), ("answer_part", {"text": "<b>van</b>"})]
    page.route("**/api/ask", lambda route: route.fulfill(**streamed(*parts)))
    asked(page)
    page.wait_for_selector("#error:not([hidden])")
    assert page.inner_text("#error") == "The server broke off before the end."
    assert page.inner_text("#answer") == "Guido <b>van</b>"


def test_an_error_after_the_beginning(open_page, server):
    page, _ = open_page(server.address)
    error = {"error": {"message": "The model did not answer.", "status": 502, "value": None}}
    page.route("**/api/ask", lambda route: route.fulfill(**streamed(("begin", {}), ("error", error))))
    asked(page)
    page.wait_for_selector("#error:not([hidden])")
    assert page.inner_text("#error") == "The model did not answer."


def test_no_model(opened, server, look):
    page, _ = opened(server.address)
    page.wait_for_selector(".tries")
    assert page.text_content("#model") == "no model: answers are ranked evidence"
    assert "--model" in page.get_attribute("#model", "title")


def test_key_needed(opened, languages, picture, look, served):
    with served({"languages": languages}, key="a key of sixteen") as server:
        page, _ = opened(server.address)
        page.wait_for_selector("#door:not([hidden])")
        picture(page, f"9-key-{look}")
        page.fill("#key", "another")
        page.keyboard.press("Enter")
        page.wait_for_selector("#error:not([hidden])")
        assert page.inner_text("#error") == "This key does not fit."
        page.fill("#key", "a key of sixteen")
        page.keyboard.press("Enter")
        page.wait_for_selector(".tries")
        assert page.is_hidden("#door")
        asked(page)
        page.wait_for_selector("#hits .card")
        assert "sixteen" not in page.url
        assert "sixteen" not in json.dumps(page.evaluate("({...localStorage})"))


def test_no_webgl(playwright, opened, server, picture, look):
    from browsing import CHROMIUM

    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*NO_WEBGL, *QUIET])
    try:
        page, seen = opened(server.address, of=browser)
        asked(page)
        page.wait_for_selector("#hits .path")  # the ways have names, though nothing is drawn
        page.get_by_text("This browser has no WebGL: the evidence is listed, not drawn.").wait_for(state="attached")
        picture(page, f"11-no-webgl-{look}")
        assert page.is_hidden("#error")
        assert not [trouble for trouble in seen.troubles if "WebGL" not in trouble and "webgl" not in trouble]
        page.context.close()
    finally:
        browser.close()


def test_reduced_motion(open_page, server):
    page, _ = open_page(server.address, reduced_motion="reduce")
    page.route("**/api/ask", lambda route: None)  # it never answers
    asked(page)
    page.wait_for_selector(".skeleton")
    assert page.evaluate("getComputedStyle(document.querySelector('.skeleton')).animationName") == "none"


def test_a_graph_that_is_still_made(opened, server, picture, look):
    listed = {"methods": ["auto"], "model": None, "has_feedback": False, "has_cypher": False}
    graph = {"name": "languages", "is_ready": False, "stage": "reading", "done": 100, "of": 374, "nodes": 0, "edges": 0}
    body = json.dumps({**listed, "graphs": [{**graph, "node_types": {}, "edge_types": {}, "labels": {}}]})
    page, _ = opened("about:blank")
    page.route("**/api/graphs", lambda route: route.fulfill(body=body, content_type="application/json"))
    page.goto(server.address)
    page.wait_for_selector("progress")
    assert "reading · 100 of 374" in page.inner_text("#start")
    body = body.replace('"done": 100', '"done": 237')
    page.get_by_text("about").wait_for()
    picture(page, f"12-making-{look}")
    page.unroute("**/api/graphs")
    page.wait_for_selector(".tries")  # it looks again by itself
