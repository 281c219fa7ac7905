"""Questions made from a graph with a fixed seed: patterns in our words, gold read off the edges.

The patterns of FIRST_LOOK were written after the method was done and before it was run on them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph

MOST_GOLD = 20
"""Answers that a question may have at the most."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question and the nodes that answer it, by name where `by_name`, else by id."""

    question: str
    gold: frozenset[str]
    by_name: bool = False


class Clause(NamedTuple):
    """A condition on the answer: an edge to a named node, `<` where it comes from there, and ways to say it."""

    edge: str
    type: str
    said: tuple[str, ...]
    beyond: tuple[str, str] | None = None
    """A further edge and type, when the named node is two steps away."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is asked for, under which conditions, in which words."""

    answer: str
    clauses: tuple[Clause, ...]
    frames: tuple[str, ...] = ("Which {kind} {clauses}?",)
    kind: tuple[str, ...] = ("things",)


class Drawer:
    """Draws questions from a graph; its gold is read off the edges one by one."""

    def __init__(self, graph: Graph, random_seed: int) -> None:
        self._graph, self._chance = graph, random.Random(random_seed)
        self._by_type = {
            name: np.flatnonzero(np.asarray(graph.arrays.mask([name]))).tolist() for name in graph.schema.node_types
        }

    def draw(self, pattern: Pattern) -> Item | None:
        """Return a question of a pattern around a random answer; None where this one does not serve."""
        row = self._chance.choice(self._by_type[pattern.answer])
        gold: set[int] = set(self._by_type[pattern.answer])
        said: list[str] = []
        named: set[int] = set()
        for clause in pattern.clauses:
            anchors = sorted(self._named(row, clause) - named)
            if not anchors:
                return None
            anchor = self._chance.choice(anchors)
            if not self._is_plain(anchor):
                return None
            named.add(anchor)
            gold &= self._meeting(anchor, clause, pattern.answer)
            said.append(self._chance.choice(clause.said).format(self._graph.arrays.names[anchor]))
        gold -= named
        if not 1 <= len(gold) <= MOST_GOLD:
            return None
        frame, kind = self._chance.choice(pattern.frames), self._chance.choice(pattern.kind)
        ids = frozenset(self._graph.arrays.ids[one] for one in gold)
        return Item(frame.format(kind=kind, clauses=" and ".join(said)), ids)

    def _named(self, row: int, clause: Clause) -> set[int]:
        if clause.beyond is None:
            return self._step(row, clause.edge, clause.type)
        between = self._step(row, *clause.beyond)
        return {one for node in between for one in self._step(node, clause.edge, clause.type)}

    def _meeting(self, anchor: int, clause: Clause, answer: str) -> set[int]:
        if clause.beyond is None:
            return self._step(anchor, _turned(clause.edge), answer)
        edge, between = clause.beyond
        return {
            one
            for node in self._step(anchor, _turned(clause.edge), between)
            for one in self._step(node, _turned(edge), answer)
        }

    def _step(self, row: int, edge: str, node_type: str) -> set[int]:
        """Return the nodes of a type at the other end of a node's edges; `<` means those that come in."""
        graph, name = self._graph, edge.lstrip("<")
        kind = graph.arrays.types.edges.index(name) * 2 + edge.startswith("<")
        entries = graph.arrays.adjacency.entries(np.array([row], np.int32))
        along = entries.kind >> 1 == kind >> 1 if name in graph.schema.symmetric else entries.kind == kind
        right = graph.arrays.node_types[entries.neighbor] == graph.arrays.types.nodes.index(node_type)
        return set(entries.neighbor[along & right].tolist())

    def _is_plain(self, row: int) -> bool:
        """Tell whether a node's name is one that a person would write, and its type's only one."""
        name = self._graph.arrays.names[row]
        same = [
            one
            for one in self._graph.arrays.candidates(name)
            if self._graph.arrays.node_types[one] == self._graph.arrays.node_types[row]
        ]
        return 3 <= len(name) <= 60 and same == [row]


def _turned(edge: str) -> str:
    return edge[1:] if edge.startswith("<") else f"<{edge}"


def generated(graph: Graph, patterns: Sequence[Pattern], count: int, *, random_seed: int = 7) -> list[Item]:
    """Return this many different questions, of all patterns in turn; fewer where some tries find no more."""
    drawer = Drawer(graph, random_seed)
    found: dict[str, Item] = {}
    tries = 0
    while len(found) < count and tries < count * 60:
        item = drawer.draw(patterns[tries % len(patterns)])
        tries += 1
        if item is not None:
            found.setdefault(item.question, item)
    return list(found.values())


def _debian(number: int) -> tuple[Pattern, ...]:
    """Return the patterns over the Debian graph in the schema's words (0) or in others (1)."""
    said = {
        "in_section": ("are in section {}", "come from the {} area"),
        "recommends": ("recommend {}", "work best together with {}"),
        "depends": ("depend on {}", "need {}"),
        "maintained_by": ("are maintained by {}", "are looked after by {}"),
        "suggests": ("suggest {}", "can be extended by {}"),
        "has_tag": ("have the tag {}", "are labelled {}"),
        "built_from": ("are built from the source {}", "are compiled out of {}"),
    }
    types = {"in_section": "section", "maintained_by": "maintainer", "has_tag": "debtag", "built_from": "source"}
    pairs = (
        ("in_section", "recommends"),
        ("maintained_by", "depends"),
        ("in_section", "suggests", "maintained_by"),
        ("has_tag", "depends"),
        ("built_from", "recommends"),
    )
    frames = (
        ("Which packages {clauses}?", "Find the packages that {clauses}.", "What packages {clauses}?"),
        ("What are good programs that {clauses}?", "I look for software that {clauses}", "Which tools {clauses}?"),
    )[number]
    return tuple(
        Pattern(
            "package", tuple(Clause(edge, types.get(edge, "package"), (said[edge][number],)) for edge in edges), frames
        )
        for edges in pairs
    )


def _two_hops() -> tuple[Pattern, ...]:
    through = Clause("depends", "package", ("maintain packages that depend on {}",), ("<maintained_by", "package"))
    holding = Clause("recommends", "package", ("hold packages that recommend {}",), ("<in_section", "package"))
    return (
        Pattern("maintainer", (through,), ("Which maintainers {clauses}?",)),
        Pattern("section", (holding,), ("Which sections {clauses}?",)),
    )


HETIONET = (
    Pattern(
        "Compound",
        (
            Clause("CcSE", "Side Effect", ("cause {}", "can lead to {}", "have {} among their side effects")),
            Clause("CbG", "Gene", ("bind {}", "bind to the protein of {}", "act on the gene {}")),
        ),
        ("Which compounds {clauses}?", "Name compounds that {clauses}.", "What drugs {clauses}?"),
    ),
    Pattern(
        "Disease",
        (
            Clause("DpS", "Symptom", ("present with {}", "show {}", "have the symptom {}")),
            Clause("DaG", "Gene", ("are associated with {}", "involve the gene {}")),
        ),
        ("Which diseases {clauses}?", "List all diseases that {clauses}", "What diseases {clauses}?"),
    ),
    Pattern(
        "Compound",
        (
            Clause("<PCiC", "Pharmacologic Class", ("belong to the class {}", "are included in {}")),
            Clause("CtD", "Disease", ("treat {}", "are used against {}")),
        ),
        ("Which compounds {clauses}?", "Give me the compounds that {clauses}."),
    ),
    Pattern(
        "Pathway",
        (Clause("<GpPW", "Gene", ("{}",)), Clause("<GpPW", "Gene", ("{}",))),
        ("In which pathways do {clauses} both participate?", "Which pathways do both {clauses} take part in?"),
    ),
    Pattern(
        "Gene",
        (
            Clause("<AeG", "Anatomy", ("are expressed in {}", "are active in the {}")),
            Clause("GpPW", "Pathway", ("participate in the pathway {}", "take part in {}")),
        ),
        ("Which genes {clauses}?", "Show genes that {clauses}."),
    ),
    Pattern(
        "Symptom",
        (Clause("<CtD", "Compound", ("presented by diseases that {} treats",), ("<DpS", "Disease")),),
        ("Which symptoms are {clauses}?", "What are the symptoms {clauses}?"),
    ),
    Pattern(
        "Pharmacologic Class",
        (Clause("CtD", "Disease", ("include compounds that treat {}",), ("PCiC", "Compound")),),
        ("Which pharmacologic classes {clauses}?", "What classes {clauses}?"),
    ),
)
GO_GENES = (
    Pattern(
        "gene",
        (
            Clause("involved_in", "biological_process", ("are involved in {}", "play a part in {}")),
            Clause("located_in", "cellular_component", ("are located in the {}", "are found in the {}")),
        ),
        ("Which genes {clauses}?", "Find human genes that {clauses}.", "What genes {clauses}?"),
    ),
    Pattern(
        "gene",
        (
            Clause("enables", "molecular_function", ("enable {}", "have {}")),
            Clause("involved_in", "biological_process", ("are involved in {}", "take part in {}")),
        ),
        ("Which genes {clauses}?", "List genes that {clauses}"),
    ),
    Pattern(
        "biological_process",
        (Clause("<involved_in", "gene", ("{}",)), Clause("<involved_in", "gene", ("{}",))),
        ("Which biological processes are {clauses} both involved in?", "What processes do {clauses} share?"),
    ),
    Pattern(
        "biological_process",
        (Clause("negatively regulates", "biological_process", ("negatively regulates {}", "inhibits {}")),),
        ("Which biological process {clauses}?", "What process {clauses}?"),
    ),
    Pattern(
        "cellular_component",
        (Clause("enables", "molecular_function", ("genes that enable {}",), ("<located_in", "gene")),),
        ("In which cellular components are {clauses} located?", "Which cellular components hold {clauses}?"),
    ),
    Pattern(
        "molecular_function",
        (Clause("<enables", "gene", ("enabled by {}",)),),
        ("Which molecular functions are {clauses}?", "What is the molecular function {clauses}?"),
    ),
)
WORDNET = (
    Pattern(
        "noun",
        (Clause("<hyponym", "noun", ("{}",)),),
        ("What are the hyponyms of {clauses}?", "List hyponyms of {clauses}"),
    ),
    Pattern(
        "noun",
        (Clause("<hypernym", "noun", ("{}",)),),
        ("Which noun is the hypernym of {clauses}?", "What is a hypernym of {clauses}?"),
    ),
    Pattern(
        "noun",
        (Clause("<part_meronym", "noun", ("{}",)),),
        ("What are the part meronyms of {clauses}?", "Which parts does {clauses} have?"),
    ),
    Pattern(
        "adj",
        (Clause("similar_to", "adj", ("{}",)),),
        ("Which adjectives are similar to {clauses}?", "Name adjectives like {clauses}."),
    ),
    Pattern(
        "adj",
        (Clause("antonym", "adj", ("{}",)),),
        ("What is the antonym of {clauses}?", "Which adjective is the antonym of {clauses}?"),
    ),
    Pattern(
        "adv",
        (Clause("derived_from_adj", "adj", ("{}",)),),
        ("Which adverb is derived from {clauses}?", "Which adverbs come from the adjective {clauses}?"),
    ),
    Pattern(
        "verb",
        (Clause("<entailment", "verb", ("{}",)),),
        ("Which verbs does {clauses} entail?", "What does the verb {clauses} entail?"),
    ),
    Pattern(
        "noun",
        (
            Clause("domain_topic", "noun", ("have the domain topic {}", "belong to the topic {}")),
            Clause("hypernym", "noun", ("have the hypernym {}", "are a kind of {}")),
        ),
        ("Which nouns {clauses}?",),
    ),
)


DEBIAN_PLAIN, DEBIAN_LOOSE, DEBIAN_TWO_HOPS = _debian(0), _debian(1), _two_hops()

FIRST_LOOK: Mapping[str, tuple[Pattern, ...]] = {
    "hetionet": (
        Pattern(
            "Gene",
            (
                Clause("<DuG", "Disease", ("are upregulated in {}", "get upregulated by {}")),
                Clause("GpMF", "Molecular Function", ("have the molecular function {}", "take part in {}")),
            ),
            ("Which genes {clauses}?", "I am looking for genes that {clauses}."),
        ),
        Pattern(
            "Compound",
            (
                Clause("CrC", "Compound", ("resemble {}", "look like {}")),
                Clause("CcSE", "Side Effect", ("may cause {}", "have been seen to cause {}")),
            ),
            ("Which compounds {clauses}?", "Tell me the compounds that {clauses}"),
        ),
        Pattern(
            "Disease",
            (
                Clause("DlA", "Anatomy", ("localize to the {}", "sit in the {}")),
                Clause("<CpD", "Compound", ("are palliated by {}", "are made bearable by {}")),
            ),
            ("Which diseases {clauses}?", "Do you know diseases that {clauses}?"),
        ),
        Pattern(
            "Side Effect",
            (Clause("<PCiC", "Pharmacologic Class", ("{}",), ("<CcSE", "Compound")),),
            ("Which side effects do compounds of the class {clauses} cause?",),
        ),
        Pattern(
            "Anatomy",
            (Clause("DpS", "Symptom", ("diseases presenting {}",), ("<DlA", "Disease")),),
            ("In which anatomies are {clauses} localized?", "Which anatomy do {clauses} localize to?"),
        ),
    ),
    "primekg_ibd": (
        Pattern(
            "drug",
            (
                Clause("target", "gene/protein", ("target {}", "have {} as their target")),
                Clause("transporter", "gene/protein", ("use the transporter {}", "are carried by the transporter {}")),
            ),
            ("Which drugs {clauses}?", "What medicines {clauses}?"),
        ),
        Pattern(
            "gene/protein",
            (
                Clause("<associated with", "disease", ("are associated with {}", "matter in {}")),
                Clause("<interacts with", "biological_process", ("interact with {}", "play a role in {}")),
            ),
            ("Which proteins {clauses}?", "Which genes {clauses}?", "Find genes or proteins that {clauses}."),
        ),
        Pattern(
            "cellular_component",
            (Clause("<target", "drug", ("the proteins that {} targets",), ("interacts with", "gene/protein")),),
            ("Which cellular components interact with {clauses}?",),
        ),
    ),
    "debian_bookworm": (
        Pattern(
            "package",
            (
                Clause("provides", "virtual", ("provide {}", "offer {}")),
                Clause("maintained_by", "maintainer", ("have the maintainer {}", "are kept by {}")),
            ),
            ("Which packages {clauses}?", "List every package that would {clauses}"),
        ),
        Pattern(
            "source",
            (Clause("depends", "package", ("packages depending on {}",), ("<built_from", "package")),),
            ("From which sources are {clauses} built?", "What sources are the {clauses} built from?"),
        ),
        Pattern(
            "package",
            (Clause("<depends", "package", ("{}",)),),
            ("What does {clauses} depend on?", "Which packages does {clauses} depend on?"),
        ),
        Pattern(
            "package",
            (Clause("enhances", "package", ("{}",)),),
            ("Which packages enhance {clauses}?", "Tell me which package enhances {clauses}"),
        ),
        Pattern(
            "maintainer",
            (Clause("<maintained_by", "package", ("{}",)),),
            ("Who maintains {clauses}?", "Who is the maintainer of {clauses}?"),
        ),
    ),
    "go_genes": (
        Pattern(
            "biological_process",
            (Clause("isa", "biological_process", ("{}",)), Clause("<involved_in", "gene", ("involve {}",))),
            ("Which biological processes are a {clauses}?",),
        ),
        Pattern(
            "cellular_component",
            (Clause("part of", "cellular_component", ("part of the {}", "a part of {}")),),
            ("Which cellular components are {clauses}?", "What is {clauses}?"),
        ),
        Pattern(
            "gene",
            (
                Clause("located_in", "cellular_component", ("sit in the {}", "are located in {}")),
                Clause("enables", "molecular_function", ("show {}", "are enabling {}")),
            ),
            ("Which human genes {clauses}?", "Name all genes which {clauses}"),
        ),
        Pattern(
            "biological_process",
            (Clause("positively regulates", "biological_process", ("{}",)),),
            (
                "What positively regulates {clauses}?",
                "By which biological processes is {clauses} positively regulated?",
            ),
        ),
        Pattern(
            "molecular_function",
            (Clause("<enables", "gene", ("{}",)), Clause("<enables", "gene", ("{}",))),
            ("Which molecular functions do both {clauses} enable?", "What functions are shared by {clauses}?"),
        ),
    ),
    "wordnet30": (
        Pattern(
            "noun",
            (Clause("<member_meronym", "noun", ("{}",)),),
            ("What are the member meronyms of {clauses}?", "Which nouns are member meronyms of {clauses}?"),
        ),
        Pattern(
            "noun",
            (Clause("<substance_meronym", "noun", ("{}",)),),
            ("What is a substance meronym of {clauses}?", "Name the substance meronyms of {clauses}"),
        ),
        Pattern("verb", (Clause("verb_group", "verb", ("{}",)),), ("Which verbs are in a verb group with {clauses}?",)),
        Pattern(
            "noun",
            (Clause("<attribute", "adj", ("{}",)),),
            ("Of which noun is {clauses} an attribute?", "Which noun has the attribute {clauses}?"),
        ),
        Pattern(
            "adj",
            (Clause("pertainym", "noun", ("{}",)),),
            ("Which adjective pertains to {clauses}?", "What adjective is the pertainym of {clauses}?"),
        ),
        Pattern(
            "verb",
            (Clause("<cause", "verb", ("{}",)),),
            ("What does the verb {clauses} cause?", "Which verb is caused by {clauses}?"),
        ),
    ),
    "disease_ontology": (
        Pattern(
            "node",
            (Clause("is_a", "node", ("{}",)),),
            (
                "What kinds of {clauses} are there?",
                "Which diseases are a {clauses}?",
                "List the subtypes of {clauses}.",
            ),
        ),
        Pattern(
            "node",
            (Clause("<is_a", "node", ("{}",)),),
            (
                "What is {clauses} a kind of?",
                "What kind of disease is {clauses}?",
                "Which group does {clauses} belong to?",
            ),
        ),
    ),
}
