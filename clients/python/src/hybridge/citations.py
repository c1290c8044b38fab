"""Where a hit comes from, as the gateway's own citations say it."""

from __future__ import annotations

import unicodedata

from hybridge.types import Citation, Hit, Lines

__all__ = ["Citation", "Lines", "cite", "text_of"]

_MOST_OF_A_SOURCE = 200  # characters
_MOST_OF_A_NUMBER = 2**31 - 1
_PAGE, _LINES, _BOX_ON_A_PAGE = 1, 2, 5  # how many numbers a position has


def cite(hit: Hit, number: int = 0) -> Citation:
    """Return the source of a hit."""
    page, lines = _place(hit.positions)
    return Citation(
        number=number,
        id=hit.id,
        knowledge_base=hit.knowledge_base,
        document_id=hit.document_id,
        source=_line(hit.document_name or hit.title or hit.document_id),
        page=page,
        # Without a name of the document the title is the source already.
        heading=_line(hit.title) if lines and hit.document_name else "",
        lines=lines,
        score=hit.score,
        relevance=hit.relevance,
        url=hit.url,
        copies=hit.copies,
    )


def text_of(hit: Hit) -> str:
    """Return the content of a hit, of its section where that came along, or its question and answer."""
    if hit.question:
        return f"{hit.question}\n{hit.full_answer or hit.answer}".strip()
    return (hit.parent.content if hit.parent else hit.content).strip()


def _place(positions: list[list[float]]) -> tuple[int | None, Lines | None]:
    """Read the first position: [page], [page, left, right, top, bottom], or [first line, last line]."""
    position = positions[0] if positions else []
    if len(position) in (_PAGE, _BOX_ON_A_PAGE):
        return _whole(position[0]), None
    if len(position) == _LINES:
        first, last = _whole(position[0]), _whole(position[1])
        if first is not None and last is not None and 1 <= first <= last:
            return None, Lines(first=first, last=last)
    return None, None


def _whole(number: float) -> int | None:
    """Return a number that can be one of a page or a line."""
    return int(number) if 0 <= number <= _MOST_OF_A_NUMBER and number == int(number) else None


def _line(name: str) -> str:
    """Put a name on one line, so that it cannot look like a part of a prompt of its own."""
    name = " ".join("".join(" " if unicodedata.category(c) == "Cc" else c for c in name).split())
    end = min(len(name), _MOST_OF_A_SOURCE)
    while 0 < end < len(name) and _joins(name[end - 1], name[end]):
        end -= 1
    return name[:end].rstrip()


def _joins(before: str, after: str) -> bool:
    """Tell whether two characters are drawn as one: marks, emoji joined by U+200D, their skin tones."""
    joiner = "\u200d"
    return joiner in (before, after) or unicodedata.category(after)[0] == "M" or "\U0001f3fb" <= after <= "\U0001f3ff"
