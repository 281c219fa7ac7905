"""The tools of the Model Context Protocol as data: short, and each no more than the tool that it stands before."""

import json
import os
import re
from pathlib import Path

import pytest

from orienteer.errors import BadOption
from orienteer.serve import ASK_TOOL, MOST_TOOL_ROWS, checked_call, look_up_tool, tools_of
from orienteer.text import CHARACTERS_A_TOKEN_OF_IDS
from orienteer.tools import STATELESS_TOKENS, open_stateless

TOOLS = tools_of(offers_cypher=True)
ONE, TWO = ("languages",), ("languages", "beers")
MOST_TOKENS = 1_200
COUNTED = {
    (ONE, False): (3_391, 975),
    (ONE, True): (3_733, 1_073),
    (TWO, False): (3_753, 1_088),
    (TWO, True): (4_133, 1_198),
}
"""Characters of the list as JSON with spaces, and its tokens by o200k_base, four characters each of what came since."""


def as_told(graphs=ONE, *, offers_cypher=False):
    """Return the list as hosts put it before a model: names, descriptions, schemas."""
    return json.dumps(
        [
            {"name": tool.name, "description": tool.description, "input_schema": tool.published_schema(graphs)}
            for tool in tools_of(offers_cypher=offers_cypher).values()
        ]
    )


def test_the_names():
    assert list(tools_of(offers_cypher=False)) == [
        *("ask", "search", "neighbors", "intersect", "paths", "node", "schema", "list"),
    ]
    assert list(TOOLS)[-1] == "cypher"


@pytest.mark.parametrize(("graphs", "offers_cypher"), COUNTED)
def test_the_list_is_short(graphs, offers_cypher):
    characters, tokens = COUNTED[graphs, offers_cypher]
    assert len(as_told(graphs, offers_cypher=offers_cypher)) == characters
    assert tokens < MOST_TOKENS


def test_the_list_is_short_for_another_tokenizer():
    file = Path(os.environ.get("ORIENTEER_TOKENIZER", ""))
    if not file.is_file():
        pytest.skip("no tokenizer: set ORIENTEER_TOKENIZER to a tokenizer.json")
    tokenizers = pytest.importorskip("tokenizers")
    compact = json.dumps(json.loads(as_told()), separators=(",", ":"))
    assert len(tokenizers.Tokenizer.from_file(str(file)).encode(compact)) < MOST_TOKENS


@pytest.mark.parametrize("tool", [tool for tool in TOOLS.values() if tool.name != ASK_TOOL], ids=lambda tool: tool.name)
def test_each_takes_no_more_than_what_it_stands_before(small, tool):
    box = open_stateless(small, offers_cypher=True)
    inner = next(spec for spec in box.specs if spec.name == tool.inner).parameters
    properties = {name: schema for name, schema in tool.properties.items() if name != "rows"}  # of files: no agent's
    assert set(properties) <= set(inner["properties"])
    assert set(tool.required) == set(inner.get("required", ()))
    for name, schema in properties.items():
        there = inner["properties"][name]
        assert schema["type"] in there["type"]
        assert schema.get("maximum", MOST_TOOL_ROWS) <= there.get("maximum", MOST_TOOL_ROWS)
        told = re.search(r"default (\d+)", there.get("description", ""))
        if "default" in schema and name not in tool.defaults:
            assert schema["default"] == int(told[1])
        elif name in tool.defaults:
            assert schema["default"] == tool.defaults[name]


def test_of_several_graphs_the_caller_names_one():
    for tool in TOOLS.values():
        assert "graph" not in tool.parameters(ONE)["properties"]
        parameters = tool.parameters(TWO)
        assert parameters["properties"]["graph"] == {"type": "string", "enum": ["languages", "beers"]}
        assert parameters["required"][0] == "graph"
    assert checked_call(TOOLS["schema"], {"graph": "beers"}, TWO) == ("beers", {}, "")
    assert checked_call(TOOLS["schema"], {}, ONE) == ("languages", {}, "")
    with pytest.raises(BadOption, match="graph is missing"):
        checked_call(TOOLS["schema"], {}, TWO)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
@pytest.mark.parametrize("graphs", [ONE, TWO])
def test_what_only_refuses_is_checked_and_not_told(tool, graphs):
    """Gemini CLI 0.61 refuses a call by such rules itself, and its model reads less than we would say."""
    told, checked_by = tool.published_schema(graphs), tool.parameters(graphs)
    refusing = {"additionalProperties", "minimum", "maximum", "minItems", "maxItems"}
    assert not refusing & {keyword for schema in (told, *told["properties"].values()) for keyword in schema}
    assert checked_by["additionalProperties"] is False
    assert list(told["properties"]) == list(checked_by["properties"])
    assert told.get("required") == checked_by.get("required")
    for name, schema in told["properties"].items():
        assert schema.items() <= checked_by["properties"][name].items()
        assert schema["type"] != "array" or schema["items"] == {"type": "string"}  # else OpenAI refuses the list


def test_the_names_of_the_graphs_are_told_once():
    told = {name: tool.published_schema(TWO)["properties"]["graph"] for name, tool in TOOLS.items()}
    assert told.pop("ask") == {"type": "string", "enum": ["languages", "beers"]}
    assert all(schema == {"type": "string"} for schema in told.values())


@pytest.mark.parametrize(("name", "most"), [("ask", 8_000), ("search", 4_000), ("intersect", 4_000)])
def test_texts_have_a_length(name, most):
    (parameter,) = TOOLS[name].required
    long = "x" * (most + 1)
    with pytest.raises(BadOption, match=rf"{parameter} has {most + 1:,} characters: at most {most:,} are read"):
        checked_call(TOOLS[name], {parameter: [long, "y"] if name == "intersect" else long}, ONE)


@pytest.mark.slow
def test_every_reply_keeps_to_its_tokens(build):
    from orienteer.records import Edge, Node

    nodes = [Node(f"Gene::{at:06d}", "Gene", f"G{at}", "many words " * 400) for at in range(300)]
    graph = build(nodes, [Edge("Gene::000000", "binds", f"Gene::{at:06d}", "") for at in range(1, 300)])
    calls = {
        "search": {"query": "many words", "k": 100},
        "neighbors": {"node": "G0", "k": 100, "query": "many"},
        "intersect": {"nodes": ["G1", "G2"], "k": 100},
        "paths": {"a": "G1", "b": "G2", "k": 100},
        "node": {"node": "G0"},
        "schema": {},
        "list": {"k": 100},
    }
    for name, arguments in calls.items():
        assert len(look_up_tool(TOOLS[name], graph, arguments).text) <= STATELESS_TOKENS * CHARACTERS_A_TOKEN_OF_IDS
