"""Which edges a relation in words means: by the types at its ends, its label, its preposition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from orienteer.reading.lexicon import Lexicon
from orienteer.reading.query import Among, Joined, Measure, NodeSet, is_of_anything, linking_kinds
from orienteer.reading.units import LIGHT_FIT, SYNONYM, ConverseEdges, EdgeUnit, KindVerb
from orienteer.reading.vocabulary import ENGLISH, WORDS, SchemaWords, abbreviates
from orienteer.remembered import cached_method
from orienteer.text import english
from orienteer.text.tokenizer import singulars

# ========================================================================================================== edge labels
# What the labels of edge types say: who does what, parts that somebody plays, and where things are.

SAME_WORD = 0.65
"""A fit above is of the word itself; below are synonyms, and words that only begin alike."""
_LONGEST_ENDING = 5  # letters of the ending of a noun for a doer: `direct-ors`
_NAMES_TRIED = 200  # of a type, to see whether its names tell one node from another
_MOST_KINDS = 1_024  # of edges, of which is remembered what their labels say, and how they join nodes


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
        types, schema = self._lexicon.graph.arrays.types, self._lexicon.graph.schema
        return {schema.label(types.edges[edge]) for edge in {kind >> 1 for kind in kinds}}

    def is_called_as(self, edge: int, types: Iterable[int]) -> bool:
        """Return whether an edge type is called as one of these node types is: `department`."""
        called = {label.words for kind in types for label in self._vocabulary.node_labels[kind]}
        return any(label.words in called for label in self._vocabulary.edge_labels[edge])

    def is_called_so(self, edge: int, led_to: Collection[int], others: Collection[int] = ()) -> bool:
        """Return whether an edge type is called as a type that it leads to, or as all it joins: `beer_ingredients`."""
        if self.is_called_as(edge, led_to):
            return True
        labels = (label for kind in (*led_to, *others) for label in self._vocabulary.node_labels[kind])
        called, words = {stem for label in labels for stem in label.stems}, self.words([edge])
        if len(words) == 1 and any(abbreviates(word, stem) for word in words for stem in called):
            return True  # `lief`, of a lieferant
        return {self._vocabulary.stem(word) for word in words} <= called

    def is_one(self, edge: int) -> bool:
        """Return whether an edge type is called by a noun in the singular, for what it leads to: no `assignments`."""
        labels = [label.words for label in self._vocabulary.edge_labels[edge]]
        return all(len(singulars(words[-1])) == 1 and english.STOP.isdisjoint(words) for words in labels)

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
        is_active = not (kind & 1 or self.is_neutral(kind >> 1)) and self.words([kind >> 1]).isdisjoint(english.STOP)
        return is_active and not called.isdisjoint(WORDS["organisations"])

    def are_makers(self, kinds: Iterable[int]) -> bool:
        """Return whether edges lead to or from whoever made things: an `artist` need not have them."""
        return not self.words(kind >> 1 for kind in kinds).isdisjoint(WORDS["makers"])

    @cached_method(_MOST_KINDS)
    def is_role(self, edge: int) -> bool:
        """Return whether an edge type is called by the part that its target plays: `manager`, `project_lead`."""
        words = {label.words[-1] for label in self._vocabulary.edge_labels[edge] if label.words}
        others = {word for word in words if word.endswith("ment")} | WORDS["no roles"]
        return not words.isdisjoint(WORDS["roles"]) or any(
            word.endswith(ENGLISH.phrases["endings of roles"]) for word in words - others
        )

    def says_of(self, edge: int) -> bool:
        """Tell whether edges lead from what is the NOUN of something: `pupil_of`, `assistant_to`, not `next_of_kin`."""
        for label in self._vocabulary.edge_labels[edge]:
            first, last = label.words[0], label.words[-1]
            if last == "of" or (last == "to" and first.endswith(("ant", "ent", "er", "or"))):
                return True
            if "of" in label.words and first in ("member", "part", "kind", "type", "instance"):
                return True
        return is_of_kinds(self._vocabulary, edge)

    def names_role(self, unit: EdgeUnit, word: str) -> bool:
        """Return whether words are what edge types are called by, and these by the part that their targets play."""
        if self.words(unit.edges).isdisjoint((word, word.removesuffix("s"))):
            return False  # "manages" is no manager
        return all(self.is_role(edge) for edge, fit in unit.edges.items() if fit > SAME_WORD) and (unit.fit > SAME_WORD)

    def is_agent(self, unit: EdgeUnit, word: str) -> bool:
        """Return whether words are a noun for whoever does it, and no verb: `students`, and not `discovers`."""
        if not _is_of_agent(word) or word in ENGLISH.verb_of:  # who went is no agent
            return False
        return not any(own.startswith(word.removesuffix("s")) for own in self.words(unit.edges))

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

    def may_turn(self, edge: int, *, is_synonym: bool) -> bool:
        """Return whether edges may be said from either end: telescopes observe what is `observed_with` them.

        Heroes are `wounded_by` dragons, and wound none. A synonym may turn edges, but no part that somebody plays: who
        employs is worked for.
        """
        words = self.words([edge])
        is_passive = not english.STOP.isdisjoint(words)
        return (is_passive or not self.is_role(edge)) if is_synonym else (is_passive and "by" not in words)

    def is_symmetric(self, kind: int) -> bool:
        """Return whether edges say the same both ways: by the schema, or by their verb, `resembles`."""
        stems = {stem for label in self._vocabulary.edge_labels[kind >> 1] for stem in label.stems}
        return self._vocabulary.is_symmetric(kind) or bool(stems & self._symmetric)

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


class _Step(NamedTuple):
    """A hop of the schema, with the type that it leads from."""

    source: int
    kind: int
    target: int

    @property
    def edge(self) -> int:
        """Return the edge type."""
        return self.kind >> 1

    @property
    def ends(self) -> tuple[int, int]:
        """Return the types of both ends."""
        return self.source, self.target


def turned(kinds: Iterable[int]) -> tuple[int, ...]:
    """Return the kinds of the same edges from their other ends."""
    return tuple(sorted(kind ^ 1 for kind in kinds))


_Steps: TypeAlias = Sequence[_Step]


class SchemaRelations:
    """Finds the edges that words mean, between sets of nodes."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon, self._vocabulary = lexicon, lexicon.vocabulary
        self._node_types = lexicon.graph.arrays.node_types
        self.labels = EdgeLabels(lexicon)
        """What the edge types say."""
        self._steps = [[_Step(source, *hop) for hop in hops] for source, hops in enumerate(self._vocabulary.hops)]
        """By type of nodes, the steps that lead from them."""
        self._all = frozenset(range(len(self._steps)))
        self.any_kinds = linking_kinds(lexicon.graph)
        """The kinds of all edges, from either end, that lead to things and not to mere values."""
        kinds = range(2 * len(lexicon.graph.arrays.types.edges))
        self.value_kinds = tuple(kind for kind in kinds if kind not in self.any_kinds)
        """The kinds of the others."""

    def types_of(self, nodes: NodeSet) -> frozenset[int]:
        """Return the types that nodes of a set may have."""
        rows = nodes.named
        if rows:
            own = frozenset(int(self._node_types[row]) for row in rows)
            return own & nodes.types if nodes.types else own
        return nodes.types or self._all

    def is_single(self, kinds: Iterable[int]) -> bool:
        """Return whether no node has two neighbours by edges of these kinds: nothing is in two of such."""
        return not any(self._repeats(kind)[0] for kind in kinds)

    def are_rows(self, kinds: tuple[int, ...], noun: str) -> bool:
        """Return whether a noun counts edges, of which several join two nodes: goals are, and members are people."""
        return self.labels.are_events(kinds, noun) and any(self._repeats(kind)[1] for kind in kinds)

    @cached_method(_MOST_KINDS)
    def _repeats(self, kind: int) -> tuple[bool, bool]:
        """Return whether edges of a kind join some node to two others, and whether two join it to the same one.

        A node's edges stand together: where it has two neighbours, two of them stand side by side.
        """
        owner, neighbor = self._lexicon.graph.arrays.adjacency.of_kind(kind)
        is_same, is_parallel = owner[1:] == owner[:-1], neighbor[1:] == neighbor[:-1]
        return bool((is_same & ~is_parallel).any()), bool((is_same & is_parallel).any())

    def able(self, nodes: NodeSet, measure: Measure) -> NodeSet:
        """Return those named nodes of which a measure can be taken."""
        if measure.property is not None:
            return self.cut(nodes, self._lexicon.properties[measure.property].types)
        return self.cut(
            nodes, frozenset(step.source for steps in self._steps for step in steps if step.kind in measure.kinds)
        )

    def named(
        self, nodes: NodeSet, edges: Mapping[int, float], frame: Voice, target: NodeSet, *, is_strict: bool = False
    ) -> Iterator[Relation]:
        """Yield the relation that is named by edge types; where it `is_strict`, only as who does it to whom."""
        steps = [step for step in self._between(nodes, target) if step.edge in edges]
        if not steps:
            yield from self._over_others(nodes, target, edges)
            return
        if isinstance(edges, KindVerb):  # of what stands for a verb no other edge says so, but for its doer
            is_deed = self.types_of(target) <= edges.deeds  # "who was transferred in transfer 512"
            if is_deed or (frame is Voice.OBJECT and self.types_of(target) <= edges.types - edges.deeds):
                yield from self._any(nodes, steps, frame, target)
            return
        frame = _meant(edges, frame)
        if max(edges[step.edge] for step in steps) <= LIGHT_FIT:
            yield from self._any(nodes, steps, frame, target)
            return
        steps = [step for step in steps if not self._is_givers(step, edges, frame)]
        top = max((edges[step.edge] for step in steps), default=0.0)
        steps = [step for step in steps if edges[step.edge] >= top - _NEAR]
        if top < _SURE and not self._are_called_alike(steps):
            return  # a word of two labels names neither: `parts`, of part meronym and part holonym
        if isinstance(edges, ConverseEdges):
            steps = [step for step in steps if self._is_so_directed(step.kind, frame)]
        elif is_strict:
            steps = [
                step
                for step in steps
                if self.labels.may_turn(step.edge, is_synonym=top <= SAME_WORD)
                or self._is_so_directed(step.kind, frame)
            ]
        if steps:
            yield self._relation(nodes, self._directed(steps, frame), target, 0.4 * (1 - top))

    def _any(self, nodes: NodeSet, steps: _Steps, frame: Voice, target: NodeSet) -> Iterator[Relation]:
        """Yield the only relation between two kinds of things, of which a verb says nothing more, nor its label.

        Who "works in" a city is not `born_in` it, and of several kinds of people nobody tells which work. Who appears
        in a play need not be its `playwright`: a noun must be called as what is at an end, or other words must say it.
        """
        if len(nodes.types) != 1 and any(step.target == step.source for step in self._between(nodes, target)):
            return  # who works for an employee may be an employee, too
        steps, labels = self._plain([step for step in steps if step.target != step.source]), self.labels
        if labels.are_makers(step.kind for step in steps):
            return
        is_told = len({step.source for step in steps}) == 1 and all(
            labels.is_neutral(step.edge) and (labels.is_called_so(step.edge, step.ends) or not labels.is_one(step.edge))
            for step in steps
        )
        if is_told and self._are_called_alike(steps):
            yield self._relation(nodes, self._directed(steps, frame), target, _UNNAMED)

    def _plain(self, steps: _Steps) -> _Steps:
        """Return the steps by edges that are called as the things at an end are; else those that tell of no role.

        The players of a club are in it by `club`, and need not be its `captain`; its head is in a department, too. The
        papers of an author are those that the author `wrote`, and not what the author `reviewed`.
        """
        own = [step for step in steps if self.labels.is_called_as(step.edge, step.ends)]
        made = [step for step in steps if self.labels.is_making(step.edge, step.ends)]
        plain = [step for step in steps if not self.labels.is_role(step.edge)]
        return own or made or plain or steps

    def _is_givers(self, step: _Step, edges: Mapping[int, float], frame: Voice) -> bool:
        """Return whether edges lead to whom something goes, where whoever gives it is asked for: "who sold X"."""
        labels = self._vocabulary.edge_labels[step.edge]
        if edges[step.edge] <= SAME_WORD or not any(len(x.words) > 1 and x.words[-1] == "to" for x in labels):
            return False
        is_done = any(x.words[0].endswith("ed") or x.words[0] in ENGLISH.verb_of for x in labels)
        return is_done and frame is (Voice.SUBJECT if step.kind & 1 else Voice.OBJECT)

    def of_noun(self, unit: EdgeUnit, word: str, owner: NodeSet) -> Iterator[Relation]:
        """Yield the relation of `hyponyms of X`, where they are X's, and of `students of X`, where they do it to X."""
        if unit.fit <= LIGHT_FIT:
            return  # "the works of X" are no verb
        label_words = self.labels.words(unit.edges)
        if word in label_words and label_words & WORDS["verbal"]:
            return  # "reports" of somebody are not whom they report to
        if isinstance(unit.edges, ConverseEdges):
            alike = {step.edge for step in self._between(NodeSet(), owner) if step.target == step.source}
            own = [edge for edge in unit.edges if edge in alike]
            unit = unit.cut(own or unit.edges)  # reports of somebody are no wards, though a ward has a head
        if self.labels.is_of_doers(unit, word):
            yield from self._of_doers(NodeSet(), unit, Voice.SUBJECT, owner)
        else:
            yield from self.named(NodeSet(), unit.edges, Voice.NOUN_OF, owner)

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
        meant = _meant(unit.edges, frame)
        for kept in (doing, edges):
            relations = [
                relation
                for relation in self.named(nodes, unit.cut(kept).edges, frame, target)
                if all(self._is_so_said(kind, meant) for kind in relation.kinds)
            ]
            yield from relations
            if relations:
                return

    def unnamed(
        self, nodes: NodeSet, preposition: str, target: NodeSet, frame: Voice = Voice.SUBJECT
    ) -> Iterator[Relation]:
        """Yield the relation that no word names: the only one between the types, or the one that a preposition says."""
        # of two things of one kind nobody tells what joins them, unless a word does
        steps: _Steps = [step for step in self._between(nodes, target) if step.target != step.source]
        is_within = preposition in WORDS["within"]
        if not steps:
            is_made = preposition == "by" and self.labels.are_called_makers(self.types_of(target))
            if preposition in ("", "of", "with") or is_within or is_made:
                yield from self._over_others(nodes, target, is_within=is_within)
            return
        if is_within:  # where things were made, they need not be
            steps = [step for step in steps if self.labels.words([step.edge]).isdisjoint(WORDS["ages"])]
        edges = {step.edge for step in steps}
        hinted = {edge for edge in edges if self.labels.is_hinted(edge, preposition)}
        if preposition == "by" and not hinted:
            hinted = {step.edge for step in steps if self.labels.is_making(step.edge, step.ends)}
        if not hinted and self._says_another(nodes, preposition):
            return  # drugs "for epilepsy" do not cause it
        if preposition == "by" or (len(edges) > 1 and preposition and hinted):
            steps = [step for step in steps if step.edge in hinted]
        plain = self._plain(steps)
        if preposition not in _OPEN:
            steps = [step for step in steps if self._may_be_said(step, preposition, hinted, frame)]
        # who is "in" a club need not be its `captain`, where another edge leads there
        steps = self._plain([step for step in steps if len(edges) == 1 or step in plain or step.edge in hinted])
        # the edges that make nodes what they are called by: of directors, those to what they directed
        roles = (one for one in nodes.conditions if isinstance(one, Joined) and is_of_anything(one) and not one.negated)
        own = {kind for one in roles for kind in one.kinds}
        # "directors with more than two films": those that they directed; the author "of" a hill has written none
        if not self._are_called_alike(steps) or (own and preposition == "of"):
            steps = [step for step in steps if step.kind in own]
        if steps and self._are_called_alike(steps):
            yield self._relation(nodes, self._directed(steps, frame), target, _UNNAMED)

    def linked(self, nodes: NodeSet, target: NodeSet) -> Iterator[Relation]:
        """Yield the relation by whatever edge: to a mere value that is spoken of by those that lead to it."""
        steps = [*self._between(nodes, target)]
        if any(step.kind in self.any_kinds for step in steps):
            yield Relation(nodes, self.any_kinds, target, 0.0)
        elif steps:
            yield self._relation(nodes, steps, target, 0.0)

    def are_values(self, nodes: NodeSet) -> bool:
        """Return whether nodes are mere values, to which no other edges lead."""
        return not any(step.kind in self.any_kinds for step in self._between(NodeSet(), nodes))

    def around(self, nodes: NodeSet, kinds: tuple[int, ...]) -> set[int]:
        """Return the rows that edges of some kinds join named nodes to."""
        entries = self._lexicon.graph.arrays.adjacency.entries(np.array(nodes.named, np.int32))
        return set(entries.neighbor[np.isin(entries.kind, kinds)].tolist())

    def direct(self, nodes: NodeSet, preposition: str, target: NodeSet) -> Iterator[Relation]:
        """Yield the relation that no word names, if an edge is it and no way over other kinds."""
        return (one for one in self.unnamed(nodes, preposition, target) if not one.target.is_between)

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
        is_kind = isinstance(edges, KindVerb)
        if not is_kind and any(step.target != step.source for step in self._between(nodes, target)):
            return  # what an edge joins no other kind joins
        ways = self._ways(nodes.types, self.types_of(target))
        if len(ways) != 1:
            return
        (way,) = ways
        ups = [self._is_up(steps) for steps in way]
        said = {edge for edge, fit in (edges or {}).items() if fit > LIGHT_FIT}
        if isinstance(edges, KindVerb):
            is_said = any(edges.types.intersection(step.ends) for steps in way for step in steps)
        else:  # a verb that says something says it of the first step
            is_said = None not in ups and (not said or all(step.edge in said for step in way[0]))
        # the rows of a table may have no name: plants in a bed, over plantings
        is_over_rows = len(way) == 2 and all(self.is_nameless(step.target) for step in way[0])
        # who else plays a part must be said: matches "of a town" are no matches of referees who were born there
        is_part = not is_kind and any(self._is_part(step) and step.edge not in said for steps in way for step in steps)
        if not is_said or is_part or (is_within and not all(ups) and not is_over_rows):
            return
        for steps in reversed(way[1:]):
            relation = self._relation(NodeSet(frozenset(step.source for step in steps)), steps, target, 0.0)
            target = replace(relation.joined, is_between=True)
        yield self._relation(nodes, way[0], target, _UNNAMED + _OVER_OTHERS * (len(way) - 1))

    def _ways(self, sources: frozenset[int], targets: frozenset[int]) -> list[tuple[_Steps, ...]]:
        """Return the shortest ways over other kinds, each as what its steps may be."""
        fronts: list[tuple[int, ...]] = [(source,) for source in sources]
        for _ in range(_MOST_BETWEEN + 1):
            fronts = [
                (*way, target)
                for way in fronts
                for target in {step.target for step in self._steps[way[-1]]}
                if target not in way
            ]
            if len(fronts) > _MOST_WAYS:
                return []
            ways = [self._along(way) for way in fronts if way[-1] in targets and len(way) > 2]
            if found := [way for way in ways if way is not None]:
                return found
        return []

    @cached_method(_MOST_KINDS)
    def lead(self, source: int, target: int) -> bool:
        """Return whether an edge joins nodes of two types, or a way of what each thing has one of."""
        if any(step.target == target for step in self._steps[source]):
            return True
        ways = self._ways(frozenset([source]), frozenset([target]))
        return any(all(self._is_up(steps) is not None for steps in way) for way in ways)

    @cached_method(_MOST_KINDS)
    def shares_names(self, kind: int) -> bool:
        """Return whether most names of a type are of several of its nodes, as those of the lines of orders."""
        arrays = self._lexicon.graph.arrays
        rows = np.flatnonzero(arrays.node_types == kind)
        tried = rows[:: max(1, len(rows) // _NAMES_TRIED)]
        called = (arrays.node_types[arrays.candidates(arrays.names[row])] == kind for row in tried.tolist())
        return sum(int(own.sum()) > 1 for own in called) > len(tried) / 2

    @cached_method(_MOST_KINDS)
    def is_nameless(self, kind: int) -> bool:
        """Return whether nodes of a type are called by their ids alone, which have figures in them."""
        rows = np.flatnonzero(self._node_types == kind)[:_SAMPLED].tolist()
        arrays = self._lexicon.graph.arrays
        names = [arrays.names[row] for row in rows if arrays.ids[row].endswith(arrays.names[row])]
        return len(names) == len(rows) and all(any(map(str.isdigit, name)) for name in names)

    def _is_up(self, steps: _Steps) -> bool | None:
        """Return whether a step leads to what a thing has one of; False if it leads back, None if neither."""
        kinds = {step.kind for step in steps}
        if self.is_single(kinds):
            return True
        return False if self.is_single(turned(kinds)) else None

    def _along(self, way: tuple[int, ...]) -> tuple[_Steps, ...] | None:
        """Return the steps from kind to kind along a way; None where several edges may be meant, or it turns."""
        along: list[_Steps] = []
        is_up = False
        for source, target in pairwise(way):
            steps = self._plain([step for step in self._steps[source] if step.target == target])
            kinds = {step.kind for step in steps}
            may_turn = is_up and (not self.is_single(kinds) or self.is_single(turned(kinds)))
            if may_turn or not self._are_called_alike(steps):
                return None
            is_up = self.is_single(kinds)
            along.append(steps)
        return tuple(along)

    def doers(self, unit: EdgeUnit, word: str) -> Iterator[Relation]:
        """Yield whoever does something, to anything: `directors` of `directed_by`, `actors` of `acted_in`."""
        is_role = self.labels.names_role(unit, word)
        if unit.fit <= LIGHT_FIT or not (is_role or self.labels.is_agent(unit, word)):
            return
        if any(self.labels.is_called_as(edge, self._all) for edge in unit.edges):
            return  # of a `track` nobody is a tracker
        if not self.labels.is_own_noun(unit, word):
            return
        frame = Voice.NOUN_OF if is_role else Voice.SUBJECT
        meant = _meant(unit.edges, frame)
        for relation in self.named(NodeSet(), unit.edges, frame, NodeSet()):
            kinds = [kind for kind in relation.kinds if self._is_so_said(kind, meant)]
            steps = [step for own in self._steps for step in own if step.kind in kinds]
            if steps and self._are_called_alike(steps):
                yield self._relation(NodeSet(), steps, NodeSet(), relation.cost + _ROLE)

    def ambiguous(self, nodes: NodeSet, target: NodeSet) -> list[str]:
        """Return the labels of the edge types that join two sets, where there are several."""
        labels = self.labels.of(step.kind for step in self._between(nodes, target))
        return sorted(labels) if len(labels) > 1 else []

    def _may_be_said(self, step: _Step, preposition: str, hinted: Collection[int], frame: Voice) -> bool:
        """Tell whether a preposition alone may say an edge; where things are it says of the thing, not of the place."""
        words = self.labels.words([step.edge])
        if preposition in WORDS["placing"] and not words.isdisjoint(WORDS["saying places"]):
            is_of_place = frame is Voice.OBJECT  # "in which region is X" describes the place
            return bool(step.kind & 1) == (words.isdisjoint(WORDS["holding"]) == is_of_place)
        # goods "from" somebody are not those of which they are the `buyer`
        return step.edge in hinted or (self.labels.is_neutral(step.edge) and not self._is_part(step))

    def _is_part(self, step: _Step) -> bool:
        """Return whether an edge is called by the part that somebody plays, and not as what it joins."""
        labels, to = self.labels, step.source if step.kind & 1 else step.target
        is_role = labels.is_role(step.edge) or (to in self._lexicon.people and labels.is_neutral(step.edge))
        return is_role and not labels.is_called_so(step.edge, step.ends) and labels.is_one(step.edge)

    def _says_another(self, nodes: NodeSet, preposition: str) -> bool:
        """Return whether a preposition says some edges of nodes, wherever they lead: drugs *for* what they treat."""
        if preposition not in WORDS["choosing"] or not nodes.types or nodes.types == self._all:
            return False
        return any(
            self.labels.is_hinted(step.edge, preposition) for source in nodes.types for step in self._steps[source]
        )

    def _between(self, nodes: NodeSet, target: NodeSet) -> Iterator[_Step]:
        targets = self.types_of(target)
        return (step for source in self.types_of(nodes) for step in self._steps[source] if step.target in targets)

    def _are_called_alike(self, steps: _Steps) -> bool:
        """Return whether no two of these edges are called differently."""
        return len(self.labels.of(step.kind for step in steps)) <= 1

    def _directed(self, steps: _Steps, frame: Voice) -> _Steps:
        """Return the steps whose direction is the one that is said, where both directions join the types."""
        kinds = {step.kind for step in steps}
        return [step for step in steps if step.kind ^ 1 not in kinds or self._is_so_directed(step.kind, frame)]

    def _is_so_directed(self, kind: int, frame: Voice) -> bool:
        """Return whether edges lead as it is said, or say the same both ways."""
        return self.labels.is_symmetric(kind) or self._is_so_said(kind, frame)

    def _is_so_said(self, kind: int, frame: Voice) -> bool:
        """Return whether edges lead as it is said."""
        return bool(kind & 1) == self.labels.is_against(kind >> 1, frame)

    def _relation(self, nodes: NodeSet, steps: _Steps, target: NodeSet, cost: float) -> Relation:
        """Return the relation that some steps are."""
        sources, targets = frozenset(step.source for step in steps), frozenset(step.target for step in steps)
        kinds = tuple(sorted({step.kind for step in steps}))
        return Relation(self.cut(nodes, sources), kinds, self.cut(target, targets), cost)

    def cut(self, nodes: NodeSet, types: frozenset[int]) -> NodeSet:
        """Return a set without the types that a relation cannot join."""
        rows = nodes.named
        if rows:
            kept = tuple(row for row in rows if int(self._node_types[row]) in types)
            return replace(nodes, conditions=(Among(kept),))
        if nodes.types:
            return replace(nodes, types=nodes.types & types)
        return nodes if types == self._all else replace(nodes, types=types)


def _meant(edges: Mapping[int, float], frame: Voice) -> Voice:
    """Return how edges are said where words say them in a voice."""
    return _CONVERSE[frame] if isinstance(edges, ConverseEdges) else frame
