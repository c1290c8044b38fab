"""Both clients against the real gateway."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import CHUNKS, MANUALS
from hybridge import AsyncClient, Client, HybridgeError
from testgateway import READER, STRANGER, Gateway, covers, free_port

pytestmark = pytest.mark.anyio


@covers("Python", "search")
@pytest.mark.parametrize(
    ("question", "first"), [("when are refunds paid", "refunds-en"), ("退款多久到账", "refunds-zh")]
)
def test_search(client: Client, engine: str, question: str, first: str) -> None:
    answer = client.search(question, MANUALS, top_k=2, preset="text", facets=["language"])
    best = answer.hits[0]
    assert best.id == first
    assert best.content == next(c["content"] for c in CHUNKS if c["id"] == first)
    assert (best.knowledge_base, answer.preset, answer.engine) == (MANUALS, "text", engine)
    assert len(answer.hits) <= 2
    assert best.legs[0].contribution > 0
    assert sum(count.count for count in answer.facets["language"]) == answer.total.value


@covers("Python", "filter")
def test_filter(client: Client) -> None:
    answer = client.search("refunds 退款", [MANUALS], preset="text", filter={"year": {"gte": 2025}})
    assert [hit.id for hit in answer.hits] == ["refunds-zh"]
    assert answer.hits[0].metadata == {"language": "zh", "year": 2025}


@covers("Python", "threshold", "nothing found")
def test_thresholds_and_nothing_found(client: Client) -> None:
    cut = client.search("refunds", MANUALS, preset="text", threshold={"text": 1000})
    assert (cut.hits, cut.empty) == ([], "threshold")
    assert cut.empty_reason
    unrelated = "Which week did the football world cup of 1998 begin"
    assert client.search(unrelated, MANUALS, preset="text").hits
    none = client.search(unrelated, MANUALS, preset="text", min_relevance=0.25)
    assert (none.hits, none.empty) == ([], "nothing_relevant")
    assert none.answerable is not None
    assert none.answerable < 0.25
    assert client.search("when does the workshop open", MANUALS, preset="text", min_relevance=0.25).hits
    assert client.search("珠穆朗玛峰有多高？", MANUALS, preset="text").empty == "match"
    with pytest.raises(ValueError, match="threshold is 'auto'"):
        client.search("refunds", MANUALS, min_relevance=0.2, threshold="auto")


def test_context(client: Client) -> None:
    answer = client.context("refunds 退款", MANUALS, max_chars=1000, preset="text")
    cited = {c.id: c for c in answer.citations}
    assert cited["refunds-zh"].page == 3
    english = cited["refunds-en"]
    assert (english.heading, english.lines and (english.lines.first, english.lines.last)) == (
        "Shop > Refunds",
        (12, 30),
    )
    assert f"[{english.number}] guide.md" in answer.context
    assert client.context("refunds", MANUALS, max_chars=60, preset="text").truncated


def test_explain_and_suggest(client: Client) -> None:
    found = client.explain("refunds", MANUALS, "refunds-en", preset="text")
    assert (found.outcome, found.rank) == ("hit", 1)
    assert client.explain("refunds", MANUALS, "refunds-en", preset="text", filter={"year": 1}).outcome == "filtered"
    assert "Refunds" in [s.text for s in client.suggest("refun", MANUALS, limit=3)]
    assert "退款" in [s.text for s in client.suggest("退", MANUALS)]


@covers("Python", "wrong key", "foreign tenant")
def test_errors(client: Client, gateway: Gateway) -> None:
    with pytest.raises(HybridgeError) as refused:
        client.search("refunds", MANUALS, top_k=0)
    error = refused.value
    assert (error.code, error.field, error.status) == ("invalid_argument", "top_k", 400)
    assert error.request_id
    assert "top_k" in error.detail
    with pytest.raises(HybridgeError) as misspelt:
        client.search("refunds", MANUALS, topk=3)
    assert misspelt.value.field == "topk"
    with pytest.raises(HybridgeError) as missing:
        client.describe_knowledge_base("no/such")
    assert (missing.value.code, missing.value.status) == ("not_found", 404)
    with Client(gateway.url, "wrong") as stranger, pytest.raises(HybridgeError) as unknown:
        stranger.search("refunds", MANUALS)
    assert (unknown.value.code, unknown.value.status) == ("unauthenticated", 401)
    with Client(gateway.url, STRANGER) as other, pytest.raises(HybridgeError) as foreign:
        other.search("refunds", MANUALS)
    assert (foreign.value.code, foreign.value.status) == ("not_found", 404)
    with Client(gateway.url, READER) as reader, pytest.raises(HybridgeError) as forbidden:
        reader.write_chunks(MANUALS, iter(CHUNKS))
    assert (forbidden.value.code, forbidden.value.status) == ("forbidden", 403)
    with Client(f"http://127.0.0.1:{free_port()}", retries=1) as lost, pytest.raises(HybridgeError) as gone:
        lost.search("refunds", MANUALS)
    assert (gone.value.code, gone.value.status) == ("unavailable", 0)


def test_messages_in_the_readers_language(gateway: Gateway) -> None:
    with Client(gateway.url, gateway.key, language="zh") as client, pytest.raises(HybridgeError) as refused:
        client.search("退款", MANUALS, top_k=0)
    assert any("\u4e00" <= c <= "\u9fff" for c in refused.value.detail)


def test_knowledge_bases_and_documents(client: Client, engine: str) -> None:
    made = client.create_knowledge_base("short-lived", name="短期", kind="chunks")
    assert (made.id, made.name, made.engine) == ("short-lived", "短期", engine)
    with pytest.raises(HybridgeError) as twice:
        client.create_knowledge_base("short-lived")
    assert twice.value.code == "conflict"
    chunks: list[dict[str, Any]] = [
        {"id": f"{d}#{n}", "document_id": d, "content": f"{d} {n} \x85\u2028"}
        for d in ("a/b 中", "c")
        for n in range(3)
    ]
    report = client.write_chunks("short-lived", (c for c in chunks), refresh=True)
    assert (report.created, report.updated, report.failed) == (6, 0, [])
    assert [r.id for r in report.results] == [c["id"] for c in chunks]
    assert client.write_chunks("short-lived", chunks[:2]).updated == 2
    assert client.write_chunks("short-lived", []).results == []

    first = client.list_documents("short-lived", limit=1)
    second = client.list_documents("short-lived", after=first.next)
    assert [(d.document_id, d.chunks) for d in [*first.documents, *second.documents]] == [("a/b 中", 3), ("c", 3)]
    assert client.get_chunk("short-lived", "a/b 中#1").ordinal == 1
    assert client.delete_document("short-lived", "a/b 中") == 3
    described = client.describe_knowledge_base("short-lived")
    assert (described.documents, described.chunks) == (1, 3)
    assert {kb.id for kb in client.list_knowledge_bases()} >= {"short-lived", MANUALS}
    client.delete_knowledge_base("short-lived")
    assert "short-lived" not in {kb.id for kb in client.list_knowledge_bases()}


def test_lines_that_are_refused(client: Client) -> None:
    client.create_knowledge_base("refused")
    report = client.write_chunks("refused", [{"id": "1", "content": "a"}, {"id": "2", "contents": "b"}])
    assert report.created == 1
    failed = report.failed[0]
    assert (failed.line, failed.error and failed.error.field) == (2, "contents")
    too_long = [{"id": "3", "content": "x" * (9 << 20)}, {"id": "4", "content": "a"}]
    failed, written = client.write_chunks("refused", too_long).results
    assert (failed.error and failed.error.code, written.status) == ("too_large", "created")
    client.delete_knowledge_base("refused")


def test_many_chunks_are_streamed(client: Client) -> None:
    taken = 0

    def chunks() -> Iterator[dict[str, Any]]:
        nonlocal taken
        for taken in range(1, 2001):
            yield {"id": str(taken), "content": "a text of some length, 一段有些长度的文字"}

    client.create_knowledge_base("many", dimensions=0)
    assert client.write_chunks("many", chunks()).created == 2000 == taken
    client.delete_knowledge_base("many")


def test_files(client: Client, tmp_path: Path) -> None:
    client.create_knowledge_base("files")
    text = "# 退款\n\n退款需要一周。\n\n# Opening\n\nThe shop opens at nine.\n"
    path = tmp_path / "handbook.md"
    path.write_text(text, encoding="utf-8")
    done = client.upload_file("files", path, refresh=True)
    assert (done.document_id, done.status) == ("handbook.md", "written")
    assert done.chunks > 0
    assert client.upload_file("files", text.encode(), name="handbook.md").status == "unchanged"
    assert client.upload_file("files", io.BytesIO(text.encode()), name="docs/b.md").document_id == "docs/b.md"
    hit = client.search("shop opens", "files", preset="text", top_k=1).hits[0]
    assert "nine" in hit.content
    with pytest.raises(HybridgeError) as unread:
        client.upload_file("files", b"\x00", name="a.exe")
    assert unread.value.status == 400
    with pytest.raises(ValueError, match="name="):
        client.upload_file("files", b"text")
    client.delete_knowledge_base("files")


async def test_async(client: Client, gateway: Gateway, tmp_path: Path) -> None:
    async def chunks() -> AsyncIterator[dict[str, Any]]:
        for chunk in CHUNKS:
            yield chunk

    path = tmp_path / "notes.txt"
    path.write_text("Notes about the weather. 天气笔记。", encoding="utf-8")
    async with AsyncClient(gateway.url, gateway.key) as c:
        await c.create_knowledge_base("async")
        assert (await c.write_chunks("async", chunks(), refresh=True)).created == len(CHUNKS)
        assert (await c.write_chunks("async", CHUNKS[:1])).updated == 1
        assert (await c.upload_file("async", path, refresh=True)).status == "written"
        assert (await c.search("退款", "async", preset="text", top_k=1)).hits[0].id == "refunds-zh"
        assert (await c.context("weather", "async", preset="text")).citations[0].source == "notes.txt"
        assert (await c.explain("refunds", "async", "refunds-en", preset="text")).outcome == "hit"
        assert await c.suggest("refun", "async")
        assert (await c.get_chunk("async", "opening/hours")).document_name == "hours.txt"
        assert len((await c.list_documents("async")).documents) == 4
        assert await c.delete_document("async", "notes.txt") > 0
        assert (await c.describe_knowledge_base("async")).chunks == len(CHUNKS)
        await c.delete_knowledge_base("async")
        assert "async" not in {kb.id for kb in await c.list_knowledge_bases()}
        with pytest.raises(HybridgeError) as refused:
            await c.search("refunds", "async")
        assert refused.value.code == "not_found"
