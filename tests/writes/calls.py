"""Calls that write, each made in a transaction of its own that is rolled back afterwards."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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
from tests.conftest import forget_rolled_back_rows
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
    """It is routed before Django, and has the key of the operator."""
    is_like_another: bool = False
    """Another call reads the same fields, so odd values are tried with that one alone."""
    prepare: Callable[[World, Client], Any] | None = None

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_json(self) -> bool:
        return self.kind in ("json", "frames")


@dataclass(frozen=True)
class Outcome:
    """An answer, the exception behind a 500, and the tables whose rows are not as before.

    `timeless` are the columns with times that no page could show.
    """

    response: Any
    changed: frozenset[str]
    timeless: frozenset[str] = frozenset()

    @property
    def status(self) -> int:
        status: int = self.response.status_code
        return status

    @property
    def words(self) -> str:
        """What went wrong: the exception with its place in this project, or what a page says."""
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
    """Fill the world into the texts of a body."""
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
    """The valid body of the call."""
    given = formatted(write.body, world)
    if not write.page:
        return given
    values = form_of(browser(world, write), write.page.format(w=world))
    values.update(given or {})
    return {name: value for name, value in values.items() if value is not None}


def form_of(client: Client, address: str) -> dict[str, Any]:
    """What a browser would send of the largest form of a page."""
    page = client.get(address)
    assert page.status_code == 200, (address, page.status_code, page.content[:300])
    forms = lxml.html.fromstring(page.content.decode()).forms
    form = max(forms, key=lambda one: len(one.fields))
    values: dict[str, Any] = {}
    for name, value in form.form_values():
        values.setdefault(name, []).append(value)
    return {name: found if len(found) > 1 else found[0] for name, found in values.items()}


def encoded(write: Write, body: Any) -> tuple[bytes, str]:
    """The bytes of a body and their type; a `bytes` body is sent as it is."""
    if body is None:
        return b"", "application/json"
    if write.is_json:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return sent, "application/json"
    if isinstance(body, bytes):
        return body, "application/x-www-form-urlencoded"
    return encode_multipart(BOUNDARY, with_files(body)), MULTIPART_CONTENT


def with_files(body: Mapping[str, Any]) -> dict[str, Any]:
    """Files are used up by each request, so a body has them as a name and bytes."""
    return {
        name: SimpleUploadedFile(*value) if isinstance(value, tuple) else value
        for name, value in body.items()
    }


def send(world: World, write: Write, body: Any) -> Outcome:
    """Make the call, look at what it changed, and take it back."""
    client = browser(world, write)
    sent, content_type = encoded(write, body)
    touched: set[str] = set()
    with transaction.atomic():
        with as_in_autocommit(touched), TestCase.captureOnCommitCallbacks(execute=True):
            response = answer(world, write, client, sent, content_type)
        transaction.set_rollback(False)  # a statement that failed outside was taken back alone
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
        }
        return doors.request(write.method, address, sent, headers)
    response: Any = client.generic(write.method, address, sent, content_type)
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
    forget_rolled_back_rows()
    world.clear_caches()


def digests(tables: set[str]) -> dict[str, Any]:
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f'SELECT * FROM "{table}"')
            found[table] = sorted(map(repr, cursor.fetchall()))
    return found


def timeless_columns(tables: set[str]) -> frozenset[str]:
    """The columns that now have a time out of bounds, which breaks every page that lists it."""
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
    """Statements outside of the request's own transactions behave as they do on a server.

    Each is one of its own: it fails alone, and `select_for_update` is refused. The names of tables
    that are written to are added to `touched`.
    """
    outside = len(connection.savepoint_ids)

    def is_outside() -> bool:
        return len(connection.savepoint_ids) == outside

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if found := WRITING.match(sql):
            touched.add(found[1])
        is_alone = is_outside() and connection.vendor == "postgresql"  # always so in SQLite
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
