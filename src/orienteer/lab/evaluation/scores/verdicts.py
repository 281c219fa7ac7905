"""Right, refused or wrong: what became of a question whose whole answer is known.

    gold                 answer of a method           verdict
    three nodes          these three, and no more     right
                         two of them                  wrong
                         "not in this graph"          refused
    unanswerable         "not in this graph"          right
                         any answer                   wrong

A method answers if it has an answer in words, or if it read the question exactly and says that its hits are complete.
A ranking alone answers nothing, and a question that failed has no answer: both count as refused, and are right nowhere.
Answers are compared in forms: words without case, marks and articles; numbers to two decimals; lists in any order, each
item once; groups as `name: number`, where those of nought may be left out. So a gold may also be sealed: a hash of its
form tells a right answer, and does not tell what it is.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Literal, TypeAlias

from orienteer.lab.evaluation.examples import Gold
from orienteer.lab.evaluation.running.runs import Line
from orienteer.lab.evaluation.scores.measures import normalise, short_answer

Verdict: TypeAlias = Literal["right", "refused", "wrong"]
# The shares of questions with each verdict, as measures.
VERDICTS: Mapping[str, Verdict] = {"Right": "right", "Refused": "refused", "Wrong": "wrong"}
# The beginning of forms that are no words: of no answer, of nodes, of true and false.
_MARK = "\0"
NOTHING = f"{_MARK}nothing"
# Ways to write a list. A name may hold a comma, so each is tried.
_BETWEEN = tuple(map(re.compile, ("; ?", r"\n", ", ?", r", and |, ?|;? and |; ?")))
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d{1,3}[.)])\s+", re.MULTILINE)
# Before the type that is meant by a name of several: `5 by the track; 21 by the artist`.
_SENSE = " by the "
_BOOLEANS = {"yes": "true", "true": "true", "no": "false", "false": "false"}
_GROUP = re.compile(r"(.+): ?(\S+)", re.DOTALL)


def verdict(line: Line) -> Verdict | None:
    """Return the verdict on a line of a run; None if its gold is not known, or k cut the answer short."""
    known = gold_forms(line.gold)
    if not (known or line.gold.sealed):
        return None
    if is_cut(line):
        has_their_number = line.reading is not None and line.reading.total == len(line.gold.nodes)
        return None if line.gold.sealed or has_their_number else "wrong"
    said = set(answer_forms(line))
    if said & known or any(seal(line.id, form) in line.gold.sealed for form in said):
        return "right"
    return "wrong" if said - {NOTHING} else "refused"


def is_cut(line: Line) -> bool:
    """Return whether an exact answer has more nodes than the ranking holds."""
    total = line.reading.total if line.reading is not None and line.reading.complete else None
    return line.answer is None and total is not None and total > sum(hit.complete for hit in line.hits)


@cache
def seal(question: str, form: str) -> str:
    """Return the hash of an answer's form; the form of a long answer cannot be guessed from it."""
    return hashlib.scrypt(form.encode(), salt=question.encode(), n=1 << 12, r=8, p=1, dklen=16).hex()


def gold_forms(gold: Gold) -> set[str]:
    """Return the forms of a right answer; none if the gold is not known, or sealed."""
    if gold.unanswerable:
        return {NOTHING}
    forms = {_nodes(gold.nodes)} if gold.nodes else set()
    if gold.answer_type == "boolean":
        return forms | set(map(_boolean, gold.answers))
    if gold.answers:
        filled = [answer for answer in gold.answers if not _is_nought(answer)]  # groups of nought may be left out
        forms |= {_items(some) for some in (gold.answers, filled) if some}
    return forms | {_items([answer]) for answer in gold.answers if gold.answer_type != "set"}


def answer_forms(line: Line) -> Iterator[str]:
    """Yield the forms of what a method answered; `NOTHING` if it says that it has no answer."""
    is_read = line.reading is not None and line.reading.complete
    answer = short_answer(line.answer, line.citations) if line.answer and line.error is None else ""
    if line.error is not None or not (answer.strip() or is_read):
        if line.refusal is not None:
            yield NOTHING
        return
    senses = line.reading.senses if line.reading is not None else ()
    for part in answer.split("; ") if len(senses) > 1 else ():
        yield from _forms(part.rpartition(_SENSE)[0])
    yield from _forms(answer)
    if is_read and not _is_value(answer):
        yield _nodes(hit.id for hit in line.hits if hit.complete)


def _forms(answer: str) -> Iterator[str]:
    """Yield the forms of an answer in words, by each way to write a list."""
    if not answer:
        return
    yield from (_items([answer]), _boolean(answer))
    yield from (_items(between.split(_BULLET.sub("", answer))) for between in _BETWEEN)


def _nodes(ids: Iterable[str]) -> str:
    return "\n".join([f"{_MARK}nodes", *sorted(set(ids))])


def _boolean(answer: str) -> str:
    return f"{_MARK}it is {_BOOLEANS.get(normalise(answer), answer)}"


def _items(items: Iterable[str]) -> str:
    return "\n".join(sorted({_item(item) for item in items if item.strip()}))


def _item(text: str) -> str:
    """Return an item in its form: `1,204` as `1204.00`, `Kernel: 5` as `kernel: 5.00`, `The Sea!` as `sea`."""
    group = _GROUP.fullmatch(text.strip())
    if group is not None and (number := _number(group[2])) is not None:
        return f"{normalise(group[1], lenient=True)}: {number:.2f}"
    number = _number(text)
    return normalise(text, lenient=True) if number is None else f"{number:.2f}"


def _number(text: str) -> float | None:
    """Return the number of a text that is only a number, such as `12.5 %`; else None."""
    try:
        number = float(normalise(text).replace(" ", ""))
    except ValueError:
        return None
    return number + 0.0 if math.isfinite(number) else None  # no -0


def _is_nought(answer: str) -> bool:
    group = _GROUP.fullmatch(answer)
    return group is not None and _number(group[2]) == 0


def _is_value(answer: str) -> bool:
    """Return whether an answer is one number, true or false: then the hits are what it counts, and no answer."""
    return normalise(answer) in _BOOLEANS or _number(answer) is not None
