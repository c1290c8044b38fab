"""The retrievers, with the real libraries, against the real gateway."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from langchain_core.documents import Document
from llama_index.core.schema import MetadataMode, NodeWithScore

from conftest import CHUNKS, MANUALS
from hybridge import AsyncClient, Client, HybridgeError
from hybridge.langchain import HybridgeRetriever as LangChainRetriever
from hybridge.llamaindex import HybridgeRetriever as LlamaIndexRetriever
from skips import missing
from testgateway import STRANGER, Gateway, covers, serve

pytestmark = pytest.mark.anyio

ENGLISH: dict[str, Any] = {
    "chunk_id": "refunds-en",
    "document_id": "guide.md",
    "document_name": "guide.md",
    "knowledge_base": MANUALS,
    "source": "guide.md",
    "heading": "Shop > Refunds",
    "lines": {"first": 12, "last": 30},
    "metadata": {"language": "en", "year": 2024},
}
CHINESE: dict[str, Any] = {
    "chunk_id": "refunds-zh",
    "document_id": "手册.pdf",
    "document_name": "手册.pdf",
    "knowledge_base": MANUALS,
    "source": "手册.pdf",
    "page": 3,
    "metadata": {"language": "zh", "year": 2025},
}


def check_document(document: Document, want: dict[str, Any]) -> None:
    metadata = dict(document.metadata)
    assert metadata.pop("score") > 0
    assert 0 <= (metadata.pop("relevance") or 0) <= 1
    assert metadata == want
    assert document.id == want["chunk_id"]
    assert document.page_content == next(c["content"] for c in CHUNKS if c["id"] == want["chunk_id"])


def check_node(found: NodeWithScore, want: dict[str, Any]) -> None:
    metadata = dict(found.node.metadata)
    assert metadata.pop("score") == found.score
    assert 0 <= (metadata.pop("relevance") or 0) <= 1
    assert metadata == want
    assert (found.node.node_id, found.node.ref_doc_id) == (want["chunk_id"], want["document_id"])
    assert found.text == next(c["content"] for c in CHUNKS if c["id"] == want["chunk_id"])
    prompt = found.node.get_content(MetadataMode.LLM)
    assert f"source: {want['source']}" in prompt
    assert "score" not in prompt


@covers("LangChain", "search")
@pytest.mark.parametrize(("question", "want"), [("when are refunds paid", ENGLISH), ("退款多久到账", CHINESE)])
async def test_langchain(client: Client, gateway: Gateway, question: str, want: dict[str, Any]) -> None:
    async with AsyncClient(gateway.url, gateway.key) as async_client:
        retriever = LangChainRetriever(
            client=client, async_client=async_client, knowledge_bases=[MANUALS], top_k=1, preset="text"
        )
        for documents in (retriever.invoke(question), await retriever.ainvoke(question)):
            assert len(documents) == 1
            check_document(documents[0], want)
    check_document((await LangChainRetriever(client=client, knowledge_bases=[MANUALS]).ainvoke(question))[0], want)
    filtered = LangChainRetriever(
        client=client, knowledge_bases=[MANUALS], filter={"year": 1}, extra={"threshold": {"text": 0.1}}
    )
    assert filtered.invoke(question) == []
    with pytest.raises(ValueError, match="no client"):
        LangChainRetriever(knowledge_bases=[MANUALS]).invoke(question)


@covers("LlamaIndex", "search")
@pytest.mark.parametrize(("question", "want"), [("when are refunds paid", ENGLISH), ("退款多久到账", CHINESE)])
async def test_llamaindex(client: Client, gateway: Gateway, question: str, want: dict[str, Any]) -> None:
    async with AsyncClient(gateway.url, gateway.key) as async_client:
        retriever = LlamaIndexRetriever([MANUALS], client=client, async_client=async_client, top_k=1, preset="text")
        for nodes in (retriever.retrieve(question), await retriever.aretrieve(question)):
            assert len(nodes) == 1
            check_node(nodes[0], want)
    check_node((await LlamaIndexRetriever([MANUALS], client=client).aretrieve(question))[0], want)
    filtered = LlamaIndexRetriever([MANUALS], client=client, filter={"year": 1}, threshold={"text": 0.1})
    assert filtered.retrieve(question) == []
    with pytest.raises(ValueError, match="no client"):
        LlamaIndexRetriever([MANUALS]).retrieve(question)


@covers("LangChain", "filter")
@covers("LlamaIndex", "filter")
async def test_filters(client: Client, gateway: Gateway) -> None:
    question, chinese = "refunds 退款", {"year": {"gte": 2025}}
    async with AsyncClient(gateway.url, gateway.key) as by:
        langchain = LangChainRetriever(client=client, async_client=by, knowledge_bases=[MANUALS], filter=chinese)
        llamaindex = LlamaIndexRetriever([MANUALS], client=client, async_client=by, filter=chinese)
        for documents in (langchain.invoke(question), await langchain.ainvoke(question)):
            assert [document.id for document in documents] == ["refunds-zh"]
        for nodes in (llamaindex.retrieve(question), await llamaindex.aretrieve(question)):
            assert [found.node.node_id for found in nodes] == ["refunds-zh"]


@covers("LangChain", "wrong key", "foreign tenant")
@covers("LlamaIndex", "wrong key", "foreign tenant")
@pytest.mark.parametrize(("key", "code"), [("nobody", "unauthenticated"), (STRANGER, "not_found")])
async def test_who_may_not(client: Client, gateway: Gateway, key: str, code: str) -> None:
    async with AsyncClient(gateway.url, key) as by:
        with Client(gateway.url, key) as who:
            langchain = LangChainRetriever(client=who, async_client=by, knowledge_bases=[MANUALS])
            llamaindex = LlamaIndexRetriever([MANUALS], client=who, async_client=by)
            for asks in (langchain.invoke, llamaindex.retrieve):
                with pytest.raises(HybridgeError) as refused:
                    asks("refunds")
                assert refused.value.code == code
            for waits in (langchain.ainvoke, llamaindex.aretrieve):
                with pytest.raises(HybridgeError) as refused:
                    await waits("refunds")
                assert refused.value.code == code


@covers("LangChain", "threshold", "nothing found")
@covers("LlamaIndex", "threshold", "nothing found")
async def test_below_min_relevance(client: Client) -> None:
    """Of English texts the gateway tells relevance without a model too."""
    langchain = LangChainRetriever(client=client, knowledge_bases=[MANUALS], min_relevance=0.25)
    llamaindex = LlamaIndexRetriever([MANUALS], client=client, min_relevance=0.25)
    relevant, unrelated = "when does the workshop open", "Which week did the football world cup of 1998 begin"
    assert langchain.invoke(relevant)[0].metadata["relevance"] > 0
    assert llamaindex.retrieve(relevant)[0].metadata["relevance"] > 0
    assert langchain.invoke(unrelated) == []
    assert llamaindex.retrieve(unrelated) == []
    assert await langchain.ainvoke(unrelated) == []
    assert await llamaindex.aretrieve(unrelated) == []


NOTHING = {"hits": [], "answerable": 0.02, "empty": "nothing_relevant"}


async def test_min_relevance_is_asked_for() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=NOTHING)

    http = httpx.Client(transport=httpx.MockTransport(answer))
    client = Client("http://gateway", http=http)
    assert LangChainRetriever(client=client, knowledge_bases=["kb"], min_relevance=0.25).invoke("x") == []
    assert LlamaIndexRetriever(["kb"], client=client, min_relevance=0.25).retrieve("x") == []
    want = {
        "query": "x",
        "knowledge_bases": ["kb"],
        "plain": True,
        "highlight": {"fragments": 0},
        "threshold": {"answerable": 0.25},
    }
    assert [json.loads(request.content) for request in asked] == [want, want]


@pytest.fixture(scope="module")
def with_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    url = os.environ.get("HYBRIDGE_TEST_EMBEDDING_URL")
    if not url:
        missing("HYBRIDGE_TEST_EMBEDDING_URL is not set: no relevance without a model")
    model = f"embedding: {{url: '{url}', model: multilingual-e5-small}}\n"
    for gateway in serve(tmp_path_factory.mktemp("with-model"), model):
        with Client(gateway.url) as client:
            client.create_knowledge_base(MANUALS)
            client.write_chunks(MANUALS, CHUNKS, refresh=True)
            yield client


def test_nothing_relevant(with_model: Client) -> None:
    langchain = LangChainRetriever(client=with_model, knowledge_bases=[MANUALS], min_relevance=0.25)
    llamaindex = LlamaIndexRetriever([MANUALS], client=with_model, min_relevance=0.25)
    for question in ("how long do refunds take", "退款要多久"):
        assert langchain.invoke(question)[0].metadata["relevance"] > 0.25
        assert llamaindex.retrieve(question)[0].metadata["relevance"] > 0.25
    for question in ("Who won the football world cup of 1998?", "珠穆朗玛峰有多高？"):
        assert with_model.search(question, MANUALS, min_relevance=0.25).empty == "nothing_relevant"
        assert langchain.invoke(question) == []
        assert llamaindex.retrieve(question) == []
