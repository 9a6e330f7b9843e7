"""Serves `POST /v1/responses/compact` and `/v1/responses/input_tokens`."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import cast

import msgspec

from apps.accounts.caller import Caller
from apps.agent.context.token_estimates import text_tokens
from apps.agent.events import Event, Usage
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.client_conversation import Object
from apps.doors.consumer import JSON
from apps.doors.dialect import Dialect, ParsedRequest
from apps.doors.run_slots import AdmittedRun
from apps.doors.sealed_state import sealed
from apps.responses.consumers import Events, ResponseConsumer, no_events
from apps.responses.dialect import ParsedResponse, ResponsesDialect, parse_response
from apps.responses.encoder import WholeResponse
from apps.responses.items import SUMMARY
from apps.responses.requests import read_request
from apps.responses.resource import Echo, counted_usage
from apps.responses.stored_items import stored_input
from apps.responses.tools import read_tools

TASK = (
    "Write the record of this conversation for somebody who continues it without having read it: "
    "what the user wants and has decided, names, numbers, identifiers and addresses exactly as "
    "they were written, what was found out and with which tools, and what is still open. Write "
    "plain text in the language of the user, and nothing else."
)


class CompactDialect(ResponsesDialect):
    def read(self, body: bytes) -> ParsedRequest:
        request, unknown = read_request(body)
        alone = msgspec.structs.replace(
            request, store=False, stream=False, background=False, tools=None, tool_choice=None
        )
        return parse_response(alone, unknown)


class CountDialect(ResponsesDialect):
    def read(self, body: bytes) -> ParsedRequest:
        request, unknown = read_request(body)
        request = msgspec.structs.replace(request, store=False, stream=False, background=False)
        return parse_response(request, unknown)


class CompactConsumer(ResponseConsumer):
    """Serves `POST /v1/responses/compact`: the application's model summarizes a conversation, so
    that the client can continue it with fewer tokens.
    """

    route = "/v1/responses/compact"
    dialect: Dialect = CompactDialect()

    async def complete(
        self, asked: ParsedRequest, caller: Caller, application: ResolvedApplication
    ) -> ParsedRequest:
        found = cast(ParsedResponse, await super().complete(asked, caller, application))
        written = stored_input(found.echo.id, found.request.input or [])
        task: Object = {"role": "user", "content": TASK}
        stored = (*(self.context.items if self.context else ()), *written)
        request = msgspec.structs.replace(
            found.request, input=[task], previous_response_id=None, conversation=None
        )
        parsed = parse_response(request, found.unknown, stored)
        kept = [item for item in stored if item.get("role") == "user"]
        return msgspec.structs.replace(
            parsed, whole=partial(CompactedResponse, echo=parsed.echo, kept=kept)
        )


class CompactedResponse:
    headers = JSON

    def __init__(self, model: str, echo: Echo, kept: list[Object]) -> None:
        self.response = WholeResponse(model, echo)
        self.id = echo.id
        self.kept = kept

    def feed(self, events: Iterable[Event]) -> None:
        self.response.feed(events)

    def body(self) -> bytes:
        encoder = self.response.encoder
        texts = [
            part.get("text", "")
            for item in encoder.resource.output
            if item["type"] == "message"
            for part in item["content"]
        ]
        item = {
            "type": "compaction",
            "id": encoder.resource.next_id("cmp"),
            "encrypted_content": sealed({SUMMARY: "".join(texts)}),
        }
        return msgspec.json.encode(
            {
                "id": encoder.resource.id,
                "object": "response.compaction",
                "created_at": encoder.resource.echo.created_at,
                "output": [*self.kept, item],
                # Clients require this field, even if no model reported usage.
                "usage": encoder.last.get("usage") or counted_usage(Usage()),
            }
        )


class TokenCountConsumer(ResponseConsumer):
    """Serves `POST /v1/responses/input_tokens`, which estimates the input tokens of a request."""

    route = "/v1/responses/input_tokens"
    dialect: Dialect = CountDialect()

    def begin(
        self, asked: ParsedRequest, run: AdmittedRun
    ) -> tuple[Events, Callable[[Events], Awaitable[None]]]:
        return no_events(), partial(self.send_count, cast(ParsedResponse, asked))

    async def send_count(self, asked: ParsedResponse, events: Events) -> None:
        count = text_tokens(*texts_of(asked))
        await self.send_json(200, {"object": "response.input_tokens", "input_tokens": count})


def texts_of(asked: ParsedResponse) -> Iterator[str]:
    yield asked.request.instructions or ""
    for message in asked.messages:
        yield msgspec.json.encode(message).decode()
    for spec in read_tools(asked.request.tools).specs.values():
        yield bytes(spec.written).decode()
