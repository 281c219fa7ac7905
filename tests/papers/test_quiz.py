"""GraphScout (003), section 3.3 and appendix B.3: what a quiz without a model must keep to, rule by rule.

Answers and shapes are read off the gold queries by `quiz_oracle`, which shares no code with what wrote them.
"""

import json
import re
from collections import Counter
from itertools import product

import numpy as np
import pytest

import quiz_oracle as oracle
from fakes.inside import inside
from orienteer.cypher import Cypher
from orienteer.errors import BadOption
from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.lab.evaluation import QUIZ_CELLS, QuizCell, read_questions
from orienteer.lab.quizzes import (
    DROP_REASONS,
    MOST_EDGES,
    MOST_IN_SET,
    EdgeStep,
    PlanDrawer,
    ProofFault,
    QuestionLedger,
    QuestionPlan,
    WalkCondition,
    fits_cell,
    generate_quiz,
    item_faults,
    node_fault,
    nodes_of_quiz,
    prove_query,
    quiz_balance,
)
from orienteer.records import Edge, Node

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def languages(scratch):
    """Give the graph about programming languages that ships with the package."""
    return Graph.from_records(*demo_records(), path=scratch())


@pytest.fixture(scope="module")
def quiz(languages):
    """Give two rounds of the grid."""
    return generate_quiz(languages, 2 * len(QUIZ_CELLS), random_seed=7)


def of(quiz, **wanted):
    """Return the items whose fields are so; there is at least one."""
    found = [item for item in quiz.items if all(getattr(item, name) == value for name, value in wanted.items())]
    assert found, wanted
    return found


# -------------------------------------------------------------------------------------------------- B.3, the grid


def test_the_grid_is_all_but_what_is_hybrid_and_simple():
    axes = ("entity", "boolean", "number", "set"), ("<h,_,_>", "<h,r,_>", "<h,*,t>", "<h,r,t>", "hybrid")
    every = set(product(*axes, ("simple", "medium", "hard")))
    assert set(QUIZ_CELLS) == {cell for cell in every if (cell[1], cell[2]) != ("hybrid", "simple")}
    assert len(QUIZ_CELLS) == 56


def test_cells_take_turns_and_what_the_graph_cannot_give_is_said(quiz):
    counts = quiz_balance(quiz.items)
    assert len(quiz.items) == sum(counts.values())
    assert all(counts[cell] >= 2 or cell in quiz.exhausted for cell in QUIZ_CELLS)


def test_a_short_quiz_has_as_many_of_each_answer_type(languages):
    items = generate_quiz(languages, 12, random_seed=3).items
    assert Counter(item.answer_type for item in items) == {"entity": 3, "boolean": 3, "number": 3, "set": 3}


# ------------------------------------------------------------------------------------------ every item, proved again


def test_every_gold_query_gives_its_answer_without_the_engine(languages, quiz):
    for item in quiz.items:
        ids = oracle.answered(languages, item.gold_query, item.gold_parameters)
        if item.answer_type in ("entity", "set"):
            assert ids == list(item.nodes), item.question
        elif item.answer_type == "number":
            assert (str(len(ids)),) == item.answers, item.question
        else:
            assert (str(len(ids) > 0),) == item.answers, item.question


def test_every_item_passes_when_its_gold_query_is_run_again(languages, quiz):
    assert not [fault for item in quiz.items for fault in item_faults(languages, item)]


# ------------------------------------------------------------------------------------------------ B.3.1, difficulty


def test_simple_is_one_or_two_hops_along_one_type(quiz):
    for item in of(quiz, difficulty="simple"):
        assert oracle.hops(item.gold_query) in (1, 2), item.gold_query
        assert len(set(oracle.edge_types(item.gold_query))) == 1, item.gold_query


def test_medium_is_two_to_four_hops_and_two_types_at_least(quiz):
    for item in of(quiz, difficulty="medium"):
        types, nodes = set(oracle.edge_types(item.gold_query)), oracle.node_types(item.gold_query)
        assert 2 <= oracle.hops(item.gold_query) <= 4, item.gold_query
        assert len(types) >= 2 or len(nodes) >= 2, item.gold_query


@pytest.mark.parametrize(("second", "difficulty"), [("has tag", "simple"), ("made for", "medium")])
def test_two_steps_along_one_named_type_are_simple_and_along_two_medium(second, difficulty):
    steps = [EdgeStep("tag", name, False, "package") for name in ("has tag", second)]
    plan = QuestionPlan("<h,r,t>", tuple(WalkCondition(row, (step,)) for row, step in enumerate(steps)))
    fitting = [one for one in ("simple", "medium", "hard") if fits_cell(plan, QuizCell("set", "<h,r,t>", one))]
    assert fitting == [difficulty]


def test_hard_is_three_to_five_hops_along_several_types(quiz):
    for item in of(quiz, difficulty="hard"):
        types, nodes = set(oracle.edge_types(item.gold_query)), oracle.node_types(item.gold_query)
        assert 3 <= oracle.hops(item.gold_query) <= 5, item.gold_query
        assert len(types) >= 2 or (types == {None} and len(nodes) >= 2), item.gold_query


def test_the_hops_of_an_item_are_those_of_its_query(quiz):
    assert all(item.hops == oracle.hops(item.gold_query) for item in quiz.items)


# --------------------------------------------------------------------------------------------------- B.3.2, pattern


@pytest.mark.parametrize(
    ("pattern", "named", "is_typed"),
    [("<h,_,_>", 1, False), ("<h,r,_>", 1, True), ("<h,*,t>", 2, False), ("<h,r,t>", 2, True)],
)
def test_a_pattern_gives_its_nodes_and_its_edge_types_or_not(quiz, pattern, named, is_typed):
    for item in of(quiz, pattern=pattern):
        assert len(item.gold_parameters) == len(item.anchors) == named
        assert {edge_type is not None for edge_type in oracle.edge_types(item.gold_query)} == {is_typed}


def test_a_hybrid_is_of_two_patterns_and_goes_on_from_the_one_node_that_the_first_finds(languages, quiz):
    for item in of(quiz, pattern="hybrid"):
        asked = oracle.read(item.gold_query)
        stages = [
            (len(paths), paths[0].edges[0].edge_type is None)
            for unknown in ("first", "x")
            if (paths := [path for path in asked.paths if path.edges[-1].node == unknown])
        ]
        assert len(stages) == 2
        assert any(path.start == "first.id" and path.edges[-1].node == "x" for path in asked.paths)
        assert asked.others, "that the node is the only one is proved"
        first, second = stages
        # A second stage that asks whether its node is joined to a named one has one path, and is of a `t` pattern.
        assert first != second or f"x.id = $node{len(item.anchors)}" in item.gold_query


# ----------------------------------------------------------------------------------------------- B.3.3, answer types


def test_an_entity_is_the_only_one_and_counted_by_an_aggregation(quiz):
    for item in of(quiz, answer_type="entity"):
        assert len(item.nodes) == 1
        assert "count(DISTINCT x)" in item.gold_query


def test_a_set_has_two_to_ten_nodes_and_its_size_is_computed(quiz):
    for item in of(quiz, answer_type="set"):
        assert 2 <= len(item.nodes) <= MOST_IN_SET == 10
        assert len(item.answers) == len(item.nodes)
        assert "count(DISTINCT x)" in item.gold_query


def test_a_boolean_is_true_where_the_count_is_above_nothing_and_has_a_witness(languages, quiz):
    for item in of(quiz, answer_type="boolean", answers=("True",)):
        met = oracle.answered(languages, item.gold_query, item.gold_parameters)
        assert set(met) & set(item.clue_nodes)


def test_a_number_is_one_row_of_an_aggregation_without_a_limit(languages, quiz):
    for item in of(quiz, answer_type="number"):
        assert Cypher(languages).query(item.gold_query, item.gold_parameters).total == 1
        assert "limit" not in item.gold_query.lower()
        assert int(item.answers[0]) >= 2


def test_as_many_booleans_are_true_as_false_in_each_place_and_in_all(quiz):
    counts = Counter((item.cell, item.answers[0]) for item in of(quiz, answer_type="boolean"))
    for cell in {cell for cell, _ in counts}:
        assert abs(counts[cell, "True"] - counts[cell, "False"]) <= 1, cell
    values = Counter(item.answers[0] for item in of(quiz, answer_type="boolean"))
    assert abs(values["True"] - values["False"]) <= 1


def test_a_statement_that_is_false_might_have_been_true(languages, quiz):
    for item in of(quiz, answer_type="boolean", pattern="<h,r,t>", difficulty="simple", answers=("False",)):
        (path,) = oracle.read(item.gold_query).paths
        (edge,) = path.edges
        assert languages.node(item.anchors[1]).type == edge.node_type
        somewhere = languages.neighbors(item.anchors[1], edge_types=[edge.edge_type], node_types=[path.start_type])
        assert somewhere.total > 0
        assert item.anchors[0] not in {hit.id for hit in somewhere.hits}


# ----------------------------------------------------------------------------------------- 3.3.2 and 3.3.4, seed, clues


def test_the_seed_is_of_a_type_drawn_first(scratch):
    nodes = [Node(f"s{at}", "song", f"Song number {at} of many") for at in range(900)]
    nodes += [Node(f"b{at}", "band", f"Band with the number {at}") for at in range(9)]
    graph = Graph.from_records(nodes, [Edge("b0", "sings", "s0")], path=scratch())
    drawer = PlanDrawer(graph, np.random.default_rng(5))
    drawn = [graph.arrays.ids[drawer.seed()[0]] for _ in range(2_000)]
    bands = Counter(one for one in drawn if one.startswith("b"))
    assert 900 < sum(bands.values()) < 1_100  # of 2,000: half, within four and a half standard deviations
    assert len(bands) == 9
    assert max(bands.values()) < 2 * min(bands.values())


def test_no_question_begins_from_a_hub(build):
    nodes = [
        Node("hub", "station", "Grand Central"),
        *(Node(f"t{at}", "train", f"Train Number {at}") for at in range(MOST_EDGES + 1)),
    ]
    wheel = build(nodes, [Edge(node.id, "calls at", "hub") for node in nodes[1:]])
    assert node_fault(wheel, wheel.arrays.row("hub")) == "hub"
    assert node_fault(wheel, wheel.arrays.row("t1")) is None


def test_a_node_that_is_described_is_not_named(build, monkeypatch):
    monkeypatch.setattr(inside(generate_quiz), "_PATIENCE", 60)
    cities = ("Bonn", "Graz", "Lund", "Pisa", "Brno", "Metz")
    nodes = [Node(city, "city", f"{city} am Fluss", aliases=(city,)) for city in cities]
    nodes += [Node(f"{city} {what}", "club", f"{city} {what}") for city in cities for what in ("Rowers", "Fencers")]
    nodes += [Node(f"m{at}", "member", f"Member Number {at}") for at in range(24)]
    edges = [Edge(node.id, "based in", node.id.split()[0]) for node in nodes if node.type == "club"]
    clubs = [edge.source for edge in edges]
    edges += [Edge(f"m{at}", "member of", clubs[at * step % 12]) for at in range(24) for step in (1, 5)]
    graph = build(nodes, edges)
    found = generate_quiz(graph, len(QUIZ_CELLS), random_seed=2)
    assert found.rejected["leaking"] > 0
    for item in of(found, pattern="hybrid"):
        (described,) = oracle.described(graph, item.gold_query, item.gold_parameters)
        assert described not in item.question.replace("'", " ").split(), item.question


def test_clues_are_what_question_and_answer_are_made_of(languages, quiz):
    for item in quiz.items:
        assert {*item.anchors, *item.nodes} <= set(item.clue_nodes)
        assert len(set(item.clue_nodes)) == len(item.clue_nodes)
        assert all(languages.arrays.ids.find(node) is not None for node in item.clue_nodes)
        assert set(item.gold_parameters.values()) == set(item.anchors)


def test_a_question_names_its_anchors_and_neither_an_id_nor_an_answer(languages, quiz):
    for item in quiz.items:
        assert all(languages.node(node).name in item.question for node in item.anchors)
        assert not any(node in item.question for node in item.clue_nodes)
        names = {languages.node(node).name for node in item.nodes}
        assert not any(f" {name} " in f" {item.question} " for name in names), item.question


def test_a_named_node_that_would_answer_as_well_is_ruled_out_by_words(languages):
    """What the query leaves out and the question does not, a reader would take for an answer: then it says `other`."""
    left_out = 0
    for seed in range(3):
        for item in generate_quiz(languages, len(QUIZ_CELLS), random_seed=seed).items:
            if "x.id = $node" in item.gold_query:  # whether two named nodes are joined
                continue
            gold = oracle.answered(languages, item.gold_query, item.gold_parameters)
            more = set(oracle.literal(languages, item.gold_query, item.gold_parameters)) - set(gold)
            left_out += bool(more)
            assert not more or re.search(r"\b(an)?other ", item.question), (item.question, more)
            paths = oracle.read(item.gold_query).paths
            described_by = {item.gold_parameters[path.start[1:]] for path in paths if path.edges[-1].node == "first"}
            assert not more & described_by, "`other` is said of what the question goes on from"
            if item.pattern == "hybrid":
                proof = item.gold_query, item.gold_parameters
                alike = set(oracle.described(languages, *proof, is_literal=True))
                alike -= set(oracle.described(languages, *proof))
                assert not alike or re.search(r"[Tt]he only other ", item.question), (item.question, alike)
    assert left_out > 3


def test_no_question_and_no_query_comes_twice(quiz):
    questions = [item.question.casefold() for item in quiz.items]
    proofs = [(item.answer_type, item.gold_query, str(item.gold_parameters)) for item in quiz.items]
    assert len(set(questions)) == len(questions)
    assert len(set(proofs)) == len(proofs)


def test_nodes_that_are_to_be_avoided_are_no_clues(languages, quiz):
    avoid = frozenset(node for item in quiz.items[:8] for node in item.clue_nodes)
    others = generate_quiz(languages, 16, random_seed=7, avoid=avoid)
    assert len(others.items) == 16
    assert not any(avoid & set(item.clue_nodes) for item in others.items)


@pytest.mark.parametrize(
    ("line", "nodes"),
    [
        ({"question": "Who designed Pascal?", "nodes": ["person:niklaus-wirth"]}, {"pascal", "niklaus-wirth"}),
        ({"question": "Which one came first?", "answers": ["Oberon", "Modula-2"]}, {"oberon", "modula-2"}),
        ({"question": "Which one?", "answers": ["x"], "clue_nodes": ["language:go"]}, {"go"}),
        ({"question": "What is written in Go?", "answers": ["x"]}, {"go"}),
        ({"question": "Where does one go?", "answers": ["x"]}, set()),
    ],
)
def test_what_is_avoided_is_named_or_answers_or_is_a_clue(languages, tmp_path, line, nodes):
    file = tmp_path / "test.jsonl"
    file.write_text(json.dumps({"id": "1", **line}) + "\n")
    assert {node.partition(":")[2] for node in nodes_of_quiz(languages, read_questions(file).examples)} == nodes


def test_the_same_seed_gives_the_same_quiz_and_another_seed_another(languages, quiz):
    again, other = (generate_quiz(languages, 12, random_seed=seed).items for seed in (7, 8))
    assert again == quiz.items[:12]
    assert not {item.question for item in other} & {item.question for item in again}


def test_reasons_are_those_of_the_table(quiz):
    assert quiz.rejected
    assert set(quiz.rejected) <= set(DROP_REASONS) - {"mismatch"}, "both ways to answer follow the same rules"


def test_what_the_engine_and_the_arrays_see_differently_is_never_kept(languages, monkeypatch):
    def wrong(graph, answer_type, query, parameters):
        proof = prove_query(graph, answer_type, query, parameters)
        return proof if isinstance(proof, ProofFault) else proof._replace(number=proof.number + 1)

    monkeypatch.setattr(inside(item_faults), "prove", wrong)
    monkeypatch.setattr(inside(generate_quiz), "_PATIENCE", 3)
    found = generate_quiz(languages, 4, random_seed=7)
    assert found.rejected["mismatch"] > 0
    assert not [item for item in found.items if item.answer_type == "number"]


def test_a_graph_of_two_nodes_gives_little_and_says_so(scratch):
    graph = Graph.from_records(
        [Node("a", "city", "Aberdeen"), Node("b", "city", "Belfast"), Node("c", "sea", "North Channel")],
        [Edge("a", "twinned with", "b")],
        path=scratch(),
    )
    found = generate_quiz(graph, 5)
    assert len(found.items) <= 5
    assert len(found.exhausted) > 50
    assert all(cell.answer_type == "boolean" for cell in {item.cell for item in found.items})


@pytest.mark.parametrize(("count", "seed"), [(-1, 0), (1, -1)])
def test_a_count_or_a_seed_below_nothing_is_told(languages, count, seed):
    with pytest.raises(BadOption, match="0 or more"):
        generate_quiz(languages, count, random_seed=seed)


# ---------------------------------------------------------------------------------------- what is wrong with an item


def reasons(graph, item, **changes):
    return {fault.reason for fault in item_faults(graph, item.model_copy(update=changes))}


def test_another_answer_than_the_querys_is_a_mismatch(languages, quiz):
    number, entity, boolean = (of(quiz, answer_type=one)[0] for one in ("number", "entity", "boolean"))
    assert reasons(languages, number, answers=("999",)) == {"mismatch"}
    assert "mismatch" in reasons(languages, entity, answers=("Nobody",))
    assert "mismatch" in reasons(languages, boolean, answers=(str(boolean.answers == ("False",)),))


def test_a_query_that_proves_nothing_is_told(languages, quiz):
    item = of(quiz, answer_type="number")[0]
    plain = item.gold_query.replace("count(DISTINCT x) AS number", "x.id")
    assert reasons(languages, item, gold_query=item.gold_query + " LIMIT 1") == {"unproved"}
    assert reasons(languages, item, gold_query=plain) == {"unproved"}
    assert reasons(languages, item, gold_query="MATCH (n) DELETE n") == {"unproved"}
    assert reasons(languages, item, gold_query="MATCH (n:Nonsense) RETURN count(n)") == {"unproved"}
    assert reasons(languages, item, gold_parameters={}) == {"unproved"}


def test_more_nodes_than_a_set_may_have_or_an_entity_is_are_told(languages, quiz):
    whole = "MATCH (x:`language`) RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids"
    assert "oversized" in reasons(languages, of(quiz, answer_type="set")[0], gold_query=whole, gold_parameters={})
    assert "not unique" in reasons(languages, of(quiz, answer_type="entity")[0], gold_query=whole, gold_parameters={})
    none = whole.replace(" RETURN", " WHERE x.id = 'nothing' RETURN")
    assert "empty" in reasons(languages, of(quiz, answer_type="set")[0], gold_query=none, gold_parameters={})


def test_a_size_that_is_not_that_of_the_list_is_no_proof(languages, quiz):
    wrong = "MATCH (x:`language`) RETURN 1 AS number, collect(DISTINCT x.id) AS ids, count(x) AS c"
    cut = "MATCH (x:`language`) WITH count(x) AS n, collect(x.id) AS ids RETURN 1 AS number, ids"
    item = of(quiz, answer_type="entity")[0]
    assert "unproved" in reasons(languages, item, gold_query=wrong, gold_parameters={})
    assert "unproved" in reasons(languages, item, gold_query=cut, gold_parameters={})


def test_true_without_a_witness_is_told(languages, quiz):
    item = of(quiz, answer_type="boolean", pattern="<h,r,_>", answers=("True",))[0]
    assert reasons(languages, item, clue_nodes=item.anchors) == {"no witness"}


def test_ids_names_of_answers_and_names_that_are_missing_are_told(languages, quiz):
    item = of(quiz, answer_type="entity")[0]
    answer = languages.node(item.nodes[0]).name
    assert reasons(languages, item, question=f"{item.question} {item.anchors[0]}") == {"internal id"}
    assert reasons(languages, item, question=f"{item.question} Is it {answer}?") == {"leaking"}
    assert reasons(languages, item, question="Which one is the only one?") == {"unnamed"}
    assert "unwritable" in reasons(languages, item, question=f"{item.question}\n")


def test_clues_that_are_no_nodes_and_clues_to_be_avoided_are_told(languages, quiz):
    item = quiz.items[0]
    assert reasons(languages, item, clue_nodes=(*item.clue_nodes, "language:nothing")) == {"unknown clue"}
    assert "unknown clue" in reasons(languages, item, clue_nodes=item.clue_nodes[1:])
    assert {one.reason for one in item_faults(languages, item, avoid={item.anchors[0]})} == {"avoided"}


def test_what_was_asked_before_is_told(quiz):
    kept, item = QuestionLedger(), quiz.items[0]
    assert kept.fault(item) is None
    kept.keep(item)
    assert kept.fault(item).reason == "repeated"
    assert kept.fault(item.model_copy(update={"question": "Which is it?"})).reason == "repeated"
    assert kept.fault(item.model_copy(update={"gold_query": "other"})).reason == "repeated"


def test_booleans_of_a_value_that_is_ahead_by_two_are_told(quiz):
    kept, booleans = QuestionLedger(), of(quiz, answer_type="boolean")
    true = [item for item in booleans if item.answers == ("True",)]
    false = next(item for item in booleans if item.answers == ("False",))
    for item in true[:2]:
        assert kept.fault(item) is None
        kept.keep(item)
        assert not kept.wanted(item.cell)
    assert kept.fault(true[2]).reason == "unbalanced"
    kept.keep(false)
    assert kept.fault(true[2]) is None
