"""A NUL character in an address or a form is refused before it reaches the database."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.test import Client

from quickapps_site.middleware.nul import with_clean_addresses
from tests.tables import each_row

ADDRESS = "The URL has a NUL character (%00). Remove it."
FORM = "username has a NUL character. Remove it."
LOGIN = "/accounts/login/"


async def reached(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def answer(path: str, query: bytes = b"", accept: bytes = b"*/*") -> tuple[int, bytes]:
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query}
    asked = ApplicationCommunicator(
        with_clean_addresses(reached), {**scope, "headers": [(b"accept", accept)]}
    )
    start = await asked.receive_output(60)
    body = await asked.receive_output(60)
    return start["status"], body["body"]


@each_row(
    ("path", "query", "status"),
    [
        ("/v1/models/a", b"q=b", 204),
        ("/v1/models/a%00", b"q=%2500", 204),
        ("/v1/models/a\0", b"", 400),
        ("/", b"q=a%00b", 400),
    ],
)
async def test_an_address_with_a_nul_reaches_nothing(path: str, query: bytes, status: int):
    assert (await answer(path, query))[0] == status


@each_row(
    ("path", "expected"),
    [
        ("/v1/models/\0", {"error": {"message": ADDRESS, "code": "invalid_character"}}),
        ("/hooks/\0", {"error": {"message": ADDRESS, "code": "invalid_character"}}),
        ("/api/IAIAssistantApi/\0", {"error": {"message": ADDRESS, "code": "invalid_character"}}),
        ("/api/content/\0", {"detail": ADDRESS}),
    ],
)
async def test_programs_read_the_refusal_of_their_door(path: str, expected: dict[str, Any]):
    _, body = await answer(path)

    assert json.loads(body) == expected


async def test_people_read_a_page():
    _, page = await answer("/apps/\0", accept=b"text/html,*/*")

    assert b"<h1>" in page
    assert ADDRESS.encode() in page


async def test_a_websocket_is_closed():
    scope = {"type": "websocket", "path": "/chat/\0", "query_string": b""}
    asked = ApplicationCommunicator(with_clean_addresses(reached), scope)

    assert await asked.receive_output(60) == {"type": "websocket.close", "code": 4400}


@pytest.mark.django_db
@each_row(
    "form",
    [
        {"data": b"username=a%00b&password=x", "content_type": "application/x-www-form-urlencoded"},
        {"data": b"username=%ff%00", "content_type": "application/x-www-form-urlencoded"},
        {"data": {"username": "a\0b", "password": "x"}},
    ],
)
def test_a_form_with_a_nul_is_refused_with_the_name_of_its_field(form: dict[str, Any]):
    client = Client()

    script, page = (
        client.post(LOGIN, **form, headers={"accept": kind}) for kind in ("*/*", "text/html")
    )

    assert (script.status_code, page.status_code) == (400, 400)
    assert script.json() == {"error": {"message": FORM, "code": "invalid_character"}}
    assert FORM in page.text
