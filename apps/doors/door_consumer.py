"""Defines the base class of all API endpoints. It sends responses and errors in the format of each
API.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import msgspec

from apps.accounts.audit import AuditEvent
from apps.accounts.client_address import address_of_scope
from apps.aged_cache import AgedCache
from apps.doors.answer_headers import failure_headers
from apps.doors.consumer import Header, HttpConsumer
from apps.errors import ApplicationNotFound, BudgetSpent, NotAuthenticated
from apps.live.hub import HUB
from apps.process_state import on_reset
from apps.runs.failures import WITH_LIMITS, RunFailure, failure, fault
from apps.workspace.local import read_only

JSON: tuple[Header, ...] = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
)
READING = frozenset({"GET", "HEAD"})
ONCE_IN_SECONDS = 60.0
"""The audit log records a denial once per this many seconds for each IP address, endpoint and
application, so that retries do not flood it.
"""
DENIALS = NotAuthenticated, ApplicationNotFound
_noted: AgedCache[tuple[str, str, str], bool] = AgedCache()
on_reset(_noted.clear)


class DoorConsumer(HttpConsumer):
    """The base class of an API's endpoints. Subclasses implement `answer` and `error_body`."""

    methods: ClassVar[tuple[str, ...]] = ("GET", "HEAD")
    finishes_answers: ClassVar[bool] = False
    """True if requests continue answers in progress, so that they are accepted while the site is
    read-only.
    """
    spent_budget_status: ClassVar[int | None] = None
    """The status code for a spent budget, if the API's clients would retry after 429."""
    headers: tuple[Header, ...] = ()
    """The headers of every response, including errors."""

    async def handle(self) -> None:
        try:
            if self.scope["method"] not in self.methods:
                await self.refuse_method()
                return
            if self.scope["method"] not in READING and not self.finishes_answers:
                await read_only.check()
            await self.answer()
        except Exception as error:  # noqa: BLE001 - no caller handles errors; `failure` logs them
            if self.is_denial(error):
                self.note_denial()
            await self.send_error(error)

    async def answer(self) -> None:
        raise NotImplementedError

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def passed_on(self) -> frozenset[int]:
        """Return the status codes of model services that clients receive unchanged."""
        return WITH_LIMITS

    @property
    def slug(self) -> str:
        """Return the application's slug in the URL, or "" if the URL has none."""
        return str(self.scope["url_route"]["kwargs"].get("slug", ""))

    # --- Errors --------------------------------------------------------------------------------

    def is_denial(self, error: Exception) -> bool:
        """Return True if the error must be recorded in the audit log."""
        return isinstance(error, DENIALS)

    def note_denial(self) -> None:
        note_denial(self.scope, type(self).__name__, self.slug)

    async def send_error(self, error: Exception) -> None:
        found = failure(error, self.passed_on)
        if self.is_started:
            await self.fail(error)
            return
        await self.send_failure(found, (*failure_headers(found, error), *self.headers))

    async def send_failure(self, found: RunFailure, headers: Iterable[Header] = ()) -> None:
        if self.spent_budget_status and found.code == BudgetSpent.code:
            found = replace(found, status=self.spent_budget_status)
        await self.send_json(found.status, self.error_body(found), headers)

    async def refuse_method(self) -> None:
        allowed = ", ".join(self.methods)
        message = f"The method {self.scope['method']} is not allowed here; use {allowed}."
        await self.send_failure(
            fault(405, message, "method_not_allowed"), [(b"allow", allowed.encode())]
        )

    # --- JSON ----------------------------------------------------------------------------------

    async def send_json(self, status: int, body: Any, headers: Iterable[Header] = ()) -> None:
        await self.respond(status, msgspec.json.encode(body), (*JSON, *headers))


def note_denial(scope: Mapping[str, Any], door: str, application: str = "") -> None:
    """Write an audit event about a rejected API client. See `ONCE_IN_SECONDS` for the rate."""
    address = address_of_scope(scope)
    key = address, door, application
    if _noted.get(key, ONCE_IN_SECONDS):
        return
    _noted.put(key, True)
    denied = AuditEvent(
        "access.denied", address=address, application=application, subject=scope["path"]
    )
    HUB.summaries.queue_audit(denied)
