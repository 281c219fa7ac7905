"""`text-rag`: the graph as texts; a model reads the nearest ones and answers. One search, one call.

Paper: TextRAG (Gao et al. 2023), a baseline of GraphScout (003, table 1, appendix A.4): a node's attributes and edges
are linearized as plain text, a dense retriever fetches the texts that are nearest to the question, and they go into
the prompt. The paper gives neither their number nor their size. Here:

1. one search ranks the nodes of the graph, by meaning;
2. the best `documents` are written as text, attributes and edges, each cut to its share of the prompt;
3. a call answers from them, citing.

The ranking holds the nodes in the order of the search; nodes that the answer names come first, be they documents or
neighbours that a document names. `search` ends after 2 and asks no model.

Deviations:
1. The vectors are the graph's own, of names and texts (`orienteer embed`): edges are read, and not searched.
2. `mode=lexical` ranks by words, for a graph without vectors; dense is the paper's, and hybrid is ours.
3. A document that is longer than its share keeps what the question speaks of, and says how much it leaves out.
4. The model is to answer from the texts alone, and may say that they do not hold the answer; the prompt is our own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from pydantic import Field

from orienteer.agents.answer import answer_from
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.adjacency import Entries, span
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.searchers import Mode, ranking_of
from orienteer.lab.baselines.baseline import named_first
from orienteer.lab.baselines.graph_cot import CoreEntities
from orienteer.lab.baselines.listwise import QueryExpansion
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Kind, Node, Question, Ranked, Result
from orienteer.remembered import cached_method
from orienteer.retrieval.analysis import STOP
from orienteer.retrieval.evidence import EvidenceText
from orienteer.retrieval.graph_text import kind_line, plain_lines, type_names
from orienteer.retrieval.mentions import named_in, type_phrases
from orienteer.text.sentences import one_line, tokens as count_tokens, value_text
from orienteer.tools.texts import LARGEST_K
from orienteer.tools.toolbox import Toolbox, open_grounding

_REASONS = {
    "lexical": "its words fit the question",
    "dense": "near to the question in meaning",
    "hybrid": "fits the question in words and meaning",
}

# Nodes as text, attributes and edges, for TextRAG and GraphRAG. GraphScout (003), appendix A.4; the form is ours.
#
#     [N1] Alzheimer's disease (Disease)
#       identifier: DOID:10652
#       A tauopathy that is characterized by memory lapses ...
#       -presents-> Symptom (3): Agnosia; Memory Disorders; Aphasia
#       <-treats- Compound (5): Donepezil; Galantamine; and 3 more
#
# A hub has more edges than a prompt can hold. Of its kinds of edge those come first whose edge type and node type both
# share a word with the question, then those of which one does; of the nodes of a kind those that the rest of the
# evidence holds too, then those that fit the question's words best. Each kind says how many nodes it has in all. What
# comes first takes what room there is; among equals a kind that needs little leaves the rest to those that need more.
# Attributes have half of a text, and what edges leave.

_MOST_TYPES = 256  # whose words are remembered
_SCORED = 5_000  # nodes whose fit to the question's words orders the names of a line
_ALIASES = 400  # characters of all other names together, as `read_node` shows them
_VALUE = 200  # characters of a property
_EDGE_TEXT = 80  # characters of an edge's text
LEAST = 40
"""Fewest tokens of a text worth showing: without room for them a node is left out, with a note."""
_MORE, _KINDS, _LABEL = 4, 6, 4  # tokens of `; and 9 more`, of `and 9 more kinds of edge`, of a label in its brackets


class LinearConfig(WorkflowConfig):
    """The options of both methods."""

    context_tokens: int = Field(default=8_000, ge=1)
    """Size of what the model reads; the number is ours."""


class NodeText(NamedTuple):
    """A node as text."""

    row: int
    text: str
    rows: tuple[int, ...]
    """The neighbours that the text names, in their order."""
    tokens: int
    """Tokens that it takes of a prompt, with its label."""


class _EdgeGroup(NamedTuple):
    """The neighbours of a node by one kind of edge."""

    kind: Kind
    head: str
    """The beginning of its line."""
    rows: Rows
    """The neighbours, in the order in which they are named."""
    entries: Entries
    fit: int
    """2 if the question mentions both edge type and node type, 1 for one of them, 0 for neither."""


class Linearizer:
    """Writes nodes as text for one question."""

    def __init__(self, graph: Graph, question: str) -> None:
        self._graph = graph
        words = graph.arrays.tokenizer.words(question)
        self._stems = frozenset(graph.arrays.tokenizer.stem(word) for word in words if word not in STOP)
        hits = graph.arrays.searcher("lexical").search(question, _SCORED)
        self._fit = np.zeros(len(graph))  # (nodes,)
        self._fit[hits.rows] = hits.scores

    def write(self, row: int, tokens: int, *, first: Collection[int] = ()) -> NodeText:
        """Return a node as text of at most about `tokens`. `first` are the rows of the other evidence."""
        node, groups = self._graph.arrays.node_at(row), self._groups(row, first)
        title = f"{one_line(node.name)} ({one_line(node.type)})"
        left = tokens - _LABEL - count_tokens(title)
        lines = [title, *_attributes(node, left - self._need(groups, left // 2))]
        left -= _KINDS + sum(map(count_tokens, lines[1:]))
        fitting: list[_EdgeGroup] = []
        for group in groups:
            cost = count_tokens(group.head) + _MORE
            if cost > left:
                break
            fitting.append(group)
            left -= cost
        named: list[int] = []
        for group, room in zip(fitting, self._rooms(fitting, max(0, left)), strict=True):
            shown = names = self._names(group, room + _MORE)  # the last of them in place of saying that there is more
            if len(names) < len(group.rows):
                names = self._names(group, room)
                shown = [*names, f"and {len(group.rows) - len(names)} more"]
            lines.append(group.head + "; ".join(shown))
            named += group.rows[: len(names)].tolist()
        if len(fitting) < len(groups):
            lines.append(f"and {len(groups) - len(fitting)} more kinds of edge")
        text = "\n  ".join(lines)
        return NodeText(row, text, tuple(dict.fromkeys(named)), count_tokens(text) + _LABEL)

    def _need(self, groups: Sequence[_EdgeGroup], most: int) -> int:
        """Return the tokens of the lines of all edges, at most `most`."""
        need = _KINDS if groups else 0
        for group in groups:
            if need >= most:
                return most
            need += count_tokens(group.head) + _MORE + self._size(group, most)
        return min(need, most)

    def _groups(self, row: int, first: Collection[int]) -> list[_EdgeGroup]:
        """Return a node's edges by kind: those the question mentions first, then those with fewest neighbours."""
        graph, types, groups = self._graph, self._graph.arrays.types, list[_EdgeGroup]()
        entries = graph.arrays.adjacency.entries(np.array([row], np.int32))
        kinds = entries.kind.astype(np.int64)
        symmetric = [number for number, name in enumerate(types.edges) if name in graph.schema.symmetric]
        kinds = np.where(np.isin(kinds >> 1, symmetric), kinds & ~1, kinds)
        codes = kinds * len(types.nodes) + graph.arrays.node_types[entries.neighbor]
        own = graph.arrays.type_at(row)
        for code in np.unique(codes).tolist():
            kind, some = types.kind(code // len(types.nodes), code % len(types.nodes)), entries.where(codes == code)
            rows = np.unique(some.neighbor)
            order = np.lexsort((rows, -self._fit[rows], ~np.isin(rows, list(first))))
            fit = self._is_mentioned(kind.edge_type, joined=(own, kind.node_type)) + self._is_mentioned(kind.node_type)
            head = f"{one_line(kind_line(graph, kind))} ({len(rows)}): "
            groups.append(_EdgeGroup(kind, head, rows[order], some, fit))
        return sorted(groups, key=lambda group: (-group.fit, len(group.rows), group.kind))

    def _is_mentioned(self, type_name: str, *, joined: Sequence[str] = ()) -> bool:
        """Return whether the question has a content word of a type."""
        # The node types that an edge type joins do not count: it may be called `Disease - presents - Symptom`.
        others = frozenset[str]().union(*(phrase for end in joined for phrase in self._phrases(end)))
        return any(((phrase - others) or phrase) & self._stems for phrase in self._phrases(type_name))

    @cached_method(_MOST_TYPES)
    def _phrases(self, type_name: str) -> tuple[frozenset[str], ...]:
        """Return the stems of each phrase for a type."""
        tokenizer = self._graph.arrays.tokenizer
        phrases = type_phrases(type_name, self._graph.schema, tokenizer)
        return tuple(frozenset(map(tokenizer.stem, phrase)) for phrase in phrases)

    def _rooms(self, groups: Sequence[_EdgeGroup], tokens: int) -> list[int]:
        """Return the tokens for each group: first the groups that the question mentions, with equal shares."""
        sizes, rooms = [self._size(group, tokens) for group in groups], [0] * len(groups)
        for fit in (2, 1, 0):
            places = sorted((at for at, group in enumerate(groups) if group.fit == fit), key=sizes.__getitem__)
            for place, at in enumerate(places):
                rooms[at] = min(sizes[at], tokens // (len(places) - place))
                tokens -= rooms[at]
        return rooms

    def _size(self, group: _EdgeGroup, tokens: int) -> int:
        """Return the tokens of the names of a group, counted up to `tokens`."""
        return sum(count_tokens(name) + 1 for name in self._names(group, tokens))

    def _names(self, group: _EdgeGroup, tokens: int) -> list[str]:
        """Return as many names of a group as there is room for, each with the texts of the edges to it."""
        arrays, names = self._graph.arrays, list[str]()
        for row in group.rows.tolist():
            name = one_line(arrays.names[row])
            if arrays.has_extras:
                places = group.entries.at[slice(*span(group.entries.neighbor, row))].tolist()
                texts = [text for at in places if (text := arrays.extras(at).get("text"))]
                shown = ", ".join(dict.fromkeys(one_line(text, _EDGE_TEXT) for text in texts))
                name = f"{name} ({shown})" if texts else name
            tokens -= count_tokens(name) + 1
            if tokens < 0:
                break
            names.append(name)
        return names


def _attributes(node: Node, tokens: int) -> Iterator[str]:
    """Yield the aliases, properties and text of a node as lines, as far as there is room."""
    lines = [one_line(f"also: {'; '.join(node.aliases)}", _ALIASES)] if node.aliases else []
    lines += [one_line(f"{name}: {value_text(value)}", _VALUE) for name, value in node.properties.items()]
    for line in [*lines, *plain_lines(node.text)]:
        if tokens <= 0:
            return
        if count_tokens(line) > tokens:
            while (count := count_tokens(line)) >= tokens and len(line) > 1:
                line = line[: min(len(line) - 1, len(line) * tokens // count)]
            line = f"{line}…"
        yield line
        tokens -= count_tokens(line)


def render_nodes(graph: Graph, written: Iterable[NodeText], tokens: int) -> EvidenceText:
    """Return nodes as evidence for a prompt, labelled, as many as fit; indented texts cannot pass for labels."""
    labels: dict[str, tuple[str, ...]] = {}
    pieces: list[str] = []
    left_out = 0
    for node in written:
        if node.tokens > tokens:
            left_out += 1
            continue
        tokens -= node.tokens
        label = f"{'C' if graph.arrays.type_at(node.row) in PASSAGES else 'N'}{len(labels) + 1}"
        labels[label] = (graph.arrays.ids[node.row],)
        pieces.append(f"[{label}] {node.text}")
    return EvidenceText("\n".join(pieces), labels, left_out)


_L = TypeVar("_L", bound=LinearConfig)


class _NodeTextMethod(Generic[_L]):
    """A method that ranks without a model, and answers from nodes as text."""

    name: ClassVar[str]
    settings: type[_L]

    def __init__(self, graph: Graph, config: _L | None = None) -> None:
        """Raise `BadOption` if the mode needs vectors and the graph lacks them."""
        self._graph, self.config = graph, config or self.settings()
        graph.arrays.searcher(self.config.mode)

    def _start(self, question: Question, run: Run, toolbox: Toolbox | None = None) -> Workflow:
        config = self.config
        return Workflow(self._graph, None, run, question=question, method=self.name, config=config, toolbox=toolbox)

    def _answered(
        self, result: Result, workflow: Workflow, written: Sequence[NodeText], run: Run, model: LanguageModel
    ) -> Result:
        """Return a result with an answer, the nodes that it names first, then those that it cites."""
        graph, config = self._graph, self.config
        evidence = render_nodes(graph, written, config.context_tokens)
        result = answer_from(result, evidence, model=model, run=run, temperature=config.temperature)
        if result.answer is None:
            return result
        rows = (row for node in written for row in (node.row, *node.rows))
        named = named_in(graph, rows, result.answer)
        return named_first(result, workflow, named, {graph.arrays.row(hit.id): hit.why for hit in result.hits})


class TextRagConfig(LinearConfig):
    """TextRAG's settings."""

    mode: Mode = "dense"
    """How texts are ranked: dense (the paper's), hybrid, hybrid:0.6 or rrf, which need vectors, or lexical."""
    documents: int = Field(default=10, ge=1, le=LARGEST_K)
    """Nodes whose text the model reads, at the most; the number is ours."""


class TextRag(_NodeTextMethod[TextRagConfig]):
    """The nearest texts of nodes, and an answer from them."""

    name = "text-rag"
    settings = TextRagConfig

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes whose texts are nearest to the question. No model is asked."""
        return self._search(self._start(question, run))

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Answer in one call from the best of them, as text."""
        config, graph, workflow = self.config, self._graph, self._start(question, run)
        result = self._search(workflow)
        rows = [graph.arrays.row(hit.id) for hit in result.hits[: config.documents]]
        linearizer, share = Linearizer(graph, question.text), max(config.context_tokens // max(len(rows), 1), LEAST)
        return self._answered(result, workflow, [linearizer.write(row, share) for row in rows], run, model)

    def _search(self, workflow: Workflow) -> Result:
        question = workflow.question
        node_types = question.node_types or self._graph.arrays.text_types
        reason = _REASONS[ranking_of(self.config.mode).kind]

        def search() -> tuple[Ranked, ...]:
            rows = workflow.search(question.text, question.k, node_types=node_types, where=question.where)
            return workflow.present(dict.fromkeys(rows, reason))

        return workflow.follow(search)


# `graph-rag`: what surrounds the nodes of a question, two edges wide, as text, and an answer from it. One call.
#
# Paper: GraphRAG as a baseline of GraphScout (003, table 1, appendix A.4): core entities are identified from the
# question, the subgraph of two hops around each is linearized as text and given to the model. The paper does not say
# how much of it, or which part if it is too large. Here:
#
# 1. the core entities are the nodes that the question names, else the best that one search finds;
# 2. around each the neighbours are ranked by how well they fit the question, those of the type that it asks for first;
# 3. those that touch all core entities, or if none does several of them, come first, then the best of each in turn:
#    `neighbors` of them in all;
# 4. core entities and neighbours are written as text, attributes and edges: the edges of a core entity are the first
#    hop, those of a neighbour the second. Half of the prompt goes to the core entities, half to the rest; what joins
#    two of the subgraph is named before what leads out of it;
# 5. a call answers from that, citing.
#
# The ranking holds the core entities, the neighbours, then the other nodes that the text names, in its order; with an
# answer, those that it names come first. `search` ends after 4 and asks no model.
#
# Deviations:
# 1. Entities are found by name, without a model; 003 says neither way.
# 2. The subgraph is not whole: two hops around a disease of Hetionet hold some 17,000 of its 47,031 nodes. Each line
#    says how many it leaves out.
# 3. The model is to answer from the text alone, and may say that it does not hold the answer; the prompt is our own.


class GraphRagConfig(LinearConfig):
    """GraphRAG's settings."""

    entities: int = Field(default=5, ge=1, le=LARGEST_K)
    """Core entities at the most; the number is ours."""
    neighbors: int = Field(default=20, ge=1, le=LARGEST_K)
    """Neighbours whose own edges are told, the second hop, at the most; the number is ours."""


class GraphRag(_NodeTextMethod[GraphRagConfig]):
    """Core entities, their surroundings as text, and an answer from it."""

    name = "graph-rag"
    settings = GraphRagConfig

    def __init__(self, graph: Graph, config: GraphRagConfig | None = None) -> None:
        super().__init__(graph, config)
        self._cores = CoreEntities(graph)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes of the subgraph in the order of its text. No model is asked."""
        workflow = self._start(question, run, open_grounding(self._graph, self.config.mode))
        return self._gather(workflow)[0]

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Answer in one call from the subgraph as text."""
        workflow = self._start(question, run, open_grounding(self._graph, self.config.mode))
        result, written = self._gather(workflow)
        return self._answered(result, workflow, written, run, model)

    def _gather(self, workflow: Workflow) -> tuple[Result, list[NodeText]]:
        config, question = self.config, workflow.question
        written: list[NodeText] = []

        def gather() -> tuple[Ranked, ...]:
            hits = self._cores.search(workflow, question.k)
            reasons = dict(list((self._cores.named(workflow) or hits).items())[: config.entities])
            cores, around = list(reasons), self._second_hop(workflow, list(reasons))
            # Half of the room is for core entities, and what they leave for their neighbours.
            linearizer, first = Linearizer(self._graph, question.text), {*cores, *around}
            half = config.context_tokens // 2
            whole = half if around else 2 * half
            written.extend(linearizer.write(row, max(whole // len(cores), LEAST), first=first) for row in cores)
            left = config.context_tokens - sum(text.tokens for text in written)
            share = max(left // max(len(around), 1), LEAST)
            written.extend([linearizer.write(row, share, first=first) for row in around])
            rows = (row for text in written for row in text.rows)
            beyond = dict.fromkeys(rows, "within two edges of the core entities")
            for row, why in (*around.items(), *beyond.items(), *hits.items()):
                reasons.setdefault(row, why)
            return workflow.present(reasons)

        return workflow.follow(gather), written

    def _second_hop(self, workflow: Workflow, cores: Sequence[int]) -> dict[int, str]:
        """Return the neighbours whose own edges are shown: those that join core entities, then the best of each."""
        arrays = self._graph.arrays
        types = list(self._cores.answer_types(workflow))
        near = [self._near(workflow, core, types) for core in cores]
        around: dict[int, str] = {}
        if len(cores) > 1:
            touching = arrays.touching([arrays.adjacency.neighbors(core) for core in cores]).rows
            joining, _ = arrays.rank(touching, workflow.question.text, len(touching))
            # Nodes of a type that the question asks for come first.
            wanted = arrays.mask(types or None)
            first = [row for row in joining.tolist() if wanted is None or wanted[row]]
            around = dict.fromkeys([*first, *joining.tolist()], "joins core entities")
        for row in (row for place in zip_longest(*near) for row in place if row is not None):
            around.setdefault(row, "next to a core entity")
        return dict([(row, why) for row, why in around.items() if row not in set(cores)][: self.config.neighbors])

    def _near(self, workflow: Workflow, core: int, types: list[str]) -> list[int]:
        """Return the neighbours of a core entity that fit the question best, those of some types first."""
        query, most = workflow.question.text, self.config.neighbors
        node = f"[{self._graph.arrays.ids[core]}]"  # in brackets any id is read as one
        nodes: dict[str, None] = {}
        for filters in [{"node_types": types}, {}] if types else [{}]:
            if len(nodes) < most:
                near = workflow.use("search_in_neighborhood", node=node, query=query, k=most, **filters)
                nodes |= dict.fromkeys(near.nodes)
        return list(map(self._graph.arrays.row, nodes))[:most]


# `hyde`: search with a passage that a model makes up, since it resembles the true one more than the question does.
#
# Paper: Gao, Ma, Lin and Callan 2023, HyDE; a baseline of SAGE
# (004, section 3). Its samples are 8, at a temperature of 0.7 (the authors' code).
#
# Deviations:
# 1. `mode=dense` is the paper's: the mean of the vectors of the passages and of the question, which the authors' code
#    includes (its equation 8). Vectors have length 1 before they are averaged. `hybrid` adds BM25 to that.
# 2. By default BM25 takes the place of the dense encoder. Words cannot be averaged as vectors can: question and
#    passages are put one after another, and a word counts once, however many of them hold it.
# 3. One passage by default, not 8: each costs a call. `passages=8` is the authors' code.
# 4. One prompt, in our own words and with the graph's node types, for the paper's one for each task.

MOST_PASSAGES = 63
"""With the question they are what a server embeds in one request: one call of the budget."""


class HydeConfig(WorkflowConfig):
    """HyDE's settings."""

    passages: int = Field(default=1, ge=1, le=MOST_PASSAGES)
    """Passages that are made up, a call each. The authors' code takes 8."""
    temperature: float = 0.7
    """Temperature of the passages, as in the authors' code: 0 would make them all alike."""


class Hyde(QueryExpansion[HydeConfig]):
    """Hypothetical document embeddings, or with words in place of embeddings: n calls, one search."""

    name = "hyde"
    settings = HydeConfig

    @property
    def are_means(self) -> bool:
        """Whether the vectors of passages and question are averaged: there are vectors to search with."""
        return self.config.mode != "lexical"

    def start(self, question: Question, run: Run, toolbox: Toolbox | None = None) -> Workflow:
        """Return the course of a question, before its first step."""
        mode = self.config.mode
        self._graph.arrays.searcher(mode)  # raises without vectors, before a model is paid
        toolbox = Toolbox.full(self._graph, mode=mode, offers_passages=self.are_means, names_first=False)
        return super().start(question, run, toolbox)

    def write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        """Yield the passages so far, after each."""
        written: tuple[str, ...] = ()
        for _ in range(self.config.passages):
            passage = workflow.ask("hyde", question=workflow.question.text, node_types=type_names(self._graph))
            written = (*written, passage)
            yield written
