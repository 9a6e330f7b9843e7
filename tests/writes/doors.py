"""The consumers that are routed before Django, and the page's socket, with their own hub."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import Any

from asgiref.sync import async_to_sync
from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.urls import URLPattern, path

from apps.a2a import routing as a2a
from apps.ag_ui import routing as ag_ui
from apps.chat.socket.consumer import ChatConsumer
from apps.chat.widget.consumer import WidgetConsumer
from apps.gateway import routing as gateway
from apps.live.hub import Hub
from apps.mcp_server import routing as mcp_server
from apps.messages import routing as messages
from apps.responses import routing as responses
from apps.runs.workspaces import open_workspace
from apps.task_api import routing as task_api
from apps.triggers import routing as triggers
from tests.chat.scripts import PATIENCE, settled
from tests.gateway.scripts import Client

ROUTES: list[URLPattern] = [
    *task_api.urlpatterns,
    *triggers.urlpatterns,
    *messages.urlpatterns,
    *mcp_server.urlpatterns,
    *a2a.urlpatterns,
    *ag_ui.urlpatterns,
    *responses.urlpatterns,
    *gateway.completion_urlpatterns,
    *gateway.urlpatterns,
]


@dataclass(frozen=True)
class Reply:
    """The part of an answer that `Outcome` checks."""

    status_code: int
    content: bytes
    streaming: bool = False
    context: Any = None
    exc_info: Any = None


def route_of(address: str) -> str:
    return next(str(one.pattern) for one in ROUTES if one.pattern.match(address.removeprefix("/")))


def consumer_of(application: Any) -> Any:
    """Return the consumer inside a stack of middleware."""
    while not hasattr(application, "consumer_class"):
        application = application.inner
    return application.consumer_class


def with_hub(hub: Hub) -> URLRouter:
    return URLRouter([anew(route, hub) for route in ROUTES])


def anew(route: URLPattern, hub: Hub) -> URLPattern:
    kind = consumer_of(route.callback)
    given = {
        "hub": hub,
        "recorded": hub.summaries.recorded,
        "keep": hub.summaries.queue_call,
        "open_workspace": open_workspace,
        "slots": hub.slots,
    }
    taken = inspect.signature(kind.__init__).parameters
    made = kind.as_asgi(**{name: value for name, value in given.items() if name in taken})
    return URLPattern(route.pattern, AuthMiddlewareStack(made))


def request(method: str, address: str, body: bytes, headers: dict[str, str]) -> Reply:
    async def exchange() -> Reply:
        hub = Hub()
        client = Client(with_hub(hub), address, method=method, headers=headers)
        await client.send(body)
        answer = await client.read()
        await settled(hub)
        return Reply(answer.status, answer.body)

    return async_to_sync(exchange)()


def frames(address: str, sent: list[Any], cookie: str) -> Reply:
    """Send frames over a new socket. The status is that of an answer: 400 for a refusal."""

    async def exchange() -> Reply:
        hub = Hub()
        sockets = [
            path("ws/chat/<slug:slug>/", ChatConsumer.as_asgi(hub=hub)),
            path("ws/widget/<slug:slug>/", WidgetConsumer.as_asgi(hub=hub)),
        ]
        headers = [(b"cookie", cookie.encode()), (b"host", b"localhost")]
        tab = WebsocketCommunicator(AuthMiddlewareStack(URLRouter(sockets)), address, headers)
        assert (await tab.connect(PATIENCE))[0]
        for one in sent:
            await tab.send_to(text_data=one if isinstance(one, str) else json.dumps(one))
        await tab.send_to(bytes_data=b"end")  # is refused once the others are done
        told: list[dict[str, Any]] = []
        while not told or "binary" not in told[-1].get("text", ""):
            output = await tab.receive_output(PATIENCE)
            if output["type"] == "websocket.close":  # The first frame had no valid token.
                told.append({"type": "closed"})
                break
            told.append(json.loads(output["text"]))
        await tab.disconnect(timeout=PATIENCE)
        await settled(hub)
        errors = [one for one in told[:-1] if one["type"] == "error"]
        failed = any(one["code"] == "internal_error" for one in errors)
        status = 500 if failed else 400 if errors else 200
        return Reply(status, json.dumps(errors or told[-1:]).encode())

    return async_to_sync(exchange)()
