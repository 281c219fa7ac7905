"""The weights of edges, read from what they carry: the same whether all of it is read or its end alone."""

import numpy as np
import pytest

from orienteer.records import Edge, Node

CARRIED = [
    ({}, 1.0),
    ({"weight": 0.25}, 0.25),
    ({"weight": 2}, 2.0),
    ({"weight": 1e-5, "text": 'he said "weight": 3}'}, 1e-5),
    ({"text": '"weight": 3}'}, 1.0),
    ({"text": "a text"}, 1.0),
    ({"properties": {"weight": 3}}, 1.0),
    ({"properties": {"weight": 3}, "text": "a"}, 1.0),
    ({"properties": {"weight": 3}, "weight": 0.5}, 0.5),
    ({"properties": {"sources": ["weight", "rows"]}, "weight": 4.5}, 4.5),
    ({"properties": {"rows": [1, 2]}, "weight": 5.0}, 5.0),
]


@pytest.mark.parametrize(("carried", "wanted"), CARRIED)
def test_a_weight_is_that_of_the_edge(build, carried, wanted):
    graph = build([Node("a", "t", "A"), Node("b", "t", "B")], [Edge("a", "to", "b", **carried)])
    entries = graph.arrays.adjacency.entries(np.array([0], np.int32))
    assert graph.arrays.weights(entries.at).tolist() == pytest.approx([wanted])
    rows = carried.get("properties", {}).get("rows")
    assert graph.arrays.weights.rows(entries.at) == ({0: tuple(rows)} if rows else {})
