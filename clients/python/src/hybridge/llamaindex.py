"""A retriever for LlamaIndex; install hybridge[llamaindex]."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from hybridge._retrieve import CITED, members_of_question, metadata_of
from hybridge.aio import AsyncClient
from hybridge.citations import text_of
from hybridge.client import Client
from hybridge.types import Hit


class HybridgeRetriever(BaseRetriever):
    """Finds nodes through a gateway; below min_relevance there are none.

    retrieve needs client, aretrieve async_client; without one, aretrieve runs the other in a thread. The
    metadata is that of hybridge.langchain; prompts get of it only what a citation shows.
    """

    def __init__(
        self,
        knowledge_bases: Sequence[str],
        *,
        client: Client | None = None,
        async_client: AsyncClient | None = None,
        top_k: int | None = None,
        preset: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the API's name
        min_relevance: float | None = None,
        **extra: Any,
    ) -> None:
        super().__init__()
        self._client = client
        self._async_client = async_client
        self._knowledge_bases = list(knowledge_bases)
        self._members = {**members_of_question(top_k, preset, filter, min_relevance), **extra}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._client is None:
            raise ValueError("the retriever has no client; give it one, or use aretrieve")
        answer = self._client.search(query_bundle.query_str, self._knowledge_bases, **self._members)
        return [_node(hit) for hit in answer.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._async_client is None:
            return await asyncio.to_thread(self._retrieve, query_bundle)
        answer = await self._async_client.search(query_bundle.query_str, self._knowledge_bases, **self._members)
        return [_node(hit) for hit in answer.hits]


def _node(hit: Hit) -> NodeWithScore:
    metadata = metadata_of(hit)
    hidden = [name for name in metadata if name not in CITED]
    node = TextNode(
        id_=hit.id,
        text=text_of(hit),
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=list(metadata),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.document_id)},
    )
    return NodeWithScore(node=node, score=hit.score)
