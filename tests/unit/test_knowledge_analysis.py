"""Query analysis: names, themes and answer types, by names of the graph or by one call of a model."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from orienteer.errors import BadOption, BudgetExhausted, ModelError
from orienteer.graph import Graph, TitleFinder
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.methods import METHODS
from orienteer.records import Edge, Node, Question
from orienteer.retrieval import Light, LightConfig, ModelAnalyzer, NameAnalyzer, Query, open_analyzer
from orienteer.retriever import failure

NODES = [
    Node("d#0", "chunk", "Night Ferry (film)", "Night Ferry was directed by Ada Holm."),
    Node("film:1", "film", "Night Ferry (film)"),
    Node("person:1", "person", "Ada Holm"),
    Node("place:1", "place", "林檎の町"),
]
EDGES = [Edge("d#0", "titled", "film:1"), Edge("person:1", "directed", "film:1")]
OWN = [
    Node("g1", "gene", "BRCA1"),
    Node("d1", "disease", "breast cancer"),
    Node("c1", "compound", "olaparib", "", ("Lynparza",)),
]
OWN_EDGES = [Edge("c1", "treats", "d1"), Edge("g1", "associated_with", "d1")]


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


@pytest.fixture(scope="module")
def own(build):
    return build(OWN, OWN_EDGES)


def names(graph, text):
    return NameAnalyzer(graph).analyze(text, Allowance())


def test_names_of_the_graph_and_runs_of_capitals_are_low_and_other_words_high(graph):
    found = names(graph, "Who is the mother of the director of Night Ferry, seen by Noor Vik?")
    assert found.low == ("Night Ferry", "Noor Vik")
    assert found.high == ("mother", "director", "seen")
    assert found.answer_types == ("person",)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("Where was Ada Holm born?", ("place",)),
        ("Which film did Ada Holm make, and where?", ("film",)),
        ("In what places were films made?", ("place",)),
        ("What is it about?", ()),
    ],
)
def test_the_type_that_is_named_first_else_the_word_that_asks_says_the_answers_type(graph, text, types):
    assert names(graph, text).answer_types == types


def test_a_graph_of_one_entity_type_is_asked_for_none(build):
    one = build([Node("p", "person", "Ada"), Node("d#0", "chunk", "Ada", "Ada")])
    assert names(one, "Who is Ada?").answer_types == ()


def test_other_scripts_and_numbers_pass(graph):
    found = names(graph, "林檎の町 is how far from Night Ferry in 1,363.50 km?")
    assert found.low == ("林檎の町", "Night Ferry")
    assert "1,363.50 km" in found.high


def test_a_persons_graph_is_named_in_lower_case_too_and_its_edges_are_themes(own):
    found = names(own, "which compounds are treating breast cancer?")
    assert found.low == ("breast cancer",)
    assert found.answer_types == ("compound",)
    assert found.high == ("compounds", "treating", "treats")
    assert names(own, "what does lynparza treat?").low == ("lynparza",)


def test_titles_of_passages_are_no_names_in_lower_case(graph):
    assert names(graph, "a night ferry to the island").low == ()


def test_places_of_titles_stand_apart_and_in_order(graph):
    text = "Ada Holm made Night Ferry"
    found = TitleFinder(graph.arrays).places(text)
    assert [text[one.begin : one.end] for one in found] == ["Ada Holm", "Night Ferry"]
    assert sorted(row for one in found for row in one.rows) == TitleFinder(graph.arrays)(text).tolist()


def replies(*said):
    """Return a model that says one thing after another by how long the conversation is, and what it was asked."""
    seen = []

    def policy(messages, tools, sampling):
        seen.append(messages)
        return said[min(len(messages) // 2, len(said)) - 1]

    return ScriptedModel(policy), seen


GOOD = json.dumps({"low": ["Night Ferry", " "], "high": ["mother of"], "answer_types": ["person", "person"]})


def test_a_model_is_asked_once_for_a_text_and_the_run_pays(graph):
    model, seen = replies(GOOD)
    run = Allowance()
    analyzer = ModelAnalyzer(graph, model)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: analyzer.analyze("Who?", run), range(16)))
    assert set(found) == {Query("Who?", ("Night Ferry",), ("mother of",), ("person",))}
    assert len(seen) == 1
    assert run.usage().calls == 1
    assert "film, person, place" in seen[0][1].content
    assert "chunk" not in seen[0][1].content


def test_a_type_that_the_graph_lacks_is_repaired_once(graph):
    wrong = json.dumps({"low": ["Night Ferry"], "high": [], "answer_types": ["planet"]})
    model, seen = replies(wrong, GOOD)
    assert ModelAnalyzer(graph, model).analyze("Who?", Allowance()).answer_types == ("person",)
    assert len(seen) == 2


@pytest.mark.parametrize("said", ["no json", '{"low": [], "high": [" "], "answer_types": []}', "[]"])
def test_what_cannot_be_read_leaves_the_analysis_by_names(graph, said):
    text = "Who directed Night Ferry?"
    assert ModelAnalyzer(graph, replies(said)[0]).analyze(text, Allowance()) == names(graph, text)


def test_a_dead_model_and_a_spent_budget_are_told(graph):
    def dead(messages, tools, sampling):
        raise ModelError("gone")

    with pytest.raises(ModelError, match="gone"):
        ModelAnalyzer(graph, ScriptedModel(dead)).analyze("Who?", Allowance())
    spent = Allowance(Budget(calls=1))
    model, seen = replies(GOOD)
    with pytest.raises(BudgetExhausted):
        ModelAnalyzer(graph, model).analyze("Who?", spent)
    assert not seen


def test_a_model_that_is_wanted_and_missing_is_told(graph):
    with pytest.raises(BadOption, match="no model"):
        open_analyzer(graph, "model")
    with pytest.raises(BadOption, match="analysis is 'guess'"):
        LightConfig(analysis="guess")
    base = Light(graph, LightConfig(analysis="model"))
    assert base.gather(Query("Night Ferry", low=("Night Ferry",)), Allowance())  # it was analyzed: none is needed
    with pytest.raises(BadOption, match="no model"):
        base.gather(Query("Night Ferry"), Allowance())


def test_a_graph_without_entities_can_be_analyzed(tmp_path):
    only = Graph.from_records([Node("d#0", "chunk", "Salt", "Salt.")], [], path=tmp_path / "only")
    model, seen = replies(json.dumps({"low": ["Salt"], "high": [], "answer_types": []}))
    assert ModelAnalyzer(only, model).analyze("What is Salt?", Allowance()).low == ("Salt",)
    assert "none" in seen[0][1].content


def test_a_reply_that_cannot_be_read_is_noted(graph):
    found = (
        METHODS["light"]
        .make(graph, model=replies("no json")[0], options={"analysis": "model"})
        .retrieve(Question(text="Who directed Night Ferry?"), Allowance())
    )
    assert any("the query is analyzed by names" in note for note in found.notes)
    good = METHODS["light"].make(graph, model=replies(GOOD)[0], options={"analysis": "model"})
    assert not any("by names" in note for note in good.retrieve(Question(text="Who?"), Allowance()).notes)


def test_what_a_dead_model_said_is_told(graph):
    def dead(messages, tools, sampling):
        raise ModelError("http://localhost:1/v1 failed with 500")

    method = METHODS["light"].make(graph, model=ScriptedModel(dead), options={"analysis": "model"})
    found = method.retrieve(Question(text="Who?"), Allowance())
    assert found.trajectories[0].error == "http://localhost:1/v1 failed with 500"
    assert str(failure(found)) == "http://localhost:1/v1 failed with 500"
