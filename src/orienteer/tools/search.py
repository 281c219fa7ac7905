"""`search_in_graph` and `search_in_neighborhood`: the whole graph, and one hop from a node, ranked by words.

By meaning too where the graph has vectors. ARK, section 3.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from orienteer.errors import UnknownType
from orienteer.graph.adjacency import Entries, distinct
from orienteer.graph.search.names import NameSearch
from orienteer.graph.search.query_words import QueryWords, coverage_note
from orienteer.graph.search.values import ValueMatch, ValueSearch
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.records import Direction, JsonValue, Observation
from orienteer.retrieval.graph_text import counts_line, edge_note, title
from orienteer.tools import parameters
from orienteer.tools.session import ReplyLines, Session, counted, near_types

_GLOBAL = (
    "Search all nodes of the graph by words of their names and texts. Use it to find the nodes that a question names, "
    "and to answer descriptive questions. Edges are not in the text."
)
_PASSAGES = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Texts such as an answer's may be: the mean of their vectors and the query's is searched with",
}
_LOCAL = "Look at the nodes one edge away from a node, whichever way the edge points."
_OF_TYPES = " Filter by node types and edge types."
_OF_QUERY = " A query ranks the neighbours by words, and never hides any."
_OF_COUNTS = " Counts by kind of edge come first."
PLAIN = ("node", "query", "node_types", "edge_types")
"""The paper's parameters."""


class SearchInGraph:
    """ARK's global search: the k best nodes under BM25 (section 3.1)."""

    def __init__(self, session: Session, *, is_plain: bool = False, names_first: bool = False) -> None:
        self._session, self._is_plain, self._names_first = session, is_plain, names_first
        properties = {"query": parameters.query(session.mode), "k": parameters.count(parameters.SEARCH_K)}
        if not is_plain:
            among = {**parameters.NODE, "description": "Search only in this saved set, such as @2"}
            properties |= {"node_types": parameters.NODE_TYPES, "where": parameters.WHERE, "among": among}
            if session.offers_mode:
                properties["mode"] = parameters.MODE
            if session.offers_passages:
                properties["passages"] = _PASSAGES
        self.spec = parameters.spec("search_in_graph", _GLOBAL, properties, ["query"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the best nodes with the words that each has, and the words that are not in the graph."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        query = parameters.text(arguments, "query") or ""
        k = parameters.number(arguments, "k", parameters.SEARCH_K)
        types = parameters.texts(arguments, "node_types")
        node_types = session.node_types(types, notes) if types else None
        mask = graph.arrays.mask(node_types, parameters.texts(arguments, "where") or ())
        among = parameters.text(arguments, "among")
        passages = parameters.texts(arguments, "passages") or []
        words = QueryWords(graph.arrays, "\n".join((query, *passages)))
        within = session.rows(among, notes) if among else None
        mode = session.payment.payable(parameters.mode(arguments, session.mode), query, notes, passages=passages)
        values: list[ValueMatch] = []
        if mode == "lexical":
            rows = self._best(words, k, within, mask)
            if self._names_first:
                values = ValueSearch(graph.arrays).matches(query, among=within, mask=mask)
                rows = np.array(list(dict.fromkeys([*rows.tolist(), *_rows_of(values)]))[:k], np.int32)
        else:
            searcher = graph.arrays.searcher.near(mode, query, passages) if passages else graph.arrays.searcher(mode)
            rows = searcher.search(words.query, k, among=within, mask=mask).rows
        reply = ReplyLines(session)
        reply.say_all(notes)
        self._say_values(reply, words, values)
        if not len(rows):
            reply.say("No node has any of these words. Try other words, or fewer filters.")
            return Observation(reply.text())
        coverages = words.coverages(rows)
        name = session.save(rows)
        full = sum(coverage.is_full for coverage in coverages)
        reply.say(f"{f'{name}: ' if name else ''}{counted(len(rows), 'best node')}, {full} with all words.")
        width = reply.width(len(rows))
        reply.list(
            rows.tolist(),
            (
                f"{title(graph, row)}{coverage_note(coverage)}: {words.snippet(row, width=width)}"
                for row, coverage in zip(rows.tolist(), coverages, strict=True)
            ),
        )
        return Observation(reply.text(), tuple(graph.arrays.ids[row] for row in reply.shown))

    def _say_values(self, reply: ReplyLines, words: QueryWords, values: Sequence[ValueMatch]) -> None:
        """Say which words the graph does not hold, and what a query is that is the value of a property."""
        arrays = self._session.graph.arrays
        of_values = {word for value in values for word in arrays.tokenizer.words(value.value)}
        if unknown := [word for word in words.unknown if word not in of_values]:
            reply.say(f"Not in this graph: {', '.join(unknown)}.")
        whole = [value for value in values if value.is_whole]
        reply.say_all(
            f"{value.value}: {ValueSearch(arrays).sentence(value)} (where: {value.condition})." for value in whole
        )

    def _best(self, words: QueryWords, k: int, among: Rows | None, mask: Mask | None) -> Rows:
        """Return the best rows by words. Our own tools put those with all words first, what is named before them."""
        arrays = self._session.graph.arrays
        named: list[int] = []
        if self._names_first:
            names = NameSearch(arrays)
            named = [match.row for match in names.matches(words.query, among=among, mask=mask)[:k]]
            if (whole := names.whole_words(words.query)) is not None:
                mask = whole if mask is None else mask & whole
        rows = arrays.text_index.search(words.terms, k, among=among, mask=mask).rows
        if not self._is_plain and len(words.postings) >= 2:
            full = arrays.text_index.search(words.terms, k, among=words.full_in(among), mask=mask).rows
            rows = np.concatenate([full, rows])
        return np.array(list(dict.fromkeys((*named, *rows.tolist())))[:k], np.int32)


def _rows_of(values: Iterable[ValueMatch]) -> list[int]:
    return [row for value in values for row in value.rows.tolist()]


class SearchInNeighborhood:
    """ARK's neighbourhood exploration (section 3.1)."""

    def __init__(self, session: Session, *, only: Collection[str] | None = None) -> None:
        self._session = session
        offset = {"type": "integer", "minimum": 0, "description": "Rows to skip; default 0"}
        properties = {
            "node": parameters.NODE if only is None else parameters.PLAIN_NODE,
            "query": parameters.query(session.mode),
            "node_types": parameters.NODE_TYPES,
            "edge_types": parameters.EDGE_TYPES,
            "direction": parameters.DIRECTION,
            "where": parameters.WHERE,
            "k": parameters.count(parameters.NEIGHBORS_K),
            "offset": offset,
        }
        if session.offers_mode:
            properties["mode"] = parameters.MODE
        if only is not None:
            properties = {name: schema for name, schema in properties.items() if name in only}
        description = (
            _LOCAL + _OF_TYPES * ("node_types" in properties) + _OF_QUERY * ("query" in properties) + _OF_COUNTS
        )
        self._pages = "offset" in properties
        self.spec = parameters.spec("search_in_neighborhood", description, properties, ["node"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the neighbours: counts by kind of edge, then a page of them, those with all the words first."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        reference = parameters.text(arguments, "node") or ""
        node_types, edge_types = self._types(reference, arguments, notes)
        direction = _direction(arguments)
        mask = graph.arrays.mask(node_types, parameters.texts(arguments, "where") or ())
        kinds = graph.arrays.kind_mask(edge_types, direction)
        start = session.rows(reference, notes, mask=mask, kinds=kinds)
        entries = graph.arrays.adjacency.entries(start, kinds)
        if mask is not None:
            entries = entries.where(mask[entries.neighbor])
        rows = distinct(entries.neighbor)
        reply = ReplyLines(session)
        reply.say_all(notes)
        if not len(rows):
            reply.say("0 neighbours pass these filters.")
            if len((around := graph.arrays.adjacency.entries(start)).neighbor):
                reply.say(f"Without filters there are: {counts_line(graph, graph.arrays.counts(around))}")
            return Observation(reply.text())
        reply.say(f"{counted(len(rows), 'neighbour')}: {counts_line(graph, graph.arrays.counts(entries))}")
        self._page(reply, arguments, rows, entries, start)
        return Observation(reply.text(), tuple(graph.arrays.ids[row] for row in reply.shown))

    def _types(
        self, reference: str, arguments: Mapping[str, JsonValue], notes: list[str]
    ) -> tuple[list[str] | None, list[str] | None]:
        session = self._session
        nodes, edges = parameters.texts(arguments, "node_types"), parameters.texts(arguments, "edge_types")
        try:
            return (
                session.node_types(nodes, notes) if nodes else None,
                session.edge_types(edges, notes) if edges else None,
            )
        except UnknownType as error:
            raise near_types(error, session.graph, session.rows(reference, [])) from error

    def _page(
        self, reply: ReplyLines, arguments: Mapping[str, JsonValue], rows: Rows, entries: Entries, start: Rows
    ) -> None:
        session, graph = self._session, self._session.graph
        k, offset = parameters.number(arguments, "k", parameters.NEIGHBORS_K), parameters.number(arguments, "offset", 0)
        query = parameters.text(arguments, "query")
        words = QueryWords(graph.arrays, query or "")
        notes: list[str] = []
        mode = session.payment.payable(parameters.mode(arguments, session.mode), query or "", notes)
        reply.say_all(notes)
        full = words.full(rows) if query else rows[:0]
        # The paper ranks by words alone; and what is near in meaning need not have them.
        ahead = full if self._pages and mode == "lexical" else rows[:0]
        best, _ = graph.arrays.rank(ahead, query, offset + k)
        others, _ = graph.arrays.rank(np.setdiff1d(rows, ahead), query, max(0, offset + k - len(best)), mode=mode)
        page = np.concatenate([best, others])[offset : offset + k]
        coverages = words.coverages(page)
        if query and mode == "lexical" and offset == 0 and not len(full):
            reply.say("0 have all words; best partial matches:")
        name = session.save(rows, first=page)
        reply.say(f"{f'{name}: all {len(rows)}. ' if name else ''}{self._shown(offset, len(page), len(rows))}")
        reply.list(
            page.tolist(),
            (
                self._line(row, entries, start, words, note)
                for row, note in zip(page.tolist(), map(coverage_note, coverages), strict=True)
            ),
        )

    def _shown(self, offset: int, count: int, of: int) -> str:
        if not count:
            return f"None from {offset} on."
        more = f"; offset={offset + count} for more" if self._pages and offset + count < of else ""
        return f"Shown {offset + 1}-{offset + count}{more}."

    def _line(self, row: int, entries: Entries, start: Rows, words: QueryWords, note: str) -> str:
        graph = self._session.graph
        edges = graph.arrays.edges_to(entries, row)
        if len(start) > 1:
            at = np.flatnonzero(entries.neighbor == row)
            touched = f" touches {len(np.unique(entries.owner[at]))} of {len(start)}"
        else:
            touched = ""
        is_start = " (start)" if row in start else ""
        text = f": {words.snippet(row)}" if words.terms and note else ""
        return f"{edge_note(graph, edges, graph.arrays.ids[row])} {title(graph, row)}{is_start}{touched}{note}{text}"


def _direction(arguments: Mapping[str, JsonValue]) -> Direction | None:
    value = arguments.get("direction")
    return "out" if value == "out" else "in" if value == "in" else None
