"""Expressions: the inner half of the parser, by precedence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

from orienteer.cypher import syntax
from orienteer.cypher.functions import AGGREGATES, resolve
from orienteer.cypher.patterns import node_labels, read_path, read_paths
from orienteer.cypher.tokens import TokenReader
from orienteer.errors import BadQuery
from orienteer.query import expressions as ex
from orienteer.query.expressions import Expression
from orienteer.query.temporal import CLOCKS, FUNCTIONS, MOMENTS

_COMPARISONS = ("=", "<>", "!=", "<", "<=", ">", ">=")
_QUANTIFIERS = frozenset({"ANY", "ALL", "NONE", "SINGLE"})
DOTTED = frozenset(
    {*(name for name in FUNCTIONS if "." in name), *(f"{kind}.{clock}" for kind in MOMENTS for clock in CLOCKS)}
)
_MOST_ITEMS = 1_000  # of a list in the text: longer ones are passed as parameters
_MOST_REPEATED = 50  # parts of an operand that is written twice: nested ones double each time


def read_expression(reader: TokenReader) -> Expression:
    """Return the expression that comes next. Raises `BadQuery`."""
    with reader.nested():
        return _joined(reader, (("OR",), ("XOR",), ("AND",)), _not)


def _joined(
    reader: TokenReader, levels: tuple[tuple[str, ...], ...], operand: Callable[[TokenReader], Expression]
) -> Expression:
    """Read operands joined by operators from left to right; the operators of the first level bind least."""
    if not levels:
        return operand(reader)
    left = _joined(reader, levels[1:], operand)
    while reader.is_word(*levels[0]) or reader.is_sign(*levels[0]):
        operator = reader.next().value.upper()
        left = ex.Binary(operator, left, _joined(reader, levels[1:], operand))
    return left


def _not(reader: TokenReader) -> Expression:
    if reader.takes_word("NOT"):
        with reader.nested():
            return ex.Unary("NOT", _not(reader))
    return _comparison(reader)


def _comparison(reader: TokenReader) -> Expression:
    """Read `a < b`, or `a < b < c`, which means `a < b AND b < c`. Raises `BadQuery` if `b` is long."""
    left = _predicate(reader)
    chain: Expression | None = None
    while reader.is_sign(*_COMPARISONS):
        operator = reader.next().value.replace("!=", "<>")
        right = _predicate(reader)
        compared = ex.Binary(operator, left, right)
        if chain is not None:
            _check_repeated(left, "a < b < c repeats b", "a < b AND b < c")
        chain = compared if chain is None else ex.Binary("AND", chain, compared)
        left = right
    return left if chain is None else chain


def _check_repeated(expression: Expression, what: str, instead: str) -> None:
    if ex.measured(expression)[1] > _MOST_REPEATED:
        raise BadQuery(f"{what}, which is too long for it here: name it first by WITH ... AS b, then write {instead}")


def _predicate(reader: TokenReader) -> Expression:
    left = _sum(reader)
    while True:
        if reader.takes_word("STARTS", "WITH"):
            left = ex.Binary("STARTS WITH", left, _sum(reader))
        elif reader.takes_word("ENDS", "WITH"):
            left = ex.Binary("ENDS WITH", left, _sum(reader))
        elif reader.is_word("CONTAINS", "IN"):
            left = ex.Binary(reader.next().value.upper(), left, _sum(reader))
        elif reader.takes("=~"):
            left = ex.Binary("=~", left, _sum(reader))
        elif reader.takes_word("IS", "NOT", "NULL"):
            left = ex.Unary("IS NOT NULL", left)
        elif reader.takes_word("IS", "NULL"):
            left = ex.Unary("IS NULL", left)
        else:
            return left


def _sum(reader: TokenReader) -> Expression:
    return _joined(reader, (("+", "-"), ("*", "/", "%"), ("^",)), _signed)


def _signed(reader: TokenReader) -> Expression:
    while reader.takes("+"):
        pass
    if not reader.takes("-"):
        return _postfix(reader)
    with reader.nested():
        operand = _signed(reader)
    if isinstance(operand, ex.Literal_) and isinstance(operand.value, int | float):
        return ex.Literal_(-operand.value)
    return ex.Unary("-", operand)


def _postfix(reader: TokenReader) -> Expression:
    expression = _atom(reader)
    while True:
        if reader.takes("."):
            expression = ex.Property(expression, reader.name("property"))
        elif reader.takes("["):
            expression = _item(reader, expression)
        elif reader.is_sign(":") and isinstance(expression, ex.Variable):
            expression = syntax.HasType(expression.name, node_labels(reader))
        elif reader.is_sign("{") and isinstance(expression, ex.Variable):
            expression = _map(reader, expression)
        else:
            return expression


def _item(reader: TokenReader, base: Expression) -> Expression:
    begin = None if reader.is_sign("..") else read_expression(reader)
    if not reader.takes(".."):
        reader.expect("]", "after a place in a list")
        assert begin is not None
        return ex.Item(base, begin)
    end = None if reader.is_sign("]") else read_expression(reader)
    reader.expect("]", "after a slice")
    return ex.Slice(base, begin, end)


def _map(reader: TokenReader, base: ex.Variable | None = None) -> Expression:
    """Read `{a: 1}`, after a variable also `n {.a, b: 1}`."""
    reader.expect("{", "of a map")
    items: list[tuple[str, Expression]] = []
    for _ in reader.items("}", "in a map"):
        if base is not None and reader.takes("."):
            if reader.is_sign("*"):
                raise BadQuery(f"{base.name} {{.*}} is not supported: name the properties, as in {base.name} {{.name}}")
            key = reader.name("property")
            items.append((key, ex.Property(base, key)))
        else:
            key = reader.name("key")
            reader.expect(":", f"after the key {key!r}")
            items.append((key, read_expression(reader)))
    return ex.MapOf(tuple(items))


# ---------------------------------------------------------------------------------------------------------- atoms


def _atom(reader: TokenReader) -> Expression:
    token = reader.peek()
    if token.kind in ("text", "integer", "float"):
        reader.next()
        kinds: dict[str, Callable[[str], int | float | str]] = {"text": str, "integer": int, "float": float}
        return ex.Literal_(kinds[token.kind](token.value))
    if token.kind == "parameter":
        reader.next()
        reader.parameters.add(token.value)
        return ex.Parameter(token.value)
    if reader.is_sign("("):
        return _bracketed(reader)
    if reader.is_sign("["):
        return _list(reader)
    if reader.is_sign("{"):
        return _map(reader)
    return _worded(reader)


def _worded(reader: TokenReader) -> Expression:
    for word, value in (("TRUE", True), ("FALSE", False), ("NULL", None)):
        if reader.takes_word(word):
            return ex.Literal_(value)
    if reader.is_word("CASE"):
        return _case(reader)
    if reader.is_word("EXISTS", "COUNT", "COLLECT") and reader.is_sign("{", ahead=1):
        return _subquery(reader)
    if reader.is_word("EXISTS") and reader.is_sign("(", ahead=1):
        # `exists(n.key)` is `n.key IS NOT NULL`; `exists((a)-[..]-(b))` is the subquery in its brackets.
        reader.next()
        reader.expect("(", "after exists")
        inner = read_expression(reader)
        reader.expect(")", "after exists(...")
        return inner if isinstance(inner, syntax.Subquery) else ex.Unary("IS NOT NULL", inner)
    if reader.is_call():
        return _call(reader)
    if (name := f"{reader.peek().value}.{reader.peek(2).value}".casefold()) in DOTTED and reader.is_sign("(", ahead=3):
        reader.next()
        reader.expect(".", f"in {name}")
        return _call(reader, name)
    # A dotted call such as `apoc.text.join(` begins like the properties of a variable.
    ahead = 1
    while reader.is_sign(".", ahead=ahead):
        ahead += 2
    if ahead > 1 and reader.peek().kind == "word" and reader.is_sign("(", ahead=ahead):
        raise BadQuery(f"the procedures and functions of {reader.peek().value!r} are not available")
    return ex.Variable(reader.variable("value"))


def _is_pattern(reader: TokenReader, ahead: int = 0) -> bool:
    """Return whether a pattern comes: a node in brackets and an edge."""
    if not reader.is_sign("(", ahead=ahead):
        return False
    after = reader.after_bracket(ahead)
    is_back = reader.is_sign("<", ahead=after)
    return reader.is_sign("-", ahead=after + is_back) and reader.is_sign("[", "-", ahead=after + is_back + 1)


def _bracketed(reader: TokenReader) -> Expression:
    if _is_pattern(reader):
        return syntax.Subquery("EXISTS", (read_path(reader, read_expression),), None)
    reader.expect("(", "here")
    inner = read_expression(reader)
    reader.expect(")", "after an expression")
    return inner


def _list(reader: TokenReader) -> Expression:
    reader.expect("[", "of a list")
    if reader.is_variable() and reader.is_word("IN", ahead=1):
        variable = reader.variable()
        reader.expect_word("IN", "in a list comprehension")
        source = read_expression(reader)
        where = read_expression(reader) if reader.takes_word("WHERE") else None
        result = read_expression(reader) if reader.takes("|") else None
        reader.expect("]", "after a list comprehension")
        return ex.Comprehension(variable, source, where, result)
    if reader.is_variable() and reader.is_sign("=", ahead=1) and _is_pattern(reader, 2):
        items: list[Expression] = [syntax.Subquery("EXISTS", (read_path(reader, read_expression),), None)]
        return _pattern_comprehension(reader, items)
    items = []
    for _ in reader.items("]", "in a list"):
        items.append(read_expression(reader))
        if reader.is_word("WHERE") or reader.is_sign("|"):
            return _pattern_comprehension(reader, items)
        if len(items) > _MOST_ITEMS:
            raise BadQuery(f"a list has more than {_MOST_ITEMS:,} items: pass it as a parameter")
    return ex.ListOf(tuple(items))


def _pattern_comprehension(reader: TokenReader, items: list[Expression]) -> Expression:
    """Read the rest of `[(a)-[..]->(b) WHERE p | e]`, whose pattern was read as a condition."""
    pattern = items[0] if len(items) == 1 else None
    if not isinstance(pattern, syntax.Subquery) or pattern.where is not None or len(pattern.paths) > 1:
        raise reader.wrong("before WHERE and | in [ ] stands one pattern, as in [(a)-[..]->(b) WHERE b.x = 1 | b.name]")
    where = read_expression(reader) if reader.takes_word("WHERE") else None
    reader.expect("|", "in [(a)-[..]->(b) | b.name]")
    result = read_expression(reader)
    reader.expect("]", "after [(a)-[..]->(b) | b.name")
    return syntax.PatternComprehension(pattern.paths[0], where, result)


def _case(reader: TokenReader) -> Expression:
    reader.expect_word("CASE", "here")
    subject = None if reader.is_word("WHEN") else read_expression(reader)
    if subject is not None:
        _check_repeated(subject, "CASE b WHEN ... repeats b", "CASE b WHEN ...")
    whens = []
    while reader.takes_word("WHEN"):
        condition = read_expression(reader)
        if subject is not None:
            condition = ex.Binary("=", subject, condition)
        reader.expect_word("THEN", "after WHEN")
        whens.append((condition, read_expression(reader)))
    otherwise = read_expression(reader) if reader.takes_word("ELSE") else None
    reader.expect_word("END", "after CASE")
    if not whens:
        raise reader.wrong("CASE has no WHEN")
    return ex.CaseExpression(tuple(whens), otherwise)


def _subquery(reader: TokenReader) -> Expression:
    kind = cast(Literal["EXISTS", "COUNT", "COLLECT"], reader.next().value.upper())  # the caller has checked the word
    reader.expect("{", f"after {kind}")
    reader.takes_word("MATCH")
    paths = read_paths(reader, read_expression)
    where = read_expression(reader) if reader.takes_word("WHERE") else None
    clauses: tuple[syntax.Clause, ...] = ()
    if not reader.is_sign("}"):
        with reader.nested():
            clauses = reader.read_clauses(reader)
    last = clauses[-1] if clauses else None
    if kind == "COLLECT" and not (isinstance(last, syntax.Projection) and len(last.items) == 1 and not last.star):
        raise reader.wrong("COLLECT { } ends with RETURN and one column")
    reader.expect("}", f"after {kind} {{ ...")
    return syntax.Subquery(kind, paths, where, clauses)


def _call(reader: TokenReader, name: str = "") -> Expression:
    word = reader.next()
    reader.expect("(", "after a function")
    if word.value.upper() in _QUANTIFIERS and reader.is_word("IN", ahead=1):
        return _quantifier(reader, word.value.lower())
    if word.value.casefold() == "reduce" and reader.is_sign("=", ahead=1):
        return _reduction(reader)
    name = name or resolve(word.value)
    if reader.takes("*"):
        reader.expect(")", "after *")
        if name != "count":
            raise BadQuery(f"{word.value}(*) is invalid: only count accepts *")
        return ex.FunctionCall(name, (), star=True)
    distinct = reader.takes_word("DISTINCT")
    arguments: list[Expression] = []
    for _ in reader.items(")", f"between the arguments of {word.value}"):
        arguments.append(read_expression(reader))
    if name == "size" and len(arguments) == 1 and isinstance(arguments[0], syntax.Subquery):
        return syntax.Subquery("COUNT", arguments[0].paths, arguments[0].where)  # size((a)--(b))
    if name == "size" and len(arguments) == 1 and isinstance(arguments[0], syntax.PatternComprehension):
        return syntax.Subquery("COUNT", (arguments[0].path,), arguments[0].where)  # its list holds null, too
    if distinct and name not in AGGREGATES:
        raise BadQuery(f"DISTINCT is invalid in {name}(): only count, collect, sum, avg, min and max accept it")
    return ex.FunctionCall(name, tuple(arguments), distinct)


def _reduction(reader: TokenReader) -> Expression:
    total = reader.variable()
    reader.expect("=", "in reduce(...)")
    initial = read_expression(reader)
    reader.expect(",", "in reduce(...)")
    variable = reader.variable()
    reader.expect_word("IN", "in reduce(...)")
    source = read_expression(reader)
    reader.expect("|", "in reduce(...)")
    value = read_expression(reader)
    reader.expect(")", "after reduce(...")
    return syntax.Reduction(total, initial, variable, source, value)


def _quantifier(reader: TokenReader, kind: str) -> Expression:
    variable = reader.variable()
    reader.expect_word("IN", f"in {kind}(...)")
    source = read_expression(reader)
    reader.expect_word("WHERE", f"in {kind}(...)")
    where = read_expression(reader)
    reader.expect(")", f"after {kind}(...")
    kinds = cast(Literal["any", "all", "none", "single"], kind)  # the caller has checked the word
    return ex.Quantifier(kinds, variable, source, where)
