"""Calls the operations of an A2A agent over JSON-RPC or HTTP+JSON."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import msgspec

from apps.agent.model import Delta
from apps.capabilities.a2a_agents.cards import PROTOCOL_VERSION, AgentEndpoint
from apps.capabilities.a2a_agents.updates import (
    AnswerInvalid,
    Task,
    Update,
    error_text,
    read_envelope,
    read_task,
    read_update,
)
from apps.capabilities.remote_agents.servers import MESSAGE_CHARACTERS, AgentServer, called, send
from apps.capabilities.rest.requests import RequestDraft
from apps.capabilities.wrappers.redaction import credential_patterns, hide_credentials
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import ToolError
from apps.workspace.egress.bodies import read_body, stream_body
from apps.workspace.egress.clients import Response
from apps.workspace.services.event_stream import EventDecoder

MOST_BYTES = 32 * 1024 * 1024
"""The size limit for a response, in bytes. It is high because responses contain files as base64."""
EVENTS = "text/event-stream"
ACCEPT = f"{EVENTS}, application/a2a+json, application/json"
GET, POST = "GET", "POST"


class EventCollector:
    """An `EventReader` that collects the events of a stream unchanged."""

    is_done = has_finished = False
    has_understood = True

    def __init__(self) -> None:
        self.payloads: list[bytes] = []

    def read(self, payload: bytes, name: bytes, deltas: list[Delta]) -> None:
        self.payloads.append(payload)

    def take(self) -> list[bytes]:
        taken, self.payloads = self.payloads, []
        return taken


@dataclass(frozen=True, slots=True)
class AgentClient:
    """Calls one agent with the credentials in `draft`."""

    server: AgentServer
    endpoint: AgentEndpoint
    name: str
    """The name of the tool, for error messages."""
    draft: RequestDraft = field(repr=False)

    async def stream_message(self, params: Mapping[str, Any]) -> AsyncGenerator[Update, None]:
        """Send a message, and yield the updates that the agent streams. Raises `ToolError` if the
        call fails, and `AnswerInvalid` if a response does not follow A2A.
        """
        async with aclosing(self.payloads("SendStreamingMessage", POST, ":stream", params)) as told:
            async for payload in told:
                yield read_update(payload)

    async def send_message(self, params: Mapping[str, Any]) -> Update:
        """Send a message, and return the agent's first update. Raises `ToolError` if the call
        fails, and `AnswerInvalid` if the response does not follow A2A.
        """
        return read_update(await self.call("SendMessage", POST, ":send", params))

    async def get_task(self, id: str) -> Task:
        """Return the current state of a task. Raises `ToolError` if the call fails, and
        `AnswerInvalid` if the response does not follow A2A.
        """
        return read_task(await self.call("GetTask", GET, f"/tasks/{quoted(id)}", {"id": id}))

    async def cancel_task(self, id: str) -> None:
        await self.call("CancelTask", POST, f"/tasks/{quoted(id)}:cancel", {"id": id})

    async def download(self, url: str, limit: int) -> bytes:
        """Download a file from the agent's server. Raises `ToolError` if the download fails."""
        self.draft.headers["accept"] = "*/*"
        async with send(self.server, self.name, self.draft, url, method=GET) as response:
            return await read_body(response, limit)

    async def call(
        self, operation: str, method: str, path: str, params: Mapping[str, Any]
    ) -> bytes:
        async with aclosing(self.payloads(operation, method, path, params)) as told:
            async for payload in told:
                return payload
        raise AnswerInvalid("its response is empty.")

    async def payloads(
        self, operation: str, method: str, path: str, params: Mapping[str, Any]
    ) -> AsyncGenerator[bytes, None]:
        """Call an operation, and yield its result, or each result of a stream. Raises `ToolError`
        if the call fails, and `AnswerInvalid` if a response does not follow A2A.
        """
        url, content = self.endpoint.url, None
        if self.endpoint.binding == "JSONRPC":
            method = POST
            if self.endpoint.tenant:
                params = {**params, "tenant": self.endpoint.tenant}
            call = {"jsonrpc": "2.0", "id": "1", "method": operation, "params": params}
            content = msgspec.json.encode(call)
        else:
            tenant = f"/{quoted(self.endpoint.tenant)}" if self.endpoint.tenant else ""
            url = f"{url}{tenant}{f'/message{path}' if path.startswith(':') else path}"
            content = msgspec.json.encode(params) if method == POST else None
        self.draft.headers |= {"accept": ACCEPT, "a2a-version": PROTOCOL_VERSION}
        async with (
            send(
                self.server,
                self.name,
                self.draft,
                url,
                method=method,
                content=content,
                explain=error_text,
            ) as response,
            aclosing(self.events_of(response)) as events,
        ):
            async for payload in events:
                yield self.result_in(payload)

    async def events_of(self, response: Response) -> AsyncGenerator[bytes, None]:
        """Yield the JSON of each event if the response is an event stream, otherwise the whole
        body. Raises `ToolError` or the HTTP client's errors.
        """
        if not response.headers.get("content-type", "").startswith(EVENTS):
            yield await read_body(response, MOST_BYTES)
            return
        events = EventCollector()
        decoder = EventDecoder(events, MOST_BYTES)
        async with aclosing(stream_body(response, MOST_BYTES)) as pieces:
            async for piece in pieces:
                decoder.feed(piece)
                for payload in events.take():
                    yield payload
        decoder.end()
        for payload in events.take():
            yield payload

    def result_in(self, payload: bytes) -> bytes:
        """Return the result in a payload, with the caller's credentials redacted.

        Raises `ToolError` if the agent returned an error, and `AnswerInvalid` if the payload does
        not follow A2A.
        """
        if self.draft.credentials:
            text = payload.decode("utf-8", "replace")
            payload = hide_credentials(text, credential_patterns(self.draft.credentials)).encode()
        envelope = read_envelope(payload)
        if envelope.error is not None:
            reason = one_line(envelope.error.message, MESSAGE_CHARACTERS) or "no reason given"
            raise ToolError(
                f"{called(self.server, self.name)}: the agent rejected the request: {reason}"
            )
        if self.endpoint.binding != "JSONRPC":
            return payload
        if not envelope.result:
            raise AnswerInvalid("its response has neither a result nor an error.")
        return bytes(envelope.result)


def quoted(text: str) -> str:
    return quote(text, safe="")
