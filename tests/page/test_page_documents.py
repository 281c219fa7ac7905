"""The document in the right half of the page: opened at its place, with its outline, as text or as pages of a PDF."""

from pathlib import Path

import pytest

import office_files as office
from orienteer.graph import Graph
from orienteer.ingest import build_graph

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]
AXE = Path(__file__).parents[2] / "page" / "node_modules" / "axe-core" / "axe.min.js"
LOOKS = {
    "light": {"width": 1440, "height": 900, "color_scheme": "light"},
    "dark": {"width": 1440, "height": 900, "color_scheme": "dark"},
    "phone": {"width": 400, "height": 800, "color_scheme": "light"},
    "phone-dark": {"width": 400, "height": 800, "color_scheme": "dark"},
}
FILLING = "Whoever reads this far learns that patience is a part of the work, too. " * 25
HANDBOOK = f"""# Handbook

## Pay

Wages **are paid** on the last working day, see [the bank](https://bank.example/a) or [travel](travel.md).

1. The ledger is closed.
2. The bank is told:
   - by letter
   - by `wire --now`

| Grade | Wage |
|---|--:|
| Porter | 1,200 |
| Clerk | 1,900 |

> Nobody is paid in kind.

```python
def pay(when):
    return "<b>when</b>"
```

<img src=x onerror="window.pwned = 1"> and <script>window.pwned = 2</script> stay words.

### Overtime

Overtime is paid twice. {FILLING}

## Travel

Staff travel by train, second class. {FILLING}

### Hotels

Hotels are booked by the porter. {FILLING}
"""
WAGES = "On which day are wages paid?"
FILTER = "How often is the filter changed?"


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    """A graph of a handbook in Markdown, a manual as PDF, a web page, a mail and a long list."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "handbook.md").write_text(HANDBOOK)
    first = office.text_at(72, 700, "Safety", size=20) + office.text_at(
        72, 660, "Switch the pump off before you open it."
    )
    lines = ["The filter is changed", "every six months by the team.", "Seals are checked each spring."]
    second = office.text_at(72, 700, "Maintenance", size=20)
    second += "".join(office.text_at(72, 660 - 16 * at, line) for at, line in enumerate(lines))
    office.drawn_pdf(folder / "manual.pdf", first, second, office.text_at(72, 700, "Notes"), title="Pump manual")
    (folder / "page.html").write_text("<h1>Roof</h1><p>The roof is <b>mended</b> by Orla Quint.</p><script>x</script>")
    (folder / "mail.eml").write_text("From: a@b.example\nSubject: Keys\n\nThe spare keys hang in the boathouse.\n")
    years = "".join(
        f"## Year {1800 + n}\n\nIn {1800 + n} the harvest brought {n} sacks. {FILLING[:900]}\n\n" for n in range(60)
    )
    (folder / "harvest.md").write_text(f"# Harvests\n\n{years}")
    path = tmp_path_factory.mktemp("made") / "papers"
    build_graph([folder], path)
    return Graph.open(path)


@pytest.fixture
def papers_server(papers, served):
    with served({"papers": papers}) as started:
        yield started


@pytest.fixture
def asked(open_page, papers_server):
    """Return a function that asks a question and waits for its document."""

    def ask(question, **look):
        page, seen = open_page(papers_server.address, **{**LOOKS["light"], **look})
        page.wait_for_selector(".about")
        again(page, question)
        return page, seen

    return ask


def again(page, question):
    page.fill("#question", question)
    page.keyboard.press("Enter")
    page.wait_for_selector("#acts:not([hidden])")
    page.wait_for_selector("#document .here, #document canvas", state="attached")


def until(page, claim):
    """Wait until some JavaScript is true. The page forbids what playwright's own waiting does: it evaluates texts."""
    for _ in range(200):
        if page.evaluate(claim):
            return
        page.wait_for_timeout(100)
    raise AssertionError(claim)


def in_sight(page, selector):
    """Whether an element lies within the part of the document that is seen."""
    return page.evaluate(
        """selector => { const box = document.querySelector(selector).getBoundingClientRect(),
        around = document.querySelector("#document").getBoundingClientRect();
        return box.top >= around.top - 1 && box.bottom <= around.bottom + 1; }""",
        selector,
    )


def test_the_document_is_opened_at_the_best_passage(asked):
    page, seen = asked(WAGES)
    assert page.is_hidden("#picture")
    assert page.inner_text("#document h2") == "handbook.md"
    here = page.locator("#document .here")
    assert here.count() == 1
    quoted = "".join(page.locator("#document mark.quoted").all_inner_texts())
    assert quoted.startswith("Wages are paid on the last working day")
    assert {"Wages", "paid"} <= {word.strip() for word in page.locator("mark.word").all_inner_texts()}
    assert page.evaluate("document.activeElement.id") == "question"  # nobody asked to be led away
    assert in_sight(page, "mark.quoted")
    assert not seen.troubles


def test_the_nearest_passage_is_no_quotation(asked):
    page, seen = asked("How many sacks did the harvest of 1830 bring?")
    assert "nothing here says this plainly" in page.inner_text("#reading")
    assert "1830" in page.inner_text("#document .here")
    assert page.locator("mark.word").count()
    assert not page.locator("mark.quoted").count()
    assert not seen.troubles


def test_it_is_set_as_its_source_says(asked):
    page, seen = asked(WAGES)
    here = page.locator("#document")
    assert "are paid" in "".join(here.locator("strong").all_inner_texts())
    assert here.locator("ol > li").nth(0).inner_text() == "The ledger is closed."
    assert here.locator("ol > li ul > li").all_inner_texts() == ["by letter", "by wire --now"]
    assert here.locator("li code").inner_text() == "wire --now"
    assert here.locator("pre code").inner_text() == 'def pay(when):\n    return "<b>when</b>"'
    assert here.locator("blockquote").inner_text() == "Nobody is paid in kind."
    assert here.locator("th").all_inner_texts() == ["Grade", "Wage"]
    assert here.locator("tbody tr").nth(1).locator("td").all_inner_texts() == ["Clerk", "1,900"]
    assert here.locator(".address").all_inner_texts() == [" ⟨https://bank.example/a⟩", " ⟨travel.md⟩"]
    assert not here.locator("a, img, script, b").count()
    assert page.evaluate("window.pwned") is None
    assert not seen.troubles
    assert not seen.elsewhere


def test_the_outline_leads_to_headings(asked):
    page, seen = asked(WAGES)
    outline = page.locator("#document .outline nav")
    tops = outline.locator("xpath=./ul/li")
    assert [top.locator("button").nth(0).inner_text() for top in tops.all()] == ["Pay", "Travel"]
    assert tops.nth(0).locator("ul button").all_inner_texts() == ["Overtime"]
    outline.get_by_role("button", name="Hotels").focus()
    page.keyboard.press("Enter")
    until(page, "document.activeElement.textContent === 'Hotels'")
    assert page.evaluate("document.activeElement.localName") == "h4"
    assert in_sight(page, "[data-place]:focus-within h4")
    assert outline.locator("[aria-current]").inner_text() == "Hotels"
    assert not seen.troubles


def test_the_graph_is_one_button_away(asked):
    page, seen = asked(WAGES)
    page.click("#document >> text=Show the graph")
    assert page.is_hidden("#document")
    page.wait_for_selector("#canvas[data-settled]", state="attached")
    page.click("#reopen")
    assert page.is_visible("#document .here")
    page.keyboard.press("Escape")
    assert page.is_hidden("#document")
    assert not seen.troubles


def test_a_citation_opens_at_its_place_and_back_leads_back(asked, open_page):
    page, seen = asked(WAGES)
    home = page.url
    page.click("#document >> text=Show the graph")
    page.click("#answer .cite")
    page.wait_for_selector("#document mark.quoted")
    until(page, "location.hash.includes('doc=')")
    assert page.evaluate("document.activeElement.id") == "document"
    link = page.url
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "cite"  # the focus is where it was
    again(page, FILTER)
    page.go_back()  # to the document as it was closed
    page.go_back()
    page.wait_for_selector("#document mark.quoted")
    assert page.url == link
    page.go_back()
    until(page, f"location.href === {home!r}")
    assert not seen.troubles
    other, others = open_page(link)
    other.wait_for_selector("#document mark.quoted")
    assert other.input_value("#question") == WAGES
    assert "".join(other.locator("mark.quoted").all_inner_texts()).startswith("Wages are paid")
    assert other.url == link
    assert not others.troubles


def test_a_link_may_hold_a_place_alone(open_page, papers_server):
    page, seen = open_page(f"{papers_server.address}/#graph=papers&doc=mail.eml")
    page.wait_for_selector("#document .part")
    assert "boathouse" in page.inner_text("#document")
    lost, _ = open_page(f"{papers_server.address}/#graph=papers&doc=../../etc/passwd&at=0-9")
    lost.wait_for_selector("#document .refusal")
    assert "No node" in lost.inner_text("#document .refusal")
    assert not seen.troubles


def test_a_long_document_comes_in_parts(asked):
    page, seen = asked("What did the harvest bring in 1830?")
    assert page.inner_text("#document h2") == "harvest.md"
    parts = page.locator("#document .part")
    assert parts.count() == 20
    assert in_sight(page, "mark.quoted")
    later = page.locator("#document .more").last
    assert "passages after" in later.inner_text()
    later.click()
    until(page, "document.querySelectorAll('#document .part').length === 40")
    page.locator("#document .more").first.click()
    until(page, "document.querySelectorAll('#document .part').length > 40")
    places = page.eval_on_selector_all("#document .part", "parts => parts.map(part => Number(part.dataset.place))")
    assert places == list(range(places[0], places[0] + len(places)))
    page.click(".outline button:text-is('Year 1859')")
    until(page, "document.activeElement.textContent === 'Year 1859'")
    assert not seen.troubles


def test_a_page_of_a_pdf_is_a_picture_with_its_mark(asked):
    pytest.importorskip("pypdfium2", reason="needs the extra docs")
    page, seen = asked(FILTER)
    page.wait_for_selector("#document .box")
    canvas = page.locator("#document canvas")
    assert canvas.get_attribute("aria-label") == "page 2 of 3, manual.pdf"
    assert page.locator("#document .box").count() == 2  # the sentence stands on two lines
    dark = page.evaluate(
        """() => { const canvas = document.querySelector("#document canvas"), seen = canvas.getContext("2d"),
        box = document.querySelector("#document .box").style,
        of = (text, all) => Math.round(parseFloat(text) * all / 100),
        data = seen.getImageData(of(box.left, canvas.width), of(box.top, canvas.height),
            of(box.width, canvas.width), of(box.height, canvas.height)).data;
        return data.filter((value, at) => at % 4 === 0 && value < 128).length; }"""
    )
    assert dark > 50  # the mark lies on words
    page.get_by_role("button", name="Page after").click()
    page.wait_for_selector("canvas[aria-label^='page 3 of 3']")
    assert page.get_by_role("button", name="Page after").is_disabled()
    assert not page.locator("#document .box").count()
    page.get_by_role("button", name="Page before").click()
    page.wait_for_selector("canvas[aria-label^='page 2 of 3']")
    page.click("#as-text")
    assert "".join(page.locator("mark.quoted").all_inner_texts()).startswith("The filter is changed")
    page.click("#as-text")
    page.wait_for_selector("#document canvas")
    assert not seen.troubles
    assert not seen.elsewhere


def test_a_picture_is_asked_for_with_the_key(open_page, papers, served):
    pytest.importorskip("pypdfium2", reason="needs the extra docs")
    key = "k" * 40
    with served({"papers": papers}, key=key) as server:
        page, seen = open_page(server.address)
        page.fill("#key", key)
        page.keyboard.press("Enter")
        page.wait_for_selector(".about")
        again(page, FILTER)
        page.wait_for_selector("#document .box")
        assert [trouble for trouble in seen.troubles if "401" not in trouble] == []


def test_a_pdf_that_is_gone_is_shown_as_text(open_page, served, tmp_path):
    (tmp_path / "papers").mkdir()
    office.pdf(tmp_path / "papers" / "manual.pdf", "The filter is changed every six months.", title="Manual")
    build_graph([tmp_path / "papers"], tmp_path / "graph")
    (tmp_path / "papers" / "manual.pdf").unlink()
    with served({"papers": Graph.open(tmp_path / "graph")}) as server:
        page, seen = open_page(server.address)
        page.wait_for_selector(".about")
        again(page, FILTER)
        page.wait_for_selector("#document mark.quoted")
        assert "manual.pdf is gone, or has changed since it was read" in page.inner_text("#document .refusal")
        assert page.locator("#as-text").count() == 0
        assert not seen.troubles


@pytest.mark.parametrize("look", LOOKS)
def test_how_it_looks(asked, picture, look):
    page, seen = asked(WAGES, **LOOKS[look])

    def looked_at(name):
        if page.is_visible("#tab-seeing"):
            page.click("#tab-seeing")
            assert page.inner_text("#tab-seeing") == "Document"
        page.wait_for_timeout(200)
        picture(page, f"{name}-{look}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
        if AXE.is_file():
            page.evaluate(AXE.read_text())
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            assert [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in found] == []
        if page.is_visible("#tab-asking"):
            page.click("#tab-asking")

    looked_at("20-document")
    again(page, FILTER)
    page.wait_for_selector("#document .box", state="attached")
    looked_at("21-page")
    assert not seen.troubles


def test_on_a_phone_the_place_is_in_sight_and_the_outline_is_folded(asked):
    page, _ = asked("What did the harvest bring in 1830?", **LOOKS["phone"])
    page.click("#tab-seeing")
    assert page.get_attribute(".outline", "open") is None
    assert in_sight(page, "mark.quoted")
