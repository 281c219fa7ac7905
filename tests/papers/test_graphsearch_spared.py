"""What the lean form of GraphSearch spares: calls, passages and edges that told a model nothing."""

import json
import re

import pytest

from fakes.deep_search import (
    ACCEPT,
    EDGES,
    NODES,
    REJECT,
    Script,
    Shelf,
    ask,
    faithful,
    lean,
    number,
    planned,
    steps_of,
    study,
    sure,
)
from fakes.refusals import answer_of
from orienteer.agents import NOT_THERE
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import prompt_of
from orienteer.methods import ANSWER_SCHEMA, CONCLUSION_SCHEMA, STUDY_SCHEMA, KnowledgeBaseMethod
from orienteer.records import Edge, Node
from orienteer.retrieval import Evidence, Scored, open_base
from orienteer.text import count_tokens
from orienteer.tools import worth_reading

pytestmark = pytest.mark.server

TWO_STEPS = planned((1, "Who died in Venice?", [], []), (2, "Where in Venice did #1 die?", [], [1]))
CONCLUDED = {**ACCEPT, "explanation": "It says so [S2.C1].", "answer": "Venice", "cited": ["S2.C1"]}
PASSAGES = tuple(node for node in NODES if node.type == "chunk")
STRUCTURAL = (
    Edge("c1", "mentions", "c2"),
    Edge("c1", "shares_names", "c2", properties={"weight": 0.5}),
    Edge("c2", "similar", "c3"),
)


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


@pytest.fixture(scope="module")
def texts(build):
    """Return passages and how they hang together, and nothing else."""
    return build(PASSAGES, STRUCTURAL)


@pytest.fixture(scope="module")
def shelves(build):
    """Return forty passages of ninety words about Venice, the last ten of which nearly repeat the first."""
    letters = "abcdefghijklmnopqrstuvwxyzäöüß"
    words = [[f"{one}{letters[at % 26]}{letters[at // 26]}e" for at in range(86)] for one in letters]
    several = [" ".join(["Titian", "died", "in", "Venice", *line]) for line in words]
    again = [f"{text} again" for text in several[:10]]
    return build([Node(f"v{at:02}", "chunk", f"Venice {at}", text) for at, text in enumerate((*several, *again))], ())


def silent(user):
    """Return what a reader says that finds nothing."""
    return {"summary": " ", "used": [], "answer": None, "confidence": 0, "also": []}


def shown_to(graph, script, **options):
    """Return the result of a search over the retriever for texts, and the passages of each look by label."""
    result = ask(graph, script, base=KnowledgeBaseMethod(open_base("naive", graph, {"mode": "lexical"})), **options)
    return result, [(label, seen.nodes) for label, _, seen in steps_of(result)]


# -------------------------------------------------------------------------------------------------- structural edges


def test_over_structural_edges_alone_there_is_no_relation_channel(texts):
    script = Script(lean(lean_study=sure, lean_conclude={**CONCLUDED, "cited": ["S2.C1"]}))
    result = ask(texts, script)
    assert [(label, call.name) for label, call, _ in steps_of(result)] == [
        (label, "gather_evidence") for label in ("S1", "S2", "S3")
    ]
    assert "The graph states no relations: triples are empty lists." in script.shown("lean-decompose")
    assert not any("->" in text or "(Titian," in text for text in script.all_shown("lean-study"))
    assert script.calls.total() == 5


def test_triples_without_words_are_searched_for_by_their_words_there(texts):
    script = Script(lean(lean_decompose=planned((1, "", [("Titian", "died in", "?place")], []))))
    assert [(label, call.name) for label, call, _ in steps_of(ask(texts, script))] == [("S1", "gather_evidence")]


def test_a_plan_for_a_graph_with_relations_is_not_told_so(graph):
    script = Script(lean())
    ask(graph, script)
    assert "states no relations" not in script.shown("lean-decompose")


def test_a_relation_channel_that_is_asked_for_alone_reads_what_there_is(texts):
    script = Script(lean(lean_decompose=planned((1, "Who was in Venice?", [], []))))
    result = ask(texts, script, channels="relational", relational_source="all")
    assert [label for label, *_ in steps_of(result)] == ["R1"]
    assert script.calls["lean-study"] == 1


class Wired(Shelf):
    """A retriever that also gives structural edges, and a path along one."""

    def gather(self, query, run):
        nodes = super().gather(query, run).nodes
        mention, died = Edge("c1", "mentions", "titian"), EDGES[1]
        edges = (Scored(mention, 2.0), Scored(died, 1.0))
        return Evidence(nodes, edges, (Scored((mention, died), 1.0), Scored((died,), 1.0)))


def test_structural_edges_are_no_evidence_and_those_that_state_something_are(graph):
    plan = planned((1, "Who died in Venice?", [("Zorblax", "ate in", "Qwertz")], []))
    script = Script(lean(lean_decompose=plan))
    ask(graph, script, base=Wired(graph))
    [shown] = script.all_shown("lean-study")
    assert "mentions" not in shown
    assert shown.count("Titian -died_in-> Venice") == 2  # the edge, and the path along it


def test_in_a_graph_without_passages_every_edge_states_something(small):
    edge = Edge("p1", "directed", "f1")
    evidence = Evidence((), (Scored(edge, 1.0),))
    assert worth_reading(evidence, small, 10).edges == evidence.edges


def test_without_triples_the_relation_channel_is_not_asked(graph):
    script = Script(lean(lean_decompose=planned((1, "Who died in Venice?", [], []))))
    assert [label for label, *_ in steps_of(ask(graph, script))] == ["S1"]


def test_both_channels_of_a_sub_query_are_read_in_one_call(graph):
    script = Script(lean(lean_decompose=planned((1, "Where did Titian die?", [("Titian", "died in", "?place")], []))))
    ask(graph, script)
    [shown] = script.all_shown("lean-study")
    assert "[S1.C1]" in shown
    assert "[R1.E1] Titian -died_in-> Venice" in shown


# ---------------------------------------------------------------------------------------------------- empty summaries


def test_null_and_an_empty_summary_are_nothing_found_and_replay_no_evidence(graph):
    script = Script(lean(lean_study=lambda user: silent(user) if number(user) == "1" else study(user)))
    ask(graph, script)
    for module in ("draft", "lean-verify", "lean-answer"):
        shown = script.shown(module)
        assert "Sub-query 1: Who made The Worship of Venus?" in shown
        assert "  Nothing was found.\n" in shown
        assert "is a canvas by Titian" not in shown
    assert "lean-ground" not in script.calls  # there is nothing to put in


def test_an_answer_of_which_nothing_is_told_is_sent_back(graph):
    script = Script(lean(lean_study=lambda user: {**study(user), "summary": ""}), {"lean-study": study})
    ask(graph, script, channels="semantic")
    assert script.calls["lean-study"] == 6
    assert "context S1 says it" in script.shown("draft")


# ------------------------------------------------------------------------------------------------------ ten passages


def test_a_sub_query_reads_ten_passages_that_differ(shelves):
    word = shelves.node("v00").text.split()[4]  # no passage has it but this one and its double
    script = Script(lean(lean_decompose=planned((1, f"Titian {word}?", [], [])), lean_study=sure))
    result, [(_, nodes)] = shown_to(shelves, script)
    [text] = script.all_shown("lean-study")
    assert len(re.findall(r"^\[S1\.C\d+\]", text, re.MULTILINE)) == len(nodes) <= 10
    assert nodes[0] == "v00"
    assert "v30" not in nodes
    assert all(one.is_equal for one in replay_trajectory(result.trajectories[0], shelves))


@pytest.mark.parametrize(("options", "read"), [({"faithful": True}, 30), ({"passages": 4}, 4)])
def test_the_papers_form_reads_thirty_and_an_option_says_how_many(shelves, options, read):
    asked = {"sub_queries": ["Where did Titian die?"]}
    script = Script({**lean(lean_decompose=planned((1, *asked["sub_queries"], [], []))), **faithful()})
    script.replies["decompose-semantic"] = asked
    _, [(_, nodes), *_] = shown_to(shelves, script, channels="semantic", **options)
    assert len(nodes) == read


def test_an_expansion_is_shown_new_passages_only(shelves):
    verdicts = iter([REJECT])
    one, new = planned((1, "Titian?", [], [])), planned((1, "Where did Titian die?", [], []))
    script = Script(
        lean(lean_decompose=one, lean_expand=new, lean_verify=lambda user: next(verdicts, ACCEPT), lean_study=study)
    )
    result, [(_, first), (_, second)] = shown_to(shelves, script)
    assert len(second) >= 5
    assert not set(first) & set(second)
    assert all(one.is_equal for one in replay_trajectory(result.trajectories[0], shelves))


def test_the_ranking_may_be_longer_than_what_was_read(shelves):
    script = Script(lean(lean_decompose=planned((1, "Titian?", [], [])), lean_study=sure))
    result, _ = shown_to(shelves, script)
    assert len(result.hits) == 20
    assert [hit.why for hit in result.hits].count("found beside what was read for: Titian?") >= 10


# -------------------------------------------------------------------------------------------------------------- calls


def test_a_question_of_two_steps_takes_four_calls_and_less_than_7000_tokens(shelves):
    """Over passages of ninety words, as those of MuSiQue."""
    said = {"1": "Titian", "2": "Venice"}
    script = Script(
        lean(
            lean_decompose=TWO_STEPS,
            lean_study=lambda user: {**sure(user), "answer": said[number(user)]},
            lean_conclude=CONCLUDED,
        )
    )
    result, _ = shown_to(shelves, script)
    assert script.calls == {"lean-decompose": 1, "lean-study": 2, "lean-conclude": 1}
    assert result.answer.startswith("Venice [v")
    systems = [prompt_of(name).system for name, _ in script.seen]
    assert sum(map(count_tokens, (*systems, *(user for _, user in script.seen)))) < 7000


def test_a_last_step_without_an_answer_leads_straight_to_expansion(graph):
    def open_at_last(user):
        return {**study(user), "answer": None if number(user) == "3" else "Venice"}

    script = Script(lean(lean_study=open_at_last))
    result = ask(graph, script)
    assert script.calls["lean-expand"] == 1
    assert script.calls["draft"] == script.calls["lean-verify"] == 1  # of what the expansion has found
    shown = script.shown("lean-expand")
    assert "Missing:\n  - How often did plague occur in Venice? (plague, occurred in, Venice)" in shown
    assert "(no draft was written)" in shown
    assert result.trajectories[0].marks == ("lean: unanswered", "lean: accepted")


def test_an_expansion_may_be_empty_and_ends_the_search(graph):
    script = Script(lean(lean_verify=REJECT, lean_expand=planned()))
    result = ask(graph, script)
    assert script.calls["lean-expand"] == 1  # and not sent back
    assert script.calls["draft"] == 1
    assert result.notes == ("lean: rejected, and nothing new to ask for",)


def test_a_plan_may_not_be_empty(graph):
    script = Script(lean(lean_decompose=planned()))
    ask(graph, script, channels="semantic")
    assert script.calls["lean-decompose"] == 2


def test_a_conclusion_that_is_not_accepted_is_expanded(graph):
    script = Script(
        lean(lean_study=lambda user: {**sure(user), "answer": "Venice"}, lean_conclude={**CONCLUDED, **REJECT})
    )
    result = ask(graph, script)
    assert "how often plague came" in script.all_shown("lean-expand")[0]
    assert "It says so [S2.C1]." in script.all_shown("lean-expand")[0]
    assert result.answer.startswith("22")  # of the call for the answer, which knows the draft as rejected
    assert "Draft (lean, rejected):" in script.shown("lean-answer")


@pytest.mark.parametrize("answer", [None, "unknown"])
def test_a_conclusion_without_an_answer_is_not_accepted(graph, answer):
    said = {**CONCLUDED, "answer": answer, "missing": ["how often plague came"]}
    script = Script(lean(lean_study=sure, lean_conclude=said))
    ask(graph, script)
    assert script.calls["lean-expand"] >= 1


def test_a_conclusion_that_cannot_be_read_is_drafted_verified_and_answered_apart(graph):
    script = Script(lean(lean_study=sure, lean_conclude="none"))
    result = ask(graph, script)
    assert script.calls["draft"] == script.calls["lean-verify"] == script.calls["lean-answer"] == 1
    assert result.answer.startswith("22")
    assert any("drafted, verified and answered apart" in note for note in result.notes)


def test_one_step_that_is_not_sure_is_looked_at_twice(graph):
    script = Script(lean(lean_study=lambda user: study(user) if number(user) == "2" else sure(user)))
    ask(graph, script)
    assert "lean-conclude" not in script.calls
    assert script.calls["lean-verify"] == 1


# --------------------------------------------------------------------------------------------- the question is shown


def test_a_reader_sees_the_question_and_the_steps_that_follow(graph):
    script = Script(lean())
    ask(graph, script)
    first, _, last = script.all_shown("lean-study")
    assert "Question: How many times did plague occur in the place where" in first
    assert "  - #2: Where did #1 die? (?creator, died in, ?place)\n  - #3: How often did plague occur in #2?" in first
    assert "  (none)\n" in last


def ahead(confidence=0.9, used=("S1.C1",), first=sure):
    """Return a reader that comes upon where Titian died as it reads who he was: `first` says how it reads that."""
    also = [
        {"id": 2, "summary": "died in Venice", "used": [*used], "answer": "Venice", "confidence": confidence},
        {"id": 9, "summary": "x", "used": [], "answer": "of no sub-query", "confidence": 1},
    ]
    return lambda user: {**first(user), "also": also} if number(user) == "1" else sure(user)


def test_what_a_reading_tells_of_a_later_step_spares_its_reading(graph):
    script = Script(lean(lean_study=ahead()))
    result = ask(graph, script)
    assert [number(user) for user in script.all_shown("lean-study")] == ["1", "3"]
    assert {label for label, *_ in steps_of(result)} == {"S1", "R1", "S3", "R3"}
    concluded = script.shown("lean-conclude")
    assert "Sub-query 2: Where did Titian die?" in concluded
    assert concluded.count("died in Venice") == 1
    assert "Answer: Venice (confidence 0.9)" in concluded
    assert script.shown("lean-study", "How often did plague occur in Venice?")


@pytest.mark.parametrize(
    "reader",
    [ahead(0.5), ahead(used=()), ahead(used=["S7.C1"]), ahead(first=study), ahead(first=silent)],
)
def test_what_is_not_sure_is_read_for_all_the_same(graph, reader):
    script = Script(lean(lean_study=reader))
    ask(graph, script)
    assert [number(user) for user in script.all_shown("lean-study")][:3] == ["1", "2", "3"]


def test_what_was_told_of_a_later_step_and_not_taken_up_is_told_on(graph):
    script = Script(lean(lean_study=ahead(0.5)))
    ask(graph, script)
    assert "For 2: Venice (confidence 0.5): died in Venice" in script.shown("lean-conclude")


# --------------------------------------------------------------------------------------------------------- confidence


def test_confidence_is_read_wherever_the_answer_is(graph):
    script = Script(lean(lean_verify=REJECT))
    ask(graph, script)
    for module in ("draft", "lean-verify", "lean-expand", "lean-answer"):
        assert "Answer: Titian (confidence 0.6)" in script.all_shown(module)[0]
    certain = Script(lean(lean_study=sure))
    ask(graph, certain)
    assert "Answer: Titian (confidence 0.9)" in certain.shown("lean-conclude")


def test_an_answer_that_has_no_confidence_has_none_in_the_papers_form(graph):
    script = Script(faithful())
    ask(graph, script, faithful=True)
    assert "confidence" not in "".join(user for _, user in script.seen)


# ------------------------------------------------------------------------------------------------- answers bare first


def test_the_answer_is_bare_and_the_sentences_stand_behind_it(graph):
    script = Script(lean(lean_study=sure))
    result = ask(graph, script)
    assert (result.answer, result.long_answer) == ("22 [c3]", "Titian died in Venice [titian][venice].")
    unknown = Script(lean(lean_answer={"answer": None, "explanation": "Nothing says so.", "cited": []}))
    result = ask(graph, unknown)
    assert answer_of(result) == NOT_THERE
    assert result.refusal.text.endswith("the model says: Nothing says so.")


RULES = {
    "several answers": ("study", "conclude", "answer"),
    "likely": ("study", "verify", "answer"),
    "false detail": ("study", "verify", "conclude", "answer"),
    "bare answer": ("study", "conclude", "answer"),
    "mistyped": ("decompose",),
    "stands alone as subject or object": ("decompose",),
    "An empty list is a right reply": ("expand",),
    "Null is a right answer": ("study",),
    "Say openly where the chain breaks": ("conclude",),
}


@pytest.mark.parametrize("rule", RULES)
def test_prompts_of_the_lean_form_say_what_models_asked_for(rule):
    for name in RULES[rule]:
        assert rule.casefold() in prompt_of(f"graphsearch-lean-{name}").system.casefold(), name


def test_the_form_that_a_prompt_shows_is_the_form_that_is_asked_for():
    """An example that lacks a key teaches a model to leave it out."""
    for name, schema in {"study": STUDY_SCHEMA, "conclude": CONCLUSION_SCHEMA, "answer": ANSWER_SCHEMA}.items():
        shown = prompt_of(f"graphsearch-lean-{name}").system.rpartition("Reply with a JSON object: ")[2]
        assert list(json.loads(shown.rstrip("."))) == list(schema["properties"])
