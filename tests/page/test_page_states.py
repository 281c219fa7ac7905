"""The states of the page, by what they show: each in both themes and as wide as a phone."""

import json

import pytest

from browsing import NO_WEBGL, QUESTION, QUIET
from orienteer.llm import ScriptedModel
from orienteer.settings import Settings

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
    about = page.inner_text(".about")
    assert "60 people, 45 languages" in about
    assert "and 3 more types" in about
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
        assert "“Niklaus Wirth”: Niklaus Wirth" in page.inner_text("#steps")
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
    page.wait_for_selector("#acts:not([hidden])")
    settled(page, look)
    assert page.inner_text("#answer .said") == "Dennis Ritchie, John McCarthy"
    assert page.inner_text("#reading code").startswith('person that -received-> "Turing Award"')
    cards = page.locator("#hits > li")
    assert "Dennis Ritchie" in cards.nth(0).inner_text()
    assert "John McCarthy" in cards.nth(1).inner_text()
    assert "Nearby" in cards.nth(2).inner_text()  # the line between what meets all of it and what meets some
    assert "designed by" in cards.nth(0).locator(".path").inner_text()
    named = cards.nth(0).locator(".path .named")
    assert named.all_inner_texts() == ["Turing Award", "Python"]
    assert named.nth(0).get_attribute("title") == "named in the question"
    assert "no model" not in page.inner_text("#asking")  # it stands in the header, once
    assert page.inner_text("#found") == "2 answers, 18 nearby"
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


def test_two_readings_are_for_the_person_to_pick(opened, languages, picture, look, served):
    lines = ('language that -designed_by-> "Niklaus Wirth"', 'count language that -designed_by-> "Niklaus Wirth"')
    model = ScriptedModel(lambda *_: json.dumps({"line": lines[1], "unread": []}))
    settings = Settings(methods={"reader": {"check": "always"}})
    with served({"languages": languages}, model=model, settings=settings) as server:
        page, seen = opened(server.address)
        for number, told in enumerate(("Modula-2", "3")):
            page.goto(server.address)
            page.wait_for_selector(".tries")
            asked(page, "Which languages did Niklaus Wirth design?")
            page.wait_for_selector("#reading .read >> nth=1")
            assert page.locator("#reading code").all_inner_texts() == list(lines)
            assert page.locator("#reading .dim").all_inner_texts() == ["by the rules", "by the model"]
            assert page.is_hidden("#answer")
            picture(page, f"5b-two-readings-{look}")
            fits(page)
            page.click(f"#reading .read >> nth={number} >> button:text('Ask this')")
            page.wait_for_selector(f"#answer :text('{told}')")
            assert server.asked[-1]["reading"] == lines[number]
            assert page.locator("#reading code").all_inner_texts() == [lines[number]]
        assert not seen.troubles


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
    assert page.text_content("#model") == "no model: answers are read off the graph"
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
        page.wait_for_selector(".layers .mark", state="attached")  # the proof needs none; nodes that move freely do
        page.click("#hits .name >> nth=0")
        page.click(".kinds button >> nth=0")
        page.get_by_text("This browser has no WebGL: nodes cannot be added to the picture.").wait_for(state="attached")
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


GRAPH = {
    **{"name": "languages", "is_ready": False, "is_partial": False, "nodes": 0, "edges": 0, "generation": None},
    **{"node_types": {}, "edge_types": {}, "labels": {}, "stage": "reading documents", "done": 100, "of": 1240},
    **{"seconds_left": None, "files": None, "of_files": None, "note": None, "vectors_seconds_left": None},
}
PARTIAL = {
    **{
        "is_partial": True,
        "done": 312,
        "seconds_left": 192,
        "files": 312,
        "of_files": 1240,
        "nodes": 169,
        "edges": 504,
    },
    **{"node_types": {"chunk": 150, "document": 19}, "generation": "first"},
}


def tells(page, **about):
    """Have the server tell this of the graph from now on."""
    listed = {"methods": ["auto"], "model": None, "has_feedback": False, "has_cypher": False}
    body = json.dumps({**listed, "graphs": [{**GRAPH, **about}]})
    page.unroute("**/api/graphs")
    page.route("**/api/graphs", lambda route: route.fulfill(body=body, content_type="application/json"))


def test_a_graph_that_is_still_made(opened, server, picture, look):
    page, _ = opened("about:blank")
    tells(page)
    page.goto(server.address)
    page.wait_for_selector("progress")
    assert "reading documents · 100 of 1,240" in page.inner_text("#making")
    tells(page, done=237, seconds_left=95)
    page.get_by_text("about 95 s left").wait_for()
    picture(page, f"12-making-{look}")
    fits(page)
    page.unroute("**/api/graphs")
    page.wait_for_selector(".tries")  # it looks again by itself
    assert page.is_hidden("#making")


def test_a_graph_that_could_not_be_made(opened, server, picture, look):
    page, seen = opened("about:blank")
    tells(page, is_failed=True, stage="no document in notes could be read: a.md: empty", done=None, of=None)
    page.goto(server.address)
    page.get_by_text("This graph could not be made").wait_for()
    assert "a.md: empty" in page.inner_text("#making")
    assert "still being made" not in page.inner_text("#making")
    picture(page, f"18-not-made-{look}")
    fits(page)
    assert not seen.troubles


def test_what_was_read_answers_meanwhile(opened, server, picture, look):
    page, seen = opened("about:blank")
    tells(page)
    page.goto(server.address)
    page.wait_for_selector("progress")
    tells(page, **PARTIAL)
    page.get_by_text("312 of 1,240 files are read so far, about 3 min left").wait_for()
    assert "Answers come from these: what is not found may be in the others." in page.inner_text("#making")
    page.wait_for_selector(".tries")
    picture(page, f"13-partial-{look}")
    fits(page)
    asked(page)
    page.wait_for_selector("#hits .card")
    tells(page, **{**PARTIAL, "done": 700, "seconds_left": 60})
    page.get_by_text("Answers come from the first 312").wait_for()
    assert page.is_visible("#hits .card")  # what was asked stays
    settled(page, look)
    picture(page, f"13b-partial-answered-{look}")
    asked(page, "zebra unicorn")
    page.wait_for_selector("#nothing:not([hidden])")
    assert page.inner_text("#nothing") == "Nothing was found in what is read so far. It may be in the rest."
    tells(page, **{**PARTIAL, "stage": "finding names", "done": 20, "of": 400, "files": 1240, "seconds_left": 40})
    page.get_by_text("All 1,240 files are read").wait_for()
    assert "finding names · 20 of 400 · about 40 s left" in page.inner_text("#making")
    picture(page, f"13c-all-read-{look}")
    page.unroute("**/api/graphs")
    page.get_by_text("All of it is there now.").wait_for()
    picture(page, f"13d-whole-{look}")
    page.click("#making button")
    page.wait_for_selector("#making", state="hidden")
    page.get_by_text("Nothing was found. Try other words, or another type.").wait_for()
    assert not seen.troubles


def test_the_graph_before_answers_while_its_sources_are_read_again(opened, server, picture, look):
    page, _ = opened("about:blank")
    tells(page, **{**PARTIAL, "files": None, "of_files": None})
    page.goto(server.address)
    page.get_by_text("The sources have changed and are being read again").wait_for()
    assert "Until then answers come from the graph as it was before." in page.inner_text("#making")
    picture(page, f"14-read-again-{look}")
    fits(page)


def test_vectors_that_are_being_made_are_a_quiet_line(opened, server, picture, look):
    page, _ = opened("about:blank")
    whole = {**PARTIAL, "is_ready": True, "is_partial": False, "stage": None}
    tells(page, **{**whole, "vectors_seconds_left": 250})
    page.goto(server.address)
    page.get_by_text("Compared by words; by meaning, too, in about 4 min.").wait_for()
    picture(page, f"15-vectors-{look}")
    fits(page)
    tells(page, **whole)
    page.wait_for_selector("#making", state="hidden")


def test_the_state_is_told_in_german(open_page, server, picture):
    page, _ = open_page("about:blank", locale="de-DE")
    tells(page, **PARTIAL)
    page.goto(server.address)
    page.get_by_text("312 von 1.240 Dateien sind bisher gelesen, noch etwa 3 min").wait_for()
    assert "was fehlt, steht vielleicht in den übrigen" in page.inner_text("#making")
    picture(page, "16-german")
