"""An authorization server on the loopback, with an MCP server and a REST service behind it.

It enforces OAuth 2.1: PKCE with S256, exact redirect URIs, single-use codes, refresh tokens that
are replaced on each use, and tokens that are limited to the requested resource.
"""

from __future__ import annotations

import base64
import hashlib
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus, urlencode

import uvicorn
from mcp.server import MCPServer
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

FIXED_CLIENT, FIXED_SECRET = "fixed", "fixed:s3cret"


@dataclass
class SignInService:
    """`metadata` and `resource` are merged into its metadata documents; None omits a field.
    `answers` are other responses by path, and `seconds` is the lifetime of its tokens."""

    url: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    resource: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Response] = field(default_factory=dict)
    seconds: int | None = 3600
    denies: bool = False
    refresh_delay: float = 0.0
    clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    """Valid access tokens, with their resource."""
    refresh_tokens: dict[str, str] = field(default_factory=dict)
    refreshed: int = 0
    revoked: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """Method and path of each request."""
    forms: list[dict[str, str]] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    """Values of the header `Authorization` in calls of the tools."""
    mcp: dict[str, Response] = field(default_factory=dict)
    """Responses in place of those of the MCP server, by method."""
    count: int = 0

    @property
    def mcp_url(self) -> str:
        return f"{self.url}/mcp"

    @property
    def description(self) -> dict[str, Any]:
        told = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "revocation_endpoint": f"{self.url}/revoke",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }
        return {key: value for key, value in told.items() if value is not None}

    def next(self, kind: str) -> str:
        self.count += 1
        return f"{kind}-{self.count}"

    async def respond(self, request: Request) -> Response:
        self.asked.append(f"{request.method} {request.url.path}")
        if (answer := self.answers.get(request.url.path)) is not None:
            return answer
        routes: dict[str, Callable[[Request], Awaitable[Response]]] = {
            "GET /.well-known/oauth-protected-resource/mcp": self.describe_resource,
            "GET /.well-known/oauth-authorization-server": self.describe,
            "POST /register": self.register,
            "GET /authorize": self.authorize,
            "POST /token": self.token,
            "POST /revoke": self.revoke,
            "GET /me": self.me,
        }
        respond = routes.get(self.asked[-1])
        return JSONResponse({}, 404) if respond is None else await respond(request)

    async def describe(self, request: Request) -> Response:
        return JSONResponse(self.description)

    async def describe_resource(self, request: Request) -> Response:
        told = {
            "resource": self.mcp_url,
            "authorization_servers": [self.url],
            "scopes_supported": ["notes.read"],
        }
        return JSONResponse({**told, **self.resource})

    async def revoke(self, request: Request) -> Response:
        self.revoked.append(str((await request.form())["token"]))
        return Response()

    async def register(self, request: Request) -> Response:
        wanted = await request.json()
        id, method = self.next("client"), wanted["token_endpoint_auth_method"]
        secret = {} if method == "none" else {"client_secret": self.next("secret:/")}
        self.clients[id] = {**wanted, "client_id": id, **secret}
        return JSONResponse(self.clients[id], 201)

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        client = self.clients.get(asked["client_id"])
        if client is None or asked["redirect_uri"] not in client["redirect_uris"]:
            return JSONResponse({"error": "unknown client or address"}, 400)
        if asked["response_type"] != "code" or asked["code_challenge_method"] != "S256":
            return JSONResponse({"error": "invalid_request"}, 400)
        back = {"state": asked["state"], "iss": str(self.description["issuer"])}
        if self.denies:
            back["error"] = "access_denied"
        else:
            back["code"] = self.next("code")
            self.codes[back["code"]] = asked
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}", 302)

    async def token(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        self.forms.append(form)
        if (client := self.client_of(request, form)) is None:
            return JSONResponse({"error": "invalid_client"}, 401)
        if form["grant_type"] == "refresh_token":
            time.sleep(self.refresh_delay)
            resource = self.refresh_tokens.pop(form["refresh_token"], None)
            self.refreshed += 1
        else:
            resource = self.redeem(client, form)
        if resource is None:
            return JSONResponse({"error": "invalid_grant", "error_description": "no"}, 400)
        access, refresh = self.next("access"), self.next("refresh")
        self.tokens[access], self.refresh_tokens[refresh] = resource, resource
        told = {"access_token": access, "token_type": "bearer", "refresh_token": refresh}
        expiry = {} if self.seconds is None else {"expires_in": self.seconds}
        return JSONResponse({**told, **expiry})

    def client_of(self, request: Request, form: dict[str, str]) -> str | None:
        id, secret = form.get("client_id", ""), form.get("client_secret", "")
        kind, _, credentials = request.headers.get("authorization", "").partition(" ")
        if kind == "Basic":
            id, _, secret = base64.b64decode(credentials).decode().partition(":")
            id, secret = unquote_plus(id), unquote_plus(secret)
        known = self.clients.get(id)
        return id if known is not None and known.get("client_secret", "") == secret else None

    def redeem(self, client: str, form: dict[str, str]) -> str | None:
        asked = self.codes.pop(form["code"], {})
        hashed = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(hashed).decode().rstrip("=")
        is_right = (
            asked.get("client_id") == client
            and asked["redirect_uri"] == form["redirect_uri"]
            and asked["code_challenge"] == challenge
            and asked.get("resource") == form.get("resource")
        )
        return form.get("resource", "") if is_right else None

    def takes(self, request: Request, resource: str) -> bool:
        sent = request.headers.get("authorization", "")
        self.sent.append(sent)
        return self.tokens.get(sent.removeprefix("Bearer ")) == resource

    async def me(self, request: Request) -> Response:
        if self.takes(request, ""):
            return JSONResponse({"name": "Vera"})
        return JSONResponse({"error": "sign in"}, 401)

    def challenge(self) -> Response:
        place = f"{self.url}/.well-known/oauth-protected-resource/mcp"
        told = f'Bearer error="invalid_token", resource_metadata="{place}"'
        return JSONResponse({}, 401, {"WWW-Authenticate": told})


class Behind:
    """The ASGI application: the MCP server if the token is valid, otherwise the service."""

    def __init__(self, service: SignInService) -> None:
        self.service = service
        server = MCPServer("notes")

        @server.tool(description="Reads the notes.")
        def read_notes() -> str:
            return "Buy milk."

        self.inner = server.streamable_http_app()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        request = Request(scope, receive)
        if scope["path"] != "/mcp":
            response = await self.service.respond(request)
        elif (found := self.service.mcp.get(request.method)) is not None:
            response = found
        elif self.service.takes(request, self.service.mcp_url):
            await self.inner(scope, receive, send)
            return
        else:
            response = self.service.challenge()
        await response(scope, receive, send)


@contextmanager
def serve_sign_in() -> Iterator[Behind]:
    """Serve it. Tests pass a `service` of their own."""
    listening = socket.create_server(("127.0.0.1", 0))
    served = Behind(SignInService(f"http://127.0.0.1:{listening.getsockname()[1]}"))
    config = uvicorn.Config(served, log_level="error", lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield served
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
