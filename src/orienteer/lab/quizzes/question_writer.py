"""A plan in words, by rules: the schema's labels, and a few sentences among which chance chooses.

A condition becomes a clause. An open question asks for all nodes that meet the clauses; a question of the grid asks
for one, for several, how many there are, or whether there is any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.ingest.tables.labels import PHRASE
from orienteer.lab.evaluation.examples import AnswerType
from orienteer.lab.quizzes.gold import meets_itself
from orienteer.lab.quizzes.plan import EdgeStep, QuestionPlan, WalkCondition
from orienteer.reading import phrasing as english
from orienteer.reading.phrasing import EdgePhrase, relation

_NAMELESS = frozenset({"node", "vertex", "item", "thing"})
"""Node types that say nothing: their nodes are called things."""
_CONNECTED = ("are connected to {}", "are directly linked to {}")
_LINKED = ("are directly linked to {}",)
"""How a question of the grid says any edge: nodes further apart are `connected` too."""
_PEOPLE = ("er", "or", "ist", "person", "man")
"""Endings of nouns for people, who are `them` in a question; a thing is `it`."""
_NOTHING: Mapping[int, str] = MappingProxyType({})


class _SlotText(NamedTuple):
    """The text in a slot: `BRCA1`, `both BRCA1 and TP53`, `genes that bind BRCA1`."""

    text: str
    typed: str
    """The same with its node type before it, if its name alone may mean others."""
    is_several: bool = False
    """Several names, or a plural with a clause of its own."""
    is_clause: bool = False
    is_described: bool = False
    """One node that is not named: `the only gene that binds BRCA1`."""


class _Clause(NamedTuple):
    """One condition on the answers in its forms, or None for a form that it does not have."""

    predicate: str | None
    """Of several answers: `bind BRCA1`, `are part of BRCA1`."""
    relative: str | None
    """`BRCA1 binds`."""
    question: str | None
    """`does BRCA1 bind`."""
    is_long: bool
    """The slot holds a clause of its own: a relative clause around it would be hard to read."""


@dataclass(frozen=True, slots=True)
class QuestionWriter:
    """Puts plans into words. The same generator state gives the same words."""

    graph: Graph
    chance: np.random.Generator

    def open_question(self, plan: QuestionPlan) -> str:
        """Return a plan as a question for all nodes that its conditions lead to, however many they are."""
        nouns = english.plural(self._noun(plan.answer_type))
        if _comes_back(plan.conditions):
            nouns = f"other {nouns}"
        clauses = self._clauses(plan.conditions, _CONNECTED)
        if plan.constraint is not None:
            phrase = f"“{plan.constraint.phrase}”"
            ways = [f"mention {phrase} in their description", f"are described with the words {phrase}"]
            ways.append(f"have {phrase} in their text")
            if plan.constraint.property is not None:
                name = " ".join(english.words_of(plan.constraint.property))
                ways = [f"have the {name} {phrase}", f"have {phrase} as their {name}"]
            clauses.append(_Clause(self._chosen(ways), None, None, is_long=False))
        return _capital(self._chosen(_open_frames(nouns, clauses)))

    def question(self, plan: QuestionPlan, answer_type: AnswerType) -> str:
        """Return a plan as a question for an answer of a type.

        A hybrid's first node is described in a sentence before; if one clause is enough to describe it, the description
        takes the place of its name instead.
        """
        described, opening = _NOTHING, ""
        if (first := plan.first) is not None:
            # `the only gene that binds BRCA1`: the conditions that lead to the first node alone.
            clauses = sorted(self._clauses(first.conditions, _LINKED), key=lambda clause: clause.is_long)
            noun = self._asked_noun(first)
            only = f"the only {noun} {_relative(clauses, noun)}"
            is_short = first.hops == 1 and len(plan.conditions) == 1
            opening = "" if is_short else self._chosen([f"consider {only}. ", f"take {only}. "])
            described = {plan.conditions[0].anchor: only if is_short else f"this {self._noun(first.answer_type)}"}
        ways = self._joined(plan, described) if plan.target is not None else self._ways(plan, answer_type, described)
        text = self._chosen(ways)
        return f"{_capital(opening)}{_capital(text)}"

    def _ways(self, plan: QuestionPlan, answer_type: AnswerType, described: Mapping[int, str]) -> list[str]:
        """Return the ways to ask for the nodes that the conditions of a plan lead to."""
        noun = self._asked_noun(plan)
        nouns = english.plural(noun)
        clauses = sorted(self._clauses(plan.conditions, _LINKED, described), key=lambda clause: clause.is_long)
        several, single = _relative(clauses), _relative(clauses, noun)
        inverted = [clause.question for clause in clauses if clause.question is not None and len(clauses) == 1]
        # `that bind X` is also said as `which genes bind X?`; a clause in which X is the subject is not.
        is_bare = all(clause.predicate is not None for clause in clauses)
        bare = [relative.removeprefix("that ") for relative in (several, single)] if is_bare else []
        if answer_type == "boolean":
            ways = [f"is there any {noun} {single}?"]
            a_noun = f"an{noun}" if noun.startswith("other ") else english.article(noun)
            return ways if noun == nouns else [*ways, f"is there {a_noun} {single}?"]
        if answer_type == "entity":
            ways = [
                f"which is the only {noun} {single}?",
                f"find the only {noun} {single}.",
                f"what is the only {noun} {single}?",
            ]
            return ways + [f"which {noun} {predicate}?" for predicate in (*bare[1:], *inverted)]
        if answer_type == "number":
            ways = [] if inverted and not bare else [f"what is the number of {nouns} {several}?"]
            return ways + [f"how many {nouns} {predicate}?" for predicate in (*bare[:1], *inverted)]
        ways = [f"find the {nouns} {several}.", f"list the {nouns} {several}."]
        predicates = (*bare[:1], *inverted)
        return ways + [f"{which} {nouns} {predicate}?" for predicate in predicates for which in ("which", "what")]

    def _asked_noun(self, plan: QuestionPlan) -> str:
        noun = self._noun(plan.answer_type)
        is_other = _comes_back(plan.conditions) or meets_itself(self.graph, plan)
        return f"other {noun}" if is_other else noun

    def _joined(self, plan: QuestionPlan, described: Mapping[int, str]) -> list[str]:
        """Return the ways to ask whether a step joins two nodes."""
        condition, target = plan.conditions[0], plan.target
        assert target is not None
        clause = self._clauses([condition], _LINKED, described)[0]
        name = self._named(target)
        if condition.steps[0].edge_type is None:
            head = described.get(condition.anchor) or self._named(condition.anchor)
            return [f"is {head} directly linked to {name}?", f"is {name} directly linked to {head}?"]
        ways = list[str]()
        if clause.question is not None and " as a" not in clause.question:
            ways.append(f"{clause.question} {name}?")
        if clause.predicate is not None:
            ways.append(whether(name, clause.predicate))
        return ways or [f"{clause.question} {name}?"]

    def _clauses(
        self, conditions: Sequence[WalkCondition], links: Sequence[str], described: Mapping[int, str] = _NOTHING
    ) -> list[_Clause]:
        """Return a clause for each condition; conditions of one hop by the same step share a clause."""
        groups: dict[tuple[object, ...], list[WalkCondition]] = {}
        for condition in conditions:
            # `genes that both A and B bind` are bound by both: two walks by such genes need not meet in one.
            key = condition.steps if len(condition.steps) == 1 else (condition,)
            groups.setdefault(key, []).append(condition)
        names, clauses = self.graph.arrays.names, []
        for group in groups.values():
            slots = [
                _SlotText(described[row], described[row], is_described=True)
                if row in described
                else _SlotText(_quoted(names[row]), self._named(row))
                for row, _ in group
            ]
            clauses.append(self._clause(group[0].steps, slots, links))
        return clauses

    def _clause(self, steps: Sequence[EdgeStep], anchors: Sequence[_SlotText], links: Sequence[str]) -> _Clause:
        phrase = self._phrase(steps[-1], links)
        if len(steps) == 1:
            return _filled(phrase, _together(anchors))
        inner = self._clause(steps[:-1], anchors, links)
        relative = self._chosen([way for way in (inner.predicate, inner.relative) if way is not None])
        text = f"{english.plural(self._noun(steps[-1].start))} that {relative}"
        return _filled(phrase, _SlotText(text, text, is_several=True, is_clause=True))

    def _phrase(self, step: EdgeStep, links: Sequence[str]) -> EdgePhrase:
        """Return the phrase of the nodes that a step leads to; its start is the slot."""
        if step.edge_type is None:
            return EdgePhrase(self._chosen(links))
        source, target = (step.end, step.start) if step.is_forward is False else (step.start, step.end)
        schema = self.graph.schema
        aliases = [alias for alias in schema.also_called.get(step.edge_type, ()) if not PHRASE.match(alias)]
        label = self._chosen([schema.label(step.edge_type), *aliases])
        phrases = relation(label, self._noun(source), self._noun(target), is_mutual=step.is_forward is None)
        return phrases.of_sources if step.is_forward is False else phrases.of_targets

    def _named(self, row: int) -> str:
        """Return a node's name as a question holds it, with its type if other nodes share the name."""
        name, noun = _quoted(self.graph.arrays.names[row]), self._noun(self.graph.arrays.type_at(row))
        shares = any(other != row for other in self.graph.arrays.candidates(self.graph.arrays.names[row]))
        return f"the {noun} {name}" if shares else name

    def _noun(self, node_type: str) -> str:
        """Return the noun of a node type, in the singular."""
        words = " ".join(english.words_of(self.graph.schema.label(node_type)))
        if "/" in node_type:
            words = "/".join(" ".join(english.words_of(part)) for part in node_type.split("/"))
        return "thing" if words in _NAMELESS or not words else words

    def _chosen(self, ways: Sequence[str]) -> str:
        """Return one of several ways to say the same."""
        return ways[int(self.chance.integers(len(ways)))]


def _quoted(name: str) -> str:
    """Return a name as a question holds it: in quotation marks if its own words or symbols would break a sentence."""
    is_plain = not any(mark in name for mark in ',;:?!"“”') and not {"and", "or", "that"} & set(name.lower().split())
    return name if is_plain else f"“{name}”"


def _comes_back(conditions: Sequence[WalkCondition]) -> bool:
    """Return whether a condition goes out and back by one kind of edge, so that its anchor meets the condition too."""
    return any(len(steps) == 2 and steps[1] == steps[0].turned for _, steps in conditions)


def _together(anchors: Sequence[_SlotText]) -> _SlotText:
    """Return several anchors as one slot: `both A and B`, `all of A, B and C`."""
    if len(anchors) == 1:
        return anchors[0]
    *first, last = (anchor.typed for anchor in anchors)
    text = f"both {first[0]} and {last}" if len(first) == 1 else f"all of {', '.join(first)} and {last}"
    return _SlotText(text, text, is_several=True, is_described=any(anchor.is_described for anchor in anchors))


def _filled(phrase: EdgePhrase, slot: _SlotText) -> _Clause:
    predicate, relative, question = phrase.predicate, phrase.relative, phrase.question
    if slot.is_several:
        predicate = (phrase.predicate_of_clause if slot.is_clause else phrase.predicate_of_many) or predicate
        relative, question = phrase.relative_of_many, phrase.question_of_many
    # `have the tag {}` and `are in the section {}` name the type themselves.
    name = slot.text if phrase.predicate_of_many is not None and not slot.is_several else slot.typed
    return _Clause(
        predicate and predicate.format(name),
        relative and relative.format(slot.typed),
        question and question.format(slot.typed),
        is_long=slot.is_clause or slot.is_described,
    )


def _open_frames(answers: str, clauses: Sequence[_Clause]) -> list[str]:
    """Return the ways to ask for the nodes that meet all clauses."""
    awkward = [clause for clause in clauses if clause.predicate is None]
    predicates = [clause.predicate for clause in clauses if clause.predicate is not None]
    several = _enumeration(predicates) if predicates else ""
    if not awkward:
        frames = [f"which {answers} {several}?", f"what {answers} {several}?", f"find the {answers} that {several}."]
        if len(clauses) > 1:
            return [*frames, f"which are the {answers} that {several}?"]
        question = None if clauses[0].is_long else clauses[0].question
        inverted = () if question is None else (f"which {answers} {question}?",)
        return [*frames, f"list {answers} that {several}.", *inverted]
    if len(awkward) == 1 and not predicates:
        frames = [f"which {answers} {awkward[0].question}?", f"what {answers} {awkward[0].question}?"]
        return frames if awkward[0].is_long else [*frames, f"find the {answers} that {awkward[0].relative}."]
    if len(awkward) == 1 and awkward[0].is_long:
        return [f"which of the {answers} that {several} {awkward[0].question}?"]
    relatives = _enumeration([f"that {clause.relative}" for clause in awkward])
    if not predicates:
        return [f"which are the {answers} {relatives}?", f"find the {answers} {relatives}."]
    return [
        f"which of the {answers} {relatives} {several}?",
        f"find the {answers} {_enumeration([relatives, *(f'that {predicate}' for predicate in predicates)])}.",
    ]


def _enumeration(parts: Sequence[str]) -> str:
    """Join parts as a sentence does: `a`, `a and b`, `a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _relative(clauses: Sequence[_Clause], noun: str | None = None) -> str:
    """Return clauses as relative ones: `that bind BRCA1`, with a noun `that binds BRCA1 and that TP53 regulates`."""
    parts = list[str]()
    for clause in clauses:
        part = str(clause.relative) if clause.predicate is None else clause.predicate
        if noun is not None and clause.predicate is not None:
            part = singular(clause.predicate)
            if part.endswith(" them") and not noun.endswith(_PEOPLE):
                part = f"{part.removesuffix('them')}it"
        parts.append(part)
    parts = _merged(parts, are_short=not clauses[-1].is_long)
    is_bare = all(clause.predicate is not None for clause in clauses)
    # After a clause that holds another one, a comma and `also` show which of the two goes on.
    parted = ", and that also " if clauses[0].is_long else " and " if is_bare else " and that "
    return f"that {parted.join(parts)}"


def _merged(parts: list[str], *, are_short: bool) -> list[str]:
    """Join two links by any edge into one, if there is no clause between them."""
    begin = next((link for link in ("is directly linked to ", "are directly linked to ") if link in parts[0]), None)
    if begin is None or len(parts) != 2 or not all(part.startswith(begin) for part in parts) or " that " in parts[0]:
        return parts
    first, second = (part.removeprefix(begin) for part in parts)
    return [f"{begin}both {first} and {second}" if are_short else f"{begin}{first} and also to {second}"]


def singular(predicate: str) -> str:
    """Return a predicate of several things as one of a single thing: `are kinds of X`, `bind X` as `is a kind of X`."""
    words = predicate.split(" ")
    at = next((at for at, word in enumerate(words) if not word.endswith("ly")), 0)
    verb = words[at]
    if verb in ("are", "were"):
        return " ".join([*words[:at], "is" if verb == "are" else "was", *_article_before(words[at + 1 :])])
    if _is_past(verb):
        return predicate
    before, dash, base = verb.rpartition("-")
    return " ".join([*words[:at], before + dash + english.third_of(base), *words[at + 1 :]])


def whether(subject: str, predicate: str) -> str:
    """Return the question whether a predicate of several things is true of one: `does X bind Y?`."""
    verb, _, rest = predicate.partition(" ")
    if verb in ("are", "were"):
        return f"{'is' if verb == 'are' else 'was'} {subject} {' '.join(_article_before(rest.split(' ')))}?"
    if _is_past(verb):
        base = english.PAST.get(verb) or next(
            (base for base in (verb[:-2], verb[:-1]) if base in english.VERBS), verb[:-2]
        )
        return f"did {subject} {base} {rest}?"
    return f"does {subject} {predicate}?"


def _article_before(words: Sequence[str]) -> list[str]:
    """Return `members of X` as `a member of X`; words without a plural before an `of` are unchanged."""
    stop = next((at for at, word in enumerate(words) if word in english.PREPOSITIONS or word in ("of", "that")), 0)
    of = stop if stop and words[stop] == "of" else 0
    last = words[of - 1] if of else ""
    for noun in (f"{last[:-3]}y", last[:-2], last[:-1]):
        if last.endswith("s") and len(noun) > 2 and english.plural(noun) == last:
            return [*english.article(" ".join([*words[: of - 1], noun])).split(" "), *words[of:]]
    return list(words)


def _is_past(verb: str) -> bool:
    return verb in english.PAST or (verb.endswith("ed") and len(verb) > 4)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
