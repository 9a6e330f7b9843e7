"""Calls a remote agent through a Responses API, and shows its answer in the stage as it arrives."""

import base64
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit

from msgspec import structs

from apps.agent.messages import Attachment, ModelMessage
from apps.agent.model import ModelRequest
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.deployment.calls import StageOutput, ask_shown, make_request
from apps.capabilities.deployment.targets import Target
from apps.capabilities.registry import Opening
from apps.capabilities.remote_agents.servers import (
    CHECK_CREDENTIALS,
    AgentServer,
    CredentialsRefused,
    called,
)
from apps.capabilities.rest.requests import RequestDraft
from apps.capabilities.wrappers.model_failures import tool_error
from apps.capabilities.wrappers.sign_in import ask_person
from apps.errors import ModelFailed
from apps.workspace.port import DeploymentInfo
from apps.workspace.responses.model import RESPONSES, make_service_model
from apps.workspace.services.client import ModelService


@dataclass(frozen=True, slots=True)
class AgentService(ModelService):
    """The model service of a remote agent."""

    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Credentials to redact in responses, regardless of the header that contained them."""

    def credentials(self) -> list[str]:
        return [*ModelService.credentials(self), *self.secrets]


@dataclass(frozen=True, slots=True)
class ResponsesAgent:
    """A remote agent that the model calls as a tool."""

    target: Target
    info: DeploymentInfo
    """The agent's features. Files are sent to it as data."""
    server: AgentServer
    model: str
    """The agent's name in its API."""


async def call_agent(agent: ResponsesAgent, opening: Opening, invocation: Invocation) -> ToolResult:
    """Call the agent, and return its answer. Raises `ToolError` or `ToolTimedOut` if the call
    fails, and `InvalidParameter` if a file cannot be sent.
    """
    request = with_parts(await make_request(agent.target, agent.info, opening, invocation))
    ask = partial(ask_agent, agent, request, invocation)
    try:
        return await agent.server.with_credentials(opening.caller, ask)
    except CredentialsRefused:
        if agent.server.account is None:
            raise
        return await ask_person(agent.server.account, opening, invocation)


async def ask_agent(
    agent: ResponsesAgent, request: ModelRequest, invocation: Invocation, draft: RequestDraft
) -> ToolResult:
    """Send the request, and return the answer. Raises `ToolError` or `ToolTimedOut` on failure."""
    output = StageOutput(agent.target, invocation)
    model = make_service_model(service_of(agent.server, draft), agent.model, agent.server.seconds)
    try:
        return await ask_shown(agent.target, model, request, output)
    except ModelFailed as error:
        name = called(agent.server, agent.target.name)
        failure = tool_error(name, agent.server.seconds, error, has_answered=output.has_begun)
        if error.status == HTTPStatus.UNAUTHORIZED:
            text = f"{failure} {CHECK_CREDENTIALS}"
            raise CredentialsRefused(text, is_lasting=True) from error
        raise failure from error


def service_of(server: AgentServer, draft: RequestDraft) -> AgentService:
    url = server.url
    if draft.query:
        url = f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(draft.query)}"
    sent = {name: value for name, value in draft.headers.items() if name != "accept"}
    headers = tuple(sorted(sent.items()))
    return AgentService(url, RESPONSES, headers, tuple(sorted(draft.credentials)))


def with_parts(request: ModelRequest) -> ModelRequest:
    """Convert the files of the request's messages to content parts."""
    return structs.replace(request, messages=[*map(with_files, request.messages)])


def with_files(message: ModelMessage) -> ModelMessage:
    if message.role != "user" or not message.attachments:
        # Files that the agent created are not sent back to it.
        return replace(message, attachments=()) if message.attachments else message
    text: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
    return replace(message, content=(*text, *map(file_part, message.attachments)), attachments=())


def file_part(attachment: Attachment) -> dict[str, Any]:
    data = attachment.data or ""
    if attachment.type.startswith("text/"):
        data = base64.b64encode(data.encode()).decode()
    url = f"data:{attachment.type.replace(' ', '')};base64,{data}"
    if attachment.type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": attachment.title, "file_data": url}}
