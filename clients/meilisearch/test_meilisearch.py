"""InstantSearch by instant-meilisearch, unchanged, in Node: what a search page asks for."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from testgateway import KEYS, STRANGER, covers, engines, model, on, serve

REFUNDS = "Refunds are paid back to the card within one week after the return is accepted."
HOURS = "The workshop opens at nine in the morning and closes at six. Refunds <b>are</b> made."
PASSAGES = [
    ("guide.md", "en", 2024, "Refunds", REFUNDS),
    ("guide.md", "en", 2023, "Hours", HOURS),
    ("手册.md", "zh", 2025, "退款", "申请退款：登录账户，在订单页面点击申请退款，一周之内退回原来的银行卡。"),
]


@pytest.fixture(scope="module", params=engines())
def answers(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp(request.param)
    for gateway in serve(folder, KEYS + on(request.param) + model()):
        chunks = [
            {
                "id": f"c{i}",
                "document_id": document,
                "document_name": document,
                "title": title,
                "content": content,
                "metadata": {"language": language, "year": year},
            }
            for i, (document, language, year, title, content) in enumerate(PASSAGES)
        ]
        gateway.fill("shop", chunks)
        # Modules are looked for beside the script.
        (folder / "front.mjs").write_bytes((Path(__file__).parent / "front.mjs").read_bytes())
        (folder / "node_modules").symlink_to(os.environ["HYBRIDGE_TEST_NODE_MODULES"])
        command = ["node", str(folder / "front.mjs"), gateway.url, gateway.key, STRANGER]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        yield json.loads(done.stdout)
        gateway.ask("DELETE", "/v1/knowledge-bases/shop")


def ids(answer: Any) -> list[str]:
    return [hit["objectID"] for hit in answer["hits"]]


def test_a_page_starts_with_everything(answers: Any) -> None:
    start = answers["start"]
    assert (ids(start), start["nbHits"]) == (["c0", "c1"], 3)
    assert start["facets"] == {"language": {"en": 2, "zh": 1}, "year": {"2023": 1, "2024": 1, "2025": 1}}
    assert start["stats"]["year"]["min"] == 2023
    assert start["stats"]["year"]["max"] == 2025
    assert ids(answers["second"]) == ["c2"]
    assert (ids(answers["pages"]), answers["pages"]["nbPages"], answers["pages"]["page"]) == (["c2"], 2, 1)


@covers("instant-meilisearch", "search")
def test_questions_find_chunks_in_both_languages(answers: Any) -> None:
    best = answers["english"]["hits"][0]
    assert best["objectID"] == "c0"
    assert (best["language"], best["year"], best["document_id"], best["title"]) == ("en", 2024, "guide.md", "Refunds")
    marked = best["_highlightResult"]["content"]["value"]
    assert "<mark>Refunds</mark>" in re.sub("__(/?)ais-highlight__", r"<\1mark>", marked)
    assert re.sub("__/?ais-highlight__", "", marked) == REFUNDS
    assert ids(answers["chinese"])[0] == "c2"
    marked = answers["chinese"]["hits"][0]["_highlightResult"]["content"]["value"]
    assert "__ais-highlight__申请退款__/ais-highlight__" in marked


def test_snippets_are_cut_and_not_escaped_twice(answers: Any) -> None:
    snippets = {hit["objectID"]: hit["_snippetResult"]["content"]["value"] for hit in answers["cropped"]["hits"]}
    marked = "__ais-highlight__Refunds__/ais-highlight__"
    assert snippets["c0"] == marked + " are paid back to the card within one week after the…"
    assert "<b>are</b>" in snippets["c1"]
    assert snippets["c1"].startswith("…")


@covers("instant-meilisearch", "filter")
def test_refinements_hold(answers: Any) -> None:
    refined = answers["refinement"]
    assert ids(refined) == ["c2"]
    assert refined["facets"]["language"] == {"en": 2, "zh": 1}  # what else could be chosen
    assert ids(answers["year"]) == ["c0"]
    assert ids(answers["either"]) == ["c1", "c2"]
    assert sorted(ids(answers["numeric"])) == ["c0", "c2"]
    assert answers["nothing"]["nbHits"] == 0
    (facet,) = answers["facet"]
    assert facet["facetHits"] == [{"value": "zh", "count": 1, "highlighted": "zh"}]


@covers("instant-meilisearch", "threshold", "nothing found")
def test_what_nothing_answers_is_empty(answers: Any) -> None:
    assert answers["unknown"]["hits"] == []
    assert ids(answers["known"])[0] == "c0"
    assert answers["none"]["hits"] == []


@covers("instant-meilisearch", "wrong key", "foreign tenant")
def test_wrong_calls_are_refused_in_its_form(answers: Any) -> None:
    for case, code, status in [
        ("wrongKey", "invalid_api_key", 403),
        ("foreign", "index_not_found", 404),
        ("missing", "index_not_found", 404),
        ("badFilter", "invalid_search_filter", 400),
        ("tooMany", "invalid_search_limit", 400),
        ("tooLong", "payload_too_large", 413),
    ]:
        refused = answers[case]
        assert (refused["code"], refused["status"]) == (code, status), case
        assert refused["error"]
