"""A real gateway for all tests: embedded engine, no model, two keys."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from hybridge import Client

KEY = "key-of-the-tests-0123456789abcdef"
READER = "key-that-only-reads-0123456789abcdef"
MANUALS = "manuals"
CHUNKS: list[dict[str, Any]] = [
    {
        "id": "refunds-en",
        "document_id": "guide.md",
        "document_name": "guide.md",
        "title": "Shop > Refunds",
        "content": "Refunds are paid back within one week.",
        "positions": [[12, 30]],
        "metadata": {"language": "en", "year": 2024},
    },
    {
        "id": "refunds-zh",
        "document_id": "手册.pdf",
        "document_name": "手册.pdf",
        "content": "退款会在一周之内退回原来的银行卡。",
        "positions": [[3, 72, 520, 90, 140]],
        "metadata": {"language": "zh", "year": 2025},
    },
    {
        "id": "opening/hours",
        "document_id": "hours.txt",
        "document_name": "hours.txt",
        "content": "The workshop opens at nine in the morning.",
        "metadata": {"language": "en", "year": 2023},
    },
]


@dataclass(frozen=True)
class Gateway:
    url: str
    key: str = KEY


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
        return httpx.get(url + "/readyz").is_success
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    keys = f"keys:\n  - {{name: tests, key: {KEY}}}\n  - {{name: reader, key: {READER}, read_only: true}}\n"
    yield from serve(tmp_path_factory.mktemp("gateway"), keys)


@pytest.fixture(scope="session")
def client(gateway: Gateway) -> Iterator[Client]:
    with Client(gateway.url, gateway.key) as made:
        made.create_knowledge_base(MANUALS, name="Manuals")
        assert made.write_chunks(MANUALS, CHUNKS, refresh=True).created == len(CHUNKS)
        yield made


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
