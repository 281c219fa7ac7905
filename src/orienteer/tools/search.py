"""`search_in_graph`: BM25 over the whole graph, or over a saved set; by meaning too where the graph has vectors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.records import JsonValue, Observation
from orienteer.retrieval.graph_text import title
from orienteer.tools import arguments as given
from orienteer.tools.rendering import Reply, Words, counted, match_note
from orienteer.tools.session import Session

_DESCRIPTION = (
    "Search all nodes of the graph by words of their names and texts. Use it to find the nodes that a question names, "
    "and to answer descriptive questions. Edges are not in the text."
)
_PASSAGES = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Texts such as an answer's may be: the mean of their vectors and the query's is searched with",
}


class SearchInGraph:
    """ARK's global search: the k best nodes under BM25 (section 3.1)."""

    def __init__(self, session: Session, *, is_plain: bool = False) -> None:
        self._session, self._is_plain = session, is_plain
        properties = {"query": given.query(session.mode), "k": given.count(given.SEARCH_K)}
        if not is_plain:
            among = {**given.NODE, "description": "Search only in this saved set, such as @2"}
            properties |= {"node_types": given.NODE_TYPES, "where": given.WHERE, "among": among}
            if session.offers_mode:
                properties["mode"] = given.MODE
            if session.offers_passages:
                properties["passages"] = _PASSAGES
        self.spec = given.spec("search_in_graph", _DESCRIPTION, properties, ["query"])

    def _best(self, words: Words, k: int, among: Rows | None, mask: Mask | None) -> Rows:
        """Return the best rows by words; where the tools are ours, those with all words before those with some."""
        index = self._session.graph.text_index
        found = index.search(words.terms, k, among=among, mask=mask).rows
        if self._is_plain or len(words.postings) < 2:
            return found
        full = index.search(words.terms, k, among=words.full_in(among), mask=mask).rows
        return np.concatenate([full, found[~np.isin(found, full)]])[:k]

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the best nodes, the words that each has, and which words the graph does not hold at all."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        query = given.text(arguments, "query") or ""
        k = given.number(arguments, "k", given.SEARCH_K)
        types = given.texts(arguments, "node_types")
        node_types = session.node_types(types, notes) if types else None
        mask = graph.mask(node_types, given.texts(arguments, "where") or ())
        among = given.text(arguments, "among")
        passages = given.texts(arguments, "passages") or []
        words = Words(graph, "\n".join((query, *passages)))
        within = session.rows(among, notes) if among else None
        mode = session.payable(given.mode(arguments, session.mode), query, notes, passages=passages)
        if mode == "lexical":
            rows = self._best(words, k, within, mask)
        else:
            searcher = graph.searcher.near(mode, query, passages) if passages else graph.searcher(mode)
            rows = searcher.search(words.query, k, among=within, mask=mask).rows
        reply = Reply(session)
        reply.say_all(notes)
        if words.unknown:
            reply.say(f"Not in this graph: {', '.join(words.unknown)}.")
        if not len(rows):
            reply.say("No node has any of these words. Try other words, or fewer filters.")
            return Observation(reply.text())
        matches = words.matches(rows)
        name = session.save(rows)
        full = sum(match.is_full for match in matches)
        reply.say(f"{f'{name}: ' if name else ''}{counted(len(rows), 'best node')}, {full} with all words.")
        width = reply.width(len(rows))
        reply.list(
            rows.tolist(),
            (
                f"{title(graph, row)}{match_note(match)}: {words.snippet(row, width=width)}"
                for row, match in zip(rows.tolist(), matches, strict=True)
            ),
        )
        return Observation(reply.text(), tuple(graph.ids[row] for row in reply.shown))
