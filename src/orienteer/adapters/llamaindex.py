"""LlamaIndex: a retriever for its query engines and agents."""

from __future__ import annotations

from typing import Any

from orienteer.errors import MissingExtra

try:
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise MissingExtra("the retriever for LlamaIndex", "llamaindex") from error

from orienteer.adapters.passage import passage
from orienteer.records import Ranked, Result
from orienteer.retriever import Retriever


class OrienteerRetriever(BaseRetriever):
    """Ranks the nodes of a graph for a question, best first.

    OrienteerRetriever(Retriever("languages"), k=5).retrieve("Who designed Ruby?")
    """

    def __init__(self, retriever: Retriever, k: int = 20, callback_manager: CallbackManager | None = None) -> None:
        """`k` is the number of nodes at the most."""
        self._retriever, self._k = retriever, k
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._retriever.search(query_bundle.query_str, self._k))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await self._retriever.asearch(query_bundle.query_str, self._k))


def _nodes(result: Result) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(hit), score=hit.score) for hit in result.hits]


def _node(hit: Ranked) -> TextNode:
    """Return a hit as a node. Its text says all that a model reads, so none of the metadata is put before it."""
    metadata: dict[str, Any] = hit.model_dump(mode="json", include={"name", "type", "why", "source", "edges"})
    hidden = list(metadata)
    return TextNode(
        id_=hit.id,
        text=passage(hit),
        metadata=metadata,
        excluded_embed_metadata_keys=hidden,
        excluded_llm_metadata_keys=hidden,
    )
