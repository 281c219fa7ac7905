"""Names by statistics of the corpus, and the edges they make: rules by hand, weights by definition, pairs by force."""

from __future__ import annotations

import math
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from orienteer.graph import CorpusNames, DocumentPart, find_names, parts_of
from orienteer.index import CaseCounts, NameScan
from orienteer.ingest import (
    BuildConfig,
    LinkTargets,
    link_edges,
    mention_edges,
    order_edges,
    shared_edges,
    shared_pairs,
)
from orienteer.records import Node
from orienteer.text import most_chunks, name_idf, split_sentences, title_surfaces


def quietly(stage, count):
    pass


def found(text, *others, titles=(), is_cell=False):
    """Return the titles and the runs in a text of a corpus that has others."""
    case = CaseCounts()
    case.add([text, *others])
    scan = NameScan()
    scan.add_text(0, text, column=0 if is_cell else -1)
    named = next(scan.names({surface for title in titles for surface in title_surfaces(title)}, case))
    sides = ([], [])
    for at, is_title in enumerate(named.names.is_title.tolist()):
        sides[not is_title].append(named.written(at))
    return [list(dict.fromkeys(side)) for side in sides]


def runs(text, *others):
    return found(text, *others)[1]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "we met Bank of America and the Bank of Spain.",
            ["Bank of America", "Bank", "America", "Bank of Spain", "Spain"],
        ),
        (
            "by Vincent van der Waals in Leiden on Monday, May 5",
            ["Vincent van der Waals", "Vincent", "Waals", "Leiden"],
        ),
        ("by J. R. R. Tolkien and C. S. Lewis.", ["J. R. R. Tolkien", "C. S. Lewis"]),
        ("the Queen's man O'Brien of Saint-Denis", ["Queen", "O'Brien of Saint-Denis", "O'Brien", "Saint-Denis"]),
        ("in Łódź, Ørsted met Élan", ["Łódź", "Ørsted", "Élan"]),
        ("nothing here at all", []),
    ],
)
def test_runs_of_capitals(text, names):
    assert runs(text) == names


def test_a_word_that_the_corpus_writes_small_is_cut_off_where_a_sentence_begins():
    texts = ["The port of Blair. Port Blair is big.", "a port, the port"]
    assert runs(*texts) == ["Blair"]
    assert runs("So Port Blair is big. So port Blair.", "a port") == ["Port Blair", "Blair"]


def test_one_word_alone_is_a_name_only_if_the_corpus_does_not_write_it_small():
    assert runs("They ate Apple daily.", "an apple, two apple") == []
    assert runs("They ate Apple daily.", "an apple", "at Apple", "by Apple") == ["Apple"]


def test_titles_are_found_the_longest_first_with_and_without_their_bracket():
    text = "We saw Heat in Salt Lake City and Salt. May was The Who in 1999 and heat."
    titles, _ = found(text, "by Heat", titles=["Salt", "Salt Lake City", "Heat (film)", "the who", "1999", "May"])
    assert titles == ["Heat", "Salt Lake City", "Salt", "The Who"]


def test_a_one_word_title_that_the_corpus_writes_small_is_none():
    for text in ("We saw Heat. the heat, a heat", "the heat, a heat. We saw Heat\nand the heat: Heat"):
        assert found(text, titles=["Heat", "Heat of summer"])[0] == []


def test_a_cell_may_be_a_title_as_a_whole_however_it_is_written():
    assert found("salt", "salt salt", titles=["Salt"], is_cell=True)[0] == ["salt"]
    assert found("salt mine", "salt salt", titles=["Salt"], is_cell=True)[0] == []
    assert found("2004", titles=["2004"], is_cell=True)[0] == []


def passage(node_id, title, text):
    return Node(node_id, "chunk", title, text)


@pytest.mark.slow
@pytest.mark.parametrize("part", [".", "|", ' "', "A ", "A-", "A of ", "(", "\n", "Ab. "])
def test_no_text_takes_longer_than_its_length(part):
    text = part * (200_000 // len(part))
    started = time.process_time()
    found(text, titles=[text[:290]])
    list(split_sentences(text))
    assert time.process_time() - started < 3  # some 0.2 s on a quiet machine; the square of it is an hour


PASSAGES = (
    passage("a", "Ada Holm", "she wrote with Noor Vik about Tall Pines and Low Tide"),
    passage("b", "Noor Vik", "he lives near Tall Pines in the town Salt Bay"),
    passage("c", "Salt Bay (town)", "by Low Tide one sees Tall Pines"),
    passage("d", "Other", "nobody knows"),
)


def test_mentions_weigh_the_idf_of_the_title_shared_among_those_so_titled():
    edges = {(edge.source, edge.target): edge for edge in mention_edges(find_names(PASSAGES, progress=quietly))}
    assert set(edges) == {("a", "b"), ("b", "c")}
    assert edges["a", "b"].weight == pytest.approx(math.log(1 + 4 / 2), abs=1e-4)  # in a, and its own in b
    assert edges["b", "c"].properties == {"names": ["Salt Bay"]}
    twice = [*PASSAGES, passage("e", "Noor Vik", "another")]
    again = {(edge.source, edge.target): edge.weight for edge in mention_edges(find_names(twice, progress=quietly))}
    assert again["a", "b"] == again["a", "e"] == pytest.approx(math.log(1 + 5 / 3) / 2, abs=1e-4)


def test_a_name_within_a_title_stands_in_the_part_that_the_title_opens_alone():
    nodes = [
        Node("m", "document", "memoirs of Ada Holm"),
        Node("m#0", "chunk", "memoirs of Ada Holm", "x", (), {"document": "m", "order": 0}),
        *(
            Node(f"m#{at}", "chunk", f"memoirs of Ada Holm > to {who}", "x", (),
                 {"document": "m", "order": at, "heading": f"to {who}"})
            for at, who in enumerate(["Noor Vik", "Noor Vik", "Tall Pines"], 1)
        ),
        passage("p", "walk", "they met Ada Holm, Noor Vik and Low Tide"),
    ]  # fmt: skip
    names = find_names(nodes, progress=quietly)
    held = [{names.names[name] for name in names.of(at)} for at in range(len(names.parts))]
    assert held == [
        {"memoirs of Ada Holm", "Ada Holm"},
        {"to Noor Vik", "Noor Vik"},
        set(),
        {"to Tall Pines"},  # Tall Pines is in this part alone
        {"walk", "Ada Holm", "Noor Vik"},
    ]
    assert not list(mention_edges(names))
    (batch,) = shared_edges(names, BuildConfig())
    assert {*zip(batch.sources, batch.targets, strict=True)} == {("m#0", "p"), ("m#1", "p")}


def test_titles_do_not_tell_how_a_corpus_writes_a_word():
    written = [passage("a", "The Old Sea And Old Sea", "an old sea"), passage("b", "Old Sea", "Then Old came")]
    case = find_names(written, progress=quietly).case
    assert (case.lower["old"], case.upper["old"]) == (1, 1)
    assert (case.lower["sea"], "sea" in case.upper) == (1, False)


def test_shared_names_weigh_the_sum_of_their_idf():
    batch = next(shared_edges(find_names(PASSAGES, progress=quietly), BuildConfig()))
    found = {
        (source, target): extra
        for source, target, extra in zip(batch.sources, batch.targets, batch.extras, strict=True)
    }
    assert set(found) == {("a", "b"), ("a", "c"), ("b", "c")}
    # a and c share Tall Pines, in three of four, and Low Tide, in two: the rarest comes first.
    assert found["a", "c"]["weight"] == pytest.approx(math.log(1 + 4 / 3) + math.log(1 + 4 / 2), abs=1e-4)
    assert found["a", "c"]["properties"] == {"names": ["Low Tide", "Tall Pines"]}


def test_a_name_in_too_many_chunks_or_in_one_alone_is_no_name():
    many = [passage(f"p{at}", "", "of Tall Pines and Lone Oak" if at == 0 else "of Tall Pines") for at in range(30)]
    names = find_names(many, progress=quietly)
    assert "Tall Pines" not in names.names  # in 30, and 20 is the most of so small a corpus
    assert "Lone Oak" not in names.names
    assert most_chunks(5_000, 0.02) == 100
    assert name_idf(2, 6) == pytest.approx(math.log(4))


def test_without_titles_the_first_name_of_a_chunk_is_its_title():
    texts = ["Tall Pines stand there.", "they saw Tall Pines", "Low Tide comes near Tall Pines"]
    nodes = [passage(f"p{at}", "", text) for at, text in enumerate(texts)]
    edges = {(edge.source, edge.target) for edge in mention_edges(find_names(nodes, progress=quietly))}
    assert ("p2", "p0") in edges


def test_a_cell_that_is_a_title_is_a_mention_with_its_row_and_column():
    table = Node(
        "t#0", "table", "Winners", "Year | Who\n1990 | Ada Holm\n1991 | noor vik, of Salt Bay", (),
        {"document": "t", "order": 0, "rows": 2, "first_row": 11, "header": ["Year", "Who"]},
    )  # fmt: skip
    nodes = [Node("t", "document", "Winners"), table, *PASSAGES]
    edges = {edge.target: edge for edge in mention_edges(find_names(nodes, progress=quietly)) if edge.source == "t#0"}
    assert set(edges) == {"a", "c"}
    assert edges["a"].properties == {"names": ["Ada Holm"], "rows": [11], "columns": [1]}
    assert edges["c"].properties["rows"] == [12]


def test_titles_of_the_parts_of_a_document():
    nodes = [
        Node("g", "document", "Guide"),
        Node("g#0", "chunk", "Guide", "x", (), {"document": "g", "order": 0}),
        Node("g#1", "chunk", "Guide > Use", "x", (), {"document": "g", "order": 1, "heading": "Use"}),
        Node("g#2", "chunk", "Guide > Use", "x", (), {"document": "g", "order": 2, "heading": "Use"}),
        Node("g#3", "table", "Guide", "x", (), {"document": "g", "order": 3}),
        Node("p", "chunk", "Row", "x"),
    ]
    parts = [part for part, _ in parts_of(nodes)]
    assert [part.titles for part in parts] == [("Guide",), ("Use",), (), ("Guide",), ("Row",)]
    assert [part.document for part in parts] == [0, 0, 0, 0, 1]


def incidence(members, documents):
    names = sorted({name for one in members for name in one})
    counts = [sum(name in one for one in members) for name in names]
    begins = np.cumsum([0, *map(len, members)])
    flat = np.array([names.index(name) for one in members for name in sorted(one)], np.int32)
    weights = np.array([math.log(1 + len(members) / count) for count in counts])
    parts = tuple(DocumentPart(str(at), document) for at, document in enumerate(documents))
    return CorpusNames(parts, tuple(map(str, names)), weights, begins, flat, {}, ())


# Three names of two chunks, added up in another order, differ in the last bit.
@example(
    [
        *[(set(), 0)] * 5,
        ({1}, 0),
        ({1, 2}, 0),
        ({0, 1, 2}, 0),
        ({0, 1, 2}, 1),
        ({0, 1, 2, 3}, 1),
        ({1, 3}, 0),
        ({1, 2, 3}, 0),
    ],
    1,
)
@given(
    st.lists(st.tuples(st.sets(st.integers(0, 8), max_size=5), st.integers(0, 5)), min_size=1, max_size=14),
    st.integers(1, 6),
)
def test_the_strongest_pairs_are_those_that_brute_force_finds(parts, strongest):
    members, documents = [one for one, _ in parts], [document for _, document in parts]
    names = incidence(members, documents)
    number = {name: at for at, name in enumerate(sorted({name for one in members for name in one}))}
    weight = {}
    for first, second in combinations(range(len(members)), 2):
        both = members[first] & members[second]
        if both:
            weight[first, second] = sum(names.weights[number[name]] for name in both)
    kept = set()
    for one in range(len(members)):
        for same in (False, True):
            most = max(1, strongest // 3) if same else strongest
            mine = [pair for pair in weight if one in pair and (documents[pair[0]] == documents[pair[1]]) == same]
            mine.sort(key=lambda pair: (-round(weight[pair], 9), pair[0] if pair[1] == one else pair[1]))
            kept.update(mine[:most])
    found = shared_pairs(names, np.ones(len(names.names), np.bool_), strongest=strongest)
    assert {(int(a), int(b)) for a, b, *_ in zip(*found, strict=True)} == kept
    for first, second, total, shown in zip(*found, strict=True):
        assert total == pytest.approx(weight[first, second])
        both = sorted(
            {number[name] for name in members[first] & members[second]},
            key=lambda at: (-names.weights[at], names.names[at]),
        )
        assert [name for name in shown.tolist() if name >= 0] == both[:5]


def part(document, order, **properties):
    return Node(f"{document}#{order}", "chunk", document, "x", (), {"document": document, "order": order, **properties})


def test_order_and_parents():
    nodes = [Node("a", "document", "A"), part("a", 0), part("a", 1), Node("b", "document", "B"), part("b", 0)]
    assert [(edge.source, edge.type, edge.target) for edge in order_edges(nodes)] == [
        ("a#0", "part_of", "a"),
        ("a#1", "part_of", "a"),
        ("a#0", "next", "a#1"),
        ("b#0", "part_of", "b"),
    ]


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("other.md", "docs/other.md"),
        ("./sub/../other.md#deep", "docs/other.md#1"),
        ("other#deep", "docs/other.md#1"),
        ("other.html", "docs/other.md"),
        ("/docs/other.md?x=1", "docs/other.md"),
        ("My%20Page.md", "docs/My Page.md"),
        ("my page", "docs/My Page.md"),
        ("far#Deep", "elsewhere/far.md#1"),
        ("far away#deep", "elsewhere/far.md#1"),
        ("far", "elsewhere/far.md"),
        ("#here", "docs/start.md#1"),
        ("other#Deep", "docs/other.md#1"),
        ("#nowhere", "docs/start.md"),
        ("http://example.org/other.md", None),
        ("mailto:a@b.c", None),
        ("missing.md", None),
        ("../../../etc/passwd", None),
    ],
)
def test_hyperlinks_lead_to_documents_and_their_parts(link, target):
    nodes = [
        Node("docs/start.md", "document", "Start", properties={"file": "docs/start.md"}),
        part("docs/start.md", 0, file="docs/start.md", links=[link]),
        part("docs/start.md", 1, file="docs/start.md", anchors=["here"]),
        Node("docs/other.md", "document", "Other", properties={"file": "docs/other.md"}),
        part("docs/other.md", 1, file="docs/other.md", anchors=["deep"]),
        Node("docs/My Page.md", "document", "My Page", properties={"file": "docs/My Page.md"}),
        Node("elsewhere/far.md", "document", "Far away", properties={"file": "elsewhere/far.md"}),
        part("elsewhere/far.md", 1, file="elsewhere/far.md", anchors=["deep"]),
    ]
    targets = LinkTargets()
    noted = list(targets.noted(nodes))
    found = [(edge.source, edge.type, edge.target) for edge in link_edges(noted, targets)]
    assert found == ([("docs/start.md#0", "links_to", target)] if target else [])
