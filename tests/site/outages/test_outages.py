"""While the database is down or the disk is full, each door answers 503 in its own format."""

from __future__ import annotations

import asyncio
import errno
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import psycopg_pool
import pytest
from asgiref.testing import ApplicationCommunicator
from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.contrib.sessions.backends.db import SessionStore
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DataError, InterfaceError, OperationalError
from django.test import Client
from django.urls import path

from apps.chat.routing import websocket_urlpatterns
from apps.chat.socket import sessions
from apps.conversations.files import folder
from apps.doors.answer_headers import failure_headers
from apps.gateway.base import error_body
from apps.outages import BUSY, DATABASE, STORAGE, outage_of
from apps.runs.failures import failure
from apps.task_api.tasks import SubmitConsumer
from apps.triggers.webhooks import intake
from apps.triggers.webhooks.consumer import WebhookConsumer
from apps.workspace.local import installation
from apps.workspace.local.files import files
from apps.workspace.local.files.directory_storage import MARKER
from apps.workspace.local.files.paths import write_path
from apps.workspace.local.files.storage import storage as storage_of_files
from quickapps_site.middleware.bodies import body_limits, with_bounded_bodies
from quickapps_site.middleware.handshakes import with_outage_responses
from tests.catalog.rows import make_application
from tests.tables import each_row

DOWN = OperationalError("connection refused")
LATE = OperationalError("canceling statement due to lock timeout")
LATE.__cause__ = psycopg.errors.LockNotAvailable()
FULL = OSError(errno.ENOSPC, "No space left on device")


def failing(error: Exception) -> Callable[..., Any]:
    def fail(*arguments: Any, **named: Any) -> Any:
        raise error

    return fail


async def answer(application: Any, address: str, accept: bytes = b"*/*") -> tuple[int, Any, Any]:
    scope = {"type": "http", "method": "POST", "path": address, "query_string": b"", "client": None}
    headers = [(b"host", b"localhost"), (b"accept", accept), (b"api-key", b"a.b")]
    exchange = ApplicationCommunicator(application, {**scope, "headers": headers})
    await exchange.send_input({"type": "http.request", "body": b"{}"})
    head = await exchange.receive_output(60)
    body = await exchange.receive_output(60)
    await exchange.wait(60)
    await asyncio.sleep(0)  # the listener for a disconnect ends now
    return head["status"], dict(head["headers"]), body["body"]


@each_row(
    ("error", "expected"),
    [
        (DOWN, DATABASE),
        (InterfaceError("closed"), DATABASE),
        (FULL, STORAGE),
        (OSError(errno.EDQUOT, "quota"), STORAGE),
        (OSError(errno.EROFS, "read-only", "/mnt/a"), STORAGE),
        (OSError(errno.EIO, "broken"), STORAGE),
        (FileNotFoundError(errno.ENOENT, "gone"), None),
        (PermissionError(errno.EACCES, "denied", "/usr/bin/git"), None),
        (PermissionError(errno.EACCES, "denied"), None),
        (DataError("NUL"), None),
        (None, None),
    ],
)
def test_an_outage_is_told_from_a_fault(error: Exception | None, expected: Any):
    assert outage_of(error) is expected


def full_sqlite() -> sqlite3.OperationalError:
    """Return the error of a database that cannot grow."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError, match="full") as refused:
            database.execute("CREATE TABLE note (text)")
    return refused.value


@each_row("cause", [full_sqlite(), psycopg.errors.DiskFull("could not extend file")])
def test_a_database_whose_disk_is_full_is_told_as_such(cause: Exception):
    error = OperationalError(*cause.args)
    error.__cause__ = cause

    assert outage_of(error) is STORAGE


def locked_sqlite() -> sqlite3.OperationalError:
    """Return the error of a database in which another connection writes."""
    address = f"file:{uuid4()}?mode=memory&cache=shared"
    with (
        closing(sqlite3.connect(address, uri=True)) as writer,
        closing(sqlite3.connect(address, uri=True, timeout=0)) as other,
    ):
        writer.execute("CREATE TABLE note (text)")
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked") as refused:
            other.execute("BEGIN IMMEDIATE")
    return refused.value


@each_row(
    "cause",
    [
        locked_sqlite(),
        psycopg.errors.LockNotAvailable("canceling statement due to lock timeout"),
        psycopg.errors.QueryCanceled("canceling statement due to statement timeout"),
        psycopg.errors.DeadlockDetected("deadlock detected"),
        psycopg.errors.TooManyConnections("sorry, too many clients already"),
        psycopg_pool.PoolTimeout("couldn't get a connection after 10.00 sec"),
    ],
)
def test_a_database_that_responds_too_late_is_busy_and_not_unreachable(cause: Exception):
    error = OperationalError(*cause.args)
    error.__cause__ = cause

    assert outage_of(error) is BUSY
    assert "busy" in BUSY.text


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
def test_a_folder_of_files_without_rights_is_an_outage(number: int, storage: Path):
    assert outage_of(OSError(number, "denied", str(storage / "ab"))) is STORAGE


@pytest.mark.django_db
@each_row(("error", "outage"), [(DOWN, DATABASE), (LATE, BUSY), (FULL, STORAGE)])
async def test_programs_are_answered_in_json(error: Exception, outage: Any):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "find_webhook", failing(error))
        patch.setattr(SubmitConsumer, "caller", failing(error))
        routes = [
            path("hooks/<uuid:uuid>", WebhookConsumer.as_asgi()),
            path("SubmitMessage", SubmitConsumer.as_asgi()),
        ]
        answers = [
            await answer(URLRouter(routes), address)
            for address in (f"/hooks/{uuid4()}", "/SubmitMessage")
        ]

    for status, headers, body in answers:
        assert (status, headers[b"retry-after"]) == (503, b"1")
        assert json.loads(body) == {"error": {"message": outage.text, "code": outage.code}}


def test_the_gateway_answers_in_the_form_of_openai():
    found = failure(FULL)

    assert (found.status, error_body(found)["error"]["code"], failure_headers(found, FULL)) == (
        503,
        STORAGE.code,
        ((b"retry-after", b"1"),),
    )


@each_row(
    ("address", "accept", "expected"),
    [
        ("/hooks/1", b"*/*", {"error": {"message": DATABASE.text, "code": DATABASE.code}}),
        ("/api/prices/", b"*/*", {"detail": DATABASE.text}),
        ("/v1/configuration-support/skills", b"*/*", {"detail": DATABASE.text}),
        ("/chat/", b"text/html", None),
    ],
)
async def test_an_outage_before_the_door_is_answered_too(
    address: str, accept: bytes, expected: dict[str, Any] | None
):
    async def application(scope: Any, receive: Any, send: Any) -> None:
        raise DOWN  # like an unreadable session of the request

    bounded = with_bounded_bodies(application, body_limits([("", 100)]), 5)
    status, headers, body = await answer(bounded, address, accept)

    assert (status, headers[b"retry-after"]) == (503, b"1")
    assert json.loads(body) == expected if expected else b"<h1>Temporarily unavailable" in body


async def handshake(cookie: str = "", *, can_deny: bool = True) -> list[Any]:
    """Return the server's answer to the handshake of the chat page's WebSocket."""
    sockets = with_outage_responses(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
    headers = [(b"cookie", cookie.encode())] if cookie else []
    socket = WebsocketCommunicator(sockets, "/ws/chat/travel/", headers)
    socket.scope["extensions"] = {"websocket.http.response": {}} if can_deny else {}
    await socket.send_input({"type": "websocket.connect"})
    answers = [await socket.receive_output(60)]
    if can_deny:
        answers.append(await socket.receive_output(60))
    await socket.wait(60)
    return answers


@pytest.mark.django_db
@each_row(("error", "outage"), [(DOWN, DATABASE), (LATE, BUSY), (FULL, STORAGE)])
async def test_the_socket_of_a_new_visitor_is_answered_as_a_page(error: Exception, outage: Any):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "begin_session", failing(error))
        start, body = await handshake()
        [closed] = await handshake(can_deny=False)

    assert (start["type"], start["status"]) == ("websocket.http.response.start", 503)
    assert dict(start["headers"])[b"retry-after"] == b"1"
    assert body["type"] == "websocket.http.response.body"
    assert json.loads(body["body"]) == {"error": {"message": outage.text, "code": outage.code}}
    assert closed == {"type": "websocket.close", "code": 1013}


@pytest.mark.django_db
async def test_a_socket_whose_session_cannot_be_read_is_answered_too():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SessionStore, "load", failing(DOWN))
        start, _ = await handshake("sessionid=abcdefgh")

    assert start["status"] == 503


async def test_other_errors_of_a_socket_and_outages_after_its_handshake_are_raised():
    async def fault(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError("a fault")

    async def late(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        raise DOWN

    async def send(message: Any) -> None:
        sent.append(message)

    sent: list[Any] = []
    for application, error in ((fault, ValueError), (late, OperationalError)):
        with pytest.raises(error):
            await with_outage_responses(application)({"type": "websocket"}, None, send)

    assert sent == [{"type": "websocket.accept"}]


@pytest.mark.django_db
@each_row(("error", "outage"), [(DOWN, DATABASE), (LATE, BUSY), (FULL, STORAGE)])
def test_an_upload_is_answered_in_json(error: Exception, outage: Any):
    application = make_application(slug=f"travel-{outage.code}".replace("_", "-"), is_public=True)
    client = Client(raise_request_exception=False)
    form = {"conversation": str(uuid4()), "file": SimpleUploadedFile("a.txt", b"a")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "store_upload", failing(error))
        found = client.post(f"/chat/{application.slug}/files/", form)

    assert (found.status_code, found.headers["Retry-After"]) == (503, "1")
    assert found.json() == {"error": {"message": outage.text, "code": outage.code}}


class CutFile(ContentFile[bytes]):
    """Simulates a full disk in the middle of writing."""

    reads = 0

    def chunks(self, chunk_size: int | None = None) -> Any:
        yield b"half"
        self.reads += 1
        if self.reads > 1:
            raise FULL
        yield b"half"


@pytest.mark.django_db
def test_a_refused_upload_leaves_no_file(storage: Path):
    with pytest.raises(OSError, match="No space left"):
        files.take("user-1", "a.txt", CutFile(b"halfhalf"), "text/plain", files.Condition())

    assert [found for found in storage.rglob("*") if found.is_file()] == []


@pytest.fixture(params=["deleted", "unmounted", "replaced"])
def lost_storage(request: Any, storage: Path, settings: Any) -> Path:
    """The folder of stored files, which is no longer the one that this process began with."""
    root: Path = storage / "files"
    settings.MEDIA_ROOT = root
    assert installation.register_process() == []
    files.keep("user-1", "a.txt", b"a", "text/plain")
    shutil.rmtree(root)
    if request.param != "deleted":
        root.mkdir()
    if request.param == "replaced":
        (root / MARKER).write_text("another")
    return root


@pytest.mark.django_db
def test_a_lost_folder_of_files_is_an_outage_and_is_not_written_to(lost_storage: Path):
    path = write_path("user-1", "a.txt")
    known = [*lost_storage.rglob("*")]

    for act in (
        lambda: files.read("user-1", path),
        lambda: files.keep("user-1", "b.txt", b"b", "text/plain"),
        lambda: list(storage_of_files().entries()),
        lambda: storage_of_files().exists("ab/missing"),
    ):
        with pytest.raises(OSError, match="not the folder of the installation's files") as failed:
            act()
        assert outage_of(failed.value) is STORAGE

    assert [*lost_storage.rglob("*")] == known
    assert "installation.id" in installation.files_problem()
