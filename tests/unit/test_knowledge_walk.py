"""Names and passages, how they are kept, and the walks over them and over any graph; oracles are dense algebra and
networkx."""

import errno
import json
import logging
import shutil

import networkx
import numpy as np
import pytest
from hypothesis import given, strategies as st

from fakes.inside import inside
from orienteer.errors import GraphBusy, NotAGraph
from orienteer.files import locked
from orienteer.graph import (
    NAMES_ABOUT,
    NAMES_PIECE,
    Graph,
    NumberLists,
    number_lists_of,
    piece_folder,
    publish_piece,
    write_incidence_names,
)
from orienteer.records import Edge, Node
from orienteer.retrieval import GraphWalk, Incidence, ListSums, NameWalk, Spaces, carrier_names, open_incidence

pytestmark = pytest.mark.slow

PASSAGES = [
    Node("p1", "chunk", "Night Ferry (film)", "Night Ferry is a film by Ada Holm, shot in Tromsø. The ferry sails."),
    Node("p2", "chunk", "Ada Holm", "Ada Holm was born in Tromsø and taught at the University of Oslo."),
    Node("p3", "chunk", "Tromsø", "Tromsø is a town in the north. The salt road ends there."),
    Node("p4", "chunk", "Salt", "Salt is mined. In the north salt was traded; the University of Oslo wrote of salt."),
]


def numbers(*lists):
    members = [sorted(one) for one in lists]
    begins = np.cumsum([0, *map(len, members)])
    return NumberLists(begins.astype(np.int64), np.array([one for some in members for one in some], np.int32))


def incidence_of(held, titled, names):
    lists = numbers(*held)
    return Incidence(
        passages=np.arange(len(held), dtype=np.int32),
        written=str,
        held=lists,
        holders=lists.inverted(names),
        titled=numbers(*titled),
        find=lambda text: np.zeros(0, np.int32),
    )


@pytest.fixture
def graph(scratch):
    return Graph.from_records(PASSAGES, [], path=scratch())


def opened(graph):
    return open_incidence(graph, Spaces(graph))


def by_name(incidence):
    """Return the passages that hold each name, and those that it titles, by number."""
    count = len(incidence.holders.begins) - 1
    return {
        incidence.written(one): (incidence.holders.of(one).tolist(), incidence.titled.of(one).tolist())
        for one in range(count)
    }


# ------------------------------------------------------------------------------------------------------------- names


def test_names_are_titles_and_what_stands_in_two_passages(graph):
    found = by_name(opened(graph))
    assert found["Ada Holm"] == ([0, 1], [1])
    assert found["Tromsø"] == ([0, 1, 2], [2])
    assert found["University of Oslo"] == ([1, 3], [])
    assert found["Salt"] == ([3], [3])  # the corpus writes it small: p3 has the word and not the name
    assert "Oslo" in found


def test_both_sides_of_the_incidence_say_the_same(graph):
    found = opened(graph)
    pairs = {(one, int(name)) for one in range(4) for name in found.held.of(one)}
    assert pairs == {(int(one), name) for name in range(len(found.weights())) for one in found.holders.of(name)}
    counts = found.holders.counts()
    assert found.weights() == pytest.approx(np.log(1 + 4 / counts), abs=1e-6)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where was the director of Night Ferry born?", {"Night Ferry (film)"}),
        ("who made night ferry", set()),  # no capital, no digit
        ("Did ADA HOLM teach at the University of Oslo?", {"Ada Holm", "University of Oslo"}),
        ("What is salt? What is Salt?", {"Salt"}),
        ("", set()),
        ("Is Oslo north of Tromsø?", {"Oslo", "Tromsø"}),
        ("Where is Oslo Harbour, and who is Old Oslo?", set()),  # other names than Oslo, which is no title
        ("Where is Old Tromsø?", {"Tromsø"}),  # a title is one wherever it stands
    ],
)
def test_names_of_a_question_are_the_longest_that_stand_in_it_with_a_capital(graph, question, names):
    found = opened(graph)
    assert {found.written(int(one)) for one in found.find(question)} == names


def test_a_name_of_one_word_that_many_nodes_have_is_none_of_a_question(scratch):
    nodes = [Node(f"p{at}", "chunk", f"Place {at}", "The north is cold.") for at in range(60)]
    graph = Graph.from_records([*nodes, Node("n", "chunk", "North", "A word.")], [], path=scratch())
    assert not len(opened(graph).find("Is the North cold?"))


def test_a_document_comes_before_its_parts_whatever_their_ids(scratch):
    nodes = [
        Node("z", "document", "Harbour Rules"),
        Node("a2", "chunk", "part", "It says more.", (), {"document": "z", "order": 1}),
        Node("a1", "chunk", "part", "It says a thing.", (), {"document": "z", "order": 0}),
        Node("m", "chunk", "Letter", "See Harbour Rules.", (), {}),
        Node("e", "person", "Nobody", "Harbour Rules"),
    ]
    graph = Graph.from_records(nodes, [], path=scratch())
    found = opened(graph)
    ids = [graph.arrays.ids[row] for row in found.passages]
    holders, titled = by_name(found)["Harbour Rules"]
    assert ids == ["a1", "a2", "m"]
    assert [ids[one] for one in holders] == ["a1", "m"]
    assert [ids[one] for one in titled] == ["a1"]


def test_no_passages_no_incidence(small):
    assert opened(small) is None


def test_entities_of_a_knowledge_base_are_its_names(build):
    nodes = [
        Node("c1", "chunk", "Night Ferry", "A film."),
        Node("c2", "chunk", "Letters", "Of Ada."),
        Node("person:ada", "person", "Ada Holm", "", ("A. Holm",)),
        Node("film:nf", "film", "Night Ferry"),
        Node("f", "fact", "made", "Ada Holm made Night Ferry."),
    ]
    edges = [
        Edge("c1", "mentions", "person:ada", weight=3.0),
        Edge("c1", "mentions", "film:nf"),
        Edge("c1", "titled", "film:nf"),
        Edge("c2", "mentions", "person:ada"),
        Edge("c2", "mentions", "c1"),
        Edge("c1", "states", "f"),
        Edge("f", "member", "person:ada"),
    ]
    graph = build(nodes, edges)
    found = opened(graph)
    assert by_name(found) == {"Night Ferry": ([0], [0]), "Ada Holm": ([0, 1], [])}
    assert [graph.arrays.ids[row] for row in found.rows] == ["film:nf", "person:ada"]
    assert [found.written(int(one)) for one in found.find("What did A. Holm film in Night Ferry?")] == [
        "Night Ferry",
        "Ada Holm",
    ]
    assert piece_folder(graph.path, NAMES_PIECE) is None


# ------------------------------------------------------------------------------------------------- what is kept


def test_names_are_found_once_and_then_mapped(graph, monkeypatch):
    first = by_name(opened(graph))
    monkeypatch.setattr(inside(open_incidence), "find_names", lambda *_, **__: pytest.fail("found again"))
    again = opened(Graph.open(graph.path))
    assert by_name(again) == first
    assert again.note == ""


def test_a_folder_that_cannot_be_written_has_its_names_in_memory(graph, monkeypatch, caplog):
    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(inside(publish_piece), "publish_piece", refuse)
    with caplog.at_level(logging.WARNING):
        found = opened(graph)
    assert by_name(found)["Ada Holm"] == ([0, 1], [1])
    assert "cannot be written" in found.note
    assert found.note in caplog.text
    assert piece_folder(graph.path, NAMES_PIECE) is None


def test_another_fault_of_the_disk_is_no_read_only_folder(graph, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(inside(publish_piece), "publish_piece", full)
    with pytest.raises(OSError, match="No space"):
        opened(graph)


def test_names_are_not_put_beside_a_graph_that_replaced_theirs(graph, tmp_path):
    names = inside(open_incidence).find_names([], progress=lambda *_: None)
    Graph.from_records(PASSAGES[:2], [], path=graph.path, force=True)
    with pytest.raises(NotAGraph, match="was replaced"):
        write_incidence_names(graph, names, tmp_path)


def test_names_of_another_format_are_found_anew(graph):
    opened(graph)
    folder = piece_folder(graph.path, NAMES_PIECE)
    about = json.loads((folder / NAMES_ABOUT).read_text())
    (folder / NAMES_ABOUT).write_text(json.dumps({**about, "format": 0}))
    assert by_name(opened(graph))["Ada Holm"] == ([0, 1], [1])
    assert piece_folder(graph.path, NAMES_PIECE) != folder


def test_passages_without_a_name(scratch):
    graph = Graph.from_records(
        [Node("a", "chunk", "", "nothing at all"), Node("b", "chunk", "", "or less")], [], path=scratch()
    )
    found = opened(graph)
    assert len(found.weights()) == len(found.find("Nothing At All")) == 0
    walked = NameWalk(found, tau=0.7, damping=0.5, rounds=2)(
        np.array([1, 0], np.float32), np.zeros(0, np.float32), np.ones(2, np.float32)
    )
    assert walked.passages.tolist() == [0.5, 0]


def test_a_graph_that_was_replaced_has_its_own_names_still(graph):
    Graph.from_records(PASSAGES[:2], [], path=graph.path, force=True)
    found = opened(graph)
    assert len(found.passages) == 4
    assert "replaced" in found.note


def test_who_waits_too_long_for_another_process_is_told(graph, monkeypatch):
    monkeypatch.setattr(inside(open_incidence), "_PATIENCE", 0.0)
    with locked(graph.path / ".lock", busy="taken"), pytest.raises(GraphBusy):
        opened(graph)


@pytest.mark.parametrize("damage", ["cut", "gone", "all", "link", "about"])
def test_damaged_names_are_found_anew(graph, damage):
    opened(graph)
    folder = piece_folder(graph.path, NAMES_PIECE)
    file = next(folder.glob("held.*"))
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-4])
    elif damage == "gone":
        file.unlink()
    elif damage == "all":
        shutil.rmtree(folder)
    elif damage == "link":
        file.rename(folder.parent / "elsewhere")
        file.symlink_to(folder.parent / "elsewhere")
    else:
        (folder / NAMES_ABOUT).write_text(json.dumps({"format": "?"}))
    assert by_name(opened(graph))["Ada Holm"] == ([0, 1], [1])
    assert piece_folder(graph.path, NAMES_PIECE) != folder
    assert not folder.exists()


# ------------------------------------------------------------------------------------------------------------- walks


@st.composite
def bipartite(draw):
    passages, names = draw(st.integers(1, 25)), draw(st.integers(1, 25))  # more than there are columns of a sum
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    holds = random.random((passages, names)) < draw(st.floats(0.05, 0.9))
    titles = holds & (random.random((passages, names)) < 0.3)
    return holds, titles, random


def steps(holds, titles, weights, fit, tau):
    """Return where each passage and each name leads to, as the definition has it, node by node."""
    passages, names = holds.shape
    to_names, to_passages = np.zeros((passages, names)), np.zeros((names, passages))
    for one in range(passages):
        said = sum(weights[name] for name in range(names) if holds[one, name])
        for name in range(names):
            if holds[one, name]:
                to_names[one, name] = weights[name] / said
    for name in range(names):
        titled = [one for one in range(passages) if titles[one, name]]
        holding = [one for one in range(passages) if holds[one, name]]
        share = tau if titled else 0.0
        for some, part in ((titled, share), (holding, 1 - share)):
            for one in some:
                to_passages[name, one] += part * fit[one] / sum(fit[other] for other in some)
    return to_names, to_passages


@given(bipartite(), st.floats(0.1, 0.9), st.floats(0, 1))
def test_the_walk_over_names_is_the_vector_that_stays_as_it_is(drawn, damping, tau):
    holds, titles, random = drawn
    passages, names = holds.shape
    made = incidence_of([np.flatnonzero(row) for row in holds], [np.flatnonzero(column) for column in titles.T], names)
    fit = random.random(passages) + 0.1
    to_names, to_passages = steps(holds, titles, made.weights(), fit, tau)
    restart = random.random(passages + names)
    restart /= restart.sum()
    step = np.block([[np.zeros((passages, passages)), to_names], [to_passages, np.zeros((names, names))]])
    wanted = np.linalg.solve(np.eye(len(step)) - damping * step.T, (1 - damping) * restart)
    walking = NameWalk(made, tau=tau, damping=damping, rounds=150)
    found = walking(*(part.astype(np.float32) for part in (restart[:passages], restart[passages:], fit)))
    assert np.concatenate([found.passages, found.names]) == pytest.approx(wanted, abs=2e-5)


@given(st.lists(st.integers(0, 40), max_size=30), st.booleans(), st.integers(0, 2**32))
def test_sums_are_those_of_reduceat_to_the_last_bit(counts, is_weighted, seed):
    random = np.random.default_rng(seed)
    owners = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    members = random.integers(0, 50, len(owners)).astype(np.int32)
    weights = random.random(len(owners)).astype(np.float32) if is_weighted else None
    values = random.random(50).astype(np.float32)
    terms = values[members] * (1 if weights is None else weights)
    wanted = [np.add.reduceat(terms[owners == thing], [0])[0] if count else 0 for thing, count in enumerate(counts)]
    assert ListSums(number_lists_of(owners, members, len(counts)), weights)(values).tolist() == wanted


def test_a_round_by_hand():
    """Passages 0 and 1 hold name 0, which titles 1; passage 1 alone holds name 1."""
    made = incidence_of([{0}, {0, 1}], [{1}, set()], names=2)
    walking = NameWalk(made, tau=0.6, damping=0.5, rounds=1)
    one = np.array([1, 0], np.float32)
    found = walking(one, np.zeros(2, np.float32), np.array([1, 1], np.float32))
    # It begins at passage 0: half stays, half of that goes on to name 0, half of which goes to 0 (.2) and 1 (.2 + .6).
    assert found.names == pytest.approx([0.25, 0])
    assert found.passages == pytest.approx([0.5 + 0.5 * 0.25 * 0.2, 0.5 * 0.25 * 0.8])
    assert carrier_names(made, found, 1, 3).tolist() == [0]
    assert found.by_title == pytest.approx([0.15, 0])


def test_what_fits_is_where_names_lead():
    made = incidence_of([{0}, {0}, {0}], [set()], names=1)
    walking = NameWalk(made, tau=0.7, damping=0.5, rounds=5)
    nothing = np.zeros(3, np.float32)
    found = walking(nothing, np.ones(1, np.float32), np.array([1, 2, 1], np.float32)).passages
    assert found == pytest.approx([found[0], 2 * found[0], found[0]])


@given(st.integers(2, 15), st.integers(0, 150), st.integers(0, 2**32))
def test_the_walk_over_a_graph_is_personalised_pagerank(nodes, edges, seed):
    random = np.random.default_rng(seed)
    oracle = networkx.Graph()
    oracle.add_nodes_from(range(nodes))
    entries = []
    for first, second in random.integers(0, nodes, (edges, 2)).tolist():
        if first != second:
            weight = float(random.random()) + 0.05
            entries += [(first, second, weight), (second, first, weight)]
            has = oracle.get_edge_data(first, second, {"weight": 0.0})["weight"]  # parallel edges add up
            oracle.add_edge(first, second, weight=has + weight)
    entries.sort()
    owners, neighbors = (np.array([one[at] for one in entries], np.int32) for at in (0, 1))
    walking = GraphWalk(number_lists_of(owners, neighbors, nodes), np.array([one[2] for one in entries], np.float32))
    restart = random.random(nodes) * (random.random(nodes) < 0.5)
    restart[0] += 0.1
    found = walking((restart / restart.sum()).astype(np.float32), damping=0.7, rounds=150)
    wanted = networkx.pagerank(oracle, 0.7, dict(enumerate(restart)), weight="weight", tol=1e-10, max_iter=1000)
    assert found / found.sum() == pytest.approx([wanted[one] for one in range(nodes)], abs=2e-5)


def test_who_led_the_walk_to_a_node():
    """A star: 1 and 2 lead to 0, 2 by two edges; 3 stands alone."""
    owners, neighbors = np.array([0, 0, 0, 1, 2, 2], np.int32), np.array([1, 2, 2, 0, 0, 0], np.int32)
    walking = GraphWalk(number_lists_of(owners, neighbors, 4), np.ones(6, np.float32))
    at = walking(np.array([0, 0.5, 0.5, 0], np.float32), damping=0.5, rounds=30)
    assert walking.carriers(at, 0, 5).tolist() == [2, 1]
    assert walking.carriers(at, 3, 5).tolist() == []
    assert at[3] == 0


@given(st.lists(st.lists(st.integers(0, 6), max_size=5, unique=True), max_size=6))
def test_lists_turned_twice_are_as_they_were(held):
    made = numbers(*held)
    again = made.inverted(7).inverted(len(held))
    assert again.begins.tolist() == made.begins.tolist()
    assert again.members.tolist() == made.members.tolist()
