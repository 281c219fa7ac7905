"""What models are asked in the papers' forms (`faithful=true`), against what `orienteer methods NAME` says deviates.

Each method is asked once with a scripted model; the requests are those that its trajectories give back. For every
deviation of a list that shows in a request there is an assertion here, and for what the papers have and ours adds.
"""

import json
import re

import pytest

from fakes import deep_search
from fakes.embedder import embedded
from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.lab.evaluation import method_variants
from orienteer.lab.replay import replay, requests as requests_of
from orienteer.llm import Budget, ScriptedModel
from orienteer.methods import METHODS
from orienteer.records import Edge, Node
from orienteer.retriever import Retriever
from orienteer.settings import Settings

NAMES = ("ark", "graphsearch", "graphscout", "sage", "spark")
SCOUT = [
    [("node_id_retriever", {"queries": ["Bell Labs", "Pascal"]}), ("look_up", {})],
    [("code_interpreter", {"code": "x = cypher('MATCH (p:person) RETURN count(p) AS n')"})],
    [("code_interpreter", {"code": "print(x, find('Pascal'))"})],
    "So it is.\n\\answer{Niklaus Wirth}",
]
PICKS = [{"node_index": node, "reasoning": f"why {node}"} for node in ("person:niklaus-wirth", "nobody", "Pascal")]
ARK = [
    [("search_in_graph", {"query": "Pascal zzyzx"}), ("search_in_graph", {"query": "zzyzx"})],
    "I think it is Pascal.",
    [
        ("search_in_graph", {"query": "Pascal zzyzx"}),
        ("search_in_graph", {"query": "language the of in and a to for", "size": 130}),
    ],
    [("search_in_neighborhood", {"node_index": "Pascal", "query": "Wirth", "node_type": "person"})],
    [("add_to_answer", {"answer_nodes": PICKS})],
    [("finish", {"comment": "done"})],
]
SPARK = {
    "steps": [
        {"op": "vector_search", "query": "Bell Labs", "node_types": ["organization"], "k": 1, "into": "labs"},
        {"op": "cypher", "query": "MATCH (p)-[:worked_at]->(o) WHERE o.id IN $labs RETURN DISTINCT p", "into": "who"},
    ],
    "answer": "who",
}


def turns(said):
    """Return a policy that says these one after another."""

    def policy(messages, tools, sampling):
        reply = said[min(sum(message.role == "assistant" for message in messages), len(said) - 1)]
        return json.dumps(reply) if isinstance(reply, dict) else reply

    return policy


def recorded(name, graph):
    """Return the requests of the paper's form of a method to one question, as JSON."""
    if name == "graphsearch":
        rejected = {"verdict": "Reject"}
        script = deep_search.faithful(verify=rejected, expand={"queries": ["When did plague come to Venice?"]})
        method, question, policy = "graphsearch:light", deep_search.QUESTION, deep_search.Script(script)
    else:
        said = {"ark": ARK, "graphscout": SCOUT, "spark": [SPARK], "sage": ["unasked"]}[name]
        method, question, policy = name, "Who designed Pascal?", turns(said)
    options = {"tier": "monty"} if name == "graphscout" else {"agents": 1} if name == "ark" else {}
    options |= {"seeds": "hybrid"} if name == "sage" else {}
    retriever = Retriever(graph, method, model=ScriptedModel(policy), settings=Settings(), faithful=True, **options)
    result = (retriever.ask if name == "graphsearch" else retriever.search)(question)
    requests = [request for one in result.trajectories if one.model for request in requests_of(one)]
    return [json.loads(request.chat.model_dump_json()) for request in requests], result


@pytest.fixture(scope="module")
def languages(build):
    return build(*demo_records())


@pytest.fixture(scope="module")
def plague(build):
    return build(deep_search.NODES, deep_search.EDGES)


def words_of(requests):
    """Return all that models read, tools and schemas too."""
    return json.dumps(requests, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')


def replies_of(requests):
    """Return the contents of the results of tools."""
    return [message["content"] for message in requests[-1]["messages"] if message["role"] == "tool"]


# ------------------------------------------------------------------------------------------------------ the lists


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_the_list_of_the_code(name, request):
    listed = METHODS[name].config_class().deviations
    assert len(listed) == len(set(listed)) >= 5
    page = (request.config.rootpath / "docs" / "explanations" / f"{name}.md").read_text(encoding="utf-8")
    section = page.partition("# Deviations from the paper\n")[2].partition("The default form also has")[0]
    assert re.findall(r"^\d+\. (.*)$", section, re.M) == list(listed)


SAID = {
    "ark": (
        "with four examples of ours",
        "`size` is 5 by default",
        "at most 160 characters",
        "properties are neither",
        "drops none for lack of words",
        "A reply without a call",
        "no temperature",
        "model fails",
        "`ask` writes",
    ),
    "graphscout": (
        "Edge types come with the types that they join",
        "the retriever searches them",
        "at most 50 queries",
        "Code keeps its names",
        "`view` gives it",
        "The first reply without a call",
        "are neutralised",
        "The ranking holds",
    ),
    "graphsearch": (
        "but a short one of a decomposition",
        "JSON under a schema",
        "is to doubt a rejected draft",
        "expansion read the question too",
        "A draft and a verdict in each channel",
        "At most 8 sub-queries",
        "The words of triples",
        "Without decomposition",
        "no temperature",
    ),
    "sage": (
        "no order of the union",
        "0.6 BM25",
        "`mentions` and `shares_names`",
        "chunks and tables alone",
        "in its paper's form too",
        "`ask` writes",
    ),
    "spark": (
        "any set that it names is taken",
        "no words of what a relation means",
        "a plan may return either",
        "Texts of nodes are not in Cypher",
        "0.6 BM25 and 0.4 cosine",
        "Near forms",
        "no temperature",
        "`ask` writes",
    ),
}
"""What each deviation is about, in the order of the lists; the tests below look for it in the requests."""


@pytest.mark.parametrize("name", NAMES)
def test_every_deviation_of_a_list_is_looked_for(name):
    listed = METHODS[name].config_class().deviations
    assert len(listed) == len(SAID[name])
    assert [part for part, one in zip(SAID[name], listed, strict=True) if part not in one] == []


# ------------------------------------------------------------------------------------------------------------ ark


def test_ark_has_the_papers_tools_by_name_and_replies_of_rows_alone(languages):
    requests, result = recorded("ark", languages)
    tools = {tool["name"]: tool["parameters"] for tool in requests[0]["tools"]}
    assert {name: list(one["properties"]) for name, one in tools.items()} == {
        "search_in_graph": ["query", "size"],
        "search_in_neighborhood": ["node_index", "query", "node_type", "edge_type"],
        "add_to_answer": ["answer_nodes"],
        "finish": ["comment"],
    }
    assert tools["add_to_answer"]["properties"]["answer_nodes"]["items"]["required"] == ["node_index", "reasoning"]
    [known, none, again, many, wirth, added] = replies_of(requests)
    assert re.fullmatch(r"\[person:anders-hejlsberg\] Anders Hejlsberg \(person\): .*Pascal.*", known.splitlines()[0])
    assert (none, again) == ("No results.", known)
    assert len(many.splitlines()) == 130
    assert all(line.startswith("[") for line in many.splitlines())
    assert re.fullmatch(r"-designed_by-> \[person:niklaus-wirth\] Niklaus Wirth \(person\): .*", wirth)
    assert added.splitlines()[-1] == "Added."
    assert "nobody" in added
    assert {hit.id: hit.why for hit in result.hits} == {
        "person:niklaus-wirth": "why person:niklaus-wirth",
        "language:pascal": "why Pascal",
    }
    everything = words_of(requests)
    assert not re.search(
        r"\d/\d|words|best node|neighbours:|Shown|Not in this graph: zz|asked just|answer: \d", known + many
    )
    assert "counts by kind" not in everything.casefold()
    assert "last turn" not in everything


def test_ark_shows_each_of_its_deviations(languages):
    requests, _ = recorded("ark", languages)
    system, user = (message["content"] for message in requests[0]["messages"])
    assert system.count('\n- "') == 4
    assert user == "Find the nodes that answer this question: Who designed Pascal?"
    search, near, *_ = requests[0]["tools"]
    assert "default 5" in search["parameters"]["properties"]["size"]["description"]
    assert "id or exact name" in near["parameters"]["properties"]["node_index"]["description"]
    assert {near["parameters"]["properties"][name]["type"] for name in ("node_type", "edge_type")} == {"array"}
    assert requests[2]["messages"][-1]["content"].startswith("Nothing was called.")
    assert (requests[0]["sampling"]["temperature"], requests[0]["sampling"]["random_seed"]) == (0.7, 0)


def test_ark_is_told_what_the_papers_guidelines_say_and_nothing_untrue_of_its_tools(languages, build):
    requests, _ = recorded("ark", languages)
    [system] = {request["messages"][0]["content"] for request in requests}
    assert "no more." not in system
    for guideline in ("several right answers", "what this graph gives", "BM25", "search widely"):
        assert guideline in system, guideline
    assert "hides" not in words_of(requests)
    leaves = [Node(f"n{at}", "leaf", f"Leaf {at}") for at in range(30)]
    hub = build([Node("hub", "hub", "Hub"), *leaves], [Edge("hub", "leads_to", leaf.id) for leaf in leaves])
    [many] = ark_replies(hub, [("search_in_neighborhood", {"node_index": "hub", "query": "leaf 3"})])
    assert len(many.splitlines()) == 20  # the fixed k of A.2: a query drops none for lack of words, k does


def test_ark_shows_a_part_of_a_text_and_no_property(build):
    long = " ".join(f"word{at}" for at in range(100))
    nodes = [
        Node("a", "note", "First", long, properties={"colour": "vermilion"}),
        Node("b", "note", "Second", "short"),
        Node("c", "note", "Third", "else"),
    ]
    graph = build(nodes, [Edge("a", "near", "b")])
    found, none, beside, bare, unknown = ark_replies(
        graph,
        [
            ("search_in_graph", {"query": "word70"}),
            ("search_in_graph", {"query": "vermilion"}),
            ("search_in_neighborhood", {"node_index": "b", "query": "elsewhere"}),
            ("search_in_neighborhood", {"node_index": "b"}),
            ("search_in_neighborhood", {"node_index": "Frist"}),
        ],
    )
    texts = [line.partition("(note): ")[2] for line in (found, beside)]
    assert "word70" in texts[0]
    assert texts[1].startswith("word0 ")
    assert all(100 < len(text) <= 160 for text in texts)
    assert none == "No results."
    assert bare.endswith("First (note)")
    assert "vermilion" not in "".join((found, beside, bare))
    assert "Near names: First" in unknown


def ark_replies(graph, calls):
    """Return the replies to these calls, each in a turn of its own."""
    said = turns([*([call] for call in calls), [("finish", {})]])
    options = {"agents": 1, "faithful": True, "settings": Settings()}
    [trajectory] = Retriever(graph, "ark", model=ScriptedModel(said), **options).search("x").trajectories
    *observations, _ = [observed.text for step in trajectory.steps for observed in step.observations]
    return observations


def test_ark_leaves_nothing_out_of_a_request_and_has_no_last_turn(languages):
    looks = [[("search_in_graph", {"query": "language", "size": 150})]]
    model = ScriptedModel(turns(looks))
    options = {"agents": 1, "max_steps": 12, "faithful": True, "settings": Settings()}
    [trajectory] = Retriever(languages, "ark", model=model, **options).search("x").trajectories
    *_, last = requests_of(trajectory)
    assert sum(len(message.content or "") for message in last.chat.messages) > 24_000 * 4
    assert len({message.content for message in last.chat.messages if message.role == "tool"}) == 1
    spent = Retriever(languages, "ark", model=model, budget=Budget(calls=2), **options).search("x")
    assert (spent.usage.calls, spent.stopped_by) == (2, "calls")


# ------------------------------------------------------------------------------------------------------ graphscout


@pytest.mark.process
def test_graphscout_has_two_tools_and_tells_nothing(languages):
    requests, result = recorded("graphscout", languages)
    [system] = {request["messages"][0]["content"] for request in requests}
    assert len(requests) == 4
    for beyond in ("find(", "tool calls", "data", "may fail", "not in the evidence", "Print", "lost", "no orders"):
        assert beyond not in system, beyond
    for own in ("Node types", "Properties", "Edge types", "Cypher", "cypher(", "\\answer{FINAL_ANSWER}", "<tools>"):
        assert own in system.replace("\\\\", "\\"), own
    assert not re.search(r"- `?\w+`?: [\d,]+\n", system)
    results = "\n".join(message["content"] for message in requests[-1]["messages"] if message["role"] == "user")
    assert "{'topk': 2, 'results': [[{'node_id': 'organization:bell-labs'" in results
    assert "NameError: name 'find'" in results
    assert "Note:" not in results
    assert "<tool_response>\n\n</tool_response>" in results  # nothing was printed, and nothing is said of it
    assert (result.trajectories[0].answer, result.hits[0].id) == ("Niklaus Wirth", "person:niklaus-wirth")
    assert "nearest to each of these texts in words" in system
    assert "There is no tool 'look_up'" in results
    assert requests[0]["sampling"]["temperature"] == 0


@pytest.mark.process
def test_graphscouts_code_keeps_its_names_and_its_errors_name_no_tool_that_is_not_there(languages):
    asked = ["x = 40 + 2", "print(x)", "print(cypher('MATCH (n:person) RETURN n.text AS t'))"]
    looks = turns([*([("code_interpreter", {"code": code})] for code in asked), "\\answer{42}"])
    options = {"faithful": True, "tier": "monty", "settings": Settings()}
    trajectory, _ = Retriever(languages, "graphscout", model=ScriptedModel(looks), **options).search("x").trajectories
    _, kept, refused = [observed.text for step in trajectory.steps for observed in step.observations]
    assert kept == "42"
    assert "'text'" in refused
    assert refused.endswith("Only a search reads texts.")
    assert all(request.chat.sampling.max_tokens is None for request in requests_of(trajectory))


@pytest.mark.process
@pytest.mark.parametrize("said", ["I do not know.", "<tool_call>\n{'name': \n</tool_call>"])
def test_graphscout_ends_with_the_first_reply_without_a_call(languages, said):
    options = {"faithful": True, "tier": "monty", "settings": Settings()}
    result = Retriever(languages, "graphscout", model=ScriptedModel(turns([said])), **options).search("x")
    assert (result.usage.calls, result.trajectories[0].answer) == (1, None)
    looks = turns([[("node_id_retriever", {"queries": ["Pascal"]})]])
    result = Retriever(languages, "graphscout", model=ScriptedModel(looks), max_calls=3, **options).search("x")
    assert (result.usage.calls, result.trajectories[0].answer) == (4, None)


# ------------------------------------------------------------------------------------------------------- graphsearch


def test_graphsearch_asks_by_the_papers_templates_in_one_pass(plague):
    requests, _ = recorded("graphsearch", plague)
    systems = [request["messages"][0]["content"].partition("\n")[0] for request in requests]
    firsts = {"decompose": "You prepare a search", "ground": "complete", "refine": "You prepare evidence"}
    firsts |= {"answer": "You answer a sub-query", "draft": "You draft", "verify": "You judge", "expand": "You ask for"}
    assert {name: sum(first in one for one in systems) for name, first in firsts.items()} == {
        "decompose": 2,
        "ground": 4,
        "refine": 8,
        "answer": 6,
        "draft": 2,
        "verify": 2,
        "expand": 2,
    }
    everything = words_of(requests)
    assert not re.search(r"-{3}(Role|Goal|Input|Output)", everything)
    assert "[S1.C1]" in everything
    assert "Sub-queries at the most: 4" in everything
    assert "confidence" not in everything
    assert {request["sampling"]["temperature"] for request in requests} == {0}
    [verdict] = {json.dumps(one["reply_schema"]) for one in requests if "You judge" in one["messages"][0]["content"]}
    assert list(json.loads(verdict)["properties"]) == ["verdict"]
    assert '"reason"' not in everything
    users = [one["messages"][1]["content"] for one in requests]
    assert sum("Passages:\n" in user for user in users) >= 4
    assert not any("Passages:\nPassages:" in user for user in users)
    for system, user in zip(systems, users, strict=True):
        if re.search("You draft|You judge|You ask for", system):
            assert user.startswith(f"Question: {deep_search.QUESTION}\n")
    final = requests[-1]["messages"][1]["content"]
    assert "Draft (semantic, rejected)" in final
    assert "When did plague come to Venice?" in final


# ------------------------------------------------------------------------------------------------------------- spark


@pytest.mark.process
def test_spark_plans_in_searches_and_cypher_from_a_schema_and_cypher_examples(languages):
    [request], result = recorded("spark", languages)
    system, user = (message["content"] for message in request["messages"])
    steps = request["reply_schema"]["properties"]["steps"]["items"]["properties"]
    assert steps["op"]["enum"] == ["vector_search", "cypher"]
    assert list(steps) == ["op", "into", "query", "node_types", "k"]
    examples = user.partition("Cypher examples:\n")[2].partition("\n\nQuestion")[0].splitlines()
    assert 3 <= sum(line.startswith("MATCH ") for line in examples) <= 5
    assert len(examples) == 2 * sum(line.startswith("MATCH ") for line in examples)
    assert "(person)-[:worked_at]->(organization)\n" in user.replace("`", "")
    assert not re.search(r": [\d,]+$", user, re.M)  # counts
    assert not any(node.name in user.rpartition("Question")[0] for node in demo_records()[0] if len(node.name) > 12)
    assert {hit.id for hit in result.hits} >= {"person:ken-thompson"}
    assert "<name of a" in user
    assert request["reply_schema"]["properties"]["steps"]["maxItems"] == 16
    assert "$NAME" in user
    assert request["sampling"]["temperature"] == 0


@pytest.mark.process
def test_spark_asks_for_a_query_in_each_step_and_for_no_version(languages):
    [request], _ = recorded("spark", languages)
    schema = request["reply_schema"]
    assert list(schema["properties"]) == ["steps", "answer"]
    step = schema["properties"]["steps"]["items"]
    assert step["required"] == ["op", "into", "query"]
    assert step["properties"]["query"] == {"type": "string"}


@pytest.mark.process
@pytest.mark.parametrize("returned", ["p", "p.id", None])
def test_spark_takes_nodes_ids_and_the_set_of_a_search_alike(languages, returned):
    search, cypher = SPARK["steps"]
    wanted = "organization:bell-labs"
    plan = {"steps": [search], "answer": "labs"}
    if returned is not None:
        wanted = "person:ken-thompson"
        query = cypher["query"].replace("DISTINCT p", f"DISTINCT {returned}")
        plan = {"steps": [search, {**cypher, "query": query}], "answer": "who"}
    options = {"model": ScriptedModel(turns([plan])), "settings": Settings(), "faithful": True}
    result = Retriever(languages, "spark", **options).search("Who worked at Bell Labs?")
    assert wanted in {hit.id for hit in result.hits}
    assert not any("plain search" in note for note in result.notes)


@pytest.mark.process
def test_spark_and_its_fallback_weigh_bm25_by_the_papers_share(tmp_path):
    graph = embedded(Graph.from_records(*demo_records(), path=tmp_path / "graph"), tmp_path / "cache")
    for said, question in (["no plan"], "Who worked at Bell Labs?"), ([SPARK], "chess machine at Bell Labs"):
        options = {"faithful": True, "settings": Settings()}
        result = Retriever(graph, "spark", model=ScriptedModel(turns(said)), **options).search(question)
        ranked = [hit.id for hit in graph.search(question, 20, mode="hybrid:0.6")]
        assert ranked != [hit.id for hit in graph.search(question, 20, mode="hybrid")]
        if said == ["no plan"]:
            assert [hit.id for hit in result.hits] == ranked
        assert result.trajectories[0].toolbox.options["mode"] == "hybrid:0.6"


# -------------------------------------------------------------------------------------------------------------- sage


def test_sage_asks_no_model_and_fills_nothing_up(languages):
    requests, result = recorded("sage", languages)
    assert requests == []
    assert len(result.hits) <= 20


@pytest.mark.process
@pytest.mark.parametrize(("own", "prompt"), [({}, "spark-faithful"), ({"spark": {"faithful": False}}, "spark")])
@pytest.mark.parametrize("method", ["sage", "sage:spark"])
def test_sages_seeds_are_found_in_their_papers_form_by_one_call(languages, method, own, prompt):
    """Table 4: one call, one iteration. Where a plan names an edge, its k hits are the result, unexpanded."""
    options = {"model": ScriptedModel(turns([SPARK])), "settings": Settings(methods=own), "faithful": True}
    result = Retriever(languages, method, **options).search("Who worked at Bell Labs?")
    [planned] = [one for one in result.trajectories if one.model]
    assert (planned.prompt, len(list(requests_of(planned))), result.usage.calls) == (prompt, 1, 1)
    alone = {**options, "faithful": own == {}, "settings": Settings()}
    hits = Retriever(languages, "spark", **alone).search("Who worked at Bell Labs?").hits
    assert len(hits) > 1
    assert [hit.id for hit in result.hits] == [hit.id for hit in hits]
    [variant] = method_variants([f"{method} faithful=true"], settings=Settings(methods=own))
    if method == "sage:spark":
        assert variant.all_options()["spark.faithful"] is (own == {})


def test_sage_keeps_half_the_places_for_neighbours_whatever_their_score(build):
    """Listing 1: the k' best of all neighbours, those without a word of the question too; and no more than k'."""
    leaves = [Node(f"n{at}", "leaf", f"leaf {at}", "nothing of it") for at in range(9)]
    edges = [Edge("hub", "leads_to", leaf.id) for leaf in leaves]
    graph = build([Node("hub", "hub", "Hub", "a lighthouse"), *leaves], edges)
    hits = Retriever(graph, "sage", settings=Settings(), faithful=True).search("lighthouse", k=8).hits
    assert [hit.id for hit in hits] == ["hub", "n0", "n1", "n2", "n3"]


# ----------------------------------------------------------------------------------------------------------- replays


@pytest.mark.process
@pytest.mark.parametrize("name", NAMES)
def test_a_course_in_the_papers_form_replays(name, languages, plague):
    graph = plague if name == "graphsearch" else languages
    _, result = recorded(name, graph)
    calls = [call for one in result.trajectories if one.toolbox for call in replay(one, graph)]
    assert calls
    assert all(call.is_equal for call in calls)


@pytest.mark.process
def test_graphscout_without_code_speaks_of_none(languages):
    options = {"faithful": True, "tools": "no-code", "settings": Settings()}
    model = ScriptedModel(turns(["\\answer{Niklaus Wirth}"]))
    [trajectory] = Retriever(languages, "graphscout", model=model, **options).search("x").trajectories
    assert [tool.name for tool in trajectory.tools] == ["node_id_retriever"]
    assert not re.search("Cypher|code", trajectory.opening[0].content)
