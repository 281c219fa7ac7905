"""What the kinds of a question mean, in words: shown to who writes one, and to who judges of what kind one is.

GraphScout (003), section 3.3.1, appendix B.1 and B.3.1 to B.3.3, in our own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import get_args

from orienteer.evaluation.examples import AnswerType
from orienteer.evaluation.grid import Difficulty, QuizPattern
from orienteer.llm.prompts import prompt_of

PACKAGE = "orienteer.quizzes"
"""Where the prompts of the quiz lie."""
AXES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"answer_type": get_args(AnswerType), "pattern": get_args(QuizPattern), "difficulty": get_args(Difficulty)}
)
"""The three ways in which questions differ, with the kinds of each."""


@cache
def definitions() -> Mapping[str, Mapping[str, str]]:
    """Return what each kind means, by axis and kind."""
    found: dict[str, dict[str, str]] = {}
    for part in ("\n" + prompt_of("categories", PACKAGE).system).split("\n# ")[1:]:
        axis, *kinds = part.split("\n## ")
        pairs = (one.partition("\n") for one in kinds)
        found[axis.strip()] = {kind.strip(): meaning.strip() for kind, _, meaning in pairs}
    return MappingProxyType(found)


def listed() -> str:
    """Return all definitions as a prompt shows them."""
    return "\n\n".join(
        f"{axis}:\n" + "\n".join(f"- {kind}: {meaning}" for kind, meaning in kinds.items())
        for axis, kinds in definitions().items()
    )
