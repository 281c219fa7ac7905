"""The file of a quiz, read again as items."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from orienteer.errors import BadInput
from orienteer.evaluation.quiz_item import QuizItem


def read_quiz(path: Path) -> tuple[QuizItem, ...]:
    """Return the items of a file, in order. Raises `BadInput` with the line that is none, or where two have one id."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as a quiz ({error}): name what orienteer quiz -o wrote") from error
    found: dict[str, QuizItem] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            item = QuizItem.model_validate_json(line)
        except ValidationError as error:
            said = error.errors()[0]
            place = ".".join(map(str, said["loc"]))
            raise BadInput(f"{path}, line {number}, is no item of a quiz: {place} {said['msg']}") from error
        if item.id in found:
            raise BadInput(f"{path}, line {number}: a second item has the id {item.id!r}")
        found[item.id] = item
    return tuple(found.values())
