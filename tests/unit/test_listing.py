"""Listing by type and property gives what pandas gives over the same records."""

import math

import numpy as np
import pandas as pd
import pytest

from orienteer.errors import BadOption, UnknownProperty, UnknownType
from orienteer.records import Edge, Node

COUNTRIES = ("Belgium", "Germany", "belgium", "Österreich", None)


def beers():
    """Return three hundred beers of which some lack each property, and twelve breweries."""
    random = np.random.default_rng(7)
    nodes = [Node(f"y{at:02}", "brewery", f"Brewery {at % 5}", properties={"founded": 1500 + at}) for at in range(12)]
    for at in range(300):
        properties = {
            "abv": [round(float(random.uniform(0, 12)), 1), int(random.integers(0, 12)), "strong"][at % 3],
            "country": COUNTRIES[int(random.integers(len(COUNTRIES)))],
            "since": f"{1800 + at % 90}-0{1 + at % 9}-11",
            "styles": [f"style {at % 4}", f"style {at % 7}"][: at % 3],
        }
        present = {name: value for name, value in properties.items() if random.random() > 0.2}
        nodes.append(Node(f"b{at:03}", "beer", f"Beer {at * 37 % 300}", properties=present))
    return nodes


NODES = beers()
EDGES = [Edge(f"b{at:03}", "brewed_by", f"y{at % (1 + at % 12):02}") for at in range(300)]


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


@pytest.fixture(scope="module")
def frame():
    rows = [{"id": node.id, "type": node.type, "name": node.name, **node.properties} for node in NODES]
    return pd.DataFrame(rows).astype(object).where(lambda cells: cells.notna(), None).sort_values("id")


def ids(listing):
    return [node.id for node in listing.hits]


@pytest.mark.slow
@pytest.mark.parametrize("descending", [False, True])
def test_numbers_are_sorted_and_what_has_none_comes_last(graph, frame, descending):
    listing = graph.list(node_types=["beer"], sort="abv", descending=descending, k=999)
    wanted = frame[frame["type"] == "beer"]
    numbers = pd.to_numeric(wanted["abv"], errors="coerce")
    numbered = wanted.assign(key=numbers)[numbers.notna()].sort_values("key", ascending=not descending, kind="stable")
    texts, missing = wanted[wanted["abv"] == "strong"], wanted[wanted["abv"].isna()]
    assert ids(listing) == [*numbered["id"], *texts["id"], *missing["id"]]
    assert (listing.total, listing.missing) == (300, len(missing))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("field", ["country", "since", "name"])
def test_texts_and_dates_are_sorted_whatever_their_case(graph, frame, field, descending):
    listing = graph.list(sort=field, descending=descending, k=999)
    there = frame[frame[field].notna()]
    key = there[field].map(str.casefold)
    there = there.assign(key=key).sort_values("key", ascending=not descending, kind="stable")
    assert ids(listing) == [*there["id"], *frame[frame[field].isna()]["id"]]
    assert listing.missing == int(frame[field].isna().sum())


def test_of_a_list_the_least_or_the_greatest_counts(graph, frame):
    beers = frame[frame["type"] == "beer"]
    for descending, pick in ((False, min), (True, max)):
        key = beers["styles"].map(lambda styles, pick=pick: pick(styles) if styles else None)
        there = beers.assign(key=key)[key.notna()].sort_values("key", ascending=not descending, kind="stable")
        listing = graph.list(node_types=["beer"], sort="styles", descending=descending, k=999)
        assert ids(listing) == [*there["id"], *beers[key.isna()]["id"]]


def test_pages_follow_one_another(graph):
    whole = ids(graph.list(sort="degree", descending=True, k=999))
    pages = [ids(graph.list(sort="degree", descending=True, k=50, offset=offset)) for offset in range(0, 350, 50)]
    assert [node for page in pages for node in page] == whole
    degrees = pd.Series([end for edge in EDGES for end in (edge.source, edge.target)]).value_counts()
    assert whole == sorted(whole, key=lambda node: (-degrees.get(node, 0), node))
    assert ids(graph.list(k=3)) == ["b000", "b001", "b002"]
    assert graph.list(k=0).total == 312


def test_filters_are_those_of_a_search(graph, frame):
    listing = graph.list(node_types=["beer"], where=["abv >= 8", "country = BELGIUM"], k=999)
    strong = pd.to_numeric(frame["abv"], errors="coerce") >= 8
    belgian = frame["country"].map(lambda country: country is not None and country.casefold() == "belgium")
    assert ids(listing) == list(frame[(frame["type"] == "beer") & strong & belgian]["id"])


@pytest.mark.parametrize("field", ["country", "abv", "type", "name", "founded", "since"])
def test_groups_are_counted_and_the_missing_value_is_last(graph, frame, field):
    listing = graph.list(group_by=field, k=999)
    counts = {(type(value) is str, value): 0 for value in frame[field].dropna()}
    for value in frame[field].dropna():
        counts[type(value) is str, value] += 1
    missing = int(frame[field].isna().sum())
    groups = list(listing.groups)
    if missing:
        assert (groups.pop().value, listing.missing) == (None, missing)
    assert {(type(group.value) is str, group.value): group.count for group in groups} == counts
    assert [group.count for group in groups] == sorted((group.count for group in groups), reverse=True)
    assert (listing.total, listing.hits, listing.distinct) == (len(frame), (), len(counts) + bool(missing))


def test_a_node_with_a_list_is_in_the_group_of_each_member(graph, frame):
    members = frame["styles"].map(lambda styles: list(dict.fromkeys(styles)) if styles else None).explode().dropna()
    listing = graph.list(node_types=["beer"], group_by="styles", k=999)
    assert {group.value: group.count for group in listing.groups if group.value} == members.value_counts().to_dict()
    empty = frame["styles"].map(lambda styles: not styles) & (frame["type"] == "beer")
    assert listing.missing == int(empty.sum())


def test_groups_can_be_sorted_by_their_value(graph):
    for descending in (False, True):
        groups = graph.list(group_by="founded", sort="founded", descending=descending, k=999).groups
        years = [group.value for group in groups if group.value is not None]
        assert years == sorted(range(1500, 1512), reverse=descending)
        assert groups[-1].value is None
    assert [group.count for group in graph.list(group_by="type", sort="count").groups] == [12, 300]
    with pytest.raises(BadOption, match="sort them by count or by country"):
        graph.list(group_by="country", sort="abv")


def test_true_is_not_one_and_one_is_one(build):
    values = [True, 1, 1.0, "1", False, 0, {"a": 1}, [1, 1, None], [], None]
    small = build([Node(f"n{at}", properties={"x": value}) for at, value in enumerate(values)])
    groups = small.list(group_by="x").groups
    shown = [(type(group.value).__name__, group.value, group.count) for group in groups]
    assert ("bool", True, 1) in shown
    assert ("bool", False, 1) in shown
    assert ("str", "1", 1) in shown
    assert sorted(count for kind, value, count in shown if kind != "bool" and value == 1) == [3]
    assert shown[-1] == ("NoneType", None, 2)
    listing = small.list(sort="x")
    assert ids(listing)[:5] == ["n5", "n1", "n2", "n3", "n7"]
    assert ids(listing)[-2:] == ["n8", "n9"]


def test_what_there_is_not_is_named_with_what_is_near(graph):
    with pytest.raises(UnknownType, match=r"No node type 'bear'. Near: beer"):
        graph.list(node_types=["bear"])
    for option in ({"sort": "abw"}, {"group_by": "abw"}, {"where": ["abw > 3"]}):
        with pytest.raises(UnknownProperty, match=r"No node has a property 'abw'. Near: abv"):
            graph.list(**option)
    with pytest.raises(UnknownProperty, match="degree"):
        graph.list(sort="zzz")
    with pytest.raises(BadOption, match="offset is -1"):
        graph.list(offset=-1)


def test_a_graph_without_properties(build):
    listing = build([Node("a"), Node("b")]).list(sort="degree", descending=True)
    assert (listing.total, ids(listing)) == (2, ["a", "b"])
    assert listing.groups == ()


def test_a_property_counts_before_a_field_of_every_node(build):
    named = build([Node("a", name="z", properties={"degree": 1}), Node("b", name="y", properties={"degree": 0})])
    assert ids(named.list(sort="degree")) == ["b", "a"]
    assert [node.properties["degree"] for node in named.list(sort="Degree").hits] == [0, 1]


@pytest.mark.data
def test_real_packages_are_listed_as_pandas_lists_them(data_folder, real_graph):
    import json

    from orienteer.graph import Graph

    nodes = pd.read_parquet(data_folder / "debian_bookworm" / "nodes.parquet")
    graph = Graph.open(real_graph("debian_bookworm").path)
    packages = nodes[nodes["kind"] == "package"].copy()
    extra = packages["extra"].map(json.loads)
    packages["section"], packages["kb"] = (
        extra.map(lambda cells, name=name: cells.get(name)) for name in ("section", "installed_size_kb")
    )
    groups = graph.list(node_types=["package"], group_by="section", k=9999).groups
    assert {group.value: group.count for group in groups if group.value} == packages["section"].value_counts().to_dict()
    packages["kb"] = packages["kb"].map(lambda kb: math.nan if kb is None else float(kb))
    heavy = packages.sort_values(["kb", "id"], ascending=[False, True])["id"].head(40)
    assert ids(graph.list(node_types=["package"], sort="installed_size_kb", descending=True, k=40)) == list(heavy)
