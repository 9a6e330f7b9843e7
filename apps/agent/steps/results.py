"""Defines the JSON of recorded steps: the opening of a run, the answers of its model, and the
results of its tools.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from apps.agent.calls import CallStep, ToolOutcome
from apps.agent.events import ModelUsage
from apps.agent.messages import ModelMessage
from apps.agent.meter import PromptSpan
from apps.agent.model import Reply
from apps.agent.progress import Allowance, Progress
from apps.agent.tools import ToolResult
from apps.errors import Stopped, ToolError

Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """A model's recorded answer. `left` and `data` are the values of the run's `Allowance` after
    the answer.
    """

    reply: Reply
    left: int
    data: int


@dataclass(frozen=True, slots=True)
class RecordedRecovery:
    """A recorded recovery from a failure of the model: the rewritten conversation, and the run's
    state after the recovery.
    """

    messages: tuple[ModelMessage, ...]
    said: list[str]
    usage: list[ModelUsage]
    shown: list[str]
    left: int
    data: int


@dataclass(frozen=True, slots=True)
class RecordedOpening:
    """The recorded inputs of a run's first model call."""

    messages: tuple[ModelMessage, ...]
    parameters: Mapping[str, Any]
    saved: Mapping[str, Any] = field(default_factory=dict)
    """Data that capabilities store for the next request."""
    prompt: tuple[PromptSpan, ...] = ()
    """The parts of the system prompt."""


@dataclass(frozen=True, slots=True)
class RecordedOutcome:
    """The recorded outcome of a tool call, with errors as text."""

    result: ToolResult
    failed: CallStep | None = None
    error: str = ""
    failure: str | None = None
    stopped: str | None = None
    spent: tuple[ModelUsage, ...] = ()
    """The usage of interrupted answers, which the result does not include."""
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


def write_record(recorded: object) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(recorded)
    return written


def write_outcome(outcome: ToolOutcome, spent: Sequence[ModelUsage] = ()) -> dict[str, Any]:
    result, stopped = outcome.result, outcome.stopped
    return write_record(
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
    return write_record(RecordedReply(reply, allowance.left, allowance.data))


def write_recovery(progress: Progress) -> dict[str, Any]:
    answer = progress.answer
    return write_record(
        RecordedRecovery(
            tuple(progress.conversation.base),
            answer.said,
            progress.usage,
            sorted(answer.shown),
            answer.allowance.left,
            answer.allowance.data,
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
