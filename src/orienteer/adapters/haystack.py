"""Haystack: a component for pipelines. It has a path, not a graph, so that a pipeline can be written to YAML."""

from __future__ import annotations

from typing import Any

from orienteer.errors import MissingExtra

try:
    from haystack import Document, component, default_from_dict, default_to_dict
except ModuleNotFoundError as error:
    raise MissingExtra("the component for Haystack", "haystack") from error

from orienteer.adapters.passage import passage
from orienteer.records import Result
from orienteer.retriever import Retriever


@component
class OrienteerRetriever:
    """Ranks the nodes of a graph for a question, best first.

    OrienteerRetriever("languages", top_k=5).run("Who designed Ruby?")["documents"]
    """

    def __init__(self, graph: str, method: str | None = None, model: str | None = None, top_k: int = 20) -> None:
        """`graph` is the path of a graph; `method` and `model` are those of `Retriever`, by name."""
        self.graph, self.method, self.model, self.top_k = graph, method, model, top_k
        self._retriever: Retriever | None = None

    def warm_up(self) -> None:
        """Open the graph, once: before that, a pipeline can be read and drawn without it."""
        self._opened()

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the hits as documents, at most `top_k`. Raises the errors of `Retriever` and its `search`."""
        return _documents(self._opened().search(query, self.top_k if top_k is None else top_k))

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the same as `run`, without blocking the event loop."""
        return _documents(await self._opened().asearch(query, self.top_k if top_k is None else top_k))

    def _opened(self) -> Retriever:
        if self._retriever is None:
            self._retriever = Retriever(self.graph, self.method, model=self.model)
        return self._retriever

    def to_dict(self) -> dict[str, Any]:
        """Return the component as a dict for a pipeline file."""
        options = {"graph": self.graph, "method": self.method, "model": self.model, "top_k": self.top_k}
        component_dict: dict[str, Any] = default_to_dict(self, **options)
        return component_dict

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> OrienteerRetriever:
        """Return the component of a dict from a pipeline file."""
        retriever: OrienteerRetriever = default_from_dict(cls, data)
        return retriever


def _documents(result: Result) -> dict[str, list[Document]]:
    """Return the hits as documents; the metadata of each has its other fields."""
    documents = []
    for hit in result.hits:
        meta = hit.model_dump(mode="json", exclude={"id", "text", "score"})
        documents.append(Document(id=hit.id, content=passage(hit), score=hit.score, meta=meta))
    return {"documents": documents}
