"""The base of the gateway's consumers: JSON answers and DIAL's error bodies."""

from collections.abc import Iterable
from math import ceil
from typing import Any, ClassVar

import msgspec

from apps.doors.consumer import Header, HttpConsumer
from apps.doors.denials import DENIALS, note_denial
from apps.doors.rate_headers import headers_of_refusal
from apps.errors import (
    BadRequest,
    QuickAppError,
    RateLimitReached,
)
from apps.runs.failures import PASSED_ON, WITH_LIMITS, Failure, failure

JSON = ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))
MOST_RETRY_SECONDS = 31 * 86_400
"""The longest `Retry-After`: budgets renew every month, and quotas of services sooner."""


class ManyChoices(BadRequest):
    http_status = 422

    def __init__(self, slug: str) -> None:
        super().__init__(f"{slug} deployment doesn't support n > 1")


GENERAL_CODES = (BadRequest.code, QuickAppError.code)


class GatewayConsumer(HttpConsumer):
    """Answers with JSON, also after an error. Subclasses write `answer`."""

    methods: ClassVar[tuple[str, ...]] = ("GET", "HEAD")

    async def handle(self) -> None:
        try:
            if self.scope["method"] not in self.methods:
                await self.refuse_method()
                return
            await self.answer()
        except Exception as error:  # noqa: BLE001 - nothing is above this; answer_of logs it
            if self.is_denial(error):
                self.note_denial()
            await self.send_error(error)

    async def answer(self) -> None:
        raise NotImplementedError

    def is_denial(self, error: Exception) -> bool:
        """Whether the audit is told that the sender was refused."""
        return isinstance(error, DENIALS)

    def note_denial(self) -> None:
        note_denial(self.scope, type(self).__name__, self.slug)

    async def send_error(self, error: Exception) -> None:
        status, body, headers = answer_of(error)
        await self.send_json(status, body, headers)

    async def send_json(self, status: int, body: Any, headers: Iterable[Header] = ()) -> None:
        await self.respond(status, msgspec.json.encode(body), (*JSON, *headers))

    async def refuse_method(self) -> None:
        allowed = ", ".join(self.methods)
        message = f"The method {self.scope['method']} is not allowed here; use {allowed}."
        body = {"error": {"message": message, "type": "invalid_request_error", "code": "405"}}
        headers = (*JSON, (b"allow", allowed.encode()))
        await self.respond(405, msgspec.json.encode(body), headers)

    @property
    def slug(self) -> str:
        """The application that the address names, or ""."""
        return str(self.scope["url_route"]["kwargs"].get("slug", ""))


def answer_of(
    error: Exception, *, for_core: bool = False
) -> tuple[int, dict[str, Any], tuple[Header, ...]]:
    """The status, the body and the headers for an error; errors of the server's own are logged."""
    # Core relays no status but these, so only others are told of limits of the model's service.
    found = failure(error, PASSED_ON if for_core else WITH_LIMITS)
    headers: tuple[Header, ...] = ()
    if found.retry_after is not None:
        seconds = ceil(min(found.retry_after, MOST_RETRY_SECONDS))
        headers = ((b"retry-after", str(seconds).encode()),)
    if isinstance(error, RateLimitReached) and not for_core:
        headers = (*headers, *headers_of_refusal(error))
    return found.status, error_body(found, found.status), headers


def error_body(found: Failure, status: int) -> dict[str, Any]:
    """DIAL's error object. Its code is the status where the error has a general code only."""
    error = {
        "message": found.message,
        "type": found.kind,
        "code": str(status) if found.code in GENERAL_CODES else found.code,
        "display_message": found.text,
    }
    return {"error": error}
