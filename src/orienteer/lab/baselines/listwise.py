"""One listwise rerank: a model sees the first documents of a ranking together, with their relations, and orders them.

After AF-Retriever (Boer et al. 2025; FocusedR in SAGE, 004, appendix C.2, step 6): 20 documents, one call. Ids that the
model makes up are dropped, documents that it leaves out follow in the order they had.

Deviation: a document's text is the part that fits the question best, and its relations are the neighbours that do.
Whole documents of hubs would not fit a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from orienteer.agents.workflow import Workflow
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel, Reranked, Run
from orienteer.records import Question, Ranked, Result
from orienteer.retrieval.graph_text import edge_note, hit_title
from orienteer.text.lines import one_line

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
        return Reranked(tuple(hit.id for hit in hits), workflow.asked, tuple(workflow.notes))

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

    return workflow.follow(course, instead=lambda: workflow.hits or workflow.present(workflow.plain()))


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
