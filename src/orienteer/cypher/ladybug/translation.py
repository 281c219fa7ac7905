"""A statement's tree as text for ladybug. Forms that it would answer wrongly are rewritten, or refused with advice.

Ladybug was seen to differ from Cypher here, so these are rewritten:

 - edges are joined in an order of ours (`joins`), and no edge of the graph matches two edges of a MATCH;
 - variables may differ by case alone;
 - places and slices of lists count from 0 and may lie outside the list;
 - the `sum` of nothing is 0, and that of whole numbers is whole; a text is never converted to a number;
 - a missing optional edge has no type;
 - ORDER BY may stand in a WITH without LIMIT;
 - functions and types may have the names that people write.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from orienteer.cypher import syntax
from orienteer.cypher.checks import conjuncts
from orienteer.cypher.functions import check_portable
from orienteer.cypher.kinds import Value, list_of
from orienteer.cypher.ladybug.joins import UNSURE, MatchPlan, is_unsure, joined, matches, parts_of
from orienteer.cypher.ladybug.matcher import Matcher
from orienteer.cypher.ladybug.pattern_lists import NULLS, PatternLists, named
from orienteer.cypher.ladybug.values import LONGEST_WRITTEN, TOO_LONG, Writer, is_never_null
from orienteer.cypher.names import NameMap
from orienteer.cypher.parser import TOO_DEEP, parse
from orienteer.cypher.patterns import Scope
from orienteer.cypher.projections import in_two_steps, items_of, order_of, page_of
from orienteer.cypher.syntax import CypherStatement, MatchClause, Projection, Unwind
from orienteer.errors import BadQuery
from orienteer.records import JsonValue

LARGEST_FOR_SHORTEST = 2_000_000  # edges; shortest paths took 0.1 s with 1.4 million and 2 to 9 s with 40 million


class EngineQuery(NamedTuple):
    """A statement in the engine's text, with its parameters, and the columns and notes of its answer."""

    text: str
    parameters: dict[str, JsonValue]
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def rewrite(
    text: str,
    names: NameMap,
    parameters: Mapping[str, JsonValue],
    *,
    largest_for_shortest: int = LARGEST_FOR_SHORTEST,
) -> EngineQuery:
    """Read a statement and write it for the engine. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
    return written_for_engine(parse(text), names, parameters, largest_for_shortest=largest_for_shortest)


def written_for_engine(
    statement: CypherStatement,
    names: NameMap,
    parameters: Mapping[str, JsonValue],
    *,
    largest_for_shortest: int = LARGEST_FOR_SHORTEST,
) -> EngineQuery:
    """Write a statement for the engine that the guard has read. Raises what `rewrite` raises."""
    check_portable(statement)
    try:
        return _written(statement, Scope(names, parameters, largest_for_shortest))
    except RecursionError:
        raise BadQuery(TOO_DEEP) from None


def _written(statement: CypherStatement, scope: Scope) -> EngineQuery:
    parts, columns = [], tuple[str, ...]()
    for query in statement.queries:
        scope.variables = {}
        part = _QueryWriter(scope, Writer(scope))
        parts.append(part.written(query))
        columns = part.columns
    joined = (" UNION ALL " if statement.keeps_repeats else " UNION ").join(parts)
    if len(joined) > LONGEST_WRITTEN:
        raise BadQuery(TOO_LONG)
    return EngineQuery(joined, scope.used, columns, tuple(scope.notes))


@dataclass(slots=True)
class _QueryWriter:
    """Writes one query of a UNION."""

    scope: Scope
    writer: Writer
    columns: tuple[str, ...] = ()

    def written(self, clauses: tuple[syntax.Clause, ...]) -> str:
        parts, waiting = [], list[MatchPlan]()
        for place, clause in enumerate(clauses):
            if isinstance(clause, MatchClause) and not clause.optional:
                waiting.append(self._match(clause))
                if not _is_match(clauses[place + 1]):  # the engine reads successive MATCH clauses as one
                    parts.append(matches(waiting))
                    waiting = []
            elif isinstance(clause, MatchClause):
                parts.append(self._optional(clause, is_first=place == 0))
            elif isinstance(clause, Unwind):
                parts.append(self._unwind(clause))
            else:
                parts.append(self._projection(clause, is_last=place == len(clauses) - 1))
        return " ".join(parts)

    def _optional(self, clause: MatchClause, *, is_first: bool = False) -> str:
        if not is_first:
            _check_connected(clause, self.scope.variables)
        matched = self._match(clause)
        self.scope.optional |= {
            matched.variables[path.variable].text: _part(matched.variables[path.variable].text, path)
            for path in clause.paths
            if path.variable is not None
        }
        if not is_first and is_unsure(matched):
            self.scope.note(UNSURE)
        return f"OPTIONAL MATCH {joined([matched], reads_outside=is_first)}"

    def _match(self, clause: MatchClause) -> MatchPlan:
        """Return a clause's patterns with all its conditions; its variables are in scope from then on."""
        matched = Matcher(self.scope, self.writer.write).match(clause.paths, clause.where)
        if clause.where is not None:
            with self.scope.inner({**matched.variables, **matched.narrowed}):
                matched.conditions.extend(map(self.writer.condition, conjuncts(clause.where)))
        narrowed = {} if clause.optional else matched.narrowed
        self.scope.variables = {**self.scope.variables, **matched.variables, **narrowed}
        return matched

    def _unwind(self, clause: Unwind) -> str:
        source = self.writer.write(clause.source)
        return f"UNWIND {source.text} AS {self.scope.take_apart(source, clause.variable)}"

    # ---------------------------------------------------------------------------------------------- WITH, RETURN

    def _projection(self, clause: Projection, *, is_last: bool) -> str:
        items = items_of(clause, self.scope.variables)
        if (steps := in_two_steps(clause, items)) is not None:  # the engine drops a count() in what it reckons before
            return " ".join(self._projection(step, is_last=is_last and step is steps[1]) for step in steps)
        lists = PatternLists()
        items = [replace(item, expression=lists.without(item.expression)) for item in items]
        gathered = self._gathered(lists) if lists.taken else ""
        written, after = [], dict[str, Value]()
        for place, item in enumerate(items):
            with self.scope.aggregating(True):
                value = self.writer.write(item.expression)
            is_kept = isinstance(item.expression, syntax.Variable) and not is_last
            column = f"c{place}" if is_last else self.scope.fresh()
            name = value.text if is_kept and value.text.isidentifier() else column
            text = self.writer.or_null(value) if is_last else value.text
            written.append(text if name == text else f"{text} AS {name}")
            after[item.name] = Value(name, value.kind)
        order = order_of(clause, items, after, self.scope, self.writer.write)
        self.scope.variables = after
        if is_last:
            self.columns = tuple(after)
        # The engine keeps the order of a WITH only with SKIP or LIMIT.
        page = page_of(self.scope, clause) or (" SKIP 0" if order and not is_last else "")
        where = f" WHERE {self.writer.condition(clause.where)}" if clause.where is not None else ""
        # The engine drops the order of a WITH before an aggregation, even with LIMIT: an UNWIND stands between them.
        barrier = f" UNWIND [1] AS {self.scope.fresh()}" if order and not is_last else ""
        distinct = "DISTINCT " if clause.distinct else ""
        begin = f"{gathered}{'RETURN' if is_last else 'WITH'}"
        return f"{begin} {distinct}{', '.join(written)}{order}{page}{where}{barrier}"

    def _gathered(self, lists: PatternLists) -> str:
        """Write the clauses that make the lists of patterns, which are in scope from then on."""
        kept = []
        for name, value in self.scope.variables.items():
            column = value.text if value.text.isidentifier() else self.scope.fresh()
            kept.append(value.text if column == value.text else f"{value.text} AS {column}")
            self.scope.variables = {**self.scope.variables, name: value._replace(text=column)}
        ones = self.scope.fresh()
        parts = [f"WITH {', '.join(kept)}, collect(1) AS {ones}"]  # the rows that are alike in all, as one
        names = [value.text for value in self.scope.variables.values()]
        for comprehension, variable in lists.taken.items():
            names_now = ", ".join([*names, ones])
            matched, value = self._collected(comprehension)
            name = self.scope.fresh()
            parts.append(f"{matched} WITH {names_now}, {value.text} AS {name}")
            names.append(name)
            self.scope.variables = {**self.scope.variables, variable: Value(name, value.kind)}
        return f"{' '.join(parts)} UNWIND {ones} AS {self.scope.fresh()} "

    def _collected(self, comprehension: syntax.PatternComprehension) -> tuple[str, Value]:
        """Return the OPTIONAL MATCH of a pattern, and what is collected of it."""
        outside = self.scope.variables
        path = named(comprehension.path, outside)
        text = self._optional(MatchClause((path,), comprehension.where, optional=True))
        new = next(value for name, value in self.scope.variables.items() if name not in outside)
        result = comprehension.result
        with self.scope.aggregating(False):
            value = self.writer.write(result)
        self.scope.variables = outside
        if value.kind.name == "null":
            raise BadQuery("[(a)-[..]->(b) | null] means nothing: name what is wanted of b")
        if not isinstance(result, syntax.Variable) and not is_never_null(result):
            self.scope.note(NULLS)
        # Where nothing matches, what does not depend on it would stand in the list all the same.
        whole = f"CASE WHEN id({new.text}) IS NOT NULL THEN {value.text} END"
        return text, Value(f"collect({value.text if value.kind.name == 'node' else whole})", list_of(value.kind))


def _is_match(clause: syntax.Clause) -> bool:
    """Return whether a clause is a MATCH that is not optional."""
    return isinstance(clause, MatchClause) and not clause.optional


def _check_connected(clause: MatchClause, variables: Collection[str]) -> None:
    """Raise `BadQuery` for an OPTIONAL MATCH of several parts: the engine answers it with wrong rows."""
    parts = parts_of(path.variables for path in clause.paths)
    if len(parts) > 1 or (clause.where is not None and not parts[0] & set(variables)):
        raise BadQuery("an OPTIONAL MATCH must be one pattern that begins at a known variable: write several of them")


def _part(path: str, pattern: syntax.PathPattern) -> str:
    """Write a part of a path that is null if the path is missing, though some of its nodes may be there."""
    if not pattern.edges:
        return f"id(nodes({path})[1])"
    return f"CASE WHEN size(rels({path})) > 0 THEN id(rels({path})[1]) END"
