"""The interface of a meter, which receives each model or tool call once, after the call has ended.

For a model call, the meter also receives the request as it was sent, and the parts of the system
prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Set
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import UUID

import msgspec

from apps.agent.events import ModelUsage, Noticed
from apps.errors import ModelFailed, ServiceFailed

if TYPE_CHECKING:
    from apps.agent.model import ModelRequest

CANCELLED = "cancelled"
"""The error kind of a call that was canceled."""

Location = Literal["server", "client"]


class PromptSpan(msgspec.Struct, frozen=True, gc=False):
    """The length of one part of the system prompt. Parts are separated by an empty line.

    `source` is the display name of the part's origin.
    """

    layer: str
    source: str
    length: int


class SentRequest(msgspec.Struct, frozen=True, gc=False):
    """A request to a model. `body` is its JSON, and `model` is the service's name for the model.

    `private` contains the names of tools whose calls only the user may see.
    """

    model: str
    body: bytes
    prompt: tuple[PromptSpan, ...] = ()
    private: Set[str] = frozenset()


class Reservation(msgspec.Struct, frozen=True, gc=False):
    """The budget that is reserved for a model call until the call is reported. The `notices` are
    shown to the user.
    """

    call: UUID
    notices: tuple[Noticed, ...] = ()


# These are structs, because creating a frozen dataclass takes five times as long.
class ModelCallReport(msgspec.Struct, frozen=True, gc=False):
    """A call to a deployment. `iteration` is the number of the call in its run, counted from 1.
    Times are in seconds.

    `first_text_seconds` is None for an answer without text; `usage` is empty if the service
    reported none. `error` is the kind of failure, or "" for success; `said` is the service's own
    error message. `purpose` is the purpose of the request. `is_paid_by_person` means that the
    service was called with the user's own key.
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
    """A call to a tool. `seconds` is None if the tool was not called, or if the client ran it."""

    tool: str
    iteration: int
    seconds: float | None
    location: Location = "server"
    has_failed: bool = False


class Meter(Protocol):
    """Receives reports of calls. Reporting never blocks and never fails. If `keeps_requests` is
    True, the meter also stores the requests.
    """

    @property
    def keeps_requests(self) -> bool: ...

    def admit(self, deployment: str, request: ModelRequest) -> Awaitable[Reservation | None]:
        """Reserve the budget for a model call before the call. Raises `BudgetSpent`."""
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
    """Return the kind of failure, without the error text."""
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return CANCELLED
    if isinstance(error, ModelFailed | ServiceFailed):
        return error.reason if error.status is None else f"{error.reason} {error.status}"
    return type(error).__name__


def service_message(error: BaseException) -> str:
    """Return the service's own error message, the reason why its answer cannot be parsed, or "" for
    any other error.
    """
    if not isinstance(error, ModelFailed | ServiceFailed):
        return ""
    return error.said or (str(error) if error.reason == "unreadable" else "")
