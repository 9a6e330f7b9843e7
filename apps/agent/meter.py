"""Defines the interface of a meter, which receives a usage report for each model call and tool
call.

A meter can also receive the requests to models, with the parts of the system prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Set
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import UUID

import msgspec

from apps.agent.events import ModelUsage, NoticeAdded
from apps.errors import ModelFailed, ServiceFailed

if TYPE_CHECKING:
    from apps.agent.model import ModelRequest

CANCELLED = "cancelled"
"""The error kind of a canceled call."""
BLOCKED = "blocked"
"""The error kind of a call that the network policy blocks."""

Location = Literal["server", "client"]


class PromptSpan(msgspec.Struct, frozen=True, gc=False):
    """Part of the system prompt. An empty line separates the parts."""

    layer: str
    source: str
    """The display name of the part's origin."""
    length: int  # in characters


class SentRequest(msgspec.Struct, frozen=True, gc=False):
    model: str
    """The service's name for the model."""
    body: bytes
    prompt: tuple[PromptSpan, ...] = ()
    private: Set[str] = frozenset()
    """The tools whose calls only the user may see."""


class Reservation(msgspec.Struct, frozen=True, gc=False):
    """The budget that is reserved for a model call until its usage is reported. The `notices` are
    shown to the user.
    """

    call: UUID
    notices: tuple[NoticeAdded, ...] = ()


# Structs, because creating a frozen dataclass takes five times as long.
class ModelCallReport(msgspec.Struct, frozen=True, gc=False):
    """Reports a call to a deployment."""

    deployment: str
    seconds: float
    usage: tuple[ModelUsage, ...] = ()  # empty if the service reported none
    iteration: int = 1
    """The number of the call in its run, starting at 1."""
    first_text_seconds: float | None = None  # None if there was no text
    finish_reason: str = ""
    error: str = ""
    """The kind of failure, or ""."""
    is_paid_by_person: bool = False
    """True if the user's own API key was used."""
    reservation: Reservation | None = None
    purpose: str = ""
    said: str = ""
    """The service's own error message."""


class ToolCallReport(msgspec.Struct, frozen=True, gc=False):
    tool: str
    iteration: int
    seconds: float | None  # None if not called, or executed by the client
    location: Location = "server"
    has_failed: bool = False


class Meter(Protocol):
    """Receives reports of model calls and tool calls. Reporting never blocks and never fails. If
    `keeps_requests` is True, the meter also receives the requests to models.
    """

    @property
    def keeps_requests(self) -> bool: ...

    def admit(self, deployment: str, request: ModelRequest) -> Awaitable[Reservation | None]:
        """Reserve budget for a model call. Raises `BudgetSpent` if too little remains."""
        ...

    def request_sent(self, request: SentRequest) -> None: ...

    def model_called(self, report: ModelCallReport) -> None: ...

    def tool_called(self, report: ToolCallReport) -> None: ...

    def inside(self, application: str, version: int) -> Meter:
        """Return the meter for a nested run of the application."""
        ...


class NoMeter:
    keeps_requests = False

    async def admit(self, deployment: str, request: ModelRequest) -> None:
        pass

    def request_sent(self, request: SentRequest) -> None:
        pass

    def model_called(self, report: ModelCallReport) -> None:
        pass

    def tool_called(self, report: ToolCallReport) -> None:
        pass

    def inside(self, application: str, version: int) -> NoMeter:
        return self


NO_METER = NoMeter()


def error_kind(error: BaseException) -> str:
    """Return the kind of an error, without its message."""
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return CANCELLED
    if isinstance(error, ModelFailed | ServiceFailed):
        if error.is_blocked:
            return BLOCKED
        return error.reason if error.status is None else f"{error.reason} {error.status}"
    return type(error).__name__


def service_message(error: BaseException) -> str:
    """Return the service's own error message, or the reason why its answer cannot be parsed or why
    the request is blocked. Return "" for other errors.
    """
    if not isinstance(error, ModelFailed | ServiceFailed):
        return ""
    is_own_text = error.is_blocked or error.reason == "unreadable"
    return error.said or (str(error) if is_own_text else "")
