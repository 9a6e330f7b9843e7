"""A client of the protocol that calls the door's consumers directly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from channels.db import database_sync_to_async
from channels.routing import URLRouter
from django.urls import URLPattern, re_path

from apps.a2a import routing
from apps.accounts.authentication import settle_uses
from apps.accounts.models import ApiKey
from apps.live.hub import HUB
from tests.chat.scripts import Scene, scene
from tests.gateway.scripts import PATIENCE, Client

VERSION = {"a2a-version": "1.0"}


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: Any


class Agent:
    """A client with a key, at the address of the scene's application."""

    def __init__(self, on: Scene, key: str) -> None:
        self.on, self.key = on, key

    @property
    def routes(self) -> Any:
        options = {"hub": self.on.hub, "open_workspace": self.on.visitor.open_workspace}
        return URLRouter([rerouted(one, options) for one in routing.urlpatterns])

    def client(self, path: str, method: str = "POST", **headers: str) -> Client:
        given = {"api-key": self.key, **VERSION, **headers}
        sent = {name: value for name, value in given.items() if value}
        path, _, query = path.partition("?")
        address = f"/a2a/{self.on.application.slug}{path}"
        return Client(self.routes, address, method=method, headers=sent, query=query)

    async def http(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        client = self.client(path, method, **headers)
        sent = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        await client.send(sent)
        answer = await client.read()
        try:
            told = json.loads(answer.body) if answer.body else None
        except ValueError:
            told = answer.body.decode()
        return Reply(answer.status, dict(answer.headers), told)

    async def call(self, method: str, params: Any = None, **headers: str) -> Any:
        """Return the result of an operation, or its error."""
        call = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        reply = await self.http("POST", "", call, **headers)
        assert reply.body["id"] == 7
        return reply.body.get("result") or reply.body["error"]

    async def stream(self, method: str, params: Any) -> list[dict[str, Any]]:
        call = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        reply = await self.http("POST", "", call)
        return [json.loads(line)["result"] for line in events_of(reply.body)]

    async def subscribe(self, id: str) -> Subscription:
        client = self.client(f"/tasks/{id}:subscribe", "GET")
        await client.send()
        head = await client.communicator.receive_output(PATIENCE)
        assert head["status"] == 200
        [first] = events_of((await client.communicator.receive_output(PATIENCE))["body"].decode())
        return Subscription(client, json.loads(first)["task"])


@dataclass
class Subscription:
    """A stream of a task's updates that began with the `task`."""

    client: Client
    task: dict[str, Any]

    async def rest(self) -> list[dict[str, Any]]:
        """Return the updates up to the end of the stream."""
        body, has_more = "", True
        while has_more:
            piece = await self.client.communicator.receive_output(PATIENCE)
            body, has_more = body + piece["body"].decode(), bool(piece.get("more_body"))
        await self.client.is_over()
        return [json.loads(event) for event in events_of(body)]


def events_of(body: str) -> list[str]:
    return [line.removeprefix("data: ") for line in body.split("\n\n") if line.startswith("data:")]


def rerouted(pattern: URLPattern, options: dict[str, Any]) -> URLPattern:
    """Return the route with the hub and the models of a scene."""
    consumer: Any = pattern.callback
    route: URLPattern = re_path(
        pattern.pattern.regex.pattern, consumer.consumer_class.as_asgi(**options)
    )
    return route


def message(text: str, **fields: Any) -> dict[str, Any]:
    parts = fields.pop("parts", [{"text": text}])
    return {"messageId": str(uuid4()), "role": "ROLE_USER", "parts": parts, **fields}


@asynccontextmanager
async def agent_scene(**fields: Any) -> AsyncIterator[tuple[Scene, Agent]]:
    async with scene(**fields) as on:
        yield on, await agent_with_key(on)
        await settle_uses()
        await HUB.summaries.close()  # where refused requests are noted
        await asyncio.sleep(0)  # where canceled listeners of requests end


async def agent_with_key(on: Scene) -> Agent:
    _, key = await database_sync_to_async(ApiKey.objects.create_key)(name="agent")
    return Agent(on, key)


def state_of(task: dict[str, Any]) -> str:
    return str(task["status"]["state"])
