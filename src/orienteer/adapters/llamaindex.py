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
from orienteer.records import Result
from orienteer.retriever import Retriever


class OrienteerRetriever(BaseRetriever):
    """Ranks the nodes of a graph for a question, best first.

    OrienteerRetriever(Retriever("languages"), k=5).retrieve("Who designed Ruby?")
    """

    def __init__(self, retriever: Retriever, k: int = 20, callback_manager: CallbackManager | None = None) -> None:
        """`k` is the maximum number of nodes."""
        self._retriever, self._k = retriever, k
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._retriever.search(query_bundle.query_str, self._k))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await self._retriever.asearch(query_bundle.query_str, self._k))


def _nodes(result: Result) -> list[NodeWithScore]:
    nodes = []
    for hit in result.hits:
        metadata: dict[str, Any] = hit.model_dump(mode="json", include={"name", "type", "why", "source", "edges"})
        # The text is all that a model reads: no metadata is put before it.
        hidden = list(metadata)
        node = TextNode(
            id_=hit.id,
            text=passage(hit),
            metadata=metadata,
            excluded_embed_metadata_keys=hidden,
            excluded_llm_metadata_keys=hidden,
        )
        nodes.append(NodeWithScore(node=node, score=hit.score))
    return nodes
