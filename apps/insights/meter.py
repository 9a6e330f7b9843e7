"""Adds the run's data, such as the caller, to usage reports, and queues the reports for storage."""

import time
from collections.abc import Awaitable, Callable
from typing import Protocol
from uuid import UUID

import msgspec

from apps.agent.meter import ModelCallReport, Reservation, SentRequest, ToolCallReport
from apps.agent.model import ModelRequest


class CallEntry(msgspec.Struct, frozen=True, gc=False):
    """A call's usage report and the meter of its run. `ended_at` is a Unix timestamp."""

    of: "RunMeter"
    report: ModelCallReport | ToolCallReport
    ended_at: float


SERVER = "server"
"""The value of `door` (the API) and of `bucket` (the caller) for calls that the installation itself
makes.
"""

STUDIO = "studio"
"""The value of `door` for test messages in the studio. Their failures are not counted as failures
of users.
"""

Keep = Callable[[CallEntry], None]
"""A function that queues a usage report for storage. It must not block or raise."""


class Budgets(Protocol):
    """Admits calls until a budget is used up, and charges the calls' costs to budgets."""

    async def admit(
        self, meter: "RunMeter", deployment: str, request: ModelRequest
    ) -> Reservation | None:
        """Reserve a call's estimated cost. Return None if no budget applies. Raises `BudgetSpent`
        if a budget is used up.
        """
        ...

    def settle(self, entry: CallEntry) -> None:
        """Charge the cost of a call to its budgets. Must not block or raise."""
        ...


class NoBudgets:
    async def admit(self, meter: "RunMeter", deployment: str, request: ModelRequest) -> None:
        pass

    def settle(self, entry: CallEntry) -> None:
        pass


UNLIMITED = NoBudgets()


class KeptRequest(msgspec.Struct, frozen=True, gc=False):
    """A model request that is stored with its run. `at` is a Unix timestamp."""

    run: UUID
    stream: UUID
    """The ID of the conversation. If an API client started the run, this is the run's ID."""
    application: str
    is_of_page: bool
    request: SentRequest
    at: float


KeepRequest = Callable[[KeptRequest], object]
"""A function that queues a model request for storage. It must not block or raise."""


class RunMeter(msgspec.Struct, frozen=True):
    """Reports the model and tool calls of a run. `bucket` is the caller who started the run."""

    keep: Keep
    door: str
    """The API or page that received the request; see `apps.live.doors`."""
    bucket: str
    run: UUID | None = None
    """The ID of the run, or None for a request that is not a run, such as an embedding."""
    conversation: UUID | None = None
    application: str = ""
    version: int = 0
    budgets: Budgets = UNLIMITED
    chain: tuple[str, ...] = ()
    """The slugs of the nested applications, outermost first."""
    time_zone: str = ""
    team: int | None = None
    keep_request: KeepRequest | None = None
    """The function that stores model requests, or None if they are not stored."""

    @property
    def keeps_requests(self) -> bool:
        return self.keep_request is not None

    def admit(self, deployment: str, request: ModelRequest) -> Awaitable[Reservation | None]:
        return self.budgets.admit(self, deployment, request)

    def request_sent(self, request: SentRequest) -> None:
        if self.keep_request is None or self.run is None:
            return
        stream, is_of_page = self.conversation or self.run, self.conversation is not None
        kept = KeptRequest(self.run, stream, self.application, is_of_page, request, time.time())
        self.keep_request(kept)

    def model_called(self, report: ModelCallReport) -> None:
        entry = CallEntry(self, report, time.time())
        self.keep(entry)
        self.budgets.settle(entry)

    def tool_called(self, report: ToolCallReport) -> None:
        self.keep(CallEntry(self, report, time.time()))

    def inside(self, application: str, version: int) -> "RunMeter":
        chain = (*self.chain, application)
        return msgspec.structs.replace(self, application=application, version=version, chain=chain)


def server_meter(keep: Keep, application: str, version: int) -> RunMeter:
    """Return a meter for background work that the installation does for an application."""
    return RunMeter(keep, SERVER, SERVER, application=application, version=version)
