"""What a test asks of a result that has no answer."""

from orienteer.agents import NOT_THERE
from orienteer.records import Result


def answer_of(result: Result) -> str | None:
    """Return the answer, or `NOT_THERE` where nothing that was found answers: a refusal, and no answer beside it."""
    assert result.answer != NOT_THERE, "these words are no answer"
    if result.refusal is None or result.refusal.kind != "not_here":
        return result.answer
    assert (result.answer, result.long_answer, result.answer_kind, result.citations) == (None, None, None, ())
    lacking = "nothing here answers this; lacking: "  # of documents, by a model that reads them
    assert result.refusal.text.startswith((f"{NOT_THERE}: {result.method} gave ", lacking))
    return NOT_THERE
