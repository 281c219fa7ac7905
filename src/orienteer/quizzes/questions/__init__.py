"""Questions with complete gold from any graph, without labels and without a model."""

from orienteer.quizzes.questions.draft import PATTERNS, Draft, Pattern
from orienteer.quizzes.questions.generator import Generated, GeneratedQuestion, as_lines, generate

__all__ = [
    "PATTERNS",
    "Draft",
    "Generated",
    "GeneratedQuestion",
    "Pattern",
    "as_lines",
    "generate",
]
