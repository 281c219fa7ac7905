"""What the labels of edge types say: who does what, parts that somebody plays, and where things are."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from orienteer.reading.edge_words import SYNONYM
from orienteer.reading.lexicon import EdgeUnit, Lexicon
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.reading.words import SchemaHop, SchemaWords
from orienteer.remembered import cached_method
from orienteer.text import english

SAME_WORD = 0.65
"""A fit above is of the word itself; below are synonyms, and words that only begin alike."""
_LONGEST_ENDING = 5  # letters of the ending of a noun for a doer: `direct-ors`
_MOST_KINDS = 1_024  # of edges, of which is remembered what their labels say
_FOR = frozenset(["treat", "associate", "use"])


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
