"""A model gets orders, and its reports become items: whatever it says, only what the graph proves is kept.

GraphScout (003), section 3.3.4 and appendix B.3.3. To the rules for every item (`proof.faults`) come those for items
that a model wrote: its own answers, the shape of its query, and clues that it has really met.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from orienteer.agents.dialect import harmless
from orienteer.errors import BadQuery, Unknown
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import CELLS, AnswerType, Cell, Gold, QuizItem, QuizPattern
from orienteer.lab.evaluation.scores.measures import answer_measure, normalise
from orienteer.lab.quizzes.explore.query_shape import Shape, edge_types_of, node_types_of, read_shape, rows_of, walked
from orienteer.lab.quizzes.kinds import definitions
from orienteer.lab.quizzes.plan import HOPS
from orienteer.lab.quizzes.proof import MOST_EDGES, Fault, Proof, anchor_fault, faults, names_of, node_fault, prove
from orienteer.llm.schema import object_of
from orienteer.records import JsonValue

# The orders for a model, one for each episode: a cell of the grid and a node to begin from.
#
# GraphScout (003), sections 3.3.1 and 3.3.2. The same graph and seed give the same orders, however many are taken.

ATTEMPTS = 3
"""Episodes for one place of a quiz at most, each from another node."""
_LOOKS = 200  # nodes that are looked at for one to begin from


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizOrder:
    """An order for one episode of a model."""

    id: str
    place: int
    """The place of the quiz that it is for, from 0."""
    cell: Cell
    seed: str
    """The id of the node to begin from."""
    wanted: bool | None = None
    """The wanted value of a boolean, so that both are equally common; None for other answer types."""


@dataclass(frozen=True, slots=True)
class Objectives:
    """The orders of a quiz, by place and attempt."""

    graph: Graph
    random_seed: int
    quizzer: str
    avoid: Collection[str] = frozenset()

    def cell(self, place: int) -> Cell:
        """Return the cell for a place, from 0: all legal cells once in random order, then all again."""
        order = np.random.default_rng(self.random_seed).permutation(len(CELLS))
        return CELLS[int(order[place % len(CELLS)])]

    def order(self, place: int, attempt: int) -> QuizOrder | None:
        """Return an order, or None if there is no node to begin from."""
        cell, wanted = self.cell(place), None
        if cell.answer_type == "boolean":
            # The wanted values alternate within a round of the grid, and are swapped in the next: so each round has as
            # many of both values, and so has each cell over two rounds.
            turn, at = divmod(place, len(CELLS))
            before = sum(self.cell(earlier).answer_type == "boolean" for earlier in range(at))
            wanted = (turn + before) % 2 == 0
        seed = self._seed(np.random.default_rng([self.random_seed, place, attempt]))
        name = self.name(place, attempt)
        return None if seed is None else QuizOrder(id=name, place=place, cell=cell, seed=seed, wanted=wanted)

    def name(self, place: int, attempt: int) -> str:
        """Return the name of an episode, which its item gets too."""
        return f"{self.quizzer}-{self.random_seed}-{place + 1:04}-{attempt + 1}"

    def _seed(self, chance: np.random.Generator) -> str | None:
        """Draw a node type, then a node of it with edges and a usable name, neither a hub nor avoided."""
        arrays = self.graph.arrays
        degrees = np.diff(arrays.adjacency.indptr)
        for _ in range(_LOOKS):
            # Types are drawn evenly, so rare ones are begun from as often as common ones (section 3.3.2).
            rows = np.flatnonzero(arrays.node_types == int(chance.integers(len(arrays.types.nodes))))
            if not len(rows):
                continue
            row = int(rows[int(chance.integers(len(rows)))])
            node: str = arrays.ids[row]
            if degrees[row] >= 1 and node not in self.avoid and node_fault(self.graph, row) is None:
                return node
        return None


def in_words(graph: Graph, order: QuizOrder) -> dict[str, str]:
    """Return the values of a prompt that describe an order."""
    row, kinds = graph.arrays.row(order.seed), order.cell._asdict()
    return {
        **kinds,
        **{f"{axis}_meaning": definitions()[axis][kind] for axis, kind in kinds.items()},
        "wanted": "" if order.wanted is None else f"- its right answer is {order.wanted}\n",
        "seed": harmless(order.seed),
        "name": harmless(graph.arrays.names[row]),
        "type": harmless(graph.arrays.type_at(row)),
    }


# The report, and its check.

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT, "minItems": 1}
SCHEMA = object_of({"question": _TEXT, "answer": _TEXTS, "clue_nodes": _TEXTS, "gold_query": _TEXT})
"""The form of a report."""
_LONGEST = 600  # characters of a question
_FEWEST_WORDS = 2  # of a question, other than the names in it
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
    """The origin of an item."""

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

    `touched` are the ids that came up while exploring.
    """
    cell = order.cell
    try:
        shape = read_shape(report.gold_query)
        rows = dict.fromkeys(row for node in shape.given for row in rows_of(graph, node))
        edge_types, node_types = edge_types_of(graph, shape), node_types_of(graph, shape)
    except (BadQuery, Unknown) as error:
        return CheckedReport(None, (Fault("unproved", f"the gold query fails: {error}"),))
    # The seed comes first; the sort is stable: the others keep their order in the query.
    anchors = tuple(sorted((graph.arrays.ids[row] for row in rows), key=lambda node: node != order.seed))
    proof = prove(graph, cell.answer_type, report.gold_query, {})
    item = QuizItem(
        id=order.id,
        question=report.question,
        nodes=proof.nodes if isinstance(proof, Proof) else (),
        answers=proof.answers(graph, cell.answer_type) if isinstance(proof, Proof) else report.answer,
        answer_type=cell.answer_type,
        pattern=cell.pattern,
        difficulty=cell.difficulty,
        hops=shape.hops,
        anchors=anchors,
        edge_types=edge_types,
        clue_nodes=tuple(dict.fromkeys(report.clue_nodes)),
        gold_query=report.gold_query,
        quizzer=maker.quizzer,
        trajectory=order.id,
        random_seed=maker.random_seed,
        graph_sha256=maker.graph_sha256,
    )
    # All that is wrong at once, for there is one chance to mend it.
    wrong = [*faults(graph, item, avoid=avoid)]
    if isinstance(proof, Proof):
        wrong += (*_of_answer(graph, report, order, proof), *_of_walk(graph, item, proof))
    wrong += _of_shape(cell, shape, anchors, edge_types, node_types)
    wrong += _of_names(graph, anchors)
    wrong += _of_question(graph, report.question, shape, anchors)
    if strange := [node for node in item.clue_nodes if node not in touched]:
        wrong.append(Fault("untouched clue", f"{', '.join(strange[:5])}: never came up while exploring"))
    return CheckedReport(None if wrong else item, tuple(wrong))


def is_answered(text: str, item: QuizItem) -> bool:
    """Return whether a reply is the answer of an item, by exact match (EM)."""
    gold = Gold(answers=item.answers, answer_type=item.answer_type)
    return answer_measure("EM")(text, gold) == 1.0


def _of_answer(graph: Graph, report: QuizReport, order: QuizOrder, proof: Proof) -> Iterator[Fault]:
    """Find faults in the report's answers."""
    answers = proof.answers(graph, order.cell.answer_type)
    if not _is_proved(graph, order.cell.answer_type, report.answer, proof):
        answer = ", ".join(report.answer)
        yield Fault("mismatch", f"the gold query gives {', '.join(answers)}; the report's answer is {answer}")
    if order.wanted is not None and answers != (str(order.wanted),):
        yield Fault("unbalanced", f"the answer is {answers[0]}: one whose answer is {order.wanted} was ordered")
    if order.cell.answer_type == "number" and proof.number <= 0:
        yield Fault("empty", "the number is 0: ask for what there is")


def _is_proved(graph: Graph, answer_type: AnswerType, texts: Sequence[str], proof: Proof) -> bool:
    """Return whether the report's answers are those of its query: each node once, by its name or an alias."""
    if answer_type in ("boolean", "number"):
        gold = Gold(answers=proof.answers(graph, answer_type), answer_type=answer_type)
        return len(texts) == 1 and answer_measure("EM")(texts[0], gold) == 1.0
    left = [{normalise(name) for name in (*names_of(graph, graph.arrays.row(node)), node)} for node in proof.nodes]
    for text in texts:
        names = next((names for names in left if normalise(text) in names), None)
        if names is None:
            return False
        left.remove(names)
    return not left


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


def _of_question(graph: Graph, question: str, shape: Shape, anchors: Sequence[str]) -> Iterator[Fault]:
    """Find faults in a text that nobody would ask, or that does not mention values of the query."""
    arrays = graph.arrays
    if len(question) > _LONGEST or not question.isprintable():
        yield Fault("unwritable", f"the question is one line of at most {_LONGEST} plain characters")
    words = Counter(arrays.tokenizer.words(question))
    words.subtract(word for node in anchors for word in arrays.tokenizer.words(arrays.names[arrays.row(node)]))
    if sum(count for count in words.values() if count > 0) < _FEWEST_WORDS:
        yield Fault("unwritable", "the question asks nothing: say in a sentence what is asked of the named things")
    folded = _THOUSANDS.sub("", question).casefold()
    for text in shape.compared:
        row = arrays.ids.find(text)
        names = (text,) if row is None else names_of(graph, row)
        if text not in anchors and not any(name.casefold() in folded for name in names):
            yield Fault("unnamed", f"the gold query compares with {text!r}, of which the question says nothing")
