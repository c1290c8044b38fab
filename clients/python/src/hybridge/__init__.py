"""Client of the Hybridge search gateway.

The retrievers are apart, so that only programs that use them need their libraries:
hybridge.langchain and hybridge.llamaindex.
"""

from hybridge.aio import AsyncClient
from hybridge.citations import Citation, Lines, cite, text_of
from hybridge.client import Client
from hybridge.errors import HybridgeError, WriteInterruptedError
from hybridge.types import (
    Chunk,
    ContextAnswer,
    Document,
    DocumentPage,
    ExplainResponse,
    FileResult,
    Hit,
    KnowledgeBase,
    NewChunk,
    SearchResponse,
    Suggestion,
    WriteReport,
    WriteResult,
)

__all__ = [
    "AsyncClient",
    "Chunk",
    "Citation",
    "Client",
    "ContextAnswer",
    "Document",
    "DocumentPage",
    "ExplainResponse",
    "FileResult",
    "Hit",
    "HybridgeError",
    "KnowledgeBase",
    "Lines",
    "NewChunk",
    "SearchResponse",
    "Suggestion",
    "WriteInterruptedError",
    "WriteReport",
    "WriteResult",
    "cite",
    "text_of",
]
