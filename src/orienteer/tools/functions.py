"""A graph as plain functions, for agent frameworks that make a tool of a name, a docstring and annotations.

They keep nothing from call to call. What goes wrong is a reply, for a model can mend it: no framework needs our errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from orienteer.display import clean
from orienteer.errors import Error
from orienteer.graph.store import Graph
from orienteer.records import JsonValue, Result
from orienteer.retrieval.graph_text import hit_title
from orienteer.text.sentences import one_line
from orienteer.tools.session import ReplyLines
from orienteer.tools.toolbox import open_stateless

_HITS = 10  # of an answer
_WHY = 240  # characters
_NOTE = 300
_ANSWER = 2_000


def plain_functions(graph: Graph, ask: Callable[[str, int], Result]) -> tuple[Callable[..., str], ...]:
    """Return `search_graph`, `graph_neighbors` and `ask_graph`, which asks a question, with so many hits, by `ask`."""

    def call(tool: str, **arguments: JsonValue | Sequence[str]) -> str:
        given = {name: value for name, value in arguments.items() if value is not None}
        return _reply_of(lambda: open_stateless(graph).call(tool, given).text)  # type: ignore[arg-type]  # lists of texts

    def search_graph(query: str, node_types: list[str] | None = None, k: int = 10) -> str:
        """Find nodes of the knowledge graph by words of their names and texts.

        Args:
            query: Words.
            node_types: Keep only these node types.
            k: Nodes to show, 100 at the most.
        """
        return call("search_in_graph", query=query, node_types=node_types, k=min(max(k, 1), 100))

    def graph_neighbors(
        node: str,
        query: str | None = None,
        node_types: list[str] | None = None,
        edge_types: list[str] | None = None,
        offset: int = 0,
    ) -> str:
        """List what is one edge away from a node of the knowledge graph, counted by edge type first.

        Args:
            node: A node's id, as replies show it in [brackets], or its exact name.
            query: Words to rank the neighbours by.
            node_types: Keep only these node types.
            edge_types: Walk only along these edge types.
            offset: Neighbors to skip, as a reply with more of them says.
        """
        return call(
            "search_in_neighborhood",
            node=node,
            query=query,
            node_types=node_types,
            edge_types=edge_types,
            offset=max(offset, 0),
        )

    def ask_graph(question: str) -> str:
        """Answer a question from the knowledge graph: ranked nodes, each with the edges or words that support it.

        Args:
            question: The whole question, in words.
        """
        return _reply_of(lambda: _reply(graph, ask(question, _HITS)))

    return search_graph, graph_neighbors, ask_graph


def _reply_of(run: Callable[[], str]) -> str:
    """Return a reply without control characters; for an error of ours its sentence, without paths of this machine."""
    try:
        return clean(run())
    except Error as error:
        return clean(f"error: {error.public}")


def _reply(graph: Graph, result: Result) -> str:
    """Return a result as lines: how the question was read, the answer, notes, and the hits with their ids."""
    reply = ReplyLines(open_stateless(graph).session)
    reply.say_all(_heading(result))
    if not result.hits:
        reply.say("Nothing was found. Try other words.")
    width = reply.snippets(len(result.hits)).width
    is_read = result.reading is not None and result.reading.complete
    nearby = next((hit for hit in result.hits if is_read and not hit.complete), None)
    lines = []
    for hit in result.hits:  # above the first that meets only part of the question there is a heading
        why = " | ".join(filter(None, (one_line(hit.why, _WHY), one_line(hit.text, width))))
        heading = "nearby, meeting only some of it:\n" if hit is nearby else ""
        lines.append(f"{heading}{hit_title(hit)}{f': {why}' if why else ''}")
    reply.list(range(len(result.hits)), lines)
    return reply.text()


def _heading(result: Result) -> Iterator[str]:
    if result.reading is not None and result.reading.text is not None:
        yield f"read as: {result.reading.text}"
    elif result.refusal is not None:
        yield f"no exact answer: {result.refusal.text}"
    answer = result.answer if result.answer is not None else result.meeting
    if answer is not None:
        yield f"answer: {one_line(answer, _ANSWER)}"
        yield from (f"rests on {one_line(citation.told, _ANSWER)}" for citation in result.citations if citation.quote)
    for note in islice((note for note in result.notes if note != result.meeting), 5):
        yield f"note: {one_line(note, _NOTE)}"
