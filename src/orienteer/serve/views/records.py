"""The records that every interface shows: each is the JSON of one command, except for the fields it prints as notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from orienteer.records import Direction, JsonValue, Ranked, Record, Source, WalkedEdge

if TYPE_CHECKING:
    from orienteer.records import Result


class View(Record):
    """Base of the records about a graph."""

    unprinted: ClassVar[frozenset[str]] = frozenset()
    """Fields that a command omits from its `--json`, like the notes, which it prints on standard error."""

    def printed(self) -> dict[str, Any]:  # Any: JSON
        """Return the JSON of `--json`."""
        return self.model_dump(mode="json", exclude={"notes", *self.unprinted})


# ------------------------------------------------------------------------------------------------------------- lists


class ListedNode(View):
    """A node of a list."""

    id: str
    type: str
    name: str
    properties: dict[str, JsonValue] = {}


class Listing(View):
    """A page of the nodes that pass some filters."""

    unprinted = frozenset({"missing"})

    total: int
    """Nodes that pass the filters."""
    offset: int
    hits: tuple[ListedNode, ...]
    missing: int = 0
    """Nodes without the field of the order; they come last."""
    notes: tuple[str, ...] = ()

    @property
    def more(self) -> int:
        """Count the nodes after this page."""
        return max(0, self.total - self.offset - len(self.hits))


class Group(View):
    """A value of a field, and how many nodes have it."""

    value: JsonValue
    """None for the nodes without one."""
    count: int


class Grouping(View):
    """A page of the values of a field, with the number of nodes that have each."""

    unprinted = frozenset({"offset", "distinct", "missing"})

    total: int
    """Nodes that pass the filters."""
    groups: tuple[Group, ...]
    offset: int = 0
    distinct: int = 0
    """All groups, including that of the nodes without a value."""
    missing: int = 0
    """Nodes without a value."""
    notes: tuple[str, ...] = ()

    @property
    def more(self) -> int:
        """Count the groups after this page."""
        return max(0, self.distinct - self.offset - len(self.groups))


# --------------------------------------------------------------------------------------------------- walks and nodes


class KindCount(View):
    """The number of neighbours of a node type by edge type and direction."""

    edge_type: str
    direction: Direction
    node_type: str
    count: int


class NeighborsPage(View):
    """A page of the neighbours of a node, and counts of all of them."""

    node: str
    """The node's id."""
    total: int
    """Neighbours that pass the filters."""
    counts: tuple[KindCount, ...]
    """By kind, the largest count first; a neighbour with two kinds of edges counts in both."""
    offset: int
    hits: tuple[Ranked, ...]
    """Each with the edges that lead to it."""
    notes: tuple[str, ...] = ()
    """How the name of the node was read."""

    @property
    def more(self) -> int:
        """Count the neighbours after this page."""
        return max(0, self.total - self.offset - len(self.hits))


class IntersectPage(View):
    """The nodes that touch all of several nodes, else most of them."""

    unprinted = frozenset({"nodes"})

    hits: tuple[Ranked, ...]
    """Each with the edges to those nodes; its score is the number of them that it touches."""
    nodes: tuple[str, ...] = ()
    """Their ids."""
    notes: tuple[str, ...] = ()


class PathView(View):
    """A walk between two nodes."""

    length: int
    nodes: tuple[str, ...]
    edges: tuple[tuple[WalkedEdge, ...], ...]
    """For every step the edges between its two nodes, each in its own direction."""


class PathsPage(View):
    """The shortest paths between two nodes."""

    unprinted = frozenset({"names"})

    paths: tuple[PathView, ...]
    names: dict[str, str] = {}
    """The names of the nodes on them, by id."""
    notes: tuple[str, ...] = ()


class NodePage(View):
    """One node in full, with counts of its neighbours."""

    unprinted = frozenset({"counts", "source"})

    id: str
    type: str
    name: str
    aliases: tuple[str, ...]
    text: str
    properties: dict[str, JsonValue]
    degree: int
    """Ends of edges."""
    counts: tuple[KindCount, ...] = ()
    """Its neighbours by kind, the largest count first."""
    source: Source | None = None
    """Its position in the sources, in a graph of documents."""
    notes: tuple[str, ...] = ()


# ---------------------------------------------------------------------------------------------------------- the graph


class SchemaEdge(View):
    """An edge type, the node types that it joins, and how many such edges there are."""

    source: str
    type: str
    target: str
    count: int


class SchemaView(View):
    """The node types and edge types of a graph, and their labels."""

    node_types: dict[str, int]
    edges: tuple[SchemaEdge, ...]
    symmetric: tuple[str, ...]
    """Edge types without a direction."""
    labels: dict[str, str]
    also_called: dict[str, tuple[str, ...]]
    partial: tuple[str, ...]
    """Types with only some of their nodes in the graph."""
    notes: tuple[str, ...] = ()


class NotRead(View):
    """The files that were skipped for one reason."""

    reason: str
    number: int
    files: tuple[str, ...]
    """The first of them, relative to the folder that was named."""


class ExtractedBy(View):
    """How the entities of a graph of documents were extracted."""

    form: str
    model: str | None
    """None for statistics."""


class DroppedRows(View):
    """The rows of a file that are not part of a graph, for one reason."""

    file: str
    reason: str
    meaning: str
    """The reason in words, if its name does not say it."""
    count: int


class GraphInfo(View):
    """A graph and its sources. Files are named relative to the folder of the sources."""

    unprinted = frozenset({"name", "generation"})

    name: str
    """The name of its folder."""
    generation: str
    nodes: int
    edges: int
    node_types: dict[str, int]
    edge_types: dict[str, int]
    partial: tuple[str, ...]
    not_read: tuple[NotRead, ...]
    dropped: tuple[DroppedRows, ...]
    mapping: tuple[dict[str, Any], ...]  # Any: JSON
    """How each table was read."""
    bytes: int
    format: int
    provenance: dict[str, Any]  # Any: JSON
    extraction: ExtractedBy | None
    """None if nothing was extracted."""
    indexes: tuple[str, ...]
    stale: bool
    """Whether a source has changed since."""
    notes: tuple[str, ...] = ()


# --------------------------------------------------------------------------------------------------------- a picture


class DrawnNode(View):
    """A node of a picture."""

    id: str
    type: str
    name: str
    degree: int
    """Ends of its edges in the whole graph."""


class Subgraph(View):
    """Some nodes and all edges among them, for a picture."""

    nodes: tuple[DrawnNode, ...]
    edges: tuple[WalkedEdge, ...]
    """Each once, however many of its type are parallel."""
    truncated: bool = False
    """Whether nodes or edges were dropped, because there were too many."""
    unknown: tuple[str, ...] = ()
    """Requested names that match no node, or several."""


class TableColumn(View):
    """A column of a table of nodes."""

    name: str
    kind: Literal["own", "property", "edge"]
    """`edge`: a neighbour that each node has at most one of, as an object with `id` and `name`."""


class Answers(View):
    """A page of the table of all nodes that meet a question."""

    total: int
    """Nodes that meet it."""
    offset: int
    reading: str | None
    """How the question was read; None for nodes given by their ids."""
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    """For each node a value of each column."""
    ids: tuple[str, ...]
    """The nodes of the rows."""
    notes: tuple[str, ...] = ()


class Choice(Group):
    """A value that some nodes have, and how to ask for them."""

    id: str | None = None
    """The node that the value is the name of."""
    reading: str | None = None
    """The line of the nodes that are joined to it; None for properties, and if no line says it."""


class Bin(View):
    """The numbers, or dates, from one on and below another."""

    low: JsonValue
    high: JsonValue
    count: int


FacetKind: TypeAlias = Literal["text", "number", "date", "edge"]


class Facet(View):
    """The values of a property, or the neighbours by an edge, among some nodes."""

    name: str
    kind: FacetKind
    groups: tuple[Choice, ...]
    """The most frequent values, the largest group first. A list counts for each of its values."""
    count: int
    """Nodes with a value."""
    distinct: int
    """The number of different values."""
    missing: int
    """Nodes without a value."""
    bins: tuple[Bin, ...] = ()
    """Of numbers and dates, how many values are in each bin of equal length."""


class Facets(View):
    """All nodes that meet a question, counted by type, by the values of their properties, and by their neighbours."""

    total: int
    """The number of nodes."""
    types: tuple[Group, ...]
    properties: tuple[Facet, ...]
    """Those that most of the nodes have come first."""
    edges: tuple[Facet, ...]
    """The same for each kind of neighbour that every node has at most one of."""
    notes: tuple[str, ...] = ()


# The words around a result in every interface that prints lines: its answers, and the headings between its hits.


MOST_NEAREST = 3
"""How many hits a person sees that do not meet all of a question: none of them is an answer."""


def answers_of(result: Result, *, larger_k: str, most_k: int | None = None) -> list[str]:
    """Return the answer, its sentence if that adds to the reading line, and the size of a large set.

    `larger_k` is how an interface asks for more hits, `-k ` or `k=`; `most_k` is the most that it gives.
    """
    reading = result.reading
    line = reading.text if reading is not None and reading.text is not None else ""
    answers = [answer for answer in (result.answer, result.long_answer) if answer is not None]
    if line and result.long_answer is not None and result.long_answer.endswith(line.removeprefix("count ")):
        answers.remove(result.long_answer)
    if result.meeting is not None and result.total is not None:
        is_cut = result.total > sum(hit.complete for hit in result.hits)
        can_list = is_cut and (most_k is None or result.total <= most_k)
        answers.append(result.meeting + (f" ({larger_k}{result.total} lists all)" if can_list else ""))
    return answers


def lines_between(result: Result) -> dict[int, str]:
    """Return headings by the position of the hit below: from there on hits match only part of the question, or none."""
    first = next((place for place, hit in enumerate(result.hits, 1) if not hit.complete), 0)
    is_read = result.reading is not None and result.reading.complete
    if is_read or (first > 1 and result.reading is None):
        return {first: "-- nearby: these meet some of it --"}
    is_refused = result.refusal is not None and (result.reading is None or result.is_unread)
    return {1: "-- nearest --"} if is_refused else {}


# The words of an answer that an interface shows while a model writes them.


PUT_RIGHT = "the words above are not the answer as it was read, which is this:"
NO_ANSWER = "no answer came of the words above"


class SentWords:
    """Words that have been shown, and cannot be withdrawn."""

    def __init__(self) -> None:
        self._text = ""

    def __bool__(self) -> bool:
        return bool(self._text)

    def add(self, part: str) -> None:
        """Note words that are shown now."""
        self._text += part

    def rest(self, result: Result) -> str | None:
        """Return the words of the result that are still to be shown, or None if it has other words.

        A model may stop in the middle, or mark two answers, and a method may take another answer than its model wrote.
        """
        if result.answer is None:
            return None
        words = "\n\n".join(filter(None, (result.long_answer, result.answer)))
        return words.removeprefix(self._text) if words.startswith(self._text) else None
