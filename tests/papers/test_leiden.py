"""Leiden (Traag, Waltman and van Eck 2019): what it guarantees, and its quality against networkx's."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from orienteer.lab.bases import Csr, leiden


def _groups(graph: networkx.Graph, *, seed: int = 0) -> list[set[int]]:
    found = leiden(_csr_of(graph), seed)
    return [set(np.flatnonzero(found == name).tolist()) for name in np.unique(found)]


def _csr_of(graph: networkx.Graph) -> Csr:
    """Return a graph with the nodes 0 ... n - 1, a loop once."""
    begins, members, weights = [0], list[int](), list[float]()
    for node in range(len(graph)):
        for neighbor, facts in sorted(graph.adj[node].items()):
            members.append(neighbor)
            weights.append(facts.get("weight", 1.0))
        begins.append(len(members))
    return Csr(np.array(begins, np.int64), np.array(members, np.int32), np.array(weights, np.float64))


GRAPHS = {
    "karate": lambda: networkx.karate_club_graph(),
    "les miserables": lambda: networkx.convert_node_labels_to_integers(networkx.les_miserables_graph()),
    "caves": lambda: networkx.connected_caveman_graph(12, 8),
    "random": lambda: networkx.gnp_random_graph(200, 0.03, seed=3),
    "blocks": lambda: networkx.planted_partition_graph(8, 25, 0.4, 0.01, seed=4),
    "scale-free": lambda: networkx.barabasi_albert_graph(400, 2, seed=5),
    "star": lambda: networkx.star_graph(40),
    "parts": lambda: networkx.disjoint_union_all([networkx.complete_graph(5) for _ in range(6)]),
    "ring": lambda: networkx.cycle_graph(60),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_communities_hang_together_and_no_merge_of_two_gains(name: str, seed: int) -> None:
    graph = GRAPHS[name]()
    groups = _groups(graph, seed=seed)
    assert sorted(node for group in groups for node in group) == list(range(len(graph)))
    assert all(networkx.is_connected(graph.subgraph(group)) for group in groups)
    modularity = networkx.community.modularity
    quality = modularity(graph, groups)
    for one in range(len(groups)):
        for two in range(one):
            rest = [group for at, group in enumerate(groups) if at not in (one, two)]
            assert modularity(graph, [*rest, groups[one] | groups[two]]) <= quality + 1e-9


@pytest.mark.parametrize("name", GRAPHS)
def test_modularity_is_that_of_another_implementation(name: str) -> None:
    graph = GRAPHS[name]()
    ours = [networkx.community.modularity(graph, _groups(graph, seed=seed)) for seed in range(5)]
    theirs = [
        networkx.community.modularity(graph, networkx.community.louvain_communities(graph, seed=seed))
        for seed in range(5)
    ]
    assert np.mean(ours) >= np.mean(theirs) - 0.01


def test_known_best_of_the_karate_club_is_reached() -> None:
    graph = networkx.karate_club_graph()
    for _, _, facts in graph.edges(data=True):
        facts.pop("weight")
    best = max(networkx.community.modularity(graph, _groups(graph, seed=seed)) for seed in range(10))
    assert best == pytest.approx(0.4198, abs=1e-4)  # the optimum, found by exact methods


def test_the_same_seed_gives_the_same_and_names_of_nodes_mean_nothing() -> None:
    graph = GRAPHS["blocks"]()
    assert _groups(graph, seed=7) == _groups(graph, seed=7)
    assert {frozenset(group) for group in _groups(graph)} == {frozenset(range(at, at + 25)) for at in range(0, 200, 25)}


def test_loops_weights_and_nodes_without_an_edge() -> None:
    graph = networkx.Graph()
    graph.add_nodes_from(range(7))
    graph.add_weighted_edges_from([(0, 1, 9), (1, 2, 0.1), (2, 3, 9), (4, 4, 5)])
    assert sorted(map(sorted, _groups(graph))) == [[0, 1], [2, 3], [4], [5], [6]]
    assert leiden(_csr_of(networkx.empty_graph(3)), 0).tolist() == [0, 1, 2]
    assert leiden(_csr_of(networkx.empty_graph(0)), 0).tolist() == []
