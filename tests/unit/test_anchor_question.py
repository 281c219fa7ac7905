"""Steps 2 and 3 of `anchor`: the kind of answer, the kinds between, and the edges that the words fit."""

import pytest

from orienteer.graph import Graph
from orienteer.methods import Anchor
from orienteer.reading import abbreviates_type, split_label, stem_likeness
from orienteer.records import Edge, Node, Question

# Paintings, their makers and places: types in three spellings, codes with labels, parallel and one-type edges.
NODES = (
    *({"id": f"p{at}", "type": "Painting", "name": name} for at, name in enumerate(("Dawn", "Dusk", "Noon", "Rain"))),
    {"id": "a1", "type": "painter", "name": "Ada Lind", "text": "a portraitist from the north"},
    {"id": "a2", "type": "painter", "name": "Bo Ek", "text": "a portraitist who paints"},
    {"id": "a3", "type": "painter", "name": "Cy Berg", "text": "an artist from the coast"},
    {"id": "m1", "type": "ArtMovement", "name": "Stillism", "text": "quiet pictures"},
    {"id": "m2", "type": "ArtMovement", "name": "Noisism", "text": "loud pictures"},
    {"id": "s1", "type": "museum/gallery", "name": "Harbour House"},
    {"id": "s2", "type": "museum/gallery", "name": "Dawn"},
    {"id": "c1", "type": "home_city", "name": "Malm"},
    {"id": "c2", "type": "home_city", "name": "Visby"},
    *({"id": f"n{at}", "type": "painter", "name": f"Nn {at}", "text": "a limner of faces"} for at in range(12)),
)
EDGES = tuple(
    {"source": source, "type": kind, "target": target}
    for source, kind, target in (
        ("p0", "painted_by", "a1"),
        ("p1", "painted_by", "a1"),
        ("p2", "painted_by", "a2"),
        ("p3", "painted_by", "a3"),
        ("p3", "restored_by", "a1"),
        ("p0", "hangsIn", "s1"),
        ("p2", "hangsIn", "s1"),
        ("p1", "hangsIn", "s2"),
        ("a1", "MEMBER_OF", "m1"),
        ("a2", "MEMBER_OF", "m1"),
        ("a3", "MEMBER_OF", "m2"),
        ("a1", "taught", "a2"),
        ("a2", "taught", "a3"),
        ("a2", "admired_by", "a1"),
        ("a3", "admired_by", "a2"),
        ("a1", "lives in", "c1"),
        ("a2", "lives in", "c1"),
        ("a3", "lives in", "c2"),
    )
)


@pytest.fixture(scope="module")
def anchor(scratch):
    return Anchor(Graph.from_records(NODES, EDGES, path=scratch()))


@pytest.fixture(scope="module")
def understood(anchor):
    """Give a function from a question to what it is found to ask for, types by name."""
    graph = anchor._graph

    def wanted(question):
        found = anchor.find(Question(text=question)).wanted
        return {str(graph.arrays.types.nodes[one]): sureness for one, sureness in found.types.items()}, [
            str(graph.arrays.types.nodes[one]) for one in found.via
        ]

    return wanted


@pytest.fixture(scope="module")
def first(anchor):
    """Give a function from a question to the names of as many first hits as are asked for."""

    def names(question, count=1):
        finding = anchor.find(Question(text=question))
        return [anchor._graph.arrays.names[row] for row in finding.scores.rows[:count].tolist()]

    return names


@pytest.mark.parametrize(
    ("question", "type_name"),
    [
        ("Which paintings hang in Harbour House?", "Painting"),
        ("What are the paintings in Harbour House?", "Painting"),
        ("List all the paintings of Ada Lind", "Painting"),
        ("Could you show me some paintings by Ada Lind?", "Painting"),
        ("Harbour House holds which of the paintings?", "Painting"),
        ("How many paintings hang in Harbour House?", "Painting"),
        ("What is the number of paintings in Harbour House?", "Painting"),
        ("Are there any paintings by Bo Ek?", "Painting"),
        ("Which art movements has Ada Lind been in?", "ArtMovement"),
        ("In which museum is Rain?", "museum/gallery"),
        ("Which galleries show Rain?", "museum/gallery"),
        ("Which home city has Ada Lind?", "home_city"),
        ("In which city does Ada Lind live?", "home_city"),
        ("Which parts of the paintings", "Painting"),
    ],
)
def test_the_phrase_that_asks_says_the_kind_of_answer(understood, question, type_name):
    types, _ = understood(question)
    assert list(types) == [type_name]
    assert types[type_name] >= 0.5


def test_a_full_name_is_surer_than_one_of_its_words(understood):
    assert understood("Which art movements were there?")[0]["ArtMovement"] == 1.0
    assert understood("Which movements were there?")[0]["ArtMovement"] == pytest.approx(0.6)


def test_a_kind_named_elsewhere_counts_less(understood):
    assert understood("The paintings that Ada Lind made, which are they?")[0] == {"Painting": pytest.approx(0.75)}


def test_texts_teach_what_a_word_means(understood):
    types, _ = understood("Which limner made Dusk?")
    assert types == {"painter": pytest.approx(0.6)}
    assert understood("Which portraitist made Dusk?")[0].get("painter", 0) != pytest.approx(0.6), (
        "two texts teach nothing"
    )


def test_an_edge_says_the_kind_where_no_word_does(understood):
    assert list(understood("Who taught Cy Berg?")[0]) == ["painter"]
    assert list(understood("Where does Dusk hang?")[0]) == ["museum/gallery"]


def test_other_kinds_lie_between(understood):
    types, via = understood("Which art movements made the paintings in Harbour House?")
    assert (list(types), via) == (["ArtMovement"], ["Painting"])


def test_what_is_asked_over_kinds_between_is_reached_over_them(first):
    assert first("Which home cities have painters of the art movement Noisism?") == ["Visby"]
    assert first("Which museums show paintings by Bo Ek?") == ["Harbour House"]


def test_two_edges_named_in_words_are_walked_without_a_kind_between(first):
    assert first("In which home city does the pupil that Bo Ek taught live?") == ["Visby"]


def test_a_kind_beside_a_name_tells_its_namesakes_apart(first):
    assert first("Who painted the painting Dawn?") == ["Ada Lind"]
    assert first("Which painting hangs in the gallery Dawn?") == ["Dusk"]
    assert first("Which painting hangs in the Dawn gallery?") == ["Dusk"]


def test_the_kind_that_is_asked_for_is_no_apposition(understood):
    assert list(understood("Which painting Dusk inspired?")[0]) == ["Painting"]


def test_what_two_names_share_comes_first(first):
    assert first("Which painters taught in Malm and belong to Stillism?", 2) == ["Ada Lind", "Bo Ek"]
    assert first("Which painting of Bo Ek hangs in Harbour House?") == ["Noon"]


def test_parallel_edges_are_told_apart_by_their_words(first):
    assert first("Which painting was restored by Ada Lind?") == ["Rain"]
    assert set(first("Which paintings were painted by Ada Lind?", 2)) == {"Dawn", "Dusk"}


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which painter taught Bo Ek?", "Ada Lind"),
        ("Which painter has Bo Ek taught?", "Cy Berg"),
        ("Which painter was taught by Bo Ek?", "Cy Berg"),
        ("Bo Ek was taught by which painter?", "Ada Lind"),
        ("Which painter admired Bo Ek?", "Ada Lind"),
        ("Which painter did Bo Ek admire?", "Cy Berg"),
    ],
)
def test_direction_is_read_off_the_order_of_words(first, question, name):
    assert first(question) == [name]


def test_yes_or_no_puts_the_named_nodes_first(anchor, first):
    assert anchor.find(Question(text="Is Dusk by Bo Ek?")).wanted.yes_or_no
    assert set(first("Is Dusk by Bo Ek?", 2)) == {"Dusk", "Bo Ek"}
    assert not anchor.find(Question(text="Could you list the paintings of Bo Ek?")).wanted.yes_or_no
    assert not anchor.find(Question(text="Can you tell me which painter made Dusk?")).wanted.yes_or_no


def test_the_most_is_counted_by_distinct_nodes(first):
    assert first("Which art movement has the most paintings by its painters that hang in Harbour House?") == [
        "Stillism"
    ]
    assert first("Which painter painted the most paintings?") == ["Ada Lind"]


@pytest.mark.parametrize(
    ("label", "phrases"),
    [
        ("gene/protein", [("gene",), ("protein",)]),
        ("SideEffect", [("side", "effect")]),
        ("side_effect", [("side", "effect")]),
        ("HTTPServer", [("http", "server")]),
        ("HAS_PART", [("has", "part")]),
        ("drug|compound", [("drug",), ("compound",)]),
        ("Side Effect", [("side", "effect")]),
        ("co-author", [("co", "author")]),
    ],
)
def test_labels_are_cut_into_words(anchor, label, phrases):
    assert split_label(label, anchor._graph.arrays.tokenizer) == phrases


def test_words_are_alike_by_their_beginning():
    assert stem_likeness("paint", "paint") == 1
    assert stem_likeness("anatom", "anatomi") == 0.7
    assert stem_likeness("local", "locat") == 0.6
    assert stem_likeness("gene", "general") == 0.7
    assert stem_likeness("gen", "gene") == stem_likeness("depend", "depth") == stem_likeness("cat", "category") == 0
    assert abbreviates_type("adj", "adject")
    assert not abbreviates_type("ad", "adject")
    assert not abbreviates_type("verbs", "verbal")


def test_finding_needs_no_run(anchor):
    assert anchor.find(Question(text="Who painted Dusk?")).scores.rows.size


def test_asking_whether_there_is_a_link_wants_yes_or_no(anchor, first):
    question = "Is there any link between Dusk and Stillism?"
    assert anchor.find(Question(text=question)).wanted.yes_or_no
    assert set(first(question, 2)) == {"Dusk", "Stillism"}
    assert not anchor.find(Question(text="Is there a painting by Bo Ek?")).wanted.yes_or_no


def test_asking_for_nothing_but_a_name_puts_its_node_first(first):
    for question in ("What is Stillism?", "Stillism", "Tell me about Stillism."):
        assert first(question) == ["Stillism"]


def test_mistyped_words_of_the_schema_are_put_right(first):
    assert first("Which paitning was restroed by Ada Lind?") == ["Rain"]


def test_people_are_persons(build):
    nodes = [Node("b", "firm", "Brick Co"), Node("s", "firm", "Stone Co"), Node("p", "person", "Una Fox")]
    method = Anchor(build(nodes, [Edge("p", "works_at", "b"), Edge("b", "supplies", "s")]))
    found = method.find(Question(text="Which people are at Brick Co?"))
    assert method._graph.arrays.ids[found.scores.rows[0]] == "p"
