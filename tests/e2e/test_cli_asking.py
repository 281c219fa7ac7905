"""ask, demo, methods, trace, cache, doctor: in this process, with a model on loopback where one is needed."""

import json
import os
import re
import shutil
import socket
import threading
from concurrent.futures import wait
from dataclasses import fields

import pytest

from fakes import Answer, FakeServer
from orienteer import Retriever
from orienteer.serve import does_host_answer
from orienteer.settings import Settings
from orienteer.tools import CODE_SPEC

RESULT = {
    "version",
    "offset",
    "table",
    "question",
    "method",
    "hits",
    "answer",
    "long_answer",
    "usage",
    "stopped_by",
    "notes",
} | {
    "answer_kind",
    "citations",
    "reading",
    "refusal",
    "total",
}
USAGE = {"calls", "prompt_tokens", "cached_tokens", "completion_tokens", "seconds", "usd"}


def policy(body, before):
    """Search, choose Ann, finish; without tools answer in words."""
    if "tools" not in body:
        return Answer(content="Ann leads it [ann].")
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    if turns == 0:
        return Answer(calls=[("search_in_neighborhood", {"node": "choir"})])
    return Answer(calls=[("add_to_answer", {"nodes": ["ann"], "reasoning": "leads the choir"}), ("finish", {})])


@pytest.fixture
def server():
    with FakeServer(policy) as fake:
        yield fake


# ------------------------------------------------------------------------------------------------ without a model


def test_a_persons_first_command_is_ask_folder_question(tables, cli):
    ran = cli("ask", tables, "Who is a member of both the Chess Club and the Choir?", "--json")
    assert ran.code == 0
    assert ran.json.keys() == RESULT
    assert ran.json["usage"].keys() == USAGE
    assert ran.json["hits"][0]["id"] == "ann"
    assert (ran.json["method"], ran.json["answer"], ran.json["stopped_by"]) == ("anchor", "Ann", "finish")
    assert any("no model is configured" in note for note in ran.json["notes"])
    assert "in the cache" in ran.err


def test_ask_says_how_it_read_then_the_answer_then_hits_and_steps_where_asked(clubs, cli):
    ran = cli("ask", clubs, "Who leads the Choir?")
    assert ran.code == 0
    assert ran.out.splitlines()[:4] == ['read as: person that -leads-> "Choir"', "Ann", "", "1. Ann (person)  ann"]
    assert "add_to_answer" not in ran.err
    ran = cli("ask", clubs, "Who leads the Choir?", "-v")
    assert 'add_to_answer(nodes=["ann"' in ran.err
    assert "    added" in ran.err
    assert "anchor, " in ran.err
    assert cli("ask", clubs, "Who leads the Choir?", "--quiet").err == ""


def test_rows_of_a_table_are_found(clubs, cli):
    ran = cli("ask", clubs, "MATCH (p:person) RETURN p.name LIMIT 2")
    assert ran.code == 0
    assert "no hits" not in ran.out
    assert cli("ask", clubs, "MATCH (p:person {name: 'nobody'}) RETURN p.name").code == 1


def test_of_a_gathering_the_heading_and_the_best_line_are_shown(clubs, cli):
    lines = cli("ask", clubs, "Who leads the Choir?", "--method", "naive", "-v").err.splitlines()
    assert lines[0].startswith("gather_evidence(")
    assert lines[1] == "    Entities and facts:"
    assert lines[2].startswith("    [N1] ")


def test_ask_shows_what_a_model_says_that_calls_nothing(clubs, cli):
    passage = "Ann leads the Choir. " * 20

    def policy(body, before):
        is_answer = "from evidence" in body["messages"][0]["content"]
        return Answer(content="It is Ann [ann]." if is_answer else f"<think>Who?</think>\n{passage}")

    with FakeServer(policy) as server:
        command = ("ask", clubs, "Who leads?", "--method", "hyde", "--model", "fake", "--base-url", server.url)
        lines, whole = cli(*command).err.splitlines(), cli(*command, "-v").err
    assert lines[0].startswith("[1] said: Ann leads the Choir.")
    assert lines[0].endswith("...")
    assert len(lines[0]) < 180
    assert lines[1].startswith("[1] search_in_graph(")
    assert not any("It is Ann" in line for line in lines)  # the answer is printed with the ranking
    assert passage.strip() in whole


def test_a_models_refusal_is_printed_as_any_other_and_nothing_was_found(clubs, cli):
    said = "Nobody \x1b[31msings\u202e here.\n\nAnswer: not in the evidence"
    with FakeServer(lambda body, before: Answer(content=said)) as server:
        command = ("ask", clubs, "choir", "--method", "bm25", "--model", "fake", "--base-url", server.url)
        ran, as_json = cli(*command), cli(*command, "--json")
    assert (ran.code, as_json.code) == (1, 1)
    first, *_, heading = ran.out.partition("1. ")[0].split("\n\n")[:2]
    assert re.fullmatch(
        r"not in the evidence: bm25 gave \d+ hits?, and none answers; the model says: Nobody .*sings.* here\.", first
    )
    assert heading.startswith("-- nearest --")
    assert not {"\x1b", "\u202e"} & set(ran.out)
    assert (as_json.json["answer"], as_json.json["refusal"]["kind"]) == (None, "not_here")


def test_ask_keeps_types_conditions_and_k(clubs, cli):
    ran = cli("ask", clubs, "chess", "--type", "person", "--where", "born>1985", "--method", "bm25", "--json")
    assert ran.json["hits"] == []
    ran = cli("ask", clubs, "chess", "--type", "person", "-k", "1", "--json")
    assert [hit["type"] for hit in ran.json["hits"]] == ["person"]


def test_trajectories_are_in_the_json_only_when_asked_for(clubs, cli):
    result = cli("ask", clubs, "Who leads the Choir?", "--trajectories", "--json").json
    assert result.keys() == RESULT | {"trajectories"}
    assert result["trajectories"][0]["method"] == "anchor"


def test_a_method_that_needs_a_model_says_how_to_name_one(clubs, cli, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    ran = cli("ask", clubs, "x", "--method", "ark")
    assert ran.code == 2
    assert "ORIENTEER_MODEL" in ran.err
    assert cli("ask", clubs, "Ann", "--json").json["method"] == "anchor"


def test_options_are_checked_against_the_method(clubs, cli):
    assert cli("ask", clubs, "Ann", "--set", "most_hops=2").code == 0
    for wrong in (["--set", "most_hopps=2"], ["--set", "most_hops=far"], ["--agents", "3"], ["--set", "nothing"]):
        assert cli("ask", clubs, "Ann", *wrong).code == 2


def test_demo_needs_no_key_and_shows_how_it_reads_and_its_evidence(cli):
    ran = cli("demo")
    assert ran.code == 0
    assert "Which languages did Niklaus Wirth design?" in ran.out
    assert "Pascal" in ran.out
    assert "read as: " in ran.out
    assert "add_to_answer(" not in ran.err
    assert "add_to_answer(" in cli("demo", "-v").err
    again = cli("demo", "--json")
    from orienteer.ingest import demo_questions

    ids = {result["question"]: [hit["id"] for hit in result["hits"]] for result in again.json}
    for question in demo_questions():
        assert set(ids[question.question]) & set(question.nodes)
    assert "in the cache" not in again.err


# --------------------------------------------------------------------------------------------------- with a model


def test_a_model_is_taken_from_flags(clubs, server, cli):
    model = ("--model", "fake", "--base-url", server.url, "--method", "ark")
    ran = cli("ask", clubs, "Who leads the Choir?", *model, "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["method"], ran.json["answer"]) == ("ark", "Ann leads it [ann].")
    assert (ran.json["hits"][0]["id"], ran.json["hits"][0]["votes"]) == ("ann", 3)
    assert ran.json["usage"]["calls"] == 7
    assert ran.json["usage"]["usd"] is None
    assert "[1] search_in_neighborhood(" in ran.err
    assert "[3] " in ran.err


def test_a_model_is_taken_from_the_environment_and_from_the_file(clubs, server, home, cli, monkeypatch):
    (home / "orienteer.toml").write_text(
        f'model = "of-the-file"\nmethod = "ark"\nbase_url = "{server.url}"\n[methods.ark]\nagents = 1\n'
    )
    assert cli("ask", clubs, "Who leads the Choir?", "--json").json["usage"]["calls"] == 3
    assert server.bodies[-1]["model"] == "of-the-file"
    monkeypatch.setenv("ORIENTEER_MODEL", "of-the-environment")
    monkeypatch.setenv("ORIENTEER_API_KEY", "secret")
    assert cli("ask", clubs, "Who leads the Choir?", "--no-answer", "--json").json["usage"]["calls"] == 2
    assert server.bodies[-1]["model"] == "of-the-environment"
    assert server.requests[-1].headers["authorization"] == "Bearer secret"
    assert cli("ask", clubs, "x", "--agents", "2", "--no-answer", "--json").json["usage"]["calls"] == 4


def test_a_file_of_the_working_directory_sends_no_key_elsewhere(clubs, home, cli, monkeypatch):
    (home / "orienteer.toml").write_text('model = "m"\nbase_url = "http://elsewhere.invalid/v1"\n')
    monkeypatch.setenv("ORIENTEER_API_KEY", "sk-very-secret")
    ran = cli("ask", clubs, "Who leads the Choir?")
    assert (ran.code, ran.out) == (2, "")
    assert "--base-url" in ran.err
    assert "sk-very-secret" not in ran.err


def test_no_answer_and_search_leave_the_last_call_out(clubs, server, cli):
    options = ("--model", "fake", "--base-url", server.url, "--method", "bm25", "--json")
    assert cli("ask", clubs, "choir", *options).json["answer"] == "Ann leads it [ann]."
    assert len(server.requests) == 1
    assert cli("ask", clubs, "choir", *options, "--no-answer").json["answer"] is None
    assert len(server.requests) == 1


def test_a_dead_model_ends_with_1_and_one_line(clubs, home, cli, users_file):
    users_file.write_text("[server]\nretries = 0\n")
    with FakeServer(lambda body, before: Answer(status=401, message="who are you?")) as dead:
        ran = cli("ask", clubs, "x", "--model", "fake", "--base-url", dead.url, "--quiet", "--json")
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("error: ")
    assert "API key" in ran.err
    assert (ran.json["stopped_by"], ran.json["hits"], ran.json["answer"]) == ("error", [], None)


@pytest.fixture
def nobody():
    """Give the address of a port of this machine where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def test_a_server_that_does_not_run_is_told_while_it_is_tried_and_once_at_the_end(clubs, home, cli, nobody, users_file):
    users_file.write_text("[server]\nretries = 1\n")
    command = ("ask", clubs, "xyzzy", "--model", "fake", "--base-url", nobody)
    ran = cli(*command)
    assert (ran.code, ran.out) == (1, "")
    retrying, *_, error = ran.err.splitlines()
    assert ran.err.count("cannot be reached") == 1
    assert "retrying (1 of 1)" in retrying
    assert error.startswith(f"error: {nobody} cannot be reached")
    quiet = cli(*command, "--quiet", "--json")
    assert (quiet.code, quiet.json["stopped_by"], quiet.json["hits"]) == (1, "error", [])
    assert quiet.err == f"{error}\n"


def test_a_server_that_is_tried_again_before_anybody_reads_the_events_is_told(
    clubs, home, cli, nobody, users_file, monkeypatch
):
    """On a busy machine the question may run long before its events are read."""
    users_file.write_text("[server]\nretries = 1\n")
    start = Retriever.stream

    def read_late(retriever, *arguments, **options):
        stream = start(retriever, *arguments, **options)
        wait([stream._running.future])
        return stream

    monkeypatch.setattr(Retriever, "stream", read_late)
    ran = cli("ask", clubs, "xyzzy", "--model", "fake", "--base-url", nobody)
    assert ran.err.count("retrying (1 of 1)") == ran.err.count("cannot be reached") == 1


def test_a_model_that_dies_at_the_answer_leaves_the_ranking(clubs, home, cli, nobody, users_file):
    users_file.write_text("[server]\nretries = 0\n")
    ran = cli("ask", clubs, "choir", "--method", "bm25", "--model", "fake", "--base-url", nobody)
    assert ran.code == 1
    assert ran.out.splitlines()[0].split()[1] == "Choir"
    assert ran.err.splitlines()[-1].startswith("error: ")
    assert ran.err.count("cannot be reached") == 1
    as_json = cli("ask", clubs, "choir", "--method", "bm25", "--model", "fake", "--base-url", nobody, "--json")
    assert (as_json.code, as_json.json["stopped_by"], as_json.json["answer"]) == (1, "finish", None)
    assert as_json.json["hits"][0]["name"] == "Choir"


def test_a_demo_with_a_dead_model_ends_at_its_first_failure(home, cli, nobody, users_file):
    users_file.write_text(f'model = "fake"\nbase_url = "{nobody}"\n[server]\nretries = 0\n')
    ran = cli("demo")
    assert ran.code == 1
    assert "Pascal" in ran.out
    assert "no hits" not in ran.out
    assert ran.err.count("cannot be reached") == 1


@pytest.mark.parametrize("question", ["", "  \t "])
def test_an_empty_question_is_refused_before_anything_is_spent(clubs, server, cli, question):
    ran = cli("ask", clubs, question, "--model", "fake", "--base-url", server.url)
    assert (ran.code, ran.out, server.requests) == (2, "", [])
    assert "question is empty" in ran.err


@pytest.mark.parametrize(
    "question", ["🦊🐙", "谁是合唱团的负责人？", "who leads the choir, and why? " * 340, "%s {} \x00 \\ '\""]
)
def test_any_other_question_is_refused_in_order(clubs, cli, question):
    ran = cli("ask", clubs, question, "--json")
    assert (ran.code, ran.json["question"], ran.json["answer"]) == (1, question, None)
    assert ran.json["refusal"]["text"]


def test_a_budget_that_finds_nothing_ends_with_1(clubs, cli):
    with FakeServer(lambda body, before: Answer(calls=[("schema", {})])) as server:
        options = ("--model", "fake", "--base-url", server.url, "--budget-calls", "4", "--json", "-q")
        ran = cli("ask", clubs, "x", *options)
        assert len(server.requests) <= 4
    assert ran.code == 1
    assert (ran.json["stopped_by"], ran.json["hits"]) == ("calls", [])
    assert "--budget-calls" in ran.err


@pytest.mark.parametrize("budget", [["--budget-usd", "1"], ["--budget-calls", "0"], ["--budget-seconds", "-1"]])
def test_a_budget_that_cannot_be_kept_is_refused_before_anything_is_spent(clubs, server, cli, budget):
    assert cli("ask", clubs, "x", "--model", "fake", "--base-url", server.url, *budget).code == 2
    assert server.requests == []


# --------------------------------------------------------------------------------------------------------- traces


def test_a_trace_is_shown_replayed_and_compared(clubs, tables, server, home, cli):
    options = ("--model", "fake", "--base-url", server.url, "--method", "ark")
    assert cli("ask", clubs, "Who leads the Choir?", *options, "--trace", "one.jsonl").code == 0
    lines = (home / "one.jsonl").read_text().splitlines()
    assert [json.loads(line)["method"] for line in lines] == ["ark", "ark", "ark", "answer"]
    shown = cli("trace", "show", "one.jsonl")
    assert "search_in_neighborhood" in shown.out
    assert "Ann leads it [ann]." in shown.out
    assert len(cli("trace", "show", "one.jsonl", "--json").json) == 4

    replayed = cli("trace", "replay", "one.jsonl", clubs)
    assert (replayed.code, replayed.out) == (0, "9 of 9 observations are equal\n")
    assert cli("trace", "replay", "one.jsonl", clubs, "--json").json["equal"] == 9
    requests = len(server.requests)

    shutil.copy(home / "one.jsonl", home / "two.jsonl")
    assert cli("trace", "diff", "one.jsonl", "two.jsonl").code == 0
    assert len(server.requests) == requests

    text = (tables / "nodes.jsonl").read_text().replace('"Dan"', '"Daniel"')
    (tables / "nodes.jsonl").write_text(text)
    differs = cli("trace", "replay", "one.jsonl", tables)
    assert differs.code == 1
    assert "+ " in differs.out
    assert "Daniel" in differs.out


@pytest.mark.parametrize("options", [[], ["--set", "faithful=true"], ["--set", "tools=no-query"]])
def test_every_methods_trace_is_replayed_to_the_letter(clubs, server, cli, options):
    model = ("--model", "fake", "--base-url", server.url, "--method", "ark") if "--set" in options else ()
    ran = cli("ask", clubs, "Who leads the Choir?", *model, *options, "--trace", "t.jsonl", "--json")
    # This model adds nothing to its answer, so that nothing is found.
    assert ran.code == (1 if model else 0)
    replayed = cli("trace", "replay", "t.jsonl", clubs, "--json")
    assert replayed.code == 0
    assert replayed.json["calls"] == replayed.json["equal"] > 0
    assert cli("trace", "show", "t.jsonl").code == 0
    assert cli("trace", "diff", "t.jsonl", "t.jsonl").code == 0


def test_the_requests_of_a_trace_are_printed_as_they_were_sent(clubs, server, cli):
    model = ("--model", "fake", "--base-url", server.url)
    assert cli("ask", clubs, "Who leads the Choir?", *model, "--method", "react", "--trace", "t.jsonl", "-q").code == 1
    requests = cli("trace", "requests", "t.jsonl", "--json").json
    assert [request["body"] for request in requests] == server.bodies
    assert not any(request["refused"] or request["error"] for request in requests)
    printed = cli("trace", "requests", "t.jsonl").out
    assert printed.count("== trajectory 1 (react), step") == sum(request["trajectory"] == 1 for request in requests)
    assert "tools: search_in_graph, add_to_answer, finish" in printed
    assert "-- system" in printed


def test_what_cost_turns_is_printed_and_counted(clubs, server, cli, monkeypatch):
    """Three agents that misspell a tool, ask twice and end; faults of a trace are no failure of the command."""

    def policy(body, before):
        turns = (
            [("look_up", {"query": "choir"})],
            [("search_in_graph", {"query": "choir"})],
            [("search_in_graph", {"query": "choir"})],
            [("add_to_answer", {"nodes": ["ann"]}), ("finish", {})],
        )
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        return Answer(calls=turns[turn]) if "tools" in body else Answer(content="Ann leads it [ann].")

    monkeypatch.setattr(server, "policy", policy)
    model = ("--model", "fake", "--base-url", server.url, "--method", "ark", "--set", "early_stop=false")
    assert cli("ask", clubs, "Who leads the Choir?", *model, "--trace", "t.jsonl", "-q").code == 0
    printed = cli("trace", "lint", "t.jsonl")
    assert (printed.code, printed.err) == (0, "")
    lines = printed.out.splitlines()
    assert lines[0] == "1. Who leads the Choir?"
    assert lines[1].startswith("   ark: 2 of 4 turns in vain, ")
    assert lines[2].startswith("   1. failed: look_up: BadCall: There is no tool 'look_up'.")
    assert lines[3] == '   3. repeated: search_in_graph: the same call as in turn 2: {"query": "choir"}'
    assert lines[-3].startswith("6 of 13 turns in vain, ")
    assert lines[-3].endswith("; 6 findings")
    assert lines[-2:] == ["   failed 3: look_up BadCall 3", "   repeated 3: search_in_graph 3"]
    counted = cli("trace", "lint", "t.jsonl", "--json").json
    assert (counted["trajectories"], counted["turns"], counted["turns_in_vain"]) == (4, 13, 6)
    assert 0 < counted["tokens_in_vain"] < counted["tokens"]
    assert [(one["trajectory"], one["step"], one["kind"]) for one in counted["findings"]] == [
        (number, *found) for number in (1, 2, 3) for found in ((1, "failed"), (3, "repeated"))
    ]


def test_a_run_is_linted_as_a_trace_is(clubs, cli, server, monkeypatch, home):
    monkeypatch.setattr(server, "policy", lambda body, before: Answer(calls=[("look_up", {"query": "choir"})]))
    (home / "asked.jsonl").write_text('{"question": "Who leads the Choir?", "nodes": []}\n')
    model = ("--model", "fake", "--base-url", server.url)
    method = "ark agents=1 max_steps=2"
    assert cli("eval", "run", clubs, "asked.jsonl", "-m", method, "-m", "anchor", *model, "-o", "run").code == 0
    counted = cli("trace", "lint", "run", "--json").json
    assert (counted["trajectories"], counted["turns"]) == (1, 2), "of the agent, and not of anchor"
    assert cli("eval", "run", clubs, "asked.jsonl", "-m", "anchor", "-o", "plain").code == 0
    ran = cli("trace", "lint", "plain")
    assert ran.code == 2
    assert "no agent has a trajectory in the run plain" in ran.err


def test_a_trace_of_an_older_version_is_a_clear_error(home, cli):
    (home / "old.jsonl").write_text('{"version": 1, "question": {"text": "?"}, "method": "ark"}\n')
    for command in ("show", "requests", "lint"):
        ran = cli("trace", command, "old.jsonl")
        assert ran.code == 2
        assert "line 1: a trajectory of version 1 cannot be read: this orienteer reads version 2" in ran.err


def test_a_method_without_steps_says_that_its_trace_is_empty(clubs, cli):
    ran = cli("ask", clubs, "choir", "--method", "bm25", "--trace", "t.jsonl")
    assert (ran.code, cli("trace", "show", "t.jsonl").code) == (0, 2)
    assert "the trace is empty" in ran.err


def test_a_trace_may_be_standard_output(clubs, cli):
    ran = cli("ask", clubs, "Who leads the Choir?", "--trace", "-")
    assert json.loads(ran.out.splitlines()[0])["method"] == "anchor"


@pytest.mark.skipif(not os.access("/dev/full", os.W_OK) or not os.access("/dev", os.W_OK), reason="no full disk here")
def test_a_trace_that_has_no_room_loses_no_result(clubs, cli):
    ran = cli("ask", clubs, "Who leads the Choir?", "--trace", "/dev/full")
    assert ran.code == 1
    assert "No space left" in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == cli("ask", clubs, "Who leads the Choir?").out != ""


def test_standard_output_is_not_for_two(clubs, server, cli):
    ran = cli("ask", clubs, "x", "--model", "fake", "--base-url", server.url, "--json", "--trace", "-")
    assert (ran.code, ran.out, server.requests) == (2, "", [])
    assert "--trajectories" in ran.err


def test_a_trace_that_cannot_be_written_is_told_before_anything_is_spent(clubs, server, cli):
    ran = cli("ask", clubs, "x", "--model", "fake", "--base-url", server.url, "--trace", "no folder/x.jsonl")
    assert (ran.code, server.requests) == (2, [])


# --------------------------------------------------------------------------------------------------------- upkeep


def test_methods_lists_options_with_defaults_and_sources(cli):
    methods = {method["name"]: method for method in cli("methods", "--json").json}
    assert {"anchor", "ark", "bm25"} <= methods.keys()
    assert (methods["ark"]["needs_model"], methods["anchor"]["needs_model"]) == (True, False)
    (steps,) = (option for option in methods["ark"]["options"] if option["name"] == "max_steps")
    assert (steps["default"], steps["type"]) == (20, "int")
    assert "T_max" in steps["doc"]
    assert "agents search the graph widely" in next(
        line for line in cli("methods").out.splitlines() if line.startswith("ark ")
    )


def test_methods_of_one_name_tells_its_options_with_a_json_schema(cli):
    card = cli("methods", "ark", "--json").json
    assert (card["name"], card["needs_model"], card["paper"]) == ("ark", True, "000 (DGR) and 001 (ARK)")
    schema = card["options"]
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    agents, tools = schema["properties"]["agents"], schema["properties"]["tools"]
    assert (agents["type"], agents["minimum"], agents["default"]) == ("integer", 1, 3)
    assert agents["description"] == "Parallel agents. ARK, appendix A.2."
    assert (tools["enum"][0], tools["default"]) == ("all", "all")
    table, _, listed = cli("methods", "ark").out.partition("\nwhat deviates from the paper even with faithful=true:\n")
    assert re.findall(r"^\d+\. (.*)$", listed, re.M) == card["deviations"] != []
    header, *rows = [line for line in table.splitlines()[1:] if line]
    assert header.split() == ["option", "value", "default", "meaning"]
    assert len(rows) == len(schema["properties"])
    assert rows[0].split("  ")[0] == "agents"
    assert "a whole number, 1 or more" in rows[0]
    assert rows[0].endswith(agents["description"])


def test_every_method_of_the_list_has_a_page_of_its_own(cli):
    for listed in cli("methods", "--json").json:
        card = cli("methods", listed["name"], "--json").json
        assert list(card["options"]["properties"]) == [option["name"] for option in listed["options"]]
        assert {**card, "options": None} == {**listed, "options": None}
    assert "no options" in cli("methods", "bm25").out
    assert cli("methods", "sage:ark", "--json").json["name"] == "sage:ark"


@pytest.mark.parametrize(("name", "words"), [("arkk", "Near: ark"), ("auto", "name one of them"), ("a:b", "a:b")])
def test_methods_of_an_unknown_name_is_refused(cli, name, words):
    refused = cli("methods", name)
    assert refused.code == 2
    assert words in refused.err


def test_cache_info_and_clear(tables, cli, home):
    assert cli("cache", "info", "--json").json["graphs"] == []
    cli("search", tables, "chess")
    cache = home.parent / "cache"
    (cache / "mine.txt").write_text("not a graph")
    (cache / "graphs" / "other").mkdir()
    contents = cli("cache", "info", "--json").json
    assert (contents["path"], len(contents["graphs"])) == (str(cache), 1)
    assert contents["bytes"] == contents["graphs"][0]["bytes"] > 0
    cleared = cli("cache", "clear", "--json").json
    assert (cleared["removed"], cleared["bytes"]) == (1, contents["bytes"])
    assert (cache / "mine.txt").exists()
    assert (cache / "graphs" / "other").exists()
    assert cli("cache", "info", "--json").json["graphs"] == []


def test_doctor_tells_settings_and_never_a_key(cli, home, monkeypatch):
    monkeypatch.setenv("ORIENTEER_API_KEY", "sk-very-secret")
    (home / "orienteer.toml").write_text('model = "m"\n')
    checkup = cli("doctor", "--json")
    assert checkup.code == 0
    assert checkup.json["settings"]["model"] == {"value": "m", "from": "orienteer.toml"}
    assert checkup.json["settings"]["api_key"] == {"value": "set", "from": "ORIENTEER_API_KEY"}
    assert checkup.json["extras"]["parquet"]["install"] == "pip install 'orienteer[parquet]'"
    for ran in (checkup, cli("doctor"), cli("doctor", "-v", "-v")):
        assert "sk-very-secret" not in ran.out + ran.err


def test_doctor_tells_of_a_cache_that_is_not_believed(cli, tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("ORIENTEER_CACHE", str(folder))
    ran = cli("doctor")
    assert ran.code == 2
    assert "extra serve" in ran.out  # all else is told
    assert f"error: other users may write to the cache {folder} (mode 777): chmod 700" in ran.err


def test_doctor_lists_every_setting(cli, home, users_file):
    users_file.write_text("[price]\nprompt = 1.0\ncompletion = 2.0\n")
    settings = cli("doctor", "--json").json["settings"]
    assert settings["price"] == {"value": {"prompt": 1.0, "completion": 2.0}, "from": str(users_file)}
    assert settings.keys() == {field.name for field in fields(Settings)} - {"options", "origins", "abilities"}


def test_doctor_finds_a_damaged_file_of_the_same_size(clubs, cli):
    whole = cli("doctor", clubs, "--json")
    assert (whole.code, whole.json["graph"]["damaged"], whole.json["graph"]["stale"]) == (0, [], False)
    (generation,) = (clubs / "generations").iterdir()
    file = max(
        (path for path in generation.iterdir() if path.name != "manifest.json"), key=lambda path: path.stat().st_size
    )
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    damaged = cli("doctor", clubs, "--json")
    assert (damaged.code, damaged.json["graph"]["damaged"]) == (1, [file.name])


@pytest.mark.parametrize("is_cut", [True, False])
def test_doctor_names_what_a_graph_lacks(clubs, cli, is_cut):
    (generation,) = (clubs / "generations").iterdir()
    manifest = json.loads((generation / "manifest.json").read_text())
    file = generation / next(name for name, record in manifest["files"].items() if record["bytes"])
    if is_cut:
        file.write_bytes(file.read_bytes()[:-1])
    else:
        file.unlink()
    checkup = cli("doctor", clubs, "--json")
    assert (checkup.code, checkup.json["graph"]["damaged"]) == (1, [file.name])
    (generation / "manifest.json").unlink()
    checkup = cli("doctor", clubs)
    assert (checkup.code, checkup.err) == (1, "")
    assert "damaged: manifest.json" in checkup.out
    assert "import the graph again with --force" in checkup.out


def test_doctor_takes_sources_as_every_command_does(tables, cli, home):
    first = cli("doctor", tables, "--json")
    cache = home.parent / "cache" / "graphs"
    (folder,) = cache.iterdir()
    assert (first.code, first.json["graph"]["path"], first.json["graph"]["damaged"]) == (0, str(folder), [])
    assert f"in the cache at {folder}" in first.err
    assert f"{folder}: all " in cli("doctor", tables).out
    file = next(path for path in folder.glob("generations/*/*") if path.name != "manifest.json" and path.stat().st_size)
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    damaged = cli("doctor", tables)
    assert damaged.code == 1
    assert f"damaged: {file.name}" in damaged.out
    assert "orienteer cache clear" in damaged.out
    assert cli("cache", "clear").code == 0
    assert cli("doctor", tables).code == 0


def test_doctor_of_what_is_no_graph(home, cli):
    assert cli("doctor", "nowhere").code == 2
    (home / "empty").mkdir()
    assert cli("doctor", "empty").code == 2


def test_doctor_takes_only_a_model_server_for_one(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with FakeServer(lambda body, before: Answer()) as server:
        assert does_host_answer(server.url)
        assert not does_host_answer(server.url.removesuffix("/v1"))
    assert not does_host_answer(server.url)
    with socket.create_server(("127.0.0.1", 0)) as other:
        speaker = threading.Thread(target=_greet, args=(other,))
        speaker.start()
        assert not does_host_answer(f"http://127.0.0.1:{other.getsockname()[1]}/v1")
        speaker.join()


def _greet(listener):
    """Speak to the first who comes, and not as a web server does."""
    connection, _ = listener.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"220 mail ready\r\n")


def test_a_trace_that_asks_for_more_than_the_default_limits_is_told_what_it_gets(clubs, home, cli):
    call = {"id": "1", "name": "code_interpreter", "arguments": json.dumps({"code": "print('word ' * 4_000)"})}
    trajectory = {
        "question": {"text": "x"},
        "method": "graphscout",
        "tools": [CODE_SPEC.model_dump(mode="json")],
        "toolbox": {
            "name": "scouting",
            "options": {"mode": "lexical", "has_code": True, "code": {"output_characters": 50_000}},
        },
        "steps": [
            {
                "reply": {"message": {"role": "assistant", "tool_calls": [call]}},
                "observations": [{"call_id": "1", "text": "", "nodes": []}],
            }
        ],
    }
    (home / "t.jsonl").write_text(json.dumps(trajectory) + "\n")
    lowered = cli("trace", "replay", "t.jsonl", clubs)
    assert (
        "output_characters is 50,000 in the trace: replayed with 8,000 (--trust-limits uses the trace's)" in lowered.err
    )
    assert "characters left out" in lowered.out
    trusted = cli("trace", "replay", "t.jsonl", clubs, "--trust-limits")
    assert "in the trace" not in trusted.err
    assert "characters left out" not in trusted.out


def test_what_a_model_writes_into_a_call_is_not_shown_without_end(clubs, cli):
    def policy(body, before):
        long = [("search_in_graph", {"query": "chess", "x" * 3_000_000: 1})]
        return Answer(
            calls=[("finish", {})] if any(message["role"] == "tool" for message in body["messages"]) else long
        )

    with FakeServer(policy) as server:
        ran = cli("ask", clubs, "chess", "--method", "ark", "--model", "m", "--base-url", server.url)
    assert len(ran.err) < 50_000
    assert "3,000,0" in ran.err
