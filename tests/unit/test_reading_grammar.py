"""The grammar of a question's line says what the parser reads, of this graph, with what the question names."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gbnf import Gbnf
from orienteer import Graph, Retriever
from orienteer.errors import BadOption, UnknownNode
from orienteer.ingest import ImportOptions, demo_records, import_graph
from orienteer.llm import ChatRequest, body_of
from orienteer.reading import parse_reading_line
from orienteer.records import Edge, Manner, Message, Node, Reply, Usage

GRAMMAR = "x-grammar"  # the keyword of a JSON schema
WALKS = 150  # of each question
TOO_LARGE = re.compile(r"^a reading .* is too (deep|long)")  # all that the parser refuses of the grammar


class Held:
    """A model whose engine takes a grammar; it replies with one line, and keeps what it was held to."""

    name, price = "held", None

    def __init__(self, line: str | None = None, *, keeps_grammar: bool = True) -> None:
        self._line = line
        self.manner = Manner(keeps_schema=True, keeps_grammar=keeps_grammar)
        self.schemas: list[Any] = []

    def chat(self, messages: Sequence[Message], *, schema: Any = None, **more: Any) -> Reply:
        self.schemas.append(schema)
        content = json.dumps({"line": self._line, "unread": []})
        return Reply(message=Message(role="assistant", content=content), usage=Usage(calls=1))


def grammar(graph: Graph, question: str) -> Gbnf:
    model = Held()
    Retriever(graph, method="reader", model=model, check="always").ask(question)
    return Gbnf(model.schemas[0][GRAMMAR])


def fault_of(line: str, graph: Graph) -> str | None:
    try:
        parse_reading_line(line, graph)
    except (BadOption, UnknownNode) as error:
        return str(error)
    return None


def accepts(rules: Gbnf, line: str | None, *unread: str) -> bool:
    return rules.matches(json.dumps({"line": line, "unread": unread}, ensure_ascii=False))


@pytest.fixture(scope="module")
def demo() -> Graph:
    return Graph.from_records(*demo_records())


@pytest.fixture(scope="module")
def rowing() -> Graph:
    """A graph with dates, units, edges of one kind with itself, and edges with properties of their own."""
    clubs = [
        Node(f"c{n}", "club", name, properties={"founded_on": day, "fee_gbp": fee, "is_open": is_open, "water": water})
        for n, (name, day, fee, is_open, water) in enumerate(
            (
                ("Anchor", "1901-05-02", 120, "yes", "river"),
                ("Otter", "1950-01-09", 80, "no", "lake"),
                ("Kite", "1977-11-30", 95, "yes", "river"),
                ("Plough", "1988-03-01", 60, "no", "lake"),
            )
        )
    ]
    people = [
        *(Node(f"h{n}", "boat", "Heron") for n in range(6)),  # too many for the ends of a path
        *(Node(f"k{n}", "boat", "Kite") for n in range(2)),
    ]
    people += [
        Node(f"p{n}", "person", name, properties={"born": born}, text=f"rows at dawn {n}")
        for n, (name, born) in enumerate((("Ann Peel", 1930), ("Bill Stokoe", 1941), ("Joe Marsh", 1975)))
    ]
    edges = [
        Edge(f"p{n}", "member_of", f"c{club}", properties={"since": since, "role": role})
        for n, club, since, role in ((0, 0, 1950, "cox"), (1, 1, 1960, "bow"), (2, 0, 1995, "cox"), (2, 3, 1999, "bow"))
    ]
    edges += [Edge("p1", "taught", "p2"), Edge("p0", "taught", "p1"), Edge("p0", "founded", "c0")]
    return Graph.from_records([*clubs, *people], edges)


@pytest.fixture(scope="module")
def hostile() -> Graph:
    """A graph whose labels and names have what the line, JSON or a grammar writes otherwise, or uses itself."""
    nodes = [
        *(Node(f"l{n}", "list", name, properties={"number of": n}) for n, name in enumerate(("most", "count"))),
        *(Node(f"q{n}", 'kind "q"', name) for n, name in enumerate(('Say "hi"', "back\\slash"))),
        *(Node(f"s{n}", "a|b", name) for n, name in enumerate(("Zürich-West", "tab\there"))),
        *(
            Node(f"t{n}", "that side", name, properties={"is": n, "of it": "x\ny"})
            for n, name in enumerate(("{0,3}", "::="))
        ),
        *(Node(f"u{n}", "Côté \\ x", name) for n, name in enumerate(("Zürich-West", "山"))),
    ]
    edges = [
        Edge("l0", "leads -> to", "q0"),
        Edge("l0", "in \\ out", "s0"),
        Edge("t0", "and", "t1"),
        Edge("t0", "é|è", "u0"),
    ]
    edges += [Edge("u0", "not", "u1"), Edge("s0", "every", "t0"), Edge("l0", "[since]", "t0")]
    return Graph.from_records(nodes, edges)


ASKED = {
    "demo": (
        "Who designed Erlang, and what was made before 1995?",
        "Which languages were influenced by both Erlang and Ruby?",
        "Which person received the most awards of all?",
    ),
    "rowing": (
        "Who joined Anchor after 1960, or by May 1977, as cox?",
        "Which 3 clubs with more than 2 members ask over 90 pounds, not counting Otter?",
        "Whom did Ann Peel and Bill Stokoe teach before 12 March 1988?",
        "What is between Heron and Kite, and who is from it?",
    ),
    "hostile": (
        'Which list leads to "Say "hi"" and back\\slash, or to Zürich-West?',
        "Which of most, count, {0,3}, ::= and 山 is it?",
        "",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_what_the_grammar_says_the_parser_reads(name: str, request: pytest.FixtureRequest) -> None:
    graph, chance, counts = request.getfixturevalue(name), random.Random(7), Counter[str]()
    for question in filter(None, ASKED[name]):
        rules = grammar(graph, question)
        for _ in range(WALKS):
            reply = json.loads(rules.walk(chance))
            assert reply.keys() == {"line", "unread"}
            assert {word for one in reply["unread"] for word in re.findall(r"\w+", one)} <= set(
                re.findall(r"\w+", question)
            )
            line = json.loads(f'"{rules.walk(chance, "line")}"')
            fault = fault_of(line, graph)
            assert fault is None or TOO_LARGE.search(fault), (line, fault)
            counts["read" if fault is None else "too large"] += 1
    assert counts.total() >= 2 * WALKS
    assert counts["read"] > 50 * counts["too large"], counts


def test_no_form_of_the_parser_is_left_out(rowing: Graph) -> None:
    rules = grammar(rowing, "Who joined Anchor or Otter after 1960?")
    chance = random.Random(1)
    lines = " ".join(rules.walk(chance, "line").replace("\\", "") for _ in range(400))
    words = [
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "list",
        "count",
        "average",
        "median",
        "sum",
        "most",
        "least",
        "every",
        "only",
        "anything",
        "both",
        "has",
        "not",
        "meets",
        "at",
        "per",
    ]
    words += ["whether any", "whether every", "whether most", "share of", "path from", "per itself", "most place"]
    words += ["is between", "contains", "number of edges", "is more than of", "is less than of"]
    for word in words:
        assert f" {word} " in f" {lines} ", word


LINES = (
    ("Whom did Ann Peel teach?", 'person that <-taught- person "Ann Peel"'),
    ("Whom did Ann Peel teach, and those in turn?", 'person that <-taught*- "Ann Peel"'),
    ("Who joined Anchor in 1950 or later?", 'person that -member_of [since >= 1950]-> club "Anchor"'),
    (
        "Who is cox at Anchor and not at Otter?",
        'person that -member_of [role = "cox"]-> "Anchor" and not -member_of-> "Otter"',
    ),
    (
        "Which clubs of the river have at least 2 members?",
        'club that water = "river" and number of <-member_of- person >= 2',
    ),
    ("Which club was founded in May 1977?", "club that founded_on >= 1977-05-01 and founded_on < 1977-06-01"),
    ("How many clubs are open?", 'count club that is_open = "yes"'),
    ("How many members has each club?", "count person per -member_of-> club"),
    ("Average fee by water?", "average fee_gbp of club per water"),
    ("When was Kite founded?", 'founded_on of club "Kite"'),
    ("Does Kite cost more than Otter?", 'whether fee_gbp of "Kite" is more than of "Otter"'),
    ("The 2 dearest clubs", "most 2 by fee_gbp of club"),
    ("Which club is the second oldest?", "least place 2 by founded_on of club"),
    ("Do most members of Anchor teach?", 'whether most person that -member_of-> "Anchor" meets -taught-> person'),
    ("What share of the clubs is closed?", 'share of club meets is_open = "no"'),
    ("How are Ann Peel and Plough connected?", 'path from "Ann Peel" to "Plough"'),
    ("Who teaches only members of Anchor?", 'person that -taught-> only (person that -member_of-> "Anchor")'),
    ("Who both founded and joined a club?", "person that both -founded-> and -member_of-> club"),
    ("Who was born before Joe Marsh?", 'person that born < born of "Joe Marsh"'),
    (
        "Whose club is dearer than the average?",
        "person that -member_of-> (club that fee_gbp > average fee_gbp of club)",
    ),
    ("Clubs called something with ough", 'club that name contains "ough"'),
    ("Who is at Anchor or teaches at dawn?", 'person that (-member_of-> "Anchor" or text contains "dawn")'),
    ("Is there a club with no members?", "whether any club that not <-member_of- person"),
    ("What has anything to do with Anchor?", 'anything that -member_of-> "Anchor"'),
)


@pytest.mark.parametrize(("question", "line"), LINES)
def test_lines_as_people_write_them_are_of_the_grammar(rowing: Graph, question: str, line: str) -> None:
    parse_reading_line(line, rowing)
    assert accepts(grammar(rowing, question), line)


@pytest.fixture(scope="module")
def toy_questions() -> list[str]:
    file = Path(__file__).parents[1] / "toy" / "questions.jsonl"
    return [json.loads(line)["question"] for line in file.read_text(encoding="utf-8").splitlines()]


def test_what_rules_read_is_of_the_grammar(demo: Graph, toy_questions: Sequence[str]) -> None:
    read = {question: Retriever(demo, "anchor").ask(question).reading for question in toy_questions}
    lines = {question: reading.text for question, reading in read.items() if reading is not None and reading.text}
    assert len(lines) > len(read) // 2
    assert [question for question, line in lines.items() if not accepts(grammar(demo, question), line)] == []


def test_only_what_the_question_names_can_be_said(rowing: Graph) -> None:
    rules = grammar(rowing, "Who joined Anchor after 1960?")
    assert accepts(rules, 'person that -member_of [since > 1960]-> "Anchor"')
    assert accepts(rules, None, "Anchor", "joined")
    assert not accepts(rules, 'person that -member_of-> "Otter"')  # a name of the graph alone
    assert not accepts(rules, 'person that -member_of [since > 1970]-> "Anchor"')
    assert not accepts(rules, 'person that -member_of-> person "Anchor"')  # of another kind
    assert not accepts(rules, 'club that -member_of-> "Anchor"')  # the edge turned round
    assert not accepts(rules, None, "elsewhere")
    assert not accepts(rules, "")


def test_only_an_engine_that_takes_a_grammar_is_given_one(rowing: Graph) -> None:
    model = Held(keeps_grammar=False)
    Retriever(rowing, method="reader", model=model, check="always").ask("Who joined Anchor?")
    with_grammar = Held()
    Retriever(rowing, method="reader", model=with_grammar, check="always").ask("Who joined Anchor?")
    assert GRAMMAR not in model.schemas[0]
    assert model.schemas[0] | {GRAMMAR: with_grammar.schemas[0][GRAMMAR]} == with_grammar.schemas[0]


@pytest.mark.parametrize("keeps_grammar", [True, False])
def test_what_a_grammar_held_is_believed_only_if_it_says_most_of_the_question(
    rowing: Graph, keeps_grammar: bool
) -> None:
    question, line = "Whose granny rowed from Anchor across the foggy water?", 'person that -member_of-> "Anchor"'
    model = Held(line, keeps_grammar=keeps_grammar)
    result = Retriever(rowing, method="reader", model=model).ask(question)
    if keeps_grammar:
        assert result.answer is None
        assert result.refusal is not None
        assert {"granny", "foggy"} <= set(result.refusal.words)
        assert line in result.refusal.text
    else:
        assert result.answer == "Ann Peel, Joe Marsh"
    near = Retriever(rowing, method="reader", model=model).ask("Any person that is somehow a member of Anchor")
    assert near.reading is not None
    assert (near.answer, near.reading.by) == ("Ann Peel, Joe Marsh", "model")


@pytest.mark.parametrize("keeps_grammar", [True, False])
def test_what_a_grammar_held_must_say_each_name_and_number(rowing: Graph, keeps_grammar: bool) -> None:
    """A small model sends the line again that was sent back: that it means it so shows nothing."""
    line = 'person that -member_of-> "Anchor"'
    model = Held(line, keeps_grammar=keeps_grammar)
    result = Retriever(rowing, method="reader", model=model).ask("Any person that is a member of Anchor some 3 times")
    assert len(model.schemas) == 2
    if keeps_grammar:
        assert result.answer is None
        assert result.refusal is not None
        assert result.refusal.words == ("3",)
        assert line in result.refusal.text
    else:
        assert result.answer == "Ann Peel, Joe Marsh"


def test_a_grammar_goes_out_in_place_of_the_schema_and_never_within_it() -> None:
    schema = {"type": "object", GRAMMAR: 'root ::= "{}"'}
    request = ChatRequest.of("m", [Message(role="user", content="?")], schema=schema)
    body = body_of(request, lacks=frozenset())
    assert body["grammar"] == schema[GRAMMAR]
    assert "response_format" not in body
    in_words = body_of(request, lacks=frozenset({"response_format"}))
    assert "grammar" not in in_words
    assert GRAMMAR not in json.dumps(in_words)


@pytest.mark.slow
def test_lines_that_were_written_for_a_shop_are_of_its_grammar(tmp_path: Path) -> None:
    """Of all but a few: their values are said in other words, such as `Belgium` for *Belgian*."""
    own = Path(__file__).parents[2] / "benchmarks" / "own"
    options = ImportOptions(mapping=own / "bikeshop.mapping.toml")
    import_graph([own / "bikeshop"], tmp_path / "graph", options=options)
    shop = Graph.open(tmp_path / "graph")
    written = [json.loads(line) for line in (own / "fourth.lines.jsonl").read_text(encoding="utf-8").splitlines()]
    lines = {one["question"]: one["line"] for one in written if one["folder"] == "bikeshop" and one["line"]}
    missing = [line for question, line in lines.items() if not accepts(grammar(shop, question), line)]
    assert len(lines) > 40
    assert len(missing) <= 0.1 * len(lines), missing
