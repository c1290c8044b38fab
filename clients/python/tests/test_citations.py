"""The citations of the Go package rag, by the same cases."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from hybridge import Hit, Lines, cite, text_of
from hybridge.types import Parent, decode

CASES = Path(__file__).parents[3] / "rag" / "testdata" / "cite.json"


@pytest.mark.parametrize("case", json.loads(CASES.read_text(encoding="utf-8")), ids=lambda c: c["head"][:40])
def test_where_a_hit_was(case: dict[str, Any]) -> None:
    got = cite(decode(Hit, case["hit"]), 1)
    want = {"page": None, "heading": "", "lines": None, "url": "", **case["citation"]}
    if want["lines"]:
        want["lines"] = Lines(**want["lines"])
    assert {name: getattr(got, name) for name in want} == want
    assert (got.number, got.document_id) == (1, case["hit"]["document_id"])


def test_a_position_that_is_no_number() -> None:
    assert cite(Hit(positions=[[math.nan]])).page is None
    assert cite(Hit(positions=[[math.inf]])).page is None


def test_text_of_a_hit() -> None:
    assert text_of(Hit(content=" a ")) == "a"
    assert text_of(Hit(content="a", parent=Parent(content="a b"))) == "a b"
    assert (
        text_of(Hit(question="退款多久？", answer="一周。", full_answer="退款需要一周。"))
        == "退款多久？\n退款需要一周。"
    )
    assert text_of(Hit(question="why", answer="so")) == "why\nso"


def test_members_of_newer_gateways_are_ignored() -> None:
    hit = decode(Hit, {"id": "1", "invented": {"later": True}, "metadata": None, "copies": [{"id": "2", "new": 1}]})
    assert (hit.id, hit.metadata, hit.copies[0].id) == ("1", {}, "2")
