"""ReAct (Yao et al. 2023), after SAGE, appendix C.5 and table 4: think, search, observe; n retrievals, n + 1 calls."""

import pytest

from coast import QUESTION as BORN_WHERE
from fakes import Answer
from fakes.limits import limits_in
from orienteer.errors import BadOption, ModelError, UnknownType
from orienteer.ingest import demo_records
from orienteer.lab.baselines import React, ReactConfig
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.methods import METHODS
from orienteer.records import Message, Node, Question, ToolCall

QUESTION = "Which languages did Niklaus Wirth design?"
FINISH = ("finish", {})


@pytest.fixture(scope="module")
def graph(build):
    return build(*demo_records())


def search(query, **more):
    return ("search_in_graph", {"query": query, **more})


def add(*nodes, why="it fits"):
    return ("add_to_answer", {"answer_nodes": [{"node_index": node, "reasoning": why} for node in nodes]})


def script(*turns):
    """Return a policy that plays these turns, repeating the last."""
    return lambda messages, tools, sampling: turns[min(turn_of(messages), len(turns) - 1)]


def turn_of(messages):
    return sum(message.role == "assistant" for message in messages)


def ask(graph, policy, *, run=None, **options):
    limits = limits_in(options)
    react = React(graph, ScriptedModel(policy), ReactConfig(**options))
    return react.retrieve(Question(text=QUESTION, **limits), run or Allowance(random_seed=7))


def ids(result):
    return [hit.id for hit in result.hits]


def called(result):
    return [call.name for step in result.trajectories[0].steps for call in step.reply.message.tool_calls]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_n_retrievals_are_n_plus_one_calls(graph, n):
    turns = [[search(f"Wirth {at}")] for at in range(n)]
    result = ask(graph, script(*turns, [add("language:pascal"), FINISH]))
    assert called(result).count("search_in_graph") == n
    assert result.usage.calls == n + 1
    assert (ids(result), result.stopped_by) == (["language:pascal"], "finish")


def test_search_is_the_only_tool_that_reads_the_graph(graph):
    offered = []

    def policy(messages, tools, sampling):
        offered.append({tool.name: set(tool.parameters["properties"]) for tool in tools})
        return [FINISH]

    ask(graph, policy)
    assert offered == [
        {
            "search_in_graph": {"query", "size"},
            "add_to_answer": {"answer_nodes"},
            "finish": {"comment"},
        }
    ]


def test_a_tool_that_walks_edges_is_refused(graph):
    result = ask(graph, script([("search_in_neighborhood", {"node": "language:pascal"})], [FINISH]))
    assert result.trajectories[0].steps[0].observations[0].error == "BadCall"


def test_a_thought_before_each_action_is_asked_for_and_goes_back_to_the_model(graph):
    thought = "Wirth is a person; his languages name him."
    requests = []

    def policy(messages, tools, sampling):
        requests.append(messages)
        if turn_of(messages):
            return [FINISH]
        call = ToolCall(id="1", name="search_in_graph", arguments='{"query": "Wirth"}')
        return Message(role="assistant", content=thought, tool_calls=(call,))

    ask(graph, policy)
    system, asked = requests[0]
    assert all(word in system.content for word in ("Thought", "Action", "Observation", "before each action"))
    assert asked.content.endswith(QUESTION)
    [said, observed] = requests[1][2:]
    assert said.content == thought
    assert "Niklaus Wirth" in observed.content


def test_the_answer_is_ranked_in_the_order_of_adding_with_the_agents_reasons(graph):
    turns = [
        [add("language:oberon", why="his last")],
        [add("language:pascal", "language:oberon", why="his first"), FINISH],
    ]
    result = ask(graph, script(*turns))
    assert ids(result) == ["language:oberon", "language:pascal"]
    assert [hit.why for hit in result.hits] == ["his last", "his first"]
    assert [hit.score for hit in result.hits] == [2, 1]


@pytest.mark.parametrize("steps", [1, 4])
def test_it_ends_at_the_step_limit(graph, steps):
    result = ask(graph, script([search("Wirth")]), max_steps=steps)
    assert (result.usage.calls, result.stopped_by) == (steps, "steps")


def test_an_agent_that_added_nothing_gives_what_its_last_search_found(graph):
    turns = [[search("Pascal")], [search("Wirth", size=3)], [search("zzzqq")]]
    result = ask(graph, script(*turns), max_steps=3)
    assert ids(result) == [hit.id for hit in graph.search("Wirth", 3)]
    assert any("last search" in note for note in result.notes)
    assert all(hit.why for hit in result.hits)


def test_an_agent_that_finishes_without_an_answer_has_none(graph):
    result = ask(graph, script([search("Wirth")], [FINISH]))
    assert (result.hits, result.stopped_by) == ((), "finish")


def test_the_ranking_is_cut_at_k_and_filtered(graph):
    everything = [node for node in graph.node_ids()]
    result = ask(graph, script([add(*everything), FINISH]), k=7, node_types=("person",))
    assert len(result.hits) == 7
    assert {hit.type for hit in result.hits} == {"person"}
    assert any("did not pass the filters" in note for note in result.notes)


HOSTILE = {
    "prose": "I believe it is Pascal.",
    "nothing": Message(role="assistant"),
    "no json": Message(
        role="assistant", tool_calls=(ToolCall(id="1", name="search_in_graph", arguments='{"query": "Wir'),)
    ),
    "unknown tool": [("query_sql", {"sql": "drop table"})],
    "wrong types": [("search_in_graph", {"query": ["Wirth"], "size": "many"})],
    "no argument": [("add_to_answer", {})],
    "empty list": [("add_to_answer", {"answer_nodes": []})],
    "invented ids": [add("language:wirthian", "@1", "[person:nobody]")],
}


@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE)
def test_a_model_that_only_errs_ends_at_the_limit_without_hits(graph, said):
    result = ask(graph, script(said), max_steps=4)
    assert (result.hits, result.stopped_by, result.usage.calls) == ((), "steps", 4)


def test_invented_ids_do_not_lose_the_real_ones(graph):
    result = ask(graph, script([add("language:wirthian", "language:pascal", "Oberon-9000"), FINISH]))
    assert ids(result) == ["language:pascal"]


def test_a_spent_budget_leaves_a_last_turn(graph):
    def policy(messages, tools, sampling):
        return [add("language:pascal")] if "last turn" in (messages[-1].content or "") else [search("Wirth")]

    result = ask(graph, policy, run=Allowance(Budget(calls=3), reserve=1))
    assert (result.usage.calls, result.stopped_by) == (3, "calls")
    assert ids(result) == ["language:pascal"]


def test_a_failed_model_ends_it_and_is_told(graph):
    def policy(messages, tools, sampling):
        raise ModelError("down")

    result = ask(graph, policy)
    assert (result.hits, result.stopped_by) == ((), "error")
    assert any("down" in note for note in result.notes)


def test_the_trajectory_replays_and_begins_as_it_is_said_to(graph):
    react = React(graph, ScriptedModel(script([search("Wirth")], [add("language:pascal"), FINISH])))
    question = Question(text=QUESTION)
    [trajectory] = react.retrieve(question, Allowance(random_seed=3)).trajectories
    assert all(one.is_equal for one in replay_trajectory(trajectory, graph))
    begun = react.begin_agent(question, 0, random_seed=3)
    assert begun.steps == ()
    assert begun.model_dump(include={"opening", "tools", "sampling", "prompt_hash", "method"}) == trajectory.model_dump(
        include={"opening", "tools", "sampling", "prompt_hash", "method"}
    )


def test_a_model_that_calls_nothing_is_told_of(graph):
    result = ask(graph, lambda messages, tools, sampling: "I would say Pascal.", max_steps=3)
    assert (result.hits, result.notes) == ((), ("the model called no tool in 3 steps",))


def test_wrong_settings_are_named_before_a_model_is_paid(graph):
    with pytest.raises(BadOption, match="max_steps is 0"):
        ReactConfig(max_steps=0)
    with pytest.raises(BadOption, match="k is 101: it must be 1 to 100"):
        ask(graph, script([FINISH]), k=101)
    with pytest.raises(UnknownType):
        ask(graph, script([FINISH]), node_types=("river",))


READS = [("search_passages", {"query": "engineer Ines Varga"})]


def test_over_documents_it_reads_passages_whole_as_many_as_the_other_text_methods(coast):
    """GraphSearch (002), section 4.4: agents over chunks, with the same top-k and embedder."""
    offered, seen = [], []

    def policy(messages, tools, sampling):
        offered.append(tools[0])
        seen.append(messages[-1].content)
        return [add("d#1"), FINISH] if turn_of(messages) else READS

    result = ask(coast, policy, k=2)
    assert offered[0].name == "search_passages"
    assert set(offered[0].parameters["properties"]) == {"query", "k"}
    lines = seen[1].splitlines()
    assert [line for line in lines if not line.startswith("  ")] == [
        "[d#1] Ines Varga (chunk)",
        "[d#0] Mill Light (chunk)",
    ]
    assert any(line.endswith("She was born in Orsova.") for line in lines)  # behind what a snippet shows
    found = result.trajectories[0].steps[0].observations[0].nodes
    assert list(found) == [hit.id for hit in METHODS["naive"].make(coast).retrieve(_asked(k=2), Allowance()).hits]
    assert ids(result) == ["d#1"]


def _asked(**limits):
    return Question(text="engineer Ines Varga", **limits)


def test_over_documents_its_searches_replay(coast):
    other = [("search_passages", {"query": "Orsova", "k": 1})]
    [trajectory] = ask(coast, script(READS, other, [add("d#1"), FINISH]), k=3).trajectories
    counts = [len(step.observations[0].nodes) for step in trajectory.steps[:2]]
    assert counts == [2, 1]
    assert all(one.is_equal for one in replay_trajectory(trajectory, coast))


def test_over_documents_other_nodes_are_searched_where_they_are_asked_for(coast):
    offered = []

    def policy(messages, tools, sampling):
        offered.append(tools[0].name)
        return [FINISH]

    ask(coast, policy, node_types=("person",))
    ask(coast, policy, node_types=("person", "chunk"))
    assert offered == ["search_in_graph", "search_passages"]


def test_over_documents_what_its_last_search_found_stands_for_an_answer(coast):
    assert ids(ask(coast, script(READS, "I give up."), max_steps=2)) == ["d#1", "d#0"]


def test_a_search_of_passages_that_finds_nothing_says_so(coast):
    result = ask(coast, script([("search_passages", {"query": "zebra"})], [FINISH]))
    assert result.trajectories[0].steps[0].observations[0].text == "No passage has any of these words. Try others."


def test_passages_that_do_not_fit_are_counted(build):
    long = "word " * 9_000  # one is cut, so that it leaves room for others
    graph = build([Node(f"c{at:02}", "chunk", f"Part {at}", long) for at in range(14)])
    result = ask(graph, script([("search_passages", {"query": "part"})], [FINISH]))
    observed = result.trajectories[0].steps[0].observations[0]
    assert observed.nodes == tuple(f"c{at:02}" for at in range(10))
    assert observed.text.endswith("\n... 4 more did not fit into this reply")
    assert all(one.is_equal for one in replay_trajectory(result.trajectories[0], graph))


@pytest.mark.server
def test_its_answer_is_made_of_whole_passages(asking):
    def say(system, user):
        if system.startswith("You answer"):
            return "Orsova [C1]." if "She was born in Orsova." in user else "not in the evidence"
        calls = [add("d#1", why="hers"), ("finish", {})]
        return Answer(calls=calls)

    retriever, _ = asking("react", say)
    assert retriever.ask(BORN_WHERE).answer == "Orsova [d#1]."
