"""What a second question, a link without one and a way back leave; a quotation is marked as it stands."""

import re

import pytest

from orienteer.graph import Graph
from orienteer.ingest import build_graph

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
FUNCTIONAL = "Which languages support functional programming?"


def ask(page, question):
    page.fill("#question", question)
    page.keyboard.press("Enter")


def answered(page, server, number):
    """Wait until so many questions were asked and the last is answered."""
    for _ in range(200):
        if len(server.asked) >= number and page.get_attribute("#asking", "aria-busy") == "false":
            break
        page.wait_for_timeout(50)
    assert len(server.asked) == number
    page.wait_for_selector("#acts:not([hidden])")


@pytest.fixture
def narrowed(open_page, server):
    """A page whose question is narrowed down to `typing=dynamic`."""
    page, seen = open_page(server.address)
    ask(page, FUNCTIONAL)
    answered(page, server, 1)
    page.click("#facets summary")
    page.click("#facets button:has-text('dynamic')")
    answered(page, server, 2)
    yield page
    assert not seen.troubles


def test_a_filter_ends_with_its_question(narrowed, server):
    assert server.asked[-1]["where"] == ["typing=dynamic"]
    ask(narrowed, FUNCTIONAL)  # the same once more
    answered(narrowed, server, 3)
    assert server.asked[-1]["where"] == ["typing=dynamic"]
    ask(narrowed, "Which languages did Niklaus Wirth design?")
    answered(narrowed, server, 4)
    assert server.asked[-1]["where"] == []
    assert narrowed.is_hidden("#filters")
    assert narrowed.is_hidden("#reading .filtered")


def test_what_was_asked_with_a_filter_says_so_and_is_asked_without(narrowed, server):
    assert narrowed.inner_text("#reading .filtered") == "Only with typing=dynamic: ask without it"
    narrowed.click("#reading .filtered button")
    answered(narrowed, server, 3)
    assert server.asked[-1]["question"] == FUNCTIONAL
    assert server.asked[-1]["where"] == []


def test_a_type_that_was_set_by_hand_stays_and_is_seen(open_page, server):
    page, _ = open_page(server.address)
    page.wait_for_selector(".tries")
    page.select_option("#type", "person")
    for number, question in enumerate(["Which people designed C?", "Which people designed Pascal?"], 1):
        ask(page, question)
        answered(page, server, number)
        assert server.asked[-1]["node_types"] == ["person"]
        assert page.input_value("#type") == "person"
        assert page.inner_text("#filters") == "person ✕"


def test_the_box_says_what_a_bar_asks(open_page, server):
    page, _ = open_page(server.address)
    ask(page, "number of languages per paradigm")
    page.click(".bars button:text('Logic programming')")
    page.wait_for_selector("#hits .card")
    line = page.inner_text("#reading code")
    assert page.input_value("#question") == line
    assert "Logic programming" in line
    page.click("#ask")
    answered(page, server, 3)
    assert server.asked[-1]["reading"] == line  # and not read as words


def test_groups_are_a_file(open_page, server):
    page, _ = open_page(server.address)
    ask(page, "number of languages per paradigm")
    page.wait_for_selector(".bars tbody tr")
    rows = page.locator(".bars tbody tr")
    told = {f"{row.locator('th').inner_text()},{row.locator('td').inner_text()}" for row in rows.all()}
    with page.expect_download() as download:
        page.click("#acts button:has-text('CSV') >> nth=0")
    head, *lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert told <= set(lines)
    assert len(head.split(",")) == 2


def test_a_link_to_a_graph_opens_its_start(open_page, languages, small, served):
    with served({"films": small, "languages": languages}) as server:
        page, seen = open_page(f"{server.address}#graph=languages")
        page.wait_for_selector(".about:has-text('45 languages')")
        assert page.input_value("#graph") == "languages"
        page.select_option("#graph", "films")
        page.wait_for_selector(".about:has-text('film')")
        assert page.url.endswith("#graph=films")
        page.go_back()
        page.wait_for_selector(".about:has-text('45 languages')")
        assert page.input_value("#graph") == "languages"
        assert not seen.troubles


@pytest.mark.parametrize("begin", ["", "#graph=languages"])
def test_back_to_the_start_shows_the_start(open_page, server, begin):
    page, seen = open_page(server.address + begin)
    page.wait_for_selector(".tries")
    ask(page, FUNCTIONAL)
    answered(page, server, 1)
    page.go_back()
    page.wait_for_selector(".tries")
    for gone in ("#answer", "#reading", "#acts", "#hits .card"):
        assert page.is_hidden(gone), gone
    assert page.input_value("#question") == ""
    page.go_forward()
    page.wait_for_selector("#acts:not([hidden])")
    assert page.input_value("#question") == FUNCTIONAL
    assert len(server.asked) == 1
    assert not seen.troubles


def test_what_is_hidden_is_not_counted(open_page, server):
    page, _ = open_page(server.address)
    ask(page, "Which languages influenced Rust?")
    page.wait_for_selector("#legend input")
    count = lambda: [int(n) for n in re.findall(r"\d+", page.inner_text("#drawn"))[:2]]  # noqa: E731
    nodes, edges = count()
    assert nodes > 1
    assert edges > 0
    page.locator("#legend input").nth(0).click()
    assert count()[0] < nodes
    assert count()[1] < edges
    page.locator("#legend input").nth(0).click()
    assert count() == [nodes, edges]


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """A graph of a document whose best passage has more blocks than are quoted."""
    folder = tmp_path_factory.mktemp("rules")
    (folder / "payroll.md").write_text(
        "# Payroll\n\n## Records\n\nPayroll records are kept for seven years, then they are shredded.\n\n"
        "The following are exempt from this rule:\n\n- letters of the porter\n- ledgers of the bank\n\n"
        "## Days\n\nWages are paid on the last working day.\n"
    )
    path = tmp_path_factory.mktemp("made") / "rules"
    build_graph([folder], path)
    return Graph.open(path)


def test_a_quotation_over_two_blocks_is_marked_alone(open_page, served, rules):
    with served({"rules": rules}) as server:
        page, seen = open_page(server.address)
        ask(page, "Which are exempt from this rule?")
        page.wait_for_selector("#document mark.quoted")
        marked = page.locator("#document mark.quoted").all_inner_texts()
        said = page.inner_text("#answer blockquote")
        bare = lambda text: re.findall(r"\w+", text)  # noqa: E731
        words = bare(" ".join(marked))
        assert words == bare(said)[: len(words)]
        assert "exempt" in words
        assert "Wages" not in words
        assert not seen.troubles


def test_why_there_is_no_answer_is_said_once(open_page, served, rules):
    with served({"rules": rules}) as server:
        page, _ = open_page(server.address)
        ask(page, "How many sacks did the harvest bring?")
        page.wait_for_selector("#reading .refusal")
        page.wait_for_selector("#acts:not([hidden])")
        assert page.inner_text("body").count("nothing here answers this") == 1


def test_what_is_in_documents_is_the_start(open_page, served, rules):
    with served({"rules": rules}) as server:
        page, seen = open_page(server.address)
        page.wait_for_selector(".about")
        about = page.inner_text(".about")
        ask(page, "what is in this graph")
        page.wait_for_selector("#answer .said")
        assert page.inner_text("#answer .said") == about
        assert not seen.troubles
