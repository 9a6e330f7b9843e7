"""Serves the MCP protocol, and OAuth metadata for clients without a key."""

import asyncio
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, ClassVar

import mcp_types as types
import msgspec
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from opentelemetry.trace import SpanKind

from apps import tracing
from apps.accounts.oauth.resources import SCOPE, resource_of
from apps.accounts.oauth.tokens import authenticate_token, sends_token
from apps.doors.admission import Admission, visit
from apps.doors.bodies import check_depth, decode_body
from apps.doors.consumer import DoorConsumer
from apps.doors.origins import is_allowed
from apps.doors.refusals import Header
from apps.doors.run_slots import Recorded
from apps.errors import BadRequest
from apps.live.hub import HUB, Hub
from apps.live.limits.quotas import RunSlots
from apps.mcp_server.requests import SCOPE_KEY, AdmittedRequest, OpenWorkspace
from apps.mcp_server.server import make_server
from apps.runs.failures import RunFailure, fault
from apps.runs.workspaces import open_workspace

METADATA = "/.well-known/oauth-protected-resource"
"""The path prefix for metadata, according to RFC 9728. The path of the resource follows it."""
ROUTE = "/mcp"
NO_STORE: Header = (b"cache-control", b"no-store")
UNKNOWN_ORIGIN = (
    "Requests from this host or origin are not allowed. Add the host to ALLOWED_HOSTS, or the "
    "origin to CORS_ALLOWED_ORIGINS."
)
SERVER = make_server()
# The consumer checks hosts and origins itself, using the site's settings.
UNCHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)


class McpConsumer(DoorConsumer):
    """Serves `POST /mcp` and `/mcp/{slug}`, in the protocol versions 2026-07-28 and 2025-11-25."""

    methods: ClassVar[tuple[str, ...]] = ("POST",)
    # Read-only requests are POSTs too, so each call checks the read-only mode.
    finishes_answers = True

    def __init__(
        self,
        server: Server[Any] = SERVER,
        open_workspace: OpenWorkspace = open_workspace,
        recorded: Recorded = HUB.summaries.recorded,
        slots: RunSlots = HUB.slots,
        hub: Hub = HUB,
    ) -> None:
        super().__init__()
        self.server = server
        self.open_workspace = open_workspace
        self.recorded = recorded
        self.slots = slots
        self.hub = hub
        self.body = b""
        self.admitted: AdmittedRequest | None = None

    async def answer(self) -> None:
        if not is_known_sender(self.scope["headers"]):
            await self.send_failure(fault(403, UNKNOWN_ORIGIN, "unknown_origin"))
            return
        parent = tracing.received_context(self.scope["headers"])
        attributes = {"http.request.method": "POST", "http.route": ROUTE}
        with tracing.span(f"POST {ROUTE}", attributes, SpanKind.SERVER, parent):
            admission = await self.admit()
            application = await admission.find(self.slug) if self.slug else None
            self.body = await self.read_body(settings.GATEWAY_MAX_BODY_BYTES)
            check_body(self.body)
            self.admitted = AdmittedRequest(
                admission,
                application,
                self.open_workspace,
                self.recorded,
                self.slots,
                self.hub,
            )
            # Whitespace around a value is not part of the value (RFC 9110), but the SDK compares
            # the raw bytes.
            headers = [(name, value.strip(b" \t")) for name, value in self.scope["headers"]]
            await self.serve({**self.scope, "headers": headers, SCOPE_KEY: self.admitted})

    async def admit(self) -> Admission:
        if settings.MCP_OAUTH and sends_token(self.scope):
            resource = resource_of(self.scope["path"])
            return Admission(await authenticate_token(self.scope, resource))
        return await visit(self.scope, self.while_connected)

    async def serve(self, scope: Mapping[str, Any]) -> None:
        """Pass the request to the SDK. If the client disconnects, the run is canceled."""
        # Each request has a separate manager, so that its tasks end with the request, in both
        # protocol versions.
        manager = StreamableHTTPSessionManager(
            self.server,
            stateless=True,
            security_settings=UNCHECKED,
            max_request_body_size=settings.GATEWAY_MAX_BODY_BYTES,
        )
        async with manager.run():
            await manager.handle_request({**scope}, self.replay, self.pass_on)

    async def replay(self) -> MutableMapping[str, Any]:
        """Return the request body to the SDK once, and then wait forever. The consumer itself
        detects disconnects.
        """
        body, self.body = self.body, b""
        if body:
            return {"type": "http.request", "body": body, "more_body": False}
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    async def pass_on(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.is_started = True
            added = () if self.admitted is None else self.admitted.answer_headers
            message = {**message, "headers": [*message["headers"], NO_STORE, *added]}
        else:
            self.is_complete = not message.get("more_body", False)
        await self.base_send(message)

    # --- Errors --------------------------------------------------------------------------------

    def error_body(self, found: RunFailure) -> dict[str, Any]:
        code = types.INTERNAL_ERROR if found.status >= 500 else types.INVALID_REQUEST
        if found.code == UnreadableJson.code:
            code = types.PARSE_ERROR
        error = {"code": code, "message": found.text, "data": {"code": found.code}}
        return {"jsonrpc": "2.0", "id": None, "error": error}

    async def send_failure(self, found: RunFailure, headers: Iterable[Header] = ()) -> None:
        if found.status == 401:
            is_refused = bool(self.header(b"authorization"))
            told = challenge(self.scope["path"], is_refused=is_refused)
            headers = (*headers, (b"www-authenticate", told.encode()))
        await super().send_failure(found, headers)


def is_known_sender(headers: Iterable[Header]) -> bool:
    """Return True if the request is addressed to this site, and its origin, if any, is allowed to
    read responses.

    The check prevents DNS rebinding attacks, in which a web page accesses a server on the user's
    machine.
    """
    found = {name.lower(): value.decode("latin-1") for name, value in headers}
    if not validate_host(split_domain_port(found.get(b"host", ""))[0], settings.ALLOWED_HOSTS):
        return False
    origin, shared = found.get(b"origin", ""), settings.CORS_ALLOWED_ORIGINS
    return not origin or "*" in shared or origin in shared or is_allowed(origin, found)


class UnreadableJson(BadRequest):
    code = "parse_error"


def check_body(body: bytes) -> None:
    """Raise `UnreadableJson` if the body is not JSON, and `BadRequest` if it is nested too
    deeply.
    """
    # The SDK's parser accepts unpaired surrogates, which services and databases reject.
    try:
        read = decode_body(body, msgspec.json.decode)
    except BadRequest as error:
        if isinstance(error.__cause__, msgspec.DecodeError | UnicodeError):
            raise UnreadableJson(error.message) from error
        raise
    check_depth(body, [read], settings.GATEWAY_MAX_DEPTH, level=1)


def challenge(path: str, *, is_refused: bool) -> str:
    """Return the `WWW-Authenticate` header, which points to the resource's metadata. `is_refused`
    means that the request has an invalid key or token.
    """
    told = {"resource_metadata": f"{settings.PUBLIC_URL}{METADATA}{path.rstrip('/')}"}
    if settings.MCP_OAUTH:
        told["scope"] = SCOPE
    if is_refused:
        told["error"] = "invalid_token"
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in told.items())


class ResourceMetadataConsumer(McpConsumer):
    """Serves `GET /.well-known/oauth-protected-resource/mcp…`, according to RFC 9728.

    Clients send an API key or an access token as a bearer token. If `MCP_OAUTH` is off, the
    metadata names no authorization server.
    """

    methods = ("GET", "HEAD")

    async def answer(self) -> None:
        path = self.scope["path"].removeprefix(METADATA) or ROUTE
        metadata: dict[str, Any] = {
            "resource": resource_of(path),
            "resource_name": "QuickApps",
            "bearer_methods_supported": ["header"],
        }
        if settings.MCP_OAUTH:
            metadata["authorization_servers"] = [settings.PUBLIC_URL]
            metadata["scopes_supported"] = [SCOPE]
        await self.send_json(200, metadata)
