"""Noun phrases: names, kinds of things with the words before them, possessives, and kin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.comparisons import best_of, superlatives_at
from orienteer.reading.query import Among, Best, Condition, Either, Joined, Measure, NodeSet, Valued, negated
from orienteer.reading.relations import Relation, Voice
from orienteer.reading.rules import Context, Parse, Phrases, best, part
from orienteer.reading.units import LIGHT_FIT, SYNONYM, EdgeUnit, NameUnit, PropertyFacts, ValueUnit
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.text.tokenizer import singulars

# ================================================================================================================ names
# Named nodes: `Duvel`, `the brewery Duvel Moortgat`, `asthma disease`, and pronouns for what was spoken of.

_PER_WORD = 0.03  # of two ways to read words, the longer name


def names_at(context: Context, place: int) -> Phrases:
    """Yield the named nodes that begin at a place."""
    for begin in context.skips(place):
        yield from _referents(context, begin)
        yield from _before_kind(context, begin)
        yield from _behind_kind(context, begin)


def _before_kind(context: Context, begin: int) -> Phrases:
    """Yield `Duvel`, `asthma disease`."""
    units = context.units
    for unit in units.names.get(begin, ()):
        cost = unit.cost - _PER_WORD * (unit.last - begin)
        yield Parse(unit.last, NodeSet(conditions=(Among(unit.rows),)), cost)
        for kind in units.types.get(unit.last, ()):
            yield from _of_types(context, unit, kind.types, kind.last, cost)
        for value in units.values.get(unit.last, ()):
            facts = context.lexicon.properties.get(value.property)
            own = [(row, context.lexicon.value(facts, row)) for row in unit.rows] if facts else []
            # "the Shipwreck overture" is one
            rows = tuple(row for row, has in own if isinstance(has, str) and has.casefold() == value.value.casefold())
            if rows and not value.value.endswith("ed"):  # "was X delivered by Y" does not say that X is
                yield Parse(value.last, NodeSet(conditions=(Among(rows),)), cost + value.cost)


def _behind_kind(context: Context, begin: int) -> Phrases:
    """Yield `the brewery Duvel Moortgat`, `the brewery called Duvel Moortgat`."""
    for role in context.units.edges.get(begin, ()):
        word = context.at(role.last - 1)
        # "director X"; "who tutors X" asks, and "the artist X" is one
        is_kind = word.endswith("s") or any(kind.last == role.last for kind in context.units.types.get(begin, ()))
        if not is_kind and any(context.relations.doers(role, word)):
            for unit in context.units.names.get(role.last, ()):
                cost = unit.cost - _PER_WORD * (unit.last - begin) + 0.1
                yield Parse(unit.last, NodeSet(conditions=(Among(unit.rows),)), cost)
    is_verb = context.at(begin).endswith(("ed", "ing")) or context.at(begin - 1) in ("who", "whom", "which", "that")
    for kind in context.units.types.get(begin, ()) if not is_verb else ():
        named = context.end_of(kind.last, "by the name of") or kind.last
        starts = context.skips(named, ("named", "called", "the", "titled"))
        for unit in (unit for start in starts for unit in context.units.names.get(start, ())):
            yield from _of_types(context, unit, kind.types, unit.last, unit.cost - _PER_WORD * (unit.last - begin))
        is_of = context.at(kind.last) == "of" and not context.at(kind.last - 1).endswith("s")  # "the harbour of X"
        for unit in context.units.names.get(kind.last + 1, ()) if is_of else ():
            yield from _of_types(context, unit, kind.types, unit.last, unit.cost)


def _of_types(context: Context, unit: NameUnit, types: frozenset[int], last: int, cost: float) -> Phrases:
    node_types = context.lexicon.graph.arrays.node_types
    rows = tuple(row for row in unit.rows if int(node_types[row]) in types)
    if rows:
        yield Parse(last, NodeSet(conditions=(Among(rows),)), cost - 0.05)


def _referents(context: Context, place: int) -> Phrases:
    """Yield what a pronoun stands for: `them`, `it`, `those harbours`, `these`."""
    for last in context.ends(place, ENGLISH.phrases["pronouns"]) if context.referents else ():
        for referent in context.referents:
            types = context.relations.types_of(referent)
            yield Parse(last, referent, 0.05)
            for kind in context.units.types.get(last, ()):
                if kind.types & types:
                    yield Parse(kind.last, referent, 0.0)


# ================================================================================================================ kinds
# Kinds of things with the words before them: `beers`, `Belgian beers`, `three oldest stone towers`, `a pilsner`.

_MOST_RATED = {"best": True, "top": True, "worst": False}
"""Superlatives before a word for a property: `best rated`, `best paid`."""
_MOST_ASKED = 1_000  # nodes of a superlative


def people_of(context: Context) -> frozenset[int]:
    """Return the node types of people."""
    return context.lexicon.people


def heads_at(context: Context, place: int) -> list[Parse[NodeSet]]:
    """Return the kinds of things that begin here, with the words right before them."""
    return context.once(("heads", place), lambda: best(_all(context, place)))


def _all(context: Context, place: int) -> Phrases:
    for begin in context.skips(place):
        yield from _bare(context, begin)
    if context.is_exhausted():
        return
    begin = context.skip(place)
    yield from _most_of_property(context, begin)
    yield from _most_of_adjective(context, begin)
    yield from _most_done(context, begin)
    for unit in context.units.values.get(begin, ()):
        yield from _of_values(context, unit)
        if context.at(unit.last - 1) == f"{unit.value.split()[-1]}s":  # "the serialists"
            facts = context.lexicon.properties[unit.property]
            yield Parse(unit.last, NodeSet(facts.types, (Valued(facts.name, "=", unit.value),)), unit.cost + 0.2)
    yield from _so(context, begin)
    yield from _of_amount(context, begin)
    for name in context.units.names.get(begin, ()):
        yield from _class_of(context, name)
    yield from _of_name(context, begin)


def _bare(context: Context, begin: int) -> Phrases:
    """Yield `beers`, `anybody`, `those`."""
    word, kinds = context.at(begin), context.units.types.get(begin, ())
    # "which ships" are ships, and "which professors" are professors
    asks_for_kind = word in WORDS["which or whichever"] and any(
        head.value.types and not head.value.named for head in heads_at(context, begin + 1)
    )
    if word in WORDS["something"] and not kinds and not asks_for_kind:
        yield Parse(begin + 1, NodeSet(people_of(context) if word in WORDS["somebody"] else frozenset()), 0.1)
        if word in WORDS["anybody"] and people_of(context):  # "funded by nobody" is funded by no foundation either
            yield Parse(begin + 1, NodeSet(), 0.25)
    for kind in kinds:
        yield Parse(kind.last, NodeSet(types=kind.types), kind.cost)
    if not kinds:
        yield from _doers(context, begin)
    for kind in kinds if not word.endswith("s") else ():  # "film directors"
        for parse in _doers(context, kind.last):
            done = (one.target.types for one in parse.value.conditions if isinstance(one, Joined))
            if kind.types & parse.value.types.union(*done):  # of "pub managers" no manager of people is one
                yield parse._replace(cost=parse.cost + 0.1)


def _doers(context: Context, begin: int) -> Phrases:
    """Yield `directors`, `actors`: whoever does what edges say."""
    for unit in context.units.edges.get(begin, ()):
        if context.lexicon.is_name_or_value(context.reading, begin):
            return  # a "professor" is one by that value, and not by whatever a professor does
        for relation in context.relations.doers(unit, context.at(unit.last - 1)):
            yield Parse(unit.last, relation.joined, relation.cost)


def _of_amount(context: Context, begin: int) -> Phrases:
    """Yield `5-credit courses`."""
    amount = context.units.quantities.get(begin)
    if amount is None or amount.unit is not None:
        return
    for unit in context.units.properties.get(amount.last, ()):
        facts = context.lexicon.properties[unit.property]
        if facts.kind == "number" and unit.cost == 0:
            for head in _having(context, facts, unit.last):
                valued = Valued(facts.name, "=", amount.value)
                yield Parse(head.last, head.value.that(valued), head.cost + 0.05)


# ------------------------------------------------------------------------------------------- values before kinds


def _of_values(context: Context, unit: ValueUnit) -> Phrases:
    """Yield `green or yellow buoys`, `stone towers`, `Germany's towers`, `standard priority tickets`."""
    facts, said = context.lexicon.properties[unit.property], list[tuple[int, Condition]]()
    joined = context.starts(unit.last, "or", "and")
    for other in context.units.values.get(joined, ()) if joined is not None else ():
        if other.property == unit.property:
            values = (unit.value, other.value)
            said.append((other.last, Either(tuple((Valued(facts.name, "=", value),) for value in values))))
    named = (own.last for own in context.units.properties.get(unit.last, ()) if own.property == unit.property)
    behind = context.possessive(unit.last) or next(named, unit.last)
    for begin, condition in (*said, (behind, Valued(unit.property, "=", unit.value))):
        for head in _having(context, facts, begin):
            nodes = head.value.that(condition)
            types = context.relations.types_of(nodes) & facts.types
            if unit.last < head.last:
                yield Parse(head.last, replace(nodes, types=types), head.cost + unit.cost)


def _so(context: Context, begin: int) -> Phrases:
    """Yield `organic beers`, `non organic beers`: of a property that is true or false."""
    is_non = context.at(begin) == "non"
    for unit in context.units.properties.get(begin + is_non, ()):
        facts = context.lexicon.properties[unit.property]
        if facts.kind == "boolean" and unit.cost == 0:
            word = context.at(unit.last - 1)
            if word.endswith("s") and word[:-1] in facts.name.casefold():  # "the icebreakers"
                is_so = Valued(facts.name, "=", facts.true, negated=is_non)
                yield Parse(unit.last, NodeSet(facts.types, (is_so,)), unit.cost + 0.1)
            is_not = is_non or (begin > 0 and context.at(begin - 1) in ("non", "not"))
            for head in _having(context, facts, unit.last):
                nodes = head.value.that(Valued(facts.name, "=", facts.true, negated=is_not))
                yield Parse(head.last, nodes, head.cost + unit.cost)


def _having(context: Context, facts: PropertyFacts, place: int) -> Phrases:
    """Yield the kinds at a place that may have a property."""
    for head in heads_at(context, place):
        if context.relations.types_of(head.value) & facts.types:
            yield head


# -------------------------------------------------------------------------------------------- names before kinds
def _class_of(context: Context, unit: NameUnit) -> Phrases:
    """Yield `stouts`, `a pilsner`: the things of a style, where one kind of things alone has such styles."""
    arrays = context.lexicon.graph.arrays
    word = context.at(unit.last - 1)
    is_plural = word.endswith("s") and not any(arrays.names[row].casefold().endswith(word) for row in unit.rows)
    named = NodeSet(conditions=(Among(unit.rows),))
    is_plural &= not unit.is_part or len(unit.rows) > 1  # others than the "chief pilot" are pilots, too
    for relation in context.relations.unnamed(NodeSet(), "", named) if is_plural else ():
        if len(relation.nodes.types) == 1 and all(not kind & 1 for kind in relation.kinds):
            yield Parse(unit.last, relation.joined, unit.cost + 0.2)


def _of_name(context: Context, begin: int) -> Phrases:
    """Yield `Belgium beers`, `Bell Labs languages`."""
    for name in names_at(context, begin):
        joined = context.starts(name.last, "or")
        for other in names_at(context, joined) if joined is not None else ():
            yield from _of_either(context, name, other)
        for head in heads_at(context, name.last):
            if head.value.types and not head.value.named:
                for relation in context.relations.unnamed(head.value, "", name.value):
                    yield Parse(head.last, relation.joined, head.cost + name.cost + relation.cost + 0.1)


def _of_either(context: Context, first: Parse[NodeSet], second: Parse[NodeSet]) -> Phrases:
    """Yield `Crown Bulk or Polar Tow ships`."""
    for head in heads_at(context, second.last):
        if not head.value.types or head.value.named:
            continue
        options = [
            relation for name in (first, second) for relation in context.relations.unnamed(head.value, "", name.value)
        ]
        if len(options) == 2 and options[0].kinds == options[1].kinds:
            either = Either(tuple((Joined(relation.kinds, relation.target),) for relation in options))
            cost = head.cost + first.cost + second.cost + options[0].cost + 0.1
            yield Parse(head.last, options[0].nodes.that(either), cost)


# -------------------------------------------------------------------------------------------------- superlatives
def _most_of_property(context: Context, place: int) -> Phrases:
    """Yield `highest abv`, `highest abv of all beers`, `highest abv beer`, `three highest abv beers`."""
    first, at = _number(context, context.skip(place, ("top", "first")))
    recently = context.starts(at, "most recently", "least recently")
    descending = _MOST_RATED.get(context.at(at), ENGLISH.most.get(context.at(at)))
    if descending is None:
        return
    for unit in context.units.properties.get(at + 1 if recently is None else recently, ()):
        facts = context.lexicon.properties[unit.property]
        if not facts.is_measured:
            continue
        best_by = Best(Measure(property=facts.name), descending, first)
        if context.depth <= 1:  # exhibitions with "the most visitors" are not in the museum that has them
            yield Parse(unit.last, NodeSet(facts.types, best=best_by), unit.cost + 0.2)
        scope = context.end_of(unit.last, "among kinds")
        for head in _having(context, facts, scope) if scope is not None else ():
            if not head.value.named:
                yield Parse(head.last, replace(head.value, best=best_by), head.cost + unit.cost)
        for head in heads_at(context, unit.last):
            if head.value.types & facts.types:
                yield Parse(head.last, replace(head.value, best=best_by), head.cost + unit.cost)


def _most_of_adjective(context: Context, place: int) -> Phrases:
    """Yield `oldest tower`, `three oldest towers`, `oldest three towers`."""
    begin = context.skip(place, ("top", "first"))
    first, at = _number(context, begin)
    for superlative in superlatives_at(context, at):
        number, last = first, superlative.last
        if at == begin:
            number, last = _number(context, superlative.last)
        for head in heads_at(context, last):
            nodes = best_of(context, head.value, superlative.value, number, at)
            if nodes is not None:
                yield Parse(head.last, nodes, head.cost)


def _most_done(context: Context, place: int) -> Phrases:
    """Yield `most supported paradigm`: by how many edges of this kind a node has."""
    is_more = {"most": True, "least": False}.get(context.at(place))
    is_object = _is_object(context, place)
    for unit in context.units.edges.get(place + 1, ()) if is_more is not None else ():
        word = context.at(unit.last - 1)  # "most influential" is not "most influenced"
        is_participle = word.endswith(ENGLISH.phrases["endings of participles"]) and not word.endswith("ent")
        if is_more is not None and is_participle:
            for head in heads_at(context, unit.last):
                if is_object and context.at(head.last - 1).endswith("s"):
                    context.complain(place, "what `most` counts is not clear: say `the largest number of`")
                    continue  # who acted in "the most reviewed films": in most of them, or in those?
                for relation in context.relations.named(head.value, unit.edges, Voice.PASSIVE, NodeSet()):
                    if relation.nodes.types and head.value.best is None:
                        nodes = replace(relation.nodes, best=Best(relation.measure, is_more))
                        yield Parse(head.last, nodes, head.cost + relation.cost)


def _is_object(context: Context, place: int) -> bool:
    """Return whether a phrase that begins here, or with its article, stands behind a verb or a preposition."""
    begin = place - (context.at(place - 1) in WORDS["determiners"])
    verbs = (unit for at in range(begin) for unit in context.units.edges.get(at, ()) if unit.last == begin)
    return context.at(begin - 1) in WORDS["all prepositions"] or any(unit.fit > LIGHT_FIT for unit in verbs)


def _number(context: Context, place: int) -> tuple[int, int]:
    """Return how many are asked for, and where that ends: one where no whole number stands here."""
    amount = context.units.quantities.get(place)
    if amount is None or amount.unit is not None or amount.span is not None or amount.value != int(amount.value):
        return 1, place
    return (int(amount.value), amount.last) if 0 < amount.value <= _MOST_ASKED else (1, place)


# ============================================================================================================== phrases
# Possessives, and nouns of relations.

_VERBS = frozenset(ENGLISH.verb_of.values())
_LONGEST_CHAIN = 3  # possessives in a row


def noun_had(context: Context, nodes: NodeSet, unit: EdgeUnit, target: NodeSet) -> Iterator[Relation]:
    """Yield the relation of nodes that have what words for edges say: a `manager`, a mentor."""
    noun, people = context.at(unit.last - 1), context.lexicon.people
    are_people = bool(people) and not singulars(noun).isdisjoint(WORDS["people"])
    for relation in context.relations.having(nodes, unit, noun, target):
        is_own = any(unit.edges.get(kind >> 1, 0.0) > SYNONYM for kind in relation.kinds)
        if is_own or not are_people or context.relations.types_of(relation.target) & people:
            yield relation  # productions "with the most actors" are not those of most plays


# --------------------------------------------------------------------------------------------------- possessives
def owned_by(context: Context, owner: Parse[NodeSet]) -> Phrases:
    """Yield what belongs to nodes: `Duvel's brewery`, `dog's hyponyms`, and on: `Duvel's brewery's country`."""
    links = [owner]
    for _ in range(_LONGEST_CHAIN):
        links = [further for link in links for further in _owned_once(context, link)]
        if not links or context.is_exhausted():
            return
        yield from links


def _owned_once(context: Context, owner: Parse[NodeSet]) -> Phrases:
    begin = context.possessive(owner.last)
    if begin is None:  # a name before a kind is read with the kinds; "concert halls" are a kind of halls
        is_said = bool(owner.value.conditions) and not owner.value.named
        for unit in context.units.types.get(owner.last, ()) if is_said else ():  # at the end: `Duvel brewery country`
            if unit.types and context.is_over(unit.last):
                for relation in context.relations.unnamed(NodeSet(unit.types), "of", owner.value, Voice.NOUN_OF):
                    yield Parse(unit.last, relation.joined, owner.cost + unit.cost + relation.cost + 0.2)
        return
    for head in heads_at(context, begin):
        if not head.value.named:
            for relation in context.relations.unnamed(head.value, "of", owner.value, Voice.NOUN_OF):
                cost = owner.cost + head.cost + relation.cost - 0.2
                yield Parse(head.last, relation.joined, cost)
    yield from noun_of_owner(context, begin, owner.value, owner.cost)


def noun_of_owner(context: Context, place: int, owner: NodeSet, cost: float) -> Phrases:
    """Yield the nodes that are the NOUN of others, where the noun names edges: `hyponyms` behind `dog's`."""
    for begin in context.skips(place):
        for unit in context.units.edges.get(begin, ()):
            if context.at(unit.last) == "by" or _is_verb_form(context, unit):
                continue
            yield from _of(context, unit, owner, unit.last, cost + 0.1)
            for head in heads_at(context, unit.last):  # "warfarin's similar compounds"
                for relation in context.relations.named(head.value, unit.edges, Voice.NOUN_OF, owner):
                    yield Parse(head.last, relation.joined, cost + relation.cost + 0.1)


# --------------------------------------------------------------------------------------------- nouns of relations
def relational_nouns(context: Context, place: int) -> Phrases:
    """Yield `hyponyms of dog`, `hyponyms does dog have`, `antonym expensive`: a noun that names edges, and whose."""
    for begin in context.skips(place):
        for unit in context.units.edges.get(begin, ()):
            asked = context.starts(unit.last, "does", "do", "did", "that", "which")
            for owner in names_at(context, asked) if asked is not None else ():
                last = context.starts(owner.last, "have", "has", "had", "got")
                if last is not None:
                    yield from _of(context, unit, owner.value, last, owner.cost)
            of = context.starts(unit.last, "of", "for", "to", "in", "from")
            # "reports to X" of `reports_to`, "who works for X"
            is_verb = context.at(unit.last) in context.relations.labels.words(unit.edges)
            is_verb |= context.at(begin - 1) in ("who", "that", "which", "what")
            if of is not None and (context.at(unit.last) == "of" or not is_verb):
                for owner in context.nodes(of):
                    yield from _of(context, unit, owner.value, owner.last, owner.cost + 0.05)
            for owner in names_at(context, unit.last) if of is None and not _is_verb_form(context, unit) else ():
                yield from _of(context, unit, owner.value, owner.last, owner.cost + 0.3)


def _of(context: Context, unit: EdgeUnit, owner: NodeSet, last: int, cost: float) -> Phrases:
    """Yield the nodes that are the NOUN of others; a noun that is a kind as well is nothing of another kind."""
    own = [kind for kind in context.units.types.get(unit.first, ()) if kind.last == unit.last and not kind.cost]
    kinds = frozenset[int]().union(*(kind.types for kind in own))
    for relation in context.relations.of_noun(unit, context.at(unit.last - 1), owner):
        if not own or relation.nodes.types <= kinds:
            yield Parse(last, relation.joined, cost + relation.cost)


def _is_verb_form(context: Context, unit: EdgeUnit) -> bool:
    word = context.at(unit.last - 1)
    return word.endswith(("ing", "ed")) or word in ENGLISH.verb_of or word.removesuffix("s") in _VERBS


# ================================================================================================================== kin
# Nouns for those who are some steps away: `siblings of X`, `X's grandmother`, `daughters of X`, `colleagues of X`.

_COST = 0.1


def kin_at(context: Context, place: int) -> Phrases:
    """Yield `siblings of X`, `grandchildren does X have`."""
    for begin in context.skips(place):
        if not _is_kin(context, begin):
            continue
        if context.at(begin + 1) == "of":
            for owner in context.nodes(begin + 2):
                yield from _kin(context, begin, owner)
        asked = context.end_of(begin + 1, "does own")
        for owner in names_at(context, asked) if asked is not None else ():
            last = context.end_of(owner.last, "has own")
            if last is not None:
                yield from _kin(context, begin, owner._replace(last=last))


def kin_of(context: Context, owner: Parse[NodeSet]) -> Phrases:
    """Yield `[X's] siblings`."""
    begin = context.possessive(owner.last)
    if begin is not None and _is_kin(context, begin):
        yield from _kin(context, begin, owner._replace(last=begin + 1))


@part
def kin_had(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[is a] sister of X`, `[are] siblings of X`, of nodes that are described or named."""
    begin = context.skip(place)
    for owner in context.nodes(begin + 2) if _is_kin(context, begin) and context.at(begin + 1) == "of" else ():
        for kin in _kin(context, begin, owner):
            types = kin.value.types & context.relations.types_of(nodes)
            if types:
                own = nodes if nodes.named else replace(nodes, types=types)
                yield kin._replace(value=own.that(*kin.value.conditions))


def _is_kin(context: Context, place: int) -> bool:
    """Return whether a word is such a noun, and no edge of the graph is called so."""
    word = context.at(place)
    is_link = word in ENGLISH.kin and ENGLISH.kin[word].steps == ("link",)
    if is_link and context.units.types.get(place):
        return False
    edges = {edge for unit in context.units.edges.get(place, ()) if unit.fit > LIGHT_FIT for edge in unit.edges}
    is_edge = bool(edges) and (is_link or {word, word.removesuffix("s")} & context.relations.labels.words(edges))
    return word in ENGLISH.kin and not is_edge


def _kin(context: Context, place: int, owner: Parse[NodeSet]) -> Phrases:
    """Yield those who are so many steps from named nodes, and not these themselves."""
    steps, sex, shared = ENGLISH.kin[context.at(place)]
    if steps == ("link",):
        for relation in context.relations.linked(NodeSet(), owner.value) if owner.value.named else ():
            yield Parse(owner.last, relation.joined, owner.cost + _COST)
        return
    parents = _of_noun(context, "parents", owner.value)
    up = _shared(context, place, shared, owner.value) if shared else next(parents, None)
    if up is None or not owner.value.named:
        return
    own = context.relations.types_of(owner.value)
    nodes, passed = owner.value, list[NodeSet]()
    for step in steps:
        passed.append(nodes)
        kinds = up.kinds if step == "up" else tuple(sorted(kind ^ 1 for kind in up.kinds))
        nodes = NodeSet(up.nodes.types if step == "up" else own, (Joined(kinds, nodes),))
    others: tuple[Condition, ...] = ()
    if steps[-2:] == ("up", "down"):  # who shares parents with them is not they, and who shares grandparents no parent
        apart = passed[-2]
        others = (negated(Among(apart.named)) if apart.named else negated(apart.conditions[0]),)
    if sex:
        told = _of_sex(context, nodes, sex, is_up=steps[-1] == "up")
        if told is None:
            context.complain(place, f"nothing here tells who is {sex}")
            return
        nodes = told
    yield Parse(owner.last, nodes.that(*others), owner.cost + _COST)


@part
def under_them(context: Context, place: int, nodes: NodeSet, one: NodeSet) -> Phrases:
    """Read nothing: the people whose boss is named; of `all employees under X`, those below them, too."""
    is_far = not WORDS["all people"].isdisjoint(context.words[:place])
    for noun in ("manager", "boss"):
        for relation in _of_noun(context, noun, one):
            if context.relations.types_of(relation.nodes) <= context.relations.types_of(nodes):
                kinds = tuple(sorted(kind ^ 1 for kind in relation.kinds))
                under = Joined(kinds, one, is_far=is_far)
                yield Parse(place, replace(nodes, types=relation.nodes.types).that(under), 0.1)
                return


def _of_noun(context: Context, noun: str, nodes: NodeSet) -> Iterator[Relation]:
    for unit in context.lexicon.edges_called(noun):
        for relation in context.relations.of_noun(unit, noun, nodes):
            if context.relations.types_of(relation.nodes) == context.relations.types_of(nodes):
                yield relation  # people, and no kinds of terms


def _shared(context: Context, place: int, words: frozenset[str], nodes: NodeSet) -> Relation | None:
    """Return how nodes are joined to what colleagues have in common; None, with a complaint, if it may be several."""
    kinds = context.lexicon.vocabulary.kinds_called(lambda label: label.words[-1] in words)
    relations = [
        relation
        for kind in sorted(kinds)
        for relation in context.relations.unnamed(NodeSet(frozenset([kind])), "of", nodes)
        if not relation.target.is_between
    ]
    if len(relations) > 1:
        labels = sorted(label for relation in relations for label in context.relations.labels.of(relation.kinds))
        context.complain(place, f"{context.at(place)} by what? name one of {', '.join(labels)}")
    return relations[0] if len(relations) == 1 else None


def _of_sex(context: Context, nodes: NodeSet, sex: str, *, is_up: bool) -> NodeSet | None:
    """Return the men or the women of a set: by the edge to a father, or by a property; None where neither tells."""
    joined = nodes.conditions[-1]
    assert isinstance(joined, Joined), "kin are joined by edges"
    labels, parents = context.lexicon.vocabulary.edge_labels, WORDS[f"{sex} parents"]
    own = tuple(k for k in joined.kinds for label in labels[k >> 1] if not parents.isdisjoint(label.words))
    if is_up and own:
        return replace(nodes, conditions=(replace(joined, kinds=own),))
    for facts in context.lexicon.properties.values():
        if facts.types & nodes.types and not WORDS["sex"].isdisjoint(facts.name.casefold().split("_")):
            for value in sorted(WORDS[sex]):
                if facts.name in context.lexicon.graph.arrays.properties.names_with_value(value):
                    return nodes.that(Valued(facts.name, "=", value))
    return None
