"""A collection that was cut off goes on: nothing is asked twice, nothing is lost, and it comes to the same."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections import Counter

import pytest

from fakes import Answer, FakeServer
from fakes.recorder import canonical
from orienteer.lab.training import CollectConfig, collect_trajectories, collected_trajectories, read_collection
from orienteer.llm import OpenAIConfig, OpenAIModel
from orienteer.settings import Settings
from training.tiny import NOVELS, wait_for

TEACHER = "ark agents=1"
SAMPLES = 2


class Killed(BaseException):
    """What ends a process, as far as one can be ended within a test."""


def policy(body, before):
    """Find what the question speaks of, choose it, finish."""
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    question = body["messages"][1]["content"].rpartition(": ")[2]
    if turns == 0:
        return Answer(calls=[("search_in_graph", {"query": question})])
    return Answer(calls=[("add_to_answer", {"nodes": ["@1"]}), ("finish", {})])


def asking(file, count):
    rows = [
        {"id": f"q{at:02}", "question": f"Question {at}: which novel is {NOVELS[at % 8]}?", "nodes": [f"n{at % 8}"]}
        for at in range(count)
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def without_times(folder):
    """Return what is in the files of a collection, without what a clock has written, and without the runs."""

    def timeless(value):
        if isinstance(value, dict):
            return {name: timeless(part) for name, part in value.items() if name not in ("seconds", "created")}
        return [timeless(part) for part in value] if isinstance(value, list) else value

    found = {}
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if not file.is_file() or file.name.startswith(".") or "run-" in name:
            continue
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".jsonl":
            found[name] = [timeless(json.loads(line)) for line in text.splitlines()]
        else:
            found[name] = timeless(json.loads(text)) if file.suffix == ".json" else text
    return found


# ------------------------------------------------------------------------------------------- a teacher without a model


@pytest.fixture(scope="module")
def undisturbed(worlds, scratch):
    """Give the folder of a collection that nothing cut off, and how often its progress was told."""
    folder, told = scratch(), []
    config = CollectConfig(teacher="anchor", count=6)
    collect_trajectories(
        list(worlds.values()), folder, config, settings=Settings(), progress=lambda *at: told.append(at)
    )
    return folder, len(told)


@pytest.mark.parametrize("at", [1, 6, 7, 12])
def test_killed_at_any_question_of_any_graph_it_comes_to_the_same(worlds, undisturbed, tmp_path, at):
    folder, total = undisturbed
    assert total == 12, "six questions of each of two graphs"
    config, told = CollectConfig(teacher="anchor", count=6), Counter()

    def progress(graph, done):
        told[graph] += 1
        if told.total() == at:
            raise Killed

    graphs = list(worlds.values())
    with pytest.raises(Killed):
        collect_trajectories(graphs, tmp_path / "c", config, settings=Settings(), progress=progress)
    collect_trajectories(
        graphs, tmp_path / "c", config, settings=Settings(), progress=lambda graph, done: told.update([graph])
    )
    assert without_times(tmp_path / "c") == without_times(folder)
    assert told["books"] == (6 if at > 6 else 6 + at), "a graph that is done is not gone through again"


def test_an_unfinished_collection_is_not_learnt_from(worlds, tmp_path, cli):
    def progress(graph, done):
        if graph == "ships":
            raise Killed

    config = CollectConfig(teacher="anchor", count=3)
    with pytest.raises(Killed):
        collect_trajectories(list(worlds.values()), tmp_path / "c", config, settings=Settings(), progress=progress)
    ran = cli("train", "sft", tmp_path / "c", "--student", "smollm2", "-o", tmp_path / "s")
    assert ran.code == 2
    assert "is incomplete: rerun the command that wrote it" in ran.err


# ---------------------------------------------------------------------------------------------- a teacher with a model


class Mortal:
    """A model that ends the whole process after some replies."""

    def __init__(self, model, replies):
        self._model, self._replies, self._lock = model, replies, threading.Lock()
        self.name, self.price = model.name, model.price

    def chat(self, messages, **options):
        with self._lock:
            self._replies -= 1
            if self._replies < 0:
                raise Killed
        return self._model.chat(messages, **options)


@pytest.fixture
def server():
    with FakeServer(policy) as server:
        yield server


@pytest.fixture
def teach(worlds, server, tmp_path):
    """Give a function that collects from the model behind the server, which may die after some replies."""

    def run(folder, replies=10**6):
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
        try:
            return collect_trajectories(
                list(worlds.values()),
                tmp_path / folder,
                CollectConfig(teacher=TEACHER, samples=SAMPLES, count=4, workers=1),
                model=Mortal(model, replies),
                settings=Settings(),
            )
        finally:
            model.close()

    return run


CALLS = 2 * SAMPLES * 4 * 2
"""Graphs, samples, questions, turns."""


@pytest.mark.parametrize("replies", [0, 1, 8, 15, 16, 21, 31])
def test_killed_in_the_middle_of_a_run_nothing_is_asked_twice(server, teach, tmp_path, replies):
    with pytest.raises(Killed):
        teach("c", replies)
    assert len(server.bodies) == replies
    done = teach("c")
    assert set(Counter(map(canonical, server.bodies)).values()) == {1}
    assert len(server.bodies) == CALLS == done.usage.calls
    teach("undisturbed")
    assert without_times(tmp_path / "c") == without_times(tmp_path / "undisturbed")


def test_a_collection_that_is_done_asks_nothing_more(server, teach):
    first = teach("c")
    assert teach("c", replies=0) == first
    assert len(server.bodies) == CALLS
    assert first.usage.calls == CALLS
    assert first.usage.prompt_tokens == 100 * CALLS, "as the server counts them"


def test_trajectories_stand_in_the_order_of_samples_and_questions_however_they_came(worlds, tmp_path):
    """Questions are asked side by side; a file whose order is chance would train another student each time."""

    def slowly(body, before):
        at = int(body["messages"][1]["content"].partition("Question ")[2].partition(":")[0])
        return Answer(calls=policy(body, before).calls, delay=0.2 if at == 0 else 0.0)

    questions = asking(tmp_path / "questions.jsonl", 6)
    with FakeServer(slowly) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
        config = CollectConfig(teacher=TEACHER, samples=1, workers=4)
        collect_trajectories(
            [worlds["books"]], tmp_path / "c", config, questions=questions, model=model, settings=Settings()
        )
        model.close()
    assert [one.question.id for _, one in collected_trajectories(tmp_path / "c")] == [f"q{at:02}" for at in range(6)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_process_that_is_killed_goes_on(worlds, server, process, tmp_path):
    questions = asking(tmp_path / "questions.jsonl", 20)
    command = (
        *("train", "collect", worlds["books"].path, questions, "--teacher", TEACHER, "-n", "1", "-w", "1"),
        *("--model", "fake", "--base-url", server.url, "-o", tmp_path / "c", "-q"),
    )
    victim = process(*command)
    assert wait_for(lambda: len(server.bodies) >= 11)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    assert len(server.bodies) < 40, "it was not over before"
    again = process(*command)
    _, err = again.communicate()
    assert again.returncode == 0, err
    assert len(set(map(canonical, server.bodies))) == 40
    assert len(server.bodies) <= 41, "but for the reply that was under way"
    assert len(list(collected_trajectories(tmp_path / "c"))) == 20


# ------------------------------------------------------------------------------------------------- a teacher that dies


@pytest.fixture
def dying(worlds, home, cli):
    """Give a function that collects at the command line from a server whose model is dead after some replies."""
    questions = asking(home / "questions.jsonl", 26)

    def run(replies=10**6):
        def mortal(body, before):
            is_alive = len(server.requests) <= replies
            return policy(body, before) if is_alive else Answer(status=400, message="out of order")

        with FakeServer(mortal) as server:
            ran = cli(
                *("train", "collect", worlds["books"].path, questions, "--teacher", TEACHER, "-n", "1", "-w", "1"),
                *("--model", "fake", "--base-url", server.url, "-o", "c"),
            )
            return ran, server.bodies

    return run


def test_a_teacher_that_dies_is_told_in_a_sentence_and_loses_nothing(dying, home):
    ran, bodies = dying(replies=8)
    assert ran.code == 1
    error = ran.err.strip().splitlines()[-1]
    assert error.startswith("error: 20 questions in a row failed, the last with: ")
    assert "Traceback" not in ran.err
    assert "--retry-failed" not in error, "train collect has no such flag"
    assert not (home / "c" / "books" / "trajectories.jsonl").exists()
    again, more = dying()
    assert again.code == 0, again.err
    assert len(bodies[:8]) + len(more) == 52, "four questions were paid for before it died"
    assert len(list(collected_trajectories(home / "c"))) == 26, "those that failed are asked again"
    assert read_collection(home / "c").parts[0].without == 0
    assert read_collection(home / "c").usage.calls == 52


def test_a_server_that_is_gone_is_told_in_a_sentence(worlds, home, users_file, cli):
    questions = asking(home / "questions.jsonl", 21)
    with FakeServer(policy) as server:
        url = server.url
    users_file.write_text("[server]\nretries = 0\n")
    ran = cli(
        *("train", "collect", worlds["books"].path, questions, "--teacher", TEACHER, "-n", "1"),
        *("--model", "fake", "--base-url", url, "-o", "c"),
    )
    assert ran.code == 1
    assert ran.err.strip().splitlines()[-1].startswith("error: ")
    assert "Traceback" not in ran.err
