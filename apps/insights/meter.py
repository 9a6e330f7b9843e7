"""The meter of a run: what it hears is handed on as it is, and made rows off the answer's path."""

import time
from collections.abc import Callable
from uuid import UUID

import msgspec

from apps.agent.meter import ModelCallReport, ToolCallReport
from apps.agent.sent_request import SentRequest


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A report and the run that it is of; `ended_at` is in seconds since 1970."""

    of: "RunMeter"
    report: ModelCallReport | ToolCallReport
    ended_at: float


Keep = Callable[[Entry], None]
"""Takes what is to be stored; it must neither wait nor fail."""


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

    Without `keep_request`, what models are asked is not kept.
    """

    keep: Keep
    door: str
    bucket: str
    run: UUID | None = None
    conversation: UUID | None = None
    application: str = ""
    version: int = 0
    keep_request: KeepRequest | None = None

    @property
    def keeps_requests(self) -> bool:
        return self.keep_request is not None

    def request_sent(self, request: SentRequest) -> None:
        if self.keep_request is None or self.run is None:
            return
        stream, is_of_page = self.conversation or self.run, self.conversation is not None
        kept = KeptRequest(self.run, stream, self.application, is_of_page, request, time.time())
        self.keep_request(kept)

    def model_called(self, report: ModelCallReport) -> None:
        self.keep(Entry(self, report, time.time()))

    def tool_called(self, report: ToolCallReport) -> None:
        self.keep(Entry(self, report, time.time()))

    def inside(self, application: str, version: int) -> "RunMeter":
        return msgspec.structs.replace(self, application=application, version=version)
