"""What a model hands in becomes an item and is checked: whatever it says, only what the graph proves is kept.

GraphScout (003), section 3.3.4 and appendix B.3.3. To the rules that hold for every item (`checks`) come those that
only matter where a model wrote it: what it says answers, the shape of its query, and clues that it has really met.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from orienteer.errors import BadQuery, Unknown
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import AnswerType, Cell, Gold, QuizItem, QuizPattern
from orienteer.lab.evaluation.scores.measures import answer_measure, normalise
from orienteer.lab.quizzes.explore.orders import QuizOrder
from orienteer.lab.quizzes.explore.query_shape import Shape, edge_types_of, node_types_of, read_shape, rows_of, walked
from orienteer.lab.quizzes.plan import HOPS
from orienteer.lab.quizzes.proof import MOST_EDGES, Fault, Proof, anchor_fault, faults, prove
from orienteer.llm.schema import JsonSchema
from orienteer.records import JsonValue

SCHEMA: JsonSchema = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "answer": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "clue_nodes": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "gold_query": {"type": "string"},
    },
    "required": ["question", "answer", "clue_nodes", "gold_query"],
    "additionalProperties": False,
}
"""The form of a report."""
_LONGEST = 600  # characters of a question
_FEWEST_WORDS = 2  # of a question besides the names in it
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TWO_ENDED = frozenset({"<h,*,t>", "<h,r,t>"})
_ONE_ENDED = frozenset({"<h,_,_>", "<h,r,_>"})
_NAMED_EDGES = frozenset({"<h,r,_>", "<h,r,t>"})
_UNNAMED_EDGES = frozenset({"<h,_,_>", "<h,*,t>"})


class QuizReport(NamedTuple):
    """The report that a model hands in."""

    question: str
    answer: tuple[str, ...]
    clue_nodes: tuple[str, ...]
    gold_query: str


class Maker(NamedTuple):
    """Who made an item, and from what."""

    quizzer: str
    random_seed: int
    graph_sha256: str


class CheckedReport(NamedTuple):
    """The item of a report, or what is wrong with it."""

    item: QuizItem | None
    faults: tuple[Fault, ...]


def report_of(reply: Mapping[str, JsonValue]) -> QuizReport:
    """Return a reply that fits the schema as a report, with the spaces around its parts stripped."""
    lists = {name: tuple(text.strip() for text in cast(list[str], reply[name])) for name in ("answer", "clue_nodes")}
    texts = {name: str(reply[name]).strip() for name in ("question", "gold_query")}
    return QuizReport(texts["question"], lists["answer"], lists["clue_nodes"], texts["gold_query"])


def check(
    graph: Graph,
    report: QuizReport,
    order: QuizOrder,
    maker: Maker,
    *,
    touched: Collection[str],
    avoid: Collection[str] = frozenset(),
) -> CheckedReport:
    """Return the item that a report makes, or all that is wrong with it; its gold query is run again.

    `touched` are the ids that came up while exploring. Raises `MissingExtra` without Cypher.
    """
    try:
        shape = read_shape(report.gold_query)
        anchors = _anchors(graph, shape, order.seed)
        edge_types, node_types = edge_types_of(graph, shape), node_types_of(graph, shape)
    except (BadQuery, Unknown) as error:
        return CheckedReport(None, (Fault("unproved", f"the gold query fails: {error}"),))
    proof = prove(graph, order.cell.answer_type, report.gold_query, {})
    item = _item(graph, report, order, maker, None if isinstance(proof, Fault) else proof).model_copy(
        update={"hops": shape.hops, "anchors": anchors, "edge_types": edge_types}
    )
    # All that is wrong at once, for there is one chance to mend it.
    wrong = (
        *faults(graph, item, avoid=avoid),
        *(
            ()
            if isinstance(proof, Fault)
            else (*_of_answer(graph, report, order, proof), *_of_walk(graph, item, proof))
        ),
        *_of_shape(order.cell, shape, anchors, edge_types, node_types),
        *_of_names(graph, anchors),
        *_of_question(graph, report.question, anchors),
        *_of_words(graph, report.question, shape, anchors),
        *_of_touch(item.clue_nodes, touched),
    )
    return CheckedReport(None if wrong else item, wrong)


def is_answered(text: str, item: QuizItem) -> bool:
    """Tell whether a reply is the answer of an item, by exact match (EM)."""
    gold = Gold(answers=item.answers, answer_type=item.answer_type)
    return answer_measure("EM")(text, gold) == 1.0


def _anchors(graph: Graph, shape: Shape, seed: str) -> tuple[str, ...]:
    """Return the ids of the nodes that a query names, the seed first if it is among them."""
    rows = dict.fromkeys(row for node in shape.given for row in rows_of(graph, node))
    ids = [graph.arrays.ids[row] for row in rows]
    return tuple(sorted(ids, key=lambda node: node != seed))  # stable: the others as they stand in the query


def _item(graph: Graph, report: QuizReport, order: QuizOrder, maker: Maker, proof: Proof | None) -> QuizItem:
    """Return an item with the answers that its query proves, or, without a proof, with those of the report."""
    cell = order.cell
    return QuizItem(
        id=order.id,
        question=report.question,
        nodes=proof.nodes if proof is not None else (),
        answers=proof.answers(graph, cell.answer_type) if proof is not None else report.answer,
        answer_type=cell.answer_type,
        pattern=cell.pattern,
        difficulty=cell.difficulty,
        hops=0,
        anchors=(),
        clue_nodes=tuple(dict.fromkeys(report.clue_nodes)),
        gold_query=report.gold_query,
        quizzer=maker.quizzer,
        trajectory=order.id,
        random_seed=maker.random_seed,
        graph_sha256=maker.graph_sha256,
    )


def _of_answer(graph: Graph, report: QuizReport, order: QuizOrder, proof: Proof) -> Iterator[Fault]:
    """Find faults in the report's answers."""
    answers = proof.answers(graph, order.cell.answer_type)
    if not _says(graph, order.cell.answer_type, report.answer, proof):
        answer = ", ".join(report.answer)
        yield Fault("mismatch", f"the gold query gives {', '.join(answers)}; the report's answer is {answer}")
    if order.wanted is not None and answers != (str(order.wanted),):
        yield Fault("unbalanced", f"the answer is {answers[0]}: one whose answer is {order.wanted} was ordered")
    if order.cell.answer_type == "number" and proof.number <= 0:
        yield Fault("empty", "the number is 0: ask for what there is")


def _of_walk(graph: Graph, item: QuizItem, proof: Proof) -> Iterator[Fault]:
    """Find a query that the graph's arrays answer differently from the engine, if they can answer it."""
    nodes = walked(graph, item.gold_query)
    if nodes is None:
        return
    if item.answer_type == "boolean":
        agrees = (len(nodes) > 0) == (proof.number > 0)
    else:
        agrees = len(nodes) == proof.number and proof.nodes in ((), tuple(sorted(nodes)))
    if not agrees:
        yield Fault("mismatch", f"walked edge by edge, {len(nodes)} nodes answer the gold query: write it otherwise")


def _says(graph: Graph, answer_type: AnswerType, texts: Sequence[str], proof: Proof) -> bool:
    """Tell whether the report's answers are those of its query: each node once, by its name or an alias."""
    if answer_type in ("boolean", "number"):
        gold = Gold(answers=proof.answers(graph, answer_type), answer_type=answer_type)
        return len(texts) == 1 and answer_measure("EM")(texts[0], gold) == 1.0
    left = [
        {normalise(name) for name in (graph.arrays.names[row], *graph.arrays.aliases_at(row), graph.arrays.ids[row])}
        for row in map(graph.arrays.row, proof.nodes)
    ]
    for text in texts:
        names = next((names for names in left if normalise(text) in names), None)
        if names is None:
            return False
        left.remove(names)
    return not left


def _of_shape(
    cell: Cell, shape: Shape, anchors: Sequence[str], edge_types: Sequence[str], node_types: Sequence[str]
) -> Iterator[Fault]:
    """Find faults in a query whose shape is not what was ordered."""
    if shape.is_cut:
        yield Fault("unproved", "the gold query leaves rows out by LIMIT or SKIP: it must take all of them")
    if not anchors:
        yield Fault("unnamed", "the gold query begins from no named thing: give it as {id: '...'}")
        return
    if not shape.is_whole:
        yield Fault("illegal", "a part of the gold query is joined to no named thing by edges")
    yield from _of_pattern(cell.pattern, shape, anchors, edge_types)
    least, most = HOPS[cell.difficulty]
    if not least <= shape.hops <= most:
        yield Fault("illegal", f"{cell.difficulty} goes {least} to {most} edges, the gold query {shape.hops}")
    if cell.difficulty == "simple" and len(edge_types) > 1:
        yield Fault("illegal", f"simple goes by one edge type, the gold query by {', '.join(edge_types)}")
    if cell.difficulty == "medium" and not shape.is_open and max(len(edge_types), len(node_types)) < 2:
        yield Fault("illegal", "medium goes by two edge types or two node types at the least")
    if cell.difficulty == "hard" and not shape.is_open and len(edge_types) < 2:
        yield Fault("illegal", "hard goes by two edge types at the least")


def _of_pattern(
    pattern: QuizPattern, shape: Shape, anchors: Sequence[str], edge_types: Sequence[str]
) -> Iterator[Fault]:
    """Find faults in a query that names more, or less, than its pattern. Hybrid patterns are not examined."""
    if pattern in _TWO_ENDED and len(anchors) < 2:
        yield Fault("illegal", f"{pattern} names two things, and the gold query begins from one")
    if pattern in _ONE_ENDED and len(anchors) > 1:
        yield Fault("illegal", f"{pattern} names one thing, and the gold query begins from {len(anchors)}")
    if pattern in _NAMED_EDGES and (shape.is_open or not edge_types):
        yield Fault("illegal", f"{pattern} gives the relations: name the type of every edge of the gold query")
    if pattern in _UNNAMED_EDGES and not shape.is_open:
        yield Fault("illegal", f"{pattern} gives no relation: ask over an edge of any type, -[e]- or --")


def _of_names(graph: Graph, anchors: Sequence[str]) -> Iterator[Fault]:
    for node in anchors:
        row = graph.arrays.row(node)
        if (edges := int(graph.arrays.adjacency.degree(np.array([row]))[0])) > MOST_EDGES:
            yield Fault("hub", f"{graph.arrays.names[row]!r} has {edges} edges: everything is near it, begin elsewhere")
        if (reason := anchor_fault(graph, row)) is not None:
            yield Fault(
                reason, f"{graph.arrays.names[row]!r} names other nodes too, or is no name to write: begin elsewhere"
            )


def _of_question(graph: Graph, question: str, anchors: Sequence[str]) -> Iterator[Fault]:
    """Find faults in a text that nobody would ask."""
    if len(question) > _LONGEST or not question.isprintable():
        yield Fault("unwritable", f"the question is one line of at most {_LONGEST} plain characters")
    words = Counter(graph.arrays.tokenizer.words(question))
    words.subtract(
        word for node in anchors for word in graph.arrays.tokenizer.words(graph.arrays.names[graph.arrays.row(node)])
    )
    if sum(count for count in words.values() if count > 0) < _FEWEST_WORDS:
        yield Fault("unwritable", "the question asks nothing: say in a sentence what is asked of the named things")


def _of_words(graph: Graph, question: str, shape: Shape, anchors: Sequence[str]) -> Iterator[Fault]:
    """Find values in the query that the question does not mention: then the two ask for different things."""
    folded = _THOUSANDS.sub("", question).casefold()
    for text in shape.compared:
        row = graph.arrays.ids.find(text)
        names = (text,) if row is None else (graph.arrays.names[row], *graph.arrays.aliases_at(row))
        if text not in anchors and not any(name.casefold() in folded for name in names):
            yield Fault("unnamed", f"the gold query compares with {text!r}, of which the question says nothing")


def _of_touch(clues: Sequence[str], touched: Collection[str]) -> Iterator[Fault]:
    if strange := [node for node in clues if node not in touched]:
        yield Fault("untouched clue", f"{', '.join(strange[:5])}: never came up while exploring")
