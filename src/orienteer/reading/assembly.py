"""Words put together by the edges between what they name, where no rule reads a question.

    how many beds are there at Fairview altogether
    sum beds of ward that -hospital-> "Fairview"

Only if each word is known and none turns the meaning (`only`, `against`), and if one shortest path alone passes by all
that is named. A path may pass an edge in silence only if that is called as what it leads to, as a foreign key `ward`
is: who else plays a part in a delivery (`driver`, `payer`, `from_stop`) must be said, for the verb does not tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise, product
from typing import NamedTuple, TypeAlias, cast

from orienteer.reading.comparisons import compared, properties_of
from orienteer.reading.nouns import people_of
from orienteer.reading.properties import dated_property
from orienteer.reading.query import (
    Among,
    Condition,
    ExactQuery,
    Form,
    Joined,
    Measure,
    NodeSet,
    Valued,
)
from orienteer.reading.rules import Context, Parse
from orienteer.reading.units import LIGHT_FIT, SYNONYM, KindVerb, PropertyFacts, name_words
from orienteer.reading.vocabulary import ENGLISH, WORDS, SchemaHop

_EXAMPLE = "beds at X altogether"
_FAR_FETCHED = 1.0  # cost of words that no rule reads
_SURE = 0.2  # cost of words that are surely what they are taken for; parts of names cost as much
_NEAR = 0.1  # likeness below the likeliest edges
# bounds of a search over the schema: what goes beyond them is refused
_MOST_STEPS = 3
_MOST_SPANS = 6
_MOST_MEANINGS = 24
_MOST_TREES = 400
_TOTALS = ("sum", "average", "median")
_TURNING = WORDS["turning"] | ENGLISH.superlatives.keys() | ENGLISH.most.keys() | ENGLISH.more.keys()
"""Words that say more than that things are joined."""

_Path: TypeAlias = tuple[SchemaHop, ...]


# --------------------------------------------------------------------------------------------------- what is named
class _End(NamedTuple):
    """What a path leads to: nodes of a type that are named, or that have a value; any of it without a condition."""

    type: int
    condition: Condition | None
    owners: frozenset[int] = frozenset()
    """Types of the noun that it stands right behind, with a preposition: *a reservation in Faro*. Empty if none."""
    is_doer: bool = False
    """It stands behind `by`."""


class _Kind(NamedTuple):
    """A kind that is named, by which a path is to pass."""

    types: frozenset[int]
    is_verb: bool = False
    """A verb names it, which does not say who of those that it joins did that."""


class _Verb(NamedTuple):
    """Edges that are named, one of which a path takes, and what is said of it; none for a verb that says little."""

    edges: frozenset[int]
    where: tuple[Valued, ...] = ()


class _Column(NamedTuple):
    """A property that is named, and no value of it."""

    facts: PropertyFacts


class _Date(NamedTuple):
    """A time, with the word before it: `since 2024`."""

    place: int


_Meaning: TypeAlias = _End | _Kind | _Verb | _Column | _Date


class _Span(NamedTuple):
    """Words that name something, with all that they may mean."""

    first: int
    last: int
    meanings: tuple[_Meaning, ...]


@dataclass
class _Named:
    """What the words of a question name, and the parts that some of them play."""

    spans: list[_Span] = field(default_factory=list)
    total: Form | None = None
    each: list[_Span] = field(default_factory=list)
    """What numbers are told for each of."""


def _named_words(context: Context, begin: int, each: list[_Span], *, is_test: bool) -> _Named | None:
    """Return what the words from a place on name; None if one of them is unknown, or turns the meaning."""
    named, place = _Named(each=each), begin
    into, before = named.spans, None
    while place < context.end:
        told = next(((form, last) for form in _TOTALS for last in context.ends_of(place, form)), None)
        told = told or next((("sum", last) for last in context.ends_of(place, "in total")), None)
        per = context.end_of(place, "per") or context.end_of(place, "does each")
        meanings, is_free = _meanings(context, place), into is named.spans
        longest = max(meanings, default=0)
        if told is not None and longest <= told[1] and named.total is None:
            named.total, place = cast(Form, told[0]), told[1]
        elif per is not None and is_free and not named.each and not _is_before_doer(context, place, per, before):
            place, into = per, named.each
        elif meanings:
            meant = dict.fromkeys(_with_preposition(context, one, place, before) for one in meanings[longest])
            before = _Span(place, longest, tuple(meant))
            into.append(before)
            into, place = named.spans, longest
        elif _says_nothing(context, place) or (is_test and context.at(place) == "any"):
            place += 1
        else:
            return None
    is_whole = bool(named.spans) and into is named.spans
    return named if is_whole and len(named.spans) + len(named.each) <= _MOST_SPANS else None


def _is_before_doer(context: Context, place: int, last: int, before: _Span | None) -> bool:
    """Return whether `by` stands before whoever does something: `brewed by brewers`, and not `flights by month`."""
    behind = context.skip(last)
    are_named = any(name.cost < _SURE for name in context.units.names.get(behind, ()))
    is_noun = before is not None and any(isinstance(one, _Kind | _Column) for one in before.meanings)
    is_plural = context.at(behind).endswith("s")
    return context.at(place) == "by" and (are_named or is_plural or not is_noun)


def _with_preposition(context: Context, meaning: _Meaning, place: int, before: _Span | None) -> _Meaning:
    """Return an end with the noun and the preposition that it stands behind."""
    begin = place - (context.at(place - 1) in WORDS["determiners"])
    preposition = context.at(begin - 1)
    if not isinstance(meaning, _End) or preposition not in WORDS["all prepositions"]:
        return meaning
    is_behind = before is not None and before.last == begin - 1
    kinds = [one.types for one in before.meanings if isinstance(one, _Kind)] if before and is_behind else []
    return meaning._replace(owners=frozenset[int]().union(*kinds), is_doer=preposition == "by")


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


def _meanings(context: Context, place: int) -> dict[int, list[_Meaning]]:
    """Return what words that begin at a place may mean, by where they end."""
    found: dict[int, list[_Meaning]] = {}
    for meant in (_ends(context, place), _kinds_and_edges(context, place), _columns(context, place)):
        for last, meaning in meant:
            found.setdefault(last, []).append(meaning)
    if place + 1 in found and _is_light(context, place):
        found[place + 1].append(_Verb(frozenset()))
    if context.at(place) in _TURNING:  # "half" turns the meaning, "Half Moon" does not
        found = {last: [one for one in own if isinstance(one, _End) and _is_name(one)] for last, own in found.items()}
        found = {last: own for last, own in found.items() if own and last > place + 1}
    return {last: _likeliest(context, place, last, own) for last, own in found.items()}


def _likeliest(context: Context, place: int, last: int, meanings: list[_Meaning]) -> list[_Meaning]:
    """Return meanings without nodes that stand for a value which is meant, and without names that are longer."""
    labels, names = context.lexicon.vocabulary.node_labels, context.lexicon.graph.arrays.names
    surface = context.reading.surface(place, last).casefold()
    values = {
        tuple(name_words(one.condition.property))
        for one in meanings
        if isinstance(one, _End) and isinstance(one.condition, Valued)
    }
    kept = []
    for one in meanings:
        if isinstance(one, _End) and isinstance(one.condition, Among):
            is_whole = any(_is_whole(names[row], surface) for row in one.condition.rows)
            is_part = not is_whole and (values or last == place + 1)  # Cork is no "Cork Weekly"
            if is_part or not values.isdisjoint(label.words for label in labels[one.type]):
                continue
        kept.append(one)
    return kept


def _is_whole(name: str, surface: str) -> bool:
    """Return whether words are a whole name, but for its article."""
    first, _, rest = name.casefold().partition(" ")
    return surface in (name.casefold(), rest if first in WORDS["determiners"] else "")


def _ends(context: Context, place: int) -> Iterator[tuple[int, _End]]:
    """Yield the nodes that are named here, by their types, and those that have a value."""
    node_types, properties = context.lexicon.graph.arrays.node_types, context.lexicon.properties
    words = context.reading.words
    for name in context.units.names.get(place, ()):
        types = dict.fromkeys(int(node_types[row]) for row in name.rows) if name.cost < _SURE else {}
        for kind in types:
            yield name.last, _End(kind, Among(tuple(row for row in name.rows if node_types[row] == kind)))
    for value in context.units.values.get(place, ()):
        facts = properties[value.property]
        for kind in facts.types if value.cost < _SURE and facts.kind != "number" else ():
            behind = context.units.properties.get(value.last, ())  # "enterprise plan"
            last = max((unit.last for unit in behind if unit.property == facts.name), default=value.last)
            yield last, _End(kind, Valued(facts.name, "=", value.value))
    for named in context.units.properties.get(place, ()):
        facts = properties[named.property]
        is_said = facts.kind == "boolean" and named.cost < _SURE
        if is_said and not all(word.is_stop for word in words[place : named.last]):  # "to" is not `open_to_public`
            for kind in facts.types:
                yield named.last, _End(kind, Valued(facts.name, "=", facts.true))


def _kinds_and_edges(context: Context, place: int) -> Iterator[tuple[int, _Kind | _Verb]]:
    """Yield the kinds that are named here, by a verb or a noun, and the likeliest edges."""
    for kind in context.units.types.get(place, ()):
        if kind.cost < _SURE:
            yield kind.last, _Kind(kind.types)
    for unit in context.units.edges.get(place, ()):
        if isinstance(unit.edges, KindVerb):
            yield unit.last, _Kind(unit.edges.types, is_verb=True)
        elif unit.fit > SYNONYM:  # an author is no set designer
            yield unit.last, _Verb(frozenset(edge for edge, fit in unit.edges.items() if fit >= unit.fit - _NEAR))
    for value in context.units.edge_values.get(place, ()):
        facts = context.lexicon.edge_properties[value.property]
        behind = context.units.edge_properties.get(value.last, ())
        last = max((unit.last for unit in behind if unit.property == facts.name), default=value.last)
        if value.cost < _SURE and facts.kind != "number":
            yield last, _Verb(facts.edges, (Valued(facts.name, "=", value.value),))


def _columns(context: Context, place: int) -> Iterator[tuple[int, _Column | _Date]]:
    """Yield the properties whose whole name stands here without a value, and times."""
    for unit in context.units.properties.get(place, ()):
        facts = context.lexicon.properties[unit.property]
        said = {word.stem for word in context.reading.words[place : unit.last]}
        if facts.kind != "boolean" and said == set(facts.stems):  # "visitors" are no `max_visitors`
            yield unit.last, _Column(facts)
    dated = next((facts for facts in context.lexicon.properties.values() if facts.kind in ("year", "date")), None)
    for parse in compared(context, place, dated) if dated is not None else ():
        if any(at in context.units.quantities for at in range(place, parse.last)):
            yield parse.last, _Date(place)


# ------------------------------------------------------------------------------------------------- what is asked
class _Question(NamedTuple):
    """How a question begins, and what its other words name."""

    form: Form
    begin: int
    is_amount: bool
    """It begins with `how much`."""
    asks_who: bool
    named: _Named


class _Tree(NamedTuple):
    """A set of nodes that paths lead from, over all that is named."""

    nodes: NodeSet
    steps: int
    is_silent: bool
    """It passes an edge that no word says, and that is not called as what it leads to."""


class _Candidate(NamedTuple):
    """A query that may be meant."""

    query: ExactQuery
    tree: _Tree


def assembled(context: Context) -> list[Parse[ExactQuery]]:
    """Return the query that the words of a question mean together; empty if they may mean several, or none."""
    if not context.words or context.complaints or context.units.unknown_ids:
        return []
    question = _question(context)
    if question is None or _gives(context, question.named.spans) or _is_of_a_row(question.named.spans):
        return []
    candidates = [*_of_columns(context, question), *_of_things(context, question)]
    least = min((one.tree.steps for one in candidates), default=0)
    meant = {one.query: one.tree.is_silent for one in candidates if one.tree.steps == least}
    if len(meant) != 1 or any(meant.values()):
        return []
    query = next(iter(meant))
    context.fired.append((_EXAMPLE, query))
    return [Parse(context.end, query, _FAR_FETCHED)]


def _question(context: Context) -> _Question | None:
    """Return what is asked by all words; None if one of them is unknown."""
    per, each, place = context.end_of(0, "per"), list[_Span](), 0
    if per is not None:  # "for each district, how many venues are there"
        behind = context.skip(per)
        meanings = _meanings(context, behind)
        place = max(meanings, default=0)
        if not place:
            return None
        each = [_Span(behind, place, tuple(dict.fromkeys(meanings[place])))]
    counting, amount = context.end_of(place, "counting"), context.starts(place, "how much")
    is_test = context.at(place) in WORDS["asking"]
    listed = max(context.ends_of(place, "listing"), default=place + is_test)
    begin = counting or amount or listed
    named = _named_words(context, begin, each, is_test=is_test)
    if named is None:
        return None
    form: Form = "test" if is_test else "list" if counting is None else "count"
    return _Question(form, begin, amount is not None, context.at(place) in WORDS["who"], named)


def _gives(context: Context, spans: list[_Span]) -> bool:
    """Return whether somebody who is named gives, sells or pays: an edge to them may be that of who gets it."""
    names = {span.first for span in spans for one in span.meanings if isinstance(one, _End) and _is_name(one)}
    verbs = [place for place, word in enumerate(context.words) if word in WORDS["giving"]]
    before = {context.at(place - 1 - (context.at(place - 1) in WORDS["determiners"])) for place in names}
    is_directed = "from" in before or ("to" in before and len(names) > 1)  # from one to another: which is which?
    return is_directed or (bool(verbs and names) and min(names) <= max(verbs))


def _is_of_a_row(spans: list[_Span]) -> bool:
    """Return whether a name stands before its own kind: rows may be called by a value, as a "noise complaint" is."""
    pairs = ((one, other) for one, other in pairwise(spans) if one.last == other.first)
    kinds = ((one, kind.types) for one, other in pairs for kind in other.meanings if isinstance(kind, _Kind))
    return any(_names_any(one, types) for one, types in kinds)


def _is_name(end: _End) -> bool:
    return isinstance(end.condition, Among)


def _of_columns(context: Context, question: _Question) -> Iterator[_Candidate]:
    """Yield what values of one thing may be asked for, or totals of several."""
    named, spans = question.named, question.named.spans
    if question.form == "test" or question.asks_who:
        return
    is_anywhere = named.total is not None or question.is_amount
    for span in spans if is_anywhere else spans[:1]:
        for facts in (one.facts for one in span.meanings if isinstance(one, _Column)):
            if named.total is not None and facts.kind != "number":
                continue
            rest = [other for other in spans if other is not span]
            for head in facts.types:
                yield from _told(context, question, facts, _trees_of(context, head, rest, of_named=True))


def _told(
    context: Context, question: _Question, facts: PropertyFacts, trees: Iterator[tuple[_Tree, bool]]
) -> Iterator[_Candidate]:
    """Yield the value of a property of the one thing that a tree names, or a total over many."""
    named = question.named
    for tree, is_single in trees:
        is_one = any(isinstance(one, Among) for one in tree.nodes.conditions)
        form: Form = "value" if is_one and not named.each else named.total or "value"
        # what is joined to several of them would be counted for each: distances of routes, over flights
        if (form == "value" and is_one and question.form != "count") or (form != "value" and is_single):
            query = ExactQuery(form, tree.nodes, Measure(property=facts.name))
            yield from _grouped(context, _Candidate(query, tree), named.each)


def _of_things(context: Context, question: _Question) -> Iterator[_Candidate]:
    """Yield which things may be asked for, how many, or whether there are such."""
    named, spans = question.named, question.named.spans
    if question.is_amount or (named.total and (named.total, question.form) != ("sum", "count")):
        return
    heads, rest = _head(context, spans)
    if question.asks_who:
        people = people_of(context)
        types = {end.type for span in spans for end in span.meanings if isinstance(end, _End)}
        fields = {tuple(name_words(name)) for name in context.lexicon.properties}  # a borrower may be a field's value
        labels = context.lexicon.vocabulary.node_labels
        people = frozenset(kind for kind in people if fields.isdisjoint(label.words for label in labels[kind]))
        heads, rest = frozenset[int]() if types & people else people, [_without_verb_kinds(span) for span in spans]
    is_beside = bool(rest) and rest[0].first == spans[0].last and _names_any(rest[0], heads)  # "section editors"
    if is_beside or not (named.each or _says_more(context, question)):
        return
    if question.form == "test" and (named.each or not heads):
        yield from () if named.each else _tests(context, spans)
        return
    for head in heads:
        for tree, _ in _trees_of(context, head, rest):
            query = ExactQuery("count" if named.each else question.form, tree.nodes)
            yield from _grouped(context, _Candidate(query, tree), named.each)


def _names_any(span: _Span, types: frozenset[int]) -> bool:
    """Return whether words may be a node of some types."""
    return any(isinstance(end, _End) and _is_name(end) and end.type in types for end in span.meanings)


def _without_verb_kinds(span: _Span) -> _Span:
    """Return what words mean of whoever does it: who ordered something is not the supplier of the order."""
    return span._replace(meanings=tuple(one for one in span.meanings if not (isinstance(one, _Kind) and one.is_verb)))


def _grouped(context: Context, candidate: _Candidate, each: list[_Span]) -> Iterator[_Candidate]:
    """Yield a query told for each of what is named: values of a property, or nodes that one edge leads to."""
    query, tree = candidate
    if not each:
        yield candidate
    elif query.form != "value" and len(query.nodes.types) == 1:
        head = next(iter(query.nodes.types))
        for meaning in each[0].meanings:
            if isinstance(meaning, _Column) and head in meaning.facts.types:
                yield _Candidate(replace(query, group=Measure(property=meaning.facts.name)), tree)
            for hop in _hops_to(context, head, meaning):
                group = Measure(kinds=(hop.kind,), target=NodeSet(frozenset({hop.target})))
                if query.form == "count" or context.relations.is_single((hop.kind,)):
                    yield _Candidate(replace(query, group=group), tree._replace(steps=tree.steps + 1))


def _hops_to(context: Context, head: int, meaning: _Meaning) -> Iterator[SchemaHop]:
    """Yield the edges of a type that are named, or that lead to a kind that is."""
    for hop in context.lexicon.vocabulary.hops[head]:
        is_to_kind = isinstance(meaning, _Kind) and hop.target in meaning.types and hop.target != head
        is_named = isinstance(meaning, _Verb) and hop.kind >> 1 in meaning.edges and not hop.kind & 1
        is_noun = context.relations.labels.is_neutral(hop.kind >> 1)
        if (is_to_kind and _is_called_so(context, head, hop)) or (is_named and is_noun):
            yield hop


def _tests(context: Context, spans: list[_Span]) -> Iterator[_Candidate]:
    """Yield what is asked of a named thing: that it is joined to all others."""
    for end in spans[0].meanings if len(spans) > 1 else ():
        if isinstance(end, _End) and isinstance(end.condition, Among):
            for tree, _ in _trees_of(context, end.type, spans[1:]):
                nodes = NodeSet(conditions=(end.condition, *tree.nodes.conditions))
                yield _Candidate(ExactQuery("test", nodes), tree)


def _head(context: Context, spans: list[_Span]) -> tuple[frozenset[int], list[_Span]]:
    """Return the types that the first thing named asks for, and what else is named: `sold out screenings`.

    Several of a value are things that have it: `hops`, of ingredients.
    """
    run = [at for at, span in enumerate(spans) if all(a.last == b.first for a, b in pairwise(spans[: at + 1]))]
    own = [at for at in run if any(isinstance(one, _Kind) for one in spans[at].meanings)]
    if len(own) > 1 and [context.at(spans[at].last - 1).endswith("s") for at in (own[0], own[-1])] == [False, True]:
        return frozenset(), spans  # "prize winning films" are no prizes
    at = next((at for at, span in enumerate(spans) if any(isinstance(one, _Kind) for one in span.meanings)), -1)
    are_values = all(any(isinstance(one, _End) for one in span.meanings) for span in spans[: max(at, 0)])
    if at >= 0 and are_values and all(one.last == other.first for one, other in pairwise(spans[: at + 1])):
        kinds = [one.types for one in spans[at].meanings if isinstance(one, _Kind)]
        return (kinds[0] if len(kinds) == 1 else frozenset()), [*spans[:at], *spans[at + 1 :]]
    ends = [end for span in spans[:1] for end in span.meanings if isinstance(end, _End)]
    is_plural = bool(spans) and context.at(spans[0].last - 1).endswith("s")
    valued = [(end.type, end.condition.value) for end in ends if isinstance(end.condition, Valued)]
    return frozenset(kind for kind, value in valued if is_plural and not str(value).endswith("s")), spans


def _says_more(context: Context, question: _Question) -> bool:
    """Return whether more than a preposition joins two things: rules know which edges that may say, and which not."""
    spans = question.named.spans
    covered = {place for span in spans for place in range(span.first, span.last)}
    nothing = WORDS["all prepositions"] | WORDS["determiners"] | WORDS["relative"] | WORDS["be"]
    left = {context.at(place) for place in range(question.begin, context.end) if place not in covered}
    light = [span for span in spans if not any(not isinstance(one, _Verb) or one.edges for one in span.meanings)]
    is_placed = context.at(spans[-1].first - 1) in WORDS["all prepositions"]
    number = len(spans) + question.asks_who
    return number - is_placed * len(light) > 2 or (number > 1 and not left <= nothing)


# ------------------------------------------------------------------------------------------------- how it is joined
def _trees_of(
    context: Context, head: int, spans: list[_Span], *, of_named: bool = False
) -> Iterator[tuple[_Tree, bool]]:
    """Yield the trees of paths from a type over all that is named, and whether each leads to one thing of a kind.

    `of_named` lets the head itself be what is named: of its value.
    """
    if not spans:
        yield _Tree(NodeSet(frozenset({head})), 0, is_silent=False), True
        return
    meanings = list(product(*(span.meanings for span in spans)))
    several = meanings if len(meanings) <= _MOST_MEANINGS else []
    trees = (tree for meaning in several for tree in _trees(context, head, meaning, of_named=of_named))
    found = list(islice(trees, _MOST_TREES + 1))
    yield from found if len(found) <= _MOST_TREES else ()  # of more nobody knows which is the only one


def _trees(
    context: Context, head: int, meaning: tuple[_Meaning, ...], *, of_named: bool
) -> Iterator[tuple[_Tree, bool]]:
    kinds = [one.types for one in meaning if isinstance(one, _Kind) and not (of_named and head in one.types)]
    verbs = [one for one in meaning if isinstance(one, _Verb)]
    ends = [one for one in meaning if isinstance(one, _End)]
    dates = [one for one in meaning if isinstance(one, _Date)]
    if any(isinstance(one, _Column) for one in meaning) or len(dates) > 1:
        return
    if not ends and kinds:  # "how many towns do we have pubs in"
        ends, kinds = [_End(kind, None) for kind in kinds[0]], kinds[1:]
    relations, edge_properties = context.relations, context.lexicon.edge_properties.values()
    named, said = frozenset[int]().union(*kinds), frozenset[int]().union(*(verb.edges for verb in verbs))
    for paths in product(*(list(_paths_to(context, head, end, named, of_named=of_named)) for end in ends)):
        joined_ends = list(zip(paths, ends, strict=True))
        steps = {path[: at + 1] for path in paths for at in range(len(path))}
        passed, taken = {head, *(step[-1].target for step in steps)}, {step[-1].kind >> 1 for step in steps}
        # who "works remotely" is so; who appears in a film is in it by that edge
        are_said = all(taken & verb.edges if verb.edges else not steps for verb in verbs)
        is_of_edge = bool(dates) and any(own.is_measured and own.edges & taken for own in edge_properties)
        if not (ends or dates or of_named) or not are_said or not all(passed & kind for kind in kinds) or is_of_edge:
            continue
        if not all(_fits(head, path, end, verbs) for path, end in joined_ends) or _is_torn(context, joined_ends):
            continue
        named_types = {end.type for end in ends if _is_name(end)}
        timed = _timed(context, passed - named_types, dates[0]) if dates else {}
        if timed is not None:
            starts = [(head, *(hop.target for hop in path))[:-1] for path in paths]
            hops = {pair for start, path in zip(starts, paths, strict=True) for pair in zip(start, path, strict=True)}
            is_silent = any(not _is_called_so(context, at, hop) for at, hop in hops if hop.kind >> 1 not in said)
            is_silent |= not all(map(relations.labels.is_neutral, taken))  # who is `wounded_by` a dragon wounded none
            nodes = _described(head, joined_ends, verbs, timed)
            yield (
                _Tree(nodes, len(steps), is_silent),
                all(relations.is_single(tuple(hop.kind for hop in path)) for path in paths if path),
            )


def _is_torn(context: Context, ends: list[tuple[_Path, _End]]) -> bool:
    """Return whether one thing is to have two values of one property, or a thing that is named is described further.

    What is said twice says two things: nurses "from Marlow who work in Marlow" are not only from there. Yes or no may
    have several words: "open to the public".
    """
    facts = context.lexicon.properties
    valued = [(path, end.condition) for path, end in ends if isinstance(end.condition, Valued)]
    places = [(path, one.property) for path, one in set(valued)]
    told = [(path, end.condition) for path, end in ends if _is_name(end)]
    told += [one for one in valued if (own := facts.get(one[1].property)) is None or own.kind != "boolean"]
    names = [path for path, end in ends if _is_name(end)]
    is_further = any(path != name and path[: len(name)] == name for name in names if name for path, _ in ends)
    return is_further or any(len(set(own)) < len(own) for own in (places, told))


def _is_called_so(context: Context, at: int, hop: SchemaHop) -> bool:
    """Return whether edges are called as what they lead to, or as both things that they join."""
    led_to, other = (at, hop.target) if hop.kind & 1 else (hop.target, at)
    return context.relations.labels.is_called_so(hop.kind >> 1, [led_to], [other])


def _timed(context: Context, types: set[int], date: _Date) -> Mapping[int, tuple[Condition, ...]] | None:
    """Return the conditions of a time, by the only type that tells one; None if none or several do."""
    told = {kind: dated_property(context, NodeSet(frozenset({kind}))) for kind in types}
    dated = {
        kind: facts
        for kind, facts in told.items()
        if facts is not None
        or any(one.kind in ("year", "date") for one in properties_of(context, NodeSet(frozenset({kind}))))
    }
    if len(dated) != 1:
        return None
    kind, facts = next(iter(dated.items()))
    parses = list(compared(context, date.place, facts)) if facts is not None else []
    return {kind: parses[0].value} if len({parse.value for parse in parses}) == 1 else None


def _fits(head: int, path: _Path, end: _End, verbs: list[_Verb]) -> bool:
    """Return whether what stands behind a noun is joined to what that names, and `by` to who does what is said."""
    if end.is_doer and not any(path and path[-1].kind >> 1 in verb.edges for verb in verbs):
        return False
    passed = [head, *(hop.target for hop in path)]
    before = passed[-2:] if _is_name(end) or end.condition is None else passed[-1:]
    return not end.owners or not end.owners.isdisjoint(before)


def _paths_to(context: Context, head: int, end: _End, named: frozenset[int], *, of_named: bool) -> Iterator[_Path]:
    """Yield the paths to an end that need no word for what is between: rows without a name, or what each has one of.

    A name of the head's own type is another thing than what is asked for, unless it is asked what that has.
    """
    relations = context.relations
    for path in _paths(context, head, end.type):
        are_told = all(
            hop.target in named or relations.is_nameless(hop.target) or relations.is_single((hop.kind ^ 1,))
            for hop in path[:-1]
        )
        is_itself = not path and _is_name(end)
        if (are_told or relations.is_single(tuple(hop.kind for hop in path))) and (of_named or not is_itself):
            yield path


def _paths(context: Context, source: int, target: int) -> Iterator[_Path]:
    """Yield the paths between two types that pass by no type twice, and by no value but where values are asked for."""
    hops, edges = context.lexicon.vocabulary.hops, context.relations.any_kinds
    fronts: list[_Path] = [()]
    if source == target:
        yield ()
    for _ in range(_MOST_STEPS):
        longer: list[_Path] = []
        for path in fronts:
            at, before = path[-1].target if path else source, {source, *(hop.target for hop in path)}
            is_value = not path  # the values of a property are its edges' targets, and may be asked for
            longer += [
                (*path, hop)
                for hop in hops[at]
                if hop.target not in before and (hop.kind in edges or (is_value and hop.kind & 1))
            ]
        yield from (path for path in longer if path[-1].target == target)
        fronts = [path for path in longer if path[-1].target != target]


def _described(
    head: int,
    ends: list[tuple[_Path, _End]],
    verbs: list[_Verb],
    timed: Mapping[int, tuple[Condition, ...]],
    *,
    is_between: bool = False,
) -> NodeSet:
    """Return the nodes of a type from which paths lead to ends; those that begin alike, over the same nodes."""
    conditions: list[Condition] = [end.condition for path, end in ends if not path and end.condition is not None]
    for hop in dict.fromkeys(path[0] for path, _ in ends if path):
        further = [(path[1:], end) for path, end in ends if path and path[0] == hop]
        is_end = all(not path for path, _ in further)
        target = _described(hop.target, further, verbs, timed, is_between=not is_end)
        where = tuple(said for verb in verbs if hop.kind >> 1 in verb.edges for said in verb.where)
        conditions.append(Joined((hop.kind,), target, where=where))
    is_named = len(conditions) == 1 and isinstance(conditions[0], Among)
    conditions = list(dict.fromkeys((*conditions, *timed.get(head, ()))))
    return NodeSet(frozenset() if is_named else frozenset({head}), tuple(conditions), is_between=is_between)
