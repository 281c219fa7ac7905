"""All answers on the page: more cards, the table, files, bars, histograms, a line over time."""

import csv
import io
import json
from collections import Counter

import pytest

from browsing import PAGE
from orienteer import Graph, Retriever
from orienteer.ingest import demo_records

pytestmark = pytest.mark.browser
AXE = PAGE.parents[3] / "page" / "node_modules" / "axe-core" / "axe.min.js"
LANGUAGES = [node for node in demo_records()[0] if node.type == "language"]
LOOKS = [(width, scheme) for width in (1440, 400) for scheme in ("light", "dark")]


def ask(page, question):
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector("#acts:not([hidden])")


def unfold(page):
    """Open what narrows a question down."""
    page.wait_for_selector("#facets:not([hidden])")
    page.evaluate("document.getElementById('facets').open = true")


def violations(page):
    """Return what axe-core finds wrong; nothing where it is not there."""
    if not AXE.exists():
        pytest.skip("axe-core is not there: run npm ci in page/")
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found]


def fits(page):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"


def names(page):
    return [name.strip() for name in page.locator("#hits .name").all_inner_texts()]


def test_the_answers_behind_the_first_twenty(open_page, server, languages):
    page, seen = open_page(server.address)
    ask(page, "languages")
    assert page.inner_text("#answer .meeting") == "45 nodes meet all of it: the first 20 are listed"
    assert "45 nodes" not in page.inner_text("#spent")  # it is said once
    page.click("#all button:text('Show 20 more')")
    page.wait_for_selector("#hits .card >> nth=39")
    assert page.inner_text("#answer .meeting") == "45 nodes meet all of it: the first 40 are listed"
    page.click("#all button:text('Show 5 more')")
    page.wait_for_selector("#hits .card >> nth=44")
    page.wait_for_selector("#all button", state="detached")
    assert page.inner_text("#answer .meeting") == "45 nodes meet all of it: all are listed"
    assert sorted(names(page)) == sorted(node.name for node in LANGUAGES)
    assert names(page) == [hit.name for hit in Retriever(languages, "anchor").ask("languages", 45).hits]
    assert not seen.troubles


def test_the_table_sorts_by_a_click_and_leads_to_a_node(open_page, server):
    page, seen = open_page(server.address)
    ask(page, "languages")
    page.click("#acts button:text('All 45 as a table')")
    table = page.get_by_role("dialog").get_by_role("table")
    table.wait_for()
    column = page.locator("dialog thead th", has_text="year")
    assert column.get_attribute("aria-sort") == "none"
    column.get_by_role("button").focus()
    for turned, order in ((False, "ascending"), (True, "descending")):
        page.keyboard.press("Enter")
        page.wait_for_selector(f"dialog [aria-sort={order}]")
        assert page.evaluate("document.activeElement.dataset.column") == "year"
        place = page.locator("dialog thead th").all_inner_texts().index(f"year {'▼' if turned else '▲'}")
        cells = page.locator("dialog tbody tr").evaluate_all(
            f"rows => rows.map(row => row.children[{place}].textContent)"
        )
        assert cells == [str(year) for year in sorted((node.properties["year"] for node in LANGUAGES), reverse=turned)]
    assert page.locator("dialog [role=status]").inner_text() == "1 to 45 of 45"
    assert page.locator("dialog button:text('Next')").is_disabled()
    page.locator("dialog tbody").get_by_role("button", name="Bell Labs").first.click()
    page.wait_for_selector("#panel h2:text('Bell Labs')")
    assert not page.locator("dialog").count()
    page.click("#acts button:text('All 45 as a table')")
    table.wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert not seen.troubles


def test_all_of_it_as_files(open_page, server):
    page, _ = open_page(server.address)
    ask(page, "Which languages influenced Rust?")
    files = {}
    for form in ("CSV", "JSON"):
        with page.expect_download() as download:
            page.click(f"#acts button:text('{form} of all')")
        assert download.value.suggested_filename == f"Which-languages-influenced-Rust.{form.lower()}"
        files[form] = download.value.path().read_text(encoding="utf-8-sig")
    gold = {edge.target for edge in demo_records()[1] if (edge.source, edge.type) == ("language:rust", "influenced_by")}
    assert {row["id"] for row in csv.DictReader(io.StringIO(files["CSV"]))} == gold
    assert {row["id"] for row in json.loads(files["JSON"])} == gold


def test_groups_are_bars_and_a_click_asks_one(open_page, server):
    page, seen = open_page(server.address)
    ask(page, "number of languages per paradigm")
    gold = Counter(edge.target for edge in demo_records()[1] if edge.type == "supports")
    rows = page.locator(".bars tbody tr")
    told = {row.locator("th").inner_text(): int(row.locator("td").inner_text()) for row in rows.all()}
    titles = {node.id: node.name for node in demo_records()[0]}
    assert told == {titles[paradigm]: count for paradigm, count in gold.items()}
    page.click(".bars button:text('Logic programming')")
    page.wait_for_selector("#reading code:has-text('Logic programming')")
    page.wait_for_selector("#hits .card")
    assert page.inner_text("#answer") == "Prolog"
    assert not seen.troubles


def test_facets_are_of_all_and_not_of_those_nearby(open_page, server, languages):
    page, seen = open_page(server.address)
    ask(page, "languages influenced by C")
    gold = Retriever(languages, "anchor").answers("languages influenced by C").select(["typing"]).values()
    unfold(page)
    for typing, count in Counter(cell for (cell,) in gold if cell).items():
        assert page.inner_text(f"#facets button:has-text('{typing}')") == f"{typing} {count}"
    ask(page, "languages")
    unfold(page)
    page.click("#facets button:has-text('Bell Labs')")
    page.wait_for_selector("#reading code:has-text('Bell Labs')")
    page.wait_for_selector("#hits .card")
    assert server.asked[-1]["reading"] == 'language that -developed_at-> "Bell Labs"'
    assert not seen.troubles


@pytest.fixture(scope="module")
def voyages(tmp_path_factory):
    """Thirty voyages with a date of each, over six years, and coordinates."""
    nodes = [
        {
            "id": f"v{at:02}",
            "type": "voyage",
            "name": f"Voyage {at}",
            "properties": {
                "sailed": f"{1990 + at % 6}-0{1 + at % 9}-1{at % 3}",
                "latitude": 54 + at / 10,
                "longitude": -8.5 - at / 10,
            },
        }
        for at in range(30)
    ]
    return Graph.from_records(nodes, [], path=tmp_path_factory.mktemp("page") / "voyages")


def test_dates_are_a_line_and_a_bin_narrows(open_page, served, voyages):
    with served({"voyages": voyages}) as server:
        page, seen = open_page(server.address)
        ask(page, "voyages")
        unfold(page)
        bins = page.locator("[aria-label=sailed].line button:not(:disabled)")
        counts = [int(text.rpartition(": ")[2]) for text in bins.evaluate_all("all => all.map(one => one.title)")]
        assert sum(counts) == 30
        assert (
            page.locator("#facets polyline").first.get_attribute("points").count(",")
            == page.locator("[aria-label=sailed] li").count()
        )
        bins.first.click()
        page.wait_for_selector("#filters button >> nth=1")
        page.wait_for_selector("#acts:not([hidden])")
        low, high = server.asked[-1]["where"]
        assert (low[:8], high[:7]) == ("sailed>=", "sailed<")
        page.wait_for_selector("#hits .card")
        assert page.locator("#hits .card").count() == counts[0]
        page.click("#acts button:has-text('as a table')")
        page.wait_for_selector("dialog th:has-text('latitude')")
        assert not seen.troubles


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_how_it_looks(open_page, served, languages, voyages, picture, width, scheme):
    with served({"languages": languages, "voyages": voyages}) as server:
        page, seen = open_page(server.address, width=width, height=900, color_scheme=scheme)
        ask(page, "number of languages per paradigm")
        page.wait_for_selector(".bars")
        picture(page, f"30-bars-{width}-{scheme}")
        assert violations(page) == []
        fits(page)
        ask(page, "languages")
        unfold(page)
        page.locator("#facets").scroll_into_view_if_needed()
        picture(page, f"31-histogram-{width}-{scheme}")
        assert violations(page) == []
        fits(page)
        page.click("#acts button:has-text('as a table')")
        page.wait_for_selector("dialog tbody tr")
        picture(page, f"32-table-{width}-{scheme}")
        assert violations(page) == []
        page.keyboard.press("Escape")
        page.select_option("#graph", "voyages")
        ask(page, "voyages")
        unfold(page)
        page.locator("#facets").scroll_into_view_if_needed()
        picture(page, f"33-line-{width}-{scheme}")
        assert violations(page) == []
        assert not seen.troubles


@pytest.mark.data
def test_a_table_of_250(open_page, served, real_graph, picture):
    with served({"hetionet": Graph.open(real_graph("hetionet").path)}) as server:
        page, seen = open_page(server.address, width=1440, height=900)
        page.set_default_timeout(60_000)
        ask(page, "Which compounds treat a disease that is associated with both PTGS2 and TNF?")
        page.click("#acts button:text('All 250 as a table')")
        shown = []
        for last in (50, 100, 150, 200, 250):
            page.wait_for_selector(f"dialog [role=status]:has-text('to {last} of 250')")
            shown += page.locator("dialog tbody th").all_inner_texts()
            if last < 250:
                page.click("dialog button:text('Next')")
        picture(page, "34-table-of-250")
        assert len(shown) == len(set(shown)) == 250
        assert page.locator("dialog button:text('Next')").is_disabled()
        assert not seen.troubles
