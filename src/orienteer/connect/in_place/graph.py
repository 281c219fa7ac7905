"""A graph that stays in its database, opened for questions, by whoever can read there and not write."""

from __future__ import annotations

from typing import Self

from orienteer.connect.bolt.server import Server, quoted
from orienteer.connect.in_place.arrays import ArraysInPlace
from orienteer.errors import BadInput, BadOption, DatabaseRefused
from orienteer.graph.store import LONGEST_PATH, Graph
from orienteer.records import Path as GraphPath

SECONDS = 60.0
"""That a statement may take, where the server heeds it: Neo4j does, ArcadeDB has a limit of its own."""
MOST_PATHS = 1_000
"""Shortest paths that are looked at, so that the first of them in the order of their nodes are the same each time."""


class GraphInPlace(Graph):
    """A database that agents' tools walk over Bolt. Nothing of it is kept but what was seen."""

    arrays: ArraysInPlace

    def __init__(self, arrays: ArraysInPlace, server: Server) -> None:
        super().__init__(arrays)
        self._server = server

    @classmethod
    def of(cls, server: Server) -> Self:
        """Open a database. Raises `DatabaseRefused` where our sessions could write to it, and as `ArraysInPlace`."""
        require_read_only(server)
        return cls(ArraysInPlace(server), server)

    def __repr__(self) -> str:
        return f"Graph({str(self._server.address)!r}, {self.arrays.manifest.nodes:,} nodes in place)"

    def __len__(self) -> int:
        """Return the number of nodes that the database had when it was opened."""
        return self.arrays.manifest.nodes

    @property
    def is_in_place(self) -> bool:
        """Return True."""
        return True

    @property
    def place(self) -> str:
        """Return the address of the database."""
        return str(self._server.address)

    def close(self) -> None:
        """Let go of the server."""
        self.arrays.close()
        self._server.close()

    def paths(self, a: str, b: str, max_length: int = 4, *, k: int = 10) -> tuple[GraphPath, ...]:
        """Return up to `k` of the shortest paths between two nodes, as `Graph.paths` does, found by the server."""
        if not 1 <= max_length <= LONGEST_PATH:
            raise BadOption(f"max_length is {max_length}: it must be 1 to {LONGEST_PATH}")
        arrays, seen = self.arrays, self.arrays.seen
        start, end = arrays.row(a), arrays.row(b)
        if start == end:
            return (GraphPath(nodes=(arrays.ids[start],), edges=()),) if k > 0 else ()
        statement = (
            "MATCH (a), (b) WHERE elementId(a) = $a AND elementId(b) = $b "
            f"MATCH p = allShortestPaths((a)-[*..{max_length}]-(b)) "
            f"RETURN DISTINCT [n IN nodes(p) | elementId(n)] AS nodes LIMIT {MOST_PATHS}"
        )
        records = self._server.rows(statement, a=seen.element_ids[start], b=seen.element_ids[end])
        walks = [seen.rows_of(record[0]).tolist() for record in records]
        walks = sorted(walks, key=lambda walk: [arrays.ids[row] for row in walk])[:k]
        return tuple(
            GraphPath(
                nodes=tuple(arrays.ids[row] for row in walk),
                edges=tuple(
                    tuple(
                        arrays.edge(row, after, int(kind), int(at))
                        for kind, at in zip(*arrays.adjacency.between(row, after)[2:], strict=True)
                    )
                    for row, after in zip(walk, walk[1:], strict=False)
                ),
            )
            for walk in walks
        )


def require_read_only(server: Server) -> None:
    """Try to make a node in a transaction that is rolled back, in such a session as all questions have.

    It has the labels of a node that is there: a new label might stay, whatever becomes of its node. ArcadeDB looks at
    a change of an old node only when it is committed, so that such a trial would tell nothing. Raises
    `DatabaseRefused` where the server lets it pass, `BadInput` for a database without nodes.
    """
    first = server.rows("MATCH (n) RETURN labels(n) AS labels LIMIT 1")
    if not first:
        raise BadInput(f"{server.address} holds no node: check the name of the database")
    labels = "".join(f":{quoted(label)}" for label in first[0][0])
    if server.lets_write(f"CREATE (n{labels}) RETURN 1 AS one"):
        raise DatabaseRefused(
            f"{server.address} would let this user write, and a model's questions must not: name a user who only reads "
            "in NEO4J_USERNAME (docs/databases.md says how to make one)"
        )
