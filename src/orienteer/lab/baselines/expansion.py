"""What query expansions share: a model writes a text beside the question, and a last search takes both.

That search is BM25 over the distinct words of question and text together, nodes that have them all first, as in every
search of our tools; or by the vector of both together, or by both, where `mode` says so. Texts that stand for nodes
(HyDE's) are not put together for it: the mean of their vectors and the question's is searched with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from orienteer.agents.workflow import Workflow
from orienteer.graph.search.query_words import Coverage, QueryWords
from orienteer.records import Ranked, Result
from orienteer.retrieval.graph_text import present
from orienteer.text.lines import one_line

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
