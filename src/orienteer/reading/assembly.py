"""Words put together by the edges between what they name, where no rule reads a question.

    Pubs that Bill Stokoe has delivered to
    pub that <-pub- (delivery that -driver-> "Bill Stokoe")

Only where each word is known and none of them turns the meaning (`not`, `most`, `before`), and where there is one way
alone that passes by all that is named: of two ways, or of an edge between things of one kind, nobody tells which is
meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from orienteer.reading.nouns import people_of
from orienteer.reading.query import Among, Condition, ExactQuery, Form, Joined, NodeSet, Valued
from orienteer.reading.rules import Context
from orienteer.reading.units import LIGHT_FIT, KindVerb
from orienteer.reading.vocabulary import ENGLISH, WORDS, SchemaHop

EXAMPLE = "pubs that X has delivered to"
_SURE = 0.2  # cost of a unit that is surely what it is taken for
_NEAR = 0.1  # likeness below the likeliest edges
_MOST_STEPS = 3
_MOST_SPANS = 5  # things that are named
_MOST_MEANINGS = 12  # of all of them together
_MOST_TREES = 400
_TURNING = WORDS["turning"] | ENGLISH.superlatives.keys() | ENGLISH.most.keys() | ENGLISH.more.keys()
"""Words that say more than that things are joined."""

_Way: TypeAlias = tuple[SchemaHop, ...]


class _End(NamedTuple):
    """What a way leads to: nodes of a type that are named, or that have a value; any of it without a condition."""

    type: int
    condition: Condition | None


class _Kind(NamedTuple):
    """A kind that is named, by which a way is to pass."""

    types: frozenset[int]


class _Verb(NamedTuple):
    """Edges that are named, one of which a way is to take, and what is said of it; none for a verb that says little."""

    edges: frozenset[int]
    where: tuple[Valued, ...] = ()


_Meaning: TypeAlias = _End | _Kind | _Verb


class _Span(NamedTuple):
    """Words that name something, with all that they may mean."""

    first: int
    last: int
    meanings: tuple[_Meaning, ...]


def assembled(context: Context) -> ExactQuery | None:
    """Return the query that the words of a question mean together; None where they may mean several, or none."""
    words, counting = context.words, context.end_of(0, "counting")
    if not words:
        return None
    is_test, asks_who = words[0] in WORDS["auxiliaries"], words[0] in WORDS["who"]
    begin = counting or max(context.ends_of(0, "listing"), default=int(is_test))
    spans = list(_spans(context, begin))
    is_known = not context.complaints and not context.units.unknown_ids
    is_much = is_known and 1 < len(spans) + asks_who <= _MOST_SPANS
    if not is_much or not _is_all_known(context, begin, spans) or _is_decided(context, begin, spans):
        return None
    if is_test:
        sets = set(_tests(context, spans))
    elif asks_who:
        people = people_of(context)
        named = {end.type for span in spans for end in span.meanings if isinstance(end, _End)}
        sets = set() if named & people else set(_sets(context, people, spans))
    else:
        heads = _head(spans)
        beside = spans[1].meanings if heads and spans[0].last == spans[1].first else ()
        if any(isinstance(end, _End) and end.type in heads for end in beside):
            return None  # "section editors" is that section
        sets = set(_sets(context, heads or _of_a_kind(context, spans), spans[1:] if heads else spans))
    form: Form = "test" if is_test else "list" if counting is None else "count"
    return ExactQuery(form, sets.pop()) if len(sets) == 1 else None


def _tests(context: Context, spans: list[_Span]) -> Iterator[NodeSet]:
    """Yield what is asked of a named thing: that it is joined to all others."""
    for end in spans[0].meanings:
        if isinstance(end, _End) and isinstance(end.condition, Among):
            for nodes in _sets(context, frozenset({end.type}), spans[1:]):
                yield NodeSet(conditions=(end.condition, *nodes.conditions))


def _head(spans: list[_Span]) -> frozenset[int]:
    """Return the types that the first thing named asks for."""
    kinds = [meaning.types for meaning in spans[0].meanings if isinstance(meaning, _Kind)]
    return kinds[0] if len(kinds) == 1 else frozenset()


def _of_a_kind(context: Context, spans: list[_Span]) -> frozenset[int]:
    """Return the types of things of the kind that the first thing named is: `hops`, of ingredients."""
    types = {end.type for end in spans[0].meanings if isinstance(end, _End) and isinstance(end.condition, Among)}
    is_single, hops = context.relations.is_single, context.lexicon.vocabulary.hops
    owners = {kind for kind, own in enumerate(hops) for hop in own if hop.target in types and is_single((hop.kind,))}
    return frozenset(owners) if context.at(spans[0].last - 1).endswith("s") else frozenset()


def _is_all_known(context: Context, begin: int, spans: list[_Span]) -> bool:
    covered = {place for span in spans for place in range(span.first, span.last)}
    return all(_says_nothing(context, place) for place in range(begin, context.end) if place not in covered)


def _is_decided(context: Context, begin: int, spans: list[_Span]) -> bool:
    """Return whether nothing but a preposition joins two things: rules know which edges it may say, and which not."""
    covered = {place for span in spans for place in range(span.first, span.last)}
    nothing = WORDS["all prepositions"] | WORDS["determiners"] | WORDS["relative"] | WORDS["be"]
    left = {context.at(place) for place in range(begin, context.end) if place not in covered}
    return len(spans) < 3 and left <= nothing


def _is_light(context: Context, place: int) -> bool:
    """Return whether a verb says no more than that something is there."""
    units = context.units.edges.get(place, ())
    return any(unit.fit <= LIGHT_FIT and not isinstance(unit.edges, KindVerb) for unit in units)


def _says_nothing(context: Context, place: int) -> bool:
    word, is_light = context.reading.words[place], _is_light(context, place)
    is_known = (
        word.is_stop or is_light or word.text in WORDS["empty"] | WORDS["determiners"] | WORDS["all prepositions"]
    )
    return is_known and word.text not in _TURNING and place not in context.units.quantities


# --------------------------------------------------------------------------------------------------- what is named
def _spans(context: Context, begin: int) -> Iterator[_Span]:
    """Yield the longest words from left to right that name something."""
    place = begin
    while place < context.end:
        meanings = _meanings(context, place)
        last = max(meanings, default=place + 1)
        if meanings:
            yield _Span(place, last, tuple(dict.fromkeys(meanings[last])))
        place = last


def _meanings(context: Context, place: int) -> dict[int, list[_Meaning]]:
    """Return what words that begin at a place may mean, by where they end."""
    found: dict[int, list[_Meaning]] = {}
    for meant in (_ends(context, place), _kinds_and_edges(context, place)):
        for last, meaning in meant:
            found.setdefault(last, []).append(meaning)
    if place + 1 in found and _is_light(context, place):
        found[place + 1].append(_Verb(frozenset()))
    return found


def _ends(context: Context, place: int) -> Iterator[tuple[int, _End]]:
    """Yield the nodes that are named here, by their types, and those that have a value."""
    node_types, properties = context.lexicon.graph.arrays.node_types, context.lexicon.properties
    for name in context.units.names.get(place, ()):
        types = dict.fromkeys(int(node_types[row]) for row in name.rows) if name.cost < _SURE else {}
        for kind in types:
            yield name.last, _End(kind, Among(tuple(row for row in name.rows if node_types[row] == kind)))
    for value in context.units.values.get(place, ()):
        facts = properties[value.property]
        for kind in facts.types if value.cost < _SURE and facts.kind != "number" else ():
            yield value.last, _End(kind, Valued(facts.name, "=", value.value))
    for named in context.units.properties.get(place, ()):
        facts = properties[named.property]
        for kind in facts.types if facts.kind == "boolean" and named.cost < _SURE else ():
            yield named.last, _End(kind, Valued(facts.name, "=", facts.true))


def _kinds_and_edges(context: Context, place: int) -> Iterator[tuple[int, _Kind | _Verb]]:
    """Yield the kinds that are named here, by a verb or a noun, and the likeliest edges."""
    for kind in context.units.types.get(place, ()):
        if kind.cost < _SURE:
            yield kind.last, _Kind(kind.types)
    for unit in context.units.edges.get(place, ()):
        if isinstance(unit.edges, KindVerb):
            yield unit.last, _Kind(unit.edges.types)
        elif unit.fit > LIGHT_FIT:
            yield unit.last, _Verb(frozenset(edge for edge, fit in unit.edges.items() if fit >= unit.fit - _NEAR))
    for value in context.units.edge_values.get(place, ()):
        facts = context.lexicon.edge_properties[value.property]
        behind = context.units.edge_properties.get(value.last, ())
        last = max((unit.last for unit in behind if unit.property == facts.name), default=value.last)
        if value.cost < _SURE and facts.kind != "number":
            yield last, _Verb(facts.edges, (Valued(facts.name, "=", value.value),))


# ------------------------------------------------------------------------------------------------- how it is joined
def _sets(context: Context, heads: frozenset[int], spans: list[_Span]) -> Iterator[NodeSet]:
    """Yield the sets that the shortest trees of ways describe, from a head over all that is named."""
    meanings = list(product(*(span.meanings for span in spans)))
    if len(meanings) > _MOST_MEANINGS:
        return
    trees: list[tuple[int, NodeSet]] = []
    for head in heads:
        for meaning in meanings:
            for size, nodes in _trees(context, head, meaning):
                trees.append((size, nodes))
                if len(trees) > _MOST_TREES:
                    return
    least = min((size for size, _ in trees), default=0)
    yield from (nodes for size, nodes in trees if size == least)


def _trees(context: Context, head: int, meaning: tuple[_Meaning, ...]) -> Iterator[tuple[int, NodeSet]]:
    """Yield the trees of ways from a type to all ends, over all kinds and edges that are named, with their sizes."""
    kinds = [one.types for one in meaning if isinstance(one, _Kind)]
    verbs = [one for one in meaning if isinstance(one, _Verb)]
    ends = [one for one in meaning if isinstance(one, _End)]
    if not ends:  # "how many towns do we have pubs in"
        ends, kinds = [_End(kind, None) for kind in kinds[0]] if kinds else [], kinds[1:]
    named = frozenset[int]().union(*kinds)
    for ways in product(*(list(_ways_to(context, head, end, named)) for end in ends)):
        steps = {way[: at + 1] for way in ways for at in range(len(way))}
        passed = {head} | {step[-1].target for step in steps}
        taken = {step[-1].kind >> 1 for step in steps}
        # who "works remotely" is so; who appears in a film is in it by that edge
        are_said = all(taken & verb.edges if verb.edges else not steps for verb in verbs)
        if ends and are_said and all(passed & kind for kind in kinds):
            yield len(steps), _described(head, list(zip(ways, ends, strict=True)), verbs)


def _ways_to(context: Context, head: int, end: _End, named: frozenset[int]) -> Iterator[_Way]:
    """Yield the ways to an end that need no word for what lies between: a row without a name, or what each has one of.

    A name of the head's own type is another thing than what is asked for.
    """
    for way in _ways(context.lexicon.vocabulary.hops, head, end.type):
        are_told = all(hop.target in named or context.relations.is_nameless(hop.target) for hop in way[:-1])
        if (are_told or context.relations.is_single(tuple(hop.kind for hop in way))) and (
            way or not isinstance(end.condition, Among)
        ):
            yield way


def _ways(hops: Sequence[Sequence[SchemaHop]], source: int, target: int) -> Iterator[_Way]:
    """Yield the ways between two types that pass by no type twice."""
    fronts: list[_Way] = [()]
    if source == target:
        yield ()
    for _ in range(_MOST_STEPS):
        longer: list[_Way] = []
        for way in fronts:
            at, before = way[-1].target if way else source, {source, *(hop.target for hop in way)}
            longer += [(*way, hop) for hop in hops[at] if hop.target not in before]
        yield from (way for way in longer if way[-1].target == target)
        fronts = [way for way in longer if way[-1].target != target]


def _described(head: int, ends: list[tuple[_Way, _End]], verbs: list[_Verb], *, is_between: bool = False) -> NodeSet:
    """Return the nodes of a type from which ways lead to ends; those that begin alike, over the same nodes."""
    conditions: list[Condition] = [end.condition for way, end in ends if not way and end.condition is not None]
    for hop in dict.fromkeys(way[0] for way, _ in ends if way):
        further = [(way[1:], end) for way, end in ends if way and way[0] == hop]
        is_end = all(not way for way, _ in further)
        target = _described(hop.target, further, verbs, is_between=not is_end)
        where = tuple(said for verb in verbs if hop.kind >> 1 in verb.edges for said in verb.where)
        conditions.append(Joined((hop.kind,), target, where=where))
    is_named = len(conditions) == 1 and isinstance(conditions[0], Among)
    return NodeSet(frozenset() if is_named else frozenset({head}), tuple(conditions), is_between=is_between)
