"""eval run, sweep, show, compare, judge: with and without a model on loopback, killed, interrupted, gone on with."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

from fakes import Answer, FakeServer

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes as POSIX has them")
WORKERS, COUNT, CALLS = 8, 60, 2


def policy(body, before):
    """Look around, choose Ann, finish; without tools answer in words, to a schema as it asks."""
    if "tools" not in body:
        if "response_format" in body:
            names = body["response_format"]["json_schema"]["schema"]["properties"]
            return Answer(content=json.dumps({name: {"reason": "so", "mark": 7} for name in names}))
        return Answer(content="Ann leads it [ann].")
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    if turns == 0:
        return Answer(calls=[("search_in_graph", {"query": "choir"})])
    return Answer(calls=[("add_to_answer", {"nodes": ["ann"], "reasoning": "leads the choir"}), ("finish", {})])


@pytest.fixture
def questions(home):
    """Give a function that writes a file of questions."""

    def write(count=4):
        rows = [
            {
                "id": f"q{number}",
                "question": f"Who leads the Choir in week {number}?",
                "nodes": ["ann"],
                "answers": ["Ann"],
                "hops": 1 + number % 2,
            }
            for number in range(count)
        ]
        file = home / "questions.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return file

    return write


def lines_of(run, name="results.jsonl"):
    return [json.loads(line) for line in (run / name).read_text().splitlines()]


def without_times(value):
    """Return JSON without what a clock has written."""
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items() if name != "seconds"}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def in_order(run, name="results.jsonl"):
    return sorted(map(without_times, lines_of(run, name)), key=lambda line: (line["method"], line["id"]))


# ------------------------------------------------------------------------------------------------- without a model


def test_methods_stand_side_by_side(tables, questions, home, cli):
    ran = cli("eval", "run", tables, questions(), "--method", "bm25", "--method", "anchor", "-o", "run")
    assert ran.code == 0, ran.err
    header, *rows = ran.out.splitlines()
    assert [row.split()[:4] for row in rows] == [["bm25", "4", "0", "0"], ["anchor", "4", "0", "0"]]
    assert all(name in header for name in ("Hit@1", "Hit@5", "Recall@20", "MRR", "ms p50", "ms p95"))
    assert "8 of 8 results in run: 0 failed" in ran.err
    line = lines_of(home / "run")[0]
    assert {"id", "method", "question", "hits", "answer", "gold", "usage", "seconds", "error"} <= line.keys()
    shown = cli("eval", "show", "run", "--json")
    assert (
        shown.json == cli("eval", "run", tables, questions(), "-m", "anchor", "-m", "bm25", "-o", "run", "--json").json
    )
    assert {"method", "n", "failed", "measures", "milliseconds", "usage"} <= shown.json[0].keys()
    assert shown.json[1]["measures"]["Hit@1"]["mean"] == 1
    assert shown.json[0]["milliseconds"].keys() == {"p50", "p95"}


def test_rows_split_by_a_field_and_name_other_measures(clubs, questions, cli):
    assert cli("eval", "run", clubs, questions(), "-m", "bm25", "-o", "run", "-q").code == 0
    shown = cli("eval", "show", "run", "--by", "hops", "--measure", "nDCG@3", "--json").json
    assert [(row["by"], row["n"], list(row["measures"])) for row in shown] == [
        ({"hops": "1"}, 2, ["nDCG@3"]),
        ({"hops": "2"}, 2, ["nDCG@3"]),
    ]
    assert cli("eval", "show", "run", "--measure", "Hits@1").code == 2
    assert cli("eval", "show", "run", "--by", "nothing").code == 2


def test_two_runs_are_shown_and_compared(clubs, questions, cli):
    for method in ("bm25", "anchor"):
        assert cli("eval", "run", clubs, questions(), "-m", method, "-o", f"run-{method}", "-q").code == 0
    shown = cli("eval", "show", "run-bm25", "run-anchor")
    assert [line.split()[:2] for line in shown.out.splitlines()] == [
        ["run", "method"],
        ["run-bm25", "bm25"],
        ["run-anchor", "anchor"],
    ]
    compared = cli("eval", "compare", "run-bm25", "run-anchor", "--measure", "Hit@1", "--json").json
    assert compared["measure"] == "Hit@1"
    ran = cli("eval", "compare", "run-bm25", "run-anchor", "--measure", "Hit@1")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == compared["verdict"]


def test_the_leading_measure_is_said_and_another_can_be_chosen(clubs, questions, home, cli):
    several = questions()
    rows = [{**json.loads(line), "nodes": ["ann", "choir"]} for line in several.read_text().splitlines()]
    several.write_text("".join(json.dumps(row) + "\n" for row in rows))
    why = "By Recall@5, for all 4 questions have several gold nodes."
    ran = cli("eval", "run", clubs, several, "-m", "bm25", "-m", "anchor", "-o", "run")
    assert ran.err.splitlines()[-1] == why
    assert ran.out.splitlines()[0].split()[4:6] == ["Recall@5", "AllGold@5"]
    assert cli("eval", "show", "run", "--json").json[0]["why"] == why
    compared = cli("eval", "compare", "run")
    assert compared.out.splitlines()[1] == why
    assert compared.out.splitlines()[3].split()[:4] == ["method", "kind", "Recall@5", "AllGold@5"]
    chosen = cli("eval", "compare", "run", "--by-measure", "MRR", "--json").json
    assert (chosen["measure"], chosen["why"]) == (
        "MRR",
        "By MRR, as chosen; without a choice by Recall@5, for all 4 questions have several gold nodes.",
    )
    assert cli("eval", "show", "run", "--by-measure", "MRR").out.splitlines()[0].split()[4:6] == ["MRR", "Recall@5"]
    assert cli("eval", "report", "run", "--by-measure", "MRR", "-o", "report.html").code == 0
    assert chosen["why"] in (home / "report.html").read_text(encoding="utf-8")


def test_runs_that_lead_with_different_measures_say_so_one_by_one(clubs, questions, home, cli):
    assert cli("eval", "run", clubs, questions(), "-m", "bm25", "-o", "one", "-q").code == 0
    several = home / "several.jsonl"
    several.write_text(json.dumps({"id": "1", "question": "Who leads?", "nodes": ["ann", "choir"]}) + "\n")
    assert cli("eval", "run", clubs, several, "-m", "bm25", "-o", "two", "-q").code == 0
    assert cli("eval", "show", "one", "two").err.splitlines() == [
        "one: By Hit@1, for all 4 questions have one gold node.",
        "two: By Recall@5, for the one question has several gold nodes.",
    ]


@pytest.mark.parametrize("command", [["show", "run"], ["compare", "run"], ["report", "run", "-o", "report.html"]])
def test_a_wrong_measure_is_one_error_that_lists_measures(clubs, questions, home, cli, command):
    assert cli("eval", "run", clubs, questions(), "-m", "bm25", "-o", "run", "-q").code == 0
    ran = cli("eval", *command, "--by-measure", "recal@5")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("error: There is no measure 'recal@5'. Near: Recall@5. There are: Hit@1, ")
    assert "AllGold@5" in ran.err
    assert not (home / "report.html").exists()


def test_a_sweep_is_a_run_of_variants(clubs, questions, home, cli):
    arguments = ("eval", "sweep", clubs, questions(), "-m", "anchor", "--set", "most_hops=1,2", "-o", "run")
    ran = cli(*arguments, "--set", "spelling=true,false", "--json")
    assert [row["method"] for row in ran.json] == [
        f"anchor most_hops={hops} spelling={spelling}" for hops in (1, 2) for spelling in ("true", "false")
    ]
    assert (
        json.loads((home / "run" / "manifest.json").read_text())["methods"][ran.json[1]["method"]]["spelling"] is False
    )
    assert cli("eval", "sweep", clubs, questions(), "-m", "anchor", "--set", "most_hops=", "-o", "other").code == 2


def test_a_limit_is_raised_and_conditions_are_kept(clubs, questions, home, cli):
    arguments = ("eval", "run", clubs, questions(10), "-m", "bm25", "-o", "run")
    assert cli(*arguments, "--limit", "3").code == 0
    assert cli(*arguments, "--limit", "6").err.splitlines()[0] == "continuing: 3 of 6 results exist already"
    assert len(lines_of(home / "run")) == 6
    refused = cli(*arguments, "--limit", "6", "-k", "5")
    assert refused.code == 2
    assert "other settings: k was 20 and is 5." in refused.err
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["-m", "bm26"], "bm25"),
        (["-m", "auto"], "name the method that you mean"),
        (["-m", "ark"], "needs a model"),
        (["-m", "vanilla", "--model", "m"], "vanilla ranks nothing, it only answers: add --answers"),
        (["-m", "bm25", "--where", "hop=1"], "Near: hops"),
        (["-m", "bm25", "--dataset", "starks"], "No data set"),
        (["-m", "bm25", "--set", "agents=1"], "agents"),
        (["-m", "bm25", "--workers", "0"], "workers"),
    ],
)
def test_a_wrong_request_is_told_in_a_line_and_leaves_nothing(clubs, questions, home, cli, changed, message):
    ran = cli("eval", "run", clubs, questions(), *changed, "-o", "run")
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert not (home / "run").exists()


def test_files_that_are_none_are_told(clubs, questions, home, cli):
    (home / "wrong.jsonl").write_text("who?\n")
    for file in ("wrong.jsonl", "absent.jsonl"):
        ran = cli("eval", "run", clubs, file, "-m", "bm25", "-o", "run")
        assert (ran.code, ran.out) == (2, "")
        assert file in ran.err
    for command in ("show", "compare"):
        assert cli("eval", command, "absent").code == 2
    assert "is not a run" in cli("eval", "show", clubs).err


# --------------------------------------------------------------------------------------------------- with a model


def test_a_model_is_asked_answers_and_judges(clubs, questions, home, cli):
    model = ["--model", "fake"]
    with FakeServer(policy) as server:
        ran = cli(
            *("eval", "run", clubs, questions(), "-m", "ark agents=1", "-m", "bm25", "--answers", "-o", "run"),
            *("--base-url", server.url, "--json", *model),
        )
        assert ran.code == 0, ran.err
        assert len(server.requests) == 4 * (CALLS + 1) + 4
        judged = cli("eval", "judge", "run", "--base-url", server.url, "--score", "A-Score", "--json", *model)
        assert judged.code == 0, judged.err
        before = len(server.requests)
        again = cli("eval", "judge", "run", "--base-url", server.url, "--score", "A-Score", *model)
        assert len(server.requests) == before
        assert "0 new verdicts" in again.err
        wanting = cli("eval", "judge", "run", "--base-url", server.url, "--score", "E-Score", *model)
        assert (wanting.code, "--graph" in wanting.err) == (2, True)
    assert json.loads((home / "run" / "manifest.json").read_text())["served_model"] == "fake"
    assert [(row["method"], row["usage"]["calls"]) for row in ran.json] == [
        ("bm25", 4),
        ("ark agents=1", 4 * (CALLS + 1)),
    ]
    assert [row["measures"]["A-Score"]["mean"] for row in judged.json] == [7, 7]
    assert cli("eval", "judge", "run").code == 2


def test_failed_questions_count_and_are_listed(clubs, questions, cli):
    def failing(body, before):
        dead = any("week 2" in (message["content"] or "") for message in body["messages"])
        return Answer(status=400, message="no such thing") if dead else policy(body, before)

    arguments = ("eval", "run", clubs, questions(), "-m", "ark agents=1", "-o", "run", "--model", "fake")
    with FakeServer(failing) as server:
        ran = cli(*arguments, "--base-url", server.url)
        assert ran.code == 0
        assert ran.out.splitlines()[1].split()[:5] == ["ark", "agents=1", "4", "1", "0"]
        assert ".750" in ran.out
        assert "run: failed under ark agents=1: 'q2'; the first with: " in ran.err
        assert "run: failed under ark agents=1: 'q2'" in cli("eval", "show", "run").err
    with FakeServer(policy) as server:
        assert "3 of 4" not in cli(*arguments, "--base-url", server.url).err
        assert not server.requests
        ran = cli(*arguments, "--base-url", server.url, "--retry-failed", "--json")
        assert (ran.json[0]["failed"], len(server.requests)) == (0, CALLS)


def test_a_model_that_is_dead_from_the_start_is_exit_code_1(clubs, questions, cli):
    with FakeServer(lambda body, before: Answer(status=401)) as server:
        ran = cli(
            *("eval", "run", clubs, questions(), "-m", "ark agents=1", "-o", "run"),
            *("--model", "fake", "--base-url", server.url),
        )
    assert ran.code == 1
    assert "API key" in ran.err


# ------------------------------------------------------------------------------------------ in processes of their own


class Gate:
    """Lets a number of replies through, then keeps every request waiting until it is told to drop them all."""

    def __init__(self):
        self.answered = Counter()
        self.waiting = threading.Semaphore(0)
        self._dropping = threading.Event()
        self._lock = threading.Lock()
        self._left = 0

    def allow(self, replies):
        self._dropping.clear()
        self._left = replies

    def drop(self):
        self._dropping.set()

    def __call__(self, body, before):
        with self._lock:
            is_through = self._left > 0
            self._left -= is_through
            self.answered[json.dumps(body, sort_keys=True)] += is_through
        if is_through:
            return policy(body, before)
        self.waiting.release()
        self._dropping.wait(30)
        return Answer(dropped="before")


@posix
def test_a_run_that_is_killed_twice_ends_as_one_that_is_not(clubs, questions, home, process, cli):
    gate = Gate()
    arguments = ("eval", "run", clubs, questions(COUNT), "-m", "bm25", "-m", "ark agents=1", "-w", WORKERS)
    with FakeServer(gate) as server:
        arguments += ("--model", "fake", "--base-url", server.url)
        for replies in (30, 40):
            gate.allow(replies)
            ran = process(*arguments, "-o", "broken")
            # A worker asks on only when its last reply is on disk: all of them wait, so all that was answered is kept.
            assert all(gate.waiting.acquire(timeout=60) for _ in range(WORKERS))
            ran.send_signal(signal.SIGKILL)
            ran.communicate(timeout=90)
            gate.drop()
        with (home / "broken" / "results.jsonl").open("ab") as torn:
            torn.write(b'{"id": "q1", "meth')
        gate.allow(10**6)
        ran = process(*arguments, "-o", "broken")
        _, err = ran.communicate(timeout=60)
        assert ran.returncode == 0, err
        broken, gate.answered = gate.answered, Counter()
        unbroken = cli(*arguments, "-o", "unbroken", "--json")
        assert unbroken.code == 0, unbroken.err
    assert broken == gate.answered, "a reply was paid twice, or never"
    assert sum(broken.values()) == COUNT * CALLS
    for name in ("results.jsonl", "trajectories.jsonl"):
        assert in_order(home / "broken", name) == in_order(home / "unbroken", name)
    assert sorted(path.name for path in (home / "broken").iterdir()) == sorted(
        path.name for path in (home / "unbroken").iterdir()
    )
    manifests = [json.loads((home / name / "manifest.json").read_text()) for name in ("broken", "unbroken")]
    notes = manifests[0].pop("notes")
    # A kill that finds every worker before its first reply to a question leaves no reply to go on with.
    assert len([note for note in notes if note.startswith("gone on with") and "replies" in note]) in (1, 2)
    for manifest in manifests:
        manifest.pop("created")
        manifest.pop("notes", None)
    assert manifests[0] == manifests[1]
    assert unbroken.json[1]["usage"]["calls"] == COUNT * CALLS


@posix
def test_an_interruption_keeps_what_is_done_and_says_how_to_go_on(clubs, questions, home, process):
    gate = Gate()
    gate.allow(2 * CALLS)
    with FakeServer(gate) as server:
        ran = process(
            *("eval", "run", clubs, questions(), "-m", "ark agents=1", "-w", "1", "-o", "run"),
            *("--model", "fake", "--base-url", server.url),
        )
        assert gate.waiting.acquire(timeout=60)
        # The third question waits for a reply; another thread writes the result of the second, perhaps only now.
        results, until = home / "run" / "results.jsonl", time.monotonic() + 60
        while (not results.exists() or results.read_bytes().count(b"\n") < 2) and time.monotonic() < until:
            time.sleep(0.01)
        ran.send_signal(signal.SIGINT)
        out, err = ran.communicate(timeout=90)
        gate.drop()
    assert (ran.returncode, out) == (130, "")
    assert err.splitlines()[-2:] == [
        "finished results stay in run: run the same command again to continue",
        "interrupted",
    ]
    assert "Traceback" not in err
    assert len(lines_of(home / "run")) == 2


@posix
def test_a_second_process_is_refused_while_the_first_one_writes(clubs, questions, home, process, cli):
    gate = Gate()
    with FakeServer(gate) as server:
        arguments = ("eval", "run", clubs, questions(), "-m", "ark agents=1", "-o", "run")
        arguments += ("--model", "fake", "--base-url", server.url)
        ran = process(*arguments)
        assert gate.waiting.acquire(timeout=60)
        second = cli(*arguments)
        ran.kill()
        ran.communicate(timeout=90)
        gate.drop()
    assert second.code == 1
    assert "another process is writing the run" in second.err


@posix
def test_a_reader_that_stops_early_ends_it_silently(clubs, questions, cli, process):
    values = ",".join(map(str, range(1, 40)))
    arguments = ("-m", "anchor", "--set", f"most_nodes_a_phrase={values}", "--limit", "1", "-o", "run", "-q")
    assert cli("eval", "sweep", clubs, questions(1), *arguments).code == 0
    first = process("eval", "show", "run", "--json", "-q")
    head = subprocess.run(["head", "-1"], stdin=first.stdout, capture_output=True, text=True, check=True)
    first.stdout.close()
    err = first.stderr.read()
    first.stderr.close()
    assert first.wait(30) in (0, 141)
    assert (head.stdout, err) == ("[\n", "")
