"""A plan as Cypher, the gold query; and what a gold query proves when it is run. GraphScout (003), appendix B.3.3.

The query of an item has one form an answer type, and gives one row:

- `entity`, `set`: `RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids`: the size is counted, never read
  off a list that may have been cut.
- `boolean`: `RETURN count(DISTINCT x) AS number`, and a witness if there is one: `min(x.id) AS witness`. It is true if
  the count is above 0.
- `number`: one aggregate, `RETURN count(DISTINCT x) AS number`.

None of them has a `LIMIT`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from orienteer.cypher.kinds import quoted, rendered
from orienteer.cypher.session import Cypher
from orienteer.cypher.tokens import tokenize
from orienteer.errors import BadOption, BadQuery, QueryStopped, Unknown
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.names import NameKind
from orienteer.lab.evaluation.examples import AnswerType, Cell, QuizItem, is_legal
from orienteer.lab.quizzes.gold import MOST_ANSWERS, MOST_IN_SET, holding, is_other, of_type, solve
from orienteer.lab.quizzes.plan import EdgeStep, QuestionPlan
from orienteer.records import JsonValue

SECONDS = 30.0
"""A gold query that takes longer proves nothing."""
FORMS: Mapping[AnswerType, str] = {
    "entity": "RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids",
    "set": "RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids",
    "boolean": "RETURN count(DISTINCT x) AS number, min(x.id) AS witness",
    "number": "RETURN count(DISTINCT x) AS number",
}
"""How the query of each answer type ends."""
_AGGREGATES = frozenset({"count", "sum", "avg", "min", "max"})


class Fault(NamedTuple):
    """Why an item is not kept."""

    reason: str
    """One of `REASONS`."""
    detail: str
    """What is wrong with this item, for its writer."""


class Proof(NamedTuple):
    """The result of a gold query that was run again."""

    number: int | float
    """The count or other aggregate; of an entity or a set, its size."""
    nodes: tuple[str, ...] = ()
    """The ids of an entity or a set, ascending."""
    witness: str | None = None
    """The node that a boolean's query names."""

    def answers(self, graph: Graph, answer_type: AnswerType) -> tuple[str, ...]:
        """Return the answers as an item holds them: names of a set, an entity's name and aliases, else the value."""
        if answer_type == "boolean":
            return (str(self.number > 0),)
        if answer_type == "number":
            return (str(self.number) if isinstance(self.number, int) else f"{self.number:.12g}",)
        rows = [graph.arrays.row(node) for node in self.nodes]
        if answer_type == "entity":
            return tuple(dict.fromkeys(name for row in rows for name in names_of(graph, row)))
        return tuple(dict.fromkeys(graph.arrays.names[row] for row in rows))


def names_of(graph: Graph, row: int) -> tuple[str, ...]:
    """Return the name and the aliases of a node."""
    return (graph.arrays.names[row], *graph.arrays.aliases_at(row))


def prove(graph: Graph, answer_type: AnswerType, query: str, parameters: Mapping[str, JsonValue]) -> Proof | Fault:
    """Run a gold query and return what it proves, or why it proves nothing."""
    form = FORMS[answer_type]
    try:
        words = [token.value.lower() for token in tokenize(query) if token.kind == "word"]
        if "limit" in words:
            return Fault("unproved", "the gold query has a LIMIT, which makes a count a guess: leave it out")
        try:
            table = Cypher(graph).query(query, parameters, limit=2, seconds=SECONDS)
        except QueryStopped:
            # Memory that earlier queries have left occupied may stop a query, and no item may depend on that.
            Cypher(graph).close()
            table = Cypher(graph).query(query, parameters, limit=2, seconds=SECONDS)
    except (BadOption, BadQuery, QueryStopped, Unknown) as error:
        return Fault("unproved", f"the gold query fails: {error}")
    if table.total != 1 or not table.rows:
        return Fault("unproved", f"the gold query gives {table.total} rows: it must give one, {form}")
    if _AGGREGATES.isdisjoint(words):
        return Fault("unproved", f"the gold query aggregates nothing: let it end in {form}")
    row = table.rows[0]
    if answer_type in ("entity", "set"):
        return _proof_of_nodes(graph, answer_type, row)
    if isinstance(row[0], bool) or not isinstance(row[0], int | float):
        return Fault("unproved", f"the gold query gives {row[0]!r}, no number: let it end in {form}")
    texts = [value for value in row[1:] if isinstance(value, str) and answer_type == "boolean"]
    return Proof(row[0], witness=texts[0] if texts else None)


def _proof_of_nodes(graph: Graph, answer_type: AnswerType, row: tuple[JsonValue, ...]) -> Proof | Fault:
    form = FORMS[answer_type]
    number, ids = (row[0], row[1]) if len(row) == 2 else (None, None)
    if isinstance(number, bool) or not isinstance(number, int) or not isinstance(ids, list):
        return Fault("unproved", f"the gold query must give a count and a list of ids: let it end in {form}")
    nodes = tuple(sorted({node for node in ids if isinstance(node, str) and graph.arrays.ids.find(node) is not None}))
    if len(nodes) != len(ids) or len(nodes) != number:
        return Fault("unproved", f"the count is {number} and {len(nodes)} of the {len(ids)} are ids of nodes: {form}")
    if answer_type == "entity" and number != 1:
        return Fault("empty" if number == 0 else "not unique", f"{number} nodes answer: exactly one has to")
    if answer_type == "set" and number < 2:
        return Fault("empty", f"{number} nodes answer: a set has 2 to {MOST_IN_SET}")
    if answer_type == "set" and number > MOST_IN_SET:
        detail = f"{number} nodes answer: a set has {MOST_IN_SET} at the most, so ask for more of them"
        return Fault("oversized", detail)
    return Proof(number, nodes)


class GoldQuery(NamedTuple):
    """A statement with its parameters."""

    text: str
    parameters: dict[str, JsonValue]


class _Node(NamedTuple):
    """The expression of a node's id in a query, and the node's type."""

    id: str
    type: str


def gold_query(graph: Graph, plan: QuestionPlan, answer_type: AnswerType) -> GoldQuery:
    """Return the Cypher that proves the answer of a plan, its nodes as parameters, in the form that `prove` takes.

    If a node is described instead of named, the query also says that no other node fits the description: were there
    two, nothing would answer.
    """
    parameters = {f"node{number}": graph.arrays.ids[row] for number, row in enumerate(plan.named, 1)}
    fixed = [_Node(f"${name}", graph.arrays.type_at(row)) for name, row in zip(parameters, plan.named, strict=True)]
    if plan.first is None:
        paths, apart = _paths(plan, "x", fixed, fixed)
    else:
        named, own = fixed[: len(plan.first.named)], fixed[len(plan.first.named) :]
        first = _Node("first.id", plan.conditions[0].steps[0].start)
        paths, apart = _paths(plan.first, "first", named, named)
        others, parted = _paths(plan.first, "other", named, named)
        alone = " AND ".join([*parted, "other.id <> first.id"])
        onward, further = _paths(plan, "x", [first, *own], [first, *fixed])
        paths, apart = [*paths, *onward], [*apart, *further]
        apart.append(f"NOT EXISTS {{ MATCH {', '.join(others)} WHERE {alone} }}")
    return GoldQuery(_statement(paths, list(dict.fromkeys(apart)), FORMS[answer_type]), dict(parameters))


def literal_query(graph: Graph, plan: QuestionPlan) -> str:
    """Return Cypher for the ids of the answers of a plan without a `first` and a `target`, ids as literals.

    A constraint on a property is a part of the query. One on words is not, for a query engine has no terms: then the
    query gives the nodes among which the constraint decides.
    """
    paths, apart = list[str](), list[str]()
    for number, condition in enumerate(plan.conditions, 1):
        names = [f"a{number}", *(f"m{number}_{hop}" for hop in range(1, len(condition.steps))), "x"]
        anchor = f"{{id: {rendered(graph.arrays.ids[condition.anchor])}}}"
        paths.append(_path(f"({names[0]}:{quoted(condition.steps[0].start)} {anchor})", names[1:], condition.steps))
        apart += [f"{name}.id <> {other}.id" for at, name in enumerate(names) for other in names[at + 1 :]]
    if plan.constraint is not None and plan.constraint.property is not None:
        value = rendered(plan.constraint.phrase.lower())
        apart.append(f"toLower(toString(x.{quoted(plan.constraint.property)})) = {value}")
    return _statement(paths, apart, "RETURN DISTINCT x.id")


def _statement(paths: Sequence[str], conditions: Sequence[str], ending: str) -> str:
    # One MATCH each: within one, an edge would not be walked twice.
    matches = " ".join(f"MATCH {path}" for path in paths)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{matches}{where} {ending}"


def _paths(
    plan: QuestionPlan, unknown: str, anchors: Sequence[_Node], fixed: Sequence[_Node]
) -> tuple[list[str], list[str]]:
    """Return one MATCH path per condition, and the WHERE conditions that keep nodes distinct.

    `anchors` are the nodes that the conditions start from, followed by the target if there is one; no walk may come to
    a node of `fixed`. Only nodes of one type are compared: others cannot be the same.
    """
    target = None if plan.target is None else anchors[-1]
    paths, apart = list[str](), list[str]()
    for number, (condition, anchor) in enumerate(zip(plan.conditions, anchors, strict=False), 1):
        start = "(first)" if anchor.id == "first.id" else f"(:{quoted(anchor.type)} {{id: {anchor.id}}})"
        names = [f"{unknown}{number}_{hop}" for hop in range(1, len(condition.steps))] + [unknown]
        nodes = [_Node(f"{name}.id", step.end) for name, step in zip(names, condition.steps, strict=True)]
        paths.append(_path(start, names, condition.steps))
        pairs = [(node, other) for node in nodes for other in fixed if (node, other) != (nodes[-1], target)]
        pairs += [(node, other) for at, node in enumerate(nodes) for other in nodes[at + 1 :]]
        apart += [f"{node.id} <> {other.id}" for node, other in pairs if node.type == other.type]
    return paths, apart if target is None else [*apart, f"{unknown}.id = {target.id}"]


def _path(start: str, names: Sequence[str], steps: Sequence[EdgeStep]) -> str:
    """Return a pattern from a node along steps; `names` are the names of the nodes that they lead to."""
    for name, step in zip(names, steps, strict=True):
        edge = f"[:{quoted(step.edge_type)}]" if step.edge_type is not None else ""
        is_forward = None if step.edge_type is None else step.is_forward
        left, right = "<-" if is_forward is False else "-", "->" if is_forward else "-"
        start += f"{left}{edge}{right}({name}:{quoted(step.end)})"
    return start


# The rules for questions, whoever wrote them: a draft that breaks one is dropped and counted under one reason.
#
# Names and plans are checked before there are words. `faults` checks a whole item, and runs its gold query again, by
# the rules of appendix B.3.3 and of section 3.3.4 (GraphScout, 003). A `Ledger` remembers the items so far.


REASONS: Mapping[str, str] = MappingProxyType(
    {
        "no anchors": "no nodes fit the pattern along the edge types whose turn it was",
        "no way": "no walk of the shape goes out from the seed",
        "empty": "no node answers",
        "not unique": "several nodes answer, and one was asked for",
        "oversized": f"more nodes answer than {MOST_ANSWERS}, or {MOST_IN_SET} of a set, or than could be gone through",
        "two readings": "a node that comes twice on the way, or a named one that answers too, would change the answer",
        "trivial": "every node of the asked type answers",
        "redundant": "a condition leaves nothing out: the others alone have the same answers",
        "easy": "the answer is the same without a part of the question",
        "no text": "no words and no property tell some of the candidates from the others",
        "hub": "a named node has so many edges that everything is near it",
        "unwritable": "a name is no name that a person would write",
        "ambiguous": "a name is also that of another node of its type, or of several nodes",
        "illegal": "the appendix forbids the place in the grid, or the query's shape belongs to another",
        "unproved": "the gold query fails, takes too long, or ends in another form than its answer type asks for",
        "mismatch": "the gold query, run again, has another answer",
        "no witness": "it is true, and no node is named that shows it",
        "unnamed": "the question does not name a node that it starts from",
        "internal id": "the question holds an id of the graph",
        "leaking": "the question holds the name or an alias of an answer",
        "unknown clue": "a clue, an anchor or an answer is not in the graph, or an anchor or an answer is not a clue",
        "avoided": "a clue is named or answers in the questions that are to be avoided",
        "unbalanced": "it is true where false ones were wanting, or the other way round",
        "repeated": "the same was asked before",
        "untouched clue": "a clue is a node that never came up while exploring",
        "known": "a model without the graph gives the right answer",
        "no report": "what was handed in is no report, not even when asked again",
        "refused": "the server refused a request of this exploration, for its length perhaps",
        "no seed": "no node was found to begin from",
    }
)
"""Why there is no question: for drafts of all kinds, and for items that a model wrote."""
MOST_EDGES = 1_000
"""A node with more is a hub: no question of the grid names it, nor goes on from it."""
MOST_SHARING = 3
"""Nodes of other types that may share an anchor's name: the question then says the type before the name."""
MOST_AHEAD = 2
"""By how many the booleans of one value may be ahead of the others."""
_SHORT = 3  # letters of a name that is compared as it is written: as a word, `IN` is in every question
_LENGTHS = range(2, 81)  # characters of a name
_WORD = re.compile(r"[^\W_]+")
_CODE = re.compile(r"[A-Za-z_]{1,12}[:_]?\d{4,}|[0-9a-fA-F-]{12,}|[\d\W_]+|\S+://\S+|\S{41,}")
_TOKEN = re.compile(r"[^\s,;?!()\[\]{}<>\"'“”‘’`]+")


def anchor_fault(graph: Graph, row: int) -> str | None:
    """Return the reason why a question cannot hold a node's name, or None."""
    name = graph.arrays.names[row]
    if len(name) not in _LENGTHS or name != " ".join(name.split()) or _CODE.fullmatch(name):
        return "unwritable"
    others = {link.row for link in graph.arrays.name_index.called(name)} - {row}
    if len(others) > MOST_SHARING or any(
        graph.arrays.node_types[other] == graph.arrays.node_types[row] for other in others
    ):
        return "ambiguous"
    return None


def node_fault(graph: Graph, row: int, avoid: Collection[int] = ()) -> str | None:
    """Return the reason why no question of the grid can name a node, or None. `avoid` are rows."""
    if row in avoid:
        return "avoided"
    return "hub" if is_hub(graph, row) else anchor_fault(graph, row)


def is_hub(graph: Graph, row: int) -> bool:
    """Return whether a node has so many edges that everything is near it."""
    return int(graph.arrays.adjacency.degree(np.array([row]))[0]) > MOST_EDGES


def is_trivial(graph: Graph, plan: QuestionPlan, rows: Rows) -> bool:
    """Return whether all nodes of the asked type answer, apart from given nodes."""
    excluded = sum(graph.arrays.type_at(row) == plan.answer_type for row in plan.fixed)
    return len(rows) >= graph.schema.node_types[plan.answer_type] - excluded


def is_redundant(graph: Graph, plan: QuestionPlan, rows: Rows) -> bool:
    """Return whether as many nodes answer without one of the conditions, or without the constraint."""
    conditions = plan.conditions
    for left_out in range(len(conditions)) if len(conditions) > 1 else ():
        others = conditions[:left_out] + conditions[left_out + 1 :]
        rest = solve(graph, replace(plan, conditions=others, first=None))
        if rest is not None and np.count_nonzero(is_other(rest.rows, plan.fixed)) <= len(rows):
            return True
    if plan.constraint is None:
        return False
    alone = holding(graph, plan.constraint, of_type(graph, plan.answer_type))
    candidates = solve(graph, replace(plan, constraint=None))
    return len(alone) <= len(rows) or (candidates is not None and len(candidates.rows) <= len(rows))


def is_leaking(graph: Graph, question: str, gold: Iterable[int]) -> bool:
    """Return whether a question holds the name or an alias of a node that answers it, as whole words."""
    folded = f" {' '.join(graph.arrays.tokenizer.words(question))} "
    written = f" {' '.join(_WORD.findall(question))} "
    for name in (name for row in gold for name in names_of(graph, row)):
        words = " ".join(graph.arrays.tokenizer.words(name))
        if len(name) <= _SHORT:
            is_held = f" {name} " in written
        else:
            is_held = f" {words} " in folded if words else name in question
        if is_held:
            return True
    return False


def faults(graph: Graph, item: QuizItem, *, avoid: Collection[str] = frozenset()) -> tuple[Fault, ...]:
    """Return all faults of an item; its gold query is run again."""
    proof = prove(graph, item.answer_type, item.gold_query, item.gold_parameters)
    own = [proof] if isinstance(proof, Fault) else _of_proof(graph, item, proof)
    return (*own, *_of_text(graph, item), *_of_clues(graph, item, avoid))


def _of_proof(graph: Graph, item: QuizItem, proof: Proof) -> Iterable[Fault]:
    if not is_legal(item.cell):
        yield Fault("illegal", "nothing hybrid is simple")
    answers = proof.answers(graph, item.answer_type)
    if proof.nodes != item.nodes or (set(answers) != set(item.answers) if proof.nodes else answers != item.answers):
        yield Fault("mismatch", f"the gold query gives {', '.join(answers)}; the item says {', '.join(item.answers)}")
    if item.answer_type == "set" and len(answers) < len(proof.nodes):
        yield Fault("ambiguous", "two nodes of the set have one name")
    if item.answer_type != "boolean" or proof.number <= 0:
        return
    if proof.witness is not None and proof.witness not in item.clue_nodes:
        yield Fault("no witness", f"the query's witness {proof.witness} is no clue")
    elif len(item.clue_nodes) < 2:
        yield Fault("no witness", "a statement that is true has a clue beside the node that it starts from")


def _of_text(graph: Graph, item: QuizItem) -> Iterable[Fault]:
    arrays, text = graph.arrays, item.question
    if not text.strip() or text != " ".join(text.split()):
        yield Fault("unwritable", "the question is one line of words")
    rows = {
        node: row
        for node in (*item.anchors, *item.nodes, *item.clue_nodes)
        if (row := arrays.ids.find(node)) is not None
    }
    if (node := _internal_id(graph, text, rows)) is not None:
        yield Fault("internal id", f"{node} is an id: write the name")
    for node in item.anchors:
        if node not in rows or is_leaking(graph, text, (rows[node],)):
            continue
        if not any(name in text for name in names_of(graph, rows[node])):
            yield Fault("unnamed", f"the question does not hold {arrays.names[rows[node]]!r}, the name of {node}")
    if is_leaking(graph, text, [rows[node] for node in item.nodes if node in rows]):
        yield Fault("leaking", "the question holds the name or an alias of what answers it")


def _internal_id(graph: Graph, text: str, own: Mapping[str, int]) -> str | None:
    """Return an id that is a word of a question, outside of names; `own` are the rows of its nodes by id."""
    for name in sorted({name for row in own.values() for name in names_of(graph, row)}, key=len, reverse=True):
        text = text.replace(name, " ") if name else text
    for token in _TOKEN.findall(text):
        word = str(token).rstrip(".:")
        if word in own:
            return word
        # Short numbers are words of a question, also if they happen to be the id of some node.
        if word.isdigit() or graph.arrays.ids.find(word) is None:
            continue
        # Ids are found by name too, as identifiers: those that are real names are no ids here.
        if all(link.kind is NameKind.IDENTIFIER for link in graph.arrays.name_index.called(word)):
            return word
    return None


def _of_clues(graph: Graph, item: QuizItem, avoid: Collection[str]) -> Iterable[Fault]:
    clues = set(item.clue_nodes)
    for node in (*item.clue_nodes, *item.anchors, *item.nodes):
        if graph.arrays.ids.find(node) is None:
            yield Fault("unknown clue", f"{node} is no node of this graph")
            return
    if lacking := [node for node in (*item.anchors, *item.nodes) if node not in clues]:
        yield Fault("unknown clue", f"{', '.join(lacking)}: named or answering, and no clue")
    if avoided := sorted(clues & set(avoid)):
        yield Fault("avoided", f"{', '.join(avoided[:5])}: of the questions that are to be avoided")


@dataclass(slots=True)
class Ledger:
    """Remembers the questions so far: none comes twice, and true booleans balance false ones."""

    _texts: set[str] = field(default_factory=set)
    _identities: set[Hashable] = field(default_factory=set)
    _booleans: Counter[tuple[Cell | None, str]] = field(default_factory=Counter)

    def has(self, text: str, identity: Hashable) -> bool:
        """Return whether a question in these words, or of this meaning, was added."""
        return " ".join(text.casefold().split()) in self._texts or identity in self._identities

    def add(self, text: str, identity: Hashable) -> None:
        """Remember a question by its words and its meaning."""
        self._texts.add(" ".join(text.casefold().split()))
        self._identities.add(identity)

    def fault(self, item: QuizItem) -> Fault | None:
        """Return the fault of an item next to the earlier ones, or None."""
        if self.has(item.question, _identity(item)):
            return Fault("repeated", "the same was asked before")
        if item.answer_type == "boolean" and self._lead(None, item.answers[0] == "True") >= MOST_AHEAD:
            return Fault("unbalanced", f"{MOST_AHEAD} more are {item.answers[0]} than are not")
        return None

    def keep(self, item: QuizItem) -> None:
        """Remember an item."""
        self.add(item.question, _identity(item))
        if item.answer_type == "boolean":
            self._booleans.update([(None, item.answers[0]), (item.cell, item.answers[0])])

    def wanted(self, cell: Cell) -> bool:
        """Return the value that the next boolean of a cell should have: the rarer one in the cell, else in all."""
        return (self._lead(cell, True) or self._lead(None, True)) <= 0

    def _lead(self, cell: Cell | None, is_true: bool) -> int:
        """Return by how many the booleans of a value are ahead, in a cell or in all."""
        return self._booleans[cell, str(is_true)] - self._booleans[cell, str(not is_true)]


def _identity(item: QuizItem) -> Hashable:
    parameters = json.dumps(item.gold_parameters, sort_keys=True)
    return item.answer_type, " ".join(item.gold_query.split()), parameters
