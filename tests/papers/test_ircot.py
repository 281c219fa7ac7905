"""IRCoT (Trivedi et al. 2023): retrieve, one sentence, retrieve by it, and so on to "answer is:"; then a reader."""

import json

import numpy as np
import pytest

from coast import QUESTION, prompts
from fakes import Answer
from fakes.embedder import embedded
from fakes.refusals import answer_of
from orienteer.agents import NOT_THERE
from orienteer.errors import BadOption, ModelError
from orienteer.graph import Graph
from orienteer.lab.baselines import IrCotConfig
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Budget
from orienteer.records import Node
from orienteer.retriever import failure

pytestmark = pytest.mark.server

CHAIN = ("Mill Light was designed by Ines Varga.", "Ines Varga was born in Orsova.", "So the answer is: Orsova.")
READ = "Varga drew the light [C1] and was born in Orsova [C2]. Answer: Orsova [C2]"


def thinks(*sentences, reads=READ):
    """Return what a model says that writes these sentences in turn, the last again and again, and then reads."""

    def say(system, user):
        if "one sentence at a time" not in system:
            return reads
        chain = user.rpartition("Chain so far: ")[2]
        return next((one for one in sentences if one not in chain), sentences[-1])

    return say


def searches(result):
    calls = [call for step in result.trajectories[0].steps for call in step.reply.message.tool_calls]
    return [json.loads(call.arguments)["query"] for call in calls]


def passages(prompt):
    return [line.partition("] ")[2] for line in prompt.splitlines() if line.startswith("[C")]


def test_sentences_and_searches_take_turns(asking):
    retriever, server = asking("ircot", thinks(*CHAIN), paragraphs=1)
    result = retriever.ask(QUESTION)
    assert searches(result) == [QUESTION, *CHAIN[:2]]  # the sentence that answers is not searched with
    first, second, third, reader = prompts(server)
    assert "Chain so far: (empty)" in first
    assert f"Chain so far: {CHAIN[0]}\n" in second
    assert f"Chain so far: {CHAIN[0]} {CHAIN[1]}\n" in third
    counts = [len(passages(prompt)) for prompt in (first, second, third)]
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert counts[-1] > 1
    assert passages(second)[: counts[0]] == passages(first)  # they accumulate, in the order of finding
    assert passages(reader) == passages(third)
    assert "Chain" not in reader  # the reader reasons anew
    assert result.usage.calls == 4


def test_the_answer_is_the_readers_without_its_reasoning(asking):
    retriever, _ = asking("ircot", thinks(*CHAIN))
    result = retriever.ask(QUESTION)
    assert result.answer == f"Orsova [{result.hits[1].id}]"
    assert result.long_answer == f"Varga drew the light [d#0] and was born in Orsova [{result.hits[1].id}]."
    assert result.trajectories[-1].selected == (result.hits[1].id, "d#0")
    assert result.notes == ()


def test_a_ranking_alone_leaves_the_reader_out(asking):
    retriever, server = asking("ircot", thinks(*CHAIN))
    result = retriever.search(QUESTION)
    assert result.answer is None
    assert len(server.bodies) == 3
    assert {hit.type for hit in result.hits} <= {"chunk", "table"}
    assert result.hits[0].why == "found by the question"


def test_of_several_sentences_the_first_new_one_counts(asking):
    retriever, server = asking("ircot", thinks(" ".join(CHAIN)))
    assert searches(retriever.search(QUESTION)) == [QUESTION, CHAIN[0], CHAIN[1]]
    assert f"Chain so far: {CHAIN[0]} {CHAIN[1]}\n" in prompts(server)[-1]


@pytest.mark.parametrize("said", ["1. {}", "- {}", "... {}"])
def test_what_has_no_words_is_no_sentence(asking, said):
    retriever, _ = asking("ircot", thinks(said.format(CHAIN[0]), said.format(CHAIN[2])))
    searched = searches(retriever.search(QUESTION))
    assert [one.removeprefix("- ") for one in searched] == [QUESTION, CHAIN[0]]


def test_a_sentence_too_long_for_the_chain_is_not_new_a_second_time(asking):
    retriever, server = asking("ircot", lambda system, user: "Orsova " * 400)
    result = retriever.search(QUESTION)
    assert len(server.bodies) == 2
    assert any("wrote no new sentence in step 2" in note for note in result.notes)


@pytest.mark.parametrize("most", [1, 3])
def test_the_chain_ends_at_its_limit(asking, most):
    retriever, _ = asking("ircot", thinks(*(f"Thought {at} is of Orsova." for at in range(9))), max_steps=most)
    result = retriever.ask(QUESTION)
    assert result.usage.calls == most + 1
    assert any(f"no answer in {most} sentences" in note for note in result.notes)
    assert result.answer.startswith("Orsova")


def test_the_papers_limits():
    assert IrCotConfig().max_steps == 8
    with pytest.raises(BadOption, match="paragraphs is 0"):
        IrCotConfig(paragraphs=0)
    with pytest.raises(BadOption, match="mode is 'meaning'"):
        IrCotConfig(mode="meaning")


def test_passages_are_collected_up_to_k(asking):
    more = [f"Orsova is a town, it is said {at} times." for at in range(3)]
    retriever, server = asking("ircot", thinks(*more, *CHAIN), paragraphs=2)
    result = retriever.ask(QUESTION, 3)
    assert searches(result) == [QUESTION, more[0]]  # what could add nothing is not searched for
    assert len(result.hits) == 3
    assert len(passages(prompts(server)[-1])) == 3
    assert max(map(len, map(passages, prompts(server)))) == 3


@pytest.mark.parametrize("said", ["", CHAIN[0]])
def test_a_model_that_adds_no_sentence_ends_the_chain_and_is_told_of(asking, said):
    retriever, _ = asking("ircot", thinks(said))
    result = retriever.ask(QUESTION)
    assert any("wrote no new sentence" in note for note in result.notes)
    assert result.hits
    assert result.answer.startswith("Orsova")


@pytest.mark.parametrize(
    ("reads", "answer", "note"),
    [
        ("I think. Orsova [C1].", "I think. Orsova [d#0].", "not parted from its reasoning"),
        ("It is said. Answer: Orsova", "Orsova", "cites nothing of the evidence"),
        ("It is said [C1]. Answer: Orsova", "Orsova", None),
        ("It is said. Answer: Orsova [C99]", "Orsova [C99]", "not in the evidence: C99"),
        ("It is said. **Answer:** not in the evidence", NOT_THERE, None),
        ("Gulls [C1]. Answer: not in the evidence [C1]", NOT_THERE, None),
        ("它在河边 [C1]。Answer：Orsova [C1]", "Orsova [d#0]", None),
        ("It is said. Answer: [1, 2] [C1]", "[1, 2] [d#0]", "not in the evidence: 1, 2"),
        ("It is said. Answer: [C1]", None, "said nothing"),
        ("It is said, and more [C1", "It is said, and more [C1", "cites nothing"),
        ("", None, "said nothing"),
    ],
)
def test_what_a_reader_says_is_read_with_care(asking, reads, answer, note):
    retriever, _ = asking("ircot", thinks(*CHAIN, reads=reads))
    result = retriever.ask(QUESTION)
    assert answer_of(result) == answer
    assert [note is not None and note in one for one in result.notes] == ([] if note is None else [True])


def test_where_nothing_is_found_that_is_refused(asking):
    retriever, _ = asking("ircot", thinks("Zzq xxv."))
    result = retriever.ask("zebra qqq")
    assert (answer_of(result), result.hits) == (NOT_THERE, ())


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_a_budget_ends_the_chain_and_keeps_a_call_for_the_reader(asking, calls):
    retriever, server = asking("ircot", thinks(*CHAIN), budget=Budget(calls=calls))
    result = retriever.ask(QUESTION)
    assert len(server.bodies) == result.usage.calls == calls
    assert result.hits
    if calls > 1:
        assert (result.stopped_by, result.answer[:6]) == ("calls", "Orsova")


def test_a_dead_server_is_an_error_and_no_answer(asking):
    retriever, _ = asking("ircot", lambda system, user: Answer(status=500))
    result = retriever.ask(QUESTION)
    assert (result.answer, result.hits, result.stopped_by) == (None, (), "error")
    assert isinstance(failure(result), ModelError)


def test_a_reader_that_fails_leaves_the_ranking(asking):
    retriever, _ = asking("ircot", thinks(*CHAIN, reads=Answer(status=500)))
    result = retriever.ask(QUESTION)
    assert result.answer is None
    assert result.hits
    assert isinstance(failure(result), ModelError)


def test_searches_are_tool_calls_that_replay(asking, coast):
    retriever, _ = asking("ircot", thinks(*CHAIN))
    walked, *asked = retriever.ask(QUESTION).trajectories
    assert [one.is_equal for one in replay_trajectory(walked, coast)] == [True] * 3
    assert [one.method for one in asked] == ["ircot: ircot"] * 3 + ["answer"]


def test_text_of_any_script_passes_unchanged_and_feigns_no_label(asking):
    sentence = "灯塔建于1912年 for €1,363.00 near gulls of Gull Island."
    retriever, server = asking("ircot", thinks(sentence, CHAIN[2]))
    assert searches(retriever.search(QUESTION))[1] == sentence
    prompt = prompts(server)[-1]
    assert "  灯塔建于1912年。" in prompt.splitlines()
    assert "  [C1] feigned" in prompt.splitlines()


def test_the_mode_is_hybrid_where_there_are_vectors_and_as_chosen_else(asking, scratch):
    nodes = [Node(f"c{at}", "chunk", "", text) for at, text in enumerate(["red ship", "blue boat", "green tree"])]
    nodes.append(Node("e", "ship", "red ship"))
    graph = embedded(Graph.from_records(nodes, [], path=scratch()), scratch())
    chunks = np.array(sorted(map(graph.arrays.row, ("c0", "c1", "c2"))), np.int32)
    for mode, meant in ((None, "hybrid"), ("dense", "dense"), ("lexical", "lexical")):
        options = {} if mode is None else {"mode": mode}
        retriever, _ = asking("ircot", thinks(CHAIN[2]), graph=graph, **options)
        result = retriever.search("a red boat")
        expected = graph.arrays.rank(chunks, "a red boat", len(result.hits), mode=meant)[0]
        assert len(result.hits) > 1
        assert [hit.id for hit in result.hits] == [graph.arrays.ids[row] for row in expected.tolist()]
        assert result.trajectories[0].toolbox.options["mode"] == meant
        naive, _ = asking("naive", thinks(CHAIN[2]), graph=graph, **options)
        assert [hit.id for hit in naive.search("a red boat").hits] == [hit.id for hit in result.hits]


def test_in_a_graph_without_passages_every_node_is_one(asking, small):
    retriever, server = asking("ircot", thinks(CHAIN[2]), graph=small)
    assert retriever.search("night ferry").hits[0].id == "f1"
    assert "A ferry captain finds a stranger aboard at night." in prompts(server)[0]
