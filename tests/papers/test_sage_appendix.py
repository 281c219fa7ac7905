"""The statistics of SAGE's appendix B (paper 004) against sums over all pairs, taken here by hand."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from fakes.bag import Bag
from orienteer.graph import find_names
from orienteer.ingest import (
    BuildConfig,
    compare_parts,
    compared_parts,
    similar_edges,
    similarity_figures,
)
from orienteer.records import Node

WORDS = ("ferry", "harbour", "market", "wood", "fish", "salt", "night", "tide", "mill", "hill", "captain", "lamp")
PEOPLE = ("Ada Holm", "Noor Vik", "Zoe Quill", "Tam Rook", "Ida Moss")
PAIRS = ("chunk-chunk", "table-table", "table-chunk")


def some(random, pool, most):
    return [str(one) for one in random.choice(pool, size=random.integers(1, most + 1), replace=False)]


def described(random, at):
    """Return a chunk as a model would have described it."""
    return Node(
        f"c{at}", "chunk", f"Chunk {at}", " ".join(some(random, WORDS, 9)) + ".", (),
        {"topic": " ".join(some(random, WORDS, 6)), "entities": some(random, PEOPLE, 4),
         "events": [{"name": name, "date": None, "details": ""} for name in some(random, PEOPLE, 2)]},
    )  # fmt: skip


def tabled(random, at):
    header = some(random, WORDS, 3)
    text = "\n".join([" | ".join(header), " | ".join(some(random, WORDS, 3))])
    known = {
        "document": f"t{at}", "order": 0, "rows": 1, "first_row": 1, "header": header,
        "title": " ".join(some(random, WORDS, 7)),
        "topic": " ".join(some(random, WORDS, 6)), "entities": some(random, PEOPLE, 4),
        "column_descriptions": [f"{name}: {' '.join(some(random, WORDS, 3))}" for name in header],
    }  # fmt: skip
    return [Node(f"t{at}", "document", f"Table {at}"), Node(f"t{at}#0", "table", f"Table {at}", text, (), known)]


@pytest.fixture(scope="module")
def corpus():
    random = np.random.default_rng(5)
    return [described(random, at) for at in range(14)] + [node for at in range(8) for node in tabled(random, at)]


@pytest.fixture(scope="module")
def figures(corpus):
    return figures_of(corpus, BuildConfig())


def figures_of(nodes, config):
    names = find_names(nodes, progress=lambda stage, count: None, share=config.name_share)
    parts = compared_parts(nodes, names)
    return similarity_figures(compare_parts(parts, names, Bag(), config), parts, config)


@pytest.fixture(scope="module")
def oracle(corpus):
    """Give every similarity of all pairs of two kinds, from the nodes themselves: the corpus is small enough."""
    chunks = [node for node in corpus if node.type == "chunk"]
    tables = [node for node in corpus if node.type == "table"]

    def vector(text):
        return Bag().embed([text], kind="document")[0]

    def fields(node):
        known = node.properties
        return {
            "about": vector(known["topic"] if node.type == "chunk" else known["title"]),
            "within": vector(
                f"{node.name}. {node.text}" if node.type == "chunk" else "; ".join(known["column_descriptions"])
            ),
            "entities": set(known["entities"]),
            "told": vector(known["topic"]),
        }

    def values(pairs, about, within, told=None):
        ends = [(fields(a), fields(b)) for a, b in pairs]
        found = {
            about: [a["about"] @ b["about"] for a, b in ends],
            within: [a["within"] @ b["within"] for a, b in ends],
            "entities": [len(a["entities"] & b["entities"]) for a, b in ends],
        }
        if told is not None:
            found[told] = [a["told"] @ b["told"] for a, b in ends]
        return {name: np.array(one, float).round(6) for name, one in found.items()}

    return {
        "chunk-chunk": values(list(combinations(chunks, 2)), "topic", "content"),
        "table-table": values(list(combinations(tables, 2)), "title", "column", "description"),
        "table-chunk": values(list(product(tables, chunks)), "title", "column"),
    }


def test_all_pairs_of_a_small_corpus_are_candidates(figures, oracle):
    assert figures["candidates"] == {"chunk-chunk": 14 * 13 // 2, "table-table": 8 * 7 // 2, "table-chunk": 14 * 8}
    assert {name: len(one["entities"]) for name, one in oracle.items()} == figures["candidates"]


@pytest.mark.parametrize("pair", PAIRS)
def test_table_3_is_of_means(figures, oracle, pair):
    expected = {name: values.mean() for name, values in oracle[pair].items()}
    assert figures["means"][pair] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("pair", PAIRS)
def test_tables_17_to_19_are_pearsons_correlations(figures, oracle, pair):
    for (first, a), (second, b) in product(oracle[pair].items(), repeat=2):
        assert figures["correlations"][pair][first][second] == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-3)


JOINING = {
    "chunk-chunk": ("topic", "content", "entities"),
    "table-table": ("title", "column", "entities"),
    "table-chunk": ("title", "column", "entities"),
}


@pytest.mark.parametrize("logic", ["or", "and"])
def test_table_5_counts_the_pairs_above_the_percentiles(figures, oracle, logic):
    total, nodes = sum(figures["candidates"].values()), 22
    for percentile in (80, 85, 90, 95, 97, 99):
        kept = 0
        for pair, names in JOINING.items():
            above = [oracle[pair][name] > np.percentile(oracle[pair][name], percentile) for name in names]
            kept += int(np.sum(np.any(above, axis=0) if logic == "or" else np.all(above, axis=0)))
        (row,) = (one for one in figures["percentiles"] if (one["percentile"], one["logic"]) == (percentile, logic))
        assert row["edges"] == kept
        assert row["share"] == pytest.approx(kept / total)
        assert row["mean_degree"] == pytest.approx(2 * kept / nodes)
        assert row["density"] == pytest.approx(kept / (nodes * (nodes - 1) / 2))


@pytest.mark.parametrize("pair", PAIRS)
def test_the_thresholds_are_the_percentiles_of_the_candidates(figures, oracle, pair):
    assert set(figures["thresholds"][pair]) == set(JOINING[pair])
    for name, value in figures["thresholds"][pair].items():
        assert value == pytest.approx(np.percentile(oracle[pair][name], 95), abs=1e-4)


def test_fixed_thresholds_are_shown_in_place_of_percentiles(corpus):
    found = figures_of(corpus, BuildConfig(thresholds=("content=0.5",)))
    assert found["thresholds"] == {"chunk-chunk": {"content": 0.5}, "table-table": {}, "table-chunk": {}}


def test_edges_name_what_a_model_found_in_both(corpus):
    config = BuildConfig(similar_percentile=50.0)
    names = find_names(corpus, progress=lambda stage, count: None, share=config.name_share)
    parts = compared_parts(corpus, names)
    several = compare_parts(parts, names, Bag(), config)
    held = {node.id: set(node.properties.get("entities", ())) for node in corpus}
    seen = 0
    for edge in similar_edges(several, parts, names, config):
        both = held[edge.source] & held[edge.target]
        assert set(edge.properties.get("names", ())) == both
        if both:
            least = min(len(held[edge.source]), len(held[edge.target]))
            assert edge.properties["confidence"] == round(len(both) / least, 2)
            seen += 1
    assert seen > 20
