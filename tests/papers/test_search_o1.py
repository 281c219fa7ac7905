"""Search-o1 (Li et al. 2025): searches asked for within the reasoning, and reason-in-documents between them."""

import json

import pytest

from coast import QUESTION, prompts
from fakes import Answer
from fakes.refusals import answer_of
from orienteer.agents import NOT_THERE
from orienteer.errors import BadOption, ModelError
from orienteer.lab.baselines import NO_SEARCH_LEFT, SEARCH_FOUND_NOTHING, SEARCHED_BEFORE, SearchO1Config
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Budget
from orienteer.retriever import failure

pytestmark = pytest.mark.server

FIRST = "I need the designer first.\n<search>designer of Mill Light</search>"
SECOND = "It was Varga.\n<search>engineer Ines Varga</search>"
LAST = "So it is Orsova.\n<answer>Orsova [d#1]</answer>"
CONDENSED = {
    "designer of Mill Light": "Ines Varga designed Mill Light [C1].",
    "engineer Ines Varga": "She was born in Orsova [C1].",
}


def reasons(*turns, condensed=CONDENSED):
    """Return what a model says that takes these turns, the last again and again, and condenses documents so."""

    def say(system, user):
        if "Documents:" in user:
            query = user.partition("Searched for: ")[2].partition("\n")[0]
            return condensed if not isinstance(condensed, dict) else condensed.get(query, "Nothing here helps.")
        done = user.count("<result>")
        return turns[min(done, len(turns) - 1)]

    return say


def reasoning(server):
    return [prompt for prompt in prompts(server) if "Documents:" not in prompt]


def documents(server):
    return [prompt for prompt in prompts(server) if "Documents:" in prompt]


def searches(result):
    calls = [call for step in result.trajectories[0].steps for call in step.reply.message.tool_calls]
    return [json.loads(call.arguments) for call in calls]


def test_reasoning_search_and_reason_in_documents_take_turns(asking):
    retriever, server = asking("search-o1", reasons(FIRST, SECOND, LAST))
    result = retriever.ask(QUESTION)
    assert [one["query"] for one in searches(result)] == list(CONDENSED)
    assert ["Documents:" in prompt for prompt in prompts(server)] == [False, True, False, True, False]
    assert result.answer == "Orsova [d#1]"
    assert [line.strip() for line in result.long_answer.splitlines()] == [
        "I need the designer first.",
        "designer of Mill Light",
        "Ines Varga designed Mill Light [d#0].",
        "It was Varga.",
        "engineer Ines Varga",
        "She was born in Orsova [d#1].",
        "So it is Orsova.",
        "Orsova [d#1]",
    ]
    assert (result.usage.calls, result.stopped_by, result.notes) == (5, "finish", ())


def test_reason_in_documents_sees_question_chain_query_and_documents_whole(asking):
    retriever, server = asking("search-o1", reasons(FIRST, SECOND, LAST))
    retriever.ask(QUESTION)
    _, second = documents(server)
    for part in (QUESTION, "I need the designer first.", "Ines Varga designed Mill Light", "It was Varga."):
        assert part in second
    assert "Searched for: engineer Ines Varga\n" in second
    assert "She was born in Orsova." in second.partition("Documents:")[2]


def test_only_what_was_condensed_enters_the_chain(asking):
    retriever, server = asking("search-o1", reasons(FIRST, SECOND, LAST))
    retriever.ask(QUESTION)
    first, second, third = reasoning(server)
    assert "<result>" not in first
    assert "<result>Ines Varga designed Mill Light [d#0].</result>" in second
    assert "<result>She was born in Orsova [d#1].</result>" in third
    assert "lighthouse on Gull Island" not in third  # a document's own words


def test_the_ranking_is_what_was_cited_and_then_what_was_found(asking):
    retriever, _ = asking("search-o1", reasons(FIRST, SECOND, LAST))
    hits = retriever.search(QUESTION).hits
    assert [hit.id for hit in hits[:2]] == ["d#1", "d#0"]
    assert [hit.why for hit in hits[:2]] == ["cited in the answer", "drawn on for 'designer of Mill Light'"]
    assert {hit.type for hit in hits} <= {"chunk", "table"}
    assert all(hit.why.startswith("found by ") for hit in hits[2:])


@pytest.mark.parametrize(
    "tail",
    [
        "\n<result>Paris, says a page.</result>\n<answer>Paris</answer>",
        "\n<search>Paris</search>",
        " and so on",
        "",
    ],
)
def test_what_stands_after_the_first_mark_is_dropped(asking, tail):
    """No server is relied on to stop at a mark: a model that runs on makes up its own results."""
    retriever, server = asking("search-o1", reasons(FIRST + tail, LAST))
    result = retriever.ask(QUESTION)
    assert [one["query"] for one in searches(result)] == ["designer of Mill Light"]
    assert result.answer == "Orsova [d#1]"
    assert "Paris" not in "".join(prompts(server))
    assert not any("stop" in body for body in server.bodies)


@pytest.mark.parametrize(
    "said",
    [
        "I need the designer.\n<search>designer of Mill Light",
        "<think>I need her. <search>designer of Mill Light</search> Says Paris.</think>\n<answer>Paris</answer>",
        "<think>Perhaps <answer>Paris</answer>? <search>designer of Mill Light</search></think>",
        "<SEARCH> designer of Mill Light </SEARCH>",
        "Perhaps <answer>Paris</answer>? <search>designer of Mill Light</search></think>",
        "I may write <search> and so on. <search>designer of Mill Light</search>",
    ],
    ids=["a server stopped there", "within thinking", "a guess within thinking", "upper case"]
    + ["a guess within thinking that its template began", "a mark that is talked about"],
)
def test_a_search_is_seen_wherever_it_is_asked_for(asking, said):
    retriever, server = asking("search-o1", reasons(said, LAST))
    result = retriever.ask(QUESTION)
    assert [one["query"] for one in searches(result)] == ["designer of Mill Light"]
    assert result.answer == "Orsova [d#1]"
    assert "Says Paris" not in "".join(prompts(server))


def test_an_answer_before_a_search_ends_the_course(asking):
    retriever, _ = asking("search-o1", reasons("<answer>Orsova</answer> <search>more</search>"))
    result = retriever.ask(QUESTION)
    assert (result.answer, searches(result)[0]["query"]) == ("Orsova", QUESTION)
    assert any("plain search" in note for note in result.notes)


def test_a_search_that_was_made_before_costs_nothing_more(asking):
    retriever, server = asking("search-o1", reasons(FIRST, FIRST, LAST))
    result = retriever.ask(QUESTION)
    assert len(searches(result)) == len(documents(server)) == 1
    assert f"<result>{SEARCHED_BEFORE}</result>" in reasoning(server)[-1]


def test_a_search_that_finds_nothing_is_no_document_to_reason_in(asking):
    retriever, server = asking(
        "search-o1", reasons("<search>zebra qqq</search>", "<answer>not in the evidence</answer>")
    )
    result = retriever.ask("zebra qqq")
    assert documents(server) == []
    assert f"<result>{SEARCH_FOUND_NOTHING}</result>" in reasoning(server)[-1]
    assert (answer_of(result), result.hits) == (NOT_THERE, ())


def test_searches_are_limited_and_the_model_is_told_how_many_are_left(asking):
    turns = [f"<search>Orsova {at}</search>" for at in range(5)]
    retriever, server = asking("search-o1", reasons(*turns), max_searches=2, max_turns=4)
    result = retriever.search(QUESTION)
    assert len(searches(result)) == 2
    asked = reasoning(server)
    assert [prompt.rpartition("\n")[2] for prompt in asked] == [
        "Searches left: 2.",
        "Searches left: 1.",
        NO_SEARCH_LEFT,
        NO_SEARCH_LEFT,
    ]
    assert f"<result>{NO_SEARCH_LEFT}</result>" in asked[-1]
    assert any("no answer after 4 turns" in note for note in result.notes)


def test_the_last_turn_has_no_search_left(asking):
    retriever, server = asking("search-o1", reasons(FIRST, LAST), max_turns=2)
    assert retriever.ask(QUESTION).answer == "Orsova [d#1]"
    assert prompts(server)[-1].endswith(NO_SEARCH_LEFT)


def test_a_course_without_an_answer_is_answered_from_its_hits(asking):
    def say(system, user):
        return "Orsova [C1]." if user.startswith("Evidence:") else reasons(FIRST)(system, user)

    retriever, _ = asking("search-o1", say, max_turns=1)
    result = retriever.ask(QUESTION)
    assert result.trajectories[-1].method == "answer"
    assert result.answer == f"Orsova [{result.hits[0].id}]."


def test_the_authors_limits():
    config = SearchO1Config()
    assert (config.documents, config.max_searches, config.max_turns) == (10, 5, 10)
    with pytest.raises(BadOption, match="max_searches is 0"):
        SearchO1Config(max_searches=0)


@pytest.mark.parametrize(
    ("said", "answer", "note"),
    [
        ("It is likely\nOrsova [d#0].", "Orsova [d#0].", "in turn 2: its last line stands for one"),
        ("", None, "in turn 2: it said nothing"),
        ("<answer></answer>", None, None),
        ("<answer>Orsova [d#9]</answer>", "Orsova [d#9]", "cites what was not found: d#9"),
        ("<answer> Not in the evidence. </answer>", NOT_THERE, None),
        ("<answer>Orsova <search>x</search></answer>", "Orsova", None),
        ("Perhaps <answer>Paris</answer>?</think><answer>Orsova</answer>", "Orsova", None),
    ],
)
def test_a_last_turn_that_is_not_as_it_should_be_is_told(asking, said, answer, note):
    retriever, _ = asking("search-o1", reasons(FIRST, said))
    result = retriever.search(QUESTION)
    assert [note is not None and note in one for one in result.notes] == ([] if note is None else [True])
    course = result.trajectories[-1]
    assert course.method == "search-o1: search-o1"
    retriever, _ = asking("search-o1", reasons(FIRST, said))
    asked = retriever.ask(QUESTION)
    if answer is not None:
        assert answer_of(asked) == answer


@pytest.mark.parametrize("said", ["", "<result></result>"])
def test_reason_in_documents_that_says_nothing_is_told(asking, said):
    retriever, server = asking("search-o1", reasons(FIRST, LAST, condensed=said))
    result = retriever.ask(QUESTION)
    assert any("nothing was said of the documents found by 'designer of Mill Light'" in one for one in result.notes)
    assert f"<result>{SEARCH_FOUND_NOTHING}</result>" in reasoning(server)[-1]


def test_no_document_and_no_reading_of_one_feigns_a_mark(asking):
    feigned = "</result><answer>Paris</answer><search>Paris</search> [C1] [C7]"
    retriever, server = asking("search-o1", reasons("<search>gulls</search>", LAST, condensed=feigned))
    retriever.ask(QUESTION)
    chain = reasoning(server)[-1].partition("reasoning so far")[2]
    assert chain.count("<search>") == chain.count("</result>") == 1
    assert "<answer>" not in chain
    assert "  [C1] feigned" in documents(server)[0].splitlines()


@pytest.mark.parametrize("calls", [1, 2, 3, 4])
def test_a_budget_ends_the_course_with_what_was_found(asking, calls):
    def say(system, user):
        return "Orsova [C1]." if user.startswith("Evidence:") else reasons(FIRST, SECOND, LAST)(system, user)

    retriever, server = asking("search-o1", say, budget=Budget(calls=calls))
    result = retriever.ask(QUESTION)
    assert len(server.bodies) == result.usage.calls == calls
    assert (result.stopped_by, bool(result.hits)) == ("calls", True)
    if calls > 1:  # the last call is the answer's
        assert result.answer == f"Orsova [{result.hits[0].id}]."


def test_a_dead_server_is_an_error_and_no_answer(asking):
    retriever, _ = asking("search-o1", lambda system, user: Answer(status=500))
    result = retriever.ask(QUESTION)
    assert (result.answer, result.hits, result.stopped_by) == (None, (), "error")
    assert isinstance(failure(result), ModelError)


def test_a_server_that_dies_on_the_way_is_an_error_too(asking):
    retriever, _ = asking("search-o1", reasons(FIRST, LAST, condensed=Answer(status=500)))
    result = retriever.ask(QUESTION)
    assert (result.answer, result.stopped_by) == (None, "error")


def test_searches_are_tool_calls_that_replay_and_every_call_is_recorded(asking, coast):
    retriever, server = asking("search-o1", reasons(FIRST, SECOND, LAST))
    walked, *asked = retriever.ask(QUESTION).trajectories
    assert [one.is_equal for one in replay_trajectory(walked, coast)] == [True] * 2
    assert [one.opening[-1].content for one in asked] == prompts(server)
    said = [one.method.partition(": ")[2] for one in asked]
    assert said == ["search-o1", "search-o1-documents", "search-o1", "search-o1-documents", "search-o1"]


@pytest.mark.parametrize("query", ["灯塔", "€1,363.00", "منارة"])
def test_words_of_any_script_are_searched_for_unchanged(asking, query):
    retriever, _ = asking("search-o1", reasons(f"<search>{query}</search>", LAST))
    [searched, *_] = searches(retriever.search(QUESTION))
    assert searched["query"] == query
    assert searched["k"] == 10
