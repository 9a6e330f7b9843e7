"""Calls a deployment as a tool, and shows its answer in the tool's stage as it arrives."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from apps.agent.answers.replies import ask_model
from apps.agent.calls import static_names
from apps.agent.events import AttachmentAdded, Event, RefusalDelta, TextDelta
from apps.agent.ledger import WAITING, ledger_within
from apps.agent.messages import ModelMessage
from apps.agent.model import Model, ModelRequest, Reply
from apps.agent.progress import Allowance
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities.deployment.conversations import (
    OutgoingFiles,
    earlier_messages,
    question,
    session_line,
    session_of,
)
from apps.capabilities.deployment.targets import Target, request_parameters
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.attachments import (
    SEE_PICTURES,
    ShownAttachments,
    filter_attachments,
    see_files,
)
from apps.capabilities.wrappers.limits import RESULT_CHARACTERS
from apps.capabilities.wrappers.model_failures import tool_error
from apps.capabilities.wrappers.value_texts import shorten_text
from apps.errors import ModelFailed, ToolError
from apps.manifest.prompts import CustomSystemPrompt, fill_text
from apps.workspace.port import DeploymentInfo, Workspace

logger = logging.getLogger(__name__)

HEADING = "> #### Response:\n"
NOTICE_CHARACTERS = 100
"""The number of characters reserved for the notice that a result was truncated. The session ID
follows the notice.
"""


async def call_deployment(target: Target, opening: Opening, invocation: Invocation) -> ToolResult:
    """Call the deployment, and return its answer as the tool's result.

    Raises `ToolError` or `ToolTimedOut` if the call fails, `InvalidParameter` if a file cannot be
    sent, and `QuickAppError` if the deployment is unavailable.
    """
    workspace = opening.workspace
    find = workspace.deployment if target.is_looked_up else workspace.assumed
    info = await find(target.deployment_id)
    request = await make_request(target, info, opening, invocation)
    model = await workspace.model(
        target.deployment_id, headers=target.headers, idle_seconds=target.seconds
    )
    output = StageOutput(target, invocation)
    with errors_for_model(target, output):
        return await ask_shown(target, model, request, output)


async def ask_shown(
    target: Target, model: Model, request: ModelRequest, output: StageOutput
) -> ToolResult:
    """Call the model, and show its answer in the stage. Raises `ModelFailed` if the call fails, and
    `ToolError` if there is no usable answer.
    """
    invocation = output.invocation
    invocation.stage.write(HEADING)
    reply = await ask_model(
        model,
        request,
        output,
        name=target.deployment_id,
        stage_prefix=f"{invocation.id}-" if target.shows_stages else None,
        stage_parent=invocation.id,
        spend=invocation.spend,
        allowance=Allowance(),
    )
    if reply.finish_reason == WAITING:
        return PendingResult()
    return result_of(target, reply, invocation)


async def make_request(
    target: Target, info: DeploymentInfo, opening: Opening, invocation: Invocation
) -> ModelRequest:
    """Build the request from the arguments of the call. Raises `InvalidParameter` if a file cannot
    be sent.
    """
    files = OutgoingFiles(info, opening.loader, target.query)
    asked = await question(target, invocation.arguments, files)
    if not asked.content:
        logger.warning("Tool %s was called without a query", target.name)
    prompt = await system_text(target, opening.workspace)
    system = [ModelMessage("system", prompt)] if prompt else []
    earlier = await earlier_messages(target, invocation, files)
    return ModelRequest(
        messages=[*system, *earlier, asked],
        parameters=request_parameters(target, info, invocation.arguments),
        static_tools=target.static_tools,
        ledger=ledger_within(invocation.ledger, invocation.key),
        taint=opening.taint,
        meter=opening.meter,
    )


async def system_text(target: Target, workspace: Workspace) -> str:
    """Return the tool's system prompt with its variables filled in, or "" if there is none. Raises
    `QuickAppError` if a prompt in DIAL cannot be loaded.
    """
    prompt = target.system_prompt
    if prompt is None:
        return ""
    if isinstance(prompt, CustomSystemPrompt):
        return fill_text(prompt.content, prompt.variables)
    return fill_text(await workspace.prompt(prompt.path), prompt.variables or {})


@dataclass(slots=True)
class StageOutput:
    """An `emit` function that shows a deployment's answer in the tool's stage."""

    target: Target
    invocation: Invocation
    has_begun: bool = False

    def __call__(self, event: Event) -> None:
        self.has_begun = True
        match event:
            case TextDelta(text) | RefusalDelta(text):
                self.invocation.stage.write(text)
            case AttachmentAdded(attachment):
                for kept in filter_attachments(
                    (attachment,), self.target.attachment, self.target.name
                ):
                    self.invocation.stage.attach(kept)
            case _:
                self.invocation.emit(event)


@contextmanager
def errors_for_model(target: Target, output: StageOutput) -> Iterator[None]:
    try:
        yield
    except ModelFailed as error:
        begun = output.has_begun
        raise tool_error(target.name, target.seconds, error, has_answered=begun) from error


def result_of(target: Target, reply: Reply, invocation: Invocation) -> ToolResult:
    message, wanted = reply.message, target.attachment
    attachments = filter_attachments(tuple(dict.fromkeys(message.attachments)), wanted, target.name)
    check_static_calls(target, message)
    shown = ShownAttachments.of(attachments, wanted)
    seen = SEE_PICTURES if shown.inline else see_files(attachments)
    content = message.text if message.text.strip() else seen or "The answer is empty."
    if target.is_resumable and session_of(target, invocation) is None:
        name = session_line(invocation.id)
        most = RESULT_CHARACTERS - len(name) - NOTICE_CHARACTERS
        content = shorten_text(content, most) + name
    return ToolResult(
        content,
        attachments=attachments,
        propagated=shown.listed,
        pictures=shown.inline,
        state=message.model_state,
        annotations=reply.annotations if target.cites else (),
        usage=reply.usage,
    )


def check_static_calls(target: Target, message: ModelMessage) -> None:
    """Raise `ToolError` if an answer consists only of calls to tools of the service itself."""
    static = static_names(target.static_tools)
    theirs = [call.name for call in message.tool_calls if call.name in static]
    if theirs and not (message.text or message.attachments):
        raise ToolError(
            f"{target.name}: the model called its tool '{theirs[0]}', which runs at the model's own "
            "service and cannot be called from here.",
            is_lasting=True,
        )
