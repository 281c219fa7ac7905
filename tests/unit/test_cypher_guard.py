"""What a statement may be: the guard over texts, without an engine."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mutations import mutate
from orienteer.cypher import (
    LONGEST_STATEMENT,
    Hops,
    MatchClause,
    Projection,
    constant_text,
    parse_cypher,
    tokenize_cypher,
)
from orienteer.errors import BadQuery, Error
from orienteer.query import Literal_

CORPUS = Path(__file__).parents[1] / "cypher"
HONEST = [json.loads(line)["query"] for line in (CORPUS / "honest.jsonl").read_text().splitlines()]
WORDS = {"write", "escape", "several", "unicode"}
HOSTILE = [json.loads(line) for line in (CORPUS / "hostile.jsonl").read_text().splitlines()]


def test_the_hostile_corpus_has_every_kind():
    kinds = [line["kind"] for line in HOSTILE]
    assert len(HOSTILE) >= 60
    assert {kind: kinds.count(kind) >= 5 for kind in {*WORDS, "bomb", "parameters"}} == dict.fromkeys(
        {*WORDS, "bomb", "parameters"}, True
    )


@pytest.mark.parametrize("line", [one for one in HOSTILE if one["kind"] == "write"], ids=lambda line: line["id"])
def test_no_clause_that_writes_is_ever_parsed(line):
    with pytest.raises(BadQuery):
        parse_cypher(line["query"])


@pytest.mark.parametrize("query", HONEST)
def test_honest_queries_are_parsed(query):
    statement = parse_cypher(query)
    assert all(isinstance(clauses[-1], Projection) for clauses in statement.queries)


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n) WHERE n.name = 'CREATE ; DROP TABLE x' RETURN n // DELETE n",
        "MATCH (n:`DROP`) RETURN n.`set` /* ; */;",
        "MATCH (a)-[:SET|LOAD]->(b) RETURN b AS CALL",
        "RETURN 'it\\'s' AS a, \"a\\\"b\" AS b;  ",
        "match (N) return distinct N.name as `a column`",
    ],
)
def test_words_of_clauses_are_harmless_as_texts_names_and_comments(query):
    parse_cypher(query)


def test_texts_and_names_are_what_their_escapes_mean():
    tokens = tokenize_cypher(r"'a\'b\\\n\u00e9' `x``y` \"q'\" ".replace('\\"', '"'))
    assert [(token.kind, token.value) for token in tokens[:-1]] == [
        ("text", "a'b\\\né"),
        ("name", "x`y"),
        ("text", "q'"),
    ]


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40))
def test_a_text_reaches_the_engine_as_it_was_written(text):
    """What is rendered for the engine reads back, by Cypher's own rules, as the same text, and is one token."""
    (token, end) = tokenize_cypher(constant_text(text))
    assert token.kind == "text"
    assert token.value == text
    assert end.kind == "end"


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("", "empty"),
        ("MATCH (n)", "RETURN"),
        ("MATCH (n) RETURN n; RETURN 1", "one statement"),
        ("MATCH (n:A:B) RETURN n", ":A|B"),
        ("MATCH (n:A&B) RETURN n", ":A|B"),
        ("MATCH (n WHERE n.x = 1) RETURN n", "after the pattern"),
        ("MATCH p = shortestPath((a)-[]-(b)) RETURN p", "`paths`"),
        ("MATCH (a) CALL { WITH a MATCH (a)--(b) } RETURN 1", "RETURN"),
        ("CALL db.labels()", "procedures"),
        ("MATCH (a) RETURN [(a)-->(b) WHERE b.x = 1]", "[(a)-[..]->(b) | b.name]"),
        ("MATCH (a) RETURN [a.x | 1]", "stands one pattern"),
        ("MATCH (a) RETURN [(a)-->(b), (a)-->(c) | 1]", "stands one pattern"),
        ("MATCH (a) RETURN collect { MATCH (a)--(b) RETURN a, b }", "one column"),
        ("MATCH (a) WITH a.name RETURN 1", "AS name"),
        ("MATCH (a) RETURN a.name, a.name", "one name"),
        ("MATCH (a $p) RETURN a", "{key: $p}"),
        ("MATCH (a) RETURN a {.*}", ".name"),
        ("MATCH (a) RETURN timestamp()", "datetime()"),
        ("MATCH (a) RETURN foo(a)", "no function foo()"),
        ("MATCH (a) RETURN toLowr(a.name)", "tolower"),
        ("RETURN 1 AS a UNION RETURN 2 AS b", "AS"),
        ("RETURN 1 AS a UNION RETURN 2 AS a UNION ALL RETURN 3 AS a", "mixed"),
        ("MATCH (a) RETURN 12abc", "neither"),
    ],
)
def test_what_is_refused_says_what_to_write(query, advice):
    with pytest.raises(BadQuery) as caught:
        parse_cypher(query)
    assert advice in str(caught.value)


def test_hops_and_negative_numbers():
    ((match, projection),) = parse_cypher("MATCH (a)-[*2]-(b)-[*..3]-(c) RETURN -1, - 2.5").queries
    assert isinstance(match, MatchClause)
    assert [edge.hops for edge in match.paths[0].edges] == [Hops(2, 2), Hops(1, 3)]
    assert isinstance(projection, Projection)
    assert [item.expression for item in projection.items] == [Literal_(-1), Literal_(-2.5)]


def test_length_is_bounded():
    parse_cypher(f"RETURN '{'x' * (LONGEST_STATEMENT - 20)}' AS a")
    with pytest.raises(BadQuery, match="as parameters"):
        parse_cypher(f"RETURN '{'x' * LONGEST_STATEMENT}' AS a")


@pytest.mark.slow
@settings(max_examples=200)
@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text):
    for query in (text, f"MATCH (n) WHERE n.name = {text} RETURN n", f"MATCH (n{text}) RETURN n"):
        try:
            parse_cypher(query)
        except Error as error:
            assert str(error)  # noqa: PT017  # both ends are right: what matters is that there is no third


@pytest.mark.slow
def test_spoiled_queries_are_parsed_or_refused():
    chance = np.random.default_rng(8)
    refused = 0
    for number in range(1_500):
        try:
            parse_cypher(mutate(HONEST[number % len(HONEST)], chance, HONEST))
        except BadQuery:
            refused += 1
    assert 0 < refused < 1_500
