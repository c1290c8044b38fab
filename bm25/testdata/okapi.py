"""Writes okapi.json: scores of the PyPI package rank_bm25 for made-up chunks.

    pip install rank_bm25==0.2.2 && python okapi.py > okapi.json
"""
import json
import random

from rank_bm25 import BM25Okapi

LATIN = [f"w{i}" for i in range(40)]
CHINESE = "退款 申请 如何 可以 订单 我们 的 在 天 内 办理 客服 联系 请 发票 地址 修改 账户 密码 登录".split()


def corpus(rng, words, chunks, lengths):
    pick = lambda: words[min(rng.randrange(len(words)), rng.randrange(len(words)))]
    return [[pick() for _ in range(rng.choice(lengths))] for _ in range(chunks)]


def case(name, rng, chunks, words, **parameters):
    queries = [[rng.choice(words + ["unknown"]) for _ in range(rng.randint(1, 6))] for _ in range(12)]
    index = BM25Okapi(chunks, **parameters)
    return {
        "name": name,
        "parameters": parameters,
        "chunks": [" ".join(c) for c in chunks],
        "queries": [{"tokens": q, "scores": [float(s) for s in index.get_scores(q)]} for q in queries],
    }


rng = random.Random(17)
cases = [
    case("zipf", rng, corpus(rng, LATIN, 80, [1, 3, 8, 20, 60]), LATIN),
    case("chinese", rng, corpus(rng, CHINESE, 60, [2, 5, 9, 30]), CHINESE),
    # Few words in short chunks: most are in over half of them, the floor decides.
    case("negative idf", rng, corpus(rng, LATIN[:5] + CHINESE[:12], 25, [6, 12, 25]), LATIN[:5] + CHINESE[:12]),
    case("own parameters", rng, corpus(rng, LATIN, 40, [4, 15]), LATIN, k1=0.9, b=0.4, epsilon=0.1),
    case("chunks without tokens", rng, corpus(rng, LATIN[:12], 30, [0, 0, 2, 7]), LATIN[:12]),
    case("one chunk", rng, [["w0", "w1", "w0"]], LATIN[:3]),
]
print(json.dumps({"package": "rank_bm25 0.2.2", "cases": cases}, ensure_ascii=False, separators=(",", ":")))
