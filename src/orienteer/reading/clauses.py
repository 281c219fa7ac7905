"""Noun phrases, and all that is said of nodes behind their noun: `that treat X`, `brewed by Y`, `that X treats`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.comparisons import properties_of
from orienteer.reading.edges import any_of, contrary, denied, edge_said, joined, value_said
from orienteer.reading.membership import EXCEPTIONS, LINKED, LINKS, MEMBERS
from orienteer.reading.nouns import (
    heads_at,
    kin_at,
    kin_of,
    names_at,
    noun_had,
    noun_of_owner,
    owned_by,
    relational_nouns,
)
from orienteer.reading.objects import Objects, objects_at, sharing_owners
from orienteer.reading.possession import HAVING, LIKENESSES, WHOSE, things_had
from orienteer.reading.properties import TRAITS, NamedProperty, property_said
from orienteer.reading.query import Among, Condition, Either, Filled, Joined, NodeSet, Valued
from orienteer.reading.relations import Voice
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, best, part, rules
from orienteer.reading.texts import text_said
from orienteer.reading.units import EdgeUnit, PropertyFacts, name_words
from orienteer.reading.verbs import PLACES, VERBS, Verbs, edges_named, fitting, is_particle, so_or_denied, verb_joined
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.text.english import IRREGULAR
from orienteer.text.tokenizer import singulars

# ============================================================================================================= subjects
# Clauses with a subject of their own: `[does] X treat`, `that X and Y brew`, `do the most packages depend on`.


@part
def being(context: Context, place: int, found: Found) -> bool | int:
    """Read `is`; nothing where it stands before the subject: `which X is Y the owner of`."""
    begin = context.skip(place, WORDS["be"])
    return begin if begin > place else context.at(found["0"].last - 1) in WORDS["be"]


@part
def noun_led_to(context: Context, place: int, nodes: NodeSet, edges_named: Verbs, objects: Objects) -> Phrases:
    """Read nothing: the nodes of which things are what a noun says."""
    return verb_joined(context, nodes, edges_named, Voice.HAS_NOUN, Parse(place, objects, 0.02))


@part
def does(context: Context, found: Found, place: int, nodes: NodeSet) -> Phrases:
    """Read `treat`, `are used to brew`, `does not treat` behind its subject."""
    objects, first = found["objects"], found["0"].last
    verb = _verb_behind(context, place, is_passive=context.at(first - 1) in WORDS["be"])
    begin = context.skip(context.skip(verb, WORDS["denials"]), WORDS["auxiliaries"])
    for _, several, _ in edges_named(context, begin):
        apt = fitting(context, several, context.at(several.last))
        if apt is None:
            continue
        end = apt.last + is_particle(context, apt.last, apt)
        # "by which X was Y influenced", and not "has Y influenced"
        participle = context.at(apt.last - 1).endswith(("ed", "en", "t", "wn", "ung", "de"))
        is_passive = end == apt.last and participle and context.at(first - 1) in WORDS["be"]
        is_done = is_passive or "by" in (context.at(apt.last), context.at(first - 2))  # "by which X is suggested"
        frame = Voice.PASSIVE_OBJECT if is_done else Voice.OBJECT
        is_strict = end == apt.last and frame is Voice.OBJECT
        all_related = _related(context, nodes, apt, frame, objects._replace(cost=0.0), end, is_strict=is_strict)
        for related in so_or_denied(all_related, nodes, is_denied=context.at(verb) in WORDS["denials"]):
            yield Parse(max(end, related.last), related.value, related.cost + 0.02)


def _related(
    context: Context,
    nodes: NodeSet,
    verbs: Verbs,
    frame: Voice,
    objects: Parse[Objects],
    end: int,
    *,
    is_strict: bool,
) -> Phrases:
    """Yield what others do to nodes; what is said of the others may stand behind the verb.

    "In which pathways do genes participate that are bound by X"
    """
    for related in verb_joined(context, nodes, verbs, frame, objects, is_strict=is_strict):
        yield related._replace(last=end)
    first = objects.value.members[0].nodes
    is_open = len(objects.value.members) == 1 and not first.conditions and bool(first.types)
    if is_open and (context.at(end) in WORDS["relative"] or context.at(end) == "whose"):
        for said in context.modifiers(end, first):
            others = objects.value._replace(members=(objects.value.members[0]._replace(nodes=said.value),))
            described = Parse(said.last, others, objects.cost + said.cost)
            yield from verb_joined(context, nodes, verbs, frame, described, is_strict=is_strict)


def _verb_behind(context: Context, place: int, *, is_passive: bool) -> int:
    """Return where a verb begins, or its denial, behind `does`, `is used to`, `is known for`."""
    begin = context.skip(place, WORDS["auxiliaries"])
    is_used = is_passive or context.at(begin - 1) in WORDS["be"] | {"be", "been"}
    used = context.starts(begin, "used to") if is_used else None
    return used or context.end_of(begin, "adverbial") or begin


@part
def held(context: Context, place: int) -> int | None:
    """Read `have`, `contain`: what a subject does to what it has."""
    if context.at(place) in WORDS["containing"] and not context.units.edges.get(place):
        return place + 1
    return context.end_of(place, "have or make")


@part
def uncounted(objects: Objects) -> bool:
    """Read nothing where no number of things is asked for."""
    return objects.amount is None


@part
def things_of(context: Context, place: int, nodes: NodeSet, objects: Objects) -> Phrases:
    """Read nothing, or `as a side effect`: the nodes that things have, or that have them."""
    return things_had(context, Parse(place, objects, 0.0), nodes)


@part
def sharers(context: Context, place: int) -> Iterator[Parse[Objects]]:
    """Read `X and Y share`: those that have something together."""
    return (one._replace(value=one.value._replace(both=True)) for one in sharing_owners(context, place))


@part
def subject_is(
    context: Context, place: int, nodes: NodeSet, named: NodeSet, kind: frozenset[int]
) -> Parse[NodeSet] | None:
    """Read nothing, or `of`: the nodes for which a named one is of a kind."""
    relation = next(context.relations.unnamed(nodes, "", replace(named, types=kind)), None)
    if relation is None:
        return None
    names = tuple(name for name in relation.target.conditions if isinstance(name, Among))
    return joined(
        relation._replace(target=NodeSet(conditions=names)), place + (context.at(place) in ("of", "for", "in"))
    )


@part
def owned_as(context: Context, place: int, nodes: NodeSet, verb: EdgeUnit, name: NodeSet) -> Phrases:
    """Read `of`, which may be left out where the question begins with it: the nodes of which a named one is a noun."""
    last = context.starts(place, "of", "for", "to", "in", "at")
    if last is not None or context.at(0) in WORDS["all prepositions"]:
        for relation in noun_had(context, nodes, verb, name):
            yield joined(relation, last or place)


@part
def done_by_none(context: Context, place: int, nodes: NodeSet, verb: EdgeUnit) -> Phrases:
    """Read nothing, or a preposition: the nodes to which nobody does it."""
    for relation in context.relations.named(nodes, verb.edges, Voice.OBJECT, NodeSet()):
        yield joined(relation, place + (context.at(place) in WORDS["all prepositions"]), is_denied=True)


@part
def behind_there(context: Context, place: int) -> bool:
    """Read nothing behind `there`, in a question that begins with a preposition: `at which X are there`."""
    return context.at(place - 1) == "there" and context.at(0) in WORDS["all prepositions"]


@part
def counted(objects: Objects) -> bool:
    """Read nothing where a number of things is asked for."""
    return objects.amount is not None


@part
def asked_where(context: Context) -> bool:
    """Read nothing in a question that begins with `in which`."""
    return context.at(0) in WORDS["all prepositions"] and context.at(1) in ("which", "what")


@part
def around(context: Context, place: int, nodes: NodeSet, objects: Objects) -> Phrases:
    """Read `located`, or nothing: the nodes that the subject lies in."""
    last = context.starts(place, "located", "situated", "found", "based") or place
    if len(objects.members) > 1 or objects.is_denied:
        return  # each may be in another
    whole = context.nesting.whole_of(nodes.types, objects.members[0].nodes) if nodes.types else None
    if context.is_over(last) and whole is not None:
        yield Parse(last, nodes.that(*whole.conditions), 0.1)
    elif context.is_over(last):
        for relation in context.relations.unnamed(nodes, context.at(0), objects.members[0].nodes, Voice.OBJECT):
            yield joined(relation, last)


SUBJECTS = rules(
    "subjects",
    Rule("what X treats", "0 objects does"),
    Rule("groups that X is a member of", "0 objects being 'a noun' edges_named 'of alone' noun_led_to"),
    Rule("what telescopes does X have", "objects uncounted held things_of"),
    Rule(
        "paradigms that X and Y share",
        "objects=sharers things_of",
        lambda nodes, things_of: things_of if nodes.types else None,
    ),
    Rule("for which diseases is X a symptom", "named=one 'a kind' kind subject_is"),
    Rule("which ships is X the owner of", "name 'a noun' verb owned_as"),
    Rule("ships that nobody designed", "'nobody' -<auxiliaries> verb done_by_none"),
    LINKED,
    Rule("which region is X in", "0 one being <in places> over around_it"),
    Rule("at which X are there more than three Y", "behind_there objects counted over things_of"),
    Rule("in which region is the town of X", "asked_where objects uncounted around"),
    Rule("which packages do the most packages depend on", "most_doers"),
)


# ============================================================================================================== clauses
# What is said of nodes behind their noun: `that treat X`, `brewed by Y`, `with more than 5 Z`, `but not W`, `in V`.

_MOST_MODIFIERS = 5
_MOST_PARSES = 4  # of one end that are followed
_CLAUSE_WORDS = WORDS["relative"] | WORDS["auxiliaries"] | WORDS["all prepositions"] | WORDS["denials"]
"""What begins another clause, as a noun does not."""
_FAR = 0.05  # cost


class Described(NamedTuple):
    """A set with what was said of it so far."""

    parse: Parse[NodeSet]
    before: int
    """How many conditions it had before the last thing that was said."""
    noun: int
    """Where its noun ends."""


# ------------------------------------------------------------------------------------------------- all that is said
def all_said(context: Context, head: Parse[NodeSet]) -> list[Parse[NodeSet]]:
    """Return a set with nothing, some or all that is said of it behind its noun."""
    results = [head]
    front = [Described(head, len(head.value.conditions), head.last)]
    for _ in range(_MOST_MODIFIERS):
        further = dict[Parse[NodeSet], Described]()
        for described in front:
            if context.is_exhausted():
                break
            for more in (*_and_more(context, described), *_or_else(context, described)):
                further.setdefault(more.parse, more)
        front = [further[parse] for parse in best(further, _MOST_PARSES)]
        if not front:
            break
        results += [described.parse for described in front]
    return best(results)


def _and_more(context: Context, described: Described) -> Iterator[Described]:
    """Yield a set with one more thing said of it: `that treat X` and `and cause Y`."""
    last, nodes, cost = described.parse
    begin = context.starts(
        last, *(ENGLISH.phrases["and of clauses"] if _has_said(described) else ENGLISH.phrases["asides"])
    )
    if begin is not None and _is_bare_behind_denial(context, begin, described):
        return  # "neither games nor fonts and libs" may mean either
    if begin is not None and not _agrees(context, described.noun, begin):
        return  # "ships of a company that is based in X and were built in Y": the ships were
    far = 0.0
    if begin is None:  # without a word between them, what is nearest is spoken of: "operators of observatories in X"
        is_next = context.at(last) in WORDS["all prepositions"] or not context.is_behind_comma(last)
        is_theirs = context.depth > 1 and context.at(last) in WORDS["finite"]  # "parts of cars are parts of bicycles"
        far = _FAR if (nodes.conditions and is_next) or is_theirs else 0.0
    is_far = begin is None and _leads_to_kind(context, described)
    is_far = is_far and context.at(last) in WORDS["of the nearest"]
    for modified in _further(context, last if begin is None else begin, nodes, nodes):
        if is_far and _says_where(modified.value, nodes):
            continue  # "climbed peaks in X": the peaks are there, and nobody is born there
        value = modified.value
        if begin is None and _goes_on_denying(context, described, value):  # "not red, green or blue" is none of them
            new = contrary(value.conditions[len(nodes.conditions) :])
            value = replace(value, conditions=(*nodes.conditions, *new))
        parse = Parse(modified.last, value, cost + modified.cost + far)
        yield Described(parse, len(nodes.conditions), described.noun)


def _agrees(context: Context, noun: int, place: int) -> bool:
    """Return whether a noun that ends before a place and the verb behind `and` are of one number, if both tell it."""
    kinds = (unit for at in range(max(0, noun - 3), noun) for unit in context.units.types.get(at, ()))
    word = context.at(noun - 1)
    if not any(unit.last == noun for unit in kinds):
        return True
    is_plural = word in IRREGULAR or (word.endswith("s") and len(singulars(word)) > 1)
    verb = context.at(context.skip(place, WORDS["relative"]))
    return verb not in WORDS["singular verbs" if is_plural else "plural verbs"]


def _goes_on_denying(context: Context, described: Described, value: NodeSet) -> bool:
    """Return whether bare values behind a comma go on with a list of which the first was denied."""
    nodes = described.parse.value
    said, new = nodes.conditions[described.before :], value.conditions[len(nodes.conditions) :]
    is_denied = bool(said) and all(isinstance(one, Valued) and one.negated for one in said)
    options = [one for c in new for option in (c.options if isinstance(c, Either) else ((c,),)) for one in option]
    same = {one.property if isinstance(one, Valued) else None for one in (*said, *options)}
    return is_denied and bool(new) and len(same) == 1 and context.is_behind_comma(described.parse.last)


def _is_bare_behind_denial(context: Context, place: int, described: Described) -> bool:
    """Return whether a name or a value alone is joined to what is denied: `outside Ardony and Drusk`."""
    units, begin = context.units, context.skip(place)
    said = described.parse.value.conditions[described.before :]
    is_bare = bool(units.values.get(begin) or units.names.get(begin)) and not units.edges.get(begin)
    return is_bare and bool(said) and all(condition.negated for condition in said)


def _further(context: Context, place: int, nodes: NodeSet, spoken_of: NodeSet) -> list[Parse[NodeSet]]:
    """Return a set with one more thing said of it, in which `it` and `there` stand for what was named last."""
    if WORDS["spoken of"].isdisjoint(context.words[place:]):
        return one_said(context, place, nodes)
    before = context.antecedent
    targets = [condition.target for condition in spoken_of.conditions if isinstance(condition, Joined)]
    context.antecedent = targets[-1] if targets and targets[-1].named else before
    modified = one_said(context, place, nodes)
    context.antecedent = before
    return modified


def _or_else(context: Context, described: Described) -> Iterator[Described]:
    """Yield a set with another thing that may be so instead of the last: `that treat X` and `or cause Y`."""
    (last, nodes, cost), before, noun = described
    begin = context.end_of(last, "or of clauses")
    said = nodes.conditions[before:]
    if begin is None or nodes.best is not None or not said or not _agrees(context, noun, begin):
        return
    base = replace(nodes, conditions=nodes.conditions[:before])
    is_denied = all(condition.negated for condition in said)
    goes_on = context.at(last + 1) not in WORDS["auxiliaries"] | WORDS["relative"] | WORDS["denials"]
    for modified in _further(context, begin, base, nodes):
        other = modified.value.conditions[before:]
        if not other or modified.value.best is not None:
            continue
        if len(other) > 1 and context.at(begin) not in _CLAUSE_WORDS:
            continue  # "mages or knights are immortal" says it of both
        conditions: tuple[Condition, ...] = (Either((said, other)),)
        if is_denied and goes_on:  # "not X or Y" denies both
            if not _are_of_one_kind((*said, *other)):
                continue
            conditions = (*said, *contrary(other))
        either = replace(base, types=modified.value.types).that(*conditions)
        yield Described(Parse(modified.last, either, cost + modified.cost), before, noun)


def property_valued(context: Context, facts: PropertyFacts, place: int, nodes: NodeSet) -> Phrases:
    """Yield the nodes of a set with what is said here of a property that was named before."""
    begin = context.starts(place, "made of", "made out of", "made from") or place
    yield from property_said(context, NamedProperty(facts, begin, 0.0), nodes)


@part
def begun_then(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `in 2023`, `after May 2020`: of the only date of people that tells when they began."""
    own = [facts for facts in properties_of(context, nodes) if facts.kind in ("year", "date")]
    begun = [facts for facts in own if not WORDS["edge begins"].isdisjoint(name_words(facts.name))]
    if len(begun) == 1 and nodes.types and nodes.types <= context.lexicon.people:
        yield from property_valued(context, begun[0], place, replace(nodes, types=nodes.types & begun[0].types))


# ------------------------------------------------------------------------------------------------------ one clause
def one_said(context: Context, place: int, nodes: NodeSet) -> list[Parse[NodeSet]]:
    """Return a set with one thing said of it that begins here."""
    if place >= context.end or context.is_exhausted():
        return []
    key = ("said", place, nodes, tuple(context.referents), context.antecedent)
    return context.once(key, lambda: best(_all_modifiers(context, place, nodes)))


part(one_said, "said")


def _all_modifiers(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Yield `but not X`, `whose height is 5 m`, `[that] are not brewed by X`, `by which X is suggested`."""
    yield from EXCEPTIONS.of(context, place, nodes)
    yield from NEITHER.of(context, place, nodes)
    yield from WHOSE.of(context, place, nodes)
    begin = place
    if context.at(begin) in WORDS["all prepositions"] and context.at(begin + 1) in ("which", "whom", "whose"):
        begin += 1
    begin = context.skip(begin, WORDS["relative"])
    if context.at(begin - 2) == "by" and begin - 2 >= place:  # "by which X is suggested"
        yield from SUBJECTS.of(context, begin, nodes)
        return
    yield from edge_said(context, place, nodes)
    yield from text_said(context, place, nodes)
    for core, is_denied in dict.fromkeys(_cores(context, begin)):
        yield from so_or_denied(CLAUSES.of(context, core, nodes), nodes, is_denied=is_denied)


CLAUSES = rules(
    "clauses",
    VERBS,
    Rule("members who joined before 2010", "lone_edge"),
    Rule("members who are captain of X", "value_said"),
    Rule("people who joined us in 2023", "<begin to be> 'us' begun_then"),
    Rule("people under contract at X", "'under it' edge_noun -<prepositions> objects bound"),
    Rule("people who have siblings", "kin_had"),
    LINKS,
    Rule("employees under X", "'under' one under_them"),
    Rule("films whose title contains X", "text_said"),
    SUBJECTS,
    HAVING,
    PLACES,
    TRAITS,
    Rule("telescopes X", "name_beside"),
    MEMBERS,
    LIKENESSES,
    Rule("languages that support every paradigm that X supports", "extent_said"),
    Rule("films in the most orders", "most_in"),
    Rule("department most vehicles", "most_bare"),
    Rule("films director X", "role_said"),
    Rule("directors more than 2 films", "counted_had"),
)
"""What a clause says, behind its auxiliaries and denials."""


def _both_denied(nodes: NodeSet, first: NodeSet, second: NodeSet) -> NodeSet | None:
    denials = [denied(value, nodes) for value in (first, second)]
    new = [condition for one in denials if one is not None for condition in one.conditions[len(nodes.conditions) :]]
    return None if None in denials else nodes.that(*new)


NEITHER = rules(
    "neither",
    Rule(
        "ships neither lent by X nor sold to Y",
        "-<relative> -<auxiliaries> 'neither' first=said 'nor' second=said",
        _both_denied,
    ),
    Rule(
        "ships neither lent by nor sold to X",
        "-<relative> -<auxiliaries> 'neither' first=action 'nor' second=action objects neither_verb",
    ),
)


def _cores(context: Context, place: int) -> Iterator[tuple[int, bool]]:
    """Yield where the words of a clause begin that say something, and whether they are denied.

    Auxiliaries with a denial may be left out, phrases between them and a verb, and an article.
    """
    begin, is_denied = place, False
    having: list[tuple[int, bool]] = []
    while context.at(begin) in WORDS["auxiliaries"] | WORDS["denials"]:
        if context.at(begin) in WORDS["having"] or context.at(begin) == "without":
            having.append((begin, is_denied))
            if context.at(begin) not in WORDS["auxiliaries"]:
                break
        if context.at(begin) in WORDS["denials"]:
            is_denied = not is_denied
        begin += 1
    if context.at(begin - 1) not in ("have", "has", "had") or not context.at(begin).endswith("s"):
        yield begin, is_denied  # who "has mentors" mentors nobody
    yield from having
    finding = context.end_of(place, "finding")
    if finding is not None:
        yield finding, False
    if context.at(begin) == "there" and context.at(begin - 1) in WORDS["be"]:  # "which beers are there in X"
        yield begin + 1, is_denied
    adverb = _adverb(context, place, begin)
    if adverb is not None:
        yield adverb, is_denied
    article = context.end_of(begin, "articles of nouns")
    nouns = context.units.edges.get(article, ()) if article is not None else ()
    if article is not None and any(context.at(noun.last) in WORDS["all prepositions"] for noun in nouns):
        yield article, is_denied  # "the owner of X"; "the home port of X" is a port


def _adverb(context: Context, place: int, begin: int) -> int | None:
    """Return where words end that stand between an auxiliary and its verb; None where there are none."""
    adverb = context.end_of(begin, "adverbial")
    if adverb is None and (begin == place or context.at(begin - 1) in WORDS["be"] | {"be", "been"}):
        # who "used to work" somewhere does so no longer; what is "used to treat" something does it
        adverb = context.starts(begin, "used to") if context.at(begin - 1) not in WORDS["relative"] else None
    if adverb is None and context.at(begin) == "used" and context.at(begin + 1) in WORDS["behind used"]:
        return begin + 1
    return adverb


def _has_said(described: Described) -> bool:
    """Return whether something was said of a set already, which `and` goes on with."""
    nodes = described.parse.value
    return len(nodes.conditions) > described.before or nodes.best is not None


def _leads_to_kind(context: Context, described: Described) -> bool:
    """Return whether what was said last leads to things that are not named, of which more may be said.

    So does a noun that is of some kind: what stands behind "heads of wards in hospitals" is of the hospitals.
    """
    place, nodes, _ = described.parse
    best = nodes.best.measure.target if nodes.best is not None else None
    last = nodes.conditions[-1] if nodes.conditions else None
    target = best or (last.target if isinstance(last, Joined) else None)
    while target is not None and target.conditions and isinstance(target.conditions[-1], Joined):
        target = target.conditions[-1].target
    if target is None or target.conditions:
        return False
    kinds = (unit for at in range(max(0, place - 3), place) for unit in context.units.types.get(at, ()))
    return _has_said(described) or any(unit.last == place and unit.types & target.types for unit in kinds)


def _says_where(modified: NodeSet, nodes: NodeSet) -> bool:
    """Return whether a set has one more condition than another, which may tell a place: over an edge, or by a text."""
    last = modified.conditions[-1] if len(modified.conditions) > len(nodes.conditions) else None
    return isinstance(last, Joined) or (isinstance(last, Valued) and isinstance(last.value, str))


def _are_of_one_kind(conditions: Sequence[Condition]) -> bool:
    """Return whether all conditions are of one relation, or of one property."""
    kinds = {
        one.kinds if isinstance(one, Joined) else one.property if isinstance(one, Valued | Filled) else None
        for one in conditions
    }
    return len(kinds) == 1 and None not in kinds


# ================================================================================================================ nouns
# Noun phrases with all that is said of their nodes: `Duvel's brewery`, `beers that X brews`, `alumni of X and Y`.

_DEEPEST = 30  # noun phrases within one another; a question that needs more is refused


def noun_phrases(context: Context, place: int) -> list[Parse[NodeSet]]:
    """Return the noun phrases that begin at a place, likeliest first."""
    key = ("nouns", place)
    if key in context.known:
        return context.known[key]
    if context.depth >= _DEEPEST:
        context.is_too_deep = True
        return []
    context.known[key] = []  # a phrase does not begin with itself
    context.depth += 1
    context.known[key] = best(_all(context, place)) if place < context.end else []
    context.depth -= 1
    return context.known[key]


part(noun_phrases, "nodes")


def _all(context: Context, place: int) -> Phrases:
    if context.is_exhausted():
        return
    for named in names_at(context, place):
        yield from _with_name(context, place, named)
    heads = [one for head in heads_at(context, place) for one in (head, *owned_by(context, head))]
    kinds = (*relational_nouns(context, place), *kin_at(context, place), *value_said(context, place, NodeSet()))
    for noun in (*heads, *kinds):
        yield from all_said(context, noun)
    yield from _nouns_of_many(context, place)
    yield from _common(context, place)


def _with_name(context: Context, place: int, named: Parse[NodeSet]) -> Phrases:
    """Yield `Duvel`, `the Night Owl from Ballycrane`, `Duvel's brewery`."""
    yield named
    arrays, rows = context.lexicon.graph.arrays, named.value.named
    names = {(int(arrays.node_types[row]), arrays.names[row].casefold()) for row in rows}
    if not rows or len(names) == 1 < len(rows):  # no name, or namesakes
        yield from all_said(context, named)
    asks_what_it_does = context.at(place - 1) in WORDS["do"]  # "who did X mentor"
    nouns = noun_of_owner(context, named.last, named.value, named.cost + 0.2) if not asks_what_it_does else ()
    for owned in (*nouns, *kin_of(context, named), *owned_by(context, named)):
        yield from all_said(context, owned)


def _nouns_of_many(context: Context, place: int) -> Phrases:
    """Yield `alumni of X and Y`, `members of either X or Y`."""
    for begin in context.skips(place):
        for unit in context.units.edges.get(begin, ()):
            of = context.starts(unit.last, "of", "both of", "of both", "of either")
            lists = [one for one in objects_at(context, of) if len(one.value.members) > 1] if of is not None else []
            owners = sharing_owners(context, context.starts(unit.last, "that", "which") or unit.last)
            for objects in (*lists, *owners):
                yield from _noun_of_many(context, unit, objects)


def _common(context: Context, place: int) -> Phrases:
    """Yield `common symptoms of X and Y`, `shared paradigms of X and Y`: those that all of several have."""
    begin = context.skip(place)
    if context.at(begin) not in WORDS["common"]:
        return
    for nodes in noun_phrases(context, begin + 1):
        said = {one for one in nodes.value.conditions if isinstance(one, Joined) and not one.negated}
        if sum(bool(one.target.named) for one in said) > 1:
            yield nodes
        between = context.starts(nodes.last, "between", "among")
        for objects in objects_at(context, between) if between is not None else ():
            if len(objects.value.members) > 1 and not objects.value.any and not nodes.value.conditions:
                both = objects._replace(value=objects.value._replace(both=True))
                for parse in things_had(context, both, nodes.value):
                    yield parse._replace(cost=parse.cost + nodes.cost)


def _noun_of_many(context: Context, unit: EdgeUnit, objects: Parse[Objects]) -> Phrases:
    conditions: list[Condition] = []
    nodes = NodeSet()
    for member in objects.value.members:
        relation = next(context.relations.of_noun(unit, context.at(unit.last - 1), member.nodes), None)
        if relation is None:
            return
        nodes = replace(nodes, types=relation.nodes.types)
        conditions.append(Joined(relation.kinds, relation.target, member.negated))
    if objects.value.any:
        conditions = [any_of(conditions)]
    yield Parse(objects.last, nodes.that(*conditions), objects.cost)
