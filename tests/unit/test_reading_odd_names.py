"""Names of a graph with signs or words of the line in them: read in questions, written in backticks, read back."""

import pytest

from orienteer import Graph, Retriever
from orienteer.records import Edge, Node

FIELDS = (
    *("Strength (frames)", "Price (EUR)", "(net)", "a)", "a=b", ">18", "Size <mm>", "Kosten | Jahr", '19" rack', '"x"'),
    *("average score", "list price", "median age", "has children", "most wanted", "number of pages", "count", "not"),
    *("path", "is here", "whether", "itself", "a -> b", "-rate-", "rate [x]", "rate*", "back`tick", "% fat", "km/h"),
)
EDGES = ("made (by)", "a -> b", "-from-", "x [y]", "deep*", "p|q", 'so "called"', "tick`ed", "in")
KIND, OTHER = "count (net)", "list|x"
HEADERS = ("Strength (frames)", "Price (EUR)", "Average score", "Median age", "List price", "Number of pages", "Count")
"""Headers of tables that people bring."""


def enclosed(name):
    return "`" + name.replace("`", "``") + "`"


@pytest.fixture(scope="module")
def odd():
    nodes = [Node(f"g{at}", KIND, f'{at}" "rack"', properties=dict.fromkeys(FIELDS, at + 1)) for at in range(4)]
    nodes += [Node(f"m{at}", OTHER, f"maker (of) {at}") for at in range(2)]
    edges = [Edge(f"g{at}", label, f"m{at % 2}", properties={"since (y)": at}) for at in range(4) for label in EDGES]
    return Retriever(Graph.from_records(nodes, edges), "anchor")


@pytest.mark.parametrize("field", FIELDS)
def test_a_line_names_every_field(odd, field):
    name, kind = enclosed(field), enclosed(KIND)
    for line, said in {
        f"average {name} of {kind}": "2.5",
        f'{name} of {kind} "2"" ""rack"""': "3",
        f"count {kind} that {name} > 1 and not {name} > 3": "2",
        f"count {kind} that has {name}": "4",
        f"count {kind} that {name} > average {name} of {kind}": "2",
        f"least 1 by {name} of {kind}": '0" "rack"',
    }.items():
        answer = odd.ask("x", reading=line)
        assert answer.answer == said, line
        again = odd.ask("x", reading=answer.reading.text)
        assert (again.answer, again.reading.text) == (said, answer.reading.text)
    assert odd.ask("x", reading=f"count {kind} per {name}").table.rows


@pytest.mark.parametrize("label", EDGES)
def test_a_line_names_every_edge(odd, label):
    edge, kind = enclosed(label), enclosed(KIND)
    for line, said in {
        f'count {kind} that -{edge}-> {enclosed(OTHER)} "maker (of) 1"': "2",
        f"count {enclosed(OTHER)} that <-{edge}- {kind}": "2",
        f"count {kind} that -{edge} [`since (y)` > 0]-> {enclosed(OTHER)}": "3",
        f"count {enclosed(OTHER)} that number of <-{edge}- {kind} > 1": "2",
        f'count {kind} that both -{edge}-> and -in-> "maker (of) 0"': "2",
    }.items():
        answer = odd.ask("x", reading=line)
        assert answer.answer == said, line
        again = odd.ask("x", reading=answer.reading.text)
        assert (again.answer, again.reading.text) == (said, answer.reading.text)


@pytest.mark.parametrize("header", HEADERS)
def test_headers_with_units_and_words_of_the_line_are_asked(header):
    rows = [Node(f"h{at}", "hive", f"Hive {at}", properties={header: 2 * at}) for at in range(1, 5)]
    hives = Retriever(Graph.from_records(rows, []), "anchor")
    word = header.casefold().partition(" (")[0]
    assert hives.ask(f"What is the {word} of Hive 3?").answer == "6"
    assert hives.ask(f"Which hive has the highest {word}?").answer == "Hive 4"
    assert hives.ask(f"How many hives have a {word} over 3?").answer == "3"
    assert hives.ask(f"What is the average {word} of hives?").answer == "5"


def test_number_and_year_and_date_behind_a_field_are_no_other_word():
    rows = [
        Node(f"k{at}", "keeper", f"Ann {'ABCD'[at]}", properties={"Phone": f"01 {at}", "Room": at}) for at in range(4)
    ]
    keepers = Retriever(Graph.from_records(rows, []), "anchor")
    assert keepers.ask("What is the phone number of Ann B?").answer == "01 1"
    assert keepers.ask("Which keeper has room number 3?").answer == "Ann D"
    assert keepers.ask("What is the number of keepers?").answer == "4"


def test_lines_of_orders_share_their_names_and_are_counted_together():
    items = [("A1", "Cup", 4), ("A2", "Cup", 2), ("A2", "Teapot", 1), ("A3", "Teapot", 2), ("A3", "Kettle", 1)]
    nodes = [Node(order, "order", order) for order in ("A1", "A2", "A3")]
    nodes += [Node(f"i{at}", "item", name, properties={"quantity": n}) for at, (_, name, n) in enumerate(items)]
    shop = Retriever(
        Graph.from_records(nodes, [Edge(order, "items", f"i{at}") for at, (order, *_) in enumerate(items)])
    )
    assert shop.ask("How many orders have a cup?").answer == "2"
    assert shop.ask("How many orders have a kettle?").answer == "1"
    for question in ("How many cups were ordered?", "How many cups do orders have?"):
        assert shop.ask(question).answer in (None, "6"), question
    assert shop.ask("How many items are there?").answer == "5"
    for question in ("How many different items are there?", "Which item is in the most orders?"):
        refused = shop.ask(question)
        assert refused.answer is None, question
        assert "same name" in refused.refusal.text


def test_a_number_of_two_people_of_one_name_is_told_of_each():
    people = [Node(f"p{at}", "person", name) for at, name in enumerate(("John Oak", "John Oak", *"ABCDEF"))]
    films = [Node(f"f{at}", "film", f"Film {at}") for at in range(3)]
    edges = [Edge("f0", "director", "p0"), Edge("f1", "director", "p0"), Edge("f2", "director", "p1")]
    answer = Retriever(Graph.from_records([*people, *films], edges)).ask("How many films have the director John Oak?")
    assert answer.answer.split("; ") == ["2 by the person p0", "1 by the person p1"]


@pytest.mark.parametrize("kind", ["item", "thing", "node", "one", "object"])
@pytest.mark.parametrize("label", ["has", "{}s"])
def test_a_kind_that_is_called_by_a_wide_word_is_meant_by_it_also_where_an_edge_is_called_so(kind, label):
    nodes = [Node(f"A{at}", "order", f"A{at}") for at in range(3)] + [
        Node(f"i{at}", kind, f"Cup {at}") for at in range(5)
    ]
    graph = Graph.from_records(nodes, [Edge("A1", label.format(kind), f"i{at}") for at in range(2)])
    assert Retriever(graph, "anchor").ask(f"How many {kind}s are there?").answer == "5"


@pytest.mark.parametrize("label", ["players", "player", "plays", "has_players", "in"])
def test_a_kind_is_asked_for_where_the_edges_to_it_are_called_as_several_of_it(label):
    nodes = [Node(f"t{at}", "team", f"Team {at}") for at in range(3)]
    nodes += [Node(name, "player", name) for name in ("Ann", "Ben", "Cid", "Dee")]
    edges = [Edge("t1", label, "Ann"), Edge("t2", label, "Ben"), Edge("t2", label, "Cid")]
    ask = Retriever(Graph.from_records(nodes, edges), "anchor").ask
    assert ask("How many players are there?").answer == "4"
    assert ask("players of Team 2").answer == "Ben, Cid"
    assert ask("Which team has the most players?").answer == "Team 2"
    assert ask("Which players have no team?").answer == "Dee"
    assert ask("How many players does each team have?").answer == "Team 2: 2; Team 1: 1"
