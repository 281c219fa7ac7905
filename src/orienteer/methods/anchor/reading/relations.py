"""Which edges a relation in words means: by the types at its ends, its label, its preposition, and who does it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from orienteer.methods.anchor.reading.lexicon import EdgeUnit, Lexicon
from orienteer.methods.anchor.reading.query import Among, Condition, Joined, Measure, NodeSet
from orienteer.methods.anchor.reading.synonyms import (
    IRREGULAR_VERBS,
    IS_A,
    MAKERS,
    NO_ROLES,
    ORGANISATIONS,
    ROLES,
    SYMMETRIC,
)
from orienteer.methods.anchor.reading.units import ANY, ConverseEdges
from orienteer.methods.anchor.words import SchemaHop
from orienteer.remembered import remembered
from orienteer.text import english

_NEAR = 0.05  # edge types this near to the best fit are meant as well
_SYNONYMS = 0.65  # the fit of words that say the same, and of words that only begin alike, is below
_SURE = 0.6  # below: a part of a label
_UNNAMED = 0.3  # cost of a relation that no word names
_LONGEST_ENDING = 5  # letters of the ending of a noun for a doer: `direct-ors`
_SYNONYM = 0.6  # fit of a word that says the same
_ROLE = 0.15  # cost of a kind that is told by what its things do
_MOST_KINDS = 1_024  # of edges, of which is remembered whether nodes have one neighbour at most
_FOR = frozenset(["treat", "associate", "use"])
_PREPOSITIONS: Mapping[str, frozenset[str]] = {
    "for": _FOR,
    "against": _FOR,
    "in": frozenset(["in", "locate", "situate", "base", "part", "section", "contain", "include", "member"]),
    "at": frozenset(["at", "locate", "base", "station", "work"]),
    "on": frozenset(["on", "locate"]),
    "from": frozenset(["from", "locate", "base", "make", "produce", "brew", "come", "origin", "built", "born"]),
    "by": frozenset(["by", "make", "design", "write", "create", "build", "maintain", "produce", "found", "own", "run"]),
    "of": frozenset(["of", "part", "member"]),
    "under": frozenset(["supervise", "belong", "under", "register", "flag"]),
}
"""What a bare preposition may say, as beginnings of words of edge types."""


_OF_ROLES = ("by",)
"""Those before whoever plays a part: orders *by* a customer."""
_OPEN = frozenset(["", "of", "with", "by"])
"""Those that may say any edge; a picture that depicts a city is not *in* it, nor is one *for* it."""
_PLACING = frozenset(["in", "at", "on", "within", "inside", "from"])
"""Those that say where things are."""
_HOLDING = frozenset(["contain", "contains", "include", "includes"])
_PLACES = frozenset(["in", "at", "on", "from", "part", "member", "contain", "contains", "include", "includes", "near"])
_NEUTRAL = frozenset(["has", "have", "belongs", "is", "of", "in"])
_VERBS_BARE = frozenset(["treat", "cause", "bind", "depict", "show", "regulate", "cover", "associate", "resemble"])
"""Labels that are verbs without an ending of one."""
_CHOOSING = frozenset(["for", "against", "by", "from", "under"])
"""Those that choose among edges: drugs *for* a disease do not cause it. What is *in* a genre is in it by any edge."""

_AGENTS = (
    *("er", "ers", "or", "ors", "ent", "ents", "ant", "ants", "ist", "ists"),
    *("alumni", "alumnus", "graduates", "graduate", "pupil", "pupils", "apprentice", "apprentices", "disciples"),
)
"""Endings of nouns for whoever does something."""

_ROLE_ENDINGS = ("er", "or", "ist", "ant", "ent", "eer", "ian")
"""Endings of nouns for the part that somebody plays."""
_SCENES = frozenset(["at", "in", "on", "with", "from"])
"""Words of labels that tell where or with what something is done."""
_VERBAL = frozenset(["to", "on", "with", "in", "at", "for"])
"""Words of labels that are verbs: `reports_to`."""


class Voice(Enum):
    """How a relation is said of the nodes that are described."""

    SUBJECT = "they do it"
    PASSIVE = "it is done to them, by others"
    OBJECT = "others do it, and they are what it is done to"
    PASSIVE_OBJECT = "others have it done by them"
    NOUN_OF = "they are the NOUN of others"
    HAS_NOUN = "others are their NOUN"


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
        self._symmetric = frozenset(map(self._vocabulary.stem, SYMMETRIC))
        self._all = frozenset(range(len(self._vocabulary.hops)))

    def types_of(self, nodes: NodeSet) -> frozenset[int]:
        """Return the types that nodes of a set may have."""
        rows = nodes.named
        if rows:
            own = frozenset(int(self._node_types[row]) for row in rows)
            return own & nodes.types if nodes.types else own
        return nodes.types or self._all

    def is_single(self, kinds: tuple[int, ...]) -> bool:
        """Tell whether no node has two neighbours by edges of these kinds: nothing is in two of such."""
        return all(map(self._is_single, kinds))

    @remembered(_MOST_KINDS)
    def _is_single(self, kind: int) -> bool:
        arrays = self._lexicon.graph.arrays
        mask = np.zeros(2 * len(arrays.types.edges), np.bool_)
        mask[kind] = True
        entries = arrays.adjacency.entries(np.arange(len(arrays), dtype=np.int32), mask)
        # A node's edges stand together: where it has two neighbours, two of them stand side by side.
        is_same = entries.owner[1:] == entries.owner[:-1]
        return not (is_same & (entries.neighbor[1:] != entries.neighbor[:-1])).any()

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
            return
        if isinstance(edges, ConverseEdges):
            frame = _CONVERSE[frame]
        top = max(edges[hop.kind >> 1] for _, hop in hops)
        if top <= ANY:
            yield from self._any(nodes, hops, frame, target)
            return
        hops = [(source, hop) for source, hop in hops if not self._is_givers(hop, edges, frame)]
        if not hops:
            return
        top = max(edges[hop.kind >> 1] for _, hop in hops)
        chosen = [(source, hop) for source, hop in hops if edges[hop.kind >> 1] >= top - _NEAR]
        if top < _SURE and len(self._labels({hop.kind >> 1 for _, hop in chosen})) > 1:
            return  # a word of two labels names neither: `parts`, of part meronym and part holonym
        if isinstance(edges, ConverseEdges):
            chosen = [(source, hop) for source, hop in chosen if self._is_so_directed(hop, frame)]
        elif is_strict:  # a synonym may turn it, but no part that somebody plays: who employs is worked for
            chosen = [
                (source, hop)
                for source, hop in chosen
                if self._is_passive(hop)
                or (top <= _SYNONYMS and not self._is_role(hop.kind >> 1))
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
        hops = self._plain([(source, hop) for source, hop in hops if hop.target != source])
        if self.are_makers([hop.kind for _, hop in hops]):
            return
        is_told = len({source for source, _ in hops}) == 1 and all(
            self._is_neutral(hop.kind >> 1)
            and (not self._is_role(hop.kind >> 1) or self._is_called_as(hop.kind >> 1, (source, hop.target)))
            for source, hop in hops
        )
        if is_told and len(self._labels({hop.kind >> 1 for _, hop in hops})) == 1:
            yield self._relation(nodes, self._directed(hops, frame), target, _UNNAMED)

    def _plain(self, hops: Collection[tuple[int, SchemaHop]]) -> Collection[tuple[int, SchemaHop]]:
        """Return the hops by edges that are called as the things at an end are; else those that tell of no role.

        The players of a club are in it by `club`, and need not be its `captain`; its head is in a department, too.
        """
        own = [(source, hop) for source, hop in hops if self._is_called_as(hop.kind >> 1, (source, hop.target))]
        plain = [(source, hop) for source, hop in hops if not self._is_role(hop.kind >> 1)]
        return own or plain or hops

    def _is_called_as(self, edge: int, types: Iterable[int]) -> bool:
        """Tell whether an edge type is called as one of these node types is: `department`."""
        called = {label.words for kind in types for label in self._vocabulary.node_labels[kind]}
        return any(label.words in called for label in self._vocabulary.edge_labels[edge])

    @remembered(_MOST_KINDS)
    def _is_neutral(self, edge: int) -> bool:
        """Tell whether an edge type is called by a noun, or by having and belonging, and by no verb of its own."""
        for label in self._vocabulary.edge_labels[edge]:
            first, last = label.words[0], label.words[-1]
            is_verb = first.endswith(("ed", "en", "ing")) or first in IRREGULAR_VERBS
            is_third = first.endswith("s") and not first.endswith(("ss", "ments", "tions", "ships", "us"))
            if first in _NEUTRAL or not (is_verb or is_third or last in english.STOP or first in _VERBS_BARE):
                return True
        return False

    def _is_givers(self, hop: SchemaHop, edges: Mapping[int, float], frame: Voice) -> bool:
        """Tell whether edges lead to whom something goes, where whoever gives it is asked for: "who sold X"."""
        labels = self._vocabulary.edge_labels[hop.kind >> 1]
        if edges[hop.kind >> 1] <= _SYNONYMS or not any(len(x.words) > 1 and x.words[-1] == "to" for x in labels):
            return False
        is_done = any(x.words[0].endswith("ed") or x.words[0] in IRREGULAR_VERBS for x in labels)
        is_receiver = (frame is Voice.SUBJECT and hop.kind & 1) or (frame is Voice.OBJECT and not hop.kind & 1)
        return is_done and bool(is_receiver)

    def is_doer(self, kind: int) -> bool:
        """Tell whether somebody at this end of edges does what their label says: of `owned_by` the owner, of `owns`.

        A picture `depicts` something, and is nobody; what is `built_from` something built nothing.
        """
        if "by" in self._words([kind >> 1]) or self._is_role(kind >> 1):
            return bool(kind & 1)
        ends = {source for source, hops in enumerate(self._vocabulary.hops) for hop in hops if hop.kind == kind}
        called = {word for end in ends for label in self._vocabulary.node_labels[end] for word in label.words}
        is_active = not kind & 1 and self._words([kind >> 1]).isdisjoint(english.STOP)
        return is_active and not called.isdisjoint(ORGANISATIONS)

    def are_makers(self, kinds: Iterable[int]) -> bool:
        """Tell whether edges lead to or from whoever made things: an `artist` need not have them."""
        return not self._words(kind >> 1 for kind in kinds).isdisjoint(MAKERS)

    @remembered(_MOST_KINDS)
    def _is_role(self, edge: int) -> bool:
        """Tell whether an edge type is called by the part that its target plays: `manager`, `project_lead`."""
        for label in self._vocabulary.edge_labels[edge]:
            word = label.words[-1] if label.words else ""
            if word in ROLES or (word.endswith(_ROLE_ENDINGS) and not word.endswith("ment") and word not in NO_ROLES):
                return True
        return False

    def _is_of_kinds(self, edge: int) -> bool:
        """Tell whether edges lead from a kind to the wider one that it is of: `is_a`."""
        return any(" ".join(label.words) in IS_A for label in self._vocabulary.edge_labels[edge])

    def _says_of(self, edge: int) -> bool:
        """Tell whether edges lead from what is the NOUN of something: `pupil_of`, `assistant_to`, not `next_of_kin`."""
        for label in self._vocabulary.edge_labels[edge]:
            first, last = label.words[0], label.words[-1]
            if last == "of" or (last == "to" and first.endswith(("ant", "ent", "er", "or"))):
                return True
            if "of" in label.words and first in ("member", "part", "kind", "type", "instance"):
                return True
        return self._is_of_kinds(edge)

    def is_role(self, unit: EdgeUnit, word: str) -> bool:
        """Tell whether words are what edge types are called by, and these by the part that their targets play."""
        if self._words(unit.edges).isdisjoint((word, word.removesuffix("s"))):
            return False  # "manages" is no manager
        return all(self._is_role(edge) for edge, fit in unit.edges.items() if fit > _SYNONYMS) and (
            max(unit.edges.values()) > _SYNONYMS
        )

    def is_agent(self, unit: EdgeUnit, word: str) -> bool:
        """Tell whether words are a noun for whoever does it, and no verb: `students`, and not `discovers`."""
        if not word.endswith(_AGENTS) or word in IRREGULAR_VERBS:  # who went is no agent
            return False
        stem = self._vocabulary.stem(word)
        labels = [label for edge in unit.edges for label in self._vocabulary.edge_labels[edge]]
        return all(stem not in label.stems and word not in label.words for label in labels)

    def of_noun(self, unit: EdgeUnit, word: str, owner: NodeSet) -> Iterator[Relation]:
        """Yield the relation of `hyponyms of X`, where they are X's, and of `students of X`, where they do it to X."""
        if max(unit.edges.values()) <= ANY:
            return  # "the works of X" are no verb
        label_words = self._words(unit.edges)
        if word in label_words and label_words & _VERBAL:
            return  # "reports" of somebody are not whom they report to
        if not self._is_of_doers(unit, word):
            yield from self.named(NodeSet(), unit.edges, Voice.NOUN_OF, owner)
            return
        yield from self._of_doers(NodeSet(), unit, Voice.SUBJECT, owner)

    def having(self, nodes: NodeSet, unit: EdgeUnit, word: str, target: NodeSet) -> Iterator[Relation]:
        """Yield the relation of those who have a NOUN: who has a `manager` has it, and who has a mentor is mentored."""
        if max(unit.edges.values()) > ANY and self._is_of_doers(unit, word):
            yield from self._of_doers(nodes, unit, Voice.OBJECT, target)
        else:
            yield from self.named(nodes, unit.edges, Voice.HAS_NOUN, target)

    def _is_of_doers(self, unit: EdgeUnit, word: str) -> bool:
        """Tell whether a noun is of whoever does what edges say, and not what they are called by."""
        label_words = self._words(unit.edges)
        is_own = word in label_words or word.removesuffix("s") in label_words  # "parents" of `parent` do not parent
        return not is_own and word.endswith(_AGENTS) and not word.endswith(("ment", "ments"))

    def _of_doers(self, nodes: NodeSet, unit: EdgeUnit, frame: Voice, target: NodeSet) -> Iterator[Relation]:
        """Yield the relation between those who do what edges say and what they do it to, said of one of them."""
        # whoever does it is not where it is done: an inventor is of `designed_by`, and not of `developed_at`
        edges = {edge: fit for edge, fit in unit.edges.items() if "from" not in self._words([edge])}
        if not edges:
            return  # nobody is the author of what is `built_from` something
        doing = {edge: fit for edge, fit in edges.items() if self._words([edge]).isdisjoint(_SCENES)}
        is_converse = isinstance(unit.edges, ConverseEdges)
        meant = _CONVERSE[frame] if is_converse else frame
        for fits in (doing, edges):
            relations = [
                relation
                for relation in self.named(nodes, ConverseEdges(fits) if is_converse else fits, frame, target)
                if all(bool(kind & 1) == self._is_against(kind >> 1, meant) for kind in relation.kinds)
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
        edges = {hop.kind >> 1 for _, hop in hops}
        hinted = {edge for edge in edges if self._is_hinted(edge, preposition)}
        if not hinted and self._says_another(nodes, preposition):
            return  # drugs "for epilepsy" do not cause it
        if preposition == "by" or (len(edges) > 1 and preposition and hinted):
            hops = [(source, hop) for source, hop in hops if hop.kind >> 1 in hinted]
        if preposition not in _OPEN:
            hops = [(source, hop) for source, hop in hops if self._may_be_said(hop, preposition, hinted, frame)]
        hops = list(self._plain(hops))
        edges = {hop.kind >> 1 for _, hop in hops}
        own = {kind for kinds in map(_role_of, nodes.conditions) for kind in kinds}
        # "directors with more than two films": those that they directed; the author "of" a hill has written none
        if len(self._labels(edges)) > 1 or (own and preposition == "of"):
            hops = [(source, hop) for source, hop in hops if hop.kind in own]
            edges = {hop.kind >> 1 for _, hop in hops}
        if len(self._labels(edges)) == 1:
            yield self._relation(nodes, self._directed(hops, frame), target, _UNNAMED)

    def doers(self, unit: EdgeUnit, word: str) -> Iterator[Relation]:
        """Yield whoever does something, to anything: `directors` of `directed_by`, `actors` of `acted_in`."""
        if max(unit.edges.values()) <= ANY or not (self.is_agent(unit, word) or self.is_role(unit, word)):
            return
        if not self._is_role_noun(unit, word):
            return
        frame = Voice.NOUN_OF if self.is_role(unit, word) else Voice.SUBJECT
        meant = _CONVERSE[frame] if isinstance(unit.edges, ConverseEdges) else frame
        for relation in self.named(NodeSet(), unit.edges, frame, NodeSet()):
            kinds = tuple(kind for kind in relation.kinds if bool(kind & 1) == self._is_against(kind >> 1, meant))
            hops = [
                (source, hop) for source, own in enumerate(self._vocabulary.hops) for hop in own if hop.kind in kinds
            ]
            if hops and len(self._labels({hop.kind >> 1 for _, hop in hops})) == 1:
                yield self._relation(NodeSet(), hops, NodeSet(), relation.cost + _ROLE)

    def _is_role_noun(self, unit: EdgeUnit, word: str) -> bool:
        """Tell whether a noun is made of a label's word, or says the same: a goalkeeper is nobody who scores goals."""
        if max(unit.edges.values()) in (_SYNONYM, 1.0):
            return True
        stems = {stem for edge in unit.edges for label in self._vocabulary.edge_labels[edge] for stem in label.stems}
        return any(word.startswith(stem) and len(word) - len(stem) <= _LONGEST_ENDING for stem in stems)

    def ambiguous(self, nodes: NodeSet, target: NodeSet) -> list[str]:
        """Return the labels of the edge types that join two sets, where there are several."""
        labels = self._labels({hop.kind >> 1 for _, hop in self._between(nodes, target)})
        return sorted(labels) if len(labels) > 1 else []

    def labels_of(self, kinds: Iterable[int]) -> set[str]:
        """Return what the edges of some kinds are called."""
        return self._labels({kind >> 1 for kind in kinds})

    def _labels(self, edges: Iterable[int]) -> set[str]:
        types, schema = self._lexicon.graph.arrays.types, self._lexicon.graph.schema
        return {schema.label(types.edges[edge]) for edge in edges}

    def _words(self, edges: Iterable[int]) -> set[str]:
        """Return the words that edge types are called by."""
        return {word for edge in edges for label in self._vocabulary.edge_labels[edge] for word in label.words}

    def _is_hinted(self, edge: int, preposition: str) -> bool:
        """Tell whether a preposition may say an edge type: `in` may say `located_in`, and `from` `brewed_by`."""
        words, hints = self._words([edge]), _PREPOSITIONS.get(preposition, frozenset())
        if preposition in words or (preposition in _OF_ROLES and self._is_role(edge)):
            return True
        return any(word.startswith(hint) for word in words for hint in hints if len(hint) > 2)

    def _may_be_said(self, hop: SchemaHop, preposition: str, hinted: Collection[int], frame: Voice) -> bool:
        """Tell whether a preposition alone may say an edge; where things are it says of the thing, not of the place."""
        words = self._words([hop.kind >> 1])
        if preposition in _PLACING and not words.isdisjoint(_PLACES):
            is_of_place = frame is Voice.OBJECT  # "in which region is X" describes the place
            return bool(hop.kind & 1) == (words.isdisjoint(_HOLDING) == is_of_place)
        return hop.kind >> 1 in hinted or self._is_neutral(hop.kind >> 1)

    def _says_another(self, nodes: NodeSet, preposition: str) -> bool:
        """Tell whether a preposition says some edges of nodes, wherever they lead: drugs *for* what they treat."""
        if preposition not in _CHOOSING or not nodes.types or nodes.types == self._all:
            return False
        hops = (hop for source in nodes.types for hop in self._vocabulary.hops[source])
        return any(self._is_hinted(hop.kind >> 1, preposition) for hop in hops)

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
        """Tell whether edges lead as it is said, or say the same both ways."""
        return self._is_symmetric(hop) or bool(hop.kind & 1) == self._is_against(hop.kind >> 1, frame)

    def _is_passive(self, hop: SchemaHop) -> bool:
        """Tell whether a label has a preposition: telescopes observe what is `observed_with` them."""
        return not english.STOP.isdisjoint(self._words([hop.kind >> 1]))

    def _is_symmetric(self, hop: SchemaHop) -> bool:
        """Tell whether edges say the same both ways: by the schema, or by their verb, `resembles`."""
        stems = {stem for label in self._vocabulary.edge_labels[hop.kind >> 1] for stem in label.stems}
        return self._vocabulary.is_symmetric(hop.kind) or bool(stems & self._symmetric)

    def _is_against(self, edge: int, frame: Voice) -> bool:
        """Tell whether the nodes that are described are the targets of these edges."""
        words = self._words([edge])
        says_by, says_of = "by" in words or self._is_role(edge), self._says_of(edge)
        if frame is Voice.NOUN_OF:
            return not says_of
        if frame is Voice.HAS_NOUN:
            return says_of
        is_active = frame in (Voice.SUBJECT, Voice.PASSIVE_OBJECT)
        return is_active == says_by

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
