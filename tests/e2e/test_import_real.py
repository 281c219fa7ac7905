"""The real graphs need no option, and keep what is true in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from orienteer.graph import Graph
from orienteer.ingest import ImportReport
from real_graphs import RealGraph

pytestmark = pytest.mark.data

SIZES = {
    "hetionet": (47_031, 1_379_325),
    "debian_bookworm": (144_187, 712_029),
    "wordnet30": (117_659, 316_733),
    "go_genes": (64_156, 376_816),
    "disease_ontology": (10_844, 10_893),
    # 11,272 rows, every relation of which lists both directions.
    "primekg_ibd": (2_991, 5_636),
}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.slow if size[1] > 300_000 else ()) for name, size in SIZES.items()],
)
def real(request: pytest.FixtureRequest, real_graph: Callable[[str], RealGraph]) -> tuple[str, ImportReport, Graph]:
    graph = real_graph(request.param)
    return request.param, graph.report, Graph.open(graph.path)


def _hetionet(report: ImportReport, graph: Graph) -> None:
    labels = graph.schema.labels
    assert set(labels) == set(graph.schema.edge_types)
    assert len(labels) == 24
    assert (labels["AdG"], labels["Gr>G"], labels["CcSE"]) == ("downregulates", "regulates", "causes")
    assert graph.schema.also_called["AdG"] == ("Anatomy - downregulates - Gene",)
    assert graph.schema.node_types["Gene"] == 20_945
    # Its mutual regulations are true statements: nothing in it is mirrored.
    assert graph.schema.symmetric == frozenset()
    assert graph.schema.edge_types["Gr>G"] == 265_672
    albumin = graph.node("Gene::1")
    assert albumin.name == "A1BG"
    assert albumin.aliases == ("A1B", "ABG", "GAB", "HYST2477")
    assert "synonyms" not in albumin.properties


def _debian(report: ImportReport, graph: Graph) -> None:
    edges = list(islice(graph.iter_edges(), 300_000))  # of 712,029
    depends = {(edge.source, edge.target) for edge in edges if edge.type == "depends"}
    assert sum((target, source) in depends for source, target in depends) > 20
    node = graph.node("pkg:0ad")
    assert (node.type, node.name) == ("package", "0ad")
    assert node.text.startswith("Real-time strategy game")
    assert node.properties["installed_size_kb"] == 28_591
    assert any(edge.properties.get("note") == ">= 2.34" for edge in edges)


def _wordnet(report: ImportReport, graph: Graph) -> None:
    assert graph.schema.node_types["noun"] == 82_115
    assert {"antonym", "similar_to", "derivationally_related"} <= graph.schema.symmetric
    assert "also_see" not in graph.schema.symmetric
    car = graph.node("n02958343")
    assert "automobile" in car.aliases
    assert car.type == "noun"
    assert car.properties["category"] == "noun.artifact"
    assert not {"pos", "lemmas", "definition"} & set(car.properties)


def _primekg(report: ImportReport, graph: Graph) -> None:
    assert [(cut.reason, cut.count) for cut in report.merged] == [("mirrored", 5_636)]
    assert [Path(file.file).name for file in report.ignored] == ["stark_questions.parquet"]
    assert graph.node("144").name == "SMAD3"
    joined: dict[tuple[str, frozenset[str]], set[tuple[str, str]]] = {}
    for triple in graph.schema.edges:
        pair = frozenset((triple.source, triple.target))
        joined.setdefault((triple.type, pair), set()).add((triple.source, triple.target))
    assert all(len(directions) == 1 for directions in joined.values())


def _go(report: ImportReport, graph: Graph) -> None:
    assert any(edge.properties.get("evidence") == ["IDA"] for edge in graph.iter_edges())
    assert graph.node("GO:0000001").aliases == ("mitochondrial inheritance",)


def _doid(report: ImportReport, graph: Graph) -> None:
    assert graph.schema.node_types == {"node": 10_844}
    assert "NCI:C3088" in graph.node("DOID:0001816").properties["xrefs"]  # type: ignore[operator]  # a list


CHECKS = {
    "hetionet": _hetionet,
    "debian_bookworm": _debian,
    "wordnet30": _wordnet,
    "go_genes": _go,
    "disease_ontology": _doid,
    "primekg_ibd": _primekg,
}


def test_a_real_graph_needs_no_option(real: tuple[str, ImportReport, Graph]) -> None:
    name, report, graph = real
    assert (report.nodes, report.edges) == SIZES[name]
    assert (graph.arrays.manifest.nodes, graph.arrays.manifest.edges) == SIZES[name]
    assert report.dropped == ()
    CHECKS[name](report, graph)
