"""Agents by the Python and the TypeScript SDK, unchanged, over HTTP and standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from guidepages import ANSWERS, pages, run_python
from mcp import Client, MCPError, StdioServerParameters
from testgateway import KEY, KEYS, STRANGER, Gateway, covers, engines, model, on, serve

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
                "ordinal": i,
                "content": content,
                "metadata": {"language": language, "year": year},
            }
            for i, (document, language, year, content) in enumerate(PASSAGES)
        ]
        running.fill("shop", chunks, name="Shop")
        yield running
        running.ask("DELETE", "/v1/knowledge-bases/shop")


@asynccontextmanager
async def by_http(gateway: Gateway, key: str = KEY, mode: str = "auto") -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:
        transport = streamable_http_client(gateway.url + "/mcp", http_client=http)
        async with Client(transport, mode=mode) as agent:  # type: ignore[arg-type]
            yield agent


@asynccontextmanager
async def by_stdio(gateway: Gateway, key: str = KEY, mode: str = "auto") -> AsyncIterator[Client]:
    command = os.environ["HYBRIDGE_TEST_BINARY"]
    server = StdioServerParameters(command=command, args=["mcp", "--server", gateway.url, "--key", key])
    async with Client(server, mode=mode) as agent:  # type: ignore[arg-type]
        yield agent


Opens = Callable[..., Any]
both = pytest.mark.parametrize("opens", [by_http, by_stdio])


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 120))


async def call(agent: Client, tool: str, **arguments: object) -> tuple[str, Any]:
    result = await agent.call_tool(tool, arguments)
    text = result.content[0].text  # type: ignore[union-attr]
    return text, None if result.is_error else result.structured_content


@covers("MCP", "search")
@both
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_questions_find_passages_in_both_languages(gateway: Gateway, opens: Opens, mode: str) -> None:
    async def asks() -> None:
        async with opens(gateway, mode=mode) as agent:
            assert agent.server_info.name == "hybridge"
            assert "search" in agent.instructions
            tools = (await agent.list_tools()).tools
            assert sorted(tool.name for tool in tools) == ["explain", "list_knowledge_bases", "read", "search"]
            text, found = await call(agent, "search", query="How are refunds paid back?")
            assert text.splitlines()[2].startswith("[1] guide.md (score ")
            assert PASSAGES[0][3] in text
            assert found["results"][0]["text"] == PASSAGES[0][3]
            assert 0 < found["results"][0]["relevance"] <= 1
            _, found = await call(agent, "search", query="如何申请退款", knowledge_bases=["shop"])
            best = found["results"][0]
            assert (best["chunk_id"], best["source"]) == ("c2", "手册.md")
            document = await agent.read_resource(best["document"])
            assert document.contents[0].text == PASSAGES[2][3]

    run(asks())


@both
def test_what_stands_around_is_read(gateway: Gateway, opens: Opens) -> None:
    async def reads() -> None:
        async with opens(gateway) as agent:
            text, read = await call(agent, "read", knowledge_base="shop", chunk_id="c0", around=1)
            assert text.startswith("From guide.md")
            assert [chunk["text"] for chunk in read["chunks"]] == [PASSAGES[0][3], PASSAGES[1][3]]
            _, alone = await call(agent, "read", knowledge_base="shop", chunk_id="c1", around=0)
            assert [chunk["chunk_id"] for chunk in alone["chunks"]] == ["c1"]
            _, listed = await call(agent, "list_knowledge_bases")
            shop = {"id": "shop", "name": "Shop", "kind": "chunks", "by": "words and meaning"}
            assert listed["knowledge_bases"] == [shop]
            text, explained = await call(agent, "explain", query="workshop", knowledge_base="shop", chunk_id="c1")
            assert (explained["outcome"], explained["rank"]) == ("hit", 1)
            assert "leg text: rank 1" in text
            resources = (await agent.list_resources()).resources
            assert [resource.name for resource in resources] == ["guide.md", "手册.md"]
            content = await agent.read_resource(resources[0].uri)
            assert content.contents[0].text == PASSAGES[0][3] + "\n\n" + PASSAGES[1][3]

    run(reads())


@covers("MCP", "filter", "threshold", "nothing found")
@both
def test_filters_thresholds_and_nothing_found(gateway: Gateway, opens: Opens) -> None:
    async def asks() -> None:
        async with opens(gateway) as agent:

            async def ids(wanted: object) -> set[str]:
                _, found = await call(agent, "search", query="refund workshop 退款", filter=wanted, min_relevance=0)
                return {result["chunk_id"] for result in found["results"]}

            assert await ids({"language": "zh"}) == {"c2"}
            assert await ids({"year": {"gte": 2024}}) == {"c0", "c2"}
            assert await ids({"not": {"language": "zh"}}) == {"c0", "c1"}
            assert await ids({"nowhere": "x"}) == set()
            text, found = await call(agent, "search", query="Who won the chess olympiad?")
            assert (found["results"], found["nothing_relevant"]) == ([], True)
            assert text.startswith("Nothing in the knowledge bases answers this question.")
            _, found = await call(agent, "search", query="Who won the chess olympiad?", min_relevance=0)
            assert len(found["results"]) == 3

    run(asks())


@both
def test_wrong_calls_are_told(gateway: Gateway, opens: Opens) -> None:
    async def asks() -> None:
        async with opens(gateway) as agent:
            wrong: list[tuple[dict[str, Any], str]] = [
                ({"top_k": 0}, "top_k"),
                ({"top_k": 10_001}, "top_k"),
                ({"min_relevance": 2}, "min_relevance"),
                ({"knowledge_bases": ["nowhere"]}, "nowhere"),
                ({"filter": {"year": {"like": 1}}}, "filter.year"),
                ({"preset": "nothing"}, "preset"),
                ({"surprise": 1}, "surprise"),
                ({"query": "a" * 900_000}, "query"),
            ]
            for more, named in wrong:
                text, found = await call(agent, "search", **({"query": "refunds"} | more))
                assert found is None, more
                assert named in text[:2000]
            text, found = await call(agent, "read", knowledge_base="shop", chunk_id="nothing")
            assert found is None
            assert 'chunk "nothing" does not exist' in text
            with pytest.raises(MCPError, match="not found"):
                await agent.read_resource("hybridge://documents/shop/nothing")
            with pytest.raises(MCPError):
                await agent.call_tool("write", {})

    run(asks())


@covers("MCP", "foreign tenant")
@both
def test_tenants_hold(gateway: Gateway, opens: Opens) -> None:
    async def asks() -> None:
        async with opens(gateway, key=STRANGER) as agent:
            _, listed = await call(agent, "list_knowledge_bases")
            assert listed["knowledge_bases"] == []
            for tool, arguments in (
                ("search", {"query": "refunds", "knowledge_bases": ["shop"]}),
                ("read", {"chunk_id": "c0", "knowledge_base": "shop"}),
                ("explain", {"query": "refunds", "chunk_id": "c0", "knowledge_base": "shop"}),
            ):
                text, found = await call(agent, tool, **arguments)
                assert found is None
                assert 'knowledge base "shop" does not exist' in text
            assert (await agent.list_resources()).resources == []
            with pytest.raises(MCPError, match="not found"):
                await agent.read_resource("hybridge://documents/shop/guide.md")

    run(asks())


@covers("MCP", "wrong key")
@both
def test_without_a_key_there_is_no_connection(gateway: Gateway, opens: Opens) -> None:
    let_in = []

    async def connects() -> None:
        async with opens(gateway, key="nobody") as agent:
            let_in.append(await agent.list_tools())

    with pytest.raises(BaseException):  # noqa: B017 - the SDK has none of its own for it
        run(connects())
    assert let_in == []


def by_node(*command: str) -> str:
    modules = os.environ["HYBRIDGE_TEST_NODE_MODULES"]
    environment = os.environ | {"NODE_PATH": modules}
    node = shutil.which("node") or "node"
    done = subprocess.run([node, *command], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_typescript(gateway: Gateway) -> None:
    agent = str(Path(__file__).parent / "agent.cjs")
    told = json.loads(by_node(agent, gateway.url + "/mcp", KEY, "How are refunds paid back?"))
    assert sorted(told["tools"]) == ["explain", "list_knowledge_bases", "read", "search"]
    assert told["found"]["structuredContent"]["results"][0]["text"] == PASSAGES[0][3]
    assert PASSAGES[0][3] in told["document"]["contents"][0]["text"]


@pytest.mark.parametrize(
    "scenario", ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"]
)
def test_conformance(tmp_path: Path, scenario: str) -> None:
    """Those of the conformance suite that need no tools made for it."""
    for running in serve(tmp_path, ""):
        program = os.environ["HYBRIDGE_TEST_NODE_MODULES"] + "/.bin/conformance"
        told = by_node(program, "server", "--url", running.url + "/mcp", "--scenario", scenario)
        assert "0 failed" in told, told


@pages("mcp")
def test_the_guides_example(readers_gateway: Gateway, page: Path, language: str) -> None:
    shown = run_python(page, readers_gateway)
    assert ANSWERS[language][-1] in shown
