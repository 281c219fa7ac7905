"""DSPy: a module that returns passages, to be a step of a program. As tools it takes `Retriever.as_functions()`."""

from __future__ import annotations

from orienteer.errors import MissingExtra

try:
    import dspy
except ModuleNotFoundError as error:
    raise MissingExtra("the module for DSPy", "dspy") from error

from orienteer.adapters.passage import passage
from orienteer.retriever import Retriever


class OrienteerRetriever(dspy.Module):
    """Ranks the nodes of a graph for a question, best first.

    OrienteerRetriever(Retriever("languages"), k=5)("Who designed Ruby?").passages
    """

    def __init__(self, retriever: Retriever, k: int = 5) -> None:
        """`k` is the maximum number of passages."""
        super().__init__()
        self._retriever, self.k = retriever, k

    def forward(self, query: str, k: int | None = None) -> dspy.Prediction:
        """Return the `passages` for a question, and the `ids` of their nodes."""
        hits = self._retriever.search(query, self.k if k is None else k).hits
        return dspy.Prediction(passages=list(map(passage, hits)), ids=[hit.id for hit in hits])
