"""Earlier calls of the same tool, as the conversation that they were for the deployment."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.agent.messages import Message, ToolCall
from apps.agent.tools import Invocation
from apps.capabilities.deployment.attachments import OutgoingFiles
from apps.capabilities.deployment.parameters import FILES, SESSION
from apps.capabilities.deployment.targets import Target
from apps.capabilities.wrappers.arguments import recorded_arguments
from apps.capabilities.wrappers.file_references import resolve
from apps.capabilities.wrappers.texts import as_text
from apps.errors import InvalidParameter

logger = logging.getLogger(__name__)


async def conversation(
    target: Target, invocation: Invocation, files: OutgoingFiles
) -> list[Message]:
    """The earlier messages of the conversation that a call continues; [] for a new one."""
    session = session_of(target, invocation)
    if session is None and not target.pools_history:
        return []
    said: list[Message] = []
    for call, result in earlier_calls(target.name, invocation.messages):
        arguments = recorded_arguments(call)
        if session is None or session in (call.id, arguments.get(SESSION)):
            said += await replay(target, call, arguments, result, files)
    return said


def session_of(target: Target, invocation: Invocation) -> str | None:
    """The conversation that the model names, None for a new one."""
    if not target.is_resumable:
        return None
    return as_text(invocation.arguments.get(SESSION)).strip() or None


def begun_by(call_id: str) -> str:
    """The end of a conversation's first answer, by which the model can continue it."""
    return f"\n\n[session_id: {call_id}]"


def earlier_calls(
    tool_name: str, messages: Sequence[Message]
) -> Iterator[tuple[ToolCall, Message]]:
    """The answered calls of a tool, each with its result."""
    results = {m.tool_call_id: m for m in messages if m.role == "tool"}
    for message in messages:
        for call in message.tool_calls:
            if call.name == tool_name and call.id in results:
                yield call, results[call.id]


async def replay(
    target: Target,
    call: ToolCall,
    arguments: Mapping[str, Any],
    result: Message,
    files: OutgoingFiles,
) -> list[Message]:
    answer = Message(
        "assistant",
        result.text.removesuffix(begun_by(call.id)),
        attachments=result.attachments,
        state=result.state,
    )
    try:
        resolved = await resolve(arguments, files.loader, {FILES})
        asked = await question(target, resolved.arguments, files)
    except InvalidParameter as error:
        # A file that was deleted since must not end the conversation.
        logger.warning("An earlier call is repeated without its files: %s", error)
        asked = Message("user", as_text(arguments.get(target.query)))
    return [asked, answer] if asked.content or asked.attachments else [answer]


async def question(target: Target, arguments: Mapping[str, Any], files: OutgoingFiles) -> Message:
    """Raises `InvalidParameter`."""
    urls = arguments.get(FILES) or ()
    if isinstance(urls, str):
        urls = (urls,)
    if not isinstance(urls, list | tuple) or not all(isinstance(url, str) for url in urls):
        raise InvalidParameter(FILES, "it has to be a list of addresses.")
    attachments = await files.attach_all([url for url in urls if url.strip()])
    return Message("user", as_text(arguments.get(target.query)), attachments=attachments)
