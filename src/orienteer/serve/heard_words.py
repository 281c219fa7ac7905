"""The words of an answer that a face shows while a model writes them, and what its result says beyond them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orienteer.records import Result

PUT_RIGHT = "the words above are not the answer as it was read, which is this:"
NO_ANSWER = "no answer came of the words above"


class HeardWords:
    """Words that have been shown, and cannot be taken back."""

    def __init__(self) -> None:
        self.text = ""

    def __bool__(self) -> bool:
        return bool(self.text)

    def hear(self, part: str) -> None:
        """Note words that are shown now."""
        self.text += part

    def rest(self, result: Result) -> str | None:
        """Return the words of the result that are still to be shown; None where those that were shown are not its own.

        A model may stop in the middle, or mark two answers, and a method may take another answer than its model wrote.
        """
        if result.answer is None:
            return None
        words = "\n\n".join(filter(None, (result.long_answer, result.answer)))
        if words.startswith(self.text):
            return words.removeprefix(self.text)
        return "" if _letters(words) == _letters(self.text) else None  # "Not in the evidence." is read without its dot


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
