"""A database in place imitates parts of a graph of our own: a method has the name that its original has.

Types cannot show it, and the tests of what is answered need a database server.
"""

import pytest

from orienteer import Graph
from orienteer.connect import EdgesInPlace, NamesInPlace, PropertiesInPlace, SeenColumn, TextInPlace

OWN = {"nearly", "with_all"}
"""What names are found by, through the index of texts."""


@pytest.mark.parametrize(
    ("imitation", "part"),
    [
        (EdgesInPlace, "adjacency"),
        (NamesInPlace, "name_index"),
        (PropertiesInPlace, "properties"),
        (SeenColumn, "ids"),
        (TextInPlace, "text_index"),
    ],
)
def test_methods_have_the_names_of_the_originals(imitation, part, tmp_path):
    graph = Graph.from_records(
        [{"id": "a", "type": "t", "name": "A", "properties": {"n": 1}}], [], path=tmp_path / "graph"
    )
    original = getattr(graph.arrays, part)
    methods = {name for name in vars(imitation) if not name.startswith("_")} - OWN
    assert methods
    assert not {name for name in methods if not hasattr(original, name)}
