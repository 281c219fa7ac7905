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
item once. So a gold may also be sealed: a hash of its form tells a right answer, and does not tell what it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from orienteer.lab.evaluation.examples import Gold
from orienteer.lab.evaluation.running.runs import Line
from orienteer.lab.evaluation.scores.measures import normalise, short_answer

Verdict: TypeAlias = Literal["right", "refused", "wrong"]
# The shares of questions with each verdict, as measures.
VERDICTS: Mapping[str, Verdict] = {"Right": "right", "Refused": "refused", "Wrong": "wrong"}
# The form of no answer.
NOTHING = "nothing"
# Between the items of an answer; a name may hold a comma, so each way to split is tried.
BETWEEN = ("; ", "\n", ", ")
# Before the type that is meant by a name of several: `5 by the track; 21 by the artist`.
SENSE = " by the "
_BOOLEANS = {"yes": "true", "no": "false"}
# A group of nought, which an answer may leave out.
_OF_NOUGHT = re.compile(r" 0\.00$")
_LAST_NUMBER = re.compile(r"(?:^|(?<= ))-?\d+(?:\.\d+)?$")


def verdict(line: Line) -> Verdict | None:
    """Return the verdict on a line of a run; None if its gold is not known, or k cut the answer short."""
    known = gold_forms(line.gold)
    if not (known or line.gold.sealed):
        return None
    if is_cut(line):
        has_their_number = line.reading is not None and line.reading.total == len(line.gold.nodes)
        return None if line.gold.sealed or has_their_number else "wrong"
    said = set(answer_forms(line))
    if said & known or any(sealed(line.id, form) in line.gold.sealed for form in said):
        return "right"
    return "wrong" if said - {NOTHING} else "refused"


def is_cut(line: Line) -> bool:
    """Return whether an exact answer has more nodes than the ranking holds."""
    total = line.reading.total if line.reading is not None and line.reading.complete else None
    return line.answer is None and total is not None and total > sum(hit.complete for hit in line.hits)


def sealed(question: str, form: str) -> str:
    """Return the hash of an answer's form, slow enough that guessing numbers takes time."""
    return hashlib.scrypt(form.encode(), salt=question.encode(), n=1 << 12, r=8, p=1, dklen=16).hex()


def gold_forms(gold: Gold) -> set[str]:
    """Return the forms of a right answer; none if the gold is not known, or sealed."""
    if gold.unanswerable:
        return {NOTHING}
    forms = {_nodes(gold.nodes)} if gold.nodes else set()
    if gold.answers:
        forms |= {_items(gold.answers)}
    if gold.answer_type != "set":
        forms |= {_items([answer]) for answer in gold.answers}
    return forms


def answer_forms(line: Line) -> Iterator[str]:
    """Yield the forms of what a method answered; `NOTHING` if it says that it has no answer."""
    is_read = line.reading is not None and line.reading.complete
    answer = short_answer(line.answer, line.citations) if line.answer and line.error is None else ""
    if line.error is not None or not (answer or is_read):
        if line.refusal is not None:
            yield NOTHING
        return
    if answer:
        yield _items([answer])
        for between in BETWEEN:
            yield _items(answer.split(between))
        for part in answer.split("; ") if SENSE in answer else ():
            yield _items(part.rpartition(SENSE)[0].split(", "))
    if not answer or not _is_value(answer):
        yield _nodes(hit.id for hit in line.hits if hit.complete)


def _nodes(ids: Iterable[str]) -> str:
    return "\n".join(["nodes", *sorted(ids)])


def _items(items: Iterable[str]) -> str:
    forms = {_item(item) for item in items if item.strip()}
    return "\n".join(sorted(form for form in forms if not _OF_NOUGHT.search(form)))


def _item(text: str) -> str:
    """Return an item in its form: `Kernel: 1,204` as `kernel 1204.00`, `Yes` as `true`."""
    plain = normalise(text, lenient=True)
    return _BOOLEANS.get(plain, _LAST_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", plain))


def _is_value(answer: str) -> bool:
    """Return whether an answer is one number, true or false: then the hits are what it counts, and no answer."""
    form = _item(answer)
    return form in _BOOLEANS.values() or _LAST_NUMBER.fullmatch(form) is not None
