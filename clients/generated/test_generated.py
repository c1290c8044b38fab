"""The OpenAPI document: linters accept it, and generators make clients of it that write, search and read errors."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testgateway import KEYS, Gateway, serve

HERE = Path(__file__).parent
CONTENT = "The workshop opens at nine in the morning."
QUESTION = "When does the workshop open?"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    yield from serve(tmp_path_factory.mktemp("gateway"), KEYS)


@pytest.fixture(scope="module")
def work(gateway: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the document in both forms."""
    folder = tmp_path_factory.mktemp("work")
    for name in ("openapi.json", "openapi.yaml"):
        with urllib.request.urlopen(f"{gateway.url}/{name}", timeout=60) as answer:
            (folder / name).write_bytes(answer.read())
    (folder / "node_modules").symlink_to(os.environ["HYBRIDGE_TEST_NODE_MODULES"])
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def holds(answers: Any) -> None:
    assert answers["made"] == 201
    assert answers["written"]["results"] == [{"id": "c0", "line": 1, "status": "created"}]
    assert answers["found"]["hits"][0]["content"] == CONTENT
    assert (answers["missing"]["code"], answers["missing"]["status"]) == ("not_found", 404)


@pytest.mark.parametrize("document", ["openapi.json", "openapi.yaml"])
def test_linters_accept_it(work: Path, document: str) -> None:
    told = run(work, "node_modules/.bin/redocly", "lint", "--format", "summary", document)
    for word in ("error ", "warning "):
        assert word not in told.stdout + told.stderr
    rules = str(HERE / "spectral.yaml")
    run(work, "node_modules/.bin/spectral", "lint", "--fail-severity", "warn", "--ruleset", rules, document)


def test_openapi_python_client(gateway: Gateway, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "settings.json").write_text('{"post_hooks": []}')
    generator = str(Path(sys.executable).parent / "openapi-python-client")
    options = ["--path", "openapi.json", "--output-path", "generated", "--meta", "none", "--config", "settings.json"]
    run(work, generator, "generate", *options)
    monkeypatch.syspath_prepend(str(work))
    of = lambda name: importlib.import_module(f"generated.{name}")  # noqa: E731
    client = of("client").AuthenticatedClient(base_url=gateway.url, token=gateway.key)
    models = of("models")
    made = of("api.knowledge_bases.create_knowledge_base").sync_detailed(
        client=client, body=models.CatalogSpec(id="by-python")
    )
    written = of("api.documents.write_chunks").sync(
        "by-python", client=client, body=[models.IngestChunk(id="c0", content=CONTENT)], refresh=True
    )
    search = of("api.search.search")
    found = search.sync(client=client, body=models.SearchRequest(query=QUESTION, knowledge_bases=["by-python"]))
    missing = search.sync(client=client, body=models.SearchRequest(query="x", knowledge_bases=["nothing"]))
    assert isinstance(missing, models.Problem)
    holds(
        {
            "made": int(made.status_code),
            "written": written.to_dict(),
            "found": found.to_dict(),
            "missing": missing.to_dict(),
        }
    )


def test_oapi_codegen(gateway: Gateway, work: Path) -> None:
    folder = work / "go"
    shutil.copytree(HERE / "go", folder)
    (folder / "client").mkdir()
    made = run(folder, "go", "tool", "oapi-codegen", "-package", "client", "-o", "client/client.go", "../openapi.json")
    assert "error" not in (made.stdout + made.stderr).lower()
    holds(json.loads(run(folder, "go", "run", ".", gateway.url, gateway.key).stdout))


def test_openapi_typescript(gateway: Gateway, work: Path) -> None:
    run(work, "node_modules/.bin/openapi-typescript", "openapi.json", "-o", "schema.d.ts")
    shutil.copy(HERE / "front.ts", work / "front.ts")
    (work / "package.json").write_text('{"type": "module"}')
    strict = ["--strict", "--module", "nodenext", "--target", "es2022", "--skipLibCheck", "--types", "node"]
    run(work, "node_modules/.bin/tsc", *strict, "front.ts")
    answers = json.loads(run(work, "node", "front.js", gateway.url, gateway.key).stdout)
    holds(answers)
    assert answers["code"] == "not_found"
