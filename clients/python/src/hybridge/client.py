"""The client for programs without an event loop."""

# Made of aio.py by blocking.py; changes belong there.

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import httpx

from hybridge import _calls, types
from hybridge._settings import Settings, failure_of, read, refusal_of
from hybridge.errors import of_response

T = TypeVar("T")


class Client:
    """Searches and writes through a gateway. It is safe for concurrent use; close it, or use it by `with`.

    Arguments have the API's names; what is None is left to the gateway, and **extra takes every other
    member of a request. Failures are HybridgeError.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        api_key: str | None = None,
        *,
        timeout: float = 30.0,
        write_timeout: float = 600.0,
        retries: int = 2,
        language: str | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        """Make a client. language is that of messages, as en or zh; http brings proxies and certificates."""
        self._settings = Settings(url, api_key, timeout, write_timeout, retries, language)
        self._http = http or httpx.Client()
        self._owned = http is None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, unless they are of a client that was given."""
        if self._owned:
            self._http.close()

    def search(
        self,
        query: str,
        knowledge_bases: str | Sequence[str],
        *,
        top_k: int | None = None,
        preset: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the API's name
        min_relevance: float | None = None,
        **extra: Any,
    ) -> types.SearchResponse:
        """Search. Below min_relevance, which is threshold.answerable, there are no hits and empty says so."""
        members = {"top_k": top_k, "preset": preset, "filter": filter, **extra}
        asked = _calls.members_of_search(query, knowledge_bases, min_relevance, members)
        return self._send(_calls.ask("/v1/search", types.SearchResponse, **asked))

    def context(
        self,
        query: str,
        knowledge_bases: str | Sequence[str],
        *,
        max_chars: int | None = None,
        top_k: int | None = None,
        preset: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the API's name
        min_relevance: float | None = None,
        **extra: Any,
    ) -> types.ContextAnswer:
        """Search, for a prompt: numbered text of bounded length with its sources."""
        members = {"top_k": top_k, "preset": preset, "filter": filter, "max_chars": max_chars, **extra}
        asked = _calls.members_of_search(query, knowledge_bases, min_relevance, members)
        return self._send(_calls.ask("/v1/context", types.ContextAnswer, **asked))

    def answer(
        self,
        query: str,
        knowledge_bases: str | Sequence[str],
        *,
        max_chars: int | None = None,
        top_k: int | None = None,
        preset: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the API's name
        min_relevance: float | None = None,
        **extra: Any,
    ) -> Iterator[types.AnswerEvent]:
        """Have the gateway's model answer, event by event: sources, sentences or that it is unknown, done.

        Leaving the loop ends the model's request too, once the iterator is closed or forgotten.
        """
        members = {"max_chars": max_chars, "top_k": top_k, "preset": preset, "filter": filter, **extra}
        asked = _calls.members_of_search(query, knowledge_bases, None, members)
        request = self._settings.request(_calls.answer(min_relevance=min_relevance, **asked))
        request["headers"]["Accept"] = "text/event-stream, application/json"
        events = _calls.Events()
        try:
            with self._http.stream(**request) as response:
                if not response.is_success:
                    response.read()
                    raise of_response(response)
                for line in response.iter_lines():
                    if event := events.read(line):
                        yield event
        except httpx.HTTPError as error:
            raise failure_of(error)[0] from error

    def explain(
        self,
        query: str,
        knowledge_bases: str | Sequence[str],
        chunk_id: str,
        *,
        top_k: int | None = None,
        preset: str | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the API's name
        min_relevance: float | None = None,
        **extra: Any,
    ) -> types.ExplainResponse:
        """Tell why a chunk is where it is in the answer of a search, or not in it."""
        members = {"top_k": top_k, "preset": preset, "filter": filter, "chunk_id": chunk_id, **extra}
        asked = _calls.members_of_search(query, knowledge_bases, min_relevance, members)
        return self._send(_calls.ask("/v1/explain", types.ExplainResponse, **asked))

    def suggest(
        self, query: str, knowledge_bases: str | Sequence[str], *, limit: int | None = None, **extra: Any
    ) -> list[types.Suggestion]:
        """Go on with a question that is being typed."""
        asked = _calls.members_of_search(query, knowledge_bases, None, {"limit": limit, **extra})
        return self._send(_calls.ask("/v1/suggest", types.Suggestions, **asked)).suggestions

    def list_knowledge_bases(self) -> list[types.KnowledgeBase]:
        return self._send(_calls.knowledge_bases()).knowledge_bases

    def create_knowledge_base(self, id: str, **members: Any) -> types.KnowledgeBase:  # noqa: A002 - the API's name
        """Create a knowledge base; members are those of the API, as name, kind, dimensions, engine."""
        return self._send(_calls.create({"id": id, **members}))

    def describe_knowledge_base(self, kb: str) -> types.KnowledgeBase:
        return self._send(_calls.describe(kb))

    def delete_knowledge_base(self, kb: str) -> None:
        self._send(_calls.delete(kb))

    def write_chunks(self, kb: str, chunks: Iterable[Mapping[str, Any]], *, refresh: bool = False) -> types.WriteReport:
        """Write chunks as they come, however many; refresh waits until searches see them.

        Chunks that are refused are in `failed` of the report, the others are written.
        """
        return self._send(_calls.write(kb, _calls.lines_of(chunks), refresh))

    def upload_file(
        self, kb: str, file: _calls.File, *, name: str | None = None, refresh: bool = False
    ) -> types.FileResult:
        """Split a file into chunks, which replace those of the document called name (the file's)."""
        body = file if isinstance(file, bytes) else _calls.pieces_of(file)
        return self._send(_calls.upload(kb, _calls.name_of(file, name), body, refresh))

    def list_documents(self, kb: str, *, after: str = "", limit: int | None = None) -> types.DocumentPage:
        """List documents by their ids, from the one after `after`; the page's next is that of the next page."""
        return self._send(_calls.documents(kb, after, limit))

    def delete_document(self, kb: str, document_id: str) -> int:
        """Delete the chunks of a document and return how many there were."""
        return self._send(_calls.delete_document(kb, document_id)).deleted

    def get_chunk(self, kb: str, chunk_id: str) -> types.Chunk:
        return self._send(_calls.chunk(kb, chunk_id))

    def _send(self, call: _calls.Call[T]) -> T:
        for attempt in range(self._settings.retries + 1):
            never_sent = False
            try:
                response = self._http.request(**self._settings.request(call))
            except httpx.HTTPError as error:
                failure, never_sent = failure_of(error)
            else:
                refused = refusal_of(response)
                if refused is None:
                    return read(call, response)
                failure = refused
            time.sleep(self._settings.wait(call, attempt, failure, never_sent))
        raise AssertionError("the last attempt raises")
