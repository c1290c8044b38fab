"""A retriever for LangChain; install hybridge[langchain]."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from hybridge._retrieve import members_of_question, metadata_of
from hybridge.aio import AsyncClient
from hybridge.citations import text_of
from hybridge.client import Client
from hybridge.types import Hit


class HybridgeRetriever(BaseRetriever):
    """Finds documents through a gateway; below min_relevance there are none.

    invoke needs client, ainvoke async_client; without one, ainvoke runs the other in a thread. Each
    document's metadata has chunk_id, document_id, document_name, knowledge_base, source, score and
    relevance, page or heading and lines as known, url where there is one, and the chunk's own metadata.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Client | None = None
    async_client: AsyncClient | None = None
    knowledge_bases: list[str]
    top_k: int | None = None
    preset: str | None = None
    filter: dict[str, Any] | None = None
    min_relevance: float | None = None
    extra: dict[str, Any] = Field(default_factory=dict)  # further members of a search

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if self.client is None:
            raise ValueError("the retriever has no client; give it one, or use ainvoke")
        answer = self.client.search(query, self.knowledge_bases, **self._members())
        return [_document(hit) for hit in answer.hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if self.async_client is None:
            return await super()._aget_relevant_documents(query, run_manager=run_manager)
        answer = await self.async_client.search(query, self.knowledge_bases, **self._members())
        return [_document(hit) for hit in answer.hits]

    def _members(self) -> dict[str, Any]:
        return {**members_of_question(self.top_k, self.preset, self.filter, self.min_relevance), **self.extra}


def _document(hit: Hit) -> Document:
    return Document(id=hit.id, page_content=text_of(hit), metadata=metadata_of(hit))
