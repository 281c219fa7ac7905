"""A draft in words, by rules: the schema's labels and further words, and a few frames among which chance chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.ingest.tables.labels import PHRASE
from orienteer.quizzes.questions import words as english
from orienteer.quizzes.questions.draft import Condition, Constraint, Draft, Step
from orienteer.quizzes.questions.relations import Said, relation

_NAMELESS = frozenset({"node", "vertex", "item", "thing"})
"""Node types that say nothing: what is of them is a thing."""
_CONNECTED = ("are connected to {}", "are directly linked to {}")


class _Thing(NamedTuple):
    """What stands in a slot: `BRCA1`, `both BRCA1 and TP53`, `genes that bind BRCA1`."""

    text: str
    typed: str
    """The same with its node type before it, where its name alone may mean others."""
    is_several: bool = False
    """Several names, or a plural with a clause of its own."""
    is_clause: bool = False
    is_described: bool = False
    """One node that is not named: `the only gene that binds BRCA1`."""


class Clause(NamedTuple):
    """One condition on the answers, filled. None where there is no way to say it so."""

    predicate: str | None
    """Of several answers: `bind BRCA1`, `are part of BRCA1`."""
    relative: str | None
    """`BRCA1 binds`."""
    asked: str | None
    """`does BRCA1 bind`."""
    is_long: bool
    """The slot holds a clause of its own: a relative clause around it would be hard to read."""


@dataclass(frozen=True, slots=True)
class Phrasing:
    """Puts drafts into words. The same generator state gives the same words."""

    graph: Graph
    chance: np.random.Generator
    links: Sequence[str] = _CONNECTED
    """Ways to say that any edge joins two nodes."""

    def question(self, draft: Draft) -> str:
        """Return a draft as a question."""
        answers = english.plural(self.noun(draft.answer_type))
        if comes_back(draft.conditions):
            answers = f"other {answers}"
        clauses = self.clauses(draft.conditions)
        if draft.constraint is not None:
            clauses.append(Clause(self._constraint(draft.constraint), None, None, is_long=False))
        text = self.chosen(frames(answers, clauses))
        return text[:1].upper() + text[1:]

    def clauses(
        self, conditions: Sequence[Condition], described: Mapping[int, str] = MappingProxyType({})
    ) -> list[Clause]:
        """Return a clause a condition; conditions by the same steps share one, where those are one hop.

        `described` holds what stands for a row in place of its name.
        """
        groups: dict[tuple[object, ...], list[Condition]] = {}
        for condition in conditions:
            # `genes that both A and B bind` are bound by both: two walks by such genes need not meet in one.
            key = condition.steps if len(condition.steps) == 1 else (condition,)
            groups.setdefault(key, []).append(condition)
        return [
            self._clause(group[0].steps, [self._anchor(one, described) for one in group]) for group in groups.values()
        ]

    def _clause(self, steps: Sequence[Step], anchors: Sequence[_Thing]) -> Clause:
        said = self.said(steps[-1])
        if len(steps) == 1:
            return _filled(said, _together(anchors))
        inner = self._clause(steps[:-1], anchors)
        told = self.chosen([one for one in (inner.predicate, inner.relative) if one is not None])
        text = f"{english.plural(self.noun(steps[-1].start))} that {told}"
        return _filled(said, _Thing(text, text, is_several=True, is_clause=True))

    def said(self, step: Step) -> Said:
        """Return how nodes are told of to which a step leads; what it leads from stands in the slot."""
        if step.edge_type is None:
            return Said(self.chosen(self.links))
        source, target = (step.end, step.start) if step.is_forward is False else (step.start, step.end)
        found = relation(
            self._label(step.edge_type), self.noun(source), self.noun(target), is_mutual=step.is_forward is None
        )
        return found.of_sources if step.is_forward is False else found.of_targets

    def _anchor(self, condition: Condition, described: Mapping[int, str]) -> _Thing:
        row = condition.anchor
        if row in described:
            return _Thing(described[row], described[row], is_described=True)
        return _Thing(quoted(self.graph.names[row]), self.named(row))

    def named(self, row: int) -> str:
        """Return a node's name as a question holds it, its type before it where the name alone may mean others."""
        name, noun = quoted(self.graph.names[row]), self.noun(self.graph.type_at(row))
        shares = any(one != row for one in self.graph.candidates(self.graph.names[row]))
        return f"the {noun} {name}" if shares else name

    def _constraint(self, constraint: Constraint) -> str:
        if constraint.property is not None:
            what = " ".join(english.words_of(constraint.property))
            return self.chosen(
                [f"have the {what} “{constraint.phrase}”", f"have “{constraint.phrase}” as their {what}"]
            )
        return self.chosen(
            [
                f"mention “{constraint.phrase}” in their description",
                f"are described with the words “{constraint.phrase}”",
                f"have “{constraint.phrase}” in their text",
            ]
        )

    def noun(self, node_type: str) -> str:
        """Return what a node of a type is called, in the singular."""
        words = " ".join(english.words_of(self.graph.schema.label(node_type)))
        if "/" in node_type:
            words = "/".join(" ".join(english.words_of(part)) for part in node_type.split("/"))
        return "thing" if words in _NAMELESS or not words else words

    def _label(self, edge_type: str) -> str:
        schema = self.graph.schema
        further = [one for one in schema.also_called.get(edge_type, ()) if not PHRASE.match(one)]
        return self.chosen([schema.label(edge_type), *further])

    def chosen(self, ways: Sequence[str]) -> str:
        """Return one of several ways to say the same."""
        return ways[int(self.chance.integers(len(ways)))]


def quoted(name: str) -> str:
    """Return a name as a question holds it: in quotation marks where its own words or marks would break a sentence."""
    is_plain = not any(mark in name for mark in ',;:?!"“”') and not {"and", "or", "that"} & set(name.lower().split())
    return name if is_plain else f"“{name}”"


def comes_back(conditions: Sequence[Condition]) -> bool:
    """Tell whether a condition goes out and back by one kind of edge, so that its anchor meets the condition itself."""
    return any(len(steps) == 2 and steps[1] == steps[0].turned for _, steps in conditions)


def _together(anchors: Sequence[_Thing]) -> _Thing:
    if len(anchors) == 1:
        return anchors[0]
    *first, last = (anchor.typed for anchor in anchors)
    text = f"both {first[0]} and {last}" if len(first) == 1 else f"all of {', '.join(first)} and {last}"
    return _Thing(text, text, is_several=True, is_described=any(anchor.is_described for anchor in anchors))


def _filled(said: Said, thing: _Thing) -> Clause:
    predicate = said.predicate
    if thing.is_clause:
        predicate = said.predicate_of_clause or predicate
    elif thing.is_several:
        predicate = said.predicate_of_many or predicate
    relative, asked = (said.relatives, said.askeds) if thing.is_several else (said.relative, said.asked)
    # `have the tag {}` and `are in the section {}` name the type themselves.
    named = thing.text if said.predicate_of_many is not None and not thing.is_several else thing.typed
    return Clause(
        None if predicate is None else predicate.format(named),
        None if relative is None else relative.format(thing.typed),
        None if asked is None else asked.format(thing.typed),
        is_long=thing.is_clause or thing.is_described,
    )


def frames(answers: str, clauses: Sequence[Clause]) -> list[str]:
    """Return the ways to ask for what meets all clauses."""
    predicates = [one.predicate for one in clauses if one.predicate is not None]
    if len(predicates) == len(clauses):
        told = listed(predicates)
        frames = [f"which {answers} {told}?", f"what {answers} {told}?", f"find the {answers} that {told}."]
        frames += [f"list {answers} that {told}."] if len(clauses) == 1 else [f"which are the {answers} that {told}?"]
        only = clauses[0]
        return (
            frames
            if len(clauses) > 1 or only.asked is None or only.is_long
            else [*frames, f"which {answers} {only.asked}?"]
        )
    awkward = [one for one in clauses if one.predicate is None]
    others = [one for one in clauses if one.predicate is not None]
    if len(awkward) == 1 and not others:
        frames = [f"which {answers} {awkward[0].asked}?", f"what {answers} {awkward[0].asked}?"]
        return frames if awkward[0].is_long else [*frames, f"find the {answers} that {awkward[0].relative}."]
    if len(awkward) == 1 and awkward[0].is_long:
        return [f"which of the {answers} that {listed(predicates)} {awkward[0].asked}?"]
    relatives = listed([f"that {one.relative}" for one in awkward])
    if not others:
        return [f"which are the {answers} {relatives}?", f"find the {answers} {relatives}."]
    return [
        f"which of the {answers} {relatives} {listed(predicates)}?",
        f"find the {answers} {listed([relatives, *(f'that {one}' for one in predicates)])}.",
    ]


def listed(parts: Sequence[str]) -> str:
    """Join parts as a sentence does: `a`, `a and b`, `a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
