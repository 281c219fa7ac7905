"""The tools of the Model Context Protocol as data: short, and each no more than the tool that it stands before."""

import json
import os
import re
from pathlib import Path

import pytest

from orienteer.errors import BadOption
from orienteer.serve.mcp.tools import ASK, MOST_ROWS, checked, look_up, tools_of
from orienteer.text.lines import CHARACTERS_A_TOKEN_OF_IDS
from orienteer.tools.toolbox import STATELESS_TOKENS, open_stateless

TOOLS = tools_of(offers_cypher=True)
ONE, TWO = ("languages",), ("languages", "beers")
MOST_TOKENS = 1_200
COUNTED = {"characters": 4_008, "o200k_base": 1_156}
"""The list of one graph without Cypher, as JSON with spaces, by o200k_base: count it again where it has changed."""


def as_told(graphs=ONE, *, offers_cypher=False):
    """Return the list as hosts put it before a model: names, descriptions, schemas."""
    return json.dumps(
        [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters(graphs)}
            for tool in tools_of(offers_cypher=offers_cypher).values()
        ]
    )


def test_the_names():
    assert list(tools_of(offers_cypher=False)) == [
        *("ask", "search", "neighbors", "intersect", "paths", "node", "schema", "list"),
    ]
    assert list(TOOLS)[-1] == "cypher"


def test_the_list_is_short():
    assert len(as_told()) == COUNTED["characters"]
    assert COUNTED["o200k_base"] < MOST_TOKENS
    tokens_a_character = COUNTED["o200k_base"] / COUNTED["characters"]
    assert len(as_told(TWO, offers_cypher=True)) * tokens_a_character < 1_500


def test_the_list_is_short_for_another_tokenizer():
    file = Path(os.environ.get("ORIENTEER_TOKENIZER", ""))
    if not file.is_file():
        pytest.skip("no tokenizer: set ORIENTEER_TOKENIZER to a tokenizer.json")
    tokenizers = pytest.importorskip("tokenizers")
    compact = json.dumps(json.loads(as_told()), separators=(",", ":"))
    assert len(tokenizers.Tokenizer.from_file(str(file)).encode(compact)) < MOST_TOKENS


@pytest.mark.parametrize("tool", [tool for tool in TOOLS.values() if tool.name != ASK], ids=lambda tool: tool.name)
def test_each_takes_no_more_than_what_it_stands_before(small, tool):
    pytest.importorskip("ladybug")
    box = open_stateless(small, offers_cypher=True)
    inner = next(spec for spec in box.specs if spec.name == tool.inner).parameters
    assert set(tool.properties) <= set(inner["properties"])
    assert set(tool.required) == set(inner.get("required", ()))
    for name, schema in tool.properties.items():
        there = inner["properties"][name]
        assert schema["type"] in there["type"]
        assert schema.get("maximum", MOST_ROWS) <= there.get("maximum", MOST_ROWS)
        told = re.search(r"default (\d+)", there.get("description", ""))
        if "default" in schema and name not in tool.defaults:
            assert schema["default"] == int(told[1])
        elif name in tool.defaults:
            assert schema["default"] == tool.defaults[name]


def test_of_several_graphs_the_caller_names_one():
    for tool in TOOLS.values():
        assert "graph" not in tool.parameters(ONE)["properties"]
        parameters = tool.parameters(TWO)
        assert parameters["properties"]["graph"] == {"enum": ["languages", "beers"]}
        assert parameters["required"][0] == "graph"
    assert checked(TOOLS["schema"], {"graph": "beers"}, TWO) == ("beers", {})
    assert checked(TOOLS["schema"], {}, ONE) == ("languages", {})
    with pytest.raises(BadOption, match="graph is missing"):
        checked(TOOLS["schema"], {}, TWO)


@pytest.mark.parametrize(("name", "most"), [("ask", 8_000), ("search", 4_000), ("intersect", 4_000)])
def test_texts_have_a_length(name, most):
    (parameter,) = TOOLS[name].required
    long = "x" * (most + 1)
    with pytest.raises(BadOption, match=rf"{parameter} has {most + 1:,} characters: at most {most:,} are read"):
        checked(TOOLS[name], {parameter: [long, "y"] if name == "intersect" else long}, ONE)


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
        assert len(look_up(TOOLS[name], graph, arguments)) <= STATELESS_TOKENS * CHARACTERS_A_TOKEN_OF_IDS
