"""Names to nodes: which nodes a mention means, by which policy, and how alike two names are."""

import numpy as np
import pytest

from orienteer.records import Node
from orienteer.retrieval import (
    LinkPolicy,
    TypeLinker,
    is_akin,
    letter_likeness,
    link_mention,
    longest_names,
    name_occurrences,
    rows_spelled,
    type_words,
    word_shares,
)


@pytest.fixture(scope="module")
def languages(build):
    names = {"1": "C", "2": "C++", "3": "c++", "4": "Go", "x": "Clipper"}
    nodes = [Node(node, "CodeLanguage", name) for node, name in names.items()]
    return build([*nodes, Node("5", "game", "go", aliases=("Weiqi",))], [])


@pytest.mark.parametrize(
    ("mention", "nodes"),
    [
        ("C++", ["2", "3"]),  # written so first, then in another case; `C` differs in punctuation
        ("c++", ["3", "2"]),
        ("C", ["1"]),
        ("x", ["x"]),  # an id
        ("GO", ["4", "5"]),
        ("weiqi", ["5"]),
        ("C!", ["1", "2", "3"]),  # nothing is spelled so: then punctuation does not count
        ("Pascal", []),
    ],
)
def test_a_mention_means_the_nodes_that_are_called_so(languages, mention, nodes):
    assert [languages.arrays.ids[row] for row in link_mention(languages, mention, LinkPolicy())] == nodes


def test_a_policy_gives_forms_and_a_bound_and_what_was_shown_counts_first(languages):
    quoted = LinkPolicy(forms=(str, lambda name: name.strip("'")), most=1)
    (second,) = rows_spelled(languages, "Weiqi")
    assert [languages.arrays.ids[row] for row in link_mention(languages, "'c++", quoted)] == [
        "1"
    ]  # the first form that names any
    assert [languages.arrays.ids[row] for row in link_mention(languages, "'+'", quoted)] == []
    assert link_mention(languages, "'go'", quoted, shown={second}) == [second]


def test_types_are_linked_by_the_words_that_say_them(languages):
    types = TypeLinker(languages)
    assert type_words("CodeLanguage_of", languages.arrays.tokenizer) == ("code", "language", "of")
    assert types.link("a code language").tolist() == types.link("CodeLanguages").tolist() == [True, False]
    assert types.link("language") is None
    assert types.has_article("which game")
    assert not types.has_article("game")


def test_words_and_letters_say_how_alike_names_are(languages):
    assert letter_likeness("Springfield", "SPRINGFIELD") == 1
    assert is_akin("director", "direct")
    assert not any((is_akin("dire", "direction"), is_akin("art", "arts"), is_akin("directs", "direly")))
    rows = np.arange(len(languages), dtype=np.int32)
    shares = word_shares(languages.arrays.text_index, [["clipper"], ["pascal"]], rows, 1.0)
    assert np.count_nonzero(shares) == 1
    assert 0 < shares[languages.arrays.row("Clipper")] < 1


def test_the_longest_name_wins_and_no_word_is_part_of_two():
    words = ["new", "york", "times", "square", "garden"]
    rows = {"new york": [1], "new york times": [2], "times square": [3], "garden": [4]}
    spans = list(longest_names(len(words), 3, lambda begin, end: rows.get(" ".join(words[begin:end]), [])))
    assert spans == [(0, 3, [2]), (4, 5, [4])]
    assert not list(longest_names(0, 3, lambda begin, end: [1]))


def test_a_name_inside_a_longer_word_is_no_occurrence():
    assert [match.start() for match in name_occurrences("C++", "C++ and AC++, (C++)")] == [0, 15]
