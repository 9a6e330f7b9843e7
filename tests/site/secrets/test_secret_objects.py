"""Search for marked credentials in the representations of objects and in tracebacks."""

from __future__ import annotations

import gc
import json
import logging
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import fields, is_dataclass, replace
from io import StringIO
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.core.exceptions import SynchronousOnlyOperation
from django.test import Client
from msgspec import Struct
from pydantic import BaseModel

from apps.accounts.caller import Caller, ClientInfo, Credentials
from apps.agent.events import Event
from apps.agent.messages import ModelMessage
from apps.agent.stages import silent
from apps.capabilities.mcp.sessions.endpoints import ServerEndpoint
from apps.capabilities.registry import Opening
from apps.catalog.models import OperatorKey
from apps.catalog.resolve import forget_applications, resolve_application
from apps.manifest.secrets import Credential
from apps.manifest.toolsets.authorizations import BearerAuthorization
from apps.runs.failures import failure
from apps.runs.requests import RunRequest
from apps.runs.run import run_application
from apps.workspace.dial.models import DialCompletions
from apps.workspace.egress.oauth_tokens import Token
from apps.workspace.egress.request_context import RequestContext
from apps.workspace.local.models import Deployment, Secret
from apps.workspace.local.secrets.stored_secrets import RevealedSecret, SecretNeed
from apps.workspace.local.tools.mcp_servers import RegisteredServer
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.port import McpEndpoint
from apps.workspace.services.client import ModelService
from quickapps_site.observability.logs import JsonFormatter, TextFormatter
from tests.capabilities.mcp.desk import answering
from tests.capabilities.mcp.servers import nothing_left_over
from tests.capabilities.service import Reply, Seen, json_reply, serving
from tests.catalog.rows import store_application
from tests.contract import proves
from tests.site.secrets.test_secrets import BASIC, MARK, PLACES, answer, manifest, mark, toolsets

CALLER = Caller(
    "user-7",
    credentials=Credentials(bearer=mark("own"), api_key=mark("asked-with")),
    client=ClientInfo(headers={"X-Api-Key": mark("sent")}),
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _rows_are_looked_at(settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.PRIVATE_NETWORK_ALLOWLIST = ["127.0.0.1"]
    # The search takes a busy machine seconds, and no client is connected in that time.
    monkeypatch.setattr("apps.capabilities.rest.exchanges.CONNECT_SECONDS", 120.0)
    forget_applications()
    yield
    forget_applications()


# --- A run ------------------------------------------------------------------------------------


@asynccontextmanager
async def services(looked: list[dict[str, str]] | None = None) -> AsyncIterator[Any]:
    """A model, REST services, an MCP server and a token service. Each searches when called."""
    mcp = answering(Reply(500))

    async def answered(seen: Seen) -> Reply:
        if looked is not None:
            looked.append(objects())
        if seen.target.startswith("/token"):
            return json_reply(json.dumps({"access_token": mark("token"), "expires_in": 3600}))
        if seen.target.startswith("/v1/chat"):
            said = answer(json.loads(seen.body))
            return Reply(body=said, headers={"Content-Type": "text/event-stream"})
        if seen.target.startswith("/mcp"):
            return await mcp(seen)
        return json_reply('{"said": "fine"}', 500 if seen.target.startswith("/fail") else 200)

    async with nothing_left_over(), serving(answer=answered) as service:
        yield service


async def answered_by(place: str, url: str) -> list[Event]:
    """Return the result of a run of an application that has every kind of credential."""
    found, named = toolsets(url, place)
    for name, value in named.items():
        await Secret.objects.acreate(name=name, value=value, servers=[url])
    await Deployment.objects.acreate(
        deployment_id="marked-model",
        display_name="M",
        base_url=f"{url}/v1",
        model_name="m",
        api_key=mark("deployment"),
    )
    document = manifest("marked-model", found)
    await sync_to_async(store_application)(slug="marked", title="Marked", manifest=document)
    events: list[Event] = []
    question = RunRequest((ModelMessage("user", "Do it."),))
    caller = replace(CALLER)  # created in the run, like the other objects
    await run_application(
        await resolve_application("marked"), question, LocalWorkspace(caller), caller, events.append
    )
    return events


# --- Objects ----------------------------------------------------------------------------------


@pytest.fixture
def only_new_objects() -> None:
    """Let `gc` list no older objects, because scanning all would block the services for seconds."""
    gc.collect()
    gc.freeze()


def objects() -> dict[str, str]:
    """Return the representations of all existing objects of this project, by class."""
    there = gc.get_objects()
    ours = {kind for kind in set(map(type, there)) if is_ours(kind)}
    found: dict[str, str] = {}
    for one in there:
        if type(one) in ours:
            name = type(one).__name__
            found[name] = found.get(name, "") + told(one)
    return found


def is_ours(kind: type) -> bool:
    return str(kind.__module__).startswith("apps.") and not issubclass(kind, type)


def told(one: Any) -> str:
    try:
        return f"{one!r} {one}"
    except (AttributeError, SynchronousOnlyOperation):
        return ""  # it is being created, or would query the database


def leaks(found: Mapping[str, str]) -> dict[str, str]:
    return {
        name: text[max(text.find(one) - 120, 0) : text.find(one) + 40]
        for name, text in found.items()
        for one in (MARK, BASIC)
        if one in text
    }


HELD = frozenset(
    {
        "Caller",
        "SessionConnection",
        "SessionSlot",
        "Credential",
        "ServerEndpoint",
        "RequestContext",
        "ToolsetBinding",
        "Manifest",
        "OpenAIService",
        "Operation",
        "PreparedCapabilities",
        "RequestDraft",
        "ResolvedApplication",
        "SentCredentials",
        "ServiceClient",
        "ServiceModel",
        "Token",
        "ClientTokens",
    }
)
"""Classes that a run is expected to create, to prove that objects were searched."""


@pytest.mark.slow("looks for a credential in every answer, log and object")
@proves("m1.12")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("place", PLACES[:2])
async def test_no_object_of_a_run_shows_a_credential(place: str, only_new_objects: None):
    looked: list[dict[str, str]] = []

    async with services(looked) as service:
        await answered_by(place, service.url)
        looked.append(objects())

    seen = "\n".join(f"{seen.target} {seen.headers} {seen.body!r}" for seen in service.seen)
    sent = ("bearer", "header", "query", "body", "constant", "mcp-bearer", "mcp-key")
    assert [name for name in sent if mark(f"{place}-{name}") not in seen] == []
    assert HELD - {name for found in looked for name in found} == set()
    assert {name: text for found in looked for name, text in leaks(found).items()} == {}


def test_no_object_that_holds_a_credential_shows_it():
    credential = Credential(mark("typed"))
    how = BearerAuthorization(type="bearer", token=credential)
    headers = {"Api-Key": mark("key")}
    objects = [
        credential,
        how,
        CALLER,
        RevealedSecret(mark("revealed")),
        SecretNeed("path", credential, ("https://a.example.org",)),
        ModelService("https://a.example.org", "chat", (("X-Key", mark("header")),)),
        DialCompletions(None, "model", headers, CALLER),  # type: ignore[arg-type]
        ServerEndpoint("streamable_http", "https://a.example.org", authorization=how),
        RequestContext(headers),
        Token(mark("token"), 1.0),
        RegisteredServer(1, 1, "desk", "desk", environment=(("KEY", mark("variable")),)),
        McpEndpoint(
            url="https://a.example.org",
            protocol="streamable_http",
            headers=headers,
            display_name="Desk",
        ),
        Opening(LocalWorkspace(CALLER), CALLER, silent),
        Deployment(deployment_id="m", api_key=mark("deployment")),
        Secret(name="s", value=mark("secret")),
    ]

    assert leaks({type(one).__name__: told(one) for one in objects}) == {}
    assert all(map(told, objects))


# --- Tracebacks -------------------------------------------------------------------------------


class Broken:
    """Replaces a function. It raises, and records whether its caller holds a mark."""

    def __init__(self) -> None:
        self.held: list[bool] = []

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.held.append(holds(dict(sys._getframe(1).f_locals)))
        raise RuntimeError("broken")


def holds(value: Any, depth: int = 6) -> bool:
    """Return True if it contains a mark at any depth."""
    if isinstance(value, str | bytes):
        return MARK in str(value)
    if depth == 0:
        return False
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    elif isinstance(value, BaseModel):
        value = [*vars(value).values()]
    elif is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, one.name) for one in fields(value)]
    elif isinstance(value, Struct):
        value = [getattr(value, name) for name in value.__struct_fields__]
    return isinstance(value, list | tuple | set | frozenset) and any(
        holds(one, depth - 1) for one in value
    )


@contextmanager
def logged(form: str) -> Iterator[StringIO]:
    """Return the records in one of the log formats, at every level."""
    stream, root = StringIO(), logging.getLogger()
    handler, before = logging.StreamHandler(stream), root.level
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root.addHandler(handler)
    root.setLevel("DEBUG")
    try:
        yield stream
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


@proves("m1.12")
@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "place",
    [
        "apps.capabilities.rest.calls.exchange",
        "apps.capabilities.mcp.sessions.endpoints.unsendable_credentials",
        "apps.workspace.openai.model.URL",
    ],
)
async def test_no_traceback_shows_what_was_held_where_it_was_raised(monkeypatch, place, form):
    broken = Broken()
    monkeypatch.setattr(place, broken)

    with logged(form) as log:
        async with services() as service:
            try:
                await answered_by("plain", service.url)
            except RuntimeError as error:
                failure(error)  # like the caller of the run

    told = log.getvalue()
    assert any(broken.held)
    assert "Traceback" in told
    assert "RuntimeError: broken" in told
    assert leaks({"log": told}) == {}


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_traceback_shows_the_operator_key_that_was_sent(monkeypatch, form):
    user = get_user_model().objects.create_superuser("operator", "", "a-password-for-tests")
    row, key = OperatorKey.objects.create_key(name="script", user=user)
    held: list[bool] = []

    def broken(self: Any, *arguments: Any) -> Any:
        held.append(key in sys._getframe(1).f_locals.values())
        raise RuntimeError("broken")

    monkeypatch.setattr(type(OperatorKey.objects.all()), "first", broken)
    client = Client(raise_request_exception=False)
    with logged(form) as log:
        answer = client.get("/api/applications/", headers={"authorization": f"Bearer {key}"})

    told = {"log": log.getvalue(), "answer": answer.content.decode(), "row": f"{row!r} {row}"}
    assert answer.status_code == 500
    assert held == [True]
    assert "RuntimeError: broken" in told["log"]
    assert [name for name, text in told.items() if key in text] == []
