"""Makes src/hybridge/client.py, for programs without an event loop, of aio.py, for programs with one.

With --check it writes nothing and fails where they differ.
"""

import re
import sys
from pathlib import Path

SOURCES = Path(__file__).parent / "src" / "hybridge"

# What is written otherwise, in this order.
REPLACED = (
    (r"with an event loop", "without an event loop"),
    (r"(?=\n\nfrom __future__)", "\n\n# Made of aio.py by blocking.py; changes belong there."),
    (r"import asyncio\n", "import time\n"),
    (r"AsyncIterator, Mapping", "Iterable, Iterator, Mapping"),
    (r"AsyncIterator", "Iterator"),
    (r"_calls\.Chunks", "Iterable[Mapping[str, Any]]"),
    (r"request too\.$", "request too, once the iterator is closed or forgotten."),
    (r"asyncio\.sleep", "time.sleep"),
    (r"\(await (self\._send\(.*\))\)\.", r"\1."),
    (r"\b(async|await) ", ""),
    (r"\basync_(?=lines_of|pieces_of)", ""),
    (r"\b__a(?=enter__|exit__)", "__"),
    (r"\.a(?=close\(|read\(|iter_lines\()", "."),
    (r"\bAsyncClient\b", "Client"),
)


def blocking(text: str) -> str:
    """Return the module without coroutines."""
    for written, otherwise in REPLACED:
        text = re.sub(written, otherwise, text, flags=re.MULTILINE)
    return text


def main() -> None:
    """Write the module, or compare it."""
    made, target = blocking((SOURCES / "aio.py").read_text()), SOURCES / "client.py"
    if "--check" not in sys.argv[1:]:
        target.write_text(made)
    elif made != target.read_text():
        sys.exit(f"{target} is not what blocking.py makes of aio.py; run it")


main()
