"""What is sent again, and what is not: a server that refuses at first, as a busy gateway does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from hybridge import AsyncClient, Client, HybridgeError, WriteInterruptedError

pytestmark = pytest.mark.anyio


class Busy:
    """Answers with each of answers in turn: a status, headers and a body."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], object]] = []
        self.asked: list[tuple[str, str]] = []
        self.url = ""


@pytest.fixture
def busy() -> Iterator[Busy]:
    state = Busy()

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            if length := self.headers.get("Content-Length"):
                self.rfile.read(int(length))
            state.asked.append((self.command, self.path))
            status, headers, body = state.answers.pop(0)
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = do  # noqa: N815 - the names are the server's

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


Answer = tuple[int, dict[str, str], object]
OVERLOADED: Answer = (503, {"Retry-After": "0"}, {"code": "overloaded", "detail": "too many searches at a time"})
LIMITED: Answer = (429, {"Retry-After": "0"}, {"code": "too_many_requests", "detail": "the key's rate is used up"})
FOUND: Answer = (200, {}, {"hits": [{"id": "1"}]})


def test_reads_are_sent_again(busy: Busy) -> None:
    busy.answers = [OVERLOADED, LIMITED, FOUND]
    with Client(busy.url) as client:
        assert client.search("x", "kb").hits[0].id == "1"
    assert len(busy.asked) == 3


async def test_reads_are_sent_again_async(busy: Busy) -> None:
    busy.answers = [OVERLOADED, FOUND]
    async with AsyncClient(busy.url) as client:
        assert (await client.search("x", "kb")).hits[0].id == "1"
    assert len(busy.asked) == 2


def test_until_the_retries_are_used_up(busy: Busy) -> None:
    busy.answers = [OVERLOADED, OVERLOADED]
    with Client(busy.url, retries=1) as client, pytest.raises(HybridgeError) as refused:
        client.search("x", "kb")
    assert (refused.value.code, refused.value.status) == ("overloaded", 503)


def test_changes_are_sent_again_only_if_nothing_was_done(busy: Busy) -> None:
    busy.answers = [OVERLOADED, LIMITED, (204, {}, b"")]
    with Client(busy.url) as client:
        with pytest.raises(HybridgeError):
            client.delete_knowledge_base("kb")
        client.delete_knowledge_base("kb")
        assert len(busy.asked) == 3


def test_who_is_told_to_wait_long_is_told(busy: Busy) -> None:
    busy.answers = [(429, {"Retry-After": "3600"}, {"code": "too_many_requests", "detail": "the quota is used up"})]
    with Client(busy.url) as client, pytest.raises(HybridgeError) as refused:
        client.search("x", "kb")
    assert refused.value.retry_after == 3600


@pytest.mark.parametrize("answer", [(502, {}, b"<html>"), (500, {}, {"code": 7}), (200, {}, b"<html>"), (200, {}, [])])
def test_answers_of_something_else(busy: Busy, answer: Answer) -> None:
    busy.answers = [answer] * 3
    with Client(busy.url) as client, pytest.raises(HybridgeError) as refused:
        client.list_knowledge_bases()
    assert refused.value.status == answer[0]
    assert refused.value.code


def test_chunks_that_could_not_be_read_to_their_end(busy: Busy) -> None:
    lines = b"""{"line": 1, "id": "a", "status": "created"}
{"line": 0, "status": "failed", "error": {"code": "timeout", "detail": "the request took longer than it may"}}
"""
    busy.answers = [(200, {}, lines)]
    with Client(busy.url) as client, pytest.raises(WriteInterruptedError) as cut:
        client.write_chunks("kb", iter([]))
    assert (cut.value.code, [r.id for r in cut.value.report.results]) == ("timeout", ["a"])
