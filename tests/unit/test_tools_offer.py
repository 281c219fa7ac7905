"""The tools as a reply can be held to them: what the schema lets a model say, the graph has."""

from __future__ import annotations

import json
import random

import pytest

from clinic import ask
from orienteer.agents import DIALECTS
from orienteer.graph import Graph
from orienteer.lab.replay import requests as requests_of
from orienteer.llm import (
    Budget,
    ScriptedModel,
    calls_schema,
    number_of_calls,
    read_spoken,
    schema_faults,
    spoken_as_calls,
)
from orienteer.records import Edge, Manner, Message, Node, ToolCall, ToolSpec
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from orienteer.tools import (
    LONGEST_TEXT,
    MOST_NAMED,
    DecodingState,
    NamesOfQuestion,
    Session,
    names_in_argument,
    offered_tools,
    open_compact,
)

QUESTION = "Which films were directed by Ada Holm and star Bo Varga?"
NODES = [
    Node("holm", "person", "Ada Holm"),
    Node("varga", "person", "Bo Varga"),
    Node("boat", "boat", "Bo Varga"),
    Node("salt", "film", "Salt Road"),
    Node("ferry", "film", "Night Ferry"),
    Node("lights", "film", "The Lights of Oslo"),
]
EDGES = [Edge("holm", "directed", "salt"), Edge("holm", "directed", "ferry"), Edge("varga", "acts in", "ferry")]


@pytest.fixture
def graph(tmp_path):
    return Graph.from_records(NODES, EDGES, path=tmp_path / "films")


@pytest.fixture
def toolbox(graph):
    return open_compact(graph, "lexical")


def tools(toolbox, question=QUESTION):
    """Return the tools that can be called now, by name."""
    return {tool.name: tool for tool in toolbox.offered(names_in_argument(question, toolbox.session.graph))}


def parameters(toolbox, name, question=QUESTION):
    return tools(toolbox, question)[name].parameters["properties"]


def starts(toolbox, question=QUESTION):
    """Return the names that a walk may begin at."""
    return parameters(toolbox, "follow", question)["start"]["anyOf"][0]["enum"]


def test_types_are_those_of_the_graph(toolbox):
    step = parameters(toolbox, "follow")["steps"]["items"]["properties"]
    assert step["edge"] == {"enum": ["acts in", "directed"]}
    assert step["type"] == {"enum": ["boat", "film", "person"]}
    assert parameters(toolbox, "intersect")["node_types"]["items"] == {"enum": ["boat", "film", "person"]}


def test_an_answer_and_an_end_come_after_something_was_looked_for(toolbox):
    assert list(tools(toolbox)) == ["follow", "intersect", "search_in_graph"]
    assert "among" not in parameters(toolbox, "search_in_graph"), "there is no set to search among"
    ask(toolbox, "follow", start="Bo Varga (boat)", steps=[{}])
    assert "add_to_answer" not in list(tools(toolbox)), "it found nothing"
    assert "finish" in list(tools(toolbox))
    ask(toolbox, "follow", start="holm", steps=[{"edge": "directed"}])
    assert parameters(toolbox, "add_to_answer")["nodes"]["items"] == {"enum": ["@2", "ferry", "salt"]}
    assert parameters(toolbox, "search_in_graph")["among"] == {"enum": ["@2"]}


def test_names_are_copied_out_of_the_question_or_out_of_replies(toolbox):
    one, several = parameters(toolbox, "follow")["start"]["anyOf"]
    assert one == several["items"]
    assert set(one["enum"]) >= {"Ada Holm", "Bo Varga", "Bo Varga (boat)", "Bo Varga (person)"}
    assert "salt" not in one["enum"]
    assert not {"Ada", "Which", "by", "Holm and"} & set(one["enum"]), "no part of a name, and no word that asks"
    ask(toolbox, "follow", start="holm", steps=[{}])
    assert "salt" in starts(toolbox)


def test_a_name_that_the_question_misspells_is_mended_by_what_the_error_tells(toolbox):
    question = "Which films were directed by Ada Hollm?"
    assert "Ada Hollm" in starts(toolbox, question)
    assert ask(toolbox, "follow", start="Ada Hollm", steps=[{}]).error == "UnknownNode"
    assert parameters(toolbox, "follow", question)["start"]["anyOf"][0] == {"enum": ["Ada Holm"]}


def test_a_name_that_nothing_is_near_can_be_looked_for_and_no_more(toolbox):
    """A small model says a call that was refused again and again, as long as it may."""
    question = "Which films were directed by Xyz?"
    assert ask(toolbox, "follow", start="Xyz", steps=[{}]).error == "UnknownNode"
    assert list(tools(toolbox, question)) == ["search_in_graph"]
    ask(toolbox, "search_in_graph", query="Road")
    assert "salt" in starts(toolbox, question)


@pytest.mark.parametrize(
    ("question", "named", "unnamed"),
    [
        ("who directed the lights of oslo?", "the lights of oslo", "oslo"),
        ("Is “Salt Road” a film?", "Salt Road", "Salt"),
        ("Films like Salt Road, Night Ferry.", "Night Ferry", "Night Ferry."),
        ("holm", "holm", ""),
        ("", None, ""),
        ("?!", None, "?!"),
    ],
)
def test_the_longest_names_of_a_question(graph, question, named, unnamed):
    names = names_in_argument(question, graph)
    assert unnamed not in (*names.known, *names.possible)
    assert names == ({}, ()) if named is None else named in names.known


def test_beside_names_only_what_looks_like_one_may_be_another(graph):
    assert names_in_argument("Which films by Ada Holm and bo vargas?", graph) == ({"Ada Holm": 1}, ())
    assert names_in_argument("Which films by Ada Holm and Bo Vargas?", graph) == (
        {"Ada Holm": 1},
        ("Bo", "Bo Vargas", "Vargas"),
    )
    assert "bo vargas" in names_in_argument("which films by bo vargas?", graph).possible, (
        "where nothing is named, anything may"
    )


@pytest.mark.parametrize(
    "question",
    [
        "which of ada holm's films star Bo Varga?",
        "Films by Ada Holm/Bo Varga?",
        "Ada Holm—and Bo Varga",
        "Les films d'Ada Holm, Bo Varga",
        "Ada Holm’s films (Bo Varga)",
    ],
)
def test_marks_beside_a_name_do_not_hide_it(graph, question):
    known = names_in_argument(question, graph).known
    assert {name.casefold() for name in known} >= {"ada holm", "bo varga"}


def test_names_of_every_script_and_form(tmp_path):
    long = "The Day That Everyone in the Town Forgot How to Row Across the Bay at Night"
    names = ["霍姆", "盐路", long, "C++", "C", ".NET", "by", "It", "3-[5-(2-nitro)furan-2-yl]benzoic acid"]
    nodes = [Node(str(number), "thing", name) for number, name in enumerate(names)]
    graph = Graph.from_records(nodes, [Edge("0", "made", "1")], path=tmp_path / "g")
    for question, known in [
        ("谁导演了盐路?", "盐路"),
        (f"Who made {long}?", long),
        ("Who uses C++?", "C++"),
        ("Who uses C?", "C"),
        ("Is .NET old?", ".NET"),
        ("Who played in It?", "It"),
        ("What is 3-[5-(2-nitro)furan-2-yl]benzoic acid?", names[-1]),
    ]:
        assert list(names_in_argument(question, graph).known) == [known], question
    assert names_in_argument("made by whom?", graph).known == {}, "a word that is a node's name by chance"


def test_a_name_that_several_nodes_bear_is_told_apart_by_ids(tmp_path):
    nodes = [Node("h1", "person", "Ada Holm"), Node("h2", "person", "Ada Holm"), Node("s", "film", "Salt")]
    edges = [Edge("h1", "directed", "s"), Edge("h2", "directed", "s")]
    toolbox = open_compact(Graph.from_records(nodes, edges, path=tmp_path / "g"), "lexical")
    question = "Which films did Ada Holm direct?"
    assert starts(toolbox, question) == ["Ada Holm", "Ada Holm (person)"]
    assert ask(toolbox, "follow", start="Ada Holm", steps=[{}]).error == "AmbiguousNode"
    assert starts(toolbox, question) == ["h1", "h2"]


def test_a_search_that_finds_nothing_can_be_the_end(toolbox):
    ask(toolbox, "search_in_graph", query="unicorns")
    assert "finish" in tools(toolbox, "Who rides unicorns?")


def test_an_answer_is_made_of_what_replies_have_shown(tmp_path):
    """A walk keeps a set for each step, and shows the last."""
    films = [Node(f"m{number}", "film", f"Film {number}") for number in range(30)]
    nodes = [Node("pia", "person", "Pia"), Node("oslo", "town", "Oslo"), *films]
    edges = [edge for film in films for edge in (Edge("pia", "made", film.id), Edge(film.id, "shot in", "oslo"))]
    toolbox = open_compact(Graph.from_records(nodes, edges, path=tmp_path / "g"), "lexical")
    ask(toolbox, "follow", start="Pia", steps=[{"edge": "made"}, {"edge": "shot in"}])
    assert parameters(toolbox, "add_to_answer")["nodes"]["items"] == {"enum": ["@2", "@1", "oslo"]}
    shown = ask(toolbox, "follow", start="Pia", steps=[{"edge": "made"}])
    offered = parameters(toolbox, "add_to_answer")["nodes"]["items"]["enum"]
    assert set(offered) - {"@1", "@2", "@3"} <= {*shown.nodes, "oslo"}


def test_a_long_question_without_a_known_name_leaves_any_text(graph, toolbox):
    question = " ".join(f"word{number}" for number in range(60))
    assert parameters(toolbox, "follow", question)["start"]["anyOf"][0] == {"type": "string", "maxLength": LONGEST_TEXT}


def test_what_a_schema_names_itself_stays(graph):
    own = {
        "properties": {
            "order": {"type": "string", "enum": ["asc"]},
            "type": {"enum": ["sum"]},
            "more": {"type": "array"},
        }
    }
    [tool] = offered_tools(
        [ToolSpec(name="t", description="", parameters=own)], Session(graph), NamesOfQuestion(), DecodingState()
    )
    assert tool.parameters == own


def test_one_name_has_nothing_in_common_with_another(toolbox):
    assert list(tools(toolbox, "Which films were directed by Ada Holm?")) == ["follow", "search_in_graph"]


def test_where_there_are_too_many_types_any_text_may_stand(tmp_path):
    nodes = [Node(str(number), f"kind {number}", f"name {number}") for number in range(MOST_NAMED + 1)]
    toolbox = open_compact(Graph.from_records(nodes, [Edge("0", "near", "1")], path=tmp_path / "g"), "lexical")
    step = parameters(toolbox, "follow")["steps"]["items"]["properties"]
    assert step["type"] == {"type": "string", "maxLength": LONGEST_TEXT}
    assert step["edge"] == {"enum": ["near"]}


def drawn(schema, chance):
    """Return a random value that fits a schema."""
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return drawn(chance.choice(schema[several]), chance)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return chance.choice(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        required = schema.get("required", ())
        return {
            name: drawn(member, chance)
            for name, member in schema.get("properties", {}).items()
            if name in required or chance.random() < 0.5
        }
    if kind == "array":
        count = chance.randint(schema.get("minItems", 0), max(2, schema.get("minItems", 0)))
        return [drawn(schema["items"], chance) for _ in range(count)]
    return (
        chance.randint(schema.get("minimum", 0), 3) if kind == "integer" else chance.choice(["film", "year > 3", "x"])
    )


@pytest.mark.slow
def test_no_call_that_can_be_said_names_what_is_not_there(graph):
    """Courses drawn at random from the schemas: what a tool refuses is never a type, a set or a name."""
    chance, calls, refused = random.Random(5), 0, set()
    for _ in range(60):
        toolbox = open_compact(graph, "lexical")
        for _ in range(5):
            schema = calls_schema(toolbox.offered(names_in_argument("Ada Holm, Bo Varga and Salt Road", graph)))
            said = drawn(schema, chance)
            assert schema_faults(said, schema) == ()
            for call in said["calls"]:
                arguments = json.dumps(call["arguments"])
                seen = toolbox.observe(ToolCall(id="1", name=call["name"], arguments=arguments))
                calls += 1
                refused.add(seen.error)
    assert calls > 300
    assert refused <= {None, "AmbiguousNode", "EmptyAnswer", "UnknownProperty", "BadOption"}, refused


def test_bad_options_are_conditions_alone(toolbox):
    """`where` is free text, and the one thing that a held reply can get wrong about a graph."""
    assert ask(toolbox, "search_in_graph", query="film", where=["x"]).error == "BadOption"


# ------------------------------------------------------------------------------------------------------ as one object


def test_calls_are_written_and_read_as_one_object():
    calls = (
        ToolCall(id="a", name="follow", arguments='{"start":  "Ada \\u00c5"}'),
        ToolCall(id="b", name="finish", arguments=""),
    )
    text = spoken_as_calls(calls)
    assert json.loads(text)["calls"][1] == {"name": "finish", "arguments": {}}
    assert number_of_calls(text) == 2
    assert [(call.name, call.arguments) for call in read_spoken(text).calls] == [
        ("follow", '{"start":  "Ada \\u00c5"}'),
        ("finish", "{}"),
    ]
    read = DIALECTS["terse"].read(Message(role="assistant", content=text), turn=3)
    assert (read.message.content, [call.name for call in read.message.tool_calls]) == (None, ["follow", "finish"])


@pytest.mark.parametrize(
    ("text", "content", "names", "broken"),
    [
        ('I look. {"calls": [{"name": "finish", "arguments": {}}]}', "I look.", ["finish"], 0),
        ('{"calls": [{"name": "finish", "arguments": {}}, {"name": "finish"}]}', None, ["finish"], 1),
        ('{"calls": []}', None, [], 1),
        ('{"calls": [{"name": "follow", "arguments": {"start": "Ada', None, [], 1),
        ("It was Ada Holm.", "It was Ada Holm.", [], 0),
        ('<tool_call>\n{"name": "finish", "arguments": {}}\n</tool_call>', None, ["finish"], 0),
        ('<think>hm {"calls": []}</think>{"calls": [{"name": "finish", "arguments": {}}]}', None, ["finish"], 0),
    ],
)
def test_what_is_no_such_object_is_read_as_it_comes(text, content, names, broken):
    read = DIALECTS["terse"].read(Message(role="assistant", content=text), turn=0)
    assert [call.name for call in read.message.tool_calls] == names
    assert len(read.broken) == broken
    assert content is None or read.message.content == content


class Held(ScriptedModel):
    """A model whose server keeps schemas; it hears what it was held to."""

    manner = Manner(dialect="terse", keeps_schema=True, why="its card")

    def __init__(self, said):
        super().__init__(said)
        self.schemas = []

    def chat(self, messages, *, tools=(), schema=None, sampling=None, seconds=None):
        self.schemas.append(schema)
        return super().chat(messages, tools=tools, schema=schema, sampling=sampling, seconds=seconds)


def test_a_model_that_keeps_a_schema_is_held_to_each_turn_and_the_trace_tells(graph):
    turns = (
        spoken_as_calls(
            [ToolCall(id="", name="follow", arguments='{"start": "Ada Holm", "steps": [{"edge": "directed"}]}')]
        ),
        spoken_as_calls(
            [
                ToolCall(id="", name="add_to_answer", arguments='{"nodes": ["@1"]}'),
                ToolCall(id="", name="finish", arguments="{}"),
            ]
        ),
    )
    model = Held(lambda messages, tools, sampling: turns[sum(one.role == "assistant" for one in messages)])
    retriever = Retriever(graph, "ark", model=model, settings=Settings(), agents=1)
    result = retriever.search(QUESTION)
    assert [hit.id for hit in result.hits] == ["ferry", "salt"]
    first, second = model.schemas
    names = [
        [form["properties"]["name"]["const"] for form in one["properties"]["calls"]["items"]["oneOf"]]
        for one in (first, second)
    ]
    assert names == [
        ["follow", "intersect", "search_in_graph"],
        ["follow", "intersect", "search_in_graph", "add_to_answer", "finish"],
    ]
    [trajectory] = result.trajectories
    assert [request.chat.reply_schema for request in requests_of(trajectory)] == [first, second]


@pytest.mark.parametrize("method", ["react", "ark tools=paper", "ark faithful=true"])
def test_only_the_compact_tools_are_held(graph, method):
    """Courses that save no sets, or end otherwise, would be held to what cannot be said."""
    name, *options = method.split()
    model = Held(lambda messages, tools, sampling: spoken_as_calls([ToolCall(id="", name="finish", arguments="{}")]))
    chosen = dict(option.split("=") for option in options)
    Retriever(graph, name, model=model, settings=Settings(), budget=Budget(calls=3), **chosen).search(QUESTION)
    assert set(model.schemas) == {None}


def test_a_model_of_which_nothing_is_known_is_held_to_nothing(graph):
    class Free(Held):
        manner = Manner(dialect="terse", why="its card")

    model = Free(lambda messages, tools, sampling: spoken_as_calls([ToolCall(id="", name="finish", arguments="{}")]))
    Retriever(graph, "ark", model=model, settings=Settings(), agents=1, max_steps=2).search(QUESTION)
    assert model.schemas == [None, None]


def test_a_text_that_is_too_long_is_told():
    tool = ToolSpec(name="t", description="", parameters={"properties": {"q": {"type": "string", "maxLength": 3}}})
    assert schema_faults({"q": "abcd"}, {"type": "object", **tool.parameters}) == (
        "q must have at most 3 characters, has 4",
    )
    assert schema_faults({"q": "abc"}, {"type": "object", **tool.parameters}) == ()
