"""The examples of the guide run and show what they say, and so do the exchanges of the pages on protocols."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from guidepages import GUIDE, blocks, check_exchange, pages, run_python
from skips import missing
from testgateway import Gateway, model, serve

WEIGHTS = re.compile(r"\b0\.\d\d\b")  # another build of the model has others in their last digit
SOURCES = {"en": ("guide.md", "nine"), "zh": ("手册.md", "九点")}


# Promise: "Every example here runs as it is" (docs/guide/en/clients.md)
@pages("clients")
def test_examples(gateway: Gateway, monkeypatch: pytest.MonkeyPatch, page: Path, language: str) -> None:
    monkeypatch.setenv("HYBRIDGE_SERVER", gateway.url)
    monkeypatch.setenv("HYBRIDGE_KEY", gateway.key)
    source, answer = SOURCES[language]
    assert len(blocks(page, "python")) == 3
    shown = run_python(page, gateway)
    assert shown.count(source) >= 3  # each example found it
    assert shown.count(answer) >= 3
    go = blocks(page, "go")
    assert len(go) == 1
    assert answer in run_go(go[0])


@pytest.fixture(scope="module")
def empty_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    yield from serve(tmp_path_factory.mktemp("empty"), model())


@pages("clients")
def test_what_the_first_example_prints(
    empty_gateway: Gateway, monkeypatch: pytest.MonkeyPatch, page: Path, language: str
) -> None:
    monkeypatch.setenv("HYBRIDGE_SERVER", empty_gateway.url)
    shown = run_python(page, empty_gateway)
    (said,) = blocks(page, "text")
    assert WEIGHTS.sub("0.00", shown).startswith(WEIGHTS.sub("0.00", said))


def run_go(example: str) -> str:
    """Run a program in this module, whose package rag it imports."""
    if not shutil.which("go"):
        missing("go is missing")
    folder = GUIDE.parents[1] / "clients" / "python" / "tests" / f".example-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / "main.go").write_text(example, encoding="utf-8")
        command = ["go", "run", str(folder / "main.go")]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=True).stdout
    finally:
        shutil.rmtree(folder)


@pages("dify", "ragflow", "openai", "mcp", "instantsearch", "reranking-texts")
def test_exchanges(readers_gateway: Gateway, page: Path, language: str) -> None:
    check_exchange(page, readers_gateway)
