"""The words around a result that every face with lines shows: its answers, and what stands between its hits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orienteer.records import Result


def read_as(result: Result) -> str | None:
    """Return how a question was read, or why it has no exact answer; None where it was not read at all."""
    reading, refusal = result.reading, result.refusal
    if reading is not None and reading.text is not None:
        return f"read as: {reading.text}"
    if refusal is not None:
        return f"no exact answer: {refusal.text}" if reading is not None else refusal.text
    return None


def answers_of(result: Result, *, larger_k: str, most_k: int | None = None) -> list[str]:
    """Return the answer, the sentence where it says more than the reading above it, and how many a large set has.

    `larger_k` is how a face asks for more hits, `-k ` or `k=`, and `most_k` how many it gives at the most.
    """
    reading = result.reading
    line = reading.text if reading is not None and reading.text is not None else ""
    answers = [answer for answer in (result.answer, result.long_answer) if answer is not None]
    if line and result.long_answer is not None and result.long_answer.endswith(line.removeprefix("count ")):
        answers.remove(result.long_answer)
    if result.meeting is not None and reading is not None and reading.total is not None:
        is_cut = reading.total > sum(hit.complete for hit in result.hits)
        can_list = is_cut and (most_k is None or reading.total <= most_k)
        answers.append(result.meeting + (f" ({larger_k}{reading.total} lists all)" if can_list else ""))
    return answers


def lines_between(result: Result) -> dict[int, str]:
    """Return what stands above hits, by their place: from where on they meet only some of the question, or none."""
    first = next((place for place, hit in enumerate(result.hits, 1) if not hit.complete), 0)
    is_read = result.reading is not None and result.reading.complete
    if is_read or (first > 1 and result.reading is None):
        return {first: "-- nearby: these meet some of it --"}
    return {1: "-- nearest --"} if result.reading is None and result.refusal is not None else {}
