"""Allows pages from other origins to call the APIs (CORS), if the operator lists these origins.

The middleware wraps the whole ASGI application, because API requests are routed before Django.
"""

from collections.abc import Collection
from typing import Any

from starlette.middleware.cors import CORSMiddleware

from apps.live import doors

OAUTH_PATHS = ("/.well-known/oauth-", "/oauth/")
"""The path prefixes of requests with which MCP clients sign in users."""
PATHS = (*(start for starts in doors.PATHS.values() for start in starts), *OAUTH_PATHS)
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
EXPOSED = (
    "Content-Disposition",
    "Content-Range",
    "ETag",
    "Retry-After",
    "WWW-Authenticate",
    "X-Ignored-Parameters",
    "X-Request-ID",
)
"""The response headers that pages may read in addition to the standard ones."""


def with_cors(application: Any, origins: Collection[str]) -> Any:
    """Return an ASGI application that allows these origins. If there are none, return `application`
    itself.
    """
    if not origins:
        return application
    shared = CORSMiddleware(
        application,
        allow_origins=origins,
        allow_methods=METHODS,
        allow_headers=("*",),  # OpenAI's clients send a dozen special headers.
        allow_credentials=False,
        allow_private_network=True,
        expose_headers=EXPOSED,
    )

    async def route(scope: Any, receive: Any, send: Any) -> None:
        taken = shared if scope["path"].startswith(PATHS) else application
        await taken(scope, receive, send)

    return route
