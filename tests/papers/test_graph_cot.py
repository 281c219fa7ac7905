"""Graph-CoT (Jin et al. 2024): four functions, read and never evaluated; thought, action, observation."""

import json

import pytest
from hypothesis import given, strategies as st

from fakes.limits import limits_in
from orienteer.lab.baselines import ActionCall, GraphCot, GraphCotConfig, parse_actions, split_arguments
from orienteer.lab.evaluation import work_of
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.records import Edge, Node, Question


@pytest.fixture(scope="module")
def genes(build):
    nodes = [
        Node("D018888", "disease", "Aphasia, Primary Progressive", "a loss of speech", properties={"onset": 55}),
        *(Node(f"g{at:02}", "gene", f"GENE{at}", "makes a protein") for at in range(30)),
        Node("c", "component", "neuron projection", "of a nerve cell"),
        Node("odd", "component", 'the "Old" [Mill], it\'s said', "odd"),
    ]
    edges = [Edge("D018888", "downregulates", f"g{at:02}") for at in range(30)]
    edges += [Edge("g00", "located in", "c"), Edge("c", "part of", "odd")]
    return build(nodes, edges)


def plays(*replies, seen=None):
    """Return a model that says these in turn, the last again and again."""

    def policy(messages, tools, sampling):
        if seen is not None:
            seen.append(messages[1].content)
        step = int(messages[1].content.rstrip().rpartition("Step ")[2].rstrip("."))
        return replies[min(step, len(replies)) - 1]

    return ScriptedModel(policy)


def ask(graph, *replies, seen=None, budget=None, question="Which gene is downregulated?", **options):
    limits = limits_in(options)
    method = GraphCot(graph, plays(*replies, seen=seen), GraphCotConfig(**options))
    return method.retrieve(Question(text=question, **limits), Allowance(budget, reserve=0))


def observed(graph, action):
    """Return what the model is told after one action."""
    seen = []
    ask(graph, f"Thought: hm\nAction: {action}", "Action: Finish[x]", seen=seen)
    return seen[1].partition("Observation 1: ")[2].partition("\nStep 2")[0]


def ids(result):
    return [hit.id for hit in result.hits]


# ------------------------------------------------------------------------------------------------------ the parser


@pytest.mark.parametrize(
    ("action", "call"),
    [
        ("RetrieveNode[aphasia]", ActionCall("RetrieveNode", ("aphasia",))),
        ("RetrieveNode[Aphasia, Primary Progressive]", ActionCall("RetrieveNode", ("Aphasia, Primary Progressive",))),
        ('RetrieveNode["a ] b, c"]', ActionCall("RetrieveNode", ("a ] b, c",))),
        ("RetrieveNode[vitamin [B12] of Crohn's]", ActionCall("RetrieveNode", ("vitamin [B12] of Crohn's",))),
        ("RetrieveNode['tis, they say]", ActionCall("RetrieveNode", ("'tis, they say",))),
        ("NodeFeature[D1, name]", ActionCall("NodeFeature", ("D1", "name"))),
        ('NodeFeature["Smith, J", "birth year"]', ActionCall("NodeFeature", ("Smith, J", "birth year"))),
        ("NodeFeature[Smith, J, name]", ActionCall("NodeFeature", ("Smith, J", "name"))),
        ("NeighbourCheck [D1,downregulates]", ActionCall("NeighbourCheck", ("D1", "downregulates"))),
        ("NeighborCheck[D1, x]", ActionCall("NeighbourCheck", ("D1", "x"))),
        ("nodedegree[D1, x]", ActionCall("NodeDegree", ("D1", "x"))),
        ("NodeDegree[f(a, b)[1, 2], x]", ActionCall("NodeDegree", ("f(a, b)[1, 2]", "x"))),
        ("Finish[a, b]", ActionCall("Finish", ("a, b",))),
        ("Finish[never closed", ActionCall("Finish", ("never closed",))),
        ("Finish[]", ActionCall("Finish", ("",))),
        ("NodeFeature[D1]", ActionCall("NodeFeature", ("D1",))),
        ("Explode[1]", ActionCall("Explode", ("1",))),
    ],
)
def test_an_action_is_read(action, call):
    assert parse_actions(f"Thought: I look at [it].\nAction: {action}") == (call,)


def test_without_the_mark_only_known_functions_are_actions():
    assert parse_actions("see table[1], then RetrieveNode[x]") == (ActionCall("RetrieveNode", ("x",)),)
    assert parse_actions("Thought: RetrieveNode[no]\nAction 2: RetrieveNode[yes]") == (
        ActionCall("RetrieveNode", ("yes",)),
    )
    assert parse_actions("no action at all") == ()
    assert parse_actions("") == ()


def test_of_several_actions_the_first_counts_for_the_model_saw_nothing_in_between():
    text = "Thought: the next action: find it\nAction: RetrieveNode[a]\nThought: so it is b\nAction: Finish[b]"
    assert parse_actions(text) == (ActionCall("RetrieveNode", ("a",)),)
    assert parse_actions("Action: RetrieveNode[Action: a film]") == (ActionCall("RetrieveNode", ("Action: a film",)),)


def test_several_calls_of_one_action_are_all_read():
    assert [one.arguments for one in parse_actions("Action: NodeDegree[a, x], NodeDegree[b, x]")] == [
        ("a", "x"),
        ("b", "x"),
    ]


@given(st.text(alphabet="NodeFeature[]\"', \n\\:Action", max_size=60))
def test_any_text_can_be_read(text):
    for one in parse_actions(text):
        assert one.name
        assert all(isinstance(argument, str) for argument in one.arguments)
    assert all(part == part.strip() for part in split_arguments(text))


@given(st.lists(st.text(alphabet="ab1 [],'()", min_size=1).map(str.strip).filter(bool), min_size=1, max_size=4))
def test_quoted_parts_come_back_as_they_were(parts):
    assert split_arguments(", ".join(f'"{one}"' for one in parts)) == parts


# ------------------------------------------------------------------------------------------------- the four functions


def test_retrieve_node_gives_the_best_node(genes):
    assert observed(genes, "RetrieveNode[Aphasia, Primary Progressive]").startswith("The best node is D018888 (")
    assert "zebra" in observed(genes, "RetrieveNode[zebra]")


def test_node_feature_gives_a_feature(genes):
    assert observed(genes, "NodeFeature[D018888, name]").endswith("is: Aphasia, Primary Progressive")
    assert observed(genes, "NodeFeature[D018888, Onset]").endswith("is: 55")
    assert observed(genes, "NodeFeature[D018888, text]").endswith("is: a loss of speech")
    assert "It has: name, type, text, onset" in observed(genes, "NodeFeature[D018888, colour]")


def test_a_node_may_be_named_and_its_name_may_hold_commas_quotes_and_brackets(genes):
    assert observed(genes, "NodeFeature[Aphasia, Primary Progressive, onset]").endswith("is: 55")
    assert observed(genes, 'NodeFeature[the "Old" [Mill], it\'s said, text]').endswith("is: odd")


def test_neighbour_check_is_bounded_and_says_how_many_there_are(genes):
    text = observed(genes, "NeighbourCheck[D018888, downregulates]")
    assert text.startswith("The 30 neighbours of D018888 by downregulates: ")
    assert text.count("gene)") == 20
    assert text.endswith("and 10 more.")
    assert "g00 (GENE0, gene)" in observed(genes, "NeighbourCheck[c, located in]")


def test_node_degree_counts(genes):
    assert observed(genes, "NodeDegree[D018888, downregulates]") == "The degree of D018888 by downregulates is 30."
    assert observed(genes, "NodeDegree[D018888, located in]").endswith("is 0.")


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("NeighbourCheck[D018888, Disease-downregulates-Gene]", "No edge type"),
        ("NeighbourCheck[nobody, downregulates]", "Not in this graph"),
        ("NodeFeature[nobody, name]", "Not in this graph"),
        ("NodeDegree[RetrieveNode[aphasia], downregulates]", "cannot take another call"),
        ("NodeFeature[D018888]", "takes 2 arguments, got 1"),
        ("NodeFeature[, name]", "takes 2 arguments"),
        ("RetrieveNode[]", "takes 1 arguments"),
        ("Retrieve[aphasia]", "Did you mean RetrieveNode?"),
        ("__import__('os').system[1]", "There is no function system"),
        ("I would look around", "no action"),
    ],
)
def test_a_wrong_action_is_told_in_an_observation(genes, action, told):
    assert told in observed(genes, action)


def test_nothing_is_evaluated(genes, tmp_path):
    file = tmp_path / "made"
    for code in (f"open({str(file)!r}, 'w')", f"__import__('pathlib').Path({str(file)!r}).touch()"):
        ask(genes, f"Action: RetrieveNode[{code}]", f"Action: {code}", f"Action: Finish[{code}]")
    assert not file.exists()


# ----------------------------------------------------------------------------------------------------------- the loop


STEPS = [
    "Thought: find it\nAction: RetrieveNode[Aphasia, Primary Progressive]",
    "Thought: its genes\nAction: NeighbourCheck[D018888, downregulates]",
    "Thought: where\nAction: NeighbourCheck[g00, located in]",
    "Thought: done\nAction: Finish[neuron projection]",
]


def test_it_thinks_acts_and_observes_until_finish(genes):
    seen = []
    result = ask(genes, *STEPS, seen=seen)
    assert len(seen) == 4
    assert result.answer == "neuron projection"
    assert ids(result)[0] == "c"
    assert result.usage.calls == 4
    for number, said in enumerate(STEPS[:3], 1):
        assert f"Step {number}. {said}\nObservation {number}: " in seen[3]
    assert work_of(result.trajectories).tools == {"search_in_graph": 1, "search_in_neighborhood": 2}


def test_observations_that_the_model_makes_up_are_cut_off(genes):
    seen = []
    ask(
        genes,
        "Action: RetrieveNode[aphasia]\nObservation 1: it is X\nAction: Finish[X]",
        "Action: Finish[c]",
        seen=seen,
    )
    assert len(seen) == 2
    assert "it is X" not in seen[1]


@pytest.mark.parametrize("most", [1, 3, 10])
def test_it_ends_after_its_steps(genes, most):
    result = ask(genes, "Action: RetrieveNode[aphasia]", max_steps=most)
    assert result.usage.calls == most
    assert result.answer is None
    assert ids(result) == ["D018888"]
    assert any("no Finish" in note for note in result.notes)


def test_ten_steps_are_the_default():
    assert GraphCotConfig().max_steps == 10


def test_it_ends_when_the_steps_fill_the_context(genes):
    result = ask(genes, "Action: NeighbourCheck[D018888, downregulates]", context_tokens=500)
    assert result.usage.calls < 10
    assert any("500 tokens" in note for note in result.notes)


# ---------------------------------------------------------------------------------------------------------- the ranking


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Aphasia, Primary Progressive", ["D018888"]),
        ("GENE3, GENE1", ["g03", "g01"]),
        ('"Aphasia, Primary Progressive", GENE1', ["D018888", "g01"]),
        ("g04", ["g04"]),
        ("neuron projections of nerves", ["c"]),
    ],
)
def test_the_nodes_of_the_answer_are_the_ranking(genes, answer, expected):
    result = ask(genes, f"Action: Finish[{answer}]")
    assert ids(result) == expected
    assert result.answer == answer


def test_an_answer_in_a_sentence_is_linked_to_what_was_seen(genes):
    result = ask(genes, *STEPS[:3], "Action: Finish[It is the neuron projection, I would say.]")
    assert ids(result)[0] == "c"


def test_what_was_seen_follows_the_latest_first(genes):
    result = ask(genes, *STEPS, neighbors=3)
    assert ids(result)[:4] == ["c", "g00", "g01", "g02"]
    assert ids(result)[-1] == "D018888"


@pytest.mark.parametrize("garbage", ["", "Finish", "42", "[]", '{"action": "RetrieveNode"}', "\n\n", "]][["])
def test_garbage_leaves_plain_search(genes, garbage):
    result = ask(genes, garbage, question="loss of speech", max_steps=2)
    assert ids(result)[0] == "D018888"
    assert result.notes


def test_a_spent_budget_leaves_what_was_seen(genes):
    result = ask(genes, *STEPS, budget=Budget(calls=1))
    assert result.stopped_by == "calls"
    assert ids(result) == ["D018888"]


def test_filters_keep_answers(genes):
    assert set(ids(ask(genes, *STEPS, node_types=("gene",)))) <= {f"g{at:02}" for at in range(30)}


def test_the_walk_replays(genes):
    result = ask(genes, *STEPS)
    assert all(one.is_equal for one in replay_trajectory(result.trajectories[0], genes))
    assert [json.loads(one.call.arguments).get("k") for one in replay_trajectory(result.trajectories[0], genes)] == [
        1,
        20,
        20,
    ]
