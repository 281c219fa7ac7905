"""What nodes are and are not, and what any edge joins them to: `is a brewery`, `but not Y`, `neighbours of X`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.edges import condition, contrary, joined_together, most as most_joined
from orienteer.reading.executor import Executor
from orienteer.reading.nouns import heads_at, names_at, people_of
from orienteer.reading.objects import Objects
from orienteer.reading.query import Among, Between, Condition, Either, ExactQuery, Joined, NodeSet
from orienteer.reading.relations import Relation
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, part, rules
from orienteer.reading.units import LIGHT_FIT
from orienteer.reading.vocabulary import WORDS

# ============================================================================================================== members
# What nodes are and are not: `is a brewery`, `among those that treat X`, `other than X`, `but not Y`.

_MOST_CLASSES = 3
_PER_WORD = 0.03  # the longer name is the likelier


# ------------------------------------------------------------------------------------------------------ those of
@part
def classes(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[are] dramas`, `[are] both war and drama`, `[are] neither comedies nor dramas`."""
    before = place - 1 - (context.at(place - 1) in WORDS["beside being"])
    if not nodes.types or nodes.named or context.at(before) not in WORDS["be"]:
        return
    begin = context.starts(place, "neither", "either", "both", "a", "an") or place
    is_denied = context.at(place) == "neither"
    rows: list[Parse[tuple[Condition, ...]]] = [Parse(begin, (), 0.0)]
    for _ in range(_MOST_CLASSES):
        rows = [
            Parse(one.last, (*row.value, *one.value), row.cost + one.cost)
            for row in rows
            for one in _class(
                context, row.last if not row.value else context.end_of(row.last, "joints of classes"), nodes
            )
        ]
        for row in rows:
            words = set(context.words[place : row.last])
            if {"and", "or"} <= words:
                continue  # "comedies and dramas or westerns" may mean either
            conditions = contrary(row.value[:1]) + contrary(row.value[1:]) if is_denied else row.value
            if len(row.value) > 1 and "or" in words and not is_denied:
                conditions = (Either(tuple((condition,) for condition in row.value)),)
            yield Parse(row.last, nodes.that(*conditions), row.cost + 0.1)


def _class(context: Context, place: int | None, nodes: NodeSet) -> Iterator[Parse[tuple[Condition, ...]]]:
    """Yield what one noun for a class says of nodes of a kind: `dramas`, `a comedy`, `war`."""
    if place is None:
        return
    own = context.relations.types_of(nodes)
    for head in heads_at(context, place):
        types, conditions, best = head.value.types, head.value.conditions, head.value.best
        if types and types <= own and conditions and not head.value.named and best is None:
            yield Parse(head.last, conditions, head.cost)
    for named in names_at(context, place):
        if not context.relations.types_of(named.value) & nodes.types:
            for relation in context.relations.unnamed(nodes, "", named.value):
                yield Parse(named.last, (Joined(relation.kinds, relation.target),), named.cost + relation.cost)


@part
def called(context: Context, place: int, nodes: NodeSet, found: Found) -> Phrases:
    """Read X of `[are] called X`, `who go by the name of X`."""
    for unit in context.units.names.get(place, ()) if not nodes.named else ():
        types = context.relations.types_of(NodeSet(conditions=(Among(unit.rows),)))
        if types & context.relations.types_of(nodes):
            named = Either(((Among(unit.rows),),))
            yield Parse(unit.last, nodes.that(named), unit.cost - _PER_WORD * (unit.last - found["0"].last))


@part
def among_those(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read X of `[one of] those that X`."""
    for described in context.nodes(place):
        types = context.relations.types_of(nodes) & context.relations.types_of(described.value)
        conditions = described.value.conditions
        if any(isinstance(condition, Among) and not condition.negated for condition in conditions):
            continue  # "part of a car" is a part of it
        if types and conditions and described.value.best is None:
            narrowed = replace(nodes, types=nodes.types if nodes.named else types)
            yield Parse(described.last, narrowed.that(*conditions), described.cost)


@part
def kind_of_them(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `a brewery`, `a brewery in Belgium`, of names or of nodes whose kind is not known."""
    is_unknown = not nodes.named and not nodes.types
    if not is_unknown and not (nodes.named and context.at(place) in WORDS["determiners"]):
        return
    for head in context.nodes(place):
        types, conditions, best = head.value.types, head.value.conditions, head.value.best
        if not types or head.value.named or best is not None:
            continue
        if is_unknown or context.relations.types_of(nodes) & types:
            yield Parse(head.last, replace(nodes, types=types).that(*conditions), head.cost + 0.05)


MEMBERS = rules(
    "members",
    Rule("one of those that X brews", "'any of' among_those"),
    Rule("members who are called X", "0 'called' called"),
    Rule("films that are neither dramas nor comedies", "classes"),
    Rule("is X a brewery in Y", "kind_of_them"),
)


# ---------------------------------------------------------------------------------------------------- exceptions
@part
def but_named(context: Context, place: int, nodes: NodeSet, objects: Objects, found: Found) -> Phrases:
    """Read nothing: the nodes without named ones, or without those that the relation said last leads to."""
    members, own = [member.nodes for member in objects.members], context.relations.types_of(nodes)
    if not all(member.named for member in members):
        return
    first, begin = found["0"].last, found["'except'"].last
    are_those = context.skip(begin, ("for", "the")) != context.skip(begin, WORDS["other members"])
    if not are_those and all(context.relations.types_of(member) & own for member in members):
        # "except X" leaves out X itself, where it can, and not what else is called so
        rows = tuple(row for member in members for row in context.relations.cut(member, own).named)
        yield Parse(place, nodes.that(Among(rows, negated=True)), 0.05)
    last = nodes.conditions[-1] if nodes.conditions else None
    if not isinstance(last, Joined) or last.comparison is not None:
        return
    targets = context.relations.types_of(last.target)
    if all(context.relations.types_of(member) & targets for member in members):  # "for migraine but not epilepsy"
        others = (Joined(last.kinds, member, negated=not last.negated) for member in members)
        yield Parse(place, nodes.that(*others), 0.0 if are_those or context.at(first) == "but" else 0.1)


@part
def but_class(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `the dramas` of `films except the dramas`."""
    for one in _class(context, place, nodes):
        joined = [condition for condition in one.value if isinstance(condition, Joined)]
        if all(context.relations.is_single(condition.kinds) for condition in joined) or _is_plural(
            context, one.last - 1
        ):
            yield Parse(one.last, nodes.that(*contrary(one.value)), one.cost + 0.1)


@part
def but_one_of_each(context: Context, place: int, nodes: NodeSet, objects: Objects) -> Parse[NodeSet] | None:
    """Read nothing: `except cancelled`, where each thing has one status, and no more."""
    conditions = []
    for member in objects.members:
        relation = next(context.relations.unnamed(nodes, "", member.nodes), None)
        if relation is None or not context.relations.is_single(relation.kinds):
            return None
        conditions.append(Joined(relation.kinds, relation.target, negated=True))
    return Parse(place, nodes.that(*conditions), 0.2)


def _is_plural(context: Context, place: int) -> bool:
    """Return whether a word is the plural of a name: `dramas` of the genre "Drama"."""
    names = context.units.names.get(place, ())
    arrays = context.lexicon.graph.arrays
    word = context.at(place)
    own = [arrays.names[row].casefold() for unit in names for row in unit.rows]
    return word.endswith("s") and bool(own) and not any(name.endswith(word) for name in own)


@part
def but_those(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[except] those that treat Y`."""
    those = context.skip(place, WORDS["other members"])
    units = context.units
    if nodes.conditions and units.names.get(those) and not units.edges.get(those):
        return  # "drugs for migraine but not X": nothing says that X is joined by other edges
    for modified in context.modifiers(those, replace(nodes, conditions=())):
        conditions = modified.value.conditions
        if conditions and modified.value.best is None:
            last = context.skip(modified.last, ("ones",))
            yield Parse(last, nodes.that(*contrary(conditions)), modified.cost + 0.05)


EXCEPTIONS = rules(
    "exceptions",
    Rule("drugs for X but not Y", "0 'except' objects but_named"),
    Rule("films except the dramas", "'except' but_class"),
    Rule("screenings except cancelled", "'except' objects but_one_of_each"),
    Rule("drugs except those that treat X", "'except' but_those"),
)


# =========================================================================================================== neighbours
# What whatever edge joins: `neighbours of X`, `the most connected club`, `through whom are X and Y linked`.


@part
def linked(context: Context, place: int) -> Iterator[Parse[None]]:
    """Read `linked to`, `connected with`, where nothing of the graph is called so."""
    for last in context.ends_of(place, "linked to") if no_own(context, place) else ():
        yield Parse(last, None, 0.1)


@part
def no_own(context: Context, place: int) -> bool:
    """Read nothing where a word calls no edge, kind or property of the graph."""
    units = context.units
    is_edge = any(unit.fit > LIGHT_FIT for unit in units.edges.get(place, ()))
    return not (is_edge or units.types.get(place) or units.properties.get(place))


@part
def linked_with(context: Context, place: int, nodes: NodeSet, objects: Objects) -> Parse[NodeSet]:
    """Read nothing: the nodes that any edge joins to things."""
    conditions = list[Condition]()
    for member in objects.members:
        is_none = Relation(nodes, context.relations.any_kinds, member.nodes, 0.0)  # no club is linked to a club
        relation = next(context.relations.linked(nodes, member.nodes), is_none)
        nodes = relation.nodes
        conditions.append(condition(relation, is_denied=member.negated, amount=objects.amount))
    together = conditions if len(conditions) == 1 or not objects.any else joined_together(context, objects, conditions)
    return Parse(place, nodes.that(*together), 0.1)


@part
def most_linked(context: Context, place: int, nodes: NodeSet, most: bool) -> Phrases:
    """Read nothing or `people`: the nodes that edges join to the most of them, or of all."""
    heads = [head for head in heads_at(context, place) if head.value.types and not head.value.conditions]
    for head in heads or [Parse(place, NodeSet(), 0.0)]:
        for relation in context.relations.linked(nodes, head.value) if nodes.best is None else ():
            yield most_joined(relation, head.last, head.cost, descending=most)


@part
def shared_links(context: Context, place: int, objects: Objects) -> Parse[NodeSet] | None:
    """Read nothing: whatever edges join to each of several named nodes; the values of all, where nothing else is."""
    members = [member.nodes for member in objects.members if member.nodes.named and not member.negated]
    if not len(objects.members) == len(members) > 1 or objects.any:
        return None
    relations = context.relations
    for kinds in (relations.any_kinds, relations.value_kinds):
        if set.intersection(*(relations.around(nodes, kinds) for nodes in members)):
            return Parse(place, NodeSet(conditions=tuple(Joined(kinds, nodes) for nodes in members)), 0.2)
    context.complain(place, "nothing here is joined to all of them: ask how they are connected")
    return None


@part
def people(context: Context, place: int) -> Parse[NodeSet]:
    """Read nothing: all people."""
    return Parse(place, NodeSet(people_of(context)), 0.0)


@part
def things(context: Context, place: int) -> Phrases:
    """Read nothing, or a kind: all things, or those of the kind."""
    yield Parse(place, NodeSet(), 0.0)
    yield from (head for head in heads_at(context, place) if head.value.types and not head.value.named)


rules("through", Rule("", "'through whom'* people"), Rule("", "'through what'* things"))
LINKS = rules(
    "links",
    Rule("clubs linked to X", "linked objects linked_with"),
    Rule("clubs linked to the most people", "linked - most ['number of'] most_linked"),
    Rule("clubs with the most connections", "<having> - most ['number of'] no_own 'links' most_linked"),
)
LINKED = Rule("what X is linked to", "0 objects being linked linked_with")
COMMON = rules(
    "common links",
    Rule("what do X and Y have in common", "'what do' objects 'have in common' over shared_links => list shared_links"),
    Rule("what is common to X and Y", "'what is' 'shared by' objects over shared_links => list shared_links"),
    Rule(
        "through whom are X and Y connected",
        "through -<is> first=named 'and only' second=named 'connected' over between => list between",
    ),
    Rule(
        "who connects X and Y",
        "'who connects' through=people first=named 'and to' second=named over between => list between",
    ),
    Rule(
        "the most connected club",
        "listing - most no_own 'linked' nodes=head over most_linked",
        lambda nodes, most_linked: ExactQuery("list", most_linked) if nodes.types else None,
    ),
)


@part
def between(context: Context, place: int, through: NodeSet, first: NodeSet, second: NodeSet) -> Parse[NodeSet] | None:
    """Read nothing: the nodes on the shortest paths between two named ones, if there are such."""
    nodes = through.that(Between(first, second))
    if len(Executor(context.lexicon.graph).run(ExactQuery("list", nodes)).rows):
        return Parse(place, nodes, 0.0)
    context.complain(place, "nothing here of that kind lies between them: ask how they are connected")
    return None
