"""The records that every face shows: each is the JSON of one command, less what the command tells beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from orienteer.records import Direction, JsonValue, Ranked, Record, Source, WalkedEdge

if TYPE_CHECKING:
    from orienteer.records import Result


class View(Record):
    """Base of what a face shows of a graph."""

    beside: ClassVar[frozenset[str]] = frozenset()
    """Fields that a command tells on standard error, or not at all, and leaves out of its `--json`."""

    def printed(self) -> dict[str, Any]:  # Any: JSON
        """Return what `--json` prints of it."""
        return self.model_dump(mode="json", exclude=set(self.beside))


# ------------------------------------------------------------------------------------------------------------- lists


class ListedNode(View):
    """A node of a list."""

    id: str
    type: str
    name: str
    properties: dict[str, JsonValue] = {}


class Listing(View):
    """A page of the nodes that pass some filters."""

    beside = frozenset({"missing", "notes"})

    total: int
    """Nodes that pass the filters."""
    offset: int
    hits: tuple[ListedNode, ...]
    missing: int = 0
    """Nodes without the field that they are sorted by; they come last."""
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

    beside = frozenset({"offset", "distinct", "missing", "notes"})

    total: int
    """Nodes that pass the filters."""
    groups: tuple[Group, ...]
    offset: int = 0
    distinct: int = 0
    """Groups in all, that of the nodes without a value included."""
    missing: int = 0
    """Nodes without a value."""
    notes: tuple[str, ...] = ()

    @property
    def more(self) -> int:
        """Count the groups after this page."""
        return max(0, self.distinct - self.offset - len(self.groups))


# --------------------------------------------------------------------------------------------------- walks and nodes


class KindCount(View):
    """How many neighbours are reached by a type of edge, in a direction, of a type of node."""

    edge_type: str
    direction: Direction
    node_type: str
    count: int


class NeighborsPage(View):
    """A page of the neighbours of a node, and the counts of all of them."""

    beside = frozenset({"notes"})

    node: str
    """The node's id."""
    total: int
    """Neighbours that pass the filters."""
    counts: tuple[KindCount, ...]
    """All of these by kind, the largest count first; a neighbour reached in two ways counts in both."""
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
    """What touches all of several nodes, else most of them."""

    beside = frozenset({"nodes", "notes"})

    hits: tuple[Ranked, ...]
    """Each with the edges to the nodes asked about; its score is how many of these it touches."""
    nodes: tuple[str, ...] = ()
    """The ids of the nodes asked about."""
    notes: tuple[str, ...] = ()


class PathView(View):
    """A walk between two nodes."""

    length: int
    nodes: tuple[str, ...]
    edges: tuple[tuple[WalkedEdge, ...], ...]
    """Of every step the edges between its two nodes, each in its own direction."""


class PathsPage(View):
    """The shortest paths between two nodes."""

    beside = frozenset({"names", "notes"})

    paths: tuple[PathView, ...]
    names: dict[str, str] = {}
    """The names of the nodes on them, by id."""
    notes: tuple[str, ...] = ()


class NodePage(View):
    """One node in full, and what leads away from it, counted."""

    beside = frozenset({"counts", "source", "notes"})

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
    """Where it stands in a person's files, in a graph of documents."""
    notes: tuple[str, ...] = ()


# ---------------------------------------------------------------------------------------------------------- the graph


class SchemaEdge(View):
    """An edge type, the node types that it joins, and how many such edges there are."""

    source: str
    type: str
    target: str
    count: int


class SchemaView(View):
    """The types of a graph, what joins them, and what people call them."""

    beside = frozenset({"notes"})

    node_types: dict[str, int]
    edges: tuple[SchemaEdge, ...]
    symmetric: tuple[str, ...]
    """Edge types without a direction."""
    labels: dict[str, str]
    also_called: dict[str, tuple[str, ...]]
    partial: tuple[str, ...]
    """Types of which the graph holds only some."""
    notes: tuple[str, ...] = ()


class NotRead(View):
    """The files of the sources that were not read, for one reason."""

    reason: str
    number: int
    files: tuple[str, ...]
    """The first of them, beneath the folder that was named."""


class ExtractedBy(View):
    """What made the entities of a graph of documents."""

    form: str
    model: str | None
    """None where statistics did."""


class GraphInfo(View):
    """What a graph is and what it was made of. Files are named beneath the folder of the sources, never above it."""

    beside = frozenset({"name", "generation", "notes"})

    name: str
    """The name of its folder."""
    generation: str
    nodes: int
    edges: int
    node_types: dict[str, int]
    edge_types: dict[str, int]
    partial: tuple[str, ...]
    not_read: tuple[NotRead, ...]
    mapping: tuple[dict[str, Any], ...]  # Any: JSON
    """How each table was read."""
    bytes: int
    format: int
    provenance: dict[str, Any]  # Any: JSON
    extraction: ExtractedBy | None
    """None where nothing was extracted."""
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
    """Whether nodes or edges were left out, for there were too many."""
    unknown: tuple[str, ...] = ()
    """What was asked for and names no node, or several."""


class Facet(View):
    """The values of a property among some nodes."""

    name: str
    groups: tuple[Group, ...]
    """The most frequent values, the largest group first; nodes without one are not among them."""
    distinct: int
    """Different values in all."""
    missing: int
    """Nodes without a value."""


class Facets(View):
    """Some nodes by type and by the values of their properties."""

    total: int
    """Nodes that were counted."""
    types: tuple[Group, ...]
    properties: tuple[Facet, ...]
    """Those that most of the nodes have come first."""


# The words around a result that every face with lines shows: its answers, and what stands between its hits.


def read_as(result: Result) -> str | None:
    """Return how a question was read, or why it has no exact answer; None where it was not read at all."""
    reading, refusal = result.reading, result.refusal
    if reading is not None and reading.text is not None:
        return f"read as: {reading.text}"
    if refusal is not None:
        return f"no exact answer: {refusal.text}" if reading is not None else refusal.text
    return None


def answers_of(result: Result, *, larger_k: str, most_k: int | None = None) -> list[str]:
    """Return the answer, the sentence where it says more than the reading above it, and how many a large set has.

    `larger_k` is how a face asks for more hits, `-k ` or `k=`, and `most_k` how many it gives at the most.
    """
    reading = result.reading
    line = reading.text if reading is not None and reading.text is not None else ""
    answers = [answer for answer in (result.answer, result.long_answer) if answer is not None]
    if line and result.long_answer is not None and result.long_answer.endswith(line.removeprefix("count ")):
        answers.remove(result.long_answer)
    if result.meeting is not None and reading is not None and reading.total is not None:
        is_cut = reading.total > sum(hit.complete for hit in result.hits)
        can_list = is_cut and (most_k is None or reading.total <= most_k)
        answers.append(result.meeting + (f" ({larger_k}{reading.total} lists all)" if can_list else ""))
    return answers


def lines_between(result: Result) -> dict[int, str]:
    """Return what stands above hits, by their place: from where on they meet only some of the question, or none."""
    first = next((place for place, hit in enumerate(result.hits, 1) if not hit.complete), 0)
    is_read = result.reading is not None and result.reading.complete
    if is_read or (first > 1 and result.reading is None):
        return {first: "-- nearby: these meet some of it --"}
    return {1: "-- nearest --"} if result.reading is None and result.refusal is not None else {}
