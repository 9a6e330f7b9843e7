"""Runs the models and tools of a test case, or replays them from a recording."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec
from msgspec import structs

from apps.agent.answers.assembly import Assembly
from apps.agent.events import AnnotationAdded, AttachmentAdded, StateSaved, TextDelta, Usage
from apps.agent.model import (
    Delta,
    Finish,
    Model,
    ModelRequest,
    NestedRun,
    Reply,
    ThoughtPart,
    ToolCallDelta,
)
from apps.agent.stages import silent
from apps.agent.steps.results import RecordedReply, read_reply, write_record
from apps.agent.tools import Invocation, PendingResult, Tool, ToolResult
from apps.capabilities.wrappers.approval import APPROVED
from apps.cases.recording import Recording, RecordingReader, ToolEntry
from apps.cases.request_forms import Mask, first_difference, model_form, request_digest, tool_form
from apps.errors import (
    InvalidParameter,
    ModelFailed,
    NotApproved,
    QuickAppError,
    Stopped,
    ToolError,
)

Mode = Literal["replay", "models", "live"]
"""The parts of a run that are replayed: models and tools (`replay`), only tools (`models`), or none
(`live`).
"""

NOT_RECORDED = (
    "this call is not in the recording of this case, and no tool is called during a replay."
)
MAY_WRITE = (
    "this call is not in the recording of this case, and the tool may change something, so "
    "it was not made."
)
NEEDS_A_PERSON = "this call needs a user, and nobody has approved or answered it for this case. Continue without it."


class NotRecorded(QuickAppError):
    """A replay made a model request that the recording does not contain."""

    code = "not_recorded"


@dataclass(slots=True)
class Player:
    """Runs or replays the models and tools of one attempt at a test case."""

    mode: Mode
    recording: Recording
    """The recording to replay."""
    mask: Mask = field(default_factory=Mask)
    is_approved: bool = False
    """True if the operator has approved the calls that need approval."""
    new_recording: Recording = field(default_factory=Recording)
    missed: list[str] = field(default_factory=list)
    """Descriptions of the calls that are not in the recording."""
    refused: list[str] = field(default_factory=list)
    """The tools that were not called, because they may change something or need approval."""
    calls: int = 0
    """The number of model calls so far."""
    models: RecordingReader = field(init=False)
    tools: RecordingReader = field(init=False)

    def __post_init__(self) -> None:
        self.models, self.tools = (
            RecordingReader(self.recording.models),
            RecordingReader(self.recording.tools),
        )

    # --- Models -----------------------------------------------------------------------------------

    async def stream(
        self, name: str, model: Model, request: ModelRequest
    ) -> AsyncGenerator[Sequence[Delta], None]:
        """Yield an answer from the model or from the recording. Raises `ModelFailed` if the model
        failed, and `NotRecorded` if the recording lacks the request.
        """
        form = model_form(name, request, self.mask)
        self.calls += 1
        # An application used as the model may have side effects, like a tool.
        if self.mode == "replay" or (self.mode == "models" and isinstance(model, NestedRun)):
            yield self.repeated(form)
            return
        assembly = Assembly(silent)
        try:
            async with aclosing(model.stream(request)) as batches:
                async for batch in batches:
                    for delta in batch:
                        assembly.feed(delta)
                    yield batch
        except ModelFailed as failure:
            if not assembly.finish_reason:
                self.new_recording.add_model(form, failure=self.mask.value(failure_form(failure)))
                raise
        taken = {call.id for message in request.messages for call in message.tool_calls}
        reply = RecordedReply(assembly.reply(name, taken), 0, 0)
        self.new_recording.add_model(form, reply=self.mask.reply(write_record(reply)))

    def repeated(self, form: dict[str, Any]) -> Sequence[Delta]:
        entry = self.models.find(request_digest(form))
        if entry is None:
            text = self.why_missing(form)
            self.missed.append(text)
            raise NotRecorded(text)
        if entry.failure is not None:
            raise ModelFailed(**entry.failure)
        return deltas_of(read_reply(entry.reply).reply)

    def why_missing(self, form: dict[str, Any]) -> str:
        entries = self.recording.models
        if not entries:
            return "This test case has no recording. Run it live and record it first."
        nearest = entries[min(self.calls, len(entries)) - 1]
        number = f"The model's call {self.calls} is not in the recording."
        return f"{number} {first_difference(self.recording.form_of(nearest), form)}"

    # --- Tools ------------------------------------------------------------------------------------

    async def call(self, tool: Tool, invocation: Invocation) -> ToolResult:
        """Return a result from the tool or from the recording. Raises `ToolError` if the call
        failed.
        """
        name = tool.spec.name
        form = tool_form(name, invocation.arguments, self.mask)
        if self.mode != "live":
            entry = self.tools.find(request_digest(form))
            if entry is not None:
                self.new_recording.add_tool(form, entry.result, entry.error)
                return repeated_result(entry)
            if self.mode == "replay" or not tool.is_read_only:
                raise self.refusal(tool)
        try:
            result = await self.approved(tool, invocation)
        except (ToolError, Stopped) as error:
            self.new_recording.add_tool(form, error=self.mask.value(error_form(error)))
            raise
        failure = result.failure
        told = None if failure is None else self.mask.value(error_form(failure))
        self.new_recording.add_tool(
            form, self.mask.value(write_record(replace(result, failure=None))), told
        )
        return result

    def refusal(self, tool: Tool) -> ToolError:
        """Record that the tool was not called, and return the error for the model."""
        name = tool.spec.name
        self.missed.append(f"A call of the tool {name} is not in the recording.")
        if not tool.is_read_only:
            self.refused.append(name)
        return ToolError(NOT_RECORDED if self.mode == "replay" else MAY_WRITE)

    async def approved(self, tool: Tool, invocation: Invocation) -> ToolResult:
        """Call the tool, with the operator's approval if the call needs one. Raises `ToolError` if
        the operator has not approved the run's calls.
        """
        result = await tool.call(invocation)
        if not isinstance(result, PendingResult):
            return result
        may = self.is_approved and result.interactions and all(map(is_plain, result.interactions))
        if may:
            result = await tool.call(structs.replace(invocation, answers=APPROVED))
        if isinstance(result, PendingResult):
            self.refused.append(tool.spec.name)
            raise ToolError(NEEDS_A_PERSON)
        return result


def is_plain(request: Any) -> bool:
    """Return True if the call is waiting for approval, and one user's approval is enough (no
    `four_eyes`).
    """
    return request.kind == "approval" and not request.asked.get("four_eyes")


def repeated_result(entry: ToolEntry) -> ToolResult:
    """Return the recorded result of a tool call. Raises the recorded error if the call failed."""
    failure = None if entry.error is None else error_of(entry.error)
    if entry.result is not None:
        return replace(msgspec.convert(entry.result, ToolResult), failure=failure)
    raise failure or ToolError(NOT_RECORDED)


def error_form(error: Exception) -> dict[str, str]:
    form = {"kind": type(error).__name__, "text": str(error)}
    if isinstance(error, InvalidParameter):
        form |= {"parameter": error.parameter, "problem": error.problem}
    return form


def error_of(form: Mapping[str, str]) -> Exception:
    match form["kind"]:
        case "InvalidParameter":
            return InvalidParameter(form["parameter"], form["problem"])
        case "Stopped":
            return Stopped(form["text"])
        case "NotApproved":
            return NotApproved(form["text"])
        case _:
            return ToolError(form["text"])


def failure_form(failure: ModelFailed) -> dict[str, Any]:
    """Convert a model's failure to its stored form. The stored failure is never transient, because
    a replay does not retry calls.
    """
    return {
        "message": str(failure),
        "status": failure.status,
        "reason": failure.reason,
        "code": failure.code,
        "kind": failure.kind,
        "display": failure.display,
    }


def deltas_of(reply: Reply) -> list[Delta]:
    """Convert a recorded answer to the deltas that a model would stream. Each text is one delta."""
    message = reply.message
    found: list[Delta] = []
    if message.thoughts is not None:
        found += [ThoughtPart(name, text) for name, text in message.thoughts.parts.items()]
    if message.text:
        found.append(TextDelta(message.text))
    found += map(AttachmentAdded, message.attachments)
    found += map(AnnotationAdded, reply.annotations)
    if message.model_state:
        found.append(StateSaved(message.model_state))
    for index, call in enumerate(message.tool_calls):
        found.append(ToolCallDelta(index, call.id, call.name, call.arguments))
    if reply.usage:
        spent = reply.usage
        total = (sum(one.input for one in spent), sum(one.output for one in spent))
        found.append(Usage(*total, per_model=spent))
    found.append(Finish(reply.finish_reason))
    return found
