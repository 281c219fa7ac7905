"""What a model is told before it reads a question, and the grammar of the lines that it may reply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np

from orienteer.elements import Triple
from orienteer.graph.store import Graph
from orienteer.reading.lexicon import Lexicon
from orienteer.reading.line import EXTENTS, SIGNS, TOLD, TOTALS, tried
from orienteer.reading.quantities import Quantity, converted
from orienteer.reading.query import MOST_ENDS, NAME, PERIODS, TEXT, Valued
from orienteer.reading.units import LIGHT_FIT, PropertyFacts, Units
from orienteer.reading.vocabulary import ENGLISH, QuestionWords
from orienteer.reading.wording import CLAIMS, QueryWording, in_line, in_quotes
from orienteer.retrieval.graph_text import counts_line, triple_line, triples_by_size, types_by_size
from orienteer.text.sentences import CHARACTERS_A_TOKEN, one_line, single_spaced

# ================================================================================================================ brief
# The part of the schema that is near a question, and the nodes that it names.

_TOKENS = 560
"""Of the schema: with the prompt's fixed part of some 600 and the names, a graph of thirty kinds stays below 1,300."""
_SURE = 0.1  # cost of words that are surely a kind's
_MOST_VALUES = 12  # values of a field that are listed
_LONGEST_VALUE = 30  # characters
_MOST_LISTED = 60
"""Values that a field may have of which a line may name one that the question writes otherwise."""
_LONGEST_LINE, _LONGEST_NODE = 700, 200  # characters: names, ids and labels are data, of any length
_MOST_NAMED = 12  # nodes whose edges are counted
_MOST_BEARERS = 4  # nodes of one name that are shown
_Item = TypeVar("_Item")


class Shown(NamedTuple):
    """The part of a schema that a brief shows."""

    text: str
    types: tuple[str, ...]
    triples: tuple[Triple, ...]


def schema_of(lexicon: Lexicon, units: Units, rows: Iterable[int]) -> Shown:
    """Return the kinds and edges of a graph, those nearest to what a question names first, as far as they fit.

    Near is what it names, then what an edge joins to that, then what two edges join. What is left out is counted.
    """
    graph, near = lexicon.graph, _near(lexicon, units, rows)
    # of a value that a field says already, the kind and its edge say nothing more
    values = {facts.name for facts in lexicon.properties.values() if facts.kind == "text"}
    types = [name for name in types_by_size(graph) if name not in values]
    triples = [one for one in triples_by_size(graph) if one.type not in values or one.target != one.type]
    types.sort(key=lambda name: near.get(name, 3))
    triples.sort(key=lambda triple: _distance(lexicon, units, near, triple))
    left, lines = _TOKENS * CHARACTERS_A_TOKEN, dict[str, None]()
    kinds = ((name, _kind_line(lexicon, name)) for name in types)
    edges = ((one, _edge_line(lexicon, one)) for one in triples)
    # two thirds of the room are for kinds, the rest for edges
    own_types, own_triples = _fitting(kinds, left * 2 // 3, lines), _fitting(edges, left // 3, lines)
    dropped = {"kinds": len(types) - len(own_types), "edges": len(triples) - len(own_triples)}
    more = [f"{count} more {what}" for what, count in dropped.items() if count]
    text = "\n".join([*lines, *([f"({', '.join(more)} that are far from the question)"] if more else [])])
    return Shown(text, own_types, own_triples)


def _fitting(written: Iterable[tuple[_Item, str]], room: int, lines: dict[str, None]) -> tuple[_Item, ...]:
    """Return what has room for its line, which may be cut at its colon, and add the lines."""
    kept: list[_Item] = []
    for item, line in written:
        line = line if len(line) <= room else line.partition(":")[0]
        if len(line) <= room:
            room -= len(line) + 1
            lines[line] = None
            kept.append(item)
    return tuple(kept)


def _near(lexicon: Lexicon, units: Units, rows: Iterable[int]) -> dict[str, int]:
    """Return the node types within two edges of what a question names, with how many edges that are."""
    arrays, hops = lexicon.graph.arrays, lexicon.vocabulary.hops
    named = {int(arrays.node_types[row]) for row in rows}
    named.update(kind for own in units.types.values() for unit in own if unit.cost < _SURE for kind in unit.types)
    fields = (lexicon.properties[unit.property] for own in units.properties.values() for unit in own)
    valued = (lexicon.properties[unit.property] for own in units.values.values() for unit in own)
    named.update(kind for facts in (*fields, *valued) for kind in facts.types)
    distance = dict.fromkeys(named, 0)
    for steps in (1, 2):
        around = {hop.target for kind in distance for hop in hops[kind]}
        distance.update({kind: steps for kind in around if kind not in distance})
    return {arrays.types.nodes[kind]: steps for kind, steps in distance.items()}


def _distance(lexicon: Lexicon, units: Units, near: dict[str, int], triple: Triple) -> int:
    """Return how far an edge is from a question: an edge that it names is nearest."""
    edges = lexicon.graph.arrays.types.edges
    said = {edges[edge] for own in units.edges.values() for unit in own if unit.fit > LIGHT_FIT for edge in unit.edges}
    return near.get(triple.source, 3) + near.get(triple.target, 3) - 3 * (triple.type in said)


def _kind_line(lexicon: Lexicon, name: str) -> str:
    """Return a kind with its number of nodes and its fields: `pub 12: rent (number); town (Holmby, Tarrow)`."""
    graph = lexicon.graph
    number = graph.arrays.types.nodes.index(name)
    fields = [_field(lexicon, facts) for facts in lexicon.properties.values() if number in facts.types]
    fields += ["text (prose)"] * (number in lexicon.with_texts and "text" not in lexicon.properties)
    told = f": {'; '.join(fields)}" if fields else ""
    return one_line(f"{in_line(graph.schema.label(name))} {graph.schema.node_types[name]:,}{told}", _LONGEST_LINE)


def _edge_line(lexicon: Lexicon, triple: Triple) -> str:
    """Return an edge with the kinds that it joins and the fields of its own."""
    graph = lexicon.graph
    number = graph.arrays.types.edges.index(triple.type)
    own = [
        f"{in_line(facts.name)} ({facts.kind})" for facts in lexicon.edge_properties.values() if number in facts.edges
    ]
    told = f": {'; '.join(own)}" if own else ""
    label = in_line(graph.schema.label(triple.type), is_edge=True)
    return one_line(f"{triple_line(graph, triple, label)}{told}", _LONGEST_LINE)


def _field(lexicon: Lexicon, facts: PropertyFacts) -> str:
    values = listed_values(lexicon.graph, facts)
    shown = ", ".join(one_line(value, _LONGEST_VALUE) for value in values[:_MOST_VALUES])
    told = f"{shown}, ..." if len(values) > _MOST_VALUES else shown
    return f"{in_line(facts.name)} ({told or facts.kind})"


def listed_values(graph: Graph, facts: PropertyFacts) -> list[str]:
    """Return the values of a field that says one of a few things; empty for any other."""
    if facts.kind == "boolean":
        return [facts.true, "no" if facts.true == "yes" else "false"]
    if facts.kind != "text":
        return []
    rows = graph.arrays.properties.rows(facts.name)
    values: dict[str, None] = {}
    sample = graph.arrays.properties.values(facts.name, rows[:: max(1, len(rows) // 2_000)])
    items = (item for value in sample for item in (value if isinstance(value, list) else [value]))
    for value in (item for item in items if isinstance(item, str)):
        values[value] = None
        if len(values) > _MOST_LISTED or len(value) > _LONGEST_VALUE:
            return []
    return list(values) if len(values) * 2 <= len(rows) else []


def names_of(lexicon: Lexicon, units: Units) -> str:
    """Return the nodes that a question names, each with its edges by kind, which tell namesakes apart."""
    arrays, lines, left = lexicon.graph.arrays, dict[str, None](), dict[int, None]()
    for unit in sorted((one for own in units.names.values() for one in own), key=lambda one: one.cost):
        for row in unit.rows[:_MOST_BEARERS]:
            if len(lines) >= _MOST_NAMED:
                left[row] = None
                continue
            edges = counts_line(lexicon.graph, arrays.counts(arrays.adjacency.entries(np.array([row], np.int32))))
            name = one_line(arrays.names[row])
            told = f'"{name}" ({arrays.type_at(row)}, id {arrays.ids[row]}): {edges or "no edges"}'
            lines[one_line(told, _LONGEST_NODE)] = None
        if len(unit.rows) > _MOST_BEARERS and len(lines) < _MOST_NAMED:
            lines[f'"{one_line(arrays.names[unit.rows[0]])}": {len(unit.rows)} nodes'] = None
    more = [f"({len(left)} more nodes are named, less surely)"] if left else []
    return "\n".join([*lines, *more]) or "(nothing)"


# ============================================================================================================== grammar
# The grammar of a question's line, in GBNF: what `line` parses, of this graph and this question.
#
# Engines that take a grammar can hold a small model to it. Kinds, edges and properties are those that the brief shows;
# names and numbers are those of the question.

_FORMS: Mapping[str, str] = {
    "part": "{label}[ {name or}] | {name or} | ({nodes<})",
    "step": "{edge}{part>} | {edge}anything",
    "measure": "{measured} | number of [edges ]{step} | {own}{part>}",
    "told": "[{mean} ]{measured} of {part} | {measured} at {step}",
    "some": "{step} | {edge}{extent} {part>} | {far}{part>} | number of [edges ]{step} {sign} {count}"
    " | both {bare}and {edge}{part>} | is {named or} | is between {single} and {single} | has {field} | {valued}"
    " | {measured} {sign} {told} | {worded} contains {word} | ({all<} or {all< or})",
    "condition": "[not ]{some}",
    "all": "{condition and}",
    "group": "{field} | {period} of {field} | {step} | itself",
    "best": "{end}[ {first}] by {measure} of  | {end} place {rank} by {measure} of ",
    "nodes": "[{best}]{label}[ {name or}][ that {all}] | {name or}[ that {all}]",
}
"""The forms of a line, each of those above it: in `{}` another form or words, in `[]` what may be left out.

`<` is a form with one bracket less within one another, `>` one of the kind that an edge leads to; `{name or}` is
several names.
"""
_WHOLE = (
    "[list [{first} of ]]{nodes} | whether any {nodes} | count {nodes}[ per {group}] | {field} of {nodes}"
    " | {own}{part>} of {nodes} | {total} {measure} of {nodes}[ per {group}]"
    " | {end}[ {first}] by count {nodes} per {group} | {end}[ {first}] by {total} {measure} of {nodes} per {group}"
    " | whether {measure} of {nodes} is {more} than of {nodes}"
    " | {claim} {nodes} meets {all} | path from {name or} to {named or}"
)
_DEEPEST = 2  # brackets within one another; of 390 lines that were written for hard questions two have more
_MORE = "{0,3}"  # names, conditions or unread words behind the first: a small model repeats them without end
_MOST_NAMES = 60  # nodes: a word may be a part of a thousand names
_FEW = (0, 1)  # numbers of things that a line may say where the question says none
_ANY = "any"  # the key of any kind of nodes
_PART = re.compile(r"\{[^}]*\}|\[|\]|[^][{}]+")


def grammar_of(lexicon: Lexicon, question: str, units: Units, shown: Shown) -> str:
    """Return the grammar of replies to a question: JSON objects with a line or null, and unread words of it.

    `units` is what its words may be, with misspelt words corrected.
    """
    grammar = _Grammar(lexicon, lexicon.vocabulary.read(question), units)
    grammar.add_kinds(shown)
    grammar.add_edges(shown.triples)
    return grammar.text()


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _said(text: str) -> str:
    """Return a part of a line as it is written in a text of JSON."""
    return _literal(json.dumps(text, ensure_ascii=False)[1:-1])


def _several(rule: str, between: str) -> str:
    return f"{rule} ({between} {rule}){_MORE}"


class _Grammar:
    """The rules of one grammar. `part-k3-2` is what an edge to the third kind leads to, with two brackets at most."""

    def __init__(self, lexicon: Lexicon, question: QuestionWords, units: Units) -> None:
        self._lexicon, self._graph, self._units = lexicon, lexicon.graph, units
        self._wording, self._rules = QueryWording(lexicon.graph), dict[str, str]()
        self._kinds: dict[str, tuple[str, frozenset[int]]] = {}
        self._ends: dict[str, list[str]] = {}
        told = [word for at, word in enumerate(question.words) if not word.is_stop]
        self._surfaces = [question.text[word.start : word.end] for word in told]
        whole = {int(one.value) for one in units.quantities.values() if one.value > 0 and one.value == int(one.value)}
        ordinals = {ENGLISH.ordinals[word.text] for word in question.words if word.text in ENGLISH.ordinals}
        self._add_words("first", map(str, sorted(whole)))
        self._add_words("rank", map(str, sorted(whole | ordinals)))
        self._add_words("count", map(str, sorted(whole.union(_FEW))))
        self._add_words("word", (f'"{surface}"' for surface in self._surfaces if '"' not in surface))
        fixed = {
            "sign": SIGNS,
            "extent": EXTENTS,
            "period": PERIODS,
            "mean": TOLD,
            "total": TOTALS,
            "claim": CLAIMS.values(),
        }
        for name, words in {**fixed, "end": ("most", "least"), "more": ("more", "less")}.items():
            self._add_words(name, words)

    def add_kinds(self, shown: Shown) -> None:
        """Add the kinds of nodes that are shown, with their properties and the question's names of theirs."""
        label, numbers = self._graph.schema.label, self._graph.arrays.types.nodes
        ends = (name for triple in shown.triples for name in (triple.source, triple.target))
        for name in dict.fromkeys((*shown.types, *ends)):
            self._kinds[f"k{numbers.index(name)}"] = in_line(label(name)), frozenset({numbers.index(name)})
        self._kinds[_ANY] = "anything", frozenset()
        called = self._called()
        self._add_words("named", called)
        self._add_words("single", (name for name, rows in called.items() if len(rows) <= MOST_ENDS))
        for key, (kind, types) in self._kinds.items():
            properties = self._lexicon.properties.items()
            fields = {in_line(name): own for name, own in properties if not types or types & own.types}
            self._add_words(f"label-{key}", (kind,))
            own = (name for name, rows in called.items() if not types.isdisjoint(self._graph.arrays.node_types[rows]))
            self._add_words(f"name-{key}", own)
            self._add_words(f"field-{key}", fields)
            self._add_words(f"measured-{key}", (name for name, facts in fields.items() if facts.is_measured))
            texts = [name for name, facts in fields.items() if facts.kind == "text"]
            has_texts = self._lexicon.with_texts if key == _ANY else types & self._lexicon.with_texts
            self._add_words(f"worded-{key}", dict.fromkeys((NAME, *([TEXT] if has_texts else []), *texts)))
            self._add(f"valued-{key}", (self._compared(name, facts) for name, facts in fields.items()))

    def add_edges(self, triples: Iterable[Triple]) -> None:
        """Add the edges that are shown, from both of their ends, and from any kind."""
        arrows: dict[tuple[str, str], dict[str, int]] = {}
        types, keys = self._graph.arrays.types, {next(iter(own)): key for key, (_, own) in self._kinds.items() if own}
        for triple in triples:
            label, edge = in_line(self._graph.schema.label(triple.type), is_edge=True), types.edges.index(triple.type)
            source, target = (keys.get(types.nodes.index(name)) for name in (triple.source, triple.target))
            for near, far, arrow in ((source, target, f"-{label}->"), (target, source, f"<-{label}-")):
                if near and far and self._parses(f"{self._kinds[near][0]} that {arrow} {self._kinds[far][0]}"):
                    for key in (near, _ANY):
                        arrows.setdefault((key, far), {})[arrow] = edge
        for (near, far), own in arrows.items():
            self._ends.setdefault(near, []).append(far)
            both = [f"<{arrow}" for arrow in own if f"<{arrow[:-1]}" in own]
            self._add_words(f"bare-{near}-{far}", (f"{arrow} " for arrow in (*own, *both)))
            if near == far:
                self._add_words(f"far-{near}-{far}", (f"{'*'.join(_split(arrow))} " for arrow in own))
            self._add(f"edge-{near}-{far}", (f"bare-{near}-{far}", *map(self._limited, own, own.values())))
            fields = ((in_line(one.name), arrow) for arrow, edge in own.items() for one in self._fields_of(edge))
            self._add_words(f"own-{near}-{far}", (f"{name} of {arrow} " for name, arrow in fields))

    def text(self) -> str:
        """Return all rules, once kinds and edges are added."""
        for level in map(str, range(_DEEPEST + 1)):
            for name, form in _FORMS.items():
                for key in self._kinds:
                    self._add(f"{name}-{key}-{level}", self._alternatives(form, key, level))
        self._add("line", (one for key in self._kinds for one in self._alternatives(_WHOLE, key, str(_DEEPEST))))
        unread = self._add("unread", (_literal(_literal(word)) for word in self._surfaces)) or _literal('""')
        line = '"{\\"line\\": " ("null" | "\\"" line "\\"")'
        root = f'{line} ", \\"unread\\": [" ({_several(unread, _literal(", "))})? "]}}"'
        return "\n".join(f"{name} ::= {rule}" for name, rule in {"root": root, **self._rules}.items())

    # ----------------------------------------------------------------------------------------------------------- rules
    def _add(self, name: str, alternatives: Iterable[str]) -> str:
        """Add a rule and return its name, or an empty text if nothing is left that can be said."""
        kept = list(dict.fromkeys(filter(None, alternatives)))
        if kept:
            self._rules[name] = " | ".join(kept)
        return name if kept else ""

    def _add_words(self, name: str, words: Iterable[str]) -> str:
        return self._add(name, map(_said, words))

    def _alternatives(self, form: str, key: str, level: str) -> Iterator[str]:
        """Yield a form's alternatives; one that needs what is not there is empty."""
        for one in form.split(" | "):
            for far in self._ends.get(key, ()) if ">" in one or "{edge}" in one else ("",):
                yield self._sequence(iter(_PART.findall(one)), (key, far, level))

    def _sequence(self, parts: Iterator[str], place: tuple[str, str, str]) -> str:
        """Return the parts of an alternative up to the end of a bracket; empty if one of them is not there."""
        said = []
        for part in parts:
            if part == "]":
                break
            if part == "[":
                inner = self._sequence(parts, place)
                said += [f"({inner})?"] if inner else []
            else:
                said.append(self._rule(part[1:-1], *place) if part.startswith("{") else _said(part))
        return " ".join(said) if all(said) else ""

    def _rule(self, name: str, key: str, far: str, level: str) -> str:
        """Return the nearest rule of a name in braces: of two kinds, of a kind with brackets, of a kind, of all."""
        name, _, between = name.partition(" ")
        if name.endswith("<"):
            level = str(int(level) - 1)
        own, name = far if name.endswith(">") else key, name.strip("<>")
        names = (f"{name}-{own}-{far}", f"{name}-{own}-{level}", f"{name}-{own}", name)
        rule = next(filter(self._rules.__contains__, names), "")
        return f"({_several(rule, _said(f' {between} '))})" if rule and between else rule

    # ----------------------------------------------------------------------------------- words of graph and question
    def _parses(self, line: str) -> bool:
        return not isinstance(tried(line, self._graph), str)

    def _called(self) -> dict[str, list[int]]:
        """Return the names of the question's nodes, the surest first, and the ids of those that share theirs."""
        arrays, called = self._graph.arrays, dict[str, list[int]]()
        units = sorted((one for own in self._units.names.values() for one in own), key=lambda one: one.cost)
        for row in islice(dict.fromkeys(row for one in units for row in one.rows), _MOST_NAMES):
            name = single_spaced(arrays.names[row])
            called[name] = arrays.candidates(name)
            if len(called[name]) > 1:
                called[arrays.ids[row]] = [row]
        return {in_quotes(name): rows for name, rows in called.items() if rows}

    def _fields_of(self, edge: int) -> list[PropertyFacts]:
        return [facts for facts in self._lexicon.edge_properties.values() if edge in facts.edges]

    def _limited(self, arrow: str, edge: int) -> str:
        """Return an edge with conditions on properties of its own, `-member_of [since >= 1930]->`."""
        where = self._add(f"where-{edge}", (self._compared(in_line(one.name), one) for one in self._fields_of(edge)))
        head, tail = _split(arrow)
        return f"{_said(f'{head} [')} {_several(where, _said(' and '))} {_said(f']{tail} ')}" if where else ""

    def _compared(self, name: str, facts: PropertyFacts) -> str:
        """Return a comparison of a property with what the question says of it, or the brief lists."""
        if facts.is_measured:
            quantities = self._units.quantities.values()
            amounts = dict.fromkeys(one for own in quantities for one in self._amounts(own, facts))
            numbers = [f"sign {_said(f' {one}')}" for one in amounts] + [_said("= 0")] * (facts.kind == "number")
            return f"{_said(f'{name} ')} ({' | '.join(numbers)})" if numbers else ""
        units = [*self._units.values.values(), *self._units.edge_values.values()]
        values = [one.value for own in units for one in own if one.property == facts.name]
        values += [] if facts.edges else listed_values(self._graph, facts)
        texts = [_said(in_quotes(one)) for one in values]
        texts += ["word"] * (facts.kind == "text" and "word" in self._rules)
        return f'{_said(f"{name} ")} ("= " | "!= ") ({" | ".join(dict.fromkeys(texts))})' if texts else ""

    def _amounts(self, amount: Quantity, facts: PropertyFacts) -> Iterator[str]:
        """Yield a number of the question as a property has it: in its own unit, or as dates."""
        values: tuple[float, ...] = (amount.value, *(amount.span or (amount.value + 1,)))  # the end of a bare year
        if facts.kind == "number":
            number = converted(amount.value, amount.unit if facts.unit is not None else None, facts.unit)
            values = () if number is None else (number,)
        write = self._wording.of_edge if facts.edges else self._wording.condition
        for value in values:
            written = write(Valued(facts.name, ">=", int(value) if facts.kind == "year" else value))
            yield written.rpartition(" ")[2]


def _split(arrow: str) -> tuple[str, str]:
    """Return an arrow's beginning, and its end."""
    return (arrow[:-1], "-") if arrow.startswith("<") else (arrow[:-2], "->")
