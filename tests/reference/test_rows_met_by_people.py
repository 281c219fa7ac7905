"""The wrong answers that new users met on real graphs: each right now, or refused for its reason. Gold by pandas."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from orienteer import Graph, Result, Retriever
from real_graphs import RealGraph

pytestmark = [pytest.mark.data, pytest.mark.slow]
ALL = 100_000  # hits that are asked for: all that there are
PERL = "Debian Perl Group"


class World(NamedTuple):
    """A real graph and the tables that it was made of."""

    anchor: Retriever
    nodes: Any  # Any: pandas frames
    edges: Any

    def ids(self, node_type: str, name: str) -> set[str]:
        """Return the ids of the nodes of a type that bear a name, whatever its case."""
        named = self.nodes[(self.nodes.type == node_type) & (self.nodes.name.str.casefold() == name.casefold())]
        assert len(named), name
        return set(named.id)

    def sources(self, edge_type: str, targets: set[str]) -> set[str]:
        """Return the ids from which an edge of a type leads to one of the targets."""
        return set(self.edges[(self.edges.type == edge_type) & self.edges.target.isin(targets)].source)

    def targets(self, edge_type: str, sources: set[str]) -> set[str]:
        """Return the ids to which an edge of a type leads from one of the sources."""
        return set(self.edges[(self.edges.type == edge_type) & self.edges.source.isin(sources)].target)


@pytest.fixture(scope="module")
def world(data_folder: Path, real_graph: Callable[[str], RealGraph]) -> Callable[[str], World]:
    """Give a function that opens a real graph and reads its tables with pandas, once."""
    pandas = pytest.importorskip("pandas")
    worlds: dict[str, World] = {}

    def opened(name: str) -> World:
        if name not in worlds:
            path = real_graph(name).path
            nodes, edges = (pandas.read_parquet(data_folder / name / f"{kind}.parquet") for kind in ("nodes", "edges"))
            worlds[name] = World(Retriever(Graph.open(path), "anchor"), *_plain(name, nodes, edges))
        return worlds[name]

    return opened


def _plain(name: str, nodes: Any, edges: Any) -> tuple[Any, Any]:  # Any: pandas frames
    """Return the tables with the columns id, type, name and source, type, target."""
    kinds = {
        "hetionet": ("kind", "metaedge"),
        "debian_bookworm": ("kind", "relation"),
        "wordnet30": ("pos", "relation"),
    }
    node_type, edge_type = kinds[name]
    return nodes.rename(columns={node_type: "type"}), edges.rename(columns={edge_type: "type"})


def treating(world: World, disease: str) -> set[str]:
    return world.sources("CtD", world.ids("Disease", disease))


def causing(world: World, effect: str) -> set[str]:
    return world.sources("CcSE", world.ids("Side Effect", effect))


def genes_of(world: World, *diseases: str) -> set[str]:
    return world.targets("DaG", {node for disease in diseases for node in world.ids("Disease", disease)})


def not_by_perl(world: World) -> set[str]:
    packages = set(world.nodes[world.nodes.type == "package"].id)
    return packages - world.sources("maintained_by", set(world.nodes[world.nodes.name == PERL].id))


def over_100_mb(world: World) -> set[str]:
    import json

    packages = world.nodes[world.nodes.type == "package"]
    sizes = packages.extra.map(lambda extra: json.loads(extra).get("installed_size_kb") or 0)
    return set(packages[sizes > 100_000].id)


def hyponyms_of_the_noun_dog(world: World) -> set[str]:
    return world.targets("hyponym", world.ids("noun", "dog"))


def most_diseases(world: World) -> set[str]:
    counts = world.edges[world.edges.type == "DaG"].groupby("target", observed=True).source.nunique()
    return set(counts[counts == counts.max()].index)


def opposites_of_hot(world: World) -> set[str]:
    return world.targets("antonym", world.ids("adj", "hot"))


def complete(result: Result) -> set[str]:
    return {hit.id for hit in result.hits if hit.complete}


@pytest.mark.parametrize(
    ("name", "question", "gold"),
    [
        ("debian_bookworm", "How many packages are not maintained by the Perl Group?", not_by_perl),
        pytest.param(
            *("debian_bookworm", f"How many packages are not maintained by the {PERL}?", not_by_perl),
            marks=pytest.mark.thorough,  # of its 144,000 hits each is checked
        ),
        ("debian_bookworm", "How many packages are over 100 MB?", over_100_mb),
        (
            "hetionet",
            "How many drugs are for migraine but not epilepsy?",
            lambda world: treating(world, "migraine") - treating(world, "epilepsy syndrome"),
        ),
        (
            "hetionet",
            "drugs that treat migraine but not epilepsy",
            lambda world: treating(world, "migraine") - treating(world, "epilepsy syndrome"),
        ),
        (
            "hetionet",
            "Which drugs cause nausea but not headache?",
            lambda world: causing(world, "nausea") - causing(world, "headache"),
        ),
        (
            "hetionet",
            "How many genes are associated with asthma or migraine?",
            lambda world: genes_of(world, "asthma", "migraine"),
        ),
        (
            "hetionet",
            "How many genes are there for asthma or migraine?",
            lambda world: genes_of(world, "asthma", "migraine"),
        ),
        (
            "hetionet",
            "Which drugs treat hypertension and also cause migraine?",
            lambda world: treating(world, "hypertension") & causing(world, "migraine"),
        ),
        ("hetionet", "Which gene is associated with the most diseases?", most_diseases),
        ("wordnet30", "How many hyponyms does the noun dog have?", hyponyms_of_the_noun_dog),
        ("wordnet30", "How many hyponyms of dog are there?", hyponyms_of_the_noun_dog),
        ("wordnet30", "What is the opposite of hot?", opposites_of_hot),
    ],
)
def test_a_row_is_right_or_refused(world, name: str, question: str, gold: Callable[[World], set[str]]) -> None:
    opened = world(name)
    result, expected = opened.anchor.ask(question, k=ALL), gold(opened)
    assert expected
    if result.refusal is not None:
        assert result.answer is None
        assert not complete(result)
        return
    assert complete(result) == expected, (result.reading, len(complete(result)), len(expected))
    if question.startswith("How many"):
        assert result.answer is not None
        # `dog` is a noun and a verb, and each number is said
        assert result.answer.split(" by the ")[0] == str(len(expected))


@pytest.mark.parametrize(
    ("name", "question", "word"),
    [
        ("hetionet", "Which drugs treat COVID-19?", "COVID"),
        ("hetionet", "How many drugs treat COVID-19?", "COVID"),
        ("hetionet", "Does aspirin treat migraine?", "aspirin"),
        ("debian_bookworm", "How many packages does Heineken maintain?", "Heineken"),
    ],
)
def test_what_a_graph_does_not_hold_is_refused_by_its_name(world, name: str, question: str, word: str) -> None:
    result = world(name).anchor.ask(question)
    assert result.answer is None
    assert not complete(result)
    assert result.refusal is not None
    assert word in result.refusal.text
