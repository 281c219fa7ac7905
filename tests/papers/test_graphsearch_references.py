"""GraphSearch's references and sub-answers: every script, what says nothing, what a plan leaves unsaid, repeats."""

from dataclasses import replace

import pytest

from fakes.deep_search import (
    ACCEPT,
    EDGES,
    FOUND,
    NODES,
    REJECT,
    SEMANTIC_ANSWER,
    Nothing,
    Script,
    Shelf,
    ask,
    faithful,
    lean,
    number,
    planned,
    steps_of,
    study,
)
from fakes.refusals import answer_of
from orienteer.agents import NOT_THERE
from orienteer.llm import Allowance, Budget
from orienteer.methods import (
    Findings,
    SubAnswer,
    SubQuery,
    plan_faults,
    sub_answer_of,
    sub_query_history,
    triples_of,
    words_of_sub_answer,
)
from orienteer.records import Node
from orienteer.retrieval import Evidence

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


@pytest.fixture(scope="module")
def wide(build):
    """Return the same graph with passages that no first sub-query comes upon."""
    further = [Node(f"b{at}", "chunk", f"Bubonic {at}", f"Bubonic fever, outbreak {at}.") for at in range(1, 7)]
    return build((*NODES, *further), EDGES)


def studied(script):
    return [text.rpartition("Sub-query: ")[2] for text in script.all_shown("lean-study")]


# -------------------------------------------------------------------------------------------------------- every script

SCRIPTS = {
    "#1在哪里去世？Venice": "Titian在哪里去世？Venice",
    "＃1はVeniceでどこで死んだ": "TitianはVeniceでどこで死んだ",
    "أين مات #١ في Venice؟": "أين مات Titian في Venice؟",
    "#1의 Venice": "Titian의 Venice",
    "Venice: #1's?": "Venice: Titian's?",
    "父亲Entity#1在Venice": "父亲Titian在Venice",
}


@pytest.mark.parametrize("text", SCRIPTS)
def test_a_reference_is_one_whatever_script_follows_it(graph, text):
    script = Script(lean(lean_decompose=planned((1, "Who made The Worship of Venus?", [], []), (2, text, [], [1]))))
    ask(graph, script, channels="semantic")
    assert studied(script)[1] == SCRIPTS[text]
    assert "lean-ground" not in script.calls


@pytest.mark.parametrize("text", SCRIPTS)
def test_the_papers_form_grounds_a_reference_whatever_script_follows_it(graph, text):
    queries = {"sub_queries": ["Who made The Worship of Venus?", text]}
    ground = {"query": "Where did Titian die?"}
    script = Script(faithful(**{"decompose-semantic": queries, "ground-semantic": ground}, answer=SEMANTIC_ANSWER))
    ask(graph, script, channels="semantic", faithful=True)
    assert script.calls["ground-semantic"] == 1
    assert script.shown("refine-semantic", "Sub-query: Where did Titian die?")


@pytest.mark.parametrize("unknown", ["Entity#1", "Entity #1", "entity#1", "父亲Entity#1", "#1", "Entity＃1", "?who"])
def test_an_unknown_of_triples_is_one_however_it_is_written(graph, unknown):
    first = "?who" if unknown == "?who" else "Entity#1"
    queries = [
        {"triples": [{"s": "The Worship of Venus", "p": "painted by", "o": first}]},
        {"triples": [{"s": unknown, "p": "died in", "o": "Venice"}]},
    ]
    script = Script(
        faithful(
            **{
                "decompose-relational": {"sub_queries": queries},
                "ground-relational": {"triples": [{"s": "Titian", "p": "died in", "o": "Venice"}]},
            }
        )
    )
    ask(graph, script, channels="relational", faithful=True)
    assert script.calls["ground-relational"] == 1
    assert "父亲" not in unknown or SubQuery("1", triples=triples_of(queries[1]["triples"])).query.low == (
        "父亲",
        "Venice",
    )


def test_a_name_that_begins_with_a_number_sign_is_a_name():
    query = SubQuery("1", triples=triples_of([{"s": "#MeToo", "p": "began in", "o": "Entity#1"}])).query
    assert (query.text, query.low) == ("#MeToo began in", ("#MeToo",))


@pytest.mark.parametrize("is_faithful", [False, True])
def test_a_number_of_thousands_of_digits_is_no_reference(graph, is_faithful):
    text = f"Who of Venice is #{'9' * 5000}?"
    queries = {"sub_queries": ["Who made The Worship of Venus?", text]}
    plan = planned((1, "Who made The Worship of Venus?", [], []), ("7" * 5000, text, [], []))
    script = Script(
        {**faithful(**{"decompose-semantic": queries}), **lean(lean_decompose=plan, lean_answer=SEMANTIC_ANSWER)}
    )
    result = ask(graph, script, channels="semantic", faithful=is_faithful)
    assert [label for label, *_ in steps_of(result)] == ["S1", "S2"]
    assert sum("ground" in name for name in script.calls) == is_faithful  # the paper grounds all but the first


def test_an_id_that_no_reference_can_be_told_by_is_a_fault():
    said = planned(("q-1", "who?", [], []), ("二", "where?", [], []), ("b2", "when?", [], []), ("٣", "how?", [], []))
    assert plan_faults(said) == ["the id 'q-1' must be a number", "the id '二' must be a number"]


# -------------------------------------------------------------------------------------------- what a plan leaves unsaid


def test_a_model_grounds_what_depends_on_an_answer_and_refers_to_it_nowhere(graph):
    """Equation 2: what is asked for is instantiated, not under-specified."""
    two = planned(
        (1, "Who made The Worship of Venus?", [("The Worship of Venus", "painted by", "?creator")], []),
        (2, "Where did the creator die?", [("?creator", "died in", "?place")], [1]),
    )
    grounded = {"text": "Where did Titian die?", "triples": []}
    script = Script(lean(lean_decompose=two, lean_ground=grounded))
    result = ask(graph, script)
    assert script.calls["lean-ground"] == 1
    assert studied(script)[1] == "Where did Titian die? (Titian, died in, ?place)"
    assert [label for label, *_ in steps_of(result)] == ["S1", "R1", "S2", "R2"]


def test_of_triples_alone_a_shared_unknown_is_a_reference(graph):
    two = planned(
        (1, "", [("The Worship of Venus", "painted by", "?creator")], []),
        (2, "", [("?creator", "died in", "?place")], [1]),
    )
    script = Script(lean(lean_decompose=two, lean_ground=lambda user: pytest.fail("a model grounded")))
    ask(graph, script, channels="relational")
    assert script.shown("lean-study", "Sub-query: (Titian, died in, ?place)")


# ---------------------------------------------------------------------------------------------------------- sub-answers


@pytest.mark.parametrize("words", ["unknown", "Unknown.", "null", "N/A", "not stated", "[S1.C1]", "`not found`"])
def test_words_for_no_answer_are_put_into_no_sub_query(graph, words):
    script = Script(
        lean(
            lean_study=lambda user: {**study(user), "answer": words},
            lean_answer={"answer": words, "explanation": "", "cited": ["S1.C1"]},
        )
    )
    result = ask(graph, script, channels="semantic", expansion=False)
    assert script.calls["lean-ground"] == 2
    assert script.shown("draft").count(f"Answer: {NOT_THERE}") == 3
    if words == "[S1.C1]":
        assert (result.answer, result.notes) == (None, ("no answer: the model gave labels alone",))
    else:
        assert answer_of(result) == NOT_THERE


@pytest.mark.parametrize("words", ["None", "no", "0", "Unknown Pleasures", "null island"])
def test_answers_that_look_like_none_stay(words):
    assert words_of_sub_answer(words) == sub_answer_of(words) == words


@pytest.mark.parametrize("number", [0, 22, 1.5])
def test_an_answer_that_is_a_number_is_one(graph, number):
    said = {"answer": number, "explanation": "", "cited": ["S1.C1"]}
    script = Script(lean(lean_study=lambda user: {**study(user), "answer": number}, lean_answer=said))
    result = ask(graph, script, channels="semantic")
    assert result.answer.startswith(f"{number} [c")
    assert f"Where did {number} die?" in studied(script)[1]
    assert script.calls.total() == 7  # none was repaired


def test_labels_of_a_sub_answer_are_not_asked_for(graph):
    script = Script(
        lean(
            lean_study=lambda user: (
                {**study(user), "answer": "Titian [S1.C1; R1.E2]"} if number(user) == "1" else study(user)
            )
        )
    )
    ask(graph, script, channels="semantic")
    assert "Where did Titian die?" in studied(script)[1]


def test_labels_of_a_grounded_text_are_not_asked_for(graph):
    ground = {"query": "Where did Titian [S1.C1] die?"}
    script = Script(faithful(**{"ground-semantic": ground}, answer=SEMANTIC_ANSWER))
    ask(graph, script, channels="semantic", faithful=True)
    assert len([one for one in script.all_shown("refine-semantic") if one.endswith("Where did Titian die?")]) == 2


# ---------------------------------------------------------------------------------------------------------- expansions


def expanded(graph, *queries, **options):
    verdicts = iter([REJECT])
    script = Script(
        lean(
            lean_verify=lambda user: next(verdicts, ACCEPT),
            lean_expand=planned(*queries),
            lean_ground=lambda user: pytest.fail("a model grounded"),
        )
    )
    return script, ask(graph, script, channels="semantic", **options)


OLD = ("who made The Worship of Venus?", [("The Worship of Venus", "painted by", "?creator")])


def test_of_new_sub_queries_that_are_the_same_one_is_asked(wide):
    script, _ = expanded(wide, (1, "Bubonic outbreak?", [], []), (2, "bubonic outbreak?", [], []))
    assert studied(script)[3:] == ["Bubonic outbreak?"]


def test_a_repeated_sub_query_that_a_new_one_waits_for_is_not_asked_again_in_the_lean_form(wide):
    verdicts = iter([REJECT])
    new = planned((1, *OLD, []), (2, "When had #1 bubonic fever?", [], [1]), (3, *OLD, []))
    script = Script(lean(lean_verify=lambda user: next(verdicts, ACCEPT), lean_expand=new, lean_ground="none"))
    ask(wide, script, channels="semantic")
    assert studied(script)[3:] == ["When had Titian bubonic fever?"]
    assert script.all_shown("draft")[1].count("Answer: Titian") == 2


def test_a_repeated_sub_query_that_had_no_answer_is_asked_again(wide):
    def silent(user):
        return {**study(user), "answer": None if number(user) in "1" else FOUND[number(user)]}

    verdicts = iter([REJECT])
    new = planned((1, *OLD, []), (2, "When had #1 bubonic fever?", [], [1]))
    script = Script(lean(lean_verify=lambda user: next(verdicts, ACCEPT), lean_expand=new, lean_study=silent))
    ask(wide, script)
    assert studied(script)[3:] == ["who made The Worship of Venus? (The Worship of Venus, painted by, ?creator)"] + [
        "When had twice bubonic fever?"
    ]


def test_a_draft_written_anew_has_no_verdict_before_it_is_verified(wide):
    script = Script(
        {
            **lean(lean_verify=REJECT, lean_expand=planned((1, "Bubonic outbreak?", [], []))),
            "lean-answer": {"answer": "22", "explanation": "", "cited": []},
        }
    )
    run = Allowance(Budget(calls=1 + 3 + 2 + 1 + 1 + 1 + 1), reserve=1)
    ask(wide, script, run=run, channels="semantic")
    assert script.calls["draft"] == 2
    assert "not verified" in script.shown("lean-answer")


# ------------------------------------------------------------------------------------------------------------- evidence


def test_what_a_retriever_says_of_less_than_there_might_be_is_in_the_notes(graph):
    class Short(Shelf):
        def gather(self, query, run):
            return replace(super().gather(query, run), reason="cut short")

    result = ask(graph, Script(faithful(answer=SEMANTIC_ANSWER)), base=Short(graph), faithful=True, channels="semantic")
    assert result.notes == ("S1: cut short", "S2: cut short", "S3: cut short")


def test_evidence_that_has_no_room_is_said_and_is_not_that_there_is_none(graph):
    script = Script(lean(lean_answer=lambda user: pytest.fail("asked"), lean_expand=planned()))
    result = ask(graph, script, channels="semantic", evidence_tokens=1)
    assert result.answer is None
    assert "S1: nothing of the evidence fits into 1 tokens: raise evidence_tokens" in result.notes


def test_of_a_context_of_one_long_line_what_fits_is_shown():
    answer = SubAnswer("S1", SubQuery("1", "who?"), Findings(), "word " * 1000)
    [line] = [line for line in sub_query_history([answer], 100).splitlines() if "word" in line]
    assert 50 <= line.count("word") <= 200


# ------------------------------------------------------------------------------------------------------------- channels


def test_what_ends_one_channel_is_seen_once_the_other_is_done(graph):
    class Broken(Shelf):
        def gather(self, query, run):
            if query.low:
                raise ZeroDivisionError("a fault of the retriever")
            return super().gather(query, run)

    script = Script(faithful())
    with pytest.raises(ZeroDivisionError):
        ask(graph, script, base=Broken(graph), faithful=True)
    assert script.calls["sub-answer"] == 3  # the semantic channel came to its end


@pytest.mark.slow
def test_five_hundred_sub_queries_are_cut_and_said(graph):
    many = planned(*((at, f"Venice {at}?", [], [at - 1] if at > 1 else []) for at in range(1, 501)))
    script = Script(lean(lean_decompose=many, lean_ground={"text": "Venice?", "triples": []}))
    result = ask(graph, script, channels="semantic")
    assert script.calls["lean-study"] == 8
    assert "lean: of 500 sub-queries the first 8 are answered" in result.notes


def test_what_triples_match_is_read_where_the_retriever_adds_nothing(graph):
    one = planned((1, "Where did Titian die?", [("Titian", "died in", "?place")], []))
    script = Script(lean(lean_decompose=one))
    result = ask(graph, script, base=Nothing(graph), channels="relational", relational_source="all")
    assert [call.name for _, call, _ in steps_of(result)] == ["match_triples", "gather_evidence"]
    assert "-died_in->" in script.shown("lean-study")


def test_evidence_of_nothing_in_one_channel_leaves_the_other_its_answer(graph):
    class Flat(Shelf):
        def gather(self, query, run):
            return Evidence(nodes=super().gather(query, run).semantic().nodes)

    result = ask(graph, Script(faithful(answer=SEMANTIC_ANSWER)), base=Flat(graph), faithful=True)
    assert (result.answer, result.stopped_by) == ("22 [c3]", "finish")
    assert sum("the retriever gave nothing that is graph" in note for note in result.notes) == 3
