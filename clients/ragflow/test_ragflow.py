"""ragflow-sdk, unchanged, against the gateway: what it lists, what it finds, and how it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from ragflow_sdk import RAGFlow

from guidepages import ANSWERS, pages, run_python
from testgateway import KEYS, STRANGER, Gateway, covers, engines, model, on, serve

PASSAGES = [
    ("refunds.md", "en", 2024, "Refunds are paid back to the card within one week after the return is accepted."),
    ("refunds.md", "en", 2024, "Gift cards are never paid back; ask the desk for another one."),
    ("hours.md", "en", 2023, "The workshop opens at nine in the morning and closes at six."),
    ("手册.md", "zh", 2025, "申请退款：登录账户，在订单页面点击申请退款，一周之内退回原来的银行卡。"),
    ("手册.md", "zh", 2025, "车间每天早上九点开门，晚上六点关门。"),
]

ENGLISH = {"conditions": [{"name": "language", "comparison_operator": "is", "value": "en"}]}


@pytest.fixture(scope="module", params=engines())
def gateway(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    folder: Path = tmp_path_factory.mktemp(request.param)
    for running in serve(folder, KEYS + on(request.param) + model()):
        chunks = [
            {
                "id": f"c{i}",
                "document_id": document,
                "document_name": document,
                "content": content,
                "ordinal": i,
                "positions": [[i + 1, 10, 20, 30, 40]],
                "metadata": {"language": language, "year": year},
            }
            for i, (document, language, year, content) in enumerate(PASSAGES)
        ]
        running.fill("shop", chunks, name="Shop")
        running.fill("other", chunks[2:3], name="Other")
        yield running
        for kb in ("shop", "other"):
            running.ask("DELETE", f"/v1/knowledge-bases/{kb}")


@pytest.fixture
def sdk(gateway: Gateway) -> RAGFlow:
    return RAGFlow(gateway.key, gateway.url)


def ids(chunks: list[Any]) -> list[str]:
    return [chunk.id for chunk in chunks]


def test_what_is_there_is_listed(sdk: RAGFlow) -> None:
    datasets = {d.id: d for d in sdk.list_datasets()}
    assert set(datasets) == {"shop", "other"}
    assert [d.id for d in sdk.list_datasets(page=2, page_size=1)] == ["shop"]  # the newest comes first
    shop = sdk.get_dataset("Shop")
    assert (shop.id, shop.document_count, shop.chunk_count) == ("shop", 3, 5)
    assert [d.id for d in sdk.list_datasets(ids=["other"])] == ["other"]
    documents = shop.list_documents()
    assert [d.name for d in documents] == ["hours.md", "refunds.md", "手册.md"]
    assert documents[1].chunk_count == 2
    assert documents[1].run == "DONE"
    assert [d.id for d in shop.list_documents(keywords="手册")] == ["手册.md"]
    assert [d.id for d in shop.list_documents(page=2, page_size=2)] == ["手册.md"]
    chunks = documents[2].list_chunks()
    assert [c.content for c in chunks] == [p[3] for p in PASSAGES[3:]]
    assert [c.id for c in documents[2].list_chunks(keywords="开门")] == ["c4"]
    with pytest.raises(Exception, match="You don't own the document nothing"):
        shop.list_documents(id="nothing")


@covers("ragflow-sdk", "search")
def test_questions_find_chunks_in_both_languages(sdk: RAGFlow) -> None:
    found = sdk.retrieve(dataset_ids=["shop"], question="How are refunds paid back?")
    best = found[0]
    assert best.id == "c0"
    assert best.document_id == best.document_name == "refunds.md"
    assert best.dataset_id == "shop"
    assert best.positions == [[1, 10, 20, 30, 40]]
    assert 0.2 <= best.similarity <= 1
    assert best.similarity == pytest.approx(0.7 * best.term_similarity + 0.3 * best.vector_similarity, abs=1e-6)
    assert ids(sdk.retrieve(dataset_ids=["shop"], question="如何申请退款"))[0] == "c3"
    assert ids(sdk.retrieve(dataset_ids=["shop", "other"], question="when does the workshop open"))[0] == "c2"


@covers("ragflow-sdk", "filter", "threshold")
def test_what_it_asks_is_heeded(sdk: RAGFlow) -> None:
    def asked(**more: Any) -> list[str]:
        return ids(sdk.retrieve(dataset_ids=["shop"], question="refunds paid back", **more))

    assert asked(similarity_threshold=0.999) == []
    assert asked(page_size=1, page=1) == ["c0"]
    assert asked(page_size=1, page=2) == ["c1"]
    assert asked(document_ids=["refunds.md"], similarity_threshold=1.0) == ["c0", "c1"]
    assert asked(metadata_condition={"conditions": [{"name": "year", "comparison_operator": ">", "value": 2024}]}) == []
    both = {
        "logic": "and",
        "conditions": [
            {"name": "language", "comparison_operator": "is", "value": "en"},
            {"name": "year", "comparison_operator": "=", "value": "2024"},
        ],
    }
    assert asked(metadata_condition=both) == ["c0", "c1"]
    weighed = sdk.retrieve(dataset_ids=["shop"], question="refunds paid back", vector_similarity_weight=1.0)
    assert weighed[0].similarity == pytest.approx(weighed[0].vector_similarity, abs=1e-6)


def test_a_preset_may_rank_in_place_of_a_reranker(sdk: RAGFlow) -> None:
    asked: dict[str, Any] = {"dataset_ids": ["shop"], "question": "how long does the money back take, 退款"}
    foreign = {"dataset_ids": ["shop"], "question": "车间几点开门？", "metadata_condition": ENGLISH}
    assert sdk.retrieve(**foreign) == []  # RAGFlow's way finds by words
    best = sdk.retrieve(**foreign, rerank_id="balanced")[0]
    assert (best.id, best.similarity > 0.2) == ("c2", True)
    usual = [(c.id, c.similarity) for c in sdk.retrieve(**asked)]
    assert [(c.id, c.similarity) for c in sdk.retrieve(**asked, rerank_id="ragflow")] == usual
    assert sdk.retrieve(dataset_ids=["shop"], question="Who won the chess olympiad?", rerank_id="balanced") == []


@covers("ragflow-sdk", "nothing found")
def test_what_cannot_be_known_is_not_found(gateway: Gateway, sdk: RAGFlow) -> None:
    assert sdk.retrieve(dataset_ids=["shop"], question="Who won the chess olympiad?") == []
    assert sdk.retrieve(dataset_ids=["shop"], question="  ") == []
    answer = requests.post(
        gateway.url + "/api/v1/retrieval",
        json={
            "question": "Who won the chess olympiad?",
            "dataset_ids": ["shop"],
            "preset": "balanced",
            "similarity_threshold": 0.2,
        },
        headers={"Authorization": f"Bearer {gateway.key}"},
        timeout=60,
    ).json()
    assert answer["code"] == 0
    assert answer["data"]["chunks"] == []


def test_wrong_calls_are_refused_as_ragflow_refuses_them(gateway: Gateway, sdk: RAGFlow) -> None:
    for more, message in [
        ({"dataset_ids": []}, "`dataset_ids` is required."),
        ({"top_k": 0}, "`top_k` must be greater than 0"),
        ({"page_size": 101}, "page_size is 101"),
        ({"similarity_threshold": 2}, "similarity_threshold is 2"),
        ({"dataset_ids": ["nothing"]}, "You don't own the dataset nothing."),
        ({"dataset_ids": ["shop", "nothing"]}, "You don't own the dataset nothing."),
        ({"rerank_id": "nothing"}, "rerank_id is"),
        (
            {"metadata_condition": {"conditions": [{"name": "year", "comparison_operator": "like", "value": 1}]}},
            r"conditions\[0\]",
        ),
        ({"question": "a" * 1_000_000}, "question is"),
    ]:
        asked = {"dataset_ids": ["shop"], "question": "refunds"} | more
        with pytest.raises(Exception, match=message):
            sdk.retrieve(**asked)
    assert ids(sdk.retrieve(dataset_ids=["shop"], question="refunds", top_k=10_001))[0] == "c0"
    unknown = {"conditions": [{"name": "nowhere", "comparison_operator": "is", "value": "x"}]}
    assert sdk.retrieve(dataset_ids=["shop"], question="refunds", metadata_condition=unknown) == []


@covers("ragflow-sdk", "wrong key", "foreign tenant")
def test_keys_and_tenants_hold(gateway: Gateway) -> None:
    stranger = RAGFlow(STRANGER, gateway.url)
    assert stranger.list_datasets() == []
    with pytest.raises(Exception, match="You don't own the dataset shop"):
        stranger.retrieve(dataset_ids=["shop"], question="refunds")
    with pytest.raises(Exception, match="key"):
        RAGFlow("nobody", gateway.url).retrieve(dataset_ids=["shop"], question="refunds")
    nobody = requests.post(
        gateway.url + "/api/v1/retrieval", json={}, headers={"Authorization": "Bearer nobody"}, timeout=60
    )
    assert nobody.status_code == 401
    assert nobody.json()["code"] == 401


@pages("ragflow")
def test_the_guides_example(readers_gateway: Gateway, page: Path, language: str) -> None:
    shown = run_python(page, readers_gateway)
    assert shown.splitlines()[0] == "shop 2 4"
    _, document, _, _, content = ANSWERS[language]
    assert f"{document} {content}" in shown.splitlines()[1]
