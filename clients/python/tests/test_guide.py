"""The examples of the guide run, and show what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from testgateway import Gateway

GUIDE = Path(__file__).parents[3] / "docs" / "guide"
PAGES = [(GUIDE / "en" / "clients.md", "guide.md", "nine"), (GUIDE / "zh" / "clients.md", "手册.md", "九点")]


@pytest.mark.parametrize("page", PAGES, ids=["en", "zh"])
def test_examples(
    gateway: Gateway,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    page: tuple[Path, str, str],
) -> None:
    path, source, answer = page
    monkeypatch.setenv("HYBRIDGE_URL", gateway.url)
    monkeypatch.setenv("HYBRIDGE_API_KEY", gateway.key)
    examples = re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        exec(compile(example, str(path), "exec"), {"__name__": "__main__"})
        shown = capsys.readouterr().out
        assert source in shown
        assert answer in shown
