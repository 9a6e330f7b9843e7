"""A call of a deployment, shown in the stage of its tool while it answers."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings

from apps.agent.allowance import Allowance
from apps.agent.assembly import Reply
from apps.agent.calls import static_names
from apps.agent.events import AttachmentAdded, Event, RefusalDelta, TextDelta
from apps.agent.ledger import WAITING, within
from apps.agent.messages import Message
from apps.agent.model import ModelRequest
from apps.agent.replies import ask
from apps.agent.tools import Invocation, Pending, ToolResult
from apps.capabilities.deployment.attachments import OutgoingFiles
from apps.capabilities.deployment.conversations import begun_by, conversation, question, session_of
from apps.capabilities.deployment.targets import Target, parameters_of
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.attachments import SEE_PICTURES, Places, filtered, see_files
from apps.capabilities.wrappers.model_failures import tool_error
from apps.capabilities.wrappers.texts import shortened
from apps.errors import ModelFailed, ToolError
from apps.manifest.prompts import CustomSystemPrompt, fill
from apps.workspace.port import DeploymentInfo, Workspace

logger = logging.getLogger(__name__)

HEADING = "> #### Response:\n"
NOTICE_CHARACTERS = 100
"""Room for the notice that an answer was cut, so that the session id after it stays."""


async def call(target: Target, opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `ToolError`, `ToolTimedOut`, `InvalidParameter`, and what the workspace raises."""
    workspace = opening.workspace
    find = workspace.deployment if target.is_looked_up else workspace.assumed
    info = await find(target.deployment_id)
    request = await make_request(target, info, opening, invocation)
    model = await workspace.model(
        target.deployment_id, headers=target.headers, idle_seconds=target.seconds
    )
    invocation.stage.write(HEADING)
    output = StageOutput(target, invocation)
    with errors_for_model(target, output):
        reply = await ask(
            model,
            request,
            output,
            name=target.deployment_id,
            stage_prefix=f"{invocation.id}-" if target.shows_stages else None,
            stage_parent=invocation.id,
            spend=invocation.spend,
            allowance=Allowance(settings.ANSWER_MAX_CHARS),
        )
    if reply.finish_reason == WAITING:
        return Pending()
    return result_of(target, reply, invocation)


async def make_request(
    target: Target, info: DeploymentInfo, opening: Opening, invocation: Invocation
) -> ModelRequest:
    """Raises `InvalidParameter`."""
    files = OutgoingFiles(info, opening.loader, target.query)
    asked = await question(target, invocation.arguments, files)
    if not asked.content:
        logger.warning("Tool %s was called without a query", target.name)
    prompt = await system_text(target, opening.workspace)
    system = [Message("system", prompt)] if prompt else []
    earlier = await conversation(target, invocation, files)
    return ModelRequest(
        messages=[*system, *earlier, asked],
        parameters=parameters_of(target, info, invocation.arguments),
        static_tools=target.static_tools,
        ledger=within(invocation.ledger, invocation.key),
        taint=opening.taint,
        meter=opening.meter,
    )


async def system_text(target: Target, workspace: Workspace) -> str:
    """Raises `Unsupported`, `FileRefused`."""
    prompt = target.system_prompt
    if prompt is None:
        return ""
    if isinstance(prompt, CustomSystemPrompt):
        return fill(prompt.content, prompt.variables)
    return fill(await workspace.prompt(prompt.path), prompt.variables or {})


@dataclass(slots=True)
class StageOutput:
    """The `emit` of a call: shows the answer in the stage of the tool."""

    target: Target
    invocation: Invocation
    has_begun: bool = False

    def __call__(self, event: Event) -> None:
        self.has_begun = True
        match event:
            case TextDelta(text) | RefusalDelta(text):
                self.invocation.stage.write(text)
            case AttachmentAdded(attachment):
                for kept in filtered((attachment,), self.target.attachment, self.target.name):
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
    attachments = filtered(tuple(dict.fromkeys(message.attachments)), wanted, target.name)
    check_static_calls(target, message)
    places = Places.of(attachments, wanted)
    seen = SEE_PICTURES if places.inside else see_files(attachments)
    content = message.text if message.text.strip() else seen or "The answer is empty."
    if target.is_resumable and session_of(target, invocation) is None:
        name = begun_by(invocation.id)
        most = settings.TOOL_RESULT_CHARACTERS - len(name) - NOTICE_CHARACTERS
        content = shortened(content, most) + name
    return ToolResult(
        content,
        attachments=attachments,
        propagated=places.beside,
        pictures=places.inside,
        state=message.model_state,
        annotations=reply.annotations if target.cites else (),
        usage=reply.usage,
    )


def check_static_calls(target: Target, message: Message) -> None:
    """Raises `ToolError` for an answer that is nothing but calls of the service's own tools."""
    static = static_names(target.static_tools)
    theirs = [call.name for call in message.tool_calls if call.name in static]
    if theirs and not (message.text or message.attachments):
        raise ToolError(
            f"{target.name}: it asked for its tool '{theirs[0]}', which runs at the model's service "
            "itself and cannot be called from here.",
            is_lasting=True,
        )
