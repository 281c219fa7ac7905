"""Every form of the grammar, repeated: whatever the length, a statement is answered or refused by our own error."""

import json

import pytest

from orienteer.cypher import LONGEST_STATEMENT, Cypher, parse_cypher
from orienteer.errors import BadQuery, Error, QueryStopped
from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.query import MOST_DEEP
from orienteer.tools import ServedCypher

pytestmark = pytest.mark.corpus("deep or long statements")


def inside(begin, middle, end):
    return lambda count: f"RETURN {begin * count}{middle}{end * count} AS v"


def chain(operand, operator):
    return lambda count: f"RETURN {operator.join([operand] * (count + 1))} AS v"


def after(begin, tail):
    return lambda count: f"{begin}{tail * count} AS v"


def clauses(clause, first="WITH 1 AS a ", last="RETURN a"):
    return lambda count: f"{first}{clause * count}{last}"


FORMS = {
    # chains
    **{f"chain {operator}": chain("1", f" {operator} ") for operator in ("+", "-", "*", "/", "%", "^")},
    **{f"chain {operator}": chain("1", operator) for operator in ("=", "<>", "!=", "<", "<=", ">", ">=")},
    **{f"chain {operator}": chain("true", f" {operator} ") for operator in ("AND", "OR", "XOR")},
    **{f"chain {word}": chain("'a'", f" {word} ") for word in ("CONTAINS", "STARTS WITH", "ENDS WITH", "=~")},
    "truths": chain("true", " = "),
    "texts": chain("'a'", " + "),
    "chain IN": chain("[1]", " IN "),
    "texts and numbers": chain("'a' + 1", " + "),
    "lists": chain("[1]", " + "),
    "OR of names": lambda count: "MATCH (n) WHERE " + " OR ".join(["n.id = 'a'"] * (count + 1)) + " RETURN count(n)",
    "mixed AND OR": lambda count: "RETURN true" + " AND true OR false" * count,
    # signs and what follows
    "+": lambda count: f"RETURN {'+' * count}1",
    "-": lambda count: f"RETURN {'- ' * count}1",
    "NOT": lambda count: f"RETURN {'NOT ' * count}true",
    "IS NULL": after("RETURN 1", " IS NULL"),
    "IS NOT NULL": after("RETURN 1", " IS NOT NULL"),
    "property": after("WITH {a: 1} AS a RETURN a", ".b"),
    "place": after("WITH [1] AS a RETURN a", "[0]"),
    "slice": after("WITH [1] AS a RETURN a", "[0..1]"),
    "type": lambda count: "MATCH (n) WHERE n" + ":language" * count + " RETURN n.id",
    # forms in one another
    "round brackets": inside("(", "1", ")"),
    "lists in lists": inside("[", "1", "]"),
    "maps in maps": inside("{a: ", "1", "}"),
    "map of a node": lambda count: "MATCH (n) RETURN " + "n {.name, b: " * count + "1" + "}" * count,
    "CASE": inside("CASE WHEN true THEN ", "1", " END"),
    "CASE WHEN": inside("CASE WHEN ", "true", " THEN true END"),
    "CASE ELSE": inside("CASE WHEN false THEN 1 ELSE ", "1", " END"),
    "CASE of CASE": inside("CASE ", "1", " WHEN 1 THEN 1 WHEN 2 THEN 2 END"),
    "compared twice": inside("true = (", "true", ") = true"),
    "comprehension": inside("[x IN ", "[1]", " WHERE x = 1 | x]"),
    "comprehension's condition": inside("[x IN [1] WHERE size(", "[1]", ") = 1]"),
    **{kind: inside(f"{kind}(x IN [1] WHERE ", "true", ")") for kind in ("any", "all", "none", "single")},
    "place in places": inside("[1][", "0", "]"),
    "EXISTS": lambda count: f"MATCH (a) WHERE {'EXISTS { (a)--(b) WHERE ' * count}true{' }' * count} RETURN a.id",
    "COUNT": lambda count: f"MATCH (a) RETURN {'COUNT { (a)--(b) WHERE 1 < ' * count}1{' }' * count}",
    "pattern's property": lambda count: f"MATCH (a) WHERE {'(a {id: ' * count}'x'{'})--()' * count} RETURN a.id",
    "exists()": inside("exists(", "1", ")"),
    **{
        f"{name}({rest}": inside(f"{name}(", middle, f"{rest})")
        for name, middle, rest in (
            ("abs", "1", ""), ("ceil", "1", ""), ("floor", "1", ""), ("round", "1.5", ""), ("round", "1.5", ", 1"),
            ("sqrt", "1", ""), ("log", "2", ""), ("sign", "1", ""), ("toInteger", "'1'", ""), ("toFloat", "'1'", ""),
            ("toString", "1", ""), ("toBoolean", "'true'", ""), ("toUpper", "'a'", ""), ("trim", "'a'", ""),
            ("reverse", "'a'", ""), ("left", "'a'", ", 1"), ("right", "'a'", ", 2000"), ("substring", "'ab'", ", 0"),
            ("substring", "'ab'", ", size('a') - 1"),
            ("replace", "'a'", ", 'a', 'b'"),
            ("replace", "'a'", ", toLower('A'), 'b'"),
            ("coalesce", "1", ", 1"),
            ("head", "[1]", ""), ("last", "[1]", ""), ("tail", "[1]", ""), ("size", "'a'", ""),
            ("isEmpty", "'a'", ""),
            ("date", "'2001-01-01'", ""), ("count", "1", ""), ("collect", "1", ""), ("range", "1", ", 2"),
            ("split", "'a'", ", ','"), ("labels", "n", ""), ("type", "n", ""), ("id", "n", ""), ("nodes", "n", ""),
        )
    },
    "conversions": inside("toInteger(toString(", "toInteger('1')", "))"),
    "heads of splits": inside("head(split(", "'a,b'", ", ','))"),
    "rounds": inside("round(1 + ", "1.5", ")"),
    "texts in texts": inside("'a' + (", "'b' + toString(1)", " + toString(2))"),
    "found in": inside("CASE WHEN toLower('A') CONTAINS ", "'a'", " THEN toLower('B') END"),
    # many beside each other
    "columns": lambda count: "RETURN " + ", ".join(f"{at} AS c{at}" for at in range(count + 1)),
    "items": lambda count: f"RETURN {[1] * count}",
    "keys": lambda count: "RETURN {" + ", ".join(f"a{at}: 1" for at in range(count + 1)) + "}",
    "WHENs": lambda count: "RETURN CASE 1" + " WHEN 1 THEN 1" * (count + 1) + " END",
    "arguments": lambda count: f"RETURN coalesce({', '.join(['1'] * (count + 1))})",
    "types": lambda count: f"MATCH (n:{'|'.join(['language'] * (count + 1))}) RETURN count(n)",
    "edge types": lambda count: f"MATCH ()-[:{'|'.join(['designed_by'] * (count + 1))}]->() RETURN count(*)",
    "path": lambda count: "MATCH (a)" + "--()" * count + " RETURN count(*)",
    "paths": lambda count: "MATCH (a)" + ", (a)--()" * count + " RETURN count(*)",
    "matches": clauses("MATCH (a) ", "MATCH (a) "),
    "properties": lambda count: "MATCH (a {" + ", ".join(["id: 'x'"] * (count + 1)) + "}) RETURN a.id",
    "orders": lambda count: "MATCH (n) RETURN n.id AS v ORDER BY " + ", ".join(["v"] * (count + 1)),
    "unions": lambda count: "RETURN 1 AS v" + " UNION RETURN 2 AS v" * count,
    # clauses, each of which builds on the one before
    "WITH": clauses("WITH a "),
    "WITH *": clauses("WITH * "),
    "WITH lists": clauses(f"WITH {'[' * 20}a{']' * 20} AS a "),
    "WITH maps": clauses(f"WITH {'{a: ' * 20}a{'}' * 20} AS a "),
    "WITH maps of maps": clauses("WITH {a: [{b: a.a}]} AS a ", "WITH {a: 1} AS a "),
    "WITH collect": clauses("WITH collect(a) AS a "),
    "WITH sums": clauses("WITH a + a AS a "),
    "WITH conversions": clauses("WITH toInteger(toString(toInteger(a))) AS a ", "WITH '1' AS a "),
    "UNWIND": lambda count: "".join(f"UNWIND [1, 2] AS a{at} " for at in range(count)) + "RETURN 1",
    # long words
    "number": lambda count: f"RETURN {'1' * count}",
    "decimals": lambda count: f"RETURN 0.{'1' * count}",
    "exponent": lambda count: f"RETURN 1e{'1' * count}",
    "text": lambda count: f"RETURN '{'é' * count}'",
    "escapes": lambda count: f"RETURN '{chr(92) * 2 * count}'",
    "name": lambda count: f"RETURN 1 AS {'a' * count}",
    "name in backticks": lambda count: f"RETURN 1 AS `{'``' * count}`",
    "type's name": lambda count: f"MATCH (n:{'a' * count}) RETURN n",
    "parameter": lambda count: f"RETURN ${'a' * count}",
    "comments": lambda count: f"RETURN {'/**/' * count} 1",
    "spaces": lambda count: f"RETURN {' ' * count} 1",
    "end": lambda count: f"RETURN 1;{' ' * count}x",
    "comments at the end": lambda count: f"RETURN 1;{'/**/ ' * count}x",
    "semicolons": lambda count: f"RETURN 1{';' * count} x",
    "open comments": lambda count: f"RETURN 1{' /*' * count}",
    "open texts": lambda count: "RETURN " + "'\\" * count,
    "signs": lambda count: "RETURN " + "<-[" * count,
    "expression": lambda count: f"RETURN 'a' =~ '{'(' * count}a{')' * count}'",
    "repeats": lambda count: f"RETURN 'a' =~ '{'(a*)*' * count}'",
}  # fmt: skip
COUNTS = (10, 22, MOST_DEEP - 2, MOST_DEEP + 1, 1_000, 20_000)
FEW = (10, 50)  # what is nested is refused before the second
LONG = {"chain -", "chain ^", "chain AND", "chain <", "IS NULL", "place", "OR of names", "mixed AND OR"}


@pytest.fixture(scope="module")
def demo(scratch):
    return Graph.from_records(*demo_records(), path=scratch())


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_of_any_length_a_statement_is_read_and_written_or_refused(demo, form):
    """Without an engine: there is no third, and it takes no time that grows with what is in one another."""
    for count in COUNTS:
        query = FORMS[form](count)
        try:
            Cypher(demo).check(query)
        except Error as error:
            assert str(error)  # noqa: PT017  # both ends are right: what matters is that there is no third
            assert "nested too deep to be read" not in str(error), "a bound of ours comes first"  # noqa: PT017
        else:
            assert len(query) <= LONGEST_STATEMENT


@pytest.mark.process
@pytest.mark.parametrize("form", FORMS)
def test_what_was_read_never_breaks_the_engine(demo, form):
    for count in (*FEW, MOST_DEEP - 2) if form in LONG else FEW:
        try:
            json.dumps(Cypher(demo).query(FORMS[form](count), limit=3, seconds=1).rows)
        except QueryStopped as error:
            assert "broke" not in str(error)  # noqa: PT017  # it may be slow: then it is stopped
        except Error:
            continue


@pytest.mark.process
@pytest.mark.parametrize("form", ["OR of names", "chain OR", "chain +", "property", "+", "compared twice", "WITH maps"])
def test_code_that_asks_hears_of_it(demo, form):
    """`cypher` as the code of a model calls it raises what the code can catch; else the question would end."""
    served = ServedCypher(demo, rows=10, view=None)
    served.begin(60)
    for count in COUNTS:
        try:
            served.cypher(FORMS[form](count))
        except Error:
            continue


def test_a_long_chain_is_told_what_to_write():
    with pytest.raises(BadQuery, match=r"more than 200 chained operators .* write x IN \[a, b\] for x = a OR x = b"):
        parse_cypher("MATCH (n) WHERE " + " OR ".join(["n.id = 'x'"] * 330) + " RETURN n.id")


@pytest.mark.process
def test_chains_below_the_bound_are_answered(demo):
    count = MOST_DEEP - 1
    sums = Cypher(demo).query(f"RETURN {' + '.join(['1'] * count)} AS v, {' - '.join(['0'] * count)} AS w")
    assert sums.rows == ((count, 0),)
    ids = [f"n.id = 'x{at}'" for at in range(count - 2)]
    found = Cypher(demo).query(
        f"MATCH (n:language) WHERE {' OR '.join([*ids, 'n.name = $name'])} RETURN n.name", {"name": "C"}
    )
    assert found.rows == (("C",),)


def test_who_is_deep_in_calls_hears_of_it_too():
    def ask(depth, query):
        """Ask from so many calls down."""
        return parse_cypher(query) if depth == 0 else ask(depth - 1, query)

    refused = 0
    for depth in range(300, 1_000, 20):
        try:
            ask(depth, f"RETURN {'(' * 20}{depth}{')' * 20}")
        except BadQuery as error:
            assert "write it flatter" in str(error)  # noqa: PT017
            refused += 1
        except RecursionError:  # of `ask` itself
            break
    assert refused > 3
