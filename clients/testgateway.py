"""A real gateway for the tests of clients, which needs nothing but the standard library."""

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


def engines() -> list[str]:
    """Give those that the clients are tried on."""
    return ["embedded", "elasticsearch"]


def on(engine: str) -> str:
    """Give the settings that make an engine the usual one."""
    if engine == "embedded":
        return ""
    url = os.environ.get("HYBRIDGE_TEST_ELASTICSEARCH_URL")
    if not url and os.environ.get("CI"):
        pytest.fail("HYBRIDGE_TEST_ELASTICSEARCH_URL is not set")
    if not url:
        pytest.skip("HYBRIDGE_TEST_ELASTICSEARCH_URL is not set")
    prefix = f"clients-{secrets.token_hex(4)}-"
    return f"default_engine: elasticsearch\nelasticsearch: {{url: '{url}', index_prefix: {prefix}}}\n"


def model() -> str:
    """Give the settings of the embedding model."""
    url = os.environ.get("HYBRIDGE_TEST_EMBEDDING_URL")
    if not url and os.environ.get("CI"):
        pytest.fail("HYBRIDGE_TEST_EMBEDDING_URL is not set")
    if not url:
        pytest.skip("HYBRIDGE_TEST_EMBEDDING_URL is not set")
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
