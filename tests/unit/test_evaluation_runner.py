"""Running: every question under every method, failures counted, nothing done twice or paid twice."""

import json
import threading
from collections import Counter

import pytest

from clinic import EDGES, NODES
from orienteer.errors import BadInput, BadOption, ModelError
from orienteer.lab.evaluation import (
    FAILURES_IN_A_ROW,
    NO_ANSWERS,
    RUN_REPLIES,
    Example,
    Gold,
    QuestionSet,
    ReplyFolder,
    RunConfig,
    evaluate,
    lines_by_method,
    read_run,
)
from orienteer.llm import Budget, ReplyFile, ScriptedModel
from orienteer.records import Message, Question, Reply, Usage
from orienteer.settings import Settings

pytestmark = pytest.mark.process

COUNT = 12


def questions(count=COUNT, sha256="s"):
    return QuestionSet(
        "jsonl",
        tuple(
            Example(
                question=Question(id=f"q{number}", text=f"Which compounds treat Headache, for the {number}th time?"),
                gold=Gold(nodes={"c1": 1.0}, answers=("secret",)),
                fields={"half": number % 2},
            )
            for number in range(count)
        ),
        sha256,
        notes=("one was left out",),
    )


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


@pytest.fixture
def run(graph, tmp_path):
    """Give a function that runs methods over the questions, and returns the progress and what is on disk."""

    def made(*methods, asked=None, **options):
        names = RunConfig.model_fields
        config = RunConfig(**{name: options.pop(name) for name in list(options) if name in names})
        done = evaluate(
            graph, asked or questions(), methods, tmp_path / "run", config=config, settings=Settings(), **options
        )
        return done, read_run(tmp_path / "run")

    return made


def test_the_settings_of_a_method_that_finds_seeds_hold_in_a_run(graph, tmp_path):
    """Retriever and run settle a method over another in the same way."""
    settings = Settings(methods={"anchor": {"most_nodes_a_phrase": 7}})
    evaluate(graph, questions(1), ["anchor", "sage:anchor policy=none"], tmp_path / "run", settings=settings)
    stored = read_run(tmp_path / "run")
    assert stored.manifest.methods["anchor"]["most_nodes_a_phrase"] == 7
    assert stored.manifest.methods["sage:anchor policy=none"]["anchor.most_nodes_a_phrase"] == 7
    alone, over = ([hit.id for hit in line.hits] for (line,) in lines_by_method(stored.lines).values())
    assert alone == over != []


class Counting:
    """A scripted model that counts the requests it answers, and can be told which questions it dies of."""

    name, price = "scripted", None

    def __init__(self, *, fails=lambda text, turns: False):
        self.answered = Counter()
        self._fails = fails
        self._lock = threading.Lock()
        usage = Usage(calls=1, prompt_tokens=10, completion_tokens=5, usd=0.25)
        self._model = ScriptedModel(self._policy, usage=usage)

    @staticmethod
    def _policy(messages, tools, sampling):
        if not tools:
            return "Aspirin does [c1]."
        turns = sum(message.role == "assistant" for message in messages)
        if turns < 2:
            return [("search_in_graph", {"query": f"pain {turns}"})]
        return [("add_to_answer", {"nodes": ["c1"], "reasoning": "it relieves pain"}), ("finish", {})]

    def chat(self, messages, *, tools=(), schema=None, sampling=None, seconds=None):
        text = "\n".join(message.content or "" for message in messages)
        assert "secret" not in text, "a method saw gold"
        if self._fails(text, sum(message.role == "assistant" for message in messages)):
            raise ModelError("the server died")
        reply = self._model.chat(messages, tools=tools, schema=schema, sampling=sampling)
        with self._lock:
            self.answered[text, str(sampling)] += 1
        return reply.model_copy(update={"model": "scripted-2026"})


class Killed(BaseException):
    """What ends a process, as far as one can be ended within a test."""


class Mortal(Counting):
    """A model that ends the whole run after some replies."""

    def __init__(self, replies):
        super().__init__()
        self._replies = replies

    def chat(self, messages, **options):
        if sum(self.answered.values()) >= self._replies:
            raise Killed
        return super().chat(messages, **options)


# ---------------------------------------------------------------------------------------------------- what is written


def test_every_question_has_a_line_under_every_method(run):
    reports = []
    done, stored = run("bm25", "anchor", progress=reports.append)
    assert (done.done, done.total, done.failed, done.asked) == (2 * COUNT, 2 * COUNT, 0, 2 * COUNT)
    lines = lines_by_method(stored.lines)
    assert {method: len(those) for method, those in lines.items()} == {"bm25": COUNT, "anchor": COUNT}
    assert [line.id for line in lines["anchor"]] == [f"q{number}" for number in range(COUNT)]
    assert all(line.ranking and line.gold.nodes == {"c1": 1.0} and line.seconds > 0 for line in stored.lines)
    assert [report.done for report in reports] == list(range(2 * COUNT + 1))
    assert len(list(stored.trajectories())) == 2 * COUNT
    assert not (stored.path / RUN_REPLIES).exists()


def test_the_manifest_says_what_the_figures_depend_on(run):
    model = Counting()
    _, stored = run("ark agents=1", "bm25", model=model, k=5, random_seed=3, budget=Budget(calls=9))
    manifest = stored.manifest
    assert (manifest.count, manifest.dataset, manifest.questions_sha256) == (COUNT, "jsonl", "s")
    assert (manifest.k, manifest.random_seed, manifest.budget["calls"]) == (5, 3, 9)
    assert manifest.methods["ark agents=1"]["agents"] == 1
    assert manifest.methods["ark agents=1"]["max_steps"] == 20
    assert manifest.methods["bm25"] == {}
    assert (manifest.model, manifest.served_model) == ("scripted", "scripted-2026")
    assert "ark.md" in manifest.prompts
    assert manifest.notes == ("one was left out",)
    assert len(stored.examples) == COUNT
    assert all(len(line.hits) <= 5 for line in stored.lines)


def test_gold_that_the_graph_does_not_hold_is_told_of_the_questions_that_are_asked(graph, tmp_path):
    examples = [
        Example(question=Question(id=f"q{at}", text="What?"), gold=Gold(nodes={node: 1.0}), fields={"hops": at})
        for at, node in enumerate(["c1", "elsewhere", "beyond"])
    ]
    questions = QuestionSet("jsonl", tuple(examples), "s", remarks=lambda chosen: (f"of {len(chosen)}",))
    evaluate(graph, questions, ["bm25"], tmp_path / "all")
    assert read_run(tmp_path / "all").manifest.notes == (
        "of 3",
        "2 of 3 questions have gold nodes that the graph does not hold, 'elsewhere' of 'q1' first: no method can find "
        "them, and they count",
    )
    evaluate(graph, questions, ["bm25"], tmp_path / "some", config=RunConfig(where=("hops<1",)))
    assert read_run(tmp_path / "some").manifest.notes == ("of 1",)


def test_a_model_without_a_method_that_needs_it_is_no_condition(run):
    run("bm25", model=Counting())
    assert run("bm25")[1].manifest.model is None


def test_rankings_leave_out_the_answer_and_answers_do_not(run):
    model = Counting()
    _, stored = run("ark agents=1", model=model)
    assert {line.answer for line in stored.lines} == {None}
    assert sum(model.answered.values()) == 3 * COUNT


@pytest.mark.parametrize("workers", [1, 4])
def test_answers_are_asked_for_under_methods_without_a_model_too(run, workers):
    model = Counting()
    _, stored = run("bm25", "ark agents=1", model=model, answers=True, workers=workers)
    assert {line.answer for line in stored.lines} == {"Aspirin does [c1]."}
    usage = {method: sum(line.usage.calls for line in lines) for method, lines in lines_by_method(stored.lines).items()}
    assert usage == {"bm25": COUNT, "ark agents=1": 4 * COUNT}


@pytest.mark.parametrize("answers", [False, True])
def test_a_method_that_may_do_without_a_model_asks_the_one_there_is(run, answers):
    """Each question has its own reply, and its own record of it, many at once."""
    asked = QuestionSet(
        "jsonl",
        tuple(
            Example(question=Question(id=f"q{n}", text=f"Zurp {chr(97 + n) * 5} {name}?"), gold=Gold(nodes={"c1": 1.0}))
            for n, name in enumerate(("Headache", "Aspirin") * 6)
        ),
        "r",
    )
    lines = {"Headache": 'Compound that -treats-> "Headache"', "Aspirin": 'Disease that <-treats- "Aspirin"'}

    def policy(messages, tools, sampling):
        question = messages[1].content.rpartition("Question: ")[2]
        name = next(name for name in lines if name in question)
        return json.dumps({"line": lines[name], "unread": []})

    _, stored = run("reader check=always", asked=asked, model=ScriptedModel(policy), answers=answers, workers=4)
    texts = {example.question.id: example.question.text for example in asked.examples}
    calls = {
        question: [one for one in trajectories if one.method == "model"]
        for question, _, trajectories in stored.trajectories()
    }
    assert sorted(calls) == sorted(texts)
    for question, (call,) in calls.items():
        name = next(name for name in lines if name in texts[question])
        assert call.question.text == texts[question]
        assert json.loads(call.steps[-1].reply.message.content)["line"] == lines[name]


def test_answers_that_nobody_can_give_are_told(run):
    _, stored = run("bm25", answers=True)
    assert [line.answer for line in stored.lines] == [None] * COUNT
    assert stored.manifest.notes[-1] == NO_ANSWERS


def test_equal_runs_side_by_side_and_one_by_one(run, graph, tmp_path):
    _, stored = run("ark", model=Counting(), workers=8)
    evaluate(graph, questions(), ["ark"], tmp_path / "other", model=Counting(), config=RunConfig(workers=1))
    other = read_run(tmp_path / "other")
    assert plain(stored.lines) == plain(other.lines)


def plain(lines):
    """Return lines in the order of their ids, without their times."""
    records = [line.model_dump(exclude={"seconds": True, "usage": {"seconds"}}) for line in lines]
    return sorted(records, key=lambda line: (line["method"], line["id"]))


# ------------------------------------------------------------------------------------------------------------ resume


def test_what_is_done_is_not_done_again(run):
    _, first = run("bm25")
    done, second = run("bm25", "anchor")
    assert (done.done, done.asked) == (2 * COUNT, COUNT)
    assert second.lines[:COUNT] == first.lines
    assert second.manifest.methods.keys() == {"bm25", "anchor"}


def test_a_raised_limit_asks_the_others(run):
    _, few = run("bm25", limit=5)
    assert len(few.lines) == len(few.examples) == few.manifest.count == 5
    _, more = run("bm25", limit=8)
    assert more.lines[:5] == few.lines
    assert (len(more.lines), len(more.examples), more.manifest.limit) == (8, 8, 8)
    assert len(run("bm25")[1].lines) == COUNT
    with pytest.raises(BadInput, match="the number of questions was 12 and is 5"):
        run("bm25", limit=5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 5}, "k was 20 and is 5. Use"),
        ({"random_seed": 1}, "random_seed"),
        ({"where": ("half=1",)}, "where"),
        ({"asked": questions(sha256="other")}, "the questions changed"),
        ({"options": {"most_hops": "1"}}, "'anchor': most_hops was 3 and is 1"),
    ],
)
def test_other_conditions_are_refused_and_nothing_is_changed(run, tmp_path, change, message):
    run("anchor")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    with pytest.raises(BadInput, match=message):
        run("anchor", **change)
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_a_reply_that_came_is_not_paid_twice(run):
    answered = Counter()
    for replies in (1, 17, 30):
        model = Mortal(replies)
        with pytest.raises(Killed):
            run("ark", model=model, workers=1)
        answered += model.answered
    last = Counting()
    done, stored = run("ark", model=last)
    assert done.done == COUNT
    answered += last.answered
    assert sum(answered.values()) == 3 * 3 * COUNT
    assert set(answered.values()) == {1}
    assert sum(line.usage.calls for line in stored.lines) == 3 * 3 * COUNT
    assert done.usage.usd == 0.25 * 3 * 3 * COUNT
    reused = [int(note.split()[3]) for note in stored.manifest.notes if note.startswith("gone on with")]
    assert len(reused) >= 2
    assert all(reused)
    assert not (stored.path / RUN_REPLIES).exists()


def test_equal_requests_of_one_question_get_the_replies_in_their_order(tmp_path, graph):
    """The n-th of equal requests finds the n-th reply, and the first one that was not kept is asked."""
    from threading import Event

    from orienteer.lab.evaluation import ResumableModel

    class Numbering:
        name, price, count = "numbering", None, 0

        def chat(self, messages, *, tools=(), schema=None, sampling=None, seconds=None):
            self.count += 1
            return Reply(message=Message(role="assistant", content=str(self.count)), usage=Usage(calls=1))

    replies = ReplyFolder(tmp_path)
    replies.prepare()
    asked = [Message(role="user", content="?")]
    numbering = Numbering()
    for expected in (["1", "2"], ["1", "2", "3"]):
        model = ResumableModel(numbering, stopping=Event())
        model.begin(ReplyFile(replies.file(("q/../1", "ark"))))
        assert [model.chat(asked).message.content for _ in expected] == expected
        assert model.spent.calls == len(expected)
    model.begin(ReplyFile(replies.file(("q2", "ark"))))
    assert model.chat(asked).message.content == "4"
    assert model.chat([Message(role="user", content="!")]).message.content == "5"


# ---------------------------------------------------------------------------------------------------------- failures


def test_a_question_that_fails_has_a_line_with_its_error(run):
    done, stored = run("ark agents=1", model=Counting(fails=lambda text, turns: "the 3th" in text))
    failed = [line for line in stored.lines if line.error]
    assert (done.failed, [line.id for line in failed], failed[0].error) == (1, ["q3"], "the server died")
    assert (failed[0].stopped_by, failed[0].hits) == ("error", ())
    assert len(stored.lines) == COUNT


def test_failed_questions_are_asked_again_on_request_and_keep_what_was_paid(run):
    first = Counting(fails=lambda text, turns: "the 3th" in text and turns == 2)
    run("ark agents=1", model=first)
    second = Counting()
    done, stored = run("ark agents=1", model=second)
    assert (done.asked, done.failed, sum(second.answered.values())) == (0, 1, 0)
    done, stored = run("ark agents=1", model=second, retry_failed=True)
    assert (done.asked, done.failed) == (1, 0)
    both = first.answered + second.answered
    assert set(both.values()) == {1}
    assert sum(both.values()) == 3 * COUNT
    assert not [line for line in stored.lines if line.error]
    assert len(list(stored.trajectories())) == COUNT


def test_a_budget_with_nothing_found_is_a_failure(run):
    # The paper's own form: ours would give what it saw last.
    _, stored = run("ark agents=1 faithful=true", model=Counting(), budget=Budget(calls=1))
    assert {line.error for line in stored.lines} == {
        "nothing was found before the budget of calls ended: raise --budget-calls"
    }
    assert {line.stopped_by for line in stored.lines} == {"calls"}


def test_a_dead_model_ends_the_run_before_all_is_lost(run, tmp_path):
    many = questions(FAILURES_IN_A_ROW * 3)
    with pytest.raises(
        ModelError, match="20 questions in a row failed, the last with: the server died.*--retry-failed"
    ):
        run("ark agents=1", model=Counting(fails=lambda text, turns: True), asked=many, workers=1)
    assert len(read_run(tmp_path / "run").lines) == FAILURES_IN_A_ROW
    done, stored = run("ark agents=1", model=Counting(), asked=many, retry_failed=True)
    assert (done.done, done.failed, len(stored.lines)) == (FAILURES_IN_A_ROW * 3, 0, FAILURES_IN_A_ROW * 3)


def test_a_wrong_request_leaves_no_folder(run, tmp_path):
    for methods, options, message in [
        (["bm26"], {}, "bm25"),
        (["ark"], {}, "needs a model"),
        (["bm25"], {"where": ("nothing=1",)}, "half"),
        (["bm25"], {"workers": 0}, "1 or more"),
        (["bm25"], {"options": {"agents": "1"}}, "agents"),
        (["ark"], {"model": Counting(), "budget": Budget(usd=1.0)}, "price"),
        (["bm25", "react"], {"model": Counting(), "k": 200}, "'react': k is 200: it must be 1 to 100"),
        (["sage:anchor", "bm25"], {"k": 200}, "'sage:anchor': k is 200"),
        (["sage:anchor k=101"], {}, "'sage:anchor k=101': k is 101"),
    ]:
        with pytest.raises(BadOption, match=message):
            run(*methods, **options)
    assert not (tmp_path / "run").exists()


def test_a_ranking_may_be_longer_than_what_tools_show_where_the_method_allows_it(run):
    model = Counting()
    done, found = run("bm25", "ark agents=1", model=model, k=200)
    assert (done.done, done.failed, found.manifest.k) == (2 * COUNT, 0, 200)
    assert set(model.answered.values()) == {1}, "no call is made to try the method"


def test_a_folder_of_something_else_is_left_alone(run, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("x")
    with pytest.raises(BadInput, match=r"thesis\.tex"):
        run("bm25")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.tex"]


def test_what_befalls_every_question_ends_the_run(run, monkeypatch):
    from orienteer.methods import Bm25

    def broken(self, question, run):
        raise ZeroDivisionError

    monkeypatch.setattr(Bm25, "retrieve", broken)
    for workers in (1, 3):
        with pytest.raises(ZeroDivisionError):
            run("bm25", workers=workers)
