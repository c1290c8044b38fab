#!/usr/bin/env python3
"""Other keyword indexes, commanded by the benchmark so that all take turns.

bm25_peers.py FOLDER reads docs.txt and queries.txt (a document or a query a line, tokens separated by
spaces), then answers commands from its standard input, a line of JSON each: `build NAME` with the
seconds it took, `search NAME COUNT` with the milliseconds of each of the first COUNT queries (top 100).
"""
import json
import sys
import time

import bm25s
import numpy
import rank_bm25
import tantivy

TOP = 100


class BM25S:
    def build(self, docs):
        self.index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        self.index.index(docs, show_progress=False)

    def search(self, query):
        self.index.retrieve([query], k=TOP, show_progress=False)


class Tantivy:
    """One thread, with positions."""

    def build(self, docs):
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("body", tokenizer_name="whitespace", index_option="position")
        self.index = tantivy.Index(schema.build())
        writer = self.index.writer(200_000_000, 1)
        for doc in docs:
            writer.add_document(tantivy.Document(body=[" ".join(doc)]))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, query):
        self.searcher.search(self.index.parse_query(" ".join(query), ["body"]), TOP)


class RankBM25:
    def build(self, docs):
        self.index = rank_bm25.BM25Okapi(docs)

    def search(self, query):
        numpy.argsort(-self.index.get_scores(query))[:TOP]


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [line.split() for line in lines]


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    docs, queries = (read(f"{sys.argv[1]}/{name}.txt") for name in ("docs", "queries"))
    peers = {"bm25s": BM25S(), "tantivy": Tantivy(), "rank_bm25": RankBM25()}
    print("ready", flush=True)
    for line in sys.stdin:
        command, name, *count = line.split()
        peer = peers[name]
        if command == "build":
            answer = timed(lambda: peer.build(docs))
        else:
            answer = [1e3 * timed(lambda: peer.search(q)) for q in queries[: int(count[0])]]
        print(json.dumps(answer), flush=True)


main()
