"""The statistics of SAGE's appendix B (paper 004) against sums over all pairs, taken here by hand; and their plots."""

from __future__ import annotations

import re
from itertools import combinations, product

import numpy as np
import pytest

from fakes.bag import Bag
from orienteer.errors import BadOption
from orienteer.graph import find_names
from orienteer.ingest import (
    BuildConfig,
    BuildOptions,
    build_graph,
    compare_parts,
    compared_fields,
    plots_page,
    similar_edges,
    similarity_statistics,
    write_plots,
)
from orienteer.page import draw_tally
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
    kinds = compared_fields(nodes)
    several = compare_parts(kinds, names, Bag(), config, is_measured=True)
    return similarity_statistics(several, kinds, config, is_measured=True)


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
            "content": vector(f"{node.name}. {node.text}"),
            "said": vector(known["topic"]),
            "entities": set(known["entities"]),
            "events": {one["name"] for one in known.get("events", ())},
        }

    def values(pairs, about, within, more):
        ends = [(fields(a), fields(b)) for a, b in pairs]
        found = {
            about: [a["about"] @ b["about"] for a, b in ends],
            within: [a["within"] @ b["within"] for a, b in ends],
            "entities": [len(a["entities"] & b["entities"]) for a, b in ends],
        }
        if more is None:
            found["overlap"] = [
                len(a["entities"] & b["entities"]) / min(len(a["entities"]), len(b["entities"])) for a, b in ends
            ]
            found["events"] = [len(a["events"] & b["events"]) for a, b in ends]
        else:
            found["content"] = [a["content"] @ b["content"] for a, b in ends]
            found[more] = [a["said"] @ b["said"] for a, b in ends]
        return {name: np.array(one, float).round(6) for name, one in found.items()}

    return {
        "chunk-chunk": values(list(combinations(chunks, 2)), "topic", "content", None),
        "table-table": values(list(combinations(tables, 2)), "title", "column", "description"),
        "table-chunk": values(list(product(tables, chunks)), "title", "column", "summary"),
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
def test_histograms_hold_every_pair_and_the_percentiles_that_decide(figures, oracle, pair):
    for name, values in oracle[pair].items():
        found = figures["histograms"][pair][name]
        assert sum(found["counts"]) == len(values)
        assert (found["edges"][0], found["edges"][-1]) == pytest.approx((values.min(), values.max()), abs=1e-3)
        assert found["percentiles"]["95"] == pytest.approx(np.percentile(values, 95), abs=1e-3)
    assert set(figures["thresholds"][pair]) == set(JOINING[pair])
    for name, value in figures["thresholds"][pair].items():
        assert value == pytest.approx(np.percentile(oracle[pair][name], 95), abs=1e-4)


def test_joint_histograms_hold_every_pair(figures, oracle):
    for pair, joints in figures["joint"].items():
        for names, found in joints.items():
            assert sum(count for _, _, count in found["cells"]) == figures["candidates"][pair]
            first, second = names.split(", ")
            assert found["x"][-1] == pytest.approx(oracle[pair][first].max(), abs=1e-3)
            assert found["y"][-1] == pytest.approx(oracle[pair][second].max(), abs=1e-3)


def test_counts_are_of_names_and_events_in_each_part(figures, corpus):
    for kind in ("chunk", "table"):
        sizes = [len(node.properties["entities"]) for node in corpus if node.type == kind]
        assert figures["counts"]["entities"][kind] == np.bincount(sizes).tolist()
    events = [len(node.properties.get("events", ())) for node in corpus if node.type == "chunk"]
    assert figures["counts"]["events"]["chunk"] == np.bincount(events).tolist()


def test_fixed_thresholds_are_shown_in_place_of_percentiles(corpus):
    found = figures_of(corpus, BuildConfig(thresholds=("content=0.5",)))
    assert found["thresholds"] == {"chunk-chunk": {"content": 0.5}, "table-table": {}, "table-chunk": {}}


def test_edges_name_what_a_model_found_in_both(corpus):
    config = BuildConfig(similar_percentile=50.0)
    names = find_names(corpus, progress=lambda stage, count: None, share=config.name_share)
    several = compare_parts(compared_fields(corpus), names, Bag(), config)
    held = {node.id: set(node.properties.get("entities", ())) for node in corpus}
    seen = 0
    for batch in similar_edges(several, names, config):
        for source, target, extra in zip(batch.sources, batch.targets, batch.extras, strict=True):
            both = held[source] & held[target]
            assert set(extra["properties"].get("names", ())) == both
            if both:
                least = min(len(held[source]), len(held[target]))
                assert extra["properties"]["confidence"] == round(len(both) / least, 2)
                seen += 1
    assert seen > 20


# ------------------------------------------------------------------------------------------------------- the plots


def test_the_page_has_every_figure_and_table(figures, tmp_path):
    page = "".join(plots_page(figures, title="a <b>graph</b>"))
    assert set(re.findall(r"<small>figure (\d+)</small>", page)) == {str(number) for number in range(5, 14)}
    assert set(re.findall(r"<small>table (\d+)</small>", page)) == {"3", "5", "17", "18", "19"}
    assert "<b>graph" not in page
    assert not re.search(r"https?:|<script|<link|@import|url\(", page)  # it loads nothing and runs nothing
    write_plots(figures, tmp_path / "page.html", title="x")
    write_plots(figures, tmp_path / "page.html", title="y")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    assert "Similarities of y" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_means_of_ten_and_more_are_written_whole(figures):
    means = {pair: {**values, "entities": 10.5} for pair, values in figures["means"].items()}
    page = "".join(plots_page({**figures, "means": means}, title="x"))
    assert page.count("<td>10.500</td>") == len(PAIRS)


def test_bars_are_as_many_pairs_as_they_say(figures):
    page = "".join(plots_page(figures, title="x"))
    said = [int(count.replace(",", "")) for count in re.findall(r": ([\d,]+) pairs</title>", page)]
    drawn = (("table-table", ("column", "description", "title")), ("chunk-chunk", ("topic", "content")),
             ("table-chunk", ("title", "summary", "column")))  # fmt: skip
    assert sum(said) == sum(len(names) * figures["candidates"][pair] for pair, names in drawn)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 40])
def test_an_axis_of_counts_has_whole_numbers_each_once(count):
    labels = re.findall(
        r'text-anchor="end" class="tick">([^<]+)', draw_tally([1, count], "names", kind="chunks", most=50)
    )
    assert len(set(labels)) == len(labels) > 1
    below = re.findall(
        r'text-anchor="middle" class="tick">([^<]+)', draw_tally([1, count], "names", kind="chunks", most=50)
    )
    assert below == ["0", "1"]


def test_a_graph_without_tables_or_events_says_so():
    random = np.random.default_rng(1)
    nodes = [Node(f"c{at}", "chunk", f"C {at}", " ".join(some(random, WORDS, 8))) for at in range(5)]
    page = "".join(plots_page(figures_of(nodes, BuildConfig()), title="x"))
    assert page.count("There are no such pairs.") == 2
    assert "No events: they take a model" in page
    assert set(re.findall(r"<small>figure (\d+)</small>", page)) == {"8", "9", "10"}


def test_plots_come_with_a_build_and_are_refused_before_it(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for at in range(5):
        (folder / f"{at}.md").write_text(f"# Part {at}\n\nThe {WORDS[at]} of {WORDS[at + 1]}.\n", encoding="utf-8")
    plots = tmp_path / "figures.html"
    made = build_graph(
        [folder], tmp_path / "graph", options=BuildOptions(plots=plots), embedder=Bag(), cache=tmp_path / "cache"
    )
    assert "joint" in made.similarity
    assert "Similarities of graph" in plots.read_text(encoding="utf-8")
    other, cache = tmp_path / "other", tmp_path / "cache"
    for wrong in (tmp_path / "nowhere" / "x.html", folder / "0.md", tmp_path):
        with pytest.raises(BadOption, match="plots"):
            build_graph([folder], other, options=BuildOptions(plots=wrong), embedder=Bag(), cache=cache)
    with pytest.raises(BadOption, match="need an embedder"):
        build_graph([folder], other, options=BuildOptions(plots=plots))
    assert not other.exists()
