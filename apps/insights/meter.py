"""The meter of a run: what it hears is handed on as it is, and made rows off the answer's path."""

import time
from collections.abc import Callable
from uuid import UUID

import msgspec

from apps.agent.meter import ModelCallReport, ToolCallReport


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A report and the run that it is of; `ended_at` is in seconds since 1970."""

    of: "RunMeter"
    report: ModelCallReport | ToolCallReport
    ended_at: float


SERVER = "server"
"""Door and caller of what the installation does by itself."""

Keep = Callable[[Entry], None]
"""Takes what is to be stored; it must neither wait nor fail."""


class RunMeter(msgspec.Struct, frozen=True):
    """`bucket` is the caller's, `run` None for a request that is no run."""

    keep: Keep
    door: str
    bucket: str
    run: UUID | None = None
    conversation: UUID | None = None
    application: str = ""
    version: int = 0

    def model_called(self, report: ModelCallReport) -> None:
        self.keep(Entry(self, report, time.time()))

    def tool_called(self, report: ToolCallReport) -> None:
        self.keep(Entry(self, report, time.time()))

    def inside(self, application: str, version: int) -> "RunMeter":
        return msgspec.structs.replace(self, application=application, version=version)


def server_meter(keep: Keep, application: str, version: int) -> RunMeter:
    """Of work in the background, which the installation does for an application."""
    return RunMeter(keep, SERVER, SERVER, application=application, version=version)
