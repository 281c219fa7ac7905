"""Edges and full-text search of a database in place, with the interfaces of the store's adjacency and indexes."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.connect.bolt import Server
from orienteer.connect.in_place.contents import NODE_COLUMNS, SeenNodes, UnsupportedInPlace
from orienteer.connect.opencypher.server_names import ServerNames
from orienteer.cypher.kinds import quoted
from orienteer.errors import BadInput, TooManyEdges
from orienteer.graph.adjacency import Entries, KindMask
from orienteer.graph.properties import Condition, meets, number_of, spelling_of
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import K1, B, Mask, Posting, ScoredRows
from orienteer.index.names import ALIKE, SHORTEST_SPELLED, Link, NameKind
from orienteer.records import Node
from orienteer.text.tokenizer import Tokenizer

# Conditions on properties (`year >= 2000`): the server filters first, and the store's own test decides. The server is
# asked only for what it compares as the store does: numbers, and whether a node has the property. To the store a text
# may be a date, and case does not count.


_NUMBERS = frozenset({"integer", "float"})
_SIGNS = {"!=": "<>"}


class Conditions(NamedTuple):
    """Conditions that must all be met."""

    tests: tuple[Condition, ...] = ()
    """With the database's spelling of properties."""
    asked: tuple[str, ...] = ()
    """The server's part in Cypher, with `{node}` for a node's variable."""
    parameters: Mapping[str, Any] = {}  # Any: values of the database

    def are_met(self, node: Node) -> bool:
        """Return whether a node meets them all."""
        return all(meets(node.properties.get(test.property), test) for test in self.tests)

    def where(self, node: str) -> str:
        """Return the server's part as ` AND ...`, or an empty text."""
        return "".join(f" AND {text.format(node=node)}" for text in self.asked)


EVERY = Conditions()
"""Conditions that every node meets."""


class MaskInPlace(UnsupportedInPlace):
    """Marks the nodes of some types that meet some conditions."""

    def __init__(self, server: Server, types: Mask | None, conditions: Conditions, seen: SeenNodes) -> None:
        super().__init__(server)
        self._types, self.conditions, self._seen = types, conditions, seen

    def __getitem__(self, rows: Any) -> Any:  # Any: a row, or an array of rows
        nodes, met = self._seen.nodes, self.conditions.are_met
        is_of = np.True_ if self._types is None else self._types[self._seen.types(rows)]
        if not self.conditions.tests:
            return is_of if self._types is not None else np.ones(np.shape(rows), np.bool_)
        if np.ndim(rows) == 0:
            return bool(is_of) and met(nodes[int(rows)])
        return is_of & np.array([met(nodes[row]) for row in np.asarray(rows).tolist()], np.bool_)


def conditions_of(tests: Sequence[Condition], names: ServerNames, properties: Sequence[str]) -> Conditions:
    """Return conditions on properties that the database has. Raises `UnknownProperty`."""
    own = tuple(test._replace(property=spelling_of(test.property, properties)) for test in tests)
    asked, parameters = [], dict[str, float]()
    for place, test in enumerate(own):
        column = names.catalog.node_columns.get(test.property)
        if column is None:
            continue
        value = "{node}." + quoted(column.column).replace("{", "{{").replace("}", "}}")
        number = number_of(test.value)
        if column.kind in _NUMBERS and not math.isnan(number):
            asked.append(f"{value} {_SIGNS.get(test.comparison, test.comparison)} $where{place}")
            parameters[f"where{place}"] = number
        else:
            asked.append(f"{value} IS NOT NULL")
    return Conditions(own, tuple(asked), parameters)


MOST_ENDS = 50_000
"""Edge ends of one request to the server. More are refused, never truncated silently."""
REMEMBERED = 64
"""Neighbourhoods that are cached: a tool asks for the same one several times."""


class EdgesInPlace(UnsupportedInPlace):
    """Asks the server for edges. Safe to share among threads."""

    def __init__(self, server: Server, seen: SeenNodes, types: Sequence[str]) -> None:
        super().__init__(server)
        self._seen, self._types = seen, types
        self._numbers = {name: number for number, name in enumerate(types)}
        self._known: OrderedDict[tuple[bytes, bytes, tuple[Condition, ...]], Entries] = OrderedDict()
        self._extras: list[dict[str, Any]] = []  # Any: values of the database
        self.kind: list[int] = []
        """The kind of each entry, by its place."""
        self._lock = Lock()

    def entries(self, rows: Rows, kinds: KindMask | None = None, conditions: Conditions = EVERY) -> Entries:
        """Return the edges of these rows, as `Adjacency.entries` does. Raises `TooManyEdges`."""
        # Only the server's part of the conditions filters neighbours here.
        key = (rows.tobytes(), b"" if kinds is None else kinds.tobytes(), conditions.tests)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._fetch_edges(rows, kinds, conditions)
                while len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
            self._known.move_to_end(key)
            return self._known[key]

    def degree(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return 1 for each row: edges are not counted before they are asked for."""
        return np.ones(len(rows), np.int64)

    def neighbors(self, row: int) -> NDArray[np.int32]:
        """Return the neighbours of a row: (n,), ascending, one entry for each edge."""
        return self.entries(np.array([row], np.int32)).neighbor

    def between(self, row: int, other: int) -> Entries:
        """Return the edges between a row and another, seen from the first."""
        statement = (
            "UNWIND $ids AS id MATCH (n)-[r]-(m) WHERE elementId(n) = id AND elementId(m) = $other AND id <> $other "
        )
        return self._fetch(statement, np.array([row], np.int32), None, other=self._seen.element_ids[other])

    def extras(self, at: int) -> dict[str, Any]:  # Any: values of the database
        """Return the properties of the edge of an entry."""
        return self._extras[at]

    def _fetch_edges(self, rows: Rows, kinds: KindMask | None, conditions: Conditions) -> Entries:
        """Fetch the edges of some rows; if all kinds point one way, only edges of that direction."""
        if not len(rows) or (kinds is not None and not kinds.any()):
            return self._sorted(rows, [], kinds)
        left = right = "-"
        names = ""
        if kinds is not None:
            ways = kinds.reshape(-1, 2)
            if not ways.all(axis=1).all() and len(wanted := np.flatnonzero(ways.any(axis=1))) < len(self._types):
                names = ":" + "|".join(quoted(self._types[number]) for number in wanted.tolist())
            left, right = ("<-" if not ways[:, 0].any() else "-"), ("->" if not ways[:, 1].any() else "-")
        where = f"WHERE elementId(n) = id{conditions.where('m')} "
        statement = f"UNWIND $ids AS id MATCH (n){left}[r{names}]{right}(m) {where}"
        return self._fetch(statement, rows, kinds, **conditions.parameters)

    def _fetch(self, statement: str, rows: Rows, kinds: KindMask | None, **parameters: Any) -> Entries:  # Any: as above
        ids = [self._seen.element_ids[row] for row in rows.tolist()]
        returned = (
            "RETURN id, elementId(startNode(r)) = id AS leaves, type(r) AS type, elementId(m) AS other, "
            f"properties(r) AS more LIMIT {MOST_ENDS + 1}"
        )
        records = self._server.rows(statement + returned, ids=ids, **parameters)
        if len(records) > MOST_ENDS:
            raise TooManyEdges(
                f"There are more than {MOST_ENDS:,} edges here: name edge_types or a direction, or begin from fewer "
                "nodes."
            )
        return self._sorted(rows, records, kinds)

    def _sorted(self, rows: Rows, records: Sequence[Sequence[Any]], kinds: KindMask | None) -> Entries:
        """Return records as entries, without loops, in the order of the rows, then by neighbour and kind."""
        records = [record for record in records if record[0] != record[3] and record[2] in self._numbers]
        place = {self._seen.element_ids[row]: number for number, row in enumerate(rows.tolist())}
        rows_there = self._seen.rows_by_element([record[3] for record in records])
        records = [record for record in records if record[3] in rows_there]
        neighbor = np.array([rows_there[record[3]] for record in records], np.int32)
        kind = np.array([self._numbers[record[2]] * 2 + (not record[1]) for record in records], np.uint16)
        at = np.arange(len(self._extras), len(self._extras) + len(records), dtype=np.int64)
        self._extras += [record[4] for record in records]
        self.kind += kind.tolist()
        order = np.array([place[record[0]] for record in records], np.int64)
        by = np.lexsort((kind, neighbor, order))
        entries = Entries(rows[order[by]] if len(by) else rows[:0], neighbor[by], kind[by], at[by])
        return entries if kinds is None else entries.where(kinds[entries.kind])


# Search by words: the server's full-text index searches the whole graph. A few given nodes are ranked here, by the
# store's BM25 with the server's counts of words, and a mean length from a sample of nodes.


MOST_HITS = 10_000
"""Nodes that are fetched at most if filters drop many."""
MOST_WITH_WORD = 1_000
"""Nodes with a word that are fetched for a search of several words."""
MOST_NAMED = 100
"""Nodes with all words of a name that are compared with the name."""
MOST_WORDS = 64
"""Words of a query that are sent: Lucene refuses a thousand."""
MOST_PAIRS = 10_000
"""Pairs of words that are cached."""
SAMPLED = 500
"""Nodes whose texts give the mean length."""


class FullTextIndex(NamedTuple):
    """The index for searches."""

    name: str
    labels: tuple[str, ...]
    properties: tuple[str, ...]


def full_text_index(server: Server) -> FullTextIndex:
    """Return the full-text index that covers the most labels. Raises `BadInput` without one."""
    statement = "SHOW FULLTEXT INDEXES YIELD name, labelsOrTypes, properties, entityType"
    found = [
        FullTextIndex(name, tuple(labels), tuple(properties))
        for name, labels, properties, kind in server.rows(statement)
        if kind == "NODE"
    ]
    if not found:
        raise BadInput(
            f"{server.address} has no full-text index of nodes, which searches go to: make one over the properties "
            f"that hold names and texts, or import the database: orienteer import {server.address} -o DIR"
        )
    return max(found, key=lambda index: (len(index.labels), len(index.properties), index.name))


class TextInPlace(UnsupportedInPlace):
    """Ranks nodes by words, as `TextIndex` does. Safe to share among threads."""

    def __init__(self, server: Server, seen: SeenNodes, index: FullTextIndex, count: int) -> None:
        super().__init__(server)
        self._seen, self.index, self.count = seen, index, count
        self._postings: dict[str, Posting | None] = {}
        rows = seen.take(server.rows(f"MATCH (n) RETURN {NODE_COLUMNS} LIMIT $most", most=SAMPLED))
        self.mean_length = max(1.0, float(np.mean([seen.terms(row).total() for row in rows.tolist()])))

    def posting(self, term: str) -> Posting | None:
        """Return the server's count of the nodes with a term, or None for no node."""
        if term not in self._postings:
            statement = "CALL db.index.fulltext.queryNodes($index, $words) YIELD node RETURN count(node) AS count"
            nodes = self._server.rows(statement, index=self.index.name, words=term)[0][0]
            idf = self.idf(nodes)
            self._postings[term] = Posting(term, idf, 0, nodes, 0, idf) if nodes else None
        return self._postings[term]

    def idf(self, count: int) -> float:
        """Return the inverse document frequency of a term of `count` nodes."""
        return math.log1p((self.count - count + 0.5) / (count + 0.5))

    def postings(self, terms: Sequence[str]) -> list[Posting]:
        """Return the postings of distinct terms, the rarest first."""
        postings = [posting for posting in map(self.posting, dict.fromkeys(terms)) if posting]
        return sorted(postings, key=lambda posting: (-posting.bound, posting.term))

    def rows_of(self, posting: Posting) -> Rows:
        """Return the nodes with a term, only the best if there are many: (n,) int32, ascending."""
        return np.sort(self._hits(posting.term, MOST_WITH_WORD).rows)

    def filter_rows(self, posting: Posting, rows: Rows) -> Rows:
        """Return the rows that contain the term, ascending like `rows`."""
        return rows[np.array([posting.term in self._seen.terms(row) for row in rows.tolist()], np.bool_)]

    def search(
        self, terms: Sequence[str], k: int, *, among: Rows | None = None, mask: Mask | None = None
    ) -> ScoredRows:
        """Return the `k` best rows with one of the terms, of the whole graph or of `among`."""
        if k < 1 or not terms or (among is not None and not len(among)):
            return ScoredRows(np.zeros(0, np.int32), np.zeros(0))
        if among is not None:
            rows = among if mask is None else among[mask[among]]
            scores = self.scores(terms, rows)
            order = np.lexsort((self._seen.places(rows), -scores))[:k]
            order = order[scores[order] > 0]
            return ScoredRows(rows[order], scores[order])
        words, most = " ".join(list(dict.fromkeys(terms))[:MOST_WORDS]), k
        conditions = mask.conditions if isinstance(mask, MaskInPlace) else EVERY
        while True:
            hits = self._hits(words, most, conditions)
            kept = hits
            if mask is not None:
                passing = mask[hits.rows]
                kept = ScoredRows(hits.rows[passing], hits.scores[passing])
            if len(kept.rows) >= k or len(hits.rows) < most or most == MOST_HITS:
                return ScoredRows(kept.rows[:k], kept.scores[:k])
            most = min(most * 8, MOST_HITS)

    def scores(self, terms: Sequence[str], rows: Rows) -> NDArray[np.float64]:
        """Return the BM25 scores of rows: (rows,), 0 for a row without any of the terms."""
        postings = self.postings(terms)
        scores = np.zeros(len(rows))
        for place, row in enumerate(rows.tolist()):
            own = self._seen.terms(row)
            saturation = K1 * (1 - B + B * own.total() / self.mean_length)
            scores[place] = sum(
                posting.idf * own[posting.term] / (own[posting.term] + saturation) for posting in postings
            )
        return scores

    def _hits(self, words: str, most: int, conditions: Conditions = EVERY) -> ScoredRows:
        """Query the index. `words` are terms of the tokenizer, without any syntax of the index."""
        # A limit would count nodes that conditions drop.
        limit = ", {limit: $most}" if not conditions.asked else ""
        statement = (
            f"CALL db.index.fulltext.queryNodes($index, $words{limit}) YIELD node, score "
            f"WITH node AS n, score WHERE true{conditions.where('n')} "
            f"RETURN {NODE_COLUMNS}, score ORDER BY score DESC LIMIT $most"
        )
        records = self._server.rows(statement, index=self.index.name, words=words, most=most, **conditions.parameters)
        scores = np.array([record[3] for record in records], np.float64)
        rows = self._seen.take(records)
        order = np.lexsort((self._seen.places(rows), -scores))[:most]
        return ScoredRows(rows[order], scores[order])

    def nearly(self, word: str) -> Rows:
        """Return the best nodes with a word that differs from this one in at most two letters: (n,)."""
        return self._hits(f"{word}~", MOST_NAMED).rows

    def with_all(self, words: Sequence[str]) -> Rows:
        """Return the best nodes with all of the words: (n,), best first."""
        return self._hits(" ".join(f"+{word}" for word in words), MOST_NAMED).rows


class NamesInPlace(UnsupportedInPlace):
    """Finds nodes by their whole names, through the full-text index."""

    def __init__(self, server: Server, text: TextInPlace, seen: SeenNodes, tokenizer: Tokenizer) -> None:
        super().__init__(server)
        self._text, self._seen, self._tokenizer = text, seen, tokenizer
        self._meeting: dict[tuple[str, str], bool] = {}

    def has_word(self, word: str) -> bool:
        """Return False: the words of a database's names are not known."""
        return False

    def called(self, phrase: str) -> list[Link]:
        """Return the nodes whose name or alias is the phrase."""
        return self.links(self._tokenizer.words(phrase))

    def links(self, phrase: Sequence[str]) -> list[Link]:
        """Return the exact links: a full-text index has no stems of whole names."""
        return self.exact_links(phrase)

    def exact_links(self, phrase: Sequence[str]) -> list[Link]:
        """Return the nodes whose name or alias has exactly these words."""
        words = list(phrase)
        if not 0 < len(words) <= MOST_WORDS or not all(self._meet(pair) for pair in pairwise(words)):
            return []
        links = []
        for row in self._text.with_all(words).tolist():
            node = self._seen.nodes[row]
            if self._tokenizer.words(node.name) == words:
                links.append(Link(row, NameKind.NAME, True))
            elif any(self._tokenizer.words(alias) == words for alias in node.aliases):
                links.append(Link(row, NameKind.ALIAS, True))
        return sorted(links, key=lambda link: self._seen.nodes[link.row].id)

    def runs(self, parts: Sequence[Sequence[str]], firsts: Iterable[int], longest: int) -> set[tuple[int, int]]:
        """Return all runs of parts: each may be a name."""
        return {(first, last) for first in firsts for last in range(first + 1, min(len(parts), first + longest) + 1)}

    def spellings(
        self, word: str, *, most: int = 5, shortest: int = SHORTEST_SPELLED, alike: float = ALIKE
    ) -> list[str]:
        """Return corrections of a mistyped word, as `NameIndex.spellings` does."""
        if len(word) < shortest:
            return []
        names = (self._seen.nodes[row].name for row in self._text.nearly(word).tolist())
        words = dict.fromkeys(other for name in names for other in self._tokenizer.words(name))
        likeness = {other: SequenceMatcher(None, word, other, autojunk=False).ratio() for other in words}
        return sorted((other for other in words if likeness[other] >= alike), key=lambda other: -likeness[other])[:most]

    def _meet(self, pair: tuple[str, str]) -> bool:
        """Return whether any node has both words: most pairs of words in a sentence are not part of a name."""
        if pair not in self._meeting:
            if len(self._meeting) == MOST_PAIRS:
                self._meeting.clear()
            self._meeting[pair] = bool(len(self._text.with_all(pair)))
        return self._meeting[pair]
