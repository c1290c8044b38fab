"""The one error of this package."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from hybridge.types import WriteReport


class HybridgeError(Exception):
    """What the gateway refused, by its problem document (RFC 9457), or why there is no answer.

    status is 0 where there was no answer at all; code is then "unavailable" or "timeout".
    """

    def __init__(
        self,
        detail: str,
        *,
        code: str,
        field: str = "",
        status: int = 0,
        request_id: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.field = field
        self.detail = detail
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after  # seconds

    def __str__(self) -> str:
        seen = f"{self.code}, {self.status}" if self.status else self.code
        return f"{self.detail} ({seen})"


class WriteInterruptedError(HybridgeError):
    """The chunks could not be read to their end; what report says of those before remains true."""

    def __init__(self, detail: str, *, code: str, field: str, report: WriteReport) -> None:
        super().__init__(detail, code=code, field=field, status=200)
        self.report = report


def of_response(response: httpx.Response) -> HybridgeError:
    """Read the error of an answer, also of one that a proxy wrote."""
    try:
        problem = json.loads(response.content)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    return HybridgeError(
        str(problem.get("detail") or f"the gateway answered with status {response.status_code}"),
        code=str(problem.get("code") or "unavailable"),
        field=str(problem.get("field") or ""),
        status=response.status_code,
        request_id=response.headers.get("X-Request-Id", ""),
        retry_after=_seconds(response.headers.get("Retry-After", "")),
    )


def of_problem(problem: dict[str, Any]) -> HybridgeError:
    """Read the error that an answer ended with after it had begun."""
    return HybridgeError(
        str(problem.get("detail") or "the answer ended early"),
        code=str(problem.get("code") or "unavailable"),
        field=str(problem.get("field") or ""),
        status=int(problem.get("status") or 0),
    )


def of_transport(error: httpx.HTTPError) -> HybridgeError:
    if isinstance(error, httpx.TimeoutException):
        return HybridgeError("the gateway took too long", code="timeout")
    return HybridgeError(f"the gateway cannot be reached: {error}", code="unavailable")


def _seconds(retry_after: str) -> float | None:
    """Read Retry-After in seconds; the gateway sends no dates."""
    return float(retry_after) if retry_after.isdecimal() else None
