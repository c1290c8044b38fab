"""The pages of the guide as tests run them: their examples and the exchanges that they show, in both languages."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testgateway import Gateway, model, serve

GUIDE = Path(__file__).parent.parent / "docs" / "guide"
ADDRESS = "http://127.0.0.1:8080"  # of the gateway in the examples

# The knowledge base that the examples ask.
SHOP = [
    ("1", "guide.md", "en", "Refunds", "Refunds are paid back within a week."),
    ("2", "guide.md", "en", "Opening hours", "The shop opens at nine in the morning."),
    ("3", "手册.md", "zh", "营业时间", "商店每天早上九点开门，晚上六点关门。"),
    ("4", "手册.md", "zh", "退款", "退款会在一周之内退回原来的银行卡。"),
]
ANSWERS = {"en": SHOP[1], "zh": SHOP[2]}  # what the examples find


@pytest.fixture(scope="module")
def readers_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Run a gateway as a reader of the guide has it: without keys, with the usual model."""
    for running in serve(tmp_path_factory.mktemp("shop"), model()):
        chunks = [
            {
                "id": key,
                "document_id": document,
                "document_name": document,
                "title": title,
                "content": content,
                "metadata": {"language": language},
            }
            for key, document, language, title, content in SHOP
        ]
        running.fill("shop", chunks)
        yield running


def pages(*names: str) -> pytest.MarkDecorator:
    """Parametrize a test by the pages of these names in both languages, as page and language."""
    found = [(GUIDE / language / f"{name}.md", language) for language in ("en", "zh") for name in names]
    return pytest.mark.parametrize(("page", "language"), found, ids=[f"{path.stem}-{lang}" for path, lang in found])


def blocks(page: Path, kind: str = "") -> list[str]:
    """Give the blocks of code of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def run_python(page: Path, gateway: Gateway) -> str:
    """Run the page's examples in Python, one after the other as a reader does, and give what they print."""
    printed, names = io.StringIO(), {"__name__": "__main__"}
    for example in blocks(page, "python"):
        code = compile(example.replace(ADDRESS, gateway.url), str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)  # noqa: S102 - a page of this repository
    return printed.getvalue()


def check_exchange(page: Path, gateway: Gateway) -> None:
    """Send the page's first request by curl, and compare the answer with that of the page below it.

    With HYBRIDGE_TEST_UPDATE the page gets the answer.
    """
    text = page.read_text(encoding="utf-8")
    exchange = re.search(r"^```\n(curl .*?)^```\n+```json\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert exchange, f"{page} shows no exchange"
    command = exchange[1].replace(ADDRESS, gateway.url)
    done = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    answer = json.loads(done.stdout)
    if os.environ.get("HYBRIDGE_TEST_UPDATE"):
        page.write_text(text[: exchange.start(2)] + written(answer) + "\n" + text[exchange.end(2) :], encoding="utf-8")
        return
    assert alike(json.loads(exchange[2]), answer), (
        f"{page} shows\n{exchange[2]}\nand the gateway answers\n{done.stdout}"
    )


def alike(shown: Any, answer: Any) -> bool:
    """Compare without what differs each time: random ids, and how long it took."""
    if isinstance(shown, dict) and isinstance(answer, dict):
        return shown.keys() == answer.keys() and all(
            alike(shown[name], answer[name]) or name == "processingTimeMs" for name in shown
        )
    if isinstance(shown, list) and isinstance(answer, list):
        return len(shown) == len(answer) and all(map(alike, shown, answer))
    if isinstance(shown, float) or isinstance(answer, float):
        return bool(shown == pytest.approx(answer, abs=0.02))
    random = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    return bool(shown == answer or (re.fullmatch(random, str(shown)) and re.fullmatch(random, str(answer))))


def written(value: Any, indent: int = 0, room: int = 125) -> str:
    """Write JSON for readers: what fits into a line stands in one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= room or not isinstance(value, (dict, list)):
        return line
    inner = indent + 2
    if isinstance(value, list):
        parts = [written(one, inner, room) for one in value]
    else:
        parts = [f"{json.dumps(name)}: {written(one, inner, room)}" for name, one in value.items()]
    lines, pad = [parts[0]], " " * inner
    for part in parts[1:]:
        if "\n" in part + lines[-1] or len(lines[-1]) + len(part) + inner + 3 > room:
            lines.append(part)
        else:
            lines[-1] += ", " + part
    opening, closing = ("[", "]") if isinstance(value, list) else ("{", "}")
    return opening + "\n" + ",\n".join(pad + line for line in lines) + "\n" + " " * indent + closing
