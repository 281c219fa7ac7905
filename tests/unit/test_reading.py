"""The exact reading: quantities, comparisons, who does it to whom, lines that cannot be read, and its bounds."""

import re

import numpy as np
import pytest

from orienteer import Graph, Retriever
from orienteer.errors import BadOption
from orienteer.reading import (
    QueryExecutor,
    RulesReader,
    WrittenWord,
    converted_quantity,
    parse_reading_line,
    quantity_at,
)
from orienteer.records import Edge, Node, Reading, Refusal


def meeting(graph, read):
    """Return the names of the nodes that meet what was read."""
    assert isinstance(read, Reading), read
    rows = QueryExecutor(graph).run(parse_reading_line(read.text, graph)).rows
    return [graph.arrays.names[row] for row in rows.tolist()]


SHIPS = {
    "Gull": {"length_m": 40, "launched": "1999-03-05", "price": 20_000},
    "Tern": {"length_m": 55, "launched": "2001-07-30", "price": 1_500_000},
    "Skua": {"length_m": 120, "launched": "2001-12-31", "price": 900},
    "Auk": {"length_m": 60},
}
TAUGHT = [("ada", "bo"), ("bo", "cy"), ("ada", "dee")]
"""Teacher and pupil."""
SUPERVISED = [("bo", "ada"), ("cy", "ada"), ("dee", "bo")]
"""Who is supervised, and by whom."""
PARENTS = [("kite", "toy"), ("ball", "toy"), ("toy", "thingamy")]
"""A word, and its parent."""


@pytest.fixture(scope="module")
def harbour(build):
    people = {"ada": "Ada Holm", "bo": "Bo Lindqvist", "cy": "Cyrus Vane", "dee": "Dee Marsh"}
    nodes = [Node(name.lower(), "ship", name, properties=facts) for name, facts in SHIPS.items()]
    nodes += [Node(id, "person", name) for id, name in people.items()]
    nodes += [Node(word, "word", word) for word in ("kite", "ball", "toy", "thingamy")]
    nodes += [Node("n", "harbour", "Norhaven"), Node("s", "harbour", "Sudport")]
    edges = [Edge(teacher, "teaches", pupil) for teacher, pupil in TAUGHT]
    edges += [Edge(person, "supervised_by", chief) for person, chief in SUPERVISED]
    edges += [Edge(word, "parent", other) for word, other in PARENTS]
    edges += [Edge("gull", "moored_at", "n"), Edge("tern", "moored_at", "n"), Edge("skua", "moored_at", "s")]
    return build(nodes, edges)


@pytest.fixture(scope="module")
def reader(harbour):
    return RulesReader(harbour)


@pytest.fixture(scope="module")
def names_of(harbour, reader):
    """Give a function from a question to the names of the nodes that meet it."""

    def names(question):
        return set(meeting(harbour, reader.read(question)))

    return names


# --------------------------------------------------------------------------------------------------------- quantities


def amount(text):
    """Return the quantity with which a text begins."""
    words = [WrittenWord(word[0], word.start(), word.end()) for word in re.finditer(r"\d+(?:[.,]\d+)*\w*|[a-z]+", text)]
    return quantity_at(text, words, 0)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("12", 12, None),
        ("1,200 towers", 1_200, None),
        ("3.5 km", 3.5, "km"),
        ("twelve", 12, None),
        ("100mb", 100, "mb"),
        ("20k", 20_000, None),
        ("3 million euro", 3_000_000, "euro"),
        ("$2m", 2_000_000, "usd"),
        ("7%", 7, "percent"),
        ("90 km/h", 90, "kmh"),
        ("3 square metres", 3, "sqm"),
        ("5 years", 5, "years"),
    ],
)
def test_a_number_has_its_unit_and_its_scale(text, value, unit):
    assert (amount(text).value, amount(text).unit) == (value, unit)


def test_a_sign_belongs_to_its_number_and_not_to_a_range():
    words = [WrittenWord("4", 1, 2)]
    assert quantity_at("-4", words, 0).value == -4
    assert quantity_at("3-4", [WrittenWord("3", 0, 1), WrittenWord("4", 2, 3)], 1).value == 4


def test_a_whole_number_of_four_digits_may_be_a_year():
    assert amount("1999").is_year
    assert not amount("1999 m").is_year
    assert not amount("199").is_year


@pytest.mark.parametrize(
    ("text", "first", "behind"),
    [
        ("2001-03-05", 2001 + (31 + 28 + 4) / 365, 2001 + (31 + 28 + 5) / 365),
        ("5 march 2001", 2001 + (31 + 28 + 4) / 365, 2001 + (31 + 28 + 5) / 365),
        ("march 5th 2004", 2004 + (31 + 29 + 4) / 366, 2004 + (31 + 29 + 5) / 366),
        ("march 2001", 2001 + (31 + 28) / 365, 2001 + (31 + 28 + 31) / 365),
        ("december 2001", 2001 + 334 / 365, 2002.0),
        ("1990s", 1990.0, 2000.0),
    ],
)
def test_a_date_is_a_span_of_time(text, first, behind):
    assert amount(text).span == pytest.approx((first, behind), abs=1e-9)


@pytest.mark.parametrize("text", ["31 february 2001", "2001-13-01", "some", "3rdx"])
def test_what_is_no_date_and_no_number_is_none(text):
    read = amount(text)
    assert read is None or read.span is None


def test_units_are_converted_where_they_measure_the_same():
    assert converted_quantity(1.2, "km", "m") == pytest.approx(1_200)
    assert converted_quantity(2, "feet", "cm") == pytest.approx(60.96)
    assert converted_quantity(3, "kib", "b") == pytest.approx(3_072)
    assert converted_quantity(3, None, "m") == 3
    assert converted_quantity(3, "km", "kg") is None
    assert converted_quantity(3, "km", None) is None


# -------------------------------------------------------------------------------------------------------- comparisons


@pytest.fixture(scope="module")
def cellar(build):
    """Beers with a style, a day and a brewery, and breweries with a town, of which some have none."""
    facts = {
        "Duvel": {"style": "Ale", "launched": "2024-01-01", "town": "Lier"},
        "Orval": {"style": "ale", "launched": "2024-06-05", "town": "Gent"},
        "Kriek": {"style": "Lambic", "launched": "2025-01-01"},
        "Lost": {"town": "Lier"},
    }
    nodes = [Node(name, "beer", name, properties=own) for name, own in facts.items()]
    nodes += [Node("m", "brewery", "Moor", properties={"town": "lier"}), Node("b", "brewery", "Bare")]
    days = (("Duvel", "m", "2024-05-05"), ("Orval", "m", "2023-01-01"), ("Kriek", "m", "2024-01-01"), ("Lost", "b", ""))
    return build(nodes, [Edge(one, "by", other, properties={"since": day} if day else {}) for one, other, day in days])


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('style = style of beer "Duvel"', {"Duvel", "Orval"}),
        ('style != style of beer "Duvel"', {"Kriek"}),
        ('not style = style of beer "Duvel"', {"Kriek"}),
        ('style = style of beer "Lost"', set()),
        ("town = town at -by-> brewery", {"Duvel"}),
        ("town != town at -by-> brewery", {"Orval"}),
        ("not town = town at -by-> brewery", {"Orval"}),
        ("launched = 2024", {"Duvel", "Orval"}),
        ("launched != 2024", {"Kriek"}),
        ("not launched = 2024", {"Kriek"}),
        ("launched > 2024", {"Kriek"}),
        ("launched <= 2024", {"Duvel", "Orval"}),
        ("launched >= 2025", {"Kriek"}),
        ("launched < 2024", set()),
        ("launched = 2024-06", {"Orval"}),
        ("launched != 2024-06", {"Duvel", "Kriek"}),
        ("launched > 2024-05", {"Orval", "Kriek"}),
        ("launched = 2024-12", set()),
        ("launched = 2024-01-01", {"Duvel"}),
        ("launched != 2024-01-01", {"Orval", "Kriek"}),
        ("launched > 2024-01-01", {"Orval", "Kriek"}),
        ("launched <= 2024-01-01", {"Duvel"}),
        ("-by [since = 2024]-> brewery", {"Duvel", "Kriek"}),
        ("-by [since = 2024-01-01]-> brewery", {"Kriek"}),
        ("-by [since > 2023]-> brewery", {"Duvel", "Kriek"}),
    ],
)
def test_texts_that_are_told_and_years_of_days_compare_and_are_written_as_they_are_read(cellar, line, names):
    query = parse_reading_line(f"beer that {line}", cellar)
    rows = QueryExecutor(cellar).run(query).rows.tolist()
    assert {cellar.arrays.names[row] for row in rows} == names
    written = Retriever(cellar, "anchor").ask("x", reading=f"beer that {line}").reading.text
    assert parse_reading_line(written, cellar) == query


@pytest.mark.parametrize(
    "line", ['style < style of "Duvel"', "town >= town at -by-> brewery", "-by [since != 2024]-> brewery"]
)
def test_what_texts_and_days_of_edges_do_not_say_is_refused(cellar, line):
    with pytest.raises(BadOption, match="cannot be read at"):
        parse_reading_line(f"beer that {line}", cellar)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("ships longer than 0.05 km", {"Tern", "Skua", "Auk"}),
        ("ships with a length over 55 m", {"Skua", "Auk"}),
        ("ships with a length of at least 55 m", {"Tern", "Skua", "Auk"}),
        ("ships with a length between 40 and 60 m", {"Gull", "Tern", "Auk"}),
        ("ships with a length of 40-55 m", {"Gull", "Tern"}),
        ("ships launched before 2001", {"Gull"}),
        ("ships launched in 2001", {"Tern", "Skua"}),
        ("ships launched after July 2001", {"Skua"}),
        ("ships launched since 30 July 2001", {"Tern", "Skua"}),
        ("ships launched on 1999-03-05", {"Gull"}),
        ("ships launched in the 1990s", {"Gull"}),
        ("ships launched on or after 30 July 2001", {"Tern", "Skua"}),
        ("ships launched after 1998 but before 2001", {"Gull"}),
        ("ships launched in the 21st century", {"Tern", "Skua"}),
        ("ships 60 m long or more", {"Skua", "Auk"}),
        ("ships less than or equal to 55 m in length", {"Gull", "Tern"}),
        ("ships with a price that is not more than 20k", {"Gull", "Skua"}),
        ("ships with a minimum length of 60 m", {"Skua", "Auk"}),
        ("ships with a price over 1 million", {"Tern"}),
        ("ships with a price under 20k", {"Skua"}),
        ("ships without a price", {"Auk"}),
        ("longest ship", {"Skua"}),
        ("two shortest ships", {"Gull", "Tern"}),
        ("Which is longer, Gull or Tern?", {"Tern"}),
        ("top 2 ships by length", {"Skua", "Auk"}),
    ],
)
def test_comparisons_are_with_the_number_or_the_date_that_is_meant(names_of, question, names):
    assert names_of(question) == names


def test_a_unit_that_measures_something_else_is_refused(reader):
    read = reader.read("ships with a length over 5 kg")
    assert isinstance(read, Refusal)
    assert read.text == "length_m is not told in kg"


# ------------------------------------------------------------------------------------------------ who does it to whom


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who teaches Bo Lindqvist?", {"Ada Holm"}),
        ("Who is taught by Ada Holm?", {"Bo Lindqvist", "Dee Marsh"}),
        ("Whom does Ada Holm teach?", {"Bo Lindqvist", "Dee Marsh"}),
        ("teachers of Cyrus Vane", {"Bo Lindqvist"}),
        ("Who supervises Cyrus Vane?", {"Ada Holm"}),
        ("Who is supervised by Ada Holm?", {"Bo Lindqvist", "Cyrus Vane"}),
        ("supervisors of Dee Marsh", {"Bo Lindqvist"}),
        ("Dee Marsh's supervisor", {"Bo Lindqvist"}),
        ("parents of kite", {"toy"}),
        ("toy's parent", {"thingamy"}),
        ("Who is supervised by the teacher of Bo Lindqvist?", {"Bo Lindqvist", "Cyrus Vane"}),
        ("people who are supervised by Ada Holm but not taught by Ada Holm", {"Cyrus Vane"}),
        ("By whom is Cyrus Vane taught?", {"Bo Lindqvist"}),
        ("Whose supervisor is Ada Holm?", {"Bo Lindqvist", "Cyrus Vane"}),
        ("ships moored at Norhaven", {"Gull", "Tern"}),
        ("Norhaven ships", {"Gull", "Tern"}),
    ],
)
def test_a_relation_leads_the_way_that_is_said(names_of, question, names):
    assert names_of(question) == names


def test_a_pronoun_stands_for_what_the_sentence_before_spoke_of(reader, harbour):
    read = reader.read("Some ships are moored at Norhaven. How many of them are longer than 50 m?")
    assert isinstance(read, Reading)
    assert QueryExecutor(harbour).run(parse_reading_line(read.text, harbour)).value == sum(
        SHIPS[name]["length_m"] > 50 for name in ("Gull", "Tern")
    )


# ---------------------------------------------------------------------------------------------------------- the line


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ('ship that length_m = "5', "the reading cannot be read at"),
        ("ship that length_m 5", "write one of = != < <= > >="),
        ('ship that length_m < "long"', "texts are compared by = and != alone"),
        ("ship that length_m = long", "a text stands in quotation marks"),
        ("ship that is Gull", "a name in quotation marks stands behind `is`"),
        ("ship that (length_m > 5", "write `or`, or close the bracket"),
        ("ship that -moored_at-> (harbour", "close the bracket"),
        ("ship that number of moored_at harbour > 1", "an edge stands here"),
        ("average ship", "a property stands here"),
        ("average length_m ship", "write `of` and the nodes"),
        ("most by length_m ship", "write `of` and the nodes"),
        ("most 0 by length_m of ship", "write `most by FIELD of`"),
        ('whether length_m of "Gull" is not "Tern"', "write `is more than of`"),
        ('ship that -moored_at-> "Ada Holm"', "no edge -moored_at-> joins"),
        ('"Gull" that <-moored_at- ship', "no edge <-moored_at- joins"),
        ("harbour that length_m > 5", "no harbour has a length_m"),
        ("harbour that not has length_m", "no harbour has a length_m"),
        ('"Norhaven" that length_m > 5', "no harbour has a length_m"),
        ('harbour "Gull"', "is no node of that kind"),
        ("ship that " + "(" * 60, "too deep"),
        ("ship that " + "not " * 600 + "has price", "too deep"),
        ("ship " * 1_000, "too long"),
    ],
)
def test_a_line_that_cannot_be_read_says_where_and_what_may_stand_there(harbour, line, remedy):
    with pytest.raises(BadOption, match=re.escape(remedy)):
        parse_reading_line(line, harbour)


def test_a_line_is_executed_as_it_says(harbour):
    def rows(line):
        return {
            harbour.arrays.names[row]
            for row in QueryExecutor(harbour).run(parse_reading_line(line, harbour)).rows.tolist()
        }

    assert rows('ship that (length_m > 100 or -moored_at-> "Norhaven" and not length_m < 50)') == {"Skua", "Tern"}
    assert rows("most 2 by length_m of ship") == {"Skua", "Auk"}
    assert rows("harbour that number of <-moored_at- ship >= 2") == {"Norhaven"}
    average = QueryExecutor(harbour).run(parse_reading_line("average price of ship", harbour))
    assert average.value == pytest.approx(np.mean([20_000, 1_500_000, 900]))
    assert average.missing == 1


# ---------------------------------------------------------------------------------------------------------- wordings


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which ships are moored neither at Norhaven nor at Sudport?", {"Auk"}),
        ("ships that are 55 m long or more", {"Tern", "Skua", "Auk"}),
        ("ships under 60 m in length", {"Gull", "Tern"}),
        ("ships from before 2000", {"Gull"}),
        ("Which ship was launched first?", {"Gull"}),
        ("most recently launched ship", {"Skua"}),
        ("Who supervises Bo Lindqvist but did not teach him?", set()),
        ("Who taught Bo Lindqvist and supervises him?", {"Ada Holm"}),
        ("ships moored at Norhaven, excluding the Gull", {"Tern"}),
        ("teachers of people supervised by Ada Holm", {"Ada Holm", "Bo Lindqvist"}),
        ("At Norhaven, which ships are longer than 50 m?", {"Tern"}),
    ],
)
def test_one_meaning_has_many_wordings(names_of, question, names):
    assert names_of(question) == names


def test_who_asks_for_people_before_what_else_may_have_done_it(build):
    nodes = [Node("p", "person", "Ada Holm"), Node("f", "firm", "Holmworks"), Node("t", "engine", "Puffer")]
    graph = build(nodes, [Edge("t", "designed_by", "p"), Edge("t", "developed_at", "f"), Edge("f", "owns", "t")])
    reader = RulesReader(graph)
    for question, name in (("Who developed Puffer?", "Ada Holm"), ("Who owns Puffer?", "Holmworks")):
        assert meeting(graph, reader.read(question)) == [name], question


# ------------------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    "question",
    [
        "ship " * 300,
        "a" * 4_000,
        "Which ships are moored at " + ", ".join(["Norhaven"] * 70),
        "Which ships are moored at " + "the harbour of the ship of " * 60 + "Norhaven",
        "Gull's " * 200,
    ],
    ids=["words", "characters", "commas", "nested", "possessives"],
)
def test_an_overlong_question_is_refused_as_such(reader, question):
    read = reader.read(question)
    assert isinstance(read, Refusal)
    assert read.text == "too long to be read exactly: 60 words are read"


@pytest.mark.slow
@pytest.mark.parametrize(
    "phrase",
    [
        "ship",
        "Gull",
        "longest",
        "Gull's",
        "the ship of",
        "ships moored at",
        "who",
        "not",
        "and",
        "1",
        ",",
        "Gull or",
        "Gull,",
    ],
)
def test_no_question_of_sixty_words_raises(reader, phrase):
    words = len(phrase.split()) + phrase.count("'")
    assert reader.read(f"{phrase} " * (60 // words)) is not None


@pytest.fixture(scope="module")
def clinic(build):
    nodes = [Node(name, "drug", name, properties={"drugbank_type": "small molecule"}) for name in ("Ameline", "Borin")]
    nodes += [Node("m", "disease", "migraine"), Node("es", "disease", "epilepsy syndrome")]
    nodes += [Node("E", "side effect", "Epilepsy"), Node("p", "person", "Pim Oort"), Node("u", "university", "Leiden")]
    edges = [Edge("Ameline", "treats", "m"), Edge("Borin", "treats", "m"), Edge("Borin", "treats", "es")]
    edges += [Edge("Ameline", "causes", "E"), Edge("p", "studied_at", "u")]
    graph = build(nodes, edges)
    return graph, RulesReader(graph)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("drugs for migraine but not epilepsy", "Ameline"),  # which causes Epilepsy, and does not treat it
        ("drugs that treat migraine but not epilepsy", "Ameline"),
        ("drugs for migraine and not for epilepsy", "Ameline"),
        ("Which drugs are for epilepsy?", "Borin"),
    ],
)
def test_a_thing_that_only_another_edge_leads_to_is_not_what_is_said(clinic, question, name):
    graph, reader = clinic
    read = reader.read(question)
    assert isinstance(read, Refusal) or meeting(graph, read) == [name]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("drugs that treat migraine", {"Ameline", "Borin"}),  # no `drugbank_type` of them
        ("Who went to Leiden?", {"Pim Oort"}),  # who goes is no agent, as a student is
    ],
)
def test_a_word_is_what_it_is_and_no_word_that_begins_or_ends_alike(clinic, question, names):
    graph, reader = clinic
    assert set(meeting(graph, reader.read(question))) == names


@pytest.mark.parametrize(
    "question", ["harbours without a lighthouse or a buoy", "harbours that have neither a lighthouse nor a buoy"]
)
def test_what_is_without_this_or_that_is_without_both(build, question):
    nodes = [Node(name, "harbour", name) for name in ("Norhaven", "Sudport", "Ostby")]
    nodes += [Node("l", "lighthouse", "Old Light"), Node("b", "buoy", "Red Bell")]
    graph = build(nodes, [Edge("l", "guards", "Norhaven"), Edge("b", "moored_off", "Sudport")])
    assert meeting(graph, RulesReader(graph).read(question)) == ["Ostby"]


# --------------------------------------------------------------------------------------------------------------- ids


@pytest.fixture(scope="module")
def desk(build):
    nodes = [Node(f"ticket:{number}", "ticket", f"printer {number} is down") for number in (41, 42)]
    nodes += [Node("ticket:A-7", "ticket", "no light"), Node("person:42", "person", "Ann Lee")]
    nodes += [Node("o", "order", "paper", properties={"id": 1007}), Node("p", "order", "ink", properties={"id": 1008})]
    edges = [Edge("person:42", "opened", "ticket:42"), Edge("person:42", "placed", "o")]
    return build(nodes, [*edges, Edge("person:42", "opened", "ticket:A-7")])


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("ticket #42", {"printer 42 is down"}),
        ("ticket 41", {"printer 41 is down"}),
        ("Who opened ticket 42?", {"Ann Lee"}),
        ("Who opened ticket #A-7?", {"Ann Lee"}),
        ("Who placed order no. 1007?", {"Ann Lee"}),
        ("Who placed the order number 1008?", set()),
    ],
)
def test_a_kind_with_an_id_is_a_name(desk, question, names):
    assert set(meeting(desk, RulesReader(desk).read(question))) == names


def test_an_id_that_no_node_has_is_named(desk):
    for question, words in (("Who opened ticket #99?", "ticket #99"), ("who placed order 42", "order 42")):
        refusal = RulesReader(desk).read(question)
        assert isinstance(refusal, Refusal)
        assert (refusal.kind, refusal.words) == ("unknown_name", (words,))


# ------------------------------------------------------------------------------------------------------------- places


@pytest.fixture(scope="module")
def country(build):
    wholes = {"Kellmouth": "Kell Valley", "Kell Valley": "Northshire", "Northshire": "Varland", "Southmark": "Varland"}
    nodes = [Node(name, "region", name) for name in (*wholes, "Varland")]
    nodes += [
        Node("dock", "stadium", "Dock Road", "A ground beside the river."),
        Node("arena", "stadium", "Marsh Arena"),
    ]
    nodes += [Node("bob", "person", "Bob Ray"), Node("ann", "poet", "Ann Lee", properties={"birth_place": "Osterby"})]
    edges = [Edge(part, "part_of", whole) for part, whole in wholes.items()]
    edges += [Edge("dock", "place", "Kellmouth"), Edge("arena", "place", "Southmark")]
    edges += [Edge("bob", "birthplace", "Kellmouth"), Edge("bob", "residence", "Southmark")]
    return build(nodes, edges)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where is Dock Road?", {"Kellmouth"}),
        ("Where is Kellmouth?", {"Kell Valley"}),  # and not what is in it
        ("Which region is Kellmouth in?", {"Kell Valley"}),
        ("In which region is Kellmouth?", {"Kell Valley"}),
        ("Where was Bob Ray born?", {"Kellmouth"}),
        ("Where was Ann Lee born?", {"Ann Lee"}),  # by a property
        ("stadiums in Northshire", {"Dock Road"}),
        ("stadiums directly in Northshire", set()),
        ("stadiums outside Northshire", {"Marsh Arena"}),
        ("regions in Northshire", {"Kell Valley", "Kellmouth"}),
        ("Is Kellmouth in Northshire?", {"Kellmouth"}),
        ("Who was born in the Kell Valley?", {"Bob Ray"}),
        ("everything in Northshire", {"Kell Valley", "Kellmouth", "Dock Road"}),
        ("What is Kellmouth linked to?", {"Kell Valley", "Dock Road", "Bob Ray"}),
        ("the most connected region", {"Kellmouth", "Southmark"}),
        ("Through what are Dock Road and Bob Ray connected?", {"Kellmouth"}),
    ],
)
def test_a_place_is_in_what_it_is_part_of(country, question, names):
    assert set(meeting(country, RulesReader(country).read(question))) == names


def test_places_that_are_part_of_a_place_are_noted(country):
    read = RulesReader(country).read("stadiums in Northshire")
    assert isinstance(read, Reading)
    assert read.notes == ("in Northshire: Northshire and what is part of it",)
    plain = RulesReader(country).read("stadiums in Kellmouth")
    assert isinstance(plain, Reading)
    assert (plain.text, plain.notes) == ('stadium that -place-> "Kellmouth"', ())


@pytest.mark.parametrize("question", ["Who was born in Kellmouth, directly or indirectly?", "people at any level"])
def test_any_depth_of_nothing_is_refused(country, question):
    assert isinstance(RulesReader(country).read(question), Refusal)


def test_a_district_of_a_district_is_in_the_city_of_that(build):
    nodes = [Node("holt", "city", "Holt"), Node("wick", "city", "Wick")]
    nodes += [Node(name.lower(), "district", name) for name in ("Oldtown", "Innerfield", "Newby")]
    edges = [
        Edge("oldtown", "city", "holt"),
        Edge("innerfield", "parent_district", "oldtown"),
        Edge("newby", "city", "wick"),
    ]
    graph = build(nodes, edges)
    for question, names in (
        ("districts in Holt", {"Oldtown", "Innerfield"}),
        ("districts directly in Holt", {"Oldtown"}),
        ("Is Innerfield in Holt?", {"Innerfield"}),
        ("Is Newby in Holt?", set()),
        ("districts that are not in Holt", {"Newby"}),
        ("everything in Holt", {"Oldtown", "Innerfield"}),
        ("Where is Oldtown?", {"Holt"}),
        ("Where is Innerfield?", {"Oldtown"}),
    ):
        assert set(meeting(graph, RulesReader(graph).read(question))) == names, question


def test_a_sign_for_percent_is_a_share_or_refused(reader):
    share = reader.read("What % of the ships are longer than 50 m?")
    assert isinstance(share, Reading)
    assert share.text.startswith("share of ship meets ")
    assert isinstance(reader.read("ships % longer than 50 m"), Refusal)


def test_the_highest_of_a_property_is_its_value(reader):
    highest = reader.read("highest price of the ships")
    assert isinstance(highest, Reading)
    assert highest.text == "price of most by price of ship"


@pytest.fixture(scope="module")
def quay(build):
    """Give four ships, one without a length, three of which lie in harbours, one in one of its own."""
    lengths = {"Gull": 10, "Tern": 20, "Skua": None, "Auk": 20}
    facts = {name: {} if length is None else {"length": length} for name, length in lengths.items()}
    nodes = [Node(name, "ship", name, properties=properties) for name, properties in facts.items()]
    nodes += [Node("h", "harbour", "Holm"), Node("s", "harbour", "Salt")]
    ends = {"Gull": "h", "Tern": "h", "Auk": "s"}
    return build(nodes, [Edge(ship, "lies_in", harbour) for ship, harbour in ends.items()])


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the average length of ships?", "1 node has no value there and counts for nothing"),
        ("Which ship is longest?", "1 node has no value there and counts for nothing"),
        ("What share of ships are longer than 15?", "1 node has no value there, and is counted as not meeting it"),
        ("How many ships are there by harbour?", "1 node is in no group"),
        ("What is the average length of ships per harbour?", "1 node is in no group, or has no value there"),
        ("What is the average length of ships in Salt?", "over 1 node"),
        ("What share of ships in Salt are longer than 15?", "(1 node)"),
        ("How many ships are in Salt?", "1 node meets it"),
    ],
)
def test_what_is_told_of_one_node_is_told_of_one(quay, question, told):
    result = Retriever(quay, "anchor").ask(question)
    said = [result.long_answer or "", *result.notes]
    assert any(told in text for text in said)
    assert not any(re.search(r"\b1 (nodes|node (have|are|count|meet)\b)", text) for text in said)


@pytest.fixture(scope="module")
def shipyard(build):
    """Give twenty ships with days, one with a day in words, one with a day in another order, one without any."""
    days = [*(f"{1980 + 2 * at}-0{1 + at % 9}-01" for at in range(20)), "May 1990", "3/4/1998", None]
    facts = [{} if day is None else {"launched": day} for day in days]
    nodes = [Node(f"s{at}", "ship", f"Gull {chr(65 + at)}", properties=fact) for at, fact in enumerate(facts)]
    return build([*nodes, Node("s99", "ship", "Old Tern", properties={"launched": "1901-01-01", "tons": 3})], [])


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("How many ships were launched after 2000?", 9),
        ("How many ships were not launched after 2000?", 12),
        ("How many ships were launched before 2000?", 11),
        ("How many ships were not launched before 2000?", 10),
        ("How many ships were launched in 1980?", 1),
        ("How many ships were not launched in 1980?", 20),
        ("How many ships were launched between 1980 and 1985?", 3),
    ],
)
def test_what_cannot_be_compared_is_neither_before_nor_after_and_is_told(shipyard, question, number):
    result = Retriever(shipyard, "anchor").ask(question)
    assert result.answer == str(number)
    assert "2 nodes have a launched that is neither a number nor a date: it cannot be compared" in result.notes


def test_of_what_is_met_otherwise_only_what_cannot_be_compared_is_told(shipyard):
    ask = Retriever(shipyard, "anchor").ask
    assert not any("compared" in note for note in ask("How many ships are there?").notes)
    assert not any("compared" in note for note in ask("How many ships have more than 2 tons?").notes)


FEES = (("Ada", "Chess", 15), ("Ada", "Choir", None), ("Ben", "Judo", 25), ("Dev", "Judo", 30), ("Dev", "Chess", 5))


@pytest.mark.parametrize("total", ["sum", "average", "median"])
@pytest.mark.parametrize("group", ["itself", "-signups-> club", "class"])
def test_what_edges_have_is_told_for_each_group_as_pandas_has_it(total, group):
    pandas = pytest.importorskip("pandas")
    classes = {"Ada": "5A", "Ben": "5A", "Dev": "7B"}
    nodes = [Node(name, "pupil", name, properties={"class": own}) for name, own in classes.items()]
    nodes += [Node(name, "club", name) for name in ("Chess", "Choir", "Judo")]
    edges = [Edge(*(who, "signups", club), properties={"fee": fee} if fee else {}) for who, club, fee in FEES]
    school = Retriever(Graph.from_records(nodes, edges), "anchor")
    frame = pandas.DataFrame(FEES, columns=["itself", "-signups-> club", "fee"]).dropna()
    frame["class"] = frame["itself"].map(classes)
    truth = getattr(frame.groupby(group)["fee"], {"average": "mean"}.get(total, total))()
    result = school.ask("x", reading=f"{total} fee of -signups-> club of pupil per {group}")
    assert dict(result.table.rows) == pytest.approx(truth.to_dict())


HALLS = [("Oak", "Holm", 40, "Ann"), ("Elm", "Holm", 20, "Ben"), ("Ash", "Vik", 90, "Ann"), ("Yew", "Vik", 5, "Ben")]
HALLS += [("Fir", "Holm", 30, "Ben"), ("Bay", "Strand", 60, "Cid")]


@pytest.mark.parametrize(
    ("question", "by", "total", "end"),
    [
        ("Which village has the most halls?", "village", "size", "max"),
        ("What village has the fewest halls?", "village", "size", "min"),
        ("Which village has the highest total rent?", "village", "sum", "max"),
        ("Which village has the lowest average rent?", "village", "mean", "min"),
        ("Which owner has the highest total rent?", "owner", "sum", "max"),
        ("Which owner has the highest average rent of the halls?", "owner", "mean", "max"),
        ("Which owner has the lowest average rent?", "owner", "mean", "min"),
    ],
)
def test_the_group_with_the_most_is_told_as_pandas_has_it(question, by, total, end):
    pandas = pytest.importorskip("pandas")
    nodes = [
        Node(name, "hall", name, properties={"village": village, "rent": rent}) for name, village, rent, _ in HALLS
    ]
    nodes += [Node(name, "owner", name) for name in ("Ann", "Ben", "Cid", "Dee")]
    halls = Retriever(Graph.from_records(nodes, [Edge(name, "owner", own) for name, _, _, own in HALLS]), "anchor")
    frame = pandas.DataFrame(HALLS, columns=["name", "village", "rent", "owner"])
    numbers = getattr(frame.groupby(by)["rent"], total)()
    wanted = numbers[numbers == getattr(numbers, end)()].to_dict()
    result = halls.ask(question)
    assert dict(result.table.rows) == pytest.approx(wanted)
    assert set(result.answer.split(", ")) == set(wanted)
    members = frame[frame[by].isin(wanted)]["name"]
    assert {hit.name for hit in result.hits if hit.complete} == set(members)
    again = halls.ask("x", reading=result.reading.text)
    assert (again.answer, again.table.rows) == (result.answer, result.table.rows)


def test_who_has_none_may_be_the_least_of_sums_and_is_said():
    nodes = [
        Node("Oak", "hall", "Oak", properties={"rent": 40}),
        Node("Ann", "owner", "Ann"),
        Node("Dee", "owner", "Dee"),
    ]
    halls = Retriever(Graph.from_records(nodes, [Edge("Oak", "owner", "Ann")]), "anchor")
    assert halls.ask("Which owner has the lowest total rent?").answer is None
    told = halls.ask("x", reading="least by sum rent of hall per -owner-> owner")
    assert "1 owner has none: Dee" in told.notes
    for line in ("most by count hall", "most 0 by count hall per rent", "most by count hall per"):
        with pytest.raises(BadOption, match="per"):
            halls.ask("x", reading=line)


ORDERS = [("a", "2024-02-29", 5), ("b", "2024-02-01T10:00:00Z", 7), ("c", "2024-12-31", 1), ("d", "2025-01-01", 2)]
ORDERS += [("e", "2025-01-31", 9), ("f", "2025-02-01", 4)]


@pytest.mark.parametrize(("period", "length"), [("year", 4), ("month", 7), ("day", 10)])
@pytest.mark.parametrize(("asked", "total"), [("number of orders", "size"), ("total price of the orders", "sum")])
def test_a_period_groups_what_has_dates_as_pandas_has_it(period, length, asked, total):
    pandas = pytest.importorskip("pandas")
    nodes = [Node(name, "order", name, properties={"placed": placed, "price": price}) for name, placed, price in ORDERS]
    nodes.append(Node("g", "order", "g", properties={"placed": "not known", "price": 100}))
    orders = Retriever(Graph.from_records(nodes, []), "anchor")
    frame = pandas.DataFrame(ORDERS, columns=["name", "placed", "price"])
    frame["period"] = frame["placed"].str[:length]
    truth = getattr(frame.groupby("period")["price"], total)()
    result = orders.ask(f"{asked} per {period}")
    assert result.table.rows == tuple((name, pytest.approx(number)) for name, number in truth.items())
    assert any("1 node is in no group" in note for note in result.notes)
    for (name, _), line in zip(result.table.rows, result.table.readings, strict=True):
        members = {hit.id for hit in orders.ask("x", reading=line).hits if hit.complete}
        assert members == set(frame[frame["period"] == name]["name"])
    most = orders.ask(f"Which {period} had the {'most orders' if total == 'size' else 'highest total price'}?")
    assert dict(most.table.rows) == truth[truth == truth.max()].to_dict()
    assert orders.ask("x", reading=most.reading.text).table.rows == most.table.rows


def test_people_are_not_grouped_by_the_only_date_that_they_have():
    people = [Node(name, "person", name, properties={"born": "1990-02-01"}) for name in ("Ann Oak", "Ben Elm")]
    assert Retriever(Graph.from_records(people, []), "anchor").ask("How many people per year?").answer is None


def shops(**columns):
    """Return a retriever over shops with these properties, a value for each."""
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    nodes = [Node(f"s{at}", "shop", f"Shop {at}", properties=own) for at, own in enumerate(rows)]
    return Retriever(Graph.from_records(nodes, []), "anchor")


def test_the_biggest_and_the_latest_of_a_group_are_no_numbers_of_it():
    cities = ["Utrecht", "Porto", "Galway", "Utrecht", "Bonn"]
    sized = shops(city=cities, size=[1, 2, 3, -9, 5], opened_on=[f"201{at}-01-01" for at in range(5)])
    for end, city in (("biggest", "Bonn"), ("smallest", "Utrecht"), ("latest", "Bonn"), ("earliest", "Utrecht")):
        assert sized.ask(f"Which city has the {end} shop?").answer in (None, city), end
    assert sized.ask("Which city has the most shops?").answer == "Utrecht"
    assert shops(city=cities).ask("Which city has the biggest shop?").answer is None


def test_a_property_called_as_a_period_is_itself():
    people = shops(**{"year of birth": [1980, 1980, 1981], "birth": ["1990-01-01", "1991-02-01", "1992-03-01"]})
    asked = people.ask("shops per year of birth")
    assert {str(year): number for year, number in asked.table.rows} == {"1980": 2, "1981": 1}
    for line in ("count shop per year of birth", "count shop per year of `birth`", "count shop per itself"):
        told = people.ask("x", reading=line)
        assert people.ask("x", reading=told.reading.text).table == told.table
    assert dict(people.ask("x", reading="count shop per year of `birth`").table.rows) == dict.fromkeys(
        ("1990", "1991", "1992"), 1
    )


def test_a_period_is_of_dates_of_any_age_and_a_node_counts_once_in_a_group():
    coins = shops(minted_on=["0987-05-01", "0987-05-02", "0988-01-01", "9999-12-31"], worth=[1, 2, 3, 100])
    assert dict(coins.ask("x", reading="count shop per month of minted_on").table.rows) == {"0987-05": 2, "0988-01": 1}
    assert dict(coins.ask("x", reading="count shop per day of minted_on").table.rows)["0988-01-01"] == 1
    numbers = shops(placed=[20210105, 20210121, 20210301])
    assert numbers.ask("x", reading="count shop per month of placed").table is None
    lists = shops(colours=[["red", "blue"], ["red", "red"], ["green"]], size=[10, 20, -5])
    assert dict(lists.ask("x", reading="sum size of shop per colours").table.rows) == {
        "red": 30,
        "blue": 10,
        "green": -5,
    }


def test_of_two_edges_to_one_kind_none_is_taken_for_a_total():
    nodes = [Node("Ann", "person", "Ann"), Node("Bob", "person", "Bob")]
    nodes += [Node(f"h{at}", "hall", f"Hall {at}", properties={"rent": rent}) for at, rent in enumerate((10, 20, 500))]
    edges = [Edge("h0", "owner", "Ann"), Edge("h1", "owner", "Ann"), Edge("h2", "architect", "Bob")]
    halls = Retriever(Graph.from_records(nodes, edges), "anchor")
    assert halls.ask("Which person has the highest total rent?").answer is None
