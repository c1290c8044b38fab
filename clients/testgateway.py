"""A real gateway for the tests of clients, which needs nothing but the standard library.

It is a plugin of pytest too: -p testgateway checks what tests say that they cover.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skips import missing

KEY = "key-of-the-tests-0123456789abcdef"
READER = "key-that-only-reads-0123456789abcdef"
STRANGER = "key-of-another-tenant-0123456789abcdef"
KEYS = f"""keys:
  - {{name: tests, key: {KEY}}}
  - {{name: reader, key: {READER}, read_only: true}}
  - {{name: stranger, key: {STRANGER}, tenant: rival}}
"""


@dataclass(frozen=True)
class Gateway:
    url: str
    key: str = KEY

    def ask(self, method: str, path: str, body: object = None, content_type: str = "application/json") -> Any:
        """Send a request of the gateway's own API; the answer is decoded."""
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        request = urllib.request.Request(
            self.url + path,
            None if text is None else text.encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": content_type},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")

    def clear(self) -> None:
        """Delete all knowledge bases: what stands on a server stays there otherwise."""
        for kb in self.ask("GET", "/v1/knowledge-bases")["knowledge_bases"]:
            self.ask("DELETE", f"/v1/knowledge-bases/{kb['id']}")

    def fill(self, kb: str, chunks: list[dict[str, Any]], **spec: object) -> None:
        """Make a knowledge base of chunks."""
        self.ask("POST", "/v1/knowledge-bases", {"id": kb, **spec})
        lines = "".join(json.dumps(chunk) + "\n" for chunk in chunks)
        path = f"/v1/knowledge-bases/{kb}/documents?refresh=true"
        request = urllib.request.Request(
            self.url + path,
            lines.encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/x-ndjson"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            results = answer.read().decode()
        assert '"error"' not in results, results


# What is tried with every client. The table of the guide's page on clients is made of the marks
# @covers(CLIENT, CASES…), by a test of cmd/hybridge; @covers_alone is for what no engine takes part in.
CASES = ["search", "filter", "threshold", "nothing found", "wrong key", "foreign tenant"]


def covers(client: str, *cases: str) -> pytest.MarkDecorator:
    """Say which cases of a client a test tries, on each of engines()."""
    assert not set(cases) - set(CASES), cases
    return pytest.mark.covers(client)


def covers_alone(client: str, *cases: str) -> pytest.MarkDecorator:
    """Say which cases of a client a test tries where there is no engine to choose."""
    assert not set(cases) - set(CASES), cases
    return pytest.mark.covers_alone(client)


def pytest_configure(config: pytest.Config) -> None:
    for mark in (covers, covers_alone):
        config.addinivalue_line("markers", f"{mark.__name__}(client): {mark.__doc__}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse tests that say that they try an engine, and do not."""
    for item in items:
        params = getattr(item, "callspec", None)
        tried = params is not None and not set(engines()).isdisjoint(map(str, params.params.values()))
        if item.get_closest_marker("covers") and not tried:
            message = f"{item.nodeid} covers its cases on no engine: its gateway must have params=engines()"
            raise pytest.UsageError(message)


def engines() -> list[str]:
    """Give those that the clients are tried on."""
    return ["embedded", "elasticsearch", "postgres"]


def server(name: str) -> str:
    """Give the address of a server that tests need."""
    url = os.environ.get(name)
    return url or missing(f"{name} is not set")


def on(engine: str) -> str:
    """Give the settings that make an engine the usual one, with a place of its own there."""
    own = f"clients_{secrets.token_hex(4)}"
    if engine == "elasticsearch":
        url = server("HYBRIDGE_TEST_ELASTICSEARCH_URL")
        return f"default_engine: elasticsearch\nelasticsearch: {{url: '{url}', index_prefix: {own}-}}\n"
    if engine == "postgres":
        url = server("HYBRIDGE_TEST_POSTGRES_URL")
        return f"default_engine: postgres\npostgres: {{url: '{url}', schema: {own}}}\n"
    return ""


def model() -> str:
    """Give the settings of the embedding model."""
    url = server("HYBRIDGE_TEST_EMBEDDING_URL")
    prefixes = "query_prefix: 'query: ', passage_prefix: 'passage: '"
    return f"embedding: {{url: '{url}', model: multilingual-e5-small, {prefixes}}}\n"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def serve(folder: Path, settings: str) -> Iterator[Gateway]:
    """Run the gateway until the tests are done."""
    binary = os.environ.get("HYBRIDGE_TEST_BINARY")
    if not binary:
        pytest.fail("HYBRIDGE_TEST_BINARY is not set; run scripts/test-clients")
    port = free_port()
    config = folder / "hybridge.yaml"
    config.write_text(f"listen: 127.0.0.1:{port}\ndata_dir: {folder / 'data'}\n{settings}", encoding="utf-8")
    config.chmod(0o600)
    environment = {n: v for n, v in os.environ.items() if not n.startswith("HYBRIDGE_")}
    with (folder / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen([binary, "serve", "--config", str(config)], stdout=log, stderr=log, env=environment)
    try:
        gateway = Gateway(f"http://127.0.0.1:{port}")
        deadline = time.monotonic() + 60
        while not _ready(gateway.url):
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail("the gateway did not start:\n" + (folder / "log").read_text(encoding="utf-8"))
            time.sleep(0.1)
        yield gateway
    finally:
        process.terminate()
        process.wait(30)


def _ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url + "/readyz", timeout=5):
            return True
    except OSError:
        return False
