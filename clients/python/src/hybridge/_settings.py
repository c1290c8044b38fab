"""What both clients share: how a request is made, and whether it is sent again."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from hybridge._calls import Call
from hybridge.errors import HybridgeError, of_response, of_transport

T = TypeVar("T")

_REFUSED = 429  # before anything was done
_PASSING = (_REFUSED, 502, 503)
_LONGEST_WAIT = 10.0  # seconds; who is told to wait longer is told
_FIRST_WAIT = 0.2


@dataclass(frozen=True)
class Settings:
    url: str
    api_key: str | None
    timeout: float
    write_timeout: float
    retries: int
    language: str | None

    def request(self, call: Call[Any]) -> dict[str, Any]:
        """Return the arguments of httpx.Client.build_request."""
        headers = {"Accept": call.media, "Content-Type": call.media}
        if call.media == "application/octet-stream":
            headers["Accept"] = "application/json"
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        if self.language:
            headers["Accept-Language"] = self.language
        return {
            "method": call.method,
            "url": self.url.rstrip("/") + call.path,
            "params": call.params,
            "headers": headers,
            "content": call.body,
            "timeout": self.write_timeout if call.long else self.timeout,
        }

    def wait(self, call: Call[Any], attempt: int, failure: HybridgeError, never_sent: bool) -> float:
        """Return the seconds until a call is sent again, or raise why it is not.

        Reads are sent again; what changes something only where nothing can have been done.
        """
        whole = call.body is None or isinstance(call.body, bytes)
        again = never_sent or (
            whole and (failure.status in _PASSING or not failure.status if call.safe else failure.status == _REFUSED)
        )
        if not again or failure.code == "timeout" or attempt >= self.retries:
            raise failure
        backoff: float = _FIRST_WAIT * 2.0**attempt * random.uniform(0.5, 1.5)  # noqa: S311 - spreads clients out
        seconds = max(failure.retry_after or 0.0, backoff)
        if seconds > _LONGEST_WAIT:
            raise failure
        return seconds


def failure_of(error: httpx.HTTPError) -> tuple[HybridgeError, bool]:
    """Return the error of a request without an answer, and whether nothing of it was sent."""
    failure = of_transport(error)
    failure.__cause__ = error
    return failure, isinstance(error, httpx.ConnectError)


def refusal_of(response: httpx.Response) -> HybridgeError | None:
    return None if response.is_success else of_response(response)


def read(call: Call[T], response: httpx.Response) -> T:
    try:
        return call.read(response)
    except (ValueError, KeyError, TypeError) as error:
        raise HybridgeError(
            "the gateway's answer cannot be read", code="unavailable", status=response.status_code
        ) from error
