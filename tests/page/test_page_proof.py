"""The picture of a proof: every edge of it drawn, every node named, in its variable's column; the walk replayed."""

import random
import re
from collections import defaultdict
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from orienteer import Graph, Retriever
from orienteer.errors import BadOption

pytestmark = pytest.mark.browser

GRAPHS = ("languages", "hetionet", "wordnet30")
READINGS = 20  # of each graph
SHOWN = 20  # hits of the page
LEGS = "Which people designed a language influenced by both Erlang and Ruby?"


class Leg(NamedTuple):
    """One edge that a reading asks for, and what is at its end: a name, or a kind with legs of its own."""

    edge: str
    way: str
    name: str | None
    kind: str
    legs: tuple["Leg", ...]

    @property
    def text(self) -> str:
        arrow = f"-{self.edge}->" if self.way == "out" else f"<-{self.edge}-"
        return f'{arrow} "{self.name}"' if self.name else f"{arrow} ({said(self.kind, self.legs)})"


def said(kind, legs):
    return f"{kind} that {' and '.join(leg.text for leg in legs)}" if legs else kind


class Walks:
    """Random readings that have answers: they are made along edges that are there."""

    def __init__(self, graph, seed):
        self.chance, self.graph = random.Random(seed), graph
        self.ids = graph.arrays.ids

    def reading(self):
        """Return a kind with legs; None from a node without edges."""
        start = self.graph.node(self.ids[self.chance.randrange(len(self.ids))])
        legs = self.legs(start.id, 2)
        return (start.type, legs) if legs else None

    def legs(self, node, depth):
        edges = [
            (edge.type, "out" if edge.source == node else "in", hit)
            for hit in self.graph.neighbors(node, k=40).hits
            for edge in hit.edges
            if edge.source != edge.target and '"' not in hit.id
        ]
        chosen = self.chance.sample(edges, min(len(edges), self.chance.choice((1, 2, 2, 3))))
        legs = {}
        for edge, way, hit in chosen:
            inner = self.legs(hit.id, depth - 1) if depth > 1 and self.chance.random() < 0.6 else ()
            leg = Leg(edge, way, None if inner else hit.id, self.graph.node(hit.id).type, inner)
            legs[leg.text] = leg
        return tuple(legs.values())


class Drawn(NamedTuple):
    """What a picture holds."""

    columns: dict[str, int]
    names: dict[str, str]
    edges: set[tuple[str, str, str]]

    def meets(self, node, legs, column_of, parts):
        """Return whether drawn edges lead from a node as the legs ask; note the columns of what they lead to."""
        return all([any([self.leads(node, leg, far, column_of, parts) for far in self.columns]) for leg in legs])

    def leads(self, node, leg, far, column_of, parts):
        edge = (node, leg.edge, far) if leg.way == "out" else (far, leg.edge, node)
        if edge not in self.edges or (leg.name and far != leg.name):
            return False
        if not self.meets(far, leg.legs, column_of, parts):
            return False
        parts[far].add(column_of[leg])
        return True


def drawn(page):
    marks = page.locator(".layers .mark:not(.more)").evaluate_all(
        "marks => marks.map(m => [m.dataset.id, Number(m.dataset.column), m.querySelector('title').textContent])"
    )
    lines = page.locator(".layers .line").evaluate_all("lines => lines.flatMap(line => JSON.parse(line.dataset.edges))")
    return Drawn(
        {node: column for node, column, _ in marks},
        {node: title for node, _, title in marks},
        {tuple(edge) for edge in lines},
    )


def unfolded(page):
    """Open what stands for the rest of long columns."""
    while page.locator(".layers .more:has-text('+')").count():
        page.locator(".layers .more:has-text('+')").first.click()


def columns_of(legs):
    """Return the column of each leg's end: variables in their order, names last."""
    inner = []

    def walk(some):
        for leg in some:
            if leg.name is None:
                inner.append(leg)
                walk(leg.legs)
            else:
                names.append(leg)

    names = []
    walk(legs)
    return {leg: place for place, leg in enumerate(dict.fromkeys(inner), 1)} | dict.fromkeys(names, len(set(inner)) + 1)


def in_their_columns(columns, parts, found):
    """Check that each column is that of one variable, in the order of the reading; return how many nodes tell.

    A node with several parts stands in one of them; an answer stands with the answers. A column without nodes is none.
    """
    single = {node: min(own) for node, own in parts.items() if len(own) == 1 and node not in found}
    variables = {columns[node]: variable for node, variable in single.items()}
    assert all(variables[columns[node]] == variable for node, variable in single.items())
    assert sorted(variables.values()) == [variables[column] for column in sorted(variables)]
    assert len(set(variables.values())) == len(variables)
    for node in parts.keys() - single.keys() - set(found):
        assert columns[node] > 0
        assert variables.get(columns[node], min(parts[node])) in parts[node]
    return len(single)


OVERLAPS = """() => {
  const texts = [...document.querySelectorAll(".layers text")].filter((text) => text.textContent);
  const boxes = texts.map((text) => [text.textContent, text.getBBox()]);
  return boxes.flatMap(([one, a], place) => boxes.slice(place + 1).filter(([, b]) =>
    Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 1 &&
    Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 3
  ).map(([other]) => [one, other]));
}"""


def shown(page, address, graph, **asked):
    """Ask by a link, and wait for the picture."""
    page.goto("about:blank")
    page.goto(f"{address}#{urlencode({'graph': graph, **asked})}")
    page.wait_for_selector("#canvas[data-settled]", state="attached")
    page.wait_for_selector("#acts:not([hidden])", state="attached")


@pytest.fixture(scope="module")
def proved(real_graph, languages):
    graphs = {"languages": languages}
    return graphs | {name: Graph.open(real_graph(name).path) for name in GRAPHS[1:]}


@pytest.mark.thorough
@pytest.mark.timeout(900, func_only=True)  # the import of real graphs takes its own time
def test_every_edge_of_random_readings_is_drawn_between_named_nodes_in_the_columns_of_their_variables(
    open_page, served, proved
):
    hits = edges = nodes = 0
    with served(proved) as server:
        page, seen = open_page("about:blank", width=1440, height=900)
        for place, (name, graph) in enumerate(proved.items()):
            walks, retriever, asked = Walks(graph, place), Retriever(graph, "anchor"), 0
            while asked < READINGS:
                made = walks.reading()
                if made is None:
                    continue
                kind, legs = made
                try:
                    found = [
                        hit.id
                        for hit in retriever.ask("anything", k=SHOWN, reading=said(kind, legs)).hits
                        if hit.complete
                    ]
                except BadOption:  # names and kinds that the line has no way to write
                    continue
                asked += 1
                assert found, said(kind, legs)
                shown(page, server.address, name, q="anything", reading=said(kind, legs))
                unfolded(page)
                picture, column_of = drawn(page), columns_of(legs)
                assert all(picture.names.get(end) for edge in picture.edges for end in (edge[0], edge[2]))
                edges += len(picture.edges)
                parts = defaultdict(set)
                for hit in found:
                    hits += 1
                    assert picture.columns[hit] == 0
                    assert picture.meets(hit, legs, column_of, parts), (said(kind, legs), hit)
                assert parts.keys() | set(found) == picture.columns.keys()
                nodes += in_their_columns(picture.columns, parts, found)
        assert not seen.troubles
    assert hits > 200
    assert edges > 400
    assert nodes > 200


def test_both_legs_are_drawn_in_columns_and_no_label_lies_on_another(open_page, server, picture):
    page, seen = open_page("about:blank", width=1440, height=900)
    shown(page, server.address, "languages", q=LEGS)
    found = drawn(page)
    assert found.columns == {
        **{"person:graydon-hoare": 0, "person:jose-valim": 0, "language:rust": 1, "language:elixir": 1},
        **{"language:erlang": 2, "language:ruby": 2},
    }
    assert {edge for edge in found.edges if edge[0] == "language:rust"} == {
        ("language:rust", "designed_by", "person:graydon-hoare"),
        ("language:rust", "influenced_by", "language:erlang"),
        ("language:rust", "influenced_by", "language:ruby"),
    }
    assert page.locator(".layers .title").all_text_contents() == ["Answers", "language", "named in the question"]
    assert page.locator(".layers .edge").all_text_contents() == ["← designed by", "influenced by →"]
    assert page.evaluate(OVERLAPS) == []
    page.click("#nodes summary")  # the same in words, for who cannot see it
    told = page.inner_text("#nodes .edges")
    assert "Rust influenced by → Erlang" in told
    assert "Rust influenced by → Ruby" in told
    picture(page, "proof-two-legs")
    assert not seen.troubles


@pytest.mark.parametrize("width", [400, 1024, 1440])
@pytest.mark.parametrize("reading", ["language that -influenced_by-> language", "person that <-designed_by- language"])
def test_a_long_column_shows_a_dozen_and_opens(open_page, server, picture, width, reading):
    page, seen = open_page("about:blank", width=width, height=900)
    shown(page, server.address, "languages", q="anything", reading=reading)
    if width == 400:
        page.click("#tab-seeing")
        page.wait_for_timeout(200)
    columns = page.locator(".layers .mark").evaluate_all("marks => marks.map(m => m.dataset.column)")
    assert max(columns.count(one) for one in columns) == 13  # the dozen, and what stands for the rest
    more = page.locator(".layers .more:has-text('+')").first
    count = int(re.search(r"\+ (\d+) more", more.text_content())[1])
    assert page.evaluate(OVERLAPS) == []
    picture(page, f"proof-long-{width}")
    before = page.locator(".layers .mark").count()
    more.click()
    assert page.locator(".layers .mark").count() == before + count  # and one that folds it again
    page.locator(".layers .more:has-text('fewer')").click()
    assert page.locator(".layers .mark").count() == before
    assert not seen.troubles


def test_what_no_edge_shows_is_written_beneath(open_page, server):
    page, _ = open_page("about:blank")
    asked = 'language that not -designed_by-> "Niklaus Wirth" and year >= 2010'
    reading = f"{asked} and -influenced_by-> (language that year < 1990)"
    shown(page, server.address, "languages", q="anything", reading=reading)
    told = page.inner_text("#told")
    assert 'All of them: not designed by → "Niklaus Wirth"' in told
    assert re.search(r"Julia|Elixir|Kotlin|Swift|Rust|TypeScript", told)
    assert re.search(r"year: 20\d\d; \w+: year: 19\d\d", told)  # its own, and of the node that it leads to
    card = page.inner_text("#hits .card >> nth=0")
    assert 'not designed by → "Niklaus Wirth"' in card
    assert re.search(r"year: 20\d\d", card)


def test_nodes_move_freely_once_a_person_adds_some_and_the_edges_among_them_are_drawn(open_page, server, languages):
    page, seen = open_page("about:blank", width=1440, height=900)
    shown(page, server.address, "languages", q=LEGS)
    assert not page.locator("#canvas canvas").count()
    page.click("#hits .path button:text('Rust') >> nth=0")
    page.click(".kinds button:has-text('influenced by →')")
    page.wait_for_selector(".free[data-settled] canvas", state="attached")
    nodes = {
        "person:graydon-hoare",
        "person:jose-valim",
        *(f"language:{one}" for one in ("rust", "elixir", "erlang", "ruby")),
    }
    nodes |= {
        hit.id for hit in languages.neighbors("language:rust", edge_types=["influenced_by"], direction="out", k=25).hits
    }
    around = [edge for node in nodes for hit in languages.neighbors(node, k=200).hits for edge in hit.edges]
    among = {(edge.source, edge.target) for edge in around if {edge.source, edge.target} <= nodes}
    assert len(among) > len(nodes) + 3  # more than lead to the node that was expanded
    page.get_by_text(f"{len(nodes)} nodes, {len(among)} edges").wait_for()
    page.click("#proof")
    assert page.inner_text("#drawn").startswith("6 nodes, 6 edges")
    assert not page.locator("#canvas canvas").count()
    assert not seen.troubles


WALK = ["Erlang, Ruby: 2 language in this proof", "Rust, Elixir: 2 answers"]


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_walk_is_replayed_step_by_step(open_page, server, picture, motion):
    page, seen = open_page("about:blank", width=1440, height=900, reduced_motion=motion)
    shown(page, server.address, "languages", q=LEGS)
    page.click("#steps > summary")
    steps = page.locator("#steps li > span").all_inner_texts()
    assert steps == WALK
    page.click("#replay-start")
    page.wait_for_selector("#replay p:not(:empty)")
    lit = "[...document.querySelectorAll('.layers .mark.on title')].map((title) => title.textContent.split(' · ')[0])"
    assert page.inner_text("#replay p") == f"1 of 2 · {WALK[0]}"
    assert set(page.evaluate(lit)) == {"Erlang", "Ruby", "Rust", "Elixir"}
    assert page.is_disabled("#replay .previous")
    page.click("#replay .next")
    assert page.inner_text("#replay p") == f"2 of 2 · {WALK[1]}"
    assert set(page.evaluate(lit)) == {"Rust", "Elixir", "Graydon Hoare", "José Valim"}
    page.click("#replay .previous")
    assert page.inner_text("#replay p") == f"1 of 2 · {WALK[0]}"
    picture(page, f"proof-replay-{motion}")
    if motion == "reduce":
        assert not page.locator("#replay .player").count()
    else:
        page.click("#replay .player")
        page.get_by_text(f"2 of 2 · {WALK[1]}").wait_for()  # by itself
        assert page.get_attribute("#replay .player", "aria-label") == "Play"  # it has come to its end
    page.click("#replay .closing")
    assert page.inner_text("#drawn").startswith("6 nodes, 6 edges")
    assert page.is_visible("#replay-start")
    assert not seen.troubles


def test_the_walks_of_agents_have_a_column_for_each_step(open_page, languages, scripted, served):
    with served({"languages": languages}, model=scripted()) as server:
        page, seen = open_page(server.address)
        page.wait_for_selector(".tries")
        page.select_option("#method", "ark")
        page.fill("#question", "Which languages did Niklaus Wirth design?")
        page.keyboard.press("Enter")
        page.wait_for_selector("#replay-start:not([hidden])")
        page.click("#replay-start")
        page.wait_for_selector("#replay p:not(:empty)")
        assert "“Niklaus Wirth”: Niklaus Wirth" in page.inner_text("#replay p")
        found = drawn(page)
        assert found.columns["person:niklaus-wirth"] == 0
        assert found.columns["language:pascal"] == 1
        assert ("language:pascal", "designed_by", "person:niklaus-wirth") in found.edges
        assert not seen.troubles


def test_a_path_stands_from_left_to_right(open_page, server):
    page, _ = open_page("about:blank")
    shown(page, server.address, "languages", q="How are Rust and Lisp connected?")
    found = drawn(page)
    assert found.columns["language:rust"] == 0
    assert found.columns["language:lisp"] == 2
    assert len(found.edges) == 2
    assert page.locator("#hits .why").all_inner_texts()[:3] == [
        "named in the question",
        "on the way",
        "named in the question",
    ]
    assert page.inner_text("#found").startswith("3 nodes on the way, ")
    assert page.is_hidden("#replay-start")  # a search for it is no proof


@pytest.mark.parametrize(
    ("asked", "drawn", "told"),
    [
        ({"q": "number of languages per paradigm"}, "", "45 nodes are counted: the first 20 are listed"),
        ({"q": "All languages"}, "", None),
        ({"q": "compare Rust and Go"}, "in common", None),
    ],
    ids=str,
)
def test_nothing_is_drawn_where_nothing_is_joined(open_page, server, asked, drawn, told):
    page, seen = open_page("about:blank", width=1440, height=900)
    page.goto(f"{server.address}#{urlencode({'graph': 'languages', **asked})}")
    page.wait_for_selector("#acts:not([hidden])")
    page.wait_for_selector("#tools:not([hidden])" if drawn else "#blank:text('No edge joins what is listed')")
    assert page.locator(".layers .title").all_text_contents()[:1] == ([drawn] if drawn else [])
    assert bool(page.locator(".layers .mark").count()) == bool(drawn)
    if told:  # what is counted is no answer by itself
        assert page.inner_text("#hits summary") == told
        assert not page.locator("#hits .card").first.is_visible()
        assert not page.locator("#hits .why").count()
        assert page.is_hidden("#found")
    else:
        assert page.inner_text("#found") == ("3 in common" if drawn else "20 answers")
    assert not seen.troubles


def test_types_that_are_shown_together_have_colours_of_their_own(open_page, served, build):
    from orienteer import Edge, Node

    kinds = [f"kind {number:02}" for number in range(12)]
    nodes = [
        Node(f"{kind} {place}", kind, f"salt {kind} {place}")
        for at, kind in enumerate(kinds)
        for place in range(12 - at)
    ]
    joined = [Edge(f"{kind} 0", "joins", "kind 00 1") for kind in kinds]
    with served({"g": build(nodes, joined)}) as server:
        page, _ = open_page(server.address)
        page.wait_for_selector("#schema .type")
        colors = page.locator("#schema .type rect").evaluate_all("all => all.map((one) => one.getAttribute('stroke'))")
        assert len(set(colors)) == len(colors) == 12
        names = page.locator("#schema .type").evaluate_all(
            "all => all.map((one) => one.getAttribute('aria-description'))"
        )
        first = next(color for color, name in zip(colors, names, strict=True) if name.startswith("12 "))
        shown(page, server.address, "g", q="x", reading='anything that -joins-> "kind 00 1"')
        unfolded(page)
        marks = page.locator(".layers .mark[data-id^='kind']")
        types = marks.locator("title").evaluate_all("all => all.map((one) => one.textContent.split(' · ')[1])")
        fills = marks.locator("circle").evaluate_all("all => all.map((one) => one.getAttribute('fill'))")
        told = dict(zip(types, fills, strict=True))
        assert told.keys() == set(kinds)
        assert len(set(told.values())) == 12
        assert told["kind 00"] == first


def test_the_picture_is_saved_as_it_is_seen(open_page, server):
    page, _ = open_page("about:blank")
    shown(page, server.address, "languages", q=LEGS)
    for name, begins in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as download:
            page.click(f"#{name}")
        saved = download.value.path().read_bytes()
        assert saved.startswith(begins)
        if name == "svg":
            assert b"Graydon Hoare" in saved
            assert b"<script" not in saved


def test_hostile_names_and_ids_stay_texts(open_page, served, build):
    from orienteer import Edge, Node

    hostile = '<img src=x onerror="window.pwned=1">\u202e"'
    graph = build([Node("a\x01", "T", hostile), Node("b", hostile, "salt")], [Edge("a\x01", hostile, "b")])
    with served({"g": graph}) as server:
        page, seen = open_page(server.address)
        page.fill("#question", "salt")
        page.keyboard.press("Enter")
        page.wait_for_selector("#canvas[data-settled]", state="attached")
        page.locator(".layers .mark").first.hover()
        assert page.evaluate("window.pwned") is None
        assert not page.locator("#picture img").count()
        assert "\u202e" not in page.locator("#picture").text_content()
        assert "salt" in page.locator("#picture").text_content()
        assert not seen.troubles
