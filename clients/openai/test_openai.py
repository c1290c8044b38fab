"""The openai package, unchanged: vector stores, their files, and searches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from guidepages import ANSWERS, pages, run_python
from openai import APIStatusError, AuthenticationError, BadRequestError, NotFoundError, OpenAI
from testgateway import KEYS, STRANGER, Gateway, covers, engines, model, on, serve

PASSAGES = [
    ("guide.md", "en", 2024, "Refunds are paid back to the card within one week after the return is accepted."),
    ("guide.md", "en", 2023, "The workshop opens at nine in the morning and closes at six."),
    ("手册.md", "zh", 2025, "申请退款：登录账户，在订单页面点击申请退款，一周之内退回原来的银行卡。"),
]


@pytest.fixture(scope="module", params=engines())
def gateway(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    for running in serve(tmp_path_factory.mktemp(request.param), KEYS + on(request.param) + model()):
        chunks = [
            {
                "id": f"c{i}",
                "document_id": document,
                "document_name": document,
                "content": content,
                "metadata": {"language": language, "year": year},
            }
            for i, (document, language, year, content) in enumerate(PASSAGES)
        ]
        running.fill("shop", chunks, name="Shop")
        running.fill("other", chunks[1:2])
        yield running
        for kb in ("shop", "other"):
            running.ask("DELETE", f"/v1/knowledge-bases/{kb}")


@pytest.fixture
def client(gateway: Gateway) -> OpenAI:
    return OpenAI(api_key=gateway.key, base_url=gateway.url + "/v1", max_retries=0)


def texts(found: Any) -> list[str]:
    return [result.content[0].text for result in found.data]


def test_vector_stores_and_files_are_listed(client: OpenAI) -> None:
    assert [store.id for store in client.vector_stores.list(limit=1)] == ["other", "shop"]  # every page
    shop = client.vector_stores.retrieve("shop")
    assert (shop.name, shop.status, shop.file_counts.total) == ("Shop", "completed", 2)
    files = list(client.vector_stores.files.list("shop", limit=1))
    assert [file.id for file in files] == ["guide.md", "手册.md"]
    assert client.vector_stores.files.retrieve("手册.md", vector_store_id="shop").status == "completed"
    content = client.vector_stores.files.content("guide.md", vector_store_id="shop")
    assert [piece.text for piece in content.data] == [passage[3] for passage in PASSAGES[:2]]


@covers("openai", "search")
def test_questions_find_chunks_in_both_languages(client: OpenAI) -> None:
    found = client.vector_stores.search("shop", query="How are refunds paid back?", max_num_results=2)
    best = found.data[0]
    assert best.content[0].text == PASSAGES[0][3]
    assert (best.file_id, best.filename) == ("guide.md", "guide.md")
    assert 0 < best.score <= 1
    assert best.attributes == {"language": "en", "year": 2024, "chunk_id": "c0"}
    assert len(found.data) == 2
    assert texts(client.vector_stores.search("shop", query="如何申请退款"))[0] == PASSAGES[2][3]
    assert texts(client.vector_stores.search("shop", query=["the workshop", "when does it open"]))[0] == PASSAGES[1][3]


@covers("openai", "filter", "threshold", "nothing found")
def test_filters_and_thresholds_hold(client: OpenAI) -> None:
    def asked(filters: Any) -> set[str]:
        found = client.vector_stores.search("shop", query="refund workshop 退款", filters=filters)
        return {str((result.attributes or {})["chunk_id"]) for result in found.data}

    assert asked({"type": "eq", "key": "language", "value": "zh"}) == {"c2"}
    assert asked({"type": "ne", "key": "language", "value": "zh"}) == {"c0", "c1"}
    assert asked({"type": "gte", "key": "year", "value": 2024}) == {"c0", "c2"}
    assert asked({"type": "in", "key": "year", "value": [2023, 2025]}) == {"c1", "c2"}
    english = {"type": "eq", "key": "language", "value": "en"}
    assert asked({"type": "and", "filters": [english, {"type": "lt", "key": "year", "value": 2024}]}) == {"c1"}
    assert asked({"type": "or", "filters": [{"type": "eq", "key": "year", "value": 2023}, english]}) == {"c0", "c1"}
    assert asked({"type": "eq", "key": "nowhere", "value": "x"}) == set()
    ranking: Any = {"score_threshold": 0.25}
    unknown = client.vector_stores.search("shop", query="Who won the chess olympiad?", ranking_options=ranking)
    assert unknown.data == []
    known = client.vector_stores.search("shop", query="How are refunds paid back?", ranking_options=ranking)
    assert texts(known)[0] == PASSAGES[0][3]


def test_wrong_calls_are_refused_in_its_form(client: OpenAI) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"max_num_results": 0}, "max_num_results"),
        ({"max_num_results": 10_001}, "max_num_results"),
        ({"ranking_options": {"score_threshold": 2}}, "ranking_options.score_threshold"),
        ({"ranking_options": {"ranker": "nothing"}}, "ranking_options.ranker"),
        ({"filters": {"type": "like", "key": "a", "value": "b"}}, "filters.type"),
        ({"filters": {"type": "and", "filters": []}}, "filters.filters"),
        ({"query": "a" * 1_000_000}, "query"),
        ({"query": []}, "query"),
    ]
    for more, param in wrong:
        with pytest.raises(APIStatusError, match="Error code: 4") as caught:
            client.vector_stores.search("shop", **({"query": "refunds"} | more))
        assert caught.value.param == param
    with pytest.raises(BadRequestError) as refused:
        client.vector_stores.search("shop", query="refunds", max_num_results=51)
    assert (refused.value.type, refused.value.param) == ("invalid_request_error", "max_num_results")
    with pytest.raises(NotFoundError):
        client.vector_stores.retrieve("nothing")
    with pytest.raises(NotFoundError):
        client.vector_stores.files.retrieve("nothing", vector_store_id="shop")


@covers("openai", "wrong key", "foreign tenant")
def test_keys_and_tenants_hold(gateway: Gateway) -> None:
    base = gateway.url + "/v1"
    stranger = OpenAI(api_key=STRANGER, base_url=base, max_retries=0)
    assert list(stranger.vector_stores.list()) == []
    with pytest.raises(NotFoundError):
        stranger.vector_stores.search("shop", query="refunds")
    with pytest.raises(AuthenticationError):
        OpenAI(api_key="nobody", base_url=base, max_retries=0).vector_stores.list()


def test_embeddings_are_those_of_the_model(client: OpenAI) -> None:
    texts = ["query: how are refunds paid back", "passage: Refunds are paid back.", "passage: 车间每天早上九点开门。"]
    default = client.embeddings.create(model="multilingual-e5-small", input=texts)  # which asks for base64
    plain = client.embeddings.create(model="multilingual-e5-small", input=texts, encoding_format="float")
    vectors = [one.embedding for one in default.data]
    assert [len(v) for v in vectors] == [384, 384, 384]
    for one, other in zip(vectors, plain.data, strict=True):
        assert one == pytest.approx(other.embedding, abs=1e-6)

    def cosine(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    assert cosine(vectors[0], vectors[1]) > cosine(vectors[0], vectors[2])
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"model": "nothing"}, "model"),
        ({"input": [""]}, "input"),
        ({"input": [[1, 2]]}, "input"),
        ({"input": []}, "input"),
        ({"dimensions": 7}, "dimensions"),
    ]
    for more, param in wrong:
        with pytest.raises(BadRequestError) as caught:
            client.embeddings.create(**({"model": "multilingual-e5-small", "input": "a text"} | more))
        assert caught.value.param == param


@pages("openai")
def test_the_guides_example(readers_gateway: Gateway, page: Path, language: str) -> None:
    shown = run_python(page, readers_gateway)
    _, document, _, _, content = ANSWERS[language]
    assert f"{document} {content}" in shown.splitlines()[0]
