"""trace show, requests, diff, replay and lint over runs: all of it, one question, one method; eval fuse."""

import json
import shutil

import pytest

from fakes import Answer, FakeServer
from fakes.courses import COURSES, GRAPHS, QUESTIONS
from fakes.embedder import WordEmbedder, embedded
from fakes.recorder import Recorder
from orienteer.graph import Graph
from orienteer.lab.evaluation import Example, QuestionSet, RunConfig, evaluate, read_run
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.records import Question
from orienteer.settings import Settings

pytest.importorskip("pydantic_monty")

# ------------------------------------------------------------------------------------ each method's run, replayed


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("courses")
    return {
        name: embedded(Graph.from_records(nodes, edges, path=folder / name), folder / f"{name}-cache")
        for name, (nodes, edges) in GRAPHS.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("course", [pytest.param(course, id=course.name) for course in COURSES])
def test_the_run_of_each_method_is_replayed_to_the_letter(graphs, cli, home, monkeypatch, course):
    """Of every call that was recorded and run; where a retriever had asked a model, the replay says that it cannot."""
    monkeypatch.setattr(Settings, "open_embedder", lambda *_: WordEmbedder())
    graph, method = graphs[course.graph], course.method or course.name.split()[0]
    label = " ".join([method, *(f"{name}={str(value).lower()}" for name, value in course.options.items())])
    asked = Example(question=Question(id="q#1", text=QUESTIONS[course.graph]))
    evaluate(
        graph,
        QuestionSet("jsonl", (asked,), "s"),
        [label],
        home / "run",
        config=RunConfig(answers=True),
        model=Recorder(course.script, dialect=course.dialect),
        settings=Settings(methods=dict(course.inner)),
        budget=course.budget,
    )
    [(_, _, trajectories)] = read_run(home / "run").trajectories()
    calls = [call for one in trajectories for call in replay_trajectory(one, graph)]
    ran = cli("trace", "replay", "run", graph.path, "--json")
    replayed = ran.json["replayed"]
    assert [one["now"]["text"] for one in replayed] == [call.now.text for call in calls]
    assert {one["result"] for one in replayed} <= {f"q#1#{label}"}
    assert all(one["equal"] or "took a model" in one["now"]["text"] for one in replayed)
    told = cli("trace", "replay", f"run#q#1#{label}", graph.path)
    if calls:
        assert f"{label}: {ran.json['equal']} of {len(calls)}" in told.out.splitlines()
    assert told.out.endswith(f"{ran.json['equal']} of {len(calls)} observations are equal\n")
    assert told.code == ran.code == int(ran.json["equal"] < len(calls))


# --------------------------------------------------------------------------------- a run, a question, a method


def policy(body, before):
    """Look around, choose by the question and the agent, finish; without tools answer in words."""
    if "tools" not in body:
        return Answer(content="Ann leads it [ann].")
    if sum(message["role"] == "assistant" for message in body["messages"]) == 0:
        return Answer(calls=[("search_in_graph", {"query": "choir"})])
    chosen = (["bob", "ann"], ["cat", "ann"], ["dan", "cat", "ann"])[body["seed"] % 3]
    return Answer(calls=[("add_to_answer", {"nodes": chosen, "reasoning": f"by {body['seed']}"}), ("finish", {})])


@pytest.fixture
def server():
    with FakeServer(policy) as server:
        yield server


@pytest.fixture
def run(clubs, home, server, cli):
    """Give a function that runs methods over three questions."""
    rows = [{"id": f"q#{number}", "question": f"Who leads club {number}?", "nodes": ["ann"]} for number in range(3)]
    (home / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def made(name, *methods):
        options = [part for method in methods for part in ("-m", method)]
        model = ("--model", "fake", "--base-url", server.url, "--workers", "1")
        ran = cli("eval", "run", clubs, "asked.jsonl", *options, *model, "-o", name)
        assert ran.code == 0, ran.err
        return name

    return made


def test_show_and_requests_of_a_run_a_question_and_a_method(run, server, cli):
    run("run", "ark", "ark faithful=true agents=1", "anchor")
    whole = cli("trace", "show", "run", "--json").json
    assert len(whole) == 3 * (3 + 1 + 1)
    assert {one["result"] for one in whole} == {
        f"q#{number}#{method}" for number in range(3) for method in ("ark", "ark faithful=true agents=1", "anchor")
    }
    of_question = cli("trace", "show", "run#q#1", "--json").json
    assert of_question == [one for one in whole if one["result"].startswith("q#1#")]
    of_method = cli("trace", "show", "run#q#1#ark faithful=true agents=1", "--json").json
    assert of_method == [one for one in of_question if one["result"] == "q#1#ark faithful=true agents=1"] != []
    assert cli("trace", "show", "run/trajectories.jsonl", "--json").json == whole
    shown = cli("trace", "show", "run#q#1#ark")
    assert shown.out.count("Who leads club 1?") == 3
    assert "   q#1#ark, fake: 2 steps" in shown.out
    bodies = cli("trace", "requests", "run", "--json").json
    assert sorted(json.dumps(one["body"], sort_keys=True) for one in bodies) == sorted(
        json.dumps(body, sort_keys=True) for body in server.bodies
    )
    printed = cli("trace", "requests", "run#q#2#ark faithful=true agents=1").out
    assert "== trajectory 1 (q#2#ark faithful=true agents=1), step 1" in printed


def test_what_a_run_has_not_is_said_with_what_it_has(run, clubs, cli):
    run("run", "ark agents=1", "bm25")
    for command in ("show", "requests", "lint"):
        ran = cli("trace", command, "run#q#7")
        assert (ran.code, ran.out) == (2, "")
        assert "run has no 'q#7': name one that it has, such as " in ran.err
        assert all(f"q#{number}" in ran.err for number in range(3))
    ran = cli("trace", "replay", "run#q#1#ark", clubs)
    assert (ran.code, "run has no 'q#1#ark': name one that it has, such as q#1#ark agents=1" in ran.err) == (2, True)
    assert cli("trace", "show", "run#q#1#bm25").err.endswith(
        "run#q#1#bm25 has no trajectory: this result records none: name another of the run\n"
    )
    assert cli("trace", "show", "nowhere#q1").code == 2
    assert "is not a run" in cli("trace", "show", clubs).err
    linted = cli("trace", "lint", "run#q#1", "--json").json
    assert (linted["trajectories"], linted["turns"]) == (1, 2)


def test_two_runs_are_compared_by_question_and_method(run, server, cli, monkeypatch):
    run("one", "ark", "anchor")
    run("two", "anchor", "ark")
    equal = cli("trace", "diff", "one", "two", "--json")
    assert (equal.code, len(equal.json)) == (0, 3 * 4)
    assert all(one["equal"] for one in equal.json)

    def other(body, before):
        last = "leads club 1" in json.dumps(body) and body["seed"] == 2
        return Answer(calls=[("add_to_answer", {"nodes": ["dan"]}), ("finish", {})]) if last else policy(body, before)

    monkeypatch.setattr(server, "policy", other)
    run("three", "ark", "bm25")
    differs = cli("trace", "diff", "one", "three", "--json")
    assert differs.code == 1
    assert [(one["result"], one["only_second"]) for one in differs.json if not one["equal"]] == [("q#1#ark", [])]
    assert "not compared, for one has none or other numbers of agents: 3 results" in differs.err
    assert "2. q#0#ark: equal" in cli("trace", "diff", "one", "three").out
    across = cli("trace", "diff", "one#q#0", "one#q#2", "--json").json
    assert sorted(one["methods"] for one in across) == [["anchor"] * 2, *[["ark"] * 2] * 3]
    assert all(one["questions"] == ["Who leads club 0?", "Who leads club 2?"] for one in across)
    within = cli("trace", "diff", "three#q#0#ark", "three#q#1#ark", "--json").json
    assert [one["first_step"] for one in within] == [None, None, 1]
    assert "name a result of each" in cli("trace", "diff", "one#q#0#ark", "one").err


# --------------------------------------------------------------------------------------------------- fused anew


def test_fusions_of_a_run_equal_agents_anew_and_ask_nothing(run, clubs, server, home, cli):
    run("run", "ark", "bm25")
    asked = len(server.requests)
    ran = cli("eval", "fuse", "run", "-o", "fused")
    assert ran.code == 0, ran.err
    assert len(server.requests) == asked
    assert "left out: bm25 (it has no agents)" in ran.err
    assert [row.split()[:2] for row in ran.out.splitlines()[1:]] == [
        ["ark", f"fusion={fusion}"] for fusion in ("vote", "order", "random")
    ]
    few = cli("eval", "fuse", "run", "--fusion", "order", "--agents", "1,2", "-o", "few", "--json")
    assert [row["method"] for row in few.json] == ["ark fusion=order agents=1", "ark fusion=order agents=2"]
    run("anew", *(f"ark fusion={fusion}" for fusion in ("vote", "order", "random")))
    ours, theirs = (
        {(line.id, line.method): line.hits for line in read_run(home / name).lines} for name in ("fused", "anew")
    )
    assert ours == theirs
    assert [hit.id for hit in ours["q#0", "ark fusion=vote"]] != [hit.id for hit in ours["q#0", "ark fusion=order"]]
    replayed = cli("trace", "replay", "fused", clubs)
    assert (replayed.code, replayed.out.splitlines()[-1]) == (0, "81 of 81 observations are equal")

    shutil.move(clubs, home / "elsewhere")
    lost = cli("eval", "fuse", "run", "-o", "other")
    assert (lost.code, "the graph graph of this run is not here: name it with --graph" in lost.err) == (2, True)
    assert cli("eval", "fuse", "run", "-o", "other", "--graph", home / "elsewhere").code == 0
    ran = cli("eval", "fuse", "run", "-o", "other", "--fusion", "loud", "--graph", home / "elsewhere")
    assert (ran.code, "'loud'" in ran.err, "vote" in ran.err) == (2, True, True)
    for target in ("run", "anew", "fused"):  # none is a fusion of that run
        assert cli("eval", "fuse", "anew", "-o", target, "--graph", home / "elsewhere").code == 2
