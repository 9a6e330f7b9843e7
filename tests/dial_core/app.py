"""The paths of Core, and the handling of each request."""

from __future__ import annotations

import itertools
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tests.dial_core import (
    channel,
    completions,
    features,
    interpreter,
    listings,
    permissions,
    relocations,
    resources,
    schemas,
    skills,
    toolsets,
    users,
)
from tests.dial_core.core import Core, Hop
from tests.dial_core.exchange import Exchange
from tests.dial_core.faults import Dropped
from tests.dial_core.forwarding import Left
from tests.dial_core.refusals import Refusal, error_data

Handler = Callable[..., Awaitable[Response]]
CLIENTS = 32
"""HTTP clients, used in turn, because the work of one grows with the square of its connections."""
UNVERIFIED = httpx.create_ssl_context(verify=False)
NOT_CONNECTED = "Failed to connect to upstream server"
STORED = "(?P<kind>files|prompts|conversations|applications|toolsets)"
GRANTS = "/v1/ops/resource/per-request-permissions"

ROUTES: list[tuple[str, str, Handler]] = [
    ("POST", "/openai/deployments/{id}/chat/completions", completions.chat_completions),
    ("POST", "/openai/v1/chat/completions", completions.chat_completions),
    ("GET", "/openai/deployments", listings.every("model")),
    ("GET", "/openai/deployments/{id}", listings.one("model")),
    ("GET", "/openai/models", listings.every("model")),
    ("GET", "/openai/models/{id}", listings.one("model")),
    ("GET", "/openai/applications", listings.every("application")),
    ("GET", "/openai/applications/{id}", listings.one("application")),
    ("GET", "/openai/toolsets", listings.every("toolset")),
    ("GET", "/openai/toolsets/{id}", listings.one("toolset")),
    ("GET", "/v1/deployments", listings.deployments),
    ("GET", "/v1/deployment-names", listings.deployment_names),
    ("GET", "/v1/deployments/{id}/limits", listings.limits),
    ("GET", "/v1/bucket", users.bucket),
    ("GET", "/v1/user/info", users.info),
    ("GET", "/v1/application_type_schemas/schemas", users.schemas),
    ("GET", "/v1/application_type_schemas/schema", users.schema),
    ("GET", "/v1/application_type_schemas/meta_schema", users.meta_schema),
    ("GET", "/health", users.health),
    ("GET", "/version", users.version),
    ("PUT", f"/v1/{STORED}/{{path}}", resources.put),
    ("GET", f"/v1/{STORED}/{{path}}", resources.get),
    ("DELETE", f"/v1/{STORED}/{{path}}", resources.delete),
    ("GET", f"/v1/metadata/{STORED}/{{path}}", resources.metadata),
    ("POST", "/v1/ops/resource/move", relocations.move),
    ("POST", "/v1/ops/resource/copy", relocations.copy),
    ("POST", f"{GRANTS}/grant", permissions.grant),
    ("POST", f"{GRANTS}/revoke", permissions.revoke),
    ("POST", f"{GRANTS}/list", permissions.list_grants),
    ("GET", "/v2/metadata/skills/{path}/files", skills.file_listing),
    ("GET", "/v2/metadata/skills/{path}/files/{folder}", skills.file_listing),
    ("GET", "/v2/metadata/skills/{path}", skills.skill_listing),
    ("GET", "/v2/skills/{path}/files/{file}", skills.file),
    ("GET", "/v2/skills/{path}", skills.archive),
    ("ANY", "/v1/toolset/{id}/mcp", toolsets.mcp),
    ("ANY", "/v1/deployments/{id}/mcp", toolsets.application_mcp),
    ("GET", "/v1/toolset/{id}/tools", toolsets.tools),
    ("GET", "/v1/toolset/{id}/allowed-tools", toolsets.tools_allowed),
    ("GET", "/.well-known/oauth-protected-resource/{path}", toolsets.protected_resource),
    ("POST", "/v1/ops/toolset/signin", toolsets.sign_in),
    ("POST", "/v1/ops/toolset/signout", toolsets.sign_out),
    ("POST", "/v1/ops/client-channel/subscribe", channel.subscribe),
    ("POST", "/v1/ops/client-channel/report", channel.report),
    ("POST", "/v1/ops/client-channel/unsubscribe", channel.unsubscribe),
    ("POST", "/v1/ops/client-channel/interact", channel.interact),
    ("POST", "/v1/ops/code_interpreter/{operation}", interpreter.refuse),
    ("ANY", "/v1/deployments/{id}/route/{path}", features.route),
    ("GET", "/v1/deployments/{id}/configuration", features.feature("configuration")),
    ("POST", "/v1/deployments/{id}/tokenize", features.feature("tokenize")),
    ("POST", "/v1/deployments/{id}/truncate_prompt", features.feature("truncate_prompt")),
    ("POST", "/v1/{id}/rate", features.feature("rate")),
]
"""Method (ANY for all), path, handler. The first match is used; {id} may contain slashes."""


def pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>.+?)", path))


PATTERNS = [(method, pattern(path), handler) for method, path, handler in ROUTES]


class App:
    """The only endpoint. It records the request, finds its handler, and formats refusals."""

    def __init__(self, core: Core) -> None:
        self.core = core

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        query = scope["query_string"].decode()
        target = scope["raw_path"].decode() + (f"?{query}" if query else "")
        headers = dict(request.headers.items())
        self.core.note_asked(Hop(request.method, target, headers, body))
        try:
            await schemas.complete(self.core)
            response = await self.answer(Exchange(self.core, request, body))
            await response(scope, receive, send)
        except* (Left, Dropped):
            scope["state"]["transport"].abort()

    async def answer(self, exchange: Exchange) -> Response:
        request = exchange.request
        key = self.core.keys.live.get(exchange.headers.get("api-key", ""))
        trouble = self.core.troubles.get(key.deployment) if key is not None else None
        if trouble is not None and (answer := await trouble.answer(exchange)) is not None:
            return answer
        path, is_known = request.scope["raw_path"].decode(), False
        for method, regex, handler in PATTERNS:
            match = regex.fullmatch(path)
            if match is None:
                continue
            is_known = True
            if method in (request.method, "ANY"):
                return await refusing(handler(exchange, **arguments(self.core, match)))
        return Response(status_code=405 if is_known else 404)


async def refusing(work: Awaitable[Response]) -> Response:
    try:
        return await work
    except Refusal as refusal:
        return refusal.response()
    except (httpx.ConnectError, httpx.ConnectTimeout):
        return error_data(502, NOT_CONNECTED)
    except httpx.TransportError as error:
        return Refusal(502, f"The upstream broke off: {type(error).__name__}").response()


def arguments(core: Core, match: re.Match[str]) -> dict[str, Any]:
    """Return paths as they were sent, and ids as deployments have them."""
    found = match.groupdict()
    if "id" in found:
        found["id"] = core.deployment_id(found["id"])
    return found


def make_client() -> httpx.AsyncClient:
    """Create a client without idle connections, so that those of a site are its own."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncClient(trust_env=False, verify=UNVERIFIED, limits=limits, timeout=60)


def application(core: Core) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            made = [make_client() for _ in range(CLIENTS)]
            core.clients = itertools.cycle([await stack.enter_async_context(one) for one in made])
            yield

    app = Starlette(lifespan=lifespan)
    app.mount("/", App(core))
    return app
