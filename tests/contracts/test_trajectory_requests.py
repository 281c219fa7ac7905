"""What the records promise: a trajectory gives back every request, as it was sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest

from fakes import Answer, FakeServer
from fakes.courses import ANSWERS, COURSES, GRAPHS, PLAN, QUESTIONS, Course
from fakes.embedder import embedded
from fakes.recorder import PACKAGES, Recorder, Sent, canonical, sent
from orienteer.graph import Graph
from orienteer.lab.baselines import ListwiseReranker
from orienteer.lab.replay import SentRequest, replay as replay_trajectory, requests as requests_of
from orienteer.llm import OpenAIConfig, OpenAIModel, prompts_of
from orienteer.methods import METHODS
from orienteer.records import Result, Trajectory
from orienteer.retriever import Retriever
from orienteer.settings import Settings

for module in ("pydantic_monty",):
    pytest.importorskip(module)

pytestmark = pytest.mark.slow
KNOWN = [prompt for package in PACKAGES for prompt in prompts_of(package)]
BY_NAME = {course.name: course for course in COURSES}


ENGINE = ("cypher", "graphscout", "polyg", "sage over spark", "spark")
IDS = [
    pytest.param(course, id=course.name, marks=pytest.mark.process if course.name.startswith(ENGINE) else ())
    for course in COURSES
]
OBJECTS = [param for param in IDS if param.values[0].has_objects]


# ---------------------------------------------------------------------------------------------------------- a course


class Played(NamedTuple):
    """A course that was run: what the model was sent, and what the trajectories give back."""

    result: Result
    model: Recorder
    given: tuple[Sent, ...]

    def fault(self, *parts: str) -> str:
        """Say what was sent and is not given back, and what is given back and was not sent; nothing where all is."""
        return difference(
            (tuple(getattr(request, part) for part in parts) for request in self.model.sent),
            (tuple(getattr(request, part) for part in parts) for request in self.given),
        )


def difference(was_sent: Iterable[object], given: Iterable[object]) -> str:
    """Say how two bags of requests differ: each request is to stand in both equally often."""
    before, after = Counter(was_sent), Counter(given)
    lost, made_up = list((before - after).elements()), list((after - before).elements())
    if not lost and not made_up:
        return ""
    return f"{len(lost)} of {before.total()} requests lost, {len(made_up)} made up: {lost[:1]} {made_up[:1]}"


def given_back(result: Result) -> Iterator[SentRequest]:
    """Yield the requests of all trajectories, each written down and read again."""
    for trajectory in result.trajectories:
        yield from requests_of(Trajectory.model_validate_json(trajectory.model_dump_json()))


def method_of(course: Course) -> str:
    return course.method or course.name.split()[0]


def played(course: Course, graph: Graph, **faults) -> Played:
    model = Recorder(course.script, dialect=course.dialect, **faults)
    budget = {} if course.budget is None else {"budget": course.budget}
    settings = Settings(methods=dict(course.inner))
    retriever = Retriever(
        graph, method_of(course), model=model, settings=settings, random_seed=7, **budget, **course.options
    )
    result = retriever.ask(QUESTIONS[course.graph])
    given = tuple(
        sent(chat.messages, chat.tools, chat.reply_schema, chat.sampling) for _, chat, *_ in given_back(result)
    )
    return Played(result, model, given)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("courses")
    return {
        name: embedded(Graph.from_records(nodes, edges, path=folder / name), folder / f"{name}-cache")
        for name, (nodes, edges) in GRAPHS.items()
    }


@pytest.fixture(scope="module")
def play(graphs):
    """Give a function that runs a course, with faults of the model where they are named; each is run once."""
    known: dict[object, Played] = {}

    def run(course: Course, **faults) -> Played:
        key = (course.name, *sorted(faults.items()))
        if key not in known:
            known[key] = played(course, graphs[course.graph], **faults)
        return known[key]

    return run


# ------------------------------------------------------------------------------------------ the courses are true ones


def test_every_method_has_a_course():
    assert {method_of(course).partition(":")[0] for course in COURSES} == set(METHODS)


@pytest.mark.parametrize("course", [pytest.param(course, id=course.name) for course in COURSES])
def test_a_course_sends_all_its_prompts_and_asks_for_objects_as_it_says(play, course):
    model = play(course).model
    assert set(course.script) - set(ANSWERS) - {"analysis"} <= set(model.prompts)
    assert set(model.prompts) <= set(course.script)
    assert any(request.schema != "null" for request in model.sent) == course.has_objects


@pytest.mark.parametrize("course", OBJECTS)
def test_whoever_is_asked_for_json_is_held_to_a_schema(play, course):
    """The server then forces it, where it can; where not, the schema goes in words (`test_llm_openai.py`)."""
    for request in play(course).model.sent:
        system = json.loads(request.messages)[0]["content"]
        wants_object = "JSON object" in system and request.tools == "[]"
        assert wants_object == (request.schema != "null"), system


@pytest.mark.parametrize("course", IDS)
def test_a_trajectory_names_the_prompt_that_it_was_begun_with(play, course):
    for trajectory in play(course).result.trajectories:
        stamp = (trajectory.prompt, trajectory.prompt_version, trajectory.prompt_hash)
        if trajectory.model is None:
            assert stamp == (None, None, None)
        else:
            prompt = next(prompt for prompt in KNOWN if prompt.name == trajectory.prompt)
            assert stamp == (prompt.name, prompt.version, prompt.sha256)


@pytest.mark.process
def test_the_courses_meet_what_is_hard_to_give_back(play):
    steps = {
        course.name: [step for trajectory in play(course).result.trajectories for step in trajectory.steps]
        for course in COURSES
    }
    for name in ("ark", "ark in few words", "react", "graphscout in words", "graphscout by native calls"):
        assert any(step.notice for step in steps[name]), name
        assert any("<tool_response>" in seen.text for step in steps[name] for seen in step.observations), name
    for name in ("ark that leaves out", "ark in few words that leaves out", "graphscout that leaves out"):
        assert any(step.elided for step in steps[name]), name
    for name in ("ark whose budget ends", "graphscout by native calls, which end"):
        assert any(
            "last turn" in (step.notice or "") or "No tool call is left" in (step.notice or "") for step in steps[name]
        )
    assert any(step.elided for step in steps["ark held to a schema, whose budget ends"])
    assert play(BY_NAME["graphscout held to a schema"]).result.answer == "Night Ferry"
    assert any(step.reply.calls_left_out for step in steps["ark"])
    assert any(call.id == "c0_2" for step in steps["ark"] for call in step.reply.message.tool_calls)


# ---------------------------------------------------------------------------------------------- what is given back


@pytest.mark.parametrize("course", IDS)
def test_every_request_is_given_back(play, course):
    assert not play(course).fault("messages", "tools", "schema", "sampling")


@pytest.mark.parametrize("course", IDS)
def test_every_trajectory_replays(play, graphs, course):
    """To the letter; where a retriever had asked a model, the replay says that it cannot without one."""
    for trajectory in play(course).result.trajectories:
        again = Trajectory.model_validate_json(trajectory.model_dump_json())
        for call in replay_trajectory(again, graphs[course.graph]):
            assert call.is_equal or "took a model" in call.now.text, (call.recorded.text, call.now.text)


@pytest.mark.parametrize("course", OBJECTS)
def test_a_request_and_its_repair_are_both_given_back(play, course):
    assert not play(course, is_faulty=True).fault("messages", "tools", "schema", "sampling")


# --------------------------------------------------------------------------------------------- what a failure leaves

FAILURES = (
    ("bm25", 1),
    ("hyde", 1),
    ("ark that leaves out", 4),
    ("graphscout by native calls, no marks", 3),
    ("ark held to a schema, whose budget ends", 3),
    ("light by a model", 1),
    ("msgraph-local that reports", 1),
)


@pytest.mark.parametrize(("name", "number"), FAILURES)
def test_a_request_that_failed_is_given_back(play, name, number):
    assert not play(BY_NAME[name], fails_at=number).fault("messages")


@pytest.mark.process
@pytest.mark.parametrize("name", ["spark", "graph-counselor"])
def test_a_reply_whose_repair_failed_is_given_back(play, name):
    """It was paid for: the result counts the call, and no trajectory does."""
    result = play(BY_NAME[name], is_faulty=True, fails_at=2).result
    steps = [step for trajectory in result.trajectories if trajectory.model for step in trajectory.steps]
    assert sum(step.reply.usage.calls for step in steps) == result.usage.calls


def test_the_requests_of_a_reranker_are_given_back(graphs):
    course = BY_NAME["ark"]
    model = Recorder({**course.script, "listwise": [{"ids": ["salt"]}]})
    graph = graphs["films"]
    retriever = Retriever(graph, "ark", model=model, rerank=ListwiseReranker(graph, model), settings=Settings())
    result = retriever.ask(QUESTIONS["films"])
    assert model.prompts["listwise"] == 1
    assert not difference(
        (request.messages for request in model.sent),
        (
            canonical([message.model_dump(mode="json") for message in request.chat.messages])
            for request in given_back(result)
        ),
    )


# ------------------------------------------------------------------------------------------------------ over the wire

SPOKEN = ("search_in_graph", {"query": "Night Ferry"}), ("finish", {})
WIRES = (
    ("react", "auto", ("return_token_ids",)),
    ("react", "auto", ()),
    ("react", "schema", ()),
    ("react", "text", ()),
    ("react", "auto", ("tools",)),
    ("spark", "auto", ()),
    ("spark", "auto", ("response_format",)),
    ("spark", "schema", ()),
    ("spark", "text", ()),
    ("vanilla", "auto", ()),
    ("vanilla", "text", ()),
)


@pytest.mark.server
@pytest.mark.parametrize(("method", "mode", "refused"), WIRES)
def test_a_server_gets_the_bodies_that_are_given_back(graphs, method, mode, refused):
    def policy(body, _):
        if method != "react":
            return Answer(content=json.dumps(PLAN))
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        name, arguments = SPOKEN[min(turn, 1)]
        if "tools" in body:
            return Answer(calls=[(name, arguments)])
        return Answer(content=json.dumps({"name": name, "arguments": arguments}))

    with FakeServer(policy, refuses={name: f"this server does not support {name}" for name in refused}) as server:
        model = OpenAIModel(
            "fake", OpenAIConfig(base_url=server.url, retries=0, mode=mode, records_tokens=method == "react")
        )
        result = Retriever(graphs["films"], method, model=model, settings=Settings()).ask(QUESTIONS["films"])
        model.close()
    assert result.stopped_by == "finish"
    assert not difference(map(canonical, server.bodies), (canonical(r.body()) for r in given_back(result)))
