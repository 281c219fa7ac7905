"""What is said of nodes behind their noun: `that treat X`, `brewed by Y`, `with more than 5 Z`, `but not W`, `in V`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from orienteer.methods.anchor.reading.comparisons import adjective, compared, count, sign
from orienteer.methods.anchor.reading.context import DETERMINERS, Context, Parse, best
from orienteer.methods.anchor.reading.lexicon import EdgeUnit, PropertyFacts
from orienteer.methods.anchor.reading.phrases import Phrases
from orienteer.methods.anchor.reading.query import (
    Among,
    Best,
    Condition,
    Either,
    Filled,
    Joined,
    Measure,
    Nodes,
    Valued,
    negated,
)
from orienteer.methods.anchor.reading.relations import Frame, Relation, Relations
from orienteer.methods.anchor.reading.thesaurus import ADJECTIVES, AGES, MOST, VERBS

_AUXILIARIES = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "can",
        "get",
        "gets",
        "got",
        "also",
        "both",
        "ever",
        "themselves",
        "itself",
        "usually",
        "directly",
        "jointly",
        "commonly",
        "together",
        "actually",
        "known",
        "said",
        "to",
        "thereby",
        "officially",
        "originally",
    ]
)
_DENIALS = frozenset(["not", "never", "no", "cannot", "neither", "nor", "without"])
_RELATIVE = frozenset(["that", "which", "who", "whom", "where", "when"])
_ADVERBIAL = ("involved in", "used for", "able to", "responsible for", "known to", "known for",
              "able to be", "at the same time", "in the end", "took place", "take place", "takes place", "taken place", "happened", "occurred",
              "used in", "at some point", "at any point", "at some time", "meant to", "in fact", "at least once", "in turn", "by themselves", "on their own", "there to", "for", "made use of to", "involved with")  # fmt: skip
_ANY_OF = (
    "count among",
    "counts among",
    "belong to",
    "belongs to",
    "any of",
    "one of",
    "some of",
    "any one of",
    "at least one of",
    "each of",
    "all of",
    "either of",
    "among",
    "one or more of",
    "counted among",
    "part of",
    "amongst",
    "one among",
)
_PREPOSITIONS = frozenset(
    [
        "by",
        "with",
        "to",
        "of",
        "on",
        "in",
        "for",
        "from",
        "as",
        "at",
        "into",
        "against",
        "upon",
        "within",
        "inside",
        "under",
        "through",
        "over",
        "via",
        "about",
        "between",
        "among",
        "than",
        "out",
        "toward",
        "towards",
        "onto",
        "off",
        "behind",
        "near",
        "around",
        "up",
        "because",
        "alongside",
    ]
)
_HAVING = frozenset(["with", "having", "has", "have", "had", "featuring", "possessing", "offer", "offers", "offering"])
_EXCEPTING = ("other than", "except for", "except", "excluding", "besides", "apart from", "aside from", "not counting", "save for", "but for", "minus", "leaving out", "but not")  # fmt: skip
_TELLING = frozenset(("on", "for", "with", "under", "from", "to", "against", "without"))
"""Prepositions that change what a verb says."""
_MOST_MODIFIERS = 5


class Object(NamedTuple):
    """One of the things a relation leads to."""

    nodes: Nodes
    negated: bool = False


class Objects(NamedTuple):
    """The things that a relation leads to: all of them, or any."""

    members: tuple[Object, ...]
    any: bool = False
    both: bool = False
    """`both X and Y`"""
    commas: bool = False
    """They are joined by commas alone so far."""
    count: tuple[str, float] | None = None


class Clauses:
    """Reads what is said of nodes in one question."""

    def __init__(self, context: Context, relations: Relations, phrases: Phrases) -> None:
        self._context, self._relations, self._phrases = context, relations, phrases

    # ------------------------------------------------------------------------------------------------- all that is said

    def described(self, head: Parse[Nodes]) -> list[Parse[Nodes]]:
        """Return a set with nothing, some or all that is said of it behind its noun."""
        results = [head]
        front: list[tuple[Parse[Nodes], int]] = [(head, len(head.value.conditions))]
        for _ in range(_MOST_MODIFIERS):
            further = []
            for parse, before in front:
                if self._context.is_exhausted():
                    break
                further += self._further(parse, before)
            front = [(parse, before) for parse, before in _first(further)]
            if not front:
                break
            results += [parse for parse, _ in front]
        return best(results)

    def _further(self, parse: Parse[Nodes], before: int) -> Iterator[tuple[Parse[Nodes], int]]:
        """Yield a set with one more thing said of it, and how many conditions it had before the last thing."""
        context = self._context
        begin = context.starts(
            parse.last, "and also", "and", "but also", "but", "as well as", "while also", "while", "plus", "yet", "all"
        )
        has_said = len(parse.value.conditions) > before or parse.value.best is not None
        begin = parse.last if begin is None or not has_said else begin
        size = len(parse.value.conditions)
        for modified in self.modifiers(begin, parse.value):
            yield Parse(modified.last, modified.value, parse.cost + modified.cost), size
        either = context.starts(parse.last, "or are", "or", "or that", "or which", "or who")
        if either is not None and has_said and parse.value.best is None and size > before:
            base = replace(parse.value, conditions=parse.value.conditions[:before])
            last_said = parse.value.conditions[before:]
            for modified in self.modifiers(either, base):
                said = modified.value.conditions[before:]
                if said and modified.value.best is None:
                    types = modified.value.types
                    nodes = replace(base, types=types, conditions=(*base.conditions, Either((last_said, said))))
                    yield Parse(modified.last, nodes, parse.cost + modified.cost), before

    def modifiers(self, place: int, nodes: Nodes) -> list[Parse[Nodes]]:
        """Return a set with one thing said of it that begins here."""
        if place >= self._context.end or self._context.is_exhausted():
            return []
        return best(self._modifiers(place, nodes))

    def _modifiers(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        context = self._context
        yield from self._excepting(place, nodes)
        yield from self._whose(place, nodes)
        begin = place
        if context.at(begin) in _PREPOSITIONS and context.at(begin + 1) in ("which", "whom", "whose"):
            begin += 1
        while context.at(begin) in _RELATIVE:
            begin += 1
        if context.at(begin - 2) == "by" and begin - 2 >= place:  # "by which X is suggested"
            yield from self._done_by_others(begin, nodes, Frame.PASSIVE_OBJECT)
            return
        yield from self._verbal(begin, nodes)

    def _verbal(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield a clause: auxiliaries, a denial perhaps, and what is said."""
        context = self._context
        begin, is_denied = place, False
        places = [(begin, is_denied)]
        had: list[tuple[int, bool]] = []
        while context.at(begin) in _AUXILIARIES or context.at(begin) in _DENIALS:
            if context.at(begin) in _HAVING or context.at(begin) == "without":
                had.append((begin, is_denied))
                if context.at(begin) not in _AUXILIARIES:
                    break
            if context.at(begin) in (_DENIALS):
                is_denied = not is_denied
            begin += 1
            places.append((begin, is_denied))
        adverb = context.starts(begin, *_ADVERBIAL)
        if adverb is None and context.at(begin - 1) in ("is", "are", "was", "were", "be", "been"):
            adverb = context.starts(begin, "used to")
        ends = [*places[-1:], *had, *([(adverb, is_denied)] if adverb is not None else [])]
        article = context.starts(begin, "a", "an", "one of the", "the", "a kind of", "among the", "to the")
        if article is not None and context.units.edges.get(article):
            ends.append((article, is_denied))
        for at, denied in dict.fromkeys(ends):
            for core in self._core(at, nodes):
                if denied:
                    changed = self._denied(core.value, nodes)
                    if changed is not None:
                        yield Parse(core.last, changed, core.cost)
                else:
                    yield core

    def _denied(self, said: Nodes, before: Nodes) -> Nodes | None:
        """Return a set with the contrary of what was said of it last."""
        new = said.conditions[len(before.conditions) :]
        if not new or said.best != before.best:
            return None
        return replace(said, conditions=(*before.conditions, *_contrary(new)))

    # ------------------------------------------------------------------------------------------------------ what is said

    def _core(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        yield from self._related(place, nodes)
        yield from self._done_by_others(place, nodes)
        yield from self._having(place, nodes)
        yield from self._placed(place, nodes)
        yield from self._valued(place, nodes)
        yield from self._beside(place, nodes)
        yield from self._identified(place, nodes)

    def _related(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `treat X and Y`, `brewed by X`, `treat or palliate X`, `bind more than 8 genes`, `bind the most genes`."""
        for verbs, last, first_word in self._verbs(place):
            preposition = ""
            begin = last
            while self._context.at(begin) in _PREPOSITIONS and not any(count(self._context, begin)):
                preposition = preposition or self._context.at(begin)
                begin += 1
            verbs = self._fitting(verbs, preposition)
            if not verbs:
                continue
            is_passive = self._context.at(last) == "by"
            frame = Frame.PASSIVE if is_passive else Frame.SUBJECT
            if preposition == "of":
                frame = Frame.NOUN_OF
            yield from self._measured(begin, nodes, verbs, frame)
            for objects in self.objects(begin):
                is_strict = preposition in ("", "by") and frame in (Frame.SUBJECT, Frame.PASSIVE)
                for related in self._joined(nodes, verbs, frame, objects.value, begin, is_strict=is_strict):
                    yield Parse(objects.last, related.value, objects.cost + related.cost)

    def _fitting(self, verbs: tuple[EdgeUnit, ...], preposition: str) -> tuple[EdgeUnit, ...]:
        """Return verbs with the edge types that their preposition may belong to: nobody works *for* what they work in."""
        if preposition not in _TELLING:
            return verbs
        labels = self._context.lexicon.vocabulary.edge_labels
        kept = []
        for verb in verbs:
            edges = {}
            for edge, fit in verb.edges.items():
                words = {word for label in labels[edge] for word in label.words}
                if preposition in words or not words & (_PREPOSITIONS - {"by"}):
                    edges[edge] = fit
            if not edges:
                return ()
            kept.append(verb._replace(edges=edges))
        return tuple(kept)

    def _verbs(self, place: int) -> Iterator[tuple[tuple[EdgeUnit, ...], int, int]]:
        """Yield the edge types that are named here, where they end: one verb, or several joined by `or` or `and`."""
        context = self._context
        for unit in context.units.edges.get(place, ()):
            yield (unit,), unit.last, place
            begin = context.skip(unit.last, _PREPOSITIONS)
            joined = context.starts(begin, "or", "and")
            if joined is not None:
                for other in context.units.edges.get(context.skip(joined, _AUXILIARIES), ()):
                    yield (unit, other), other.last, place

    def _joined(
        self,
        nodes: Nodes,
        verbs: Sequence[EdgeUnit],
        frame: Frame,
        objects: Objects,
        place: int,
        *,
        is_strict: bool = False,
    ) -> Iterator[Parse[Nodes]]:
        """Yield the set of those that the relation joins to the objects."""
        is_or = len(verbs) > 1 and self._context.at(verbs[1].first - 1) == "or"
        parts: list[tuple[Condition, float]] = []
        types = nodes
        for member in objects.members:
            options: list[Condition] = []
            for verb in verbs:
                relation = next(
                    self._relations.named(types, verb.edges, frame, member.nodes, is_strict=is_strict), None
                )
                if relation is None:
                    return
                if types.types != relation.nodes.types and not types.named:
                    types = replace(types, types=relation.nodes.types)
                options.append(self._condition(relation, member, objects))
                parts_cost = relation.cost
            cost = parts_cost
            parts.append((Either(tuple((option,) for option in options)) if is_or else options[0], cost))
            parts.extend((option, 0.0) for option in options[1:] if not is_or)
        conditions = tuple(condition for condition, _ in parts)
        if (objects.any or self._cannot_be_both(objects, conditions)) and len(conditions) > 1:
            conditions = (Either(tuple((condition,) for condition in conditions)),)
        yield Parse(place, types.that(*conditions), sum(cost for _, cost in parts))

    def _cannot_be_both(self, objects: Objects, conditions: Sequence[Condition]) -> bool:
        """Tell whether nothing is joined to two: people "in Sales and Support" are in the one or the other."""
        return not objects.both and all(
            isinstance(condition, Joined) and not condition.negated and self._relations.is_single(condition.kinds)
            for condition in conditions
        )

    def _condition(self, relation: Relation, member: Object, objects: Objects) -> Condition:
        comparison, number = objects.count if objects.count is not None else (None, 0.0)
        return Joined(relation.kinds, relation.target, member.negated, comparison, number)  # type: ignore[arg-type]

    def _done_by_others(self, place: int, nodes: Nodes, frame_of_all: Frame | None = None) -> Iterator[Parse[Nodes]]:
        """Yield `[does] X treat`, `that X and Y brew`, `do the most packages depend on`."""
        context = self._context
        for objects in self.objects(place):
            begin = context.skip(objects.last, _AUXILIARIES)
            used = context.starts(begin, "used to") if context.at(begin - 1) in ("is", "are", "was", "were") else None
            begin = used or context.starts(begin, *_ADVERBIAL) or begin
            is_denied = False
            while context.at(begin) in _DENIALS:
                is_denied = True
                begin += 1
            begin = context.skip(begin, _AUXILIARIES)
            for verbs, last, _ in self._verbs(begin):
                end = last
                if context.at(end) in _PREPOSITIONS:
                    end += 1
                frame = frame_of_all or (Frame.PASSIVE_OBJECT if context.at(last) == "by" else Frame.OBJECT)
                is_strict = end == last and frame is Frame.OBJECT
                for related in self._joined(nodes, verbs, frame, objects.value, place, is_strict=is_strict):
                    value = self._denied(related.value, nodes) if is_denied else related.value
                    if value is not None:
                        yield Parse(end, value, objects.cost + related.cost + 0.02)
        for objects in self.objects(place):  # "what telescopes does X have"
            have = context.starts(objects.last, "have", "has", "had", "got", "own", "possess")
            if have is not None and objects.value.count is None:
                yield from self._with_objects(objects._replace(last=have), nodes, is_denied=False)
        for named in context.nodes(place):  # "for which diseases is headache a symptom"
            kind = context.starts(named.last, "a", "an", "one of the")
            kinds = context.units.types.get(kind, ()) if kind is not None and named.value.named else ()
            for unit in kinds:
                relation = next(self._relations.unnamed(nodes, "", replace(named.value, types=unit.types)), None)
                if relation is not None:
                    target = Nodes(conditions=tuple(c for c in relation.target.conditions if isinstance(c, Among)))
                    of = unit.last + (context.at(unit.last) in ("of", "for", "in"))
                    yield Parse(of, relation.nodes.that(Joined(relation.kinds, target)), named.cost + relation.cost)
        nobody = context.starts(place, "nobody", "no one", "nothing", "none", "no")
        for unit in context.units.edges.get(context.skip(nobody, _AUXILIARIES), ()) if nobody is not None else ():
            for relation in self._relations.named(nodes, unit.edges, Frame.OBJECT, Nodes()):
                end = unit.last + (context.at(unit.last) in _PREPOSITIONS)
                yield Parse(
                    end, relation.nodes.that(Joined(relation.kinds, relation.target, negated=True)), relation.cost
                )
        if context.at(0) in _PREPOSITIONS and context.at(1) in ("which", "what"):  # "in which region is the town of X"
            for objects in self.objects(place):
                last = context.starts(objects.last, "located", "situated", "found", "based") or objects.last
                if objects.value.count is None and context.is_over(last):
                    for member in objects.value.members[:1]:
                        for relation in self._relations.unnamed(nodes, context.at(0), member.nodes, Frame.OBJECT):
                            yield Parse(
                                last,
                                relation.nodes.that(Joined(relation.kinds, relation.target)),
                                objects.cost + relation.cost,
                            )
        most = context.skip(place)
        word = MOST.get(context.at(most))
        if word is not None:
            for counted in self._phrases.heads(context.starts(most + 1, "number of", "count of") or most + 1):
                begin = context.skip(counted.last, _AUXILIARIES)
                for unit in context.units.edges.get(begin, ()):
                    end = unit.last + (context.at(unit.last) in _PREPOSITIONS)
                    relation = next(self._relations.named(nodes, unit.edges, Frame.OBJECT, counted.value), None)
                    if relation is not None and nodes.best is None:
                        measure = Measure(kinds=relation.kinds, target=relation.target)
                        yield Parse(
                            end, replace(relation.nodes, best=Best(measure, word)), counted.cost + relation.cost
                        )

    def _measured(self, place: int, nodes: Nodes, verbs: Sequence[EdgeUnit], frame: Frame) -> Iterator[Parse[Nodes]]:
        """Yield `treats the most diseases`, `depends on the fewest packages`."""
        context = self._context
        begin = context.skip(place)
        is_more = MOST.get(context.at(begin))
        if is_more is None or nodes.best is not None:
            return
        begin = context.starts(begin + 1, "number of", "count of") or begin + 1
        counted = list(self._phrases.heads(begin))
        counted = (
            [further for head in counted for further in self.described(head)]
            if counted
            else [Parse(begin, Nodes(), 0.2)]
        )
        for head in counted:
            relation = next(self._relations.named(nodes, verbs[0].edges, frame, head.value), None)
            if relation is not None:
                measure = Measure(kinds=relation.kinds, target=relation.target)
                yield Parse(head.last, replace(relation.nodes, best=Best(measure, is_more)), head.cost + relation.cost)

    # ----------------------------------------------------------------------------------------------------------- objects

    def objects(self, place: int) -> list[Parse[Objects]]:
        """Return the things named here: `X`, `both X and Y`, `X or Y`, `X but not Y`, `neither X nor Y`, `no X`."""
        context = self._context
        results: list[Parse[Objects]] = []
        for begin in context.skips(place, {"the", "a", "an", "all", "of", "any"}):
            for amount in count(context, begin):
                for head in context.nodes(amount.last):
                    if not head.value.named:
                        results.append(
                            Parse(
                                head.last, Objects((Object(head.value),), count=amount.value), head.cost + amount.cost
                            )
                        )
        neither = context.starts(place, "neither")
        both = context.starts(place, "both of", "both", "each of")
        either = context.starts(
            place,
            "either of",
            "either",
            "any of",
            "at least one of",
            "one of",
            "any one of",
            "one or both of",
            "one or the other of",
        )
        none = context.starts(place, "no", "none of", "not")
        begin = next((start for start in (neither, both, either, none) if start is not None), place)
        front = [
            Parse(head.last, Objects((Object(head.value, negated=neither is not None or none is not None),)), head.cost)
            for head in context.nodes(begin)
            # "every paradigm" asks for all of them, which no condition here says
            if head.value.named or context.at(begin) not in ("all", "every", "each")
        ]
        for _ in range(_MOST_MODIFIERS + 3):
            results += front
            front = [further for parse in front for further in self._and_more(parse, denied=neither is not None)]
            front = sorted(front, key=lambda parse: parse.cost)[:24]
            if not front or context.is_exhausted():
                break
        if both is not None:
            results = [parse._replace(value=parse.value._replace(both=True)) for parse in results]
        if either is not None:
            results = [
                parse._replace(value=parse.value._replace(any=len(parse.value.members) > 1)) for parse in results
            ]
        return best(results)

    def _and_more(self, parse: Parse[Objects], *, denied: bool) -> Iterator[Parse[Objects]]:
        context, objects = self._context, parse.value
        has_comma = parse.last < context.end and context.reading.words[parse.last].after_comma
        for words, is_any, is_denied in (
            ("but not", False, True), ("and not", False, True), ("though not", False, True), ("not", False, True),
            ("and neither", False, True), ("nor", False, True), ("or", True, False), ("and also", False, False),
            ("and", False, False), ("as well as", False, False), ("but also", False, False), ("together with", False, False),
            ("without", False, True), ("but never", False, True), ("plus", False, False), ("&", False, False),
            ("but no", False, True), ("rather than", False, True),
        ):  # fmt: skip
            begin = context.starts(parse.last, words)
            if begin is None:
                continue
            if (
                words == "or"
                and (over := context.starts(parse.last, "or both", "or either", "or any of them", "or all of them"))
                is not None
            ):
                if len(objects.members) > 1:
                    yield Parse(over, objects._replace(any=True), parse.cost - 0.05)
                continue
            # what is joined to a denied one by `or` is denied as well: `not X or Y`
            follows_denial = objects.members[-1].negated
            is_first = len(objects.members) == 1
            if objects.any and not is_any and not is_denied:
                continue
            if is_any and not (is_first or objects.any or objects.commas or follows_denial):
                continue
            for head in context.nodes(context.skip(begin, _PREPOSITIONS - {"between"})):
                is_nor = words in ("nor", "and neither") and not (follows_denial or denied)  # the verb is denied
                member = Object(head.value, negated=not is_nor and (is_denied or denied or (is_any and follows_denial)))
                any_of = objects.any or (is_any and not follows_denial)
                yield Parse(head.last, Objects((*objects.members, member), any_of), parse.cost + head.cost)
            break
        else:
            if has_comma:
                for head in context.nodes(parse.last):
                    if head.value.named:
                        member = Object(head.value, negated=denied)
                        further = Objects((*objects.members, member), objects.any, commas=True)
                        yield Parse(head.last, further, parse.cost + head.cost + 0.02)

    # ------------------------------------------------------------------------------------------------- having and placed

    def _having(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `with no X`, `has more than 5 X`, `with a capacity over 50`, `with the most X`, `without a website`."""
        context = self._context
        word = context.at(place)
        is_denied = word in ("without", "lacking", "lack", "lacks")
        if word not in _HAVING and not is_denied:
            return
        begin = place + 1
        if context.at(begin) in ("no", "not", "neither"):
            is_denied, begin = not is_denied, begin + 1
        yield from self._with_property(begin, nodes, is_denied=is_denied)
        if not is_denied:
            yield from self._with_best(begin, nodes)
        for objects in self.objects(begin):
            yield from self._with_objects(objects, nodes, is_denied=is_denied)
        for objects in self.objects(begin):  # "has X as a part meronym"
            noun = context.starts(
                objects.last, "as a", "as an", "as its", "as their", "as", "as one of its", "among its", "for a", "for"
            )
            for unit in context.units.edges.get(noun, ()) if noun is not None else ():
                frame_verb = (unit,)
                for related in self._joined(nodes, frame_verb, Frame.HAS_NOUN, objects.value, begin):
                    value = self._denied(related.value, nodes) if is_denied else related.value
                    if value is not None:
                        yield Parse(unit.last, value, objects.cost + related.cost)
        yield from self._with_noun(begin, nodes, is_denied=is_denied)
        yield from self._with_related(begin, nodes, is_denied=is_denied)
        for unit in context.units.values.get(context.skip(begin), ()):  # "an aluminium hull"
            facts = context.lexicon.properties[unit.property]
            for other, last, cost in self.named_property(unit.last, nodes):
                if other.name == facts.name:
                    yield Parse(last, nodes.that(Valued(facts.name, "=", unit.value, is_denied)), cost + unit.cost)
        than = next(
            (
                at
                for words in (
                    "before",
                    "earlier than",
                    "after",
                    "later than",
                    "over",
                    "above",
                    "below",
                    "under",
                    "more than",
                    "less than",
                    "higher than",
                    "lower than",
                )
                if (at := context.starts(begin, words)) is not None
            ),
            None,
        )
        for other in context.nodes(than) if than is not None else ():  # "founded before Orvelle"
            value = context.lexicon.number(facts, other.value.named[0]) if len(other.value.named) == 1 else None
            if value is not None:
                is_less = context.at(begin) in ("before", "earlier", "below", "under", "less", "lower")
                yield Parse(
                    other.last,
                    nodes.that(Valued(facts.name, "<" if is_less else ">", value, denied)),
                    other.cost + cost,
                )
        missing = context.starts(
            begin,
            "missing",
            "unknown",
            "unrecorded",
            "unspecified",
            "an unknown",
            "undefined",
            "no known",
            "no recorded",
        )
        if missing is not None:
            for facts, last, cost in self.named_property(missing, nodes):
                yield Parse(last, nodes.that(Filled(facts.name, not is_denied)), cost)

    def _with_related(self, place: int, nodes: Nodes, *, is_denied: bool) -> Iterator[Parse[Nodes]]:
        """Yield `with more than 8 ships calling there`, `with three genes associated`."""
        context = self._context
        for amount in count(context, place):
            for head in self._phrases.heads(amount.last):
                begin = context.skip(head.last, _AUXILIARIES | _RELATIVE)
                for unit in context.units.edges.get(begin, ()):
                    last = context.skip(context.skip(unit.last, _PREPOSITIONS), ("it", "them", "there"))
                    frame = Frame.PASSIVE_OBJECT if context.at(unit.last) == "by" else Frame.OBJECT
                    for relation in self._relations.named(nodes, unit.edges, frame, head.value):
                        condition = Joined(relation.kinds, relation.target, is_denied, *amount.value)
                        yield Parse(last, relation.nodes.that(condition), head.cost + relation.cost)

    def _as_type(self, place: int) -> int:
        """Return where `as a side effect` ends that begins here, a kind that is told of names before it."""
        begin = self._context.starts(
            place,
            "as a",
            "as an",
            "as its",
            "as their",
            "as one of its",
            "as one of their",
            "as",
            "among its",
            "among their",
        )
        kinds = self._context.units.types.get(begin, ()) if begin is not None else ()
        return max((kind.last for kind in kinds), default=place)

    def _with_objects(self, objects: Parse[Objects], nodes: Nodes, *, is_denied: bool) -> Iterator[Parse[Nodes]]:
        conditions: list[Condition] = []
        types, cost = nodes, 0.0
        for member in objects.value.members:
            relation = next(self._relations.unnamed(types, "with", member.nodes), None)
            if relation is None:
                self._complain_of_many(types, member.nodes, objects.last)
                return
            types = types if types.named else replace(types, types=relation.nodes.types)
            conditions.append(
                self._condition(relation, Object(member.nodes, member.negated != is_denied), objects.value)
            )
            cost += relation.cost
        if (objects.value.any or self._cannot_be_both(objects.value, conditions)) and len(conditions) > 1:
            conditions = [Either(tuple((condition,) for condition in conditions))]
        yield Parse(self._as_type(objects.last), types.that(*conditions), objects.cost + cost - 0.1)

    def _with_noun(self, place: int, nodes: Nodes, *, is_denied: bool) -> Iterator[Parse[Nodes]]:
        """Yield `with more than 3 dependencies`, `with hypernym X`, `have a supervisor`: a noun that names edges."""
        context = self._context
        counts = [*count(context, place), Parse(context.skip(place), None, 0.0)]
        for amount in counts:
            for unit in context.units.edges.get(amount.last, ()):
                comparison, number = amount.value if amount.value is not None else (None, 0.0)
                relation = next(self._relations.named(nodes, unit.edges, Frame.HAS_NOUN, Nodes()), None)
                if relation is not None:
                    condition = Joined(relation.kinds, relation.target, is_denied, comparison, number)  # type: ignore[arg-type]
                    yield Parse(unit.last, relation.nodes.that(condition), relation.cost + 0.1)
                begin = context.skip(unit.last, _PREPOSITIONS | {"is", "are"})
                for target in context.nodes(begin):
                    relation = next(self._relations.named(nodes, unit.edges, Frame.HAS_NOUN, target.value), None)
                    if relation is not None:
                        condition = Joined(relation.kinds, relation.target, is_denied, comparison, number)  # type: ignore[arg-type]
                        yield Parse(target.last, relation.nodes.that(condition), target.cost + relation.cost)

    def _with_best(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `with the most X`, `has the highest PROPERTY`, `with the largest number of X`."""
        context = self._context
        begin = context.skip(place)
        is_more = MOST.get(context.at(begin))
        superlatives = list(self._phrases.superlative(begin))
        if (is_more is None and not superlatives) or nodes.best is not None:
            return
        begin += 1
        for facts, last, cost in self.named_property(begin, nodes):
            more = is_more if is_more is not None else superlatives[0].value[0].ascending  # type: ignore[union-attr]
            yield Parse(last, replace(nodes, best=Best(Measure(property=facts.name), more)), cost)
        if is_more is None:
            return
        begin = context.starts(begin, "number of", "count of", "amount of") or begin
        for head in self._phrases.heads(begin):
            for counted in self.described(head):
                relation = next(self._relations.unnamed(nodes, "with", counted.value), None)
                if relation is not None:
                    measure = Measure(kinds=relation.kinds, target=relation.target)
                    yield Parse(
                        counted.last,
                        replace(relation.nodes, best=Best(measure, is_more)),
                        counted.cost + relation.cost - 0.1,
                    )
                else:
                    self._complain_of_many(nodes, counted.value, counted.last)
            yield from self._measured_behind(head, nodes, is_more=is_more)
        for unit in context.units.edges.get(begin, ()):
            relation = next(self._relations.named(nodes, unit.edges, Frame.HAS_NOUN, Nodes()), None)
            if relation is not None:
                measure = Measure(kinds=relation.kinds, target=relation.target)
                yield Parse(unit.last, replace(relation.nodes, best=Best(measure, is_more)), relation.cost + 0.1)

    def _measured_behind(self, head: Parse[Nodes], nodes: Nodes, *, is_more: bool) -> Iterator[Parse[Nodes]]:
        """Yield `the most genes participating in it`, `the most diseases associated with them`, `the most X brewed`."""
        context = self._context
        begin = context.skip(head.last, _AUXILIARIES | _RELATIVE)
        for unit in context.units.edges.get(begin, ()):
            last = context.skip(unit.last, _PREPOSITIONS)
            last = context.skip(last, ("it", "them", "him", "her"))
            frame = Frame.PASSIVE_OBJECT if context.at(unit.last) == "by" else Frame.OBJECT
            relation = next(self._relations.named(nodes, unit.edges, frame, head.value), None)
            if relation is not None:
                measure = Measure(kinds=relation.kinds, target=relation.target)
                yield Parse(last, replace(relation.nodes, best=Best(measure, is_more)), head.cost + relation.cost)

    def _complain_of_many(self, nodes: Nodes, target: Nodes, place: int) -> None:
        several = self._relations.ambiguous(nodes, target)
        if several:
            self._context.complain(place, f"several kinds of edges may be meant, name one: {', '.join(several)}")

    def _with_property(self, place: int, nodes: Nodes, *, is_denied: bool) -> Iterator[Parse[Nodes]]:
        context = self._context
        begin = context.skip(place)
        for facts, last, cost in self.named_property(begin, nodes):
            yield Parse(last, self._phrases.filled(facts, nodes, negated=is_denied), cost + 0.1)
            yield from self._value_of(facts, last, nodes, cost, is_denied=is_denied)
        for comparison in [*sign(context, begin), Parse(begin, "=", 0.1)]:  # "with over 100 employees"
            amount = context.units.quantities.get(comparison.last)
            if amount is None:
                continue
            for facts, last, cost in self.named_property(amount.last, nodes):
                if facts.kind == "number" and amount.unit is None:
                    valued = Valued(facts.name, comparison.value, amount.value, is_denied)
                    yield Parse(last, nodes.that(valued), cost)

    def named_property(self, place: int, nodes: Nodes) -> Iterator[tuple[PropertyFacts, int, float]]:
        """Yield the properties of a set's nodes that are named here, where they end, and the cost."""
        context = self._context
        types = self._relations.types_of(nodes)
        for begin in context.skips(place):
            for unit in context.units.properties.get(begin, ()):
                facts = context.lexicon.properties[unit.property]
                if facts.types & types:
                    yield facts, unit.last, unit.cost

    def _value_of(
        self, facts: PropertyFacts, place: int, nodes: Nodes, cost: float, *, is_denied: bool = False
    ) -> Iterator[Parse[Nodes]]:
        """Yield what is said of a property behind its name: `is X`, `over 5`, `of 8 m`, `unknown`."""
        context = self._context
        begin = context.skip(
            place,
            (
                "is",
                "are",
                "was",
                "were",
                "of",
                "being",
                "that",
                "equals",
                "as",
                "value",
                "set",
                "to",
                "listed",
                "made",
                "out",
                "a",
                "an",
                "lies",
                "falls",
                "comes",
                "came",
                "stands",
                "reaches",
                "has",
                "had",
                "been",
            ),
        )
        yield from self._beyond_others(facts, begin, nodes, cost)
        denied = is_denied
        if context.at(begin) == "not":
            denied, begin = not denied, begin + 1
        for unit in context.units.values.get(context.skip(begin, ("the", "a", "an")), ()):
            if unit.property == facts.name:
                yield Parse(unit.last, nodes.that(Valued(facts.name, "=", unit.value, denied)), cost + unit.cost - 0.05)
        for parse in compared(context, begin, facts):
            conditions = parse.value if not denied else (Either((parse.value,), negated=True),)
            yield Parse(parse.last, nodes.that(*conditions), cost + parse.cost - 0.05)
            again = context.starts(parse.last, "and", "but")
            for other in compared(context, again, facts) if again is not None and not denied else ():
                yield Parse(other.last, nodes.that(*conditions, *other.value), cost + parse.cost + other.cost - 0.1)
        missing = context.starts(
            begin, "missing", "unknown", "empty", "not known", "absent", "blank", "null", "unrecorded", "not recorded"
        )
        if missing is not None:
            yield Parse(missing, nodes.that(Filled(facts.name, negated=not denied)), cost)
        there = context.starts(begin, "known", "recorded", "available", "given", "present", "filled", "there")
        if there is not None:
            yield Parse(there, nodes.that(Filled(facts.name, negated=denied)), cost)

    def _beyond_others(self, facts: PropertyFacts, place: int, nodes: Nodes, cost: float) -> Iterator[Parse[Nodes]]:
        """Yield `born later than all others`, `first light before any other`: a superlative."""
        context = self._context
        more = next(
            (
                True
                for words in ("later than", "after", "higher than", "greater than", "larger than", "longer than")
                if context.starts(place, words)
            ),
            None,
        )
        if more is None:
            more = next(
                (
                    False
                    for words in ("earlier than", "before", "lower than", "less than", "smaller than", "shorter than")
                    if context.starts(place, words)
                ),
                None,
            )
        if more is None or nodes.best is not None:
            return
        than = place + 1 + (context.at(place + 1) == "than")
        others = context.starts(
            than,
            "all others",
            "any other",
            "every other",
            "all the others",
            "all other",
            "all the other",
            "any of the others",
            "the others",
            "everyone else",
            "anyone else",
            "anybody else",
        )
        if others is not None:
            kinds = context.units.types.get(others, ())
            last = max((kind.last for kind in kinds), default=others)
            yield Parse(last, replace(nodes, best=Best(Measure(property=facts.name), more)), cost)

    def _placed(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `in Belgium`, `for asthma or migraine`, `from Rodenbach`, `in 1990`: a preposition and no verb."""
        context = self._context
        word = context.at(place)
        if word not in _PREPOSITIONS:
            return
        begin = context.skip(place, _PREPOSITIONS)
        for objects in self.objects(begin):
            if objects.value.count is None:
                frame = Frame.PASSIVE if word == "by" else Frame.SUBJECT
                yield from self._placed_at(objects, nodes, word, frame)
        for facts, last, cost in self.named_property(begin, nodes):  # "in the country X", "of colour X"
            yield from self._value_of(facts, last, nodes, cost)
        for unit in context.units.values.get(context.skip(begin), ()):
            facts = context.lexicon.properties[unit.property]
            if facts.types & self._relations.types_of(nodes):
                narrowed = nodes if nodes.named else replace(nodes, types=facts.types & self._relations.types_of(nodes))
                yield from self._or_values(facts, unit.last, narrowed, (unit.value,), unit.cost + 0.1)
        dated = [facts for facts in self._phrases.properties_of(nodes) if facts.kind in ("year", "date")]
        if len(dated) == 1 and not nodes.conditions:  # "who received it in 1984" is not about when they were born
            for parse in compared(context, place, dated[0], default=None):
                yield Parse(parse.last, nodes.that(*parse.value), parse.cost + 0.2)

    def _or_values(
        self, facts: PropertyFacts, last: int, nodes: Nodes, values: tuple[str, ...], cost: float
    ) -> Iterator[Parse[Nodes]]:
        options = tuple((Valued(facts.name, "=", value),) for value in values)
        yield Parse(last, nodes.that(options[0][0] if len(options) == 1 else Either(options)), cost)
        begin = self._context.starts(last, "or in", "or from", "or", "and in", "and")
        for unit in self._context.units.values.get(self._context.skip(begin), ()) if begin is not None else ():
            if unit.property == facts.name and len(values) < 5:
                yield from self._or_values(facts, unit.last, nodes, (*values, unit.value), cost)

    def _placed_at(self, objects: Parse[Objects], nodes: Nodes, word: str, frame: Frame) -> Iterator[Parse[Nodes]]:
        conditions: list[Condition] = []
        types, cost = nodes, 0.0
        for member in objects.value.members:
            relation = next(self._relations.unnamed(types, word, member.nodes, frame), None)
            if relation is None:
                self._complain_of_many(types, member.nodes, objects.last)
                return
            types = types if types.named else replace(types, types=relation.nodes.types)
            conditions.append(Joined(relation.kinds, relation.target, member.negated))
            cost += relation.cost
        if (objects.value.any or self._cannot_be_both(objects.value, conditions)) and len(conditions) > 1:
            conditions = [Either(tuple((condition,) for condition in conditions))]
        yield Parse(objects.last, types.that(*conditions), objects.cost + cost)

    def measures(self, place: int, nodes: Nodes) -> Iterator[Parse[Measure]]:
        """Yield what nodes are ranked by: a property, or a number of things."""
        context = self._context
        begin = context.skip(place, ("the", "their", "its", "highest", "largest", "total", "a", "an"))
        for facts, last, cost in self.named_property(begin, nodes):
            yield Parse(last, Measure(property=facts.name), cost)
        begin = context.starts(begin, "number of", "count of", "how many") or begin
        for unit in context.units.edges.get(begin, ()):  # "associated genes"
            for head in self._phrases.heads(unit.last):
                for relation in self._relations.named(nodes, unit.edges, Frame.HAS_NOUN, head.value):
                    yield Parse(
                        head.last, Measure(kinds=relation.kinds, target=relation.target), head.cost + relation.cost
                    )
        for head in self._phrases.heads(begin):
            for counted in self.described(head):
                for relation in self._relations.unnamed(nodes, "with", counted.value):
                    last = context.starts(counted.last, "count", "they have", "it has") or counted.last
                    yield Parse(
                        last, Measure(kinds=relation.kinds, target=relation.target), counted.cost + relation.cost
                    )
            behind = context.skip(head.last, _AUXILIARIES | _RELATIVE | {"they", "it"})
            for unit in context.units.edges.get(behind, ()):
                for relation in self._relations.named(nodes, unit.edges, Frame.SUBJECT, head.value):
                    last = unit.last + (context.at(unit.last) in ("on", "to", "with", "in", "for", "by"))
                    yield Parse(last, Measure(kinds=relation.kinds, target=relation.target), head.cost + relation.cost)
        for unit in context.units.edges.get(begin, ()):
            for relation in self._relations.named(nodes, unit.edges, Frame.HAS_NOUN, Nodes()):
                yield Parse(unit.last, Measure(kinds=relation.kinds, target=relation.target), relation.cost + 0.1)

    # ----------------------------------------------------------------------------------------------------------- values

    def _valued(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `founded before 1800`, `weighs over 5 kg`, `taller than 50 m`, `over 100 MB`, `is organic`, `required`."""
        context = self._context
        for facts, last, cost in self.named_property(place, nodes):
            yield from self._value_of(facts, last, nodes, cost)
            if facts.kind == "boolean":
                yield Parse(last, nodes.that(Valued(facts.name, "=", "true")), cost)
        for adjective_parse in adjective(context, place):
            meant, is_more = adjective_parse.value
            facts = self._phrases.compared_by(meant, nodes, place)
            than = context.starts(adjective_parse.last, "than")
            if facts is None or than is None:
                continue
            more = meant.ascending == is_more
            if meant.is_age and facts.kind == "number":
                more = not more
            others = context.starts(
                than,
                "all other",
                "any other",
                "every other",
                "all others",
                "any others",
                "all the other",
                "all the others",
                "every others",
            )
            if others is not None and nodes.best is None:
                kinds = context.units.types.get(others, ())
                last = max((kind.last for kind in kinds), default=others)
                yield Parse(last, replace(nodes, best=Best(Measure(property=facts.name), more)), 0.0)
            amount = context.units.quantities.get(context.skip(than, ("the", "year", "a")))
            if amount is not None:
                for parse in compared(context, than, facts):
                    yield Parse(
                        parse.last,
                        nodes.that(*(_turned(condition, amount_more=more) for condition in parse.value[:1])),
                        parse.cost,
                    )
            for other in context.nodes(than):
                if len(other.value.named) == 1:
                    value = context.lexicon.number(facts, other.value.named[0])
                    if value is not None:
                        yield Parse(
                            other.last, nodes.that(Valued(facts.name, ">" if more else "<", value)), other.cost + 0.05
                        )
        for verb, words in VERBS.items():
            if (
                context.reading.words[place].stem == context.lexicon.vocabulary.stem(verb)
                if place < context.end
                else False
            ):
                stems = {context.lexicon.vocabulary.stem(word) for word in words}
                fitting = [facts for facts in self._phrases.properties_of(nodes) if stems.intersection(facts.stems)]
                if len(fitting) == 1:
                    for parse in compared(context, place + 1, fitting[0]):
                        yield Parse(parse.last, nodes.that(*parse.value), parse.cost)
                    most = context.skip(place + 1)
                    if context.at(most) in MOST and nodes.best is None:
                        yield Parse(
                            most + 1,
                            replace(nodes, best=Best(Measure(property=fitting[0].name), MOST[context.at(most)])),
                            0.0,
                        )
        yield from self._bare_amount(place, nodes)
        for unit in context.units.values.get(context.skip(place, ("a", "an", "the")), ()):
            facts = context.lexicon.properties[unit.property]
            if facts.types & self._relations.types_of(nodes) and facts.kind != "number":
                narrowed = nodes if nodes.named else replace(nodes, types=facts.types & self._relations.types_of(nodes))
                yield from self._or_values(facts, unit.last, narrowed, (unit.value,), unit.cost + 0.15)
        yield from self._superlative_said(place, nodes)
        dated = [facts for facts in self._phrases.properties_of(nodes) if facts.kind in ("year", "date")]
        if len(dated) == 1 and context.at(place) in AGES | {"appeared", "began", "came"}:  # "appeared before 1960"
            for parse in compared(context, context.skip(place + 1, ("out",)), dated[0], default=None):
                yield Parse(parse.last, nodes.that(*parse.value), parse.cost + 0.1)

    def _bare_amount(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `over 100 MB`, where one property alone is told in such a unit; `before 1800` where one tells years."""
        context = self._context
        own = self._phrases.properties_of(nodes)
        ranged = context.starts(place, "between", "from") or (place if place in context.units.quantities else None)
        low = context.units.quantities.get(ranged) if ranged is not None else None
        high_at = context.starts(low.last, "and", "to") if low is not None else None
        high = context.units.quantities.get(high_at) if high_at is not None else None
        if high is not None and context.at(high.last) in ADJECTIVES:
            meant = self._phrases.compared_by(ADJECTIVES[context.at(high.last)], nodes, high.last)
            for parse in compared(context, place, meant) if meant is not None else ():
                if parse.last == high.last:
                    yield Parse(high.last + 1, nodes.that(*parse.value), parse.cost)
        if high is not None and (high.is_year or high.unit is not None):
            units = {facts.name: facts for facts in own if (facts.kind in ("year", "date")) == high.is_year}
            both = [
                parse
                for facts in units.values()
                for parse in compared(context, place, facts)
                if parse.last >= high.last
            ]
            if not both and ranged == place and len(units) == 1:
                low_high = [compared(context, at, facts) for facts in units.values() for at in (place, high_at)]
                firsts = [next(parses, None) for parses in low_high]
                if all(isinstance(p, Parse) and isinstance(p.value[0], Valued) for p in firsts):
                    facts = next(iter(units.values()))
                    limits = [
                        Valued(facts.name, ">=", firsts[0].value[0].value),
                        Valued(facts.name, "<=", firsts[1].value[0].value),
                    ]  # type: ignore[union-attr]
                    yield Parse(high.last, nodes.that(*limits), 0.25)
            if len(both) == 1:
                yield Parse(both[0].last, nodes.that(*both[0].value), 0.15)
        for comparison in sign(context, place, of_dates=True):
            amount = context.units.quantities.get(context.skip(comparison.last, ("the", "year")))
            if amount is None:
                continue
            if amount.unit is not None:
                from orienteer.methods.anchor.reading.quantities import UNITS

                fitting = [f for f in own if f.unit is not None and UNITS[f.unit][0] == UNITS[amount.unit][0]]
            elif (amount.is_year or amount.span is not None) and not nodes.conditions:
                fitting = [f for f in own if f.kind in ("year", "date")]
            else:
                fitting = []
            behind = [facts for facts, last, _ in self.named_property(amount.last, nodes)]
            if len(fitting) == 1 and not behind:
                for parse in compared(context, place, fitting[0]):
                    yield Parse(parse.last, nodes.that(*parse.value), parse.cost + 0.15)
            elif len(fitting) > 1 and not behind:
                context.complain(place, f"{', '.join(f.name for f in fitting)} may be meant: name one of them")
            if context.at(amount.last) in ADJECTIVES:  # "over 300 metres long"
                facts_of = self._phrases.compared_by(ADJECTIVES[context.at(amount.last)], nodes, amount.last)
                for parse in compared(context, place, facts_of) if facts_of is not None else ():
                    if parse.last == amount.last:
                        yield Parse(amount.last + 1, nodes.that(*parse.value), parse.cost)
            for facts, last, cost in self.named_property(amount.last, nodes):  # "over 8 abv", "more than 300 m high"
                for parse in compared(context, place, facts):
                    if parse.last == amount.last:
                        yield Parse(last, nodes.that(*parse.value), cost + parse.cost)

    def _beside(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `telescopes Plainwater`: a name right behind a kind that it is not of."""
        if place == 0 or self._context.at(place) in DETERMINERS or not nodes.types or nodes.conditions:
            return
        for named in self._phrases.names(place):
            if not self._relations.types_of(named.value) & nodes.types:
                for relation in self._relations.unnamed(nodes, "", named.value):
                    yield Parse(
                        named.last,
                        relation.nodes.that(Joined(relation.kinds, relation.target)),
                        named.cost + relation.cost + 0.1,
                    )

    def _superlative_said(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `is the oldest`, `is tallest`, `is the most expensive one`."""
        context = self._context
        begin = context.skip(place)
        for parse in self._phrases.superlative(begin):
            found = self._phrases.best_of(nodes, parse.value, 1, begin)
            if found is not None:
                yield Parse(context.skip(parse.last, ("one", "of", "all", "them", "these")), found, 0.0)

    def _whose(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `whose height is over 5 m`, `whose brewery is in Belgium`, `whose supervisor is X`."""
        context = self._context
        begin = context.starts(
            place,
            "whose",
            "where the",
            "for which the",
            "with a",
            "and whose",
            "that have a",
            "which have a",
            "for whom the",
            "of which the",
            "with the",
            "where its",
            "where their",
            "for which",
        )
        if begin is None:
            return
        for measure in self.measures(context.skip(begin, ("the",)), nodes):
            amount_at = context.skip(measure.last, ("is", "are", "was", "were", "of"))
            if measure.value.target is not None:
                for amount in count(context, amount_at):
                    condition = Joined(measure.value.kinds, measure.value.target, False, *amount.value)
                    yield Parse(amount.last, nodes.that(condition), measure.cost + amount.cost)
            superlative = MOST.get(context.at(context.skip(amount_at)))
            if superlative is not None and nodes.best is None:
                yield Parse(
                    context.skip(amount_at) + 1, replace(nodes, best=Best(measure.value, superlative)), measure.cost
                )
        for facts, last, cost in self.named_property(begin, nodes):
            yield from self._value_of(facts, last, nodes, cost)
        for head in self._phrases.heads(begin):
            relation = next(self._relations.unnamed(nodes, "", head.value, Frame.HAS_NOUN), None)
            if relation is None:
                self._complain_of_many(nodes, head.value, begin)
                continue
            for described in self._said_of(head.last, relation.target):
                if described.value.best is not None:
                    continue
                condition = Joined(relation.kinds, described.value)
                yield Parse(described.last, relation.nodes.that(condition), head.cost + described.cost + relation.cost)
        for unit in context.units.edges.get(begin, ()):
            relation = next(self._relations.named(nodes, unit.edges, Frame.HAS_NOUN, Nodes()), None)
            if relation is None:
                continue
            for described in self._said_of(unit.last, relation.target):
                cut = next(self._relations.named(nodes, unit.edges, Frame.HAS_NOUN, described.value), None)
                if cut is not None:
                    yield Parse(
                        described.last, cut.nodes.that(Joined(cut.kinds, cut.target)), described.cost + cut.cost
                    )

    def _said_of(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield what a clause says of its own subject: `is X`, `is in Y`, `treats Z`, `took place at X`."""
        for modified in self.modifiers(place, nodes):
            yield modified
        begin = self._context.skip(place, _AUXILIARIES)
        begin = self._context.skip(self._context.starts(begin, *_ADVERBIAL) or begin, _PREPOSITIONS)
        for named in self._context.nodes(begin):
            if named.value.named:
                yield Parse(named.last, named.value, named.cost)

    def _identified(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `is a brewery`, `are Belgian breweries`, `among those that X`: of a kind, or of a description."""
        among = self._context.starts(place, *_ANY_OF)
        if among is not None:
            for described in self._context.nodes(among):
                own, theirs = self._relations.types_of(nodes), self._relations.types_of(described.value)
                if own & theirs and described.value.conditions and described.value.best is None:
                    types = nodes.types if nodes.named else own & theirs
                    yield Parse(
                        described.last, replace(nodes, types=types).that(*described.value.conditions), described.cost
                    )
        is_told = not nodes.named and not nodes.types
        if is_told or (nodes.named and self._context.at(place) in DETERMINERS):
            for head in self._context.nodes(place):
                if head.value.types and not head.value.named and head.value.best is None:
                    own = self._relations.types_of(nodes) & head.value.types
                    if own or is_told:
                        yield Parse(
                            head.last,
                            replace(nodes, types=head.value.types).that(*head.value.conditions),
                            head.cost + 0.05,
                        )

    def _excepting(self, place: int, nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `other than X`, `except those that treat Y`, `but not Z`."""
        context = self._context
        begin = context.starts(place, *_EXCEPTING)
        if begin is None:
            return
        for objects in self.objects(begin):
            if all(member.nodes.named for member in objects.value.members):
                rows = tuple(row for member in objects.value.members for row in member.nodes.named)
                types = self._relations.types_of(Nodes(conditions=(Among(rows),)))
                if types & self._relations.types_of(nodes):
                    yield Parse(objects.last, nodes.that(Among(rows, negated=True)), objects.cost + 0.05)
                yield from self._not_these(objects, nodes)
        those = context.skip(begin, ("for", "the", "those", "ones", "them", "that", "any"))
        for modified in self.modifiers(those, replace(nodes, conditions=())):
            conditions = modified.value.conditions
            if conditions and modified.value.best is None:
                yield Parse(modified.last, nodes.that(*_contrary(conditions)), modified.cost + 0.05)

    def _not_these(self, objects: Parse[Objects], nodes: Nodes) -> Iterator[Parse[Nodes]]:
        """Yield `drugs for migraine but not epilepsy`: the relation said last, denied of others."""
        last = nodes.conditions[-1] if nodes.conditions else None
        if not isinstance(last, Joined) or last.comparison is not None:
            return
        targets = self._relations.types_of(last.target)
        for member in objects.value.members:
            if not self._relations.types_of(member.nodes) & targets:
                return
        conditions = [Joined(last.kinds, member.nodes, negated=not last.negated) for member in objects.value.members]
        yield Parse(objects.last, nodes.that(*conditions), objects.cost)


def _contrary(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return what holds where conditions do not: none of them where they are one relation to several things."""
    kinds = {condition.kinds if isinstance(condition, Joined) else None for condition in conditions}
    if len(conditions) == 1 or (len(kinds) == 1 and None not in kinds):
        return tuple(negated(condition) for condition in conditions)
    return (Either((tuple(conditions),), negated=True),)


def _turned(condition: Condition, *, amount_more: bool) -> Condition:
    """Return the comparison of `taller than 5` from one that was read without its adjective."""
    if not isinstance(condition, Valued):
        return condition
    if isinstance(condition.value, float) and condition.comparison in ("=", ">=", "<"):
        return replace(condition, comparison=">" if amount_more else "<")
    return condition


def _first(parses: Sequence[tuple[Parse[Nodes], int]]) -> list[tuple[Parse[Nodes], int]]:
    """Return the likeliest of the parses, each meaning once, a few for each end."""
    seen: dict[tuple[int, Nodes], tuple[Parse[Nodes], int]] = {}
    for parse, before in parses:
        key = (parse.last, parse.value)
        if key not in seen or parse.cost < seen[key][0].cost:
            seen[key] = (parse, before)
    by_end: dict[int, int] = {}
    kept = []
    for parse, before in sorted(seen.values(), key=lambda item: item[0].cost):
        by_end[parse.last] = by_end.get(parse.last, 0) + 1
        if by_end[parse.last] <= 4:
            kept.append((parse, before))
    return kept
