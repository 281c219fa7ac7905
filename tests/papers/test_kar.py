"""KAR (Xia et al. 2024), after SAGE, appendix C.4 and table 4: two calls, e + 3 retrievals, triples from the graph."""

import json

import pytest

from fakes.limits import limits_in
from orienteer.errors import BadOption, ModelError
from orienteer.ingest import demo_records
from orienteer.lab.baselines import Kar, KarConfig
from orienteer.llm import Allowance, Budget, ScriptedModel, prompt_of
from orienteer.records import Edge, Message, Node, Question

QUESTION = "Who worked at both Bell Labs and Google?"
EXPANSION = "Ken Thompson and Rob Pike worked at Bell Labs, then at Google on Go."


@pytest.fixture(scope="module")
def graph(build):
    return build(*demo_records())


def is_first(messages):
    return messages[0].content == prompt_of("kar-entities").system


def writes(*entities, expansion=EXPANSION):
    named = json.dumps({"entities": entities})
    return lambda messages, tools, sampling: named if is_first(messages) else expansion


def ask(graph, policy, *, question=QUESTION, run=None, **options):
    limits = limits_in(options)
    kar = Kar(graph, ScriptedModel(policy), KarConfig(**options))
    return kar.retrieve(Question(text=question, **limits), run or Allowance(random_seed=7))


def ids(result):
    return [hit.id for hit in result.hits]


def calls_of(result):
    return [
        (call.name, json.loads(call.arguments))
        for step in result.trajectories[0].steps
        for call in step.reply.message.tool_calls
    ]


def plain(graph, query, k=20):
    return [hit.id for hit in graph.search(query, k)]


def shown(graph, *entities, question=QUESTION, **options):
    """Return what the second call is shown, and the result."""
    seen = []

    def policy(messages, tools, sampling):
        if not is_first(messages):
            seen.append(messages[-1].content)
        return writes(*entities)(messages, tools, sampling)

    result = ask(graph, policy, question=question, **options)
    [text] = seen
    return text, result


def triples_in(text):
    return [line for line in text.partition("Texts:")[0].splitlines() if line.startswith("[")]


ENTITIES = ("Bell Labs", "Google", "Niklaus Wirth", "Pascal", "Erlang")


@pytest.mark.parametrize("e", range(len(ENTITIES) + 1))
def test_two_calls_and_e_plus_three_retrievals(graph, e):
    result = ask(graph, writes(*ENTITIES[:e]))
    assert result.usage.calls == 2
    names = [name for name, _ in calls_of(result)]
    assert len(names) == e + 3
    assert names == ["search_in_graph", *["search_in_neighborhood"] * (e + 1), "search_in_graph"]


def test_the_e_plus_one_neighbourhoods_are_the_questions_own_documents_and_each_entity(graph):
    result = ask(graph, writes("Bell Labs", "Google"))
    [_, own, first, second, _] = calls_of(result)
    assert own[1]["node"] == "@1"
    assert (first[1]["node"], second[1]["node"]) == ("organization:bell-labs", "organization:google")
    assert {call[1]["query"] for call in (own, first, second)} == {QUESTION}


def test_the_last_search_takes_question_and_expansion(graph):
    result = ask(graph, writes("Bell Labs", "Google"))
    assert calls_of(result)[-1] == ("search_in_graph", {"query": f"{QUESTION}\n{EXPANSION}", "k": 20})
    assert ids(result) == plain(graph, f"{QUESTION} {EXPANSION}")
    assert {"person:ken-thompson", "person:rob-pike"} <= set(ids(result)[:4])


def test_triples_are_edges_of_the_graph_each_with_its_direction(build):
    nodes = [Node("b", "Town", "Basel"), Node("r", "River", "Rhine", "zzz long"), Node("s", "Bridge", "Span", "zzz")]
    edges = [Edge("r", "crosses", "b"), Edge("b", "keeps", "s"), Edge("r", "floods", "b"), Edge("s", "spans", "r")]
    text, _ = shown(build(nodes, edges), "Basel", question="xyzzy")
    assert set(triples_in(text)) == {
        "[b] Basel (Town) <-crosses- <-floods- [r] Rhine (River)",
        "[b] Basel (Town) -keeps-> [s] Span (Bridge)",
    }


def test_the_relation_filter_keeps_the_documents_nearest_to_the_question(build):
    hub = Node("h", "Hub", "Hub")
    spokes = [Node(f"s{at:02}", "Spoke", f"Spoke {at}", "heron " * at + "reed") for at in range(12)]
    star = build([hub, *spokes], [Edge("h", "has", one.id) for one in spokes])
    expected = [hit.id for hit in star.search("Which heron?", 3)]
    text, _ = shown(star, "Hub", question="Which heron?", neighbors=3, documents=1)
    kept = {line.partition(" -has-> [")[2].partition("]")[0] for line in triples_in(text) if line.startswith("[h]")}
    assert kept == set(expected)


def test_a_document_is_told_once_however_many_triples_hold_it(graph):
    text, _ = shown(graph, "Bell Labs", "Google")
    texts = [line for line in text.partition("Texts:")[2].splitlines() if line.startswith("[person:rob-pike]")]
    assert len(texts) == 1
    assert sum("[person:rob-pike]" in line for line in triples_in(text)) >= 2


def test_an_entity_is_found_by_alias_and_by_a_near_name_which_is_said(graph):
    result = ask(graph, writes("FSF Award", "Niklaus Wirt"))
    nodes = [arguments["node"] for name, arguments in calls_of(result) if name == "search_in_neighborhood"]
    assert nodes[1:] == ["award:fsf-award", "person:niklaus-wirth"]
    assert any("'Niklaus Wirt' is read as 'Niklaus Wirth'" in note for note in result.notes)


def test_of_several_nodes_of_one_name_the_one_nearest_to_the_question_is_taken(build):
    nodes = [Node("s1", "Film", "Salt", "two sisters"), Node("s2", "Place", "Salt", "a town on the coast")]
    result = ask(build(nodes), writes("Salt"), question="Which coast?")
    assert [arguments["node"] for name, arguments in calls_of(result) if name == "search_in_neighborhood"][1:] == ["s2"]


def test_what_the_graph_does_not_hold_costs_no_retrieval_and_is_said(graph):
    result = ask(graph, writes("Xyzzyplugh", "Google", "google", " ", "Google"))
    assert len(calls_of(result)) == 1 + 3
    assert any("'Xyzzyplugh'" in note for note in result.notes)


def test_entities_are_bounded_and_that_is_said(graph):
    result = ask(graph, writes(*(f"Pascal {at}" for at in range(40))), entities=2)
    assert any("of 40 entities the first 2" in note for note in result.notes)
    assert len(calls_of(result)) <= 2 + 3


HOSTILE = [
    "",
    "Bell Labs, Google",
    "[]",
    '{"entities": "Google"}',
    '{"entities": [1]}',
    '{"entities": {}}',
    "{",
    "null",
]


@pytest.mark.parametrize("said", [*HOSTILE, Message(role="assistant"), [("search_in_graph", {"query": "x"})]])
def test_entities_in_no_form_leave_the_question_as_the_only_entity(graph, said):
    result = ask(graph, lambda messages, tools, sampling: said if is_first(messages) else EXPANSION)
    assert [name for name, _ in calls_of(result)] == ["search_in_graph", "search_in_neighborhood", "search_in_graph"]
    assert any("no entities" in note for note in result.notes)
    assert ids(result) == plain(graph, f"{QUESTION} {EXPANSION}")
    assert result.usage.calls == 3  # one of them to put the first reply right


@pytest.mark.parametrize(
    "name", ["@1", "@99", "[language:nothing]", "language:pascal", "\x00", "x" * 9_000, "?", "( )"]
)
def test_an_entity_of_any_spelling_does_no_harm(graph, name):
    result = ask(graph, writes(name))
    assert result.hits
    assert len(calls_of(result)) in (3, 4)
    assert not any(seen.error for step in result.trajectories[0].steps for seen in step.observations)


def test_an_empty_expansion_leaves_the_question_and_a_note(graph):
    result = ask(graph, writes("Google", expansion=""))
    assert ids(result)[:5] == plain(graph, QUESTION, 5)
    assert any("nothing was written" in note for note in result.notes)


def test_a_question_whose_words_the_graph_lacks_is_expanded_from_its_entities(graph):
    text, result = shown(graph, "Google", question="zzzqq?")
    assert triples_in(text)
    assert len(calls_of(result)) == 1 + 2  # no documents of its own, so no neighbours of these


@pytest.mark.parametrize("calls", [0, 1])
def test_a_spent_budget_leaves_the_question_alone(graph, calls):
    result = ask(graph, writes("Google"), run=Allowance(Budget(calls=2), reserve=2 - calls))
    assert (result.usage.calls, result.stopped_by) == (calls, "calls")
    assert set(ids(result)[:5]) == set(plain(graph, QUESTION, 5))


def test_a_failed_model_leaves_no_ranking(graph):
    def policy(messages, tools, sampling):
        raise ModelError("down")

    assert ask(graph, policy).hits == ()


def test_filters_hold_for_answers_and_not_for_what_lies_around(graph):
    text, result = shown(graph, "Google", node_types=("organization",))
    assert any("(person)" in line for line in triples_in(text))
    assert {hit.type for hit in result.hits} == {"organization"}


@pytest.mark.parametrize("name", ["entities", "documents", "neighbors"])
def test_a_setting_that_cannot_be_is_named(name):
    with pytest.raises(BadOption, match=f"{name} is 0"):
        KarConfig(**{name: 0})
