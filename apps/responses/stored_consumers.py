"""Serves the endpoints that read, resume, cancel and delete stored responses."""

from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from django.conf import settings

from apps.accounts.authentication import authenticate
from apps.accounts.caller import Caller
from apps.conversations.answering.continuation import sweeper
from apps.conversations.asking import interruptions
from apps.doors.bodies import invalid
from apps.doors.consumer import DoorConsumer
from apps.integers import LARGEST_EXACT, read_integer
from apps.live.hub import HUB, Hub
from apps.live.models import Run
from apps.responses.dialect import error_body
from apps.responses.following import follow_response, send_events
from apps.responses.models import StoredResponse
from apps.responses.storage import delete_response, find_response, read_resource, replay_of
from apps.runs.failures import RunFailure

LISTED = 20
MOST_LISTED = 100
BOOLEANS = {"true": True, "false": False}


class StoredConsumer(DoorConsumer):
    """The base class of the endpoints for a stored response."""

    def __init__(self, hub: Hub = HUB) -> None:
        super().__init__()
        self.hub = hub

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        return error_body(found)

    @property
    def id(self) -> str:
        return str(self.scope["url_route"]["kwargs"]["response"])

    async def find(self, caller: Caller) -> StoredResponse:
        """Return the response named in the URL. Raises `ResponseNotFound` if the caller has no such
        response.
        """
        found: StoredResponse = await database_sync_to_async(find_response)(caller, self.id)
        return found

    def query(self) -> dict[str, str]:
        """Return the query parameters, each with its last value. Raises `BadRequest` if the query
        string is invalid.
        """
        try:
            found = parse_qs(self.scope["query_string"].decode(), keep_blank_values=True)
        except ValueError:
            raise invalid("", "The query cannot be parsed.") from None
        return {name: values[-1] for name, values in found.items()}

    async def send_resource(self, stored: StoredResponse) -> None:
        await self.send_json(200, await database_sync_to_async(read_resource)(stored))


class StoredResponseConsumer(StoredConsumer):
    """Serves `GET` and `DELETE /v1/responses/{id}`.

    `?stream=true&starting_after=` resumes a stream.
    """

    methods = ("GET", "HEAD", "DELETE")

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        await self.read_body(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        if self.scope["method"] == "DELETE":
            deleted = await database_sync_to_async(delete_response)(caller, self.id)
            await self.send_json(200, {"id": deleted, "object": "response", "deleted": True})
            return
        query = self.query()
        is_streamed, after = read_flag(query, "stream"), read_position(query)
        stored = await self.find(caller)
        if is_streamed:
            await self.send_stream(caller, stored, after)
            return
        if stored.run.status in Run.GOING:
            await sweeper(self.hub).sweep(stored.run.stream)
            stored = await self.find(caller)
        await self.send_resource(stored)

    async def send_stream(self, caller: Caller, stored: StoredResponse, after: int) -> None:
        if not stored.is_background:
            raise invalid("stream", "Only background responses can be streamed again.")
        await send_events(self, caller, self.hub, stored, after)


class ResponseCancelConsumer(StoredConsumer):
    """Serves `POST /v1/responses/{id}/cancel`, which stops a background response and returns it."""

    methods = ("POST",)
    finishes_answers = True

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        await self.read_body(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        stored = await self.find(caller)
        if not stored.is_background:
            raise invalid("", "Only background responses can be canceled.")
        if stored.run.status in Run.OPEN:
            await interruptions.interrupt(self.hub, stored.run.stream)
            await sweeper(self.hub).sweep(stored.run.stream)
            async for _ in follow_response(self.hub, stored.run, replay_of(stored)):
                pass
            stored = await self.find(caller)
        await self.send_resource(stored)


class InputItemsConsumer(StoredConsumer):
    """Serves `GET /v1/responses/{id}/input_items?after=&limit=&order=`, which lists the items of
    the request's input.
    """

    async def answer(self) -> None:
        caller = await authenticate(self.scope)
        await self.read_body(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        query = self.query()
        limit = read_integer(query.get("limit", str(LISTED)), MOST_LISTED)
        if not limit:
            raise invalid("limit", f"Use a number from 1 to {MOST_LISTED}.")
        order = query.get("order", "desc")
        if order not in ("asc", "desc"):
            raise invalid("order", "Use 'asc' or 'desc'.")
        items = (await self.find(caller)).input
        items = items if order == "asc" else items[::-1]
        ids = [item["id"] for item in items]
        begin = 0
        if (after := query.get("after")) is not None:
            if after not in ids:
                raise invalid("after", "Use the ID of an item in this list.")
            begin = ids.index(after) + 1
        page = items[begin : begin + limit]
        await self.send_json(
            200,
            {
                "object": "list",
                "data": page,
                "first_id": page[0]["id"] if page else None,
                "last_id": page[-1]["id"] if page else None,
                "has_more": begin + limit < len(items),
            },
        )


def read_flag(query: dict[str, str], name: str) -> bool:
    """Return a Boolean query parameter (False by default). Raises `BadRequest` if it is invalid."""
    written = query.get(name, "false").lower()
    if written not in BOOLEANS:
        raise invalid(name, "Use 'true' or 'false'.")
    return BOOLEANS[written]


def read_position(query: dict[str, str]) -> int:
    """Return the sequence number after which to resume the stream, or -1 for the beginning. Raises
    `BadRequest` if `starting_after` is invalid.
    """
    written = query.get("starting_after")
    if written is None:
        return -1
    number = read_integer(written, LARGEST_EXACT)
    if number is None:
        raise invalid("starting_after", "Use the sequence number of an event.")
    return number
