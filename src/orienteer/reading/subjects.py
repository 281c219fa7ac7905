"""Clauses with a subject of their own: `[does] X treat`, `that X and Y brew`, `do the most packages depend on`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.joints import denied, joined
from orienteer.reading.names import names_at
from orienteer.reading.objects import Objects, objects_at
from orienteer.reading.phrases import noun_had
from orienteer.reading.possession import things_had
from orienteer.reading.query import Among, NodeSet
from orienteer.reading.rankings import most_doers
from orienteer.reading.shared_things import sharing_owners
from orienteer.reading.verbs import Verbs, fitting, is_particle, verb_joined, verbs_at
from orienteer.reading.vocabulary import WORDS


def subject_said(context: Context, place: int, nodes: NodeSet, frame: Voice | None = None) -> Iterator[Parse[NodeSet]]:
    """Yield what others do, as `frame` says it; where that is None, as the words do."""
    yield from _doing(context, place, nodes, frame)
    yield from _noun_of(context, place, nodes)
    yield from _owning(context, place, nodes)
    for owners in sharing_owners(context, place):
        yield from things_had(context, owners._replace(value=owners.value._replace(both=True)), nodes)
    yield from _being(context, place, nodes)
    yield from _being_noun(context, place, nodes)
    yield from _nobody(context, place, nodes)
    yield from _there_are(context, place, nodes)
    yield from _located(context, place, nodes)
    yield from most_doers(context, place, nodes)


def _noun_of(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[that] X is a member of`, `[which] X is the maintainer of`."""
    for objects in objects_at(context, place):
        being = context.skip(objects.last, WORDS["be"])
        is_said = being > objects.last or context.at(place - 1) in WORDS["be"]
        noun = context.starts(being, "a", "an", "the", "one of the") if is_said else None
        for verbs in verbs_at(context, noun) if noun is not None else ():
            if context.at(verbs.last) == "of":
                for related in verb_joined(context, nodes, verbs, Voice.HAS_NOUN, objects):
                    yield Parse(verbs.last + 1, related.value, related.cost + 0.02)


def _doing(context: Context, place: int, nodes: NodeSet, frame_of_all: Voice | None) -> Iterator[Parse[NodeSet]]:
    """Yield `[does] X treat`, `[that] X and Y are used to brew`, `[which] X does not treat`."""
    for objects in objects_at(context, place):
        verb = _verb_behind(context, objects.last, is_passive=context.at(place - 1) in WORDS["be"])
        begin = context.skip(context.skip(verb, WORDS["denials"]), WORDS["auxiliaries"])
        for verbs in verbs_at(context, begin):
            apt = fitting(context, verbs, context.at(verbs.last))
            if apt is None:
                continue
            verbs = apt
            end = verbs.last + is_particle(context, verbs.last, verbs)
            is_done = context.at(verbs.last) == "by" or (end == verbs.last and _is_passive(context, place, verbs))
            frame = frame_of_all or (Voice.PASSIVE_OBJECT if is_done else Voice.OBJECT)
            is_strict = end == verbs.last and frame is Voice.OBJECT
            for related in _related(context, nodes, verbs, frame, objects, end, is_strict=is_strict):
                is_denied = context.at(verb) in WORDS["denials"]
                value = denied(related.value, nodes) if is_denied else related.value
                if value is not None:
                    yield Parse(max(end, related.last), value, related.cost + 0.02)


def _related(
    context: Context,
    nodes: NodeSet,
    verbs: Verbs,
    frame: Voice,
    objects: Parse[Objects],
    end: int,
    *,
    is_strict: bool,
) -> Iterator[Parse[NodeSet]]:
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


def _is_passive(context: Context, place: int, verbs: Verbs) -> bool:
    """Return whether something is done to a subject: `[by which X] was Y influenced`, not `has Y influenced`."""
    participle = context.at(verbs.last - 1).endswith(("ed", "en", "t", "wn", "ung", "de"))
    return participle and context.at(place - 1) in WORDS["be"]


def _verb_behind(context: Context, place: int, *, is_passive: bool) -> int:
    """Return where a verb begins, or its denial, behind `does`, `is used to`, `is known for`."""
    begin = context.skip(place, WORDS["auxiliaries"])
    is_used = is_passive or context.at(begin - 1) in WORDS["be"] | {"be", "been"}
    used = context.starts(begin, "used to") if is_used else None
    return used or context.end_of(begin, "adverbial") or begin


def _owning(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[what telescopes does] X have`."""
    for objects in objects_at(context, place):
        last = context.end_of(objects.last, "have or make")
        if context.at(objects.last) in WORDS["containing"] and not context.units.edges.get(objects.last):
            last = objects.last + 1
        if last is not None and objects.value.amount is None:
            yield from things_had(context, objects._replace(last=last), nodes)


def _being(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[for which diseases is] headache a symptom`."""
    for named in context.nodes(place):
        kind = context.starts(named.last, "a", "an", "one of the") if named.value.named else None
        for unit in context.units.types.get(kind, ()) if kind is not None else ():
            subject = replace(named.value, types=unit.types)
            relation = next(context.relations.unnamed(nodes, "", subject), None)
            if relation is not None:
                names = tuple(name for name in relation.target.conditions if isinstance(name, Among))
                relation = relation._replace(target=NodeSet(conditions=names))
                yield joined(relation, unit.last + (context.at(unit.last) in ("of", "for", "in")), named.cost)


def _being_noun(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[which ships is] X the owner of`, `[of which observatory is] X the director`."""
    for named in names_at(context, place):
        noun = context.starts(named.last, "the", "a", "an", "one of the")
        for unit in context.units.edges.get(noun, ()) if noun is not None else ():
            last = context.starts(unit.last, "of", "for", "to", "in", "at")
            if last is None and context.at(0) not in WORDS["all prepositions"]:
                continue
            for relation in noun_had(context, nodes, unit, named.value):
                yield joined(relation, unit.last if last is None else last, named.cost)


def _nobody(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `nobody designed`, `no one has worked at`."""
    nobody = context.starts(place, "nobody", "no one", "nothing", "none", "no")
    if nobody is None:
        return
    for unit in context.units.edges.get(context.skip(nobody, WORDS["auxiliaries"]), ()):
        for relation in context.relations.named(nodes, unit.edges, Voice.OBJECT, NodeSet()):
            yield joined(relation, unit.last + (context.at(unit.last) in WORDS["all prepositions"]), is_denied=True)


def _there_are(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[at which X are there] more than three Y`."""
    if context.at(place - 1) == "there" and context.at(0) in WORDS["all prepositions"]:
        for objects in objects_at(context, place):
            if objects.value.amount is not None and context.is_over(objects.last):
                yield from things_had(context, objects, nodes)


def _located(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[in which region is] the town of X`."""
    if context.at(0) not in WORDS["all prepositions"] or context.at(1) not in ("which", "what"):
        return
    for objects in objects_at(context, place):
        last = context.starts(objects.last, "located", "situated", "found", "based") or objects.last
        if objects.value.amount is None and context.is_over(last):
            subject = objects.value.members[0].nodes
            for relation in context.relations.unnamed(nodes, context.at(0), subject, Voice.OBJECT):
                yield joined(relation, last, objects.cost)
