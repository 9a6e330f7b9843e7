"""The JSON of recorded steps: the opening of a run, answers of its model, results of its tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from apps.agent.allowance import Allowance
from apps.agent.assembly import Reply
from apps.agent.calls import CallStep, ToolOutcome
from apps.agent.events import ModelUsage
from apps.agent.messages import Message
from apps.agent.progress import Progress
from apps.agent.sent_request import PromptSpan
from apps.agent.tools import ToolResult
from apps.errors import Stopped, ToolError

Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """An answer; `left` and `data` are what its run's `Allowance` had after it."""

    reply: Reply
    left: int
    data: int


@dataclass(frozen=True, slots=True)
class RecordedRecovery:
    """The conversation that the model could go on with, and all that the run had come to."""

    messages: tuple[Message, ...]
    said: list[str]
    usage: list[ModelUsage]
    shown: list[str]
    left: int
    data: int


@dataclass(frozen=True, slots=True)
class RecordedOpening:
    """What the model was first asked with; `saved` is what capabilities keep for the next request,
    `prompt` what the system prompt was composed of.
    """

    messages: tuple[Message, ...]
    parameters: Mapping[str, Any]
    saved: Mapping[str, Any] = field(default_factory=dict)
    prompt: tuple[PromptSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedOutcome:
    """A tool's outcome with texts in place of errors.

    `spent` is the usage of answers that broke off, which the result does not carry.
    """

    result: ToolResult
    failed: CallStep | None = None
    error: str = ""
    failure: str | None = None
    stopped: str | None = None
    spent: tuple[ModelUsage, ...] = ()
    tool_failed: bool = False

    @property
    def outcome(self) -> ToolOutcome:
        failure = None if self.failure is None else ToolError(self.failure)
        stopped = None if self.stopped is None else Stopped(self.stopped)
        return ToolOutcome(
            replace(self.result, failure=failure),
            self.failed,
            self.error,
            stopped,
            tool_failed=self.tool_failed,
        )


def write(recorded: object) -> dict[str, Any]:
    """The JSON of one of the records above."""
    written: dict[str, Any] = msgspec.to_builtins(recorded)
    return written


def write_outcome(outcome: ToolOutcome, spent: Sequence[ModelUsage] = ()) -> dict[str, Any]:
    result, stopped = outcome.result, outcome.stopped
    return write(
        RecordedOutcome(
            replace(result, failure=None),
            outcome.failed,
            outcome.error,
            None if result.failure is None else str(result.failure),
            None if stopped is None else str(stopped),
            tuple(spent),
            outcome.tool_failed,
        )
    )


def write_reply(reply: Reply, allowance: Allowance) -> dict[str, Any]:
    return write(RecordedReply(reply, allowance.left, allowance.data))


def write_recovery(progress: Progress) -> dict[str, Any]:
    return write(
        RecordedRecovery(
            tuple(progress.base),
            progress.said,
            progress.usage,
            sorted(progress.shown),
            progress.allowance.left,
            progress.allowance.data,
        )
    )


def read_opening(result: Result) -> RecordedOpening:
    return msgspec.convert(result, RecordedOpening)


def read_reply(result: Result) -> RecordedReply:
    return msgspec.convert(result, RecordedReply)


def read_recovery(result: Result) -> RecordedRecovery:
    return msgspec.convert(result, RecordedRecovery)


def read_outcome(result: Result) -> RecordedOutcome:
    return msgspec.convert(result, RecordedOutcome)
