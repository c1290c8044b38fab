"""The routes of the API as values, which both clients send."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Generic, TypeVar
from urllib.parse import quote

import httpx

from hybridge import types
from hybridge.errors import WriteInterruptedError, of_problem

T = TypeVar("T")
Body = bytes | Iterator[bytes] | AsyncIterator[bytes]
File = str | os.PathLike[str] | bytes | BinaryIO
Chunks = Iterable[Mapping[str, Any]] | AsyncIterable[Mapping[str, Any]]
_BASES = "/v1/knowledge-bases"
_PIECE = 64 << 10  # bytes sent at a time


@dataclass(frozen=True, kw_only=True)
class Call(Generic[T]):
    """One request and how its answer is read."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: dict[str, str] = field(default_factory=dict)
    body: Body | None = None
    media: str = "application/json"
    safe: bool = False  # the gateway may have done it already without harm
    long: bool = False  # as long as writing takes


def ask(path: str, kind: type[T], **members: Any) -> Call[T]:
    """Make a search, or what takes the members of one."""
    body = json.dumps(_given(members), ensure_ascii=False, allow_nan=False).encode()
    return Call(method="POST", path=path, read=lambda r: types.decode(kind, r.json()), body=body, safe=True)


_EVENTS: dict[str, type[types.AnswerEvent]] = {
    "sources": types.AnswerSources,
    "sentence": types.AnswerSentence,
    "unknown": types.UnknownAnswer,
    "done": types.AnswerDone,
}


def answer(**members: Any) -> Call[None]:
    """Make a request whose answer is server-sent events."""
    body = json.dumps(_given(members), ensure_ascii=False, allow_nan=False).encode()
    return Call(method="POST", path="/v1/answer", read=lambda _: None, body=body, long=True)


class Events:
    """Server-sent events, line by line."""

    def __init__(self) -> None:
        self._name = self._data = ""

    def read(self, line: str) -> types.AnswerEvent | None:
        """Return the event that the line ends, if it is of a known name; raise for one that is a failure."""
        if line.startswith("event:"):
            self._name = line[6:].strip()
        elif line.startswith("data:"):
            self._data += line[5:].strip()
        elif not line and self._data:
            name, value = self._name, json.loads(self._data)
            self._name = self._data = ""
            if name == "error":
                raise of_problem(value)
            if kind := _EVENTS.get(name):
                return types.decode(kind, value)
        return None


def members_of_search(
    query: str,
    knowledge_bases: str | Sequence[str],
    min_relevance: float | None,
    members: Mapping[str, Any],
) -> dict[str, Any]:
    """Join what was named and what was not. min_relevance is threshold.answerable."""
    bases = [knowledge_bases] if isinstance(knowledge_bases, str) else list(knowledge_bases)
    asked = {"query": query, "knowledge_bases": bases, **members}
    if min_relevance is not None:
        threshold = asked.get("threshold") or {}
        if not isinstance(threshold, Mapping):
            raise ValueError(f"threshold is {threshold!r}; with min_relevance it must be a mapping")
        asked["threshold"] = {**threshold, "answerable": min_relevance}
    return asked


def knowledge_bases() -> Call[types.KnowledgeBases]:
    return _get(_BASES, types.KnowledgeBases)


def create(members: Mapping[str, Any]) -> Call[types.KnowledgeBase]:
    body = json.dumps(_given(members), ensure_ascii=False).encode()
    return Call(method="POST", path=_BASES, read=lambda r: types.decode(types.KnowledgeBase, r.json()), body=body)


def describe(kb: str) -> Call[types.KnowledgeBase]:
    return _get(_base(kb), types.KnowledgeBase)


def delete(kb: str) -> Call[None]:
    return Call(method="DELETE", path=_base(kb), read=lambda _: None)


def write(kb: str, lines: Body, refresh: bool) -> Call[types.WriteReport]:
    return Call(
        method="POST",
        path=_base(kb) + "/documents",
        read=_report,
        params=_flag(refresh),
        body=lines,
        media="application/x-ndjson",
        long=True,
    )


def upload(kb: str, name: str, content: Body, refresh: bool) -> Call[types.FileResult]:
    return Call(
        method="POST",
        path=_base(kb) + "/files",
        read=lambda r: types.decode(types.FileResult, r.json()),
        params={"name": name, **_flag(refresh)},
        body=content,
        media="application/octet-stream",
        long=True,
    )


def documents(kb: str, after: str, limit: int | None) -> Call[types.DocumentPage]:
    params = {"after": after} if after else {}
    if limit is not None:
        params["limit"] = str(limit)
    return _get(_base(kb) + "/documents", types.DocumentPage, params)


def delete_document(kb: str, document_id: str) -> Call[types.Deleted]:
    path = f"{_base(kb)}/documents/{_escaped(document_id)}"
    return Call(method="DELETE", path=path, read=lambda r: types.decode(types.Deleted, r.json()))


def chunk(kb: str, chunk_id: str) -> Call[types.Chunk]:
    return _get(f"{_base(kb)}/chunks/{_escaped(chunk_id)}", types.Chunk)


def lines_of(chunks: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Write chunks as NDJSON, many of them in a piece."""
    piece = bytearray()
    for chunk in chunks:
        piece += _line(chunk)
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


async def async_lines_of(chunks: Chunks) -> AsyncIterator[bytes]:
    if isinstance(chunks, AsyncIterable):
        async for chunk in chunks:
            yield _line(chunk)
        return
    for piece in lines_of(chunks):
        yield piece


def name_of(file: File, name: str | None) -> str:
    """Return the id of a file's document: as given, or the path's last part."""
    given = name or getattr(file, "name", None) if not isinstance(file, (str, os.PathLike)) else name or file
    if not isinstance(given, (str, os.PathLike)):
        raise ValueError("a file without a name needs name=, which tells its format by its ending")
    return name or os.path.basename(given)


def pieces_of(file: File) -> Iterator[bytes]:
    """Read a file piece by piece; what was opened here is closed here."""
    if isinstance(file, bytes):
        yield file
    elif isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            yield from pieces_of(opened)
    else:
        while piece := file.read(_PIECE):
            yield piece


async def async_pieces_of(file: File) -> AsyncIterator[bytes]:
    pieces = pieces_of(file)
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece


def _get(path: str, kind: type[T], params: dict[str, str] | None = None) -> Call[T]:
    return Call(method="GET", path=path, read=lambda r: types.decode(kind, r.json()), params=params or {}, safe=True)


def _report(r: httpx.Response) -> types.WriteReport:
    # Not splitlines: it would split within texts that have U+0085.
    results = [types.decode(types.WriteResult, json.loads(line)) for line in r.content.split(b"\n") if line]
    if results and results[-1].line == 0:
        report, why = types.WriteReport(results=results[:-1]), results[-1].error or types.Failure()
        raise WriteInterruptedError(why.detail, code=why.code, field=why.field, report=report)
    return types.WriteReport(results=results)


def _line(chunk: Mapping[str, Any]) -> bytes:
    return json.dumps(dict(chunk), ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _given(members: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is None, which the gateway decides."""
    return {name: value for name, value in members.items() if value is not None}


def _flag(refresh: bool) -> dict[str, str]:
    return {"refresh": "true"} if refresh else {}


def _base(kb: str) -> str:
    return f"{_BASES}/{_escaped(kb)}"


def _escaped(part: str) -> str:
    if not part:
        raise ValueError("an id is empty")
    return quote(part, safe="")
