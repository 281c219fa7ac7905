"""Think-on-Graph (Sun et al. 2024): topics, a beam of paths, relations and nodes scored, enough or one edge deeper."""

import json

import pytest

from fakes.limits import limits_in
from orienteer.errors import BadOption
from orienteer.lab.baselines import ThinkOnGraph, ThinkOnGraphConfig
from orienteer.lab.evaluation import work_of
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.records import Edge, Node, Question


@pytest.fixture(scope="module")
def rivers(build):
    """Give a chain of three edges from a town to a sea, with forty townlets aside."""
    nodes = [
        Node("t", "town", "Olten", "a town with a wooden bridge"),
        Node("b", "bridge", "Old Bridge", "a covered bridge"),
        Node("r", "river", "Aare", "a river"),
        Node("s", "sea", "North Sea", "cold and grey"),
        Node("x", "bridge", "New Bridge", "of concrete"),
        *(Node(f"v{at:02}", "town", f"Townlet {at}", "with a mill" if at == 33 else "a place") for at in range(40)),
    ]
    edges = [Edge("t", "has", "b"), Edge("t", "has", "x"), Edge("b", "spans", "r"), Edge("r", "flows to", "s")]
    edges += [Edge("t", "near", f"v{at:02}") for at in range(40)]
    return build(nodes, edges)


def lines_of(messages):
    """Return the numbered lines of a request, by number."""
    found = {}
    for line in messages[1].content.splitlines():
        number, dot, text = line.partition(". ")
        if dot and number.isdigit():
            found[int(number)] = text
    return found


class Thinker:
    """A model that names topics, scores lines by what they hold, and knows when it has enough."""

    def __init__(self, *, topics=("Olten",), relations=None, nodes=None, enough="", says=None):
        self.topics, self.relations, self.nodes, self.enough = topics, relations, nodes, enough
        self.says = says or {}
        self.asked = []

    def __call__(self, messages, tools, sampling):
        system, lines = messages[0].content, lines_of(messages)
        for kind, mark in (("topics", "topics"), ("relations", "relation at its end"), ("nodes", "paths over a")):
            if mark in system:
                self.asked.append((kind, lines))
                return self.says.get(kind) or self._reply(kind, lines)
        self.asked.append(("enough", lines))
        return self.says.get("enough") or self._verdict(lines)

    def _reply(self, kind, lines):
        if kind == "topics":
            return json.dumps({"topics": list(self.topics)})
        scores = getattr(self, kind)
        given = [
            {"number": at, "score": score}
            for at, line in lines.items()
            for part, score in (scores or {"": 0.5}).items()
            if part in line
        ]
        return json.dumps({"scores": given})

    def _verdict(self, lines):
        fitting = [at for at, line in lines.items() if self.enough and line.endswith(self.enough)]
        return json.dumps({"enough": bool(fitting), "nodes": fitting, "answer": self.enough})

    def seen(self, kind):
        return [lines for one, lines in self.asked if one == kind]


def ask(
    graph, thinker, *, budget=None, question="Into which sea flows the river under the bridge of Olten?", **options
):
    limits = limits_in(options)
    method = ThinkOnGraph(graph, ScriptedModel(thinker), ThinkOnGraphConfig(**options))
    return method.retrieve(Question(text=question, **limits), Allowance(budget, reserve=0))


def ids(result):
    return [hit.id for hit in result.hits]


CHAIN = {"has": 0.9, "spans": 0.9, "flows to": 0.9}
ON_CHAIN = {"has-> Old Bridge": 0.9}


def test_the_defaults_are_the_papers():
    config = ThinkOnGraphConfig()
    assert (config.width, config.depth) == (3, 3)


def test_a_path_of_three_edges_is_found_and_its_end_comes_first(rivers):
    result = ask(rivers, Thinker(relations=CHAIN, nodes=ON_CHAIN, enough="North Sea"))
    assert ids(result)[0] == "s"
    assert result.answer == "North Sea"
    assert result.hits[0].why == "Olten -has-> Old Bridge -spans-> Aare -flows to-> North Sea"
    assert result.stopped_by == "finish"


def test_three_calls_a_depth_after_one_for_the_topics(rivers):
    thinker = Thinker(relations=CHAIN, nodes=ON_CHAIN)
    result = ask(rivers, thinker)
    assert [kind for kind, _ in thinker.asked] == ["topics", *["relations", "nodes", "enough"] * 3]
    assert result.usage.calls == 10
    assert len(result.trajectories[0].steps) <= 6 * 3  # retrievals: each end's relations, and those that are walked
    assert work_of(result.trajectories).tools.keys() == {"search_in_neighborhood"}


def test_it_stops_once_the_paths_suffice(rivers):
    thinker = Thinker(relations=CHAIN, nodes=ON_CHAIN, enough="Aare")
    result = ask(rivers, thinker)
    assert len(thinker.seen("enough")) == 2
    assert ids(result)[0] == "r"
    assert "s" not in ids(result)


@pytest.mark.parametrize("depth", [1, 2])
def test_paths_are_no_longer_than_the_depth(rivers, depth):
    result = ask(rivers, Thinker(relations=CHAIN, nodes=ON_CHAIN), depth=depth)
    assert [one in ids(result) for one in ("b", "r", "s")] == [depth >= at for at in (1, 2, 3)]


@pytest.mark.parametrize("width", [1, 2, 3])
def test_no_more_paths_are_kept_than_the_beam_is_wide(rivers, width):
    thinker = Thinker()
    result = ask(rivers, thinker, width=width, depth=1)
    assert len(thinker.seen("enough")[0]) == width
    assert len(result.hits) == width + 1  # and the topic


def test_relations_are_pruned_to_the_beam_and_the_others_are_not_walked(rivers):
    thinker = Thinker(relations={"has": 0.9, "near": 0.2})
    ask(rivers, thinker, width=1, depth=1)
    assert all("near" not in line for line in thinker.seen("nodes")[0].values())
    assert set(thinker.seen("relations")[0].values()) == {"Olten -has-> bridge (2)", "Olten -near-> town (40)"}


def test_a_path_scores_as_the_product_of_its_relations_and_nodes(rivers):
    thinker = Thinker(
        relations={"has": 0.5, "near": 0.9}, nodes={"New Bridge": 0.8, "Old Bridge": 1.0, "Townlet 7": 0.5}
    )
    result = ask(rivers, thinker, depth=1)
    assert ids(result) == ["b", "v07", "x", "t"]  # .5 * 1, .9 * .5, .5 * .8, and the topic last


def test_of_many_nodes_those_nearest_to_the_question_are_scored_each_time_the_same(rivers):
    seen = []
    for _ in range(2):
        thinker = Thinker(relations={"near": 0.9})
        ask(rivers, thinker, depth=1, question="Which town near Olten has a mill?")
        seen.append(thinker.seen("nodes")[0])
    assert seen[0] == seen[1]
    assert len(seen[0]) == 20
    assert "Olten -near-> Townlet 33" in seen[0].values()


def test_bm25_may_score_the_nodes_instead(rivers):
    thinker = Thinker(relations={"near": 0.9})
    result = ask(rivers, thinker, depth=1, scorer="bm25", question="Which town near Olten has a mill?")
    assert thinker.seen("nodes") == []
    assert ids(result)[0] == "v33"


def test_a_path_does_not_turn_back(rivers):
    thinker = Thinker(relations={"has": 0.9})
    ask(rivers, thinker, depth=3)
    assert all(line.count("Olten") == 1 for lines in thinker.seen("enough") for line in lines.values())


def test_what_the_model_takes_for_the_answer_comes_first_also_when_it_is_not_enough(rivers):
    verdict = json.dumps({"enough": False, "nodes": [2, 99, 0, -1], "answer": ""})
    thinker = Thinker(relations={"has": 0.9}, nodes={"Old": 0.9, "New": 0.1}, says={"enough": verdict})
    result = ask(rivers, thinker, depth=1)
    assert ids(result) == ["x", "b", "t"]
    assert result.answer is None


def test_topics_are_linked_by_name_else_by_search_else_said(rivers):
    assert ids(ask(rivers, Thinker(topics=["aare"], relations=CHAIN), depth=1))[-1] == "r"
    assert ids(ask(rivers, Thinker(topics=["the covered one"], relations=CHAIN), depth=1))[-1] == "b"
    result = ask(rivers, Thinker(topics=["Zzyzx", "Olten"], relations=CHAIN), depth=1)
    assert ids(result)[-1] == "t"
    assert any("Zzyzx" in note for note in result.notes)


def test_where_nothing_is_walked_plain_search_stands_in_and_the_notes_say_so(rivers):
    result = ask(rivers, Thinker(relations={"no such": 1.0}))
    assert {hit.why for hit in result.hits} == {"found by plain search"}
    assert result.notes == ("no path was walked from the topics: found by plain search",)


def test_where_no_relation_helps_the_search_ends(rivers):
    thinker = Thinker(relations={"nothing like it": 1.0})
    result = ask(rivers, thinker)
    assert [kind for kind, _ in thinker.asked] == ["topics", "relations"]
    assert result.hits  # by plain search


GARBAGE = ["", "Yes.", "[]", "{}", '{"scores": 1, "topics": 2, "enough": 3}', '{"scores": [[1, 2]]}']


@pytest.mark.parametrize("kind", ["topics", "relations", "nodes", "enough"])
@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_degrades_with_a_note(rivers, kind, garbage):
    thinker = Thinker(relations=CHAIN, nodes=ON_CHAIN, says={kind: garbage or " "})
    result = ask(rivers, thinker, question="the river under the bridge")
    assert result.hits
    assert result.notes
    assert result.stopped_by == "finish"


def test_numbers_out_of_range_and_wild_scores_are_harmless(rivers):
    wild = [{"number": at, "score": score} for at, score in ((-1, 1), (0, 1), (99, 1), (1, 1e300), (2, -5), (1, 0.1))]
    thinker = Thinker(says={"relations": json.dumps({"scores": wild})}, nodes={"": 0.5})
    ask(rivers, thinker, depth=1)
    assert all("-has-> " in line for line in thinker.seen("nodes")[0].values())


def test_a_spent_budget_leaves_the_paths_so_far(rivers):
    result = ask(rivers, Thinker(relations=CHAIN, nodes=ON_CHAIN), budget=Budget(calls=5))
    assert result.stopped_by == "calls"
    assert ids(result)[0] == "b"
    assert result.usage.calls == 5


def test_filters_keep_answers(rivers):
    result = ask(rivers, Thinker(relations=CHAIN, nodes=ON_CHAIN), node_types=("river",))
    assert ids(result) == ["r"]


def test_the_walk_replays(rivers):
    result = ask(rivers, Thinker(relations=CHAIN, nodes=ON_CHAIN))
    assert all(one.is_equal for one in replay_trajectory(result.trajectories[0], rivers))


def test_options_that_cannot_be_are_refused():
    with pytest.raises(BadOption, match="scorer is 'coin'"):
        ThinkOnGraphConfig(scorer="coin")
    with pytest.raises(BadOption, match="width is 0"):
        ThinkOnGraphConfig(width=0)
