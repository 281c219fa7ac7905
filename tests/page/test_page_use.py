"""What a person does on the page: by keyboard, by mouse, by link."""

import csv
import io
import json
from xml.etree import ElementTree

import pytest

from browsing import QUESTION
from orienteer import Graph
from orienteer.ingest import import_graph
from orienteer.llm import ScriptedModel

pytestmark = pytest.mark.browser


@pytest.fixture
def answered(open_page, server):
    """A page with the answer to the question, its picture at rest."""
    page, seen = open_page(server.address)
    page.wait_for_selector(".tries")
    ask(page, QUESTION)
    at_rest(page)
    yield page
    assert not seen.troubles
    assert not seen.elsewhere


def ask(page, question):
    page.evaluate("document.querySelector('#acts').replaceChildren()")  # what an answer before has left
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector("#acts:not([hidden]) button")
    page.wait_for_selector("#ask:not(.stop)")


def at_rest(page):
    page.wait_for_selector("#canvas[data-settled]", state="attached")


def test_the_keyboard_alone(open_page, server):
    page, _ = open_page(server.address)
    page.wait_for_selector(".tries")
    focused = "document.activeElement.id || document.activeElement.textContent"
    assert page.evaluate(focused) == "question"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    assert page.evaluate(focused) == "question"
    assert page.input_value("#question") == ""
    page.keyboard.type("Which languages did")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Niklaus Wirth design?")
    assert "\n" in page.input_value("#question")
    page.keyboard.press("Enter")
    page.wait_for_selector("#acts:not([hidden])")
    names = []
    for _ in range(40):
        page.keyboard.press("Tab")
        names.append(page.evaluate(focused))
        if names[-1] == "Oberon":
            break
    assert names[:3] == ["method", "type", "ask"]
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel h3")
    page.keyboard.press("f")
    page.keyboard.press("Escape")
    assert page.is_hidden("#panel")


def test_the_row_of_a_file(open_page, served, tmp_path):
    (tmp_path / "films.csv").write_text("film_id,name,country\nf1,Salt,Latvia\nf2,Heat,Norway\n")
    import_graph([tmp_path / "films.csv"], tmp_path / "graph")
    with served({"films": Graph.open(tmp_path / "graph")}) as server:
        page, seen = open_page(server.address)
        ask(page, "Heat")
        page.click("#hits .name >> nth=0")
        page.click("#panel summary:text('In its file')")
        page.wait_for_selector("#panel details p:text('films.csv:3')")
        assert page.inner_text("#panel details dl").split() == ["film_id", "f2", "name", "Heat", "country", "Norway"]
        assert not seen.troubles


def test_a_node_and_its_neighbours(answered):
    answered.click("#hits .name >> nth=0")
    answered.wait_for_selector(".kinds")
    assert answered.inner_text("#panel h2") == "Dennis Ritchie"
    assert answered.inner_text("#panel section h3") == "5 neighbours"
    answered.click(".kinds button:has-text('worked at')")
    answered.wait_for_selector("#legend :text('organization')")
    assert answered.is_disabled(".kinds button:has-text('worked at')")  # the only one of its kind is drawn
    assert answered.inner_text("#drawn").startswith("7 nodes")
    answered.click("#nodes summary")
    assert "Bell Labs" in answered.inner_text("#nodes")
    answered.click("#nodes button:has-text('Bell Labs')")
    answered.wait_for_selector("#panel h2:text('Bell Labs')")


def test_a_name_on_a_path_is_a_way_to_its_node(answered):
    answered.click("#hits .path button:text('Turing Award') >> nth=0")
    answered.wait_for_selector("#panel h2:text('Turing Award')")


def test_a_click_in_the_picture(answered):
    with answered.expect_download() as download:
        answered.click("#svg")
    drawn = ElementTree.fromstring(download.value.path().read_bytes())  # it says where each node is
    circle = drawn.find(".//{http://www.w3.org/2000/svg}circle")
    box = answered.locator(".layers svg").bounding_box()
    answered.mouse.click(box["x"] + float(circle.get("cx")), box["y"] + float(circle.get("cy")))
    answered.wait_for_selector("#panel h3")
    answered.wait_for_timeout(500)  # at once, it would be a double click
    answered.mouse.click(box["x"] + 5, box["y"] + box["height"] + 20)  # beside it
    answered.wait_for_selector("#panel", state="hidden")


def test_the_legend_hides_and_shows(answered):
    answered.click("#legend label:has-text('award')")
    assert not answered.is_checked("#legend label:has-text('award') input")
    answered.click("#clear")
    assert answered.is_visible("#blank")
    assert answered.is_hidden("#tools")


def test_the_reading_can_be_edited(answered, server):
    answered.click("#reading button")
    answered.fill(".edit textarea", 'language that -designed_by-> "Niklaus Wirth"')
    answered.keyboard.press("Enter")
    answered.wait_for_selector("#answer :text('Pascal')")
    assert server.asked[-1]["reading"] == 'language that -designed_by-> "Niklaus Wirth"'
    assert "reading=" in answered.url


BUSY = 'event: error\ndata: {"error": {"message": "Busy."}}\n\n'


def test_a_reading_that_cannot_be_read_is_told(answered):
    answered.click("#reading button")
    answered.fill(".edit textarea", "((")
    answered.click(".edit .main")
    answered.wait_for_selector(".edit .refusal:not([hidden])")
    assert answered.inner_text(".edit .refusal")
    assert answered.is_hidden("#error")
    answered.fill("#question", "a question from the box, while a line is edited")
    answered.route("**/api/ask", lambda route: route.fulfill(body=BUSY, content_type="text/event-stream"))
    answered.click("#ask")
    answered.wait_for_selector("#error:not([hidden])")
    assert answered.inner_text("#error") == "Busy."
    answered.unroute("**/api/ask")


def test_facets_narrow_the_question_down(open_page, server):
    page, _ = open_page(server.address)
    ask(page, "Which languages support functional programming?")
    page.click("#facets summary")
    page.click("#facets button:has-text('dynamic')")
    page.wait_for_selector("#filters button")
    page.wait_for_selector("#acts:not([hidden])")
    assert server.asked[-1]["where"] == ["typing=dynamic"]
    assert page.inner_text("#filters") == "typing=dynamic ✕"
    page.click("#filters button")
    page.wait_for_selector("#filters", state="hidden")
    page.wait_for_selector("#acts:not([hidden])")
    assert server.asked[-1]["where"] == []


def test_a_link_holds_graph_question_and_options(open_page, server):
    page, _ = open_page(server.address)
    page.wait_for_selector(".tries")
    page.select_option("#method", "anchor")
    page.select_option("#type", "person")
    ask(page, QUESTION)
    link = page.url
    assert "#graph=languages&q=Which+people" in link  # behind the #, which no server hears of
    other, _ = open_page(link)
    other.wait_for_selector("#acts:not([hidden])")
    assert other.input_value("#question") == QUESTION
    assert server.asked[-1] == server.asked[-2]
    assert server.asked[-1]["node_types"] == ["person"]


def test_a_link_does_not_spend_a_models_tokens(open_page, languages, scripted, served):
    with served({"languages": languages}, model=scripted()) as server:
        page, _ = open_page(f"{server.address}/#graph=languages&q=Who%20designed%20Pascal%3F")
        page.wait_for_selector(".tries")
        assert page.input_value("#question") == "Who designed Pascal?"
        assert not server.asked


def test_the_link_is_copied(open_page, server):
    page, _ = open_page(server.address, permissions=["clipboard-read", "clipboard-write"])
    ask(page, QUESTION)
    page.click("#acts button:text('Copy link')")
    page.wait_for_selector("#acts button:text('Link copied')")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_hits_that_are_no_answer_as_csv(open_page, served, notes):
    with served({"notes": notes}) as server:
        page, _ = open_page(server.address)
        ask(page, "How long are payroll records kept?")
        with page.expect_download() as download:
            page.click("#acts button:text('Hits as CSV')")
        rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
        assert download.value.suggested_filename.endswith(".csv")
        assert rows[0]["file"] == "payroll.md"
        assert "kept for seven years" in rows[0]["text"]
        assert len(rows) == page.locator("#hits .card").count()


def test_a_formula_in_a_name_stays_a_text(open_page, served, tmp_path):
    name = '=HYPERLINK("http://elsewhere")'
    nodes = [{"id": f"n{at}", "type": "thing", "name": name, "text": 'say "yes"'} for at in range(3)]
    with served({"things": Graph.from_records(nodes, [], path=tmp_path / "things")}) as server:
        page, _ = open_page(server.address)
        ask(page, "things")
        with page.expect_download() as download:
            page.click("#acts button:text('CSV of all')")
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert {(row["name"], row["text"]) for row in rows} == {(f"'{name}", 'say "yes"')}


@pytest.mark.parametrize(("button", "begins"), [("#svg", b"<svg"), ("#png", b"\x89PNG")])
def test_the_picture_as_a_file(answered, button, begins):
    with answered.expect_download() as download:
        answered.click(button)
    content = download.value.path().read_bytes()
    assert content.startswith(begins)
    if button == "#svg":
        assert b"Dennis Ritchie" in content
        assert b"<script" not in content


def test_earlier_questions_are_kept_in_this_browser(answered, server):
    ask(answered, "Which languages did Niklaus Wirth design?")
    number = len(server.asked)
    answered.reload()
    answered.wait_for_selector("#acts:not([hidden])")
    answered.click("#earlier summary")
    assert answered.inner_text("#earlier summary") == "Earlier questions (1)"
    answered.click("#earlier .turn")
    answered.wait_for_selector("#answer :text('Dennis Ritchie')")
    assert len(server.asked) == number + 1  # the reload asked what its address says; the earlier one asked nothing
    assert answered.input_value("#question") == QUESTION
    assert "Kept from" in answered.inner_text("#spent")
    answered.click("#earlier button:text('Forget them')")
    assert answered.is_hidden("#earlier")
    assert answered.evaluate("localStorage.getItem('orienteer.turns')") is None


def test_thumbs_tell_the_server_what_was_right(answered, server):
    answered.click("#acts .thumb >> nth=0")
    answered.wait_for_selector("#acts :text('Noted')")
    gold = ["person:dennis-ritchie", "person:john-mccarthy"]
    assert server.told == [{"graph": "languages", "question": QUESTION, "nodes": gold, "is_good": True}]
    answered.click("#hits .card >> nth=2 >> .thumb >> nth=1")
    answered.wait_for_selector("#hits :text('Noted')")
    assert server.told[1]["is_good"] is False
    assert len(server.told[1]["nodes"]) == 1


def test_leaving_the_page_ends_the_question(open_page, languages, scripted, served):
    with served({"languages": languages}, model=scripted(0.3)) as server:
        page, _ = open_page(server.address)
        page.wait_for_selector(".tries")
        page.select_option("#method", "ark")
        page.fill("#question", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("#steps li")
        page.close()
        assert server.left.wait(10)


def test_a_second_question_replaces_the_first(open_page, languages, scripted, served):
    with served({"languages": languages}, model=scripted(0.3)) as server:
        page, seen = open_page(server.address)
        page.wait_for_selector(".tries")
        page.select_option("#method", "ark")
        page.fill("#question", QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector("#steps li")
        page.select_option("#method", "anchor")
        page.fill("#question", "Which languages did Niklaus Wirth design?")
        page.keyboard.press("Enter")
        page.wait_for_selector("#acts:not([hidden])")
        assert page.inner_text("#answer") == "Modula-2, Oberon, Pascal"
        assert not seen.troubles


def test_the_theme_is_kept(open_page, server):
    page, _ = open_page(server.address, color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_german(open_page, server):
    page, seen = open_page(server.address, locale="de-DE")
    page.wait_for_selector(".tries")
    assert page.inner_text("#ask") == "Fragen"
    assert page.evaluate("document.documentElement.lang") == "de"
    ask(page, QUESTION)
    assert page.inner_text("#found") == "2 Antworten, 18 in der Nähe"
    page.select_option("#language", "en")
    page.wait_for_selector("#ask:text('Ask')")
    assert not seen.troubles


def test_several_graphs(open_page, languages, small, served):
    with served({"languages": languages, "films": small}) as server:
        page, _ = open_page(server.address)
        page.wait_for_selector(".tries")
        page.select_option("#graph", "films")
        page.wait_for_selector(".about:has-text('film')")
        ask(page, "Salt")
        assert server.asked[-1]["graph"] == "films"
        assert "language" not in page.inner_text("#type")


def test_a_paragraph_is_opened_at_its_place(open_page, notes, served):
    with served({"notes": notes}) as server:
        page, seen = open_page(server.address)
        page.wait_for_selector(".about")
        page.fill("#question", "How long are payroll records kept?")
        page.keyboard.press("Enter")
        page.wait_for_selector("#acts:not([hidden])")
        assert page.locator("#hits blockquote mark").count()  # the words of the question
        page.click("#answer .cite")
        page.wait_for_selector("#document .part.here mark")
        assert page.inner_text("#document h2") == "payroll.md"
        assert "seven years" in page.inner_text("#document .here")
        page.click("#document >> text=Show the graph")
        page.click("#hits .from button >> nth=0")
        page.wait_for_selector("#document .part.here")
        assert not seen.troubles


def test_what_was_not_read_is_told(open_page, notes, served):
    with served({"notes": notes}) as server:
        page, _ = open_page(server.address)
        page.click("#start summary")
        assert "picture.png" in page.inner_text("#start")


def test_rows_that_were_dropped_and_what_is_open_are_told(open_page, served, picture, tmp_path):
    (tmp_path / "brewing").mkdir()
    (tmp_path / "brewing" / "breweries.csv").write_text(
        "id,brewery,founded\n1,Duvel,1871\n2,Bosteels,1791\n3,Früh,1904\n"
    )
    (tmp_path / "brewing" / "beers.csv").write_text(
        "nr,beer,brewery_id,price\n11,Tripel,1,2.5\n12,Kwak,2,3.5\n13,Pale,9,ca. 4\n14,Blond,1,2\n15,Gose,3,2.75\n"
    )
    import_graph([tmp_path / "brewing"], tmp_path / "graph")
    with served({"brewing": Graph.open(tmp_path / "graph")}) as server:
        page, seen = open_page(server.address)
        page.wait_for_selector("#start details")
        told = page.locator("#start details")
        assert (
            told.locator("summary").inner_text() == "1 row or value was dropped; 2 questions about the tables are open"
        )
        told.locator("summary").click()
        dropped, *asked = told.locator("li").all_inner_texts()
        assert dropped == "beers.csv: 1 unresolved: a value that no row, or several rows, of the other table have"
        assert any("9" in text and "brewery_id" in text for text in asked)
        picture(page, "open-questions")
        assert not seen.troubles


def test_no_more_is_drawn_than_eyes_can_read(open_page, server):
    rust = "language:rust"
    hits = [
        {
            "id": f"n{number}",
            "type": "t",
            "name": f"node {number}",
            "edges": [{"source": rust, "type": "joins", "target": f"n{number}"}],
        }
        for number in range(2100)
    ]
    added = json.dumps({"node": rust, "total": 2100, "counts": [], "offset": 0, "hits": hits})
    cut = json.dumps({"nodes": [], "edges": [], "truncated": True, "unknown": []})
    page, seen = open_page(server.address)
    ask(page, "Which people designed a language influenced by both Erlang and Ruby?")
    at_rest(page)
    page.route("**/api/neighbors", lambda route: route.fulfill(body=added, content_type="application/json"))
    page.route("**/api/subgraph", lambda route: route.fulfill(body=cut, content_type="application/json"))
    page.click("#hits .path button:text('Rust') >> nth=0")
    page.click(".kinds button >> nth=0")
    page.get_by_text("2,000 nodes, 2,000 edges · no more are drawn · some edges are left out").wait_for()
    assert not seen.troubles


def test_a_question_that_is_asked_at_once_waits_for_the_server(open_page, server):
    page, seen = open_page("about:blank")
    page.route("**/api/graphs", lambda route: (page.wait_for_timeout(300), route.continue_()))
    page.goto(server.address, wait_until="commit")
    page.fill("#question", QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector("#acts:not([hidden])")
    assert [asked["graph"] for asked in server.asked] == ["languages"]
    assert not seen.troubles


def test_back_leads_to_the_question_before(answered, server):
    ask(answered, "Which languages did Niklaus Wirth design?")
    number = len(server.asked)
    answered.go_back()
    answered.wait_for_selector("#answer :text('Dennis Ritchie')")
    answered.go_forward()
    answered.wait_for_selector("#answer :text('Pascal')")
    answered.go_back()
    answered.go_back()
    answered.wait_for_selector(".tries")
    assert answered.is_hidden("#answer")
    assert len(server.asked) == number  # what was answered is kept


CONVERSATION = {"Its last question:": '{"question": "Who designed Oberon?"}', "": "Answer: Niklaus Wirth 🧭"}


@pytest.fixture
def conversing(open_page, languages, served):
    """Give a page whose model puts follow-ups in words, and its server."""

    def say(messages, tools, sampling):
        return next(words for mark, words in CONVERSATION.items() if mark in messages[-1].content)

    with served({"languages": languages}, model=ScriptedModel(say)) as server:
        page, seen = open_page(server.address)
        page.wait_for_selector(".tries")
        page.select_option("#method", "bm25")
        yield page, server
        assert not seen.troubles


def test_a_follow_up_tells_the_last_turns_and_how_it_was_asked(conversing, picture):
    page, server = conversing
    for question in ("Who designed Pascal?", "And Modula-2?", "And Euler?", "And Oberon?"):
        ask(page, question)
    told = [[past["question"] for past in asked.get("history", ())] for asked in server.asked]
    assert told[:2] == [[], ["Who designed Pascal?"]]
    assert told[3] == ["Who designed Pascal?", "And Modula-2?", "And Euler?"]
    assert server.asked[3]["history"][0]["answer"] == "Niklaus Wirth 🧭"
    assert page.inner_text("#reading .read") == "asked as\nWho designed Oberon?"
    assert page.input_value("#question") == "And Oberon?"
    picture(page, "17-follow-up")
    ask(page, "And Oberon?")  # asked anew: it does not follow itself
    assert server.asked[4]["history"] == server.asked[3]["history"]
    ask(page, "And Algol W?")  # and stands once among what came before
    assert [past["question"] for past in server.asked[5]["history"]] == ["And Modula-2?", "And Euler?", "And Oberon?"]


def test_what_was_forgotten_is_not_told(conversing):
    page, server = conversing
    ask(page, "Who designed Pascal?")
    ask(page, "And Oberon?")
    page.click("#earlier summary")
    page.click("#earlier button:text('Forget them')")
    ask(page, "And Euler?")
    assert "history" not in server.asked[-1]


def test_an_answer_that_is_cut_within_an_emoji_can_be_followed(conversing, monkeypatch):
    page, server = conversing
    monkeypatch.setitem(CONVERSATION, "", f"Answer: x{'🧭' * 2_000}")
    ask(page, "Who designed Pascal?")
    ask(page, "And Oberon?")
    assert page.is_hidden("#error")
    assert server.asked[1]["history"][0]["answer"] == f"x{'🧭' * 1_499}"
