"""One listwise rerank: a model sees the first documents of a ranking together, with their relations, and orders them.

After AF-Retriever (Boer et al. 2025; FocusedR in SAGE, 004, appendix C.2, step 6): 20 documents, one call. Ids that the
model makes up are dropped, documents that it leaves out follow in the order they had.

Deviation: a document's text is the part that fits the question best, and its relations are the neighbours that do.
Whole documents of hubs would not fit a request.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.answer import NOT_THERE
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.adjacency import Entries, span
from orienteer.graph.reserved import PASSAGES
from orienteer.graph.search import Coverage, QueryWords
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.protocols import LanguageModel, Reranked, Run
from orienteer.records import Kind, Node, Question, Ranked, Result
from orienteer.remembered import remembered
from orienteer.retrieval.analysis import STOP
from orienteer.retrieval.evidence import EvidenceText
from orienteer.retrieval.graph_text import edge_note, hit_title, kind_line, plain_lines, present, title, type_names
from orienteer.retrieval.mentions import named_in, near_name, type_phrases
from orienteer.text.sentences import one_line, value_text
from orienteer.text.sentences import tokens as count_tokens
from orienteer.tools.texts import LARGEST_K

DOCUMENTS = 20
"""Documents that the model is shown; AF-Retriever."""
RELATIONS = 12
"""Neighbours that a document is shown with; ours."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
    "required": ["ids"],
    "additionalProperties": False,
}
"""The form of the model's reply."""


class ListwiseReranker:
    """A `Reranker` for `ark` and for `Retriever`: called with the question and the hits, it returns their ids.

    A method passes its own run on (`rerank`), whose record then holds the call. Called directly it asks through the run
    that it was made with, else without a limit, and raises `ModelError` where the model fails and `BudgetExhausted`
    where the run allows no further call.
    """

    def __init__(self, graph: Graph, model: LanguageModel, *, run: Run | None = None) -> None:
        self._graph, self._model, self._run = graph, model, run

    def __call__(self, question: Question, hits: Sequence[Ranked]) -> tuple[str, ...]:
        """Return the ids of all hits, best first."""
        from orienteer.llm.budget import Allowance

        workflow = self._workflow(question, Allowance(reserve=0))
        return tuple(hit.id for hit in rerank(workflow, hits))

    def rerank(self, question: Question, hits: Sequence[Ranked], run: Run) -> Reranked:
        """Return the ids of all hits, best first, with the record of the call; in their old order where it failed."""
        workflow = self._workflow(question, run)
        try:
            hits = rerank(workflow, hits)
        except (BudgetExhausted, ModelError) as failed:
            workflow.notes.append(f"not reranked: {failed}")
        return Reranked(tuple(hit.id for hit in hits), workflow.model_calls, tuple(workflow.notes))

    def _workflow(self, question: Question, run: Run) -> Workflow:
        run = run if self._run is None else self._run
        return Workflow(self._graph, self._model, run, question=question, method="listwise")


def rerank(workflow: Workflow, hits: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """Return the hits, the first 20 in the model's order. A spent budget propagates."""
    if len(hits) < 2:
        return tuple(hits)
    question = workflow.question.text
    documents = "\n\n".join(document(workflow.graph, hit, question) for hit in hits[:DOCUMENTS])
    reply = workflow.ask_for("listwise", SCHEMA, question=question, documents=documents)
    if reply is None:
        workflow.notes.append("the model's order cannot be read: the ranking stays as it was")
        return tuple(hits)
    order = in_order(reply["ids"], [hit.id for hit in hits[:DOCUMENTS]])
    if not any(_bare(node_id) in order for node_id in reply["ids"]):
        workflow.notes.append("the model's order names no document: the ranking stays as it was")
    by_id = {hit.id: hit for hit in hits}
    order += tuple(node_id for node_id in by_id if node_id not in order)
    return tuple(
        by_id[node_id].model_copy(update={"score": float(len(order) - at)}) for at, node_id in enumerate(order)
    )


def reranked(workflow: Workflow, ranking: Callable[[], Mapping[int, str]], *, rerank_first: bool) -> Result:
    """Follow a course that ranks rows, each with its reason, and then has the model order the first 20.

    A budget that ends between the two leaves the ranking, and one that ends before leaves plain search.
    """

    def course() -> Sequence[Ranked]:
        workflow.hits = workflow.present(ranking())
        return rerank(workflow, workflow.hits) if rerank_first else workflow.hits

    return workflow.follow(course, instead=lambda: workflow.hits or workflow.present(workflow.plain_search()))


def in_order(wanted: Iterable[str], ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids, each once: the wanted ones first, in the order wanted, then the others in theirs."""
    among = set(ids)
    named = (node_id if node_id in among else _bare(node_id) for node_id in wanted)
    return tuple(dict.fromkeys((*(node_id for node_id in named if node_id in among), *ids)))


def _bare(written: str) -> str:
    """Return an id without the brackets in which documents show it."""
    return written.strip().removeprefix("[").removesuffix("]")


def document(graph: Graph, hit: Ranked, question: str) -> str:
    """Return a hit as the model sees it: id, name, type, and the part of its text and the neighbours that fit best."""
    around = graph.neighbors(hit.id, question, k=RELATIONS)
    relations = (
        f"{edge_note(graph, near.edges, near.id)} {one_line(graph.arrays.names[graph.arrays.row(near.id)])}"
        for near in around.hits
    )
    more = f"; {around.total - len(around.hits)} more" if around.total > len(around.hits) else ""
    lines = [
        hit_title(hit),
        hit.text,
        f"relations: {'; '.join(relations) or 'none'}{more}",
    ]
    return "\n".join(line for line in lines if line)


# `agr`: analyse the question, write an expansion that answers it, refine that, then search: three calls.
#
# Paper: Chen, Chen, He, Wen and Sun 2024, Analyze, generate and refine: query expansion with LLMs for zero-shot
# open-domain QA; a baseline of SAGE (004, section 3). We know the abstract alone: an analysis of what the query needs
# to know, expansions that aim at the answer, and a refinement for their quality.
#
# Deviations, or rather our reading of what the abstract leaves open:
# 1. The refining call sees the draft and the nodes that question and draft find together. It is to keep what they
#    support, to take up their words, and to drop the rest.
# 2. One draft, not several to choose among.
# 3. BM25 for the paper's retrievers; question and expansion make one query, in which a word counts once.
# 4. The prompts are our own.


class AgrConfig(WorkflowConfig):
    """AGR's settings."""

    documents: int = Field(default=5, ge=1, le=LARGEST_K)
    """Nodes that the refining call is shown; ours, the paper's number is not known to us."""


class Agr:
    """Analyse, generate, refine: three calls, two searches."""

    name = "agr"

    def __init__(self, graph: Graph, model: LanguageModel, config: AgrConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or AgrConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Write an expansion in three steps, then search with it and the question."""
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=self.config)
        return expanded(workflow, self._write(workflow))

    def _write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        """Yield the draft, then the refined text."""
        question, filters = workflow.question.text, workflow.question
        types = type_names(self._graph)
        analysis = workflow.ask("agr-analyze", question=question, node_types=types)
        draft = workflow.ask("agr-generate", question=question, node_types=types, analysis=analysis or "none")
        yield (draft,)
        query = f"{question}\n{draft[:LONGEST]}"
        rows = workflow.search(query, self.config.documents, node_types=filters.node_types, where=filters.where)
        shown = passages(workflow, rows)
        refined = workflow.ask("agr-refine", question=question, analysis=analysis or "none", draft=draft, found=shown)
        if not refined:
            workflow.notes.append("refining gave nothing: the draft stands")
        yield (refined or draft,)


# What query expansions share: a model writes a text beside the question, and a last search takes both.
#
# That search is BM25 over the distinct words of question and text together, nodes that have them all first, as in every
# search of our tools; or by the vector of both together, or by both, where `mode` says so. Texts that stand for nodes
# (HyDE's) are not put together for it: the mean of their vectors and the question's is searched with.


LONGEST = 8_000  # characters of what a model wrote that a search takes: some 1,300 words
_NAMED = 6  # words of either kind that a reason names
_TYPES = 30  # node types that a prompt names


def expanded(workflow: Workflow, writing: Iterator[tuple[str, ...]], *, are_means: bool = False) -> Result:
    """Run the writing to its end, then search with the question and the texts that were written last.

    Each item of `writing` replaces the one before. A budget that ends the writing leaves the last texts, and the search
    is made all the same. With `are_means` the vectors of texts and question are averaged; the workflow's toolbox must
    offer that.
    """
    written: tuple[str, ...] = ()

    def write() -> None:
        nonlocal written
        for texts in writing:
            written = texts

    return workflow.follow_and_rank(write, lambda: _rank(workflow, written, are_means=are_means))


def _rank(workflow: Workflow, written: Sequence[str], *, are_means: bool) -> Iterator[Ranked]:
    """Yield the nodes that match question and texts together best, each with the words that it has of both."""
    graph, question = workflow.graph, workflow.question
    texts = [passage.strip() for passage in written if passage.strip()]
    if not texts:
        workflow.notes.append("nothing was written beside the question: searched with its own words alone")
    if not are_means:
        texts = ["\n".join(texts)]
    if (longest := max(map(len, texts), default=0)) > LONGEST:
        workflow.notes.append(f"of {longest} characters written the first {LONGEST} were searched with")
    texts = [passage[:LONGEST] for passage in texts]
    text = "\n".join(texts)
    query = f"{question.text}\n{text}" if text else question.text
    search = partial(workflow.search, k=question.k, node_types=question.node_types, where=question.where)
    rows = search(question.text, passages=texts) if are_means else search(query)
    words, added = QueryWords(graph.arrays, question.text), QueryWords(graph.arrays, text)
    at = np.array(rows, np.int32)
    for place, (row, own, other) in enumerate(zip(rows, words.coverages(at), added.coverages(at), strict=True)):
        why = _why(_had(words, own), _had(added, other))
        yield present(graph, row, score=len(rows) - place, query=query, why=why)


def _had(words: QueryWords, coverage: Coverage) -> list[str]:
    """Return the words of a query that a node has, rarest first."""
    had = [word for word in words.postings if word not in coverage.missing]
    return sorted(had, key=lambda word: -words.postings[word][0].idf)


def _why(own: Sequence[str], added: Sequence[str]) -> str:
    """Say which words a node has of the question, and which only of the model's text."""
    new = [word for word in added if word not in own]
    has = f"of the question: {', '.join(own[:_NAMED])}" if own else ""
    written = f"of the expansion: {', '.join(new[:_NAMED])}" if new else ""
    return "; ".join(filter(None, (has, written)))


def passages(workflow: Workflow, rows: Sequence[int]) -> str:
    """Return nodes as a prompt shows them, numbered: name, type, and the part of the text nearest to the question."""
    shown = (present(workflow.graph, row, score=0, query=workflow.question.text) for row in rows)
    lines = [f"{number}. {one_line(hit.name)} ({hit.type}): {hit.text}" for number, hit in enumerate(shown, 1)]
    return "\n".join(lines) or "none"


# `kar`: expand the question by what the graph holds around the things that it names: two calls, e + 3 retrievals.
#
# Paper: Xia et al. 2024, Knowledge-aware query expansion with large language models for textual and relational
# retrieval; after SAGE (004), appendix C.4 and table 4. With e entities that the graph holds:
#
# 1. a call names the entities of the question; 2. one search gives the question's own documents, for the question
# counts as an entity too; 3. e + 1 neighbourhoods, of these documents and of each entity, each cut to the neighbours
# nearest to the question; 4. triples of entity, relation and document; 5. a call writes the expansion from them; 6. one
# last search.
#
# Deviations:
# 1. BM25 against the question takes the place of the cosine in steps 2, 3 and 6 unless `mode` says otherwise, and of
# each
#    neighbourhood the best n are kept.
# 2. An entity is found by its exact name or alias, else by the nearest name, and not by a search; so SAGE's e + 3
# holds.
# 3. One edge, where the paper lets relations spread over several.
# 4. A document's text stands once below the triples, not in each: hubs would repeat it.
# 5. The prompts are our own.


ENTITIES = {
    "type": "object",
    "properties": {"entities": {"type": "array", "items": {"type": "string"}}},
    "required": ["entities"],
    "additionalProperties": False,
}
"""What the first call gives."""


class KarConfig(WorkflowConfig):
    """KAR's settings."""

    entities: int = Field(default=5, ge=1, le=LARGEST_K)
    """Entities that are looked up at the most, a retrieval each; the number is ours."""
    documents: int = Field(default=5, ge=1, le=LARGEST_K)
    """Documents of the question whose neighbours are gathered; the number is ours."""
    neighbors: int = Field(default=10, ge=1, le=LARGEST_K)
    """Documents that the relation filter keeps of each neighbourhood; the number is ours."""


class Kar:
    """Knowledge-aware retrieval: the graph tells the model what to add to the question."""

    name = "kar"

    def __init__(self, graph: Graph, model: LanguageModel, config: KarConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or KarConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Gather triples around what the question names, have an expansion written from them, search with it."""
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=self.config)
        return expanded(workflow, self._write(workflow))

    def _write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        question = workflow.question.text
        entities = self._entities(workflow)
        triples: list[str] = []
        documents: dict[int, None] = dict.fromkeys(entities)
        own = workflow.search(question, self.config.documents)
        around: list[tuple[str, tuple[int, ...]]] = [(self._graph.arrays.ids[row], (row,)) for row in entities]
        if own and (name := workflow.last_set):
            around.insert(0, (name, own))
        for reference, starts in around:
            near = self._filtered(workflow, reference)
            triples += self._triples(starts, near)
            documents |= dict.fromkeys((*starts, *near))
        words = QueryWords(self._graph.arrays, question)
        texts = [(row, words.snippet(row)) for row in documents]
        expansion = workflow.ask(
            "kar-expand",
            question=question,
            triples="\n".join(dict.fromkeys(triples)) or "none",
            documents="\n".join(f"{title(self._graph, row)}: {text}" for row, text in texts if text) or "none",
        )
        yield (expansion,)

    def _entities(self, workflow: Workflow) -> tuple[int, ...]:
        """Return the rows of what the question names, each once."""
        reply = workflow.ask_for("kar-entities", ENTITIES, question=workflow.question.text)
        if reply is None:
            workflow.notes.append("the model named no entities in a form that can be read: none are looked up")
            return ()
        named = list(dict.fromkeys(name.strip() for name in reply["entities"] if name.strip()))
        most = self.config.entities
        if len(named) > most:
            workflow.notes.append(f"of {len(named)} entities the first {most} are looked up")
        rows = (self._linked(workflow, name) for name in named[:most])
        return tuple(dict.fromkeys(row for row in rows if row is not None))

    def _linked(self, workflow: Workflow, name: str) -> int | None:
        """Return the node that a name means, of several the one whose text is nearest to the question."""
        graph = self._graph
        rows = graph.arrays.candidates(name)
        if not rows and (near := near_name(graph, name)):
            rows = graph.arrays.candidates(near)
            workflow.notes.append(f"{name!r} is read as {near!r}")
        if not rows:
            workflow.notes.append(f"not in this graph: {name!r}")
            return None
        best, _ = workflow.rank(np.unique(np.array(rows, np.int32)), 1)
        return int(best[0])

    def _filtered(self, workflow: Workflow, reference: str) -> tuple[int, ...]:
        """Return the neighbours of a node or of a set that match the question best: the relation filter."""
        near = workflow.use(
            "search_in_neighborhood", node=reference, query=workflow.question.text, k=self.config.neighbors
        )
        return tuple(map(self._graph.arrays.row, near.nodes))

    def _triples(self, starts: Sequence[int], near: Sequence[int]) -> Iterator[str]:
        """Yield each edge between a start and a neighbour as a line, seen from the start."""
        graph = self._graph
        for start in starts:
            for row in near:
                if edges := graph.arrays.edges_between(row, np.array([start], np.int32)):
                    yield f"{title(graph, start)} {edge_note(graph, edges, graph.arrays.ids[row])} {title(graph, row)}"


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
_EDGE_TEXT = 80  # characters of what an edge says
LEAST = 40
"""Fewest tokens of a text that says anything: without room for them a node is left out, with a note."""
_MORE, _KINDS, _LABEL = 4, 6, 4  # tokens of `; and 9 more`, of `and 9 more kinds of edge`, of a label in its brackets


class LinearConfig(WorkflowConfig):
    """What both methods let choose."""

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
    rows: Rows
    """The neighbours, in the order in which they are named."""
    entries: Entries
    fit: int
    """2 where the question speaks of both edge type and node type, 1 where of one, 0 where of neither."""


class _Fitting(NamedTuple):
    """The kinds of edge that a text has room for."""

    groups: list[_EdgeGroup]
    heads: list[str]
    """The beginning of the line of each, and a last line where some kinds have no room."""
    tokens: int
    """Tokens that are left for names."""


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
        """Return a node as text of at most about so many tokens. `first` are the rows of the other evidence."""
        node, all_groups = self._graph.arrays.node_at(row), self._groups(row, first)
        title = f"{one_line(node.name)} ({one_line(node.type)})"
        left = tokens - _LABEL - count_tokens(title)
        lines = [title, *self._attributes(node, left - self._need(all_groups, left // 2))]
        groups, heads, left = self._fitting(all_groups, left - sum(map(count_tokens, lines[1:])))
        rooms = _rooms(groups, left, [self._size(group, left) for group in groups])
        named: list[int] = []
        for head, group, room in zip(heads, groups, rooms, strict=False):
            names = self._names(group, room + _MORE)  # the last of them in place of saying that there is more
            if len(names) < len(group.rows):
                names = self._names(group, room)
            more = [f"and {len(group.rows) - len(names)} more"] if len(names) < len(group.rows) else []
            lines.append(head + "; ".join([*names, *more]))
            named += group.rows[: len(names)].tolist()
        lines += heads[len(groups) :]
        text = "\n  ".join(lines)
        return NodeText(row, text, tuple(dict.fromkeys(named)), count_tokens(text) + _LABEL)

    def _need(self, groups: Sequence[_EdgeGroup], most: int) -> int:
        """Return how many tokens the lines of all edges take, at most `most`."""
        need = _KINDS if groups else 0
        for group in groups:
            if need >= most:
                return most
            need += count_tokens(self._head(group)) + _MORE + self._size(group, most)
        return min(need, most)

    def _head(self, group: _EdgeGroup) -> str:
        return f"{one_line(kind_line(self._graph, group.kind))} ({len(group.rows)}): "

    def _fitting(self, groups: Sequence[_EdgeGroup], tokens: int) -> _Fitting:
        """Return the kinds of edge that there is room for, the beginning of each line, and the tokens left."""
        fitting: list[_EdgeGroup] = []
        heads: list[str] = []
        left = tokens - _KINDS
        for group in groups:
            head = self._head(group)
            cost = count_tokens(head) + _MORE
            if cost > left:
                return _Fitting(fitting, [*heads, f"and {len(groups) - len(fitting)} more kinds of edge"], max(0, left))
            fitting.append(group)
            heads.append(head)
            left -= cost
        return _Fitting(fitting, heads, max(0, left))

    def _attributes(self, node: Node, tokens: int) -> Iterator[str]:
        """Yield the aliases, properties and text of a node as lines, as far as there is room."""
        lines = [one_line(f"also: {'; '.join(node.aliases)}", _ALIASES)] if node.aliases else []
        for name, value in node.properties.items():
            lines.append(one_line(f"{name}: {value_text(value)}", _VALUE))
        lines += plain_lines(node.text)
        left = tokens
        for line in lines:
            if left <= 0:
                return
            cut = _cut(line, left)
            yield cut
            left -= count_tokens(cut)

    def _groups(self, row: int, first: Collection[int]) -> list[_EdgeGroup]:
        """Return a node's edges by kind: those that the question speaks of first, then those with fewest neighbours."""
        graph = self._graph
        entries = graph.arrays.adjacency.entries(np.array([row], np.int32))
        kinds = entries.kind.astype(np.int64)
        symmetric = [number for number, name in enumerate(graph.arrays.types.edges) if name in graph.schema.symmetric]
        kinds = np.where(np.isin(kinds >> 1, symmetric), kinds & ~1, kinds)
        codes = kinds * len(graph.arrays.types.nodes) + graph.arrays.node_types[entries.neighbor]
        own = graph.arrays.type_at(row)
        groups = [self._group(own, code, entries.where(codes == code), first) for code in np.unique(codes).tolist()]
        return sorted(groups, key=lambda group: (-group.fit, len(group.rows), group.kind))

    def _group(self, own: str, code: int, entries: Entries, first: Collection[int]) -> _EdgeGroup:
        graph, wide = self._graph, len(self._graph.arrays.types.nodes)
        kind = graph.arrays.types.kind(code // wide, code % wide)
        rows = np.unique(entries.neighbor)
        order = np.lexsort((rows, -self._fit[rows], ~np.isin(rows, list(first))))
        fit = self._is_said(kind.edge_type, joined=(own, kind.node_type)) + self._is_said(kind.node_type)
        return _EdgeGroup(kind, rows[order], entries, fit)

    def _is_said(self, type_name: str, *, joined: Sequence[str] = ()) -> bool:
        """Tell whether the question has a telling word of a type.

        The node types that an edge type joins are no part of it: one may also be called `Disease - presents - Symptom`.
        """
        others = frozenset[str]().union(*(way for end in joined for way in self._ways(end)))
        return any(((way - others) or way) & self._stems for way in self._ways(type_name))

    @remembered(_MOST_TYPES)
    def _ways(self, type_name: str) -> tuple[frozenset[str], ...]:
        """Return the stems of each phrase for a type."""
        tokenizer = self._graph.arrays.tokenizer
        phrases = type_phrases(type_name, self._graph.schema, tokenizer)
        return tuple(frozenset(map(tokenizer.stem, phrase)) for phrase in phrases)

    def _size(self, group: _EdgeGroup, tokens: int) -> int:
        """Return how many tokens the names of a group take, counted up to `tokens`."""
        return sum(count_tokens(name) + 1 for name in self._names(group, tokens))

    def _names(self, group: _EdgeGroup, tokens: int) -> list[str]:
        """Return as many names of a group as there is room for."""
        names: list[str] = []
        left = tokens
        for row in group.rows.tolist():
            name = self._named(group, row)
            left -= count_tokens(name) + 1
            if left < 0:
                break
            names.append(name)
        return names

    def _named(self, group: _EdgeGroup, row: int) -> str:
        """Return a neighbour's name with the texts of the edges to it."""
        graph = self._graph
        name = one_line(graph.arrays.names[row])
        if not graph.arrays.has_extras:
            return name
        places = group.entries.at[slice(*span(group.entries.neighbor, row))].tolist()
        texts = dict.fromkeys(
            one_line(text, _EDGE_TEXT) for at in places if (text := graph.arrays.extras(at).get("text"))
        )
        return f"{name} ({', '.join(texts)})" if texts else name


def _cut(line: str, tokens: int) -> str:
    """Return a line cut to so many tokens, with an ellipsis where it is cut."""
    cut = line
    while (count := count_tokens(cut)) >= tokens and len(cut) > 1:
        cut = cut[: min(len(cut) - 1, len(cut) * tokens // count)]
    return line if count_tokens(line) <= tokens else f"{cut}…"


def _rooms(groups: Sequence[_EdgeGroup], tokens: int, sizes: Sequence[int]) -> list[int]:
    """Return the tokens that each group may take: first the groups that the question speaks of, with equal shares."""
    rooms = [0] * len(groups)
    left = tokens
    for fit in (2, 1, 0):
        places = sorted((at for at, group in enumerate(groups) if group.fit == fit), key=sizes.__getitem__)
        for place, at in enumerate(places):
            rooms[at] = min(sizes[at], left // (len(places) - place))
            left -= rooms[at]
    return rooms


def render_nodes(graph: Graph, written: Iterable[NodeText], tokens: int) -> EvidenceText:
    """Return nodes as evidence for a prompt, labelled in their order, as many as there is room for.

    Their texts are indented, so that none can pass for a label.
    """
    labels: dict[str, tuple[str, ...]] = {}
    pieces: list[str] = []
    left, left_out = tokens, 0
    for node in written:
        if node.tokens > left:
            left_out += 1
            continue
        left -= node.tokens
        label = f"{'C' if graph.arrays.type_at(node.row) in PASSAGES else 'N'}{len(labels) + 1}"
        labels[label] = (graph.arrays.ids[node.row],)
        pieces.append(f"[{label}] {node.text}")
    return EvidenceText("\n".join(pieces), labels, left_out)


def named_first(result: Result, workflow: Workflow, written: Sequence[NodeText]) -> Result:
    """Return an answered result with the nodes that its answer names first, then those that it cites."""
    if result.answer in (None, NOT_THERE):
        return result
    graph = workflow.graph
    rows = (row for node in written for row in (node.row, *node.rows))
    reasons = dict.fromkeys(named_in(graph, rows, str(result.answer)), "named in the answer")
    for node in result.trajectories[-1].selected:
        reasons.setdefault(graph.arrays.row(node), "cited in the answer")
    for hit in result.hits:
        reasons.setdefault(graph.arrays.row(hit.id), hit.why)
    return result.model_copy(update={"hits": workflow.present(reasons)})


# `rar`: search, show a model the hits, and search again with the answers that it writes in their likeness.
#
# Paper: Shen et al. 2024, Retrieval-augmented retrieval: large language models are strong zero-shot retrievers (LameR);
# a baseline of SAGE (004, section 3). The paper retrieves by BM25 itself, and says that even wrong candidates help:
# they show what the texts look like. Its defaults, ten candidates and five answers, are taken from others' code.
#
# Deviations:
# 1. One reply holds all answers, where the paper takes several samples of one answer: a call in place of five.
# 2. The question is put before the answers once, not before each of them: our search counts a distinct word once, so
#    that repeating it changes nothing. The question's words weigh less than in the paper.
# 3. A candidate is shown by name, type and the 300 characters nearest to the question.
# 4. The prompt is in our own words.


class RarConfig(WorkflowConfig):
    """LameR's settings."""

    candidates: int = Field(default=10, ge=1, le=LARGEST_K)
    """Nodes of the first search that the model is shown. LameR takes 10, as others' code has it."""
    answers: int = Field(default=5, ge=1, le=LARGEST_K)
    """Answers that the model is asked for. LameR takes 5, as others' code has it."""


class Rar:
    """Retrieval-augmented retrieval: one call, two searches."""

    name = "rar"

    def __init__(self, graph: Graph, model: LanguageModel, config: RarConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or RarConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Search with the question, have answers written after what was found, search with both."""
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=self.config)
        return expanded(workflow, self._write(workflow))

    def _write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        config, question = self.config, workflow.question
        rows = workflow.search(question.text, config.candidates, node_types=question.node_types, where=question.where)
        shown = passages(workflow, rows)
        yield (workflow.ask("rar", question=question.text, candidates=shown, answers=config.answers),)
