"""Client channels: an application asks, the user's client answers, and Core relays both."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal

from starlette.responses import Response, StreamingResponse

from tests.dial_core.exchange import Exchange
from tests.dial_core.refusals import Refusal

HEADER = "x-dial-client-channel-id"
SIGN_IN = "toolset/signin"
HEARTBEAT = b": heartbeat\n\n"
NO_ENTRY, BROKEN, INVALID = -32000, -32700, -32600
AutoAnswer = Literal["success", "denied", "error", "never"]


@dataclass
class Question:
    """A question. `id` is the client's."""

    id: str
    request: dict[str, Any]
    is_delivered: bool = False
    answer: dict[str, Any] | None = None


@dataclass
class Channel:
    owner: str
    questions: dict[str, Question] = field(default_factory=dict)
    changes: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def tell(self) -> None:
        async with self.changed:
            self.changes += 1
            self.changed.notify_all()

    async def change_after(self, seen: int, seconds: float) -> bool:
        """Return False if nothing changed for that long."""
        async with self.changed:
            waited = self.changed.wait_for(lambda: self.changes != seen)
            try:
                await asyncio.wait_for(waited, seconds)
            except TimeoutError:
                return False
        return True


class Channels:
    """With an `auto_answer`, no user is needed; `never` means that no answer is sent.
    `heartbeat_seconds` is the interval of heartbeats."""

    def __init__(self) -> None:
        self.open: dict[str, Channel] = {}
        self.auto_answer: AutoAnswer | None = None
        self.heartbeat_seconds = 10.0

    def add(self, owner: str) -> str:
        id = secrets.token_hex(16)
        self.open[id] = Channel(owner)
        return id

    def of(self, exchange: Exchange) -> Channel | None:
        found = self.open.get(exchange.headers.get(HEADER, ""))
        is_own = found is not None and found.owner == exchange.caller.identity.name
        return found if is_own else None


async def subscribe(exchange: Exchange) -> Response:
    """Send the questions of a new or resumed channel."""
    channels = exchange.core.channels
    id = exchange.headers.get(HEADER)
    if id is None:
        id = channels.add(exchange.caller.identity.name)
    channel = channels.open.get(id)
    if channel is None or channel.owner != exchange.caller.identity.name:
        raise Refusal(404, "Channel is not found")
    return events(asked(channels, channel), **{HEADER: id})


async def asked(channels: Channels, channel: Channel) -> AsyncIterator[bytes]:
    yield HEARTBEAT
    while True:
        seen = channel.changes
        new = [one for one in channel.questions.values() if not one.is_delivered]
        for question in new:
            question.is_delivered = True
            yield event({**question.request, "id": question.id})
        if not new and not await channel.change_after(seen, channels.heartbeat_seconds):
            yield HEARTBEAT


async def report(exchange: Exchange) -> Response:
    channel = exchange.core.channels.of(exchange)
    if channel is None:
        raise Refusal(404, "Channel is not found")
    answer = exchange.json()
    question = channel.questions.get(str(answer.get("id")))
    if question is None:
        raise Refusal(404, "Request is not found")
    question.answer = answer
    await channel.tell()
    return Response()


async def unsubscribe(exchange: Exchange) -> Response:
    if exchange.core.channels.of(exchange) is None:
        raise Refusal(404, "Channel is not found")
    del exchange.core.channels.open[exchange.headers[HEADER]]
    return Response()


async def interact(exchange: Exchange) -> Response:
    """Respond with 200 and events in every case, if the credentials are valid."""
    _ = exchange.caller
    if HEADER not in exchange.headers:
        return failed(NO_ENTRY, "Client channel header is missing")
    channel = exchange.core.channels.of(exchange)
    if channel is None:
        return failed(NO_ENTRY, "Channel is not found")
    try:
        document = json.loads(exchange.body)
    except ValueError:
        return failed(BROKEN, "Parse error")
    requests = document if isinstance(document, list) else [document]
    if not all(is_request(one) for one in requests):
        return failed(INVALID, "Invalid Request")
    questions = [put(exchange, channel, one) for one in requests if "id" in one]
    is_batch = isinstance(document, list)
    await channel.tell()
    return events(answered(exchange, channel, questions, is_batch=is_batch))


def is_request(value: Any) -> bool:
    return isinstance(value, dict) and value.get("jsonrpc") == "2.0" and "method" in value


def put(exchange: Exchange, channel: Channel, request: dict[str, Any]) -> tuple[Any, Question]:
    """Add the question with the application's id. Joins a question that was already asked."""
    key = exchange.caller.key
    id = f"{key.deployment if key is not None else exchange.caller.identity.name}/{request['id']}"
    question = channel.questions.setdefault(id, Question(id, request))
    auto = exchange.core.channels.auto_answer
    if auto is not None and auto != "never" and question.answer is None:
        question.answer = answer_alone(exchange, request, auto)
    return request["id"], question


def answer_alone(exchange: Exchange, request: dict[str, Any], auto: AutoAnswer) -> dict[str, Any]:
    """Answer like a user. After a sign-in, the user is signed in."""
    if auto == "error":
        return {"jsonrpc": "2.0", "error": {"code": NO_ENTRY, "message": "The sign-in failed"}}
    if auto == "success" and request["method"] == SIGN_IN:
        toolset = str((request.get("params") or {}).get("toolsetId"))
        exchange.core.sign_in(exchange.caller.identity.name, toolset)
    return {"jsonrpc": "2.0", "result": auto}


async def answered(
    exchange: Exchange, channel: Channel, questions: list[tuple[Any, Question]], *, is_batch: bool
) -> AsyncIterator[bytes]:
    """Send one event when all are answered, in the order of the answers. The stream stays open."""
    channels, done = exchange.core.channels, []
    yield HEARTBEAT
    waiting = list(questions)
    while waiting:
        seen = channel.changes
        for own_id, question in [pair for pair in waiting if pair[1].answer is not None]:
            waiting.remove((own_id, question))
            channel.questions.pop(question.id, None)
            done.append({**(question.answer or {}), "id": own_id})
        if waiting and not await channel.change_after(seen, channels.heartbeat_seconds):
            yield HEARTBEAT
    if done:
        yield event(done if is_batch else done[0])
    while True:
        await asyncio.sleep(channels.heartbeat_seconds)
        yield HEARTBEAT


def failed(code: int, message: str) -> Response:
    async def once() -> AsyncIterator[bytes]:
        yield event({"jsonrpc": "2.0", "error": {"code": code, "message": message}})

    return events(once())


def events(stream: AsyncIterator[bytes], **headers: str) -> Response:
    return StreamingResponse(stream, headers=headers, media_type="text/event-stream")


def event(document: Any) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"
