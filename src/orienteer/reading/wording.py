"""A query in words and in Cypher, and the way that leads from a node to what a condition names.

list compound that -treats-> disease "migraine" and not -causes-> (side effect "headache")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import MAXYEAR, date
from itertools import chain, count

from orienteer.graph.store import Graph
from orienteer.query.store import Store
from orienteer.reading.query import (
    TEXT,
    Among,
    Best,
    Between,
    Condition,
    Either,
    ExactQuery,
    Filled,
    Form,
    Joined,
    Measure,
    NodeSet,
    Told,
    Valued,
    is_of_edges,
    linking_kinds,
    path_kinds,
)
from orienteer.text.sentences import single_spaced

_WORDS = {"list": "", "count": "count ", "test": "whether any "}
CLAIMS: Mapping[Form, str] = {"every": "whether every", "majority": "whether most", "share": "share of"}
_BARE = re.compile(r"[^\W\d]\w*")  # a name that Cypher reads without backticks
_SIGNS = re.compile(r"""["|<>=!`\]]|^\(|(?<!\S)-""")  # of a line, within the name of a property or a kind
_SIGNS_OF_EDGE = re.compile(r"""["|<>`*\[]|^-|-\s|-$""")
_BEGINS = re.compile(  # words of a line where a name of the graph may stand, too
    r"(?i)(and|any|anything|average|both|contains|count|every|has|is|itself|least|list|median|meets|most|not|number"
    r"|only|or|path|per|share|sum|that|whether)(?!\S)"
)


def in_line(name: str, *, is_edge: bool = False) -> str:
    """Return a name of the graph as a line has it: in backticks where a sign or a word of the line is in it."""
    signs = _SIGNS_OF_EDGE if is_edge else _SIGNS
    is_other = signs.search(name) or (not is_edge and _BEGINS.match(name))
    return _in_backticks(name) if is_other else name


def _in_backticks(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def in_quotes(text: str) -> str:
    """Return a name or a value as a line has it, in quotation marks."""
    doubled = single_spaced(text).replace('"', '""')
    return f'"{doubled}"'


class QueryWording:
    """Writes queries over one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self._arrays = graph, graph.arrays

    # ------------------------------------------------------------------------------------------------------ the line

    def line(self, query: ExactQuery) -> str:
        """Return a query as one line, which `line.parse` reads back."""
        nodes = self._nodes(query.nodes)
        if query.group is not None:
            whole, group = self.line(replace(query, group=None, first=None)), query.group
            if query.first is not None:
                first = f" {query.first}" if query.first > 1 else ""
                whole = f"{'most' if query.descending else 'least'}{first} by {whole}"
            return f"{whole} per {self._group(group)}"
        if query.first is not None:
            return f"list {query.first} of {nodes}"
        if query.form in _WORDS:
            return f"{_WORDS[query.form]}{nodes}"
        if query.form == "path":
            assert query.other is not None
            return f"path from {nodes} to {self._nodes(query.other)}"
        if query.form in CLAIMS:
            return f"{CLAIMS[query.form]} {nodes} meets {' and '.join(map(self.condition, query.claimed))}"
        assert query.measure is not None
        measure = self.measure(query.measure)
        if query.form == "compare":
            assert query.other is not None
            more = "more" if query.descending else "less"
            return f"whether {measure} of {nodes} is {more} than of {self._nodes(query.other)}"
        return f"{'' if query.form == 'value' else query.form + ' '}{measure} of {nodes}"

    def _nodes(self, nodes: NodeSet) -> str:
        parts = [self._best(nodes.best)] if nodes.best is not None else []
        named = next((c for c in nodes.conditions if isinstance(c, Among) and not c.negated), None)
        if nodes.types:
            types = (self._arrays.types.nodes[number] for number in sorted(nodes.types))
            parts.append("|".join(in_line(self.graph.schema.label(name)) for name in types))
        elif named is None:
            parts.append("anything")
        if named is not None:
            parts.append(self._names(named.rows, nodes.types))
        rest = [self.condition(condition) for condition in nodes.conditions if condition is not named]
        if rest:
            parts.append("that " + " and ".join(rest))
        return " ".join(parts)

    def _best(self, best: Best) -> str:
        first = f" place {best.skipped + 1}" if best.skipped else f" {best.first}" if best.first > 1 else ""
        return f"{'most' if best.descending else 'least'}{first} by {self.measure(best.measure)} of"

    def measure(self, measure: Measure) -> str:
        """Return what is measured."""
        if measure.target is None:
            return in_line(str(measure.property))
        if is_of_edges(measure):
            return f"{in_line(str(measure.property))} of {self._way(measure)}"
        return f"number of {'edges ' if measure.are_edges else ''}{self._way(measure)}"

    def _group(self, group: Measure) -> str:
        """Return what a number is told for each of: `-brewed_by-> brewery`, `month of placed`."""
        if group.target is not None:
            return self._way(group)
        if group.property is None:
            return "itself"
        told = f"{group.period} of {group.property}".casefold()  # may be called so itself
        is_other = bool(group.period) and told in map(str.casefold, self._arrays.properties.names)
        name = _in_backticks(group.property) if is_other else in_line(group.property)
        return f"{group.period} of {name}" if group.period else name

    def _way(self, edges: Joined | Measure) -> str:
        """Return edges with what they lead to: `-member_of [since >= 1930]-> club`."""
        relation, extent = self._relation(edges.kinds), getattr(edges, "extent", "some")
        end = "->" if relation.endswith("->") else "-"
        if edges.where:
            relation = f"{relation.removesuffix(end)} [{' and '.join(map(self.of_edge, edges.where))}]{end}"
        if isinstance(edges, Joined) and edges.is_far:
            relation = f"{relation.removesuffix(end)}*{end}"
        target = self._part(edges.target or NodeSet())
        return f"{relation} {target}" if extent == "some" else f"{relation} {extent} {target}"

    def of_edge(self, condition: Valued) -> str:
        """Return a condition on a property of edges."""
        denial = "not " if condition.negated else ""
        return f"{denial}{in_line(condition.property)} {condition.comparison} {self.edge_value(condition)}"

    def edge_value(self, condition: Valued) -> str:
        """Return what a property of edges is compared with."""
        return self._value(condition, self.is_edge_dated)

    def _part(self, nodes: NodeSet) -> str:
        text = self._nodes(nodes)
        is_plain = nodes.best is None and all(isinstance(c, Among) and not c.negated for c in nodes.conditions)
        return text if is_plain else f"({text})"

    def _names(self, rows: Sequence[int], types: Collection[int] = ()) -> str:
        """Return names among nodes of some types, with the type where that tells namesakes apart, else ids."""
        texts: dict[str, None] = {}
        for row in rows:
            name, own = self._arrays.names[row], int(self._arrays.node_types[row])
            others = {int(self._arrays.node_types[one]) for one in self._arrays.candidates(name) if one not in rows}
            others = others & {*types} if own in types else others
            kind = self.graph.schema.label(self._arrays.types.nodes[own])
            if own in others:
                name, others = self._arrays.ids[row], set()
            texts[f"{in_quotes(name)}{f' ({in_line(kind)})' if others else ''}"] = None
        return " or ".join(texts)

    def condition(self, condition: Condition) -> str:
        """Return a condition."""
        denial = "not " if condition.negated else ""
        if isinstance(condition, Among):
            return f"{denial}is {self._names(condition.rows)}"
        if isinstance(condition, Between):
            return f"{denial}is between {self._part(condition.near)} and {self._part(condition.far)}"
        if isinstance(condition, Filled):
            return f"{denial}has {in_line(condition.property)}"
        if isinstance(condition, Valued):
            name = in_line(condition.property)
            return f"{denial}{name} {condition.comparison} {self._value(condition, self.is_dated)}"
        if isinstance(condition, Either):
            options = " or ".join(" and ".join(map(self.condition, option)) for option in condition.options)
            return f"{denial}({options})"
        if condition.also:
            return f"{denial}both {' and '.join((*map(self._relation, condition.also), self._way(condition)))}"
        if condition.comparison is None:
            return f"{denial}{self._way(condition)}"
        edges = "edges " if condition.are_edges else ""
        return f"{denial}number of {edges}{self._way(condition)} {condition.comparison} {_plain(condition.number)}"

    def _value(self, condition: Valued, is_dated: Callable[[str], bool]) -> str:
        if isinstance(condition.value, str):
            return in_quotes(condition.value)
        if isinstance(condition.value, Told):
            return self._told(condition.value)
        is_day = condition.comparison not in ("<", ">=") and condition.value == int(condition.value)
        if is_day and is_dated(condition.property):  # a year alone is all its days
            return f"{int(condition.value):04}-01-01"
        return _dated(condition.value, is_date=is_dated(condition.property))

    def _told(self, told: Told) -> str:
        """Return a value that the graph tells: `average height of tower`, `born at -father-> person`."""
        name = in_line(told.property)
        if told.kinds:
            return f"{name} at {self._relation(told.kinds)} {self._part(told.nodes)}"
        return f"{'' if told.form == 'value' else told.form + ' '}{name} of {self._part(told.nodes)}"

    def moment(self, name: str | None, value: float) -> str:
        """Return a number of a property, as a date where the property tells dates."""
        return _dated(value, is_date=name is not None and self.is_dated(name))

    def edge_name(self, edge: int) -> str:
        """Return what an edge type is called."""
        return self.graph.schema.label(self._arrays.types.edges[edge])

    def _relation(self, kinds: Sequence[int]) -> str:
        if len(kinds) > 2 and tuple(kinds) == linking_kinds(self.graph):  # all edges, of several types
            return "--"
        edges = "|".join(dict.fromkeys(in_line(self.edge_name(kind >> 1), is_edge=True) for kind in kinds))
        directions = {kind & 1 for kind in kinds}
        if len(directions) == 2:
            return f"<-{edges}->"
        return f"<-{edges}-" if directions == {1} else f"-{edges}->"

    def path(self, row: int, steps: Sequence[tuple[int, int]]) -> str:
        """Return a way from a node, its far end first: `Belgium <-located_in- Duvel Moortgat <-brewed_by- Duvel`."""
        rows = [row, *(neighbor for _, neighbor in steps)]
        back = [self._step(kind ^ 1, near) for (kind, _), near in zip(steps, rows[:-1], strict=True)]
        return " ".join([self._arrays.names[rows[-1]], *reversed(back)])

    def walk(self, steps: Sequence[tuple[int, int, int]]) -> str:
        """Return a path of (row before, kind, row behind) from its near end: `Duvel -brewed_by-> Duvel Moortgat`."""
        return " ".join([self._arrays.names[steps[0][0]], *(self._step(kind, far) for _, kind, far in steps)])

    def onward(self, steps: Sequence[tuple[int, int, int]]) -> str:
        """Return a walk of (kind, place, row) from a node that was named before: `-located_in-> Belgium`."""
        return " ".join(self._step(kind, row) for kind, _, row in steps)

    def _step(self, kind: int, row: int) -> str:
        edge, name = self.edge_name(kind >> 1), self._arrays.names[row]
        return f"<-{edge}- {name}" if kind & 1 else f"-{edge}-> {name}"

    def is_dated(self, name: str) -> bool:
        """Return whether a property tells dates, which are texts."""
        rows = self._arrays.properties.rows(name)[:1]
        return bool(len(rows)) and _is_date(self._arrays.properties.values(name, rows)[0])

    def is_edge_dated(self, name: str) -> bool:
        """Return whether a property of edges tells dates, which are texts."""
        _, values = Store.of(self.graph).property("edge", name)
        return _is_date(next(iter(values.take([0]).values()), None))

    # -------------------------------------------------------------------------------------------------------- Cypher

    def cypher(self, query: ExactQuery) -> str | None:
        """Return a query in Cypher; None for what Cypher as it is read here cannot say in one statement."""
        return CypherWording(self).query(query)


class CypherWording:
    """Writes one query in Cypher."""

    def __init__(self, wording: QueryWording) -> None:
        self._wording, self._arrays = wording, wording.graph.arrays
        self._numbers = count(1)

    def query(self, query: ExactQuery) -> str | None:
        """Return the statement."""
        if query.group is not None or query.form in ("median", "share", "majority") or is_of_edges(query.measure):
            return None
        if query.form == "path":
            assert query.other is not None
            ends = {"a": query.nodes, "b": query.other}
            edges = self._arrays.types.edges
            kinds = path_kinds(self._wording.graph, [row for nodes in ends.values() for row in nodes.named])
            names = dict.fromkeys(_quoted(edges[kind >> 1]) for kind in kinds)
            types = f":{'|'.join(names)}" if len(names) < len(edges) else ""
            way = f"-[{types}*..8]-".join(f"({name}{self._label(nodes)})" for name, nodes in ends.items())
            told = " AND ".join(self._condition(name, one) for name, nodes in ends.items() for one in nodes.conditions)
            return f"MATCH p = shortestPath({way}) WHERE {told} RETURN p"
        if query.form == "compare" or not self._is_sayable(query.other or query.nodes):
            return None
        if query.form == "every":
            failing = " OR ".join(f"NOT ({self._condition('n', condition)})" for condition in query.claimed)
            told = " AND ".join([*(self._condition("n", one) for one in query.nodes.conditions), f"({failing})"])
            return f"MATCH (n{self._label(query.nodes)}) WHERE {told} RETURN count(n) = 0"
        conditions = " AND ".join(self._condition("n", condition) for condition in query.nodes.conditions)
        match = f"MATCH (n{self._label(query.nodes)}){f' WHERE {conditions}' if conditions else ''}"
        best = query.nodes.best
        if best is not None:
            measured = self._measured("n", best.measure)
            skipped = f" SKIP {best.skipped}" if best.skipped else ""
            order = f" ORDER BY value{' DESC' if best.descending else ''}{skipped} LIMIT {best.first}"
            is_counted = best.descending and best.measure.target is not None
            known = "value > 0" if is_counted else "value IS NOT NULL"
            return f"{match} WITH n, {measured} AS value WHERE {known} RETURN n.id, n.name, value{order}"
        value = self._measured("n", query.measure) if query.measure is not None else ""
        returned = {
            **{"list": "n.id, n.name", "count": "count(n)", "test": "count(n) > 0"},
            **{"average": f"avg({value})", "sum": f"sum({value})", "value": f"n.name, {value}"},
        }[query.form]
        return f"{match} RETURN {returned}{'' if query.first is None else f' LIMIT {query.first}'}"

    def _is_sayable(self, nodes: NodeSet) -> bool:
        """Return whether no condition has a superlative or a told value in it, or is of every node, or no others."""
        return not any(map(self._is_unsayable, nodes.conditions))

    def _is_unsayable(self, condition: Condition) -> bool:
        if isinstance(condition, Joined):
            is_plain = condition.extent == "some" and condition.target.best is None
            # One MATCH takes no edge twice.
            kinds = [*chain(condition.kinds, *condition.also)]
            is_plain = is_plain and len(set(kinds)) == len(kinds)
            return not is_plain or not self._is_sayable(condition.target)
        is_told = isinstance(condition, Valued) and isinstance(condition.value, Told)
        return is_told or isinstance(condition, Between) or self._is_of_text(condition)

    def _is_of_text(self, condition: Condition) -> bool:
        """Return whether a condition is of the texts of nodes, which are no property in Cypher."""
        if isinstance(condition, Either):
            return any(self._is_of_text(part) for option in condition.options for part in option)
        own = self._arrays.properties.names
        return isinstance(condition, Valued) and condition.property == TEXT and TEXT not in own

    def _label(self, nodes: NodeSet) -> str:
        names = [_quoted(self._arrays.types.nodes[number]) for number in sorted(nodes.types)]
        return ":" + "|".join(names) if names else ""

    def _condition(self, variable: str, condition: Condition) -> str:
        text = self._said(variable, condition)
        return f"NOT ({text})" if condition.negated else text

    def _said(self, variable: str, condition: Condition) -> str:
        if isinstance(condition, Among):
            ids = [_text(self._arrays.ids[row]) for row in condition.rows]
            return f"{variable}.id IN [{', '.join(ids)}]" if len(ids) != 1 else f"{variable}.id = {ids[0]}"
        assert not isinstance(condition, Between), "it is not sayable"
        if isinstance(condition, Filled):
            return f"{variable}.{_quoted(condition.property)} IS NOT NULL"
        if isinstance(condition, Valued):
            return self._compared(variable, condition)
        if isinstance(condition, Either):
            options = (" AND ".join(self._condition(variable, part) for part in option) for option in condition.options)
            return "(" + " OR ".join(f"({option})" for option in options) + ")"
        inner = self._pattern(variable, condition)
        if condition.comparison is None:
            return f"EXISTS {{ {inner} }}"
        return f"COUNT {{ {inner} }} {_sign(condition.comparison)} {_plain(condition.number)}"

    def _compared(self, variable: str, condition: Valued) -> str:
        """Return a comparison with a value, texts whatever their case, dates as the texts that they are."""
        name, properties = condition.property, self._arrays.properties
        told = f"{variable}.{_quoted(name)}"
        if condition.comparison == "contains":
            return f"toLower({told}) CONTAINS {_text(str(condition.value)).lower()}"
        if isinstance(condition.value, float):
            value = self._wording.moment(name, condition.value)
            if self._wording.is_dated(name):
                value = _text(f"{value}-01-01" if value.isdigit() else value)
        elif condition.comparison != "=":
            value = _text(str(condition.value))
        elif isinstance(properties.values(name, properties.rows(name)[:1])[0], bool):
            value = str(condition.value).lower()
        else:
            return f"toLower({told}) = {_text(str(condition.value)).lower()}"
        return f"{told} {_sign(condition.comparison)} {value}"

    def _pattern(self, variable: str, edges: Joined | Measure) -> str:
        target, number = edges.target or NodeSet(), next(self._numbers)
        types = ":" + "|".join(dict.fromkeys(_quoted(self._arrays.types.edges[kind >> 1]) for kind in edges.kinds))
        directions = {kind & 1 for kind in edges.kinds}
        left, right = ("<-" if directions == {1} else "-"), ("->" if directions == {0} else "-")
        edge = f"e{number}" if edges.where else ""
        types = "" if len(edges.kinds) == 2 * len(self._arrays.types.edges) > 2 else types
        types += "*1.." if isinstance(edges, Joined) and edges.is_far else ""
        told = [self._of_edge(edge, condition) for condition in edges.where]
        told += [self._condition(f"m{number}", condition) for condition in target.conditions]
        where = f" WHERE {' AND '.join(told)}" if told else ""
        also = ""
        for kinds in edges.also if isinstance(edges, Joined) else ():  # further edges to the same node
            plain = self._pattern(variable, Joined(kinds, NodeSet())).removeprefix("MATCH ")
            also += f", {re.sub(r'[(]m[0-9]+[)]$', f'(m{number})', plain)}"
        return f"MATCH ({variable}){left}[{edge}{types}]{right}(m{number}{self._label(target)}){also}{where}"

    def _of_edge(self, variable: str, condition: Valued) -> str:
        """Return a condition on a property of an edge; one that is denied holds where the edge has no value, too."""
        name = f"{variable}.{_quoted(condition.property)}"
        text = f"{name} {_sign(condition.comparison)} {self._wording.edge_value(condition).replace(chr(34), chr(39))}"
        return f"({name} IS NULL OR NOT {text})" if condition.negated else text

    def _measured(self, variable: str, measure: Measure) -> str:
        if measure.target is None:
            return f"{variable}.{_quoted(str(measure.property))}"
        return f"COUNT {{ {self._pattern(variable, measure)} }}"


def _dated(value: float, *, is_date: bool) -> str:
    if not is_date or value == int(value) or not 1 <= value < MAXYEAR:
        return _plain(value)
    first, last = (date(int(value) + more, 1, 1).toordinal() for more in (0, 1))
    return date.fromordinal(first + round((value - int(value)) * (last - first))).isoformat()


def _is_date(value: object) -> bool:
    return isinstance(value, str) and "-" in value[1:]


def _quoted(name: str) -> str:
    return name if _BARE.fullmatch(name) else _in_backticks(name)


def _sign(comparison: str) -> str:
    return comparison.replace("!=", "<>")


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
