"""The page before a question, and the other roads from its box: overview, schema, compare, Cypher, saved questions."""

import itertools
import json
import re
from pathlib import Path

import pytest

from browsing import PAGE
from orienteer.graph import Graph

pytestmark = pytest.mark.browser
AXE = Path(__file__).parents[2] / "page" / "node_modules" / "axe-core" / "axe.min.js"
LOOKS = {
    "light": {"color_scheme": "light", "width": 1440},
    "dark": {"color_scheme": "dark", "width": 1440},
    "phone": {"width": 400, "height": 800, "color_scheme": "dark"},
}
LINE = "#reading code"


def violations(page):
    if not AXE.is_file():
        pytest.skip("axe-core is not there: run npm ci in page/")
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found]


def boxes(page, selector):
    return page.evaluate(
        f"[...document.querySelectorAll({selector!r})].map(e => e.getBoundingClientRect())"
        ".map(r => [r.x, r.y, r.right, r.bottom])"
    )


def overlapping(found):
    return [
        (a, b)
        for a, b in itertools.combinations(found, 2)
        if a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1
    ]


def ask(page, question):
    page.fill("#question", question)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("look", LOOKS)
def test_the_start_says_what_the_graph_is_about_and_draws_its_schema(open_page, server, picture, languages, look):
    page, seen = open_page(server.address, **LOOKS[look])
    page.wait_for_selector(".tries")
    assert page.inner_text(".about").startswith("169 nodes: 60 people, 45 languages")
    assert page.locator(".tries button").count() == 7
    picture(page, f"20-start-{look}")
    assert violations(page) == []
    if look == "phone":
        heights = boxes(page, "header > *, header button")
        assert max(box[3] for box in heights) < 60, "the header has one row"
        assert page.is_visible("#form label .dim >> nth=0")  # method and type are named
        page.click("#tab-seeing")
    page.wait_for_selector("#schema svg")
    picture(page, f"21-schema-{look}")
    assert violations(page) == []
    labels = page.locator("#schema .edge, #schema .type").evaluate_all(
        "all => all.map(e => e.getAttribute('aria-description'))"
    )
    named = [re.sub(r".*: ", "", label) for label in labels]
    listed = page.locator("#schema details button").all_text_contents()
    for (source, kind, target), count in languages.schema.edges.items():
        whole = f"{source} {kind.replace('_', ' ')} {target}: {count}"
        assert whole in labels + listed, (whole, named)
    for name, count in languages.schema.node_types.items():
        assert any(label.startswith(f"{count} ") for label in labels), name
    assert overlapping(boxes(page, "#schema .type > rect, #schema .edge rect")) == []
    assert not seen.troubles
    assert not seen.elsewhere


def test_a_type_and_an_edge_ask(open_page, server):
    page, _ = open_page(server.address)
    page.wait_for_selector("#schema svg")
    page.focus("#schema .type[aria-description='45 languages']")
    page.keyboard.press("Enter")
    page.wait_for_selector(LINE)
    assert page.inner_text(LINE) == "language"
    assert page.input_value("#question") == "All languages"
    assert page.is_hidden("#schema")
    page.go_back()
    page.wait_for_selector("#schema svg")
    page.click("#schema .edge[aria-description^='language designed by person']")
    page.wait_for_selector(LINE)
    assert page.inner_text(LINE) == "count language per -designed_by-> person"
    assert page.input_value("#question") == "How many languages per person?"
    assert "Niklaus Wirth\t3" in page.inner_text("#answer")


def test_many_types_are_folded_with_their_number(open_page, served, tmp_path):
    kinds = [f"kind{number}" for number in range(20)]
    nodes = [
        {"id": f"{kind}-{at}", "type": kind, "name": f"{kind} {at}"}
        for number, kind in enumerate(kinds)
        for at in range(1 + number)
    ]
    edges = [{"source": f"{a}-0", "type": "joins", "target": f"{b}-0"} for a, b in itertools.combinations(kinds, 2)]
    graph = Graph.from_records(nodes, edges, path=tmp_path / "many")
    with served({"many": graph}) as server:
        page, _ = open_page(server.address)
        page.wait_for_selector("#schema svg")
        assert page.locator("#schema .type").count() == 12
        labels = page.locator("#schema .edge").count()
        assert page.inner_text("#schema summary") == f"8 more types · {190 - labels} more kinds of edges"
        assert overlapping(boxes(page, "#schema .type > rect, #schema .edge rect")) == []


@pytest.mark.parametrize("look", LOOKS)
def test_compare_and_overview(open_page, server, picture, look):
    page, seen = open_page(f"{server.address}/#graph=languages&q=compare%20Rust%20and%20Go", **LOOKS[look])
    page.wait_for_selector("#answer table")
    rows = page.locator("#answer tbody tr").evaluate_all("all => all.map(r => [...r.cells].map(c => c.textContent))")
    assert ["year", "", "2012", "2009"] in rows
    assert ["typing", "static", "", ""] in rows
    page.wait_for_timeout(500)
    picture(page, f"22-compare-{look}")
    assert violations(page) == []
    ask(page, "What is in this graph?")
    page.wait_for_selector("#answer .tries")
    picture(page, f"23-overview-{look}")
    if look == "phone":
        page.click("#tab-seeing")
    page.wait_for_selector("#schema svg")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not [trouble for trouble in seen.troubles if "GPU stall" not in trouble]


def test_a_statement_is_a_table_where_cypher_is_on(open_page, served, languages, picture):
    statement = "MATCH (l:language)-[:designed_by]->(p {name: 'Niklaus Wirth'}) RETURN l, p.name"
    with served({"languages": languages}) as server:
        page, _ = open_page(server.address)
        ask(page, statement)
        page.get_by_text("start the server with --cypher").first.wait_for()
    with served({"languages": languages}, has_cypher=True) as server:
        page, _ = open_page(server.address)
        ask(page, statement)
        page.wait_for_selector("#answer table")
        assert page.locator("#answer tbody tr").count() == 3
        page.click("#answer tbody button >> nth=0")  # a node of a row leads to itself
        page.wait_for_selector("#panel h2")
        picture(page, "24-cypher")


@pytest.mark.parametrize("look", LOOKS)
def test_two_methods_side_by_side(open_page, server, picture, look):
    page, _ = open_page(server.address, **LOOKS[look])
    page.wait_for_selector(".tries")
    ask(page, "languages influenced by Erlang")
    page.wait_for_selector("#further select")
    page.select_option("#further select", "bm25")
    page.click("#further button:text('Compare with')")
    page.wait_for_selector("#beside article >> nth=1")
    columns = page.locator("#beside article")
    assert columns.locator("h2").all_inner_texts() == ["anchor", "bm25"]
    assert columns.nth(0).locator("li").count() == 4  # its answers alone, nothing nearby
    assert "No answer." in columns.nth(1).inner_text()
    one, other = boxes(page, "#beside article")
    assert (other[1] > one[1]) == (look == "phone")
    picture(page, f"25-methods-{look}")
    assert violations(page) == []
    assert server.asked[-1]["method"] == "bm25"


def test_a_question_is_saved_asked_again_and_deleted(open_page, server):
    page, _ = open_page(server.address)
    page.wait_for_selector(".tries")
    ask(page, "languages influenced by Erlang")
    page.click("#further button:text('Save question')")
    page.fill("#further input", "after Erlang")
    page.keyboard.press("Enter")
    page.get_by_text("Saved as after Erlang.").wait_for()
    page.goto(f"{server.address}/")
    page.wait_for_selector(".tries")
    page.click("#saved summary")
    before = len(server.asked)
    page.click("#saved button:text('after Erlang')")
    page.wait_for_selector(LINE)
    assert page.input_value("#question") == "languages influenced by Erlang"
    assert len(server.asked) == before + 1
    page.click("#saved button[aria-label='Delete after Erlang']")
    assert page.is_hidden("#saved")
    assert "after Erlang" not in json.dumps(page.evaluate("({...localStorage})"))


def answered(page):
    page.wait_for_selector(".tries")
    ask(page, "languages influenced by Erlang")
    page.wait_for_selector("#canvas[data-settled]", state="attached")


def test_an_edited_line_is_never_lost(open_page, server, picture):
    page, _ = open_page(server.address)
    answered(page)
    drawn, answer, address = (page.inner_text("#drawn"), page.inner_text("#answer"), page.url)
    page.click("#reading .link:text('Edit')")
    page.fill(".edit textarea", 'language that -influenced_by-> "Erlng"')
    page.keyboard.press("Enter")
    page.wait_for_selector(".edit .chip")
    picture(page, "26-edited")
    assert "Erlng" in page.inner_text(".edit .refusal")
    assert (page.inner_text("#drawn"), page.inner_text("#answer"), page.url) == (drawn, answer, address)
    assert page.is_hidden("#error")
    assert violations(page) == []
    page.click(".edit .chip:text('Erlang')")
    assert page.input_value(".edit textarea") == 'language that -influenced_by-> "Erlang"'
    page.keyboard.press("Enter")
    page.wait_for_selector(".edit", state="detached")
    page.wait_for_selector("#acts:not([hidden])")
    assert page.inner_text("#answer") == answer


@pytest.mark.parametrize(
    "reply",
    [
        {"status": 503, "body": '{"error": {"message": "Busy.", "status": 503}}'},
        {
            "status": 200,
            "content_type": "text/event-stream",
            "body": 'event: error\ndata: {"error": {"message": "Busy."}}\n\n',
        },
        {
            "status": 200,
            "content_type": "text/event-stream",
            "body": 'event: answer\ndata: {"answer": "half"}\n\n'
            'event: error\ndata: {"error": {"message": "Busy."}}\n\n',
        },
    ],
)
def test_a_request_that_fails_leaves_what_was_there(open_page, server, reply):
    page, _ = open_page(server.address)
    answered(page)
    line, answer, address = page.inner_text(LINE), page.inner_text("#answer"), page.url
    page.route("**/api/ask", lambda route: route.fulfill(**reply))
    ask(page, "Who designed Python?")
    page.wait_for_selector("#error:not([hidden])")
    assert page.inner_text("#error") == "Busy."
    assert page.input_value("#question") == "Who designed Python?"
    assert (page.inner_text(LINE), page.inner_text("#answer"), page.url) == (line, answer, address)
    assert page.locator("#hits > li.card").count()
    page.wait_for_function("document.querySelector('#drawn').innerText")


def test_a_link_to_an_unknown_graph_says_so(open_page, server):
    page, _ = open_page(f"{server.address}/#graph=nosuch&q=x")
    page.wait_for_selector("#error:not([hidden])")
    assert page.inner_text("#error") == "This server has no graph called nosuch."
    assert not server.asked


def test_what_was_not_read_offers_questions(open_page, server):
    page, _ = open_page(server.address)
    page.wait_for_selector(".tries")
    ask(page, "frobnicate blorbs")
    page.wait_for_selector("#reading .tries button")
    assert page.is_hidden("#tools")  # nothing is drawn
    page.click("#reading .tries button >> nth=0")
    page.wait_for_selector(LINE)


def test_what_was_dropped_is_one_line_with_counts(open_page, served, notes):
    with served({"notes": notes}) as server:
        page, _ = open_page(server.address)
        page.get_by_text("1 file of the sources was not read").wait_for()
        assert page.inner_text(".about") == "2 files and 2 passages"


def test_the_whole_page_is_small():
    import gzip

    sizes = {file.name: len(gzip.compress(file.read_bytes(), 9)) for file in PAGE.rglob("*.*s") if file.is_file()}
    assert sum(sizes.values()) < 85_000, sizes
