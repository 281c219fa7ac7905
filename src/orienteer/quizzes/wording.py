"""A plan in words: the clauses of `orienteer questions` in sentences that ask for one, several, how many, whether."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from orienteer.evaluation.examples import AnswerType
from orienteer.graph.store import Graph
from orienteer.quizzes.plan import Plan, meets_itself
from orienteer.quizzes.questions import words as english
from orienteer.quizzes.questions.phrasing import Clause, Phrasing, comes_back

_LINKED = ("are directly linked to {}",)
"""How any edge is said: `connected` would hold of nodes that lie further apart too."""
_PEOPLE = ("er", "or", "ist", "person", "man")
"""Ends of nouns for someone of whom a question says `them`; of a thing it says `it`."""
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
        """Return a plan as a question for an answer of a type; what a hybrid goes on from is told in a sentence first.

        Where one clause is enough to describe it, the description stands in place of its name.
        """
        described, opening = _NOTHING, ""
        if plan.first is not None:
            told = self._described(plan.first)
            noun = self._phrasing.noun(plan.first.conditions[0].steps[-1].end)
            is_short = plan.first.hops == 1 and len(plan.conditions) == 1
            opening = "" if is_short else self._phrasing.chosen([f"consider {told}. ", f"take {told}. "])
            described = {plan.conditions[0].anchor: told if is_short else f"this {noun}"}
        ways = self._joined(plan, described) if plan.target is not None else self._asked(plan, answer_type, described)
        text = self._phrasing.chosen(ways)
        return f"{_capital(opening)}{_capital(text)}"

    def _asked(self, plan: Plan, answer_type: AnswerType, described: Mapping[int, str]) -> list[str]:
        """Return the ways to ask for what the conditions of a plan lead to."""
        noun = self._noun(plan)
        nouns = english.plural(noun)
        clauses = sorted(self._phrasing.clauses(plan.conditions, described), key=lambda clause: clause.is_long)
        several, one = _told(clauses), _told(clauses, noun)
        asked = [clause.asked for clause in clauses if clause.asked is not None and len(clauses) == 1]
        # `that bind X` is also said as `which genes bind X?`; a clause in which X is the subject is not.
        bare = [told.removeprefix("that ") for told in (several, one)] if _is_bare(clauses) else []
        if answer_type == "boolean":
            ways = [f"is there any {noun} {one}?"]
            return ways if noun == nouns else [*ways, f"is there {_with_article(noun)} {one}?"]
        if answer_type == "entity":
            ways = [
                f"which is the only {noun} {one}?",
                f"find the only {noun} {one}.",
                f"what is the only {noun} {one}?",
            ]
            return ways + [f"which {noun} {told}?" for told in (*bare[1:], *asked)]
        if answer_type == "number":
            ways = [] if asked and not bare else [f"what is the number of {nouns} {several}?"]
            return ways + [f"how many {nouns} {told}?" for told in (*bare[:1], *asked)]
        ways = [f"find the {nouns} {several}.", f"list the {nouns} {several}."]
        return ways + [f"{which} {nouns} {told}?" for told in (*bare[:1], *asked) for which in ("which", "what")]

    def _noun(self, plan: Plan) -> str:
        noun = self._phrasing.noun(plan.conditions[0].steps[-1].end)
        is_other = comes_back(plan.conditions) or meets_itself(self.graph, plan)
        return f"other {noun}" if is_other else noun

    def _described(self, first: Plan) -> str:
        """Return a node by what leads to it alone: `the only gene that binds BRCA1`."""
        clauses = sorted(self._phrasing.clauses(first.conditions), key=lambda clause: clause.is_long)
        return f"the only {self._noun(first)} {_told(clauses, self._noun(first))}"

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


def _is_bare(clauses: Sequence[Clause]) -> bool:
    return all(clause.predicate is not None for clause in clauses)


def _told(clauses: Sequence[Clause], noun: str | None = None) -> str:
    """Return clauses on several things, or on one that is called so: `that binds BRCA1 and that TP53 regulates`.

    After a clause that holds another one a comma and `also` say which of the two is gone on from.
    """
    parts = list[str]()
    for clause in clauses:
        said = clause.relative if clause.predicate is None else clause.predicate
        if noun is not None and clause.predicate is not None:
            said = singular(clause.predicate)
            if said.endswith(" them") and not noun.endswith(_PEOPLE):
                said = f"{said.removesuffix('them')}it"
        parts.append(str(said))
    parts = _merged(parts, are_short=not clauses[-1].is_long)
    parted = ", and that also " if clauses[0].is_long else " and that " if not _is_bare(clauses) else " and "
    return f"that {parted.join(parts)}"


def _merged(parts: list[str], *, are_short: bool) -> list[str]:
    """Say what any edge leads to only once, where no clause stands between."""
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
    stop = next((at for at, word in enumerate(words) if word in english.PREPOSITIONS or word in ("of", "that")), 0)
    of = stop if stop and words[stop] == "of" else 0
    last = words[of - 1] if of else ""
    for one in (f"{last[:-3]}y", last[:-2], last[:-1]):
        if last.endswith("s") and len(one) > 2 and english.plural(one) == last:
            return [*english.article(" ".join([*words[: of - 1], one])).split(" "), *words[of:]]
    return list(words)


def _is_past(verb: str) -> bool:
    return verb in english.PAST or (verb.endswith("ed") and len(verb) > 4)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _with_article(noun: str) -> str:
    return f"an{noun}" if noun.startswith("other ") else english.article(noun)
