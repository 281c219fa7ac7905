"""What GraphSearch is measured by: SubEM both ways, A- and E-Score over HTTP, evidence by round, what it took."""

import json

import pytest

from fakes.openai_server import Answer, FakeServer
from orienteer.errors import BadInput, BadOption
from orienteer.files import append_line
from orienteer.graph import Graph
from orienteer.lab.evaluation import (
    JUDGE_CRITERIA,
    RUN_TRAJECTORIES,
    Example,
    Gold,
    QuestionTrajectories,
    RunLine,
    RunManifest,
    StoredRun,
    answer_measure,
    carries_evidence,
    is_hypergraphrag,
    judge_run,
    method_variants,
    read_questions,
    score_runs,
    scorer_of,
    sweep_axes,
    sweep_grid,
    work_of,
)
from orienteer.llm import OpenAIConfig, OpenAIModel
from orienteer.records import Message, Observed, Question, Ranked, Reply, Step, Trajectory
from orienteer.settings import Settings


def make_run(path, *lines):
    manifest = RunManifest(
        graph="g", graph_sha256="g", nodes=1, edges=0, dataset="jsonl", questions_sha256="q", count=len(lines),
        answers=True, orienteer="0", python="3", created="now",
    )  # fmt: skip
    examples = {line.id: Example(question=Question(id=line.id, text="?"), gold=line.gold) for line in lines}
    return StoredRun(path, manifest, tuple(examples.values()), lines)


def line(number, answer=None, *, nodes=(), answers=("Night Ferry",), **other):
    gold = Gold(nodes=dict.fromkeys(nodes, 1.0), answers=answers, evidence=other.pop("evidence", ()))
    return RunLine(id=f"q{number}", method=other.pop("method", "ark"), question="?", gold=gold, answer=answer, **other)


# ------------------------------------------------------------------------------------------------------- answers

LONG = "It was shot on the MV Night Ferryman [c1], as two crew members say.\nAnswer: the MV Nightingale"


@pytest.mark.parametrize(
    ("name", "value"),
    [("EM", 0.0), ("F1", 0.0), ("SubEM", 0.0), ("SubEM (lenient)", 1.0)],
)
def test_lenient_subem_alone_looks_at_the_whole_response(tmp_path, name, value):
    # By hand: the short answer is "MV Nightingale", which shares no whole word with "Night Ferry"; the response holds
    # "night ferry" inside of "Night Ferryman".
    run = make_run(tmp_path, line(1, LONG, hits=(Ranked(id="c1", type="chunk", name="n", score=1.0),)))
    assert scorer_of(name, run).of(run.lines[0]) == value


@pytest.mark.server
def test_a_long_answer_is_part_of_the_response(tmp_path):
    long = line(1, "the MV Nightingale", long_answer="It was shot on the Night Ferry.")
    assert long.response == "It was shot on the Night Ferry.\nAnswer: the MV Nightingale"
    scores = {name: scorer_of(name, make_run(tmp_path, long)).of(long) for name in ("EM", "SubEM", "SubEM (lenient)")}
    assert scores == {"EM": 0.0, "SubEM": 0.0, "SubEM (lenient)": 1.0}
    seen = []

    def policy(body, before):
        seen.append(body["messages"][1]["content"])
        return judging(body, before)

    with FakeServer(policy) as server:
        judge_run(make_run(tmp_path, long), OpenAIModel("judge", OpenAIConfig(base_url=server.url)))
    assert "It was shot on the Night Ferry.\nAnswer: the MV Nightingale" in seen[0]
    (row,) = score_runs([make_run(tmp_path, long)])
    assert row.measures["A-Score"].mean == 6


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_question_without_an_answer_scores_nothing_whatever_was_said_before(tmp_path, nothing):
    run = make_run(tmp_path, line(1, nothing, long_answer="It is Night Ferry."), line(2, "Night Ferry"))
    (row,) = score_runs([run], measures=["SubEM", "SubEM (lenient)", "EM", "F1"])
    assert {(measure.mean, measure.n) for measure in row.measures.values()} == {(0.5, 2)}


def test_a_citation_is_no_part_of_the_whole_response(tmp_path):
    cited = line(1, "Nobody knows [Night Ferry]. Answer: unknown", hits=(_hit("Night Ferry"),))
    assert scorer_of("SubEM (lenient)", make_run(tmp_path, cited)).of(cited) == 0.0


def test_a_citation_of_what_is_no_hit_is_no_part_of_the_answer_either(tmp_path):
    """Answers from relations cite entities, and a ranking holds passages."""
    cited = line(1, "Night Ferry [c1][film:ferry]", hits=(_hit("c1"),), cited=("film:ferry",))
    for measure in ("EM", "SubEM (lenient)"):
        assert scorer_of(measure, make_run(tmp_path / measure[:2], cited)).of(cited) == 1.0


def _hit(node_id):
    return Ranked(id=node_id, type="chunk", name="", score=1.0)


def test_of_yes_or_no_and_of_numbers_the_short_answer_counts_alone():
    measure = answer_measure("SubEM (lenient)")
    whole = "No film of 1984 was found at first. Answer: yes"
    assert measure("yes", Gold(answers=("no",)), whole=whole) == 0.0
    assert measure("12", Gold(answers=("1984",)), whole="In 1984 there were 12. Answer: 12") == 0.0


def test_both_ways_of_subem_are_shown_of_a_run_with_answers(tmp_path):
    (row,) = score_runs([make_run(tmp_path, line(1, LONG), line(2, "Night Ferry"))])
    shown = {name: measure.mean for name, measure in row.measures.items()}
    assert shown == {"EM": 0.5, "F1": 0.5, "SubEM": 0.5, "SubEM (lenient)": 1.0}


# --------------------------------------------------------------------------------------------------- the judge


def verdict(names, *values):
    marks_by_name = {name: {"reason": "so", "mark": mark} for name, mark in zip(names, values, strict=True)}
    return json.dumps(marks_by_name)


def judging(body, before):
    """Mark A-Scores 9, 6, 3; speak prose about the answer `odd`; show what was asked for the E-Score in its reason."""
    prompt, shown = (message["content"] for message in body["messages"][:2])
    score = next(name for name, names in JUDGE_CRITERIA.items() if names and names[0] in prompt)
    if "odd" in shown:
        return Answer(content="I would give it a seven.")
    return Answer(
        content=verdict(JUDGE_CRITERIA[score], 9, 6, 3)
        if score == "A-Score"
        else verdict(JUDGE_CRITERIA[score], 8, 8, 2)
    )


@pytest.mark.server
def test_a_and_e_score_over_http(tmp_path):
    lines = [
        line(1, "It is Night Ferry.", evidence=("Night Ferry was shot at sea.",)),
        line(2, "odd", evidence=("Night Ferry was shot at sea.",)),
        line(3, None, error="broke", evidence=("Night Ferry was shot at sea.",)),
    ]
    run = make_run(tmp_path, *lines)
    assert carries_evidence(run)
    with FakeServer(judging) as server:
        model = OpenAIModel("judge", OpenAIConfig(base_url=server.url))
        judgements = judge_run(run, model, scores=["A-Score", "E-Score"])
        prompts = [body["messages"][1]["content"] for body in server.bodies]
    assert len(judgements) == 4  # the failed question is not asked about
    assert sum("## Evidence\nNight Ferry was shot at sea." in text for text in prompts) == 1 + 2  # one repair turn
    assert sum("## Known answer, any of\n- Night Ferry" in text for text in prompts) == 1 + 2
    (row,) = score_runs([run])
    # By hand: (9 + 6 + 3) / 3 = 6 and the failed question is 0; the verdict that cannot be read is in no mean.
    assert (row.measures["A-Score"].mean, row.measures["A-Score"].n) == (3.0, 2)
    assert (row.measures["E-Score"].mean, row.measures["correctness"].mean) == (3.0, 4.5)
    assert row.unjudged == 2


@pytest.mark.server
def test_the_e_score_without_any_evidence_is_refused(tmp_path):
    with FakeServer(judging) as server, pytest.raises(BadOption, match="E-Score"):
        judge_run(
            make_run(tmp_path, line(1, "x")),
            OpenAIModel("judge", OpenAIConfig(base_url=server.url)),
            scores=["E-Score"],
        )


# ------------------------------------------------------------------------------- evidence by round, and what it took


def walked(*rounds, text="two words", method="graphsearch"):
    """Make a trajectory with a step for each round of node ids."""
    reply = Reply(message=Message(role="assistant"))
    seen = [(Observed(call_id="c", text=text, nodes=nodes),) for nodes in rounds]
    return Trajectory(
        question=Question(text="?"),
        method=method,
        steps=tuple(Step(reply=reply, observations=observations) for observations in seen),
    )


def store(path, run, **trajectories):
    for line in run.lines:
        record = QuestionTrajectories(id=line.id, method=line.method, trajectories=tuple(trajectories.get(line.id, [])))
        append_line(path / RUN_TRAJECTORIES, record.model_dump_json())
    return run


def test_evidence_by_round(tmp_path):
    gold = ("a", "b", "c", "d")
    lines = [line(1, nodes=gold), line(2, nodes=gold), line(3, nodes=gold, error="broke"), line(4)]
    semantic, relational = walked(("a",), ("x", "b")), walked((), ("b",), ("c", "a"))
    run = store(tmp_path, make_run(tmp_path, *lines), q1=[semantic, relational], q2=[walked(("d",))], q3=[semantic])
    # By hand, of four gold nodes. q1: a; a, b; a, b, c. q2: d, and no more. q3 failed. q4 has no gold nodes.
    wanted = {"Evidence@1": (1 + 1) / 12, "Evidence@2": (2 + 1) / 12, "Evidence@3": (3 + 1) / 12}
    wanted |= {"Evidence@9": wanted["Evidence@3"], "Evidence@all": wanted["Evidence@3"]}
    (row,) = score_runs([run], measures=list(wanted))
    assert {name: measure.mean for name, measure in row.measures.items()} == pytest.approx(wanted)
    assert {measure.n for measure in row.measures.values()} == {3}


def test_a_method_that_observes_nothing_has_no_evidence_by_round(tmp_path):
    silent = Trajectory(
        question=Question(text="?"), method="answer", steps=(Step(reply=Reply(message=Message(role="assistant"))),)
    )
    run = store(tmp_path, make_run(tmp_path, line(1, nodes=("a",), method="bm25")), q1=[silent])
    (row,) = score_runs([run], measures=["Evidence@1", "Hit@1"])
    assert list(row.measures) == ["Hit@1"]


@pytest.mark.parametrize("name", ["Evidence", "Evidence@0", "evidence@1"])
def test_other_names_of_evidence_are_none(tmp_path, name):
    with pytest.raises(BadOption, match="no measure"):
        scorer_of(name, make_run(tmp_path, line(1, nodes=("a",))))


def test_context_tokens_are_those_of_what_was_observed():
    first = walked(("a",), ("b",), text="Ada Holm wrote it.")  # four words and a mark
    assert work_of([first, walked((), text="none")]).context_tokens == 2 * 5 + 1


def test_context_of_a_method_that_only_ranks_stands_in_the_prompt_for_its_answer():
    opening = (Message(role="system", content="Say it."), Message(role="user", content="Question: who\nAda wrote it"))
    answer_call = Trajectory(question=Question(text="who"), method="answer", model="m", opening=opening)
    assert work_of([answer_call]).context_tokens == 6
    search_step = walked(("a",), text="what the search gave, of which the prompt holds a part")
    assert work_of([search_step, answer_call]).context_tokens == 6
    agent = search_step.model_copy(update={"model": "m"})
    assert work_of([agent, answer_call]).context_tokens == 12 + 6
    assert work_of([]).context_tokens == 0


def test_a_sweep_of_top_k_is_one_option():
    # Figure 6a: `eval sweep KB questions -m "naive mode=lexical" --set k=10,20,30,40,50`
    texts = sweep_grid(["naive mode=lexical"], sweep_axes(["k=10,20,30,40,50"]))
    swept = method_variants(texts, settings=Settings())
    assert [variant.k for variant in swept] == [10, 20, 30, 40, 50]
    assert {variant.options["mode"] for variant in swept} == {"lexical"}


# ------------------------------------------------------------------------------------------ HyperGraphRAG's domains

QUESTIONS = [
    {
        "question": "What lowers blood pressure?",
        "golden_answers": ["LESS SALT", "less sodium"],
        "context": ["Less salt lowers it.", "Less salt lowers it."],
        "nary": 2,
        "nhop": 1,
    },
    {
        "question": "Who should rest?",
        "golden_answers": ["OLDER PATIENTS"],
        "context": ["Older patients\nshould rest.", "Less salt lowers it."],
        "nary": 4,
        "nhop": 2,
    },
]


@pytest.fixture
def domain(tmp_path):
    folder = tmp_path / "datasets" / "hypertension"
    folder.mkdir(parents=True)
    (folder / "questions.json").write_text(json.dumps(QUESTIONS))
    return folder


def test_questions_of_a_domain(domain):
    questions = read_questions(domain)
    first, second = questions.examples
    assert (questions.name, questions.notes) == ("hypergraphrag", ())
    assert (first.question.id, first.question.text) == ("1", "What lowers blood pressure?")
    assert first.gold == Gold(answers=("LESS SALT", "less sodium"), evidence=("Less salt lowers it.",))
    assert second.fields == {"nary": 4, "nhop": 2}


def test_evidence_becomes_the_passages_that_hold_it_whole(domain):
    graph = Graph.from_records(
        nodes=[
            {"id": "c1", "type": "chunk", "name": "one", "text": "Much is said. Less  salt lowers it. OLDER patients"},
            {"id": "c2", "type": "chunk", "name": "two", "text": "less salt lowers it. should rest."},
            {"id": "d", "type": "document", "name": "doc", "text": "Less salt lowers it."},
        ],
        edges=[],
    )
    questions = read_questions(domain, graph=graph)
    # What crosses two chunks is in neither, and gold that is not whole is none, though c1 holds the other text.
    assert [example.gold.nodes for example in questions.examples] == [{"c1": 1.0}, {}]
    assert questions.notes_on(questions.examples) == (
        "1 of 2 questions have evidence that no single passage of the graph contains",
    )


@pytest.mark.parametrize(
    "broken", [{"golden_answers": 3}, {"question": ""}, {"context": "no list"}, {"question": ["a"]}]
)
def test_a_question_of_another_shape_is_an_error(domain, broken):
    (domain / "questions.json").write_text(json.dumps([QUESTIONS[0], {**QUESTIONS[1], **broken}]))
    with pytest.raises(BadInput, match="question 2"):
        read_questions(domain)


def test_domains_are_told_apart_from_other_benchmarks(domain):
    assert not is_hypergraphrag(domain.parent)
    (domain / "more.json").write_text((domain / "questions.json").read_text())
    with pytest.raises(BadInput, match="2 files"):
        read_questions(domain, dataset="hypergraphrag")


def test_contexts_are_cut_as_documents_are(tmp_path):
    from orienteer.ingest import build_graph

    file = tmp_path / "legal_contexts.json"
    long = "\n\n".join(f"Clause {number} says that the tenant of house {number} pays the rent." for number in range(60))
    file.write_text(json.dumps([long, "A short text.", ""]))
    build_graph([file], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    assert graph.arrays.manifest.node_types["document"] == 2
    assert graph.arrays.manifest.node_types["chunk"] > 3
    assert graph.node("legal_contexts.json#1#0").text == "A short text."


def test_a_file_that_is_only_called_like_one_is_none(tmp_path):
    from orienteer.lab.formats import corpus_texts, recognize_texts

    (tmp_path / "x_contexts.json").write_text('{"a": 1}')
    assert recognize_texts(tmp_path) is None
    (tmp_path / "x_contexts.json").write_text('["a", {"b": 1}]')
    with pytest.raises(BadInput, match="not a list of texts"):
        corpus_texts(recognize_texts(tmp_path))
    (tmp_path / "y_contexts.json").write_text('["a"]')
    with pytest.raises(BadInput, match="several corpora"):
        recognize_texts(tmp_path)
