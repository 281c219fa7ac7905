"""Nouns for those who are some steps away: `siblings of X`, `X's grandmother`, `daughters of X`, `colleagues of X`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.context import Context, Parse
from orienteer.reading.names import names_at
from orienteer.reading.query import Among, Condition, Joined, NodeSet, Valued, negated
from orienteer.reading.relations import Relation
from orienteer.reading.units import LIGHT_FIT
from orienteer.reading.vocabulary import ENGLISH, WORDS

_COST = 0.1


def kin_at(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
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


def kin_of(context: Context, owner: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
    """Yield `[X's] siblings`."""
    begin = context.possessive(owner.last)
    if begin is not None and _is_kin(context, begin):
        yield from _kin(context, begin, owner._replace(last=begin + 1))


def kin_had(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[is a] sister of X`, `[are] siblings of X`, of nodes that are described or named."""
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
    called = context.lexicon.vocabulary.edge_labels
    is_edge = any(
        {word, word.removesuffix("s")} & set(label.words)
        for unit in context.units.edges.get(place, ())
        if unit.fit > LIGHT_FIT
        for edge in unit.edges
        for label in called[edge]
    )
    return word in ENGLISH.kin and not is_edge


def _kin(context: Context, place: int, owner: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
    """Yield those who are so many steps from named nodes, and not these themselves."""
    steps, sex, shared = ENGLISH.kin[context.at(place)]
    up = _shared(context, place, shared, owner.value) if shared else _parents(context, owner.value)
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


def _parents(context: Context, nodes: NodeSet) -> Relation | None:
    """Return how parents are joined to nodes; None where no edges or several kinds of things say it."""
    return next(_of_noun(context, "parents", nodes), None)


def _of_noun(context: Context, noun: str, nodes: NodeSet) -> Iterator[Relation]:
    for unit in context.lexicon.edges_called(noun):
        for relation in context.relations.of_noun(unit, noun, nodes):
            if context.relations.types_of(relation.nodes) == context.relations.types_of(nodes):
                yield relation  # people, and no kinds of terms


def _shared(context: Context, place: int, words: frozenset[str], nodes: NodeSet) -> Relation | None:
    """Return how nodes are joined to what colleagues have in common; None, with a complaint, if it may be several."""
    vocabulary = context.lexicon.vocabulary
    kinds = frozenset(
        kind for kind, labels in enumerate(vocabulary.node_labels) for label in labels if label.words[-1] in words
    )
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
    labels = context.lexicon.vocabulary.edge_labels
    own = tuple(
        kind
        for kind in joined.kinds
        for label in labels[kind >> 1]
        if not WORDS[f"{sex} parents"].isdisjoint(label.words)
    )
    if is_up and own:
        return replace(nodes, conditions=(replace(joined, kinds=own),))
    for facts in context.lexicon.properties.values():
        if facts.types & nodes.types and not WORDS["sex"].isdisjoint(facts.name.casefold().split("_")):
            for value in sorted(WORDS[sex]):
                if facts.name in context.lexicon.graph.arrays.properties.names_with_value(value):
                    return nodes.that(Valued(facts.name, "=", value))
    return None
