"""Which edges a relation in words means: by the types at its ends, its label, its preposition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.reading.lexicon import Lexicon
from orienteer.reading.query import Among, Condition, Joined, Measure, NodeSet, linking_kinds
from orienteer.reading.units import LIGHT_FIT, SYNONYM, ConverseEdges, EdgeUnit, KindVerb
from orienteer.reading.vocabulary import ENGLISH, WORDS, SchemaHop, SchemaWords
from orienteer.remembered import cached_method
from orienteer.text import english

# ========================================================================================================== edge labels
# What the labels of edge types say: who does what, parts that somebody plays, and where things are.

SAME_WORD = 0.65
"""A fit above is of the word itself; below are synonyms, and words that only begin alike."""
_LONGEST_ENDING = 5  # letters of the ending of a noun for a doer: `direct-ors`
_MOST_KINDS = 1_024  # of edges, of which is remembered what their labels say


class Voice(Enum):
    """How a relation is said of the nodes that are described."""

    SUBJECT = "they do it"
    PASSIVE = "it is done to them, by others"
    OBJECT = "others do it, and they are what it is done to"
    PASSIVE_OBJECT = "others have it done by them"
    NOUN_OF = "they are the NOUN of others"
    HAS_NOUN = "others are their NOUN"


def _is_of_agent(word: str) -> bool:
    """Return whether a noun ends as those for doers do: `students`, and not `treatments`."""
    return word.endswith(ENGLISH.phrases["endings of agents"]) and not word.endswith(("ment", "ments"))


class EdgeLabels:
    """Tells what the edge types of one graph say, by what they are called. Safe to share among threads."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon, self._vocabulary = lexicon, lexicon.vocabulary
        self._symmetric = frozenset(map(self._vocabulary.stem, WORDS["symmetric"]))

    def words(self, edges: Iterable[int]) -> set[str]:
        """Return the words that edge types are called by."""
        return {word for edge in edges for label in self._vocabulary.edge_labels[edge] for word in label.words}

    def of(self, kinds: Iterable[int]) -> set[str]:
        """Return what the edges of some kinds are called."""
        return self.called({kind >> 1 for kind in kinds})

    def called(self, edges: Iterable[int]) -> set[str]:
        """Return what edge types are called."""
        types, schema = self._lexicon.graph.arrays.types, self._lexicon.graph.schema
        return {schema.label(types.edges[edge]) for edge in edges}

    def is_called_as(self, edge: int, types: Iterable[int]) -> bool:
        """Return whether an edge type is called as one of these node types is: `department`."""
        called = {label.words for kind in types for label in self._vocabulary.node_labels[kind]}
        return any(label.words in called for label in self._vocabulary.edge_labels[edge])

    def is_making(self, edge: int, types: Iterable[int]) -> bool:
        """Return whether an edge type says what makes one of these node types what it is called: authors `wrote`."""
        makers = {label.words[-1] for kind in types for label in self._vocabulary.node_labels[kind]} & WORDS["makers"]
        words = self.words([edge])
        return any(
            not makers.isdisjoint(group) and not words.isdisjoint(group) for group in ENGLISH.groups["relations"]
        )

    def are_called_makers(self, types: Iterable[int]) -> bool:
        """Return whether all of these node types are called as who makes things: `artist`."""
        labels = (self._vocabulary.node_labels[kind] for kind in types)
        return all(any(label.words[-1] in WORDS["makers"] for label in own) for own in labels)

    @cached_method(_MOST_KINDS)
    def is_neutral(self, edge: int) -> bool:
        """Return whether an edge type is called by a noun, or by having and belonging, and by no verb of its own."""
        for label in self._vocabulary.edge_labels[edge]:
            first, last = label.words[0], label.words[-1]
            is_verb = first.endswith(("ed", "en", "ing")) or first in ENGLISH.verb_of
            is_third = first.endswith("s") and not first.endswith(("ss", "ments", "tions", "ships", "us"))
            if first in WORDS["neutral"] or not (
                is_verb or is_third or last in english.STOP or first in WORDS["bare verbs"]
            ):
                return True
        return False

    def is_doer(self, kind: int) -> bool:
        """Return whether somebody at this end of edges does what their label says: of `owned_by` the owner, of `owns`.

        A picture `depicts` something, and is nobody; what is `built_from` something built nothing.
        """
        if "by" in self.words([kind >> 1]) or self.is_role(kind >> 1):
            return bool(kind & 1)
        ends = {source for source, hops in enumerate(self._vocabulary.hops) for hop in hops if hop.kind == kind}
        called = {word for end in ends for label in self._vocabulary.node_labels[end] for word in label.words}
        is_active = not kind & 1 and self.words([kind >> 1]).isdisjoint(english.STOP)
        return is_active and not called.isdisjoint(WORDS["organisations"])

    def are_makers(self, kinds: Iterable[int]) -> bool:
        """Return whether edges lead to or from whoever made things: an `artist` need not have them."""
        return not self.words(kind >> 1 for kind in kinds).isdisjoint(WORDS["makers"])

    @cached_method(_MOST_KINDS)
    def is_role(self, edge: int) -> bool:
        """Return whether an edge type is called by the part that its target plays: `manager`, `project_lead`."""
        for label in self._vocabulary.edge_labels[edge]:
            word = label.words[-1] if label.words else ""
            if word in WORDS["roles"] or (
                word.endswith(ENGLISH.phrases["endings of roles"])
                and not word.endswith("ment")
                and word not in WORDS["no roles"]
            ):
                return True
        return False

    def is_of_kinds(self, edge: int) -> bool:
        """Return whether edges lead from a kind to the wider one that it is of: `is_a`."""
        return is_of_kinds(self._vocabulary, edge)

    def says_of(self, edge: int) -> bool:
        """Tell whether edges lead from what is the NOUN of something: `pupil_of`, `assistant_to`, not `next_of_kin`."""
        for label in self._vocabulary.edge_labels[edge]:
            first, last = label.words[0], label.words[-1]
            if last == "of" or (last == "to" and first.endswith(("ant", "ent", "er", "or"))):
                return True
            if "of" in label.words and first in ("member", "part", "kind", "type", "instance"):
                return True
        return self.is_of_kinds(edge)

    def names_role(self, unit: EdgeUnit, word: str) -> bool:
        """Return whether words are what edge types are called by, and these by the part that their targets play."""
        if self.words(unit.edges).isdisjoint((word, word.removesuffix("s"))):
            return False  # "manages" is no manager
        return all(self.is_role(edge) for edge, fit in unit.edges.items() if fit > SAME_WORD) and (unit.fit > SAME_WORD)

    def is_agent(self, unit: EdgeUnit, word: str) -> bool:
        """Return whether words are a noun for whoever does it, and no verb: `students`, and not `discovers`."""
        if not _is_of_agent(word) or word in ENGLISH.verb_of:  # who went is no agent
            return False
        stem = self._vocabulary.stem(word)
        labels = [label for edge in unit.edges for label in self._vocabulary.edge_labels[edge]]
        return all(stem not in label.stems and word not in label.words for label in labels)

    def is_of_doers(self, unit: EdgeUnit, word: str) -> bool:
        """Return whether a noun is of whoever does what edges say, and not what they are called by."""
        label_words = self.words(unit.edges)
        is_own = word in label_words or word.removesuffix("s") in label_words  # "parents" of `parent` do not parent
        return not is_own and _is_of_agent(word) and not word.endswith(("parent", "parents"))

    def is_own_noun(self, unit: EdgeUnit, word: str) -> bool:
        """Tell whether a noun is made of a label's word, or says the same: a goalkeeper is nobody who scores goals."""
        if unit.fit in (SYNONYM, 1.0):
            return True
        stems = {stem for edge in unit.edges for label in self._vocabulary.edge_labels[edge] for stem in label.stems}
        return any(word.startswith(stem) and len(word) - len(stem) <= _LONGEST_ENDING for stem in stems)

    def are_events(self, kinds: Iterable[int], noun: str) -> bool:
        """Return whether a noun is what edges are called, and calls neither people nor any type of nodes."""
        every = range(len(self._vocabulary.node_labels))
        singular = noun.removesuffix("s")
        is_agent = singular.endswith(ENGLISH.phrases["endings of agents"])
        if singular in WORDS["people"] or (is_agent and not singular.endswith(ENGLISH.phrases["endings of events"])):
            return False
        return all(
            not self.is_called_as(kind >> 1, every)
            and any(label.words[-1].removesuffix("s") == singular for label in self._vocabulary.edge_labels[kind >> 1])
            for kind in kinds
        )

    def is_hinted(self, edge: int, preposition: str) -> bool:
        """Return whether a preposition may say an edge type: `in` may say `located_in`, and `from` `brewed_by`."""
        words, hints = self.words([edge]), ENGLISH.hints.get(preposition, frozenset())
        if preposition in words or (preposition in WORDS["before roles"] and self.is_role(edge)):
            return True
        return any(word.startswith(hint) for word in words for hint in hints if len(hint) > 2)

    def is_passive(self, hop: SchemaHop) -> bool:
        """Return whether a label has a preposition: telescopes observe what is `observed_with` them."""
        return not english.STOP.isdisjoint(self.words([hop.kind >> 1]))

    def is_done_by(self, hop: SchemaHop) -> bool:
        """Return whether a label says by whom something is done: heroes are `wounded_by` dragons, and wound none."""
        return "by" in self.words([hop.kind >> 1])

    def is_symmetric(self, hop: SchemaHop) -> bool:
        """Return whether edges say the same both ways: by the schema, or by their verb, `resembles`."""
        stems = {stem for label in self._vocabulary.edge_labels[hop.kind >> 1] for stem in label.stems}
        return self._vocabulary.is_symmetric(hop.kind) or bool(stems & self._symmetric)

    def is_against(self, edge: int, frame: Voice) -> bool:
        """Return whether the nodes that are described are the targets of these edges."""
        words = self.words([edge])
        says_by, says_of = "by" in words or self.is_role(edge), self.says_of(edge)
        if frame is Voice.NOUN_OF:
            return not says_of
        if frame is Voice.HAS_NOUN:
            return says_of
        is_active = frame in (Voice.SUBJECT, Voice.PASSIVE_OBJECT)
        return is_active == says_by


def is_of_kinds(vocabulary: SchemaWords, edge: int) -> bool:
    """Return whether edges of a type lead from a kind to the wider one that it is of: `is_a`."""
    return any(" ".join(label.words) in ENGLISH.phrases["is a kind of"] for label in vocabulary.edge_labels[edge])


# ============================================================================================================ relations
# Which edges a relation in words means: by the types at its ends, its label, its preposition, and who does it.

_NEAR = 0.05  # edge types this near to the best fit are meant as well
_SURE = 0.6  # below: a part of a label
_UNNAMED = 0.3  # cost of a relation that no word names
_OVER_OTHERS = 0.15  # cost of each kind between two that no edge joins
_SAMPLED = 20  # nodes of a type that tell whether it has names
_MOST_BETWEEN = 2  # kinds between two
_MOST_WAYS = 2_000
_ROLE = 0.15  # cost of a kind that is told by what its things do
_MOST_KINDS_OF_EDGES = 1_024  # of edges, of which is remembered whether nodes have one neighbour at most
_OPEN = frozenset(["", "of", "with", "by"])
"""Prepositions that may say any edge; a picture that depicts a city is not *in* it, nor is one *for* it."""


_CONVERSE = {
    Voice.SUBJECT: Voice.OBJECT,
    Voice.OBJECT: Voice.SUBJECT,
    Voice.PASSIVE: Voice.PASSIVE_OBJECT,
    Voice.PASSIVE_OBJECT: Voice.PASSIVE,
    Voice.NOUN_OF: Voice.HAS_NOUN,
    Voice.HAS_NOUN: Voice.NOUN_OF,
}
"""How the same is said by a verb of the other end: who teaches others is who they study under."""


class Relation(NamedTuple):
    """Edges between nodes that are described and others, with both sets cut down to the types that they join."""

    nodes: NodeSet
    kinds: tuple[int, ...]
    target: NodeSet
    cost: float

    @property
    def joined(self) -> NodeSet:
        """Return the nodes that an edge joins to one of the others."""
        return self.nodes.that(Joined(self.kinds, self.target))

    @property
    def measure(self) -> Measure:
        """Return the number of others that edges join a node to."""
        return Measure(kinds=self.kinds, target=self.target)


class SchemaRelations:
    """Finds the edges that words mean, between sets of nodes."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon, self._vocabulary = lexicon, lexicon.vocabulary
        self._node_types = lexicon.graph.arrays.node_types
        self.labels = EdgeLabels(lexicon)
        """What the edge types say."""
        self._all = frozenset(range(len(self._vocabulary.hops)))
        self.any_kinds = linking_kinds(lexicon.graph)
        """The kinds of all edges, from either end, that lead to things and not to mere values."""

    def types_of(self, nodes: NodeSet) -> frozenset[int]:
        """Return the types that nodes of a set may have."""
        rows = nodes.named
        if rows:
            own = frozenset(int(self._node_types[row]) for row in rows)
            return own & nodes.types if nodes.types else own
        return nodes.types or self._all

    def is_single(self, kinds: tuple[int, ...]) -> bool:
        """Return whether no node has two neighbours by edges of these kinds: nothing is in two of such."""
        return all(map(self._is_single, kinds))

    @cached_method(_MOST_KINDS_OF_EDGES)
    def _is_single(self, kind: int) -> bool:
        is_same, is_parallel = self._repeated(kind)
        return not (is_same & ~is_parallel).any()

    def _repeated(self, kind: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Mark the edges that are of the node before, and those that lead to the same one as well: (edges - 1,) each.

        A node's edges stand together: where it has two neighbours, two of them stand side by side.
        """
        owner, neighbor = self._lexicon.graph.arrays.adjacency.of_kind(kind)
        is_same = owner[1:] == owner[:-1]
        return is_same, is_same & (neighbor[1:] == neighbor[:-1])

    def are_rows(self, kinds: tuple[int, ...], noun: str) -> bool:
        """Return whether a noun counts edges, of which several join two nodes: goals are, and members are people."""
        return self.labels.are_events(kinds, noun) and any(map(self._are_rows, kinds))

    @cached_method(_MOST_KINDS_OF_EDGES)
    def _are_rows(self, kind: int) -> bool:
        return bool(self._repeated(kind)[1].any())

    def able(self, nodes: NodeSet, measure: Measure) -> NodeSet:
        """Return those named nodes of which a measure can be taken."""
        if measure.property is not None:
            return self._cut(nodes, self._lexicon.properties[measure.property].types)
        kinds = set(measure.kinds)
        types = frozenset(
            source for source, hops in enumerate(self._vocabulary.hops) if any(hop.kind in kinds for hop in hops)
        )
        return self._cut(nodes, types)

    def named(
        self, nodes: NodeSet, edges: Mapping[int, float], frame: Voice, target: NodeSet, *, is_strict: bool = False
    ) -> Iterator[Relation]:
        """Yield the relation that is named by edge types; where it `is_strict`, only as who does it to whom."""
        hops = [(source, hop) for source, hop in self._between(nodes, target) if hop.kind >> 1 in edges]
        if not hops:
            yield from self._over_others(nodes, target, edges)
        if hops and isinstance(edges, KindVerb):  # of what stands for a verb no other edge says so, but for its doer
            is_deed = self.types_of(target) <= edges.deeds  # "who was transferred in transfer 512"
            if is_deed or (frame is Voice.OBJECT and self.types_of(target) <= edges.types - edges.deeds):
                yield from self._any(nodes, hops, frame, target)
            return
        if not hops:
            return
        yield from self._of_hops(nodes, hops, edges, frame, target, is_strict=is_strict)

    def _of_hops(
        self,
        nodes: NodeSet,
        hops: list[tuple[int, SchemaHop]],
        edges: Mapping[int, float],
        frame: Voice,
        target: NodeSet,
        *,
        is_strict: bool,
    ) -> Iterator[Relation]:
        """Yield the relation that some hops are, of all those that edge types name."""
        if isinstance(edges, ConverseEdges):
            frame = _CONVERSE[frame]
        top = max(edges[hop.kind >> 1] for _, hop in hops)
        if top <= LIGHT_FIT:
            yield from self._any(nodes, hops, frame, target)
            return
        hops = [(source, hop) for source, hop in hops if not self._is_givers(hop, edges, frame)]
        if not hops:
            return
        top = max(edges[hop.kind >> 1] for _, hop in hops)
        chosen = [(source, hop) for source, hop in hops if edges[hop.kind >> 1] >= top - _NEAR]
        if top < _SURE and len(self.labels.called({hop.kind >> 1 for _, hop in chosen})) > 1:
            return  # a word of two labels names neither: `parts`, of part meronym and part holonym
        if isinstance(edges, ConverseEdges):
            chosen = [(source, hop) for source, hop in chosen if self._is_so_directed(hop, frame)]
        elif is_strict:  # a synonym may turn it, but no part that somebody plays: who employs is worked for
            chosen = [
                (source, hop)
                for source, hop in chosen
                if (self.labels.is_passive(hop) and not (top > SAME_WORD and self.labels.is_done_by(hop)))
                or (top <= SAME_WORD and not self.labels.is_role(hop.kind >> 1))
                or self._is_so_directed(hop, frame)
            ]
        if chosen:
            yield self._relation(nodes, self._directed(chosen, frame), target, 0.4 * (1 - top))

    def _any(
        self, nodes: NodeSet, hops: Collection[tuple[int, SchemaHop]], frame: Voice, target: NodeSet
    ) -> Iterator[Relation]:
        """Yield the only relation between two kinds of things, of which a verb says nothing more, nor its label.

        Who "works in" a city is not `born_in` it, and of several kinds of people nobody tells which work.
        """
        others = [(source, hop) for source, hop in hops if hop.target != source]
        if len(nodes.types) != 1 and any(hop.target == source for source, hop in self._between(nodes, target)):
            return  # who works for an employee may be an employee, too
        hops = self._plain(others)
        if self.labels.are_makers([hop.kind for _, hop in hops]):
            return
        labels = self.labels
        is_told = len({source for source, _ in hops}) == 1 and all(
            labels.is_neutral(hop.kind >> 1)
            and (not labels.is_role(hop.kind >> 1) or labels.is_called_as(hop.kind >> 1, (source, hop.target)))
            for source, hop in hops
        )
        if is_told and len(self.labels.called({hop.kind >> 1 for _, hop in hops})) == 1:
            yield self._relation(nodes, self._directed(hops, frame), target, _UNNAMED)

    def _plain(self, hops: Collection[tuple[int, SchemaHop]]) -> Collection[tuple[int, SchemaHop]]:
        """Return the hops by edges that are called as the things at an end are; else those that tell of no role.

        The players of a club are in it by `club`, and need not be its `captain`; its head is in a department, too. The
        papers of an author are those that the author `wrote`, and not what the author `reviewed`.
        """
        own = [(source, hop) for source, hop in hops if self.labels.is_called_as(hop.kind >> 1, (source, hop.target))]
        made = [(source, hop) for source, hop in hops if self.labels.is_making(hop.kind >> 1, (source, hop.target))]
        plain = [(source, hop) for source, hop in hops if not self.labels.is_role(hop.kind >> 1)]
        return own or made or plain or hops

    def _is_givers(self, hop: SchemaHop, edges: Mapping[int, float], frame: Voice) -> bool:
        """Return whether edges lead to whom something goes, where whoever gives it is asked for: "who sold X"."""
        labels = self._vocabulary.edge_labels[hop.kind >> 1]
        if edges[hop.kind >> 1] <= SAME_WORD or not any(len(x.words) > 1 and x.words[-1] == "to" for x in labels):
            return False
        is_done = any(x.words[0].endswith("ed") or x.words[0] in ENGLISH.verb_of for x in labels)
        is_receiver = (frame is Voice.SUBJECT and hop.kind & 1) or (frame is Voice.OBJECT and not hop.kind & 1)
        return is_done and bool(is_receiver)

    def of_noun(self, unit: EdgeUnit, word: str, owner: NodeSet) -> Iterator[Relation]:
        """Yield the relation of `hyponyms of X`, where they are X's, and of `students of X`, where they do it to X."""
        if unit.fit <= LIGHT_FIT:
            return  # "the works of X" are no verb
        label_words = self.labels.words(unit.edges)
        if word in label_words and label_words & WORDS["verbal"]:
            return  # "reports" of somebody are not whom they report to
        if isinstance(unit.edges, ConverseEdges):
            own = [edge for edge in unit.edges if self._joins_alike(edge, owner)]
            unit = unit.cut(own or unit.edges)  # reports of somebody are no wards, though a ward has a head
        if not self.labels.is_of_doers(unit, word):
            yield from self.named(NodeSet(), unit.edges, Voice.NOUN_OF, owner)
            return
        yield from self._of_doers(NodeSet(), unit, Voice.SUBJECT, owner)

    def _joins_alike(self, edge: int, owner: NodeSet) -> bool:
        """Return whether edges of a type join nodes of the types of an owner to one another."""
        hops = self._between(NodeSet(), owner)
        return any(hop.kind >> 1 == edge and hop.target == source for source, hop in hops)

    def having(self, nodes: NodeSet, unit: EdgeUnit, word: str, target: NodeSet) -> Iterator[Relation]:
        """Yield the relation of those who have a NOUN: who has a `manager` has it, and who has a mentor is mentored."""
        if unit.fit > LIGHT_FIT and self.labels.is_of_doers(unit, word):
            yield from self._of_doers(nodes, unit, Voice.OBJECT, target)
        else:
            yield from self.named(nodes, unit.edges, Voice.HAS_NOUN, target)

    def _of_doers(self, nodes: NodeSet, unit: EdgeUnit, frame: Voice, target: NodeSet) -> Iterator[Relation]:
        """Yield the relation between those who do what edges say and what they do it to, said of one of them."""
        # whoever does it is not where it is done: an inventor is of `designed_by`, and not of `developed_at`
        edges = [edge for edge in unit.edges if "from" not in self.labels.words([edge])]
        if not edges:
            return  # nobody is the author of what is `built_from` something
        doing = [edge for edge in edges if self.labels.words([edge]).isdisjoint(WORDS["scenes"])]
        meant = _CONVERSE[frame] if isinstance(unit.edges, ConverseEdges) else frame
        for kept in (doing, edges):
            relations = [
                relation
                for relation in self.named(nodes, unit.cut(kept).edges, frame, target)
                if all(bool(kind & 1) == self.labels.is_against(kind >> 1, meant) for kind in relation.kinds)
            ]
            yield from relations
            if relations:
                return

    def unnamed(
        self, nodes: NodeSet, preposition: str, target: NodeSet, frame: Voice = Voice.SUBJECT
    ) -> Iterator[Relation]:
        """Yield the relation that no word names: the only one between the types, or the one that a preposition says."""
        # of two things of one kind nobody tells what joins them, unless a word does
        hops = [(source, hop) for source, hop in self._between(nodes, target) if hop.target != source]
        if not hops:
            is_made = preposition == "by" and self.labels.are_called_makers(self.types_of(target))
            if preposition in ("", "of", "with") or preposition in WORDS["within"] or is_made:
                yield from self._over_others(nodes, target, is_within=preposition in WORDS["within"])
            return
        if preposition in WORDS["within"]:  # where things were made, they need not be
            hops = [one for one in hops if self.labels.words([one[1].kind >> 1]).isdisjoint(WORDS["ages"])]
        edges = {hop.kind >> 1 for _, hop in hops}
        hinted = {edge for edge in edges if self.labels.is_hinted(edge, preposition)}
        if preposition == "by" and not hinted:
            hinted = {h.kind >> 1 for source, h in hops if self.labels.is_making(h.kind >> 1, (source, h.target))}
        if not hinted and self._says_another(nodes, preposition):
            return  # drugs "for epilepsy" do not cause it
        if preposition == "by" or (len(edges) > 1 and preposition and hinted):
            hops = [(source, hop) for source, hop in hops if hop.kind >> 1 in hinted]
        plain = self._plain(hops)
        if preposition not in _OPEN:
            hops = [(source, hop) for source, hop in hops if self._may_be_said(hop, preposition, hinted, frame)]
        # who is "in" a club need not be its `captain`, where another edge leads there
        hops = [one for one in hops if one in plain or one[1].kind >> 1 in hinted] if len(edges) > 1 else hops
        hops = list(self._plain(hops))
        edges = {hop.kind >> 1 for _, hop in hops}
        own = {kind for kinds in map(_role_of, nodes.conditions) for kind in kinds}
        # "directors with more than two films": those that they directed; the author "of" a hill has written none
        if len(self.labels.called(edges)) > 1 or (own and preposition == "of"):
            hops = [(source, hop) for source, hop in hops if hop.kind in own]
            edges = {hop.kind >> 1 for _, hop in hops}
        if len(self.labels.called(edges)) == 1:
            yield self._relation(nodes, self._directed(hops, frame), target, _UNNAMED)

    def _over_others(
        self, nodes: NodeSet, target: NodeSet, edges: Mapping[int, float] | None = None, *, is_within: bool = False
    ) -> Iterator[Relation]:
        """Yield the relation of two kinds that no edge joins, over the only kinds that stand between them.

        The genres of an artist are those of the tracks on the artist's albums. Each step leads to what a thing has one
        of, or back from it; behind the first such step only further to it: two people of one city have nothing else in
        common. What is `within` another lies there step by step. Only a verb that names a kind between them leads over
        edges of several to several: who ordered a thing has an order with it, while "peaks in X" are not those that
        people from there have climbed.
        """
        if not nodes.types or nodes.types == self._all or nodes.named or nodes.types & self.types_of(target):
            return
        if not isinstance(edges, KindVerb) and any(
            hop.target != source for source, hop in self._between(nodes, target)
        ):
            return  # what an edge joins no other kind joins
        ways = self._ways(nodes.types, self.types_of(target))
        if len(ways) != 1:
            return
        ups = [self._is_up(steps) for steps in ways[0]]
        if isinstance(edges, KindVerb):
            is_said = any(edges.types & {source, hop.target} for steps in ways[0] for source, hop in steps)
        else:  # a verb that says something says it of the first step
            said = {edge for edge, fit in (edges or {}).items() if fit > LIGHT_FIT}
            is_said = None not in ups and (not said or all(hop.kind >> 1 in said for _, hop in ways[0][0]))
        if not is_said or (is_within and not all(ups) and not self._is_over_rows(ways[0])):
            return
        for hops in reversed(ways[0][1:]):
            relation = self._relation(NodeSet(frozenset(source for source, _ in hops)), hops, target, 0.0)
            target = replace(relation.joined, is_between=True)
        first = ways[0][0]
        yield self._relation(nodes, first, target, _UNNAMED + _OVER_OTHERS * (len(ways[0]) - 1))

    def _ways(self, sources: frozenset[int], targets: frozenset[int]) -> list[tuple[list[tuple[int, SchemaHop]], ...]]:
        """Return the shortest ways over other kinds, each as the hops of its steps."""
        fronts: list[tuple[int, ...]] = [(source,) for source in sources]
        for _ in range(_MOST_BETWEEN + 1):
            fronts = [
                (*way, target)
                for way in fronts
                for target in {hop.target for hop in self._vocabulary.hops[way[-1]]}
                if target not in way
            ]
            if len(fronts) > _MOST_WAYS:
                return []
            found = [
                steps
                for way in fronts
                if way[-1] in targets and len(way) > 2 and (steps := self._steps(way)) is not None
            ]
            if found:
                return found
        return []

    @cached_method(_MOST_KINDS_OF_EDGES)
    def lead(self, source: int, target: int) -> bool:
        """Return whether an edge joins nodes of two types, or a way of what each thing has one of."""
        if any(hop.target == target for hop in self._vocabulary.hops[source]):
            return True
        ways = self._ways(frozenset([source]), frozenset([target]))
        return any(all(self._is_up(step) is not None for step in way) for way in ways)

    def _is_over_rows(self, way: Sequence[Collection[tuple[int, SchemaHop]]]) -> bool:
        """Return whether a way leads over the rows of one table that have no name: plants in a bed, over plantings."""
        between = {hop.target for _, hop in way[0]}
        return len(way) == 2 and all(map(self.is_nameless, between))

    @cached_method(_MOST_KINDS_OF_EDGES)
    def is_nameless(self, kind: int) -> bool:
        """Return whether nodes of a type are called by their ids alone, which have figures in them."""
        rows = np.flatnonzero(self._node_types == kind)[:_SAMPLED].tolist()
        arrays = self._lexicon.graph.arrays
        names = [arrays.names[row] for row in rows if arrays.ids[row].endswith(arrays.names[row])]
        return len(names) == len(rows) and all(any(map(str.isdigit, name)) for name in names)

    def _is_up(self, steps: Collection[tuple[int, SchemaHop]]) -> bool | None:
        """Return whether a step leads to what a thing has one of; False if it leads back, None if neither."""
        kinds = tuple(sorted({hop.kind for _, hop in steps}))
        if self.is_single(kinds):
            return True
        return False if self.is_single(tuple(kind ^ 1 for kind in kinds)) else None

    def _steps(self, way: tuple[int, ...]) -> tuple[list[tuple[int, SchemaHop]], ...] | None:
        """Return the hops between kinds one after the other; None where several edges may be meant, or it turns."""
        steps, is_up = [], False
        for source, target in pairwise(way):
            hops = list(self._plain([(source, hop) for hop in self._vocabulary.hops[source] if hop.target == target]))
            kinds = tuple(sorted({hop.kind for _, hop in hops}))
            back = tuple(kind ^ 1 for kind in kinds)
            if len(self.labels.of(kinds)) != 1 or (is_up and (not self.is_single(kinds) or self.is_single(back))):
                return None
            is_up = self.is_single(kinds)
            steps.append(hops)
        return tuple(steps)

    def doers(self, unit: EdgeUnit, word: str) -> Iterator[Relation]:
        """Yield whoever does something, to anything: `directors` of `directed_by`, `actors` of `acted_in`."""
        is_noun = self.labels.is_agent(unit, word) or self.labels.names_role(unit, word)
        every = range(len(self._vocabulary.node_labels))
        if unit.fit <= LIGHT_FIT or not is_noun or any(self.labels.is_called_as(edge, every) for edge in unit.edges):
            return  # of a `track` nobody is a tracker
        if not self.labels.is_own_noun(unit, word):
            return
        frame = Voice.NOUN_OF if self.labels.names_role(unit, word) else Voice.SUBJECT
        meant = _CONVERSE[frame] if isinstance(unit.edges, ConverseEdges) else frame
        for relation in self.named(NodeSet(), unit.edges, frame, NodeSet()):
            kinds = tuple(kind for kind in relation.kinds if bool(kind & 1) == self.labels.is_against(kind >> 1, meant))
            hops = [
                (source, hop) for source, own in enumerate(self._vocabulary.hops) for hop in own if hop.kind in kinds
            ]
            if hops and len(self.labels.called({hop.kind >> 1 for _, hop in hops})) == 1:
                yield self._relation(NodeSet(), hops, NodeSet(), relation.cost + _ROLE)

    def ambiguous(self, nodes: NodeSet, target: NodeSet) -> list[str]:
        """Return the labels of the edge types that join two sets, where there are several."""
        labels = self.labels.called({hop.kind >> 1 for _, hop in self._between(nodes, target)})
        return sorted(labels) if len(labels) > 1 else []

    def _may_be_said(self, hop: SchemaHop, preposition: str, hinted: Collection[int], frame: Voice) -> bool:
        """Tell whether a preposition alone may say an edge; where things are it says of the thing, not of the place."""
        words = self.labels.words([hop.kind >> 1])
        if preposition in WORDS["placing"] and not words.isdisjoint(WORDS["saying places"]):
            is_of_place = frame is Voice.OBJECT  # "in which region is X" describes the place
            return bool(hop.kind & 1) == (words.isdisjoint(WORDS["holding"]) == is_of_place)
        return hop.kind >> 1 in hinted or self.labels.is_neutral(hop.kind >> 1)

    def _says_another(self, nodes: NodeSet, preposition: str) -> bool:
        """Return whether a preposition says some edges of nodes, wherever they lead: drugs *for* what they treat."""
        if preposition not in WORDS["choosing"] or not nodes.types or nodes.types == self._all:
            return False
        hops = (hop for source in nodes.types for hop in self._vocabulary.hops[source])
        return any(self.labels.is_hinted(hop.kind >> 1, preposition) for hop in hops)

    def _between(self, nodes: NodeSet, target: NodeSet) -> Iterator[tuple[int, SchemaHop]]:
        targets = self.types_of(target)
        for source in self.types_of(nodes):
            for hop in self._vocabulary.hops[source]:
                if hop.target in targets:
                    yield source, hop

    def _directed(self, hops: Collection[tuple[int, SchemaHop]], frame: Voice) -> list[tuple[int, SchemaHop]]:
        """Return the hops whose direction is the one that is said, where both directions join the types."""
        kinds = {hop.kind for _, hop in hops}
        return [(source, hop) for source, hop in hops if hop.kind ^ 1 not in kinds or self._is_so_directed(hop, frame)]

    def _is_so_directed(self, hop: SchemaHop, frame: Voice) -> bool:
        """Return whether edges lead as it is said, or say the same both ways."""
        return self.labels.is_symmetric(hop) or bool(hop.kind & 1) == self.labels.is_against(hop.kind >> 1, frame)

    def _relation(
        self, nodes: NodeSet, hops: Collection[tuple[int, SchemaHop]], target: NodeSet, cost: float
    ) -> Relation:
        sources = frozenset(source for source, _ in hops)
        targets = frozenset(hop.target for _, hop in hops)
        kinds = tuple(sorted({hop.kind for _, hop in hops}))
        return Relation(self._cut(nodes, sources), kinds, self._cut(target, targets), cost)

    def _cut(self, nodes: NodeSet, types: frozenset[int]) -> NodeSet:
        """Return a set without the types that a relation cannot join."""
        rows = nodes.named
        if rows:
            kept = tuple(row for row in rows if int(self._node_types[row]) in types)
            return replace(nodes, conditions=(Among(kept),))
        if nodes.types:
            return replace(nodes, types=nodes.types & types)
        return nodes if types == self._all else replace(nodes, types=types)


def _role_of(condition: Condition) -> tuple[int, ...]:
    """Return the kinds of edges that make nodes what they are called by: of directors, those to what they directed."""
    is_bare = isinstance(condition, Joined) and not condition.target.conditions and condition.comparison is None
    return condition.kinds if isinstance(condition, Joined) and is_bare and not condition.negated else ()
