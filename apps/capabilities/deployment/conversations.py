"""Earlier calls of the same tool, as the conversation that they were for the deployment."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from apps.agent.messages import Message, ToolCall
from apps.agent.tools import Invocation
from apps.capabilities.deployment.attachments import Dispatch
from apps.capabilities.deployment.parameters import FILES, QUERY, SESSION
from apps.capabilities.deployment.targets import Target
from apps.capabilities.wrappers.file_references import resolve
from apps.capabilities.wrappers.texts import as_text
from apps.errors import InvalidParameter

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call that has a result; `arguments` are {} when they cannot be read."""

    call: ToolCall
    arguments: Mapping[str, Any]
    result: Message


async def conversation(target: Target, invocation: Invocation, dispatch: Dispatch) -> list[Message]:
    """What was said before in the conversation that a call goes on with; [] for a new one."""
    session = session_of(target, invocation)
    if session is None and not target.pools_history:
        return []
    said: list[Message] = []
    for exchange in exchanges(target.name, invocation.messages):
        if session is None or belongs(exchange, session):
            said += await replay(exchange, dispatch)
    return said


def session_of(target: Target, invocation: Invocation) -> str | None:
    """The conversation that the model names; a blank name is none."""
    if not target.is_resumable:
        return None
    return as_text(invocation.arguments.get(SESSION)).strip() or None


def begun_by(call_id: str) -> str:
    """What ends the first answer of a conversation: the model goes on with it by this name."""
    return f"\n\n[session_id: {call_id}]"


def exchanges(tool_name: str, messages: Sequence[Message]) -> Iterator[Exchange]:
    """The answered calls of a tool, in their order."""
    results = {m.tool_call_id: m for m in messages if m.role == "tool"}
    for message in messages:
        for call in message.tool_calls:
            if call.name == tool_name and call.id in results:
                yield Exchange(call, read(call.arguments), results[call.id])


def belongs(exchange: Exchange, session: str) -> bool:
    return exchange.call.id == session or exchange.arguments.get(SESSION) == session


def read(arguments: str) -> Mapping[str, Any]:
    try:
        found = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


async def replay(exchange: Exchange, dispatch: Dispatch) -> list[Message]:
    answer = Message(
        "assistant",
        exchange.result.text.removesuffix(begun_by(exchange.call.id)),
        attachments=exchange.result.attachments,
        state=exchange.result.state,
    )
    try:
        resolved = await resolve(exchange.arguments, dispatch.loader, {FILES})
        asked = await question(resolved.arguments, dispatch)
    except InvalidParameter as error:
        # Files come and go; that one is gone must not end the conversation.
        logger.warning("An earlier call is repeated without its files: %s", error)
        asked = Message("user", as_text(exchange.arguments.get(QUERY)))
    return [asked, answer] if asked.content or asked.attachments else [answer]


async def question(arguments: Mapping[str, Any], dispatch: Dispatch) -> Message:
    """What the arguments ask. Raises `InvalidParameter`."""
    urls = arguments.get(FILES) or ()
    if isinstance(urls, str):
        urls = (urls,)
    if not isinstance(urls, list | tuple) or not all(isinstance(url, str) for url in urls):
        raise InvalidParameter(FILES, "it has to be a list of addresses.")
    attachments = await dispatch.attach_all([url for url in urls if url.strip()])
    return Message("user", as_text(arguments.get(QUERY)), attachments=attachments)
