"""One listwise rerank: a model sees the first documents of a ranking together, with their relations, and orders them.

After AF-Retriever (Boer et al. 2025; FocusedR in SAGE, 004, appendix C.2, step 6): 20 documents, one call. Ids that the
model makes up are dropped, documents that it leaves out follow in the order they had.

Deviation: a document's text is the part that fits the question best, and its relations are the neighbours that do.
Whole documents of hubs would not fit a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.search import QueryWords
from orienteer.graph.store import Graph
from orienteer.lab.baselines.baseline import TEXTS, Baseline, C
from orienteer.llm.schema import object_of
from orienteer.protocols import LanguageModel, Reranked, Run
from orienteer.records import Question, Ranked, Result
from orienteer.retrieval.graph_text import edge_note, hit_title, present, title, type_names
from orienteer.retrieval.mentions import near_name
from orienteer.text.sentences import one_line
from orienteer.tools.texts import LARGEST_K

DOCUMENTS = 20
"""Documents that the model is shown; AF-Retriever."""
RELATIONS = 12
"""Neighbours that a document is shown with; ours."""
SCHEMA = object_of({"ids": TEXTS})


class ListwiseReranker:
    """A `Reranker` for `ark` and for `Retriever`: called with the question and the hits, it returns their ids.

    A method passes its own run on (`rerank`), whose record then holds the call. Called directly it asks through the run
    that it was made with, else without a limit, and raises `ModelError` if the model fails and `BudgetExhausted` if the
    run allows no further call.
    """

    def __init__(self, graph: Graph, model: LanguageModel, *, run: Run | None = None) -> None:
        self._graph, self._model, self._run = graph, model, run

    def __call__(self, question: Question, hits: Sequence[Ranked]) -> tuple[str, ...]:
        """Return the ids of all hits, best first."""
        from orienteer.llm.budget import Allowance

        workflow = self._workflow(question, Allowance(reserve=0))
        return tuple(hit.id for hit in rerank(workflow, hits))

    def rerank(self, question: Question, hits: Sequence[Ranked], run: Run) -> Reranked:
        """Return the ids of all hits, best first, with the record of the call; in their old order if it failed."""
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
    """Follow a course that ranks rows with reasons, and then has the model order the first 20."""

    # A budget that ends between the two leaves the ranking, and one that ends before leaves plain search.
    def course() -> Sequence[Ranked]:
        workflow.hits = workflow.present(ranking())
        return rerank(workflow, workflow.hits) if rerank_first else workflow.hits

    return workflow.follow(course, instead=lambda: workflow.hits or workflow.present(workflow.plain_search()))


def in_order(wanted: Iterable[str], ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids, each once: the wanted ones first, in the order wanted, then the others in theirs."""
    named = (node_id if node_id in ids else _bare(node_id) for node_id in wanted)
    return tuple(dict.fromkeys((*(node_id for node_id in named if node_id in ids), *ids)))


def _bare(written: str) -> str:
    """Return an id without the brackets in which documents show it."""
    return written.strip().removeprefix("[").removesuffix("]")


def document(graph: Graph, hit: Ranked, question: str) -> str:
    """Return a hit as the model sees it: id, name, type, and the part of its text and the neighbours that fit best."""
    around = graph.neighbors(hit.id, question, k=RELATIONS)
    relations = "; ".join(
        f"{edge_note(graph, near.edges, near.id)} {one_line(graph.arrays.names[graph.arrays.row(near.id)])}"
        for near in around.hits
    )
    more = f"; {around.total - len(around.hits)} more" if around.total > len(around.hits) else ""
    return "\n".join(filter(None, [hit_title(hit), hit.text, f"relations: {relations or 'none'}{more}"]))


# Query expansions: a model writes a text for the question, and a last search takes both.
#
# That search is BM25 over the distinct words of question and text together, nodes that have them all first, as in every
# search of our tools; or by the vector of both together, or by both, as `mode` says. Texts that are made-up nodes
# (HyDE's) are not put together for it: the search is with the mean of their vectors and the question's.

LONGEST = 8_000  # characters of a model's text that a search takes: some 1,300 words
_NAMED = 6  # words of either kind that a reason names


class QueryExpansion(Baseline[C]):
    """A method whose model writes a text for the question, and whose last search takes both."""

    @property
    def are_means(self) -> bool:
        """Whether the vectors of texts and question are averaged; the workflow's toolbox must offer that."""
        return False

    def retrieve(self, question: Question, run: Run) -> Result:
        """Have texts written, then search with them and the question.

        A budget that ends the writing leaves the last texts, and the search is made all the same.
        """
        workflow, written = self.start(question, run), tuple[str, ...]()

        def write() -> None:
            nonlocal written
            for texts in self.write(workflow):
                written = texts

        return workflow.follow_and_rank(write, lambda: _rank(workflow, written, are_means=self.are_means))

    def write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        """Yield the texts to search with; each item replaces the one before."""
        raise NotImplementedError


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
    had = [_words_had(graph, rows, words) for words in (question.text, text)]
    for place, (row, own, added) in enumerate(zip(rows, *had, strict=True)):
        new = [word for word in added if word not in own]
        has = f"of the question: {', '.join(own[:_NAMED])}" if own else ""
        why = f"of the expansion: {', '.join(new[:_NAMED])}" if new else ""
        why = "; ".join(filter(None, (has, why)))
        yield present(graph, row, score=len(rows) - place, query=query, why=why)


def _words_had(graph: Graph, rows: Sequence[int], text: str) -> Iterator[list[str]]:
    """Yield the words of a text that each row has, rarest first."""
    words = QueryWords(graph.arrays, text)
    for coverage in words.coverages(np.array(rows, np.int32)):
        had = [word for word in words.postings if word not in coverage.missing]
        yield sorted(had, key=lambda word: -words.postings[word][0].idf)


def passages(workflow: Workflow, rows: Sequence[int]) -> str:
    """Return nodes as a prompt shows them, numbered: name, type, and the part of the text nearest to the question."""
    shown = (present(workflow.graph, row, score=0, query=workflow.question.text) for row in rows)
    lines = [f"{number}. {one_line(hit.name)} ({hit.type}): {hit.text}" for number, hit in enumerate(shown, 1)]
    return "\n".join(lines) or "none"


# `agr`: analyse the question, write an expansion that answers it, refine that, then search: three calls.
#
# Paper: Chen, Chen, He, Wen and Sun 2024, Analyze, generate and refine; a baseline of SAGE (004, section 3).
# We know the abstract alone: an analysis of what the query needs to know, expansions that aim at the answer, and a
# refinement for their quality.
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


class Agr(QueryExpansion[AgrConfig]):
    """Analyse, generate, refine: three calls, two searches."""

    name = "agr"
    settings = AgrConfig

    def write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
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


# `kar`: expand the question by what the graph holds around the things that it names: two calls, e + 3 retrievals.
#
# Paper: Xia et al. 2024, Knowledge-aware query expansion; after SAGE (004), appendix C.4 and table 4.
# With e entities that the graph holds:
#
# 1. a call names the entities of the question;
# 2. one search gives the question's own documents, for the question counts as an entity too;
# 3. e + 1 neighbourhoods, of these documents and of each entity, each cut to the neighbours nearest to the question;
# 4. triples of entity, relation and document;
# 5. a call writes the expansion from them;
# 6. one last search.
#
# Deviations:
# 1. BM25 against the question takes the place of the cosine in steps 2, 3 and 6 unless `mode` says otherwise, and of
#    each neighbourhood the best n are kept.
# 2. An entity is found by its exact name or alias, else by the nearest name, not by a search; so SAGE's e + 3 holds.
# 3. One edge; the paper lets relations spread over several.
# 4. A document's text is given once, below the triples, not in each: hubs would repeat it.
# 5. The prompts are our own.

ENTITIES = object_of({"entities": TEXTS})


class KarConfig(WorkflowConfig):
    """KAR's settings."""

    entities: int = Field(default=5, ge=1, le=LARGEST_K)
    """Entities that are looked up at the most, a retrieval each; the number is ours."""
    documents: int = Field(default=5, ge=1, le=LARGEST_K)
    """Documents of the question whose neighbours are gathered; the number is ours."""
    neighbors: int = Field(default=10, ge=1, le=LARGEST_K)
    """Documents that the relation filter keeps of each neighbourhood; the number is ours."""


class Kar(QueryExpansion[KarConfig]):
    """Knowledge-aware retrieval: the model expands the question by knowledge from the graph."""

    name = "kar"
    settings = KarConfig

    def write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        """Gather triples around what the question names, and yield the expansion written from them."""
        graph, question = self._graph, workflow.question.text
        entities = self._entities(workflow)
        triples: list[str] = []
        documents: dict[int, None] = dict.fromkeys(entities)
        own = workflow.search(question, self.config.documents)
        around: list[tuple[str, tuple[int, ...]]] = [(graph.arrays.ids[row], (row,)) for row in entities]
        if own and (name := workflow.last_set):
            around.insert(0, (name, own))
        for reference, starts in around:
            # The relation filter: the neighbours that match the question best.
            k = self.config.neighbors
            nodes = workflow.use("search_in_neighborhood", node=reference, query=question, k=k).nodes
            near = tuple(map(graph.arrays.row, nodes))
            documents |= dict.fromkeys((*starts, *near))
            for start in starts:
                for row in near:
                    if edges := graph.arrays.edges_between(row, np.array([start], np.int32)):
                        note = edge_note(graph, edges, graph.arrays.ids[row])
                        triples.append(f"{title(graph, start)} {note} {title(graph, row)}")
        words = QueryWords(graph.arrays, question)
        texts = [(row, words.snippet(row)) for row in documents]
        expansion = workflow.ask(
            "kar-expand",
            question=question,
            triples="\n".join(dict.fromkeys(triples)) or "none",
            documents="\n".join(f"{title(graph, row)}: {text}" for row, text in texts if text) or "none",
        )
        yield (expansion,)

    def _entities(self, workflow: Workflow) -> tuple[int, ...]:
        """Return the rows of the named nodes; if several have a name, only the one nearest to the question."""
        graph, notes, most = self._graph, workflow.notes, self.config.entities
        reply = workflow.ask_for("kar-entities", ENTITIES, question=workflow.question.text)
        if reply is None:
            notes.append("the model named no entities in a form that can be read: none are looked up")
            return ()
        named = list(dict.fromkeys(name.strip() for name in reply["entities"] if name.strip()))
        if len(named) > most:
            notes.append(f"of {len(named)} entities the first {most} are looked up")
        found: dict[int, None] = {}
        for name in named[:most]:
            rows = graph.arrays.candidates(name)
            if not rows and (near := near_name(graph, name)):
                rows = graph.arrays.candidates(near)
                notes.append(f"{name!r} is read as {near!r}")
            if not rows:
                notes.append(f"not in this graph: {name!r}")
                continue
            best, _ = workflow.rank(np.unique(np.array(rows, np.int32)), 1)
            found[int(best[0])] = None
        return tuple(found)


# `rar`: search, show a model the hits, and search again with the answers that it writes in their likeness.
#
# Paper: Shen et al. 2024, Retrieval-augmented retrieval (LameR);
# a baseline of SAGE (004, section 3). The paper retrieves by BM25 itself, and says that even wrong candidates help:
# they show what the texts look like. Its defaults, ten candidates and five answers, are taken from others' code.
#
# Deviations:
# 1. One reply holds all answers; the paper takes several samples of one answer: a call in place of five.
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


class Rar(QueryExpansion[RarConfig]):
    """Retrieval-augmented retrieval: one call, two searches."""

    name = "rar"
    settings = RarConfig

    def write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        """Search with the question, and yield answers written in the likeness of its hits."""
        config, question = self.config, workflow.question
        rows = workflow.search(question.text, config.candidates, node_types=question.node_types, where=question.where)
        shown = passages(workflow, rows)
        yield (workflow.ask("rar", question=question.text, candidates=shown, answers=config.answers),)
