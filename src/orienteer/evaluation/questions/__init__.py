"""Questions with complete gold from any graph, without labels and without a model."""

from orienteer.evaluation.questions.patterns import PATTERNS, Draft, Pattern
from orienteer.evaluation.questions.writing import Generated, GeneratedQuestion, as_lines, generate

__all__ = [
    "PATTERNS",
    "Draft",
    "Generated",
    "GeneratedQuestion",
    "Pattern",
    "as_lines",
    "generate",
]
