"""Questions for nodes: `which beers are brewed by X`, `top 3 towers by height`, `X aside, who works there`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.clauses import Clauses
from orienteer.reading.context import Context, Parse
from orienteer.reading.function_words import phrases_of, words_of
from orienteer.reading.openings import LISTING, ends
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import Among, Best, Condition, Either, ExactQuery, Joined, NodeSet
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.thesaurus import MOST, SUPERLATIVES

_LEAVING_OUT = phrases_of(
    """leaving out, excluding, except for, apart from, aside from, ignoring, not counting, other than, besides,
    without counting, setting aside, leaving aside, if you ignore, not including, if we leave out,
    with the exception of"""
)
_ASIDE = ("aside", "excluded", "excepted", "left out", "left aside")
_WHO = phrases_of(
    """who is it that, who was it that, what is it that, who, whom, what, which, where, by whom, to whom, for whom,
    with whom, to what, in what, from where"""
)
_THEM = phrases_of(
    """which ones, which, list them all, list them, name them, show them, who are they, what are they, who,
    which are they"""
)
_LONGEST_PLACE = 7  # words
_TOP = words_of("top bottom first highest lowest biggest largest smallest")
_BOTTOM = words_of("bottom lowest smallest")
_RANKED_BY = phrases_of(
    """by, ranked by, ordered by, sorted by, in terms of, according to, in, for, with the highest, with the largest,
    measured by"""
)


class ListForms:
    """Reads questions for nodes."""

    def __init__(self, context: Context, relations: SchemaRelations, phrases: PhraseRules, clauses: Clauses) -> None:
        self._context, self._relations, self._phrases, self._clauses = context, relations, phrases, clauses

    def queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin at a place."""
        for start, cost in self._starts(begin).items():
            yield from self._listed(start, cost)
            yield from self._top(start, cost)
        yield from self._left_out(begin)
        yield from self._placed(begin)
        yield from self._who(begin)
        yield from self._whose(begin)
        yield from self._aside(begin)
        yield from self._referents(begin)

    def _starts(self, begin: int) -> dict[int, float]:
        """Return where what is listed may begin, and what that costs: a listing says so mostly."""
        starts = {begin: 0.05}
        for end in self._context.ends(begin, LISTING):
            starts[end] = 0.0
            starts |= dict.fromkeys(self._context.ends(end, LISTING), 0.0)
        return starts

    def _listed(self, start: int, cost: float) -> Iterator[Parse[ExactQuery]]:
        """Yield `beers that X brews`, behind `which` or `list all`."""
        context = self._context
        asks_all = context.at(start) in ("all", "every", "each", "any") or context.at(start - 1) == "all"
        asks_where = "where" in context.words[:start]
        for nodes in context.nodes(start):
            is_kind = asks_all or (context.at(nodes.last - 1).endswith("s") and cost == 0)
            is_of_namesakes = any(isinstance(c, Among) and not c.negated for c in nodes.value.conditions)
            if is_of_namesakes and not nodes.value.named and context.at(start - 1) not in ("which", "what", "who"):
                continue  # who writes "joan pike projects" knows her
            if nodes.value.named and context.at(start) in ("a", "an"):
                continue  # "who is a professor" asks for no "Professor"
            if not (nodes.value.named and (is_kind or asks_where)):
                yield Parse(nodes.last, ExactQuery("list", nodes.value), nodes.cost + cost)
                yield from self._and_others(nodes, cost)

    def _and_others(self, first: Parse[NodeSet], cost: float) -> Iterator[Parse[ExactQuery]]:
        """Yield `buoys that are green and buoys that are red`: two descriptions of one kind, and all of either."""
        joined = self._context.starts(first.last, "and also", "as well as", "and", "or", "plus")
        if joined is None or not first.value.conditions or first.value.best is not None:
            return
        for second in self._context.nodes(joined):
            is_alike = second.value.types == first.value.types and bool(first.value.types)
            # "mages and knights born in X" says it of both
            is_more = len(second.value.conditions) > len(first.value.conditions)
            if is_alike and second.value.conditions and second.value.best is None and not is_more:
                either = Either((first.value.conditions, second.value.conditions))
                nodes = NodeSet(first.value.types, (either,))
                for described in self._clauses.described(Parse(second.last, nodes, first.cost + second.cost + 0.1)):
                    yield Parse(described.last, ExactQuery("list", described.value), described.cost + cost)

    def _top(self, begin: int, cost: float) -> Iterator[Parse[ExactQuery]]:
        """Yield `top 3 X by height`, `3 X with the most Y`, `the five X that treat the most Y`, `X ranked by Y`."""
        context = self._context
        start = context.skip(begin)
        is_top = context.at(start) in _TOP
        descending = context.at(start) not in _BOTTOM
        at = start + 1 if is_top else start
        amount = context.units.quantities.get(at)
        first = 1
        if amount is not None and amount.unit is None:
            first, at = max(1, int(amount.value)), amount.last
        word = SUPERLATIVES.get(context.at(at))
        if not is_top and word is not None:  # "oldest department by founding year"
            is_top, descending, at = True, word.ascending, at + 1
        elif not is_top and context.at(at) in MOST:  # "5 largest packages by size"
            is_top, descending, at = True, MOST[context.at(at)], at + 1
        for nodes in context.nodes(at):
            best = nodes.value.best
            if best is not None:
                if amount is not None:
                    ranked = replace(nodes.value, best=replace(best, first=first))
                    yield Parse(nodes.last, ExactQuery("list", ranked), nodes.cost + cost - 0.05)
                continue
            by = context.starts(nodes.last, *_RANKED_BY) or (nodes.last if is_top and amount is not None else None)
            if by is None or (amount is None and not is_top):
                continue
            for measure in self._clauses.measures(by, nodes.value):
                ranked = replace(nodes.value, best=Best(measure.value, descending, first))
                yield Parse(measure.last, ExactQuery("list", ranked), nodes.cost + measure.cost + cost)

    def _left_out(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `apart from X, which beers are Y`."""
        for start in ends(self._context, begin, _LEAVING_OUT):
            for left in [*self._context.nodes(start), *self._several(start)]:
                if not left.value.conditions:
                    continue
                those = self._context.at(self._context.skip(start, ("for", "the"))) in ("those", "ones")
                for whole in self._unranked(left.last):
                    without = self._without(whole.value.nodes, left.value, are_those=those)
                    if without is not None:
                        query = replace(whole.value, nodes=without)
                        yield Parse(whole.last, query, left.cost + whole.cost)

    def _without(self, nodes: NodeSet, left: NodeSet, *, are_those: bool) -> NodeSet | None:
        """Return a set less others: less these themselves, or less `those of` them; None where neither can be."""
        rows = left.named
        is_alike = bool(self._relations.types_of(left) & self._relations.types_of(nodes))
        if is_alike and not (rows and are_those):
            denied: Condition = Among(rows, negated=True) if rows else Either((left.conditions,), negated=True)
            return nodes.that(denied)
        relation = next(self._relations.unnamed(nodes, "", left), None) if rows else None
        if relation is None:
            return None
        return relation.nodes.that(Joined(relation.kinds, relation.target, negated=True))

    def _placed(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `in Ardony, which harbour is the oldest`: what is said of the nodes stands before the question."""
        context = self._context
        if context.at(begin) not in ("in", "at", "by", "from"):
            return
        for border in range(begin + 2, min(context.end, begin + _LONGEST_PLACE)):
            if not context.reading.words[border].after_comma:
                continue
            for whole in self._context.queries(border):
                if whole.value.form not in ("list", "count") or whole.value.nodes.named:
                    continue
                for placed in context.modifiers(begin, whole.value.nodes):
                    if placed.last == border:
                        yield Parse(whole.last, replace(whole.value, nodes=placed.value), whole.cost + placed.cost)

    def _several(self, place: int) -> Iterator[Parse[NodeSet]]:
        """Yield the nodes of `X and Y`."""
        for objects in self._clauses.objects(place):
            members = [member.nodes.named for member in objects.value.members]
            if len(members) > 1 and all(members):
                rows = tuple(sorted({row for named in members for row in named}))
                yield Parse(objects.last, NodeSet(conditions=(Among(rows),)), objects.cost)

    def _unranked(self, place: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the questions for nodes or their number without a superlative."""
        for whole in self._context.queries(place):
            if whole.value.nodes.best is None and whole.value.form in ("list", "count"):
                yield whole

    def _who(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `who brews X`, `by whom is X brewed`: no kind is named."""
        asked = self._context.starts(begin, *_WHO)
        if asked is None:
            return
        is_kind = any(head.value.types and not head.value.named for head in self._phrases.heads(asked))
        if self._context.at(asked - 1) in ("which", "what") and is_kind:
            return  # "which captains live" asks for captains, and not for where they do
        people = self._phrases.who() if self._context.at(asked - 1) in ("who", "whom") else frozenset()
        asked = self._context.starts(asked, "else") or asked
        kinds = [people, frozenset[int]()] if people else [people]
        for types in kinds:  # who owns a ship may be a company, where no people own any
            is_read = False
            for nodes in self._clauses.described(Parse(asked, NodeSet(types), 0.1)):
                if people and not types and not self._are_doers(nodes.value):
                    continue
                if nodes.value.conditions or nodes.value.best is not None:
                    is_read = is_read or self._context.is_over(nodes.last)
                    yield Parse(nodes.last, ExactQuery("list", nodes.value), nodes.cost)
            if is_read:
                return

    def _are_doers(self, nodes: NodeSet) -> bool:
        """Tell whether nodes do what is said of them: whoever built X is nothing that is `built_from` X."""
        joined = [condition for condition in nodes.conditions if isinstance(condition, Joined)]
        return all(self._relations.labels.is_doer(kind) for condition in joined for kind in condition.kinds)

    def _whose(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `whose supervisor is X`: no kind is named, of which that is said."""
        if self._context.at(begin) == "whose":
            for nodes in self._clauses.modifiers(begin, NodeSet()):
                if nodes.value.conditions and nodes.value.types:
                    yield Parse(nodes.last, ExactQuery("list", nodes.value), nodes.cost + 0.05)

    def _aside(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `X aside, how many beers are Y`."""
        for left in self._context.nodes(begin):
            end = self._context.starts(left.last, *_ASIDE)
            if end is None or not left.value.named:
                continue
            for whole in self._unranked(end):
                for relation in self._relations.unnamed(whole.value.nodes, "", left.value):
                    denied = Joined(relation.kinds, relation.target, negated=True)
                    query = replace(whole.value, nodes=relation.nodes.that(denied))
                    yield Parse(whole.last, query, left.cost + whole.cost)

    def _referents(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `which ones`, `name them`, behind a sentence that spoke of them."""
        which = self._context.starts(begin, *_THEM)
        if which is not None and self._context.is_over(which):
            for referent in self._context.referents:
                if not referent.named:
                    yield Parse(which, ExactQuery("list", referent), 0.1)
