"""What a listing does not answer, though each word was read: `every ship of X is steel?`, `who wrote Linux?`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.context import Context
from orienteer.reading.edge_labels import SAME_WORD
from orienteer.reading.query import ExactQuery, Joined, NodeSet, Valued, sets_within
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.vocabulary import WORDS

_ASKED = 3  # words, among which the one that asks is


class Unanswered:
    """Finds the word of one question that asks for something else than the nodes that were read."""

    def __init__(self, context: Context, relations: SchemaRelations, people: frozenset[int]) -> None:
        """`people` are the node types that `who` asks for."""
        self._context, self._relations, self._people = context, relations, people

    def word(self, query: ExactQuery) -> str | None:
        """Return the word as the question spells it; None where the query answers it."""
        if query.form == "value" and self._asks_for_nodes(query):
            return self._context.reading.surface(0, 1)
        if query.form != "list" or not self._context.words:
            return None
        place = next(self._places(query), None)
        return None if place is None else self._context.reading.surface(place, place + 1)

    def _places(self, query: ExactQuery) -> Iterator[int]:
        words = self._context.words
        types = self._relations.types_of(query.nodes)
        if words[0] in WORDS["which"] and not WORDS["be"].isdisjoint(words) and self._ends_turned(query):
            yield len(words) - 1
        if "where" in words[:_ASKED] and not self._tells_where(query, types):
            yield words.index("where")
        if not WORDS["who"].isdisjoint(words[:_ASKED]) and not self._tells_who(query, types):
            yield next(place for place, word in enumerate(words) if word in WORDS["who"])
        if query.nodes.named and words[-1] in WORDS["last of scenes"] | {"at", "from"}:
            yield len(words) - 1  # "what is X in?"
        used = next((at for at in range(1, len(words)) if words[at - 1 : at + 1] == ["used", "to"]), None)
        if used is not None and words[used - 2] not in WORDS["be"] and self._people and types <= self._people:
            yield used - 1  # who used to do something does so no longer
        if words[0] in WORDS["all"] and self._is_claim():
            yield 0
        yield from self._owners(types)

    def _tells_where(self, query: ExactQuery, types: frozenset[int]) -> bool:
        """Return whether nodes are where something is: places, and neither people nor what is there."""
        if query.nodes.named:
            return any(_joined(query))
        are_people = bool(self._people and types and types <= self._people)
        are_there = any(self._is_placed(condition) for condition in _joined(query))
        is_condition = self._context.words[0] != "where"  # "languages where typing is unknown"
        return not are_people and not are_there and (is_condition or self._are_places(query, types))

    def _tells_who(self, query: ExactQuery, types: frozenset[int]) -> bool:
        """Return whether nodes are people, or those who do as people do; true where no type is of people."""
        if not self._people or not types or self._people & types:
            return True
        kinds = [kind for condition in _joined(query) for kind in condition.kinds]
        are_doers = all(map(self._relations.labels.is_doer, kinds))
        return are_doers and not self._is_scene(query)

    def _asks_for_nodes(self, query: ExactQuery) -> bool:
        """Return whether a question that gives a property asks for its nodes: `who was born before X died`."""
        words, types = self._context.words, self._relations.types_of(query.nodes)
        kinds = self._context.units.types.get(1, ()) if words[:1] and words[0] in WORDS["which"] else ()
        is_of_kind = any(kind.types & types for kind in kinds)
        return bool(words) and not query.nodes.named and (words[0] in WORDS["who"] or is_of_kind)

    def _ends_turned(self, query: ExactQuery) -> bool:
        """Return whether the last word is of edges that lead the other way: `what is C written in`, of what is in C."""
        last = self._context.words[-1]
        return any(
            condition.target.named
            and not any(kind & 1 for kind in condition.kinds)
            and any(last in label[1:] for label in self._labels(condition))
            for condition in _joined(query)
        )

    def _are_places(self, query: ExactQuery, types: frozenset[int]) -> bool:
        """Return whether nodes are places by what they are called, or by edges that say where things are."""
        labels = self._context.lexicon.vocabulary.node_labels
        called = {word for kind in types for label in labels[kind] for word in label.words}
        edges = {word for condition in _joined(query) for label in self._labels(condition) for word in label}
        return not called.isdisjoint(WORDS["places"] | WORDS["organisations"]) or not edges.isdisjoint(
            WORDS["saying where"]
        )

    def _is_placed(self, condition: Joined) -> bool:
        """Return whether nodes are what is somewhere, and not where it is: of `shown_at`, what is shown."""
        labels = self._labels(condition)
        return all(not kind & 1 for kind in condition.kinds) and any(
            label[-1] in WORDS["last of places"] for label in labels
        )

    def _is_claim(self) -> bool:
        """Return whether something is said of all: `every ship of X is steel?`."""
        words = self._context.words
        if (
            self._context.reading.text.rstrip().endswith("?")
            and WORDS["which"].isdisjoint(words)
            and WORDS["who"].isdisjoint(words)
        ):
            return True  # "all X halls stone?"
        claimed = next((place for place, word in enumerate(words) if word in WORDS["be"]), 0)
        return claimed > 0 and WORDS["linking"].isdisjoint(words[:claimed])

    def _is_scene(self, query: ExactQuery) -> bool:
        """Return whether edges say in or with what something is done: Linux is `written_in` a language, by nobody."""
        return any(
            label[-1] in WORDS["last of scenes"] for condition in _joined(query) for label in self._labels(condition)
        )

    def _owners(self, types: frozenset[int]) -> Iterator[int]:
        """Yield the place of `whose` in `whose ship is the fastest?`, and of `which` in `which company's ships`."""
        context = self._context
        for place, word in enumerate(context.words[:-1]):
            for kind in context.units.types.get(place + 1, ()):
                is_owner = (
                    word in WORDS["which"] and context.possessive(kind.last) is not None and not kind.types & types
                )
                if is_owner or (word == "whose" and place == 0 and kind.types & types):
                    yield place

    def _labels(self, condition: Joined) -> list[list[str]]:
        """Return the words of the labels of a condition's edges."""
        return [label.replace("_", " ").split() for label in self._relations.labels.of(condition.kinds)]


def _joined(query: ExactQuery) -> Iterator[Joined]:
    """Yield the relations that nodes of a query have themselves."""
    for condition in query.nodes.conditions:
        if isinstance(condition, Joined):
            yield condition


def doubt(context: Context, relations: SchemaRelations, query: ExactQuery) -> str | None:
    """Return the reason why a query may not be what the asker means; None if there is none."""
    rows = _nameless(context, relations, query)
    if rows:
        return f"the answer would be rows of {rows}, which have no names: ask for {rows}, or for what they join"
    total = query.measure.property if query.form in ("average", "sum") and query.measure is not None else None
    facts = context.lexicon.properties.get(total or "")  # none of a property of edges
    if facts is not None and not facts.is_measured:
        return f"{total} holds no numbers"
    for nodes in sets_within(query):
        if (name := _time_of_another(context, nodes)) is not None:
            return f"the time may belong to {name} instead: name the property that you mean"
        if _goes_two_ways(context, nodes):
            return "two names of one kind would be joined in different ways: ask two questions"
    return None


def _nameless(context: Context, relations: SchemaRelations, query: ExactQuery) -> str:
    """Return the kinds of nodes without names that are listed though no word asks for them; empty for others."""
    arrays, label = context.lexicon.graph.arrays, context.lexicon.graph.schema.label
    own = query.nodes.types
    for one in query.nodes.conditions if not own else ():  # "what was shown on 20 May"
        if isinstance(one, Valued) and one.property in context.lexicon.properties:
            own |= context.lexicon.properties[one.property].types
    said = frozenset(kind for units in context.units.types.values() for unit in units for kind in unit.types)
    if query.form != "list" or query.nodes.named or not own or own & said or not all(map(relations.is_nameless, own)):
        return ""
    return " and ".join(sorted(label(arrays.types.nodes[kind]) for kind in own))


def _time_of_another(context: Context, nodes: NodeSet) -> str | None:
    """Return what a time may be of as well: "devices that X serviced in 2024", over services that have dates."""
    dated = {name for name, facts in context.lexicon.properties.items() if facts.kind in ("date", "year")}
    named = {unit.property for units in context.units.properties.values() for unit in units}
    times = [one for one in nodes.conditions if isinstance(one, Valued) and one.property in dated - named]
    between = [one.target for one in nodes.conditions if isinstance(one, Joined) and one.target.is_between]
    for target in between if times else ():
        for name in sorted(dated):
            if context.lexicon.properties[name].types & target.types:
                return name
    return None


def _goes_two_ways(context: Context, nodes: NodeSet) -> bool:
    """Return whether names of one kind are joined over others and at once: "has duties on both X and Y"."""
    arrays, ends = context.lexicon.graph.arrays, list[tuple[int, int, int]]()
    for one in nodes.conditions:
        if isinstance(one, Joined):
            ends += [(row, int(arrays.node_types[row]), 1) for row in one.target.named]
            further = (inner for inner in one.target.conditions if isinstance(inner, Joined))
            ends += [(row, int(arrays.node_types[row]), 2) for inner in further for row in inner.target.named]
    places = {row: place for place, units in context.units.names.items() for unit in units for row in unit.rows}
    for row, kind, steps in ends:
        for other, same, others in ends:
            first, last = sorted((places.get(row, 0), places.get(other, 0)))
            verbs = (unit for place in range(first, last) for unit in context.units.edges.get(place, ()))
            if kind == same and steps < others and not any(unit.fit > SAME_WORD for unit in verbs):
                return True
    return False
