r"""Rewards of trajectories: GraphScout (003), equations 2 to 5, and the strict mode; how each can be gamed."""

import json
import re
import string
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from orienteer.cypher import View, ViewIdentifiers
from orienteer.errors import BadOption
from orienteer.files import append_line
from orienteer.ingest import demo_records
from orienteer.lab.evaluation import (
    FAILED_COST,
    FEW_NODES,
    FEW_STRINGS,
    MOST_COST,
    REWARD_THRESHOLD,
    RUN_TRAJECTORIES,
    QuestionTrajectories,
    QuizItem,
    RunLine,
    RunManifest,
    StoredRun,
    final_answer,
    read_questions,
    reward,
    reward_by_cases,
    score_runs,
    squad_f1,
)
from orienteer.lab.quizzes import generate_quiz
from orienteer.llm import Allowance, ScriptedModel
from orienteer.methods import GraphScout, GraphScoutConfig
from orienteer.records import Edge, Message, Node, Observed, Question, Reply, Step, ToolboxSpec, ToolCall, Trajectory

CLUES = ("Disease::DOID:10652", "Gene::3064")
ORDERS = [f"Anatomy::UBERON:{number:07}" for number in range(400)]


def item(*answers, kind="entity", clues=CLUES):
    return QuizItem(
        id="1",
        question="Which disease presents the symptom?",
        answers=answers,
        answer_type=kind,
        pattern="<h,r,_>",
        difficulty="simple",
        hops=1,
        anchors=clues[:1],
        clue_nodes=clues,
        gold_query="RETURN 1",
        random_seed=0,
        graph_sha256="g",
    )


def code(text, printed="", *, nodes=(), error=None, name="code_interpreter"):
    """Return a step that runs code, or calls another tool with these arguments."""
    arguments = json.dumps({"code": text} if name == "code_interpreter" else text)
    call = ToolCall(id="c", name=name, arguments=arguments)
    reply = Reply(message=Message(role="assistant", tool_calls=(call,)))
    return Step(reply=reply, observations=(Observed(call_id="c", text=printed, nodes=nodes, error=error),))


def says(text):
    return Step(reply=Reply(message=Message(role="assistant", content=text)))


def ends(answer, *before, opening=()):
    r"""Return a trajectory of these steps and a last reply with `\answer{...}`."""
    return walk(*before, says(f"So it is clear.\n\\answer{{{answer}}}"), opening=opening)


def walk(*steps, opening=()):
    return Trajectory(question=Question(text="?"), method="graphscout", steps=steps, opening=opening)


def total(trajectory, of, **given):
    return reward(trajectory, of, **given).total


# ------------------------------------------------------------------------------------------- equation 2: the wrapper


@pytest.mark.parametrize("mode", ["paper", "strict"])
@pytest.mark.parametrize(
    "steps",
    [
        (),
        (says("It is Alzheimer's disease."),),
        (says("\\boxed{Alzheimer's disease}"),),
        (says("\\answer{}"),),
        (says("\\answer{  }"),),
        (says("\\answer{Alzheimer's disease}"), code("print(1)", "1")),
        (says("\\answer{Alzheimer's disease}"), says("I am not sure any more.")),
    ],
    ids=["nothing", "bare", "other", "empty", "blank", "goes on", "taken back"],
)
def test_equation_2_without_an_answer_a_trajectory_is_worth_nothing_whatever_it_touched(steps, mode):
    touched = code("print(cypher('...'))", "Disease::DOID:10652 Gene::3064", nodes=CLUES)
    graded = reward(walk(touched, *steps), item("Alzheimer's disease"), mode=mode)
    assert (graded.answer_text, graded.answer, graded.total) == (None, 0.0, 0.0)
    assert graded.clues == 1.0  # they were touched; they are worth nothing


def test_the_last_reply_is_read():
    assert final_answer(walk(says("\\answer{Salt}"), says("\\answer{Pepper}"))) == "Pepper"
    assert final_answer(ends("Night Ferry", code("print(1)"))) == "Night Ferry"


# ---------------------------------------------------------------------------------------- equation 3: F1 over words


def oracle_f1(answer, gold):
    """Take SQuAD's F1 word by word, each word of gold spent once."""

    def words(text):
        bare = "".join(character for character in text.lower() if character not in set(string.punctuation))
        return [word for word in re.sub(r"\b(a|an|the)\b", " ", bare).split() if word]

    left, there = list(words(gold)), words(answer)
    common = 0
    for word in there:
        if word in left:
            left.remove(word)
            common += 1
    if not there or not words(gold):
        return float(there == words(gold))
    precision, recall = common / len(there), common / len(words(gold))
    return 2 * precision * recall / (precision + recall) if common else 0.0


@pytest.mark.parametrize(
    ("answer", "gold", "value"),
    [
        ("Alzheimer's disease", "alzheimers disease", 1.0),
        ("The Salt!", "salt", 1.0),
        ("neuron projection", "neuron", 2 / 3),
        ("250", "251", 0.0),
        ("salt salt salt", "salt", 0.5),
        ("", "salt", 0.0),
    ],
)
def test_equation_3_by_hand(answer, gold, value):
    assert squad_f1(answer, gold) == pytest.approx(value)


WORDS = st.lists(st.sampled_from(["a", "the", "salt", "Salt,", "sea-salt", "night's", "250", "Ferry"]), max_size=6)


@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_equation_3_against_another_count(answer, gold):
    assert squad_f1(answer, gold) == pytest.approx(oracle_f1(answer, gold))
    assert squad_f1(gold, answer) == pytest.approx(squad_f1(answer, gold))


def test_a_set_is_one_text_in_the_papers_mode_and_an_entity_its_first_name():
    assert total(ends("Salt, Night Ferry"), item("Night Ferry", "Salt", kind="set")) == 1.0
    named = item("Ada Holm", "A. Holm")
    assert reward(ends("A. Holm"), named).answer == pytest.approx(2 / 3)  # the article is dropped, the name remains
    assert reward(ends("A. Holm"), named, mode="strict").answer == 1.0


# --------------------------------------------------------------------------------------------- equation 4: the clues


@pytest.mark.parametrize(
    ("step", "touched"),
    [
        (says("I look at Disease::DOID:10652."), CLUES[:1]),
        (code("cypher(\"MATCH (d {id: 'Disease::DOID:10652'}) RETURN d\")"), CLUES[:1]),
        (code("print(x)", "[{'gene': 'Gene::3064'}]"), CLUES[1:]),
        (code("print(x)", "two of them", nodes=(*ORDERS, *CLUES)), CLUES),
        (code({"queries": ["Gene::3064"]}, name="node_id_retriever"), CLUES[1:]),
        (code("print('Gene::30641', 'xGene::3064')"), ()),  # a whole word, or it is another id
        (says("Alzheimer's disease"), ()),  # a name is no id
    ],
    ids=["prose", "code", "printed", "seen", "retriever", "part", "name"],
)
def test_equation_4_a_clue_counts_once_its_id_stands_anywhere(step, touched):
    graded = reward(ends("wrong", step), item("Alzheimer's disease"))
    assert graded.touched == touched
    assert graded.clues == len(touched) / 2


def test_what_we_said_ourselves_touches_nothing():
    opening = (Message(role="system", content="For example: MATCH (g {id: 'Gene::3064'})"),)
    assert reward(ends("wrong", opening=opening), item("right")).touched == ()


def test_a_clue_that_an_item_names_twice_counts_once():
    graded = reward(ends("wrong", says(CLUES[0])), item("right", clues=(CLUES[0], CLUES[0])))
    assert (graded.touched, graded.clues) == (CLUES[:1], 1.0)


def test_an_item_without_clues_has_no_share():
    assert reward(ends("wrong"), item("right", clues=())).clues == 0.0


def test_clues_may_be_written_as_a_view_shows_them():
    step = code("cypher(\"MATCH (d:Disease {id: 'DOID:10652'}) RETURN d.name\")", "[{'d.name': 'x'}]")
    spellings = {"Disease::DOID:10652": ("DOID:10652",)}
    for mode in ("paper", "strict"):
        assert reward(ends("wrong", step), item("right"), mode=mode).touched == ()
        assert reward(ends("wrong", step), item("right"), mode=mode, spellings=spellings).touched == CLUES[:1]


# --------------------------------------------------------------------------------------------- equation 5: the cases

SHARES = st.floats(0, 1, allow_nan=False)


@given(SHARES, SHARES)
def test_equation_5(answer, clues):
    expected = answer if answer >= 0.4 else (answer + clues if answer + clues < 0.4 else 0.4)
    assert reward_by_cases(answer, clues) == expected
    assert reward_by_cases(answer, clues) >= min(answer, REWARD_THRESHOLD)
    assert reward_by_cases(answer, 0) == answer  # without clues it is the answer's part alone


def test_equation_5_at_its_seams():
    assert reward_by_cases(0.4, 1.0) == 0.4
    assert reward_by_cases(0.39, 0.0) == 0.39
    assert reward_by_cases(0.39, 0.5) == reward_by_cases(0.0, 1.0) == 0.4
    assert reward_by_cases(0.6, 1.0, threshold=0.7) == 0.7


def test_all_of_it_together():
    right, half = ends("Alzheimer's disease", says("Gene::3064")), ends("disease of bones and skin", says("Gene::3064"))
    assert total(right, item("Alzheimer's disease")) == 1.0
    graded = reward(half, item("Alzheimer's disease"))
    assert graded.answer == pytest.approx(2 / 7)
    assert (graded.clues, graded.total) == (0.5, 0.4)
    assert total(half, item("Alzheimer's disease"), clues=False) == pytest.approx(2 / 7)  # table 2's ablation


TEXTS = st.text(alphabet="ab 1,{}\\'.", max_size=20)


@given(TEXTS, st.sampled_from(["entity", "boolean", "number", "set"]), st.integers(0, 9), st.booleans())
def test_a_reward_lies_between_0_and_1_and_clues_never_harm(answer, kind, failed, clues):
    steps = [code("1/0", "no", error="no")] * failed
    for mode in ("paper", "strict"):
        with_clues = reward(ends(answer, *steps, says("Gene::3064")), item("a b", kind=kind), mode=mode)
        without = reward(ends(answer, *steps, says("Gene::3064")), item("a b", kind=kind), mode=mode, clues=False)
        assert 0 <= without.total <= with_clues.total <= 1
        assert with_clues == reward(ends(answer, *steps, says("Gene::3064")), item("a b", kind=kind), mode=mode)


# ------------------------------------------------------------------------------------------------ the strict values


@pytest.mark.parametrize(
    ("answer", "answers", "kind", "value"),
    [
        ("True", ("True",), "boolean", 1.0),
        ("yes", ("True",), "boolean", 1.0),
        ("No.", ("True",), "boolean", 0.0),
        ("1,234", ("1234",), "number", 1.0),
        ("250.0", ("250",), "number", 1.0),
        ("249", ("250",), "number", 0.0),
        ('**"250."**', ("250",), "number", 1.0),
        ("\u2212250", ("-250",), "number", 1.0),
        ("250 genes", ("250",), "number", 0.0),
        ("Sjogren syndrome", ("Sjögren syndrome",), "entity", 1.0),
        ("Ada H.", ("Ada Holm", "Ada H."), "entity", 1.0),
        ("Holm", ("Ada Holm", "Ada H."), "entity", 0.0),
        ("Salt, Night Ferry", ("Night Ferry", "Salt"), "set", 1.0),
        ("Salt", ("Night Ferry", "Salt"), "set", 2 / 3),
        ("Salt, Pepper", ("Night Ferry", "Salt"), "set", 0.5),
        ("Holm, Ada and Salt", ("Holm, Ada", "Salt"), "set", 1.0),
    ],
)
def test_strict_values_by_answer_type(answer, answers, kind, value):
    assert reward(ends(answer), item(*answers, kind=kind), mode="strict").answer == pytest.approx(value)


def test_strict_clues_are_those_that_were_chosen():
    def touched(*steps):
        return reward(ends("wrong", *steps), item("right"), mode="strict").touched

    query = "cypher(\"MATCH (d {id: 'Disease::DOID:10652'}) RETURN d\")"
    assert touched(code(query)) == CLUES[:1]
    assert touched(code(query, error="SyntaxError")) == ()  # a call that failed has looked at nothing
    assert touched(says("I know of Disease::DOID:10652.")) == ()
    assert touched(code("# Disease::DOID:10652 perhaps")) == ()
    assert touched(code("print(x)", "Gene::3064 in some text")) == ()
    assert touched(code("print(x)", nodes=(*ORDERS[: FEW_NODES - 2], *CLUES))) == CLUES
    assert touched(code("print(x)", nodes=(*ORDERS[: FEW_NODES - 1], *CLUES))) == ()
    assert touched(code({"queries": ["Gene::3064"], "topk": 2}, name="node_id_retriever")) == CLUES[1:]


def test_strict_arguments_that_are_no_json_name_nothing():
    call = ToolCall(id="c", name="code_interpreter", arguments='{"code": "\'Gene::3064\'"')
    step = Step(
        reply=Reply(message=Message(role="assistant", tool_calls=(call,))),
        observations=(Observed(call_id="c", text=""),),
    )
    assert reward(ends("wrong", step), item("right"), mode="strict").touched == ()


def test_failed_calls_cost_a_little_in_strict_mode_alone():
    def with_failures(count, mode):
        return reward(ends("Salt", *[code("1/0", "no", error="no")] * count), item("Salt"), mode=mode)

    assert with_failures(3, "strict").total == pytest.approx(1 - 3 * FAILED_COST)
    assert with_failures(50, "strict").total == pytest.approx(1 - MOST_COST)
    assert with_failures(50, "paper").total == 1.0
    assert with_failures(50, "strict").failed_calls == 50
    assert total(ends("wrong", code("1/0", "no", error="no")), item("right"), mode="strict") == 0.0


def test_calls_that_could_not_be_read_are_failed_ones():
    step = says("<tool_call>{</tool_call>").model_copy(update={"unread": 2})
    graded = reward(ends("Salt", step), item("Salt"), mode="strict")
    assert (graded.failed_calls, graded.total) == (2, pytest.approx(1 - 2 * FAILED_COST))


@pytest.mark.slow
def test_an_honest_answer_to_any_item_of_a_real_quiz_has_full_marks(build):
    nodes, edges = demo_records()
    quiz = generate_quiz(build(nodes, edges), 24, random_seed=3)
    assert {quiz_item.answer_type for quiz_item in quiz.items} == {"entity", "boolean", "number", "set"}
    for quiz_item in quiz.items:
        trajectory = ends(", ".join(quiz_item.answers) if quiz_item.answer_type == "set" else quiz_item.answers[-1])
        assert reward(trajectory, quiz_item, mode="strict").answer == 1.0, quiz_item
        first = ends(", ".join(quiz_item.answers) if quiz_item.answer_type == "set" else quiz_item.answers[0])
        assert reward(first, quiz_item).answer == 1.0, quiz_item


# -------------------------------------------------------------------------------------------------- over a whole run


def test_a_run_over_a_quiz_is_measured_by_its_trajectories(tmp_path):
    quiz = [item("Salt").model_copy(update={"id": "1"}), item("250", kind="number").model_copy(update={"id": "2"})]
    file = tmp_path / "quiz.jsonl"
    file.write_text(
        "".join(quiz_item.model_dump_json() + "\n" for quiz_item in quiz) + '{"id": "3", "question": "Of no quiz?"}\n'
    )
    examples = read_questions(file).examples
    by_question = {"1": ends("Salt"), "2": ends("250, 251", says("Gene::3064"))}
    lines = [
        RunLine(id=example.question.id, method="graphscout", question=example.question.text, answer="",
                gold=example.gold, fields=example.fields)
        for example in examples
    ]  # fmt: skip
    lines += [line.model_copy(update={"method": "vanilla"}) for line in lines]
    for number, trajectory in by_question.items():
        append_line(
            tmp_path / RUN_TRAJECTORIES,
            QuestionTrajectories(id=number, method="graphscout", trajectories=(trajectory,)).model_dump_json(),
        )
    facts = {"graph": "g", "graph_sha256": "", "nodes": 1, "edges": 0, "questions_sha256": "", "count": 3}
    manifest = RunManifest(dataset="jsonl", orienteer="0", python="3", created="now", **facts)
    ours, bare = score_runs(
        [StoredRun(tmp_path, manifest, examples, tuple(lines))], measures=["Reward", "Reward (strict)"]
    )
    assert {name: (measure.n, measure.mean) for name, measure in ours.measures.items()} == {
        "Reward": (2, pytest.approx((1 + 2 / 3) / 2)),
        "Reward (strict)": (2, 0.5),
    }
    assert bare.measures["Reward"].mean == 0.0


def stored(folder, quiz, *trajectories):
    """Return a run over a quiz, its n-th question answered by the n-th of these."""
    file = folder / "quiz.jsonl"
    file.write_text("".join(quiz_item.model_dump_json() + "\n" for quiz_item in quiz))
    examples = read_questions(file).examples
    lines = [
        RunLine(id=example.question.id, method="graphscout", question=example.question.text, answer="x",
                gold=example.gold, fields=example.fields)
        for example in examples
    ]  # fmt: skip
    for line, trajectory in zip(lines, trajectories, strict=True):
        append_line(
            folder / RUN_TRAJECTORIES,
            QuestionTrajectories(id=line.id, method="graphscout", trajectories=(trajectory,)).model_dump_json(),
        )
    facts = {"graph": "g", "graph_sha256": "", "nodes": 1, "edges": 0, "questions_sha256": "", "count": len(quiz)}
    manifest = RunManifest(dataset="jsonl", orienteer="0", python="3", created="now", **facts)
    return StoredRun(folder, manifest, examples, tuple(lines))


def test_a_question_without_a_gold_answer_has_no_reward(tmp_path):
    quiz = [item("Salt"), item().model_copy(update={"id": "2"}), item(kind="set").model_copy(update={"id": "3"})]
    run = stored(tmp_path, quiz, *[ends("Salt")] * 3)
    (row,) = score_runs([run], measures=["Reward", "Reward (strict)"])
    assert {name: (measure.n, measure.mean) for name, measure in row.measures.items()} == {
        "Reward": (1, 1.0),
        "Reward (strict)": (1, 1.0),
    }


def test_a_question_that_failed_is_worth_nothing_whatever_its_course_says(tmp_path):
    run = stored(tmp_path, [item("Salt")], ends("Salt"))
    failed = replace(run, lines=tuple(line.model_copy(update={"error": "the model failed"}) for line in run.lines))
    means = [score_runs([scored_run], measures=["Reward"])[0].measures["Reward"].mean for scored_run in (run, failed)]
    assert means == [1.0, 0.0]


def test_in_a_run_under_a_view_clues_may_be_written_as_it_shows_them(tmp_path):
    step = code("cypher(\"MATCH (d:Disease {id: 'DOID:10652'}) RETURN d.name\")", "[{'d.name': 'x'}]")
    one_of_three = item("right", clues=(*CLUES, "Gene::1"))
    plain = ends("wrong", step)
    viewed = plain.model_copy(
        update={"toolbox": ToolboxSpec(name="scouting", options={"code": {"view": {"label": "biomedical"}}})}
    )
    quiz = [one_of_three, one_of_three.model_copy(update={"id": "2"})]
    (row,) = score_runs([stored(tmp_path, quiz, plain, viewed)], measures=["Reward", "Reward (strict)"])
    assert [measure.mean for measure in row.measures.values()] == pytest.approx([(0 + 1 / 3) / 2] * 2)


# ------------------------------------------------------------------------------------------------- a real episode


@pytest.fixture
def scout(build):
    """Give a function that plays the replies of a model in turn, over a graph that a view names as the paper's."""
    pytest.importorskip("pydantic_monty")
    nodes = [
        Node("Disease::DOID:10652", "Disease", "Alzheimer's disease"),
        *(Node(f"Gene::{number}", "Gene", f"GENE{number}") for number in range(30)),
        Node("Pathway::PW1", "Pathway", "Cell Cycle"),
    ]
    edges = [Edge("Disease::DOID:10652", "downregulates", f"Gene::{number}") for number in range(30)]
    edges.append(Edge("Gene::7", "participates", "Pathway::PW1"))
    graph = build(nodes, edges)

    def play(*replies):
        def policy(messages, *_):
            return replies[min(len(replies) - 1, sum(message.role == "assistant" for message in messages))]

        solver = GraphScout(graph, ScriptedModel(policy), GraphScoutConfig(view="biomedical"))
        return solver.retrieve(Question(text="Which pathway?"), Allowance(reserve=0))

    identifiers = ViewIdentifiers(graph.arrays, View(label="biomedical"))
    clues = ("Disease::DOID:10652", "Gene::7", "Pathway::PW1")
    spellings = {clue: (identifiers.of(graph.arrays.ids.find(clue)),) for clue in clues}
    return play, item("Cell Cycle", clues=clues), spellings


def spoken(text):
    return f"<tool_call>{json.dumps({'name': 'code_interpreter', 'arguments': {'code': text}})}</tool_call>"


ALL = "rows = cypher(\"MATCH (d:Disease {id: 'DOID:10652'})-[:DISEASE_DOWNREGULATES_GENE]->(g) RETURN g.id AS id\")\n"
NEXT = "print(cypher(\"MATCH (g:Gene {id: '7'})-->(p:Pathway:biomedical) RETURN p.id AS id, p.name AS name\"))"


@pytest.mark.process
def test_an_episode_of_graphscout_is_worth_what_it_did(scout):
    play, quiz, spellings = scout
    result = play(spoken(ALL + "print(len(rows))"), spoken(NEXT), "\\answer{Cell Cycle}")
    rewards = {
        mode: reward(result.trajectories[0], quiz, mode=mode, spellings=spellings) for mode in ("paper", "strict")
    }
    assert {graded.answer_text for graded in rewards.values()} == {result.answer} == {"Cell Cycle"}
    assert {graded.total for graded in rewards.values()} == {1.0}
    assert rewards["strict"].touched == rewards["paper"].touched == quiz.clue_nodes


def test_ids_in_an_argument_that_a_tool_does_not_know_are_not_named(scout):
    play, quiz, spellings = scout
    arguments = {"queries": ["zzzz"], "note": ["DOID:10652", "7", "PW1"]}
    stuffed = json.dumps({"name": "node_id_retriever", "arguments": arguments})
    trajectory = play(f"<tool_call>{stuffed}</tool_call>", "\\answer{Metabolism}").trajectories[0]
    assert total(trajectory, quiz, spellings=spellings) == REWARD_THRESHOLD
    assert reward(trajectory, quiz, mode="strict", spellings=spellings).touched == ()


def test_errors_that_the_code_itself_catches_are_none(scout):
    play, quiz, _ = scout
    caught = "try:\n    cypher('MATCH')\nexcept Exception:\n    print('no')"
    trajectory = play(spoken(caught), "\\answer{Cell Cycle}").trajectories[0]
    graded = reward(trajectory, quiz, mode="strict")
    assert (graded.failed_calls, graded.total) == (0, 1.0)


@pytest.mark.process
def test_an_episode_that_dumps_fails_and_guesses(scout):
    play, quiz, spellings = scout
    result = play(
        spoken(ALL + "print(rows)"), spoken("print(cypher('MATCH (x:Nothing) RETURN x'))"), "\\answer{Metabolism}"
    )
    trajectory = result.trajectories[0]
    paper = reward(trajectory, quiz, spellings=spellings)
    strict = reward(trajectory, quiz, mode="strict", spellings=spellings)
    assert (paper.total, paper.touched) == (REWARD_THRESHOLD, quiz.clue_nodes[:2])
    assert (strict.failed_calls, strict.touched) == (1, quiz.clue_nodes[:1])  # the gene stood among thirty
    assert strict.total == pytest.approx(1 / 3 - FAILED_COST)


# ------------------------------------------------------------------------------------------------- ways to game each

DUMP = code("print(rows)", " ".join([*ORDERS, *CLUES]), nodes=(*ORDERS, *CLUES))
LITERAL = code("ids = [" + ", ".join(f"'{node_id}'" for node_id in [*ORDERS, *CLUES]) + "]")
BROKEN = code("ids = ['Disease::DOID:10652', 'Gene::3064'", "SyntaxError", error="SyntaxError")
PAIR = item("Alzheimer's disease", "Parkinson's disease", kind="set")

GAMES = {
    # name: trajectory, item, what the paper's mode pays, what the strict mode pays
    "dump ids by printing the graph": (ends("wrong", DUMP), item("right"), 0.4, 0.0),
    "dump ids in a call": (ends("wrong", LITERAL), item("right"), 0.4, 0.0),
    "dump ids in a call that fails": (ends("wrong", BROKEN), item("right"), 0.4, 0.0),
    "dump ids in prose": (ends("wrong", says(" ".join(CLUES))), item("right"), 0.4, 0.0),
    "hedge a boolean": (ends("True or False"), item("True", kind="boolean"), 0.5, 0.0),
    "name several numbers": (ends("250, 251"), item("250", kind="number"), 2 / 3, 0.0),
    "name several entities": (ends("Salt or Pepper"), item("Salt"), 0.5, 0.0),
    "a wrong date shares its words": (ends("3 March 2020"), item("4 March 2020"), 2 / 3, 0.0),
    "a wrong name shares its words": (ends("histone protein 4"), item("histone protein 2"), 2 / 3, 0.0),
    "wrong items share their words": (ends("Crohn's disease, Huntington's disease"), PAIR, 0.5, 0.0),
    "repeat gold words": (ends("salt salt salt"), item("Salt"), 0.5, 0.0),
    "answer with everything": (ends(", ".join(["Salt", *ORDERS])), item("Salt"), 2 / 402, 0.0),
    "list everything for a set": (
        ends(", ".join([*PAIR.answers, *ORDERS])),
        PAIR,
        2 * 4 / (404 + 4),
        2 * 2 / (402 + 2),
    ),
    "an empty answer with every clue": (ends("", DUMP), item("right"), 0.0, 0.0),
    "several wrappers": (walk(says("\\answer{Salt} or \\answer{Pepper}")), item("Salt"), 0.0, 0.0),
    "a wrapper in a thought": (walk(says("<think>\\answer{Salt}</think> Hm.")), item("Salt"), 0.0, 0.0),
    "a number in words": (ends("two hundred and fifty"), item("250", kind="number"), 0.0, 0.0),
    "a number in a sentence": (ends("there are 250 or so"), item("250", kind="number"), 2 / 6, 0.0),
    "about a number": (ends("~250"), item("250", kind="number"), 1.0, 0.0),
    "a bound for a number": (ends(">250"), item("250", kind="number"), 1.0, 0.0),
    "a span for a number": (ends("2-50"), item("250", kind="number"), 1.0, 0.0),
    "a share for a number": (ends("25/0"), item("250", kind="number"), 1.0, 0.0),
    "a fraction for a number": (ends("25,0"), item("250", kind="number"), 1.0, 0.0),
    "the opposite of a boolean": (ends("!True"), item("True", kind="boolean"), 1.0, 0.0),
    "a list for an entity": (ends('["Salt", "Pepper"]'), item("Salt"), 2 / 3, 0.0),
    "items that are not parted": (
        ends("Parkinson's disease Alzheimer's disease"),
        PAIR,
        1.0,
        0.0,
    ),
    "every id in one string": (ends("wrong", code(f"ids = '{' '.join(CLUES)}'.split()")), item("right"), 0.4, 0.0),
}
UNSTOPPED = {
    # What both modes pay though little or nothing was looked at: named in docs/guides/evaluation.md.
    "one search for the names of the question": (
        ends("wrong", code({"queries": ["Alzheimer's disease"]}, "...", nodes=CLUES[:1], name="node_id_retriever")),
        item("right"),
        0.4,
    ),
    "ids in a comment of code that asks nothing": (
        ends("wrong", code("# 'Disease::DOID:10652' 'Gene::3064'\nprint(1)", "1")),
        item("right"),
        0.4,
    ),
    "twenty nodes a call, call after call": (
        ends("wrong", *(code("print(page)", nodes=(*ORDERS[:18], clue)) for clue in CLUES)),
        item("right"),
        0.4,
    ),
    "a guess": (ends("True"), item("True", kind="boolean"), 1.0),
}


@pytest.mark.parametrize("name", GAMES)
def test_what_a_trick_earns(name):
    trajectory, of, paper, strict = GAMES[name]
    assert total(trajectory, of) == pytest.approx(paper)
    assert total(trajectory, of, mode="strict") == pytest.approx(strict)


@pytest.mark.parametrize("mode", ["paper", "strict"])
@pytest.mark.parametrize("name", UNSTOPPED)
def test_what_neither_mode_stops(name, mode):
    trajectory, of, paid = UNSTOPPED[name]
    assert total(trajectory, of, mode=mode) == paid


def test_no_trick_pays_better_strictly_than_honesty():
    honest = {"entity": "Salt", "boolean": "True", "number": "250"}
    for kind, answer in honest.items():
        assert total(ends(answer), item(answer, kind=kind), mode="strict") == 1.0
    assert max(total(trajectory, of, mode="strict") for trajectory, of, _, _ in GAMES.values()) < 0.05


def test_many_strings_are_too_many_to_be_a_choice():
    few = code("\n".join(f"print('x{number}')" for number in range(10)) + "\nprint('Gene::3064')")
    many = code("\n".join(f"print('x{number}')" for number in range(FEW_STRINGS)) + "\nprint('Gene::3064')")
    assert reward(ends("wrong", few), item("right"), mode="strict").touched == CLUES[1:]
    assert reward(ends("wrong", many), item("right"), mode="strict").touched == ()


def test_another_mode_is_told():
    with pytest.raises(BadOption, match="'lenient'.*paper, strict"):
        reward(Trajectory(question=Question(text="?"), method="graphscout"), item("x"), mode="lenient")
