"""What the sentence before a question speaks of: `Some beers are by X. How many of them are Y?`"""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.function_words import EMPTY, phrases_of
from orienteer.reading.openings import begins
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import Either, Joined, NodeSet
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.trailers import TrailingQuestions

_MOST = 3  # meanings of a sentence that are tried
_SOME = phrases_of("some, there are, there is a, there is an, there is, certain, if")
_OF_SOME = phrases_of("of some, of certain, of several, of various, for some, in some, of many, for certain")
_PREPOSITIONS = ("at", "in", "by", "to", "on")


class Antecedents:
    """Reads the sentence before a question."""

    def __init__(
        self, context: Context, relations: SchemaRelations, phrases: PhraseRules, trailing: TrailingQuestions
    ) -> None:
        self._context, self._relations, self._phrases, self._trailing = context, relations, phrases, trailing

    def borders(self) -> Iterator[int]:
        """Yield where a sentence may end and the question begin: behind a mark."""
        reading = self._context.reading
        for border in range(1, self._context.end):
            between = reading.text[reading.words[border - 1].end : reading.words[border].start]
            if any(mark in between for mark in ".;:,"):
                yield border

    def spoken_of(self, border: int) -> list[Parse[NodeSet]]:
        """Return what the words before a border may speak of, likeliest first."""
        starts = begins(self._context, 0)
        meanings = [parse for begin in starts for parse in self._mentioned(begin, border)]
        meanings += [parse for begin in starts for parse in self._stated(begin, border)]
        return sorted(meanings, key=lambda parse: parse.cost)[:_MOST]

    def _mentioned(self, begin: int, border: int) -> Iterator[Parse[NodeSet]]:
        """Yield `some beers by X`, `there is a beer that X brews`."""
        behind = self._context.starts(begin, *_SOME) or begin
        for start in sorted({begin, behind}):
            for nodes in self._context.nodes(start):
                rest = self._context.words[nodes.last : border]
                if nodes.last <= border and all(word in EMPTY for word in rest):
                    yield nodes

    def _stated(self, begin: int, border: int) -> Iterator[Parse[NodeSet]]:
        """Yield what a sentence with a name tells of: `X owns several ships`, `X is a gene of some pathways`."""
        context = self._context
        for named in self._phrases.names(context.starts(begin, "there is", "there s") or begin):
            for whole in self._trailing.behind(named):
                if whole.last == border:
                    yield Parse(border, whole.value.nodes, whole.cost)
            yield from self._classified(named, border)
            have = context.starts(named.last, "has", "have")
            for head in context.nodes(have) if have is not None else ():
                yield from self._owned(named, head, border)

    def _classified(self, named: Parse[NodeSet], border: int) -> Iterator[Parse[NodeSet]]:
        """Yield the X of `X is a side effect`, `X is a gene of some pathways`."""
        context = self._context
        is_a = context.starts(named.last, "is a", "is an", "is the", "is one of the")
        for kind in context.units.types.get(is_a, ()) if is_a is not None else ():
            of = context.starts(kind.last, *_OF_SOME)
            others = context.units.types.get(of, ()) if of is not None else ()
            if border in (kind.last, *(other.last for other in others)):
                yield named._replace(last=border)

    def _owned(self, named: Parse[NodeSet], head: Parse[NodeSet], border: int) -> Iterator[Parse[NodeSet]]:
        """Yield the ships of `X has ships there`, `X has ships moored at it`."""
        context = self._context
        last = context.starts(head.last, "there") or head.last
        cost = named.cost + head.cost
        for unit in context.units.edges.get(head.last, ()):
            last = context.starts(context.skip(unit.last, _PREPOSITIONS), "there", "it") or unit.last
            if last == border:
                for relation in self._relations.named(head.value, unit.edges, Voice.PASSIVE, named.value):
                    yield Parse(border, relation.joined, cost)
        if last == border and not head.value.named:
            for relation in self._relations.unnamed(head.value, "", named.value):
                yield Parse(border, relation.joined, cost)


def holds(nodes: NodeSet, spoken_of: NodeSet) -> bool:
    """Tell whether what was spoken of is a part of a set: else a sentence was read for nothing."""
    if nodes == spoken_of:
        return True
    for condition in nodes.conditions:
        if isinstance(condition, Joined) and holds(condition.target, spoken_of):
            return True
        if isinstance(condition, Either) and any(
            holds(NodeSet(conditions=option), spoken_of) for option in condition.options
        ):
            return True
    return set(spoken_of.conditions) <= set(nodes.conditions) and bool(spoken_of.conditions)
