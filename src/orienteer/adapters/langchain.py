"""LangChain: a retriever whose documents are the hits. `ainvoke`, `batch` and pipes come from its base class."""

from __future__ import annotations

from typing import Any

from orienteer.errors import MissingExtra

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict
except ModuleNotFoundError as error:
    raise MissingExtra("the retriever for LangChain", "langchain") from error

from orienteer.adapters.passage import passage
from orienteer.records import Result
from orienteer.retriever import Retriever


class OrienteerRetriever(BaseRetriever):
    """Ranks the nodes of a graph for a question, best first.

    OrienteerRetriever(retriever=Retriever("languages"), k=5).invoke("Who designed Ruby?")
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    retriever: Retriever
    k: int = 20
    """Documents at most, unless a call gives its own number: `invoke(question, k=1)`."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return _documents(self.retriever.search(query, self.k if k is None else k))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return _documents(await self.retriever.asearch(query, self.k if k is None else k))


def _documents(result: Result) -> list[Document]:
    """Return the hits as documents; the metadata of each has its rank and its other fields."""
    documents = []
    for rank, hit in enumerate(result.hits, 1):
        metadata: dict[str, Any] = {"rank": rank, **hit.model_dump(mode="json", exclude={"text"})}
        documents.append(Document(id=hit.id, page_content=passage(hit), metadata=metadata))
    return documents
