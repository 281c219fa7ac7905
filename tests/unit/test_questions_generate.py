"""Questions from a graph: the same for the same seed, balanced, sound, and paraphrased within limits."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from orienteer.display import escape_json
from orienteer.errors import BadInput, BadOption, ModelError, UnknownType, UsageError
from orienteer.graph import Graph
from orienteer.ingest import build_graph
from orienteer.lab.cli import questions_command
from orienteer.lab.evaluation import graph_hash
from orienteer.lab.quizzes import (
    PLAN_PATTERNS,
    anchor_fault,
    generate_questions,
    is_leaking_answer,
    paraphrase_questions,
    questions_as_lines,
)
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.records import Edge, Node
from orienteer.serve import CommandOutput, TotalBudgetFlags

pytestmark = pytest.mark.slow


def _library():
    """Return a graph of books: one edge type is a thousand times rarer than the commonest."""
    subjects = [
        "sailing",
        "cooking",
        "painting",
        "stars",
        "chess",
        "weaving",
        "bread",
        "rope",
        "glass",
        "kites",
        "honey",
    ]
    nodes = [
        Node(f"b{n}", "book", f"Volume {_called(n)}", f"A guide to {subjects[n % 11]} at home.") for n in range(160)
    ]
    nodes += [Node(f"p{n}", "person", f"Writer {_called(n)}", "Writes.") for n in range(40)]
    nodes += [Node(f"t{n}", "topic", f"Topic {_called(n)}") for n in range(12)]
    edges = [Edge(f"p{n % 40}", "wrote", f"b{n}") for n in range(160)]
    edges += [Edge(f"b{n}", "has_topic", f"t{n * m % 12}") for n in range(160) for m in (1, 5)]
    edges += [Edge("p1", "illustrates", "b7"), Edge("p1", "illustrates", "b9"), Edge("p2", "illustrates", "b7")]
    return nodes, edges


def _called(number):
    marks = ("mil", "dor", "ven", "sal", "bet", "cun", "fir", "gos", "hap", "jil", "kem", "lox", "nuv")
    return (marks[number % 13] + marks[number // 13]).capitalize()


@pytest.fixture(scope="module")
def library(build):
    return build(*_library())


@pytest.fixture(scope="module")
def generated(library):
    return generate_questions(library, 60, random_seed=7)


@pytest.mark.process
def test_the_same_seed_gives_the_same_bytes_in_any_process(library, generated):
    code = (
        "import sys; from orienteer.graph import Graph;"
        "from orienteer.lab.quizzes import questions_as_lines as as_lines;"
        "from orienteer.lab.quizzes import generate_questions as ask; graph = Graph.open(sys.argv[1]);"
        "sys.stdout.buffer.write(as_lines(ask(graph, 60, random_seed=7).items).encode())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(library.path)],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        check=True,
    )
    assert ran.stdout.decode() == questions_as_lines(generated.items)


def test_other_seeds_give_other_questions(library, generated):
    others = generate_questions(library, 60, random_seed=8)
    assert {one.question for one in others.items} != {one.question for one in generated.items}


def test_the_same_sources_give_the_same_hash(library, generated):
    again = Graph.from_records(*_library())
    assert questions_as_lines(generate_questions(again, 60, random_seed=7).items) == questions_as_lines(generated.items)
    assert {one.graph_sha256 for one in generated.items} == {graph_hash(again)}  # as a run's manifest has it


def test_patterns_get_their_turn(generated):
    counts = Counter(one.pattern for one in generated.items)
    fed = [counts[name] for name in PLAN_PATTERNS if name not in generated.exhausted]
    assert len(fed) >= 4
    assert max(fed) - min(fed) <= 1


def test_a_rare_edge_type_gets_its_turn(library):
    made = generate_questions(library, 8, random_seed=1, patterns=["one_hop"]).items
    assert "illustrates" in {name for one in made for name in one.edge_types}


def test_no_question_is_asked_twice_or_names_its_answer(library, generated):
    texts = [one.question.casefold() for one in generated.items]
    assert len(set(texts)) == len(texts)
    for one in generated.items:
        assert not [name for name in one.answers if name.casefold() in one.question.casefold()]
        for anchor in one.anchors:
            assert library.node(anchor).name in one.question
        assert one.question[0].isupper()
        assert one.question.endswith(("?", "."))


def test_constraints_are_in_the_question_and_in_the_answers(library, generated):
    bound = [one for one in generated.items if one.constraint]
    assert bound
    for one in bound:
        assert str(one.constraint["phrase"]) in one.question
        for node in one.nodes:
            assert set(one.constraint["terms"]) <= set(library.arrays.tokenizer.terms(library.node(node).text))


def test_difficulty_counts_what_must_come_together(generated):
    for question, plan in zip(generated.items, generated.plans, strict=True):
        things = sum(len(condition.steps) for condition in plan.conditions)
        things += (question.constraint is not None) + (len(question.nodes) > 5)
        assert question.difficulty == {1: "simple", 2: "medium"}.get(things, "hard")
        assert (question.hops, question.anchor_count) == (
            max(PLAN_PATTERNS[question.pattern].hops),
            len(question.anchors),
        )


def test_filters(library):
    made = generate_questions(library, 10, random_seed=1, patterns=["two_hops"], answer_types=["person"]).items
    assert made
    assert {(one.pattern, one.node_type) for one in made} == {("two_hops", "person")}
    with pytest.raises(BadOption, match="two_hops"):
        generate_questions(library, 1, patterns=["two_hop"])
    with pytest.raises(UnknownType):
        generate_questions(library, 1, answer_types=["persons"])
    with pytest.raises(BadOption):
        generate_questions(library, -1)


def test_a_graph_that_gives_no_more_says_why(build):
    graph = build([Node("a", "x", "Alpha"), Node("b", "x", "Beta"), Node("c", "y", "Gamma")], [Edge("a", "sees", "c")])
    found = generate_questions(graph, 50)
    assert len(found.items) < 50
    assert set(found.exhausted) == set(PLAN_PATTERNS)
    assert found.rejected["trivial"]  # the only node of its type
    assert generate_questions(build([Node("a", "x", "Alpha")]), 5).items == ()
    assert generate_questions(graph, 0).items == ()


def test_of_documents_nobody_asks_for_the_edges_that_a_program_made(tmp_path):
    (tmp_path / "notes").mkdir()
    for number, name in enumerate(("Salt Bay", "Low Tide", "Night Ferry", "Grey Quay")):
        text = f"Every ship of {name} goes by way of [Grey Quay](grey-quay.md)."
        parts = "".join(f"\n## Part {part} of {name}\n\n{text}\n" for part in range(4))
        (tmp_path / "notes" / f"{name.lower().replace(' ', '-')}.md").write_text(f"# {name}\n\nNo. {number}\n{parts}")
    build_graph([tmp_path / "notes"], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    asked = {edge_type for one in generate_questions(graph, 100).items for edge_type in one.edge_types}
    assert {"part_of", "mentions"} <= set(graph.arrays.types.edges)
    assert asked <= {"mentions", "links_to"}
    assert asked


def test_names_that_cannot_be_anchors(build):
    graph = build(
        [
            Node("1", "x", "Mercury"),
            Node("2", "x", "mercury"),
            Node("3", "x", "GO:0006230"),
            Node("4", "x", "a" * 200),
            Node("5", "x", ""),
            Node("6", "x", "Venus"),
            Node("7", "y", "Venus"),
            Node("8", "x", "3f2a9c81d07b4e55"),
            Node("9", "x", "http://example.org/9"),
            Node("10", "x", "IL6"),
        ]
    )
    faults = {node: anchor_fault(graph, graph.arrays.row(node)) for node in map(str, range(1, 11))}
    assert {node for node, fault in faults.items() if fault == "ambiguous"} == {"1", "2"}
    assert {node for node, fault in faults.items() if fault == "unwritable"} == {"3", "4", "5", "8", "9"}
    assert {node for node, fault in faults.items() if fault is None} == {"6", "7", "10"}


def test_leaks(build):
    graph = build([Node("1", "gene", "Insulin", aliases=("IN", "ins gene")), Node("2", "gene", "C++")])
    assert is_leaking_answer(graph, "Which genes make insulin?", [0])
    assert is_leaking_answer(graph, "Which is the Ins  Gene?", [0])
    assert is_leaking_answer(graph, "Which genes act IN it?", [0])
    assert not is_leaking_answer(graph, "Which genes act in it?", [0])
    assert not is_leaking_answer(graph, "Which genes make insulins?", [0])


# ---------------------------------------------------------------------------------------------------- paraphrases


def _said(policy):
    return ScriptedModel(lambda messages, tools, sampling: policy(messages[-1].content))


def test_a_paraphrase_keeps_the_plain_words(library, generated):
    found = paraphrase_questions(
        library, generated.items, model=_said(lambda text: f"Say: {text}"), run=Allowance(reserve=0)
    )
    assert found.stopped is None
    assert [one.plain for one in found.questions] == [one.question for one in generated.items]
    assert {one.question.startswith("Say: ") for one in found.questions} == {True}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (lambda text: "Which ones?", "an anchor's name is lost"),
        (lambda text: f"{text}\nThe answer is easy.", "no single line of text"),
        (lambda text: "", "no single line of text"),
    ],
)
def test_an_unsound_paraphrase_is_dropped(library, generated, reply, reason):
    found = paraphrase_questions(library, generated.items[:5], model=_said(reply), run=Allowance(reserve=0))
    assert found.questions == generated.items[:5]
    assert found.kept_plain == {reason: 5}


def test_a_paraphrase_may_not_name_an_answer_or_lose_the_constraint(library, generated):
    first = generated.items[0]
    leaks = paraphrase_questions(
        library, [first], model=_said(lambda text: f"{text} {first.answers[0]}"), run=Allowance(reserve=0)
    )
    assert leaks.kept_plain == {"an answer is named": 1}
    bound = next(one for one in generated.items if one.constraint)
    phrase = str(bound.constraint["phrase"])
    lost = paraphrase_questions(
        library, [bound], model=_said(lambda text: text.replace(phrase, "")), run=Allowance(reserve=0)
    )
    assert lost.kept_plain == {"the words of the constraint are lost": 1}


def test_the_budget_of_paraphrases_is_kept(library, generated):
    run = Allowance(Budget(calls=3), reserve=0)
    found = paraphrase_questions(library, generated.items, model=_said(lambda text: f"Say: {text}"), run=run)
    assert sum(one.plain is not None for one in found.questions) == 3
    assert found.stopped is not None
    assert run.usage().calls == 3


def test_a_dead_model_leaves_the_questions_plain(library, generated):
    def fail(text):
        raise ModelError("gone")

    found = paraphrase_questions(library, generated.items, model=_said(fail), run=Allowance(reserve=0))
    assert found.questions == generated.items
    assert str(found.stopped) == "gone"


# ---------------------------------------------------------------------------------------------------- the command


def test_the_command_writes_a_file_and_says_what_it_did(library, generated, tmp_path, capsys):
    target = tmp_path / "q.jsonl"
    questions_command(
        CommandOutput(form="json"), library.path, target, count=60, random_seed=7, budget=TotalBudgetFlags()
    )
    captured = capsys.readouterr()
    summary = json.loads(captured.out)
    lines = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert target.read_text(encoding="utf-8") == escape_json(questions_as_lines(generated.items))
    assert [file.name for file in tmp_path.iterdir()] == ["q.jsonl"]
    assert summary["questions"] == len(lines) == sum(summary["patterns"].values())
    assert summary["rejected"] == dict(generated.rejected)
    assert "rejected" in captured.err
    assert {
        "id",
        "question",
        "nodes",
        "answers",
        "answer_type",
        "pattern",
        "difficulty",
        "anchors",
        "gold_query",
    } <= set(lines[0])


def test_the_command_writes_to_standard_output(library, generated, capsys):
    from pathlib import Path

    questions_command(
        CommandOutput(quiet=True), library.path, Path("-"), count=60, random_seed=7, budget=TotalBudgetFlags()
    )
    captured = capsys.readouterr()
    assert captured.out == escape_json(questions_as_lines(generated.items))
    assert captured.err == ""
    with pytest.raises(UsageError, match="-o"):
        questions_command(CommandOutput(form="json"), library.path, Path("-"), budget=TotalBudgetFlags())


def test_the_command_says_that_there_are_fewer(library, tmp_path, capsys):
    questions_command(
        CommandOutput(),
        library.path,
        tmp_path / "q.jsonl",
        count=500,
        patterns=["one_hop"],
        types=["topic"],
        budget=TotalBudgetFlags(),
    )
    assert "500 were asked for: the graph gives no more questions of one_hop" in capsys.readouterr().err
    with pytest.raises(BadInput, match="folder"):
        questions_command(CommandOutput(), library.path, tmp_path / "none" / "q.jsonl", budget=TotalBudgetFlags())
    with pytest.raises(BadInput, match="folder"):
        questions_command(CommandOutput(), library.path, tmp_path, budget=TotalBudgetFlags())
