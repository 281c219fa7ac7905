"""Graph Counselor as GraphScout (003) describes it: plan, execute, reflect, a depth that adapts, and no gold."""

import json

import pytest

from fakes import Answer
from orienteer.errors import BadOption, UnknownType
from orienteer.lab.baselines import UNSOUND_NOTE, GraphCounselor, GraphCounselorConfig
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget
from orienteer.records import Edge, Node, Question

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def clinic(build):
    """Two diseases, their genes, and where the genes' products are."""
    nodes = [
        Node("D1", "disease", "Creutzfeldt-Jakob disease"),
        Node("D2", "disease", "Alzheimer's disease", properties={"onset": 65}),
        *(Node(f"g{at}", "gene", f"GENE{at}") for at in range(7)),
        Node("c1", "component", "neuron projection"),
    ]
    edges = [Edge("D2", "downregulates", f"g{at}") for at in range(7)]
    return build(nodes, [*edges, *(Edge(f"g{at}", "located in", "c1") for at in range(7))])


class Script:
    """Says plans, actions and verdicts in turn, the last of each again and again; remembers what it was asked."""

    def __init__(self, actions, *, plans=(), verdicts=()):
        self.plans = [*plans] or [{"steps": ["look it up"], "depth": 5}]
        self.actions = [f"Thought: hm\nAction: {one}" for one in actions]
        self.verdicts = [*verdicts] or [{"sound": True, "advice": ""}]
        self.asked = []

    def __call__(self, system, user):
        kind = {"You plan": "plan", "You answer": "act", "You judge": "reflect"}[" ".join(system.split()[:2])]
        self.asked.append((kind, user))
        turns = {"plan": self.plans, "act": self.actions, "reflect": self.verdicts}[kind]
        said = turns.pop(0) if len(turns) > 1 else turns[0]
        return said if isinstance(said, str) else json.dumps(said)

    @property
    def kinds(self):
        return [kind for kind, _ in self.asked]

    def observed(self, number):
        """What the model was told of its actions, as its n-th request to act shows it."""
        return [user for kind, user in self.asked if kind == "act"][number]


def test_plan_execute_reflect_and_stop_where_the_course_is_sound(asking, clinic):
    script = Script(["NeighbourCheck[RetrieveNode[Alzheimer], downregulates]", "Finish[GENE0, GENE1]"])
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    result = retriever.ask("Which genes does Alzheimer's disease downregulate?")
    assert script.kinds == ["plan", "act", "act", "reflect"]
    assert result.answer == "GENE0, GENE1"
    assert [hit.id for hit in result.hits][:2] == ["g0", "g1"]
    assert result.stopped_by == "finish"


def test_advice_goes_into_the_next_plan_and_a_deeper_attempt_may_take_more_actions(asking, clinic):
    script = Script(
        [*["RetrieveNode[Alzheimer]"] * 4, "NeighbourCheck[D2, downregulates]", "Finish[GENE3]"],
        plans=[{"steps": ["find it"], "depth": 1}],
        verdicts=[
            {"sound": False, "advice": "Follow downregulates from D2.", "depth": 4},
            {"sound": True, "advice": ""},
        ],
    )
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    result = retriever.ask("Which gene?")
    # Depth 1 allows two actions, neither of which was Finish; the verdict asks for four.
    assert script.kinds == ["plan", "act", "act", "reflect", "plan", *["act"] * 4, "reflect"]
    assert "1. Follow downregulates from D2." in script.asked[4][1]
    assert result.answer == "GENE3"
    assert any("no Finish" in note for note in result.notes)


def test_there_are_two_reflections_at_the_most_and_the_last_attempt_is_not_judged(asking, clinic):
    script = Script(["Finish[GENE0]"], verdicts=[{"sound": False, "advice": "again"}])
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    result = retriever.ask("Which gene?")
    assert script.kinds == ["plan", "act", "reflect"] * 2 + ["plan", "act"]
    assert result.answer == "GENE0"
    assert "2. again" in script.asked[6][1]


def test_an_attempt_without_an_answer_is_never_sound(asking, clinic):
    script = Script(["NodeDegree[D2, downregulates]"], plans=[{"steps": ["count"], "depth": 1}])
    retriever, _ = asking("graph-counselor", script, graph=clinic, reflections=1)
    retriever.ask("How many?")
    assert script.kinds == ["plan", "act", "act", "reflect", "plan", "act", "act"]


def test_an_answer_that_was_judged_unsound_does_not_make_a_later_attempt_sound(asking, clinic):
    actions = ["Finish[wrong]", "RetrieveNode[Alzheimer]", "RetrieveNode[Alzheimer]", "Finish[GENE1]"]
    script = Script(
        actions,
        plans=[{"steps": ["look"], "depth": 1}],
        verdicts=[{"sound": False, "advice": "no"}, {"sound": True, "advice": "go on"}],
    )
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    assert retriever.ask("Which gene?").answer == "GENE1"
    assert script.kinds.count("plan") == 3


@pytest.mark.parametrize("verdict", ["unreadable", {"sound": False, "advice": "again"}])
def test_an_answer_that_was_judged_unsound_and_stands_is_said_to_be_so(asking, clinic, verdict):
    script = Script(
        ["Finish[wrong]", "RetrieveNode[Alzheimer]"],
        plans=[{"steps": ["look"], "depth": 1}],
        verdicts=[{"sound": False, "advice": "no"}, verdict],
    )
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    result = retriever.ask("Which gene?")
    assert result.answer == "wrong"
    assert UNSOUND_NOTE in result.notes
    assert "attempt 2: no Finish after 2 steps" in result.notes


def test_a_budget_that_ends_after_a_verdict_leaves_the_answer_said_to_be_unsound(asking, clinic):
    script = Script(["Finish[wrong]"], verdicts=[{"sound": False, "advice": "no"}])
    retriever, _ = asking("graph-counselor", script, graph=clinic, budget=Budget(calls=4))
    result = retriever.ask("Which gene?")
    assert (result.answer, result.stopped_by) == ("wrong", "calls")
    assert UNSOUND_NOTE in result.notes


def test_an_answer_after_an_unsound_one_is_not_said_to_be_unsound(asking, clinic):
    script = Script(["Finish[wrong]", "Finish[GENE1]"], verdicts=[{"sound": False, "advice": "no"}])
    retriever, _ = asking("graph-counselor", script, graph=clinic, reflections=1)
    result = retriever.ask("Which gene?")
    assert result.answer == "GENE1"
    assert UNSOUND_NOTE not in result.notes


def test_an_attempt_knows_nothing_of_the_nodes_that_came_last_in_another(asking, clinic):
    actions = ["RetrieveNode[Alzheimer]", "Finish[x]", "NodeFeature[LAST, onset]", "Finish[y]"]
    script = Script(actions, verdicts=[{"sound": False, "advice": "no"}, {"sound": True, "advice": ""}])
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    retriever.ask("Which?")
    assert "LAST stands for nothing yet" in script.observed(3)


@pytest.mark.parametrize(
    ("actions", "told"),
    [
        (["NodeDegree[RetrieveNode[Alzheimer], downregulates]"], "The degree of [D2] by downregulates is 7."),
        (["RetrieveNode[Alzheimer]", "NodeFeature[LAST, onset]"], "The onset of D2 is: 65"),
        (
            ["NeighbourCheck[D2, downregulates]", "NeighbourCheck[LAST, located in]"],
            "Of 7 nodes the first 5 are taken.",
        ),
        (["NeighbourCheck[NeighbourCheck[D2, downregulates], located in]"], "c1 (neuron projection, component)"),
        (["RetrieveNode[Alzheimer]", "NodeDegree[D2, downregulates]", "NodeFeature[LAST, type]"], "The type of D2"),
        (["NodeFeature[LAST, name]"], "LAST stands for nothing yet"),
        (["NeighbourCheck[Finish[x], downregulates]"], "Finish stands alone"),
        (["RetrieveNode[NodeFeature[D2, name]]"], "RetrieveNode cannot take another call"),
        (["NeighbourCheck[RetrieveNode[zzzz], downregulates]"], "No node has any of these words: zzzz."),
        (["NeighbourCheck[" * 120 + "D2" + ", downregulates]" * 120], "downregulates"),
        (["nothing at all"], "There is no action to run"),
    ],
)
def test_functions_inside_one_another_and_the_nodes_that_came_last(asking, clinic, actions, told):
    script = Script([*actions, "Finish[x]"])
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    retriever.search("What?")
    assert told in script.observed(len(actions))


def test_the_public_codes_fault_is_not_ours_a_wrong_answer_that_looks_sound_ends_the_course(asking, clinic):
    script = Script(["Finish[something else]"])
    retriever, server = asking("graph-counselor", script, graph=clinic)
    result = retriever.ask("Which gene?")
    assert result.answer == "something else"
    assert len(server.bodies) == 3


def test_of_several_nodes_five_are_taken(asking, clinic):
    script = Script(["NeighbourCheck[D2, downregulates]", "NodeDegree[LAST, located in]", "Finish[x]"])
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    retriever.search("What?")
    assert script.observed(2).count("The degree of") == 5


@pytest.mark.parametrize(("limit", "acted"), [({"max_steps": 3}, 3), ({"context_tokens": 20}, 1)])
def test_an_attempt_ends_at_its_limits_however_deep_the_plan(asking, clinic, limit, acted):
    script = Script(["RetrieveNode[Alzheimer]"], plans=[{"steps": ["look"], "depth": 50}], verdicts=["unreadable"])
    retriever, _ = asking("graph-counselor", script, graph=clinic, **limit)
    retriever.search("What?")
    assert script.kinds.count("act") == acted


def test_it_replays(asking, clinic):
    script = Script(["NeighbourCheck[RetrieveNode[Alzheimer], downregulates]", "NodeFeature[LAST, name]", "Finish[x]"])
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    again = list(replay_trajectory(retriever.search("Which?").trajectories[0], clinic))
    assert len(again) > 5
    assert all(one.is_equal for one in again)


# ---------------------------------------------------------------------------------------------- what goes wrong


def test_a_plan_that_cannot_be_read_is_done_without_and_said(asking, clinic):
    script = Script(["Finish[GENE0]"], plans=["no plan"])
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    result = retriever.ask("Which gene?")
    assert script.kinds == ["plan", "plan", "act", "reflect"]
    assert any("plan cannot be read" in note for note in result.notes)
    assert result.answer == "GENE0"


def test_a_verdict_that_cannot_be_read_ends_the_course(asking, clinic):
    script = Script(["Finish[GENE0]"], verdicts=["perhaps"])
    retriever, _ = asking("graph-counselor", script, graph=clinic)
    result = retriever.ask("Which gene?")
    assert script.kinds == ["plan", "act", "reflect", "reflect"]
    assert any("verdict" in note for note in result.notes)


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_a_budget_that_ends_leaves_what_was_found(asking, clinic, calls):
    script = Script(["RetrieveNode[Alzheimer]", "Finish[GENE0]"])
    retriever, server = asking("graph-counselor", script, graph=clinic, budget=Budget(calls=calls))
    result = retriever.search("Alzheimer's disease")
    assert len(server.bodies) == calls
    assert result.stopped_by == "calls"
    assert result.hits[0].id == ("g0" if calls == 3 else "D2")


def test_a_dead_server_looks_like_no_weak_method(asking, clinic):
    retriever, _ = asking("graph-counselor", lambda system, user: Answer(status=500), graph=clinic)
    result = retriever.search("Which?")
    assert result.stopped_by == "error"
    assert not result.hits


def test_options_are_checked():
    with pytest.raises(BadOption):
        GraphCounselorConfig(reflections=0)


def test_filters_are_checked_before_a_model_is_paid(clinic):
    with pytest.raises(UnknownType, match="genes"):
        GraphCounselor(clinic, None).retrieve(Question(text="x", node_types=("genes",)), Allowance())
