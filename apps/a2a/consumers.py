"""Serves the two bindings of the A2A protocol, JSON-RPC and HTTP+JSON.

The consumers check credentials and the protocol version, and format responses and errors.
"""

from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import parse_qsl

import msgspec
from django.conf import settings

from apps.a2a.cards import PROTOCOL_VERSION, agent_card, card_headers, encode_card
from apps.a2a.encoding import Json
from apps.a2a.errors import (
    ContentTypeNotSupported,
    ErrorBody,
    InvalidRequest,
    MethodNotFound,
    NotJson,
    ProtocolError,
    VersionNotSupported,
    failure_body,
    protocol_error,
)
from apps.a2a.operations import OPERATIONS, ProtocolOperation, Updates
from apps.a2a.requests import read_params, read_query
from apps.a2a.sending import OperationContext
from apps.accounts.authentication import authenticate, read_headers
from apps.accounts.caller import Caller, ClientInfo, Credentials
from apps.conversations.answering.answers import OpenWorkspace
from apps.doors.admission import find_application
from apps.doors.answer_headers import failure_headers
from apps.doors.bodies import decode_body, shorten_text
from apps.doors.consumer import EVENT_STREAM, DoorConsumer
from apps.doors.refusals import Header
from apps.doors.run_slots import while_valid
from apps.errors import BadRequest, FileRefused, NotAuthenticated, Refused
from apps.live.hub import HUB, Hub
from apps.runs.failures import WITH_LIMITS, RunFailure, failure, own_failure
from apps.runs.workspaces import open_workspace
from apps.workspace.local import read_only

VERSION = b"a2a-version"
OLD_VERSION = "0.3"
"""The protocol version that is assumed if a request does not name one."""
CONTENT_TYPES = ("", "application/json", "application/a2a+json")
"""The accepted media types of request bodies, according to sections 11.1 and 14.1 of the
specification.
"""


class AgentConsumer(DoorConsumer):
    """The base class of all A2A endpoints of an application."""

    finishes_answers = True  # `run` rejects operations that write during maintenance.

    def __init__(self, hub: Hub = HUB, open_workspace: OpenWorkspace = open_workspace) -> None:
        super().__init__()
        self.hub = hub
        self.open_workspace = open_workspace

    async def operation_context(self) -> OperationContext:
        """Authenticate the caller, and find the application in the URL.

        Raises `NotAuthenticated` for a visitor, `ApplicationNotFound` if the caller cannot use the
        application, or `ApplicationBroken` if its manifest is invalid.
        """
        holder = await authenticate(self.scope)
        if not holder.bucket:
            raise NotAuthenticated
        # Of the request's client data, only the locale is used: a process that resumes the answer
        # would not have the rest.
        client = ClientInfo(holder.client.locale)
        caller = replace(holder, client=client, credentials=Credentials())
        application = await find_application(self.slug, caller)
        return OperationContext(self.hub, caller, application, self.slug, self.open_workspace)

    def check_version(self) -> None:
        """Raise `VersionNotSupported` if the request uses a protocol version other than 1.0."""
        sent = self.header(VERSION) or self.query.get("A2A-Version", "") or OLD_VERSION
        major, _, rest = sent.strip().partition(".")
        if (major, rest.partition(".")[0]) != ("1", "0"):
            raise VersionNotSupported(
                f"Unsupported A2A version: {shorten_text(sent)!r}. "
                f"Send the header A2A-Version: {PROTOCOL_VERSION}."
            )

    def check_type(self) -> None:
        """Raise `ContentTypeNotSupported` if the body is not JSON."""
        kind = self.header(b"content-type").partition(";")[0].strip().lower()
        if kind not in CONTENT_TYPES:
            raise ContentTypeNotSupported(
                f"Unsupported content type: {shorten_text(kind)!r}. Use {CONTENT_TYPES[1]}."
            )

    @property
    def query(self) -> dict[str, str]:
        written = self.scope.get("query_string", b"").decode("latin-1")
        return dict(parse_qsl(written, keep_blank_values=True))

    async def read_json(self) -> Any:
        """Return the parsed body, or {} if it is empty. Raises `NotJson`, or `BadRequest` if it is
        nested too deeply.
        """
        body = await self.read_body(settings.GATEWAY_MAX_BODY_BYTES)
        try:
            return decode_body(body, msgspec.json.decode) if body.strip() else {}
        except BadRequest as error:
            if isinstance(error.__cause__, RecursionError):
                raise
            raise NotJson(error.message) from error

    async def run(self, here: OperationContext, operation: ProtocolOperation, params: Any) -> None:
        if operation.writes:
            await read_only.check()
        async with while_valid(here.caller):
            if operation.stream is None:
                await self.send_result(await operation.call(here, params))
            else:
                await self.send_updates(await operation.stream(here, params))

    async def send_updates(self, updates: Updates) -> None:
        async with aclosing(updates):
            async for batch in updates:
                if not self.is_started:
                    await self.start(200, EVENT_STREAM)
                    self.keep_alive(settings.HEARTBEAT_SECONDS)
                if batch:
                    await self.write(b"".join(map(self.encode_event, batch)))
        await self.end()

    def encode_event(self, update: Json) -> bytes:
        raise NotImplementedError

    async def send_result(self, result: Json) -> None:
        raise NotImplementedError

    # --- Errors --------------------------------------------------------------------------------

    async def send_error(self, error: Exception) -> None:
        if isinstance(error, ProtocolError):
            await self.send_body(protocol_error(error))
            return
        if isinstance(error, Refused | FileRefused):  # Callers' errors have no log reference.
            found = own_failure(error)
        else:
            found = failure(error, WITH_LIMITS)
        await self.send_body(failure_body(found), failure_headers(found, error))

    async def send_failure(self, found: RunFailure, headers: Iterable[Header] = ()) -> None:
        await self.send_body(failure_body(found), headers)

    async def send_body(self, body: ErrorBody, headers: Iterable[Header] = ()) -> None:
        raise NotImplementedError


class JsonRpcConsumer(AgentConsumer):
    """Serves `POST /a2a/{slug}`, the endpoint of the JSON-RPC binding."""

    methods = ("POST",)
    id: Any = None

    async def answer(self) -> None:
        here = await self.operation_context()
        self.check_type()
        call = await self.read_json()
        operation, params = self.read_call(call)
        self.check_version()
        await self.run(here, operation, read_params(operation.params, params))

    def read_call(self, call: Any) -> tuple[ProtocolOperation, Any]:
        """Return the operation and its parameters. Raises `InvalidRequest` if the call is
        malformed, or `MethodNotFound` if the method is unknown.
        """
        if not isinstance(call, dict) or call.get("jsonrpc") != "2.0":
            raise InvalidRequest('Send one JSON-RPC 2.0 request: an object with "jsonrpc": "2.0".')
        id, method = call.get("id"), call.get("method")
        if isinstance(id, str | int) and not isinstance(id, bool):
            self.id = id
        else:
            raise InvalidRequest("id: send a string or an integer.")
        if not isinstance(method, str):
            raise InvalidRequest("method: send the name of an operation.")
        if method not in OPERATIONS:
            name = shorten_text(method)
            raise MethodNotFound(f"Unknown method: {name!r}. Use {', '.join(OPERATIONS)}.")
        return OPERATIONS[method], call.get("params")

    def envelope(self, result: Json) -> bytes:
        return msgspec.json.encode({"jsonrpc": "2.0", "id": self.id, "result": result})

    def encode_event(self, update: Json) -> bytes:
        return b"data: %b\n\n" % self.envelope(update)

    async def send_result(self, result: Json) -> None:
        await self.send_json(200, {"jsonrpc": "2.0", "id": self.id, "result": result})

    async def send_body(self, body: ErrorBody, headers: Iterable[Header] = ()) -> None:
        written = body.as_json_rpc(self.id)
        if self.is_started:
            await self.end(b"data: %b\n\n" % msgspec.json.encode(written))
            return
        # Errors in the call itself have status 200. Other errors, such as exceeded limits, keep
        # their own status codes.
        is_of_call = body.is_defined or body.http_status in (400, 409, 410, 415, 422)
        await self.send_json(200 if is_of_call else body.http_status, written, headers)


class OperationConsumer(AgentConsumer):
    """The base class of endpoints in the HTTP+JSON binding, whose parameters are in the path, query
    and body.
    """

    operations: ClassVar[Mapping[str, str]]
    """Maps HTTP methods to names in `OPERATIONS`."""

    def __init_subclass__(cls) -> None:
        cls.methods = tuple(getattr(cls, "operations", cls.methods))

    async def answer(self) -> None:
        here = await self.operation_context()
        self.check_version()
        operation = OPERATIONS[self.operations[self.scope["method"]]]
        if self.scope["method"] == "POST":
            self.check_type()
        named = {k: v for k, v in self.scope["url_route"]["kwargs"].items() if k != "slug"}
        body = await self.read_json()
        if self.scope["method"] == "POST":
            if not isinstance(body, dict):
                raise InvalidRequest("Send the parameters as a JSON object.")
            params = read_params(operation.params, {**body, **named})
        else:
            query = {k: v for k, v in self.query.items() if k != "A2A-Version"}
            params = read_query(operation.params, {**query, **named})
        await self.run(here, operation, params)

    def encode_event(self, update: Json) -> bytes:
        return b"data: %b\n\n" % msgspec.json.encode(update)

    async def send_result(self, result: Json) -> None:
        await self.send_json(200, result)

    async def send_body(self, body: ErrorBody, headers: Iterable[Header] = ()) -> None:
        written = body.as_http()
        if self.is_started:
            await self.end(b"data: %b\n\n" % msgspec.json.encode(written))
            return
        await self.send_json(body.http_status, written, headers)


class CardConsumer(OperationConsumer):
    """Serves `GET /a2a/{slug}/.well-known/agent-card.json`. Public applications need no key."""

    methods = ("GET", "HEAD")

    async def answer(self) -> None:
        await self.read_body(0)
        application = await find_application(self.slug, await self.reader())
        body = encode_card(agent_card(application, self.slug))
        headers = card_headers(body)
        if self.header(b"if-none-match") == dict(headers)[b"etag"].decode():
            await self.start(304, headers)
            await self.end()
            return
        await self.respond(200, body, headers)

    async def reader(self) -> Caller:
        """Return the caller that the key identifies, or a visitor if the request has no key. Raises
        `NotAuthenticated` if the key is invalid.
        """
        sent = read_headers(self.scope["headers"])
        if sent.api_key or sent.bearer:
            return await authenticate(self.scope)
        return Caller("")
