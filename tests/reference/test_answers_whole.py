"""All that meets a question: pages, the table, CSV and facets, against pandas over the files of three graphs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from orienteer import Graph, Retriever
from orienteer.errors import BadOption
from orienteer.graph import table_of
from orienteer.ingest import demo_records
from orienteer.llm import ScriptedModel
from orienteer.serve import facets_page as facets
from real_graphs import RealGraph

pytestmark = [pytest.mark.data, pytest.mark.slow]


class World(NamedTuple):
    """A graph, and the tables that it was made of as pandas reads them."""

    anchor: Retriever
    nodes: Any  # Any: pandas frames
    edges: Any

    def targets(self, edge_type: str, *sources: str) -> set[str]:
        return set(self.edges[(self.edges.type == edge_type) & self.edges.source.isin(sources)].target)

    def sources(self, edge_type: str, *targets: str) -> set[str]:
        return set(self.edges[(self.edges.type == edge_type) & self.edges.target.isin(targets)].source)

    def id_of(self, node_type: str, name: str) -> str:
        [node] = self.nodes[(self.nodes.type == node_type) & (self.nodes.name == name)].id
        return str(node)

    def of_type(self, node_type: str) -> set[str]:
        return set(self.nodes[self.nodes.type == node_type].id)


def _demo(folder: Path, pandas: Any) -> World:
    nodes, edges = demo_records()
    tables = (
        pandas.DataFrame(
            [(n.id, n.type, n.name, dict(n.properties)) for n in nodes], columns=["id", "type", "name", "own"]
        ),
        pandas.DataFrame([(e.source, e.type, e.target) for e in edges], columns=["source", "type", "target"]),
    )
    return World(Retriever(Graph.from_records(nodes, edges, path=folder / "demo"), "anchor"), *tables)


@pytest.fixture(scope="module")
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], World]:
    """Give a function that opens a graph and reads its tables with pandas, once."""
    pandas = pytest.importorskip("pandas")
    worlds: dict[str, World] = {}

    def opened(name: str) -> World:
        if name in worlds:
            return worlds[name]
        if name == "demo":
            worlds[name] = _demo(tmp_path_factory.mktemp("demo"), pandas)
            return worlds[name]
        real: RealGraph = request.getfixturevalue("real_graph")(name)
        folder = request.getfixturevalue("data_folder") / name
        nodes, edges = (pandas.read_parquet(folder / f"{kind}.parquet") for kind in ("nodes", "edges"))
        nodes["own"] = [
            {key: value for key, value in {**json.loads(extra or "{}"), "identifier": own}.items() if value != ""}
            for extra, own in zip(nodes.extra, nodes.get("identifier", nodes.name * 0), strict=True)
        ]
        nodes, edges = (
            nodes.rename(columns={"kind": "type"}),
            edges.rename(columns={"metaedge": "type", "relation": "type"}).astype({"type": str}),
        )
        worlds[name] = World(Retriever(Graph.open(real.path), "anchor"), nodes, edges)
        return worlds[name]

    return opened


def _of_both(world: World) -> set[str]:
    """Return the compounds that treat a disease that is associated with both genes."""
    genes = (world.id_of("Gene", name) for name in ("PTGS2", "TNF"))
    first, second = (world.sources("DaG", gene) for gene in genes)
    return world.sources("CtD", *(first & second))


CASES: list[Any] = [
    pytest.param("demo", "language", lambda world: world.of_type("language"), id="demo-languages"),
    pytest.param(
        "demo",
        'language that <-influenced_by- "Rust"',
        lambda world: world.targets("influenced_by", world.id_of("language", "Rust")),
        id="demo-rust",
    ),
    pytest.param(
        "hetionet",
        'Compound that -treats-> (Disease that -associates-> Gene "PTGS2" and -associates-> Gene "TNF")',
        _of_both,
        id="hetionet-both",
    ),
    pytest.param(
        "hetionet", "Pharmacologic Class", lambda world: world.of_type("Pharmacologic Class"), id="hetionet-classes"
    ),
    pytest.param(
        "debian_bookworm",
        'package that -in_section-> section "games"',
        lambda world: world.sources("in_section", world.id_of("section", "games")),
        id="debian-games",
    ),
]


@pytest.mark.parametrize(("name", "line", "oracle"), CASES)
def test_csv_and_json_of_all_equal_an_oracle(world: Any, name: str, line: str, oracle: Any) -> None:
    here = world(name)
    gold = oracle(here)
    assert len(gold) > 5
    table = here.anchor.answers("", reading=line)
    rows = list(csv.DictReader(io.StringIO("".join(table.csv()))))
    objects = json.loads("".join(table.json()))
    assert table.total == len(rows) == len(objects) == len(gold)
    assert {row["id"] for row in rows} == {one["id"] for one in objects} == gold
    own = here.nodes[here.nodes.id.isin(gold)].set_index("id")
    for one in objects:
        expected = own.loc[one["id"]]
        told = {key: value for key, value in one.items() if key in expected.own and value is not None}
        assert (one["name"], one["type"], told) == (expected["name"], expected["type"], expected.own)


@pytest.mark.parametrize(("name", "line", "oracle"), CASES)
def test_facets_equal_pandas(world: Any, name: str, line: str, oracle: Any) -> None:
    pandas = pytest.importorskip("pandas")
    here = world(name)
    gold = oracle(here)
    told = facets(here.anchor, reading=line)
    own = here.nodes[here.nodes.id.isin(gold)]
    assert told.total == len(own)
    assert {group.value: group.count for group in told.types} == own.type.value_counts().to_dict()
    frame = pandas.DataFrame(list(own.own), index=own.id).dropna(axis="columns", how="all")
    assert {facet.name for facet in told.properties} == set(frame.columns)
    for facet in told.properties:
        column = frame[facet.name].dropna()
        counts = column.explode().value_counts()
        assert (facet.count, facet.missing) == (len(column), len(own) - len(column))
        assert facet.distinct == len(counts)
        assert all(counts[group.value] == group.count for group in facet.groups)
        assert sorted(group.count for group in facet.groups) == sorted(counts)[-20:]
        if facet.kind == "number" and len(counts) > 1:
            ends = [facet.bins[0].low, *(one.high for one in facet.bins)]
            cut = pandas.cut(column.explode().astype(float), ends, right=False).value_counts(sort=False)
            assert [one.count for one in facet.bins] == cut.tolist()
            assert sum(cut) == len(column.explode())
    touching = [
        here.edges[here.edges[end].isin(gold) & (here.edges.source != here.edges.target)].rename(
            columns={end: "own", other: "far"}
        )
        for end, other in (("source", "target"), ("target", "source"))
    ]
    single = 0
    for edges in touching:
        for _, group in edges.drop_duplicates(["own", "type", "far"]).groupby("type"):
            single += len(group) > 0 and group.own.is_unique
    for facet in told.edges:
        edge_type, there = next(
            (kind, edges)
            for edges, arrow in zip(touching, ("", "<- "), strict=True)
            for kind in edges.type.unique()
            if f"{arrow}{here.anchor.graph.schema.label(kind)}" == facet.name
        )
        far = there[there.type == edge_type].drop_duplicates(["own", "far"]).far.value_counts()
        assert (facet.count, facet.missing, facet.distinct) == (far.sum(), len(own) - far.sum(), len(far))
        for group in facet.groups:
            assert far[group.id] == group.count
        best = facet.groups[0]
        assert here.anchor.answers("", reading=best.reading).total == best.count
    assert len(told.edges) == single


def test_a_filter_narrows_what_is_counted(world: Any) -> None:
    here = world("debian_bookworm")
    line = 'package that -in_section-> section "games"'
    whole = facets(here.anchor, reading=line)
    [architecture] = [facet for facet in whole.properties if facet.name == "architecture"]
    for group in architecture.groups:
        narrowed = facets(here.anchor, reading=line, where=[f"architecture={group.value}"])
        assert narrowed.total == group.count
    listed = here.anchor.graph.list(node_types=["package"], where=["section=games", "architecture=all"], k=10_000)
    table = here.anchor.answers("", reading='package that section = "games"', where=["architecture=all"])
    assert [row[0] for row in table.select(["id"]).values()] == [node.id for node in listed.hits]


@pytest.mark.parametrize("k", [1, 7, 20, 33])
def test_the_pages_of_an_answer_are_all_of_it_once(world: Any, k: int) -> None:
    here = world("demo" if k == 1 else "hetionet")
    line = "language" if k == 1 else CASES[2].values[1]
    gold = CASES[0 if k == 1 else 2].values[2](here)
    pages = [here.anchor.ask("all", k, reading=line, offset=offset) for offset in range(0, len(gold), k)]
    ids = [hit.id for page in pages for hit in page.hits if hit.complete]
    assert len(ids) == len(gold)
    assert set(ids) == gold
    assert all(page.total == len(gold) for page in pages)
    whole = here.anchor.ask("all", len(gold), reading=line)
    assert [hit.id for hit in whole.hits] == ids
    assert k == 1 or all(hit.why for page in pages for hit in page.hits)


def test_what_is_listed_is_said_once(world: Any) -> None:
    anchor = world("hetionet").anchor
    line = CASES[2].values[1]
    said = {offset: anchor.ask("all", reading=line, offset=offset) for offset in (0, 20, 240, 300)}
    assert [result.meeting for result in said.values()] == [
        "250 nodes meet all of it: the first 20 are listed",
        "250 nodes meet all of it: 21 to 40 are listed",
        "250 nodes meet all of it: 241 to 250 are listed",
        "250 nodes meet all of it, and none comes after the first 300",
    ]
    assert not any("meet all" in note for result in said.values() for note in result.notes)
    assert anchor.ask("all", 0, reading=line).meeting == "250 nodes meet all of it"


def test_groups_are_data_and_none_is_left_out(world: Any) -> None:
    here = world("hetionet")
    result = here.anchor.ask("all", reading="count Gene that <-associates- Disease per <-associates- Disease")
    gold = here.edges[here.edges.type == "DaG"].groupby("source").target.nunique()
    names = here.nodes.set_index("id").name
    table = result.table
    assert table is not None
    assert (table.kind, table.columns, len(table.rows)) == ("groups", ("Disease", "count"), len(gold))
    assert dict(table.rows) == {names[disease]: count for disease, count in gold.items()}
    assert [number for _, number in table.rows] == sorted(gold, reverse=True)
    for (_, number), line in list(zip(table.rows, table.readings, strict=True))[::40]:
        assert here.anchor.answers("", reading=line).total == number
    packages = world("debian_bookworm").anchor.ask("all", reading="count package per -maintained_by-> maintainer").table
    assert packages is not None
    assert len(packages.rows) > len(packages.readings) == 200


def test_a_table_sorts_by_every_column(world: Any) -> None:
    table = world("debian_bookworm").anchor.answers("", reading='package that -in_section-> section "games"')
    for column in table.columns:
        for descending in (False, True):
            ordered = table.sorted(column.name, descending=descending)
            assert sorted(ordered.rows.tolist()) == sorted(table.rows.tolist())
            cells = [cell for (cell,) in ordered.select([column.name]).values()]
            known = [cell for cell in cells if cell is not None]
            assert cells[: len(known)] == known, "those without a value come last"
            keys = [key["name"] if isinstance(key, dict) else key for key in known]
            keys = [key.casefold() if isinstance(key, str) else key for key in keys]
            if column.name != "version":  # of versions some are numbers
                assert keys == sorted(keys, reverse=descending)
    with pytest.raises(BadOption, match="Near: section"):
        table.sorted("sectio")


def test_what_cannot_be_read_or_paged_is_refused(world: Any, tmp_path: Path) -> None:
    anchor = world("demo").anchor
    with pytest.raises(BadOption, match="no exact answer"):
        anchor.answers("Which quibbles were frobnicated?")
    with pytest.raises(BadOption, match="reads no question exactly"):
        Retriever(anchor.graph, "bm25").answers("languages")
    with pytest.raises(BadOption, match="offset is -1"):
        anchor.ask("languages", offset=-1)
    model = ScriptedModel(lambda messages, tools, sampling: pytest.fail("the model was asked"))
    with pytest.raises(BadOption, match="offset is 20"):
        Retriever(anchor.graph, "ark", model=model).ask("languages", offset=20)
    words = Retriever(anchor.graph, "bm25")
    first, behind = words.ask("compiled language", 10), words.ask("compiled language", 6, offset=4)
    assert [hit.id for hit in behind.hits] == [hit.id for hit in first.hits[4:]]
    assert behind.offset == 4


def test_a_cell_is_no_formula(tmp_path: Path) -> None:
    nodes = [
        {"id": f"n{at}", "type": "thing", "name": name, "properties": {"debt": -5, "note": 'a,\n"b"'}}
        for at, name in enumerate(("=1+1", "+1", "-x", "@sum", "\tx", "plain\u202egnp"))
    ]
    graph = Graph.from_records(nodes, [], path=tmp_path / "graph")
    table = table_of(graph.arrays, graph.arrays.rows([node["id"] for node in nodes]))
    rows = list(csv.DictReader(io.StringIO("".join(table.csv()), newline="")))
    assert [row["name"] for row in rows] == ["'=1+1", "'+1", "'-x", "'@sum", "'\tx", "plaingnp"]
    assert {(row["debt"], row["note"]) for row in rows} == {("-5", 'a,\n"b"')}
