"""What every tool keeps, whatever a model asks of it."""

import copy
import importlib
import inspect
import json
import pkgutil

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import orienteer.tools
from orienteer.errors import Error
from orienteer.graph import Graph
from orienteer.llm import schema_faults
from orienteer.records import Edge, Node, Observation, ToolCall
from orienteer.tools import (
    AddToAnswer,
    CodeInterpreter,
    FindPaths,
    Finish,
    Follow,
    GatherEvidence,
    IntersectNodes,
    ListNodes,
    MatchTriples,
    NodeIdRetriever,
    PackageTool,
    ReadNode,
    ReadSchema,
    RemoveFromAnswer,
    RunCypher,
    SearchInGraph,
    SearchInNeighborhood,
    SearchPassages,
    Session,
    Toolbox,
)

TOOLS = {
    SearchInGraph: {"query": "river town"},
    SearchInNeighborhood: {"node": "a"},
    Follow: {"start": "a", "steps": [{"edge": "joins"}, {}]},
    IntersectNodes: {"nodes": ["a", "c"]},
    FindPaths: {"a": "a", "b": "d"},
    RunCypher: {"query": "MATCH (n:Town) RETURN n ORDER BY n.year"},
    ReadNode: {"node": "Bern"},
    ReadSchema: {},
    AddToAnswer: {"nodes": ["a", "Bern"]},
    RemoveFromAnswer: {"nodes": ["a"]},
    Finish: {},
    ListNodes: {"node_types": ["Town"], "sort": "year"},
}
"""Every tool with arguments that it can meet."""
ON_REQUEST = {"offers_cypher": True, "more": ("list_nodes",)}
"""How a toolbox has the tools that agents are not offered otherwise."""
OF_METHODS = {GatherEvidence, MatchTriples}
"""Those that no agent is offered: a method calls them, so that its trajectory holds what it gathered."""
GRAPHSCOUT = {CodeInterpreter, NodeIdRetriever}
"""Those whose schemas are a paper's: what they keep stands in their own tests."""
NAMELESS = {SearchInGraph, ReadSchema, Finish, FindPaths, RunCypher, ListNodes}
"""Those that take no node, or no set in the place of one."""
OF_DOCUMENTS = {SearchPassages, GatherEvidence, MatchTriples}
"""Those that read passages and evidence."""
REFERENCES = ["a", "b", "c", "d", "Bern", "bern (town)", "@1", "@2", "@3", "nobody", "", "@", "Bern (River)"]
TYPES = ["Town", "River", "joins", "crosses", "towns", "Zebra", ""]
WHERE = ["year > 1900", "year = x", "name = y", "nothing", ">=", "year >"]


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    nodes = [
        Node("a", "Town", "Basel", "a town on the river", properties={"year": 1501}),
        Node("b", "Town", "Bern", "a town", aliases=("Berne",), properties={"year": 1353}),
        Node("c", "River", "Rhine", "a long river"),
        Node("d", "River", "Aare", "a river with a bend"),
        Node("e", "Town", "Bern", "another town of this name"),
    ]
    edges = [Edge("d", "joins", "c"), Edge("c", "crosses", "a"), Edge("d", "crosses", "b")]
    edges += [Edge("d", "joins", "c"), Edge("b", "joins", "b")]  # a parallel one and a loop
    return Graph.from_records(nodes, edges, path=tmp_path_factory.mktemp("rivers") / "graph")


@pytest.fixture(params=TOOLS, ids=lambda tool: tool.__name__)
def tool(request, graph):
    return request.param(Session(graph))


def test_every_tool_is_in_the_list():
    found = set()
    for module in pkgutil.walk_packages(orienteer.tools.__path__, "orienteer.tools."):
        for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if one.__module__ == module.name and "__call__" in vars(one):
                found.add(one)
    assert found == TOOLS.keys() | GRAPHSCOUT | OF_DOCUMENTS | {PackageTool}  # which stands around a tool


def test_the_toolbox_has_all_of_them(graph):
    names = [kind(Session(graph)).spec.name for kind in TOOLS]
    assert [spec.name for spec in Toolbox.full(graph, **ON_REQUEST).specs] == names
    plain = [name for name in names if name not in ("cypher", "list_nodes")]
    assert [spec.name for spec in Toolbox.full(graph).specs] == plain
    assert len(set(names)) == len(names)


def test_a_tool_is_data(tool):
    spec = tool.spec
    assert spec.name.isidentifier()
    assert spec.name == spec.name.lower()
    assert spec.description.endswith(".")
    assert spec.parameters["type"] == "object"
    assert spec.parameters["additionalProperties"] is False
    assert set(spec.parameters.get("required", ())) <= set(spec.parameters["properties"])
    assert json.loads(json.dumps(spec.parameters)) == spec.parameters


def test_every_argument_says_what_it_is(tool):
    for name, schema in tool.spec.parameters["properties"].items():
        assert schema.get("description") or name == "steps", name
        assert "type" in schema or "enum" in schema


@pytest.mark.process
def test_sound_arguments_fit_the_schema_and_are_met(tool, graph):
    arguments = TOOLS[type(tool)]
    assert not schema_faults(arguments, tool.spec.parameters)
    if isinstance(tool, ReadNode | AddToAnswer):
        arguments = json.loads(json.dumps(arguments).replace("Bern", "Rhine"))
    found = tool(arguments)
    assert isinstance(found, Observation)
    assert found.text.strip()
    assert all(node in list(graph.node_ids()) for node in found.nodes)


@pytest.mark.process
def test_arguments_are_left_as_they_are(tool):
    arguments = json.loads(json.dumps(TOOLS[type(tool)]).replace("Bern", "Rhine"))
    before = copy.deepcopy(arguments)
    tool(arguments)
    assert arguments == before


@pytest.mark.process
def test_the_same_call_gives_the_same_to_each_agent(tool, graph):
    arguments = json.loads(json.dumps(TOOLS[type(tool)]).replace("Bern", "Rhine"))
    assert tool(arguments) == type(tool)(Session(graph))(arguments)


@pytest.mark.parametrize("kind", [kind for kind in TOOLS if kind not in NAMELESS])
def test_a_saved_set_stands_wherever_a_node_may(kind, graph):
    toolbox = Toolbox.full(graph)
    toolbox.call("search_in_graph", {"query": "river"})
    toolbox.call("search_in_graph", {"query": "Basel"})
    text = json.dumps(TOOLS[kind])
    text = text.replace('"a"', '"@1"').replace('"Bern"', '"@2"').replace('"c"', '"@2"')
    tool = kind(toolbox.session)
    assert tool(json.loads(text)).error is None


@pytest.mark.parametrize("kind", [kind for kind in TOOLS if kind not in NAMELESS])
def test_what_cannot_be_met_is_an_error_of_ours_with_a_message_for_the_model(kind, graph):
    toolbox = Toolbox.full(graph, more=("list_nodes",))
    arguments = json.loads(json.dumps(TOOLS[kind]).replace('"a"', '"nobody"').replace('"Bern"', '"nobody"'))
    found = toolbox.observe(ToolCall(id="1", name=kind(Session(graph)).spec.name, arguments=json.dumps(arguments)))
    assert "nobody" in found.text


def values(schema):
    """Return values that fit a schema, the telling ones often."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if isinstance(schema["type"], list):
        return st.one_of(values({**schema, "type": one}) for one in schema["type"])
    if schema["type"] == "boolean":
        return st.booleans()
    if schema["type"] == "number":
        return st.floats(allow_nan=False, allow_infinity=False) | st.integers()
    if schema["type"] == "array":
        return st.lists(values(schema["items"]), min_size=schema.get("minItems", 0), max_size=schema.get("maxItems", 4))
    if schema["type"] == "integer":
        return st.integers(1, 4) | st.integers(schema.get("minimum", 0), schema.get("maximum", 10**20))
    if schema["type"] == "object":
        required = schema.get("required", ())
        parts = {name: values(one) for name, one in schema.get("properties", {}).items()}
        return st.fixed_dictionaries(
            {name: one for name, one in parts.items() if name in required},
            optional={name: one for name, one in parts.items() if name not in required},
        )
    return st.sampled_from(REFERENCES + TYPES + WHERE) | st.text(max_size=20)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_whatever_fits_the_schema_is_answered_under_the_budget(tool, graph, data):
    toolbox = Toolbox.full(graph, more=("list_nodes",))
    toolbox.call("search_in_graph", {"query": "river"})
    toolbox.call("search_in_graph", {"query": "nothing like it"})
    toolbox.call("intersect", {"nodes": ["a", "b"]})
    arguments = data.draw(values(tool.spec.parameters))
    assert not schema_faults(arguments, tool.spec.parameters)
    found = toolbox.observe(ToolCall(id="1", name=tool.spec.name, arguments=json.dumps(arguments)))
    assert found.text.strip()
    assert len(found.text) <= toolbox.session.reply_tokens * 4
    known = set(graph.node_ids())
    assert set(found.nodes) <= known
    assert len(set(found.nodes)) == len(found.nodes)
    answer = toolbox.session.answer
    assert len(set(answer)) == len(answer)
    assert all(0 <= row < len(graph) for row in answer)


@settings(max_examples=25, deadline=None)
@given(name=st.text(max_size=20), arguments=st.text(max_size=40))
def test_any_call_at_all_is_answered(name, arguments):
    toolbox = Toolbox(SHARED["session"], [ReadSchema(SHARED["session"])])
    for one in (name, "schema"):
        assert toolbox.observe(ToolCall(id="1", name=one, arguments=arguments)).text


SHARED = {}


@pytest.fixture(scope="module", autouse=True)
def _session(graph):
    SHARED["session"] = Session(graph)
    yield
    SHARED.clear()


def test_errors_are_of_one_tree(graph):
    toolbox = Toolbox.full(graph)
    for name, arguments in {
        "read_node": {"node": "nobody"},
        "search_in_neighborhood": {"node": "a", "node_types": ["Zebra"]},
        "follow": {"start": "@5", "steps": [{}]},
        "search_in_graph": {"query": "x", "where": ["zebra > 1"]},
    }.items():
        with pytest.raises(Error):
            toolbox.call(name, arguments)
