"""The meter of a run: what it hears is handed on as it is, and made rows off the answer's path."""

import time
from collections.abc import Awaitable, Callable
from typing import Protocol
from uuid import UUID

import msgspec

from apps.agent.meter import ModelCallReport, Reservation, ToolCallReport
from apps.agent.model import ModelRequest
from apps.agent.sent_request import SentRequest


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A report and the run that it is of; `ended_at` is in seconds since 1970."""

    of: "RunMeter"
    report: ModelCallReport | ToolCallReport
    ended_at: float


SERVER = "server"
"""Door and caller of what the installation does by itself."""

Keep = Callable[[Entry], None]
"""Takes what is to be stored; it must neither wait nor fail."""


class Budgets(Protocol):
    """Lets calls be made as long as there is something left, and counts what they cost."""

    async def admit(
        self, meter: "RunMeter", deployment: str, request: ModelRequest
    ) -> Reservation | None:
        """None where no budget applies. Raises `BudgetSpent`."""
        ...

    def settle(self, entry: Entry) -> None:
        """Takes the report of a model's call; it must neither wait nor fail."""
        ...


class Unlimited:
    async def admit(self, meter: "RunMeter", deployment: str, request: ModelRequest) -> None:
        pass

    def settle(self, entry: Entry) -> None:
        pass


UNLIMITED = Unlimited()


class KeptRequest(msgspec.Struct, frozen=True, gc=False):
    """What a model was asked in a run; `at` is in seconds since 1970.

    It is kept under the `stream`: the conversation, or the run of a program.
    """

    run: UUID
    stream: UUID
    application: str
    is_of_page: bool
    request: SentRequest
    at: float


KeepRequest = Callable[[KeptRequest], object]
"""As `Keep`."""


class RunMeter(msgspec.Struct, frozen=True):
    """`bucket` is the caller's, `run` None for a request that is no run.

    `chain` are the applications that the calls are made in, the outermost first. `time_zone` is the
    person's, "" if it is not known. `team` is the id of the one that the caller works in. Without
    `keep_request`, what models are asked is not kept.
    """

    keep: Keep
    door: str
    bucket: str
    run: UUID | None = None
    conversation: UUID | None = None
    application: str = ""
    version: int = 0
    budgets: Budgets = UNLIMITED
    chain: tuple[str, ...] = ()
    time_zone: str = ""
    team: int | None = None
    keep_request: KeepRequest | None = None

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
        entry = Entry(self, report, time.time())
        self.keep(entry)
        self.budgets.settle(entry)

    def tool_called(self, report: ToolCallReport) -> None:
        self.keep(Entry(self, report, time.time()))

    def inside(self, application: str, version: int) -> "RunMeter":
        chain = (*self.chain, application)
        return msgspec.structs.replace(self, application=application, version=version, chain=chain)


def server_meter(keep: Keep, application: str, version: int) -> RunMeter:
    """Of work in the background, which the installation does for an application."""
    return RunMeter(keep, SERVER, SERVER, application=application, version=version)
