"""What the gateway answers. Members that this version does not know are ignored."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, Union


class NewChunk(TypedDict, total=False):
    """A chunk to write: of these members only id is required."""

    id: str
    document_id: str
    document_name: str
    ordinal: int
    title: str
    content: str
    summary: str
    category: str
    group: str
    date: str
    owner: str
    written_at: str
    available: bool
    positions: list[list[float]]
    metadata: dict[str, Any]
    important_keywords: list[str]
    questions: list[str]
    vector: list[float]
    vectors: dict[str, list[float]]
    question: str
    answer: str
    full_answer: str
    url: str
    question_vector: list[float]
    answer_vector: list[float]


@dataclass(frozen=True, kw_only=True)
class Copy:
    """Where else the text of a hit stands."""

    knowledge_base: str = ""
    id: str = ""
    document_id: str = ""
    document_name: str = ""


@dataclass(frozen=True, kw_only=True)
class Parent:
    """The section that a hit is in, see return: parent."""

    content: str = ""
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A chunk around a hit; distance is -1 for the one before it."""

    id: str = ""
    distance: int = 0
    content: str = ""


@dataclass(frozen=True, kw_only=True)
class Leg:
    """What one leg of the plan adds to a score."""

    leg: str = ""
    rank: int | None = None
    raw: float | None = None
    normalized: float | None = None
    weight: float = 0
    contribution: float = 0


@dataclass(frozen=True, kw_only=True)
class _Text:
    """What hits and stored chunks share."""

    id: str = ""
    document_id: str = ""
    document_name: str = ""
    ordinal: int = 0
    title: str = ""
    content: str = ""
    important_keywords: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    positions: list[list[float]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    question: str = ""
    answer: str = ""
    full_answer: str = ""
    url: str = ""
    summary: str = ""
    category: str = ""
    group: str = ""
    date: str = ""


@dataclass(frozen=True, kw_only=True)
class Chunk(_Text):
    """A chunk as it is stored. written_at is in UTC, empty where it is not known."""

    owner: str = ""
    written_at: str = ""
    available: bool = True


@dataclass(frozen=True, kw_only=True)
class Hit(_Text):
    """A chunk that was found. relevance is the probability that it answers the question, None where not known."""

    knowledge_base: str = ""
    score: float = 0
    raw_score: float = 0
    vector_similarity: float | None = None
    term_similarity: float | None = None
    relevance: float | None = None
    language: str = ""
    highlights: list[str] = field(default_factory=list)
    legs: list[Leg] = field(default_factory=list)
    boost: float | None = None
    copies: list[Copy] = field(default_factory=list)
    parent: Parent | None = None
    neighbours: list[Neighbour] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Total:
    """How many chunks match; relation gte: at least so many."""

    value: int = 0
    relation: str = "eq"
    folded: int = 0


@dataclass(frozen=True, kw_only=True)
class Degraded:
    """A leg or step that took no part in the answer, and why."""

    leg: str = ""
    knowledge_base: str = ""
    code: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class FacetCount:
    value: str = ""
    count: int = 0


@dataclass(frozen=True, kw_only=True)
class DocumentCount:
    """How many chunks of a document are in the answer set."""

    document_id: str = ""
    document_name: str = ""
    count: int = 0


@dataclass(frozen=True, kw_only=True)
class SearchResponse:
    """An answer. empty says why there is no hit; nothing_relevant: nothing answers the question well enough."""

    query_id: str = ""
    cached: bool = False
    took_ms: float = 0
    preset: str = ""
    engine: str = ""
    language: str = ""
    total: Total = field(default_factory=Total)
    max_score: float = 0
    answerable: float | None = None
    hits: list[Hit] = field(default_factory=list)
    documents: list[DocumentCount] = field(default_factory=list)
    facets: dict[str, list[FacetCount]] = field(default_factory=dict)
    merged_by: str = ""
    relaxed: str | None = None
    did_you_mean: str = ""
    empty: str = ""
    empty_reason: str = ""
    degraded: list[Degraded] = field(default_factory=list)
    timings_ms: dict[str, Any] = field(default_factory=dict)
    explain: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines of a file from the first to the last, counted from 1."""

    first: int = 0
    last: int = 0


@dataclass(frozen=True, kw_only=True)
class Citation:
    """The source of a numbered part of a context."""

    number: int = 0
    id: str = ""
    knowledge_base: str = ""
    document_id: str = ""
    source: str = ""  # the document's name, title or id
    page: int | None = None
    heading: str = ""
    lines: Lines | None = None
    score: float = 0
    relevance: float | None = None
    url: str = ""
    copies: list[Copy] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ContextAnswer:
    """Text for a prompt, with the sources of its numbers."""

    query_id: str = ""
    cached: bool = False
    context: str = ""
    citations: list[Citation] = field(default_factory=list)
    truncated: bool = False
    answerable: float | None = None
    empty: str = ""
    empty_reason: str = ""
    degraded: list[Degraded] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class AnswerSources:
    """The first event of an answer: the hits that the model gets."""

    query_id: str = ""
    cached: bool = False
    sources: list[Citation] = field(default_factory=list)
    truncated: bool = False
    answerable: float | None = None
    degraded: list[Degraded] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class AnswerSentence:
    """A sentence with the numbers of its sources; one that is not cited may be made up."""

    text: str = ""  # with the white space that follows it
    citations: list[int] = field(default_factory=list)
    cited: bool = False


@dataclass(frozen=True, kw_only=True)
class UnknownAnswer:
    """In place of sentences: that nothing answers the question, and why."""

    code: str = ""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class AnswerDone:
    """The last event of an answer."""

    sentences: int = 0
    truncated: bool = False
    took_ms: float = 0


AnswerEvent = AnswerSources | AnswerSentence | UnknownAnswer | AnswerDone


@dataclass(frozen=True, kw_only=True)
class ExplainResponse:
    """Why a chunk is where it is in an answer, or not in it (outcome)."""

    chunk_id: str = ""
    knowledge_base: str = ""
    method: str = ""
    outcome: str = ""
    detail: str = ""
    rank: int | None = None
    score: float | None = None
    raw_score: float | None = None
    legs: list[dict[str, Any]] = field(default_factory=list)
    plan: dict[str, Any] = field(default_factory=dict)
    degraded: list[Degraded] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """How a question that is being typed may go on."""

    text: str = ""
    kind: str = ""
    knowledge_base: str = ""
    count: int = 0


@dataclass(frozen=True, kw_only=True)
class Suggestions:
    suggestions: list[Suggestion] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class KnowledgeBase:
    """A knowledge base; the counts are those of describe_knowledge_base and None elsewhere."""

    id: str = ""
    name: str = ""
    tenant: str = ""
    kind: str = ""
    engine: str = ""
    engines: list[str] = field(default_factory=list)
    dimensions: int = 0
    embedding_model: str = ""
    analyzer: str = ""
    fields: dict[str, float] = field(default_factory=dict)
    created_at: str = ""
    documents: int | None = None
    chunks: int | None = None
    vectors: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class KnowledgeBases:
    knowledge_bases: list[KnowledgeBase] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Deleted:
    deleted: int = 0


@dataclass(frozen=True, kw_only=True)
class Document:
    document_id: str = ""
    document_name: str = ""
    chunks: int = 0
    written_at: str = ""


@dataclass(frozen=True, kw_only=True)
class DocumentPage:
    """Some documents; next is the `after` of the page that follows, empty on the last one."""

    documents: list[Document] = field(default_factory=list)
    next: str = ""


@dataclass(frozen=True, kw_only=True)
class Failure:
    code: str = ""
    field: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class WriteResult:
    """What became of one chunk; line counts from 1, status is created, updated or failed."""

    line: int = 0
    id: str = ""
    status: str = ""
    error: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class WriteReport:
    """What became of the chunks of a request, in their order."""

    results: list[WriteResult] = field(default_factory=list)

    @property
    def created(self) -> int:
        return sum(r.status == "created" for r in self.results)

    @property
    def updated(self) -> int:
        return sum(r.status == "updated" for r in self.results)

    @property
    def failed(self) -> list[WriteResult]:
        return [r for r in self.results if r.status == "failed"]


@dataclass(frozen=True, kw_only=True)
class FileResult:
    """What became of a file; status is written or unchanged."""

    document_id: str = ""
    status: str = ""
    chunks: int = 0
    created: int = 0
    updated: int = 0


T = typing.TypeVar("T")


def decode(kind: type[T], value: object) -> T:
    """Read a dataclass of this file from JSON; what is null has the default."""
    return typing.cast("T", _decode(kind, value))


def _decode(kind: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else _decode(arguments[0], value)
    if origin is list:
        return [_decode(arguments[0], item) for item in value]
    if origin is dict:
        return {name: _decode(arguments[1], item) for name, item in value.items()}
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        if not isinstance(value, Mapping):
            raise TypeError(f"{kind.__name__} is a {type(value).__name__}")
        known = _members(kind)
        return kind(**{n: _decode(known[n], v) for n, v in value.items() if n in known and v is not None})
    return value


@functools.cache
def _members(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)
