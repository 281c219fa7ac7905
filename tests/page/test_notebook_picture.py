"""The built picture of notebooks in a browser, by anywidget's protocol: nothing from elsewhere, texts stay texts."""

import json

import pytest

from fakes.notebooks import shown
from orienteer import Retriever
from orienteer.ingest import Graph
from orienteer.page import WIDGET
from orienteer.settings import Settings

BUILT = WIDGET
HOME = "http://notebook.test/"
QUESTION = "Which people who received the Turing Award designed a language that influenced Python?"
MARKUP = '<img src=x onerror="window.pwned=1">'
# As strict as notebooks are, and stricter: no worker, no request, no code out of texts.
POLICY = "default-src 'none'; img-src data:; script-src 'self' 'unsafe-inline' blob:; style-src 'unsafe-inline'"
NOTEBOOK = """<!doctype html><meta charset="utf-8"><title>notebook</title>
<style>body{background:%(back)s;color:%(front)s}%(style)s</style>
<body><div style="height:%(above)spx"></div><div id="output"></div><div style="height:2000px"></div>
<script type="module">
  // anywidget imports a module out of a blob, and gives it a model of the notebook's own making.
  const address = URL.createObjectURL(new Blob([%(module)s], { type: "text/javascript" }));
  const { default: widget } = await import(address);
  const listeners = new Set();
  const model = {
    get: (name) => (name === "content" ? %(content)s : undefined),
    on: (event, listener) => listeners.add(listener),
    off: (event, listener) => listeners.delete(listener),
    send: (message) => window.kernel(message).then((reply) => listeners.forEach((listener) => listener(reply))),
  };
  window.end = widget.render({ model, el: document.getElementById("output") });
  window.listeners = listeners;
</script>"""


@pytest.fixture
def notebook_with(browser):
    """Return a function that opens a notebook that holds a widget; what the page did; requests that it sent."""
    contexts = []

    def opened(widget, *, dark=False, above=0, width=1000, **options):
        context = browser.new_context(viewport={"width": width, "height": 1000}, **options)
        contexts.append(context)
        page, troubles, requests = context.new_page(), [], []
        page.on("console", lambda told: troubles.append(told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda sent: requests.append(sent.url))
        page.expose_function("kernel", widget.hear)
        script = json.dumps((BUILT / "widget.js").read_text("utf-8")).replace("</", "<\\/")
        body = NOTEBOOK % {
            "back": "#111" if dark else "#fff",
            "front": "#eee" if dark else "#111",
            "style": (BUILT / "widget.css").read_text("utf-8"),
            "module": script,
            "content": json.dumps(widget.content).replace("</", "<\\/").replace("<!--", "<\\!--"),
            "above": above,
        }
        reply = {"content_type": "text/html", "body": body, "headers": {"Content-Security-Policy": POLICY}}
        page.route(HOME, lambda route: route.fulfill(**reply))
        page.goto(HOME)
        page.wait_for_selector(".notebook")
        return page, troubles, requests

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def asked(languages):
    return Retriever(languages, "anchor", settings=Settings()).ask(QUESTION)


def settled(page):
    page.wait_for_selector(".drawing[data-settled]", timeout=20_000)


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_a_result_is_drawn_and_its_hits_lead_into_the_picture(monkeypatch, notebook_with, asked, picture, dark):
    widget = shown(monkeypatch, asked)
    page, troubles, requests = notebook_with(widget, dark=dark)
    settled(page)
    assert "Dennis Ritchie, John McCarthy" in page.locator(".told").all_inner_texts()
    assert page.locator(".legend").inner_text().split() == ["person", "2", "language", "3", "award", "1"]
    page.get_by_role("button", name="Dennis Ritchie").click()
    assert page.locator(".about h3").inner_text() == "Dennis Ritchie"
    assert [way.strip() for way in page.locator(".about li").all_inner_texts()] == [
        "received → Turing Award",
        "← designed by C",
    ]
    page.get_by_role("button", name="Turing Award", exact=True).click()  # a node that is no hit has its name
    assert page.locator(".about h3").inner_text() == "Turing Award"
    assert page.locator(".notebook").get_attribute("data-theme") == ("dark" if dark else "light")
    page.wait_for_timeout(400)
    picture(page, f"notebook-result-{'dark' if dark else 'light'}")
    assert requests == [HOME]
    assert not troubles


@pytest.mark.browser
def test_a_node_that_is_clicked_shows_its_card_and_the_kernel_gives_its_neighbours(
    monkeypatch, notebook_with, asked, languages, picture
):
    widget = shown(monkeypatch, asked)
    page, troubles, _ = notebook_with(widget)
    settled(page)
    click_a_node(page)
    node = page.locator(".about code").inner_text()
    before = int(page.locator(".legend .dim").first.inner_text())
    page.get_by_role("button", name="Show neighbours").click()
    total = languages.neighbors(node).total
    told = f"all {total} neighbours are shown" if total <= 20 else f"More neighbours (20 of {total})"
    page.get_by_text(told).wait_for()
    assert before < sum(map(int, page.locator(".legend .dim").all_inner_texts()))
    page.wait_for_timeout(1500)
    picture(page, "notebook-grown")
    page.mouse.click(*middle_of(page, ".drawing", 0.02, 0.97))  # nothing is there
    page.locator(".about").wait_for(state="hidden")
    assert not troubles


def click_a_node(page):
    """Move over the picture until the pointer is over a node, and click it."""
    is_over = "document.querySelector('.drawing').style.cursor === 'pointer'"
    for down in range(10, 95, 2):
        for across in range(15, 95, 2):
            at = middle_of(page, ".drawing", across / 100, down / 100)
            page.mouse.move(*at)
            if page.evaluate(is_over):
                page.mouse.click(*at)
                page.locator(".about").wait_for()
                return
    raise AssertionError("no node was met")


def middle_of(page, selector, across, down):
    box = page.locator(selector).bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


@pytest.mark.browser
def test_without_its_graph_no_neighbours_are_offered(monkeypatch, notebook_with, asked):
    read_again = type(asked).model_validate_json(asked.model_dump_json())
    page, troubles, _ = notebook_with(shown(monkeypatch, read_again))
    settled(page)
    page.get_by_role("button", name="Dennis Ritchie").click()
    assert page.locator(".about h3").inner_text() == "Dennis Ritchie"
    assert not page.get_by_role("button", name="Show neighbours").count()
    assert not troubles


@pytest.mark.browser
def test_a_graph_and_a_schema_are_drawn(monkeypatch, notebook_with, languages, picture):
    for thing, name in ((Graph.open(languages.path), "graph"), (languages.schema, "schema")):
        page, troubles, requests = notebook_with(shown(monkeypatch, thing))
        settled(page)
        assert page.locator("td", has_text="supports").count() == 1
        assert not page.locator(".legend li").count()  # each node is a type of its own
        page.wait_for_timeout(800)
        picture(page, f"notebook-{name}")
        assert requests == [HOME]
        assert not troubles


@pytest.mark.browser
def test_hostile_texts_stay_texts(monkeypatch, notebook_with, build, picture):
    from orienteer import Edge, Node

    graph = build(
        [
            Node("a", MARKUP, f"{MARKUP} salt", f"<script>window.pwned=2</script> {MARKUP}"),
            Node(MARKUP, "T", "\u202eevil"),
        ],
        [Edge("a", f'"><svg onload=window.pwned=3> {MARKUP}', MARKUP)],
    )
    hit = asked_of(graph, "a")
    for thing in (hit, graph.schema):
        page, troubles, requests = notebook_with(shown(monkeypatch, thing))
        settled(page)
        if page.locator("td button").count():
            page.locator("td button").click()
            page.locator(".about").wait_for()
        page.wait_for_timeout(300)
        assert page.evaluate("window.pwned") is None
        assert not page.locator("#output img, #output svg:not(.layers > svg), #output script").count()
        assert MARKUP in page.locator("#output").inner_text()
        assert "\u202e" not in page.locator("#output").inner_text()
        assert requests == [HOME]
        assert not troubles
    picture(page, "notebook-hostile")


def asked_of(graph, node):
    """Return a result whose hit has all the edges of a node."""
    from orienteer.records import Result
    from orienteer.serve import neighbors_page

    hits = neighbors_page(graph, node).hits
    return Result(question=MARKUP, method="m", answer=MARKUP, hits=hits, notes=(MARKUP,))


@pytest.mark.browser
def test_a_picture_out_of_sight_costs_nothing_and_comes_back(monkeypatch, notebook_with, asked):
    page, troubles, _ = notebook_with(shown(monkeypatch, asked), above=3000)
    assert not page.locator(".drawing svg").count()
    page.locator(".drawing").scroll_into_view_if_needed()
    settled(page)
    assert page.locator(".drawing svg").count()
    page.evaluate("window.scrollTo(0, 0)")
    page.locator(".drawing svg").first.wait_for(state="detached")
    page.evaluate("window.end()")
    assert not page.locator("#output *").count()
    assert page.evaluate("window.listeners.size") == 0
    assert not troubles


@pytest.mark.browser
def test_the_wheel_scrolls_the_notebook_until_the_picture_is_clicked(monkeypatch, notebook_with, languages):
    page, _, _ = notebook_with(shown(monkeypatch, languages.schema))  # nodes move freely: it can be zoomed
    settled(page)
    page.mouse.move(*middle_of(page, ".drawing", 0.5, 0.5))
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(500)
    assert page.evaluate("window.scrollY") > 100
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(300)
    page.mouse.click(*middle_of(page, ".drawing", 0.02, 0.95))
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(500)
    assert page.evaluate("window.scrollY") == 0
