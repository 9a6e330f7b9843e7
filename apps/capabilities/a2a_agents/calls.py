"""Calls an A2A agent, and shows its answer in the tool's stage as it arrives."""

import asyncio
import base64
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from typing import Any

import msgspec

from apps.agent.messages import Attachment
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.a2a_agents.answer import HEADING, AgentAnswer
from apps.capabilities.a2a_agents.cards import find_with
from apps.capabilities.a2a_agents.client import AgentClient
from apps.capabilities.a2a_agents.files import take_files
from apps.capabilities.a2a_agents.updates import (
    AUTH_REQUIRED,
    CANCELED,
    FAILED,
    INPUT_REQUIRED,
    INTERRUPTED,
    REJECTED,
    AnswerInvalid,
    Update,
)
from apps.capabilities.deployment.conversations import (
    OutgoingFiles,
    earlier_calls,
    question,
    session_line,
    session_of,
)
from apps.capabilities.deployment.parameters import SESSION
from apps.capabilities.deployment.targets import Target
from apps.capabilities.registry import Opening
from apps.capabilities.remote_agents.servers import (
    AgentServer,
    ConnectionLost,
    CredentialsRefused,
    called,
)
from apps.capabilities.rest.calls import idempotency_key
from apps.capabilities.rest.requests import RequestDraft
from apps.capabilities.wrappers.arguments import recorded_arguments
from apps.capabilities.wrappers.attachments import see_files
from apps.capabilities.wrappers.limits import RESULT_CHARACTERS
from apps.capabilities.wrappers.sign_in import ask_person
from apps.capabilities.wrappers.value_texts import ERROR_CHARACTERS, shorten_text
from apps.errors import InvalidParameter, ToolError
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.workspace.port import DeploymentInfo

logger = logging.getLogger(__name__)

STATE = "a2a"
"""The key in a tool result's state under which the conversation with the agent is stored."""
CANCEL_SECONDS = 2.0
"""The timeout in seconds for canceling the agent's task when a call ends early."""
POLL_SECONDS = (1.0, 2.0, 4.0, 8.0)
"""The pauses in seconds between polls of a task. The last pause is repeated."""
NOTICE_CHARACTERS = 1_000
"""The number of characters reserved for the notes that follow a truncated result."""


class Conversation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Identifies a conversation with an agent."""

    context: str = ""
    task: str = ""
    """The ID of the task that is waiting for the next message, or ""."""


@dataclass(frozen=True, slots=True)
class A2aAgent:
    """An A2A agent that the model can call as a tool."""

    target: Target
    info: DeploymentInfo
    """The agent's features, such as the file types that it accepts."""
    server: AgentServer
    attachment: AttachmentFilter

    @property
    def label(self) -> str:
        return called(self.server, self.target.name)


async def call_agent(agent: A2aAgent, opening: Opening, invocation: Invocation) -> ToolResult:
    """Call the agent. If its server rejects the user's own account, ask the user to sign in.

    Raises `ToolError` or `ToolTimedOut` if the call fails, and `InvalidParameter` if a file cannot
    be sent.
    """
    params = {"message": await make_message(agent, opening, invocation)}
    talk = partial(talk_with, agent, params, opening, invocation)
    try:
        return await agent.server.with_credentials(opening.caller, talk)
    except CredentialsRefused:
        if agent.server.account is None:
            raise
        return await ask_person(agent.server.account, opening, invocation)


async def make_message(agent: A2aAgent, opening: Opening, invocation: Invocation) -> dict[str, Any]:
    """Build the message for the agent from the arguments of the call. Raises `InvalidParameter` if
    a file cannot be sent, or if the conversation does not exist.
    """
    files = OutgoingFiles(agent.info, opening.loader)
    asked = await question(agent.target, invocation.arguments, files)
    parts: list[dict[str, Any]] = [{"text": asked.text, "mediaType": "text/plain"}]
    message: dict[str, Any] = {
        "messageId": idempotency_key(opening, invocation),
        "role": "ROLE_USER",
        "parts": [*parts, *map(file_part, asked.attachments)],
    }
    conversation = find_conversation(agent.target, invocation)
    if conversation.context:
        message["contextId"] = conversation.context
    if conversation.task:
        message["taskId"] = conversation.task
    return message


def file_part(attachment: Attachment) -> dict[str, Any]:
    data = attachment.data or ""
    is_text = attachment.type.startswith("text/")
    raw = base64.b64encode(data.encode()).decode() if is_text else data
    return {"raw": raw, "mediaType": attachment.type, "filename": attachment.title}


def find_conversation(target: Target, invocation: Invocation) -> Conversation:
    """Return the conversation that the call continues, or an empty one for a new conversation.

    Raises `InvalidParameter` if the model passed an unknown ID.
    """
    session = session_of(target, invocation)
    if session is None:
        return Conversation()
    found = [
        result.state[STATE]
        for call, result in earlier_calls(target.name, invocation.messages)
        if session in (call.id, recorded_arguments(call).get(SESSION)) and STATE in result.state
    ]
    if not found:
        raise InvalidParameter(
            SESSION,
            "no earlier answer ends with this ID. Omit the parameter to begin a new conversation.",
        )
    return msgspec.convert(found[-1], Conversation)


async def talk_with(
    agent: A2aAgent,
    params: Mapping[str, Any],
    opening: Opening,
    invocation: Invocation,
    draft: RequestDraft,
) -> ToolResult:
    """Send the message, wait until the task has ended, and return the answer. Raises `ToolError` if
    a request or the task fails.
    """
    found = await find_with(agent.server, draft)
    client = AgentClient(agent.server, found.endpoint, agent.target.name, draft)
    invocation.stage.write(HEADING)
    answer = AgentAnswer(invocation.stage)
    try:
        async with canceling(client, answer):
            await follow(client, params, answer, is_streaming=found.card.is_streaming)
        return await result_of(agent, client, answer, opening, invocation)
    except AnswerInvalid as error:
        failure = ToolError(f"{agent.label}: {error}")
        failure.has_answered = answer.has_answered
        raise failure from error
    except ToolError as error:
        error.has_answered = answer.has_answered
        raise


@asynccontextmanager
async def canceling(client: AgentClient, answer: AgentAnswer) -> AsyncIterator[None]:
    """Cancel the agent's task if the block raises before the task has ended."""
    try:
        yield
    except BaseException:
        if answer.task_id and not answer.is_over:
            try:
                async with asyncio.timeout(CANCEL_SECONDS):
                    await client.cancel_task(answer.task_id)
            except (TimeoutError, ToolError, AnswerInvalid) as error:
                logger.info("%s: failed to cancel the task: %s", client.name, error)
        raise


async def follow(
    client: AgentClient, params: Mapping[str, Any], answer: AgentAnswer, *, is_streaming: bool
) -> None:
    """Send the message, and add the agent's updates to `answer` until the task is over.

    Raises `ToolError` if a request fails, and `AnswerInvalid` if a response does not follow A2A.
    """
    if not is_streaming:
        now = {**params, "configuration": {"returnImmediately": True}}
        await take_first(client.send_message(now), answer)
        await poll(client, answer)
        return
    try:
        async with aclosing(client.stream_message(params)) as updates:
            await take_first(next_update(updates), answer)
            while not answer.is_over and (update := await anext(updates, None)) is not None:
                answer.take(update)
    except ConnectionLost as error:
        if not answer.task_id:
            raise
        logger.info("%s: a task's stream disconnected: %s", client.name, error)
    await poll(client, answer)


async def take_first(work: Coroutine[Any, Any, Update | None], answer: AgentAnswer) -> None:
    """Wait for the first update, and add it to `answer`.

    If the call is canceled, wait up to `CANCEL_SECONDS` longer, because the update contains the ID
    of the task to cancel. Raises `ToolError` if the request fails, and `AnswerInvalid` if the
    response does not follow A2A.
    """
    receiving = asyncio.create_task(work)
    try:
        update = await asyncio.shield(receiving)
    except asyncio.CancelledError:
        await asyncio.wait({receiving}, timeout=CANCEL_SECONDS)
        if not receiving.done():
            receiving.cancel()
            await asyncio.wait({receiving})
        if not receiving.cancelled() and receiving.exception() is None:
            answer.take(receiving.result() or Update())
        raise
    answer.take(update or Update())


async def next_update(updates: AsyncGenerator[Update, None]) -> Update | None:
    return await anext(updates, None)


async def poll(client: AgentClient, answer: AgentAnswer) -> None:
    """Poll the task until it is over. Raises `ToolError` if a request fails, and `AnswerInvalid` if
    a response does not follow A2A.
    """
    pauses = chain(POLL_SECONDS, repeat(POLL_SECONDS[-1]))
    while not answer.is_over:
        if not answer.task_id:
            raise AnswerInvalid("the stream ended before the agent answered.")
        answer.take_task(await client.get_task(answer.task_id))
        if not answer.is_over:
            await asyncio.sleep(next(pauses))


async def result_of(
    agent: A2aAgent,
    client: AgentClient,
    answer: AgentAnswer,
    opening: Opening,
    invocation: Invocation,
) -> ToolResult:
    """Convert the agent's answer to a tool result. Raises `ToolError` if the task failed."""
    text = answer.text
    if (failure := FAILURES.get(answer.state)) is not None:
        reason = shorten_text(answer.message.text.strip() or text, ERROR_CHARACTERS)
        raise ToolError(
            f"{agent.label}: {failure}{f': {reason}' if reason else '.'}",
            is_lasting=answer.state == REJECTED,
        )
    attachments, notes = await take_files(client, answer.files, agent.attachment, opening)
    most = RESULT_CHARACTERS - NOTICE_CHARACTERS
    text = shorten_text(text, most) or see_files(attachments) or "The answer is empty."
    wanted = NEXT_STEPS.get(answer.state, "")
    session = session_of(agent.target, invocation)
    if not answer.context_id:
        begun = ""
    elif session is None:
        begun = session_line(invocation.id)
    else:
        begun = session_line(session) if wanted else ""
    return ToolResult(
        "\n\n".join(filter(None, (text, *notes, wanted))) + begun,
        attachments=attachments,
        state=state_after(answer),
    )


def state_after(answer: AgentAnswer) -> dict[str, Any]:
    if not answer.context_id:
        return {}
    task = answer.task_id if answer.state in INTERRUPTED else ""
    return {STATE: msgspec.to_builtins(Conversation(answer.context_id, task))}


FAILURES = {
    FAILED: "the agent's task failed",
    REJECTED: "the agent rejected the task",
    CANCELED: "the agent canceled the task",
}
NEXT_STEPS = {
    INPUT_REQUIRED: (
        "The agent needs more information before it can continue. Answer it from what you know, or ask "
        "the user; then call this tool again with the answer and this session_id."
    ),
    AUTH_REQUIRED: (
        "The agent needs an authorization before it can continue, as it says above. Tell the user what "
        "to do; once that is done, call this tool again with this session_id."
    ),
}
