"""Serves Anthropic's Messages API: messages, token counts and the list of models."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.conf import settings

from apps import tracing
from apps.accounts.authentication import authenticate
from apps.agent.context.token_estimates import text_tokens
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.doors.admission import visit
from apps.doors.bodies import invalid
from apps.doors.consumer import DoorConsumer
from apps.doors.dialect import Dialect
from apps.doors.refusals import Header
from apps.doors.run_consumer import RunConsumer
from apps.messages.content import read_messages
from apps.messages.dialect import MessagesDialect, error_body
from apps.messages.requests import CountRequest, read_count_request
from apps.messages.tools import read_tools
from apps.runs.failures import RunFailure


class MessageConsumer(RunConsumer):
    """Serves `POST /v1/messages`: runs the application and returns a message."""

    route = "/v1/messages"
    dialect: Dialect = MessagesDialect()
    spent_budget_status = 403

    async def start(self, status: int, headers: Iterable[Header]) -> None:
        await super().start(status, with_request_id(headers))


class MessagesConsumer(DoorConsumer):
    """The base class of the endpoints that do not run an application."""

    async def start(self, status: int, headers: Iterable[Header]) -> None:
        await super().start(status, with_request_id(headers))

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return error_body(found)


def with_request_id(headers: Iterable[Header]) -> list[Header]:
    return [*headers, (b"request-id", tracing.request_id().encode())]


class CountConsumer(MessagesConsumer):
    """Serves `POST /v1/messages/count_tokens`, which estimates the input tokens of a request."""

    methods = ("POST",)

    async def answer(self) -> None:
        visitor = await visit(self.scope, self.while_connected)
        body = await self.read_body(settings.GATEWAY_MAX_BODY_BYTES)
        request = read_count_request(body)
        if not request.model:
            raise invalid("model", "Send the slug of an application.")
        await visitor.find(request.model)
        await self.send_json(200, {"input_tokens": text_tokens(*texts_of(request))})


def texts_of(request: CountRequest) -> Iterator[str]:
    for message in read_messages(request):
        yield msgspec.json.encode(message).decode()
    for spec in read_tools(request.tools).specs.values():
        yield bytes(spec.written).decode()


class ModelsConsumer(MessagesConsumer):
    """Serves `GET /v1/models` to Anthropic's clients. The response lists the applications that the
    key can use.
    """

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        rows = usable(caller).defer("manifest")
        entries = [listed(row) async for row in rows]
        await self.send_json(
            200,
            {
                "data": entries,
                "has_more": False,
                "first_id": entries[0]["id"] if entries else None,
                "last_id": entries[-1]["id"] if entries else None,
            },
        )


def listed(row: Application) -> dict[str, Any]:
    created = datetime.fromtimestamp(row.created_at.timestamp(), UTC)
    return {
        "type": "model",
        "id": row.slug,
        "display_name": row.title,
        "created_at": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
