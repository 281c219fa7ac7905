"""HyDE (Gao et al. 2023): a made-up passage is searched with, beside the question."""

import json
import math
from collections import Counter

import numpy as np
import pytest

from fakes.embedder import WordEmbedder, embedded
from fakes.limits import limits_in
from orienteer.errors import BadOption, ModelError, UnknownType
from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.lab.baselines import LONGEST_EXPANSION, Hyde, HydeConfig
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.records import Message, Node, Question
from orienteer.tools import Toolbox

K1, B = 1.2, 0.75
QUESTION = "Which language is named after a mathematician who built a calculator?"
PASSAGE = "Pascal is a language for teaching structured programming, designed by Niklaus Wirth."


@pytest.fixture(scope="module")
def graph(build):
    return build(*demo_records())


def ask(graph, policy, *, question=QUESTION, run=None, **options):
    limits = limits_in(options)
    hyde = Hyde(graph, ScriptedModel(policy), HydeConfig(**options))
    return hyde.retrieve(Question(text=question, **limits), run or Allowance(random_seed=7))


def says(text):
    return lambda messages, tools, sampling: text


def ids(result):
    return [hit.id for hit in result.hits]


def calls_of(result):
    return [call for step in result.trajectories[0].steps for call in step.reply.message.tool_calls]


def best(graph, query, k):
    """Return the ids of BM25 (Lucene's) as its formula reads, in float64."""
    texts = {}
    for node_id in graph.node_ids():
        node = graph.node(node_id)
        texts[node_id] = graph.arrays.tokenizer.terms(" ".join((node.name, *node.aliases, node.text)))
    mean = sum(map(len, texts.values())) / len(texts)
    scores = Counter()
    for term in dict.fromkeys(graph.arrays.tokenizer.terms(query)):
        having = [node_id for node_id, terms in texts.items() if term in terms]
        idf = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for node_id in having:
            count = texts[node_id].count(term)
            scores[node_id] += idf * count / (count + K1 * (1 - B + B * len(texts[node_id]) / mean))
    return sorted(scores, key=lambda node_id: (-scores[node_id], node_id))[:k]


def test_the_ranking_is_bm25_over_question_and_passage_together(graph):
    result = ask(graph, says(PASSAGE))
    assert ids(result) == best(graph, f"{QUESTION} {PASSAGE}", 20)
    assert "language:pascal" in ids(result)[:2]
    assert "language:pascal" not in best(graph, QUESTION, 2)
    assert ids(result) != best(graph, QUESTION, 20)
    assert ids(result) != best(graph, PASSAGE, 20)  # the question is kept beside the passage


def test_the_passage_counts_one_call_and_one_search(graph):
    result = ask(graph, says(PASSAGE))
    assert result.usage.calls == 1
    assert [call.name for call in calls_of(result)] == ["search_in_graph"]
    assert result.stopped_by == "finish"


def test_n_samples_are_n_calls_with_seeds_of_their_own_and_all_are_searched_with(graph):
    seeds = []

    def policy(messages, tools, sampling):
        seeds.append(sampling.random_seed)
        return f"{('Erlang', 'Haskell', 'Simula')[len(seeds) - 1]} is meant."

    result = ask(graph, policy, passages=3)
    assert result.usage.calls == len(set(seeds)) == 3
    [search] = calls_of(result)
    assert all(name in search.arguments for name in ("Erlang", "Haskell", "Simula"))
    assert {"language:erlang", "language:haskell", "language:simula"} <= set(ids(result))


def test_the_defaults():
    config = HydeConfig()
    assert (config.passages, config.temperature) == (1, 0.7)


def test_the_model_sees_the_question_and_the_graphs_types_and_no_tools(graph):
    seen = []

    def policy(messages, tools, sampling):
        seen.append((" ".join(message.content for message in messages), tools, sampling.temperature))
        return PASSAGE

    ask(graph, policy)
    [(text, tools, temperature)] = seen
    assert QUESTION in text
    assert all(name in text for name in graph.schema.node_types)
    assert (tools, temperature) == ((), 0.7)


def test_a_hit_says_which_words_only_the_passage_brought_in(graph):
    result = ask(graph, says("Pascal is for teaching."), question="What did Niklaus Wirth design?")
    [pascal] = [hit for hit in result.hits if hit.id == "language:pascal"]
    asked, _, written = pascal.why.partition("of the expansion")
    assert "teaching" in written
    assert "teaching" not in asked
    assert written.index("teaching") < written.index("for")  # rarest first
    [wirth] = [hit for hit in result.hits if hit.id == "person:niklaus-wirth"]
    assert "wirth" in wirth.why.partition("of the expansion")[0]


@pytest.mark.parametrize(
    "said",
    ["", "   ", Message(role="assistant"), [("search_in_graph", {"query": "x"})], "<think>x</think>", "<think>x"],
)
def test_a_model_that_writes_nothing_leaves_the_question_and_a_note(graph, said):
    result = ask(graph, says(said))
    assert ids(result) == best(graph, QUESTION, 20)
    assert any("nothing was written" in note for note in result.notes)


@pytest.mark.parametrize(
    "said",
    ['{"a": [', "@1", "$question ${x}", "\x00\x01\u202e", "zzzqq " * 50, "[language:nothing]", "林檎 \U0001f30a"],
)
def test_whatever_the_model_writes_the_hits_are_the_graphs_nodes(graph, said):
    result = ask(graph, says(said))
    assert ids(result)
    assert set(ids(result)) <= set(graph.node_ids())
    assert len(set(ids(result))) == len(result.hits)
    assert all(hit.why for hit in result.hits)


def test_thinking_aloud_is_not_searched_with(graph):
    [search] = calls_of(ask(graph, says(f"<think>Perhaps Erlang?</think>\n{PASSAGE}")))
    assert "Erlang" not in search.arguments


def test_a_passage_without_end_is_cut_and_that_is_said(graph):
    result = ask(graph, says("pascal " * LONGEST_EXPANSION))
    [search] = calls_of(result)
    assert len(search.arguments) < LONGEST_EXPANSION + 200
    assert any(f"the first {LONGEST_EXPANSION}" in note for note in result.notes)


def test_a_failed_model_leaves_no_ranking_and_a_note(graph):
    def policy(messages, tools, sampling):
        raise ModelError("down")

    result = ask(graph, policy)
    assert (result.hits, result.stopped_by) == ((), "error")
    assert any("down" in note for note in result.notes)


def test_a_spent_budget_leaves_the_passages_so_far(graph):
    result = ask(graph, says(PASSAGE), passages=3, run=Allowance(Budget(calls=2), reserve=0))
    assert (result.usage.calls, result.stopped_by) == (2, "calls")
    assert ids(result) == best(graph, f"{QUESTION} {PASSAGE}", 20)


def test_all_k_hits_are_ranked_also_where_the_tools_reply_has_no_room_for_them(build):
    wide = build([Node(f"n{at:03}", "Product", f"tent {'for the long trail ' * 9}{at}") for at in range(100)])
    result = ask(wide, says("tent"), question="a tent", k=100)
    [step] = result.trajectories[0].steps
    assert len(step.observations[0].nodes) < 100
    assert ids(result) == best(wide, "a tent", 100)
    assert Toolbox.full(wide).session.reply_tokens == 1_200  # what the premise above rests on


def test_filters_hold(graph):
    result = ask(graph, says(PASSAGE), node_types=("person",))
    assert {hit.type for hit in result.hits} == {"person"}
    with pytest.raises(UnknownType):
        ask(graph, says(PASSAGE), node_types=("river",))


@pytest.mark.parametrize("options", [{"passages": 0}, {"passages": -1}, {"passages": 64}])
def test_a_setting_that_cannot_be_is_named(options):
    [(name, value)] = options.items()
    with pytest.raises(BadOption, match=f"{name} is {value}"):
        HydeConfig(**options)


# --------------------------------------------------------------------------------------- as the paper has it: vectors

PASSAGES = ("Pascal is for teaching structured programming.", "Erlang is for telephones.", "Designed by Niklaus Wirth.")


@pytest.fixture(scope="module")
def vectors(scratch):
    return embedded(Graph.from_records(*demo_records(), path=scratch()), scratch())


def passing(messages, tools, sampling):
    return PASSAGES[sampling.random_seed % len(PASSAGES)]


def mean_of(texts):
    """Return the mean of the vectors of texts. Gao et al. 2023, equation 8: the question's is one of them."""
    each = WordEmbedder().embed(texts, kind="document").astype(np.float64)
    assert np.linalg.norm(each, axis=1) == pytest.approx(1.0, abs=1e-5)
    return each.mean(axis=0) / np.linalg.norm(each.mean(axis=0))


def cosines(graph, vector):
    texts = {node_id: graph.node(node_id) for node_id in graph.node_ids()}
    each = WordEmbedder().embed(
        [f"{one.name}. {one.text}" if one.text else one.name for one in texts.values()], kind=""
    )
    return dict(zip(texts, (each @ vector).tolist(), strict=True))


@pytest.mark.slow
def test_the_dense_ranking_is_by_the_mean_of_the_passages_and_the_questions_vectors(vectors):
    result = ask(vectors, passing, passages=3, mode="dense", k=10, run=Allowance(random_seed=0))
    found = cosines(vectors, mean_of([QUESTION, *PASSAGES]))
    order = sorted(found, key=lambda node: -found[node])
    assert found[order[9]] - found[order[10]] > 1e-3, "the premise: no tie at the end"
    assert ids(result) == order[:10]
    alone = cosines(vectors, mean_of([f"{QUESTION}\n" + "\n".join(PASSAGES)]))
    assert ids(result) != sorted(alone, key=lambda node: -alone[node])[:10]  # that of all the words together
    [search] = calls_of(result)
    assert json.loads(search.arguments)["passages"] == list(PASSAGES)


def test_the_hybrid_ranking_takes_the_words_of_all_and_the_mean(vectors):
    result = ask(vectors, passing, passages=2, mode="hybrid", k=5, run=Allowance(random_seed=0))
    rows = np.arange(len(vectors), dtype=np.int32)
    words = vectors.arrays.searcher("lexical").scores("\n".join((QUESTION, *PASSAGES[:2])), rows)
    near_by_id = cosines(vectors, mean_of([QUESTION, *PASSAGES[:2]]))
    near = np.array([near_by_id[vectors.arrays.ids[row]] for row in rows])
    score = 0.4 * words / words.max() + 0.6 * (near - near.min()) / (near.max() - near.min())
    assert ids(result) == [vectors.arrays.ids[row] for row in np.argsort(-score)[:5]]


def test_passages_that_say_nothing_leave_the_question(vectors):
    result = ask(vectors, lambda *_: " ", passages=2, mode="dense", k=5)
    assert ids(result) == [hit.id for hit in vectors.search(QUESTION, 5, mode="dense")]
    assert "nothing was written" in result.notes[0]


def test_by_words_a_tool_offers_no_passages(graph, vectors):
    assert "passages" not in str(ask(graph, says(PASSAGE)).trajectories[0].tools)
    assert "passages" in str(ask(vectors, says(PASSAGE), mode="dense").trajectories[0].tools)
