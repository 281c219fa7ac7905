"""The answer from a ranking's hits: what is sent, what is cited, what is said of a bad one; first the bare answer."""

import pytest

from fakes.refusals import answer_of
from orienteer.agents import NOT_THERE, answer_as_written, answer_from_hits, answer_settled
from orienteer.errors import ModelError
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.methods import Ark, ArkConfig
from orienteer.records import Citation, Edge, Node, Question, Ranked, Result

HITS = (
    Ranked(id="Gene::9021", type="Gene", name="SOCS3", score=2.0, why="joined to asthma", text="A suppressor."),
    Ranked(id="a, b]", type="Gene", name="Odd", score=1.0),
)
RANKING = Result(question="Which gene?", method="bm25", hits=HITS, notes=("not in this graph: blorp",))


def answered(words, ranking=RANKING, run=None):
    seen = []

    def policy(messages, tools, sampling):
        seen.append((messages, tools))
        return words

    return answer_from_hits(ranking, model=ScriptedModel(policy), run=run or Allowance()), seen


def test_the_model_sees_question_hits_reasons_and_notes_and_no_tools():
    _, [(messages, tools)] = answered("x")
    assert tools == ()
    assert [message.role for message in messages] == ["system", "user"]
    for part in ("Which gene?", "[Gene::9021] SOCS3 (Gene)", "joined to asthma", "A suppressor.", "blorp"):
        assert part in messages[1].content


def test_an_answer_that_cites_hits_stands():
    result, _ = answered("It is SOCS3 [Gene::9021], or Odd\n[a, b]].")
    assert result.answer == "It is SOCS3 [Gene::9021], or Odd [a, b]]."
    assert result.notes == RANKING.notes
    assert result.trajectories[-1].selected == ("Gene::9021", "a, b]")
    assert (result.hits, result.stopped_by) == (HITS, "finish")


def test_the_bare_answer_comes_first_and_the_sentences_after_it():
    result, _ = answered("SOCS3 [Gene::9021] is joined to asthma, and so is Odd [a, b]].\n\n**Answer:** SOCS3, Odd")
    assert result.answer == "SOCS3, Odd"
    assert result.long_answer == "SOCS3 [Gene::9021] is joined to asthma, and so is Odd [a, b]]."
    assert result.trajectories[-1].selected == ("Gene::9021", "a, b]")
    assert result.notes == RANKING.notes


def test_what_the_sentences_cite_counts_too():
    result, _ = answered("TP53 [Gene::7157] is no suppressor of it. Answer: SOCS3 [Gene::9021]")
    assert result.answer == "SOCS3 [Gene::9021]"
    assert result.notes[-1] == "the answer cites what is not among the hits: Gene::7157"
    result, _ = answered("One gene is. It is SOCS3 [Gene::9021].")
    assert result.answer == "One gene is. It is SOCS3 [Gene::9021]."
    assert result.notes[-1] == "the answer is not parted from its reasoning"


def evidence(hits, **update):
    _, [(messages, _)] = answered("x", RANKING.model_copy(update={"hits": hits, **update}))
    return messages[1].content


def test_that_not_all_hits_are_shown_is_said_and_never_as_the_number_that_was_found():
    hits = tuple(Ranked(id=f"n{at}", type="Gene", name=f"G{at}", score=1.0) for at in range(32))
    shown = evidence(hits)
    assert "[n19] G19 (Gene)\nthe best 20 hits are shown\n" in shown
    assert "[n20]" not in shown
    assert "32" not in shown
    assert "shown" not in evidence(hits[:20])


@pytest.mark.parametrize(("found", "listed", "shown"), [(252, 32, 20), (20, 20, 20), (7, 7, 7), (1, 1, 1)])
def test_the_number_that_was_found_is_said_where_it_is_known(found, listed, shown):
    """Hits that only fill the list up are none of them."""
    hits = [Ranked(id=f"n{at}", type="Gene", name=f"G{at}", score=1.0, complete=at < listed) for at in range(32)]
    assert f"\n{found} found in all, {shown} of them shown\n" in evidence(tuple(hits), total=found)


def test_a_reason_that_hits_share_is_printed_once():
    why = "compounds that resemble Prazepam by an edge"
    hits = tuple(Ranked(id=f"n{at}", type="Gene", name=f"G{at}", score=1.0, why=why) for at in range(3))
    short = Ranked(id="s", type="Gene", name="S", score=1.0, why="binds")
    _, [(messages, _)] = answered("x", RANKING.model_copy(update={"hits": (*hits, short, short)}))
    assert messages[1].content.count(why) == 1
    assert messages[1].content.count("  as for [n0]\n") == 2
    assert messages[1].content.count("  binds\n") == 2  # shorter than what would stand for it


@pytest.fixture(scope="module")
def compounds(build):
    return build([Node(f"c{at:02}", "Compound", f"Compound {at}", "resembles Prazepam") for at in range(32)])


@pytest.fixture(scope="module")
def resembling(build):
    names = [*(f"Compound {at}" for at in range(32)), "Prazepam"]
    ids = [*(f"c{at:02}" for at in range(32)), "p"]
    places = enumerate(zip(ids, names, strict=True))
    nodes = [Node(one, "Compound", name, "a compound", properties={"place": at}) for at, (one, name) in places]
    return build(nodes, [Edge(one, "resembles", "p") for one in ids[:-1]])


def scripted(turns):
    return ScriptedModel(lambda messages, *_: turns[sum(message.role == "assistant" for message in messages)])


def asked(graph, turns, **options):
    """Return the result of an agent that plays these turns, and what the model sees that writes the answer."""
    seen = []

    def policy(messages, tools, sampling):
        if not tools:
            seen.append(messages[1].content)
            return "32 compounds resemble it [c00]. Answer: 32"
        return turns[sum(message.role == "assistant" for message in messages)]

    model = ScriptedModel(policy)
    found = Ark(graph, model, ArkConfig(agents=1, **options)).retrieve(
        Question(text="How many compounds resemble Prazepam?"), Allowance()
    )
    return answer_from_hits(found, model=model, run=Allowance()), *seen


def test_a_count_beyond_the_hits_and_the_comment_of_finish_reach_the_answer(compounds):
    comment = "32 compounds\nresemble Prazepam."
    turns = [
        [("search_in_graph", {"query": "Prazepam", "k": 50})],
        [("add_to_answer", {"nodes": ["@1"], "reasoning": "resembles it: 32"}), ("finish", {"comment": comment})],
    ]
    result, sent = asked(compounds, turns)
    assert len(result.hits) == 20
    assert "Said at the end of the search:\n- 32 compounds resemble Prazepam.\n" in sent
    assert "Notes of the search:\n- 20 of 32 chosen nodes are shown" in sent
    assert sent.count("resembles it: 32") == 1
    assert (result.answer, result.long_answer) == ("32", "32 compounds resemble it [c00].")
    assert len(result.trajectories[0].steps) == 2  # both calls of an end go in one turn


SEARCH = ("search_in_graph", {"query": "compound", "k": 30})
AROUND = ("search_in_neighborhood", {"node": "Prazepam", "k": 5})
ADDED = [
    # Calls of an agent, what it adds to its answer, and the number of the set that this is.
    ([("follow", {"start": "Prazepam", "steps": [{"edge": "resembles"}]})], {"nodes": ["@1"]}, 32),
    ([AROUND], {"nodes": ["@1"]}, 32),
    ([SEARCH], {"nodes": ["@1"]}, None),
    ([SEARCH, ("intersect", {"nodes": ["@1", "@1"]})], {"nodes": ["@2"]}, None),
    ([SEARCH, ("follow", {"start": "@1", "steps": [{}]})], {"nodes": ["@2"]}, None),
    ([AROUND], {"nodes": ["@1"], "except": ["c00"]}, None),
    ([AROUND], {"nodes": ["@1", "Prazepam"]}, None),
    ([AROUND], {"nodes": ["c00", "c01"]}, None),
]


@pytest.mark.parametrize(("turn", "added", "total"), ADDED)
def test_a_set_that_is_the_whole_answer_has_its_number(resembling, turn, added, total):
    turns = [turn, [("add_to_answer", added), ("finish", {})]]
    result, sent = asked(resembling, turns)
    assert result.total == total
    assert ("32 found in all, 20 of them shown" in sent) == (total is not None)
    assert {hit.complete for hit in result.hits} == {total is not None}


def test_what_is_added_to_a_set_or_taken_out_of_it_leaves_no_number(resembling):
    around = [("search_in_neighborhood", {"node": "Prazepam"}), ("add_to_answer", {"nodes": ["@1"]})]
    for changed in (("add_to_answer", {"nodes": ["Prazepam"]}), ("remove_from_answer", {"nodes": ["c03"]})):
        assert asked(resembling, [around, [changed], [("finish", {})]])[0].total is None
    assert asked(resembling, [around, [("add_to_answer", {"nodes": ["@1"]})], [("finish", {})]])[0].total == 32


def test_hits_that_fill_up_come_after_the_set_and_are_not_of_it(resembling):
    turns = [
        [("follow", {"start": "Prazepam", "steps": [{"edge": "resembles"}]})],
        [("add_to_answer", {"nodes": ["@1"]}), ("finish", {})],
    ]
    found = Ark(resembling, scripted(turns), ArkConfig(agents=1, fill=True))
    result = found.retrieve(Question(text="compound", k=33), Allowance())
    assert [hit.complete for hit in result.hits] == [True] * 32 + [False] * (len(result.hits) - 32)
    some = found.retrieve(Question(text="compound", where=("place < 10",)), Allowance())
    assert (some.total, sum(hit.complete for hit in some.hits)) == (10, 10)


def test_agents_that_chose_different_sets_leave_no_number(resembling):
    def policy(messages, tools, sampling):
        node = "Prazepam" if sampling.random_seed % 2 else "c00"
        turns = [("search_in_neighborhood", {"node": node}), ("add_to_answer", {"nodes": ["@1"]}), ("finish", {})]
        return [turns[min(sum(message.role == "assistant" for message in messages), 2)]]

    def total(agents):
        ark = Ark(resembling, ScriptedModel(policy), ArkConfig(agents=agents))
        return ark.retrieve(Question(text="x"), Allowance(random_seed=1)).total

    assert (total(1), total(2)) == (32, None)


def test_the_papers_form_says_nothing_of_what_it_cut(compounds):
    picks = [{"node_index": f"c{at:02}", "reasoning": "fits"} for at in range(32)]
    turns = [[("add_to_answer", {"answer_nodes": picks}), ("finish", {})]]
    result, sent = asked(compounds, turns, faithful=True)
    assert len(result.hits) == 20
    assert "chosen nodes" not in sent
    assert "Said at the end" not in sent


def test_a_finish_that_cannot_be_read_says_nothing(compounds):
    turns = [
        [("add_to_answer", {"nodes": ["c00"]}), ("finish", {"comment": ["no text"]})],
        [("finish", {"comment": " "})],
    ]
    _, sent = asked(compounds, turns)
    assert "Said at the end" not in sent


def test_what_the_model_thinks_aloud_is_no_part_of_the_answer():
    result, _ = answered("<think>Odd [a, b]]? TP53 [Gene::7157]?</think>\nIt is SOCS3 [Gene::9021].")
    assert result.answer == "It is SOCS3 [Gene::9021]."
    assert result.trajectories[-1].selected == ("Gene::9021",)
    assert result.notes == RANKING.notes


@pytest.mark.parametrize("words", ["not in the evidence", "Not in the evidence.", '"not in the evidence"'])
def test_the_words_for_no_answer_are_a_refusal(words):
    result, _ = answered(words)
    assert answer_of(result) == NOT_THERE
    assert result.refusal.text == "not in the evidence: bm25 gave 2 hits, and none answers"
    assert (result.notes, result.hits) == (RANKING.notes, HITS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Nothing tells of mice [Gene::9021].\nAnswer: not in the evidence", "Nothing tells of mice [Gene::9021]."),
        ("Not in the evidence: no hit tells of mice.", "no hit tells of mice"),
        ("Not in the evidence (mice are not told of).", "mice are not told of"),
    ],
)
def test_what_is_lacking_is_said_in_the_models_words(words, said):
    result, _ = answered(words)
    assert answer_of(result) == NOT_THERE
    assert result.refusal.text == f"not in the evidence: bm25 gave 2 hits, and none answers; the model says: {said}"


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ("It is TP53 [Gene::7157].", "not among the hits: Gene::7157"),
        ("SOCS3 [Gene::9021; Gene::1].", "not among the hits: Gene::1"),
        ("It is SOCS3.", "cites no hit"),
        ("", "said nothing"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(words, note):
    result, _ = answered(words)
    assert note in result.notes[-1]
    assert result.answer == (words or None)


def test_several_ids_in_one_bracket_are_several_citations():
    pair = RANKING.model_copy(update={"hits": (HITS[0], HITS[0].model_copy(update={"id": "Gene::1"}))})
    result, _ = answered("Both [Gene::9021, Gene::1].", pair)
    assert result.notes == RANKING.notes
    assert result.trajectories[-1].selected == ("Gene::9021", "Gene::1")


def cited(result):
    return [(getattr(result, one.text)[one.begin : one.end], one.ids) for one in answer_as_written(result).citations]


def test_citations_are_spans_of_the_texts_with_the_ids_that_they_hold():
    result, _ = answered("Bound [Gene::9021; a, b]], as [x] says [a, b]]. Answer: SOCS3 [Gene::9021]")
    assert cited(result) == [
        ("[Gene::9021]", ("Gene::9021",)),
        ("[Gene::9021; a, b]", ("Gene::9021",)),
        ("[a, b]]", ("a, b]",)),
    ]
    assert [one.text for one in answer_as_written(result).citations] == ["answer", "long_answer", "long_answer"]


def test_what_names_no_node_of_the_result_is_no_citation():
    result, _ = answered("SOCS3 [] [1] [Gene::1, nobody] Gene::9021")
    assert cited(result) == []
    assert answer_as_written(RANKING) is RANKING


def test_an_answer_that_a_model_wrote_is_a_text_unless_its_method_says_more():
    result, _ = answered("SOCS3 [Gene::9021].")
    assert answer_as_written(result).answer_kind == "text"
    assert answer_as_written(result.model_copy(update={"answer_kind": "entity"})).answer_kind == "entity"


def test_a_node_that_is_called_so_is_an_answer():
    named = RANKING.model_copy(update={"answer": NOT_THERE, "answer_kind": "entity"})
    assert answer_settled(named) is named
    assert answer_of(answer_settled(named.model_copy(update={"answer_kind": None}))) == NOT_THERE


def test_what_a_method_quotes_stays_as_it_is():
    quoted, _ = answered("SOCS3 [Gene::9021].")
    own = quoted.model_copy(update={"citations": (Citation(begin=0, end=5, ids=("Gene::9021",)),)})
    assert answer_as_written(own) is own


def test_without_hits_nothing_is_asked():
    result, seen = answered("x", RANKING.model_copy(update={"hits": ()}))
    assert (answer_of(result), seen) == (NOT_THERE, [])
    cut, seen = answered("x", RANKING.model_copy(update={"hits": (), "stopped_by": "error"}))
    assert (cut.answer, cut.refusal, seen) == (None, None, [])


def test_a_spent_budget_leaves_the_ranking():
    run = Allowance(Budget(calls=1), reserve=0)
    run.check()
    result, seen = answered("x", run=run)
    assert (result.answer, result.trajectories[-1].stopped_by, seen) == (None, "calls", [])
    assert result.hits == HITS
    assert "no answer" in result.notes[-1]


@pytest.mark.parametrize("ending", ["finish", "steps", "tokens"])
def test_an_answer_that_fails_leaves_what_ended_the_search(ending):
    def dead(messages, tools, sampling):
        raise ModelError("the server is gone")

    ranking = RANKING.model_copy(update={"stopped_by": ending})
    result = answer_from_hits(ranking, model=ScriptedModel(dead), run=Allowance())
    assert (result.answer, result.stopped_by, result.trajectories[-1].stopped_by) == (None, ending, "error")
    assert result.notes == (*RANKING.notes, "no answer: the server is gone")


def test_the_call_for_the_answer_is_no_agents():
    told = []
    answered("SOCS3 [Gene::9021].", run=Allowance(listener=told.append))
    assert [step.agent for step in told] == [None]


def test_passages_are_read_whole_and_any_other_ranking_as_it_is_shown(build):
    text = f"{'Much is said of gulls. ' * 30}The light is red."
    graph = build([Node("c", "chunk", "Gulls", text), Node("g", "bird", "Gull", text)])
    seen = []

    def policy(messages, tools, sampling):
        seen.append(messages[1].content)
        return "Red [C1]."

    for node, kind in (("c", "chunk"), ("g", "bird")):
        hits = (Ranked(id=node, type=kind, name="x", score=1.0, text="Much is said"),)
        ranking = Result(question="Which colour?", method="bm25", hits=hits)
        result = answer_from_hits(ranking, model=ScriptedModel(policy), run=Allowance(), graph=graph)
        assert result.answer == ("Red [c]." if kind == "chunk" else "Red [C1].")
    assert ["The light is red." in prompt for prompt in seen] == [True, False]
