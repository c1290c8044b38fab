"""What the retrievers share: the question that they ask, and the metadata of what they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from hybridge.citations import cite
from hybridge.types import Hit

# What a language model that reads a document has use for.
CITED = ("source", "page", "heading", "lines")


def members_of_question(
    top_k: int | None, preset: str | None, filter_: Mapping[str, Any] | None, min_relevance: float | None
) -> dict[str, Any]:
    """Return the named members; quotes and dashes in a question are plain text, and nobody looks at highlights."""
    return {
        "top_k": top_k,
        "preset": preset,
        "filter": filter_,
        "min_relevance": min_relevance,
        "plain": True,
        "highlight": {"fragments": 0},
    }


def metadata_of(hit: Hit) -> dict[str, Any]:
    """Return what is needed to cite a hit, under the names that the gateway's citations have."""
    citation = cite(hit)
    metadata: dict[str, Any] = {
        "chunk_id": hit.id,
        "document_id": hit.document_id,
        "document_name": hit.document_name,
        "knowledge_base": hit.knowledge_base,
        "source": citation.source,
        "score": hit.score,
        "relevance": hit.relevance,
        "metadata": hit.metadata,
    }
    if citation.page is not None:
        metadata["page"] = citation.page
    if citation.heading:
        metadata["heading"] = citation.heading
    if citation.lines:
        metadata["lines"] = asdict(citation.lines)
    if citation.url:
        metadata["url"] = citation.url
    return metadata
