"""A browser, and graphs behind the page's server."""

import os
import time
from functools import partial
from pathlib import Path

import pytest

from browsing import CHROMIUM, FLAGS, QUIET, Seen, is_own
from orienteer.graph import Graph
from orienteer.ingest import build_graph, import_graph
from orienteer.llm import ScriptedModel

DEMO = Path(__file__).parents[2] / "src" / "orienteer" / "ingest" / "demo"


@pytest.fixture(scope="module")  # no longer: it keeps an event loop, beside which other tests could run none
def playwright():
    """The way to browsers; skips, saying so, where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: see CONTRIBUTING.md")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: see CONTRIBUTING.md")
    with sync_api.sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright):
    started = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *QUIET])
    yield started
    started.close()


@pytest.fixture
def open_page(browser):
    """Return a function that opens an address in a window of its own, and what the page did beside what it shows."""
    contexts = []

    def opened(address, width=1280, height=800, **options):
        context = (options.pop("of", None) or browser).new_context(
            viewport={"width": width, "height": height}, locale=options.pop("locale", "en-GB"), **options
        )
        contexts.append(context)
        page, seen = context.new_page(), Seen([], [])
        page.set_default_timeout(20_000)
        page.on("console", lambda told: seen.troubles.append(told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: seen.troubles.append(str(error)))
        home = address.partition("#")[0]
        page.on("request", lambda sent: None if is_own(sent.url, home) else seen.elsewhere.append(sent.url))
        page.goto(address)
        return page, seen

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def picture(request, tmp_path):
    """Return a function that takes a picture of a page: into ORIENTEER_PICTURES where it is set, to be looked at."""
    folder = Path(os.environ.get("ORIENTEER_PICTURES", tmp_path))

    def taken(page, name):
        path = folder / f"{name}.png"
        page.screenshot(path=path)
        return path

    return taken


@pytest.fixture(scope="session")
def languages(tmp_path_factory):
    """The graph of the demo."""
    path = tmp_path_factory.mktemp("page") / "languages"
    import_graph([DEMO], path)
    return Graph.open(path)


@pytest.fixture(scope="session")
def notes(tmp_path_factory):
    """A graph of two documents and a picture that is not read."""
    folder = tmp_path_factory.mktemp("notes")
    (folder / "payroll.md").write_text(
        "# Payroll\n\n## Records\n\nPayroll records are kept for seven years, then they are shredded. "
        "Nobody may copy them.\n\n## Days\n\nWages are paid on the last working day of each month.\n"
    )
    (folder / "travel.md").write_text("# Travel\n\n## Trains\n\nStaff travel by train, second class.\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n")
    path = tmp_path_factory.mktemp("made") / "notes"
    build_graph([folder], path)
    return Graph.open(path)


@pytest.fixture
def served(tmp_path):
    """Return a function that serves graphs, and keeps what thumbs tell in a file."""
    pytest.importorskip("fastapi", reason="needs the extra serve")
    from page_server import served as served_with

    return partial(served_with, feedback=tmp_path / "feedback.jsonl")


@pytest.fixture
def server(served, languages):
    with served({"languages": languages}) as started:
        yield started


def _turn(messages, tools):
    """Search, look around, choose and end, then answer with a citation, as `ark` asks for it."""
    turns = sum(message.role == "assistant" for message in messages)
    if not tools:
        return "Niklaus Wirth designed Pascal [language:pascal]."
    return [
        [("search_in_graph", {"query": "Niklaus Wirth"})],
        [("search_in_neighborhood", {"node": "person:niklaus-wirth", "query": "language"})],
        [("add_to_answer", {"nodes": ["language:pascal", "language:modula-2"], "reasoning": "he designed them"})],
        [("finish", {})],
    ][min(turns, 3)]


@pytest.fixture
def scripted():
    """Return a function that gives a model, which takes so many seconds for each call."""

    def made(seconds=0.0):
        def say(messages, tools, sampling):
            time.sleep(seconds)
            return _turn(messages, tools)

        return ScriptedModel(say)

    return made
