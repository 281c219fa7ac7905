"""A statement's tree as openCypher for a server: names, parameters, order; no server is asked."""

import json
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from opencypher_kit import SPELLINGS, spelled
from orienteer.connect import NameProperties, ServerFields, ServerNames, TypeLabels, written_for_server
from orienteer.cypher import PropertyCatalog, PropertyColumn, parse_cypher
from orienteer.errors import BadQuery, UnknownProperty, UnknownType
from orienteer.ingest import demo_records
from orienteer.records import Schema, Triple

CYPHER = Path(__file__).parents[1] / "cypher"
TYPES = ("Actor", "Person", "Film", "odd `type")


def names(*, whole="All", numbers=False, id_property="id"):
    """Return the names of a database of films, where actors are persons too."""
    joined = (Triple("Actor", "PLAYS", "Film"), Triple("Person", "PLAYS", "Film"), Triple("Film", "OF", "odd `type"))
    schema = Schema(node_types=dict.fromkeys(TYPES, 10), edges=dict.fromkeys(joined, 5))
    catalog = PropertyCatalog(
        {
            "ye`ar": PropertyColumn(column="ye`ar", kind="integer", types=("Film",)),
            "released": PropertyColumn(column="released", kind="text", types=("Film",)),
        },
        {},
    )
    held = {
        "Film": NameProperties(("title",)),
        "Actor": NameProperties(("name",)),
        "Person": NameProperties((), ("first", "last")),
    }
    labels = TypeLabels(TYPES, {"Person": ("Actor",)})
    return ServerNames(
        schema, catalog, labels, ServerFields(id_property, numbers, held, frozenset({"released"}), whole)
    )


def languages():
    """Return the names of a database that holds the demo graph."""
    nodes, edges = demo_records()
    types = {node.id: node.type for node in nodes}
    joined = Counter(Triple(types[edge.source], edge.type, types[edge.target]) for edge in edges)
    schema = Schema(node_types=Counter(types.values()), edges=joined)
    values = {(key, node.type): value for node in nodes for key, value in node.properties.items()}
    columns = {
        key: PropertyColumn(
            column=key,
            kind="integer" if isinstance(value, int) else "text",
            types=tuple(of for other, of in values if other == key),
        )
        for (key, _), value in values.items()
    }
    catalog = PropertyCatalog(columns, {})
    labels = TypeLabels(tuple(schema.node_types), {})
    return ServerNames(schema, catalog, labels, ServerFields("id", False, {}, frozenset(), None))


def written(text, *, parameters=None, most=11, **options):
    return written_for_server(parse_cypher(text), names(**options), parameters or {}, most=most)


def test_texts_are_parameters_and_names_stand_in_backticks():
    statement = written('MATCH (n:film) WHERE n.`ye``ar` > 5 AND n.name CONTAINS "x\' OR 1" RETURN n.name AS `a``b`')
    assert statement.text == (
        "MATCH (v0:`Film`) WHERE (v0.`ye``ar` > 5) AND (v0.`title` CONTAINS $h0) RETURN v0.`title` AS c0 LIMIT 11"
    )
    assert statement.parameters == {"h0": "x' OR 1"}
    assert statement.columns == ("a`b",)


def test_a_type_is_its_label_without_those_of_other_types():
    assert "WHERE (v0:`Person` AND NOT v0:`Actor`)" in written("MATCH (n:Person) RETURN n").text
    assert "(v0:`Actor`|`Film`)" in written("MATCH (n:Actor|Film) RETURN n").text
    assert "(v0:`odd ``type`)" in written("MATCH (n:`odd ``type`) RETURN n").text


def test_labels_are_read_as_the_type_alone():
    statement = written("MATCH (n) RETURN labels(n), labels(n)[0]")
    assert statement.parameters == {"h0": list(TYPES)}
    assert "head([t IN $h0 WHERE t IN labels(v0)])" in statement.text


@pytest.mark.parametrize(
    ("options", "own"),
    [
        ({}, "v0.`id`"),
        ({"numbers": True, "whole": None}, "toString(v0.`id`)"),
        ({"id_property": "", "whole": None}, "elementId(v0)"),
    ],
)
def test_an_id_is_the_property_that_holds_it_or_the_servers_own(options, own):
    assert f"RETURN {own} AS c0" in written("MATCH (n:Film) RETURN n.id", **options).text


def test_names_are_read_by_type_and_of_parts():
    assert "v0.`title`" in written("MATCH (n:Film) RETURN n.name").text
    text = written("MATCH (n:Person) RETURN n.name").text
    assert "CASE WHEN v0.`first` IS NULL THEN '' ELSE toString(v0.`first`) + ' ' END" in text
    assert text.endswith(", v0.`id`) AS c0 LIMIT 11")


def test_a_time_is_its_text():
    assert "toString(v0.`released`) AS c0" in written("MATCH (n:Film) RETURN n.released").text


def test_nodes_given_by_id_go_by_the_label_of_all_and_are_matched_before_the_rest():
    text = written("MATCH (f:Film)<-[r:PLAYS]-(a:Actor {id: 'x'}) WHERE f.`ye``ar` > 5 RETURN f.id").text
    assert text == (
        "MATCH (v1:`All`) WHERE (v1:`Actor`) AND (v1.`id` = $h0) "
        "MATCH (v1)-[v2:`PLAYS`]->(v0:`Film`) WHERE (v0.`ye``ar` > 5) RETURN v0.`id` AS c0 LIMIT 11"
    )
    text = written("MATCH p = (f:Film)<--(a) WHERE a.id IN ['x'] AND f.id = 'y' RETURN p").text
    assert text.startswith("MATCH (v1:`All`), (v2:`All`) WHERE (v1:`Film`) AND (v1.`id` = $h0) AND (v2.`id` IN [$h1]) ")
    assert " MATCH v0 = (v1)<-[v3]-(v2) RETURN" in text


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (a:Actor)-[:PLAYS]->(f:Film {name: a.name}) RETURN f",
        "MATCH (a:Actor)-[:PLAYS]->(f:Film) WHERE f.name = toLower(a.name) RETURN f",
        "MATCH (a:Actor)-[:PLAYS]->(f:Film) WHERE f.name = 'x' OR a.name = 'y' RETURN f",
        "MATCH (a:Actor)-[:PLAYS]->(f:Film) WHERE NOT f.name = 'x' RETURN f",
        "MATCH (a:Actor) OPTIONAL MATCH (a)-[:PLAYS]->(f:Film {id: 'x'}) RETURN f",
        "MATCH (a:Actor) WHERE EXISTS { (a)-[:PLAYS]->(f:Film {id: 'x'}) } RETURN a",
        "MATCH (f:Film {id: 'x'}) RETURN f",
    ],
)
def test_what_another_node_of_the_pattern_says_is_not_matched_before(query):
    assert written(query).text.count(" MATCH ") == query.count(" MATCH ") + query.count("EXISTS {")


def test_at_most_so_many_rows_are_asked_for_and_can_be_counted():
    statement = written("MATCH (n:Film) RETURN n.id ORDER BY n.id SKIP 2 LIMIT 50", most=11)
    assert statement.text.endswith("ORDER BY c0 SKIP 2 LIMIT 11")
    assert statement.counting.endswith("WITH v0.`id` AS c0 ORDER BY c0 SKIP 2 LIMIT 50 RETURN count(*) AS count")
    assert written("MATCH (n:Film) RETURN n.id LIMIT 3", most=11).text.endswith("LIMIT 3")
    assert written("RETURN 1 AS x UNION RETURN 2 AS x").counting is None


def test_what_is_computed_of_aggregations_is_gathered_before():
    text = written("MATCH (n:Film)<-[:PLAYS]-(a) RETURN n.name AS x, size(n.name) + count(a) AS y ORDER BY y").text
    assert text.endswith(
        "WITH v0.`title` AS v3, count(v1) AS v4 RETURN v3 AS c0, (size(v3) + v4) AS c1 ORDER BY c1 LIMIT 11"
    )
    text = "MATCH (n:Film)<-[:PLAYS]-(a) RETURN n.released AS x, n AS y, 1 + count(a) AS z"
    assert written(text).text == written(re.sub(r"\bn\b", "`part 2'`", text)).text  # the name that the count had
    with pytest.raises(BadQuery, match="mixes count"):
        written("MATCH (n:Film) RETURN n.name IN collect(n.name)")


def test_what_no_node_has_is_refused_as_over_a_store():
    with pytest.raises(UnknownProperty, match="No node has a property 'yaer'"):
        written("MATCH (n:Film) RETURN n.yaer")


@pytest.mark.parametrize("case", [json.loads(line) for line in (CYPHER / "hostile.jsonl").read_text().splitlines()])
def test_nothing_of_a_hostile_statement_stands_outside_quotes(case):
    """Whatever the guard lets through is written of our own words alone, and of names in backticks."""
    try:
        text = written(case["query"], parameters=case.get("parameters")).text
    except (BadQuery, UnknownType, UnknownProperty):
        return
    bare = "".join(text.split("`")[::2]).upper().split()
    assert not {"CREATE", "DELETE", "SET", "MERGE", "CALL", "LOAD", "REMOVE", "FOREACH"}.intersection(bare)


@pytest.mark.parametrize(
    "text",
    [
        "x' DELETE n //",
        "x` DELETE n //",
        "x`}) DELETE (n) //",
        "*/ DELETE n /*",
        "$h0 DELETE n",
        "'+(DELETE)",
    ],
)
def test_texts_and_names_of_a_statement_that_is_answered_stay_in_their_quotes(text):
    name = text.replace("`", "``")
    query = f"MATCH (`{name}`:Film) WHERE `{name}`.name = {json.dumps(text)} RETURN {{`{name}`: 1}} AS `{name}`"
    statement = written(query)
    assert text in statement.parameters.values()
    assert statement.columns == (text,)
    bare = re.sub(r"`(?:[^`]|``)*`", "", statement.text)
    assert set(re.findall("[A-Z]{3,}", bare)) == {"MATCH", "WHERE", "RETURN", "LIMIT"}


@pytest.mark.parametrize("spelling", [name for name, calls in SPELLINGS.items() if calls])
def test_a_statement_is_written_alike_whatever_its_variables_are_called(spelling):
    """The server's text has names of ours alone, `v0` and so on, which people may give to their variables as well."""
    lines = (CYPHER / "constructs.txt").read_text(encoding="utf-8").splitlines()
    texts = [line.removeprefix("ordered: ") for line in lines if line and line[0] != "#"]
    honest = [json.loads(line) for line in (CYPHER / "honest.jsonl").read_text(encoding="utf-8").splitlines()]
    database, same = languages(), 0
    for text, parameters in [
        *((text, {}) for text in texts),
        *((one["query"], one.get("parameters", {})) for one in honest),
    ]:
        renamed = spelled(text, SPELLINGS[spelling])
        if renamed is None:
            continue
        try:
            right = written_for_server(parse_cypher(text), database, parameters, most=11)
        except (BadQuery, UnknownType, UnknownProperty):
            with pytest.raises((BadQuery, UnknownType, UnknownProperty)):
                written_for_server(parse_cypher(renamed[0]), database, parameters, most=11)
            continue
        found = written_for_server(parse_cypher(renamed[0]), database, parameters, most=11)
        assert (found.text, found.counting, found.parameters) == (right.text, right.counting, right.parameters)
        assert tuple(renamed[1].get(name, name) for name in found.columns) == right.columns
        same += 1
    assert same > 150


def test_a_cycle_over_a_long_chain_of_types_is_narrowed_in_bounded_time():
    """From each end of the chain one type falls away a round: 1,000 rounds took 4.5 s, 20 take 0.2."""
    types = [f"T{number:04}" for number in range(2_000)]
    schema = Schema(
        node_types=dict.fromkeys(types, 1),
        edges={Triple(one, "R", other): 1 for one, other in zip(types, types[1:], strict=False)},
    )
    catalog = PropertyCatalog({}, {})
    database = ServerNames(
        schema, catalog, TypeLabels(tuple(types), {}), ServerFields("id", False, {}, frozenset(), None)
    )
    begun = time.process_time()
    for pattern in ("(a)-->(a)", "(a)-->(b)-->(a)", "(a)-[*1..4]->(b)-->(a)"):
        assert "MATCH" in written_for_server(parse_cypher(f"MATCH {pattern} RETURN a.id"), database, {}, most=1).text
    assert time.process_time() - begun < 1
