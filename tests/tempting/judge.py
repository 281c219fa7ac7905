"""Whether an answer is right, refused or wrong, by the truth of a question."""

from __future__ import annotations

import re
from typing import Any, Literal

from orienteer import Result
from tempting.pairs import Asked

Verdict = Literal["right", "refused", "wrong"]


def judged(result: Result, asked: Asked) -> Verdict:
    """Return whether the whole answer is the truth; what must be refused is right where it is."""
    is_read = result.reading is not None and result.reading.complete
    if asked.truth_kind in ("refused", "unknown", "not unknown"):
        if is_read or result.answer is not None:
            return "wrong"
        return "right" if _says_why(result, asked) else "wrong"
    if not is_read:
        return "refused" if result.answer is None else "wrong"
    return "right" if _is_right(result, asked.truth_kind, asked.truth) else "wrong"


def _says_why(result: Result, asked: Asked) -> bool:
    """Return whether a refusal says "not in this graph" of a stranger, and never of a word of the graph."""
    text = " ".join(result.notes)
    is_said = "not in this graph" in text and str(asked.truth).split()[0] in text.partition("not in this graph")[2]
    if asked.truth_kind == "not unknown":
        return not is_said
    return asked.truth_kind != "unknown" or is_said


def _is_right(result: Result, kind: str, truth: Any) -> bool:  # Any: as the kind of truth has it
    said = " ".join([result.long_answer or "", *result.notes])
    match kind:
        case "set":
            return _hits(result) == _folded(truth)
        case "one of":
            return _hits(result) in [_folded(names) for names in truth]
        case "some":
            number, names = truth
            hits = [hit for hit in result.hits if hit.complete]
            return _hits(result) <= _folded(names) and len(hits) == min(number, len(names))
        case "number" | "value":
            return _is_near(result.answer, truth)
        case "values":
            return set((result.answer or "").split(", ")) == set(map(str, truth))
        case "numbers":
            told = [int(text) for text in re.findall(r"\b\d+\b", result.answer or "")]
            return sorted(set(told)) == truth
        case "told":  # one of both, and words with both
            return result.answer in map(str, truth) and all(re.search(rf"\b{number}\b", said) for number in truth)
        case "yesno":
            return result.answer == ("yes" if truth else "no")
        case "noted" | "noted set" | "noted table":
            value, missing = truth
            is_value = {
                "noted": lambda: _is_near(result.answer, value),
                "noted set": lambda: _hits(result) == _folded(value),
                "noted table": lambda: _is_table(result.answer, value),
            }[kind]()
            return is_value and (not missing or bool(re.search(rf"\b{missing}\b", said)))
    raise AssertionError(kind)


def _is_table(answer: str | None, truth: dict[str, float]) -> bool:
    rows = dict(part.rpartition(": ")[::2] for part in (answer or "").split("; "))
    return rows.keys() == truth.keys() and all(_is_near(rows[name], value) for name, value in truth.items())


def _hits(result: Result) -> set[str]:
    return {hit.name.casefold() or hit.id for hit in result.hits if hit.complete}


def _folded(names: Any) -> set[str]:  # Any: names
    return {name.casefold() for name in names}


def _is_near(answer: str | None, truth: Any) -> bool:  # Any: a number or a text
    try:
        return abs(float((answer or "").replace(",", "")) - float(truth)) <= max(0.006, 5e-4 * abs(float(truth)))
    except ValueError:
        return (answer or "").casefold() == str(truth).casefold()
