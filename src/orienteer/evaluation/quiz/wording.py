"""A plan in words: the clauses of `orienteer questions` in sentences that ask for one, for several, how many, whether."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from orienteer.evaluation.examples import AnswerType
from orienteer.evaluation.questions import words as english
from orienteer.evaluation.questions.phrasing import Clause, Phrasing, comes_back, frames, listed
from orienteer.evaluation.quiz.plan import Plan
from orienteer.graph.store import Graph

_LINKED = ("are directly linked to {}",)
"""How any edge is said: `connected` would hold of nodes that lie further apart too."""
_NOTHING: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Wording:
    """Puts plans into words. The same generator state gives the same words."""

    graph: Graph
    chance: np.random.Generator

    @property
    def _phrasing(self) -> Phrasing:
        return Phrasing(self.graph, self.chance, _LINKED)

    def question(self, plan: Plan, answer_type: AnswerType) -> str:
        """Return a plan as a question for an answer of a type."""
        described = _NOTHING
        if plan.first is not None:
            described = {plan.conditions[0].anchor: self._described(plan.first)}
        ways = self._joined(plan, described) if plan.target is not None else self._asked(plan, answer_type, described)
        text = self._phrasing.chosen(ways)
        return text[:1].upper() + text[1:]

    def _asked(self, plan: Plan, answer_type: AnswerType, described: Mapping[int, str]) -> list[str]:
        noun = self._noun(plan)
        clauses = self._phrasing.clauses(plan.conditions, described)
        if answer_type == "set":
            return frames(english.plural(noun), clauses)
        if answer_type == "number":
            return _counting(english.plural(noun), clauses)
        told = _told(clauses)
        if answer_type == "boolean":
            return [f"is there any {noun} {told}?", f"is there {_with_article(noun)} {told}?"]
        ways = [
            f"which is the only {noun} {told}?",
            f"find the only {noun} {told}.",
            f"what is the only {noun} {told}?",
        ]
        only = clauses[0]
        if len(clauses) == 1 and only.asked is not None and not only.is_long:
            ways.append(f"which {noun} {only.asked}?")
        if all(clause.predicate is not None for clause in clauses):
            ways.append(f"which {noun} {listed([singular(clause.predicate or '') for clause in clauses])}?")
        return ways

    def _noun(self, plan: Plan) -> str:
        noun = self._phrasing.noun(plan.conditions[0].steps[-1].end)
        return f"other {noun}" if comes_back(plan.conditions) else noun

    def _described(self, first: Plan) -> str:
        """Return a node by what leads to it alone: `the only gene that binds BRCA1`."""
        return f"the only {self._noun(first)} {_told(self._phrasing.clauses(first.conditions))}"

    def _joined(self, plan: Plan, described: Mapping[int, str]) -> list[str]:
        """Return the ways to ask whether a step joins two nodes."""
        condition, target = plan.conditions[0], plan.target
        assert target is not None
        phrasing, start = self._phrasing, condition.anchor
        clause = phrasing.clauses([condition], described)[0]
        name = phrasing.named(target)
        if condition.steps[0].edge_type is None:
            head = described.get(start) or phrasing.named(start)
            return [f"is {head} directly linked to {name}?", f"is {name} directly linked to {head}?"]
        ways = list[str]()
        if clause.asked is not None and " as a" not in clause.asked:
            ways.append(f"{clause.asked} {name}?")
        if clause.predicate is not None:
            ways.append(whether(name, clause.predicate))
        return ways or [f"{clause.asked} {name}?"]


def _told(clauses: Sequence[Clause]) -> str:
    """Return clauses on one thing: `that binds BRCA1 and that TP53 regulates`."""
    if all(clause.predicate is not None for clause in clauses):
        return f"that {listed([singular(clause.predicate or '') for clause in clauses])}"
    parts = [clause.relative if clause.predicate is None else singular(clause.predicate) for clause in clauses]
    return listed([f"that {part}" for part in parts])


def _counting(nouns: str, clauses: Sequence[Clause]) -> list[str]:
    """Return the ways to ask how many meet all clauses."""
    predicates = [clause.predicate for clause in clauses if clause.predicate is not None]
    if len(predicates) == len(clauses):
        told = listed(predicates)
        ways = [f"how many {nouns} {told}?", f"what is the number of {nouns} that {told}?"]
    else:
        parts = [clause.relative if clause.predicate is None else clause.predicate for clause in clauses]
        ways = [f"how many {nouns} are there {listed([f'that {part}' for part in parts])}?"]
    only = clauses[0]
    if len(clauses) == 1 and only.asked is not None and not only.is_long:
        ways.append(f"how many {nouns} {only.asked}?")
    return ways


def singular(predicate: str) -> str:
    """Return a predicate of several things as one of a single thing: `are kinds of X`, `bind X` as `is a kind of X`."""
    words = predicate.split(" ")
    at = next((at for at, word in enumerate(words) if not word.endswith("ly")), 0)
    verb = words[at]
    if verb in ("are", "were"):
        return " ".join([*words[:at], "is" if verb == "are" else "was", *_one(words[at + 1 :])])
    if _is_past(verb):
        return predicate
    before, dash, base = verb.rpartition("-")
    return " ".join([*words[:at], before + dash + english.third_of(base), *words[at + 1 :]])


def whether(subject: str, predicate: str) -> str:
    """Return the question whether a predicate of several things holds of one: `does X bind Y?`."""
    verb, _, rest = predicate.partition(" ")
    if verb in ("are", "were"):
        return f"{'is' if verb == 'are' else 'was'} {subject} {' '.join(_one(rest.split(' ')))}?"
    if _is_past(verb):
        base = english.PAST.get(verb) or next(
            (one for one in (verb[:-2], verb[:-1]) if one in english.VERBS), verb[:-2]
        )
        return f"did {subject} {base} {rest}?"
    return f"does {subject} {predicate}?"


def _one(words: Sequence[str]) -> list[str]:
    """Return `members of X` as `a member of X`; what is no plural before an `of` as it is."""
    of = next((at for at, word in enumerate(words) if word == "of"), 0)
    last = words[of - 1] if of else ""
    for one in (f"{last[:-3]}y", last[:-2], last[:-1]):
        if last.endswith("s") and len(one) > 2 and english.plural(one) == last:
            return [*english.article(" ".join([*words[: of - 1], one])).split(" "), *words[of:]]
    return list(words)


def _is_past(verb: str) -> bool:
    return verb in english.PAST or (verb.endswith("ed") and len(verb) > 4)


def _with_article(noun: str) -> str:
    return f"an{noun}" if noun.startswith("other ") else english.article(noun)
