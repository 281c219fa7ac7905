"""STaRK's processed knowledge bases, as its hub publishes them: pickles and tensors, read without torch.

    node_info.pkl                            node number -> fields
    edge_index.pt, edge_types.pt             ends (2, edges) and types of the edges
    node_types.pt                            type of each node, in the order of the numbers
    node_type_dict.pkl, edge_type_dict.pkl   type number -> name; MAG has neither, its names are here

They are in `processed/`, AMAZON's with brands, categories and colours in `processed/cache/brand-category-color/`.
Every edge is kept as it was written, in its direction and as often (STaRK's own loader averages the types of parallel
ones and doubles all). A node's text is the document by which STaRK ranks it. With `--text tables` it is the prose among
the fields, and a product's reviews and its questions become one table each, a node of type `table`; with `--explode
review=EDGE_TYPE` beside it each review becomes a node, whose stars can be counted (SAGE, tables 9 to 11).

Memory: the ends and types of the edges, 24 bytes each; another process holds the values of node_info.pkl.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput, BadOption
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch
from orienteer.ingest.formats.table import EDGE_ROWS
from orienteer.ingest.layouts import KnownLayout
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import Columns
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.values import cell_text, plain
from orienteer.lab.formats import pickles
from orienteer.lab.formats.fields import node_of_fields
from orienteer.lab.formats.pickles import tensor
from orienteer.lab.formats.stark_documents import MOST_ROWS, document, rows_of
from orienteer.records import JsonValue, Node

NODE_INFO, EDGE_INDEX, EDGE_TYPES = "node_info.pkl", "edge_index.pt", "edge_types.pt"
NODE_TYPES, NODE_NAMES, EDGE_NAMES = "node_types.pt", "node_type_dict.pkl", "edge_type_dict.pkl"
# The folders of the files below the given one; the last with files is taken.
FOLDERS = ("", "processed", "processed/cache/brand-category-color", "cache/brand-category-color")
MAG_NODES = {"0": "author", "1": "institution", "2": "field_of_study", "3": "paper"}
MAG_EDGES = {
    "0": "author___affiliated_with___institution",
    "1": "paper___cites___paper",
    "2": "paper___has_topic___field_of_study",
    "3": "author___writes___paper",
}
# MAG writes an edge type as source, verb, target.
JOINT = "___"
# Unknown values in MAG and PRIME.
UNKNOWN = ("-1", "-1.0", "nan", "")
# Lists of rows that an AMAZON product carries.
LISTS = ("review", "qa")
TABLE = "table"
# Columns of the tables, in this order; those that no row fills are left out. The first two name and tell a row.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "review": ("summary", "reviewText", "overall", "vote", "verified", "style", "reviewTime", "reviewerID"),
    "qa": ("question", "answer", "questionType", "answerType", "answerTime"),
}


@dataclass(frozen=True, slots=True)
class StarkBase:
    """A folder with one processed knowledge base."""

    folder: Path
    columns: Columns
    """Its `explode` has the edge type by list whose rows become nodes."""
    tally: Tally
    text: str
    """`documents`, or `tables` with lists as nodes of their own."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that are there."""
        names = (NODE_INFO, EDGE_INDEX, EDGE_TYPES, NODE_TYPES, NODE_NAMES, EDGE_NAMES)
        return tuple(path for name in names if (path := self.folder / name).is_file())

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the knowledge base into the builder. Raises `BadInput` if its parts do not fit together."""
        node_names, edge_names = self._names()
        node_types = self._node_types()
        seen = left_out = 0
        row_edges: list[tuple[str, str, str]] = []
        """Source, type and target of the edges from products to their rows."""
        for seen, (node_id, fields) in enumerate(pickles.items(self.folder / NODE_INFO), 1):  # noqa: B007 (counted)
            if not isinstance(fields, dict):
                raise BadInput(f"{self.folder / NODE_INFO}: the node {node_id} has no fields but {str(fields)[:40]!r}")
            node_type = self._type(node_id, node_types, node_names)
            open_fields = {key: value for key, value in fields.items() if key not in self.columns.private}
            row_edges += self._add_node(builder, node_id, node_type, open_fields)
            left_out += sum(max(len(rows_of(open_fields, name)) - MOST_ROWS, 0) for name in LISTS)
        if left_out and self.text != "tables":
            self.tally.notes.append(f"{left_out:,} rows after the {MOST_ROWS} of a document: --text tables keeps all")
        if node_types is not None and len(node_types) != seen:
            raise BadInput(f"{self.folder / NODE_TYPES} has {len(node_types):,} types for {seen:,} nodes: fetch again")
        self._add_edges(builder, edge_names, seen)
        if row_edges:
            sources, types, targets = zip(*row_edges, strict=True)
            builder.add_edges(EdgeBatch(sources, types, targets, file=str(self.folder / NODE_INFO)))
        labels = Labels()
        for name in edge_names.values():
            if name.count(JOINT) == 2:
                labels.add(name, name.split(JOINT)[1].replace("_", " "))
        return labels

    def _names(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return the names of node types and edge types by number."""
        has_nodes, has_edges = ((self.folder / name).is_file() for name in (NODE_NAMES, EDGE_NAMES))
        if not has_nodes and not has_edges:
            return MAG_NODES, MAG_EDGES
        if not has_edges:
            raise BadInput(f"{self.folder / EDGE_NAMES} is missing: fetch the whole folder again")
        nodes = self._by_number(NODE_NAMES) if has_nodes else {"0": "product"}  # AMAZON without brands
        return nodes, self._by_number(EDGE_NAMES)

    def _by_number(self, file: str) -> dict[str, str]:
        names = pickles.load(self.folder / file)
        if not isinstance(names, dict):
            raise BadInput(f"{self.folder / file} is not a table of types: fetch it again")
        return {number: str(name) for number, name in names.items()}

    def _node_types(self) -> NDArray[np.int64] | None:
        """Return the type of each node; None for AMAZON without brands, which has products alone."""
        path = self.folder / NODE_TYPES
        if path.is_file():
            types = _whole_numbers(path)
            if types.ndim != 1:
                raise BadInput(f"{path} has the shape {types.shape}, and one type a node is expected: fetch it again")
            return types
        if (self.folder / EDGE_NAMES).is_file() and not (self.folder / NODE_NAMES).is_file():
            return None
        raise BadInput(f"{path} is missing: fetch the whole folder again")

    def _type(self, node_id: str, types: NDArray[np.int64] | None, names: Mapping[str, str]) -> str:
        if not node_id.isascii() or not node_id.isdigit():
            raise BadInput(f"{self.folder / NODE_INFO}: the node {node_id!r} is not a number; fetch it again")
        if types is None:
            return names["0"]
        number = int(node_id)
        if number >= len(types):
            raise BadInput(f"{self.folder / NODE_TYPES} has no type for the node {node_id}: fetch both files again")
        return self._named(str(types[number]), names, NODE_NAMES)

    def _named(self, number: str, names: Mapping[str, str], file: str) -> str:
        if number not in names:
            raise BadInput(f"{self.folder / file} has no name for the type {number}: fetch the whole folder again")
        return names[number]

    # ---- nodes

    def _add_node(
        self, builder: GraphBuilder, node_id: str, node_type: str, fields: dict[str, JsonValue]
    ) -> Iterator[tuple[str, str, str]]:
        """Add a node and, unless its text has them, those of its rows; yield the edges to these."""
        lists = {name for name in LISTS if isinstance(fields.get(name), list)}
        stated = {key: value for key, value in fields.items() if key not in lists and str(value) not in UNKNOWN}
        if stated.get("type") == node_type:
            del stated["type"]
        has_tables, explode = self.text == "tables", self.columns.explode
        node = node_of_fields(node_id, node_type, stated, None if has_tables else document(node_type, fields))
        builder.add_node(node)
        for name in LISTS if has_tables else ():
            for row_node in (_row_nodes if name in explode else _tables)(node, name, rows_of(fields, name)):
                builder.add_node(row_node)
                yield node_id, explode.get(name, f"has_{name}"), row_node.id

    # ---- edges

    def _add_edges(self, builder: GraphBuilder, names: Mapping[str, str], nodes: int) -> None:
        ends, types = _whole_numbers(self.folder / EDGE_INDEX), _whole_numbers(self.folder / EDGE_TYPES)
        if ends.ndim != 2 or len(ends) != 2 or types.ndim != 1 or ends.shape[1] != len(types):
            raise BadInput(
                f"{self.folder / EDGE_INDEX} and {EDGE_TYPES} have the shapes {ends.shape} and {types.shape}, "
                "where (2, edges) and (edges,) are expected: fetch both again"
            )
        if ends.size and not 0 <= int(ends.min()) <= int(ends.max()) < nodes:
            raise BadInput(
                f"{self.folder / EDGE_INDEX} has ends outside of 0 to {nodes - 1}: fetch the whole folder again"
            )
        file = str(self.folder / EDGE_INDEX)
        for first in range(0, len(types), EDGE_ROWS):
            part = slice(first, first + EDGE_ROWS)
            builder.add_edges(
                EdgeBatch(
                    sources=list(map(str, ends[0, part].tolist())),
                    types=[self._named(str(number), names, EDGE_NAMES) for number in types[part].tolist()],
                    targets=list(map(str, ends[1, part].tolist())),
                    file=file,
                    lines=range(first + 1, first + 1 + len(types[part])),
                )
            )


def recognize(source: Path, columns: Columns, tally: Tally, text: str = "documents") -> StarkBase | None:
    """Return the knowledge base in a folder, or None."""
    found = [folder for name in FOLDERS if ((folder := source / name) / NODE_INFO).is_file()]
    if not found:
        if (source / "processed.zip").is_file():
            raise BadInput(f"{source / 'processed.zip'} is packed: unpack it in its folder")
        return None
    folder = found[-1]
    for name in (EDGE_INDEX, EDGE_TYPES):
        if not (folder / name).is_file():
            raise BadInput(f"{folder / name} is missing from the knowledge base: fetch the whole folder again")
    if unknown := sorted(set(columns.explode) - set(LISTS)):
        raise BadOption(f"--explode: STaRK's nodes have no list {unknown[0]!r}. There are: {', '.join(LISTS)}.")
    if columns.explode and text != "tables":
        raise BadOption(f"--explode {min(columns.explode)}: a product's text has its rows: add --text tables")
    return StarkBase(folder, columns, tally, text)


def _whole_numbers(path: Path) -> NDArray[np.int64]:
    """Return a tensor of whole numbers, even if they are written as floats. Raises `BadInput` for other numbers."""
    numbers = tensor(path)
    if numbers.dtype.kind == "f" and not (np.isfinite(numbers) & (numbers == np.rint(numbers))).all():
        raise BadInput(f"{path} holds numbers that are not whole, but nodes and types are numbered: fetch it again")
    return numbers.astype(np.int64, copy=False)


def _row_nodes(owner: Node, name: str, rows: list[dict[str, Any]]) -> Iterator[Node]:
    """Make a node of each row of a product's list."""
    for number, row in enumerate(rows):
        row_name, text = (cell_text(row.get(key)) for key in COLUMNS[name][:2])
        others = {key: plain(cell) for key, cell in row.items() if key not in COLUMNS[name][:2]}
        properties = {key: value for key, value in others.items() if value is not None}
        yield Node(f"{name}:{owner.id}:{number}", name, row_name or f"{name} of {owner.name}", text, (), properties)


def _tables(owner: Node, name: str, rows: list[dict[str, Any]]) -> Iterator[Node]:
    """Make one table of a product's list: a line with the columns, a line for each row."""
    if not rows:
        return
    columns = [key for key in COLUMNS[name] if any(plain(row.get(key)) is not None for row in rows)]
    lines = [columns, *([cell_text(row.get(key)) for key in columns] for row in rows)]
    text = "\n".join(" | ".join(" ".join(cell.split()) for cell in line) for line in lines)
    yield Node(f"{name}:{owner.id}", TABLE, f"{owner.name}: {name}", text, (), {"rows": len(rows)})


LAYOUT = KnownLayout(graph=recognize, takes=frozenset({"private", "explode", "text"}))
