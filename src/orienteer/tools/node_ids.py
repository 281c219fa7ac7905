"""`node_id_retriever`: texts to node ids, several at once. GraphScout (003), 3.2.2; the schema is that of B.4.1.

In a view, which has the names of the paper's graphs, the reply has the form of its trace (B.2.2): `{'topk': 2,
'results': [[{'node_id', 'node_type', 'score', 'name'}, ...], ...]}`, a list for each query. Without one it is ours:
`{QUERY: [{...}, ...]}`, so that nobody has to count places, and a query that names nodes exactly finds these alone,
which is said, unless `topk` is given. In a model's code `find(text, k=2)` gives the same. Scores are from 0 to 1:

- 1.0 is a node of just this name, alias or identifier, and none but such a node has it; these come first.
- dense: the cosine of query and node, 0 if it is less.
- lexical: the mean of two shares: how much of the query's words the node's name, aliases and text hold, by their
  rarity, and how alike the query and the nearest of its names are, letter by letter.
- hybrid: the score that searches have, which is from 0 to 1; by places (rrf), of the most that it can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from orienteer.cypher.names import identifiers
from orienteer.graph.search import QueryWords
from orienteer.graph.store import Graph
from orienteer.index.searchers import RRF_CONSTANT, ranking_of
from orienteer.records import JsonValue, Observation, ToolSpec
from orienteer.retrieval.evidence import UNPAID
from orienteer.retrieval.mentions import Policy, letter_likeness, link, word_shares
from orienteer.text.sentences import one_line
from orienteer.tools.session import Session
from orienteer.tools.texts import number

if TYPE_CHECKING:
    from orienteer.cypher.names import View

NAME = "node_id_retriever"
TOPK = 2  # GraphScout, appendix B.4.1
MOST_QUERIES, MOST_TOPK = 50, 50
_SURE, _UNSURE = 1.0, 0.99
_POOL = 300  # rows by words that are looked at for each query, and more if more are asked for
_LONGEST_QUERY = 1_000  # characters
_LONGEST_NAME = 200  # characters that are compared letter by letter
_LONGEST_KEY = 80  # characters of a query that stand before what it found
_NEAR: Mapping[str, str] = {"lexical": "words", "dense": "meaning", "hybrid": "words and meaning"}
_PROPERTIES = {
    "queries": {"type": "array", "items": {"type": "string"}, "description": "Texts, such as names of nodes"},
    "topk": {"type": "integer", "default": TOPK, "description": f"Nodes to find for each; {TOPK} if unset"},
}
SPEC = ToolSpec(
    name=NAME,
    description="Find the ids of the nodes nearest to each of these texts in $near. Later steps can begin there.",
    parameters={"type": "object", "properties": _PROPERTIES, "required": ["queries"]},
)


class ScoredNode(NamedTuple):
    """A node that a query found."""

    row: int
    score: float


class NodeIdRetriever:
    """Finds nodes for texts: by name first, then as the session's searches rank. A view has its own names and types."""

    def __init__(self, session: Session, *, view: View | None = None) -> None:
        self._session = session
        near = _NEAR[ranking_of(session.mode).kind]
        self.spec = SPEC.model_copy(update={"description": SPEC.description.replace("$near", near)})
        self._identifiers = None
        self._schema = session.graph.schema
        if view is not None:
            from orienteer.cypher.names import viewed_schema  # who has no view goes without

            self._identifiers, self._schema = identifiers(session.graph.arrays, view), viewed_schema(self._schema, view)

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the best nodes of each query, and notes on what could not be done as asked."""
        notes: list[str] = []
        queries = cast(list[str], arguments["queries"])  # checked against the schema before the tool runs
        if not queries:
            notes.append("queries is empty: give at least one text.")
        if len(queries) > MOST_QUERIES:
            notes.append(f"Only the first {MOST_QUERIES} of {len(queries)} queries were answered: ask again for more.")
        wanted = number(arguments, "topk", TOPK)
        topk = min(max(wanted, 1), MOST_TOPK)
        if topk != wanted:
            notes.append(f"topk is {wanted}: it must be 1 to {MOST_TOPK}; {topk} is taken.")
        queries = queries[:MOST_QUERIES]
        hits_by_query = [self._search(f"query {place}", query, topk, notes) for place, query in enumerate(queries, 1)]
        if self._session.is_plain:
            notes = [note for note in notes if note == UNPAID]  # a replay reads it
        elif self._identifiers is None and arguments.get("topk") is None:
            hits_by_query = [
                _exact_alone(query, hits, notes) for query, hits in zip(queries, hits_by_query, strict=True)
            ]
        return self._reply(topk, queries, hits_by_query, notes)

    def find(self, text: str, k: int, notes: list[str]) -> list[JsonValue]:
        """Return the `k` best nodes of a text, those of just this name first: `id`, `type`, `name` and `score` of each.

        What could not be done as asked is added to the notes.
        """
        what = repr(one_line(text, _LONGEST_KEY))
        shown = map(self._node_json, self._search(what, text, k, notes, number="k"))
        return [
            {"id": hit["node_id"], "type": hit["node_type"], "name": hit["name"], "score": hit["score"]}
            for hit in shown
        ]

    def _search(self, what: str, query: str, topk: int, notes: list[str], *, number: str = "topk") -> list[ScoredNode]:
        """Return the nodes of one query, best first; notes call the query `what`, and its `topk` by `number`."""
        begin = what[0].upper() + what[1:]
        text = " ".join(query[:_LONGEST_QUERY].split())
        if not text:
            notes.append(f"{begin} is empty.")
            return []
        if len(query) > _LONGEST_QUERY:
            notes.append(f"{begin} is long: its first {_LONGEST_QUERY} characters were searched for.")
        session = self._session
        # Nodes of exactly this name; of names that differ in punctuation, the nearest.
        named = link(session.graph, text, Policy(identifiers=self._identifiers))
        sure, left = named[:topk], topk - len(named)
        if left < 0:
            notes.append(f"{begin}: {len(named)} nodes are called just so; raise {number} to see all.")
        if left <= 0:
            return [ScoredNode(row, _SURE) for row in sure]
        mode = session.payment.payable(session.mode, text, notes)
        if mode == "lexical":
            more = by_words(session.graph, text, left + len(sure))
        else:
            rows, scores = session.graph.arrays.searcher(mode).search(text, left + len(sure))
            # The score of a node that is first in both lists is the highest that a fusion of ranks can give.
            most = 2 / (RRF_CONSTANT + 1) if ranking_of(mode).fusion == "rrf" else 1.0
            likeness = (min(max(score / most, 0.0), _UNSURE) for score in scores.tolist())
            more = [ScoredNode(row, score) for row, score in zip(rows.tolist(), likeness, strict=True)]
        others = [hit for hit in more if hit.row not in set(sure)][:left]
        if not sure and not others:
            notes.append(f"Nothing in this graph is like {what}: try other words.")
        return [*(ScoredNode(row, _SURE) for row in sure), *others]

    def _reply(
        self, topk: int, queries: Sequence[str], hits_by_query: Sequence[Sequence[ScoredNode]], notes: list[str]
    ) -> Observation:
        """Return as many places of every list as there is room for, at least one, best first."""
        shown = [[self._node_json(hit) for hit in hits] for hits in hits_by_query]

        def rendered(places: int) -> str:
            firsts = [hits[:places] for hits in shown]
            if self._session.is_plain or self._identifiers is not None:
                return repr({"topk": topk, "results": firsts})
            # Two queries may share their first characters: the key of the later one then has its number.
            taken: dict[str, str] = {}
            keys = []
            for place, query in enumerate(queries, 1):
                key = one_line(query, _LONGEST_KEY)
                keys.append(key if taken.setdefault(key, query) == query else f"{key} ({place})")
            return repr(dict(zip(keys, firsts, strict=True)))

        room = self._session.reply_characters - sum(map(len, notes)) - 200
        places = max(map(len, shown), default=0)
        while places > 1 and len(rendered(places)) > room:
            places -= 1
        left_out = sum(max(0, len(hits) - places) for hits in shown)
        if left_out:
            notes.append(f"{left_out} nodes did not fit into this reply: {places} are shown of each query.")
        results = rendered(places)
        graph = self._session.graph
        nodes = dict.fromkeys(graph.arrays.ids[hit.row] for hits in hits_by_query for hit in hits[:places])
        return Observation("\n".join((results, *dict.fromkeys(notes))), tuple(nodes))

    def _node_json(self, hit: ScoredNode) -> dict[str, JsonValue]:
        graph, identifiers = self._session.graph, self._identifiers
        node_type = graph.arrays.type_at(hit.row)
        return {
            "node_id": graph.arrays.ids[hit.row] if identifiers is None else identifiers.of(hit.row),
            "node_type": node_type if identifiers is None else self._schema.label(node_type),
            "score": round(hit.score, 2),
            "name": one_line(graph.arrays.names[hit.row]),
        }


def _exact_alone(query: str, hits: list[ScoredNode], notes: list[str]) -> list[ScoredNode]:
    """Return the nodes of exactly this name, with a note; all nodes if there are none."""
    exact = [hit for hit in hits if hit.score == _SURE]
    if not exact or len(exact) == len(hits):
        return hits
    notes.append(f"{one_line(query, _LONGEST_KEY)}: exact match only; give topk for others.")
    return exact


def by_words(graph: Graph, text: str, k: int) -> list[ScoredNode]:
    """Return the `k` nodes that are most like a text, by words and by letters. Unknown words are read as near ones."""
    words = QueryWords(graph.arrays, text)
    groups = [[posting.term for posting in postings] for postings in words.postings.values()]
    for word in words.unknown:
        groups.append(
            [term for other in graph.arrays.name_index.spellings(word) for term in graph.arrays.tokenizer.expand(other)]
        )
    terms = list(dict.fromkeys(term for group in groups for term in group))
    rows = graph.arrays.text_index.search(terms or graph.arrays.tokenizer.query(text), max(_POOL, k)).rows
    if not len(rows):
        return []
    index, ascending = graph.arrays.text_index, np.sort(rows)
    rarest = max((posting.idf for posting in index.postings(terms)), default=1.0)  # what no node has is as rare as any
    shares = dict(zip(ascending.tolist(), word_shares(index, groups, ascending, rarest).tolist(), strict=True))
    folded = text.casefold()[:_LONGEST_NAME]

    def alike(row: int) -> float:
        names = (graph.arrays.names[row], *graph.arrays.aliases_at(row))
        return max(letter_likeness(folded, name.casefold()[:_LONGEST_NAME]) for name in names)

    hits = [ScoredNode(row, min((shares.get(row, 0.0) + alike(row)) / 2, _UNSURE)) for row in rows.tolist()]
    # A stable sort: equal scores stay in BM25's order.
    return sorted(hits, key=lambda hit: -hit.score)[:k]
