"""GraphSearch where things go wrong, in both forms: nothing found, malformed replies, dead servers, spent budgets."""

from functools import partial

import pytest

from fakes.deep_search import (
    ACCEPT,
    ACCEPTED,
    ANSWERS,
    EDGES,
    LEAN,
    MODULES,
    NODES,
    QUESTION,
    REJECT,
    SEMANTIC_ANSWER,
    Nothing,
    Script,
    Shelf,
    ask,
    faithful,
    lean,
    planned,
    study,
    sure,
)
from fakes.refusals import answer_of
from orienteer.agents import NOT_THERE
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.llm import Allowance, Budget, OpenAIConfig, OpenAIModel, ScriptedModel
from orienteer.methods import GraphSearch, GraphSearchConfig
from orienteer.records import Question
from orienteer.retrieval import Evidence

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


ask_faithful = partial(ask, faithful=True)

# ------------------------------------------------------------------------------------------------- the paper's form


def test_not_in_the_evidence_is_a_sub_answer_and_an_answer(graph):
    script = Script(
        faithful(
            **{"sub-answer": {"answer": None, "used": []}},
            answer={"answer": None, "explanation": "Nothing says how often.", "cited": []},
        )
    )
    result = ask_faithful(graph, script, channels="semantic")
    assert script.shown("draft").count(f"Answer: {NOT_THERE}") == 3
    assert answer_of(result) == NOT_THERE
    assert result.refusal.text.endswith("and none answers; the model says: Nothing says how often.")
    assert result.hits


def test_empty_evidence_is_asked_about_no_one_and_is_never_an_answer(graph):
    script = Script(
        faithful(**{"sub-answer": {"answer": "a guess", "used": []}}, answer=lambda user: pytest.fail("asked"))
    )
    shelf = Nothing(graph)
    result = ask_faithful(graph, script, base=shelf, verification=False)
    assert not set(script.calls) & {"sub-answer", "refine-semantic", "refine-relational", "answer"}
    assert (answer_of(result), result.hits) == (NOT_THERE, ())
    assert "S1: nothing was found: the shelf is empty" in result.notes
    assert shelf.queries[-1].text == QUESTION  # tried once more with the question itself


def test_missing_evidence_is_rejected_and_asked_for_in_other_words(graph):
    """The paper's flow for evidence that is not there: null, Reject, expansion."""

    class Late(Shelf):
        def gather(self, query, run):
            found = super().gather(query, run)
            return found if "Venice" in query.text else Evidence(reason="not yet")

    verdicts = iter([{"verdict": "Reject"}])
    free = ["Who made it?", "Where did he die?"]
    script = Script(
        faithful(
            **{"decompose-semantic": {"sub_queries": free}},
            verify=lambda user: next(verdicts, ACCEPTED),
            expand={"queries": ["Who died in Venice?"]},
            answer=SEMANTIC_ANSWER,
        )
    )
    result = ask_faithful(graph, script, base=Late(graph), channels="semantic")
    assert script.calls["refine-semantic"] == 1
    assert result.answer.startswith("22 [c")


MALFORMED = {
    "decompose-semantic": "semantic: no sub-queries in a form that can be read: the question is the only one",
    "ground-semantic": "semantic: sub-query 2 could not be grounded, and is asked as it is",
    "sub-answer": "S1: no answer in a form that can be read",
    "verify": "semantic: no verdict that can be read: the draft counts as rejected",
}


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("reply", ["no JSON {", '{"other": 1}', ""])
def test_malformed_json_is_repaired_once_and_else_a_recorded_degradation(graph, name, reply):
    script = Script(faithful(**{name: reply}))
    result = ask_faithful(graph, script, channels="semantic")
    assert MALFORMED[name] in result.notes
    assert script.calls[name] == 2 * len([one for one in result.trajectories if one.method.endswith(name)])
    assert (result.stopped_by, result.answer) == ("finish", "22 [c3]" if name != "decompose-semantic" else "22")


@pytest.mark.parametrize("name", MALFORMED)
def test_a_repaired_reply_is_as_good(graph, name):
    sound = faithful(answer=SEMANTIC_ANSWER)
    script = Script({**sound, name: "no JSON {"}, {name: sound[name]})
    result = ask_faithful(graph, script, channels="semantic")
    assert (result.notes, result.answer) == ((), "22 [c3]")


def test_an_expansion_that_cannot_be_read_ends_the_rounds(graph):
    script = Script(faithful(verify={"verdict": "Reject"}, expand="none"))
    result = ask_faithful(graph, script, channels="semantic")
    assert "semantic: no new sub-queries in a form that can be read" in result.notes
    assert script.calls["draft"] == 1


def test_an_answer_that_cannot_be_read_is_none(graph):
    result = ask_faithful(graph, Script(faithful(answer="It is 22.")), channels="semantic")
    assert (result.answer, result.long_answer) == (None, None)
    assert "no answer in a form that can be read" in result.notes
    assert result.hits


def dead_from(script, name, graph, **options):
    """Return what comes of a server that is gone from the first call of a prompt on."""

    def dying(messages, tools, sampling):
        said = script(messages)
        if name in script.calls:
            raise ModelError("the server is gone")
        return said

    model = ScriptedModel(dying)
    method = GraphSearch(graph, model, GraphSearchConfig(**options), Shelf(graph))
    return method.retrieve_and_answer(Question(text=QUESTION), Allowance(), model)


@pytest.mark.parametrize("name", [*MODULES, *ANSWERS])
def test_a_server_that_dies_at_any_place_is_an_error_and_no_answer(graph, name):
    name = name.removeprefix("graphsearch-")
    verdict = {"verdict": "Reject"} if name == "expand" else ACCEPTED
    script = Script(faithful(verify=verdict))
    result = dead_from(script, name, graph, faithful=True)
    assert name in script.calls
    assert (result.stopped_by, result.answer, result.long_answer, result.hits) == ("error", None, None, ())
    assert any("the server is gone" in note for note in result.notes)


def test_a_server_that_is_not_there_is_an_error(graph):
    model = OpenAIModel("m", OpenAIConfig(base_url="http://127.0.0.1:9/v1", retries=0))
    method = GraphSearch(graph, model, GraphSearchConfig(faithful=True), Shelf(graph))
    result = method.retrieve_and_answer(Question(text=QUESTION), Allowance(), model)
    assert (result.stopped_by, result.answer, result.hits) == ("error", None, ())


# ------------------------------------------------------------------------------------------------------------ budgets


@pytest.mark.parametrize("calls", range(1, 23))
def test_a_budget_that_ends_it_leaves_a_ranking_and_an_answer_out_of_the_reserve(graph, calls):
    script = Script(faithful(answer={"answer": "22", "explanation": "", "cited": []}))
    result = ask_faithful(graph, script, run=Allowance(Budget(calls=calls), reserve=1))
    assert script.calls.total() == calls
    assert script.calls["answer"] == 1
    assert (result.stopped_by, result.answer) == ("calls", "22")
    assert result.hits
    assert any("stopped by the budget" in note for note in result.notes)


def test_a_budget_without_a_reserve_leaves_a_ranking_and_no_answer(graph):
    result = ask_faithful(graph, Script(faithful()), run=Allowance(Budget(calls=3), reserve=0))
    assert (result.stopped_by, result.answer) == ("calls", None)
    assert result.hits


@pytest.mark.parametrize("budget", [Budget(seconds=1e-9), Budget(tokens=1), Budget(calls=1)])
@pytest.mark.parametrize("is_faithful", [False, True])
def test_what_no_one_has_read_is_ranked_and_not_answered_from(graph, is_faithful, budget):
    """Over HTTP a call takes tokens: the first one spends the budget, or there is none."""
    script = Script({**faithful(), **lean()})
    result = ask(graph, script, run=Allowance(budget, reserve=0), faithful=is_faithful)
    limit = next(name for name in ("seconds", "tokens", "calls") if getattr(budget, name) is not None)
    assert (result.stopped_by, result.answer, result.long_answer) == (limit, None, None)
    assert [hit.why.partition(":")[0] for hit in result.hits] == ["found for"] * len(result.hits)
    assert result.hits
    assert not {"answer", "lean-answer"} & script.calls.keys()
    assert any("stopped by the budget" in note for note in result.notes)


@pytest.mark.slow
@pytest.mark.parametrize("is_faithful", [False, True])
def test_tokens_end_it_at_any_place_with_a_ranking(graph, is_faithful):
    """The fake server's calls take 55 tokens each."""
    name = "answer" if is_faithful else "lean-answer"
    for calls in range(1, 9 if is_faithful else 7):
        script = Script({**faithful(), **lean(), name: {"answer": "22", "explanation": "", "cited": []}})
        result = ask(graph, script, run=Allowance(Budget(tokens=55 * calls + 1), reserve=1), faithful=is_faithful)
        assert (result.stopped_by, bool(result.hits)) == ("tokens", True)
        assert (result.answer == "22") == (script.calls[name] == 1)
        assert script.calls[name] == 0 or len(script.all_shown(name)[0]) > 100


# ------------------------------------------------------------------------------------------------ the lean form

LEAN_MALFORMED = {
    "lean-decompose": "no sub-queries in a form that can be read: the question is the only one",
    "lean-study": "1: not refined or answered in a form that can be read; the evidence stands",
    "lean-verify": "no verdict that can be read: the draft counts as rejected",
}


@pytest.mark.parametrize("name", LEAN_MALFORMED)
@pytest.mark.parametrize("reply", ["no JSON {", '{"other": 1}', ""])
def test_malformed_json_is_repaired_once_and_else_a_recorded_degradation_in_the_lean_form(graph, name, reply):
    script = Script({**lean(), name: reply})
    result = ask(graph, script)
    assert LEAN_MALFORMED[name] in result.notes
    assert script.calls[name] == 2 * len([one for one in result.trajectories if one.method.endswith(name)])
    assert result.stopped_by == "finish"
    assert result.answer.startswith("22")


def test_grounding_that_cannot_be_read_is_said(graph):
    script = Script(lean(lean_study=lambda user: {**study(user), "answer": None}, lean_ground="none"))
    result = ask(graph, script, channels="semantic")
    assert "sub-query 2 could not be grounded, and is asked as it is" in result.notes


def test_empty_evidence_is_never_an_answer_in_the_lean_form(graph):
    plan = planned((1, "Who was it?", [], []))
    script = Script(lean(lean_decompose=plan, lean_expand=planned()))
    result = ask(graph, script, base=Nothing(graph))
    assert script.calls == {"lean-decompose": 1, "lean-expand": 1}
    assert (answer_of(result), result.hits) == (NOT_THERE, ())


@pytest.mark.parametrize("name", [*LEAN, "graphsearch-draft"])
def test_a_server_that_dies_at_any_place_is_an_error_and_no_answer_in_the_lean_form(graph, name):
    name = name.removeprefix("graphsearch-")
    readers = {"lean-ground": lambda user: {**study(user), "answer": None}, "lean-conclude": sure}
    verdict = REJECT if name == "lean-expand" else ACCEPT
    script = Script(lean(lean_verify=verdict, lean_study=readers.get(name, study)))
    result = dead_from(script, name, graph)
    assert name in script.calls
    assert (result.stopped_by, result.answer, result.long_answer, result.hits) == ("error", None, None, ())


def test_a_server_that_dies_in_one_channel_alone_is_an_error(graph):
    script = Script(faithful())

    def dying(messages, tools, sampling):
        if "triples of a sub-query complete" in messages[0].content:
            raise ModelError("the server refuses")
        return script(messages)

    model = ScriptedModel(dying)
    method = GraphSearch(graph, model, GraphSearchConfig(faithful=True), Shelf(graph))
    result = method.retrieve_and_answer(Question(text=QUESTION), Allowance(), model)
    assert (result.stopped_by, result.answer, result.hits) == ("error", None, ())
    assert "answer" not in script.calls
    assert [one.stopped_by for one in result.trajectories if "ground-relational" in one.method] == ["error"]
    assert script.calls["draft"] == 1  # the other channel's, whose record is kept
    assert any(one.method.endswith("graphsearch-draft") for one in result.trajectories)


@pytest.mark.parametrize("calls", range(1, 7))
@pytest.mark.parametrize("reader", [study, sure])
def test_a_budget_that_ends_it_leaves_a_ranking_and_an_answer_out_of_the_reserve_in_the_lean_form(graph, calls, reader):
    calls = min(calls, 4) if reader is sure else calls
    script = Script(lean(lean_study=reader, lean_answer={"answer": "22", "explanation": "", "cited": []}))
    result = ask(graph, script, run=Allowance(Budget(calls=calls), reserve=1))
    assert script.calls.total() == calls
    assert script.calls["lean-answer"] == 1
    assert (result.stopped_by, result.answer) == ("calls", "22")
    assert result.hits


# ------------------------------------------------------------------------------------------------------- either form


class Refusing(Allowance):
    """Refuses one call, the third, as a budget of tokens does that expects too much of what is under way."""

    def __init__(self):
        super().__init__()
        self.claims = 0

    def check(self):
        self.claims += 1
        if self.claims == 3:
            raise BudgetExhausted("tokens", "the budget of tokens is spent")
        super().check()


class Late(Allowance):
    """Time is over at some call: neither that one nor any after it may begin, the answer's neither."""

    def __init__(self, first):
        super().__init__(reserve=1)
        self.first, self.claims = first, 0

    def check(self):
        self.claims += 1
        if self.claims >= self.first:
            raise BudgetExhausted("seconds", "the budget of seconds is spent")
        super().check()

    def claim_final(self):
        raise BudgetExhausted("seconds", "the budget of seconds is spent")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("is_faithful", "first"), [*((False, call) for call in range(1, 7)), *((True, call) for call in range(1, 10))]
)
def test_time_that_is_over_at_any_call_leaves_a_ranking_and_no_answer(graph, is_faithful, first):
    script = Script({**faithful(), **lean()})
    result = ask(graph, script, run=Late(first), faithful=is_faithful)
    assert script.calls.total() == first - 1
    assert (result.stopped_by, result.answer, result.long_answer) == ("seconds", None, None)
    assert result.hits
    assert len([one for one in result.trajectories if "graphsearch-" in one.method]) == first - 1


@pytest.mark.parametrize("is_faithful", [False, True])
def test_a_sub_query_that_a_budget_cuts_short_ends_the_search_and_says_so(graph, is_faithful):
    said = {"answer": "22", "explanation": "", "cited": []}
    script = Script({**faithful(answer=said), **lean(lean_answer=said)})
    result = ask(graph, script, run=Refusing(), faithful=is_faithful, channels="semantic")
    assert (result.stopped_by, result.answer) == ("tokens", "22")
    assert "draft" not in script.calls
    assert "stopped by the budget: the budget of tokens is spent" in result.notes


@pytest.mark.parametrize("is_faithful", [False, True])
def test_nothing_found_by_a_search_that_was_cut_short_is_no_answer(graph, is_faithful):
    run = Allowance(Budget(calls=1), reserve=1)
    result = ask(graph, Script({}), run=run, base=Nothing(graph), faithful=is_faithful)
    assert (result.stopped_by, result.answer, result.hits) == ("calls", None, ())


@pytest.mark.parametrize("words", ["not in the evidence", "Not in the evidence.", "", "  "])
@pytest.mark.parametrize("is_faithful", [False, True])
def test_the_words_for_no_answer_are_no_answer(graph, is_faithful, words):
    script = Script(
        {
            **faithful(**{"sub-answer": {"answer": words, "used": []}}),
            **lean(
                lean_study=lambda user: {**study(user), "answer": words},
                lean_answer={"answer": words, "explanation": "", "cited": ["S1.C1"]},
            ),
            "answer": {"answer": words, "explanation": "", "cited": ["S1.C1"]},
        }
    )
    result = ask(graph, script, faithful=is_faithful, channels="semantic", grounding=False, expansion=False)
    assert script.shown("draft").count(f"Answer: {NOT_THERE}") == 3
    assert answer_of(result) == NOT_THERE
