"""A real gateway for all tests, on each engine: no model, and the keys of the tests of clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hybridge import Client
from testgateway import KEYS, Gateway, engines, on, serve

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


@pytest.fixture(scope="session", params=engines())
def gateway(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    for running in serve(tmp_path_factory.mktemp("gateway"), KEYS + on(request.param)):
        yield running
        running.clear()


@pytest.fixture(scope="session")
def engine(gateway: Gateway) -> str:
    """Give the one that the gateway has."""
    return str(gateway.ask("POST", "/v1/knowledge-bases", {"id": "asked"})["engine"])


@pytest.fixture(scope="session")
def client(gateway: Gateway) -> Iterator[Client]:
    with Client(gateway.url, gateway.key) as made:
        made.create_knowledge_base(MANUALS, name="Manuals")
        assert made.write_chunks(MANUALS, CHUNKS, refresh=True).created == len(CHUNKS)
        yield made


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
