"""hybridge eval beside the programs whose files it reads: pytrec_eval (trec_eval), BEIR and ranx."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from skips import missing

# ranx compiles itself at its first use, which takes longer than all of these tests.
os.environ["NUMBA_DISABLE_JIT"] = "1"

try:
    import pytrec_eval
    import ranx
    from beir.datasets.data_loader import GenericDataLoader
    from beir.retrieval.evaluation import EvaluateRetrieval
except ImportError as error:
    missing(f"scripts/python-venv evaluators installs what is missing: {error}")
binary = os.environ.get("HYBRIDGE_TEST_BINARY") or missing("HYBRIDGE_TEST_BINARY is not set")

METRICS = {
    **{f"ndcg@{k}": f"ndcg_cut_{k}" for k in (1, 5, 10, 100)},
    **{f"map@{k}": f"map_cut_{k}" for k in (5, 10, 100)},
    **{f"precision@{k}": f"P_{k}" for k in (5, 10)},
    **{f"recall@{k}": f"recall_{k}" for k in (5, 10, 100)},
    **{f"hit@{k}": f"success_{k}" for k in (1, 5)},
    "mrr@1000": "recip_rank",
}
MEASURES = {
    "ndcg_cut.1,5,10,100",
    "map_cut.5,10,100",
    "P.5,10",
    "recall.5,10,100",
    "success.1,5",
    "recip_rank",
}
Table = dict[str, dict[str, float]]


def evaluate(folder: Path, *flags: object) -> tuple[dict, str]:
    """Runs hybridge eval on keywords; gives its JSON and what it says of the files."""
    done = subprocess.run(
        [binary, "eval", "--data", folder, "--vectors=", "--presets", "text", "--json", *map(str, flags)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def by_query(answer: dict, side: str) -> Table:
    """The metrics of each query, of the system or of the run that it is compared with."""
    table: Table = {}
    for difference in answer["comparisons"][0]["differences"]:
        for query in difference["queries"]:
            table.setdefault(query["query"], {})[difference["metric"]] = query[side]
    return table


def equal(found: Table, qrels: dict[str, dict[str, int]], run: Table) -> None:
    """Compares figures with those of trec_eval, which leaves out queries without hits: they have 0."""
    wanted = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    assert found, "nothing was compared"
    for query, figures in found.items():
        for name, measure in METRICS.items():
            want = wanted[query][measure] if query in wanted else 0
            assert figures[name] == pytest.approx(want, abs=1e-9), f"{name} of {query}"


def write_set(folder: Path, queries: list[str], documents: list[str]) -> None:
    (folder / "qrels").mkdir(parents=True)
    words = ["amber", "birch", "cedar", "dune", "ember", "frost", "grove", "heath", "inlet"]
    with (folder / "corpus.jsonl").open("w") as corpus:
        for i, document in enumerate(documents):
            text = " ".join(words[(i * k) % len(words)] for k in range(1, 5))
            corpus.write(json.dumps({"_id": document, "title": "", "text": text}) + "\n")
    with (folder / "queries.jsonl").open("w") as out:
        for i, query in enumerate(queries):
            out.write(json.dumps({"_id": query, "text": f"{words[i % 9]} {words[(i + 4) % 9]}"}) + "\n")


def read_run(path: Path) -> Table:
    with path.open() as run:
        return pytrec_eval.parse_run(run)


def drawn(seed: int) -> tuple[list[str], list[str], dict[str, dict[str, int]], Table]:
    """Judgments and a run with whatever is odd but allowed: ties, near ties, grades below 0, what is not there."""
    r = random.Random(seed)
    queries = [f"q{i}" for i in range(60)]
    documents = [f"d{i}" for i in range(40)] + ["10", "9", "文档", "q0", "q1"]
    qrels: dict[str, dict[str, int]] = {}
    run: Table = {}
    for query in queries:
        pool = r.sample([*documents, "gone1", "gone2"], r.randint(1, 20))
        qrels[query] = {d: r.choice([-1, 0, 0, 1, 1, 2, 3, 7]) for d in pool}
        qrels[query].pop(query, None)
        scores = [0.5, 0.5, 0.25, 1e-9, 1.0, 1.00000001, 16777216, 16777217, -3.5, r.random()]
        hits = r.sample([*documents, "new1", "new2"], r.randint(1, 30))
        run[query] = {d: r.choice(scores) for d in hits if d != query} or {"new1": 1.0}
    return queries, documents, qrels, run


def write_odd_qrels(path: Path, qrels: dict[str, dict[str, int]], seed: int) -> None:
    """Writes judgments as nobody should: a pair may be there before with another grade, lines are of all kinds."""
    r = random.Random(seed)
    lines = ["\ufeffquery-id\tcorpus-id\tscore"]
    for query, judged in qrels.items():
        for document, grade in judged.items():
            if r.random() < 0.2:
                lines.append(f"{query}\t{document}\t{r.choice([0, 1, grade])}")
            lines.append(f"{query}\t{document}\t{r.choice([f'{grade}', f'{grade}.0'])}")
            lines += r.choice([[], [], [], [""], ["broken"], [f"{query}\tother\t0.5"], ["nobody\td1\t1"]])
    path.write_bytes("".join(line + r.choice(["\n", "\r\n"]) for line in lines).encode())


@pytest.mark.parametrize("seed", [1, 2])
def test_figures_equal_trec_eval(tmp_path: Path, seed: int) -> None:
    queries, documents, qrels, run = drawn(seed)
    folder = tmp_path / "set"
    write_set(folder, queries, documents)
    write_odd_qrels(folder / "qrels" / "test.tsv", qrels, seed)
    lines = [f"{q} Q0 {d} {i} {s!r} drawn\n" for q, hits in run.items() for i, (d, s) in enumerate(hits.items())]
    random.Random(seed).shuffle(lines)
    (tmp_path / "drawn.run").write_text("".join(lines))

    flags = ["--metrics", ",".join(METRICS), "--runs", tmp_path / "runs"]
    answer, said = evaluate(folder, "--baseline", tmp_path / "drawn.run", *flags)
    equal(by_query(answer, "against"), qrels, run)
    # trec_eval ranks what hybridge found as hybridge does.
    equal(by_query(answer, "system"), qrels, read_run(tmp_path / "runs" / "set.text.run"))
    for oddity in ("judged twice", "corpus lacks", "not there", "blank lines", "byte order mark", "between two whole"):
        assert oddity in said
        assert any(oddity in o["is"] for o in answer["sets"][0]["oddities"])


def test_a_query_that_is_a_document_is_dropped_as_by_beir(tmp_path: Path) -> None:
    queries, documents, qrels, run = drawn(3)
    folder = tmp_path / "set"
    write_set(folder, queries, documents + queries[2:])
    for query in queries:
        run[query][query] = 2.0  # the best but for the largest
    with (folder / "qrels" / "test.tsv").open("w") as out:
        out.write("query-id\tcorpus-id\tscore\n")
        out.writelines(f"{q}\t{d}\t{g}\n" for q, judged in qrels.items() for d, g in judged.items())
    (tmp_path / "drawn.json").write_text(json.dumps(run))

    corpus, _, loaded = GenericDataLoader(str(folder)).load(split="test")
    assert loaded == qrels
    assert queries[5] in corpus
    flags = ["--metrics", ",".join(METRICS), "--baseline", tmp_path / "drawn.json", "--runs", tmp_path / "runs"]
    answer, said = evaluate(folder, *flags)
    ndcg, _map, recall, precision = EvaluateRetrieval.evaluate(loaded, run, [10])  # drops them from run
    assert not any(query in hits for query, hits in run.items())
    equal(by_query(answer, "against"), qrels, run)
    means = {d["metric"]: d["against"] for d in answer["comparisons"][0]["differences"]}
    assert means["ndcg@10"] == pytest.approx(ndcg["NDCG@10"], abs=1e-5)
    assert means["map@10"] == pytest.approx(_map["MAP@10"], abs=1e-5)
    assert means["recall@10"] == pytest.approx(recall["Recall@10"], abs=1e-5)
    assert means["precision@10"] == pytest.approx(precision["P@10"], abs=1e-5)
    assert "under their own id (60): that hit is dropped" in said
    found = read_run(tmp_path / "runs" / "set.text.run")
    assert not any(query in hits for query, hits in found.items())


def test_files_of_ranx(tmp_path: Path) -> None:
    queries, documents, qrels, run = drawn(4)
    folder = tmp_path / "set"
    write_set(folder, queries, documents)
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n")
    judged, found = ranx.Qrels(), ranx.Run(name="drawn")
    for query in queries:
        for document, grade in qrels[query].items():
            judged.add_score(query, document, grade)
        for document, score in run[query].items():
            found.add_score(query, document, score)
    for table, name in ((judged, "qrels"), (found, "run")):
        table.save(str(tmp_path / f"{name}.json"))
        table.save(str(tmp_path / f"{name}.trec"))
        table.to_dataframe().to_csv(tmp_path / f"{name}.csv", index=False)
        table.to_dataframe().to_json(tmp_path / f"{name}.jsonl", orient="records", lines=True, double_precision=15)
    for ending in ("json", "trec", "csv", "jsonl"):
        answer, said = evaluate(
            folder,
            *("--qrels", tmp_path / f"qrels.{ending}", "--baseline", tmp_path / f"run.{ending}"),
            *("--metrics", ",".join(METRICS), "--runs", tmp_path / "runs"),
        )
        equal(by_query(answer, "against"), qrels, run)
        assert "left out" not in said, said
    # What hybridge writes is read by ranx, in the same order.
    ours = ranx.Run.from_file(str(tmp_path / "runs" / "set.text.run"), kind="trec")
    for query, hits in read_run(tmp_path / "runs" / "set.text.run").items():
        assert [str(d) for d in ours.run[query]] == sorted(hits, key=hits.get, reverse=True)
