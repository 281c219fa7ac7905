"""Flow between seeds: by hand, against a search for each pair, and the bound on what is read."""

from collections import defaultdict

import networkx
import numpy as np
import pytest
from hypothesis import given, strategies as st

from orienteer.graph import Graph
from orienteer.lab.bases import edges_around_seeds, flow_paths
from orienteer.records import Edge, Node

pytestmark = pytest.mark.slow

ALL = -1.0


def even(entries):
    return np.ones(len(entries.at))


def found(graph, seeds, *, theta=0.3, weighted=False, once=False, **options):
    """Return the paths among some nodes, as texts of ids, with their scores."""
    rows = graph.arrays.rows(list(seeds))
    weigh = (lambda entries: graph.arrays.weights(entries.at)) if weighted else even
    options = {"keep": np.ones(len(graph), np.bool_), **options}
    walked = flow_paths(edges_around_seeds(graph.arrays.adjacency, rows, weigh, **options), theta=theta)
    walked = walked.once() if once else walked
    texts = ["".join(graph.arrays.ids[row] for row in one if row >= 0) for one in walked.nodes.tolist()]
    return list(zip(texts, walked.scores.tolist(), strict=True))


@pytest.fixture(scope="module")
def joined(build):
    """Give a function that makes a graph of one-letter nodes from pairs such as `ab`, each with its weight."""

    def make(*pairs):
        edges = [Edge(one[0], "e", one[1], weight=float(one[2:] or 1)) for one in pairs]
        return build([Node(name) for name in sorted({name for one in pairs for name in one[:2]})], edges)

    return make


def test_flow_is_split_among_the_ways_to_the_target_and_fades(joined):
    graph = joined("st", "sa", "at", "sb", "bc", "ct", "sx", "xy")  # x leads nowhere: it takes no part
    assert dict(found(graph, "st")) == pytest.approx(
        {"st": 1 / 3, "sat": (1 / 3 + 0.8 / 3) / 2, "ts": 1 / 3, "tas": (1 / 3 + 0.8 / 3) / 2}
    )
    # Of b's 0.267 nothing flows on by theta 0.3; by 0.26 it does.
    more = dict(found(graph, "st", theta=0.26))
    assert more["sbct"] == pytest.approx((1 / 3 + 0.8 / 3 + 0.64 / 3) / 3)
    assert len(more) == 6


def test_many_ways_between_two_nodes_say_little_of_each(joined):
    three = joined("sa", "at", "sb", "bt", "sc", "ct")
    assert {path for path, _ in found(three, "st")} == {"sat", "sbt", "sct", "tas", "tbs", "tcs"}
    four = joined("sa", "at", "sb", "bt", "sc", "ct", "sd", "dt")
    assert found(four, "st") == []


def test_an_arrival_needs_no_flow_to_go_on(joined):
    graph = joined("st", "sa", "at", "sb", "bt", "sc", "ct", "sd", "dt")
    assert dict(found(graph, "st")) == pytest.approx({"st": 0.2, "ts": 0.2})


def test_heavy_edges_carry_more(joined):
    graph = joined("sa3", "sb1", "at", "bt", "tb2")  # b and t are joined twice: by 3
    assert dict(found(graph, "st", weighted=True)) == pytest.approx({"sat": (0.75 + 0.6) / 2, "tbs": (0.75 + 0.6) / 2})


def test_an_edge_without_weight_is_walked_where_it_is_the_only_one(joined):
    assert [path for path, _ in found(joined("sa0", "at0"), "st", weighted=True)] == ["sat", "tas"]


def test_a_path_counts_once_in_its_better_direction_best_first(joined):
    graph = joined("sa", "at", "am", "mt")
    # From s all flows over a, from t half does: sat .7 against .45, samt .573 against .407.
    assert found(graph, "st", once=True) == [
        ("sat", pytest.approx((1 + 0.4) / 2)),
        ("samt", pytest.approx((1 + 0.4 + 0.32) / 3)),
    ]


def test_ties_go_by_rows_and_directions_of_edges_do_not_matter(joined):
    one, other = joined("ab", "bc", "cd"), joined("ba", "cb", "dc")
    assert (
        found(one, "ad", once=True) == found(other, "ad", once=True) == [("abcd", pytest.approx((1 + 0.8 + 0.64) / 3))]
    )
    star = joined("ma", "mb", "mc")
    assert [path for path, _ in found(star, "abc", once=True)] == ["amb", "amc", "bmc"]


def test_only_marked_nodes_and_kinds_are_walked(build):
    graph = build([Node(one) for one in "abst"], [Edge("s", "x", "a"), Edge("a", "x", "t"), Edge("s", "y", "t")])
    assert [path for path, _ in found(graph, "st", once=True)] == ["st", "sat"]
    assert [path for path, _ in found(graph, "st", once=True, kinds=graph.arrays.kind_mask(["x"], None))] == ["sat"]
    keep = np.ones(len(graph), np.bool_)
    keep[graph.arrays.row("a")] = False
    assert [path for path, _ in found(graph, "st", once=True, keep=keep)] == ["st"]


@pytest.mark.parametrize("seeds", ["", "s"])
def test_fewer_than_two_seeds_have_no_path(joined, seeds):
    assert found(joined("sa", "at"), seeds) == []


def test_what_has_very_many_edges_is_walked_to_and_not_on(joined):
    many = [f"h{name}" for name in "bcdefg"]
    graph = joined("sh", "ht", "su", "uv", "vt", *many)
    assert {path for path, _ in found(graph, "st", theta=ALL, once=True)} == {"sht", "suvt"}
    # Room for the seeds' four ends, and for u's and v's: h, with eight, is no longer read, and is met all the same.
    assert {path for path, _ in found(graph, "st", theta=ALL, once=True, most_ends=8)} == {"sht", "suvt"}
    # A seed that is not read itself is met from the other one's side, and by what that one's neighbours lead to.
    assert {path for path, _ in found(graph, "hs", theta=ALL, once=True, most_ends=4)} == {"hs"}
    assert found(graph, "st", theta=ALL, most_ends=1) == []


def trie_flows(graph, source, target, *, theta, alpha=0.8):
    """Return what flows along every simple path, as defined: by listing all of them first."""
    paths = [tuple(one) for one in networkx.all_simple_paths(graph, source, target, cutoff=3)]
    after = defaultdict(set)
    for path in paths:
        for at in range(1, len(path)):
            after[path[:at]].add(path[at])
    scores = {}
    for path in paths:
        flows = []
        for at in range(1, len(path)):
            if flows and flows[-1] <= theta:
                break
            here = path[at - 1]
            whole = sum(graph[here][other]["weight"] for other in after[path[:at]])
            flows.append((flows[-1] * alpha if flows else 1.0) * graph[here][path[at]]["weight"] / whole)
        else:
            scores[path] = sum(flows) / len(flows)
    return scores


@given(st.integers(0, 10_000), st.integers(4, 14), st.sampled_from([ALL, 0.05, 0.3]), st.booleans())
def test_one_pass_finds_what_a_search_for_every_pair_finds(number, size, theta, weighted):
    rng = np.random.default_rng(number)
    pairs = rng.integers(0, size, (int(rng.integers(size, 4 * size)), 2)).tolist()
    weights = rng.integers(1, 4, len(pairs)).tolist() if weighted else [1] * len(pairs)  # parallel ones add up
    edges = [Edge(f"{a:02}", "e", f"{b:02}", weight=float(w)) for (a, b), w in zip(pairs, weights, strict=True)]
    graph = Graph.from_records([Node(f"{row:02}") for row in range(size)], edges)
    reference = networkx.Graph()
    for (a, b), weight in zip(pairs, weights, strict=True):
        if a != b:
            before = reference.get_edge_data(a, b, {"weight": 0})["weight"]
            reference.add_edge(a, b, weight=before + weight)
    seeds = np.sort(rng.choice(size, 4, replace=False)).astype(np.int32)
    near = edges_around_seeds(
        graph.arrays.adjacency, seeds, lambda entries: graph.arrays.weights(entries.at), keep=np.ones(size, np.bool_)
    )
    walked = flow_paths(near, theta=theta)
    got = {
        tuple(row for row in one if row >= 0): score
        for one, score in zip(walked.nodes.tolist(), walked.scores, strict=True)
    }
    assert len(got) == len(walked.scores)
    wanted = {}
    for source in seeds.tolist():
        for target in seeds.tolist():
            if source != target and source in reference and target in reference:
                wanted |= trie_flows(reference, source, target, theta=theta)
    assert got == pytest.approx(wanted)
