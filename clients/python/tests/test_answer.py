"""An answer that comes event by event: a server that sends what the gateway sends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hybridge import (
    AnswerDone,
    AnswerEvent,
    AnswerSentence,
    AnswerSources,
    AsyncClient,
    Client,
    HybridgeError,
    UnknownAnswer,
)

pytestmark = pytest.mark.anyio

SOURCES = 'event: sources\ndata: {"query_id":"q","sources":[{"number":1,"id":"c1","source":"a.md"}],"degraded":[]}\n\n'
SENTENCE = 'event: sentence\ndata: {"text":"五天。","citations":[1],"cited":true}\n\n'
UNKNOWN = 'event: unknown\ndata: {"code":"nothing_relevant","reason":"I don\'t know."}\n\n'
LATER = "event: of-a-later-gateway\ndata: {}\n\n"
DONE = 'event: done\ndata: {"sentences":1,"truncated":false,"took_ms":2.5}\n\n'
FAILED = 'event: error\ndata: {"code":"unavailable","status":503,"detail":"the model is away"}\n\n'


@pytest.fixture
def gateway() -> Iterator[tuple[str, list[tuple[int, str]]]]:
    answers: list[tuple[int, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, text = answers.pop(0)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", answers
    server.shutdown()
    thread.join()
    server.server_close()


def test_events_are_typed(gateway: tuple[str, list[tuple[int, str]]]) -> None:
    url, answers = gateway
    answers.append((200, SOURCES + LATER + SENTENCE + DONE))
    with Client(url) as client:
        sources, sentence, done = client.answer("how long", "shop", max_chars=500)
    assert isinstance(sources, AnswerSources)
    assert sources.sources[0].source == "a.md"
    assert sentence == AnswerSentence(text="五天。", citations=[1], cited=True)
    assert done == AnswerDone(sentences=1, took_ms=2.5)


def test_failures_are_raised(gateway: tuple[str, list[tuple[int, str]]]) -> None:
    url, answers = gateway
    answers += [(501, '{"code": "unsupported", "detail": "no model"}'), (200, SOURCES + SENTENCE + FAILED)]
    with Client(url) as client:
        with pytest.raises(HybridgeError, match="no model"):
            list(client.answer("how long", "shop"))
        seen: list[AnswerEvent] = []
        with pytest.raises(HybridgeError, match="the model is away"):
            seen.extend(client.answer("how long", "shop"))
    assert len(seen) == 2


async def test_events_are_typed_async(gateway: tuple[str, list[tuple[int, str]]]) -> None:
    url, answers = gateway
    answers.append((200, SOURCES + UNKNOWN + DONE))
    async with AsyncClient(url) as client:
        events = [event async for event in client.answer("how long", ["shop"], min_relevance=0.5)]
    assert events[1] == UnknownAnswer(code="nothing_relevant", reason="I don't know.")
