"""Whole questions: lists of nodes, questions behind a name, and questions to be answered by yes or no."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from orienteer.index.names import folded
from orienteer.reading import claims, forms  # noqa: F401 (their rules)
from orienteer.reading.comparisons import properties_of
from orienteer.reading.edges import is_told_of_others
from orienteer.reading.membership import COMMON
from orienteer.reading.nouns import heads_at, people_of
from orienteer.reading.objects import objects_at
from orienteer.reading.query import (
    Among,
    Best,
    Condition,
    Either,
    ExactQuery,
    Joined,
    NodeSet,
    is_of_anything,
    parts_of,
)
from orienteer.reading.relations import Voice
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, best, part, rules
from orienteer.reading.units import EdgeUnit, KindVerb
from orienteer.reading.verbs import measures_at
from orienteer.reading.vocabulary import ENGLISH, WORDS

_LONGEST_PLACE = 7  # words
_MOST_COUNTED = 100  # nodes that somebody asks for by their number
_MOST_SPOKEN_OF = 3  # meanings of a sentence that are tried


# ------------------------------------------------------------------------------------------------------------- lists


@part
def listing(context: Context, place: int) -> list[Parse[None]]:
    """Read `which`, `list all`; nothing costs a little, for a question says mostly that it asks for nodes."""
    starts = {place: 0.05}
    for last in context.ends_of(place, "listing"):
        starts |= dict.fromkeys((last, *context.ends_of(last, "listing")), 0.0)
    return [Parse(last, None, cost) for last, cost in starts.items()]


@part
def is_listed(context: Context, found: Found, nodes: NodeSet) -> bool:
    """Read nothing where nodes are asked for, and not a single one that is named."""
    start, words = found["listing"].last, WORDS
    before, at = context.at(start - 1), context.at(start)
    if _stand_for_deeds(context, nodes):
        return False  # what somebody planted is a plant, and no planting
    if not nodes.named:
        # who writes "joan pike projects" knows her
        is_of_namesakes = any(isinstance(c, Among) and not c.negated for c in nodes.conditions)
        return not is_of_namesakes or before in words["asks which"]
    if at in words["a"]:
        return False  # "who is a professor" asks for no "Professor"
    is_many = context.at(found["nodes"].last - 1).endswith("s")
    if is_many and found["listing"].cost:  # "support agents" are no "support agent"; "Vans" is one
        is_many = not any(context.lexicon.graph.arrays.names[row].endswith("s") for row in nodes.named)
    asks_all = at in words["asks all"] or before in words["all of"]
    return not (asks_all or is_many or "where" in context.words[:start])


@part
def either_kind(place: int, nodes: NodeSet, second: NodeSet) -> Parse[NodeSet] | None:
    """Read nothing: what fits one of two descriptions of one kind."""
    is_alike = nodes.types == second.types and bool(nodes.types) and nodes.best is None and second.best is None
    # "mages and knights born in X" says it of both
    if not is_alike or not nodes.conditions or not 0 < len(second.conditions) <= len(nodes.conditions):
        return None
    if any(condition.negated for condition in (*nodes.conditions, *second.conditions)):
        return None  # "except comedies and westerns" leaves out both
    if all(map(is_of_anything, nodes.conditions)):
        return None  # "the head and the supervisor of X": the head of what?
    return Parse(place, NodeSet(nodes.types, (Either((nodes.conditions, second.conditions)),)), 0.0)


@part
def of_both_kinds(context: Context, place: int, first: NodeSet, second: NodeSet) -> Phrases:
    """Read what is said of two kinds at once: `[companies and harbours] in X` are those of either kind."""
    if any(not nodes.types or nodes.named or nodes.best is not None for nodes in (first, second)):
        return
    for one in context.described(Parse(place, first, 0.0)):
        for other in context.described(Parse(place, second, 0.0)):
            types, said = one.value.types | other.value.types, (one.value.conditions, other.value.conditions)
            are_both = one.value.best is None and other.value.best is None and one.value.types and other.value.types
            is_denied = any(condition.negated for option in said for condition in option)  # who is not of a kind is so
            if one.last != other.last or not are_both or is_denied:
                continue
            if all(said):
                yield Parse(one.last, NodeSet(types, (Either(said),)), one.cost + other.cost)
            elif not any(said) and types != one.value.types:
                yield Parse(one.last, NodeSet(types), one.cost + other.cost)


class _Top(NamedTuple):
    """What stands before the nodes of `top 3 towers`, `5 largest packages`."""

    is_top: bool
    descending: bool
    first: int
    is_counted: bool
    is_early: bool = False
    """`first 3`, which says an order and not by what."""


@part
def top(context: Context, place: int) -> Parse[_Top]:
    """Read `top 3`, `the five`, `5 largest`, or nothing."""
    words, at = WORDS, context.skip(place)
    is_top, descending = context.at(at) in words["top"], context.at(at) not in words["bottom"]
    is_early = context.at(at) == "first"
    at += is_top
    amount, first = context.units.quantities.get(at), 1
    if amount is not None and amount.unit is None:
        first, at = max(1, int(amount.value)), amount.last
    superlative = ENGLISH.superlatives.get(context.at(at))
    if not is_top and superlative is not None:  # "oldest department by founding year"
        is_top, descending, at = True, superlative.ascending, at + 1
    elif not is_top and context.at(at) in ENGLISH.most:  # "5 largest packages by size"
        is_top, descending, at = True, ENGLISH.most[context.at(at)], at + 1
    return Parse(at, _Top(is_top, descending, first, amount is not None, is_early), 0.0)


def _first_of_best(top: _Top, nodes: NodeSet) -> ExactQuery | None:
    if nodes.best is None or not top.is_counted:
        return None
    return ExactQuery("list", replace(nodes, best=replace(nodes.best, first=top.first)))


def _any_so_many(context: Context, place: int, top: _Top, nodes: NodeSet) -> ExactQuery | None:
    """Return a question for so many nodes, whichever; a number of a year is none of nodes."""
    is_few = top.is_counted and (top.is_early or not top.is_top) and top.first <= _MOST_COUNTED
    if is_few and top.is_early and any(facts.kind in ("year", "date") for facts in properties_of(context, nodes)):
        context.complain(place, "the first by what is not said: say `oldest`, or `first by` what")
        return None
    if not is_few or nodes.best is not None or nodes.named or not nodes.types:
        return None
    return ExactQuery("list", nodes, first=top.first)


@part
def by(context: Context, place: int, top: _Top, nodes: NodeSet) -> int | None:
    """Read `by`, `ranked by`; nothing behind `top 3 towers`."""
    is_bare = top.is_top and top.is_counted and not top.is_early
    last = context.end_of(place, "ranked by") or (place if is_bare else None)
    if top.is_early and context.at(place) in ("in", "for"):
        return None  # the first three "in X" are those that are there
    if last == place and context.at(place) in WORDS["relative"]:
        return None  # the top 5 movies by people "who acted in them" are not the most acted in
    return last if (top.is_top or top.is_counted) and nodes.best is None else None


@part
def best_by(context: Context, place: int, top: _Top, nodes: NodeSet) -> Phrases:
    """Read what the nodes are ranked by."""
    is_there = context.at(place - 1) in ("in", "for")
    for measure in measures_at(context, place, nodes):
        if is_there and measure.value.target is not None and measure.value.target.conditions:
            continue  # the top 3 actors "in films by X" have the most of what?
        if is_told_of_others(measure.value):
            continue  # it is said of the edges that are counted
        facts = context.lexicon.properties.get(measure.value.property or "")
        is_date = facts is not None and facts.kind in ("year", "date")  # the first by a date are the earliest
        best = Best(measure.value, top.descending and not (top.is_early and is_date), top.first)
        yield Parse(measure.last, replace(nodes, best=best), measure.cost)


@part
def several(context: Context, place: int) -> Phrases:
    """Read the nodes of `X and Y`."""
    for objects in objects_at(context, place):
        members = [member.nodes.named for member in objects.value.members]
        if len(members) > 1 and all(members):
            rows = tuple(sorted({row for named in members for row in named}))
            yield Parse(objects.last, NodeSet(conditions=(Among(rows),)), objects.cost)


@part
def unranked(context: Context, place: int) -> Iterator[Parse[ExactQuery]]:
    """Read a question for nodes or their number, without a superlative."""
    whole = context.queries(place)
    return (parse for parse in whole if parse.value.nodes.best is None and parse.value.form in ("list", "count"))


def _without(context: Context, left: NodeSet, unranked: ExactQuery, found: Found) -> ExactQuery | None:
    """Return a question less others: less these themselves, or less `those of` them; None where neither can be."""
    words, relations, nodes = WORDS, context.relations, unranked.nodes
    are_those = context.at(context.skip(found["out"].last, words["for the"])) in words["those"]
    if not left.conditions:
        return None
    if not (left.named and are_those) and relations.types_of(left) & relations.types_of(nodes):
        denied: Condition = Among(left.named, negated=True) if left.named else Either((left.conditions,), negated=True)
        return replace(unranked, nodes=nodes.that(denied))
    return _less(context, left, unranked)


def _less(context: Context, left: NodeSet, unranked: ExactQuery) -> ExactQuery | None:
    """Return a question less the nodes that edges join to named ones."""
    for relation in context.relations.unnamed(unranked.nodes, "", left) if left.named else ():
        return replace(unranked, nodes=relation.nodes.that(Joined(relation.kinds, relation.target, negated=True)))
    return None


@part
def placed(context: Context, place: int) -> Iterator[Parse[ExactQuery]]:
    """Read `in Ardony, which harbour is the oldest`: what is said of the nodes stands before the question."""
    is_place = context.at(place) in WORDS["place"]
    for border in range(place + 2, min(context.end, place + _LONGEST_PLACE)) if is_place else ():
        if not context.reading.words[border].after_comma:
            continue
        for whole in context.queries(border):
            if whole.value.form in ("list", "count") and not whole.value.nodes.named:
                for parse in context.modifiers(place, whole.value.nodes):
                    if parse.last == border:
                        yield Parse(whole.last, replace(whole.value, nodes=parse.value), whole.cost + parse.cost)


@part
def who(context: Context, place: int) -> Phrases:
    """Read what is said behind `who`, `by whom`: no kind is named."""
    before = context.at(place - 1)
    is_kind = any(head.value.types and not head.value.named for head in heads_at(context, place))
    if before in ("which", "what") and is_kind:
        return  # "which captains live" asks for captains, and not for where they do
    people = people_of(context) if before in ("who", "whom") else frozenset[int]()
    start = context.end_of(place, "else") or place
    for types in [people, frozenset[int]()] if people else [people]:
        # who owns a ship may be a company, where no people own any
        is_read = False
        for said in context.described(Parse(start, NodeSet(types), 0.1)):
            edges = [kind for one in said.value.conditions if isinstance(one, Joined) for kind in one.kinds]
            if people and not types and not all(map(context.relations.labels.is_doer, edges)):
                continue  # whoever built X is nothing that is `built_from` X
            if _stand_for_deeds(context, said.value):
                continue  # what was planted is a plant, and no planting
            if said.value.conditions or said.value.best is not None:
                is_read = is_read or context.is_over(said.last)
                yield said
        if is_read:
            return


def _stand_for_deeds(context: Context, nodes: NodeSet) -> bool:
    """Return whether nodes stand for what a verb of the question says is done, and no word calls them so."""
    said = (unit.types for units in context.units.types.values() for unit in units)
    if not nodes.types or any(types & nodes.types for types in said):
        return False
    verbs = (unit.edges for units in context.units.edges.values() for unit in units)
    stems, vocabulary = {word.stem for word in context.reading.words}, context.lexicon.vocabulary
    deeds = vocabulary.kinds_called(lambda label: label.stems[-1] in stems)
    return nodes.types <= deeds.union(*(edges.deeds for edges in verbs if isinstance(edges, KindVerb)))


@part
def whose(context: Context, place: int) -> Phrases:
    """Read `whose supervisor is X`: no kind is named, of which that is said."""
    said = context.modifiers(place, NodeSet()) if context.end_of(place, "whose") is not None else []
    return (parse for parse in said if parse.value.conditions and parse.value.types)


@part
def referent(context: Context, place: int) -> list[Parse[NodeSet]]:
    """Read nothing: what an earlier sentence spoke of."""
    return [Parse(place, nodes, 0.0) for nodes in context.referents if not nodes.named]


rules(
    "lists",
    Rule("which beers are brewed by X", "listing nodes is_listed => list nodes"),
    Rule(
        "buoys that are green and buoys that are red",
        "listing nodes is_listed 'and' second=nodes either_kind described(either_kind) => list described ~bare",
    ),
    Rule(
        "how many doctors and nurses work in X",
        "counting - first=head 'and only' - second=head of_both_kinds over => count of_both_kinds ~loose",
    ),
    Rule(
        "the companies and harbours in X",
        "listing - first=head 'and only' - second=head of_both_kinds over => list of_both_kinds ~loose",
    ),
    COMMON,
    Rule("everything in X", "'everything in' one all_inside over => list all_inside ~sure"),
    Rule("3 towers with the most halls", "listing top nodes ~handy", _first_of_best),
    Rule("three people who acted in X", "listing top nodes over ~loose", _any_so_many),
    Rule("top 3 towers by height", "listing top nodes by best_by described(best_by) => list described"),
    Rule("apart from X, which beers are Y", "out='leaving out'* left=nodes|several unranked", _without),
    Rule("in Ardony, which harbour is the oldest", "placed => placed"),
    Rule("who brews X", "'who' who => list who"),
    Rule("whose supervisor is X", "whose => list whose ~loose"),
    Rule("X aside, how many beers are Y", "left=one 'aside' unranked", _less),
    Rule("which ones", "'which ones' over referent => list referent ~bare"),
)


# ------------------------------------------------------------------------------------------------------------- paths


def _path(first: NodeSet, second: NodeSet) -> ExactQuery:
    return ExactQuery("path", first, other=second)


rules(
    "paths",
    Rule("how are X and Y connected", "'how are' first=named 'and only' second=named 'connected'", _path),
    Rule("how is X connected to Y", "'how are' first=named 'connected to' second=named", _path),
    Rule("the shortest path from X to Y", "'path from' first=named 'and to' second=named", _path),
    Rule("what connects X and Y", "'what connects' first=named 'and to' second=named", _path),
)


# ------------------------------------------------------------------------------------------- questions behind a name


@part
def asked_word(context: Context, place: int, found: Found) -> Parse[bool] | None:
    """Read `by whom`, `to which`, or the preposition alone before a kind."""
    words, behind = WORDS, found["verb"].last
    last = context.skip(context.skip(place, words["prepositions"]), words["several"])
    asked = context.end_of(last, "which or whom")
    if asked is not None:
        return Parse(asked, True, 0.0)
    word, names = context.at(found["name"].last - 1), context.lexicon.graph.arrays.names
    is_called = any(word in folded(names[row]) for row in found["name"].value.named)
    if not is_called or (last == behind and not context.units.types.get(last)):
        return None  # "comedies shown in cinemas" are comedies
    return Parse(last, False, 0.0)


@part
def asked_kind(context: Context, place: int, asked_word: bool) -> list[Parse[NodeSet]]:
    """Read the kind that is asked for; `by whom` names none."""
    heads = [head for head in context.nodes(place) if not head.value.named]
    return [*heads, Parse(place, NodeSet(), 0.1)] if asked_word and context.at(place - 2) != "how" else heads


@part
def joined_to(context: Context, place: int, verb: EdgeUnit, asked_kind: NodeSet, name: NodeSet) -> Phrases:
    """Read nothing: the nodes of a kind that a verb joins to a name before it."""
    frame = {"by": Voice.PASSIVE_OBJECT, "of": Voice.HAS_NOUN}.get(context.at(verb.last), Voice.OBJECT)
    for relation in context.relations.named(asked_kind, verb.edges, frame, name):
        yield Parse(place, relation.joined, relation.cost)


def _listed_or_counted(context: Context, joined_to: NodeSet, found: Found) -> ExactQuery:
    is_count = found["asked_word"].value and context.at(found["asked_word"].last - 2) == "how"
    return ExactQuery("count" if is_count else "list", joined_to)


rules(
    "trailers",
    Rule("awk, designed by whom", "name -<before verb> verb asked_word asked_kind joined_to", _listed_or_counted),
)
_ORDER = "groups counts totals values places paths pairs checks totality lists trailers"
"""Of two readings at one cost the first stands: what asks for more than a list comes first."""
_FORMS = rules("questions", *(Rule("", f"{form} => {form}") for form in _ORDER.split()))


# ------------------------------------------------------------------------------------ the sentence before a question


@part
def ships_there(context: Context, place: int, name: NodeSet, nodes: NodeSet) -> Phrases:
    """Read `moored at it`, `there`: the things of a kind that a named node has."""
    for unit in context.units.edges.get(place, ()):
        behind = context.skip(unit.last, WORDS["at it"])
        for relation in context.relations.named(nodes, unit.edges, Voice.PASSIVE, name):
            yield Parse(context.end_of(behind, "there") or unit.last, relation.joined, 0.0)
    if not nodes.named:
        for relation in context.relations.unnamed(nodes, "", name):
            yield Parse(context.end_of(place, "there") or place, relation.joined, 0.0)


_SENTENCES = rules(
    "sentences",
    Rule("Some beers are by X.", "some=0|'some' nodes <empty>* => nodes"),
    Rule("X owns several ships.", "['there is'] name -<before verb> verb asked_word asked_kind joined_to => joined_to"),
    Rule("X is a side effect.", "['there is'] name 'is a' kind => name"),
    Rule("X is a gene of some pathways.", "['there is'] name 'is a' kind 'of some' others=kind => name"),
    Rule("X has ships moored at it.", "['there is'] name 'has' nodes ships_there => ships_there"),
)


def _holds(nodes: NodeSet, spoken_of: NodeSet) -> bool:
    """Return whether what was spoken of is a part of a set: else a sentence was read for nothing."""
    said = set(spoken_of.conditions)
    return any(
        part == spoken_of or (isinstance(part, tuple) and bool(said) and said.issubset(part))
        for part in parts_of(nodes)
    )


# ---------------------------------------------------------------------------------------------------------- all of it


def begins(context: Context, first: int) -> list[int]:
    """Return where a question may begin behind polite words, ascending: with all, some or none of them left out."""
    further = {place for last in context.ends_of(first, "polite") for place in begins(context, last)}
    return sorted({first, *further})


def read_queries(context: Context) -> list[Parse[ExactQuery]]:
    """Return the ways to read the whole of a question, likeliest first."""
    context.queries = lambda begin: _FORMS(context, begin, {})
    parses = _from(context, 0)
    context.reached = max((parse.last for parse in parses), default=0)
    whole = best(parse for parse in parses if context.is_over(parse.last)) or best(_with_their_names(context, parses))
    return whole or _read_behind(context)


def _from(context: Context, first: int) -> list[Parse[ExactQuery]]:
    return [parse for begin in begins(context, first) for parse in context.queries(begin)]


def _read_behind(context: Context) -> list[Parse[ExactQuery]]:
    """Return the ways to read a question behind a sentence that says what its pronouns stand for."""
    text, words = context.reading.text, context.reading.words
    for border in range(1, context.end):
        if not any(mark in text[words[border - 1].end : words[border].start] for mark in ".;:,"):
            continue
        said = (parse for begin in begins(context, 0) for parse in _SENTENCES(context, begin, {}))
        spoken = sorted((parse for parse in said if parse.last == border), key=lambda parse: parse.cost)
        for spoken_of in spoken[:_MOST_SPOKEN_OF]:
            context.referents = [spoken_of.value]
            context.known.clear()
            whole = best(
                parse._replace(cost=parse.cost + spoken_of.cost)
                for parse in _from(context, border)
                if context.is_over(parse.last) and _holds(parse.value.nodes, spoken_of.value)
            )
            if whole:
                return whole
    return []


def _with_their_names(context: Context, parses: list[Parse[ExactQuery]]) -> Iterator[Parse[ExactQuery]]:
    """Yield the questions behind which their answers are asked for by name: `Are there beers by X? Which ones?`."""
    for parse in parses:
        form, nodes, last = parse.value.form, parse.value.nodes, context.end_of(parse.last, "their names")
        is_asked = context.at(last - 1 if last else 0) in WORDS["all names"]
        # "Who are they?" behind "Who made the most?" asks for something else
        is_list = form == "list" and nodes.best is None and is_asked
        if last is not None and context.is_over(last) and (is_list or (form == "test" and not nodes.named)):
            yield parse._replace(last=last, value=replace(parse.value, form="list"))
