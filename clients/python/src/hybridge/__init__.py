"""Client of the Hybridge search gateway.

The retrievers are apart, so that only programs that use them need their libraries:
hybridge.langchain and hybridge.llamaindex.
"""

from hybridge.aio import AsyncClient
from hybridge.citations import Citation, Lines, cite, text_of
from hybridge.client import Client
from hybridge.errors import HybridgeError, WriteInterruptedError
from hybridge.types import (
    AnswerDone,
    AnswerEvent,
    AnswerSentence,
    AnswerSources,
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
    UnknownAnswer,
    WriteReport,
    WriteResult,
)

__all__ = [
    "AnswerDone",
    "AnswerEvent",
    "AnswerSentence",
    "AnswerSources",
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
    "UnknownAnswer",
    "WriteInterruptedError",
    "WriteReport",
    "WriteResult",
    "cite",
    "text_of",
]
