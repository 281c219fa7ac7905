"""GraphSearch among the rest: over which methods, how a course forks, plans, labels, what a person sees."""

import json
import threading

import pytest

from fakes.deep_search import ACCEPT, CHAIN, EDGES, NODES, QUESTION, Script, Shelf, lean, number, planned, study, sure
from orienteer.agents import Workflow
from orienteer.errors import BadOption, ModelError
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.methods import (
    Findings,
    GraphSearch,
    GraphSearchConfig,
    InquiryStage,
    SubAnswer,
    SubQuery,
    labels_in_text,
    method_of,
    plan_faults,
    read_plan,
    stages_side_by_side,
    sub_query_history,
)
from orienteer.records import Message, Question, Reply, Result, Step
from orienteer.retrieval import Spaces, render_evidence
from orienteer.retriever import Retriever
from orienteer.settings import Settings


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


def retriever(graph, method="graphsearch", policy=None, *, settings=None, **options):
    model = ScriptedModel(policy or Script(lean()))
    return Retriever(graph, method, model=model, settings=settings or Settings(), **options)


# ----------------------------------------------------------------------------------------------------- over others


@pytest.mark.parametrize("name", ["bm25", "sage", "anchor", "naive", "hippo"])
def test_any_method_can_find_the_evidence(graph, name):
    result = retriever(graph, f"graphsearch:{name}").ask(QUESTION)
    assert (result.method, result.stopped_by) == (f"graphsearch:{name}", "finish")
    assert result.usage.calls == 7
    assert result.answer.startswith("22")
    gathered = [json.loads(step.reply.message.tool_calls[0].arguments) for step in result.trajectories[0].steps]
    assert {one["base"] for one in gathered if "base" in one} == {name}


def test_agents_can_find_the_evidence_and_their_calls_are_part_of_the_account(graph):
    script = Script(lean())

    def policy(messages, tools, sampling):
        if not tools:
            return script(messages)
        if any(message.role == "tool" for message in messages):
            return [("add_to_answer", {"nodes": ["c2"]}), ("finish", {})]
        return [("search_in_graph", {"query": "Titian"})]

    result = retriever(graph, "graphsearch:ark", policy, settings=Settings(methods={"ark": {"agents": 1}})).ask(
        QUESTION
    )
    assert result.usage.calls == 7 + 3 * 2
    assert [one.method for one in result.trajectories].count("ark") == 3
    assert [hit.id for hit in result.hits] == ["c2", "titian", "venice"]  # found by an agent, and cited of the graph


@pytest.mark.parametrize("name", ["sage", "bm25", "anchor"])
def test_what_a_method_found_is_told_by_its_own_record_and_replays_there(graph, name):
    result = retriever(graph, f"graphsearch:{name}").ask(QUESTION)
    walked, *others = [one for one in result.trajectories if "graphsearch-" not in one.method]
    assert {one.call.name for one in replay_trajectory(walked, graph)} == {"match_triples"}
    assert all(one.is_equal for trajectory in (walked, *others) for one in replay_trajectory(trajectory, graph))
    assert bool(others) == (name != "bm25")  # one look at the index, which leaves no record of its own


def test_an_analysis_by_a_model_is_recorded_and_replays_without_one(graph):
    script = Script(lean(lean_decompose=planned((1, "Where did he die?", [], []))))

    def policy(messages, tools, sampling):
        if "answer_types" in messages[0].content:
            return json.dumps({"low": ["Titian"], "high": ["death"], "answer_types": []})
        return script(messages)

    settings = Settings(methods={"light": {"analysis": "model"}})
    result = retriever(graph, "graphsearch:light", policy, settings=settings).ask(QUESTION)
    gathered = [json.loads(step.reply.message.tool_calls[0].arguments) for step in result.trajectories[0].steps]
    assert [(one["low"], one["high"]) for one in gathered] == [(["Titian"], ["death"])]
    assert [one.is_equal for one in replay_trajectory(result.trajectories[0], graph)] == [True]


def test_agents_of_a_retriever_do_not_take_the_answers_call(graph):
    script = Script(lean(lean_answer={"answer": "22", "explanation": "", "cited": []}))

    def policy(messages, tools, sampling):
        return [("search_in_graph", {"query": "Titian"})] if tools else script(messages)

    settings = Settings(methods={"ark": {"agents": 2}})
    result = retriever(graph, "graphsearch:ark", policy, settings=settings, budget=Budget(calls=6)).ask(QUESTION)
    assert (result.stopped_by, result.answer, script.calls["lean-answer"]) == ("calls", "22", 1)


@pytest.mark.parametrize(
    "name", ["graphsearch:graphsearch", "graphsearch:sage:bm25", "bm25:graphsearch", "graphsearch:"]
)
def test_what_cannot_be_a_base_is_told(name):
    with pytest.raises(BadOption):
        method_of(name)


def test_a_base_is_asked_for_the_passages_of_the_searches_and_not_for_the_hits(graph):
    for name in ("graphsearch", "graphsearch:naive", "graphsearch:bm25"):
        result = retriever(graph, name, passages=17).ask(QUESTION, 3)
        assert len(result.hits) <= 3
        [*calls] = [step.reply.message.tool_calls[0] for step in result.trajectories[0].steps]
        assert {json.loads(call.arguments)["options"]["k"] for call in calls if call.name == "gather_evidence"} == {17}


def test_settings_of_the_base_count(graph):
    settings = Settings(methods={"naive": {"mode": "lexical"}, "graphsearch": {"rounds": 1}})
    made = retriever(graph, "graphsearch:naive", settings=settings)._made
    assert (made.sources.base.config.mode, made.config.rounds) == ("lexical", 1)
    with pytest.raises(BadOption, match="Near: mode"):
        retriever(graph, "graphsearch:naive", settings=Settings(methods={"naive": {"mod": "lexical"}}))


def test_filters_are_for_answers_and_not_for_evidence(graph):
    script = Script(
        lean(
            lean_study=lambda user: {**study(user), "used": [f"R{number(user)}.E1"]},
            lean_answer={"answer": None, "explanation": "", "cited": []},
        )
    )
    result = retriever(graph, "graphsearch:naive", script).ask(QUESTION, node_types=("person",))
    [hit] = result.hits
    assert (hit.id, hit.why.partition(":")[0]) == ("titian", "used for")
    passages, matched = (step.observations[0].nodes for step in result.trajectories[0].steps[:2])
    assert "c1" in passages
    assert "work" in matched


def test_on_a_graph_with_passages_the_walk_over_names_is_the_base_and_else_what_reads_names(graph, small):
    assert retriever(graph)._made.sources.base.name == "hippo"
    assert retriever(small)._made.sources.base.name in ("light", "naive")


def test_on_a_given_graph_every_node_is_text_and_entity(small):
    text = planned((1, "Who directed Night Ferry?", [("?who", "directed", "Night Ferry")], []))
    script = Script(
        lean(
            lean_decompose=text,
            lean_study=lambda user: {**sure(user), "used": ["S1.N1", "R1.E1"], "answer": "Ada Holm"},
            lean_conclude={**ACCEPT, "explanation": "", "answer": "Ada Holm", "cited": ["R1.E1"]},
        )
    )
    result = retriever(small, "graphsearch:naive", script).ask("Who directed Night Ferry?")
    assert result.answer == "Ada Holm [p1][f1]"
    assert [hit.id for hit in result.hits[:2]] == ["p1", "f1"]
    assert result.usage.calls == 3


# ------------------------------------------------------------------------------------------------ search and stream


def test_search_spares_the_call_for_the_answer(graph):
    script = Script(lean())
    result = retriever(graph, "graphsearch:naive", script).search(QUESTION)
    assert script.calls.total() == 6
    assert (result.answer, result.long_answer) == (None, None)
    assert result.hits


def test_a_stream_ends_with_the_answer_and_tells_every_step(graph):
    events = list(retriever(graph, "graphsearch:naive").stream(QUESTION))
    assert [one.kind for one in events[-2:]] == ["answer", "done"]
    gathered = [one for one in events if one.kind == "observation"]
    assert {one.call.name for one in gathered} == {"gather_evidence", "match_triples"}
    assert len(gathered) == 6


def test_an_interruption_keeps_the_gathers_which_replay(graph):
    waits, released = threading.Event(), threading.Event()
    script = Script(lean())

    def slow(messages, tools, sampling):
        said = script(messages)
        if script.calls["lean-study"]:
            waits.set()
            assert released.wait(20)
        return said

    stream = retriever(graph, "graphsearch:naive", slow).stream(QUESTION)
    assert waits.wait(20)
    (cut,) = stream.interrupt(patience=0.01)
    released.set()
    assert cut.stopped_by == "interrupted"
    replayed = list(replay_trajectory(cut, graph))
    assert replayed
    assert all(one.is_equal for one in replayed)


def test_a_person_sees_the_long_answer_beneath_the_short_one():
    html = Result(question="q", method="m", answer="22 [c3]", long_answer="It <b>came</b> so.")._repr_html_()
    assert "22 [c3]\n\nIt &lt;b&gt;came&lt;/b&gt; so." in html


# ------------------------------------------------------------------------------------------------ a course that forks


def flow_of(graph, said="x"):
    return Workflow(
        graph, ScriptedModel(lambda *_: said), Allowance(random_seed=5), question=Question(text="q"), method="m"
    )


def test_parts_are_joined_in_the_order_of_the_caller_and_waits_are_kept(graph):
    flow, ended = flow_of(graph), []

    def work(name, *, waits=None, frees=None):
        def run(fork, before):
            assert waits is None or waits.wait(20)
            fork.notes.append(name)
            ended.append(name)
            if frees is not None:
                frees.set()
            return [*before, name]

        return run

    free = threading.Event()
    stages = [InquiryStage(work("a", waits=free)), InquiryStage(work("b", frees=free)), InquiryStage(work("c"), (0, 1))]
    assert stages_side_by_side(flow, stages) == [["a"], ["b"], [["a"], ["b"], "c"]]
    assert ended == ["b", "a", "c"]
    assert flow.notes == ["a", "b", "c"]


def test_what_a_failed_part_and_its_neighbours_have_done_is_joined_before_it_is_raised(graph):
    flow = flow_of(graph)

    def fail(fork, before):
        fork.notes.append("failed")
        raise ModelError("gone")

    with pytest.raises(ModelError):
        stages_side_by_side(
            flow,
            [InquiryStage(fail), InquiryStage(lambda fork, _: fork.notes.append("done")), InquiryStage(fail, (0,))],
        )
    assert flow.notes == ["failed", "done"]


def test_a_fork_records_apart(graph):
    flow = flow_of(graph, "said")
    fork = flow.fork()
    fork.ask("graphsearch-draft", question="q", history="h")
    fork.walk(Step(reply=Reply(message=Message(role="assistant"))))
    fork.notes.append("n")
    alone = flow.follow(lambda: ())
    assert (len(alone.trajectories), alone.notes) == (1, ())
    flow.join(fork)
    whole = flow.follow(lambda: ())
    assert len(whole.trajectories) == 2
    assert len(whole.trajectories[0].steps) == 1
    assert whole.notes == ("n",)
    assert whole.usage.calls == 1


# ------------------------------------------------------------------------------------------------------- small parts


def test_labels_bear_the_prefix_of_their_search(graph):
    spaces = Spaces(graph)
    found = Shelf(graph).gather(SubQuery("1", "Titian in Venice").query, Allowance())
    shown = render_evidence(found, graph, prefix="S2.")
    assert set(shown.labels) == {f"S2.{label}" for label in render_evidence(found, graph).labels}
    assert shown.text.count("[S2.") == len(shown.labels)
    assert spaces.has_passages


def test_a_plan_is_put_in_order_and_numbered_on():
    said = planned(("x", "of #y and #7", [("?a", "is", "#y")], ["y"]), ("y", "first", [], []))
    first, second = read_plan(said, 4).queries
    assert (first.name, first.text, first.needs) == ("4", "first", ())
    assert (second.name, second.text, second.needs) == ("5", "of #4 and #7", ("4",))
    assert second.triples[0].object == "#4"
    assert plan_faults(said) == []


def test_references_are_put_in_whole():
    query = SubQuery("3", "#1 and #11, #2's and C#1", needs=("1", "2"))
    assert query.filled({"1": r"A\1", "2": "B"}).text == r"A\1 and #11, B's and CA\1"


def test_of_the_words_of_triples_only_unknowns_are_left_out():
    read = read_plan(planned((1, "", [("Entity#2", "cost", "$5 (−3 %)"), ("?x", "是", "#1")], [])))
    query = read.queries[0].query
    assert (query.text, query.low, query.high) == ("cost $5 (−3 %) 是", ("$5 (−3 %)",), ("cost", "是"))


def test_a_label_is_cited_whole():
    labels = ["S1.C1", "S1.C12", "R2.E3", "S1.N1"]
    assert labels_in_text("It says so [S1.C12], and [R2.E3; S1.N2].", labels) == ("S1.C12", "R2.E3")


def test_contexts_are_shown_whole_where_they_fit():
    answer = SubAnswer("S1", SubQuery("1", "who?"), Findings(), "one\ntwo", "he")
    assert sub_query_history([answer], 100) == "Sub-query S1: who?\n  Context:\n    one\n    two\n  Answer: he"
    assert sub_query_history([], 100) == "(no sub-query was answered)"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"channels": "text"}, "channels is 'text'"),
        ({"semantic_source": "words"}, "semantic_source is 'words'"),
        ({"channels": "semantic", "relational_source": "all"}, "relational_source is 'all' and channels is 'semantic'"),
        ({"channels": "relational", "semantic_source": "graph"}, "semantic_source is 'graph' and channels is"),
        ({"sub_queries": 101}, "sub_queries is 101"),
        ({"new_queries": 0}, "new_queries is 0"),
        ({"rounds": 101}, "rounds is 101"),
    ],
)
def test_options_that_make_no_sense_are_told_by_name(wrong, named):
    with pytest.raises(BadOption, match=named):
        GraphSearchConfig(**wrong)


def test_the_defaults_are_lean_both_channels_and_every_module():
    config = GraphSearchConfig()
    assert not config.faithful
    assert config.searched == ("semantic", "relational")
    assert (config.source("semantic"), config.source("relational")) == ("text", "graph")
    assert (config.top_k, config.rounds) == (10, 2)
    assert GraphSearchConfig(faithful=True).top_k == 30
    assert GraphSearchConfig(passages=17).top_k == 17
    assert CHAIN["sub_queries"][1]["deps"] == [1]
    assert GraphSearch.name == "graphsearch"
