"""Both directions of every edge in compressed rows."""

from collections import Counter

import numpy as np
import pytest

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.graph import Adjacency, EdgeEnds, all_edge_ends, bit_widths, write_adjacency, write_joined_adjacency
from orienteer.index import ArrayFolder


def make(folder, nodes, edges, extra=None):
    """Write edges (source, type, target) and open them."""
    folder.mkdir()
    columns = list(zip(*edges, strict=True)) or [(), (), ()]
    source, kind, target = (np.array(column, kind) for column, kind in zip(columns, ("i4", "u2", "i4"), strict=True))
    write_adjacency(folder, nodes, source, target, kind, None if extra is None else np.array(extra, np.int32))
    return Adjacency(ArrayFolder(folder))


def around(graph, row):
    """Return what is seen from a row: neighbour, type, whether it comes in."""
    found = graph.entries(np.array([row], np.int32))
    return [
        (int(other), int(kind) >> 1, bool(kind & 1)) for other, kind in zip(found.neighbor, found.kind, strict=True)
    ]


def test_each_edge_is_seen_from_both_ends_and_a_loop_from_none(scratch):
    graph = make(scratch(), 4, [(2, 0, 1), (2, 1, 1), (1, 0, 2), (2, 0, 1), (3, 0, 3), (2, 0, 0)])
    assert around(graph, 0) == [(2, 0, True)]
    assert around(graph, 1) == [(2, 0, False), (2, 0, True), (2, 0, True), (2, 1, True)]
    assert around(graph, 2) == [(0, 0, False), (1, 0, False), (1, 0, False), (1, 0, True), (1, 1, False)]
    assert around(graph, 3) == []
    assert graph.degree(np.arange(4, dtype=np.int32)).tolist() == [1, 4, 5, 1]  # the loop has a place, as going out


def test_no_edges_at_all(scratch):
    graph = make(scratch(), 3, [])
    assert around(graph, 1) == []
    assert graph.degree(np.arange(3, dtype=np.int32)).tolist() == [0, 0, 0]
    assert len(graph.between(0, 1).at) == 0


@pytest.mark.parametrize("types", [1, 2, 127, 128, 129, 255, 256, 257, 32_767])
def test_any_number_of_edge_types_is_kept(scratch, types):
    every = sorted({0, 1 % types, types // 2, types - 1})
    graph = make(scratch(), 2, [(0, one, 1) for one in every] + [(1, one, 0) for one in every])
    assert around(graph, 0) == sorted((1, one, incoming) for one in every for incoming in (False, True))
    assert around(graph, 1) == sorted((0, one, incoming) for one in every for incoming in (False, True))


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [1, 2, 3, 255, 256, 257, 70_000, 2**22])
def test_the_last_node_is_kept(scratch, nodes):
    last = nodes - 1
    graph = make(scratch(), nodes, [(last, 0, 0), (0, 1, last)])
    if last:
        assert around(graph, last) == [(0, 0, False), (0, 1, True)]
    assert len(graph.indptr) == nodes + 1


@pytest.mark.parametrize("number", range(5))
def test_random_edges_and_what_they_carry(scratch, number):
    random = np.random.default_rng(number)
    nodes, size = 30, 400
    edges = list(zip(*(random.integers(0, high, size).tolist() for high in (nodes, 5, nodes)), strict=True))
    extra = np.where(random.random(size) < 0.5, np.arange(size), -1).tolist()
    graph = make(scratch(), nodes, edges, extra)
    for row in range(nodes):
        wanted = Counter()
        for (source, kind, target), carried in zip(edges, extra, strict=True):
            if source != target and source == row:
                wanted[target, kind, False, None if carried < 0 else carried] += 1
            if source != target and target == row:
                wanted[source, kind, True, None if carried < 0 else carried] += 1
        found = graph.entries(np.array([row], np.int32))
        columns = zip(found.neighbor.tolist(), found.kind.tolist(), found.at.tolist(), strict=True)
        assert Counter((other, kind >> 1, bool(kind & 1), graph.extra(at)) for other, kind, at in columns) == wanted
        assert (np.diff(found.neighbor) >= 0).all()


def test_rows_together_are_the_rows_one_by_one(scratch):
    random = np.random.default_rng(7)
    graph = make(
        scratch(), 40, list(zip(*(random.integers(0, high, 300).tolist() for high in (40, 3, 40)), strict=True))
    )
    kinds = np.array([True, False, False, True, True, False])
    for rows in ([], [5], [0, 39], list(range(40))):
        for mask in (None, kinds):
            together = graph.entries(np.array(rows, np.int32), mask)
            alone = [graph.entries(np.array([row], np.int32), mask) for row in rows]
            for field in ("owner", "neighbor", "kind", "at"):
                wanted = [value for one in alone for value in getattr(one, field).tolist()]
                assert getattr(together, field).tolist() == wanted


def test_between_finds_the_edges_of_a_pair(scratch):
    edges = [(0, 0, 1), (1, 2, 0), (0, 1, 2), (0, 0, 1), (3, 0, 0)]
    graph = make(scratch(), 4, edges)
    assert graph.between(0, 1).kind.tolist() == [0, 0, 5]
    assert graph.between(1, 0).kind.tolist() == [1, 1, 4]
    assert graph.between(1, 2).kind.tolist() == []
    assert graph.between(0, 3).kind.tolist() == [1]


@pytest.mark.parametrize(("nodes", "types"), [(2**27 - 1, 512), (2**31 - 1, 2)])
def test_most_nodes_and_types_that_fit_are_said(nodes, types):
    assert 2 * bit_widths(nodes, types - 1)[0] + bit_widths(nodes, types - 1)[1] == 64
    with pytest.raises(BadInput, match=f"{nodes:,} nodes with {types + 1} edge types are more than one graph can hold"):
        bit_widths(nodes, types)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 1.0])
def test_edges_that_come_to_others_are_written_as_all_of_them_are(scratch, share):
    """Edge ends are joined slice by slice: there are some more than a slice, as many as one, and none."""
    chance = np.random.default_rng(7)
    for count in (1, 1 << 15, 50_000):
        source, target = (chance.integers(0, 40, count).astype(np.int32) for _ in range(2))
        target = np.where(source == target, (target + 1) % 40, target).astype(np.int32)  # two ends each
        types, extra = chance.integers(0, 3, count).astype(np.uint16), np.arange(count, dtype=np.int32)
        is_new = chance.random(count) < share
        order = np.argsort(is_new, kind="stable")  # of parallel edges those that stay come first
        columns = [column[order] for column in (source, target, types)]
        whole = scratch()
        whole.mkdir()
        write_adjacency(whole, 40, *columns, extra)
        first = int(np.count_nonzero(~is_new))
        before, joined = scratch(), scratch()
        before.mkdir()
        joined.mkdir()
        write_adjacency(before, 40, *(column[:first] for column in columns), extra[:first])
        sources, targets, kinds = (column[first:] for column in columns)
        come = EdgeEnds(
            np.concatenate([sources, targets]),
            np.concatenate([targets, sources]),
            np.concatenate([kinds * 2, kinds * 2 + 1]),
            np.tile(extra[first:], 2),
        )
        stay = all_edge_ends(Adjacency(ArrayFolder(before)))
        write_joined_adjacency(joined, 40, stay, come, has_extras=True)
        assert {file.name: file.read_bytes() for file in joined.iterdir()} == {
            file.name: file.read_bytes() for file in whole.iterdir()
        }


@pytest.mark.parametrize("dtype", [np.int32, np.uint64])
@pytest.mark.parametrize("values", [[], [3], [1, 1], [1, 2, 2, 5], [5, 2, 5, 1], [2, 1]])
def test_distinct_values_are_each_there_once_ascending(values, dtype):
    found = inside(Adjacency).distinct(np.array(values, dtype))
    assert found.dtype == dtype
    assert found.tolist() == sorted(set(values))
