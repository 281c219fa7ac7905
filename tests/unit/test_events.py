"""The events of a question: pushed to who listens, each thing once over the wire, no thread that waits beside it."""

import asyncio
import json
import threading

import pytest

from orienteer.agents import DoneEvent, StepEvent
from orienteer.errors import BadOption, UnknownType
from orienteer.llm import ScriptedModel
from orienteer.records import Message, Raw, Reply, Result
from orienteer.retriever import Retriever
from orienteer.settings import Settings

UNSET = Settings()
MANY = 16


def searching(messages, tools, sampling):
    """Search, choose what was found, finish, and answer."""
    turn = sum(message.role == "assistant" for message in messages)
    if not tools:
        return "Night Ferry [f1]."
    return [[("search_in_graph", {"query": "ferry"})], [("add_to_answer", {"nodes": ["f1"]}), ("finish", {})]][turn]


@pytest.fixture
def retriever(small):
    return Retriever(small, "ark", model=ScriptedModel(searching), settings=UNSET, agents=1)


class Gate:
    """A model whose second turns wait until they are let through."""

    def __init__(self):
        self.waits, self.opened = threading.Semaphore(0), threading.Event()
        self.calls = 0

    def policy(self, messages, tools, sampling):
        self.calls += 1
        if len(messages) > 2:
            self.waits.release()
            assert self.opened.wait(30)
            return [("finish", {})]
        return [("search_in_graph", {"query": "salt"})]


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def gated(small, gate):
    return Retriever(small, "ark", model=ScriptedModel(gate.policy), settings=UNSET, agents=1)


# ------------------------------------------------------------------------------------------------------------- pushed


def test_who_listens_hears_what_a_stream_gives(retriever):
    heard = []
    running = retriever.start("ferry", listen=heard.append)
    result = running.future.result(30)
    streamed = list(retriever.stream("ferry"))
    assert [event.kind for event in heard] == [event.kind for event in streamed]
    assert heard[-1] == DoneEvent(result=result)


def test_every_event_is_told_before_the_result_is_there(retriever):
    heard, kinds = [], []
    running = retriever.start("ferry", listen=heard.append)
    running.future.add_done_callback(lambda _: kinds.extend(event.kind for event in heard))
    running.future.result(30)
    assert kinds[-1] == "done"


def test_closing_ends_the_question_and_nothing_more_is_heard(gated, gate):
    heard = []
    running = gated.start("salt", listen=heard.append)
    assert gate.waits.acquire(timeout=30)
    before = len(heard)
    running.close()
    gate.opened.set()
    assert running.future.result(30).stopped_by == "interrupted"
    assert (len(heard), gate.calls) == (before, 2)


def test_what_a_question_raises_is_in_its_future(small, retriever):
    def broken(messages, tools, sampling):
        raise ZeroDivisionError("a bug")

    failing = Retriever(small, "bm25", model=ScriptedModel(broken), settings=UNSET)
    assert isinstance(failing.start("ferry", listen=print).future.exception(30), ZeroDivisionError)
    with pytest.raises(UnknownType):  # before any thread begins
        retriever.start("ferry", listen=print, node_types=["nothing"])


def test_what_a_listener_raises_ends_the_question(gated, gate):
    def deaf(event):
        raise OverflowError("enough")

    running = gated.start("salt", listen=deaf)
    assert isinstance(running.future.exception(30), OverflowError)
    assert gate.calls == 1


# ------------------------------------------------------------------------------------------------------ event loops


@pytest.mark.timeout(60)
def test_open_streams_leave_the_threads_of_the_loop_alone(gated, gate):
    async def crowd():
        streams = [gated.astream("salt") for _ in range(MANY)]
        first = [await anext(stream) for stream in streams]
        rest = [asyncio.ensure_future(anext(stream)) for stream in streams]
        rest = [await event for event in rest]
        waiting = [asyncio.ensure_future(anext(stream)) for stream in streams]
        await asyncio.sleep(0)
        assert not any(event.done() for event in waiting)
        await asyncio.to_thread(gate.opened.set)  # which waits for ever where streams hold all threads
        ends = [await event for event in waiting]
        kinds = [[event.kind async for event in stream] for stream in streams]
        return first, rest, ends, kinds

    first, rest, ends, kinds = asyncio.run(crowd())
    assert {event.kind for event in first} == {"step"}
    assert {event.kind for event in rest} == {"observation"}
    assert {event.kind for event in ends} == {"step"}
    assert [stream[-1] for stream in kinds] == ["done"] * MANY


@pytest.mark.timeout(60)
def test_many_questions_of_a_loop_run_at_once(gated, gate):
    async def crowd():
        asked = [asyncio.ensure_future(gated.asearch("salt")) for _ in range(MANY)]
        for _ in asked:  # every one of them is at its second turn
            await asyncio.to_thread(gate.waits.acquire)
        await asyncio.to_thread(gate.opened.set)
        return await asyncio.gather(*asked)

    assert {result.stopped_by for result in asyncio.run(crowd())} == {"finish"}


def test_a_stream_of_a_loop_that_is_left_stops_the_question(gated, gate):
    async def leave():
        stream = gated.astream("salt")
        assert (await anext(stream)).kind == "step"
        await asyncio.to_thread(gate.waits.acquire)
        await stream.aclose()
        gate.opened.set()

    asyncio.run(leave())
    for thread in threading.enumerate():
        if thread.name.startswith(("orienteer", "ark")):
            thread.join(30)
    assert gate.calls == 2


def test_a_stream_of_a_loop_raises_what_the_question_does(small):
    def broken(messages, tools, sampling):
        raise ZeroDivisionError("a bug")

    async def read():
        failing = Retriever(small, "bm25", model=ScriptedModel(broken), settings=UNSET)
        return [event async for event in failing.astream("ferry")]

    with pytest.raises(ZeroDivisionError, match="a bug"):
        asyncio.run(read())


def test_a_reading_is_taken_by_every_way_to_ask(small):
    retriever, line = Retriever(small, "anchor", settings=UNSET), 'person that -acted in-> "Night Ferry"'

    async def ask():
        kinds = [event async for event in retriever.astream("Who directed Night Ferry?", reading=line)]
        return kinds[-1].result, await retriever.aask("Who directed Night Ferry?", reading=line)

    answers = {result.answer for result in asyncio.run(ask())}
    answers |= {retriever.ask("Who directed Night Ferry?", reading=line).answer}
    answers |= {[*retriever.stream("Who directed Night Ferry?", reading=line)][-1].result.answer}
    assert answers == {"Noor Vik"}
    with pytest.raises(BadOption, match="reading goes with anchor"):
        asyncio.run(anext(Retriever(small, "bm25", settings=UNSET).astream("salt", reading=line)))


# ----------------------------------------------------------------------------------------------------------- the wire


def test_each_thing_goes_over_the_wire_once(retriever):
    events = list(retriever.stream("ferry"))
    sent = [json.loads(event.wire()) for event in events]
    whole = "".join(event.wire() for event in events)
    for event in events:
        if event.kind == "observation":
            assert whole.count(json.dumps(event.observation.text, ensure_ascii=False)) == 1
    hits = [event["hit"] for event in sent if event["kind"] == "hit"]
    assert Result.model_validate({**sent[-1]["result"], "hits": hits}) == events[-1].result.model_copy(
        update={"trajectories": ()}
    )


def test_the_answer_of_a_model_says_where_it_cites(retriever):
    result = retriever.ask("ferry")
    assert [(result.answer[cited.begin : cited.end], cited.ids) for cited in result.citations] == [("[f1]", ("f1",))]
    assert retriever.search("ferry").citations == ()


def test_what_was_told_is_whole_in_the_process(retriever):
    events = list(retriever.stream("ferry"))
    steps = [event.step for event in events if isinstance(event, StepEvent) and event.agent == 0]
    assert tuple(steps) == events[-1].result.trajectories[0].steps
    assert any(step.observations for step in steps)


def test_no_raw_reply_is_sent():
    from orienteer.records import Step

    step = Step(reply=Reply(message=Message(role="assistant", content="hello"), raw=Raw(text="hello", token_ids=(1,))))
    assert json.loads(StepEvent(agent=0, step=step).wire())["step"]["reply"].get("raw") is None
    assert step.reply.raw is not None
