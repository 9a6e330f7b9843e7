"""A browser without an account gets a session with its first write, not with reads."""

from __future__ import annotations

from http.cookies import SimpleCookie
from typing import Any

import pytest
from channels.auth import AuthMiddlewareStack
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from apps.chat.routing import websocket_urlpatterns
from tests.chat.pages.test_views import add_application
from tests.tables import each_row

PATIENCE = 60


@pytest.mark.django_db
@each_row(
    "path",
    [
        "/",
        "/?q=How&app={slug}",
        "/chat/{slug}/",
        "/chat/{slug}/?q=How+warm%3F",
        "/chat/{slug}/page/",
        "/chat/{slug}/composer/",
        "/conversations/",
        "/conversations/search/?q=x",
        "/find/?q=x",
        "/connections/",
        "/settings/",
        "/settings/data/",
        "/approvals/",
        "/manifest.webmanifest",
        "/offline/",
        "/accounts/login/",
        "/accounts/signup/",
        "/accounts/password/reset/",
        "/admin/login/",
        "/shared/none/",
        "/there-is/none/",
    ],
)
def test_pages_that_a_crawler_reads_begin_no_session(path: str) -> None:
    application = add_application()
    address = path.format(slug=application.slug)

    read = Client(headers={"user-agent": "Bot/1"}).get(address)
    looked = Client(headers={"user-agent": "Bot/1"}).head(address)

    assert read.status_code < 500
    assert "sessionid" not in {**read.cookies, **looked.cookies}
    assert Session.objects.count() == 0


@pytest.mark.django_db
def test_the_first_write_begins_the_only_session() -> None:
    application, client = add_application(), Client()
    client.get(f"/chat/{application.slug}/")

    client.post(f"/chat/{application.slug}/pin/", {"pinned": "true"})
    client.get(f"/chat/{application.slug}/")

    assert Session.objects.count() == 1
    assert client.session["visitor"].startswith("session-")


async def opened(slug: str, cookie: str = "") -> tuple[WebsocketCommunicator, str]:
    """Return the socket of a browser with that cookie, and the cookie that it receives."""
    headers = [(b"cookie", cookie.encode())] if cookie else []
    routes = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
    socket = WebsocketCommunicator(routes, f"/ws/chat/{slug}/", headers)
    socket.scope["headers"] = headers
    await socket.send_input({"type": "websocket.connect"})
    accepted = await socket.receive_output(PATIENCE)
    told: Any = SimpleCookie()
    for name, value in accepted.get("headers", ()):
        assert name == b"set-cookie"
        told.load(value.decode())
    return socket, f"sessionid={told['sessionid'].value}" if told else ""


async def left(socket: WebsocketCommunicator) -> None:
    await socket.disconnect(code=1000, timeout=PATIENCE)


@pytest.mark.django_db(transaction=True)
async def test_the_socket_of_a_page_begins_the_session_that_later_requests_have() -> None:
    application = await database_sync_to_async(add_application)()

    first, cookie = await opened(application.slug)
    second, again = await opened(application.slug, cookie)
    await left(first)
    await left(second)

    def read() -> tuple[int, str]:
        client = Client()
        client.cookies["sessionid"] = cookie.partition("=")[2]
        client.get(f"/chat/{application.slug}/")
        return Session.objects.count(), client.session["visitor"]

    count, bucket = await database_sync_to_async(read)()
    assert (count, again) == (1, "")
    assert bucket.startswith("session-")


@pytest.mark.django_db(transaction=True)
async def test_a_socket_whose_session_has_ended_is_refused_and_a_reload_helps() -> None:
    application = await database_sync_to_async(add_application)()

    socket, cookie = await opened(application.slug, "sessionid=gone")
    refusal, closed = [await socket.receive_output(PATIENCE) for _ in range(2)]

    def reload() -> Any:
        client = Client()
        client.cookies["sessionid"] = "gone"
        return client.get(f"/chat/{application.slug}/").cookies["sessionid"]["max-age"]

    deleted = await database_sync_to_async(reload)()
    assert ('"no_session"' in refusal["text"], cookie) == (True, "")
    assert closed == {"type": "websocket.close", "code": 4401}
    assert deleted == 0


@pytest.mark.django_db(transaction=True)
async def test_the_socket_of_somebody_with_an_account_begins_none() -> None:
    application = await database_sync_to_async(add_application)()

    def sign_in() -> str:
        client = Client()
        client.force_login(User.objects.create_user("ada"))
        return f"sessionid={client.cookies['sessionid'].value}"

    socket, cookie = await opened(application.slug, await database_sync_to_async(sign_in)())
    await left(socket)

    assert (cookie, await Session.objects.acount()) == ("", 1)
