"""`focusedr`, also called AF-Retriever: a small Cypher query, grounded with widening, then a free list, reranked.

Papers: Boer et al. 2025 (AF-Retriever); FocusedR in SAGE (004), appendix C.2 and table 4.

1. a call writes a small Cypher query, which is read (`cypher_pattern`) and never executed;
2. it gives the target, the triplets, and the constants, each with its best l nodes;
3. GROUND_TRIPLETS prunes the candidates (`triplet_pattern`), with l = 1, 2, 3 until the target has k of them;
4. two lists in the order of the text: grounded nodes, and free ones of the target's type; 13 of the first, then 7;
5. a call reranks the first 20 (`listwise`).

Deviations:
1. BM25 stands in for vectors, for the constants and for both lists, unless `mode` says otherwise; a node of just the
   constant's name comes first. AF-Retriever embeds a constant as `type: T; name: X`; here its text, among its types.
2. The target's type stands in the query; AF-Retriever spends a call of its own on it.
3. Types are checked against the schema first: near forms are taken, a reversed edge is turned, and parts that the graph
   cannot match are left out, each with a note. So is a constant that no node matches; vectors always find a node.
4. A comparison means what it says: AF-Retriever's code takes `>=` for `>`.
5. The prompts are our own. They show five names of each node type, as AF-Retriever's do, spread evenly over the ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby

import numpy as np
from pydantic import Field

from orienteer.agents.answer import AnswerParts, ask, citations, parted, without
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.cypher.expressions import read_expression
from orienteer.cypher.patterns import read_path
from orienteer.cypher.syntax import NodePattern, PathPattern, made_up
from orienteer.cypher.tokens import LONGEST, CypherToken, TokenReader, tokenize
from orienteer.errors import BadQuery
from orienteer.graph.store import Graph
from orienteer.lab.baselines.baseline import Baseline, named_first
from orienteer.lab.baselines.graph_cot import CoreEntities, split
from orienteer.lab.baselines.listwise import reranked
from orienteer.lab.baselines.triplet_pattern import MOST_SYMBOLS, Symbol, Triplet, TripletPattern, fitting, resolved
from orienteer.protocols import LanguageModel, Run
from orienteer.query.expressions import Binary, Expression, Literal_, Property, Variable
from orienteer.records import Observation, Question, Ranked, Result
from orienteer.retrieval.graph_text import schema_lines, title
from orienteer.retrieval.mentions import named_in, occurrences
from orienteer.text.sentences import flat, one_line, single_spaced
from orienteer.tools.texts import LARGEST_K
from orienteer.tools.toolbox import open_grounding

_SAMPLES = 5  # names of each node type in the prompt; AF-Retriever
_SAMPLED = 40  # node types that are shown with them
_NAME = 80  # characters of such a name


class FocusedRConfig(WorkflowConfig):
    """AF-Retriever's settings."""

    candidates: int = Field(default=3, ge=1, le=LARGEST_K)
    """Nodes that a constant may be, at the widest: AF-Retriever's l_max, reached over l = 1, 2, 3, 5, 8 and so on."""
    enough: int = Field(default=20, ge=1, le=LARGEST_K)
    """Grounded nodes at which the widening ends; AF-Retriever's k."""
    grounded: int = Field(default=13, ge=1, le=LARGEST_K)
    """Places for grounded nodes before free ones follow; AF-Retriever's alpha, of 20."""
    rerank_first: bool = True
    """Let the model order the first 20. Step 6 of SAGE's appendix C.2."""


class FocusedR(Baseline[FocusedRConfig]):
    """Cypher that is read, grounding that widens, two lists, rerank."""

    name = "focusedr"
    settings = FocusedRConfig

    def retrieve(self, question: Question, run: Run) -> Result:
        """Ground the query that the model writes, mix in free hits, rerank."""
        config, workflow = self.config, self.start(question, run)

        def ranking() -> dict[int, str]:
            pattern, most = self._pattern(workflow), tuple(widths(config.candidates))
            return fitting(workflow, pattern, widths=most, first=config.grounded, enough=config.enough)

        return reranked(workflow, ranking, rerank_first=config.rerank_first)

    def _pattern(self, workflow: Workflow) -> TripletPattern | None:
        """Return the pattern of the model's query, or None if it cannot be read."""
        reply = workflow.ask(
            "focusedr",
            schema="\n".join(schema_lines(self._graph)),
            samples=self._samples,
            question=workflow.question.text,
        )
        try:
            pattern = read(reply, workflow.notes)
        except BadQuery as error:
            workflow.notes.append(f"the model's query cannot be read, found by plain search: {error}")
            return None
        return resolved(pattern, self._graph, workflow.notes)

    @cached_property
    def _samples(self) -> str:
        """Names of each node type, for those with the most nodes."""
        graph = self._graph
        counts = graph.schema.node_types
        lines = []
        for name in sorted(counts, key=lambda name: (-counts[name], name))[:_SAMPLED]:
            rows = np.flatnonzero(graph.arrays.types.node_mask([name])[graph.arrays.node_types])
            some = rows[np.unique(np.linspace(0, len(rows) - 1, _SAMPLES).astype(np.int64))] if len(rows) else rows
            lines.append(f"{name}: {'; '.join(one_line(graph.arrays.names[int(row)], _NAME) for row in some)}")
        return "\n".join(lines)


def widths(most: int) -> Iterator[int]:
    """Yield the numbers of candidates that AF-Retriever tries, `l = int(1.5 * l + .5)` from 1 on, up to the most."""
    width = 1
    while width < most:
        yield width
        width = int(1.5 * width + 0.5)
    yield most


# `cypher`: nodes are retrieved, the model writes one Cypher query, it is run, the model answers from its rows.
#
# Paper: Cypher as a baseline of GraphScout (003, table 1, appendix A.4, after PolyG); the node retrieval was added by
# 003. Neither gives a prompt.
#
# 1. nodes are retrieved for the question: those that it names, then what one search finds;
# 2. a call writes one query from the schema and these nodes;
# 3. it is executed read-only, behind our guard, for ten seconds at most;
# 4. a call answers from the rows.
#
# A refused query goes back to the model with the reason, up to `repair` times; the paper's number is 0.
#
# The ranking holds the nodes of the rows, in their order, then the retrieved ones; nodes that the answer names come
# first. If no query was accepted there is nothing to answer from: no call is made, and the answer is *not in the
# evidence*. `search` ends after 3.
#
# Deviations:
# 1. The guard refuses what changes a graph, runs without end or is not understood, and says what to write instead.
# 2. Nodes are retrieved by BM25 unless `mode` says otherwise, and by exact name before that.
# 3. The model sees as many rows as 6,000 tokens hold, at most 100, and their total number.
# 4. The prompts are our own.

NO_QUERY = "the model wrote no query"
_BLOCK = re.compile(r"```[^\S\n]*(?:\w+[^\S\n]*\n|\n)?(.*?)(?:```|\Z)", re.DOTALL)
_BEGINS = re.compile(r"^[ \t]*(?:OPTIONAL[ \t]+MATCH|MATCH|UNWIND|WITH|RETURN)\b", re.IGNORECASE | re.MULTILINE)
_MOST_REPAIRS = 5
_JOINED = re.compile(r";|(?:^|\s)(?:and|or)(?:\s|$)")
_NO_NAMES = frozenset({"true", "false", "yes", "no", "none"})
_SHOWN = 2_000  # characters of a refused query that the model is shown again


class CypherConfig(WorkflowConfig):
    """Cypher's settings."""

    candidates: int = Field(default=10, ge=1, le=LARGEST_K)
    """Nodes that the model is shown, at the most; the number is ours."""
    repair: int = Field(default=0, ge=0, le=_MOST_REPAIRS)
    """How often a query that was refused goes back to the model with the reason, up to 5; the paper's does not."""


class CypherAnswer(Baseline[CypherConfig]):
    """Retrieve nodes, write a query, run it, answer from its rows."""

    name = "cypher"
    settings = CypherConfig

    def __init__(self, graph: Graph, model: LanguageModel, config: CypherConfig | None = None) -> None:
        super().__init__(graph, model, config)
        self._cores = CoreEntities(graph)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes of the query's rows, then those retrieved for it."""
        return self._follow(question, run)[0]

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Answer from the rows of the query."""
        result, course = self._follow(question, run)
        if course.rows is None:
            return without(result)
        user = f"Query:\n{course.query}\n\nRows:\n{course.rows.text}\n\nQuestion: {question.text}"
        temperature = self.config.temperature
        result = ask(result, "cypher-answer", user, course.read, model=model, run=run, temperature=temperature)
        return course.named_first(result)

    def _follow(self, question: Question, run: Run) -> tuple[Result, _CypherCourse]:
        tools = open_grounding(self._graph, self.config.mode, offers_cypher=True)
        course = _CypherCourse(self._graph, self.start(question, run, tools), self.config, self._cores)
        return course.workflow.follow_and_rank(course.run, course.ranking), course


class _CypherCourse:
    """One question's query and its rows."""

    def __init__(self, graph: Graph, workflow: Workflow, config: CypherConfig, cores: CoreEntities) -> None:
        self.workflow, self._graph, self._config, self._cores = workflow, graph, config, cores
        self.query = ""
        self.rows: Observation | None = None
        """The observation of the query, or None if none was run to its end."""
        self._retrieved: dict[int, str] = {}

    def run(self) -> None:
        """Retrieve, have a query written, run it; a refused one is written again."""
        graph, workflow, config = self._graph, self.workflow, self._config
        self._retrieved = self._cores.named(workflow)  # stays if the budget ends here
        for row, why in self._cores.search(workflow, max(workflow.question.k, config.candidates)).items():
            self._retrieved.setdefault(row, why)
        candidates = [flat(title(graph, row)) for row in list(self._retrieved)[: config.candidates]]
        attempts = ""
        for _ in range(1 + config.repair):
            reply = workflow.ask(
                "cypher",
                schema="\n".join(map(flat, schema_lines(graph))),
                candidates="\n".join(candidates) or "none",
                question=workflow.question.text,
                attempts=attempts,
            )
            refusal, self.query = NO_QUERY, query_in(reply)
            if self.query:
                rows = workflow.use("cypher", query=self.query, k=LARGEST_K)
                if rows.error is None:
                    self.rows = rows
                    return
                refusal = single_spaced(rows.text)
            workflow.notes.append(f"the model's query was refused: {refusal}")
            attempts = f"\nYou wrote:\n{self.query[:_SHOWN]}\nIt was refused: {refusal}\nWrite another one."
        workflow.notes.append("no query was run: there are no rows to answer from")

    def ranking(self) -> tuple[Ranked, ...]:
        """Return the nodes of the rows, then the retrieved ones."""
        return self.workflow.present(self._reasons())

    def _reasons(self) -> dict[int, str]:
        nodes = self.rows.nodes if self.rows is not None else ()
        reasons = dict.fromkeys(map(self._graph.arrays.row, nodes), "in the rows of the query")
        return reasons | {row: why for row, why in self._retrieved.items() if row not in reasons}

    def read(self, reply: str) -> AnswerParts:
        """Read a reply: the answer, and which nodes of the rows it cites, also of a later column, a list or a path."""
        assert self.rows is not None  # without rows nothing is asked
        answer, ids, text = parted(reply), self._graph.arrays.ids, self.rows.text
        cited = citations(f"{answer.reasoning} {answer.text}", self.rows.nodes)
        others = tuple(node for node in cited.notes if ids.find(node) is not None and any(occurrences(node, text)))
        strange = [node for node in cited.notes if node not in others]
        notes = (f"the answer cites what is not in the rows: {', '.join(strange)}",) if strange else ()
        return AnswerParts(answer.text, (*cited.cited, *others), (*answer.notes, *notes), answer.reasoning)

    def named_first(self, result: Result) -> Result:
        """Return an answered result whose ranking begins with what its answer names, then cites."""
        if result.answer is None:
            return result
        answer, ranked = result.answer, self._reasons()
        named = named_in(self._graph, ranked, answer)
        return named_first(result, self.workflow, (*named, *self._called(answer, named)), ranked)

    def _called(self, answer: str, named: Iterable[int]) -> Iterator[int]:
        """Yield the nodes whose names are in the rest of an answer: rows may hold names and no nodes."""
        names = sorted((self._graph.arrays.names[row] for row in named), key=len, reverse=True)
        rest = re.sub("|".join(map(re.escape, names)), ",", answer, flags=re.IGNORECASE) if names else answer
        for part in split(rest):
            yield from self._candidates(part) or (row for name in _JOINED.split(part) for row in self._candidates(name))

    def _candidates(self, name: str) -> list[int]:
        is_name = any(map(str.isalpha, name)) and name.casefold().strip(" .") not in _NO_NAMES
        return self._graph.arrays.candidates(name.strip()) if is_name else []


def query_in(reply: str) -> str:
    """Return the query of a reply: its last code block that holds a clause, else all from the first clause on."""
    blocks = [block.strip() for block in _BLOCK.findall(reply)]
    text = next((block for block in reversed(blocks) if _BEGINS.search(block)), reply)
    begins = _BEGINS.search(text)
    return text[begins.start() :].strip().removesuffix(";").strip() if begins else ""


# Read the pattern out of a small Cypher query that a model wrote: MATCH, WHERE with AND, RETURN. Nothing is executed.
#
# The parser of our Cypher reads one clause at a time, so that a clause which it refuses does not lose the others. What
# is understood: nodes with labels, edges with types and a direction, properties in braces, comparisons of a property
# with a value. Whatever else a query holds is left out, and a note says so.


_FENCED = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_BEGIN = re.compile(r"\bmatch\b\s*(?:\w+\s*=\s*)?\(", re.IGNORECASE)
_STATEMENT = re.compile(r"""(?:/\*.*?\*/|//[^\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[^;])*""", re.DOTALL)
_CLAUSES = frozenset(
    {"match", "optional", "where", "return", "with", "order", "limit", "skip", "unwind", "union", "call"}
)
_NAMES = frozenset({"name", "title", "label", "id"})
"""Properties whose value names a node, if a query compares them for equality."""
_COMPARISONS = {"=": "=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
"""The operators of a condition on a property, by those of Cypher."""
_PARTS_OF_TEXT = ("CONTAINS", "STARTS WITH", "ENDS WITH")


def read(query: str, notes: list[str]) -> TripletPattern:
    """Return the pattern of a query; `notes` takes what is left out. Raises `BadQuery` if it holds no pattern."""
    # The first statement of a code block, else of the whole text, from its first MATCH on.
    fenced = _FENCED.search(query)
    text = (fenced[1] if fenced else query)[:LONGEST]
    begin = _BEGIN.search(text)
    if begin is None:
        raise BadQuery("it has no MATCH")
    statement = _STATEMENT.match(text, begin.start())
    assert statement is not None  # it matches the empty text too
    reader = _PatternReader(statement[0], notes)
    reader.read()
    symbols = reader.symbols
    if not symbols:
        raise BadQuery("it matches no node")
    if len(symbols) > MOST_SYMBOLS or len(reader.triplets) > MOST_SYMBOLS:
        raise BadQuery(f"it matches more than {MOST_SYMBOLS} nodes or edges")
    target = reader.target or next((name for name, symbol in symbols.items() if not symbol.text), next(iter(symbols)))
    if not reader.target:
        notes.append(f"the query returns no node of its pattern: taken for {target.lstrip(chr(0))}")
    return TripletPattern(target, symbols, tuple(reader.triplets))


class _PatternReader:
    """Reads one statement, clause by clause. A variable may come up in several of them."""

    def __init__(self, statement: str, notes: list[str]) -> None:
        self._statement, self._notes = statement, notes
        self.symbols: dict[str, Symbol] = {}
        self.triplets: list[Triplet] = []
        self.target = ""

    def read(self) -> None:
        """Read the statement to its end. Raises `BadQuery` if a pattern cannot be read."""
        clause, before = list[CypherToken](), ""
        for token in tokenize(self._statement):
            is_name = before in (".", "starts", "ends")  # a property's name, or STARTS WITH
            before = token.value.casefold()
            if token.kind == "end" or (token.kind == "word" and before in _CLAUSES and not is_name):
                word = clause[0].value.casefold() if clause else ""
                if word == "match":
                    text = " ".join(self._single_steps(clause[1:]))
                    reader = TokenReader(text)
                    self._add_path(read_path(reader, read_expression))
                    while reader.takes(","):
                        self._add_path(read_path(reader, read_expression))
                    self._leave_out(text[reader.peek().start :])
                elif word == "where":
                    for is_and, condition in groupby(
                        clause[1:], lambda token: token.kind == "word" and token.value.upper() == "AND"
                    ):
                        if not is_and and not self._takes_condition(text := self._text(list(condition))):
                            self._leave_out(text)
                elif word == "return":
                    names = (token.value for token in clause if token.kind in ("word", "name"))
                    self.target = self.target or next((name for name in names if name in self.symbols), "")
                else:
                    self._leave_out(self._text(clause))
                clause = []
            clause.append(token)

    def _text(self, tokens: Sequence[CypherToken]) -> str:
        return self._statement[tokens[0].start : tokens[-1].end] if tokens else ""

    def _leave_out(self, text: str) -> None:
        if text:
            self._notes.append(f"left out of the query: {' '.join(text.split())[:200]}")

    def _single_steps(self, tokens: Sequence[CypherToken]) -> Iterator[str]:
        """Yield the words of a pattern, its edges one step long and the labels of a node alternatives."""
        # The parser refuses `*` without a bound and `(n:A:B)`, both of which models write.
        signs = [token.value if token.kind == "sign" else "" for token in tokens]
        is_length = False
        for place, token in enumerate(tokens):
            is_length = signs[place] == "*" or (is_length and (token.kind == "integer" or signs[place] == ".."))
            if is_length:
                self._leave_out(self._text([token]))
                continue
            is_second_label = signs[place] == ":" and signs[place - 2 : place - 1] in ([":"], ["|"])
            yield "|" if is_second_label else self._text([token])

    def _add_path(self, path: PathPattern) -> None:
        names = [self._added(node) for node in path.nodes]
        for start, edge, end in zip(names, path.edges, names[1:], strict=False):
            head, tail = (end, start) if edge.direction == "in" else (start, end)
            self.triplets.append(Triplet(head, edge.types, tail, edge.direction != "both"))
            for key, _ in edge.properties:
                self._leave_out(f"{key} of an edge")

    def _added(self, node: NodePattern) -> str:
        """Return the name of a node, which is now a symbol of the pattern."""
        name = node.variable or made_up("node", len(self.symbols))
        symbol = self.symbols.get(name, Symbol())
        self.symbols[name] = replace(symbol, node_types=symbol.node_types or node.types)
        for key, value in node.properties:
            if not self._takes_comparison(name, key, "=", value):
                raise BadQuery(f"the property {key!r} has no plain value")
        return name

    def _takes_condition(self, condition: str) -> bool:
        """Take `x.key = value`; return False for any other condition."""
        try:
            reader = TokenReader(condition)
            comparison = read_expression(reader)
        except BadQuery:
            return False
        if reader.peek().kind != "end" or not isinstance(comparison, Binary):
            return False
        compared, operator = comparison.left, comparison.operator
        if not isinstance(compared, Property) or not isinstance(compared.base, Variable):
            return False
        if operator in _PARTS_OF_TEXT and compared.key.casefold() in _NAMES:
            operator = "="  # a part of another text is for search by words
        return self._takes_comparison(compared.base.name, compared.key, operator, comparison.right)

    def _takes_comparison(self, name: str, key: str, operator: str, right: Expression) -> bool:
        """Take a comparison: a name for equality is what a node is searched by, all else is a condition."""
        symbol, value = self.symbols.get(name), _value(right)
        if symbol is None or value is None or operator not in _COMPARISONS:
            return False
        if operator == "=" and key.casefold() in _NAMES and not symbol.text:
            self.symbols[name] = replace(symbol, text=value)
        elif value:
            self.symbols[name] = replace(symbol, where=(*symbol.where, f"{key} {_COMPARISONS[operator]} {value}"))
        return True


def _value(expression: Expression) -> str | None:
    """Return a text, a number or a word such as true, as a condition has it, or None for anything else."""
    if isinstance(expression, Variable):
        return expression.name
    if not isinstance(expression, Literal_):
        return None
    return expression.value if isinstance(expression.value, str) else json.dumps(expression.value)
