"""Calls that write, each in a separate transaction that is rolled back."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import lxml.html
from asgiref.sync import async_to_sync
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, models, transaction
from django.test import Client, TestCase
from django.test.client import MULTIPART_CONTENT, encode_multipart
from django.urls import resolve

from apps.datetimes import EARLIEST, LATEST
from apps.process_state import reset
from tests.writes import doors
from tests.writes.world import World

WRITING = re.compile(r'\s*(?:INSERT (?:OR IGNORE )?INTO|UPDATE|DELETE FROM) "?(\w+)"?')
UNCOUNTED = {
    "django_session",
    "accounts_auditentry",
    "django_admin_log",
    "usersessions_usersession",
}
"""Tables that a refused request may write."""
BOUNDARY = "BoUnDaRyStRiNg"


@dataclass(frozen=True)
class Write:
    """A request that writes. `path` and texts of `body` are formatted with the world `w`.

    With `page`, the body is that of the page's form, as a browser sends it, with the changes of `body`.
    """

    method: str
    path: str
    changes: type[models.Model] | None
    body: Any = None
    kind: str = "form"
    status: int = 302
    page: str = ""
    user: str = "operator"
    by_key: bool = False
    """True if it is routed before Django and authorized by the operator's key."""
    is_like_another: bool = False
    """True if another call reads the same fields; only that one is tested with odd values."""
    prepare: Callable[[World, Client], Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers, formatted with the world."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_json(self) -> bool:
        return self.kind in ("json", "frames")


@dataclass(frozen=True)
class Outcome:
    """An answer, the exception behind a 500, and the changed tables. `timeless` are the columns
    with times that no page could show."""

    response: Any
    changed: frozenset[str]
    timeless: frozenset[str] = frozenset()

    @property
    def status(self) -> int:
        status: int = self.response.status_code
        return status

    @property
    def words(self) -> str:
        """Return the problem: the exception with its location in this project, or the text of a
        page."""
        if (found := getattr(self.response, "exc_info", None)) is not None:
            places = [one for one in traceback.extract_tb(found[2]) if "/apps/" in one.filename]
            place = places[-1] if places else traceback.extract_tb(found[2])[-1]
            return f"{found[0].__name__}: {found[1]} at {place.filename}:{place.lineno}"
        if self.response.streaming:
            return ""
        context = self.response.context or {}
        for name in ("errors", "form"):
            if name in context and (errors := getattr(context[name], "errors", context[name])):
                return f"{errors!r} {context.get('inline_admin_formsets') and [f.formset.errors for f in context['inline_admin_formsets']]}"
        text = re.sub(
            r"<(script|style|head).*?</\1>|<[^>]+>",
            " ",
            self.response.content.decode(),
            flags=re.DOTALL,
        )
        return " ".join(text.split())[:1500]


def formatted(value: Any, world: World) -> Any:
    """Insert the world into the texts of a body."""
    match value:
        case str():
            return value.format(w=world) if "{w." in value else value
        case dict():
            return {name: formatted(inner, world) for name, inner in value.items()}
        case list():
            return [formatted(inner, world) for inner in value]
        case _:
            return value(world) if callable(value) else value


def browser(world: World, write: Write) -> Client:
    client = Client(raise_request_exception=False, headers={"host": "localhost"})
    if write.user:
        client.cookies["sessionid"] = world.sessions[write.user]
    if write.prepare is not None:
        write.prepare(world, client)
    return client


def body_of(write: Write, world: World) -> Any:
    """Return the valid body of the call."""
    given = formatted(write.body, world)
    if not write.page:
        return given
    values = form_of(browser(world, write), write.page.format(w=world))
    values.update(given or {})
    return {name: value for name, value in values.items() if value is not None}


def form_of(client: Client, address: str) -> dict[str, Any]:
    """Return what a browser would send for the largest form of a page."""
    page = client.get(address)
    assert page.status_code == 200, (address, page.status_code, page.content[:300])
    forms = lxml.html.fromstring(page.content.decode()).forms
    form = max(forms, key=lambda one: len(one.fields))
    values: dict[str, Any] = {}
    for name, value in form.form_values():
        values.setdefault(name, []).append(value)
    return {name: found if len(found) > 1 else found[0] for name, found in values.items()}


def encoded(write: Write, body: Any) -> tuple[bytes, str]:
    """Return the bytes of a body and their type. A `bytes` body is sent unchanged."""
    if body is None:
        return b"", "application/json"
    if write.is_json:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return sent, "application/json"
    if isinstance(body, bytes):
        return body, "application/x-www-form-urlencoded"
    return encode_multipart(BOUNDARY, with_files(body)), MULTIPART_CONTENT


def with_files(body: Mapping[str, Any]) -> dict[str, Any]:
    """Replace files by a name and bytes, because each request uses its files up."""
    return {
        name: SimpleUploadedFile(*value) if isinstance(value, tuple) else value
        for name, value in body.items()
    }


def send(world: World, write: Write, body: Any) -> Outcome:
    """Make the call, record its changes, and roll them back."""
    client = browser(world, write)
    sent, content_type = encoded(write, body)
    touched: set[str] = set()
    around: Any = transaction.atomic()
    around._from_testcase = True  # it is ours, so the request does not count as inside of it
    with around:
        with as_in_autocommit(touched), TestCase.captureOnCommitCallbacks(execute=True):
            response = answer(world, write, client, sent, content_type)
        transaction.set_rollback(False)  # a failed statement outside was rolled back alone
        connection.check_constraints()
        after = digests(touched)
        timeless = timeless_columns(touched)
        transaction.set_rollback(True)
    changed = frozenset(name for name, digest in digests(touched).items() if digest != after[name])
    forget(world)
    return Outcome(response, changed, timeless)


def answer(world: World, write: Write, client: Client, sent: bytes, content_type: str) -> Any:
    address = write.path.format(w=world)
    if write.kind == "frames":
        cookie = f"sessionid={client.cookies['sessionid'].value}"
        return doors.frames(address, json.loads(sent), cookie)
    if write.by_key:
        headers = {
            "api-key": world.written_key,
            "x-api-key": world.webhook_key,
            "content-type": content_type,
            **formatted(dict(write.headers), world),
        }
        return doors.request(write.method, address, sent, headers)
    headers = formatted(dict(write.headers), world)
    response: Any = client.generic(write.method, address, sent, content_type, headers=headers)
    if response.streaming:
        read_stream(response)
    return response


def read_stream(response: Any) -> None:
    async def read() -> None:
        async for _ in response.streaming_content:
            pass

    if response.is_async:
        async_to_sync(read)()
    else:
        for _ in response.streaming_content:
            pass


def forget(world: World) -> None:
    reset()
    world.clear_caches()


def digests(tables: set[str]) -> dict[str, Any]:
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f'SELECT * FROM "{table}"')
            found[table] = sorted(map(repr, cursor.fetchall()))
    return found


def timeless_columns(tables: set[str]) -> frozenset[str]:
    """Return the columns with a time out of range, which breaks every page that lists it."""
    models_of = {model._meta.db_table: model for model in apps.get_models()}
    columns = {
        (model, column)
        for model in (models_of[table] for table in tables & models_of.keys())
        for column in model._meta.concrete_fields
        if isinstance(column, models.DateTimeField)
    }
    return frozenset(
        f"{model._meta.db_table}.{column.name}"
        for model, column in columns
        if model._base_manager.filter(
            models.Q(**{f"{column.name}__lt": EARLIEST})
            | models.Q(**{f"{column.name}__gte": LATEST})
        ).exists()
    )


@contextmanager
def as_in_autocommit(touched: set[str]) -> Iterator[None]:
    """Make statements outside of the request's transactions behave as on a server. Each is a
    separate transaction: it fails alone, and `select_for_update` is refused. The names of written
    tables are added to `touched`."""
    outside = len(connection.savepoint_ids)

    def is_outside() -> bool:
        return len(connection.savepoint_ids) == outside

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if found := WRITING.match(sql):
            touched.add(found[1])
        is_alone = is_outside() and connection.vendor == "postgresql"  # always the case in SQLite
        if not is_alone or "SAVEPOINT" in sql[:25]:
            return run(sql, params, many, context)
        with transaction.atomic():
            return run(sql, params, many, context)

    with (
        connection.execute_wrapper(execute),
        mock.patch.object(connection, "get_autocommit", is_outside),
        mock.patch.object(connection, "_savepoint_allowed", return_value=True),
    ):
        yield


def route_of(write: Write, world: World) -> str:
    if write.by_key:
        return doors.route_of(write.path.format(w=world).partition("?")[0])
    return str(resolve(write.path.format(w=world).partition("?")[0].partition("#")[0]).route)
