"""`orienteer chat`: at a terminal of the standard library's, and line by line."""

import importlib.util
import io
import json
import re
import stat
import sys
import threading
import time
from pathlib import Path

import pytest

from fakes import Answer, FakeServer
from fakes.terminal import Terminal
from orienteer import Edge, Graph, Node
from orienteer.ingest import demo_records

READY = "Ctrl-D leaves"  # ends the line beneath a prompt
at_a_terminal = pytest.mark.skipif(
    importlib.util.find_spec("prompt_toolkit") is None, reason="needs the extra chat: pip install 'orienteer[chat]'"
)


@pytest.fixture
def languages(home):
    """Give the demo graph in the folder that the test works in."""
    return Graph.from_records(*demo_records(), path="languages")


@pytest.fixture
def talk(cli, languages, monkeypatch):
    """Give a function that says lines to a chat without a terminal."""

    def run(*lines, folder="languages", options=()):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return cli("chat", folder, *options)

    return run


@pytest.fixture
def terminal(languages):
    """Give a function that starts a command at a terminal."""
    opened = []

    def start(*arguments, **environment):
        opened.append(Terminal(*arguments, **environment))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


# --------------------------------------------------------------------------------------------------- without a terminal


def test_a_line_is_a_question(talk):
    ran = talk("Which language did Matz design?", "", "Who designed Go?")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "\nRuby\n\n1. Ruby (language)  language:ruby\n   Yukihiro Matsumoto <-designed_by- Ruby\n" in ran.out
    assert "\nKen Thompson, Rob Pike, Robert Griesemer\n" in ran.out
    assert ran.out.count("8. ") == 2


def test_without_a_model_a_follow_up_is_taken_as_it_is_and_said_once(talk):
    ran = talk("Who designed Go?", "And Ruby?", "And Rust?")
    assert ran.err.count("asked as it stands: without a model") == 1
    assert "no model is configured" not in ran.err


def test_a_number_is_a_hit_of_the_last_answer(talk):
    ran = talk("Which language did Matz design?", "1", "/show 1", "/show Go")
    assert re.findall(r"^id +(\S+)$", ran.out, re.MULTILINE) == ["language:ruby", "language:ruby", "language:go"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/why 9", "no hit 9: the last answer has 1 to 8"),
        ("99", "no hit 99"),
        ("/show", "name a node, or the number of a hit"),
        ("/show Rubi", "Near"),
        ("/shwo 1", "unknown command /shwo. Did you mean /show?"),
        ("/type nonesuch", "nonesuch"),
        ("/method nonesuch", "nonesuch"),
        ("/method ark", "needs a model"),
        ('/type "language', "a quote that is not closed"),
        ("/save", "name the file"),
        ("/save languages", "languages is already there"),
        ("/save no/where/file.json", "no/where"),
    ],
)
def test_a_wrong_line_says_so_and_the_chat_goes_on(talk, line, told):
    ran = talk("Which language did Matz design?", line, "Who designed Go?")
    assert ran.code == 1
    (error,) = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert told in error
    assert "Rob Pike" in ran.out


def test_before_any_answer_there_are_no_hits(talk):
    ran = talk("/why", "/steps", "/save x.json")
    assert "no hit 1: there is no answer with hits yet" in ran.err
    assert "no steps" in ran.err
    assert "there is nothing to save" in ran.err


def test_why_draws_the_edges(talk):
    ran = talk("Which language did Matz design?", "/why 1")
    assert ran.out.endswith("Ruby (language)\n  -designed_by-> Yukihiro Matsumoto (person)\n\n")


def test_steps_are_told_whole(talk):
    assert "follow(" in talk("Which language did Matz design?", "/steps").err


def test_neighbors_of_a_hit_and_of_a_name(talk):
    ran = talk("Which language did Matz design?", "/neighbors 1", '/neighbors "Ruby" Rails', "/neighbors Ruby")
    tables = re.findall(r"^16 neighbours: .*\nrank.*\n1     (\S+)", ran.out, re.MULTILINE)
    assert len(tables) == 3
    assert "Ruby on Rails" in ran.out.split("16 neighbours")[2].splitlines()[2]


def test_types_are_kept_and_let_go(talk):
    ran = talk("/type person", "Ruby", "/type", "Ruby")
    first, second = ran.out.split("types: all")
    assert "(language)" not in first
    assert "Ruby (language)" in second


def test_a_result_is_saved_as_ask_prints_it(talk):
    ran = talk("Which language did Matz design?", "/save result.json")
    assert ran.code == 0
    saved = json.loads(Path("result.json").read_text(encoding="utf-8"))
    assert (saved["question"], saved["answer"]) == ("Which language did Matz design?", "Ruby")


def test_clear_forgets_and_quit_leaves(talk):
    ran = talk("Who designed Go?", "/clear", "1", "/quit", "Who designed Ruby?")
    assert not re.search(r"^id +person:", ran.out, re.MULTILINE)
    assert "Matsumoto" not in ran.out


def test_help_names_every_command(talk):
    from orienteer.serve import CHAT_COMMANDS

    assert all(f"\n{name}" in talk("/help").out for name in CHAT_COMMANDS)


def test_names_steer_no_terminal(talk, build):
    graph = build(
        [Node("a", "thing", "bee\x1b]0;owned\x07tle", "a beetle \x1b[2J"), Node("b", "thi\x1bng", "ant\u202e")],
        [Edge("a", "near\x9b31m", "b")],
    )
    ran = talk("beetle", "/why 1", "1", "/neighbors 1", "/type nonesuch", folder=graph.path)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", ran.out + ran.err)


def test_json_is_refused(talk):
    ran = talk("x", options=["--json"])
    assert ran.code == 2
    assert "orienteer ask DIR QUESTION --json" in ran.err


def play(body, before):
    """Put follow-ups in words, choose what the last message names, and end."""
    last = body["messages"][-1]["content"]
    if "Its last question:" in str(last):
        assert "user: Who designed Erlang?" in last
        return Answer(content=json.dumps({"question": "Who designed Ruby?"}))
    if "tools" not in body:
        return Answer(content="Answer: Yukihiro Matsumoto [person:yukihiro-matsumoto]")
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    asked = next(message["content"] for message in body["messages"] if message["role"] == "user")
    node = "language:ruby" if "Ruby" in asked else "language:erlang"
    calls = (
        ("search_in_neighborhood", {"node": node, "query": "designed"}),
        ("add_to_answer", {"nodes": ["person:yukihiro-matsumoto"], "reasoning": "designed Ruby"}),
        ("finish", {}),
    )
    return Answer(calls=calls[min(turn, 2) : min(turn, 2) + 1])


def test_with_a_model_a_follow_up_is_put_in_words(talk):
    with FakeServer(play) as server:
        model = ["--model", "fake", "--base-url", server.url]
        ran = talk("Who designed Erlang?", "And Ruby?", "/why 1", options=model)
    assert ran.code == 0, ran.err
    assert "note: asked as: Who designed Ruby?" in ran.err
    assert ran.out.endswith("Yukihiro Matsumoto (person)\n  <-designed_by- Ruby (language)\n\n")


# ------------------------------------------------------------------------------------------------------- at a terminal


@at_a_terminal
def test_a_talk_at_a_terminal(terminal, home):
    chat = terminal("chat", "languages")
    chat.wait("Ask, or /help.")
    chat.wait(READY)
    chat.type("Which language did Matz design?\r")
    chat.wait("1. Ruby (language)")
    chat.wait(READY)
    chat.type("1\r")
    chat.wait("Everything is an object")
    chat.wait(READY)
    chat.type("/type per\t")  # the one type that begins so
    chat.wait("person")
    chat.type("\r")
    chat.wait("types: person")
    chat.wait(READY)
    chat.type("a question that is dropped\x03")
    chat.wait(READY)
    chat.type("\x04")
    assert chat.end() == 0
    history = home.parent / "cache" / "chat" / "history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert stat.S_IMODE(history.parent.stat().st_mode) == stat.S_IMODE(history.parents[1].stat().st_mode) == 0o700
    assert "+Which language did Matz design?" in history.read_text(encoding="utf-8")
    assert "dropped" not in history.read_text(encoding="utf-8")


@at_a_terminal
def test_a_history_that_others_could_read_is_closed(terminal, home):
    history = home.parent / "cache" / "chat" / "history"
    history.parent.mkdir(parents=True)
    history.write_text("\n# 2026-01-01\n+Who designed Go?\n", encoding="utf-8")
    history.chmod(0o644)
    chat = terminal("chat", "languages")
    chat.wait(READY)
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    chat.type("\x1b[A")  # the line before
    chat.wait("Who designed Go?")
    chat.type("\r")
    chat.wait("Rob Pike")
    chat.wait(READY)
    chat.type("/quit\r")
    assert chat.end() == 0


@at_a_terminal
def test_no_history(terminal, home):
    chat = terminal("chat", "languages", "--no-history")
    chat.wait(READY)
    chat.type("Who designed Go?\r")
    chat.wait("Rob Pike")
    chat.wait(READY)
    chat.type("/quit\r")
    assert chat.end() == 0
    assert not (home.parent / "cache" / "chat").exists()


@at_a_terminal
def test_ctrl_c_stops_the_question_and_no_further_call_is_made(terminal):
    def look(body, before):
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        return Answer(calls=[("search_in_graph", {"query": f"Ruby {turn}"})], delay=0.3)

    with FakeServer(look) as server:
        chat = terminal("chat", "languages", "--model", "fake", "--base-url", server.url)
        chat.wait(READY)
        chat.type("/method ark\r")
        chat.wait("ark: ")
        chat.wait(READY)
        chat.type("Who designed Ruby?\r")
        chat.wait("search_in_graph(")
        chat.type("\x03")
        chat.wait("stopped")
        chat.wait(READY)
        time.sleep(0.6)  # what was in flight has ended
        calls = len(server.requests)
        time.sleep(1.0)
        assert len(server.requests) == calls
        chat.type("/method anchor\r")
        chat.wait("anchor: ")
        chat.wait(READY)
        chat.type("Who designed Go?\r")
        chat.wait("Rob Pike")
        chat.wait(READY)
        chat.type("\x04")
        assert chat.end() == 0


@at_a_terminal
@pytest.mark.parametrize("command", ["chat", "ask"])
def test_words_are_printed_while_the_model_writes_them_and_once(terminal, home, command):
    words = ("He alone ", "did.\nAnswer: ", "Yukihiro ", "Matsumoto")
    gate = threading.Event()
    (home / "orienteer.toml").write_text('method = "bm25"\n', encoding="utf-8")
    with FakeServer(lambda body, before: Answer(content="".join(words), parts=words, held=gate)) as server:
        question = [] if command == "chat" else ["Ruby?"]
        run = terminal(command, "languages", *question, "--model", "fake", "--base-url", server.url)
        if command == "chat":
            run.wait(READY)
            run.type("Ruby?\r")
        run.wait("He alone")  # the server holds the rest
        gate.set()
        shown = run.wait("1. ")
        if command == "chat":
            run.wait(READY)
            run.type("\x04")
        assert run.end() == 0
    assert shown.count("Yukihiro Matsumoto") == 1
    assert run.shown.count("He alone") == 1


@at_a_terminal
def test_words_that_are_read_otherwise_are_put_right_just_before_the_answer(terminal, home):
    words = ("One. ", "Answer: two", ". Answer: ", "three.")
    (home / "orienteer.toml").write_text('method = "bm25"\n', encoding="utf-8")
    with FakeServer(lambda body, before: Answer(content="".join(words), parts=words)) as server:
        run = terminal("ask", "languages", "Ruby?", "--model", "fake", "--base-url", server.url)
        run.wait("1. ")
        assert run.end() == 0
    lines = [line.strip() for line in run.shown.splitlines() if line.strip()]
    told = lines.index("note: the words above are not the answer as it was read, which is this:")
    assert lines[told + 1] == "three."
    assert lines.index("note: the answer cites no hit") > told


@at_a_terminal
def test_leaving_does_not_wait_for_a_model(terminal):
    with FakeServer(lambda body, before: Answer(content="late", delay=30.0)) as server:
        chat = terminal("chat", "languages", "--model", "fake", "--base-url", server.url)
        chat.wait(READY)
        chat.type("/method ark\r")
        chat.wait("ark: ")
        chat.wait(READY)
        chat.type("Who designed Ruby?\r")
        chat.wait("looking")
        chat.type("\x03")
        chat.wait("stopped")
        chat.wait(READY)
        chat.type("\x04")
        assert chat.end() == 130


@at_a_terminal
def test_no_colour_where_none_is_wanted(terminal):
    chat = terminal("chat", "languages", NO_COLOR="1")
    chat.wait(READY)
    chat.type("Which language did Matz design?\r")
    chat.wait("8. ")
    chat.wait(READY)
    chat.type("/quit\r")
    chat.end()
    assert not re.search(r"\x1b\[[0-9;]*3[0-9](?:;[0-9]+)*m|\x1b\[2m", chat.raw)


@at_a_terminal
def test_names_steer_no_terminal_there_either(terminal, build):
    graph = build([Node("a", "thing", "bee\x1b]0;owned\x07tle", "a beetle \x1b[41m")])
    chat = terminal("chat", str(graph.path))
    chat.wait(READY)
    chat.type("beetle\r")
    chat.wait("1. ")
    chat.wait(READY)
    chat.type("/quit\r")
    chat.end()
    assert "\x1b]0;owned" not in chat.raw
    assert "\x1b[41m" not in chat.raw


@pytest.mark.skipif(importlib.util.find_spec("prompt_toolkit") is not None, reason="the extra chat is installed")
def test_a_terminal_without_the_extra_is_told_what_to_install(terminal):
    chat = terminal("chat", "languages")
    chat.wait("pip install 'orienteer[chat]'")
    assert chat.end() == 2
