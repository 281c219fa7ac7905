"""`search_in_graph` and `search_in_neighborhood`: the whole graph, and one hop from a node, ranked by words.

By meaning too if the graph has vectors. ARK, section 3.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from orienteer.graph.adjacency import Entries, distinct
from orienteer.graph.listing import OWN, grouped, matching, ordered
from orienteer.graph.search import NameSearch, QueryWords, ValueMatch, ValueSearch, coverage_note
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.records import Direction, JsonValue, Observation
from orienteer.retrieval.graph_text import counts_line, edge_note, title
from orienteer.text.sentences import one_line, value_text
from orienteer.tools import texts
from orienteer.tools.session import ReplyLines, Session, counted, shown_range, type_filters

_GLOBAL = (
    "Search all nodes of the graph by words of their names and texts. Use it to answer descriptive questions, and to "
    "find nodes whose exact name you do not know. Edges are not in the text."
)
_GLOBAL_PLAIN = (
    "Search all nodes of the graph by words of their names and texts. Use it to find the nodes that a question names, "
    "and to answer descriptive questions. Edges are not in the text."
)
_PASSAGES = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Texts such as an answer's may be: the mean of their vectors and the query's is searched with",
}
_AMONG = {"type": "string", "description": "Search only in this saved set, such as @2"}
_LOCAL = "Look at the nodes one edge away from a node, whichever way the edge points."
_OF_TYPES = " Filter by node types and edge types."
_OF_QUERY = " A query ranks the neighbours by words, and drops none for lack of words."
_OF_COUNTS = " Counts by kind of edge come first."
_SIZE = {name: value for name, value in texts.count(texts.SEARCH_K).items() if name != "maximum"}
_POOL = 100  # rows by words that are put in order before the first k are taken: as many as a reply may show
_FEW = 3  # rows that hold a phrase: one that more rows hold says little
_MANY = 4  # words of a query, of which one alone says little
PLAIN = ("node_index", "query", "node_type", "edge_type")
"""The paper's parameters of its second search."""
_OURS = {"size": "k", "node_index": "node", "node_type": "node_types", "edge_type": "edge_types"}


class SearchInGraph:
    """ARK's global search: the k best nodes under BM25 (section 3.1)."""

    def __init__(self, session: Session, *, names_first: bool = False) -> None:
        self._session, self._names_first = session, names_first
        properties = {"query": texts.query(session.mode)}
        if session.is_plain:
            properties["size"] = _SIZE
        else:
            properties |= {"k": texts.count(texts.SEARCH_K), "node_types": texts.NODE_TYPES, "where": texts.WHERE}
            if session.saves_sets:
                properties["among"] = _AMONG
            if session.offers_mode:
                properties["mode"] = texts.MODE
            if session.offers_passages:
                properties["passages"] = _PASSAGES
            if session.offers_offset:
                properties["offset"] = texts.offset()
        description = _GLOBAL_PLAIN if session.is_plain else _GLOBAL
        self.spec = texts.spec("search_in_graph", description, properties, ["query"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the best nodes with the words that each has, and the words that are not in the graph."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        arguments = _as_ours(arguments)
        query = texts.text(arguments, "query") or ""
        k, offset = texts.number(arguments, "k", texts.SEARCH_K), texts.number(arguments, "offset", 0)
        # One row too many shows whether there are more.
        until = offset + k + session.offers_offset
        types = texts.texts(arguments, "node_types")
        node_types = session.node_types(types, notes) if types else None
        mask = graph.arrays.mask(node_types, texts.texts(arguments, "where") or ())
        among = texts.text(arguments, "among")
        passages = texts.texts(arguments, "passages") or []
        words = QueryWords(graph.arrays, "\n".join((query, *passages)))
        within = session.rows(among, notes) if among else None
        mode = session.payment.payable(texts.mode(arguments, session.mode), query, notes, passages=passages)
        values: list[ValueMatch] = []
        weak = 0
        if mode != "lexical":
            searcher = graph.arrays.searcher.near(mode, query, passages) if passages else graph.arrays.searcher(mode)
            rows = searcher.search(words.query, until, among=within, mask=mask).rows
        elif self._names_first:
            values = ValueSearch(graph.arrays).matches(query, among=within, mask=mask)
            rows, weak = self._best_of_names(words, values, until, within, mask)
        else:
            rows = self._best(words, until, within, mask)
        reply = ReplyLines(session, notes)
        if session.is_plain:
            _list_plainly(reply, words, rows, (title(graph, row) for row in rows.tolist()))
            return reply.observation()
        # A word that some property has as its value is not missing.
        of_values = {word for value in values for word in graph.arrays.tokenizer.words(value.value)}
        if unknown := [word for word in words.absent if word not in of_values]:
            reply.say(f"Not in this graph: {', '.join(unknown)}.")
        sentence = ValueSearch(graph.arrays).sentence
        whole = [value for value in values if value.is_whole]
        reply.say_all(f"{value.value}: {sentence(value)} (where: {value.condition})." for value in whole)
        if len(rows) <= offset:
            nothing = "No node has any of these words. Try other words, or fewer filters."
            reply.say(shown_range(offset, 0, len(rows)) if len(rows) else nothing)
            return reply.observation()
        self._list(reply, words, rows[offset : offset + k], weak, offset=offset, of=len(rows))
        return reply.observation()

    def _list(self, reply: ReplyLines, words: QueryWords, rows: Rows, weak: int, *, offset: int, of: int) -> None:
        """Save the rows and list one page of them; `of` is how many rows the search has found."""
        graph, coverages = self._session.graph, words.coverages(rows)
        name = self._session.save(rows)
        full = sum(coverage.is_full for coverage in coverages)
        few = "none of them" if coverages[0].of == 1 else "one of them or none"
        left_out = f" {weak} more, with {few}, left out." if weak else ""
        head = f"{f'{name}: ' if name else ''}{counted(len(rows), 'best node')}, {full} with all words."
        snippets = _snippets(reply, words, rows)
        lines = (f"{title(graph, row)}{part}" for row, part in zip(rows.tolist(), snippets, strict=True))
        if self._session.offers_offset:
            reply.page(rows.tolist(), lines, lambda shown: f"{head} {shown_range(offset, shown, of)}{left_out}")
            return
        reply.say(f"{head}{left_out}")
        reply.list(rows.tolist(), lines)

    def _best(self, words: QueryWords, k: int, among: Rows | None, mask: Mask | None) -> Rows:
        """Return the best rows by words. All tools but the paper's put those with all words first."""
        index = self._session.graph.arrays.text_index
        rows = index.search(words.terms, k, among=among, mask=mask).rows
        if not self._session.is_plain and len(words.postings) >= 2:
            full = index.search(words.terms, k, among=words.full_in(among), mask=mask).rows
            rows = np.concatenate([full, rows])
        return _distinct(rows.tolist())[:k]

    def _best_of_names(
        self, words: QueryWords, values: Sequence[ValueMatch], k: int, among: Rows | None, mask: Mask | None
    ) -> BestRows:
        """Return the nodes that the query names, then the best by words, then those with it as a value."""
        names = NameSearch(self._session.graph.arrays)
        named = [match.row for match in names.matches(words.query, k, among=among, mask=mask)]
        of_values = [row for value in values for row in value.rows.tolist()]
        if (whole := names.whole_words(words.query)) is not None:
            mask = whole if mask is None else mask & whole
        by_words = self._in_phrases(words, self._best(words, max(k, _POOL), among, mask))
        best = _distinct([*named, *by_words.tolist(), *of_values])[:k]
        coverages = words.coverages(best)
        most = max((coverage.number for coverage in coverages), default=0)
        sure = {*named, *of_values}
        rows = zip(best.tolist(), coverages, strict=True)
        # Rows are found by common words alone if none has others.
        least = 1 if most or not words.common else 0
        # A row is weak with fewer words than the least, or with one of many if another row has more.
        weak = [
            bool(has.of) and (has.number < least or (has.number == 1 < most and has.of >= _MANY)) and row not in sure
            for row, has in rows
        ]
        return BestRows(best[~np.array(weak, np.bool_)], weak.count(True))

    def _in_phrases(self, words: QueryWords, rows: Rows) -> Rows:
        """Put the rows with all words first, then the few that hold the heaviest phrase of the query word by word."""
        partial = np.array([not coverage.is_full for coverage in words.coverages(rows)], np.bool_)
        weights = words.phrase_weights(rows)
        holds = (weights > 0) & (weights == weights.max(initial=0))
        if np.count_nonzero(holds) > _FEW:
            holds[:] = False
        return rows[np.lexsort((~holds, partial))]  # stable: the others stay in their order


class BestRows(NamedTuple):
    """What a search found by names and words."""

    rows: Rows
    """(n,): the best first."""
    left_out: int
    """How many were left out because they have hardly any of the words."""


def _snippets(reply: ReplyLines, words: QueryWords, rows: Rows) -> Iterator[str]:
    """Yield for each row the query's words in it and the part of its text with them; "" without words."""
    # Only the first rows have a snippet: a model reads no further than that, and a list of names has room for more.
    first, width = reply.snippets(len(rows))
    for place, (row, coverage) in enumerate(zip(rows.tolist(), words.coverages(rows), strict=True)):
        has_snippet = words.terms and place < first
        yield f"{coverage_note(coverage)}: {words.snippet(row, width=width)}" if has_snippet else ""


def _list_plainly(reply: ReplyLines, words: QueryWords, rows: Rows, lines: Iterable[str]) -> None:
    """Add a line for each row, with the part of its text that has the query's words, and no more."""
    parts = (f": {words.snippet(row)}" if words.terms else "" for row in rows.tolist())
    reply.list(rows.tolist(), map(str.__add__, lines, parts))
    if not len(rows):
        reply.say("No results.")


def _as_ours(arguments: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return the arguments of a call by our names of them."""
    return {_OURS.get(name, name): value for name, value in arguments.items()}


def _distinct(rows: Iterable[int]) -> Rows:
    """Return rows without repeats, in their order."""
    return np.array(list(dict.fromkeys(rows)), np.int32)


class SearchInNeighborhood:
    """ARK's neighbourhood exploration (section 3.1)."""

    def __init__(self, session: Session, *, only: Collection[str] | None = None) -> None:
        self._session = session
        properties = {
            "node": texts.node(saves_sets=session.saves_sets, takes_kinds=session.takes_kinds),
            "query": texts.query(session.mode),
            "node_types": texts.NODE_TYPES,
            "edge_types": texts.EDGE_TYPES,
            "direction": texts.DIRECTION,
            "where": texts.WHERE,
            "k": texts.count(texts.NEIGHBORS_K),
            "offset": texts.offset(),
        }
        if session.offers_mode:
            properties["mode"] = texts.MODE
        if only is not None:
            properties = {name: properties[_OURS.get(name, name)] for name in PLAIN if name in only}
            properties["node_index"] = texts.PLAIN_NODE
        has_types = "node_types" in properties or "node_type" in properties
        description = _LOCAL + _OF_TYPES * has_types + _OF_QUERY * ("query" in properties) + _OF_COUNTS * (only is None)
        self.spec = texts.spec("search_in_neighborhood", description, properties, [next(iter(properties))])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the neighbours: counts by kind of edge, then a page of them, those with all the words first."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        arguments = _as_ours(arguments)
        reference = texts.text(arguments, "node") or ""
        nodes, edges = texts.texts(arguments, "node_types"), texts.texts(arguments, "edge_types")
        node_types, edge_types = type_filters(session, nodes, edges, notes, around=[reference])
        direction = cast(Direction | None, arguments.get("direction"))  # checked against the schema
        mask = graph.arrays.mask(node_types, texts.texts(arguments, "where") or ())
        kinds = graph.arrays.kind_mask(edge_types, direction)
        start = session.rows(reference, notes, mask=mask, kinds=kinds)
        entries = graph.arrays.adjacency.entries(start, kinds)
        if mask is not None:
            entries = entries.where(mask[entries.neighbor])
        rows = distinct(entries.neighbor)
        reply = ReplyLines(session, notes)
        if session.is_plain:
            self._page(reply, arguments, rows, entries, start)
            return reply.observation()
        if not len(rows):
            reply.say("0 neighbours pass these filters.")
            if len((around := graph.arrays.adjacency.entries(start)).neighbor):
                reply.say(f"Without filters there are: {counts_line(graph, graph.arrays.counts(around))}")
            return reply.observation()
        reply.say(f"{counted(len(rows), 'neighbour')}: {counts_line(graph, graph.arrays.counts(entries))}")
        self._page(reply, arguments, rows, entries, start)
        return reply.observation()

    def _page(
        self, reply: ReplyLines, arguments: Mapping[str, JsonValue], rows: Rows, entries: Entries, start: Rows
    ) -> None:
        session, graph = self._session, self._session.graph
        k, offset = texts.number(arguments, "k", texts.NEIGHBORS_K), texts.number(arguments, "offset", 0)
        query = texts.text(arguments, "query")
        words = QueryWords(graph.arrays, query or "")
        notes: list[str] = []
        mode = session.payment.payable(texts.mode(arguments, session.mode), query or "", notes)
        reply.say_all(notes)
        full = words.full(rows) if query else rows[:0]
        # The paper ranks by words alone; and what is near in meaning need not have them.
        ahead = full if mode == "lexical" and not session.is_plain else rows[:0]
        best, _ = graph.arrays.rank(ahead, query, offset + k)
        others, _ = graph.arrays.rank(np.setdiff1d(rows, ahead), query, max(0, offset + k - len(best)), mode=mode)
        page = np.concatenate([best, others])[offset : offset + k]
        if session.is_plain:
            _list_plainly(reply, words, page, (self._line(row, entries, start) for row in page.tolist()))
            return
        if query and mode == "lexical" and offset == 0 and not len(full):
            reply.say("0 have all words; best partial matches:")
        is_whole = session.are_whole([texts.text(arguments, "node") or ""])
        name = session.save(rows, first=page, is_whole=is_whole)
        what = f"{name}: all {len(rows)}. " if name else ""
        snippets = _snippets(reply, words, page)
        reply.page(
            page.tolist(),
            (f"{self._line(row, entries, start)}{part}" for row, part in zip(page.tolist(), snippets, strict=True)),
            lambda shown: f"{what}{shown_range(offset, shown, len(rows))}",
        )

    def _line(self, row: int, entries: Entries, start: Rows) -> str:
        graph = self._session.graph
        edges = graph.arrays.edges_to(entries, row)
        owners = np.unique(entries.owner[entries.neighbor == row]) if len(start) > 1 else start
        touched = f" touches {len(owners)} of {len(start)}" if len(start) > 1 else ""
        is_start = " (start)" if row in start else ""
        return f"{edge_note(graph, edges, graph.arrays.ids[row])} {title(graph, row)}{is_start}{touched}"


# `list_nodes`: nodes by type and property without words, counted, sorted, grouped. For agents that ask for it.


LIST_NODES = "list_nodes"
_DESCRIPTION = (
    "List nodes by type and property, without words: how many there are, in the order of a property, or counted by its "
    "values. Use it for how many, for the largest and the oldest, and for what a property's values are."
)
_FIELD = "a property, or name, id, type or degree (the number of edges)"
_VALUE = 80  # characters of a value in a line


class ListNodes:
    """Lists, counts, sorts and groups nodes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        properties: dict[str, Any] = {
            "node_types": texts.NODE_TYPES,
            "where": texts.WHERE,
            "sort": {"type": "string", "description": f"Order by {_FIELD}; nodes without a value come last"},
            "descending": {"type": "boolean", "description": "From the largest value on"},
            "group_by": {"type": "string", "description": f"Count the nodes by the values of {_FIELD}"},
            "k": texts.count(texts.NEIGHBORS_K),
            "offset": texts.offset(),
        }
        self.spec = texts.spec(LIST_NODES, _DESCRIPTION, properties)

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the number of nodes that pass the filters, and a page of them or of their groups."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        types = texts.texts(arguments, "node_types")
        node_types = session.node_types(types, notes) if types else None
        rows = matching(graph.arrays, node_types, texts.texts(arguments, "where") or ())
        sort, group_by = texts.text(arguments, "sort"), texts.text(arguments, "group_by")
        descending = arguments.get("descending") is True
        k, offset = texts.number(arguments, "k", texts.NEIGHBORS_K), texts.number(arguments, "offset", 0)
        reply = ReplyLines(session, notes)
        if group_by is not None:
            groups = grouped(graph.arrays, rows, group_by, sort=sort, descending=descending)
            session.save(rows, is_whole=True)
            # The set has been saved whole: its groups are only a view of it, and are no nodes of the reply.
            saved = f"@{len(session.sets)}: " if session.saves_sets else ""
            what = f"{saved}{counted(len(rows), 'node')}, {counted(len(groups), 'value')}"
            few = groups[offset : offset + k]
            values = (
                "(no value)" if group.value is None else one_line(value_text(group.value), _VALUE) for group in few
            )
            reply.page(
                range(len(few)),
                (f"{value}: {group.count}" for value, group in zip(values, few, strict=True)),
                lambda shown: f"{what}{_page_range(shown, offset, len(groups))}",
            )
            return Observation(reply.text())
        order = ordered(graph.arrays, rows, sort, descending=descending)
        page = order.rows[offset : offset + k]
        name = session.save(rows, first=order.rows, is_whole=True)
        without = f", {order.missing} of them without {sort}" if order.missing else ""
        what = f"{f'{name}: ' if name else ''}{counted(len(rows), 'node')}{without}"
        reply.page(
            page.tolist(),
            (f"{title(graph, row)}{self._value(row, sort)}" for row in page.tolist()),
            lambda shown: f"{what}{_page_range(shown, offset, len(rows))}",
        )
        return reply.observation()

    def _value(self, row: int, sort: str | None) -> str:
        """Return what a node is sorted by as text, empty if it has none, and for what its title says."""
        arrays = self._session.graph.arrays
        field = arrays.properties.spelling_of(sort, OWN) if sort else ""
        own = int(arrays.adjacency.degree(np.array([row]))[0]) if field == "degree" else None
        value = arrays.properties.of(row).get(field) if field in arrays.properties.names else own
        return "" if value is None else f" {field}: {one_line(value_text(value), _VALUE)}"


def _page_range(rows: int, offset: int, of: int) -> str:
    """Return the range of a page, unless it shows all rows."""
    return "." if rows == of else f". {shown_range(offset, rows, of)}"
