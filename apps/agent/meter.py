"""The port of a meter: it hears of every call of a model or a tool, once, when the call is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import UUID

import msgspec

from apps.agent.events import ModelUsage, Noticed
from apps.agent.sent_request import SentRequest
from apps.errors import ModelFailed, ServiceFailed

if TYPE_CHECKING:
    from apps.agent.model import ModelRequest

CANCELLED = "cancelled"
"""The error of a call that nobody waited for any more."""

Location = Literal["server", "client"]


class Reservation(msgspec.Struct, frozen=True, gc=False):
    """What budgets hold back for a call until its report; the person is told the `notices`."""

    call: UUID
    notices: tuple[Noticed, ...] = ()


# Structs, because a frozen dataclass takes five times as long to make.
class ModelCallReport(msgspec.Struct, frozen=True, gc=False):
    """A call of a deployment: `iteration` counts the calls of a run from 1, times are in seconds.

    `first_text_seconds` is None for an answer without text, `usage` empty if none was reported.
    `error` is a kind and no text, "" for a call that did not fail; `said` is the service's own error
    message. `purpose` is that of the request. `is_paid_by_person`: the service was asked with the key
    of the person who asked.
    """

    deployment: str
    seconds: float
    usage: tuple[ModelUsage, ...] = ()
    iteration: int = 1
    first_text_seconds: float | None = None
    finish_reason: str = ""
    error: str = ""
    is_paid_by_person: bool = False
    reservation: Reservation | None = None
    purpose: str = ""
    said: str = ""


class ToolCallReport(msgspec.Struct, frozen=True, gc=False):
    """A call of a tool; `seconds` is None where it was not called, or runs at the client."""

    tool: str
    iteration: int
    seconds: float | None
    location: Location = "server"
    has_failed: bool = False


class Meter(Protocol):
    """Reports never wait and never fail. `keeps_requests`: it wants to hear of what is sent."""

    @property
    def keeps_requests(self) -> bool: ...

    def admit(self, deployment: str, request: ModelRequest) -> Awaitable[Reservation | None]:
        """Asked before each call of a model. Raises `BudgetSpent`."""
        ...

    def request_sent(self, request: SentRequest) -> None: ...

    def model_called(self, report: ModelCallReport) -> None: ...

    def tool_called(self, report: ToolCallReport) -> None: ...

    def inside(self, application: str, version: int) -> Meter:
        """The meter of a run of that application."""
        ...


class Unmetered:
    keeps_requests = False

    async def admit(self, deployment: str, request: ModelRequest) -> None:
        pass

    def request_sent(self, request: SentRequest) -> None:
        pass

    def model_called(self, report: ModelCallReport) -> None:
        pass

    def tool_called(self, report: ToolCallReport) -> None:
        pass

    def inside(self, application: str, version: int) -> Unmetered:
        return self


NO_METER = Unmetered()


def error_kind(error: BaseException) -> str:
    """What kind of failure it was, without a word of its text."""
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return CANCELLED
    if isinstance(error, ModelFailed | ServiceFailed):
        return error.reason if error.status is None else f"{error.reason} {error.status}"
    return type(error).__name__


def service_message(error: BaseException) -> str:
    """The service's own error message, or why its answer cannot be read; "" for neither."""
    if not isinstance(error, ModelFailed | ServiceFailed):
        return ""
    return error.said or (str(error) if error.reason == "unreadable" else "")
