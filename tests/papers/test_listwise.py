"""The listwise rerank of AF-Retriever: one call, twenty documents with their relations."""

import json
import random

import pytest

from orienteer.errors import BudgetExhausted, ModelError
from orienteer.lab.baselines import ListwiseReranker, document_of_hit, hits_in_order
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.methods import Ark, ArkConfig
from orienteer.records import Edge, Node, Question, Usage
from orienteer.retrieval import present_hit

QUESTION = Question(text="Which reed grows on the islet?")


@pytest.fixture(scope="module")
def graph(build):
    nodes = [Node(f"n{at:02}", "reed", f"reed {at}", "grows on an islet") for at in range(30)]
    edges = [Edge(f"n{at:02}", "beside", "n00") for at in range(1, 30)]
    return build([*nodes, Node("o[1]", "reed", "odd id", "$question")], edges)


def hits(graph, *ids):
    return [
        present_hit(graph, graph.arrays.row(one), score=len(ids) - at, query=QUESTION.text, votes=at)
        for at, one in enumerate(ids)
    ]


def says(text, seen=None):
    def policy(messages, tools, sampling):
        if seen is not None:
            seen.append(messages)
        return text if isinstance(text, str) else json.dumps({"ids": text})

    return ScriptedModel(policy)


def order(graph, text, *ids, seen=None):
    return ListwiseReranker(graph, says(text, seen))(QUESTION, hits(graph, *ids))


def test_the_order_is_the_models(graph):
    assert order(graph, ["n03", "n01", "n02"], "n01", "n02", "n03") == ("n03", "n01", "n02")


def test_invented_ids_are_dropped_and_missing_ones_appended(graph):
    assert order(graph, ["n09", "n03", "n03", "zebra"], "n01", "n02", "n03") == ("n03", "n01", "n02")


def test_ids_in_brackets_are_known_also_where_the_id_has_some(graph):
    assert order(graph, ["[o[1]]", " [n02] "], "n01", "n02", "o[1]") == ("o[1]", "n02", "n01")
    assert order(graph, ["o[1]"], "n01", "o[1]") == ("o[1]", "n01")


@pytest.mark.parametrize("text", ["", "n02 is best", "[]", "{}", '{"ids": 5}', '{"ids": [5]}', '{"ids": []}'])
def test_an_order_that_cannot_be_read_leaves_the_ranking(graph, text):
    assert order(graph, text, "n01", "n02", "n03") == ("n01", "n02", "n03")


@pytest.mark.parametrize("seed", range(30))
def test_whatever_the_model_gives_comes_out_as_a_permutation(seed):
    numbers = random.Random(seed)
    ids = [f"n{at:02}" for at in range(numbers.randint(0, 25))]
    wanted = numbers.choices([*ids, "made up", "[n01]", ""], k=30)
    found = hits_in_order(wanted, ids)
    assert sorted(found) == ids
    known = [one for one in dict.fromkeys("n01" if one == "[n01]" else one for one in wanted) if one in ids]
    assert list(found) == [*known, *(one for one in ids if one not in known)]


def test_twenty_documents_are_shown_and_the_rest_keep_their_places(graph):
    seen = []
    ids = [f"n{at:02}" for at in range(30)]
    found = order(graph, ["n25", "n19"], *ids, seen=seen)
    assert found == ("n19", *ids[:19], *ids[20:])
    assert [f"[n{at:02}]" in seen[0][1].content for at in (0, 19, 20, 25)] == [True, True, False, False]


def test_a_document_has_text_and_relations(graph):
    shown = document_of_hit(graph, hits(graph, "n00")[0], QUESTION.text)
    assert shown.startswith("[n00] reed 0 (reed)\ngrows on an islet")
    assert "<-beside- reed 1" in shown
    assert "17 more" in shown  # of 29, 12 are shown
    assert "relations: none" in document_of_hit(graph, hits(graph, "o[1]")[0], QUESTION.text)


def test_text_of_the_graph_cannot_fill_placeholders(graph):
    seen = []
    order(graph, [], "o[1]", "n01", seen=seen)
    assert "$question" in seen[0][1].content


def test_one_hit_or_none_needs_no_call(graph):
    seen = []
    assert order(graph, [], seen=seen) == ()
    assert order(graph, [], "n01", seen=seen) == ("n01",)
    assert seen == []


def test_it_spends_out_of_the_run_that_it_is_given(graph):
    run = Allowance(Budget(calls=1), reserve=0)
    rerank = ListwiseReranker(graph, says(["n02"]), run=run)
    assert rerank(QUESTION, hits(graph, "n01", "n02")) == ("n02", "n01")
    assert run.usage().calls == 1
    with pytest.raises(BudgetExhausted):
        rerank(QUESTION, hits(graph, "n01", "n02"))


def test_a_model_that_fails_says_so(graph):
    def fail(messages, tools, sampling):
        raise ModelError("no answer")

    with pytest.raises(ModelError):
        ListwiseReranker(graph, ScriptedModel(fail))(QUESTION, hits(graph, "n01", "n02"))


def test_ark_takes_it_as_its_reranker(graph):
    def agent(messages, tools, sampling):
        done = sum(message.role == "assistant" for message in messages)
        return [("add_to_answer", {"nodes": ["n01", "n02", "n03"]})] if not done else [("finish", {})]

    ark = Ark(
        graph,
        ScriptedModel(agent, usage=Usage(calls=1)),
        ArkConfig(agents=1),
        rerank=ListwiseReranker(graph, says(["n03"])),
    )
    result = ark.retrieve(QUESTION, Allowance())
    assert [hit.id for hit in result.hits] == ["n03", "n01", "n02"]
