"""The cohere package, unchanged: texts that somebody else found are ranked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cohere.core.api_error import ApiError

import cohere
from guidepages import pages, run_python
from testgateway import KEYS, READER, Gateway, covers_alone, model, serve

TEXTS = [
    "The workshop opens at nine in the morning and closes at six.",
    "Refunds are paid back to the card within one week after the return is accepted.",
    "The museum shows paintings of three centuries.",
]
CHINESE = [
    "车间每天早上九点开门，晚上六点关门。",
    "退货验收之后，一周之内退回原来的银行卡。",
    "博物馆展出三个世纪的绘画。",
]
Client = cohere.Client | cohere.ClientV2


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    yield from serve(tmp_path_factory.mktemp("texts"), KEYS + model())


@pytest.fixture(params=[cohere.Client, cohere.ClientV2])
def client(request: Any, gateway: Gateway) -> Client:
    made: Client = request.param(api_key=READER, base_url=gateway.url)
    return made


@covers_alone("cohere", "search")
def test_texts_are_ranked_by_how_well_they_answer(client: Client) -> None:
    for query, texts, best in [
        ("How are refunds paid back?", TEXTS, 1),
        ("When does the workshop open?", TEXTS, 0),
        ("退款多久到账？", CHINESE, 1),
        ("车间几点开门？", CHINESE, 0),
        ("退款多久到账？", TEXTS, 1),
    ]:
        results = client.rerank(model="fusion", query=query, documents=texts).results
        assert results[0].index == best, query
        assert len(results) == len(texts)
        assert 1 >= results[0].relevance_score >= results[1].relevance_score >= results[2].relevance_score >= 0


@covers_alone("cohere", "nothing found")
def test_what_answers_nothing_scores_low(client: Client) -> None:
    for texts, known, unknown in [
        (TEXTS, "How are refunds paid back?", "Who won the chess olympiad?"),
        (CHINESE, "退款多久到账？", "谁赢得了国际象棋奥林匹克？"),
    ]:
        best = client.rerank(model="fusion", query=known, documents=texts, top_n=1).results
        assert [r.relevance_score > 0.1 for r in best] == [True]
        rest = client.rerank(model="fusion", query=unknown, documents=texts).results
        assert [r.relevance_score < 0.1 for r in rest] == [True] * 3


def test_the_first_version_takes_objects_and_gives_texts_back(gateway: Gateway) -> None:
    client = cohere.Client(api_key=READER, base_url=gateway.url)
    found = client.rerank(
        model="fusion",
        query="How are refunds paid back?",
        documents=[{"text": t} for t in TEXTS],
        return_documents=True,
    )
    assert found.results[0].document is not None
    assert found.results[0].document.text == TEXTS[1]
    assert found.meta is None or found.meta.warnings is None


def test_wrong_calls_are_refused_in_its_form(client: Client) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"model": "nothing"}, "nothing"),
        ({"documents": []}, "documents"),
        ({"documents": ["a text"] * 1_001}, "documents"),
        ({"top_n": 0}, "top_n"),
        ({"top_n": 10_001}, "top_n"),
        ({"query": ""}, "query"),
        ({"query": "a" * 1_000_000}, "query"),
    ]
    for more, named in wrong:
        with pytest.raises(ApiError) as caught:
            client.rerank(**({"model": "fusion", "query": "refunds", "documents": TEXTS} | more))
        assert caught.value.status_code in {400, 413}, more
        assert named in caught.value.body["message"]


@covers_alone("cohere", "wrong key")
def test_nobody_ranks_without_a_key(gateway: Gateway) -> None:
    for made in (cohere.Client, cohere.ClientV2):
        with pytest.raises(cohere.UnauthorizedError):
            made(api_key="nobody", base_url=gateway.url).rerank(model="fusion", query="refunds", documents=TEXTS)


@pages("reranking-texts")
def test_the_guides_example(readers_gateway: Gateway, page: Path, language: str) -> None:
    best = run_python(page, readers_gateway).splitlines()[0]
    assert best.endswith(" 1"), f"{language}: {best}"
