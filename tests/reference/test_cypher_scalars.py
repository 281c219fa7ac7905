"""Scalar functions and operators of Cypher against brute force in Python: right, or refused, never wrong in silence.

Each form stands with what it means, over values of nodes, literals and parameters. What Cypher has no answer for, or
what the engine would answer wrongly, is refused with what to write.
"""

import itertools
import math
import random
from decimal import Decimal

import numpy as np
import pytest

from orienteer.cypher import Cypher
from orienteer.errors import BadQuery
from orienteer.graph import Graph
from orienteer.records import Node

pytestmark = pytest.mark.corpus("groups of Cypher values against brute force")

ROWS = 160
WIDE = 40  # columns of a statement
LETTERS = ["a", "b", "é", "😀", "e\u0301", "ि", ",", " ", "\r\n", "ß", "\\", "'"]
SPECIAL = ["Erdős Pál", "हिन्दी", "👨‍👩‍👧", "\u00a0x\u2003\t", "a,b,,c,", ",", "İI", "x" * 150, "q\n"]
NUMBERS = [
    "4",
    " 4 ",
    "+4",
    "-4.7",
    ".5",
    "-.5e1",
    "1e3",
    "-1E-2",
    "4.",
    "abc",
    "",
    "1e",
    "--1",
    "0x1F",
    "٣",
    "1_0",
    "- 4",
]
NUMBERS += ["9007199254740993", "-9223372036854775808", "9" * 18, "0.1", "true", " TRUE ", "False", "yes"]
INTEGERS = [-(2**53) - 1, -1000, -7, -3, -1, 0, 1, 2, 3, 10, 151, 2**53 + 1]
FLOATS = [
    -2.5,
    -1.5,
    -0.5,
    -0.0,
    0.0,
    0.49999999999999994,
    0.5,
    1.5,
    2.5,
    2.4,
    1e16,
    1e300,
    1.7e308,
    4503599627370497.0,
]
FLOATS += [-4503599627370497.0, 1e-320, -1e22, 123456789.125, 3.0, 0.1]


def drawn(chance):
    """Return the properties of a node; some are missing."""

    def word():
        if chance.random() < 0.2:
            return SPECIAL[chance.integers(len(SPECIAL))]
        return "".join(LETTERS[place] for place in chance.integers(len(LETTERS), size=chance.integers(5)))

    found = {
        "s": word(),
        "d": word()[:2],
        "t": NUMBERS[chance.integers(len(NUMBERS))],
        "i": INTEGERS[chance.integers(len(INTEGERS))],
        "j": int(chance.choice([-7, -2, -1, 1, 2, 3, 5])),
        "k": int(chance.choice([-2, -1, 0, 1, 2, 3, 4, 9, 2000])),
        "x": FLOATS[chance.integers(len(FLOATS))],
        "y": FLOATS[chance.integers(len(FLOATS))],
        "p": bool(chance.integers(2)),
        "q": bool(chance.integers(2)),
        "l": [int(one) for one in chance.integers(-2, 4, size=chance.integers(5))],
        "w": [word() for _ in range(chance.integers(4))],
    }
    return {key: value for key, value in found.items() if chance.random() > 0.08}


# ----------------------------------------------------------------------------------------------------- what they mean


def whole(text):
    """Return a text as a number, None where it is none."""
    bare = text.strip()
    if not bare or not set(bare) <= set("0123456789+-.eE"):
        return None
    try:
        return Decimal(bare)
    except ArithmeticError:
        return None


def simple(text, change):
    """Return a text in another case, letter by letter."""
    return "".join(change(letter) if len(change(letter)) == 1 else letter for letter in text)


def divided(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def both(a, b):
    return False if a is False or b is False else None if a is None or b is None else True


def either(a, b):
    return True if a is True or b is True else None if a is None or b is None else False


def opposite(a):
    return None if a is None else not a


def rounded(x):
    return x if abs(x) >= 2**52 else float(math.floor(x) + (x - math.floor(x) >= 0.5))


def at(items, place):
    return items[place] if -len(items) <= place < len(items) else None


def quantified(kind, items, holds):
    """Return what any, all, none or single say of a list, by counting."""
    answers = [holds(item) for item in items]
    true, false, unsure = (answers.count(one) for one in (True, False, None))
    if kind == "single" and true > 1:
        return False
    if kind in ("any", "none") and true:
        return kind == "any"
    if kind == "all" and false:
        return False
    return None if unsure else true == 1 if kind == "single" else kind != "any"


def is_in(item, items):
    return None if items is None else False if not items else None if item is None else item in items


def to_integer(text):
    found = whole(text)
    return None if found is None else int(found)


def to_float(text):
    found = whole(text)
    return None if found is None else float(found)


def to_boolean(text):
    return {"true": True, "false": False}.get(text.strip().lower())


def root(x):
    return math.sqrt(x) if x >= 0 else math.nan


def logarithm(x):
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


def strict(meaning):
    """Return a meaning that is null where an argument is."""
    return lambda *given: None if any(one is None for one in given) else meaning(*given)


# A form, the properties that stand in it, and what it means.
FORMS = [
    ("size({})", "s", strict(len)),
    ("reverse({})", "s", strict(lambda s: s[::-1])),
    ("toUpper({})", "t", strict(str.upper)),
    ("toLower({})", "t", strict(str.lower)),
    ("trim({})", "s", strict(str.strip)),
    ("ltrim({})", "s", strict(str.lstrip)),
    ("rtrim({})", "s", strict(str.rstrip)),
    ("isEmpty({})", "s", strict(lambda s: not s)),
    ("substring({}, {})", "sk", strict(lambda s, k: s[k:] if k >= 0 else None)),
    ("substring({}, {}, {})", "skj", strict(lambda s, k, j: s[k:][:j] if k >= 0 and j >= 0 else None)),
    ("left({}, {})", "sk", strict(lambda s, k: s[:k] if k >= 0 else None)),
    ("right({}, {})", "sk", strict(lambda s, k: None if k < 0 else s[-k:] if k else "")),
    *((f"left({{}}, {n})", "s", strict(lambda s, n=n: s[:n])) for n in (0, 1, 3, 1001, 2**40)),
    *((f"right({{}}, {n})", "s", strict(lambda s, n=n: s[-n:] if n else "")) for n in (0, 1, 3, 1001, 2**40)),
    *((f"substring({{}}, {n})", "s", strict(lambda s, n=n: s[n:])) for n in (0, 1, 2, 5, 1001, 2**40)),
    *(
        (f"substring({{}}, {n}, {m})", "s", strict(lambda s, n=n, m=m: s[n : n + m]))
        for n, m in itertools.product((0, 1, 4, 2**40), (0, 2, 1001, 2**62))
    ),
    *((f"split({{}}, '{d}')", "s", strict(lambda s, d=d: s.split(d))) for d in (",", "é", "aa", "😀", ".", "[", ", ")),
    *((f"replace({{}}, '{d}', 'zé')", "s", strict(lambda s, d=d: s.replace(d, "zé"))) for d in ("a", "é", "\u0301")),
    *((f"{{}} CONTAINS '{d}'", "s", strict(lambda s, d=d: d in s)) for d in ("", "a", "é", "\u0301")),
    *((f"{{}} STARTS WITH '{d}'", "s", strict(lambda s, d=d: s.startswith(d))) for d in ("", "a", "e")),
    *((f"{{}} ENDS WITH '{d}'", "s", strict(lambda s, d=d: s.endswith(d))) for d in ("", "a", "\u0301")),
    ("{} CONTAINS {}", "sd", strict(lambda s, d: d in s)),
    ("{} STARTS WITH {}", "sd", strict(str.startswith)),
    ("{} ENDS WITH {}", "sd", strict(str.endswith)),
    ("{} + {}", "sd", strict(lambda s, d: s + d)),
    ("{} + '-' + {}", "sk", strict(lambda s, k: f"{s}-{k}")),
    ("'<' + {} + '>'", "s", strict(lambda s: f"<{s}>")),
    ("{} < {}", "sd", strict(lambda s, d: s < d)),
    ("{} >= {}", "sd", strict(lambda s, d: s >= d)),
    ("{} = {}", "sd", strict(lambda s, d: s == d)),
    ("{} =~ '(?s).'", "s", strict(lambda s: len(s) == 1)),
    ("toInteger({})", "t", strict(to_integer)),
    ("toFloat({})", "t", strict(to_float)),
    ("toBoolean({})", "t", strict(to_boolean)),
    ("toInteger(toString(toInteger({})))", "t", strict(to_integer)),
    ("toInteger(left({}, 2))", "t", strict(lambda t: to_integer(t[:2]))),
    ("{} + {}", "ij", strict(lambda i, j: i + j)),
    ("{} - {}", "ij", strict(lambda i, j: i - j)),
    ("{} * {}", "ij", strict(lambda i, j: i * j)),
    ("{} / {}", "ij", strict(divided)),
    ("{} % {}", "ij", strict(lambda i, j: i - divided(i, j) * j)),
    ("{} ^ 2", "j", strict(lambda j: float(j) ** 2)),
    ("-{}", "i", strict(lambda i: -i)),
    ("abs({})", "i", strict(abs)),
    ("sign({})", "i", strict(lambda i: (i > 0) - (i < 0))),
    ("sign({})", "x", strict(lambda x: (x > 0) - (x < 0))),
    ("toString({})", "i", strict(str)),
    ("toFloat({})", "i", strict(float)),
    ("toInteger({})", "k", strict(int)),
    *((f"{{}} {sign} {{}}", "ij", strict(meaning)) for sign, meaning in (
        ("<", int.__lt__), ("<=", int.__le__), (">", int.__gt__), (">=", int.__ge__), ("=", int.__eq__),
        ("<>", int.__ne__),
    )),
    *((f"{{}} {sign} {{}}", "xy", strict(meaning)) for sign, meaning in (
        ("<", float.__lt__), ("<=", float.__le__), (">", float.__gt__), ("=", float.__eq__), ("<>", float.__ne__)
    )),
    *((f"sqrt({{}}) {sign} {{}}", "xy", strict(lambda x, y, meaning=meaning: meaning(root(x), y)))
      for sign, meaning in (("<", float.__lt__), ("<=", float.__le__), (">", float.__gt__), (">=", float.__ge__))),
    ("{} < {}", "jx", strict(lambda j, x: j < x)),
    ("1 < {} < 3", "k", strict(lambda k: 1 < k < 3)),
    ("round({})", "x", strict(rounded)),
    ("ceil({})", "k", strict(float)),
    ("floor({})", "x", strict(lambda x: float(math.floor(x)))),
    ("ceil({})", "x", strict(lambda x: float(math.ceil(x)))),
    ("toInteger({} / 3)", "j", strict(lambda j: divided(j, 3))),
    ("toInteger({} / 3.0)", "j", strict(lambda j: math.trunc(j / 3))),
    ("sqrt({})", "x", strict(root)),
    ("log({})", "x", strict(logarithm)),
    ("abs({})", "x", strict(abs)),
    ("{} % 2.5", "x", strict(lambda x: math.fmod(x, 2.5))),
    ("{} AND {}", "pq", both),
    ("{} OR {}", "pq", either),
    ("{} XOR {}", "pq", strict(lambda p, q: p != q)),
    ("NOT {}", "p", opposite),
    ("NOT ({} AND NOT {}) OR {}", "pqp", lambda p, q, r: either(opposite(both(p, opposite(q))), r)),
    ("{} IS NULL", "s", lambda s: s is None),
    ("coalesce({}, {}, 'none')", "sd", lambda s, d: s if s is not None else d if d is not None else "none"),
    ("CASE WHEN {} THEN {} ELSE {} END", "psd", lambda p, s, d: s if p else d),
    ("CASE {} WHEN 1 THEN 'one' WHEN 2 THEN 'two' END", "k", lambda k: {1: "one", 2: "two"}.get(k)),
    ("CASE WHEN CASE WHEN {} THEN {} ELSE false END THEN 1 ELSE 2 END", "pq", lambda p, q: 1 if p and q else 2),
    ("CASE WHEN any(z IN {} WHERE z > 1) THEN 1 ELSE 2 END", "l", lambda items: 1 if max(items or [0]) > 1 else 2),
    ("CASE WHEN toBoolean({}) THEN 1 ELSE 2 END", "t", lambda t: 1 if t is not None and to_boolean(t) else 2),
    ("CASE WHEN {} THEN {} ELSE 2.5 END", "pj", lambda p, j: 2.5 if not p else j),
    ("CASE WHEN {} THEN toInteger('x') ELSE {} END", "pj", lambda p, j: None if p else j),
    ("{}[{}]", "lk", strict(at)),
    ("{}[{}]", "wk", strict(at)),
    *((f"{{}}[{n}]", "l", strict(lambda w, n=n: at(w, n))) for n in (0, 1, -1, -2, 9, -9)),
    *((f"{{}}[{n}]", "w", strict(lambda w, n=n: at(w, n))) for n in (0, -1, 9)),
    ("{}[1..3]", "l", strict(lambda items: items[1:3])),
    ("{}[..2]", "w", strict(lambda items: items[:2])),
    ("{}[2..]", "l", strict(lambda items: items[2:])),
    ("{}[0..0]", "l", strict(lambda items: [])),
    ("{}[3..1]", "l", strict(lambda items: [])),
    ("head({})", "l", strict(lambda items: at(items, 0))),
    ("last({})", "w", strict(lambda items: at(items, -1))),
    ("tail({})", "l", strict(lambda items: items[1:])),
    ("size({})", "w", strict(len)),
    ("reverse({})", "w", strict(lambda items: items[::-1])),
    ("{} IN {}", "kl", is_in),
    ("{} + [7]", "l", strict(lambda items: [*items, 7])),
    ("{} = {}", "ll", strict(lambda a, b: a == b)),
    ("size(split({}, ','))", "s", strict(lambda s: len(s.split(",")))),
    ("split({}, ',')[1]", "s", strict(lambda s: at(s.split(","), 1))),
    ("head(split({}, ','))", "s", strict(lambda s: s.split(",")[0])),
    ("last(split({}, ','))", "s", strict(lambda s: s.split(",")[-1])),
    *((f"{kind}(z IN {{}} WHERE z > 1)", "l", strict(lambda items, kind=kind: quantified(kind, items, lambda z: z > 1)))
      for kind in ("any", "all", "none", "single")),
    *((f"{kind}(z IN {{}} WHERE z > 1 OR (z = 1 AND null))", "l",
       strict(lambda items, kind=kind: quantified(kind, items, lambda z: True if z > 1 else None if z == 1 else False)))
      for kind in ("any", "all", "none", "single")),
    ("[z IN {} WHERE z > 0 | z * z]", "l", strict(lambda items: [z * z for z in items if z > 0])),
    ("size([z IN {} WHERE z = 'a'])", "w", strict(lambda w: w.count("a"))),
]  # fmt: skip
EXACT = [
    ("split('abc', toLower('B')), toString(1.5), 'a' + 1.5, [1, 'a']", (["a", "c"], "1.5", "a1.5", [1, "a"])),
    ("(-9223372036854775807 - 1) % -1, 9223372036854775807 = 9223372036854775806.0", (0, False)),
    ("round(2.5), round(-2.5), round(-0.5), round(0.49999999999999994)", (3.0, -2.0, 0.0, 0.0)),
    ("round(2.567, 2), round(-1.25, 1), round(1e300, 2), round(7, 3), round(0.1, 15)", (2.57, -1.3, 1e300, 7.0, 0.1)),
    (
        "1e16, 1e300, -1e22, 1e-320, -0.0, 123456789012345678901234567890.0",
        (1e16, 1e300, -1e22, 1e-320, -0.0, 1.2345678901234568e29),
    ),
    ("1.0 / 0, -1.0 / 0, log(0)", (math.inf, -math.inf, -math.inf)),
    ("sqrt(-1), log(-1)", (math.nan, math.nan)),
    ("2 ^ 3 ^ 2, -2 ^ 2, 2 ^ -1", (64.0, 4.0, 0.5)),
    (
        "range(1, 3), range(3, 1), range(5, 1, -2), range(0, 9223372036854775807, 9223372036854775807)",
        ([1, 2, 3], [], [5, 3, 1], [0, 2**63 - 1]),
    ),
    ("null + 'a', 'a' + null, 1 + null, null CONTAINS '', substring(null, 1), null[0]", (None,) * 6),
    (
        "null IN [1], 1 IN [], null = null, null <> 1, NOT null, null AND false, null OR true, null XOR true",
        (None, False, None, None, None, False, True, None),
    ),
    ("split('', ','), split(',', ','), split('aaa', 'aa'), split('a.b', '.')", ([""], ["", ""], ["", "a"], ["a", "b"])),
    (
        "9007199254740993 - 1 = 9007199254740992.0, 9007199254740990 + 3 > 9007199254740992.0, 1 < 1e300",
        (True, True, True),
    ),
    ("1 = 1.0, 1 IN [1.0], [1] = [1.0], 2 < 2.5", (True, True, True, True)),
    (
        "date('2001-12-31').year, toString(date('2001-12-31')), date('2000-02-29') < date('2000-03-01')",
        (2001, "2001-12-31", True),
    ),
    (
        "toInteger('9223372036854775807'), toInteger(-4.7), toInteger(1e15), toFloat('1e400')",
        (2**63 - 1, -4, 10**15, math.inf),
    ),
    ("9223372036854775807 - 1, -9223372036854775807 - 1, 9007199254740993 + 0", (2**63 - 2, -(2**63), 2**53 + 1)),
    ("'\\u00e9', '\\U0001F600', 'a\\\\b', 'it\\'s', \"a\\\"b\", '\\t\\n'", ("é", "😀", "a\\b", "it's", 'a"b', "\t\n")),
    ("'z' < 'é', 'é' < '\uffff', '\uffff' < '😀', 'A' < 'a', '' < 'a'", (True,) * 5),
]  # fmt: skip
REFUSED = [
    ("left('abc', -1)", "right(text, n)"),
    ("right('abc', -1)", "right(text, n)"),
    ("substring('abc', -1)", "right(text, n)"),
    ("substring('abc', 0, -3000000000)", "right(text, n)"),
    ("left('abc', 1.5)", "toInteger()"),
    ("split('abc', '')", "substring(n.name, 0, 1)"),
    ("replace('abc', '', 'x')", "before every letter"),
    ("round(1.5, -400)", "0 to 15"),
    ("round(1.5, 40)", "0 to 15"),
    ("range(1, 5, 0)", "steps"),
    ("range(1, 20000)", "10,000"),
    ("date('2001-1-1')", "2001-12-31"),
    ("date('2001-02-30')", "2001-02-30"),
    ("[1, 2][0.5]", "integer"),
    ("1 / 0", "zero"),
    ("1 % 0", "zero"),
    ("9223372036854775807 + 1", "INT64"),
    ("9223372036854775807 * 2", "INT64"),
    ("(-9223372036854775807 - 1) / -1", "INT64"),
    ("abs(-9223372036854775807 - 1)", "INT64"),
    ("-(-9223372036854775807 - 1)", "INT64"),
    ("toInteger(1e30)", "INT64"),
    ("toInteger('99999999999999999999')", "99999999999999999999"),
    ("9223372036854775808", "too large"),
    ("1e400", "not finite"),
    ("1 < 'a'", "without quotes"),
]
NODES = [drawn(chance) for chance in [np.random.default_rng(19)] for _ in range(ROWS)]


@pytest.fixture(scope="module")
def graph(scratch):
    nodes = [Node(f"n{row:03}", "T", "node", properties=properties) for row, properties in enumerate(NODES)]
    return Graph.from_records(nodes, [], path=scratch())


def same(found, right):
    """Tell whether a value is another, and of its type; one that no JSON holds comes as a text."""
    if isinstance(right, float) and right - right != 0:
        return found == str(right)
    if isinstance(right, float) and right:
        return type(found) is float and math.isclose(found, right, rel_tol=1e-14)
    if isinstance(right, list):
        return isinstance(found, list) and len(found) == len(right) and all(map(same, found, right))
    return type(found) is type(right) and found == right


def literal(value):
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def batches(items):
    return [items[place : place + WIDE] for place in range(0, len(items), WIDE)]


def test_values_of_nodes(graph):
    """Every form over every node, in RETURN: what is folded before a query runs does not hide what a row does."""
    cases = 0
    for batch in batches(FORMS):
        texts = [form.format(*(f"n.{key}" for key in keys)) for form, keys, _ in batch]
        columns = ", ".join(f"{text} AS c{place}" for place, text in enumerate(texts))
        table = Cypher(graph).query(f"MATCH (n:T) RETURN {columns}, n.id ORDER BY n.id", limit=None)
        assert len(table.rows) == ROWS
        for node, row in zip(NODES, table.rows, strict=True):
            for found, text, (_, keys, meaning) in zip(row, texts, batch, strict=False):
                right = meaning(*(node.get(key) for key in keys))
                assert same(found, right), f"{text} of {node} is {right!r}, not {found!r}"
                cases += 1
    assert cases > 20_000


def test_conditions_of_nodes(graph):
    """Every form that is true or false, in WHERE: null is not true, nor is NOT null."""
    truths = {
        "p": True,
        "s": "ab",
        "d": "a",
        "t": "4",
        "i": 1,
        "j": 1,
        "k": 1,
        "x": 1.0,
        "y": 1.5,
        "l": [1],
        "w": ["a"],
        "q": True,
    }
    for form, keys, meaning in FORMS:
        if not isinstance(meaning(*(truths[key] for key in keys)), bool):
            continue
        for sign, wanted in (("", True), ("NOT ", False)):
            text = f"{sign}({form.format(*(f'n.{key}' for key in keys))})"
            table = Cypher(graph).query(f"MATCH (n:T) WHERE {text} RETURN n.id ORDER BY n.id", limit=None)
            right = [f"n{row:03}" for row, node in enumerate(NODES) if meaning(*map(node.get, keys)) is wanted]
            assert [row[0] for row in table.rows] == right, text


@pytest.mark.parametrize("way", ["literals", "parameters"])
def test_values_of_statements(graph, way):
    """Every form over some nodes' values, written out or given; what is known to be negative is refused instead."""
    chance, asked = np.random.default_rng(20), []
    for form, keys, meaning in FORMS:
        for _ in range(10):
            given = [NODES[chance.integers(ROWS)].get(key) for key in keys]
            is_list = way == "parameters" and any(isinstance(one, list) for one in given)
            is_below = any(key in "kj" and (one or 0) < 0 for key, one in zip(keys, given, strict=True))
            is_cut = form.startswith(("left", "right", "substring"))
            if not (
                is_list or (is_below and is_cut) or [] in given
            ):  # `[]` alone is of no kind, to the engine of numbers
                asked.append((form, given, meaning(*given)))
    for batch in batches(asked):
        parameters = {}
        columns = []
        for place, (form, given, _) in enumerate(batch):
            names = [f"p{place}_{number}" for number in range(len(given))]
            parameters |= dict(zip(names, given, strict=True))
            words = [f"${name}" for name in names] if way == "parameters" else list(map(literal, given))
            columns.append(f"{form.format(*(f'({word})' for word in words))} AS c{place}")
        (row,) = Cypher(graph).query(f"RETURN {', '.join(columns)}", parameters if way == "parameters" else {}).rows
        for found, column, (_, given, right) in zip(row, columns, batch, strict=True):
            assert same(found, right), f"{column} of {given} is {right!r}, not {found!r}"
    assert len(asked) > 1_000


@pytest.mark.parametrize(("columns", "right"), EXACT)
def test_corners(graph, columns, right):
    (found,) = Cypher(graph).query(f"RETURN {columns}").rows
    assert len(found) == len(right)
    assert all(map(same, found, right)), found


@pytest.mark.parametrize(("expression", "advice"), REFUSED)
def test_what_has_no_answer_is_refused(graph, expression, advice):
    with pytest.raises(BadQuery) as caught:
        Cypher(graph).query(f"RETURN {expression} AS v")
    assert advice in str(caught.value)
    assert "broke" not in str(caught.value)
    assert "\n" not in str(caught.value)


def shaped(chance, depth=0):
    """Return a random shape: None for a number, a list of alike shapes, or a map of shapes."""
    kind = chance.choice(["list", "map", "number"] if depth else ["list", "map"])
    if kind == "number" or depth > 2:
        return None
    if kind == "list":
        return [shaped(chance, depth + 1)] * chance.randrange(3)
    return {key: shaped(chance, depth + 1) for key in chance.sample(["k", "Key", "l"], chance.randrange(1, 3))}


def filled(chance, shape):
    """Return values in a shape as Cypher writes them, and a function that gives them by node."""
    if shape is None:
        key = chance.choice(["i", "j", "1", "2"])
        return (f"n.{key}", lambda node: node[key]) if key in "ij" else (key, lambda node: int(key))
    if isinstance(shape, list):
        parts = [filled(chance, inner) for inner in shape]
        return f"[{', '.join(text for text, _ in parts)}]", lambda node: [part(node) for _, part in parts]
    keyed = {key: filled(chance, shape[key]) for key in chance.sample(list(shape), len(shape))}
    text = ", ".join(f"{key}: {text}" for key, (text, _) in keyed.items())
    return f"{{{text}}}", lambda node: {key: part(node) for key, (_, part) in keyed.items()}


def equal(one, other):
    """Compare as openCypher says it: null if a part may be equal or not."""
    if one is None or other is None:
        return None
    if isinstance(one, int):
        return one == other
    if len(one) != len(other) or (isinstance(one, dict) and one.keys() != other.keys()):
        return False
    places = one if isinstance(one, dict) else range(len(one))
    found = [equal(one[place], other[place]) for place in places]
    return False if False in found else None if None in found else True


def differ(one, other):
    return None if equal(one, other) is None else not equal(one, other)


def among(one, items):
    found = [equal(one, item) for item in items]
    return True if True in found else None if None in found else False


def test_null_in_lists_and_maps_is_neither_equal_nor_different(scratch):
    """Lists and maps with null in some of them, compared in RETURN and behind a WITH: right, or refused."""
    values = [{"i": i, "j": j} for i in (None, 1, 2) for j in (None, 1)]
    nodes = [
        Node(f"n{at}", "T", "x", properties={key: value for key, value in node.items() if value is not None})
        for at, node in enumerate(values)
    ]
    cypher, chance = Cypher(Graph.from_records(nodes, [], path=scratch())), random.Random(7)
    answered = nulls = 0
    for _ in range(50):
        shape = shaped(chance)
        one, other, *items = (filled(chance, inner) for inner in (shape, shape, *[None] * chance.randrange(4)))
        number = filled(chance, None)
        some = (
            f"[{', '.join(text for text, _ in items)}]",
            lambda node, items=items: [part(node) for _, part in items],
        )
        others = (f"[{one[0]}, {other[0]}]", lambda node, one=one, other=other: [one[1](node), other[1](node)])
        for left, operator, right, meaning in (
            (one, "=", other, equal),
            (one, "<>", other, differ),
            (number, "IN", some, among),
            (one, "IN", others, among),
        ):
            expected = [meaning(left[1](node), right[1](node)) for node in values]
            for query in (
                f"MATCH (n:T) RETURN {left[0]} {operator} {right[0]} AS x ORDER BY n.id",
                f"MATCH (n:T) WITH n.id AS id, {left[0]} AS a, {right[0]} AS b RETURN a {operator} b AS x ORDER BY id",
            ):
                try:
                    found = [row[0] for row in cypher.query(query).rows]
                except BadQuery:
                    continue
                assert found == expected, query
                answered += 1
                nulls += None in expected
    assert answered > 150
    assert nulls > 50
