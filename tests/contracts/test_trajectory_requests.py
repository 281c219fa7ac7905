"""What the records promise: a trajectory's `opening` and `steps` give back every request, as it was sent.

Where a method breaks the promise today its course is marked with the cause; the mark goes with the fault.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import pytest

from fakes import Answer, FakeServer
from fakes.courses import ANSWERS, COURSES, GRAPHS, PLAN, QUESTIONS, Course
from fakes.embedder import embedded
from fakes.recorder import Recorder, Sent, canonical, sent
from orienteer.graph.store import Graph
from orienteer.llm.openai import OpenAIConfig, OpenAIModel
from orienteer.llm.wire import Asked
from orienteer.llm.wire import request as body_of
from orienteer.methods.baselines.listwise import ListwiseReranker
from orienteer.methods.table import METHODS
from orienteer.records import Message, Result, Sampling, ToolSpec, Trajectory
from orienteer.retriever import Retriever
from orienteer.settings import Settings

for module in ("ladybug", "pydantic_monty", "graspologic_native"):
    pytest.importorskip(module)

LEFT_OUT = "[left out to save room: call the tool again where this is needed]"
BY_NAME = {course.name: course for course in COURSES}


class Request(NamedTuple):
    """One request, as a trajectory gives it back."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    sampling: Sampling
    schema: None = None
    """Of the reply: no trajectory holds it."""


def requests(trajectory: Trajectory) -> Iterator[Request]:
    """Yield the request of each step; none where no model took the steps, as with the tool calls of a fixed course."""
    if trajectory.model is None:
        return
    messages = list(trajectory.opening)
    for step in trajectory.steps:
        if step.notice:
            messages.append(Message(role="user", content=step.notice))
        left_out = {name: Message(role="tool", content=LEFT_OUT, tool_call_id=name) for name in step.elided}
        shown = tuple(left_out.get(message.tool_call_id or "", message) for message in messages)
        yield Request(shown, trajectory.tools, trajectory.sampling)
        messages.append(step.reply.message)
        messages += [Message(role="tool", content=seen.text, tool_call_id=seen.call_id) for seen in step.observations]


# ------------------------------------------------------------------------------------------------ what fails, and why

_WORDS = (
    "graphscout/course.py:139 sends what spoken.py:57 `written` makes of the conversation: the tools in the system "
    "prompt, calls and results in marks, thoughts left out, results and notices joined as one user message; "
    "course.py:109 keeps what `heard` read of the reply, not what was said; no record says which dialect was spoken"
)
_MARKS = (
    "graphscout/course.py:141 sends observations through `plainly`, which breaks their marks; the step has them whole"
)
_NO_TOOLS = "graphscout/course.py:137 offers no tools in the last turn; the trajectory has one list for all turns"
_TOOLS_IN_WORDS = (
    "graphscout/course.py:139 offers the tools in the system prompt alone; the trajectory lists them as offered"
)
_SCHEMA = "no field of Trajectory, Step or Reply holds the schema of the reply (workflow.py:303, llm/asking.py:39)"
_REPAIR = (
    "llm/calls.py:43-52 returns the second reply alone: the first reply and what was told of its fault are in no "
    "record, only that `repaired` is 1"
)
_IN_WORDS = (
    "graphscout in words",
    "graphscout in words, without code",
    "graphscout in words, whose calls end",
    "graphscout that leaves out",
)
LACKS: Mapping[str, Mapping[str, str]] = {
    "messages": {**dict.fromkeys(_IN_WORDS, _WORDS), "graphscout by native calls": _MARKS},
    "tools": {**dict.fromkeys(_IN_WORDS, _TOOLS_IN_WORDS), "graphscout by native calls, which end": _NO_TOOLS},
    "sampling": {},
    "schema": {course.name: _SCHEMA for course in COURSES if course.has_objects},
    "repair": {course.name: _REPAIR for course in COURSES if course.has_objects},
}
"""By part of a request and by course, why a trajectory does not give it back."""


def broken(reason: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason)]


def courses(part: str, among: Iterable[Course] = COURSES) -> list[object]:
    """Return courses as parameters, those marked that lose this part of a request."""
    lacks = LACKS[part]
    return [
        pytest.param(course, id=course.name, marks=broken(lacks[course.name]) if course.name in lacks else [])
        for course in among
    ]


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


def given_back(result: Result) -> Iterator[Request]:
    """Yield the requests of all trajectories, each written down and read again."""
    for trajectory in result.trajectories:
        yield from requests(Trajectory.model_validate_json(trajectory.model_dump_json()))


def method_of(course: Course) -> str:
    return course.method or course.name.split()[0]


def played(course: Course, graph: Graph, **faults) -> Played:
    model = Recorder(course.script, **faults)
    budget = {} if course.budget is None else {"budget": course.budget}
    settings = Settings(methods=dict(course.inner))
    retriever = Retriever(
        graph, method_of(course), model=model, settings=settings, random_seed=7, **budget, **course.options
    )
    result = retriever.ask(QUESTIONS[course.graph])
    given = tuple(
        sent(request.messages, request.tools, request.schema, request.sampling) for request in given_back(result)
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


def test_the_courses_meet_what_is_hard_to_give_back(play):
    steps = {
        course.name: [step for trajectory in play(course).result.trajectories for step in trajectory.steps]
        for course in COURSES
    }
    for name in ("ark", "react", "graphscout in words", "graphscout by native calls"):
        assert any(step.notice for step in steps[name]), name
        assert any("<tool_response>" in seen.text for step in steps[name] for seen in step.observations), name
    for name in ("ark that leaves out", "graphscout that leaves out"):
        assert any(step.elided for step in steps[name]), name
    for name in ("ark whose budget ends", "graphscout by native calls, which end"):
        assert any(
            "last turn" in (step.notice or "") or "No tool call is left" in (step.notice or "") for step in steps[name]
        )
    assert any(step.reply.calls_left_out for step in steps["ark"])
    assert any(call.id == "c0_2" for step in steps["ark"] for call in step.reply.message.tool_calls)


# ---------------------------------------------------------------------------------------------- what is given back


@pytest.mark.parametrize("course", courses("messages"))
def test_for_every_request_one_step_gives_back_its_messages(play, course):
    assert not play(course).fault("messages")


@pytest.mark.parametrize("course", courses("tools"))
def test_the_tools_that_were_offered_are_given_back(play, course):
    assert not play(course).fault(*with_messages("tools", course))


@pytest.mark.parametrize("course", courses("sampling"))
def test_the_sampling_is_given_back(play, course):
    assert not play(course).fault(*with_messages("sampling", course))


@pytest.mark.parametrize("course", courses("schema"))
def test_the_schema_of_the_reply_is_given_back(play, course):
    assert not play(course).fault(*with_messages("schema", course))


def with_messages(part: str, course: Course) -> tuple[str, ...]:
    """Return what is compared: a part together with the messages that it went with, where these are given back."""
    return (part,) if course.name in LACKS["messages"] else ("messages", part)


@pytest.mark.parametrize("course", courses("repair", (course for course in COURSES if course.has_objects)))
def test_a_request_and_its_repair_are_both_given_back(play, course):
    assert not play(course, is_faulty=True).fault("messages")


# --------------------------------------------------------------------------------------------- what a failure leaves

_NO_STEP = "the request that failed is no step ({}): its trajectory has the opening and the error alone"
_NO_TURN = "the request that failed is no step ({}): its notice, and what was newly left out of it, are in no record"
FAILURES = (
    ("bm25", 1, _NO_STEP.format("agents/answer.py:118")),
    ("hyde", 1, _NO_STEP.format("agents/workflow.py:304")),
    ("ark that leaves out", 4, _NO_TURN.format("agents/agent.py:116")),
    ("graphscout by native calls, no marks", 3, _NO_TURN.format("graphscout/course.py:107")),
    ("light by a model", 1, "llm/asking.py:39 raises before there is a trajectory: nothing is recorded at all"),
)


@pytest.mark.parametrize(
    ("name", "number"), [pytest.param(name, at, id=name, marks=broken(reason)) for name, at, reason in FAILURES]
)
def test_a_request_that_failed_is_given_back(play, name, number):
    assert not play(BY_NAME[name], fails_at=number).fault("messages")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("spark", marks=broken("llm/calls.py:49: where the repair fails, the first reply is lost with it")),
        pytest.param("graph-counselor", marks=broken("llm/calls.py:49, as above")),
    ],
)
def test_a_reply_whose_repair_failed_is_given_back(play, name):
    """It was paid for: the result counts the call, and no trajectory does."""
    result = play(BY_NAME[name], is_faulty=True, fails_at=2).result
    steps = [step for trajectory in result.trajectories if trajectory.model for step in trajectory.steps]
    assert sum(step.reply.usage.calls for step in steps) == result.usage.calls


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="methods/baselines/listwise.py:49 keeps no record of the reranker's own calls",
)
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
            canonical([message.model_dump(mode="json") for message in request.messages])
            for request in given_back(result)
        ),
    )


# ------------------------------------------------------------------------------------------------------ over the wire

_WAY = (
    "llm/wire.py:63 writes tools, calls and results as text (llm/spoken.py `in_words`) for a server without tools; "
    "neither Trajectory nor Reply says in which way the request went"
)
_SPOKEN_SCHEMA = "llm/wire.py:62 writes the schema into the system prompt; the trajectory has neither schema nor way"
_STEP_DOWN = "llm/openai.py `_ask` sends the same request in another way after a refusal; no record says so"
SPOKEN = ("search_in_graph", {"query": "Night Ferry"}), ("finish", {})
WIRES = (
    ("react", "auto", (), ""),
    ("react", "schema", (), _WAY),
    ("react", "text", (), _WAY),
    ("react", "auto", ("tools",), _STEP_DOWN),
    ("spark", "auto", (), ""),
    ("spark", "schema", (), ""),
    ("spark", "text", (), _SPOKEN_SCHEMA),
    ("vanilla", "auto", (), ""),
    ("vanilla", "text", (), ""),
)


@pytest.mark.parametrize(
    ("method", "mode", "refused"),
    [
        pytest.param(
            method, mode, refused, marks=broken(reason) if reason else [], id="-".join((method, mode, *refused))
        )
        for method, mode, refused, reason in WIRES
    ],
)
def test_a_server_gets_the_messages_that_are_given_back(graphs, method, mode, refused):
    def policy(body, _):
        if method != "react":
            return Answer(content=json.dumps(PLAN))
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        name, arguments = SPOKEN[min(turn, 1)]
        if "tools" in body:
            return Answer(calls=[(name, arguments)])
        return Answer(content=json.dumps({"name": name, "arguments": arguments}))

    with FakeServer(policy, refuses=dict.fromkeys(refused, "this server does not support tools")) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0, mode=mode))
        result = Retriever(graphs["films"], method, model=model, settings=Settings()).ask(QUESTIONS["films"])
        model.close()
    assert result.stopped_by == "finish"
    assert not difference(
        (canonical(body["messages"]) for body in server.bodies),
        (
            canonical(body_of("fake", Asked(request.messages), lacks=frozenset())["messages"])
            for request in given_back(result)
        ),
    )
