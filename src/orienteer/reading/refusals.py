"""Why a question was not read, and the nearest questions that may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from orienteer.reading.edges import is_told_of_others
from orienteer.reading.query import (
    Among,
    Between,
    Either,
    ExactQuery,
    Joined,
    Measure,
    NodeSet,
    Valued,
    edges_of,
    is_of_anything,
    joined_of,
    parts_of,
    sets_within,
)
from orienteer.reading.relations import SAME_WORD, SchemaRelations
from orienteer.reading.rules import Context
from orienteer.reading.units import LIGHT_FIT, TimedEdges
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.records import Refusal
from orienteer.text import english
from orienteer.text.english import IRREGULAR
from orienteer.text.tokenizer import plural, singulars

_NEAR = 3  # names that are offered for one that is not there
_MOST_AROUND = 2  # kinds
_NOTHING = WORDS["empty"] | WORDS["determiners"] | english.ASKING | english.NO_NAMES
_SURE = 0.2  # cost of a word that is surely what it is taken for


def unsupported(why: str) -> Refusal:
    """Return the refusal of a question whose words are known, but which asks for something that is not answered."""
    return Refusal(kind="not_here" if why.startswith("nothing here") else "unsupported", text=why)


def not_understood(*words: str) -> Refusal:
    """Return the refusal of a question with words that the graph does not have."""
    return Refusal(kind="not_understood", words=words, text=f"not understood: {_quoted(words)}")


def refusal_of(context: Context) -> Refusal:
    """Return why no rule reads a question: unknown names, unknown words, or known words that say nothing together."""
    names, words = _left(context)
    names = (*(context.reading.surface(*span) for span in context.units.unknown_ids), *names)
    why = context.complaints  # that the graph has none says most
    complaint = max(why, key=lambda one: (one.startswith("nothing here"), why[one]), default=None)
    if names:
        arrays = context.lexicon.graph.arrays
        near = tuple(dict.fromkeys(near for name in names for near in arrays.near_names(name, most=_NEAR)))
        said = [name for name in names if arrays.contains(name)]
        absent = [name for name in names if name not in said]
        told = [f"not in this graph: {_quoted(absent)}"] * bool(absent)
        told += [f"nothing is called {_quoted(said)}, though a text or a value has it"] * bool(said)
        text = "; ".join(told) + (f" (near: {', '.join(near)})" if near else "")
        return Refusal(kind="unknown_name", words=(*names, *words), near=near, text=text)
    if complaint is not None:
        left = tuple(word for word in words if word.casefold() not in ENGLISH.most)
        refusal = unsupported(complaint + (f"; not understood: {_quoted(left)}" if left else ""))
        return refusal.model_copy(update={"words": words})
    if words:
        return not_understood(*words)
    return Refusal(kind="not_understood", text="each word is known, and not what they say together")


def nearest_questions(context: Context) -> Iterator[str]:
    """Yield questions of the words that were understood, the nearest first; not each of them can be read."""
    units, last = context.units, context.reached
    left = {place for place in range(context.end) if _says_something(context, place) and place not in units.covered()}
    # "Taylor" alone is not who "Taylor Swift" is.
    names = [(first, end) for first, end in _spans(context, units.names) if not {first - 1, end} & left]
    values = _spans(context, units.values, names)
    kinds = _spans(context, units.types, names)
    properties = _spans(context, units.properties, names)
    if any(1 < end == last < context.end for _, end in (*names, *values, *properties)):
        yield context.reading.surface(0, last)

    def texts(spans: Iterable[tuple[int, int]]) -> list[str]:
        return list(dict.fromkeys(context.reading.surface(*span) for span in spans))

    for name in texts(names):
        yield from (f"{kind} of {name}" for kind in texts(kinds))
        yield from (f"{text} of {name}" for text in texts(properties))
    for place, _ in names:
        unit = max(units.names[place], key=lambda unit: unit.last)
        yield from (f"{kind} of {context.reading.surface(place, unit.last)}" for kind in _around(context, unit.rows[0]))
    for value in texts(values):
        yield from (f"{kind} {word} {value}" for kind in texts(kinds) for word in ("in", "with"))
    yield from (f"How are {one} and {other} connected?" for one, other in pairwise(texts(names)))
    yield from (f"How many {kind if _is_plural(kind) else plural(kind)}?" for kind in texts(kinds))


def _is_plural(noun: str) -> bool:
    word = noun.split()[-1].casefold()
    return word in IRREGULAR or (word.endswith("s") and len(singulars(word)) > 1)


def _around(context: Context, row: int) -> Iterator[str]:
    """Yield the kinds that most edges of a node lead to."""
    arrays, schema = context.lexicon.graph.arrays, context.lexicon.graph.schema
    joined = arrays.node_types[arrays.adjacency.entries(np.array([row], np.int32)).neighbor]
    for kind, _ in Counter(joined.tolist()).most_common(_MOST_AROUND):
        yield schema.label(arrays.types.nodes[kind])


def _spans(
    context: Context, units: Mapping[int, Sequence[Any]], before: Iterable[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """Return from where to where units stand that are surely what they are; those within others `before` are left out.

    Any: all kinds of units have `last` and `cost`.
    """
    spans: list[tuple[int, int]] = []
    for place in sorted(units):
        last = max((unit.last for unit in units[place] if getattr(unit, "cost", 0.0) < _SURE), default=place)
        if last > place and not any(place < end and last > start for start, end in (*spans, *before)):
            spans.append((place, last))
    return spans


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(map(repr, words))


def _left(context: Context) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that no node has, and the other words that say something and are nothing of the graph."""
    reading, covered = context.reading, context.units.covered()
    names, words, place = list[str](), list[str](), 0
    while place < context.end:
        last = place + 1
        if _says_something(context, place) and place not in covered:
            while _goes_on(context, place, last):
                last += 1
            is_name = reading.is_written_as_name(place) or reading.words[place].is_quoted
            (names if is_name else words).append(reading.surface(place, last))
        place = last
    return tuple(dict.fromkeys(names)), tuple(dict.fromkeys(words))


def _says_something(context: Context, place: int) -> bool:
    word = context.reading.words[place]
    return not word.is_stop and word.text not in _NOTHING


def _goes_on(context: Context, first: int, place: int) -> bool:
    """Return whether a quoted name that begins at a place goes on with a word: `"Zork Nine"`."""
    if place >= context.end or not context.reading.words[first].is_quoted:
        return False
    between = context.reading.text[context.reading.words[place - 1].end : context.reading.words[place].start]
    return context.reading.words[place].is_quoted and between.isspace()


_ASKED = 3  # words, among which the one that asks is


class Unanswered:
    """Finds the word of one question that asks for something else than the nodes that were read."""

    def __init__(self, context: Context, relations: SchemaRelations, people: frozenset[int]) -> None:
        """`people` are the node types that `who` asks for."""
        self._context, self._relations, self._people = context, relations, people

    def word(self, query: ExactQuery) -> str | None:
        """Return the word as the question spells it; None where the query answers it."""
        if query.form == "value" and self._asks_for_nodes(query):
            return self._context.reading.surface(0, 1)
        if query.form not in ("list", "count") or not self._context.words:
            return None
        place = next(self._places(query), None)
        return None if place is None else self._context.reading.surface(place, place + 1)

    def _places(self, query: ExactQuery) -> Iterator[int]:
        words = self._context.words
        types = self._relations.types_of(query.nodes)
        if (who := self._who()) is not None and not self._tells_who(query, types):
            yield who
        if query.form == "count":
            return
        if words[0] in WORDS["which"] and not WORDS["be"].isdisjoint(words) and self._ends_turned(query):
            yield len(words) - 1
        if "where" in words[:_ASKED] and not self._tells_where(query, types):
            yield words.index("where")
        is_bare = words[0] == "what" and self._context.at(1) in WORDS["auxiliaries"] and types <= self._people
        if is_bare and self._context.at(2) not in WORDS["determiners"] and types.isdisjoint(_kinds_said(self._context)):
            yield 0  # what "is kept in the East Wing" is not who keeps it
        if query.nodes.named and words[-1] in WORDS["last of scenes"] | {"at", "from"}:
            yield len(words) - 1  # "what is X in?"
        used = next((at for at in range(1, len(words)) if words[at - 1 : at + 1] == ["used", "to"]), None)
        if used is not None and words[used - 2] not in WORDS["be"] and self._people and types <= self._people:
            yield used - 1  # who used to do something does so no longer
        runs = next((at for at, word in enumerate(words) if word in WORDS["runs"]), None)
        edges, said = {kind >> 1 for kind in edges_of(query)}, self._context.units.edges.get(runs or 0, ())
        is_said = any(unit.fit > LIGHT_FIT and edges & unit.edges.keys() for unit in said)
        if runs is not None and self._people and types <= self._people and not is_said:
            yield runs  # who runs a thing does more than be there
        if words[0] in WORDS["all"] and self._is_claim():
            yield 0
        yield from self._owners(types)

    def _who(self) -> int | None:
        """Return the place of the word that asks for people: `who`, `how many people`, `everybody on the team`."""
        units, words = self._context.units, self._context.words
        first = next((at for at, word in enumerate(words[:_ASKED]) if word in WORDS["somebody"]), None)
        is_head = not any(units.types.get(at) or units.names.get(at) or units.edges.get(at) for at in range(first or 0))
        return first if is_head else None

    def _tells_where(self, query: ExactQuery, types: frozenset[int]) -> bool:
        """Return whether nodes are where something is: places, and neither people nor what is there."""
        if query.nodes.named:
            return any(_joined(query))
        are_people = bool(self._people and types and types <= self._people)
        # what is somewhere, and not where it is: of `shown_at`, what is shown
        are_there = any(
            not any(kind & 1 for kind in condition.kinds) and self._ends(condition, WORDS["last of places"])
            for condition in _joined(query)
        )
        is_condition = self._context.words[0] != "where"  # "languages where typing is unknown"
        return not are_people and not are_there and (is_condition or self._are_places(query, types))

    def _tells_who(self, query: ExactQuery, types: frozenset[int]) -> bool:
        """Return whether nodes are people, or those who do as people do; true where no type is of people."""
        if not query.nodes.types and any(one.kinds == self._relations.any_kinds for one in _joined(query)):
            return False  # not all neighbours are people
        if not self._people or not types or self._people & types:
            return True
        kinds = [kind for condition in _joined(query) for kind in condition.kinds]
        are_doers = all(map(self._relations.labels.is_doer, kinds)) and bool(kinds)
        # in or with what something is done: Linux is `written_in` a language, by nobody
        are_scenes = any(self._ends(condition, WORDS["last of scenes"]) for condition in _joined(query))
        return are_doers and not are_scenes

    def _asks_for_nodes(self, query: ExactQuery) -> bool:
        """Return whether a question that gives a property asks for its nodes: `who was born before X died`."""
        words, types = self._context.words, self._relations.types_of(query.nodes)
        kinds = self._context.units.types.get(1, ()) if words[:1] and words[0] in WORDS["which"] else ()
        is_of_kind = any(kind.types & types for kind in kinds)
        return bool(words) and not query.nodes.named and (words[0] in WORDS["who"] or is_of_kind)

    def _ends_turned(self, query: ExactQuery) -> bool:
        """Return whether the last word is of edges that lead the other way: `what is C written in`, of what is in C."""
        last = self._context.words[-1]
        return any(
            condition.target.named
            and not any(kind & 1 for kind in condition.kinds)
            and any(last in label[1:] for label in self._labels(condition))
            for condition in _joined(query)
        )

    def _are_places(self, query: ExactQuery, types: frozenset[int]) -> bool:
        """Return whether nodes are places by what they are called, or by edges that say where things are."""
        labels = self._context.lexicon.vocabulary.node_labels
        called = {word for kind in types for label in labels[kind] for word in label.words}
        edges = {word for condition in _joined(query) for label in self._labels(condition) for word in label}
        are_places = not called.isdisjoint(WORDS["places"] | WORDS["organisations"])
        return are_places or not edges.isdisjoint(WORDS["saying where"])

    def _is_claim(self) -> bool:
        """Return whether something is said of all: `every ship of X is steel?`."""
        words = self._context.words
        if self._context.reading.text.rstrip().endswith("?") and (WORDS["which"] | WORDS["who"]).isdisjoint(words):
            return True  # "all X halls stone?"
        claimed = next((place for place, word in enumerate(words) if word in WORDS["be"]), 0)
        return claimed > 0 and WORDS["linking"].isdisjoint(words[:claimed])

    def _ends(self, condition: Joined, words: frozenset[str]) -> bool:
        """Return whether a label of a condition's edges ends with one of these words."""
        return any(label[-1] in words for label in self._labels(condition))

    def _owners(self, types: frozenset[int]) -> Iterator[int]:
        """Yield the place of `whose` in `whose ship is the fastest?`, and of `which` in `which company's ships`."""
        context = self._context
        for place, word in enumerate(context.words[:-1]):
            for kind in context.units.types.get(place + 1, ()):
                is_asked, is_owner = bool(kind.types & types), context.possessive(kind.last) is not None
                is_theirs = word in WORDS["which"] and is_owner and not is_asked
                if is_theirs or (word == "whose" and place == 0 and is_asked):
                    yield place

    def _labels(self, condition: Joined) -> list[list[str]]:
        """Return the words of the labels of a condition's edges."""
        return [label.replace("_", " ").split() for label in self._relations.labels.of(condition.kinds)]


def _kinds_said(context: Context) -> frozenset[int]:
    """Return the types of nodes that words of the question name."""
    return frozenset(kind for units in context.units.types.values() for unit in units for kind in unit.types)


def _joined(query: ExactQuery) -> Iterator[Joined]:
    """Yield the relations that nodes of a query have themselves."""
    for condition in query.nodes.conditions:
        if isinstance(condition, Joined):
            yield condition


def doubt(context: Context, relations: SchemaRelations, query: ExactQuery) -> str | None:
    """Return the reason why a query may not be what the asker means; None if there is none."""
    alone, rows = _alone(context, relations, query), _nameless(context, relations, query)
    if alone:
        return f"nothing here is linked to {alone}"
    if rows:
        return f"the answer would be rows of {rows}, which have no names: ask for {rows}, or for what they join"
    total = query.measure.property if query.form in ("average", "sum") and query.measure is not None else None
    facts = context.lexicon.properties.get(total or "")  # none of a property of edges
    if facts is not None and not facts.is_measured:
        return f"{total} holds no numbers"
    if (kind := _unnamed_kind(context, relations, query)) is not None:
        return f"several nodes of {kind} have the same name, and are not taken for one"
    if (name := _counted_name(context, query)) is not None:
        return f"{name} is a name: say what of it is to be counted"
    if (said := _untold_total(context, query)) is not None:
        return f"{said!r} is not what would be told: ask for the average, or the total, of what"
    if (name := _adjective(context, query)) is not None:
        return f"{name!r} may say how things are, and name none: say `of {name}`, or what is said of them"
    if (word := _untold_end(context, query)) is not None:
        return f"{word!r} says that something ended, and the question asks nothing of when"
    return next(
        (why for nodes in sets_within(query) if (why := _doubt_of(context, relations, nodes)) is not None), None
    )


def _unnamed_kind(context: Context, relations: SchemaRelations, query: ExactQuery) -> str | None:
    """Return a kind of which names are asked, ranked by a number of edges or as different ones, that nodes share."""
    best, graph = query.nodes.best, context.lexicon.graph
    is_ranked = best is not None and best.measure.property is None
    is_of_names = is_ranked or (query.form == "count" and not WORDS["different"].isdisjoint(context.words))
    shared = filter(relations.shares_names, query.nodes.types if is_of_names else ())
    return next((graph.schema.label(graph.arrays.types.nodes[kind]) for kind in shared), None)


def _counted_name(context: Context, query: ExactQuery) -> str | None:
    """Return the one name whose nodes are counted by what else is said of them: `how many cups were sold`."""
    nodes, names = query.nodes, context.lexicon.graph.arrays.names
    among = [set(one.rows) for one in nodes.conditions if isinstance(one, Among) and not one.negated]
    named = {names[row] for rows in among for row in rows}
    is_counted = query.form == "count" and len(named) == 1 and len(nodes.conditions) > 1
    return next(iter(named)) if is_counted else None


def _untold_total(context: Context, query: ExactQuery) -> str | None:
    """Return `on average` where a query tells none, and `in total` where it tells values, or ranks what is within."""
    forms = {getattr(part, "form", None) for part in parts_of(query)}
    bests = [nodes.best.measure.property for nodes in sets_within(query) if nodes.best and nodes is not query.nodes]
    is_apart = (query.form == "value" and not query.nodes.named) or any(bests)
    untold = {"on average": forms.isdisjoint(("average", "median")), "whole": is_apart}
    said = (
        (at, last) for key in untold if untold[key] for at in range(context.end) for last in context.ends_of(at, key)
    )
    return next((context.reading.surface(*span) for span in said), None)


def _adjective(context: Context, query: ExactQuery) -> str | None:
    """Return a name right before a noun of what is had, where that is no name of it: "have no direct hyponyms".

    "No London suppliers" names one: another edge than that of what they supply leads from them to London.
    """
    node_types, units = context.lexicon.graph.arrays.node_types, context.units
    subjects = {kind for nodes in sets_within(query) for kind in nodes.types}
    used = {row for one in joined_of(query.nodes) for row in one.target.named}
    for place, unit in ((at, unit) for at, own in units.names.items() for unit in own if used & set(unit.rows)):
        before, noun = place - 1, context.at(unit.last)
        while context.at(before) in WORDS["determiners"] | {"no"}:
            before -= 1
        is_had = context.at(before) in WORDS["having"] | WORDS["lacking"] or context.at(place - 1) in ("no", "any")
        if not is_had or noun.endswith("ed") or noun in ENGLISH.verb_of.keys() | WORDS["all prepositions"]:
            continue
        kinds = {kind for one in units.types.get(unit.last, ()) for kind in one.types}
        own = {int(node_types[row]) for row in unit.rows}
        is_name = context.reading.is_written_as_name(place) or unit.last > place + 1
        is_edge = any(one.fit > LIGHT_FIT for one in units.edges.get(unit.last, ()))
        if own & subjects - kinds or (own & kinds and not is_name) if kinds else is_edge:
            return context.reading.surface(place, unit.last)
    return None


def _doubt_of(context: Context, relations: SchemaRelations, nodes: NodeSet) -> str | None:
    """Return the reason why a set of a query may not be what the asker means; None if there is none."""
    name, rows = _time_of_another(context, nodes), _rows_apart(context, nodes)
    of_others = "what is said of the edges may be said of others of their kind: say it in two questions"
    of_two_kinds = "things of two kinds would be listed, each by an edge of its own: name the kind"
    doubts = (
        (name is not None, f"the time may belong to {name} instead: name the property that you mean"),
        (_tells_of_other_edges(nodes), of_others),
        (_is_of_the_row(context, relations, nodes), "the last may be said of what joins them: ask two questions"),
        (rows is not None, f"one {rows} may be meant or several: say it in two questions"),
        (_denies_rows(context, relations, nodes), "what is denied may be all of it: say `no`, or name what is meant"),
        (_says_a_role_twice(nodes), "two roles are joined by 'and': say of each whose it is"),
        (_is_of_two_kinds(context, nodes), of_two_kinds),
        (_goes_two_ways(context, nodes), "two names of one kind would be joined in different ways: ask two questions"),
    )
    return next((why for is_so, why in doubts if is_so), None)


def _alone(context: Context, relations: SchemaRelations, query: ExactQuery) -> str:
    """Return the name of a node without any edge whose neighbours are asked for, or a path to it; empty for none."""
    arrays = context.lexicon.graph.arrays
    ends = [query.nodes, query.other or NodeSet()] if query.form == "path" else []
    if query.form == "list":
        ends += [one.target for one in _joined(query) if one.kinds == relations.any_kinds and not one.negated]
        ends += [end for one in query.nodes.conditions if isinstance(one, Between) for end in (one.near, one.far)]
    named = [nodes for nodes in ends if nodes.named]
    if any(relations.are_values(nodes) for nodes in named):
        return ""
    return next(
        (arrays.names[nodes.named[0]] for nodes in named if not relations.around(nodes, relations.any_kinds)), ""
    )


def _untold_end(context: Context, query: ExactQuery) -> str | None:
    """Return a verb of leaving where a query tells nothing of an end: who "left X" did not only join it."""
    told = {part.property for part in parts_of(query) if isinstance(part, Valued | Measure)}
    for place, units in context.units.edges.items():
        for unit in units:
            if isinstance(unit.edges, TimedEdges) and unit.edges.is_end and not unit.edges.dates & told:
                return context.reading.surface(place, unit.last)
    return None


def _nameless(context: Context, relations: SchemaRelations, query: ExactQuery) -> str:
    """Return the kinds of nodes without names that are listed though no word asks for them; empty for others."""
    arrays, label = context.lexicon.graph.arrays, context.lexicon.graph.schema.label
    own = query.nodes.types
    for one in query.nodes.conditions if not own else ():  # "what was shown on 20 May"
        if isinstance(one, Valued) and one.property in context.lexicon.properties:
            own |= context.lexicon.properties[one.property].types
    if query.form == "list" and not own:
        linked = (one.target for one in _joined(query) if one.kinds == relations.any_kinds and not one.negated)
        around = [relations.around(nodes, relations.any_kinds) for nodes in linked if nodes.named]
        both = set.intersection(*around) if around else set[int]()
        kinds = ((arrays.names[row], int(arrays.node_types[row])) for row in both)
        own = frozenset(kind for name, kind in kinds if name.isdigit() or relations.is_nameless(kind))
        if own:
            return " and ".join(sorted(label(arrays.types.nodes[kind]) for kind in own))
    said = _kinds_said(context)
    if query.form != "list" or query.nodes.named or not own or own & said or not all(map(relations.is_nameless, own)):
        return ""
    return " and ".join(sorted(label(arrays.types.nodes[kind]) for kind in own))


def _time_of_another(context: Context, nodes: NodeSet) -> str | None:
    """Return what a time may be of as well: "devices that X serviced in 2024", over services that have dates."""
    dated = {name for name, facts in context.lexicon.properties.items() if facts.kind in ("date", "year")}
    named = {unit.property for units in context.units.properties.values() for unit in units}
    times = [one for one in nodes.conditions if isinstance(one, Valued) and one.property in dated - named]
    between = [one.target for one in nodes.conditions if isinstance(one, Joined) and one.target.is_between]
    for target in between if times else ():
        for name in sorted(dated):
            if context.lexicon.properties[name].types & target.types:
                return name
    return None


def _is_of_the_row(context: Context, relations: SchemaRelations, nodes: NodeSet) -> bool:
    """Return whether the place of a thing may be that of a row: "deputy head of X", over duties that have places."""
    verbs = (unit for at, own in context.units.edges.items() if not context.units.types[at] for unit in own)
    said = {edge for unit in verbs if unit.fit > LIGHT_FIT for edge in unit.edges}
    own = [one for one in nodes.conditions if isinstance(one, Joined) and not one.where]
    between = (kind for one in own if one.target.is_between and one.target.conditions for kind in one.target.types)
    rows = set(filter(relations.is_nameless, between))
    others = (
        one for one in own if said.isdisjoint(kind >> 1 for kind in one.kinds) and rows.isdisjoint(one.target.types)
    )
    ends = {kind for one in others for kind in relations.types_of(one.target)} - nodes.types
    return any(hop.target in ends for row in rows for hop in context.lexicon.vocabulary.hops[row])


def _rows_apart(context: Context, nodes: NodeSet) -> str | None:
    """Return the kind of rows of which one, or several, may be what is said: "Ann's and Ben's role in a concert"."""
    over = [one for one in nodes.conditions if isinstance(one, Joined) and one.target.is_between]
    for kinds in {one.kinds for one in over}:
        own = [one for one in over if one.kinds == kinds]
        said = {part.kinds for one in own for part in one.target.conditions if isinstance(part, Joined)}
        is_unsure = len(own) > 2 and not WORDS["said apart"].isdisjoint(context.words)
        if len(said) > 1 and len(own) > 1 and (is_unsure or any(one.negated for one in own)):
            graph = context.lexicon.graph
            return graph.schema.label(graph.arrays.types.nodes[min(own[0].target.types)])
    return None


def _denies_rows(context: Context, relations: SchemaRelations, nodes: NodeSet) -> bool:
    """Return whether rows that no word names are to be without something: who "planted neither in X nor in Y"."""
    joined = (one for one in nodes.conditions if isinstance(one, Joined) and not one.negated)
    rows = (one.target for one in joined if one.target.types and all(map(relations.is_nameless, one.target.types)))
    denied = (one for one in rows if one.conditions and all(getattr(said, "negated", False) for said in one.conditions))
    return any(one.types.isdisjoint(_kinds_said(context)) for one in denied)


def _says_a_role_twice(nodes: NodeSet) -> bool:
    """Return whether one of two alternatives is a role of anything, and of something by the same edges.

    Of "the head and the supervisor of the head of X" that would be the head alone, who is a supervisor, too.
    """
    for either in nodes.conditions:
        for option in either.options if isinstance(either, Either) and not either.negated else ():
            joined = [one for one in (*option, *nodes.conditions) if isinstance(one, Joined) and not one.negated]
            of_anything = {one.kinds for one in joined if is_of_anything(one)}
            if any(one.kinds in of_anything for one in joined if not is_of_anything(one)):
                return True
    return False


def _is_of_two_kinds(context: Context, nodes: NodeSet) -> bool:
    """Return whether a word that says no label stands for several edges, each of another kind: "reports of X"."""
    said = {edge for units in context.units.edges.values() for unit in units if unit.fit > SAME_WORD
            for edge, fit in unit.edges.items() if fit > SAME_WORD}  # fmt: skip
    joined = [one for one in nodes.conditions if isinstance(one, Joined)]
    return len(nodes.types) > 1 and any(len({kind >> 1 for kind in one.kinds} - said) > 1 for one in joined)


def _goes_two_ways(context: Context, nodes: NodeSet) -> bool:
    """Return whether names of one kind are joined over others and at once: "has duties on both X and Y"."""
    arrays, ends = context.lexicon.graph.arrays, list[tuple[int, int, int]]()
    for one in nodes.conditions:
        if isinstance(one, Joined):
            ends += [(row, int(arrays.node_types[row]), 1) for row in one.target.named]
            further = (inner for inner in one.target.conditions if isinstance(inner, Joined))
            ends += [(row, int(arrays.node_types[row]), 2) for inner in further for row in inner.target.named]
    places = {row: place for place, units in context.units.names.items() for unit in units for row in unit.rows}
    for row, kind, steps in ends:
        for other, same, others in ends:
            first, last = sorted((places.get(row, 0), places.get(other, 0)))
            verbs = (unit for place in range(first, last) for unit in context.units.edges.get(place, ()))
            if kind == same and steps < others and not any(unit.fit > SAME_WORD for unit in verbs):
                return True
    return False


def _tells_of_other_edges(nodes: NodeSet) -> bool:
    """Return whether edges are counted, or lead to something, and only others of their kind are to meet a condition.

    "Which films with a rating over 90 did X review": does X rate them so?
    """
    measures = [] if nodes.best is None else [nodes.best.measure]
    if any(isinstance(one, Joined | Measure) and is_told_of_others(one) for one in (*nodes.conditions, *measures)):
        return True
    counted = [nodes.best.measure.kinds] if nodes.best is not None and not nodes.best.measure.where else []
    joined = [one for one in nodes.conditions if isinstance(one, Joined)]
    kinds = [*counted, *(one.kinds for one in joined if not one.where)]
    return any(one.kinds in (kinds if is_of_anything(one) else counted) for one in joined if one.where)
