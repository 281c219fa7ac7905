"""Whole questions: lists of nodes, questions behind a name, and questions to be answered by yes or no."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple, TypeAlias

from orienteer.index.names import folded
from orienteer.reading import forms  # noqa: F401 (its rules)
from orienteer.reading.clauses import property_valued
from orienteer.reading.comparisons import adjective, properties_of
from orienteer.reading.lexicon import LIGHT_FIT, EdgeUnit, KindVerb, PropertyFacts
from orienteer.reading.nouns import heads_at, names_at, objects_at, people_of
from orienteer.reading.possession import likeness_of_pair
from orienteer.reading.query import (
    Among,
    Best,
    Condition,
    Either,
    ExactQuery,
    Form,
    Joined,
    Measure,
    NodeSet,
    Valued,
    is_of_anything,
)
from orienteer.reading.relations import Voice
from orienteer.reading.rules import Context, Found, Parse, Rule, best, part, rules
from orienteer.reading.verbs import COMMON, measures_at
from orienteer.reading.vocabulary import ENGLISH, WORDS, SchemaHop

# ============================================================================================================ questions
# Whole questions: lists of nodes, questions behind a name, and questions behind a sentence.

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
    start, words = found["listing"].last, context.language.words
    before, at = context.at(start - 1), context.at(start)
    if _is_deed(context, nodes):
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
    return (
        not (at in words["asks all"] or before in words["all of"] or is_many) and "where" not in context.words[:start]
    )


@part
def either_kind(place: int, nodes: NodeSet, second: NodeSet) -> Parse[NodeSet] | None:
    """Read nothing: what fits one of two descriptions of one kind."""
    is_alike = nodes.types == second.types and bool(nodes.types) and nodes.best is None and second.best is None
    # "mages and knights born in X" says it of both
    if not is_alike or not nodes.conditions or not 0 < len(second.conditions) <= len(nodes.conditions):
        return None
    if all(map(is_of_anything, nodes.conditions)):
        return None  # "the head and the supervisor of X": the head of what?
    return Parse(place, NodeSet(nodes.types, (Either((nodes.conditions, second.conditions)),)), 0.0)


@part
def of_both_kinds(context: Context, place: int, first: NodeSet, second: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Read what is said of two kinds at once: `[companies and harbours] in X` are those of either kind."""
    if any(not nodes.types or nodes.named or nodes.best is not None for nodes in (first, second)):
        return
    for one in context.described(Parse(place, first, 0.0)):
        for other in context.described(Parse(place, second, 0.0)):
            types, said = one.value.types | other.value.types, (one.value.conditions, other.value.conditions)
            are_both = one.value.best is None and other.value.best is None and one.value.types and other.value.types
            if one.last != other.last or not are_both:
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
    words, at = context.language.words, context.skip(place)
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
    return last if (top.is_top or top.is_counted) and nodes.best is None else None


@part
def best_by(context: Context, place: int, top: _Top, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Read what the nodes are ranked by."""
    is_there = context.at(place - 1) in ("in", "for")
    for measure in measures_at(context, place, nodes):
        if is_there and measure.value.target is not None and measure.value.target.conditions:
            continue  # the top 3 actors "in films by X" have the most of what?
        facts = context.lexicon.properties.get(measure.value.property or "")
        is_date = facts is not None and facts.kind in ("year", "date")  # the first by a date are the earliest
        best = Best(measure.value, top.descending and not (top.is_early and is_date), top.first)
        yield Parse(measure.last, replace(nodes, best=best), measure.cost)


@part
def several(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
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
    words, relations, nodes = context.language.words, context.relations, unranked.nodes
    are_those = context.at(context.skip(found["out"].last, words["for the"])) in words["those"]
    if not left.conditions:
        return None
    if not (left.named and are_those) and relations.types_of(left) & relations.types_of(nodes):
        denied: Condition = Among(left.named, negated=True) if left.named else Either((left.conditions,), negated=True)
        return replace(unranked, nodes=nodes.that(denied))
    return _less(context, left, unranked)


def _less(context: Context, left: NodeSet, unranked: ExactQuery) -> ExactQuery | None:
    """Return a question less the nodes that edges join to named ones."""
    relation = next(context.relations.unnamed(unranked.nodes, "", left), None) if left.named else None
    if relation is None:
        return None
    return replace(unranked, nodes=relation.nodes.that(Joined(relation.kinds, relation.target, negated=True)))


@part
def placed(context: Context, place: int) -> Iterator[Parse[ExactQuery]]:
    """Read `in Ardony, which harbour is the oldest`: what is said of the nodes stands before the question."""
    is_place = context.at(place) in context.language.words["place"]
    for border in range(place + 2, min(context.end, place + _LONGEST_PLACE)) if is_place else ():
        if not context.reading.words[border].after_comma:
            continue
        for whole in context.queries(border):
            if whole.value.form in ("list", "count") and not whole.value.nodes.named:
                for parse in context.modifiers(place, whole.value.nodes):
                    if parse.last == border:
                        yield Parse(whole.last, replace(whole.value, nodes=parse.value), whole.cost + parse.cost)


@part
def who(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
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
            if people and not types and not _are_doers(context, said.value):
                continue
            if _is_deed(context, said.value):
                continue  # what was planted is a plant, and no planting
            if said.value.conditions or said.value.best is not None:
                is_read = is_read or context.is_over(said.last)
                yield said
        if is_read:
            return


def _is_deed(context: Context, nodes: NodeSet) -> bool:
    """Return whether nodes stand for what a verb of the question says is done, and no word calls them so."""
    said = (unit.types for units in context.units.types.values() for unit in units)
    if not nodes.types or any(types & nodes.types for types in said):
        return False
    verbs = (unit.edges for units in context.units.edges.values() for unit in units)
    stems, labels = {word.stem for word in context.reading.words}, context.lexicon.vocabulary.node_labels
    deeds = {kind for kind in nodes.types if any(label.stems[-1] in stems for label in labels[kind])}
    deeds.update(*(edges.deeds for edges in verbs if isinstance(edges, KindVerb)))
    return nodes.types <= deeds


def _are_doers(context: Context, nodes: NodeSet) -> bool:
    """Return whether nodes do what is said of them: whoever built X is nothing that is `built_from` X."""
    joined = [condition for condition in nodes.conditions if isinstance(condition, Joined)]
    return all(context.relations.labels.is_doer(kind) for condition in joined for kind in condition.kinds)


@part
def whose(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
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
    Rule("top 3 towers by height", "listing top nodes by best_by => list best_by"),
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
    words, behind = context.language.words, found["verb"].last
    last = context.skip(context.skip(place, words["prepositions"]), words["several"])
    asked = context.end_of(last, "which or whom")
    if asked is None and last == behind and not context.units.types.get(last):
        return None
    if asked is None and not _is_called(context, found["name"]):
        return None  # "comedies shown in cinemas" are comedies
    return Parse(last if asked is None else asked, asked is not None, 0.0)


def _is_called(context: Context, name: Parse[NodeSet]) -> bool:
    """Return whether the last word of a name is written as in a node's own."""
    word, names = context.at(name.last - 1), context.lexicon.graph.arrays.names
    return any(word in folded(names[row]) for row in name.value.named)


@part
def asked_kind(context: Context, place: int, asked_word: bool) -> list[Parse[NodeSet]]:
    """Read the kind that is asked for; `by whom` names none."""
    heads = [head for head in context.nodes(place) if not head.value.named]
    return [*heads, Parse(place, NodeSet(), 0.1)] if asked_word and context.at(place - 2) != "how" else heads


@part
def joined_to(
    context: Context, place: int, verb: EdgeUnit, asked_kind: NodeSet, name: NodeSet
) -> Iterator[Parse[NodeSet]]:
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
def ships_there(context: Context, place: int, name: NodeSet, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Read `moored at it`, `there`: the things of a kind that a named node has."""
    for unit in context.units.edges.get(place, ()):
        behind = context.skip(unit.last, context.language.words["at it"])
        for relation in context.relations.named(nodes, unit.edges, Voice.PASSIVE, name):
            yield Parse(context.end_of(behind, "there") or unit.last, relation.joined, 0.0)
    if not nodes.named:
        for relation in context.relations.unnamed(nodes, "", name):
            yield Parse(context.end_of(place, "there") or place, relation.joined, 0.0)


@part
def nothing(context: Context, place: int) -> list[Parse[None]]:
    """Read none, some or all words that say nothing."""
    return [Parse(at, None, 0.0) for at in context.skips(place, WORDS["empty"])]


_SENTENCES = rules(
    "sentences",
    Rule("Some beers are by X.", "some=0|'some' nodes nothing => nodes"),
    Rule("X owns several ships.", "['there is'] name -<before verb> verb asked_word asked_kind joined_to => joined_to"),
    Rule("X is a side effect.", "['there is'] name 'is a' kind => name"),
    Rule("X is a gene of some pathways.", "['there is'] name 'is a' kind 'of some' others=kind => name"),
    Rule("X has ships moored at it.", "['there is'] name 'has' nodes ships_there => ships_there"),
)


def _holds(nodes: NodeSet, spoken_of: NodeSet) -> bool:
    """Return whether what was spoken of is a part of a set: else a sentence was read for nothing."""
    if nodes == spoken_of:
        return True
    for condition in nodes.conditions:
        if isinstance(condition, Joined) and _holds(condition.target, spoken_of):
            return True
        if isinstance(condition, Either) and any(
            _holds(NodeSet(conditions=option), spoken_of) for option in condition.options
        ):
            return True
    return set(spoken_of.conditions) <= set(nodes.conditions) and bool(spoken_of.conditions)


# ---------------------------------------------------------------------------------------------------------- all of it


def begins(context: Context, first: int) -> list[int]:
    """Return where a question may begin behind polite words, ascending: with all, some or none of them left out."""
    places, front = {first}, [first]
    while front:
        further = set(context.ends_of(front.pop(), "polite")) - places
        places |= further
        front += further
    return sorted(places)


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
        last = context.end_of(parse.last, "their names")
        is_of_nodes = parse.value.form == "test" and not parse.value.nodes.named
        is_asked = context.at(last - 1 if last else 0) in context.language.words["all names"]
        if parse.value.form == "list" and parse.value.nodes.best is None and is_asked:
            is_of_nodes = True  # "Who are they?" behind "Who made the most?" asks for something else
        if last is not None and context.is_over(last) and is_of_nodes:
            yield parse._replace(last=last, value=replace(parse.value, form="list"))


# =============================================================================================================== claims
# Questions to be answered by yes or no: `is X in Y`, `are there X that`, `is X's owner Y`, `are all X stone`.


def _test(nodes: NodeSet) -> ExactQuery:
    return ExactQuery("test", nodes)


@part
def whether(context: Context, place: int) -> int | None:
    """Read `is it true that`, `is`, `does`."""
    start = context.end_of(place, "whether")
    return place + 1 if start is None and context.at(place) in context.language.words["asking"] else start


@part
def denied(context: Context, place: int) -> list[Parse[None]]:
    """Read nothing, or the `not` of `isn't X in Y`."""
    is_denied = context.at(place) in context.language.words["not"]
    return [Parse(at, None, 0.0) for at in range(place, place + 1 + is_denied)]


@part
def of_one(context: Context, place: int) -> bool:
    """Read nothing where `all`, `every` does not stand."""
    return context.at(place) not in context.language.words["all"]


@part
def asks(context: Context) -> bool:
    """Read nothing where the text ends as a question, or with `yes or no`."""
    text = context.reading.text.rstrip(" .").casefold()
    return text.endswith(("?", *context.language.phrases["yes or no"]))


@part
def is_any(context: Context, place: int) -> bool:
    """Read nothing before `any`, which is a part of the nodes."""
    return context.at(place) in context.language.words["any"]


@part
def is_claim(context: Context, place: int) -> bool:
    """Read nothing where a question begins and has no word that asks: `X depth over 10 m?`."""
    return place == 0 and asks(context) and context.language.words["question words"].isdisjoint(context.words)


# ------------------------------------------------------------------------------------------------ claims about a thing


@part
def behind_be(context: Context, place: int) -> bool:
    """Read nothing behind `is`, `were`."""
    return context.at(place - 1) in context.language.words["be"]


@part
def behind_is(context: Context, place: int) -> bool:
    """Read nothing behind `is`, `was`."""
    return context.at(place - 1) in ("is", "was")


@part
def behind_that(context: Context, place: int) -> bool:
    """Read nothing behind `whether`, `that`."""
    return context.at(place - 1) in context.language.words["that"]


@part
def is_so(context: Context, place: int, facts: PropertyFacts, name: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Read `over 60,000 euros`: what is said of the property of a name."""
    if facts.types & context.relations.types_of(name):
        yield from property_valued(context, facts, place, name)


@part
def is_single(context: Context, place: int) -> bool:
    """Read nothing where one thing is described: behind `is`, behind `the` of a singular, or `X's designer`."""
    at, words = context.at(place), context.language.words
    if at in words["all"]:
        return False
    if at in words["some"] or context.at(place - 1) in words["of one"]:
        return True
    if at in words["the"] and not _is_plural(context.at(place + 1)):
        return True
    owned = (context.possessive(named.last) for named in names_at(context, place))
    return any(place is not None and not _is_plural(context.at(place)) for place in owned)


def _is_plural(word: str) -> bool:
    return word == "people" or (word.endswith("s") and not word.endswith("ss"))


def _identical(context: Context, first: NodeSet, second: NodeSet) -> ExactQuery | None:
    """Return whether a named node is the described one."""
    named, other = (first, second) if first.named else (second, first)
    types, node_types = context.relations.types_of(other), context.lexicon.graph.arrays.node_types
    rows = tuple(row for row in named.named if int(node_types[row]) in types)
    is_described = not other.named and bool(other.conditions) and not other.best
    return _test(other.that(Among(rows))) if rows and is_described else None


def _exists(context: Context, nodes: NodeSet, found: Found) -> ExactQuery | None:
    """Return whether there is something so described; of "the designer of X" alone nothing is claimed."""
    is_some = context.at(found["0"].last) in context.language.words["some"]
    is_told = len(nodes.conditions) > (0 if is_some else 1) and not nodes.named and not nodes.best
    return _test(nodes) if is_told else None


@part
def greater(context: Context, place: int, facts: PropertyFacts) -> Parse[bool] | None:
    """Read `bigger than`, `over`, `below`: that a property is more than another's, or less."""
    meant = next(iter(adjective(context, place)), None)
    is_more = ENGLISH.more.get(context.at(place), None if meant is None else meant.value[0].ascending == meant.value[1])
    than = context.end_of(place + 1 if meant is None else meant.last, "than")
    if is_more is None or than is None or not facts.is_measured:
        return None
    return Parse(context.end_of(than, "that of") or than, is_more, 0.0)


def _of_property(facts: PropertyFacts, one: NodeSet, other: NodeSet, greater: bool) -> ExactQuery:
    return ExactQuery("compare", one, Measure(property=facts.name), other, greater)


rules(
    "claims",
    Rule("[is] the height of X greater than that of Y", "- facts 'of or for' one greater other=one", _of_property),
    Rule("[is] X's owner Y", "behind_be first=nodes second=nodes ~bare", _identical),
    Rule("[whether] X's owner is Y", "behind_that first=nodes 'be' second=nodes ~bare", _identical),
    Rule(
        "[is] X a lighthouse",
        "behind_is named 'a' kind over ~bare",
        lambda named, kind: _test(NodeSet(kind, named.conditions)) if kind else None,
    ),
    Rule("[is] the salary of X over 60,000", "- facts 'of or for' name is_so => test is_so"),
    Rule("[is] X's hull steel", "name possessive facts is_so => test is_so"),
    Rule("[did] the designer of X receive Y", "0 is_single nodes ~bare", _exists),
)


# -------------------------------------------------------------------------------------------------- claims about all


@part
def all_of(context: Context, place: int) -> int | None:
    """Read `all of the`, `every`."""
    last = context.end_of(place, "all of the")
    return place + 1 if last is None and context.at(place) in context.language.words["all"] else last


def _every(some: NodeSet, claimed: NodeSet) -> ExactQuery | None:
    """Return whether all nodes of a set meet what is said last."""
    before = len(some.conditions)
    if some.best or claimed.best or claimed.conditions[:before] != some.conditions or len(claimed.conditions) == before:
        return None
    base = replace(some, types=some.types or claimed.types)
    return ExactQuery("every", base, other=replace(claimed, types=base.types))


@part
def who_are(context: Context, place: int) -> int:
    """Read `that are`, `are`, or nothing, between nodes and what is claimed of them."""
    return context.skip(context.skip(place, context.language.words["relative"]), context.language.words["asking"])


def _share(some: NodeSet, claimed: NodeSet) -> ExactQuery | None:
    query = _every(some, claimed)
    return None if query is None else replace(query, form="share")


def _majority(some: NodeSet, claimed: NodeSet) -> ExactQuery | None:
    query = _every(some, claimed)
    return None if query is None else replace(query, form="majority")


rules(
    "totality",
    Rule("what share of the halls in X is of stone", "'share of' some who_are claimed=said(some) ~certain", _share),
    Rule("are most halls in X of stone", "<asking> 'most of the' some claimed=said(some) ~certain", _majority),
    Rule(
        "whether most halls in X are of stone",
        "'whether' 'most of the' some who_are claimed=said(some) ~certain",
        _majority,
    ),
    Rule(
        "most halls in X are of stone?",
        "is_question 'most of the' some <asking> claimed=said(some) ~certain",
        _majority,
    ),
    Rule("is every hall in X of stone", "<asking> all_of some claimed=said(some) ~certain", _every),
    Rule(
        "whether every hall in X is of stone",
        "'whether every' all_of some be=0|<asking> claimed=said(some) ~certain",
        _every,
    ),
    Rule("all X halls are stone?", "is_question all_of some -<asking> claimed=said(some) ~certain", _every),
    Rule("the halls of X, are they all stone?", "is_question some 'are they all' claimed=said(some) ~certain", _every),
)


# ------------------------------------------------------------------------------------------------------------- checks


@part
def alike(context: Context, place: int, found: Found) -> Iterator[Parse[NodeSet]]:
    """Read `share a brewery`, `in the same country`, of two names."""
    return likeness_of_pair(context, place, found["named"], found["name"])


@part
def of_either(place: int, first: NodeSet, second: NodeSet) -> Parse[NodeSet]:
    """Read nothing: the nodes of two names."""
    return Parse(place, NodeSet(conditions=(Among(tuple(sorted({*first.named, *second.named}))),)), 0.0)


def _told(claimed: NodeSet) -> ExactQuery | None:
    """Return whether something is so; None where nothing is said but the name."""
    return _test(claimed) if len(claimed.conditions) > 1 or claimed.types else None


rules(
    "checks",
    Rule("any beers by X?", "asks is_any nodes => test nodes ~sure"),
    Rule("X weighs more than Y?", "is_claim nodes=name more_than => more_than"),
    Rule(
        "X depth over 10 m?",
        "is_claim name said(name) ~bare",
        lambda said: _test(said) if len(said.conditions) > 1 else None,
    ),
    Rule("are there beers that X brews", "whether 'there any' nodes => test nodes"),
    Rule("do X and Y share a brewery", "whether -<both> named 'and only' name alike => test alike"),
    Rule(
        "is either X or Y in Z",
        "whether 'either' first=named 'or only' second=named of_either claimed=described(of_either)",
        _told,
    ),
    Rule("is X in Y", "whether denied of_one one claimed=described(one)", _told),
    Rule("is X taller than Y", "whether denied of_one nodes=one more_than => more_than"),
    Rule("is X's owner Y", "whether denied of_one claims => claims"),
)


# ============================================================================================================= assembly
# Words put together by the edges between what they name, where no rule reads a question.
#
#     Pubs that Bill Stokoe has delivered to
#     pub that <-pub- (delivery that -driver-> "Bill Stokoe")
#
# Only where each word is known and none of them turns the meaning (`not`, `most`, `before`), and where there is one way
# alone that passes by all that is named: of two ways, or of an edge between things of one kind, nobody tells which is
# meant.

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
