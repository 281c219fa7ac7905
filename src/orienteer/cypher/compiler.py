"""A statement that the guard has read, as a table of the query algebra."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from orienteer.cypher import syntax
from orienteer.cypher.checks import conjuncts
from orienteer.cypher.functions import AGGREGATES
from orienteer.cypher.names import NameMap
from orienteer.cypher.projections import aggregates, items_of, mixed, with_columns
from orienteer.cypher.syntax import CypherStatement, Expression, MatchClause, Projection, Subquery, Unwind, Variable
from orienteer.errors import BadQuery, nearest
from orienteer.query import plan
from orienteer.query.plan import Among, Every, Inner, IsOf, Match, Meeting, NodeSet, Step, Table, Unit
from orienteer.query.sets import both
from orienteer.query.store import Store
from orienteer.query.tables import mentioned
from orienteer.records import JsonValue

_HIDDEN = "\0"  # begins the names of what has none: the guard refuses it in a text
_LONGEST_WALK = 30  # edges; "any number" is read as up to this


class CompiledStatement(NamedTuple):
    """A statement as a table, with its columns."""

    table: Table
    columns: tuple[str, ...]


def compile_statement(
    statement: CypherStatement,
    store: Store,
    names: NameMap,
    parameters: Mapping[str, JsonValue],
    rows_of: Any,
) -> CompiledStatement:
    """Return a statement as a table. Raises `BadQuery`, `UnknownType`.

    `rows_of` returns the rows of an id as the statement names it.
    """
    compiler = _Compiler(store, names, parameters, rows_of)
    parts = []
    for query in statement.queries:
        compiler.scope = {}
        parts.append(compiler.query(query))
    table = parts[0] if len(parts) == 1 else plan.United(tuple(parts))
    if len(parts) > 1 and not statement.keeps_repeats:
        table = plan.Distinct(table, compiler.columns)
    return CompiledStatement(table, compiler.columns)


class _Compiler:
    """Compiles one statement, clause by clause."""

    def __init__(self, store: Store, names: NameMap, parameters: Mapping[str, JsonValue], rows_of: Any) -> None:
        self._store, self._names, self._parameters, self._rows_of = store, names, parameters, rows_of
        self._node_numbers = {name: number for number, name in enumerate(store.types.nodes)}
        self._edge_numbers = {name: number for number, name in enumerate(store.types.edges)}
        self._fresh = 0
        self.scope: dict[str, str] = {}
        """The variables at hand: node, edge, trail, path or value."""
        self.columns: tuple[str, ...] = ()

    def query(self, clauses: tuple[syntax.Clause, ...]) -> Table:
        """Return the table of a query without UNION."""
        table: Table = Unit()
        for place, clause in enumerate(clauses):
            rest = clauses[place + 1 :]
            if isinstance(clause, MatchClause):
                table = self._match(table, clause, _read(rest), is_distinct=_ignores_repeats(rest))
            elif isinstance(clause, Unwind):
                table = plan.Unwound(table, self._written(clause.source), self._new(clause.variable, "value"))
            else:
                table = self._projection(table, clause)
        return table

    def _new(self, name: str, kind: str) -> str:
        if name in self.scope:
            raise BadQuery(f"the variable {name!r} is used twice for different things")
        self.scope[name] = kind
        return name

    def _made_up(self, what: str) -> str:
        self._fresh += 1
        return f"{_HIDDEN}{what}{self._fresh}"

    # Patterns.

    def _match(self, table: Table, clause: MatchClause, read: frozenset[str] | None, *, is_distinct: bool) -> Table:
        if not clause.optional:
            return self._pattern(table, clause.paths, clause.where, read, is_distinct=is_distinct)
        before = set(self.scope)
        inner = self._pattern(Unit(), clause.paths, clause.where, read, is_distinct=is_distinct)
        names = tuple(name for name in self.scope if name not in before and (read is None or name in read))
        return plan.Optionally(table, inner, names)

    def _pattern(
        self,
        source: Table,
        paths: Sequence[syntax.PathPattern],
        where: Expression | None,
        read: frozenset[str] | None,
        *,
        is_distinct: bool,
    ) -> Match:
        """Return a pattern with its conditions: those on one name go into that name's set."""
        outer = set(self.scope)
        sets: dict[str, list[NodeSet]] = {}
        steps, keyed, named_paths = list[Step](), list[Expression](), list[Any]()
        for path in paths:
            ends = [self._node(node, sets, keyed) for node in path.nodes]
            edges = []
            for edge, start, end in zip(path.edges, ends[:-1], ends[1:], strict=True):
                step = self._step(edge, start, end, path.shortest, keyed)
                steps.append(step)
                edges.append(step.edge)
            if path.variable is not None:
                named_paths.append((self._new(path.variable, "path"), tuple(ends), tuple(edges)))
        conditions = []
        for part in [*keyed, *conjuncts(where)]:
            written = self._written(part)
            names = frozenset(mentioned(written) & self.scope.keys())
            only = next(iter(names)) if len(names) == 1 else ""
            if only in sets and only not in outer and not any(True for _ in syntax.parts(written, Inner)):
                sets[only].append(self._named(only, written) or Meeting(only, written))
            else:
                conditions.append((written, names))
        tested = frozenset[str]().union(*(names for _, names in conditions))
        match = Match(
            source,
            tuple((name, both(*parts)) for name, parts in sets.items()),
            tuple(steps),
            tuple(conditions),
            tuple(path for path in named_paths if read is None or path[0] in read | tested),
            None if read is None else frozenset(read & (self.scope.keys() | outer)),
            is_distinct and read is not None,
        )
        self.scope = {name: kind for name, kind in self.scope.items() if not name.startswith(_HIDDEN)}
        return match

    def _node(self, node: syntax.NodePattern, sets: dict[str, list[NodeSet]], keyed: list[Expression]) -> str:
        name = node.variable or self._made_up("n")
        if self.scope.setdefault(name, "node") not in ("node", "value"):
            raise BadQuery(f"{name!r} is not a node: give the node another name")
        parts = sets.setdefault(name, [])
        if node.types:
            parts.append(Every(self._node_types(node.types)))
        keyed += [syntax.Binary("=", syntax.Property(Variable(name), key), value) for key, value in node.properties]
        return name

    def _step(self, edge: syntax.EdgePattern, start: str, end: str, shortest: str, keyed: list[Expression]) -> Step:
        name = self._new(edge.variable or self._made_up("e"), "trail" if edge.hops else "edge")
        kinds, allowed = self._kinds(edge)
        least, most = (edge.hops.least, edge.hops.most) if edge.hops else (1, 1)
        keyed += [syntax.Binary("=", syntax.Property(Variable(name), key), value) for key, value in edge.properties]
        how = {"": "", "SHORTEST": "one", "ALL SHORTEST": "all"}[shortest]
        return Step(start, end, kinds, name, 1 if how else least, most, bool(edge.hops), allowed, how)  # type: ignore[arg-type]

    def _node_types(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset(self._node_numbers[one] for name in names for one in self._names.node_types(name))

    def _kinds(self, edge: syntax.EdgePattern) -> tuple[frozenset[int], frozenset[tuple[int, int, int]] | None]:
        """Return the kinds of an edge as its pattern's start sees them, and the types of its ends if it names them."""
        every = set(self._names.triples)
        triples = {triple for name in edge.types for triple in self._names.edge_triples(name)} or every
        numbers = {self._edge_numbers[triple.type] for triple in triples}
        kinds, ends = set[int](), set[tuple[int, int, int]]()
        for triple in triples:
            number = self._edge_numbers[triple.type]
            source, target = self._node_numbers[triple.source], self._node_numbers[triple.target]
            goes_both = edge.direction == "both" or triple.type in self._names.undirected
            if goes_both or edge.direction == "out":
                kinds.add(2 * number)
                ends.add((2 * number, source, target))
            if goes_both or edge.direction == "in":
                kinds.add(2 * number + 1)
                ends.add((2 * number + 1, target, source))
        if triples == {triple for triple in every if self._edge_numbers[triple.type] in numbers}:
            return frozenset(kinds), None
        if edge.hops:
            raise BadQuery("in a pattern of variable length, name an edge type without the node types that it joins")
        return frozenset(kinds), frozenset(ends)

    def _named(self, name: str, condition: Expression) -> Among | None:
        """Return the nodes that a condition names by id or by name; None for any other condition."""
        if not isinstance(condition, syntax.Binary) or condition.operator not in ("=", "IN"):
            return None
        left, right = condition.left, condition.right
        if condition.operator == "=" and not isinstance(left, syntax.Property):
            left, right = right, left
        if not isinstance(left, syntax.Property) or left.base != Variable(name):
            return None
        key = left.key.casefold()
        value = self._constant(right)
        wanted = value if condition.operator == "IN" else [value]
        if key not in ("id", "name") or not isinstance(wanted, list) or not all(isinstance(w, str) for w in wanted):
            return None
        find = self._store.called if key == "name" else self._rows_of
        return Among(tuple(sorted({row for one in wanted for row in find(one)})))

    def _constant(self, expression: Expression) -> Any:  # Any: JSON
        if isinstance(expression, syntax.Literal_):
            return expression.value
        if isinstance(expression, syntax.Parameter):
            return self._parameters.get(expression.name)
        if isinstance(expression, syntax.ListOf):
            return [self._constant(item) for item in expression.items]
        return None

    # Expressions.

    def _written(self, expression: Any) -> Any:  # Any: an expression, or a part of one
        """Return an expression with types resolved, and with tables in place of patterns."""
        if isinstance(expression, Variable) and expression.name not in self.scope:
            near = nearest(expression.name, self.scope, most=3)
            hint = f" Near: {', '.join(near)}." if near else ""
            raise BadQuery(
                f"There is no variable {expression.name!r} here.{hint} Known: {', '.join(self.scope) or 'none'}."
            )
        if isinstance(expression, syntax.Parameter) and expression.name not in self._parameters:
            names = ", ".join(self._parameters) or "none"
            raise BadQuery(f"The parameter ${expression.name} was not given. Given: {names}.")
        if isinstance(expression, Subquery):
            return self._subquery(expression)
        if isinstance(expression, syntax.PatternComprehension):
            before = dict(self.scope)
            table = self._pattern(Unit(), (expression.path,), expression.where, None, is_distinct=False)
            value = self._written(expression.result)
            self.scope = before
            return Inner("list", table, value)
        if isinstance(expression, syntax.HasType):
            return self._has_type(expression)
        if isinstance(expression, syntax.Binary) and (tested := self._type_test(expression)) is not None:
            return tested
        if isinstance(expression, syntax.Comprehension | syntax.Quantifier):
            return self._over_list(expression)
        if isinstance(expression, tuple):
            return tuple(self._written(part) for part in expression)
        if not is_dataclass(expression) or isinstance(expression, type | syntax.Literal_ | syntax.Parameter | Variable):
            return expression
        parts = {field.name: getattr(expression, field.name) for field in fields(expression)}
        changed = {
            name: self._written(part) for name, part in parts.items() if is_dataclass(part) or isinstance(part, tuple)
        }
        return replace(expression, **changed)

    def _subquery(self, expression: Subquery) -> Expression:
        before = dict(self.scope)
        is_exists = expression.kind == "EXISTS"
        table = self._pattern(Unit(), expression.paths, expression.where, frozenset(), is_distinct=is_exists)
        self.scope = before
        as_set = self._as_set(table) if is_exists else None
        return as_set or Inner("exists" if is_exists else "count", table)

    def _as_set(self, match: Match) -> Expression | None:
        """Return `EXISTS { (n)-[:TYPE]->(:Type) }` as a membership of a set, which makes no rows; None for others.

        One step from one outer name alone: of several steps no two may take one edge, which sets do not keep apart.
        """
        if len(match.steps) != 1 or match.conditions or match.paths or self._store.has_loops:
            return None
        [step], domains = match.steps, dict(match.nodes)
        outer = [name for name in domains if name in self.scope]
        if step.is_long or step.ends is not None or len(outer) != 1 or len(domains) != 2:
            return None
        far = step.end if step.start == outer[0] else step.start
        kinds = step.kinds if step.start == outer[0] else frozenset(kind ^ 1 for kind in step.kinds)
        nodes = both(domains[outer[0]], plan.Leads(plan.Hop(kinds), domains[far]))
        return plan.IsIn(Variable(outer[0]), nodes)

    def _has_type(self, expression: syntax.HasType) -> Expression:
        variable = self._written(Variable(expression.variable))
        if not expression.types:  # the domain label of a view, which every node has
            return syntax.Unary("IS NOT NULL", variable)
        if self.scope[expression.variable] == "edge":
            triples = {triple.type for name in expression.types for triple in self._names.edge_triples(name)}
            return IsOf(variable, frozenset(self._edge_numbers[one] for one in triples))
        return IsOf(variable, self._node_types(expression.types))

    def _over_list(self, expression: syntax.Comprehension | syntax.Quantifier) -> Expression:
        before = dict(self.scope)
        source = self._written(expression.source)
        self.scope[expression.variable] = "value"
        changed = {
            name: self._written(getattr(expression, name)) for name in ("where", "result") if hasattr(expression, name)
        }
        self.scope = before
        return replace(expression, source=source, **changed)

    def _type_test(self, expression: syntax.Binary) -> Expression | None:
        """Return `type(r) = 'TREATS'` and the like as a test of types; None for any other condition."""
        operator, left, right = expression.operator, expression.left, expression.right
        if operator == "IN" and _calls(right, "labels"):
            operator, left, right = "=", syntax.Item(right, syntax.Literal_(0)), left
        elif operator in ("=", "<>") and _type_base(left) is None:
            left, right = right, left
        base = _type_base(left)
        if base is None or operator not in ("=", "<>", "IN"):
            return None
        value = self._constant(right)
        wanted = value if isinstance(value, list) else [value]
        if not wanted or not all(isinstance(w, str) for w in wanted) or isinstance(value, list) != (operator == "IN"):
            return None
        label = self._names.view.label if self._names.view is not None else None
        if label is not None and label.casefold() in [one.casefold() for one in wanted]:
            return syntax.Unary("IS NOT NULL", self._written(base))
        if _calls(left, "type"):
            types = frozenset(self._edge_numbers[t.type] for one in wanted for t in self._names.edge_triples(one))
        else:
            types = self._node_types(wanted)
        test = IsOf(self._written(base), types)
        return syntax.Unary("NOT", test) if operator == "<>" else test

    # Projections.

    def _projection(self, table: Table, clause: Projection) -> Table:
        items = [(item.name, self._written(item.expression)) for item in items_of(clause, self.scope)]
        names = tuple(name for name, _ in items)
        is_grouped = any(aggregates(expression) for _, expression in items)
        order = [(self._order(part.expression, items), part.descending) for part in clause.order]
        if is_grouped:
            table, items, order = _grouped(table, items, order)
        table = plan.Projected(table, tuple(items), keeps=not clause.distinct and not is_grouped)
        if clause.distinct:
            table = plan.Distinct(table, names)
        skip, limit = self._count(clause.skip, "SKIP") or 0, self._count(clause.limit, "LIMIT")
        if order:
            table = plan.Sorted(table, tuple(order), None if limit is None else skip + limit)
        if skip or limit is not None:
            table = plan.Paged(table, skip, limit)
        # WHERE may read what the clause drops: `WITH c WHERE r IS NULL`.
        before = self.scope
        self.scope = {name: before.get(e.name, "value") if isinstance(e, Variable) else "value" for name, e in items}
        self.columns = names
        if clause.where is not None:
            after = self.scope
            if not clause.distinct and not is_grouped:
                self.scope = {**before, **after}
            table = plan.Filtered(table, self._written(clause.where))
            self.scope = after
        return plan.Projected(table, tuple((name, Variable(name)) for name in names))

    def _order(self, expression: Expression, items: Sequence[tuple[str, Expression]]) -> Expression:
        """Return what to order by: a column, or an expression of what is still there."""
        before = dict(self.scope)
        self.scope = {**before, **{name: "value" for name, _ in items if name not in before}}
        written: Expression = self._written(expression)
        self.scope = before
        return with_columns(written, {e: name for name, e in items if not isinstance(e, Variable)})  # type: ignore[no-any-return]

    def _count(self, count: int | syntax.Parameter | None, what: str) -> int | None:
        if not isinstance(count, syntax.Parameter):
            return count
        value = self._parameters.get(count.name)
        if type(value) is not int or value < 0:
            raise BadQuery(f"{what} takes a whole number of 0 or more: ${count.name} is {value!r}")
        return value


Items = list[tuple[str, Expression]]
Orders = list[tuple[Expression, bool]]


def _grouped(table: Table, items: Items, order: Orders) -> tuple[Table, Items, Orders]:
    """Return a table of groups, with what is computed and ordered by after it."""
    keys = [(name, expression) for name, expression in items if not aggregates(expression)]
    for name, expression in items:
        if aggregates(expression) and mixed(expression, {key for _, key in keys}):
            raise BadQuery(
                f"{name[:60]} mixes count(), collect() and the like with values of one row: gather first by WITH"
            )
    calls: dict[Expression, str] = {}
    for expression in (*(expression for _, expression in items), *(expression for expression, _ in order)):
        for call in syntax.parts(expression, syntax.FunctionCall):
            if call.name in AGGREGATES:
                calls.setdefault(call, f"{_HIDDEN}a{len(calls)}")
    made = []
    for call, name in calls.items():
        assert isinstance(call, syntax.FunctionCall), "only calls aggregate"
        argument, fraction = (*call.arguments, None, None)[:2]
        made.append(plan.Call(name, call.name, argument, call.distinct, fraction))
    known = {expression: name for name, expression in keys} | calls
    after = [
        (name, Variable(name) if not aggregates(expression) else _with_names(expression, known))
        for name, expression in items
    ]
    return (
        plan.Grouped(table, tuple(keys), tuple(made)),
        after,
        [(_with_names(expression, known), descends) for expression, descends in order],
    )


def _with_names(expression: Any, names: Mapping[Expression, str]) -> Any:  # Any: an expression, or a part of one
    """Return an expression with the names of the groups' columns in place of what they hold."""
    if isinstance(expression, tuple):
        return tuple(_with_names(part, names) for part in expression)
    if not is_dataclass(expression) or isinstance(expression, type | Inner | syntax.Literal_ | syntax.Parameter):
        return expression
    if expression in names:
        return Variable(names[expression])  # type: ignore[index]  # it is in `names`
    if isinstance(expression, Variable):
        return expression
    return replace(expression, **{f.name: _with_names(getattr(expression, f.name), names) for f in fields(expression)})


def _read(clauses: Sequence[syntax.Clause]) -> frozenset[str] | None:
    """Return the names that some clauses read; None if they read all."""
    if any(isinstance(clause, Projection) and clause.star for clause in clauses):
        return None
    return mentioned(tuple(clauses))


def _ignores_repeats(clauses: Sequence[syntax.Clause]) -> bool:
    """Return whether it makes no difference to some clauses how often a row comes."""
    for clause in clauses:
        if isinstance(clause, Projection):
            calls = [
                call
                for item in clause.items
                for call in syntax.parts(item.expression, syntax.FunctionCall)
                if call.name in AGGREGATES
            ]
            if calls:
                return all(call.distinct or call.name in ("min", "max") for call in calls)
            if clause.distinct:
                return True
            if clause.limit is not None or clause.skip is not None:
                return False
    return False


def _calls(expression: Expression, name: str) -> bool:
    return isinstance(expression, syntax.FunctionCall) and expression.name == name


def _type_base(expression: Expression) -> Expression | None:
    """Return x of type(x), nodetype(x), labels(x)[0] or head(labels(x)); None for anything else."""
    match expression:
        case syntax.FunctionCall(name="type" | "nodetype", arguments=(entity,)):
            return entity
        case syntax.Item(base=syntax.FunctionCall(name="labels", arguments=(node,)), at=syntax.Literal_(value=0)):
            return node
        case syntax.FunctionCall(name="head", arguments=(syntax.FunctionCall(name="labels", arguments=(first,)),)):
            return first
    return None
